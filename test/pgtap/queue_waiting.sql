-- Tasks that wait: for which agents, in which order, and what gives them out
-- (DESIGN 3, "Waiting").  No tick unless it says so.
\ir ../fixtures/tap.sql
SELECT plan(53);
SET clutch.heartbeat_interval = 0;
SET clutch.breaker_failures = 0;
SET clutch.notify = off;
SET clutch.breaker_failures = 0;
SET clutch.retry_max = 0;
SET clutch.default_deadline = 0;

CREATE FUNCTION pg_temp.card(name text, at_once integer, skills text[] DEFAULT '{skill:x}', more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'display', jsonb_build_object('name', name),
		'capabilities', (SELECT jsonb_agg(jsonb_build_object('id', s)) FROM unnest(skills) s), 'limits', jsonb_build_object('max_concurrency', at_once)) || more
$$;
CREATE FUNCTION pg_temp.ask(task text, skill text DEFAULT 'skill:x', whom text DEFAULT NULL, orders jsonb DEFAULT NULL, run text DEFAULT 'run:1') RETURNS void LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', CASE WHEN whom IS NOT NULL THEN ARRAY[whom] END, run_id => run,
		thread_id => 'thread:1', task_id => task, requires => ARRAY[skill], meta => CASE WHEN orders IS NOT NULL THEN jsonb_build_object('clutch', orders) END))
$$;
CREATE FUNCTION pg_temp.update(name text, changes jsonb) RETURNS void LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('agent.update', 'agent:' || name, payload => jsonb_build_object('agent_id', 'agent:' || name) || changes))
$$;
CREATE FUNCTION pg_temp.status(name text, status text) RETURNS void LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('agent.heartbeat', 'agent:' || name, payload => jsonb_build_object('agent_id', 'agent:' || name, 'status', status)))
$$;
-- which agent has which tasks, and which tasks wait for what
CREATE FUNCTION pg_temp.had(name text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(substr(task_id, 6), ' ' ORDER BY task_id), 'nothing') FROM clutch.tasks
	WHERE agent_id = 'agent:' || name AND status IN ('assigned', 'running')
