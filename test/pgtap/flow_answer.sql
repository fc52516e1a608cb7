-- Tasks parked with a question: asking, answering, resuming (human in the loop).
\ir ../fixtures/tap.sql
SELECT plan(58);
SET clutch.heartbeat_interval = 0;
SET clutch.notify = off;
SET clutch.default_deadline = 0;
SET timezone = 'UTC';

CREATE FUNCTION pg_temp.state_of(task text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', t.status, t.agent_id, t.attempt, t.waiting_for) FROM clutch.tasks t WHERE t.task_id = task $$;
CREATE FUNCTION pg_temp.ask(task text, whom text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('task.request', 'agent:ui', CASE WHEN whom IS NOT NULL THEN ARRAY[whom] END, run_id => 'run:1', thread_id => 'thread:1',
		task_id => task, requires => '{skill:x}')
$$;
CREATE FUNCTION pg_temp.claimed(agent text, n integer DEFAULT 9) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(concat_ws(' ', task_id, attempt, reason, answer, last_progress), ', '), 'nothing') FROM clutch.claim(agent, n, '10 min') $$;
CREATE FUNCTION pg_temp.question(task text, words text, deadline text DEFAULT NULL) RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.progress((SELECT agent_id FROM clutch.tasks WHERE task_id = task), task,
		jsonb_strip_nulls(jsonb_build_object('state', 'input_required', 'question', words, 'deadline', deadline)))
$$;
CREATE FUNCTION pg_temp.chat(task text, speaker text, words text, answer_to text DEFAULT NULL) RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('chat.message', speaker, '{agent:ken}', jsonb_build_object('text', words), run_id => 'run:1', thread_id => 'thread:1',
		task_id => task, meta => CASE WHEN answer_to IS NOT NULL THEN jsonb_build_object('clutch', jsonb_build_object('answer_to', answer_to)) END))
$$;
CREATE FUNCTION pg_temp.card(name text, at_once integer, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'display', jsonb_build_object('name', name),
		'capabilities', '[{"id": "skill:x"}]'::jsonb, 'limits', jsonb_build_object('max_concurrency', at_once)) || more
$$;
-- what rebuild must find again
CREATE FUNCTION pg_temp.picture() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws('|', task_id, status, agent_id, attempt, waiting_for, reason, question_seq, answer_seq, progress_seq, wake_at, since), E'\n' ORDER BY task_id) FROM clutch.task
$$;
CREATE TEMP TABLE before (state text);

SELECT fixture.at(0) \g /dev/null
SELECT clutch.register(pg_temp.card('ken', 1)), clutch.register(pg_temp.card('lois', 1)) \g /dev/null

-- ------------------------------------------------------------- asking parks
SELECT clutch.send(pg_temp.ask('task:1', 'agent:ken')) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'task:1 1 new', 'an agent works');
SELECT fixture.at(10) \g /dev/null
SELECT is((pg_temp.question('task:1', 'Refund 500?')).late, false, 'its question is accepted');
SELECT is(pg_temp.state_of('task:1'), 'input_required agent:ken 1 human', 'the question parks the task');
SELECT is((SELECT lease_until FROM clutch.tasks), NULL, 'a parked task has no lease');
SELECT is((SELECT running FROM clutch.agents WHERE agent_id = 'agent:ken'), 0, 'and takes no slot');
SELECT is((SELECT concat_ws(' ', task_id, run_id, thread_id, agent_id, question ->> 'question', to_char(asked_at, 'HH24:MI:SS'), deadline, asked) FROM clutch.approvals),
	'task:1 run:1 thread:1 agent:ken Refund 500? 12:00:10 {agent:ui}', 'clutch.approvals shows the question');
SELECT clutch.send(pg_temp.ask('task:2', 'agent:ken')) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'task:2 1 new', 'the agent has room for another task meanwhile');
SELECT fixture.at(86000) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.state_of('task:1'), 'input_required agent:ken 1 human', 'a parked task waits as long as it takes');
SELECT is((SELECT state FROM clutch.extend_lease('agent:ken', 'task:1', 1)), 'lost', 'the lease of a parked task is lost');
SELECT is((clutch.report('agent:ken', 'task:1', 'task.accept')).late, true, 'a parked task cannot be claimed before the answer');
SELECT is(pg_temp.state_of('task:1'), 'input_required agent:ken 1 human', 'a refused claim changes nothing');

INSERT INTO before SELECT pg_temp.picture();
SELECT clutch.rebuild() \g /dev/null
SELECT is(pg_temp.picture(), state, 'rebuild finds the task parked') FROM before;
SELECT is((SELECT count(*) FROM clutch.approvals), 1::bigint, 'and its question open');

