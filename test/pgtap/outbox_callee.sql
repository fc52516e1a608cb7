-- Agents and tools behind an endpoint: a task becomes a call, and its answer a report.
\ir ../fixtures/tap.sql
\ir ../fixtures/ed25519.sql
\ir ../fixtures/signed.sql
SELECT plan(298);

CREATE TEMP TABLE handed (id text, attempt integer, kind text, headers jsonb, body jsonb, wants boolean);
-- what a gateway is handed now, by the method and what it names
CREATE FUNCTION fixture.hand() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM handed;
	INSERT INTO handed SELECT c.id, c.attempt, c.kind, c.headers, c.body::jsonb, c.wants_answer FROM clutch.outbox_claim(9, '30 s') c;
	RETURN coalesce((SELECT string_agg(concat_ws(' ', h.kind, h.body ->> 'method', h.body #>> '{params,name}', h.attempt), ', ' ORDER BY h.id) FROM handed h), 'nothing');
END $$;
CREATE FUNCTION fixture.answer(response jsonb DEFAULT NULL, is_last boolean DEFAULT true, status integer DEFAULT 200) RETURNS text LANGUAGE sql AS
$$ SELECT clutch.outbox_done(h.id, h.attempt, status, response => response, is_last => is_last) FROM handed h $$;
-- the response to what was handed out
CREATE FUNCTION fixture.result(content jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('jsonrpc', '2.0', 'id', h.body -> 'id', 'result', content) FROM handed h $$;
CREATE FUNCTION fixture.last(task text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', e.type, e.from_agent, e.to_agents[1], e.envelope ->> 'payload') FROM clutch.events e WHERE e.task_id = task ORDER BY e.seq DESC LIMIT 1 $$;

SELECT fixture.at(0);
INSERT INTO clutch.endpoint (name, url, adapter, serves, max_attempts, first_pause_s, patience_s, agents) VALUES
	('far', 'https://far.example/mcp', 'mcp', 'agent:far', 2, 10, 100, '{}'),
	('plain', 'https://plain.example/run', 'http', 'agent:plain', 2, 10, 100, '{}'),
	('files', 'https://files.example/mcp', 'mcp', 'agent:mcp.files', 1, 10, 100, '{agent:ken}');
SELECT fixture.agent('far', 4, ARRAY['skill:far']), fixture.agent('ken', 4, ARRAY['skill:ken', 'tool:files']);
SELECT is((SELECT string_agg(c.code || ': ' || c.detail, ', ') FROM clutch.check() c), 'ENDPOINT_BROKEN: endpoint plain serves agent:plain, which is not registered, so no task is given to it',
	'an endpoint that serves an agent which nobody has registered is reported, but none for tools');
SELECT fixture.agent('plain', 4, ARRAY['skill:plain']);
SELECT is_empty($$SELECT * FROM clutch.check()$$, 'until it is registered');

-- ------------------------------------------------------------------- a result
SELECT fixture.ask('task:a', skill => 'skill:far');
SELECT is(fixture.state('task:a'), 'running agent:far 1', 'a task is accepted in the name of its agent');
SELECT is((SELECT fixture.since_noon(lease_until) FROM clutch.tasks WHERE task_id = 'task:a'), 100.000, 'for as long as the endpoint has patience');
SELECT is((SELECT concat_ws(' ', endpoint, state, kind, agent_id, task_id, task_attempt) FROM clutch.outbox), 'far pending task agent:far task:a 1', 'and becomes a call');
SELECT is(fixture.hand(), 'task tools/call skill.far 1', 'which a gateway is handed in the dialect of the endpoint');
SELECT is((SELECT concat_ws(' ', wants, headers ->> 'accept', body #> '{params,arguments}') FROM handed), 't application/json, text/event-stream {"q": 1}', 'with the payload');
SELECT is(fixture.answer(fixture.result('{"content": [{"type": "text", "text": "42"}]}')), 'sent', 'its answer');
SELECT is(fixture.state('task:a'), 'completed agent:far 1', 'ends the task');
SELECT is(fixture.last('task:a'), 'task.result agent:far agent:ui {"text": "42"}', 'by a result of the agent');
SELECT is(fixture.answer(fixture.result('{"content": [{"type": "text", "text": "43"}]}')), 'lost', 'once');

-- --------------------------------------------------------------- streamed progress
SELECT fixture.ask('task:b', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.at(60);
SELECT is(fixture.answer('{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "x", "progress": 1, "total": 2, "message": "half"}}', false), 'pending', 'a part of an answer');
SELECT is(fixture.last('task:b'), 'task.progress agent:far agent:ui {"total": 2, "message": "half", "progress": 1}', 'is progress');
SELECT is((SELECT fixture.since_noon(lease_until) FROM clutch.tasks WHERE task_id = 'task:b'), 160.000, 'and patience begins anew');
SELECT fixture.at(120);
SELECT is(fixture.hand(), 'nothing', 'nobody else is handed the call meanwhile');
INSERT INTO handed SELECT o.id, o.attempt, o.kind, NULL, jsonb_build_object('id', 'x'), true FROM clutch.outbox o WHERE o.task_id = 'task:b';
SELECT is(fixture.answer('{"jsonrpc": "2.0", "id": "x", "result": {"content": [], "structuredContent": {"sum": 3}}}'), 'sent', 'the rest');
SELECT is(fixture.last('task:b'), 'task.result agent:far agent:ui {"content": [], "structured": {"sum": 3}}', 'is the result');

-- --------------------------------------------------------------------- errors
SELECT fixture.ask('task:c', skill => 'skill:far', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT is(fixture.answer((SELECT jsonb_build_object('jsonrpc', '2.0', 'id', body -> 'id', 'error', '{"code": -32602, "message": "no such thing"}'::jsonb) FROM handed)), 'sent', 'an error is an answer, too');
SELECT is((SELECT concat_ws(' ', status, code, detail) FROM clutch.tasks WHERE task_id = 'task:c'), 'failed INVALID_PARAMS no such thing', 'which fails the task');
-- a server that could not read the request does not know its ID
SELECT fixture.ask('task:unread', skill => 'skill:far', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT is(fixture.answer('{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}}'), 'sent', 'an error that names no request');
SELECT is((SELECT concat_ws(' ', status, code, detail) FROM clutch.tasks WHERE task_id = 'task:unread'), 'failed PARSE_ERROR Parse error', 'fails the task, too');

SELECT fixture.at(200);
SELECT fixture.ask('task:d', skill => 'skill:far', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT is(fixture.answer(NULL, true, 503), 'pending', 'the other side does not work');
SELECT is(fixture.state('task:d'), 'running agent:far 1', 'the task is still running');
SELECT fixture.at(210);
SELECT is(fixture.hand(), 'task tools/call skill.far 2', 'the call is tried again');
SELECT is((SELECT clutch.outbox_done(id, attempt, failure => 'connection refused') FROM handed), 'dead', 'and given up');
SELECT is((SELECT concat_ws(' ', status, code, detail) FROM clutch.tasks WHERE task_id = 'task:d'), 'failed UNAVAILABLE connection refused', 'which fails the task');
SELECT is((SELECT e.envelope #>> '{payload,retryable}' FROM clutch.events e WHERE e.task_id = 'task:d' AND e.type = 'task.error'), 'true', 'which may be tried again');

-- the task is tried again, by another call
SELECT fixture.ask('task:e', skill => 'skill:far', orders => '{"retry": {"max": 1, "initial_ms": 1000}}');
SELECT fixture.hand();
SELECT fixture.answer(NULL, true, 410);
SELECT fixture.at(215);
SELECT clutch.tick();
SELECT is(fixture.state('task:e'), 'running agent:far 2', 'a second attempt of the task');
SELECT is(fixture.hand(), 'task tools/call skill.far 1', 'is another call');
SELECT is(fixture.answer(fixture.result('{"content": [{"type": "text", "text": "ok"}]}')), 'sent', 'which may succeed');
SELECT is(fixture.state('task:e'), 'completed agent:far 2', 'and so does the task');

-- a request that the other side understands, and does not accept
SELECT fixture.ask('task:wrong', skill => 'skill:plain');
SELECT fixture.hand();
SELECT is(fixture.answer('{"detail": "n is missing"}', true, 422), 'dead', 'what the other side does not accept is not sent again');
SELECT is((SELECT concat_ws(' ', status, code, detail) FROM clutch.tasks WHERE task_id = 'task:wrong'), 'failed REJECTED HTTP status 422', 'and the task fails');
SELECT is((SELECT e.envelope #>> '{payload,retryable}' FROM clutch.events e WHERE e.task_id = 'task:wrong' AND e.type = 'task.error'), 'false', 'which would fail again');
SELECT is_empty($$SELECT * FROM clutch.breakers WHERE agent_id = 'agent:plain'$$, 'this does not count against the agent');

-- patience would end before the next attempt
SELECT fixture.at(300);
SELECT fixture.ask('task:r', skill => 'skill:far', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT fixture.at(395);
UPDATE clutch.outbox SET due_at = clutch.now() + interval '1 min', lease_until = clutch.now() + interval '1 min' WHERE task_id = 'task:r';
SELECT is(fixture.answer(NULL, true, 503), 'dead', 'a call that could be tried again only after the patience is over');
SELECT is((SELECT concat_ws(' ', status, code, detail) FROM clutch.tasks WHERE task_id = 'task:r'), 'failed UNAVAILABLE HTTP status 503', 'is given up at once');

-- a gateway that has a call for longer than that
SELECT fixture.ask('task:s', skill => 'skill:far');
SELECT FROM clutch.outbox_claim(9, '1 h');
SELECT clutch.outbox_done(o.id, 1, 200, response => '{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "x", "progress": 1}}', is_last => false) FROM clutch.outbox o WHERE o.task_id = 'task:s';
SELECT is((SELECT fixture.since_noon(lease_until) FROM clutch.outbox WHERE task_id = 'task:s'), 3995.000, 'keeps it when it reports progress');
SELECT FROM clutch.outbox o, clutch.outbox_done(o.id, 1, 200, response => '{"jsonrpc": "2.0", "id": 1, "result": {"content": []}}') WHERE o.task_id = 'task:s';

-- a call that cannot be made, and one for an attempt that is over
SELECT fixture.ask('task:t', skill => 'skill:far', orders => '{"retry": {"max": 0}}');
UPDATE clutch.outbox SET seq = 999999 WHERE task_id = 'task:t';
SELECT is(fixture.hand(), 'nothing', 'a call that cannot be made');
SELECT is((SELECT concat_ws(' ', status, code, detail) FROM clutch.tasks WHERE task_id = 'task:t'), 'failed UNAVAILABLE event 999999 is not in the log any more', 'fails the task');
SELECT fixture.ask('task:u', skill => 'skill:far');
SELECT FROM clutch.outbox_claim(9, '1 h');
SELECT fixture.at(500);
SELECT clutch.tick();
SELECT is(fixture.state('task:u'), 'running agent:far 2', 'a task whose patience is over is called for again');
SELECT is((SELECT string_agg(clutch.outbox_done(o.id, o.attempt, 200, response => '{"jsonrpc": "2.0", "id": 1, "result": {"content": []}}'), ' ') FROM clutch.outbox o WHERE o.task_id = 'task:u' AND o.task_attempt = 1), 'void', 'the answer to the first call');
SELECT is(fixture.state('task:u'), 'running agent:far 2', 'is not that to the second');
SELECT is(fixture.hand(), 'task tools/call skill.far 1', 'which is made');
SELECT fixture.answer(fixture.result('{"content": []}'));

-- --------------------------------------------------- answers that nobody wants
SELECT fixture.ask('task:f', skill => 'skill:far');
SELECT fixture.hand();
SELECT clutch.cancel('task:f', by_agent => 'agent:ui');
SELECT is(fixture.answer(fixture.result('{"content": []}'), false), 'void', 'a gateway is told that the task was cancelled');
SELECT is(fixture.state('task:f'), 'cancelled agent:far 1', 'which it remains');
SELECT is(fixture.hand(), 'cancel notifications/cancelled 1', 'as the other side is');
SELECT FROM handed h, clutch.outbox_done(h.id, h.attempt, 202);
SELECT fixture.ask('task:g', skill => 'skill:far');
SELECT clutch.cancel('task:g', by_agent => 'agent:ui');
SELECT is(fixture.hand(), 'nothing', 'and a call that is not wanted any more is not made');
SELECT is((SELECT state FROM clutch.outbox WHERE task_id = 'task:g'), 'void', 'it is void');

-- ---------------------------------------------- an answer reaches its own task only
SELECT fixture.ask('task:victim', 'agent:ken', NULL);
SELECT fixture.claimed('agent:ken');
SELECT fixture.ask('task:h', skill => 'skill:far', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT count(*) AS before FROM clutch.events \gset
SELECT is(fixture.answer(fixture.result('{"taskId": "task:victim", "status": "completed"}')), 'sent', 'an answer that names another task');
SELECT is(fixture.state('task:victim'), 'running agent:ken 1', 'does not touch it');
SELECT is(fixture.state('task:h'), 'completed agent:far 1', 'and ends its own');
SELECT fixture.ask('task:i', skill => 'skill:far', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT fixture.answer('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "clutch.task_cancel", "arguments": {"task_id": "task:victim"}}}');
SELECT is(fixture.state('task:victim'), 'running agent:ken 1', 'nor does one that would cancel it');
SELECT is(fixture.state('task:i'), 'failed agent:far 1', 'which ends its own');
SELECT fixture.ask('task:j', skill => 'skill:far', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT is(fixture.answer('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "clutch.send", "arguments": {"type": "task.request", "payload": {}, "to": ["agent:ken"]}}}'), 'dead', 'an answer that is a request');
SELECT is((SELECT concat_ws(' ', status, code) FROM clutch.tasks WHERE task_id = 'task:j'), 'failed INVALID_ANSWER', 'is none');
SELECT is((SELECT string_agg(DISTINCT e.task_id, ',') FROM clutch.events e WHERE e.from_agent = 'agent:far' AND e.seq > (SELECT min(seq) FROM clutch.events WHERE task_id = 'task:victim') AND e.type LIKE 'task.%' AND e.task_id = 'task:victim'), NULL, 'nothing is said of the other task in its name');

-- one whose deadline passes before it is called for
BEGIN;
SELECT fixture.ask('task:due', skill => 'skill:far', orders => '{"deadline": "2026-01-01T12:30:00Z", "retry": {"max": 0}}');
SELECT set_config('clutch.clock', '2026-01-01T12:31:00Z', true);
COMMIT;
SELECT is((SELECT string_agg(o.state, ',') FROM clutch.outbox o WHERE o.task_id = 'task:due'), NULL, 'nobody is called for a task whose deadline has passed');
SELECT is(fixture.state('task:due'), 'timed_out agent:far 1', 'which is over');

-- ------------------------------------------------------------------ plain http
SELECT fixture.ask('task:k', skill => 'skill:plain');
SELECT fixture.hand();
SELECT is(fixture.answer('{"sum": 5}'), 'sent', 'an endpoint of http may answer with any JSON');
SELECT is(fixture.last('task:k'), 'task.result agent:plain agent:ui {"sum": 5}', 'which is the payload of the result');
SELECT fixture.ask('task:k2', skill => 'skill:plain');
SELECT fixture.hand();
SELECT fixture.answer('{"sum": 5, "password": "hunter2", "sources": ["https://user:word@far.example/x"]}');
SELECT is(fixture.last('task:k2'), 'task.result agent:plain agent:ui {"sum": 5, "sources": []}', 'without credentials');
SELECT is((SELECT e.envelope #> '{meta,http,dropped}' FROM clutch.events e WHERE e.task_id = 'task:k2' AND e.type = 'task.result'),
	'["/sources/0", "/password"]', 'which are named');
SELECT fixture.ask('task:k3', skill => 'skill:plain');
SELECT fixture.hand();
SELECT fixture.answer('"Bearer abcdefgh12345678"');
SELECT is(fixture.last('task:k3'), 'task.result agent:plain agent:ui {}', 'even if that is all');
SELECT fixture.ask('task:k4', skill => 'skill:plain');
SELECT fixture.hand();
SELECT is(fixture.answer('{"type": "sum", "timestamp": "1764300000", "data": 5}'), 'sent', 'or has the members of a webhook');
SELECT is(fixture.last('task:k4'), 'task.result agent:plain agent:ui {"data": 5, "type": "sum", "timestamp": "1764300000"}', 'with other values than a webhook has');
SELECT fixture.ask('task:k5', skill => 'skill:plain');
SELECT fixture.hand();
SELECT is(fixture.answer('{"state": "suspended", "job": 7}', false), 'pending', 'what would suspend the task');
SELECT is(fixture.last('task:k5'), 'task.progress agent:plain agent:ui {"data": {"job": 7, "state": "suspended"}}', 'is set apart in progress');
SELECT is(fixture.answer('{"state": "suspended", "job": 7}'), 'sent', 'at the end of an answer');
SELECT is(fixture.last('task:k5'), 'task.result agent:plain agent:ui {"job": 7, "state": "suspended"}', 'it is a result like any other');
SELECT fixture.ask('task:l', skill => 'skill:plain');
SELECT fixture.hand();
SELECT is(fixture.answer(NULL, true, 202), 'sent', 'or accept the task');
SELECT is(fixture.state('task:l'), 'running agent:plain 1', 'which goes on until somebody reports for the agent');
SELECT fixture.ask('task:m', skill => 'skill:plain', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT is(fixture.answer(NULL, true, 204), 'dead', 'but an answer without a result is none');

-- ------------------------------------------------------------- a crew of crewAI
INSERT INTO clutch.endpoint (name, url, adapter, serves) VALUES ('crew', 'https://crew.example/kickoff', 'crewai', 'agent:crew');
SELECT fixture.agent('crew', 9, ARRAY['skill:crew']);
CREATE FUNCTION fixture.event(type text, id text, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('type', type, 'event_id', id, 'timestamp', '2026-02-01T10:20:30Z') || more $$;
CREATE TABLE crewed (no integer, event jsonb);
INSERT INTO crewed VALUES (1, fixture.event('crew_kickoff_started', 'e1', '{"inputs": {"q": 1}}')),
	(2, fixture.event('task_started', 'e2', '{"task_id": "t1", "parent_event_id": "e1"}')),
	(3, fixture.event('tool_usage_started', 'e3', '{"task_id": "t1", "tool_name": "search", "tool_args": {"q": 1}}')),
	(4, fixture.event('llm_stream_chunk', 'e4', '{"chunk": "w"}')),
	(5, fixture.event('tool_usage_finished', 'e5', '{"task_id": "t1", "started_event_id": "e3", "tool_name": "search", "output": "found"}')),
	(6, fixture.event('task_completed', 'e6', '{"task_id": "t1", "started_event_id": "e2", "output": "first", "state": "x"}')),
	(7, fixture.event('task_failed', 'e7', '{"task_id": "t2", "error": "no ink"}')),
	(8, fixture.event('crew_kickoff_completed', 'e8', '{"started_event_id": "e1", "output": "the end"}'));
CREATE FUNCTION fixture.reports(task text) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(concat_ws(' ', e.type, e.envelope #>> '{meta,crewai,type}'), ', ' ORDER BY e.seq) FROM clutch.events e WHERE e.task_id = task AND e.from_agent = 'agent:crew' $$;
\set told 'task.accept, task.progress crew_kickoff_started, task.progress task_started, task.progress tool_usage_started, task.progress tool_usage_finished, task.progress task_completed, task.progress task_failed, task.result crew_kickoff_completed'
SELECT fixture.ask('task:crew' || n, skill => 'skill:crew') FROM generate_series(1, 3) AS n;
SELECT fixture.hand();
SELECT is((SELECT string_agg(clutch.outbox_done(h.id, h.attempt, 200, response => (SELECT jsonb_agg(c.event ORDER BY c.no) FROM crewed c)), ' ') FROM handed h JOIN clutch.outbox o USING (id) WHERE o.task_id = 'task:crew1'), 'sent', 'a crew may answer with all its events');
SELECT is(fixture.reports('task:crew1'), :'told', 'its tasks and tools are progress, also those that fail');
SELECT is((SELECT payload ->> 'output' FROM clutch.result('task:crew1')), 'the end', 'and the crew has the result');
SELECT is((SELECT e.envelope -> 'payload' FROM clutch.events e WHERE e.task_id = 'task:crew1' AND e.envelope #>> '{meta,crewai,type}' = 'task_completed'), '{"data": {"state": "x", "output": "first"}}', 'the result of one of them is no order');
SELECT is((SELECT string_agg(clutch.outbox_done(h.id, h.attempt, 200, response => c.event, is_last => c.no = 8), ' ' ORDER BY c.no) FROM crewed c, handed h JOIN clutch.outbox o USING (id) WHERE o.task_id = 'task:crew2'),
	'pending pending pending pending pending pending pending sent', 'or report them one by one');
SELECT is(fixture.reports('task:crew2'), :'told', 'with the same outcome');
SELECT is((SELECT clutch.outbox_done(h.id, h.attempt, 200, response => c.event) FROM crewed c, handed h JOIN clutch.outbox o USING (id) WHERE o.task_id = 'task:crew3' AND c.no = 6), 'sent', 'an answer that is one event');
SELECT is(fixture.last('task:crew3'), 'task.result agent:crew agent:ui {"state": "x", "output": "first"}', 'is the result');
SELECT fixture.ask('task:crew4', skill => 'skill:crew');
SELECT fixture.hand();
SELECT is((SELECT clutch.outbox_done(h.id, h.attempt, 200, response => c.event) || ' ' || fixture.state('task:crew4') FROM crewed c, handed h JOIN clutch.outbox o USING (id) WHERE o.task_id = 'task:crew4' AND c.no = 3), 'sent running agent:crew 1', 'but not one that is only progress');
INSERT INTO clutch.endpoint (name, url, adapter, serves, agents) VALUES ('shelf', 'https://shelf.example/tool', 'crewai', 'agent:mcp.shelf', '{agent:ken}');
SELECT fixture.agent('ken', 4, ARRAY['skill:ken', 'tool:files', 'tool:shelf']);
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', '{agent:ken}', '{"tool": "mcp:shelf/search", "args": {}}', task_id => 'task:shelf', run_id => 'run:shelf')) \g /dev/null
SELECT fixture.hand();
SELECT is((SELECT string_agg(clutch.outbox_done(h.id, h.attempt, 200, response => c.event, is_last => false), ' ' ORDER BY c.no) FROM crewed c, handed h WHERE c.no IN (3, 5)), 'pending sent', 'a tool behind such an endpoint answers as others do');
SELECT is(fixture.last('task:shelf'), 'tool.result agent:mcp.shelf agent:ken {"output": "found", "tool_name": "search"}', 'with its result');

-- ----------------------------------------------------------------------- A2A
INSERT INTO clutch.endpoint (name, url, adapter, serves, patience_s) VALUES ('peer', 'https://peer.example/a2a', 'a2a', 'agent:peer', 100);
SELECT fixture.agent('peer', 4, ARRAY['skill:peer']);
SELECT fixture.ask('task:n', skill => 'skill:peer');
SELECT is(fixture.hand(), 'task SendMessage 1', 'an A2A agent is sent a message');
SELECT is(fixture.answer(fixture.result('{"task": {"id": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING"}}}'), false), 'pending', 'which begins a task there');
SELECT is(fixture.answer(fixture.result('{"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_COMPLETED", "message": {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": "done"}]}}}}'), false), 'sent', 'and tells when it is over');
SELECT is(fixture.state('task:n'), 'completed agent:peer 1', 'and so is ours');
SELECT is((SELECT concat_ws(' ', e.type, e.from_agent, e.run_id) FROM clutch.events e WHERE e.task_id = 'task:n' ORDER BY e.seq DESC LIMIT 1), 'task.result agent:peer run:1', 'in the name of its agent');
SELECT fixture.ask('task:o', skill => 'skill:peer');
SELECT fixture.hand();
SELECT is(fixture.answer(fixture.result('{"task": {"id": "t-2", "contextId": "c-2", "status": {"state": "TASK_STATE_SUBMITTED"}}}')), 'sent', 'a task that was only submitted');
SELECT is(fixture.state('task:o'), 'running agent:peer 1', 'goes on');
SELECT fixture.ask('task:p', skill => 'skill:peer', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT is(fixture.answer((SELECT jsonb_build_object('jsonrpc', '2.0', 'id', body -> 'id', 'error', '{"code": -32005, "message": "no such type"}'::jsonb) FROM handed)), 'sent', 'an error of A2A');
SELECT is((SELECT status FROM clutch.tasks WHERE task_id = 'task:p'), 'failed', 'fails the task');

-- ----------------------------------------------------------- other databases
INSERT INTO clutch.endpoint (name, url, adapter, serves, patience_s) VALUES ('west', 'https://west.example', 'peer', 'agent:west', 100);
SELECT fixture.agent('west', 9, ARRAY['skill:west']);
SELECT fixture.ask('task:w', skill => 'skill:west');
SELECT fixture.hand();
SELECT is(fixture.answer(clutch.envelope('task.result', 'agent:ann', payload => '{"done": 1}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:w',
	meta => '{"clutch": {"usage": {"output_tokens": 7}}}')), 'sent', 'an envelope is an answer');
SELECT is((SELECT e.envelope #> '{meta,clutch,usage}' FROM clutch.events e WHERE e.task_id = 'task:w' AND e.type = 'task.result'), '{"output_tokens": 7}', 'whose usage counts');
SELECT fixture.ask('task:w2', skill => 'skill:west', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT fixture.answer(clutch.envelope('agent.heartbeat', 'agent:ann', payload => '{"agent_id": "agent:ann", "status": "READY"}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:w'));
SELECT is((SELECT code || ': ' || detail FROM clutch.tasks WHERE task_id = 'task:w2'), 'INVALID_ANSWER: the answer cannot be taken: an envelope of type "agent.heartbeat" is not an answer to a call', 'but not one of any type');

SELECT fixture.ask('task:w3', skill => 'skill:west', orders => '{"after": ["task:w"], "priority": 3}');
SELECT fixture.hand();
SELECT is((SELECT body #> '{meta,clutch}' FROM handed), '{"priority": 3}', 'it is not told of the tasks that had to be completed before');
SELECT clutch.register_workflow('{"workflow": "w", "steps": [{"id": "first"}, {"id": "second"}]}') \g /dev/null
SELECT fixture.ask('task:w4', skill => 'skill:west', run => 'run:w', orders => '{"workflow": "w", "step_of": "first", "priority": 1}'),
	fixture.ask('task:w5', skill => 'skill:west', run => 'run:w', orders => '{"step_of": "second", "priority": 1}');
SELECT fixture.hand();
SELECT is((SELECT string_agg(body #>> '{meta,clutch}', ' ') FROM handed), '{"priority": 1} {"priority": 1}', 'nor of the workflow of the run, which it need not have');
SELECT fixture.add_key('agent:ui', 'k1', 'a') \g /dev/null
SELECT clutch.send(ed25519.signed(fixture.request('task:w' || n, skill => 'skill:west', orders => orders) || jsonb_build_object('ts', clutch.now()), 'k1', fixture.seed('a')))
FROM (VALUES (6, '{"priority": 3}'::jsonb), (7, '{"priority": 3, "after": ["task:w"]}')) AS v(n, orders) \g /dev/null
SELECT fixture.hand();
SELECT fixture.answers($$SELECT body ->> 'task_id', (body #> '{security,auth}') IS NOT NULL FROM handed ORDER BY 1$$, $$VALUES ('task:w6', true), ('task:w7', false)$$, 'a request is signed unless its signature would be wrong');
SELECT is((SELECT count(*) FROM handed, clutch.check_signature(body) WHERE body ->> 'task_id' = 'task:w6'), 0::bigint, 'and valid');

-- -------------------------------------- tasks that were there before the endpoint
SELECT fixture.agent('later', 4, ARRAY['skill:later']);
SELECT fixture.ask('task:q', skill => 'skill:later');
SELECT is(fixture.state('task:q') || ' ' || fixture.hand(), 'assigned agent:later 1 nothing', 'an agent without an endpoint is not called');
INSERT INTO clutch.endpoint (name, url, adapter, serves) VALUES ('later', 'https://later.example/mcp', 'mcp', 'agent:later');
SELECT is(fixture.state('task:q'), 'running agent:later 1', 'until it gets one');
SELECT is(fixture.hand(), 'task tools/call skill.later 1', 'for what is ready then');
SELECT fixture.answer(fixture.result('{"content": []}'));

-- ------------------------------------------------------------------------ tools
SELECT seq AS call FROM clutch.send(clutch.envelope('tool.call', 'agent:ken', ARRAY['agent:mcp.files'], payload => '{"tool": "mcp:files", "name": "read", "args": {"path": "/a"}}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:victim')) \gset
SELECT is(fixture.hand(), 'tool tools/call read 1', 'a tool.call to a server that is configured is a call');
SELECT is(fixture.answer(fixture.result('{"content": [{"type": "text", "text": "inside"}]}')), 'sent', 'its answer');
SELECT is((SELECT concat_ws(' ', e.type, e.from_agent, e.to_agents[1], e.envelope -> 'payload', e.envelope #>> '{meta,clutch,reply_to}' = (SELECT c.id FROM clutch.events c WHERE c.seq = :call)) FROM clutch.events e ORDER BY e.seq DESC LIMIT 1),
	'tool.result agent:mcp.files agent:ken {"text": "inside"} t', 'is the result of the tool');
SELECT fixture.agent('lois', 4, ARRAY['skill:lois', 'tool:files']);
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('tool.call', 'agent:lois', ARRAY['agent:mcp.files'], payload => '{"tool": "mcp:files", "name": "read", "args": {}}', run_id => 'run:1'))$$), '42501 ENDPOINT_NOT_ALLOWED /payload/tool', 'an agent that is not allowed');
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', ARRAY['agent:mcp.files'], payload => '{"tool": "mcp:files", "name": "read", "args": {}}', run_id => 'run:1', task_id => 'task:victim'));
SELECT fixture.hand();
SELECT count(*) AS before FROM clutch.events \gset
SELECT is(fixture.answer('{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "x", "progress": 1}}', false), 'pending', 'the progress of a tool');
SELECT is((SELECT count(*) FROM clutch.events), :before::bigint, 'is not told to its caller');
SELECT is(clutch.outbox_done(h.id, h.attempt, 200, response => '{"jsonrpc": "2.0", "id": 1, "result": {"content": []}}'), 'sent', 'before its result') FROM handed h;
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', ARRAY['agent:mcp.files'], payload => '{"tool": "mcp:files", "name": "read", "args": {}}', run_id => 'run:1', task_id => 'task:victim'));
SELECT fixture.hand();
SELECT is(fixture.answer(NULL, true, 500), 'dead', 'a tool that does not answer');
SELECT is((SELECT concat_ws(' ', e.type, e.envelope #>> '{payload,code}') FROM clutch.events e ORDER BY e.seq DESC LIMIT 1), 'tool.error UNAVAILABLE', 'is a failure of the tool');
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', ARRAY['agent:mcp.files'], payload => '{"tool": "mcp:files", "name": "read", "args": {}}', run_id => 'run:1')) \g /dev/null
SELECT fixture.hand();
SELECT is(fixture.answer('{"jsonrpc": "2.0", "error": {"code": -32000, "message": "No valid session ID"}}'), 'sent', 'an error that names no call');
SELECT is((SELECT concat_ws(' ', e.type, e.envelope #>> '{payload,code}') FROM clutch.events e ORDER BY e.seq DESC LIMIT 1), 'tool.error MCP_-32000', 'is one, too');
-- the status of a task has its questions and its result
SELECT fixture.ask('task:handle', skill => 'skill:far');
SELECT fixture.hand();
SELECT is(fixture.answer(fixture.result('{"resultType": "task", "taskId": "t-9", "status": "working"}'), false), 'pending', 'a server may make a task');
SELECT is(fixture.answer(fixture.result('{"taskId": "t-9", "status": "input_required", "inputRequests": {"name": {"method": "elicitation/create"}}}')), 'sent', 'that asks');
SELECT FROM clutch.answer('task:handle', '{"input_responses": {"name": {"action": "accept"}}}', 'agent:ui');
SELECT fixture.hand();
SELECT is((SELECT concat_ws(' ', body ->> 'method', (body -> 'params') - '_meta') FROM handed), 'tasks/update {"taskId": "t-9", "inputResponses": {"name": {"action": "accept"}}}', 'and is answered as a task');
SELECT is(fixture.answer(fixture.result('{"resultType": "complete"}'), false), 'pending', 'the server acknowledges the answer');
SELECT count(*) AS before FROM clutch.events \gset
SELECT is(fixture.answer(fixture.result('{"taskId": "t-9", "status": "input_required", "inputRequests": {"name": {"method": "elicitation/create"}}}'), false), 'pending', 'a status that does not know the answer yet');
SELECT is((SELECT count(*) FROM clutch.events), :before::bigint, 'does not ask again');
SELECT is(fixture.answer(fixture.result('{"taskId": "t-9", "status": "input_required", "inputRequests": {"name": {"method": "elicitation/create"}, "age": {"method": "elicitation/create"}}}'), false), 'sent', 'unless it asks for more');
SELECT clutch.answer('task:handle', '{"input_responses": {"age": {"action": "decline"}}}');
SELECT fixture.hand();
SELECT is((SELECT concat_ws(' ', body ->> 'method', body #> '{params,inputResponses}') FROM handed), 'tasks/update {"age": {"action": "decline"}}', 'which is answered, too');
SELECT is(fixture.answer(fixture.result('{"taskId": "t-9", "status": "input_required", "inputRequests": {"age": {"method": "elicitation/create"}}}'), false), 'pending', 'a status that still has what was answered');
SELECT is(fixture.answer(fixture.result('{"taskId": "t-9", "status": "input_required", "inputRequests": {"name": {"method": "elicitation/create"}}}'), false), 'sent', 'does not ask, but what the answer has left out is asked for again');
SELECT clutch.answer('task:handle', '{"input_responses": {"name": {"action": "decline"}}}');
SELECT is(fixture.hand(), 'task tasks/update 1', 'and answered');
SELECT is(fixture.answer(fixture.result('{"taskId": "t-9", "status": "completed", "result": {"content": [{"type": "text", "text": "42"}]}}')), 'sent', 'its end');
SELECT is(fixture.last('task:handle'), 'task.result agent:far agent:ui {"text": "42"}', 'has the result');
-- in the revision of 2025-11-25, the status of a task only announces a request of the server
SELECT fixture.ask('task:later', skill => 'skill:far', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT is(fixture.answer(fixture.result('{"task": {"taskId": "t-8", "status": "input_required", "statusMessage": "soon"}}'), false), 'pending', 'a task that needs input, but does not say which');
SELECT is(fixture.last('task:later'), 'task.progress agent:far agent:ui {"data": {"state": "input_required", "message": "soon"}}', 'asks nothing yet');
SELECT is(fixture.answer(fixture.result('{"taskId": "t-8", "status": "input_required", "inputRequests": {}}'), false), 'pending', 'nor one that says that it needs nothing more');
SELECT is(fixture.last('task:later'), 'task.progress agent:far agent:ui {"data": {"state": "input_required", "input_requests": {}}}', 'which is progress');
SELECT is(fixture.answer('{"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {"message": "Your name?", "requestedSchema": {"type": "object"}, "_meta": {"io.modelcontextprotocol/related-task": {"taskId": "t-8"}}}}', false), 'sent', 'but with the request that follows');
SELECT is((SELECT t.status || ' ' || (q.question ->> 'question') FROM clutch.tasks t JOIN clutch.approvals q USING (task_id) WHERE task_id = 'task:later'), 'input_required Your name?', 'it does');
-- whoever makes a request cancels it, so this is one of the server's own
SELECT fixture.ask('task:sampling', skill => 'skill:far', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT is(fixture.answer('{"jsonrpc": "2.0", "id": 9, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}', false), 'pending', 'a server that asks the model of its client');
SELECT count(*) AS before FROM clutch.events \gset
SELECT is(fixture.answer('{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}', false), 'pending', 'may cancel what it has asked');
SELECT is((SELECT count(*) FROM clutch.events), :before::bigint, 'which says nothing of the task');
SELECT is(fixture.answer(fixture.result('{"content": [{"type": "text", "text": "42"}]}')), 'sent', 'that goes on');
SELECT is(fixture.state('task:sampling'), 'completed agent:far 1', 'until its end');
-- a server that asks by a request of its own is sent the response
CREATE FUNCTION fixture.elicited(task text, answer jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fixture.ask(task, skill => 'skill:far');
	PERFORM fixture.settle();
	PERFORM fixture.hand();
	PERFORM fixture.answer('{"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {"message": "Your name?", "requestedSchema": {"type": "object"}}}', false);
	PERFORM fixture.settle();
	PERFORM clutch.answer(task, answer, 'agent:ui');
	PERFORM fixture.settle();
	PERFORM fixture.hand();
	RETURN (SELECT body #- '{result,_meta}' FROM handed);
END $$;
SELECT is(fixture.elicited('task:elicit', '{"name": "x"}'), '{"id": 7, "result": {"action": "accept", "content": {"name": "x"}}, "jsonrpc": "2.0"}', 'an answer to a question of a server is the response to it');
SELECT is(fixture.answer(NULL, false, 202), 'pending', 'which the server acknowledges');
SELECT is(fixture.answer('{"jsonrpc": "2.0", "id": "x", "result": {"content": [{"type": "text", "text": "hello x"}]}}'), 'sent', 'the result of the first call');
SELECT is(fixture.last('task:elicit'), 'task.result agent:far agent:ui {"text": "hello x"}', 'ends the task');
SELECT is(fixture.elicited('task:decline', '{"action": "decline"}'), '{"id": 7, "result": {"action": "decline"}, "jsonrpc": "2.0"}', 'an answer may say what the user has done');
SELECT fixture.answer('{"jsonrpc": "2.0", "id": "x", "result": {"content": []}}');
-- in a stream of LangGraph, only its end says that the run has ended
INSERT INTO clutch.endpoint (name, url, adapter, serves) VALUES ('runs', 'https://graph.example/runs/stream', 'langgraph', 'agent:runs');
SELECT fixture.agent('runs', 9, ARRAY['skill:runs']);
SELECT fixture.ask('task:runs', skill => 'skill:runs');
SELECT fixture.hand();
SELECT is(fixture.answer('{"event": "values", "data": {"a": 1}}', false), 'pending', 'values in a stream');
SELECT is(fixture.state('task:runs'), 'running agent:runs 1', 'are progress');
SELECT is(fixture.answer('[{"event": "values", "data": {"a": 2}}, {"event": "end", "data": null}]'), 'sent', 'the last ones');
SELECT is(fixture.last('task:runs'), 'task.result agent:runs agent:ui {"a": 2}', 'are the result');
SELECT fixture.ask('task:runs-asks', skill => 'skill:runs');
SELECT fixture.hand();
SELECT is(fixture.answer('{"type": "values", "ns": [], "data": {"a": 1}, "interrupts": [{"id": "i", "value": "Go on?"}]}'), 'sent', 'unless the graph asks');
SELECT is((SELECT status FROM clutch.tasks WHERE task_id = 'task:runs-asks'), 'input_required', 'for an answer');
SELECT fixture.ask('task:runs-waits', skill => 'skill:runs');
SELECT fixture.hand();
SELECT fixture.answer('{"messages": [{"type": "ai", "content": "42", "id": "m"}]}');
SELECT is(fixture.last('task:runs-waits'), 'task.result agent:runs agent:ui {"messages": [{"id": "m", "type": "ai", "content": "42"}]}', 'a server may answer with the final values alone');
-- in which nodes, tools and models end, and the run goes on
CREATE FUNCTION fixture.heard(task text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', e.type, e.envelope ->> 'payload') FROM clutch.events e WHERE e.task_id = task ORDER BY e.seq DESC LIMIT 1 $$;
SELECT fixture.ask('task:runs-on', skill => 'skill:runs');
SELECT fixture.hand();
SELECT is(fixture.answer(document, false) || ': ' || fixture.heard('task:runs-on'), 'pending: ' || heard, what || ' in a stream of LangGraph')
FROM (VALUES ('a node that begins', '{"event": "tasks", "data": {"id": "n-1", "name": "plan", "input": {"q": 1}, "triggers": ["start"], "interrupts": []}}'::jsonb, 'task.progress {"input": {"q": 1}}'),
	('a node that ends', '{"event": "tasks", "data": {"id": "n-1", "name": "plan", "result": {"a": 1}, "error": null, "interrupts": []}}', 'task.progress {"result": {"a": 1}}'),
	('a node that fails', '{"event": "tasks", "data": {"id": "n-2", "name": "plan", "error": "it broke", "interrupts": []}}', 'task.progress {"code": "NODE_ERROR", "message": "it broke"}'),
	('a node in the mode debug', '{"event": "debug", "data": {"step": 1, "type": "task_result", "timestamp": "2026-02-01T12:00:00Z", "payload": {"id": "n-3", "name": "plan", "result": {"a": 2}, "error": null, "interrupts": []}}}', 'task.progress {"result": {"a": 2}}'),
	('a piece of a message', '{"event": "messages", "data": [{"type": "AIMessageChunk", "id": "m-1", "content": "4"}, {"langgraph_node": "plan"}]}', 'task.progress {"result": {"a": 2}}'),
	('a call of a tool', '{"event": "events", "data": {"event": "on_tool_start", "run_id": "t-1", "name": "search", "data": {"input": {"q": 2}}}}', 'task.progress {"args": {"q": 2}, "tool": "tool:search"}'),
	('the result of a tool', '{"event": "messages", "data": [{"type": "tool", "id": "m-2", "content": "found", "tool_call_id": "call_1"}, {"langgraph_node": "tools"}]}', 'task.progress {"id": "m-2", "content": "found", "tool_call_id": "call_1"}'),
	('the error of a tool', '{"event": "messages", "data": [{"type": "tool", "id": "m-3", "content": "lost", "status": "error", "tool_call_id": "call_2"}, {"langgraph_node": "tools"}]}',
		'task.progress {"code": "TOOL_EXECUTION_ERROR", "details": {"id": "m-3", "status": "error", "tool_call_id": "call_2"}, "message": "lost"}'),
	('a message that calls tools', '{"event": "messages/complete", "data": [{"type": "ai", "id": "m-4", "content": "", "tool_calls": [{"name": "search", "args": {}, "id": "call_3"}]}]}',
		'task.progress {"id": "m-4", "content": "", "tool_calls": [{"id": "call_3", "args": {}, "name": "search"}]}'),
	('the output of a tool that looks like a question', '{"event": "events", "data": {"event": "on_tool_end", "run_id": "t-2", "name": "search", "data": {"output": {"state": "input_required"}}}}', 'task.progress {"data": {"state": "input_required"}}'),
	('the end of the graph', '{"event": "events", "data": {"event": "on_chain_end", "run_id": "r-1", "name": "graph", "data": {"output": {"a": 3}}}}', 'task.progress {"output": {"a": 3}}')) AS v (what, document, heard);
SELECT is(fixture.state('task:runs-on'), 'running agent:runs 1', 'none of them ends the task');
SELECT is(fixture.answer('{"event": "messages", "data": [{"type": "AIMessageChunk", "id": "m-5", "content": "42"}, {"langgraph_node": "plan"}]}'), 'sent', 'the last document is the result');
SELECT is(fixture.heard('task:runs-on'), 'task.result {"data": [{"id": "m-5", "type": "AIMessageChunk", "content": "42"}, {"langgraph_node": "plan"}]}', 'even if it is a piece of a message');
SELECT fixture.ask('task:runs-deadline', skill => 'skill:runs');
SELECT fixture.hand();
SELECT fixture.answer('{"event": "values", "data": {"deadline": "soon"}}', false);
SELECT is(fixture.heard('task:runs-deadline'), 'task.progress {"data": {"deadline": "soon"}}', 'values that would be an order are set apart in progress');
SELECT fixture.answer('{"event": "values", "data": {"deadline": "soon", "a": 1}}');
SELECT is(fixture.heard('task:runs-deadline'), 'task.result {"a": 1, "deadline": "soon"}', 'and not in the result');
SELECT fixture.ask('task:runs-calls', skill => 'skill:runs');
SELECT fixture.hand();
SELECT is(fixture.answer('{"event": "messages/complete", "data": [{"type": "ai", "id": "m-4", "content": "", "tool_calls": [{"name": "search", "args": {}, "id": "call_3"}]}]}'), 'sent', 'or a message that calls tools');
SELECT is(fixture.state('task:runs-calls'), 'completed agent:runs 1', 'whose calls are a part of it');
SELECT fixture.ask('task:runs-fail', skill => 'skill:runs');
SELECT fixture.hand();
SELECT is(fixture.answer('{"event": "error", "data": {"error": "TypeError", "message": "it broke"}}', false), 'sent', 'an error of the run');
SELECT is(fixture.heard('task:runs-fail'), 'task.error {"code": "TypeError", "message": "it broke"}', 'ends the task before the stream ends');
-- the final values may look like a document of another kind
CREATE FUNCTION fixture.ended(task text, response jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fixture.ask(task, skill => 'skill:runs');
	PERFORM fixture.settle();
	PERFORM fixture.hand();
	RETURN fixture.answer(response) || ' ' || fixture.heard(task);
END $$;
SELECT is(fixture.ended('task:runs-like-' || n, document), 'sent task.result ' || document::text, 'values with the members of ' || what) FROM (VALUES
	(1, 'a request for a run', '{"input": {"q": 1}, "answer": 42, "assistant_id": "graph"}'::jsonb),
	(2, 'a task', '{"id": "f-1", "name": "plan", "answer": 42, "triggers": ["cron"]}'),
	(3, 'the answer of a tool', '{"type": "tool", "content": "42"}'),
	(4, 'a checkpoint', '{"step": 1, "type": "checkpoint", "payload": "42", "timestamp": "2026-02-01T10:00:00Z"}'),
	(5, 'a checkpoint of an unknown time', '{"step": 1, "type": "checkpoint", "payload": "42", "timestamp": "yesterday"}'),
	(6, 'a task of a stream', '{"step": 1, "type": "task", "payload": {"id": "f-1", "name": "plan", "triggers": []}, "timestamp": "2026-02-01T10:00:00Z"}'),
	(7, 'a task that is over, at an unknown time', '{"step": 1, "type": "task_result", "payload": {"id": "f-1", "name": "plan", "result": {}, "triggers": []}, "timestamp": "yesterday"}'),
	(8, 'a task without an ID', '{"id": "", "name": "plan", "result": {"a": 1}, "interrupts": []}'),
	(9, 'a message without an ID', '{"id": "", "type": "ai", "content": "42"}'),
	(10, 'an event', '{"event": "on_sale", "price": 3, "run_id": "r-1"}'),
	(11, 'an event without a name', '{"data": {"price": 3}, "event": "on_sale", "run_id": "r-1"}'),
	(12, 'a task that is over, and others', '{"id": "f-1", "name": "plan", "answer": 42, "result": {"a": 1}, "interrupts": []}'),
	(13, 'a task of a stream that is over, and others', '{"step": 1, "type": "task_result", "answer": 42, "payload": {"id": "f-1", "name": "plan", "result": {}, "interrupts": []}, "timestamp": "2026-02-01T10:00:00Z"}'),
	(14, 'a task of a stream, which has others', '{"step": 1, "type": "task_result", "payload": {"id": "f-1", "name": "plan", "answer": 42, "result": {}, "interrupts": []}, "timestamp": "2026-02-01T10:00:00Z"}'),
	(15, 'an event, and others', '{"data": {"price": 3}, "name": "bike", "event": "on_sale", "price": 3, "run_id": "r-1"}')) AS v (n, what, document);
SELECT is(fixture.ended('task:runs-task', '{"id": "f-2", "name": "plan", "result": {"a": 1}, "interrupts": []}'), 'sent task.result {"result": {"a": 1}}', 'a task that is over, and nothing else');
-- two nodes may ask at once, and each of them gets its own answer
CREATE FUNCTION fixture.resumed(task text, interrupts jsonb, answer jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fixture.ask(task, skill => 'skill:runs');
	PERFORM fixture.settle();
	PERFORM fixture.hand();
	PERFORM fixture.answer(jsonb_build_object('event', 'updates', 'data', jsonb_build_object('__interrupt__', interrupts)), false);
	PERFORM fixture.settle();
	PERFORM clutch.answer(task, answer, 'agent:ui');
	PERFORM fixture.settle();
	PERFORM fixture.hand();
	PERFORM fixture.answer('{"event": "values", "data": {}}');
	RETURN (SELECT coalesce(body -> 'command', jsonb_build_object('input', body -> 'input')) FROM handed);
END $$;
SELECT is(fixture.resumed('task:runs-asks-' || n, interrupts, answer), command, 'an answer to ' || what) FROM (VALUES
	(1, '[{"id": "38dba76349210914973a9cf3ddb12eaa", "value": "left?"}]'::jsonb, '{"text": "L"}'::jsonb, '{"resume": {"38dba76349210914973a9cf3ddb12eaa": "L"}}', 'one question names it'),
	(2, '[{"id": "38dba76349210914973a9cf3ddb12eaa", "value": "left?"}]', '{"38dba76349210914973a9cf3ddb12eaa": "L"}', '{"resume": {"38dba76349210914973a9cf3ddb12eaa": "L"}}', 'one question may name it itself'),
	(3, '[{"id": "38dba76349210914973a9cf3ddb12eaa"}, {"id": "ff62db37030a83e6481b84b873b16335"}]', '{"text": "L"}', '{"resume": "L"}', 'several questions is as it was given'),
	(4, '[{"id": "left", "value": "left?"}]', '{"text": "L"}', '{"resume": "L"}', 'a question without such an ID is as it was given'),
	(6, '[{"id": "38dba76349210914973a9cf3ddb12eaa", "value": "left?"}]', '{"text": true}', '{"resume": {"38dba76349210914973a9cf3ddb12eaa": true}}', 'a question may be no text'),
	(5, '[]', '{"text": "L"}', '{"input": null}', 'a breakpoint lets the graph go on, and answers nothing that it may ask then')) AS v (n, interrupts, answer, command, what);
SELECT fixture.ask('task:runs-told', skill => 'skill:runs', run => 'run:told');
SELECT fixture.hand();
SELECT fixture.answer('{"__interrupt__": [{"id": "38dba76349210914973a9cf3ddb12eaa", "value": "left?"}]}');
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:runs}', '{"text": "L"}', run_id => 'run:told', task_id => 'task:runs-told')) \g /dev/null
SELECT fixture.hand();
SELECT is((SELECT concat_ws(' ', body ->> 'assistant_id', body -> 'command') FROM handed), 'runs {"resume": {"38dba76349210914973a9cf3ddb12eaa": "L"}}', 'any message that answers is a request for a run');
SELECT is((SELECT concat_ws(' ', body #>> '{config,configurable,thread_id}', body #>> '{metadata,clutch_thread}') FROM handed), 'thread:1 thread:1', 'in the thread in which the graph has asked');
SELECT fixture.answer('{"event": "values", "data": {"__interrupt__": [{"value": "which?"}]}}');
SELECT FROM clutch.ingest('{"assistant_id": "runs", "command": {"resume": ["L", 1]}}', 'langgraph', '{"agent_id": "agent:ui", "run_id": "run:told", "task_id": "task:runs-told"}');
SELECT fixture.hand();
SELECT is((SELECT body -> 'command' FROM handed), '{"resume": ["L", 1]}', 'an answer in this dialect may be any value');
SELECT fixture.answer('{"event": "values", "data": {}}', false);
SELECT clutch.progress('agent:runs', 'task:runs-told', '{"state": "input_required", "question": "which?"}', 3) \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:runs}', '{"text": "R"}', run_id => 'run:told', task_id => 'task:runs-told')) \g /dev/null
SELECT fixture.hand();
SELECT is((SELECT body -> 'command' FROM handed), '{"resume": "R"}', 'also if a role that speaks for the graph has asked');
SELECT fixture.answer('{"event": "values", "data": {}}');
-- the other side of collab knows the conversation by its session
INSERT INTO clutch.endpoint (name, url, adapter, serves) VALUES ('talks', 'https://talks.example/', 'collab', 'agent:talks');
SELECT fixture.agent('talks', 4, ARRAY['skill:talks']);
SELECT fixture.ask('task:talks', skill => 'skill:talks', run => 'run:talks');
SELECT fixture.hand();
SELECT body #> '{body,context,sessionId}' AS session FROM handed \gset
SELECT clutch.progress('agent:talks', 'task:talks', '{"state": "input_required", "question": "which?"}', 1) \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:talks}', '{"text": "R"}', run_id => 'run:talks', task_id => 'task:talks')) \g /dev/null
SELECT fixture.hand();
SELECT is((SELECT body #> '{body,context,sessionId}' FROM handed), :'session', 'an answer in collab has the session of the request');
DELETE FROM clutch.endpoint WHERE name = 'talks';
-- the caller waits for an end
CREATE FUNCTION fixture.tool_said() RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', e.type, e.envelope #>> '{payload,code}', e.envelope #>> '{payload,details}', e.envelope #>> '{meta,clutch,reply_to}' = c.id) FROM clutch.events e, clutch.events c WHERE c.seq = (SELECT max(seq) FROM clutch.events WHERE type = 'tool.call') ORDER BY e.seq DESC LIMIT 1 $$;
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', ARRAY['agent:mcp.files'], payload => '{"tool": "mcp:files", "name": "read", "args": {}}', run_id => 'run:1', task_id => 'task:victim'));
SELECT fixture.hand();
SELECT is(fixture.answer(fixture.result('{"resultType": "task", "taskId": "t-1", "status": "working"}')), 'sent', 'an answer that ends with progress');
SELECT is(fixture.tool_said(), 'tool.error INVALID_ANSWER {"state": "working"} t', 'is a failure of the tool');
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', ARRAY['agent:mcp.files'], payload => '{"tool": "mcp:files", "name": "read", "args": {}}', run_id => 'run:1', task_id => 'task:victim'));
SELECT fixture.hand();
SELECT is(fixture.answer(fixture.result('{"resultType": "input_required", "inputRequests": {"name": {"method": "elicitation/create"}}, "requestState": "s"}')), 'sent', 'a tool that asks');
SELECT is(fixture.tool_said(), 'tool.error INPUT_REQUIRED {"state": "input_required", "input_requests": {"name": {"method": "elicitation/create"}}} t', 'is told so, with the question');
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', ARRAY['agent:mcp.files'], payload => '{"tool": "mcp:files", "name": "read", "args": {}}', run_id => 'run:1', task_id => 'task:victim'));
SELECT fixture.hand();
SELECT fixture.answer('{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "x", "progress": 1}}', false);
SELECT is(fixture.answer(fixture.result('{"content": [{"type": "text", "text": "ok"}]}')), 'sent', 'progress that is followed by a result');
SELECT is(fixture.tool_said(), 'tool.result t', 'fails nothing');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild makes the same state');
-- --------------------------------------------------- a question, and its answer
INSERT INTO clutch.endpoint (name, url, adapter, serves, headers) VALUES
	('asker', 'https://asker.example/a2a', 'a2a', 'agent:asker', NULL), ('old', 'https://old.example/a2a', 'a2a', 'agent:old', '{"A2A-Version": "0.3"}'),
	('graph', 'https://graph.example/runs', 'langgraph', 'agent:graph', NULL);
SELECT fixture.agent('asker', 4, ARRAY['skill:asker']), fixture.agent('old', 4, ARRAY['skill:old']), fixture.agent('graph', 4, ARRAY['skill:graph']);
SELECT fixture.ask('task:asker', skill => 'skill:asker');
SELECT fixture.hand();
SELECT is((SELECT concat_ws(' ', body ->> 'method', headers ->> 'a2a-version', body #>> '{params,message,taskId}') FROM handed), 'SendMessage 1.0', 'a request of A2A says its version');
SELECT fixture.answer(fixture.result('{"statusUpdate": {"taskId": "theirs-1", "contextId": "c-1", "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "which?"}]}}}}'));
SELECT clutch.answer('task:asker', '{"text": "blue"}');
SELECT fixture.hand();
SELECT is((SELECT concat_ws(' ', body #>> '{params,message,taskId}', body #>> '{params,message,contextId}', body #>> '{params,message,parts,0,text}') FROM handed),
	'theirs-1 c-1 blue', 'an answer names the task as the agent that has asked does');
SELECT fixture.answer(fixture.result('{"statusUpdate": {"taskId": "theirs-1", "contextId": "c-1", "status": {"state": "TASK_STATE_COMPLETED"}}}'));
SELECT is(fixture.state('task:asker'), 'completed agent:asker 2', 'and the task goes on');
SELECT fixture.ask('task:plainly', skill => 'skill:asker', run => 'run:plainly');
SELECT fixture.hand();
SELECT fixture.answer(fixture.result('{"statusUpdate": {"taskId": "theirs-2", "contextId": "c-2", "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"messageId": "m-2", "role": "ROLE_AGENT", "parts": [{"text": "which?"}]}}}}'));
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:asker}', '{"text": "green"}', run_id => 'run:plainly', task_id => 'task:plainly')) \g /dev/null
SELECT fixture.hand();
SELECT is((SELECT concat_ws(' ', body ->> 'method', body #>> '{params,message,role}', body #>> '{params,message,taskId}', body #>> '{params,message,parts,0,text}') FROM handed),
	'SendMessage ROLE_USER theirs-2 green', 'an answer is a request to the other side, whoever gives it');
SELECT fixture.answer(fixture.result('{"statusUpdate": {"taskId": "theirs-2", "contextId": "c-2", "status": {"state": "TASK_STATE_COMPLETED"}}}'));

SELECT fixture.ask('task:old', skill => 'skill:old');
SELECT fixture.hand();
SELECT is((SELECT concat_ws(' ', body ->> 'method', headers ->> 'A2A-Version', headers ? 'a2a-version', body #>> '{params,message,kind}') FROM handed), 'message/send 0.3 f message',
	'an endpoint whose headers name version 0.3 is sent documents of that version');
SELECT fixture.answer(fixture.result('{"kind": "message", "messageId": "m", "role": "agent", "parts": []}'));

SELECT fixture.ask('task:inputs', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.answer(fixture.result('{"resultType": "input_required", "inputRequests": {"who": {"method": "elicitation/create", "params": {"message": "who?"}}}, "requestState": "s-1"}'));
SELECT clutch.answer('task:inputs', '{"input_responses": {"who": {"action": "accept", "content": {"name": "Ada"}}}}');
SELECT fixture.hand();
SELECT is((SELECT concat_ws(' ', body #>> '{params,name}', body #>> '{params,arguments}', body #>> '{params,requestState}', body #>> '{params,inputResponses,who,content,name}') FROM handed),
	'skill.far {"q": 1} s-1 Ada', 'a call of MCP is repeated with the answers and the state of the server');
SELECT fixture.answer(fixture.result('{"content": []}'));
-- a state is optional, and may be anything
CREATE FUNCTION fixture.repeated(n integer, state jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fixture.ask('task:inputs-' || n, skill => 'skill:far');
	PERFORM fixture.settle();
	PERFORM fixture.hand();
	PERFORM fixture.answer(fixture.result('{"resultType": "input_required", "inputRequests": {"who": {"method": "elicitation/create", "params": {"message": "who?"}}}}' || state));
	PERFORM clutch.answer('task:inputs-' || n, '{"input_responses": {"who": {"action": "accept", "content": {"name": "Ada"}}}}');
	PERFORM fixture.settle();
	PERFORM fixture.hand();
	PERFORM fixture.answer(fixture.result('{"content": []}'));
	RETURN (SELECT concat_ws(' ', body ->> 'method', body #>> '{params,name}', body #> '{params,requestState}', body #>> '{params,inputResponses,who,content,name}') FROM handed);
END $$;
SELECT is(fixture.repeated(1, '{}'), 'tools/call skill.far Ada', 'a server need not send a state');
SELECT is(fixture.repeated(2, '{"requestState": ""}'), 'tools/call skill.far "" Ada', 'a state may be empty');
SELECT is(fixture.repeated(3, jsonb_build_object('requestState', repeat('s', 1000))), format('tools/call skill.far "%s" Ada', repeat('s', 1000)), 'or longer than an ID');
SELECT is(fixture.repeated(4, '{"requestState": "eyJhbGciOiJIUzI1NiJ9.eyJzdGVwIjoxfQ.c2lnbmF0dXJl"}'), 'tools/call skill.far "eyJhbGciOiJIUzI1NiJ9.eyJzdGVwIjoxfQ.c2lnbmF0dXJl" Ada', 'or signed like a token');
SELECT is(fixture.repeated(5, '{"requestState": "{\"token\": \"t-1\"}"}'), 'tools/call skill.far "{\"token\": \"t-1\"}" Ada', 'or JSON, of which nothing is missing');

-- a server that asks for nothing only wants the call again
SELECT fixture.ask('task:busy', skill => 'skill:far');
SELECT fixture.hand();
SELECT is(fixture.answer(fixture.result('{"resultType": "input_required", "requestState": "s-9"}'), false), 'pending', 'a server may want the call again, with its state');
SELECT is(fixture.last('task:busy'), 'task.progress agent:far agent:ui {"data": {"state": "input_required"}}', 'which is no question to anybody');
SELECT is(fixture.answer(fixture.result('{"content": [{"type": "text", "text": "42"}]}')), 'sent', 'and the gateway reports what has become of it');
SELECT is(fixture.state('task:busy'), 'completed agent:far 1', 'as the result of the task');

-- a user must visit a URL first
CREATE FUNCTION fixture.visit(elicitations jsonb) RETURNS text LANGUAGE sql AS
$$ SELECT fixture.answer(jsonb_build_object('jsonrpc', '2.0', 'id', h.body -> 'id', 'error', jsonb_build_object('code', -32042, 'message', 'Log in first.', 'data', jsonb_build_object('elicitations', elicitations)))) FROM handed h $$;
SELECT fixture.ask('task:visit', skill => 'skill:far');
SELECT fixture.hand();
SELECT body -> 'id' AS first_id FROM handed \gset
SELECT is(fixture.visit('[{"mode": "url", "elicitationId": "e-1", "url": "https://far.example/login", "message": "Log in."}]'), 'sent', 'an agent of MCP that wants a user to visit a URL');
SELECT is((SELECT concat_ws(' ', t.status, q.question ->> 'url', q.question ->> 'question') FROM clutch.task t JOIN clutch.approvals q USING (task_id) WHERE task_id = 'task:visit'), 'input_required https://far.example/login Log in first.', 'has asked, and has not failed');
SELECT clutch.answer('task:visit', '{"done": true}');
SELECT fixture.hand();
SELECT is((SELECT concat_ws(' ', body ->> 'method', body #>> '{params,name}', body #>> '{params,arguments}', body -> 'id' <> :'first_id'::jsonb, body -> 'params' ?| '{requestState,inputResponses}') FROM handed), 'tools/call skill.far {"q": 1} t f', 'when that is done, the call is repeated with an ID of its own');
SELECT is(fixture.visit('[{"mode": "url", "elicitationId": "e-2", "url": "https://far.example/more"}]'), 'sent', 'it may ask again');
SELECT is((SELECT q.question ->> 'url' FROM clutch.approvals q WHERE task_id = 'task:visit'), 'https://far.example/more', 'for another visit');
SELECT clutch.answer('task:visit', '{"done": true}');
SELECT fixture.hand();
SELECT fixture.answer(fixture.result('{"content": [{"type": "text", "text": "read"}]}'));
SELECT is(fixture.last('task:visit'), 'task.result agent:far agent:ui {"text": "read"}', 'and then does its work');
SELECT fixture.ask('task:visit-2', skill => 'skill:far');
SELECT fixture.hand();
SELECT is(fixture.visit('[]'), 'sent', 'without a URL');
SELECT is((SELECT status FROM clutch.task WHERE task_id = 'task:visit-2'), 'failed', 'it is an error like any other');
SELECT fixture.ask('task:visit-3', skill => 'skill:far');
SELECT fixture.hand();
UPDATE handed SET body = body - 'id';
SELECT is(fixture.visit('[{"mode": "url", "elicitationId": "e-3", "url": "https://far.example/login"}]'), 'sent', 'an error that names no request');
SELECT is((SELECT concat_ws(' ', t.status, q.question ->> 'url') FROM clutch.task t LEFT JOIN clutch.approvals q USING (task_id) WHERE task_id = 'task:visit-3'), 'input_required https://far.example/login', 'asks for a visit as well');
SELECT clutch.answer('task:visit-3', '{"done": true}');
SELECT fixture.hand();
SELECT is((SELECT concat_ws(' ', body ->> 'method', body #>> '{params,name}') FROM handed), 'tools/call skill.far', 'and the call is repeated');
SELECT fixture.answer(fixture.result('{"content": []}'));

SELECT fixture.ask('task:graph', skill => 'skill:graph');
SELECT fixture.hand();
SELECT is((SELECT body ->> 'assistant_id' FROM handed), 'graph', 'a dialect with recipients names the agent, not the orchestrator that has chosen it');

-- --------------------------------------------------- bytes that become artifacts
TRUNCATE clutch.outbox;
SELECT translate(encode(string_agg(sha256(convert_to(i::text, 'UTF8')), '' ORDER BY i), 'base64'), E'\n', '') AS b64, 'artifact:sha256:' || encode(sha256(string_agg(sha256(convert_to(i::text, 'UTF8')), '' ORDER BY i)), 'hex') AS ref FROM generate_series(1, 40) i \gset
CREATE FUNCTION fixture.shown(task text) RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_array(e.envelope -> 'payload', e.envelope -> 'attachments') FROM clutch.events e WHERE e.task_id = task AND e.type IN ('task.result', 'tool.result') ORDER BY e.seq DESC LIMIT 1 $$;
SELECT is(fixture.fault($$UPDATE clutch.endpoint SET artifacts_from = 255$$), '22023 NUMBER_OUT_OF_RANGE /artifacts_from', 'bytes that are fewer than those of a reference');
SELECT fixture.ask('task:x', skill => 'skill:peer');
SELECT fixture.hand();
SELECT jsonb_build_object('task', jsonb_build_object('id', 't-9', 'contextId', 'c-9', 'status', jsonb_build_object('state', 'TASK_STATE_COMPLETED', 'message', jsonb_build_object('messageId', 'm-9', 'role', 'ROLE_AGENT', 'parts', jsonb_build_array(jsonb_build_object('raw', :'b64', 'mediaType', 'image/png')))))) AS task \gset
SELECT fixture.answer(fixture.result(:'task'));
SELECT is(fixture.shown('task:x'), jsonb_build_array(jsonb_build_object('parts', jsonb_build_array(jsonb_build_object('raw', :'b64', 'mediaType', 'image/png'))), NULL), 'bytes of an answer stay where they are');
UPDATE clutch.endpoint SET artifacts_from = 1000;
SELECT fixture.ask('task:y', skill => 'skill:peer');
SELECT fixture.hand();
SELECT is(fixture.answer(fixture.result(:'task')), 'sent', 'unless the endpoint says otherwise');
SELECT is(fixture.shown('task:y'), jsonb_build_array(jsonb_build_object('parts', jsonb_build_array(jsonb_build_object('raw', :'ref', 'mediaType', 'image/png'))), jsonb_build_array(jsonb_build_object('kind', 'artifact_ref', 'ref', :'ref'))), 'the result attaches an artifact in their place');
SELECT is(encode(clutch.get_artifact(:'ref'), 'hex'), encode(decode(:'b64', 'base64'), 'hex'), 'which has the bytes');
SELECT is((SELECT clutch.outbound(e.envelope, 'a2a') #> '{result,task,status,message,parts}' FROM clutch.events e WHERE e.task_id = 'task:y' AND e.type = 'task.result'), jsonb_build_array(jsonb_build_object('raw', :'b64', 'mediaType', 'image/png')), 'and so has the result in the dialect of the answer');
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', ARRAY['agent:mcp.files'], payload => '{"tool": "mcp:files", "name": "read", "args": {"path": "/b"}}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:victim')) \g /dev/null
SELECT fixture.hand();
SELECT is(fixture.answer(fixture.result(jsonb_build_object('content', jsonb_build_array(jsonb_build_object('type', 'image', 'mimeType', 'image/png', 'data', :'b64'))))), 'sent', 'a picture of a tool');
SELECT is(fixture.shown('task:victim'), jsonb_build_array(jsonb_build_object('content', jsonb_build_array(jsonb_build_object('type', 'image', 'mimeType', 'image/png', 'data', :'ref'))), jsonb_build_array(jsonb_build_object('kind', 'artifact_ref', 'ref', :'ref'))), 'becomes one, too');
CREATE ROLE outbox_callee_ken;
CREATE ROLE outbox_callee_stranger;
CREATE ROLE outbox_callee_gateway;
SELECT clutch.grant_agent('outbox_callee_ken', 'agent:ken'), clutch.grant_agent('outbox_callee_stranger', 'agent:stranger'), clutch.grant_gateway('outbox_callee_gateway') \g /dev/null
GRANT USAGE ON SCHEMA fixture TO PUBLIC;
GRANT ALL ON handed TO PUBLIC;
SELECT fixture.ask('task:z', skill => 'skill:peer');
SET ROLE outbox_callee_ken;
SELECT is(length(clutch.get_artifact(:'ref')), 1280, 'whoever has called the tool may read it');
SET ROLE outbox_callee_stranger;
SELECT throws_ok(format('SELECT clutch.get_artifact(%L)', :'ref'), '42704', NULL, 'others may not');
SET ROLE outbox_callee_gateway;
SELECT fixture.hand();
SELECT is(fixture.answer(fixture.result(:'task')), 'sent', 'a gateway needs no right for it');
SELECT throws_ok(format('SELECT clutch.get_artifact(%L)', :'ref'), '42501', NULL, 'and gets none');
RESET ROLE;
-- whoever is behind an endpoint may have learned the digest of an artifact of others
SET ROLE outbox_callee_stranger;
SELECT clutch.put_artifact('a secret of the stranger', 'text/plain') AS secret \gset
SET ROLE outbox_callee_ken;
SELECT clutch.put_artifact('a gift of ken', 'text/plain') AS gift \gset
SELECT clutch.send(clutch.envelope('task.request', 'agent:ken', run_id => 'run:ken', thread_id => 'thread:ken', task_id => 'task:theft', requires => '{skill:peer}',
	attachments => jsonb_build_array(jsonb_build_object('kind', 'artifact_ref', 'ref', :'gift')))) \g /dev/null
SET ROLE outbox_callee_gateway;
SELECT fixture.hand();
SELECT fixture.answer(fixture.result(jsonb_set(:'task', '{task,status,message,parts}', jsonb_build_array(jsonb_build_object('url', :'secret'), jsonb_build_object('url', :'gift'), jsonb_build_object('raw', :'b64', 'mediaType', 'image/png')))));
RESET ROLE;
SELECT is((SELECT string_agg(a ->> 'ref', ' ') FROM clutch.events e, jsonb_array_elements(e.envelope -> 'attachments') a WHERE e.task_id = 'task:theft' AND e.type = 'task.result'), concat_ws(' ', :'secret', :'gift', :'ref'), 'an answer may name any artifact');
SELECT is((SELECT string_agg('artifact:sha256:' || u.digest, ' ' ORDER BY length(c)) FROM clutch.artifact_use u JOIN clutch.events e USING (seq), LATERAL (SELECT clutch.get_artifact('artifact:sha256:' || u.digest) AS c) AS g WHERE e.task_id = 'task:theft' AND e.type = 'task.result'), concat_ws(' ', :'gift', :'ref'), 'but attaches only those that its bytes have become, and those that its agent may read');
SET ROLE outbox_callee_ken;
SELECT throws_ok(format('SELECT clutch.get_artifact(%L)', :'secret'), '42704', NULL, 'so the requester cannot read one of others');
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', ARRAY['agent:mcp.files'], payload => '{"tool": "mcp:files", "name": "read", "args": {"path": "/c"}}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:victim')) \g /dev/null
SET ROLE outbox_callee_gateway;
SELECT fixture.hand();
SELECT fixture.answer(fixture.result(jsonb_build_object('content', '[{"type": "text", "text": "Here it is"}]'::jsonb, '_meta', jsonb_build_object('clutch', jsonb_build_array(jsonb_build_object('path', '/attachments', 'is', jsonb_build_array(jsonb_build_object('kind', 'artifact_ref', 'ref', :'secret'))))))));
SET ROLE outbox_callee_ken;
SELECT is((SELECT string_agg(a ->> 'ref', ' ') FROM clutch.events e, jsonb_array_elements(e.envelope -> 'attachments') a WHERE e.seq = (SELECT max(seq) FROM clutch.events WHERE type = 'tool.result')), :'secret', 'the answer of a tool may name one');
SELECT throws_ok(format('SELECT clutch.get_artifact(%L)', :'secret'), '42704', NULL, 'but whoever has called the tool cannot read it');
RESET ROLE;
SELECT fixture.ask('task:json', skill => 'skill:plain');
SELECT fixture.hand();
SELECT fixture.answer(jsonb_build_object('picture', :'b64'));
SELECT is(fixture.shown('task:json'), jsonb_build_array(jsonb_build_object('picture', :'b64'), NULL), 'bytes in any other JSON stay where they are');

-- ------------------------------------------------ a failure that is a long text
SELECT fixture.ask('task:page', skill => 'skill:plain', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
SELECT is((SELECT clutch.outbox_done(h.id, h.attempt, 410, failure => repeat('é', 1000000)) FROM handed h), 'dead', 'a failure may be longer than an envelope');
SELECT is((SELECT e.envelope #>> '{payload,message}' FROM clutch.events e WHERE e.task_id = 'task:page' AND e.type = 'task.error'), repeat('é', 500), 'its beginning is reported');

-- ---------------------------------------- an endpoint that goes away meanwhile
SELECT fixture.ask('task:renamed', skill => 'skill:plain', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
UPDATE clutch.endpoint SET name = 'moved' WHERE name = 'plain';
SELECT is(fixture.answer('{"x": 1}'), 'sent', 'an answer whose endpoint was renamed is taken');
SELECT is((SELECT status FROM clutch.tasks WHERE task_id = 'task:renamed'), 'completed', 'and is the result');
SELECT fixture.ask('task:gone', skill => 'skill:plain', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
DELETE FROM clutch.endpoint WHERE name = 'moved';
SELECT is(fixture.answer('{"x": 1}'), 'dead', 'an answer whose endpoint is gone cannot be taken');
SELECT is((SELECT concat_ws(' ', status, code, detail) FROM clutch.tasks WHERE task_id = 'task:gone'), 'failed UNAVAILABLE endpoint "moved" does not exist any more', 'and the task fails at once');
INSERT INTO clutch.endpoint (name, url, serves) VALUES ('moved', 'https://plain.example/run', 'agent:plain');
SELECT fixture.ask('task:gone-part', skill => 'skill:plain', orders => '{"retry": {"max": 0}}');
SELECT fixture.hand();
DELETE FROM clutch.endpoint WHERE name = 'moved';
SELECT is(fixture.answer('{"x": 1}', false), 'dead', 'nor can a part of one');
SELECT is((SELECT concat_ws(' ', status, code) FROM clutch.tasks WHERE task_id = 'task:gone-part'), 'failed UNAVAILABLE', 'which ends the task as well');
INSERT INTO clutch.endpoint (name, url, adapter, serves) VALUES ('plain', 'https://plain.example/run', 'http', 'agent:plain');
SELECT fixture.ask('task:gone-later', skill => 'skill:plain');
SELECT fixture.hand();
DELETE FROM clutch.endpoint WHERE name = 'plain';
SELECT is(fixture.answer(NULL, true, 202) || ' ' || fixture.state('task:gone-later'), 'sent running agent:plain 1', 'what was accepted for later goes on, as somebody else reports on it');

-- a tool is not called for a task that was cancelled or has timed out in the meantime
CREATE FUNCTION fixture.calls_tool(task text) RETURNS bigint LANGUAGE sql AS $$
	SELECT seq FROM clutch.send(clutch.envelope('tool.call', 'agent:ken', ARRAY['agent:mcp.files'], payload => '{"tool": "mcp:files", "name": "drop", "args": {}}', run_id => 'run:tool', task_id => task))
$$;
CREATE FUNCTION fixture.call_of(task text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', o.state, o.attempt, o.failure) FROM clutch.outbox o WHERE o.task_id = task $$;
UPDATE clutch.endpoint SET max_attempts = 3 WHERE name = 'files';
SELECT fixture.agent('ken', 9, ARRAY['skill:ken', 'tool:files']);
SELECT fixture.ask('task:tool-late', 'agent:ken', skill => 'skill:ken', run => 'run:tool', orders => jsonb_build_object('deadline', to_char((clutch.now() + '5 s') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')));
SELECT fixture.ask('task:tool-' || t, 'agent:ken', skill => 'skill:ken', run => 'run:tool') FROM unnest('{cancelled,done,answered}'::text[]) AS t;
SELECT count(*) FROM clutch.claim('agent:ken', 9, '1 h') \g /dev/null
SELECT fixture.calls_tool('task:tool-late');
SELECT is(fixture.hand(), 'tool tools/call drop 1', 'a tool is called');
SELECT is(fixture.answer(NULL, true, 503), 'pending', 'and is to be called again');
SELECT fixture.calls_tool('task:tool-' || t) FROM unnest('{cancelled,done}'::text[]) AS t;
SELECT clutch.cancel('task:tool-cancelled', 'agent:ui'), clutch.finish('agent:ken', 'task:tool-done', '{}') \g /dev/null
SELECT set_config('clutch.clock', to_char((clutch.now() + '11 s') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.hand(), 'tool tools/call drop 1', 'of tools that were called by tasks that are over');
SELECT is(fixture.call_of('task:tool-done'), 'pending 1', 'the one is called whose task has ended by itself');
SELECT is(fixture.call_of('task:tool-late'), 'void 2 the task that has called the tool was cancelled or has timed out', 'but not again the one whose task has timed out');
SELECT is(fixture.call_of('task:tool-cancelled'), 'void 1 the task that has called the tool was cancelled or has timed out', 'nor the one whose task was cancelled');
SELECT fixture.answer(fixture.result('{"content": []}'));
SELECT fixture.calls_tool('task:tool-answered');
SELECT fixture.hand();
SELECT clutch.cancel('task:tool-answered', 'agent:ui') \g /dev/null
SELECT is(fixture.answer(fixture.result('{"content": [{"type": "text", "text": "dropped"}]}')), 'sent', 'what a tool has done before that is still told');

-- --------------------------------------- the tools of an MCP server as capabilities
TRUNCATE clutch.outbox;
SELECT clutch.import_card('{"tools": [{"name": "read", "inputSchema": {"type": "object"}}, {"name": "skill.count", "inputSchema": {"type": "object"}}]}', 'agent:mcp.disk') \g /dev/null
INSERT INTO clutch.endpoint (name, url, adapter, serves) VALUES ('disk', 'https://disk.example/mcp', 'mcp', 'agent:mcp.disk');
SELECT fixture.ask('task:read', skill => 'tool:read');
SELECT is(fixture.state('task:read'), 'running agent:mcp.disk 1', 'a request that requires a tool goes to the server that has it');
SELECT is(fixture.hand(), 'task tools/call read 1', 'and calls the tool');
SELECT is((SELECT body #> '{params,arguments}' FROM handed), '{"q": 1}', 'with the payload as its arguments');
SELECT fixture.answer(fixture.result('{"resultType": "input_required", "inputRequests": {"who": {"method": "elicitation/create", "params": {"message": "who?"}}}, "requestState": "s-2"}'));
SELECT clutch.answer('task:read', '{"input_responses": {"who": {"action": "accept", "content": {"name": "Ada"}}}}') \g /dev/null
SELECT fixture.hand();
SELECT is((SELECT concat_ws(' ', body #>> '{params,name}', body #>> '{params,arguments}', body #>> '{params,requestState}') FROM handed), 'read {"q": 1} s-2', 'which is repeated with the answer to its question');
SELECT fixture.answer(fixture.result('{"resultType": "input_required", "inputRequests": {"who": {"method": "elicitation/create", "params": {"message": "who?"}}}, "requestState": "s-3"}'));
SELECT clutch.answer('task:read', '{"input_responses": {"who": {"action": "accept"}}, "name": "skill.count", "args": {"q": 2}}') \g /dev/null
SELECT fixture.hand();
SELECT is((SELECT concat_ws(' ', body #>> '{params,name}', body #>> '{params,arguments}', body #>> '{params,requestState}') FROM handed), 'read {"q": 1} s-3', 'and an answer cannot name another tool or other arguments');
SELECT fixture.answer(fixture.result('{"content": [{"type": "text", "text": "inside"}]}'));
SELECT is(fixture.last('task:read'), 'task.result agent:mcp.disk agent:ui {"text": "inside"}', 'its result is that of the task');
SELECT fixture.ask('task:count', skill => 'tool:skill.count');
SELECT is(fixture.hand(), 'task tools/call skill.count 1', 'whatever the tool is called');
SELECT fixture.answer(fixture.result('{"content": []}'));
SELECT fixture.ask('task:direct', 'agent:mcp.disk', skill => 'tool:disk');
SELECT is(fixture.hand(), 'task tools/call clutch.send 1', 'a request that requires no tool of the server is sent as it is');

-- --------------------------------------- a tool that can be called only as a task
TRUNCATE clutch.outbox;
SELECT clutch.import_card('{"tools": [{"name": "dig", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}, {"name": "skim", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "optional"}}]}', 'agent:mcp.mine') \g /dev/null
INSERT INTO clutch.endpoint (name, url, adapter, serves, agents) VALUES ('mine', 'https://mine.example/mcp', 'mcp', 'agent:mcp.mine', '{agent:ken}');
SELECT fixture.agent('ken', 4, ARRAY['skill:ken', 'tool:files', 'tool:mine']);
SELECT fixture.ask('task:skim', skill => 'tool:skim');
SELECT fixture.hand();
SELECT is((SELECT body #> '{params,task}' FROM handed), NULL, 'a tool that can also be called otherwise is called otherwise');
SELECT fixture.answer(fixture.result('{"content": []}'));
SELECT fixture.ask('task:dig', skill => 'tool:dig');
SELECT is(fixture.hand(), 'task tools/call dig 1', 'any other one is called');
SELECT is((SELECT body #> '{params,task}' FROM handed), '{}', 'as a task');
SELECT is(fixture.answer(fixture.result('{"task": {"taskId": "t-1", "status": "working", "pollInterval": 500}}'), false), 'pending', 'the server makes a task');
SELECT is(fixture.last('task:dig'), 'task.progress agent:mcp.mine agent:ui {"state": "working"}', 'which is at work');
SELECT is(fixture.answer('{"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": {"taskId": "t-1", "status": "completed"}}', false), 'pending', 'that it is completed');
SELECT is(fixture.state('task:dig'), 'running agent:mcp.mine 1', 'is not yet the result');
SELECT is(fixture.answer('{"jsonrpc": "2.0", "id": 7, "result": {"content": [{"type": "text", "text": "gold"}], "_meta": {"io.modelcontextprotocol/related-task": {"taskId": "t-1"}}}}'), 'sent', 'which is a response of its own');
SELECT is(fixture.last('task:dig'), 'task.result agent:mcp.mine agent:ui {"text": "gold"}', 'and ends the task');
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', ARRAY['agent:mcp.mine'], payload => '{"tool": "mcp:mine/dig", "args": {"deep": 1}}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:victim')) \g /dev/null
SELECT is(fixture.hand(), 'tool tools/call dig 1', 'the call of an agent');
SELECT is((SELECT concat_ws(' ', body #> '{params,arguments}', body #> '{params,task}') FROM handed), '{"deep": 1} {}', 'is made a task as well');
SELECT is(fixture.answer(fixture.result('{"taskId": "t-2", "status": "completed"}'), false), 'pending', 'and has no result');
SELECT is(fixture.answer(fixture.result('{"content": [{"type": "text", "text": "silver"}]}')), 'sent', 'before the server has responded with it');
SELECT is(fixture.last('task:victim'), 'tool.result agent:mcp.mine agent:ken {"text": "silver"}', 'to the agent');
SELECT fixture.ask('task:shallow', skill => 'tool:dig');
SELECT fixture.hand();
SELECT fixture.answer(fixture.result('{"taskId": "t-3", "status": "completed", "statusMessage": "nothing there"}'));
SELECT is(fixture.last('task:shallow'), 'task.result agent:mcp.mine agent:ui {"message": "nothing there"}', 'a status that nothing follows is the result');

-- --------------------------------------- an endpoint that is given to another agent
TRUNCATE clutch.outbox;
INSERT INTO clutch.endpoint (name, url, adapter, serves, agents) VALUES ('first', 'https://first.example', 'http', 'agent:first', '{}'), ('mail', 'https://mail.example', 'mcp', 'agent:mcp.mail', '{agent:ken}');
SELECT fixture.agent('first', 4, ARRAY['skill:first']), fixture.agent('second', 4, ARRAY['skill:second']), fixture.agent('ken', 4, ARRAY['skill:ken', 'tool:files', 'tool:mail']);
SELECT fixture.ask('task:first', skill => 'skill:first', orders => '{"retry": {"max": 0}}');
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', '{agent:ken}', '{"tool": "mcp:mail", "name": "send", "args": {"secret": 1}}', task_id => 'task:mail-1', run_id => 'run:mail'));
UPDATE clutch.endpoint SET serves = 'agent:second' WHERE name = 'first';
UPDATE clutch.endpoint SET serves = 'agent:mcp.other' WHERE name = 'mail';
SELECT is(fixture.hand(), 'nothing', 'the other one does not see the calls that waited for the first');
SELECT is(fixture.last('task:first'), 'task.error agent:first agent:ui {"code": "UNAVAILABLE", "message": "endpoint \"first\" does not serve \"agent:first\" any more", "retryable": true}', 'the task is told');
SELECT is(fixture.last('task:mail-1'), 'tool.error agent:mcp.mail agent:ken {"code": "UNAVAILABLE", "message": "endpoint \"mail\" does not serve \"agent:mcp.mail\" any more", "retryable": true}', 'and the caller of the tool');
UPDATE clutch.endpoint SET serves = 'agent:mcp.mail' WHERE name = 'mail';
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', '{agent:ken}', '{"tool": "mcp:mail/send", "args": {}}', task_id => 'task:mail-2', run_id => 'run:mail'));
DELETE FROM clutch.endpoint WHERE name = 'mail';
SELECT is(fixture.hand(), 'nothing', 'nothing is sent to an endpoint that was deleted');
SELECT is(fixture.last('task:mail-2'), 'tool.error agent:mcp.mail agent:ken {"code": "UNAVAILABLE", "message": "endpoint \"mail\" does not exist any more", "retryable": true}', 'and the caller of its tool is told as well');

DROP OWNED BY outbox_callee_ken, outbox_callee_stranger, outbox_callee_gateway;
DELETE FROM clutch.principal;
DELETE FROM clutch.privilege;
DROP ROLE outbox_callee_ken, outbox_callee_stranger, outbox_callee_gateway;

-- ------------------------------- an endpoint that is replaced by one that is paused
SELECT fixture.agent('moving', 4, ARRAY['skill:moving']);
INSERT INTO clutch.endpoint (name, url, serves) VALUES ('before', 'https://before.example/run', 'agent:moving');
SELECT fixture.ask('task:replaced', skill => 'skill:moving');
BEGIN;
DELETE FROM clutch.endpoint WHERE name = 'before';
INSERT INTO clutch.endpoint (name, url, serves, paused) VALUES ('after', 'https://after.example/run', 'agent:moving', true);
COMMIT;
SELECT is((SELECT string_agg(c.endpoint, ' ') FROM clutch.outbox_claim(99) c WHERE c.endpoint IN ('before', 'after')), NULL, 'what waits for an endpoint is not sent to one that is paused');
SELECT is((SELECT concat_ws(' ', endpoint, state, attempt) FROM clutch.outbox WHERE task_id = 'task:replaced'), 'after pending 0', 'and waits for that one');
UPDATE clutch.endpoint SET paused = false WHERE name = 'after';
SELECT is((SELECT string_agg(c.url, ' ') FROM clutch.outbox_claim(99) c WHERE c.endpoint = 'after'), 'https://after.example/run', 'until it is not paused any more');

-- so many that they would keep a gateway waiting
SELECT fixture.agent('crowded', 999, ARRAY['skill:crowd']);
INSERT INTO clutch.endpoint (name, url, serves) VALUES ('crowd', 'https://crowd.example/run', 'agent:crowded');
SELECT count(*) FROM clutch.send_batch(ARRAY(SELECT fixture.request('task:crowd' || n, skill => 'skill:crowd') FROM generate_series(1, 600) n));
BEGIN;
DELETE FROM clutch.endpoint WHERE name = 'crowd';
INSERT INTO clutch.endpoint (name, url, serves, paused) VALUES ('hall', 'https://hall.example/run', 'agent:crowded', true);
COMMIT;
SELECT count(*) FROM clutch.outbox_claim(1);
SELECT is((SELECT string_agg(c.endpoint || ' ' || c.n, ', ') FROM (SELECT endpoint, count(*) AS n FROM clutch.outbox WHERE task_id ^@ 'task:crowd' GROUP BY 1 ORDER BY 1) c), 'crowd 100, hall 500', 'a claim moves so many calls to a paused endpoint');
SELECT count(*) FROM clutch.outbox_claim(1);
SELECT is((SELECT string_agg(c.endpoint || ' ' || c.n, ', ') FROM (SELECT endpoint, count(*) AS n FROM clutch.outbox WHERE task_id ^@ 'task:crowd' GROUP BY 1 ORDER BY 1) c), 'hall 600', 'and the next one the others');

SELECT * FROM finish();
