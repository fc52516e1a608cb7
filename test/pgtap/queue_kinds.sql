-- Tasks of another requester that wait with many kinds of requirements cost an
-- agent that can do none of them nothing.
\ir ../fixtures/tap.sql
SELECT plan(27);
SET clutch.notify = off;
SET clutch.heartbeat_interval = 0;

SELECT fixture.agent('ken') \g /dev/null
SELECT fixture.ask('t' || n, NULL, 'skill:' || n) FROM generate_series(1, 300) n \g /dev/null
SELECT is((SELECT count(*) FROM clutch.tasks WHERE status = 'pending'), 300::bigint, '300 tasks of 300 kinds wait');
-- the first call of a session reads more than the others
SELECT clutch.claim('agent:ken') \g /dev/null

CREATE VIEW pg_temp.reads AS
	SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) AS n FROM pg_index WHERE indrelid IN ('clutch.waiting'::regclass, 'clutch.task'::regclass);
BEGIN;
SELECT coalesce(n, 0) AS before FROM pg_temp.reads \gset
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken')), 0::bigint, 'a claim of an agent that can do none of them finds nothing');
SELECT cmp_ok(n - :before, '<=', 20::numeric, 'and reads a few rows, not one of each kind') FROM pg_temp.reads;
COMMIT;

-- ------------------------------------------------- how many kinds there are
BEGIN;
SELECT pg_stat_get_xact_numscans('clutch.waiting_from_agent'::regclass) AS before \gset
SELECT fixture.ask('t301', NULL, 'skill:301') \g /dev/null
SELECT cmp_ok(pg_stat_get_xact_numscans('clutch.waiting_from_agent'::regclass) - :before, '<=', 5::bigint, 'another kind is counted without a scan for each of the others');
COMMIT;
SET clutch.max_waiting_kinds = 304;
SELECT fixture.ask(kind || n, NULL, 'skill:' || kind) FROM unnest('{a,b,c}'::text[]) kind, generate_series(1, 40) n \g /dev/null
SELECT is(fixture.fault($$SELECT fixture.ask('d', NULL, 'skill:d')$$), '54000 TOO_MANY_KINDS /requires', 'so are kinds of many tasks');
SELECT is(fixture.state('c40'), 'pending 1', 'the last kind below the limit may wait');
SELECT lives_ok($$SELECT fixture.ask('a41', NULL, 'skill:a')$$, 'and there is room for one task more of a kind that waits');

-- what waits for time, or for other tasks, is counted when it begins to wait for an agent
SET clutch.max_waiting_kinds = 307;
CREATE FUNCTION pg_temp.later(seconds integer) RETURNS text LANGUAGE sql AS $$ SELECT to_char((now() + seconds * interval '1 s') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') $$;
SELECT fixture.ask('h' || n, NULL, 'skill:h' || n, jsonb_build_object('not_before', pg_temp.later(60))) FROM generate_series(1, 5) n \g /dev/null
SELECT set_config('clutch.clock', pg_temp.later(90), false) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(DISTINCT kind) FROM clutch.waiting), 307::bigint, 'held requests take no more kinds than are left when their time comes');
SELECT fixture.answers($$SELECT status, code, count(*) FROM clutch.tasks WHERE task_id LIKE 'h_' GROUP BY 1, 2 ORDER BY 1$$, $$VALUES ('failed', 'TOO_MANY_KINDS', 2::bigint), ('pending', 'NO_CAPABLE_AGENT', 3)$$, 'and the others fail');
SELECT is((SELECT DISTINCT detail FROM clutch.tasks WHERE code = 'TOO_MANY_KINDS'), 'requests of "agent:ui" are waiting for agents in 307 different ways, which is the limit', 'which says why');
SELECT fixture.ask('i', NULL, 'skill:a', jsonb_build_object('not_before', pg_temp.later(120))), set_config('clutch.clock', pg_temp.later(150), false) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.state('i'), 'pending 1', 'one of a kind that waits may wait');
RESET clutch.clock;
SELECT fixture.ask('first', 'agent:ken', NULL), fixture.ask('j', NULL, 'skill:j', fixture.after('first')), clutch.claim('agent:ken') \g /dev/null
SELECT clutch.finish('agent:ken', 'first') \g /dev/null
SELECT is((SELECT code FROM clutch.tasks WHERE task_id = 'j'), 'TOO_MANY_KINDS', 'nor may one that has waited for another task');

-- what an open transaction has put there counts as well
SET clutch.max_waiting_kinds = 3;
BEGIN;
SELECT clutch.send(clutch.envelope('task.request', 'agent:q0', requires => ARRAY['skill:o' || n], run_id => 'run:open', thread_id => 'thread:1')) FROM generate_series(1, 3) n \g /dev/null
PREPARE TRANSACTION 'open';
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('task.request', 'agent:q0', requires => '{skill:o4}', run_id => 'run:o4', thread_id => 'thread:1'))$$),
	'54000 TOO_MANY_KINDS /requires', 'there is no room beside an open transaction that has used it up');
SELECT lives_ok($$SELECT clutch.send(clutch.envelope('task.request', 'agent:q0', requires => '{skill:o3}', run_id => 'run:o3', thread_id => 'thread:1'))$$,
	'except for a kind that it has put there, too');
ROLLBACK PREPARED 'open';

