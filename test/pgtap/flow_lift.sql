-- What a more urgent task waits for becomes as urgent.
\ir ../fixtures/tap.sql
\ir ../fixtures/family.sql
SELECT plan(9);

SELECT fixture.task('task:l1', orders => '{"priority": 1}'), fixture.task('task:l2', orders => fixture.after('task:l1') || '{"priority": 0}'), fixture.task('task:l3'),
	fixture.task('task:l4', orders => fixture.after('task:l2') || '{"priority": 4}') \g /dev/null
SELECT is((SELECT string_agg(priority::text, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:l_'), '4 4 2 4', 'what a more urgent task waits for becomes as urgent');
SELECT is((SELECT string_agg(m::text, ' ') FROM fixture.moves('task:l1', 'lifted') m), '{"was": 1, "state": "lifted", "because": "task:l2", "priority": 4}', 'the lift is recorded');
SELECT is((SELECT envelope #>> '{meta,clutch,priority}' FROM clutch.events WHERE task_id = 'task:l1' AND type = 'task.request'), '1', 'beside the priority of the request');
SELECT is(fixture.taken('agent:ken', 1), 'l1', 'the lifted task is claimed first');
SELECT fixture.task('task:m', orders => '{"priority": 3, "join": "all"}'), fixture.task('task:m1', 'task:m', '{"priority": 0}') \g /dev/null
SELECT is((SELECT priority FROM clutch.tasks WHERE task_id = 'task:m1'), 3::smallint, 'a child that its parent waits for is lifted as well');
SELECT fixture.task('task:o3', orders => fixture.after('task:o2') || '{"priority": 4}'), fixture.task('task:o1', orders => '{"priority": 0}'),
	fixture.task('task:o2', orders => fixture.after('task:o1') || '{"priority": 1}') \g /dev/null
SELECT is((SELECT string_agg(priority::text, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:o_'), '4 4 4', 'so is a task that is requested after the one that waits for it, and what it waits for in turn');
SELECT fixture.task('task:n1', 'task:n', '{"priority": 0, "join": "all"}'), fixture.task('task:n', orders => '{"priority": 3}') \g /dev/null
SELECT is((SELECT priority FROM clutch.tasks WHERE task_id = 'task:n1'), 3::smallint, 'and a child that was requested before its parent');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
