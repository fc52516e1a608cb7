-- How far a run can be seen: each level of visibility, for each kind of role, through
-- everything that shows a part of a run.  Roles are set as an application sets them.
\ir ../fixtures/tap.sql
SELECT plan(107);
SET clutch.notify = off;
SELECT clutch.tick() \g /dev/null

-- ------------------------------------------------------------------ the roles
-- boss requests a and b; ann has a and requests a1 of cat; dan had b and has handed it
-- over to bob.  fox holds the scope as an agent, gil as a reader; hal reads another scope; eve has nothing but an
-- agent of her own.
CREATE TABLE fixture.person (role text, place int, is_all boolean);
INSERT INTO fixture.person VALUES ('dan', 0), ('boss', 1), ('ann', 2), ('bob', 3), ('cat', 4), ('fox', 5), ('gil', 6), ('hal', 7), ('eve', 8), ('reader', 9), ('operator', 10);
SELECT format('CREATE ROLE clutch_test_%s', role) FROM fixture.person \gexec
SELECT clutch.grant_agent('clutch_test_' || role, 'agent:' || role, '{*}') FROM fixture.person WHERE place < 5 OR role = 'eve' \g /dev/null
SELECT clutch.grant_agent('clutch_test_fox', 'agent:fox', NULL, '{group:team}'), clutch.grant_reader('clutch_test_gil', '{group:team}'),
	clutch.grant_reader('clutch_test_hal', '{group:other}'), clutch.grant_reader('clutch_test_reader'), clutch.grant_operator('clutch_test_operator') \g /dev/null
SELECT fixture.agent(role, 99, '{skill:x}', '{}', '{"scopes": ["group:team"]}') FROM fixture.person WHERE place < 5 \g /dev/null

