-- Parents and children: how deep a task is, cycles, and parents that are
-- requested after their children.
\ir ../fixtures/tap.sql
SELECT plan(5);

-- ------------------------------------------------- deep chains cost no walk
SELECT fixture.ask('chain 1') \g /dev/null
SELECT count(fixture.ask('chain ' || i, parent => 'chain ' || i - 1)) FROM generate_series(2, 300) i \g /dev/null
SELECT is((SELECT depth FROM clutch.task WHERE task_id = 'chain 300'), 299, 'a task below known tasks knows its depth');
SELECT fixture.ask('orphan 2', parent => 'orphan 1'), fixture.ask('orphan 3', parent => 'orphan 2') \g /dev/null
SELECT cmp_ok((SELECT depth FROM clutch.task WHERE task_id = 'orphan 3'), '<', 0, 'a task below an unknown task does not');
SELECT throws_ok($$SELECT fixture.ask('orphan 1', parent => 'orphan 3')$$, 'KL004', NULL, 'so a walk finds the cycle there');

-- ------------------------------- a parent that is requested after its child
SELECT fixture.ask('early child', parent => 'late parent') \g /dev/null
SELECT throws_ok($$SELECT fixture.ask('late parent', run => 'run:elsewhere')$$, 'KL004', NULL, 'a parent is refused in another run than its child''s');
SELECT lives_ok($$SELECT fixture.ask('late parent')$$, 'and accepted in the same run');

SELECT * FROM finish();
