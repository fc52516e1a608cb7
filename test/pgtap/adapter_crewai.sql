-- crewAI: events of crews, flows, agents and tools.
\ir ../fixtures/tap.sql
\set adapter crewai
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 25);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

SELECT is_empty(format('SELECT clutch.inbound(%L)', jsonb_build_object('type', type, 'event_id', 'e', 'timestamp', '2026-02-01T10:20:30Z')), 'pieces are left out: ' || type)
FROM unnest('{llm_stream_chunk,llm_thinking_chunk}'::text[]) AS type;
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e #>> '{to,0,agent_id}', e ->> 'parent_task_id'), ', ') FROM fixture.sample s, clutch.inbound(s.raw, NULL, '{"agent_id": "agent:crew", "task_id": "task_1"}') AS e WHERE s.name = 'a task begins'),
	'task.request agent:crew task_1, task.accept agent:orchestrator task_1', 'a task of the crew is below the task of the context');
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e ->> 'task_id'), ', ') FROM fixture.sample s, clutch.inbound(s.raw, NULL, '{"agent_id": "agent:crew", "task_id": "task_1"}') AS e WHERE s.name = 'a crew begins'),
	'task.accept task_1', 'which is the run of the crew');

-- a flow that runs a crew: the task of the context is that of the flow
CREATE FUNCTION pg_temp.event(type text, id text, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('type', type, 'event_id', id, 'timestamp', '2026-02-01T10:20:30Z', 'started_event_id', NULL, 'parent_event_id', NULL) || more $$;
SELECT fixture.agent('fred', 9);
SELECT fixture.ask('task:flow', 'agent:fred');
SELECT FROM clutch.claim('agent:fred', lease => '1 h');
CREATE TABLE told AS SELECT d.no, r.seq FROM (VALUES
	(1, pg_temp.event('flow_started', 'f1')),
	(2, pg_temp.event('method_execution_started', 'm1', '{"parent_event_id": "f1"}')),
	(3, pg_temp.event('crew_kickoff_started', 'c1', '{"parent_event_id": "m1"}')),
	(4, pg_temp.event('crew_kickoff_failed', 'c2', '{"parent_event_id": "m1", "started_event_id": "c1", "error": "no key"}')),
	(5, pg_temp.event('crew_kickoff_started', 'c3', '{"parent_event_id": "m1"}')),
	(6, pg_temp.event('crew_kickoff_completed', 'c4', '{"parent_event_id": "m1", "started_event_id": "c3", "output": {"raw": "a draft"}}')),
	(7, pg_temp.event('method_execution_finished', 'm2', '{"parent_event_id": "f1", "started_event_id": "m1"}')),
	(8, pg_temp.event('flow_finished', 'f2', '{"started_event_id": "f1", "result": "the end", "state": {"id": "s"}}'))) AS d(no, document),
	LATERAL clutch.ingest(d.document, 'crewai', '{"agent_id": "agent:fred", "task_id": "task:flow"}') AS r;
SELECT is((SELECT string_agg(e.type || CASE WHEN e.late THEN ' late' ELSE '' END, ', ' ORDER BY t.no) FROM told t JOIN clutch.events e USING (seq) WHERE e.task_id = 'task:flow'),
	'task.accept, task.progress, task.progress, task.progress, task.progress, task.result', 'a crew within a flow neither begins nor ends the task of the flow');
SELECT is((SELECT payload ->> 'result' FROM clutch.result('task:flow')), 'the end', 'the flow does');
SELECT is(e ->> 'type', 'task.error', 'an end that names no beginning is that of the task') FROM clutch.inbound(pg_temp.event('flow_failed', 'f3', '{"parent_event_id": "f1", "error": "no ink"}'), 'crewai', '{"agent_id": "agent:fred", "task_id": "task:flow"}') AS e;
SELECT is(clutch.outbound(e, 'crewai'), d, 'the end of a crew within a flow comes back')
FROM (VALUES (pg_temp.event('crew_kickoff_failed', 'c9', '{"parent_event_id": "m1", "started_event_id": "c8", "error": "no key"}'))) AS v(d), LATERAL clutch.inbound(d, 'crewai', '{"task_id": "task:flow"}') AS e;

-- a flow that waits for a human
SELECT fixture.ask('task:pauses', 'agent:fred');
SELECT FROM clutch.claim('agent:fred', lease => '1 h');
CREATE TABLE paused AS SELECT d.no, r.seq FROM (VALUES
	(1, pg_temp.event('flow_started', 'p1')),
	(2, pg_temp.event('method_execution_started', 'p2', '{"parent_event_id": "p1"}')),
	(3, pg_temp.event('method_execution_paused', 'p3', '{"parent_event_id": "p1", "started_event_id": "p2", "state": {"id": "s"}, "message": "Good?"}')),
	(4, pg_temp.event('flow_paused', 'p4', '{"started_event_id": "p1", "state": {"id": "s"}, "message": "Good?"}'))) AS d(no, document),
	LATERAL clutch.ingest(d.document, 'crewai', '{"agent_id": "agent:fred", "task_id": "task:pauses"}') AS r;
SELECT is((SELECT string_agg(t.status, ' ' ORDER BY t.parent_task_id NULLS FIRST) FROM clutch.tasks t WHERE 'task:pauses' IN (t.task_id, t.parent_task_id)), 'input_required input_required', 'a step that is paused asks, and so does its flow');
SELECT is((SELECT e.envelope #>> '{payload,event,message}' FROM paused p JOIN clutch.events e USING (seq) WHERE p.no = 3), 'Good?', 'with the question');
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e ->> 'task_id'), ', ') FROM clutch.inbound(pg_temp.event('method_execution_paused', 'p5', '{"state": {}, "message": "Good?"}'), 'crewai', '{"agent_id": "agent:fred", "task_id": "task:pauses"}') AS e),
	'task.progress task:pauses', 'if it is not said which step it is, only the flow asks');

