-- Push notifications of A2A: what a client is told of its task, and what not
-- (docs/reference.md, Webhooks).
\ir ../fixtures/tap.sql
SELECT plan(27);
SET clutch.notify = off;

SELECT fixture.agent('ann', 9) \g /dev/null
CREATE TEMP TABLE told (n serial, body jsonb, headers jsonb);
-- Claims what is due, notes it, and reports this status.
CREATE FUNCTION pg_temp.push(http integer DEFAULT 200) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c record;
	states text := NULL;
BEGIN
	FOR c IN SELECT * FROM clutch.outbox_claim(99) LOOP
		INSERT INTO told (body, headers) VALUES (c.body::jsonb, c.headers);
		states := concat_ws(', ', states, coalesce(c.body::jsonb #>> '{statusUpdate,status,state}', c.body::jsonb #>> '{task,status,state}', c.body::jsonb #>> '{status,state}',
			'artifact ' || coalesce(c.body::jsonb #>> '{artifactUpdate,artifact,artifactId}', c.body::jsonb #>> '{artifact,artifactId}')));
		PERFORM clutch.outbox_done(c.id, c.attempt, status => http);
	END LOOP;
	RETURN coalesce(states, 'nothing');
END $$;
CREATE FUNCTION pg_temp.asked(message text, version text DEFAULT '1.0') RETURNS text LANGUAGE sql AS $$
	SELECT r.task_id FROM clutch.ingest(CASE version WHEN '1.0' THEN jsonb_build_object('jsonrpc', '2.0', 'id', message, 'method', 'SendMessage', 'params', jsonb_build_object('message',
			jsonb_build_object('messageId', message, 'contextId', 'ctx-' || message, 'role', 'ROLE_USER', 'parts', '[{"text": "Lisbon"}]'::jsonb)))
		ELSE jsonb_build_object('jsonrpc', '2.0', 'id', message, 'method', 'message/send', 'params', jsonb_build_object('message',
			jsonb_build_object('kind', 'message', 'messageId', message, 'contextId', 'ctx-' || message, 'role', 'user', 'parts', '[{"kind": "text", "text": "Lisbon"}]'::jsonb))) END,
		context => '{"agent_id": "agent:visitor", "to": ["agent:ann"]}') AS r
$$;
CREATE FUNCTION pg_temp.endpoint(task text, headers jsonb DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
	DELETE FROM clutch.endpoint;
	INSERT INTO clutch.endpoint (name, url, adapter, headers, filter) VALUES ('push', 'https://client.example', 'a2a', headers,
		jsonb_build_object('task_id', task, 'type', '["task.progress", "task.result", "task.error", "task.timeout", "task.cancel"]'::jsonb));
$$;

-- ------------------------------------------------------------------ what it says
SELECT pg_temp.asked('m1') AS task \gset
SELECT pg_temp.endpoint(:'task') \g /dev/null
SELECT clutch.claim('agent:ann') \g /dev/null
SELECT clutch.progress('agent:ann', :'task', '{"text": "half"}'), clutch.progress('agent:ann', :'task', '{"artifact_id": "a1", "text": "one"}') \g /dev/null
SELECT clutch.progress('agent:ann', :'task', '{"state": "input_required", "question": "When?"}') \g /dev/null
SELECT is(pg_temp.push(), 'TASK_STATE_WORKING, artifact a1, TASK_STATE_INPUT_REQUIRED', 'a client is told what its task is doing');
SELECT clutch.answer(:'task', '{"text": "Now"}', by_agent => 'agent:visitor') \g /dev/null
SELECT clutch.claim('agent:ann', 9) \g /dev/null
SELECT clutch.finish('agent:ann', :'task', '{"celsius": 21}') \g /dev/null
SELECT is(pg_temp.push(), 'TASK_STATE_WORKING, TASK_STATE_COMPLETED', 'and how it ends');
SELECT is((SELECT string_agg(DISTINCT v ->> 'contextId', ', ') FROM told, jsonb_each(body) AS e(k, v)), 'ctx-m1', 'under the ID of the conversation that the client knows');
SELECT is((SELECT count(*) FROM told WHERE body #>> '{statusUpdate,status,message,contextId}' IS DISTINCT FROM 'ctx-m1' AND body #> '{statusUpdate,status,message}' IS NOT NULL), 0::bigint, 'in the messages as well');
SELECT is((SELECT string_agg(DISTINCT coalesce(v ->> 'taskId', v ->> 'id'), ', ') FROM told, jsonb_each(body) AS e(k, v)), :'task', 'and the ID of the task');
SELECT is((SELECT count(*) FROM told WHERE body::text LIKE '%"clutch%' OR body::text LIKE '%agent:%' OR body::text LIKE '%run_%' OR body::text LIKE '%answer_id%'), 0::bigint, 'it is told nothing of the database');
SELECT is((SELECT body #> '{statusUpdate,status,message,parts}' FROM told WHERE n = 1), '[{"text": "half"}]', 'progress has its words');
SELECT is((SELECT body #> '{statusUpdate,status}' ? 'message' FROM told WHERE n = 4), false, 'what the database did has none');
SELECT is((SELECT body #> '{task,artifacts,0,parts}' FROM told WHERE n = 5), '[{"data": {"celsius": 21}}]', 'the result is an artifact');
SELECT is((SELECT count(*) FROM told WHERE body::text NOT LIKE '%"timestamp"%' AND body ? 'statusUpdate'), 0::bigint, 'a status has its time');
SELECT is((SELECT string_agg(DISTINCT concat_ws(' ', headers ->> 'content-type', headers ->> 'a2a-version'), ', ') FROM told), 'application/a2a+json 1.0', 'the type of the body is that of the protocol');

-- --------------------------------------------------------------- what is too late
SELECT clutch.progress('agent:ann', :'task', '{"text": "late"}'), clutch.progress('agent:ann', :'task', '{"state": "input_required", "question": "Late?"}') \g /dev/null
SELECT is(pg_temp.push(), 'nothing', 'progress after the end is not sent');
SELECT is((SELECT string_agg(DISTINCT failure, ', ') FROM clutch.outbox WHERE state = 'void'), 'the event does not say what has become of its task', 'its calls are void');
SELECT pg_temp.asked('m2') AS task \gset
SELECT pg_temp.endpoint(:'task') \g /dev/null
SELECT clutch.claim('agent:ann', 9) \g /dev/null
SELECT clutch.cancel(:'task', by_agent => 'agent:visitor') \g /dev/null
SELECT is(pg_temp.push(), 'TASK_STATE_CANCELED', 'a cancellation is a state');
SELECT clutch.ingest(jsonb_build_object('jsonrpc', '2.0', 'id', 5, 'method', 'CancelTask', 'params', jsonb_build_object('id', :'task'::text)), context => '{"agent_id": "agent:visitor"}') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE task_id = :'task' AND type = 'task.cancel'), 2::bigint, 'a second one');
SELECT is(pg_temp.push(), 'nothing', 'tells nothing new');

-- a call that is repeated when something newer has been sent
SELECT fixture.at(0) \g /dev/null
SELECT pg_temp.asked('m3') AS task \gset
SELECT pg_temp.endpoint(:'task') \g /dev/null
SELECT clutch.claim('agent:ann', 9) \g /dev/null
SELECT clutch.progress('agent:ann', :'task', '{"text": "half"}'), clutch.progress('agent:ann', :'task', '{"artifact_id": "a1", "text": "one"}') \g /dev/null
SELECT is(pg_temp.push(503), 'TASK_STATE_WORKING, artifact a1', 'what a client did not take');
SELECT clutch.finish('agent:ann', :'task') \g /dev/null
SELECT is(pg_temp.push(), 'TASK_STATE_COMPLETED', 'is due again after the end was sent');
SELECT fixture.at(600) \g /dev/null
SELECT is(pg_temp.push(), 'artifact a1', 'an artifact is sent then, and a state is not');

-- --------------------------------------------------------------------- version 0.3
SELECT pg_temp.asked('m4', '0.3') AS task \gset
SELECT pg_temp.endpoint(:'task', '{"A2A-Version": "0.3"}') \g /dev/null
TRUNCATE told;
SELECT clutch.claim('agent:ann', 9) \g /dev/null
SELECT clutch.progress('agent:ann', :'task', '{"text": "half"}'), clutch.progress('agent:ann', :'task', '{"artifact_id": "a1", "text": "one"}') \g /dev/null
SELECT clutch.fail('agent:ann', :'task', 'E', 'no', retryable => false) \g /dev/null
SELECT is(pg_temp.push(), 'working, artifact a1, failed', 'a client of version 0.3 is told the same');
SELECT is((SELECT string_agg(concat_ws(' ', body ->> 'kind', (body ->> 'id' = :'task')::text, body ->> 'contextId'), ', ' ORDER BY n) FROM told),
	'task true ctx-m4, artifact-update ctx-m4, task true ctx-m4', 'as a task, with the ID under which it asked');
SELECT is((SELECT string_agg(DISTINCT concat_ws(' ', headers ->> 'content-type', headers ->> 'A2A-Version'), ', ') FROM told), 'application/json 0.3', 'in JSON');
SELECT is((SELECT count(*) FROM told, clutch.inbound(body, 'a2a', '{"agent_id": "agent:there"}') AS i, clutch.validate(i)), 0::bigint, 'another database can read it');

-- ---------------------------------- a database that has delegated the task to this one
DELETE FROM clutch.endpoint;
INSERT INTO clutch.endpoint (name, url, adapter, filter) VALUES ('east', 'https://east.example', 'peer',
	'{"agent": "agent:east", "type": ["task.progress", "task.result", "task.error", "task.timeout"]}');
TRUNCATE told;
SELECT clutch.send(clutch.envelope('task.request', 'agent:east', '{agent:ann}', run_id => 'run:delegated', thread_id => 'thread:1', task_id => 'task:delegated',
	meta => '{"clutch": {"retry": {"max": 1, "initial_ms": 0}}}')) \g /dev/null
SELECT clutch.claim('agent:ann', 9) \g /dev/null
SELECT clutch.fail('agent:ann', 'task:delegated', 'E', 'try again', retryable => true) \g /dev/null
SELECT pg_temp.push() \g /dev/null
SELECT is((SELECT string_agg(DISTINCT body ->> 'type', ' ') FROM told), 'task.progress', 'is not told of an error after which the task is tried again');
SELECT fixture.at(601), clutch.tick() \g /dev/null
SELECT clutch.claim('agent:ann', 9) \g /dev/null
SELECT clutch.finish('agent:ann', 'task:delegated', '{"too": "late"}', 1), clutch.finish('agent:ann', 'task:delegated', '{"in": "time"}', 2) \g /dev/null
SELECT pg_temp.push() \g /dev/null
SELECT is((SELECT string_agg(body ->> 'payload', ' ') FROM told WHERE body ->> 'type' <> 'task.progress'), '{"in": "time"}', 'nor of a result that is late');

-- ------------------------------------------- the notifications of another server
DELETE FROM clutch.endpoint;
SELECT fixture.agent('far', 9, '{skill:far}') \g /dev/null
INSERT INTO clutch.endpoint (name, url, adapter, serves, patience_s) VALUES ('far', 'https://far.example', 'a2a', 'agent:far', 3600);
SELECT fixture.ask('task:far', NULL, 'skill:far') \g /dev/null
SELECT id AS call, attempt FROM clutch.outbox_claim() \gset
SELECT is((SELECT string_agg(clutch.outbox_done(:'call', :attempt, status => 200, response => d, is_last => false), ' ') FROM unnest(ARRAY[
	'{"jsonrpc": "2.0", "id": "x", "result": {"task": {"id": "far-1", "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}}}',
	'{"artifactUpdate": {"taskId": "far-1", "contextId": "c", "artifact": {"artifactId": "a1", "parts": [{"text": "one"}]}}}',
	'{"statusUpdate": {"taskId": "far-1", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED", "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "bye"}]}}}}']::jsonb[]) AS d),
	'pending pending sent', 'notifications are reported for the call until the task is over');
SELECT is((SELECT payload FROM clutch.result('task:far')), '{"text": "bye", "artifacts": [{"artifactId": "a1", "parts": [{"text": "one"}]}]}', 'artifacts that came before are in the result');
SELECT * FROM finish();
