-- What an operator asks all the time (stuck, metrics, check) reads the tasks
-- that are not over, and of the others a sample at most.
\ir ../fixtures/tap.sql
SELECT plan(20);
SET clutch.notify = off;
SELECT fixture.at(0);

SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"},
	"capabilities": [{"id": "skill:x"}], "limits": {"max_concurrency": 5}}') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:' || n,
	requires => ARRAY[CASE n WHEN 9 THEN 'skill:none' ELSE 'skill:x' END])) FROM generate_series(1, 9) n \g /dev/null
SELECT clutch.claim('agent:ken', 2) \g /dev/null

-- 60,000 tasks that are over
INSERT INTO clutch.task (task_id, run_id, thread_id, depth, status, agent_id, from_agent, attempt, priority, requires, reason,
	request_seq, since, deadline, created_at, finished_at)
SELECT 'task:over:' || lpad(n::text, 40, '0'), 'run:over:' || lpad((n / 10)::text, 40, '0'), 'thread:1', 0,
	CASE WHEN n % 10 = 0 THEN 'failed' ELSE 'completed' END, 'agent:ken', 'agent:ui', 1, 2, '{skill:x}', 'new',
	(SELECT min(request_seq) FROM clutch.task), clutch.now(), clutch.now(), clutch.now(), clutch.now()
FROM generate_series(1, 60000) n;
ANALYZE clutch.task, clutch.timer, clutch.agent_slot, clutch.ready, clutch.waiting;
SELECT cmp_ok(pg_relation_size('clutch.task'), '>', 16 * 1024 * 1024::bigint, 'a large table');

-- rows of clutch.task that scans of the whole table have returned in this transaction
CREATE FUNCTION pg_temp.rows_read() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT pg_stat_get_xact_tuples_returned('clutch.task'::regclass) $$;

BEGIN;
SELECT is((SELECT count(*) FROM clutch.stuck), 1::bigint, 'one task is stuck');
SELECT is((SELECT problem FROM clutch.stuck WHERE task_id = 'task:9'), 'NO_CAPABLE_AGENT', 'the one that no agent can do');
SELECT cmp_ok(pg_temp.rows_read(), '<', 100::bigint, 'found without reading the tasks that are over');
COMMIT;

BEGIN;
SELECT is((SELECT jsonb_object_agg(labels ->> 'status', value) FROM clutch.metrics()
		WHERE name = 'clutch_tasks' AND labels ->> 'status' IN ('pending', 'assigned', 'running', 'input_required')),
	'{"pending": 4, "assigned": 3, "running": 2, "input_required": 0}'::jsonb, 'the tasks that are not over are counted');
SELECT ok((SELECT bool_and(abs(value - w.wanted) < w.wanted * 0.2) FROM clutch.metrics() m
		JOIN (VALUES ('completed', 54000), ('failed', 6000)) AS w(status, wanted) ON m.labels ->> 'status' = w.status
		WHERE m.name = 'clutch_tasks'), 'the others are estimated');
SELECT cmp_ok(pg_temp.rows_read(), '<', 100::bigint, 'without reading them');
COMMIT;

-- as after a restore, before the first ANALYZE
BEGIN;
DELETE FROM pg_statistic WHERE starelid = 'clutch.task'::regclass;
SELECT is((SELECT string_agg(labels ->> 'status', ' ' ORDER BY labels ->> 'status') FROM clutch.metrics() WHERE name = 'clutch_tasks'),
	'assigned input_required pending running suspended', 'without statistics, no number is given for the tasks that are over');
INSERT INTO clutch.outbox (no, id, endpoint, kind, state, remove_at, created_at, attempt, failure)
SELECT n, 'msg_' || n, 'far', 'post', 'sent', clutch.now(), clutch.now(), 1, repeat('x', 1900) FROM generate_series(1, 9000) n;
SELECT cmp_ok(pg_relation_size('clutch.outbox'), '>', 16 * 1024 * 1024::bigint, 'a large outbox');
SELECT is((SELECT string_agg(labels ->> 'state', ' ' ORDER BY labels ->> 'state') FROM clutch.metrics() WHERE name = 'clutch_outbox_calls'),
	'dead pending', 'nor for the calls that are over');
