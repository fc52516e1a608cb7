-- The health of the queues: a claim does not depend on the planner or on
-- statistics, and the log has no dead rows.  The file commits, so that the server
-- counts what is done, and needs a database of its own.
\ir ../fixtures/tap.sql
SELECT plan(23);
SET clutch.notify = off;

CREATE FUNCTION pg_temp.ask(n integer) RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:' || n,
		requires => '{skill:x}', id => 'msg_' || n))
$$;
-- makes the server count what this session has done so far
CREATE FUNCTION pg_temp.counted(OUT whole_scans bigint, OUT ready_rows bigint, OUT task_rows bigint) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_stat_force_next_flush();
	PERFORM pg_stat_clear_snapshot();
	SELECT sum(seq_scan), sum(idx_tup_fetch) FILTER (WHERE relname = 'ready'), sum(idx_tup_fetch) FILTER (WHERE relname = 'task')
	INTO whole_scans, ready_rows, task_rows
	FROM pg_stat_user_tables WHERE schemaname = 'clutch' AND relname IN ('ready', 'task', 'waiting', 'timer', 'agent_slot', 'events');
END $$;
-- n claims, each a transaction; how often a table was read as a whole meanwhile,
-- and how many rows of ready and task a claim read, and in which order it claimed
CREATE TEMP TABLE measured (name text, whole_scans bigint, ready_rows bigint, task_rows bigint, tasks text);
CREATE PROCEDURE pg_temp.measure(name text, n integer) LANGUAGE plpgsql AS $$
DECLARE
	before record;
	after record;
	tasks text := '';
	task text;
BEGIN
	-- the first call of a session reads more than the others
	SELECT c.task_id INTO task FROM clutch.claim('agent:ken', 1, '1 day') c;
	COMMIT;
	SELECT * INTO before FROM pg_temp.counted();
	COMMIT;
	FOR i IN 1 .. n LOOP
		SELECT c.task_id INTO task FROM clutch.claim('agent:ken', 1, '1 day') c;
		tasks := tasks || ' ' || coalesce(substr(task, 6)::text, 'nothing');
		COMMIT;
	END LOOP;
	SELECT * INTO after FROM pg_temp.counted();
	INSERT INTO measured VALUES (name, after.whole_scans - before.whole_scans, after.ready_rows - before.ready_rows,
		after.task_rows - before.task_rows, ltrim(tasks));
	COMMIT;
END $$;

SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "ken"}, "capabilities": [{"id": "skill:x"}],
	"limits": {"max_concurrency": 100000}}') \g /dev/null

-- no statement of this session has named these tables so far; autovacuum goes by the counts
SELECT pg_temp.ask(0) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken') \g /dev/null
SELECT clutch.finish('agent:ken', 'task:0') \g /dev/null
SELECT pg_temp.counted() \g /dev/null
SELECT is(string_agg(relname, ' ' ORDER BY relname), 'agent_slot events ready task timer', 'what the functions write is counted')
FROM pg_stat_user_tables WHERE schemaname = 'clutch' AND n_tup_ins > 0 AND relname IN ('agent_slot', 'events', 'ready', 'task', 'timer');

-- tables that were never analyzed, that have grown since they were analyzed, and that were analyzed just now
ALTER TABLE clutch.ready SET (autovacuum_enabled = off);
ALTER TABLE clutch.task SET (autovacuum_enabled = off);
SELECT count(*) FROM generate_series(1, 100) n, pg_temp.ask(n) \g /dev/null
CALL pg_temp.measure('absent', 20);
SELECT is((SELECT count(*) FROM pg_stats WHERE schemaname = 'clutch' AND tablename IN ('ready', 'task')), 0::bigint, 'there are no statistics');
SELECT count(*) FROM generate_series(1, 20) n, clutch.finish('agent:ken', 'task:' || n) \g /dev/null
ANALYZE clutch.ready, clutch.task;
SELECT count(*) FROM generate_series(101, 5000) n, pg_temp.ask(n) \g /dev/null
CALL pg_temp.measure('stale', 20);
ANALYZE clutch.ready, clutch.task;
SELECT isnt((SELECT count(*) FROM pg_stats WHERE schemaname = 'clutch' AND tablename IN ('ready', 'task')), 0::bigint, 'now there are');
CALL pg_temp.measure('fresh', 20);

SELECT is(whole_scans, 0::bigint, name || ' statistics: no table is read as a whole') FROM measured;
SELECT is(tasks, (SELECT string_agg(g::text, ' ' ORDER BY g) FROM generate_series(first, first + 19) g), name || ' statistics: the claims go in order')
FROM measured JOIN (VALUES ('absent', 2), ('stale', 23), ('fresh', 44)) AS v(name, first) USING (name);
SELECT is(ready_rows, (SELECT ready_rows FROM measured WHERE name = 'absent'), 'a claim reads as many rows of ready with ' || name || ' statistics') FROM measured WHERE name <> 'absent';
SELECT is(task_rows, (SELECT task_rows FROM measured WHERE name = 'absent'), 'and as many of tasks') FROM measured WHERE name <> 'absent';
SELECT cmp_ok(ready_rows, '<=', 60::bigint, 'at most three each') FROM measured WHERE name = 'fresh';

