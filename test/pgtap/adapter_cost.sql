-- What documents cost that are within all limits: neither much memory, nor a time that grows with the square of their size.
\ir ../fixtures/tap.sql
SELECT plan(27);

-- the most memory that this backend has ever had; of Linux, as that of 023_artifacts.pl
CREATE FUNCTION pg_temp.peak_mb() RETURNS int LANGUAGE sql VOLATILE AS
$$ SELECT (regexp_match(pg_read_file('/proc/self/status', 0, 8192), 'VmHWM:\s+(\d+) kB'))[1]::int / 1024 $$;
-- by how much a statement raises it, and what it returns or fails with
CREATE FUNCTION pg_temp.cost(statement text, OUT mb int, OUT said text) LANGUAGE plpgsql AS $$
DECLARE
	before int := pg_temp.peak_mb();
BEGIN
	BEGIN
		EXECUTE statement INTO said;
	EXCEPTION WHEN query_canceled OR others THEN
		said := SQLSTATE || ' ' || SQLERRM;
	END;
	mb := pg_temp.peak_mb() - before;
END $$;
CREATE FUNCTION pg_temp.deep(leaf jsonb, levels int) RETURNS jsonb LANGUAGE sql AS
$$ SELECT (repeat('{"d": ', levels) || leaf || repeat('}', levels))::jsonb $$;
CREATE FUNCTION pg_temp.numbers(n int, number text) RETURNS jsonb LANGUAGE sql AS
$$ SELECT ('[' || string_agg(number, ',') || ']')::jsonb FROM generate_series(1, n) $$;
CREATE FUNCTION pg_temp.names(n int) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_agg('n' || i) FROM generate_series(1, n) AS i $$;
SET statement_timeout = '100s';

-- -------------------------------------------------- the paths of many places
-- each number is a fault; only the first 100 are listed
CREATE TABLE fault AS SELECT clutch.envelope('chat.message', 'agent:a', '{agent:b}') || jsonb_build_object('payload', pg_temp.deep(pg_temp.numbers(20000, '1e400'), 55)) AS envelope;
SELECT cmp_ok(mb, '<', 400, 'twenty thousand faults far below are not written out') FROM pg_temp.cost('SELECT count(*) FROM clutch.validate((SELECT envelope FROM fault))');
SELECT is((SELECT count(*)::int FROM clutch.validate((SELECT envelope FROM fault))), 100, 'a hundred of them are listed');
SELECT throws_like('SELECT clutch.send(envelope) FROM fault', '%is not valid in 20000 places, the first at "/payload/d/d/d%/0"%', 'and all are counted');

-- each number is a change that the carrier makes
CREATE TABLE carried AS SELECT jsonb_build_object('specversion', '1.0', 'id', 'x', 'source', 'a', 'type', 't', 'data', was, 'clutchenvelope',
	jsonb_build_array(jsonb_build_object('path', '/payload', 'was', was, 'is', pg_temp.deep(pg_temp.numbers(n, '2'), 55)))::text) AS document, n
