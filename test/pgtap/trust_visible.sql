-- What the role of an agent sees: its own tasks, approvals, schedules,
-- subscriptions and decisions, and nothing of a stranger's.
\ir ../fixtures/tap.sql
SELECT plan(73);
SET clutch.notify = off;
CREATE ROLE clutch_test_ken;
CREATE ROLE clutch_test_lois;
CREATE ROLE clutch_test_desk;
GRANT CREATE ON SCHEMA public TO clutch_test_lois;
SELECT fixture.agent('ken', 9), fixture.agent('lois', 9, '{skill:y}') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM pg_policy WHERE polname = 'clutch_own'), 23::bigint, 'the extension makes the policies');
SELECT clutch.grant_agent('clutch_test_ken', 'agent:ken'), clutch.grant_agent('clutch_test_lois', 'agent:lois'),
	clutch.grant_agent('clutch_test_lois', 'agent:ann'), clutch.grant_reader('clutch_test_desk') \g /dev/null
SELECT is_empty($$ SELECT code FROM clutch.check() $$, 'and check() finds them');
GRANT USAGE ON SCHEMA public TO PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fixture TO PUBLIC;

-- task:1 ken's; task:2 lois's; task:3 asked by lois, done by ken; task:4 was with lois and is with ken
SELECT fixture.ask('task:1'), fixture.ask('task:2', skill => 'skill:y', run => 'run:2') \g /dev/null
SELECT clutch.send(fixture.request('task:3') || '{"from": {"agent_id": "agent:lois"}}') \g /dev/null
SELECT fixture.ask('task:4', whom => 'agent:lois', skill => NULL) \g /dev/null
SELECT clutch.send(fixture.request('task:4', whom => 'agent:ken', skill => NULL) || '{"id": "msg_over", "from": {"agent_id": "agent:orchestrator"}}') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:lois', 9) \g /dev/null
SELECT clutch.progress('agent:ken', 'task:1', '{"state": "input_required", "question": "which?"}') \g /dev/null
SELECT clutch.progress('agent:lois', 'task:2', '{"state": "input_required", "question": "why?"}') \g /dev/null
SELECT clutch.fail('agent:ken', 'task:3', 'BROKEN', 'it broke', false) \g /dev/null
SELECT clutch.add_key('agent:' || name, name, '\xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a') FROM unnest('{ken,lois}'::text[]) name \g /dev/null
SELECT clutch.schedule('all', '@daily', clutch.envelope('chat.message', 'agent:ui')), clutch.subscribe('all') \g /dev/null

SET ROLE clutch_test_ken;
SELECT clutch.schedule('kens', '@daily', clutch.envelope('chat.message', 'agent:ken')), clutch.subscribe('kens', '{"agent": "agent:ken"}') \g /dev/null
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.tasks), 'task:1 task:3 task:4', 'an agent sees the tasks that it has');
SELECT is((SELECT string_agg(run_id || ' ' || tasks, ', ') FROM clutch.runs), 'run:1 3', 'and the runs of these');
SELECT is((SELECT string_agg(concat_ws(' ', task_id, question ->> 'question', question_id IS NOT NULL, asked), ', ') FROM clutch.approvals), 'task:1 which? t {agent:ui}', 'its questions');
SELECT is((SELECT string_agg(task_id || ' ' || (error ->> 'code'), ', ') FROM clutch.dead_letters), 'task:3 BROKEN', 'its dead letters');
SELECT is((SELECT string_agg(name, ' ') FROM clutch.schedules), 'kens', 'its schedules');
SELECT is((SELECT string_agg(concat_ws(' ', name, behind, oldest IS NULL), ', ') FROM clutch.subscriptions), 'kens 0 t', 'and its subscriptions');
SELECT is((SELECT string_agg(agent_id || ' ' || kid, ', ') FROM clutch.keys), 'agent:ken ken', 'its keys');
SELECT is((SELECT count(*) FROM clutch.why('task:3') WHERE rank = 1), 1::bigint, 'it may ask why a task of its own was given to it');
SELECT throws_ok($$ SELECT * FROM clutch.why('task:2') $$, 'KL003', 'task "task:2" does not exist', 'but not about one of a stranger');
SELECT is((SELECT count(*) FROM clutch.tasks WHERE task_id = 'task:2'), 0::bigint, 'nor does it see such a task by its ID');
SELECT is((SELECT count(*) FROM clutch.task WHERE task_id = 'task:2'), 0::bigint, 'nor in the table itself');
SELECT is((SELECT string_agg(task_id, ' ') FROM clutch.question), 'task:1', 'nor questions');
SELECT is((SELECT string_agg(name, ' ') FROM clutch.schedule), 'kens', 'nor schedules');
SELECT is((SELECT string_agg(name, ' ') FROM clutch.subscription), 'kens', 'nor subscriptions');
SELECT is((SELECT string_agg(DISTINCT name, ' ') FROM clutch.subscription_position), 'kens', 'nor their positions');
SELECT is(clutch.envelope_of((SELECT seq FROM clutch.events WHERE id = 'msg_task:2')), NULL, 'nor the envelopes of such a task');
SELECT is(clutch.envelope_of((SELECT seq FROM clutch.events WHERE id = 'msg_task:3')) ->> 'task_id', 'task:3', 'only those of its own');
SELECT is((SELECT string_agg(DISTINCT run_id, ' ') FROM clutch.events), 'run:1', 'the log shows it the runs in which it takes part');
SELECT is((SELECT count(*) FROM clutch.events WHERE envelope @> '{"run_id": "run:2"}'), 0::bigint, 'and no other, however it asks');
SELECT is((SELECT count(*) FROM clutch.timer WHERE task_id = 'task:2'), 0::bigint, 'and the queues likewise');
SELECT is(fixture.fault($$ UPDATE clutch.task SET priority = 4 $$), '42501', 'reading is all');
SELECT is(fixture.fault($$ SELECT clutch.filter_rows() $$), '42501', 'the policies are for operators');

