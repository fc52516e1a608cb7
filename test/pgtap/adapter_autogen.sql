-- AutoGen: messages of AgentChat and events of autogen-core.
\ir ../fixtures/tap.sql
\set adapter autogen
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 24);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

SELECT is_empty($$SELECT clutch.inbound('{"type": "ThoughtEvent", "source": "ken", "content": "hm", "models_usage": null}')$$, 'pieces are left out');
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e #>> '{meta,autogen,stub}'), ', ') FROM fixture.sample s, clutch.inbound(s.raw, NULL, '{"run_id": "run:fresh"}') AS e WHERE s.name = 'tools have answered'),
	'tool.call true, tool.result, tool.call true, tool.error', 'each answer has its call made up');
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e #>> '{payload,tool}'), ', ') FROM fixture.sample s, clutch.inbound(s.raw) AS e WHERE s.name = 'tools are called'),
	'tool.call tool:weather, tool.call tool:time', 'each call is a message');

SELECT is((SELECT string_agg(DISTINCT e #>> '{from,agent_id}', ' ') FROM fixture.sample s, clutch.inbound(s.raw, NULL, '{"run_id": "run:fresh"}') AS e WHERE s.name = 'tools have answered'), 'agent:ken', 'a call is made up in the name of who answers');
SELECT is(d #> '{content,0}', '{"name": "unknown", "call_id": "msg_1", "content": "{\"content\": [{\"text\": \"x\", \"type\": \"text\"}]}", "is_error": false}', 'the result of a tool that never was foreign is a text')
FROM fixture.native, clutch.outbound(envelope, 'autogen') AS d WHERE name = 'tool.result';

SELECT is(jsonb_build_array(e -> 'ts', clutch.outbound(e, 'autogen') -> 'created_at'), jsonb_build_array(ts, at), 'a time as str() of Python writes it: ' || at)
FROM (VALUES ('2026-02-01 10:20:30.5+00:00', '2026-02-01T10:20:30.5+00:00'), ('2026-02-01 10:20:30', '2026-02-01T10:20:30Z')) AS v(at, ts),
	LATERAL clutch.inbound(jsonb_build_object('type', 'TextMessage', 'source', 'ken', 'models_usage', NULL, 'content', 'x', 'created_at', at)) AS e;
SELECT is(fixture.fault(format('SELECT clutch.inbound(%L)', jsonb_build_object('type', 'TextMessage', 'source', 'ken', 'content', 'x', 'created_at', at))), 'KL014 WRONG_FORMAT /created_at', 'but not ' || at)
FROM unnest('{2026-02-01,2026-02-01  10:20:30,yesterday at noon}'::text[]) AS at;

SELECT is(e ->> 'type', made, 'a ' || type || ' of a user' || coalesce(' in ' || task, ''))
FROM (VALUES ('StructuredMessage[Price]', NULL, 'task.request'), ('OrderMessage', NULL, 'task.request'), ('StructuredMessage[Price]', 'task_1', 'chat.message'), ('OrderEvent', NULL, 'task.progress')) AS v(type, task, made),
	LATERAL clutch.inbound(jsonb_build_object('type', type, 'source', 'user', 'models_usage', NULL, 'content', '{"a": 1}'::jsonb), 'autogen', jsonb_strip_nulls(jsonb_build_object('task_id', task))) AS e;

-- the classes of AutoGen require a name in an answer and a request_id in a question, whose content is empty
SELECT is(d #>> '{content,0,name}', 'read', 'the name of the tool is that of the payload')
FROM fixture.native, clutch.outbound(jsonb_set(envelope, '{payload,name}', '"read"'), 'autogen') AS d WHERE name = 'tool.result';
SELECT is(d - 'metadata', '{"id": "msg_task.progress", "type": "UserInputRequestedEvent", "source": "ken", "created_at": "2026-02-01T13:20:11.123Z", "content": "", "request_id": "msg_task.progress", "question": "Which?"}', 'a question that never was foreign has the members of its payload')
FROM fixture.native, clutch.outbound(envelope, 'autogen') AS d WHERE name = 'task.progress';
SELECT is(fixture.carries(jsonb_set(envelope, '{payload}', payload), 'autogen'), 'the same', 'and keeps every field: ' || payload::text)
FROM fixture.native, unnest('{"{\"state\": \"input_required\", \"content\": \"Which?\", \"deadline\": \"2026-02-02T00:00:00Z\"}", "{\"state\": \"input_required\", \"type\": 1, \"id\": [], \"metadata\": {\"clutch\": 2}, \"request_id\": 3}"}'::jsonb[]) AS payload WHERE name = 'task.progress';

-- a model may give its calls no IDs, and forget the name of a tool
CREATE TABLE nameless (no integer, d jsonb);
INSERT INTO nameless VALUES
	(1, '{"id": "n1", "source": "ken", "models_usage": null, "metadata": {}, "type": "ToolCallRequestEvent", "content": [{"id": "", "name": "read", "arguments": "{}"}, {"id": "", "name": "", "arguments": "{}"}]}'),
	(2, '{"id": "n2", "source": "ken", "models_usage": null, "metadata": {}, "type": "ToolCallExecutionEvent", "content": [{"call_id": "", "name": "read", "content": "x", "is_error": false}, {"call_id": "", "name": "", "content": "no such tool", "is_error": true}]}');
SELECT is(string_agg(concat_ws(' ', e ->> 'type', e #>> '{payload,tool}'), ', ' ORDER BY no), 'tool.call tool:read, tool.call tool:unknown, tool.call tool:read, tool.result, tool.call tool:unknown, tool.error', 'calls without IDs, and a tool without a name')
FROM nameless, LATERAL clutch.inbound(d, 'autogen') AS e;
SELECT is(count(DISTINCT e ->> 'id')::int, 6, 'are different messages') FROM nameless, LATERAL clutch.inbound(d, 'autogen') AS e;
SELECT is(clutch.outbound(e, 'autogen'), d, 'which come back') FROM nameless,
	LATERAL (SELECT i FROM clutch.inbound(d, 'autogen') WITH ORDINALITY AS f(i, n) WHERE i #> '{meta,autogen,stub}' IS NULL ORDER BY n LIMIT 1) AS f(e);
SELECT is(count(DISTINCT e #>> '{meta,clutch,reply_to}')::int, 2, 'answers of two tools in messages without IDs reply to different calls')
FROM nameless, (VALUES ('"read"'::jsonb), ('"write"')) AS t(tool), LATERAL clutch.inbound(jsonb_set(d - 'id', '{content,0,name}', tool) #- '{content,1}', 'autogen', '{"run_id": "run:nameless"}') AS e WHERE no = 2;
SELECT is(fixture.fault(format('SELECT clutch.inbound(%L)', d #- '{content,0,name}')), 'KL014 REQUIRED /content/0/name', 'but a call has a name') FROM nameless WHERE no = 1;

SELECT * FROM finish();
