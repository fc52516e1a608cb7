-- Tasks that fail and are tried again, and those that are not tried any more.
\ir ../fixtures/tap.sql
SELECT plan(89);
SET clutch.notify = off;
SET clutch.heartbeat_interval = 0;
SET clutch.breaker_failures = 0;
SET clutch.default_deadline = 0;
SET timezone = 'UTC';

CREATE FUNCTION pg_temp.since_noon(t timestamptz) RETURNS numeric LANGUAGE sql AS $$ SELECT extract(epoch FROM t - '2026-01-01 12:00:00Z')::numeric(12, 3) $$;
CREATE FUNCTION pg_temp.agent(name text, limits jsonb DEFAULT '{}') RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'display', jsonb_build_object('name', name),
		'capabilities', jsonb_build_array(jsonb_build_object('id', 'skill:' || name), '{"id": "skill:x"}'::jsonb), 'limits', '{"max_concurrency": 50}' || limits))
$$;
CREATE FUNCTION pg_temp.ask(task text, orders jsonb DEFAULT NULL, kind text DEFAULT NULL, needs text DEFAULT 'skill:ken', run text DEFAULT 'run:1') RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', payload => '{"q": 1}', run_id => run, thread_id => 'thread:1', task_id => 'task:' || task,
		requires => ARRAY[needs], payload_type => kind, meta => CASE WHEN orders IS NOT NULL THEN jsonb_build_object('clutch', orders) END))
$$;
CREATE FUNCTION pg_temp.state(task text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', status, waiting_for, agent_id, attempt, retries, code) FROM clutch.tasks WHERE task_id = 'task:' || task $$;
CREATE FUNCTION pg_temp.claimed(agent text DEFAULT 'ken', n integer DEFAULT 50, lease interval DEFAULT '60 s') RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(concat_ws(' ', replace(task_id, 'task:', ''), attempt, reason), ', '), 'nothing') FROM clutch.claim('agent:' || agent, n, lease) $$;
CREATE FUNCTION pg_temp.tick() RETURNS void LANGUAGE sql AS 'SELECT FROM clutch.tick()';
-- how long the task is held, from now
CREATE FUNCTION pg_temp.held(name text) RETURNS numeric LANGUAGE sql AS
$$ SELECT extract(epoch FROM wake_at - clutch.now())::numeric(12, 3) FROM clutch.task WHERE task_id = 'task:' || name $$;
-- claims a task and fails it, and returns how long it is held then; NULL if it is not tried again
CREATE FUNCTION pg_temp.failed(task text, code text DEFAULT 'TIMEOUT', retryable boolean DEFAULT true, details jsonb DEFAULT NULL, agent text DEFAULT 'ken') RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.claimed(agent, lease => '1 h');
	PERFORM clutch.fail('agent:' || agent, 'task:' || task, code, 'broken', retryable, details);
	RETURN pg_temp.held(task);
END $$;
-- a report as another client writes it: with these fields and no other
CREATE FUNCTION pg_temp.reported(task text, payload jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.ask(task);
	PERFORM pg_temp.claimed();
	PERFORM clutch.report('agent:ken', 'task:' || task, 'task.error', payload);
	RETURN (SELECT concat_ws(' ', status, waiting_for) FROM clutch.tasks WHERE task_id = 'task:' || task);
END $$;
CREATE FUNCTION pg_temp.picture() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws('|', task_id, status, agent_id, attempt, reason, waiting_for, code, detail, retries, losses, wake_at, deadline, started_at, finished_at, result_seq), E'\n' ORDER BY task_id) FROM clutch.task
$$;
CREATE FUNCTION pg_temp.rebuilt() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before text := pg_temp.picture();
BEGIN
	PERFORM clutch.rebuild();
	RETURN CASE WHEN pg_temp.picture() = before THEN 'the same' ELSE before || E'\n' || pg_temp.picture() END;
END $$;

SELECT fixture.at(0), pg_temp.agent('ken') \g /dev/null