SET ROLE clutch_test_lois;
CREATE FUNCTION public.leak(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'leak %', t; RETURN true; END $$;
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.tasks), 'task:1 task:2 task:3 task:4', 'whoever takes part in a run sees all of it');
SELECT is((SELECT string_agg(question ->> 'question', ' ' ORDER BY task_id) FROM clutch.approvals), 'which? why?', 'with the questions of all its agents');
SELECT is((SELECT count(*) FROM clutch.tasks WHERE public.leak(task_id)), 4::bigint, 'a function of the role is not called with rows of others');
SELECT is((SELECT count(*) FROM clutch.schedules), 0::bigint, 'it has no schedules');
-- A path that takes minutes for this envelope, and for no other, would reveal to a stranger what is in it.
RESET ROLE;
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ui}', jsonb_build_object('password', 'hunter2', 'list', (SELECT jsonb_agg(n) FROM generate_series(1, 2000) n)), run_id => 'run:secret')) \g /dev/null
SET ROLE clutch_test_ken;
SET statement_timeout = '10s';
SELECT lives_ok(E'SELECT * FROM clutch.read_from(''beginning'', \'{"path": "$.payload ? (@.password starts with \\"h\\").list[*] ? (!exists($.payload.list[*] ? (exists($.payload.list[*] ? (@ < 0)))))"}\')',
	'nor is a path of its filter applied to the envelopes of others');
RESET statement_timeout;
SET ROLE clutch_test_lois;
SELECT is(clutch.my_agents()::text, '{agent:ann,agent:lois}', 'a role may speak for several agents');

