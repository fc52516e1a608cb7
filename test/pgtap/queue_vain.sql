-- Tasks that are tried in vain hide no others, and neither do changes of the
-- rules: P4, for what waits (src/queue/waiting_vain.h, waiting_kind.h).
\ir ../fixtures/tap.sql
SELECT plan(23);
SET clutch.notify = off;
SET clutch.heartbeat_interval = 0;
SET clutch.breaker_failures = 0;

-- An agent that may spend nothing more on run:R, where n tasks wait that only it could do.
CREATE FUNCTION pg_temp.spent(who text, n integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fixture.agent(who, 1, ARRAY['skill:' || who], '{"max_cost": 5}');
	PERFORM fixture.ask(who || '_spends', NULL, 'skill:' || who, NULL, NULL, 'run:R');
	PERFORM fixture.settle(), clutch.claim('agent:' || who);
	PERFORM clutch.finish('agent:' || who, who || '_spends', usage => '{"cost": 5}');
	PERFORM fixture.ask(format('%s_%s', who, lpad(i::text, 3, '0')), NULL, 'skill:' || who, NULL, NULL, 'run:R') FROM generate_series(1, n) i;
	PERFORM fixture.ask(who || '_busy', NULL, 'skill:' || who, NULL, NULL, 'run:Q');
	PERFORM fixture.settle(), clutch.claim('agent:' || who);
END $$;

-- ------------------------------------------------- behind what is tried in vain
SELECT pg_temp.spent('a', 300), fixture.ask('a_want', NULL, 'skill:a', NULL, NULL, 'run:Q') \g /dev/null
SELECT is(fixture.states('a_want'), 'a_want pending capacity NO_CAPACITY', 'behind 300 tasks whose run is too expensive for the agent, one waits for room');
SELECT clutch.finish('agent:a', 'a_busy') \g /dev/null
SELECT is(fixture.claimed('agent:a'), 'a_want 1 new', 'the agent finds it as soon as it asks');
SELECT fixture.agent('a', 1, '{skill:a}', '{"max_cost": 6}') \g /dev/null
SELECT clutch.finish('agent:a', 'a_want') \g /dev/null
SELECT is(fixture.claimed('agent:a'), 'a_001 1 new', 'and begins again at the first one when its card allows more');

SELECT pg_temp.spent('b', 200), fixture.ask('b_want', NULL, 'skill:b', NULL, NULL, 'run:Q'), clutch.finish('agent:b', 'b_busy') \g /dev/null
SELECT is(fixture.state('b_want'), 'assigned agent:b 1', 'so does a report that frees a slot, for an agent that does not ask');

-- 20 kinds of 150 tasks, and the task that the agent wants is behind all of them
SELECT pg_temp.spent('k', 0) \g /dev/null
SELECT fixture.ask(format('k_%s_%s', kind, n), NULL, 'skill:k', jsonb_build_object('priority', 3), NULL, 'run:R', jsonb_build_object('prefers', jsonb_build_array('tag:' || kind))) FROM generate_series(1, 20) kind, generate_series(1, 150) n \g /dev/null
SELECT fixture.ask('k_want', NULL, 'skill:k', NULL, NULL, 'run:Q') \g /dev/null
SELECT clutch.finish('agent:k', 'k_busy') \g /dev/null
SELECT is(fixture.claimed('agent:k'), 'k_want 1 new', 'as many kinds of such tasks hide nothing either');

-- tasks of 150 runs on each of which the agent has spent all that it may, two of each
SELECT fixture.agent('m', 1, '{skill:m}', '{"max_cost": 5}') \g /dev/null
DO $$
BEGIN
	FOR run IN 1 .. 150 LOOP
		PERFORM fixture.ask('m_spends_' || run, NULL, 'skill:m', NULL, NULL, 'run:m' || run);
		PERFORM clutch.claim('agent:m');
		PERFORM clutch.finish('agent:m', 'm_spends_' || run, usage => '{"cost": 5}');
	END LOOP;
END $$;
SELECT fixture.ask('m_busy', NULL, 'skill:m', NULL, NULL, 'run:Q') \g /dev/null
SELECT clutch.claim('agent:m') \g /dev/null
SELECT fixture.ask(format('m_%s_%s', n, run), NULL, 'skill:m', NULL, NULL, 'run:m' || run) FROM generate_series(1, 2) n, generate_series(1, 150) run \g /dev/null
SELECT fixture.ask('m_want', NULL, 'skill:m', NULL, NULL, 'run:Q') \g /dev/null
SELECT clutch.finish('agent:m', 'm_busy') \g /dev/null
SELECT is(fixture.state('m_want'), 'assigned agent:m 1', 'a task behind those of 150 such runs is found by one look');
SELECT fixture.agent('m', 2, '{skill:m}', '{"max_cost": 6}') \g /dev/null
SELECT is(fixture.claimed('agent:m', 9), 'm_want 1 new, m_1_1 1 new', 'and the others when the card allows more');

-- -------------------------------------------------- runs without budget
-- 300 tasks wait for the agent in a run whose budget is used up while it works for that run
SELECT fixture.agent('n', 1, '{skill:n}'), fixture.ask('n_spends', NULL, 'skill:n', '{"budget": {"tokens": 10}}', NULL, 'run:n') \g /dev/null
SELECT clutch.claim('agent:n') \g /dev/null
SELECT fixture.ask('n_' || lpad(n::text, 3, '0'), NULL, 'skill:n', NULL, NULL, 'run:n') FROM generate_series(1, 300) n \g /dev/null
SELECT fixture.ask('n_want', NULL, 'skill:n', NULL, NULL, 'run:Q'), clutch.finish('agent:n', 'n_spends', usage => '{"input_tokens": 10}') \g /dev/null
SELECT is(fixture.claimed('agent:n'), 'n_want 1 new', 'a task behind those of a run without budget is found as soon as the agent asks');
SELECT clutch.tick() FROM generate_series(1, 4) \g /dev/null
SELECT fixture.answers($$SELECT code, count(*) FROM clutch.tasks WHERE run_id = 'run:n' AND status = 'failed' GROUP BY code$$, $$VALUES ('BUDGET_EXCEEDED', 300::bigint)$$, 'and ticks end those');

-- the same with 150 runs, of two tasks each
SELECT fixture.agent('p', 200, '{skill:p}'), fixture.agent('q', 1, '{skill:q}'), fixture.ask('q_busy', NULL, 'skill:q') \g /dev/null
SELECT clutch.claim('agent:q') \g /dev/null
SELECT fixture.ask('p_' || run, NULL, 'skill:p', '{"budget": {"tokens": 10}}', NULL, 'run:p' || run) FROM generate_series(1, 150) run \g /dev/null
SELECT fixture.ask(format('q_%s_%s', n, run), NULL, 'skill:q', NULL, NULL, 'run:p' || run) FROM generate_series(1, 2) n, generate_series(1, 150) run \g /dev/null
SELECT clutch.claim('agent:p', 200) \g /dev/null
SELECT clutch.finish('agent:p', 'p_' || run, usage => '{"input_tokens": 10}') FROM generate_series(1, 150) run \g /dev/null
SELECT fixture.ask('q_want', NULL, 'skill:q', NULL, NULL, 'run:Q'), clutch.finish('agent:q', 'q_busy') \g /dev/null
SELECT is(fixture.claimed('agent:q'), 'q_want 1 new', 'so is a task behind those of 150 such runs');

-- tasks that are too deep for the budget of their run say nothing about the others of the run
SELECT fixture.agent('r', 1, '{skill:r}'), fixture.ask('r_busy', NULL, 'skill:r') \g /dev/null
SELECT clutch.claim('agent:r') \g /dev/null
SELECT fixture.ask('r_deep', NULL, 'skill:r', '{"budget": {"tasks": 2}}', NULL, 'run:r'), fixture.ask('r_want', NULL, 'skill:r', NULL, NULL, 'run:r') \g /dev/null
UPDATE clutch.budget SET depth = 0 WHERE run_id = 'run:r';
UPDATE clutch.task SET depth = 1 WHERE task_id = 'r_deep';
SELECT clutch.finish('agent:r', 'r_busy') \g /dev/null
SELECT is(fixture.claimed('agent:r'), 'r_want 1 new', 'a task that is too deep does not keep its run waiting');

-- ------------------------------------------------- several agents of a session
SELECT fixture.agent('d', 1, '{skill:d}'), fixture.ask('d_busy', NULL, 'skill:d') \g /dev/null
SELECT clutch.claim('agent:d') \g /dev/null
SELECT pg_temp.spent('c', 0) \g /dev/null
SELECT clutch.finish('agent:c', 'c_busy'), fixture.agent('d', 1, '{skill:d,skill:c}') \g /dev/null
BEGIN;
SELECT fixture.ask('c_' || n, NULL, 'skill:c', NULL, NULL, 'run:R') FROM generate_series(1, 600) n \g /dev/null
SELECT is(fixture.claimed('agent:c'), 'nothing', 'what one agent tries in vain');
SELECT clutch.finish('agent:d', 'd_busy'), fixture.settle() \g /dev/null
SELECT is(fixture.state('c_1'), 'assigned agent:d 1', 'is still there for another one in the same session, from the first task on');
COMMIT;

-- ----------------------------------------------------------- tasks that return
SET clutch.aging = 0;
SELECT fixture.agent('e', 1, '{skill:e}'), fixture.ask('e_busy', NULL, 'skill:e') \g /dev/null
SELECT clutch.claim('agent:e') \g /dev/null
BEGIN;
SELECT fixture.ask('e_' || n, NULL, 'skill:e', '{"priority": 1}') FROM generate_series(1, 2000) n \g /dev/null
SELECT clutch.cancel('e_' || n) FROM generate_series(1, 2000) n \g /dev/null
SELECT fixture.ask('e_first', NULL, 'skill:e', '{"priority": 1}'), clutch.finish('agent:e', 'e_busy'), fixture.settle() \g /dev/null
SELECT fixture.ask('e_second', NULL, 'skill:e', '{"priority": 1}'), fixture.ask('e_urgent', NULL, 'skill:e', '{"priority": 3}'), fixture.settle() \g /dev/null
SELECT is(fixture.claimed('agent:e'), 'e_urgent 1 new', 'an urgent task displaces one that nobody has begun');
SELECT clutch.finish('agent:e', 'e_urgent'), fixture.settle() \g /dev/null
SELECT is(fixture.claimed('agent:e'), 'e_first 2 new', 'which is before those that came later, also behind thousands of dead entries');
COMMIT;

-- ------------------------------------------------------------ when rules change
-- Ticks check a hundred waiting tasks each, so nothing else may wait.
SELECT clutch.cancel_run('run:R'), clutch.cancel_run('run:m' || n) FROM generate_series(1, 150) n \g /dev/null
CREATE FUNCTION pg_temp.says(text text) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('payload', jsonb_build_object('text', text)) $$;
SELECT fixture.agent('f', 1, '{skill:f}'), fixture.ask('f_busy', NULL, 'skill:f') \g /dev/null
SELECT clutch.claim('agent:f') \g /dev/null
SELECT fixture.ask('f_' || n, NULL, 'skill:f', NULL, NULL, 'run:1', pg_temp.says('alpha')) FROM generate_series(1, 2) n \g /dev/null
INSERT INTO clutch.routing_rule (name, words, send_to) VALUES ('alpha', '{alpha}', 'agent:f');
SELECT clutch.finish('agent:f', 'f_busy') \g /dev/null
SELECT is(fixture.state('f_1'), 'assigned agent:f 1', 'what waited before a rule came is given to the agent that the rule names');
SELECT fixture.ask('f_3', NULL, 'skill:f', NULL, NULL, 'run:1', pg_temp.says('alpha')) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(DISTINCT kind) FROM clutch.waiting WHERE task_id IN ('f_2', 'f_3')), 1::bigint, 'a tick puts the others into the queue of those that have come since');
SELECT clutch.claim('agent:f') \g /dev/null
SELECT clutch.finish('agent:f', 'f_1') \g /dev/null
SELECT is(fixture.claimed('agent:f'), 'f_2 1 new', 'where they come first');

