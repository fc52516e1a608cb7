-- How agents register, change their status, fall silent and stop, and what becomes of their tasks.
\ir ../fixtures/tap.sql
SELECT plan(86);
SET clutch.notify = off;

CREATE FUNCTION pg_temp.card(name text, limits jsonb DEFAULT '{}') RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'display', jsonb_build_object('name', name),
		'capabilities', jsonb_build_array(jsonb_build_object('id', 'skill:x')), 'limits', '{"max_concurrency": 5}' || limits)) $$;
CREATE FUNCTION pg_temp.ask(task text, whom text DEFAULT NULL) RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', CASE WHEN whom IS NOT NULL THEN ARRAY['agent:' || whom] END,
		id => 'msg_' || task, run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:' || task, requires => '{skill:x}')) $$;
CREATE FUNCTION pg_temp.at(s text) RETURNS text LANGUAGE sql AS
$$ SELECT set_config('clutch.clock', to_char('2026-03-01'::timestamp + s::interval, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false) $$;
CREATE FUNCTION pg_temp.status(name text) RETURNS text LANGUAGE sql AS
$$ SELECT status FROM clutch.agents WHERE agent_id = 'agent:' || name $$;
CREATE FUNCTION pg_temp.task(task text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', status, agent_id, attempt) FROM clutch.tasks WHERE task_id = 'task:' || task $$;
CREATE FUNCTION pg_temp.lost() RETURNS text LANGUAGE sql AS $$ SELECT clutch.tick() ->> 'lost' $$;
-- everything that the log decides
CREATE FUNCTION pg_temp.state() RETURNS text LANGUAGE sql AS $$
	SELECT (SELECT string_agg(concat_ws(' ', task_id, status, agent_id, attempt, losses), ', ' ORDER BY task_id) FROM clutch.task) ||
		(SELECT string_agg(concat_ws(' ', agent_id, status, reason, lost), ', ' ORDER BY agent_id) FROM clutch.agent_registry) ||
		coalesce((SELECT string_agg(concat_ws(' ', agent_id, seq, failed, timed_out), ', ' ORDER BY agent_id, seq) FROM clutch.agent_failure), '') $$;
CREATE FUNCTION pg_temp.rebuilds() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	was text := pg_temp.state();
BEGIN
	PERFORM clutch.rebuild();
	RETURN was = pg_temp.state();
END $$;

-- ----------------------------------------------------------- the lifecycle
SELECT pg_temp.at('0') \g /dev/null
SELECT pg_temp.card('a') \g /dev/null
SELECT is(pg_temp.status('a'), 'READY', 'an agent that registers is READY');
SELECT set_eq('SELECT * FROM clutch.agent_transitions()', $$VALUES
	('INITIALIZING', 'READY'), ('INITIALIZING', 'UNAVAILABLE'), ('INITIALIZING', 'STOPPED'),
	('READY', 'INITIALIZING'), ('READY', 'BUSY'), ('READY', 'UNAVAILABLE'), ('READY', 'STOPPING'), ('READY', 'STOPPED'),
	('BUSY', 'READY'), ('BUSY', 'UNAVAILABLE'), ('BUSY', 'STOPPING'), ('BUSY', 'STOPPED'),
	('UNAVAILABLE', 'INITIALIZING'), ('UNAVAILABLE', 'READY'), ('UNAVAILABLE', 'BUSY'), ('UNAVAILABLE', 'STOPPING'), ('UNAVAILABLE', 'STOPPED'),
	('STOPPING', 'STOPPED'), ('STOPPED', 'INITIALIZING')$$, 'the transitions of an agent');

-- every pair of statuses is tried, and compared with the table
CREATE FUNCTION pg_temp.try_move(from_status text, to_status text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.card('m');
	IF from_status <> 'READY' THEN
		PERFORM clutch.set_status('agent:m', from_status);
	END IF;
	PERFORM clutch.set_status('agent:m', to_status);
	RETURN (SELECT status = to_status FROM clutch.agent_registry WHERE agent_id = 'agent:m');
EXCEPTION WHEN SQLSTATE 'KL004' THEN
	RETURN false;
END $$;
SELECT is(pg_temp.try_move(f.s, t.s), EXISTS (SELECT FROM clutch.agent_transitions() a WHERE (a.from_status, a.to_status) = (f.s, t.s)),
	f.s || ' to ' || t.s)
FROM unnest('{INITIALIZING,READY,BUSY,UNAVAILABLE,STOPPING,STOPPED}'::text[]) f(s),
	unnest('{INITIALIZING,READY,BUSY,UNAVAILABLE,STOPPING,STOPPED}'::text[]) t(s) WHERE f.s <> t.s;
SELECT throws_like($$SELECT clutch.set_status('agent:m', 'ASLEEP')$$, 'invalid status "ASLEEP"', 'an unknown status is refused');
SELECT throws_ok($$SELECT clutch.set_status('agent:nobody', 'READY')$$, 'KL005', NULL, 'an unknown agent is refused');
SELECT clutch.set_status('agent:m', 'STOPPED') \g /dev/null
SELECT throws_ok($$SELECT clutch.send(clutch.envelope('agent.heartbeat', 'agent:m', payload => '{"status": "BUSY"}'))$$, 'KL004',
	'agent "agent:m" is STOPPED and cannot become BUSY', 'an envelope is judged like the function');

SELECT is(fixture.hint_of($$SELECT clutch.set_status('agent:m', 'BUSY')$$), 'It can become INITIALIZING. To start over from any status, call clutch.register(card).',
	'the hint says what can follow, because the role of an agent cannot ask for the list');
SELECT clutch.set_status('agent:m', 'INITIALIZING') \g /dev/null
SELECT is(fixture.hint_of($$SELECT clutch.set_status('agent:m', 'BUSY')$$), 'It can become READY, UNAVAILABLE or STOPPED. To start over from any status, call clutch.register(card).',
	'in the same way, if there are several');
SELECT clutch.set_status('agent:m', 'STOPPED') \g /dev/null

-- an agent that is stopping keeps its tasks and gets no others
SELECT pg_temp.ask('s1'), pg_temp.ask('s2') \g /dev/null
SELECT clutch.claim('agent:a') \g /dev/null
SELECT clutch.set_status('agent:a', 'STOPPING', 'a new version') \g /dev/null
SELECT is((SELECT status || ': ' || reason FROM clutch.agents WHERE agent_id = 'agent:a'), 'STOPPING: a new version', 'a stopping agent shows its reason');
SELECT pg_temp.ask('s3') \g /dev/null
SELECT is(pg_temp.task('s3'), 'pending 1', 'a stopping agent is given no new task');
SELECT is((SELECT string_agg(task_id, ' ') FROM clutch.claim('agent:a', 5)), 'task:s2', 'but may claim what it was given before');
SELECT pg_temp.card('b') \g /dev/null
SELECT is(pg_temp.task('s3'), 'assigned agent:b 1', 'another agent gets the new task');
SELECT clutch.set_status('agent:a', 'STOPPED') \g /dev/null
SELECT is(pg_temp.task('s1') || ', ' || pg_temp.task('s2'), 'assigned agent:b 2, assigned agent:b 2', 'the tasks of a stopped agent are given to others');
SELECT is((SELECT string_agg(late::text, ' ') FROM clutch.finish('agent:a', 'task:s1', '{}', 1)), 'true', 'a report of a stopped agent is late');
SELECT ok(pg_temp.rebuilds(), 'rebuild finds the same');

-- an agent that says it is unavailable is so until it says otherwise
SELECT clutch.set_status('agent:b', 'UNAVAILABLE', 'lunch') \g /dev/null
SELECT is(pg_temp.task('s3'), 'pending 2', 'an unavailable agent loses its tasks');
SELECT clutch.heartbeat('agent:b') \g /dev/null
SELECT is(pg_temp.status('b'), 'UNAVAILABLE', 'a heartbeat does not change a status that the agent has set');
SELECT is((SELECT count(*) FROM clutch.claim('agent:b')), 0::bigint, 'nor does a claim');
SELECT clutch.set_status('agent:b', 'READY') \g /dev/null
SELECT is(pg_temp.status('b') || ' ' || pg_temp.task('s3'), 'READY assigned agent:b 2', 'a ready agent is given what waited');
SELECT is((SELECT count(f.id) FROM clutch.claim('agent:b', 10) c, LATERAL clutch.finish('agent:b', c.task_id, '{}', c.attempt) f), 3::bigint, 'and completes it');

-- an agent whose slots are all taken
SELECT pg_temp.card('full', '{"max_concurrency": 1}') \g /dev/null
SELECT pg_temp.ask('f1', 'full') \g /dev/null
SELECT is(pg_temp.status('full'), 'BUSY', 'an agent without free slots is BUSY');
SELECT clutch.finish('agent:full', 'task:f1') \g /dev/null
SELECT is(pg_temp.status('full'), 'READY', 'and READY when one is free');

-- --------------------------------------------------------------- silence
SELECT clutch.set_status('agent:' || n, 'STOPPED') FROM unnest('{b,full}'::text[]) n \g /dev/null
SELECT pg_temp.at('1 hour') \g /dev/null
SELECT pg_temp.card('c') \g /dev/null
SELECT pg_temp.ask('c1'), pg_temp.ask('c2') \g /dev/null
SELECT pg_temp.card('d') \g /dev/null
SELECT is((SELECT string_agg(task_id, ' ') FROM clutch.claim('agent:c', 1, '5 minutes')), 'task:c1', 'one of two tasks is claimed');
SELECT pg_temp.at('1 hour 89 seconds') \g /dev/null
SELECT clutch.heartbeat('agent:d') \g /dev/null
SELECT is(pg_temp.lost(), '0', 'two heartbeats may be missed');
SELECT pg_temp.at('1 hour 91 seconds') \g /dev/null
SELECT is(pg_temp.lost() || pg_temp.status('c'), '0READY', 'a running lease counts as a sign of life');
SELECT pg_temp.at('1 hour 4 minutes') \g /dev/null
SELECT clutch.heartbeat('agent:d') \g /dev/null
SELECT pg_temp.at('1 hour 5 minutes 1 second') \g /dev/null
SELECT is(pg_temp.lost(), '1', 'an expired one does not');
SELECT is((SELECT status || ' ' || reason FROM clutch.agents WHERE agent_id = 'agent:c'), 'UNAVAILABLE it was not heard of since 2026-03-01T01:00:00.000000Z', 'a silent agent becomes UNAVAILABLE');
SELECT is(pg_temp.status('d'), 'READY', 'an agent with heartbeats does not');
SELECT is(pg_temp.task('c1') || ', ' || pg_temp.task('c2'), 'assigned agent:d 2, assigned agent:d 2', 'the tasks of the silent agent go to others');
SELECT is((SELECT string_agg(from_agent, ' ') FROM clutch.events WHERE type = 'agent.heartbeat' AND envelope -> 'payload' ->> 'agent_id' = 'agent:c'),
	'agent:orchestrator', 'one event says so');
SELECT is(pg_temp.lost(), '0', 'an agent is declared lost once');
SELECT ok(pg_temp.rebuilds(), 'rebuild finds the same');
SELECT clutch.heartbeat('agent:c') \g /dev/null
SELECT is((SELECT status || ' ' || reason FROM clutch.agents WHERE agent_id = 'agent:c'), 'READY it was heard of again', 'a heartbeat makes the agent READY again');

-- every call is a sign of life
CREATE TEMP TABLE signs (what text, call text);
INSERT INTO signs VALUES
	('clutch.claim', $$SELECT clutch.claim('agent:e')$$),
	('clutch.heartbeat', $$SELECT clutch.heartbeat('agent:e')$$),
	('clutch.extend_lease', $$SELECT clutch.extend_lease('agent:e', 'task:none', 1)$$),
	('clutch.progress', $$SELECT clutch.progress('agent:e', 'task:e1', '{}')$$),
	('clutch.send', $$SELECT clutch.send(clutch.envelope('agent.heartbeat', 'agent:e', payload => '{}'))$$);
CREATE FUNCTION pg_temp.survives(call text, n integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.at(format('%s days', n));
	PERFORM pg_temp.card('e', '{"heartbeat_sec": 10}');
	PERFORM pg_temp.at(format('%s days 20 seconds', n));
	EXECUTE call;
	PERFORM pg_temp.at(format('%s days 49 seconds', n));
	PERFORM pg_temp.lost();
	PERFORM clutch.cancel(task_id) FROM clutch.task WHERE status = 'running';
	RETURN (SELECT status FROM clutch.agent_registry WHERE agent_id = 'agent:e');
END $$;
SELECT pg_temp.at('1 day') \g /dev/null
SELECT pg_temp.card('e', '{"heartbeat_sec": 10}'), pg_temp.ask('e1', 'e') \g /dev/null
SELECT clutch.cancel('task:e1') \g /dev/null
SET clutch.default_deadline = 0;
SELECT is(pg_temp.survives('SELECT 1', 2), 'UNAVAILABLE', 'an agent may be silent for three heartbeat intervals of its card');
SELECT pg_temp.ask('e2', 'e') \g /dev/null
SELECT is(pg_temp.survives(call, (2 + row_number)::integer), 'READY', what || ' is a sign of life')
FROM (SELECT row_number() OVER () AS row_number, what, replace(call, 'e1', 'e2') AS call FROM signs) s;

-- a card may promise heartbeats, and then a lease does not replace them
SELECT pg_temp.at('10 days') \g /dev/null
SELECT clutch.set_status(agent_id, 'STOPPED') FROM clutch.agents WHERE status <> 'STOPPED' \g /dev/null
SELECT pg_temp.card('p', '{"heartbeat_sec": 10}'), pg_temp.ask('p1') \g /dev/null
SELECT clutch.claim('agent:p', 1, '1 hour') \g /dev/null
SELECT pg_temp.at('10 days 31 seconds') \g /dev/null
SELECT pg_temp.lost() \g /dev/null
SELECT is(pg_temp.status('p') || ' ' || pg_temp.task('p1'), 'UNAVAILABLE pending 2', 'a lease does not replace the heartbeats that a card promises');
-- a card may also say that the agent is not to be watched
SELECT pg_temp.at('11 days') \g /dev/null
SELECT pg_temp.card('u', '{"heartbeat_sec": 0}'), pg_temp.card('v') \g /dev/null
SELECT pg_temp.at('12 days') \g /dev/null
SELECT pg_temp.lost() \g /dev/null
SELECT is(pg_temp.status('u') || ' ' || pg_temp.status('v'), 'READY UNAVAILABLE', 'an agent whose card has an interval of 0 is not watched');
SET clutch.heartbeat_interval = 0;
SELECT pg_temp.at('13 days') \g /dev/null
SELECT pg_temp.card('v') \g /dev/null
SELECT pg_temp.at('14 days') \g /dev/null
SELECT is(pg_temp.lost() || pg_temp.status('v'), '0READY', 'with clutch.heartbeat_interval = 0 only agents whose card asks for it are watched');
RESET clutch.heartbeat_interval;
-- an agent that is stopping and falls silent has stopped
SELECT pg_temp.at('15 days') \g /dev/null
SELECT pg_temp.card('v') \g /dev/null
SELECT clutch.set_status('agent:v', 'STOPPING') \g /dev/null
SELECT pg_temp.at('15 days 91 seconds') \g /dev/null
SELECT pg_temp.lost() \g /dev/null
SELECT is(pg_temp.status('v'), 'STOPPED', 'a stopping agent that falls silent is STOPPED');

-- ------------------------------------------------- an agent with thousands of tasks
SELECT clutch.set_status(agent_id, 'STOPPED') FROM clutch.agents WHERE status <> 'STOPPED' \g /dev/null
SELECT clutch.cancel_run(run_id) FROM clutch.runs WHERE open > 0 \g /dev/null
SELECT pg_temp.at('30 days') \g /dev/null
SELECT pg_temp.card('w', '{"max_concurrency": 5000}') \g /dev/null
SELECT pg_temp.ask('w' || n, 'w') FROM generate_series(1, 2400) n \g /dev/null
SELECT clutch.claim('agent:w', 10, '1 hour') \g /dev/null
SELECT pg_temp.at('30 days 10 minutes') \g /dev/null
BEGIN;
SELECT pg_stat_get_xact_numscans('clutch.task_pkey'::regclass) AS before \gset
SELECT pg_temp.lost() \g /dev/null
SELECT cmp_ok(pg_stat_get_xact_numscans('clutch.task_pkey'::regclass) - :before, '<', 500::bigint, 'a silent agent with a lease: not all of its 2,400 tasks are read');
COMMIT;
SELECT is(pg_temp.status('w'), 'READY', 'the lease counts as a sign of life');
SELECT pg_temp.at('30 days 2 hours') \g /dev/null
SELECT is(pg_temp.lost(), '1', 'when no lease is left, the agent is lost');
SELECT ok((SELECT count(*) FROM clutch.agent_slot WHERE agent_id = 'agent:w' AND task_id IS NOT NULL) BETWEEN 1380 AND 1400, 'one transaction takes 1,000 tasks away from it, besides those whose leases ran out');
SELECT clutch.tick() FROM generate_series(1, 2) \g /dev/null
SELECT is((SELECT count(*) FROM clutch.agent_slot WHERE agent_id = 'agent:w' AND task_id IS NOT NULL), 0::bigint, 'later ones take the rest');

-- ---------------------------------------------------- three timeouts in a row
SET clutch.heartbeat_interval = 0;
SET clutch.retry_max = 0;
SELECT clutch.set_status(agent_id, 'STOPPED') FROM clutch.agents WHERE status NOT IN ('STOPPED') \g /dev/null
SELECT clutch.cancel('task:p1') \g /dev/null
SELECT pg_temp.at('20 days') \g /dev/null
SELECT pg_temp.card('t') \g /dev/null
CREATE FUNCTION pg_temp.loses(n integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.at(format('20 days %s hours', n));
	PERFORM pg_temp.ask('t' || n, 't');
	PERFORM clutch.claim('agent:t', 1, '10 seconds');
	PERFORM pg_temp.at(format('20 days %s hours 11 seconds', n));
	PERFORM clutch.tick();
	PERFORM clutch.cancel('task:t' || n);
	RETURN (SELECT status FROM clutch.agent_registry WHERE agent_id = 'agent:t');
END $$;
SELECT is(pg_temp.loses(1) || pg_temp.loses(2), 'READYREADY', 'two tasks of an agent may time out in a row');
SELECT is(pg_temp.loses(3), 'UNAVAILABLE', 'after three in a row it is UNAVAILABLE');
SELECT clutch.heartbeat('agent:t') \g /dev/null
SELECT is(pg_temp.status('t'), 'UNAVAILABLE', 'a heartbeat does not make it READY');
SELECT is((SELECT count(*) FROM clutch.claim('agent:t')), 0::bigint, 'it asks for work');
SELECT is(pg_temp.status('t'), 'READY', 'which makes it READY again');
SELECT is(pg_temp.loses(4), 'UNAVAILABLE', 'one more timeout makes it UNAVAILABLE at once');
SELECT clutch.claim('agent:t') \g /dev/null
SELECT pg_temp.ask('good', 't') \g /dev/null
SELECT clutch.finish('agent:t', 'task:good') \g /dev/null
SELECT is(pg_temp.loses(5) || pg_temp.loses(6), 'READYREADY', 'a completed task ends the row of timeouts');
SELECT ok(pg_temp.rebuilds(), 'rebuild finds the same');
SELECT is((SELECT count(*) FROM clutch.check()), 0::bigint, 'the state is sound');

SELECT * FROM finish();
