-- AFTER triggers of users on the log, and what these send or try to send.
\ir ../fixtures/tap.sql
SELECT plan(60);

-- -------------------------------------------------------- constraints of users
ALTER TABLE clutch.events ALTER COLUMN domain SET NOT NULL;
SELECT throws_ok($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui'))$$, '23502', NULL, 'a column that a user has made NOT NULL is not null');
SELECT lives_ok($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', domain => 'd'))$$, 'if it has a value, all is well');
ALTER TABLE clutch.events ALTER COLUMN domain DROP NOT NULL;

SET clutch.notify = off;
SET clutch.heartbeat_interval = 0;
SET clutch.retry_max = 0;

CREATE FUNCTION pg_temp.ask(task text, after text[] DEFAULT NULL) RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:ken}', run_id => 'run:1', thread_id => 'thread:1',
		task_id => 'task:' || task, id => 'msg_' || task, after => after))
$$;
CREATE FUNCTION pg_temp.state(task text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', status, code) FROM clutch.tasks WHERE task_id = 'task:' || task $$;
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "ken"}, "capabilities": [{"id": "skill:x"}], "limits": {"max_concurrency": 9}}') \g /dev/null

-- ------------------------------------------------------------ one that sends
-- for every event, by calling a function or by INSERT
CREATE FUNCTION pg_temp.follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.send(clutch.envelope('chat.system', 'agent:ui', '{agent:ken}', run_id => 'run:2', thread_id => 'thread:1', task_id => 'task:talk',
		id => 'msg_of_' || NEW.seq));
	INSERT INTO clutch.events (envelope) VALUES (clutch.envelope('chat.system', 'agent:ui', '{agent:ken}', run_id => 'run:2', thread_id => 'thread:1', task_id => 'task:talk'));
	RETURN NULL;
END $$;
CREATE TRIGGER follow AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.type <> 'chat.system') EXECUTE FUNCTION pg_temp.follow();
SELECT is((SELECT id FROM pg_temp.ask('a')), 'msg_a', 'the receipt is that of the event sent, not of one that a trigger sent');
SELECT is((SELECT ROW(id, duplicate)::text FROM pg_temp.ask('a')), '(msg_a,t)', 'also for a resend');
SELECT is((SELECT string_agg(id, ' ') FROM clutch.send_batch(ARRAY[
	clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:talk', id => 'msg_1'),
	clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:talk', id => 'msg_2')])), 'msg_1 msg_2', 'and for a batch');
SELECT pg_temp.ask('b', '{task:a}') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken') \g /dev/null
CREATE TEMP TABLE report AS SELECT seq FROM clutch.fail('agent:ken', 'task:a', 'E', 'e', false);
SELECT is((SELECT type FROM clutch.events JOIN report USING (seq)), 'task.error', 'and for a report');
SELECT is(pg_temp.state('b'), 'failed DEPENDENCY_FAILED', 'a consequence is recorded');
SELECT is((SELECT string_agg(e.type || ' ' || e.task_id, ', ' ORDER BY t.task_id) FROM clutch.task t JOIN clutch.events e ON e.seq = t.result_seq),
	'task.error task:a, task.error task:b', 'and found at its place in the log');
CREATE TEMP TABLE before AS SELECT * FROM clutch.task;
SELECT clutch.rebuild() \g /dev/null
SELECT is_empty('SELECT * FROM before EXCEPT SELECT * FROM clutch.task', 'rebuild finds the same');
DROP TRIGGER follow ON clutch.events;

-- -------------------------------------- one that ends a task, and takes it back
SELECT pg_temp.ask('c'), pg_temp.ask('d', '{task:c}'), pg_temp.ask('e'), pg_temp.ask('f', '{task:e}') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
CREATE FUNCTION pg_temp.try() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		PERFORM clutch.cancel('task:e');
		RAISE EXCEPTION 'on second thoughts';
	EXCEPTION WHEN raise_exception THEN
		NULL;
	END;
	RETURN NULL;
END $$;
CREATE TRIGGER try AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.task_id = 'task:d' AND NEW.type = 'task.error') EXECUTE FUNCTION pg_temp.try();
SELECT clutch.fail('agent:ken', 'task:c', 'E', 'e', false) \g /dev/null
SELECT is(pg_temp.state('d'), 'failed DEPENDENCY_FAILED', 'a trigger on a consequence is fired');
SELECT is(pg_temp.state('e'), 'running', 'its cancel of another task was rolled back');
SELECT is(pg_temp.state('f'), 'pending', 'so the dependent of that task still waits');

DROP TRIGGER try ON clutch.events;
SELECT clutch.rebuild() \g /dev/null

-- --------------------------------------------------------- one that refuses
-- the second of three tasks whose deadline has passed cannot be ended
CREATE FUNCTION pg_temp.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not %', NEW.task_id; END $$;
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:lee", "display": {"name": "lee"}, "capabilities": [{"id": "skill:x"}], "limits": {"max_concurrency": 99}}') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:lee}', run_id => 'run:3', thread_id => 'thread:1', task_id => 'task:late' || n,
	meta => jsonb_build_object('clutch', jsonb_build_object('deadline', '2099-01-01T00:00:0' || n || 'Z')))) FROM generate_series(1, 3) n \g /dev/null
CREATE TRIGGER refuse AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.task_id = 'task:late2' AND NEW.type = 'task.timeout') EXECUTE FUNCTION pg_temp.refuse();
SET clutch.clock = '2099-01-01T01:00:00Z';
SET client_min_messages = error;
SELECT clutch.tick() \g /dev/null
SELECT is(ARRAY[pg_temp.state('late1'), pg_temp.state('late2'), pg_temp.state('late3')], '{timed_out DEADLINE_EXCEEDED,assigned,timed_out DEADLINE_EXCEEDED}',
	'a task that cannot be ended holds up no other');
