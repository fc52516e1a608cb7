-- Claims, leases, deadlines, releases, retries: what time and attempts do.
\ir ../fixtures/tap.sql
SELECT plan(75);
SET clutch.heartbeat_interval = 0;
SET clutch.breaker_failures = 0;

SET clutch.notify = off;
SET clutch.default_deadline = 0;
SET clutch.breaker_failures = 0;
SET timezone = 'UTC';

CREATE FUNCTION pg_temp.since_noon(t timestamptz) RETURNS numeric LANGUAGE sql AS $$ SELECT extract(epoch FROM t - '2026-01-01 12:00:00Z')::numeric(10) $$;
CREATE FUNCTION pg_temp.card(name text, at_once integer) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'display', jsonb_build_object('name', name),
		'capabilities', '[{"id": "skill:x"}]'::jsonb, 'limits', jsonb_build_object('max_concurrency', at_once))
$$;
CREATE FUNCTION pg_temp.ask(task text, whom text DEFAULT NULL, orders jsonb DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('task.request', 'agent:ui', CASE WHEN whom IS NOT NULL THEN ARRAY[whom] END, '{"q": 1}', run_id => 'run:1',
		thread_id => 'thread:1', task_id => task, requires => '{skill:x}', meta => CASE WHEN orders IS NOT NULL THEN jsonb_build_object('clutch', orders) END)
$$;
CREATE FUNCTION pg_temp.state_of(task text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', t.status, t.agent_id, t.attempt) FROM clutch.tasks t WHERE t.task_id = task $$;
CREATE FUNCTION pg_temp.claimed(agent text, n integer DEFAULT 9, lease interval DEFAULT '60 s') RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(concat_ws(' ', task_id, attempt, reason), ', '), 'nothing') FROM clutch.claim(agent, n, lease) $$;

SELECT fixture.at(0) \g /dev/null
SELECT clutch.register(pg_temp.card('ken', 10)) \g /dev/null

-- ------------------------------------------------------------------- a claim
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'nothing to do');
SELECT clutch.send(pg_temp.ask('task:1')) \g /dev/null
CREATE TEMP TABLE c AS SELECT * FROM clutch.claim('agent:ken', 1, '30 s');
SELECT fixture.answers('SELECT task_id, attempt, pg_temp.since_noon(lease_until), deadline, reason, last_progress, answer FROM c',
	$$VALUES ('task:1', 1, 30::numeric, NULL, 'new', NULL, NULL)$$, 'what a claim says');
SELECT is((SELECT envelope FROM c), (SELECT envelope FROM clutch.events WHERE type = 'task.request'), 'the envelope is the request itself');
SELECT is((SELECT seq FROM c), (SELECT seq FROM clutch.events WHERE type = 'task.request'), 'and its seq');
SELECT fixture.answers($$SELECT from_agent, envelope #>> '{payload,attempt}', envelope #>> '{payload,lease_until}' FROM clutch.events WHERE type = 'task.accept'$$,
	$$VALUES ('agent:ken', '1', '2026-01-01T12:00:30.000000Z')$$, 'it is in the log as a task.accept');
SELECT is(pg_temp.state_of('task:1'), 'running agent:ken 1', 'the task runs');
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'and is not there to be claimed');
SELECT ok((SELECT started_at = timestamptz '2026-01-01 12:00:00Z' FROM clutch.tasks), 'it has started');

-- ----------------------------------------------- the most urgent, then in order
SELECT clutch.send(pg_temp.ask('task:p' || p || n, orders => jsonb_build_object('priority', p))) FROM generate_series(1, 2) n, unnest('{1,4,0,3}'::integer[]) p \g /dev/null
SELECT is(pg_temp.claimed('agent:ken', 1), 'task:p41 1 new', 'one: the most urgent');
SELECT is(pg_temp.claimed('agent:ken', 3), 'task:p42 1 new, task:p31 1 new, task:p32 1 new', 'then by priority and order');
SELECT is(pg_temp.claimed('agent:ken', 99), 'task:p11 1 new, task:p12 1 new', 'to the last but batch work');
SELECT is(pg_temp.claimed('agent:ken', 99), 'task:p01 1 new, task:p02 1 new', 'which is for who has nothing else');
SELECT is((SELECT count(*) FROM clutch.tasks t, clutch.finish('agent:ken', t.task_id) f WHERE t.status = 'running'), 9::bigint, 'done');
SELECT is((SELECT running FROM clutch.agents), 0, 'no slot is taken');

