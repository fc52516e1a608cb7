-- What one task does to another on its way: a parent that is told of an end while it is being claimed, routed or
-- reported on, a parent that is not there, and a head of a queue that its agent may not have.
\set QUIET on
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on
BEGIN;
SET LOCAL client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS clutch;
SELECT no_plan();
SET LOCAL clutch.notify = off;
SET LOCAL clutch.default_deadline = 0;
SET LOCAL clutch.heartbeat_interval = 0;
SET LOCAL clutch.breaker_failures = 0;

-- seconds since noon
CREATE FUNCTION pg_temp.at(seconds numeric) RETURNS void LANGUAGE sql AS $$
	SELECT set_config('clutch.clock', to_char(timestamptz '2026-01-01 12:00:00Z' + seconds * interval '1 s', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), true)
$$;
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

-- ---------------- a parent that nobody has requested keeps no child from its end
SELECT pg_temp.at(0), pg_temp.agent('a', 9) \g /dev/null
SELECT pg_temp.ask('a leased', '{"join": "all"}', 'a nowhere'), pg_temp.ask('a late', '{"join": "all", "deadline": "2026-01-01T12:00:20Z"}', 'a nowhere', 'nobody') \g /dev/null
SELECT is(pg_temp.claimed('agent:a', 1, '10 s'), 'a leased 1', 'the child of a parent that is not there is claimed');
SELECT pg_temp.at(11), clutch.tick() \g /dev/null
SELECT is(pg_temp.claimed('agent:a', 1, '10 s'), 'a leased 2', 'it is given out again when its lease has ended');
SELECT pg_temp.at(21), clutch.tick() \g /dev/null
SELECT is(pg_temp.states('a late'), 'a late timed_out DEADLINE_EXCEEDED', 'and its deadline ends it');
SELECT pg_temp.ask('a ready', '{"join": "all", "deadline": "2026-01-01T12:00:30Z"}', 'a nowhere') \g /dev/null
SELECT pg_temp.at(31) \g /dev/null
SELECT is(pg_temp.claimed('agent:a', 2), 'a leased 3', 'also where it was ready, and its agent claims');
SELECT is(pg_temp.states('a ready'), 'a ready timed_out agent:a DEADLINE_EXCEEDED', 'too late');

-- --------------------- of two that a tick gives out, the first one's end tells the other
SELECT pg_temp.ask('b root', '{"budget": {"tokens": 10}}', skill => 'a'), pg_temp.claimed('agent:a', 9),
	pg_temp.ask('b parent', skill => 'b parent'), pg_temp.ask('b child', '{"join": "all", "priority": 4}', 'b parent'),
	pg_temp.report('agent:a', 'b root', 'task.result', '{}', 20) \g /dev/null
SELECT lives_ok('SELECT clutch.tick()', 'a tick over two tasks of a run without budget, parent and child');
SELECT is(pg_temp.states('b %'), 'b child failed BUDGET_EXCEEDED, b parent failed BUDGET_EXCEEDED, b root completed agent:a', 'ends both');

-- ------------------------------- who claims a parent, and by that ends its child
SELECT pg_temp.agent('c', 1), pg_temp.ask('c root', '{"budget": {"tokens": 10}}', skill => 'a'), pg_temp.claimed('agent:a', 9),
	pg_temp.ask('c parent'), pg_temp.ask('c child', '{"join": "all"}', 'c parent'), pg_temp.report('agent:a', 'c root', 'task.result', '{}', 20) \g /dev/null
SELECT is(pg_temp.states('c %'), 'c child pending NO_CAPACITY, c parent assigned agent:c, c root completed agent:a', 'a parent that is ready, a child that waits, no budget');
UPDATE clutch.agent_registry SET card = jsonb_set(card, '{limits,max_concurrency}', '2') WHERE agent_id = 'agent:c';
SELECT clutch.join_group('group:c', 'agent:c') \g /dev/null
SELECT is(pg_temp.claimed('agent:c', 2), 'c parent 1', 'a claim has the parent');
SELECT is(pg_temp.states('c %'), 'c child failed BUDGET_EXCEEDED, c parent running agent:c, c root completed agent:a', 'and the child is over');
SELECT is((SELECT joined_seq IS NOT NULL FROM clutch.task WHERE task_id = 'c parent'), true, 'which its parent was told');

-- ------------------------------------------------ nothing ends twice in a claim
SELECT pg_temp.agent('d', 1), pg_temp.ask('d one', '{"deadline": "2026-01-01T12:01:10Z"}'), pg_temp.claimed('agent:d', 1),
	pg_temp.ask('d two', '{"deadline": "2026-01-01T12:01:20Z"}'), pg_temp.at(90) \g /dev/null
SELECT is(pg_temp.claimed('agent:d', 2), 'nothing', 'one is over time, and so is the next');
SELECT is((SELECT string_agg(task_id, ', ' ORDER BY seq) FROM clutch.events WHERE type = 'task.timeout' AND task_id LIKE 'd %'), 'd one, d two', 'each times out once');

-- ------------------- who was lost and is heard of again by a report on the parent
SELECT pg_temp.agent('e', 1, '{"heartbeat_sec": 10}'), pg_temp.ask('e parent', '{"budget": {"tokens": 10}}'), pg_temp.claimed('agent:e', 1),
	pg_temp.report('agent:e', 'e parent', 'task.progress', '{"state": "input_required"}'), pg_temp.at(190), clutch.tick(),
	pg_temp.ask('e child', '{"join": "all"}', 'e parent') \g /dev/null
SELECT is(pg_temp.states('e %'), 'e child pending NO_AGENT_AVAILABLE, e parent input_required agent:e', 'a lost agent has a parked parent, and a child waits for it');
SELECT is(pg_temp.report('agent:e', 'e parent', 'task.progress', '{"note": "more"}', 20), false, 'it reports, which ends the child');
SELECT is(pg_temp.states('e %'), 'e child failed BUDGET_EXCEEDED, e parent input_required agent:e', 'and goes on with the parent');

-- ---------- a task that its agent may not have any more does not stand before others
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
SELECT pg_temp.report('agent:g', 'g 1', 'task.result'), pg_temp.report('agent:g', 'g 2', 'task.result', '{}', 20) \g /dev/null
SELECT is(pg_temp.claimed('agent:g', 2), 'g 3 1, g 5 1', 'claims what it may still have, though something more urgent waits for it');
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.states('g 4'), 'g 4 pending NO_AGENT_AVAILABLE', 'and a tick says that nobody may have it');

SELECT is((SELECT count(*) FROM clutch.check()), 0::bigint, 'the state is sound');
SELECT * FROM finish();
ROLLBACK;
