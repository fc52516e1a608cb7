-- Routing, rule by rule: each reason to reject an agent, each code of failure,
-- each tie-break, groups and names, and what the log says about it.
\ir ../fixtures/tap.sql
SELECT plan(104);

CREATE FUNCTION pg_temp.agent(id text, capabilities jsonb, more jsonb DEFAULT '{}')
RETURNS void VOLATILE LANGUAGE sql AS $$
	SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', id,
		'capabilities', capabilities) || more)
$$;

CREATE FUNCTION pg_temp.request(more jsonb DEFAULT '{}') RETURNS jsonb VOLATILE LANGUAGE sql AS $$
	SELECT clutch.envelope('task.request', 'agent:client') || more
$$;

CREATE FUNCTION pg_temp.policy(policy jsonb) RETURNS jsonb VOLATILE LANGUAGE sql AS $$
	SELECT jsonb_build_object('security', jsonb_build_object('policy', policy))
$$;

CREATE FUNCTION pg_temp.to_whom(VARIADIC recipients text[]) RETURNS jsonb VOLATILE LANGUAGE sql AS $$
	SELECT jsonb_build_object('to', jsonb_agg(jsonb_build_object('agent_id', r))) FROM unnest(recipients) r
$$;

-- "agent:a, agent:b requires, agent:c status": the ranked agents, then the rejected ones with the filter
CREATE FUNCTION pg_temp.verdicts(request jsonb) RETURNS text VOLATILE LANGUAGE sql AS $$
	SELECT string_agg(substr(agent_id, 7) || coalesce(' ' || rejected_by, ''), ', ' ORDER BY place)
	FROM clutch.explain_route(request) WITH ORDINALITY AS x(agent_id, eligible, rejected_by, detail,
		score, load, success_rate, rank, place)
$$;

CREATE FUNCTION pg_temp.detail(request jsonb, agent text) RETURNS text VOLATILE LANGUAGE sql AS $$
	SELECT detail FROM clutch.explain_route(request) WHERE agent_id = agent
$$;

CREATE FUNCTION pg_temp.outcome(request jsonb) RETURNS text VOLATILE LANGUAGE sql AS $$
	SELECT coalesce(d ->> 'selected', d ->> 'code' || CASE WHEN (d -> 'retryable')::boolean
		THEN ' (retryable)' ELSE '' END) FROM clutch.route(request) d
$$;

CREATE FUNCTION pg_temp.reason(request jsonb) RETURNS text VOLATILE LANGUAGE sql AS $$
	SELECT clutch.route(request) ->> 'reason'
$$;

-- ------------------------------------------------------------ nobody is there
BEGIN;
SELECT is(pg_temp.outcome(pg_temp.request()), 'NO_CAPABLE_AGENT (retryable)', 'no agent is registered');
SELECT is(clutch.route(pg_temp.request()) ->> 'message', 'no agent is registered', 'the message says so');
SELECT is_empty($$SELECT * FROM clutch.explain_route(pg_temp.request())$$, 'explain_route returns no row');
SELECT is(pg_temp.outcome(pg_temp.request() || pg_temp.to_whom('agent:ghost')),
		  'NO_AGENT_AVAILABLE (retryable)', 'a named agent that is not registered');
SELECT is(pg_temp.outcome(pg_temp.request() || pg_temp.to_whom('group:ghosts')),
		  'NO_AGENT_AVAILABLE (retryable)', 'a group without members');
SELECT is(clutch.route(pg_temp.request() || pg_temp.to_whom(VARIADIC whom)) ->> 'message', message, 'a message about ' || array_to_string(whom, ', '))
FROM (VALUES ('{agent:ghost}'::text[], '"agent:ghost", which the request names, is not registered'),
	('{group:ghosts}', 'the request names only agents that are not registered, or groups without members')) AS m(whom, message);

