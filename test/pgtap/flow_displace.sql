-- Ready work holds no slot against more urgent work (spec 003, 8.1; DESIGN 3).
\ir ../fixtures/tap.sql
SELECT plan(30);
SET clutch.notify = off;
SET clutch.aging = 0;

CREATE FUNCTION pg_temp.ask(task text, p integer, skill text DEFAULT 'skill:x', orders jsonb DEFAULT '{}') RETURNS void LANGUAGE sql AS
$$ SELECT fixture.ask(task, skill => skill, orders => orders || jsonb_build_object('priority', p)) $$;
CREATE FUNCTION pg_temp.where_are() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', task_id, coalesce(agent_id, waiting_for, status)), ', ' ORDER BY task_id) FROM clutch.tasks WHERE finished_at IS NULL
$$;

SELECT fixture.at(0), fixture.agent('ken') \g /dev/null
SELECT pg_temp.ask('a0', 0) \g /dev/null
SELECT pg_temp.ask('a4', 4) \g /dev/null
SELECT is(pg_temp.where_are(), 'a0 capacity, a4 agent:ken', 'a critical task takes the place of a batch task that nobody has begun');
SELECT is(fixture.state('a0'), 'pending 2', 'which is pending again, with another attempt');
SELECT is((SELECT concat_ws(' ', reason, code, detail) FROM clutch.task WHERE task_id = 'a0'), 'new NO_CAPACITY task "a4" of priority 4 has taken its place', 'as new as it was, and it says why');
SELECT is((SELECT string_agg(m - 'since' - 'message' #>> '{}', ' ') FROM fixture.moves('a0', 'displaced') m),
	'{"was": 0, "state": "displaced", "because": "a4", "agent_id": "agent:ken", "priority": 4}', 'an event records it');
SELECT is((SELECT string_agg(type, ' ' ORDER BY seq) FROM clutch.events WHERE task_id = 'a0'), 'task.request routing.decision task.progress', 'and no other does');
SELECT is((SELECT late FROM clutch.report('agent:ken', 'a0', 'task.accept', attempt => 1)), true, 'the agent that had it does not have it any more');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT is(fixture.claimed('agent:ken'), 'a4 1 new', 'the critical task is claimed');
SELECT pg_temp.ask('a3', 3) \g /dev/null
SELECT is(pg_temp.where_are(), 'a0 capacity, a3 capacity, a4 agent:ken', 'what an agent works at keeps its slot');
SELECT clutch.finish('agent:ken', 'a4') \g /dev/null
SELECT is(fixture.claimed('agent:ken'), 'a3 1 new', 'the more urgent of those that wait gets the slot');
SELECT clutch.finish('agent:ken', 'a3') \g /dev/null
SELECT is(fixture.claimed('agent:ken'), 'a0 2 new', 'then the displaced one');
SELECT clutch.finish('agent:ken', 'a0', attempt => 2) \g /dev/null

-- ---------------------------------------------------------- which one yields
SELECT fixture.agent('ken', 4) \g /dev/null
SELECT pg_temp.ask('b' || p || n, p) FROM unnest('{2,1}'::int[]) p, generate_series(1, 2) n \g /dev/null
SELECT pg_temp.ask('c4', 4) \g /dev/null
SELECT is(pg_temp.where_are(), 'b11 agent:ken, b12 capacity, b21 agent:ken, b22 agent:ken, c4 agent:ken', 'the lowest priority yields first, and the last of those');
SELECT pg_temp.ask('c2', 2) \g /dev/null
SELECT is(pg_temp.where_are(), 'b11 capacity, b12 capacity, b21 agent:ken, b22 agent:ken, c2 agent:ken, c4 agent:ken', 'normal work displaces low work');
SELECT pg_temp.ask('d2', 2) \g /dev/null
SELECT is((SELECT concat_ws(' ', status, code) FROM clutch.tasks WHERE task_id = 'd2'), 'pending NO_CAPACITY', 'but no work of its own priority');
SELECT is(fixture.claimed('agent:ken'), 'c4 1 new, b21 1 new, b22 1 new, c2 1 new', 'what is ready is claimed');
SELECT clutch.finish('agent:ken', t) FROM unnest('{c4,b21,b22,c2}'::text[]) t \g /dev/null
SELECT is(fixture.claimed('agent:ken'), 'd2 1 new, b11 2 new, b12 2 new', 'then what waits, in the old order');
SELECT clutch.finish('agent:ken', t) FROM unnest('{d2,b11,b12}'::text[]) t \g /dev/null

-- the place: e1 waited before e2, and keeps that when it has had a slot meanwhile
SELECT fixture.agent('ken', 1) \g /dev/null
SELECT pg_temp.ask('e0', 2) \g /dev/null
SELECT fixture.claimed('agent:ken') \g /dev/null
SELECT pg_temp.ask('e' || n, 1) FROM generate_series(1, 3) n \g /dev/null
SELECT clutch.finish('agent:ken', 'e0') \g /dev/null
SELECT pg_temp.ask('f4', 4) \g /dev/null
SELECT is(pg_temp.where_are(), 'e1 capacity, e2 capacity, e3 capacity, f4 agent:ken', 'the task that had waited is displaced');
SELECT fixture.rebuilt() AS rebuilt \gset
SELECT is(:'rebuilt'::text, 'the same', 'rebuild finds the same');
SELECT is(fixture.claimed('agent:ken'), 'f4 1 new', 'the critical task is done');
SELECT clutch.finish('agent:ken', 'f4') \g /dev/null
SELECT is(fixture.claimed('agent:ken'), 'e1 2 new', 'the displaced task has kept its place, also after a rebuild');
SELECT clutch.finish('agent:ken', 'e1') \g /dev/null
SELECT pg_temp.ask('f5', 4) \g /dev/null
SELECT is(fixture.claimed('agent:ken'), 'f5 1 new', 'the next one is displaced');
SELECT clutch.finish('agent:ken', 'f5') \g /dev/null
SELECT is(fixture.claimed('agent:ken') , 'e2 2 new', 'and comes back first');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null

-- ---------------------------------------------------- who is displaced moves on
SELECT fixture.agent('lois', 1, '{skill:x,skill:y}'), fixture.agent('ken', 1, '{skill:y}') \g /dev/null
SELECT pg_temp.ask('g1', 1, 'skill:y') \g /dev/null
SELECT pg_temp.ask('g2', 2, 'skill:y') \g /dev/null
SELECT pg_temp.ask('g4', 4, 'skill:x') \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', task_id, coalesce(agent_id, waiting_for)), ', ' ORDER BY task_id) FROM clutch.tasks WHERE finished_at IS NULL),
	'g1 capacity, g2 agent:ken, g4 agent:lois', 'one displaces the next, and the least urgent waits');
SELECT clutch.cancel('g2') \g /dev/null
SELECT is((SELECT agent_id FROM clutch.tasks WHERE task_id = 'g1'), 'agent:ken', 'until there is room');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null

-- ------------------------------------------------------------ aging and lifting
SET clutch.aging = '100 s';
SELECT fixture.at(1000), fixture.agent('ken', 1), clutch.set_status('agent:lois', 'STOPPED') \g /dev/null
SELECT pg_temp.ask('h1', 1) \g /dev/null
SELECT fixture.at(1150) \g /dev/null
SELECT pg_temp.ask('h2', 2) \g /dev/null
SELECT is(pg_temp.where_are(), 'h1 agent:ken, h2 capacity', 'a task that has aged until it counts as much does not yield');
SELECT pg_temp.ask('h4', 4) \g /dev/null
SELECT is((SELECT agent_id FROM clutch.tasks WHERE task_id = 'h4'), 'agent:ken', 'but to critical work');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null
SELECT pg_temp.ask('i2', 2) \g /dev/null
SELECT pg_temp.ask('i1', 1) \g /dev/null
SELECT pg_temp.ask('i4', 4, orders => '{"after": ["i1"]}') \g /dev/null
SELECT is(pg_temp.where_are(), 'i1 agent:ken, i2 capacity, i4 sibling', 'a task that is lifted displaces as well');
SELECT is((SELECT string_agg(concat_ws(' ', task_id, asked_priority, priority), ', ' ORDER BY task_id) FROM clutch.tasks WHERE finished_at IS NULL),
	'i1 1 4, i2 2 2, i4 4 4', 'clutch.tasks shows the priority that was asked beside the one that counts');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
