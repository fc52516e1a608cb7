-- Faults generated from spec 1.2, 1.4, 1.5, 5.4, Appendix B and DESIGN 3:
-- each field has a form, each form can be violated in certain ways, and each of
-- these has a code.  Every document has exactly one fault, which is reported.
\ir ../fixtures/tap.sql
\ir ../fixtures/loader.sql
SELECT plan(1827);

-- ------------------------------------------------- documents without a fault
CREATE TEMP TABLE doc (name text PRIMARY KEY, base text[], envelope jsonb);

INSERT INTO doc
SELECT 'envelope', '{}', doc || '{"parent_task_id": "task:parent", "type": "task.request",
	"to": [{"agent_id": "agent:a", "role": "worker"}, {"agent_id": "group:b", "role": "peer"}]}'
	|| '{"security": {"auth": {"scheme": "ed25519", "kid": "key_01", "sig": "..."},
		"policy": {"sandbox": true, "tool_allowlist": ["mcp:browser", "tool:grep"],
			"egress_allowlist": ["a.example", "*.b.example"], "network": "none", "trust_level": "prod"}}}'
	|| '{"meta": {"framework": "langgraph", "clutch": {
		"deadline": "2026-02-01T14:00:00Z", "ttl_ms": 60000, "priority": 3,
		"not_before": "2026-02-01T13:30:00+01:00", "join": "any", "after": ["task_a", "task:b"],
		"workflow": "product-research", "step_of": "research", "scope": "group:team-a", "reply_to": "msg_0",
		"budget": {"tokens": 1000, "cost": 0.5, "tasks": 10, "depth": 3},
		"usage": {"input_tokens": 10, "output_tokens": 20, "cost": 0.01}}}}'
FROM fixture WHERE name = 'envelope_1_1';

INSERT INTO doc
SELECT kind, '{payload}', jsonb_set(doc, '{meta,clutch}', '{"reply_to": "msg_0"}')
	|| jsonb_build_object('type', kind, 'payload', payload)
FROM fixture, (VALUES
	('task.error', '{"code": "X", "message": "m", "retryable": true, "details": {"a": 1}, "more": 1}'::jsonb),
	('tool.error', '{"code": "X", "message": "m", "retryable": true, "details": {"a": 1}}'),
	('tool.call', '{"tool": "mcp:browser", "args": {"url": "x"}, "call_id": "c1"}'),
	('tool.result', '{"content": 1}'),
	('agent.heartbeat', '{"status": "READY"}')
) AS t(kind, payload)
WHERE name = 'envelope_1_1';

INSERT INTO doc
SELECT kind, '{payload}', e.doc || jsonb_build_object('type', kind, 'payload', c.doc
	|| '{"groups": ["group:research"], "scopes": ["group:team-a"], "model": "m", "meta": {"a": 1},
		"security": {"sandbox": true, "network": "egress-restricted", "egress_allowlist": ["*.a.example"]},
		"limits": {"max_concurrency": 2, "max_runtime_sec": 600, "max_tokens": 1, "max_cost": 1.5, "heartbeat_sec": 30}}')
FROM fixture e, fixture c, (VALUES ('agent.register'), ('agent.update')) AS t(kind)
WHERE e.name = 'envelope_1_1' AND c.name = 'card_1_4';

-- ---------------------------------------------------------------- the fields
-- presence: required, optional (not null), nullable
CREATE TEMP TABLE field (doc text, path text[], form text, presence text);

