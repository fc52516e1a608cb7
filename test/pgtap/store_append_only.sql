-- P3, as far as it holds without preload: nobody can change the log, by any
-- statement and in any role; and every way to insert works.
\ir ../fixtures/tap.sql
SELECT plan(90);

SELECT set_config('clutch.notify', 'off', false) \g /dev/null

CREATE FUNCTION pg_temp.chat(n integer, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', jsonb_build_object('n', n), run_id => 'run:1',
		thread_id => 'thread:1', task_id => 'task:1', id => 'msg_' || n) || more
$$;
INSERT INTO clutch.events (envelope) SELECT pg_temp.chat(n) FROM generate_series(1, 3) n;

-- ----------------------------------------------------------- nobody changes it
CREATE FUNCTION pg_temp.refused(how text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	statement text;
BEGIN
	FOREACH statement IN ARRAY ARRAY[
		'UPDATE clutch.events SET envelope = ''{}''',
		'UPDATE clutch.events SET late = true WHERE seq = 1',
		'UPDATE clutch.events SET late = true WHERE false',
		'UPDATE ONLY clutch.events SET seq = seq',
		'DELETE FROM clutch.events',
		'DELETE FROM clutch.events WHERE false',
		'TRUNCATE clutch.events',
		'TRUNCATE clutch.events RESTART IDENTITY CASCADE',
		'MERGE INTO clutch.events e USING (SELECT 1 AS seq) s ON s.seq = e.seq WHEN MATCHED THEN DELETE',
		'MERGE INTO clutch.events e USING (SELECT 1 AS seq) s ON s.seq = e.seq WHEN MATCHED THEN UPDATE SET late = true',
		'INSERT INTO clutch.events SELECT * FROM clutch.events ON CONFLICT (id, run_id) DO UPDATE SET late = true',
		'WITH gone AS (DELETE FROM clutch.events RETURNING *) SELECT * FROM gone']
	LOOP
		RETURN NEXT throws_ok(statement, 'KL007', NULL, how || ': ' || statement);
	END LOOP;
	RETURN NEXT throws_ok('SELECT * FROM clutch.events FOR UPDATE; DELETE FROM clutch.events WHERE seq = 1', 'KL007', NULL, how || ': after a lock');
END $$;
SELECT pg_temp.refused('superuser');
SET session_replication_role = replica;
SELECT pg_temp.refused('replica role');
SET session_replication_role = local;
SELECT pg_temp.refused('local role');
RESET session_replication_role;

-- the owner of the extension, who is no superuser
CREATE ROLE tap_owner;
GRANT USAGE ON SCHEMA clutch TO tap_owner;
ALTER TABLE clutch.events OWNER TO tap_owner;
SET ROLE tap_owner;
SELECT pg_temp.refused('owner');
RESET ROLE;
ALTER TABLE clutch.events OWNER TO postgres;

-- an agent lacks the privilege
CREATE ROLE tap_agent;
SELECT clutch.grant_agent('tap_agent', 'agent:ui') \g /dev/null
SET ROLE tap_agent;
SELECT throws_ok('UPDATE clutch.events SET late = true', '42501', NULL, 'agent: UPDATE');
SELECT throws_ok('DELETE FROM clutch.events', '42501', NULL, 'agent: DELETE');
SELECT throws_ok('TRUNCATE clutch.events', '42501', NULL, 'agent: TRUNCATE');
SELECT throws_ok($$INSERT INTO clutch.events (seq, envelope) VALUES (99, '{}')$$, '42501', NULL, 'agent: a seq of its own');
RESET ROLE;
SELECT is((SELECT count(*) FROM clutch.events), 3::bigint, 'the log is as it was');

-- what the error says
CREATE FUNCTION pg_temp.detail_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN detail::jsonb #>> '{0,code}';
END $$;
SELECT is(pg_temp.detail_of('DELETE FROM clutch.events'), 'LOG_IS_APPEND_ONLY', 'the DETAIL has the code');

-- --------------------------------------------------------------- every way in
CREATE TEMP TABLE answer (seq bigint, id text);
WITH i AS (INSERT INTO clutch.events (envelope) VALUES (pg_temp.chat(4)) RETURNING seq, id) INSERT INTO answer SELECT * FROM i;
SELECT fixture.answers('SELECT seq, id FROM answer', $$SELECT seq, id FROM clutch.events WHERE id = 'msg_4'$$, 'INSERT ... RETURNING');
INSERT INTO clutch.events (envelope) VALUES (pg_temp.chat(5)), (pg_temp.chat(6)), (pg_temp.chat(5)), (pg_temp.chat(7));
SELECT fixture.answers($$SELECT id FROM clutch.events WHERE id IN ('msg_5', 'msg_6', 'msg_7') ORDER BY seq$$,
	$$VALUES ('msg_5'), ('msg_6'), ('msg_7')$$, 'several rows in order, and a repeated one once');
INSERT INTO clutch.events (envelope) SELECT pg_temp.chat(n) FROM generate_series(8, 20) n ORDER BY n;
SELECT is((SELECT count(*) FROM clutch.events WHERE id IN (SELECT 'msg_' || n FROM generate_series(8, 20) n)), 13::bigint, 'INSERT ... SELECT');
WITH a AS (INSERT INTO clutch.events (envelope) VALUES (pg_temp.chat(21)) RETURNING 1),
	b AS (INSERT INTO clutch.events (envelope) VALUES (pg_temp.chat(21)) RETURNING 1)
SELECT is((SELECT count(*) FROM a) + (SELECT count(*) FROM b), 1::bigint, 'one id from two parts of a statement is inserted once');
INSERT INTO clutch.events (envelope) VALUES (pg_temp.chat(21)) ON CONFLICT DO NOTHING;
COPY clutch.events (envelope) FROM PROGRAM 'printf ''{"v":"clutch/0.1","id":"msg_copy%s","ts":"2026-01-01T00:00:00Z","type":"chat.message","thread_id":"t","run_id":"run:1","task_id":"task:1","from":{"agent_id":"agent:ui"},"to":[{"agent_id":"agent:ken"}],"payload":{}}\n'' 1 2 2 3';
SELECT is((SELECT count(*) FROM clutch.events WHERE id LIKE 'msg_copy%'), 3::bigint, 'COPY');
SELECT fixture.answers($$SELECT id, duplicate FROM clutch.send_batch(ARRAY[pg_temp.chat(22), pg_temp.chat(23), pg_temp.chat(22), pg_temp.chat(4)])$$,
	$$VALUES ('msg_22', false), ('msg_23', false), ('msg_22', true), ('msg_4', true)$$, 'send_batch returns receipts in order');
SELECT is((SELECT count(*) FROM clutch.send_batch('{}')), 0::bigint, 'send_batch of nothing');
SELECT is((SELECT count(*) FROM clutch.send_batch(ARRAY(SELECT pg_temp.chat(n) FROM generate_series(30, 2029) n))), 2000::bigint, 'send_batch of 2,000 envelopes');
SELECT throws_ok($$SELECT * FROM clutch.send_batch(ARRAY[pg_temp.chat(3000), NULL])$$, '22004', NULL, 'send_batch with a NULL is refused');
SELECT throws_ok($$SELECT * FROM clutch.send_batch(ARRAY[pg_temp.chat(3000), '{}', pg_temp.chat(3001)])$$, 'KL001', NULL, 'send_batch with a faulty envelope is refused');
SELECT is((SELECT count(*) FROM clutch.events WHERE id IN ('msg_3000', 'msg_3001')), 0::bigint, 'and inserts none of them');
SELECT throws_ok('INSERT INTO clutch.events (envelope) VALUES (NULL)', 'KL001', NULL, 'a NULL envelope is refused');
SELECT throws_ok('INSERT INTO clutch.events DEFAULT VALUES', 'KL001', NULL, 'a row without an envelope is refused');

-- ------------------------------------------- columns are filled by the database
SELECT fixture.answers($$SELECT epoch, ts = '2026-01-01T00:00:00Z', run_id, thread_id, task_id, parent_task_id, type, from_agent, to_agents, late, attempt
	FROM clutch.events WHERE id = 'msg_copy1'$$,
	$$VALUES (1, true, 'run:1', 't', 'task:1', NULL::text, 'chat.message', 'agent:ui', '{agent:ken}'::text[], false, 1)$$, 'the columns come from the envelope and from the database');
BEGIN;
INSERT INTO clutch.events (envelope) VALUES (pg_temp.chat(24)), (pg_temp.chat(25));
SELECT is((SELECT count(DISTINCT xid) FROM clutch.events WHERE id IN ('msg_24', 'msg_25')), 1::bigint, 'the events of one transaction have one xid');
SELECT is((SELECT xid FROM clutch.events WHERE id = 'msg_24'), pg_current_xact_id(), 'which is the transaction''s');
COMMIT;
SELECT is((SELECT attcompression FROM pg_attribute WHERE attrelid = 'clutch.events'::regclass AND attname = 'envelope'), 'l', 'envelopes are compressed by lz4');
SELECT ok((SELECT e.envelope = pg_temp.chat(1) || jsonb_build_object('ts', e.envelope -> 'ts') FROM clutch.events e WHERE id = 'msg_1'), 'the envelope is stored unchanged');

-- what comes back from a dump is kept as it is; what a subscriber receives is stamped
INSERT INTO clutch.events (seq, xid, epoch, received_at, id, ts, run_id, thread_id, task_id, type, from_agent, to_agents, attempt, late, envelope)
	VALUES (1000000, '7', 9, '2020-01-01', 'msg_old', '2020-01-01', 'run:1', 't', 'task:1', 'chat.message', 'agent:ui', '{agent:ken}', 1, true, '{}');
SELECT fixture.answers($$SELECT xid::text, epoch, late FROM clutch.events WHERE id = 'msg_old'$$, $$VALUES ('7', 9, true)$$, 'a row with a seq is a restored one');
CREATE ROLE tap_forger;
GRANT pg_write_all_data, pg_read_all_data TO tap_forger;
GRANT USAGE ON SCHEMA clutch TO tap_forger;
SET ROLE tap_forger;
SELECT throws_ok($$INSERT INTO clutch.events (seq, xid, epoch, received_at, id, ts, run_id, thread_id, task_id, type, from_agent, to_agents, attempt, late, envelope)
	VALUES (1000001, '7', 9, '2020-01-01', 'msg_forged', '2020-01-01', 'run:1', 't', 'task:1', 'task.result', 'agent:ken', '{agent:ken}', 1, true, '{}')$$,
	'42501', 'role "tap_forger" may not insert a row into clutch.events with seq set', 'a role that is not an operator restores nothing, whatever it may write');
RESET ROLE;
SET session_replication_role = replica;
SET ROLE tap_forger;
SELECT throws_ok($$INSERT INTO clutch.events (seq, xid, epoch, received_at, id, ts, run_id, thread_id, task_id, type, from_agent, to_agents, attempt, late, envelope)
	VALUES (1000001, '7', 9, '2020-01-01', 'msg_forged', '2020-01-01', 'run:1', 't', 'task:1', 'task.result', 'agent:ken', '{agent:ken}', 1, true, '{}')$$,
	'42501', NULL, 'nor as a replica');
RESET ROLE;
SELECT alike(fixture.hint_of($$SELECT clutch.send(clutch.envelope('task.request', 'agent:ui'))$$), 'Reset session_replication_role.%', 'what has to be judged is refused as a replica, and the hint says why');
INSERT INTO clutch.events (envelope) VALUES (clutch.envelope('task.request', 'agent:ui', id => 'msg_replica', task_id => 'task:replica', run_id => 'run:replica'));
RESET session_replication_role;
SELECT is((SELECT count(*) FROM clutch.tasks WHERE task_id = 'task:replica') + (SELECT count(*) FROM clutch.events WHERE type LIKE 'routing.%'),
	0::bigint, 'a replicated row is neither judged nor routed');
SELECT is((SELECT count(*) FROM clutch.events WHERE id = 'msg_replica'), 1::bigint, 'but kept');

-- ------------------------------------------------------------- check() sees it
SELECT fixture.answers('SELECT code FROM clutch.check()', $$VALUES ('SEQUENCE_BEHIND')$$, 'check() reports that the seq of the old row is ahead of the sequence');
BEGIN;
CREATE INDEX tap_interrupted ON clutch.task (agent_id);
UPDATE pg_index SET indisvalid = false, indisready = false WHERE indexrelid = 'clutch.tap_interrupted'::regclass;
SELECT fixture.answers($$SELECT hint FROM clutch.check() WHERE code = 'INVALID_INDEX'$$,
	$$VALUES ('If nobody is building it: DROP INDEX clutch.tap_interrupted.')$$, 'an index whose building was interrupted is reported');
ROLLBACK;
BEGIN;
ALTER TABLE clutch.events DISABLE TRIGGER zz_admit;
SELECT ok('TRIGGER_NOT_ALWAYS' IN (SELECT code FROM clutch.check()), 'check() reports a disabled trigger');
SELECT throws_ok($$SELECT clutch.send(pg_temp.chat(9999))$$, NULL, NULL, 'without that trigger nothing is sent silently');
ROLLBACK;
BEGIN;
CREATE FUNCTION pg_temp.swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER swallow BEFORE INSERT ON clutch.events FOR EACH ROW EXECUTE FUNCTION pg_temp.swallow();
SELECT ok('FOREIGN_TRIGGER' IN (SELECT code FROM clutch.check()), 'check() reports a foreign trigger');
SELECT throws_ok($$SELECT clutch.send(pg_temp.chat(9999))$$, '55000', NULL, 'a row that a foreign trigger suppresses is an error for the sender');
ROLLBACK;

-- ------------------------------------------- 100,000 rows in one transaction
INSERT INTO clutch.events (envelope) SELECT pg_temp.chat(n) FROM generate_series(100001, 200000) n;
SELECT is((SELECT count(*) FROM clutch.events WHERE seq <> 1000000 AND id > 'msg_1' AND envelope #>> '{payload,n}' ~ '^[12][0-9]{5}$'), 100000::bigint, '100,000 rows in one statement');
SELECT is((SELECT count(*) FROM clutch.events) - (SELECT count(DISTINCT seq) FROM clutch.events), 0::bigint, 'each has its own seq');

SELECT * FROM finish();
DROP OWNED BY tap_forger; DROP ROLE tap_forger;
DROP OWNED BY tap_owner; DROP ROLE tap_owner;
DROP OWNED BY tap_agent; DROP ROLE tap_agent;