-- --------------------------------------------------------------- requires
SELECT pg_temp.agent('agent:ken', '[
	{"id": "skill:research", "version": "1.0", "tags": ["market", "fintech"],
	 "tools": ["mcp:browser", "mcp:files"], "trust_level": "sandbox", "cost_hint": "medium"},
	{"id": "tool:mcp", "servers": ["mcp:browser", "mcp:db"]}]');
SELECT pg_temp.agent('agent:amy', '[
	{"id": "skill:research", "version": "2.1.0"}, {"id": "skill:code"}, {"id": "review"}]');

SELECT is(pg_temp.verdicts(pg_temp.request()), 'amy, ken', 'if nothing is required every agent is eligible');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:code"]}')),
		  'amy, ken requires', 'a capability is required by its id');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["review"]}')),
		  'amy, ken requires', 'a word without a prefix is an id as well');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:research", "skill:code"]}')),
		  'amy, ken requires', 'all requirements must be met');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:research@^1"]}')),
		  'ken, amy requires', 'a range of versions');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:research@>=2"]}')),
		  'amy, ken requires', 'another range');
SELECT is(pg_temp.detail(pg_temp.request('{"requires": ["skill:research@^3"]}'), 'agent:ken'),
		  'has no skill:research@^3 (it has 1.0)', 'the detail says what the agent has instead');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:code@^1"]}')),
		  'amy requires, ken requires', 'a capability without a version does not meet a range');
SELECT is(pg_temp.detail(pg_temp.request('{"requires": ["skill:code@^1"]}'), 'agent:amy'),
		  'has no skill:code@^1 (it has no version)', 'and the detail says so');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:code@*"]}')),
		  'amy, ken requires', 'except a range that excludes nothing');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["tool:browser"]}')),
		  'ken, amy requires', 'tool:x is met by a tool mcp:x');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["tool:db"]}')),
		  'ken, amy requires', 'tool:x is met by a server mcp:x');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["tool:mcp"]}')),
		  'ken, amy requires', 'tool:x is met by a capability tool:x');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["tool:browser@*"]}')),
		  'ken, amy requires', 'a tool has no version: it meets a range that excludes nothing');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["tool:browser@^1"]}')),
		  'amy requires, ken requires', 'and no other');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:fintech"]}')),
		  'amy requires, ken requires', 'a tag is not a capability');
SELECT is(pg_temp.outcome(pg_temp.request('{"requires": ["skill:dance", "skill:code"]}')),
		  'NO_CAPABLE_AGENT (retryable)', 'no agent has what is required');
SELECT is(clutch.route(pg_temp.request('{"requires": ["skill:dance"]}')) ->> 'message',
		  'no agent has everything required: [skill:dance]', 'the message says what is missing');

-- ---------------------------------------------------------------- prefers
SELECT results_eq($$SELECT agent_id, score FROM clutch.explain_route(pg_temp.request(
	'{"prefers": ["tag:fintech", "domain:market", "tool:db", "skill:code", "skill:research@^2"]}'))$$,
	$$VALUES ('agent:ken', 0.6::float8), ('agent:amy', 0.4)$$, 'preferences have equal weights');
SELECT is((SELECT score FROM clutch.explain_route(pg_temp.request()) LIMIT 1), 1::float8,
		  'nothing preferred: 1');
SET clutch.weight_skill = 3;
SET clutch.weight_tag = 0;
SELECT results_eq($$SELECT agent_id, score FROM clutch.explain_route(pg_temp.request(
	'{"prefers": ["tag:fintech", "tool:db", "skill:code"]}'))$$,
	$$VALUES ('agent:amy', 0.75::float8), ('agent:ken', 0.25)$$, 'unless settings say otherwise');
SELECT is((SELECT min(score) FROM clutch.explain_route(pg_temp.request('{"prefers": ["tag:none"]}'))),
		  1::float8, 'a kind of preference with weight 0 does not count');
RESET clutch.weight_skill;
RESET clutch.weight_tag;
ROLLBACK;

