-- Ways around the row-level policies and the grants: functions, operators, views,
-- cursors and plans of a role's own, names that hide ours, COPY, prepared transactions,
-- statistics.  Whatever belongs to others has xyzzy in it.
\ir ../fixtures/tap.sql
SELECT plan(65);
SET clutch.notify = off;
CREATE ROLE clutch_test_lois;
CREATE ROLE clutch_test_eve;
CREATE ROLE clutch_test_gil;
CREATE ROLE clutch_test_desk;
CREATE ROLE clutch_test_pool;
SELECT clutch.grant_agent('clutch_test_lois', 'agent:xyzzy', '{*}'), clutch.grant_agent('clutch_test_eve', 'agent:eve', '{*}'),
	clutch.grant_reader('clutch_test_gil', '{group:plugh}'), clutch.grant_reader('clutch_test_desk') \g /dev/null
GRANT clutch_test_eve, clutch_test_desk, clutch_test_lois TO clutch_test_pool;
CREATE SCHEMA evil AUTHORIZATION clutch_test_eve;
GRANT USAGE ON SCHEMA evil TO PUBLIC;

-- -------------------------------------------------- rows of others in each table
SELECT fixture.agent('xyzzy', 9, '{skill:xyzzy}', more => '{"scopes": ["group:xyzzy"]}'), fixture.agent('eve', 9, '{skill:eve}') \g /dev/null
INSERT INTO clutch.endpoint (name, url, agents) VALUES ('out', 'https://out.example', '{agent:xyzzy}');
SET client_min_messages = error;
SET SESSION AUTHORIZATION clutch_test_lois;
CREATE FUNCTION pg_temp.ask(task text, orders jsonb DEFAULT '{}', skill text DEFAULT 'skill:xyzzy', run text DEFAULT 'run:xyzzy') RETURNS text LANGUAGE sql AS $$
	SELECT (clutch.send(clutch.envelope('task.request', 'agent:xyzzy', run_id => run, thread_id => 'thread:xyzzy', task_id => 'task:xyzzy:' || task, payload => '{"q": "xyzzy"}',
		requires => ARRAY[skill], meta => jsonb_build_object('clutch', orders)))).task_id $$;
SELECT pg_temp.ask('0', '{"budget": {"tokens": 1000}, "scope": "group:xyzzy"}'), pg_temp.ask('1'), pg_temp.ask('2'), pg_temp.ask('3'), pg_temp.ask('4'), pg_temp.ask('after', '{"after": ["task:xyzzy:0", "task:xyzzy:unknown"]}'),
	pg_temp.ask('none', skill => 'skill:xyzzy-none'), pg_temp.ask('hidden', '{"visibility": "private"}', run => 'run:xyzzy:private') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:xyzzy', 5) \g /dev/null
SELECT clutch.progress('agent:xyzzy', 'task:xyzzy:1', '{"state": "input_required", "question": "xyzzy?"}'), clutch.step('agent:xyzzy', 'task:xyzzy:2', 'xyzzy', '1'),
	clutch.suspend('agent:xyzzy', 'task:xyzzy:3', '{"message": {"task_id": "task:xyzzy:awaited"}}'), clutch.fail('agent:xyzzy', 'task:xyzzy:4', 'XYZZY', 'xyzzy', false, usage => '{"input_tokens": 7}') \g /dev/null
