-- Envelopes of other databases, as they are, and in the name of another agent.
\ir ../fixtures/tap.sql
\set adapter peer
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 25);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

-- -------------------------------------------------------------- as they are
CREATE TEMP TABLE sample AS SELECT s.raw FROM fixture.sample s WHERE s.name = 'a request';
SELECT is((SELECT string_agg(n.name || ' ' || (e ->> 'type'), ', ') FROM fixture.native n, clutch.inbound(n.envelope, 'peer') AS e WHERE e <> n.envelope), 'task.timeout task.error', 'an envelope is taken as it is, but for a timeout, which is an error here');
SELECT is((SELECT count(*)::int FROM fixture.native n WHERE clutch.can_handle(n.envelope) = 'peer'), (SELECT count(*)::int FROM fixture.native), 'and recognized');
SELECT is(clutch.can_handle('{"v": "clutch/0.1", "agent_id": "agent:x", "capabilities": []}'), NULL, 'an AgentCard is none');
SELECT is((SELECT string_agg(r.duplicate::text, ' ' ORDER BY o) FROM sample s, LATERAL (SELECT 1 AS o, duplicate FROM clutch.send(s.raw || '{"id": "msg_once", "task_id": "task_once"}') UNION ALL
	SELECT 2, duplicate FROM clutch.ingest(s.raw || '{"id": "msg_once", "task_id": "task_once"}')) AS r), 'false true', 'it is the same event as if it were sent');
SELECT throws_matching(format('SELECT clutch.ingest(%L)', s.raw || '{"v": "clutch/9.9"}'), 'at "/v": "v" is "clutch/9.9"; it must be "clutch/0.1"$', 'an envelope of another version is refused in one clause') FROM sample s;
SELECT is(fixture.fault(format('SELECT clutch.ingest(%L)', s.raw || '{"type": "task.reqest"}')), 'KL014 UNKNOWN_TYPE /type', 'a fault is at its place in the envelope') FROM sample s;
SELECT is(fixture.fault(format('SELECT clutch.ingest(%L)', jsonb_build_array(s.raw || '{"id": "msg_batch", "task_id": "task_batch"}', s.raw || '{"surprise": 1}'))), 'KL014 UNKNOWN_FIELD /1/surprise', 'also in a batch') FROM sample s;
SELECT is(fixture.fault(format('SELECT clutch.ingest(%L)', s.raw || '{"from": "agent:ui"}')), 'KL014 WRONG_TYPE /from', 'or where something else should be') FROM sample s;
SELECT is(split_part(fixture.fault(format('SELECT clutch.ingest(%L)', s.raw || '{"type": "routing.decision"}')), ' ', 1), 'KL001', 'what only the database may say is refused at the door') FROM sample s;

SELECT is(jsonb_build_array(e #> '{meta,clutch}', e #> '{meta,peer,move}', clutch.outbound(e, 'peer') #> '{meta,clutch}'), '[null, "retried", {"move": "retried"}]', 'why another database has moved a task is no order here') FROM sample s, clutch.inbound(s.raw || '{"id": "msg_moved", "type": "task.progress", "payload": {}, "meta": {"clutch": {"move": "retried"}}}') AS e;
SELECT is(e #> '{meta,clutch}', '{"usage": {"input_tokens": 3}}', 'and the other orders stay') FROM sample s, clutch.inbound(s.raw || '{"id": "msg_moved", "type": "task.progress", "payload": {}, "meta": {"clutch": {"move": "retried", "usage": {"input_tokens": 3}}}}') AS e;

-- ----------------------------------------------- in the name of another agent
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:far", "capabilities": [{"id": "skill:far"}], "limits": {"max_concurrency": 9}}') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:asker', id => 'msg_far', run_id => 'run_far', thread_id => 'thr_far', task_id => 'task_far', requires => '{skill:far}')) \g /dev/null
SELECT clutch.claim('agent:far') \g /dev/null
CREATE FUNCTION pg_temp.report(id text, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT (SELECT s.raw FROM fixture.sample s WHERE s.name = 'a report') || jsonb_build_object('id', id, 'run_id', 'run_far', 'thread_id', 'thr_far', 'task_id', 'task_far') || more
$$;
CREATE TEMP TABLE taken AS SELECT e FROM clutch.inbound(pg_temp.report('msg_r1', '{"security": {"auth": {"scheme": "ed25519", "kid": "k", "sig": "AAAA"}}}'), 'peer', '{"agent_id": "agent:far"}') AS e;
SELECT is(e #>> '{from,agent_id}', 'agent:far', 'the agent of the context speaks') FROM taken;
SELECT is(e #>> '{from,role}', 'worker', 'in the role of the sender') FROM taken;
SELECT is(e -> 'to', '[{"agent_id": "agent:asker"}]', 'a report is for whoever has requested the task here') FROM taken;
SELECT is(e -> 'attempt', NULL, 'and about the attempt of this database') FROM taken;
SELECT is(e #> '{security,auth}', NULL, 'a signature of the first sender is left out') FROM taken;
SELECT is(clutch.outbound(e, 'peer'), pg_temp.report('msg_r1', '{"security": {"auth": {"scheme": "ed25519", "kid": "k", "sig": "AAAA"}}}'), 'and all of it comes back') FROM taken;
SELECT is(fixture.fault($$SELECT clutch.ingest(pg_temp.report('msg_r2'), 'peer')$$), '42501 NOT_ASSIGNED /from/agent_id', 'without that, the report is refused');
SELECT is((SELECT concat_ws(' ', duplicate, late) FROM clutch.ingest(pg_temp.report('msg_r1'), 'peer', '{"agent_id": "agent:far"}')), 'f f', 'with it, it is taken');
SELECT is(fixture.state('task_far'), 'completed agent:far 1', 'and ends the task');
SELECT is((SELECT e -> 'to' FROM sample s, clutch.inbound(s.raw, 'peer', '{"agent_id": "agent:east", "to": "agent:ken"}') AS e), '[{"agent_id": "agent:ken"}]', 'recipients of the context count for more');
SELECT is((SELECT e -> 'to' FROM sample s, clutch.inbound(s.raw, 'peer', '{"agent_id": "agent:east"}') AS e), (SELECT s.raw -> 'to' FROM sample s), 'those of a request are its own otherwise');

SELECT is((SELECT string_agg(duplicate::text, ' ') FROM unnest('{agent:ann,agent:bob}'::text[]) a,
	clutch.ingest(clutch.envelope('task.request', a, id => 'msg_' || a, run_id => 'run_keys', thread_id => 'thr', task_id => 'task_' || a, idempotency_key => 'k'), 'peer', '{"agent_id": "agent:east"}')),
	'false false', 'two senders there may have used the same key');
SELECT is(clutch.outbound(i, 'peer') ->> 'idempotency_key', 'k', 'which comes back')
FROM clutch.envelope('chat.message', 'agent:ann', id => 'msg_k', run_id => 'run_k', thread_id => 'thr', task_id => 'task_k', idempotency_key => 'k') AS e, clutch.inbound(e, 'peer', '{"agent_id": "agent:east"}') AS i;

SELECT is(clutch.outbound(e, 'peer'), e, 'what a sender calls "blobs" stays if it refers to no artifacts')
FROM clutch.envelope('chat.message', 'agent:ui', id => 'msg_1', run_id => 'run:1', thread_id => 'thread:1', payload => '{"text": "x"}', meta => '{"peer": {"blobs": ["x"], "k": 1}}') AS e;

SELECT * FROM finish();
