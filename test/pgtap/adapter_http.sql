-- Webhooks: CloudEvents and Standard Webhooks.
\ir ../fixtures/tap.sql
\set adapter http
\ir ../fixtures/adapters.sql

CREATE TEMP TABLE refused (document jsonb, expected text, name text);
INSERT INTO refused VALUES
	('{"headers": {"Webhook-Id": ""}, "body": {"a": 1}}', 'KL014 EMPTY /headers/Webhook-Id', 'a webhook with an empty ID'),
	('{"headers": {"webhook-id": null}, "body": {"a": 1}}', 'KL014 REQUIRED /headers/webhook-id', 'a webhook whose ID is null'),
	('{"headers": {"webhook-id": 7}, "body": {"a": 1}}', 'KL014 WRONG_TYPE /headers/webhook-id', 'a webhook whose ID is a number'),
	('{"headers": {"webhook-id": "1", "Webhook-ID": "2"}, "body": {"a": 1}}', 'KL014 DUPLICATE_VALUE /headers/webhook-id', 'a webhook with two IDs'),
	('{"headers": {"webhook-id": "1"}}', 'KL014 REQUIRED /body', 'a webhook without a body'),
	('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "data": 0, "data_base64": "AAEC"}', 'KL014 NOT_ALLOWED /data_base64', 'a CloudEvent with data and data_base64'),
	('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "data_base64": "AAE?"}', 'KL014 WRONG_FORMAT /data_base64', 'a CloudEvent whose data_base64 has another character'),
	('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "data_base64": "AAECA==="}', 'KL014 WRONG_FORMAT /data_base64', 'a CloudEvent whose data_base64 has a character that is left over'),
	('{"headers": {"ce-specversion": "1.0", "ce-id": "1", "CE-ID": "2", "ce-source": "a", "ce-type": "t"}}', 'KL014 DUPLICATE_VALUE /headers/ce-id', 'a CloudEvent in headers with two IDs'),
	('{"headers": {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "a", "ce-type": "t", "ce-x": "1", "Ce-X": ""}}', 'KL014 DUPLICATE_VALUE /headers/ce-x', 'a CloudEvent in headers with two values of an extension'),
	('{"headers": {"ce-specversion": "1.0", "ce-id": "\"\"", "ce-source": "a", "ce-type": "t"}}', 'KL014 EMPTY /id', 'a CloudEvent in headers whose ID is empty in quotes');
INSERT INTO refused SELECT jsonb_build_object('headers', '{"ce-specversion": "1.0", "ce-id": "1", "ce-source": "a", "ce-type": "t"}'::jsonb || jsonb_build_object('ce-note', v)), 'KL014 WRONG_FORMAT /headers/ce-note', 'a header that decodes to no text: ' || v
FROM unnest(ARRAY['%C0%A0', '%E2%82', 'a%FFb', '"%ED%A0%80"', '%00']) AS v;
INSERT INTO refused SELECT jsonb_build_object('specversion', '1.0', 'id', '1', 'source', 'a', 'type', 't') || jsonb_build_object(m, repeat('x', 257)), 'KL014 TOO_LONG /' || m, 'a CloudEvent with a long ' || m
FROM unnest(ARRAY['id', 'source', 'type']) AS m;
SELECT plan((SELECT count(*)::int FROM outcome) + (SELECT count(*)::int FROM refused) + 39);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

SELECT is(e ->> 'schema_ref', NULL, 'a dataschema of others is no schema_ref') FROM clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "dataschema": "https://a.example/s.json"}') AS e;
SELECT is(d ->> 'source', '/clutch/run%2F5%25/ken', 'a run may have a slash') FROM fixture.native, clutch.outbound(envelope || '{"run_id": "run/5%"}', 'http') AS d WHERE name = 'chat.message';
SELECT is((SELECT e - 'meta' FROM clutch.inbound(clutch.outbound(long, 'http'), 'http') AS e), long - 'meta', 'and so may a long run of an agent with a long name')
FROM fixture.native, LATERAL (SELECT jsonb_set(envelope, '{run_id}', to_jsonb(repeat('/', 256))) || jsonb_build_object('from', jsonb_build_object('agent_id', rpad('agent:', 256, 'n')))) AS l(long) WHERE name = 'chat.message';