SELECT pg_temp.ask('ready') \g /dev/null
SELECT clutch.schedule('xyzzy', '@daily', clutch.envelope('chat.message', 'agent:xyzzy')), clutch.subscribe('xyzzy'), clutch.post('out', clutch.envelope('chat.message', 'agent:xyzzy')) \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT clutch.add_key('agent:xyzzy', 'xyzzy', '\xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a') \g /dev/null
SELECT clutch.register_workflow('{"workflow": "w", "steps": [{"id": "one", "expects": {"payload_type": "w.v1"}}]}') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:xyzzy', '{agent:xyzzy}', run_id => 'run:xyzzy:w', task_id => 'task:xyzzy:w', payload_type => 'w.v1', meta => '{"clutch": {"workflow": "w", "step_of": "one"}}')) \g /dev/null
INSERT INTO clutch.spending_total SELECT (jsonb_populate_record(NULL::clutch.spending_total, to_jsonb(s))).* FROM clutch.spending s;
SELECT clutch.tick() \g /dev/null
-- eve's own
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT clutch.send(clutch.envelope('task.request', 'agent:eve', '{agent:eve}', run_id => 'run:eve', task_id => 'task:eve:' || n)) FROM generate_series(1, 3) n \g /dev/null
SELECT clutch.schedule('eves', '@daily', clutch.envelope('chat.message', 'agent:eve')), clutch.subscribe('eves') \g /dev/null
RESET SESSION AUTHORIZATION;
ANALYZE;

