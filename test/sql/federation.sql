--
-- Two databases work together.  The east has a request, the west an agent that does it.
-- psql stands for the gateways of both: it carries the bodies of calls from one to the
-- other, and the bodies are envelopes as they are.
--
\set home :DBNAME
CREATE DATABASE clutch_east;
CREATE DATABASE clutch_west;
CREATE ROLE clutch_regress_gateway;
CREATE ROLE clutch_regress_east;
CREATE ROLE clutch_regress_west;

-- ------------------------------------------------------------------ the west

\c clutch_west
CREATE EXTENSION clutch;
SELECT duplicate FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "capabilities": [{"id": "skill:research"}], "limits": {"max_concurrency": 2}}');
-- Here the east is an agent.  What it sends is handed in by a role that speaks for this agent and no other.
SELECT clutch.grant_agent('clutch_regress_east', 'agent:east');
-- What is addressed to it goes there.
INSERT INTO clutch.endpoint (name, url, adapter, filter)
VALUES ('east', 'https://east.example/clutch', 'peer', '{"agent": "agent:east", "type": ["task.progress", "task.result", "task.error", "task.timeout"]}');
SELECT clutch.grant_gateway('clutch_regress_gateway');

-- ------------------------------------------------------------------ the east

\c clutch_east
CREATE EXTENSION clutch;
-- Here the west is an agent that does research, and needs no process.
SELECT duplicate FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:west", "capabilities": [{"id": "skill:research"}], "limits": {"max_concurrency": 2}}');
INSERT INTO clutch.endpoint (name, url, adapter, serves) VALUES ('west', 'https://west.example/clutch', 'peer', 'agent:west');
SELECT clutch.grant_agent('clutch_regress_west', 'agent:west');
SELECT clutch.grant_gateway('clutch_regress_gateway');

SELECT task_id, run_id FROM clutch.send(clutch.envelope('task.request', 'agent:ui', id => 'msg_q', run_id => 'run_teapots', thread_id => 'thread_teapots',
	task_id => 'task_teapots', requires => '{skill:research}', payload => '{"query": "Who makes teapots?"}'));
SELECT status, agent_id, attempt FROM clutch.tasks WHERE task_id = 'task_teapots';

-- The gateway of the east sends the request,
SET ROLE clutch_regress_gateway;
SELECT id, attempt, endpoint, kind, url, wants_answer, body::jsonb - 'ts' AS without_ts, body FROM clutch.outbox_claim() \gset call_
\echo :call_endpoint :call_kind :call_url :call_wants_answer
\echo :call_without_ts
-- and that of the west hands it in.
\c clutch_west
SET ROLE clutch_regress_east;
SELECT id, run_id, task_id, duplicate FROM clutch.ingest(:'call_body', 'peer', '{"agent_id": "agent:east"}');
SELECT clutch.reply('task_teapots', 'peer') IS NULL AS it_is_not_over;
-- It came to the west, but not as far as the gateway of the east, which sends it again.
SELECT id, run_id, task_id, duplicate FROM clutch.ingest(:'call_body', 'peer', '{"agent_id": "agent:east"}');
\c clutch_east
SET ROLE clutch_regress_gateway;
SELECT clutch.outbox_done(:'call_id', :call_attempt, status => 202);

-- --------------------------------------------------------- an agent of the west

\c clutch_west
SELECT task_id, attempt, reason, envelope -> 'payload' AS payload, envelope #>> '{from,agent_id}' AS requested_by FROM clutch.claim('agent:ken');
SELECT late FROM clutch.progress('agent:ken', 'task_teapots', '{"found": 3}');
SELECT late FROM clutch.finish('agent:ken', 'task_teapots', '{"makers": ["Brown Betty", "Yixing"]}');
-- Each of the two is sent to the east, where it speaks for the agent that the west is there.
SET ROLE clutch_regress_gateway;
SELECT id, attempt, endpoint, kind, url, body::jsonb #>> '{from,agent_id}' AS sender, body::jsonb ->> 'type' AS type, body FROM clutch.outbox_claim() \gset call_
\echo :call_endpoint :call_kind :call_url :call_sender :call_type
\c clutch_east
SET ROLE clutch_regress_west;
-- As it is, it would be the report of a stranger.
\set VERBOSITY terse
SELECT clutch.ingest(:'call_body', 'peer');
\set VERBOSITY default
SELECT duplicate, late FROM clutch.ingest(:'call_body', 'peer', '{"agent_id": "agent:west"}');
\c clutch_west
SET ROLE clutch_regress_gateway;
SELECT clutch.outbox_done(:'call_id', :call_attempt, status => 202);
SELECT id, attempt, body::jsonb ->> 'type' AS type, body FROM clutch.outbox_claim() \gset call_
\echo :call_type
\c clutch_east
SET ROLE clutch_regress_west;
SELECT duplicate, late FROM clutch.ingest(:'call_body', 'peer', '{"agent_id": "agent:west"}');
\c clutch_west
SET ROLE clutch_regress_gateway;
SELECT clutch.outbox_done(:'call_id', :call_attempt, status => 202);
SELECT count(*) AS calls_that_are_left FROM clutch.outbox_claim(9);

