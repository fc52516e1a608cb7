-- Artifacts that an agent of A2A streams are a part of its result.
\ir ../fixtures/tap.sql
SELECT plan(99);

CREATE TEMP TABLE handed (id text, attempt integer, body jsonb);
CREATE FUNCTION fixture.hand() RETURNS bigint LANGUAGE sql AS $$
	DELETE FROM handed;
	INSERT INTO handed SELECT c.id, c.attempt, c.body::jsonb FROM clutch.outbox_claim(9, '30 s') c;
	SELECT count(*) FROM handed;
$$;
-- a document of the stream of the task
CREATE FUNCTION fixture.streams(result jsonb, is_last boolean DEFAULT false) RETURNS text LANGUAGE sql AS $$
	SELECT clutch.outbox_done(h.id, h.attempt, 200, response => jsonb_build_object('jsonrpc', '2.0', 'id', h.body -> 'id', 'result', result), is_last => is_last) FROM handed h
$$;
CREATE FUNCTION fixture.update(artifact text, parts jsonb, append boolean DEFAULT false, name text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT fixture.streams(jsonb_build_object('artifactUpdate', jsonb_build_object('taskId', 'T', 'contextId', 'C', 'append', append,
		'artifact', jsonb_strip_nulls(jsonb_build_object('artifactId', artifact, 'name', name, 'parts', parts)))))
$$;
CREATE FUNCTION fixture.ends(message jsonb DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT fixture.streams(jsonb_build_object('statusUpdate', jsonb_build_object('taskId', 'T', 'contextId', 'C',
		'status', jsonb_strip_nulls(jsonb_build_object('state', 'TASK_STATE_COMPLETED', 'message', message)))), true)
$$;
CREATE FUNCTION fixture.said(task text) RETURNS jsonb LANGUAGE sql AS
$$ SELECT payload FROM clutch.result(task) $$;

SELECT fixture.at(0);
INSERT INTO clutch.endpoint (name, url, adapter, serves) VALUES ('far', 'https://far.example/a2a', 'a2a', 'agent:far');
SELECT fixture.agent('far', 4, ARRAY['skill:far']);

-- a text in pieces
SELECT fixture.ask('task:text', skill => 'skill:far');
SELECT is(fixture.hand(), 1::bigint, 'a request');
SELECT is(fixture.streams('{"task": {"id": "T", "contextId": "C", "status": {"state": "TASK_STATE_WORKING"}}}'), 'pending', 'of which the agent makes a task');
SELECT is(fixture.update('A', '[{"text": "Once "}]', name => 'story'), 'pending', 'and an artifact');
SELECT fixture.update('A', '[{"text": "upon "}]', true);
SELECT fixture.update('A', '[{"text": "a time"}]', true);
SELECT is(fixture.ends(), 'sent', 'ends with a status that does not repeat the artifact');
SELECT is(fixture.said('task:text'), '{"text": "Once upon a time"}', 'the result is what was streamed');
SELECT is((SELECT e.envelope #> '{meta,a2a,artifact}' FROM clutch.events e WHERE e.task_id = 'task:text' AND e.type = 'task.result'),
	'{"artifactId": "A", "name": "story"}', 'as if the task had come as a whole');
SELECT is((SELECT count(*) FROM clutch.events e WHERE e.task_id = 'task:text' AND e.type = 'task.progress'), 4::bigint, 'and the pieces are progress');

-- an artifact that begins anew, data, and a file
SELECT fixture.ask('task:data', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.update('A', '[{"text": "wrong"}]');
SELECT fixture.update('A', '[{"data": {"sum": 3}}, {"url": "https://far.example/f.csv", "mediaType": "text/csv"}]');
SELECT is(fixture.ends(), 'sent', 'an artifact that was sent anew');
SELECT is(fixture.said('task:data'), '{"sum": 3}', 'is the last one');
SELECT is((SELECT e.envelope -> 'attachments' FROM clutch.events e WHERE e.task_id = 'task:data' AND e.type = 'task.result'),
	'[{"kind": "uri", "ref": "https://far.example/f.csv", "mediaType": "text/csv"}]', 'its files are attached to the result');

-- the order of the parts, and what an artifact has besides them
CREATE FUNCTION fixture.artifact_of(task text) RETURNS jsonb LANGUAGE sql AS
$$ SELECT clutch.outbound(e.envelope, 'a2a') #> '{result,task,artifacts,0}' FROM clutch.events e WHERE e.task_id = task AND e.type = 'task.result' $$;
SELECT fixture.ask('task:order', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.update('A', '[{"text": "Hel"}]');
SELECT fixture.update('A', '[{"text": "lo", "mediaType": "text/plain"}]', true);
SELECT fixture.update('A', '[{"data": {"x": 1}}, {"text": "tail"}]', true);
SELECT fixture.update('A', '[{"url": "https://far.example/f.csv"}, {"text": "caption"}, {"text": "noted", "metadata": {"k": 1}}, {"raw": "aGk="}]', true);
SELECT is(fixture.ends(), 'sent', 'texts between other parts');
SELECT is(fixture.artifact_of('task:order') -> 'parts', '[{"text": "Hello"}, {"data": {"x": 1}}, {"text": "tail"}, {"url": "https://far.example/f.csv"}, {"text": "caption"}, {"text": "noted", "metadata": {"k": 1}}, {"raw": "aGk="}]',
	'stay where they are');
SELECT fixture.ask('task:more', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.streams('{"artifactUpdate": {"taskId": "T", "contextId": "C", "artifact": {"artifactId": "A", "name": "N", "extensions": ["https://e"], "metadata": {"m": 1, "n": 1}, "parts": [{"url": "https://x/y", "mediaType": "image/png"}, {"text": "caption"}]}}}');
SELECT fixture.streams('{"artifactUpdate": {"taskId": "T", "contextId": "C", "append": true, "lastChunk": true, "artifact": {"artifactId": "A", "name": null, "metadata": {"n": 2, "o": 3}, "parts": []}}}');
SELECT is(fixture.ends(), 'sent', 'an artifact with metadata and extensions');
SELECT is(fixture.artifact_of('task:more'), '{"artifactId": "A", "name": "N", "extensions": ["https://e"], "metadata": {"m": 1, "n": 2, "o": 3}, "parts": [{"url": "https://x/y", "mediaType": "image/png"}, {"text": "caption"}]}', 'keeps them');
SELECT fixture.ask('task:anew', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.update('A', '[{"text": "wrong"}]', name => 'wrong');
SELECT fixture.update('A', '[{"text": "right"}]');
SELECT fixture.ends();
SELECT is(fixture.artifact_of('task:anew'), '{"artifactId": "A", "parts": [{"text": "right"}]}', 'an artifact that was sent anew has nothing of the old one');
SELECT fixture.ask('task:old-order', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.streams('{"kind": "artifact-update", "taskId": "T", "contextId": "C", "artifact": {"artifactId": "A", "parts": [{"kind": "data", "data": {"x": 1}}, {"kind": "text", "text": "tail"}, {"kind": "file", "file": {"uri": "https://x/y", "name": "y"}}]}}');
SELECT is(fixture.streams('{"kind": "status-update", "taskId": "T", "contextId": "C", "final": true, "status": {"state": "completed"}}', true), 'sent', 'parts of version 0.3');
SELECT is((SELECT clutch.outbound(e.envelope, 'a2a') #> '{result,artifacts,0,parts}' FROM clutch.events e WHERE e.task_id = 'task:old-order' AND e.type = 'task.result'),
	'[{"kind": "data", "data": {"x": 1}}, {"kind": "text", "text": "tail"}, {"kind": "file", "file": {"uri": "https://x/y", "name": "y"}}]', 'keep their order, too');

-- pieces that the gateway reports again, because it has not heard that they were taken
CREATE FUNCTION fixture.part(n integer, text text) RETURNS text LANGUAGE sql AS $$
	SELECT clutch.outbox_done(h.id, h.attempt, 200, response => jsonb_build_object('jsonrpc', '2.0', 'id', h.body -> 'id', 'result', jsonb_build_object('artifactUpdate',
		jsonb_build_object('taskId', 'T', 'contextId', 'C', 'append', n > 1, 'artifact', jsonb_build_object('artifactId', 'A', 'parts', jsonb_build_array(jsonb_build_object('text', text)))))),
		is_last => false, part => n) FROM handed h
$$;
SELECT fixture.ask('task:repeated', skill => 'skill:far');
SELECT fixture.hand();
SELECT is((SELECT string_agg(fixture.part(n, text), ' ') FROM (VALUES (1, 'Once '), (1, 'Once '), (2, 'upon '), (1, 'Once '), (2, 'upon '), (4, 'a time')) AS v(n, text)), 'pending pending pending pending pending pending',
	'parts with numbers, some of them again');
SELECT is((SELECT part FROM clutch.outbox WHERE task_id = 'task:repeated'), 4, 'the call has the last one');
SELECT is((SELECT count(*) FROM clutch.events e WHERE e.task_id = 'task:repeated' AND e.type = 'task.progress'), 3::bigint, 'each was taken once');
-- the stream breaks off, and the call is sent again
SELECT is(clutch.outbox_done(h.id, h.attempt, failure => 'broken off', part => 4), 'pending', 'a failure, with the number of the last part') FROM handed h;
SELECT is((SELECT failure FROM clutch.outbox WHERE task_id = 'task:repeated'), 'broken off', 'is no repetition');
SELECT fixture.at(15);
SELECT is(fixture.hand(), 1::bigint, 'the next attempt');
SELECT is(fixture.part(1, 'Once more'), 'pending', 'has parts of its own');
SELECT is(fixture.ends(), 'sent', 'and an end without a number');
SELECT is(fixture.said('task:repeated') ->> 'text', 'Once more', 'that are taken');
SELECT fixture.at(0);

-- several artifacts, and a message
SELECT fixture.ask('task:several', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.update('A', '[{"text": "one"}]');
SELECT fixture.update('B', '[{"text": "two"}]', name => 'second');
SELECT fixture.ends();
SELECT is(fixture.said('task:several'), '{"artifacts": [{"artifactId": "A", "parts": [{"text": "one"}]}, {"artifactId": "B", "name": "second", "parts": [{"text": "two"}]}]}', 'several artifacts');
SELECT fixture.ask('task:message', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.update('A', '[{"text": "one"}]');
SELECT is(fixture.ends('{"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Done."}]}'), 'sent', 'a message at the end');
SELECT is(fixture.said('task:message'), '{"text": "Done.", "artifacts": [{"artifactId": "A", "parts": [{"text": "one"}]}]}', 'is told beside the artifacts');

-- a task that comes as a whole, and one without artifacts
SELECT fixture.ask('task:whole', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.update('A', '[{"text": "a piece"}]');
SELECT is(fixture.streams('{"task": {"id": "T", "contextId": "C", "status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [{"artifactId": "A", "parts": [{"text": "all of it"}]}]}}', true), 'sent', 'a task with its artifact');
SELECT is(fixture.said('task:whole'), '{"text": "all of it"}', 'is the result as it is');
SELECT fixture.ask('task:none', skill => 'skill:far');
SELECT fixture.hand();
SELECT is(fixture.ends(), 'sent', 'a stream without artifacts');
SELECT is(fixture.said('task:none'), '{}', 'has an empty result');

-- a stream that comes as one response
SELECT fixture.ask('task:batch', skill => 'skill:far');
SELECT fixture.hand();
SELECT is((SELECT clutch.outbox_done(h.id, h.attempt, 200, response => jsonb_agg(jsonb_build_object('jsonrpc', '2.0', 'id', h.body -> 'id', 'result', d.result) ORDER BY d.n))
	FROM handed h, (VALUES (1, '{"artifactUpdate": {"taskId": "T", "contextId": "C", "artifact": {"artifactId": "A", "parts": [{"text": "all "}]}}}'::jsonb),
		(2, '{"artifactUpdate": {"taskId": "T", "contextId": "C", "append": true, "artifact": {"artifactId": "A", "parts": [{"text": "at once"}]}}}'),
		(3, '{"statusUpdate": {"taskId": "T", "contextId": "C", "status": {"state": "TASK_STATE_COMPLETED"}}}')) AS d(n, result) GROUP BY h.id, h.attempt), 'sent', 'a batch of all documents');
SELECT is(fixture.said('task:batch'), '{"text": "all at once"}', 'has the artifacts that stand before its end');

-- version 0.3
SELECT fixture.ask('task:old', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.streams('{"kind": "artifact-update", "taskId": "T", "contextId": "C", "artifact": {"artifactId": "A", "parts": [{"kind": "text", "text": "in "}]}}');
SELECT fixture.streams('{"kind": "artifact-update", "taskId": "T", "contextId": "C", "append": true, "artifact": {"artifactId": "A", "parts": [{"kind": "text", "text": "0.3"}]}}');
SELECT is(fixture.streams('{"kind": "status-update", "taskId": "T", "contextId": "C", "final": true, "status": {"state": "completed"}}', true), 'sent', 'version 0.3');
SELECT is(fixture.said('task:old'), '{"text": "in 0.3"}', 'streams in the same way');

-- an error, and what another attempt has streamed
SELECT fixture.ask('task:again', skill => 'skill:far', orders => '{"retry": {"max": 1, "initial_ms": 1000}}');
SELECT fixture.hand();
SELECT fixture.update('A', '[{"text": "of the first attempt"}]');
SELECT is((SELECT clutch.outbox_done(h.id, h.attempt, 410) FROM handed h), 'dead', 'an attempt that fails');
SELECT fixture.at(20);
SELECT clutch.tick();
SELECT is(fixture.hand(), 1::bigint, 'the next one');
SELECT fixture.update('B', '[{"text": "of the second"}]');
SELECT fixture.ends();
SELECT is(fixture.said('task:again'), '{"text": "of the second"}', 'has only its own artifacts');

-- a question in the middle: the other side goes on with the same task
SELECT fixture.ask('task:asks', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.update('A', '[{"text": "Chapter one. "}]');
SELECT is(fixture.streams('{"statusUpdate": {"taskId": "T", "contextId": "C", "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "how long?"}]}}}}', true),
	'sent', 'an agent that streams, and asks');
SELECT clutch.answer('task:asks', '{"text": "short"}', 'agent:orchestrator');
SELECT is(fixture.hand(), 1::bigint, 'gets the answer');
SELECT fixture.update('A', '[{"text": "Chapter two."}]', true);
SELECT fixture.ends();
SELECT is(fixture.said('task:asks'), '{"text": "Chapter one. Chapter two."}', 'and the result has what was streamed before the question as well');

-- a login: the other side goes on with the same stream when the user has logged in elsewhere
CREATE FUNCTION fixture.status(state text, said text DEFAULT NULL, is_last boolean DEFAULT false) RETURNS text LANGUAGE sql AS $$
	SELECT fixture.streams(jsonb_build_object('statusUpdate', jsonb_build_object('taskId', 'T', 'contextId', 'C',
		'status', jsonb_strip_nulls(jsonb_build_object('state', 'TASK_STATE_' || state, 'message', CASE WHEN said IS NOT NULL THEN jsonb_build_object('messageId', said, 'role', 'ROLE_AGENT', 'parts', jsonb_build_array(jsonb_build_object('text', said))) END)))), is_last)
$$;
CREATE FUNCTION fixture.stands(task text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', t.status, t.attempt, q.question ->> 'question') FROM clutch.tasks t LEFT JOIN clutch.approvals q USING (task_id) WHERE t.task_id = task $$;
SELECT fixture.ask('task:login', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.update('A', '[{"text": "Before. "}]');
SELECT is(fixture.status('AUTH_REQUIRED', 'Log in.'), 'pending', 'a login that an agent waits for does not end the stream');
SELECT is(fixture.stands('task:login'), 'input_required 1 Log in.', 'but is a question');
SELECT is(fixture.status('WORKING', 'Thanks.'), 'pending', 'the agent goes on');
SELECT is(fixture.stands('task:login'), 'input_required 1 Log in.', 'while the task is parked');
SELECT fixture.update('A', '[{"text": "After."}]', true);
SELECT is(fixture.ends(), 'sent', 'until it has done its work');
SELECT is(fixture.stands('task:login'), 'completed 1', 'and the task ends in the same attempt');
SELECT is(fixture.said('task:login'), '{"text": "Before. After."}', 'with what was streamed before and after the login');
SELECT fixture.ask('task:login-batch', skill => 'skill:far');
SELECT fixture.hand();
SELECT is((SELECT clutch.outbox_done(h.id, h.attempt, 200, response => jsonb_agg(jsonb_build_object('jsonrpc', '2.0', 'id', h.body -> 'id', 'result', jsonb_build_object('statusUpdate', jsonb_build_object('taskId', 'T', 'contextId', 'C', 'status', jsonb_build_object('state', d.state)))) ORDER BY d.n))
	FROM handed h, (VALUES (1, 'TASK_STATE_AUTH_REQUIRED'), (2, 'TASK_STATE_COMPLETED')) AS d(n, state) GROUP BY h.id, h.attempt), 'sent', 'also if both come in one response');
SELECT is(fixture.stands('task:login-batch'), 'completed 1', 'the task ends');
-- who asks for input afterwards waits for the answer
SELECT fixture.ask('task:login-asks', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.status('AUTH_REQUIRED', 'Log in.');
SELECT is(fixture.status('INPUT_REQUIRED', 'Which?'), 'sent', 'an agent that then asks for input');
SELECT is(fixture.stands('task:login-asks'), 'input_required 1 Which?', 'has asked another question');
SELECT clutch.cancel('task:login-asks');
-- nothing is sent again while the question is open, and the answer of a user ends the old call
CREATE FUNCTION fixture.login(task text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fixture.ask(task, skill => 'skill:far');
	PERFORM fixture.settle();
	DELETE FROM clutch.outbox WHERE kind = 'cancel';
	PERFORM fixture.hand();
	PERFORM fixture.status('AUTH_REQUIRED', 'Log in.');
END $$;
SELECT fixture.login('task:login-1');
SELECT is((SELECT clutch.outbox_done(h.id, h.attempt, failure => 'broken off') FROM handed h), 'sent', 'a stream that breaks off after the question');
SELECT is(fixture.stands('task:login-1'), 'input_required 1 Log in.', 'leaves it');
SELECT fixture.login('task:login-2');
SELECT is((SELECT clutch.outbox_done(h.id, h.attempt, 200) FROM handed h), 'sent', 'and so does one that ends');
SELECT is(fixture.stands('task:login-2'), 'input_required 1 Log in.', 'without another document');
SELECT fixture.login('task:login-5');
SELECT is((SELECT clutch.outbox_done(h.id, h.attempt, 200, is_last => false) FROM handed h), 'pending', 'but one that only says that it goes on');
SELECT fixture.status('COMPLETED', is_last => true);
SELECT is(fixture.stands('task:login-5'), 'completed 1', 'may still have a result');
SELECT fixture.login('task:login-3');
SELECT clutch.answer('task:login-3', '{"text": "done"}', 'agent:orchestrator');
SELECT is(fixture.status('WORKING'), 'void', 'after the answer of a user, nobody listens to the old stream');
SELECT is(fixture.hand(), 1::bigint, 'because the answer is a call of its own');
SELECT is(fixture.ends(), 'sent', 'which has');
SELECT is(fixture.stands('task:login-3'), 'completed 2', 'the result');
SELECT fixture.login('task:login-4');
SELECT fixture.at(1000);
SELECT is(fixture.hand(), 0::bigint, 'a request whose stream is silent for too long is not sent again');
SELECT is(fixture.stands('task:login-4'), 'input_required 1 Log in.', 'and the question stands');
SELECT clutch.cancel(task_id) FROM clutch.approvals;
DELETE FROM clutch.outbox;
SELECT fixture.at(0);

-- an answer that does not arrive
CREATE FUNCTION fixture.sends() RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', h.body #>> '{params,message,taskId}', h.body #>> '{params,message,parts,0,text}') FROM handed h
$$;
CREATE FUNCTION fixture.asks(state text) RETURNS text LANGUAGE sql AS $$
	SELECT fixture.streams(jsonb_build_object('statusUpdate', jsonb_build_object('taskId', 'T', 'contextId', 'C',
		'status', jsonb_build_object('state', state, 'message', '{"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "which?"}]}'::jsonb))), true)
$$;
SELECT fixture.ask('task:unheard', skill => 'skill:far', more => '{"payload": {"text": "the request"}}');
SELECT fixture.hand();
SELECT fixture.asks('TASK_STATE_INPUT_REQUIRED');
SELECT clutch.answer('task:unheard', '{"text": "the answer"}', 'agent:orchestrator');
SELECT fixture.hand();
SELECT is(fixture.sends(), 'T the answer', 'an answer');
SELECT is((SELECT clutch.outbox_done(h.id, h.attempt, 410) FROM handed h), 'dead', 'that never arrives');
SELECT fixture.at(30);
SELECT clutch.tick();
SELECT is(fixture.hand(), 1::bigint, 'the task is tried again');
SELECT is(fixture.sends(), 'T the answer', 'with the answer, for which the agent still waits');
SELECT is(fixture.streams('{"statusUpdate": {"taskId": "T", "contextId": "C", "status": {"state": "TASK_STATE_WORKING"}}}'), 'pending', 'if it has got it');
SELECT is((SELECT clutch.outbox_done(h.id, h.attempt, 410) FROM handed h), 'dead', 'and the call fails then');
SELECT fixture.at(35);
SELECT clutch.tick();
SELECT fixture.hand();
SELECT is(fixture.sends(), 'the request', 'it is asked anew');
SELECT fixture.ends();

-- a stream that breaks off: the call is sent again in the same attempt of the task
CREATE FUNCTION fixture.streams_of(other_task text, artifact text, said text, append boolean DEFAULT false) RETURNS text LANGUAGE sql AS $$
	SELECT fixture.streams(jsonb_build_object('artifactUpdate', jsonb_build_object('taskId', other_task, 'contextId', 'C', 'append', append,
		'artifact', jsonb_build_object('artifactId', artifact, 'parts', jsonb_build_array(jsonb_build_object('text', said))))))
$$;
CREATE FUNCTION fixture.breaks_off() RETURNS text LANGUAGE sql AS
$$ SELECT clutch.outbox_done(h.id, h.attempt, failure => 'the connection was reset') FROM handed h $$;
SELECT fixture.ask('task:broken', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.streams_of('T1', 'A', 'Once up');
SELECT is(fixture.breaks_off(), 'pending', 'a stream that breaks off');
SELECT fixture.at(40);
SELECT is(fixture.hand(), 1::bigint, 'is asked for again');
SELECT fixture.streams_of('T2', 'B', 'Once upon '), fixture.streams_of('T2', 'B', 'a time', true);
SELECT fixture.streams('{"statusUpdate": {"taskId": "T2", "contextId": "C", "status": {"state": "TASK_STATE_COMPLETED"}}}', true);
SELECT is(fixture.said('task:broken'), '{"text": "Once upon a time"}', 'the artifacts of the task that the other side has given up are not in the result of the other one');
SELECT fixture.ask('task:resumed', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.streams_of('T3', 'A', 'Once ');
SELECT fixture.breaks_off();
SELECT fixture.at(80);
SELECT fixture.hand();
SELECT fixture.streams_of('T3', 'A', 'more', true);
SELECT fixture.streams('{"statusUpdate": {"taskId": "T3", "contextId": "C", "status": {"state": "TASK_STATE_COMPLETED"}}}', true);
SELECT is(fixture.said('task:resumed'), '{"text": "Once more"}', 'those of a task that the other side goes on with are');

-- more than fits into an envelope
SELECT fixture.ask('task:large', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.update('A', jsonb_build_array(jsonb_build_object('text', repeat('x', 600000))), i > 1) FROM generate_series(1, 2) AS i;
SELECT is(fixture.ends(), 'sent', 'an artifact that is larger than an envelope may be');
SELECT is(fixture.said('task:large'), '{}', 'stays in its pieces');

-- bytes that have become artifacts of the database
UPDATE clutch.endpoint SET artifacts_from = 256;
SELECT fixture.ask('task:bytes', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.update('A', jsonb_build_array('{"text": "a picture"}'::jsonb, jsonb_build_object('mediaType', 'image/png', 'raw', repeat('QUJD', 200))));
SELECT is(fixture.ends(), 'sent', 'bytes in an artifact');
SELECT is(fixture.said('task:bytes') #>> '{parts,0,raw}', (SELECT ref FROM clutch.artifacts), 'are named in the result by their reference');
SELECT is((SELECT clutch.outbound(e.envelope, 'a2a') #> '{result,task,artifacts,0,parts}' FROM clutch.events e WHERE e.task_id = 'task:bytes' AND e.type = 'task.result'),
	(SELECT clutch.outbound(e.envelope, 'a2a') #> '{result,artifactUpdate,artifact,parts}' FROM clutch.events e WHERE e.task_id = 'task:bytes' AND e.type = 'task.progress'), 'and come back in the dialect');

-- ----------------------------------------------- the stream that follows an answer
CREATE FUNCTION fixture.asks(message text, text text, is_last boolean) RETURNS text LANGUAGE sql AS $$
	SELECT fixture.streams(jsonb_build_object('task', jsonb_build_object('id', 'T', 'contextId', 'C', 'status', jsonb_build_object('state', 'TASK_STATE_INPUT_REQUIRED',
		'message', jsonb_strip_nulls(jsonb_build_object('messageId', message, 'role', 'ROLE_AGENT', 'parts', jsonb_build_array(jsonb_build_object('text', text))))))), is_last)
$$;
SELECT fixture.ask('task:asked-twice', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.asks('m-1', 'which?', true);
SELECT clutch.answer('task:asked-twice', '{"text": "that one"}', by_agent => 'agent:ui');
SELECT fixture.hand();
SELECT is(fixture.asks('m-1', 'which?', false), 'pending', 'may begin with the question that was answered');
SELECT is(fixture.state('task:asked-twice'), 'running agent:far 2', 'which does not ask again');
SELECT is(fixture.asks('m-2', 'which?', false), 'sent', 'another question');
SELECT is(fixture.state('task:asked-twice'), 'input_required agent:far 2', 'does');
SELECT clutch.answer('task:asked-twice', '{"text": "the other one"}', by_agent => 'agent:ui');
SELECT fixture.hand();
SELECT is(fixture.asks('m-2', 'which?', false), 'pending', 'and so on');
SELECT is(fixture.ends('{"messageId": "m-3", "role": "ROLE_AGENT", "parts": [{"text": "done"}]}'), 'sent', 'until the end');
SELECT is(fixture.said('task:asked-twice'), '{"text": "done"}', 'which is not lost');
SELECT fixture.ask('task:insists', skill => 'skill:far');
SELECT fixture.hand();
SELECT fixture.asks('m-1', 'which?', true);
SELECT clutch.answer('task:insists', '{"text": "that one"}', by_agent => 'agent:ui');
SELECT fixture.hand();
SELECT fixture.asks('m-1', 'which?', true);
SELECT is(fixture.state('task:insists'), 'input_required agent:far 2', 'an answer that ends with the question asks again');
SELECT clutch.cancel('task:insists', by_agent => 'agent:ui');
SELECT fixture.hand();
SELECT FROM handed h, clutch.outbox_done(h.id, h.attempt, 200);

-- ------------------------------------------------ an agent is asked for a stream
CREATE FUNCTION fixture.method() RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', h.body ->> 'method', h.body #>> '{params,message,taskId}') FROM handed h $$;
UPDATE clutch.endpoint SET headers = '{"Accept": "application/json, Text/Event-Stream"}' WHERE name = 'far';
SELECT fixture.ask('task:stream', skill => 'skill:far');
SELECT fixture.hand();
SELECT is(fixture.method(), 'SendStreamingMessage', 'an endpoint that accepts a stream is asked for one');
SELECT is((SELECT body #> '{params,message,parts}' FROM handed), '[{"data": {"q": 1}}]', 'with the same message');
SELECT fixture.streams('{"task": {"id": "T", "contextId": "C", "status": {"state": "TASK_STATE_SUBMITTED"}}}');
SELECT fixture.streams('{"statusUpdate": {"taskId": "T", "contextId": "C", "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": "which?"}]}}}}');
SELECT clutch.answer('task:stream', '{"text": "that one"}', by_agent => 'agent:ui');
SELECT fixture.hand();
SELECT is(fixture.method(), 'SendStreamingMessage T', 'also when it is sent an answer');
SELECT fixture.streams('{"statusUpdate": {"taskId": "T", "contextId": "C", "status": {"state": "TASK_STATE_WORKING"}}}');
SELECT clutch.cancel('task:stream', by_agent => 'agent:ui');
SELECT fixture.hand();
SELECT is(fixture.method(), 'CancelTask', 'but not when its task is cancelled');
SELECT FROM handed h, clutch.outbox_done(h.id, h.attempt, 200);
SELECT clutch.post('far', clutch.envelope('task.request', 'agent:ui', payload => '{"text": "hi"}'));
SELECT fixture.hand();
SELECT is(fixture.method(), 'SendMessage', 'nor for a call to which nobody awaits an answer');
SELECT FROM handed h, clutch.outbox_done(h.id, h.attempt, 200);
UPDATE clutch.endpoint SET headers = '{"A2A-Version": "0.3", "accept": "text/event-stream"}' WHERE name = 'far';
SELECT fixture.ask('task:stream-old', skill => 'skill:far');
SELECT fixture.hand();
SELECT is(fixture.method(), 'message/stream', 'in version 0.3 as well');
SELECT is(fixture.streams('{"kind": "status-update", "taskId": "T2", "contextId": "C", "final": true, "status": {"state": "completed"}}'), 'sent', 'whose stream ends');
UPDATE clutch.endpoint SET headers = '{"accept": "application/json"}' WHERE name = 'far';
SELECT fixture.ask('task:no-stream', skill => 'skill:far');
SELECT fixture.hand();
SELECT is(fixture.method(), 'SendMessage', 'an endpoint that accepts no stream responds once');
SELECT is(fixture.ends(), 'sent', 'by the end of its task');

SELECT * FROM finish();
