--
-- The conversation of specification 001: three language models of different vendors
-- work together by messages of protocol "multiagent-1.0", and the database is the
-- orchestrator.  Nobody calls a model here: what its interface would return stands in the
-- statement.  Everything else is what a program would do, too.
--
-- Identifiers of this database are derived with its secret, so they are other ones in each
-- database.  Messages are shown by their own identifiers (m0, msg_001, ...), and tasks by
-- what they are to do.
--
CREATE EXTENSION clutch;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET clutch.clock = '2025-10-10T12:00:00Z';

CREATE VIEW task AS
SELECT t.task_id, e.envelope #>> '{meta,multiagent,intent}' AS intent, e.envelope #>> '{payload,task}' AS task,
       t.status, t.agent_id AS agent, t.waiting_for, p.envelope #>> '{payload,task}' AS child_of, t.request_seq
FROM clutch.tasks t
JOIN clutch.events e ON e.seq = t.request_seq
LEFT JOIN clutch.tasks parent ON parent.task_id = t.parent_task_id
LEFT JOIN clutch.events p ON p.seq = parent.request_seq;

-- A prompt, without the identifiers of this database and the number of its fence
CREATE FUNCTION prompt_of(prompt jsonb) RETURNS TABLE (role text, content text) LANGUAGE sql AS $$
	SELECT t ->> 'role', regexp_replace(regexp_replace(coalesce(t ->> 'content', t #>> '{parts,0,text}'), '\m[0-9a-f]{32}\M', 'N', 'g'), '\m(msg|task)_\w+', '\1_...', 'g')
	FROM jsonb_array_elements(coalesce(prompt -> 'messages', prompt -> 'contents')) AS t
$$;
CREATE FUNCTION task_of(agent text, intent text) RETURNS text LANGUAGE sql AS
$$ SELECT t.task_id FROM task t WHERE t.agent = task_of.agent AND t.intent = task_of.intent $$;

-- ---------------------------------------------------------------- handshake

-- Each agent announces itself in the words of its protocol, and is registered.
SELECT seq, duplicate, late FROM clutch.ingest('[
  {"protocol": "multiagent-1.0", "role": "system",
   "agent": {"id": "gpt5.plan", "name": "Planner", "model": "gpt-5"},
   "timestamp": "2025-10-10T12:00:00Z", "intent": "reflect", "task": "Announce envelope support and capabilities",
   "content": {"type": "json", "data": {"supports": ["text", "json"], "max_tokens": 16000}}, "confidence": {"score": 0.9}},
  {"protocol": "multiagent-1.0", "role": "system",
   "agent": {"id": "claude.decompose", "name": "Decomposer", "model": "claude-3.7-sonnet"},
   "timestamp": "2025-10-10T12:00:00Z", "intent": "reflect", "task": "Announce envelope support and capabilities",
   "content": {"type": "json", "data": {"supports": ["text", "json"], "max_tokens": 16000}}, "confidence": {"score": 0.9}},
  {"protocol": "multiagent-1.0", "role": "system",
   "agent": {"id": "gemini.exec", "name": "Executor", "model": "gemini-2.5-pro"},
   "timestamp": "2025-10-10T12:00:00Z", "intent": "reflect", "task": "Announce envelope support and capabilities",
   "content": {"type": "json", "data": {"supports": ["text", "json", "tool_result"], "max_tokens": 16000}}, "confidence": {"score": 0.9}}
]', 'multiagent');
SELECT agent_id, status, capabilities, max_concurrency, card ->> 'model' AS model, card #> '{meta,multiagent,supports}' AS supports
FROM clutch.agents ORDER BY agent_id;

-- The protocol does not say how much an agent does at once, and which tools it may call; the
-- operator does.
SELECT count(clutch.send(clutch.envelope('agent.update', agent_id,
	payload => jsonb_build_object('agent_id', agent_id, 'limits', '{"max_concurrency": 4}'::jsonb))))
FROM clutch.agents;
SELECT late FROM clutch.send(clutch.envelope('agent.update', 'agent:gemini.exec',
	payload => '{"agent_id": "agent:gemini.exec", "capabilities": [{"id": "tool:scraper"}]}'));

-- ------------------------------------------------------------------- routing

-- The table of intents, the rule of confidence, and next actions as child tasks.
SELECT clutch.install_rules('multiagent-1.0');
SELECT name, type, coalesce(prefers::text, 'other than ' || other_model_than, emit ->> 'each', emit #>> '{payload,intent}') AS effect
FROM clutch.routing_rule ORDER BY name;

-- Who would get which intent?  "route" is one of the protocol's, but not in its table, and
-- "haggle" is neither.
CREATE FUNCTION asked(id text, intent text, task text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('protocol', 'multiagent-1.0', 'role', 'user', 'agent', '{"id": "ui", "name": "UI", "model": "n/a"}'::jsonb,
		'timestamp', '2025-10-10T12:39:00Z', 'intent', intent, 'task', task,
		'content', jsonb_build_object('type', 'text', 'text', task || ', please.'), 'trace', jsonb_build_object('id', id))
$$;
SELECT i.intent, r.decision ->> 'selected' AS agent, r.decision -> 'rules' AS rules
FROM unnest('{plan,reflect,finalize,decompose,summarize,analyze,execute,retrieve,route,haggle}'::text[]) WITH ORDINALITY AS i(intent, n),
     LATERAL clutch.inbound(asked('q', i.intent, 'Do it'), 'multiagent', '{"run_id": "run:q"}') AS e,
     LATERAL clutch.route(e) AS r(decision)
ORDER BY i.n;

-- ---------------------------------------------------------------- the request

-- In runs of this workflow, what agents propose as next actions is done.
SELECT clutch.register_workflow('{"workflow": "tracker", "next_actions": true, "steps": [{"id": "plan"}]}');

SET clutch.clock = '2025-10-10T12:39:00Z';
SELECT duplicate, run_id, late
FROM clutch.inbound(asked('m0', 'plan', 'Track prices of competitors'), 'multiagent', '{"run_id": "run:tracker", "thread_id": "thread:tracker"}') AS e,
     LATERAL clutch.send(jsonb_set(e, '{meta,clutch}', '{"workflow": "tracker", "step_of": "plan"}'));
SELECT intent, task, status, agent FROM task;

-- ------------------------------------------------------- 1. the planner (GPT-5)

SET clutch.clock = '2025-10-10T12:40:00Z';
CREATE TEMP TABLE planning AS SELECT * FROM clutch.claim('agent:gpt5.plan', lease => '10 minutes');
SELECT attempt, reason, envelope #>> '{payload,task}' AS task FROM planning;
-- What its model is asked.  The payload stands in a fence, whose number (N) is another one each time.
SELECT p.role, p.content FROM planning c, prompt_of(clutch.prompt(c.envelope, 'gpt5')) AS p;
-- What its model answers: the first example of the specification.
SELECT $${
	"protocol": "multiagent-1.0", "role": "agent", "agent": {"id": "gpt5.plan", "name": "Planner", "model": "gpt-5"},
	"timestamp": "2025-10-10T12:40:00Z", "intent": "plan", "task": "Outline steps to scrape prices and store in CSV",
	"inputs": {"context": "A shop wants to know what others charge"},
	"content": {"type": "text", "text": "Three steps should do."},
	"outputs": {
		"artifacts": [{"kind": "plan", "name": "price_tracker_plan", "inline": "1) Collect 2) Scrape 3) Save and notify"}],
		"next_actions": [
			{"intent": "decompose", "task": "Turn plan into executable tasks"},
			{"intent": "retrieve", "task": "Load target URL list from drive"}]},
	"confidence": {"score": 0.78, "rationale": "Common workflow; low complexity"},
	"trace": {"id": "msg_001", "parents": ["m0"]}
}$$ AS answer \gset
SELECT e ->> 'type' AS type, e #>> '{from,agent_id}' AS sender, e #> '{meta,clutch,usage}' AS usage, r.late
FROM planning c,
     clutch.from_model(
		jsonb_build_object('model', 'gpt-5', 'usage', '{"prompt_tokens": 210, "completion_tokens": 95}'::jsonb,
			'choices', jsonb_build_array(jsonb_build_object('message', jsonb_build_object('role', 'assistant', 'content', :'answer')))),
		'gpt5', jsonb_build_object('run_id', 'run:tracker', 'task_id', c.task_id)) AS e,
     clutch.send(e) AS r;
-- What it proposes to do next are child tasks, each at an agent whose model the table of intents prefers.
SELECT intent, task, status, agent, child_of FROM task ORDER BY request_seq;
-- The planner waits for them, and takes up no room meanwhile.
SELECT r.late FROM planning c, clutch.suspend('agent:gpt5.plan', c.task_id, '{"children": "all"}', attempt => c.attempt) AS r;

-- The others begin.
SET clutch.clock = '2025-10-10T12:40:10Z';
CREATE TEMP TABLE retrieving AS SELECT * FROM clutch.claim('agent:gemini.exec', lease => '10 minutes');
CREATE TEMP TABLE decomposing AS SELECT * FROM clutch.claim('agent:claude.decompose', lease => '10 minutes');

-- --------------------------------------- little confidence: another model reflects

SET clutch.clock = '2025-10-10T12:41:00Z';
SELECT $${
	"protocol": "multiagent-1.0", "role": "agent", "agent": {"id": "gemini.exec", "name": "Executor", "model": "gemini-2.5-pro"},
	"timestamp": "2025-10-10T12:41:00Z", "intent": "retrieve", "task": "Load target URL list from drive",
	"content": {"type": "json", "data": {"urls": 12}},
	"confidence": {"score": 0.42, "risks": ["half of them are old"]},
	"trace": {"id": "msg_r", "parents": ["m0", "msg_001"]}
}$$ AS answer \gset
SELECT e ->> 'type' AS type, e #>> '{from,agent_id}' AS sender, r.late
FROM retrieving c,
     clutch.from_model(
		jsonb_build_object('candidates', jsonb_build_array(jsonb_build_object('content', jsonb_build_object('parts', jsonb_build_array(jsonb_build_object('text', :'answer')))))),
		'gemini', jsonb_build_object('run_id', 'run:tracker', 'task_id', c.task_id)) AS e,
     clutch.send(e) AS r;
SELECT intent, task, status, agent, child_of FROM task WHERE intent = 'reflect';
-- It did not go to the model that is in doubt.
SELECT agent_id, eligible, rejected_by, detail FROM clutch.why(task_of('agent:gpt5.plan', 'reflect')) ORDER BY agent_id;
-- The message that asks for it goes on from the one that it is about.
SELECT m ->> 'intent' AS intent, m #> '{trace,parents}' AS parents, m #> '{about,confidence,score}' AS score, m #>> '{about,model}' AS model
FROM clutch.events e, clutch.outbound(e.envelope, 'multiagent') AS m
WHERE e.type = 'task.request' AND e.task_id = task_of('agent:gpt5.plan', 'reflect');
CREATE TEMP TABLE reflecting AS SELECT * FROM clutch.claim('agent:gpt5.plan');
SELECT late FROM reflecting c, clutch.finish('agent:gpt5.plan', c.task_id, '{"text": "Six are enough to begin with."}', c.attempt);

-- ----------------------------------------------------- 2. the decomposer (Claude)

SET clutch.clock = '2025-10-10T12:41:30Z';
SELECT p.role, p.content FROM decomposing c, prompt_of(clutch.prompt(c.envelope, 'claude')) AS p;
-- the second example
SELECT $${
	"protocol": "multiagent-1.0", "role": "agent", "agent": {"id": "claude.decompose", "name": "Decomposer", "model": "claude-3.7-sonnet"},
	"timestamp": "2025-10-10T12:41:30Z", "intent": "decompose", "task": "Break plan into atomic steps",
	"content": {"type": "json", "data": {"tasks": [
		{"id": "t1", "desc": "Read urls.csv"},
		{"id": "t2", "desc": "Fetch HTML per URL"},
		{"id": "t3", "desc": "Parse price with selector"},
		{"id": "t4", "desc": "Append to prices.csv"},
		{"id": "t5", "desc": "Emit summary"}]}},
	"outputs": {"next_actions": [{"intent": "execute", "task": "Run t1..t5 via Tool.Scraper", "args": {"batch": 50}}]},
	"confidence": {"score": 0.74},
	"trace": {"id": "msg_002", "parents": ["m0", "msg_001"]}
}$$ AS answer \gset
SELECT e ->> 'type' AS type, e #>> '{from,agent_id}' AS sender, r.late
FROM decomposing c,
     clutch.from_model(
		jsonb_build_object('content', jsonb_build_array(jsonb_build_object('type', 'text', 'text', :'answer'))),
		'claude', jsonb_build_object('run_id', 'run:tracker', 'task_id', c.task_id)) AS e,
     clutch.send(e) AS r;
SELECT intent, task, status, agent, child_of FROM task WHERE intent = 'execute';
SELECT r.late FROM decomposing c, clutch.suspend('agent:claude.decompose', c.task_id, '{"children": "all"}', attempt => c.attempt) AS r;

-- -------------------------------------------------------- 3. the executor (Gemini)

SET clutch.clock = '2025-10-10T12:41:40Z';
CREATE TEMP TABLE executing AS SELECT * FROM clutch.claim('agent:gemini.exec', lease => '10 minutes');
SELECT p.role, p.content FROM executing c, prompt_of(clutch.prompt(c.envelope, 'gemini')) AS p;
-- The model wants a tool to be called,
SELECT e ->> 'type' AS type, e #>> '{payload,tool}' AS tool, e #> '{payload,args}' AS args, r.late
FROM executing c,
     clutch.from_model('{"responseId": "call_1", "candidates": [{"content": {"parts": [{"functionCall": {"name": "scraper", "args": {"batch": 50}}}]}}],
			"usageMetadata": {"promptTokenCount": 300, "candidatesTokenCount": 20}}',
		'gemini', jsonb_build_object('agent_id', 'agent:gemini.exec', 'to', 'agent:gemini.exec', 'run_id', 'run:tracker', 'task_id', c.task_id)) AS e,
     clutch.send(e) AS r;
-- and the tool answers: the third example.
SET clutch.clock = '2025-10-10T12:43:10Z';
SELECT duplicate, late
FROM executing c,
     clutch.ingest('{
		"protocol": "multiagent-1.0", "role": "tool", "agent": {"id": "gemini.exec", "name": "Executor", "model": "gemini-2.5-pro"},
		"timestamp": "2025-10-10T12:43:10Z", "intent": "tool.call", "task": "Scrape pages and extract prices",
		"content": {"type": "tool_result", "data": {"ok": true, "rows_appended": 147, "csv_path": "data/prices.csv"}},
		"outputs": {
			"artifacts": [{"kind": "dataset", "name": "prices_csv", "uri": "data/prices.csv"}],
			"next_actions": [{"intent": "summarize", "task": "Produce daily change summary"}]},
		"confidence": {"score": 0.86, "rationale": "Selectors matched nearly everywhere", "risks": ["some pages fight robots"]},
		"trace": {"id": "msg_003", "parents": ["msg_002"], "cost": {"input_tokens": 2100, "output_tokens": 380}}
	 }', 'multiagent', jsonb_build_object('run_id', 'run:tracker', 'task_id', c.task_id));
SELECT intent, task, status, agent, child_of FROM task WHERE intent = 'summarize';
SELECT late FROM executing c, clutch.finish('agent:gemini.exec', c.task_id, '{"text": "147 prices are in the file."}', c.attempt);

-- ------------------------------------------------------------------- the end

SET clutch.clock = '2025-10-10T12:44:00Z';
-- Claude has the summary to make, and its own task again, whose children are over.
CREATE TEMP TABLE summing AS SELECT * FROM clutch.claim('agent:claude.decompose', 4);
SELECT reason, envelope #>> '{payload,task}' AS task, last_progress #>> '{content,data,tasks,4,desc}' AS last_step FROM summing ORDER BY reason;
-- A model may also answer in plain text.  Then the context says whose model it is.
SELECT e ->> 'type' AS type, e #>> '{meta,multiagent,intent}' AS intent, e #>> '{payload,content,text}' AS says, r.late
FROM summing c,
     clutch.from_model('{"id": "msg_s", "model": "claude-3.7-sonnet", "content": [{"type": "text", "text": "Three prices fell, none rose."}], "usage": {"input_tokens": 400, "output_tokens": 30}}',
		'claude', jsonb_build_object('agent_id', 'agent:claude.decompose', 'run_id', 'run:tracker', 'task_id', c.task_id)) AS e,
     clutch.send(e) AS r
WHERE c.reason = 'new';
SELECT late FROM summing c, clutch.finish('agent:claude.decompose', c.task_id, '{"text": "All five are done."}', c.attempt) WHERE c.reason = 'joined';

-- All children of the planner are over now, and it ends what it was asked for.
CREATE TEMP TABLE finishing AS SELECT * FROM clutch.claim('agent:gpt5.plan');
SELECT reason, envelope #>> '{payload,task}' AS task FROM finishing;
SELECT $${
	"protocol": "multiagent-1.0", "role": "agent", "agent": {"id": "gpt5.plan", "name": "Planner", "model": "gpt-5"},
	"timestamp": "2025-10-10T12:44:00Z", "intent": "finalize", "task": "Track prices of competitors",
	"content": {"type": "text", "text": "The tracker runs every day."},
	"confidence": {"score": 0.9},
	"trace": {"id": "msg_004", "parents": ["m0", "msg_003"]}
}$$ AS answer \gset
SELECT e ->> 'type' AS type, e #>> '{from,agent_id}' AS sender, r.late
FROM finishing c,
     clutch.from_model(to_jsonb(:'answer'::text), 'gpt5', jsonb_build_object('run_id', 'run:tracker', 'task_id', c.task_id)) AS e,
     clutch.send(e) AS r;
SELECT intent, task, status, agent, child_of FROM task ORDER BY request_seq;

-- The user gets the answer in the words of the protocol,
SELECT jsonb_pretty(clutch.reply((SELECT task_id FROM finishing)));
-- and each message leaves as it came, the examples of the specification among them.
SELECT m #>> '{trace,id}' AS message, m ->> 'role' AS role, m ->> 'intent' AS intent, m #> '{trace,parents}' AS parents, m #> '{confidence,score}' AS score, m -> 'timestamp' AS at
FROM clutch.events e, clutch.outbound(e.envelope, 'multiagent') AS m
WHERE e.run_id = 'run:tracker' AND e.envelope #>> '{meta,multiagent,native,id}' IS NOT NULL
ORDER BY e.seq;
SELECT jsonb_pretty(clutch.outbound(e.envelope, 'multiagent'))
FROM clutch.events e WHERE e.envelope #>> '{meta,multiagent,native,id}' = 'msg_003';

-- ----------------------------------------------------------- an unknown intent

-- No row of the table knows this word, so it is a matter of reflection.
SET clutch.clock = '2025-10-10T12:50:00Z';
SELECT duplicate, late FROM clutch.ingest(asked('m9', 'haggle', 'Get a discount'), 'multiagent', '{"run_id": "run:discount"}');
SELECT intent, task, status, agent FROM task WHERE intent = 'haggle';
CREATE TEMP TABLE haggling AS SELECT * FROM clutch.claim('agent:gpt5.plan');
SELECT p.content FROM haggling c, prompt_of(clutch.prompt(c.envelope, 'gpt5')) AS p WHERE p.role = 'system';
-- A model that makes up a word of its own has reflected as well.
SELECT clutch.model_message('"{\"protocol\": \"multiagent-1.0\", \"role\": \"agent\", \"intent\": \"ponder\", \"task\": \"Think\", \"content\": {\"type\": \"text\", \"text\": \"Hm.\"}}"', 'gpt5') ->> 'intent' AS intent;
SELECT late FROM haggling c, clutch.finish('agent:gpt5.plan', c.task_id, '{"text": "They do not haggle."}', c.attempt);

-- ------------------------------------------------------------- too many proposals

SELECT late FROM clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:gpt5.plan}', run_id => 'run:many', thread_id => 'thread:many', task_id => 'task:many',
	meta => '{"clutch": {"workflow": "tracker", "step_of": "plan"}}'));
SELECT task_id, attempt FROM clutch.claim('agent:gpt5.plan');
SELECT late FROM clutch.send(clutch.envelope('task.progress', 'agent:gpt5.plan', '{agent:ui}', id => 'msg_many', run_id => 'run:many', thread_id => 'thread:many', task_id => 'task:many',
	payload => jsonb_build_object('outputs', jsonb_build_object('next_actions', (SELECT jsonb_agg(jsonb_build_object('intent', 'execute', 'task', n)) FROM generate_series(1, 101) AS n)))));
SELECT count(*) FROM clutch.tasks WHERE parent_task_id = 'task:many';
-- A proposal that says nothing to do is none.
SELECT late FROM clutch.send(clutch.envelope('task.progress', 'agent:gpt5.plan', '{agent:ui}', id => 'msg_empty', run_id => 'run:many', thread_id => 'thread:many', task_id => 'task:many',
	payload => '{"outputs": {"next_actions": [{"intent": "execute", "task": "Buy rope"}, {}, {"intent": "execute"}]}}'));
SELECT count(*) FROM clutch.tasks WHERE parent_task_id = 'task:many';

-- ------------------------------------------------------------- what is in the log

SELECT row_number() OVER (ORDER BY e.seq) AS n, e.type, e.from_agent, e.envelope #>> '{meta,multiagent,native,id}' AS message,
       coalesce(e.envelope #>> '{meta,rule,name}', e.envelope #>> '{payload,selected}') AS by_or_to, e.late
FROM clutch.events e WHERE e.run_id = 'run:tracker' ORDER BY e.seq;
SELECT agent_id, tokens FROM clutch.costs WHERE run_id = 'run:tracker' ORDER BY agent_id;
-- The state made anew from it is the same.
CREATE TEMP TABLE before AS SELECT * FROM clutch.tasks;
SELECT clutch.rebuild() IS NOT NULL AS rebuilt;
SELECT count(*) AS differ FROM (SELECT to_jsonb(t) FROM clutch.tasks t EXCEPT SELECT to_jsonb(b) FROM before b) AS other;
SELECT * FROM clutch.check();

DROP FUNCTION task_of(text, text), asked(text, text, text), prompt_of(jsonb);
DROP VIEW task;
DROP EXTENSION clutch;
