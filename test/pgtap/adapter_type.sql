-- What a document has said itself, when its envelope is given another type or payload.
\ir ../fixtures/tap.sql
\ir ../fixtures/documents.sql

CREATE TABLE fixture.said (name text PRIMARY KEY, adapter text, raw jsonb);
INSERT INTO fixture.said VALUES
	('a handoff', 'autogen', '{"id": "h-1", "source": "ken", "models_usage": null, "metadata": {}, "created_at": "2026-02-01T10:20:30Z", "type": "HandoffMessage", "content": "over to you", "target": "lois"}'),
	('an answer of a tool', 'autogen', '{"id": "a-1", "source": "ken", "models_usage": null, "metadata": {}, "created_at": "2026-02-01T10:20:30Z", "type": "ToolCallExecutionEvent", "content": [{"content": "sunny", "name": "weather", "call_id": "c-1", "is_error": false}]}'),
	('an event of the core', 'autogen', '{"type": "Message", "payload": "{}", "sender": "ken/default", "receiver": "lois/default", "kind": "MessageKind.DIRECT", "delivery_stage": "DeliveryStage.SEND"}'),
	('a response', 'collab', '{"header": {"messageId": "r-1", "correlationId": "q-1", "type": "RESPONSE", "source": "ken", "timestamp": "2026-02-01T10:20:30Z"}, "body": {"status": "SUCCESS", "result": {"a": 1}}}'),
	('a request of a task', 'collab', '{"header": {"messageId": "m-1", "type": "REQUEST", "source": "ken", "destination": "lois", "timestamp": "2026-02-01T10:20:30Z"}, "body": {"action": "do.it", "payload": {"a": 1}, "context": {"taskId": "t-0", "sessionId": "s-1"}}}'),
	('a publication', 'collab', '{"header": {"messageId": "m-2", "type": "PUBLISH", "source": "ken", "destination": "topic:x", "timestamp": "2026-02-01T10:20:30Z"}, "body": {"event": "done", "data": {"a": 1}, "context": {"sessionId": "s-1"}}}'),
	('a user', 'multiagent', '{"protocol": "multiagent-1.0", "role": "user", "agent": {"id": "ken"}, "timestamp": "2026-02-01T10:20:30Z", "intent": "execute", "task": "do", "content": {"type": "text", "text": "x"}, "trace": {"id": "u-2", "parents": ["u-0", "u-1"]}}'),
	('a final message', 'multiagent', '{"protocol": "multiagent-1.0", "role": "agent", "agent": {"id": "ken"}, "timestamp": "2026-02-01T10:20:30Z", "intent": "finalize", "task": "do", "content": {"type": "text", "text": "x"}, "trace": {"id": "u-3", "parents": ["u-0", "u-1"]}}'),
	('the result of a tool', 'multiagent', '{"protocol": "multiagent-1.0", "role": "tool", "agent": {"id": "ken"}, "timestamp": "2026-02-01T10:20:30Z", "intent": "tool.call", "task": "do", "content": {"type": "tool_result", "data": {"x": 1}}, "trace": {"id": "u-4", "parents": ["u-0", "u-1"]}}'),
	('a tool has finished', 'crewai', '{"type": "tool_usage_finished", "event_id": "e-2", "started_event_id": "e-1", "timestamp": "2026-02-01T10:20:30Z", "agent_role": "ken", "tool_name": "search", "tool_args": {"q": 1}, "output": "x", "task_id": "t-1"}'),
	('a task has started', 'crewai', '{"type": "task_started", "event_id": "e-3", "timestamp": "2026-02-01T10:20:30Z", "agent_role": "ken", "task_id": "t-1"}'),
	('an interrupt', 'langgraph', '["tasks", {"id": "t-1", "name": "plan", "error": null, "result": {}, "interrupts": [{"id": "i-1", "value": "which?"}]}]'),
	('a run', 'langgraph', '{"assistant_id": "plan", "input": {"a": 1}, "metadata": {"clutch_run": "run_1", "clutch_task": "task_1"}}'),
	('a response of MAP', 'map', '{"id": "m-1", "from": "ken", "to": {"agent": "lois"}, "timestamp": 1769900000000, "payload": {"a": 1}, "meta": {"correlationId": "q-1", "isResult": true}}'),
	('a message of A2A', 'a2a', '{"message": {"messageId": "m-1", "taskId": "t-1", "contextId": "c-1", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]}}');
