-- What has been changed in an envelope that was made of a document, and has no place in that document.
\ir ../fixtures/tap.sql
\ir ../fixtures/documents.sql
SELECT plan(38);

CREATE TABLE fixture.said (name text PRIMARY KEY, adapter text, raw jsonb);
INSERT INTO fixture.said VALUES
	('call', 'mcp', '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "read", "arguments": {"path": "/a"}, "_meta": {"progressToken": "p", "theirs": 1}}}'),
	('result', 'mcp', '{"jsonrpc": "2.0", "id": 7, "result": {"content": [{"type": "text", "text": "x"}]}}'),
	('empty', 'mcp', '{"jsonrpc": "2.0", "id": 8, "result": {}}'),
	('error', 'mcp', '{"jsonrpc": "2.0", "id": 9, "error": {"code": -32602, "message": "no"}}'),
	('error with a text', 'mcp', '{"jsonrpc": "2.0", "id": 9, "error": {"code": -32602, "message": "no", "data": "2026"}}'),
	('question', 'mcp', '{"jsonrpc": "2.0", "id": 3, "method": "elicitation/create", "params": {"message": "Which?", "requestedSchema": {"type": "object", "properties": {}}}}'),
	('answer', 'mcp', '{"jsonrpc": "2.0", "id": 3, "result": {"action": "accept", "content": {}}}'),
	('message', 'a2a', '{"message": {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]}}'),
	('update', 'a2a', '{"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING", "timestamp": "2026-02-01T10:00:00.000Z"}}}'),
	('error of A2A', 'a2a', '{"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "gone", "data": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"}]}}'),
	('error of version 0.3', 'a2a', '{"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "gone"}}'),
	('list of tasks', 'a2a', '{"tasks": [], "nextPageToken": "", "pageSize": 5, "totalSize": 0}'),
	('request', 'http', '{"headers": {"Ce-SpecVersion": "1.0", "ce-id": "1", "ce-source": "a", "ce-type": "t", "host": "x"}, "body": {"a": 1}}'),
	('request of a webhook', 'http', '{"headers": {"webhook-id": "w-1"}, "body": {"type": "t", "timestamp": "2026-02-01T10:00:00Z", "data": {"a": 1}}}'),
	('body of a webhook', 'http', '{"type": "t", "timestamp": "2026-02-01T10:00:00Z", "data": {"a": 1}}'),
	('chunk', 'langgraph', '["messages", [{"type": "ai", "id": "r-1", "content": "x"}, {"thread_id": "t", "langgraph_node": "plan"}]]'),
	('messages', 'langgraph', '{"event": "messages/complete", "data": [{"type": "ai", "id": "r-2", "content": "", "tool_calls": [{"name": "weather", "args": {}, "id": "call_1"}]}]}'),
	('event', 'autogen', '{"payload": "{}", "handling_agent": "planner/default", "exception": "ValueError: no", "type": "MessageHandlerException"}'),
	('registry', 'agent_json', '{"version": "1.0", "agents": [{"name": "ken", "version": "1.0.0", "description": "Does research"}, {"name": "lois", "description": "Writes"}]}');

-- the envelope that stands for a document, with a change; the document that it makes; and the envelope of that
CREATE FUNCTION fixture.of(what text) RETURNS jsonb LANGUAGE sql AS $$ SELECT fixture.made(raw, adapter) FROM fixture.said WHERE said.name = $1 $$;
CREATE FUNCTION fixture.out(what text, envelope jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT clutch.outbound(envelope, adapter) FROM fixture.said WHERE said.name = $1 $$;
CREATE FUNCTION fixture.again(what text, envelope jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT fixture.made(fixture.out(what, envelope), adapter) FROM fixture.said WHERE said.name = $1 $$;

-- where it stands
SELECT is(fixture.out('call', jsonb_set(fixture.of('call'), '{from,agent_id}', '"agent:ken"')),
	'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "read", "arguments": {"path": "/a"}, "_meta": {"progressToken": "p", "theirs": 1,
		"clutch": [{"path": "/from", "is": {"agent_id": "agent:ken"}}, {"path": "/meta/mcp/kept", "is": []}]}}}', 'a sender, in the metadata of the params');
