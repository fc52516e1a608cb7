-- Requests that a rule shares out: each of several agents gets a child, and the database ends the request when they are over.
\ir ../fixtures/tap.sql
SELECT plan(115);

SELECT set_config('clutch.notify', 'off', false) \g /dev/null
SELECT fixture.at(0) \g /dev/null
SELECT count(fixture.agent(n, 50)) FROM unnest('{ann,ben,cal}'::text[]) n \g /dev/null
INSERT INTO clutch.routing_rule (name, words, send_to) VALUES ('cook', '{dinner}', 'agent:ann'), ('plan', '{calendar}', 'agent:ben'), ('shop', '{"shopping list"}', 'agent:cal');
INSERT INTO clutch.routing_rule (name, words, emit) VALUES ('many', '{"and also"}', '{"to": "matched", "payload": "$.payload"}');

CREATE FUNCTION pg_temp.ask(task text, text text DEFAULT 'Plan dinner and also put it into the calendar.', orders jsonb DEFAULT NULL, more jsonb DEFAULT '{}', run text DEFAULT 'run:1') RETURNS void LANGUAGE sql AS $$
	SELECT fixture.ask(task, skill => NULL, orders => orders, run => run, more => jsonb_build_object('payload', jsonb_build_object('text', text)) || more)
$$;
-- "agent status" of the children of a task, in the order of their requests
CREATE FUNCTION pg_temp.children(task text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(concat_ws(' ', coalesce(t.agent_id, '-'), t.status), ', ' ORDER BY t.request_seq), 'none') FROM clutch.tasks t WHERE t.parent_task_id = task
$$;
CREATE FUNCTION pg_temp.state(task text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', status, agent_id, waiting_for, code) FROM clutch.tasks WHERE task_id = task
$$;
CREATE FUNCTION pg_temp.child(task text, agent text) RETURNS text LANGUAGE sql AS $$
	SELECT c ->> 'task_id' FROM fixture.moves(task, 'shared') m, jsonb_array_elements(m -> 'children') c WHERE c ->> 'to' = agent
$$;
CREATE FUNCTION pg_temp.done(task text, agent text, payload jsonb DEFAULT '{}') RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.claim(agent, 50);
	RETURN (SELECT late FROM clutch.finish(agent, pg_temp.child(task, agent), payload));
END $$;
CREATE FUNCTION pg_temp.failed(task text, agent text, retryable boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.claim(agent, 50);
	PERFORM clutch.fail(agent, pg_temp.child(task, agent), 'NO_PANS', 'there are none', retryable => retryable);
END $$;
CREATE FUNCTION pg_temp.ends(task text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(type || ' ' || from_agent, ', ' ORDER BY seq) FROM clutch.events WHERE task_id = task AND type IN ('task.result', 'task.error', 'task.timeout', 'task.cancel')
$$;

-- --- one child for each agent
SELECT is(clutch.route(fixture.request('task:r', skill => NULL, more => '{"payload": {"text": "Dinner and also the calendar"}}')),
	'{"rules": ["many", "cook", "plan"], "shared": ["agent:ann", "agent:ben"], "reason": "rule many shares it out among agent:ann, agent:ben", "request": "msg_task:r"}', 'route says who gets a child, and which rules have found them');
SELECT fixture.answers($$SELECT agent_id, eligible, rejected_by, detail, rank FROM clutch.explain_route(fixture.request('task:r', skill => NULL, more => '{"payload": {"text": "Dinner and also the calendar"}}'))$$,
	$$VALUES ('agent:ann', true, NULL, 'rule many shares it out among agent:ann, agent:ben', 1), ('agent:ben', true, NULL, 'rule many shares it out among agent:ann, agent:ben', 2), ('agent:cal', false, 'rule', 'rule many shares it out among agent:ann, agent:ben', NULL::int)$$, 'and so does explain_route');
SELECT pg_temp.ask('task:a') \g /dev/null
SELECT is(pg_temp.state('task:a'), 'pending children', 'a request for several agents is given to none and waits for its children');
SELECT is(pg_temp.children('task:a'), 'agent:ann assigned, agent:ben assigned', 'of which each agent has one');
SELECT is((SELECT string_agg(DISTINCT concat_ws(' ', run_id, thread_id, from_agent), ', ') FROM clutch.tasks WHERE parent_task_id = 'task:a'), 'run:1 thread:1 agent:orchestrator', 'in the same run and thread');
SELECT is((SELECT m #- '{children,0,task_id}' #- '{children,1,task_id}' FROM fixture.moves('task:a', 'shared') m), '{"state": "shared", "rule": "many", "emit": {"to": "matched", "payload": "$.payload"}, "children": [{"to": "agent:ann"}, {"to": "agent:ben"}]}'::jsonb, 'which is an event of the log');
SELECT is((SELECT string_agg(concat_ws(' ', agent_id, eligible, rank, replace(detail, pg_temp.child('task:a', agent_id), 'CHILD')), ', ' ORDER BY rank) FROM clutch.why('task:a')),
	'agent:ann t 1 rule many shared it out: child CHILD, agent:ben t 2 rule many shared it out: child CHILD', 'that why tells');
SELECT is((SELECT count(*) FROM clutch.stuck) + (SELECT count(*) FROM clutch.check() c WHERE c.code = 'TASK_NOT_QUEUED'), 0::bigint, 'it is neither stuck nor lost');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds it waiting');
SELECT is(pg_temp.done('task:a', 'agent:ben', '{"text": "It is in the calendar."}'), false, 'one of them has done its part');
SELECT is(pg_temp.state('task:a'), 'pending children', 'which is not enough');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds that');
SELECT is(pg_temp.done('task:a', 'agent:ann', '{"text": "Soup."}'), false, 'the other has, too');
SELECT is(pg_temp.state('task:a') || ', ' || pg_temp.ends('task:a'), 'completed, task.result agent:orchestrator', 'then the database completes the request');
SELECT is((SELECT payload FROM clutch.result('task:a')), jsonb_build_object('results', jsonb_build_array(
	jsonb_build_object('task_id', pg_temp.child('task:a', 'agent:ann'), 'agent_id', 'agent:ann', 'payload', '{"text": "Soup."}'::jsonb),
	jsonb_build_object('task_id', pg_temp.child('task:a', 'agent:ben'), 'agent_id', 'agent:ben', 'payload', '{"text": "It is in the calendar."}'::jsonb))), 'with all results, in the order of the rules');
SELECT is((SELECT envelope #>> '{to,0,agent_id}' FROM clutch.events WHERE task_id = 'task:a' AND type = 'task.result'), 'agent:ui', 'for whoever has asked');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same end');
SELECT is((SELECT status FROM clutch.runs WHERE run_id = 'run:1'), 'completed', 'the run is over');

-- --- one agent
SELECT pg_temp.ask('task:one', 'Plan dinner and also a walk.') \g /dev/null
SELECT is(pg_temp.state('task:one') || ', ' || pg_temp.children('task:one'), 'assigned agent:ann, none', 'a request for one agent goes to it');
SELECT pg_temp.ask('task:named', more => '{"to": [{"agent_id": "agent:cal"}]}'), pg_temp.ask('task:two', more => '{"to": [{"agent_id": "agent:cal"}, {"agent_id": "agent:ann"}]}') \g /dev/null
SELECT is(pg_temp.state('task:named') || ', ' || pg_temp.state('task:two') || ', ' || pg_temp.children('task:named') || ', ' || pg_temp.children('task:two'), 'assigned agent:cal, assigned agent:ann, none, none', 'and one that names agents goes to one of them');
SELECT clutch.register_workflow('{"workflow": "meal", "steps": [{"id": "cook"}]}') \g /dev/null
SELECT pg_temp.ask('task:step', orders => '{"workflow": "meal", "step_of": "cook"}', run => 'run:meal') \g /dev/null
SELECT is(pg_temp.state('task:step') || ', ' || pg_temp.children('task:step'), 'assigned agent:ann, none', 'so does one that does a step of a workflow');

-- --- a child that fails
SELECT pg_temp.ask('task:f', run => 'run:f') \g /dev/null
SELECT pg_temp.failed('task:f', 'agent:ann', true) \g /dev/null
SELECT is(pg_temp.state('task:f') || ', ' || pg_temp.children('task:f'), 'pending children, - pending, agent:ben assigned', 'a child that is tried again is not over');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds it');
SELECT fixture.at(20), clutch.tick() \g /dev/null
SELECT pg_temp.failed('task:f', 'agent:ann', false) \g /dev/null
SELECT is(pg_temp.state('task:f') || ', ' || pg_temp.ends('task:f') || ', ' || pg_temp.children('task:f'), 'failed DEPENDENCY_FAILED, task.error agent:orchestrator, agent:ann failed, agent:ben assigned', 'one that is not fails the request, and the others go on');
SELECT is((SELECT payload - 'message' FROM clutch.result('task:f')), jsonb_build_object('code', 'DEPENDENCY_FAILED', 'retryable', false, 'was', 'pending',
	'details', jsonb_build_object('task_id', pg_temp.child('task:f', 'agent:ann'), 'status', 'failed', 'code', 'NO_PANS', 'agent_id', 'agent:ann')), 'which names the child and its code');
SELECT is((SELECT payload ->> 'message' FROM clutch.result('task:f')), 'task "' || pg_temp.child('task:f', 'agent:ann') || '", which it waited for, is failed: NO_PANS', 'in words, too');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT clutch.retry('task:f') \g /dev/null
SELECT is(pg_temp.state('task:f') || ', ' || pg_temp.children('task:f'), 'failed DEPENDENCY_FAILED, agent:ann failed, agent:ben assigned', 'retried alone, it fails again');
SELECT is((SELECT count(*) FROM clutch.retry_run('run:f')), 2::bigint, 'retry_run revives both');
SELECT is(pg_temp.state('task:f') || ', ' || pg_temp.children('task:f'), 'pending children, agent:ann assigned, agent:ben assigned', 'and the request waits again for the same children');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds it waiting');
SELECT pg_temp.done('task:f', 'agent:ann'), pg_temp.done('task:f', 'agent:ben') \g /dev/null
SELECT is(pg_temp.state('task:f') || ', ' || pg_temp.ends('task:f'), 'completed, task.error agent:orchestrator, task.error agent:orchestrator, task.result agent:orchestrator', 'whose results complete it');

-- the child first, then the request
SELECT pg_temp.ask('task:f2', run => 'run:f2') \g /dev/null
SELECT pg_temp.done('task:f2', 'agent:ben'), pg_temp.failed('task:f2', 'agent:ann', false) \g /dev/null
SELECT clutch.retry(pg_temp.child('task:f2', 'agent:ann')) \g /dev/null
SELECT pg_temp.done('task:f2', 'agent:ann') \g /dev/null
SELECT is(pg_temp.state('task:f2'), 'failed DEPENDENCY_FAILED', 'a child that is retried alone changes nothing for the request');
SELECT clutch.retry('task:f2') \g /dev/null
SELECT is(pg_temp.state('task:f2') || ' ' || (SELECT jsonb_array_length(payload -> 'results') FROM clutch.result('task:f2')), 'completed 2', 'which is completed at once when it is retried after that');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT is((SELECT string_agg(DISTINCT agent_id, ' ' ORDER BY agent_id) FROM clutch.agent_slot), 'agent:ann agent:ben agent:cal', 'and no result that counts for nobody');

-- --- cancel and timeout
SELECT pg_temp.ask('task:c', run => 'run:c') \g /dev/null
SELECT clutch.cancel('task:c', 'no appetite') \g /dev/null
SELECT is(pg_temp.state('task:c') || ', ' || pg_temp.children('task:c'), 'cancelled, agent:ann cancelled, agent:ben cancelled', 'a cancel reaches the children');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds that');
SELECT pg_temp.ask('task:d', run => 'run:d') \g /dev/null
SELECT clutch.cancel(pg_temp.child('task:d', 'agent:ben')) \g /dev/null
SELECT is(pg_temp.state('task:d') || ', ' || (SELECT payload #>> '{details,status}' FROM clutch.result('task:d')), 'failed DEPENDENCY_FAILED, cancelled', 'a child that is cancelled fails the request');
SELECT pg_temp.ask('task:e', run => 'run:e', orders => jsonb_build_object('deadline', to_char(clutch.now() + interval '25 s', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))) \g /dev/null
SELECT is(pg_temp.state('task:e'), 'pending children', 'a deadline waits for them, too');
SELECT fixture.at(50), clutch.tick() \g /dev/null
SELECT is(pg_temp.state('task:e') || ', ' || pg_temp.children('task:e'), 'timed_out DEADLINE_EXCEEDED, agent:ann cancelled, agent:ben cancelled', 'a request that times out takes its children along');
SELECT is((SELECT detail FROM clutch.tasks WHERE task_id = pg_temp.child('task:e', 'agent:ann')), 'task "task:e" above it timed out', 'and they are told why');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds that');

-- --- a rule that is deleted before the children are requested
BEGIN;
SELECT pg_temp.ask('task:del', run => 'run:del') \g /dev/null
DELETE FROM clutch.routing_rule WHERE name = 'many';
COMMIT;
SELECT is(pg_temp.state('task:del') || ', ' || pg_temp.children('task:del'), 'pending children, agent:ann assigned, agent:ben assigned', 'the children are requested as the rule was');
SELECT is((SELECT string_agg(DISTINCT e.envelope #>> '{payload,text}', ' ') FROM clutch.tasks t JOIN clutch.events e ON e.seq = t.request_seq WHERE t.parent_task_id = 'task:del'),
	'Plan dinner and also put it into the calendar.', 'with the same payload');
SELECT clutch.cancel('task:del') \g /dev/null
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds that');
INSERT INTO clutch.routing_rule (name, words, emit) VALUES ('many', '{"and also"}', '{"to": "matched", "payload": "$.payload"}');

-- --- children that are refused
UPDATE clutch.routing_rule SET emit = '{"to": "matched", "payload": "$.payload", "meta": {"clutch": {"priority": 77}}}' WHERE name = 'many';
SELECT pg_temp.ask('task:g', run => 'run:g') \g /dev/null
SELECT is(pg_temp.state('task:g') || ', ' || pg_temp.children('task:g'), 'failed SHARE_REFUSED, none', 'if a child is refused, no agent gets one, and the request fails');
SELECT matches((SELECT payload ->> 'message' FROM clutch.result('task:g')), '^a child for one of the agents could not be requested: ', 'and says why');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds that');
UPDATE clutch.routing_rule SET emit = '{"to": "matched", "payload": "$.payload"}' WHERE name = 'many';
-- the log names children that do not exist, which others may take for a task of their own
BEGIN;
SELECT fixture.ask(pg_temp.child('task:g', 'agent:ben'), 'agent:cal', run => 'run:g') \g /dev/null
SELECT clutch.retry('task:g'), clutch.settle() \g /dev/null
SELECT is(pg_temp.state('task:g') || ', ' || pg_temp.children('task:g'), 'failed SHARE_REFUSED, none', 'a task of somebody else does not count as a child');
SELECT matches((SELECT payload ->> 'message' FROM clutch.result('task:g')), '^a child for one of the agents could not be requested: its ID "[^"]+" belongs to a task that "agent:ui" has requested; send the request again with another id$', 'which the error says, and what to do');
ROLLBACK;
SELECT clutch.retry('task:g') \g /dev/null
SELECT is(pg_temp.state('task:g') || ', ' || pg_temp.children('task:g'), 'pending children, agent:ann assigned, agent:ben assigned', 'when the rule is right again, a retry requests them');
SELECT pg_temp.done('task:g', 'agent:ann'), pg_temp.done('task:g', 'agent:ben') \g /dev/null
SELECT is(pg_temp.state('task:g'), 'completed', 'and they complete it');
SELECT pg_temp.ask('task:h', run => 'run:h', orders => '{"budget": {"tasks": 2}}') \g /dev/null
SELECT is(pg_temp.state('task:h') || ', ' || (SELECT payload #>> '{details,code}' FROM clutch.result('task:h')), 'failed DEPENDENCY_FAILED, BUDGET_EXCEEDED', 'a child that the budget of the run does not allow fails the request');

-- --- what comes before
BEGIN;
UPDATE clutch.routing_rule SET words = '{"nothing else"}' WHERE name = 'many';
SELECT clutch.pause('agent:ann') FROM clutch.tick() \g /dev/null
SELECT pg_temp.ask('task:w', run => 'run:w') \g /dev/null
UPDATE clutch.routing_rule SET words = '{"and also"}' WHERE name = 'many';
SELECT clutch.resume('agent:ann'), clutch.settle() \g /dev/null
SELECT is(pg_temp.state('task:w') || ', ' || pg_temp.children('task:w'), 'assigned agent:ann, none', 'a request that waits for an agent already is not shared out');
ROLLBACK;
SELECT fixture.ask('task:i0', 'agent:cal', run => 'run:i'), pg_temp.ask('task:i', run => 'run:i', orders => '{"after": ["task:i0"]}') \g /dev/null
SELECT is(pg_temp.state('task:i') || ', ' || pg_temp.children('task:i'), 'pending sibling, none', 'a request that waits for another one is not shared out before');
SELECT clutch.claim('agent:cal', 50) \g /dev/null
SELECT clutch.finish('agent:cal', 'task:i0') \g /dev/null
SELECT is(pg_temp.state('task:i') || ', ' || pg_temp.children('task:i'), 'pending children, agent:ann assigned, agent:ben assigned', 'but then');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds that');
SELECT fixture.ask('task:i2', 'agent:cal', run => 'run:i2'), pg_temp.ask('task:i3', run => 'run:i2', orders => '{"after": ["task:i2"]}') \g /dev/null
SELECT clutch.cancel('task:i2') \g /dev/null
SELECT clutch.retry('task:i3'), clutch.retry('task:i2') \g /dev/null
SELECT clutch.claim('agent:cal', 50) \g /dev/null
SELECT clutch.finish('agent:cal', 'task:i2') \g /dev/null
SELECT is(pg_temp.state('task:i3') || ', ' || pg_temp.children('task:i3'), 'pending children, agent:ann assigned, agent:ben assigned', 'also when it has failed before that');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds that');
SELECT fixture.ask('task:i1', 'agent:cal', run => 'run:i', orders => fixture.after('task:i')) \g /dev/null
SELECT pg_temp.done('task:i', 'agent:ann'), pg_temp.done('task:i', 'agent:ben') \g /dev/null
SELECT is(pg_temp.state('task:i') || ', ' || pg_temp.state('task:i1'), 'completed, assigned agent:cal', 'and what waits for it begins when it is completed');

-- --- urgency
UPDATE clutch.routing_rule SET priority = 4 WHERE name = 'cook';
SELECT pg_temp.ask('task:j', run => 'run:j') \g /dev/null
SELECT is((SELECT string_agg(priority::text, ' ' ORDER BY request_seq) FROM clutch.tasks WHERE run_id = 'run:j'), '4 4 4', 'the children are as urgent as a rule makes the request');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds that');
UPDATE clutch.routing_rule SET priority = NULL WHERE name = 'cook';

-- --- groups, and requests below a child
SELECT fixture.agent('dan', 50, more => '{"groups": ["group:planners"]}') \g /dev/null
UPDATE clutch.routing_rule SET send_to = 'group:planners' WHERE name = 'plan';
SELECT pg_temp.ask('task:o', run => 'run:o') \g /dev/null
SELECT is(pg_temp.children('task:o'), 'agent:ann assigned, agent:dan assigned', 'a group gets a child for one of its members');
UPDATE clutch.routing_rule SET send_to = 'agent:ben' WHERE name = 'plan';
SELECT pg_temp.ask('task:o2', run => 'run:o', more => jsonb_build_object('parent_task_id', pg_temp.child('task:o', 'agent:ann'))) \g /dev/null
SELECT is(pg_temp.state('task:o2') || ', ' || pg_temp.children('task:o2'), 'assigned agent:ann, none', 'a rule shares nothing out below what it has requested itself');
SELECT is((SELECT clutch.route(envelope) ->> 'selected' FROM clutch.events WHERE task_id = 'task:o2' AND type = 'task.request'), 'agent:ann', 'and route knows that');
SELECT clutch.cancel_run('run:o') \g /dev/null

-- --- what others claim
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('task.progress', 'agent:ui', run_id => 'run:j', task_id => 'task:j', meta => '{"clutch": {"move": "shared"}}', payload => '{"children": []}'))$$), 'KL001 NOT_ALLOWED /meta/clutch/move', 'only the database shares out');
SELECT fixture.ask('task:k', 'agent:cal', parent => 'task:j', run => 'run:j', more => '{"meta": {"rule": {"name": "many", "event": "msg_task:j"}}}') \g /dev/null
SELECT clutch.claim('agent:cal', 50) \g /dev/null
SELECT clutch.fail('agent:cal', 'task:k', 'E', 'no', retryable => false) \g /dev/null
SELECT is(pg_temp.state('task:j'), 'pending children', 'a child that says that a rule requested it is none of those that count');
SELECT pg_temp.done('task:j', 'agent:ann'), pg_temp.done('task:j', 'agent:ben') \g /dev/null
SELECT is(pg_temp.state('task:j') || ' ' || jsonb_array_length((SELECT payload -> 'results' FROM clutch.result('task:j'))), 'completed 2', 'and its end changes nothing');

-- --- results that are too large together
SET clutch.max_envelope_bytes = 20000;
SELECT pg_temp.ask('task:l', run => 'run:l') \g /dev/null
SELECT pg_temp.done('task:l', agent, jsonb_build_object('text', repeat('x', 15000))) FROM unnest('{agent:ann,agent:ben}'::text[]) agent \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', r ->> 'agent_id', r ? 'payload'), ', ') FROM clutch.result('task:l'), jsonb_array_elements(payload -> 'results') r), 'agent:ann t, agent:ben f', 'results that would be too large together are named only');
RESET clutch.max_envelope_bytes;

-- --- erasure
SELECT pg_temp.ask('task:r', run => 'run:r') \g /dev/null
SELECT pg_temp.done('task:r', 'agent:ben', '{"text": "secret"}') \g /dev/null
SELECT clutch.redact(seq, 'gone') FROM clutch.events WHERE run_id = 'run:r' AND type IN ('task.request', 'task.progress', 'task.result') \g /dev/null
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild reads in a redacted log who has a child');
SELECT pg_temp.done('task:r', 'agent:ann', '{"text": "Soup."}') \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', r ->> 'agent_id', r #>> '{payload,text}', r #>> '{payload,redacted,reason}'), ', ') FROM clutch.result('task:r'), jsonb_array_elements(payload -> 'results') r), 'agent:ann Soup., agent:ben gone', 'and what was redacted before is not among the results');

-- --- agents that do not take the requests of everybody
SELECT fixture.agent('ben', 50, more => '{"security": {"serves": ["agent:cal"]}}') \g /dev/null
SELECT pg_temp.ask('task:m', run => 'run:m') \g /dev/null
SELECT is(pg_temp.state('task:m') || ', ' || pg_temp.children('task:m'), 'assigned agent:ann, none', 'an agent that does not take the request gets no child either');
SELECT fixture.agent('ann', 50, more => '{"security": {"serves": ["agent:cal"]}}'), fixture.agent('ben', 50) \g /dev/null
SELECT pg_temp.ask('task:m1', run => 'run:m') \g /dev/null
SELECT is(pg_temp.state('task:m1') || ', ' || pg_temp.children('task:m1'), 'pending children, agent:ben assigned', 'if the first one does not take it, the other has the child');
SELECT clutch.cancel('task:m1') \g /dev/null
SELECT fixture.agent('ann', 50), fixture.agent('ben', 50, more => '{"groups": ["group:staff"], "security": {"serves": ["agent:cal"]}}') \g /dev/null
UPDATE clutch.routing_rule SET send_to = 'group:staff' WHERE name = 'plan';
SELECT pg_temp.ask('task:m2', run => 'run:m') \g /dev/null
SELECT is(pg_temp.state('task:m2') || ', ' || pg_temp.children('task:m2'), 'assigned agent:ann, none', 'a group of which nobody takes the request gets no child');
SELECT fixture.agent('eve', 0, more => '{"groups": ["group:staff"]}') \g /dev/null
SELECT pg_temp.ask('task:m3', run => 'run:m') \g /dev/null
SELECT is(pg_temp.children('task:m3'), 'agent:ann assigned, - pending', 'and if one of its members does, the child waits for that one');
SELECT is((SELECT string_agg(concat_ws(' ', x.agent_id, x.rejected_by, x.detail), ', ' ORDER BY x.agent_id) FROM clutch.events e, clutch.explain_route(e.envelope) x WHERE e.task_id = pg_temp.child('task:m3', 'group:staff') AND e.type = 'task.request' AND x.agent_id IN ('agent:ben', 'agent:eve')),
	'agent:ben policy does not take requests of agent:ui, agent:eve concurrency has 0 of 0 tasks', 'because it is the request of whoever has asked');
SELECT is(fixture.claimed('agent:ben'), 'nothing', 'so no claim of another member gets it');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds it waiting');
SELECT fixture.agent('eve', 50, more => '{"groups": ["group:staff"]}') \g /dev/null
SELECT is(pg_temp.children('task:m3'), 'agent:ann assigned, agent:eve assigned', 'until that one has room');
SELECT fixture.agent('ui', 0, more => '{"security": {"delegates_to": ["agent:ann", "agent:cal"]}}') \g /dev/null
SELECT pg_temp.ask('task:m4', 'Dinner and also the calendar and the shopping list', run => 'run:m') \g /dev/null
SELECT is(pg_temp.children('task:m4'), 'agent:cal assigned, agent:ann assigned', 'nor does anybody to whom the sender does not delegate');
SELECT clutch.unregister('agent:ui') \g /dev/null
SELECT fixture.agent('ben', 50, more => '{"groups": ["group:staff"]}') \g /dev/null

-- --- rules that keep agents from a request
INSERT INTO clutch.routing_rule (name, words, restrict_to) VALUES ('private', '{private}', '{agent:ann,agent:eve}');
SELECT pg_temp.ask('task:m5', 'Private dinner and also the shopping list', run => 'run:m') \g /dev/null
SELECT is(pg_temp.state('task:m5') || ', ' || pg_temp.children('task:m5'), 'pending children, agent:ann assigned', 'an agent that another rule keeps from the request gets no child');
SELECT clutch.set_status('agent:eve', 'UNAVAILABLE') \g /dev/null
SELECT pg_temp.ask('task:m6', 'Private dinner and also the calendar', run => 'run:m') \g /dev/null
SELECT is(pg_temp.children('task:m6'), 'agent:ann assigned, - pending', 'nor does such a member of a group');
SELECT is((SELECT concat_ws(' ', envelope #>> '{payload,rules}', envelope #>> '{payload,rejected,rule,agents}') FROM clutch.events WHERE type = 'routing.failure' AND task_id = pg_temp.child('task:m6', 'group:staff')), '["private"] ["agent:ben"]', 'and the log says which rule keeps it');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT clutch.set_status('agent:eve', 'READY') \g /dev/null
SELECT is(pg_temp.children('task:m6'), 'agent:ann assigned, agent:eve assigned', 'another member may have it');
UPDATE clutch.routing_rule SET restrict_to = '{agent:cal}' WHERE name = 'private';
SELECT pg_temp.ask('task:m7', 'Private dinner and also the calendar', run => 'run:m') \g /dev/null
SELECT is(pg_temp.state('task:m7') || ', ' || pg_temp.children('task:m7'), 'pending agent NO_AGENT_AVAILABLE, none', 'and if rules leave nobody, the request waits');
-- whatever becomes of its payload
SELECT clutch.cancel_run('run:m') \g /dev/null
SELECT fixture.agent('fay', 50, more => '{"groups": ["group:staff"], "model": "gpt-5"}') \g /dev/null
UPDATE clutch.routing_rule SET restrict_to = '{agent:ann,agent:eve}' WHERE name = 'private';
UPDATE clutch.routing_rule SET emit = '{"to": "matched", "payload": {"subject": "$.payload.subject", "model": "claude"}}' WHERE name = 'many';
SELECT clutch.set_status('agent:eve', 'UNAVAILABLE') \g /dev/null
SELECT pg_temp.ask('task:m8', 'Private dinner and also the calendar', run => 'run:m') \g /dev/null
SELECT is(pg_temp.children('task:m8'), 'agent:ann assigned, - pending', 'nor does such a member if the payload of the child does not say so');
SELECT is((SELECT concat_ws(' ', envelope #>> '{payload,rules}', envelope #>> '{payload,rejected,rule,agents}') FROM clutch.events WHERE type = 'routing.failure' AND task_id = pg_temp.child('task:m8', 'group:staff')), '["private"] ["agent:ben", "agent:fay"]', 'and the log says which rule keeps it');
SELECT is(fixture.claimed('agent:ben') || ', ' || fixture.claimed('agent:fay') || ', ' || fixture.rebuilt(), 'nothing, nothing, the same', 'so neither a claim nor a rebuild gives it to others');
SELECT is((SELECT string_agg(concat_ws(' ', x.agent_id, x.rejected_by), ', ' ORDER BY x.agent_id) FROM clutch.events e, clutch.explain_route(e.envelope) x WHERE e.task_id = pg_temp.child('task:m8', 'group:staff') AND e.type = 'task.request'), 'agent:ben rule, agent:eve status, agent:fay rule', 'as explain_route says');
SELECT clutch.set_status('agent:eve', 'READY') \g /dev/null
SELECT is(pg_temp.children('task:m8'), 'agent:ann assigned, agent:eve assigned', 'another member may have it');
UPDATE clutch.routing_rule SET restrict_to = NULL, other_model_than = '$.payload.model' WHERE name = 'private';
SELECT clutch.set_status(a, 'UNAVAILABLE') FROM unnest('{agent:ben,agent:eve}'::text[]) a \g /dev/null
SELECT pg_temp.ask('task:m9', run => 'run:m', more => '{"payload": {"text": "Private dinner and also the calendar", "model": "gpt-5"}}') \g /dev/null
SELECT is(pg_temp.children('task:m9'), 'agent:ann assigned, - pending', 'nor does one with a model that the request excludes');
UPDATE clutch.routing_rule SET words = NULL WHERE name = 'private';
SELECT clutch.set_status('agent:eve', 'READY') \g /dev/null
SELECT pg_temp.ask('task:m10', run => 'run:m', more => '{"payload": {"text": "Dinner and also the calendar", "model": "gpt-5"}}') \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', x.agent_id, x.rejected_by, x.detail), ', ' ORDER BY x.agent_id) FROM clutch.events e, clutch.explain_route(e.envelope) x WHERE e.task_id = pg_temp.child('task:m10', 'group:staff') AND e.type = 'task.request' AND NOT x.eligible),
	'agent:ben status is UNAVAILABLE, agent:fay rule rule private excludes model gpt-5', 'a rule may exclude by both payloads');
SELECT clutch.set_status('agent:ben', 'READY'), clutch.unregister('agent:fay') \g /dev/null
UPDATE clutch.routing_rule SET emit = '{"to": "matched", "payload": "$.payload"}' WHERE name = 'many';
SELECT clutch.cancel_run('run:m') \g /dev/null
DELETE FROM clutch.routing_rule WHERE name = 'private';
UPDATE clutch.routing_rule SET send_to = 'agent:ben' WHERE name = 'plan';

-- --- in a prepared transaction, and once more
BEGIN;
SELECT pg_temp.ask('task:n', run => 'run:n') \g /dev/null
PREPARE TRANSACTION 'share';
COMMIT PREPARED 'share';
SELECT is(pg_temp.state('task:n') || ', ' || pg_temp.children('task:n'), 'pending children, agent:ann assigned, agent:ben assigned', 'in a prepared transaction, too');
INSERT INTO clutch.consequence SELECT nextval('clutch.queue_no'), 'share', 'task:n', NULL, 0, 0, now();
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.children('task:n') || ', ' || (SELECT count(*) FROM clutch.consequence), 'agent:ann assigned, agent:ben assigned, 0', 'children are requested once');
SELECT pg_temp.done('task:n', 'agent:ann'), pg_temp.done('task:n', 'agent:ben') \g /dev/null

-- --- rules that are refused
SELECT is(fixture.fault($$INSERT INTO clutch.routing_rule (name, emit) VALUES ('x', '{"to": "matched", "each": "$.payload.items[*]"}')$$), '22023 NOT_ALLOWED /emit/each', 'a rule that shares out makes one child for each agent');
SELECT is(fixture.fault($$INSERT INTO clutch.routing_rule (name, type, emit) VALUES ('x', 'task.result', '{"to": "matched"}')$$), '22023 NOT_ALLOWED /emit/to', 'of a request');

-- --- more than a hundred
INSERT INTO clutch.routing_rule (name, place, words, send_to) SELECT 'x' || n, 1000 + n, '{crowd}', 'agent:x' || n FROM generate_series(1, 103) n;
SELECT count(fixture.agent('x' || n)) FROM generate_series(1, 103) n \g /dev/null
SELECT fixture.agent('x1', 1, more => '{"security": {"serves": ["agent:cal"]}}') \g /dev/null
CREATE TEMP TABLE crowd AS SELECT fixture.request('task:x', skill => NULL, run => 'run:x', more => '{"payload": {"text": "A crowd and also nobody"}}') AS request;
SELECT is(jsonb_build_array(r -> 'left_out', jsonb_array_length(r -> 'shared'), r #> '{shared,0}', right(r ->> 'reason', 82)),
	'[2, 100, "agent:x2", "agent:x101; 2 more are left out, because a request is shared out among at most 100"]', 'a request is shared out among a hundred of those that take it') FROM crowd, clutch.route(request) r;
SELECT is((SELECT concat_ws(' ', count(*) FILTER (WHERE eligible), string_agg(agent_id || ' ' || rejected_by || ' ' || right(detail, 17), ', ' ORDER BY agent_id) FILTER (WHERE agent_id IN ('agent:x102', 'agent:x103')))
	FROM crowd, clutch.explain_route(request)), '100 agent:x102 rule among at most 100, agent:x103 rule among at most 100', 'explain_route shows those that are left out');
SET client_min_messages = error;
SELECT clutch.send(request) FROM crowd \g /dev/null
SET client_min_messages = warning;
SELECT is((SELECT concat_ws(' ', min(agent_id), max(agent_id), count(*)) FROM clutch.tasks WHERE parent_task_id = 'task:x'), 'agent:x10 agent:x99 100', 'each of the hundred has a child');
SELECT is((SELECT concat_ws(' ', m -> 'left_out', jsonb_array_length(m -> 'children')) FROM fixture.moves('task:x', 'shared') m), '2 100', 'the log says how many have none');
SELECT is((SELECT concat_ws(' ', count(*), max(concat_ws(' ', agent_id, eligible, rejected_by, detail)) FILTER (WHERE NOT eligible)) FROM clutch.why('task:x')),
	'101 f rule 2 more are left out, because a request is shared out among at most 100', 'and why tells it');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT clutch.cancel_run('run:x') \g /dev/null
DELETE FROM clutch.routing_rule WHERE name ^@ 'x';

-- --- out of the database and in again
CREATE FUNCTION pg_temp.past(run text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(E'\n', (SELECT string_agg(concat_ws('|', task_id, parent_task_id, status, agent_id, attempt, code, detail, finished_at), E'\n' ORDER BY task_id) FROM clutch.task WHERE run_id = run),
		(SELECT string_agg(concat_ws('>', after_task_id, task_id), ' ' ORDER BY after_task_id) FROM clutch.dependency WHERE run_id = run), (SELECT payload::text FROM clutch.result(replace(run, 'run:', 'task:'))))
$$;
CREATE TEMP TABLE past AS SELECT run, pg_temp.past(run) AS was, ARRAY(SELECT clutch.export(run)) AS lines FROM unnest('{run:f,run:e,run:n}'::text[]) run;
SELECT clutch.prune(clutch.now() + interval '1 h') \g /dev/null
SELECT is((SELECT string_agg(DISTINCT d.run_id, ' ') FROM clutch.dependency d JOIN past p ON p.run = d.run_id), NULL, 'pruning forgets it all');
SELECT count(clutch.import(lines)) FROM past \g /dev/null
SELECT is((SELECT string_agg(pg_temp.past(run), E'\n' ORDER BY run) FROM past), (SELECT string_agg(was, E'\n' ORDER BY run) FROM past), 'and an import brings it back');
SELECT is(fixture.rebuilt(), 'the same', 'as a rebuild does');

-- --- what the request itself requires
SELECT fixture.agent('ann', 50, '{skill:x,skill:y}'), pg_temp.ask('task:req', more => '{"requires": ["skill:y"], "prefers": ["tag:z"]}') \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', c.to_agents[1], c.envelope -> 'requires', c.envelope -> 'prefers'), ', ' ORDER BY c.seq) FROM clutch.events c WHERE c.parent_task_id = 'task:req' AND c.type = 'task.request'),
	'agent:ann ["skill:y"] ["tag:z"], agent:ben ["skill:y"] ["tag:z"]', 'holds for its children');
SELECT is(pg_temp.children('task:req'), 'agent:ann assigned, - pending', 'so one waits whose agent cannot do it');
CREATE FUNCTION pg_temp.explained(more jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', x.agent_id, x.eligible, x.rejected_by, substr(x.detail, strpos(x.detail, ';') + 1)), ', ' ORDER BY x.rank, x.agent_id)
	FROM clutch.explain_route(fixture.request('task:e2', skill => NULL, more => '{"payload": {"text": "Plan dinner and also put it into the calendar."}}'::jsonb || more)) AS x WHERE x.eligible OR x.rejected_by IS DISTINCT FROM 'rule'
$$;
SELECT is(pg_temp.explained('{"requires": ["skill:y"]}'), 'agent:ann t rule many shares it out among agent:ann, agent:ben, agent:ben f requires  its child would wait, because it has no skill:y', 'as explain_route says before');
SELECT is((SELECT string_agg(concat_ws(' ', agent_id, eligible, rejected_by, rank, replace(detail, pg_temp.child('task:req', agent_id), 'CHILD')), ', ' ORDER BY agent_id) FROM clutch.why('task:req')),
	'agent:ann t 1 rule many shared it out: child CHILD, agent:ben f rule many shared it out: child CHILD: no agent has everything required: [skill:y]', 'and why afterwards');
SELECT clutch.set_status('agent:ben', 'STOPPING') \g /dev/null
SELECT matches(pg_temp.explained('{}'), 'agent:ben f status  its child would wait, because it is STOPPING', 'nor can an agent that takes no work');
SELECT clutch.unregister('agent:ben') \g /dev/null
SELECT matches(pg_temp.explained('{}'), 'agent:ben f  its child would wait: "agent:ben", which the request names, is not registered', 'or that is gone');
SELECT fixture.agent('ben', 50) \g /dev/null
UPDATE clutch.routing_rule SET emit = emit || '{"requires": []}' WHERE emit ->> 'to' = 'matched';
SELECT pg_temp.ask('task:req2', more => '{"requires": ["skill:y"]}') \g /dev/null
SELECT is(pg_temp.children('task:req2'), 'agent:ann assigned, agent:ben assigned', 'unless the rule says something else');
UPDATE clutch.routing_rule SET emit = emit || '{"meta": {"clutch": {"priority": 77}}}' WHERE emit ->> 'to' = 'matched';
SELECT matches(pg_temp.explained('{}'), 'agent:ann f  its child would be refused: /meta/clutch/priority: ', 'and none gets one that is not valid');
SELECT * FROM finish();