-- ------------------------------------------------------- backoff and its end
SELECT pg_temp.ask('1') \g /dev/null
CREATE TEMP TABLE held (n integer, s numeric);
INSERT INTO held SELECT 1, pg_temp.failed('1');
SELECT is(pg_temp.state('1'), 'pending retry 2 1 TIMEOUT', 'a retryable error holds the task for another attempt');
SELECT is((SELECT running FROM clutch.agents WHERE agent_id = 'agent:ken'), 0, 'it frees the slot meanwhile');
SELECT is(pg_temp.claimed(), 'nothing', 'a held task cannot be claimed');
SELECT is((SELECT finished FROM clutch.result('task:1')), false, 'a held task is not over');
SELECT is((SELECT string_agg(concat_ws(' ', type, from_agent, to_agents[1], envelope #>> '{meta,clutch,move}'), ', ' ORDER BY seq) FROM (SELECT * FROM clutch.events WHERE task_id = 'task:1' ORDER BY seq DESC LIMIT 2) e),
	'task.error agent:ken agent:ui, task.progress agent:orchestrator agent:ui retried', 'the log has the error and the retry');
SELECT is((SELECT (envelope -> 'payload') - 'not_before'::text FROM clutch.events WHERE envelope #>> '{meta,clutch,move}' = 'retried'), '{"state": "retried", "was": "failed", "retry": 1, "of": 3}', 'the retry says which of how many it is');
SELECT is((SELECT (envelope #>> '{payload,not_before}')::timestamptz FROM clutch.events WHERE envelope #>> '{meta,clutch,move}' = 'retried'), (SELECT wake_at FROM clutch.task WHERE task_id = 'task:1'), 'and when it will be');
SELECT is(pg_temp.rebuilt(), 'the same', 'rebuild finds the task held');
SELECT fixture.at(0.4), pg_temp.tick() \g /dev/null
SELECT is(pg_temp.state('1'), 'pending retry 2 1 TIMEOUT', 'a tick before its time leaves it');
SELECT fixture.at(1.1), pg_temp.tick() \g /dev/null
SELECT is(pg_temp.state('1'), 'assigned agent:ken 2 1', 'a tick after its time assigns it to the same agent, as there is no other');
SELECT is(pg_temp.claimed(), '1 2 retry', 'the claim says that it is a retry');
SELECT is((SELECT late FROM clutch.finish('agent:ken', 'task:1', attempt => 1)), true, 'a report of the attempt that failed is late');
INSERT INTO held SELECT 2, pg_temp.failed('1');
SELECT fixture.at(10), pg_temp.tick() \g /dev/null
INSERT INTO held SELECT 3, pg_temp.failed('1');
SELECT fixture.at(20), pg_temp.tick() \g /dev/null
SELECT ok(bool_and(s BETWEEN 2 ^ (n - 1) / 2 AND 2 ^ (n - 1)), 'the delays are 1, 2 and 4 seconds, or up to half of that less') FROM held;
SELECT is(pg_temp.failed('1', 'TIMEOUT'), NULL, 'a fourth error is final');
SELECT is(pg_temp.state('1'), 'failed agent:ken 4 3 TIMEOUT', 'the task has failed');
SELECT is((SELECT ROW(task_id, status, agent_id, attempt, retries, losses, code, detail, error, revive)::text FROM clutch.dead_letters),
	ROW('task:1', 'failed', 'agent:ken', 4, 3, 0, 'TIMEOUT', 'broken', '{"code": "TIMEOUT", "message": "broken", "retryable": true}'::jsonb, 'SELECT clutch.retry(''task:1'')')::text, 'it is in clutch.dead_letters with its last error');
SELECT is(pg_temp.rebuilt(), 'the same', 'rebuild finds the same');

-- tasks that failed together are not tried again together
SELECT count(pg_temp.ask('j' || n)), count(pg_temp.failed('j' || n)) FROM generate_series(1, 9) n \g /dev/null
SELECT cmp_ok((SELECT count(DISTINCT wake_at) FROM clutch.task WHERE task_id LIKE 'task:j%'), '>', 5::bigint, 'delays are jittered');
SELECT count(clutch.cancel('task:j' || n)) FROM generate_series(1, 9) n \g /dev/null
SELECT is((SELECT string_agg(DISTINCT pg_temp.state('j' || n), ', ') FROM generate_series(1, 9) n), 'cancelled 2 1', 'a held task can be cancelled');
SELECT is((SELECT count(*) FROM clutch.dead_letters), 1::bigint, 'a cancelled task is not a dead letter');

-- -------------------------------------------------------------- which errors
SELECT is(pg_temp.reported('e1', '{"code": "E", "message": "m", "retryable": true}'), 'pending retry', 'a report says whether its error is retryable');
SELECT is(pg_temp.reported('e2', '{"code": "TIMEOUT", "message": "m", "retryable": false}'), 'failed', 'or that it is not');
SELECT is(pg_temp.reported('e3', '{"code": "TIMEOUT", "message": "m"}') || ', ' || pg_temp.reported('e4', '{"code": "UNAVAILABLE", "message": "m"}'), 'pending retry, pending retry', 'otherwise its code decides');
SELECT is(pg_temp.reported('e5', '{"code": "E", "message": "m"}'), 'failed', 'and most codes are not retryable');
SET clutch.retryable_errors = 'BUSY, TIMED';
SELECT is(pg_temp.reported('e6', '{"code": "TIMEOUT", "message": "m"}') || ', ' || pg_temp.reported('e7', '{"code": "TIMED", "message": "m"}'),
	'failed, pending retry', 'clutch.retryable_errors names those that are');
SET clutch.retryable_errors = '';
SELECT is(pg_temp.reported('e9', '{"code": "TIMEOUT", "message": "m"}'), 'failed', 'and may name none');
RESET clutch.retryable_errors;

-- -------------------------------------------------- how often, and how late
SELECT pg_temp.ask('p1', '{"retry": {"max": 0}}'), pg_temp.ask('p2', '{"retry": {"max": 1, "initial_ms": 60000, "max_ms": 600000}}'), pg_temp.ask('p3', '{"retry": {"initial_ms": 0}}') \g /dev/null
SELECT is(pg_temp.failed('p1'), NULL, 'a request may forbid retries');
SELECT ok(pg_temp.failed('p2') BETWEEN 30 AND 60, 'or set their delay');
SELECT fixture.at(90), pg_temp.tick() \g /dev/null
SELECT is(pg_temp.failed('p2'), NULL, 'and their number');
SELECT cmp_ok(pg_temp.failed('p3'), '<=', 0.001, 'a delay of 0 is possible');
SELECT fixture.at(91), pg_temp.tick() \g /dev/null
SELECT is(pg_temp.state('p3'), 'assigned agent:ken 2 1', 'a task without delay is assigned by the next tick or claim');

SELECT pg_temp.ask('d1'), pg_temp.ask('d2'), pg_temp.ask('d3'), pg_temp.ask('d4', '{"retry": {"initial_ms": 200000, "max_ms": 200000}}') \g /dev/null
SELECT is(pg_temp.failed('d1', details => '{"retry_after_ms": 30000}'), 30.0, 'details.retry_after_ms is the least delay');
SELECT is(pg_temp.failed('d2', details => '{"retryAfter": 40000}'), 40.0, 'so is details.retryAfter');
SELECT ok(pg_temp.failed('d3', details => '{"retry_after_ms": -5}') BETWEEN 0.5 AND 1, 'a negative one is ignored');
SELECT ok(pg_temp.failed('d4', details => '{"retry_after_ms": 1}') BETWEEN 100 AND 200, 'a longer one counts');

-- each field is taken from the first that has it: request, payload type, card, settings
SET clutch.retry_initial = '1 s';
SET clutch.retry_max_delay = '1000 s';
SELECT clutch.set_retry_policy('slow.v1', initial => '100 s', max => 2) \g /dev/null
SELECT pg_temp.agent('card', '{"retry": {"max": 1, "initial_ms": 10000, "factor": 10}}') \g /dev/null
CREATE FUNCTION pg_temp.delays(task text, orders jsonb, kind text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
	s numeric;
BEGIN
	PERFORM fixture.at(0), pg_temp.ask(task, orders, kind, 'skill:card');
	FOR n IN 1 .. 9 LOOP
		s := pg_temp.failed(task, agent => 'card');
		EXIT WHEN s IS NULL;
		said := concat_ws(' ', said, (SELECT max(nominal) FROM unnest('{1,2,10,20,50,100,200,500,1000}'::numeric[]) nominal WHERE s BETWEEN nominal / 2 AND nominal));
		PERFORM fixture.at(n * 2000), pg_temp.tick();
	END LOOP;
	RETURN said;
END $$;
SELECT is(pg_temp.delays('o1', NULL, NULL), '10', 'the card has a retry policy');
SELECT is(pg_temp.delays('o2', NULL, 'slow.v1'), '100 1000', 'that of the payload type goes before the card, field by field');
SELECT is(pg_temp.delays('o3', '{"retry": {"factor": 1}}', 'slow.v1'), '100 100', 'and that of the request before both');
SELECT is(pg_temp.delays('o4', '{"retry": {"max_ms": 20000, "max": 3}}', 'slow.v1'), '20 20 20', 'no delay is longer than max_delay');
SELECT clutch.set_retry_policy('slow.v1', factor => 2) \g /dev/null
SELECT is(pg_temp.delays('o5', NULL, 'slow.v1'), '10', 'a policy is replaced as a whole');
SELECT clutch.set_retry_policy('slow.v1') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.retry_policy), 0::bigint, 'or removed');
SELECT throws_ok($$SELECT clutch.set_retry_policy('slow.v1', -1)$$, '22023', 'argument "max" must be between 0 and 1000', 'a negative number of retries is refused');
SELECT throws_ok($$SELECT clutch.set_retry_policy('slow.v1', factor => 0.5)$$, '22023', 'argument "factor" must be between 1 and 100', 'a factor below 1 is refused');
SELECT throws_ok($$SELECT clutch.set_retry_policy('slow.v1', initial => '-1 s')$$, '22023', 'argument "initial" must be between 0 and 366 days', 'a negative delay is refused');
SELECT throws_ok($$SELECT clutch.set_retry_policy(NULL, 1)$$, '22004', NULL, 'a policy needs a payload type');
SELECT throws_ok($$SELECT clutch.set_retry_policy('slow.v1', longest => '1 year 6 days')$$, '22023', 'argument "longest" must be between 0 and 366 days', 'a year has 365.25 days');
SELECT is(fixture.fault(format('SELECT clutch.set_retry_policy(%L, 1)', payload_type)), fault, concat('no payload type: ', fault))
FROM (VALUES ('', '22023 EMPTY payload_type'), ('agent:ken', '22023 WRONG_PREFIX payload_type'), (E'a\tb', '22023 CONTROL_CHARACTER payload_type'), (repeat('x', 9000), '22023 TOO_LONG payload_type')) AS v(payload_type, fault);
SELECT is((SELECT string_agg(path || ' ' || code, ', ' ORDER BY path) FROM clutch.validate(clutch.envelope('task.request', 'agent:ui',
	meta => '{"clutch": {"retry": {"max": -1, "initial_ms": "1 s", "max_ms": 1e300, "factor": 0.5, "often": 1}}}'))),
	'/meta/clutch/retry/factor NUMBER_OUT_OF_RANGE, /meta/clutch/retry/initial_ms WRONG_TYPE, /meta/clutch/retry/max NUMBER_OUT_OF_RANGE, /meta/clutch/retry/max_ms NUMBER_OUT_OF_RANGE, /meta/clutch/retry/often UNKNOWN_FIELD',
	'the policy of a request is validated when it is sent');
SELECT is((SELECT string_agg(DISTINCT path || ' ' || code, ', ') FROM clutch.validate(jsonb_set(clutch.envelope('task.request', 'agent:ui'), '{meta}', format('{"clutch": {"retry": {"factor": %s}}}', factor)::jsonb)) WHERE code <> 'NUMBER_TOO_LONG'),
	'/meta/clutch/retry/factor NUMBER_OUT_OF_RANGE', 'not even a double: ' || factor) FROM unnest('{1e400,1e-400}'::text[]) factor;
RESET clutch.retry_initial;
RESET clutch.retry_max_delay;

-- ------------------------------------------------------ time that is too short
SELECT fixture.at(0), pg_temp.ask('t1', '{"deadline": "2026-01-01T12:00:20Z"}') \g /dev/null
SELECT isnt(pg_temp.failed('t1'), NULL, 'a retry before the deadline is made');
SELECT fixture.at(10), pg_temp.tick() \g /dev/null
SELECT is(pg_temp.failed('t1', details => '{"retry_after_ms": 10000}'), NULL, 'a retry after the deadline is not');
SELECT is(pg_temp.state('t1'), 'failed agent:ken 2 1 TIMEOUT', 'so the task has failed with the error of the agent');
SELECT pg_temp.ask('t2', '{"deadline": "2026-01-01T12:00:25Z"}') \g /dev/null
SELECT pg_temp.failed('t2', details => '{"retry_after_ms": 14999}'), fixture.at(26), pg_temp.tick() \g /dev/null
SELECT is(pg_temp.state('t2'), 'timed_out 2 1 DEADLINE_EXCEEDED', 'a deadline that passes while a task is held ends it');

-- ------------------------------------------------------------- another agent
SELECT pg_temp.agent('bob') \g /dev/null
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null
SELECT pg_temp.ask('a1', '{"retry": {"initial_ms": 0}}', NULL, 'skill:x') \g /dev/null
CREATE TEMP TABLE first_agent AS SELECT replace(agent_id, 'agent:', '') AS name FROM clutch.tasks WHERE task_id = 'task:a1';
SELECT pg_temp.failed('a1', agent => name), fixture.at(1), pg_temp.tick() FROM first_agent \g /dev/null
SELECT isnt((SELECT agent_id FROM clutch.tasks WHERE task_id = 'task:a1'), (SELECT 'agent:' || name FROM first_agent), 'another agent gets the retry, if there is one');
SELECT clutch.cancel('task:a1') \g /dev/null

-- -------------------------------------------------------- runtime and leases
SELECT pg_temp.agent('brief', '{"max_runtime_sec": 30}') \g /dev/null
SELECT fixture.at(0), pg_temp.ask('r1', '{"retry": {"max": 1}}', NULL, 'skill:brief') \g /dev/null
SELECT is((SELECT pg_temp.since_noon(lease_until) FROM clutch.claim('agent:brief', 1, '1 hour')), 30.0, 'a lease ends with max_runtime_sec of the card');
SELECT is((SELECT pg_temp.since_noon(lease_until) FROM clutch.extend_lease('agent:brief', 'task:r1', 1, '1 hour')), 30.0, 'and cannot be extended beyond it');
SELECT fixture.at(31), pg_temp.tick() \g /dev/null
SELECT is(pg_temp.state('r1'), 'pending retry 2 1 RUNTIME_EXCEEDED', 'a task that runs too long is retried');
SELECT is((SELECT string_agg(type, ' ' ORDER BY seq) FROM (SELECT * FROM clutch.events WHERE task_id = 'task:r1' ORDER BY seq DESC LIMIT 2) e), 'task.timeout task.progress', 'a task.timeout says so');
SELECT is((SELECT late FROM clutch.finish('agent:brief', 'task:r1', attempt => 1)), true, 'the report of its agent is late');
SELECT fixture.at(40), pg_temp.tick(), pg_temp.claimed('brief', 1, '1 hour'), fixture.at(80), pg_temp.tick() \g /dev/null
SELECT is(pg_temp.state('r1'), 'timed_out agent:brief 2 1 RUNTIME_EXCEEDED', 'it is retried as often as after an error');
SELECT is((SELECT ROW(code, error)::text FROM clutch.dead_letters WHERE task_id = 'task:r1'), ROW('RUNTIME_EXCEEDED', NULL::jsonb)::text, 'and is then a dead letter without a report');
SET clutch.retryable_errors = 'UNAVAILABLE';
SELECT pg_temp.ask('r2', NULL, NULL, 'skill:brief') \g /dev/null
SELECT pg_temp.claimed('brief', 1, '1 hour'), fixture.at(120), pg_temp.tick() \g /dev/null
SELECT is(pg_temp.state('r2'), 'timed_out agent:brief 1 0 RUNTIME_EXCEEDED', 'it is not retried if TIMEOUT is not a retryable code');
RESET clutch.retryable_errors;
SELECT is(pg_temp.rebuilt(), 'the same', 'rebuild finds the same');

SET clutch.max_lease_losses = 2;
SELECT fixture.at(130), pg_temp.ask('l1') \g /dev/null
SELECT pg_temp.claimed(lease => '1 s'), fixture.at(132), pg_temp.tick(), pg_temp.claimed(lease => '1 s'), fixture.at(134), pg_temp.tick() \g /dev/null
SELECT is(pg_temp.state('l1'), 'assigned agent:ken 3 0', 'a lost lease is not a retry and has no delay');
SELECT is((SELECT losses FROM clutch.tasks WHERE task_id = 'task:l1'), 2, 'but it is counted');
SELECT pg_temp.claimed(lease => '1 s'), fixture.at(136), pg_temp.tick() \g /dev/null
SELECT is(pg_temp.state('l1'), 'failed agent:ken 3 0 LEASES_LOST', 'a task that has lost too many leases fails');
SET clutch.max_lease_losses = 0;
SELECT pg_temp.ask('l2') \g /dev/null
SELECT pg_temp.claimed(lease => '1 s'), fixture.at(138 + n * 2), pg_temp.tick() FROM generate_series(1, 12) n \g /dev/null
SELECT is(pg_temp.state('l2'), 'assigned agent:ken 13 0', 'with clutch.max_lease_losses = 0 it does not');
RESET clutch.max_lease_losses;

-- ------------------------------------------------------------------- revived
SELECT is((SELECT late FROM clutch.retry('task:l1')), false, 'a dead letter can be revived');
SELECT is((SELECT ROW(retries, losses, code, finished_at)::text FROM clutch.tasks WHERE task_id = 'task:l1'), ROW(0, 0, NULL::text, NULL::timestamptz)::text, 'and counts its retries anew');
SELECT clutch.retry('task:1') \g /dev/null
SELECT isnt(pg_temp.failed('1'), NULL, 'so that it is retried again');
SELECT is((SELECT count(*) FROM clutch.dead_letters WHERE task_id IN ('task:1', 'task:l1')), 0::bigint, 'it is not a dead letter any more');

SELECT pg_temp.ask(n, '{"retry": {"max": 0}}', run => 'run:2') FROM unnest('{q1,q2,q3,q4,q5}'::text[]) n \g /dev/null
SELECT pg_temp.claimed(), clutch.finish('agent:ken', 'task:q1'), clutch.cancel('task:q3'), pg_temp.failed('q2'), pg_temp.failed('q4') \g /dev/null
SELECT throws_ok($$SELECT clutch.retry_run('run:2', 'agent:stranger')$$, '42501', NULL, 'an agent that requested nothing in a run may not retry it');
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.retry_run('run:2', 'agent:ui')), 'task:q2 task:q4', 'retry_run revives the failed tasks of a run');
SELECT is((SELECT string_agg(status, ' ' ORDER BY task_id) FROM clutch.tasks WHERE run_id = 'run:2'), 'completed assigned cancelled assigned running', 'and no others');
SELECT is((SELECT count(*) FROM clutch.retry_run('run:2')), 0::bigint, 'once');
SELECT is((SELECT count(*) FROM clutch.retry_run('run:nowhere')), 0::bigint, 'a run without tasks has nothing to revive');
SELECT throws_ok($$SELECT clutch.retry('task:q1')$$, 'KL004', NULL, 'completed tasks stay completed');
SELECT is(pg_temp.rebuilt(), 'the same', 'rebuild finds the same');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');

-- ------------------------------------------- so often that a power is infinite
SELECT fixture.at(5000) \g /dev/null
SELECT pg_temp.ask('often', '{"retry": {"max": 1000, "initial_ms": 0, "factor": 100}}') \g /dev/null
SELECT cmp_ok(pg_temp.failed('often'), '<', 1.0, 'an initial delay of 0');
UPDATE clutch.task SET retries = 500 WHERE task_id = 'task:often';
SELECT fixture.at(5001) \g /dev/null
SELECT pg_temp.tick() \g /dev/null
SELECT cmp_ok(pg_temp.failed('often'), '<', 1.0, 'stays 0 after 500 retries');

-- ---------------------------------------- a day, if nobody says otherwise
SET clutch.default_deadline = '1 d';
SELECT fixture.at(0), pg_temp.ask('w1'), pg_temp.ask('w2', '{"ttl_ms": 5000}'), pg_temp.ask('w3', '{"not_before": "2026-01-03T12:00:00Z"}') \g /dev/null
SELECT is((SELECT string_agg(pg_temp.since_noon(deadline)::integer::text, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id IN ('task:w1', 'task:w3')), '86400 259200', 'clutch.default_deadline counts from the earliest start');
SELECT ok((SELECT deadline < clutch.now() + interval '1 hour' FROM clutch.tasks WHERE task_id = 'task:w2'), 'an earlier deadline of the request stays');
SELECT clutch.cancel('task:w1') \g /dev/null
SELECT fixture.at(1000), clutch.retry('task:w1') \g /dev/null
SELECT is((SELECT pg_temp.since_noon(deadline)::integer FROM clutch.tasks WHERE task_id = 'task:w1'), 87400, 'a revived task gets a new one');
SELECT clutch.rebuild() \g /dev/null
SELECT is((SELECT string_agg(pg_temp.since_noon(deadline)::integer::text, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id IN ('task:w1', 'task:w3')), '87400 259200', 'rebuild finds the same');

SELECT * FROM finish();
