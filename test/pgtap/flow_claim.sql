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
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'a claim may find nothing');
SELECT clutch.send(pg_temp.ask('task:1')) \g /dev/null
CREATE TEMP TABLE c AS SELECT * FROM clutch.claim('agent:ken', 1, '30 s');
SELECT fixture.answers('SELECT task_id, attempt, pg_temp.since_noon(lease_until), deadline, reason, last_progress, answer FROM c',
	$$VALUES ('task:1', 1, 30::numeric, NULL, 'new', NULL, NULL)$$, 'the columns of a claim');
SELECT is((SELECT envelope FROM c), (SELECT envelope FROM clutch.events WHERE type = 'task.request'), 'its envelope is the request');
SELECT is((SELECT seq FROM c), (SELECT seq FROM clutch.events WHERE type = 'task.request'), 'and its seq is that of the request');
SELECT fixture.answers($$SELECT from_agent, envelope #>> '{payload,attempt}', envelope #>> '{payload,lease_until}' FROM clutch.events WHERE type = 'task.accept'$$,
	$$VALUES ('agent:ken', '1', '2026-01-01T12:00:30.000000Z')$$, 'the claim is in the log as a task.accept');
SELECT is(pg_temp.state_of('task:1'), 'running agent:ken 1', 'the task is running');
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'and cannot be claimed again');
SELECT ok((SELECT started_at = timestamptz '2026-01-01 12:00:00Z' FROM clutch.tasks), 'it has a time of start');

-- ----------------------------------------------- the most urgent, then in order
SELECT clutch.send(pg_temp.ask('task:p' || p || n, orders => jsonb_build_object('priority', p))) FROM generate_series(1, 2) n, unnest('{1,4,0,3}'::integer[]) p \g /dev/null
SELECT is(pg_temp.claimed('agent:ken', 1), 'task:p41 1 new', 'one task: the most urgent');
SELECT is(pg_temp.claimed('agent:ken', 3), 'task:p42 1 new, task:p31 1 new, task:p32 1 new', 'then by priority, and by order within a priority');
SELECT is(pg_temp.claimed('agent:ken', 99), 'task:p11 1 new, task:p12 1 new', 'all but batch work');
SELECT is(pg_temp.claimed('agent:ken', 99), 'task:p01 1 new, task:p02 1 new', 'batch work is for an agent that has nothing else');
SELECT is((SELECT count(*) FROM clutch.tasks t, clutch.finish('agent:ken', t.task_id) f WHERE t.status = 'running'), 9::bigint, 'all are completed');
SELECT is((SELECT running FROM clutch.agents), 0, 'no slot is taken');

-- ------------------------------------------------------------------- a lease
SELECT clutch.send(pg_temp.ask('task:2')) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken', 1, '60 s'), 'task:2 1 new', 'a lease is 60 s by default');
SELECT fixture.at(59.999) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'it holds until then');
SELECT fixture.at(60) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken', 1, '60 s'), 'task:2 2 moved', 'after that a claim has the task with the next attempt');
SELECT is((SELECT late FROM clutch.finish('agent:ken', 'task:2', '{}', 1)), true, 'a result of the first attempt is late');
SELECT fixture.answers($$SELECT lease_until, state FROM clutch.extend_lease('agent:ken', 'task:2', 1)$$, $$VALUES (NULL::timestamptz, 'lost')$$, 'the lease of the first attempt is lost');
SELECT fixture.answers($$SELECT pg_temp.since_noon(lease_until), state FROM clutch.extend_lease('agent:ken', 'task:2', 2, '100 s')$$, $$VALUES (160::numeric, 'held')$$, 'that of the second is held and can be extended');
SELECT fixture.at(130) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'extend_lease makes a lease longer');
SELECT fixture.answers($$SELECT pg_temp.since_noon(lease_until), state FROM clutch.extend_lease('agent:ken', 'task:2', 2, '5 s')$$, $$VALUES (135::numeric, 'held')$$, 'or shorter');
SELECT fixture.at(135) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken', 1, '60 s'), 'task:2 3 moved', 'so that it expires earlier');
SELECT fixture.at(190) \g /dev/null
SELECT is((SELECT late FROM clutch.progress('agent:ken', 'task:2', '{"at": 50}', 3)), false, 'a progress is accepted');
SELECT fixture.at(249) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'it extends the lease');
SELECT fixture.at(250) \g /dev/null
SELECT fixture.answers($$SELECT task_id, attempt, reason, last_progress FROM clutch.claim('agent:ken')$$, $$VALUES ('task:2', 4, 'moved', '{"at": 50}'::jsonb)$$,
	'the next attempt is told the last progress');