-- ---------------------------------------------------- the first answer counts
SELECT clutch.finish('agent:ken', 'task:2') \g /dev/null
SELECT is((pg_temp.chat('task:1', 'agent:ken', 'still here?')).late, false, 'a message of the agent that asked is not an answer');
SELECT is(pg_temp.state_of('task:1'), 'input_required agent:ken 1 human', 'and the task still waits');
SELECT is((clutch.answer('task:1', '{"approved": true}', 'agent:ui')).late, false, 'an answer is accepted');
SELECT is(pg_temp.state_of('task:1'), 'assigned agent:ken 2', 'it gives the task back to the agent that asked');
SELECT is((clutch.answer('task:1', '{"approved": false}', 'agent:boss')).late, true, 'a second answer is late');
SELECT is((pg_temp.chat('task:1', 'agent:boss', 'no!')).late, true, 'also as a message');
SELECT is((SELECT count(*) FROM clutch.approvals), 0::bigint, 'no question is open any more');
SELECT is(pg_temp.claimed('agent:ken'),
	'task:1 2 resumed {"approved": true} {"state": "input_required", "question": "Refund 500?"}', 'the claim returns the answer and the last progress');
SELECT is((pg_temp.chat('task:1', 'agent:boss', 'how is it?')).late, false, 'once answered, a message is an ordinary message');
SELECT is((clutch.answer('task:1', '{}', 'agent:boss')).late, true, 'and an explicit answer is late');
SELECT is((clutch.finish('agent:ken', 'task:1', '{"from": 1}', 1)).late, true, 'the process that asked holds an older attempt');
SELECT is((clutch.finish('agent:ken', 'task:1', '{"from": 2}', 2)).late, false, 'the process that resumed holds the current one');
SELECT is((SELECT envelope #>> '{payload,reason}' FROM clutch.events WHERE task_id = 'task:1' AND type = 'routing.decision'), 'it asked, and goes on with the answer', 'the log says why the task came back');
SELECT is((clutch.answer('task:1', '{}', 'agent:boss')).late, true, 'an answer to a finished task is late');

-- ------------------------------------------------ any chat.message is an answer, also from another agent
SELECT clutch.send(pg_temp.ask('task:3')) \g /dev/null
SELECT pg_temp.claimed(agent_id) FROM clutch.tasks WHERE task_id = 'task:3' \g /dev/null
SELECT pg_temp.question('task:3', 'Which?') \g /dev/null
CREATE TEMP TABLE asker AS SELECT agent_id FROM clutch.tasks WHERE task_id = 'task:3';
SELECT clutch.send(pg_temp.ask('task:4', agent_id)) FROM asker \g /dev/null
SELECT is((pg_temp.chat('task:3', 'agent:anyone', 'that one')).late, false, 'any chat.message is an answer');
SELECT isnt((SELECT agent_id FROM clutch.tasks WHERE task_id = 'task:3'), (SELECT agent_id FROM asker), 'the task goes to another agent if the one that asked has no slot');
SELECT is((SELECT pg_temp.claimed(agent_id) FROM clutch.tasks WHERE task_id = 'task:3'),
	'task:3 2 resumed {"text": "that one"} {"state": "input_required", "question": "Which?"}', 'the other agent gets the answer');
SELECT fixture.at(87000) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT clutch.finish(agent_id, 'task:4') FROM asker \g /dev/null
SELECT is((SELECT pg_temp.claimed(agent_id) FROM clutch.tasks WHERE task_id = 'task:3'),
	'task:3 3 moved {"text": "that one"} {"state": "input_required", "question": "Which?"}', 'and so does the next one, when that agent is lost');
SELECT clutch.finish(agent_id, task_id) FROM clutch.tasks WHERE task_id = 'task:3' \g /dev/null

-- ------------------------------------------------------- who may answer, what can be said
SELECT clutch.send(pg_temp.ask('task:5', 'agent:ken')) \g /dev/null
SELECT pg_temp.claimed('agent:ken') \g /dev/null
SELECT clutch.send(clutch.envelope('task.progress', 'agent:ken', '{agent:cfo,group:board}', '{"state": "input_required"}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:5')) \g /dev/null
SELECT throws_ok($$SELECT clutch.answer('task:5', '{}', 'agent:boss')$$, '42501', NULL, 'only the agent that a question is addressed to can answer it');
SELECT is(pg_temp.state_of('task:5'), 'input_required agent:ken 1 human', 'and the task still waits');
SELECT is((pg_temp.chat('task:5', 'agent:cfo', 'wrong question', 'msg:other')).late, true, 'an answer to another question is late');
SELECT clutch.register(pg_temp.card('mia', 1, '{"groups": ["group:board"]}')) \g /dev/null
SELECT is((clutch.answer('task:5', '{"ok": 1}', 'agent:mia')).late, false, 'a member of a group that was asked can answer');
SELECT clutch.cancel('task:5', NULL, 'agent:ui') \g /dev/null
SELECT throws_ok($$SELECT clutch.answer('task:2', '{}')$$, 'KL004', NULL, 'a task that never asked cannot be answered');
SELECT throws_ok($$SELECT clutch.answer('task:none', '{}')$$, 'KL003', NULL, 'an unknown task cannot be answered');
SELECT throws_ok($$SELECT clutch.answer('task:2', NULL)$$, '22004', NULL, 'an answer is required');

-- ------------------------------------------- a task ends without an answer, or asks again
SELECT clutch.send(pg_temp.ask(t, 'agent:ken')), pg_temp.claimed('agent:ken'), pg_temp.question(t, 'now?', '2026-01-02T13:00:00Z') FROM unnest('{task:a,task:b,task:c,task:d,task:e}'::text[]) t \g /dev/null
SELECT is((SELECT string_agg(to_char(deadline, 'DD HH24:MI'), ' ') FROM clutch.approvals), '02 13:00 02 13:00 02 13:00 02 13:00 02 13:00', 'five questions have a deadline');
BEGIN;
SET LOCAL track_functions = 'all';
SELECT isnt((SELECT question FROM clutch.approvals ORDER BY asked_at, task_id LIMIT 1), NULL, 'one is asked for');
SELECT is(pg_stat_get_xact_function_calls('clutch.envelope_of(bigint)'::regprocedure), 1::bigint, 'and no other is read');
COMMIT;
SELECT is((clutch.cancel('task:a', NULL, 'agent:ui')).late, false, 'a parked task can be cancelled');
SELECT is((clutch.finish('agent:ken', 'task:b')).late, false, 'or be finished by the agent that asked');
SELECT is((clutch.release('agent:ken', 'task:c', 1)).late, false, 'or be given back');
SELECT is((pg_temp.question('task:d', 'or now?')).late, false, 'or ask another question');
SELECT is((SELECT question ->> 'question' || coalesce(deadline::text, ' for ever') FROM clutch.approvals WHERE task_id = 'task:d'), 'or now? for ever', 'and then only the new question counts');
SELECT throws_ok($$SELECT pg_temp.question('task:d', 'when?', 'soon')$$, 'KL001', NULL, 'the deadline of a question must be a time');
SELECT is((SELECT string_agg(status, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:_' AND task_id > 'task:9'), 'cancelled completed assigned input_required input_required', 'so the questions stay open');
TRUNCATE before;
INSERT INTO before SELECT pg_temp.picture();
SELECT clutch.rebuild() \g /dev/null
SELECT is(pg_temp.picture(), state, 'rebuild finds the same') FROM before;
SELECT fixture.at(90000) \g /dev/null
SELECT is((SELECT string_agg(task_id || ' ' || problem, ', ') FROM clutch.stuck WHERE status = 'input_required'), 'task:e deadline passed', 'clutch.stuck shows a question that was not answered for long');
SELECT is(clutch.tick() ->> 'timed_out', '1', 'a question that was not answered in time ends the task');
SELECT is(pg_temp.state_of('task:e') || ' ' || (SELECT code FROM clutch.tasks WHERE task_id = 'task:e'), 'timed_out agent:ken 1 NOT_ANSWERED', 'and the timeout says why');
SELECT is((SELECT string_agg(task_id, ' ') FROM clutch.approvals), 'task:d', 'one question is left');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');

-- an agent that requested its task itself can answer it, if it says so
SELECT clutch.register(pg_temp.card('solo', 9)) \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:solo', '{agent:solo}', run_id => 'run:solo', thread_id => 'thread:1', task_id => 'task:solo')) \g /dev/null
SELECT pg_temp.claimed('agent:solo') \g /dev/null
SELECT pg_temp.question('task:solo', 'Shall I?') \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:solo', '{agent:ui}', run_id => 'run:solo', thread_id => 'thread:1', task_id => 'task:solo')) \g /dev/null
SELECT is(pg_temp.state_of('task:solo'), 'input_required agent:solo 1 human', 'what it says besides is no answer');
SELECT is((SELECT late FROM clutch.answer('task:solo', '{"yes": true}', 'agent:solo')), false, 'its answer is not late');
SELECT is(pg_temp.claimed('agent:solo'), 'task:solo 2 resumed {"yes": true} {"state": "input_required", "question": "Shall I?"}', 'and it gets it');
SELECT pg_temp.question('task:solo', 'And now?') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:solo}', run_id => 'run:ui', thread_id => 'thread:1', task_id => 'task:ui')) \g /dev/null
SELECT pg_temp.claimed('agent:solo') \g /dev/null
SELECT pg_temp.question('task:ui', 'Shall I?') \g /dev/null
SELECT is((SELECT late FROM clutch.answer('task:ui', '{"yes": true}', 'agent:solo')), true, 'but it cannot answer for somebody else');
SELECT * FROM finish();