-- ------------------------------------------------------------------- a lease
SELECT clutch.send(pg_temp.ask('task:2')) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken', 1, '60 s'), 'task:2 1 new', 'claimed at 0, for 60 s');
SELECT fixture.at(59.999) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'held until then');
SELECT fixture.at(60) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken', 1, '60 s'), 'task:2 2 moved', 'run out at 60: a claim has it, with the next attempt');
SELECT is((SELECT late FROM clutch.finish('agent:ken', 'task:2', '{}', 1)), true, 'the result of the first attempt is late');
SELECT fixture.answers($$SELECT lease_until, state FROM clutch.extend_lease('agent:ken', 'task:2', 1)$$, $$VALUES (NULL::timestamptz, 'lost')$$, 'its lease is lost');
SELECT fixture.answers($$SELECT pg_temp.since_noon(lease_until), state FROM clutch.extend_lease('agent:ken', 'task:2', 2, '100 s')$$, $$VALUES (160::numeric, 'held')$$, 'the second is held, and extended');
SELECT fixture.at(130) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'longer than it was');
SELECT fixture.answers($$SELECT pg_temp.since_noon(lease_until), state FROM clutch.extend_lease('agent:ken', 'task:2', 2, '5 s')$$, $$VALUES (135::numeric, 'held')$$, 'it may be shortened too');
SELECT fixture.at(135) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken', 1, '60 s'), 'task:2 3 moved', 'and then it is over earlier');
SELECT fixture.at(190) \g /dev/null
SELECT is((SELECT late FROM clutch.progress('agent:ken', 'task:2', '{"at": 50}', 3)), false, 'progress at 190');
SELECT fixture.at(249) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'holds the task for another minute');
SELECT fixture.at(250) \g /dev/null
SELECT fixture.answers($$SELECT task_id, attempt, reason, last_progress FROM clutch.claim('agent:ken')$$, $$VALUES ('task:2', 4, 'moved', '{"at": 50}'::jsonb)$$,
	'the next attempt is told how far the last had come');
SELECT is((SELECT count(*) FROM clutch.events WHERE task_id = 'task:2' AND envelope #>> '{meta,clutch,move}' = 'lease_expired'), 3::bigint, 'each time is in the log');
SELECT is((SELECT state FROM clutch.extend_lease(a, t, n)), 'lost', name) FROM (VALUES
	('agent:ken', 'task:nowhere', 1, 'extend: unknown task'), ('agent:lois', 'task:2', 4, 'extend: another''s'),
	('agent:ken', 'task:2', 5, 'extend: an attempt to come'), ('agent:ken', 'task:1', 1, 'extend: it is over')) AS x(a, t, n, name);
SELECT clutch.cancel('task:2') \g /dev/null
SELECT is((SELECT state FROM clutch.extend_lease('agent:ken', 'task:2', 4)), 'cancelled', 'extend: a cancelled task says so');
SELECT is((SELECT late FROM clutch.finish('agent:ken', 'task:2', '{}', 4)), true, 'and its result is late');

-- to the other agent, if there is one
SELECT clutch.send(pg_temp.ask('task:3')) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'task:3 1 new', 'only ken is there');
SELECT clutch.register(pg_temp.card('lois', 10)) \g /dev/null
SELECT fixture.at(400) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'who lost a task does not get it again');
SELECT is(pg_temp.claimed('agent:lois'), 'task:3 2 moved', 'while another can have it');
SELECT is((SELECT success_rate < 1 FROM clutch.agents WHERE agent_id = 'agent:ken'), true, 'it counts as a failure');
SELECT clutch.finish('agent:lois', 'task:3') \g /dev/null

