-- What senders put into meta under the name of an adapter, and agents that are named by their IDs.
\ir ../fixtures/tap.sql
SELECT plan(45);
SET clutch.notify = off;

CREATE FUNCTION pg_temp.envelope_of(type text, meta jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'id', 'msg_1', 'ts', '2026-02-01T13:20:11.123Z', 'thread_id', 'thr_1', 'run_id', 'run_1', 'task_id', 'task_1',
		'from', '{"agent_id": "agent:ken"}'::jsonb, 'to', '[{"agent_id": "agent:lois"}]'::jsonb, 'type', type, 'payload', '{"title": "x"}'::jsonb, 'meta', meta)
$$;

-- ------------------------------------------------ data of the sender, which no adapter has written
SELECT is(clutch.inbound(clutch.outbound(e, a), a), e, format('a %s with meta.%s of its sender comes back', t, a))
FROM unnest(ARRAY['http', 'map', 'collab', 'mcp', 'a2a', 'langgraph', 'autogen', 'crewai', 'multiagent']) AS a, unnest(ARRAY['task.request', 'task.result', 'chat.message']) AS t,
	LATERAL pg_temp.envelope_of(t, jsonb_build_object(a, '{"path": "/orders"}'::jsonb)) AS e;
SELECT is(clutch.outbound(pg_temp.envelope_of('task.result', '{"a2a": {"v": "0.3"}}'), 'a2a') ->> 'contextId', 'thr_1', 'a note of the version alone does not say that the envelope was foreign');

-- which need not be what the adapter would have written
SELECT is(clutch.inbound(clutch.outbound(e, a), a), e, format('meta.%s.%s comes back, although no document has such a member', a, n))
FROM (VALUES ('multiagent', 'intent', '"a\nb"'::jsonb), ('multiagent', 'parents', '[null]'), ('multiagent', 'parents', '[{"a": 1}]'), ('collab', 'context', '7'), ('collab', 'context', '{"sessionId": {}}')) AS v(a, n, note),
	LATERAL pg_temp.envelope_of('task.request', jsonb_build_object(a, jsonb_build_object(n, note))) AS e;
SELECT lives_ok($$SELECT clutch.prompt(pg_temp.envelope_of('task.request', '{"multiagent": {"intent": "a\nb", "parents": [null]}}'), 'claude')$$, 'and a model can be asked about such an envelope');

-- ------------------------------------------------ agents by their IDs
SELECT is(e #>> '{from,agent_id}' || ' ' || (e #>> '{to,0,agent_id}'), 'agent:ken agent:lois', 'a name of map may be the ID of an agent')
FROM clutch.inbound('{"id": "1", "from": "agent:ken", "to": {"agent": "agent:lois"}, "payload": {}, "timestamp": 1}', 'map') AS e;
SELECT is(e #>> '{from,agent_id}' || ' ' || (e #>> '{to,0,agent_id}'), 'agent:ken agent:lois', 'and so may one of collab')
FROM clutch.inbound('{"header": {"messageId": "1", "type": "REQUEST", "source": "agent:ken", "destination": "agent:lois"}, "body": {"payload": {}}}', 'collab') AS e;
SELECT is(e #>> '{from,agent_id}' || ' ' || (e ->> 'run_id'), 'agent:ken run_7', 'and that in the source of a CloudEvent')
FROM clutch.inbound('{"specversion": "1.0", "id": "msg_1", "source": "/clutch/run_7/agent:ken", "type": "clutch.chat.message", "data": {}}', 'http') AS e;
SELECT is(clutch.outbound(clutch.inbound(x, a), a), x, 'which comes back in ' || a)
FROM (VALUES ('map', '{"id": "1", "from": "agent:ken", "to": {"agent": "agent:lois"}, "payload": {}, "timestamp": 1}'::jsonb),
	('collab', '{"header": {"messageId": "1", "type": "REQUEST", "source": "agent:ken", "destination": "agent:lois"}, "body": {"payload": {}}}'),
	('http', '{"specversion": "1.0", "id": "msg_1", "source": "/clutch/run_7/agent:ken", "type": "clutch.chat.message", "data": {}}')) AS c(a, x);
SELECT is(clutch.inbound(clutch.outbound(e, a), a), e, 'an agent whose name begins with agent: comes back through ' || a)
FROM unnest(ARRAY['map', 'collab', 'http']) AS a, LATERAL (SELECT pg_temp.envelope_of('chat.message', '{}') || '{"from": {"agent_id": "agent:agent:ken"}}') AS c(e);

-- ------------------------------------------------ bytes
SELECT is(fixture.fault($$SELECT clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "data_base64": "###"}')$$), 'KL014 WRONG_FORMAT /data_base64', 'what is no base64 is refused');
SELECT is(clutch.outbound(jsonb_set(clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "data_base64": "AAEC"}'), '{payload,content}', '"not bytes!"'), 'http') -> 'data',
	'"not bytes!"', 'a payload that is no base64 any more is written as data');

SELECT * FROM finish();