DROP TRIGGER refuse ON clutch.events;
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.state('late2'), 'assigned', 'it is left alone');
SET clutch.clock = '2099-01-01T01:01:00Z';
SELECT is_empty($$SELECT * FROM clutch.claim('agent:lee')$$, 'for a minute');
SELECT is(pg_temp.state('late2'), 'timed_out DEADLINE_EXCEEDED', 'then it is tried again');

-- ------------------------------------------------- one that refuses at the end
-- deferred, and for the first of three tasks; another one is cancelled by its trigger
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:lee}', run_id => 'run:4', thread_id => 'thread:1', task_id => 'task:end' || n,
	meta => jsonb_build_object('clutch', jsonb_build_object('deadline', '2099-01-01T02:00:0' || n || 'Z')))) FROM generate_series(1, 3) n \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:lee}', run_id => 'run:5', thread_id => 'thread:1', task_id => 'task:other')) \g /dev/null
CREATE FUNCTION pg_temp.refuse_or_cancel() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF NEW.task_id = 'task:end1' THEN
		RAISE EXCEPTION 'not %', NEW.task_id;
	END IF;
	PERFORM clutch.cancel('task:other');
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON clutch.events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.type = 'task.timeout') EXECUTE FUNCTION pg_temp.refuse_or_cancel();
SET clutch.clock = '2099-01-01T03:00:00Z';
SELECT clutch.tick() \g /dev/null
SELECT is(ARRAY[pg_temp.state('end1'), pg_temp.state('end2'), pg_temp.state('end3')], '{assigned,timed_out DEADLINE_EXCEEDED,timed_out DEADLINE_EXCEEDED}',
	'a deferred trigger that raises an error holds up no other task');
