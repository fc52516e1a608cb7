-- What agent.* events make of the registry; groups and who may speak.
\ir ../fixtures/tap.sql
SELECT plan(89);

SET timezone = 'UTC';
SELECT set_config('clutch.clock', '2026-01-01T12:00:00Z', false) \g /dev/null

CREATE FUNCTION pg_temp.card(more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT '{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"},
		"capabilities": [{"id": "skill:b", "version": "1.2.0", "tags": ["t"]}, {"id": "skill:a", "tools": ["mcp:web"]}], "limits": {"max_concurrency": 2}}'::jsonb || more
$$;
CREATE FUNCTION pg_temp.event(type text, payload jsonb, sender text DEFAULT 'agent:ken') RETURNS jsonb LANGUAGE sql AS
$$ SELECT clutch.envelope(type, sender, payload => payload, run_id => 'run:agents') $$;
CREATE FUNCTION pg_temp.error(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	state text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, state = RETURNED_SQLSTATE;
	RETURN state || CASE WHEN detail LIKE '[%' THEN ' ' || (detail::jsonb #>> '{0,code}') || ' ' || coalesce(detail::jsonb #>> '{0,argument}', detail::jsonb #>> '{0,path}') ELSE '' END;
END $$;

-- ------------------------------------------------------------------ register
CREATE TEMP TABLE r AS SELECT * FROM clutch.register(pg_temp.card());
SELECT fixture.answers('SELECT duplicate, run_id, task_id, late FROM r', $$VALUES (false, 'run:agents', 'task:agents', false)$$, 'register() returns a receipt');
SELECT fixture.answers('SELECT e.type, e.from_agent, e.run_id, e.thread_id, e.envelope -> ''payload'' FROM clutch.events e, r WHERE e.id = r.id',
	$$VALUES ('agent.register', 'agent:ken', 'run:agents', 'thread:agents', pg_temp.card())$$, 'the event has the card as it is');
SELECT fixture.answers('SELECT agent_id, status, capabilities, max_concurrency, running, success_rate, last_seen, card FROM clutch.agents',
	$$VALUES ('agent:ken', 'READY', '{skill:b,skill:a}'::text[], 2, 0, 1::double precision, timestamptz '2026-01-01 12:00:00Z', pg_temp.card())$$, 'the registry has the agent');
SELECT is((SELECT changed_seq FROM clutch.agent_registry), (SELECT seq FROM r), 'changed by that event');
SELECT clutch.register(pg_temp.card('{"capabilities": [{"id": "skill:c"}]}')) \g /dev/null
SELECT fixture.answers('SELECT capabilities FROM clutch.agents', $$VALUES ('{skill:c}'::text[])$$, 'a new card replaces the old one');
SELECT is((SELECT count(*) FROM clutch.agents), 1::bigint, 'of the same agent');
SELECT clutch.register(pg_temp.card() - 'limits') \g /dev/null
SELECT is((SELECT max_concurrency FROM clutch.agents), 1, 'without a limit an agent does one task at a time');
SELECT is(pg_temp.error(format('SELECT clutch.register(%L)', card)), expected, 'register: ' || expected) FROM (VALUES
	(pg_temp.card() - 'agent_id', 'KL002 REQUIRED /agent_id'), (pg_temp.card('{"agent_id": "ken"}'), 'KL002 WRONG_PREFIX /agent_id'),
	(pg_temp.card('{"capabilities": [{"id": 5}]}'), 'KL002 WRONG_TYPE /capabilities/0/id'), (pg_temp.card('{"x": 1}'), 'KL002 UNKNOWN_FIELD /x'),
	('[]'::jsonb, 'KL002 WRONG_TYPE ')) AS t(card, expected);
SELECT is(pg_temp.error('SELECT clutch.register(NULL)'), '22004 NULL_VALUE card', 'register: NULL');
SELECT is(pg_temp.error(format('SELECT clutch.send(%L)', pg_temp.event('agent.register', pg_temp.card('{"limits": 3}')))), 'KL001 WRONG_TYPE /payload/limits', 'in an envelope the faults of a card are those of the payload');

-- -------------------------------------------------------------------- update
SELECT clutch.register(pg_temp.card()) \g /dev/null
SELECT clutch.send(pg_temp.event('agent.update', '{"agent_id": "agent:ken", "limits": {"max_concurrency": 7}}')) \g /dev/null
SELECT fixture.answers('SELECT capabilities, max_concurrency FROM clutch.agents', $$VALUES ('{skill:b,skill:a}'::text[], 7)$$, 'an update changes what it names, and nothing else');
SELECT clutch.send(pg_temp.event('agent.update', '{"agent_id": "agent:ken", "capabilities": [{"id": "skill:z"}]}')) \g /dev/null
SELECT fixture.answers('SELECT capabilities FROM clutch.agents', $$VALUES ('{skill:z}'::text[])$$, 'a list is replaced as a whole');
SELECT is(pg_temp.error(format('SELECT clutch.send(%L)', pg_temp.event('agent.update', '{"agent_id": "agent:nobody", "limits": {"max_concurrency": 7}}'))), 'KL005 AGENT_NOT_FOUND /payload/agent_id', 'an update of an unknown agent is refused');
SELECT is((SELECT count(*) FROM clutch.events WHERE envelope #>> '{payload,agent_id}' = 'agent:nobody'), 0::bigint, 'and is not in the log');

-- ------------------------------------------------------------ signs of life
CREATE TEMP TABLE n AS SELECT count(*) AS events FROM clutch.events;
SELECT set_config('clutch.clock', '2026-01-01T12:00:05Z', false) \g /dev/null
SELECT is(clutch.heartbeat('agent:ken'), timestamptz '2026-01-01 12:00:05Z', 'a heartbeat returns when the agent was seen');
SELECT is((SELECT last_seen FROM clutch.agents), timestamptz '2026-01-01 12:00:05Z', 'and the view shows it');
SELECT is((SELECT count(*) FROM clutch.events), events, 'a heartbeat writes no event') FROM n;
SELECT set_config('clutch.clock', '2026-01-01T12:10:00Z', false) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken') \g /dev/null
SELECT is((SELECT last_seen FROM clutch.agents), timestamptz '2026-01-01 12:10:00Z', 'a claim is a sign of life');
SELECT set_config('clutch.clock', '2026-01-01T12:20:00Z', false) \g /dev/null
SELECT count(*) FROM clutch.extend_lease('agent:ken', 'task:nowhere', 1) \g /dev/null
SELECT is((SELECT last_seen FROM clutch.agents), timestamptz '2026-01-01 12:20:00Z', 'and so is extend_lease');
SELECT is((SELECT count(*) FROM clutch.agent_heartbeat), 1::bigint, 'one row is kept for each agent');
SELECT is(pg_temp.error($$SELECT clutch.heartbeat('agent:nobody')$$), 'KL005 AGENT_NOT_FOUND agent_id', 'a heartbeat of an unknown agent is refused');
SELECT is(pg_temp.error('SELECT clutch.heartbeat(NULL)'), '22004 NULL_VALUE agent_id', 'and so is one of NULL');
SELECT clutch.send(pg_temp.event('agent.heartbeat', '{"agent_id": "agent:ken", "status": "UNAVAILABLE"}')) \g /dev/null
SELECT is((SELECT status FROM clutch.agents), 'UNAVAILABLE', 'an agent.heartbeat may change the status');
SELECT clutch.send(pg_temp.event('agent.heartbeat', '{"agent_id": "agent:ken"}')) \g /dev/null
SELECT is((SELECT status FROM clutch.agents), 'UNAVAILABLE', 'or leave it');
SELECT is(pg_temp.error(format('SELECT clutch.send(%L)', pg_temp.event('agent.heartbeat', '{"agent_id": "agent:ken", "status": "ASLEEP"}'))), 'KL001 WRONG_VALUE /payload/status', 'an unknown status is refused');

-- ------------------------------------------------------------------- finding
SELECT clutch.register(pg_temp.card()) \g /dev/null
SELECT clutch.register(pg_temp.card('{"agent_id": "agent:lois", "capabilities": [{"id": "skill:b", "version": "2.0.0"}]}')) \g /dev/null
SELECT is((SELECT string_agg(agent_id, ' ' ORDER BY agent_id) FROM clutch.find_agents(requires)), found, 'who has ' || requires::text) FROM (VALUES
	('{}'::text[], 'agent:ken agent:lois'), ('{skill:b}', 'agent:ken agent:lois'), ('{skill:b@^1}', 'agent:ken'), ('{skill:b@>=1}', 'agent:ken agent:lois'),
	('{skill:a,skill:b}', 'agent:ken'), ('{tool:web}', 'agent:ken'), ('{skill:none}', NULL)) AS t(requires, found);
SELECT clutch.send(pg_temp.event('agent.heartbeat', '{"agent_id": "agent:ken", "status": "BUSY"}')) \g /dev/null
SELECT is((SELECT string_agg(agent_id, ' ') FROM clutch.find_agents('{skill:b}', 'READY')), 'agent:lois', 'find_agents can ask for a status');
SELECT is(fixture.fault(format('SELECT * FROM clutch.find_agents(%L)', requires)), fault, requires || ' is no list of requirements')
FROM (VALUES ('{skill:b@^}', '22023 WRONG_FORMAT requires'), ('{skill:a,agent:ken}', '22023 WRONG_FORMAT requires'), ('{""}', '22023 WRONG_FORMAT requires'), ('{NULL}', '22004 NULL_VALUE requires')) AS t(requires, fault);
CREATE FUNCTION pg_temp.context_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	context text;
BEGIN
	EXECUTE statement;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
	RETURN context;
END $$;
SELECT unalike(pg_temp.context_of($$SELECT FROM clutch.find_agents('{NULL}')$$), '%RETURN QUERY%', 'which is not explained with a query that the caller has not written');
SELECT clutch.register(pg_temp.card('{"agent_id": "agent:perry", "capabilities": [{"id": "skill:c", "version": "1.0.0", "actions": ["check", "report"]}]}')) \g /dev/null
SELECT is((SELECT card #> '{capabilities,0,actions}' FROM clutch.find_agents('{skill:c}')), '["check", "report"]', 'and returns what a card says of the actions of a capability');
SELECT clutch.unregister('agent:perry') \g /dev/null

-- -------------------------------------------------------------------- groups
CREATE FUNCTION pg_temp.chosen(whom text) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(d ->> 'selected', d ->> 'code') FROM clutch.route(clutch.envelope('task.request', 'agent:ui', ARRAY[whom], requires => '{skill:b}')) d $$;
SELECT is(pg_temp.chosen('group:press'), 'NO_AGENT_AVAILABLE', 'a group without members has no candidate');
SELECT clutch.join_group('group:press', 'agent:lois'), clutch.join_group('group:press', 'agent:lois') \g /dev/null
SELECT is(pg_temp.chosen('group:press'), 'agent:lois', 'a member that joins by SQL is seen at once');
SELECT is(clutch.leave_group('group:press', 'agent:lois'), true, 'leave_group returns true when a member leaves');
SELECT is(clutch.leave_group('group:press', 'agent:lois'), false, 'and false the second time');
SELECT is(pg_temp.chosen('group:press'), 'NO_AGENT_AVAILABLE', 'a former member is not a candidate');
SELECT clutch.send(pg_temp.event('agent.update', '{"agent_id": "agent:ken", "groups": ["group:press"]}')) \g /dev/null
SELECT is(pg_temp.chosen('group:press'), 'agent:ken', 'an agent can join a group by its card');
SELECT is(pg_temp.error($$SELECT clutch.join_group('press', 'agent:ken')$$), '22023 WRONG_PREFIX group_id', 'a group id begins with group:');
SELECT is(pg_temp.error($$SELECT clutch.join_group('group:press', 'ken')$$), '22023 WRONG_PREFIX agent_id', 'an agent id begins with agent:');
SELECT is(pg_temp.error(format('SELECT clutch.join_group(%L, %L)', group_id, agent_id)), fault, concat('no membership: ', fault))
FROM (VALUES (NULL, 'agent:ken', '22004 NULL_VALUE group_id'), ('group:press', '', '22023 EMPTY agent_id'), ('group:', 'agent:ken', '22023 EMPTY group_id'),
	(E'group:a\nb', 'agent:ken', '22023 CONTROL_CHARACTER group_id'), ('group:press', 'agent:' || repeat('x', 6000), '22023 TOO_LONG agent_id')) AS v(group_id, agent_id, fault);

-- --------------------------------------------------------------------- scope
CREATE FUNCTION pg_temp.scoped(run text, scope text, task text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	PERFORM clutch.send(clutch.envelope('task.request', 'agent:ui', run_id => run, task_id => task,
		meta => CASE WHEN scope IS NOT NULL THEN jsonb_build_object('clutch', jsonb_build_object('scope', scope)) END));
	RETURN (SELECT coalesce(e.scope, 'none') FROM clutch.events e WHERE e.task_id = task AND e.type = 'task.request');
EXCEPTION WHEN SQLSTATE 'KL004' THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN detail::jsonb #>> '{0,code}';
END $$;
SELECT is(pg_temp.scoped('run:s', 'group:a', 'task:s1'), 'group:a', 'the first request of a run names its scope');
SELECT is(pg_temp.scoped('run:s', NULL, 'task:s2'), 'group:a', 'the next request inherits it');
SELECT is(pg_temp.scoped('run:s', 'group:a', 'task:s3'), 'group:a', 'or repeats it');
SELECT is(pg_temp.scoped('run:s', 'group:b', 'task:s4'), 'SCOPE_MISMATCH', 'another scope is refused');
SELECT is(pg_temp.scoped('run:u', NULL, 'task:u1'), 'none', 'a run may have no scope');
SELECT is(pg_temp.scoped('run:u', 'group:a', 'task:u2'), 'SCOPE_MISMATCH', 'and is not given one later');
-- a hand-over is a later request as well
SELECT fixture.agent('giver', 9, '{skill:give}', more => '{"scopes": ["group:a"]}'), fixture.agent('taker', 9, '{skill:take}', more => '{"scopes": ["group:a"]}') \g /dev/null
SELECT fixture.ask('task:given', skill => 'skill:give', run => 'run:given', orders => '{"scope": "group:a", "visibility": "private"}'), fixture.ask('task:open', skill => 'skill:give', run => 'run:open') \g /dev/null
CREATE FUNCTION pg_temp.gives(task text, giver text, taker text, orders jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT fixture.fault(format('SELECT clutch.send(%L)', clutch.envelope('task.request', giver, ARRAY[taker], run_id => t.run_id, thread_id => t.thread_id, task_id => task, meta => jsonb_build_object('clutch', orders))))
	FROM clutch.tasks t WHERE t.task_id = task
$$;
SELECT is(pg_temp.gives(task, 'agent:giver', 'agent:taker', orders), fault, concat('a hand-over in a ', task, ' that says ', orders))
FROM (VALUES ('task:open', '{"scope": "group:a"}'::jsonb, 'KL004 SCOPE_MISMATCH /meta/clutch/scope'), ('task:open', '{"visibility": "private"}', 'KL004 VISIBILITY_MISMATCH /meta/clutch/visibility'),
	('task:given', '{"scope": "group:b"}', 'KL004 SCOPE_MISMATCH /meta/clutch/scope'), ('task:given', '{"visibility": "public"}', 'KL004 VISIBILITY_MISMATCH /meta/clutch/visibility')) AS v(task, orders, fault);
SELECT is(pg_temp.gives('task:given', 'agent:giver', 'agent:taker', '{"scope": "group:a", "visibility": "private"}') || ', ' || pg_temp.gives('task:open', 'agent:giver', 'agent:taker', '{"visibility": "scope"}'), 'no error, no error', 'it may repeat what the run has');
SELECT is(fixture.state('task:given') || ', ' || fixture.state('task:open'), 'assigned agent:taker 2, assigned agent:taker 2', 'and only then is the task handed over');
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', run_id => 'run:s')) \g /dev/null
SELECT is((SELECT scope FROM clutch.events WHERE type = 'chat.message'), 'group:a', 'a message has the scope of its run');
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:s' AND scope IS DISTINCT FROM 'group:a'), 0::bigint, 'and so has every other event of the run');

-- ---------------------------------------------------------- who may speak
CREATE ROLE tap_ken;
SELECT clutch.grant_agent('tap_ken', 'agent:ken', '{skill:b}') \g /dev/null
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pg_temp TO tap_ken;
SET ROLE tap_ken;
SELECT lives_ok($$SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"}, "capabilities": [{"id": "skill:b"}], "limits": {"max_concurrency": 2}}')$$, 'an agent registers itself with what it was granted');
SELECT throws_ok($$SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"}, "capabilities": [{"id": "skill:root"}], "limits": {"max_concurrency": 2}}')$$, '42501', NULL, 'but not with more');
SELECT throws_ok($$SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:lois", "display": {"name": "Lois"}, "capabilities": [{"id": "skill:b"}], "limits": {"max_concurrency": 2}}')$$, '42501', NULL, 'nor another agent');
SELECT throws_ok($$SELECT clutch.send(clutch.envelope('agent.update', 'agent:ken', payload => '{"agent_id": "agent:lois", "limits": {"max_concurrency": 9}}'))$$, '42501', NULL, 'nor updates another agent in a payload');
SELECT throws_ok($$SELECT clutch.heartbeat('agent:lois')$$, '42501', NULL, 'nor sends a heartbeat for it');
SELECT throws_ok($$SELECT clutch.claim('agent:lois')$$, '42501', NULL, 'nor claims for it');
SELECT throws_ok($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:lois'))$$, '42501', NULL, 'nor speaks in its name');
SELECT throws_ok('SELECT clutch.rebuild()', '42501', NULL, 'nor rebuilds');
RESET ROLE;
SELECT is((SELECT max_concurrency FROM clutch.agents WHERE agent_id = 'agent:lois'), 2, 'the other agent is as it was');

-- --------------------------------------------- a number is a number in a card
SELECT lives_ok($$SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:decimal",
	"capabilities": [{"id": "skill:decimal"}], "limits": {"max_concurrency": 2.0}}')$$, 'a limit of 2.0 is accepted');
SELECT is(max_concurrency, 2, 'and the view of all agents can still be read') FROM clutch.agents WHERE agent_id = 'agent:decimal';

-- ---------------- lowering clutch.max_list does not shorten the lists of requests and cards
SELECT fixture.ask('strict', NULL, 'skill:one', run => 'run:strict', more => '{"requires": ["skill:one", "skill:two", "skill:three"]}') \g /dev/null
SET clutch.max_list = 1;
SELECT fixture.agent('unfit', 1, '{skill:other}') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT status FROM clutch.tasks WHERE task_id = 'strict'), 'pending', 'an agent that has nothing of what is required does not get the task');
SELECT fixture.agent('reader', 1, '{skill:last}') \g /dev/null
RESET clutch.max_list;
SELECT fixture.agent('both', 1, '{skill:left,skill:right}') \g /dev/null
SET clutch.max_list = 1;
-- so that the registry is read again
SELECT clutch.set_status('agent:reader', 'STOPPING', 'at five') \g /dev/null
SELECT clutch.set_status('agent:reader', 'STOPPING', 'at six') \g /dev/null
SELECT is((SELECT status || ' ' || reason FROM clutch.agents WHERE agent_id = 'agent:reader'), 'STOPPING at six', 'the same status with another reason has that reason');
SELECT clutch.set_status('agent:reader', 'STOPPING') \g /dev/null
SELECT is((SELECT reason FROM clutch.agents WHERE agent_id = 'agent:reader'), 'at six', 'and without one keeps it');
BEGIN;
SELECT fixture.agent('many' || n, 1) FROM generate_series(1, 50) n \g /dev/null
SELECT clutch.agents_meeting('{skill:right}') \g /dev/null
CREATE TEMP TABLE cards_before AS SELECT pg_stat_get_xact_tuples_returned('clutch.agent_registry_pkey'::regclass) AS rows;
SELECT clutch.set_status('agent:reader', 'STOPPING', 'at seven') \g /dev/null
SELECT clutch.agents_meeting('{skill:right}') \g /dev/null
SELECT cmp_ok(pg_stat_get_xact_tuples_returned('clutch.agent_registry_pkey'::regclass) - rows, '<', 50::bigint, 'a reason does not make backends read all cards again') FROM cards_before;
ROLLBACK;
SELECT is(clutch.agents_meeting('{skill:right}'), '{agent:both}', 'an agent keeps the capabilities beyond the limit');
RESET clutch.max_list;

-- ------------------------------- agents without work beside two that have nearly all slots
BEGIN;
INSERT INTO clutch.agent_slot SELECT 'agent:big' || n % 2, n, 0, NULL, 0, 0, 0 FROM generate_series(1, 20000) n;
ANALYZE clutch.agent_slot;
CREATE TEMP TABLE read_before AS SELECT pg_stat_get_xact_tuples_returned('clutch.agent_slot'::regclass) AS rows;
SELECT cmp_ok((SELECT count(a.running) FROM clutch.agents a), '>', 5::bigint, 'several agents');
SELECT cmp_ok(pg_stat_get_xact_tuples_returned('clutch.agent_slot'::regclass) - rows, '<', 1000::bigint, 'are shown without reading the slots of others') FROM read_before;
DELETE FROM clutch.agent_slot WHERE agent_id LIKE 'agent:big_';
COMMIT;

-- ----------------------------------------------------------- spawn of spec 004
BEGIN;
SELECT FROM fixture.agent('spawned');
SELECT FROM fixture.ask('task:spawned', 'agent:spawned');
COMMIT;
SELECT is(fixture.state('task:spawned'), 'assigned agent:spawned 1', 'an agent that is registered gets a request of the same transaction');
SELECT * FROM finish();
DROP OWNED BY tap_ken; DROP ROLE tap_ken;
