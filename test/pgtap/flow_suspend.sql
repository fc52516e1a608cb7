-- A task waits without a slot: for its children, a time, or a message.
\ir ../fixtures/tap.sql
SELECT plan(93);
SET clutch.notify = off;
SET clutch.default_deadline = 0;
SET timezone = 'UTC';

CREATE FUNCTION pg_temp.fault(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	state text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, state = RETURNED_SQLSTATE;
	RETURN concat_ws(' ', state, detail::jsonb -> 0 ->> 'code', detail::jsonb -> 0 ->> 'argument', detail::jsonb -> 0 ->> 'path');
END $$;
-- reason and answer of what an agent claims next
CREATE FUNCTION pg_temp.next(agent text DEFAULT 'agent:ken') RETURNS text LANGUAGE sql AS
$$ SELECT coalesce((SELECT concat_ws(' ', task_id, attempt, reason, last_progress) FROM clutch.claim(agent, 1, '1 h')), 'nothing') $$;
CREATE FUNCTION pg_temp.woken(task text) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg((m - 'children')::text, ' ') FROM fixture.moves(task, 'woken') m $$;

SELECT fixture.at(0) \g /dev/null
SELECT fixture.agent('ken') \g /dev/null

-- ------------------------------------------------ a parent and a child, limit 1
SELECT fixture.ask('p') \g /dev/null
SELECT is(pg_temp.next(), 'p 1 new', 'the only agent claims the parent');
SELECT fixture.ask('c', parent => 'p') \g /dev/null
SELECT is(fixture.states('c'), 'c pending capacity NO_CAPACITY', 'and has no room for the child');
SELECT is(pg_temp.fault($$SELECT clutch.suspend('agent:ken', 'p', '{"children": "all"}', '{"state": "outlined", "page": 3}', 1)$$), '22023 NOT_ALLOWED note', 'a note with a state of its own, which would be lost, is refused');
SELECT is(pg_temp.fault($$SELECT clutch.suspend('agent:ken', 'p', '{"children": "all"}', '{"state": null}', 1)$$), '22023 NOT_ALLOWED note', 'even if the state is null');
SELECT is(fixture.state('p'), 'running agent:ken 1', 'and the task runs on');
SELECT is((SELECT late FROM clutch.suspend('agent:ken', 'p', '{"children": "all"}', '{"page": 3, "state": "suspended"}', 1)), false, 'it suspends the parent; a note may have the state that a claim has returned');
SELECT is(fixture.state('p') || ', ' || fixture.states('p'), 'suspended agent:ken 1, p suspended children', 'which waits for its children');
SELECT is((SELECT count(*) FROM clutch.approvals), 0::bigint, 'and asks nobody');
SELECT is(fixture.states('c'), 'c assigned', 'the child has the slot');
SELECT is((SELECT envelope -> 'payload' FROM clutch.events WHERE envelope #> '{meta,clutch,wait}' IS NOT NULL), '{"page": 3, "state": "suspended"}', 'the event says so');
SELECT is((SELECT envelope #> '{meta,clutch}' FROM clutch.events WHERE envelope #> '{meta,clutch,wait}' IS NOT NULL), '{"wait": {"children": "all"}}', 'and what it waits for');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT is(pg_temp.next(), 'c 1 new', 'the agent claims the child');
SELECT clutch.finish('agent:ken', 'c', '{"n": 1}') \g /dev/null
SELECT is(pg_temp.woken('p'), '{"met": true, "open": 0, "state": "woken", "failed": 0, "reason": "joined", "wanted": "all", "completed": 1}', 'its end wakes the parent, once');
SELECT is((SELECT m -> 'children' FROM fixture.moves('p', 'woken') m), '{"c": "completed"}', 'and says how the children ended');
SELECT is(pg_temp.next(), 'p 2 joined {"page": 3, "state": "suspended"}', 'the agent claims it again, with its note');
SELECT is((SELECT late FROM clutch.finish('agent:ken', 'p', attempt => 1)), true, 'a report of the attempt that was suspended is late');
SELECT is((SELECT late FROM clutch.finish('agent:ken', 'p', attempt => 2)), false, 'the new attempt ends the task');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');

-- -------------------------------------------------------------------- counts
SELECT fixture.agent('ken', 20) \g /dev/null
SELECT fixture.ask('q'), pg_temp.next() \g /dev/null
SELECT fixture.ask('q' || n, parent => 'q') FROM generate_series(1, 4) n \g /dev/null
SELECT clutch.claim('agent:ken', 9) \g /dev/null
SELECT clutch.suspend('agent:ken', 'q', '{"children": 2}') \g /dev/null
SELECT clutch.finish('agent:ken', 'q1'), clutch.fail('agent:ken', 'q2', 'E', 'e', false) \g /dev/null
SELECT is(fixture.states('q'), 'q suspended children', 'one of two that it waits for is completed');
SELECT clutch.finish('agent:ken', 'q3') \g /dev/null
SELECT is(pg_temp.woken('q'), '{"met": true, "open": 1, "state": "woken", "failed": 1, "reason": "joined", "wanted": 2, "completed": 2}', 'the second one wakes it');
SELECT is(pg_temp.next(), 'q 2 joined', 'without a note there is no progress');
SELECT clutch.progress('agent:ken', 'q', '{"half": true}') \g /dev/null
SELECT clutch.suspend('agent:ken', 'q', '{"children": "any"}') \g /dev/null
SELECT is(pg_temp.next(), 'q 3 joined {"half": true}', 'children that were over before count: it is woken at once, with its last progress');
SELECT clutch.suspend('agent:ken', 'q', '{"children": 4}') \g /dev/null
SELECT is((SELECT m ->> 'met' FROM fixture.moves('q', 'woken') m OFFSET 2), 'false', 'what cannot be met any more wakes it too');
SELECT is(pg_temp.next(), 'q 4 joined {"half": true}', 'with the same reason');
SELECT clutch.suspend('agent:ken', 'q', '{"children": "all"}'), clutch.finish('agent:ken', 'q4') \g /dev/null
SELECT is(pg_temp.next(), 'q 5 joined {"half": true}', 'suspended and woken by one transaction');
SELECT clutch.finish('agent:ken', 'q') \g /dev/null
SELECT fixture.ask('r'), pg_temp.next(), clutch.suspend('agent:ken', 'r', '{"children": "all"}') \g /dev/null
SELECT is(pg_temp.next(), 'r 2 joined', 'a task without children waits for none');

-- ---------------------------------------------------------------------- time
SELECT clutch.suspend('agent:ken', 'r', '{"for_ms": 5000}') \g /dev/null
SELECT is((SELECT ROW(waiting_for, fixture.since_noon(next_at))::text FROM clutch.tasks WHERE task_id = 'r'), '(time,5.000)', 'it waits for a time');
SELECT fixture.at(4), clutch.tick() \g /dev/null
SELECT is(pg_temp.next(), 'nothing', 'not before');
SELECT fixture.at(5.5) \g /dev/null
SELECT is((SELECT problem FROM clutch.stuck WHERE task_id = 'r'), 'its time has come', 'stuck shows that nobody has looked');
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.next(), 'r 3 woken', 'tick wakes it');
SELECT clutch.suspend('agent:ken', 'r', '{"until": "2026-01-01T12:00:09Z"}') \g /dev/null
SELECT fixture.at(9) \g /dev/null
SELECT is(pg_temp.next(), 'r 4 woken', 'a claim finds that the time has come');
SELECT fixture.ask('r1', parent => 'r'), clutch.suspend('agent:ken', 'r', '{"children": "all", "for_ms": 1000}') \g /dev/null
SELECT fixture.at(10.5), clutch.tick() \g /dev/null
SELECT is((SELECT m FROM fixture.moves('r', 'woken') m OFFSET 3), '{"state": "woken", "reason": "woken"}', 'a time beside children ends the wait');
SELECT is((SELECT reason FROM clutch.claim('agent:ken', 9) WHERE task_id = 'r'), 'woken', 'for the reason woken');
SELECT clutch.finish('agent:ken', 'r1') \g /dev/null
SELECT is(fixture.states('r'), 'r running', 'the end of the child changes nothing any more');
SELECT clutch.finish('agent:ken', 'r') \g /dev/null

-- --------------------------------------------------- what else ends the wait
SELECT fixture.ask('s', orders => '{"deadline": "2026-01-01T12:00:20Z"}'), pg_temp.next(), clutch.suspend('agent:ken', 's', '{"for_ms": 99999}') \g /dev/null
SELECT fixture.at(21), clutch.tick() \g /dev/null
SELECT is(fixture.states('s'), 's timed_out DEADLINE_EXCEEDED', 'the deadline of the task');
SELECT clutch.retry('s') \g /dev/null
SELECT is(pg_temp.next(), 's 2 retry', 'a retry begins it again');
SELECT clutch.suspend('agent:ken', 's', '{"for_ms": 99999}'), clutch.cancel('s') \g /dev/null
SELECT is(fixture.states('s'), 's cancelled', 'a cancel');
SELECT is((SELECT count(*) FROM clutch.suspended), 0::bigint, 'nothing is left of it');

-- ------------------------------------------------------------------- messages
CREATE FUNCTION pg_temp.said(text text, sender text DEFAULT 'agent:lois', run text DEFAULT 'run:1', more jsonb DEFAULT '{}') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.send(clutch.envelope('chat.message', sender, '{agent:ken}', jsonb_build_object('text', text), run_id => run, thread_id => 'thread:1',
		task_id => 'talk', id => 'msg_' || text) || more);
END $$;
-- attempt, reason and answer
CREATE FUNCTION pg_temp.answered() RETURNS text LANGUAGE sql AS
$$ SELECT coalesce((SELECT concat_ws(' ', task_id, attempt, reason, answer) FROM clutch.claim('agent:ken', 1, '1 h')), 'nothing') $$;
CREATE FUNCTION pg_temp.awaits(task text, filter jsonb, more jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS
$$ SELECT 'late ' || late FROM clutch.suspend('agent:ken', task, jsonb_build_object('message', filter) || more) $$;

SELECT pg_temp.said('early') \g /dev/null
SELECT fixture.ask('m'), pg_temp.next() \g /dev/null
SELECT is(pg_temp.awaits('m', '{"type": "chat.message", "thread_id": "thread:1"}'), 'late false', 'it waits for a message');
SELECT is(fixture.states('m'), 'm suspended message', 'which the view shows');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT is(pg_temp.answered(), 'nothing', 'a message from before the task does not wake it');
SELECT pg_temp.said('own', 'agent:ken') \g /dev/null
SELECT is(pg_temp.answered(), 'nothing', 'nor does one of its own agent');
SELECT pg_temp.said('elsewhere', run => 'run:2') \g /dev/null
SELECT is(pg_temp.answered(), 'nothing', 'nor one of another run');
SELECT pg_temp.said('aside', more => '{"thread_id": "thread:2"}') \g /dev/null
SELECT is(pg_temp.answered(), 'nothing', 'nor one that the filter does not fit');
SELECT pg_temp.said('first') \g /dev/null
SELECT is((SELECT m FROM fixture.moves('m', 'woken') m), jsonb_build_object('state', 'woken', 'reason', 'messaged', 'answer_id', 'msg_first', 'answer_seq', (SELECT seq FROM clutch.events WHERE id = 'msg_first')), 'the one that it waits for wakes it');
SELECT is(pg_temp.answered(), 'm 2 messaged {"text": "first"}', 'and is its answer');
SELECT pg_temp.said('second'), pg_temp.said('third') \g /dev/null
SELECT is(fixture.states('m'), 'm running', 'what comes while it runs does not disturb it');
SELECT pg_temp.awaits('m', '{"type": "chat.*"}') \g /dev/null
SELECT is(pg_temp.answered(), 'm 3 messaged {"text": "aside"}', 'but wakes it when it waits again, in order, if the new filter fits');
SELECT pg_temp.awaits('m', '{"thread_id": "thread:1"}') \g /dev/null
SELECT is(pg_temp.answered(), 'm 4 messaged {"text": "second"}', 'each message');
SELECT pg_temp.awaits('m', '{"path": "$.payload ? (@.text == \"third\")"}') \g /dev/null
SELECT is(pg_temp.answered(), 'm 5 messaged {"text": "third"}', 'once');
SELECT pg_temp.awaits('m', '{}') \g /dev/null
SELECT is(pg_temp.answered(), 'nothing', 'and then no more');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
BEGIN;
SAVEPOINT s;
SELECT pg_temp.said('never') \g /dev/null
ROLLBACK TO s;
COMMIT;
SELECT is(fixture.states('m'), 'm suspended message', 'a message that is rolled back wakes nobody');
SELECT clutch.send(clutch.envelope('tool.result', 'agent:lois', '{agent:ken}', '{"n": 1}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'm',
	meta => '{"clutch": {"reply_to": "msg_call"}}')) \g /dev/null
SELECT is(pg_temp.answered(), 'm 6 messaged {"n": 1}', 'a tool answers');
SELECT pg_temp.awaits('m', '{"agent": "agent:ken"}', '{"for_ms": 1000}') \g /dev/null
SELECT fixture.at(23), clutch.tick() \g /dev/null
SELECT is(pg_temp.answered(), 'm 7 woken', 'a time limits the wait, and leaves no old answer');
SELECT clutch.suspend('agent:ken', 'm', '{"message": {}}'), clutch.suspend('agent:ken', 'm', '{"for_ms": 1}'), pg_temp.said('late') \g /dev/null
SELECT is(fixture.states('m') || (SELECT count(*) FROM clutch.awaited), 'm suspended time0', 'another wait replaces the first');
SELECT fixture.at(24), clutch.tick() \g /dev/null
SELECT is(pg_temp.answered(), 'm 8 woken', 'and ends by itself');
SELECT pg_temp.awaits('m', '{}') \g /dev/null
SELECT is(pg_temp.answered(), 'm 9 messaged {"text": "late"}', 'a message that came meanwhile is not lost');

SELECT is(pg_temp.fault($$ SELECT pg_temp.awaits('m', '{"typ": "x"}') $$), 'KL001 UNKNOWN_FIELD wait /message/typ', 'a misspelt key is refused');
SELECT is(pg_temp.fault($$ SELECT pg_temp.awaits('m', '{"type": "task.result"}') $$), 'KL001 WRONG_VALUE wait /message/type', 'a filter that no message fits');
SELECT is(pg_temp.fault($$ SELECT pg_temp.awaits('m', '{"run_id": "run:2"}') $$), 'KL001 WRONG_VALUE wait /message/run_id', 'and one for another run');
SELECT is(pg_temp.fault($$ SELECT clutch.suspend('agent:ken', 'm', '{}') $$), 'KL001 EMPTY wait', 'a wait for nothing');
SELECT is(pg_temp.fault($$ SELECT clutch.suspend('agent:ken', 'm', '{"children": "all", "message": {}}') $$), 'KL001 WRONG_VALUE wait', 'for two things');
SELECT is(pg_temp.fault($$ SELECT clutch.suspend('agent:ken', 'm', '{"children": "some"}') $$), 'KL001 WRONG_VALUE wait /children', 'for some children');
SELECT is(pg_temp.fault($$ SELECT clutch.suspend('agent:ken', 'm', '5') $$), 'KL001 WRONG_TYPE wait', 'a wait is an object');
-- an ID that was chosen to have the hash of another one
SELECT is(hashtextextended('msg_attackerbk/A2ZG1Ld~' COLLATE "C", 0), hashtextextended('msg_victim' COLLATE "C", 0), 'two IDs have the same hash');
SELECT pg_temp.awaits('m', '{}'), pg_temp.said('attackerbk/A2ZG1Ld~') \g /dev/null
SELECT is(pg_temp.answered(), 'm 10 messaged {"text": "attackerbk/A2ZG1Ld~"}', 'one of the messages wakes the task');
SELECT pg_temp.awaits('m', '{}'), pg_temp.said('victim') \g /dev/null
SELECT is(pg_temp.answered(), 'm 11 messaged {"text": "victim"}', 'and so does the other one');
-- 0.2.0 has noted in another way by which message a task was woken
CREATE FUNCTION pg_temp.unsigned_hash(t text) RETURNS numeric LANGUAGE sql AS $$ SELECT mod(hashtextextended(t COLLATE "C", 0) + 18446744073709551616::numeric, 18446744073709551616) $$;
SELECT clutch.send(clutch.envelope('chat.system', 'agent:orchestrator', '{agent:ui}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'm',
	idempotency_key => format('woken:%s:%s', pg_temp.unsigned_hash('m'), pg_temp.unsigned_hash('msg_former')))) \g /dev/null
SELECT pg_temp.awaits('m', '{"type": "chat.message"}'), pg_temp.said('former') \g /dev/null
SELECT is(pg_temp.answered(), 'nothing', 'it is not woken by that message again');
SELECT pg_temp.said('newer') \g /dev/null
SELECT is(pg_temp.answered(), 'm 12 messaged {"text": "newer"}', 'but by the next one');
SELECT clutch.finish('agent:ken', 'm') \g /dev/null

-- a task that has been woken by many messages
SELECT fixture.agent('patient', 1, '{skill:patient}'), fixture.ask('patient', 'agent:patient', 'skill:patient') \g /dev/null
CREATE PROCEDURE pg_temp.hears(n int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..n LOOP
		PERFORM clutch.claim('agent:patient', 1, '1 h');
		PERFORM clutch.suspend('agent:patient', 'patient', '{"message": {"agent": "agent:patient"}}');
		COMMIT;
		PERFORM clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:patient}', run_id => 'run:1', thread_id => 'thread:1', id => 'msg_heard' || i));
		COMMIT;
	END LOOP;
END $$;
CALL pg_temp.hears(60);
SELECT reason FROM clutch.claim('agent:patient', 1, '1 h') \g /dev/null
CREATE FUNCTION pg_temp.log_scans() RETURNS bigint LANGUAGE sql AS
$$ SELECT coalesce(sum(idx_scan), 0)::bigint FROM pg_stat_xact_user_tables WHERE relid = 'clutch.events'::regclass $$;
BEGIN;
SELECT pg_temp.log_scans() AS scans \gset
SELECT clutch.suspend('agent:patient', 'patient', '{"message": {"agent": "agent:patient"}}') \g /dev/null
SELECT clutch.settle() \g /dev/null
SELECT cmp_ok(pg_temp.log_scans() - :scans, '<', 30::bigint, 'that the task has heard all of them is not looked up for each');
COMMIT;
SELECT is((SELECT status FROM clutch.tasks WHERE task_id = 'patient'), 'suspended', 'and none of them wakes it again');
SELECT clutch.cancel('patient') \g /dev/null

-- ----------------------------------------------- parents that hold their slots
SELECT fixture.agent('one', 1, '{skill:one}') \g /dev/null
SELECT fixture.ask('d', skill => 'skill:one'), clutch.claim('agent:one'), fixture.ask('e', skill => 'skill:one', parent => 'd', more => jsonb_build_object('payload', jsonb_build_object('text', repeat('x', 2000)))) \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', task_id, problem), ', ') FROM clutch.stuck), 'd holds the slot that its subtask needs', 'a parent that holds the only slot is shown');
SET clutch.max_envelope_bytes = '1kB';
SELECT is((SELECT count(*) FROM clutch.stuck), 1::bigint, 'even if a limit was lowered after its subtask was requested');
RESET clutch.max_envelope_bytes;
SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;
SELECT is((SELECT string_agg(task_id, ', ') FROM clutch.stuck), 'd', 'also by a plan that reads the whole log, whose other events have no route');
RESET enable_indexscan; RESET enable_bitmapscan; RESET enable_indexonlyscan;
SELECT matches((SELECT hint FROM clutch.stuck), 'clutch.suspend', 'with the hint to suspend');
SELECT clutch.suspend('agent:one', 'd', '{"children": "all"}') \g /dev/null
SELECT is_empty('SELECT * FROM clutch.stuck', 'when it is suspended, it is not stuck any more');

-- many of them at once
SELECT count(fixture.agent('full' || i, 5, '{skill:full}')) FROM generate_series(1, 4) i \g /dev/null
SELECT count(fixture.ask('full:' || i || '.' || k, 'agent:full' || i, 'skill:full')) FROM generate_series(1, 4) i, generate_series(1, 5) k \g /dev/null
SELECT count(c.task_id) FROM generate_series(1, 4) i, clutch.claim('agent:full' || i, 5) c \g /dev/null
SELECT count(fixture.ask('full:sub' || i || '.' || k, skill => 'skill:full', parent => 'full:' || i || '.' || k)) FROM generate_series(1, 4) i, generate_series(1, 5) k \g /dev/null
SET track_functions = 'all';
BEGIN;
SELECT is((SELECT count(*) FROM clutch.stuck WHERE problem = 'holds the slot that its subtask needs'), 20::bigint, 'all parents that hold their slots are shown');
SELECT is((SELECT calls FROM pg_stat_xact_user_functions WHERE funcname = 'slots_held'), 4::bigint, 'and the slots of each agent are counted once, not for each parent');
COMMIT;
RESET track_functions;
SELECT clutch.finish('agent:full1', 'full:1.1') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.stuck WHERE problem = 'holds the slot that its subtask needs'), 0::bigint, 'none of them is, as soon as one of these agents has another task');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE task_id LIKE 'full:_._' AND finished_at IS NULL \g /dev/null

-- a wake that was settled in a savepoint
SELECT fixture.agent('ear', 1, '{skill:ear}'), fixture.ask('ear', NULL, 'skill:ear') \g /dev/null
SELECT clutch.claim('agent:ear', 1, '1 h') \g /dev/null
SELECT clutch.suspend('agent:ear', 'ear', '{"message": {}}') \g /dev/null
BEGIN;
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', run_id => 'run:1', thread_id => 'thread:1')) \g /dev/null
SAVEPOINT s;
SELECT clutch.settle() \g /dev/null
SELECT is((SELECT status FROM clutch.tasks WHERE task_id = 'ear'), 'assigned', 'a message wakes the task as soon as it is settled');
ROLLBACK TO s;
COMMIT;
SELECT is((SELECT status FROM clutch.tasks WHERE task_id = 'ear'), 'assigned', 'and at commit, if a savepoint has taken that back');

-- tasks that end without a slot, while another one has the only slot
SELECT fixture.agent('odd', 1, '{skill:odd}') \g /dev/null
SELECT fixture.ask('odd' || n, skill => 'skill:odd'), clutch.claim('agent:odd'), clutch.suspend('agent:odd', 'odd' || n, '{"for_ms": 9000000}') FROM generate_series(1, 2) n \g /dev/null
SELECT fixture.ask('odd3', skill => 'skill:odd'), clutch.claim('agent:odd'), clutch.progress('agent:odd', 'odd3', '{"state": "input_required", "question": "?"}') \g /dev/null
SELECT fixture.ask('odd4', skill => 'skill:odd') \g /dev/null
SELECT clutch.fail('agent:odd', 'odd1', 'NO_GOOD', 'no', false), clutch.finish('agent:odd', 'odd2'), clutch.finish('agent:odd', 'odd3') \g /dev/null
SELECT fixture.answers($$SELECT success_rate, running FROM clutch.agents WHERE agent_id = 'agent:odd'$$, 'SELECT 2 / 3.0::double precision, 1', 'the ends of suspended tasks count for the agent, and so does that of one with a question');
SELECT fixture.ask('odd5', skill => 'skill:odd'), fixture.claimed('agent:odd') \g /dev/null
SELECT is((SELECT string_agg(fixture.state('odd' || n), ', ' ORDER BY n) FROM generate_series(4, 5) n), 'running agent:odd 1, pending 1', 'its limit stays');
SELECT clutch.finish('agent:odd', 'odd4') \g /dev/null
SELECT is(fixture.state('odd5'), 'assigned agent:odd 1', 'and so does its slot');
SELECT fixture.answers($$SELECT sum(done), sum(failed) FROM clutch.agent_slot WHERE agent_id = 'agent:odd'$$, 'SELECT 3, 1', 'and all of them have counted');
SELECT is((SELECT count(*) FROM clutch.agent_slot WHERE agent_id = 'agent:odd' AND slot_no < 0), 1::bigint, 'in one row more');

-- what was said when a task was suspended is erased, and its state stays
SELECT clutch.redact(seq, 'test') FROM clutch.events WHERE envelope #> '{meta,clutch,wait}' IS NOT NULL \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE envelope #> '{meta,clutch,wait}' IS NOT NULL AND envelope #> '{payload,page}' IS NOT NULL), 0::bigint, 'the notes are redacted');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT fixture.answers($$SELECT sum(done), sum(failed) FROM clutch.agent_slot WHERE agent_id = 'agent:odd'$$, 'SELECT 3, 1', 'and how the agents have done');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
