-- Agents behind an endpoint make no calls here, so nothing but the endpoint says that they can take work.
\ir ../fixtures/tap.sql
SELECT plan(13);
SET clutch.notify = off;
CREATE FUNCTION fixture.status(name text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', a.status, a.reason) FROM clutch.agents a WHERE a.agent_id = 'agent:' || name $$;
CREATE FUNCTION fixture.serve(name text) RETURNS void LANGUAGE sql AS $$
	INSERT INTO clutch.endpoint (name, url, serves, patience_s) VALUES (name, 'https://far.example', 'agent:' || name, 100)
$$;

-- ------------------------------------------------- a gateway that is away for long
SELECT fixture.at(0);
SELECT fixture.agent('far', 9, '{skill:far}');
SELECT fixture.serve('far');
SELECT fixture.ask('task:' || n, skill => 'skill:far') FROM generate_series(1, 4) AS n;
SELECT is((SELECT count(*) FROM clutch.outbox_claim(9, '10 s')), 4::bigint, 'a gateway has four calls, and dies');
SELECT fixture.at(101);
SELECT is(clutch.tick() ->> 'expired', '4', 'the leases of the tasks end');
SELECT is(fixture.status('far'), 'READY', 'and their agent can still take work, for it will never claim any');
SELECT is(fixture.state('task:1'), 'running agent:far 2', 'so they are tried again');
SELECT is((SELECT string_agg(clutch.outbox_done(c.id, c.attempt, 200, response => '{"n": 1}'), ' ') FROM clutch.outbox_claim(9, '10 s') AS c), 'sent sent sent sent', 'by calls of their own');
SELECT is(fixture.rows_of($$SELECT DISTINCT status FROM clutch.tasks$$), '(completed)', 'which are answered');

-- ---------------------------------------------- an endpoint that comes after the silence
SELECT fixture.agent('late', 2, '{skill:late}');
SELECT fixture.ask('task:late', skill => 'skill:late', run => 'run:late');
SELECT fixture.agent('away', 1, '{skill:away}');
SELECT clutch.set_status('agent:away', 'UNAVAILABLE', 'a holiday');
SELECT fixture.at(1000);
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.status('late'), 'UNAVAILABLE it was not heard of since 2026-01-01T12:01:41.000000Z', 'an agent has fallen silent');
SELECT is(fixture.state('task:late'), 'pending 2', 'and its task waits');
SELECT fixture.serve('late'), fixture.serve('away');
SELECT is(fixture.status('late'), 'READY an endpoint serves it', 'with an endpoint it need not be heard of');
SELECT is(fixture.state('task:late'), 'running agent:late 2', 'and has its task');
SELECT is(fixture.status('away'), 'UNAVAILABLE a holiday', 'what an agent has said itself stays');

-- declared lost by a transaction that did not see the endpoint
UPDATE clutch.endpoint SET paused = false, serves = NULL WHERE name = 'far';
SELECT fixture.at(2000);
SELECT clutch.tick() \g /dev/null
SELECT is(split_part(fixture.status('far'), ' ', 1), 'UNAVAILABLE', 'an agent without an endpoint falls silent');
ALTER TABLE clutch.endpoint DISABLE TRIGGER USER;
UPDATE clutch.endpoint SET serves = 'agent:far' WHERE name = 'far';
ALTER TABLE clutch.endpoint ENABLE ALWAYS TRIGGER check_endpoint, ENABLE ALWAYS TRIGGER endpoints_changed;
SELECT fixture.at(2040);
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.status('far'), 'READY an endpoint serves it', 'the next look at the agents takes it back');

SELECT * FROM finish();
