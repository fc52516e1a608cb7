-- A run goes into another database with all its events, as history: its tasks
-- are known there, and nothing happens because of them.
\ir ../fixtures/tap.sql
SELECT plan(51);

SELECT set_config('clutch.notify', 'off', false) \g /dev/null
SELECT fixture.at(0) \g /dev/null
CREATE FUNCTION pg_temp.say(id text, run text DEFAULT 'run:1', task text DEFAULT 'a') RETURNS void LANGUAGE sql AS
$$ SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', id => id, run_id => run, thread_id => 'thread:1', task_id => task)) $$;
CREATE FUNCTION pg_temp.history() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg((to_jsonb(e) - '{seq,xid,epoch}'::text[])::text, E'\n' ORDER BY e.seq) FROM clutch.replay('run:1') e
$$;
CREATE FUNCTION pg_temp.tasks() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg((to_jsonb(t) - '{request_seq,result_seq,progress_seq,question_seq,answer_seq,joined_seq,revived_seq}'::text[])::text, E'\n' ORDER BY task_id) FROM clutch.task t
$$;
CREATE FUNCTION pg_temp.rest() RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(E'\n', (SELECT string_agg(d::text, ' ' ORDER BY d) FROM clutch.dependency d), (SELECT string_agg(s::text, ' ' ORDER BY s) FROM clutch.run_scope s),
		(SELECT string_agg((to_jsonb(b) - 'seq')::text, ' ') FROM clutch.budget b), (SELECT string_agg(c::text, ' ' ORDER BY c) FROM clutch.costs c))
$$;

-- ------------------------------------------------------------ a run with a past
SELECT fixture.agent('ken', 20, more => '{"scopes": ["group:a"]}'), fixture.agent('lois', 20, '{skill:y}', more => '{"scopes": ["group:a"]}') \g /dev/null
SELECT fixture.ask('a', orders => '{"scope": "group:a", "budget": {"tokens": 900}, "join": "all", "retry": {"max": 1, "initial_ms": 0}}') \g /dev/null
SELECT fixture.ask('b', parent => 'a'), fixture.ask('c', parent => 'a', skill => 'skill:y'), fixture.ask('d', parent => 'b', orders => '{"priority": 4}') \g /dev/null
SELECT fixture.ask('e', orders => fixture.after('b', 'c')) \g /dev/null
SELECT fixture.ask('n', skill => 'skill:none') \g /dev/null
SELECT fixture.claimed('agent:ken'), fixture.claimed('agent:lois') \g /dev/null
SELECT pg_temp.say('msg_talk') \g /dev/null
SELECT clutch.progress('agent:ken', 'b', '{"state": "input_required", "question": "well?"}', 1, usage => '{"input_tokens": 5, "cost": 0.25}') \g /dev/null
SELECT clutch.answer('b', '{"yes": 1}') \g /dev/null
SELECT fixture.claimed('agent:ken') \g /dev/null
SELECT clutch.finish('agent:ken', 'b', '{"text": "b"}', usage => '{"output_tokens": 7}'), clutch.finish('agent:lois', 'c', '{"text": "c"}'), clutch.fail('agent:ken', 'd', 'NO_GOOD', 'not good', false) \g /dev/null
SELECT clutch.fail('agent:ken', 'a', 'TIMEOUT', 'again') \g /dev/null
SELECT fixture.at(10) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT fixture.claimed('agent:ken') \g /dev/null
SELECT clutch.finish('agent:ken', 'a'), clutch.finish('agent:ken', 'e') \g /dev/null
SELECT clutch.finish('agent:ken', 'a', attempt => 1) \g /dev/null
CREATE TEMP TABLE live AS SELECT row_number() OVER () AS no, line FROM clutch.export('run:1') line;
SELECT clutch.cancel('n', 'enough') \g /dev/null
SELECT is((SELECT string_agg(task_id || ' ' || status, ', ' ORDER BY task_id) FROM clutch.tasks), 'a completed, b completed, c completed, d failed, e completed, n cancelled', 'a run with many ends');
SELECT is((SELECT count(*) FROM clutch.events WHERE late), 1::bigint, 'and a late report');

-- -------------------------------------------------------------------- export
CREATE TEMP TABLE lines AS SELECT row_number() OVER () AS no, line FROM clutch.export('run:1') line;
CREATE TEMP TABLE original AS SELECT pg_temp.history() AS history, pg_temp.tasks() AS tasks, pg_temp.rest() AS rest,
	(SELECT string_agg(t::text, E'\n') FROM clutch.task_tree('run:1') t) AS tree, (SELECT payload FROM clutch.result('b')) AS result, clutch.run_graph('run:1') AS graph;
