-- Trees of tasks: cancels reach down, ends reach up (join) and across (after), urgency is inherited.
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
SET LOCAL timezone = 'UTC';

-- seconds since noon
CREATE FUNCTION pg_temp.at(seconds numeric) RETURNS void LANGUAGE sql AS $$
	SELECT set_config('clutch.clock', to_char(timestamptz '2026-01-01 12:00:00Z' + seconds * interval '1 s', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), true)
$$;
CREATE FUNCTION pg_temp.ask(task text, parent text DEFAULT NULL, orders jsonb DEFAULT NULL, whom text DEFAULT 'agent:ken', run text DEFAULT 'run:1') RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', CASE WHEN whom <> '' THEN ARRAY[whom] END, run_id => run, thread_id => 'thread:1', task_id => task,
		parent_task_id => parent, meta => CASE WHEN orders IS NOT NULL THEN jsonb_build_object('clutch', orders) END))
$$;
CREATE FUNCTION pg_temp.after(VARIADIC tasks text[]) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('after', tasks) $$;
CREATE FUNCTION pg_temp.states(pattern text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', replace(task_id, 'task:', ''), status, waiting_for, code), ', ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE pattern
$$;
CREATE FUNCTION pg_temp.claimed(agent text DEFAULT 'agent:ken', n integer DEFAULT 99) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(replace(task_id, 'task:', ''), ' '), 'nothing') FROM clutch.claim(agent, n, '1 h')
$$;
CREATE FUNCTION pg_temp.moves(task text, move text) RETURNS SETOF jsonb LANGUAGE sql AS $$
	SELECT envelope -> 'payload' FROM clutch.events WHERE task_id = task AND envelope #>> '{meta,clutch,move}' = move ORDER BY seq
$$;
CREATE FUNCTION pg_temp.picture() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws('|', task_id, status, agent_id, attempt, waiting_for, code, detail, priority, join_count, joined_seq, retries, wake_at, finished_at), E'\n' ORDER BY task_id)
		|| coalesce((SELECT string_agg(concat_ws('>', after_task_id, d.task_id), ' ' ORDER BY after_task_id, d.task_id) FROM clutch.dependency d), '') FROM clutch.task
$$;
CREATE FUNCTION pg_temp.rebuilt() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before text := pg_temp.picture();
BEGIN
	PERFORM clutch.rebuild();
	RETURN CASE WHEN pg_temp.picture() = before THEN 'the same' ELSE before || E'\n' || pg_temp.picture() END;
END $$;

SELECT pg_temp.at(0) \g /dev/null
SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'display', jsonb_build_object('name', name), 'capabilities', '[{"id": "skill:x"}]'::jsonb,
	'limits', jsonb_build_object('max_concurrency', 20))) FROM unnest('{ken,lois}'::text[]) name \g /dev/null

-- ----------------------------------------------------------------- cancels
SELECT pg_temp.ask('task:a'), pg_temp.ask('task:a1', 'task:a'), pg_temp.ask('task:a2', 'task:a', whom => 'agent:lois'), pg_temp.ask('task:a11', 'task:a1', whom => 'agent:lois'),
	pg_temp.ask('task:a111', 'task:a11', whom => 'agent:nobody'), pg_temp.ask('task:b') \g /dev/null