INSERT INTO field VALUES
	('envelope', '{v}', 'version', 'required'),
	('envelope', '{id}', 'message id', 'required'),
	('envelope', '{ts}', 'time', 'required'),
	('envelope', '{thread_id}', 'thread id', 'required'),
	('envelope', '{run_id}', 'run id', 'required'),
	('envelope', '{task_id}', 'task id', 'required'),
	('envelope', '{parent_task_id}', 'task id', 'nullable'),
	('envelope', '{trace}', 'object', 'nullable'),
	('envelope', '{trace,trace_id}', 'text', 'optional'),
	('envelope', '{trace,span_id}', 'text', 'optional'),
	('envelope', '{from}', 'object', 'required'),
	('envelope', '{from,agent_id}', 'agent', 'required'),
	('envelope', '{from,role}', 'word', 'optional'),
	('envelope', '{to}', 'recipients', 'required'),
	('envelope', '{to,0}', 'object', 'element'),
	('envelope', '{to,0,agent_id}', 'recipient', 'required'),
	('envelope', '{to,1,agent_id}', 'recipient', 'required'),
	('envelope', '{to,1,role}', 'word', 'optional'),
	('envelope', '{type}', 'type', 'required'),
	('envelope', '{domain}', 'word', 'nullable'),
	('envelope', '{payload_type}', 'word', 'nullable'),
	('envelope', '{schema_ref}', 'schema', 'nullable'),
	('envelope', '{payload}', 'object', 'required'),
	('envelope', '{requires}', 'list', 'nullable'),
	('envelope', '{requires,0}', 'requirement', 'element'),
	('envelope', '{prefers}', 'list', 'nullable'),
	('envelope', '{prefers,1}', 'requirement', 'element'),
	('envelope', '{security}', 'object', 'nullable'),
	('envelope', '{security,auth}', 'object', 'optional'),
	('envelope', '{security,auth,scheme}', 'scheme', 'required'),
	('envelope', '{security,auth,kid}', 'key', 'required'),
	('envelope', '{security,auth,sig}', 'text', 'required'),
	('envelope', '{security,policy}', 'object', 'optional'),
	('envelope', '{security,policy,sandbox}', 'boolean', 'optional'),
	('envelope', '{security,policy,network}', 'network', 'optional'),
	('envelope', '{security,policy,trust_level}', 'trust', 'optional'),
	('envelope', '{security,policy,tool_allowlist}', 'list', 'optional'),
	('envelope', '{security,policy,tool_allowlist,0}', 'tool', 'element'),
	('envelope', '{security,policy,egress_allowlist}', 'list', 'optional'),
	('envelope', '{security,policy,egress_allowlist,0}', 'host', 'element'),
	('envelope', '{attachments}', 'list', 'nullable'),
	('envelope', '{attachments,0}', 'object', 'element'),
	('envelope', '{attachments,0,kind}', 'word', 'required'),
	('envelope', '{attachments,0,ref}', 'artifact', 'required'),
	('envelope', '{idempotency_key}', 'key', 'nullable'),
	('envelope', '{attempt}', 'count', 'nullable'),
	('envelope', '{meta}', 'object', 'nullable'),
	('envelope', '{meta,clutch}', 'object', 'optional'),
	('envelope', '{meta,clutch,deadline}', 'time', 'optional'),
	('envelope', '{meta,clutch,not_before}', 'time', 'optional'),
	('envelope', '{meta,clutch,ttl_ms}', 'count', 'optional'),
	('envelope', '{meta,clutch,priority}', 'priority', 'optional'),
	('envelope', '{meta,clutch,join}', 'join', 'optional'),
	('envelope', '{meta,clutch,after}', 'list', 'optional'),
	('envelope', '{meta,clutch,after,1}', 'task id', 'element'),
	('envelope', '{meta,clutch,workflow}', 'word', 'optional'),
	('envelope', '{meta,clutch,step_of}', 'word', 'optional'),
	('envelope', '{meta,clutch,scope}', 'group', 'optional'),
	('envelope', '{meta,clutch,reply_to}', 'message id', 'optional'),
	('envelope', '{meta,clutch,budget}', 'object', 'optional'),
	('envelope', '{meta,clutch,budget,tokens}', 'amount', 'optional'),
	('envelope', '{meta,clutch,budget,cost}', 'amount', 'optional'),
	('envelope', '{meta,clutch,budget,tasks}', 'amount', 'optional'),
	('envelope', '{meta,clutch,budget,depth}', 'amount', 'optional'),
	('envelope', '{meta,clutch,usage}', 'object', 'optional'),
	('envelope', '{meta,clutch,usage,input_tokens}', 'amount', 'optional'),
	('envelope', '{meta,clutch,usage,output_tokens}', 'amount', 'optional'),
	('envelope', '{meta,clutch,usage,cost}', 'amount', 'optional'),

	('tool.call', '{payload,tool}', 'tool', 'required'),
	('tool.call', '{payload,args}', 'object', 'required'),
	('tool.result', '{meta,clutch,reply_to}', 'message id', 'required'),
	('tool.error', '{meta,clutch,reply_to}', 'message id', 'required'),
	('agent.heartbeat', '{payload,status}', 'status', 'optional'),

	('agent.register', '{payload,v}', 'version', 'required'),
	('agent.register', '{payload,capabilities}', 'list', 'required'),
	('agent.update', '{payload,v}', 'version', 'optional'),
	('agent.update', '{payload,capabilities}', 'list', 'optional');

