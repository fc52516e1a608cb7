-- How far the readers of the log lag: exact for each, and counted once for all of them.
\ir ../fixtures/tap.sql
SELECT plan(8);
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

SELECT * FROM finish();
