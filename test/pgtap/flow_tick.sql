-- meta.clutch.not_before: a request that is held until its time comes.
\ir ../fixtures/tap.sql
SELECT plan(19);
SET clutch.notify = off;
SET clutch.default_deadline = 0;
SET timezone = 'UTC';

CREATE FUNCTION pg_temp.state_of(task text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', t.status, t.waiting_for, to_char(t.next_at, 'HH24:MI:SS')) FROM clutch.tasks t WHERE t.task_id = task
$$;
CREATE FUNCTION pg_temp.ask(task text, orders jsonb, whom text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('task.request', 'agent:ui', CASE WHEN whom IS NOT NULL THEN ARRAY[whom] END, run_id => 'run:1',
		task_id => task, meta => jsonb_build_object('clutch', orders))
$$;
CREATE FUNCTION pg_temp.events_of(task text) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(type, ' ' ORDER BY seq) FROM clutch.events e WHERE e.task_id = task $$;

SELECT fixture.at(0) \g /dev/null
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"}, "capabilities": [{"id": "skill:x"}], "limits": {"max_concurrency": 9}}') \g /dev/null
SELECT clutch.send(pg_temp.ask('task:routed', '{"not_before": "2026-01-01T12:01:00Z"}')),
	clutch.send(pg_temp.ask('task:direct', '{"not_before": "2026-01-01T12:01:00Z"}', 'agent:ken')),
	clutch.send(pg_temp.ask('task:past', '{"not_before": "2026-01-01T11:59:00Z"}')),
	clutch.send(pg_temp.ask('task:never', '{"not_before": "2026-01-01T12:01:00Z", "deadline": "2026-01-01T12:00:30Z"}')) \g /dev/null

SELECT is(pg_temp.state_of('task:routed'), 'pending time 12:01:00', 'a task with not_before is held');
SELECT is(pg_temp.state_of('task:direct'), 'pending time 12:01:00', 'also if it names its agent');
SELECT is(pg_temp.state_of('task:past'), 'assigned', 'a not_before that has passed holds nothing');
SELECT is((SELECT string_agg(task_id, ' ') FROM clutch.claim('agent:ken', 9, '1 h')), 'task:past', 'a held task cannot be claimed');
SELECT is(pg_temp.events_of('task:routed'), 'task.request', 'and no decision is made for it');

SELECT clutch.rebuild() \g /dev/null
SELECT is(pg_temp.state_of('task:routed') || ', ' || pg_temp.state_of('task:direct'),
	'pending time 12:01:00, pending time 12:01:00', 'rebuild finds it held');

SELECT fixture.at(59) \g /dev/null
SELECT is(clutch.tick() ->> 'timed_out', '1', 'a deadline before not_before ends the task');
SELECT is(pg_temp.state_of('task:routed'), 'pending time 12:01:00', 'a second before its time a task is still held');
SELECT fixture.at(60) \g /dev/null
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.claim('agent:ken', 9)), 'task:direct task:routed', 'at its time a claim assigns it');
SELECT is(pg_temp.events_of('task:direct'), 'task.request routing.decision task.accept', 'the late assignment is in the log');
SELECT clutch.rebuild() \g /dev/null
SELECT is((SELECT string_agg(status, ' ') FROM clutch.tasks WHERE task_id IN ('task:direct', 'task:routed')), 'running running', 'rebuild finds it running');

-- ------------------------------------------ the first instant of 2000 is a time
SELECT fixture.ask('millennium', NULL, 'skill:nobody', '{"deadline": "2000-01-01T00:00:00Z"}', more => '{"ts": "1999-12-31T00:00:00Z"}') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.state('millennium'), 'timed_out 1', 'a deadline in the first instant of 2000 has passed');

-- --------------------------------------------------------------- nothing ticks
SELECT fixture.at(1000) \g /dev/null
SELECT is((SELECT last_value > extract(epoch FROM clock_timestamp()) - 3600 FROM clutch.last_tick), true, 'the time of a tick is kept');
SELECT fixture.ask('overdue', NULL, 'skill:nobody', '{"deadline": "2026-01-01T12:20:00Z"}', more => '{"ts": "2026-01-01T12:00:00Z"}') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT fixture.at(1010) \g /dev/null
SELECT is_empty($$ SELECT * FROM clutch.check() $$, 'a timer may be due for a moment');
SELECT fixture.at(1300) \g /dev/null
SELECT matches((SELECT string_agg(code || ': ' || detail, ', ') FROM clutch.check()), '^TIMER_OVERDUE: a task has been due since 2026-01-01 12:[^,]*, and nothing has handled it$', 'check() says that nothing ticks');
SELECT matches((SELECT string_agg(hint, ', ') FROM clutch.check()), 'shared_preload_libraries.*max_worker_processes.*just restored.*clutch[.]tick', 'and what may be missing');
SELECT clutch.tick() \g /dev/null
SELECT is_empty($$ SELECT * FROM clutch.check() $$, 'until somebody does');

-- what waits for an agent is looked at by each tick, and not written again
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', run_id => 'run:1', task_id => 'task:nobody', requires => '{skill:none}')) \g /dev/null
SELECT clutch.tick() \g /dev/null
CREATE TEMP TABLE version AS SELECT xmin::text AS made, ctid::text AS place FROM clutch.task WHERE task_id = 'task:nobody';
SELECT clutch.tick(), clutch.tick() \g /dev/null
SELECT is((SELECT status || ' ' || code FROM clutch.tasks WHERE task_id = 'task:nobody'), 'pending NO_CAPABLE_AGENT', 'a task that no agent can take waits');
SELECT results_eq($$ SELECT xmin::text, ctid::text FROM clutch.task WHERE task_id = 'task:nobody' $$, $$ SELECT made, place FROM version $$, 'and ticks do not write its row again');

SELECT * FROM finish();