-- ------------------------------------------------------------ clutch.check()
-- with the least memory that can be set, a claim still reads a queue once, and not once for each task
SET work_mem = '64kB';
SELECT pg_temp.counted() \g /dev/null
SELECT seq_tup_read AS read_before FROM pg_stat_user_tables WHERE relid = 'clutch.ready'::regclass \gset
SELECT is_empty('SELECT * FROM clutch.check()', 'clutch.check() finds nothing wrong with thousands of tasks');
SELECT pg_temp.counted() \g /dev/null
SELECT cmp_ok(seq_tup_read - :read_before, '<=', 3 * (SELECT count(*) FROM clutch.ready), 'and reads them a few times at most')
FROM pg_stat_user_tables WHERE relid = 'clutch.ready'::regclass;
RESET work_mem;

-- ------------------------------------------------------------------- the log
-- every kind of work, resends and late reports, each a transaction
DO $$
DECLARE
	task record;
BEGIN
	FOR i IN 1 .. 20 LOOP
		PERFORM pg_temp.ask(i);
		COMMIT;
	END LOOP;
	FOR task IN SELECT task_id, attempt, row_number() OVER () AS n FROM clutch.tasks WHERE status = 'running' LOOP
		PERFORM clutch.progress('agent:ken', task.task_id, '{"p": 1}', task.attempt);
		CASE task.n % 4
			WHEN 0 THEN PERFORM clutch.finish('agent:ken', task.task_id, '{}', task.attempt);
			WHEN 1 THEN PERFORM clutch.release('agent:ken', task.task_id, task.attempt);
			WHEN 2 THEN PERFORM clutch.fail('agent:ken', task.task_id, 'E', 'no', attempt => task.attempt);
			ELSE PERFORM clutch.cancel(task.task_id);
		END CASE;
		COMMIT;
		PERFORM clutch.finish('agent:ken', task.task_id, '{}', task.attempt) WHERE task.n % 4 <> 1;
		COMMIT;
	END LOOP;
	PERFORM clutch.tick();
	COMMIT;
END $$;
SELECT pg_temp.counted() \g /dev/null
SELECT is(n_tup_upd + n_tup_del + n_dead_tup, 0::bigint, 'nothing in the log was updated or deleted, and it has no dead row')
FROM pg_stat_user_tables WHERE relid = 'clutch.events'::regclass;
SELECT cmp_ok(n_tup_ins, '>', 5000::bigint, 'even though much was written') FROM pg_stat_user_tables WHERE relid = 'clutch.events'::regclass;

-- ----------------------------------------------------------------- many agents
-- the registry is not read as a whole for each agent that registers or falls silent
CREATE VIEW pg_temp.registry_rows AS
	SELECT seq_tup_read + idx_tup_fetch AS n FROM pg_stat_user_tables WHERE relid = 'clutch.agent_registry'::regclass;
SELECT pg_temp.counted() \g /dev/null
SELECT n AS registry_rows FROM pg_temp.registry_rows \gset
SELECT count(*) FROM generate_series(1, 500) n, clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || n,
	'display', '{"name": "one of many"}'::jsonb, 'capabilities', '[{"id": "skill:y"}]'::jsonb)) \g /dev/null
SELECT pg_temp.counted() \g /dev/null
SELECT cmp_ok(n - :registry_rows, '<=', 10 * 500::bigint, 'an agent that registers costs a few rows of the registry') FROM pg_temp.registry_rows;
SELECT n AS registry_rows FROM pg_temp.registry_rows \gset
SELECT set_config('clutch.clock', to_char(now() AT TIME ZONE 'UTC' + interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false) \g /dev/null
SELECT ok((clutch.tick() ->> 'lost')::int >= 500, 'all agents are lost at once');
SELECT pg_temp.counted() \g /dev/null
SELECT cmp_ok(n - :registry_rows, '<=', 30 * 500::bigint, 'and so does one that is lost') FROM pg_temp.registry_rows;
RESET clutch.clock;
SELECT n AS registry_rows FROM pg_temp.registry_rows \gset
SELECT count(*) FROM generate_series(1, 100) n, clutch.set_status('agent:' || n, 'READY') \g /dev/null
SELECT pg_temp.counted() \g /dev/null
SELECT cmp_ok(n - :registry_rows, '<=', 30 * 100::bigint, 'and so does one that changes its status') FROM pg_temp.registry_rows;

-- -------------------------------------------------------------- housekeeping
SELECT is((SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_class c, pg_options_to_table(c.reloptions) o
	WHERE c.relnamespace = 'clutch'::regnamespace AND o.option_name = 'autovacuum_vacuum_threshold'),
	'agent_heartbeat agent_slot awaited consequence expiry open_work outbox question ready suspended timer traffic waiting', 'tables whose rows come and go are vacuumed by number');

SELECT * FROM finish();
