-- Which agents take requests of whom: security.serves and security.delegates_to of cards.
\ir ../fixtures/tap.sql
SELECT plan(38);

CREATE FUNCTION pg_temp.asked(sender text, whom text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	task text := 'task:' || gen_random_uuid();
BEGIN
	PERFORM clutch.send(clutch.envelope('task.request', sender, CASE WHEN whom IS NOT NULL THEN ARRAY[whom] END, task_id => task, requires => '{skill:x}'));
	RETURN (SELECT concat_ws(' ', t.status, t.agent_id, t.code) FROM clutch.tasks t WHERE t.task_id = task);
END $$;
CREATE FUNCTION pg_temp.rejected(sender text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(concat_ws(' ', x.agent_id, x.rejected_by, x.detail), ', ' ORDER BY x.agent_id), 'nobody')
	FROM clutch.explain_route(clutch.envelope('task.request', sender, requires => '{skill:x}')) AS x WHERE NOT x.eligible
$$;
CREATE FUNCTION pg_temp.secure(agent text, security text) RETURNS void LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('agent.update', 'agent:' || agent, payload => jsonb_build_object('agent_id', 'agent:' || agent, 'security', security::jsonb)))
$$;

-- ----------------------------------------------------------- who takes requests
SELECT FROM fixture.agent('home', 9, more => '{"groups": ["group:personal"], "security": {"serves": ["group:personal", "agent:guest"]}}');
SELECT is(pg_temp.asked('agent:ui', 'agent:home'), 'pending POLICY_DENIED', 'a request of somebody else is not given to the agent that it names');
SELECT is(pg_temp.asked('agent:ui'), 'pending POLICY_DENIED', 'nor is one that names nobody');
SELECT is(pg_temp.rejected('agent:ui'), 'agent:home policy does not take requests of agent:ui', 'and why says whose it does not take');
SELECT is(clutch.route(clutch.envelope('task.request', 'agent:ui', requires => '{skill:x}')) ->> 'message', 'no agent that could take it may have it: agent:home does not take requests of agent:ui', 'as does the failure');
SELECT is(pg_temp.asked('agent:guest', 'agent:home'), 'assigned agent:home', 'one of an agent on the list is');
SELECT is(pg_temp.asked('agent:guest'), 'assigned agent:home', 'also if it is routed');
SELECT is(pg_temp.asked('agent:home', 'agent:home'), 'assigned agent:home', 'so is one of a member of a group on the list');
SELECT is(pg_temp.asked('agent:orchestrator', 'agent:home'), 'assigned agent:home', 'and one of the orchestrator');
SELECT FROM clutch.join_group('group:personal', 'agent:ui');
SELECT is(pg_temp.asked('agent:ui', 'agent:home'), 'assigned agent:home', 'an agent that is not registered may be a member');
SELECT is((SELECT count(*)::int FROM clutch.tasks WHERE code = 'POLICY_DENIED' AND status = 'pending'), 2, 'the requests that were denied wait');
SELECT FROM fixture.agent('open', 9);
SELECT FROM fixture.settle();
SELECT is((SELECT count(*)::int FROM clutch.tasks t WHERE t.agent_id = 'agent:open'), 1, 'for an agent that takes them, unless they name another');
SELECT is((SELECT string_agg(x.agent_id, ' ' ORDER BY x.agent_id) FROM clutch.explain_route(clutch.envelope('task.request', 'agent:stranger', requires => '{skill:x}')) AS x WHERE x.eligible), 'agent:open', 'a card without a list takes anybody''s');

-- ------------------------------------------------------ to whom an agent delegates
SELECT FROM fixture.agent('lead', 9, skills => '{skill:lead}', more => '{"security": {"delegates_to": ["agent:open", "group:hands"]}}');
SELECT FROM fixture.agent('hand', 9, more => '{"groups": ["group:hands"]}');
SELECT FROM fixture.agent('other', 9);
SELECT is(pg_temp.asked('agent:lead', 'agent:other'), 'pending POLICY_DENIED', 'an agent delegates to those on its list only');
SELECT is(pg_temp.rejected('agent:lead') LIKE '%agent:other policy is not one of the agents to which agent:lead delegates%', true, 'and why says so');
SELECT is((SELECT t.detail FROM clutch.tasks t WHERE t.from_agent = 'agent:lead'), 'no agent that could take it may have it: agent:other is not one of the agents to which agent:lead delegates', 'also of the list of the sender');
SELECT is(pg_temp.asked('agent:lead', 'agent:open'), 'assigned agent:open', 'to an agent on it');
SELECT is(pg_temp.asked('agent:lead', 'agent:hand'), 'assigned agent:hand', 'and to a member of a group on it');
SELECT is((SELECT string_agg(x.agent_id, ' ' ORDER BY x.agent_id) FROM clutch.explain_route(clutch.envelope('task.request', 'agent:lead', requires => '{skill:x}')) AS x WHERE x.eligible), 'agent:hand agent:open', 'what it has routed goes to them');
SELECT FROM pg_temp.secure('lead', '{"delegates_to": []}');
SELECT is(pg_temp.asked('agent:lead'), 'pending POLICY_DENIED', 'an empty list says that it delegates to nobody');

