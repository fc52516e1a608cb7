-- Who takes part in a run: agents that sent an event of it, were addressed, or have
-- or had a task of it.  Tested as the roles of agents.
\ir ../fixtures/tap.sql
SELECT plan(111);
SET clutch.notify = off;
CREATE ROLE clutch_test_ken LOGIN;
CREATE ROLE clutch_test_lois LOGIN;
CREATE ROLE clutch_test_eve LOGIN;
GRANT USAGE ON SCHEMA public TO PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fixture TO PUBLIC;
SELECT clutch.grant_agent('clutch_test_ken', 'agent:ken'), clutch.grant_agent('clutch_test_lois', 'agent:lois'),
	clutch.grant_agent('clutch_test_eve', 'agent:eve') \g /dev/null
SELECT fixture.agent('ken', 9), fixture.agent('lois', 1, '{skill:y}'), fixture.agent('eve', 9, '{skill:z}') \g /dev/null

-- a message of an agent in a run
CREATE FUNCTION fixture.say(agent text, run text, id text, VARIADIC whom text[] DEFAULT '{agent:orchestrator}') RETURNS text LANGUAGE sql AS $$
	SELECT (clutch.send(clutch.envelope('chat.message', 'agent:' || agent, whom, run_id => run, thread_id => 'thread:1', task_id => 'task:talk', id => 'msg_' || id))).run_id
$$;
CREATE FUNCTION fixture.runs_of(role_name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	runs text;
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', role_name);
	runs := clutch.my_runs()::text;
	RESET ROLE;
	RETURN runs;
END $$;

-- ------------------------------------------------------------ whose runs
SELECT is(fixture.runs_of('clutch_test_ken'), '{}', 'an agent that has only registered takes part in no run');
SELECT fixture.say('ken', 'run:a', 'a1') \g /dev/null
SELECT is(fixture.runs_of('clutch_test_ken'), '{run:a}', 'whoever sends an event takes part in its run');
SELECT is(fixture.runs_of('clutch_test_lois'), '{}', 'and others do not');
SELECT fixture.say('ken', 'run:b', 'b1', 'agent:lois', 'agent:orchestrator', 'topic:news') \g /dev/null
SELECT is(fixture.runs_of('clutch_test_lois'), '{run:b}', 'whoever is addressed takes part in the run');
SELECT is((SELECT string_agg(name || ' ' || run_id, ', ') FROM clutch.participant), 'agent:lois run:b', 'a row says so, and there is none for senders, the orchestrator, and topics');
SELECT fixture.say('ken', 'run:b', 'b2', 'agent:lois'), fixture.say('lois', 'run:b', 'b3', 'agent:ken') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.participant), 1::bigint, 'one row is enough');
SELECT fixture.say('ken', 'run:c', 'c1', 'group:desk') \g /dev/null
SELECT is(fixture.runs_of('clutch_test_eve'), '{}', 'a group that is addressed');
INSERT INTO clutch.group_member VALUES ('group:desk', 'agent:eve');
SELECT is(fixture.runs_of('clutch_test_eve'), '{run:c}', 'takes part by its members');
DELETE FROM clutch.group_member;
SELECT is(fixture.runs_of('clutch_test_eve'), '{}', 'as long as they are members');

SELECT fixture.ask('task:1', skill => 'skill:y', run => 'run:d') \g /dev/null
SELECT is(fixture.runs_of('clutch_test_lois'), '{run:b,run:d}', 'whoever is assigned a task takes part in the run');
SELECT is((SELECT count(*) FROM clutch.participant WHERE run_id = 'run:d'), 0::bigint, 'and needs no row');
SELECT fixture.ask('task:2', skill => NULL, whom => 'agent:eve', run => 'run:e') \g /dev/null
SELECT is(fixture.runs_of('clutch_test_eve'), '{run:e}', 'also by name');
SELECT is((SELECT count(*) FROM clutch.participant WHERE run_id = 'run:e'), 0::bigint, 'which needs no row, either');
SELECT clutch.cancel('task:1') \g /dev/null
SELECT is(fixture.runs_of('clutch_test_lois'), '{run:b,run:d}', 'and whoever had one, though it never claimed it');
SELECT fixture.ask('task:3', skill => NULL, whom => 'agent:nobody', run => 'run:f') \g /dev/null
SELECT is((SELECT string_agg(name, ' ') FROM clutch.participant WHERE run_id = 'run:f'), 'agent:nobody', 'an agent that was asked and has no room yet, too');

