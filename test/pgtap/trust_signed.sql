-- What a signature is good for: cards within the grants of the agent, runs of the agent, and a policy that
-- demands it even of roles that speak for the agent.  Tested as real roles.
\ir ../fixtures/tap.sql
\ir ../fixtures/ed25519.sql
\ir ../fixtures/signed.sql
SELECT plan(41);
SET clutch.notify = off;
CREATE ROLE clutch_test_gate LOGIN;		-- a gateway: may insert, speaks for nobody
CREATE ROLE clutch_test_ken LOGIN;
CREATE ROLE clutch_test_op LOGIN;
GRANT USAGE ON SCHEMA ed25519, fixture TO PUBLIC;
GRANT USAGE ON SCHEMA clutch TO clutch_test_gate;
GRANT INSERT (envelope) ON clutch.events TO clutch_test_gate;
SELECT clutch.grant_agent('clutch_test_ken', 'agent:ken', '{skill:x}', '{group:desk}'), clutch.grant_operator('clutch_test_op') \g /dev/null
SELECT fixture.agent('lois', 9, '{skill:y}') \g /dev/null
SELECT fixture.add_key('agent:' || name, 'k1', letter, '2026-01-01') FROM (VALUES ('ken', 'a'), ('eve', 'b'), ('lois', 'c')) AS v(name, letter) \g /dev/null