-- Each table that is filtered has such a row, so that the tests below mean something.
CREATE TABLE fixture.filtered AS SELECT v.relation::text AS r FROM clutch.agent_views v WHERE v.own IS NOT NULL;
GRANT SELECT ON fixture.filtered TO PUBLIC;
CREATE FUNCTION fixture.has_row(relation text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	found boolean;
BEGIN
	EXECUTE format('SELECT EXISTS (SELECT FROM %s r WHERE r::text LIKE ''%%xyzzy%%'')', relation) INTO found;
	RETURN found;
END $$;
SELECT is((SELECT string_agg(r, ' ') FROM fixture.filtered WHERE NOT fixture.has_row(r)), NULL, 'each table has rows of lois');

-- ------------------------------------------------------- functions and operators
SET SESSION AUTHORIZATION clutch_test_eve;
CREATE TABLE evil.seen (relation text, what text);
GRANT ALL ON evil.seen TO PUBLIC;
CREATE FUNCTION evil.spy(relation text, what text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN INSERT INTO evil.seen VALUES (relation, what); RETURN true; END $$;
CREATE FUNCTION evil.peek(what text, pattern text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN INSERT INTO evil.seen VALUES ('by an operator', what); RETURN true; END $$;
CREATE OPERATOR evil.=~ (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.peek, RESTRICT = eqsel);
CREATE FUNCTION evil.raises(what text) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 0.0000001 AS $$ BEGIN IF what LIKE '%xyzzy%' THEN RAISE 'saw %', what; END IF; RETURN 1; END $$;
-- every relation that it may read, views included, in several forms of a query
CREATE FUNCTION evil.looks(kinds "char"[] DEFAULT '{r,v}') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	r text;
	form text;
	fault text;
BEGIN
	FOR r IN SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = 'clutch'::regnamespace AND c.relkind = ANY (kinds) AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1 LOOP
		FOREACH form IN ARRAY ARRAY[
			$f$SELECT FROM %1$s t WHERE evil.spy('%1$s', t::text)$f$,
			$f$SELECT FROM %1$s t WHERE t::text OPERATOR(evil.=~) 'x'$f$,
			$f$SELECT FROM %1$s t WHERE evil.raises(t::text) = 1$f$,
			$f$SELECT FROM (SELECT t::text AS x FROM %1$s t ORDER BY evil.spy('%1$s', t::text) LIMIT 5) s$f$,
			$f$SELECT FROM %1$s t FULL JOIN (VALUES (1)) v(n) ON evil.spy('%1$s', t::text)$f$,
			$f$SELECT FROM %1$s t WHERE EXISTS (SELECT FROM %1$s u WHERE evil.spy('%1$s', u::text) AND u::text = t::text)$f$,
			$f$SELECT CASE WHEN false THEN 1 / 0 ELSE (SELECT count(*) FROM %1$s t WHERE evil.spy('%1$s', t::text)) END$f$] LOOP
			BEGIN
				EXECUTE format(form, r);
			EXCEPTION WHEN OTHERS THEN
				GET STACKED DIAGNOSTICS fault = MESSAGE_TEXT;
				IF fault LIKE '%xyzzy%' THEN
					INSERT INTO evil.seen VALUES (r, fault);
				END IF;
			END;
		END LOOP;
		RETURN NEXT r;
	END LOOP;
END $$;
SELECT cmp_ok((SELECT count(*) FROM evil.looks()), '>', 35::bigint, 'a role looks through functions and operators of its own at all that it may read');
SELECT is((SELECT string_agg(DISTINCT relation, ' ') FROM evil.seen WHERE what LIKE '%xyzzy%'), NULL, 'and they are given no row of others');
SELECT cmp_ok((SELECT count(*) FROM evil.seen WHERE relation = 'clutch.events'), '>', 5::bigint, 'but all of its own');
SELECT cmp_ok((SELECT count(*) FROM evil.seen WHERE relation = 'by an operator'), '>', 5::bigint, 'also by the operator');
SELECT set_config('enable_indexscan', 'off', false), set_config('enable_bitmapscan', 'off', false) \g /dev/null
SELECT evil.looks('{r}') \g /dev/null
SELECT is((SELECT string_agg(DISTINCT relation, ' ') FROM evil.seen WHERE what LIKE '%xyzzy%'), NULL, 'nor if the planner has nothing but sequential scans');
SELECT set_config('enable_indexscan', 'on', false), set_config('enable_bitmapscan', 'on', false), set_config('enable_seqscan', 'off', false) \g /dev/null
SELECT evil.looks('{r}') \g /dev/null
SELECT is((SELECT string_agg(DISTINCT relation, ' ') FROM evil.seen WHERE what LIKE '%xyzzy%'), NULL, 'or nothing but indexes');
RESET enable_seqscan;
SET SESSION AUTHORIZATION clutch_test_gil;
SELECT evil.looks('{r}') \g /dev/null
SELECT is((SELECT string_agg(DISTINCT relation, ' ') FROM evil.seen WHERE what LIKE '%xyzzy%'), NULL, 'nor do they show a reader of another scope anything');
SET SESSION AUTHORIZATION clutch_test_desk;
SELECT evil.looks('{r}') \g /dev/null
SELECT cmp_ok((SELECT count(DISTINCT relation) FROM evil.seen WHERE what LIKE '%xyzzy%'), '>', 20::bigint, 'while a reader of everything is shown all of that');
RESET SESSION AUTHORIZATION;
TRUNCATE evil.seen;

-- ------------------------------------------------------------- views and functions
-- A view shows its reader's rows or fewer, whosever it is.
CREATE SCHEMA desk AUTHORIZATION clutch_test_desk;
GRANT USAGE ON SCHEMA desk TO PUBLIC;
SET SESSION AUTHORIZATION clutch_test_desk;
CREATE VIEW desk.all_tasks AS SELECT task_id FROM clutch.task;
CREATE VIEW desk.all_events AS SELECT run_id FROM clutch.events;
CREATE FUNCTION desk.counts() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT count(*) FROM clutch.tasks WHERE task_id LIKE '%xyzzy%' $$;
GRANT SELECT ON ALL TABLES IN SCHEMA desk TO PUBLIC;
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM desk.all_tasks), 'task:eve:1 task:eve:2 task:eve:3', 'a view of a reader shows an agent what the agent may see');
SELECT is((SELECT string_agg(DISTINCT run_id, ' ') FROM desk.all_events), 'run:eve', 'of the log, too');
SELECT cmp_ok(desk.counts(), '>', 5::bigint, 'a function of a reader with its rights shows what it is meant to');
CREATE VIEW evil.tasks AS SELECT task_id FROM clutch.task;
CREATE VIEW evil.barrier WITH (security_barrier) AS SELECT task_id FROM clutch.tasks;
SELECT is((SELECT count(*) FROM evil.tasks WHERE task_id LIKE '%xyzzy%') + (SELECT count(*) FROM evil.barrier WHERE task_id LIKE '%xyzzy%'), 0::bigint, 'nor does one of its own');
SELECT is(fixture.fault($$CREATE MATERIALIZED VIEW evil.log AS SELECT run_id FROM clutch.events$$), '42501 RESTRICTED_OPERATION ', 'a materialized view is filled in nobody''s name');
CREATE TABLE evil.copied (what text);
CREATE RULE copies AS ON INSERT TO evil.seen DO ALSO INSERT INTO evil.copied SELECT task_id FROM clutch.tasks;
INSERT INTO evil.seen VALUES ('x', 'y');
SELECT is((SELECT string_agg(what, ' ' ORDER BY what) FROM evil.copied), 'task:eve:1 task:eve:2 task:eve:3', 'nor a rule');
DROP RULE copies ON evil.seen;
CREATE FUNCTION evil.fires() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO evil.copied SELECT task_id FROM clutch.tasks; RETURN NULL; END $$;
CREATE TRIGGER fires AFTER INSERT ON evil.seen FOR EACH STATEMENT EXECUTE FUNCTION evil.fires();
TRUNCATE evil.copied;
RESET SESSION AUTHORIZATION;
INSERT INTO evil.seen VALUES ('x', 'y');
SELECT is((SELECT string_agg(what, ' ' ORDER BY what) FROM evil.copied), 'task:eve:1 task:eve:2 task:eve:3', 'nor a trigger of its own that an operator fires');
SET SESSION AUTHORIZATION clutch_test_eve;
DROP TRIGGER fires ON evil.seen;

-- ------------------------------------------------------------- cursors and plans
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION clutch_test_pool;
SET ROLE clutch_test_eve;
PREPARE theirs AS SELECT count(*) FROM clutch.tasks WHERE task_id LIKE 'task:xyzzy%';
PREPARE theirs_by_run(text) AS SELECT count(*) FROM clutch.events WHERE run_id = $1;
EXECUTE theirs \g /dev/null
EXECUTE theirs_by_run('run:xyzzy') \g /dev/null
SET ROLE clutch_test_desk;
CREATE FUNCTION pg_temp.runs(statement text) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE n bigint; BEGIN EXECUTE statement INTO n; RETURN n; END $$;
SELECT cmp_ok(pg_temp.runs('EXECUTE theirs'), '>', 5::bigint, 'a prepared statement is planned for the role that executes it: a reader');
SELECT cmp_ok(pg_temp.runs($$EXECUTE theirs_by_run('run:xyzzy')$$), '>', 5::bigint, 'of the log');
SET ROLE clutch_test_eve;
SELECT is(pg_temp.runs('EXECUTE theirs') + pg_temp.runs($$EXECUTE theirs_by_run('run:xyzzy')$$), 0::bigint, 'and then an agent');
SET plan_cache_mode = force_generic_plan;
SELECT is(pg_temp.runs('EXECUTE theirs') + pg_temp.runs($$EXECUTE theirs_by_run('run:xyzzy')$$), 0::bigint, 'also with a generic plan');
RESET plan_cache_mode;
-- A cursor that the role of an agent opens shows no more when another role fetches.
BEGIN;
DECLARE c CURSOR FOR SELECT task_id FROM clutch.tasks ORDER BY task_id;
DECLARE h CURSOR WITH HOLD FOR SELECT run_id FROM clutch.events;
SET ROLE clutch_test_lois;
CREATE TEMP TABLE fetched (what text);
GRANT ALL ON fetched TO PUBLIC;
CREATE FUNCTION pg_temp.fetches(c refcursor) RETURNS text LANGUAGE plpgsql AS $$ DECLARE r record; n int := 0; x int := 0; BEGIN LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; n := n + 1; x := x + (r::text LIKE '%xyzzy%')::int; END LOOP; RETURN concat_ws(' ', n > 0, x > 0); END $$;
SELECT is(pg_temp.fetches('c'), 't t', 'a cursor asks for the runs when it is first fetched from, as with current_user in any policy: here lois fetches');
COMMIT;
SELECT isnt(pg_temp.fetches('h'), NULL, 'one that is held asks at commit');
RESET ROLE;
SET ROLE clutch_test_eve;
BEGIN;
DECLARE c CURSOR FOR SELECT task_id FROM clutch.tasks;
SELECT is(pg_temp.fetches('c'), 't f', 'eve sees her own');
COMMIT;
SET ROLE clutch_test_lois;
BEGIN;
DECLARE d CURSOR FOR SELECT task_id FROM clutch.tasks;
FETCH 1 FROM d \g /dev/null
SET ROLE clutch_test_eve;
SELECT is(right(pg_temp.fetches('d'), 1), 'f', 'and nothing of a cursor that lois has begun to read');
COMMIT;
CLOSE ALL;
-- A function that inlines, and one whose plans are kept.
RESET SESSION AUTHORIZATION;
CREATE FUNCTION public.theirs() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT count(*) FROM clutch.tasks WHERE task_id LIKE 'task:xyzzy%' $$;
CREATE FUNCTION public.kept() RETURNS bigint LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT count(*) FROM clutch.tasks WHERE task_id LIKE 'task:xyzzy%'); END $$;
SET SESSION AUTHORIZATION clutch_test_pool;
SET ROLE clutch_test_desk;
SELECT count(public.theirs() + public.kept()) FROM generate_series(1, 10) \g /dev/null
SET ROLE clutch_test_eve;
SELECT is(public.theirs() + public.kept(), 0::bigint, 'plans that functions keep are those of one role, too');
-- A privilege that is taken away counts at once, also for plans that are kept.
SET ROLE clutch_test_desk;
SELECT cmp_ok(public.kept(), '>', 0::bigint, 'a reader sees it');
RESET SESSION AUTHORIZATION;
SELECT clutch.revoke_reader('clutch_test_desk'), clutch.grant_reader('clutch_test_desk', '{group:plugh}') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_pool;
SET ROLE clutch_test_desk;
SELECT is(public.kept() + (SELECT count(*) FROM clutch.tasks), 0::bigint, 'one that has become a reader of a scope does not');
RESET SESSION AUTHORIZATION;
SELECT clutch.grant_reader('clutch_test_desk') \g /dev/null
-- Membership is inherited; its end counts at once, too.
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is(public.kept(), 0::bigint, 'an agent');
RESET SESSION AUTHORIZATION;
GRANT clutch_test_desk TO clutch_test_eve;
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT cmp_ok(public.kept(), '>', 0::bigint, 'that becomes a member of a reader');
DISCARD PLANS;
SELECT cmp_ok(public.kept(), '>', 0::bigint, 'whose plan is then made for a reader');
RESET SESSION AUTHORIZATION;
REVOKE clutch_test_desk FROM clutch_test_eve;
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is(public.kept(), 0::bigint, 'and stops being one');
SELECT is(fixture.fault('SET row_security = off; SELECT count(*) FROM clutch.events'), '42501', 'row_security = off raises an error and shows nothing');
RESET row_security;
RESET SESSION AUTHORIZATION;