ANALYZE clutch.outbox;
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_outbox_calls' AND labels ->> 'state' = 'sent'), 9000::double precision, 'and with them it is');
ROLLBACK;

CREATE ROLE health_reader;
SELECT clutch.grant_reader('health_reader') \g /dev/null
SET ROLE health_reader;
SELECT is((SELECT count(*) FROM clutch.metrics() WHERE name = 'clutch_tasks' AND labels ->> 'status' IN ('completed', 'failed') AND value > 5000), 2::bigint,
	'also for a reader, to whom PostgreSQL does not show the statistics');
RESET ROLE;
SELECT clutch.revoke_reader('health_reader') \g /dev/null
DROP ROLE health_reader;

BEGIN;
SELECT is_empty('SELECT * FROM clutch.check()', 'the state is sound');
SELECT cmp_ok(pg_temp.rows_read(), '<', 50000::bigint, 'which a sample shows');
COMMIT;

-- faults of tasks that are not over are found whatever the sample is
DELETE FROM clutch.ready WHERE task_id = (SELECT task_id FROM clutch.ready LIMIT 1);
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), 'TASK_NOT_QUEUED', 'an assigned task that is not ready');
DELETE FROM clutch.waiting WHERE task_id = 'task:9';
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), 'TASK_NOT_QUEUED TASK_NOT_QUEUED', 'a pending task that does not wait');
SELECT clutch.rebuild() \g /dev/null
SELECT is_empty($$SELECT * FROM clutch.check()$$, 'rebuild repairs both');

-- the role of an agent with many running tasks, of which the statistics do not know yet
CREATE ROLE health_agent;
SELECT clutch.grant_agent('health_agent', 'agent:ken') \g /dev/null
BEGIN;
INSERT INTO clutch.task (task_id, run_id, thread_id, depth, status, agent_id, slot_no, from_agent, attempt, priority, reason, request_seq, since, created_at)
SELECT 'task:now:' || n, 'run:1', 'thread:1', 0, 'running', 'agent:ken', n, 'agent:ui', 1, 2, 'new', 0, clutch.now(), clutch.now()
FROM generate_series(1, 1500) n;
INSERT INTO clutch.agent_slot SELECT 'agent:ken', n, 1, 'task:now:' || n, 0, 0, 0 FROM generate_series(1, 1500) n;
ANALYZE clutch.agent_slot;
CREATE TEMP TABLE slots_before AS SELECT pg_stat_get_xact_tuples_returned('clutch.agent_slot'::regclass) AS rows;
SET LOCAL ROLE health_agent;
CREATE TEMP TABLE stuck AS SELECT * FROM clutch.stuck;
RESET ROLE;
SELECT (SELECT count(*) FROM stuck) AS stuck, pg_stat_get_xact_tuples_returned('clutch.agent_slot'::regclass) - rows AS slots_read
FROM slots_before \gset
ROLLBACK;
SELECT is(:stuck, 1, 'its role sees the task that is stuck');
SELECT cmp_ok(:slots_read, '<', 10000, 'and each slot is read once');
SELECT clutch.revoke_agent('health_agent', 'agent:ken') \g /dev/null
DROP ROLE health_agent;

-- many messages to which somebody may still reply
INSERT INTO clutch.expiry SELECT clutch.now() + interval '1 day', n, 'msg_' || n, 'run:1' FROM generate_series(1, 20000) n;
ANALYZE clutch.expiry;
BEGIN;
SELECT count(*) FROM clutch.metrics() \g /dev/null
SELECT count(*) FROM clutch.check() \g /dev/null
SELECT cmp_ok(pg_stat_get_xact_tuples_returned('clutch.expiry'::regclass), '<', 100::bigint, 'messages that are not due are not read');
COMMIT;

SELECT * FROM finish();