-- ------------------------------------------------------------------- the runs
CREATE TABLE fixture.level (name text, place int);
INSERT INTO fixture.level VALUES ('public', 1), ('scope', 2), ('parent-only', 3), ('private', 4);
CREATE FUNCTION fixture.says(agent text, whom text, level text, task text, type text, payload jsonb DEFAULT '{}', more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope(type, 'agent:' || agent, ARRAY['agent:' || whom], payload, run_id => 'run:' || level, thread_id => 'thread:' || level,
		task_id => concat_ws(':', 'task', level, task)) || more
$$;
CREATE FUNCTION fixture.plays(level text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	orders jsonb := jsonb_build_object('clutch', jsonb_build_object('scope', 'group:team', 'visibility', level, 'budget', '{"tokens": 5000}'::jsonb));
	ref text := clutch.put_artifact(convert_to('content of ' || level, 'UTF8'), 'text/plain');
BEGIN
	PERFORM clutch.send(fixture.says('boss', 'ann', level, 'a', 'task.request', more => jsonb_build_object('meta', orders)));
	PERFORM clutch.send(fixture.says('boss', 'dan', level, 'b', 'task.request'));
	PERFORM clutch.claim('agent:ann', 9), clutch.claim('agent:dan', 9);
	PERFORM clutch.send(fixture.says('dan', 'bob', level, 'b', 'task.request'));
	PERFORM clutch.claim('agent:bob', 9);
	PERFORM clutch.send(fixture.says('ann', 'cat', level, 'a1', 'task.request', more => jsonb_build_object('parent_task_id', 'task:' || level || ':a')));
	PERFORM clutch.claim('agent:cat', 9);
	PERFORM clutch.progress('agent:bob', 'task:' || level || ':b', '{"pct": 50}', usage => '{"input_tokens": 100, "cost": 1}');
	PERFORM clutch.step('agent:ann', 'task:' || level || ':a', 'outline', '"draft"');
	PERFORM clutch.progress('agent:ann', 'task:' || level || ':a', '{"state": "input_required", "question": "which?"}');
	PERFORM clutch.finish('agent:bob', 'task:' || level || ':b', '{"answer": 42}',
		attachments => jsonb_build_array(jsonb_build_object('kind', 'artifact_ref', 'ref', ref)));
	-- a message about a task that nobody has requested
	PERFORM clutch.send(fixture.says('boss', 'orchestrator', level, 'talk', 'chat.message'));
END $$;
SELECT fixture.plays(name) FROM fixture.level \g /dev/null
-- Others take the name of that task, each in a run of their own, and so do not get to
-- see what is said of it elsewhere.
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fixture TO PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA fixture TO PUBLIC;
CREATE FUNCTION fixture.poses(role text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SET LOCAL ROLE clutch_test_%s', role);
	PERFORM clutch.send(clutch.envelope('task.request', 'agent:' || role, ARRAY['agent:' || role], run_id => 'run:own:' || role, task_id => 'task:' || name || ':talk',
		meta => '{"clutch": {"visibility": "parent-only"}}')) FROM fixture.level WHERE name <> 'parent-only';
	RESET ROLE;
END $$;
SELECT fixture.poses('eve') \g /dev/null
-- of the tasks of bob's own run, one has the name of what is said in a run that he sees in part
SELECT clutch.send(clutch.envelope('task.request', 'agent:bob', '{agent:bob}', run_id => 'run:own:bob', task_id => 'task:parent-only:talk')) \g /dev/null

-- ------------------------------------------------------------------- the table
-- Which of the tasks a role sees: this is the table of docs/roles.md.
CREATE FUNCTION fixture.seen(role text, level text) RETURNS text[] LANGUAGE sql AS $$
	SELECT CASE
		WHEN role IN ('reader', 'operator') OR level = 'public' THEN '{a,a1,b,talk}'::text[]
		WHEN role IN ('boss', 'ann', 'bob', 'cat', 'dan') AND level IN ('scope', 'private') THEN '{a,a1,b,talk}'
		WHEN role IN ('fox', 'gil') AND level = 'scope' THEN '{a,a1,b,talk}'
		WHEN level = 'parent-only' AND role = 'boss' THEN '{a,a1,b}'
		WHEN level = 'parent-only' AND role = 'ann' THEN '{a,a1}'
		WHEN level = 'parent-only' AND role IN ('bob', 'dan') THEN '{b}'
		WHEN level = 'parent-only' AND role = 'cat' THEN '{a1}'
		ELSE '{}' END
$$;
-- all of the run, or what belongs to no task of it
CREATE FUNCTION fixture.is_whole(seen text[]) RETURNS boolean LANGUAGE sql AS $$ SELECT 'talk' = ANY (seen) $$;

-- Through what: a query that returns the tasks that it shows, and what of the tasks that
-- the role sees it shows.  tasks: but for the message; whole: all if the whole run is seen.
CREATE TABLE fixture.window (name text, shows text, query text);
INSERT INTO fixture.window VALUES
('clutch.events', 'all', $$SELECT DISTINCT task_id FROM clutch.events WHERE run_id = 'run:%s'$$),
('clutch.events by task', 'all', $$SELECT DISTINCT task_id FROM clutch.events WHERE task_id LIKE 'task:%s:%%' AND run_id NOT LIKE 'run:own%%'$$),
('clutch.events by thread', 'all', $$SELECT DISTINCT task_id FROM clutch.events WHERE thread_id = 'thread:%s'$$),
('clutch.events, without a condition', 'all', $$SELECT DISTINCT task_id FROM (SELECT task_id, run_id FROM clutch.events OFFSET 0) e WHERE run_id = 'run:%s'$$),
('clutch.tasks', 'tasks', $$SELECT task_id FROM clutch.tasks WHERE run_id = 'run:%s'$$),
('clutch.task', 'tasks', $$SELECT task_id FROM clutch.task WHERE task_id LIKE 'task:%s:%%' AND run_id NOT LIKE 'run:own%%'$$),
('clutch.task_edges', 'a1', $$SELECT to_task_id FROM clutch.task_edges WHERE run_id = 'run:%s'$$),
('clutch.runs', 'tasks', $$SELECT t.task_id FROM clutch.runs r, LATERAL (SELECT task_id FROM clutch.tasks t WHERE t.run_id = r.run_id) t WHERE r.run_id = 'run:%1$s' AND r.tasks = (SELECT count(*) FROM clutch.tasks k WHERE k.run_id = 'run:%1$s')$$),
('clutch.task_tree', 'tasks', $$SELECT task_id FROM clutch.task_tree('run:%s')$$),
('clutch.tree_nodes', 'tasks', $$SELECT task_id FROM clutch.tree_nodes('run:%s')$$),
('clutch.run_graph', 'tasks', $$SELECT (regexp_matches(clutch.run_graph('run:%1$s'), 'task:%1$s:[a-z0-9]+', 'g'))[1]$$),
('clutch.replay', 'all', $$SELECT DISTINCT task_id FROM clutch.replay('run:%s')$$),
('clutch.result', 'tasks', $$SELECT x FROM unnest('{a,a1,b}'::text[]) x WHERE fixture.fault(format('SELECT * FROM clutch.result(%%L)', 'task:%s:' || x)) = 'no error'$$),
('clutch.steps', 'tasks', $$SELECT x FROM unnest('{a,a1,b}'::text[]) x WHERE fixture.fault(format('SELECT * FROM clutch.steps(%%L)', 'task:%s:' || x)) = 'no error'$$),
('clutch.step', 'a', $$SELECT task_id FROM clutch.step WHERE task_id LIKE 'task:%s:%%'$$),
('clutch.why', 'tasks', $$SELECT x FROM unnest('{a,a1,b}'::text[]) x WHERE fixture.fault(format('SELECT * FROM clutch.why(%%L)', 'task:%s:' || x)) = 'no error'$$),
('clutch.envelope', 'tasks', $$SELECT x FROM unnest('{a,a1,b}'::text[]) x WHERE fixture.fault(format('SELECT clutch.envelope(''chat.message'', ''agent:x'', parent_task_id => %%L)', 'task:%s:' || x)) = 'no error'$$),
('clutch.envelope_of', 'all', $$SELECT DISTINCT clutch.envelope_of(seq) ->> 'task_id' FROM fixture.log WHERE run_id = 'run:%s' AND clutch.envelope_of(seq) IS NOT NULL$$),
('a subscription', 'all', $$SELECT task_id FROM fixture.reads('{"run_id": "run:%s"}')$$),
('clutch.read_from', 'all', $$SELECT DISTINCT task_id FROM clutch.read_from('beginning', '{"run_id": "run:%s"}', 1000)$$),
('clutch.get_artifact', 'b', $$SELECT 'b' WHERE fixture.fault(format('SELECT clutch.get_artifact(%%L)', 'artifact:sha256:' || encode(sha256(convert_to('content of %s', 'UTF8')), 'hex'))) = 'no error'$$),
('clutch.approvals', 'a', $$SELECT task_id FROM clutch.approvals WHERE run_id = 'run:%s'$$),
('clutch.costs', 'whole', $$SELECT unnest('{a,a1,b,talk}'::text[]) FROM clutch.costs WHERE run_id = 'run:%s' AND tokens = 100$$),
('clutch.budgets', 'whole', $$SELECT unnest('{a,a1,b,talk}'::text[]) FROM clutch.budgets WHERE run_id = 'run:%s' AND tasks = 3$$),
('clutch.run_visibility', 'level', $$SELECT unnest('{a,a1,b,talk}'::text[]) FROM clutch.run_visibility WHERE run_id = 'run:%s'$$);
-- for who knows the numbers of all events
CREATE TABLE fixture.log AS SELECT seq, run_id FROM clutch.events;
GRANT SELECT ON fixture.log TO PUBLIC;
CREATE FUNCTION fixture.reads(filter jsonb) RETURNS TABLE (task_id text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.subscribe('s', filter, 'beginning');
	RETURN QUERY SELECT DISTINCT r.task_id FROM clutch.read('s', 1000) r;
	PERFORM clutch.unsubscribe('s');
END $$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fixture TO PUBLIC;

CREATE FUNCTION fixture.looks(role text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	tasks text;
BEGIN
	EXECUTE format('SET LOCAL ROLE clutch_test_%s', role);
	EXECUTE format('SELECT string_agg(DISTINCT regexp_replace(x::text, ''^.*:'', ''''), '','' ORDER BY regexp_replace(x::text, ''^.*:'', '''')) FROM (%s) AS q(x)', query) INTO tasks;
	RESET ROLE;
	RETURN coalesce(tasks, '-');
END $$;
CREATE FUNCTION fixture.expects(role text, level text, shows text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(x, ',' ORDER BY x), '-') FROM unnest(fixture.seen(role, level)) x
	WHERE CASE shows WHEN 'all' THEN true WHEN 'tasks' THEN x <> 'talk' WHEN 'whole' THEN fixture.is_whole(fixture.seen(role, level))
		WHEN 'level' THEN fixture.is_whole(fixture.seen(role, level)) AND level <> 'scope' ELSE x = shows END
$$;
SELECT is((SELECT string_agg(p.role || ' ' || l.name, ', ') FROM fixture.person p, fixture.level l WHERE p.role NOT IN ('reader', 'operator')
		AND (fixture.looks(p.role, format($$SELECT 'listed' WHERE 'run:%s' = ANY (clutch.seen_runs())$$, l.name)) = 'listed') <> (fixture.seen(p.role, l.name) <> '{}')),
	NULL, 'the list of runs has those of which a role sees something, and the IDs of no others');
SELECT is(string_agg(p.role || ' ' || fixture.looks(p.role, format(w.query, l.name)), ', ' ORDER BY p.place),
	string_agg(p.role || ' ' || fixture.expects(p.role, l.name, w.shows), ', ' ORDER BY p.place), format('%s shows of a run that is %s', w.name, l.name))
FROM fixture.window w, fixture.level l, fixture.person p GROUP BY w.name, l.name, l.place ORDER BY w.name, l.place;

-- ------------------------------------------------------------------- and else
CREATE FUNCTION fixture.tries(role text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	fault text;
BEGIN
	EXECUTE format('SET LOCAL ROLE clutch_test_%s', role);
	fault := fixture.fault(statement);
	RESET ROLE;
	RETURN fault;
END $$;
SELECT is(string_agg(p.role || ' ' || fixture.tries(p.role, 'SELECT count(*) FROM clutch.artifact_chunk'), ', ' ORDER BY p.place),
	'dan 42501, boss 42501, ann 42501, bob 42501, cat 42501, fox 42501, gil 42501, hal 42501, eve 42501, reader no error, operator no error', 'the content of artifacts lies open to readers and operators alone')
FROM fixture.person p;
-- Who holds the scope, but may not see the run, does not join it, either.
SELECT is(string_agg(l.name || ' ' || fixture.tries('fox', format('SELECT clutch.send(fixture.says(''fox'', ''boss'', %L, ''talk'', ''chat.message''))', l.name)), ', ' ORDER BY l.place),
	'public no error, scope no error, parent-only 42501 NOT_A_PARTICIPANT /run_id, private 42501 NOT_A_PARTICIPANT /run_id', 'a scope lets an agent write into the runs that it shows')
FROM fixture.level l;
-- Who is addressed takes part, and reads that in its inbox at any level.
SELECT clutch.send(fixture.says('boss', 'eve', name, 'hint', 'chat.message')) FROM fixture.level \g /dev/null
SELECT is(fixture.looks('eve', $$SELECT DISTINCT task_id FROM clutch.read_from('beginning', '{"agent": "agent:eve", "run_id": ["run:private", "run:parent-only"], "type": "chat.message"}') WHERE task_id LIKE '%hint'$$), 'hint', 'a message is read by whom it is addressed to');
-- What is published is read by everybody who speaks for an agent.
SELECT clutch.send(fixture.says('boss', 'eve', 'private', 'news', 'chat.message') || '{"id": "msg_news", "to": [{"agent_id": "topic:prices"}]}') \g /dev/null
SELECT is(fixture.looks(role, $$SELECT task_id FROM clutch.read_from('beginning', '{"topic": "prices"}')$$), 'news', 'a topic is read by ' || role) FROM unnest('{dan,fox}'::text[]) AS role;
SELECT is(fixture.looks('fox', $$SELECT task_id FROM clutch.read_from('beginning', '{"run_id": "run:private"}')$$), '-', 'but the run is not');
DROP OWNED BY clutch_test_dan, clutch_test_boss, clutch_test_ann, clutch_test_bob, clutch_test_cat, clutch_test_fox, clutch_test_gil, clutch_test_hal, clutch_test_eve, clutch_test_reader, clutch_test_operator CASCADE;
SELECT format('DROP ROLE clutch_test_%s', role) FROM fixture.person \gexec
SELECT * FROM finish();
