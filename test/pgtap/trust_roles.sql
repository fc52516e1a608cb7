-- The table of docs/roles.md: which role may say what, each row tried as the roles
-- themselves.  What is seen is in trust_levels.sql and trust_visible.sql, tricks are in
-- trust_tricks.sql.
\ir ../fixtures/tap.sql
SELECT plan(131);
SET clutch.notify = off;
-- A server that preloads the library would refuse TRUNCATE before it asks who may do it.
SET clutch.allow_ddl = on;
CREATE TABLE fixture.role (name text, place int);
INSERT INTO fixture.role VALUES ('operator', 1), ('app', 2), ('reader', 3), ('scoped', 4), ('other', 5);
SELECT format('CREATE ROLE clutch_test_%s', name) FROM fixture.role \gexec
CREATE ROLE clutch_test_someone;
SELECT clutch.grant_operator('clutch_test_operator'), clutch.grant_reader('clutch_test_reader'), clutch.grant_reader('clutch_test_scoped', '{group:team}'),
	clutch.grant_agent('clutch_test_app', 'agent:app', '{skill:x}', limits => '{"max_concurrency": 4}') \g /dev/null
GRANT USAGE ON SCHEMA public TO PUBLIC;

-- app has a task of its own and has failed another; lois has the same
SELECT fixture.agent(name, 4, more => '{"scopes": ["group:team"]}') FROM unnest('{app,lois}'::text[]) name \g /dev/null
SELECT fixture.ask(name || n, whom => 'agent:' || name, skill => NULL, run => 'run:' || name, orders => '{"scope": "group:team"}') FROM unnest('{app,lois}'::text[]) name, generate_series(1, 3) n \g /dev/null
SELECT count(*) FROM clutch.claim('agent:app', 3) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:lois', 3) \g /dev/null
SELECT clutch.fail('agent:' || name, name || 2, 'BROKEN', 'it broke', false) FROM unnest('{app,lois}'::text[]) name \g /dev/null
SELECT clutch.progress('agent:' || name, name || 3, '{"state": "input_required", "question": "which?"}') FROM unnest('{app,lois}'::text[]) name \g /dev/null
SELECT clutch.tick() \g /dev/null

