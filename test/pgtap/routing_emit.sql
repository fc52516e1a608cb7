-- What rules request beside an event, and the sets of rules that come with the extension.
\ir ../fixtures/tap.sql
SELECT plan(87);

SELECT count(fixture.agent(n, 50)) FROM unnest('{ann,ben,cal}'::text[]) n;
CREATE FUNCTION pg_temp.children(task text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(concat_ws(' ', t.agent_id, t.run_id), ', ' ORDER BY t.agent_id), 'none') FROM clutch.tasks t WHERE t.parent_task_id = task
$$;
CREATE FUNCTION pg_temp.child(task text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT envelope FROM clutch.events WHERE type = 'task.request' AND parent_task_id = task ORDER BY seq LIMIT 1
$$;

-- --- a template
INSERT INTO clutch.routing_rule (name, type, path, emit) VALUES ('review', 'task.result', '$.payload.total > 100', '{"to": "agent:ben", "domain": "review",
	"payload": {"why": "large", "total": "$.payload.total", "none": "$.payload.nothing", "all": ["$.payload.items[*]", "end"]}, "meta": {"mine": true}}');
SELECT fixture.ask('task:1', 'agent:ann', more => '{"security": {"policy": {"sandbox": true, "tool_allowlist": ["tool:a"]}}}');
SELECT fixture.claimed('agent:ann');
SELECT clutch.progress('agent:ann', 'task:1', '{"total": 500}');
SELECT is(pg_temp.children('task:1'), 'none', 'a rule concerns one type');
SELECT clutch.finish('agent:ann', 'task:1', '{"total": 101, "items": [1, {"b": 2}]}');
SELECT is(pg_temp.children('task:1'), 'agent:ben run:1', 'a rule adds a request to an event');
SELECT is(pg_temp.child('task:1') -> 'payload', '{"why": "large", "total": 101, "all": [1, {"b": 2}, "end"]}'::jsonb, 'made from it');
SELECT is(pg_temp.child('task:1') #> '{security,policy}', '{"sandbox": true, "tool_allowlist": ["tool:a"]}'::jsonb, 'with the policy of the task');
SELECT is(pg_temp.child('task:1') -> 'meta', jsonb_build_object('mine', true, 'rule', jsonb_build_object('name', 'review', 'event', (SELECT id FROM clutch.events WHERE type = 'task.result' AND task_id = 'task:1'))), 'and says where it comes from');
SELECT is(pg_temp.child('task:1') #>> '{from,agent_id}', 'agent:orchestrator', 'the orchestrator sends it');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT clutch.finish('agent:ben', t.task_id, '{"total": 500}') FROM clutch.tasks t, clutch.claim('agent:ben') c WHERE c.task_id = t.task_id;
SELECT is((SELECT count(*)::int FROM clutch.tasks), 2, 'a rule adds nothing to what it has requested itself');

-- one item of several
INSERT INTO clutch.routing_rule (name, type, emit) VALUES ('each', 'chat.message', '{"each": "$.payload.items[*]", "to": "$.item.to", "payload": {"x": "$.item.x"}}');
SELECT is((SELECT count(*)::int FROM clutch.send(clutch.envelope('chat.message', 'agent:ui', id => 'msg_items', run_id => 'run:items', payload => '{"items": [{"to": "agent:ann", "x": 1}, {"to": "bob", "x": 2}, {"to": "agent:cal", "x": 3}, {"to": "agent:cal", "x": 4}]}'))), 1,
	'an event with four items, one of which names nobody');
SELECT results_eq($$ SELECT t.agent_id COLLATE "default", e.envelope #>> '{payload,x}' FROM clutch.tasks t JOIN clutch.events e ON e.seq = t.request_seq WHERE t.run_id = 'run:items' ORDER BY t.request_seq $$,
	$$ VALUES ('agent:ann', '1'), ('agent:cal', '3'), ('agent:cal', '4') $$, 'adds the requests for the others');
DELETE FROM clutch.routing_rule WHERE name = 'each';
SELECT cancel FROM clutch.cancel_run('run:items') AS cancel \g /dev/null
SELECT is(fixture.fault($$INSERT INTO clutch.routing_rule (name, emit) VALUES ('bad', '{"requires": [1]}')$$), '22023 WRONG_TYPE /emit/requires', 'a list of numbers is refused');
SELECT is(fixture.fault($$INSERT INTO clutch.routing_rule (name, emit) VALUES ('bad', '{"domain": ""}')$$), '22023 WRONG_TYPE /emit/domain', 'and so is an empty text');

-- what is refused
UPDATE clutch.routing_rule SET emit = '{"meta": {"clutch": {"priority": 77}}}';
SELECT fixture.ask('task:2', 'agent:ann');
SELECT fixture.claimed('agent:ann');
SET client_min_messages = error;
SELECT lives_ok($$SELECT clutch.finish('agent:ann', 'task:2', '{"total": 101}')$$, 'what is refused does not affect the event');
RESET client_min_messages;
SELECT is(fixture.state('task:2'), 'completed agent:ann 1', 'which counts');
SELECT is((SELECT count(*)::int FROM clutch.consequence), 0, 'and it is not tried again');

-- in a transaction that is rolled back, and twice
UPDATE clutch.routing_rule SET emit = '{"to": "agent:ben"}', type = 'chat.message', path = NULL;
BEGIN;
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ann}', id => 'msg_chat', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:2'));
ROLLBACK;
SELECT is(pg_temp.children('task:2'), 'none', 'what is rolled back adds nothing');
SELECT clutch.send(e), clutch.send(e) FROM clutch.envelope('chat.message', 'agent:ui', '{agent:ann}', id => 'msg_chat', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:2') e;
SELECT is(pg_temp.children('task:2'), 'agent:ben run:1', 'and what is sent twice adds one request');

-- --- one request for each agent that is found
TRUNCATE clutch.routing_rule;
INSERT INTO clutch.routing_rule (name, words, send_to) VALUES ('cook', '{dinner}', 'agent:ann'), ('plan', '{calendar}', 'agent:ben'), ('shop', '{"shopping list"}', 'agent:cal');
INSERT INTO clutch.routing_rule (name, words, emit) VALUES ('many', '{"and also"}', '{"to": "matched", "payload": "$.payload"}') ON CONFLICT DO NOTHING;
SELECT fixture.ask('task:many', skill => NULL, more => '{"payload": {"text": "Plan dinner and also put it into the calendar and the shopping list."}}');
SELECT is(fixture.state('task:many'), 'pending 1', 'the request goes to none of them');
SELECT is(pg_temp.children('task:many'), 'agent:ann run:1, agent:ben run:1, agent:cal run:1', 'and each gets a child, in the same run');
SELECT is((SELECT envelope #>> '{payload,rule}' FROM clutch.events WHERE type = 'task.progress' AND task_id = 'task:many'), 'many', 'which the log says, with the rule');
SELECT fixture.ask('task:few', skill => NULL, more => '{"payload": {"text": "Plan dinner and the shopping list."}}');
SELECT is(pg_temp.children('task:few'), 'none', 'without the word that asks for several agents there is one');

INSERT INTO clutch.routing_rule (name, words, send_to) VALUES ('cook too', '{plan}', 'agent:ann'), ('sometimes', NULL, 'agent:ben');
SELECT fixture.ask('task:twice', skill => NULL, more => '{"payload": {"text": "Plan dinner and also make a shopping list."}}');
SELECT is(fixture.state('task:twice') || ', ' || pg_temp.children('task:twice'), 'pending 1, agent:ann run:1, agent:cal run:1', 'an agent that two rules have found gets one, and none that was found by no word');

-- --- multiagent-1.0
TRUNCATE clutch.routing_rule;
INSERT INTO clutch.routing_rule (name, words, priority) VALUES ('mine', '{x}', 1);
SELECT is(clutch.install_rules('multiagent-1.0'), 18, 'a set of rules is installed');
SELECT is(clutch.install_rules('multiagent-1.0'), 18, 'and once more');
SELECT is((SELECT count(*)::int FROM clutch.routing_rule), 19, 'which changes nothing');
SELECT throws_ok($$SELECT clutch.install_rules('multiagent-9')$$, '22023', 'invalid set of rules "multiagent-9"', 'there are not many of them');
SELECT throws_ok('SELECT clutch.install_rules(NULL)', '22004', 'argument "name" must not be null', 'none has no name');
SELECT throws_ok('SELECT clutch.uninstall_rules(NULL)', '22004', 'argument "name" must not be null', 'and none can be uninstalled without one');
SELECT fixture.agent('gpt5.plan', 9, more => '{"model": "gpt-5"}'), fixture.agent('claude.decompose', 9, more => '{"model": "claude-3.7-sonnet"}'), fixture.agent('gemini.exec', 9, more => '{"model": "gemini-2.5-pro"}');
CREATE FUNCTION pg_temp.intent(intent text) RETURNS text LANGUAGE sql AS $$
	SELECT clutch.route(e || '{"from": {"agent_id": "agent:ui"}}') ->> 'selected' FROM clutch.inbound(jsonb_build_object('protocol', 'multiagent-1.0', 'role', 'user', 'agent', '{"id": "ui", "name": "ui", "model": "n/a"}'::jsonb,
		'timestamp', '2026-11-22T10:00:00Z', 'intent', intent, 'task', 'do it', 'content', '{"type": "text", "text": "it"}'::jsonb, 'trace', '{"id": "q"}'::jsonb)) e
$$;
SELECT is((SELECT string_agg(i || ' ' || pg_temp.intent(i), ', ') FROM unnest('{plan,finalize,decompose,summarize,analyze,execute,retrieve}'::text[]) i),
	'plan agent:gpt5.plan, finalize agent:gpt5.plan, decompose agent:claude.decompose, summarize agent:claude.decompose, analyze agent:claude.decompose, execute agent:gemini.exec, retrieve agent:gemini.exec', 'intents are the affair of models');
SELECT is(pg_temp.intent('haggle') || ' ' || pg_temp.intent('route'), 'agent:gpt5.plan agent:gpt5.plan', 'one that is not in the table falls back to reflect');

-- a conversation: an answer of low confidence
SELECT FROM clutch.ingest('{"protocol": "multiagent-1.0", "role": "user", "agent": {"id": "ui", "name": "ui", "model": "n/a"}, "timestamp": "2026-11-22T10:00:00Z", "intent": "plan", "task": "plan it", "content": {"type": "text", "text": "a tracker"}, "trace": {"id": "m1"}}');
SELECT is(fixture.claimed('agent:gpt5.plan'), (SELECT task_id || ' 1 new' FROM clutch.tasks WHERE agent_id = 'agent:gpt5.plan'), 'a plan is wanted');
SELECT FROM clutch.ingest('{"protocol": "multiagent-1.0", "role": "agent", "agent": {"id": "gpt5.plan", "name": "Planner", "model": "gpt-5"}, "timestamp": "2026-11-22T10:00:01Z", "intent": "plan", "task": "Outline", "content": {"type": "text", "text": "perhaps so"},
	"confidence": {"score": 0.3}, "outputs": {"next_actions": [{"intent": "retrieve", "task": "Load the list"}]}, "trace": {"id": "m2", "parents": ["m1"]}}');
SELECT is((SELECT count(*)::int FROM clutch.tasks WHERE parent_task_id IS NOT NULL AND run_id <> 'run:1'), 1, 'low confidence asks for reflection');
SELECT is((SELECT agent_id ~ 'claude|gemini|ann|ben|cal' FROM clutch.tasks WHERE parent_task_id IS NOT NULL AND run_id <> 'run:1'), true, 'by another model');
SELECT is((SELECT clutch.outbound(envelope, 'multiagent') -> 'trace' -> 'parents' FROM clutch.events WHERE type = 'task.request' AND envelope #>> '{meta,multiagent,intent}' = 'reflect'), '["m1", "m2"]'::jsonb, 'its parents are kept');
SELECT is((SELECT clutch.outbound(envelope, 'multiagent') ->> 'intent' FROM clutch.events WHERE type = 'task.request' AND envelope #>> '{meta,multiagent,intent}' = 'reflect'), 'reflect', 'and its intent');
CREATE TEMP TABLE reflection AS SELECT t.task_id, t.agent_id, clutch.outbound(e.envelope, 'multiagent') AS asked FROM clutch.tasks t JOIN clutch.events e ON e.seq = t.request_seq WHERE e.envelope #>> '{meta,multiagent,intent}' = 'reflect';
SELECT FROM reflection r, LATERAL clutch.claim(r.agent_id) \g /dev/null
SELECT is((SELECT (s.task_id = r.task_id)::text || ' ' || s.late FROM reflection r, LATERAL clutch.ingest(jsonb_build_object('protocol', 'multiagent-1.0', 'role', 'agent', 'agent', jsonb_build_object('id', r.agent_id), 'intent', 'finalize', 'task', 'It is fine',
	'content', '{"type": "text"}'::jsonb, 'trace', jsonb_build_object('id', 'm3', 'parents', (r.asked #> '{trace,parents}') || (r.asked #> '{trace,id}')))) AS s), 'true false', 'an answer to it names it as the last of its parents');

-- next actions, where the workflow says so
SELECT clutch.register_workflow('{"workflow": "open", "next_actions": true, "steps": [{"id": "a"}]}');
SELECT fixture.ask('task:w' || n, 'agent:gpt5.plan', run => 'run:w' || n, orders => CASE n WHEN 1 THEN '{"workflow": "open", "step_of": "a"}'::jsonb END) FROM generate_series(1, 2) n;
SELECT fixture.claimed('agent:gpt5.plan');
SELECT clutch.progress('agent:gpt5.plan', 'task:w' || n, '{"outputs": {"next_actions": [{"intent": "retrieve", "task": "Load"}, {"intent": "summarize", "task": "Sum up"}]}}') FROM generate_series(1, 2) n;
SELECT is(pg_temp.children('task:w1'), 'agent:claude.decompose run:w1, agent:gemini.exec run:w1', 'next actions are child tasks if the workflow opts in');
SELECT is(pg_temp.children('task:w2'), 'none', 'and only then');
SET client_min_messages = error;
SELECT clutch.progress('agent:gpt5.plan', 'task:w1', '{"note": 2, "outputs": {"next_actions": [{}, "Load", null, [{"task": "a"}], {"intent": "execute"}, {"task": null}, {"task": " \t"}, {"task": "Say it"}, {"task": 7}]}}') \g /dev/null
RESET client_min_messages;
SELECT is((SELECT string_agg(e.envelope -> 'payload' ->> 'task', ', ' ORDER BY e.seq DESC) FROM clutch.events e WHERE e.type = 'task.request' AND e.parent_task_id = 'task:w1'), '7, Say it, Sum up, Load', 'those that say what to do');
SELECT clutch.register_workflow('{"workflow": "shut", "steps": [{"id": "a"}]}') \g /dev/null
SELECT fixture.ask('task:w4', 'agent:gpt5.plan', run => 'run:w4', orders => '{"workflow": "shut", "step_of": "a"}');
SELECT fixture.claimed('agent:gpt5.plan');
SELECT clutch.progress('agent:gpt5.plan', 'task:w4', '{"outputs": {"next_actions": [{"intent": "retrieve", "task": "Load"}]}}');
SELECT is(pg_temp.children('task:w4'), 'none', 'not because there is a workflow');
-- what an agent that does a next action proposes is done, too, down to a depth
DO $$
DECLARE
	depth int;
	t record;
BEGIN
	FOR depth IN 1 .. 12 LOOP
		SELECT c.* INTO t FROM clutch.tasks c WHERE c.run_id = 'run:w1' AND c.status = 'assigned' ORDER BY c.created_at DESC, c.request_seq DESC LIMIT 1;
		EXIT WHEN t.task_id IS NULL;
		PERFORM clutch.claim(t.agent_id, 9);
		PERFORM clutch.progress(t.agent_id, t.task_id, '{"outputs": {"next_actions": [{"intent": "retrieve", "task": "Once more"}]}}');
		PERFORM clutch.settle();
	END LOOP;
END $$;
SELECT is((SELECT max(depth) FROM clutch.task_tree('run:w1')), 9, 'next actions have next actions, as deep as rules may go');
-- a proposal is the request of whoever proposes
SELECT fixture.agent('private', 50, more => '{"model": "gemini-2.5", "security": {"serves": ["agent:ann"]}}'), fixture.agent('gpt5.plan', 50, more => '{"model": "gpt-5", "security": {"delegates_to": ["agent:claude.decompose", "agent:private"]}}') \g /dev/null
SELECT fixture.ask('task:w5', 'agent:gpt5.plan', run => 'run:w5', orders => '{"workflow": "open", "step_of": "a"}');
SELECT fixture.claimed('agent:gpt5.plan');
SELECT clutch.progress('agent:gpt5.plan', 'task:w5', '{"outputs": {"next_actions": [{"intent": "retrieve", "task": "Load"}]}}');
SELECT is(pg_temp.children('task:w5'), 'agent:claude.decompose run:w5', 'a next action goes only to agents to which its agent delegates, and that take its requests');
SELECT is(pg_temp.child('task:w5') #>> '{meta,rule,sender}', 'agent:gpt5.plan', 'which stands beside the rule');
SELECT fixture.claimed('agent:claude.decompose');
SELECT clutch.progress('agent:claude.decompose', t.task_id, '{"outputs": {"next_actions": [{"intent": "retrieve", "task": "Load"}]}}') FROM clutch.tasks t WHERE t.parent_task_id = 'task:w5';
SELECT is((SELECT concat_ws(' ', t.status, pg_temp.child(p.task_id) #>> '{meta,rule,sender}') FROM clutch.tasks t JOIN clutch.tasks p ON p.task_id = t.parent_task_id WHERE p.parent_task_id = 'task:w5'), 'assigned agent:claude.decompose', 'one of the agent that does it is its own');
SELECT fixture.agent('claude.decompose', 0, more => '{"model": "claude-3.7-sonnet"}') \g /dev/null
SELECT clutch.progress('agent:gpt5.plan', 'task:w5', '{"outputs": {"next_actions": [{"intent": "retrieve", "task": "Wait"}]}}');
SELECT is((SELECT concat_ws(' ', t.status, t.code) FROM clutch.tasks t WHERE t.parent_task_id = 'task:w5' AND t.agent_id IS NULL), 'pending NO_CAPACITY', 'it waits for one of them');
SELECT is(fixture.claimed('agent:private') || ', ' || fixture.rebuilt(), 'nothing, the same', 'and neither a claim nor a rebuild gives it to others');
SELECT fixture.agent('private', 50, more => '{"security": {"serves": ["agent:boss"]}}') \g /dev/null
SELECT fixture.ask('task:w6', skill => NULL, run => 'run:w6', more => '{"to": [{"agent_id": "agent:private"}], "meta": {"rule": {"name": "x", "event": "y", "sender": "agent:boss"}}}');
SELECT is(fixture.state('task:w6'), 'pending 1', 'nobody else says whose request it is');
SELECT clutch.cancel_run(r) FROM unnest('{run:w5,run:w6}'::text[]) r \g /dev/null
SELECT clutch.unregister('agent:private'), fixture.agent('gpt5.plan', 9, more => '{"model": "gpt-5"}'), fixture.agent('claude.decompose', 9, more => '{"model": "claude-3.7-sonnet"}') \g /dev/null
-- one that the tool of an agent proposes
SELECT fixture.ask('task:w3', 'agent:gpt5.plan', run => 'run:w3', orders => '{"workflow": "open", "step_of": "a"}');
SELECT fixture.claimed('agent:gpt5.plan');
SELECT clutch.send(clutch.envelope('chat.message', 'agent:gpt5.plan', id => 'msg_called', run_id => 'run:w3', thread_id => 'thread:1', task_id => 'task:w3'));
SELECT clutch.send(clutch.envelope('tool.result', 'agent:gpt5.plan', payload => '{"outputs": {"next_actions": [{"intent": "summarize", "task": "Sum up"}]}}', run_id => 'run:w3', thread_id => 'thread:1', task_id => 'task:w3',
	meta => '{"clutch": {"reply_to": "msg_called"}, "multiagent": {"confidence": {"score": 0.1}, "agent": {"model": "gpt-5"}}}'));
SELECT is((SELECT string_agg(e.envelope #>> '{payload,intent}', ' ' ORDER BY e.seq) FROM clutch.events e WHERE e.type = 'task.request' AND e.parent_task_id = 'task:w3'), 'reflect summarize', 'results of tools have next actions, and confidence');
SELECT is(clutch.uninstall_rules('multiagent-1.0'), 18, 'rules are uninstalled');
SELECT is((SELECT string_agg(name, ' ') FROM clutch.routing_rule), 'mine', 'but no others');
UPDATE clutch.routing_rule SET name = 'multiagent-1.0 gpt';
SELECT throws_ok($$SELECT clutch.install_rules('multiagent-1.0')$$, '23505', 'the set of rules "multiagent-1.0" has a rule "multiagent-1.0 gpt", and another rule has this name already', 'a rule of somebody else that has the name of one of them is named');
SELECT is((SELECT string_agg(name, ' ') FROM clutch.routing_rule), 'multiagent-1.0 gpt', 'and it stays');

-- --- registry-3.0
TRUNCATE clutch.routing_rule;
SELECT count(*) FROM clutch.import_registry('{"version": "3.0", "orchestrator": "house", "agents": {
	"basil": {"context": "personal", "displayName": "Chef Basil", "role": "Chef", "description": "Cooks", "signals": ["pinterest.com", "recipe", "cook"],
		"skills": [{"id": "suggest-meal", "description": "Suggests", "triggers": ["what should I cook", "dinner ideas"]}]},
	"ada": {"context": "personal", "displayName": "Ada", "role": "Calendar", "description": "Dates", "signals": ["calendar", "cook a date"],
		"skills": [{"id": "view-calendar", "description": "Shows", "triggers": ["my week"]}]},
	"hal": {"context": "shared", "displayName": "Hal", "role": "Helper", "description": "Helps", "signals": [], "skills": [{"id": "help", "description": "Helps"}]}},
	"skillIndex": {"suggest-meal": "basil", "view-calendar": "ada"},
	"routing": {"defaultAgent": "hal", "switchCommands": ["talk to", "switch to"], "multiAgentTriggers": ["and also", "then"]}}');
SELECT FROM clutch.join_group('group:personal', 'agent:ui');
SELECT is(clutch.install_rules('registry-3.0'), 9, 'a registry becomes rules');
CREATE FUNCTION pg_temp.to_whom(text text, requires text[] DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(d ->> 'selected', d ->> 'code') FROM clutch.route(clutch.envelope('task.request', 'agent:ui', payload => jsonb_build_object('text', text), requires => requires)) d
$$;
SELECT is(pg_temp.to_whom('A recipe from Pinterest.com'), 'agent:basil', 'by a signal');
SELECT is(pg_temp.to_whom('Put it into my calendar'), 'agent:ada', 'to the agent that has it');
SELECT is(pg_temp.to_whom('Let us cook a date'), 'agent:ada', 'the more specific one first');
SELECT is(pg_temp.to_whom('What should I cook?'), 'agent:basil', 'by a trigger of a skill');
SELECT is(clutch.route(clutch.envelope('task.request', 'agent:ui', payload => '{"text": "Any dinner ideas?"}')) ->> 'reason', 'matched requires[skill:suggest-meal], only candidate; rule registry-3.0 house: triggers of basil suggest-meal', 'which is required then');
SELECT is(pg_temp.to_whom('Talk to Ada about the recipe'), 'agent:ada', 'a switch command precedes signals');
SELECT is(pg_temp.to_whom('switch to chef basil'), 'agent:basil', 'by the name or the one that is displayed');
SELECT is(pg_temp.to_whom('Good morning'), 'agent:hal', 'anything else goes to the default agent');
SELECT is(pg_temp.to_whom('The calendar', '{skill:suggest-meal}'), 'agent:basil', 'what a request requires itself is left to the matching');
SELECT is(pg_temp.to_whom('What should I cook in my week?'), 'agent:basil', 'of two triggers, the longer one decides, and what the other requires is not asked for');
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', payload => '{"text": "Find a recipe and also put dinner into my calendar"}', run_id => 'run:house', thread_id => 'thread:1', task_id => 'task:house'));
SELECT is((SELECT string_agg(agent_id || CASE WHEN parent_task_id = 'task:house' THEN ' below' ELSE '' END, ', ' ORDER BY agent_id) FROM clutch.tasks WHERE run_id = 'run:house'), 'agent:ada below, agent:basil below', 'several agents, one task each');
SELECT is(pg_temp.to_whom('talk to hal. What should I cook?'), 'agent:hal', 'however long the trigger is');
SELECT clutch.install_rules('multiagent-1.0') \g /dev/null
SELECT is(clutch.uninstall_rules('registry-3.0'), 9, 'and they can be taken back');
SELECT is((SELECT count(*)::int FROM clutch.routing_rule WHERE ruleset = 'multiagent-1.0'), 18, 'which leaves other sets alone');

-- a registry whose agents are a list, with an index that names another agent, and words that are none
TRUNCATE clutch.routing_rule;
TRUNCATE clutch.registry_document;
SELECT FROM clutch.import_registry('{"version": "2.0", "orchestrator": "desk", "agents": [
	{"name": "pia", "version": "1.0.0", "description": "Draws", "signals": ["pencil", "!!", "€", "→", "·", ";", "᠀", "🏻"], "skills": [{"id": "draw", "description": "Draws", "triggers": ["make a sketch"]}]},
	{"name": "rex", "version": "1.0.0", "description": "Paints", "signals": [], "skills": [{"id": "draw", "description": "Draws", "triggers": ["make a painting"]}]}],
	"skillIndex": {"draw": "pia"}}');
SELECT is(clutch.install_rules('registry-3.0'), 3, 'rules of agents that have words');
SELECT is((SELECT words::text FROM clutch.routing_rule WHERE name LIKE '%signals of pia'), '{pencil}', 'a word without a letter is left out');
SELECT is(pg_temp.to_whom('Sharpen the pencil') || ' ' || pg_temp.to_whom('Make a sketch'), 'agent:pia agent:pia', 'agents may be a list');
SELECT is(pg_temp.to_whom('Make a painting'), 'agent:pia', 'and a trigger leads to the agent that the index names');

-- --- what counts as an event, and how many requests there may be
TRUNCATE clutch.routing_rule;
INSERT INTO clutch.routing_rule (name, type, path, emit) VALUES ('each', 'chat.message', '$.payload.each == true', '{"to": "agent:ben", "each": "$.payload.items[*]", "payload": {"item": "$.item"}}');
SELECT fixture.ask('task:each', 'agent:cal', run => 'run:each');
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ann}', run_id => 'run:each', task_id => 'task:each', payload => jsonb_build_object('each', true, 'items', (SELECT jsonb_agg(n) FROM generate_series(1, 130) n)))) \g /dev/null
SELECT is(fixture.fault($$INSERT INTO clutch.routing_rule (name, type, emit) VALUES ('x', 'chat.message', '{"where": "$.x"}')$$), '22023 NOT_ALLOWED /emit/where', 'a rule chooses among the items that it has');
SELECT is(fixture.fault($$INSERT INTO clutch.routing_rule (name, type, emit) VALUES ('x', 'chat.message', '{"each": "$.payload[*]", "where": "$.x ="}')$$), '22023 WRONG_VALUE /emit/where', 'by a path');
SELECT is((SELECT concat_ws(' ', count(*), min((e.envelope #>> '{payload,item}')::int), max((e.envelope #>> '{payload,item}')::int)) FROM clutch.events e WHERE e.type = 'task.request' AND e.parent_task_id = 'task:each'), '100 1 100', 'a rule adds a hundred requests to an event at most');

UPDATE clutch.routing_rule SET emit = emit || '{"where": "$ % 2 == 0"}';
SET client_min_messages = error;
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ann}', run_id => 'run:each', task_id => 'task:each', payload => jsonb_build_object('each', true, 'items', (SELECT jsonb_agg(n) FROM generate_series(1000, 1202) n)))) \g /dev/null
RESET client_min_messages;
SELECT is((SELECT concat_ws(' ', count(*), min((e.envelope #>> '{payload,item}')::int), max((e.envelope #>> '{payload,item}')::int)) FROM clutch.events e WHERE e.type = 'task.request' AND e.parent_task_id = 'task:each' AND (e.envelope #>> '{payload,item}')::int >= 1000), '100 1000 1198', 'of those that it chooses');
UPDATE clutch.routing_rule SET emit = emit - 'where';

-- a message may name a task of another run, which is no parent
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ann}', run_id => 'run:other', task_id => 'task:each', payload => '{"each": true, "items": ["o"]}')) \g /dev/null
SELECT is((SELECT concat_ws(' ', e.run_id, coalesce(e.parent_task_id, 'alone')) FROM clutch.events e WHERE e.type = 'task.request' AND e.envelope #>> '{payload,item}' = 'o'), 'run:other alone', 'a request beside a message is of the run of the message');

SELECT clutch.cancel_run('run:each'), clutch.cancel_run('run:other') \g /dev/null

-- late events, and those of the database itself
TRUNCATE clutch.routing_rule;
INSERT INTO clutch.routing_rule (name, type, emit) VALUES ('any progress', 'task.progress', '{"to": "agent:ben"}'), ('any result', 'task.result', '{"to": "agent:ben"}');
-- by way of the door, which a trigger makes the database use for its own events
CREATE FUNCTION public.nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER nothing AFTER INSERT ON clutch.events FOR EACH ROW EXECUTE FUNCTION public.nothing();
SELECT fixture.ask('task:l', 'agent:ann', run => 'run:late', orders => '{"retry": {"max": 3}}');
SELECT clutch.claim('agent:ann', 1) \g /dev/null
SELECT clutch.fail('agent:ann', 'task:l', 'E', 'no', retryable => true) \g /dev/null
SELECT is((SELECT string_agg(e.type || ' ' || e.from_agent, ', ' ORDER BY e.seq) FROM clutch.events e WHERE e.task_id = 'task:l' AND e.type = 'task.progress') || ', ' || pg_temp.children('task:l'), 'task.progress agent:orchestrator, none', 'what the database says itself is no event for rules');
DROP TRIGGER nothing ON clutch.events;
SELECT fixture.ask('task:m', 'agent:ann', run => 'run:late');
SELECT clutch.claim('agent:ann', 1) \g /dev/null
SELECT clutch.finish('agent:ann', 'task:m', '{}') \g /dev/null
SELECT is((SELECT late FROM clutch.send(clutch.envelope('task.result', 'agent:ann', payload => '{"other": 1}', run_id => 'run:late', thread_id => 'thread:1', task_id => 'task:m'))), true, 'what comes late');
SELECT is(pg_temp.children('task:m'), 'agent:ben run:late', 'is none, either');

-- whoever claims that a rule has requested a task
SELECT fixture.ask('task:forged', 'agent:ann', run => 'run:forged', more => '{"meta": {"rule": {"name": "any result", "event": "x"}}}');
SELECT clutch.claim('agent:ann', 1), clutch.finish('agent:ann', 'task:forged', '{}') \g /dev/null
SELECT is(pg_temp.children('task:forged'), 'agent:ben run:forged', 'has not kept the rule from it');

-- how sure is sure enough
TRUNCATE clutch.routing_rule;
SELECT clutch.install_rules('multiagent-1.0') \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ann', run_id => 'run:sure', task_id => 'task:sure' || n, meta => jsonb_build_object('multiagent', jsonb_build_object('confidence', jsonb_build_object('score', score)))))
FROM (VALUES (1, 0.5), (2, 0.49), (3, 1.0)) AS v(n, score) \g /dev/null
SELECT is((SELECT string_agg(e.envelope #>> '{meta,rule,name}' || ' ' || (SELECT m.task_id FROM clutch.events m WHERE m.id = e.envelope #>> '{meta,rule,event}'), ', ') FROM clutch.events e WHERE e.run_id = 'run:sure' AND e.type = 'task.request'), 'multiagent-1.0 confidence of chat.message task:sure2', 'less than one half is low');
-- whatever the message is
SELECT fixture.agent('tess', 50, ARRAY['skill:tess', 'tool:search'], more => '{"model": "gpt-5"}'), fixture.ask('task:kinds', 'agent:tess', NULL, run => 'run:kinds') \g /dev/null
SELECT clutch.claim('agent:tess') \g /dev/null
CREATE FUNCTION pg_temp.unsure(id text, role text, intent text, content jsonb, parents jsonb) RETURNS bigint LANGUAGE sql AS $$
	SELECT r.seq FROM clutch.ingest(jsonb_build_object('protocol', 'multiagent-1.0', 'role', role, 'agent', '{"id": "tess", "name": "Tess", "model": "gpt-5"}'::jsonb, 'timestamp', '2026-11-22T10:00:00Z',
		'intent', intent, 'task', 'look', 'inputs', '{"resources": [{"type": "tool", "id": "search"}]}'::jsonb, 'content', content, 'confidence', '{"score": 0.2}'::jsonb, 'trace', jsonb_build_object('id', id, 'parents', parents)),
		'multiagent', '{"task_id": "task:kinds"}') AS r
$$;
SELECT pg_temp.unsure('k1', 'agent', 'tool.call', '{"type": "json", "data": {"q": 1}}', '["root"]') \g /dev/null
SELECT pg_temp.unsure('k2', 'tool', 'tool.call', '{"type": "error", "text": "no such page"}', '["root", "k1"]') \g /dev/null
SELECT pg_temp.unsure('k3', 'system', 'reflect', '{"type": "text", "text": "slow today"}', '["root"]') \g /dev/null
SELECT pg_temp.unsure('k4', 'agent', 'execute', '{"type": "error", "text": "it is lost", "data": {"retryable": false}}', '["root"]') \g /dev/null
SELECT is((SELECT string_agg(type, ', ' ORDER BY seq) FROM clutch.events WHERE run_id = 'run:kinds' AND envelope #>> '{meta,multiagent,confidence,score}' = '0.2'), 'tool.call, tool.error, chat.system, task.error', 'messages of other types that are not sure');
SELECT is((SELECT string_agg(concat_ws(' ', e.envelope #>> '{meta,rule,name}', e.envelope #>> '{payload,message}'), ', ' ORDER BY e.seq) FROM clutch.events e WHERE e.run_id = 'run:kinds' AND e.parent_task_id = 'task:kinds' AND e.type = 'task.request'),
	'multiagent-1.0 confidence of tool.call, multiagent-1.0 confidence of tool.error no such page, multiagent-1.0 confidence of chat.system, multiagent-1.0 confidence of task.error it is lost', 'are reflected upon as well, with what went wrong');
SELECT is((SELECT count(*)::int FROM clutch.tasks WHERE run_id = 'run:kinds' AND parent_task_id IS NOT NULL AND agent_id = 'agent:tess'), 0, 'by another model');
-- a message need not name the model as the card does, or at all
SELECT fixture.ask('task:names', 'agent:tess', NULL, run => 'run:names') \g /dev/null
SELECT clutch.claim('agent:tess') \g /dev/null
SELECT clutch.send(clutch.envelope('task.progress', 'agent:tess', '{agent:ui}', run_id => 'run:names', task_id => 'task:names', thread_id => 'thread:1', meta => jsonb_build_object('multiagent', '{"confidence": {"score": 0.2}}'::jsonb || agent)))
FROM (VALUES ('{"agent": {"model": "gpt-5-2025-08-07"}}'::jsonb), ('{}')) AS v(agent) \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', t.agent_id ~ 'claude|gemini|ann|ben|cal', (SELECT string_agg(w.agent_id, ' ' ORDER BY w.agent_id) FROM clutch.why(t.task_id) w WHERE w.rejected_by = 'rule')), ', ') FROM clutch.tasks t WHERE t.parent_task_id = 'task:names'),
	't agent:gpt5.plan agent:tess, t agent:gpt5.plan agent:tess', 'the model on the card of the sender does not reflect either');

-- --- deep in a tree
TRUNCATE clutch.routing_rule;
INSERT INTO clutch.routing_rule (name, type, emit) VALUES ('deep', 'task.result', '{"to": "agent:ben"}');
SELECT fixture.ask('task:d' || i, CASE WHEN i >= 100 THEN 'agent:ann' END, CASE WHEN i < 100 THEN 'skill:nobody' END, parent => 'task:d' || nullif(i, 1) - 1, run => 'run:deep') FROM generate_series(1, 101) i \g /dev/null
SELECT fixture.claimed('agent:ann') \g /dev/null
SELECT clutch.finish('agent:ann', 'task:d' || i) FROM generate_series(100, 101) i \g /dev/null
SELECT is(pg_temp.children('task:d100'), 'agent:ann run:deep, agent:ben run:deep', 'a rule adds a request to an event of a task with 99 tasks above it');
SELECT is(pg_temp.children('task:d101'), 'none', 'and none if there are 100 tasks or more above it');

SELECT * FROM finish();
