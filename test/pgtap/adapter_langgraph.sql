-- LangGraph: events, chunks of streams, messages, requests for runs.
\ir ../fixtures/tap.sql
\set adapter langgraph
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 48);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

-- ------------------------------------------------- a graph works on a task
-- its nodes take places, too
SELECT fixture.agent('graph', 9, ARRAY['skill:x', 'tool:find']);
SELECT fixture.ask('task:g', 'agent:graph');
CREATE TABLE asked AS SELECT clutch.outbound(fixture.request('task:g', 'agent:graph'), 'langgraph') AS run;
SELECT is(run - 'clutch', '{"assistant_id": "graph", "input": {"q": 1}, "config": {"configurable": {"thread_id": "thread:1"}},
	"metadata": {"clutch_run": "run:1", "clutch_task": "task:g", "clutch_thread": "thread:1"}}', 'a request becomes one for a run') FROM asked;

-- an event of the run, which has its metadata
CREATE FUNCTION pg_temp.event(event text, name text, run text, data jsonb, node text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('event', event, 'name', name, 'run_id', run, 'data', data, 'tags', '[]'::jsonb,
		'parent_ids', CASE WHEN node IS NULL THEN '[]' ELSE '["r1"]' END::jsonb,
		'metadata', (SELECT asked.run -> 'metadata' FROM asked) || '{"thread_id": "thread:1"}'
			|| CASE WHEN node IS NULL THEN '{}' ELSE jsonb_build_object('langgraph_node', node, 'langgraph_checkpoint_ns', node || ':11-22') END)
$$;
CREATE FUNCTION pg_temp.took(raw jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	taken bigint[] := (SELECT array_agg(r.seq ORDER BY r.seq) FROM clutch.ingest(raw, NULL, '{"agent_id": "agent:graph"}') AS r);
BEGIN
	RETURN (SELECT string_agg(e.type, ', ' ORDER BY e.seq) FROM clutch.events e WHERE e.seq = ANY (taken));
END $$;
SELECT is(pg_temp.took(pg_temp.event('on_chain_start', 'LangGraph', 'r1', '{"input": {}}')), 'task.accept', 'the run begins');
SELECT is(fixture.state('task:g'), 'running agent:graph 1', 'and so the task does');
SELECT is(pg_temp.took(pg_temp.event('on_chain_start', 'plan', 'r2', '{"input": {}}', 'plan')), 'task.request, task.accept', 'a node is a task of its own');
SELECT is((SELECT string_agg(concat_ws(' ', t.parent_task_id, t.status, t.agent_id), ', ') FROM clutch.tasks t WHERE t.parent_task_id = 'task:g'),
	'task:g running agent:graph', 'below that of the run');
SELECT is(pg_temp.took(pg_temp.event('on_chat_model_stream', 'model', 'r3', '{"chunk": {}}', 'plan')), NULL, 'pieces are left out');
SELECT is(pg_temp.took(pg_temp.event('on_tool_end', 'find', 'r4', '{"output": "x"}', 'plan')), 'tool.call, tool.result', 'a result that comes alone has its call made up');
SELECT is((SELECT count(*)::int FROM clutch.events e JOIN clutch.events c ON c.id = e.envelope #>> '{meta,clutch,reply_to}' WHERE e.type = 'tool.result' AND c.type = 'tool.call' AND e.run_id = 'run:1'), 1, 'and names it');
SELECT is(pg_temp.took(pg_temp.event('on_tool_start', 'find', 'r5', '{"input": {}}', 'plan')), 'tool.call', 'a call');
SELECT is(pg_temp.took(pg_temp.event('on_tool_end', 'find', 'r5', '{"output": "y"}', 'plan')), 'tool.result', 'and its result');
SELECT is(pg_temp.took(pg_temp.event('on_chain_end', 'plan', 'r2', '{"output": {"n": 1}}', 'plan')), 'task.result', 'the node is over');
SELECT is(pg_temp.took(pg_temp.event('on_chain_end', 'LangGraph', 'r1', '{"output": {"__interrupt__": [{"value": "Go on?"}]}}')), 'task.progress', 'the run is interrupted');
SELECT is(fixture.state('task:g'), 'input_required agent:graph 1', 'so the task waits for an answer');
SELECT clutch.answer('task:g', '{"content": "yes"}', 'agent:ui');
SELECT is((SELECT clutch.outbound(e.envelope, 'langgraph') #> '{command,resume}' FROM clutch.events e WHERE e.type = 'chat.message' AND e.task_id = 'task:g'),
	'{"content": "yes"}', 'the answer becomes a command');
SELECT is(pg_temp.took(pg_temp.event('on_chain_start', 'LangGraph', 'r6', '{"input": null}')), 'task.accept', 'the graph goes on');
SELECT is(pg_temp.took(pg_temp.event('on_chain_end', 'LangGraph', 'r6', '{"output": {"done": true}}')), 'task.result', 'and is over');
SELECT is(fixture.state('task:g'), 'completed agent:graph 2', 'and so is the task');

-- a graph in JavaScript that runs for no task: only its own events have the ID of the run
SELECT fixture.agent('LangGraph', 9, ARRAY['skill:x']);
CREATE FUNCTION pg_temp.alone(event text, data jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	at bigint := (SELECT seq FROM clutch.ingest(jsonb_build_object('event', event, 'name', 'LangGraph', 'run_id', 'j1', 'data', data, 'tags', '[]'::jsonb, 'metadata', '{"thread_id": "t-js"}'::jsonb)));
	of_node text := (SELECT i ->> 'run_id' FROM clutch.inbound('{"event": "on_custom_event", "name": "x", "run_id": "j2", "data": {}, "metadata": {"thread_id": "t-js", "langgraph_node": "plan", "langgraph_checkpoint_ns": "plan:77-1"}}') AS i);
BEGIN
	RETURN (SELECT concat_ws(' ', e.type, e.late, e.run_id = of_node) FROM clutch.events e WHERE e.seq = at);
END $$;
SELECT is(pg_temp.alone('on_chain_start', '{"input": {}}'), 'task.request f t', 'a graph run is a request, in the run of its nodes');
SELECT is(pg_temp.alone('on_custom_event', '{"half": true}') || ', ' || pg_temp.alone('on_chain_end', '{"output": {}}'), 'task.progress f t, task.result f t', 'its end is the result');
SELECT is((SELECT string_agg(status, ' ') FROM clutch.tasks WHERE agent_id = 'agent:LangGraph'), 'completed', 'of the same task');

SELECT is(concat_ws(' ', d ->> 'event', d #>> '{data,error}', d #>> '{data,message}'), 'error TIMEOUT late', 'a task.timeout is an error')
FROM fixture.native, clutch.outbound(envelope, 'langgraph') AS d WHERE name = 'task.timeout';

-- the end of a run that has asked, as LangGraph writes it, does not tell that it has
SELECT fixture.ask('task:h', 'agent:graph');
SELECT fixture.claimed('agent:graph');
SELECT is((SELECT string_agg(i ->> 'type', ' ') FROM unnest(ARRAY['{}', '{"interrupted": false}', '{"interrupted": true}']::jsonb[]) WITH ORDINALITY AS c(c, no),
	clutch.inbound('{"event": "on_chain_end", "name": "LangGraph", "run_id": "r9", "data": {"output": {"messages": []}}, "metadata": {}}', context => c || '{"agent_id": "agent:graph", "task_id": "task:h"}') AS i),
	'task.result task.result task.progress', 'the end of a run that has asked is none if the context says that it has');
SELECT is((SELECT i ->> 'type' FROM clutch.inbound('{"event": "on_chain_end", "name": "plan", "run_id": "r9", "tags": ["graph:step:1"], "data": {"output": {}}, "metadata": {"langgraph_node": "plan", "langgraph_checkpoint_ns": "plan:1-1"}}',
	context => '{"agent_id": "agent:graph", "task_id": "task:h", "interrupted": true}') AS i), 'task.result', 'but that of a node is one');

-- subgraphs
CREATE FUNCTION pg_temp.below(raw jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT CASE e ->> 'parent_task_id' WHEN 'task:h' THEN 'the run' ELSE coalesce((SELECT 'the subgraph' FROM clutch.inbound('["tasks", {"id": "22-22", "name": "sub", "input": {}, "triggers": [], "interrupts": []}]',
		context => '{"agent_id": "agent:graph", "task_id": "task:h"}') AS s WHERE s ->> 'task_id' = e ->> 'parent_task_id' LIMIT 1), 'elsewhere') END
	FROM fixture.made(raw, 'langgraph', '{"agent_id": "agent:graph", "task_id": "task:h"}') AS e
$$;
SELECT is(pg_temp.below(raw), below, name) FROM (VALUES
	('the run', 'a task of the graph is below that of the run', '["tasks", {"id": "33-33", "name": "n", "input": {}, "triggers": [], "interrupts": []}]'::jsonb),
	('the subgraph', 'a task of a subgraph is below that of the subgraph', '[["sub:22-22"], "tasks", {"id": "33-33", "name": "n", "input": {}, "triggers": [], "interrupts": []}]'),
	('the subgraph', 'and so it is in an event of a server', '{"event": "tasks|sub:22-22", "data": {"id": "33-33", "name": "n", "input": {}, "triggers": [], "interrupts": []}}'),
	('the subgraph', 'and in a stream event, whatever the metadata of the run say', '{"event": "on_chain_start", "name": "n", "run_id": "r10", "data": {"input": {}},
		"metadata": {"clutch_task": "task:h", "langgraph_node": "n", "langgraph_checkpoint_ns": "sub:22-22|n:33-33"}}')) AS t(below, name, raw);
SELECT is((SELECT count(*)::int FROM clutch.ingest('["tasks", {"id": "44-44", "name": "n", "input": {}, "triggers": [], "interrupts": []}]', context => '{"agent_id": "agent:graph", "task_id": "task:h"}')
	UNION ALL SELECT count(*)::int FROM clutch.ingest('["debug", {"step": 1, "type": "task", "timestamp": "2026-02-01T10:20:30Z", "payload": {"id": "44-44", "name": "n", "input": {}, "triggers": [], "interrupts": []}}]',
		context => '{"agent_id": "agent:graph", "task_id": "task:h"}') ORDER BY 1 DESC LIMIT 1), 2, 'a stream with the modes tasks and debug says the same of a task twice');

-- classes of messages, in both dialects
SELECT is(string_agg(concat_ws(' ', flat, a ->> 'type', a #>> '{from,role}', b ->> 'type', b #>> '{from,role}'), ', ' ORDER BY i),
	'ai chat.message worker chat.message worker, human chat.message user chat.message user, system chat.system system chat.system system, chat chat.message chat.message, generic chat.message chat.message, function chat.message chat.message, remove chat.message chat.message, ' ||
	'AIMessageChunk task.progress task.progress, HumanMessageChunk task.progress task.progress, SystemMessageChunk task.progress task.progress, ToolMessageChunk task.progress task.progress, ChatMessageChunk task.progress task.progress, FunctionMessageChunk task.progress task.progress', 'each class of messages is known')
FROM unnest('{ai,human,system,chat,generic,function,remove,AIMessageChunk,HumanMessageChunk,SystemMessageChunk,ToolMessageChunk,ChatMessageChunk,FunctionMessageChunk}'::text[],
		'{AIMessage,HumanMessage,SystemMessage,ChatMessage,ChatMessage,FunctionMessage,RemoveMessage,AIMessageChunk,HumanMessageChunk,SystemMessageChunk,ToolMessageChunk,ChatMessageChunk,FunctionMessageChunk}'::text[]) WITH ORDINALITY AS t(flat, class, i),
	LATERAL (SELECT fixture.made(jsonb_build_object('type', flat, 'content', 'x', 'id', 'm'), 'langgraph', '{"stream": true}'),
		fixture.made(jsonb_build_object('lc', 1, 'type', 'constructor', 'id', jsonb_build_array('langchain_core', class), 'kwargs', '{"content": "x", "id": "m"}'::jsonb), 'langgraph', '{"stream": true}')) AS m(a, b);
-- what the server in JavaScript makes of a message of blocks has no content
SELECT is((SELECT string_agg(e ->> 'type', ', ') FROM fixture.sample s, clutch.inbound(s.raw) AS e WHERE s.name = 'a message of blocks'), 'chat.message, tool.call', 'a message of blocks is one');
-- a stream of events passes on the chunks of the graph in the form that they have in its stream
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e #>> '{payload,state}', e #>> '{payload,interrupts,0,id}'), ', ') FROM fixture.sample s, clutch.inbound(jsonb_set(s.raw, '{data,chunk}', chunk)) AS e
	WHERE s.name = 'a stream of several modes waits for an answer'), wanted, 'a chunk ' || chunk::text || ' of an event')
FROM (VALUES ('{"__interrupt__": [{"id": "i"}]}'::jsonb, 'task.progress input_required i'), ('["updates", {"__interrupt__": [{"id": "i"}]}]', 'task.progress input_required i'),
	('[["sub:1"], {"__interrupt__": [{"id": "i"}]}]', 'task.progress input_required i'), ('[[], "values", {"__interrupt__": [{"id": "i"}]}]', 'task.progress input_required i'), ('["values", {"a": 1}]', NULL)) AS v(chunk, wanted);
-- what is made up
SELECT is((SELECT string_agg(concat_ws(' ', e ->> 'type', e #>> '{meta,langgraph,native,id}', e #>> '{from,agent_id}'), ', ') FROM fixture.sample s, clutch.inbound(s.raw, NULL, '{"run_id": "run:fresh"}') AS e WHERE s.name = 'a node begins'),
	'task.request 7d2f6a10-5b1c-4c1e-9a55-0c6f1f0a7901/request agent:orchestrator, task.accept 7d2f6a10-5b1c-4c1e-9a55-0c6f1f0a7013/start agent:plan', 'the request of a node is one');
SELECT is((SELECT string_agg(e #>> '{from,agent_id}', ' ') FROM fixture.sample s, clutch.inbound(jsonb_set(s.raw, '{1,0}', '{"type": "tool", "content": "x", "tool_call_id": "call_77"}'), NULL, '{"run_id": "run:fresh"}') AS e WHERE s.name = 'a message and its metadata'),
	'agent:plan agent:plan', 'a call is made up in the name of who answers');
SELECT is((SELECT e ->> 'parent_task_id' FROM fixture.sample s, clutch.inbound(s.raw, NULL, '{"task_id": "task:ours"}') AS e WHERE s.name = 'a node begins' AND e ->> 'type' = 'task.accept'), 'task:ours', 'a node works for the task of the context');

-- who asks for a run is not who does it
SELECT is((SELECT string_agg(concat_ws(' ', e #>> '{from,agent_id}', e #>> '{to,0,agent_id}'), ', ' ORDER BY no) FROM unnest(ARRAY['{}', '{"to": "agent:other"}']::jsonb[]) WITH ORDINALITY AS c(c, no),
	clutch.inbound('{"assistant_id": "lina", "input": {"a": 1}}', 'langgraph', c || '{"agent_id": "agent:client"}') AS e), 'agent:client agent:lina, agent:client agent:other', 'a run is requested from the assistant, unless the context names a recipient');
SELECT is(fixture.shown(fixture.made(clutch.outbound(e, 'langgraph'), 'langgraph', '{"agent_id": "agent:ken"}'), e), 'the same', 'a request that was never foreign keeps its recipient if the context names its sender')
FROM clutch.envelope('task.request', 'agent:ken', '{agent:lina}', payload => '{"a": 1}', requires => '{skill:x}') AS e;

-- a server numbers the documents of each stream from 0 on
SELECT fixture.ask('task:numbers', 'agent:graph');
SELECT fixture.claimed('agent:graph');
SELECT is(string_agg(CASE WHEN r.duplicate THEN 'again' ELSE 'new' END, ' ' ORDER BY v.n), 'new new again again', 'the stream of a run that is resumed may number its documents as the first one did')
FROM (VALUES (1, '{"event": "values", "data": {"a": 1}, "id": "1"}'::jsonb), (2, '{"event": "values", "data": {"a": 2}, "id": "1"}'), (3, '{"event": "values", "data": {"a": 1}, "id": "1"}'), (4, '{"event": "values", "data": {"a": 2}, "id": "1"}')) AS v(n, raw),
	LATERAL clutch.ingest(v.raw, 'langgraph', '{"agent_id": "agent:graph", "task_id": "task:numbers"}') AS r;

SELECT is(string_agg(CASE WHEN r.duplicate THEN 'again' ELSE 'new' END, ' ' ORDER BY v.n), 'new new again', 'the number in the context tells equal documents apart')
FROM (VALUES (1, 7), (2, 8), (3, 7)) AS v(n, seq),
	LATERAL clutch.ingest('{"event": "values", "data": {"a": 3}, "id": "1"}', 'langgraph', jsonb_build_object('agent_id', 'agent:graph', 'task_id', 'task:numbers', 'seq', v.seq)) AS r;

SELECT is_empty($$SELECT clutch.inbound('{"event": "end", "data": null}')$$, 'the end of a stream is left out');

-- an envelope of ours that comes back is the same one with the number of its document
SELECT is(r.duplicate, true, format('a %s of ours comes back with a number in the context as it was', type))
FROM unnest('{task.request,chat.message}'::text[]) AS type,
	LATERAL clutch.envelope(type, 'agent:ui', id => 'msg_seq_' || type, run_id => 'run:seq', thread_id => 'thread:seq', task_id => CASE WHEN type LIKE 'task.%' THEN 'task:seq' END,
		payload => '{"text": "x"}') AS e,
	LATERAL clutch.send(e) AS sent, LATERAL clutch.outbound(CASE WHEN sent.seq IS NOT NULL THEN e END, 'langgraph') AS d,
	LATERAL clutch.ingest(d, 'langgraph', '{"seq": 3}') AS r;

-- a model may give its calls no IDs, and forget the name of a tool
SELECT is(string_agg(concat_ws(' ', e ->> 'type', e #>> '{payload,tool}'), ', '), made, 'a message with empty names: ' || (d ->> 'type'))
FROM (VALUES ('{"type": "ai", "content": "", "id": "a1", "tool_calls": [{"name": "read", "args": {}, "id": ""}, {"name": "", "args": {}, "id": ""}]}'::jsonb, 'chat.message, tool.call tool:read, tool.call tool:unknown'),
	('{"type": "tool", "content": "no such tool", "id": "t1", "tool_call_id": "", "name": ""}', 'tool.call tool:unknown, tool.result'),
	('{"type": "tool", "content": "no such tool", "tool_call_id": "", "name": "read", "status": "error"}', 'tool.call tool:read, tool.error')) AS v(d, made),
	LATERAL clutch.inbound(d, 'langgraph') AS e, LATERAL (SELECT true WHERE e #> '{meta,langgraph,stub}' IS NOT NULL OR e #> '{meta,langgraph,part_of}' IS NOT NULL OR clutch.outbound(e, 'langgraph') = d) AS back
GROUP BY d, made;

SELECT * FROM finish();
