-- What a role may say and see (P8): it speaks for the agents that were granted to it,
-- registers no card beyond its grant, and reads the results that concern it.
\ir ../fixtures/tap.sql
SELECT plan(81);

CREATE ROLE clutch_test_ken;
CREATE ROLE clutch_test_lois;
SELECT clutch.grant_agent('clutch_test_ken', 'agent:ken');
SELECT clutch.grant_agent('clutch_test_lois', 'agent:lois', '{skill:research,mcp:files}', '{group:team-a}');
SELECT clutch.send(clutch.envelope('chat.message', 'agent:lois', run_id => 'run:of-others'));

CREATE FUNCTION pg_temp.card(agent_id text, capability jsonb, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'agent_id', agent_id,
		'capabilities', jsonb_build_array(capability)) || more $$;
CREATE FUNCTION pg_temp.fault(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE sql;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || coalesce(nullif(detail, '')::jsonb #>> '{0,code}', '');
END $$;
CREATE FUNCTION pg_temp.hint(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE sql;
	RETURN 'none';
EXCEPTION WHEN insufficient_privilege THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN hint;
END $$;
CREATE FUNCTION pg_temp.register(agent_id text, capability jsonb, more jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.fault(format('SELECT clutch.register(%L::jsonb)', pg_temp.card(agent_id, capability, more))) $$;

SELECT is(pg_temp.fault(format('SELECT clutch.grant_agent(%L, %L, %L, %L)', 'clutch_test_ken', 'agent:ken', capabilities, scopes)), fault, concat('a grant of ', coalesce(capabilities, scopes)))
FROM (VALUES ('{skill:research,skill:review@1.0}', NULL, '22023 WRONG_FORMAT'), ('{"host:api.example.com","mcp:files/read@home","*"}', NULL, 'none'),
	(NULL, '{group:team-a,team-b}', '22023 WRONG_PREFIX'), (NULL, '{NULL}', '22023 WRONG_PREFIX'), (NULL, '{"*"}', 'none'),
	('{NULL}', NULL, '22023 WRONG_FORMAT'), ('{""}', NULL, '22023 EMPTY'), (E'{"skill:a\x7Fb"}', NULL, '22023 CONTROL_CHARACTER'), (NULL, E'{"group:a\x7Fb"}', '22023 CONTROL_CHARACTER')) AS g(capabilities, scopes, fault);
SELECT is(pg_temp.fault(format('SELECT clutch.grant_agent(%L, %L)', 'clutch_test_ken', agent_id)), fault, concat('no agent: ', fault))
FROM (VALUES (NULL, '22004 NULL_VALUE'), ('', '22023 EMPTY'), (E'agent:\n', '22023 CONTROL_CHARACTER'), ('agent:' || repeat('x', 6000), '22023 TOO_LONG')) AS g(agent_id, fault);
SELECT is(pg_temp.fault($$ SELECT clutch.grant_reader('clutch_test_ken', E'{"group:a\x7Fb"}') $$), '22023 CONTROL_CHARACTER', 'nor such a scope to read');
SELECT matches(fixture.hint_of($$ SELECT clutch.grant_reader('public') $$), 'PUBLIC is not a role', 'a grant to PUBLIC gets a hint that fits');
SELECT clutch.grant_agent('clutch_test_ken', 'agent:ken');

SET ROLE clutch_test_ken;
SELECT is(pg_temp.register('agent:ken', '{"id": "skill:research"}'), '42501 CARD_NOT_GRANTED',
	'a role without granted capabilities registers no card');
SELECT is(pg_temp.register('agent:lois', '{"id": "skill:research"}'), '42501 NOT_YOUR_AGENT',
	'nor one of another agent');

SELECT is(pg_temp.hint($$ SELECT clutch.claim('agent:lois') $$), 'Use SET ROLE if another role of yours speaks for the agent, or ask the owner of the extension or a superuser to run SELECT clutch.grant_agent(role_name, agent_id).',
	'who claims for another agent is not told about contexts');
SELECT matches(pg_temp.hint($$ SELECT clutch.ingest('{"specversion": "1.0", "id": "1", "source": "lois", "type": "t"}') $$), 'the context',
	'whose document has another sender is');
SELECT is(pg_temp.hint(call) ~ 'the context', is_told, 'who calls this is told about contexts: ' || is_told || ' ' || call) FROM (VALUES
	($$ SELECT clutch.send(clutch.envelope('chat.message', 'agent:lois')) $$, false),
	($$ SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:lois", "capabilities": [{"id": "skill:research"}]}') $$, false),
	($$ SELECT clutch.schedule('s', '@daily', clutch.envelope('chat.message', 'agent:lois')) $$, false),
	($$ SELECT clutch.ingest('{"specversion": "1.0", "id": "2", "source": "ken", "type": "t"}', context => '{"agent_id": "agent:lois"}') $$, false),
	($$ SELECT clutch.ingest('{"specversion": "1.0", "id": "2", "source": "lois", "type": "t"}') $$, true),
	($$ SELECT clutch.ingest('{"specversion": "1.0", "id": "2", "source": "ken", "type": "t"}', context => '{"run_id": "run:of-others"}') $$, false)) AS c(call, is_told);
SELECT is(pg_temp.fault($$ SELECT clutch.ingest('{"specversion": "1.0", "id": "1", "source": "lois", "type": "t"}', context => '{"agent_id": "ken"}') $$), '22023 WRONG_PREFIX',
	'and whoever has left out the prefix is told so');

SET ROLE clutch_test_lois;
SELECT is(pg_temp.register('agent:lois', '{"id": "skill:research", "tools": ["mcp:files"]}', '{"scopes": ["group:team-a"]}'),
	'none', 'a card within the grant is registered');
SELECT is(pg_temp.register('agent:lois', capability, more), '42501 CARD_NOT_GRANTED', concat('not granted: ', capability, more))
FROM (VALUES
	('{"id": "skill:everything"}'::jsonb, '{}'::jsonb),
	('{"id": "skill:research", "tools": ["mcp:shell"]}', '{}'),
	('{"id": "skill:research", "trust_level": "prod"}', '{}'),
	('{"id": "skill:research"}', '{"scopes": ["group:team-b"]}'),
	('{"id": "skill:research"}', '{"groups": ["group:admins"]}'),
	('{"id": "skill:research"}', '{"security": {"sandbox": false}}'),
	('{"id": "skill:research"}', '{"security": {"network": "open"}}')) AS v(capability, more);
SELECT is(substring(pg_temp.hint(format('SELECT clutch.register(%L)', pg_temp.card('agent:lois', capability, more))) FROM 'which replaces|cannot allow'), advice, concat('who can allow it: ', capability, more))
FROM (VALUES
	('{"id": "skill:everything"}'::jsonb, '{}'::jsonb, 'which replaces'),
	('{"id": "skill:research"}', '{"scopes": ["group:team-b"]}', 'which replaces'),
	('{"id": "skill:research"}', '{"limits": {"max_concurrency": 101}}', 'which replaces'),
	('{"id": "skill:research", "trust_level": "prod"}', '{}', 'cannot allow'),
	('{"id": "skill:research"}', '{"security": {"sandbox": false}}', 'cannot allow'),
	('{"id": "skill:research"}', '{"security": {"network": "open"}}', 'cannot allow')) AS v(capability, more, advice);
SELECT is(pg_temp.fault(format('INSERT INTO clutch.events (envelope) VALUES (%L)',
		clutch.envelope('agent.update', 'agent:lois', payload => '{"agent_id": "agent:lois", "scopes": ["group:team-b"]}'))),
	'42501 CARD_NOT_GRANTED', 'an update cannot widen it either');

SELECT matches(pg_temp.hint($$ SELECT clutch.ingest('{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', 'mcp') $$), 'answer it in the program .* broadcast => true', 'who has passed on a document that only asks is told who answers it');
SELECT unalike(pg_temp.hint($$ SELECT clutch.send(clutch.envelope('chat.system', 'agent:lois')) $$), '%answer it%', 'others are not');

-- the hosts that were granted
RESET ROLE;
SELECT clutch.grant_agent('clutch_test_lois', 'agent:lois', '{skill:research,mcp:files,host:a.example,host:*.b.example}', '{group:team-a}');
SET ROLE clutch_test_lois;
SELECT is(pg_temp.register('agent:lois', '{"id": "skill:research"}', security), '42501 CARD_NOT_GRANTED', concat('hosts beyond the grant: ', security))
FROM (VALUES ('{}'::jsonb), ('{"security": {"network": "egress-restricted"}}'), ('{"security": {"egress_allowlist": ["a.example", "b.example"]}}'), ('{"security": {"egress_allowlist": ["*.example"]}}')) AS v(security);
SELECT is(pg_temp.register('agent:lois', '{"id": "skill:research"}', '{"security": {"egress_allowlist": ["x.b.example"]}}'), 'none', 'a host that was granted');
SELECT is(pg_temp.fault(format('INSERT INTO clutch.events (envelope) VALUES (%L)', clutch.envelope('agent.update', 'agent:lois', payload => '{"agent_id": "agent:lois", "security": {"network": "egress-restricted"}}'))),
	'42501 CARD_NOT_GRANTED', 'an update does not lift the list');
SELECT is(pg_temp.fault(format('INSERT INTO clutch.events (envelope) VALUES (%L)', clutch.envelope('agent.update', 'agent:lois', payload => '{"agent_id": "agent:lois", "model": "m"}'))),
	'none', 'but it may say nothing of it');
RESET ROLE;
SELECT is((SELECT card #>> '{security,egress_allowlist}' FROM clutch.agents WHERE agent_id = 'agent:lois'), '["x.b.example"]', 'and then the list stays');

-- expressions of its indexes, while another role maintains its tables
RESET ROLE;
CREATE SCHEMA clutch_test_lois AUTHORIZATION clutch_test_lois;
SET ROLE clutch_test_lois;
CREATE TABLE clutch_test_lois.trap (n integer);
CREATE FUNCTION clutch_test_lois.spring(n integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN n; END';
INSERT INTO clutch_test_lois.trap VALUES (1);
CREATE INDEX ON clutch_test_lois.trap (clutch_test_lois.spring(n));
RESET ROLE;
CREATE FUNCTION pg_temp.trap(call text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OR REPLACE FUNCTION clutch_test_lois.spring(n integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS %L',
		format('BEGIN PERFORM %s; RETURN n; END', call));
	RETURN pg_temp.fault('ANALYZE clutch_test_lois.trap');
END $$;
SELECT is(pg_temp.trap(call), '42501 RESTRICTED_OPERATION', 'code that ANALYZE runs does not have the rights of its caller: ' || call)
FROM unnest(ARRAY[$$clutch.send(clutch.envelope('chat.message', 'agent:ken'))$$, $$clutch.claim('agent:lois')$$,
	$$clutch.schedule('later', '* * * * *', clutch.envelope('chat.message', 'agent:ken'))$$,
	$$clutch.subscribe('all', '{"agent": "agent:ken"}')$$]) AS call;
SELECT is(pg_temp.trap('clutch.listen()'), '42501 ', 'and cannot LISTEN in its session');
DROP SCHEMA clutch_test_lois CASCADE;

-- results
SELECT clutch.register(pg_temp.card('agent:ken', '{"id": "skill:research"}'));
SELECT clutch.send(clutch.envelope('task.request', 'agent:ken', '{agent:lois}', task_id => 'task:k'));
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:ken}', task_id => 'task:u'));
SET ROLE clutch_test_ken;
SELECT is((SELECT status FROM clutch.result('task:k')), 'assigned', 'the requester of a task sees its status');
SELECT is((SELECT status FROM clutch.result('task:u')), 'assigned', 'and so does its assignee');
SET ROLE clutch_test_lois;
SELECT is(pg_temp.fault($$ SELECT * FROM clutch.result('task:u') $$), 'KL003 TASK_NOT_FOUND', 'but no other role');
RESET ROLE;
SELECT is((SELECT status FROM clutch.result('task:u')), 'assigned', 'except an operator');

SELECT is(pg_temp.fault($$ SELECT clutch.grant_functions('clutch_test_ken', 'agents') $$), '22023 WRONG_VALUE', 'an unknown group of functions is refused');
SELECT is(pg_temp.fault($$ SELECT clutch.grant_agent('clutch_test_ken', NULL) $$), '22004 NULL_VALUE', 'a grant is for an agent');
SELECT is(pg_temp.fault($$ SELECT clutch.join_group('group:g', NULL) $$), '22004 NULL_VALUE', 'and so is a membership');
SELECT is(pg_temp.fault($$ SELECT clutch.join_group(NULL, 'agent:ken') $$), '22004 NULL_VALUE', 'of a group');

-- the grants of a role that is dropped go with it
SELECT is(clutch.revoke_agent('clutch_test_ken', 'agent:ken'), true, 'a grant can be revoked');
SELECT lives_ok('DROP ROLE clutch_test_ken', 'then the role can be dropped');
SELECT is_empty($$ SELECT * FROM clutch.check() WHERE code = 'ROLE_GONE' $$, 'and nothing is left of it');
CREATE ROLE clutch_test_desk;
SELECT clutch.grant_reader('clutch_test_desk');
CREATE ROLE clutch_test_ken IN ROLE clutch_test_desk;
SELECT clutch.grant_agent('clutch_test_ken', 'agent:ken'), clutch.revoke_agent('clutch_test_ken', 'agent:ken');
SELECT lives_ok('DROP ROLE clutch_test_ken', 'also of a role that is a reader as a member of another one');
DROP OWNED BY clutch_test_lois;
DROP ROLE clutch_test_lois;
SELECT is((SELECT count(*)::int FROM clutch.check() WHERE code = 'ROLE_GONE'), 1, 'check() reports a role that was dropped with its grants');
CREATE ROLE clutch_test_lois;
SELECT is((SELECT count(*)::int FROM clutch.principal WHERE grantee = 'clutch_test_lois'::regrole), 0,
	'a later role of the same name inherits nothing');

-- ----------------------------------------------------- what concerns a role
CREATE TEMP TABLE shown (who text, n bigint, first text, internal bigint, uncommented bigint);
GRANT ALL ON shown TO PUBLIC;
CREATE FUNCTION pg_temp.show() RETURNS void LANGUAGE sql AS $$
	INSERT INTO shown SELECT current_user, count(*), (SELECT f.call FROM clutch.functions f LIMIT 1),
		count(*) FILTER (WHERE call ~ '^(seen_runs|sees|my_agents|count_events|grant_functions|admit|policy_support|filter_rows)\('), count(*) FILTER (WHERE purpose IS NULL)
	FROM clutch.functions
$$;
SELECT clutch.grant_agent('clutch_test_lois', 'agent:lois') \g /dev/null
SET ROLE clutch_test_lois;
SELECT pg_temp.show() \g /dev/null
SELECT is((SELECT string_agg(call, ', ') FROM clutch.functions WHERE call ~ '^(claim|rebuild|cancel|grant_agent)\('), 'claim(agent_id, max_tasks, lease), cancel(task_id, reason, by_agent)', 'the view functions shows an agent what it may call');
RESET ROLE;
SELECT pg_temp.show() \g /dev/null
SELECT is((SELECT string_agg(first, '; ') FROM shown), 'send(envelope); send(envelope)', 'in the order of use');
SELECT is((SELECT sum(internal) + sum(uncommented) FROM shown), 0::numeric, 'with their purpose, and nothing that only the extension calls');
SELECT cmp_ok((SELECT n FROM shown WHERE who = 'clutch_test_lois'), '<=', 80::bigint, 'an agent reads two screens');
SELECT cmp_ok((SELECT n FROM shown WHERE who <> 'clutch_test_lois'), '>', (SELECT n + 20 FROM shown WHERE who = 'clutch_test_lois'), 'an operator has more to call');

-- What users have made in the schema is granted to nobody.
CREATE ROLE clutch_test_other;
CREATE TABLE clutch.own_copy (note text);
ALTER TABLE clutch.own_copy OWNER TO clutch_test_other;
CREATE PROCEDURE clutch.own_procedure() LANGUAGE sql AS '';
CREATE FUNCTION clutch.own_function() RETURNS integer LANGUAGE sql AS 'SELECT 1';
SELECT is(pg_temp.fault($$ SELECT clutch.grant_operator('clutch_test_lois'), clutch.grant_reader('clutch_test_lois') $$), 'none', 'tables and procedures of users in the schema are not in the way of grants');
SELECT is((SELECT count(*) FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = 'clutch.own_copy'::regclass AND a.grantee = 'clutch_test_lois'::regrole)
	+ (SELECT count(*) FROM pg_proc p, aclexplode(p.proacl) a WHERE p.oid = 'clutch.own_function()'::regprocedure AND a.grantee = 'clutch_test_lois'::regrole), 0::bigint, 'nor granted');
DROP TABLE clutch.own_copy;
DROP PROCEDURE clutch.own_procedure();
DROP FUNCTION clutch.own_function();
DROP ROLE clutch_test_other;

SELECT throws_ok($$ SET clutch.orchestrator = 'bogus' $$, '22023', NULL, 'clutch.orchestrator must be an agent');

-- what an update grants to all roles at once
CREATE ROLE "trust_grants-Ann";
CREATE ROLE trust_grants_bob;
SELECT clutch.grant_agent('trust_grants-Ann', 'agent:ann'), clutch.grant_reader('trust_grants_bob') \g /dev/null
CREATE FUNCTION pg_temp.rights() RETURNS text LANGUAGE sql AS $$
	SELECT md5(string_agg(a, ' ' ORDER BY a COLLATE "C"))
	FROM (SELECT concat_ws(' ', p.oid::regprocedure, x.grantee::regrole) FROM pg_proc p, aclexplode(p.proacl) AS x WHERE p.pronamespace = 'clutch'::regnamespace
		  UNION ALL
		  SELECT concat_ws(' ', c.oid::regclass, x.grantee::regrole, x.privilege_type) FROM pg_class c, aclexplode(c.relacl) AS x WHERE c.relnamespace = 'clutch'::regnamespace
		  UNION ALL
		  SELECT concat_ws(' ', c.attname, x.grantee::regrole, x.privilege_type) FROM pg_attribute c, aclexplode(c.attacl) AS x WHERE c.attrelid = 'clutch.events'::regclass) AS f(a)
$$;
CREATE TEMP TABLE given AS SELECT pg_temp.rights() AS rights;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA clutch FROM "trust_grants-Ann", trust_grants_bob;
REVOKE ALL ON ALL TABLES IN SCHEMA clutch FROM "trust_grants-Ann", trust_grants_bob;
REVOKE ALL ON SCHEMA clutch FROM "trust_grants-Ann", trust_grants_bob;
SELECT isnt(pg_temp.rights(), rights, 'two roles have lost their rights') FROM given;
SELECT clutch.grant_again() \g /dev/null
SELECT is(pg_temp.rights(), rights, 'grant_again gives each of them what it had') FROM given;
SELECT is(has_schema_privilege('trust_grants-Ann', 'clutch', 'USAGE') AND has_schema_privilege('trust_grants_bob', 'clutch', 'USAGE'), true, 'and the schema');
DELETE FROM clutch.principal WHERE agent_id = 'agent:ann';
DELETE FROM clutch.privilege WHERE grantee = 'trust_grants_bob'::regrole;
DROP OWNED BY "trust_grants-Ann", trust_grants_bob;
DROP ROLE "trust_grants-Ann", trust_grants_bob;

SELECT * FROM finish();
DROP OWNED BY clutch_test_desk, clutch_test_lois;
DROP ROLE clutch_test_desk, clutch_test_lois;