-- what a rule adds counts for the sender of the event
CREATE FUNCTION pg_temp.says(who text, what jsonb, kind text DEFAULT 'chat.message') RETURNS void LANGUAGE sql AS
$$ SELECT clutch.send(clutch.envelope(kind, who, NULL, what, run_id => 'run:' || who, thread_id => 'thread:1')) $$;
CREATE FUNCTION pg_temp.waiting_of(who text) RETURNS bigint LANGUAGE sql AS $$ SELECT count(DISTINCT kind) FROM clutch.waiting WHERE from_agent = who $$;
INSERT INTO clutch.routing_rule (name, type, emit) VALUES ('needs', 'chat.message', '{"each": "$.payload.need[*]", "requires": ["$.item"], "payload": {"then": "$.payload.then"}}'),
	('then', 'task.request', '{"each": "$.payload.then[*]", "requires": ["$.item"]}');
SET client_min_messages = error;
SELECT pg_temp.says('agent:q1', '{"need": ["skill:k1", "skill:k2", "skill:k3", "skill:k4"]}'), fixture.settle() \g /dev/null
SELECT is(pg_temp.waiting_of('agent:q1'), 3::bigint, 'one sender can have no more kinds through a rule than by its own requests');
SELECT pg_temp.says('agent:q2', '{"need": ["skill:mine"], "then": ["skill:mine2"]}'), fixture.settle() \g /dev/null
SELECT is(pg_temp.waiting_of('agent:q2'), 2::bigint, 'which is no loss to another one, also for what a second rule adds to the request of the first');
RESET client_min_messages;
SELECT is(pg_temp.waiting_of('agent:orchestrator'), 0::bigint, 'and nothing of that counts for the orchestrator');
CREATE TEMP TABLE before AS SELECT task_id, from_agent FROM clutch.waiting;
SELECT fixture.ask('urgent_' || task_id, 'agent:ken', NULL, '{"priority": 4}' || fixture.after(task_id), run => run_id) FROM clutch.waiting WHERE from_agent = 'agent:q2' \g /dev/null
SELECT is((SELECT max(urgency) FROM clutch.waiting WHERE from_agent = 'agent:q2'), 0::smallint, 'tasks that others wait for become more urgent');
SELECT fixture.answers('SELECT task_id, from_agent FROM clutch.waiting ORDER BY 1', 'SELECT * FROM before ORDER BY 1', 'and count for the same agent');
SELECT clutch.rebuild() \g /dev/null
SELECT fixture.answers('SELECT task_id, from_agent FROM clutch.waiting ORDER BY 1', 'SELECT * FROM before ORDER BY 1', 'so does every task after a rebuild');
DELETE FROM clutch.routing_rule;

SELECT fixture.agent('w0', 9, '{skill:w}'), fixture.agent('w1', 1, '{skill:w}'), fixture.ask('w1_busy', 'agent:w1', NULL) \g /dev/null
INSERT INTO clutch.routing_rule (name, words, send_to) VALUES ('w0', '{zero}', 'agent:w0'), ('w1', '{one}', 'agent:w1');
INSERT INTO clutch.routing_rule (name, words, emit) VALUES ('both', '{both}', '{"to": "matched", "payload": "$.payload"}');
SELECT clutch.send(clutch.envelope('task.request', 'agent:q3', payload => '{"text": "zero one both"}', run_id => 'run:q3', thread_id => 'thread:1', task_id => 'shared')) \g /dev/null
SELECT is(pg_temp.waiting_of('agent:q3'), 1::bigint, 'the children of a shared request count for its sender');
DELETE FROM clutch.routing_rule;
-- ------------------------------------------------------------- dead entries
-- Rows that this open transaction has removed stay in the index.  An agent that
-- takes one task after the other reads past them only now and then, and still
-- sees at once what has come with other requirements.
CREATE FUNCTION pg_temp.trips(n integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	done text;
	task text;
BEGIN
	FOR i IN 1 .. n LOOP
		SELECT task_id INTO task FROM clutch.claim('agent:sam');
		PERFORM clutch.finish('agent:sam', task);
		PERFORM clutch.settle();
		done := concat_ws(' ', done, task);
	END LOOP;
	RETURN done;
END $$;
RESET clutch.max_waiting_kinds;
BEGIN;
SELECT fixture.agent('sam', 1, '{skill:s,skill:z}') \g /dev/null
SELECT fixture.ask('s' || n, NULL, 'skill:s') FROM generate_series(1, 3100) n \g /dev/null
SELECT clutch.cancel('s' || n) FROM generate_series(2, 3001) n \g /dev/null
SELECT is(pg_temp.trips(2), 's1 s3002', 'an agent takes what is left of a kind');
SELECT n AS before FROM pg_temp.reads \gset
SELECT pg_temp.trips(20) \g /dev/null
SELECT cmp_ok(n - :before, '<=', 20000::numeric, 'and does not read past 3000 dead entries for each task') FROM pg_temp.reads;
-- what has come with an urgency that had no tasks, and gone again
SELECT fixture.ask('u' || n, NULL, 'skill:s', '{"priority": 4}') FROM generate_series(1, 100) n \g /dev/null
SELECT clutch.cancel('u' || n) FROM generate_series(1, 100) n \g /dev/null
SELECT n AS before FROM pg_temp.reads \gset
SELECT is(pg_temp.trips(20), (SELECT string_agg('s' || n, ' ' ORDER BY n) FROM generate_series(3023, 3042) n), 'tasks that were cancelled are passed over');
SELECT cmp_ok(n - :before, '<=', 1000::numeric, 'but not again for each task') FROM pg_temp.reads;
SELECT is(fixture.claimed('agent:sam'), 's3043 1 new', 'the agent is at work');
SELECT fixture.ask('z1', NULL, 'skill:z', '{"priority": 4}'), clutch.settle() \g /dev/null
SELECT clutch.finish('agent:sam', 's3043'), clutch.settle() \g /dev/null
SELECT is(fixture.state('z1'), 'assigned agent:sam 1', 'a task of a new kind is given to the agent when it is free again');
COMMIT;
SELECT * FROM finish();
