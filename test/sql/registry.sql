--
-- The registry of specification 002: an orchestrator's agents, imported in versions 1.0,
-- 2.0 and 3.0, and what becomes of requests by its signals, triggers, commands,
-- dependencies and contexts.
--
CREATE EXTENSION clutch;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET clutch.clock = '2026-02-01T08:00:00Z';

CREATE TABLE registry (version text, document jsonb);
INSERT INTO registry VALUES ('1.0', '{
  "version": "1.0",
  "orchestrator": "my-orchestrator",
  "agents": {
    "basil": {"description": "Finds recipes"},
    "almanac": {"description": "Keeps the calendar"}
  }
}'), ('2.0', '{
  "version": "2.0",
  "orchestrator": "my-orchestrator",
  "agents": {
    "basil": {"description": "Finds recipes", "displayName": "Chef Basil", "role": "Sous Chef", "personality": "warm",
              "signals": ["pinterest.com", "recipe", "cook", "dinner", "food"]},
    "almanac": {"description": "Keeps the calendar", "signals": ["calendar", "appointment"]}
  }
}'), ('3.0', '{
  "version": "3.0",
  "orchestrator": "my-orchestrator",
  "agents": {
    "basil": {
      "location": {"type": "local", "path": "./agents/basil"},
      "context": "shared",
      "displayName": "Chef Basil", "role": "Sous Chef", "personality": "warm",
      "description": "Finds recipes and plans meals",
      "signals": ["pinterest.com", "recipe", "cook", "dinner", "food"],
      "skills": [
        {"id": "parse-recipe", "name": "Parse Recipe", "description": "Reads a recipe from a page or a text", "triggers": ["this recipe", "recipe from"]},
        {"id": "suggest-meal", "name": "Suggest Meal", "description": "Suggests what to eat", "triggers": ["what should I cook", "dinner ideas"]}
      ],
      "mcps": []
    },
    "almanac": {
      "location": {"type": "git", "repo": "github.com/example/almanac", "branch": "main", "localPath": "./agents/external/almanac"},
      "context": "shared",
      "description": "Keeps the calendar",
      "signals": ["calendar", "appointment"],
      "skills": [{"id": "view-calendar", "description": "Shows a day", "triggers": ["what is on"]}],
      "dependencies": {
        "mcps": [{"name": "google-calendar", "required": true}, {"name": "notion", "required": false}],
        "agents": ["basil"]
      }
    },
    "ledger": {
      "location": {"type": "local", "path": "./agents/ledger"},
      "context": "work",
      "description": "Books expenses",
      "signals": ["invoice"],
      "skills": [{"id": "book-expense", "description": "Books an expense"}]
    },
    "valet": {
      "location": {"type": "local", "path": "./agents/valet"},
      "context": "shared",
      "description": "Does the rest"
    }
  },
  "skillIndex": {"parse-recipe": "basil", "suggest-meal": "basil", "view-calendar": "almanac", "book-expense": "ledger"},
  "routing": {"defaultAgent": "valet", "switchCommands": ["talk to", "switch to"], "multiAgentTriggers": ["and also", "then"]}
}');

-- ------------------------------------------------------------- 1.0, 2.0, 3.0

-- Each import tells in what the document differs from what is registered, in its own words.
SELECT agent, change, what, was, becomes FROM registry r, clutch.import_registry(r.document) WHERE r.version = '1.0';
SELECT agent, change, what, was, becomes FROM registry r, clutch.import_registry(r.document) WHERE r.version = '2.0';
SELECT agent, change, what, was, becomes FROM registry r, clutch.import_registry(r.document) WHERE r.version = '3.0';
-- The second time it differs in nothing, and nothing is written.
SELECT count(*) FROM clutch.events;
SELECT agent, change, what, was, becomes FROM registry r, clutch.import_registry(r.document) WHERE r.version = '3.0';
SELECT count(*) FROM clutch.events;
-- An index that names no agent is refused at its path.
SELECT clutch.import_registry(jsonb_set(r.document, '{skillIndex,sing}', '"oregano"')) FROM registry r WHERE r.version = '3.0';

-- What requests are matched with
SELECT agent_id, status, capabilities FROM clutch.agents ORDER BY agent_id;
-- What comes back is what was imported.
SELECT clutch.export_registry('my-orchestrator') = r.document AS is_the_same FROM registry r WHERE r.version = '3.0';

