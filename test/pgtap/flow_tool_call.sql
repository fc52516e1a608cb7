-- Which tools an agent may call: those of its card, of the request, and of the message.
\ir ../fixtures/tap.sql
SELECT plan(25);
SET clutch.notify = off;
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "capabilities": [
	{"id": "skill:x", "tools": ["mcp:browser", "mcp:files"]}, {"id": "tool:mcp", "servers": ["mcp:mail"]}, {"id": "tool:grep"}], "limits": {"max_concurrency": 9}}'),
	fixture.agent('plain', 9, '{skill:y}') \g /dev/null
CREATE FUNCTION pg_temp.call(agent text, tool text, task text DEFAULT 'task:none', policy jsonb DEFAULT NULL, id text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT fixture.fault(format('SELECT clutch.send(%L)', clutch.envelope('tool.call', agent, payload => jsonb_build_object('tool', tool, 'args', '{}'::jsonb),
		id => call.id, run_id => 'run:1', thread_id => 'thread:1', task_id => task, security => CASE WHEN policy IS NOT NULL THEN jsonb_build_object('policy', policy) END)))
$$;
CREATE FUNCTION pg_temp.words(agent text, tool text, task text DEFAULT 'task:none', policy jsonb DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
BEGIN
	PERFORM clutch.send(clutch.envelope('tool.call', agent, payload => jsonb_build_object('tool', tool, 'args', '{}'::jsonb),
		run_id => 'run:1', thread_id => 'thread:1', task_id => task, security => CASE WHEN policy IS NOT NULL THEN jsonb_build_object('policy', policy) END));
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;

-- -------------------------------------------------------------------- the card
SELECT is(pg_temp.call('agent:ken', 'mcp:browser'), 'no error', 'a tool of a capability may be called');
SELECT is(pg_temp.call('agent:ken', 'mcp:mail'), 'no error', 'a server too');
SELECT is(pg_temp.call('agent:ken', 'tool:files'), 'no error', 'tool:x is the same tool as mcp:x');
SELECT is(pg_temp.call('agent:ken', 'tool:grep'), 'no error', 'and a capability tool:x is a tool');
SELECT is(pg_temp.call('agent:ken', 'mcp:shell'), '42501 TOOL_NOT_ALLOWED /payload/tool', 'another one is refused');
SELECT is(pg_temp.words('agent:ken', 'mcp:shell'), '"agent:ken" may not call "mcp:shell": its card does not name that tool', 'because of the card');
SELECT is(pg_temp.call('agent:ken', 'mcp:browser/fetch'), 'no error', 'a server stands for its tools');
SELECT is(pg_temp.call('agent:ken', 'mcp:browserless/fetch'), '42501 TOOL_NOT_ALLOWED /payload/tool', 'but not for those of another one');
SELECT is(pg_temp.call('agent:plain', 'mcp:browser'), '42501 TOOL_NOT_ALLOWED /payload/tool', 'a card without tools allows none');
SELECT is(pg_temp.call('agent:ui', 'mcp:shell'), 'no error', 'a sender without a card has no list of its own');
SELECT is((SELECT count(*) FROM clutch.events WHERE type = 'tool.call' AND envelope #>> '{payload,tool}' = 'mcp:shell'), 1::bigint, 'what is refused is not in the log');

-- the orchestrator, whose card is that of spec 001's handshake
SELECT clutch.ingest('{"protocol": "multiagent-1.0", "role": "system", "agent": {"id": "orchestrator", "name": "Mux", "model": "n/a"}, "timestamp": "2025-10-10T12:00:00Z", "intent": "reflect",
	"task": "Announce envelope support and capabilities", "content": {"type": "json", "data": {"supports": ["text", "json", "tool_result"]}}}') \g /dev/null
SELECT is(pg_temp.call('agent:orchestrator', 'mcp:shell'), 'no error', 'the card of the orchestrator offers nothing, and forbids nothing');
SELECT is(fixture.fault($$ SELECT clutch.ingest('{"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "found"}]}}') $$), 'no error', 'so a result of a tool whose call nobody has sent is taken in');

-- ----------------------------------------------------------------- the request
SELECT fixture.ask('task:1', more => '{"security": {"policy": {"tool_allowlist": ["mcp:browser", "mcp:files", "mcp:shell"]}}}'), fixture.ask('task:2') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(pg_temp.call('agent:ken', 'mcp:browser', 'task:1'), 'no error', 'the request of the task allows a tool');
SELECT is(pg_temp.call('agent:ken', 'mcp:mail', 'task:1'), '42501 TOOL_NOT_ALLOWED /payload/tool', 'but not all of the card');
SELECT is(pg_temp.words('agent:ken', 'mcp:mail', 'task:1'), '"agent:ken" may not call "mcp:mail": the allowlist of the request of task "task:1" does not have that tool', 'because of the request');
SELECT is(pg_temp.call('agent:ken', 'mcp:shell', 'task:1'), '42501 TOOL_NOT_ALLOWED /payload/tool', 'which does not widen the card');
SELECT is(pg_temp.call('agent:ui', 'mcp:mail', 'task:1'), '42501 TOOL_NOT_ALLOWED /payload/tool', 'it holds for every sender');
SELECT is(pg_temp.call('agent:ken', 'mcp:mail', 'task:2'), 'no error', 'another task has no list');

-- ----------------------------------------------------------------- the message
SELECT is(pg_temp.words('agent:ken', 'mcp:mail', policy => '{"tool_allowlist": ["mcp:files"]}'), '"agent:ken" may not call "mcp:mail": the allowlist of the message does not have that tool', 'a message may have a list itself');
SELECT is(pg_temp.call('agent:ken', 'mcp:files', policy => '{"tool_allowlist": ["mcp:files"]}'), 'no error', 'which it may keep to');
SELECT is(pg_temp.call('agent:ken', 'mcp:files/read', policy => '{"tool_allowlist": ["mcp:files/write"]}'), '42501 TOOL_NOT_ALLOWED /payload/tool', 'and which may name one tool of a server');

-- ------------------------------------------------------------- resends, rebuild
SELECT is(pg_temp.call('agent:ken', 'mcp:mail', id => 'msg_mail'), 'no error', 'a call is kept');
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "capabilities": [{"id": "skill:x", "tools": ["mcp:browser", "mcp:files"]}], "limits": {"max_concurrency": 9}}') \g /dev/null
SELECT is(pg_temp.call('agent:ken', 'mcp:mail', id => 'msg_mail'), 'no error', 'and a resend of it is a duplicate, even if the card has changed');
SELECT clutch.rebuild() \g /dev/null
SELECT is((SELECT string_agg(task_id, ' ') FROM clutch.task WHERE limits_tools), 'task:1', 'a rebuild knows whose request has a list');
