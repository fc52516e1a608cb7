-- Webhooks: endpoints with a filter get the events that fit, in the transaction of the event.
\ir ../fixtures/tap.sql
SELECT plan(33);

-- what is to be sent: "type of the event>endpoint", in order
CREATE FUNCTION fixture.hooked() RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(e.type || '>' || o.endpoint, ' ' ORDER BY o.no), 'nothing') FROM clutch.outbox o LEFT JOIN clutch.events e ON e.seq = o.seq WHERE o.state = 'pending'
$$;
CREATE FUNCTION fixture.forget() RETURNS void LANGUAGE sql AS $$ SELECT clutch.outbox_drop(id) FROM clutch.outbox $$;
CREATE FUNCTION fixture.say(n integer, whom text DEFAULT 'agent:ken', more jsonb DEFAULT '{}') RETURNS bigint LANGUAGE sql AS $$
	SELECT seq FROM clutch.send(clutch.envelope('chat.message', 'agent:ui', ARRAY[whom], payload => jsonb_build_object('n', n), run_id => 'run:1', task_id => 'task:chat') || more)
$$;

SELECT fixture.agent('ken', 9);
SELECT fixture.say(1);
SELECT is(fixture.hooked(), 'nothing', 'without an endpoint, nothing is sent');
INSERT INTO clutch.endpoint (name, url) VALUES ('plain', 'https://a.example');
SELECT fixture.say(1);
SELECT is(fixture.hooked(), 'nothing', 'nor to one that has no filter');

INSERT INTO clutch.endpoint (name, url, filter) VALUES ('results', 'https://a.example', '{"type": ["task.result", "routing.*"]}'), ('big', 'https://b.example', '{"type": "chat.message", "path": "$.payload ? (@.n > 5)"}');
SELECT fixture.say(1), fixture.say(6);
SELECT is(fixture.hooked(), 'chat.message>big', 'an event that fits');
SELECT is((SELECT concat_ws(' ', kind, run_id, task_id, body, agent_id) FROM clutch.outbox), 'event run:1 task:chat', 'belongs to its run and task, and the body is not made yet');
SELECT fixture.forget();
SELECT fixture.ask('task:a');
SELECT is(fixture.hooked(), 'routing.decision>results', 'an event of the database itself');
SELECT fixture.claimed('agent:ken');
SELECT clutch.finish('agent:ken', 'task:a', '{"r": 1}', 1);
SELECT is(fixture.hooked(), 'routing.decision>results task.result>results', 'a report');
SELECT clutch.finish('agent:ken', 'task:a', '{"r": 1}', 1);
SELECT is(fixture.hooked(), 'routing.decision>results task.result>results', 'a duplicate is not sent again');

