-- Endpoints that cards name: an operator makes them, and nothing is called before.
\ir ../fixtures/tap.sql
SELECT plan(29);

SELECT clutch.import_card('{"name": "Recipe Agent", "description": "Reads recipes", "version": "1.0.0", "supportedInterfaces": [{"url": "https://recipes.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
	"capabilities": {}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [{"id": "parse", "name": "Parse", "description": "Parses", "tags": ["recipe"]}]}') \g /dev/null
SELECT clutch.import_registry('{"version": "3.0", "orchestrator": "house", "agents": {
	"rosa": {"description": "Gardens", "invocation": {"type": "http", "url": "https://garden.example/run"}},
	"local": {"description": "Cooks", "invocation": {"type": "claude-subprocess", "systemPrompt": "./CLAUDE.md"}}}}') \g /dev/null
SELECT fixture.agent('many', 2, more => '{"endpoints": {"clutch": {"url": "https://many.example/clutch"}, "mcp": {"url": "http://many.example:8080/mcp?x=1"}, "a2a": {"url": "ftp://many.example"}, "http": {"url": "https://user:secret@many.example/"}, "carrier-pigeon": {"url": "https://many.example/pigeon"}}}');
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:9 Odd/Name", "capabilities": [], "endpoints": {"a2a": {"url": "https://odd.example"}}}') \g /dev/null

SELECT fixture.answers($$SELECT name, url, adapter, serves FROM clutch.endpoints_of('agent:recipe-agent')$$, $$VALUES ('recipe-agent', 'https://recipes.example/a2a', 'a2a', 'agent:recipe-agent')$$, 'the address of an A2A card');
SELECT fixture.answers($$SELECT name, url, adapter, serves FROM clutch.endpoints_of('agent:rosa')$$, $$VALUES ('rosa', 'https://garden.example/run', 'http', 'agent:rosa')$$, 'an invocation of the type http');
SELECT is((SELECT count(*) FROM clutch.endpoints_of('agent:local')), 0::bigint, 'an agent that runs elsewhere as a process has none');
SELECT fixture.answers($$SELECT name, url, adapter, serves FROM clutch.endpoints_of('agent:many')$$,
	$$VALUES ('many', 'http://many.example:8080/mcp?x=1', 'mcp', 'agent:many'), ('many', 'https://many.example/clutch', 'peer', 'agent:many')$$, 'one for each dialect, and none that no gateway could call');
SELECT clutch.import_card('{"name": "Old Agent", "description": "Reads", "version": "1.0.0", "url": "https://old.example/a2a", "protocolVersion": "0.3.0",
	"capabilities": {}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []}') \g /dev/null
SELECT is((SELECT headers FROM clutch.endpoints_of('agent:old-agent')), '{"A2A-Version": "0.3"}', 'an agent of version 0.3 is to be sent that version');
SELECT is((SELECT headers FROM clutch.endpoints_of('agent:recipe-agent')), NULL, 'and one of version 1.0 needs no header');
SELECT clutch.import_card('{"name": "Live Agent", "description": "Streams", "version": "1.0.0", "url": "https://live.example/a2a", "protocolVersion": "0.3.0",
	"capabilities": {"streaming": true}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []}') \g /dev/null
SELECT is((SELECT headers FROM clutch.endpoints_of('agent:live-agent')), '{"accept": "application/json, text/event-stream", "A2A-Version": "0.3"}', 'an agent that can stream is to be asked for a stream');
SELECT clutch.import_card('{"name": "New Agent", "description": "Streams", "version": "1.0.0", "supportedInterfaces": [{"url": "https://new.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
	"capabilities": {"streaming": true}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []}') \g /dev/null
SELECT is((SELECT headers FROM clutch.endpoints_of('agent:new-agent')), '{"accept": "application/json, text/event-stream"}', 'in either version');
-- the adapter writes JSON-RPC, which the other bindings do not understand
CREATE FUNCTION pg_temp.bound(name text, VARIADIC interfaces jsonb[]) RETURNS TABLE (url text, headers jsonb) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.import_card(jsonb_build_object('name', bound.name, 'description', 'x', 'version', '1.0.0', 'supportedInterfaces', to_jsonb(interfaces), 'capabilities', '{}'::jsonb,
		'defaultInputModes', '[]'::jsonb, 'defaultOutputModes', '[]'::jsonb, 'skills', '[]'::jsonb));
	RETURN QUERY SELECT e.url, e.headers FROM clutch.endpoints_of('agent:' || bound.name) AS e;
END $$;
SELECT is((SELECT count(*) FROM pg_temp.bound('grpc', '{"url": "https://a.example/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0"}')), 0::bigint, 'an interface of another binding is left out');
SELECT is((SELECT count(*) FROM pg_temp.bound('rest', '{"url": "https://a.example/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}')), 0::bigint, 'that of HTTP, too');
SELECT fixture.answers($$SELECT * FROM pg_temp.bound('both', '{"url": "https://a.example/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0"}', '{"url": "https://a.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}')$$,
	$$VALUES ('https://a.example/rpc', '{"A2A-Version": "0.3"}'::jsonb)$$, 'the first one of JSON-RPC is taken, with its version');
SELECT clutch.import_card('{"name": "Old Grpc", "description": "Reads", "version": "1.0.0", "url": "https://old.example/grpc", "preferredTransport": "GRPC", "protocolVersion": "0.3.0",
	"capabilities": {}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []}') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.endpoints_of('agent:old-grpc')), 0::bigint, 'the transport that a card of version 0.3 prefers counts as well');
