--
-- What an error looks like: the message says where the fault is and what it is,
-- the detail lists every fault as JSON, the hint says what to do, and the line
-- below is the SQLSTATE.
--
CREATE EXTENSION clutch;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET clutch.clock = '2026-02-01T13:20:00Z';
\set SHOW_CONTEXT never

-- Not an envelope
INSERT INTO clutch.events (envelope) VALUES ('[]');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO clutch.events (envelope) VALUES (NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT path, code FROM clutch.validate('{}') ORDER BY path;

-- One fault, of each common kind
CREATE FUNCTION pg_temp.good(change jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_strip_nulls('{
		"v": "clutch/0.1", "id": "msg_1", "ts": "2026-02-01T13:20:11Z",
		"thread_id": "thr_1", "run_id": "run_1", "task_id": "task_1",
		"from": {"agent_id": "agent:ui"}, "to": [{"agent_id": "agent:orchestrator"}],
		"type": "chat.message", "payload": {"text": "hello"}}' || change)
$$;
SELECT * FROM clutch.validate(pg_temp.good('{}'));
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"ts": "yesterday"}'));
\echo :LAST_ERROR_SQLSTATE
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"from": {"agent_id": "ui"}}'));
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"task_id": "run:1"}'));
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"to": []}'));
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"type": "task.reqest"}'));
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"type": "gossip"}'));
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"type": "PLAN"}'));
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"task_id": "task_1\nERROR:  forged"}'));
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"framework": "langgraph"}'));
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"parent_task_id": "task_1"}'));
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"v": "clutch/9"}'));
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"payload": {"big": 1e400}}'));

-- What only the database may send
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"type": "routing.decision"}'));
\echo :LAST_ERROR_SQLSTATE

-- Several faults at once
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good('{"ts": "yesterday", "attempt": 0, "to": [{}]}'));
\echo :LAST_ERROR_SQLSTATE
-- in a batch, those of the first faulty envelope, with its number
\set SHOW_CONTEXT always
SELECT * FROM clutch.send_batch(ARRAY[pg_temp.good('{}'), pg_temp.good('{"id": "", "attempt": 0}')]);
\set SHOW_CONTEXT never
\echo :LAST_ERROR_SQLSTATE

-- Limits are settings, and an error names both the limit and the setting
SET clutch.max_envelope_bytes = '1kB';
INSERT INTO clutch.events (envelope) VALUES (pg_temp.good(jsonb_build_object('payload', jsonb_build_object('text', repeat('x', 2000)))));
RESET clutch.max_envelope_bytes;

-- Agents and their cards
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "ken", "display": {}, "colour": "red",
	"capabilities": [{"id": "skill:research", "version": "one"}], "limits": {"max_concurrency": -1}}');
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.claim('agent:nobody');
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.heartbeat('agent:nobody');
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.claim('py');
SELECT clutch.set_status('agent:nobody', 'ready');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM clutch.find_agents('{skill:research}', 'ready');
\echo :LAST_ERROR_SQLSTATE

-- Tasks
SELECT late FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"},
	"capabilities": [{"id": "skill:research"}]}');
SELECT late FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:lois", "display": {"name": "Lois"},
	"capabilities": [{"id": "skill:writing"}]}');
