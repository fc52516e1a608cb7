-- Calls to other systems: clutch.post, claims and reports of a gateway, pauses, dead
-- letters, signatures, secrets, and who sees what.
\ir ../fixtures/tap.sql
SELECT plan(208);

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
CREATE FUNCTION fixture.message(n text, sender text DEFAULT 'agent:app') RETURNS jsonb LANGUAGE sql AS
$$ SELECT clutch.envelope('chat.message', sender, payload => jsonb_build_object('text', n), run_id => 'run:out', task_id => 'task:out') $$;
-- "state attempt status failure", and the seconds after noon when it is due
CREATE FUNCTION fixture.call(call text) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce((SELECT concat_ws(' ', o.state, o.attempt, o.status, o.failure, fixture.since_noon(o.due_at)) FROM clutch.outbox o WHERE o.id = call), 'none') $$;

-- ---------------------------------------------------------------- signatures
-- the example of the specification of Standard Webhooks
SELECT is(clutch.webhook_signature('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'msg_p5jXN8AQM9LWM0D4loKWxJek', to_timestamp(1614265330), '{"test": 2432232314}'),
	'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=', 'a signature as others make it');
SELECT is(clutch.webhook_signature('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'msg_p5jXN8AQM9LWM0D4loKWxJek', to_timestamp(1614265330), '{"test": 2432232314}'),
	'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=', 'one for each secret');
SELECT isnt(clutch.webhook_signature('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', id, at, body), 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=', 'another ' || what)
FROM (VALUES ('id', 'msg_q', to_timestamp(1614265330), '{"test": 2432232314}'), ('time', 'msg_p5jXN8AQM9LWM0D4loKWxJek', to_timestamp(1614265331), '{"test": 2432232314}'),
	('body', 'msg_p5jXN8AQM9LWM0D4loKWxJek', to_timestamp(1614265330), '{"test": 2432232315}')) AS v(what, id, at, body);
SELECT is(fixture.fault_of(format('SELECT clutch.webhook_signature(%L, %L, now(), %L)', secret, 'm', 'b')), '22023 WRONG_FORMAT secret', 'no secret: ' || secret)
FROM unnest('{"","MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw","whsec_","whsec_MfKQ9r8GKYqrTwjUPD8=","whsec_!!KQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw","whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw  whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}'::text[]) secret;

-- -------------------------------------------------------------------- roles
CREATE ROLE clutch_test_gateway;
CREATE ROLE clutch_test_ops;
CREATE ROLE clutch_test_app;
CREATE ROLE clutch_test_lois;
CREATE ROLE clutch_test_reader;
GRANT USAGE ON SCHEMA fixture TO PUBLIC;
SELECT clutch.grant_gateway('clutch_test_gateway');
SELECT clutch.grant_operator('clutch_test_ops');
SELECT clutch.grant_agent('clutch_test_app', 'agent:app');
SELECT clutch.grant_agent('clutch_test_lois', 'agent:lois');
SELECT clutch.grant_reader('clutch_test_reader');
SELECT is((SELECT string_agg(concat_ws(' ', role, privilege), ', ') FROM clutch.privileges WHERE role::text = 'clutch_test_gateway'), 'clutch_test_gateway send', 'the grant is shown');
SELECT is(fixture.fault_of($$SELECT clutch.grant_gateway('clutch_test_nobody')$$), '42704 WRONG_VALUE role_name', 'a role that does not exist');

-- ---------------------------------------------------------------- endpoints
SET ROLE clutch_test_ops;
SELECT clutch.set_endpoint_secret('hook', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
SELECT clutch.set_endpoint_secret('token', 'Bearer old'), clutch.set_endpoint_secret('token', 'Bearer s3cret');
INSERT INTO clutch.endpoint (name, url, agents, signing_secret, auth_secret, headers, max_attempts, first_pause_s, longest_pause_s) VALUES
	('shop', 'https://shop.example/hook', '{agent:app}', 'hook', 'token', '{"x-team": "a"}', 4, 10, 30);
INSERT INTO clutch.endpoint (name, url, adapter, agents) VALUES ('open', 'http://127.0.0.1:8080/mcp?x=1', 'mcp', '{*}');
SELECT is(fixture.fault_of(statement), fault, statement) FROM (VALUES
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'ftp://x')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'https://me:pass@x')$$, '22023 NOT_ALLOWED /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'https://x/#f')$$, '22023 NOT_ALLOWED /url'),
	($$INSERT INTO clutch.endpoint (name, url, agents) VALUES ('a', 'https://x', '{agent:a,ken}')$$, '22023 WRONG_PREFIX /agents/1'),
	($$INSERT INTO clutch.endpoint (name, url, agents) VALUES ('a', 'https://x', '{NULL}')$$, '22023 NULL_VALUE /agents'),
	($$INSERT INTO clutch.endpoint (name, url, agents) VALUES ('a', 'https://x', '{{agent:a},{agent:b}}')$$, '22023 WRONG_FORMAT /agents'),
	($$INSERT INTO clutch.endpoint (name, url, former_names) VALUES ('a', 'https://x', '{NULL}')$$, '22023 NULL_VALUE /former_names'),
	($$INSERT INTO clutch.endpoint (name, url, former_names) VALUES ('a', 'https://x', '{b,"C d"}')$$, '22023 WRONG_FORMAT /former_names/1'),
	($$UPDATE clutch.endpoint SET former_names = NULL WHERE name = 'shop'$$, '22023 REQUIRED /former_names'),
	($$UPDATE clutch.endpoint SET former_names = '{{a,b},{c,d}}' WHERE name = 'shop'$$, '22023 WRONG_FORMAT /former_names'),
	($$UPDATE clutch.endpoint SET former_names = '{b}' WHERE name = 'shop'$$, 'no error'),
	($$UPDATE clutch.endpoint SET former_names = '{}' WHERE name = 'shop'$$, 'no error'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '{"x-a": 1}')$$, '22023 WRONG_TYPE /headers/x-a'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '{"x-a": "b\r\nhost: evil"}')$$, '22023 CONTROL_CHARACTER /headers/x-a'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '{"x-a": "b\tc"}')$$, '22023 CONTROL_CHARACTER /headers/x-a'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '{"x-a": "b\u007f"}')$$, '22023 CONTROL_CHARACTER /headers/x-a'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '{"x-a": "b\u0085host: evil"}')$$, '22023 CONTROL_CHARACTER /headers/x-a'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '{"x-a": "na\u00efve"}')$$, '22023 WRONG_FORMAT /headers/x-a'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '{"x-a": "b\u560d\u560ahost: evil"}')$$, '22023 WRONG_FORMAT /headers/x-a'),
	($$UPDATE clutch.endpoint SET headers = '{"x-team": "\u00e4"}' WHERE name = 'shop'$$, '22023 WRONG_FORMAT /headers/x-team'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '{"x a": "b"}')$$, '22023 WRONG_FORMAT /headers/x a'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '{"Authorization": "Bearer x"}')$$, '22023 NOT_ALLOWED /headers/Authorization'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '{"Webhook-Id": "1"}')$$, '22023 NOT_ALLOWED /headers/Webhook-Id'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '{"host": "evil.example"}')$$, '22023 NOT_ALLOWED /headers/host'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '{"X-A": "1", "x-a": "2"}')$$, '22023 DUPLICATE_VALUE /headers/x-a'),
	($$INSERT INTO clutch.endpoint (name, url, filter) VALUES ('a', 'https://x', '{"typ": "x"}')$$, '22023 UNKNOWN_FIELD /filter/typ'),
	($$INSERT INTO clutch.endpoint (name, url, filter) VALUES ('a', 'https://x', '{"path": "$.a ? ("}')$$, '22023 WRONG_VALUE /filter/path'),
	($$INSERT INTO clutch.endpoint (name, url, filter) VALUES ('a', 'https://x', '[]')$$, '22023 WRONG_TYPE /filter'),
	($$INSERT INTO clutch.endpoint (name, url, headers) VALUES ('a', 'https://x', '[]')$$, '22023 WRONG_TYPE /headers'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('A', 'https://x')$$, '22023 WRONG_FORMAT /name'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('', 'https://x')$$, '22023 WRONG_FORMAT /name'),
	($$INSERT INTO clutch.endpoint (url) VALUES ('https://x')$$, '22023 REQUIRED /name'),
	($$INSERT INTO clutch.endpoint (name) VALUES ('a')$$, '22023 REQUIRED /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'https://')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'https:///path')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'https://x/a b')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'http://:80/')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'http://x:abc/')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'http://x:/')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'http://x:99999999999?a')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'http://x:1:2/')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'http://[::1:80/')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'http://[::1]x/')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', 'http://x\y/')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('six', 'http://[::1]:8080/?a=:b'), ('seven', 'https://x.example:65535'), ('eight', 'http://10.0.0.1/[a]:b')$$, 'no error'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('a', E'https://x/\r\nhost:')$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url, serves) VALUES ('a', 'https://x', 'ken')$$, '22023 WRONG_PREFIX /serves'),
	($$INSERT INTO clutch.endpoint (name, url, serves) VALUES ('a', 'https://x', 'agent:orchestrator')$$, '22023 NOT_ALLOWED /serves'),
	($$UPDATE clutch.endpoint SET serves = 'agent:orchestrator' WHERE name = 'shop'$$, '22023 NOT_ALLOWED /serves'),
	($$INSERT INTO clutch.endpoint (name, url, max_attempts) VALUES ('a', 'https://x', 0)$$, '22023 NUMBER_OUT_OF_RANGE /max_attempts'),
	($$INSERT INTO clutch.endpoint (name, url, max_attempts) VALUES ('a', 'https://x', 101)$$, '22023 NUMBER_OUT_OF_RANGE /max_attempts'),
	($$INSERT INTO clutch.endpoint (name, url, first_pause_s) VALUES ('a', 'https://x', -1)$$, '22023 NUMBER_OUT_OF_RANGE /first_pause_s'),
	($$INSERT INTO clutch.endpoint (name, url, longest_pause_s) VALUES ('a', 'https://x', 604801)$$, '22023 NUMBER_OUT_OF_RANGE /longest_pause_s'),
	($$INSERT INTO clutch.endpoint (name, url, patience_s) VALUES ('a', 'https://x', 0)$$, '22023 NUMBER_OUT_OF_RANGE /patience_s'),
	($$INSERT INTO clutch.endpoint (name, url, paused) VALUES ('a', 'https://x', NULL)$$, '22023 REQUIRED /paused'),
	($$UPDATE clutch.endpoint SET url = 'shop.example' WHERE name = 'shop'$$, '22023 WRONG_FORMAT /url'),
	($$INSERT INTO clutch.endpoint (name, url, agents, max_attempts) VALUES ('a b', 'x', '{ken}', 0)$$, '22023 WRONG_FORMAT /name'),
	($$INSERT INTO clutch.endpoint (name, url, agents) VALUES ('v6', 'https://[::1]:8080/x?y=1@z', '{}')$$, 'no error'),
	($$SELECT clutch.set_endpoint_secret('Hook', 'x')$$, '22023 WRONG_FORMAT name'),
	($$SELECT clutch.set_endpoint_secret(NULL, 'x')$$, '22004 NULL_VALUE name'),
	($$SELECT clutch.set_endpoint_secret('hook', E'a\nb')$$, '22023 WRONG_FORMAT value'),
	($$SELECT clutch.set_endpoint_secret('fresh', E'a\tb')$$, '22023 WRONG_FORMAT value'),
	($$SELECT clutch.set_endpoint_secret('fresh', E'a\x7f')$$, '22023 WRONG_FORMAT value'),
	($$SELECT clutch.set_endpoint_secret('fresh', 'café')$$, '22023 WRONG_FORMAT value'),
	($$SELECT clutch.set_endpoint_secret('fresh', 'Bearer ~!"x')$$, 'no error'),
	($$SELECT clutch.set_endpoint_secret('hook', NULL)$$, '2BP01 SECRET_IN_USE name'),
	-- what cannot sign
	($$SELECT clutch.set_endpoint_secret('hook', 'Bearer s3cret')$$, '22023 WRONG_FORMAT value'),
	($$SELECT clutch.set_endpoint_secret('hook', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')$$, '22023 WRONG_FORMAT value'),
	($$SELECT clutch.set_endpoint_secret('fresh', 'whsec_')$$, '22023 WRONG_FORMAT value'),
	($$SELECT clutch.set_endpoint_secret('fresh', 'whsec_MfKQ9r8GKYqrTwjUPD8=')$$, '22023 WRONG_FORMAT value'),
	($$SELECT clutch.set_endpoint_secret('fresh', 'whsec_!!KQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')$$, '22023 WRONG_FORMAT value'),
	($$SELECT clutch.set_endpoint_secret('fresh', 'whsec_-_KQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')$$, '22023 WRONG_FORMAT value'),
	($$SELECT clutch.set_endpoint_secret('fresh', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_x')$$, '22023 WRONG_FORMAT value'),
	($$SELECT clutch.set_endpoint_secret('fresh', 'whsec_' || repeat('A', 87))$$, '22023 WRONG_FORMAT value'),
	($$SELECT clutch.set_endpoint_secret('fresh', 'whsec_' || repeat('A', 32) || ' whsec_' || repeat('A', 84))$$, 'no error'),
	($$SELECT clutch.set_endpoint_secret('fresh', 'Basic whsec_')$$, 'no error'),
	($$SELECT clutch.set_endpoint_secret('hook', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')$$, 'no error'),
	($$SELECT clutch.set_endpoint_secret('token', 'Bearer s3cret')$$, 'no error'),
	-- what only a gateway does
	($$SELECT clutch.outbox_claim()$$, '42501'),
	($$SELECT clutch.outbox_done('x', 1)$$, '42501'),
	($$SELECT clutch.grant_gateway('clutch_test_ops')$$, '42501')) AS v(statement, fault);
DELETE FROM clutch.endpoint WHERE name = 'v6';
SELECT is(clutch.has_signing_secret(name), can, 'the secret ' || name || ' can sign, or not') FROM (VALUES ('hook', true), ('token', false), ('fresh', false), ('none', false)) AS v(name, can);
INSERT INTO clutch.endpoint (name, url, signing_secret, auth_secret) VALUES ('unsigned', 'https://x', 'fresh', 'token');
SELECT is((SELECT string_agg(c.code || ': ' || c.detail, ', ') FROM clutch.check() c), 'ENDPOINT_BROKEN: endpoint unsigned names the secret ''fresh'', which cannot sign webhooks', 'an endpoint whose secret cannot sign is reported');
DELETE FROM clutch.endpoint WHERE name = 'unsigned';
SELECT clutch.set_endpoint_secret('fresh', NULL);
SELECT throws_ok($$INSERT INTO clutch.endpoint (name, url, agents, max_attempts) VALUES ('a b', 'x', '{ken}', 0)$$, '22023',
	'endpoint "a b" is not valid in 4 places, the first at "/name": "a b" is not a name: a name begins with a lower-case letter, and consists of at most 63 lower-case letters, digits, hyphens and underscores', 'all faults of an endpoint are reported');
SELECT is((SELECT count(*) FROM clutch.endpoint_secret), 0::bigint, 'an operator sees no secret');
INSERT INTO clutch.endpoint (name, url, adapter, auth_secret, signing_secret) VALUES ('broken', 'https://x', 'nix', 'nix', 'hook');
SELECT is((SELECT string_agg(c.detail, ', ' ORDER BY c.detail) FROM clutch.check() c), 'endpoint broken names the adapter ''nix'', which does not exist, endpoint broken names the secret ''nix'', which does not exist', 'what an endpoint names and is not there');
DELETE FROM clutch.endpoint WHERE name = 'broken';
SET ROLE clutch_test_gateway;
SELECT is(fixture.fault_of('SELECT * FROM clutch.endpoint_secret'), '42501', 'nor does a gateway, which is handed what is made of them');
SELECT is(fixture.fault_of('SELECT * FROM clutch.outbox'), '42501', 'a gateway reads no table');
SELECT is(fixture.fault_of($$SELECT clutch.send(fixture.message('x'))$$), '42501', 'and sends no envelope');
SET ROLE clutch_test_reader;
SELECT is((SELECT count(*) FROM clutch.endpoint_secret), 0::bigint, 'a reader sees no secret, either');
RESET ROLE;
SELECT is((SELECT string_agg(name, ',' ORDER BY name) FROM clutch.endpoint_secret), 'hook,token', 'the owner does');

-- -------------------------------------------------------------------- posting
SELECT fixture.at(0);
CREATE TEMP TABLE posted (n text, id text);
GRANT ALL ON posted TO PUBLIC;
SET ROLE clutch_test_app;
INSERT INTO posted VALUES ('first', clutch.post('shop', fixture.message('first')));
SELECT is(fixture.fault_of(statement), fault, statement) FROM (VALUES
	($$SELECT clutch.post('shop', fixture.message('x', 'agent:lois'))$$, '42501 NOT_YOUR_AGENT /from/agent_id'),
	($$SELECT clutch.post('nix', fixture.message('x'))$$, '42704 ENDPOINT_NOT_FOUND endpoint'),
	($$SELECT clutch.post('shop', '{"v": "clutch/0.1"}')$$, 'KL001 REQUIRED /ts'),
	($$SELECT clutch.post(NULL, fixture.message('x'))$$, '22004 NULL_VALUE endpoint'),
	($$SELECT clutch.post('shop', NULL)$$, '22004 NULL_VALUE envelope'),
	($$SELECT clutch.post('shop', clutch.envelope('routing.decision', 'agent:app'))$$, 'KL001 NOT_ALLOWED /type'),
	($$SELECT clutch.outbox_claim()$$, '42501'),
	($$SELECT clutch.outbox_retry('x')$$, '42501'),
	($$INSERT INTO clutch.endpoint (name, url) VALUES ('mine', 'https://x')$$, '42501')) AS v(statement, fault);
SELECT is((SELECT string_agg(concat_ws(' ', endpoint, state, kind, agent_id, run_id, attempt), ', ') FROM clutch.outbox), 'shop pending post agent:app run:out 0', 'an agent sees its calls');
SET ROLE clutch_test_lois;
SELECT is(fixture.fault_of($$SELECT clutch.post('shop', fixture.message('x', 'agent:lois'))$$), '42501 ENDPOINT_NOT_ALLOWED endpoint', 'an agent that is not on the list');
SELECT is((SELECT count(*) FROM clutch.outbox), 0::bigint, 'and calls of others are not seen');
INSERT INTO posted VALUES ('lois', clutch.post('open', fixture.message('lois', 'agent:lois')));
RESET ROLE;
BEGIN;
SELECT clutch.post('shop', fixture.message('undone'));
ROLLBACK;
SELECT is((SELECT count(*) FROM clutch.outbox), 2::bigint, 'what is rolled back is not sent');
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:out'), 0::bigint, 'what is posted is not in the log');

-- ------------------------------------------------------------------ claiming
SELECT fixture.at(1);
SET ROLE clutch_test_gateway;
CREATE TEMP TABLE claimed AS SELECT * FROM clutch.outbox_claim(9, '60 s');
SELECT is((SELECT string_agg(concat_ws(' ', c.endpoint, c.attempt, c.kind, c.url, c.wants_answer, fixture.since_noon(c.lease_until)), ', ' ORDER BY c.endpoint) FROM claimed c),
	'open 1 post http://127.0.0.1:8080/mcp?x=1 f 61.000, shop 1 post https://shop.example/hook f 61.000', 'a gateway is handed what is due');
SELECT is((SELECT concat_ws(' ', c.body::jsonb ->> 'specversion', c.body::jsonb -> 'data') FROM claimed c WHERE c.endpoint = 'shop'), '1.0 {"text": "first"}', 'the body is a document of the adapter');
SELECT is((SELECT c.headers - 'webhook-signature' FROM claimed c WHERE c.endpoint = 'shop'),
	(SELECT jsonb_build_object('content-type', 'application/cloudevents+json', 'x-team', 'a', 'webhook-id', p.id, 'webhook-timestamp', extract(epoch FROM timestamptz '2026-01-01 12:00:01Z')::bigint::text, 'authorization', 'Bearer s3cret') FROM posted p WHERE p.n = 'first'),
	'with the headers of Standard Webhooks, of the endpoint, and its secret');
RESET ROLE;
SELECT is((SELECT c.headers ->> 'webhook-signature' FROM claimed c WHERE c.endpoint = 'shop'),
	(SELECT clutch.webhook_signature('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', c.id, '2026-01-01 12:00:01Z', c.body) FROM claimed c WHERE c.endpoint = 'shop'), 'and is signed');
SELECT is((SELECT c.headers ? 'webhook-signature' OR c.headers ? 'authorization' FROM claimed c WHERE c.endpoint = 'open'), false, 'where there is a secret');
SELECT is((SELECT count(*) FROM clutch.outbox_claim(9)), 0::bigint, 'what is leased is not handed out again');
SELECT is(fixture.fault_of('SELECT clutch.outbox_claim(0)'), '22023 NUMBER_OUT_OF_RANGE max_calls', 'no calls');
SELECT is(fixture.fault_of('SELECT clutch.outbox_claim(1, NULL)'), '22004 NULL_VALUE lease', 'no lease');

-- an envelope that was a CloudEvent in binary mode of somebody else
SELECT clutch.outbox_drop(clutch.post('open', e)) IS NOT NULL FROM clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t"}', 'http') e;
INSERT INTO clutch.endpoint (name, url) VALUES ('binary', 'https://b.example');
CREATE TEMP TABLE binary_call AS SELECT clutch.post('binary', e) AS id FROM clutch.inbound('{"headers": {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "/a", "ce-type": "t", "content-type": "application/json", "ce-x": "ok"}, "body": {"a": 1}}', 'http') e;
SELECT is((SELECT concat_ws(' ', (c.headers - 'webhook-timestamp' - 'webhook-id'), c.body::jsonb ->> 'type', split_part(c.body::jsonb ->> 'source', '/', 2), c.body::jsonb -> 'data') FROM clutch.outbox_claim(9) c WHERE c.endpoint = 'binary'),
	'{"content-type": "application/cloudevents+json"} clutch.chat.message clutch {"a": 1}', 'goes out as an event of this database');
SELECT clutch.outbox_drop(id) FROM binary_call;
DELETE FROM clutch.endpoint WHERE name = 'binary';

-- ------------------------------------------------------------------ reporting
SELECT is(clutch.outbox_done((SELECT id FROM posted WHERE n = 'lois'), 1, 202), 'sent', 'it was sent');
SELECT is(clutch.outbox_done((SELECT id FROM posted WHERE n = 'lois'), 1, 202), 'lost', 'once');
SELECT is(clutch.outbox_done((SELECT id FROM posted WHERE n = 'first'), 2, 202), 'lost', 'an attempt that was not handed out');
SELECT is(clutch.outbox_done('msg_nix', 1, 202), 'lost', 'a call that does not exist');
SELECT is(fixture.fault_of($$SELECT clutch.outbox_done('msg_nix', 1, 99)$$), '22023 NUMBER_OUT_OF_RANGE status', 'no status');
SELECT is(fixture.fault_of($$SELECT clutch.outbox_done('msg_nix', 0, 202)$$), '22023 NUMBER_OUT_OF_RANGE attempt', 'nor an attempt');
SELECT is(fixture.fault_of($$SELECT clutch.outbox_done('msg_nix', NULL, 202)$$), '22004 NULL_VALUE attempt', 'nor one that is not said');
SELECT is(fixture.fault_of($$SELECT clutch.outbox_done(NULL, 1, 202)$$), '22004 NULL_VALUE id', 'nor a call');
SELECT is(fixture.fault_of($$SELECT clutch.outbox_done('msg_nix', 1)$$), '22004 NULL_VALUE status', 'nor an outcome');
SELECT is(fixture.fault_of($$SELECT clutch.outbox_done('msg_nix', 1, part => 1, retry_after => '1 s')$$), '22004 NULL_VALUE status', 'which nothing else stands for');
SELECT is(fixture.fault_of($$SELECT clutch.outbox_done('msg_nix', 1, failure => '')$$), 'no error', 'a failure need not have a text');
SELECT is(fixture.fault_of($$SELECT clutch.outbox_done('msg_nix', 1, 202, part => 0)$$), '22023 NUMBER_OUT_OF_RANGE part', 'nor a part');
DO $$
DECLARE
	hint text;
BEGIN
	PERFORM clutch.outbox_done('msg_nix', 0, 202);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	PERFORM set_config('fixture.hint', hint, false);
END $$;
SELECT is(current_setting('fixture.hint'), 'Pass the attempt that clutch.outbox_claim returned.', 'which a gateway has of outbox_claim');
SELECT is(clutch.outbox_done((SELECT id FROM posted WHERE n = 'first'), 1, 503), 'pending', 'a failure: it is tried again');
SELECT is(fixture.call((SELECT id FROM posted WHERE n = 'first')), 'pending 1 503 HTTP status 503 11.000', 'after the first pause');
SELECT is((SELECT count(*) FROM clutch.outbox_claim(9)), 0::bigint, 'not before');
SELECT fixture.at(11);
SELECT is((SELECT string_agg(concat_ws(' ', attempt, headers ->> 'webhook-id' = (SELECT p.id FROM posted p WHERE p.n = 'first')), ',') FROM clutch.outbox_claim(9)), '2 t', 'and then it comes again, with the same ID');
SELECT is(clutch.outbox_done((SELECT id FROM posted WHERE n = 'first'), 1, 200), 'lost', 'the report of an attempt that is over changes nothing');
SELECT is(clutch.outbox_done((SELECT id FROM posted WHERE n = 'first'), 2, failure => 'connection refused', retry_after => '25 s'), 'pending', 'no answer');
SELECT is(fixture.call((SELECT id FROM posted WHERE n = 'first')), 'pending 2 connection refused 36.000', 'the other side may ask for a longer pause');
-- the gateway dies
SELECT fixture.at(36);
SELECT is((SELECT string_agg(attempt::text, ',') FROM clutch.outbox_claim(9, '20 s')), '3', 'it is claimed');
SELECT fixture.at(56);
SELECT is((SELECT string_agg(attempt::text, ',') FROM clutch.outbox_claim(9, '20 s')), '4', 'and comes back when the lease has run out');
SELECT is(clutch.outbox_done((SELECT id FROM posted WHERE n = 'first'), 4, 500), 'dead', 'the last attempt');
SELECT is(fixture.call((SELECT id FROM posted WHERE n = 'first')), 'dead 4 500 HTTP status 500', 'a dead letter');
SELECT is(clutch.outbox_retry((SELECT id FROM posted WHERE n = 'first')), true, 'an operator tries it again');
SELECT is((SELECT string_agg(attempt::text, ',') FROM clutch.outbox_claim(9, '20 s')), '5', 'by another attempt');
SELECT is(clutch.outbox_done((SELECT id FROM posted WHERE n = 'first'), 5, 410), 'dead', 'an endpoint that is gone is not tried again');
SELECT is(clutch.outbox_drop((SELECT id FROM posted WHERE n = 'first')), true, 'an operator removes it');
SELECT is(clutch.outbox_drop((SELECT id FROM posted WHERE n = 'first')), false, 'once');

-- a gateway that dies with it each time
INSERT INTO posted VALUES ('poison', clutch.post('shop', fixture.message('poison')));
DO $$
BEGIN
	FOR n IN 0..3 LOOP
		PERFORM fixture.at(100 + 10 * n);
		PERFORM clutch.outbox_claim(9, '5 s');
	END LOOP;
END $$;
SELECT fixture.at(200);
SELECT is((SELECT count(*) FROM clutch.outbox_claim(9)), 0::bigint, 'what is never reported is given up');
SELECT is(fixture.call((SELECT id FROM posted WHERE n = 'poison')), 'dead 5 no gateway has reported how the call ended', 'after as many attempts');

-- ------------------------------------------------- pauses, lost endpoints, health
INSERT INTO posted VALUES ('held', clutch.post('shop', fixture.message('held')));
UPDATE clutch.endpoint SET paused = true WHERE name = 'shop';
SELECT fixture.at(900);
SELECT is((SELECT count(*) FROM clutch.outbox_claim(9)), 0::bigint, 'an endpoint that is paused');
SELECT is((SELECT count(*) FROM clutch.check() WHERE code = 'OUTBOX_OVERDUE'), 0::bigint, 'is not overdue');
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_outbox_overdue_seconds'), 0::float8, 'nor for the metrics');
UPDATE clutch.endpoint SET paused = false WHERE name = 'shop';
SELECT is((SELECT count(*) FROM clutch.check() WHERE code = 'OUTBOX_OVERDUE'), 1::bigint, 'otherwise what nobody sends is reported');
SELECT is((SELECT string_agg(concat_ws(' ', m.name, m.labels ->> 'state', m.value), ', ' ORDER BY m.name, m.labels) FROM clutch.metrics() m WHERE m.name LIKE 'clutch_outbox%'),
	'clutch_outbox_calls dead 1, clutch_outbox_calls pending 1, clutch_outbox_calls sent 1, clutch_outbox_calls void 0, clutch_outbox_overdue_seconds 700', 'and measured');
DELETE FROM clutch.endpoint WHERE name = 'shop';
SELECT is((SELECT count(*) FROM clutch.check() WHERE code = 'OUTBOX_OVERDUE'), 1::bigint, 'what waits for an endpoint that was removed is overdue');
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_outbox_overdue_seconds'), 700::float8, 'also for the metrics');
SELECT is((SELECT count(*) FROM clutch.outbox_claim(9)), 0::bigint, 'an endpoint that was removed');
SELECT is(fixture.call((SELECT id FROM posted WHERE n = 'held')), 'dead 1 endpoint "shop" does not exist any more', 'leaves dead letters');
SELECT lives_ok('SELECT clutch.rebuild()', 'a rebuild');
SELECT is((SELECT string_agg(state, ',' ORDER BY no) FROM clutch.outbox), 'sent,dead,dead', 'sends nothing again');
SELECT clutch.tick();
SELECT is((SELECT string_agg(state, ',' ORDER BY no) FROM clutch.outbox), 'sent,dead,dead', 'a tick removes nothing yet');
SELECT fixture.at(86402);
SELECT clutch.tick();
SELECT is((SELECT string_agg(state, ',' ORDER BY no) FROM clutch.outbox), 'dead,dead', 'after a day, what was sent');

-- --------------------------------------------------- metrics of a large outbox
INSERT INTO clutch.outbox (no, id, endpoint, state, kind, attempt, created_at, finished_at, remove_at, failure)
SELECT 1000000 + n, 'large' || n, 'shop', CASE WHEN n % 4 = 0 THEN 'void' ELSE 'sent' END, 'event', 1, clutch.now(), clutch.now(), clutch.now() + interval '1 day', repeat('x', 100) FROM generate_series(1, 120000) n;
ANALYZE clutch.outbox;
CREATE FUNCTION pg_temp.blocks_read() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT * FROM clutch.outbox_metrics' INTO plan;
	RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
END $$;
SELECT ok(pg_relation_size('clutch.outbox') > 16 * 1024 * 1024, 'a large outbox');
SELECT pg_temp.blocks_read() \g /dev/null
SELECT cmp_ok(pg_temp.blocks_read(), '<', pg_relation_size('clutch.outbox') / 8192 / 4, 'is not read for its metrics');
SELECT is((SELECT string_agg(concat_ws(' ', labels ->> 'state', round(value::numeric, -4)), ', ' ORDER BY labels ->> 'state') FROM clutch.outbox_metrics WHERE labels ->> 'state' IN ('sent', 'void')), 'sent 90000, void 30000', 'what is over is estimated');
SELECT is((SELECT string_agg(concat_ws(' ', labels ->> 'state', value), ', ' ORDER BY labels ->> 'state') FROM clutch.outbox_metrics WHERE labels ->> 'state' IN ('pending', 'dead')), 'dead 2, pending 0', 'what is not, or was given up, is counted');
TRUNCATE clutch.outbox;

-- ------------------------------------------ many calls for an endpoint that is paused
INSERT INTO clutch.endpoint (name, url, agents, paused) VALUES ('held', 'https://held.example', '{*}', true), ('west', 'https://west.example', '{*}', false), ('east', 'https://east.example', '{*}', false);
INSERT INTO clutch.outbox (no, id, endpoint, state, kind, body, attempt, created_at, due_at)
SELECT 2000000 + n, 'many' || n, 'held', 'pending', 'post', '{}', 0, clutch.now(), clutch.now() - interval '1 day' FROM generate_series(1, 20000) n;
INSERT INTO clutch.outbox (no, id, endpoint, state, kind, body, attempt, created_at, due_at)
SELECT 3000000 + row_number() OVER (), e || n, e, 'pending', 'post', '{}', 0, clutch.now(), clutch.now() - (ago || ' s')::interval
FROM (VALUES ('east', 1, 10), ('west', 1, 20), ('east', 2, 9), ('west', 2, 12), ('gone', 1, 15), ('west', 3, -1)) AS v(e, n, ago);
VACUUM ANALYZE clutch.outbox;
CREATE FUNCTION pg_temp.blocks_of_claim() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT * FROM clutch.outbox_claim(1)' INTO plan;
	RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
END $$;
SELECT cmp_ok(pg_temp.blocks_of_claim(), '<', 200::bigint, 'a claim does not walk through them');
SELECT is((SELECT string_agg(o.id, ' ' ORDER BY o.due_at, o.no) FROM clutch.outbox o WHERE o.lease_until IS NOT NULL), 'west1', 'it takes what is due the longest elsewhere');
SELECT is((SELECT string_agg(c.id, ' ') FROM clutch.outbox_claim(2) c), 'west2 east1', 'in this order');
SELECT is((SELECT string_agg(c.id, ' ') FROM clutch.outbox_claim(9) c), 'east2', 'and nothing that is not due');
SELECT is(fixture.call('gone1'), 'dead 1 endpoint "gone" does not exist any more', 'also of one that was removed');
UPDATE clutch.endpoint SET paused = false WHERE name = 'held';
SELECT is((SELECT string_agg(c.endpoint, ' ') FROM clutch.outbox_claim(2) c), 'held held', 'what has waited is handed out when it goes on');
TRUNCATE clutch.outbox;
DELETE FROM clutch.endpoint WHERE name IN ('held', 'west', 'east');

-- ------------------------------------------- a body that needs more than there is
CREATE SCHEMA greedy;
CREATE FUNCTION greedy.inbound(raw jsonb, context jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$ SELECT '{"type": "chat.message"}'::jsonb $$;
CREATE FUNCTION greedy.outbound(envelope jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
	IF envelope #>> '{payload,fails}' IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = envelope #>> '{payload,fails}', MESSAGE = 'it cannot be made';
	END IF;
	RETURN '{}';
END $$;
INSERT INTO clutch.adapter (name, inbound, outbound) VALUES ('greedy', 'greedy.inbound', 'greedy.outbound');
INSERT INTO clutch.endpoint (name, url, adapter, filter, max_attempts) VALUES ('greedy', 'https://greedy.example', 'greedy', '{"thread_id": "thread:greedy"}', 2);
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', thread_id => 'thread:greedy', run_id => 'run:greedy', payload => p, task_id => 'task:' || n))
FROM unnest('{"{\"fails\": \"53400\"}","{}"}'::jsonb[]) WITH ORDINALITY AS u(p, n);
SET client_min_messages = error;
SELECT is((SELECT string_agg(c.body, ' ') FROM clutch.outbox_claim(9, '10 s') c), '{}', 'a body that needs more memory than there is does not hold up others');
SELECT fixture.at(86420);
SELECT is((SELECT count(*) FROM clutch.outbox_claim(9, '10 s') c), 1::bigint, 'it is tried again');
SELECT fixture.at(86440);
SELECT clutch.outbox_claim(9, '10 s') \g /dev/null
RESET client_min_messages;
SELECT is((SELECT string_agg(concat_ws(' ', o.task_id, o.state, o.failure), ', ' ORDER BY o.no) FROM clutch.outbox o),
	'task:1 dead no gateway has reported how the call ended, task:2 dead no gateway has reported how the call ended', 'and given up after as many attempts as any other');
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', thread_id => 'thread:greedy', run_id => 'run:greedy', payload => p, task_id => 'task:' || 2 + n))
FROM unnest('{"{\"fails\": \"55P03\"}","{\"fails\": \"40P01\"}","{\"fails\": \"40003\"}","{\"fails\": \"40001\"}","{}"}'::jsonb[]) WITH ORDINALITY AS u(p, n);
SET client_min_messages = error;
SELECT is((SELECT string_agg(c.body, ' ') FROM clutch.outbox_claim(9, '10 s') c), '{}', 'an adapter that meets locks and deadlocks, or feigns them, does not hold up others');
SELECT is((SELECT string_agg(concat_ws(' ', o.task_id, o.state, o.attempt), ', ' ORDER BY o.no) FROM clutch.outbox o WHERE o.task_id BETWEEN 'task:3' AND 'task:6'),
	'task:3 pending 1, task:4 pending 1, task:5 pending 1, task:6 pending 1', 'its calls are tried again');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT fixture.at(86460);
SELECT is((SELECT string_agg(c.body, ' ') FROM clutch.outbox_claim(9, '10 s') c), '{}', 'nor does it where they may be serialization failures');
ROLLBACK;
RESET client_min_messages;
DELETE FROM clutch.endpoint WHERE name = 'greedy';
DELETE FROM clutch.adapter WHERE name = 'greedy';
TRUNCATE clutch.outbox;

-- ------------------------------------- many calls for an endpoint that has been removed
INSERT INTO clutch.endpoint (name, url, agents) VALUES ('west', 'https://west.example', '{*}');
INSERT INTO clutch.outbox (no, id, endpoint, state, kind, body, attempt, created_at, due_at)
SELECT 4000000 + n, 'lost' || n, CASE n WHEN 1200 THEN 'west' ELSE 'gone' END, 'pending', 'post', '{}', 0, clutch.now(), clutch.now() - interval '1 h' FROM generate_series(1, 1201) n;
SELECT is((SELECT count(*) FROM clutch.outbox_claim(2)), 0::bigint, 'a claim that finds only such calls');
SELECT is((SELECT count(*) FROM clutch.outbox WHERE state = 'dead'), 500::bigint, 'ends some of them, not all');
SELECT is((SELECT count(*) FROM clutch.outbox WHERE lease_until IS NOT NULL), 0::bigint, 'and keeps none');
SELECT is((SELECT count(*) FROM clutch.outbox_claim(100000)), 0::bigint, 'also if it is to be handed many');
SELECT is((SELECT count(*) FROM clutch.outbox WHERE state = 'dead'), 1000::bigint, 'the next one goes on');
SELECT is((SELECT string_agg(c.id, ' ') FROM clutch.outbox_claim(9) c), 'lost1200', 'and comes to the calls of others');
SELECT is((SELECT count(*) FROM clutch.outbox WHERE state = 'dead'), 1200::bigint, 'until all are dead letters');
INSERT INTO clutch.outbox (no, id, endpoint, state, kind, body, attempt, created_at, due_at)
SELECT 5000000 + n, 'all' || n, 'west', 'pending', 'post', '{}', 0, clutch.now(), clutch.now() - interval '1 h' FROM generate_series(1, 1300) n;
SELECT is((SELECT count(*) FROM clutch.outbox_claim(1250)), 1250::bigint, 'of those that can be sent, a gateway is handed as many as it asks for');
TRUNCATE clutch.outbox;

-- ------------------------------------- a call that was committed long after it became due
INSERT INTO clutch.outbox (no, id, endpoint, state, kind, body, attempt, created_at, due_at)
SELECT 6000000 + n, 'soon' || n, 'west', 'pending', 'post', '{}', 0, clutch.now(), clutch.now() - interval '1 h' + n * interval '1 s' FROM generate_series(1, 200) n;
SELECT is((SELECT c.id FROM clutch.outbox_claim(1) c), 'soon1', 'the call that has been due for the longest time comes first');
INSERT INTO clutch.outbox (no, id, endpoint, state, kind, body, attempt, created_at, due_at)
VALUES (7000000, 'late', 'west', 'pending', 'post', '{}', 0, clutch.now(), clutch.now() - interval '2 h');
SELECT ok('late' = ANY (ARRAY(SELECT c.id FROM generate_series(1, 65) AS n, LATERAL clutch.outbox_claim(1 + 0 * n) c)), 'one that is committed late does not wait until all others have been claimed');
SELECT clutch.outbox_claim(500) \g /dev/null
INSERT INTO clutch.outbox (no, id, endpoint, state, kind, body, attempt, created_at, due_at)
VALUES (7000001, 'later', 'west', 'pending', 'post', '{}', 0, clutch.now(), clutch.now() - interval '2 h');
SELECT is((SELECT c.id FROM clutch.outbox_claim(1) c), 'later', 'nor is it overlooked if there is nothing else');
TRUNCATE clutch.outbox;

-- -------------------------------------------- an endpoint that gets another name
SELECT fixture.agent('east', 9, '{skill:east}');
INSERT INTO clutch.endpoint (name, url, adapter, serves) VALUES ('east', 'https://east.example', 'http', 'agent:east');
SELECT fixture.ask('task:' || n, skill => 'skill:east') FROM unnest('{claimed,dead,ready}'::text[]) AS n;
SELECT FROM clutch.outbox_claim(2);
SELECT FROM clutch.outbox o, clutch.outbox_done(o.id, 1, 410) WHERE o.task_id = 'task:dead';
SET ROLE clutch_test_ops;
UPDATE clutch.endpoint SET name = 'orient' WHERE name = 'east';
SELECT is((SELECT string_agg(concat_ws(' ', o.task_id, o.state, o.endpoint), ', ' ORDER BY o.task_id) FROM clutch.outbox o WHERE o.task_attempt = 1),
	'task:claimed pending orient, task:dead dead orient, task:ready pending orient', 'takes its calls along');
RESET ROLE;
SELECT is((SELECT clutch.outbox_done(o.id, 1, 200, response => '{"n": 1}') FROM clutch.outbox o WHERE o.task_id = 'task:claimed'), 'sent', 'an answer of the endpoint is taken');
SELECT is((SELECT string_agg(c.url, ', ') FROM clutch.outbox_claim(9) c), 'https://east.example', 'and what waits for it is handed out');
SELECT is((SELECT clutch.outbox_retry(o.id) FROM clutch.outbox o WHERE o.task_id = 'task:dead' AND o.state = 'dead'), true, 'and what was given up');
DELETE FROM clutch.endpoint WHERE name IN ('west', 'orient');
TRUNCATE clutch.outbox;

SELECT is(clutch.revoke_gateway('clutch_test_gateway'), true, 'the grant is taken back');
SELECT is(clutch.revoke_gateway('clutch_test_gateway'), false, 'once');
SELECT is(has_schema_privilege('clutch_test_gateway', 'clutch', 'USAGE'), false, 'with all that it gave');
RESET ROLE;
DROP OWNED BY clutch_test_gateway, clutch_test_ops, clutch_test_app, clutch_test_lois, clutch_test_reader CASCADE;
DROP ROLE clutch_test_gateway, clutch_test_ops, clutch_test_app, clutch_test_lois, clutch_test_reader;
SELECT * FROM finish();
