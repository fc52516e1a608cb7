-- What a more urgent task waits for becomes as urgent.
\ir ../fixtures/tap.sql
\ir ../fixtures/family.sql
SELECT plan(23);

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
SELECT fixture.task('task:s', orders => '{"priority": 3}', whom => 'agent:lois'), fixture.task('task:s1', 'task:s', '{"priority": 1}'),
	fixture.task('task:s2', 'task:s1', '{"priority": 0}'), fixture.task('task:s3', 'task:s', '{"priority": 4}'), fixture.task('task:s4', 'task:s', '{"priority": 0}'),
	fixture.taken('agent:lois') \g /dev/null
SELECT clutch.cancel('task:s4'), clutch.suspend('agent:lois', 'task:s', '{"children": "all"}') \g /dev/null
SELECT is((SELECT string_agg(concat_ws(':', priority, asked_priority), ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:s_'),
	'3:1 0:0 4:4 0:0', 'a task that is suspended until its children are over lifts those that are open, and no others');
SELECT fixture.task('task:s5', 'task:s', '{"priority": 0}') \g /dev/null
SELECT is((SELECT priority FROM clutch.tasks WHERE task_id = 'task:s5'), 3::smallint, 'a child that is requested while its parent is suspended is lifted too');
SELECT fixture.task('task:t', orders => fixture.after('task:s') || '{"priority": 4}') \g /dev/null
SELECT is((SELECT string_agg(priority::text, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id ~ '^task:s[1235]?$'), '4 4 0 4 4',
	'when the suspended task is lifted itself, so are they');
SELECT fixture.task('task:u', orders => '{"priority": 3}', whom => 'agent:lois'), fixture.task('task:u1', 'task:u', '{"priority": 1}'), fixture.taken('agent:lois') \g /dev/null
SELECT clutch.suspend('agent:lois', 'task:u', '{"message": {}}') \g /dev/null
SELECT is((SELECT priority FROM clutch.tasks WHERE task_id = 'task:u1'), 1::smallint, 'a task that waits for a message lifts no child');
-- two tasks of one transaction wait for the same one
BEGIN;
SELECT fixture.task('task:v', orders => '{"priority": 0}'), fixture.task('task:v2', orders => fixture.after('task:v') || '{"priority": 2}'),
	fixture.task('task:v4', orders => fixture.after('task:v') || '{"priority": 4}') \g /dev/null
COMMIT;
SELECT is((SELECT string_agg(m::text, ' ') FROM fixture.moves('task:v', 'lifted') m), '{"was": 0, "state": "lifted", "because": "task:v4", "priority": 4}',
	'of two tasks that wait for it, the more urgent one lifts it, and is named');
SELECT fixture.task('task:w', orders => '{"priority": 0}') \g /dev/null
BEGIN;
SELECT fixture.task('task:w2', orders => fixture.after('task:w') || '{"priority": 2}') \g /dev/null
SAVEPOINT s;
SELECT fixture.task('task:w4', orders => fixture.after('task:w') || '{"priority": 4}') \g /dev/null
ROLLBACK TO s;
COMMIT;
SELECT is((SELECT priority FROM clutch.tasks WHERE task_id = 'task:w'), 2::smallint, 'a task whose request was rolled back lifts nothing');
SELECT is((SELECT string_agg(m::text, ' ') FROM fixture.moves('task:w', 'lifted') m), '{"was": 0, "state": "lifted", "because": "task:w2", "priority": 2}', 'the other one still does');
-- what failed is revived
SELECT fixture.task('task:x1', orders => '{"priority": 1}'), fixture.task('task:x2', orders => fixture.after('task:x1') || '{"priority": 1}') \g /dev/null
SELECT clutch.cancel('task:x1'), fixture.task('task:x3', orders => fixture.after('task:x2') || '{"priority": 3}') \g /dev/null
SELECT clutch.retry('task:x' || n) FROM generate_series(1, 3) n \g /dev/null
SELECT is((SELECT string_agg(concat_ws(':', status, priority), ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:x_'), 'assigned:3 pending:3 pending:3',
	'a task that waits again after it was revived lifts what it waits for');
SELECT fixture.task('task:z1', orders => '{"priority": 1}'), clutch.cancel('task:z1'), fixture.task('task:z3', orders => fixture.after('task:z1') || '{"priority": 3}') \g /dev/null
BEGIN;
SELECT clutch.retry('task:z3'), clutch.retry('task:z1') \g /dev/null
COMMIT;
SELECT is((SELECT string_agg(concat_ws(':', status, priority), ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:z_'), 'assigned:3 pending:3',
	'also if it was revived first, in the same transaction');
SELECT fixture.task('task:y', orders => '{"priority": 3}', whom => 'agent:lois'), fixture.task('task:y1', 'task:y', '{"priority": 0}'),
	fixture.task('task:y2', 'task:y', '{"priority": 0}'), clutch.cancel('task:y1'), fixture.taken('agent:lois') \g /dev/null
SELECT clutch.suspend('agent:lois', 'task:y', '{"children": "all"}'), clutch.retry('task:y1') \g /dev/null
SELECT is((SELECT string_agg(priority::text, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:y_'), '3 3',
	'a child that is revived while its parent is suspended is lifted like the others');
SELECT fixture.task('task:p1', 'task:p', '{"priority": 0}'), fixture.task('task:p', orders => fixture.after('task:p1') || '{"priority": 4}') \g /dev/null
SELECT is((SELECT priority FROM clutch.tasks WHERE task_id = 'task:p1'), 4::smallint, 'a child is lifted if its parent has named it as a task that it waits for');
-- a task that is requested while a more urgent one that waits for it is prepared
BEGIN;
SELECT fixture.task('task:q2', orders => fixture.after('task:q1') || '{"priority": 4}') \g /dev/null
PREPARE TRANSACTION 'clutch_test_lift';
SELECT fixture.task('task:q1', orders => '{"priority": 0}'), clutch.tick() \g /dev/null
SELECT is((SELECT priority FROM clutch.tasks WHERE task_id = 'task:q1'), 0::smallint, 'whether anything waits for a task is not known before that is committed');
COMMIT PREPARED 'clutch_test_lift';
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT priority FROM clutch.tasks WHERE task_id = 'task:q1'), 4::smallint, 'and then the task is lifted');
SELECT is((SELECT count(*) FROM clutch.consequence), 0::bigint, 'which leaves nothing behind');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
