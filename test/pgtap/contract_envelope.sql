-- The schemas of the envelope and of the AgentCard agree with clutch.validate: valid
-- documents are mutated at every place, and the verdicts on each are compared.  What a
-- schema cannot say is named here.  Of the values, each place gets every fourth; psql -v
-- every=1 tries all (about 27,000 documents).
\if :{?every}
\else
\set every 4
\endif
\ir ../fixtures/tap.sql
SELECT plan(19);
CREATE TEMP TABLE documents (name text, document jsonb);
INSERT INTO documents VALUES
('request', clutch.envelope('task.request', 'agent:ui', id => 'msg_1', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1', parent_task_id => 'task_0',
	payload => '{"q": {"deep": [1]}}', requires => '{skill:research@^1.0,topic}', prefers => '{tool:browser,tag:x}', domain => 'research', payload_type => 'research.query.v1',
	schema_ref => 'schema://clutch/research/query@1', idempotency_key => 'k', attempt => 2, trace => '{"trace_id": "t", "span_id": "s"}',
	security => '{"auth": {"scheme": "ed25519", "kid": "key_01", "sig": "c2ln"}, "policy": {"sandbox": true, "network": "none", "trust_level": "sandbox", "tool_allowlist": ["mcp:browser"], "egress_allowlist": ["*.example.com", "[::1]"]}}',
	attachments => '[{"kind": "artifact_ref", "ref": "artifact:1", "name": "free"}, {"kind": "uri", "ref": "https://a.example/b"}]',
	meta => '{"framework": "x", "clutch": {"after": ["task:a", "b"], "budget": {"cost": 1.5, "depth": 3, "tasks": 10, "tokens": 1000}, "deadline": "2099-01-01T00:00:00Z", "not_before": "2026-01-01T00:00:00+01:00",
		"join": "all", "priority": 1, "retry": {"max": 2, "initial_ms": 10, "max_ms": 100, "factor": 1.5}, "scope": "group:g", "ttl_ms": 1000, "workflow": "w"}}')
	|| '{"from": {"agent_id": "agent:ui", "role": "worker"}, "to": [{"agent_id": "agent:ken", "role": "worker"}, {"agent_id": "group:g"}]}'),
('progress', clutch.envelope('task.progress', 'agent:ken', task_id => 'task:1', payload => '{"state": "input_required", "deadline": "2099-01-01T00:00:00Z"}',
	meta => '{"clutch": {"usage": {"cost": 0.1, "input_tokens": 1, "output_tokens": 2}}}')),