SELECT is(pg_temp.outcome(pg_temp.request()), 'NO_CAPABLE_AGENT (retryable)',
		  'what was rolled back is not remembered');

-- ------------------------------------------------------------ hard filters
BEGIN;
SELECT pg_temp.agent('agent:' || id, '[{"id": "skill:x"}]', more)
FROM (VALUES
	('inside', '{"security": {"network": "open"}, "scopes": ["group:team-a"]}'::jsonb),
	('outside', '{"security": {"sandbox": false}, "scopes": ["group:team-b", "group:team-a"]}'),
	('offline', '{}')) a (id, more);

SELECT is(pg_temp.verdicts(pg_temp.request()), 'inside, offline, outside policy',
		  'policy: only sandboxed agents, unless the message says otherwise');
SELECT is(pg_temp.verdicts(pg_temp.request(pg_temp.policy('{"sandbox": true}'))),
		  'inside, offline, outside policy', 'a policy of the request');
SELECT is(pg_temp.verdicts(pg_temp.request(pg_temp.policy('{"sandbox": false}'))),
		  'inside, offline, outside', 'a policy that is waived');
SELECT is(pg_temp.verdicts(pg_temp.request(pg_temp.policy('{"network": "open"}'))),
		  'inside, offline network, outside policy', 'network open');
SELECT is(pg_temp.verdicts(pg_temp.request(pg_temp.policy('{"network": "egress-restricted"}'))),
		  'inside, offline network, outside policy', 'an agent may have more network than required');
SELECT is(pg_temp.detail(pg_temp.request(pg_temp.policy('{"network": "open"}')), 'agent:offline'),
		  'has network none; the request needs open', 'the detail of network');
SELECT is(pg_temp.verdicts(pg_temp.request('{"meta": {"clutch": {"scope": "group:team-a"}}}')),
		  'inside, offline scope, outside policy', 'scope: only agents of the scope of the run');
SELECT is(pg_temp.verdicts(pg_temp.request('{"meta": {"clutch": {"scope": "group:team-c"}}}')),
		  'inside scope, offline scope, outside scope', 'scope comes before policy');
SELECT is(pg_temp.outcome(pg_temp.request('{"meta": {"clutch": {"scope": "group:team-c"}}}')),
		  'POLICY_DENIED', 'POLICY_DENIED is not retryable');

SELECT clutch.send(clutch.envelope('agent.heartbeat', 'agent:inside', payload => '{"status": "UNAVAILABLE"}')) \g /dev/null
SELECT is(pg_temp.verdicts(pg_temp.request()), 'offline, inside status, outside policy',
		  'status: it takes no work');
SELECT is(pg_temp.detail(pg_temp.request(), 'agent:inside'), 'is UNAVAILABLE', 'the detail of status');
SELECT is(pg_temp.outcome(pg_temp.request() || pg_temp.to_whom('agent:inside')),
		  'NO_AGENT_AVAILABLE (retryable)', 'an agent that could do it is away');
SELECT is(clutch.route(pg_temp.request() || pg_temp.to_whom('agent:inside')) ->> 'message',
		  '"agent:inside", which the request names, is not available', 'the message names it');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:y"]}')),
		  'inside status, offline requires, outside policy', 'rejected_by names the first filter that fails');
ROLLBACK;

-- trust and tools judge only the capabilities that are used
BEGIN;
SELECT pg_temp.agent('agent:a', '[
	{"id": "skill:x", "tools": ["mcp:browser"], "trust_level": "prod", "cost_hint": "low"},
	{"id": "skill:y", "tools": ["mcp:files"], "cost_hint": "high"}]');
SELECT pg_temp.agent('agent:b', '[
	{"id": "skill:x", "tools": ["mcp:files"], "trust_level": "prod"},
	{"id": "skill:x", "version": "2.0", "tools": ["mcp:browser"], "cost_hint": "high"}]');
