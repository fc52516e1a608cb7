-- Registries of spec 002: what an import registers and says, and what comes back.
\ir ../fixtures/tap.sql
\set cards `cat test/fixtures/cards.json 2>/dev/null || cat ../fixtures/cards.json`
SELECT plan(210);

CREATE TABLE doc AS SELECT d.key AS name, d.value AS doc FROM jsonb_each(:'cards'::jsonb) AS d WHERE d.key LIKE 'registry%';
CREATE FUNCTION pg_temp.registry(path text DEFAULT NULL, value jsonb DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT CASE WHEN path IS NULL THEN d.doc WHEN value IS NULL THEN d.doc #- path::text[] ELSE jsonb_set(d.doc, path::text[], value) END FROM doc d WHERE d.name = 'registry'
$$;
CREATE FUNCTION pg_temp.rows(document jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(concat_ws(' ', agent, change, what, was, '>', becomes), E'\n' ORDER BY i), 'no rows')
	FROM clutch.import_registry(document) WITH ORDINALITY AS t(agent, change, what, was, becomes, i)
$$;
CREATE FUNCTION pg_temp.events() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM clutch.events $$;
CREATE FUNCTION pg_temp.refused(path text, value jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT fixture.fault(format('SELECT clutch.import_registry(%L)', pg_temp.registry(path, value)))
$$;

-- "CODE path" of all faults of a document
CREATE FUNCTION pg_temp.faults(document jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail jsonb;
BEGIN
	PERFORM FROM clutch.import_registry(document);
	RETURN 'none';
EXCEPTION WHEN SQLSTATE 'KL014' THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN (SELECT string_agg(concat_ws(' ', f ->> 'code', f ->> 'path'), ', ' ORDER BY f ->> 'path' COLLATE "C") FROM jsonb_array_elements(detail) AS f);
END $$;

-- ---------------------------------------------------------------- registering
SELECT is(pg_temp.rows(pg_temp.registry()), E'agent:almanac added capabilities > ["skill:view-calendar", "skill:create-event", "tool:mcp"]\n'
	'agent:almanac added schema almanac.create_event.input > {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}\n'
	'agent:almanac added schema almanac.create_event.output > {"type": "object", "properties": {"event_id": {"type": "string"}}}\n'
	'agent:basil added capabilities > ["skill:parse-recipe", "skill:suggest-meal"]\n'
	'agent:scribe added capabilities > ["skill:take-notes"]\n'
	'added registry > "household"', 'an import tells what it has registered');
SELECT is((SELECT count(*)::int FROM clutch.events WHERE type = 'agent.register'), 3, 'by an agent.register each');
SELECT is((SELECT string_agg(DISTINCT run_id || ' ' || from_agent, ', ' ORDER BY run_id || ' ' || from_agent) FROM clutch.events),
	'run:agents agent:almanac, run:agents agent:basil, run:agents agent:scribe', 'in the run of the registry, in the name of the agent');
SELECT is((SELECT count(*)::int FROM clutch.events e, clutch.validate(e.envelope)), 0, 'and the events are valid');
SELECT is(clutch.export_registry('household'), pg_temp.registry(), 'it comes back as it was');
CREATE TABLE before AS SELECT pg_temp.events() AS n, (SELECT imported_at FROM clutch.registry_document) AS at;
SELECT is(pg_temp.rows(pg_temp.registry()), 'no rows', 'imported again, nothing changes');
SELECT is(pg_temp.events(), (SELECT n FROM before), 'and no event is written');
SELECT is((SELECT imported_at FROM clutch.registry_document), (SELECT at FROM before), 'nor is the document');

-- ------------------------------------------------------------------- the card
SELECT is((SELECT card -> 'display' FROM clutch.agents WHERE agent_id = 'agent:basil'), '{"desc": "Finds recipes and plans meals", "name": "Basil"}', 'displayName and description are shown');
SELECT is((SELECT card #> '{capabilities,0}' FROM clutch.agents WHERE agent_id = 'agent:basil'), '{"id": "skill:parse-recipe", "tags": ["this recipe", "recipe from"]}', 'the triggers of a skill are its tags');
SELECT is((SELECT card #>> '{capabilities,0,version}' FROM clutch.agents WHERE agent_id = 'agent:almanac'), '2.1.0', 'capabilities have the version of the agent');
SELECT is((SELECT card -> 'meta' -> 'agent_json' -> 'signals' FROM clutch.agents WHERE agent_id = 'agent:basil'), '["allrecipes.com", "recipe", "dinner"]', 'signals are kept by their name');
SELECT is((SELECT card #> '{meta,agent_json,kept}' FROM clutch.agents WHERE agent_id = 'agent:almanac'), NULL, 'and nothing is kept that is mapped');
SELECT is(fixture.rows_of($$SELECT agent_id FROM clutch.find_agents('{skill:take-notes}')$$), '(agent:scribe)', 'a skill that only the index names is a capability');
SELECT is((SELECT coalesce(string_agg(agent_id, ' '), '') FROM clutch.find_agents('{skill:view-calendar@^2.0}')), 'agent:almanac', 'a request finds the agent by skill and version');

-- what the agent cannot do without is a tool that a request must allow
SELECT is((SELECT card #> '{capabilities,0,tools}' FROM clutch.agents WHERE agent_id = 'agent:almanac'), '["mcp:google-calendar"]', 'a required server is a tool of every capability');
SELECT is((SELECT card #> '{capabilities,1,tools}' FROM clutch.agents WHERE agent_id = 'agent:almanac'), '["mcp:google-calendar", "mcp:notion"]', 'another one is a tool of the capabilities that need it');
SELECT is((SELECT card #> '{capabilities,2}' FROM clutch.agents WHERE agent_id = 'agent:almanac') - 'version', '{"id": "tool:mcp", "servers": ["mcp:google-calendar", "mcp:notion", "mcp:weather"]}', 'and all of them may be called');
CREATE FUNCTION pg_temp.route(requires text, allowed text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', x.agent_id, x.eligible, x.rejected_by), ', ' ORDER BY x.agent_id)
	FROM clutch.explain_route(clutch.envelope('task.request', 'agent:ui', requires => ARRAY[requires], security => jsonb_build_object('policy', jsonb_build_object('tool_allowlist', allowed::jsonb)))) AS x
	WHERE x.agent_id = 'agent:almanac'
$$;
SELECT FROM clutch.join_group('group:work', 'agent:ui');
SELECT is(pg_temp.route('skill:view-calendar', '["mcp:google-calendar"]'), 'agent:almanac t', 'a request that allows the server reaches the agent');
SELECT is(pg_temp.route('skill:view-calendar', '["mcp:notion"]'), 'agent:almanac f tools', 'one that does not is kept from it');
SELECT is(pg_temp.route('skill:create-event', '["mcp:google-calendar"]'), 'agent:almanac f tools', 'also from the one capability that needs another server');

-- schemas
SELECT is(clutch.schema_of('almanac.create_event.input') -> 'required', '["title"]', 'the schema of an input is registered');
SELECT is(fixture.rows_of($$SELECT path, code FROM clutch.validate_payload('almanac.create_event.input', '{"title": 1}')$$), '(/title,type)', 'and checks payloads');

-- ------------------------------------------------------------------- changes
SELECT is(pg_temp.rows(pg_temp.registry('{agents,basil,displayName}', '"Chef Basil"')), 'agent:basil changed displayName "Basil" > "Chef Basil"', 'a change is told in the words of the document');
SELECT is((SELECT type || ' ' || ((envelope -> 'payload') - 'meta')::text FROM clutch.events ORDER BY seq DESC LIMIT 1), 'agent.update {"display": {"desc": "Finds recipes and plans meals", "name": "Chef Basil"}, "agent_id": "agent:basil"}', 'an agent.update carries it, and nothing else');
SELECT is(pg_temp.rows(pg_temp.registry()), 'agent:basil changed displayName "Chef Basil" > "Basil"', 'and back');
SELECT is(pg_temp.rows(pg_temp.registry('{agents,basil,displayName}')), 'agent:basil removed displayName "Basil" >', 'what is left out is removed');
SELECT is((SELECT card -> 'display' FROM clutch.agents WHERE agent_id = 'agent:basil'), '{"desc": "Finds recipes and plans meals"}', 'from the card, too');
SELECT is(pg_temp.rows(pg_temp.registry('{agents,basil,skills,1}')), E'agent:basil added displayName > "Basil"\nagent:basil removed skills.suggest-meal {"id": "suggest-meal", "weight": 0.50, "triggers": ["what shall we eat"], "description": "Suggests a meal"} >',
	'skills are told one by one; that the index still names it keeps the capability') ;
SELECT is((SELECT capabilities FROM clutch.agents WHERE agent_id = 'agent:basil')::text, '{skill:parse-recipe,skill:suggest-meal}', 'which requests go by');
SELECT is(pg_temp.rows(pg_temp.registry('{agents,almanac,capabilities,0,inputSchema,required}', '["title", "day"]')),
	'agent:almanac changed capabilities.create_event ' || (pg_temp.registry() #> '{agents,almanac,capabilities,0}')::text || ' > ' || (pg_temp.registry('{agents,almanac,capabilities,0,inputSchema,required}', '["title", "day"]') #> '{agents,almanac,capabilities,0}')::text || E'\n'
	'agent:almanac changed schema almanac.create_event.input {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}} > {"type": "object", "required": ["title", "day"], "properties": {"title": {"type": "string"}}}\n'
	'agent:basil added skills.suggest-meal > {"id": "suggest-meal", "weight": 0.50, "triggers": ["what shall we eat"], "description": "Suggests a meal"}',
	'a changed schema is a new version');
SELECT is((SELECT max(version) FROM clutch.payload_type WHERE payload_type = 'almanac.create_event.input'), 2, 'of the payload type');
SELECT is(pg_temp.rows(pg_temp.registry('{routing,defaultAgent}', '"basil"')) LIKE E'%\nchanged routing.defaultAgent "scribe" > "basil"', true, 'what concerns no agent is told without one');
SELECT is((SELECT document #>> '{routing,defaultAgent}' FROM clutch.registry_document WHERE name = 'household'), 'basil', 'and kept with the document');
SELECT is(pg_temp.rows(pg_temp.registry()), 'changed routing.defaultAgent "basil" > "scribe"', 'and back');

-- an agent that is not in the document any more
CREATE TABLE smaller AS SELECT jsonb_set(pg_temp.registry('{agents,scribe}') #- '{skillIndex,take-notes}', '{routing,defaultAgent}', 'null') AS doc;
SELECT is((SELECT split_part(pg_temp.rows(doc), E'\n', 1) FROM smaller), 'agent:scribe left out capabilities ["skill:take-notes"] >', 'an agent that is gone from the registry is told');
SELECT is((SELECT count(*)::int FROM clutch.agents WHERE agent_id = 'agent:scribe'), 1, 'and stays registered');
SELECT is((SELECT pg_temp.rows(doc) FROM smaller), 'no rows', 'it is told once');
SELECT is(clutch.export_registry('household'), (SELECT doc FROM smaller), 'the export is that of the document');
SELECT is((SELECT count(*)::int FROM clutch.import_registry(pg_temp.registry()) WHERE agent IS NULL), 2, 'back again, its members are told');
SELECT is(clutch.unregister('agent:scribe') IS NOT NULL, true, 'an agent that is unregistered');
SELECT is(clutch.export_registry('household'), jsonb_set(jsonb_set(pg_temp.registry('{agents,scribe}'), '{skillIndex}', (pg_temp.registry() -> 'skillIndex') - 'take-notes'), '{routing,defaultAgent}', 'null'), 'is not exported');
SELECT is(pg_temp.rows(pg_temp.registry()), 'agent:scribe added capabilities > ["skill:take-notes"]', 'and an import registers it again');

-- what the document has no member for is left alone
SELECT FROM clutch.send(clutch.envelope('agent.update', 'agent:basil', payload => '{"agent_id": "agent:basil", "limits": {"max_concurrency": 7}, "groups": ["group:personal", "group:kitchen"]}'));
SELECT is(pg_temp.rows(pg_temp.registry()), 'no rows', 'limits and groups of an operator are no difference');
SELECT FROM clutch.import_registry(pg_temp.registry('{agents,basil,role}', '"Chef"'));
SELECT is((SELECT card #>> '{limits,max_concurrency}' || (card ->> 'groups') FROM clutch.agents WHERE agent_id = 'agent:basil'), '7["group:personal", "group:kitchen"]', 'and stay when the card changes');
SELECT FROM clutch.send(clutch.envelope('agent.update', 'agent:basil', payload => '{"agent_id": "agent:basil", "display": {"name": "B"}, "capabilities": [{"id": "skill:parse-recipe", "tags": ["odd"]}]}'));
SELECT is(clutch.export_registry('household') #> '{agents,basil}' -> 'skills', '[{"id": "parse-recipe", "name": "Parse a recipe", "description": "Reads a recipe from a page", "triggers": ["odd"]}]', 'an export shows what has been changed since');
SELECT is(clutch.export_registry('household') #>> '{agents,basil,displayName}', 'B', 'in every member');

-- other versions
SELECT is((SELECT count(*)::int FROM doc d, clutch.import_registry(d.doc) WHERE d.name = 'registry of version 1.0'), 3, 'version 1.0 is imported');
SELECT is(clutch.export_registry('default'), (SELECT d.doc FROM doc d WHERE d.name = 'registry of version 1.0'), 'and comes back');
SELECT is((SELECT string_agg(change || ' ' || what, ', ' ORDER BY i) FROM doc d, clutch.import_registry(d.doc) WITH ORDINALITY AS t(agent, change, what, was, becomes, i) WHERE d.name = 'registry of version 2.0' AND agent IS NOT NULL),
	'removed description, added displayName, removed name, added personality, added signals, removed version', 'version 2.0 as well, beside other registries that have the agent');
SELECT is(clutch.export_registry('desk'), (SELECT d.doc FROM doc d WHERE d.name = 'registry of version 2.0'), 'and comes back');
SELECT is((SELECT string_agg(k, ' ' ORDER BY k) FROM jsonb_object_keys(clutch.export_registry() -> 'agents') AS k), 'almanac basil ken lois scribe', 'without a name, all agents are exported');
SELECT is(clutch.export_registry() -> 'skillIndex' ->> 'write-report', 'lois', 'with an index of their skills');
SELECT is(clutch.export_registry() -> 'routing', pg_temp.registry() -> 'routing', 'and the routing of the registries that were imported');
SELECT FROM clutch.import_registry('{"version": "3.0", "orchestrator": "attic", "agents": {"ken": {}}, "routing": {"defaultAgent": "ken", "switchCommands": ["give me", "talk to"]}}');
SELECT is(clutch.export_registry() -> 'routing', '{"defaultAgent": "ken", "switchCommands": ["give me", "talk to", "switch to"], "multiAgentTriggers": ["and also", "then"]}', 'of several, in the order of their names, each word once');
BEGIN;
SELECT clutch.unregister('agent:ken');
SELECT is(clutch.export_registry() #>> '{routing,defaultAgent}', 'scribe', 'the default agent is one that is registered');
ROLLBACK;
SELECT lives_ok('SELECT FROM clutch.import_registry(clutch.export_registry())', 'and it can be imported');
BEGIN;
SELECT FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:orchestrator", "capabilities": [{"id": "skill:route"}]}');
SELECT is(clutch.export_registry() @? '$ ? (exists(@.agents.orchestrator) || exists(@.skillIndex.route))', false, 'the orchestrator is not one of the agents, even if it has registered itself');
SELECT lives_ok('SELECT FROM clutch.import_registry(clutch.export_registry())', 'so the export can be imported');
ROLLBACK;
SELECT is(clutch.export_registry() -> 'routing', '{"defaultAgent": "ken", "switchCommands": ["give me", "talk to", "switch to"], "multiAgentTriggers": ["and also", "then"]}', 'without a change');

BEGIN;
SELECT FROM clutch.import_registry('{"version": "3.0", "orchestrator": "attic", "agents": {"ken": {}}, "routing": {"switchCommands": null, "multiAgentTriggers": null}}');
SELECT is(clutch.export_registry() -> 'routing', '{"defaultAgent": "scribe", "switchCommands": ["talk to", "switch to", "give me"], "multiAgentTriggers": ["and also", "then"]}', 'a list that is null has no words');
ROLLBACK;

-- ------------------------------------------------- what an import leaves alone
CREATE FUNCTION pg_temp.desk(more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('version', '3.0', 'orchestrator', 'studio', 'agents', jsonb_build_object('uma', '{"description": "Draws", "displayName": "Uma", "context": "work", "dependencies": {"agents": []}}'::jsonb || more), 'skillIndex', '{"draw": "uma"}'::jsonb) $$;
CREATE FUNCTION pg_temp.uma(path text) RETURNS jsonb LANGUAGE sql AS $$ SELECT a.card #> path::text[] FROM clutch.agents a WHERE a.agent_id = 'agent:uma' $$;
SELECT FROM clutch.import_registry(pg_temp.desk());
SELECT is(pg_temp.uma('{security}'), '{"serves": ["group:work"], "delegates_to": []}', 'an agent of a context serves it, and one that depends on no agent asks none');
SELECT is(pg_temp.uma('{meta,agent_json,indexed}'), '["draw"]', 'which skills only the index names is noted');
SELECT is(pg_temp.uma('{meta,agent_json,kept}'), NULL, 'and nothing else is to be kept of it');
SELECT FROM clutch.send(clutch.envelope('agent.update', 'agent:uma', payload => '{"agent_id": "agent:uma", "security": {"serves": ["group:work"], "delegates_to": [], "sandbox": false, "network": "open"},
	"endpoints": {"http": {"url": "https://uma.example"}}, "groups": ["group:work"]}'::jsonb || jsonb_build_object('meta', jsonb_build_object('mine', 1) || pg_temp.uma('{meta}'))));
SELECT FROM clutch.import_registry(pg_temp.desk('{"role": "Artist"}'));
SELECT is(pg_temp.uma('{security}'), '{"serves": ["group:work"], "network": "open", "sandbox": false, "delegates_to": []}', 'what operators have set for its security stays');
SELECT is(pg_temp.uma('{endpoints,http,url}') || pg_temp.uma('{meta,mine}'), '["https://uma.example", 1]', 'and so do its addresses and their own notes');
SELECT FROM clutch.import_registry(pg_temp.desk() #- '{agents,uma,context}' #- '{agents,uma,dependencies}' #- '{agents,uma,displayName}' #- '{agents,uma,description}');
SELECT is(pg_temp.uma('{security}'), '{"network": "open", "sandbox": false}', 'but not whom it serves and asks, when the document says it no more');
SELECT is(coalesce(pg_temp.uma('{display}'), '{}'), '{}', 'nor its names');
SELECT is(clutch.export_registry('studio') -> 'agents', '{"uma": {}}', 'a skill of the index is not one of the agent');
SELECT FROM clutch.send(clutch.envelope('agent.update', 'agent:uma', payload => '{"agent_id": "agent:uma", "capabilities": [{"id": "skill:draw", "tags": ["pencil"]}, {"id": "skill:paint"}]}'));
SELECT is(clutch.export_registry('studio') #> '{agents,uma,skills}', '[{"id": "paint", "triggers": [], "description": "paint"}]'::jsonb #- '{0,triggers}', 'until it has more of them');
-- addresses of other protocols
SELECT FROM clutch.import_card('{"name": "Uma", "description": "Draws", "version": "1.0.0", "url": "https://uma.example/a2a", "protocolVersion": "0.3.0", "capabilities": {}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []}', 'agent:uma');
SELECT is(pg_temp.uma('{endpoints}') - 'a2a', '{"http": {"url": "https://uma.example"}}', 'a card of another protocol adds its address');
SELECT is(pg_temp.uma('{endpoints,a2a,url}'), '"https://uma.example/a2a"', 'to those that are there');
CREATE TABLE a2a AS SELECT '{"name": "Uma", "description": "Draws", "version": "1.0.0", "supportedInterfaces": [], "skills": []}'::jsonb AS without_url;
SELECT is((SELECT string_agg(change || ' ' || what, ', ') FROM a2a, clutch.import_card(without_url, 'agent:uma') WHERE what LIKE '%url%'), 'removed url', 'one that has none any more takes it away');
SELECT is(clutch.export_card('agent:uma', 'a2a'), without_url, 'and comes back without it') FROM a2a;
SELECT is(pg_temp.uma('{endpoints}'), '{"http": {"url": "https://uma.example"}}', 'but leaves the others');
SELECT is((SELECT count(*)::int FROM a2a, clutch.import_card(without_url, 'agent:uma')), 0, 'imported again, it changes nothing');
-- a member that has the name of a note
SELECT is(clutch.card_as(clutch.card_of(d), 'agent_json'), d, 'a member of the name ' || n) FROM unnest('{indexed,entry,kept,dropped}'::text[]) AS n,
	LATERAL (SELECT jsonb_build_object('name', 'ivy', 'version', '1.0.0', 'description', 'Climbs', 'skills', '[{"id": "climb", "description": "Climbs"}]'::jsonb, n, v) AS d FROM unnest('{5,"[\"climb\"]",true}'::jsonb[]) AS v) AS made;

CREATE FUNCTION pg_temp.through(document jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN PERFORM FROM clutch.import_registry(document); RETURN jsonb_build_array(clutch.export_registry(document ->> 'orchestrator'), (SELECT a.card #> '{meta,agent_json,indexed}' FROM clutch.agents a WHERE a.agent_id = 'agent:ivy')); END $$;
SELECT is(pg_temp.through(d), jsonb_build_array(d, '["climb"]'::jsonb), 'also of an agent with skills that only the index names: ' || (d #>> '{agents,ivy,indexed}'))
FROM unnest('{5,"[\"climb\"]",true,"{\"a\": 1}"}'::jsonb[]) AS v, LATERAL (SELECT jsonb_build_object('version', '3.0', 'orchestrator', 'notes', 'agents', jsonb_build_object('ivy', jsonb_build_object('description', 'Climbs', 'indexed', v)), 'skillIndex', '{"climb": "ivy"}'::jsonb) AS d) AS made;

-- an import changes only what its dialect has a place for
CREATE FUNCTION pg_temp.vic(path text) RETURNS jsonb LANGUAGE sql AS $$ SELECT a.card #> path::text[] FROM clutch.agents a WHERE a.agent_id = 'agent:vic' $$;
CREATE FUNCTION pg_temp.shed(more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('version', '3.0', 'orchestrator', 'shed', 'agents', jsonb_build_object('vic', '{"description": "Mends", "version": "1.0.0", "skills": [{"id": "mend", "description": "Mends", "triggers": ["broken"]}]}'::jsonb || more)) $$;
CREATE FUNCTION pg_temp.update_vic(payload jsonb) RETURNS void LANGUAGE sql AS
$$ SELECT FROM clutch.send(clutch.envelope('agent.update', 'agent:vic', payload => '{"agent_id": "agent:vic"}' || payload)) $$;
SELECT FROM clutch.import_registry(pg_temp.shed());
CREATE TABLE trusted AS SELECT '[{"id": "skill:mend", "version": "1.0.0", "tags": ["broken"], "trust_level": "prod", "cost_hint": "low", "actions": ["solder"]}, {"id": "tool:saw"}, {"id": "role:smith"}, {"id": "weld"}]'::jsonb AS capabilities;
SELECT pg_temp.update_vic(jsonb_build_object('capabilities', capabilities)) FROM trusted;
SELECT is(pg_temp.rows(pg_temp.shed()), 'no rows', 'what an operator says of a capability is no difference, nor are capabilities that are no skills');
SELECT FROM clutch.import_registry(pg_temp.shed('{"version": "1.1.0", "mcps": ["files"]}'));
SELECT is(pg_temp.vic('{capabilities}'), (SELECT jsonb_insert(jsonb_set(capabilities, '{0,version}', '"1.1.0"'), '{1}', '{"id": "tool:mcp", "servers": ["mcp:files"]}') FROM trusted), 'and they stay when the document changes');
SELECT FROM clutch.import_registry(pg_temp.shed('{"skills": []}'));
SELECT is(pg_temp.vic('{capabilities}'), (SELECT capabilities - 0 FROM trusted), 'but a skill that the document does not have any more is removed');
SELECT FROM clutch.import_registry(pg_temp.shed());
SELECT pg_temp.update_vic('{"capabilities": [{"id": "role:smith"}, {"id": "skill:mend", "version": "2.0.0", "tags": ["broken"]}]}');
SELECT is(clutch.export_registry('shed') #>> '{agents,vic,version}', '2.0.0', 'the version of the agent is that of the skills, whatever comes before them');
CREATE TABLE counted AS SELECT pg_temp.events() AS n;
SELECT is(pg_temp.rows(pg_temp.shed('{"version": "2.0.0"}')) || ', ' || pg_temp.events(), (SELECT 'no rows, ' || n FROM counted), 'nor is that order a difference');
-- the order of a list, and elements of the same name
SELECT FROM clutch.import_registry(pg_temp.shed('{"skills": ["a", "b", "c"]}'));
SELECT is(pg_temp.rows(pg_temp.shed('{"skills": ["a", "c", "b"]}')), 'agent:vic changed skills ["a", "b", "c"] > ["a", "c", "b"]', 'skills in another order are told as a whole');
SELECT is(clutch.export_registry('shed') #> '{agents,vic,skills}', '["a", "c", "b"]', 'and exported in that order');
SELECT is((SELECT string_agg(concat_ws(' ', change, what, was, '>', becomes), ', ') FROM clutch.card_changes('{"capabilities": [{"name": "c", "n": 1}, {"name": "c", "n": 2}]}', '{"capabilities": [{"name": "c", "n": 1}, {"name": "c", "n": 3}, {"name": "c", "n": 4}]}')),
	'changed capabilities.c (2) {"n": 2, "name": "c"} > {"n": 3, "name": "c"}, added capabilities.c (3) > {"n": 4, "name": "c"}', 'elements of the same name are told one by one');
SELECT FROM clutch.import_registry(pg_temp.shed('{"signals": ["rust"]}'));
SELECT is(pg_temp.rows(pg_temp.shed('{"signals": [], "role": "Smith"}')), E'agent:vic added role > "Smith"\nagent:vic changed signals ["rust"] > []', 'a list that becomes empty is told, if its elements are not told one by one');
-- whom it serves and asks
SELECT pg_temp.update_vic(jsonb_build_object('security', '{"serves": ["agent:ui", "group:staff"], "delegates_to": ["group:staff"]}'::jsonb));
SELECT FROM clutch.import_registry(pg_temp.shed());
SELECT is(pg_temp.vic('{security}'), '{"serves": ["agent:ui", "group:staff"], "delegates_to": ["group:staff"]}', 'lists of an operator stay, if the document says nothing of them');
SELECT pg_temp.update_vic('{"security": {"serves": []}}');
SELECT is(pg_temp.rows(pg_temp.shed()) || pg_temp.vic('{security}')::text, 'no rows{"serves": []}', 'also one in which nobody is');
SELECT FROM clutch.import_registry(pg_temp.shed('{"context": "work", "dependencies": {"agents": ["uma"]}}'));
SELECT pg_temp.update_vic('{"security": {"serves": ["group:work", "agent:boss"], "delegates_to": ["agent:uma", "group:staff"]}}');
SELECT is(pg_temp.rows(pg_temp.shed('{"context": "work", "dependencies": {"agents": ["uma"]}}')) || pg_temp.vic('{security}')::text,
	'no rows{"serves": ["group:work", "agent:boss"], "delegates_to": ["agent:uma", "group:staff"]}', 'and so do those whom an operator has added');
SELECT FROM clutch.import_registry(pg_temp.shed('{"context": "personal", "dependencies": {"agents": ["ida"]}}'));
SELECT is(pg_temp.vic('{security}'), '{"serves": ["group:personal", "agent:boss"], "delegates_to": ["agent:ida", "group:staff"]}', 'when the document names others');
SELECT FROM clutch.import_registry(pg_temp.shed('{"context": "shared"}'));
SELECT is(pg_temp.vic('{security}'), '{}', 'but not when it opens the agent to all');
-- one that serves both contexts is in one of them, and has one of its versions, in a registry
SELECT FROM clutch.import_registry(pg_temp.shed('{"context": "work"}'));
SELECT pg_temp.update_vic('{"groups": ["group:work", "group:crew", "group:personal"], "security": {"serves": ["group:work", "agent:boss", "group:personal"]},
	"capabilities": [{"id": "skill:mend", "version": "1.0.0"}, {"id": "skill:weld", "version": "2.1.0"}, {"id": "skill:glue"}]}');
CREATE TABLE both_contexts AS SELECT pg_temp.vic('{}') - 'meta' AS card;
SELECT FROM clutch.import_registry(clutch.export_registry('shed'));
SELECT is(pg_temp.rows(clutch.export_registry('shed')), 'no rows', 'an import of the export of an agent with both contexts and several versions is no difference');
SELECT is(pg_temp.vic('{}') - 'meta', card, 'and changes nothing') FROM both_contexts;
SELECT FROM clutch.import_registry(jsonb_set(clutch.export_registry('shed'), '{agents,vic,role}', '"Smith"'));
SELECT is(pg_temp.vic('{}') - 'meta', card, 'nor does one that says something else of the agent') FROM both_contexts;
SELECT FROM clutch.import_registry(jsonb_set(clutch.export_registry('shed'), '{agents,vic,context}', '"work"'));
SELECT is(pg_temp.vic('{security,serves}') || pg_temp.vic('{groups}'), '["group:work", "agent:boss", "group:work", "group:crew"]', 'the context that is shown is replaced, and the other one is not named twice');
SELECT FROM clutch.import_registry(jsonb_set(clutch.export_registry('shed'), '{agents,vic,version}', '"3.0.0"'));
SELECT is((SELECT string_agg(c ->> 'version', ' ') FROM jsonb_array_elements(pg_temp.vic('{capabilities}')) AS c), '3.0.0 3.0.0 3.0.0', 'another version is that of all capabilities');
SELECT FROM clutch.import_registry(jsonb_insert(clutch.export_registry('shed'), '{agents,vic,skills,0}', '{"id": "file"}'));
SELECT is((SELECT string_agg(c ->> 'version', ' ') FROM jsonb_array_elements(pg_temp.vic('{capabilities}')) AS c), '3.0.0 3.0.0 3.0.0 3.0.0', 'and of a new one');
SELECT pg_temp.update_vic('{"groups": [], "security": {}}');
-- whether a schema is enforced
CREATE FUNCTION pg_temp.bends(type text) RETURNS jsonb LANGUAGE sql AS
$$ SELECT pg_temp.shed(jsonb_build_object('capabilities', jsonb_build_array(jsonb_build_object('name', 'bend', 'description', 'Bends', 'inputSchema', jsonb_build_object('required', jsonb_build_array(type)))))) $$;
SELECT FROM clutch.import_registry(pg_temp.bends('angle'));
SELECT FROM clutch.register_schema('vic.bend.input', '{"required": ["angle"]}', compatibility => 'none', enforce => 'always');
SELECT FROM clutch.import_registry(pg_temp.bends('radius'));
SELECT is((SELECT string_agg(enforce, ' ' ORDER BY version) FROM clutch.payload_type WHERE payload_type = 'vic.bend.input'), 'always always', 'a new version of a schema is enforced as the last one was');
-- descriptions in several dialects
SELECT FROM clutch.import_registry(pg_temp.shed('{"displayName": "Vic", "mcps": [{"name": "files", "required": true}]}'));
CREATE TABLE others AS SELECT * FROM (VALUES
	('map', '{"agentId": "vic", "name": "Vic", "description": "Mends", "role": "smith", "scopes": ["forge"]}'::jsonb),
	('a2a', '{"name": "Vic", "description": "Mends", "version": "1.0.0", "url": "https://vic.example/a2a", "capabilities": {}, "skills": [{"id": "mend", "name": "Mend", "description": "Mends it", "tags": ["broken"]}]}'),
	('mcp', '{"tools": [{"name": "hammer", "inputSchema": {"type": "object"}}]}')) AS v(dialect, document);
CREATE FUNCTION pg_temp.all_of_vic() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM others o, clutch.import_card(o.document, 'agent:vic', o.dialect);
	RETURN (SELECT string_agg(o.dialect, ' ') FROM others o WHERE clutch.export_card('agent:vic', o.dialect) <> o.document);
END $$;
SELECT is(pg_temp.all_of_vic(), NULL, 'an agent that is described in three dialects is described by each of them as it was');
SELECT is((SELECT string_agg(c ->> 'id', ' ' ORDER BY c ->> 'id') FROM jsonb_array_elements(pg_temp.vic('{capabilities}')) AS c), 'role:smith skill:mend tool:hammer tool:mcp', 'it has the capabilities of all of them');
SELECT is(pg_temp.vic('{groups}'), '["group:role:smith", "group:scope:forge", "group:role:smith@forge"]', 'and the groups');
SELECT is((SELECT c -> 'tools' FROM jsonb_array_elements(pg_temp.vic('{capabilities}')) AS c WHERE c ->> 'id' = 'skill:mend'), '["mcp:files"]', 'and needs the server that only one of them knows');
-- agents that no registry has named, in an export that is imported
SELECT FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:nat", "capabilities": [{"id": "skill:a_b", "tools": ["mcp:f"]}, {"id": "skill:c"}]}');
SELECT FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ned", "capabilities": [{"id": "skill:d", "version": "^1.0"}]}');
CREATE FUNCTION pg_temp.native() RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_agg(a.card - 'meta' - 'display' ORDER BY a.agent_id) FROM clutch.agents a WHERE a.agent_id = ANY ('{agent:nat,agent:ned}') $$;
CREATE TABLE native AS SELECT pg_temp.native() AS cards;
SELECT is(clutch.export_registry() #> '{agents,nat}', '{"description": "nat", "skills": [{"id": "a_b", "description": "a_b"}, {"id": "c", "description": "c"}], "dependencies": {"mcps": [{"name": "f", "required": false, "capabilities": ["a_b"]}]}}',
	'an agent that has no version is exported without one, and with the skills that need a server');
BEGIN;
SELECT FROM clutch.import_registry(clutch.export_registry());
SELECT is(pg_temp.native() #- '{0,capabilities,2}', cards, 'so an import of the export changes neither') FROM native;
ROLLBACK;
SELECT clutch.unregister('agent:nat') IS NOT NULL AND clutch.unregister('agent:ned') IS NOT NULL \g /dev/null
SELECT FROM clutch.unregister('agent:vic');
SELECT FROM clutch.import_registry(pg_temp.shed());
SELECT is((SELECT string_agg(concat_ws(' ', change, what), ', ') FROM others o, clutch.import_card(o.document, 'agent:vic', 'mcp') WHERE o.dialect = 'mcp'), 'added tools.hammer', 'an import of tools does not say that skills are removed, which it keeps');
-- one that has several roles is shown in one of them in MAP
SELECT FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:oli", "capabilities": [{"id": "role:a.b"}, {"id": "role:axb"}, {"id": "skill:s"}], "groups": ["group:role:axb", "group:role:a.b", "group:role:axb@x", "group:scope:x", "group:role:a.b@x"]}');
CREATE FUNCTION pg_temp.oli() RETURNS jsonb LANGUAGE sql AS $$ SELECT (a.card -> 'capabilities') || (a.card -> 'groups') FROM clutch.agents a WHERE a.agent_id = 'agent:oli' $$;
CREATE TABLE oli AS SELECT pg_temp.oli() AS was;
SELECT is(clutch.export_card('agent:oli', 'map') ->> 'role', 'a.b', 'an agent with two roles is shown with one');
SELECT FROM clutch.import_card(clutch.export_card('agent:oli', 'map'), 'agent:oli', 'map');
SELECT is(pg_temp.oli(), was, 'and keeps the other one in an import') FROM oli;
SELECT FROM clutch.import_card(clutch.export_card('agent:oli', 'map') || '{"role": "c"}', 'agent:oli', 'map');
SELECT is(pg_temp.oli(), '[{"id": "role:c"}, {"id": "role:axb"}, {"id": "skill:s"}, "group:role:c", "group:scope:x", "group:role:c@x", "group:role:axb", "group:role:axb@x"]', 'also if the first one is replaced');
SELECT FROM clutch.import_card(clutch.export_card('agent:oli', 'map') || '{"role": "axb"}', 'agent:oli', 'map');
SELECT is(pg_temp.oli(), '[{"id": "role:axb"}, {"id": "skill:s"}, "group:role:axb", "group:scope:x", "group:role:axb@x"]', 'by the other one, too, which it then has once');
SELECT FROM clutch.unregister('agent:oli');
-- descriptions that are imported in turn
SELECT FROM clutch.import_registry(pg_temp.shed('{"context": "work"}'));
SELECT FROM others o, clutch.import_card(o.document, 'agent:vic', 'map') WHERE o.dialect = 'map';
CREATE TABLE in_turn AS SELECT pg_temp.events() AS n;
SELECT FROM clutch.import_registry(pg_temp.shed('{"context": "work", "description": "Mends", "displayName": "Vic"}'));
SELECT is((SELECT count(*)::int FROM others o, clutch.import_card(o.document, 'agent:vic', 'map') WHERE o.dialect = 'map'), 0, 'an import does not put groups that are there before those of another dialect');
SELECT is(pg_temp.rows(pg_temp.shed('{"context": "work", "description": "Mends", "displayName": "Vic"}')) || (pg_temp.events() - n), 'no rows0', 'so descriptions of an agent can be imported again in turn without a change') FROM in_turn;
SELECT FROM others o, clutch.import_card(o.document, 'agent:vic', 'a2a') WHERE o.dialect = 'a2a';
SELECT FROM clutch.import_card('{"agentId": "vic"}', 'agent:vic', 'map');
SELECT is(clutch.export_card('agent:vic', 'a2a') ->> 'name', 'vic', 'an A2A card has a name even if a description in another dialect has none');
-- an export names an agent for a skill only if it has it
SELECT FROM clutch.import_registry('{"version": "3.0", "orchestrator": "moves", "agents": {"max": {"skills": [{"id": "row", "description": "Rows"}, {"id": "sail", "description": "Sails"}]}, "mia": {}}, "skillIndex": {"row": "max", "sail": "max", "dive": "mia"}}');
SELECT FROM clutch.send(clutch.envelope('agent.update', 'agent:max', payload => '{"agent_id": "agent:max", "capabilities": [{"id": "skill:row"}]}'));
SELECT is(clutch.export_registry('moves') -> 'skillIndex', '{"row": "max", "dive": "mia"}', 'a skill that was taken from an agent is not one of its skills in the index');
SELECT FROM clutch.import_registry(clutch.export_registry('moves'));
SELECT is((SELECT capabilities FROM clutch.agents WHERE agent_id = 'agent:max'), '{skill:row}', 'so an import of the export does not give it back');
-- skills that only the indexes of several registries name
BEGIN;
SELECT FROM clutch.import_registry('{"version": "3.0", "orchestrator": "bay", "agents": {"abe": {}, "cora": {}}, "skillIndex": {"surf": "abe"}}');
SELECT FROM clutch.import_registry('{"version": "3.0", "orchestrator": "cove", "agents": {"bea": {}, "cora": {}}, "skillIndex": {"surf": "bea", "swim": "cora"}}');
CREATE TABLE swimmers AS SELECT a.agent_id, a.capabilities FROM clutch.agents a WHERE a.agent_id = ANY ('{agent:abe,agent:bea,agent:cora}');
SELECT is(clutch.export_registry() -> 'skillIndex' ->> 'surf', 'abe', 'the index of all agents names the first one that has a skill');
SELECT is(clutch.export_registry() #> '{agents,bea,skills}', '[{"id": "surf", "description": "surf"}]', 'another one names it itself');
SELECT is(clutch.export_registry('bay') -> 'agents', '{"abe": {}, "cora": {"skills": [{"id": "swim", "description": "swim"}]}}', 'as does one whose skill only the index of another registry names');
SELECT FROM clutch.import_registry(clutch.export_registry());
SELECT FROM clutch.import_registry(clutch.export_registry('bay'));
SELECT FROM clutch.import_registry(clutch.export_registry('cove'));
SELECT bag_eq($$SELECT a.agent_id, a.capabilities FROM clutch.agents a WHERE a.agent_id = ANY ('{agent:abe,agent:bea,agent:cora}')$$, 'SELECT * FROM swimmers', 'so imports of these exports take no skill away');
SELECT is(pg_temp.rows(clutch.export_registry()) || pg_temp.rows(clutch.export_registry()), 'no rowsno rows', 'nor change anything the second time');
ROLLBACK;

-- ------------------------------------------------------------------ refusals
SELECT is(pg_temp.refused('{skillIndex,parse-recipe}', '"oregano"'), 'KL014 UNKNOWN_AGENT /skillIndex/parse-recipe', 'an index that names no agent is refused at its path');
SELECT is(pg_temp.refused('{skillIndex,fry@1}', '"basil"'), 'KL014 WRONG_FORMAT /skillIndex/fry@1', 'a skill of the index that cannot be one, too');
SELECT is(pg_temp.refused('{skillIndex,parse-recipe}', 'null'), 'KL014 NULL_VALUE /skillIndex/parse-recipe', 'or nobody');
SELECT is(fixture.fault($$SELECT clutch.import_registry('{"agents": [{"name": "twin"}, {"name": "other"}, {"name": "twin"}]}')$$), 'KL014 DUPLICATE_VALUE /agents/2', 'two agents of one name');
SELECT is(pg_temp.refused('{routing,defaultAgent}', '"oregano"'), 'KL014 UNKNOWN_AGENT /routing/defaultAgent', 'so is a default agent');
SELECT is(pg_temp.refused('{agents,basil,skills,1,id}', '"parse-recipe"'), 'KL014 DUPLICATE_VALUE /agents/basil/skills/1/id', 'a skill stands once');
SELECT is(pg_temp.refused('{agents,basil,skills,1}', '{"name": "x"}'), 'KL014 REQUIRED /agents/basil/skills/1/id', 'and has an ID');
SELECT is(pg_temp.refused('{agents,basil,context}', '"secret"'), 'KL014 WRONG_VALUE /agents/basil/context', 'a context is one of three');
SELECT is(pg_temp.refused('{agents,basil,mcps}', '[{"name": "notion", "required": "yes"}]'), 'KL014 WRONG_TYPE /agents/basil/mcps/0/required', 'nor is a requirement ignored that is not true or false');
SELECT throws_like(format('SELECT clutch.import_registry(%L)', pg_temp.registry('{agents,basil}', '{"capabilities": [{"name": "fry", "inputSchema": {"type": "odd"}}]}')),
	'schema "basil.fry.input" is not valid at "/type"%', 'the error says which of the schemas is not valid');
SELECT is(pg_temp.refused('{version}', '"4.0"'), 'KL014 WRONG_VALUE /version', 'a version is known');
SELECT is(fixture.fault($$SELECT clutch.import_registry('{"version": "3.0"}')$$), 'KL014 REQUIRED ', 'a document without agents is none');
SELECT is((SELECT count(*)::int FROM clutch.events WHERE envelope::text LIKE '%oregano%') + (SELECT count(*)::int FROM clutch.registry_document WHERE document::text LIKE '%oregano%'), 0, 'a refused document leaves nothing behind');
SELECT throws_ok($$SELECT clutch.export_registry('nowhere')$$, '42704', NULL, 'a registry that was not imported cannot be exported');

SET clutch.max_list = 3;
SELECT is(pg_temp.faults(jsonb_build_object('agents', '{"basil": {"skills": ["a", "b", "c", "d", "e", "f"], "capabilities": [{"name": "g"}], "mcps": ["h"], "context": "odd"}, "scribe": {"skills": ["a", "b", "c", "d"]}}'::jsonb, 'skillIndex', '{"i": "basil"}'::jsonb)),
	'WRONG_VALUE /agents/basil/context, TOO_MANY /agents/basil/skills/3, TOO_MANY /agents/scribe/skills/3', 'an agent with too many skills has one fault for that, so the others are not crowded out');
RESET clutch.max_list;

-- words that routing rules cannot have, which install_rules would refuse otherwise
CREATE FUNCTION pg_temp.long(bytes int) RETURNS jsonb LANGUAGE sql AS $$ SELECT to_jsonb(repeat('x', bytes)) $$;
CREATE FUNCTION pg_temp.many(elements int) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_agg('w' || n) FROM generate_series(1, elements) n $$;
SELECT is(pg_temp.refused('{agents,basil,signals,1}', pg_temp.long(1001)), 'KL014 TOO_LONG /agents/basil/signals/1', 'a signal that is too long for a rule');
SELECT is(pg_temp.refused('{agents,basil,skills,0,triggers,0}', pg_temp.long(1001)), 'KL014 TOO_LONG /agents/basil/skills/0/triggers/0', 'a trigger of a skill');
SELECT is(pg_temp.refused('{routing,multiAgentTriggers,0}', pg_temp.long(1001)), 'KL014 TOO_LONG /routing/multiAgentTriggers/0', 'one of several agents');
SELECT is(pg_temp.refused('{routing,switchCommands,0}', pg_temp.long(1001)), 'KL014 TOO_LONG /routing/switchCommands/0', 'a switch command');
SELECT is(pg_temp.refused('{routing,switchCommands,0}', pg_temp.long(995)), 'KL014 TOO_LONG /agents/basil', 'one behind which a name has no room');
SELECT is(pg_temp.refused('{agents,basil,displayName}', pg_temp.long(992)), 'KL014 TOO_LONG /agents/basil/displayName', 'a name for which the commands have no room');
SELECT is(pg_temp.refused('{agents,basil,signals}', pg_temp.many(1001)), 'KL014 TOO_MANY /agents/basil/signals', 'more signals than a rule has words');
SELECT is(pg_temp.refused('{routing,switchCommands}', pg_temp.many(501)), 'KL014 TOO_MANY /routing/switchCommands', 'or switch commands, of which each stands before two names');
-- what is just as long as that, and names that are longer than that of a rule
SELECT is(fixture.fault(format('SELECT clutch.import_registry(%L)', jsonb_build_object('version', '3.0', 'orchestrator', repeat('ö', 60), 'agents', jsonb_build_object(
	repeat('a', 100), jsonb_build_object('displayName', repeat('d', 995), 'signals', pg_temp.many(999) || pg_temp.long(1000), 'skills', jsonb_build_array(
		jsonb_build_object('id', repeat('s', 100), 'triggers', pg_temp.many(1000)), jsonb_build_object('id', repeat('s', 101), 'triggers', pg_temp.many(1000))))),
	'routing', jsonb_build_object('switchCommands', (SELECT jsonb_agg('w' || n) FROM generate_series(100, 599) n), 'multiAgentTriggers', pg_temp.many(1000))))), 'no error', 'a registry may have as much as rules can have');
SELECT lives_ok($$SELECT clutch.install_rules('registry-3.0')$$, 'and all of it becomes rules');
SELECT is((SELECT count(*)::int FROM clutch.routing_rule r WHERE r.name LIKE 'registry-3.0 ö%'), 5, 'whose names are shortened');
SELECT FROM clutch.import_registry('{"version": "3.0", "orchestrator": "", "agents": {"anon": {"description": "Has no name for the orchestrator"}}}');
SELECT is((SELECT string_agg(name, ', ') FROM clutch.registry_document WHERE document -> 'agents' ? 'anon'), 'default', 'an orchestrator whose name is empty has none');
-- the orchestrator does no requests
SELECT is(fixture.fault(statement), fault, statement) FROM (VALUES
	($$SELECT clutch.import_registry('{"agents": {"maid": {}, "orchestrator": {"skills": [{"id": "route"}]}}}')$$, 'KL014 NOT_ALLOWED /agents/orchestrator'),
	($$SELECT clutch.import_registry('{"agents": [{"name": "maid"}, {"name": "orchestrator"}]}')$$, 'KL014 NOT_ALLOWED /agents/1/name'),
	($$SELECT clutch.import_card('{"name": "orchestrator", "version": "1.0.0", "description": "y"}')$$, 'KL014 NOT_ALLOWED /name'),
	($$SELECT clutch.import_card('{"name": "Orchestrator", "description": "y", "version": "1", "url": "https://x.example", "capabilities": {}, "skills": []}', dialect => 'a2a')$$, 'KL014 NOT_ALLOWED /name'),
	($$SELECT clutch.import_card('{"jsonrpc": "2.0", "id": 1, "method": "map/agents/register", "params": {"agentId": "orchestrator", "name": "Olga"}}')$$, 'KL014 NOT_ALLOWED /params/agentId')) AS v(statement, fault);
CREATE FUNCTION pg_temp.argument(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN invalid_parameter_value THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', detail::jsonb -> 0 ->> 'code', detail::jsonb -> 0 ->> 'argument');
END $$;
SELECT is(pg_temp.argument($$SELECT clutch.import_card('{"tools": []}', 'agent:orchestrator')$$), 'NOT_ALLOWED agent_id', 'nor does an argument name it');
SET clutch.orchestrator = 'agent:butler';
SELECT is(fixture.fault($$SELECT clutch.import_registry('{"agents": {"butler": {}}}')$$), 'KL014 NOT_ALLOWED /agents/butler', 'whatever its name is');
RESET clutch.orchestrator;
SELECT is((SELECT count(*)::int FROM clutch.agents WHERE agent_id = ANY ('{agent:orchestrator,agent:maid,agent:butler}')), 0, 'none of them is registered');
-- rules of the same name
BEGIN;
SELECT FROM clutch.import_registry('{"version": "3.0", "orchestrator": "blanks", "agents": {"a": {"skills": [{"id": "b c", "triggers": ["one"]}, {"id": "b c (2)", "triggers": ["three"]}]}, "a b": {"skills": [{"id": "c", "triggers": ["two"]}]}}}');
SELECT lives_ok($$SELECT clutch.install_rules('registry-3.0')$$, 'names that are the same when they are put together do not keep rules from being installed');
SELECT is((SELECT string_agg(concat_ws(' ', substr(name, 13), words[1], send_to), ', ' ORDER BY name) FROM clutch.routing_rule WHERE name ~ ' blanks:'),
	' blanks: triggers of a b c one agent:a,  blanks: triggers of a b c (2) three agent:a, (2) blanks: triggers of a b c two agent:a b', 'they are numbered, and no name has such a number');
ROLLBACK;
-- what contains no word
BEGIN;
SELECT FROM clutch.import_registry('{"version": "3.0", "orchestrator": "mute", "agents": {"una": {"displayName": ""}, "ugo": {"displayName": "€"}}, "routing": {"switchCommands": ["talk to", "", "@"]}}');
SELECT is((SELECT string_agg(array_to_string(words, ', '), '; ' ORDER BY name) FROM clutch.registry_rules() WHERE name LIKE 'registry-3.0 mute:%'), 'talk to ugo; talk to una', 'a switch command is not one without the name that follows it, nor a name without a command');
ROLLBACK;
-- what an earlier version has stored
BEGIN;
UPDATE clutch.registry_document d SET document = jsonb_set(jsonb_set(jsonb_set(jsonb_set(document, '{agents,basil,signals}', pg_temp.long(1001) || '"garlic"'::jsonb), '{agents,basil,skills,0,triggers}', pg_temp.many(1002)),
	'{routing,switchCommands}', pg_temp.long(995) || '"call for"'::jsonb), '{agents,basil,displayName}', pg_temp.long(992)) WHERE d.name = 'household';
SET client_min_messages = error;
SELECT lives_ok($$SELECT clutch.install_rules('registry-3.0')$$, 'a registry that would not be imported now does not keep the others from being installed');
SET client_min_messages = warning;
SELECT is((SELECT string_agg(concat_ws(' ', substr(r.name, 25), cardinality(r.words), left(r.words[1], 10)), ', ' ORDER BY r.name) FROM clutch.routing_rule r WHERE r.name LIKE 'registry-3.0 household%basil%'),
	'signals of basil 1 garlic, switch to basil 1 call for b, triggers of basil parse-recipe 1000 w1, triggers of basil suggest-meal 1 what shall', 'and its rules have what rules can have');
SELECT is((SELECT count(*)::int FROM clutch.routing_rule r WHERE r.name LIKE 'registry-3.0 ö%'), 5, 'as those of the others do');
ROLLBACK;
-- the agents of a large registry are not looked up one by one
BEGIN;
INSERT INTO clutch.registry_document
SELECT format('large %s', jsonb_typeof(a.agents)), jsonb_build_object('agents', a.agents, 'routing', '{"switchCommands": ["call"]}'::jsonb), now(), 'test'
FROM (SELECT jsonb_object_agg('a' || i, '{"signals": ["x"]}'::jsonb) FROM generate_series(1, 10000) i
	  UNION ALL SELECT jsonb_agg(jsonb_build_object('name', 'a' || i, 'signals', '["x"]'::jsonb)) || '[{"signals": ["a nameless agent"]}]' FROM generate_series(1, 10000) i) AS a(agents);
SET statement_timeout = '10s';
SELECT is((SELECT count(*)::int FROM clutch.registry_rules() r WHERE r.name LIKE 'registry-3.0 large%'), 40000, 'of two large registries, each agent has two rules');
SELECT is((SELECT string_agg(r.send_to, ' ' ORDER BY r.name) FROM clutch.registry_rules() r WHERE r.name LIKE '%of a77'), 'agent:a77 agent:a77', 'its own');
RESET statement_timeout;
ROLLBACK;

-- credentials
SELECT FROM clutch.import_registry('{"orchestrator": "vault", "agents": {"keeper": {"invocation": {"type": "http", "api_key": "abc123"}}}, "note": {"password": "hunter2"}}');
SELECT is((SELECT count(*)::int FROM clutch.events WHERE envelope::text LIKE '%abc123%') + (SELECT count(*)::int FROM clutch.registry_document WHERE document::text ~ 'abc123|hunter2'), 0, 'credentials are left out');

-- rights
CREATE ROLE registry_import_agent;
CREATE ROLE registry_import_operator;
-- schemas whose names are the same
CREATE TABLE same AS SELECT '{"name": "same", "version": "1.0.0", "description": "Does it twice", "capabilities": [
	{"name": "do_it", "description": "once", "inputSchema": {"type": "object"}}, {"name": "do_it", "description": "twice", "inputSchema": {"type": "array"}}]}'::jsonb AS twice,
	'{"tools": [{"name": "a_b", "inputSchema": {"type": "object"}}, {"name": "a/b", "inputSchema": {"type": "object", "required": ["x"]}}]}'::jsonb AS tools;
SELECT is((SELECT count(*)::int FROM same, clutch.import_card(twice)) + (SELECT count(*)::int FROM same, clutch.import_card(tools, 'agent:mcp.same')), 4, 'of schemas whose names are the same, one is registered');
SELECT is((SELECT string_agg(payload_type || ' ' || schema::text, ', ' ORDER BY payload_type COLLATE "C") FROM clutch.payload_type WHERE payload_type ~ 'same'),
	'mcp.same.a_b.input {"type": "object", "required": ["x"]}, same.do_it.input {"type": "object"}', 'the first');
SELECT is((SELECT count(*)::int FROM same, clutch.import_card(twice)) + (SELECT count(*)::int FROM same, clutch.import_card(tools, 'agent:mcp.same')), 0, 'so once more changes nothing');
SELECT is((SELECT clutch.export_card('agent:same') = twice AND clutch.export_card('agent:mcp.same', 'mcp') = tools FROM same), true, 'and the descriptions come back whole');

-- schemas of two agents whose names are the same
CREATE FUNCTION pg_temp.tools(tool text, required text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('tools', jsonb_build_array(jsonb_build_object('name', tool, 'inputSchema', jsonb_build_object('required', jsonb_build_array(required)))))
$$;
-- what an import registers, without the hash of the agent
CREATE FUNCTION pg_temp.imports(agent text, tool text, required text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(concat_ws(' ', change, regexp_replace(what, left(md5(agent), 12) || '$', 'HASH'), (was #>> '{required,0}') || ' >', becomes #>> '{required,0}'), ', ' ORDER BY what), 'nothing')
	FROM clutch.import_card(pg_temp.tools(tool, required), agent) WHERE what LIKE 'schema %'
$$;
SET client_min_messages = error;
SELECT is(pg_temp.imports('agent:dot', 'b.c', 'first') || ', ' || pg_temp.imports('agent:dot.b', 'c', 'second'), 'added schema dot.b.c.input first, added schema dot.b.c.input.HASH second', 'a name that another agent has is not taken from it');
SELECT is(clutch.schema_of('dot.b.c.input') #>> '{required,0}', 'first', 'whose schema stays');
SELECT is(pg_temp.imports('agent:dot', 'b.c', 'first') || ', ' || pg_temp.imports('agent:dot.b', 'c', 'second'), 'nothing, nothing', 'once more changes nothing');
SELECT is(pg_temp.imports('agent:dot.b', 'c', 'third') || ', ' || pg_temp.imports('agent:dot', 'b.c', 'fourth'), 'changed schema dot.b.c.input.HASH second > third, changed schema dot.b.c.input first > fourth', 'and each changes its own');
SELECT is(pg_temp.imports('agent:dot.b.c', 'x', 'x') || ', ' || pg_temp.imports('agent:dot b', 'c', 'fifth'), 'added schema dot.b.c.x.input x, added schema dot_b.c.input fifth', 'other names are plain');
SELECT is(pg_temp.imports('agent:dot_b', 'c', 'sixth'), 'added schema dot_b.c.input.HASH sixth', 'also if only the signs differ that a name cannot have');
SELECT is(pg_temp.imports('agent:twin', 'b.c', 'same') || ', ' || pg_temp.imports('agent:twin.b', 'c', 'same'), 'added schema twin.b.c.input same, nothing', 'two agents may share a schema');
SELECT is(pg_temp.imports('agent:twin', 'b.c', 'other'), 'added schema twin.b.c.input.HASH other', 'until one of them changes its own');
SELECT is(pg_temp.imports('agent:twin.b', 'c', 'third'), 'changed schema twin.b.c.input same > third', 'then the other one has the name');
SELECT is(regexp_replace(pg_temp.imports('agent:' || repeat('é', 100), repeat('t', 200), 'long') || ', ' || pg_temp.imports('agent:' || repeat('é', 100), repeat('t', 199), 'longer'), '[0-9a-f]{12}', 'HASH', 'g'),
	format('added schema %1$s.HASH.input long, added schema %1$s.HASH.input longer', repeat('é', 40)), 'a name that would be too long is shortened');
SELECT is(regexp_replace(pg_temp.imports('agent:' || repeat('z', 90), 'b.' || repeat('t', 160), 'first') || ', ' || pg_temp.imports('agent:' || repeat('z', 90) || '.b', repeat('t', 160), 'second'), '[0-9a-f]{12}', 'HASH', 'g'),
	format('added schema %1$s.HASH.input first, added schema %1$s.HASH.input.HASH second', repeat('z', 40)), 'and it is not taken from another agent either');
SELECT is(regexp_replace(pg_temp.imports('agent:' || repeat('y', 90), 'b.' || repeat('t', 150), 'first') || ', ' || pg_temp.imports('agent:' || repeat('y', 90) || '.b', repeat('t', 150), 'second'), '[0-9a-f]{12}', 'HASH', 'g'),
	format('added schema %s.b.%s.input first, added schema %s.HASH.HASH second', repeat('y', 90), repeat('t', 150), repeat('y', 40)), 'nor is one that has no room for a hash');
RESET client_min_messages;
SELECT is((SELECT string_agg(what || ' ' || (becomes #>> '{required,0}'), ', ' ORDER BY what) FROM clutch.import_registry('{"version": "3.0", "orchestrator": "dots", "agents": {
	"rita": {"description": "R", "skills": [], "capabilities": [{"name": "x.y", "description": "xy", "inputSchema": {"required": ["one"]}}]},
	"rita.x": {"description": "R", "skills": [], "capabilities": [{"name": "y", "description": "y", "inputSchema": {"required": ["two"]}}]}}}') WHERE what LIKE 'schema%'),
	'schema rita.x.y.input one, schema rita.x.y.input.' || left(md5('agent:rita.x'), 12) || ' two', 'in one registry, too');

-- what an import finds before it changes anything
CREATE FUNCTION pg_temp.card(name text, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'capabilities', '[{"id": "skill:x"}]'::jsonb) || more $$;
SELECT is(clutch.register_or_lock(pg_temp.card('ida')), NULL, 'an agent that is not registered is registered');
SELECT is((SELECT count(*)::int FROM clutch.events WHERE type = 'agent.register' AND from_agent = 'agent:ida'), 1, 'by an event');
SELECT is(clutch.register_or_lock(pg_temp.card('ida', '{"meta": {"a": 1}}')), pg_temp.card('ida'), 'of one that is, the card is returned');
SELECT is((SELECT count(*)::int FROM clutch.events WHERE from_agent = 'agent:ida'), 1, 'and no event written');
SELECT is(ARRAY[clutch.register_or_lock(pg_temp.card('ilse')), clutch.register_or_lock(pg_temp.card('ilse', '{"meta": {}}'))], ARRAY[NULL, pg_temp.card('ilse')], 'also in one statement');
SELECT is(fixture.fault($$SELECT clutch.register_or_lock('{"v": "clutch/0.1", "agent_id": "agent:ida"}')$$), 'KL002 REQUIRED /capabilities', 'faults are those of the card');

SELECT FROM clutch.grant_agent('registry_import_agent', 'agent:basil', '{skill:parse-recipe}');
SELECT FROM clutch.grant_operator('registry_import_operator');
SET ROLE registry_import_agent;
SELECT throws_ok(format('SELECT clutch.import_registry(%L)', '{"agents": {}}'), '42501', NULL, 'an agent imports nothing');
SET ROLE registry_import_operator;
SELECT is((SELECT count(*)::int FROM clutch.import_registry('{"orchestrator": "op", "agents": {"rosemary": {"description": "x"}}}')), 2, 'an operator does');
RESET ROLE;
SELECT FROM clutch.revoke_agent('registry_import_agent', 'agent:basil');
SELECT FROM clutch.revoke_operator('registry_import_operator');
DROP OWNED BY registry_import_agent, registry_import_operator;
DROP ROLE registry_import_agent, registry_import_operator;
SELECT throws_ok($$ INSERT INTO clutch.registry_document VALUES ('odd', '[]', now(), 'postgres') $$, '23514', NULL, 'a registry written by hand is an object, too');
-- ------------------------------------------------- an agent that is not there
SELECT set_config('clutch.clock', '2040-01-01T12:00:00Z', false) \g /dev/null
SELECT FROM clutch.import_registry(pg_temp.shed());
SELECT clutch.heartbeat('agent:vic') \g /dev/null
SELECT set_config('clutch.clock', '2040-01-01T13:00:00Z', false) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT status FROM clutch.agents WHERE agent_id = 'agent:vic'), 'UNAVAILABLE', 'an agent that has fallen silent is unavailable');
SELECT is(pg_temp.rows(pg_temp.shed('{"role": "Tinker"}')), 'agent:vic added role > "Tinker"', 'an import changes what is said of it');
SELECT is((SELECT status || ' ' || to_char(last_seen AT TIME ZONE 'UTC', 'HH24:MI') FROM clutch.agents WHERE agent_id = 'agent:vic'), 'UNAVAILABLE 12:00', 'and is no sign of life');
RESET clutch.clock;
-- --------------------------------------- an agent whose name has a reserved prefix
SELECT is(pg_temp.imports('agent:run:x', 'read', 'first'), 'added schema run_x.read.input first', 'the name of a schema has none');
SELECT is(pg_temp.imports('agent:run_x', 'read', 'second'), 'added schema run_x.read.input.HASH second', 'and is not taken from the agent');
SELECT is(pg_temp.imports('agent:run:x', 'read', 'third') || ', ' || pg_temp.imports('agent:a:run:x', 'read', 'fourth'), 'changed schema run_x.read.input first > third, added schema a:run:x.read.input fourth', 'which changes its own');
SELECT * FROM finish();
