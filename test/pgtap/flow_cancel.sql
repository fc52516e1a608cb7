-- A cancel reaches everything that is live below the task.
\ir ../fixtures/tap.sql
\ir ../fixtures/family.sql
SELECT plan(12);

SELECT fixture.task('task:a'), fixture.task('task:a1', 'task:a'), fixture.task('task:a2', 'task:a', whom => 'agent:lois'), fixture.task('task:a11', 'task:a1', whom => 'agent:lois'),
	fixture.task('task:a111', 'task:a11', whom => 'agent:nobody'), fixture.task('task:b') \g /dev/null
SELECT fixture.taken(), fixture.taken('agent:lois', 1) \g /dev/null
SELECT clutch.finish('agent:ken', 'task:a1') \g /dev/null
SELECT is((SELECT late FROM clutch.cancel('task:a', 'not needed')), false, 'a cancel is accepted');
SELECT is(fixture.states('task:a%'), 'a cancelled, a1 completed, a11 cancelled, a111 cancelled, a2 cancelled', 'it reaches every live task below, also below one that is completed');
SELECT is(fixture.states('task:b%'), 'b running', 'and no other task');
SELECT is((SELECT string_agg(concat_ws(' ', task_id, from_agent, to_agents[1], envelope #>> '{payload,ancestor}'), ', ' ORDER BY seq) FROM clutch.events WHERE type = 'task.cancel' AND task_id <> 'task:a'),
	'task:a2 agent:orchestrator agent:lois task:a, task:a11 agent:orchestrator agent:lois task:a, task:a111 agent:orchestrator agent:ui task:a', 'each cancel is an event for the agent of its task, level by level');
SELECT is((SELECT state FROM clutch.extend_lease('agent:lois', 'task:a2', 1)), 'cancelled', 'a running agent learns of it from its lease');
SELECT is((SELECT late FROM clutch.finish('agent:lois', 'task:a2')), true, 'or from its report');
SELECT is((SELECT sum(running) FROM clutch.agents), 1::bigint, 'the slots are free');
SELECT is((SELECT late FROM fixture.task('task:a3', 'task:a')), false, 'a child that is requested afterwards is accepted');
SELECT is((SELECT late FROM fixture.task('task:a12', 'task:a1')), false, 'also below a completed task');
SELECT is(fixture.states('task:a3') || ', ' || fixture.states('task:a12'), 'a3 cancelled, a12 cancelled', 'and cancelled at once');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