INSERT INTO field
SELECT kind, ('{payload,' || path || '}')::text[], form, presence
FROM unnest('{task.error,tool.error}'::text[]) AS kind, (VALUES
	('code', 'key', 'required'),
	('message', 'long text', 'required'),
	('retryable', 'boolean', 'optional'),
	('details', 'object', 'optional')) AS t(path, form, presence);

INSERT INTO field
SELECT kind, ('{payload,' || path || '}')::text[], form, presence
FROM unnest('{agent.register,agent.update}'::text[]) AS kind, (VALUES
	('agent_id', 'agent', 'required'),
	('display', 'object', 'optional'),
	('display,name', 'text', 'optional'),
	('display,desc', 'text', 'optional'),
	('endpoints', 'object', 'optional'),
	('endpoints,a2a', 'object', 'optional'),
	('endpoints,clutch,url', 'url', 'required'),
	('capabilities,0', 'object', 'element'),
	('capabilities,0,id', 'capability', 'required'),
	('capabilities,0,version', 'semver', 'optional'),
	('capabilities,0,tags', 'list', 'optional'),
	('capabilities,0,tags,2', 'word', 'element'),
	('capabilities,0,tools', 'list', 'optional'),
	('capabilities,0,tools,1', 'server', 'element'),
	('capabilities,0,trust_level', 'trust', 'optional'),
	('capabilities,0,cost_hint', 'cost', 'optional'),
	('capabilities,1,servers', 'list', 'optional'),
	('capabilities,1,servers,0', 'server', 'element'),
	('limits', 'object', 'optional'),
	('limits,max_concurrency', 'limit', 'optional'),
	('limits,max_runtime_sec', 'limit', 'optional'),
	('limits,max_tokens', 'amount', 'optional'),
	('limits,max_cost', 'amount', 'optional'),
	('limits,heartbeat_sec', 'limit', 'optional'),
	('security', 'object', 'optional'),
	('security,sandbox', 'boolean', 'optional'),
	('security,network', 'network', 'optional'),
	('security,egress_allowlist', 'list', 'optional'),
	('security,egress_allowlist,0', 'host', 'element'),
	('groups', 'list', 'optional'),
	('groups,0', 'group', 'element'),
	('scopes', 'list', 'optional'),
	('scopes,0', 'group', 'element'),
	('model', 'key', 'optional'),
	('meta', 'object', 'optional')) AS t(path, form, presence);

