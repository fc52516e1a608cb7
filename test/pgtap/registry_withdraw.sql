-- Agents that leave, and what gets no new work: unregister, pause, resume, and
-- cancel_run; grant_agent takes no patterns.
\ir ../fixtures/tap.sql
SELECT plan(60);
SET clutch.notify = off;

CREATE FUNCTION pg_temp.moves(move text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', type, from_agent, envelope -> 'payload'), ', ' ORDER BY seq) FROM clutch.events WHERE envelope #>> '{meta,clutch,move}' = move
$$;
CREATE FUNCTION pg_temp.where_are(pattern text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', task_id, status, agent_id), ', ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE pattern
$$;

-- "SQLSTATE CODE place" of the fault of a statement
CREATE FUNCTION pg_temp.fault(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	state text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, state = RETURNED_SQLSTATE;
	RETURN concat_ws(' ', state, detail::jsonb -> 0 ->> 'code', detail::jsonb -> 0 ->> 'argument', detail::jsonb -> 0 ->> 'path');
END $$;

-- --------------------------------------------------------------- unregister
SELECT fixture.at(0), fixture.agent('ken', 2) \g /dev/null
SELECT fixture.ask('a1'), fixture.ask('a2') \g /dev/null
SELECT clutch.claim('agent:ken') \g /dev/null
SELECT fixture.agent('lois', 2) \g /dev/null
SELECT is((SELECT duplicate FROM clutch.unregister('agent:ken', 'it is sold')), false, 'an agent is unregistered');
SELECT is((SELECT string_agg(agent_id, ' ') FROM clutch.agents), 'agent:lois', 'and is not among the agents any more');
SELECT is(pg_temp.where_are('a%'), 'a1 assigned agent:lois, a2 assigned agent:lois', 'its work goes to others');
SELECT is(pg_temp.moves('unregistered'), 'agent.heartbeat agent:ken {"reason": "it is sold", "status": "STOPPED", "agent_id": "agent:ken"}', 'it is an event');
SELECT is(pg_temp.fault($$ SELECT clutch.claim('agent:ken') $$), 'KL005 AGENT_NOT_FOUND agent_id', 'it cannot claim');
SELECT is(pg_temp.fault($$ SELECT clutch.unregister('agent:ken') $$), 'KL005 AGENT_NOT_FOUND agent_id', 'nor be unregistered again');
SELECT is((SELECT late FROM clutch.finish('agent:ken', 'a1', attempt => 1)), true, 'what it still reports is late');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT is((SELECT status FROM clutch.agents WHERE agent_id = 'agent:lois'), 'BUSY', 'the other one is busy');
SELECT fixture.ask('a3') \g /dev/null
SELECT is(fixture.state('a3'), 'pending 1', 'a task waits');
SELECT fixture.agent('ken', 2) \g /dev/null
SELECT is(fixture.state('a3'), 'assigned agent:ken 1', 'registering again works');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null

-- ---------------------------------------------------------- reasons are limited
SELECT is(pg_temp.fault(format(call, '''agent:ken''', 'repeat(''x'', 4097)')), '22023 TOO_LONG reason', 'a reason is not longer than another text of the protocol: ' || call)
FROM unnest(ARRAY['SELECT clutch.pause(%s, %s)', 'SELECT clutch.unregister(%s, %s)', 'SELECT clutch.release(%s, ''a3'', 1, %s)',
	'SELECT clutch.redact(max(seq), %2$s) FROM clutch.events WHERE from_agent = %1$s']) AS call;
BEGIN;
SELECT isnt((SELECT seq FROM clutch.pause('agent:ken', repeat('x', 4095) || E'\n')), NULL, 'but as long');
ROLLBACK;

-- ------------------------------------------------------------ pause an agent
SELECT fixture.ask('b1', 'agent:ken') \g /dev/null
SELECT clutch.claim('agent:ken') \g /dev/null
SELECT fixture.ask('b2', 'agent:ken') \g /dev/null
SELECT is((SELECT duplicate FROM clutch.pause('agent:ken', 'a bad model')), false, 'an agent is paused');
SELECT is((SELECT string_agg(concat_ws(' ', what, kind, reason, by_agent), ', ') FROM clutch.paused), 'agent:ken agent a bad model agent:orchestrator', 'clutch.paused shows it');
SELECT is((SELECT string_agg(concat_ws(' ', agent_id, paused), ', ' ORDER BY agent_id) FROM clutch.agents), 'agent:ken t, agent:lois f', 'and so does clutch.agents');
SELECT is(fixture.claimed('agent:ken'), 'nothing', 'it claims nothing, though something is ready');
SELECT is((SELECT late FROM clutch.finish('agent:ken', 'b1')), false, 'what runs goes on');
SELECT is((SELECT string_agg(concat_ws(' ', agent_id, rejected_by, CASE WHEN rejected_by IS NOT NULL THEN detail END), ', ' ORDER BY agent_id) FROM clutch.explain_route(fixture.request('b'))),
	'agent:ken paused is paused, agent:lois', 'it is routed nothing');
SELECT fixture.ask('b3', 'agent:ken') \g /dev/null
SELECT is((SELECT concat_ws(' ', status, code) FROM clutch.tasks WHERE task_id = 'b3'), 'pending NO_AGENT_AVAILABLE', 'a task for it waits');
SELECT is((SELECT string_agg(concat_ws(' ', task_id, problem, hint), ', ' ORDER BY task_id) FROM clutch.stuck WHERE task_id = 'b2'),
	'b2 paused SELECT * FROM clutch.paused shows what is paused; SELECT clutch.resume(what) ends it.', 'clutch.stuck says why nothing happens');
SELECT is((SELECT problem || ', ' || hint FROM clutch.stuck WHERE task_id = 'b3'),
	'paused, SELECT * FROM clutch.paused shows what is paused; SELECT clutch.resume(what) ends it.', 'also for a task that is only addressed to it');
SELECT is((SELECT string_agg(concat_ws(' ', labels ->> 'kind', value), ', ' ORDER BY labels) FROM clutch.metrics() WHERE name = 'clutch_paused'), 'agent 1, capability 0', 'and metrics count it');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT is((SELECT count(*) FROM clutch.paused), 1::bigint, 'and what is paused');
SELECT is((SELECT seq IS NOT NULL FROM clutch.resume('agent:ken')), true, 'it is resumed');
SELECT is(fixture.state('b3'), 'assigned agent:ken 1', 'what waited is offered');
SELECT is(fixture.claimed('agent:ken'), 'b2 1 new, b3 1 new', 'and it claims');
SELECT is((SELECT clutch.resume('agent:ken') IS NULL), true, 'resuming what is not paused does nothing');
SELECT is(pg_temp.moves('resumed'), 'agent.heartbeat agent:orchestrator {"what": "agent:ken", "agent_id": "agent:ken"}', 'both are events');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null
SELECT clutch.pause('agent:ken'), clutch.unregister('agent:ken'), fixture.agent('ken', 2) \g /dev/null
SELECT is((SELECT count(*) FROM clutch.paused), 0::bigint, 'an agent that leaves is not paused when it comes back');

-- ------------------------------------------------------- pause a kind of work
SELECT fixture.agent('lois', 4, '{skill:x,skill:y}'), fixture.agent('ken', 1) \g /dev/null
SELECT fixture.ask('c1', 'agent:lois', 'skill:y@*'), fixture.ask('c2', 'agent:lois', 'skill:x') \g /dev/null
SELECT clutch.pause('skill:y') \g /dev/null
SELECT fixture.ask('c3', NULL, 'skill:y') \g /dev/null
SELECT is(fixture.claimed('agent:lois'), 'c2 1 new', 'tasks that require a paused capability are not claimed');
SELECT is((SELECT concat_ws(' ', status, code) FROM clutch.tasks WHERE task_id = 'c3'), 'pending NO_AGENT_AVAILABLE', 'and not routed');
SELECT is((SELECT string_agg(concat_ws(' ', agent_id, rejected_by, CASE WHEN rejected_by IS NOT NULL THEN detail END), ', ' ORDER BY agent_id) FROM clutch.explain_route(fixture.request('c', skill => 'skill:y'))),
	'agent:ken paused is not given skill:y, which is paused, agent:lois paused is not given skill:y, which is paused', 'explain_route says so');
SELECT is((SELECT string_agg(concat_ws(' ', task_id, problem), ', ' ORDER BY task_id) FROM clutch.stuck), 'c1 paused, c3 paused', 'clutch.stuck lists them');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT clutch.resume('skill:y') \g /dev/null
SELECT is(fixture.claimed('agent:lois'), 'c1 1 new, c3 1 new', 'resumed, they are claimed');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null
SELECT is(pg_temp.fault($$ SELECT clutch.pause('agent:nobody') $$), 'KL005 AGENT_NOT_FOUND what', 'an agent that is paused is registered');
SELECT is(pg_temp.fault($$ SELECT clutch.pause('group:x') $$), '22023 WRONG_VALUE what', 'a group cannot be paused');
SELECT is(pg_temp.fault($$ SELECT clutch.pause('skill:x@1.0') $$), '22023 WRONG_VALUE what', 'nor can one version of a capability');
SELECT is(pg_temp.fault($$ SELECT clutch.resume('skill:x@1.0') $$), 'no error', 'but it could once, so it can be resumed');

-- ----------------------------------------------------------------- who may it
CREATE ROLE withdraw_ken;
SELECT clutch.grant_agent('withdraw_ken', 'agent:ken') \g /dev/null
SET ROLE withdraw_ken;
SELECT is((SELECT count(*) FROM clutch.pause('agent:ken')), 1::bigint, 'a role pauses its own agent');
SELECT is(pg_temp.fault($$ SELECT clutch.pause('agent:lois') $$), '42501 NOT_YOUR_AGENT what', 'but no other agent');
SELECT is(pg_temp.fault($$ SELECT clutch.pause('skill:x') $$), '42501 NOT_AN_OPERATOR what', 'and no capability');
SELECT is(pg_temp.fault($$ SELECT clutch.unregister('agent:lois') $$), '42501 NOT_YOUR_AGENT agent_id', 'nor does it unregister another');
SELECT is(pg_temp.fault($$ INSERT INTO clutch.events (envelope) VALUES (clutch.envelope('agent.heartbeat', 'agent:ken', payload => '{"what": "skill:x"}', meta => '{"clutch": {"move": "paused"}}')) $$),
	'KL001 NOT_ALLOWED /meta/clutch/move', 'an envelope pauses nothing');
RESET ROLE;
SELECT clutch.resume('agent:ken') \g /dev/null
SELECT is(pg_temp.fault($$ SELECT clutch.grant_agent('withdraw_ken', 'agent:py-*') $$), '22023 WRONG_VALUE agent_id', 'grant_agent takes no patterns');

-- ----------------------------------------------------------------- cancel_run
SELECT fixture.ask('d' || n, run => 'run:d', parent => CASE WHEN n > 1 THEN 'd1' END) FROM generate_series(1, 5) n \g /dev/null
SELECT fixture.ask('d6', run => 'run:d'), clutch.cancel('d2'), fixture.ask('e1', run => 'run:e') \g /dev/null
SET ROLE withdraw_ken;
SELECT is(pg_temp.fault($$ SELECT clutch.cancel_run('run:e', by_agent => 'agent:lois') $$), '42501 NOT_YOUR_AGENT by_agent', 'a role cancels in the name of its own agent');
SELECT is(pg_temp.fault($$ SELECT clutch.cancel_run('run:d') $$), '42501 NOT_ASSIGNED by_agent', 'and only what that may cancel');
RESET ROLE;
SELECT is(clutch.cancel_run('run:d', 'no more'), 5::bigint, 'every live task of a run is cancelled');
SELECT is((SELECT string_agg(DISTINCT status, ' ') || ' ' || count(*) FROM clutch.tasks WHERE run_id = 'run:d'), 'cancelled 6', 'and no other is left');
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:d' AND type = 'task.cancel' AND NOT late), 6::bigint, 'with one event each');
SELECT is(pg_temp.where_are('e1') ~ '^e1 assigned', true, 'other runs go on');
SELECT is(clutch.cancel_run('run:d'), 0::bigint, 'then there is nothing to cancel');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
DROP OWNED BY withdraw_ken;
DROP ROLE withdraw_ken;
