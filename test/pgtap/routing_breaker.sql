-- Circuit breakers: an agent that keeps failing gets no tasks, then a few, then all again.
\ir ../fixtures/tap.sql
SELECT plan(50);
SET clutch.notify = off;
SET clutch.heartbeat_interval = 0;
SET clutch.default_deadline = 0;
SET clutch.retry_max = 0;
SET timezone = 'UTC';

CREATE FUNCTION pg_temp.agent(name text, skill text, limits jsonb DEFAULT '{}') RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'display', jsonb_build_object('name', name),
		'capabilities', jsonb_build_array(jsonb_build_object('id', skill)), 'limits', '{"max_concurrency": 20}' || limits))
$$;
CREATE SEQUENCE pg_temp.task_no;
CREATE FUNCTION pg_temp.request(skill text, whom text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('task.request', 'agent:ui', CASE WHEN whom IS NOT NULL THEN ARRAY['agent:' || whom] END, run_id => 'run:1', thread_id => 'thread:1',
		task_id => 'task:' || nextval('pg_temp.task_no'), requires => ARRAY[skill])
$$;
CREATE FUNCTION pg_temp.ask(skill text, whom text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$ SELECT task_id FROM clutch.send(pg_temp.request(skill, whom)) $$;
CREATE FUNCTION pg_temp.breaker(name text) RETURNS text LANGUAGE sql AS $$ SELECT breaker FROM clutch.agents WHERE agent_id = 'agent:' || name $$;
CREATE FUNCTION pg_temp.rejected(name text, skill text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(rejected_by, 'no') FROM clutch.explain_route(pg_temp.request(skill)) WHERE agent_id = 'agent:' || name
$$;
-- requests so many tasks of this agent, claims and ends them in this way, and returns the state of its breaker
CREATE FUNCTION pg_temp.does(name text, how text, n integer DEFAULT 1) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c record;
BEGIN
	PERFORM pg_temp.ask('skill:' || name) FROM generate_series(1, n);
	FOR c IN SELECT * FROM clutch.claim('agent:' || name, n, '10 s') LOOP
		CASE how
			WHEN 'finish' THEN PERFORM clutch.finish('agent:' || name, c.task_id);
			WHEN 'fail' THEN PERFORM clutch.fail('agent:' || name, c.task_id, 'E', 'e', false);
			WHEN 'reject' THEN PERFORM clutch.fail('agent:' || name, c.task_id, 'REJECTED', 'the request makes no sense', false);
			WHEN 'invalid' THEN PERFORM clutch.fail('agent:' || name, c.task_id, 'INVALID_PARAMS', 'a is not a number', false);
			WHEN 'violate' THEN PERFORM clutch.fail('agent:' || name, c.task_id, 'SCHEMA_VIOLATION', 'b is missing', false);
			WHEN 'cancel' THEN PERFORM clutch.cancel(c.task_id);
			WHEN 'release' THEN PERFORM clutch.release('agent:' || name, c.task_id, c.attempt), clutch.cancel(c.task_id);
		END CASE;
	END LOOP;
	RETURN pg_temp.breaker(name);
END $$;
CREATE FUNCTION pg_temp.picture() RETURNS text LANGUAGE sql AS $$
	SELECT (SELECT string_agg(concat_ws(' ', agent_id, seq, at, failed, timed_out), ', ' ORDER BY agent_id, seq) FROM clutch.agent_failure) ||
		(SELECT string_agg(concat_ws(' ', agent_id, breaker), ', ' ORDER BY agent_id) FROM clutch.agents)
$$;
CREATE FUNCTION pg_temp.rebuilt() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before text := pg_temp.picture();
BEGIN
	PERFORM clutch.rebuild();
	RETURN CASE WHEN pg_temp.picture() = before THEN 'the same' ELSE before || E'\n' || pg_temp.picture() END;
END $$;

SELECT fixture.at(0), pg_temp.agent('ken', 'skill:ken') \g /dev/null

-- ------------------------------------------------------------------- it opens
SELECT is(pg_temp.does('ken', 'fail', 4), 'closed', 'four failures do not open a breaker');
SELECT is(pg_temp.does('ken', 'finish'), 'closed', 'a success');
SELECT is((SELECT count(*) FROM clutch.agent_failure), 0::bigint, 'forgets them');
SELECT is(pg_temp.does('ken', 'fail', 4), 'closed', 'so that four more do not open it');
SELECT is(pg_temp.does('ken', 'reject', 9), 'closed', 'requests that the agent rejects do not open it either');
SELECT is(pg_temp.does('ken', 'invalid', 9), 'closed', 'nor do those whose arguments a server refuses');
SELECT is(pg_temp.does('ken', 'violate', 9), 'closed', 'because they break its schema');
SELECT is((SELECT success_rate < 1 FROM clutch.agents WHERE agent_id = 'agent:ken'), true, 'failures lower the success rate');
SELECT is((SELECT round(success_rate::numeric, 3) FROM clutch.agents WHERE agent_id = 'agent:ken'), 0.111, 'which rejections do not');
SELECT is(pg_temp.does('ken', 'cancel', 3) || ' ' || pg_temp.does('ken', 'release', 2), 'closed closed', 'cancels and releases do not count');
SELECT is(pg_temp.does('ken', 'fail'), 'open', 'five failures in a row open it');
SELECT is(pg_temp.rejected('ken', 'skill:ken'), 'breaker', 'explain_route shows the open breaker');
SELECT is((SELECT detail FROM clutch.explain_route(pg_temp.request('skill:ken')) WHERE agent_id = 'agent:ken'),
	'failed its last 5 tasks or more, gets no work until 2026-01-01T12:01:00.000000Z', 'and until when');
CREATE TEMP TABLE waits AS SELECT pg_temp.ask('skill:ken') AS task_id, pg_temp.ask('skill:ken', 'ken') AS named;
SELECT is((SELECT code FROM clutch.tasks JOIN waits USING (task_id)), 'NO_AGENT_AVAILABLE', 'the work of the agent waits');
SELECT is((SELECT envelope #>> '{payload,rejected,breaker,count}' FROM clutch.events WHERE type = 'routing.failure' ORDER BY seq DESC LIMIT 1), '1', 'the log says why');
SELECT is((SELECT rejected_by FROM clutch.why((SELECT task_id FROM waits)) WHERE agent_id = 'agent:ken'), 'breaker', 'and so does why()');
SELECT is((SELECT t.status || ' ' || t.waiting_for FROM clutch.tasks t JOIN waits w ON t.task_id = w.named), 'pending agent', 'also for a request that names the agent');
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken', 9)), 0::bigint, 'a claim of the agent gets nothing');
SELECT is(pg_temp.rebuilt(), 'the same', 'rebuild finds the same breakers');

-- another agent gets the tasks meanwhile
SELECT pg_temp.agent('bob', 'skill:ken') \g /dev/null
SELECT is((SELECT agent_id FROM clutch.tasks WHERE task_id = (SELECT task_id FROM waits)), 'agent:bob', 'another agent that can do it gets the work');
CREATE TEMP TABLE comes AS SELECT pg_temp.ask('skill:ken') AS task_id FROM generate_series(1, 5);
SELECT is((SELECT string_agg(DISTINCT agent_id, ' ') FROM clutch.tasks JOIN comes USING (task_id)), 'agent:bob', 'and all that comes');
SELECT clutch.set_status('agent:bob', 'STOPPED') \g /dev/null
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null

-- ------------------------------------------------------------------ half open
SELECT fixture.at(59) \g /dev/null
SELECT is(pg_temp.breaker('ken'), 'open', 'the breaker is open for a minute');
SELECT pg_temp.ask('skill:ken') FROM generate_series(1, 5) \g /dev/null
SELECT fixture.at(60) \g /dev/null
SELECT is(pg_temp.breaker('ken') || ' ' || pg_temp.rejected('ken', 'skill:ken'), 'half_open no', 'then the agent is tried');
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken', 9)), 3::bigint, 'with three tasks at once');
SELECT is((SELECT detail FROM clutch.explain_route(pg_temp.request('skill:ken')) WHERE agent_id = 'agent:ken'),
	'failed its last 5 tasks or more, has as many tasks as an agent on trial may have (3)', 'and no more');
SELECT clutch.fail('agent:ken', (SELECT min(task_id) FROM clutch.tasks WHERE status = 'running'), 'E', 'e', false) \g /dev/null
SELECT is(pg_temp.breaker('ken'), 'open', 'a failure opens the breaker again');
SELECT fixture.at(119) \g /dev/null
SELECT is(pg_temp.breaker('ken'), 'open', 'for another minute');
SELECT clutch.finish('agent:ken', task_id) FROM clutch.tasks WHERE status = 'running' \g /dev/null
SELECT is(pg_temp.breaker('ken'), 'open', 'the tasks that the agent still has may close it');
SELECT is(pg_temp.rebuilt(), 'the same', 'rebuild finds the same');
SELECT fixture.at(120), clutch.tick() \g /dev/null
SELECT is((SELECT count(clutch.finish('agent:ken', task_id)) FROM clutch.claim('agent:ken', 1)), 1::bigint, 'one more success');
SELECT is(pg_temp.breaker('ken'), 'closed', 'three successes since the last failure close it');
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken', 9)), 1::bigint, 'the agent gets what is left');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null
SELECT is(pg_temp.does('ken', 'fail', 4), 'closed', 'and its count begins anew');
SELECT is(pg_temp.does('ken', 'finish'), 'closed', 'without earlier failures');

-- --------------------------------------------------------------- other failures
SELECT pg_temp.agent('slow', 'skill:slow', '{"max_runtime_sec": 5}') \g /dev/null
-- an agent that runs too long, and then is silent: both count as its failures
SELECT pg_temp.ask('skill:slow') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:slow', 1, '60 s') \g /dev/null
SELECT fixture.at(126), clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', failed, timed_out), ', ') FROM clutch.agent_failure WHERE agent_id = 'agent:slow'), 't t', 'a task that ran too long counts as a failure');
SELECT pg_temp.ask('skill:slow') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:slow', 1, '1 s') \g /dev/null
SELECT fixture.at(128), clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.agent_failure WHERE agent_id = 'agent:slow' AND timed_out), 2::bigint, 'and so does a lease that expired');
SET clutch.max_lease_losses = 1;
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null
SELECT pg_temp.agent('bad', 'skill:bad'), pg_temp.ask('skill:bad') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:bad', 1, '0.1 s') \g /dev/null
SELECT fixture.at(129), clutch.tick() \g /dev/null
SELECT count(*) FROM clutch.claim('agent:bad', 1, '0.1 s') \g /dev/null
SELECT fixture.at(130), clutch.tick() \g /dev/null
SELECT is((SELECT code FROM clutch.dead_letters WHERE agent_id = 'agent:bad'), 'LEASES_LOST', 'a task has lost too many leases');
SELECT is((SELECT count(*) FROM clutch.agent_failure WHERE agent_id = 'agent:bad'), 2::bigint, 'each of which is a failure');
RESET clutch.max_lease_losses;
SELECT is(pg_temp.rebuilt(), 'the same', 'rebuild finds all of it');

-- ------------------------------------------------------------------- settings
SET clutch.breaker_failures = 2;
SET clutch.breaker_reset = '10 s';
SELECT is(pg_temp.breaker('slow'), 'open', 'clutch.breaker_failures is how many failures open it');
SELECT pg_temp.ask('skill:slow'), fixture.at(138) \g /dev/null
SELECT is(pg_temp.breaker('slow'), 'half_open', 'clutch.breaker_reset is how long it is open');
SET clutch.breaker_failures = 3;
SELECT is(pg_temp.breaker('slow'), 'closed', 'fewer failures do not open it');
SET clutch.breaker_failures = 2;
SET clutch.breaker_probes = 1;
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(clutch.finish('agent:slow', task_id)) FROM clutch.claim('agent:slow', 9)), 1::bigint, 'clutch.breaker_probes is how many tasks');
SELECT is(pg_temp.breaker('slow'), 'closed', 'the agent is tried with');
SET clutch.breaker_failures = 0;
SELECT is(pg_temp.does('slow', 'fail', 20), 'closed', 'with clutch.breaker_failures = 0 none opens');

-- --------------------------------------------- for ever neither well nor dead
RESET clutch.breaker_failures;
RESET clutch.breaker_reset;
RESET clutch.breaker_probes;
SELECT pg_temp.agent('flaky', 'skill:flaky'), pg_temp.does('flaky', 'fail', 5) \g /dev/null
SELECT fixture.at(200 + 61 * n), pg_temp.does('flaky', 'finish', 2), pg_temp.does('flaky', 'fail') FROM generate_series(1, 20) n \g /dev/null
SELECT is(pg_temp.breaker('flaky'), 'open', 'two successes and a failure in turn do not close it');
SELECT cmp_ok((SELECT count(*) FROM clutch.agent_failure WHERE agent_id = 'agent:flaky'), '<', 10::bigint, 'and not all of them are kept');
SELECT is((SELECT count(*) FROM clutch.agent_failure WHERE agent_id = 'agent:flaky' AND NOT failed), 1::bigint, 'of the successes the last one, which ends a row of timeouts');
SELECT fixture.at(200 + 61 * 21) \g /dev/null
SELECT is(pg_temp.does('flaky', 'finish', 2) || ' ' || pg_temp.does('flaky', 'finish'), 'half_open closed', 'three successes close it');

SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
