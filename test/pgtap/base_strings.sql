-- Functions whose bodies are read when they are first called do not depend on
-- how the session writes strings.
\ir ../fixtures/tap.sql
SELECT plan(6);
SET escape_string_warning = off;
SET standard_conforming_strings = off;
SELECT lives_ok($$SELECT clutch.import_card('{"tools": [{"name": "use", "description": "d", "inputSchema": {"type": "object"}}]}', 'agent:class s')$$, 'a card is imported');
SELECT lives_ok($$SELECT clutch.import_registry('{"version": "3.0", "agents": {"cook": {"description": "d", "signals": ["x"]}}}')$$, 'and a registry');
SELECT lives_ok($$SELECT clutch.install_rules('multiagent-1.0')$$, 'and a set of rules is installed');
SELECT is((SELECT string_agg(DISTINCT payload_type, ' ') FROM clutch.payload_type WHERE payload_type LIKE 'cla%'), 'class_s.use.input', 'no name loses a letter');
SELECT clutch.import_card('{"name": "dated", "version": "2.3.4", "description": "d"}') \g /dev/null
SELECT is(clutch.export_card('agent:dated'), '{"name": "dated", "version": "2.3.4", "description": "d"}', 'and an exported card has the version of the agent');
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:oli", "capabilities": [{"id": "role:c++"}, {"id": "role:cook"}]}') \g /dev/null
SELECT clutch.import_card(clutch.export_card('agent:oli', 'map'), 'agent:oli', 'map') \g /dev/null
SELECT is((SELECT card -> 'capabilities' FROM clutch.agents WHERE agent_id = 'agent:oli'), '[{"id": "role:c++"}, {"id": "role:cook"}]', 'and one of MAP keeps its other roles when it is imported again');
SELECT * FROM finish();
