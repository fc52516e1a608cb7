-- A due task that cannot be moved keeps no other from being moved, whether
-- another transaction is in the way or a trigger of the user raises an error.
\ir ../fixtures/tap.sql
SELECT plan(18);
SET clutch.notify = off;
SET clutch.heartbeat_interval = 0;
SET timezone = 'UTC';
CREATE FUNCTION fixture.refuses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF new.task_id LIKE 'task:bad%' AND new.type = 'task.timeout' THEN
		RAISE EXCEPTION USING ERRCODE = current_setting('fixture.error'), MESSAGE = 'not now';
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER refuses AFTER INSERT ON clutch.events FOR EACH ROW EXECUTE FUNCTION fixture.refuses();
CREATE FUNCTION pg_temp.due(error text, tasks text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('fixture.error', error, false);
	PERFORM fixture.at(0), fixture.ask(task, NULL, 'skill:none', run => replace(task, 'task', 'run'), orders => '{"deadline": "2026-01-01T12:00:10Z"}') FROM unnest(tasks) AS task;
	PERFORM fixture.at(20);
END $$;

-- ------------------------------------------------ what another transaction causes
SELECT fixture.agent('ken') \g /dev/null
SELECT pg_temp.due('55P03', '{task:bad1,task:good1}') \g /dev/null
SELECT lives_ok('SELECT clutch.tick()', 'a tick does not fail because something is locked');
SELECT is(fixture.state('task:good1'), 'timed_out 1', 'and times out the other task');
SELECT is(fixture.state('task:bad1'), 'pending 1', 'but not that one');
SELECT pg_temp.due('40P01', '{task:bad2,task:good2}') \g /dev/null
SELECT is(fixture.claimed('agent:ken'), 'nothing', 'neither does a claim that finds nothing');
SELECT is(fixture.state('task:good2'), 'timed_out 1', 'which does the same');
SET fixture.error = '00000';
DROP TRIGGER refuses ON clutch.events;
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.state('task:bad1') || ', ' || fixture.state('task:bad2'), 'timed_out 1, timed_out 1', 'when nothing is in the way any more, these tasks end, too');

-- ----------------------------------------------------- an error of a user's trigger
CREATE TRIGGER refuses AFTER INSERT ON clutch.events FOR EACH ROW EXECUTE FUNCTION fixture.refuses();
SELECT pg_temp.due('P0001', '{task:bad3}') \g /dev/null
SET client_min_messages = error;
SELECT clutch.tick(), clutch.tick() \g /dev/null
SELECT is((SELECT due > clutch.now() + interval '50 s' FROM clutch.timer WHERE task_id = 'task:bad3'), true, 'a waiting task is left alone for a minute, although the tick looks for an agent for it');
SELECT is((SELECT problem || ': ' || hint FROM clutch.stuck WHERE task_id = 'task:bad3'),
	'deadline passed: It cannot be moved, and the server log says why: perhaps a trigger of your own on clutch.events raises errors. It is tried again every minute.',
	'clutch.stuck says that it was tried');
SELECT is_empty('SELECT * FROM clutch.check()', 'for a minute, that is no fault');
SELECT fixture.at(75), clutch.tick() \g /dev/null
SELECT fixture.at(85), clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(code || ': ' || detail, ', ') FROM clutch.check()),
	'TIMER_OVERDUE: tasks that cannot be moved: 1, the first of which has been due since 2026-01-01 12:00:10+00', 'after that, check() reports it');
SELECT fixture.at(85), clutch.tick() \g /dev/null
SELECT is((SELECT due > clutch.now() FROM clutch.timer), true, 'though it has just been tried again');
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_timer_overdue_seconds'), 75::double precision, 'and so do the metrics');
DROP TRIGGER refuses ON clutch.events;
SELECT fixture.at(150), clutch.tick() \g /dev/null
SELECT is(fixture.state('task:bad3'), 'timed_out 1', 'and then tried again');

-- ------------------------------------- messages and waiting tasks, from a first tick on
CREATE FUNCTION fixture.refuses_others() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = '55P03', MESSAGE = 'not now';
END $$;
SELECT fixture.at(200) \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', run_id => 'run:ask' || n, thread_id => 'thread:1', task_id => 'task:ask' || n,
	meta => '{"clutch": {"ttl_ms": 1000}}')) FROM generate_series(1, 3) n \g /dev/null
SELECT fixture.ask('task:wait' || n, NULL, 'skill:w', run => 'run:w') FROM generate_series(1, 3) n \g /dev/null
CREATE TRIGGER refuses_others AFTER INSERT ON clutch.events FOR EACH ROW
	WHEN (NEW.type = 'chat.system' AND NEW.task_id = 'task:ask1' OR NEW.type = 'routing.decision' AND NEW.task_id = 'task:wait1') EXECUTE FUNCTION fixture.refuses_others();
SELECT fixture.agent('wim', 9, '{skill:w}') \g /dev/null
SELECT fixture.at(210), clutch.tick(), clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.events WHERE type = 'chat.system' AND task_id ~ 'ask'), 'task:ask2 task:ask3', 'a message that fails by chance holds up no other');
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.tasks WHERE status = 'assigned' AND run_id = 'run:w'), 'task:wait2 task:wait3', 'neither does a waiting task');
DROP TRIGGER refuses_others ON clutch.events;
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE type = 'chat.system' AND task_id = 'task:ask1'), 1::bigint, 'when nothing is in the way any more, the message follows at once');
-- what was tried in vain is left out for some milliseconds
DO $$
BEGIN
	FOR n IN 1..1000 LOOP
		EXIT WHEN EXISTS (SELECT FROM clutch.task WHERE task_id = 'task:wait1' AND status = 'assigned');
		PERFORM clutch.tick(), pg_sleep(0.01);
	END LOOP;
END $$;
SELECT is(fixture.state('task:wait1'), 'assigned agent:wim 1', 'and the task soon after');
SELECT is_empty('SELECT * FROM clutch.check()', 'the state is sound');
SELECT * FROM finish();
