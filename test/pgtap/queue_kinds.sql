-- Tasks of another requester that wait with many kinds of requirements cost an
-- agent that can do none of them nothing.
\ir ../fixtures/tap.sql
SELECT plan(13);
SET clutch.notify = off;
SET clutch.heartbeat_interval = 0;

SELECT fixture.agent('ken') \g /dev/null
SELECT fixture.ask('t' || n, NULL, 'skill:' || n) FROM generate_series(1, 300) n \g /dev/null
SELECT is((SELECT count(*) FROM clutch.tasks WHERE status = 'pending'), 300::bigint, '300 tasks of 300 kinds wait');
-- the first call of a session reads more than the others
SELECT clutch.claim('agent:ken') \g /dev/null

CREATE VIEW pg_temp.reads AS
	SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) AS n FROM pg_index WHERE indrelid IN ('clutch.waiting'::regclass, 'clutch.task'::regclass);
BEGIN;
SELECT coalesce(n, 0) AS before FROM pg_temp.reads \gset
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken')), 0::bigint, 'a claim of an agent that can do none of them finds nothing');
SELECT cmp_ok(n - :before, '<=', 20::numeric, 'and reads a few rows, not one of each kind') FROM pg_temp.reads;
COMMIT;

-- ------------------------------------------------- how many kinds there are
BEGIN;
SELECT pg_stat_get_xact_numscans('clutch.waiting_from_agent'::regclass) AS before \gset
SELECT fixture.ask('t301', NULL, 'skill:301') \g /dev/null
SELECT cmp_ok(pg_stat_get_xact_numscans('clutch.waiting_from_agent'::regclass) - :before, '<=', 5::bigint, 'another kind is counted without a scan for each of the others');
COMMIT;
SET clutch.max_waiting_kinds = 304;
SELECT fixture.ask(kind || n, NULL, 'skill:' || kind) FROM unnest('{a,b,c}'::text[]) kind, generate_series(1, 40) n \g /dev/null
SELECT is(fixture.fault($$SELECT fixture.ask('d', NULL, 'skill:d')$$), '54000 TOO_MANY_KINDS /requires', 'so are kinds of many tasks');
SELECT is(fixture.state('c40'), 'pending 1', 'the last kind below the limit may wait');
SELECT lives_ok($$SELECT fixture.ask('a41', NULL, 'skill:a')$$, 'and there is room for one task more of a kind that waits');

-- ------------------------------------------------------------- dead entries
-- Rows that this open transaction has removed stay in the index.  An agent that
-- takes one task after the other reads past them only now and then, and still
-- sees at once what has come with other requirements.
CREATE FUNCTION pg_temp.trips(n integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	done text;
	task text;
BEGIN
	FOR i IN 1 .. n LOOP
		SELECT task_id INTO task FROM clutch.claim('agent:sam');
		PERFORM clutch.finish('agent:sam', task);
		PERFORM clutch.settle();
		done := concat_ws(' ', done, task);
	END LOOP;
	RETURN done;
END $$;
RESET clutch.max_waiting_kinds;
BEGIN;
SELECT fixture.agent('sam', 1, '{skill:s,skill:z}') \g /dev/null
SELECT fixture.ask('s' || n, NULL, 'skill:s') FROM generate_series(1, 3100) n \g /dev/null
SELECT clutch.cancel('s' || n) FROM generate_series(2, 3001) n \g /dev/null
SELECT is(pg_temp.trips(2), 's1 s3002', 'an agent takes what is left of a kind');
SELECT n AS before FROM pg_temp.reads \gset
SELECT pg_temp.trips(20) \g /dev/null
SELECT cmp_ok(n - :before, '<=', 20000::numeric, 'and does not read past 3000 dead entries for each task') FROM pg_temp.reads;
-- what has come with an urgency that had no tasks, and gone again
SELECT fixture.ask('u' || n, NULL, 'skill:s', '{"priority": 4}') FROM generate_series(1, 100) n \g /dev/null
SELECT clutch.cancel('u' || n) FROM generate_series(1, 100) n \g /dev/null
SELECT n AS before FROM pg_temp.reads \gset
SELECT is(pg_temp.trips(20), (SELECT string_agg('s' || n, ' ' ORDER BY n) FROM generate_series(3023, 3042) n), 'tasks that were cancelled are passed over');
SELECT cmp_ok(n - :before, '<=', 1000::numeric, 'but not again for each task') FROM pg_temp.reads;
SELECT is(fixture.claimed('agent:sam'), 's3043 1 new', 'the agent is at work');
SELECT fixture.ask('z1', NULL, 'skill:z', '{"priority": 4}'), clutch.settle() \g /dev/null
SELECT clutch.finish('agent:sam', 's3043'), clutch.settle() \g /dev/null
SELECT is(fixture.state('z1'), 'assigned agent:sam 1', 'a task of a new kind is given to the agent when it is free again');
COMMIT;
SELECT * FROM finish();