-- More runs than are looked at one by one, through indexes and without them.
RESET ROLE;
SELECT clutch.send(clutch.envelope('chat.message', 'agent:' || who, run_id => 'run:many:' || who || n, task_id => 'task:many')) FROM generate_series(1, 130) n, unnest('{ui,ken}'::text[]) who \g /dev/null
ANALYZE clutch.events;
CREATE FUNCTION fixture.explains(query text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE line text; whole text := ''; BEGIN FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP whole := whole || line || E'\n'; END LOOP; RETURN whole; END $$;
GRANT EXECUTE ON FUNCTION fixture.explains(text) TO PUBLIC;
SET ROLE clutch_test_ken;
SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;
SELECT is((SELECT count(DISTINCT run_id) || ' ' || count(*) FILTER (WHERE run_id LIKE 'run:many:ui%') FROM clutch.events WHERE task_id = 'task:many'), '130 0', 'a scan of the whole log shows its runs and no others');
SELECT unalike(fixture.explains('SELECT * FROM clutch.events'), '%seen_runs%', 'which looks for no list');
RESET enable_indexscan; RESET enable_bitmapscan; RESET enable_indexonlyscan; SET enable_seqscan = off;
SELECT unalike(fixture.explains('SELECT * FROM clutch.events'), '%seen_runs%', 'nor does one by a role that is known to see half of all runs');
RESET ROLE;
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', run_id => 'run:many:ui' || n, task_id => 'task:many')) FROM generate_series(131, 400) n \g /dev/null
ANALYZE clutch.events;
CREATE FUNCTION fixture.estimates(query text) RETURNS numeric LANGUAGE plpgsql AS $$ DECLARE plan json; BEGIN EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan; RETURN plan -> 0 -> 'Plan' -> 'Plan Rows'; END $$;
GRANT EXECUTE ON FUNCTION fixture.estimates(text) TO PUBLIC;
SET ROLE clutch_test_ken;
SELECT is((SELECT count(DISTINCT run_id) || ' ' || count(*) FILTER (WHERE run_id LIKE 'run:many:ui%') FROM clutch.events), '131 0', 'so does a scan of the index');
SELECT ok(fixture.estimates('SELECT * FROM clutch.events') BETWEEN 100 AND 200, 'the planner knows how many runs the role saw when they were last listed');
SELECT alike(fixture.explains('SELECT * FROM clutch.events'), '%Index Cond: (run_id = ANY (clutch.seen_runs()))%', 'which reads the runs of the role');
SELECT alike(fixture.explains($$SELECT * FROM clutch.events WHERE type = 'chat.message'$$), '%Index Cond: (run_id = ANY (clutch.seen_runs()))%', 'also for a value that no index finds, such as a type');
SELECT unalike(fixture.explains($$SELECT * FROM clutch.events WHERE task_id = 'task:many' AND type = 'chat.message'$$), '%seen_runs%', 'and not for a value that one finds');
RESET enable_seqscan;
RESET ROLE;
BEGIN;
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', run_id => 'run:task:' || n, parent_task_id => 'task:many', thread_id => 'thread:many', requires => '{skill:nobody}')) FROM generate_series(1, 500) n \g /dev/null
ANALYZE clutch.task;
SET LOCAL ROLE clutch_test_ken;
SET LOCAL enable_seqscan = off;
SELECT alike(fixture.explains($$SELECT * FROM clutch.tasks WHERE status = 'running'$$), '%Index Cond: (run_id = ANY (clutch.seen_runs()))%', 'the status of a task is such a value');
SELECT unalike(fixture.explains($$SELECT * FROM clutch.tasks WHERE run_id IN ('run:1', 'run:2')$$), '%seen_runs%', 'several runs are looked at by themselves, too');
SELECT unalike(fixture.explains($$SELECT * FROM clutch.tasks WHERE run_id = 'run:1' OR run_id = 'run:2'$$), '%seen_runs%', 'in whatever words');
-- as if there were a million of them, most of them below one task
RESET ROLE;
UPDATE pg_class SET reltuples = 10000 * relpages WHERE oid = 'clutch.task'::regclass;
SET LOCAL ROLE clutch_test_ken;
SELECT alike(fixture.explains($$SELECT * FROM clutch.tasks WHERE parent_task_id = 'task:many'$$), '%Index Cond: (run_id = ANY (clutch.seen_runs()))%', 'a value that an index finds too often is looked for in the runs of the role');
ROLLBACK;
SET ROLE clutch_test_ken;
-- EXPLAIN (ANALYZE, BUFFERS) would show whether a policy was asked after a comparison of the row, and so what is in it.
SELECT alike(fixture.explains($$SELECT * FROM clutch.tasks WHERE detail >= 'a'$$), '%Filter: (clutch.sees(run_id, task_id) AND (detail >=%', 'the policy is asked before a detail is compared');
SELECT alike(fixture.explains($$SELECT * FROM clutch.outbox WHERE failure >= 'a'$$), '%Filter: (clutch.sees_from(agent_id) AND (failure >=%', 'and before the failure of a call is');
SELECT alike(fixture.explains($$SELECT * FROM clutch.tasks WHERE detail >= ANY ('{a}')$$), '%Filter: (clutch.sees(run_id, task_id) AND (detail >=%', 'also where the planner takes a comparison for half as expensive, as with an array of one text');
SELECT alike(fixture.explains($$SELECT * FROM clutch.outbox WHERE failure >= ANY ('{a}')$$), '%Filter: (clutch.sees_from(agent_id) AND (failure >=%', 'whatever it compares');
SELECT alike(fixture.explains($$SELECT * FROM clutch.schedules WHERE last_error >= ANY ('{a}')$$), '%Filter: (clutch.is_role(owner) AND (last_error >=%', 'or the last error of a schedule');
SET enable_seqscan = off;
SELECT alike(fixture.explains('SELECT * FROM clutch.schedules'), '%Index Cond: ((owner)::oid = %', 'of which an index finds those of the role');
RESET enable_seqscan;
RESET ROLE;
ANALYZE clutch.task;
SELECT is_empty($$SELECT tablename, attname FROM pg_stats WHERE schemaname = 'clutch' AND attname IN ('detail', 'failure', 'last_error')$$, 'nor are there statistics, by which EXPLAIN would estimate how many tasks have a detail');
SET ROLE clutch_test_ken;
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:many:ken7') + (SELECT count(*) FROM clutch.events WHERE run_id = 'run:many:ui7'), 1::bigint, 'a run is looked at by itself');
SELECT is((SELECT count(*) FROM unnest(clutch.seen_runs()) r WHERE r LIKE 'run:many:ui%'), 0::bigint, 'the runs of others are in no list');

-- A type that becomes a text without a function, but has an order of its own: no index of it can be asked for texts.
RESET ROLE;
CREATE EXTENSION citext;
CREATE TABLE fixture.mine AS SELECT ('run:many:ui' || n)::citext AS run_ref FROM generate_series(1, 400) n UNION ALL SELECT 'run:many:ken1';
CREATE INDEX ON fixture.mine (run_ref);
ANALYZE fixture.mine;
GRANT SELECT ON fixture.mine TO clutch_test_ken;
SET ROLE clutch_test_ken;
SET enable_seqscan = off;
SELECT is((SELECT string_agg(run_ref, ' ') FROM fixture.mine WHERE clutch.sees(run_ref)), 'run:many:ken1', 'a column of another type than text shows the runs of the role');
SELECT unalike(fixture.explains('SELECT * FROM fixture.mine WHERE clutch.sees(run_ref)'), '%seen_runs%', 'and its index is not used');
RESET enable_seqscan;
RESET ROLE;
DROP TABLE fixture.mine;
DROP EXTENSION citext;
SET ROLE clutch_test_ken;

-- The run of the registry is shown to no role, but for what it has sent itself, as long as it has not committed.
BEGIN;
SELECT clutch.set_status('agent:ken', 'BUSY') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:agents'), 1::bigint, 'a role sees what it has sent in its transaction, wherever that is');
SET LOCAL enable_seqscan = off;
SELECT is((SELECT count(*) FILTER (WHERE run_id = 'run:agents') FROM clutch.events), 1::bigint, 'also by an index');
SET LOCAL ROLE clutch_test_lois;
SELECT is((SELECT count(*) FILTER (WHERE run_id = 'run:agents') FROM clutch.events), 0::bigint, 'and another role does not, in the same transaction');
COMMIT;
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:agents'), 0::bigint, 'and nor does it, later');

RESET ROLE;
BEGIN;
SET LOCAL track_functions = 'all';
SET LOCAL ROLE clutch_test_ken;
EXPLAIN SELECT * FROM clutch.events ORDER BY seq DESC LIMIT 5 \g /dev/null
SELECT is((SELECT calls FROM pg_stat_xact_user_functions WHERE funcname = 'seen_runs'), NULL, 'making a plan makes no list');
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET LOCAL ROLE clutch_test_ken;
SELECT cardinality(clutch.seen_runs()) \g /dev/null
SET LOCAL ROLE clutch_test_lois;
SELECT ok(fixture.estimates('SELECT * FROM clutch.events') < 100, 'nor does the list of one role tell how many runs the next one sees');
SELECT is((SELECT string_agg(r, ' ') FROM unnest(clutch.seen_runs()) r WHERE r ~ '^run:(2|many:ken1)$'), 'run:2', 'nor is the list of one role that of the next');
SET LOCAL ROLE clutch_test_ken;
SELECT cardinality(clutch.seen_runs()) \g /dev/null
SET LOCAL ROLE clutch_test_lois;
SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id LIKE 'run:many:%'), 0::bigint, 'nor does that show the next one any row');
SET LOCAL ROLE clutch_test_ken;
SELECT is((SELECT count(DISTINCT run_id) || ' ' || count(*) FILTER (WHERE run_id LIKE 'run:many:ui%') FROM clutch.events WHERE task_id = 'task:many'), '130 0', 'while the role itself sees what it lists');
COMMIT;