CREATE FUNCTION fixture.said(agent text, type text DEFAULT 'chat.message', payload jsonb DEFAULT '{}', run text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope(type, 'agent:' || agent, payload => payload, run_id => coalesce(run, 'run:new:' || agent))
$$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fixture TO PUBLIC;
SELECT clutch.send(fixture.said('lois', run => 'run:talk')) \g /dev/null
SELECT fixture.seal() \g /dev/null
SELECT FROM clutch.import_registry('{"version": "3.0", "orchestrator": "desk", "agents": {"clerk": {}}}');
CREATE TABLE fixture.first AS SELECT run_id, min(seq) AS seq FROM clutch.events GROUP BY run_id;
GRANT SELECT ON fixture.first TO PUBLIC;

-- "ok", or what a statement of the role raises.  What it did is undone.
CREATE FUNCTION fixture.tries(role text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	state text;
BEGIN
	IF role <> 'owner' THEN
		EXECUTE format('SET LOCAL ROLE clutch_test_%s', role);
	END IF;
	EXECUTE statement;
	RAISE 'done' USING ERRCODE = 'UK000';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, state = RETURNED_SQLSTATE;
	RETURN CASE WHEN state = 'UK000' THEN 'ok' ELSE concat_ws(' ', state, CASE WHEN detail LIKE '[%' THEN detail::jsonb -> 0 ->> 'code' END) END;
END $$;

-- ----------------------------------------------------------------- the table
-- "all" is ok, and "-" is 42501; %s is the agent: app's own, and then lois, who is
-- another one's.  The columns: operator, app for its own, app for another's, reader,
-- scoped reader, other.
CREATE TABLE fixture.verb (place serial, what text, statement text, operator text, own text, others text, reader text, scoped text, other text);
INSERT INTO fixture.verb (what, statement, operator, own, others, reader, scoped, other)
SELECT what, statement, operator, own, others, 'reads' = ANY (more) , 'scoped' = ANY (more), 'none' FROM (VALUES
('a plain INSERT', $$INSERT INTO clutch.events (envelope) VALUES (fixture.said('%s'))$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'::text[]),
('an INSERT with RETURNING', $$INSERT INTO clutch.events (envelope) VALUES (fixture.said('%s')) RETURNING seq, envelope$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.send', $$SELECT clutch.send(fixture.said('%s'))$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.send into a run', $$SELECT clutch.send(fixture.said('app', run => 'run:%s'))$$, 'ok', 'ok', '42501 NOT_A_PARTICIPANT', '{}'),
('clutch.send_batch', $$SELECT clutch.send_batch(ARRAY[fixture.said('%s')])$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.send_at', $$SELECT clutch.send_at(fixture.said('%s', 'task.request'), clutch.now() + interval '1 h')$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.claim', $$SELECT * FROM clutch.claim('agent:%s')$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.extend_lease', $$SELECT clutch.extend_lease('agent:%1$s', '%1$s1', 1)$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.progress', $$SELECT clutch.progress('agent:%1$s', '%1$s1', '{}', 1)$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.finish', $$SELECT clutch.finish('agent:%1$s', '%1$s1', '{}', 1)$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.finish of a task of others', $$SELECT clutch.finish('agent:app', '%s1', '{}')$$, NULL, 'ok', 'KL003 TASK_NOT_FOUND', '{}'),
('clutch.fail', $$SELECT clutch.fail('agent:%1$s', '%1$s1', 'X', 'x', true, NULL, 1)$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.report', $$SELECT clutch.report('agent:%1$s', '%1$s1', 'task.progress')$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.step', $$SELECT clutch.step('agent:%1$s', '%1$s1', 'one', '1', 1)$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.suspend', $$SELECT clutch.suspend('agent:%1$s', '%1$s1', '{"for_ms": 1000}', NULL, 1)$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.release', $$SELECT clutch.release('agent:%1$s', '%1$s1', 1)$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.answer', $$SELECT clutch.answer('%s3', '{}')$$, 'ok', 'ok', 'KL003 TASK_NOT_FOUND', '{}'),
('clutch.cancel', $$SELECT clutch.cancel('%s1')$$, 'ok', 'ok', 'KL003 TASK_NOT_FOUND', '{}'),
('clutch.cancel in the name of', $$SELECT clutch.cancel('%1$s1', by_agent => 'agent:%1$s')$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.cancel_run', $$SELECT clutch.cancel_run('run:%s')$$, 'ok', 'ok', '42501 NOT_A_PARTICIPANT', '{}'),
('clutch.retry', $$SELECT clutch.retry('%s2')$$, 'ok', 'ok', 'KL003 TASK_NOT_FOUND', '{}'),
('clutch.retry_run', $$SELECT clutch.retry_run('run:%s')$$, 'ok', 'ok', '42501 NOT_A_PARTICIPANT', '{}'),
('clutch.register', $$SELECT clutch.register(fixture.card('%s', 4))$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.register beyond the grant', $$SELECT clutch.register(fixture.card('%s', 5, '{skill:y}'))$$, 'ok', '42501 CARD_NOT_GRANTED', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.set_status', $$SELECT clutch.set_status('agent:%s', 'BUSY')$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.heartbeat', $$SELECT clutch.heartbeat('agent:%s')$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.unregister', $$SELECT clutch.unregister('agent:%s')$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.pause', $$SELECT clutch.pause('agent:%s')$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.resume', $$SELECT clutch.resume('agent:%s')$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.pause of a capability', $$SELECT clutch.pause('skill:%s')$$, 'ok', '42501 NOT_AN_OPERATOR', '42501 NOT_AN_OPERATOR', '{}'),
('clutch.schedule', $$SELECT clutch.schedule('daily', '@daily', fixture.said('%s'))$$, 'ok', 'ok', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.unschedule', $$SELECT clutch.unschedule('%s')$$, 'ok', 'ok', 'ok', '{}'),
('chat.system', $$SELECT clutch.send(fixture.said('%s', 'chat.system'))$$, 'ok', '42501 BROADCAST_NOT_GRANTED', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.tick', $$SELECT clutch.tick()$$, 'ok', 'ok', 'ok', '{}'),
('clutch.add_key', $$SELECT clutch.add_key('agent:%s', 'k1', '\xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')$$, 'ok', '42501 NOT_AN_OPERATOR', '42501 NOT_AN_OPERATOR', '{}'),
('clutch.revoke_key', $$SELECT clutch.revoke_key('agent:%s', 'k0')$$, '42704 KEY_NOT_FOUND', '42704 KEY_NOT_FOUND', '42501 NOT_YOUR_AGENT', '{}'),
('clutch.put_artifact', $$SELECT clutch.put_artifact('%s', 'text/plain')$$, 'ok', 'ok', 'ok', '{}'),
('clutch.begin_artifact', $$SELECT clutch.finish_artifact(u) FROM clutch.begin_artifact('text/plain') u, clutch.append_artifact(u, '%s')$$, 'ok', 'ok', 'ok', '{}'),
-- reading
('clutch.result', $$SELECT * FROM clutch.result('%s1')$$, 'ok', 'ok', 'KL003 TASK_NOT_FOUND', '{reads,scoped}'),
('clutch.steps', $$SELECT * FROM clutch.steps('%s1')$$, 'ok', 'ok', 'KL003 TASK_NOT_FOUND', '{reads,scoped}'),
('clutch.why', $$SELECT * FROM clutch.why('%s1')$$, 'ok', 'ok', 'KL003 TASK_NOT_FOUND', '{reads,scoped}'),
('clutch.task_tree', $$SELECT 1 / count(*) FROM clutch.task_tree('run:%s')$$, 'ok', 'ok', '22012', '{reads,scoped}'),
('clutch.replay', $$SELECT 1 / count(*) FROM clutch.replay('run:%s')$$, 'ok', 'ok', '22012', '{reads,scoped}'),
('clutch.run_graph', $$SELECT 1 / strpos(clutch.run_graph('run:%1$s'), '%1$s1')$$, 'ok', 'ok', '22012', '{reads,scoped}'),
('SELECT of the log', $$SELECT 1 / count(*) FROM clutch.events WHERE run_id = 'run:%s'$$, 'ok', 'ok', '22012', '{reads,scoped}'),
('SELECT of the state', $$SELECT 1 / count(*) FROM clutch.task WHERE task_id = '%s1'$$, 'ok', 'ok', '22012', '{reads,scoped}'),
('SELECT of a view', $$SELECT 1 / count(*) FROM clutch.tasks WHERE task_id = '%s1'$$, 'ok', 'ok', '22012', '{reads,scoped}'),
('clutch.read_from', $$SELECT 1 / count(*) FROM clutch.read_from('beginning', '{"run_id": "run:%s"}')$$, 'ok', 'ok', '22012', '{reads,scoped}'),
('clutch.subscribe, read, commit', $$SELECT clutch.commit(s, max(r.pos)), 1 / count(r.pos) FROM clutch.subscribe('s', '{"run_id": "run:%s"}', 'beginning') s LEFT JOIN LATERAL clutch.read(s) r ON true GROUP BY s$$, 'ok', 'ok', '22012', '{reads,scoped}'),
('clutch.unsubscribe', $$SELECT clutch.unsubscribe('%s')$$, 'ok', 'ok', 'ok', '{reads,scoped}'),
('clutch.route', $$SELECT clutch.route(fixture.said('%s', 'task.request'))$$, 'ok', 'ok', 'ok', '{reads,scoped}'),
('clutch.listen', $$SELECT clutch.listen('run', 'run:new:%s')$$, 'ok', 'ok', 'ok', '{reads,scoped}'),
('clutch.workflow_status', $$SELECT * FROM clutch.workflow_status('run:%s')$$, 'ok', 'ok', 'ok', '{reads}'),
('clutch.prove', $$SELECT clutch.prove(seq) FROM fixture.first WHERE run_id = 'run:%s'$$, 'ok', 'ok', '42704 EVENT_NOT_FOUND', '{reads}'),
('clutch.agents', $$SELECT * FROM clutch.agents$$, 'ok', '42501', '42501', '{reads}'),
('clutch.find_agents', $$SELECT * FROM clutch.find_agents('{skill:x}')$$, 'ok', '42501', '42501', '{reads}'),
('clutch.metrics', $$SELECT * FROM clutch.metrics()$$, 'ok', '42501', '42501', '{reads}'),
('clutch.prometheus', $$SELECT clutch.prometheus()$$, 'ok', '42501', '42501', '{reads}'),
('clutch.check', $$SELECT * FROM clutch.check()$$, 'ok', '42501', '42501', '{reads}'),
('clutch.export', $$SELECT * FROM clutch.export('run:%s')$$, 'ok', '42501', '42501', '{reads}'),
('clutch.verify_log', $$SELECT * FROM clutch.verify_log()$$, 'ok', '42501', '42501', '{reads}'),
('clutch.export_card', $$SELECT clutch.export_card('agent:%s')$$, 'ok', '42501', '42501', '{reads}'),
('clutch.export_registry', $$SELECT clutch.export_registry()$$, 'ok', '42501', '42501', '{reads}'),
('clutch.export_registry of one', $$SELECT clutch.export_registry('desk')$$, 'ok', '42501', '42501', '{reads}'),
-- operating
('clutch.settle', $$SELECT clutch.settle()$$, 'ok', '42501', '42501', '{}'),
('clutch.prune', $$SELECT clutch.prune('-infinity')$$, 'ok', '42501', '42501', '{}'),
('clutch.redact', $$SELECT clutch.redact(seq, 'law') FROM fixture.first WHERE run_id = 'run:talk'$$, 'ok', '42501', '42501', '{}'),
('clutch.rebuild', $$SELECT clutch.rebuild()$$, 'ok', '42501', '42501', '{}'),
('clutch.import', $$SELECT clutch.import('{}')$$, '22023 WRONG_FORMAT', '42501', '42501', '{}'),
('clutch.seal', $$SELECT clutch.seal()$$, 'ok', '42501', '42501', '{}'),
('clutch.set_retry_policy', $$SELECT clutch.set_retry_policy('report.v1', 2)$$, 'ok', '42501', '42501', '{}'),
('clutch.set_quota', $$SELECT clutch.set_quota('clutch_test_app', 'steps', 5)$$, 'ok', '42501', '42501', '{}'),
('clutch.join_group', $$SELECT clutch.join_group('group:desk', 'agent:%s')$$, 'ok', '42501', '42501', '{}'),
('clutch.leave_group', $$SELECT clutch.leave_group('group:desk', 'agent:%s')$$, 'ok', '42501', '42501', '{}'),
('clutch.register_schema', $$SELECT clutch.register_schema('own.v1', '{"type": "object"}')$$, 'ok', '42501', '42501', '{}'),
('clutch.register_workflow', $$SELECT clutch.register_workflow('{"workflow": "w", "steps": [{"id": "one", "expects": {"payload_type": "w.v1"}}]}')$$, 'ok', '42501', '42501', '{}'),
('clutch.unregister_workflow', $$SELECT clutch.unregister_workflow('none', 1)$$, 'ok', '42501', '42501', '{}'),
-- for the owner alone
('an INSERT with seq', $$INSERT INTO clutch.events (seq, envelope) VALUES (1000, fixture.said('%s'))$$, '42501', '42501', '42501', '{}'),
('an INSERT with another column', $$INSERT INTO clutch.events (from_agent, envelope) VALUES ('agent:lois', fixture.said('%s'))$$, '42501', '42501', '42501', '{}'),
('an UPDATE of the log', $$UPDATE clutch.events SET late = true$$, '42501', '42501', '42501', '{}'),
('a DELETE from the log', $$DELETE FROM clutch.events$$, '42501', '42501', '42501', '{}'),
('a TRUNCATE of the log', $$TRUNCATE clutch.events$$, '42501', '42501', '42501', '{}'),
('an UPDATE of the state', $$UPDATE clutch.task SET priority = 4 WHERE task_id = '%s1'$$, '42501', '42501', '42501', '{}'),
('an INSERT into the state', $$INSERT INTO clutch.pause (what, since) VALUES ('agent:%s', now())$$, '42501', '42501', '42501', '{}'),
('a DELETE from the state', $$DELETE FROM clutch.ready$$, '42501', '42501', '42501', '{}'),
('clutch.grant_agent', $$SELECT clutch.grant_agent('clutch_test_someone', 'agent:%s')$$, '42501', '42501', '42501', '{}'),
('clutch.grant_reader', $$SELECT clutch.grant_reader('clutch_test_someone')$$, '42501', '42501', '42501', '{}'),
('clutch.grant_operator', $$SELECT clutch.grant_operator('clutch_test_someone')$$, '42501', '42501', '42501', '{}'),
('clutch.revoke_agent', $$SELECT clutch.revoke_agent('clutch_test_app', 'agent:app')$$, '42501', '42501', '42501', '{}'),
('clutch.revoke_reader', $$SELECT clutch.revoke_reader('clutch_test_reader')$$, '42501', '42501', '42501', '{}'),
('clutch.revoke_operator', $$SELECT clutch.revoke_operator('clutch_test_operator')$$, '42501', '42501', '42501', '{}'),
('clutch.grant_functions', $$SELECT clutch.grant_functions('clutch_test_someone', 'operator')$$, '42501', '42501', '42501', '{}'),
('clutch.grant_tables', $$SELECT clutch.grant_tables('clutch_test_someone', 'operator')$$, '42501', '42501', '42501', '{}'),
('clutch.filter_rows', $$SELECT clutch.filter_rows()$$, '42501', '42501', '42501', '{}'),
('clutch.grant_again', $$SELECT clutch.grant_again()$$, '42501', '42501', '42501', '{}'),
('clutch.grant_all', $$SELECT clutch.grant_all()$$, '42501', '42501', '42501', '{}'),
('a trigger on the log', $$CREATE TRIGGER spy AFTER INSERT ON clutch.events EXECUTE FUNCTION clutch.keys_changed()$$, '42501', '42501', '42501', '{}'),
('a rule on a view', $$CREATE RULE spy AS ON INSERT TO clutch.tasks DO ALSO NOTHING$$, '42501', '42501', '42501', '{}'),
('a policy of its own', $$CREATE POLICY mine ON clutch.events USING (true)$$, '42501', '42501', '42501', '{}'),
('the end of the policies', $$ALTER TABLE clutch.events DISABLE ROW LEVEL SECURITY$$, '42501', '42501', '42501', '{}'),
('an object in the schema', $$CREATE FUNCTION clutch.spy() RETURNS int LANGUAGE sql AS 'SELECT 1'$$, '42501', '42501', '42501', '{}'),
('a lock on the log', $$LOCK TABLE clutch.events IN SHARE MODE$$, '42501', '42501', '42501', '{}'),
('clutch.clock', $$SET clutch.clock = '2026-02-01T13:20:00Z'$$, '42501', '42501', '42501', '{}'),
('clutch.orchestrator', $$SET clutch.orchestrator = 'agent:%s'$$, '42501', '42501', '42501', '{}')
) AS v(what, statement, operator, own, others, more);
UPDATE fixture.verb SET reader = CASE reader WHEN 'true' THEN 'ok' ELSE '42501' END, scoped = CASE scoped WHEN 'true' THEN 'ok' ELSE '42501' END, other = '42501';
-- SET is no privilege of ours, and leaves the schema alone.
SELECT is(concat_ws(', ', 'operator ' || fixture.tries('operator', format(statement, 'app')), 'own ' || fixture.tries('app', format(statement, 'app')), 'others ' || fixture.tries('app', format(statement, 'lois')),
		'reader ' || fixture.tries('reader', format(statement, 'app')), 'scoped ' || fixture.tries('scoped', format(statement, 'app')), 'other ' || fixture.tries('other', format(statement, 'app'))),
	concat_ws(', ', 'operator ' || coalesce(operator, fixture.tries('operator', format(statement, 'app'))), 'own ' || own, 'others ' || others, 'reader ' || reader, 'scoped ' || scoped, 'other ' || other), what)
FROM fixture.verb ORDER BY place;
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id LIKE 'run:new%'), 0::bigint, 'what was tried is undone');
-- what only the owner does
SELECT is(string_agg(what || ' ' || fixture.tries('owner', format(statement, 'app')), ', ' ORDER BY place),
	'an UPDATE of the log KL007 LOG_IS_APPEND_ONLY, a DELETE from the log KL007 LOG_IS_APPEND_ONLY, a TRUNCATE of the log KL007 LOG_IS_APPEND_ONLY, an UPDATE of the state ok, clutch.grant_agent ok, clutch.grant_reader ok, clutch.grant_operator ok, clutch.revoke_agent ok, clutch.revoke_reader ok, clutch.revoke_operator ok',
	'the owner gives and takes rights, and does not change the log, either')
FROM fixture.verb WHERE what ~ 'of the log|DELETE from the log|UPDATE of the state|clutch.(grant|revoke)_(agent|reader|operator)$' AND what !~ 'SELECT|lock';

-- ------------------------------------------------------------ every relation
-- What each role may read, and that nobody but the owner writes.
CREATE FUNCTION fixture.reads(role text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	r text;
BEGIN
	FOR r IN SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = 'clutch'::regnamespace AND c.relkind IN ('r', 'v') LOOP
		IF fixture.tries(role, format('SELECT * FROM %s LIMIT 0', r)) = 'ok' THEN
			RETURN NEXT r;
		END IF;
	END LOOP;
END $$;
SELECT bag_eq($$SELECT fixture.reads('app')$$, $$SELECT relation::text FROM clutch.agent_views$$, 'an agent reads what is listed, and no other relation');
SELECT bag_eq($$SELECT fixture.reads('scoped')$$, $$SELECT relation::text FROM clutch.agent_views$$, 'so does a reader of a scope');
SELECT is((SELECT count(*) FROM fixture.reads(name)), (SELECT count(*) FROM pg_class WHERE relnamespace = 'clutch'::regnamespace AND relkind IN ('r', 'v')), name || ' reads all') FROM fixture.role WHERE name IN ('operator', 'reader');
SELECT is_empty($$SELECT fixture.reads('other')$$, 'nobody else reads any');
SELECT is_empty($$SELECT relation FROM clutch.agent_views v JOIN pg_class c ON c.oid = v.relation WHERE c.relkind = 'r' AND NOT c.relrowsecurity AND v.relation::text NOT IN ('clutch.pause', 'clutch.workflow', 'clutch.adapter', 'clutch.epoch')$$, 'what an agent reads is filtered, but for what belongs to nobody');
SELECT is((SELECT string_agg(concat_ws(' ', r.name, c.oid::regclass, p), ', ' ORDER BY r.place, c.relname, p) FROM fixture.role r, pg_class c, unnest('{INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) p
	WHERE c.relnamespace = 'clutch'::regnamespace AND c.relkind IN ('r', 'v') AND has_table_privilege('clutch_test_' || r.name, c.oid, p)),
	'operator clutch.adapter DELETE, operator clutch.adapter INSERT, operator clutch.adapter UPDATE, operator clutch.endpoint DELETE, operator clutch.endpoint INSERT, operator clutch.endpoint UPDATE, operator clutch.group_member DELETE, operator clutch.group_member INSERT, operator clutch.group_member UPDATE, operator clutch.quota DELETE, operator clutch.quota INSERT, operator clutch.quota UPDATE, operator clutch.registry_document DELETE, operator clutch.registry_document INSERT, operator clutch.registry_document UPDATE, operator clutch.retry_policy DELETE, operator clutch.retry_policy INSERT, operator clutch.retry_policy UPDATE, operator clutch.routing_rule DELETE, operator clutch.routing_rule INSERT, operator clutch.routing_rule UPDATE', 'an operator writes the tables of policies, and nobody any other');
SELECT is((SELECT string_agg(concat_ws(' ', r.name, a.attname), ', ' ORDER BY r.place) FROM fixture.role r, pg_attribute a
	WHERE a.attrelid = 'clutch.events'::regclass AND a.attnum > 0 AND has_column_privilege('clutch_test_' || r.name, a.attrelid, a.attnum, 'INSERT')), 'operator envelope, app envelope', 'of the log, operators and agents write the envelope');
SELECT is((SELECT string_agg(DISTINCT concat_ws(' ', r.name, c.oid::regclass, p), ', ') FROM fixture.role r, pg_class c, unnest('{UPDATE,USAGE}'::text[]) p WHERE c.relnamespace = 'clutch'::regnamespace AND c.relkind = 'S' AND has_sequence_privilege('clutch_test_' || r.name, c.oid, p)), NULL, 'nobody draws from a sequence');

-- ------------------------------------------------------------------- grants
SELECT is((SELECT string_agg(concat_ws(' ', role, agent, privilege, scope, detail), ', ' ORDER BY role::text, privilege) FROM clutch.privileges WHERE role::text LIKE 'clutch_test%'),
	'clutch_test_app agent:app limit max_concurrency 4, clutch_test_app agent:app register skill:x, clutch_test_app agent:app speak, clutch_test_operator operate, clutch_test_reader read, clutch_test_scoped read group:team', 'one view shows what was granted');
SELECT is(fixture.tries('owner', format($$SELECT clutch.grant_agent('clutch_test_someone', 'agent:s', '{*}', limits => %L)$$, limits)), fault, concat('limits: ', limits))
FROM (VALUES ('{"max_concurrency": 1}', 'ok'), ('{"max_concurrency": 999999999}', 'ok'), ('{}', 'ok'), (NULL, 'ok'), ('{"max_concurrency": 0}', '22023 WRONG_VALUE'), ('{"max_concurrency": -1}', '22023 WRONG_VALUE'),
	('{"max_concurrency": 1000000000}', '22023 WRONG_VALUE'), ('{"max_concurrency": 1.5}', '22023 WRONG_VALUE'), ('{"max_concurrency": 1e2}', 'ok'), ('{"max_concurrency": "4"}', '22023 WRONG_VALUE'), ('{"max_concurrency": null}', '22023 WRONG_VALUE'),
	('{"max_tokens": 5}', '22023 WRONG_VALUE'), ('[]', '22023 WRONG_VALUE'), ('4', '22023 WRONG_VALUE'), ('null', '22023 WRONG_VALUE')) AS v(limits, fault);
DROP OWNED BY clutch_test_operator, clutch_test_app, clutch_test_reader, clutch_test_scoped, clutch_test_other, clutch_test_someone CASCADE;
SELECT format('DROP ROLE clutch_test_%s', name) FROM fixture.role \gexec
DROP ROLE clutch_test_someone;
SELECT * FROM finish();
