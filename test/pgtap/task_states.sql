-- The states of a task, and events that do not fit (DESIGN 3), in their order.
\ir ../fixtures/tap.sql
SELECT plan(129);
SET clutch.heartbeat_interval = 0;

SET clutch.notify = off;
SET clutch.breaker_failures = 0;
SET clutch.retry_max = 0;
SET clutch.default_deadline = 0;
SELECT set_config('clutch.clock', '2026-01-01T00:00:00Z', false) \g /dev/null

CREATE FUNCTION pg_temp.card(name text, at_once integer, skill text DEFAULT 'skill:x') RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'display', jsonb_build_object('name', name),
		'capabilities', jsonb_build_array(jsonb_build_object('id', skill)), 'limits', jsonb_build_object('max_concurrency', at_once))
$$;
CREATE FUNCTION pg_temp.ask(task text, whom text DEFAULT NULL, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('task.request', 'agent:ui', CASE WHEN whom IS NOT NULL THEN ARRAY[whom] END, run_id => 'run:1',
		thread_id => 'thread:1', task_id => task, requires => '{skill:x}') || more
$$;
-- the event of a type about a task by an agent, as a client would insert it
CREATE FUNCTION pg_temp.event(type text, agent text, task text, try integer DEFAULT NULL, run text DEFAULT 'run:1') RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope(type, agent, '{agent:ui}', CASE type WHEN 'task.error' THEN '{"code": "E", "message": "m"}'::jsonb ELSE '{}' END,
		run_id => run, thread_id => 'thread:1', task_id => task, attempt => try)
$$;
-- "fits", "late", or SQLSTATE, code and path
CREATE FUNCTION pg_temp.outcome(envelope jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r clutch.receipt;
	detail text;
	state text;
BEGIN
	r := clutch.send(envelope);
	RETURN CASE WHEN r.late THEN 'late' ELSE 'fits' END;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, state = RETURNED_SQLSTATE;
	RETURN format('%s %s %s', state, detail::jsonb #>> '{0,code}', detail::jsonb #>> '{0,path}');
END $$;
CREATE FUNCTION pg_temp.state_of(task text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', t.status, t.agent_id, t.attempt) FROM clutch.tasks t WHERE t.task_id = task $$;
CREATE FUNCTION pg_temp.error(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	state text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, state = RETURNED_SQLSTATE;
	RETURN state || CASE WHEN detail LIKE '[%' THEN ' ' || (detail::jsonb #>> '{0,code}') ELSE '' END;
END $$;

SELECT clutch.register(pg_temp.card('ken', 100)), clutch.register(pg_temp.card('lois', 100)), clutch.register(pg_temp.card('cook', 1, 'skill:cook')) \g /dev/null

-- -------------------------------------------------------- the table of moves
SELECT is((SELECT count(*) FROM clutch.task_transitions() t WHERE t.from_status IN ('completed')), 0::bigint, 'nothing leads out of completed');
SELECT is((SELECT string_agg(DISTINCT to_status, ',' ORDER BY to_status) FROM clutch.task_transitions() WHERE from_status IN ('failed', 'cancelled', 'timed_out')),
	'pending', 'only a retry leads out of the other ends');
SELECT is((SELECT string_agg(DISTINCT step, ',') FROM clutch.task_transitions() WHERE from_status IN ('failed', 'cancelled', 'timed_out')), 'retry', 'and only the function retry()');

-- Every report on a task in every status, each on a task of its own.
CREATE FUNCTION pg_temp.bring(task text, status text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF status = 'pending' THEN
		PERFORM clutch.send(pg_temp.ask(task, more => '{"requires": ["skill:nobody"]}'));
	ELSE
		PERFORM clutch.send(pg_temp.ask(task, 'agent:ken', CASE status WHEN 'timed_out'
			THEN '{"meta": {"clutch": {"deadline": "2026-01-01T00:00:10Z"}}}'::jsonb ELSE '{}' END));
	END IF;
	CASE status
		WHEN 'running' THEN PERFORM clutch.report('agent:ken', task, 'task.accept');
		WHEN 'completed' THEN PERFORM clutch.finish('agent:ken', task);
		WHEN 'failed' THEN PERFORM clutch.fail('agent:ken', task, 'E', 'm', false);
		WHEN 'cancelled' THEN PERFORM clutch.cancel(task);
		WHEN 'timed_out' THEN
			PERFORM set_config('clutch.clock', '2026-01-01T00:00:20Z', false);
			PERFORM clutch.tick();
			PERFORM set_config('clutch.clock', '2026-01-01T00:00:00Z', false);
		ELSE NULL;
	END CASE;
	RETURN task;
END $$;
CREATE FUNCTION pg_temp.moved(status text, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	task text := pg_temp.bring(clutch.new_id('task'), status);
	judged text := pg_temp.outcome(pg_temp.event(type, CASE type WHEN 'task.cancel' THEN 'agent:ui' ELSE 'agent:ken' END, task));
BEGIN
	RETURN judged || CASE WHEN judged IN ('fits', 'late') THEN ' ' || (SELECT t.status FROM clutch.tasks t WHERE t.task_id = task) ELSE '' END;
END $$;
SELECT is(pg_temp.moved(status, type), expected, format('%s when %s', type, status))
FROM (VALUES
	('pending', 'task.accept', '42501 NOT_ASSIGNED /from/agent_id'), ('pending', 'task.progress', '42501 NOT_ASSIGNED /from/agent_id'),
	('pending', 'task.result', '42501 NOT_ASSIGNED /from/agent_id'), ('pending', 'task.error', '42501 NOT_ASSIGNED /from/agent_id'),
	('pending', 'task.cancel', 'fits cancelled'),
	('assigned', 'task.accept', 'fits running'), ('assigned', 'task.progress', 'fits running'), ('assigned', 'task.result', 'fits completed'),
	('assigned', 'task.error', 'fits failed'), ('assigned', 'task.cancel', 'fits cancelled'),
	('running', 'task.accept', 'fits running'), ('running', 'task.progress', 'fits running'), ('running', 'task.result', 'fits completed'),
	('running', 'task.error', 'fits failed'), ('running', 'task.cancel', 'fits cancelled')) AS t(status, type, expected);
SELECT is(pg_temp.moved(status, type), format('late %s', status), format('%s when %s', type, status))
FROM unnest('{completed,failed,cancelled,timed_out}'::text[]) AS status,
	unnest('{task.accept,task.progress,task.result,task.error,task.cancel}'::text[]) AS type
WHERE (status, type) <> ('completed', 'task.result');	-- which repeats the end: see task_end
SELECT is_empty('SELECT * FROM clutch.check()', 'the state is sound so far');

-- --------------------------------------- events that do not fit, in their order
SELECT is(pg_temp.outcome(pg_temp.event(type, 'agent:ken', 'task:nowhere')), 'KL003 TASK_NOT_FOUND /task_id', 'unknown task: ' || type)
FROM unnest('{task.accept,task.progress,task.result,task.error,task.cancel}'::text[]) AS type;
SELECT is(pg_temp.outcome(pg_temp.event('chat.message', 'agent:ken', 'task:nowhere')), 'fits', 'a message may name any task');

-- attempt 1 of ken, attempt 2 of lois
SELECT clutch.send(pg_temp.ask('task:a', 'agent:ken')) \g /dev/null
SELECT clutch.send(pg_temp.event('task.request', 'agent:orchestrator', 'task:a') || '{"to": [{"agent_id": "agent:lois"}]}') \g /dev/null
SELECT is(pg_temp.state_of('task:a'), 'assigned agent:lois 2', 'a task that is handed over begins the next attempt');

SELECT is(pg_temp.outcome(pg_temp.event('task.result', 'agent:ken', 'task:a', 1)), 'late', 'a report of an older attempt is late');
SELECT is(pg_temp.outcome(pg_temp.event('task.result', 'agent:lois', 'task:a', 1)), 'late', 'whoever had that attempt');
SELECT is(pg_temp.outcome(pg_temp.event('task.result', 'agent:cook', 'task:a', 1)), 'late', 'even if the sender never had it');
SELECT is(pg_temp.outcome(pg_temp.event('task.result', 'agent:cook', 'task:a', 2)), '42501 NOT_ASSIGNED /from/agent_id', 'a sender that was never an assignee is refused');
SELECT is(pg_temp.outcome(pg_temp.event('task.result', 'agent:cook', 'task:a')), '42501 NOT_ASSIGNED /from/agent_id', 'also without an attempt');
SELECT is(pg_temp.outcome(pg_temp.event('task.result', 'agent:cook', 'task:a', 9)), '42501 NOT_ASSIGNED /from/agent_id', 'and before a newer attempt is looked at');
SELECT is(pg_temp.outcome(pg_temp.event('task.result', 'agent:lois', 'task:a', 3)), 'KL004 ATTEMPT_AHEAD /attempt', 'a newer attempt is refused');
SELECT is(pg_temp.outcome(pg_temp.event('task.result', 'agent:ken', 'task:a', 3)), 'KL004 ATTEMPT_AHEAD /attempt', 'also from a former assignee');
SELECT is(pg_temp.outcome(pg_temp.event('task.progress', 'agent:ken', 'task:a', 2)), 'late', 'a former assignee cannot use the attempt of the present one');
SELECT is(pg_temp.outcome(pg_temp.event('task.progress', 'agent:ken', 'task:a')), 'late', 'nor report without an attempt');
SELECT is(pg_temp.state_of('task:a'), 'assigned agent:lois 2', 'none of this changed the task');
SELECT is(pg_temp.outcome(pg_temp.event('task.accept', 'agent:lois', 'task:a', 2)), 'fits', 'an accept by the assignee is a claim');
SELECT is(pg_temp.state_of('task:a'), 'running agent:lois 2', 'the task is running');
SELECT ok((SELECT lease_until = timestamptz '2026-01-01T00:01:00Z' FROM clutch.tasks WHERE task_id = 'task:a'), 'with the default lease');
SELECT is_empty($$SELECT task_id FROM clutch.claim('agent:lois', 50) WHERE task_id = 'task:a'$$, 'and cannot be claimed again');
SELECT is(pg_temp.outcome(pg_temp.event('task.result', 'agent:lois', 'task:a', 2, 'run:other')), 'KL003 TASK_NOT_FOUND /task_id', 'a report in another run is refused');
SELECT is(pg_temp.outcome(pg_temp.event('task.cancel', 'agent:cook', 'task:a')), '42501 NOT_ASSIGNED /from/agent_id', 'a cancel by a stranger is refused');
SELECT is(pg_temp.outcome(pg_temp.event('task.result', 'agent:lois', 'task:a', 2)), 'fits', 'a result of the assignee is accepted');
SELECT is(pg_temp.outcome(pg_temp.event('task.result', 'agent:cook', 'task:a', 9)), 'late', 'a task that is over makes every report late, whoever sends it');
SELECT is(pg_temp.outcome(pg_temp.event('task.cancel', 'agent:cook', 'task:a')), 'late', 'and a cancel as well');
SELECT is((SELECT count(*) FROM clutch.events WHERE task_id = 'task:a' AND late), 7::bigint, 'late events are in the log');
SELECT is((SELECT attempt FROM clutch.events WHERE task_id = 'task:a' AND type = 'task.result' AND NOT late), 2, 'an event has the attempt for which it was judged');
SELECT is(pg_temp.outcome(pg_temp.event(type, 'agent:orchestrator', 'task:a')), 'KL001 NOT_ALLOWED /type', type || ' is the database''s to say')
FROM unnest('{task.timeout,routing.decision,routing.failure}'::text[]) AS type;
SELECT is(pg_temp.outcome(pg_temp.event('task.progress', 'agent:lois', 'task:a') || '{"meta": {"clutch": {"move": "released"}}}'), 'KL001 NOT_ALLOWED /meta/clutch/move', 'and so has a move');

-- a late event never aborts: it commits with what came before it
SELECT fixture.answers($$SELECT late FROM clutch.send_batch(ARRAY[pg_temp.event('chat.message', 'agent:ken', 'task:a'), pg_temp.event('task.result', 'agent:ken', 'task:a', 1)])$$,
	'VALUES (false), (true)', 'a report can be late in a batch');

-- ------------------------------------------------------- a second request
SELECT clutch.send(pg_temp.ask('task:b', 'agent:ken')) \g /dev/null
SELECT is(pg_temp.outcome(pg_temp.ask('task:b')), 'KL004 TASK_EXISTS /task_id', 'a second request by the requester is refused');
SELECT is(pg_temp.outcome(pg_temp.ask('task:b', 'agent:lois')), 'KL004 TASK_EXISTS /task_id', 'also for another agent');
SELECT is(pg_temp.outcome(pg_temp.event('task.request', 'agent:cook', 'task:b') || '{"to": [{"agent_id": "agent:cook"}]}'), 'KL004 TASK_EXISTS /task_id', 'and so is one by a stranger');
SELECT is(pg_temp.outcome(pg_temp.event('task.request', 'agent:ken', 'task:b') || '{"to": [{"agent_id": "agent:orchestrator"}]}'), 'KL004 TASK_EXISTS /task_id', 'and one that names no agent');
SELECT is(pg_temp.outcome(pg_temp.event('task.request', 'agent:ken', 'task:b') || '{"to": [{"agent_id": "group:g"}]}'), 'KL004 TASK_EXISTS /task_id', 'and one that names a group');
SELECT matches(fixture.hint_of(format('SELECT clutch.send(%L)', e)), hint, 'the hint: ' || hint) FROM (VALUES
	(pg_temp.ask('task:b'), 'repeat its envelope with the same id'),
	(pg_temp.event('task.request', 'agent:ken', 'task:b') || '{"to": [{"agent_id": "group:g"}]}', 'name one agent in "to"')) AS h(e, hint);
SELECT is(pg_temp.outcome(pg_temp.event('task.request', 'agent:ken', 'task:b', run => 'run:other') || '{"to": [{"agent_id": "agent:lois"}]}'), 'KL004 TASK_IN_OTHER_RUN /task_id', 'and one in another run');
SELECT is(pg_temp.outcome(pg_temp.event('task.request', 'agent:ken', 'task:b') || '{"to": [{"agent_id": "agent:lois"}]}'), 'fits', 'a request by the assignee hands the task over');
SELECT is(pg_temp.state_of('task:b'), 'assigned agent:lois 2', 'to the other agent, as the next attempt');
SELECT is(pg_temp.outcome(pg_temp.event('task.request', 'agent:ken', 'task:b') || '{"to": [{"agent_id": "agent:ken"}]}'), 'KL004 TASK_EXISTS /task_id', 'the former assignee cannot hand it over again');
SELECT is((SELECT reason FROM clutch.claim('agent:lois') WHERE task_id = 'task:b'), 'moved', 'the claim says that it was moved');
SELECT is(pg_temp.outcome(pg_temp.event('task.request', 'agent:orchestrator', 'task:b') || '{"to": [{"agent_id": "agent:ken"}]}'), 'fits', 'the orchestrator takes it from the agent that runs it');
SELECT is(pg_temp.state_of('task:b'), 'assigned agent:ken 3', 'and gives it to another one');
SELECT is(pg_temp.outcome(pg_temp.event('task.result', 'agent:lois', 'task:b', 2)), 'late', 'the report of the former assignee is late');
SELECT is((SELECT count(*) FROM clutch.tasks WHERE task_id = 'task:b'), 1::bigint, 'no task is added');
SELECT is((SELECT running FROM clutch.agents WHERE agent_id = 'agent:lois'), 0, 'and no slot is left behind');
SELECT is(pg_temp.outcome(pg_temp.event('task.request', 'agent:orchestrator', 'task:b') || '{"to": [{"agent_id": "agent:nobody"}]}'), 'KL004 NO_AGENT_AVAILABLE /to', 'a task cannot be handed over to an unknown agent');
SELECT clutch.send(pg_temp.ask('task:cook', 'agent:cook', '{"requires": ["skill:cook"]}')) \g /dev/null
SELECT is(pg_temp.outcome(pg_temp.event('task.request', 'agent:orchestrator', 'task:b') || '{"to": [{"agent_id": "agent:cook"}]}'), 'KL004 NO_CAPACITY /to', 'nor to one that is full');
SELECT is(pg_temp.state_of('task:b'), 'assigned agent:ken 3', 'it stays where it was');
SELECT clutch.finish('agent:ken', 'task:b') \g /dev/null
SELECT is(pg_temp.outcome(pg_temp.ask('task:b')), 'KL004 TASK_EXISTS /task_id', 'a request for a task that is over is refused');
SELECT is(pg_temp.outcome(pg_temp.ask('task:b') || '{"run_id": "run:other"}'), 'KL004 TASK_IN_OTHER_RUN /task_id', 'and in another run refused');
SELECT is(fixture.hint_of(format('SELECT clutch.send(%L)', pg_temp.ask('task:b'))), 'To send the request again, repeat its envelope with the same id; for other work, make a new task_id.', 'nobody can revive what was completed');
SELECT clutch.send(pg_temp.ask('task:dropped', 'agent:ken')), clutch.cancel('task:dropped') \g /dev/null
SELECT is(fixture.hint_of(format('SELECT clutch.send(%L)', pg_temp.ask('task:dropped') || e)) ~ 'clutch.retry', may, 'nor can a stranger revive a task: ' || may)
FROM (VALUES ('{"from": {"agent_id": "agent:lois"}}'::jsonb, false), ('{}', true)) AS s(e, may);
SELECT lives_ok($$ SELECT clutch.retry('task:dropped', 'agent:ui') $$, 'the requester does what the hint says');
SELECT clutch.cancel('task:dropped') \g /dev/null

-- -------------------------------------------------------------- the tree
SELECT is(pg_temp.outcome(pg_temp.ask('task:p', more => '{"parent_task_id": "task:q"}')), 'fits', 'a parent may be unknown so far');
SELECT is(pg_temp.outcome(pg_temp.ask('task:q', more => '{"parent_task_id": "task:p"}')), 'KL004 CYCLE /parent_task_id', 'a cycle of two tasks is refused');
SELECT is(pg_temp.outcome(pg_temp.ask('task:q', more => '{"parent_task_id": "task:r"}')), 'fits', 'a chain is accepted');
SELECT is(pg_temp.outcome(pg_temp.ask('task:r', more => '{"parent_task_id": "task:p"}')), 'KL004 CYCLE /parent_task_id', 'a cycle of three tasks is refused');
SELECT is(pg_temp.outcome(pg_temp.ask('task:s', more => '{"parent_task_id": "task:s"}')), 'KL001 SELF_PARENT /parent_task_id', 'a task cannot be its own parent');
SELECT matches(fixture.hint_of(format('SELECT clutch.send(%L)', pg_temp.ask('task:s', more => '{"parent_task_id": "task:p", "run_id": "run:2"}'))), 'name that run', 'who names a parent in another run is told which run is right');
SELECT is(pg_temp.outcome(pg_temp.ask('task:s', more => '{"parent_task_id": "task:p", "run_id": "run:2"}')), 'KL004 PARENT_IN_OTHER_RUN /parent_task_id', 'a parent in another run is refused');
SELECT is(pg_temp.outcome(pg_temp.ask('task:s', more => '{"parent_task_id": "task:later"}')), 'fits', 'a parent that is requested later is accepted');
SELECT is((SELECT count(*) FROM clutch.tasks WHERE task_id = 'task:r'), 0::bigint, 'what was refused left no task');

-- -------------------------------------- refusals of functions, by their code
SELECT is(pg_temp.error(statement), expected, statement) FROM (VALUES
	($$SELECT clutch.finish('agent:ken', 'task:nowhere')$$, 'KL003 TASK_NOT_FOUND'),
	($$SELECT clutch.cancel('task:nowhere')$$, 'KL003 TASK_NOT_FOUND'),
	($$SELECT clutch.retry('task:nowhere')$$, 'KL003 TASK_NOT_FOUND'),
	($$SELECT clutch.release('agent:ken', 'task:nowhere', 1)$$, 'KL003 TASK_NOT_FOUND'),
	($$SELECT * FROM clutch.result('task:nowhere')$$, 'KL003 TASK_NOT_FOUND'),
	($$SELECT clutch.release('agent:lois', 'task:b', 3)$$, 'KL004 NOT_HELD'),
	($$SELECT clutch.release('agent:cook', 'task:cook', 2)$$, 'KL004 NOT_HELD'),
	($$SELECT clutch.retry('task:cook')$$, 'KL004 NOT_RETRYABLE'),
	($$SELECT clutch.retry('task:b')$$, 'KL004 NOT_RETRYABLE'),
	($$SELECT clutch.claim('agent:nobody')$$, 'KL005 AGENT_NOT_FOUND'),
	($$SELECT clutch.claim('agent:ken', 0)$$, '22023 NUMBER_OUT_OF_RANGE'),
	($$SELECT clutch.claim('agent:ken', 1, '0 s')$$, '22023 NUMBER_OUT_OF_RANGE'),
	($$SELECT clutch.claim('agent:ken', 1, '-1 s')$$, '22023 NUMBER_OUT_OF_RANGE'),
	($$SELECT clutch.claim('agent:ken', 1, '2 years')$$, '22023 NUMBER_OUT_OF_RANGE'),
	($$SELECT clutch.claim(NULL)$$, '22004 NULL_VALUE'),
	($$SELECT clutch.finish('agent:ken', NULL)$$, '22004 NULL_VALUE'),
	($$SELECT clutch.finish('agent:ken', 'task:b', '{}', 0)$$, '22023 NUMBER_OUT_OF_RANGE'),
	($$SELECT clutch.fail('agent:ken', 'task:b', NULL, 'm')$$, '22004 NULL_VALUE'),
	($$SELECT clutch.report('agent:ken', 'task:b', 'task.request')$$, '22023 WRONG_VALUE'),
	($$SELECT clutch.report('agent:ken', 'task:b', 'no such')$$, '22023 WRONG_VALUE'),
	($$SELECT clutch.finish('agent:ken', 'task:cook', '[]')$$, 'KL001 WRONG_TYPE')) AS t(statement, expected);
SELECT is_empty('SELECT * FROM clutch.check()', 'the state is sound');

SELECT * FROM finish();