-- ------------------------------------------------------------- who is asked

SELECT clutch.install_rules('registry-3.0');
SELECT name, place, words, requires, send_to, emit FROM clutch.routing_rule ORDER BY name;

CREATE FUNCTION says(text text, sender text DEFAULT 'agent:ui') RETURNS jsonb LANGUAGE sql AS
$$ SELECT clutch.envelope('task.request', sender, payload => jsonb_build_object('text', text)) $$;
SELECT q.said, r.decision ->> 'selected' AS agent, r.decision ->> 'reason' AS reason
FROM (VALUES
	(1, 'Save https://www.pinterest.com/pin/7 for later'),	-- a signal
	(2, 'Is there an appointment today?'),					-- a signal of another agent
	(3, 'What should I cook?'),								-- a trigger of a skill, which is longer than the signal "cook"
	(4, 'What is on tomorrow?'),							-- a trigger
	(5, 'Talk to Almanac about the recipe'),				-- a switch command comes before signals
	(6, 'Switch to chef basil'),							-- also with the name that is displayed
	(7, 'Good morning')) AS q(n, said),						-- nothing of that: the default agent
	LATERAL clutch.route(says(q.said)) AS r(decision)
ORDER BY q.n;
-- Words within words do not count, and what a request requires itself is left to the matching.
SELECT clutch.route(says('Recipes and cookies')) ->> 'selected' AS agent;
SELECT clutch.route(says('An appointment') || '{"requires": ["skill:parse-recipe"]}') ->> 'selected' AS agent;

-- ----------------------------------------------------------- several agents

-- Two agents are meant: each of them gets a child task in the same run, and the request itself
-- goes to none of them.
SELECT agent_id, eligible, detail, rank FROM clutch.explain_route(says('Find a recipe and also put dinner into my calendar')) WHERE eligible ORDER BY rank;
SELECT duplicate, run_id, task_id, late FROM clutch.send(clutch.envelope('task.request', 'agent:ui', id => 'msg:party',
	payload => '{"text": "Find a recipe and also put dinner into my calendar"}', run_id => 'run:party', thread_id => 'thread:party', task_id => 'task:party'));
SELECT t.agent_id, t.status, t.waiting_for, t.parent_task_id, e.from_agent AS requested_by, e.envelope -> 'payload' AS payload, e.envelope #>> '{meta,rule,name}' AS rule
FROM clutch.tasks t JOIN clutch.events e ON e.seq = t.request_seq WHERE t.run_id = 'run:party' ORDER BY t.parent_task_id NULLS FIRST, t.agent_id;
-- Each of them does its part, and whoever has asked gets one answer.
SELECT envelope #>> '{payload,text}' AS request, reason FROM clutch.claim('agent:almanac');
SELECT envelope #>> '{payload,text}' AS request, reason FROM clutch.claim('agent:basil');
SELECT late FROM clutch.tasks t, clutch.finish(t.agent_id, t.task_id, jsonb_build_object('text', 'Done by ' || t.agent_id)) WHERE t.parent_task_id = 'task:party';
SELECT r.status, a.n, a.result ->> 'agent_id' AS agent_id, a.result -> 'payload' AS payload
FROM clutch.result('task:party') AS r, jsonb_array_elements(r.payload -> 'results') WITH ORDINALITY AS a(result, n) ORDER BY a.n;

-- --------------------------------------------- what an agent cannot do without

-- The calendar cannot be shown without its server.  A request that may not use this server
-- is given to nobody.
SELECT r.decision ->> 'code' AS code, r.decision ->> 'message' AS message
FROM clutch.route(says('What is on tomorrow?') || '{"security": {"policy": {"tool_allowlist": ["mcp:notion"]}}}') AS r(decision);
SELECT agent_id, eligible, rejected_by, detail
FROM clutch.explain_route(says('What is on tomorrow?') || '{"security": {"policy": {"tool_allowlist": ["mcp:notion"]}}}') ORDER BY agent_id;
SELECT clutch.route(says('What is on tomorrow?') || '{"security": {"policy": {"tool_allowlist": ["mcp:google-calendar"]}}}') ->> 'selected' AS agent;

-- ------------------------------------------------------- who may ask whom