('suspended', clutch.envelope('task.progress', 'agent:ken', task_id => 'task:1', payload => '{"state": "suspended"}', meta => '{"clutch": {"wait": {"children": 2, "until": "2099-01-01T00:00:00Z"}}}')),
('waiting', clutch.envelope('task.progress', 'agent:ken', task_id => 'task:1', payload => '{}', meta => '{"clutch": {"wait": {"message": {"type": "chat.message"}, "for_ms": 5}}}')),
('step', clutch.envelope('task.progress', 'agent:ken', task_id => 'task:1', payload => '{}', meta => '{"clutch": {"step": {"name": "n", "output": [1]}}}')),
('result', clutch.envelope('task.result', 'agent:ken', task_id => 'task:1', payload => '{"findings": []}')),
('error', clutch.envelope('task.error', 'agent:ken', task_id => 'task:1', payload => '{"code": "E", "message": "m", "retryable": true, "details": {"a": 1}}')),
('chat', clutch.envelope('chat.message', 'agent:ken', '{topic:t,group:*}', '{"text": "x"}', meta => '{"clutch": {"reply_to": "msg_1", "answer_to": "msg_2"}}')),
('call', clutch.envelope('tool.call', 'agent:ken', '{agent:mcp}', '{"tool": "mcp:browser", "args": {"url": "https://..."}}')),
('tool result', clutch.envelope('tool.result', 'agent:mcp', '{agent:ken}', '{}', meta => '{"clutch": {"reply_to": "msg_5"}}')),
('tool error', clutch.envelope('tool.error', 'agent:mcp', '{agent:ken}', '{"code": "E", "message": "m"}', meta => '{"clutch": {"reply_to": "msg_5"}}')),
('heartbeat', clutch.envelope('agent.heartbeat', 'agent:ken', payload => '{"status": "READY"}')),
('register', clutch.envelope('agent.register', 'agent:ken', payload => '{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken", "desc": "d"},
	"endpoints": {"a2a": {"url": "http://ken:8080/a2a"}}, "capabilities": [{"id": "skill:research", "version": "1.0", "tags": ["t"], "tools": ["mcp:browser"], "servers": ["mcp:files"], "actions": ["a"],
	"trust_level": "sandbox", "cost_hint": "medium"}], "limits": {"max_concurrency": 2, "max_runtime_sec": 600, "heartbeat_sec": 30, "max_cost": 1.5, "max_tokens": 10, "retry": {"max": 1}},
	"security": {"sandbox": true, "network": "egress-restricted", "egress_allowlist": ["api.example.com"]}, "groups": ["group:g"], "scopes": ["group:s"], "model": "m", "meta": {"x": 1}}')),
('update', clutch.envelope('agent.update', 'agent:ken', payload => '{"agent_id": "agent:ken", "limits": {"max_concurrency": 3}}'));

SELECT is_empty($$SELECT name, v.path, v.code FROM documents, clutch.validate(document) v$$, 'the documents are valid for clutch.validate');
SELECT is_empty($$SELECT name, v.* FROM documents, clutch.validate_payload('envelope', document) v$$, 'and by the schema');

-- ----------------------------------------------------------------- mutations
CREATE TEMP TABLE places AS
WITH RECURSIVE place AS (
	SELECT name, document AS whole, '{}'::text[] AS path, document AS value FROM documents
	UNION ALL
	SELECT p.name, p.whole, p.path || c.key, c.value FROM place p CROSS JOIN LATERAL (
		SELECT key, value FROM jsonb_each(CASE jsonb_typeof(p.value) WHEN 'object' THEN p.value ELSE '{}' END)
		UNION ALL
		SELECT (n - 1)::text, value FROM jsonb_array_elements(CASE jsonb_typeof(p.value) WHEN 'array' THEN p.value ELSE '[]' END) WITH ORDINALITY e(value, n)) c)
SELECT * FROM place;
CREATE TEMP TABLE values_tried (value jsonb);
INSERT INTO values_tried SELECT jsonb_array_elements('[null, true, false, 0, 1, -1, 2.5, 5, 64, 65, 1000000001, 2147483648, 1e20, "", "x", "x y", " ", "a@", "a@b", "skill:a@", "@", "agent:", "agent:a", "agent:a b", "group:", "group:g", "group:*",
	"topic:", "topic:t", "task:", "task:t", "run:", "run:r", "thread:t", "artifact:", "artifact:a", "schema://", "schema://a", "schema://a b", "schema://a@", "schema:a", "mcp:", "mcp:m", "skill:", "skill:s", "tool:", "tool:t",
	"task.request", "task.progress", "task.result", "task.error", "task.timeout", "task.cancel", "task.accept", "chat.message", "chat.system", "routing.decision", "tool.call", "tool.error", "agent.update", "agent.heartbeat", "nothing",
	"clutch/0.1", "clutch/0.2", "2098-01-01T00:00:00Z", "2098-13-01T00:00:00Z", "2098-01-01t23:59:59.123456789z", "2098-01-01T00:00:00", "2098-01-01 00:00:00Z", "2098-01-01T24:00:00Z", "2098-01-01T00:00:00+14:00",
	"all", "any", "none", "open", "prod", "low", "READY", "ready", "input_required", "suspended", "ed25519", "x:y", "http:", "http://x", "1.2.3.4", "a..b", "*.", "-", "a\nb", "tab\there", "\u2028", "\u0085", [], {}, [1], [""], ["x"], [[]], {"x": 1}]');
INSERT INTO values_tried VALUES (to_jsonb(repeat('x', 256))), (to_jsonb(repeat('x', 257))), (to_jsonb('agent:' || repeat('x', 250))), (to_jsonb('agent:' || repeat('x', 251))), (to_jsonb(repeat('x', 4096))), (to_jsonb(repeat('x', 4097))),
	((SELECT jsonb_agg('x' || i) FROM generate_series(1, 64) i)), ((SELECT jsonb_agg('x' || i) FROM generate_series(1, 65) i)), ((SELECT jsonb_agg('mcp:x' || i) FROM generate_series(1, 65) i)),
	((SELECT jsonb_object_agg('x' || i, 'y') FROM generate_series(1, 64) i)), ((SELECT jsonb_object_agg('x' || i, 'y') FROM generate_series(1, 65) i));
CREATE TEMP TABLE mutants AS
	SELECT name, 'remove ' || path::text AS mutation, whole #- path AS document, path FROM places WHERE path <> '{}'
	UNION ALL
	SELECT name, 'replace ' || path::text || ' by ' || left(v.value::text, 40), jsonb_set(whole, path, v.value), path FROM places, values_tried v WHERE path <> '{}' AND hashtext(path::text || v.value::text) % :every = 0
	UNION ALL
	SELECT name, 'add x to ' || path::text, jsonb_set(whole, path || '{x}', '1'), path FROM places WHERE jsonb_typeof(value) = 'object' AND path <> '{}'
	UNION ALL
	SELECT name, 'add a null to ' || path::text, jsonb_set(whole, path || '{999}', 'null'), path FROM places WHERE jsonb_typeof(value) = 'array'
	UNION ALL
	SELECT name, 'twice the first of ' || path::text, jsonb_set(whole, path || '{999}', value -> 0), path FROM places WHERE jsonb_typeof(value) = 'array' AND value <> '[]'
	UNION ALL
	SELECT name, 'add a field', document || '{"x": 1}', '{}' FROM documents;
-- the codes of clutch.validate, and whether the schema allows the document
CREATE TEMP TABLE verdicts AS
	SELECT m.*, (SELECT coalesce(array_agg(v.code || ' ' || v.path), '{}') FROM clutch.validate(m.document) v) AS faults,
		NOT EXISTS (SELECT FROM clutch.validate_payload('envelope', m.document)) AS allowed FROM mutants m;
-- what a schema cannot say: one field in comparison with another, semantic versions, and what an address of IPv6 is
CREATE TEMP VIEW explained AS SELECT v.*, (SELECT bool_and(f ~ '^SELF_PARENT |^WRONG_VALUE /meta/clutch/(deadline|after/)|^WRONG_FORMAT /(requires|prefers)/|^WRONG_FORMAT /payload/capabilities/[0-9]+/version') FROM unnest(v.faults) f) AS beyond FROM verdicts v;
SELECT cmp_ok((SELECT count(*) FROM verdicts)::int, '>', 6000, 'more than 6,000 documents are compared');
SELECT cmp_ok((SELECT count(*) FROM verdicts WHERE faults = '{}')::int, '>', 200, 'some are still valid');
SELECT is_empty($$SELECT name, mutation FROM explained WHERE allowed AND faults <> '{}' AND NOT beyond$$, 'what clutch.validate refuses, the schema refuses');
SELECT is_empty($$SELECT name, mutation FROM explained WHERE NOT allowed AND faults = '{}'$$, 'what it allows, the schema allows');
SELECT cmp_ok((SELECT count(DISTINCT split_part(f, ' ', 1)) FROM verdicts, unnest(faults) f)::int, '>=', 14, 'many kinds of faults are among them');
SELECT is_empty($$SELECT name, mutation FROM verdicts WHERE path[1] = 'payload' AND path <> '{payload}' AND name IN ('register') AND mutation !~ '/agent_id|version'
	AND allowed <> NOT EXISTS (SELECT FROM clutch.validate_payload('agent_card', document -> 'payload'))$$, 'the schema of the card says the same of the payload of agent.register');

-- -------------------------------------------------- no field has been forgotten
CREATE FUNCTION pg_temp.forgotten(document jsonb, path text[], schema_path text[], what text DEFAULT 'envelope') RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(field, ' ') FROM clutch.validate(jsonb_set(document, path || '{unheard_of}', '1')) v,
		LATERAL (SELECT string_to_table(substring(v.message FROM '\(known fields: (.*)\)'), ', ')) f(field)
	WHERE v.code = 'UNKNOWN_FIELD' AND field <> 'move' AND NOT clutch.schema_of(what) #> (schema_path || '{properties}') ? field
$$;
SELECT is(pg_temp.forgotten((SELECT document FROM documents WHERE name = d), path, schema_path, what), NULL, 'the schema knows each field of ' || path::text) FROM (VALUES
	('request', '{}'::text[], '{}'::text[], 'envelope'), ('request', '{meta,clutch}', '{$defs,orders}', 'envelope'), ('request', '{security,policy}', '{properties,security,properties,policy}', 'envelope'),
	('register', '{payload}', '{$defs,card}', 'agent_card'), ('register', '{payload,limits}', '{$defs,card,properties,limits}', 'agent_card'), ('register', '{payload,security}', '{$defs,card,properties,security}', 'agent_card')) x(d, path, schema_path, what);

-- ------------------------------------------------------------------- settings
SET clutch.max_id_bytes = 100;
SET clutch.max_recipients = 3;
SET clutch.max_list = 5;
SELECT is(clutch.schema_of('envelope') #>> '{$defs,id,maxLength}' || ' ' || (clutch.schema_of('envelope') #>> '{properties,to,maxItems}') || ' ' || (clutch.schema_of('agent_card') #>> '{$defs,list,maxItems}'),
	'100 3 5', 'schema_of has the limits of the settings');
SELECT is(clutch.schema_of('envelope') #>> '{$defs,agent_card,$defs,string,maxLength}', '4096', 'those that have not been changed stay');
RESET clutch.max_id_bytes;
RESET clutch.max_recipients;
RESET clutch.max_list;
SELECT is(clutch.schema_of('envelope'), (SELECT schema FROM clutch.payload_type WHERE payload_type = 'envelope'), 'by default, it is what is registered');

-- a request may prefer all models that a rule may
SELECT is_empty($$SELECT * FROM clutch.validate(clutch.envelope('task.request', 'agent:ui', prefers => '{model:claude-haiku@latest}'))$$, 'the name of a model may have an @');
SELECT results_eq($$SELECT path, code FROM clutch.validate(clutch.envelope('task.request', 'agent:ui', requires => '{model:claude-haiku@latest}'))$$, $$VALUES ('/requires/0', 'WRONG_FORMAT')$$, 'but models are not required, so there it begins a version');
SELECT * FROM finish();