-- ------------------------------------------------------------------ statistics
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is((SELECT string_agg(DISTINCT tablename, ' ') FROM pg_stats WHERE schemaname = 'clutch' AND tablename IN (SELECT replace(r, 'clutch.', '') FROM fixture.filtered)), NULL, 'statistics of filtered tables are not shown');
SELECT is((SELECT string_agg(tablename || '.' || attname, ' ') FROM pg_stats s WHERE s.schemaname = 'clutch' AND s::text LIKE '%xyzzy%'), NULL, 'nor others with what belongs to somebody else');
SELECT is((SELECT count(*) FROM pg_stats_ext s WHERE s.most_common_vals::text LIKE '%xyzzy%'), 0::bigint, 'nor extended ones');
SELECT is((SELECT count(*) FROM pg_stat_activity a WHERE a.query LIKE '%xy' || 'zzy%' AND a.usename <> 'clutch_test_eve'), 0::bigint, 'nor what others run');
SELECT is(fixture.fault('CREATE STATISTICS evil.s ON run_id, task_id FROM clutch.events'), '42501', 'statistics of its own are refused');
SELECT is(fixture.fault('CREATE INDEX ON clutch.events (run_id)'), '42501', 'so are indexes');
SELECT is(fixture.fault('CREATE TABLE evil.heir () INHERITS (clutch.events)'), '42501', 'heirs');
SELECT is(fixture.fault('CREATE TABLE evil.ref (id text, run_id text, FOREIGN KEY (id, run_id) REFERENCES clutch.events)'), '42501', 'and foreign keys, which would tell which IDs there are');

