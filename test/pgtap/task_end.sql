-- How a task ends, and what comes too late: deadlines that nobody ticked for,
-- ends that are reported twice, requests for a task that is over, and what a
-- task waits for that nobody has requested.
\ir ../fixtures/tap.sql
SELECT plan(52);
SET clutch.notify = off;
SELECT fixture.at(0) \g /dev/null
SELECT fixture.agent('ken', 99), fixture.agent('lois', 99, '{skill:y}') \g /dev/null
CREATE FUNCTION pg_temp.log(task text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(type || CASE WHEN late THEN ' late' ELSE '' END, ', ' ORDER BY seq) FROM clutch.events WHERE task_id = task
$$;

-- ----------------------------------------- a deadline is judged by the clock
SELECT fixture.ask('task:d1', orders => '{"deadline": "2026-01-01T12:00:10Z"}'), fixture.ask('task:d2', orders => '{"deadline": "2026-01-01T12:00:10Z"}'),
	fixture.ask('task:d3', orders => '{"deadline": "2026-01-01T12:00:10Z"}'), fixture.ask('task:d4', orders => '{"deadline": "2026-01-01T12:00:10Z"}'),
	fixture.ask('task:d5') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken', 9, '1 hour') \g /dev/null
SELECT clutch.progress('agent:ken', 'task:d5', '{"state": "input_required", "deadline": "2026-01-01T12:00:10Z", "question": "?"}', 1) \g /dev/null
SELECT fixture.at(10) \g /dev/null
SELECT is((SELECT late FROM clutch.finish('agent:ken', 'task:d1', '{"r": 1}', 1)), true, 'a result at the deadline is late, though nobody ticked');
SELECT is(pg_temp.log('task:d1'), 'task.request, routing.decision, task.accept, task.timeout, task.result late', 'the timeout precedes it in the log');
SELECT is((SELECT status FROM clutch.result('task:d1')), 'timed_out', 'the task is timed out');
SELECT is((SELECT late FROM clutch.fail('agent:ken', 'task:d2', 'E', 'm')), true, 'an error is late as well');
SELECT is((SELECT late FROM clutch.cancel('task:d3')), true, 'and so is a cancel');
SELECT is((SELECT state FROM clutch.extend_lease('agent:ken', 'task:d4', 1)), 'lost', 'the lease of such a task is lost');
SELECT is(fixture.state('task:d4'), 'timed_out agent:ken 1', 'because the task is timed out');
SELECT is((SELECT late FROM clutch.answer('task:d5', '{"a": 1}')), true, 'an answer after the deadline of the question is late');
SELECT is((SELECT status || ' ' || code FROM clutch.tasks WHERE task_id = 'task:d5'), 'timed_out NOT_ANSWERED', 'the question was not answered');
SELECT is((clutch.tick() ->> 'timed_out')::int, 0, 'nothing is left for tick');
SELECT is((SELECT running FROM clutch.agents WHERE agent_id = 'agent:ken'), 0, 'and every slot is free');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same ends');

-- -------------------------------------------- the same end is a duplicate
SELECT fixture.ask('task:e1'), fixture.ask('task:e2'), fixture.ask('task:e3') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
CREATE TEMP TABLE first AS SELECT * FROM clutch.finish('agent:ken', 'task:e1', '{"r": [1, 2]}', 1, usage => '{"cost": 1}');
SELECT fixture.answers($$ SELECT seq, id, duplicate, late FROM clutch.finish('agent:ken', 'task:e1', '{"r": [1, 2]}', 1, usage => '{"cost": 1}') $$,
	'SELECT seq, id, true, false FROM first', 'a result that is sent again returns the first receipt');
SELECT is((SELECT duplicate FROM clutch.finish('agent:ken', 'task:e1', '{"r": [1, 2]}')), true, 'also without the attempt');
SELECT is((SELECT cost FROM clutch.costs WHERE run_id = 'run:1'), 1::numeric, 'its cost counts once');
SELECT fixture.answers($$ SELECT duplicate, late FROM clutch.finish('agent:ken', 'task:e1', '{"r": [2, 1]}', 1) $$, 'VALUES (false, true)', 'another payload is late');
SELECT fixture.answers($$ SELECT duplicate, late FROM clutch.finish('agent:lois', 'task:e1', '{"r": [1, 2]}', 1) $$, 'VALUES (false, true)', 'and so is another agent');
SELECT fixture.answers($$ SELECT duplicate, late FROM clutch.report('agent:ken', 'task:e1', 'task.progress', '{"r": [1, 2]}', 1) $$, 'VALUES (false, true)', 'or type');
SELECT is((SELECT count(*) FROM clutch.events WHERE task_id = 'task:e1' AND type = 'task.result' AND NOT late), 1::bigint, 'the end is in the log once');
SELECT clutch.fail('agent:ken', 'task:e2', 'TIMEOUT', 'm', true, attempt => 1) \g /dev/null
SELECT is((SELECT attempt FROM clutch.tasks WHERE task_id = 'task:e2'), 2, 'an error is followed by the next attempt');
SELECT fixture.answers($$ SELECT duplicate, late FROM clutch.fail('agent:ken', 'task:e2', 'TIMEOUT', 'm', true, attempt => 1) $$, 'VALUES (true, false)', 'sent again, it is still a duplicate');
SELECT fixture.answers($$ SELECT duplicate, late FROM clutch.fail('agent:ken', 'task:e2', 'TIMEOUT', 'another', true, attempt => 1) $$, 'VALUES (false, true)', 'another one of the old attempt is late');
SELECT fixture.answers($$ SELECT duplicate, late FROM clutch.fail('agent:ken', 'task:e2', 'TIMEOUT', 'another', true, attempt => 1) $$, 'VALUES (false, true)', 'however often it comes');
SELECT clutch.cancel('task:e3') \g /dev/null
SELECT fixture.answers($$ SELECT duplicate, late FROM clutch.finish('agent:ken', 'task:e3', '{}', 1) $$, 'VALUES (false, true)', 'a result after a cancel repeats nothing');
SELECT is((SELECT string_agg(duplicate::text, ' ') FROM clutch.send_batch(ARRAY[
	(SELECT envelope || '{"id": "msg_again"}' FROM clutch.events WHERE seq = (SELECT seq FROM first)),
	clutch.envelope('chat.message', 'agent:ken', run_id => 'run:1')])), 'true false', 'a batch goes on after a repeated end');

-- ------------------------------------- and so is the same question or suspension
SELECT fixture.ask('task:p1'), fixture.ask('task:p2') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
CREATE FUNCTION pg_temp.asks(words text, usage jsonb DEFAULT NULL, agent text DEFAULT 'agent:ken') RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', CASE WHEN duplicate THEN 'duplicate' END, CASE WHEN late THEN 'late' END)
	FROM clutch.progress(agent, 'task:p1', jsonb_build_object('state', 'input_required', 'question', words), 1, usage => usage) $$;
CREATE FUNCTION pg_temp.suspends(wait jsonb, note jsonb DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', CASE WHEN duplicate THEN 'duplicate' END, CASE WHEN late THEN 'late' END)
	FROM clutch.suspend('agent:ken', 'task:p2', wait, note, attempt => 1) $$;
SELECT is(pg_temp.asks('Which?', '{"cost": 1}'), '', 'a question');
SELECT is(pg_temp.asks('Which?', '{"cost": 1}'), 'duplicate', 'is a duplicate when it is sent again');
SELECT is((SELECT cost FROM clutch.costs WHERE run_id = 'run:1'), 2::numeric, 'its cost counts once');
SELECT is(pg_temp.log('task:p1'), 'task.request, routing.decision, task.accept, task.progress', 'it is in the log once');
SELECT is(pg_temp.asks('Which one?'), '', 'another question is not');
SELECT is(pg_temp.asks('Which?', '{"cost": 1}'), '', 'and then the first one is asked anew');
SELECT clutch.answer('task:p1', '{"that": "one"}') \g /dev/null
SELECT is(pg_temp.asks('Which?', '{"cost": 1}'), 'duplicate', 'it is still a duplicate when it has been answered');
SELECT is(pg_temp.asks('Why?'), 'late', 'another question is late then');
SELECT is(pg_temp.suspends('{"for_ms": 600000}', '{"n": 1}'), '', 'a suspension');
SELECT is(pg_temp.suspends('{"for_ms": 600000}', '{"n": 1}'), 'duplicate', 'is a duplicate as well');
SELECT is(pg_temp.suspends('{"for_ms": 700000}', '{"n": 1}'), '', 'but not if it waits for something else');
SELECT is((SELECT string_agg(duplicate::text, ' ' ORDER BY seq) FROM clutch.send_batch(ARRAY(
	SELECT envelope || '{"id": "msg_again"}' FROM clutch.events WHERE task_id = 'task:p2' ORDER BY seq DESC LIMIT 1))), 'true', 'in a batch, too');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT clutch.cancel(task) FROM unnest('{task:p1,task:p2}'::text[]) task \g /dev/null

-- --------------------------------------------- requests for a task that is over
SELECT is(fixture.fault($$ SELECT clutch.send(fixture.request('task:e1') || '{"id": "msg_other", "payload": {"q": 2}}') $$), 'KL004 TASK_EXISTS /task_id', 'a request for a completed task is refused');
SELECT is(fixture.fault($$ SELECT clutch.send(fixture.request('task:d1') || '{"id": "msg_other"}') $$), 'KL004 TASK_EXISTS /task_id', 'and so is one for a task that timed out');
SELECT throws_like($$ SELECT clutch.send(fixture.request('task:d1') || '{"id": "msg_other"}') $$, 'task "task:d1" was requested before and is timed_out', 'the error names its status');
SELECT is((SELECT duplicate FROM clutch.send(fixture.request('task:e1'))), true, 'a resend of the request is a duplicate');

-- ------------------------------------------------------------------- deadlines
SELECT is(fixture.fault($$ SELECT clutch.send(fixture.request('task:n', orders => '{"deadline": "2026-01-01T11:59:59Z"}')) $$), 'KL001 WRONG_VALUE /meta/clutch/deadline', 'a deadline before the envelope itself is refused');
SELECT throws_ok($$ SELECT clutch.envelope('task.request', 'agent:ui', deadline => '-1 s', idempotency_key => 'k') $$, '22023', 'argument "deadline" must be more than zero and at most 100000 years', 'and so is a negative one');

-- --------------------------------------- what waits for a task nobody requested
SELECT fixture.at(100) \g /dev/null
SELECT fixture.ask('task:w1', orders => fixture.after('task:e1', 'task:unknown')), fixture.ask('task:w2', orders => fixture.after('task:later')) \g /dev/null
SELECT is_empty($$ SELECT * FROM clutch.stuck WHERE task_id LIKE 'task:w%' $$, 'a request may come before the one that it waits for');
SELECT fixture.at(161) \g /dev/null
SELECT fixture.ask('task:later') \g /dev/null
SELECT fixture.answers($$ SELECT task_id, problem, hint FROM clutch.stuck WHERE task_id LIKE 'task:w%' $$,
	$$ VALUES ('task:w1', 'waits for an unknown task', 'Nobody has requested task task:unknown in its run, which it waits for: request that task, or cancel this one. If the ID belongs to a task of another run, only the latter helps.') $$, 'but if it does not come, the task is stuck');
SELECT fixture.ask('task:u', orders => fixture.after('task:w1') || '{"priority": 4}') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.stuck WHERE task_id LIKE 'task:w%'), 1::bigint, 'also if a more urgent task waits for it');
SELECT clutch.rebuild() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.stuck WHERE task_id LIKE 'task:w%'), 1::bigint, 'and after a rebuild');
SELECT fixture.ask('task:w3', orders => fixture.after('task:unknown')) \g /dev/null
SELECT clutch.cancel('task:w3') \g /dev/null
SELECT fixture.ask('task:unknown') \g /dev/null
SELECT is_empty($$ SELECT * FROM clutch.stuck WHERE task_id LIKE 'task:w%' $$, 'when it is requested at last, the task is stuck no longer');
SELECT fixture.ask('task:w4', orders => fixture.after('task:elsewhere')) \g /dev/null
SELECT fixture.ask('task:elsewhere', run => 'run:other') \g /dev/null
SELECT fixture.at(222) \g /dev/null
SELECT fixture.answers($$ SELECT task_id, problem FROM clutch.stuck WHERE task_id LIKE 'task:w%' $$, $$ VALUES ('task:w4', 'waits for an unknown task') $$, 'a task of another run is not the one that is waited for');
SELECT clutch.cancel('task:w4'), clutch.retry('task:w4') \g /dev/null
SELECT fixture.at(283) \g /dev/null
SELECT is((SELECT problem FROM clutch.stuck WHERE task_id = 'task:w4'), 'waits for an unknown task', 'nor is it when the task is revived');
SELECT clutch.cancel('task:w4') \g /dev/null
SELECT clutch.finish('agent:ken', task_id) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is((SELECT count(*) FROM clutch.dependency WHERE unknown_since IS NOT NULL), 0::bigint, 'no mark is left when a task waits no longer');