-- What the east knows of it: the request of its user is done, by the agent that is the west.
\c clutch_east
SELECT status, agent_id, payload FROM clutch.result('task_teapots');
SELECT type, from_agent, to_agents, envelope #>> '{meta,peer,native,from}' AS said_by FROM clutch.events WHERE run_id = 'run_teapots' ORDER BY seq;

-- -------------------------------------------------------- an answer at once

-- A gateway may wait for the end of a task, and return it as its response: then nothing is
-- sent the other way.
SELECT task_id FROM clutch.send(clutch.envelope('task.request', 'agent:ui', id => 'msg_r', run_id => 'run_cups', thread_id => 'thread_cups',
	task_id => 'task_cups', requires => '{skill:research}', payload => '{"query": "And cups?"}'));
SET ROLE clutch_regress_gateway;
SELECT id, attempt, body FROM clutch.outbox_claim() \gset call_
\c clutch_west
DELETE FROM clutch.endpoint WHERE name = 'east';
SET ROLE clutch_regress_east;
SELECT task_id, duplicate FROM clutch.ingest(:'call_body', 'peer', '{"agent_id": "agent:east"}');
RESET ROLE;
SELECT task_id FROM clutch.claim('agent:ken');
SELECT late FROM clutch.fail('agent:ken', 'task_cups', 'NOT_FOUND', 'nobody makes cups', retryable => false);
SET ROLE clutch_regress_east;
SELECT clutch.reply('task_cups', 'peer') AS answer \gset
\c clutch_east
SET ROLE clutch_regress_gateway;
SELECT clutch.outbox_done(:'call_id', :call_attempt, status => 200, response => :'answer');
RESET ROLE;
SELECT status, agent_id, code, detail FROM clutch.tasks WHERE task_id = 'task_cups';

-- ------------------------------------------------------------ a cancellation

SELECT task_id FROM clutch.send(clutch.envelope('task.request', 'agent:ui', id => 'msg_s', run_id => 'run_plates', thread_id => 'thread_plates',
	task_id => 'task_plates', requires => '{skill:research}', payload => '{"query": "And plates?"}'));
SET ROLE clutch_regress_gateway;
SELECT id, attempt, body FROM clutch.outbox_claim() \gset call_
SELECT clutch.outbox_done(:'call_id', :call_attempt, status => 202);
\c clutch_west
SET ROLE clutch_regress_east;
SELECT task_id FROM clutch.ingest(:'call_body', 'peer', '{"agent_id": "agent:east"}');
RESET ROLE;
SELECT task_id FROM clutch.claim('agent:ken');
\c clutch_east
SELECT duplicate FROM clutch.cancel('task_plates', 'We have enough plates.', by_agent => 'agent:ui');
SET ROLE clutch_regress_gateway;
SELECT id, attempt, kind, wants_answer, body::jsonb - 'id' - 'ts' AS without_id, body FROM clutch.outbox_claim() \gset call_
\echo :call_kind :call_wants_answer
\echo :call_without_id
SELECT clutch.outbox_done(:'call_id', :call_attempt, status => 202);
\c clutch_west
SET ROLE clutch_regress_east;
SELECT duplicate, late FROM clutch.ingest(:'call_body', 'peer', '{"agent_id": "agent:east"}');
RESET ROLE;
SELECT status, agent_id, detail FROM clutch.tasks WHERE task_id = 'task_plates';

\c :home
DROP DATABASE clutch_east;
DROP DATABASE clutch_west;
DROP ROLE clutch_regress_gateway, clutch_regress_east, clutch_regress_west;