SELECT is(pg_temp.state('other'), 'cancelled', 'and what one does to other tasks is done');
SELECT lives_ok($$SELECT count(*) FROM clutch.claim('agent:ken')$$, 'claims of other agents do not fail because of it');
BEGIN;
SELECT lives_ok($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui'))$$, 'it remains deferred');
COMMIT;
DROP TRIGGER refuse ON clutch.events;

SET clutch.clock = '2099-01-01T05:00:00Z';
SELECT clutch.tick() \g /dev/null
RESET client_min_messages;

-- the second of three tasks of an agent cannot be accepted
CREATE FUNCTION pg_temp.claim_fails(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE said text;
BEGIN
	PERFORM clutch.claim('agent:lee', n);
	RETURN 'claimed';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS said = PG_EXCEPTION_CONTEXT;
	RETURN SQLERRM || ': ' || substring(said FROM 'while claiming [^\n]*');
END $$;
CREATE FUNCTION pg_temp.claimed(n int) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(task_id || ' ' || attempt, ', ') FROM clutch.claim('agent:lee', n) $$;
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:lee}', run_id => 'run:4', task_id => 'task:get' || n)) FROM generate_series(1, 3) n \g /dev/null
CREATE TRIGGER refuse AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.task_id = 'task:get2' AND NEW.type = 'task.accept') EXECUTE FUNCTION pg_temp.refuse();
SELECT is(pg_temp.claim_fails(3), 'not task:get2: while claiming task "task:get2"', 'an error names the task that cannot be claimed');
SET client_min_messages = error;
SELECT is(pg_temp.claimed(3), 'task:get1 1, task:get3 1', 'the next claim of the session passes over it');
SELECT is(pg_temp.state('get2'), 'assigned', 'and leaves it where it is');
SELECT is(pg_temp.claimed(3), NULL, 'so do later ones, which have nothing else');
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:lee}', run_id => 'run:4', task_id => 'task:none' || n)) FROM generate_series(1, 15) n \g /dev/null
DROP TRIGGER refuse ON clutch.events;
CREATE TRIGGER refuse AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.task_id ~ 'task:(none|get2)' AND NEW.type = 'task.accept') EXECUTE FUNCTION pg_temp.refuse();
SELECT is(pg_temp.claimed(20), NULL, 'however many times one claim looks at each');
SELECT clutch.cancel('task:none' || n) FROM generate_series(1, 15) n \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:lee}', run_id => 'run:4', task_id => 'task:get4')) \g /dev/null
SELECT is(pg_temp.claimed(1), 'task:get4 1', 'or have only what came later');
DROP TRIGGER refuse ON clutch.events;
SELECT is(pg_temp.claimed(3), 'task:get2 1', 'it can be claimed when the trigger allows it');
-- what refuses every task is no reason to pass over all of them
SELECT clutch.finish('agent:lee', task_id) FROM clutch.tasks WHERE status = 'running' AND agent_id = 'agent:lee' \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:lee}', run_id => 'run:4', task_id => 'task:all' || n)) FROM generate_series(1, 20) n \g /dev/null
CREATE TRIGGER refuse AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.type = 'task.accept') EXECUTE FUNCTION pg_temp.refuse();
SELECT is(pg_temp.claim_fails(99), 'not task:all1: while claiming task "task:all1"', 'if every task is refused, the first claim says so');
SELECT is(pg_temp.claim_fails(99), 'not task:all17: while claiming task "task:all17"', 'and so does the next, after a few of them');
DROP TRIGGER refuse ON clutch.events;
SELECT is((SELECT count(*) FROM clutch.claim('agent:lee', 99)), 20::bigint, 'and nothing is lost');
RESET client_min_messages;

