-- The end of a task in the dialect of its request.
\ir ../fixtures/tap.sql
SELECT plan(95);
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

SELECT throws_ok(format('SELECT clutch.reply(%L, %L)', task_id, 'htttp'), '42704', NULL, 'an adapter that does not exist is no reason to wait') FROM (SELECT task_id FROM clutch.tasks WHERE status = 'completed' ORDER BY request_seq LIMIT 1) AS t;

-- a tool that promises a schema returns a value of it, also if that is only a text
SELECT clutch.import_card('{"name": "add", "version": "1.0.0", "description": "adds", "capabilities": [{"name": "add-up", "description": "Adds", "outputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}]}', 'agent:add', 'agent_json') \g /dev/null
SELECT is(clutch.export_card('agent:add', 'mcp') #>> '{tools,0,outputSchema,type}', 'object', 'a list of tools has the schema of a result');
SELECT r.task_id AS added FROM clutch.ingest('{"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "skill.add-up", "arguments": {}}}', context => '{"agent_id": "agent:visitor"}') AS r \gset
SELECT clutch.finish('agent:add', task_id, '{"text": "three"}') FROM clutch.claim('agent:add') \g /dev/null
SELECT is(clutch.reply(:'added') -> 'result', '{"content": [{"type": "text", "text": "three"}], "structuredContent": {"text": "three"}}', 'so a text is written as both');
SELECT r.task_id AS plain FROM clutch.ingest('{"jsonrpc": "2.0", "id": 78, "method": "tools/call", "params": {"name": "skill.w", "arguments": {}}}', context => '{"agent_id": "agent:visitor"}') AS r \gset
SELECT clutch.finish('agent:w', task_id, '{"text": "three"}') FROM clutch.claim('agent:w') \g /dev/null
SELECT is(clutch.reply(:'plain') -> 'result', '{"content": [{"type": "text", "text": "three"}]}', 'and elsewhere it is only a text');

-- ------------------------------------------------------ a result with artifacts
CREATE TEMP TABLE handed AS SELECT a.name, r.task_id, a.raw FROM (SELECT name, CASE WHEN raw ? 'specversion' THEN raw || '{"id": "e-2"}' WHEN raw #> '{params,message}' IS NULL THEN raw || '{"id": 8}'
	ELSE jsonb_set(raw || '{"id": 9}', '{params,message,messageId}', to_jsonb('with ' || name)) END AS raw FROM asked) AS a, LATERAL clutch.ingest(a.raw, context => '{"agent_id": "agent:visitor", "to": ["agent:w"]}') AS r;
SELECT clutch.put_artifact('\x89504e47', 'image/png') AS picture \gset
SELECT count(clutch.finish('agent:w', task_id, '{"celsius": 21}', attachments => jsonb_build_array(jsonb_build_object('kind', 'artifact_ref', 'ref', :'picture', 'filename', 'sky.png', 'mediaType', 'image/png'), '{"kind": "uri", "ref": "https://sky.example/now"}'::jsonb))) FROM clutch.claim('agent:w', 10) \g /dev/null
CREATE TEMP TABLE shown AS SELECT name, clutch.reply(task_id) AS reply, clutch.reply(task_id, 'peer') AS envelope FROM handed;
SELECT is(reply -> 'result', jsonb_build_object('structuredContent', '{"celsius": 21}'::jsonb, 'content', jsonb_build_array('{"type": "text", "text": "{\"celsius\": 21}"}'::jsonb,
	jsonb_build_object('type', 'resource_link', 'uri', :'picture', 'name', 'sky.png', 'mimeType', 'image/png'), '{"type": "resource_link", "uri": "https://sky.example/now", "name": "https://sky.example/now"}'::jsonb)), 'MCP is given links to what the result attaches') FROM shown WHERE name = 'mcp';
SELECT is(reply #> '{result,task,artifacts,0,parts}', jsonb_build_array('{"data": {"celsius": 21}}'::jsonb, jsonb_build_object('url', :'picture', 'filename', 'sky.png', 'mediaType', 'image/png'), '{"url": "https://sky.example/now"}'::jsonb), 'A2A is given an artifact') FROM shown WHERE name = 'a2a';
SELECT is(reply #> '{result,artifacts,0,parts}', jsonb_build_array('{"kind": "data", "data": {"celsius": 21}}'::jsonb, jsonb_build_object('kind', 'file', 'file', jsonb_build_object('uri', :'picture', 'name', 'sky.png', 'mimeType', 'image/png')),
	'{"kind": "file", "file": {"uri": "https://sky.example/now"}}'::jsonb), 'in version 0.3, files') FROM shown WHERE name = 'a2a of 0.3';
SELECT is(reply -> 'data', '{"celsius": 21}', 'http has the payload') FROM shown WHERE name = 'http';
SELECT is((SELECT i -> 'attachments' FROM clutch.inbound(reply, 'http') AS i), envelope -> 'attachments', 'and the rest in the carrier') FROM shown WHERE name = 'http';

-- and one whose bytes became artifacts
SELECT translate(encode(string_agg(sha256(convert_to(i::text, 'UTF8')), ''), 'base64'), E'\n', '') AS b64 FROM generate_series(1, 40) i \gset
CREATE TEMP TABLE pictured AS SELECT a.name, a.raw, r.task_id, r.run_id FROM (SELECT name, CASE WHEN raw ? 'specversion' THEN raw || '{"id": "e-3"}' ELSE jsonb_set(raw || '{"id": 10}', '{params,message,messageId}', to_jsonb('pictured ' || name)) END AS raw
	FROM asked WHERE name <> 'mcp') AS a, LATERAL clutch.ingest(a.raw, context => '{"agent_id": "agent:visitor", "to": ["agent:w"]}') AS r;
SELECT FROM clutch.claim('agent:w', 10);
SELECT FROM pictured p, clutch.ingest(CASE p.name WHEN 'http' THEN jsonb_build_object('specversion', '1.0', 'id', 'r-3', 'source', 's', 'type', 'clutch.task.result', 'data_base64', :'b64')
	ELSE jsonb_build_object('statusUpdate', jsonb_build_object('taskId', 't', 'contextId', 'c', 'status', jsonb_build_object('state', 'TASK_STATE_COMPLETED', 'message', jsonb_build_object('messageId', p.name, 'role', 'ROLE_AGENT', 'parts', jsonb_build_array(jsonb_build_object('raw', :'b64', 'mediaType', 'image/png')))))) END,
	context => jsonb_build_object('agent_id', 'agent:w', 'task_id', p.task_id, 'run_id', p.run_id, 'artifacts_from', 1000));
SELECT is((SELECT count(*)::int FROM pictured p JOIN clutch.events e USING (task_id) WHERE e.type = 'task.result' AND e.envelope::text NOT LIKE '%' || :'b64' || '%'), 3, 'bytes of results that became artifacts');
SELECT is(clutch.reply(task_id) #> CASE name WHEN 'a2a' THEN '{result,task,artifacts,0,parts}' WHEN 'http' THEN '{data_base64}' ELSE '{result,artifacts,0,parts}' END::text[],
	CASE name WHEN 'a2a' THEN jsonb_build_array(jsonb_build_object('raw', :'b64', 'mediaType', 'image/png')) WHEN 'http' THEN to_jsonb(:'b64'::text) ELSE jsonb_build_array(jsonb_build_object('kind', 'file', 'file', jsonb_build_object('bytes', :'b64', 'mimeType', 'image/png'))) END, 'are in the reply to ' || name) FROM pictured;

-- ------------------------------------------------------------ other ends
CREATE FUNCTION fixture.asked(prefix text, more jsonb DEFAULT '{}') RETURNS TABLE (name text, task_id text) LANGUAGE sql AS $$
	SELECT a.name, r.task_id FROM (SELECT name, CASE WHEN raw ? 'specversion' THEN raw || jsonb_build_object('id', prefix) WHEN raw #> '{params,message}' IS NULL THEN raw || jsonb_build_object('id', prefix || 'mcp')
		ELSE jsonb_set(raw, '{params,message,messageId}', to_jsonb(prefix || name)) END AS raw FROM asked) AS a, LATERAL clutch.ingest(a.raw, context => '{"agent_id": "agent:visitor", "to": ["agent:w"]}') AS r
$$;
CREATE FUNCTION fixture.told(name text, reply jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT CASE name WHEN 'mcp' THEN concat_ws(' ', reply #> '{result,isError}', reply #> '{result,content,0,text}') WHEN 'http' THEN concat_ws(' ', reply -> 'type', reply -> 'data')
		WHEN 'a2a' THEN concat_ws(' ', reply #> '{result,task,status,state}', reply #> '{result,task,status,message,parts,0}') ELSE concat_ws(' ', reply #> '{result,kind}', reply #> '{result,status,state}', reply #> '{result,status,message,parts,0}') END
$$;
CREATE TEMP TABLE failed AS SELECT * FROM fixture.asked('failed');
SELECT clutch.fail('agent:w', c.task_id, 'E', 'boo', retryable => false) FROM clutch.claim('agent:w', 10) AS c \g /dev/null
SELECT is(fixture.told(name, clutch.reply(task_id)), CASE name WHEN 'mcp' THEN 'true "boo"' WHEN 'http' THEN '"clutch.task.error" {"code": "E", "message": "boo", "retryable": false}' WHEN 'a2a' THEN '"TASK_STATE_FAILED" {"text": "boo"}'
	ELSE '"task" "failed" {"kind": "text", "text": "boo"}' END, 'a failure, in ' || name) FROM failed;
CREATE TEMP TABLE ended AS SELECT * FROM fixture.asked('ended');
SELECT clutch.cancel(task_id, 'too late', by_agent => 'agent:visitor') FROM ended \g /dev/null
SELECT is(fixture.told(name, clutch.reply(task_id)), CASE name WHEN 'mcp' THEN 'true "too late"' WHEN 'http' THEN '"clutch.task.cancel" {"reason": "too late"}' WHEN 'a2a' THEN '"TASK_STATE_CANCELED" {"text": "too late"}'
	ELSE '"task" "canceled" {"kind": "text", "text": "too late"}' END, 'a cancellation, in ' || name) FROM ended;
SELECT is(late, true, 'a second cancellation is late') FROM ended, clutch.send(clutch.envelope('task.cancel', 'agent:visitor', payload => '{"reason": "again"}', run_id => (SELECT t.run_id FROM clutch.tasks t WHERE t.task_id = ended.task_id), task_id => ended.task_id)) WHERE name = 'a2a';
SELECT is(fixture.told(name, clutch.reply(task_id)), '"TASK_STATE_CANCELED" {"text": "too late"}', 'and not told') FROM ended WHERE name = 'a2a';
CREATE TEMP TABLE late AS SELECT * FROM fixture.asked('late');
SELECT set_config('clutch.clock', to_char((clutch.now() + '10 years') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false), clutch.tick() \g /dev/null
SELECT is(t.status, 'timed_out', 'a task whose time is over') FROM late JOIN clutch.tasks t USING (task_id) LIMIT 1;
SELECT matches(fixture.told(name, clutch.reply(task_id)), CASE name WHEN 'mcp' THEN '^true ".+"' WHEN 'http' THEN '^"clutch.task.timeout" .*DEADLINE_EXCEEDED' WHEN 'a2a' THEN '^"TASK_STATE_FAILED" {"text": ".+"' ELSE '^"task" "failed" {"kind": "text", "text": ".+"' END, 'is told in ' || name) FROM late;
SELECT is(clutch.reply(task_id, 'multiagent') ->> 'protocol', 'multiagent-1.0', 'and in a dialect that has no form for it') FROM late LIMIT 1;
RESET clutch.clock;

-- ------------------------------------------------- the REST binding of A2A
CREATE TEMP TABLE rested (name text, how text, task_id text);
INSERT INTO rested SELECT a.name, h.how, (SELECT r.task_id FROM clutch.ingest(replace(a.raw, '?', h.how)::jsonb, context => '{"agent_id": "agent:visitor", "to": ["agent:w"]}') AS r)
FROM (VALUES ('1.0', '{"message": {"messageId": "?", "contextId": "c-9", "role": "ROLE_USER", "parts": [{"text": "Lisbon"}], "metadata": {"clutch/skill": "w"}}}'),
	('0.3', '{"message": {"messageId": "old ?", "contextId": "c-9", "role": "ROLE_USER", "content": [{"text": "Lisbon"}], "metadata": {"clutch/skill": "w"}}}')) AS a(name, raw), unnest('{done,failed,cancelled}'::text[]) AS h(how);
SELECT FROM clutch.claim('agent:w', 10);
SELECT clutch.finish('agent:w', task_id, '{"text": "21"}') FROM rested WHERE how = 'done' \g /dev/null
SELECT clutch.fail('agent:w', task_id, 'E', 'boo', retryable => false) FROM rested WHERE how = 'failed' \g /dev/null
SELECT clutch.cancel(task_id, 'too late', by_agent => 'agent:visitor') FROM rested WHERE how = 'cancelled' \g /dev/null
SELECT is(concat_ws(' ', r #>> '{task,status,state}', r #>> '{task,contextId}', coalesce(r #>> '{task,artifacts,0,parts,0,text}', r #>> '{task,status,message,parts,0,text}', r #>> '{task,status,message,content,0,text}'), (SELECT string_agg(k, ',') FROM jsonb_object_keys(r) AS k), r::text LIKE '%"clutch"%'),
	CASE how WHEN 'done' THEN 'TASK_STATE_COMPLETED c-9 21' WHEN 'failed' THEN 'TASK_STATE_FAILED c-9 boo' ELSE CASE name WHEN '1.0' THEN 'TASK_STATE_CANCELED' ELSE 'TASK_STATE_CANCELLED' END || ' c-9 too late' END || ' task f',
	format('a request by REST in version %s gets its task, which is %s', name, how))
FROM rested, LATERAL (SELECT clutch.reply(task_id) AS r) AS t ORDER BY name, how;
SELECT is(reply #>> '{task,status,message,content,0,text}', 'boo', 'version 0.3 has its content') FROM rested, LATERAL clutch.reply(task_id) AS reply WHERE name = '0.3' AND how = 'failed';
SELECT is(reply #> '{task,status,message}', NULL, 'what was done is not said as well') FROM rested, LATERAL clutch.reply(task_id) AS reply WHERE how = 'done' ORDER BY name;

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

-- --------------------------------- in dialects whose messages name what they answer
-- The one who asked knows its own IDs, and none of ours.
CREATE TEMP TABLE named (name text, adapter text, raw jsonb, place text[], id jsonb, task_id text);
INSERT INTO named (name, adapter, raw, place, id) VALUES
('a REQUEST', 'collab', '{"header": {"messageId": "r-1", "type": "REQUEST", "source": "analyzer", "destination": "w", "timestamp": "2026-02-01T10:00:00Z"}, "body": {"action": "analyze", "payload": {"city": "Lisbon"}}}', '{header,correlationId}', '"r-1"'),
('a REQUEST without a header', 'collab', '{"type": "REQUEST", "messageId": "r-2", "correlationId": "c-0", "destination": "w", "body": {"action": "analyze", "payload": {}}}', '{header,correlationId}', '"r-2"'),
('a message', 'map', '{"id": "m-1", "from": "p", "to": {"agent": "w"}, "timestamp": 1795209727322, "payload": {}, "meta": {"expectsResponse": true}}', '{meta,correlationId}', '"m-1"'),
('a message that is correlated', 'map', '{"id": "m-2", "from": "p", "to": {"agent": "w"}, "timestamp": 1795209727322, "payload": {}, "meta": {"expectsResponse": true, "correlationId": "c-2"}}', '{meta,correlationId}', '"c-2"'),
('a message that is delivered', 'map', '{"jsonrpc": "2.0", "method": "map/message", "params": {"message": {"id": "m-3", "from": "p", "to": {"agent": "w"}, "timestamp": 1795209727322, "payload": {}, "meta": {"expectsResponse": true}}}}', '{meta,correlationId}', '"m-3"'),
('a call', 'map', '{"jsonrpc": "2.0", "id": 5, "method": "map/send", "params": {"to": {"agent": "w"}, "payload": {}, "meta": {"expectsResponse": true, "correlationId": "c-4"}}}', '{meta,correlationId}', '"c-4"'),
('the message of a user', 'multiagent', '{"protocol": "multiagent-1.0", "role": "user", "agent": {"id": "ui", "name": "UI", "model": "n/a"}, "timestamp": "2026-02-01T10:00:00Z", "intent": "plan", "task": "plan", "content": {"type": "text", "text": "it"}, "trace": {"id": "t-1", "parents": ["t-0"]}}', '{trace,parents}', '["t-0", "t-1"]'),
('an event with a subject', 'http', '{"specversion": "1.0", "id": "e-9", "source": "https://shop.example", "type": "clutch.task.request", "subject": "order-9", "data": {}}', '{subject}', '"order-9"'),
('a request with one', 'http', '{"headers": {"ce-specversion": "1.0", "ce-id": "e-10", "ce-source": "https://shop.example", "ce-type": "clutch.task.request", "CE-Subject": "order-10"}, "body": {}}', '{subject}', '"order-10"');
UPDATE named n SET task_id = (SELECT r.task_id FROM clutch.ingest(n.raw, context => '{"agent_id": "agent:visitor", "to": ["agent:w"]}') AS r);
SELECT is(count(clutch.finish('agent:w', task_id, '{"celsius": 21}')), 9::bigint, 'all of them are done') FROM clutch.claim('agent:w', 10);
SELECT is(clutch.reply(task_id) #> place, id, 'the reply to ' || name || ' of ' || adapter || ' names it') FROM named ORDER BY id;
SELECT is(clutch.can_handle(clutch.reply(task_id)), adapter, 'and is a document of ' || adapter) FROM named ORDER BY id;
SELECT is((SELECT e ->> 'type' FROM clutch.inbound(clutch.reply(task_id, 'collab'), 'collab') AS e), 'task.result', 'that is a result') FROM named WHERE name = 'a REQUEST';
SELECT is(clutch.reply(task_id, 'map') #> '{meta,correlationId}', to_jsonb(task_id), 'in another dialect than that of the request, the task is named by our ID') FROM named WHERE name = 'a REQUEST';
SELECT is(clutch.reply(task_id) #> '{payload}', '{"celsius": 21}', 'with the payload') FROM named WHERE name = 'a call';
-- an agent that answers in the dialect itself
CREATE TEMP TABLE answered AS SELECT q.raw, r.task_id FROM (VALUES ('{"protocol": "multiagent-1.0", "role": "user", "agent": {"id": "ui", "name": "UI", "model": "n/a"}, "timestamp": "2026-02-01T10:00:00Z", "intent": "plan", "task": "plan", "content": {"type": "text", "text": "it"}, "trace": {"id": "t-9"}}'::jsonb)) AS q(raw),
	LATERAL clutch.ingest(q.raw, context => '{"agent_id": "agent:visitor", "to": ["agent:w"]}') AS r;
SELECT FROM clutch.claim('agent:w', 10);
SELECT jsonb_build_object('protocol', 'multiagent-1.0', 'role', 'agent', 'agent', '{"id": "w", "name": "W", "model": "gpt-5"}'::jsonb, 'timestamp', '2026-02-01T10:00:09Z', 'intent', 'finalize', 'task', 'plan', 'content', '{"type": "text", "text": "done"}'::jsonb,
	'trace', '{"id": "t-10", "parents": ["t-9", "t-x"]}'::jsonb) AS said \gset
SELECT is(late, false, 'an answer in multiagent') FROM answered a, clutch.ingest(:'said', context => jsonb_build_object('task_id', a.task_id)) AS r;
SELECT is(clutch.reply(task_id), :'said', 'is the reply, with its own parents') FROM answered;
-- agents behind an endpoint of the dialect are sent our IDs, and answer to these or to none
INSERT INTO clutch.endpoint (name, url, adapter, serves) SELECT d, 'https://' || d || '.example/', d, 'agent:far-' || d FROM unnest('{http,collab,map,multiagent}'::text[]) AS d;
SELECT fixture.agent('far-' || d, 40, ARRAY['skill:far-' || d]) FROM unnest('{http,collab,map,multiagent}'::text[]) AS d \g /dev/null
CREATE TEMP TABLE distant AS SELECT n.name, n.adapter, n.raw, n.place, n.id, s.said, NULL::text AS task_id FROM named n JOIN (VALUES
	('http', '{"specversion": "1.0", "id": "far-1", "source": "far", "type": "clutch.task.result", "subject": "ours", "data": {"celsius": 22}}'::jsonb),
	('http', '{"headers": {"ce-specversion": "1.0", "ce-id": "far-2", "ce-source": "far", "ce-type": "clutch.task.result"}, "body": {"celsius": 22}}'),
	('http', '{"headers": {"ce-specversion": "1.0", "ce-id": "far-3", "ce-source": "far", "ce-type": "clutch.task.result", "CE-Subject": "ours"}, "body": {"celsius": 22}}'),
	('collab', '{"header": {"messageId": "far-4", "type": "RESPONSE", "source": "far", "destination": "analyzer", "correlationId": "ours"}, "body": {"status": "SUCCESS", "result": {"celsius": 22}}}'),
	('collab', '{"header": {"messageId": "far-0", "correlationId": "ours"}, "type": "RESPONSE", "correlationId": "ours", "body": {"status": "SUCCESS", "result": {"celsius": 22}}}'),
	('collab', '{"header": {"messageId": "far-5"}, "type": "RESPONSE", "correlationId": "ours", "body": {"status": "SUCCESS", "result": {"celsius": 22}}}'),
	('collab', '{"messageId": "far-6", "type": "RESPONSE", "body": {"status": "SUCCESS", "result": {"celsius": 22}}}'),
	('map', '{"id": "far-7", "from": "far", "to": {"agent": "p"}, "payload": {"celsius": 22}, "meta": {"isResult": true, "correlationId": "ours"}}'),
	('map', '{"jsonrpc": "2.0", "method": "map/message", "params": {"message": {"id": "far-8", "from": "far", "to": {"agent": "p"}, "payload": {"celsius": 22}, "meta": {"isResult": true}}}}'),
	('multiagent', '{"protocol": "multiagent-1.0", "role": "agent", "agent": {"id": "far", "name": "Far", "model": "n/a"}, "intent": "finalize", "task": "plan", "content": {"type": "text", "text": "celsius"}, "trace": {"id": "far-9", "parents": ["ours"]}}')) AS s(adapter, said) USING (adapter);
UPDATE distant n SET task_id = (SELECT r.task_id FROM clutch.ingest(replace(n.raw::text, '"w"', format('"far-%s"', n.adapter))::jsonb, context => jsonb_build_object('agent_id', 'agent:client-' || substring(n.said::text from 'far-(.)'), 'to', 'agent:far-' || n.adapter)) AS r);
SELECT is((SELECT string_agg(DISTINCT clutch.outbox_done(c.id, c.attempt, 200, response => d.said), ' ') FROM clutch.outbox_claim(100) AS c JOIN clutch.outbox o ON o.id = c.id JOIN distant d ON d.task_id = o.task_id), 'sent', 'endpoints answer in their dialects');
SELECT is_empty($$SELECT d.name, d.said, r FROM distant d, clutch.reply(d.task_id) AS r WHERE coalesce(r #> d.place, r #> '{headers,ce-subject}', r #> '{headers,CE-Subject}', r #> ('{params,message}' || d.place), r #> d.place[2:2]) IS DISTINCT FROM d.id$$, 'the replies name the requests of the clients');
SELECT is(count(*) FILTER (WHERE r::text !~ '"ours"' AND r::text ~ 'celsius'), 23::bigint, 'and no longer what the endpoint was sent') FROM distant d, clutch.reply(d.task_id) AS r;

-- ------------------------------------------------ a task before and after its end
CREATE TEMP TABLE seen (name text, task_id text);
INSERT INTO seen SELECT a.name, r.task_id FROM (VALUES
	('a2a', '{"jsonrpc": "2.0", "id": "s-1", "method": "SendMessage", "params": {"message": {"messageId": "s-1", "contextId": "c-1", "role": "ROLE_USER", "parts": [{"text": "Lisbon"}], "metadata": {"clutch/skill": "w"}}}}'::jsonb),
	('old', '{"jsonrpc": "2.0", "id": 31, "method": "message/send", "params": {"message": {"kind": "message", "messageId": "s-2", "contextId": "c-2", "role": "user", "parts": [{"kind": "text", "text": "Lisbon"}], "metadata": {"clutch/skill": "w"}}}}'),
	('mcp', '{"jsonrpc": "2.0", "id": 37, "method": "tools/call", "params": {"name": "skill.w", "arguments": {"city": "Lisbon"}, "task": {"ttl": 60000}}}')) AS a(name, raw),
	LATERAL clutch.ingest(a.raw, context => '{"agent_id": "agent:visitor", "session": "seen"}') AS r;
CREATE FUNCTION pg_temp.states() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(coalesce(d #>> '{status,state}', d ->> 'status'), ', ' ORDER BY name) FROM seen, clutch.task_as(task_id) AS d
$$;
SELECT is(pg_temp.states(), 'TASK_STATE_SUBMITTED, working, submitted', 'a task that nobody has begun is submitted');
SELECT is((SELECT string_agg(DISTINCT k, ' ' ORDER BY k) FROM seen, clutch.task_as(task_id) AS d, jsonb_object_keys(d) AS k WHERE name = 'a2a'), 'contextId id status', 'a task of A2A has what the protocol requires');
SELECT is((SELECT d ->> 'contextId' FROM seen, clutch.task_as(task_id) AS d WHERE name = 'a2a'), 'c-1', 'in the conversation of the client');
SELECT is((SELECT d ->> 'kind' FROM seen, clutch.task_as(task_id) AS d WHERE name = 'old'), 'task', 'in its version');
SELECT is((SELECT string_agg(DISTINCT k, ' ' ORDER BY k) FROM seen, clutch.task_as(task_id) AS d, jsonb_object_keys(d) AS k WHERE name = 'mcp'), 'createdAt lastUpdatedAt status taskId ttl', 'and so has a task of MCP');
SELECT is((SELECT (d ->> 'ttl')::bigint FROM seen s, clutch.task_as(task_id) AS d WHERE name = 'mcp'), (SELECT extract(epoch FROM deadline - created_at)::numeric(20, 3) * 1000 FROM clutch.tasks t JOIN seen s USING (task_id) WHERE name = 'mcp')::bigint, 'until its deadline, in milliseconds');
SELECT clutch.claim('agent:w', 10) \g /dev/null
SELECT is(pg_temp.states(), 'TASK_STATE_WORKING, working, working', 'then somebody works on it');
SELECT clutch.progress('agent:w', task_id, '{"text": "half"}') FROM seen \g /dev/null
SELECT is((SELECT d #> '{status,message,parts}' FROM seen, clutch.task_as(task_id) AS d WHERE name = 'a2a'), '[{"text": "half"}]', 'and says how far it is');
SELECT clutch.progress('agent:w', task_id, '{"state": "input_required", "question": "When?"}') FROM seen \g /dev/null
SELECT is(pg_temp.states(), 'TASK_STATE_INPUT_REQUIRED, input_required, input-required', 'or asks');
SELECT is((SELECT d #> '{status,message,parts}' FROM seen, clutch.task_as(task_id) AS d WHERE name = 'old'), '[{"kind": "text", "text": "When?"}]', 'with its question');
SELECT clutch.answer(task_id, '{"text": "Now"}', by_agent => 'agent:visitor') FROM seen \g /dev/null
SELECT clutch.claim('agent:w', 10) \g /dev/null
SELECT is((SELECT (d -> 'status') - 'timestamp'::text FROM seen, clutch.task_as(task_id) AS d WHERE name = 'a2a'), '{"state": "TASK_STATE_WORKING"}', 'which is not repeated when it is answered');
SELECT clutch.finish('agent:w', task_id, '{"celsius": 21}') FROM seen WHERE name <> 'old' \g /dev/null
SELECT clutch.cancel(task_id, 'enough', by_agent => 'agent:visitor') FROM seen WHERE name = 'old' \g /dev/null
SELECT is(pg_temp.states(), 'TASK_STATE_COMPLETED, completed, canceled', 'a task that is over says how');
SELECT is((SELECT d #> '{artifacts,0,parts}' FROM seen, clutch.task_as(task_id) AS d WHERE name = 'a2a'), '[{"data": {"celsius": 21}}]', 'with its result');
SELECT is((SELECT d FROM seen, clutch.task_as(task_id) AS d WHERE name = 'a2a'), (SELECT clutch.reply(task_id) #> '{result,task}' #- '{status,timestamp}' FROM seen WHERE name = 'a2a') || jsonb_build_object('status', (SELECT d -> 'status' FROM seen, clutch.task_as(task_id) AS d WHERE name = 'a2a')), 'as its reply does');
SELECT is((SELECT clutch.reply(task_id) #>> '{result,_meta,io.modelcontextprotocol/related-task,taskId}' = task_id FROM seen WHERE name = 'mcp'), true, 'the result of a task of MCP names the task');
SELECT is((SELECT clutch.task_as(task_id, 'a2a') #>> '{status,state}' FROM seen WHERE name = 'mcp'), 'TASK_STATE_COMPLETED', 'it can be told in the other dialect');
SELECT is((SELECT concat(clutch.task_as(task_id, 'http')::text, clutch.task_as('task:none')::text, clutch.task_as(NULL)::text) FROM seen WHERE name = 'a2a'), '', 'elsewhere there is no such document, nor for a task that does not exist');
SELECT * FROM finish();