-- ------------------------------------------------------------------------ COPY
SELECT pg_backend_pid() AS pid \gset
\set file /tmp/clutch_tricks_:pid
COPY clutch.events (run_id) TO STDOUT \g :file
\set copied `sort -u :file | tr '\n' ' '`
SELECT is(:'copied'::text, 'run:eve ', 'COPY of the log copies the rows that the role sees');
COPY (SELECT task_id FROM clutch.tasks ORDER BY 1) TO STDOUT \g :file
\set copied `cat :file | tr '\n' ' '`
SELECT is(:'copied'::text, 'task:eve:1 task:eve:2 task:eve:3 ', 'so does COPY of a query');
\set removed `rm -f :file`
\set ON_ERROR_STOP off
COPY clutch.events (envelope) FROM STDIN;
\.
SELECT is(:'SQLSTATE'::text, '0A000', 'COPY FROM is refused to an agent');
COPY clutch.events FROM STDIN;
\.
SELECT is(:'SQLSTATE'::text, '42501', 'and no column but the envelope is its own');
SET SESSION AUTHORIZATION clutch_test_desk;
COPY clutch.events (envelope) FROM STDIN;
\.
SELECT is(:'SQLSTATE'::text, '42501', 'COPY FROM is refused to a reader');
RESET SESSION AUTHORIZATION;
GRANT pg_read_server_files, pg_write_server_files, pg_execute_server_program TO clutch_test_eve;
SET SESSION AUTHORIZATION clutch_test_eve;
COPY clutch.events (envelope) FROM PROGRAM 'echo {}';
SELECT is(:'SQLSTATE'::text, '0A000', 'also from a program');
RESET SESSION AUTHORIZATION;
REVOKE pg_read_server_files, pg_write_server_files, pg_execute_server_program FROM clutch_test_eve;
-- A role that may write all tables still says nothing that is not its own.
GRANT pg_write_all_data TO clutch_test_eve;
SET SESSION AUTHORIZATION clutch_test_eve;
COPY clutch.events (envelope) FROM STDIN;
\.
SELECT is(:'SQLSTATE'::text, '0A000', 'nor is it open to a member of pg_write_all_data');
\set ON_ERROR_STOP on
SELECT is(fixture.fault($$INSERT INTO clutch.events (seq, envelope) VALUES (99999, '{}')$$), '42501 NOT_RESTORED ', 'who does not forge an event by its seq');
SELECT is(fixture.fault($$INSERT INTO clutch.events (envelope, from_agent) SELECT e, 'agent:xyzzy' FROM clutch.envelope('chat.message', 'agent:xyzzy') e$$), '42501 NOT_YOUR_AGENT /from/agent_id', 'nor speaks for another');
RESET SESSION AUTHORIZATION;
REVOKE pg_write_all_data FROM clutch_test_eve;
SELECT is((SELECT count(*) FROM clutch.events WHERE seq = 99999), 0::bigint, 'nothing of that is in the log');