SELECT is(fixture.out('call', jsonb_set(fixture.of('call'), '{payload,urgent}', 'true')) #> '{params,_meta,clutch}',
	'[{"path": "/meta/mcp/kept", "is": []}, {"path": "/payload/urgent", "is": true}]', 'a new member of a call, and nothing else');
SELECT is(fixture.out('call', jsonb_set(fixture.of('call'), '{payload,args,path}', '"/b"')),
	jsonb_set((SELECT raw FROM fixture.said WHERE name = 'call'), '{params,arguments,path}', '"/b"'), 'what has a place needs no carrier');
SELECT is(fixture.out('result', fixture.of('result') || '{"domain": "finance"}') #> '{result,_meta,clutch}', '[{"path": "/meta/mcp/kept", "is": []}, {"path": "/domain", "is": "finance"}]', 'of a result');
SELECT is(fixture.again('empty', fixture.of('empty') || '{"domain": "finance"}') ->> 'domain', 'finance', 'and of one that is empty');
SELECT is(fixture.out('error', jsonb_set(fixture.of('error'), '{payload,hint}', '"later"')) #> '{error,data,clutch}' @> '[{"path": "/payload/hint", "is": "later"}]', true, 'of an error, in its data');
SELECT is(fixture.out('error with a text', jsonb_set(fixture.of('error with a text'), '{payload,hint}', '"later"')) -> 'error' #- '{_meta,clutch}', '{"code": -32602, "message": "no", "data": "2026", "_meta": {}}',
	'if the data are none of its own, beside them');
SELECT is(fixture.out('message', jsonb_set(fixture.of('message'), '{from,agent_id}', '"agent:ken"')) #> '{message,metadata,clutch}',
	'[{"path": "/from/agent_id", "is": "agent:ken"}, {"path": "/meta/a2a/kept", "is": []}]', 'in the metadata of A2A');
SELECT is(jsonb_typeof(fixture.out('error of A2A', fixture.of('error of A2A') || '{"domain": "finance"}') #> '{error,data,0,metadata,clutch}'), 'string', 'an ErrorInfo has only texts');
SELECT is(fixture.again('error of version 0.3', fixture.of('error of version 0.3') || '{"domain": "finance"}') ->> 'domain', 'finance', 'an error of version 0.3 has metadata of its own');
SELECT is(fixture.out('list of tasks', fixture.of('list of tasks') || '{"domain": "finance"}'), (SELECT raw FROM fixture.said WHERE name = 'list of tasks'), 'a list of tasks has no place');
SELECT matches(fixture.out('request', fixture.of('request') || '{"domain": "50% \u00fc"}') #>> '{headers,ce-clutchenvelope}', '^[!-~]*25%2050%25.*$|^[!-~]*50%25%20%C3%BC[!-~]*$', 'a header is encoded');
SELECT is(fixture.again('request', fixture.of('request') || '{"domain": "50% \u00fc"}') ->> 'domain', '50% ü', 'and decoded');
SELECT is(fixture.again('request of a webhook', fixture.of('request of a webhook') || '{"domain": "finance"}') ->> 'domain', 'finance', 'a webhook has a header, too');
SELECT is(fixture.out('body of a webhook', fixture.of('body of a webhook') || '{"domain": "finance"}'), (SELECT raw FROM fixture.said WHERE name = 'body of a webhook'), 'but its body has no place');
SELECT is(fixture.out('chunk', fixture.of('chunk') || '{"domain": "finance"}') #> '{1,1,clutch}', '[{"path": "/meta/langgraph/kept", "is": []}, {"path": "/domain", "is": "finance"}]', 'of a chunk, in the metadata of the message');

-- what it leads to
SELECT is(fixture.again(name, e) - '{id,task_id,run_id,thread_id,ts,meta}'::text[], e - '{id,task_id,run_id,thread_id,ts,meta}'::text[], 'a question becomes an error: ' || name)
FROM fixture.said, LATERAL (SELECT fixture.of(name) || '{"type": "task.error", "payload": {"code": "OUR_OWN", "message": "it broke", "retryable": false, "more": [1]}}' AS e OFFSET 0) AS c
WHERE name IN ('question', 'update');
SELECT is(fixture.again('event', fixture.of('event') || '{"type": "task.result", "payload": {"text": "it works"}}') ->> 'type', 'task.result', 'what is kept of a document of another form is left out if it is in the way');
SELECT is(fixture.out('question', fixture.of('question') || '{"type": "task.error", "payload": {"code": "INTERNAL", "message": "it broke"}}') - 'error', '{"jsonrpc": "2.0", "id": 3}', 'a request that has become a report answers itself');
SELECT is(count(*), 2::bigint, 'companions stay') FROM clutch.inbound(fixture.out('messages', fixture.of('messages') || '{"domain": "finance"}'), 'langgraph');
SELECT is(fixture.out('registry', jsonb_set(fixture.of('registry'), '{payload,display,name}', '"Ken"')) #> '{agents,1,name}', '"lois"', 'also if the first agent of a list is changed');
SELECT is(fixture.out('registry', jsonb_set(fixture.of('registry'), '{payload,display,name}', '"Ken"')) #>> '{agents,0,displayName}', 'Ken', 'where it is');

-- twice
CREATE TABLE fixture.second AS SELECT fixture.again('result', fixture.of('result') || '{"domain": "finance"}') AS e;
SELECT is(fixture.shown(fixture.again('result', e) - 'ts', e - 'ts'), 'the same', 'a document with a carrier comes back') FROM fixture.second;
SELECT is(fixture.again('result', e || '{"domain": "law"}') ->> 'domain', 'law', 'its envelope may be changed again') FROM fixture.second;
SELECT is(fixture.again('result', jsonb_set(e, '{payload,text}', '"y"')) - '{id,ts,meta,run_id,task_id,thread_id}'::text[], jsonb_set(e, '{payload,text}', '"y"') - '{id,ts,meta,run_id,task_id,thread_id}'::text[], 'in another place') FROM fixture.second;
SELECT is(fixture.out('result', e - 'domain'), (SELECT raw FROM fixture.said WHERE name = 'result'), 'and back: then there is no carrier') FROM fixture.second;

-- a task in the context makes another envelope of an error
CREATE TABLE fixture.failed AS SELECT name, raw, fixture.made(raw, adapter, '{"task_id": "task_1"}') || '{"payload_type": "com.example.thing"}' AS e FROM fixture.said
WHERE name IN ('error of A2A', 'error of version 0.3');
SELECT is(fixture.made(fixture.out(name, e), 'a2a', '{"task_id": "task_1"}') - '{id,ts,meta,run_id,thread_id}'::text[], e - '{id,ts,meta,run_id,thread_id}'::text[], 'a payload_type comes back within the task: ' || name) FROM fixture.failed;
SELECT is(fixture.again(name, e) - '{id,ts,meta,run_id,task_id,thread_id}'::text[], e - '{id,ts,meta,run_id,task_id,thread_id}'::text[], 'and without it: ' || name) FROM fixture.failed;
SELECT is(fixture.out(name, fixture.made(fixture.out(name, e), 'a2a', '{"task_id": "task_1"}')), fixture.out(name, e), 'and so does its document: ' || name) FROM fixture.failed;

-- what is no change
SELECT is((SELECT string_agg(name, ', ') FROM fixture.said WHERE fixture.out(name, fixture.of(name)) <> raw), NULL, 'an unchanged envelope needs none');
SELECT is((SELECT string_agg(name, ', ') FROM fixture.said WHERE fixture.out(name, fixture.of(name) || '{"parent_task_id": null, "domain": null}') <> raw), NULL, 'null is no value');
SELECT is((SELECT string_agg(name, ', ') FROM fixture.said, clutch.outbound(fixture.made(raw, adapter, '{"agent_id": "agent:gate", "to": "agent:a", "run_id": "run_1", "task_id": "task_1"}'), adapter) AS o WHERE o <> raw), NULL,
	'what the context said is none');
SELECT is(fixture.out('result', fixture.of('result') || jsonb_build_object('domain', 'finance', 'meta', (fixture.of('result') -> 'meta') #- '{mcp,digest}')), (SELECT raw FROM fixture.said WHERE name = 'result'), 'without the digest, nobody knows of a change');
SELECT is(fixture.out('answer', fixture.of('answer') #- '{payload,action}'), '{"jsonrpc": "2.0", "id": 3, "result": {"content": {}}}', 'a document that nobody can read has no carrier, but shows the change');

SELECT * FROM finish();
