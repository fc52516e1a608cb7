-- Which hosts the URLs of a tool.call may name: those that the card, the request,
-- the requests above it and the message allow.
\ir ../fixtures/tap.sql
SELECT plan(107);
SET clutch.notify = off;
CREATE FUNCTION pg_temp.card(id text, hosts jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'agent_id', id, 'limits', '{"max_concurrency": 9}'::jsonb, 'capabilities', '[{"id": "skill:x", "tools": ["mcp:browser"]}]'::jsonb,
		'security', '{"network": "egress-restricted"}'::jsonb || CASE WHEN hosts IS NULL THEN '{}' ELSE jsonb_build_object('egress_allowlist', hosts) END)
$$;
SELECT clutch.register(pg_temp.card('agent:ken', '["a.example", "*.b.example", "192.0.2.1", "[2001:db8::1]"]')),
	clutch.register(pg_temp.card('agent:lois', NULL)), clutch.register(pg_temp.card('agent:none', '[]')) \g /dev/null
CREATE FUNCTION pg_temp.call(agent text, args jsonb, task text DEFAULT 'task:none', hosts jsonb DEFAULT NULL, id text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT fixture.fault(format('SELECT clutch.send(%L)', clutch.envelope('tool.call', agent, payload => jsonb_build_object('tool', 'mcp:browser', 'args', args),
		id => call.id, run_id => 'run:1', thread_id => 'thread:1', task_id => task, security => CASE WHEN hosts IS NOT NULL THEN jsonb_build_object('policy', jsonb_build_object('egress_allowlist', hosts)) END)))
$$;
CREATE FUNCTION pg_temp.url(url text, agent text DEFAULT 'agent:ken') RETURNS text LANGUAGE sql AS
$$ SELECT pg_temp.call(agent, jsonb_build_object('url', url)) $$;
CREATE FUNCTION pg_temp.message(agent text, args jsonb, hosts jsonb DEFAULT NULL, task text DEFAULT 'task:none') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	PERFORM clutch.send(clutch.envelope('tool.call', agent, payload => jsonb_build_object('tool', 'mcp:browser', 'args', args), run_id => 'run:1', thread_id => 'thread:1', task_id => task,
		security => CASE WHEN hosts IS NOT NULL THEN jsonb_build_object('policy', jsonb_build_object('egress_allowlist', hosts)) END));
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN SQLERRM || ' / ' || hint;
END $$;

-- -------------------------------------------------------------------- patterns
CREATE FUNCTION pg_temp.fault_of(pattern text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(path || ' ' || code, ', '), 'valid') FROM clutch.validate(clutch.envelope('chat.message', 'agent:ui', payload => '{}', security =>
		jsonb_build_object('policy', jsonb_build_object('egress_allowlist', jsonb_build_array(pattern)))))
$$;
SELECT is(pg_temp.fault_of(pattern), 'valid', 'a pattern: ' || pattern)
FROM unnest(ARRAY['localhost', 'a.example', 'A.Example.', '*.example', '*.a.b.example', 'xn--bcher-kva.example', 'a_b.example', '192.0.2.1', '[::1]', '[2001:DB8::1]']) AS pattern;
SELECT is(pg_temp.fault_of(pattern), '/security/policy/egress_allowlist/0 WRONG_FORMAT', 'no pattern: ' || pattern)
FROM unnest(ARRAY['*', '*.', '**.example', 'a.*.example', '*a.example', 'https://a.example', 'a.example:443', 'a.example/', 'bücher.example', 'a..example', '.example', '*.2.1', '[::1', '::1', '[a.example]', 'user@a.example', 'a b', repeat('a', 64) || '.example', '.']) AS pattern;
SELECT is((SELECT string_agg(path || ' ' || code, ', ') FROM clutch.validate(clutch.envelope('agent.register', 'agent:x', payload => pg_temp.card('agent:x', '["ok.example", "http://x"]')))),
	'/payload/security/egress_allowlist/1 WRONG_FORMAT', 'a card has patterns as well');

-- ------------------------------------------------------------- hosts of the card
SELECT is(pg_temp.url(url), 'no error', 'allowed: ' || url)
FROM unnest(ARRAY['https://a.example', 'http://a.example:8080/x?y#z', 'HTTPS://A.EXAMPLE/', 'https://a.example./x', 'https://x.b.example/', 'wss://x.y.b.example', 'https://user:word@a.example/',
	'http://192.0.2.1/', 'http://[2001:db8:0::1]:80/', 'see https://a.example, and (https://x.b.example).', 'about a.example and evil.example', 'mailto:me@evil.example', 'file:///etc/passwd', 'time 12:30', 'http: see below',
	'git+ssh://git@a.example/x.git', 'read https://a.example or write to me@evil.example']) AS url;
SELECT is(pg_temp.url(url), '42501 HOST_NOT_ALLOWED /payload/args/url', 'refused: ' || to_json(url))
FROM unnest(ARRAY['https://evil.example', 'https://b.example', 'https://xb.example', 'https://a.example.evil.example/', 'https://a.example@evil.example/', 'https://a.example:80@evil.example/',
	E'https://a.example\\@evil.example/', 'https://a.example @evil.example/', 'https:evil.example', 'https:/evil.example', E'https:\\\\evil.example', 'https:///evil.example/', '//evil.example/x', '///evil.example/x', '  https://evil.example',
	E'ht\ntps://evil.example', E'https:/\t/evil.example', 'https://evil%2eexample/', 'https://a.example%00.evil.example/', 'https://ａ.example/', 'https://a。example/', 'http://192.0.2.2/', 'http://0xC0000202/', 'http://[2001:db8::2]/',
	'http://[::ffff:192.0.2.1]/', 'ftp://evil.example', 'custom://evil.example/x', 'jdbc:postgresql://evil.example/db', 'view-source:https://evil.example', 'go to https://a.example, then https://evil.example', 'https://', 'https://a.example"x/',
	E'wss://a.example\\x wss://a.example\\@evil.example/', E'wss://a.example\\@x.b.example/ wss://a.example\\@evil.example/']) AS url;

SELECT is(pg_temp.call('agent:ken', '{"list": [{"a": 1}, {"deep": ["x", "https://evil.example/"]}]}'), '42501 HOST_NOT_ALLOWED /payload/args/list/1/deep/1', 'the path leads to the URL');
SELECT is(pg_temp.call('agent:ken', '{"https://evil.example/~x": true}'), '42501 HOST_NOT_ALLOWED /payload/args/https:~1~1evil.example~1~0x', 'a URL may be a key');
SELECT is(pg_temp.message('agent:ken', '{"url": "https://evil.example/"}'), '"agent:ken" may not call "mcp:browser" with the host "evil.example" / The card of the agent does not have that host in its egress_allowlist.', 'the error names the host and the list');
SELECT is(pg_temp.message('agent:ken', '{"url": "https://%65vil.example/"}'), '"agent:ken" may not call "mcp:browser" with a URL whose host cannot be read / The card of the agent allows certain hosts only. Write the host of the URL as a plain name or address, as in https://api.example.com/path.', 'or says that the host cannot be read');
SELECT is(pg_temp.url('https://evil.example', 'agent:lois'), 'no error', 'a card without a list allows every host');
SELECT is(pg_temp.url('https://a.example', 'agent:none'), '42501 HOST_NOT_ALLOWED /payload/args/url', 'an empty list allows none');
SELECT is(pg_temp.url('https://evil.example', 'agent:ui'), 'no error', 'a sender without a card has no list of its own');

-- -------------------------------------------------- the message and the request
SELECT is(pg_temp.call('agent:ken', '{"url": "https://x.b.example"}', hosts => '["x.b.example"]'), 'no error', 'card and message allow the host');
SELECT is(pg_temp.call('agent:ken', '{"url": "https://a.example"}', hosts => '["x.b.example"]'), '42501 HOST_NOT_ALLOWED /payload/args/url', 'only the card allows it');
SELECT is(pg_temp.call('agent:ken', '{"url": "https://evil.example"}', hosts => '["evil.example"]'), '42501 HOST_NOT_ALLOWED /payload/args/url', 'only the message allows it');
SELECT fixture.ask('task:1', 'agent:lois', more => '{"security": {"policy": {"egress_allowlist": ["a.example", "b.example"]}}}'), fixture.ask('task:2', 'agent:ken', parent => 'task:1'),
	fixture.ask('task:3', 'agent:ken', parent => 'task:2', more => '{"security": {"policy": {"egress_allowlist": ["a.example", "x.b.example"]}}}') \g /dev/null
SELECT is(pg_temp.call('agent:lois', '{"url": "https://b.example"}', 'task:1'), 'no error', 'the request allows the host');
SELECT is(pg_temp.message('agent:lois', '{"url": "https://evil.example/"}', task => 'task:1'), '"agent:lois" may not call "mcp:browser" with the host "evil.example" / The security.policy of the request of task "task:1" does not have that host in its egress_allowlist.', 'it does not allow others');
SELECT is(pg_temp.call('agent:ken', '{"url": "https://x.b.example"}', 'task:2'), '42501 HOST_NOT_ALLOWED /payload/args/url', 'the request of the parent holds for a task without a list');
SELECT is(pg_temp.call('agent:ken', '{"url": "https://x.b.example"}', 'task:3'), '42501 HOST_NOT_ALLOWED /payload/args/url', 'and for one with a wider list');
SELECT is(pg_temp.call('agent:ken', '{"url": "https://a.example"}', 'task:3'), 'no error', 'all of the lists allow the host');
SELECT is((SELECT string_agg(agent_id, ' ') FROM clutch.claim('agent:lois', 9) c, LATERAL (SELECT c.envelope #>> '{security,policy,egress_allowlist,0}' AS agent_id) x), 'a.example', 'claim passes the list on to the runner');
SELECT is((SELECT card #> '{security,egress_allowlist,1}' FROM clutch.agents WHERE agent_id = 'agent:ken'), '"*.b.example"', 'and the card shows its own');
SELECT clutch.rebuild() \g /dev/null
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.task WHERE limits_tools), 'task:1 task:3', 'a rebuild knows whose request has a list');

-- --------------------------------------------------------------------- routing
CREATE FUNCTION pg_temp.verdicts(hosts jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(substr(agent_id, 7) || coalesce(' ' || rejected_by, ''), ', ' ORDER BY agent_id) FROM clutch.explain_route(clutch.envelope('task.request', 'agent:ui',
		security => jsonb_build_object('policy', jsonb_build_object('egress_allowlist', hosts))))
$$;
SELECT is(pg_temp.verdicts('["a.example"]'), 'ken, lois, none network', 'an agent that may reach none of the hosts that a request allows is not a candidate');
SELECT is(pg_temp.verdicts('["x.b.example"]'), 'ken, lois, none network', 'a host may be one of a wildcard of the card');
SELECT is(pg_temp.verdicts('["*.example"]'), 'ken, lois, none network', 'or of the request');
SELECT is(pg_temp.verdicts('["evil.example", "b.example"]'), 'ken network, lois, none network', 'without a host in common');
SELECT is(pg_temp.verdicts('[]'), 'ken, lois, none', 'a request that allows no host needs none');
SELECT is((SELECT detail FROM clutch.explain_route(clutch.envelope('task.request', 'agent:ui', security => '{"policy": {"egress_allowlist": ["evil.example"]}}')) WHERE agent_id = 'agent:ken'),
	'may reach none of the hosts that the request allows', 'explain_route says why');
SELECT fixture.ask('task:4', more => '{"security": {"policy": {"egress_allowlist": ["nowhere.example"]}}}', skill => 'skill:y'), fixture.ask('task:5', more => '{"security": {"policy": {"egress_allowlist": ["a.example"]}}}', skill => 'skill:y') \g /dev/null
SELECT is((SELECT count(DISTINCT kind) FROM clutch.waiting), 2::bigint, 'requests with different hosts wait apart');
SELECT clutch.register(pg_temp.card('agent:kit', '["a.example"]') || '{"capabilities": [{"id": "skill:y"}]}') \g /dev/null
SELECT is(fixture.claimed('agent:kit'), 'task:5 1 new', 'and a new agent gets what it may reach');
SELECT * FROM finish();
