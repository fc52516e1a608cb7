-- How far the readers of the log lag: exact for each, and counted once for all of them.
\ir ../fixtures/tap.sql
SELECT plan(14);
SET clutch.notify = off;

CREATE FUNCTION pg_temp.say(id text) RETURNS void LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', id => id, run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:talk'))
$$;
CREATE FUNCTION pg_temp.lag_of(name text) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(behind || ' since ' || coalesce((SELECT id FROM clutch.events e WHERE e.received_at = oldest), 'never'), ', ' ORDER BY member) FROM clutch.subscriptions s WHERE s.name = lag_of.name $$;

SELECT clutch.subscribe('first', members => 2) \g /dev/null
SELECT pg_temp.say('m1') \g /dev/null
SELECT clutch.subscribe('second') \g /dev/null
SELECT pg_temp.say('m2') \g /dev/null
BEGIN;
SELECT pg_temp.say('m3') \g /dev/null
SELECT pg_temp.say('m4') \g /dev/null
COMMIT;
SELECT clutch.subscribe('third') \g /dev/null
SELECT is(pg_temp.lag_of('first'), '4 since m1, 4 since m1', 'each member of a subscription');
SELECT is(pg_temp.lag_of('second'), '3 since m2', 'a later one');
SELECT is(pg_temp.lag_of('third'), '0 since never', 'one that has seen everything');

-- a subscription that was restored from another epoch has its own events
UPDATE clutch.subscription_position SET seen = regexp_replace(seen, '^p1\.1\.', 'p1.2.') WHERE name = 'third';
SELECT is(pg_temp.lag_of('first') || ', ' || pg_temp.lag_of('third'), '4 since m1, 4 since m1, 0 since never', 'in each epoch by itself');
SELECT clutch.unsubscribe('third') \g /dev/null

SELECT clutch.subscribe('many' || n) FROM generate_series(1, 300) n \g /dev/null
SELECT pg_temp.say('n' || n) FROM generate_series(1, 50) n \g /dev/null
SELECT is((SELECT count(*) || ' ' || min(behind) || ' ' || max(behind) FROM clutch.subscriptions WHERE name LIKE 'many%'), '300 50 50', 'many that lag');
SELECT is((SELECT count(*)::integer FROM clutch.metrics() WHERE name LIKE 'clutch_subscription%'), 606, 'all of them are in the metrics');

-- Rows of the log that a query reads through the index of positions.
CREATE FUNCTION pg_temp.rows_read(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING off, FORMAT JSON) ' || query INTO plan;
	RETURN (SELECT sum((n ->> 'Actual Rows')::numeric * (n ->> 'Actual Loops')::numeric)::bigint
			FROM jsonb_path_query(plan, 'strict $.** ? (@."Index Name" == "events_position")') n);
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT cmp_ok(pg_temp.rows_read('SELECT behind FROM clutch.subscriptions'), '<', 100::bigint, 'the log is counted once, not for each of them');
SELECT cmp_ok(pg_temp.rows_read('SELECT oldest FROM clutch.subscriptions'), '<', 500::bigint, 'and each of them reads one row of its own');
RESET enable_seqscan;
RESET enable_bitmapscan;

-- ------------------------------------------- what came by replication, and a copy
CREATE FUNCTION pg_temp.arrive(id text) RETURNS void LANGUAGE sql AS $$
	INSERT INTO clutch.events (envelope)
	SELECT clutch.envelope('chat.message', 'agent:far', '{agent:ken}', id => id, run_id => 'run:far', thread_id => 'thread:far', task_id => 'task:far')
$$;
SELECT clutch.unsubscribe(name) FROM (SELECT DISTINCT name FROM clutch.subscriptions) s \g /dev/null
SELECT clutch.subscribe('far') \g /dev/null
SET session_replication_role = replica;
SELECT pg_temp.arrive('far1') \g /dev/null
RESET session_replication_role;
SELECT is(pg_temp.lag_of('far'), '1 since far1', 'what came by replication is behind');
SELECT pg_temp.say('m5') \g /dev/null
SELECT is(pg_temp.lag_of('far'), '2 since far1', 'like what was sent here');
SELECT is((SELECT count(*)::integer FROM clutch.read('far')), 2, 'and both are read');
-- as if the subscription came from the epoch before this one
SELECT clutch.unsubscribe('far'), clutch.subscribe('copied'), clutch.subscribe('new') \g /dev/null
SELECT pg_temp.say('m6') \g /dev/null
UPDATE clutch.subscription_position SET seen = regexp_replace(seen, '^p1\.1\.', 'p1.0.') WHERE name = 'copied';
SELECT is(pg_temp.lag_of('copied') || ', ' || pg_temp.lag_of('new'), (SELECT count(*) FROM clutch.events) || ' since m1, 1 since m6', 'a later epoch is behind as a whole');
-- a copy in another cluster, where something has come by replication, and nothing has been sent
UPDATE clutch.epoch SET system_identifier = 7;
SET session_replication_role = replica;
SELECT pg_temp.arrive('far2') \g /dev/null
RESET session_replication_role;
SELECT is((SELECT epoch FROM clutch.events WHERE id = 'far2') || ': ' || pg_temp.lag_of('new'), '-2: 2 since m6', 'what comes into a copy is behind');
UPDATE clutch.epoch SET system_identifier = c.system_identifier FROM pg_control_system() c;
CREATE ROLE lag_agent;
SELECT clutch.grant_agent('lag_agent', 'agent:ken') \g /dev/null
SET ROLE lag_agent;
SELECT clutch.subscribe('mine', start => 'beginning') \g /dev/null
SELECT cmp_ok((SELECT behind FROM clutch.subscriptions), '>', 4::bigint, 'the role of an agent sees how far it is behind');
RESET ROLE;
SELECT clutch.revoke_agent('lag_agent', 'agent:ken') \g /dev/null
DROP OWNED BY lag_agent;
DROP ROLE lag_agent;

SELECT * FROM finish();