SELECT is((SELECT count(*) FROM lines), (SELECT count(*) + 1 FROM clutch.events WHERE run_id = 'run:1'), 'there is a line for each event, and a first one');
SELECT is((SELECT line::jsonb - 'exported_at' FROM lines WHERE no = 1), jsonb_build_object('clutch_export', 1, 'run_id', 'run:1', 'events', (SELECT count(*) - 1 FROM lines), 'version', clutch.version()), 'which says what follows');
SELECT is((SELECT count(*) FROM clutch.export('run:none')), 0::bigint, 'of an unknown run there are no lines');
CREATE ROLE tap_export;
GRANT USAGE ON SCHEMA clutch TO tap_export;
GRANT EXECUTE ON FUNCTION clutch.export, clutch.import, clutch.now, clutch.version TO tap_export;
SET ROLE tap_export;
SELECT throws_ok($$SELECT * FROM clutch.export('run:1')$$, '42501', NULL, 'who may not read the log does not export it');
RESET ROLE;
SELECT clutch.grant_reader('tap_export') \g /dev/null
SET ROLE tap_export;
SELECT is((SELECT count(*) FROM clutch.export('run:1')), (SELECT count(*) FROM clutch.events WHERE run_id = 'run:1') + 1, 'a reader does');
RESET ROLE;

-- ------------------------------------------------------------ another database
DROP EXTENSION clutch;
CREATE EXTENSION clutch;
SELECT fixture.agent('ken', 20), clutch.subscribe('all', '{}', 'now') \g /dev/null
SELECT fixture.ask('own', run => 'run:own') \g /dev/null
CREATE TEMP TABLE slots AS SELECT agent_id, slot_no, task_id, chosen_seq, done, failed FROM clutch.agent_slot;
SELECT is(clutch.import((SELECT array_agg(line ORDER BY no) FROM lines)), (SELECT count(*) - 1 FROM lines), 'import returns how many events it has brought');
SELECT is(pg_temp.history(), (SELECT history FROM original), 'they are as they were, but for seq, xid and epoch');
SELECT is((SELECT string_agg(t.line, E'\n') FROM (SELECT (to_jsonb(t) - '{request_seq,result_seq,progress_seq,question_seq,answer_seq,joined_seq,revived_seq}'::text[])::text AS line FROM clutch.task t WHERE run_id = 'run:1' ORDER BY task_id) t),
	(SELECT tasks FROM original), 'so are the tasks');
SELECT is(pg_temp.rest(), (SELECT rest FROM original), 'the edges, the scope, the budget and the costs');
SELECT is((SELECT string_agg(t::text, E'\n') FROM clutch.task_tree('run:1') t), (SELECT tree FROM original), 'task_tree shows them');
SELECT is((SELECT payload FROM clutch.result('b')), (SELECT result FROM original), 'result has what was found');
SELECT is(clutch.run_graph('run:1'), (SELECT graph FROM original), 'run_graph is the same');
SELECT is((SELECT status FROM clutch.runs WHERE run_id = 'run:1'), 'failed', 'the run is over');
SELECT is_empty($$SELECT task_id FROM clutch.ready WHERE task_id <> 'own' UNION ALL SELECT task_id FROM clutch.waiting UNION ALL SELECT task_id FROM clutch.question UNION ALL SELECT task_id FROM clutch.timer WHERE task_id <> 'own'$$,
	'none of its tasks is in a queue');
SELECT set_eq('SELECT agent_id, slot_no, task_id, chosen_seq, done, failed FROM clutch.agent_slot', 'SELECT * FROM slots', 'nothing counts for an agent here');
SELECT is((SELECT count(*) FROM clutch.agent_failure) + (SELECT count(*) FROM clutch.consequence), 0::bigint, 'neither failures nor consequences');
SELECT fixture.answers($$SELECT payload_type, envelope #>> '{payload,run_id}', (envelope #>> '{payload,events}')::bigint FROM clutch.events WHERE run_id = 'run:audit'$$,
	$$SELECT 'audit.imported', 'run:1', count(*) - 1 FROM lines$$, 'an event tells of the import');
SELECT is(fixture.claimed('agent:ken'), 'own 1 new', 'an agent that claims gets nothing of it');
SELECT clutch.finish('agent:ken', 'own') \g /dev/null
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT is((SELECT string_agg(concat_ws(' ', agent_id, done, failed), ', ') FROM clutch.agent_slot), 'agent:ken 1 0', 'and counts for the agent only what it did here');
SELECT is_empty('SELECT * FROM clutch.check()', 'check() finds nothing');
SELECT is((SELECT count(*) FROM clutch.read('all', 1000) WHERE run_id = 'run:1'), (SELECT count(*) - 1 FROM lines), 'who reads the log gets the events');
SELECT is((SELECT count(*) FROM (SELECT seq, lag(received_at) OVER (ORDER BY seq) AS before, received_at FROM clutch.replay('run:1')) x WHERE received_at < before), 0::bigint, 'they are in their order');