SELECT is((SELECT count(*) FROM clutch.events WHERE task_id = 'task:2' AND envelope #>> '{meta,clutch,move}' = 'lease_expired'), 3::bigint, 'each attempt is in the log');
SELECT is((SELECT state FROM clutch.extend_lease(a, t, n)), 'lost', name) FROM (VALUES
	('agent:ken', 'task:nowhere', 1, 'extend: unknown task'), ('agent:lois', 'task:2', 4, 'extend: another''s'),
	('agent:ken', 'task:2', 5, 'extend: an attempt to come'), ('agent:ken', 'task:1', 1, 'extend: it is over')) AS x(a, t, n, name);
SELECT clutch.cancel('task:2') \g /dev/null
SELECT is((SELECT state FROM clutch.extend_lease('agent:ken', 'task:2', 4)), 'cancelled', 'extend_lease tells that a task was cancelled');
SELECT is((SELECT late FROM clutch.finish('agent:ken', 'task:2', '{}', 4)), true, 'and its result is late');

-- the task goes to the other agent, if there is one
SELECT clutch.send(pg_temp.ask('task:3')) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'task:3 1 new', 'only one agent is there');
SELECT clutch.register(pg_temp.card('lois', 10)) \g /dev/null
SELECT fixture.at(400) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'an agent that lost a task does not get it again');
SELECT is(pg_temp.claimed('agent:lois'), 'task:3 2 moved', 'while another agent can have it');
SELECT is((SELECT success_rate < 1 FROM clutch.agents WHERE agent_id = 'agent:ken'), true, 'the lost lease counts as a failure of the agent');
SELECT clutch.finish('agent:lois', 'task:3') \g /dev/null

-- ------------------------------------------------------------------ releases
SELECT clutch.send(pg_temp.ask('task:4', 'agent:ken')) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'task:4 1 new', 'a task is claimed');
SELECT is((SELECT late FROM clutch.release('agent:ken', 'task:4', 1, 'no tools here')), false, 'and released');
SELECT is(pg_temp.state_of('task:4'), 'assigned agent:ken 2', 'a task that names its agent goes to that agent again');
SELECT fixture.answers($$SELECT from_agent, envelope #> '{payload,reason}' FROM clutch.events WHERE envelope #>> '{meta,clutch,move}' = 'released'$$,
	$$VALUES ('agent:ken', '"no tools here"'::jsonb)$$, 'the release is in the log with its reason');
SELECT clutch.send(pg_temp.ask('task:5')) \g /dev/null
SELECT is((SELECT count(*) FROM clutch.tasks t, clutch.release(t.agent_id, 'task:5', NULL) r WHERE t.task_id = 'task:5'), 1::bigint, 'a task can also be released before it is claimed');
SELECT is((SELECT attempt FROM clutch.tasks WHERE task_id = 'task:5'), 2, 'a release begins the next attempt');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null

-- ------------------------------------------------------- failures and retries
SELECT clutch.send(pg_temp.ask('task:6')) \g /dev/null
CREATE TEMP TABLE who AS SELECT agent_id FROM clutch.tasks WHERE task_id = 'task:6';
SELECT is((SELECT late FROM who, clutch.fail(agent_id, 'task:6', 'RATE_LIMIT', 'too many', false, '{"after": 5}')), false, 'a task fails for good');
SELECT fixture.answers($$SELECT status, code, detail, finished_at IS NOT NULL FROM clutch.tasks WHERE task_id = 'task:6'$$, $$VALUES ('failed', 'RATE_LIMIT', 'too many', true)$$, 'with the code and message of the error');
SELECT fixture.answers($$SELECT status, finished, payload FROM clutch.result('task:6')$$,
	$$VALUES ('failed', true, '{"code": "RATE_LIMIT", "message": "too many", "details": {"after": 5}, "retryable": false}'::jsonb)$$, 'the error is the result');
SELECT is((SELECT late FROM clutch.retry('task:6', 'agent:ui')), false, 'the agent that requested a task may retry it');
SELECT fixture.answers($$SELECT status, attempt, code, finished_at, result_seq, agent_id <> (SELECT agent_id FROM who) FROM clutch.tasks WHERE task_id = 'task:6'$$,
	$$VALUES ('assigned', 2, NULL, NULL::timestamptz, NULL::bigint, true)$$, 'the retried task begins again, with another agent');
SELECT is((SELECT reason FROM clutch.tasks t, clutch.claim(t.agent_id, 9) c WHERE t.task_id = 'task:6' AND c.task_id = 'task:6'), 'retry', 'the claim says so');
SELECT is((SELECT late FROM who, clutch.finish(agent_id, 'task:6', '{}', 1)), true, 'a report of the first attempt is late');
SELECT clutch.cancel('task:6', 'enough', 'agent:ui') \g /dev/null
SELECT fixture.answers($$SELECT status, detail FROM clutch.tasks WHERE task_id = 'task:6'$$, $$VALUES ('cancelled', 'enough')$$, 'a task is cancelled with a reason');
SELECT throws_ok($$SELECT clutch.retry('task:6', 'agent:stranger')$$, '42501', NULL, 'another agent may not retry it');
SELECT throws_ok($$SELECT clutch.retry('task:5', 'agent:stranger')$$, '42501', NULL, 'nor say that the requester did');
SELECT is((SELECT late FROM clutch.retry('task:6')), false, 'the orchestrator may, even if the task was cancelled');
SELECT clutch.cancel('task:6') \g /dev/null