-- ------------------------------------------------------------ ways to be wrong
-- strings: form, kind of string, the limit that its length meets
CREATE TEMP TABLE string_form (form text PRIMARY KEY, longest int, prefixes text[]);
INSERT INTO string_form VALUES
	('version', 256, NULL), ('type', 256, NULL), ('time', 256, NULL), ('scheme', 256, NULL),
	('network', 256, NULL), ('trust', 256, NULL), ('cost', 256, NULL), ('status', 256, NULL),
	('semver', 256, NULL), ('key', 256, NULL), ('url', 4096, NULL), ('host', 256, NULL), ('text', 4096, NULL), ('long text', NULL, NULL),
	-- the prefixes that Appendix B gives to each kind; '' is to have none
	('message id', 256, '{""}'),
	('thread id', 256, '{"",thread:}'),
	('run id', 256, '{"",run:}'),
	('task id', 256, '{"",task:}'),
	('agent', 256, '{agent:}'),
	('recipient', 256, '{agent:,group:}'),
	('group', 256, '{group:}'),
	('artifact', 256, '{artifact:}'),
	('schema', 256, '{schema://}'),
	('server', 256, '{mcp:}'),
	('tool', 256, '{mcp:,tool:}'),
	('capability', 256, '{"",skill:,tool:}'),
	('requirement', 256, '{"",skill:,tool:}'),
	('word', 256, '{""}');

-- form, what is wrong, value, code, where below the field
CREATE TEMP TABLE fault (form text, what text, value jsonb, code text, below text DEFAULT '');

INSERT INTO fault
SELECT form, 'is ' || what, value, 'WRONG_TYPE'
FROM string_form, (VALUES ('a number', '42'::jsonb), ('true', 'true'), ('an object', '{}'), ('an array', '["x"]')) AS t(what, value);
INSERT INTO fault
SELECT form, 'is empty', '""', 'EMPTY' FROM string_form;
INSERT INTO fault
SELECT form, 'is too long', to_jsonb(coalesce(prefixes[1], '') || repeat('x', longest + 1)), 'TOO_LONG'
FROM string_form WHERE longest IS NOT NULL;
INSERT INTO fault
SELECT form, 'contains a line break', to_jsonb(coalesce(prefixes[1], '') || E'a\nb'), 'CONTROL_CHARACTER'
FROM string_form WHERE longest = 256;
INSERT INTO fault
SELECT 'task id', 'contains ' || what, to_jsonb(text), 'CONTROL_CHARACTER'
FROM (VALUES ('a tab', E'\tx'), ('a carriage return at its end', E'task_12345678\r'), ('a delete character', E'task_1\x7f'),
	('a line break of Latin-1', U&'task_1\0085'), ('a control character of Latin-1', U&'task_123\009F'),
	('a line separator', U&'task_1\2028'), ('a paragraph separator', U&'\2029task_1')) AS t(what, text);
INSERT INTO fault
SELECT form, 'begins with ' || prefix, to_jsonb(prefix || 'x'), 'WRONG_PREFIX'
FROM string_form, unnest('{agent:,group:,task:,run:,thread:,artifact:,schema://,mcp:,skill:,tool:,""}'::text[]) AS prefix
WHERE NOT prefix = ANY (prefixes);
INSERT INTO fault
SELECT form, 'is nothing but ' || prefix, to_jsonb(prefix), 'EMPTY'
FROM string_form, unnest(prefixes) AS prefix WHERE prefix <> '';

INSERT INTO fault
SELECT form, 'is ' || what, value, 'WRONG_TYPE'
FROM (VALUES ('object', '{string,number,boolean,array}'::text[]), ('list', '{string,number,boolean,object}'),
	('recipients', '{string,number,boolean,object}'), ('boolean', '{string,number,object,array}'),
	('count', '{string,boolean,object,array,fraction}'), ('limit', '{string,boolean,object,array,fraction}'),
	('priority', '{string,boolean,object,array,fraction}'), ('amount', '{string,boolean,object,array}'),
	('join', '{boolean,object,array,fraction}')) AS f(form, types),
	(VALUES ('string', '"x"'::jsonb), ('number', '7'), ('boolean', 'false'), ('object', '{}'), ('array', '[]'),
	('fraction', '1.5')) AS t(what, value)
WHERE what = ANY (types);

