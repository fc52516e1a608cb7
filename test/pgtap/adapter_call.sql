-- Calling adapters: which is chosen, whose IDs are derived, adapters of users, stubs,
-- batches, roles, errors.
\ir ../fixtures/tap.sql
SELECT plan(141);

-- "SQLSTATE CODE argument path" of the first fault
CREATE FUNCTION fixture.fault_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', SQLSTATE, CASE WHEN detail LIKE '[%' THEN concat_ws(' ', detail::jsonb -> 0 ->> 'code', detail::jsonb -> 0 ->> 'argument', detail::jsonb -> 0 ->> 'path') END);
END $$;

-- ---------------------------------------------------------------- the choice
SELECT is(clutch.can_handle('{"specversion": "1.0", "id": "1", "source": "a", "type": "t"}'), 'http', 'a CloudEvent is for http');
SELECT is(clutch.can_handle('{"nothing": 1}'), NULL, 'a document of no dialect is for nobody');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"nothing": 1}') $$), 'KL015 NOT_HANDLED raw', 'and nobody translates it');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('[]') $$), 'KL015 NOT_HANDLED raw', 'an empty batch is no document');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"nothing": 1}', 'http') $$), 'KL015 NOT_HANDLED raw', 'nor does the adapter that is named');
SELECT alike(fixture.hint_of(format($$ SELECT clutch.inbound('"{\"specversion\": \"1.0\"}"', %L) $$, a.name)), a.hint || ' The document is a JSON string; if an object was encoded twice, pass the object itself.', 'a string is told apart from an object')
FROM (VALUES (NULL, 'Each of them was asked. %.'), ('http', 'Without the name of an adapter, %.')) AS a(name, hint);
SELECT is(fixture.hint_of(format($$ SELECT clutch.inbound('{"specversion": "1.0"}', %L) $$, name)), 'Correct the document' || rest, 'nobody is told to name the adapter that he has named')
FROM (VALUES ('http', '.'), (NULL, ', or name the adapter that it is meant for.')) AS v(name, rest);
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"nothing": 1}', 'ftp') $$), '42704 WRONG_VALUE adapter', 'an adapter that does not exist');
SELECT is(fixture.fault_of($$ SELECT clutch.outbound('{"v": "clutch/0.1"}', 'http') $$), 'KL001 REQUIRED /ts', 'an envelope that is not valid goes nowhere');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t"}', NULL, '[]') $$), '22023 WRONG_TYPE context', 'a context that is no object');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t"}', NULL, '{"to": [1]}') $$), '22023 WRONG_TYPE context', 'recipients that are none');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t"}', NULL, '{"agent": "agent:x"}') $$), '22023 UNKNOWN_FIELD context', 'a member that is misspelt');
SELECT is(fixture.fault_of(format($$ SELECT clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t"}', NULL, %L) $$, v.context)), v.fault, 'a member that some adapters know: ' || v.context)
FROM (VALUES ('{"session": 5}', '22023 WRONG_TYPE context'), ('{"session": ""}', '22023 WRONG_TYPE context'), ('{"server": {}}', '22023 WRONG_TYPE context'), ('{"seq": "1"}', '22023 WRONG_TYPE context'), ('{"seq": 1.5}', '22023 WRONG_TYPE context'),
	('{"stream": "true"}', '22023 WRONG_TYPE context'), ('{"interrupted": 1}', '22023 WRONG_TYPE context'), ('{"session": "s", "server": "x", "seq": 3, "stream": true, "interrupted": false}', 'no error'), ('{"session": null, "seq": null}', 'no error'),
	('{"artifacts_from": 10}', '22023 WRONG_TYPE context'), ('{"artifacts_from": "1000"}', '22023 WRONG_TYPE context'), ('{"artifacts_from": 1000}', 'no error'),
	('{"agent_id": "ken"}', '22023 WRONG_PREFIX context'), ('{"to": "ken"}', '22023 WRONG_PREFIX context'), ('{"to": ["agent:ken", ""]}', '22023 EMPTY context'), ('{"task_id": ""}', '22023 EMPTY context'), ('{"parent_task_id": "agent:x"}', '22023 WRONG_PREFIX context'),
	('{"run_id": "task:x"}', '22023 WRONG_PREFIX context'), ('{"thread_id": "run:x"}', '22023 WRONG_PREFIX context'), ('{"to": "topic:x", "run_id": "run:x", "thread_id": "mine", "task_id": "task:x"}', 'no error')) AS v(context, fault);
SELECT is(fixture.fault_of(format($$ SELECT clutch.inbound('{"header": {"messageId": "1", "type": "REQUEST", "source": "a", "destination": "b"}, "body": {"context": {"taskId": "t", "sessionId": "s"}}}', NULL, %L) $$, context)), '22023 ' || code || ' context', 'also if the document needs none of it: ' || context)
FROM (VALUES ('{"task_id": "run:x"}', 'WRONG_PREFIX'), ('{"thread_id": 7}', 'WRONG_TYPE'), ('{"parent_task_id": ""}', 'EMPTY'), ('{"to": [7]}', 'WRONG_TYPE'), ('{"to": []}', 'WRONG_TYPE')) AS v(context, code);
SELECT throws_like($$ SELECT clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t"}', NULL, '{"agent_id": "ken"}') $$, 'invalid member "agent_id" of the context: "ken" is not valid; an agent ID must begin with "agent:"', 'the error says what an ID must be');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound(NULL) $$), '22004 NULL_VALUE raw', 'no document');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": 7}') $$), 'KL014 WRONG_TYPE raw /type', 'a member of a wrong kind');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "time": "noon"}') $$), 'KL014 WRONG_FORMAT raw /time', 'a time that is none');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound(jsonb_build_object('specversion', '1.0', 'id', '1', 'source', repeat('a', 300), 'type', 't')) $$), 'KL014 TOO_LONG raw /source', 'a name that is too long');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "task:x"}') $$), 'KL014 WRONG_PREFIX raw /type', 'a type that has a prefix of ours');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "clutch.tool.result"}') $$), 'KL014 REQUIRED /meta/clutch/reply_to',
	'an envelope that the door would refuse is refused with its place');

SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "data": {"a/b": [1e400]}}') $$),
	'KL014 NUMBER_OUT_OF_RANGE raw /data/a~1b/0', 'a number that no double can hold');
SELECT is(fixture.fault_of(format($$ SELECT clutch.inbound(%L) $$, '{"a": ' || repeat('[', 70) || repeat(']', 70) || '}')), 'KL014 TOO_DEEP raw /a' || repeat('/0', 63), 'what is nested too deep');

-- a batch: each document by the adapter that handles it
SELECT is((SELECT string_agg(e ->> 'payload_type', ',') FROM clutch.inbound('[{"specversion": "1.0", "id": "1", "source": "a", "type": "x"},
	{"type": "y", "timestamp": "2026-01-01T00:00:00Z"}]') AS e), 'x,y', 'an array is a batch');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('[{"specversion": "1.0", "id": "1", "source": "a", "type": "x"}, {"specversion": "1.0", "id": "1", "type": "x"}]') $$),
	'KL014 REQUIRED raw /1/source', 'a fault in a batch names the document');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('[{"specversion": "1.0", "id": "1", "source": "a", "type": "x"}, 5]') $$), 'KL015 NOT_HANDLED raw /1', 'and so does a document of no dialect');

-- ------------------------------------------------------------ whose IDs they are
CREATE FUNCTION pg_temp.event(id text DEFAULT '1', more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('specversion', '1.0', 'id', id, 'source', 'a', 'type', 't') || more $$;
CREATE FUNCTION pg_temp.ids(raw jsonb, context jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(concat_ws(' ', e ->> 'id', e ->> 'run_id', e ->> 'task_id', e ->> 'thread_id'), ', ') FROM clutch.inbound(raw, NULL, context) AS e $$;
SELECT is(pg_temp.ids(pg_temp.event()), pg_temp.ids(pg_temp.event(more => '{"data": {"a": 1}}')), 'IDs follow from those of the document, not from the rest');
SELECT isnt(pg_temp.ids(pg_temp.event()), pg_temp.ids(pg_temp.event(more => '{"source": "b"}')), 'an ID of another source is another one');
SELECT isnt(pg_temp.ids(pg_temp.event()), pg_temp.ids(pg_temp.event('2')), 'so is another ID');
SELECT is(clutch.inbound(pg_temp.event('1', '{"subject": "s"}')) ->> 'task_id', clutch.inbound(pg_temp.event('2', '{"subject": "s"}')) ->> 'task_id', 'one subject is one task');
SELECT is(clutch.inbound(pg_temp.event('1', '{"subject": "s"}')) ->> 'run_id', clutch.inbound(pg_temp.event('2', '{"subject": "s"}')) ->> 'run_id', 'of one run');
SELECT isnt(pg_temp.ids(pg_temp.event()), pg_temp.ids(pg_temp.event(), '{"agent_id": "agent:gate"}'), 'the agent of the context has a realm of its own');
SELECT is((SELECT concat_ws(' ', e ->> 'run_id', e ->> 'thread_id', e ->> 'task_id', e ->> 'parent_task_id', e -> 'to')
	FROM clutch.inbound(pg_temp.event(), NULL, '{"run_id": "run:c", "thread_id": "thread:c", "task_id": "task:c", "parent_task_id": "task:p", "to": ["agent:a", "group:g"]}') AS e),
	'run:c thread:c task:c task:p [{"agent_id": "agent:a"}, {"agent_id": "group:g"}]', 'the context says what the document does not');
SELECT fixture.ask('task:known');
SELECT is((SELECT concat_ws(' ', e ->> 'run_id', e ->> 'thread_id', e ->> 'task_id') FROM clutch.inbound(pg_temp.event('3', '{"subject": "task:known"}')) AS e),
	'run:1 thread:1 task:known', 'the ID of a task here stands for that task');

-- a database with another secret derives other IDs, but an envelope that was sent from here arrives with its own
CREATE TEMP TABLE before AS SELECT pg_temp.ids(pg_temp.event()) AS ids, e, clutch.outbound(e, 'http') AS document FROM clutch.envelope('task.request', 'agent:ken', requires => '{skill:x}') AS e;
UPDATE clutch.secret SET value = sha256(value);
SELECT isnt(pg_temp.ids(pg_temp.event()), ids, 'nobody else can compute the IDs') FROM before;
SELECT is(clutch.inbound(document), e, 'a document that was an envelope becomes that envelope anywhere') FROM before;
SELECT is((SELECT i ->> 'task_id' FROM clutch.inbound(document || '{"time": "2026-05-05T00:00:00Z", "data": {"new": 1}, "ext": 1}') AS i), e ->> 'task_id', 'also if it was changed on the way') FROM before;
SELECT is((SELECT concat_ws(' ', i ->> 'ts', i -> 'payload', i -> 'requires') FROM clutch.inbound(document || '{"time": "2026-05-05T00:00:00Z", "data": {"new": 1}, "ext": 1}') AS i),
	'2026-05-05T00:00:00Z {"new": 1} ["skill:x"]', 'and what was changed shows') FROM before;
SELECT is(clutch.outbound(clutch.inbound(document || '{"ext": 1, "data": {"new": 1}}'), 'http'), document || '{"ext": 1, "data": {"new": 1}}', 'and comes back') FROM before;
SELECT is(fixture.fault_of(format($$ SELECT clutch.inbound(%L) $$, document || jsonb_build_object('clutchenvelope', '[{"path": "", "is": 5}, {"path": "", "was": 5, "is": 6}]'))), 'no error', 'what does not fit in a carrier is left out') FROM before;
SELECT isnt(fixture.fault_of(format($$ SELECT clutch.inbound(%L) $$, document || jsonb_build_object('clutchenvelope', c))), 'XX000', 'a hostile carrier: ' || c)
FROM before, unnest(ARRAY['[', '[5, null, {}, {"path": 5}, {"path": "x", "is": 1}]', '[{"path": "/payload", "is": 1}, {"path": "/payload/a/b/c", "is": 1}, {"path": "/to/9/x", "is": 2}]']) AS c;

-- what only the database may say
SELECT is((SELECT string_agg(i ->> 'type', ', ') FROM unnest('{routing.failure,routing.decision}'::text[]) AS t, clutch.envelope('chat.message', 'agent:ken') AS e, LATERAL clutch.inbound(clutch.outbound(e || jsonb_build_object('type', t, 'payload', '{"code": "X", "message": "m"}'::jsonb), 'http')) AS i),
	'chat.message, chat.message', 'is a message when it comes from outside, whatever the carrier says');

-- ------------------------------------------------------------- adapters of users
CREATE SCHEMA app;
CREATE FUNCTION app.handles(raw jsonb) RETURNS boolean LANGUAGE sql AS $$ SELECT raw ? 'beep' $$;
CREATE FUNCTION app.read(raw jsonb, context jsonb) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
	IF raw ->> 'beep' = 'answer' THEN
		RETURN NEXT jsonb_build_object('type', 'tool.call', 'payload', '{"tool": "tool:beeper", "args": {}}'::jsonb, 'meta',
			jsonb_build_object('beeper', jsonb_build_object('stub', true, 'native', jsonb_build_object('id', raw -> 'to'))));
	END IF;
	RETURN NEXT jsonb_build_object('type', CASE raw ->> 'beep' WHEN 'call' THEN 'tool.call' WHEN 'answer' THEN 'tool.result' ELSE 'chat.message' END,
		'payload', coalesce(raw -> 'say', '{}'),
		'meta', jsonb_build_object('beeper', jsonb_build_object('native', jsonb_strip_nulls(jsonb_build_object('id', raw -> 'no', 'reply_to', raw -> 'to', 'run_id', raw -> 'line')))));
END $$;
CREATE FUNCTION app.write(envelope jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT CASE WHEN envelope ->> 'type' NOT LIKE 'task.%' THEN jsonb_strip_nulls(jsonb_build_object('beep', CASE envelope ->> 'type' WHEN 'tool.call' THEN 'call' WHEN 'tool.result' THEN 'answer' ELSE 'chat' END,
		'say', envelope -> 'payload', 'no', envelope #> '{meta,beeper,native,id}', 'to', envelope #> '{meta,beeper,native,reply_to}', 'line', envelope #> '{meta,beeper,native,run_id}')) END
$$;
INSERT INTO clutch.adapter (name, place, can_handle, inbound, outbound, carrier) VALUES ('beeper', 50, 'app.handles', 'app.read', 'app.write', '/rest');
SELECT is(clutch.can_handle('{"beep": "chat"}'), 'beeper', 'an adapter of a user is asked');
SELECT is(clutch.outbound(clutch.inbound('{"beep": "chat", "say": {"a": 1}, "no": 5, "color": [1.50], "line": "l"}'), 'beeper'), '{"beep": "chat", "say": {"a": 1}, "no": 5, "color": [1.50], "line": "l"}', 'and loses nothing');
SELECT is(clutch.inbound(clutch.outbound(e, 'beeper'), 'beeper'), e, 'nor does an envelope through it') FROM clutch.envelope('chat.message', 'agent:ken', meta => '{"x": 1}', requires => '{skill:x}') AS e;
SELECT is(fixture.fault_of($$ SELECT clutch.outbound(clutch.envelope('task.request', 'agent:ken'), 'beeper') $$), '0A000 NO_FORM /type', 'what it has no form for is refused');
SELECT is(count(clutch.outbound(jsonb_build_object('v', 'clutch/0.1', 'id', 'msg_1', 'ts', '2026-01-01T12:00:00Z', 'run_id', 'run:1', 'thread_id', 'thread:1', 'task_id', 'task:1', 'from', '{"agent_id": "agent:orchestrator"}'::jsonb,
		'to', '[{"agent_id": "agent:ken"}]'::jsonb, 'type', t, 'payload', CASE WHEN t IN ('agent.register', 'agent.update') THEN '{"v": "clutch/0.1", "agent_id": "agent:orchestrator", "capabilities": []}'::jsonb
			ELSE '{"status": "READY", "code": "X", "message": "m", "tool": "tool:x", "args": {}}' END, 'meta', CASE WHEN t ~ '^tool.(result|error)' THEN '{"clutch": {"reply_to": "msg_0"}}'::jsonb ELSE '{}' END), a.name)), 34::bigint, 'but two adapters have a form for every type')
FROM unnest('{agent.register,agent.update,agent.heartbeat,task.request,task.accept,task.progress,task.result,task.error,task.cancel,task.timeout,tool.call,tool.result,tool.error,chat.message,chat.system,routing.decision,routing.failure}'::text[]) AS t,
	unnest('{http,peer}'::text[]) AS a(name);
SELECT is(fixture.fault_of($$ INSERT INTO clutch.adapter (name, place, inbound, outbound) VALUES ('x', 1, 'unqualified', 'app.write') $$), '22023 WRONG_FORMAT /inbound', 'functions are named with their schema');
SELECT is(fixture.fault_of($$ INSERT INTO clutch.adapter (name, place, inbound, outbound) VALUES ('clutch', 1, 'app.read', 'app.write') $$), '22023 NOT_ALLOWED /name', 'meta.clutch is no adapter''s');
SELECT is(fixture.fault_of($$ INSERT INTO clutch.adapter (name, place, inbound, outbound) VALUES ('rule', 1, 'app.read', 'app.write') $$), '22023 NOT_ALLOWED /name', 'nor is meta.rule');
SELECT is(fixture.fault_of(format($$ INSERT INTO clutch.adapter (name, place, can_handle, inbound, outbound, carrier, builtin) VALUES (%s) $$, v.row)), v.fault, 'a row that is not valid: ' || v.row)
FROM (VALUES ($$NULL, 1, NULL, 'app.read', 'app.write', NULL, false$$, '22023 REQUIRED /name'),
	($$'My', 1, NULL, 'app.read', 'app.write', NULL, false$$, '22023 WRONG_FORMAT /name'),
	($$'x', NULL, NULL, 'app.read', 'app.write', NULL, false$$, '22023 REQUIRED /place'),
	($$'x', 1, NULL, NULL, 'app.write', NULL, false$$, '22023 REQUIRED /inbound'),
	($$'x', 1, 'handles', 'app.read', NULL, NULL, false$$, '22023 WRONG_FORMAT /can_handle'),
	($$'x', 1, NULL, 'app.read', NULL, NULL, false$$, '22023 REQUIRED /outbound'),
	($$'x', 1, 'app.handles()', 'app.read', 'app.write', NULL, false$$, '22023 WRONG_FORMAT /can_handle'),
	($$'x', 1, NULL, 'app.read(jsonb, jsonb)', 'app.write', NULL, false$$, '22023 WRONG_FORMAT /inbound'),
	($$'x', 1, NULL, 'app."read', 'app.write', NULL, false$$, '22023 WRONG_FORMAT /inbound'),
	($$'x', 1, NULL, 'app.read', 'this.app.write', NULL, false$$, '22023 WRONG_FORMAT /outbound'),
	($$'x', 1, 'app.a.b.c(', 'app.read', 'app.write', NULL, false$$, '22023 WRONG_FORMAT /can_handle'),
	($$'x', 1, NULL, 'app.read', 'app.write', 'meta', false$$, '22023 WRONG_FORMAT /carrier'),
	($$'x', 1, NULL, 'app.read', 'app.write', '/a/~2', false$$, '22023 WRONG_FORMAT /carrier'),
	($$'x', 1, NULL, 'app.read', 'app.write', '/a~', false$$, '22023 WRONG_FORMAT /carrier'),
	($$'x', 1, NULL, NULL, NULL, NULL, true$$, '22023 WRONG_VALUE /name'),
	($$'http', 1, NULL, 'app.read', 'app.write', NULL, false$$, '22023 NOT_ALLOWED /name'),
	($$'map', 1, NULL, 'app.read', 'app.write', NULL, true$$, '22023 NOT_ALLOWED /inbound'),
	($$'x', 1, NULL, 'app.read', 'app.write', NULL, NULL$$, '22023 REQUIRED /builtin')) AS v(row, fault);
INSERT INTO clutch.adapter (name, can_handle, inbound, outbound) VALUES ('last', 'app.handles', 'app.read', 'app.write');
SELECT is((SELECT name FROM clutch.adapter ORDER BY place DESC, name LIMIT 1), 'last', 'without a place, an adapter is asked after all that come with the extension');
DELETE FROM clutch.adapter WHERE name = 'last';
CREATE FUNCTION app.mirror(raw jsonb, context jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$
	SELECT CASE WHEN NOT raw ? 'lost' THEN jsonb_build_object('type', 'chat.message', 'payload', raw) END WHERE NOT raw ? 'quiet'
$$;
CREATE FUNCTION app.mirrored(envelope jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT envelope -> 'payload' $$;
INSERT INTO clutch.adapter (name, place, inbound, outbound, carrier) VALUES ('mirror', 60, 'app.mirror', 'app.mirrored', '/c');
INSERT INTO clutch.adapter (name, place, inbound, outbound) VALUES ('gone', 60, 'app.no_such', 'app.write');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"beep": 1}', 'gone') $$), '42883 WRONG_VALUE adapter', 'an adapter without can_handle is used by its name');
UPDATE clutch.adapter SET can_handle = 'app.handles' WHERE name = 'gone';
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"beep": 1}', 'gone') $$), '42883 WRONG_VALUE adapter', 'a function that does not exist is named');
SELECT is((SELECT string_agg(c.detail, ', ') FROM clutch.check() c WHERE c.code = 'ADAPTER_BROKEN'), 'adapter gone names the function app.no_such(jsonb, jsonb) that returns jsonb, which does not exist', 'and is reported');
DELETE FROM clutch.adapter WHERE name = 'gone';

-- what stands in the place of the carrier is carried
SELECT is(clutch.inbound(clutch.outbound(e, a.adapter), a.adapter), e, a.adapter || ': a part of the payload that has the place of the carrier')
FROM (VALUES ('mirror', 'chat.message', '{"k": 1, "c": "mine"}'), ('mirror', 'task.request', '{"c": {"a": [1]}}'), ('mirror', 'chat.message', '{"c": [{"path": "/type", "is": "task.cancel"}]}'),
	('a2a', 'task.cancel', '{"clutch": "mine", "reason": "late"}')) AS a(adapter, type, payload),
	LATERAL clutch.envelope(a.type, 'agent:ken', payload => a.payload::jsonb, run_id => 'run:m', thread_id => 'thread:m', task_id => 'task:m') AS e;

-- an envelope that is NULL is no envelope
SELECT is(fixture.fault_of($$ SELECT clutch.ingest('{"lost": 1}', 'mirror') $$), 'KL014 WRONG_TYPE adapter', 'a document is not lost because an expression was NULL');
SELECT alike(fixture.hint_of($$ SELECT clutch.ingest('{"lost": 1}', 'mirror') $$), '%is NULL%return no row.', 'and the error says so');
SELECT is((SELECT count(*) FROM clutch.ingest('{"quiet": 1}', 'mirror')), 0::bigint, 'one that makes no envelope is left out');
DELETE FROM clutch.adapter WHERE name = 'mirror';

-- notes are objects
CREATE FUNCTION app.noted(raw jsonb, context jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$ SELECT '{"type": "chat.message"}'::jsonb || raw $$;
INSERT INTO clutch.adapter (name, place, inbound, outbound) VALUES ('noted', 60, 'app.noted', 'app.mirrored');
SELECT is(fixture.fault_of(format($$ SELECT clutch.inbound(%L, 'noted') $$, v.envelope)), v.fault, 'an envelope with the notes ' || v.envelope)
FROM (VALUES ('{"meta": "x"}', 'KL014 WRONG_TYPE adapter'), ('{"meta": {"noted": 17}}', 'KL014 WRONG_TYPE adapter'), ('{"meta": {"noted": {"native": "17"}}}', 'KL014 WRONG_TYPE adapter'),
	('{"meta": {"noted": {"native": null}}}', 'no error')) AS v(envelope, fault);
DELETE FROM clutch.adapter WHERE name = 'noted';

-- an adapter that calls another one for a part of its documents
CREATE FUNCTION app.unwrap(raw jsonb, context jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$ SELECT clutch.inbound(raw -> 'wrapped', 'http', context) - 'ts' $$;
CREATE FUNCTION app.wrap(envelope jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('wrapped', clutch.outbound(envelope, 'http')) $$;
INSERT INTO clutch.adapter (name, place, inbound, outbound) VALUES ('wrapper', 60, 'app.unwrap', 'app.wrap');
CREATE TEMP TABLE wrapped AS SELECT '{"wrapped": {"specversion": "1.0", "id": "w", "source": "s", "type": "t", "region": "eu"}, "more": 1.50}'::jsonb AS d;
SELECT is(clutch.outbound(clutch.inbound(d, 'wrapper'), 'wrapper'), d, 'loses nothing, either') FROM wrapped;
SELECT r.seq FROM wrapped, LATERAL clutch.ingest(d, 'wrapper', '{"agent_id": "agent:w"}') AS r \g /dev/null
SELECT ok(r.duplicate, 'and takes in a document once') FROM wrapped, LATERAL clutch.ingest(d, 'wrapper', '{"agent_id": "agent:w"}') AS r;
DELETE FROM clutch.adapter WHERE name = 'wrapper';

-- a document of several envelopes: the first bears it, and the others take from it what they do not say themselves
CREATE FUNCTION app.several(raw jsonb, context jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$
	SELECT '{"type": "chat.message"}'::jsonb || own || jsonb_build_object('meta', jsonb_build_object('several', jsonb_build_object('native', native)))
	FROM (VALUES (1, '{}'::jsonb, '{"id": "1", "run_id": "r", "task_id": "b", "parent_task_id": "p"}'::jsonb), (2, '{}', '{"id": "2"}'), (3, '{}', '{"id": "3", "task_id": "c"}'),
		(4, '{"task_id": "task:own"}', '{"id": "4"}'), (5, '{}', '{"id": "5", "task_id": "d", "parent_task_id": "b"}')) AS v(i, own, native) ORDER BY i
$$;
INSERT INTO clutch.adapter (name, place, inbound, outbound) VALUES ('several', 60, 'app.several', 'app.write');
CREATE TEMP TABLE several AS SELECT i, e ->> 'run_id' AS run, e ->> 'thread_id' AS thread, e ->> 'task_id' AS task, e ->> 'parent_task_id' AS parent FROM clutch.inbound('{}', 'several') WITH ORDINALITY AS t(e, i);
SELECT is((SELECT count(DISTINCT (run, thread))::int FROM several), 1, 'all envelopes of a document are in its run');
SELECT is(s.task = b.task AND s.parent = b.parent, true, 'one without a task is of the task and the parent of the bearer') FROM several s, several b WHERE s.i = 2 AND b.i = 1;
SELECT is(s.task <> b.task AND s.parent IS NULL, true, 'one with a task of its own has not the parent of the bearer: ' || s.i) FROM several s, several b WHERE s.i IN (3, 4) AND b.i = 1 ORDER BY s.i;
SELECT is(s.parent, b.task, 'but the parent that it names') FROM several s, several b WHERE s.i = 5 AND b.i = 1;
DELETE FROM clutch.adapter WHERE name = 'several';

-- an adapter that does not work keeps no document from the others
CREATE SCHEMA closed;
CREATE FUNCTION closed.handles(raw jsonb) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
CREATE FUNCTION app.fails(raw jsonb) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN (raw ->> 'type')::int > 0; END $$;
INSERT INTO clutch.adapter (name, place, can_handle, inbound, outbound) VALUES ('shut', 1, 'closed.handles', 'app.read', 'app.write'), ('failing', 2, 'app.fails', 'app.read', 'app.write'),
	('lost', 3, 'app.no_such', 'app.read', 'app.write');
CREATE ROLE clutch_test_plain;
SELECT clutch.grant_agent('clutch_test_plain', 'agent:plain');
GRANT USAGE ON SCHEMA app, fixture TO PUBLIC;
SET ROLE clutch_test_plain;
SELECT is(clutch.can_handle('{"specversion": "1.0", "id": "1", "source": "a", "type": "t"}'), 'http', 'nor one that this role may not use');
SELECT alike(fixture.hint_of($$ SELECT clutch.inbound('{"type": "x"}') $$), '%shut: permission denied for schema closed; failing: invalid input syntax for type integer: "x"; lost: function app.no_such(jsonb)%does not exist; %', 'which the error says');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"beep": 1}', 'lost') $$), '42883 WRONG_VALUE adapter', 'whoever names it gets its error');
RESET ROLE;
DELETE FROM clutch.adapter WHERE name IN ('shut', 'failing', 'lost');
DROP OWNED BY clutch_test_plain;
DROP ROLE clutch_test_plain;
DROP SCHEMA closed CASCADE;

-- many members, or many credentials, below one long key: each path would have its length
SET statement_timeout = '30s';
SELECT is(clutch.outbound(clutch.inbound(d), 'http'), d, 'members below a long key') FROM (SELECT jsonb_build_object('specversion', '1.0', 'id', '1', 'source', 'a', 'type', 't', 'data', jsonb_build_object(repeat('k', 400000), jsonb_object_agg(i::text, i))) AS d FROM generate_series(1, 20000) i) AS v;
SELECT is(jsonb_array_length(clutch.inbound(d) #> '{meta,http,dropped}'), 2, 'credentials below a long key are told by the key') FROM (SELECT jsonb_build_object('specversion', '1.0', 'id', '1', 'source', 'a', 'type', 't', 'password', 'x', 'data', jsonb_build_object(repeat('k', 400000), jsonb_object_agg(i || '_password', i))) AS d FROM generate_series(1, 10000) i) AS v;
SELECT is(clutch.inbound(d) -> 'payload', '{"content": []}', 'and none of many is left') FROM (SELECT jsonb_build_object('specversion', '1.0', 'id', '1', 'source', 'a', 'type', 't', 'data', jsonb_agg('Bearer abcdefgh12345678'::text)) AS d FROM generate_series(1, 20000) i) AS v;
RESET statement_timeout;

-- ------------------------------------------------------------------ stubs
SELECT is((SELECT string_agg(e ->> 'type', ',') FROM clutch.inbound('{"beep": "answer", "no": 2, "to": 1, "line": "l"}') AS e), 'tool.call,tool.result', 'an answer whose call nobody sent brings the call');
SELECT is((SELECT count(DISTINCT coalesce(e #>> '{meta,clutch,reply_to}', e ->> 'id')) FROM clutch.inbound('{"beep": "answer", "no": 2, "to": 1, "line": "l"}') AS e), 1::bigint, 'and refers to it');
SELECT is((SELECT string_agg(r.duplicate::text, ',') FROM clutch.ingest('{"beep": "answer", "no": 2, "to": 1, "line": "l"}') AS r), 'false,false', 'both are sent');
SELECT is((SELECT string_agg(r.duplicate::text, ',') FROM clutch.ingest('{"beep": "answer", "no": 2, "to": 1, "line": "l"}') AS r), 'true', 'once');
SELECT is((SELECT string_agg(r.duplicate::text, ',') FROM clutch.ingest('{"beep": "call", "say": {"tool": "tool:x", "args": {}}, "no": 1, "line": "l"}') AS r), 'false', 'the call itself may come later');
SELECT is((SELECT string_agg(r.duplicate::text, ',') FROM clutch.ingest('{"beep": "answer", "no": 2, "to": 1, "line": "l"}') AS r), 'true', 'and the answer is still the same');
SELECT is((SELECT string_agg(e ->> 'type', ',') FROM clutch.inbound('[{"beep": "call", "say": {"tool": "tool:x", "args": {}}, "no": 1, "line": "m"}, {"beep": "answer", "no": 2, "to": 1, "line": "m"}]') AS e),
	'tool.call,tool.result', 'a call in the same batch needs no stub');

-- ------------------------------------------------------------------ roles
CREATE ROLE hook; CREATE ROLE other; CREATE ROLE ops; CREATE ROLE two;
SELECT clutch.grant_agent('hook', 'agent:hook'), clutch.grant_agent('other', 'agent:other'), clutch.grant_operator('ops'),
	clutch.grant_agent('two', 'agent:hook'), clutch.grant_agent('two', 'agent:other');
GRANT ALL ON SCHEMA app TO PUBLIC;
SELECT set_config('test.hook', (SELECT e ->> 'id' FROM clutch.inbound(pg_temp.event(), NULL, '{"agent_id": "agent:hook"}') AS e), false);
GRANT USAGE ON SCHEMA fixture TO PUBLIC;
CREATE FUNCTION pg_temp.progress() RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"specversion": "1.0", "id": "p", "source": "a", "type": "clutch.task.progress", "data": {}}'::jsonb $$;
SELECT clutch.send(clutch.envelope('task.request', 'agent:hook', task_id => 'task:hers', run_id => 'run:hers')) \g /dev/null
SET ROLE hook;
SELECT is((SELECT e #>> '{from,agent_id}' FROM clutch.inbound('{"beep": "chat"}') AS e), 'agent:hook', 'a document without a sender is sent by the only agent of the role');
SELECT is((SELECT e ->> 'id' FROM clutch.inbound(jsonb_build_object('specversion', '1.0', 'id', '1', 'source', 'a', 'type', 't'), NULL, '{"agent_id": "agent:hook"}') AS e), current_setting('test.hook'),
	'all who speak for an agent derive the same IDs');
SELECT is(fixture.fault_of($$ SELECT clutch.ingest('{"specversion": "1.0", "id": "1", "source": "a", "type": "t"}') $$), '42501 NOT_YOUR_AGENT /from/agent_id', 'a document does not decide who speaks');
SELECT is(fixture.fault_of($$ SELECT clutch.ingest('{"specversion": "1.0", "id": "1", "source": "a", "type": "t"}', NULL, '{"agent_id": "agent:hook"}') $$), 'no error', 'the context names the agent');
SELECT is((SELECT e -> 'to' FROM clutch.inbound(pg_temp.progress(), NULL, '{"agent_id": "agent:hook", "task_id": "task:hers"}') AS e), '[{"agent_id": "agent:hook"}]', 'a report is for whoever has requested the task');
SET ROLE other;
SELECT is((SELECT e -> 'to' FROM clutch.inbound(pg_temp.progress(), NULL, '{"agent_id": "agent:other", "task_id": "task:hers"}') AS e), '[{"agent_id": "agent:orchestrator"}]', 'but a role that does not see the task is not told who that is');
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t"}', NULL, '{"agent_id": "agent:hook"}') $$), '42501 NOT_YOUR_AGENT context', 'the IDs of another agent are not computed');
SELECT is(fixture.fault_of($$ INSERT INTO clutch.adapter (name, place, inbound, outbound) VALUES ('mine', 1, 'app.read', 'app.write') $$), '42501', 'agents add no adapters');
SET ROLE two;
SELECT is(fixture.fault_of($$ SELECT clutch.inbound('{"beep": "chat"}') $$), '42501 NOT_YOUR_AGENT context', 'a role of several agents names one');
SET ROLE ops;
CREATE FUNCTION app.evil(raw jsonb) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER ROLE ops SUPERUSER'; RETURN true; END $$;
INSERT INTO clutch.adapter (name, place, can_handle, inbound, outbound) VALUES ('evil', 1, 'app.evil', 'app.read', 'app.write');
RESET ROLE;
SELECT is(clutch.can_handle('{"beep": "chat"}'), 'beeper', 'a superuser does not run the function of an operator');
SELECT ok(NOT rolsuper, 'and nobody has become one') FROM pg_roles WHERE rolname = 'ops';
DELETE FROM clutch.adapter WHERE name = 'evil';

DROP OWNED BY hook, other, ops, two;
DROP ROLE hook, other, ops, two;
SELECT * FROM finish();
