-- Tasks of one family in a run whose budget is spent: a tick, a claim or a
-- report ends one of them, and the others learn of it.
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
-- -------------------------------------------------------------- by a tick
SELECT pg_temp.ask('b root', '{"budget": {"tokens": 10}}', skill => 'a'), pg_temp.claimed('agent:a', 9),
	pg_temp.ask('b parent', skill => 'b parent'), pg_temp.ask('b child', '{"join": "all", "priority": 4}', 'b parent'),
	pg_temp.report('agent:a', 'b root', 'task.result', '{}', 20) \g /dev/null
SELECT lives_ok('SELECT clutch.tick()', 'a tick handles two tasks of a run without budget, parent and child');
SELECT is(pg_temp.states('b %'), 'b child failed BUDGET_EXCEEDED, b parent failed BUDGET_EXCEEDED, b root completed agent:a', 'and both fail');

-- ------------------------------------------------------------- by a claim
SELECT pg_temp.agent('c', 1), pg_temp.ask('c root', '{"budget": {"tokens": 10}}', skill => 'a'), pg_temp.claimed('agent:a', 9),
	pg_temp.ask('c parent'), pg_temp.ask('c child', '{"join": "all"}', 'c parent'), pg_temp.report('agent:a', 'c root', 'task.result', '{}', 20) \g /dev/null
SELECT is(pg_temp.states('c %'), 'c child pending NO_CAPACITY, c parent assigned agent:c, c root completed agent:a', 'the parent is ready and the child waits when the budget is spent');
UPDATE clutch.agent_registry SET card = jsonb_set(card, '{limits,max_concurrency}', '2') WHERE agent_id = 'agent:c';
SELECT clutch.join_group('group:c', 'agent:c') \g /dev/null
SELECT is(pg_temp.claimed('agent:c', 2), 'c parent 1', 'a claim takes the parent');
SELECT is(pg_temp.states('c %'), 'c child failed BUDGET_EXCEEDED, c parent running agent:c, c root completed agent:a', 'and the child fails');
SELECT is((SELECT joined_seq IS NOT NULL FROM clutch.task WHERE task_id = 'c parent'), true, 'the parent was told of it');

-- ------------------------- by the report of an agent that had been lost
SELECT fixture.at(90) \g /dev/null
SELECT pg_temp.agent('e', 1, '{"heartbeat_sec": 10}'), pg_temp.ask('e parent', '{"budget": {"tokens": 10}}'), pg_temp.claimed('agent:e', 1),
	pg_temp.report('agent:e', 'e parent', 'task.progress', '{"state": "input_required"}'), fixture.at(190), clutch.tick(),
	pg_temp.ask('e child', '{"join": "all"}', 'e parent') \g /dev/null
SELECT is(pg_temp.states('e %'), 'e child pending NO_AGENT_AVAILABLE, e parent input_required agent:e', 'the agent of a parked parent is lost, and the child waits for it');
SELECT is(pg_temp.report('agent:e', 'e parent', 'task.progress', '{"note": "more"}', 20), false, 'a report on the parent ends the child');
SELECT is(pg_temp.states('e %'), 'e child failed BUDGET_EXCEEDED, e parent input_required agent:e', 'and the parent stays parked');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