-- ------------------------------------------------------------ keeping it right
CREATE TABLE before AS SELECT name, run_id FROM clutch.participant p
WHERE NOT EXISTS (SELECT FROM clutch.events e WHERE e.run_id = p.run_id AND e.from_agent = p.name);
TRUNCATE clutch.participant;
SELECT clutch.rebuild() \g /dev/null
SELECT is_empty($$ TABLE before EXCEPT SELECT name, run_id FROM clutch.participant $$, 'rebuild finds all of them in the log');
SELECT is(fixture.runs_of('clutch_test_lois') || fixture.runs_of('clutch_test_eve'), '{run:b,run:d}{run:e}', 'so the runs are the same');
SELECT clutch.prune(clutch.now() + interval '1 day') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.participant WHERE run_id IN ('run:a', 'run:b', 'run:c', 'run:d')), 0::bigint, 'a run that is pruned has no participants');
-- a run that is pruned in two steps
SELECT fixture.say('ken', 'run:steps', 's1', 'agent:lois'), fixture.say('ken', 'run:bus', 's2', 'agent:lois'), pg_sleep(0.001), clock_timestamp() AS between \gset
SELECT fixture.say('ken', 'run:steps', 's3', 'agent:eve') \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:orchestrator', '{agent:orchestrator}', run_id => 'run:bus')) \g /dev/null
SELECT clutch.prune(:'between') \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', run_id, name), ', ' ORDER BY run_id, name) FROM clutch.participant WHERE run_id IN ('run:steps', 'run:bus')),
	'run:bus agent:ken, run:bus agent:lois, run:steps agent:eve, run:steps agent:lois', 'of a run that is pruned in part, all remain participants');
CREATE TABLE left_behind AS SELECT * FROM clutch.participant WHERE run_id = 'run:steps';
SELECT clutch.prune(clutch.now() + interval '1 day') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.participant WHERE run_id IN ('run:steps', 'run:bus')), 0::bigint, 'and none when the rest is pruned');
INSERT INTO clutch.participant TABLE left_behind;
SELECT clutch.rebuild() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.participant WHERE run_id = 'run:steps'), 0::bigint, 'rebuild removes those of runs that are not in the log');
SELECT is(fixture.runs_of('clutch_test_lois') || fixture.runs_of('clutch_test_eve'), '{}{run:e}', 'while others stay');

-- ------------------------------------------------------- who may write into it
-- "SQLSTATE CODE place" also of a fault of an argument; all words of an error.
CREATE FUNCTION fixture.refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	state text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, state = RETURNED_SQLSTATE;
	detail := nullif(detail, '');
	RETURN concat_ws(' ', state, detail::jsonb -> 0 ->> 'code', detail::jsonb -> 0 ->> 'path', detail::jsonb -> 0 ->> 'argument');