SELECT pg_temp.agent('agent:c', '[{"id": "skill:z", "tools": ["mcp:mail"]}]');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:x"]}' ||
		pg_temp.policy('{"trust_level": "prod"}'))), 'a, b, c requires', 'trust: both agents have the capability for prod');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:y"]}' ||
		pg_temp.policy('{"trust_level": "prod"}'))), 'a trust, b requires, c requires',
		  'trust: absent is sandbox; who cannot anyway is told so');
SELECT is(pg_temp.detail(pg_temp.request('{"requires": ["skill:y"]}' ||
		pg_temp.policy('{"trust_level": "prod"}')), 'agent:a'),
		  'is not trusted for prod with skill:y', 'the detail of trust');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:x"]}' ||
		pg_temp.policy('{"tool_allowlist": ["mcp:browser"]}'))), 'a, b, c requires',
		  'tools: another capability of the agent may do');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:x"]}' ||
		pg_temp.policy('{"tool_allowlist": ["mcp:browser"], "trust_level": "prod"}'))),
		  'a, b tools, c requires', 'one capability must pass trust and tools');
SELECT is(pg_temp.detail(pg_temp.request('{"requires": ["skill:x"]}' ||
		pg_temp.policy('{"tool_allowlist": ["mcp:browser"], "trust_level": "prod"}')), 'agent:b'),
		  'meets skill:x with skill:x, which uses mcp:files: not in the allowlist', 'the detail of tools');
SELECT is(pg_temp.verdicts(pg_temp.request(pg_temp.policy('{"tool_allowlist": ["mcp:none"]}'))),
		  'a tools, b tools, c tools', 'if nothing is required, everything that the card offers is judged');
SELECT is(pg_temp.detail(pg_temp.request(pg_temp.policy('{"tool_allowlist": ["mcp:browser"]}')), 'agent:a'),
		  'offers skill:y, which uses mcp:files: not in the allowlist', 'and the detail names what does not fit');
SELECT is(pg_temp.verdicts(pg_temp.request(pg_temp.policy('{"tool_allowlist": ["mcp:files", "mcp:browser"]}'))),
		  'a, b, c tools', 'an agent all of whose tools are allowed passes');
SELECT is(pg_temp.verdicts(pg_temp.request(pg_temp.policy('{"trust_level": "prod"}'))),
		  'a trust, b trust, c trust', 'trust is judged without requires, too');
SELECT is(pg_temp.detail(pg_temp.request(pg_temp.policy('{"trust_level": "prod"}')), 'agent:c'),
		  'is not trusted for prod with skill:z', 'with its detail');
SELECT pg_temp.agent('agent:d', '[]'), pg_temp.agent('agent:e', '[{"id": "skill:z", "trust_level": "prod", "actions": ["check", "report"]}]');
SELECT is(pg_temp.verdicts(pg_temp.request(pg_temp.policy('{"trust_level": "prod"}'))),
		  'e, a trust, b trust, c trust, d trust', 'a card without capabilities is trusted with nothing');
SELECT is(pg_temp.detail(pg_temp.request(pg_temp.policy('{"trust_level": "prod"}')), 'agent:d'),
		  'has no capability that is trusted for prod', 'which its detail says');
SELECT is(pg_temp.outcome(pg_temp.request('{"requires": ["skill:x"]}' ||
		pg_temp.policy('{"tool_allowlist": ["mcp:none"]}'))), 'POLICY_DENIED', 'POLICY_DENIED by tools');
SELECT results_eq($$SELECT agent_id, detail FROM clutch.explain_route(pg_temp.request('{"requires": ["skill:x"]}'))
	WHERE eligible$$, $$VALUES ('agent:a', 'cost low, never chosen'), ('agent:b', 'cost medium, never chosen')$$,
	'the cost is that of the first capability that passes');
SELECT is(pg_temp.reason(pg_temp.request('{"requires": ["skill:x"]}')),
		  'matched requires[skill:x], lowest cost', 'it decides a tie');