SELECT is(fixture.fault(format('SELECT clutch.inbound(%L)', document)), expected, name) FROM refused;
SELECT is(clutch.can_handle('{"type": "x.y", "timestamp": "yesterday", "data": {}}'), NULL, 'what has no time is no webhook');
SELECT is(clutch.can_handle('{"type": "task:x", "timestamp": "2026-02-01 10:20:30", "data": {}}'), NULL, 'nor is what has no type that can be one');
SELECT throws_ok($$SELECT clutch.ingest('{"headers": {"webhook-id": "1"}, "body": [{"specversion": "1.0", "id": "1", "source": "a", "type": "t"}]}')$$, 'KL015', NULL, 'a batch of CloudEvents is passed without the request around it');
SELECT throws_ok($$SELECT clutch.ingest('{"headers": {"ce-specversion": "\"1.1\"", "ce-id": "1", "ce-source": "a", "ce-type": "t"}}')$$, 'KL015', NULL, 'another version of CloudEvents is not handled, quoted or not');
SELECT throws_ok($$SELECT clutch.ingest('[]')$$, 'KL015', NULL, 'an empty batch has nothing that says whose it is');
SELECT is(clutch.outbound(e, 'http'), d, 'data that are null may stand beside data_base64') FROM (SELECT '{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "data": null, "data_base64": "AAEC"}'::jsonb) AS t(d), clutch.inbound(d) AS e;

