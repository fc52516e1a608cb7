-- The messages of the Multi-Agent Protocol.
\ir ../fixtures/tap.sql
\set adapter map
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 15);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

-- a request without a correlation, and what says that it is the response to it
SELECT FROM clutch.register(fixture.card('wren'));
CREATE TABLE asked AS SELECT * FROM clutch.ingest('{"id": "m1", "from": "ui", "to": "wren", "payload": {"q": 1}, "meta": {"timestamp": 1795209727322, "expectsResponse": true}}');
SELECT is((SELECT count(*)::int FROM clutch.claim('agent:wren')), 1, 'a message that expects a response is a request');
CREATE TABLE answered AS SELECT * FROM clutch.ingest('{"id": "m2", "from": "wren", "to": {"agent": "ui"}, "timestamp": 1795209727400, "payload": {"a": 2}, "meta": {"correlationId": "m1", "isResult": true}}');
SELECT is((SELECT task_id FROM answered), (SELECT task_id FROM asked), 'the response names the request');
SELECT is((SELECT fixture.state(task_id) FROM asked), 'completed agent:wren 1', 'and ends the task');

-- two clients: the correlation ID of the requester comes back from the agent
SELECT FROM fixture.agent('kay');
SELECT FROM clutch.ingest('{"jsonrpc": "2.0", "id": 1, "method": "map/send", "params": {"to": {"agent": "kay"}, "payload": {"n": 1}, "meta": {"expectsResponse": true, "correlationId": "c-kay"}}}', 'map', '{"agent_id": "agent:planner"}');
CREATE TABLE kay AS SELECT c.task_id, t.run_id FROM clutch.claim('agent:kay') AS c JOIN clutch.tasks t ON t.task_id = c.task_id;
CREATE TABLE response AS SELECT '{"jsonrpc": "2.0", "id": 7, "method": "map/send", "params": {"to": {"agent": "planner"}, "payload": {"n": 2}, "meta": {"isResult": true, "correlationId": "c-kay"}}}'::jsonb AS document;
SELECT is(clutch.outbound(clutch.inbound(document, 'map', to_jsonb(kay) || '{"agent_id": "agent:kay"}'), 'map'), document, 'a response for whose task the context answers comes back') FROM kay, response;
SELECT FROM kay, response, clutch.ingest(document, 'map', to_jsonb(kay) || '{"agent_id": "agent:kay"}');
SELECT is(fixture.state(task_id), 'completed agent:kay 1', 'and ends the task of the context, whatever the ID means elsewhere') FROM kay;
SELECT is(clutch.reply(task_id) #>> '{params,meta,correlationId}', 'c-kay', 'so the requester gets it under its own ID') FROM kay;

-- a client numbers the calls of each of its connections from 1
SELECT is((SELECT string_agg(r.duplicate::text, ' ' ORDER BY n) FROM unnest('{east,west,east,NULL,NULL}'::text[]) WITH ORDINALITY AS s(session, n),
	LATERAL clutch.ingest('{"jsonrpc": "2.0", "id": 1, "method": "map/send", "params": {"to": "ken", "payload": "good morning"}}', 'map',
		jsonb_strip_nulls(jsonb_build_object('agent_id', 'agent:planner', 'session', s.session))) AS r), 'false false true false true', 'calls of several sessions are different, whatever they say');
SELECT is(fixture.fault($$SELECT clutch.inbound('{"jsonrpc": "2.0", "method": "map/message", "params": {"message": {"id": "m", "from": "a", "to": {"near": true}, "payload": 1}}}')$$),
	'KL014 WRONG_VALUE /params/message/to', 'an address of no known form is refused at its place in the frame');
SELECT is(fixture.fault($$SELECT clutch.inbound('[{"id": "m", "from": "a", "to": {"agents": []}, "payload": 1}]')$$), 'KL014 TOO_FEW /0/to/agents', 'so is an address of nobody');
SELECT is(fixture.fault($$SELECT clutch.inbound('{"id": "m", "from": "a", "to": "b", "payload": 1, "meta": {"ttlMs": 0}}')$$), 'KL014 NUMBER_OUT_OF_RANGE /meta/ttlMs', 'so is a time to live that is over');
SELECT is(clutch.can_handle('{"jsonrpc": "2.0", "id": 1, "method": "map/subscribe", "params": {}}'), NULL, 'another method is not handled');
SELECT is(clutch.outbound(envelope, 'map') -> 'to', '{"agents": ["ken", "group:team"]}', 'several recipients are agents')
FROM clutch.envelope('chat.message', 'agent:ui', id => 'msg_many', to_agents => '{agent:ken,group:team}', run_id => 'run:1', task_id => 'task:1') AS envelope;

SELECT is(concat_ws(' ', d #>> '{meta,isResult}', d #>> '{payload,code}', d #>> '{meta,correlationId}'), 'true TIMEOUT task_01HX...', 'a task.timeout ends the request')
FROM fixture.native, clutch.outbound(envelope, 'map') AS d WHERE name = 'task.timeout';

-- a result with the names of an error, which must not keep the requester from its answer
SELECT FROM clutch.register(fixture.card('kite'));
SELECT task_id AS coded FROM clutch.ingest('{"id": "m9", "from": "ui", "to": {"agent": "kite"}, "timestamp": 1795209727322, "payload": {"q": 1}, "meta": {"expectsResponse": true}}') \gset
SELECT FROM clutch.claim('agent:kite');
SELECT FROM clutch.finish('agent:kite', :'coded', '{"code": "print(1)", "message": "done", "details": "see above"}', 1);
SELECT is(clutch.reply(:'coded') -> 'payload', '{"code": "print(1)", "message": "done", "details": "see above"}', 'a result may have a code, a message and details of its own');
SELECT is(bool_and(e ->> 'type' = CASE WHEN fits THEN 'task.error' ELSE 'task.result' END), true, 'it is an error only if all that an error has is what it is there')
FROM (VALUES ('{"code": "X", "message": "m"}'::jsonb, true), ('{"code": -32601, "message": "m", "details": {}, "retryable": true}', true), ('{"code": "", "message": "m"}', false), ('{"code": "a\nb", "message": "m"}', false),
	('{"code": "X", "message": "m", "details": []}', false), ('{"code": "X", "message": "m", "retryable": "no"}', false), ('{"code": 1.5, "message": "m"}', false)) AS v(payload, fits),
	LATERAL clutch.inbound(jsonb_build_object('id', 'm10', 'from', 'kite', 'to', 'ui', 'timestamp', 1795209727322, 'payload', payload, 'meta', '{"correlationId": "m9", "isResult": true}'::jsonb), 'map') AS e;

SELECT * FROM finish();
