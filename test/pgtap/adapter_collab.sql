-- The messages of the Multi-Agent Collaboration Protocol.
\ir ../fixtures/tap.sql
\set adapter collab
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 27);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

-- a request and its responses
SELECT FROM clutch.register(fixture.card('wren'));
CREATE TABLE said AS SELECT * FROM clutch.ingest('{"header": {"messageId": "q1", "correlationId": "c1", "type": "REQUEST", "source": "ui", "destination": "wren", "priority": 3}, "body": {"action": "verify", "payload": {"q": 1}}}');
SELECT is((SELECT task_id FROM clutch.claim('agent:wren')), (SELECT task_id FROM said), 'a REQUEST is a request');
INSERT INTO said SELECT * FROM clutch.ingest('{"header": {"messageId": "q2", "correlationId": "q1", "type": "RESPONSE", "source": "wren", "destination": "ui"}, "body": {"status": "TIMEOUT", "error": null}}');
SELECT is((SELECT count(DISTINCT (task_id, run_id))::int FROM said), 1, 'a RESPONSE names it by the ID of the message');
SELECT is((SELECT code FROM clutch.task t WHERE t.task_id = (SELECT task_id FROM said LIMIT 1)), 'TIMEOUT', 'TIMEOUT is an error of this code');

-- a publication reaches every reader of the topic
SELECT is((SELECT string_agg(t ->> 'agent_id', ' ') FROM clutch.inbound(raw, 'collab') AS e, jsonb_array_elements(e -> 'to') AS t), 'topic:findings', 'a publication goes to the topic')
FROM fixture.sample WHERE name = 'a publication';
SELECT clutch.subscribe('first', '{"topic": "findings"}', 'beginning'), clutch.subscribe('second', '{"topic": "findings"}', 'beginning') \g /dev/null
SELECT is((SELECT string_agg(b.envelope #>> '{payload,severity}', ' ') FROM (VALUES ('first'), ('second')) AS v(reader), LATERAL clutch.read(reader) AS b), 'HIGH HIGH', 'and reaches all who read it');
SELECT is(e ->> 'type', 'chat.message', 'everybody cannot be asked to work')
FROM clutch.inbound('{"header": {"messageId": "q3", "type": "REQUEST", "source": "ui", "destination": "*"}, "body": {"action": "a"}}') AS e;
SELECT is(fixture.fault($$SELECT clutch.inbound('{"header": {"messageId": "q", "type": "RESPONSE"}, "body": {"status": "MAYBE"}}')$$), 'KL014 WRONG_VALUE /body/status', 'the status is one of three');
SELECT is(fixture.fault($$SELECT clutch.inbound('{"header": {"messageId": "q", "type": "REQUEST", "priority": 5}, "body": {}}')$$), 'KL014 NUMBER_OUT_OF_RANGE /header/priority', 'so is the priority one of five');
SELECT is(fixture.fault($$SELECT clutch.inbound('{"header": {"type": "PUBLISH"}, "body": {}}')$$), 'KL014 REQUIRED /header/messageId', 'a header names the message');

-- what went wrong, as an agent of this protocol acts on it
SELECT is(concat_ws(' ', d #>> '{header,type}', d #>> '{body,status}', d #>> '{body,error,code}', d #>> '{body,error,message}'), 'RESPONSE TIMEOUT TIMEOUT late', 'a task.timeout is a TIMEOUT')
FROM fixture.native, clutch.outbound(envelope, 'collab') AS d WHERE name = 'task.timeout';
SELECT is((SELECT string_agg(concat_ws(' ', p ->> 'code', d #>> '{body,status}', d #>> '{body,error,code}'), ', ' ORDER BY i)
	FROM fixture.native, unnest('{"{\"code\": \"TIMEOUT\"}", "{\"code\": \"NO_CAPACITY\", \"retryable\": true}", "{\"code\": \"POLICY_DENIED\"}", "{\"code\": \"TOOL_EXECUTION_ERROR\"}", "{\"code\": \"UNAVAILABLE\"}"}'::jsonb[]) WITH ORDINALITY AS t(p, i),
		LATERAL clutch.outbound(jsonb_set(envelope, '{payload}', '{"message": "no"}' || p), 'collab') AS d WHERE name = 'task.error'),
	'TIMEOUT TIMEOUT TIMEOUT, NO_CAPACITY ERROR UNAVAILABLE, POLICY_DENIED ERROR REJECTED, TOOL_EXECUTION_ERROR ERROR INTERNAL, UNAVAILABLE ERROR UNAVAILABLE', 'a code of ours becomes one of the four of the protocol');

SELECT is(e ->> 'task_id', 'task:known', 'a task in the context counts for more than the correlation of a response')
FROM fixture.sample s, clutch.inbound(s.raw, 'collab', '{"task_id": "task:known"}') AS e WHERE s.name = 'a success';

-- what requests no task has no response, but can be answered
SELECT FROM clutch.ingest('{"header": {"messageId": "w1", "type": "REQUEST", "source": "ui", "destination": "*"}, "body": {"action": "who"}}');
SELECT is(fixture.fault($$SELECT clutch.ingest('{"header": {"messageId": "w2", "type": "RESPONSE", "source": "wren", "destination": "ui", "correlationId": "w1"}, "body": {"status": "SUCCESS", "result": {}}}')$$), 'KL003 TASK_NOT_FOUND /task_id', 'a RESPONSE needs a task');
SELECT is((SELECT e ->> 'type' FROM clutch.inbound('{"header": {"messageId": "w3", "type": "REQUEST", "source": "wren", "destination": "ui", "correlationId": "w1"}, "body": {"action": "i", "payload": {}, "responseRequired": false}}') e), 'chat.message', 'unlike a REQUEST that requires no response');

-- the subtasks of a task, which may come before it
CREATE TABLE below AS SELECT s.id, r.task_id, r.run_id, r.seq FROM (VALUES (1, 's1', 's0'), (2, 's2', 's0'), (3, 's0', NULL)) AS s(n, id, parent),
	LATERAL clutch.ingest(jsonb_build_object('header', jsonb_build_object('messageId', s.id, 'type', 'REQUEST', 'source', 'ui', 'destination', 'wren'),
		'body', jsonb_build_object('action', 'a', 'payload', '{}'::jsonb, 'context', jsonb_strip_nulls(jsonb_build_object('taskId', s.parent))))) AS r;
SELECT is((SELECT count(DISTINCT run_id)::int FROM below), 1, 'a task and the subtasks that came before it share a run');
SELECT is((SELECT string_agg(b.id, ' ' ORDER BY b.seq) FROM below b JOIN clutch.tasks t USING (task_id) WHERE t.parent_task_id = (SELECT task_id FROM below WHERE id = 's0')), 's1 s2', 'and are its children');

-- a request that was never foreign is named by the ID in its document
SELECT FROM clutch.register(fixture.card('heron'));
SELECT seq FROM clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:heron}', id => 'msg_ours', run_id => 'run:ours', task_id => 'task:ours')) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:heron', 9) \g /dev/null
CREATE TABLE below_ours AS SELECT * FROM clutch.ingest('{"header": {"messageId": "q8", "type": "REQUEST", "source": "heron", "destination": "heron"}, "body": {"action": "a", "payload": {}, "context": {"taskId": "msg_ours"}}}');
SELECT is((SELECT t.parent_task_id || ' ' || t.run_id FROM below_ours JOIN clutch.tasks t USING (task_id)),
	'task:ours run:ours', 'as the parent of another');
SELECT is((SELECT r.task_id || ' ' || r.late FROM clutch.events q, LATERAL clutch.ingest(jsonb_build_object('header', jsonb_build_object('messageId', 'q9', 'type', 'RESPONSE', 'source', 'heron', 'destination', 'ui', 'correlationId', clutch.outbound(q.envelope, 'collab') #> '{header,messageId}'),
	'body', '{"status": "SUCCESS", "result": {}}'::jsonb)) AS r WHERE q.id = 'msg_ours'), 'task:ours false', 'and by its response');
-- unless the ID is not unique, because somebody could have sent the other one to catch the response
SELECT seq FROM clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:heron}', id => 'msg_ours', run_id => 'run:theirs')) \g /dev/null
SELECT is(fixture.fault($$SELECT clutch.ingest('{"header": {"messageId": "q10", "type": "RESPONSE", "source": "heron", "correlationId": "msg_ours"}, "body": {"status": "SUCCESS"}}')$$), 'KL003 TASK_NOT_FOUND /task_id', 'if it is the ID of one request only');
SELECT seq FROM generate_series(10, 30) n, LATERAL clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:heron}', id => 'msg_many', run_id => 'run:many' || n)) \g /dev/null
SELECT seq FROM clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:heron}', id => 'msg_many', run_id => 'run:much')) \g /dev/null
SELECT is(fixture.fault($$SELECT clutch.ingest('{"header": {"messageId": "q11", "type": "RESPONSE", "source": "heron", "correlationId": "msg_many"}, "body": {"status": "SUCCESS"}}')$$), 'KL003 TASK_NOT_FOUND /task_id', 'and not of many events');

-- as in the examples of the protocol
SELECT is(concat_ws(' ', e ->> 'type', e #>> '{meta,collab,correlation_id}', clutch.outbound(e, 'collab') = x), 'task.result c-1 t', 'type and correlationId may stand beside the header')
FROM (VALUES ('{"type": "RESPONSE", "correlationId": "c-1", "header": {"messageId": "m-2", "source": "a"}, "body": {"status": "SUCCESS", "result": {"a": 1}}}'::jsonb)) AS c(x), LATERAL clutch.inbound(x) AS e;
SELECT is(clutch.outbound(jsonb_set(e, '{to,0,agent_id}', '"topic:prices"'), 'collab') ->> 'destination', 'topic:prices', 'and a destination that was changed shows there')
FROM clutch.inbound('{"type": "PUBLISH", "destination": "topic:x", "header": {"messageId": "m-3", "source": "a"}, "body": {"event": "E", "data": {}}}') AS e;

-- a message counts from when it was sent, whenever it arrives
CREATE FUNCTION pg_temp.asked(message text, sent timestamptz) RETURNS text LANGUAGE sql AS $$
	SELECT r.task_id FROM clutch.ingest(jsonb_build_object('header', jsonb_build_object('messageId', message, 'type', 'REQUEST', 'source', 'ui', 'destination', 'wren', 'timestamp', to_char(sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'ttl', 30000),
		'body', '{"action": "analyze", "payload": {}}'::jsonb)) AS r
$$;
CREATE TABLE timed AS SELECT v.name, pg_temp.asked(v.name, clutch.now() - v.age) AS task_id FROM (VALUES ('old', interval '31 s'), ('young', interval '5 s')) AS v(name, age);
-- A tick passes over a task that another one has locked, such as that of the worker of a server that preloads clutch.
DO $$
BEGIN
	FOR i IN 1..2000 LOOP
		PERFORM clutch.tick();
		COMMIT;
		EXIT WHEN (SELECT t.status FROM timed s JOIN clutch.tasks t USING (task_id) WHERE s.name = 'old') = 'timed_out';
		PERFORM pg_sleep(0.01);
	END LOOP;
END $$;
SELECT is(t.status, CASE s.name WHEN 'old' THEN 'timed_out' ELSE 'pending' END, 'a request of a ttl, and ' || s.name) FROM timed s JOIN clutch.tasks t USING (task_id) ORDER BY s.name;
SELECT is((SELECT string_agg(e.envelope #>> '{payload,code}', ' ') FROM clutch.events e WHERE e.task_id = (SELECT task_id FROM timed WHERE name = 'old') AND e.type = 'task.timeout'), 'DEADLINE_EXCEEDED', 'which says why');

-- spec 003 6.3: each message has a reference to the session
-- a tick may have given it another task as soon as it is there
SELECT FROM clutch.register(fixture.card('kite') || '{"limits": {"max_concurrency": 9}}');
SELECT task_id AS asked FROM clutch.ingest('{"header": {"messageId": "s-91", "type": "REQUEST", "source": "ui", "destination": "kite"}, "body": {"action": "a", "payload": {}, "context": {"sessionId": "session-9"}}}') \gset
SELECT FROM clutch.claim('agent:kite', 9);
SELECT FROM clutch.finish('agent:kite', :'asked', '{"n": 1}', 1);
SELECT is(concat_ws(' ', d #>> '{header,correlationId}', d #>> '{body,context,sessionId}'), 's-91 session-9', 'a reply names the session of the REQUEST') FROM clutch.reply(:'asked') AS d;

-- an answer to a question names the task
SELECT FROM clutch.ingest('{"header": {"messageId": "s-92", "type": "REQUEST", "source": "ui", "destination": "kite"}, "body": {"action": "a", "payload": {}}}');
SELECT task_id AS unsure FROM clutch.claim('agent:kite') \gset
SELECT FROM clutch.progress('agent:kite', :'unsure', '{"state": "input_required", "question": "Which?"}');
SELECT FROM clutch.ingest('{"header": {"messageId": "s-93", "type": "REQUEST", "source": "ui", "destination": "kite"}, "body": {"action": "a", "payload": {"n": 1}, "responseRequired": false, "context": {"taskId": "s-92"}}}');
SELECT is((SELECT answer::text FROM clutch.claim('agent:kite')), '{"n": 1}', 'a REQUEST that requires no response answers a question of the task');

SELECT * FROM finish();
