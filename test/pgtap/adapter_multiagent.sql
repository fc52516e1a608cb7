-- The messages of protocol multiagent-1.0.
\ir ../fixtures/tap.sql
\set adapter multiagent
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 32);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

-- a conversation: a question, a plan for it, the end of it
SELECT FROM clutch.register(fixture.card('wren'));
CREATE TABLE said AS SELECT * FROM clutch.ingest('{"protocol": "multiagent-1.0", "role": "user", "agent": {"id": "ui"}, "timestamp": "2026-11-22T10:00:00Z", "intent": "plan", "task": "plan it",
	"content": {"type": "text", "text": "a tracker"}, "trace": {"id": "q1"}}', context => '{"to": "agent:wren"}');
SELECT is((SELECT count(*)::int FROM clutch.claim('agent:wren')), 1, 'what a user says is a request');
INSERT INTO said SELECT * FROM clutch.ingest('{"protocol": "multiagent-1.0", "role": "agent", "agent": {"id": "wren"}, "timestamp": "2026-11-22T10:00:01Z", "intent": "execute", "task": "fetch",
	"content": {"type": "text"}, "outputs": {"next_actions": [{"intent": "summarize", "task": "sum up"}]}, "trace": {"id": "q2", "parents": ["q1"]}}');
SELECT is((SELECT fixture.state(task_id) FROM said LIMIT 1), 'running agent:wren 1', 'an answer that proposes more does not end the task');
INSERT INTO said SELECT * FROM clutch.ingest('{"protocol": "multiagent-1.0", "role": "agent", "agent": {"id": "wren"}, "timestamp": "2026-11-22T10:00:02Z", "intent": "summarize", "task": "sum up",
	"content": {"type": "text", "text": "done"}, "trace": {"id": "q3", "parents": ["q1", "q2"]}}');
SELECT is((SELECT count(DISTINCT (task_id, run_id))::int FROM said), 1, 'the first of the parents stands for the task');
SELECT is((SELECT fixture.state(task_id) FROM said LIMIT 1), 'completed agent:wren 1', 'and what finishes it ends it');

SELECT is(fixture.fault($$SELECT clutch.ingest('{"protocol": "multiagent-1.0", "role": "agent", "agent": {"id": "wren"}, "intent": "plan", "task": "more", "content": {"type": "text"}, "trace": {"id": "q4", "parents": ["q3"]}}')$$),
	'KL003 TASK_NOT_FOUND /task_id', 'a later message does not stand for it');

CREATE TABLE more AS SELECT r.* FROM (VALUES ('q5', '["q1", "q3"]'::jsonb), ('q6', '["q1", "q3", "q5"]')) AS u(id, parents), LATERAL clutch.ingest(jsonb_build_object('protocol', 'multiagent-1.0', 'role', 'user',
	'agent', '{"id": "ui"}'::jsonb, 'intent', 'execute', 'task', 'more', 'content', '{"type": "text", "text": "and now?"}'::jsonb, 'trace', jsonb_build_object('id', id, 'parents', parents)), context => '{"to": "agent:wren"}') AS r;
