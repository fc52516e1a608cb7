-- Who takes part in a run: agents that sent an event of it, were addressed, or have
-- or had a task of it.  Tested as the roles of agents.
\ir ../fixtures/tap.sql
SELECT plan(19);
SET clutch.notify = off;
CREATE ROLE clutch_test_ken LOGIN;
CREATE ROLE clutch_test_lois LOGIN;
CREATE ROLE clutch_test_eve LOGIN;
GRANT USAGE ON SCHEMA public TO PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fixture TO PUBLIC;
SELECT clutch.grant_agent('clutch_test_ken', 'agent:ken'), clutch.grant_agent('clutch_test_lois', 'agent:lois'),
	clutch.grant_agent('clutch_test_eve', 'agent:eve') \g /dev/null
SELECT fixture.agent('ken', 9), fixture.agent('lois', 1, '{skill:y}'), fixture.agent('eve', 9, '{skill:z}') \g /dev/null

-- a message of an agent in a run
CREATE FUNCTION fixture.say(agent text, run text, id text, VARIADIC whom text[] DEFAULT '{agent:orchestrator}') RETURNS text LANGUAGE sql AS $$
	SELECT (clutch.send(clutch.envelope('chat.message', 'agent:' || agent, whom, run_id => run, thread_id => 'thread:1', task_id => 'task:talk', id => 'msg_' || id))).run_id
$$;
CREATE FUNCTION fixture.runs_of(role_name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	runs text;
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', role_name);
	runs := clutch.my_runs()::text;
	RESET ROLE;
	RETURN runs;
END $$;

-- ------------------------------------------------------------ whose runs
SELECT is(fixture.runs_of('clutch_test_ken'), '{}', 'an agent that has only registered takes part in no run');
SELECT fixture.say('ken', 'run:a', 'a1') \g /dev/null
SELECT is(fixture.runs_of('clutch_test_ken'), '{run:a}', 'whoever sends an event takes part in its run');
SELECT is(fixture.runs_of('clutch_test_lois'), '{}', 'and others do not');
SELECT fixture.say('ken', 'run:b', 'b1', 'agent:lois', 'agent:orchestrator', 'topic:news') \g /dev/null
SELECT is(fixture.runs_of('clutch_test_lois'), '{run:b}', 'whoever is addressed takes part in the run');
SELECT is((SELECT string_agg(name || ' ' || run_id, ', ') FROM clutch.participant), 'agent:lois run:b', 'a row says so, and there is none for senders, the orchestrator, and topics');
SELECT fixture.say('ken', 'run:b', 'b2', 'agent:lois'), fixture.say('lois', 'run:b', 'b3', 'agent:ken') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.participant), 1::bigint, 'one row is enough');
SELECT fixture.say('ken', 'run:c', 'c1', 'group:desk') \g /dev/null
SELECT is(fixture.runs_of('clutch_test_eve'), '{}', 'a group that is addressed');
INSERT INTO clutch.group_member VALUES ('group:desk', 'agent:eve');
SELECT is(fixture.runs_of('clutch_test_eve'), '{run:c}', 'takes part by its members');
DELETE FROM clutch.group_member;
SELECT is(fixture.runs_of('clutch_test_eve'), '{}', 'as long as they are members');

SELECT fixture.ask('task:1', skill => 'skill:y', run => 'run:d') \g /dev/null
SELECT is(fixture.runs_of('clutch_test_lois'), '{run:b,run:d}', 'whoever is assigned a task takes part in the run');
SELECT is((SELECT count(*) FROM clutch.participant WHERE run_id = 'run:d'), 0::bigint, 'and needs no row');
SELECT fixture.ask('task:2', skill => NULL, whom => 'agent:eve', run => 'run:e') \g /dev/null
SELECT is(fixture.runs_of('clutch_test_eve'), '{run:e}', 'also by name');
SELECT is((SELECT count(*) FROM clutch.participant WHERE run_id = 'run:e'), 0::bigint, 'which needs no row, either');
SELECT clutch.cancel('task:1') \g /dev/null
SELECT is(fixture.runs_of('clutch_test_lois'), '{run:b,run:d}', 'and whoever had one, though it never claimed it');
SELECT fixture.ask('task:3', skill => NULL, whom => 'agent:nobody', run => 'run:f') \g /dev/null
SELECT is((SELECT string_agg(name, ' ') FROM clutch.participant WHERE run_id = 'run:f'), 'agent:nobody', 'an agent that was asked and has no room yet, too');

-- ------------------------------------------------------------ keeping it right
CREATE TABLE before AS SELECT name, run_id FROM clutch.participant p
WHERE NOT EXISTS (SELECT FROM clutch.events e WHERE e.run_id = p.run_id AND e.from_agent = p.name);
TRUNCATE clutch.participant;
SELECT clutch.rebuild() \g /dev/null
SELECT is_empty($$ TABLE before EXCEPT SELECT name, run_id FROM clutch.participant $$, 'rebuild finds all of them in the log');
SELECT is(fixture.runs_of('clutch_test_lois') || fixture.runs_of('clutch_test_eve'), '{run:b,run:d}{run:e}', 'so the runs are the same');
SELECT clutch.prune(clutch.now() + interval '1 day') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.participant WHERE run_id IN ('run:a', 'run:b', 'run:c', 'run:d')), 0::bigint, 'a run that is pruned has no participants');
SELECT is(fixture.runs_of('clutch_test_lois') || fixture.runs_of('clutch_test_eve'), '{}{run:e}', 'while others stay');
