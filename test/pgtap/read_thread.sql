-- What a conversation has come to (spec 003 6), as far as it may be seen.
\ir ../fixtures/tap.sql
SELECT plan(34);
SET clutch.notify = off;
CREATE FUNCTION pg_temp.card(name text, meta jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'capabilities', '[{"id": "skill:x"}]'::jsonb, 'limits', '{"max_concurrency": 9}'::jsonb, 'meta', meta)
$$;
SELECT clutch.register(pg_temp.card('ken', '{"context": true}')), clutch.register(pg_temp.card('lois')) \g /dev/null
CREATE FUNCTION pg_temp.ask(task text, whom text, run text, at timestamptz DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', ARRAY[whom], jsonb_build_object('goal', 'of ' || task), run_id => run, thread_id => 'thread:1', task_id => task,
		requires => '{skill:x}', meta => jsonb_strip_nulls(jsonb_build_object('clutch', jsonb_build_object('deadline', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))))))
$$;
CREATE FUNCTION pg_temp.context() RETURNS jsonb LANGUAGE sql AS $$ SELECT clutch.thread_context('thread:1') $$;
CREATE FUNCTION pg_temp.decided() RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_agg(CASE WHEN d ? 'name' THEN jsonb_build_object(d ->> 'name', d -> 'decision') ELSE d -> 'decision' END) FROM jsonb_array_elements(pg_temp.context() -> 'decisions') AS d
$$;

SELECT is(pg_temp.context(), NULL, 'a thread without events has no context');
SELECT pg_temp.ask('task:1', 'agent:ken', 'run:1', '2126-01-01'), pg_temp.ask('task:2', 'agent:lois', 'run:2', '2127-01-01') \g /dev/null
SELECT is(pg_temp.context() -> 'task', '{"goal": "of task:1"}', 'the task is that of the first request');
SELECT is(pg_temp.context() ->> 'initiator', 'agent:ui', 'and who sent it began the conversation');
SELECT is((pg_temp.context() ->> 'expires_at')::timestamptz, '2127-01-01 00:00Z', 'it ends with the last deadline');
SELECT is(pg_temp.context() -> 'decisions', '[]', 'nothing is decided yet');

-- an agent whose card asks for it gets it with its tasks
CREATE TEMP TABLE claimed AS SELECT * FROM clutch.claim('agent:ken');
SELECT is(context -> 'task', '{"goal": "of task:1"}', 'a claim brings the context') FROM claimed;
SELECT is((SELECT context FROM clutch.claim('agent:lois')), NULL, 'but not to an agent that did not ask for it');

-- decisions
SELECT clutch.progress('agent:ken', 'task:1', '{"decisions": ["use JSONL", {"why": "fast"}]}'), clutch.progress('agent:ken', 'task:1', '{"decisions": {"format": "CSV", "store": "disk"}}'),
	clutch.progress('agent:lois', 'task:2', '{"decisions": {"format": "JSONL"}, "decision": "ship"}') \g /dev/null
SELECT is(pg_temp.decided(), '["use JSONL", {"why": "fast"}, {"store": "disk"}, {"format": "JSONL"}, "ship"]', 'decisions in order; of two with one name the later stands');
SELECT clutch.progress('agent:lois', 'task:2', '{"decisions": {"format": null, "colour": null}, "decision": null}'), clutch.progress('agent:lois', 'task:2', '{"decisions": [null]}') \g /dev/null
SELECT is(pg_temp.decided(), '["use JSONL", {"why": "fast"}, {"store": "disk"}, {"format": "JSONL"}, "ship"]', 'null is no decision');
SELECT clutch.progress('agent:ken', 'task:1', '{"state": "input_required", "question": "Which?"}'), clutch.answer('task:1', '{"text": "The second"}', 'agent:ui') \g /dev/null
SELECT is((pg_temp.decided() -> -1) ->> 'text', 'The second', 'the answer to a question is a decision');
SELECT is(d ->> 'agent_id', 'agent:ui', 'of who answered') FROM jsonb_path_query(pg_temp.context(), '$.decisions[last]') AS d;
SELECT ok(late, 'a second answer comes late') FROM clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', '{"text": "The first"}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1',
	meta => jsonb_build_object('clutch', jsonb_build_object('answer_to', (SELECT e.id FROM clutch.events e WHERE e.envelope #>> '{payload,question}' = 'Which?')))));
SELECT is((pg_temp.decided() -> -1) ->> 'text', 'The second', 'and is none');
-- most clients do not say which question their message answers
SELECT clutch.claim('agent:ken'), clutch.progress('agent:ken', 'task:1', '{"state": "input_required", "question": "Where?"}') \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', '{"text": "There"}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1')) \g /dev/null
SELECT is((pg_temp.decided() -> -1) ->> 'text', 'There', 'a message that answers the question without naming it is a decision');
SELECT clutch.claim('agent:ken'), clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', '{"text": "Hurry"}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1')) \g /dev/null
SELECT is((pg_temp.decided() -> -1) ->> 'text', 'There', 'one that answers nothing is none');
SELECT clutch.progress('agent:ken', 'task:1', '{"state": "input_required", "question": "When?"}') \g /dev/null
SELECT clutch.ingest('{"jsonrpc": "2.0", "id": 9, "method": "SendMessage", "params": {"message": {"messageId": "m-1", "taskId": "task:1", "role": "ROLE_USER", "parts": [{"text": "Now"}]}}}', 'a2a', '{"agent_id": "agent:ui"}') \g /dev/null
SELECT is((pg_temp.decided() -> -1) ->> 'text', 'Now', 'nor need a document of another protocol name it');
SELECT clutch.claim('agent:ken') \g /dev/null
SELECT clutch.register(pg_temp.card('clark')), pg_temp.ask('task:9', 'agent:clark', 'run:9') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:clark') \g /dev/null
SELECT clutch.cancel('task:9', by_agent => 'agent:ui') \g /dev/null
SELECT ok(late, 'a report of a task that is over comes late') FROM clutch.finish('agent:clark', 'task:9', '{"decisions": {"format": "YAML"}, "decision": "stay"}');
SELECT ok(NOT pg_temp.decided() @? '$[*] ? (@.format == "YAML" || @ == "stay")', 'and decides nothing');

-- artifacts, participants
SELECT clutch.finish('agent:lois', 'task:2', '{}', attachments => '[{"kind": "uri", "ref": "https://example.com/a"}]') \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:lois,group:all,agent:perry}', '{"text": "see"}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1',
	attachments => '[{"kind": "uri", "ref": "https://example.com/a"}, {"kind": "uri", "ref": "https://example.com/b"}]')) \g /dev/null
