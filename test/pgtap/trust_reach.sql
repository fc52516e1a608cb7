-- Ways for a role to reach beyond its right without touching a row of others: what a task
-- waits for, what an error says, what a statement holds while it goes on, and what others
-- are made to compute.  Each of these worked once.
\ir ../fixtures/tap.sql
\ir ../fixtures/ed25519.sql
\ir ../fixtures/signed.sql
SELECT plan(65);
SET clutch.notify = off;		-- for PREPARE TRANSACTION
SET clutch.heartbeat_interval = 0;
SET clutch.breaker_failures = 0;
CREATE TABLE fixture.person (role text);
INSERT INTO fixture.person VALUES ('boss'), ('ann'), ('bob'), ('eve');
SELECT format('CREATE ROLE clutch_test_%s', role) FROM fixture.person \gexec
CREATE ROLE clutch_test_op;
SELECT clutch.grant_agent('clutch_test_' || role, 'agent:' || role, '{*}'), fixture.agent(role, 99) FROM fixture.person \g /dev/null
SELECT clutch.grant_operator('clutch_test_op') \g /dev/null
CREATE FUNCTION fixture.says(agent text, whom text, type text, task text, payload jsonb DEFAULT '{}', orders jsonb DEFAULT NULL, run text DEFAULT 'run:1') RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope(type, 'agent:' || agent, ARRAY['agent:' || whom], payload, run_id => run, thread_id => 'thread:1', task_id => task,
		meta => CASE WHEN orders IS NOT NULL THEN jsonb_build_object('clutch', orders) END) $$;
