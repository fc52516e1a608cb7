-- Agents that have left the registry: how they have done is kept for a day, and their rows are removed later.
\ir ../fixtures/tap.sql
SELECT plan(15);
SET clutch.notify = off;

-- the agents that have slots, and those of which a sign of life is on record
CREATE FUNCTION pg_temp.kept() RETURNS text LANGUAGE sql AS $$
	SELECT coalesce((SELECT string_agg(DISTINCT agent_id, ' ' ORDER BY agent_id) FROM clutch.agent_slot), 'none') || ' / ' ||
		coalesce((SELECT string_agg(DISTINCT agent_id, ' ' ORDER BY agent_id) FROM clutch.agent_heartbeat), 'none')
$$;
CREATE FUNCTION pg_temp.rate(agent text) RETURNS numeric LANGUAGE sql AS $$ SELECT success_rate::numeric(3, 2) FROM clutch.agents WHERE agent_id = agent $$;

SELECT fixture.at(0), fixture.agent('here'), fixture.agent('gone', 3), fixture.agent('idle') \g /dev/null
SELECT fixture.ask('task:' || i, 'agent:' || who) FROM (VALUES (1, 'here'), (2, 'gone'), (3, 'gone')) AS v(i, who) \g /dev/null
SELECT clutch.claim('agent:here'), clutch.claim('agent:gone', 9) \g /dev/null
SELECT clutch.finish('agent:here', 'task:1'), clutch.fail('agent:gone', 'task:2', 'X', 'x', false), clutch.finish('agent:gone', 'task:3') \g /dev/null
SELECT clutch.unregister('agent:gone'), clutch.unregister('agent:idle') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.kept(), 'agent:gone agent:here / agent:gone agent:here agent:idle', 'a tick leaves what is known of agents that have just left');
SELECT fixture.agent('gone', 3) \g /dev/null
SELECT is(pg_temp.rate('agent:gone'), 0.50, 'an agent that comes back finds how it has done');
SELECT clutch.unregister('agent:gone') \g /dev/null
SELECT fixture.at(86000), clutch.tick() \g /dev/null
SELECT is(pg_temp.kept(), 'agent:gone agent:here / agent:gone agent:here agent:idle', 'within a day');
SELECT fixture.at(90100), clutch.tick() \g /dev/null
SELECT is(pg_temp.kept(), 'agent:here / agent:here', 'after that, its slots and its signs of life are removed, but not those of an agent that is silent');
SELECT fixture.agent('gone', 3) \g /dev/null
SELECT is(pg_temp.rate('agent:gone'), 1.00, 'so it begins anew');
SELECT fixture.ask('task:' || i, 'agent:gone') FROM generate_series(11, 14) i \g /dev/null
SELECT is((SELECT string_agg(t.task_id, ' ' ORDER BY t.task_id) FROM clutch.tasks t WHERE t.status = 'assigned'), 'task:11 task:12 task:13', 'with as many slots as before');

-- an agent whose task does not leave it
SELECT clutch.claim('agent:gone', 1) \g /dev/null
SELECT clutch.unregister('agent:gone') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.agent_slot WHERE agent_id = 'agent:gone' AND task_id IS NOT NULL), 0::bigint, 'its tasks go to others');
INSERT INTO clutch.agent_slot VALUES ('agent:gone', 7, 1000000, 'task:14', 0, 0, 0);
SELECT fixture.at(190000), clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(slot_no || ' ' || task_id, ', ') FROM clutch.agent_slot WHERE agent_id = 'agent:gone'), '7 task:14', 'a slot that a task holds stays');
SELECT is((SELECT count(*) FROM clutch.agent_heartbeat WHERE agent_id = 'agent:gone'), 1::bigint, 'and so does the sign of life');
UPDATE clutch.agent_slot SET task_id = NULL WHERE slot_no = 7;
SELECT fixture.at(191000), clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.agent_slot WHERE agent_id = 'agent:gone'), 1::bigint, 'until the next pass, an hour later');
SELECT fixture.at(194000), clutch.tick() \g /dev/null
SELECT is(pg_temp.kept(), 'agent:here / agent:here', 'which removes them');

-- many slots
INSERT INTO clutch.agent_slot SELECT 'agent:big', n, 1, NULL, 0, 0, 0 FROM generate_series(0, 2499) n;
SELECT fixture.at(198000), clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.agent_slot WHERE agent_id = 'agent:big'), 1500::bigint, 'a tick removes so many');
SELECT fixture.at(198001), clutch.tick(), clutch.tick() \g /dev/null
SELECT is(pg_temp.kept(), 'agent:here / agent:here', 'and the next ones go on');

-- many agents that never had a task
INSERT INTO clutch.agent_heartbeat SELECT 'agent:old' || n, 1, '2026-01-01Z' FROM generate_series(1, 1500) n;
SELECT fixture.at(202000), clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.agent_heartbeat WHERE agent_id LIKE 'agent:old%'), 500::bigint, 'a tick removes so many signs of life');
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.kept(), 'agent:here / agent:here', 'and the next one goes on');
SELECT * FROM finish();
