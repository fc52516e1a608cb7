-- The open requests of roles: what a rebuild, a prune, a tick and the end of a role
-- make of them.
\ir ../fixtures/tap.sql
SELECT plan(23);

CREATE ROLE clutch_test_app;
CREATE ROLE clutch_test_gone;
SELECT clutch.grant_agent(r, 'agent:app') FROM unnest('{clutch_test_app,clutch_test_gone}'::text[]) r \g /dev/null
SELECT clutch.set_quota(r, 'open_requests', 10) FROM unnest('{clutch_test_app,clutch_test_gone}'::text[]) r \g /dev/null
SELECT count(*) FROM fixture.agent('worker', 100) \g /dev/null
SELECT fixture.at(0) \g /dev/null

CREATE FUNCTION pg_temp.request(task text) RETURNS text LANGUAGE sql AS $$
	SELECT fixture.fault(format('SELECT clutch.send(%L)', clutch.envelope('task.request', 'agent:app', '{agent:worker}', run_id => 'run:' || task, thread_id => 'thread:1', task_id => task, id => 'msg_' || task))) $$;
CREATE FUNCTION pg_temp.used(of_role text DEFAULT 'clutch_test_app') RETURNS bigint LANGUAGE sql AS $$
	SELECT q.used FROM clutch.quotas q WHERE q.role::text = of_role AND q.what = 'open_requests' $$;

SET ROLE clutch_test_app;
SELECT is((SELECT string_agg(DISTINCT pg_temp.request('task:' || n), ' ') FROM generate_series(1, 6) n), 'no error', 'six requests');
SELECT clutch.cancel('task:1'), clutch.cancel('task:2') \g /dev/null
RESET ROLE;
SELECT is(pg_temp.used(), 4::bigint, 'of which four are open');
SELECT is((SELECT count(*) FROM clutch.open_work), 6::bigint, 'the end of a task writes nothing');
SET ROLE clutch_test_app;
SELECT clutch.retry('task:1') \g /dev/null
SELECT is(pg_temp.used(), 5::bigint, 'a task that is begun again counts once');
SELECT clutch.cancel('task:1') \g /dev/null
SET ROLE clutch_test_gone;
SELECT clutch.retry('task:2') \g /dev/null
RESET ROLE;
SELECT is(pg_temp.used() || ' ' || pg_temp.used('clutch_test_gone'), '4 1', 'a task that another role begins again counts for that role');
SELECT clutch.cancel('task:2') \g /dev/null
SELECT clutch.retry('task:2') \g /dev/null
SELECT is(pg_temp.used() || ' ' || pg_temp.used('clutch_test_gone'), '4 0', 'and for nobody if it is an operator');
SELECT clutch.cancel('task:2') \g /dev/null
-- how many roles have open work does not matter for that
INSERT INTO clutch.open_work SELECT 900000 + n, 'open_requests', 'task:elsewhere', -n FROM generate_series(1, 100) n;
BEGIN;
SELECT pg_stat_get_xact_numscans('clutch.open_work_pkey'::regclass) AS scans \gset
SELECT clutch.retry('task:2') \g /dev/null
SELECT pg_stat_get_xact_numscans('clutch.open_work_pkey'::regclass) - :scans AS scans \gset
ROLLBACK;
DELETE FROM clutch.open_work WHERE task_id = 'task:elsewhere';
SELECT is(:scans, 0, 'and the roles with open work are not looked through');
SELECT is(fixture.rebuilt(), 'the same', 'the log is replayed');
SELECT is(pg_temp.used(), 4::bigint, 'and four are open');

SELECT fixture.at(2) \g /dev/null
SELECT cmp_ok(clutch.prune('2026-01-01 12:00:01Z'), '>', 0::bigint, 'what is over is pruned');
SELECT is(pg_temp.used(), 4::bigint, 'tasks that do not exist any more are not open');
-- the first tick of a session looks at all rows
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.open_work), 'task:3 task:4 task:5 task:6', 'a tick removes the rows of tasks that are over');

-- the limit is reached by what is open; whoever counts removes the rest
SELECT clutch.set_quota('clutch_test_app', 'open_requests', 5) \g /dev/null
SET ROLE clutch_test_app;
SELECT is((SELECT string_agg(pg_temp.request('task:' || n), ' ' ORDER BY n) FROM generate_series(7, 8) n), 'no error KL013 QUOTA_EXCEEDED ', 'a limit that was lowered holds at once');
SELECT clutch.cancel('task:3'), clutch.cancel('task:4') \g /dev/null
SELECT is(pg_temp.request('task:8'), 'no error', 'and what is over makes room');
RESET ROLE;
SELECT is((SELECT count(*) FROM clutch.open_work), 5::bigint, 'as many of its rows are gone as had to be');
-- at the limit, what is over is found without looking at all that is open
SELECT clutch.set_quota('clutch_test_app', 'open_requests', 200) \g /dev/null
SET ROLE clutch_test_app;
SELECT is((SELECT string_agg(DISTINCT pg_temp.request('task:n' || n), ' ') FROM generate_series(1001, 1196) n), 'no error', 'as many as the limit allows');
SELECT is(pg_temp.request('task:n1197'), 'KL013 QUOTA_EXCEEDED ', 'but no more');
SELECT clutch.cancel('task:5') \g /dev/null
BEGIN;
SELECT pg_stat_get_xact_numscans('clutch.task_pkey'::regclass) AS scans \gset
SELECT pg_temp.request('task:n1198') AS fault \gset
SELECT is(:'fault'::text, 'no error', 'and one more when one is over');
SELECT cmp_ok(pg_stat_get_xact_numscans('clutch.task_pkey'::regclass) - :scans, '<', 50::bigint, 'which has not looked at all of them');
COMMIT;
SELECT is(pg_temp.request('task:n1199'), 'KL013 QUOTA_EXCEEDED ', 'and only one');
SELECT clutch.cancel_run('run:task:n' || n) FROM generate_series(1001, 1198) n \g /dev/null
SELECT clutch.tick(), clutch.tick() \g /dev/null
RESET ROLE;
SELECT is(pg_temp.used(), 3::bigint, 'the others are over');

-- a role that is renamed, and one that is dropped
ALTER ROLE clutch_test_app RENAME TO clutch_test_renamed;
SELECT is(pg_temp.used('clutch_test_renamed'), 3::bigint, 'a role keeps its quota under another name');
ALTER ROLE clutch_test_renamed RENAME TO clutch_test_app;
DROP OWNED BY clutch_test_gone;
DROP ROLE clutch_test_gone;
SELECT is((SELECT count(*) FROM clutch.quotas WHERE what = 'open_requests'), 1::bigint, 'one that is dropped is not shown');
SELECT * FROM finish();
DROP OWNED BY clutch_test_app;
DROP ROLE clutch_test_app;
