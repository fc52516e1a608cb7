-- The end of a task in the dialect of its request.
\ir ../fixtures/tap.sql
SELECT plan(13);
SET clutch.notify = off;
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:w", "capabilities": [{"id": "skill:w"}], "limits": {"max_concurrency": 10}}') \g /dev/null
CREATE TEMP TABLE asked (name text, raw jsonb, task_id text);
INSERT INTO asked VALUES
('mcp', '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "skill.w", "arguments": {"city": "Lisbon"}}}'),
('a2a', '{"jsonrpc": "2.0", "id": "q-1", "method": "SendMessage", "params": {"message": {"messageId": "m-1", "contextId": "c-1", "role": "ROLE_USER", "parts": [{"data": {"city": "Lisbon"}}], "metadata": {"clutch/skill": "w"}}}}'),
('a2a of 0.3', '{"jsonrpc": "2.0", "id": 3, "method": "message/send", "params": {"message": {"kind": "message", "messageId": "m-2", "contextId": "c-2", "role": "user", "parts": [{"kind": "text", "text": "Lisbon"}], "metadata": {"clutch/skill": "w"}}}}'),
('http', '{"specversion": "1.0", "id": "e-1", "source": "https://shop.example", "type": "clutch.task.request", "data": {"city": "Lisbon"}}');
UPDATE asked a SET task_id = (SELECT r.task_id FROM clutch.ingest(a.raw, context => '{"agent_id": "agent:visitor", "to": ["agent:w"]}') AS r);

SELECT is(count(clutch.reply(task_id)), 0::bigint, 'a task that is not over has no reply') FROM asked;
SELECT clutch.finish('agent:w', task_id, '{"celsius": 21}') FROM clutch.claim('agent:w', 10) \g /dev/null
CREATE TEMP TABLE told AS SELECT name, raw, clutch.reply(task_id) AS reply FROM asked;
SELECT is(clutch.can_handle(reply), split_part(name, ' ', 1), name || ' is answered in ' || name) FROM told;
SELECT is(reply -> 'id', raw -> 'id', 'the response to ' || name || ' has the ID of the request') FROM told WHERE raw ? 'jsonrpc';
SELECT is(reply #> '{result,structuredContent}', '{"celsius": 21}', 'and the result') FROM told WHERE name = 'mcp';
SELECT is(reply #>> '{result,task,status,state}' || ' ' || (reply #>> '{result,task,contextId}'), 'TASK_STATE_COMPLETED c-1', 'and the state, in its context') FROM told WHERE name = 'a2a';
SELECT ok(reply::text NOT LIKE '%clutch%', 'and nothing of ours') FROM told WHERE name = 'mcp';

-- ------------------------------------------------------------- to whom
CREATE ROLE adapter_reply_visitor;
SELECT clutch.grant_agent('adapter_reply_visitor', 'agent:visitor') \g /dev/null
CREATE ROLE adapter_reply_stranger;
SELECT clutch.grant_agent('adapter_reply_stranger', 'agent:stranger') \g /dev/null
GRANT SELECT ON told, asked TO adapter_reply_visitor, adapter_reply_stranger;
SET ROLE adapter_reply_visitor;
SELECT is(count(*) FILTER (WHERE clutch.reply(a.task_id) = t.reply), 4::bigint, 'the role of the agent that asked is told the same') FROM asked a JOIN told t USING (name);
SET ROLE adapter_reply_stranger;
SELECT is(count(clutch.reply(task_id)), 0::bigint, 'a stranger is told nothing') FROM asked;
RESET ROLE;
SELECT clutch.revoke_agent('adapter_reply_visitor', 'agent:visitor'), clutch.revoke_agent('adapter_reply_stranger', 'agent:stranger') \g /dev/null
DROP OWNED BY adapter_reply_visitor, adapter_reply_stranger;
DROP ROLE adapter_reply_visitor, adapter_reply_stranger;
SELECT * FROM finish();