-- ------------------------------------------- one that refuses a decision
-- the first of three waiting tasks cannot be given to the agent that comes
SET client_min_messages = error;
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:w}', run_id => 'run:6', thread_id => 'thread:1', task_id => 'task:wait' || n)) FROM generate_series(1, 3) n \g /dev/null
CREATE TRIGGER refuse AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.task_id = 'task:wait1' AND NEW.type = 'routing.decision') EXECUTE FUNCTION pg_temp.refuse();
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:wil", "display": {"name": "wil"}, "capabilities": [{"id": "skill:w"}], "limits": {"max_concurrency": 9}}') \g /dev/null
SELECT clutch.tick(), clutch.tick() \g /dev/null
SELECT is(ARRAY[pg_temp.state('wait1'), pg_temp.state('wait2'), pg_temp.state('wait3')], '{pending NO_CAPABLE_AGENT,assigned,assigned}', 'a task whose decision is refused holds up no other');
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.claim('agent:wil', 9)), 'task:wait2 task:wait3', 'nor the claims of the agent');
DROP TRIGGER refuse ON clutch.events;
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.state('wait1'), 'assigned', 'and is given out when nothing refuses it');
SELECT clutch.cancel('task:wait1') \g /dev/null

-- the same with deferred triggers, and one that refuses an acceptance
SELECT count(clutch.finish('agent:wil', task_id)) FROM unnest('{task:wait2,task:wait3}'::text[]) AS task_id \g /dev/null
SELECT clutch.set_status('agent:wil', 'UNAVAILABLE', 'away') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:w}', run_id => 'run:7', thread_id => 'thread:1', task_id => 'task:def' || n)) FROM generate_series(1, 4) n \g /dev/null
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON clutch.events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
	WHEN (NEW.task_id = 'task:def1' AND NEW.type = 'routing.decision' OR NEW.task_id = 'task:def2' AND NEW.type = 'task.accept') EXECUTE FUNCTION pg_temp.refuse();
SELECT clutch.set_status('agent:wil', 'READY') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is(ARRAY[pg_temp.state('def1'), pg_temp.state('def2'), pg_temp.state('def3')], '{pending NO_AGENT_AVAILABLE,assigned,assigned}', 'a deferred trigger that refuses a decision holds up no other task');
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.claim('agent:wil', 9)), 'task:def3 task:def4', 'what a deferred trigger refuses is not handed out');
SELECT is(ARRAY[pg_temp.state('def2'), pg_temp.state('def3'), pg_temp.state('def4')], '{assigned,running,running}', 'and one that refuses an acceptance neither');
DROP TRIGGER refuse ON clutch.events;
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.claim('agent:wil', 9)), 2::bigint, 'the others follow');
SELECT is((SELECT count(clutch.finish('agent:wil', task_id)) FROM clutch.tasks WHERE run_id = 'run:7' AND status = 'running'), 4::bigint, 'and can be done');

-- ------------------------- one that refuses what messages and agents are told
SET clutch.heartbeat_interval = 1;
SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:still' || n, 'capabilities', '[{"id": "skill:still"}]'::jsonb)) FROM generate_series(1, 3) n \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', run_id => 'run:ask' || n, thread_id => 'thread:1', task_id => 'task:ask' || n, meta => '{"clutch": {"ttl_ms": 1000}}')) FROM generate_series(1, 3) n \g /dev/null
CREATE TRIGGER refuse AFTER INSERT ON clutch.events FOR EACH ROW
	WHEN (NEW.type = 'chat.system' AND NEW.task_id = 'task:ask1' OR NEW.type = 'agent.heartbeat' AND NEW.envelope::text LIKE '%agent:still1%') EXECUTE FUNCTION pg_temp.refuse();
SET clutch.clock = '2099-01-01T06:00:00Z';
SELECT clutch.tick() \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.events WHERE type = 'chat.system' AND task_id LIKE 'task:ask%'), 'task:ask2 task:ask3', 'a message whose sender cannot be told holds up no other');
SELECT is((SELECT string_agg(status, ' ' ORDER BY agent_id) FROM clutch.agents WHERE agent_id LIKE 'agent:still%'), 'READY UNAVAILABLE UNAVAILABLE', 'nor does an agent that cannot be declared lost');
DROP TRIGGER refuse ON clutch.events;
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE type = 'chat.system' AND task_id = 'task:ask1'), 0::bigint, 'it is left alone for a minute');
SET clutch.clock = '2099-01-01T06:01:00Z';
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE type = 'chat.system' AND task_id = 'task:ask1'), 1::bigint, 'and then told');