SELECT is((SELECT count(DISTINCT t.task_id) || ' ' || bool_and(t.run_id = s.run_id) FROM said s, more m JOIN clutch.tasks t USING (task_id) WHERE t.parent_task_id = s.task_id), '2 true', 'what a user says later are requests below the task');
SELECT is((SELECT clutch.outbound(e.envelope, 'multiagent') #> '{trace,parents}' FROM more m JOIN clutch.events e USING (seq) ORDER BY seq LIMIT 1), '["q1", "q3"]', 'whose parents come back');

SELECT FROM clutch.claim('agent:wren') \g /dev/null
INSERT INTO more SELECT r.* FROM (VALUES ('qa', 'plan', '["q1", "q3", "q5"]'::jsonb), ('qb', 'finalize', '["q1", "q3", "q5", "qa"]')) AS u(id, intent, parents), LATERAL clutch.ingest(jsonb_build_object('protocol', 'multiagent-1.0', 'role', 'agent',
	'agent', '{"id": "wren"}'::jsonb, 'intent', intent, 'task', 'it', 'content', '{"type": "text", "text": "so"}'::jsonb, 'trace', jsonb_build_object('id', id, 'parents', parents))) AS r;
SELECT is((SELECT string_agg((r.task_id = q.task_id)::text, ' ' ORDER BY r.seq) FROM more r, (SELECT task_id FROM more ORDER BY seq LIMIT 1) AS q WHERE r.seq > (SELECT seq FROM more ORDER BY seq OFFSET 1 LIMIT 1)), 'true true', 'what is said then is about the last of them that was replied to');
SELECT is((SELECT fixture.state(task_id) FROM more ORDER BY seq LIMIT 1), 'completed agent:wren 1', 'and ends it');

-- an answer to a request that was never foreign
SELECT FROM clutch.register(fixture.card('heron'));
SELECT seq FROM clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:heron}', id => 'msg_ours', run_id => 'run:ours', task_id => 'task:ours')) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:heron', 9) \g /dev/null
SELECT is((SELECT r.task_id || ' ' || r.late FROM clutch.events q, LATERAL clutch.ingest(jsonb_build_object('protocol', 'multiagent-1.0', 'role', 'agent', 'agent', '{"id": "heron"}'::jsonb, 'intent', 'finalize',
	'task', 'do', 'content', '{"type": "text"}'::jsonb, 'trace', jsonb_build_object('id', 'q7', 'parents', jsonb_build_array(clutch.outbound(q.envelope, 'multiagent') #> '{trace,id}')))) AS r WHERE q.id = 'msg_ours'),
	'task:ours false', 'names it by the ID that its document had');

-- what a tool returned, before and after its call
SELECT is((SELECT string_agg(e ->> 'type', ' ' ORDER BY i) FROM clutch.inbound(jsonb_set(raw, '{trace,parents}', '["m77"]'), 'multiagent') WITH ORDINALITY AS t(e, i)), 'tool.call tool.result', 'a result has the call that it needs')
FROM fixture.sample WHERE name = 'the result of a tool';
SELECT is((SELECT e #>> '{meta,clutch,reply_to}' FROM clutch.inbound(raw || '{"timestamp": "2026-02-02T00:00:00Z"}', 'multiagent') AS e WHERE e ->> 'type' = 'tool.result'),
	(SELECT e ->> 'id' FROM clutch.inbound(raw || '{"timestamp": "2026-02-02T00:00:00Z"}', 'multiagent') AS e WHERE e ->> 'type' = 'tool.call'), 'and replies to it')
FROM fixture.sample WHERE name = 'the result of a tool without parents';

SELECT is(e ->> 'type', 'task.progress', 'what an agent says in a task of the context is about that task')
FROM fixture.sample, clutch.inbound(raw, 'multiagent', '{"task_id": "task:7"}') AS e WHERE name = 'a plan';
SELECT is((SELECT string_agg(e ->> 'type', ' ' ORDER BY n) FROM unnest(ARRAY['[]', '[{}]', '["sum up"]', '[{"intent": "summarize"}, {"task": null}, {"task": " \t"}]', '[{}, {"task": "sum up"}]', '[{"task": 7}]']::jsonb[]) WITH ORDINALITY a(actions, n),
	clutch.inbound(jsonb_build_object('protocol', 'multiagent-1.0', 'role', 'agent', 'agent', '{"id": "wren"}'::jsonb, 'intent', 'execute', 'task', 'fetch', 'content', '{"type": "text"}'::jsonb, 'outputs', jsonb_build_object('next_actions', actions)),
		'multiagent', '{"task_id": "task:7"}') e), 'task.result task.result task.result task.result task.progress task.progress', 'an action that says nothing to do keeps no task from ending');
SELECT is(fixture.fault($$SELECT clutch.inbound('{"protocol": "multiagent-1.0", "role": "robot", "intent": "plan", "task": "x", "content": {"type": "text"}}')$$), 'KL014 WRONG_VALUE /role', 'roles are those of the protocol');
SELECT is(fixture.fault($$SELECT clutch.inbound('{"protocol": "multiagent-1.0", "role": "user", "intent": "plan", "task": "x"}')$$), 'KL014 REQUIRED /content', 'a message has content');
SELECT is(e #>> '{payload,agent_id}' || ' ' || (e #>> '{payload,display,name}'), 'agent:mux Mux', 'a handshake registers who sends it')
FROM fixture.sample, clutch.inbound(raw, 'multiagent') AS e WHERE name = 'a handshake';
SELECT seq AS handshake FROM clutch.ingest('{"protocol": "multiagent-1.0", "role": "system", "agent": {"id": "orchestrator", "name": "Mux", "model": "n/a"},
	"timestamp": "2025-10-10T12:00:00Z", "intent": "reflect", "task": "Announce envelope support and capabilities",
	"content": {"type": "json", "data": {"supports": ["text", "json", "tool_result"], "max_tokens": 16000}}, "confidence": {"score": 0.9}}') \gset
SELECT is((SELECT concat_ws(' ', type, from_agent, envelope #>> '{payload,agent_id}') FROM clutch.events WHERE seq = :handshake),
	'agent.register agent:orchestrator agent:orchestrator', 'so does that of spec 001, word for word, and the door takes it');
SELECT is((SELECT eligible || ' ' || detail FROM clutch.explain_route(clutch.envelope('task.request', 'agent:ui', payload => '{"q": 1}')) WHERE agent_id = 'agent:orchestrator'),
	'false is the orchestrator, which does no tasks', 'but the orchestrator is given no task, even one that requires nothing');
CREATE FUNCTION pg_temp.announces(at text, data jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT FROM clutch.ingest(jsonb_build_object('protocol', 'multiagent-1.0', 'role', 'system', 'agent', '{"id": "wren"}'::jsonb, 'timestamp', at, 'intent', 'reflect', 'task', 'Announce', 'content', jsonb_build_object('type', 'json', 'data', '{"supports": ["text"]}' || data)));
	SELECT capabilities::text FROM clutch.agents WHERE agent_id = 'agent:wren';
$$;
SELECT is(pg_temp.announces('2026-11-22T10:01:00Z', '{"card": {"v": "clutch/0.1", "agent_id": "agent:wren", "capabilities": [{"id": "skill:sing"}]}}') || pg_temp.announces('2026-11-22T10:02:00Z', '{}'), '{skill:sing}{}', 'each handshake brings its own card, or one without capabilities');
SELECT is((clutch.unregister('agent:orchestrator')).duplicate, false, 'it can be removed');

SELECT is(concat_ws(' ', d ->> 'role', d #>> '{content,type}', d #>> '{content,text}', d #>> '{content,data,code}'), 'agent error late TIMEOUT', 'a task.timeout is an error')
FROM fixture.native, clutch.outbound(envelope, 'multiagent') AS d WHERE name = 'task.timeout';

SELECT is(d #> '{inputs,resources}' || (d #> '{content,data}'), '[{"type": "tool", "id": "mcp:files"}, {"path": "/a"}]', 'a tool that never was foreign is a resource')
FROM fixture.native, clutch.outbound(envelope, 'multiagent') AS d WHERE name = 'tool.call';
SELECT is(concat_ws(' ', d ->> 'task', d #>> '{content,type}', d #>> '{content,text}'), 'hi json hi', 'and a text the text of the content')
FROM fixture.native, clutch.outbound(envelope, 'multiagent') AS d WHERE name = 'chat.message';

SELECT is(e #>> '{to,0,agent_id}', 'agent:scraper', 'the call that a result needs goes to who answers it')
FROM fixture.sample, clutch.inbound(jsonb_set(raw, '{trace,parents}', '["m78"]'), 'multiagent') AS e WHERE name = 'the result of a tool' AND e ->> 'type' = 'tool.call';

-- an envelope that was never foreign, with an intent, as rules make them
SELECT is(concat_ws(' ', d ->> 'intent', d ->> 'timestamp', d -> 'agent', clutch.outbound(e || '{"meta": {"multiagent": {"intent": "reflect", "agent": {"name": "Kenneth", "model": "gpt-5"}}}}', 'multiagent') -> 'agent'),
	'reflect 2026-02-01T13:20:11.123Z {"id": "ken", "name": "ken", "model": "n/a"} {"id": "ken", "name": "Kenneth", "model": "gpt-5"}', 'has what the protocol requires')
FROM fixture.native, LATERAL (VALUES (envelope || '{"meta": {"multiagent": {"intent": "reflect"}}}')) AS v(e), LATERAL clutch.outbound(e, 'multiagent') AS d WHERE name = 'task.request';

SELECT is(string_agg(e ->> 'type', ' ' ORDER BY content), 'tool.call task.progress', 'the result of a tool that an agent repeats is no call')
FROM unnest('{json,tool_result}'::text[]) AS content, LATERAL clutch.inbound(jsonb_build_object('protocol', 'multiagent-1.0', 'role', 'agent', 'agent', '{"id": "wren"}'::jsonb, 'timestamp', '2026-11-22T10:00:00Z',
	'intent', 'tool.call', 'task', 'scrape', 'content', jsonb_build_object('type', content, 'data', '{"ok": true}'::jsonb), 'trace', '{"id": "t1", "parents": ["q1"]}'::jsonb)) AS e;

-- a message of LangGraph has type and content, too, but none names another protocol
SELECT is(clutch.can_handle('{"protocol": "multiagent-1.0", "type": "ai", "content": {"type": "text"}, "role": "agent", "intent": "plan", "task": "t"}'), 'multiagent',
	'the protocol that a document names comes before its form');

-- any count of tokens that an envelope may have
SELECT is(jsonb_build_array(e #> '{meta,clutch,usage,input_tokens}', clutch.outbound(e, 'multiagent') = d), jsonb_build_array(n, true), 'a message that has cost ' || n || ' tokens')
FROM unnest('{4611686018427387904,0.5}'::numeric[]) AS n, LATERAL (SELECT jsonb_build_object('protocol', 'multiagent-1.0', 'role', 'agent', 'agent', '{"id": "wren"}'::jsonb, 'timestamp', '2026-11-22T10:00:00Z',
	'intent', 'plan', 'task', 't', 'content', '{"type": "text", "text": "x"}'::jsonb, 'trace', jsonb_build_object('id', 't2', 'cost', jsonb_build_object('input_tokens', n)))) AS v(d), LATERAL clutch.inbound(d) AS e;
SELECT is(fixture.carries(envelope || '{"meta": {"clutch": {"usage": {"input_tokens": 0.5, "cost": 1}}}}', 'multiagent'), 'the same', 'a part of a token that never was foreign is kept')
FROM fixture.native WHERE name = 'task.progress';
SELECT is(fixture.fault($$SELECT clutch.inbound('{"protocol": "multiagent-1.0", "role": "agent", "agent": {"id": "wren"}, "intent": "plan", "task": "t", "content": {"type": "text"}, "trace": {"cost": {"output_tokens": -1}}}')$$),
	'KL014 NUMBER_OUT_OF_RANGE /trace/cost/output_tokens', 'but not less than none');
SELECT * FROM finish();