-- -------------------------------------------------------------------- again
CREATE TEMP TABLE now AS SELECT count(*) AS events FROM clutch.events;
SELECT is(clutch.import((SELECT array_agg(line ORDER BY no) FROM lines)), 0::bigint, 'importing it again is harmless');
SELECT is((SELECT count(*) FROM clutch.events), (SELECT events FROM now), 'and writes nothing');
SELECT throws_ok($$SELECT clutch.import((SELECT array_agg(CASE WHEN no = 2 THEN replace(line, '"q": 1', '"q": 2') ELSE line END ORDER BY no) FROM lines))$$, 'KL004',
	'run "run:1" exists, and does not have the event in line 2', 'the same run with other events is refused');
SELECT is((SELECT duplicate FROM fixture.ask('a', orders => '{"scope": "group:a", "budget": {"tokens": 900}, "join": "all", "retry": {"max": 1, "initial_ms": 0}}')), true, 'a resend of what was imported is a duplicate');
SELECT is((SELECT late FROM clutch.finish('agent:ken', 'e', '{"again": 1}')), true, 'and a report on one of its tasks is late');
CREATE TEMP TABLE costs AS SELECT * FROM clutch.costs;
SELECT count(*) FROM clutch.read('all', 1000) \g /dev/null
SELECT clutch.unsubscribe('all') \g /dev/null
SELECT clutch.prune('infinity') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.task), 0::bigint, 'an imported run can be pruned');
SELECT set_eq('SELECT * FROM clutch.costs', 'SELECT * FROM costs', 'its costs stay');
SELECT is(clutch.import((SELECT array_agg(line ORDER BY no) FROM lines)), (SELECT count(*) - 1 FROM lines), 'and it can be imported again');
SELECT set_eq('SELECT * FROM clutch.costs', 'SELECT * FROM costs', 'without costing twice');
SELECT clutch.prune('infinity') \g /dev/null
-- the run begins again after it has been pruned, and goes once more
SELECT fixture.ask('later') \g /dev/null
SELECT fixture.claimed('agent:ken') \g /dev/null
SELECT clutch.finish('agent:ken', 'later', usage => '{"input_tokens": 40, "cost": 0.5}') \g /dev/null
CREATE TEMP TABLE later_lines AS SELECT row_number() OVER () AS no, line FROM clutch.export('run:1') line;
CREATE TEMP TABLE later_costs AS SELECT * FROM clutch.costs;
SELECT clutch.prune('infinity') \g /dev/null
SELECT clutch.import((SELECT array_agg(line ORDER BY no) FROM later_lines)) \g /dev/null
SELECT set_eq('SELECT * FROM clutch.costs', 'SELECT * FROM later_costs', 'what was spent before the imported run began stays');
SELECT clutch.prune('infinity') \g /dev/null
SELECT clutch.import((SELECT array_agg(line ORDER BY no) FROM lines)) \g /dev/null
SELECT set_eq('SELECT * FROM clutch.costs', 'SELECT * FROM later_costs', 'and so does what was spent after it was exported');
SELECT clutch.prune('infinity') \g /dev/null
DELETE FROM clutch.spending_total;
SELECT clutch.import((SELECT array_agg(line ORDER BY no) FROM lines)) \g /dev/null
SELECT set_eq('SELECT * FROM clutch.costs', 'SELECT * FROM costs', 'and nothing can be below zero');
SELECT clutch.prune('infinity') \g /dev/null

