--
-- The example of the specification, section 10: a user requests market
-- research through a user interface.  Ids and time are fixed, so every
-- column shown is exact.
--
CREATE EXTENSION clutch;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET clutch.clock = '2026-02-01T13:20:00Z';

-- Two agents can do research.  Ken is as the specification prints him.
SELECT seq, duplicate, run_id, late FROM clutch.register('{
  "v": "clutch/0.1",
  "agent_id": "agent:ken",
  "display": { "name": "Ken", "desc": "Research specialist" },
  "endpoints": {
    "a2a": { "url": "http://ken:8080/a2a" },
    "clutch": { "url": "http://ken:8080/clutch" }
  },
  "capabilities": [
    {
      "id": "skill:research",
      "version": "1.0",
      "tags": ["market", "competitive", "fintech"],
      "tools": ["mcp:browser", "mcp:files"],
      "trust_level": "sandbox",
      "cost_hint": "medium"
    },
    { "id": "tool:mcp", "servers": ["mcp:browser", "mcp:files"] }
  ],
  "limits": { "max_concurrency": 2, "max_runtime_sec": 600 },
  "security": { "sandbox": true, "network": "egress-restricted" }
}');
SELECT seq, duplicate, run_id, late FROM clutch.register('{
  "v": "clutch/0.1",
  "agent_id": "agent:research-2",
  "display": { "name": "Second researcher" },
  "capabilities": [ { "id": "skill:research", "version": "1.0", "tags": ["fintech"] } ],
  "limits": { "max_concurrency": 1 }
}');
SELECT seq, duplicate, run_id, late FROM clutch.register('{
  "v": "clutch/0.1",
  "agent_id": "agent:writer",
  "display": { "name": "Writer" },
  "capabilities": [ { "id": "skill:writing" } ]
}');
SELECT agent_id, status, capabilities, max_concurrency, running, success_rate FROM clutch.agents ORDER BY agent_id;

-- Before the fact: who would get it?  Nothing is written.
SELECT agent_id, eligible, rejected_by, score, load, rank
FROM clutch.explain_route('{
  "v": "clutch/0.1", "id": "msg_01", "ts": "2026-02-01T13:20:11.123Z",
  "thread_id": "thr_market", "run_id": "run_xyz", "task_id": "task_abc",
  "from": { "agent_id": "agent:ui", "role": "user" },
  "to": [ { "agent_id": "agent:orchestrator" } ],
  "type": "task.request", "payload": { "query": "market analysis" },
  "requires": ["skill:research"], "prefers": ["tool:browser", "domain:fintech"]
}')
ORDER BY rank NULLS LAST, agent_id;
SELECT count(*) FROM clutch.events;

-- 1. UI -> Gateway: task.request, to the orchestrator
SET clutch.clock = '2026-02-01T13:20:11Z';
INSERT INTO clutch.events (envelope) VALUES ('{
  "v": "clutch/0.1", "id": "msg_01", "ts": "2026-02-01T13:20:11.123Z",
  "thread_id": "thr_market", "run_id": "run_xyz", "task_id": "task_abc",
  "from": { "agent_id": "agent:ui", "role": "user" },
  "to": [ { "agent_id": "agent:orchestrator" } ],
  "type": "task.request", "domain": "research", "payload_type": "research.query.v1",
  "payload": { "query": "market analysis" },
  "requires": ["skill:research"], "prefers": ["tool:browser", "domain:fintech"]
}') RETURNING seq, id, type, from_agent, to_agents, late;

-- 2. Orchestrator evaluates capabilities: routing.decision, in the same transaction
SELECT seq, from_agent, to_agents, task_id,
       envelope #>> '{payload,selected}' AS selected, envelope #> '{payload,candidates}' AS candidates,
       envelope #> '{payload,scores}' AS scores, envelope #>> '{payload,request}' AS request
FROM clutch.events WHERE type = 'routing.decision';
SELECT envelope #>> '{payload,reason}' AS reason, jsonb_pretty(envelope #> '{payload,rejected}') AS rejected
FROM clutch.events WHERE type = 'routing.decision';
SELECT agent_id, eligible, rejected_by, score, load, rank FROM clutch.why('task_abc') ORDER BY rank NULLS LAST, agent_id;
SELECT task_id, status, agent_id, attempt, waiting_for, created_at, started_at FROM clutch.tasks;

-- 3. Orchestrator -> Ken: task.request for the same task is a hand-over, not a second task;
-- to the agent that has it already, it moves nothing
INSERT INTO clutch.events (envelope) VALUES ('{
  "v": "clutch/0.1", "id": "msg_03", "ts": "2026-02-01T13:20:12Z",
  "thread_id": "thr_market", "run_id": "run_xyz", "task_id": "task_abc",
  "from": { "agent_id": "agent:orchestrator" }, "to": [ { "agent_id": "agent:ken" } ],
  "type": "task.request", "domain": "research", "payload_type": "research.query.v1",
  "payload": { "query": "market analysis" }
}') RETURNING id, type, to_agents, late;
SELECT task_id, status, agent_id, attempt FROM clutch.tasks;