-- f_3 still waits for the agent that the rule names, and h_1 does not any more
SELECT fixture.agent('h', 1, '{skill:f}') \g /dev/null
SELECT fixture.ask('h_1', NULL, 'skill:f', NULL, NULL, 'run:1', pg_temp.says('alpha and beta')) \g /dev/null
SELECT is(fixture.states('h_1'), 'h_1 pending capacity NO_CAPACITY', 'another agent does not get it');
UPDATE clutch.routing_rule SET path = '$.payload ? (@.text == "alpha")' WHERE name = 'alpha';
SELECT clutch.tick(), clutch.tick(), clutch.tick() \g /dev/null
SELECT is(fixture.state('h_1'), 'assigned agent:h 1', 'until the rule lets it go, which ticks find out');
SELECT is(fixture.states('f_3'), 'f_3 pending capacity NO_CAPACITY', 'and the others stay');

-- the first card that says whose requests an agent takes
SELECT fixture.ask('g_1', NULL, 'skill:g') \g /dev/null
SELECT fixture.agent('g', 1, '{skill:g}', more => '{"security": {"serves": ["agent:ui"]}}') \g /dev/null
SELECT is(fixture.claimed('agent:g'), 'g_1 1 new', 'an agent that takes only the requests of some finds what has waited for it');

SELECT is_empty('SELECT * FROM clutch.check()', 'the state is sound');
SELECT * FROM finish();