-- ------------------------------------------------------------------ releases
SELECT clutch.send(pg_temp.ask('task:4', 'agent:ken')) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'task:4 1 new', 'claimed');
SELECT is((SELECT late FROM clutch.release('agent:ken', 'task:4', 1, 'no tools here')), false, 'given back');
SELECT is(pg_temp.state_of('task:4'), 'assigned agent:ken 2', 'it was asked of ken alone, so it is his again');
SELECT fixture.answers($$SELECT from_agent, envelope #> '{payload,reason}' FROM clutch.events WHERE envelope #>> '{meta,clutch,move}' = 'released'$$,
	$$VALUES ('agent:ken', '"no tools here"'::jsonb)$$, 'in the log, with the reason');
SELECT clutch.send(pg_temp.ask('task:5')) \g /dev/null
SELECT is((SELECT count(*) FROM clutch.tasks t, clutch.release(t.agent_id, 'task:5', NULL) r WHERE t.task_id = 'task:5'), 1::bigint, 'also before it is claimed');
SELECT is((SELECT attempt FROM clutch.tasks WHERE task_id = 'task:5'), 2, 'the next attempt');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null

-- ------------------------------------------------------- failures and retries
SELECT clutch.send(pg_temp.ask('task:6')) \g /dev/null
CREATE TEMP TABLE who AS SELECT agent_id FROM clutch.tasks WHERE task_id = 'task:6';
SELECT is((SELECT late FROM who, clutch.fail(agent_id, 'task:6', 'RATE_LIMIT', 'too many', false, '{"after": 5}')), false, 'failed');
SELECT fixture.answers($$SELECT status, code, detail, finished_at IS NOT NULL FROM clutch.tasks WHERE task_id = 'task:6'$$, $$VALUES ('failed', 'RATE_LIMIT', 'too many', true)$$, 'with code and words');
SELECT fixture.answers($$SELECT status, finished, payload FROM clutch.result('task:6')$$,
	$$VALUES ('failed', true, '{"code": "RATE_LIMIT", "message": "too many", "details": {"after": 5}, "retryable": false}'::jsonb)$$, 'the result is the error');
SELECT is((SELECT late FROM clutch.retry('task:6', 'agent:ui')), false, 'who asked for it may retry');
SELECT fixture.answers($$SELECT status, attempt, code, finished_at, result_seq, agent_id <> (SELECT agent_id FROM who) FROM clutch.tasks WHERE task_id = 'task:6'$$,
	$$VALUES ('assigned', 2, NULL, NULL::timestamptz, NULL::bigint, true)$$, 'it begins again, with another agent');
SELECT is((SELECT reason FROM clutch.tasks t, clutch.claim(t.agent_id, 9) c WHERE t.task_id = 'task:6' AND c.task_id = 'task:6'), 'retry', 'the claim says why');
SELECT is((SELECT late FROM who, clutch.finish(agent_id, 'task:6', '{}', 1)), true, 'the first attempt is late');
SELECT clutch.cancel('task:6', 'enough', 'agent:ui') \g /dev/null
SELECT fixture.answers($$SELECT status, detail FROM clutch.tasks WHERE task_id = 'task:6'$$, $$VALUES ('cancelled', 'enough')$$, 'cancelled, with the reason');
SELECT throws_ok($$SELECT clutch.retry('task:6', 'agent:stranger')$$, '42501', NULL, 'a stranger may not retry');
SELECT throws_ok($$SELECT clutch.retry('task:5', 'agent:stranger')$$, '42501', NULL, 'nor tell who may');
SELECT is((SELECT late FROM clutch.retry('task:6')), false, 'the orchestrator may, also what was cancelled');
SELECT clutch.cancel('task:6') \g /dev/null

-- ---------------------------------------------------------------- deadlines
SELECT fixture.at(1000) \g /dev/null
SELECT clutch.send(pg_temp.ask('task:d1', orders => '{"deadline": "2026-01-01T12:20:00Z"}')), clutch.send(pg_temp.ask('task:d2', orders => '{"ttl_ms": 100000}')),
	clutch.send(pg_temp.ask('task:d3', orders => '{"ttl_ms": 500000, "deadline": "2026-01-01T12:18:00Z"}')),
	clutch.send(clutch.envelope('task.request', 'agent:ui', run_id => 'run:1', task_id => 'task:d4', requires => '{skill:nobody}', deadline => '50 s')) \g /dev/null
