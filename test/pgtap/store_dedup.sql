-- P2: what a resend returns, and which events are no resends.
\ir ../fixtures/tap.sql
SELECT plan(67);


CREATE FUNCTION pg_temp.chat(more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'id', 'msg_1', 'ts', '2026-01-01T00:00:00Z', 'type', 'chat.message', 'thread_id', 'thread:1',
		'run_id', 'run:1', 'task_id', 'task:1', 'from', '{"agent_id": "agent:ui"}'::jsonb, 'to', '[{"agent_id": "agent:ken"}]'::jsonb,
		'payload', '{"a": 1, "b": [1, 2]}'::jsonb, 'security', '{"policy": {"sandbox": true}}'::jsonb) || more
$$;
-- "OK duplicate id", or SQLSTATE, code and path
CREATE FUNCTION pg_temp.outcome(envelope jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r clutch.receipt;
	detail text;
	state text;
BEGIN
	r := clutch.send(envelope);
	RETURN format('%s %s', CASE WHEN r.duplicate THEN 'duplicate of' ELSE 'new' END, r.id);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, state = RETURNED_SQLSTATE;
	RETURN format('%s %s %s', state, detail::jsonb #>> '{0,code}', detail::jsonb #>> '{0,path}');
END $$;

-- ------------------------------------------------------------------ receipts
CREATE TEMP TABLE first_receipt AS SELECT * FROM clutch.send(pg_temp.chat());
SELECT fixture.answers('SELECT id, duplicate, run_id, task_id, late FROM first_receipt', $$VALUES ('msg_1', false, 'run:1', 'task:1', false)$$, 'the first receipt is not a duplicate');
SELECT fixture.answers('SELECT seq, id, duplicate, run_id, task_id, late FROM clutch.send(pg_temp.chat())',
	'SELECT seq, id, true, run_id, task_id, late FROM first_receipt', 'a resend gets the first receipt, marked as a duplicate');
SELECT is((SELECT count(*) FROM clutch.events), 1::bigint, 'and adds no event');
INSERT INTO clutch.events (envelope) VALUES (pg_temp.chat());
WITH i AS (INSERT INTO clutch.events (envelope) VALUES (pg_temp.chat()) RETURNING seq) SELECT is((SELECT count(*) FROM i), 0::bigint, 'a plain INSERT of it reports INSERT 0 0');

-- ------------------------------------------------- what a resend may differ in
SELECT is(pg_temp.outcome(pg_temp.chat(more)), 'duplicate of msg_1', 'free: ' || more::text)
FROM (VALUES ('{"ts": "2026-02-02T00:00:00.5+02:00"}'::jsonb), ('{"attempt": 7}'), ('{"trace": {"trace_id": "x"}}')) AS t(more);

-- ---------------------------------------------------------- and in what it may not
SELECT is(pg_temp.outcome(pg_temp.chat(more)), '23505 ID_REUSED /id', 'other content: ' || more::text)
FROM (VALUES ('{"payload": {"a": 1, "b": [2, 1]}}'::jsonb), ('{"payload": {"a": 1}}'), ('{"payload": {"a": 1, "b": [1, 2], "c": null}}'),
	('{"type": "chat.system"}'), ('{"thread_id": "thread:2"}'), ('{"task_id": "task:2"}'), ('{"parent_task_id": "task:0"}'),
	('{"from": {"agent_id": "agent:other"}}'), ('{"from": {"agent_id": "agent:ui", "role": "r"}}'),
	('{"to": [{"agent_id": "agent:lois"}]}'), ('{"to": [{"agent_id": "agent:ken"}, {"agent_id": "agent:lois"}]}'),
	('{"domain": "research"}'), ('{"payload_type": "a.b.v1"}'), ('{"idempotency_key": "k"}'), ('{"meta": {"x": 1}}'),
	('{"meta": {"clutch": {"priority": 1}}}'), ('{"requires": ["skill:x"]}'), ('{"prefers": ["tag:x"]}'),
	('{"attachments": [{"kind": "artifact_ref", "ref": "artifact:1"}]}'), ('{"security": {"policy": {"sandbox": false}}}'), ('{"security": {}}')) AS t(more);
-- What an adapter notes of a document may differ if it has the same ID there, but nowhere else than in meta.
SELECT is(pg_temp.outcome(pg_temp.chat('{"id": "msg_d", "meta": {"desk": {"native": {"id": 7}, "way": 1}}, "payload": {"native": {"id": 7}}}')), 'new msg_d', 'an envelope that was made of a document');
SELECT is(pg_temp.outcome(pg_temp.chat('{"id": "msg_d", "payload": {"native": {"id": 7}}}'::jsonb || more)), expected, 'a document again: ' || more::text)
FROM (VALUES ('{"meta": {"desk": {"native": {"id": 7}, "way": 2}}}'::jsonb, 'duplicate of msg_d'),
	('{"meta": {"desk": {"native": {"id": 7}, "way": 1}, "x": 1}}', '23505 ID_REUSED /id'),
	('{"meta": {"desk": {"native": {"id": 8}, "way": 1}}}', '23505 ID_REUSED /id'),
	('{"meta": {"desk": {"native": {"id": null}, "way": 1}}}', '23505 ID_REUSED /id'),
	('{"meta": {"desk": {"way": 1}}}', '23505 ID_REUSED /id'),
	('{"meta": {"help": {"native": {"id": 7}, "way": 1}}}', '23505 ID_REUSED /id'),
	('{}', '23505 ID_REUSED /id'),
	('{"meta": {"desk": {"native": {"id": 7}, "way": 1}}, "payload": {"native": {"id": 7}, "more": 1}}', '23505 ID_REUSED /id')) AS t(more, expected);
SELECT is(pg_temp.outcome(pg_temp.chat('{"payload": {"b": [1.0, 2], "a": 1.00}}')), 'duplicate of msg_1', 'numbers are compared by value and objects without order');
SELECT is(pg_temp.outcome(pg_temp.chat('{"run_id": "run:2", "payload": {"other": true}}')), 'new msg_1', 'the same id in another run is another event');
SELECT is(pg_temp.outcome(pg_temp.chat('{"id": "msg_2"}')), 'new msg_2', 'another id is another event');
SELECT is(pg_temp.outcome(pg_temp.chat('{"id": "MSG_1", "payload": {}}')), 'new MSG_1', 'ids are case sensitive');

-- ---------------------------------------------------------- idempotency_key
CREATE FUNCTION pg_temp.keyed(more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
$$ SELECT pg_temp.chat('{"id": "msg_k1", "idempotency_key": "k"}'::jsonb || more) $$;
SELECT is(pg_temp.outcome(pg_temp.keyed()), 'new msg_k1', 'an idempotency_key is accepted');
SELECT is(pg_temp.outcome(pg_temp.keyed('{"id": "msg_k2"}')), 'duplicate of msg_k1', 'it can be repeated with another id');
SELECT is(pg_temp.outcome(pg_temp.keyed('{"id": "msg_k2", "ts": "2027-01-01T00:00:00Z"}')), 'duplicate of msg_k1', 'and another ts');
SELECT is(pg_temp.outcome(pg_temp.keyed('{"id": "msg_k2", "thread_id": "thread:9", "task_id": "task:9", "trace": {"x": "y"}, "meta": {"z": 1}}')), 'duplicate of msg_k1',
	'only type and payload make the command');
SELECT is((SELECT task_id FROM clutch.send(pg_temp.keyed('{"id": "msg_k2", "task_id": "task:9"}'))), 'task:1', 'the receipt is wholly the first one''s');
SELECT is(pg_temp.outcome(pg_temp.keyed('{"id": "msg_k2", "payload": {"other": 1}}')), '23505 KEY_REUSED /idempotency_key', 'the same key with another payload is refused');
SELECT is(pg_temp.outcome(pg_temp.keyed('{"id": "msg_k2", "type": "chat.system"}')), '23505 KEY_REUSED /idempotency_key', 'and with another type');
SELECT is(pg_temp.outcome(pg_temp.keyed('{"payload": {"other": 1}}')), '23505 KEY_REUSED /idempotency_key', 'the key is looked at before the id');
SELECT is(pg_temp.outcome(pg_temp.keyed('{"id": "msg_k3", "run_id": "run:3"}')), 'new msg_k3', 'a key belongs to its run');
SELECT is(pg_temp.outcome(pg_temp.keyed('{"id": "msg_k4", "from": {"agent_id": "agent:other"}, "payload": {}}')), 'new msg_k4', 'and to its sender');
SELECT is((SELECT count(*) FROM clutch.events WHERE idempotency_key = 'k' AND run_id = 'run:1' AND from_agent = 'agent:ui'), 1::bigint, 'one event has the key');

-- ----------------------------------------- work that is asked for by a key
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"}, "capabilities": [{"id": "skill:x"}], "limits": {"max_concurrency": 5}}') \g /dev/null
CREATE FUNCTION pg_temp.command(payload jsonb DEFAULT '{"q": 1}') RETURNS jsonb LANGUAGE sql AS
$$ SELECT clutch.envelope('task.request', 'agent:ui', payload => command.payload, requires => '{skill:x}', idempotency_key => 'order 66') $$;
SELECT is(pg_temp.outcome(pg_temp.command()) ~ '^new', true, 'a command is built from a key alone');
SELECT is(pg_temp.outcome(pg_temp.command()) ~ '^duplicate', true, 'its repeat is a duplicate because the builder derives the ids');
SELECT is((SELECT count(*) FROM clutch.tasks), 1::bigint, 'it makes one task');
SELECT is((SELECT count(*) FROM clutch.events WHERE type = 'routing.decision'), 1::bigint, 'which is routed once');
SELECT is(pg_temp.outcome(pg_temp.command('{"q": 2}')), '23505 KEY_REUSED /idempotency_key', 'the same key for another payload is refused');

-- ------------------------------------------------- a resend has no effect at all
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', run_id => 'run:w', task_id => 'task:w', thread_id => 'thread:w', requires => '{skill:x}')) \g /dev/null
SELECT task_id FROM clutch.claim('agent:ken', 5) \g /dev/null
CREATE TEMP TABLE report AS SELECT clutch.envelope('task.result', 'agent:ken', '{agent:ui}', '{"r": 1}', run_id => 'run:w', task_id => 'task:w', thread_id => 'thread:w', id => 'msg_r') AS e;
SELECT is((SELECT late FROM report, clutch.send(e)), false, 'a result is accepted');
SELECT fixture.answers('SELECT duplicate, late FROM report, clutch.send(e)', 'VALUES (true, false)', 'resent, it is a duplicate and not late');
SELECT is((SELECT count(*) FROM clutch.events WHERE type = 'task.result'), 1::bigint, 'it is in the log once');
SELECT is((SELECT late FROM report, clutch.send(e || '{"id": "msg_r2", "payload": {"r": 2}}')), true, 'with another id and payload it is another report, and late');
SELECT fixture.answers($$SELECT duplicate, late FROM report, clutch.send(e || '{"id": "msg_r2", "payload": {"r": 2}}')$$, 'VALUES (true, true)', 'whose resend is late as well');
SELECT fixture.answers($$SELECT id, duplicate FROM clutch.send_batch((SELECT ARRAY[e, e || '{"id": "msg_r3", "payload": {}}', e || '{"id": "msg_r3", "payload": {}}'] FROM report))$$,
	$$VALUES ('msg_r', true), ('msg_r3', false), ('msg_r3', true)$$, 'the same holds in a batch');

-- --------------------------------------- IDs in any order, in an index of some pages
INSERT INTO clutch.events (envelope) SELECT pg_temp.chat(jsonb_build_object('id', 'm' || md5(i::text), 'run_id', 'run:many')) FROM generate_series(1, 400) i;
CREATE TEMP TABLE many AS SELECT envelope FROM clutch.events WHERE run_id = 'run:many';
WITH i AS (INSERT INTO clutch.events (envelope) SELECT envelope FROM many ORDER BY envelope ->> 'id' RETURNING 1)
SELECT is((SELECT count(*) FROM i), 0::bigint, 'none of 400 resends is an event');
WITH i AS (INSERT INTO clutch.events (envelope) SELECT envelope || jsonb_build_object('id', (envelope ->> 'id') || n)
	FROM many, generate_series(0, 2) n ORDER BY envelope ->> 'id', n % 2 RETURNING 1)
SELECT is((SELECT count(*) FROM i), 1200::bigint, 'each of 1200 IDs between them is one');

-- ------------------------------------------- an error leaves no guard behind
BEGIN;
SELECT throws_ok($$SELECT clutch.send_batch(ARRAY[clutch.envelope('chat.message', 'agent:client',
	id => 'msg_guarded', run_id => 'run:guarded', idempotency_key => 'guarded'), '{}'])$$, 'KL001', NULL,
	'a batch with a bad row fails');
SELECT is((SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
		   AND objsubid = 19276), 0::bigint, 'and holds no guard after its error was caught');
COMMIT;

SELECT * FROM finish();