BEGIN;
SELECT fixture.say(7);
SAVEPOINT s;
SELECT fixture.say(8);
ROLLBACK TO s;
COMMIT;
SELECT is((SELECT string_agg(e.envelope #>> '{payload,n}', ',') FROM clutch.outbox o JOIN clutch.events e USING (seq) WHERE o.endpoint = 'big'), '7', 'what is rolled back is not sent');
SELECT fixture.forget();

-- an INSERT, and a batch
INSERT INTO clutch.events (envelope) SELECT clutch.envelope('chat.message', 'agent:ui', payload => jsonb_build_object('n', n)) FROM generate_series(5, 7) n;
SELECT clutch.send_batch(ARRAY[clutch.envelope('chat.message', 'agent:ui', payload => '{"n": 9}')]);
SELECT is(fixture.hooked(), 'chat.message>big chat.message>big chat.message>big', 'every way into the log counts');
SELECT fixture.forget();

-- what a backend remembers
BEGIN;
DELETE FROM clutch.endpoint WHERE name = 'big';
SELECT fixture.say(7);
SELECT is(fixture.hooked(), 'nothing', 'an endpoint that was removed gets nothing');
ROLLBACK;
SELECT fixture.say(7);
SELECT is(fixture.hooked(), 'chat.message>big', 'unless that is rolled back');
SELECT fixture.forget();
BEGIN;
INSERT INTO clutch.endpoint (name, url, filter) VALUES ('late', 'https://c.example', '{}');
ROLLBACK;
SELECT fixture.say(1);
SELECT is(fixture.hooked(), 'nothing', 'an endpoint that was never there');

-- inboxes: the groups of an agent may change
DELETE FROM clutch.endpoint WHERE filter IS NOT NULL;
INSERT INTO clutch.endpoint (name, url, filter) VALUES ('ken', 'https://k.example', '{"agent": "agent:ken", "type": ["chat.message", "task.request"]}');
SELECT fixture.say(1), fixture.say(1, 'agent:lois'), fixture.say(1, 'group:team');
SELECT is(fixture.hooked(), 'chat.message>ken', 'what is addressed to an agent');
SELECT clutch.join_group('group:team', 'agent:ken');
SELECT fixture.say(2, 'group:team');
SELECT is(fixture.hooked(), 'chat.message>ken chat.message>ken', 'or to its groups, as they are now');
SELECT fixture.forget();
SELECT fixture.ask('task:b');
SELECT is(fixture.hooked(), 'task.request>ken', 'and requests that it was given');
SELECT fixture.forget();

-- what is sent is made when it is claimed
DELETE FROM clutch.endpoint WHERE filter IS NOT NULL;
INSERT INTO clutch.endpoint (name, url, filter) VALUES ('all', 'https://a.example', '{"type": "chat.message"}');
SELECT fixture.say(3) AS redacted, fixture.say(4) AS pruned, fixture.say(5) AS kept \gset
SELECT clutch.redact(:redacted, 'privacy');
SELECT is((SELECT string_agg(coalesce(c.body::jsonb #>> '{data,n}', 'none'), ',') FROM clutch.outbox_claim(9) c), 'none,4,5', 'what was redacted meanwhile is not sent');
SELECT fixture.forget();

-- what was said before is not said again
SELECT fixture.say(5);
SELECT clutch.rebuild();
SELECT is(fixture.hooked(), 'chat.message>all', 'a rebuild sends nothing again');
SELECT clutch.cancel_run('run:1');
SELECT fixture.forget();
CREATE TEMP TABLE exported AS SELECT array_agg(line) AS lines FROM clutch.export('run:1') line;
SELECT fixture.at(0);
SELECT clutch.prune('infinity');
SELECT is((SELECT count(*) FROM clutch.outbox), 0::bigint, 'nothing is left to be sent');
SELECT fixture.say(6, more => '{"run_id": "run:2"}') AS seq \gset
SELECT ok(clutch.import((SELECT lines FROM exported)) > 0, 'a run of another database');
SELECT is((SELECT count(*) FROM clutch.outbox o JOIN clutch.events e USING (seq) WHERE e.run_id = 'run:1'), 0::bigint, 'is not sent');
SELECT clutch.prune('infinity');
SELECT clutch.outbox_claim(9);
SELECT is((SELECT string_agg(concat_ws(' ', o.state, regexp_replace(o.failure, '[0-9]+', 'n')), ',') FROM clutch.outbox o), 'dead event n is not in the log any more', 'an event that is gone leaves a dead letter');

-- ------------------------------------------------- states of tasks, told to a client of A2A
DELETE FROM clutch.endpoint;
TRUNCATE clutch.outbox;
SELECT fixture.agent('ann', 9);
INSERT INTO clutch.endpoint (name, url, adapter, filter) VALUES ('push', 'https://push.example', 'a2a', '{"task_id": "task:p", "type": ["task.progress", "task.result", "task.error", "task.timeout", "routing.failure"]}'), ('log', 'https://log.example', 'http', '{"task_id": "task:p", "type": "task.error"}');
CREATE FUNCTION fixture.pushed() RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(coalesce(c.body::jsonb #>> '{statusUpdate,status,state}', c.body::jsonb #>> '{task,status,state}', c.body::jsonb ->> 'type'), ', ' ORDER BY o.endpoint DESC, o.no), 'nothing') FROM clutch.outbox_claim(9) c JOIN clutch.outbox o USING (id)
$$;
SELECT fixture.at(0);
SELECT fixture.ask('task:p', skill => 'skill:rare', orders => '{"retry": {"max": 1, "initial_ms": 1000}}');
SELECT is(fixture.pushed(), 'TASK_STATE_SUBMITTED', 'a task that waits for an agent is submitted');
SELECT fixture.agent('rare', 9, '{skill:rare}');
SELECT clutch.claim('agent:rare') \g /dev/null
SELECT clutch.fail('agent:rare', 'task:p', 'E', 'no', retryable => true) \g /dev/null
SELECT is(fixture.pushed(), 'TASK_STATE_WORKING, clutch.task.error', 'an error after which it is tried again is not failed, although it is an error');
SELECT is((SELECT concat_ws(' ', o.state, o.failure) FROM clutch.outbox o WHERE o.state = 'void'), 'void the event does not say what has become of its task', 'its call is void');
SELECT fixture.at(10);
SELECT clutch.tick();
SELECT clutch.claim('agent:rare') \g /dev/null
SELECT clutch.fail('agent:rare', 'task:p', 'E', 'no', retryable => true) \g /dev/null
SELECT is(fixture.pushed(), 'TASK_STATE_FAILED, clutch.task.error', 'the last one is');
SELECT clutch.send(clutch.envelope('task.result', 'agent:rare', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:p')) \g /dev/null
SELECT is(fixture.pushed(), 'nothing', 'and a result that comes late is none');
SELECT clutch.retry('task:p', by_agent => 'agent:ui') \g /dev/null
SELECT clutch.claim('agent:rare'), clutch.finish('agent:rare', 'task:p') \g /dev/null
SELECT is(fixture.pushed(), 'TASK_STATE_WORKING, TASK_STATE_COMPLETED', 'a task that somebody has tried again ends again');
-- a timeout, after which it is tried again by hand before anybody was told
DELETE FROM clutch.endpoint WHERE name = 'log';
TRUNCATE clutch.outbox;
SELECT fixture.ask('task:p2', skill => 'skill:rare', run => 'run:p2');
UPDATE clutch.endpoint SET filter = '{"task_id": "task:p2", "type": "task.timeout"}' WHERE name = 'push';
SELECT set_config('clutch.clock', to_char((clutch.now() + '10 years') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false);
SELECT clutch.tick();
SELECT is(fixture.state('task:p2'), 'timed_out agent:rare 1', 'a task that times out');
SELECT clutch.retry('task:p2', by_agent => 'agent:ui') \g /dev/null
SELECT is(fixture.pushed(), 'nothing', 'is not said to have failed when it is tried again');
SELECT set_config('clutch.clock', to_char((clutch.now() + '10 years') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false);
SELECT clutch.tick();
SELECT is(fixture.pushed(), 'TASK_STATE_FAILED', 'but when it has timed out once more');

-- a cancellation is a status, too
UPDATE clutch.endpoint SET filter = '{"task_id": "task:p3", "type": "task.cancel"}' WHERE name = 'push';
SELECT fixture.ask('task:p3', skill => 'skill:rare', run => 'run:p3');
SELECT clutch.cancel('task:p3', by_agent => 'agent:ui') \g /dev/null
SELECT is(fixture.pushed(), 'TASK_STATE_CANCELED', 'a client is told that its task was cancelled, and not asked to cancel it');
UPDATE clutch.endpoint SET filter = '{"task_id": "task:p4", "type": "task.cancel"}' WHERE name = 'push';
SELECT fixture.ask('task:p4', skill => 'skill:rare', run => 'run:p4');
SELECT clutch.claim('agent:rare') \g /dev/null
SELECT clutch.finish('agent:rare', 'task:p4') \g /dev/null
SELECT clutch.cancel('task:p4', by_agent => 'agent:ui') \g /dev/null
SELECT is(fixture.pushed(), 'nothing', 'unless the task is over');

-- an endpoint that is paused
DELETE FROM clutch.endpoint;
TRUNCATE clutch.outbox;
INSERT INTO clutch.endpoint (name, url, filter, paused) VALUES ('later', 'https://later.example', '{"type": "chat.message", "path": "$.payload ? (@.n > 5)"}', true);
SELECT fixture.say(5), fixture.say(6);
SELECT is((SELECT string_agg(e.envelope #>> '{payload,n}', ',') FROM clutch.outbox o JOIN clutch.events e USING (seq)), '6', 'an endpoint that is paused gets later what fits');
SELECT * FROM finish();
