-- Agents behind an endpoint make no calls here, so nothing but the endpoint says that they can take work.
\ir ../fixtures/tap.sql
SELECT plan(47);
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

-- given to the agent by a transaction that did not see the endpoint
CREATE FUNCTION fixture.pending(name text) RETURNS bigint LANGUAGE sql AS
$$ SELECT count(*) FROM clutch.outbox o WHERE o.agent_id = 'agent:' || name AND o.state = 'pending' $$;
SELECT fixture.agent('unseen', 9, '{skill:unseen}');
SELECT fixture.ask('task:unseen-' || n, skill => 'skill:unseen') FROM generate_series(1, 3) AS n;
ALTER TABLE clutch.endpoint DISABLE TRIGGER USER;
SELECT fixture.serve('unseen');
ALTER TABLE clutch.endpoint ENABLE ALWAYS TRIGGER check_endpoint, ENABLE ALWAYS TRIGGER endpoints_changed;
SELECT is(fixture.state('task:unseen-1'), 'assigned agent:unseen 1', 'a task is ready for an agent whose endpoint was not seen');
SELECT fixture.at(2080);
SET clutch.tick_batch = 2;
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.pending('unseen'), 2::bigint, 'the next tick writes its call');
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.pending('unseen'), 3::bigint, 'and the one after that goes on where that had to stop');
RESET clutch.tick_batch;

-- --------------------------------------------------------------------- what is paused
SELECT fixture.agent('held', 9, '{skill:held, skill:other}');
SELECT fixture.ask('task:held', skill => 'skill:held'), fixture.ask('task:other', skill => 'skill:other');
SELECT clutch.pause('agent:held');
SELECT fixture.serve('held');
SELECT is(fixture.pending('held'), 0::bigint, 'no call is written for an agent that is paused');
SELECT fixture.at(2120);
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.pending('held'), 0::bigint, 'nor by a tick');
SELECT clutch.pause('skill:held');
SELECT clutch.resume('agent:held');
SELECT is(fixture.state('task:other'), 'running agent:held 1', 'when it is resumed, its tasks are called');
SELECT is(fixture.state('task:held'), 'assigned agent:held 1', 'except those that require a capability that is paused');
SELECT clutch.resume('skill:held');
SELECT is(fixture.state('task:held'), 'running agent:held 1', 'until that is resumed, too');
SELECT is(fixture.pending('held'), 2::bigint, 'each of them has one call');
-- more than are looked at in one transaction
SELECT fixture.agent('many', 2000, '{skill:many, skill:few}');
SELECT count(fixture.ask('task:many' || n, skill => 'skill:many')) FROM generate_series(1, 1100) n;
SELECT fixture.ask('task:few', skill => 'skill:few');
SELECT clutch.pause('skill:many');
SELECT fixture.serve('many');
SELECT is(fixture.state('task:few'), 'running agent:many 1', 'tasks that have to wait hold up no other, however many they are');
SELECT is(fixture.pending('many'), 1::bigint, 'and have no call');

-- ------------------------------------------------- calls that no gateway has claimed
SELECT fixture.at(10000);
SELECT fixture.agent('still', 9, '{skill:still}'), fixture.agent('brief', 9, '{skill:brief}', '{"max_runtime_sec": 50}');
SELECT fixture.serve('still'), fixture.serve('brief');
UPDATE clutch.endpoint SET paused = true WHERE name = 'still';
SELECT fixture.ask('task:still', skill => 'skill:still'), fixture.ask('task:brief', skill => 'skill:brief');
SELECT fixture.ask('task:ends', skill => 'skill:still', orders => '{"deadline": "2026-01-01T15:00:00Z"}');
-- more often than a task may lose its lease
SELECT format('SELECT fixture.at(%s)', 10000 + 101 * n), 'SELECT clutch.tick()' FROM generate_series(1, 14) AS n \gexec
SELECT is(fixture.state('task:still'), 'running agent:still 1', 'an endpoint that is paused for long costs a task no lease');
SELECT is(fixture.state('task:brief'), 'running agent:brief 1', 'nor does a gateway that is away, nor the time that the task may run');
SELECT is(fixture.pending('still') + fixture.pending('brief'), 2::bigint, 'and each of them has one call');
SELECT is(fixture.state('task:ends'), 'timed_out agent:still 1', 'a deadline passes all the same');
CREATE FUNCTION fixture.stuck() RETURNS text LANGUAGE sql AS
$$ SELECT fixture.rows_of('SELECT task_id, problem, hint FROM clutch.stuck WHERE problem = ''endpoint paused''') $$;
SELECT is(fixture.stuck(), '(task:still,"endpoint paused","Nothing is sent to endpoint still: UPDATE clutch.endpoint SET paused = false, or cancel the task.")',
	'a task that waits for an endpoint that is paused is listed as stuck');