-- The almanac depends on basil, and may ask nobody else.
SELECT agent_id, eligible, rejected_by, detail FROM clutch.explain_route(says('What should I cook for my guests?', 'agent:almanac')) ORDER BY agent_id;
SELECT agent_id, eligible, rejected_by, detail FROM clutch.explain_route(says('Good morning', 'agent:almanac')) ORDER BY agent_id;
-- The ledger is for the team, and does not work for strangers,
SELECT agent_id, eligible, rejected_by, detail FROM clutch.explain_route(says('Book this invoice')) ORDER BY agent_id;
SELECT duplicate, late FROM clutch.send(says('Book this invoice') || '{"id": "msg:invoice", "run_id": "run:invoice", "task_id": "task:invoice"}');
SELECT task_id, status, agent_id, waiting_for, code FROM clutch.tasks WHERE task_id = 'task:invoice';
-- until they belong to it.
SELECT clutch.join_group('group:work', 'agent:ui') IS NOT NULL AS joined;
SELECT clutch.tick() IS NOT NULL AS ticked;
SELECT task_id, status, agent_id FROM clutch.tasks WHERE task_id = 'task:invoice';

-- ---------------------------------------------------------------- and back

-- What changes in the registry is in the export, and an import of that changes it back.
SELECT FROM clutch.send(clutch.envelope('agent.update', 'agent:basil', payload => '{"agent_id": "agent:basil", "display": {"name": "Basil", "desc": "Finds recipes and plans meals"}}'));
SELECT clutch.export_registry('my-orchestrator') #>> '{agents,basil,displayName}' AS name;
SELECT agent, change, what, was, becomes FROM registry r, clutch.import_registry(r.document) WHERE r.version = '3.0';
SELECT jsonb_pretty(clutch.export_registry('my-orchestrator') #> '{agents,almanac}');
SELECT clutch.export_registry('my-orchestrator') = r.document AS is_the_same FROM registry r WHERE r.version = '3.0';
SELECT clutch.uninstall_rules('registry-3.0');
SELECT * FROM clutch.check();

-- --------------------------------- a registry that would be refused by now

-- Rules are made of the rest, and whoever installs them learns what is left out.
UPDATE clutch.registry_document SET document = jsonb_set(document, '{agents,basil,signals}', jsonb_build_array(repeat('x', 1001), 'garlic'));
SELECT clutch.install_rules('registry-3.0');
SELECT words FROM clutch.routing_rule WHERE name LIKE '%signals of basil';
SELECT clutch.uninstall_rules('registry-3.0');

-- --------------------------------------------------------- too many agents

INSERT INTO clutch.routing_rule (name, words, send_to) SELECT 'crowd ' || n, '{crowd}', 'agent:crowd-' || n FROM generate_series(1, 102) AS n;
INSERT INTO clutch.routing_rule (name, words, emit) VALUES ('everybody', '{crowd}', '{"to": "matched", "payload": "$.payload"}');
SELECT late FROM clutch.send(says('Ask the crowd') || '{"id": "msg:crowd", "run_id": "run:crowd", "task_id": "task:crowd"}');
SELECT count(*) FROM clutch.tasks WHERE parent_task_id = 'task:crowd';
SELECT envelope #> '{payload,left_out}' AS left_out FROM clutch.events WHERE task_id = 'task:crowd' AND envelope #>> '{meta,clutch,move}' = 'shared';

-- Whoever happens to tick is not told of the requests of others.
CREATE ROLE clutch_regress_stranger;
SELECT clutch.grant_agent('clutch_regress_stranger', 'agent:stranger') IS NOT NULL AS granted;
SET clutch.clock = '2026-01-01T12:00:00Z';
SET client_min_messages = error;
SELECT late FROM clutch.send(says('Ask the crowd later') || '{"id": "msg:later", "run_id": "run:later", "task_id": "task:later", "meta": {"clutch": {"not_before": "2026-01-01T12:01:00Z"}}}');
RESET client_min_messages;
SET clutch.clock = '2026-01-01T12:02:00Z';
SET ROLE clutch_regress_stranger;
SELECT clutch.tick();
RESET ROLE;
SELECT count(*) FROM clutch.tasks WHERE parent_task_id = 'task:later';
RESET clutch.clock;
DROP OWNED BY clutch_regress_stranger;
DROP ROLE clutch_regress_stranger;

DROP FUNCTION says(text, text);
DROP TABLE registry;
DROP EXTENSION clutch;
