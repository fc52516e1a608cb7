-- The carrier of a document in which something is in the way of its usual place.
\ir ../fixtures/tap.sql
CREATE TEMP TABLE document (adapter text, at text[], raw jsonb);
INSERT INTO document VALUES
	('multiagent', '{inputs,parameters}', '{"protocol": "multiagent-1.0", "role": "user", "agent": {"id": "ui"}, "timestamp": "2026-02-01T10:20:30Z", "intent": "plan", "task": "t", "content": {"type": "text", "text": "x"}, "trace": {"id": "m1"}}'),
	('map', '{meta,_meta}', '{"id": "m1", "from": "ui", "to": "wren", "timestamp": 1795209727322, "payload": {"q": 1}, "meta": {"expectsResponse": true}}'),
	('collab', '{body,context}', '{"header": {"messageId": "q1", "type": "REQUEST", "source": "ui", "destination": "wren", "timestamp": "2026-02-01T10:20:30Z"}, "body": {"action": "a", "payload": {}}}'),
	('autogen', '{metadata}', '{"id": "a1", "source": "ken", "models_usage": null, "created_at": "2026-02-01T10:20:30Z", "type": "TextMessage", "content": "x"}'),
	('mcp', '{params,_meta}', '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "read", "arguments": {"path": "/a"}}}');
-- each of them with a null, and with a value that the dialect may not even allow, on the way to the carrier
CREATE TEMP TABLE blocked AS
SELECT d.adapter, step, value, jsonb_set(CASE WHEN step > 1 AND d.raw #> d.at[: step - 1] IS NULL THEN jsonb_set(d.raw, d.at[: step - 1], jsonb_build_object()) ELSE d.raw END, d.at[: step], value::jsonb) AS raw
FROM document AS d, LATERAL generate_series(1, cardinality(d.at)) AS step, unnest('{"null","\"text\"","[]"}'::text[]) AS value
WHERE d.at[: step] <> '{meta}' AND d.at[: step] <> '{body}' AND d.at[: step] <> '{params}';
ALTER TABLE blocked ADD envelope jsonb;
-- what the adapter refuses has no envelope
DO $$
DECLARE
	b record;
BEGIN
	FOR b IN SELECT ctid, * FROM blocked LOOP
		BEGIN
			UPDATE blocked SET envelope = (SELECT e FROM clutch.inbound(b.raw, b.adapter) AS e WHERE e ->> 'type' <> 'tool.result' LIMIT 1) WHERE ctid = b.ctid;
		EXCEPTION WHEN SQLSTATE 'KL014' THEN
			NULL;
		END;
	END LOOP;
END $$;
DELETE FROM blocked WHERE envelope IS NULL;
SELECT plan((SELECT count(*)::int * 2 + 40 FROM blocked));

SELECT ok((SELECT count(DISTINCT adapter) = 5 FROM blocked WHERE value = 'null'), 'null may stand in the way in each of these dialects');
SELECT is(clutch.outbound(envelope, adapter), raw, format('%s, %s at step %s: comes back as it was', adapter, value, step)) FROM blocked;
SELECT is(back - '{meta,ts}'::text[], changed - '{meta,ts}'::text[], format('%s, %s at step %s: a change comes back', adapter, value, step))
FROM blocked, LATERAL (SELECT envelope || '{"domain": "research", "security": {"policy": {"sandbox": true}}}') AS c(changed),
	LATERAL clutch.inbound(clutch.outbound(changed, adapter), adapter) AS back;

-- beside a value that must not be lost
SELECT is(clutch.outbound(e || '{"domain": "research"}', 'multiagent') -> 'inputs', '"text"', 'the value stays')
FROM blocked AS b(adapter, step, value, raw, e) WHERE adapter = 'multiagent' AND value = '"text"' AND step = 1;
SELECT is(clutch.outbound(e || '{"domain": "research"}', 'multiagent') #>> '{clutch,1,path}', '/domain', 'and the carrier is beside it')
FROM blocked AS b(adapter, step, value, raw, e) WHERE adapter = 'multiagent' AND value = '"text"' AND step = 1;

-- envelopes whose payload is the document of the dialect
SELECT is(clutch.inbound(clutch.outbound(e, 'multiagent'), 'multiagent'), e, 'an envelope of ours with inputs ' || inputs)
FROM unnest('{"null","\"the blue one\"","{\"parameters\": []}"}'::text[]) AS inputs,
	LATERAL clutch.envelope('task.result', 'agent:ken', id => 'msg_1', to_agents => '{agent:ui}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1',
		payload => jsonb_build_object('task', 't', 'inputs', inputs::jsonb), meta => '{"multiagent": {"intent": "execute"}}') AS e;

-- progress whose payload has a name of the dialect with a value that the dialect does not allow
SELECT is(clutch.inbound(clutch.outbound(e, adapter), adapter), e, format('%s: %s: %s', adapter, member, left(value::text, 20)))
FROM (VALUES ('a2a', 'artifact_id', '""'::jsonb), ('a2a', 'artifact_id', to_jsonb(repeat('x', 300))), ('a2a', 'artifact_id', '"a\nb"'), ('a2a', 'artifact_id', '["a"]'),
		('mcp', 'input_requests', '[]'), ('mcp', 'input_requests', '"x"'), ('mcp', 'input_requests', '3')) AS v(adapter, member, value),
	LATERAL clutch.envelope('task.progress', 'agent:rita', id => 'msg_1', to_agents => '{agent:ui}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1',
		payload => jsonb_build_object('text', 'x', member, value)) AS e;

-- groups whose IDs have no room for another prefix
SELECT is(clutch.inbound(clutch.outbound(e, adapter), adapter), e, format('%s: a request to a %s with an ID of 256 bytes', adapter, kind))
FROM unnest('{autogen,langgraph,collab,map,multiagent,crewai,a2a,mcp,http}'::text[]) AS adapter, (VALUES ('group', 'task.request'), ('topic', 'chat.message')) AS v(kind, type),
	LATERAL clutch.envelope(type, 'agent:ken', id => 'msg_1', to_agents => ARRAY[kind || ':' || repeat('g', 250)], run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1') AS e;

-- what the database notes of an event comes back in a session as without one
SELECT is(clutch.inbound(clutch.outbound(e, 'mcp'), 'mcp', '{"session": "s1"}') #>> '{meta,mcp,move}', 'retried', 'the move, in a session')
FROM clutch.envelope('task.progress', 'agent:ui', id => 'msg_1', task_id => 'task:1', run_id => 'run:1', payload => '{"text": "x"}', meta => '{"clutch": {"priority": 3}}') AS plain,
	LATERAL jsonb_set(plain, '{meta,clutch,move}', '"retried"') AS moved(e);

-- trace is not made of identifiers: its texts may be as long as other texts are, such as the 512 characters of a tracestate
SELECT is(clutch.inbound(clutch.outbound(e, adapter), adapter), e, format('%s: a trace %s', adapter, what))
FROM unnest(ARRAY['http', 'a2a', 'mcp', 'collab']) AS adapter,
	(VALUES ('of 4096 bytes', rpad('rojo=00f067aa0ba902b7', 4096, ',congo=t61rcWkgMzE')), ('with control characters', E'a=b\n,\tc=d')) AS v(what, value),
	LATERAL clutch.envelope('task.request', 'agent:rita', id => 'msg_1', to_agents => '{agent:ui}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1', payload => '{"q": 1}',
		trace => jsonb_build_object('traceparent', value, 'tracestate', value, 'trace_id', value, 'span_id', value, 'parent_span_id', value)) AS e;
SELECT * FROM finish();
