-- A session remembers where the rows of tasks are.  Rows move, and others take their
-- places: a report reaches its own task all the same.
\ir ../fixtures/tap.sql
SELECT plan(8);

SELECT set_config('clutch.notify', 'off', false) \g /dev/null
SELECT fixture.at(0) \g /dev/null
SELECT fixture.agent('ken', 100) \g /dev/null
SELECT count(fixture.ask('t' || n, run => 'run:' || 60 - n)) FROM generate_series(11, 40) n \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken', 100) \g /dev/null

-- in the order of their runs, they stand the other way round
CLUSTER clutch.task USING task_run_id;
SELECT count(clutch.progress('agent:ken', 't' || n, '{"n": 1}')) FROM generate_series(11, 20) n \g /dev/null
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.task WHERE progress_seq IS NOT NULL),
	't11 t12 t13 t14 t15 t16 t17 t18 t19 t20', 'progress of these tasks, and of no others');
SELECT is_empty('SELECT t.task_id, e.task_id FROM clutch.task t JOIN clutch.events e ON e.seq = t.progress_seq WHERE e.task_id <> t.task_id',
	'each its own');

-- and the first way again
CLUSTER clutch.task USING task_pkey;
SELECT count(clutch.finish('agent:ken', 't' || n)) FROM generate_series(11, 40) n \g /dev/null
SELECT is((SELECT count(*) FROM clutch.task WHERE status = 'completed' AND result_seq IS NOT NULL), 30::bigint, 'all are finished');
SELECT is_empty('SELECT t.task_id, e.task_id FROM clutch.task t JOIN clutch.events e ON e.seq = t.result_seq WHERE e.task_id <> t.task_id',
	'each by its own result');

-- a table that has become shorter
SELECT pg_relation_size('clutch.task') AS size \gset
SELECT count(fixture.ask('last' || n, run => 'run:last')) FROM generate_series(1, 3) n \g /dev/null
SELECT clutch.prune(timestamptz '2026-01-01 12:00:00Z' + interval '1 day') \g /dev/null
VACUUM (FULL) clutch.task;
SELECT cmp_ok(pg_relation_size('clutch.task'), '<', :size::bigint, 'the table is shorter');
SELECT throws_ok($$SELECT clutch.finish('agent:ken', 't30')$$, 'KL003', NULL, 'a task that was removed is gone');
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.task), 'last1 last2 last3', 'only the last are there');
SELECT fixture.ask('t30', run => 'run:again') \g /dev/null
SELECT is((SELECT run_id FROM clutch.tasks WHERE task_id = 't30'), 'run:again', 'its name can be used again');

SELECT * FROM finish();