-- waiting requests of different senders are told apart
SELECT FROM fixture.agent('small', 1, skills => '{skill:y}', more => '{"security": {"serves": ["agent:a"]}}');
SELECT FROM clutch.send(clutch.envelope('task.request', 'agent:b', task_id => 'task:b', requires => '{skill:y}'));
SELECT FROM clutch.send(clutch.envelope('task.request', 'agent:a', task_id => 'task:a1', requires => '{skill:y}'));
SELECT FROM clutch.send(clutch.envelope('task.request', 'agent:a', task_id => 'task:a2', requires => '{skill:y}'));
SELECT is(fixture.claimed('agent:small'), 'task:a1 1 new', 'the agent gets the request that it takes');
SELECT FROM clutch.finish('agent:small', 'task:a1');
SELECT is(fixture.claimed('agent:small'), 'task:a2 1 new', 'and the next one, though another waits before it');
SELECT is(fixture.state('task:b'), 'pending 1', 'which goes on waiting');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');

-- ------------------------------------------------------------- nobody widens it
CREATE ROLE routing_delegation_agent;
SELECT FROM clutch.grant_agent('routing_delegation_agent', 'agent:small', '{skill:y}', limits => '{"max_concurrency": 9}');
GRANT USAGE ON SCHEMA fixture TO routing_delegation_agent;
SET ROLE routing_delegation_agent;
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('agent.update', 'agent:small', payload => '{"agent_id": "agent:small", "security": {}}'))$$), '42501 CARD_NOT_GRANTED /payload/security/serves', 'an agent cannot lift its own list');
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('agent.update', 'agent:small', payload => '{"agent_id": "agent:small", "security": {"serves": ["agent:a", "agent:b"]}}'))$$), '42501 CARD_NOT_GRANTED /payload/security/serves', 'nor make it longer');
SELECT throws_matching($$SELECT clutch.send(clutch.envelope('agent.update', 'agent:small', payload => '{"agent_id": "agent:small", "security": {"serves": ["agent:a", "agent:b"]}}'))$$, 'more agents in "serves": agent:b$', 'and is told in which list');
SELECT matches(fixture.hint_of($$SELECT clutch.send(clutch.envelope('agent.update', 'agent:small', payload => '{"agent_id": "agent:small", "security": {}}'))$$), '^Repeat what the card', 'nor to leave out what is missing');
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('agent.register', 'agent:small', payload => fixture.card('small', 1, '{skill:y}')))$$), '42501 CARD_NOT_GRANTED /payload/security/serves', 'nor by a new card');
SELECT is(fixture.fault($$SELECT clutch.unregister('agent:small')$$), '42501 NOT_AN_OPERATOR agent_id', 'nor by leaving and coming back');
SELECT lives_ok($$SELECT clutch.send(clutch.envelope('agent.register', 'agent:small', payload => fixture.card('small', 1, '{skill:y}', more => '{"security": {"serves": ["agent:a"]}}')))$$, 'a card that keeps the list may be registered');
RESET ROLE;
SELECT FROM clutch.revoke_agent('routing_delegation_agent', 'agent:small');
REVOKE USAGE ON SCHEMA fixture FROM routing_delegation_agent;
DROP ROLE routing_delegation_agent;

-- --------------------------------------------------------- cards of spec 002
SELECT FROM clutch.import_registry('{"version": "3.0", "orchestrator": "team", "agents": {
	"cook": {"context": "work", "skills": [{"id": "cook"}], "dependencies": {"agents": ["buyer"]}}, "buyer": {"context": "shared", "skills": [{"id": "buy"}]}, "cellar": {"skills": [{"id": "fetch"}]}}}');
SELECT is((SELECT card -> 'security' FROM clutch.agents WHERE agent_id = 'agent:cook'), '{"serves": ["group:work"], "delegates_to": ["agent:buyer"]}', 'context and agent dependencies become the two lists');
SELECT is((SELECT card -> 'groups' FROM clutch.agents WHERE agent_id = 'agent:cook'), '["group:work"]', 'and the agent belongs to its context');
SELECT is((SELECT card ? 'security' FROM clutch.agents WHERE agent_id = 'agent:buyer'), false, 'what is shared takes anybody''s requests');
SELECT FROM clutch.send(clutch.envelope('agent.update', 'agent:cook', payload => '{"agent_id": "agent:cook", "groups": ["group:personal"], "security": {"network": "open", "serves": ["group:personal"], "delegates_to": ["agent:cellar"]}}'));
SELECT is(clutch.export_registry('team') #>> '{agents,cook,context}', 'personal', 'a change of the lists shows in the context');
SELECT is(clutch.export_registry('team') #> '{agents,cook,dependencies}', '{"agents": ["cellar"]}', 'and in the dependencies');
SELECT is((SELECT string_agg(change || ' ' || what, ', ' ORDER BY i) FROM clutch.import_registry(clutch.export_registry('team')) WITH ORDINALITY AS t(agent, change, what, was, becomes, i)), NULL::text, 'which is no difference');
SELECT FROM clutch.import_registry((SELECT document FROM clutch.registry_document WHERE name = 'team') #- '{agents,cook,context}' #- '{agents,cook,dependencies}');
SELECT is((SELECT card -> 'security' FROM clutch.agents WHERE agent_id = 'agent:cook'), '{"network": "open"}', 'without them the lists are gone, and what operators have set stays');
SELECT is((SELECT card -> 'groups' FROM clutch.agents WHERE agent_id = 'agent:cook'), '[]', 'like the group');
SELECT * FROM finish();
