-- What a run may cost (meta.clutch.budget), what it has cost (usage), and what a card allows.
\ir ../fixtures/tap.sql
SELECT plan(34);
SET clutch.notify = off;
SET clutch.clock = '2026-01-01T12:00:00Z';

CREATE FUNCTION pg_temp.state_of(task text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', t.status, t.agent_id, t.code) FROM clutch.tasks t WHERE t.task_id = task $$;
CREATE FUNCTION pg_temp.ask(run text, task text, parent text DEFAULT NULL, budget jsonb DEFAULT NULL, whom text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('task.request', 'agent:ui', CASE WHEN whom IS NOT NULL THEN ARRAY[whom] END, run_id => run, thread_id => 'thread:1', task_id => task, parent_task_id => parent,
		requires => '{skill:x}', meta => CASE WHEN budget IS NOT NULL THEN jsonb_build_object('clutch', jsonb_build_object('budget', budget)) END)
$$;
CREATE FUNCTION pg_temp.say(kind text, task text, usage jsonb, attempt integer DEFAULT NULL, id text DEFAULT NULL) RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope(kind, 'agent:ken', payload => CASE kind WHEN 'task.error' THEN '{"code": "X", "message": "x", "retryable": false}'::jsonb ELSE '{}' END,
		run_id => t.run_id, thread_id => t.thread_id, task_id => task, attempt => say.attempt, id => say.id,
		meta => jsonb_build_object('clutch', jsonb_build_object('usage', usage)))) FROM clutch.tasks t WHERE t.task_id = task
$$;
CREATE FUNCTION pg_temp.used(run text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', tokens, cost, tasks, exceeded) FROM clutch.budgets WHERE run_id = run $$;
CREATE FUNCTION pg_temp.card(name text, limits jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'display', jsonb_build_object('name', name),
		'capabilities', '[{"id": "skill:x"}]'::jsonb, 'limits', '{"max_concurrency": 9}'::jsonb || limits)
$$;
CREATE FUNCTION pg_temp.picture() RETURNS text LANGUAGE sql AS $$
	SELECT (SELECT string_agg(concat_ws('|', task_id, status, agent_id, attempt, code, detail, finished_at, result_seq), E'\n' ORDER BY task_id) FROM clutch.task) || E'\n' ||
		(SELECT string_agg(s::text, E'\n' ORDER BY seq) FROM clutch.spending s) || (SELECT string_agg(b::text, E'\n' ORDER BY seq) FROM clutch.budget b)
$$;

SELECT clutch.register(pg_temp.card('ken', '{}')) \g /dev/null

-- ---------------------------------------------- tokens and cost, of all reports
SELECT clutch.send(pg_temp.ask('run:1', 'task:1', budget => '{"tokens": 1000, "cost": 0.5}')) \g /dev/null
SELECT is(pg_temp.used('run:1'), '0 0 1 f', 'a new budget is unused');
SELECT count(*) FROM clutch.claim('agent:ken') \g /dev/null
SELECT pg_temp.say('task.progress', 'task:1', '{"input_tokens": 300, "output_tokens": 100, "cost": 0.1}', id => 'msg_p1') \g /dev/null
SELECT is((pg_temp.say('task.progress', 'task:1', '{"input_tokens": 300, "output_tokens": 100, "cost": 0.1}', id => 'msg_p1')).duplicate, true, 'two reports are accepted');
SELECT is(pg_temp.used('run:1'), '400 0.1 1 f', 'a resent report is charged once');
SELECT clutch.send(pg_temp.ask('run:1', 'task:1.1', 'task:1')) \g /dev/null
SELECT is(pg_temp.state_of('task:1.1'), 'assigned agent:ken', 'a run below its budget gets more work');
SELECT count(*) FROM clutch.claim('agent:ken') \g /dev/null
SELECT pg_temp.say('task.error', 'task:1.1', '{"output_tokens": 599, "cost": 0.3}') \g /dev/null
SELECT is(pg_temp.used('run:1'), '999 0.4 2 f', 'an error is charged as well');
SELECT is((pg_temp.say('task.result', 'task:1.1', '{"cost": 0.1}')).late, true, 'a late report is late');
SELECT is(pg_temp.used('run:1'), '999 0.5 2 t', 'but it is charged all the same');
SELECT clutch.send(pg_temp.ask('run:1', 'task:1.2', 'task:1')), clutch.send(pg_temp.ask('run:1', 'task:1.3', 'task:1', whom => 'agent:ken')) \g /dev/null
SELECT is(pg_temp.state_of('task:1.2'), 'failed BUDGET_EXCEEDED', 'a run without budget gets no more work');
SELECT is(pg_temp.state_of('task:1.3'), 'failed BUDGET_EXCEEDED', 'not even for a named agent');
SELECT is((SELECT envelope -> 'payload' FROM clutch.events WHERE task_id = 'task:1.2' AND type = 'task.error'),
	'{"was": "pending", "code": "BUDGET_EXCEEDED", "message": "the budget of the run is used up: 999 of 1000 tokens, cost 0.5 of 0.5", "retryable": false}', 'the failure says which budget is used up');
SELECT is((SELECT string_agg(status, ' ') FROM clutch.result('task:1.2')), 'failed', 'and is the result of the task');
SELECT is((pg_temp.say('task.result', 'task:1', '{}')).late, false, 'a running task may finish');
SELECT clutch.send(pg_temp.ask('run:2', 'task:2')) \g /dev/null
SELECT is(pg_temp.state_of('task:2'), 'assigned agent:ken', 'another run is not affected');
SELECT pg_temp.say('task.progress', 'task:1.2', '{"cost": 1}') \g /dev/null
SELECT is(pg_temp.used('run:1'), '999 0.5 4 t', 'an agent that never had the task cannot charge it');

-- --------------------------------------------------------------- tasks, depth
SELECT clutch.send(pg_temp.ask('run:3', 'task:3', budget => '{"tasks": 3, "depth": 1}')), clutch.send(pg_temp.ask('run:3', 'task:3.1', 'task:3')),
	clutch.send(pg_temp.ask('run:3', 'task:3.1.1', 'task:3.1')), clutch.send(pg_temp.ask('run:3', 'task:3.2', 'task:3')) \g /dev/null
SELECT is((SELECT string_agg(pg_temp.state_of(task_id), ', ' ORDER BY task_id) FROM clutch.tasks WHERE run_id = 'run:3'),
	'assigned agent:ken, assigned agent:ken, failed BUDGET_EXCEEDED, failed BUDGET_EXCEEDED', 'a task too deep and one task too many are refused');
SELECT is((SELECT string_agg(detail, ', ' ORDER BY task_id) FROM clutch.tasks WHERE run_id = 'run:3'),
	'the budget of the run is used up: depth 2 of 1, the budget of the run is used up: more than 3 tasks', 'and the failures say so');

-- tasks that are requested before their parents
SELECT clutch.send(pg_temp.ask('run:up', 'task:u3', 'task:u2', '{"depth": 2}')), clutch.send(pg_temp.ask('run:up', 'task:u2', 'task:u1')),
	clutch.send(pg_temp.ask('run:up', 'task:u1', 'task:u0')), clutch.send(pg_temp.ask('run:up', 'task:u0')) \g /dev/null
SELECT is(pg_temp.state_of('task:u3'), 'assigned agent:ken', 'a task is given to an agent while its parent is missing');
SELECT clutch.send(pg_temp.ask('run:up', 'task:u4', 'task:u3')), clutch.send(pg_temp.ask('run:up', 'task:u2.1', 'task:u1')), clutch.cancel('task:u3'), clutch.retry('task:u3') \g /dev/null
SELECT is((SELECT concat_ws(' ', code, detail) FROM clutch.tasks WHERE task_id = 'task:u4'), 'BUDGET_EXCEEDED the budget of the run is used up: depth 3 of 2', 'but one below it is too deep when its ancestors are known');
SELECT is(pg_temp.state_of('task:u3'), 'failed BUDGET_EXCEEDED', 'and so is the task itself when it is retried');
SELECT is(pg_temp.state_of('task:u2.1'), 'assigned agent:ken', 'one that is not deeper than it may be is given to an agent');

-- ------------------------------------------------------------- what is refused
SELECT throws_ok($$SELECT clutch.send(pg_temp.ask('run:3', 'task:4', budget => '{"tasks": 9}'))$$, 'KL004', NULL, 'a run has one budget');
SELECT lives_ok($$SELECT clutch.send(pg_temp.ask('run:3', 'task:4', budget => '{"tasks": 3, "depth": 1}'))$$, 'which may be repeated');
SELECT lives_ok($$SELECT clutch.retry('task:3')$$, 'a retried task counts as one of the first tasks of its run') FROM clutch.cancel('task:3');
SELECT isnt(pg_temp.state_of('task:3'), 'failed BUDGET_EXCEEDED', 'even though more tasks were requested meanwhile than may be');
SELECT throws_ok($$SELECT clutch.send(pg_temp.ask('run:4', 'task:5', budget => '{"tokens": -1}'))$$, 'KL001', NULL, 'a negative budget is refused');
SELECT throws_ok($$SELECT pg_temp.say('task.progress', 'task:2', '{"cost": -1}')$$, 'KL001', NULL, 'and so is a negative usage');

-- ----------------------------------------------------------- what a card allows
SELECT clutch.register(pg_temp.card('ken', '{"max_tokens": 100}')), clutch.register(pg_temp.card('lois', '{"max_cost": 5}')) \g /dev/null
SELECT pg_temp.say('task.progress', 'task:2', '{"input_tokens": 100}') \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', agent_id, rejected_by, CASE WHEN NOT eligible THEN detail END), ', ' ORDER BY agent_id) FROM clutch.explain_route(pg_temp.ask('run:2', 'task:2.1'))),
	'agent:ken budget has spent 100 of 100 tokens on the run, agent:lois', 'an agent that has spent what its card allows keeps its task');
SELECT clutch.send(pg_temp.ask('run:2', 'task:2.1')), clutch.send(pg_temp.ask('run:2', 'task:2.2', whom => 'agent:ken')) \g /dev/null
SELECT is(pg_temp.state_of('task:2.1'), 'assigned agent:lois', 'but is not chosen any more');
SELECT is(pg_temp.state_of('task:2.2'), 'pending NO_AGENT_AVAILABLE', 'not even when it is named');
SELECT clutch.register(pg_temp.card('ken', '{"max_tokens": 1000}')) \g /dev/null
SELECT is(pg_temp.state_of('task:2.2'), 'assigned agent:ken', 'until its card allows more');

-- ------------------------------------------------------- one row, however often
SELECT is((SELECT string_agg(concat_ws(' ', run_id, agent_id, n), ', ' ORDER BY run_id, agent_id)
	FROM (SELECT run_id, agent_id, count(*) AS n FROM clutch.spending GROUP BY run_id, agent_id) s WHERE n > 1), NULL,
	'the reports of an agent in a run are one row');
SELECT clutch.send(pg_temp.ask('run:most', 'task:most', whom => 'agent:lois', budget => '{"tokens": 9007199254740992}')) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:lois', 9) \g /dev/null
SELECT clutch.send(clutch.envelope('task.progress', 'agent:lois', run_id => 'run:most', thread_id => t.thread_id, task_id => 'task:most',
	meta => '{"clutch": {"usage": {"input_tokens": 9007199254740992, "output_tokens": 9007199254740992, "cost": 0.01}}}'))
FROM clutch.tasks t, generate_series(1, 600) WHERE t.task_id = 'task:most' \g /dev/null
SELECT is(pg_temp.used('run:most'), '9223372036854775807 6.00 1 t', 'a sum beyond bigint is the highest bigint');
INSERT INTO clutch.spending SELECT run_id, 'agent:olsen', day, seq, tokens, cost FROM clutch.spending WHERE run_id = 'run:most';
SELECT is(pg_temp.used('run:most'), '9223372036854775807 12.00 1 t', 'also over several agents');
DELETE FROM clutch.spending WHERE agent_id = 'agent:olsen';

CREATE TEMP TABLE before AS SELECT pg_temp.picture() AS state;
SELECT clutch.rebuild() \g /dev/null
SELECT is(pg_temp.picture(), state, 'rebuild finds the same ends, budgets and usage') FROM before;

SELECT * FROM finish();
