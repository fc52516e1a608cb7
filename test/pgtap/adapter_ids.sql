-- Envelopes of one document have different IDs, also if the dialect gives one ID to several things in it.
\ir ../fixtures/tap.sql
\ir ../fixtures/recorded.sql
SELECT plan(30);

SELECT fixture.agent('worker', 999, ARRAY['skill:x', 'tool:search', 'tool:shout']);

-- a message of LangGraph that calls tools
CREATE FUNCTION pg_temp.message(id text, VARIADIC calls text[]) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('type', 'ai', 'id', id, 'content', '', 'tool_calls', (SELECT jsonb_agg(jsonb_build_object('name', 'search', 'args', jsonb_build_object('n', n), 'id', c, 'type', 'tool_call') ORDER BY n) FROM unnest(calls) WITH ORDINALITY AS u(c, n)))
$$;
CREATE FUNCTION pg_temp.answer(id text, call text) RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('type', 'tool', 'id', id, 'tool_call_id', call, 'name', 'search', 'content', 'found') $$;
-- messages of AutoGen that call tools, and that answer
CREATE FUNCTION pg_temp.calls(VARIADIC calls text[]) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('type', 'ToolCallRequestEvent', 'source', 'worker', 'id', 'm-1', 'models_usage', NULL,
		'content', (SELECT jsonb_agg(jsonb_build_object('name', 'search', 'arguments', n::text, 'id', c) ORDER BY n) FROM unnest(calls) WITH ORDINALITY AS u(c, n)))
$$;
CREATE FUNCTION pg_temp.answers(VARIADIC calls text[]) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('type', 'ToolCallExecutionEvent', 'source', 'worker', 'id', 'm-2', 'models_usage', NULL,
		'content', (SELECT jsonb_agg(jsonb_build_object('name', 'search', 'content', n::text, 'call_id', c, 'is_error', false) ORDER BY n) FROM unnest(calls) WITH ORDINALITY AS u(c, n)))
$$;
CREATE FUNCTION pg_temp.context(run text) RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('agent_id', 'agent:worker', 'to', 'agent:worker', 'run_id', 'run:' || run) $$;
-- the envelopes: type, and what its ID is derived from, as far as the document says so
CREATE FUNCTION pg_temp.made(document jsonb, adapter text, run text DEFAULT 'new') RETURNS TABLE (type text, id text, reply_to text, is_stub boolean, e jsonb) LANGUAGE sql AS $$
	SELECT i ->> 'type', i ->> 'id', i #>> '{meta,clutch,reply_to}', i #> ARRAY['meta', adapter, 'stub'] IS NOT NULL, i FROM clutch.inbound(document, adapter, pg_temp.context(run)) AS i
