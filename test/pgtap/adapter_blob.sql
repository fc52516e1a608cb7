-- Bytes in documents of other protocols, which become artifacts and are there again.
\ir ../fixtures/tap.sql
SELECT plan(55);
SET clutch.notify = off;

-- base64 of so many bytes that differ from those of another n
CREATE FUNCTION fixture.b64(n int, bytes int DEFAULT 1200) RETURNS text LANGUAGE sql AS
$$ SELECT translate(encode(string_agg(sha256(convert_to(n || '/' || i, 'UTF8')), ''), 'base64'), E'\n', '') FROM generate_series(1, bytes / 32) i $$;
CREATE FUNCTION fixture.made_of(b64 text) RETURNS text LANGUAGE sql AS $$ SELECT 'artifact:sha256:' || encode(sha256(decode(b64, 'base64')), 'hex') $$;
CREATE TABLE document (name text, adapter text, raw jsonb, n int);
INSERT INTO document
SELECT 'a picture of MCP', 'mcp', jsonb_build_object('jsonrpc', '2.0', 'id', 1, 'method', 'tools/call', 'params', jsonb_build_object('name', 'skill.look', 'arguments', jsonb_build_object('image', jsonb_build_object('type', 'image', 'mimeType', 'image/png', 'data', fixture.b64(1)), 'q', 'What is it?'))), 1
UNION ALL
SELECT 'a result of MCP', 'mcp', jsonb_build_object('jsonrpc', '2.0', 'id', 9, 'result', jsonb_build_object('content', jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'two'), jsonb_build_object('type', 'audio', 'mimeType', 'audio/wav', 'data', fixture.b64(2)),
	jsonb_build_object('type', 'resource', 'resource', jsonb_build_object('uri', 'file:///a', 'mimeType', 'application/pdf', 'blob', fixture.b64(3)))))), 2
UNION ALL
SELECT 'a part of A2A 1.0', 'a2a', jsonb_build_object('jsonrpc', '2.0', 'id', 2, 'method', 'SendMessage', 'params', jsonb_build_object('message', jsonb_build_object('messageId', 'm-1', 'role', 'ROLE_USER', 'parts',
	jsonb_build_array('{"text": "Look"}'::jsonb, jsonb_build_object('raw', fixture.b64(4), 'mediaType', 'image/jpeg'), '{"url": "https://files.example/b"}'::jsonb)))), 1
UNION ALL
SELECT 'a part of A2A 0.3', 'a2a', jsonb_build_object('jsonrpc', '2.0', 'id', 3, 'method', 'message/send', 'params', jsonb_build_object('message', jsonb_build_object('kind', 'message', 'messageId', 'm-2', 'role', 'user', 'parts',
	jsonb_build_array(jsonb_build_object('kind', 'file', 'file', jsonb_build_object('bytes', fixture.b64(5), 'mimeType', 'image/gif', 'name', 'a.gif')))))), 1
UNION ALL
SELECT 'a CloudEvent', 'http', jsonb_build_object('specversion', '1.0', 'id', '7', 'source', '/cameras/1', 'type', 'image', 'datacontenttype', 'image/png', 'data_base64', fixture.b64(6)), 1
UNION ALL
SELECT 'a message of multiagent', 'multiagent', jsonb_build_object('protocol', 'multiagent-1.0', 'role', 'user', 'agent', '{"id": "ui", "name": "UI", "model": "n/a"}'::jsonb, 'timestamp', '2026-02-01T10:20:30Z', 'intent', 'plan', 'task', 'Look',
	'content', jsonb_build_object('type', 'json', 'data', jsonb_build_object('same', fixture.b64(7), 'again', fixture.b64(7))), 'trace', '{"id": "m1"}'::jsonb), 1
UNION ALL
SELECT 'an envelope', 'peer', clutch.envelope('chat.message', 'agent:ui', '{agent:x}', payload => jsonb_build_object('bytes', fixture.b64(8))), 1;
CREATE TABLE receipt AS
SELECT d.*, r.seq
FROM document d, LATERAL (SELECT r.seq FROM clutch.ingest(d.raw, context => '{"artifacts_from": 1000, "agent_id": "agent:ui"}') WITH ORDINALITY AS r(seq, id, duplicate, run_id, task_id, late, o) ORDER BY o DESC LIMIT 1) AS r;
CREATE TABLE taken AS SELECT r.*, e.envelope FROM receipt r JOIN clutch.events e USING (seq);