CREATE FUNCTION fixture.by(name text, envelope jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT ed25519.signed(envelope, 'k1', fixture.seed(CASE name WHEN 'ken' THEN 'a' WHEN 'eve' THEN 'b' ELSE 'c' END)) $$;
CREATE FUNCTION fixture.registration(name text, skill text, more jsonb DEFAULT '{}', sender text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('agent.register', 'agent:' || coalesce(sender, name), payload => fixture.card(name, 1, ARRAY[skill], more => more), run_id => 'run:agents', thread_id => 'thread:agents', task_id => 'task:agents')
$$;

-- -------------------------------------------------------------------- cards
SELECT is(fixture.sent('clutch_test_gate', fixture.registration('ken', 'skill:x')), '42501 NOT_YOUR_AGENT /from/agent_id', 'the gateway registers no agents');
SELECT is(fixture.sent('clutch_test_gate', fixture.by('ken', fixture.registration('ken', 'skill:x', '{"scopes": ["group:desk"]}'))), 'admitted', 'but hands in the card that an agent has signed');
SELECT is(fixture.sent('clutch_test_gate', fixture.by('ken', fixture.registration('ken', skill, more))), '42501 CARD_NOT_GRANTED ' || path, 'within what any role was granted for the agent: not ' || skill || more::text)
FROM (VALUES ('skill:y', '{}'::jsonb, '/payload/capabilities'), ('skill:x', '{"scopes": ["group:bank"]}', '/payload/scopes'), ('skill:x', '{"security": {"sandbox": false}}', '/payload/security/sandbox')) AS v(skill, more, path);
SELECT is(fixture.sent('clutch_test_gate', fixture.by('eve', fixture.registration('eve', 'skill:x'))), '42501 CARD_NOT_GRANTED /payload', 'an agent for which nothing was granted registers nothing');
SELECT is(fixture.sent('clutch_test_gate', fixture.by('ken', fixture.registration('eve', 'skill:x', sender => 'ken'))), '42501 NOT_YOUR_AGENT /payload/agent_id', 'and nobody registers another agent');
SELECT is(fixture.sent('clutch_test_gate', fixture.by('ken', clutch.envelope('agent.heartbeat', 'agent:ken', payload => '{"agent_id": "agent:lois", "status": "STOPPED"}'))),
	'42501 NOT_YOUR_AGENT /payload/agent_id', 'or stops it');

-- --------------------------------------------------------------------- runs
SELECT fixture.ask('one', 'agent:lois', NULL, run => 'run:lois') \g /dev/null
SELECT fixture.ask('two', 'agent:ken', NULL, run => 'run:ken') \g /dev/null
SELECT is(fixture.sent('clutch_test_gate', fixture.by('eve', fixture.note('e1', 'agent:eve', '{"run_id": "run:lois"}'))), '42501 NOT_A_PARTICIPANT /run_id', 'a signature opens no run of others');
SELECT is(fixture.sent('clutch_test_gate', fixture.by('ken', fixture.note('k2', 'agent:ken', '{"run_id": "run:ken"}'))), 'admitted', 'but those of the agent');
SELECT fixture.ask('three', 'agent:lois', NULL, run => 'run:desk', orders => '{"scope": "group:desk"}') \g /dev/null
SELECT is(fixture.sent('clutch_test_gate', fixture.by('ken', fixture.note('k3', 'agent:ken', '{"run_id": "run:desk"}'))), 'admitted', 'also by a scope that was granted for the agent');
SELECT is(fixture.sent('clutch_test_gate', fixture.by('eve', fixture.note('e3', 'agent:eve', '{"run_id": "run:desk"}'))), '42501 NOT_A_PARTICIPANT /run_id', 'but not for another');

-- a signed accept is a claim, and a signed result ends the task
SELECT is(fixture.sent('clutch_test_gate', fixture.by('ken', clutch.envelope('task.accept', 'agent:ken', run_id => 'run:ken', thread_id => 'thread:1', task_id => 'two'))), 'admitted', 'an agent accepts through the gateway');
SELECT is(fixture.sent('clutch_test_gate', fixture.by('eve', clutch.envelope('task.result', 'agent:eve', run_id => 'run:ken', thread_id => 'thread:1', task_id => 'two', payload => '{"forged": true}'))), '42501 NOT_A_PARTICIPANT /run_id', 'another one does not report for it');
SELECT is(fixture.sent('clutch_test_gate', fixture.by('ken', clutch.envelope('task.result', 'agent:ken', run_id => 'run:ken', thread_id => 'thread:1', task_id => 'two', payload => '{"n": 1}'))), 'admitted', 'it does');
SELECT is(fixture.state('two'), 'completed agent:ken 1', 'and the task ends');

SELECT is(fixture.called('clutch_test_ken', format('clutch.schedule(''s'', ''* * * * *'', %L)', fixture.by('ken', fixture.note('s')))), 'KL001 NOT_ALLOWED /security/auth', 'what is sent again and again cannot be signed');

-- ------------------------------------------------------------------ pruning
SELECT fixture.at(0) \g /dev/null
CREATE TEMP TABLE kept AS SELECT fixture.by('eve', fixture.note('once', 'agent:eve')) AS e;
GRANT SELECT ON kept TO PUBLIC;
SELECT is(fixture.sent('clutch_test_gate', e), 'admitted', 'an envelope is handed in') FROM kept;
SELECT clutch.prune('infinity') \g /dev/null
SELECT is(fixture.sent('clutch_test_gate', e), 'there already', 'pruning does not forget it while its signature counts') FROM kept;
SELECT fixture.at(601) \g /dev/null
SELECT clutch.prune('infinity') \g /dev/null
SELECT is((SELECT count(*)::int FROM clutch.events WHERE id = 'msg_once'), 0, 'later, it is removed');
SELECT is(fixture.sent('clutch_test_gate', e), 'KL006 SIGNATURE_STALE /ts', 'and cannot be handed in again') FROM kept;
RESET clutch.clock;

-- ------------------------------------------------------------------- policy
SELECT is(current_setting('clutch.require_signature') || ': ' || current_setting('clutch.signed_types'), 'off: agent.register, agent.update, task.cancel, answer', 'by default, a role that speaks for the agent needs no signature');
SELECT throws_ok($$ SET clutch.signed_types = 'task.cancel, answers' $$, '22023', NULL, 'the types must be types');
SELECT throws_ok($$ SET clutch.signed_types = 'routing.decision' $$, '22023', NULL, 'that agents send');
CREATE FUNCTION fixture.cancellation(task text, run text) RETURNS jsonb LANGUAGE sql AS
$$ SELECT clutch.envelope('task.cancel', 'agent:ken', run_id => run, thread_id => 'thread:1', task_id => task) $$;
SELECT clutch.send(clutch.envelope('task.request', 'agent:ken', '{agent:lois}', run_id => 'run:mine', thread_id => 'thread:1', task_id => 'mine' || i)) FROM generate_series(1, 4) AS i \g /dev/null
SET clutch.require_signature = keyed;
SELECT is(fixture.sent('clutch_test_ken', fixture.cancellation('mine1', 'run:mine')), '42501 SIGNATURE_REQUIRED /security/auth', 'keyed: an agent that has a key must sign');
SELECT is(fixture.called('clutch_test_ken', 'clutch.cancel(''mine1'')'), '42501 SIGNATURE_REQUIRED /security/auth', 'so a function that builds the envelope is refused');
SELECT is(fixture.sent('clutch_test_ken', fixture.by('ken', fixture.cancellation('mine1', 'run:mine'))), 'admitted', 'it signs');
SELECT is(fixture.sent('clutch_test_ken', fixture.note('unsigned', 'agent:ken')), 'admitted', 'other types need no signature');
SELECT is(fixture.sent('clutch_test_op', fixture.cancellation('mine2', 'run:mine')), 'admitted', 'nor does an operator');
SELECT is(fixture.called('clutch_test_ken', 'clutch.revoke_key(''agent:ken'', ''k1'')'), 'done', 'the role revokes the key of its agent');
SELECT is(fixture.sent('clutch_test_ken', fixture.cancellation('mine3', 'run:mine')), '42501 SIGNATURE_REQUIRED /security/auth', 'which still binds the agent');
SELECT clutch.grant_agent('clutch_test_ken', 'agent:kid') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:kid', '{agent:lois}', run_id => 'run:kid', thread_id => 'thread:1', task_id => 'kid')) \g /dev/null
SELECT is(fixture.sent('clutch_test_ken', clutch.envelope('task.cancel', 'agent:kid', run_id => 'run:kid', thread_id => 'thread:1', task_id => 'kid')), 'admitted', 'an agent that has never had a key need not sign');
SELECT is(fixture.sent('clutch_test_ken', fixture.registration('ken', 'skill:x', sender => 'kid')), '42501 SIGNATURE_REQUIRED /security/auth', 'but does not register one that must');
SELECT is(fixture.sent('clutch_test_op', fixture.registration('ken', 'skill:x', sender => 'kid')), 'admitted', 'as an operator may');
SELECT clutch.revoke_agent('clutch_test_ken', 'agent:kid') \g /dev/null
SET clutch.require_signature = always;
SELECT is(fixture.sent('clutch_test_ken', fixture.cancellation('mine4', 'run:mine')), '42501 SIGNATURE_REQUIRED /security/auth', 'always: it must sign all the same');
SET clutch.signed_types = 'task.result';
SELECT is(fixture.sent('clutch_test_ken', fixture.cancellation('mine4', 'run:mine')), 'admitted', 'unless the type is not listed');

-- ------------------------------------------------------------------ answers
SET clutch.signed_types = 'answer';
SELECT clutch.claim('agent:lois') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ken', '{agent:lois}', run_id => 'run:mine', thread_id => 'thread:1', task_id => 'asks')) \g /dev/null
SELECT clutch.claim('agent:lois', 9), clutch.progress('agent:lois', 'asks', '{"state": "input_required", "question": "which?"}') \g /dev/null
SELECT is(fixture.state('asks'), 'input_required agent:lois 1', 'a task asks');
SELECT is(fixture.called('clutch_test_ken', 'clutch.answer(''asks'', ''{"a": 1}'')'), '42501 SIGNATURE_REQUIRED /security/auth', 'an answer must be signed');
SELECT is(fixture.sent('clutch_test_ken', clutch.envelope('chat.message', 'agent:ken', '{agent:lois}', run_id => 'run:mine', thread_id => 'thread:1', task_id => 'asks', payload => '{"a": 1}')),
	'42501 SIGNATURE_REQUIRED /security/auth', 'however it is sent');
SELECT fixture.add_key('agent:ken', 'k2', 'b') \g /dev/null
SELECT is(fixture.sent('clutch_test_gate', ed25519.signed(clutch.envelope('chat.message', 'agent:ken', '{agent:lois}', run_id => 'run:mine', thread_id => 'thread:1', task_id => 'asks', payload => '{"a": 1}'), 'k2', fixture.seed('b'))),
	'admitted', 'one that is signed');
SELECT is(fixture.state('asks') LIKE 'input_required%', false, 'answers the question');

SELECT * FROM finish();
DROP OWNED BY clutch_test_gate, clutch_test_ken, clutch_test_op;
DROP ROLE clutch_test_gate, clutch_test_ken, clutch_test_op;
