-- The Model Context Protocol.
\ir ../fixtures/tap.sql
\set adapter mcp
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 60);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

-- a call that went out under the ID of its envelope
SELECT clutch.send('{"v": "clutch/0.1", "id": "msg_call", "ts": "2026-02-01T10:00:00Z", "thread_id": "thr_1", "run_id": "run_1", "task_id": "task_1", "type": "tool.call",
	"from": {"agent_id": "agent:ken"}, "to": [{"agent_id": "agent:mcp.files"}], "payload": {"tool": "mcp:files/read", "args": {"path": "/a"}},
	"trace": {"trace_id": "0af7651916cd43dd8448eb211c80319c", "span_id": "b7ad6b7169203331"}}');
SELECT is(clutch.outbound(clutch.envelope_of(seq), 'mcp') #- '{params,_meta,clutch}',
	'{"jsonrpc": "2.0", "id": "msg_call", "method": "tools/call", "params": {"name": "read", "arguments": {"path": "/a"},
		"_meta": {"progressToken": "msg_call", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}', 'a tool.call goes out under its own ID')
FROM clutch.events WHERE id = 'msg_call';
SELECT is((SELECT jsonb_agg(e -> 'type') || jsonb_agg(e #> '{meta,clutch,reply_to}') || jsonb_agg(e #> '{from,agent_id}')
	FROM clutch.inbound('{"jsonrpc": "2.0", "id": "msg_call", "result": {"content": [{"type": "text", "text": "x"}]}}', context => '{"server": "files", "run_id": "run_1", "task_id": "task_1"}') AS e),
	'["tool.result", "msg_call", "agent:mcp.files"]', 'its result names it, and comes from the agent of the server');
CREATE ROLE mcp_stranger;
SELECT clutch.grant_agent('mcp_stranger', 'agent:stranger');
SET ROLE mcp_stranger;
SELECT isnt(e #>> '{meta,clutch,reply_to}', 'msg_call', 'but not for a role that may not see the call')
FROM clutch.inbound('{"jsonrpc": "2.0", "id": "msg_call", "result": {"content": []}}', context => '{"agent_id": "agent:stranger", "run_id": "run_1"}') AS e
WHERE e ->> 'type' = 'tool.result';
RESET ROLE;
SELECT clutch.revoke_agent('mcp_stranger', 'agent:stranger');
DROP OWNED BY mcp_stranger;
DROP ROLE mcp_stranger;

-- sessions
SELECT is((SELECT count(DISTINCT (SELECT e ->> 'task_id' FROM clutch.inbound('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "skill.x"}}', context => c) AS e))
	FROM unnest('{"{\"session\": \"a\"}", "{\"session\": \"b\"}", "{\"session\": \"a\"}"}'::jsonb[]) AS c), 2::bigint, 'one ID is two requests in two sessions, and one in one');
SELECT is((SELECT string_agg(e ->> 'type', ' ') FROM (SELECT clutch.envelope(type, 'agent:ken', '{agent:lina}', payload, requires => requires) || meta AS e FROM
	(VALUES ('task.request', '{"a": 1}'::jsonb, '{skill:x}'::text[]), ('tool.call', '{"tool": "mcp:web", "name": "f", "args": {}}', NULL), ('chat.message', '{"text": "a"}', NULL), ('task.progress', '{"progress": 1}', NULL), ('task.cancel', '{}', NULL)) AS v(type, payload, requires),
	unnest('{"{}", "{\"meta\": {\"mcp\": {\"form\": \"call\", \"native\": {\"scope\": \"x\"}}}}", "{\"meta\": {\"other\": 1}}"}'::jsonb[]) AS meta) AS w
	WHERE fixture.made(clutch.outbound(e, 'mcp'), 'mcp', '{"session": "a"}') <> e), NULL, 'an envelope that was never foreign comes back as it was in a session');
SELECT is((SELECT count(DISTINCT fixture.made('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "skill.x", "_meta": {"clutch": []}}}', 'mcp', c) ->> 'id')
	FROM unnest('{"{}", "{\"session\": \"a\"}", "{\"session\": \"b\"}"}'::jsonb[]) AS c), 3::bigint, 'a carrier without an ID does not take a request out of its session');
CREATE FUNCTION pg_temp.hint_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
	RETURN (detail::jsonb #>> '{0,code}') || CASE WHEN hint ~ 'name the sessions in the context' THEN ' session' ELSE '' END;
END $$;
SELECT clutch.ingest('{"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "skill.x"}}', context => context::jsonb) FROM unnest('{"{}","{\"session\": \"h\"}"}'::text[]) AS context \g /dev/null
SELECT is(pg_temp.hint_of(format($$SELECT clutch.ingest('{"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "skill.other"}}', context => %L)$$, context)), said, 'an ID that another document has, with the context ' || context)
FROM (VALUES ('{}', 'ID_REUSED session'), ('{"session": "h"}', 'ID_REUSED')) AS v(context, said);
SELECT lives_ok($$SELECT clutch.ingest('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "skill.x"}}', context => '{"session": "a"}');
	SELECT clutch.ingest('{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}', context => '{"session": "a"}')$$, 'what cancels a request');
SELECT is((SELECT string_agg(t.status::text, ' ') FROM clutch.tasks t JOIN clutch.events e USING (task_id)
	WHERE e.type = 'task.request' AND e.task_id = (SELECT i ->> 'task_id' FROM clutch.inbound('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "skill.x"}}', context => '{"session": "a"}') AS i)),
	'cancelled', 'cancels its task');

-- what a program reads is also said as text
SELECT is(d #>> '{result,content,0,text}', '{"celsius": 5}', 'the text of a structured result changes with it')
FROM fixture.sample s, LATERAL (SELECT clutch.outbound(jsonb_set(fixture.made(s.raw, 'mcp', s.context), '{payload}', '{"celsius": 5}'), 'mcp')) AS o(d) WHERE s.name = 'a structured result';
SELECT is(clutch.outbound(e, 'mcp') #- '{result,_meta}', '{"jsonrpc": "2.0", "id": "task_1", "result": {"content": [{"type": "text", "text": "{\"year\": 2026}"}], "structuredContent": {"year": 2026}}}',
	'the result of a task is the result of a tool')
FROM (SELECT envelope || '{"type": "task.result", "task_id": "task_1", "payload": {"year": 2026}, "meta": {}}' FROM fixture.native WHERE name = 'task.error') AS n(e);
SELECT is(clutch.outbound(e, 'mcp') #- '{result,_meta}', '{"jsonrpc": "2.0", "id": "task_1", "result": {"content": [{"type": "text", "text": "too late"}], "isError": true}}', 'and its timeout is a failure of the tool')
FROM (SELECT envelope || '{"type": "task.timeout", "task_id": "task_1", "payload": {"code": "TIMEOUT", "message": "too late", "retryable": true}, "meta": {}}' FROM fixture.native WHERE name = 'task.error') AS n(e);
SELECT is(clutch.outbound(envelope, 'mcp') #> '{params,_meta}' ?& '{clutch}', true, 'what the protocol has no place for stands where it allows it') FROM fixture.native WHERE name = 'task.request';

-- what it is not
SELECT throws_ok($$SELECT clutch.inbound('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "clutch.send", "arguments": {"type": "routing.decision"}}}', 'mcp')$$, 'KL014', NULL,
	'nobody says what only the database says');
SELECT throws_ok($$SELECT clutch.inbound('{"jsonrpc": "2.0", "result": {"content": []}}', 'mcp')$$, 'KL014', NULL, 'a result is one of a request');
SELECT is(clutch.can_handle('{"jsonrpc": "2.0", "id": 1, "method": "eth/call", "params": {}}'), NULL, 'a method of another protocol is none of this one');

-- what a worker says in other words than the protocol's is not lost, and not what a client would refuse
SELECT is(d #- '{result,_meta}' -> 'result', jsonb_build_object('content', jsonb_build_array(jsonb_build_object('type', 'text', 'text', p::text)), 'structuredContent', p), 'what is no content is data: ' || p::text)
FROM fixture.native, unnest(ARRAY['{"content": ["a", "b"]}', '{"content": [{"title": "x"}]}', '{"content": [{"type": "image", "data": "AAAA"}]}', '{"content": [{"type": "video", "data": "AAAA", "mimeType": "v/x"}]}',
		'{"structured": "yes"}', '{"structured": [1]}', '{"structured": null}', '{"text": "a", "structured": 7}']::jsonb[]) AS p,
	LATERAL clutch.outbound(envelope || jsonb_build_object('type', 'task.result', 'payload', p), 'mcp') AS d WHERE name = 'task.error';
SELECT is(d #- '{result,_meta}' -> 'result', jsonb_build_object('content', '[{"type": "text", "text": "no"}]'::jsonb, 'structuredContent', p, 'isError', true), 'nor are the details of a failure: ' || p::text)
FROM fixture.native, unnest(ARRAY['{"content": ["a"]}', '{"structured": "x"}', '{"content": [{"type": "text", "text": "b"}], "structured": [1]}']::jsonb[]) AS p,
	LATERAL clutch.outbound(jsonb_set(envelope, '{payload}', jsonb_build_object('code', 'X', 'message', 'no', 'details', p)), 'mcp') AS d WHERE name = 'task.error';
SELECT is(clutch.outbound(jsonb_set(envelope, '{payload}', p), 'mcp') -> 'params', q || jsonb_build_object('_meta', clutch.outbound(jsonb_set(envelope, '{payload}', p), 'mcp') #> '{params,_meta}'), 'a client is asked in its own words: ' || p::text)
FROM fixture.native, (VALUES
	('{"state": "input_required", "question": 5}'::jsonb, '{"message": "Input is required.", "requestedSchema": {"type": "object", "properties": {}}}'::jsonb),
	('{"state": "input_required", "text": "Which?"}', '{"message": "Which?", "requestedSchema": {"type": "object", "properties": {}}}'),
	('{"state": "input_required", "question": "?", "input_schema": "x"}', '{"message": "?", "requestedSchema": {"type": "object", "properties": {}}}'),
	('{"state": "input_required", "question": "?", "input_schema": {"type": "string"}}', '{"message": "?", "requestedSchema": {"type": "object", "properties": {}}}'),
	('{"state": "input_required", "question": "?", "input_schema": {"type": "object", "properties": {"a": {"type": "object"}}}}', '{"message": "?", "requestedSchema": {"type": "object", "properties": {}}}'),
	('{"state": "input_required", "question": "?", "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}}}', '{"message": "?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}'),
	('{"state": "auth_required", "question": "Log in", "url": "https://login.example/x"}', '{"mode": "url", "message": "Log in", "url": "https://login.example/x", "elicitationId": "ID"}'),
	('{"state": "auth_required", "question": "Log in"}', '{"message": "Log in", "requestedSchema": {"type": "object", "properties": {}}}')) AS v(p, asked),
	LATERAL (SELECT CASE WHEN asked ? 'elicitationId' THEN jsonb_set(asked, '{elicitationId}', envelope -> 'id') ELSE asked END) AS w(q) WHERE name = 'task.progress';
SELECT is(clutch.outbound(jsonb_set(envelope, '{payload}', p), 'mcp') -> 'params' #- '{_meta}' #- '{progressToken}', told, 'and told of progress: ' || p::text)
FROM fixture.native, (VALUES
	('{"progress": 0.5, "total": 2, "message": "half"}'::jsonb, '{"progress": 0.5, "total": 2, "message": "half"}'::jsonb),
	('{"progress": "half", "total": "x", "message": 5}', '{"progress": 0}'), ('{"text": "soon", "message": {}}', '{"progress": 0, "message": "soon"}')) AS v(p, told) WHERE name = 'task.progress';
SELECT throws_like($$SELECT clutch.inbound('{"jsonrpc": "2.0", "id": null, "method": "tools/call", "params": {"name": "skill.x"}}', 'mcp')$$, '%"/id"%text or a number%', 'the ID of a request is not null');

-- a note that somebody has changed
SELECT is(clutch.outbound(changed, 'mcp') ->> 'method', 'notifications/tasks/status', 'what says no place it knows is a notice: ' || at::text)
FROM fixture.sample s, (VALUES ('5'::jsonb), ('"/elsewhere"')) AS v(at), LATERAL (SELECT fixture.made(s.raw, 'mcp', s.context)) AS m(e),
	LATERAL (SELECT jsonb_set(e, '{meta,mcp}', (e #> '{meta,mcp}') || jsonb_build_object('at', at))) AS c(changed)
WHERE s.raw @> '{"method": "notifications/tasks/status", "params": {"taskId": "t-3"}}';

-- a carrier that nobody has written
SELECT throws_like(format($$SELECT clutch.inbound(%L, 'mcp')$$, raw), '%at "/result/_meta/clutch": it leads to an envelope that is not valid at "/payload"', 'a carrier leads to an envelope, or the document is refused: ' || name)
FROM (VALUES ('an array', '{"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "_meta": {"clutch": [{"path": "/payload", "was": {"action": "accept"}, "is": [1]}]}}}'::jsonb),
	('a text', '{"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "_meta": {"clutch": [{"path": "/payload", "was": {"action": "accept"}, "is": "x"}]}}}')) AS v(name, raw);

-- codes of ours, and what a client of MCP is told
SELECT is(string_agg(concat_ws(' ', c, coalesce(d #>> '{error,code}', d #>> '{result,isError}')), ', ' ORDER BY i),
	'PARSE_ERROR -32700, INVALID_REQUEST -32600, INVALID_PARAMS -32602, SCHEMA_VIOLATION -32602, METHOD_NOT_FOUND -32601, TASK_NOT_FOUND -32602, TASK_NOT_CANCELABLE -32602, TASK_TERMINAL -32602, UNSUPPORTED -32601, CONTENT_TYPE -32602, VERSION -32022, AGENT_NOT_FOUND -32602, DUPLICATE_CONFLICT -32602, TOOL_UNAVAILABLE -32603, INTERNAL -32603, NO_CAPACITY true, TIMEOUT true, REJECTED true, TOOL_EXECUTION_ERROR true',
	'a code has a number, or is the failure of a tool')
FROM fixture.native, unnest('{PARSE_ERROR,INVALID_REQUEST,INVALID_PARAMS,SCHEMA_VIOLATION,METHOD_NOT_FOUND,TASK_NOT_FOUND,TASK_NOT_CANCELABLE,TASK_TERMINAL,UNSUPPORTED,CONTENT_TYPE,VERSION,AGENT_NOT_FOUND,DUPLICATE_CONFLICT,TOOL_UNAVAILABLE,INTERNAL,NO_CAPACITY,TIMEOUT,REJECTED,TOOL_EXECUTION_ERROR}'::text[]) WITH ORDINALITY AS t(c, i),
	LATERAL clutch.outbound(jsonb_set(envelope, '{payload,code}', to_jsonb(c)), 'mcp') AS d WHERE name = 'task.error';

SELECT is(d #- '{params,_meta}', '{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "task_01HX...", "progress": 0}}', 'progress says how far it is, and of what')
FROM fixture.native, clutch.outbound(envelope || '{"payload": {}}' #- '{meta,clutch}', 'mcp') AS d WHERE name = 'task.progress';

SELECT is(d #>> '{params,message}', 'Input is required.', 'a question has words, whoever asked it')
FROM fixture.native, clutch.outbound(envelope || '{"payload": {"state": "input_required"}}', 'mcp') AS d WHERE name = 'task.progress';
SELECT is((SELECT string_agg(s.name, ', ') FROM fixture.sample s WHERE s.context ? 'session'
	AND fixture.made(s.raw, 'mcp', s.context) ->> 'id' = fixture.made(s.raw, 'mcp', s.context || '{"session": "another"}') ->> 'id'), NULL, 'an ID is one of its session');

SELECT is((SELECT string_agg(s.name || ' ' || (e #>> '{from,agent_id}'), ', ') FROM fixture.sample s, LATERAL (SELECT fixture.made(s.raw, 'mcp', s.context)) AS m(e)
	WHERE s.context ? 'server' AND e ->> 'type' <> 'tool.call' AND e #>> '{from,agent_id}' <> 'agent:mcp.' || (s.context ->> 'server')), NULL, 'whatever a server says, it says as its agent');
SELECT is((SELECT e #>> '{from,agent_id}' FROM clutch.inbound('{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "up"}}', context => '{"server": "files"}') AS e), 'agent:mcp.files', 'and so a notification');

-- Both sides of a session count their requests, so the same number may stand for one of each.
CREATE TEMP TABLE spoken AS SELECT no, fixture.made(raw, 'mcp', context) AS e
FROM (VALUES (1, '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read", "arguments": {}}}'::jsonb),
	(2, '{"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 9}}'),
	(3, '{"jsonrpc": "2.0", "id": 1, "result": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hm"}}}'),
	(4, '{"jsonrpc": "2.0", "id": 2, "method": "elicitation/create", "params": {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}}')) AS v(no, raw),
	(VALUES ('{"session": "s", "server": "files", "run_id": "run:s"}'::jsonb), ('{"server": "files", "run_id": "run:none"}')) AS c(context);
SELECT is(count(DISTINCT e ->> 'id'), 8::bigint, 'requests of the two sides are different events, in a session or without one') FROM spoken;
SELECT is(string_agg(answer.e #>> '{meta,clutch,reply_to}', ' ' ORDER BY answer.e ->> 'run_id'), string_agg(asked.e ->> 'id', ' ' ORDER BY asked.e ->> 'run_id'), 'and an answer to the server is for the request of the server')
FROM spoken answer JOIN spoken asked ON asked.no = 2 AND answer.no = 3 AND asked.e ->> 'run_id' = answer.e ->> 'run_id';

-- The token of a call is unique only among those that are answered now, and only in its session.
CREATE FUNCTION pg_temp.called(session text, request int, token jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('jsonrpc', '2.0', 'id', request, 'method', 'tools/call', 'params', jsonb_build_object('name', 'skill.x', 'arguments', '{"q": 1}'::jsonb, '_meta', jsonb_build_object('progressToken', token)))
$$;
CREATE TEMP TABLE answered AS SELECT c.*, (clutch.ingest(pg_temp.called(session, request, token), 'mcp', jsonb_build_object('agent_id', 'agent:host', 'run_id', 'run:tokens', 'thread_id', 'thread:1', 'session', session))).*
FROM (VALUES (1, 's-secret-1', 1, '"tok"'::jsonb), (2, 's-secret-2', 1, '"tok"'), (3, 's-secret-2', 2, '"tok"'), (4, 's-secret-2', 2, '"tok"'), (5, 's-secret-2', 3, '7')) AS c(no, session, request, token);
SELECT is((SELECT string_agg(duplicate::text, ' ' ORDER BY no) FROM answered), 'false false false true false', 'calls of two sessions and later ones may have the same token, and only a resend is a duplicate');
SELECT is(clutch.outbound(clutch.envelope_of(seq), 'mcp'), pg_temp.called(session, request, token), 'the token comes back') FROM answered WHERE no IN (1, 5) ORDER BY no;
SELECT is((SELECT count(*) FROM clutch.events e WHERE e.run_id = 'run:tokens' AND e.envelope::text LIKE '%s-secret%'), 0::bigint, 'the log does not tell the sessions, in which a reader could take part');
CREATE TEMP TABLE keyed AS SELECT '{"v": "clutch/0.1", "id": "msg_keyed", "ts": "2026-02-01T10:00:00Z", "thread_id": "thr_1", "run_id": "run_1", "task_id": "task_1", "type": "tool.call", "idempotency_key": "k",
	"from": {"agent_id": "agent:ken"}, "to": [{"agent_id": "agent:mcp.files"}], "payload": {"tool": "mcp:files/read", "args": {"path": "/a"}}}'::jsonb AS e;
SELECT is(clutch.outbound(e, 'mcp') #>> '{params,_meta,progressToken}', 'msg_keyed', 'a call of ours has its ID as its token, even if it has a key') FROM keyed;
SELECT is(clutch.inbound(clutch.outbound(e, 'mcp'), 'mcp'), e, 'and comes back') FROM keyed;
-- An error that names no request fails the task of the context, and still names none if its envelope was changed.
SELECT is((SELECT string_agg(e ->> 'type' || ' ' || (e ->> 'task_id'), ', ') FROM clutch.inbound(document, 'mcp', context) AS e), 'task.error ' || (changed ->> 'task_id'), 'nobody has called a tool because of ' || what)
FROM (VALUES ('{"task_id": "task_ours", "run_id": "run_ours"}'::jsonb)) AS c(context), clutch.inbound('{"jsonrpc": "2.0", "error": {"code": -32000, "message": "No valid session ID"}}', 'mcp', context) AS made,
	LATERAL (VALUES (jsonb_set(made, '{task_id}', '"task_other"'), 'an error of another task'), (jsonb_set(made, '{meta,clutch}', '{"reply_to": "msg_other"}'), 'an error that replies to something else')) AS v(changed, what),
	LATERAL clutch.outbound(changed, 'mcp') AS document;
SELECT * FROM finish();