INSERT INTO fault VALUES
	('version', 'is of another protocol', '"clutch/9.9"', 'WRONG_VALUE'),
	('version', 'is in another case', '"CLUTCH/0.1"', 'WRONG_VALUE'),
	('type', 'is made up', '"task.invent"', 'UNKNOWN_TYPE'),
	('type', 'is a legacy one', '"PROPOSAL"', 'UNKNOWN_TYPE'),
	('type', 'is in another case', '"Task.Request"', 'UNKNOWN_TYPE'),
	('time', 'has no zone', '"2026-02-01T13:20:11"', 'WRONG_FORMAT'),
	('time', 'is a day that is not', '"2026-02-29T13:20:11Z"', 'WRONG_FORMAT'),
	('time', 'is a word', '"now"', 'WRONG_FORMAT'),
	('scheme', 'is another', '"rsa"', 'WRONG_VALUE'),
	('network', 'is another', '"everything"', 'WRONG_VALUE'),
	('trust', 'is another', '"root"', 'WRONG_VALUE'),
	('cost', 'is another', '"free"', 'WRONG_VALUE'),
	('status', 'is another', '"SLEEPY"', 'WRONG_VALUE'),
	('semver', 'is a word', '"latest-ish!"', 'WRONG_FORMAT'),
	('semver', 'has too many parts', '"1.2.3.4"', 'WRONG_FORMAT'),
	('url', 'has no scheme', '"ken/a2a"', 'WRONG_FORMAT'),
	('host', 'is a URL', '"https://a.example/"', 'WRONG_FORMAT'),
	('host', 'has a port', '"a.example:443"', 'WRONG_FORMAT'),
	('host', 'stands for all', '"*"', 'WRONG_FORMAT'),
	('url', 'has a blank', '"http://ken 8080/"', 'WRONG_FORMAT'),
	('schema', 'has a blank', '"schema://clutch/a b@1"', 'WRONG_FORMAT'),
	('schema', 'lacks the version it announces', '"schema://clutch/a@"', 'WRONG_FORMAT'),
	('capability', 'carries a version', '"skill:research@1.0"', 'WRONG_FORMAT'),
	('requirement', 'has a version that is none', '"skill:research@newest"', 'WRONG_FORMAT'),
	('requirement', 'has nothing behind @', '"skill:research@"', 'WRONG_FORMAT'),
	('count', 'is zero', '0', 'NUMBER_OUT_OF_RANGE'),
	('count', 'is negative', '-1', 'NUMBER_OUT_OF_RANGE'),
	('count', 'is huge', '1e30', 'NUMBER_OUT_OF_RANGE'),
	('count', 'overflows a double', '1e400', 'NUMBER_OUT_OF_RANGE'),
	('limit', 'is negative', '-1', 'NUMBER_OUT_OF_RANGE'),
	('limit', 'is huge', '1e12', 'NUMBER_OUT_OF_RANGE'),
	('priority', 'is below 0', '-1', 'NUMBER_OUT_OF_RANGE'),
	('priority', 'is above 4', '5', 'NUMBER_OUT_OF_RANGE'),
	('amount', 'is negative', '-0.01', 'NUMBER_OUT_OF_RANGE'),
	('join', 'is another word', '"some"', 'WRONG_VALUE'),
	('join', 'is empty', '""', 'EMPTY'),
	('join', 'is zero', '0', 'NUMBER_OUT_OF_RANGE'),
	('recipients', 'names nobody', '[]', 'TOO_FEW'),
	('recipients', 'names 65', (SELECT jsonb_agg(jsonb_build_object('agent_id', 'agent:' || i)) FROM generate_series(1, 65) i), 'TOO_MANY'),
	('list', 'has 65 elements', (SELECT jsonb_agg('x' || i) FROM generate_series(1, 65) i), 'TOO_MANY'),
	('list', 'is 65 nulls', (SELECT jsonb_agg(NULL::text) FROM generate_series(1, 65) i), 'TOO_MANY');
INSERT INTO fault VALUES
	('list', 'holds a null', '[null]', 'NULL_VALUE', '/0'),
	('list', 'holds a number', '[7]', 'WRONG_TYPE', '/0');

-- ------------------------------------------------------------- one by one
CREATE FUNCTION pg_temp.faults(envelope jsonb) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(path || ' ' || code, ', ' ORDER BY path), 'valid') FROM clutch.validate(envelope) $$;