CREATE ROLE clutch_test_still;
CREATE ROLE clutch_test_elsewhere;
GRANT USAGE ON SCHEMA fixture TO clutch_test_still, clutch_test_elsewhere;
SELECT clutch.grant_agent('clutch_test_still', 'agent:still'), clutch.grant_agent('clutch_test_elsewhere', 'agent:other');
SET ROLE clutch_test_still;
SELECT matches(fixture.stuck(), '^.task:still,', 'its own role sees it, too, without the right to read endpoints');
SET ROLE clutch_test_elsewhere;
SELECT is(fixture.stuck(), 'no rows', 'and another agent does not');
RESET ROLE;
UPDATE clutch.endpoint SET paused = false WHERE name = 'still';
SELECT fixture.at(11500);
SELECT is((SELECT string_agg(o.task_id, ' ' ORDER BY o.task_id) FROM clutch.outbox_claim(9, '1 h') JOIN clutch.outbox o USING (id) WHERE o.agent_id IN ('agent:still', 'agent:brief')),
	'task:brief task:still', 'then they are handed out');
SELECT is(fixture.stuck(), 'no rows', 'and none is stuck');
UPDATE clutch.endpoint SET paused = true WHERE name = 'still';
SELECT is(fixture.stuck(), 'no rows', 'nor if the endpoint is paused when a gateway has the call');
UPDATE clutch.endpoint SET paused = false WHERE name = 'still';
SELECT is(fixture.rows_of($$SELECT fixture.since_noon(lease_until), fixture.since_noon(wake_at) FROM clutch.task WHERE task_id IN ('task:brief', 'task:still') ORDER BY task_id$$),
	E'(11550.000,11550.000)\n(11600.000,)', 'and the patience of the endpoint begins, as does the time that they may run');
SELECT fixture.at(11549);
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(clutch.outbox_done(o.id, o.attempt, 200, response => '{"n": 1}'), ' ') FROM clutch.outbox o WHERE o.task_id IN ('task:brief', 'task:still') AND o.state = 'pending'),
	'sent sent', 'so there is time for the answers');
SELECT is(fixture.state('task:still') || ', ' || fixture.state('task:brief'), 'completed agent:still 1, completed agent:brief 1', 'which end the tasks');
-- once a gateway has claimed it, a task can lose its lease
SELECT fixture.ask('task:taken', skill => 'skill:still');
SELECT count(*) FROM clutch.outbox_claim(9, '10 s');
SELECT fixture.at(11651);
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.state('task:taken'), 'running agent:still 2', 'a task whose call was claimed can lose its lease');
-- an endpoint that is gone has left its calls behind
DELETE FROM clutch.endpoint WHERE name = 'still';
INSERT INTO clutch.endpoint (name, url, serves) VALUES ('moved', 'https://still.example', 'agent:still');
SELECT fixture.at(11752);
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.state('task:taken'), 'running agent:still 3', 'so can one whose call waits for an endpoint that was deleted');
SELECT is((SELECT string_agg(o.endpoint || ' ' || o.task_attempt, ', ' ORDER BY o.no) FROM clutch.outbox o WHERE o.task_id = 'task:taken'), 'still 1, still 2, moved 3',
	'and gets a call to the new one');
-- another agent could do it
SELECT fixture.agent('one', 9, '{skill:shared}');
SELECT fixture.serve('one');
SELECT fixture.ask('task:shared', skill => 'skill:shared'), fixture.ask('task:named', 'agent:one', skill => 'skill:shared');
SELECT fixture.agent('two', 1, '{skill:shared}');
SELECT fixture.at(11853);
SELECT clutch.heartbeat('agent:two') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.state('task:shared'), 'assigned agent:two 2', 'a task whose call is not sent goes to another agent that can do it');
SELECT is(fixture.state('task:named'), 'running agent:one 1', 'unless it is for this agent');
SELECT is(fixture.claimed('agent:two', 9, '10 s'), 'task:shared 2 moved', 'which claims it');
SELECT fixture.ask('task:more', skill => 'skill:shared');
SELECT fixture.at(11864);
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.state('task:shared'), 'running agent:one 3', 'and loses it');
SELECT is(fixture.claimed('agent:two', 9, '1 h'), 'nothing', 'while it is busy');
SELECT fixture.at(11965);
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.state('task:shared'), 'running agent:one 3', 'no agent gets it twice in this way');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');

RESET ROLE;
DROP OWNED BY clutch_test_still, clutch_test_elsewhere;
DROP ROLE clutch_test_still, clutch_test_elsewhere;
SELECT * FROM finish();
