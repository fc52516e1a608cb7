-- How many tasks a run may have (meta.clutch.budget.tasks), which is checked each time that one is routed.
\ir ../fixtures/tap.sql
SELECT plan(9);
SET clutch.notify = off;

CREATE FUNCTION pg_temp.ask(run text, task text, tasks integer DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
	SELECT fixture.ask(task, run => run, orders => CASE WHEN tasks IS NOT NULL THEN jsonb_build_object('budget', jsonb_build_object('tasks', tasks)) END)
$$;
-- how many tasks have been read so far in order to count those of a run
CREATE FUNCTION pg_temp.reads() RETURNS bigint LANGUAGE sql AS $$ SELECT pg_stat_get_xact_tuples_fetched('clutch.task_run_id'::regclass) $$;
CREATE TEMP TABLE before AS SELECT 0::bigint AS reads;
CREATE FUNCTION pg_temp.begins() RETURNS void LANGUAGE sql AS $$ UPDATE before SET reads = pg_temp.reads() $$;
CREATE FUNCTION pg_temp.since() RETURNS bigint LANGUAGE sql AS $$ SELECT pg_temp.reads() - reads FROM before $$;
-- Tasks are counted again as long as other transactions are open that may have requested some, in whatever database.
-- Was there one, then, which was open before this one or has begun since?
CREATE FUNCTION pg_temp.had_company() RETURNS boolean LANGUAGE sql AS $$
	SELECT pg_snapshot_xmin(s) < pg_current_xact_id() OR pg_snapshot_xmax(s)::text::bigint > pg_current_xact_id()::text::bigint + 1 FROM pg_current_snapshot() s
$$;
CREATE FUNCTION pg_temp.reads_few(what text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN pg_temp.since() >= 2000 AND pg_temp.had_company() THEN skip('other transactions were open: ' || what) ELSE cmp_ok(pg_temp.since(), '<', 2000::bigint, what) END
$$;
-- the tasks of a run in the order of their requests: a for those that were assigned, f for those that were not allowed
CREATE FUNCTION pg_temp.verdicts(run text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(CASE WHEN code = 'BUDGET_EXCEEDED' THEN 'f' ELSE left(status, 1) END, '' ORDER BY request_seq) FROM clutch.tasks WHERE run_id = run
$$;

SELECT fixture.agent('ken', 100000) \g /dev/null

-- ------------------------------------------------------- what a routing reads
SELECT fixture.await_others() \g /dev/null
BEGIN;
SELECT pg_temp.begins() \g /dev/null
SELECT pg_temp.ask('run:1', 'task:' || i, CASE WHEN i = 1 THEN 500 END) FROM generate_series(1, 400) i \g /dev/null
SELECT pg_temp.reads_few('400 requests in one transaction do not each count the tasks before them');
COMMIT;
BEGIN;
SELECT pg_temp.begins() \g /dev/null
SELECT pg_temp.ask('run:1', 'task:' || i) FROM generate_series(401, 420) i \g /dev/null
SELECT pg_temp.reads_few('nor do those of a later one');
COMMIT;
SELECT pg_temp.ask('run:1', 'task:' || i) FROM generate_series(421, 520) i \g /dev/null
SELECT is(pg_temp.verdicts('run:1'), repeat('a', 500) || repeat('f', 20), 'as many are assigned as the budget allows');
BEGIN;
SELECT pg_temp.begins() \g /dev/null
SELECT pg_temp.ask('run:1', 'task:' || i) FROM generate_series(521, 540) i \g /dev/null
SELECT pg_temp.reads_few('and a request beyond the limit does not count them again');
COMMIT;

-- ------------------------------------------------- what has been rolled back
SELECT pg_temp.ask('run:2', 'task:2.1', 3) \g /dev/null
BEGIN;
SELECT pg_temp.ask('run:2', 'task:2.' || i) FROM generate_series(2, 9) i \g /dev/null
ROLLBACK;
SELECT pg_temp.ask('run:2', 'task:2.' || i) FROM generate_series(11, 13) i \g /dev/null
SELECT is(pg_temp.verdicts('run:2'), 'aaaf', 'requests that were rolled back do not count');
SELECT pg_temp.ask('run:3', 'task:3.1', 3) \g /dev/null
BEGIN;
SELECT pg_temp.ask('run:3', 'task:3.2') \g /dev/null
SAVEPOINT s;
SELECT pg_temp.ask('run:3', 'task:3.' || i) FROM generate_series(3, 9) i \g /dev/null
ROLLBACK TO s;
SELECT pg_temp.ask('run:3', 'task:3.' || i) FROM generate_series(11, 12) i \g /dev/null
COMMIT;
SELECT is(pg_temp.verdicts('run:3'), 'aaaf', 'nor do those of a savepoint');
DO $$ BEGIN
	PERFORM setseed(0.5);
	PERFORM pg_temp.ask('run:4', 'task:4.0', 60);
	FOR i IN 1 .. 150 LOOP
		BEGIN
			PERFORM pg_temp.ask('run:4', 'task:4.' || i || '.' || j) FROM generate_series(1, (random() * 3)::integer) j;
			IF random() < 0.5 THEN
				RAISE division_by_zero;
			END IF;
		EXCEPTION WHEN division_by_zero THEN
		END;
	END LOOP;
END $$;
SELECT matches(pg_temp.verdicts('run:4'), '^a{60}f+$', 'however many of them come one after the other');

-- ------------------------------------------------------ a run that begins again
SELECT clutch.cancel_run('run:3', 'agent:ui') \g /dev/null
SELECT count(*) FROM clutch.prune('infinity') \g /dev/null
SELECT pg_temp.ask('run:3', 'task:3.' || i, 2) FROM generate_series(1, 3) i \g /dev/null
SELECT is(pg_temp.verdicts('run:3'), 'aaf', 'tasks from before it was pruned do not count');

-- ------------------------------------------------------------- a new state
SELECT clutch.rebuild() \g /dev/null
SELECT pg_temp.ask('run:1', 'task:541'), pg_temp.ask('run:5', 'task:5.0', 2), pg_temp.ask('run:5', 'task:5.1'), pg_temp.ask('run:5', 'task:5.2') \g /dev/null
SELECT is(right(pg_temp.verdicts('run:1'), 3) || ' ' || pg_temp.verdicts('run:5'), 'fff aaf', 'a rebuild changes nothing');
SELECT * FROM finish();
