-- Tasks of one family in a run whose budget is spent: a tick, a claim or a
-- report ends one of them, and the others learn of it.
\ir ../fixtures/tap.sql
\ir ../fixtures/specialists.sql
SELECT plan(10);

-- -------------------------------------------------------------- by a tick
SELECT fixture.job('b root', '{"budget": {"tokens": 10}}', skill => 'a'), fixture.attempts('agent:a', 9),
	fixture.job('b parent', skill => 'b parent'), fixture.job('b child', '{"join": "all", "priority": 4}', 'b parent'),
	fixture.reported('agent:a', 'b root', 'task.result', '{}', 20) \g /dev/null
SELECT lives_ok('SELECT clutch.tick()', 'a tick handles two tasks of a run without budget, parent and child');
SELECT is(fixture.outcomes('b %'), 'b child failed BUDGET_EXCEEDED, b parent failed BUDGET_EXCEEDED, b root completed agent:a', 'and both fail');

-- ------------------------------------------------------------- by a claim
SELECT fixture.specialist('c', 1), fixture.job('c root', '{"budget": {"tokens": 10}}', skill => 'a'), fixture.attempts('agent:a', 9),
	fixture.job('c parent'), fixture.job('c child', '{"join": "all"}', 'c parent'), fixture.reported('agent:a', 'c root', 'task.result', '{}', 20) \g /dev/null
SELECT is(fixture.outcomes('c %'), 'c child pending NO_CAPACITY, c parent assigned agent:c, c root completed agent:a', 'the parent is ready and the child waits when the budget is spent');
UPDATE clutch.agent_registry SET card = jsonb_set(card, '{limits,max_concurrency}', '2') WHERE agent_id = 'agent:c';
SELECT clutch.join_group('group:c', 'agent:c') \g /dev/null
SELECT is(fixture.attempts('agent:c', 2), 'c parent 1', 'a claim takes the parent');
SELECT is(fixture.outcomes('c %'), 'c child failed BUDGET_EXCEEDED, c parent running agent:c, c root completed agent:a', 'and the child fails');
SELECT is((SELECT joined_seq IS NOT NULL FROM clutch.task WHERE task_id = 'c parent'), true, 'the parent was told of it');

-- ------------------------- by the report of an agent that had been lost
SELECT fixture.at(90) \g /dev/null
SELECT fixture.specialist('e', 1, '{"heartbeat_sec": 10}'), fixture.job('e parent', '{"budget": {"tokens": 10}}'), fixture.attempts('agent:e', 1),
	fixture.reported('agent:e', 'e parent', 'task.progress', '{"state": "input_required"}'), fixture.at(190), clutch.tick(),
	fixture.job('e child', '{"join": "all"}', 'e parent') \g /dev/null
SELECT is(fixture.outcomes('e %'), 'e child pending NO_AGENT_AVAILABLE, e parent input_required agent:e', 'the agent of a parked parent is lost, and the child waits for it');
SELECT is(fixture.reported('agent:e', 'e parent', 'task.progress', '{"note": "more"}', 20), false, 'a report on the parent ends the child');
SELECT is(fixture.outcomes('e %'), 'e child failed BUDGET_EXCEEDED, e parent input_required agent:e', 'and the parent stays parked');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
