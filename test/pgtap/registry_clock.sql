-- Signs of life from the future: the clock was set back after they were written.
\ir ../fixtures/tap.sql
SELECT plan(8);
SET clutch.notify = off;

CREATE FUNCTION pg_temp.at(s text) RETURNS text LANGUAGE sql AS
$$ SELECT set_config('clutch.clock', to_char('2026-03-01'::timestamp + s::interval, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false) $$;
CREATE FUNCTION pg_temp.card(name text) RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name,
		'capabilities', jsonb_build_array(jsonb_build_object('id', 'skill:x')), 'limits', '{"heartbeat_sec": 10}'::jsonb)) $$;
CREATE FUNCTION pg_temp.seen(name text) RETURNS interval LANGUAGE sql AS
$$ SELECT last_seen - '2026-03-01 00:00:00Z'::timestamptz FROM clutch.agents WHERE agent_id = 'agent:' || name $$;
CREATE FUNCTION pg_temp.status(name text) RETURNS text LANGUAGE sql AS
$$ SELECT status FROM clutch.agents WHERE agent_id = 'agent:' || name $$;

SELECT pg_temp.at('1 day') \g /dev/null
SELECT pg_temp.card('alive'), pg_temp.card('dead') \g /dev/null
SELECT clutch.heartbeat('agent:alive'), clutch.heartbeat('agent:dead') \g /dev/null
SELECT is(pg_temp.seen('alive'), interval '1 day', 'an agent was seen tomorrow');

-- ----------------------------------------------------- the clock is set back
SELECT pg_temp.at('0') \g /dev/null
SELECT clutch.heartbeat('agent:alive') \g /dev/null
SELECT is(pg_temp.seen('alive'), interval '0', 'its next sign of life replaces the one from the future');
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.seen('dead'), interval '0', 'of an agent that is silent, a tick does: it counts as seen now');
SELECT is(pg_temp.status('dead'), 'READY', 'and is not given up at once');

SELECT pg_temp.at('20 s'), clutch.heartbeat('agent:alive'), clutch.tick() \g /dev/null
SELECT is(pg_temp.status('dead'), 'READY', 'but its silence counts from there');
SELECT pg_temp.at('31 s'), clutch.tick() \g /dev/null
SELECT is(pg_temp.status('dead'), 'UNAVAILABLE', 'until it is taken for dead');
SELECT is(pg_temp.status('alive'), 'READY', 'the other one is not');
SELECT is((SELECT count(*) FROM clutch.agent_heartbeat), 2::bigint, 'and each agent has one sign of life');
SELECT * FROM finish();