SELECT is(jsonb_path_query_array(pg_temp.context(), '$.artifacts[*].ref'), '["https://example.com/a", "https://example.com/b"]', 'each artifact once');
SELECT is(pg_temp.context() #>> '{artifacts,0,agent_id}', 'agent:lois', 'by the agent that attached it first');
SELECT ok(pg_temp.context() -> 'participants' @> '["agent:ui", "agent:ken", "agent:lois", "agent:perry"]', 'who wrote, or was written to, takes part');
SELECT ok(NOT pg_temp.context() -> 'participants' ? 'group:all', 'a group is no participant');
SELECT is((pg_temp.context() ->> 'expires_at')::timestamptz, '2126-01-01 00:00Z', 'a task that is over sets no end');

-- whoever takes part can say much, and the claims of others bring no more than the newest of it
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', jsonb_build_object('decisions', (SELECT jsonb_object_agg('k' || n, n) FROM generate_series(1, 10000) n)), run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1')) \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', '{"decisions": {"k1": "last", "format": "XML"}}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1')) \g /dev/null
SELECT cmp_ok(length(pg_temp.context()::text), '<', 2000000, 'a context is no larger than an envelope or two');
SELECT is((pg_temp.context() ->> 'left_out')::int + jsonb_array_length(pg_temp.context() -> 'decisions'), 10008, 'and says how many decisions are left out');
SELECT is(jsonb_path_query_array(pg_temp.context(), '$.decisions[last - 1 to last].decision'), '["XML", "last"]', 'which are not the newest');
SELECT is(jsonb_path_query_array(pg_temp.context(), '$.decisions[*] ? (@.name == "k1" || @.name == "format").decision'), '["XML", "last"]', 'of two with one name still the later');

-- it is as visible as its runs
CREATE ROLE clutch_thread_lois;
SELECT clutch.grant_agent('clutch_thread_lois', 'agent:lois') \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', '{"decision": "a secret"}', run_id => 'run:3', thread_id => 'thread:1', task_id => 'task:3')) \g /dev/null
SELECT ok(pg_temp.context()::text LIKE '%a secret%', 'an operator sees every run of the thread');
SET ROLE clutch_thread_lois;
SELECT ok(clutch.thread_context('thread:1')::text NOT LIKE '%a secret%', 'a role does not see the runs that are not its own');
SELECT is(clutch.thread_context('thread:1') -> 'task' ->> 'goal', 'of task:1', 'but those that it takes part in');
RESET ROLE;
DROP OWNED BY clutch_thread_lois; DROP ROLE clutch_thread_lois;

-- a claim of several tasks of one thread reads it once
SELECT pg_temp.ask('task:' || i, 'agent:ken', 'run:1') FROM generate_series(11, 13) AS i \g /dev/null
SET track_functions = 'all';
BEGIN;
CREATE TEMP TABLE several AS SELECT * FROM clutch.claim('agent:ken', 3);
SELECT is(array_agg(DISTINCT context), ARRAY[pg_temp.context()], 'all tasks of a claim have the context') FROM several HAVING count(*) = 3;
SELECT is(calls::int, 2, 'which is read once') FROM pg_stat_xact_user_functions WHERE funcname = 'thread_context';
COMMIT;
RESET track_functions;

-- messages of spec 003 say what was decided before
SELECT clutch.ingest(jsonb_build_object('header', jsonb_build_object('messageId', id, 'type', 'REQUEST', 'source', 'ui', 'destination', 'ken'),
	'body', jsonb_build_object('action', 'go', 'payload', '{}'::jsonb, 'context', jsonb_build_object('sessionId', 's-1', 'previousDecisions', d))))
FROM (VALUES ('d1', '["use JSONL"]'::jsonb), ('d2', '["use JSONL", "add indices"]'), ('d3', '[null, "add indices"]')) AS m(id, d) \g /dev/null
SELECT is(jsonb_path_query_array(clutch.thread_context(thread_id), '$.decisions[*].decision'), '["use JSONL", "add indices"]', 'what was decided before is told once')
FROM clutch.events WHERE from_agent = 'agent:ui' AND type = 'task.request' ORDER BY seq DESC LIMIT 1;

-- an answer in a thread of its own, since its sender has named none
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:ken}', run_id => 'run:asks', thread_id => 'thread:asks', task_id => 'task:asks')) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken') \g /dev/null
SELECT clutch.progress('agent:ken', 'task:asks', '{"state": "input_required", "question": "which?"}') \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', '{"text": "the second"}', run_id => 'run:asks', task_id => 'task:asks')) \g /dev/null
SELECT is(jsonb_path_query_array(clutch.thread_context('thread:asks'), '$.decisions[*].decision'), '[{"text": "the second"}]', 'the answer is a decision in the thread of the task');
SELECT * FROM finish();