-- SQLSTATE, code, place and message of the error
CREATE FUNCTION fixture.whole_error(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	detail text;
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' ', SQLSTATE, message, detail, hint);
END $$;
-- what the statement returns, and the attempts of boss's tasks before it is over
CREATE FUNCTION fixture.attempts() RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN (SELECT string_agg(attempt::text, ' ' ORDER BY task_id) FROM clutch.tasks WHERE run_id = 'run:due'); END $$;
CREATE FUNCTION fixture.while_it_runs(call text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE answer text; BEGIN EXECUTE 'SELECT ' || call INTO answer; RETURN answer || ' ' || fixture.attempts(); END $$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fixture TO PUBLIC;
GRANT USAGE ON SCHEMA ed25519 TO PUBLIC;

-- ------------------------------------------ a task that waits for what its agent may not read
-- boss has requested a of ann and b of bob, in a run that shows neither the other's task.
SET SESSION AUTHORIZATION clutch_test_boss;
SELECT clutch.send(fixture.says('boss', 'ann', 'task.request', 'task:a', orders => '{"visibility": "parent-only"}')), clutch.send(fixture.says('boss', 'bob', 'task.request', 'task:b')) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_bob;
SELECT count(*) FROM clutch.claim('agent:bob', 9) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_ann;
SELECT count(*) FROM clutch.claim('agent:ann', 9) \g /dev/null
SELECT clutch.suspend('agent:ann', 'task:a', '{"message": {}}') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_bob;
SELECT clutch.send(fixture.says('bob', 'boss', 'chat.message', 'task:b', '{"text": "between bob and boss"}')) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_ann;
SELECT is(fixture.claimed('agent:ann'), 'nothing', 'a message about a task that the agent may not see does not wake its own');
SET SESSION AUTHORIZATION clutch_test_boss;
SELECT clutch.send(fixture.says('boss', 'bob', 'chat.message', 'task:a', '{"text": "about a"}')) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_ann;
SELECT is((SELECT answer ->> 'text' FROM clutch.claim('agent:ann')), 'about a', 'one about its own task does, whomever it is addressed to');
SELECT clutch.suspend('agent:ann', 'task:a', '{"message": {}}') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_bob;
SELECT clutch.send(fixture.says('bob', 'ann', 'chat.message', 'task:b', '{"text": "to ann"}')) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_ann;
SELECT is((SELECT answer ->> 'text' FROM clutch.claim('agent:ann')), 'to ann', 'and so does one that is addressed to the agent');
-- a task below that of the agent
SELECT clutch.send(fixture.says('ann', 'bob', 'task.request', 'task:a1') || '{"parent_task_id": "task:a"}') \g /dev/null
SELECT clutch.suspend('agent:ann', 'task:a', '{"message": {}}') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_bob;
SELECT clutch.send(fixture.says('bob', 'boss', 'chat.message', 'task:a1', '{"text": "below"}')) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_ann;
SELECT is((SELECT answer ->> 'text' FROM clutch.claim('agent:ann')), 'below', 'and one about a task below its own');
-- a question to the requester may be answered by whoever sees the task
SET SESSION AUTHORIZATION clutch_test_bob;
SELECT clutch.progress('agent:bob', 'task:b', '{"state": "input_required", "question": "deploy?"}') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_ann;
SELECT alike(fixture.whole_error($$SELECT clutch.answer('task:b', '{"yes": true}', 'agent:ann')$$), '42501 %NOT_ASKED%', 'an agent does not answer the question of a task that it may not see');
SELECT is(fixture.fault($$SELECT clutch.send(fixture.says('ann', 'bob', 'chat.message', 'task:b', '{"yes": true}'))$$), '42501 NOT_ASKED /from/agent_id', 'nor by a message');
-- whoever waits for a task is told how it has ended, and whoever is below it can keep it from going on
SELECT is(fixture.fault($$SELECT clutch.send(fixture.says('ann', 'ann', 'task.request', 'task:spy', orders => '{"after": ["task:b"]}'))$$), 'KL003 TASK_NOT_FOUND /meta/clutch/after', 'an agent does not wait for a task that it may not see');
SELECT is(fixture.fault($$SELECT clutch.send(fixture.says('ann', 'ann', 'task.request', 'task:spy') || '{"parent_task_id": "task:b"}')$$), 'KL003 TASK_NOT_FOUND /parent_task_id', 'nor does it request one below it');
SELECT is(fixture.fault($$SELECT clutch.send(fixture.says('ann', 'ann', 'task.request', 'task:own', orders => '{"after": ["task:a1", "task:later"]}') || '{"parent_task_id": "task:a1"}')$$), 'KL004 CYCLE /meta/clutch/after', 'what is below its own task, it may name');
SELECT clutch.send(fixture.says('ann', 'ann', 'task.request', 'task:own', orders => '{"after": ["task:later"]}') || '{"parent_task_id": "task:a"}') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_boss;
SELECT clutch.send(fixture.says('boss', 'bob', 'task.request', 'task:later')), clutch.cancel('task:later', 'secret', 'agent:boss') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_ann;
SELECT is((SELECT concat_ws(' ', code, detail) FROM clutch.tasks WHERE task_id = 'task:own'), 'DEPENDENCY_FAILED a task that it waited for is over, and not completed', 'one that it has named before it was requested is not described');
SET SESSION AUTHORIZATION clutch_test_boss;
SELECT clutch.answer('task:b', '{"yes": false}', 'agent:boss') \g /dev/null
-- what others have spent in such a run is for operators
SELECT clutch.send(fixture.says('boss', 'ann', 'task.request', 'task:rich', orders => '{"visibility": "parent-only", "budget": {"tokens": 10}}', run => 'run:rich')) \g /dev/null
SELECT clutch.send(fixture.says('boss', 'bob', 'task.request', 'task:spends', run => 'run:rich')) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_bob;
SELECT count(*) FROM clutch.claim('agent:bob', 9) \g /dev/null
SELECT clutch.progress('agent:bob', 'task:spends', '{}', usage => '{"input_tokens": 77}') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_ann;
SELECT clutch.send(fixture.says('ann', 'ann', 'task.request', 'task:poor', run => 'run:rich')) \g /dev/null
SELECT is((SELECT concat_ws(' ', code, detail) FROM clutch.tasks WHERE task_id = 'task:poor'), 'BUDGET_EXCEEDED the budget of the run is used up', 'nor is a participant told how much the others have spent');
RESET SESSION AUTHORIZATION;
SELECT clutch.send(fixture.says('boss', 'ann', 'task.request', 'task:dear', orders => '{"visibility": "parent-only"}', run => 'run:dear')),
	clutch.send(fixture.says('boss', 'frugal', 'task.request', 'task:spent', run => 'run:dear')), fixture.agent('frugal', 9, '{skill:frugal}', more => '{"limits": {"max_concurrency": 9, "max_tokens": 5}}') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:frugal', 9) \g /dev/null
SELECT clutch.finish('agent:frugal', 'task:spent', '{}', usage => '{"input_tokens": 6}') \g /dev/null
SELECT clutch.send(fixture.says('boss', 'orchestrator', 'task.request', 'task:none', run => 'run:dear') || '{"requires": ["skill:frugal"]}') \g /dev/null
SELECT is((SELECT e.envelope #>> '{payload,rejected,budget}' FROM clutch.events e WHERE e.task_id = 'task:none' AND e.type = 'routing.failure'), '{"count": 1, "agents": []}', 'nor who has spent what its card allows');
SELECT is_empty($$SELECT FROM clutch.why('task:none') WHERE rejected_by = 'budget'$$, 'which why does not tell, either');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');

-- ------------------------------------------------------------------- what errors say
SET SESSION AUTHORIZATION clutch_test_ann;
SELECT matches(fixture.whole_error($$SELECT clutch.cancel_run('run:1', by_agent => 'agent:ann')$$), '42501 .*NOT_ASSIGNED', 'a part of a run is not cancelled as a whole');
SELECT unalike(fixture.whole_error($$SELECT clutch.cancel_run('run:1', by_agent => 'agent:ann')$$), '%task:b%', 'and the error names no task that the agent may not see');
RESET SESSION AUTHORIZATION;
SELECT count(*) FROM clutch.claim('agent:bob', 9) \g /dev/null
SELECT clutch.fail('agent:bob', 'task:b', 'X', 'x', false) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_ann;
SELECT matches(fixture.whole_error($$SELECT * FROM clutch.retry_run('run:1', 'agent:ann')$$), '42501 .*NOT_ASSIGNED', 'nor is it retried');
SELECT unalike(fixture.whole_error($$SELECT * FROM clutch.retry_run('run:1', 'agent:ann')$$), '%task:b%', 'with the same error');
-- where the run can be seen, so can its tasks
RESET SESSION AUTHORIZATION;
SELECT clutch.send(fixture.says('boss', 'ann', 'task.request', 'task:seen', run => 'run:seen')), clutch.send(fixture.says('boss', 'bob', 'task.request', 'task:too', run => 'run:seen')) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_ann;
SELECT alike(fixture.whole_error($$SELECT clutch.cancel_run('run:seen', by_agent => 'agent:ann')$$), '%task:too%', 'elsewhere the error names it');
-- eve speaks for none of them
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is(replace(fixture.whole_error(format(call, 'task:b')), 'task:b', 'task:none'), fixture.whole_error(format(call, 'task:none')), 'whoever may not speak for the agent learns nothing of the task: ' || split_part(call, '(', 1))
FROM unnest(ARRAY[
	$$clutch.answer(%L, '{}', 'agent:boss')$$, $$clutch.finish('agent:bob', %L, '[]')$$, $$clutch.fail('agent:bob', %L, 'not a code', 'x')$$, $$clutch.progress('agent:orchestrator', %L, '1')$$,
	$$clutch.step('agent:bob', %L, '')$$, $$clutch.suspend('agent:bob', %L, '{"x": 1}')$$, $$clutch.cancel(%L, 'x', 'agent:boss')$$, $$clutch.retry(%L, 'agent:boss')$$, $$clutch.release('agent:bob', %L, 7)$$]) AS c(function),
	LATERAL (SELECT 'SELECT ' || function) AS s(call);

-- ---------------------------------------------------- what a statement holds while it goes on
-- Statements of agents move nothing of others before they end.
RESET SESSION AUTHORIZATION;
SELECT clutch.cancel_run('run:1'), clutch.cancel_run('run:seen') \g /dev/null
SELECT fixture.at(0) \g /dev/null
SELECT clutch.send(fixture.says('boss', 'bob', 'task.request', 'task:due' || n, run => 'run:due')) FROM generate_series(1, 3) n \g /dev/null
SELECT count(*) FROM clutch.claim('agent:bob', 9, '10 s') \g /dev/null
SELECT fixture.at(60) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is(fixture.while_it_runs('clutch.tick()'), '{"deferred": true} 1 1 1', 'a tick of an agent does its work when the statement is over');
RESET SESSION AUTHORIZATION;
SELECT is(fixture.attempts(), '2 2 2', 'and does it');
SELECT count(*) FROM clutch.claim('agent:bob', 9, '10 s') \g /dev/null
SELECT fixture.at(120) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is(fixture.while_it_runs($$(SELECT count(*) FROM clutch.claim('agent:eve'))$$), '0 2 2 2', 'so does a claim that finds nothing');
RESET SESSION AUTHORIZATION;
SELECT is(fixture.attempts(), '3 3 3', 'and does its share at the end');
SELECT is((SELECT t -> 'expired' FROM clutch.tick() t), '0', 'an operator is told what a tick has done');
SELECT count(*) FROM clutch.claim('agent:bob', 9, '10 s') \g /dev/null
SELECT fixture.at(180) \g /dev/null
-- a transaction that is prepared may last for ever
SET SESSION AUTHORIZATION clutch_test_eve;
BEGIN;
SELECT clutch.tick() \g /dev/null
SELECT count(*) FROM clutch.claim('agent:eve') \g /dev/null
SELECT clutch.send(fixture.says('eve', 'eve', 'chat.message', 'task:eve', run => 'run:eve')) \g /dev/null
PREPARE TRANSACTION 'clutch_test_reach';
RESET SESSION AUTHORIZATION;
-- who waits for it would wait for ever
SET lock_timeout = '60s';
SELECT is((SELECT string_agg(state, ' ') FROM generate_series(1, 3) n, clutch.extend_lease('agent:bob', 'task:due' || n, 3)), 'held held held', 'a prepared transaction leaves what is due to others');
RESET lock_timeout;
COMMIT PREPARED 'clutch_test_reach';
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:eve'), 1::bigint, 'and keeps what is its own');
RESET clutch.clock;
SELECT clutch.cancel_run('run:due') \g /dev/null

-- ------------------------------------------------ what others compute when they send a message
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT clutch.send(fixture.says('eve', 'eve', 'task.request', 'task:waits', run => 'run:eve')) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:eve') \g /dev/null
SELECT is(fixture.fault(format('SELECT clutch.suspend(%L, %L, %L)', 'agent:eve', 'task:waits', jsonb_build_object('message', jsonb_build_object('path', path)))), 'KL001 WRONG_VALUE /message/path', 'a path that takes long is refused: ' || left(path, 40))
FROM unnest(ARRAY['$.payload.**.**.**.** ? (@ == 7)', '$.payload.text like_regex "(a*)*b"', '$.payload.a[*] == $.payload.b[*]', '$.payload.a[*] ? (exists ($.payload.a[*] ? (@ == 1)))',
	'$.payload' || repeat('.keyvalue().value', 9), '$.payload.a == 1' || repeat(' || $.payload.a == 1', 60),
	'$.payload.t[0,0][0,0][0,0] ? (@ == 2)',
	'$.payload.a[*] ? (@ * ' || repeat('9', 1000) || ' == 1)', '$.payload.a[*] ? (@ / 3 == 1)', '$.payload.a[*] ? (@ % 3 == 1)', '$.payload.a[*] ? (@ + ' || repeat('9', 5000) || ' == 1)',
	'$.payload.a[*] ? (@ + 1e130000 == 1)', '$.payload.a[*] ? (1 - @ == 1)', '$.payload.a[1 + 1e130000]', '$.payload.a[*] ? (@ == 1e130000)', '$.payload.a == ' || repeat('1', 5000)]) AS p(path);
SELECT is(fixture.fault($$SELECT clutch.suspend('agent:eve', 'task:waits', '{"message": {"path": "$.payload ? ("}}')$$), 'KL001 WRONG_VALUE /message/path', 'so is one that is no path');
SELECT is(fixture.fault($$SELECT clutch.suspend('agent:eve', 'task:waits', '{"message": {"path": "$.payload ? (@.approved == true && exists (@.by[*] ? (@.role == \"lead\")) && -@.n < -2.5e-3 && @.a[last] == 3)"}}')$$), 'no error', 'one that takes as long as reading the message is not');
RESET SESSION AUTHORIZATION;

-- ------------------------------------------------------- deadlines that nobody can keep
SET clutch.breaker_failures = 3;
SELECT fixture.at(0) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT clutch.send(fixture.says('eve', 'ann', 'task.request', 'task:hurry' || n, orders => '{"deadline": "2026-01-01T12:00:05Z"}', run => 'run:hurry')) FROM generate_series(1, 9) n \g /dev/null
SET SESSION AUTHORIZATION clutch_test_ann;
SELECT count(*) FROM clutch.claim('agent:ann', 4) \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT fixture.at(30) \g /dev/null
SELECT is((SELECT t -> 'timed_out' FROM clutch.tick() t), '9', 'the deadlines of a stranger pass');
SELECT is((SELECT status || ' ' || breaker FROM clutch.agents WHERE agent_id = 'agent:ann'), 'READY closed', 'which says nothing of the agent, whether it has claimed the tasks or not');
SELECT clutch.send(fixture.says('boss', 'ann', 'task.request', 'task:slow' || n, orders => '{"deadline": "2026-01-01T12:01:30Z"}', run => 'run:slow')) FROM generate_series(1, 3) n \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ann', 4, '1 h') \g /dev/null
SELECT fixture.at(100) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT status || ' ' || breaker FROM clutch.agents WHERE agent_id = 'agent:ann'), 'UNAVAILABLE open', 'those that leave it as much time as a lease do');
RESET clutch.clock;
SET clutch.breaker_failures = 0;

-- ------------------------------------------------------ what is small, and there is much of
SELECT clutch.set_quota('clutch_test_eve', 'events_per_minute', 5) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT alike(fixture.whole_error(call), 'KL013 %QUOTA_EXCEEDED%', 'artifacts count as events: ' || call)
FROM unnest(ARRAY[$$SELECT clutch.begin_artifact('text/plain') FROM generate_series(1, 6)$$, $$SELECT clutch.put_artifact(convert_to(n::text, 'UTF8'), 'text/plain') FROM generate_series(1, 6) n$$]) AS c(call);
SELECT is(fixture.fault($$SELECT clutch.subscribe('big', jsonb_build_object('task_id', repeat('x', 2000000)))$$), '22023 TOO_LARGE ', 'the filter of a subscription is held to the limits of an envelope');
RESET SESSION AUTHORIZATION;
SELECT clutch.set_quota('clutch_test_eve', 'events_per_minute', NULL) \g /dev/null

-- ----------------------------------------------------------------------- the audit
SET SESSION AUTHORIZATION clutch_test_op;
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('chat.system', 'agent:orchestrator', payload => '{"by": "alice", "seqs": [[1, 1000]]}', run_id => 'run:audit', payload_type => 'audit.pruned'))$$),
	'42501 NOT_ALLOWED /run_id', 'no operator writes down what the database has done');
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:op', payload => '{"text": "for the record"}', run_id => 'run:audit'))$$), 'no error', 'but may add a remark of its own');
SELECT alike(fixture.whole_error($$SELECT clutch.import('{"{\"clutch_export\": 1, \"run_id\": \"run:audit\", \"events\": 0}"}')$$), '0A000 %NOT_ALLOWED%', 'nor imports what another database has done');
RESET SESSION AUTHORIZATION;

-- --------------------------------------------- a key, and a clock that has been set back
SELECT fixture.at(3600) \g /dev/null
SELECT fixture.add_key('agent:bob', 'k1', 'a', '2026-01-01') \g /dev/null
SELECT clutch.revoke_key('agent:bob', 'k1') \g /dev/null
SELECT fixture.at(0) \g /dev/null
SELECT is(fixture.sent('clutch_test_eve', fixture.signed_note('back', 'agent:bob')), 'KL006 KEY_REVOKED /security/auth/kid', 'a key that is revoked stays revoked when the clock goes back');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check_signature(fixture.signed_note('back', 'agent:bob'))), 'KEY_REVOKED', 'clutch.check_signature says the same of now');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check_signature(fixture.signed_note('back', 'agent:bob'), '2026-01-01 12:30Z')), NULL, 'and judges what was received then by the time');
RESET clutch.clock;

SELECT * FROM finish();
DROP OWNED BY clutch_test_boss, clutch_test_ann, clutch_test_bob, clutch_test_eve, clutch_test_op;
DROP ROLE clutch_test_boss, clutch_test_ann, clutch_test_bob, clutch_test_eve, clutch_test_op;