-- ------------------------------------------------------------- what is refused
SELECT throws_ok($$SELECT clutch.import((SELECT array_agg(line ORDER BY no) FROM live))$$, 'KL004', 'run "run:1" was exported while some of its tasks were not over', 'a run that was not over');
SELECT throws_ok($$SELECT clutch.import((SELECT array_agg(CASE WHEN no = 3 THEN 'garbage' ELSE line END ORDER BY no) FROM lines))$$, '22023', NULL, 'a line that is not JSON');
SELECT throws_like($$SELECT clutch.import((SELECT array_agg(CASE WHEN no = 3 THEN '[1]' ELSE line END ORDER BY no) FROM lines))$$, 'line 3 is not a line of an export:%', 'or no object: with its number');
SELECT throws_like($$SELECT clutch.import((SELECT array_agg(CASE WHEN no = 4 THEN jsonb_set(line::jsonb, '{envelope,type}', '"task.dance"')::text ELSE line END ORDER BY no) FROM lines))$$, 'envelope in line 4 is not valid at%', 'an envelope that is not valid');
SELECT throws_like($$SELECT clutch.import((SELECT array_agg(CASE WHEN no = 5 THEN jsonb_set(line::jsonb, '{envelope,run_id}', '"run:2"')::text ELSE line END ORDER BY no) FROM lines))$$, 'line 5 %another run', 'an event of another run');
SELECT throws_like($$SELECT clutch.import((SELECT array_agg(line ORDER BY no) FROM lines WHERE no <> 7))$$, 'line % announces %', 'lines that are missing');
SELECT throws_like($$SELECT clutch.import((SELECT array_agg(CASE WHEN no = 6 THEN (SELECT l.line FROM lines l WHERE l.no = 5) ELSE line END ORDER BY no) FROM lines))$$, 'line 6 %earlier line', 'a line that is there twice');
SELECT throws_like($$SELECT clutch.import('{}')$$, 'line 1 %', 'no line at all');
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:1'), 0::bigint, 'nothing of these was imported');
SELECT fixture.ask('b', run => 'run:2') \g /dev/null
SELECT throws_like($$SELECT clutch.import((SELECT array_agg(line ORDER BY no) FROM lines))$$, 'task "b" of line % belongs to run "run:2" here', 'a task that exists in another run');
SELECT clutch.grant_reader('tap_export') \g /dev/null
GRANT EXECUTE ON FUNCTION clutch.import TO tap_export;
GRANT ALL ON clutch.events TO tap_export;
SET ROLE tap_export;
SELECT throws_ok($$SELECT clutch.import('{}')$$, '42501', 'only an operator may import a run', 'and a role that is not an operator');
RESET ROLE;

-- an import is not judged, but may not put a task where nobody finds it
SELECT clutch.import(ARRAY(
	SELECT jsonb_build_object('events', 3, 'run_id', 'run:odd', 'version', '0.3.0', 'exported_at', '2026-01-01T00:00:00Z', 'clutch_export', 1)::text
	UNION ALL
	SELECT jsonb_build_object('seq', e.seq, 'late', false, 'scope', NULL, 'judged', true, 'attempt', 1, 'received_at', '2026-01-01T00:00:00Z', 'envelope',
		jsonb_build_object('v', 'clutch/0.1', 'id', 'msg_odd' || e.seq, 'ts', '2026-01-01T00:00:00Z', 'run_id', 'run:odd', 'thread_id', 'thread:1', 'task_id', 'task:odd',
			'type', e.type, 'from', jsonb_build_object('agent_id', e.sender), 'to', '[{"agent_id": "agent:orchestrator"}]'::jsonb, 'payload', e.payload, 'attempt', 1,
			'requires', CASE WHEN e.seq = 1 THEN '["skill:odd"]'::jsonb END))::jsonb::text
	FROM (VALUES (1, 'task.request', 'agent:ui', '{}'::jsonb), (2, 'routing.decision', 'agent:orchestrator', '{"selected": "agent:odd", "priority": -30000}'),
		(3, 'task.error', 'agent:odd', '{"code": "BOOM", "message": "x", "retryable": false}')) AS e(seq, type, sender, payload))) \g /dev/null
SELECT clutch.retry('task:odd') \g /dev/null
SELECT is((SELECT priority FROM clutch.tasks WHERE task_id = 'task:odd'), 2::smallint, 'a priority that is none is ignored');

-- which events were imported is found by a hash of their run, under which nobody can put another run
CREATE TEMP TABLE twin AS SELECT 'run:of_other_database_01' AS imported, 'run:cvbkkrtuc4AJb_kXpqbY' AS own;
SELECT is((SELECT hashtextextended(imported COLLATE "C", 0) FROM twin), (SELECT hashtextextended(own COLLATE "C", 0) FROM twin), 'two runs with one hash');
BEGIN;
SELECT clutch.import(ARRAY[
	jsonb_build_object('events', 1, 'run_id', imported, 'version', '0.3.0', 'exported_at', '2026-01-01T00:00:00Z', 'clutch_export', 1)::text,
	jsonb_build_object('seq', 1, 'late', false, 'scope', NULL, 'judged', true, 'attempt', 1, 'received_at', '2026-01-01T00:00:00Z', 'envelope',
		clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', run_id => imported, id => 'msg_of_other', deadline => '1 day'))::text]) FROM twin \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', run_id => own, id => 'msg_of_own', deadline => '1 day')) FROM twin \g /dev/null
COMMIT;
SELECT clutch.rebuild() \g /dev/null
SELECT is((SELECT string_agg(id, ' ') FROM clutch.expiry WHERE id LIKE 'msg\_of\_%'), 'msg_of_own', 'only what was imported is not waited for after a rebuild');

SELECT * FROM finish();
DROP OWNED BY tap_export; DROP ROLE tap_export;