-- 4. Ken -> Orchestrator: task.accept; the claim writes it
SET clutch.clock = '2026-02-01T13:20:13Z';
SELECT task_id, attempt, lease_until, deadline, reason, last_progress, envelope ->> 'id' AS request
FROM clutch.claim('agent:ken');
SELECT type, from_agent, to_agents, task_id, late FROM clutch.events WHERE type = 'task.accept';
SELECT task_id, status, agent_id, attempt, lease_until, started_at FROM clutch.tasks;
SELECT agent_id, status, running, max_concurrency FROM clutch.agents ORDER BY agent_id;
-- there is nothing else to claim
SELECT * FROM clutch.claim('agent:ken');
SELECT * FROM clutch.claim('agent:research-2');

-- 5. Ken -> MCP: tool.call
INSERT INTO clutch.events (envelope) VALUES ('{
  "v": "clutch/0.1", "id": "msg_05", "ts": "2026-02-01T13:20:14Z",
  "thread_id": "thr_market", "run_id": "run_xyz", "task_id": "task_abc",
  "from": { "agent_id": "agent:ken", "role": "worker" }, "to": [ { "agent_id": "agent:mcp" } ],
  "type": "tool.call", "payload": { "tool": "mcp:browser", "args": { "url": "https://example.org/market" } }
}');
-- 6. MCP -> Ken: tool.result
INSERT INTO clutch.events (envelope) VALUES ('{
  "v": "clutch/0.1", "id": "msg_06", "ts": "2026-02-01T13:20:16Z",
  "thread_id": "thr_market", "run_id": "run_xyz", "task_id": "task_abc",
  "from": { "agent_id": "agent:mcp", "role": "tool" }, "to": [ { "agent_id": "agent:ken" } ],
  "type": "tool.result", "payload": { "status": 200, "text": "..." },
  "meta": { "clutch": { "reply_to": "msg_05" } }
}');

-- 7. Ken -> Orchestrator: task.result
SET clutch.clock = '2026-02-01T13:21:00Z';
INSERT INTO clutch.events (envelope) VALUES ('{
  "v": "clutch/0.1", "id": "msg_07", "ts": "2026-02-01T13:21:00Z",
  "thread_id": "thr_market", "run_id": "run_xyz", "task_id": "task_abc",
  "from": { "agent_id": "agent:ken", "role": "worker" }, "to": [ { "agent_id": "agent:orchestrator" } ],
  "type": "task.result", "domain": "research", "payload_type": "research.summary.v1",
  "payload": { "findings": ["the market grows"], "citations": ["https://example.org/market"] }
}') RETURNING id, late;
SELECT * FROM clutch.result('task_abc');
SELECT task_id, status, agent_id, waiting_for, lease_until, started_at, finished_at FROM clutch.tasks;
SELECT agent_id, running, success_rate FROM clutch.agents ORDER BY agent_id;

-- 8. UI subscribes to thread_id, renders all events
SELECT seq, type, from_agent, to_agents, late FROM clutch.events WHERE thread_id = 'thr_market' ORDER BY seq;
SELECT channel LIKE 'clutch%' AS is_ours, channel = clutch.channel('thread', 'thr_market') AS is_that_thread
FROM clutch.listen('thread', 'thr_market') AS channel;
UNLISTEN *;

-- The result comes again, because its sender did not hear that it had come
-- the first time: nothing happens, and the receipt is the first one's.
INSERT INTO clutch.events (envelope)
SELECT envelope FROM clutch.events WHERE id = 'msg_07';
SELECT seq, id, duplicate, task_id, late
FROM clutch.send((SELECT envelope FROM clutch.events WHERE id = 'msg_07'));
-- A report after the end is kept, marked, and changes nothing.
SELECT duplicate, late FROM clutch.report('agent:ken', 'task_abc', 'task.progress', '{"pct": 100}', 1);
SELECT status, payload -> 'findings' AS findings FROM clutch.result('task_abc');

-- The run, as a tree with a delegated part, and as a picture
SET clutch.clock = '2026-02-01T13:22:00Z';
SELECT task_id, late FROM clutch.send(clutch.envelope('task.request', 'agent:ui', payload => '{"query": "report"}',
	run_id => 'run_2', thread_id => 'thr_market', task_id => 'task_report', requires => '{skill:writing}',
	id => 'msg_10'));
SELECT task_id, run_id FROM clutch.send(clutch.envelope('task.request', 'agent:writer', payload => '{"query": "figures"}',
	parent_task_id => 'task_report', task_id => 'task_figures', requires => '{skill:research}', id => 'msg_11'));
SELECT task_id, parent_task_id, depth, path, status, agent_id FROM clutch.task_tree('run_2');
SELECT clutch.run_graph('run_2');
SELECT clutch.run_graph('run_2', 'dot');
SELECT from_task_id, to_task_id, kind FROM clutch.task_edges WHERE run_id = 'run_2';
SELECT run_id, status FROM clutch.runs ORDER BY run_id;

-- What the log says is all there is: the state made anew from it is the same.
CREATE TEMP TABLE before AS SELECT * FROM clutch.tasks;
SELECT clutch.rebuild() IS NOT NULL AS rebuilt;
SELECT count(*) AS differ
FROM (SELECT to_jsonb(t) FROM clutch.tasks t EXCEPT SELECT to_jsonb(b) FROM before b) AS other;
SELECT (SELECT count(*) FROM before) = (SELECT count(*) FROM clutch.tasks) AS as_many;
SELECT * FROM clutch.check();

DROP EXTENSION clutch;
