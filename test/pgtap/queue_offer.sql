-- What an agent may not have does not stand before what it may have.
\ir ../fixtures/tap.sql
SELECT plan(10);
SET clutch.notify = off;
SET clutch.default_deadline = 0;
SET clutch.heartbeat_interval = 0;
SET clutch.breaker_failures = 0;

CREATE FUNCTION pg_temp.agent(name text, at_once integer, limits jsonb DEFAULT '{}') RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'capabilities', jsonb_build_array(jsonb_build_object('id', 'skill:' || name)),
		'limits', limits || jsonb_build_object('max_concurrency', at_once)))
$$;
-- of the skill of its first letter
CREATE FUNCTION pg_temp.ask(task text, orders jsonb DEFAULT '{}', parent text DEFAULT NULL, skill text DEFAULT NULL, run text DEFAULT NULL) RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', run_id => coalesce(run, 'run:' || left(task, 1)), thread_id => 'thread:1', task_id => task, parent_task_id => parent,
		requires => ARRAY['skill:' || coalesce(skill, left(task, 1))], meta => jsonb_build_object('clutch', orders)))
$$;
CREATE FUNCTION pg_temp.report(agent text, task text, type text, payload jsonb DEFAULT '{}', tokens integer DEFAULT 0) RETURNS boolean LANGUAGE sql AS $$
	SELECT late FROM clutch.send(clutch.envelope(type, agent, '{agent:ui}', payload, run_id => (SELECT run_id FROM clutch.tasks WHERE task_id = task), thread_id => 'thread:1', task_id => task,
		meta => jsonb_build_object('clutch', jsonb_build_object('usage', jsonb_build_object('input_tokens', tokens)))))
$$;
CREATE FUNCTION pg_temp.claimed(agent text, n integer, lease interval DEFAULT '1 h') RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(task_id || ' ' || attempt, ', '), 'nothing') FROM clutch.claim(agent, n, lease)
$$;
CREATE FUNCTION pg_temp.states(pattern text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', task_id, status, agent_id, code), ', ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE pattern
$$;

SELECT fixture.at(31), pg_temp.agent('a', 9) \g /dev/null
SELECT pg_temp.agent('f', 1), pg_temp.ask('f now', run => 'run:spent'), pg_temp.ask('f next', '{"priority": 3}', run => 'run:spent'), pg_temp.ask('f other'),
	clutch.send(clutch.envelope('agent.update', 'agent:f', run_id => 'run:agents', thread_id => 'thread:agents', task_id => 'task:agents',
		payload => '{"agent_id": "agent:f", "limits": {"max_concurrency": 1, "max_tokens": 10}}')) \g /dev/null
SELECT is(pg_temp.claimed('agent:f', 1), 'f now 1', 'tasks of two runs began to wait when no card said what a run may cost');
SELECT pg_temp.report('agent:f', 'f now', 'task.result', '{}', 20), clutch.tick() \g /dev/null
SELECT is(pg_temp.states('f %'), 'f next pending NO_AGENT_AVAILABLE, f now completed agent:f, f other assigned agent:f', 'a tick gives out the other behind it');
SELECT is(pg_temp.claimed('agent:f', 1), 'f other 1', 'which is done');

SELECT pg_temp.agent('g', 2, '{"max_tokens": 10}'), pg_temp.ask('g 1', run => 'run:other'), pg_temp.ask('g 2', run => 'run:spent too'),
	pg_temp.ask('g 3', '{"priority": 3}', run => 'run:spent too'), pg_temp.ask('g 4', '{"priority": 3}', run => 'run:spent too'), pg_temp.ask('g 5', run => 'run:other') \g /dev/null
SELECT is(pg_temp.claimed('agent:g', 2), 'g 1 1, g 2 1', 'an agent that has room for two');
SELECT pg_temp.report('agent:g', 'g 1', 'task.result') \g /dev/null
SELECT pg_temp.report('agent:g', 'g 2', 'task.result', '{}', 20) \g /dev/null
SELECT is(pg_temp.claimed('agent:g', 2), 'g 3 1, g 5 1', 'claims what it may still have, though something more urgent waits for it');
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.states('g 4'), 'g 4 pending NO_AGENT_AVAILABLE', 'and a tick says that no agent may have it');

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