SELECT is(pg_temp.reason(pg_temp.request('{"requires": ["skill:x", "skill:y"]}')),
		  'matched requires[skill:x, skill:y], only candidate', 'the only candidate');
ROLLBACK;

-- ------------------------------------------------- whom the request names
BEGIN;
SELECT pg_temp.agent('agent:a', '[{"id": "skill:x"}]', '{"groups": ["group:g"]}');
SELECT pg_temp.agent('agent:b', '[{"id": "skill:x"}]');
SELECT pg_temp.agent('agent:c', '[{"id": "skill:y"}]');
INSERT INTO clutch.group_member (group_id, agent_id) VALUES ('group:h', 'agent:b'), ('group:h', 'agent:c');
SELECT is(pg_temp.verdicts(pg_temp.request() || pg_temp.to_whom('group:g')), 'a', 'a group by cards');
SELECT is(pg_temp.verdicts(pg_temp.request() || pg_temp.to_whom('group:h')), 'b, c', 'a group by join_group');
SELECT is(pg_temp.verdicts(pg_temp.request('{"requires": ["skill:x"]}') || pg_temp.to_whom('group:h')),
		  'b, c requires', 'agents outside of it are not looked at');
SELECT is(pg_temp.verdicts(pg_temp.request() || pg_temp.to_whom('group:g', 'agent:c')), 'a, c',
		  'a group and an agent');
SELECT is(pg_temp.verdicts(pg_temp.request() || pg_temp.to_whom('agent:b', 'agent:c')), 'b, c',
		  'two agents: one of them');
SELECT is(pg_temp.verdicts(pg_temp.request() || pg_temp.to_whom('agent:orchestrator', 'group:g')), 'a',
		  'beside others the orchestrator adds nobody');
SELECT is(pg_temp.reason(pg_temp.request() || pg_temp.to_whom('agent:b')), 'named by the request',
		  'one agent is named: no choice');
SELECT is(pg_temp.outcome(pg_temp.request('{"requires": ["skill:y"]}') || pg_temp.to_whom('agent:b')),
		  'NO_CAPABLE_AGENT (retryable)', 'but the requirements hold');
DELETE FROM clutch.group_member WHERE agent_id = 'agent:b';
SELECT is(pg_temp.verdicts(pg_temp.request() || pg_temp.to_whom('group:h')), 'c', 'a former member is not asked');
SET clutch.orchestrator = 'agent:boss';
SELECT is(pg_temp.verdicts(pg_temp.request() || pg_temp.to_whom('agent:boss')), 'a, b, c',
		  'the orchestrator is a setting');
RESET clutch.orchestrator;
ROLLBACK;

-- --------------------------------------------------- load, and the tie-breaks
BEGIN;
SELECT pg_temp.agent('agent:' || name, '[{"id": "skill:x"}]', '{"limits": {"max_concurrency": 2}}')
FROM unnest(ARRAY['a', 'b', 'c']) name;
SELECT is(pg_temp.reason(pg_temp.request()), 'nothing required, first by agent_id', 'all candidates are equal');

SELECT clutch.send(pg_temp.request('{"task_id": "task:1", "requires": ["skill:x"]}')) \g /dev/null
SELECT is((SELECT agent_id FROM clutch.tasks WHERE task_id = 'task:1'), 'agent:a', 'the first one gets the task');
SELECT is(pg_temp.verdicts(pg_temp.request()), 'b, c, a', 'a busy agent comes last');
SELECT is((SELECT load FROM clutch.explain_route(pg_temp.request()) WHERE agent_id = 'agent:a'),
		  0.5::float8, 'its load is one of two');
SELECT is(pg_temp.reason(pg_temp.request('{"requires": ["skill:x"]}') || pg_temp.to_whom('agent:a', 'agent:c')),
		  'matched requires[skill:x], lowest load', 'the load decided');

