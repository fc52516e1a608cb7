-- What the authors of envelopes and of adapters get by way of a gateway: nothing that their
-- roles may not do.
\ir ../fixtures/tap.sql
SELECT plan(7);
SET clutch.notify = off;
CREATE ROLE clutch_test_gateway;
CREATE ROLE clutch_test_eve;
CREATE ROLE clutch_test_dev;
GRANT USAGE ON SCHEMA fixture TO PUBLIC;
SELECT clutch.grant_gateway('clutch_test_gateway'), clutch.grant_agent('clutch_test_eve', 'agent:eve'), clutch.grant_agent('clutch_test_dev', 'agent:dev') \g /dev/null
SELECT clutch.set_endpoint_secret('token', 'Bearer s3cret') \g /dev/null
INSERT INTO clutch.endpoint (name, url, agents, auth_secret) VALUES ('shop', 'https://shop.example/hook', '{*}', 'token');

-- ------------------------------------------------- headers that an envelope brings along
-- eve's document is a request, which comes back as it was.
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT clutch.inbound(jsonb_build_object('headers', headers, 'body', '{"type": "t", "timestamp": "2026-01-01T00:00:00Z", "data": {}}'::jsonb)) AS envelope
FROM (VALUES ('{"webhook-id": "1", "host": "evil.example", "content-length": "1", "Transfer-Encoding": "chunked", "x-forwarded-for": "10.0.0.1", "ce-line": "a\r\nx: y", "ce-ok": "fine", "Authorized": "Bearer x"}'::jsonb)) AS v(headers) \gset
SELECT alike(clutch.outbound(:'envelope', 'http')::text, '%evil.example%', 'what eve sends is a request with headers of hers');
SELECT clutch.post('shop', :'envelope') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_gateway;
CREATE TEMP TABLE claimed AS SELECT * FROM clutch.outbox_claim();
SELECT is((SELECT string_agg(key, ' ' ORDER BY key COLLATE "C") FROM claimed, jsonb_object_keys(headers) key), 'authorization ce-ok content-type webhook-id webhook-timestamp',
	'a gateway is handed none that speaks to the server in its name');
SELECT is((SELECT headers ->> 'authorization' FROM claimed), 'Bearer s3cret', 'and the secret of the endpoint');
SELECT isnt((SELECT headers ->> 'webhook-id' FROM claimed), '1', 'and its own ID');

-- ------------------------------------------------------- adapters that somebody has written
-- The answer of an endpoint is taken in the name of its agent, by functions of clutch_test_dev.
RESET SESSION AUTHORIZATION;
CREATE SCHEMA dev AUTHORIZATION clutch_test_dev;
GRANT USAGE ON SCHEMA dev TO PUBLIC;
SET SESSION AUTHORIZATION clutch_test_dev;
CREATE FUNCTION dev.steals() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (clutch.send(clutch.envelope('chat.message', 'agent:boss', run_id => 'run:stolen'))).seq;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;
CREATE FUNCTION dev.reads(raw jsonb, context jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('type', 'task.result', 'payload', jsonb_build_object('said', dev.steals())) $$;
CREATE FUNCTION dev.reads_as_owner(raw jsonb, context jsonb) RETURNS SETOF jsonb LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT * FROM dev.reads(raw, context) $$;
CREATE FUNCTION dev.handles(raw jsonb) RETURNS boolean LANGUAGE sql AS $$ SELECT raw ? 'x' $$;
CREATE FUNCTION dev.writes(envelope jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('do', envelope -> 'payload') $$;
RESET SESSION AUTHORIZATION;
-- the first handles only what is sent to it by its name, as a gateway does
INSERT INTO clutch.adapter (name, place, can_handle, inbound, outbound) VALUES ('devs', 300, NULL, 'dev.reads', 'dev.writes'), ('definers', 301, 'dev.handles', 'dev.reads_as_owner', 'dev.writes');
INSERT INTO clutch.endpoint (name, url, adapter, serves) VALUES ('a', 'https://a.example', 'devs', 'agent:a'), ('b', 'https://b.example', 'definers', 'agent:b');
SELECT fixture.agent('a', 1, '{skill:a}'), fixture.agent('b', 1, '{skill:b}') \g /dev/null
SELECT fixture.ask('task:a', skill => 'skill:a'), fixture.ask('task:b', skill => 'skill:b') \g /dev/null
-- a gateway that is an agent as well may send
SELECT clutch.grant_agent('clutch_test_gateway', 'agent:gateway') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_gateway;
SELECT clutch.outbox_done(c.id, c.attempt, 200, response => '{"x": 1}') FROM clutch.outbox_claim(9) c \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT is((SELECT count(*) FROM clutch.events WHERE from_agent = 'agent:boss'), 0::bigint, 'they speak for no agent for which neither the gateway nor their owner speaks');
SELECT alike((SELECT payload ->> 'said' FROM clutch.result('task:a')), '%clutch_test_gateway%does not speak for "agent:boss"', 'they have the rights of the gateway');
SELECT alike((SELECT payload ->> 'said' FROM clutch.result('task:b')), '%clutch_test_dev%does not speak for "agent:boss"', 'or of their owner');

SELECT * FROM finish();
DROP SCHEMA dev CASCADE;
DROP OWNED BY clutch_test_gateway, clutch_test_eve, clutch_test_dev;
DROP ROLE clutch_test_gateway, clutch_test_eve, clutch_test_dev;