-- ---------------------------------------------------------------- deadlines
SELECT fixture.at(1000) \g /dev/null
SELECT clutch.send(pg_temp.ask('task:d1', orders => '{"deadline": "2026-01-01T12:20:00Z"}')), clutch.send(pg_temp.ask('task:d2', orders => '{"ttl_ms": 100000}')),
	clutch.send(pg_temp.ask('task:d3', orders => '{"ttl_ms": 500000, "deadline": "2026-01-01T12:18:00Z"}')),
	clutch.send(clutch.envelope('task.request', 'agent:ui', run_id => 'run:1', task_id => 'task:d4', requires => '{skill:nobody}', deadline => '50 s')) \g /dev/null
SELECT is((SELECT string_agg(pg_temp.since_noon(deadline)::text, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:d_'), '1200 1100 1080 1050', 'the earlier of deadline and ttl_ms counts');
SELECT is((SELECT string_agg(pg_temp.since_noon(deadline)::text, ' ' ORDER BY c.task_id) FROM (SELECT * FROM clutch.claim('agent:ken', 9) UNION ALL SELECT * FROM clutch.claim('agent:lois', 9)) c), '1200 1100 1080', 'a claim returns the deadline');
SELECT is((SELECT sum(n::int) FROM jsonb_each_text(clutch.tick() - 'sealed') AS t(what, n)), 0::bigint, 'a tick finds nothing due');
SELECT fixture.at(1050) \g /dev/null
SELECT is(clutch.tick() ->> 'timed_out', '1', 'a pending task times out as well');
SELECT is(pg_temp.state_of('task:d4'), 'timed_out 1', 'at its deadline');
SELECT is((SELECT from_agent || ' ' || (envelope #>> '{payload,code}') FROM clutch.events WHERE task_id = 'task:d4' AND type = 'task.timeout'), 'agent:orchestrator DEADLINE_EXCEEDED', 'an event says so');
SELECT is((SELECT state || ' ' || pg_temp.since_noon(e.lease_until) FROM clutch.tasks t, clutch.extend_lease(t.agent_id, 'task:d1', 1, '1 h') e WHERE t.task_id = 'task:d1'), 'held 1200', 'a lease is never longer than the deadline');
SELECT fixture.at(1100) \g /dev/null
SELECT is(pg_temp.claimed('agent:ken'), 'nothing', 'an idle claim finds nothing, but handles deadlines');
SELECT is(pg_temp.state_of('task:d2') ~ '^timed_out' AND pg_temp.state_of('task:d3') ~ '^timed_out', true, 'the tasks that were due have timed out');
SELECT is((SELECT late FROM clutch.tasks t, clutch.finish(t.agent_id, 'task:d2') f WHERE t.task_id = 'task:d2'), true, 'a result after the deadline is late');
SELECT fixture.at(1200) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.state_of('task:d1') ~ '^timed_out', true, 'a deadline also ends a task with a lease');
SELECT is((SELECT late FROM clutch.retry('task:d1')), false, 'a task that timed out can be retried');
SELECT ok((SELECT deadline IS NULL AND status = 'assigned' FROM clutch.tasks WHERE task_id = 'task:d1'), 'without the deadline that has passed');
SELECT clutch.cancel('task:d1') \g /dev/null

-- ---------------------------------------------------------------- the end
SELECT is((SELECT sum(running) FROM clutch.agents), 0::bigint, 'all slots are free');
SELECT is((SELECT count(*) FROM clutch.ready) + (SELECT count(*) FROM clutch.waiting) + (SELECT count(*) FROM clutch.timer), 0::bigint, 'all queues are empty');
SELECT is_empty('SELECT * FROM clutch.check()', 'the state is sound');

-- a hundred leases expire at once: a tick handles all of them, a claim a few
SELECT clutch.register(pg_temp.card('ken', 200)), clutch.register(pg_temp.card('lois', 200)) \g /dev/null
SELECT clutch.send(pg_temp.ask('task:m' || n, 'agent:ken')) FROM generate_series(1, 100) n \g /dev/null
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken', 100)), 100::bigint, 'a hundred tasks are claimed');
SELECT fixture.at(2000) \g /dev/null
SET clutch.tick_batch = 30;
SELECT is(clutch.tick() ->> 'expired', '30', 'a tick handles clutch.tick_batch tasks at most');
RESET clutch.tick_batch;
SELECT is(clutch.tick() ->> 'expired', '70', 'the next tick handles the rest');
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken', 100)), 100::bigint, 'and all of them can be claimed again');
SELECT is((SELECT count(*) FROM clutch.task WHERE attempt = 2), 100 + (SELECT count(*) FROM clutch.task WHERE attempt = 2 AND task_id NOT LIKE 'task:m%'), 'each of them once');

SELECT * FROM finish();