SELECT task_id FROM clutch.send(pg_temp.good('{"type": "task.request", "requires": ["skill:research"]}'));
SELECT clutch.finish('agent:ken', 'task_none', '{}', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.finish('agent:lois', 'task_1', '{}', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.finish('agent:ken', 'task_1', '{}', 2);
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.send(pg_temp.good('{"id": "msg_2", "type": "task.request", "run_id": "run_2"}'));
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.send(pg_temp.good('{"id": "msg_2", "type": "task.request", "from": {"agent_id": "agent:lois"},
	"to": [{"agent_id": "agent:ken"}]}'));
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.retry('task_1');
\echo :LAST_ERROR_SQLSTATE

-- A function that builds the envelope names its argument
SELECT clutch.finish('agent:ken', 'task_1', '{"sums": [1, 1e400]}', 1);
SELECT clutch.finish('agent:ken', 'task_1', '[]', 1);
SELECT clutch.fail('agent:ken', 'task_1', '', 'no code');
SELECT clutch.progress('agent:ken', 'task_1', NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.progress('agent:ken', 'task_1', '{}', 0);
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.cancel('task_1', by_agent => 'agent:lois');
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.answer('task_1', '{}');
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.result('task_none');
SELECT clutch.why('task_none');

-- The same id, or the same key, with other content
SELECT clutch.send(pg_temp.good('{"type": "task.request", "requires": ["skill:writing"]}'));
\echo :LAST_ERROR_SQLSTATE
SELECT duplicate FROM clutch.send(pg_temp.good('{"id": "msg_3", "idempotency_key": "once"}'));
SELECT duplicate, id FROM clutch.send(pg_temp.good('{"id": "msg_4", "idempotency_key": "once"}'));
SELECT clutch.send(pg_temp.good('{"id": "msg_4", "idempotency_key": "once", "payload": {"text": "other"}}'));
\echo :LAST_ERROR_SQLSTATE

-- The log is append-only, for its owner, too
UPDATE clutch.events SET late = true;
\echo :LAST_ERROR_SQLSTATE
DELETE FROM clutch.events;
TRUNCATE clutch.events;
MERGE INTO clutch.events USING (VALUES (1)) one(n) ON true WHEN MATCHED THEN DELETE;
SET session_replication_role = replica;
DELETE FROM clutch.events;
RESET session_replication_role;
SELECT count(*) FROM clutch.events;

-- Arguments
SELECT clutch.claim('agent:ken', lease => '0');
SELECT clutch.schedule('nightly', '99 * * * *', '{}');
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.schedule('nightly', '*/61 * * * *', '{}');
SELECT clutch.schedule('nightly', '0 17-9 * * *', '{}');
SELECT clutch.schedule('nightly', '0 3 * *', '{}');
SELECT clutch.schedule('nightly', '@often', '{}');
SELECT clutch.schedule('nightly', '0 0 30 2 *', '{}');
SELECT clutch.schedule('nightly', '@daily', '{}', 'Mars/Olympus');
SELECT clutch.set_retry_policy('x', max => -1);
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.set_retry_policy('x', factor => 1000);
SELECT clutch.version_satisfies('1.2', 'one');
SELECT clutch.new_id('MSG');
SELECT clutch.envelope('chat.message', 'agent:ui', meta => '[]', priority => 1);
SELECT clutch.channel('agent');
SELECT clutch.channel('agent', 'ken');

-- Words that mean nothing
SELECT clutch.listen('everything');
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.run_graph('run_1', 'png');
\echo :LAST_ERROR_SQLSTATE
SELECT clutch.from_legacy(pg_temp.good('{"type": "GOSSIP"}'));
\echo :LAST_ERROR_SQLSTATE
SET clutch.clock = 'noon';
\echo :LAST_ERROR_SQLSTATE

-- A session that pgbouncer shares among its clients
PREPARE "PGBOUNCER_7" AS SELECT 1;
SELECT clutch.listen('agent', 'agent:ken') = clutch.channel('agent', 'agent:ken') AS channel;
SELECT * FROM pg_listening_channels();
DEALLOCATE "PGBOUNCER_7";

-- Nothing ticks: a session is told once
\set VERBOSITY default
SELECT clutch.schedule('hourly', '@hourly', clutch.envelope('chat.message', 'agent:ui')) > clutch.now() AS scheduled;
SELECT duplicate FROM clutch.send_at(clutch.envelope('task.request', 'agent:ui'), clutch.now() + interval '1 hour');
\c -
SELECT duplicate FROM clutch.send_at(clutch.envelope('task.request', 'agent:ui'), clutch.now() + interval '1 hour');
\c -
SELECT duplicate FROM clutch.send(clutch.envelope('task.request', 'agent:ui', deadline => '1 hour'));
\c -
SELECT clutch.tick() ? 'sent' AS ticked;
\c -
SELECT duplicate FROM clutch.send(clutch.envelope('task.request', 'agent:ui', deadline => '1 hour'));

-- A lack of disk space is told of, and what could not be moved stays due
SELECT clutch.tick() ? 'sent' AS ticked;
SELECT task_id FROM clutch.send(clutch.envelope('task.request', 'agent:ui', task_id => 'task_full', deadline => '10 minutes'));
CREATE FUNCTION regress_clutch_full() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN RAISE disk_full USING MESSAGE = 'could not extend a file', HINT = 'Check free disk space.'; END $$;
CREATE TRIGGER regress_clutch_full AFTER INSERT ON clutch.events FOR EACH ROW
	WHEN (NEW.type = 'task.timeout') EXECUTE FUNCTION regress_clutch_full();
SELECT set_config('clutch.clock', to_char((now() + interval '30 minutes') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false) <> '' AS later;
SELECT clutch.tick() ->> 'timed_out' AS timed_out;
DROP TRIGGER regress_clutch_full ON clutch.events;
SELECT clutch.tick() ->> 'timed_out' AS timed_out;
SELECT status FROM clutch.result('task_full');

DROP FUNCTION regress_clutch_full();
DROP EXTENSION clutch;
