-- Tasks that come after others: they start, or fail, when those are over.
\ir ../fixtures/tap.sql
\ir ../fixtures/family.sql
SELECT plan(30);

SELECT fixture.task('task:b') \g /dev/null
SELECT fixture.taken() \g /dev/null
SELECT fixture.task('task:c1'), fixture.task('task:c2'), fixture.task('task:c3', orders => fixture.after('task:c1', 'task:c2')), fixture.task('task:c4', orders => fixture.after('task:c3'), whom => ''),
	fixture.task('task:c5', orders => fixture.after('task:c1') || '{"not_before": "2026-01-01T12:01:00Z"}') \g /dev/null
SELECT is(fixture.states('task:c%'), 'c1 assigned, c2 assigned, c3 pending sibling, c4 pending sibling, c5 pending sibling', 'a task that comes after others waits for them');
SELECT is(fixture.taken(), 'c1 c2', 'and cannot be claimed');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds it waiting');
SELECT clutch.finish('agent:ken', 'task:c1') \g /dev/null
SELECT is(fixture.states('task:c%'), 'c1 completed, c2 running, c3 pending sibling, c4 pending sibling, c5 pending time', 'one of two completed tasks is not enough, and not_before counts too');
SELECT clutch.finish('agent:ken', 'task:c2') \g /dev/null
SELECT is(fixture.taken(), 'c3', 'when both are completed it can be claimed');
SELECT is((SELECT string_agg(type, ' ' ORDER BY seq) FROM clutch.events WHERE task_id = 'task:c3'), 'task.request routing.decision task.accept', 'the late assignment is in the log');
SELECT fixture.at(60) \g /dev/null
SELECT is(fixture.taken(), 'c5', 'a task whose not_before has passed can be claimed');
SELECT clutch.fail('agent:ken', 'task:c3', 'E', 'broken', false) \g /dev/null
SELECT is(fixture.states('task:c4'), 'c4 failed DEPENDENCY_FAILED', 'a task that waits for a failed task fails');
SELECT fixture.task('task:c6', orders => fixture.after('task:c1')), fixture.task('task:c7', orders => fixture.after('task:c1', 'task:c4')), fixture.task('task:c8', orders => fixture.after('task:later')) \g /dev/null
SELECT is(fixture.states('task:c6') || ', ' || fixture.states('task:c7') || ', ' || fixture.states('task:c8'), 'c6 assigned, c7 failed DEPENDENCY_FAILED, c8 pending sibling', 'a completed task counts at once, a failed one as well, an unknown one is waited for');
SELECT fixture.task('task:later') \g /dev/null
SELECT clutch.finish('agent:ken', 'task:later') \g /dev/null
SELECT is(fixture.states('task:c8'), 'c8 assigned', 'the task starts when the unknown one is completed');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
-- tasks are revived in any order
SELECT is((SELECT count(*) FROM clutch.retry_run('run:1')), 3::bigint, 'retry_run revives the tasks that failed');
SELECT is(fixture.states('task:c3') || ', ' || fixture.states('task:c4') || ', ' || fixture.states('task:c7'), 'c3 assigned, c4 pending sibling, c7 pending sibling', 'which wait again');
SELECT fixture.taken(), clutch.finish('agent:ken', 'task:c3'), fixture.taken('agent:lois') \g /dev/null
SELECT isnt((SELECT status FROM clutch.tasks WHERE task_id = 'task:c4'), 'pending', 'until the retried task is completed');
SELECT clutch.cancel('task:c4') \g /dev/null
SELECT is(fixture.states('task:c7'), 'c7 failed DEPENDENCY_FAILED', 'a cancelled task is not completed');
SELECT is((SELECT string_agg(concat_ws('>', replace(from_task_id, 'task:', ''), replace(to_task_id, 'task:', '')), ' ' ORDER BY from_task_id, to_task_id) FROM clutch.task_edges WHERE kind = 'after' AND from_task_id < 'task:d'),
	'c1>c3 c1>c5 c1>c6 c1>c7 c2>c3 c3>c4 c4>c7', 'clutch.task_edges shows who waits for whom');