CREATE FUNCTION pg_temp.pointer(path text[]) RETURNS text LANGUAGE sql AS
$$ SELECT '/' || array_to_string(path, '/') $$;

SELECT is(pg_temp.faults(envelope), 'valid', name || ' without a fault') FROM doc ORDER BY name;

-- jsonb_set would ignore a path that does not exist
SELECT is((SELECT array_agg(f.doc || ' ' || pg_temp.pointer(path)) FROM field f JOIN doc d ON d.name = f.doc
		WHERE envelope #> path IS NULL), NULL, 'every field of the table is in its document');

SELECT is(pg_temp.faults(envelope #- path), pg_temp.pointer(path) || ' REQUIRED',
	f.doc || ': ' || pg_temp.pointer(path) || ' is left out')
FROM field f JOIN doc d ON d.name = f.doc WHERE presence = 'required';

SELECT is(pg_temp.faults(envelope #- path), 'valid',
	f.doc || ': ' || pg_temp.pointer(path) || ' may be left out')
FROM field f JOIN doc d ON d.name = f.doc WHERE presence IN ('optional', 'nullable');

SELECT is(pg_temp.faults(jsonb_set(envelope, path, 'null')), pg_temp.pointer(path) || ' NULL_VALUE',
	f.doc || ': ' || pg_temp.pointer(path) || ' is null')
FROM field f JOIN doc d ON d.name = f.doc WHERE presence <> 'nullable';

SELECT is(pg_temp.faults(jsonb_set(envelope, path, value)), pg_temp.pointer(path) || below || ' ' || code,
	f.doc || ': ' || pg_temp.pointer(path) || ' ' || what)
FROM field f JOIN doc d ON d.name = f.doc JOIN fault w USING (form)
-- a tool.result without meta.clutch.reply_to would be a second fault
WHERE NOT (f.doc IN ('tool.result', 'tool.error') AND form = 'object' AND path[1] = 'meta');

-- unknown fields, wherever the protocol lists the known ones
SELECT is(pg_temp.faults(jsonb_set(envelope, path || '{made_up}', '1')),
	pg_temp.pointer(path || '{made_up}') || ' UNKNOWN_FIELD', doc || ': a field of its own in ' || pg_temp.pointer(path))
FROM (VALUES
	('envelope', '{}'::text[]), ('envelope', '{from}'), ('envelope', '{to,0}'), ('envelope', '{security}'),
	('envelope', '{security,auth}'), ('envelope', '{security,policy}'), ('envelope', '{meta,clutch}'),
	('envelope', '{meta,clutch,budget}'), ('envelope', '{meta,clutch,usage}'), ('agent.register', '{payload}'),
	('agent.register', '{payload,display}'), ('agent.register', '{payload,endpoints,a2a}'),
	('agent.register', '{payload,capabilities,0}'), ('agent.register', '{payload,limits}'),
	('agent.register', '{payload,security}')) AS t(doc, path)
JOIN doc d ON d.name = t.doc;
SELECT is(pg_temp.faults(jsonb_set(envelope, path || '{made_up}', '"x"')), 'valid', doc || ': whatever one likes in ' || pg_temp.pointer(path))
FROM (VALUES ('envelope', '{meta}'::text[]), ('envelope', '{payload}'), ('envelope', '{trace}'), ('envelope', '{attachments,0}'),
	('task.error', '{payload}'), ('tool.call', '{payload}'), ('agent.register', '{payload,meta}')) AS t(doc, path)
JOIN doc d ON d.name = t.doc;
SELECT matches(message, 'meta', 'the hint for an unknown field names "meta"')
FROM doc, clutch.validate(envelope || '{"priority": 1}') WHERE name = 'envelope';

-- values at the limit are legal
SELECT is(pg_temp.faults(jsonb_set(envelope, path, value)), 'valid', t.doc || ': ' || pg_temp.pointer(path) || ' ' || what)
FROM (VALUES
	('envelope', '{to}'::text[], 'names 64', (SELECT jsonb_agg(jsonb_build_object('agent_id', 'agent:' || i)) FROM generate_series(1, 64) i)),
	('envelope', '{requires}', 'is an empty list', '[]'::jsonb),
	('envelope', '{requires}', 'asks for versions', '["skill:a@^1.0", "tool:b@>=1 <3", "c@1.x", "d@1.2 - 2", "tool:browser"]'),
	('envelope', '{prefers}', 'asks for tags', '["tag:x@y", "domain:fintech", "skill:a@1.0", "word"]'),
	('envelope', '{id}', 'has 256 bytes', to_jsonb(repeat('x', 256))),
	('envelope', '{task_id}', 'is free text', '"Aufgabe 7: prüfen"'),
	('envelope', '{trace,trace_id}', 'has 4096 bytes', to_jsonb(repeat('x', 4096))),
	('envelope', '{idempotency_key}', 'is free text', '"task:42:send"'),
	('envelope', '{attempt}', 'is 2147483647', '2147483647'),
	('envelope', '{attempt}', 'is 1.0', '1.0'),
	('envelope', '{meta,clutch,priority}', 'is 0', '0'),
	('envelope', '{meta,clutch,priority}', 'is 4', '4'),
	('envelope', '{meta,clutch,join}', 'is all', '"all"'),
	('envelope', '{meta,clutch,join}', 'is 2', '2'),
	('envelope', '{meta,clutch,after}', 'is an empty list', '[]'),
	('envelope', '{meta,clutch,budget,cost}', 'is 0', '0'),
	('envelope', '{security,policy,tool_allowlist}', 'allows nothing', '[]'),
	('envelope', '{security,policy,egress_allowlist}', 'allows nothing', '[]'),
	('envelope', '{payload}', 'is empty', '{}'),
	('envelope', '{schema_ref}', 'has no version', '"schema://clutch/research/summary"'),
	('task.error', '{payload,message}', 'has 100,000 bytes', to_jsonb(repeat('x', 100000))),
	('agent.register', '{payload,limits,max_concurrency}', 'is 0', '0'),
	('agent.register', '{payload,limits,max_concurrency}', 'is 1000000000', '1000000000'),
	('agent.register', '{payload,capabilities}', 'is an empty list', '[]')) AS t(doc, path, what, value)
JOIN doc d ON d.name = t.doc;

-- ---------------------------------------- faults between fields, and several
SELECT is(pg_temp.faults(jsonb_set(envelope, '{parent_task_id}', envelope -> 'task_id')),
	'/parent_task_id SELF_PARENT', 'a task cannot be its own parent') FROM doc WHERE name = 'envelope';
SELECT is(pg_temp.faults(jsonb_set(envelope, '{meta,clutch,after,0}', envelope -> 'task_id')),
	'/meta/clutch/after/0 WRONG_VALUE', 'a task cannot wait for itself') FROM doc WHERE name = 'envelope';
SELECT is(pg_temp.faults(jsonb_set(envelope, '{meta,clutch,after,1}', '"task_a"')),
	'/meta/clutch/after/1 DUPLICATE_VALUE', 'a task cannot wait twice for another one') FROM doc WHERE name = 'envelope';
SELECT is(pg_temp.faults(jsonb_set(envelope, '{meta,clutch,move}', '"released"')),
	'/meta/clutch/move NOT_ALLOWED', 'only the database writes moves') FROM doc WHERE name = 'envelope';
SELECT is(pg_temp.faults(jsonb_set(envelope, '{meta,clutch,move}', '"sideways"')),
	'/meta/clutch/move WRONG_VALUE', 'and it knows only some') FROM doc WHERE name = 'envelope';

SELECT is(pg_temp.faults((envelope || '{"v": 1, "ts": "today", "to": [{"agent_id": "ken"}, 5, {"role": ""}],
		"attempt": 0, "attachments": [{"kind": "x", "ref": "artifact:1"}, {"ref": "report"}], "colour": "red"}') - 'id'::text),
	'/attachments/1/kind REQUIRED, /attachments/1/ref WRONG_PREFIX, /attempt NUMBER_OUT_OF_RANGE, '
	'/colour UNKNOWN_FIELD, /id REQUIRED, /to/0/agent_id WRONG_PREFIX, /to/1 WRONG_TYPE, /to/2/agent_id REQUIRED, '
	'/to/2/role EMPTY, /ts WRONG_FORMAT, /v WRONG_TYPE',
	'several faults are reported at once') FROM doc WHERE name = 'envelope';
SELECT is(pg_temp.faults('{}'), '/from REQUIRED, /id REQUIRED, /payload REQUIRED, /run_id REQUIRED, '
	'/task_id REQUIRED, /thread_id REQUIRED, /to REQUIRED, /ts REQUIRED, /type REQUIRED, /v REQUIRED',
	'an empty envelope lacks the ten required fields of spec 1.2');
SELECT fixture.answers(format('SELECT message ~ %L FROM clutch.validate(%L)', said, envelope || jsonb_build_object('type', type)), 'VALUES (true)', type || ' is no type, and it is said which are')
FROM doc, (VALUES ('agent.regster', 'perhaps you meant "agent.register"'), ('agent.unregister', 'the types are task.request, .*')) AS t(type, said) WHERE name = 'envelope';
SELECT is(pg_temp.faults(doc), ' WRONG_TYPE', 'no envelope: ' || doc::text)
FROM unnest(ARRAY['null', '1', '"x"', 'true', '[]', '[{}]']::jsonb[]) AS doc;
SELECT is(pg_temp.faults(NULL), ' NULL_VALUE', 'an SQL NULL is a fault as well');
SELECT is(pg_temp.faults(jsonb_set(envelope, '{trace}', '{"a/b": 1, "c~d": 2, "": 3}')),
	'/trace/ WRONG_TYPE, /trace/a~1b WRONG_TYPE, /trace/c~0d WRONG_TYPE', 'paths are escaped as RFC 6901 says')
FROM doc WHERE name = 'envelope';

SELECT is(pg_temp.faults(envelope || jsonb_build_object('task_id', id)), 'valid', 'other characters may be in an identifier: ' || id)
FROM doc, unnest(ARRAY['Größe–ab €uro', U&'\00A0task', '任务 1', U&'task\2027\202A', ' ~']) AS id WHERE name = 'envelope';
SELECT is(pg_temp.faults(jsonb_set(envelope, '{payload}', jsonb_build_object('number', number))), fault,
	'the largest double and a number next to it: ' || left(number::text, 40))
FROM doc, (VALUES (1.7976931348623157e308, 'valid'), (-1.7976931348623157e308, 'valid'), (1e-400, 'valid'),
	(2::numeric ^ 1024 - 2::numeric ^ 970 - 1, 'valid'),
	(2::numeric ^ 1024 - 2::numeric ^ 970, '/payload/number NUMBER_OUT_OF_RANGE'),
	(2::numeric ^ 970 - 2::numeric ^ 1024, '/payload/number NUMBER_OUT_OF_RANGE')) AS t(number, fault) WHERE name = 'envelope';

SELECT is((SELECT count(*)::int FROM clutch.validate(envelope ||
		(SELECT jsonb_object_agg('field' || i, i) FROM generate_series(1, 500) i))), 100,
	'a hundred faults are kept') FROM doc WHERE name = 'envelope';
SELECT ok((SELECT bool_and(v.message ~ '^[^ ].*\.$' AND v.code ~ '^[A-Z_]+$') FROM field f JOIN doc d ON d.name = f.doc
		JOIN fault w USING (form), clutch.validate(jsonb_set(envelope, f.path, value)) v),
	'each message is a sentence, each code a word in capitals');
SELECT cmp_ok((SELECT count(*)::int FROM field JOIN fault USING (form)), '>', 300, 'more than 300 generated faults');

SELECT * FROM finish();