-- the same with a deferred trigger: the agent keeps its task
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:dim", "capabilities": [{"id": "skill:dim"}]}') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:dim}', run_id => 'run:dim', thread_id => 'thread:1', task_id => 'task:dim')) \g /dev/null
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON clutch.events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
	WHEN (NEW.type = 'agent.heartbeat') EXECUTE FUNCTION pg_temp.refuse();
SET clutch.clock = '2099-01-01T07:00:00Z';
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(type, ' ' ORDER BY seq) FROM clutch.events WHERE task_id = 'task:dim'), 'task.request routing.decision', 'an agent that a deferred trigger keeps from being declared lost keeps its task');
DROP TRIGGER refuse ON clutch.events;
SET clutch.heartbeat_interval = 0;
RESET client_min_messages;

-- --------------------------------------- one that refuses a request of a rule
SET client_min_messages = error;
INSERT INTO clutch.routing_rule (name, type, emit) VALUES ('each', 'chat.message', '{"each": "$.payload.items[*]", "to": "agent:ken", "payload": {"x": "$.item"}}');
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON clutch.events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
	WHEN (NEW.type = 'task.request' AND NEW.envelope #>> '{payload,x}' = '2') EXECUTE FUNCTION pg_temp.refuse();
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', run_id => 'run:each', payload => '{"items": [1, 2, 3]}')) \g /dev/null
SELECT is((SELECT string_agg(envelope #>> '{payload,x}', ' ' ORDER BY seq) FROM clutch.events WHERE run_id = 'run:each' AND type = 'task.request'), '1 3',
	'a deferred trigger that refuses one request of a rule does not refuse the others');
SELECT is_empty('SELECT FROM clutch.consequence', 'and nothing is tried again');
DROP TRIGGER refuse ON clutch.events;
DELETE FROM clutch.routing_rule;

-- --------------------------- a deferred trigger that acts on tasks, and so causes events for itself
CREATE FUNCTION pg_temp.act() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW.type = 'task.timeout' THEN
		PERFORM clutch.retry(NEW.task_id);
	ELSE
		PERFORM clutch.finish('agent:ivy', NEW.task_id, '{}');
	END IF;
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER act AFTER INSERT ON clutch.events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
	WHEN (NEW.task_id LIKE 'task:acted%' AND (NEW.type = 'task.timeout' OR (NEW.type = 'routing.decision' AND NEW.envelope #>> '{payload,attempt}' = '2')))
	EXECUTE FUNCTION pg_temp.act();
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ivy", "display": {"name": "ivy"}, "capabilities": [{"id": "skill:ivy"}], "limits": {"max_concurrency": 9}}') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:ivy}', run_id => 'run:acted', thread_id => 'thread:1', task_id => 'task:acted' || n, deadline => '1 hour'))
FROM generate_series(1, 2) n \g /dev/null
SELECT set_config('clutch.clock', to_char(clutch.now() AT TIME ZONE 'UTC' + interval '2 hours', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false) \g /dev/null
SELECT late FROM clutch.progress('agent:ivy', 'task:acted1', '{}') \g /dev/null
SELECT is(pg_temp.state('acted1'), 'completed', 'a trigger that is fired at commit revives a task and finishes it');
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.state('acted2'), 'completed', 'also one that is fired by a tick, which has saved the task by then');
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:acted' AND type = 'task.result' AND NOT late), 2::bigint, 'neither report is late');
DROP TRIGGER act ON clutch.events;

-- ------------------------------------------------- triggers that are not deferred for once
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON clutch.events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
	WHEN (NEW.id = 'msg_refused') EXECUTE FUNCTION pg_temp.refuse();
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:amy", "capabilities": [{"id": "skill:amy"}]}') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:amy}', run_id => 'run:at-once', task_id => 'task:at-once')) \g /dev/null
BEGIN;
SET CONSTRAINTS ALL IMMEDIATE;
SELECT is((SELECT task_id FROM clutch.claim('agent:amy')), 'task:at-once', 'a claim after SET CONSTRAINTS ... IMMEDIATE');
SELECT throws_ok($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', id => 'msg_refused', task_id => 'task:refused'))$$, 'not task:refused', 'does not undo it');
ROLLBACK;
DROP TRIGGER refuse ON clutch.events;
RESET client_min_messages;

-- ------------------------------------------------------- one that comes first
-- it inserts a message before the row that a function waits for is admitted
SET client_min_messages = error;
CREATE FUNCTION pg_temp.copy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF pg_trigger_depth() = 1 THEN
		INSERT INTO clutch.events (envelope) VALUES (clutch.envelope('chat.message', 'agent:ui', '{agent:lee}', run_id => 'run:copy'));
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER copy BEFORE INSERT ON clutch.events FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.copy();
SELECT is((SELECT id || ' ' || duplicate FROM clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:amy}', id => 'msg_first', run_id => 'run:first', thread_id => 'thread:1', task_id => 'task:first'))),
	'msg_first false', 'a receipt is that of the row that was sent');
SELECT is((SELECT id || ' ' || duplicate FROM clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:amy}', id => 'msg_first', run_id => 'run:first', thread_id => 'thread:1', task_id => 'task:first'))),
	'msg_first true', 'also if it is a duplicate');
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', id => 'msg_key', run_id => 'run:first', thread_id => 'thread:1') || '{"idempotency_key": "k"}') \g /dev/null
SELECT is((SELECT id || ' ' || duplicate FROM clutch.send(clutch.envelope('chat.message', 'agent:ui', id => 'msg_other', run_id => 'run:first', thread_id => 'thread:1') || '{"idempotency_key": "k"}')),
	'msg_key true', 'or one by its key, under another ID');
SELECT clutch.finish('agent:amy', task_id) FROM clutch.claim('agent:amy') \g /dev/null
SELECT clutch.finish('agent:amy', task_id) FROM clutch.claim('agent:amy') \g /dev/null
SELECT is(pg_temp.state('first'), 'completed', 'the events of the database are still its own');
SELECT is((SELECT count(*) > 4 FROM clutch.events WHERE run_id = 'run:copy'), true, 'the trigger was fired');
DROP TRIGGER copy ON clutch.events;

-- ----------------------------------------------------- one that speaks first
CREATE FUNCTION pg_temp.greet() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.send(clutch.envelope('chat.message', 'agent:ken', '{agent:ui}', run_id => 'run:greeted'));
	RETURN NEW;
END $$;
CREATE TRIGGER zzz_greet BEFORE INSERT ON clutch.events FOR EACH ROW WHEN (NEW.id = 'msg_greeted') EXECUTE FUNCTION pg_temp.greet();
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:lois}', id => 'msg_greeted', run_id => 'run:greeted')) \g /dev/null
SELECT is((SELECT string_agg(name, ' ' ORDER BY name) FROM clutch.participant WHERE run_id = 'run:greeted'), 'agent:lois agent:ui', 'a message that follows in the run takes no recipient from the first one');
DROP TRIGGER zzz_greet ON clutch.events;
RESET client_min_messages;

-- ---------------------------------------------------- views are for reading
SELECT is_empty($$SELECT c.oid::regclass FROM pg_class c WHERE c.relnamespace = 'clutch'::regnamespace AND c.relkind = 'v' AND pg_relation_is_updatable(c.oid, false) <> 0
	AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgtype & 64 = 64)$$, 'PostgreSQL passes no statement on a view on to the state');
SELECT throws_ok(statement, '55000', 'view clutch.tasks cannot be changed', statement)
FROM unnest('{"UPDATE clutch.tasks SET status = ''cancelled''", "DELETE FROM clutch.tasks"}'::text[]) AS statement;

SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