-- a step of a flow is a task of the agent, and takes a slot
SELECT fixture.agent('gale', 1);
SELECT fixture.ask('task:gale', 'agent:gale');
SELECT FROM clutch.claim('agent:gale', lease => '1 h');
CREATE FUNCTION pg_temp.hint(document jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	h text;
BEGIN
	PERFORM clutch.ingest(document, 'crewai', '{"agent_id": "agent:gale", "task_id": "task:gale"}');
	RETURN 'taken';
EXCEPTION WHEN insufficient_privilege THEN
	GET STACKED DIAGNOSTICS h = PG_EXCEPTION_HINT;
	RETURN h;
END $$;
SELECT matches(pg_temp.hint(pg_temp.event('method_execution_started', 'g1', '{"parent_event_id": "g0"}')), 'have a free slot', 'which the error says if there is none');

-- a crew that does two jobs, one after the other, has the same tasks each time
SELECT fixture.agent('hal', 9, ARRAY['skill:x', 'tool:search']);
SELECT fixture.ask('task:job' || n, 'agent:hal') FROM generate_series(1, 2) AS n;
SELECT FROM clutch.claim('agent:hal', 2, '1 h');
CREATE TABLE job AS SELECT j.no AS job, r.seq FROM generate_series(1, 2) AS j(no), (VALUES
	(1, 'task_started', '{}'::jsonb), (2, 'llm_call_started', '{"messages": "a secret"}'), (3, 'tool_usage_finished', '{"tool_name": "search", "tool_args": {}, "output": "found"}'),
	(4, 'task_completed', '{"output": "x"}')) AS d(no, type, more),
	LATERAL clutch.ingest(pg_temp.event(d.type, concat('e', j.no, d.no), d.more || '{"task_id": "4fd6e129"}'), 'crewai', jsonb_build_object('agent_id', 'agent:hal', 'task_id', 'task:job' || j.no)) AS r;
SELECT is((SELECT string_agg(concat_ws(' ', e.type, e.late), ', ' ORDER BY e.seq) FROM job j JOIN clutch.events e USING (seq) JOIN clutch.tasks t ON t.task_id = 'task:job' || j.job AND t.run_id = e.run_id WHERE j.job = job.no AND t.task_id = e.parent_task_id),
	'task.request f, task.accept f, task.progress f, tool.call f, tool.result f, task.result f', 'what a crew does for job ' || job.no || ' is in the run of this job') FROM generate_series(1, 2) AS job(no);

SELECT is((SELECT count(DISTINCT e ->> 'task_id')::int FROM unnest('{run:a,run:b}'::text[]) AS run, LATERAL clutch.inbound(pg_temp.event('task_started', 'e9', '{"task_id": "4fd6e129"}'), 'crewai', jsonb_build_object('run_id', run)) AS e),
	2, 'so it is if the context names only the run');
SELECT is((SELECT count(DISTINCT (e ->> 'run_id', e ->> 'task_id'))::int FROM (VALUES
	('crew_kickoff_started', '{}'::jsonb, '{}'::jsonb), ('crew_kickoff_completed', '{"started_event_id": "e10", "output": "x"}', '{"run_id": "run:a"}')) AS d(type, more, context),
	LATERAL clutch.inbound(pg_temp.event(d.type, 'e10', d.more), 'crewai', d.context || '{"agent_id": "agent:hal"}') AS e),
	1, 'but the end of a crew that is in no task is that of its beginning, after which its run became known');

-- roles as YAML files write them
SELECT is(jsonb_build_array(e #> '{from,agent_id}', clutch.outbound(e, 'crewai') = d), jsonb_build_array(agent, true), 'a role with line breaks: ' || coalesce(agent, 'nothing else'))
FROM (VALUES (E'Senior Researcher\n', 'agent:Senior Researcher'), (E'Senior\r\nResearcher \n', 'agent:Senior  Researcher'), (E'\n', 'agent:orchestrator'), ('', 'agent:orchestrator')) AS r(role, agent),
	LATERAL (SELECT pg_temp.event('llm_call_started', 'l1', jsonb_build_object('agent_role', role)) AS d) AS v, LATERAL clutch.inbound(d, 'crewai') AS e;
SELECT is(clutch.outbound(jsonb_set(e, '{from,agent_id}', '"agent:Writer"'), 'crewai') ->> 'agent_role', 'Writer', 'which shows that it was changed')
FROM clutch.inbound(pg_temp.event('llm_call_started', 'l2', jsonb_build_object('agent_role', E'Researcher\n')), 'crewai') AS e;
-- a model has forgotten the name of the tool, or has said more than a name
SELECT is(e #> '{payload,tool_name}', to_jsonb(name), 'a tool that was not found has any name') FROM (VALUES (''), (E'search\nfor it')) AS v(name),
	LATERAL clutch.inbound(pg_temp.event('tool_selection_error', 's1', jsonb_build_object('tool_name', name, 'tool_args', '{}'::jsonb, 'error', 'no such tool')), 'crewai') AS e;

SELECT is(string_agg(concat_ws(' ', e ->> 'type', e #>> '{payload,tool}', CASE WHEN e #> '{meta,crewai,stub}' IS NULL THEN clutch.outbound(e, 'crewai') = d END), ', '), 'tool.call tool:unknown t, tool.call tool:unknown, tool.error t', 'nor has one that is called, if its name is empty')
FROM unnest('{tool_usage_started,tool_usage_error}'::text[]) AS type, LATERAL (SELECT pg_temp.event(type, 's2', '{"tool_name": "", "tool_args": {}}')) AS v(d), LATERAL clutch.inbound(d, 'crewai') AS e;

SELECT is(concat_ws(' ', d ->> 'type', d ->> 'error'), 'task_failed late', 'a task.timeout is a failure')
FROM fixture.native, clutch.outbound(envelope, 'crewai') AS d WHERE name = 'task.timeout';

SELECT * FROM finish();