$$;
CREATE FUNCTION pg_temp.sent(document jsonb, adapter text, run text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	receipts clutch.receipt[] := ARRAY(SELECT r FROM clutch.ingest(document, adapter, pg_temp.context(run)) AS r);
BEGIN
	RETURN (SELECT string_agg(concat_ws(' ', v.type, CASE WHEN r.duplicate THEN 'again' END), ', ' ORDER BY r.n)
			FROM unnest(receipts) WITH ORDINALITY AS r(seq, id, duplicate, run_id, task_id, late, n) JOIN clutch.events v ON v.seq = r.seq);
END $$;

-- ------------------------------------------------- a message and its tool call
SELECT is((SELECT string_agg(type, ', ') FROM pg_temp.made(pg_temp.message('x', 'x'), 'langgraph')), 'chat.message, tool.call', 'a message and its tool call that have one ID');
SELECT is((SELECT count(DISTINCT id)::int FROM pg_temp.made(pg_temp.message('x', 'x'), 'langgraph')), 2, 'are two envelopes with two IDs');
SELECT is((SELECT id FROM pg_temp.made(pg_temp.message('x', 'x'), 'langgraph') WHERE type = 'tool.call'),
	(SELECT id FROM pg_temp.made(pg_temp.message('y', 'x'), 'langgraph') WHERE type = 'tool.call'), 'the call has the ID that it has in a message with another ID');
SELECT is((SELECT e #>> '{meta,langgraph,part_of}' FROM pg_temp.made(pg_temp.message('x', 'x'), 'langgraph') WHERE type = 'tool.call'),
	(SELECT id FROM pg_temp.made(pg_temp.message('x', 'x'), 'langgraph') WHERE type = 'chat.message'), 'and is a part of the message');
SELECT is(clutch.outbound(e, 'langgraph'), pg_temp.message('x', 'x'), 'which comes back') FROM pg_temp.made(pg_temp.message('x', 'x'), 'langgraph') WHERE type = 'chat.message';
SELECT is(pg_temp.sent(pg_temp.message('x', 'x'), 'langgraph', 'one'), 'chat.message, tool.call', 'both are sent');
SELECT is(pg_temp.sent(pg_temp.message('x', 'x'), 'langgraph', 'one'), 'chat.message again, tool.call again', 'once');
SELECT is((SELECT string_agg(type, ', ') FROM pg_temp.made(pg_temp.answer('y', 'x'), 'langgraph', 'one')), 'tool.result', 'an answer needs no stub');
SELECT is((SELECT reply_to FROM pg_temp.made(pg_temp.answer('y', 'x'), 'langgraph', 'one')), (SELECT v.id FROM clutch.events v WHERE v.run_id = 'run:one' AND v.type = 'tool.call'), 'and is one to the call');

-- ------------------------------------------------------------- several calls
SELECT is((SELECT count(DISTINCT id)::int FROM pg_temp.made(pg_temp.message('x', 'x', 'x', 'y', 'y'), 'langgraph')), 5, 'calls of one message that have one ID');
SELECT is(pg_temp.sent(pg_temp.message('x', 'x', 'x', 'y', 'y'), 'langgraph', 'two'), 'chat.message, tool.call, tool.call, tool.call, tool.call', 'are sent');
SELECT is(pg_temp.sent(pg_temp.message('x', 'x', 'x', 'y', 'y'), 'langgraph', 'two'), 'chat.message again, tool.call again, tool.call again, tool.call again, tool.call again', 'once');
SELECT is((SELECT v.envelope #>> '{payload,args,n}' FROM pg_temp.made(pg_temp.answer('z', 'y'), 'langgraph', 'two') AS a JOIN clutch.events v ON v.id = a.reply_to), '3', 'an answer is one to the first of them');
SELECT is(pg_temp.sent(pg_temp.calls('x', 'x', 'y'), 'autogen', 'three'), 'tool.call, tool.call, tool.call', 'those of AutoGen as well');
SELECT is(pg_temp.sent(pg_temp.calls('x', 'x', 'y'), 'autogen', 'three'), 'tool.call again, tool.call again, tool.call again', 'once');
SELECT is(clutch.outbound(e, 'autogen'), pg_temp.calls('x', 'x', 'y'), 'and come back') FROM (SELECT e FROM pg_temp.made(pg_temp.calls('x', 'x', 'y'), 'autogen') LIMIT 1) AS m;

-- ------------------------------------------------------------ several answers
SELECT is((SELECT string_agg(type, ', ') FROM pg_temp.made(pg_temp.answers('x', 'y', 'x', 'y'), 'autogen')), 'tool.call, tool.result, tool.call, tool.result, tool.result, tool.result', 'answers to one call have one stub');
SELECT is((SELECT count(DISTINCT id)::int FROM pg_temp.made(pg_temp.answers('x', 'y', 'x', 'y'), 'autogen')), 6, 'and IDs of their own');
SELECT is((SELECT bool_and(r.reply_to = s.id) FROM (SELECT id, e #>> '{meta,autogen,native,id}' AS call FROM pg_temp.made(pg_temp.answers('x', 'y', 'x', 'y'), 'autogen') WHERE is_stub) AS s
	JOIN (SELECT reply_to, e #>> '{meta,autogen,native,reply_to}' AS call FROM pg_temp.made(pg_temp.answers('x', 'y', 'x', 'y'), 'autogen') WHERE NOT is_stub) AS r USING (call)), true, 'and answer it');
SELECT is(pg_temp.sent(pg_temp.answers('x', 'y', 'x', 'y'), 'autogen', 'four'), 'tool.call, tool.result, tool.call, tool.result, tool.result, tool.result', 'are sent');
SELECT is(pg_temp.sent(pg_temp.answers('x', 'y', 'x', 'y'), 'autogen', 'four'), 'tool.result again, tool.result again, tool.result again, tool.result again', 'once');
SELECT is((SELECT string_agg(type, ', ') FROM pg_temp.made(jsonb_build_array(pg_temp.answer('a', 'x'), pg_temp.answer('b', 'x')), 'langgraph')), 'tool.call, tool.result, tool.result', 'also in a list of messages');
SELECT is(pg_temp.sent(jsonb_build_array(pg_temp.answer('a', 'x'), pg_temp.answer('b', 'x')), 'langgraph', 'five'), 'tool.call, tool.result, tool.result', 'which is sent');

-- ------------------------------------------------------- an adapter of a user
CREATE SCHEMA app;
CREATE FUNCTION app.read(raw jsonb, context jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('type', 'chat.message', 'payload', jsonb_build_object('n', n), 'meta', jsonb_build_object('pairs', jsonb_build_object('native', e)))
	FROM jsonb_array_elements(raw -> 'pairs') WITH ORDINALITY AS t(e, n)
$$;
CREATE FUNCTION app.write(envelope jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('pairs', jsonb_build_array(envelope #> '{meta,pairs,native}')) $$;
INSERT INTO clutch.adapter (name, place, inbound, outbound) VALUES ('pairs', 60, 'app.read', 'app.write');
CREATE FUNCTION pg_temp.pairs(pairs jsonb) RETURNS int LANGUAGE sql AS
$$ SELECT count(DISTINCT i ->> 'id')::int FROM clutch.inbound(jsonb_build_object('pairs', pairs), 'pairs', pg_temp.context('pairs') - 'run_id') AS i $$;
SELECT is(pg_temp.pairs('[{"id": 1}, {"id": "1"}, {"id": 1.0}, {"id": 1, "scope": "a"}, {"id": 1, "scope": "a"}]'), 5, 'also envelopes of an adapter of a user are told apart');
SELECT is((SELECT string_agg(i ->> 'id', ' ' ORDER BY n) FROM clutch.inbound('{"pairs": [{"id": 1, "run_id": "a"}, {"id": 1, "run_id": "b"}, {"id": 1, "run_id": "b", "scope": "s"}]}', 'pairs') WITH ORDINALITY AS t(i, n)),
	(SELECT string_agg(i ->> 'id', ' ' ORDER BY n) FROM jsonb_array_elements('[{"id": 1, "run_id": "a"}, {"id": 1, "run_id": "b"}, {"id": 1, "run_id": "b", "scope": "s"}]') WITH ORDINALITY AS p(p, n), clutch.inbound(jsonb_build_object('pairs', jsonb_build_array(p)), 'pairs') AS i),
	'and those that differ in the run or the scope have the IDs that they would have alone');

-- ------------------------------------ whatever has one ID in what libraries say
CREATE FUNCTION pg_temp.ids(document jsonb) RETURNS TABLE (path text[], value jsonb) LANGUAGE sql AS $$
	WITH RECURSIVE v(path, value) AS (
		SELECT '{}'::text[], document
		UNION ALL
		SELECT v.path || m.key, m.value FROM v, LATERAL (
			SELECT o.key, o.value FROM jsonb_each(CASE jsonb_typeof(v.value) WHEN 'object' THEN v.value ELSE '{}' END) AS o
			UNION ALL
			SELECT (a.n - 1)::text, a.value FROM jsonb_array_elements(CASE jsonb_typeof(v.value) WHEN 'array' THEN v.value ELSE '[]' END) WITH ORDINALITY AS a(value, n)) AS m)
	SELECT v.path, v.value FROM v WHERE jsonb_typeof(v.value) IN ('string', 'number') AND v.path[cardinality(v.path)] ~ '(^id|Id|_id)$'
$$;
CREATE TABLE same AS
SELECT d.adapter, d.what, jsonb_set(d.document, b.path, a.value) AS document
FROM fixture.recorded d, pg_temp.ids(d.document) AS a, pg_temp.ids(d.document) AS b
WHERE d.file <> 'cards' AND a.value <> b.value;
SELECT cmp_ok((SELECT count(*)::int FROM same), '>', 5000, 'documents with two equal IDs');
CREATE FUNCTION pg_temp.shared(document jsonb, adapter text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) - count(DISTINCT (i ->> 'id', i ->> 'run_id')) FROM clutch.inbound(document, adapter, '{"stream": true}') AS i);
EXCEPTION WHEN SQLSTATE 'KL014' OR SQLSTATE 'KL015' THEN
	RETURN -1;
END $$;
CREATE TABLE shared AS SELECT s.adapter, s.document, pg_temp.shared(s.document, s.adapter) AS n FROM same s;
SELECT is((SELECT count(*)::int FROM shared WHERE n < 0) * 20 < (SELECT count(*)::int FROM shared), true, 'hardly any of which is refused');
SELECT is((SELECT string_agg(DISTINCT adapter, ', ' ORDER BY adapter) FROM shared WHERE n >= 0), 'a2a, autogen, crewai, langgraph, map, mcp', 'of every dialect that has several IDs in a document');
SELECT is((SELECT string_agg(adapter || ' ' || document::text, E'\n') FROM (SELECT * FROM shared WHERE n > 0 LIMIT 3) AS s), NULL, 'have envelopes with different IDs');

SELECT is((SELECT count(DISTINCT e ->> 'id')::int FROM (VALUES ('1'::jsonb), ('"1"'), ('"#1"'), ('"##1"')) AS v(id),
	LATERAL clutch.inbound(jsonb_build_object('jsonrpc', '2.0', 'id', v.id, 'method', 'tools/call', 'params', '{"name": "clutch.send", "arguments": {"payload": {"text": "a"}}}'::jsonb), 'mcp', '{"agent_id": "agent:ui", "session": "q"}') AS e), 4, 'a number and the texts that look like one are different IDs');

SELECT * FROM finish();
