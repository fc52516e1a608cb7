-- A task behind an endpoint that ends without its agent is cancelled at the other side.
\ir ../fixtures/tap.sql
SELECT plan(105);

CREATE TEMP TABLE handed (id text, attempt integer, kind text, headers jsonb, body jsonb, wants boolean);
-- what a gateway is handed now, by its kind and method
CREATE FUNCTION fixture.hand() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM handed;
	INSERT INTO handed SELECT c.id, c.attempt, c.kind, c.headers, c.body::jsonb, c.wants_answer FROM clutch.outbox_claim(9, '30 s') c;
	RETURN coalesce((SELECT string_agg(concat_ws(' ', h.kind, coalesce(h.body ->> 'method', h.body ->> 'type')), ', ' ORDER BY h.id) FROM handed h), 'nothing');
END $$;
CREATE FUNCTION fixture.answer(result jsonb, is_last boolean DEFAULT true) RETURNS text LANGUAGE sql AS $$
	SELECT clutch.outbox_done(h.id, h.attempt, 200, response => jsonb_build_object('jsonrpc', '2.0', 'id', h.body -> 'id', 'result', result), is_last => is_last) FROM handed h
$$;
-- what the gateway says of a call that wants no answer
CREATE FUNCTION fixture.sent(status integer DEFAULT 200) RETURNS text LANGUAGE sql AS
$$ SELECT clutch.outbox_done(h.id, h.attempt, status) FROM handed h $$;
-- the calls for a task, in order
CREATE FUNCTION fixture.calls(task text) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(concat_ws(' ', o.kind, o.state, o.failure), ', ' ORDER BY o.no) FROM clutch.outbox o WHERE o.task_id = task $$;

SELECT fixture.at(0);
INSERT INTO clutch.endpoint (name, url, adapter, serves, max_attempts, patience_s, headers) VALUES
	('far', 'https://far.example/a2a', 'a2a', 'agent:far', 2, 100, NULL),
	('old', 'https://old.example/a2a', 'a2a', 'agent:old', 2, 100, '{"A2A-Version": "0.3"}'),
	('tools', 'https://tools.example/mcp', 'mcp', 'agent:tools', 2, 100, NULL),
	('west', 'https://west.example/clutch', 'peer', 'agent:west', 2, 100, NULL),
	('plain', 'https://plain.example/run', 'http', 'agent:plain', 2, 100, NULL);
SELECT fixture.agent(a, 9, ARRAY['skill:' || a]) FROM unnest('{far,old,tools,west,plain,ken}'::text[]) AS a;