-- a task is retried when the one that it waits for is over
SELECT fixture.task('task:e1'), fixture.task('task:e2', orders => fixture.after('task:e1')) \g /dev/null
SELECT clutch.cancel('task:e1') \g /dev/null
SELECT clutch.retry('task:e2') \g /dev/null
SELECT is(fixture.states('task:e2') || ', retried ' || (SELECT count(*) FROM fixture.moves('task:e2', 'retried')), 'e2 failed DEPENDENCY_FAILED, retried 1',
	'a retried task fails again at once if what it waits for has failed');
SELECT fixture.task('task:f1'), fixture.task('task:f2', orders => fixture.after('task:f1')) \g /dev/null
SELECT fixture.taken() \g /dev/null
SELECT clutch.finish('agent:ken', 'task:f1') \g /dev/null
SELECT clutch.cancel('task:f2') \g /dev/null
SELECT clutch.retry('task:f2') \g /dev/null
SELECT is(fixture.states('task:f2'), 'f2 assigned', 'and starts at once if that is completed');
-- not_before passes while the task waits for others
SELECT fixture.task('task:g1'), fixture.task('task:g2', orders => fixture.after('task:g1') || '{"not_before": "2026-01-01T12:02:00Z"}') \g /dev/null
SELECT fixture.at(130), clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.stuck WHERE task_id = 'task:g2'), 0::bigint, 'a task whose not_before has passed is not stuck while it waits for others');
CREATE TEMP TABLE timers AS SELECT task_id FROM clutch.timer;
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT is((SELECT string_agg(task_id, ' ') FROM clutch.timer WHERE task_id LIKE 'task:g%'), (SELECT string_agg(task_id, ' ') FROM timers WHERE task_id LIKE 'task:g%'), 'and the same tasks have timers');
SELECT fixture.taken(), clutch.finish('agent:ken', 'task:g1') \g /dev/null
SELECT is(fixture.states('task:g2'), 'g2 assigned', 'it starts when they are completed');
-- refusals
SELECT throws_ok($$SELECT fixture.task('task:r2', orders => fixture.after('task:c1'), run => 'run:2')$$, 'KL004', NULL, 'a task of another run is refused');
SELECT fixture.task('task:x', orders => fixture.after('task:y')), fixture.task('task:y', orders => fixture.after('task:z')) \g /dev/null
SELECT throws_ok($$SELECT fixture.task('task:z', orders => fixture.after('task:x'))$$, 'KL004', NULL, 'a circle is refused');
SELECT throws_ok($$SELECT fixture.task('task:b1', 'task:b', fixture.after('task:b'))$$, 'KL004', NULL, 'a task cannot come after its own parent');
SELECT is(fixture.states('task:z'), NULL, 'a refused request leaves no task');
-- all tasks of a long chain fail at once
SELECT fixture.task('task:k' || n, orders => fixture.after('task:k' || n - 1)) FROM generate_series(1, 2000) n \g /dev/null
SELECT fixture.task('task:k0') \g /dev/null
SELECT clutch.cancel('task:k0') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.tasks WHERE task_id LIKE 'task:k%' AND code = 'DEPENDENCY_FAILED'), 2000::bigint, 'a chain of any length fails at once');
-- the edges of one run
SELECT fixture.task('task:o1', run => 'run:other'), fixture.task('task:o2', orders => fixture.after('task:o1'), run => 'run:other') \g /dev/null
ANALYZE clutch.task, clutch.dependency;
BEGIN;
SELECT is((SELECT string_agg(from_task_id || '>' || to_task_id, ' ') FROM clutch.task_edges WHERE run_id = 'run:other'), 'task:o1>task:o2', 'a run has an edge');
SELECT cmp_ok(pg_stat_get_xact_tuples_returned('clutch.dependency'::regclass), '<', 100::bigint, 'which is found without reading those of other runs');
COMMIT;
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