CREATE TABLE fixture.other (type text PRIMARY KEY, payload jsonb);
INSERT INTO fixture.other VALUES
	('task.request', '{"text": "do it"}'), ('task.accept', '{}'), ('task.progress', '{"note": "n"}'), ('task.result', '{"text": "ok"}'), ('task.error', '{"code": "X", "message": "y", "retryable": true}'),
	('chat.message', '{"text": "hi"}'), ('tool.call', '{"tool": "mcp:files", "name": "read", "args": {"path": "/a"}}'), ('tool.result', '{"content": []}');
SELECT fixture.agent('worker', 9, ARRAY['skill:x']);
SELECT fixture.ask('task:t', 'agent:worker');

-- the fields that must not change
CREATE FUNCTION fixture.place(e jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_object_agg(k, e -> k) || jsonb_build_object('reply_to', e #> '{meta,clutch,reply_to}')
	FROM unnest(ARRAY['type', 'to', 'from', 'run_id', 'task_id', 'thread_id', 'parent_task_id', 'payload']) AS k
$$;
CREATE FUNCTION fixture.said(what text, context jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$ SELECT fixture.made(raw, adapter, context) FROM fixture.said WHERE said.name = $1 $$;
CREATE FUNCTION fixture.out(what text, envelope jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT clutch.outbound(envelope, adapter) FROM fixture.said WHERE said.name = $1 $$;
CREATE FUNCTION fixture.again(what text, envelope jsonb, context jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$ SELECT fixture.made(fixture.out(what, envelope), adapter, context) FROM fixture.said WHERE said.name = $1 $$;

-- Which types become others?  Only the content of an event of the core identifies it, so its task is always another one.
CREATE FUNCTION fixture.lost(what text, context jsonb) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT concat_ws(' ', e ->> 'type', fixture.shown(fixture.place(fixture.again(what, e, context)) - derived, fixture.place(e) - derived))
	FROM fixture.other, fixture.said(what, context) AS was,
		LATERAL (VALUES (was || jsonb_build_object('type', type)), (was || jsonb_build_object('type', type, 'payload', payload))) AS v(e),
		LATERAL (SELECT CASE WHEN what = 'an event of the core' THEN ARRAY['run_id', 'task_id', 'thread_id'] ELSE '{}' END AS derived) AS d
	WHERE type <> was ->> 'type' AND NOT EXISTS (SELECT FROM clutch.validate(e)) AND (type <> 'tool.result' OR what = 'a response')
		AND fixture.place(fixture.again(what, e, context)) - derived <> fixture.place(e) - derived
$$;

SELECT plan((SELECT 2 * count(*)::int FROM fixture.said) + 15);
SELECT is((SELECT string_agg(l, E'\n') FROM fixture.lost(name, '{}') AS l), NULL, name || ' loses nothing with its type') FROM fixture.said ORDER BY name;
SELECT is((SELECT string_agg(l, E'\n') FROM fixture.lost(name, '{"task_id": "task:t", "agent_id": "agent:gate", "to": "agent:worker"}') AS l), NULL, name || ' loses nothing within a task') FROM fixture.said ORDER BY name;

-- how it is carried
SELECT is((fixture.out('a handoff', fixture.said('a handoff') || '{"type": "chat.message"}') #>> '{metadata,clutch}')::jsonb,
	'[{"is": [{"agent_id": "agent:lois"}], "path": "/to"}, {"is": [], "path": "/meta/autogen/kept"}, {"is": "h-1", "path": "/meta/autogen/native/task_id"}]', 'the recipient, and the task by its own ID');
SELECT is((SELECT string_agg(concat_ws(' ', name, type), ', ') FROM fixture.said, fixture.other, LATERAL (SELECT fixture.said(name) || jsonb_build_object('type', type, 'payload', payload) AS e OFFSET 0) AS c
	WHERE adapter NOT IN ('a2a', 'crewai') AND type <> fixture.said(name) ->> 'type' AND NOT EXISTS (SELECT FROM clutch.validate(e)) AND fixture.out(name, e)::text ~ '(task|run|thr)_[0-9A-Z]{26}'), NULL, 'no ID of this database is carried');
SELECT is((SELECT string_agg(concat_ws(' ', name, type), ', ') FROM fixture.said, fixture.other,
		LATERAL (SELECT fixture.said(name, '{"agent_id": "agent:gate", "run_id": "run:c", "thread_id": "thread:c", "task_id": "task:t", "parent_task_id": "task:p"}') || jsonb_build_object('type', type, 'payload', payload) AS e OFFSET 0) AS c
	WHERE adapter <> 'a2a' AND type <> fixture.said(name) ->> 'type' AND NOT EXISTS (SELECT FROM clutch.validate(e)) AND fixture.out(name, e)::text ~ 'run:c|thread:c|task:[tp]'), NULL, 'nor what the context has said');
SELECT is(fixture.out('a response', fixture.said('a response') || '{"type": "task.error", "payload": {"code": "INTERNAL", "message": "no", "retryable": false}}') #> '{body,context}', NULL, 'a type that has a place needs no carrier');
SELECT is(fixture.out('a response', fixture.said('a response', '{"task_id": "task:t"}') || '{"type": "task.error", "payload": {"code": "INTERNAL", "message": "no", "retryable": false}}') #> '{body,context}', NULL, 'nor does it within a task');
SELECT is(fixture.again('a response', fixture.said('a response') || '{"type": "tool.result"}') #> '{meta,collab,native,reply_to}', '"q-1"', 'what a report replies to stays where the new document does not say it');
SELECT is(fixture.again('an interrupt', fixture.said('an interrupt') || '{"payload": {"note": "n"}}') #>> '{from,agent_id}', 'agent:plan', 'a sender, if the payload was replaced');
SELECT is((SELECT count(*) FROM fixture.said s, LATERAL (SELECT fixture.said(name) || '{"type": "task.progress", "payload": {"note": "n"}}' AS e OFFSET 0) AS c
	WHERE fixture.out(name, fixture.again(name, e)) <> fixture.out(name, e)), 0::bigint, 'a document with a carrier comes back');
SELECT is(fixture.again('a handoff', fixture.again('a handoff', fixture.said('a handoff') || '{"type": "chat.message"}') || '{"domain": "law"}') #>> '{to,0,agent_id}', 'agent:lois', 'its envelope may be changed again');
SELECT is(fixture.again('a tool has finished', fixture.again('a tool has finished', fixture.said('a tool has finished') || '{"type": "chat.message"}') || '{"domain": "law"}') #>> '{meta,clutch,reply_to}',
	fixture.said('a tool has finished') #>> '{meta,clutch,reply_to}', 'it still replies to the stub');
SELECT is(fixture.out('a handoff', fixture.again('a handoff', fixture.said('a handoff') || '{"type": "chat.message"}') || '{"type": "task.request"}') #> '{metadata,clutch}', NULL, 'and back: then there is no carrier');
SELECT is(fixture.said(name) - 'ts', fixture.said(name) - 'ts', 'the same document makes the same envelope') FROM fixture.said WHERE name = 'a handoff';

SELECT is(fixture.again('a request of a task', (fixture.said('a request of a task') || '{"type": "chat.message"}') - 'parent_task_id') -> 'parent_task_id', NULL, 'what somebody has removed is not carried');

-- a digest of an earlier version does not say what the document has said
SELECT is(fixture.again('a handoff', jsonb_set(e, '{meta,autogen,digest}', to_jsonb(left(e #>> '{meta,autogen,digest}', 40))) || '{"type": "chat.message"}') #>> '{to,0,agent_id}', 'agent:orchestrator', 'a digest without it')
FROM fixture.said('a handoff') AS e;
SELECT is(fixture.out('a handoff', jsonb_set(e, '{meta,autogen,digest}', to_jsonb(left(e #>> '{meta,autogen,digest}', 40)))), (SELECT raw FROM fixture.said WHERE name = 'a handoff'), 'is read as before')
FROM fixture.said('a handoff') AS e;
SELECT * FROM finish();