SELECT is((SELECT string_agg(pg_temp.since_noon(deadline)::text, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:d_'), '1200 1100 1080 1050', 'the earlier of deadline and ttl');
SELECT is((SELECT string_agg(pg_temp.since_noon(deadline)::text, ' ' ORDER BY c.task_id) FROM (SELECT * FROM clutch.claim('agent:ken', 9) UNION ALL SELECT * FROM clutch.claim('agent:lois', 9)) c), '1200 1100 1080', 'a claim tells it');
SELECT is((SELECT sum(n::int) FROM jsonb_each_text(clutch.tick()) AS t(what, n)), 0::bigint, 'nothing is due');
SELECT fixture.at(1050) \g /dev/null
SELECT is(clutch.tick() ->> 'timed_out', '1', 'what waits times out too');
SELECT is(pg_temp.state_of('task:d4'), 'timed_out 1', 'at its deadline');
SELECT is((SELECT from_agent || ' ' || (envelope #>> '{payload,code}') FROM clutch.events WHERE task_id = 'task:d4' AND type = 'task.timeout'), 'agent:orchestrator DEADLINE_EXCEEDED', 'an event says so');
SELECT is((SELECT state || ' ' || pg_temp.since_noon(e.lease_until) FROM clutch.tasks t, clutch.extend_lease(t.agent_id, 'task:d1', 1, '1 h') e WHERE t.task_id = 'task:d1'), 'held 1200', 'no lease is longer than the deadline');
SELECT fixture.at(1100) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'a claim looks at deadlines in passing');
SELECT is(pg_temp.state_of('task:d2') ~ '^timed_out' AND pg_temp.state_of('task:d3') ~ '^timed_out', true, 'they are over');
SELECT is((SELECT late FROM clutch.tasks t, clutch.finish(t.agent_id, 'task:d2') f WHERE t.task_id = 'task:d2'), true, 'a result after the deadline is late');
SELECT fixture.at(1200) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.state_of('task:d1') ~ '^timed_out', true, 'also under a lease');
SELECT is((SELECT late FROM clutch.retry('task:d1')), false, 'what timed out can be retried');
SELECT ok((SELECT deadline IS NULL AND status = 'assigned' FROM clutch.tasks WHERE task_id = 'task:d1'), 'without the deadline that has passed');
SELECT clutch.cancel('task:d1') \g /dev/null

-- ---------------------------------------------------------------- the end
SELECT is((SELECT sum(running) FROM clutch.agents), 0::bigint, 'all slots are free');
SELECT is((SELECT count(*) FROM clutch.ready) + (SELECT count(*) FROM clutch.waiting) + (SELECT count(*) FROM clutch.timer), 0::bigint, 'all queues are empty');
SELECT is_empty('SELECT * FROM clutch.check()', 'and it is sound');

-- a hundred that run out at once: tick has them in one call, a claim a few at a time
SELECT clutch.register(pg_temp.card('ken', 200)), clutch.register(pg_temp.card('lois', 200)) \g /dev/null
SELECT clutch.send(pg_temp.ask('task:m' || n, 'agent:ken')) FROM generate_series(1, 100) n \g /dev/null
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken', 100)), 100::bigint, 'a hundred claimed');
SELECT fixture.at(2000) \g /dev/null
SET clutch.tick_batch = 30;
SELECT is(clutch.tick() ->> 'expired', '30', 'a tick does no more than its batch');
RESET clutch.tick_batch;
SELECT is(clutch.tick() ->> 'expired', '70', 'the next does the rest');
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken', 100)), 100::bigint, 'and they are there again');
SELECT is((SELECT count(*) FROM clutch.task WHERE attempt = 2), 100 + (SELECT count(*) FROM clutch.task WHERE attempt = 2 AND task_id NOT LIKE 'task:m%'), 'each once');

SELECT * FROM finish();