END $$;
CREATE FUNCTION fixture.told(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	detail text;
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'nothing';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' ', message, detail, hint);
END $$;
-- an envelope of an agent about a task
CREATE FUNCTION fixture.about(agent text, type text, task text, run text, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope(type, 'agent:' || agent, run_id => run, thread_id => 'thread:1', task_id => task) || more
$$;
CREATE FUNCTION fixture.asking(agent text, task text, run text, orders jsonb DEFAULT NULL, whom text DEFAULT NULL, parent text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT fixture.request(task, whom, NULL, orders, parent, run) || jsonb_build_object('id', 'msg_' || agent || '_' || task, 'from', jsonb_build_object('agent_id', 'agent:' || agent))
$$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fixture TO PUBLIC;
-- lois asks ken in a run of its own; the second task waits for an answer
SET SESSION AUTHORIZATION clutch_test_lois;
SELECT clutch.send(fixture.asking('lois', 'task:p', 'run:p', whom => 'agent:ken')), clutch.send(fixture.asking('lois', 'task:q', 'run:p', whom => 'agent:ken')) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_ken;
SELECT is(fixture.told($$SELECT fixture.say('ken', 'run:p', 'p0')$$), 'nothing', 'an agent that was given a task may write into the run before it claims');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT clutch.progress('agent:ken', 'task:q', '{"state": "input_required", "question": "which?"}') \g /dev/null

SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is(fixture.fault(format($$SELECT clutch.send(%L)$$, envelope)), '42501 NOT_A_PARTICIPANT /run_id', what || ' is refused')
FROM (VALUES
	('a message into a run of strangers', fixture.about('eve', 'chat.message', 'task:talk', 'run:p')),
	('a decoy with a scope', fixture.asking('eve', 'task:e', 'run:p', '{"scope": "group:evil"}')),
	('a budget of nothing', fixture.asking('eve', 'task:e', 'run:p', '{"budget": {"tokens": 0}}')),
	('a forged child with a join', fixture.asking('eve', 'task:e', 'run:p', '{"join": "all"}', parent => 'task:p')),
	('a task after one of theirs', fixture.asking('eve', 'task:e', 'run:p', '{"after": ["task:p"]}')),
	('a hand-over', fixture.asking('eve', 'task:p', 'run:p', whom => 'agent:eve')),
	('a cancel', fixture.about('eve', 'task.cancel', 'task:p', 'run:p')),
	('a result', fixture.about('eve', 'task.result', 'task:p', 'run:p')),
	('an answer', fixture.about('eve', 'chat.message', 'task:q', 'run:p', '{"meta": {"clutch": {"answer_to": "msg_x"}}}')),
	('a reply', fixture.about('eve', 'chat.message', 'task:talk', 'run:p', '{"meta": {"clutch": {"reply_to": "msg_p0"}}}')),
	('a tool call', fixture.about('eve', 'tool.call', 'task:p', 'run:p', '{"payload": {"tool": "mcp:x", "args": {}}}')),
	('a sign of life', fixture.about('eve', 'agent.heartbeat', 'task:p', 'run:p')),
	('an ID that they have used', fixture.about('eve', 'chat.message', 'task:talk', 'run:p', '{"id": "msg_p0"}')),
	('a key that they may have used', fixture.about('eve', 'chat.message', 'task:talk', 'run:p', '{"idempotency_key": "key"}'))) AS v(what, envelope);
SELECT is(fixture.fault($$INSERT INTO clutch.events (envelope) VALUES (fixture.about('eve', 'chat.message', 'task:talk', 'run:p'))$$), '42501 NOT_A_PARTICIPANT /run_id', 'so is a plain INSERT');
SELECT is(fixture.fault($$SELECT clutch.send_batch(ARRAY[fixture.about('eve', 'task.result', 'task:p', 'run:p'), '{}'])$$), '42501 NOT_A_PARTICIPANT /run_id', 'and a batch');
SELECT unalike(fixture.told($$SELECT fixture.say('eve', 'run:p', 'e1')$$), '%lois%', 'the error says nothing about the run');

-- a task of strangers is the same as none
SELECT is(concat_ws(' ', fixture.refusal(format(call, 'task:p')), fixture.told(format(call, 'task:p'))),
	replace(concat_ws(' ', fixture.refusal(format(call, 'task:none')), fixture.told(format(call, 'task:none'))), 'task:none', 'task:p'), 'a stranger cannot tell a task from none: ' || call)
FROM unnest(ARRAY[$$SELECT clutch.finish('agent:eve', '%s')$$, $$SELECT clutch.fail('agent:eve', '%s', 'X', 'x')$$, $$SELECT clutch.progress('agent:eve', '%s', '{}')$$,
	$$SELECT clutch.report('agent:eve', '%s', 'task.accept')$$, $$SELECT clutch.release('agent:eve', '%s', 1)$$, $$SELECT clutch.cancel('%s')$$, $$SELECT clutch.retry('%s')$$,
	$$SELECT clutch.answer('%s', '{}')$$, $$SELECT clutch.step('agent:eve', '%s', 'a')$$, $$SELECT clutch.suspend('agent:eve', '%s', '{"children": "all"}')$$,
	$$SELECT * FROM clutch.steps('%s')$$, $$SELECT * FROM clutch.result('%s')$$, $$SELECT * FROM clutch.why('%s')$$,
	$$SELECT clutch.envelope('task.request', 'agent:eve', parent_task_id => '%s')$$, $$SELECT clutch.envelope('task.request', 'agent:lois', parent_task_id => '%s')$$,
	$$SELECT clutch.send(fixture.about('eve', 'task.result', '%s', 'run:eve'))$$,
	$$SELECT clutch.finish('agent:lois', '%s')$$, $$SELECT clutch.extend_lease('agent:eve', '%s', 1)$$]) AS call;
SELECT is(fixture.refusal($$SELECT clutch.heartbeat('agent:lois')$$), fixture.refusal($$SELECT clutch.heartbeat('agent:none')$$), 'nor does a sign of life tell whether there is such an agent');
SELECT is(fixture.refusal($$SELECT * FROM clutch.claim('agent:lois')$$), fixture.refusal($$SELECT * FROM clutch.claim('agent:none')$$), 'nor a claim');
SELECT is(fixture.refusal(format($$SELECT clutch.%s('run:p')$$, f)), '42501 NOT_A_PARTICIPANT run_id', 'a run of strangers is not to be steered: ' || f) FROM unnest('{cancel_run,retry_run}'::text[]) f;
-- in a run of its own it may say what it likes, and learns nothing
SELECT is(fixture.told($$SELECT clutch.send(fixture.about('eve', 'chat.message', 'task:q', 'run:eve'))$$), 'nothing', 'a message of another run about a task that has asked is no answer');
SELECT is(fixture.fault(format($$SELECT clutch.send(%L)$$, envelope)), fault, 'a task of strangers is not ' || what)
FROM (VALUES
	('requested again', fixture.asking('eve', 'task:p', 'run:eve'), 'KL004 TASK_IN_OTHER_RUN /task_id'),
	('a parent', fixture.asking('eve', 'task:e2', 'run:eve', parent => 'task:p'), 'KL004 PARENT_IN_OTHER_RUN /parent_task_id'),
	('waited for', fixture.asking('eve', 'task:e3', 'run:eve', '{"after": ["task:p"]}'), 'KL004 TASK_IN_OTHER_RUN /meta/clutch/after')) AS v(what, envelope, fault);
SELECT unalike(fixture.told(format($$SELECT clutch.send(%L)$$, envelope)), '%run:p%', 'and no error names its run')
FROM (VALUES (fixture.asking('eve', 'task:p', 'run:eve')), (fixture.asking('eve', 'task:e2', 'run:eve', parent => 'task:p')),
	(fixture.asking('eve', 'task:e3', 'run:eve', '{"after": ["task:p"]}'))) AS v(envelope);
SELECT clutch.send(fixture.asking('eve', 'task:e4', 'run:eve', '{"after": ["task:later"]}', whom => 'agent:eve')) \g /dev/null
SELECT is(fixture.fault($$SELECT fixture.say('eve', 'run:audit', 'e5')$$), '42501 NOT_A_PARTICIPANT /run_id', 'the run of the audit belongs to operators');
SELECT is(fixture.fault($$SELECT fixture.say('eve', 'run:agents', 'e6')$$), '42501 NOT_A_PARTICIPANT /run_id', 'that of the registry is for events of the registry');
SELECT is(fixture.told($$SELECT clutch.set_status('agent:eve', 'BUSY')$$), 'nothing', 'of which each agent has its own');

-- ------------------------------------------------------------- who else may
SET SESSION AUTHORIZATION clutch_test_lois;
SELECT clutch.send(fixture.asking('lois', 'task:later', 'run:later', whom => 'agent:ken')), clutch.cancel('task:later') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is((SELECT status || ' ' || waiting_for FROM clutch.tasks WHERE task_id = 'task:e4'), 'pending sibling', 'a task of another run is not waited for, even if it was named before it was requested');
RESET SESSION AUTHORIZATION;
SELECT is(fixture.told($$SELECT fixture.say('ui', 'run:p', 'u1', 'agent:eve')$$), 'nothing', 'an operator writes into every run');
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is(fixture.told($$SELECT fixture.say('eve', 'run:p', 'e7')$$), 'nothing', 'whoever is addressed may write into the run');
SELECT is(fixture.refusal($$SELECT clutch.finish('agent:eve', 'task:p')$$), '42501 NOT_ASSIGNED agent_id', 'which makes no task its own');
SELECT is((SELECT status FROM clutch.result('task:p')), 'running', 'but it may ask for the result');
RESET SESSION AUTHORIZATION;
SELECT clutch.grant_agent('clutch_test_eve', 'agent:eve', NULL, '{group:team}') \g /dev/null
SELECT clutch.send(fixture.asking('ui', 'task:s', 'run:s', '{"scope": "group:team"}')), clutch.send(fixture.asking('ui', 'task:t', 'run:t', '{"scope": "group:other"}')) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is(fixture.told($$SELECT fixture.say('eve', 'run:s', 'e8')$$), 'nothing', 'whoever holds the scope of the run may write into it');
SELECT is(fixture.fault($$SELECT fixture.say('eve', 'run:t', 'e9')$$), '42501 NOT_A_PARTICIPANT /run_id', 'whoever holds another scope may not');
RESET SESSION AUTHORIZATION;
SELECT fixture.say('ui', 'run:g', 'g1', 'group:desk') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is(fixture.fault($$SELECT fixture.say('eve', 'run:g', 'e10')$$), '42501 NOT_A_PARTICIPANT /run_id', 'into the run of a group');
SELECT is((SELECT string_agg(id, ' ') FROM clutch.events WHERE run_id = 'run:g'), NULL, 'or read it,');
RESET SESSION AUTHORIZATION;
INSERT INTO clutch.group_member VALUES ('group:desk', 'agent:eve');
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is((SELECT string_agg(id, ' ') FROM clutch.events WHERE run_id = 'run:g'), 'msg_g1', 'only its members may read it,');
SELECT is((SELECT string_agg(e.id, ' ') FROM clutch.events e WHERE e.id LIKE 'msg_g_'), 'msg_g1', 'also where they do not name it,');
SELECT ok('run:g' = ANY (clutch.seen_runs()), 'and have it in the list of their runs;');
SELECT is(fixture.told($$SELECT fixture.say('eve', 'run:g', 'e10')$$), 'nothing', 'only its members may write');

-- ---------------------------------------------------------- what is rolled back
BEGIN;
SELECT fixture.say('eve', 'run:x', 'x1') \g /dev/null
ROLLBACK;
BEGIN;
SELECT fixture.say('eve', 'run:y', 'y0') \g /dev/null
SAVEPOINT s;
SELECT fixture.say('eve', 'run:z', 'z1') \g /dev/null
ROLLBACK TO s;
COMMIT;
BEGIN;
SELECT fixture.say('eve', 'run:w', 'w1') \g /dev/null
PREPARE TRANSACTION 'clutch_test_w';
ROLLBACK PREPARED 'clutch_test_w';
SET SESSION AUTHORIZATION clutch_test_lois;
SELECT fixture.say('lois', 'run:x', 'x2'), fixture.say('lois', 'run:z', 'z2'), fixture.say('lois', 'run:w', 'w2') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is(fixture.fault(format($$SELECT fixture.say('eve', %L, 'x3')$$, run)), '42501 NOT_A_PARTICIPANT /run_id', 'what was rolled back has founded no run: ' || run) FROM unnest('{run:x,run:z,run:w}'::text[]) AS run;
SELECT is(fixture.told($$SELECT fixture.say('eve', 'run:y', 'y1')$$), 'nothing', 'what was committed has');
-- a run that has left the log
SET SESSION AUTHORIZATION clutch_test_lois;
SELECT fixture.say('lois', 'run:v', 'v1') \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT clutch.prune(clutch.now() + interval '1 day') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is(fixture.told($$SELECT fixture.say('eve', 'run:v', 'v2')$$), 'nothing', 'a run that was pruned is open again');
SET SESSION AUTHORIZATION clutch_test_lois;
SELECT is(fixture.fault($$SELECT fixture.say('lois', 'run:v', 'v3')$$), '42501 NOT_A_PARTICIPANT /run_id', 'and belongs to whoever founds it next, also for a session that remembers it otherwise');
RESET SESSION AUTHORIZATION;

-- ------------------------------------------------------------- predictable IDs
CREATE FUNCTION fixture.keyed(agent text) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(v, ' ' ORDER BY k) FROM jsonb_each_text(clutch.envelope('task.request', agent, idempotency_key => 'order 1')) AS e(k, v) WHERE k IN ('id', 'run_id', 'task_id', 'thread_id') $$;
SET SESSION AUTHORIZATION clutch_test_lois;
SELECT is(fixture.keyed('agent:lois'), fixture.keyed('agent:lois'), 'the IDs of a key are always the same');
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is(fixture.refusal($$SELECT fixture.keyed('agent:lois')$$), '42501 NOT_YOUR_AGENT from_agent', 'and only those who speak for the sender learn them');
SELECT is(fixture.refusal($$SELECT clutch.envelope('task.request', 'agent:lois')$$), 'no error', 'an envelope without a key is anybody''s to build');
SELECT is(fixture.refusal($$TABLE clutch.secret$$), '42501', 'the secret is not to be read');
RESET SESSION AUTHORIZATION;
CREATE ROLE clutch_test_desk;
SELECT clutch.grant_reader('clutch_test_desk') \g /dev/null
GRANT SELECT ON clutch.secret TO clutch_test_desk;
SET SESSION AUTHORIZATION clutch_test_desk;
SELECT is((SELECT count(*) FROM clutch.secret), 0::bigint, 'not by a reader, either, even if it was granted');
RESET SESSION AUTHORIZATION;
SELECT is((SELECT string_agg(length(value)::text, ' ') FROM clutch.secret), '32', 'the database has one, of 32 bytes');
SELECT fixture.keyed('agent:lois') AS before \gset
-- a restored database has a younger row of its own
INSERT INTO clutch.secret VALUES (now() + interval '1 day', '\x00');
SELECT is(fixture.keyed('agent:lois'), :'before', 'of several the oldest counts');
UPDATE clutch.secret SET value = '\x0000' WHERE made_at < now();
SELECT isnt(fixture.keyed('agent:lois'), :'before', 'and another one means other IDs');
SELECT is_empty($$SELECT * FROM clutch.check() WHERE code = 'SECRET_NOT_RESTORED'$$, 'a secret that is as old as the log is the right one');
SET SESSION AUTHORIZATION clutch_test_desk;
SELECT is_empty($$SELECT * FROM clutch.check() WHERE code = 'SECRET_NOT_RESTORED'$$, 'also for a reader, who does not see it');
RESET SESSION AUTHORIZATION;
-- in a database that was restored from the dump of a reader, as in one that was updated
UPDATE clutch.secret SET made_at = clock_timestamp();
SELECT is((SELECT count(*) FROM clutch.check() WHERE code = 'SECRET_NOT_RESTORED' AND hint LIKE 'Copy the rows of clutch.secret%'), 1::bigint, 'check() reports one that is younger');
UPDATE clutch.secret SET made_at = '-infinity';
SELECT is_empty($$SELECT * FROM clutch.check() WHERE code = 'SECRET_NOT_RESTORED'$$, 'unless somebody has declared it to be the right one');
DELETE FROM clutch.secret;
SELECT is(fixture.refusal($$SELECT fixture.keyed('agent:lois')$$), '55000', 'without a secret no ID is derived');
SELECT is(fixture.refusal($$SELECT fixture.ask('secretless', NULL, 'skill:none')$$), '55000', 'and nothing can begin to wait for an agent');
SELECT matches((SELECT detail FROM clutch.check() WHERE code = 'SECRET_NOT_RESTORED'), 'has no row', 'which check() reports');
SET SESSION AUTHORIZATION clutch_test_desk;
SELECT is_empty($$SELECT * FROM clutch.check() WHERE code = 'SECRET_NOT_RESTORED'$$, 'but not to those who would not see a row');
RESET SESSION AUTHORIZATION;
INSERT INTO clutch.secret VALUES (now(), '\x01');
-- the IDs of a schedule
SET SESSION AUTHORIZATION clutch_test_lois;
SELECT clutch.schedule('nightly', '@daily', clutch.envelope('chat.message', 'agent:lois') - 'run_id' - 'thread_id' - 'task_id') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_eve;
SELECT is((SELECT count(*) FROM clutch.schedules), 0::bigint, 'the schedules of others are not seen');
SELECT lives_ok($$SELECT clutch.schedule('nightly', '@daily', clutch.envelope('chat.message', 'agent:eve') - 'run_id' - 'thread_id' - 'task_id')$$, 'and do not take a name away');
RESET SESSION AUTHORIZATION;
UPDATE clutch.schedule SET next_at = '2026-01-01';
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE id LIKE 'msg:nightly@2026-01-01%'), 2::bigint, 'both are sent');
SELECT is((SELECT count(DISTINCT v) FROM clutch.events, unnest(ARRAY[id, run_id, task_id, thread_id]) v WHERE id LIKE 'msg:nightly@2026-01-01%'), 8::bigint, 'and have no ID in common');
SELECT * FROM finish();
DROP OWNED BY clutch_test_ken, clutch_test_lois, clutch_test_eve, clutch_test_desk CASCADE;
DROP ROLE clutch_test_ken, clutch_test_lois, clutch_test_eve, clutch_test_desk;
