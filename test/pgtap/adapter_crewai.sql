-- crewAI: events of crews, flows, agents and tools.
\ir ../fixtures/tap.sql
\set adapter crewai
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 4);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

SELECT is_empty($$SELECT clutch.inbound('{"type": "llm_stream_chunk", "event_id": "e", "timestamp": "2026-02-01T10:20:30Z"}')$$, 'pieces are left out');
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e #>> '{to,0,agent_id}', e ->> 'parent_task_id'), ', ') FROM fixture.sample s, clutch.inbound(s.raw, NULL, '{"agent_id": "agent:crew", "task_id": "task_1"}') AS e WHERE s.name = 'a task begins'),
	'task.request agent:crew task_1, task.accept agent:orchestrator task_1', 'a task of the crew is below the task of the context');
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e ->> 'task_id'), ', ') FROM fixture.sample s, clutch.inbound(s.raw, NULL, '{"agent_id": "agent:crew", "task_id": "task_1"}') AS e WHERE s.name = 'a crew begins'),
	'task.accept task_1', 'which is the run of the crew');

SELECT is(concat_ws(' ', d ->> 'type', d ->> 'error'), 'task_failed late', 'a task.timeout is a failure')
FROM fixture.native, clutch.outbound(envelope, 'crewai') AS d WHERE name = 'task.timeout';

SELECT * FROM finish();