SET ROLE clutch_test_desk;
SELECT is((SELECT count(*) FROM clutch.tasks), 4::bigint, 'a reader sees all tasks');
SELECT is((SELECT count(*) FROM clutch.approvals), 2::bigint, 'all questions');
SELECT is((SELECT string_agg(name, ' ' ORDER BY name) FROM clutch.subscriptions), 'all kens', 'and all subscriptions');
SELECT is((SELECT count(*) > 0 FROM clutch.why('task:2')), true, 'and may ask why about any task');
RESET ROLE;
SELECT is((SELECT count(*) FROM clutch.tasks), 4::bigint, 'an operator sees everything, too');

-- a role that speaks for many agents
CREATE ROLE clutch_test_fleet;
SELECT clutch.grant_agent('clutch_test_fleet', 'agent:fleet1') \g /dev/null
INSERT INTO clutch.principal (grantee, agent_id) SELECT 'clutch_test_fleet'::regrole, 'agent:fleet' || i FROM generate_series(2, 300) i;
SELECT fixture.agent('fleet9', 9, '{skill:fleet}', more => '{"groups": ["group:fleet"]}') \g /dev/null
SELECT fixture.ask('task:fleet', 'agent:fleet9', 'skill:fleet', run => 'run:fleet:task') \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', ARRAY[name], run_id => 'run:fleet:' || name, task_id => 'task:other')) FROM unnest('{agent:fleet7,group:fleet,group:*,group:other}'::text[]) name \g /dev/null
CREATE FUNCTION public.scans() RETURNS bigint LANGUAGE sql AS
$$ SELECT sum(idx_scan)::bigint FROM pg_stat_xact_user_tables WHERE schemaname = 'clutch' $$;
BEGIN;
SET LOCAL ROLE clutch_test_fleet;
SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_indexonlyscan = off;
SELECT coalesce(public.scans(), 0) AS scans \gset
SELECT is((SELECT string_agg(DISTINCT run_id, ' ' ORDER BY run_id) FROM clutch.events), 'run:fleet:agent:fleet7 run:fleet:group:* run:fleet:group:fleet run:fleet:task', 'a role sees the runs of each of its many agents');
SELECT cmp_ok(public.scans() - :scans, '<', 10000::bigint, 'and does not ask for each agent about each of the runs of others');
COMMIT;
BEGIN;
SET LOCAL ROLE clutch_test_fleet;
SELECT is((SELECT string_agg(task_id, ' ') FROM clutch.tasks WHERE run_id = 'run:fleet:task'), 'task:fleet', 'nor does it need a list to see a task of one run');
COMMIT;
DROP FUNCTION public.scans();
SELECT clutch.cancel('task:fleet') \g /dev/null
DELETE FROM clutch.principal WHERE grantee = 'clutch_test_fleet'::regrole AND agent_id <> 'agent:fleet1';
SELECT clutch.revoke_agent('clutch_test_fleet', 'agent:fleet1') \g /dev/null
DROP ROLE clutch_test_fleet;

-- a careless restore, and the end of a grant
ALTER TABLE clutch.task DISABLE ROW LEVEL SECURITY;
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), 'ROWS_NOT_FILTERED', 'check() notices that rows are not filtered');
SELECT clutch.filter_rows() \g /dev/null
SELECT is_empty('SELECT code FROM clutch.check()', 'which filter_rows() mends');
SELECT clutch.unsubscribe('kens'), clutch.unschedule('kens'), clutch.revoke_agent('clutch_test_ken', 'agent:ken') \g /dev/null
SELECT lives_ok('DROP ROLE clutch_test_ken', 'a role whose agent is revoked keeps nothing');

DROP FUNCTION public.leak(text);
REVOKE ALL ON SCHEMA public FROM clutch_test_lois;
DROP OWNED BY clutch_test_lois, clutch_test_desk;
DROP ROLE clutch_test_lois, clutch_test_desk;