FROM unnest('{2,6000}'::int[]) AS n, LATERAL pg_temp.deep(pg_temp.numbers(n, '1'), 55) AS was;
SELECT cmp_ok(mb, '<', 400, 'thousands of changes far below take little more than they say') FROM pg_temp.cost('SELECT count(*) FROM carried, LATERAL clutch.inbound(document)');
SELECT is(clutch.inbound(document) #>> '{meta,http,kept,0,path}', '/data' || repeat('/d', 55) || '/0', 'their paths are whole') FROM carried WHERE n = 2;

-- ------------------------------------------------------ names in long lists
CREATE FUNCTION pg_temp.agent(members jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT '{"name": "x", "version": "1.0.0", "description": "d"}'::jsonb || members $$;
-- Each of these takes some hundredths of a second.  Comparing each name with each takes hundreds of times as long, and is cut off: on a slow
-- machine, what takes 40 times as long as a tenth of the names, of which it should take 10 times, and would take 100 times as long.
SELECT clock_timestamp() AS began \gset
SELECT mb FROM pg_temp.cost(format('SELECT clutch.inbound(%L)', pg_temp.agent(jsonb_build_object('dependencies', jsonb_build_object('mcps', pg_temp.names(4500)))))) \g /dev/null
SELECT set_config('statement_timeout', greatest(5000, round(40000 * extract(epoch FROM clock_timestamp() - :'began')))::text, false) \g /dev/null
SELECT throws_like(format('SELECT clutch.inbound(%L)', pg_temp.agent(jsonb_build_object('dependencies', jsonb_build_object('mcps', pg_temp.names(45000))))),
	'%it names more MCP servers than the limit%', 'many names of servers are refused');
SELECT throws_like(format('SELECT clutch.inbound(%L)', pg_temp.agent(jsonb_build_object('dependencies', jsonb_build_object('mcps', pg_temp.names(65))))),
	'%it names more MCP servers than the limit of 64 (setting clutch.max_list)', 'as one too many is');
SELECT lives_ok(format('SELECT clutch.inbound(%L)', pg_temp.agent(jsonb_build_object('dependencies', jsonb_build_object('mcps', pg_temp.names(64) || pg_temp.names(64))))),
	'a server that is named twice counts once');
SELECT throws_like(format('SELECT clutch.inbound(%L)', pg_temp.agent(jsonb_build_object('dependencies', jsonb_build_object('agents', pg_temp.names(45000))))),
	'%it has 45000 elements; the limit is 64%', 'many names of agents are refused');
SELECT cmp_ok(mb, '<', 300, 'a server may serve many capabilities')
FROM pg_temp.cost(format('SELECT clutch.inbound(%L)', pg_temp.agent(jsonb_build_object('dependencies', jsonb_build_object('mcps', jsonb_build_array(jsonb_build_object('name', 'm', 'capabilities', pg_temp.names(45000)))),
	'skills', (SELECT jsonb_agg(jsonb_build_object('id', 's' || i)) FROM generate_series(1, 60) AS i)))));
SELECT is(clutch.inbound(pg_temp.agent('{"skills": [{"id": "a-b"}, {"id": "a_b"}, {"id": "c"}], "dependencies": {"mcps": [{"name": "m", "capabilities": ["a_b"]}]}}'))
	#> '{payload,capabilities}', '[{"id": "skill:a-b", "tools": ["mcp:m"], "version": "1.0.0"}, {"id": "skill:a_b", "tools": ["mcp:m"], "version": "1.0.0"}, {"id": "skill:c", "version": "1.0.0"}, {"id": "tool:mcp", "servers": ["mcp:m"]}]',
	'and is given to those that it names');
SELECT throws_like(format('SELECT clutch.card_of(%L)', jsonb_build_object('agentId', 'p', 'scopes', pg_temp.names(45000))),
	'%the agent would be in more groups than the limit%', 'many scopes are refused');
SELECT throws_like(format('SELECT clutch.card_of(%L)', jsonb_build_object('agentId', 'p', 'role', 'r', 'scopes', pg_temp.names(64))),
	'%the agent would be in more groups than the limit of 64 (setting clutch.max_list)', 'as one too many is');
SET statement_timeout = '100s';

-- ------------------------------------------------------ words of the rules
-- nine rules as large as a rule can be, of 4.5 million words: what they take does not depend on how often a word occurs
INSERT INTO clutch.routing_rule (name, words, requires)
SELECT 'large' || r, array_agg(trim(repeat('x ', 500))), '{skill:x}' FROM generate_series(1, 9) AS r, generate_series(1, 1000) GROUP BY r;
SELECT lives_ok($$SELECT clutch.route(clutch.envelope('task.request', 'agent:a', payload => '{"text": "hello"}'))$$, 'the largest rules are read');
SELECT cmp_ok(sum(total_bytes) / 4500000, '<', 40::numeric, 'their words take little more than themselves') FROM pg_backend_memory_contexts WHERE name = 'clutch routing rules';
DELETE FROM clutch.routing_rule;
SELECT clutch.route(clutch.envelope('task.request', 'agent:a')) \g /dev/null

-- -------------------------------------------- documents beyond the limits
CREATE TABLE beyond AS
SELECT * FROM (VALUES ('TOO_LARGE', jsonb_build_object('agents', repeat('x', 1100000))), ('TOO_MANY_NODES', pg_temp.numbers(50001, '1')),
	('TOO_DEEP', pg_temp.deep('1', 65))) AS d(code, document);
CREATE FUNCTION pg_temp.refusal(call text, document jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE format('SELECT count(*) FROM clutch.%s', call) USING document;
	RETURN 'none';
EXCEPTION WHEN others THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	-- only an envelope can have its content elsewhere
	RETURN SQLSTATE || ' ' || coalesce(detail::jsonb #>> '{0,code}', '') || CASE WHEN detail ~ 'artifact' THEN ' artifact' ELSE '' END;
END $$;
SELECT is(array_agg(DISTINCT c.call || ' ' || pg_temp.refusal(c.call, b.document)), array_agg(DISTINCT c.call || ' KL014 ' || b.code), 'what is beyond the limits is refused before it is looked at')
FROM beyond AS b, unnest('{inbound($1),card_of($1),registry_cards($1),import_card($1),import_registry($1),drop_credentials($1),"model_message($1, ''claude'')","from_model($1, ''claude'')"}'::text[]) AS c(call);
SELECT is(array_agg(pg_temp.refusal('can_handle($1)', document) ORDER BY code), '{"KL014 TOO_DEEP",none,"KL014 TOO_MANY_NODES"}', 'but for its size, of which artifacts may be made')
FROM beyond;
SELECT is(pg_temp.refusal('prompt($1, ''claude'')', envelope), 'KL001 TOO_DEEP', 'no setting lets an envelope be so deep')
FROM (SELECT clutch.envelope('task.request', 'agent:a') || jsonb_build_object('payload', pg_temp.deep('1', 3000)) AS envelope) AS e;
SET clutch.max_depth = 8;
SELECT is(pg_temp.refusal('prompt($1, ''claude'')', clutch.envelope('task.request', 'agent:a') || jsonb_build_object('payload', pg_temp.deep('1', 1000))), 'none', 'what could be accepted is read under other settings');
RESET clutch.max_depth;
SELECT throws_like(format('SELECT clutch.from_model(%L, ''claude'')', jsonb_build_object('content', jsonb_build_array('{"type": "text", "text": "x"}'::jsonb,
	jsonb_build_object('type', 'text', 'text', (SELECT jsonb_agg('{"password": "a1"}'::jsonb)::text FROM generate_series(1, 49000)))))),
	'the envelope that the answer makes is not valid%', 'an answer whose envelope nobody could send is refused');
SELECT cmp_ok(mb, '<', 240, 'a card of many skills takes little memory')
FROM pg_temp.cost(format('SELECT clutch.card_as(%L, ''a2a'')', jsonb_build_object('agent_id', 'agent:p', 'capabilities', (SELECT jsonb_agg(jsonb_build_object('id', 'skill:s' || i)) FROM generate_series(1, 80000) AS i))));

-- ------------------------------------------------------------ interruptions
-- Each of these spends most of its time in one loop.  A statement that is cancelled ends somewhere in any case; here it must end within the
-- loop.  This is seen from the processor time that it has taken, which other processes do not change: the timeout is a tenth of the whole.
CREATE FUNCTION pg_temp.cpu_ms() RETURNS int LANGUAGE sql VOLATILE AS
$$ SELECT (f[12]::int + f[13]::int) * 10 FROM regexp_split_to_array(regexp_replace(pg_read_file('/proc/self/stat', 0, 8192), '^.*\) ', ''), ' ') AS f $$;
CREATE FUNCTION pg_temp.spent(statement text, OUT ms int, OUT said text) LANGUAGE plpgsql AS $$
DECLARE
	before int := pg_temp.cpu_ms();
BEGIN
	BEGIN
		EXECUTE statement INTO said;
	EXCEPTION WHEN query_canceled OR others THEN
		said := SQLSTATE || ' ' || SQLERRM;
	END;
	ms := pg_temp.cpu_ms() - before;
END $$;
-- a document that has no place for the members, and carries them with their paths
CREATE TABLE far AS SELECT clutch.envelope('task.request', 'agent:a') || jsonb_build_object('payload', (SELECT jsonb_object_agg(repeat('~', 2000) || i, i) FROM generate_series(1, 20000) AS i)) AS envelope;
CREATE TABLE crowd AS SELECT jsonb_build_object('agent_id', 'agent:p', 'groups', jsonb_agg('group:scope:' || i)) AS card FROM generate_series(1, 32000) AS i;
-- whoever writes such rules must be able to cancel what they cost
INSERT INTO clutch.routing_rule (name, words, requires)
SELECT 'x', array_agg(trim(repeat('x ', 1 + i % 400))), '{skill:x}' FROM generate_series(1, 1000) AS i;
CREATE TABLE asked AS SELECT clutch.envelope('task.request', 'agent:a', payload => jsonb_build_object('text', repeat('x ', 2000))) AS envelope;
SELECT clutch.route(envelope) FROM asked \g /dev/null
CREATE TABLE long AS SELECT clutch.envelope('chat.message', 'agent:a', payload => jsonb_build_object('text', repeat('x ', 16000000))) AS envelope;
CREATE TABLE told AS SELECT jsonb_build_object('text', '{"token": "x", "list": [' || repeat('{"a": "b"}, ', 5000000) || '1]}') AS document;
SELECT count(clutch.send(clutch.envelope('chat.message', 'agent:a', '{agent:b}', jsonb_build_object('text', repeat('x', 50000)), run_id => 'run:told'))) FROM generate_series(1, 4000) \g /dev/null
SET clutch.max_envelope_bytes = '100MB';
SET statement_timeout = '100s';

CREATE TABLE loop AS SELECT l.*, s.ms AS whole, s.said AS said_whole, NULL::int AS ms, NULL::text AS said
FROM (VALUES (1, 'the search for differences', 'SELECT clutch.outbound(envelope, ''multiagent'') IS NOT NULL FROM far'),
	(2, 'writing a card that no agent could have', 'SELECT clutch.card_as(card, ''map'') FROM crowd'),
	(3, 'the search for words', 'SELECT clutch.route(envelope) FROM asked'),
	(4, 'writing a text for a prompt', 'SELECT clutch.render(envelope) FROM long'),
	(5, 'the search for credentials', 'SELECT dropped FROM told, clutch.drop_credentials(document)'),
	(6, 'reading many events', 'SELECT count(*) FROM clutch.read_from(''beginning'', ''{"run_id": "run:told"}'', 4000)')) AS l(no, name, statement), LATERAL pg_temp.spent(l.statement) AS s;
SELECT format('SET statement_timeout = %s', greatest(whole / 10, 1)), format('UPDATE loop SET (ms, said) = (SELECT * FROM pg_temp.spent(statement)) WHERE no = %s', no) FROM loop ORDER BY no \gexec
RESET statement_timeout;
SELECT ok(said_whole !~ '^[0-9A-Z]{5} ' AND said LIKE '57014 %' AND ms < whole / 5, format('%s can be cancelled (%s of %s ms)', name, ms, whole)) FROM loop ORDER BY no;
RESET clutch.max_envelope_bytes;
DELETE FROM clutch.routing_rule;

SELECT * FROM finish();