$$;
CREATE FUNCTION pg_temp.waits() RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(concat_ws(' ', substr(task_id, 6), waiting_for, code), ', ' ORDER BY task_id), 'nothing') FROM clutch.tasks WHERE status = 'pending' $$;
CREATE FUNCTION pg_temp.failures(task text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(envelope #>> '{payload,code}', ' ' ORDER BY seq), 'none') FROM clutch.events WHERE task_id = task AND type = 'routing.failure'
$$;

-- ------------------------------------------------ nobody, then somebody comes
SELECT pg_temp.ask('task:a1'), pg_temp.ask('task:a2') \g /dev/null
SELECT is(pg_temp.waits(), 'a1 agent NO_CAPABLE_AGENT, a2 agent NO_CAPABLE_AGENT', 'nobody is there: it waits, visibly');
SELECT is(pg_temp.failures('task:a1'), 'NO_CAPABLE_AGENT', 'a routing.failure says so');
SELECT is((SELECT envelope #> '{to,0,agent_id}' FROM clutch.events WHERE task_id = 'task:a1' AND type = 'routing.failure'), '"agent:ui"', 'to who asked');
SELECT is((SELECT envelope #> '{payload,retryable}' FROM clutch.events WHERE task_id = 'task:a1' AND type = 'routing.failure'), 'true', 'it may still happen');
SELECT clutch.register(pg_temp.card('other', 9, '{skill:y}')) \g /dev/null
SELECT is(pg_temp.had('other'), 'nothing', 'one who cannot gets nothing');
SELECT clutch.register(pg_temp.card('ken', 1)) \g /dev/null
SELECT is(pg_temp.had('ken'), 'a1', 'who registers is given as much as fits');
SELECT is((SELECT count(*) FROM clutch.events WHERE task_id = 'task:a1' AND type = 'routing.decision'), 1::bigint, 'by a decision in the log');
SELECT is(pg_temp.failures('task:a1'), 'NO_CAPABLE_AGENT', 'and no other failure');
SELECT clutch.finish('agent:ken', 'task:a1') \g /dev/null
SELECT is(pg_temp.had('ken'), 'a2', 'a report that frees a slot offers it to what waits');

-- ------------------------------------------- one slot, one task, the most urgent
SELECT pg_temp.ask('task:b' || p || n, orders => jsonb_build_object('priority', p)) FROM generate_series(1, 2) n, unnest('{2,0,4,3}'::integer[]) p \g /dev/null
SELECT is((SELECT string_agg(DISTINCT code, ' ') FROM clutch.tasks WHERE status = 'pending'), 'NO_CAPACITY', 'all are full: NO_CAPACITY');
SELECT is((SELECT string_agg(DISTINCT waiting_for, ' ') FROM clutch.tasks WHERE status = 'pending'), 'capacity', 'it waits for capacity');
CREATE FUNCTION pg_temp.order_of_work(name text, report text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	task text;
	done text := '';
BEGIN
	LOOP
		SELECT t.task_id INTO task FROM clutch.tasks t WHERE t.agent_id = 'agent:' || name AND t.status IN ('assigned', 'running');
		EXIT WHEN task IS NULL OR length(done) > 200;
		IF (SELECT count(*) FROM clutch.tasks t WHERE t.agent_id = 'agent:' || name AND t.status IN ('assigned', 'running')) > 1 THEN
			RETURN 'more than one';
		END IF;
		done := done || ' ' || substr(task, 6);
		CASE report
			WHEN 'finish' THEN PERFORM clutch.finish('agent:' || name, task);
			WHEN 'fail' THEN PERFORM clutch.fail('agent:' || name, task, 'E', 'm', false);
			WHEN 'cancel' THEN PERFORM clutch.cancel(task);
			WHEN 'claim and finish' THEN
				PERFORM clutch.claim('agent:' || name, 5);
				PERFORM clutch.finish('agent:' || name, task);
		END CASE;
		PERFORM clutch.settle();
	END LOOP;
	RETURN ltrim(done);
END $$;
SELECT is(pg_temp.order_of_work('ken', 'finish'), 'b41 b42 b31 b32 a2 b21 b22 b01 b02', 'one slot, one task, by priority and order');
SELECT pg_temp.ask('task:c' || n) FROM generate_series(1, 4) n \g /dev/null
SELECT is(pg_temp.order_of_work('ken', 'fail'), 'c1 c2 c3 c4', 'an error frees the slot as well');
SELECT pg_temp.ask('task:d' || n) FROM generate_series(1, 4) n \g /dev/null
SELECT is(pg_temp.order_of_work('ken', 'cancel'), 'd1 d2 d3 d4', 'so does a cancel');
SELECT pg_temp.ask('task:e' || n) FROM generate_series(1, 4) n \g /dev/null
SELECT is(pg_temp.order_of_work('ken', 'claim and finish'), 'e1 e2 e3 e4', 'claimed or not');
SELECT is(pg_temp.waits(), 'nothing', 'nothing is left waiting');

-- ------------------------------------------------------ what fits whom
SELECT pg_temp.ask('task:f1', orders => '{"priority": 4}'), pg_temp.ask('task:f2', 'skill:z'), pg_temp.ask('task:f3', orders => '{"priority": 4}'), pg_temp.ask('task:f4', 'skill:z', orders => '{"priority": 4}') \g /dev/null
SELECT is(pg_temp.had('ken'), 'f1', 'ken has one');
SELECT clutch.finish('agent:ken', 'task:f1') \g /dev/null
SELECT is(pg_temp.had('ken'), 'f3', 'what fits others is not offered, however urgent');
SELECT pg_temp.update('other', '{"capabilities": [{"id": "skill:y"}, {"id": "skill:z"}]}') \g /dev/null
SELECT is(pg_temp.had('other'), 'f2 f4', 'who learns is given what waited for it');
SELECT pg_temp.ask('task:f5') \g /dev/null
SELECT is(pg_temp.waits(), 'f5 capacity NO_CAPACITY', 'ken is full');
SELECT pg_temp.update('ken', '{"limits": {"max_concurrency": 3}}') \g /dev/null
SELECT is(pg_temp.had('ken'), 'f3 f5', 'a limit that is raised gives room');
SELECT pg_temp.ask('task:f6'), pg_temp.ask('task:f7') \g /dev/null
SELECT is(pg_temp.had('ken'), 'f3 f5 f6', 'up to the limit');
SELECT pg_temp.update('ken', '{"limits": {"max_concurrency": 1}}') \g /dev/null
SELECT clutch.finish('agent:ken', 'task:f5') \g /dev/null
SELECT is(pg_temp.had('ken'), 'f3 f6', 'a limit that was lowered takes nothing away, and nothing is added');
SELECT clutch.finish('agent:ken', 'task:f3') \g /dev/null
SELECT is(pg_temp.had('ken'), 'f6', 'until it is below the limit');
SELECT clutch.finish('agent:ken', 'task:f6') \g /dev/null
SELECT is(pg_temp.had('ken'), 'f7', 'then again');

-- --------------------------------------------------------------- by status
SELECT clutch.finish('agent:ken', 'task:f7') \g /dev/null
SELECT pg_temp.status('ken', 'UNAVAILABLE') \g /dev/null
SELECT pg_temp.ask('task:g1') \g /dev/null
SELECT is(pg_temp.waits(), 'g1 agent NO_AGENT_AVAILABLE', 'who is unavailable gets nothing');
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken')), 0::bigint, 'also when it asks');
SELECT pg_temp.status('ken', 'READY') \g /dev/null
SELECT is(pg_temp.had('ken'), 'g1', 'who is ready again gets what waited');

-- ---------------------------------------- said once, until it is something else
SELECT pg_temp.ask('task:h1', 'skill:h') \g /dev/null
SELECT clutch.tick(), clutch.tick() \g /dev/null
SELECT is(pg_temp.failures('task:h1'), 'NO_CAPABLE_AGENT', 'looking again says nothing new');
SELECT clutch.register(pg_temp.card('h', 1, '{skill:h}')) \g /dev/null
SELECT pg_temp.ask('task:h2', 'skill:h') \g /dev/null
SELECT clutch.tick(), clutch.tick() \g /dev/null
SELECT is(pg_temp.failures('task:h2'), 'NO_CAPACITY', 'another reason');
SELECT pg_temp.status('h', 'UNAVAILABLE') \g /dev/null
SELECT clutch.tick(), clutch.tick() \g /dev/null
SELECT is(pg_temp.failures('task:h2'), 'NO_CAPACITY NO_AGENT_AVAILABLE', 'a change of code is said');
SELECT is(pg_temp.waits(), 'h1 agent NO_AGENT_AVAILABLE, h2 agent NO_AGENT_AVAILABLE', 'and shown, with what the agent gave up');

-- ---------------------------------------------------- asked of one who is full
SELECT pg_temp.ask('task:i1', whom => 'agent:ken') \g /dev/null
SELECT is(pg_temp.failures('task:i1'), 'NO_CAPACITY', 'one agent is named, and full');
SELECT clutch.register(pg_temp.card('lois', 5)) \g /dev/null
SELECT is(pg_temp.had('lois'), 'nothing', 'another does not get it');
SELECT clutch.finish('agent:ken', 'task:g1') \g /dev/null
SELECT is(pg_temp.had('ken'), 'i1', 'but the one named, when it is free');
SELECT pg_temp.ask('task:i2', whom => 'agent:coming') \g /dev/null
SELECT is(pg_temp.failures('task:i2'), 'NO_AGENT_AVAILABLE', 'one agent is named, and not there');
SELECT clutch.register(pg_temp.card('coming', 1)) \g /dev/null
SELECT is(pg_temp.had('coming'), 'i2', 'it has it when it comes');
SELECT pg_temp.ask('task:i3', whom => 'group:press') \g /dev/null
SELECT is(pg_temp.failures('task:i3'), 'NO_AGENT_AVAILABLE', 'a group without members');
SELECT clutch.join_group('group:press', 'agent:lois') \g /dev/null
SELECT task_id FROM clutch.claim('agent:lois') \g /dev/null
SELECT is(pg_temp.had('lois'), 'i3', 'a member has it when it comes to claim');

-- ------------------------------------------------------ nobody waits past rights
SELECT pg_temp.ask('task:j1', 'skill:j', orders => '{"scope": "group:team"}', run => 'run:j') \g /dev/null
SELECT clutch.register(pg_temp.card('j', 9, '{skill:j}')) \g /dev/null
SELECT is(pg_temp.had('j'), 'nothing', 'a scoped task waits for an agent of its scope');
SELECT clutch.register(pg_temp.card('j2', 9, '{skill:j}', '{"scopes": ["group:team"]}')) \g /dev/null
SELECT is(pg_temp.had('j2'), 'j1', 'and goes to it');
SELECT pg_temp.ask('task:j2', 'skill:j', run => 'run:j') \g /dev/null
SELECT is(pg_temp.had('j2'), 'j1 j2', 'what follows in the run is of the same scope');
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', task_id => 'task:k1', requires => '{skill:k}', run_id => 'run:1')) \g /dev/null
SELECT clutch.register(pg_temp.card('k', 9, '{skill:k}', '{"security": {"sandbox": false}}')) \g /dev/null
SELECT is(pg_temp.had('k'), 'nothing', 'a sandboxed task does not go to who has no sandbox');
SELECT is(pg_temp.failures('task:k1'), 'NO_CAPABLE_AGENT', 'nothing is said until somebody looks');
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.failures('task:k1'), 'NO_CAPABLE_AGENT POLICY_DENIED', 'then the policy is named');

-- ---------------------------------------- what a backend remembers has an end
SELECT clutch.register(pg_temp.card('fit', 1, '{skill:fit}')) \g /dev/null
SELECT pg_temp.ask('task:m0', 'skill:fit', whom => 'agent:fit') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:fit}', prefers => ARRAY['tag:' || n])) FROM generate_series(1, 200) n \g /dev/null
CREATE FUNCTION pg_temp.remembered() RETURNS numeric LANGUAGE sql AS
$$ SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name LIKE 'clutch%' AND name NOT LIKE 'clutch roster%' $$;
DO $$
DECLARE
	before numeric;
BEGIN
	FOR n IN 1 .. 101 LOOP
		PERFORM pg_temp.update('other', jsonb_build_object('display', jsonb_build_object('name', 'other' || n)));
		PERFORM clutch.release('agent:fit', c.task_id, c.attempt) FROM clutch.claim('agent:fit') c;
		IF n = 1 THEN
			before := pg_temp.remembered();
		END IF;
	END LOOP;
	PERFORM set_config('test.growth', (pg_temp.remembered() - before)::text, false);
END $$;
SELECT cmp_ok(current_setting('test.growth')::numeric, '<', 100000::numeric, 'however often cards change while 200 kinds wait');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null

-- ------------------------------------ why a task waits, behind others of its kind
SELECT clutch.register(pg_temp.card('lone', 1, '{skill:lone}')) \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:lone}', task_id => 'task:p' || n)) FROM generate_series(1, 5) n \g /dev/null
SELECT clutch.unregister('agent:lone') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(right(task_id, 1) || ' ' || code || ' ' || waiting_for, ', ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:p%'),
	'1 NO_CAPABLE_AGENT agent, 2 NO_CAPABLE_AGENT agent, 3 NO_CAPABLE_AGENT agent, 4 NO_CAPABLE_AGENT agent, 5 NO_CAPABLE_AGENT agent', 'a tick finds for each of them that the agent for which it waited is gone');
SELECT is((SELECT count(*) FROM clutch.stuck WHERE task_id LIKE 'task:p%'), 5::bigint, 'so all of them are stuck');
SELECT max(seq) AS before FROM clutch.events \gset
SELECT clutch.tick(), clutch.settle(), clutch.tick() \g /dev/null
SELECT is((SELECT max(seq) FROM clutch.events), :before::bigint, 'which is said once');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null

-- ------------------------------------------- a request that is made to be in the way
-- With the hash of PostgreSQL's hash tables, the preference was chosen so that this request, which no agent can do,
-- had the digest of the others, and they waited behind it for ever.
SELECT clutch.register(pg_temp.card('hash', 1, '{skill:hash}')) \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:hash,skill:none}', prefers => '{"tag:g9yrm400v>aIWY(JJ-0&"}', task_id => 'task:q0')) \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:hash}', task_id => 'task:q' || n)) FROM generate_series(1, 3) n \g /dev/null
SELECT is((SELECT count(DISTINCT kind) FROM clutch.waiting WHERE task_id LIKE 'task:q%'), 2::bigint, 'nobody can choose the digest of a request');
SELECT is((SELECT string_agg(task_id, ' ') FROM clutch.claim('agent:hash')), 'task:q1', 'an agent has one of several tasks');
SELECT clutch.finish('agent:hash', 'task:q1') \g /dev/null
SELECT is((SELECT string_agg(task_id, ' ') FROM clutch.claim('agent:hash')), 'task:q2', 'and gets the next one past a request that it cannot do');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null

SELECT is_empty('SELECT * FROM clutch.check()', 'sound at the end');
SELECT * FROM finish();
