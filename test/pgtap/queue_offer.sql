-- Tasks that an agent may not have do not keep it from those that it may have.
\ir ../fixtures/tap.sql
\ir ../fixtures/specialists.sql
SELECT plan(10);

SELECT fixture.specialist('f', 1), fixture.job('f now', '{"priority": 3}', run => 'run:spent'), fixture.job('f next', '{"priority": 3}', run => 'run:spent'), fixture.job('f other'),
	clutch.send(clutch.envelope('agent.update', 'agent:f', run_id => 'run:agents', thread_id => 'thread:agents', task_id => 'task:agents',
		payload => '{"agent_id": "agent:f", "limits": {"max_concurrency": 1, "max_tokens": 10}}')) \g /dev/null
SELECT is(fixture.attempts('agent:f', 1), 'f now 1', 'tasks of two runs began to wait when no card said what a run may cost');
SELECT fixture.reported('agent:f', 'f now', 'task.result', '{}', 20), clutch.tick() \g /dev/null
SELECT is(fixture.outcomes('f %'), 'f next pending NO_AGENT_AVAILABLE, f now completed agent:f, f other assigned agent:f', 'a tick gives out the other behind it');
SELECT is(fixture.attempts('agent:f', 1), 'f other 1', 'which is done');

SELECT fixture.specialist('g', 2, '{"max_tokens": 10}'), fixture.job('g 1', '{"priority": 4}', run => 'run:other'), fixture.job('g 2', '{"priority": 4}', run => 'run:spent too'),
	fixture.job('g 3', '{"priority": 3}', run => 'run:spent too'), fixture.job('g 4', '{"priority": 3}', run => 'run:spent too'), fixture.job('g 5', run => 'run:other') \g /dev/null
SELECT is(fixture.attempts('agent:g', 2), 'g 1 1, g 2 1', 'an agent that has room for two');
SELECT fixture.reported('agent:g', 'g 1', 'task.result') \g /dev/null
SELECT fixture.reported('agent:g', 'g 2', 'task.result', '{}', 20) \g /dev/null
SELECT is(fixture.attempts('agent:g', 2), 'g 3 1, g 5 1', 'claims what it may still have, though something more urgent waits for it');
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.outcomes('g 4'), 'g 4 pending NO_AGENT_AVAILABLE', 'and a tick says that no agent may have it');

-- -------------------------------- an agent.update routes what waited for it
SELECT fixture.agent('late', 1, '{skill:old}'), fixture.ask('updated', NULL, 'skill:new', run => 'run:updated') \g /dev/null
SELECT is(fixture.state('updated'), 'pending 1', 'a task waits for a capability that no agent has');
SELECT clutch.send(clutch.envelope('agent.update', 'agent:late', run_id => 'run:agents', thread_id => 'thread:agents', task_id => 'task:agents',
	payload => '{"agent_id": "agent:late", "capabilities": [{"id": "skill:new"}]}')) \g /dev/null
SELECT is(fixture.state('updated'), 'assigned agent:late 1', 'the update that adds it routes the task at once');

-- ---------------------- a tick offers a slot to the most urgent kind first
SELECT fixture.ask('urgent', NULL, 'skill:shared', '{"priority": 4}', run => 'run:shared', more => '{"prefers": ["tag:a"]}'),
	fixture.ask('calm', NULL, 'skill:shared', '{"priority": 0}', run => 'run:shared', more => '{"prefers": ["tag:b"]}') \g /dev/null
SELECT fixture.agent('shared', 0, '{skill:shared}') \g /dev/null
UPDATE clutch.agent_registry SET card = jsonb_set(card, '{limits,max_concurrency}', '1') WHERE agent_id = 'agent:shared';
SELECT clutch.join_group('group:shared', 'agent:shared') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.state('urgent') || ', ' || fixture.state('calm'), 'assigned agent:shared 1, pending 1', 'of two kinds of waiting tasks the more urgent head is routed first');

SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