SELECT clutch.send(pg_temp.request(jsonb_build_object('task_id', 'task:' || n))) FROM generate_series(2, 3) n \g /dev/null
SELECT is((SELECT string_agg(substr(agent_id, 7), ' ' ORDER BY task_id) FROM clutch.tasks
		   WHERE task_id IN ('task:1', 'task:2', 'task:3')), 'a b c', 'each agent has one task');
SELECT is(pg_temp.reason(pg_temp.request()), 'nothing required, least recently chosen',
		  'round-robin: whose turn it is');
SELECT task_id FROM clutch.claim('agent:b') \g /dev/null
SELECT clutch.fail('agent:b', 'task:2', 'BROKEN', 'it broke', false) \g /dev/null
SELECT task_id FROM clutch.claim('agent:c') \g /dev/null
SELECT clutch.finish('agent:c', 'task:3') \g /dev/null
SELECT is(pg_temp.verdicts(pg_temp.request()), 'c, b, a', 'an agent that succeeded comes before one that failed');
SELECT is(pg_temp.reason(pg_temp.request()), 'nothing required, highest success rate', 'and the reason says so');
SELECT is((SELECT success_rate FROM clutch.explain_route(pg_temp.request()) WHERE agent_id = 'agent:b'),
		  0::float8, 'the success rate after one failure');

SELECT clutch.send(pg_temp.request(jsonb_build_object('task_id', 'task:' || n))) FROM generate_series(4, 8) n \g /dev/null
SELECT is(pg_temp.verdicts(pg_temp.request()), 'a concurrency, b concurrency, c concurrency', 'all candidates are full');
SELECT is(pg_temp.detail(pg_temp.request(), 'agent:a'), 'has 2 of 2 tasks', 'the detail of concurrency');
SELECT is(pg_temp.outcome(pg_temp.request()), 'NO_CAPACITY (retryable)', 'NO_CAPACITY');
SELECT is(clutch.route(pg_temp.request()) -> 'rejected',
	'{"concurrency": {"count": 3, "agents": ["agent:a", "agent:b", "agent:c"]}}'::jsonb,
	'with the full agents');

-- ------------------------------------------------------------------- why
SELECT results_eq($$SELECT agent_id, eligible, rank, detail FROM clutch.why('task:1')$$,
	$$VALUES ('agent:a', true, 1, 'matched requires[skill:x], first by agent_id'),
			 ('agent:b', true, 2, 'cost medium, never chosen'),
			 ('agent:c', true, 3, 'cost medium, never chosen')$$, 'why() shows the decision as it was made');
SELECT results_eq($$SELECT agent_id, eligible, rejected_by, detail FROM clutch.why('task:8')$$,
	$$VALUES ('agent:b', true, NULL, 'nothing required, only candidate'),
			 ('agent:a', false, 'concurrency', 'one of 2 rejected by concurrency'),
			 ('agent:c', false, 'concurrency', 'one of 2 rejected by concurrency')$$,
	'why() shows that the last candidate had room when the others were full');
SELECT clutch.send(pg_temp.request('{"task_id": "task:9", "requires": ["skill:x"]}')) \g /dev/null
SELECT results_eq($$SELECT agent_id, eligible, rejected_by, detail FROM clutch.why('task:9')$$,
	$$VALUES ('agent:a', false, 'concurrency', 'one of 3 rejected by concurrency'),
			 ('agent:b', false, 'concurrency', 'one of 3 rejected by concurrency'),
			 ('agent:c', false, 'concurrency', 'one of 3 rejected by concurrency')$$,
	'why() shows who was rejected');
SELECT clutch.send(pg_temp.request('{"task_id": "task:10"}') || pg_temp.to_whom('group:ghosts')) \g /dev/null
SELECT results_eq($$SELECT agent_id, eligible, detail FROM clutch.why('task:10')$$,
	$$VALUES (NULL, false, 'the request names only agents that are not registered, or groups without members')$$, 'why() shows that no candidate existed');