CREATE TEMP TABLE quoted AS SELECT d, e FROM (SELECT raw FROM fixture.sample WHERE name = 'a CloudEvent in quoted headers') AS t(d), clutch.inbound(d, 'http') AS e;
SELECT is(e #>> '{meta,http,native,id}', 'q "r" 10% ü', 'a quoted header is read without its quotes and backslashes, and then decoded') FROM quoted;
SELECT is((SELECT string_agg(e #>> '{meta,http,native,task_id}', ' ' ORDER BY n) FROM unnest(ARRAY['100%', '%zz', '%e2%82%ac', '%41', '%4']) WITH ORDINALITY AS v(text, n),
	LATERAL clutch.inbound(jsonb_build_object('headers', '{"ce-specversion": "1.0", "ce-id": "1", "ce-source": "a", "ce-type": "t"}'::jsonb || jsonb_build_object('ce-subject', text)), 'http') AS e), '100% %zz € A %4',
	'what needed no encoding is decoded, and a percent sign that encodes nothing stays');
SELECT is(e ->> 'payload_type', '"a" b"', 'quotes that do not stand around the whole value belong to it') FROM quoted;
SELECT is(e #>> '{meta,http,native,task_id}', E'"order 7\\"', 'a quote that is escaped closes nothing') FROM quoted;
SELECT is(clutch.outbound(jsonb_set(e, '{payload}', '{"order": 9}'), 'http'), jsonb_set(d, '{body,order}', '9'), 'headers keep their quotes when the payload changes') FROM quoted;

-- a sender may use the names of the specification for something else
SELECT is((SELECT jsonb_build_array(e ->> 'type', e -> 'payload', clutch.outbound(e, 'http') = raw) FROM clutch.inbound(raw) AS e), jsonb_build_array('chat.message', body, true), 'such a body is taken as it is: ' || body::text)
FROM unnest(ARRAY['{"type": 5, "a": 1}', '{"type": "x.y", "timestamp": 1769941234}', '{"type": "x.y", "timestamp": "yesterday", "data": {}}', '{"type": null}']::jsonb[]) AS body, LATERAL (SELECT jsonb_build_object('headers', '{"webhook-id": "n-1"}'::jsonb, 'body', body)) AS r(raw);

CREATE FUNCTION pg_temp.again(first jsonb, again jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.ingest(first);
	RETURN coalesce((SELECT 'a duplicate' FROM clutch.ingest(again) AS i WHERE i.duplicate), 'another event');
EXCEPTION WHEN unique_violation THEN
	RETURN 'refused';
END $$;
SELECT is(pg_temp.again(d, d), 'a duplicate', 'the same webhook again is a duplicate') FROM (SELECT '{"headers": {"webhook-id": "r-1", "webhook-timestamp": "1769941234"}, "body": [1]}'::jsonb) AS t(d);
SELECT is(pg_temp.again(d, jsonb_set(d, '{headers,webhook-timestamp}', '"1769941294"')), 'a duplicate', 'a retry whose headers say another time is the same webhook') FROM (SELECT '{"headers": {"webhook-id": "r-2", "webhook-timestamp": "1769941234"}, "body": [1]}'::jsonb) AS t(d);
SELECT is(pg_temp.again('{"specversion": "1.0", "id": "r-3", "source": "a", "type": "t", "data": {"a": 1}}', '{"headers": {"ce-specversion": "1.0", "ce-id": "r-3", "ce-source": "a", "ce-type": "t"}, "body": {"a": 1}}'),
	'a duplicate', 'an event that comes again in another mode is the same event');
SELECT is(pg_temp.again(d, jsonb_set(d, '{body}', '[2]')), 'refused', 'with another body it is another one') FROM (SELECT '{"headers": {"webhook-id": "r-4"}, "body": [1]}'::jsonb) AS t(d);

-- attributes of a CloudEvent may have any name
SELECT is(string_agg(DISTINCT clutch.can_handle('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "data": {"a": 1}}' || more), ' '), 'http', 'a CloudEvent is one, whatever else it has')
FROM (VALUES ('{"event": "end"}'::jsonb), ('{"event": "error"}'), ('{"event": "updates"}'), ('{"type": "human", "content": "x"}'), ('{"type": "tool", "content": "x", "tool_call_id": "1"}'), ('{"kind": "message", "role": "user", "parts": []}'),
	('{"protocol": "multiagent-1.0"}'), ('{"jsonrpc": "2.0", "method": "ping"}'), ('{"v": "clutch/0.1"}'), ('{"source": "ken", "models_usage": null}'), ('{"event_id": "1", "type": "task_started"}')) AS v(more);
SELECT is(clutch.can_handle('{"specversion": "0.3", "id": "1", "source": "a", "type": "human", "content": "x"}'), NULL, 'also of a version that is not read');
-- what is not a webhook has more than one has room for
SELECT is(clutch.inbound(clutch.outbound(e, 'http'), 'http'), e, 'an envelope that did not come as a webhook comes back whole, whatever its sender notes')
FROM clutch.envelope('task.result', 'agent:ken', id => 'msg_1', to_agents => '{agent:ui}', payload => '{"a": 1}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1', meta => '{"http": {"kind": "webhook"}}') AS e;

-- attributes that identify nothing have no limit of 256 bytes
SELECT is(jsonb_build_array(clutch.outbound(e, 'http'), e -> 'schema_ref', e #> ARRAY['trace', name]), jsonb_build_array(d || jsonb_build_object(name, value), NULL, CASE name WHEN 'tracestate' THEN value END),
	format('a %s of %s bytes', name, length(value)))
FROM (SELECT '{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "data": {"a": 1}}'::jsonb) AS t(d), (VALUES ('subject', 1024), ('dataschema', 2048), ('tracestate', 512)) AS v(name, bytes),
	LATERAL (SELECT rpad('schema://blobs/', bytes, 'containers/invoices/')) AS w(value), LATERAL clutch.inbound(d || jsonb_build_object(name, value)) AS e;
SELECT is(jsonb_build_array(clutch.outbound(e, 'http'), e -> 'trace', e -> 'schema_ref', e #> '{meta,http,native}' ? 'task_id'), jsonb_build_array(d, NULL, NULL, false), 'an empty one is as if it were missing, and comes back')
FROM (VALUES ('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "data": {"a": 1}, "subject": "", "dataschema": "", "traceparent": "", "tracestate": ""}'::jsonb),
	('{"headers": {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "a", "ce-type": "t", "ce-tracestate": ""}, "body": {"a": 1}}')) AS t(d), LATERAL clutch.inbound(d) AS e;
SELECT throws_ok(format('SELECT clutch.inbound(%L)', jsonb_build_object('specversion', '1.0', 'id', '1', 'source', 'a', 'type', 't', 'tracestate', repeat('x', 4097))), 'KL014', NULL, 'longer than a text of an envelope is too long');
SELECT is((SELECT count(DISTINCT task_id) FROM unnest(ARRAY['a', 'b', 'b']) AS ending, LATERAL clutch.ingest(jsonb_build_object('specversion', '1.0', 'id', 'long-' || ending, 'source', 'a', 'type', 'clutch.task.request', 'subject', repeat('x', 600) || ending))), 2::bigint, 'long subjects that end in another way are of other tasks');

-- senders of webhooks may use the name "type" for something else
SELECT is(jsonb_build_array(e -> 'type', e -> 'payload_type', e -> 'payload', clutch.outbound(e, 'http')), jsonb_build_array('chat.message', NULL, d -> 'body', d), format('a webhook whose type is %s is as it is', d #> '{body,type}'))
FROM (VALUES ('"task:updated"'::jsonb), ('""'), (to_jsonb(repeat('x', 257)))) AS v(type), LATERAL jsonb_build_object('headers', '{"webhook-id": "7"}'::jsonb, 'body', jsonb_build_object('type', type, 'timestamp', '2026-02-01T13:20:11Z', 'data', '{"a": 1}'::jsonb)) AS d, LATERAL clutch.inbound(d) AS e;

-- the time of a webhook may be written as Python writes it, with and without an ID
SELECT is(jsonb_build_array(e -> 'payload_type', e -> 'payload', e -> 'ts', clutch.outbound(e, 'http')), jsonb_build_array('x.y', '{"a": 1}'::jsonb, ts, d), format('a webhook of %s %s', at, CASE WHEN d ? 'body' THEN 'in a request' ELSE 'alone' END))
FROM (VALUES ('2026-02-01 13:20:11', '2026-02-01T13:20:11Z'), ('2026-02-01T13:20:11.5', '2026-02-01T13:20:11.5Z')) AS v(at, ts),
	LATERAL jsonb_build_object('type', 'x.y', 'timestamp', at, 'data', '{"a": 1}'::jsonb) AS body,
	LATERAL unnest(ARRAY[body, jsonb_build_object('headers', '{"webhook-id": "8"}'::jsonb, 'body', body)]) AS d, LATERAL clutch.inbound(d) AS e;

SELECT * FROM finish();