SELECT pg_temp.claimed(), pg_temp.claimed('agent:lois', 1) \g /dev/null
SELECT clutch.finish('agent:ken', 'task:a1') \g /dev/null
SELECT is((SELECT late FROM clutch.cancel('task:a', 'not needed')), false, 'cancelled');
SELECT is(pg_temp.states('task:a%'), 'a cancelled, a1 completed, a11 cancelled, a111 cancelled, a2 cancelled', 'with all that was live below it, also below what was done');
SELECT is(pg_temp.states('task:b%'), 'b running', 'and nothing else');
SELECT is((SELECT string_agg(concat_ws(' ', task_id, from_agent, to_agents[1], envelope #>> '{payload,ancestor}'), ', ' ORDER BY seq) FROM clutch.events WHERE type = 'task.cancel' AND task_id <> 'task:a'),
	'task:a2 agent:orchestrator agent:lois task:a, task:a11 agent:orchestrator agent:lois task:a, task:a111 agent:orchestrator agent:ui task:a', 'each by an event for its agent, level by level');
SELECT is((SELECT state FROM clutch.extend_lease('agent:lois', 'task:a2', 1)), 'cancelled', 'a running agent learns it from its lease');
SELECT is((SELECT late FROM clutch.finish('agent:lois', 'task:a2')), true, 'or from its report');
SELECT is((SELECT sum(running) FROM clutch.agents), 1::bigint, 'the slots are free');
SELECT is((SELECT late FROM pg_temp.ask('task:a3', 'task:a')), false, 'a child that comes afterwards is taken in');
SELECT is((SELECT late FROM pg_temp.ask('task:a12', 'task:a1')), false, 'also below one that is done');
SELECT is(pg_temp.states('task:a3') || ', ' || pg_temp.states('task:a12'), 'a3 cancelled, a12 cancelled', 'and cancelled at once');
SELECT is(pg_temp.rebuilt(), 'the same', 'rebuild finds it so');

-- ------------------------------------------------------------------- after
SELECT pg_temp.ask('task:c1'), pg_temp.ask('task:c2'), pg_temp.ask('task:c3', orders => pg_temp.after('task:c1', 'task:c2')), pg_temp.ask('task:c4', orders => pg_temp.after('task:c3'), whom => ''),
	pg_temp.ask('task:c5', orders => pg_temp.after('task:c1') || '{"not_before": "2026-01-01T12:01:00Z"}') \g /dev/null
SELECT is(pg_temp.states('task:c%'), 'c1 assigned, c2 assigned, c3 pending sibling, c4 pending sibling, c5 pending sibling', 'what comes after others waits for them');
SELECT is(pg_temp.claimed(), 'c1 c2', 'and cannot be claimed');
SELECT is(pg_temp.rebuilt(), 'the same', 'rebuild finds it waiting');
SELECT clutch.finish('agent:ken', 'task:c1') \g /dev/null
SELECT is(pg_temp.states('task:c%'), 'c1 completed, c2 running, c3 pending sibling, c4 pending sibling, c5 pending time', 'one of two is not enough; not_before holds too');
SELECT clutch.finish('agent:ken', 'task:c2') \g /dev/null
SELECT is(pg_temp.claimed(), 'c3', 'both are');
SELECT is((SELECT string_agg(type, ' ' ORDER BY seq) FROM clutch.events WHERE task_id = 'task:c3'), 'task.request routing.decision task.accept', 'that it was given later is in the log');
SELECT pg_temp.at(60) \g /dev/null
SELECT is(pg_temp.claimed(), 'c5', 'and its time has come');
SELECT clutch.fail('agent:ken', 'task:c3', 'E', 'broken', false) \g /dev/null
SELECT is(pg_temp.states('task:c4'), 'c4 failed DEPENDENCY_FAILED', 'what waited for a task that failed fails');
SELECT pg_temp.ask('task:c6', orders => pg_temp.after('task:c1')), pg_temp.ask('task:c7', orders => pg_temp.after('task:c1', 'task:c4')), pg_temp.ask('task:c8', orders => pg_temp.after('task:later')) \g /dev/null
SELECT is(pg_temp.states('task:c6') || ', ' || pg_temp.states('task:c7') || ', ' || pg_temp.states('task:c8'), 'c6 assigned, c7 failed DEPENDENCY_FAILED, c8 pending sibling', 'what is over already counts at once; what is not there yet is waited for');
SELECT pg_temp.ask('task:later') \g /dev/null
SELECT clutch.finish('agent:ken', 'task:later') \g /dev/null
SELECT is(pg_temp.states('task:c8'), 'c8 assigned', 'and comes');
SELECT is(pg_temp.rebuilt(), 'the same', 'rebuild agrees');
-- revived, in any order
SELECT is((SELECT count(*) FROM clutch.retry_run('run:1')), 3::bigint, 'what failed is revived');
SELECT is(pg_temp.states('task:c3') || ', ' || pg_temp.states('task:c4') || ', ' || pg_temp.states('task:c7'), 'c3 assigned, c4 pending sibling, c7 pending sibling', 'and waits again');
SELECT pg_temp.claimed(), clutch.finish('agent:ken', 'task:c3'), pg_temp.claimed('agent:lois') \g /dev/null
SELECT isnt((SELECT status FROM clutch.tasks WHERE task_id = 'task:c4'), 'pending', 'for what is tried again');
SELECT clutch.cancel('task:c4') \g /dev/null
SELECT is(pg_temp.states('task:c7'), 'c7 failed DEPENDENCY_FAILED', 'a cancelled one is not completed');
SELECT is((SELECT string_agg(concat_ws('>', replace(from_task_id, 'task:', ''), replace(to_task_id, 'task:', '')), ' ' ORDER BY from_task_id, to_task_id) FROM clutch.task_edges WHERE kind = 'after' AND from_task_id < 'task:d'),
	'c1>c3 c1>c5 c1>c6 c1>c7 c2>c3 c3>c4 c4>c7', 'the edges');
-- refusals
SELECT throws_ok($$SELECT pg_temp.ask('task:r2', orders => pg_temp.after('task:c1'), run => 'run:2')$$, 'KL004', NULL, 'not of another run');
SELECT pg_temp.ask('task:x', orders => pg_temp.after('task:y')), pg_temp.ask('task:y', orders => pg_temp.after('task:z')) \g /dev/null
SELECT throws_ok($$SELECT pg_temp.ask('task:z', orders => pg_temp.after('task:x'))$$, 'KL004', NULL, 'not in a circle');
SELECT throws_ok($$SELECT pg_temp.ask('task:b1', 'task:b', pg_temp.after('task:b'))$$, 'KL004', NULL, 'not after its own parent');
SELECT is(pg_temp.states('task:z'), NULL, 'what is refused is not there');
-- a long chain falls at once
SELECT pg_temp.ask('task:k' || n, orders => pg_temp.after('task:k' || n - 1)) FROM generate_series(1, 2000) n \g /dev/null
SELECT pg_temp.ask('task:k0') \g /dev/null
SELECT clutch.cancel('task:k0') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.tasks WHERE task_id LIKE 'task:k%' AND code = 'DEPENDENCY_FAILED'), 2000::bigint, 'however long the chain');

-- -------------------------------------------------------------------- join
SELECT pg_temp.ask('task:p', orders => '{"join": "all"}') \g /dev/null
SELECT pg_temp.claimed('agent:ken', 1) \g /dev/null
SELECT clutch.progress('agent:ken', 'task:p', '{"step": 1}') \g /dev/null
SELECT pg_temp.ask('task:p' || n, 'task:p', whom => 'agent:lois') FROM generate_series(1, 3) n \g /dev/null
SELECT pg_temp.claimed('agent:lois') \g /dev/null
SELECT clutch.finish('agent:lois', 'task:p1'), clutch.fail('agent:lois', 'task:p2', 'TIMEOUT', 'slow') \g /dev/null
SELECT is((SELECT count(*) FROM pg_temp.moves('task:p', 'joined')), 0::bigint, 'one runs, one is tried again');
SELECT clutch.cancel('task:p2'), clutch.finish('agent:lois', 'task:p3') \g /dev/null
SELECT is((SELECT m - 'children' FROM pg_temp.moves('task:p', 'joined') m), '{"state": "joined", "join": "all", "met": false, "completed": 2, "failed": 1, "open": 0}', 'all over: the parent is told');
SELECT is((SELECT m -> 'children' FROM pg_temp.moves('task:p', 'joined') m), '{"task:p1": "completed", "task:p2": "cancelled", "task:p3": "completed"}', 'of each');
SELECT is((SELECT to_agents FROM clutch.events WHERE task_id = 'task:p' AND envelope #>> '{meta,clutch,move}' = 'joined'), '{agent:ken}', 'its agent is');
SELECT is(pg_temp.states('task:p'), 'p running', 'and works on');
SELECT pg_temp.ask('task:p4', 'task:p', whom => 'agent:lois') \g /dev/null
SELECT pg_temp.claimed('agent:lois') \g /dev/null
SELECT clutch.finish('agent:lois', 'task:p4') \g /dev/null
SELECT is((SELECT string_agg(m ->> 'completed', ' ') FROM pg_temp.moves('task:p', 'joined') m), '2 1', 'those that come later are a group of their own');

SELECT pg_temp.ask('task:q'), pg_temp.ask('task:q0', 'task:q', whom => 'agent:lois') \g /dev/null
SELECT pg_temp.ask('task:q' || n, 'task:q', '{"join": 2}', 'agent:lois') FROM generate_series(1, 4) n \g /dev/null
SELECT pg_temp.claimed('agent:lois') \g /dev/null
SELECT clutch.finish('agent:lois', 'task:q0'), clutch.finish('agent:lois', 'task:q1'), clutch.fail('agent:lois', 'task:q2', 'E', 'e', false) \g /dev/null
SELECT is((SELECT count(*) FROM pg_temp.moves('task:q', 'joined')), 0::bigint, 'a child that is not required does not count');
SELECT clutch.finish('agent:lois', 'task:q3'), clutch.finish('agent:lois', 'task:q4') \g /dev/null
SELECT is((SELECT string_agg((m - 'children')::text, ' ') FROM pg_temp.moves('task:q', 'joined') m), '{"met": true, "join": 2, "open": 1, "state": "joined", "failed": 1, "completed": 2}', 'two of four: told once');
SELECT pg_temp.ask('task:s'), pg_temp.ask('task:s1', 'task:s', '{"join": "any"}', 'agent:lois'), pg_temp.ask('task:s2', 'task:s', '{"join": "any"}', 'agent:lois') \g /dev/null
SELECT pg_temp.claimed('agent:lois') \g /dev/null
SELECT clutch.fail('agent:lois', 'task:s1', 'E', 'e', false), clutch.fail('agent:lois', 'task:s2', 'E', 'e', false) \g /dev/null
SELECT is((SELECT m ->> 'met' FROM pg_temp.moves('task:s', 'joined') m), 'false', 'none is left that could be the one');

-- of many, each that ends looks at a few (what their index fetched)
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:many", "capabilities": [{"id": "skill:many"}], "limits": {"max_concurrency": 999}}') \g /dev/null
SELECT pg_temp.ask('task:many', NULL, '{"join": "all"}', 'agent:many') \g /dev/null
SELECT pg_temp.ask('task:many' || n, 'task:many', NULL, 'agent:many') FROM generate_series(1, 300) n \g /dev/null
SELECT pg_temp.claimed('agent:many', 999) \g /dev/null
CREATE TEMP TABLE fetched AS SELECT pg_stat_get_xact_tuples_fetched('clutch.task_parent_task_id'::regclass) AS n;
SELECT clutch.finish('agent:many', 'task:many' || n) FROM generate_series(1, 200) n \g /dev/null
SELECT cmp_ok((SELECT pg_stat_get_xact_tuples_fetched('clutch.task_parent_task_id'::regclass) - n FROM fetched), '<', 25000::bigint, '200 of 300 children end, and none reads all the others');
SELECT clutch.finish('agent:many', 'task:many' || n) FROM generate_series(201, 300) n \g /dev/null
SELECT is((SELECT ROW(m ->> 'completed', m ->> 'open')::text FROM pg_temp.moves('task:many', 'joined') m), '(300,0)', 'the last one tells of all');

-- ------------------------------------------------------------ priorities
SELECT pg_temp.ask('task:l1', orders => '{"priority": 1}'), pg_temp.ask('task:l2', orders => pg_temp.after('task:l1') || '{"priority": 0}'), pg_temp.ask('task:l3'),
	pg_temp.ask('task:l4', orders => pg_temp.after('task:l2') || '{"priority": 4}') \g /dev/null
SELECT is((SELECT string_agg(priority::text, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:l_'), '4 4 2 4', 'what a more urgent task waits for is as urgent');
SELECT is((SELECT string_agg(m::text, ' ') FROM pg_temp.moves('task:l1', 'lifted') m), '{"was": 1, "state": "lifted", "because": "task:l2", "priority": 4}', 'and the lift is recorded');
SELECT is((SELECT envelope #>> '{meta,clutch,priority}' FROM clutch.events WHERE task_id = 'task:l1' AND type = 'task.request'), '1', 'beside what was asked');
SELECT is(pg_temp.claimed('agent:ken', 1), 'l1', 'so it goes first');
SELECT pg_temp.ask('task:m', orders => '{"priority": 3, "join": "all"}'), pg_temp.ask('task:m1', 'task:m', '{"priority": 0}') \g /dev/null
SELECT is((SELECT priority FROM clutch.tasks WHERE task_id = 'task:m1'), 3::smallint, 'a child that its parent waits for as well');
SELECT pg_temp.ask('task:o3', orders => pg_temp.after('task:o2') || '{"priority": 4}'), pg_temp.ask('task:o1', orders => '{"priority": 0}'),
	pg_temp.ask('task:o2', orders => pg_temp.after('task:o1') || '{"priority": 1}') \g /dev/null
SELECT is((SELECT string_agg(priority::text, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:o_'), '4 4 4', 'also one that is requested when somebody waits for it already, and what it waits for');
SELECT pg_temp.ask('task:n1', 'task:n', '{"priority": 0, "join": "all"}'), pg_temp.ask('task:n', orders => '{"priority": 3}') \g /dev/null
SELECT is((SELECT priority FROM clutch.tasks WHERE task_id = 'task:n1'), 3::smallint, 'and a child that was there before its parent');
SELECT is(pg_temp.rebuilt(), 'the same', 'rebuild finds all of it');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'and all is sound');

SELECT * FROM finish();
ROLLBACK;
