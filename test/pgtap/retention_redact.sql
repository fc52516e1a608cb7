-- The content of one event is erased: from the log, from the state, from what
-- readers get; everything else, and what a rebuild makes of it, stays.
\ir ../fixtures/tap.sql
SELECT plan(54);

SELECT set_config('clutch.notify', 'off', false) \g /dev/null
SELECT fixture.at(0) \g /dev/null
SELECT fixture.agent('ken', 20, '{skill:x, tool:x}') \g /dev/null

CREATE FUNCTION pg_temp.payload(which bigint) RETURNS jsonb LANGUAGE sql AS
$$ SELECT envelope -> 'payload' FROM clutch.events WHERE seq = which $$;
CREATE FUNCTION pg_temp.digest(payload jsonb) RETURNS text LANGUAGE sql AS
$$ SELECT encode(sha256(convert_to(payload::text, 'UTF8')), 'hex') $$;
-- all rows of the schema that contain the word, but for the lists of grants, which name tables and functions
CREATE FUNCTION pg_temp.finds(word text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	member text;
	n bigint;
	found text[] := '{}';
BEGIN
	FOR member IN SELECT oid::regclass FROM pg_class WHERE relnamespace = 'clutch'::regnamespace AND relkind IN ('r', 'v')
			AND relname NOT LIKE '%\_grants' ORDER BY relname LOOP
		EXECUTE format('SELECT count(*) FROM %s t WHERE t::text LIKE ''%%'' || $1 || ''%%''', member) INTO n USING word;
		IF n > 0 THEN
			found := found || member;
		END IF;
	END LOOP;
	RETURN array_to_string(found, ' ');
END $$;

-- --------------------------------------------------------- what is in an event
SELECT seq AS request FROM fixture.ask('a', more => '{"payload": {"name": "hushed"}, "attachments": [{"kind": "file", "ref": "artifact:hushed"}], "meta": {"mine": "hushed", "clutch": {"priority": 3}}}') \gset
SELECT is(pg_temp.finds('hushed'), 'clutch.events', 'the log has the secret');
SELECT pg_temp.digest(pg_temp.payload(:request)) AS digest \gset
CREATE TEMP TABLE before AS SELECT * FROM clutch.events;
SELECT clutch.redact(:request, 'erasure request 17') \g /dev/null
SELECT is(pg_temp.finds('hushed'), '', 'and then it is nowhere');
SELECT is(pg_temp.payload(:request), jsonb_build_object('redacted', jsonb_build_object('sha256', :'digest', 'reason', 'erasure request 17')),
	'the payload is its digest and the reason');
SELECT is((SELECT envelope -> 'meta' FROM clutch.events WHERE seq = :request), '{"clutch": {"priority": 3}}', 'of meta, what the database obeys is left');
SELECT is((SELECT to_jsonb(e) - 'envelope' FROM clutch.events e WHERE seq = :request), (SELECT to_jsonb(e) - 'envelope' FROM before e WHERE seq = :request), 'the columns are as they were');
SELECT is_empty($$SELECT path FROM clutch.events e, clutch.validate(e.envelope) WHERE e.id = 'msg_a'$$, 'what is left is a valid envelope');
SELECT is_empty($$SELECT b::text FROM before b WHERE id <> 'msg_a' EXCEPT SELECT e::text FROM clutch.events e$$, 'no other event has changed');
SELECT fixture.answers($$SELECT type, envelope #>> '{payload,by}', envelope #>> '{payload,id}', envelope #>> '{payload,reason}' FROM clutch.events WHERE run_id = 'run:audit'$$,
	$$VALUES ('chat.system', 'postgres', 'msg_a', 'erasure request 17')$$, 'an event says who did it, and why');
SELECT is((SELECT envelope #>> '{payload,sha256}' FROM clutch.events WHERE payload_type = 'audit.redacted'), :'digest', 'and what the digest was');
SELECT is(fixture.state('a'), 'assigned agent:ken 1', 'the task goes on');
SELECT is((SELECT envelope #>> '{payload,redacted,sha256}' FROM clutch.claim('agent:ken')), :'digest', 'its agent gets what is left');
SELECT is((SELECT duplicate FROM fixture.ask('a', more => '{"payload": {"name": "hushed"}, "meta": {"mine": "hushed", "clutch": {"priority": 3}}}')), true, 'a resend is still a duplicate');
SELECT throws_ok($$SELECT fixture.ask('a', more => '{"payload": {"name": "other"}}')$$, '23505', NULL, 'and other content under its id is not');
SELECT is(pg_temp.finds('hushed'), '', 'the resend brought nothing back');
SET client_min_messages = error;
SELECT clutch.redact(:request, 'again') \g /dev/null
RESET client_min_messages;
SELECT is((SELECT count(*) FROM clutch.events WHERE payload_type = 'audit.redacted'), 1::bigint, 'a second time changes nothing');
SELECT is((SELECT envelope #>> '{payload,redacted,reason}' FROM clutch.events WHERE seq = :request), 'erasure request 17', 'not even the reason');

-- ------------------------------------------------------ of every type of event
CREATE FUNCTION pg_temp.redact_all(task text) RETURNS bigint LANGUAGE sql AS
$$ SELECT count(*) FROM (SELECT clutch.redact(seq, 'law') FROM clutch.events WHERE task_id = task AND run_id = 'run:1' ORDER BY seq) r $$;
SELECT clutch.progress('agent:ken', 'a', '{"state": "input_required", "question": "hushed?", "deadline": "2026-01-01T13:00:00Z"}') \g /dev/null
SELECT fixture.ask('b'), fixture.ask('c'), fixture.ask('d'), fixture.ask('e'), fixture.ask('s') \g /dev/null
SELECT fixture.claimed('agent:ken') \g /dev/null
SELECT clutch.fail('agent:ken', 'b', 'NO_GOOD', 'because of what is hushed', false, '{"what": "hushed"}') \g /dev/null
SELECT clutch.cancel('c', 'it is hushed') \g /dev/null
SELECT clutch.step('agent:ken', 's', 'first', '{"mail": "hushed"}') \g /dev/null
SELECT clutch.suspend('agent:ken', 's', '{"for_ms": 60000}', '{"note": "hushed"}') \g /dev/null
SELECT clutch.finish('agent:ken', 'd', '{"text": "hushed"}') \g /dev/null
SELECT clutch.fail('agent:ken', 'e', 'TIMEOUT', 'the hushed took long') \g /dev/null
SELECT clutch.send(clutch.envelope('tool.call', 'agent:ken', '{agent:lois}', '{"tool": "tool:x", "args": {"a": "hushed"}}', 'run:1', 'thread:1', 'a', id => 'msg_call')) \g /dev/null
SELECT clutch.send(clutch.envelope('tool.error', 'agent:lois', '{agent:ken}', '{"code": "X", "message": "hushed"}', 'run:1', 'thread:1', 'a', meta => '{"clutch": {"reply_to": "msg_call"}}')) \g /dev/null
SELECT is(pg_temp.finds('hushed'), 'clutch.approvals clutch.dead_letters clutch.events clutch.task clutch.tasks', 'there are secrets in the log, and in the state');
CREATE TEMP TABLE state AS SELECT task_id, status, agent_id, attempt, waiting_for, code, wake_at, deadline, retries FROM clutch.task;
SET client_min_messages = error;
SELECT pg_temp.redact_all(t) FROM unnest('{a,b,c,d,e,s}'::text[]) t \g /dev/null
RESET client_min_messages;
SELECT is(pg_temp.finds('hushed'), '', 'all are gone');
SELECT set_eq('SELECT task_id, status, agent_id, attempt, waiting_for, code, wake_at, deadline, retries FROM clutch.task', 'SELECT * FROM state', 'the tasks are what they were');
SELECT is((SELECT string_agg(task_id || ' ' || detail, ', ' ORDER BY task_id) FROM clutch.tasks), 'b redacted, c redacted, e redacted', 'but for the texts');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT is_empty($$SELECT e.seq, v.path FROM clutch.events e, clutch.validate(e.envelope) v WHERE e.from_agent <> 'agent:orchestrator'$$, 'what is left of each event is valid');
SELECT is_empty($$SELECT * FROM clutch.check()$$, 'and check() finds nothing');
SELECT is((SELECT payload ? 'redacted' FROM clutch.result('d')), true, 'result() shows that it was redacted');
SELECT is((SELECT question ? 'redacted' FROM clutch.approvals), true, 'and so does a question');
SELECT clutch.answer('a', '{"yes": true}') \g /dev/null
SELECT is(fixture.claimed('agent:ken'), 'a 2 resumed', 'which can still be answered');

-- an agent revives a task, which then has another deadline
SELECT clutch.retry('c', 'agent:ui') \g /dev/null
SELECT clutch.release('agent:ken', 'c', 2, 'hushed') \g /dev/null
SET client_min_messages = error;
SELECT pg_temp.redact_all('c') \g /dev/null
RESET client_min_messages;
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the deadline that a revived task was given');
SELECT is(pg_temp.finds('hushed'), '', 'but not why its agent gave it back');
SELECT clutch.cancel('c') \g /dev/null

-- ------------------------------------------------------------------- readers
SELECT clutch.subscribe('all', '{}', 'beginning') \g /dev/null
CREATE TEMP TABLE answer AS SELECT * FROM clutch.read('all', 1000);
SELECT is((SELECT count(*) FROM answer), (SELECT count(*) FROM clutch.events), 'a subscription gets every event');
SELECT is((SELECT count(*) FROM answer a WHERE a::text LIKE '%hushed%'), 0::bigint, 'without its content');

-- -------------------------------------------------------- what is not redacted
SELECT throws_ok($$SELECT clutch.redact(999999, 'x')$$, '42704', 'event 999999 does not exist', 'there must be such an event');
SELECT throws_ok($$SELECT clutch.redact(seq, 'x') FROM clutch.events WHERE type = 'agent.register'$$, '0A000', NULL, 'a card is not redacted');
SELECT throws_ok($$SELECT clutch.redact(seq, 'x') FROM clutch.events WHERE run_id = 'run:audit' LIMIT 1$$, '0A000', NULL, 'nor is an audit');
SELECT throws_ok($$SELECT clutch.redact(1, NULL)$$, '22004', NULL, 'a reason is needed');
SELECT throws_ok($$SELECT clutch.redact(NULL, 'x')$$, '22004', NULL, 'and a seq');
-- a payload that pretends to be redacted
SELECT seq AS pretends FROM clutch.send(clutch.envelope('chat.message', 'agent:ken', '{agent:ui}', '{"redacted": {"sha256": "00", "reason": "none"}, "text": "hushed"}')) \gset
SELECT clutch.redact(:pretends, 'law') \g /dev/null
SELECT is(pg_temp.finds('hushed'), '', 'a sender cannot prevent a redaction');
-- an id of the audit is not taken for one
SELECT clutch.send(clutch.envelope('chat.system', 'agent:ken', '{agent:ui}', '{"text": "hushed"}', 'run:audit', payload_type => 'audit.redacted', id => 'msg_false')) \g /dev/null
SELECT clutch.redact(seq, 'law') FROM clutch.events WHERE id = 'msg_false' \g /dev/null
SELECT is(pg_temp.finds('hushed'), '', 'what others write into the run of the audit is redacted like anything else');

-- ------------------------------------------------------------- who and how
CREATE ROLE tap_redact;
SELECT clutch.grant_agent('tap_redact', 'agent:ui'), clutch.grant_reader('tap_redact') \g /dev/null
GRANT EXECUTE ON FUNCTION clutch.redact TO tap_redact;
GRANT ALL ON clutch.events TO tap_redact;
SET ROLE tap_redact;
SELECT throws_ok($$SELECT clutch.redact(1, 'x')$$, '42501', 'only an operator may redact events', 'only operators redact');
SELECT throws_ok($$UPDATE clutch.events SET envelope = '{}'$$, 'KL007', NULL, 'and nobody else changes an envelope');
RESET ROLE;
-- a trigger of a user that tries to change more, while the log is open for one row
CREATE FUNCTION pg_temp.change_more() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_ARGV[0] = 'other' THEN
		UPDATE clutch.events SET late = true WHERE seq <> NEW.seq;
	ELSIF TG_ARGV[0] = 'same' THEN
		UPDATE clutch.events SET late = true WHERE seq = NEW.seq;
	ELSIF TG_ARGV[0] = 'delete' THEN
		DELETE FROM clutch.events;
	ELSE
		NEW.from_agent := 'agent:innocent';
	END IF;
	RETURN NEW;
END $$;
SELECT seq AS victim FROM clutch.send(clutch.envelope('chat.message', 'agent:ken', '{agent:ui}', '{"text": "victim"}')) \gset
CREATE TRIGGER a_user BEFORE UPDATE ON clutch.events FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION pg_temp.change_more('other');
SELECT throws_ok(format($$SELECT clutch.redact(%s, 'x')$$, :victim), 'KL007', NULL, 'a trigger cannot change other rows meanwhile');
DROP TRIGGER a_user ON clutch.events;
CREATE TRIGGER z_user AFTER UPDATE ON clutch.events FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION pg_temp.change_more('same');
SELECT throws_ok(format($$SELECT clutch.redact(%s, 'x')$$, :victim), 'KL007', NULL, 'nor more of the same row');
DROP TRIGGER z_user ON clutch.events;
CREATE TRIGGER a_user BEFORE UPDATE ON clutch.events FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION pg_temp.change_more('delete');
SELECT throws_ok(format($$SELECT clutch.redact(%s, 'x')$$, :victim), 'KL007', NULL, 'nor delete any');
DROP TRIGGER a_user ON clutch.events;
CREATE TRIGGER a_user BEFORE UPDATE ON clutch.events FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION pg_temp.change_more('sender');
SELECT throws_ok(format($$SELECT clutch.redact(%s, 'x')$$, :victim), 'KL007', NULL, 'nor put another sender into it');
DROP TRIGGER a_user ON clutch.events;
SELECT is(pg_temp.payload(:victim), '{"text": "victim"}', 'the event is as it was');
BEGIN;
SELECT clutch.redact(:victim, 'x') \g /dev/null
SELECT throws_ok(format('UPDATE clutch.events SET late = late WHERE seq = %s', :victim), 'KL007', NULL, 'the log is closed again in the same transaction');
ROLLBACK;
CREATE INDEX user_index ON clutch.events ((envelope #>> '{payload,text}')) WHERE type = 'chat.message';
SELECT clutch.redact(:victim, 'x') \g /dev/null
SELECT is(pg_temp.payload(:victim) ? 'redacted', true, 'an index of a user does not stand in the way');


-- two attempts that failed with one text: it is that of the second
SELECT fixture.ask('twice', run => 'run:twice', orders => '{"retry": {"max": 1, "initial_ms": 0}}') \g /dev/null
SELECT fixture.claimed('agent:ken'), clutch.fail('agent:ken', 'twice', 'TIMEOUT', 'the hushed took long') \g /dev/null
SELECT fixture.at(50000) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT fixture.claimed('agent:ken') \g /dev/null
SELECT clutch.fail('agent:ken', 'twice', 'TIMEOUT', 'the hushed took long') \g /dev/null
SELECT clutch.redact(min(seq), 'x') FROM clutch.events WHERE task_id = 'twice' AND type = 'task.error' \g /dev/null
SELECT is((SELECT status || ': ' || detail FROM clutch.tasks WHERE task_id = 'twice'), 'failed: the hushed took long', 'the text of a later event stays');
SELECT is(fixture.rebuilt(), 'the same', 'as a rebuild finds it');
SELECT clutch.redact(max(seq), 'x') FROM clutch.events WHERE task_id = 'twice' AND type = 'task.error' \g /dev/null
SELECT is((SELECT detail FROM clutch.tasks WHERE task_id = 'twice'), 'redacted', 'until that is redacted as well');
SELECT is(fixture.rebuilt(), 'the same', 'which a rebuild finds, too');
-- --------------------------------------------- what came from the orchestrator
-- what an operator has said, and what a rule has copied
INSERT INTO clutch.routing_rule (name, type, emit) VALUES ('copy', 'chat.message', '{"payload": {"copy": "$.payload.text"}, "requires": ["skill:x"]}');
SELECT clutch.send(clutch.envelope('chat.message', 'agent:orchestrator', '{agent:ken}', '{"text": "hushed"}', 'run:boss', 'thread:boss', 'boss')) \g /dev/null
DELETE FROM clutch.routing_rule;
SELECT clutch.send(clutch.envelope(t, 'agent:orchestrator', '{agent:ken}', payload || '{"more": {"text": "hushed"}}', 'run:boss', 'thread:boss', 'boss', meta => '{"http": {"note": "hushed"}}'))
FROM (VALUES ('task.request', '{"text": "hushed"}'::jsonb), ('chat.system', '{"reason": "hushed"}'), ('tool.call', '{"tool": "tool:x", "args": {"a": "hushed"}}')) AS v(t, payload) \g /dev/null
SELECT fixture.claimed('agent:ken', 9) \g /dev/null
SELECT clutch.progress('agent:ken', 'boss', '{"state": "input_required", "question": "well?"}') \g /dev/null
SELECT clutch.answer('boss', '{"text": "hushed"}') \g /dev/null
SELECT is(pg_temp.finds('hushed'), 'clutch.events', 'the orchestrator has secrets, too');
CREATE TEMP TABLE bosses AS SELECT count(*) FILTER (WHERE e.envelope::text LIKE '%hushed%') AS n FROM clutch.events e WHERE e.run_id = 'run:boss' AND e.from_agent = 'agent:orchestrator';
SELECT is(n, 6::bigint, 'in what was sent, copied and answered') FROM bosses;
SELECT clutch.redact(seq, 'law') FROM clutch.events WHERE run_id = 'run:boss' \g /dev/null
SELECT is(pg_temp.finds('hushed'), '', 'which are gone as well');
SELECT is(fixture.rebuilt(), 'the same', 'and the tasks are what they were');
SELECT * FROM finish();
DROP OWNED BY tap_redact; DROP ROLE tap_redact;
