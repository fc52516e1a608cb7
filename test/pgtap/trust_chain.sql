-- A long chain of tasks in a parent-only run: what an agent of the run pays to
-- read grows with the chain, and not with its square.
\ir ../fixtures/tap.sql
SELECT plan(4);
SET clutch.notify = off;
CREATE ROLE clutch_test_chain;
SELECT clutch.grant_agent('clutch_test_chain', 'agent:reader'), fixture.agent('ken', 9, '{skill:none}'), fixture.agent('reader', 9, '{skill:read}') \g /dev/null

-- the tasks of the run are of others, and the reader takes part because somebody has addressed it
CREATE FUNCTION pg_temp.chain(run text, n integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fixture.ask('t_' || run || '_0', run => run, orders => '{"visibility": "parent-only"}');
	PERFORM clutch.send(clutch.envelope('chat.message', 'agent:ken', '{agent:reader}', run_id => run));
	PERFORM fixture.ask('t_' || run || '_' || i, run => run, parent => 't_' || run || '_' || (i - 1)) FROM generate_series(1, n) i;
END $$;
CREATE FUNCTION pg_temp.pages(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || statement INTO plan;
	RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
END $$;
SELECT pg_temp.chain('run:short', 400), pg_temp.chain('run:long', 1600) \g /dev/null
VACUUM clutch.task, clutch.events;
GRANT USAGE ON SCHEMA fixture TO clutch_test_chain;
SET SESSION AUTHORIZATION clutch_test_chain;
SELECT is((SELECT count(*) FROM clutch.tasks WHERE run_id IN ('run:short', 'run:long')), 0::bigint, 'the reader sees none of the tasks');
RESET SESSION AUTHORIZATION;
CREATE FUNCTION pg_temp.ratio(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	short bigint;
	long bigint;
BEGIN
	SET LOCAL SESSION AUTHORIZATION clutch_test_chain;
	PERFORM pg_temp.pages(format(statement, 'run:short'));
	short := pg_temp.pages(format(statement, 'run:short'));
	long := pg_temp.pages(format(statement, 'run:long'));
	RETURN long::numeric / short;
END $$;
SELECT cmp_ok(pg_temp.ratio('SELECT count(*) FROM clutch.task WHERE run_id = %L'), '<', 8.0, 'four times as many tasks cost about four times as much');
RESET SESSION AUTHORIZATION;
SELECT cmp_ok(pg_temp.ratio('SELECT count(*) FROM clutch.events WHERE run_id = %L'), '<', 8.0, 'and so do their events');
RESET SESSION AUTHORIZATION;

-- what is below a task of the reader's own is seen, however far
SELECT fixture.ask('own_0', 'agent:reader', 'skill:read', run => 'run:own', orders => '{"visibility": "parent-only"}'),
	fixture.ask('own_' || i, run => 'run:own', parent => 'own_' || (i - 1)) FROM generate_series(1, 1) i \g /dev/null
SELECT fixture.ask('own_' || i, run => 'run:own', parent => 'own_' || (i - 1)) FROM generate_series(2, 60) i \g /dev/null
SET SESSION AUTHORIZATION clutch_test_chain;
SELECT is((SELECT count(*) FROM clutch.tasks WHERE run_id = 'run:own'), 61::bigint, 'all tasks below its own are seen');
RESET SESSION AUTHORIZATION;
SELECT * FROM finish();
DROP OWNED BY clutch_test_chain;
DROP ROLE clutch_test_chain;