-- --------------------------------------------------------- prepared transactions
-- (pgTAP writes to temporary tables, so a test waits until it is prepared)
SET SESSION AUTHORIZATION clutch_test_eve;
BEGIN;
SELECT clutch.send(clutch.envelope('chat.message', 'agent:eve', run_id => 'run:eve', task_id => 'task:eve:prepared')) \g /dev/null
SELECT count(*) AS sent FROM clutch.events WHERE task_id = 'task:eve:prepared' \gset
PREPARE TRANSACTION 'clutch_test_eve';
SELECT is(:sent, 1, 'a role sees what it has sent in its transaction');
SELECT is((SELECT count(*) FROM clutch.events WHERE task_id = 'task:eve:prepared'), 0::bigint, 'nobody sees what is prepared');
SET SESSION AUTHORIZATION clutch_test_lois;
\set ON_ERROR_STOP off
COMMIT PREPARED 'clutch_test_eve';
\set ON_ERROR_STOP on
SELECT is(:'LAST_ERROR_SQLSTATE'::text, '42501', 'another role does not commit it');
SET SESSION AUTHORIZATION clutch_test_eve;
COMMIT PREPARED 'clutch_test_eve';
SELECT is((SELECT count(*) FROM clutch.events WHERE task_id = 'task:eve:prepared'), 1::bigint, 'when it is committed, its role sees it');
BEGIN;
SELECT fixture.fault($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:eve', run_id => 'run:xyzzy'))$$) AS refused, (SELECT count(*) FROM clutch.events WHERE run_id LIKE '%xyzzy%') AS strangers \gset
PREPARE TRANSACTION 'clutch_test_eve';
ROLLBACK PREPARED 'clutch_test_eve';
SELECT is(:'refused'::text, '42501 NOT_A_PARTICIPANT /run_id', 'a transaction that will be prepared is judged like any other');
SELECT is(:strangers, 0, 'and shows no more');
SET SESSION AUTHORIZATION clutch_test_lois;
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:eve'), 0::bigint, 'others do not see it');

-- ------------------------------------------------------------ names that hide ours
-- Tables, functions and operators before ours in the search_path: nothing of ours uses
-- them, and nothing of theirs runs in another name than the role's.
SET SESSION AUTHORIZATION clutch_test_eve;
CREATE TABLE evil.ran (who text, as_what text);
GRANT ALL ON evil.ran TO PUBLIC;
CREATE FUNCTION evil.runs(what text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.ran VALUES (current_user, what); RETURN true; END $$;
CREATE FUNCTION evil.same(a text, b text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.runs('='); RETURN a IS NOT DISTINCT FROM b; END $$;
CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.same);
CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.runs('now'); RETURN '2000-01-01'; END $$;
CREATE FUNCTION evil.reads_all() RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION evil.seen_runs() RETURNS text[] LANGUAGE sql AS $$ SELECT '{run:xyzzy}'::text[] $$;
CREATE FUNCTION evil.sees(text, text DEFAULT NULL) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION evil.sees_from(text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION evil.my_agents() RETURNS text[] LANGUAGE sql AS $$ SELECT '{agent:xyzzy}'::text[] $$;
CREATE FUNCTION evil.format(text, VARIADIC text[]) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.runs('format'); RETURN 'x'; END $$;
CREATE FUNCTION evil.string_agg_of(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
CREATE TEMP TABLE events (seq bigint, run_id text, envelope jsonb);
CREATE TEMP TABLE task (task_id text, run_id text);
CREATE TEMP TABLE principal (grantee regrole, agent_id text);
CREATE TEMP TABLE privilege AS SELECT 'clutch_test_eve'::regrole AS grantee, 'operator'::text AS privilege, NULL::text[] AS scopes;
CREATE TEMP TABLE pg_class (oid oid);
CREATE FUNCTION pg_temp.reads_all() RETURNS boolean LANGUAGE sql AS 'SELECT true';
SET search_path = evil, pg_temp, clutch, pg_catalog, public;
SELECT clutch.send(clutch.envelope('task.request', 'agent:eve', '{agent:eve}', run_id => 'run:eve', task_id => 'task:eve:named')) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:eve', 9) \g /dev/null
SELECT clutch.progress('agent:eve', 'task:eve:named', '{"pct": 1}'), clutch.step('agent:eve', 'task:eve:named', 's'), clutch.finish('agent:eve', 'task:eve:named') \g /dev/null
SELECT clutch.retry_run('run:eve'), clutch.cancel_run('run:none') \g /dev/null
SELECT clutch.tick(), clutch.run_graph('run:eve'), clutch.heartbeat('agent:eve') FROM (SELECT 1) x \g /dev/null
SELECT count(*) FROM clutch.workflow_status('run:eve'), clutch.replay('run:eve'), clutch.task_tree('run:eve') \g /dev/null
SELECT count(*) FROM clutch.runs \g /dev/null
SELECT count(*) FROM clutch.stuck \g /dev/null
SELECT count(*) FROM clutch.subscriptions \g /dev/null
SELECT count(*) AS n_events FROM clutch.events WHERE run_id LIKE '%xyzzy%' \gset
SELECT count(*) AS n_tasks FROM clutch.tasks WHERE task_id LIKE '%xyzzy%' \gset
RESET search_path;
DROP TABLE pg_temp.pg_class;
SELECT is(:n_events + :n_tasks, 0, 'policies do not look at the search_path');
SELECT is((SELECT string_agg(DISTINCT who, ' ') FROM evil.ran WHERE who <> 'clutch_test_eve'), NULL, 'no function of the role runs in another name');
SELECT is((SELECT string_agg(DISTINCT as_what, ' ') FROM evil.ran WHERE as_what <> '='), NULL, 'and ours call none of them');
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:xyzzy'))$$), '42501 NOT_YOUR_AGENT /from/agent_id', 'a temporary table of privileges gives none');
-- An owner who grants with such a search_path calls nothing of it, either.
RESET SESSION AUTHORIZATION;
SELECT is((SELECT string_agg(p.oid::regprocedure::text, ' ') FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
	WHERE p.pronamespace = 'clutch'::regnamespace AND l.lanname IN ('plpgsql', 'sql') AND p.prosqlbody IS NULL
	AND NOT coalesce(p.proconfig::text LIKE '%search_path=pg_catalog, pg_temp%', false)), NULL, 'every function that is parsed when it is called has a search_path of its own');
SELECT is((SELECT string_agg(oid::regprocedure::text, ' ') FROM pg_proc WHERE pronamespace = 'clutch'::regnamespace AND prosecdef AND NOT coalesce(proconfig::text LIKE '%search_path=pg_catalog, pg_temp%', false)), NULL, 'so has every function with the rights of its owner');
SELECT is((SELECT string_agg(c.oid::regclass::text, ' ') FROM pg_class c WHERE c.relnamespace = 'clutch'::regnamespace AND c.relkind = 'v' AND NOT coalesce(c.reloptions::text LIKE '%security_invoker=true%', false)), NULL, 'every view asks for the rights of its reader');

-- --------------------------------------------------------------- what it may learn
-- EXPLAIN ANALYZE counts rows that a filter removed: how many, never which.  docs/roles.md says so.
SET SESSION AUTHORIZATION clutch_test_eve;
CREATE FUNCTION evil.explains(query text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE line text; whole text := ''; BEGIN FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, TIMING OFF) ' || query LOOP whole := whole || line || E'\n'; END LOOP; RETURN whole; END $$;
SELECT unalike(evil.explains('SELECT * FROM clutch.events ORDER BY seq DESC LIMIT 5'), '%xyzzy%', 'EXPLAIN names nothing of others');
RESET SESSION AUTHORIZATION;

DROP FUNCTION public.theirs(), public.kept();
DROP SCHEMA evil, desk CASCADE;
DROP OWNED BY clutch_test_lois, clutch_test_eve, clutch_test_gil, clutch_test_desk, clutch_test_pool CASCADE;
DROP ROLE clutch_test_lois, clutch_test_eve, clutch_test_gil, clutch_test_desk, clutch_test_pool;
SELECT * FROM finish();