SELECT pg_temp.agent('agent:d', '[{"id": "skill:d"}]');
SELECT clutch.send(pg_temp.request('{"task_id": "task:11"}') || pg_temp.to_whom('agent:d')) \g /dev/null
SELECT results_eq($$SELECT agent_id, eligible, detail, rank FROM clutch.why('task:11')$$,
	$$VALUES ('agent:d', true, 'named by the request', 1)$$, 'why() of a direct request');
SELECT throws_ok($$SELECT * FROM clutch.why('task:none')$$, 'KL003', NULL, 'why() of an unknown task is refused');
ROLLBACK;

-- ------------------------------------------------------- many agents, few words
BEGIN;
SELECT pg_temp.agent('agent:' || lpad(n::text, 3, '0'),
	CASE WHEN n % 2 = 0 THEN '[{"id": "skill:x"}]' ELSE '[{"id": "skill:y"}]' END::jsonb,
	'{"limits": {"max_concurrency": 1}}')
FROM generate_series(1, 100) n;
SELECT is(jsonb_array_length(clutch.route(pg_temp.request('{"requires": ["skill:x"]}')) -> 'candidates'), 20,
		  'a decision names the best twenty');
SELECT is(clutch.route(pg_temp.request('{"requires": ["skill:x"]}')) #>> '{rejected,requires,count}', '50',
		  'counts all that were rejected');
SELECT is(jsonb_array_length(clutch.route(pg_temp.request('{"requires": ["skill:x"]}')) #> '{rejected,requires,agents}'),
		  20, 'and has the first twenty');
SELECT is((SELECT count(*) FROM clutch.explain_route(pg_temp.request('{"requires": ["skill:x"]}'))), 100::bigint,
		  'explain_route shows all');
SET clutch.decision_candidates = 3;
SELECT is(clutch.route(pg_temp.request('{"requires": ["skill:x"]}')) -> 'candidates',
		  '["agent:002", "agent:004", "agent:006"]'::jsonb, 'or as many as clutch.decision_candidates');
RESET clutch.decision_candidates;

-- more than clutch.exact_load_candidates: loads are remembered, the best is read again
SELECT clutch.send(pg_temp.request(jsonb_build_object('task_id', 'task:' || n, 'requires', '["skill:x"]'::jsonb)))
FROM generate_series(1, 50) n \g /dev/null
SELECT is((SELECT count(DISTINCT agent_id) FROM clutch.tasks WHERE task_id LIKE 'task:%' AND status = 'assigned'),
		  50::bigint, 'fifty tasks in one transaction go to fifty agents, in spite of remembered loads');
SELECT is(pg_temp.outcome(pg_temp.request('{"requires": ["skill:x"]}')), 'NO_CAPACITY (retryable)',
		  'and then all are full');
ROLLBACK;

-- --------------------------------------------------------- what is no request
SELECT throws_ok($$SELECT clutch.route('{"v": "clutch/0.1"}')$$, 'KL001', NULL, 'route() refuses what is not an envelope');
SELECT throws_ok($$SELECT * FROM clutch.explain_route('[]')$$, 'KL001', NULL, 'explain_route() refuses what is not an envelope');
SELECT throws_ok($$SELECT clutch.route(clutch.envelope('chat.message', 'agent:client'))$$, 'KL001', NULL,
				 'route: not a request');
SELECT is(clutch.route(NULL), NULL, 'route() of NULL is NULL');

-- ------------------------------------------------------------ no side effect
SELECT pg_temp.agent('agent:a', '[{"id": "skill:x"}]');
SELECT clutch.route(pg_temp.request()) FROM generate_series(1, 3) \g /dev/null
SELECT is((SELECT count(*) FROM clutch.agent_slot WHERE task_id IS NOT NULL), 0::bigint, 'route() takes no slot');
SELECT is((SELECT count(*) FROM clutch.events WHERE type LIKE 'routing.%'), 0::bigint, 'and writes no event');

SELECT * FROM finish();
