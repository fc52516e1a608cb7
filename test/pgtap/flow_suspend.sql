-- A task waits without a slot: for its children, or a time.
\ir ../fixtures/tap.sql
SELECT plan(38);
SET clutch.notify = off;
SET clutch.default_deadline = 0;
SET timezone = 'UTC';

CREATE FUNCTION pg_temp.fault(statement text) RETURNS text LANGUAGE sql AS $$ SELECT fixture.fault(statement) $$;
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
SELECT is((SELECT late FROM clutch.suspend('agent:ken', 'p', '{"children": "all"}', '{"page": 3}', 1)), false, 'it suspends the parent');
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

SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