-- ------------------------------------------------------------------------ A2A
\set working '{"task": {"id": "theirs-1", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}'
SELECT fixture.ask('task:a', skill => 'skill:far');
SELECT is(fixture.hand(), 'task SendMessage', 'a task is sent to its agent');
SELECT is(fixture.answer(:'working', false), 'pending', 'which makes a task of it');
SELECT clutch.cancel('task:a', 'no longer needed', by_agent => 'agent:ui');
SELECT is(fixture.calls('task:a'), 'task pending, cancel pending', 'if it is cancelled, so is the task of the agent');
SELECT is(fixture.answer(:'working', false), 'void', 'nobody waits for the answer');
SELECT is(fixture.hand(), 'cancel CancelTask', 'a gateway cancels the task');
SELECT is((SELECT concat_ws(' ', body #>> '{params,id}', body #>> '{params,metadata,reason}', headers ->> 'a2a-version', wants) FROM handed), 'theirs-1 no longer needed 1.0 f',
	'by the ID that it has at the other side, and says why');
SELECT is(fixture.sent(), 'sent', 'no answer is awaited');
SELECT is(fixture.state('task:a'), 'cancelled agent:far 1', 'the task remains cancelled');
SELECT is(fixture.hand(), 'nothing', 'it is cancelled once');
SELECT is((SELECT concat_ws(' ', agent_id, run_id = (SELECT run_id FROM clutch.tasks WHERE task_id = 'task:a'), task_attempt, seq = (SELECT seq FROM clutch.events WHERE task_id = 'task:a' AND type = 'task.cancel'))
	FROM clutch.outbox WHERE task_id = 'task:a' AND kind = 'cancel'), 'agent:far t 1 t', 'the call names the agent, the run, the attempt and the event');

SELECT fixture.ask('task:old', skill => 'skill:old');
SELECT fixture.hand();
SELECT fixture.answer('{"kind": "task", "id": "theirs-2", "contextId": "c", "status": {"state": "working"}}', false);
SELECT clutch.cancel('task:old', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel tasks/cancel', 'in version 0.3');
SELECT is((SELECT body #>> '{params,id}' FROM handed), 'theirs-2', 'as well');
SELECT is(fixture.sent(503), 'pending', 'a cancellation that fails');
SELECT fixture.at(5);
SELECT is(fixture.hand(), 'cancel tasks/cancel', 'is tried again');
SELECT is(fixture.sent(503), 'dead', 'and given up like any other call');

-- the task has not been named yet
SELECT fixture.ask('task:b', skill => 'skill:far');
SELECT fixture.hand();
SELECT clutch.cancel('task:b', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'nothing', 'a task cannot be cancelled');
SELECT is(fixture.calls('task:b'), 'task pending, cancel void the ID of the task at the other side is not known', 'that has no name');
SELECT is((SELECT clutch.outbox_done(o.id, 1, 200, response => :'working') FROM clutch.outbox o WHERE o.task_id = 'task:b' AND o.kind = 'task'), 'void', 'and its answer is not taken');

-- nobody has sent the request
SELECT fixture.ask('task:c', skill => 'skill:far');
SELECT clutch.cancel('task:c', by_agent => 'agent:ui');
SELECT is(fixture.calls('task:c'), 'task void nobody waits for the answer any more', 'a request that was not sent is withdrawn at once');
SELECT is(fixture.hand(), 'nothing', 'and nobody is told of it');
SELECT fixture.at(50);
SELECT fixture.ask('task:early', skill => 'skill:west');
SELECT fixture.at(30);
SELECT clutch.cancel('task:early', by_agent => 'agent:ui');
SELECT is(fixture.calls('task:early'), 'task void nobody waits for the answer any more', 'also if the clock was set back, so that the call was not due');

-- it asks, and is answered
SELECT fixture.ask('task:d', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.answer('{"statusUpdate": {"taskId": "theirs-4", "contextId": "c", "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "which?"}]}}}}');
SELECT is(fixture.state('task:d'), 'input_required agent:far 1', 'an agent asks');
SELECT FROM clutch.answer('task:d', '{"text": "that one"}', by_agent => 'agent:ui');
SELECT clutch.cancel('task:d', by_agent => 'agent:ui');
SELECT is(fixture.calls('task:d'), 'task sent, task void nobody waits for the answer any more, cancel pending', 'an answer that was not sent is withdrawn');
SELECT is(fixture.hand(), 'cancel CancelTask', 'but the other side waits for it');
SELECT is((SELECT body #>> '{params,id}' FROM handed), 'theirs-4', 'and is told');
SELECT fixture.sent();
SELECT fixture.ask('task:e', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.answer('{"statusUpdate": {"taskId": "theirs-5", "contextId": "c", "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "which?"}]}}}}');
SELECT clutch.cancel('task:e', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel CancelTask', 'also if there is no answer at all');
SELECT is((SELECT body #>> '{params,id}' FROM handed), 'theirs-5', 'by the ID in the question');
SELECT fixture.sent();

-- it has been answered, but has no slot, or is paused, so it has not got the answer
INSERT INTO clutch.endpoint (name, url, adapter, serves) VALUES ('one', 'https://one.example/a2a', 'a2a', 'agent:one');
SELECT fixture.agent('one', 1, ARRAY['skill:one']);
SELECT fixture.ask('task:full', skill => 'skill:one');
SELECT fixture.hand();
SELECT fixture.answer('{"statusUpdate": {"taskId": "theirs-7", "contextId": "c", "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "which?"}]}}}}');
SELECT fixture.ask('task:next', skill => 'skill:one');
SELECT fixture.hand();
SELECT FROM clutch.answer('task:full', '{"text": "that one"}', by_agent => 'agent:ui');
SELECT is(fixture.state('task:full'), 'pending 2', 'an agent without a free slot does not get the answer yet');
SELECT clutch.cancel('task:full', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel CancelTask', 'but it waits for it, so it is told');
SELECT is((SELECT body #>> '{params,id}' FROM handed), 'theirs-7', 'by the ID in the question');
SELECT fixture.sent();
SELECT clutch.cancel('task:next', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'nothing', 'a task without a question has none');
SELECT fixture.ask('task:both', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
INSERT INTO clutch.events (envelope) SELECT clutch.envelope('task.progress', 'agent:west', run_id => t.run_id, thread_id => t.thread_id, task_id => 'task:both', payload => '{"state": "input_required", "question": "which?"}')
	FROM clutch.tasks t WHERE t.task_id = 'task:both';
BEGIN;
SELECT FROM clutch.answer('task:both', '{"text": "that one"}', by_agent => 'agent:ui');
SELECT clutch.cancel('task:both', by_agent => 'agent:ui');
COMMIT;
SELECT is(fixture.calls('task:both'), 'task sent, cancel pending', 'nor does one whose task is cancelled in the transaction of the answer');
SELECT fixture.hand();
SELECT fixture.sent(202);

-- it waits for something else
SELECT fixture.ask('task:waits', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT clutch.suspend('agent:west', 'task:waits', '{"for_ms": 3600000}');
SELECT clutch.cancel('task:waits', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel task.cancel', 'an agent that has suspended its task is told as well');
SELECT fixture.sent(202);

-- an operator has the request sent again
SELECT fixture.ask('task:again', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT clutch.outbox_retry(id) FROM clutch.outbox WHERE task_id = 'task:again';
SELECT clutch.cancel('task:again', by_agent => 'agent:ui');
SELECT is(fixture.calls('task:again'), 'task void nobody waits for the answer any more, cancel pending', 'a request that has arrived before is withdrawn, and cancelled');
SELECT fixture.hand();
SELECT fixture.sent(202);

-- ---------------------------------------------------------------- other ends
SELECT fixture.at(100);
SELECT fixture.ask('task:due', skill => 'skill:far', orders => '{"deadline": "2026-01-01T12:02:00Z"}');
SELECT fixture.hand();
SELECT fixture.answer('{"task": {"id": "theirs-6", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}', false);
SELECT fixture.at(120);
SELECT clutch.tick();
SELECT is(fixture.state('task:due'), 'timed_out agent:far 1', 'a task that times out');
SELECT is(fixture.hand(), 'cancel CancelTask', 'is cancelled at the other side, too');
SELECT is((SELECT concat_ws(' ', body #>> '{params,id}', body #>> '{params,metadata,reason}') FROM handed), 'theirs-6 the deadline of the request has passed', 'for this reason');
SELECT fixture.sent();

SELECT fixture.ask('task:parent', 'agent:ken', NULL);
SELECT fixture.claimed('agent:ken');
INSERT INTO clutch.events (envelope) SELECT clutch.envelope('task.request', 'agent:ken', run_id => t.run_id, thread_id => t.thread_id, task_id => 'task:child', parent_task_id => 'task:parent', requires => '{skill:west}')
	FROM clutch.tasks t WHERE t.task_id = 'task:parent';
SELECT is(fixture.hand(), 'task task.request', 'a child is sent to another database');
SELECT fixture.sent(202);
SELECT clutch.cancel('task:parent', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel task.cancel', 'which is told when the parent is cancelled');
SELECT is((SELECT concat_ws(' ', body ->> 'task_id', body #>> '{to,0,agent_id}', body #>> '{payload,reason}', body ? 'meta') FROM handed), 'task:child agent:west task "task:parent" above it was cancelled f', 'as of its own task');
SELECT fixture.sent(202);

-- an end that the agent itself has reported, or another agent that tries again
SELECT fixture.ask('task:self', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
INSERT INTO clutch.events (envelope) SELECT clutch.envelope('task.cancel', 'agent:west', run_id => t.run_id, thread_id => t.thread_id, task_id => 'task:self', payload => '{"reason": "no"}')
	FROM clutch.tasks t WHERE t.task_id = 'task:self';
SELECT is(fixture.state('task:self') || ' ' || fixture.hand(), 'cancelled agent:west 1 nothing', 'an agent is not told what it has said');
SELECT fixture.ask('task:done', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT clutch.finish('agent:west', 'task:done');
SELECT is(fixture.hand(), 'nothing', 'nor of a task that is completed');
SELECT fixture.ask('task:late', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT fixture.at(300);
SELECT clutch.tick();
SELECT is(fixture.state('task:late') || ' ' || fixture.hand(), 'running agent:west 2 task task.request', 'nor of an attempt after which the task is tried again');
SELECT fixture.sent(202);
SELECT clutch.cancel('task:late', by_agent => 'agent:ui');
SELECT clutch.retry('task:late', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'task task.request', 'a task that is taken up again');
SELECT is((SELECT failure FROM clutch.outbox WHERE task_id = 'task:late' AND kind = 'cancel'), 'the task goes on', 'is not cancelled any more');
SELECT clutch.finish('agent:west', 'task:late');

SELECT fixture.ask('task:away', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT fixture.at(401);
SELECT clutch.tick();
SELECT clutch.cancel('task:away', by_agent => 'agent:ui');
SELECT is(fixture.calls('task:away'), 'task sent, task void nobody waits for the answer any more, cancel pending', 'an agent may be at work on an attempt whose lease has ended, although the next one was not sent');
SELECT fixture.hand();
SELECT fixture.sent(202);

-- and in A2A, by the ID that it has given then
SELECT fixture.ask(task, skill => 'skill:far') FROM unnest('{task:gone,task:redone}'::text[]) AS task;
SELECT fixture.hand();
SELECT clutch.outbox_done(h.id, h.attempt, 200, is_last => false, response => jsonb_build_object('task', jsonb_build_object('id', 'theirs of ' || o.task_id, 'contextId', 'c', 'status', '{"state": "TASK_STATE_WORKING"}'::jsonb)))
FROM handed h JOIN clutch.outbox o USING (id) ORDER BY o.task_id;
SELECT clutch.fail('agent:far', 'task:redone', 'BUSY', 'try again', attempt => 1) \g /dev/null
SELECT fixture.at(502);
SELECT clutch.tick();
SELECT is(string_agg(t.status || ' ' || t.attempt, ', ' ORDER BY t.task_id), 'running 2, running 2', 'one agent has lost its lease, another has failed') FROM clutch.tasks t WHERE t.task_id IN ('task:gone', 'task:redone');
SELECT clutch.cancel(task, by_agent => 'agent:ui') FROM unnest('{task:gone,task:redone}'::text[]) AS task;
SELECT is(fixture.hand(), 'cancel CancelTask', 'only the one that may be at work is told');
SELECT is((SELECT body #>> '{params,id}' FROM handed), 'theirs of task:gone', 'by the ID from the attempt that it has lost');
SELECT fixture.sent();
SELECT fixture.at(401);

SET clutch.max_lease_losses = 1;
SELECT fixture.ask('task:lost', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT fixture.at(502);
SELECT clutch.tick();
SELECT is(fixture.hand(), 'task task.request', 'a lease that has ended');
SELECT fixture.sent(202);
SELECT fixture.at(603);
SELECT clutch.tick();
SELECT is(fixture.calls('task:lost'), 'task sent, task sent, cancel pending', 'so often that the task fails');
SELECT is(fixture.hand(), 'cancel task.cancel', 'makes nobody need the answer any more');
SELECT is((SELECT body #>> '{payload,reason}' FROM handed), 'its agents lost their lease on it 2 times', 'which is said as well');
SELECT fixture.sent(202);
RESET clutch.max_lease_losses;

-- ------------------------------------------------------------------------ MCP
SELECT fixture.ask('task:m', skill => 'skill:tools');
SELECT is(fixture.hand(), 'task tools/call', 'a tool is called');
SELECT body ->> 'id' AS call_id FROM handed \gset
SELECT clutch.cancel('task:m', 'no longer needed', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel notifications/cancelled', 'the call is cancelled');
SELECT is((SELECT (body -> 'params') - '_meta' FROM handed), jsonb_build_object('requestId', :'call_id', 'reason', 'no longer needed'), 'by its own ID');
SELECT fixture.sent(202);
SELECT fixture.ask('task:n', skill => 'skill:tools');
SELECT fixture.hand();
SELECT fixture.answer('{"resultType": "task", "taskId": "t-9", "status": "working"}', false);
SELECT clutch.cancel('task:n', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel tasks/cancel', 'a task that the server has made');
SELECT is((SELECT body #>> '{params,taskId}' FROM handed), 't-9', 'is cancelled in its place');
SELECT fixture.sent();

SELECT fixture.ask('task:o', skill => 'skill:tools');
SELECT fixture.hand();
SELECT fixture.answer('{"resultType": "task", "taskId": "t-10", "status": "working"}', false);
SELECT fixture.at(800);
SELECT clutch.tick();
SELECT is(fixture.state('task:o') || ' ' || fixture.hand(), 'running agent:tools 2 task tools/call', 'after an attempt that has taken too long');
SELECT clutch.cancel('task:o', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel notifications/cancelled', 'the call is cancelled that is being made, and not the task of the first one');
SELECT fixture.sent(202);

-- a server that has asked by a request of its own is sent the response to it, and is still at work on the first call
CREATE FUNCTION fixture.asks(id integer) RETURNS text LANGUAGE sql AS $$
	SELECT clutch.outbox_done(h.id, h.attempt, 200, response => jsonb_build_object('jsonrpc', '2.0', 'id', asks.id, 'method', 'elicitation/create',
		'params', '{"message": "Which year?", "requestedSchema": {"type": "object"}}'::jsonb), is_last => false) FROM handed h
$$;
SELECT fixture.ask('task:elicits', skill => 'skill:tools');
SELECT fixture.hand();
SELECT body ->> 'id' AS call_id FROM handed \gset
SELECT fixture.asks(0);
SELECT clutch.answer('task:elicits', '{"year": 2026}', by_agent => 'agent:ui');
SELECT fixture.hand();
SELECT is((SELECT body - 'jsonrpc' #- '{result,_meta}' FROM handed), '{"id": 0, "result": {"action": "accept", "content": {"year": 2026}}}', 'a server that has asked gets the response');
SELECT fixture.asks(1);
SELECT clutch.answer('task:elicits', '{"year": 2027}', by_agent => 'agent:ui');
SELECT fixture.hand();
SELECT is((SELECT body - 'jsonrpc' #- '{result,_meta}' FROM handed), '{"id": 1, "result": {"action": "accept", "content": {"year": 2027}}}', 'and may ask again');
SELECT clutch.cancel('task:elicits', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel notifications/cancelled', 'if the task is then cancelled');
SELECT is((SELECT body #>> '{params,requestId}' FROM handed), :'call_id', 'it is the first call that is cancelled, and not the response');
SELECT fixture.sent(202);
-- the call that is repeated with an answer is a call of its own
SELECT fixture.ask('task:inputs', skill => 'skill:tools');
SELECT fixture.hand();
SELECT fixture.answer('{"resultType": "input_required", "inputRequests": {"who": {"method": "elicitation/create", "params": {"message": "who?"}}}, "requestState": "s-1"}');
SELECT clutch.answer('task:inputs', '{"input_responses": {"who": {"action": "accept"}}}', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'task tools/call', 'a call that is repeated with the answer');
SELECT body ->> 'id' AS call_id FROM handed \gset
SELECT clutch.cancel('task:inputs', by_agent => 'agent:ui');
SELECT fixture.hand();
SELECT is((SELECT body #>> '{params,requestId}' FROM handed), :'call_id', 'is cancelled by its own ID');
SELECT fixture.sent(202);

-- what an agent may be at work on although the task is not with it: an attempt that has taken too long
SELECT fixture.agent('west', 9, '{skill:west}', '{"max_runtime_sec": 20}');
SET clutch.breaker_failures = 0;
CREATE FUNCTION fixture.slow(task text, seconds integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fixture.ask(task, skill => 'skill:west', orders => '{"retry": {"max": 3, "initial_ms": 60000}}');
	PERFORM fixture.settle();
	PERFORM fixture.hand(), fixture.sent(202);
	PERFORM fixture.at(seconds);
	PERFORM clutch.tick();
	RETURN fixture.state(task);
END $$;
SELECT is(fixture.slow('task:slow', 821), 'pending 2', 'an attempt that has taken too long is to be made again later');
SELECT is(fixture.hand(), 'nothing', 'so the agent is not told');
SELECT is(fixture.calls('task:slow'), 'task sent, cancel void the task goes on', 'while the task goes on');
SELECT clutch.cancel('task:slow', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel task.cancel', 'but if the task is then cancelled');
SELECT fixture.sent(202);
SELECT is(fixture.calls('task:slow'), 'task sent, cancel sent', 'by the same call');
SELECT is(fixture.slow('task:slower', 842), 'pending 2', 'if no gateway has looked meanwhile');
SELECT clutch.cancel('task:slower', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel task.cancel', 'it is told');
SELECT fixture.sent(202);
SELECT is(fixture.calls('task:slower'), 'task sent, cancel sent', 'once');
SELECT fixture.agent('west', 9, '{skill:west}');
-- or one that it has ended itself
SELECT fixture.ask('task:busy', skill => 'skill:west', orders => '{"retry": {"max": 3, "initial_ms": 60000}}');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT clutch.fail('agent:west', 'task:busy', 'BUSY', 'try again', retryable => true) \g /dev/null
SELECT clutch.cancel('task:busy', by_agent => 'agent:ui');
SELECT is(fixture.hand() || ', ' || fixture.calls('task:busy'), 'nothing, task sent', 'an agent that has failed is not told');
SELECT fixture.ask('task:ended', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT clutch.cancel('task:ended', by_agent => 'agent:ui');
SELECT late FROM clutch.finish('agent:west', 'task:ended') \g /dev/null
SELECT is(fixture.hand() || ', ' || fixture.calls('task:ended'), 'nothing, task sent, cancel void the agent has ended its work on the task itself', 'nor is one that reports its end before a gateway claims the call');
CREATE FUNCTION fixture.hand_over(task text, who text, whom text) RETURNS void LANGUAGE sql AS $$
	INSERT INTO clutch.events (envelope) SELECT clutch.envelope('task.request', who, ARRAY[whom], run_id => t.run_id, thread_id => t.thread_id, task_id => t.task_id) FROM clutch.tasks t WHERE t.task_id = task
$$;
SELECT fixture.ask(task, skill => 'skill:west') FROM unnest('{task:given,task:taken}'::text[]) AS task;
SELECT fixture.hand();
SELECT clutch.outbox_done(h.id, h.attempt, 202) FROM handed h;
SELECT fixture.hand_over('task:given', 'agent:west', 'agent:tools'), fixture.hand_over('task:taken', 'agent:orchestrator', 'agent:tools');
SELECT clutch.cancel(task, by_agent => 'agent:ui') FROM unnest('{task:given,task:taken}'::text[]) AS task;
SELECT is(fixture.hand(), 'cancel task.cancel', 'nor is one that has handed the task over, but one from which it was taken');
SELECT is((SELECT body ->> 'task_id' FROM handed), 'task:taken', 'is, as nobody else has got it');
SELECT fixture.sent(202);
-- or it has lost its lease, and no agent gets the task
SELECT fixture.ask('task:idle', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT clutch.pause('agent:west');
SELECT fixture.at(943);
SELECT clutch.tick();
SELECT is(fixture.state('task:idle'), 'pending 2', 'an agent has lost its lease, and is paused');
SELECT clutch.cancel('task:idle', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel task.cancel', 'it is told');
SELECT fixture.sent(202);
SELECT clutch.resume('agent:west');
-- or it has suspended the task, and has not got it again
SELECT fixture.ask('task:woken', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT clutch.suspend('agent:west', 'task:woken', '{"for_ms": 1000}');
SELECT fixture.at(945);
SELECT clutch.tick();
SELECT is(fixture.state('task:woken'), 'running agent:west 2', 'a task that was suspended goes on');
SELECT clutch.cancel('task:woken', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel task.cancel', 'its agent waits for the call, and is told');
SELECT fixture.sent(202);
-- or the task was cancelled and retried before
SELECT fixture.ask('task:wanted', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT clutch.pause('agent:west');
SELECT clutch.cancel('task:wanted', by_agent => 'agent:ui');
SELECT clutch.retry('task:wanted', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'nothing', 'an agent whose task is retried is not told that it was cancelled');
SELECT clutch.cancel('task:wanted', by_agent => 'agent:ui');
SELECT is(fixture.calls('task:wanted'), 'task sent, cancel pending', 'but it is if the task is cancelled again');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT is(fixture.calls('task:wanted'), 'task sent, cancel sent', 'once');
SELECT clutch.retry('task:wanted', by_agent => 'agent:ui');
SELECT clutch.cancel('task:wanted', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'nothing', 'and not for each time');
UPDATE clutch.outbox SET state = 'dead' WHERE task_id = 'task:wanted' AND kind = 'cancel';
SELECT clutch.retry('task:wanted', by_agent => 'agent:ui');
SELECT clutch.cancel('task:wanted', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel task.cancel', 'unless that could not be sent');
SELECT fixture.sent(202);
SELECT clutch.resume('agent:west');
SELECT fixture.ask('task:unsent', skill => 'skill:tools');
SELECT fixture.hand();
SELECT fixture.answer('{"resultType": "task", "taskId": "t-11", "status": "working"}', false);
SELECT fixture.at(1046);
SELECT clutch.tick();
SELECT clutch.cancel('task:unsent', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'cancel tasks/cancel', 'if the next attempt was not sent');
SELECT is((SELECT body #>> '{params,taskId}' FROM handed), 't-11', 'an MCP server is told of the task from the one before');
SELECT fixture.sent();

-- or its call was given up, so nobody knows whether it is at work
SELECT fixture.ask('task:silent-' || a, skill => 'skill:' || a, orders => '{"retry": {"max": 1, "initial_ms": 60000}}') FROM unnest('{far,west}'::text[]) AS a;
SELECT fixture.hand();
SELECT clutch.outbox_done(h.id, h.attempt, 200, is_last => false, response => '{"task": {"id": "theirs-12", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}') FROM handed h JOIN clutch.outbox o USING (id) WHERE o.task_id = 'task:silent-far';
SELECT clutch.outbox_done(h.id, h.attempt, failure => 'the stream has broken off') FROM handed h;
SELECT fixture.at(1055);
SELECT fixture.hand();
SELECT is((SELECT string_agg(clutch.outbox_done(h.id, h.attempt, failure => 'no answer'), ' ') FROM handed h), 'dead dead', 'two calls are given up');
SELECT is(fixture.state('task:silent-far') || ', ' || fixture.state('task:silent-west'), 'pending 2, pending 2', 'and their tasks are to be tried again');
SELECT clutch.cancel('task:silent-' || a, by_agent => 'agent:ui') FROM unnest('{far,west}'::text[]) AS a;
SELECT is(fixture.hand(), 'cancel task.cancel, cancel CancelTask', 'if they are cancelled, their agents are told, which may be at work');
SELECT is((SELECT string_agg(coalesce(body #>> '{params,id}', body ->> 'task_id'), ', ' ORDER BY id) FROM handed), 'task:silent-west, theirs-12', 'by what the other side has called it');
SELECT fixture.sent();

-- a reason is a text
SELECT fixture.ask('task:odd', skill => 'skill:tools');
SELECT fixture.hand();
INSERT INTO clutch.events (envelope) SELECT clutch.envelope('task.cancel', 'agent:ui', run_id => t.run_id, thread_id => t.thread_id, task_id => 'task:odd', payload => '{"reason": 5, "message": {"text": "no"}}')
	FROM clutch.tasks t WHERE t.task_id = 'task:odd';
SELECT fixture.hand();
SELECT is((SELECT body #> '{params,reason}' FROM handed), NULL, 'a reason that is no text is not sent');
SELECT fixture.sent(202);

-- ------------------------------------- an endpoint that is replaced meanwhile
SELECT fixture.ask('task:left', skill => 'skill:west');
SELECT fixture.hand();
SELECT fixture.sent(202);
SELECT clutch.cancel('task:left', by_agent => 'agent:ui');
SELECT fixture.ask('task:waits-on', skill => 'skill:west');
DELETE FROM clutch.endpoint WHERE name = 'west';
INSERT INTO clutch.endpoint (name, url, adapter, serves) VALUES ('west2', 'https://west.example/clutch', 'peer', 'agent:west');
SELECT is(fixture.hand(), 'task task.request, cancel task.cancel', 'the calls to an agent go to the endpoint that serves it now');
SELECT is((SELECT string_agg(o.endpoint, ' ') FROM clutch.outbox o JOIN handed USING (id)), 'west2 west2', 'and belong to it');
SELECT is((SELECT string_agg(clutch.outbox_done(h.id, h.attempt, 202), ' ') FROM handed h), 'sent sent', 'so their outcomes are taken');
UPDATE clutch.endpoint SET name = 'west' WHERE name = 'west2';

-- IDs that were chosen to have the same hash
SELECT is(hashtextextended('msg_attackerbk/A2ZG1Ld~' COLLATE "C", 0), hashtextextended('msg_victim' COLLATE "C", 0), 'two IDs have the same hash');
SELECT fixture.ask(task, skill => 'skill:west') FROM unnest('{msg_attackerbk/A2ZG1Ld~,msg_victim}'::text[]) AS task;
SELECT is(fixture.hand(), 'task task.request, task task.request', 'two tasks that have them are sent at the same time');
SELECT fixture.sent(202);
SELECT clutch.cancel(task, by_agent => 'agent:ui') FROM unnest('{msg_attackerbk/A2ZG1Ld~,msg_victim}'::text[]) AS task;
SELECT is(fixture.hand(), 'cancel task.cancel, cancel task.cancel', 'each of them is cancelled');

-- -------------------------------------------------------------- nobody to tell
SELECT fixture.ask('task:p', skill => 'skill:plain');
SELECT fixture.hand();
SELECT clutch.cancel('task:p', by_agent => 'agent:ui');
SELECT is(fixture.calls('task:p'), 'task pending', 'a protocol without a cancellation');
SELECT fixture.ask('task:changed', skill => 'skill:west');
SELECT fixture.hand();
SELECT clutch.cancel('task:changed', by_agent => 'agent:ui');
UPDATE clutch.endpoint SET adapter = 'http' WHERE name = 'west';
SELECT is(fixture.hand() || ', ' || fixture.calls('task:changed'), 'nothing, task pending, cancel void the adapter of the endpoint has no cancellation', 'or one that the endpoint has been given meanwhile');
SELECT fixture.ask('task:q', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.answer('{"task": {"id": "theirs-8", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}', false);
SELECT clutch.cancel('task:q', by_agent => 'agent:ui');
UPDATE clutch.endpoint SET serves = NULL WHERE name = 'far';
SELECT is(fixture.hand(), 'nothing', 'an endpoint that does not serve the agent any more');
SELECT is((SELECT failure FROM clutch.outbox WHERE task_id = 'task:q' AND kind = 'cancel'), 'endpoint "far" does not serve "agent:far" any more', 'is not told about its tasks');
SELECT is((SELECT count(*) FROM clutch.check() WHERE code NOT IN ('OUTBOX_OVERDUE')), 0::bigint, 'and all is well');

SELECT * FROM finish();
