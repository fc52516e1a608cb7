-- agent.json and registries of spec 002, as documents that are ingested.
\ir ../fixtures/tap.sql
\set adapter agent_json
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 14);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

-- an agent that is ingested is registered
SELECT is((SELECT capabilities::text FROM clutch.agents WHERE agent_id = 'agent:forager'), '{skill:identify,skill:warn,skill:find-places,tool:mcp}', 'what is ingested is registered');
SELECT is((SELECT string_agg(agent_id, ' ' ORDER BY agent_id) FROM clutch.agents), 'agent:almanac agent:basil agent:forager agent:ken agent:lois agent:plain agent:scribe', 'with all agents of a registry');
SELECT is((SELECT string_agg(DISTINCT run_id || ' ' || task_id, ', ') FROM clutch.events), 'run:agents task:agents', 'in the run of the registry');
SELECT is(clutch.export_card('agent:forager'), raw, 'and exported as it came in') FROM fixture.sample WHERE name = 'an agent.json';

-- what is declined
SELECT is(clutch.can_handle('{"name": "x", "version": "1.0.0", "description": "y", "url": "https://x.example", "capabilities": {}, "skills": []}') IS DISTINCT FROM 'agent_json', true, 'a card of A2A is not taken for an agent.json');
SELECT is(clutch.can_handle('{"agents": [{"id": "agent-1"}]}'), NULL, 'a list of agents is not taken for a registry');
SELECT is(fixture.fault($$SELECT clutch.inbound('{"version": "3.0", "agents": {"a": {"skills": [{"id": "x"}, {"id": "x"}]}}}')$$), 'KL014 DUPLICATE_VALUE /agents/a/skills/1/id', 'faults have their path in the registry');
SELECT is(fixture.fault($$SELECT clutch.inbound('{"version": "3.0", "agents": {"a": {}}, "skillIndex": {"x": "b"}}')$$), 'KL014 UNKNOWN_AGENT /skillIndex/x', 'and in its index');

SELECT is(fixture.fault($$SELECT clutch.inbound('{"name": "Some One", "version": "one", "description": "y"}')$$), 'KL014 WRONG_FORMAT /name', 'a name has no blanks');
SELECT is((SELECT clutch.inbound(clutch.outbound(e, 'agent_json'), 'agent_json') #>> '{payload,agent_id}' FROM clutch.envelope('agent.register', 'agent:Some One', payload => '{"v": "clutch/0.1", "agent_id": "agent:Some One", "capabilities": [{"id": "skill:x", "version": "^1.0"}]}') AS e),
	'agent:Some One', 'but the ID of an agent may have them, and comes back');
SELECT throws_ok($$SELECT clutch.outbound('{"v": "clutch/0.1", "id": "msg_1", "run_id": "run:1", "thread_id": "thr_1", "type": "routing.failure", "ts": "2026-01-02T03:04:05.000000Z", "from": {"agent_id": "agent:ui"},
	"to": [{"agent_id": "agent:ken"}], "task_id": "task:3", "payload": {"code": "INTERNAL", "message": "m", "retryable": false}}', 'agent_json')$$, '0A000', NULL, 'a failure of routing has no form that could be read');

-- the same file is the same event, whatever has become of the agent
CREATE FUNCTION pg_temp.again(session text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(r.duplicate::text, ' ') FROM clutch.ingest('{"name": "sage", "version": "1.0.0", "description": "d"}', 'agent_json', CASE WHEN session IS NULL THEN '{}' ELSE jsonb_build_object('session', session) END) AS r
$$;
SELECT pg_temp.again(NULL) \g /dev/null
SELECT FROM clutch.unregister('agent:sage');
SELECT is(pg_temp.again(NULL), 'true', 'a file that was ingested before is a duplicate');
SELECT is(pg_temp.again('the second start'), 'false', 'unless the context names another session');
SELECT is((SELECT count(*) FROM clutch.agents WHERE agent_id = 'agent:sage'), 1::bigint, 'which registers the agent again');

SELECT * FROM finish();
