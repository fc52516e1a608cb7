-- Descriptions of agents in other protocols: what becomes of them, and what comes back.
\ir ../fixtures/tap.sql
\set cards `cat test/fixtures/cards.json 2>/dev/null || cat ../fixtures/cards.json`
CREATE TABLE doc AS SELECT d ->> 'name' AS name, d ->> 'agent_id' AS agent_id, d ->> 'dialect' AS dialect, d -> 'raw' AS raw, i
FROM jsonb_array_elements((:'cards'::jsonb) -> 'agents') WITH ORDINALITY AS t(d, i);
SELECT plan((SELECT count(*)::int * 5 FROM doc) + 68
	+ (SELECT sum(CASE WHEN m ? 'only' THEN 1 ELSE 2 END + (m ? 'native')::int)::int FROM jsonb_array_elements((:'cards'::jsonb) -> 'mapping') AS m));

CREATE FUNCTION pg_temp.shown(got jsonb, expected jsonb) RETURNS text LANGUAGE sql AS
$$ SELECT CASE WHEN got = expected THEN 'the same' ELSE concat_ws(E'\n', got, 'and not', expected) END $$;
CREATE FUNCTION pg_temp.card(document text, path text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.card_of(raw, agent_id) #> coalesce(path, '{}')::text[] FROM doc WHERE name = document
$$;

SELECT is((SELECT d FROM (VALUES ('agent_json'), ('a2a'), ('map'), ('mcp')) AS t(d) WHERE clutch.card_of(raw, agent_id) -> 'meta' ? d), dialect, name || ' is recognized') FROM doc ORDER BY i;
SELECT is(pg_temp.shown(clutch.card_as(clutch.card_of(raw, agent_id), dialect), raw), 'the same', name || ' comes back') FROM doc ORDER BY i;
SELECT lives_ok(format('SELECT FROM clutch.import_card(%L, %L)', raw, agent_id), name || ' is imported') FROM doc ORDER BY i;
SELECT is(pg_temp.shown(clutch.export_card(pg_temp.card(name) ->> 'agent_id', dialect), raw), 'the same', name || ' is exported') FROM doc ORDER BY i;
SELECT is((SELECT count(*)::int FROM clutch.import_card(raw, agent_id)), 0, name || ' changes nothing the second time') FROM doc ORDER BY i;

-- what becomes of the members, in both directions
CREATE TABLE mapping AS
SELECT m ->> 'sample' AS document, m ->> 'foreign' AS of_document, m -> 'foreign_value' AS document_value, m ->> 'card' AS of_card, m -> 'card_value' AS card_value,
	coalesce(m ->> 'only', 'both') AS only, CASE WHEN m -> 'native' = 'true' THEN m ->> 'foreign' ELSE m ->> 'native' END AS native, i
FROM jsonb_array_elements((:'cards'::jsonb) -> 'mapping') WITH ORDINALITY AS t(m, i);
CREATE FUNCTION pg_temp.steps(pointer text) RETURNS text[] LANGUAGE sql AS $$ SELECT string_to_array(substr(pointer, 2), '/') $$;
SELECT is(coalesce(clutch.card_of(jsonb_set(d.raw, pg_temp.steps(m.of_document), m.document_value), d.agent_id) #> pg_temp.steps(m.of_card), 'null'), m.card_value,
	concat_ws(' ', m.of_document, 'of', m.document, 'becomes', m.of_card))
FROM mapping m JOIN doc d ON d.name = m.document WHERE m.only <> 'outbound' ORDER BY m.i;
SELECT is(clutch.card_as(jsonb_set(pg_temp.card(d.name), pg_temp.steps(m.of_card), m.card_value), d.dialect) #> pg_temp.steps(m.of_document), m.document_value,
	concat_ws(' ', m.of_document, 'of', m.document, 'is made of', m.of_card))
FROM mapping m JOIN doc d ON d.name = m.document WHERE m.only <> 'inbound' ORDER BY m.i;
SELECT is(clutch.card_as(jsonb_set(pg_temp.card(d.name) #- ARRAY['meta', d.dialect], pg_temp.steps(m.of_card), m.card_value), d.dialect) #> pg_temp.steps(m.native), m.document_value,
	concat_ws(' ', m.native, 'is made of', m.of_card, 'of a card that never was foreign, like', m.document))
FROM mapping m JOIN doc d ON d.name = m.document WHERE m.native IS NOT NULL ORDER BY m.i;

-- an agent that never was foreign, as the others see it
CREATE TABLE native AS SELECT '{"v": "clutch/0.1", "agent_id": "agent:wren", "display": {"name": "Wren", "desc": "Sings"}, "endpoints": {"a2a": {"url": "https://wren.example/a2a"}},
	"capabilities": [{"id": "skill:sing", "version": "1.1.0", "tags": ["song"], "tools": ["mcp:files"]}, {"id": "role:bird"}], "groups": ["group:scope:wood"]}'::jsonb AS card;
SELECT is(clutch.card_as(card, 'agent_json'), '{"name": "wren", "version": "1.1.0", "displayName": "Wren", "description": "Sings",
	"skills": [{"id": "sing", "triggers": ["song"], "description": "sing"}], "dependencies": {"mcps": [{"name": "files", "required": false, "capabilities": ["sing"]}]}}', 'as an agent.json') FROM native;
SELECT is(clutch.card_as(card, 'a2a'), '{"name": "Wren", "description": "Sings", "version": "1.1.0", "url": "https://wren.example/a2a", "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC",
	"supportedInterfaces": [{"url": "https://wren.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}], "capabilities": {}, "defaultInputModes": ["application/json"], "defaultOutputModes": ["application/json"],
	"skills": [{"id": "sing", "name": "sing", "description": "sing", "tags": ["song"]}]}', 'as an A2A card of both versions') FROM native;
SELECT is(clutch.card_as(card, 'map'), '{"agentId": "wren", "name": "Wren", "description": "Sings", "role": "bird", "scopes": ["wood"]}', 'as parameters of MAP') FROM native;
-- somebody may have put anything where the notes belong
SELECT is(clutch.card_as(card || jsonb_build_object('meta', jsonb_build_object(d, jsonb_build_object(note, 1))), d), expected, format('the note "%s" of %s counts only if it is an object', note, d))
FROM native, (VALUES ('map', 'call', '{"agentId": "wren", "name": "Wren", "description": "Sings", "role": "bird", "scopes": ["wood"]}'::jsonb),
	('mcp', 'response', '{"tools": [{"name": "skill.sing", "inputSchema": {"type": "object"}}]}')) AS v(d, note, expected);
SELECT is(clutch.card_as(card, 'mcp'), '{"tools": [{"name": "skill.sing", "inputSchema": {"type": "object"}}]}', 'as tools of MCP') FROM native;

-- what a description of one dialect says of skills, in another one
SELECT is(clutch.export_card('agent:forager', 'a2a') -> 'skills', '[{"id": "identify", "name": "Identify", "description": "Names a plant", "tags": ["what is this"]},
	{"id": "warn", "name": "warn", "description": "warn", "tags": []}, {"id": "find-places", "name": "find-places", "description": "find-places", "tags": []}]', 'skills of an agent.json have their names in an A2A card, or else their IDs');
SELECT is(clutch.card_as(clutch.card_of('{"name": "x", "version": "1.0.0", "description": "y", "skills": [{"id": "a", "title": "A title", "name": ""}, {"id": "b", "title": "no", "name": "B"}, {"id": "c/d", "name": "C"}, {"id": "e", "name": 5}, "f"]}'), 'a2a')
	#> '{skills}' @> '[{"id": "a", "name": "A title", "description": "a"}, {"id": "b", "name": "B"}, {"id": "c/d", "name": "C"}, {"id": "e", "name": "e"}, {"id": "f", "name": "f"}]', true, 'or their titles');
SELECT is(clutch.card_as(clutch.card_of(clutch.export_card('agent:forager', 'a2a'), 'agent:forager'), 'a2a'), clutch.export_card('agent:forager', 'a2a'), 'and such a card comes back');
SELECT is(clutch.card_as(clutch.card_of('{"name": "x", "version": "1.0.0", "description": "y", "skills": [{"id": "a", "name": "A title", "description": "Does a"}],
	"capabilities": [{"name": "do_b", "description": "Does b", "inputSchema": {"type": "object", "required": ["q"]}, "outputSchema": {"type": "array"}}]}'), 'mcp'),
	'{"tools": [{"name": "skill.a", "title": "A title", "description": "Does a", "inputSchema": {"type": "object"}}, {"name": "skill.do-b", "description": "Does b", "inputSchema": {"type": "object", "required": ["q"]}}]}',
	'an MCP host learns what skills do and which input they want');
SELECT is(clutch.card_as(clutch.card_of('{"name": "x", "version": "1.0.0", "description": "y", "capabilities": [{"name": "do_b", "description": "Does b"}]}'), 'a2a') -> 'skills',
	'[{"id": "do-b", "name": "do-b", "description": "Does b", "tags": []}]', 'an A2A client what a legacy capability does');
SELECT is(clutch.export_card('agent:recipe-agent', 'agent_json') #> '{skills,0}', '{"id": "find", "description": "Finds a recipe", "triggers": ["cooking", "search"]}', 'skills of an A2A card are described in an agent.json');

-- a capability in several versions is described once, and its other versions stay
SELECT FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:pair", "capabilities": [{"id": "skill:a", "version": "1.0.0", "tags": ["t"]}, {"id": "tool:b"}, {"id": "skill:a", "version": "2.0.0"}, {"id": "role:r"}, {"id": "tool:b", "version": "^2"}]}');
SELECT is(clutch.export_card('agent:pair', 'agent_json') #> '{skills}', '[{"id": "a", "triggers": ["t"], "description": "a"}]', 'a skill in two versions is described once in an agent.json');
SELECT is(jsonb_path_query_array(clutch.export_card('agent:pair', 'a2a'), '$.skills[*].id'), '["a"]', 'in an A2A card');
SELECT is(jsonb_path_query_array(clutch.export_card('agent:pair', 'mcp'), '$.tools[*].name'), '["skill.a", "b"]', 'and among tools');
CREATE FUNCTION pg_temp.pair() RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(concat_ws(' ', c.value ->> 'id', c.value ->> 'version', c.value ->> 'tags'), ', ' ORDER BY c.n) FROM clutch.agents a, jsonb_array_elements(a.card -> 'capabilities') WITH ORDINALITY AS c(value, n) WHERE a.agent_id = 'agent:pair' $$;
SELECT is((SELECT string_agg(DISTINCT what, ', ') FROM unnest('{agent_json,a2a}'::text[]) AS d, clutch.import_card(clutch.export_card('agent:pair', d), 'agent:pair')), 'display, meta', 'imported again, it changes no capability');
SELECT FROM clutch.import_card('{"tools": [{"name": "b"}]}', 'agent:pair');
SELECT FROM clutch.import_card(jsonb_set(clutch.export_card('agent:pair', 'agent_json'), '{skills,0,triggers}', '["u"]'));
SELECT is(pg_temp.pair(), 'skill:a 1.0.0 ["u"], tool:mcp, tool:b, skill:a 2.0.0, role:r, tool:b ^2', 'nor does a description that changes one of the versions');
SELECT FROM clutch.import_card(clutch.export_card('agent:pair', 'agent_json') || '{"skills": []}');
SELECT is(pg_temp.pair(), 'tool:mcp, tool:b, role:r, tool:b ^2', 'a skill that is not described any more goes with all its versions');

-- an empty list of tools is a list
SELECT FROM clutch.import_card('{"name": "zed", "version": "1.0.0", "description": "Has a skill", "skills": [{"id": "zip"}]}');
SELECT is((SELECT string_agg(change || ' ' || what, ', ') FROM clutch.import_card('{"tools": []}', 'agent:zed')), 'added capabilities.tool:mcp, changed meta', 'a server without tools adds none, although the agent has skills');
SELECT is(clutch.export_card('agent:zed', 'mcp'), '{"tools": []}', 'and its list comes back');
SELECT is((SELECT count(*)::int FROM clutch.import_card('{"tools": []}', 'agent:zed')), 0, 'imported again, it changes nothing');
SELECT FROM clutch.import_card('{"tools": [{"name": "zoom", "inputSchema": {"type": "object"}}]}', 'agent:zed');
SELECT is((SELECT string_agg(change || ' ' || what, ', ') FROM clutch.import_card('{"tools": []}', 'agent:zed')), 'removed tools.zoom', 'a server that has no tool any more adds none, either');

-- a URL makes no A2A card
SELECT is(clutch.card_of('{"name": "x", "version": "1.0.0", "description": "y", "url": "https://x.example", "skills": [{"id": "a"}]}') -> 'meta', '{"agent_json": {"url": "https://x.example", "skills": {"a": {}}}}', 'an agent.json may have a URL');
SELECT is(fixture.fault($$SELECT clutch.card_of('{"name": "x", "version": "1.0.0", "description": "y", "url": "https://x.example", "protocolVersion": "0.3.0", "skills": []}')$$), 'KL015 NOT_HANDLED document', 'unless only A2A cards have what is beside it');
-- beside the ID, a name is a text
SELECT is(clutch.card_of(clutch.card_as(jsonb_build_object('agent_id', 'agent:z', 'display', jsonb_build_object('name', n)), 'map')) #>> '{display,name}', n, format('MAP takes a name of %s bytes beside an ID', octet_length(n)))
FROM (VALUES (repeat('n', 300)), (E'A\nB')) AS v(n);
SELECT is(fixture.fault(format('SELECT clutch.card_of(%L)', jsonb_build_object('name', repeat('n', 300), 'role', 'r'))), 'KL014 TOO_LONG /name', 'and of fewer without one');

-- schemas of tools; refusals
SELECT is(clutch.schema_of('mcp.files.write_file.input') -> 'required', '["path"]', 'the schema of a tool is registered');
SELECT is(fixture.fault($$SELECT clutch.card_of('{"tools": []}')$$), 'KL014 REQUIRED /agent_id', 'a list of tools does not say whose they are');
SELECT throws_matching($$SELECT clutch.card_of('{"tools": []}')$$, 'name the agent in the argument "agent_id"$', 'the caller does');
SELECT is(fixture.fault(format('SELECT clutch.import_card(%L, ''agent:mcp.files'', ''mcp'')', v.doc)), v.fault, v.doc || ' is no list of tools')
FROM (VALUES ('{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}', 'KL014 REQUIRED /tools'), ('{}', 'KL014 REQUIRED /tools'), ('{"tools": null}', 'KL014 REQUIRED /tools'),
	('{"tools": 5}', 'KL014 WRONG_TYPE /tools'), ('{"result": 5}', 'KL014 REQUIRED /tools'), ('{"result": {}}', 'KL014 REQUIRED /result/tools'), ('{"result": {"tools": 5}}', 'KL014 WRONG_TYPE /result/tools')) AS v(doc, fault);
SELECT is(fixture.fault(format('SELECT clutch.import_card(%L, ''agent:mcp.files'')', v.doc)), v.fault, v.doc || ' has more pages')
FROM (VALUES ('{"tools": [], "nextCursor": "2"}', 'KL014 NOT_ALLOWED /nextCursor'), ('{"jsonrpc": "2.0", "id": 1, "result": {"tools": [], "nextCursor": "2"}}', 'KL014 NOT_ALLOWED /result/nextCursor'),
	('{"tools": [{"name": "list"}], "nextCursor": 2}', 'KL014 NOT_ALLOWED /nextCursor'), ('{"tools": [], "nextCursor": null}', 'no error'), ('{"tools": [], "nextCursor": ""}', 'no error')) AS v(doc, fault);
SELECT is(clutch.card_as(clutch.card_of('{"tools": [], "nextCursor": "2"}', 'agent:mcp.files'), 'mcp'), '{"tools": [], "nextCursor": "2"}', 'a page alone can be translated');
SELECT is(fixture.fault(format('SELECT clutch.import_card(%L, ''agent:zed'', ''map'')', v.doc)), v.fault, v.doc || ', as parameters of MAP')
FROM (VALUES ('{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}', 'KL014 REQUIRED /agentId'), ('{}', 'KL014 REQUIRED /agentId'),
	('{"method": "map/agents/register", "params": {}}', 'KL014 REQUIRED /params/agentId'), ('{"role": "bird"}', 'no error')) AS v(doc, fault);
SELECT is(fixture.fault($$SELECT clutch.card_of('{"name": "x", "supportedInterfaces": [{"url": "nowhere"}], "skills": [{"name": "y"}]}')$$), 'KL014 WRONG_FORMAT /supportedInterfaces/0/url', 'faults have the path in the document');
SELECT is(fixture.fault(format('SELECT clutch.card_of(%L)', '{"name": "ok", "version": "1.0.0", "description": "y"}'::jsonb || v.doc::jsonb)), v.fault, v.doc || ' of an agent.json')
FROM (VALUES ('{"name": "recipe-agent.v2_x"}', 'no error'), ('{"name": "recipe agent"}', 'KL014 WRONG_FORMAT /name'), ('{"name": "Recipe-agent"}', 'KL014 WRONG_FORMAT /name'),
	('{"description": ""}', 'KL014 EMPTY /description'), ('{"version": "1.0.0-rc.1+5"}', 'no error'), ('{"version": "one"}', 'KL014 WRONG_FORMAT /version'), ('{"version": "1.0"}', 'KL014 WRONG_FORMAT /version'), ('{"version": "^1.0.0"}', 'KL014 WRONG_FORMAT /version'), ('{"version": "1.0.0 or so"}', 'KL014 WRONG_FORMAT /version')) AS v(doc, fault);
SELECT is(fixture.fault($$SELECT FROM clutch.registry_cards('{"version": "1.0", "agents": [{"name": "Some One", "version": "1"}]}')$$), 'no error', 'an agent of a registry may have other names and versions');
SELECT is(clutch.card_of(clutch.card_as('{"v": "clutch/0.1", "agent_id": "agent:Some One", "capabilities": [{"id": "skill:x", "version": "^1.0"}]}', 'agent_json')) ->> 'agent_id', 'agent:some-one', 'what is described is an agent.json, whatever the ID of the agent');
SELECT throws_ok($$SELECT clutch.card_of('{"hello": 1}')$$, 'KL015', NULL, 'what is no description is not guessed');
SELECT throws_ok($$SELECT clutch.card_of('{"hello": 1}', dialect => 'latin')$$, '22023', NULL, 'a dialect is one of four');
SELECT throws_ok($$SELECT clutch.export_card('agent:nobody')$$, 'KL005', NULL, 'an agent that is not registered is not exported');
SELECT throws_ok('SELECT clutch.export_card(NULL)', '22004', 'argument "agent_id" must not be null', 'nor is none');
-- an agent of which only a registry tells
SELECT FROM clutch.import_registry('{"version": "3.0", "orchestrator": "yard", "agents": {"otto": {"version": "^1", "name": "Old Otto", "signals": ["dig"], "skills": [{"id": "dig"}]}, "Some Two": {"description": ""}}, "skillIndex": {"rake": "otto"}}');
SELECT is(clutch.export_card('agent:otto'), '{"name": "otto", "version": "1.0.0", "description": "otto", "signals": ["dig"], "skills": [{"id": "dig"}, {"id": "rake", "description": "rake"}]}',
	'what an agent.json requires is added to what a registry says');
SELECT is(clutch.export_card('agent:Some Two') - 'version', '{"name": "some-two", "description": "Some Two"}', 'whatever the ID of the agent');
BEGIN;
SELECT lives_ok($$SELECT FROM clutch.import_card(clutch.export_card('agent:otto'), 'agent:otto')$$, 'so that it can be imported');
SELECT is((SELECT capabilities FROM clutch.agents WHERE agent_id = 'agent:otto')::text, '{skill:dig,skill:rake}', 'and the agent keeps the skills that only the index names');
ROLLBACK;
SELECT is(clutch.card_as(jsonb_set(pg_temp.card('agent.json'), '{capabilities}', '[]'), 'agent_json') ?| '{skills}' OR jsonb_array_length(clutch.card_as(jsonb_set(pg_temp.card('agent.json'), '{capabilities}', '[]'), 'agent_json') -> 'capabilities') > 0, false,
	'what the card does not have any more is not described');
SELECT * FROM finish();
