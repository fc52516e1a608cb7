-- AutoGen: messages of AgentChat and events of autogen-core.
\ir ../fixtures/tap.sql
\set adapter autogen
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 3);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

SELECT is_empty($$SELECT clutch.inbound('{"type": "ThoughtEvent", "source": "ken", "content": "hm", "models_usage": null}')$$, 'pieces are left out');
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e #>> '{meta,autogen,stub}'), ', ') FROM fixture.sample s, clutch.inbound(s.raw, NULL, '{"run_id": "run:fresh"}') AS e WHERE s.name = 'tools have answered'),
	'tool.call true, tool.result, tool.call true, tool.error', 'each answer has its call made up');
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e #>> '{payload,tool}'), ', ') FROM fixture.sample s, clutch.inbound(s.raw) AS e WHERE s.name = 'tools are called'),
	'tool.call tool:weather, tool.call tool:time', 'each call is a message');

SELECT * FROM finish();
