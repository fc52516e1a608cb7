-- The Agent2Agent protocol, versions 1.0 and 0.3.
\ir ../fixtures/tap.sql
\set adapter a2a
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + (SELECT count(*)::int FROM fixture.sample) + 53);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

-- ------------------------------------------------------------- a conversation
-- a client asks, the agent asks back, is answered, and finishes; everything is said in the client's words
SELECT FROM clutch.register(fixture.card('wren', 99));
SELECT FROM clutch.claim('agent:wren', 99);		-- what the samples ask for
CREATE TABLE asked AS SELECT * FROM clutch.ingest('{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {"kind": "message", "messageId": "c-1", "contextId": "talk", "role": "user",
	"parts": [{"kind": "text", "text": "Book a flight"}]}}}', context => '{"agent_id": "agent:client", "to": "agent:wren"}');
SELECT is((SELECT c.envelope -> 'payload' FROM clutch.claim('agent:wren') AS c), '{"text": "Book a flight"}', 'what a user says without a task is a request');
SELECT FROM asked, clutch.progress('agent:wren', task_id, '{"state": "input_required", "question": "Where to?"}', 1);
CREATE TABLE question AS SELECT clutch.outbound(clutch.envelope_of(e.seq), 'a2a') AS d FROM clutch.events e JOIN asked a USING (task_id) WHERE e.type = 'task.progress';
SELECT is((SELECT concat_ws(' ', d #>> '{statusUpdate,status,state}', d #>> '{statusUpdate,status,message,parts,0,text}', d #>> '{statusUpdate,status,message,role}') FROM question),
	'TASK_STATE_INPUT_REQUIRED Where to? ROLE_AGENT', 'a question is a status');
SELECT is((SELECT d #>> '{statusUpdate,taskId}' FROM question), (SELECT task_id FROM asked), 'of the task by its ID here');
SELECT FROM question, clutch.ingest(jsonb_build_object('jsonrpc', '2.0', 'id', 2, 'method', 'message/send', 'params', jsonb_build_object('message', jsonb_build_object('kind', 'message', 'messageId', 'c-2',
	'contextId', d #> '{statusUpdate,contextId}', 'taskId', d #> '{statusUpdate,taskId}', 'role', 'user', 'parts', '[{"kind": "text", "text": "Tunis"}]'::jsonb))), context => '{"agent_id": "agent:client", "to": "agent:wren"}');
SELECT is((SELECT fixture.state(task_id) FROM asked), 'assigned agent:wren 2', 'a message that names the task answers it');
SELECT is((SELECT count(DISTINCT (e.run_id, e.thread_id)) FROM clutch.events e JOIN asked a USING (task_id)), 1::bigint, 'in the run and the thread of the task, whose ID the client was told');
SELECT is((SELECT c.envelope ->> 'type' FROM clutch.claim('agent:wren') AS c), 'task.request', 'the agent claims it again');
SELECT FROM asked, clutch.finish('agent:wren', task_id, '{"text": "Booked", "seat": "12A"}');
SELECT is(d #> '{task,status,state}' || (d #> '{task,artifacts,0,parts}'), '["TASK_STATE_COMPLETED", {"text": "Booked"}, {"data": {"seat": "12A"}}]', 'the result is an artifact of the task')
FROM clutch.events e JOIN asked a USING (task_id), LATERAL (SELECT clutch.outbound(clutch.envelope_of(e.seq), 'a2a')) AS o(d) WHERE e.type = 'task.result';
SELECT is((SELECT duplicate FROM clutch.ingest('{"jsonrpc": "2.0", "id": 77, "method": "SendMessage", "params": {"message": {"messageId": "c-1", "contextId": "talk", "role": "ROLE_USER",
	"parts": [{"text": "Book a flight"}]}}}', context => '{"agent_id": "agent:client", "to": "agent:wren"}')), true, 'a message that is sent again is a duplicate, in whatever version');

-- -------------------------------------------- the other side of a conversation
-- an agent of A2A does a task of ours: the context says which
CREATE TABLE ours AS SELECT * FROM clutch.send('{"v": "clutch/0.1", "id": "msg_ours", "ts": "2026-02-01T10:00:00Z", "thread_id": "thr_ours", "run_id": "run_ours", "task_id": "task_ours", "type": "task.request",
	"from": {"agent_id": "agent:ken"}, "to": [{"agent_id": "agent:wren"}], "payload": {"text": "Translate it"}, "prefers": ["mode:text/plain"]}');
SELECT is(clutch.outbound(clutch.envelope_of(seq), 'a2a') #- '{params,message,metadata}', '{"jsonrpc": "2.0", "id": "msg_ours", "method": "SendMessage", "params": {"message": {"messageId": "msg_ours", "contextId": "thr_ours",
	"role": "ROLE_USER", "parts": [{"text": "Translate it"}]}, "configuration": {"acceptedOutputModes": ["text/plain"]}}}', 'a request goes out without the ID of a task, which is the other side''s') FROM ours;
SELECT FROM clutch.claim('agent:wren');
SELECT FROM clutch.ingest('{"jsonrpc": "2.0", "id": "msg_ours", "result": {"task": {"id": "theirs", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}}',
	context => '{"agent_id": "agent:wren", "task_id": "task_ours", "thread_id": "thr_ours"}');
SELECT is((SELECT fixture.state('task_ours')), 'running agent:wren 1', 'work goes on');
SELECT FROM clutch.ingest('{"jsonrpc": "2.0", "id": "msg_ours", "result": {"task": {"id": "theirs", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [{"artifactId": "a", "parts": [{"text": "Fait"}]}]}}}',
	context => '{"agent_id": "agent:wren", "task_id": "task_ours", "thread_id": "thr_ours"}');
SELECT is((SELECT fixture.state('task_ours')), 'completed agent:wren 1', 'and ends');
SELECT is((SELECT clutch.envelope_of(seq) -> 'payload' FROM clutch.events WHERE task_id = 'task_ours' AND type = 'task.result'), '{"text": "Fait"}', 'with the artifact as its result');

-- the same event of two streams is one, and a later one is another
CREATE FUNCTION pg_temp.status(state text, at text, id text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('jsonrpc', '2.0', 'id', id, 'result', jsonb_build_object('statusUpdate', jsonb_build_object('taskId', 't', 'contextId', 'c', 'status', jsonb_build_object('state', state, 'timestamp', at)))) $$;
SELECT is((SELECT count(DISTINCT e ->> 'id') FROM (VALUES ('TASK_STATE_WORKING', '2026-02-01T10:00:00Z', 'a'), ('TASK_STATE_WORKING', '2026-02-01T10:00:00Z', 'b')) AS v(s, a, i),
	LATERAL clutch.inbound(pg_temp.status(s, a, i)) AS e), 1::bigint, 'an event that comes by two streams is one');
SELECT is((SELECT count(DISTINCT e ->> 'id') FROM (VALUES ('TASK_STATE_WORKING', '2026-02-01T10:00:00Z', 'a'), ('TASK_STATE_WORKING', '2026-02-01T10:00:01Z', 'a'), ('TASK_STATE_FAILED', '2026-02-01T10:00:01Z', 'a')) AS v(s, a, i),
	LATERAL clutch.inbound(pg_temp.status(s, a, i)) AS e), 3::bigint, 'another time or state is another');
CREATE FUNCTION pg_temp.polled(rpc_id int, more jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('jsonrpc', '2.0', 'id', rpc_id, 'result', '{"id": "polled", "contextId": "c", "status": {"state": "TASK_STATE_WORKING", "timestamp": "2026-02-01T10:00:00Z"}}'::jsonb || more) $$;
SELECT FROM clutch.send((SELECT envelope_of || '{"id": "msg_polled", "task_id": "task_polled", "run_id": "run_polled", "meta": {}}' FROM clutch.envelope_of((SELECT seq FROM ours))));
SELECT FROM clutch.claim('agent:wren');
SELECT is((SELECT string_agg(r.duplicate::text, ' ' ORDER BY n) FROM (VALUES (1, '{}'::jsonb), (2, '{}'), (3, '{"history": []}'), (4, '{"artifacts": [{"artifactId": "a", "parts": []}]}')) AS v(n, more),
	LATERAL clutch.ingest(pg_temp.polled(n, more), context => '{"agent_id": "agent:wren", "task_id": "task_polled", "run_id": "run_polled"}') AS r), 'false true true false', 'a task that is asked for again is news only if it has more');

-- ------------------------------------------------ states, and what is made of them
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e #>> '{payload,state}', e #>> '{payload,code}'), ', ' ORDER BY i)
	FROM unnest(ARRAY['SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'AUTH_REQUIRED', 'COMPLETED', 'FAILED', 'REJECTED', 'CANCELED', 'UNSPECIFIED']) WITH ORDINALITY AS t(s, i),
		LATERAL clutch.inbound(pg_temp.status('TASK_STATE_' || s, '2026-02-01T10:00:00Z', 'a')) AS e),
	'task.progress submitted, task.progress working, task.progress input_required, task.progress auth_required, task.result, task.error TASK_FAILED, task.error REJECTED, task.cancel, task.progress unknown', 'states of 1.0');
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e #>> '{payload,state}', e #>> '{payload,code}'), ', ' ORDER BY i)
	FROM unnest(ARRAY['submitted', 'working', 'input-required', 'auth-required', 'completed', 'failed', 'rejected', 'canceled', 'unknown']) WITH ORDINALITY AS t(s, i),
		LATERAL clutch.inbound(jsonb_build_object('kind', 'status-update', 'taskId', 't', 'contextId', 'c', 'final', false, 'status', jsonb_build_object('state', s))) AS e),
	'task.progress submitted, task.progress working, task.progress input_required, task.progress auth_required, task.result, task.error TASK_FAILED, task.error REJECTED, task.cancel, task.progress unknown', 'states of 0.3');

CREATE FUNCTION pg_temp.said(type text, payload jsonb, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
$$ SELECT clutch.outbound((envelope || jsonb_build_object('type', type, 'payload', payload, 'meta', '{}'::jsonb) || more) - 'attachments', 'a2a') FROM fixture.native WHERE name = 'task.accept' $$;
SELECT is(pg_temp.said('task.accept', '{}') #>> '{statusUpdate,status,state}', 'TASK_STATE_WORKING', 'task.accept is WORKING');
SELECT is(pg_temp.said('task.progress', '{"state": "halfway"}') #> '{statusUpdate,status}' #- '{message,messageId}' #- '{message,taskId}' #- '{message,contextId}' #- '{timestamp}',
	'{"state": "TASK_STATE_WORKING", "message": {"role": "ROLE_AGENT", "parts": [{"data": {"state": "halfway"}}]}}', 'so is a state that the protocol does not know');
SELECT is(pg_temp.said('task.error', '{"code": "REJECTED", "message": "no"}') #>> '{statusUpdate,status,state}', 'TASK_STATE_REJECTED', 'an error with the code REJECTED is a rejection');
SELECT is(pg_temp.said('task.timeout', '{"code": "TIMEOUT", "message": "late", "retryable": true}') #> '{statusUpdate,status,message,parts}', '[{"text": "late"}, {"data": {"code": "TIMEOUT", "retryable": true}}]', 'a timeout says its code');
SELECT is(pg_temp.said('task.timeout', '{"code": "TIMEOUT", "message": "late", "retryable": true}') #>> '{statusUpdate,status,state}', 'TASK_STATE_FAILED', 'and is FAILED');
SELECT is(pg_temp.said('routing.failure', '{"code": "NO_CAPABLE_AGENT", "message": "nobody"}', m) #>> p, state, 'a task that waits for an agent is not over, in version ' || v)
FROM (VALUES ('1.0', '{}'::jsonb, '{statusUpdate,status,state}'::text[], 'TASK_STATE_SUBMITTED'), ('0.3', '{"meta": {"a2a": {"v": "0.3"}}}', '{status,state}', 'submitted'), ('0.3', '{"meta": {"a2a": {"v": "0.3"}}}', '{final}', 'false')) AS c(v, m, p, state);
SELECT is(pg_temp.said('routing.failure', '{"code": "NO_CAPABLE_AGENT", "message": "nobody"}') #> '{statusUpdate,status,message,parts}', '[{"text": "nobody"}, {"data": {"code": "NO_CAPABLE_AGENT"}}]', 'and says what it waits for');
SELECT is(fixture.fault($$SELECT pg_temp.said('routing.decision', '{}')$$), '0A000 NO_FORM /type', 'a decision has no form');
SELECT is(pg_temp.said('task.progress', '{"artifact_id": "a", "append": true, "text": "more"}') #> '{artifactUpdate,artifact}' || (pg_temp.said('task.progress', '{"artifact_id": "a", "append": true}') #> '{artifactUpdate,append}'),
	'[{"artifactId": "a", "parts": [{"text": "more"}]}, true]', 'progress with an artifact_id is a piece of an artifact');
SELECT is(pg_temp.said('task.cancel', '{"reason": "late"}') #> '{method}' || (pg_temp.said('task.cancel', '{"reason": "late"}') #> '{params,metadata,reason}'), '["CancelTask", "late"]', 'task.cancel asks the other side to cancel');
SELECT is(pg_temp.said('chat.message', '{"text": "hi"}') #>> '{message,role}', 'ROLE_AGENT', 'what an agent says is a message');
SELECT is(pg_temp.said('chat.message', '{"text": "hi"}', '{"from": {"agent_id": "agent:ada", "role": "user"}}') #>> '{params,message,role}', 'ROLE_USER', 'what a user says is a request');
SELECT is(pg_temp.said('task.request', '{"text": "x"}', '{"trace": {"trace_id": "0af7651916cd43dd8448eb211c80319c", "span_id": "b7ad6b7169203331"}}') #>> '{params,message,metadata,traceparent}',
	'00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'a trace in two halves is that of W3C');

-- ------------------------------------------------------------- what it is not
SELECT is((SELECT string_agg(coalesce(clutch.can_handle(d), 'nobody'), ' ' ORDER BY i) FROM unnest('{"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tasks/get\", \"params\": {\"taskId\": \"t\"}}",
	"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tasks/cancel\", \"params\": {\"id\": \"t\"}}", "{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {}}", "{\"jsonrpc\": \"2.0\", \"id\": 1, \"error\": {\"code\": -32002, \"message\": \"Resource not found\", \"data\": {\"uri\": \"file:///a\"}}}",
	"{\"jsonrpc\": \"2.0\", \"id\": null, \"error\": {\"code\": -32001, \"message\": \"Session not found\"}}", "{\"id\": \"x\", \"status\": {\"state\": \"working\"}}", "{\"message\": {\"role\": \"user\", \"parts\": [{\"text\": \"hi\"}]}}"}'::jsonb[]) WITH ORDINALITY AS t(d, i)),
	'mcp a2a mcp mcp mcp nobody nobody', 'what is MCP''s, or could be anybody''s, is left to others');
SELECT is(e #>> '{payload_type}', 'a2a.result', 'unless the adapter is named') FROM clutch.inbound('{"jsonrpc": "2.0", "id": 1, "result": {}}', 'a2a') AS e;
SELECT is(d, '{"taskId": "t", "url": "https://c.example"}', 'also for a config without JSON-RPC, which comes back') FROM clutch.inbound('{"taskId": "t", "url": "https://c.example"}', 'a2a') AS e, LATERAL (SELECT clutch.outbound(e, 'a2a')) AS o(d);
SELECT throws_like($$ SELECT clutch.inbound('{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602.0000000000000000000001, "message": "no"}}', 'a2a') $$, '%"/error/code": it must be a whole number', 'a number that is nearly a code is none');
SELECT is(e #>> '{payload,code}', 'INVALID_PARAMS', 'also for an error') FROM clutch.inbound('{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}}', 'a2a') AS e;
SELECT is(fixture.fault($$SELECT clutch.inbound(pg_temp.status('TASK_STATE_SLEEPING', '2026-02-01T10:00:00Z', 'a'))$$), 'KL014 WRONG_VALUE /result/statusUpdate/status/state', 'states are those of the protocol');
SELECT is(fixture.fault($$SELECT clutch.inbound('{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"role": "ROLE_USER", "parts": []}}}')$$), 'KL014 REQUIRED /params/message/messageId', 'a message has an ID');
SELECT is(fixture.fault($$SELECT clutch.inbound('{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {}}')$$), 'KL014 REQUIRED /params/message', 'a request to send has a message');
SELECT is(fixture.fault($$SELECT clutch.inbound('{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {"messageId": "m", "role": "user", "parts": [], "metadata": {"clutch/skill": "a@1"}}}}')$$),
	'KL014 WRONG_FORMAT /params/message/metadata/clutch~1skill', 'a skill is named without a version');

-- credentials of a config of push notifications
SELECT is(e #> '{meta,a2a,dropped}', '["/params/configuration/taskPushNotificationConfig/token", "/params/configuration/taskPushNotificationConfig/authentication/credentials"]', 'credentials are dropped, and named')
FROM fixture.sample s, LATERAL (SELECT fixture.made(s.raw, 'a2a')) AS m(e) WHERE s.name = 'a request';

-- Anybody may have changed the notes: outbound makes some document of them.
SELECT ok((SELECT count(clutch.outbound(jsonb_set(e, '{meta,a2a}', (e #> '{meta,a2a}') || jsonb_build_object(k, v)), 'a2a')) = count(*)
	FROM jsonb_object_keys(e #> '{meta,a2a}' || '{"said": 1, "artifact": 1, "order": 1, "whole": 1, "metadata": 1, "configuration": 1, "method": 1, "wrapped": 1}') AS k,
		unnest('{5, "\"x\"", null, true, "[]", "[1]", "{}", "{\"a\": 1}"}'::jsonb[]) AS v), 'changed notes of ' || s.name)
FROM fixture.sample s, LATERAL (SELECT fixture.made(s.raw, 'a2a', s.context)) AS m(e);

-- codes of ours, and what a client of A2A is told
SELECT is(string_agg(concat_ws(' ', c, d #>> '{error,code}', d #>> '{error,data,0,reason}'), ', ' ORDER BY i),
	'PARSE_ERROR -32700 PARSE_ERROR, INVALID_REQUEST -32600 INVALID_REQUEST, SCHEMA_VIOLATION -32602 SCHEMA_VIOLATION, METHOD_NOT_FOUND -32601 METHOD_NOT_FOUND, TASK_NOT_CANCELABLE -32002 TASK_NOT_CANCELABLE, TASK_TERMINAL -32004 TASK_TERMINAL, UNSUPPORTED -32004 UNSUPPORTED_OPERATION, PUSH_NOTIFICATION_NOT_SUPPORTED -32003 PUSH_NOTIFICATION_NOT_SUPPORTED, CONTENT_TYPE -32005 CONTENT_TYPE_NOT_SUPPORTED, INVALID_AGENT_RESPONSE -32006 INVALID_AGENT_RESPONSE, EXTENDED_AGENT_CARD_NOT_CONFIGURED -32007 EXTENDED_AGENT_CARD_NOT_CONFIGURED, EXTENSION_SUPPORT_REQUIRED -32008 EXTENSION_SUPPORT_REQUIRED, VERSION -32009 VERSION_NOT_SUPPORTED, AGENT_NOT_FOUND -32602 AGENT_NOT_FOUND, DUPLICATE_CONFLICT -32602 DUPLICATE_CONFLICT, INTERNAL -32603 INTERNAL, NO_CAPACITY -32603 NO_CAPACITY',
	'a code has a number and a reason')
FROM fixture.sample s, LATERAL (SELECT fixture.made(s.raw, 'a2a')) AS m(e),
	unnest('{PARSE_ERROR,INVALID_REQUEST,SCHEMA_VIOLATION,METHOD_NOT_FOUND,TASK_NOT_CANCELABLE,TASK_TERMINAL,UNSUPPORTED,PUSH_NOTIFICATION_NOT_SUPPORTED,CONTENT_TYPE,INVALID_AGENT_RESPONSE,EXTENDED_AGENT_CARD_NOT_CONFIGURED,EXTENSION_SUPPORT_REQUIRED,VERSION,AGENT_NOT_FOUND,DUPLICATE_CONFLICT,INTERNAL,NO_CAPACITY}'::text[]) WITH ORDINALITY AS t(c, i),
	LATERAL clutch.outbound(jsonb_set(e, '{payload,code}', to_jsonb(c)), 'a2a') AS d WHERE s.name = 'an error';

SELECT is(fixture.fault(format($$SELECT clutch.inbound(%L)$$, jsonb_set(raw, '{params,message,metadata,clutch/schema_ref}', '"shop/prices"'))), 'KL014 WRONG_PREFIX /params/message/metadata/clutch~1schema_ref', 'a schema is named as here')
FROM fixture.sample WHERE name = 'a request';

SELECT is(fixture.fault($$SELECT clutch.inbound('{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m", "role": "ROLE_BOSS", "parts": [{"text": "x"}]}}}')$$),
	'KL014 WRONG_VALUE /params/message/role', 'a role that A2A does not know is refused');

-- the times that the libraries of version 0.3 write have no zone
CREATE TEMP TABLE timed AS SELECT '{"kind": "status-update", "taskId": "t-1", "contextId": "c-1", "final": true, "status": {"state": "completed", "timestamp": "2025-04-02T16:59:35.331844"}}'::jsonb AS raw;
SELECT is(e ->> 'ts', '2025-04-02T16:59:35.331844Z', 'a time without a zone counts as UTC') FROM timed, clutch.inbound(raw) AS e;
SELECT is(clutch.outbound(e, 'a2a'), raw, 'and comes back as it was') FROM timed, clutch.inbound(raw) AS e;
SELECT is(clutch.outbound(jsonb_set(e, '{ts}', '"2026-01-01T00:00:00Z"'), 'a2a') #>> '{status,timestamp}', '2026-01-01T00:00:00Z', 'unless it was changed') FROM timed, clutch.inbound(raw) AS e;

-- a client goes on in the context that it was told, without naming a task
CREATE FUNCTION pg_temp.goes_on(context text, message text) RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('message', jsonb_build_object('messageId', message, 'contextId', context, 'role', 'ROLE_USER', 'parts', '[{"text": "and a hotel"}]'::jsonb)) $$;
SELECT thread_id AS told FROM clutch.events WHERE thread_id LIKE 'thr\_%' LIMIT 1 \gset
SELECT is(e ->> 'thread_id', :'told', 'a context that is a thread here is that thread') FROM clutch.inbound(pg_temp.goes_on(:'told', 'on-1')) AS e;
SELECT is(clutch.outbound(e, 'a2a') #>> '{message,contextId}', :'told', 'and comes back') FROM clutch.inbound(pg_temp.goes_on(:'told', 'on-1')) AS e;
SELECT isnt(e ->> 'thread_id', 'thr_unknown', 'any other is derived') FROM clutch.inbound(pg_temp.goes_on('thr_unknown', 'on-2')) AS e;
CREATE ROLE stranger_of_a2a;
SELECT clutch.grant_agent('stranger_of_a2a', 'agent:stranger');
SET ROLE stranger_of_a2a;
SELECT e ->> 'thread_id' AS thread FROM clutch.inbound(jsonb_build_object('message', '{"messageId": "on-3", "role": "ROLE_USER", "parts": [{"text": "x"}]}'::jsonb || jsonb_build_object('contextId', :'told'))) AS e \gset
RESET ROLE;
SELECT isnt(:'thread'::text, :'told', 'as is one that the role cannot see');
SELECT clutch.revoke_agent('stranger_of_a2a', 'agent:stranger');
DROP ROLE stranger_of_a2a;

-- some libraries write "error": null beside a result
SELECT is(clutch.can_handle('{"jsonrpc": "2.0", "id": 1, "error": null, "result": {"kind": "task", "id": "t-1", "contextId": "c-1", "status": {"state": "completed"}}}'), 'a2a', 'an error that is null is none');

SELECT * FROM finish();