-- a card may have interfaces of both versions
CREATE FUNCTION pg_temp.has(n integer, card jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.import_card('{"description": "x", "version": "1.0.0", "capabilities": {}, "skills": []}' || card || jsonb_build_object('name', 'has-' || n));
	RETURN (SELECT concat_ws(' ', e.url, e.headers ->> 'A2A-Version') FROM clutch.endpoints_of('agent:has-' || n) AS e);
END $$;
SELECT is(pg_temp.has(n, card), expected, name) FROM (VALUES
	(1, '{"url": "https://a.example/grpc", "preferredTransport": "GRPC", "protocolVersion": "0.3.0", "additionalInterfaces": [{"url": "https://a.example/rest", "transport": "HTTP+JSON"}, {"url": "https://a.example/rpc", "transport": "JSONRPC"}]}'::jsonb, 'https://a.example/rpc 0.3', 'a card of version 0.3 may have more interfaces'),
	(2, '{"supportedInterfaces": [{"url": "https://a.example/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0"}], "url": "https://a.example/rpc", "protocolVersion": "0.3.0"}', 'https://a.example/rpc 0.3', 'one of both versions may have JSON-RPC only in the older one'),
	(3, '{"supportedInterfaces": [{"url": "https://a.example/a2a", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}], "url": "https://a.example/a2a", "protocolVersion": "0.3.0"}', 'https://a.example/a2a 0.3', 'even at the same address'),
	(4, '{"supportedInterfaces": [], "url": "https://a.example/rpc", "protocolVersion": "0.3.0"}', 'https://a.example/rpc 0.3', 'a list of interfaces may be empty'),
	(5, '{"supportedInterfaces": [{"url": "https://a.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}], "url": "https://a.example/old", "protocolVersion": "0.3.0"}', 'https://a.example/rpc', 'an interface of version 1.0 is taken first'),
	(6, '{"url": "https://a.example/rpc"}', 'https://a.example/rpc 0.3', 'a card that does not say its version is not of version 1.0')) AS v (n, card, expected, name);
SELECT is((SELECT name FROM clutch.endpoints_of('agent:9 Odd/Name')), 'odd-name', 'a name that an endpoint may have');
SELECT throws_ok($$SELECT clutch.endpoints_of('agent:nobody')$$, 'KL005', NULL, 'an agent that is not registered');
SELECT throws_ok('SELECT clutch.endpoints_of(NULL)', '22004', 'argument "agent_id" must not be null', 'no agent');

-- ------------------------------------------------- nothing happens by itself
SELECT is((SELECT count(*) FROM clutch.endpoint), 0::bigint, 'cards make no endpoints');
SELECT fixture.ask('task:parse', skill => 'skill:parse');
SELECT is(fixture.state('task:parse') || ', ' || (SELECT count(*) FROM clutch.outbox), 'assigned agent:recipe-agent 1, 0', 'and no calls');
INSERT INTO clutch.endpoint (name, url, adapter, serves)
SELECT name, url, adapter, serves FROM clutch.endpoints_of('agent:recipe-agent') WHERE url = 'https://elsewhere.example/a2a';
SELECT is((SELECT count(*) FROM clutch.endpoint), 0::bigint, 'an operator names the address');
INSERT INTO clutch.endpoint (name, url, adapter, serves)
SELECT name, url, adapter, serves FROM clutch.endpoints_of('agent:recipe-agent') WHERE url = 'https://recipes.example/a2a';
SELECT is((SELECT string_agg(concat_ws(' ', kind, task_id), ', ') FROM clutch.outbox), 'task task:parse', 'and then the agent is called');
SELECT clutch.send(clutch.envelope('agent.update', 'agent:recipe-agent', payload => '{"agent_id": "agent:recipe-agent", "endpoints": {"a2a": {"url": "https://evil.example"}}}')) \g /dev/null
SELECT is((SELECT string_agg(url, ' ') FROM clutch.outbox_claim(9)), 'https://recipes.example/a2a', 'at that address, whatever the card says later');

CREATE ROLE outbox_card_agent;
CREATE ROLE outbox_card_operator;
SELECT clutch.grant_agent('outbox_card_agent', 'agent:rosa'), clutch.grant_operator('outbox_card_operator') \g /dev/null
SET ROLE outbox_card_agent;
SELECT throws_ok($$SELECT clutch.endpoints_of('agent:rosa')$$, '42501', NULL, 'an agent makes no endpoint of its card');
SELECT throws_ok($$INSERT INTO clutch.endpoint (name, url, serves) VALUES ('rosa', 'https://garden.example/run', 'agent:rosa')$$, '42501', NULL, 'in no way');
SET ROLE outbox_card_operator;
SELECT lives_ok($$INSERT INTO clutch.endpoint (name, url, adapter, serves) SELECT name, url, adapter, serves FROM clutch.endpoints_of('agent:rosa') WHERE url = 'https://garden.example/run'$$, 'an operator does');
RESET ROLE;
SELECT clutch.revoke_agent('outbox_card_agent', 'agent:rosa'), clutch.revoke_operator('outbox_card_operator') \g /dev/null
DROP OWNED BY outbox_card_agent, outbox_card_operator;
DROP ROLE outbox_card_agent, outbox_card_operator;
SELECT * FROM finish();
