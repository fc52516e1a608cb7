-- The second scene of the demonstration: one task in three dialects, each answered in its own.
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on
\set QUIET on
SET client_min_messages = error;

SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:weather", "display": {"name": "Weather"},
	"capabilities": [{"id": "skill:weather"}], "limits": {"max_concurrency": 10}}') \g /dev/null

CREATE TEMP TABLE visitor (no int, name text, raw jsonb);
INSERT INTO visitor VALUES
(1, 'an MCP host', '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "skill.weather", "arguments": {"city": "Lisbon"}}}'),
(2, 'an A2A client', '{"jsonrpc": "2.0", "id": "q-1", "method": "SendMessage", "params": {"message": {"messageId": "m-1", "contextId": "c-1", "role": "ROLE_USER",
	"parts": [{"data": {"city": "Lisbon"}}], "metadata": {"clutch/skill": "weather"}}}}'),
(3, 'a webhook', '{"specversion": "1.0", "id": "e-1", "source": "https://shop.example", "type": "clutch.task.request", "data": {"city": "Lisbon"}}');

\echo
\echo 'The same task in three dialects: each is ingested, given to agent:weather, and answered in its own.'
CREATE TEMP TABLE asked AS
SELECT v.no, r.task_id FROM visitor v, LATERAL clutch.ingest(v.raw, context => '{"agent_id": "agent:visitor", "to": ["agent:weather"]}') AS r;
SELECT clutch.finish('agent:weather', c.task_id, jsonb_build_object('city', c.envelope #>> '{payload,city}', 'celsius', 21)) FROM clutch.claim('agent:weather', 10) AS c \g /dev/null

SELECT E'\n  ' || v.name || E' asks\n    ' || v.raw || E'\n  and is told\n    ' || clutch.reply(a.task_id) FROM visitor v JOIN asked a USING (no) ORDER BY no;
\echo ''
SELECT '  ' || count(*) || ' tasks of agent:weather are completed in the log.' FROM clutch.tasks WHERE agent_id = 'agent:weather' AND status = 'completed';