SELECT ok(envelope::text !~ '[A-Za-z0-9+/]{255}' AND envelope::text LIKE '%artifact:sha256:%', name || ' has references in place of bytes') FROM taken;
SELECT is(jsonb_array_length(jsonb_path_query_array(envelope, '$.attachments[*] ? (@.kind == "artifact_ref")')), n, name || ' attaches them') FROM taken;
SELECT is(clutch.outbound(envelope, adapter), raw, name || ' comes back with its bytes') FROM taken;
SELECT is((SELECT duplicate FROM clutch.ingest(raw, context => '{"artifacts_from": 1000, "agent_id": "agent:ui"}') WITH ORDINALITY AS r(seq, id, duplicate, run_id, task_id, late, o) ORDER BY o DESC LIMIT 1), true, name || ' is a duplicate the second time') FROM taken;
SELECT is((SELECT string_agg(DISTINCT media_type, ' ' ORDER BY media_type) FROM clutch.artifact), 'application/octet-stream application/pdf audio/wav image/gif image/jpeg image/png', 'types are those of the documents');
SELECT is(encode(clutch.get_artifact(fixture.made_of(fixture.b64(1))), 'hex'), encode(decode(fixture.b64(1), 'base64'), 'hex'), 'the artifact has the bytes');
SELECT ok(clutch.outbound(envelope, 'http')::text LIKE '%' || fixture.made_of(fixture.b64(1)) || '%', 'another dialect has the reference') FROM taken WHERE name = 'a picture of MCP';
SELECT is(clutch.outbound(envelope #- '{attachments}', adapter), raw, 'attachments that somebody has removed are not missed') FROM taken WHERE name = 'a CloudEvent';
SELECT is((SELECT payload ->> 'changed' FROM taken t, LATERAL (SELECT clutch.outbound(jsonb_set(t.envelope, '{payload}', '{"changed": "x"}'), 'http') -> 'data' AS payload) p WHERE name = 'a CloudEvent'), 'x', 'nor are bytes');

-- ------------------------------------------------------- what stays inline
SELECT is((SELECT count(*)::int FROM clutch.inbound((SELECT raw FROM document WHERE name = 'a CloudEvent'), context => '{"artifacts_from": 1000}') i WHERE i::text LIKE '%artifact:sha%'), 0, 'inbound makes no artifacts');
CREATE FUNCTION pg_temp.event(id text, data jsonb, context jsonb DEFAULT '{"artifacts_from": 1000, "agent_id": "agent:ui"}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	e jsonb;
	s bigint := (SELECT r.seq FROM clutch.ingest(jsonb_build_object('specversion', '1.0', 'id', id, 'source', '/s', 'type', 't', 'data', data), 'http', context) r);
BEGIN
	e := (SELECT v.envelope FROM clutch.events v WHERE v.seq = s);
	RETURN CASE WHEN e::text LIKE '%"artifact:sha256:%' AND e ? 'attachments' THEN 'artifact' ELSE 'inline' END || CASE WHEN clutch.outbound(e, 'http') -> 'data' = data THEN '' ELSE ' lossy' END;
END $$;
SELECT is(pg_temp.event(what, data), kept, what) FROM (VALUES
	('a text that is shorter', jsonb_build_object('a', fixture.b64(10, 600)), 'inline'),
	('a text that is no base64', jsonb_build_object('a', repeat('Hello world. ', 200)), 'inline'),
	('base64 without its padding', jsonb_build_object('a', rtrim(encode(sha256('x') || decode(fixture.b64(11), 'base64'), 'base64') || 'QQ', '=')), 'inline'),
	('base64 in lines', jsonb_build_object('a', encode(decode(fixture.b64(12), 'base64'), 'base64')), 'inline'),
	('bytes beside the reference to them', jsonb_build_object('a', fixture.b64(13), 'b', fixture.made_of(fixture.b64(13))), 'inline')) AS v(what, data, kept);
SELECT is(pg_temp.event('without the member of the context', jsonb_build_object('a', fixture.b64(14)), '{"agent_id": "agent:ui"}'), 'inline', 'nothing happens by itself');
SELECT is(pg_temp.event('large', jsonb_build_object('a', fixture.b64(15, 3000000))), 'artifact', 'with it, a document may be larger than an envelope');
SELECT throws_ok($$SELECT pg_temp.event('large text', jsonb_build_object('a', repeat('x y', 1000000)))$$, 'KL014', NULL, 'but not what is left of it');
SELECT throws_ok(format($$SELECT pg_temp.event('x', '{}', '{"artifacts_from": %s}')$$, wrong), '22023', NULL, 'no size: ' || wrong) FROM unnest('{255,"\"big\"",-1}'::text[]) AS wrong;

-- ---------------------------------------------------------- who may read them
CREATE ROLE adapter_blob_ui;
CREATE ROLE adapter_blob_other;
CREATE ROLE adapter_blob_gateway;
SELECT clutch.grant_agent('adapter_blob_ui', 'agent:ui'), clutch.grant_agent('adapter_blob_other', 'agent:other'), clutch.grant_gateway('adapter_blob_gateway') \g /dev/null
GRANT USAGE ON SCHEMA fixture TO PUBLIC;
GRANT SELECT ON taken TO adapter_blob_ui, adapter_blob_other;
SET ROLE adapter_blob_ui;
SELECT is((SELECT clutch.outbound(envelope, adapter) FROM taken WHERE name = 'a CloudEvent'), (SELECT raw FROM taken WHERE name = 'a CloudEvent'), 'who takes part in the run gets the bytes');
SET ROLE adapter_blob_other;
SELECT throws_ok($$SELECT clutch.outbound(envelope, adapter) FROM taken WHERE name = 'a CloudEvent'$$, '42704', NULL, 'to others it is as if there were none');
RESET ROLE;
INSERT INTO clutch.endpoint (name, url, filter, agents) VALUES ('hook', 'https://hook.example', '{"payload_type": "seen"}', '{*}');
-- a webhook has the bytes of what its event attaches, and of nothing else
SELECT FROM clutch.ingest(jsonb_build_object('specversion', '1.0', 'id', '20', 'source', '/s', 'type', 'seen', 'data_base64', fixture.b64(20)), context => '{"artifacts_from": 1000, "agent_id": "agent:ui"}');
SET ROLE adapter_blob_gateway;
SELECT is((SELECT string_agg(c.body::jsonb #>> '{data,content}', ' ') FROM clutch.outbox_claim(9) c), fixture.b64(20), 'a webhook has the bytes of its event');
SET ROLE adapter_blob_other;
SELECT clutch.send(clutch.envelope('chat.message', 'agent:other', '{agent:other}', payload_type => 'seen', payload => jsonb_build_object('a', fixture.made_of(fixture.b64(20))), meta => jsonb_build_object('http', jsonb_build_object('blobs', jsonb_build_array(fixture.made_of(fixture.b64(20))), 'kept', '[]'::jsonb)))) \g /dev/null
SET ROLE adapter_blob_gateway;
SELECT is((SELECT count(*)::int FROM clutch.outbox_claim(9) c WHERE c.body LIKE '%' || fixture.b64(20) || '%'), 0, 'whoever knows a reference gets nothing by it');
SET ROLE adapter_blob_other;
SELECT throws_ok($$SELECT clutch.post('hook', clutch.envelope('chat.message', 'agent:other', payload => jsonb_build_object('a', fixture.made_of(fixture.b64(20))), meta => jsonb_build_object('http', jsonb_build_object('blobs', jsonb_build_array(fixture.made_of(fixture.b64(20))), 'kept', '[]'::jsonb))))$$, '42704', NULL, 'nor by a call');
RESET ROLE;
SELECT is((SELECT failure LIKE 'artifact "artifact:sha256:%" does not exist' FROM clutch.outbox WHERE state = 'dead'), true, 'such a call is a dead letter');

-- the bytes stand wherever the reference does, up to a limit
CREATE FUNCTION pg_temp.repeated(b64 text, times int, kind text DEFAULT 'seen') RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('chat.message', 'agent:ui', '{agent:ui}', payload_type => kind, payload => jsonb_build_object('a', (SELECT jsonb_agg(reference) FROM (SELECT fixture.made_of(b64) AS reference FROM generate_series(1, times)) AS mention)),
		attachments => jsonb_build_array(jsonb_build_object('kind', 'artifact_ref', 'ref', r)), meta => jsonb_build_object('http', jsonb_build_object('blobs', jsonb_build_array(r))))
	FROM fixture.made_of(b64) AS r
$$;
CREATE TABLE large AS SELECT fixture.b64(30, 360000) AS b64;
SELECT clutch.put_artifact(decode(b64, 'base64'), 'image/png') FROM large \g /dev/null
SET clutch.max_body_size = 1;
SELECT clutch.send(pg_temp.repeated(b64, n)) FROM large, unnest('{2,3}'::int[]) AS n \g /dev/null
SELECT is((SELECT string_agg((length(c.body) / length(b64)) || '', ' ') FROM clutch.outbox_claim(9) c, large), '2', 'two times 480 kB are within the limit of 1 MB, and a third is not');
SELECT is((SELECT count(*)::int FROM clutch.outbox WHERE state = 'dead' AND failure = 'the document would have more than 1048576 bytes of artifacts'), 1, 'that call is a dead letter');
SELECT throws_ok(format('SELECT clutch.post(%L, %L)', 'hook', pg_temp.repeated(b64, 3, 'said')), '54000', 'the document would have more than 1048576 bytes of artifacts', 'so it cannot be posted, either') FROM large;
SELECT is(jsonb_array_length(clutch.outbound(pg_temp.repeated(b64, 3), 'http') #> '{data,a}') || ' ' || length(clutch.outbound(pg_temp.repeated(b64, 3), 'http') #>> '{data,a,2}') / length(b64), '3 1',
	'who translates an envelope gets all of it') FROM large;
RESET clutch.max_body_size;

DROP OWNED BY adapter_blob_ui, adapter_blob_other, adapter_blob_gateway;
DELETE FROM clutch.principal; DELETE FROM clutch.privilege;
DROP ROLE adapter_blob_ui, adapter_blob_other, adapter_blob_gateway;
SELECT * FROM finish();
