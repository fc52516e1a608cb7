-- A parent is told when the children that it waits for are over.
\ir ../fixtures/tap.sql
\ir ../fixtures/family.sql
SELECT plan(26);

SELECT fixture.task('task:p', orders => '{"join": "all"}') \g /dev/null
SELECT fixture.taken('agent:ken', 1) \g /dev/null
SELECT clutch.progress('agent:ken', 'task:p', '{"step": 1}') \g /dev/null
SELECT fixture.task('task:p' || n, 'task:p', whom => 'agent:lois') FROM generate_series(1, 3) n \g /dev/null
SELECT fixture.taken('agent:lois') \g /dev/null
SELECT clutch.finish('agent:lois', 'task:p1'), clutch.fail('agent:lois', 'task:p2', 'TIMEOUT', 'slow') \g /dev/null
SELECT is((SELECT count(*) FROM fixture.moves('task:p', 'joined')), 0::bigint, 'a parent is not told while a child runs and another one is retried');
SELECT clutch.cancel('task:p2'), clutch.finish('agent:lois', 'task:p3') \g /dev/null
SELECT is((SELECT m - 'children' FROM fixture.moves('task:p', 'joined') m), '{"state": "joined", "join": "all", "met": false, "completed": 2, "failed": 1, "open": 0}', 'it is told when all children are over');
SELECT is((SELECT m -> 'children' FROM fixture.moves('task:p', 'joined') m), '{"task:p1": "completed", "task:p2": "cancelled", "task:p3": "completed"}', 'and of each of them');
SELECT is((SELECT to_agents FROM clutch.events WHERE task_id = 'task:p' AND envelope #>> '{meta,clutch,move}' = 'joined'), '{agent:ken}', 'the event is for its agent');
SELECT is(fixture.states('task:p'), 'p running', 'the parent goes on');
SELECT fixture.task('task:p4', 'task:p', whom => 'agent:lois') \g /dev/null
SELECT fixture.taken('agent:lois') \g /dev/null
SELECT clutch.finish('agent:lois', 'task:p4') \g /dev/null
SELECT is((SELECT string_agg(m ->> 'completed', ' ') FROM fixture.moves('task:p', 'joined') m), '2 1', 'children that are requested later are a group of their own');

SELECT fixture.task('task:e1', 'task:e', whom => 'agent:lois'), fixture.task('task:e', orders => '{"join": "all"}'), fixture.task('task:e2', 'task:e', whom => 'agent:lois') \g /dev/null
SELECT clutch.cancel('task:e2') \g /dev/null
SELECT is((SELECT m -> 'children' FROM fixture.moves('task:e', 'joined') m), '{"task:e2": "cancelled"}', 'a child that was requested before its parent must be joined itself');
SELECT clutch.cancel('task:e'), clutch.cancel('task:e1') \g /dev/null

SELECT fixture.task('task:q'), fixture.task('task:q0', 'task:q', whom => 'agent:lois') \g /dev/null
SELECT fixture.task('task:q' || n, 'task:q', '{"join": 2}', 'agent:lois') FROM generate_series(1, 4) n \g /dev/null
SELECT fixture.taken('agent:lois') \g /dev/null
SELECT clutch.finish('agent:lois', 'task:q0'), clutch.finish('agent:lois', 'task:q1'), clutch.fail('agent:lois', 'task:q2', 'E', 'e', false) \g /dev/null
SELECT is((SELECT count(*) FROM fixture.moves('task:q', 'joined')), 0::bigint, 'a child that is not required does not count');
SELECT clutch.finish('agent:lois', 'task:q3') \g /dev/null
SELECT clutch.finish('agent:lois', 'task:q4') \g /dev/null
SELECT is((SELECT string_agg((m - 'children')::text, ' ') FROM fixture.moves('task:q', 'joined') m), '{"met": true, "join": 2, "open": 1, "state": "joined", "failed": 1, "completed": 2}', 'two of four: told once');
SELECT fixture.task('task:s'), fixture.task('task:s1', 'task:s', '{"join": "any"}', 'agent:lois'), fixture.task('task:s2', 'task:s', '{"join": "any"}', 'agent:lois') \g /dev/null
SELECT fixture.taken('agent:lois') \g /dev/null
SELECT clutch.fail('agent:lois', 'task:s1', 'E', 'e', false), clutch.fail('agent:lois', 'task:s2', 'E', 'e', false) \g /dev/null
SELECT is((SELECT m ->> 'met' FROM fixture.moves('task:s', 'joined') m), 'false', 'a parent that waits for any child is told when none is left');

-- a parent is not told while it is over, but when it is revived
SELECT fixture.task('task:v', orders => '{"join": "all"}') \g /dev/null
SELECT fixture.task('task:v' || n, 'task:v', whom => 'agent:lois') FROM generate_series(1, 2) n \g /dev/null
SELECT fixture.taken('agent:ken'), fixture.taken('agent:lois') \g /dev/null
SELECT clutch.fail('agent:ken', 'task:v', 'E', 'e', false) \g /dev/null
SELECT clutch.finish('agent:lois', 'task:v1') \g /dev/null
SELECT clutch.retry('task:v') \g /dev/null
SELECT is((SELECT count(*) FROM fixture.moves('task:v', 'joined')), 0::bigint, 'a revived parent is not told while a child is open');
SELECT clutch.cancel('task:v') \g /dev/null
SELECT clutch.retry('task:v') \g /dev/null
SELECT is((SELECT m - 'children' FROM fixture.moves('task:v', 'joined') m), '{"state": "joined", "join": "all", "met": false, "completed": 1, "failed": 1, "open": 0}', 'a revived parent is told of the children that have ended while it was over');
SELECT fixture.task('task:v3', 'task:v', whom => 'agent:lois') \g /dev/null
SELECT clutch.cancel('task:v') \g /dev/null
SELECT clutch.retry('task:v'), clutch.retry('task:v3') \g /dev/null
SELECT is((SELECT count(*) FROM fixture.moves('task:v', 'joined')), 1::bigint, 'but not of a child that is revived with it');
SELECT fixture.taken('agent:lois') \g /dev/null
SELECT clutch.finish('agent:lois', 'task:v3') \g /dev/null
SELECT is((SELECT string_agg(m ->> 'completed', ' ') FROM fixture.moves('task:v', 'joined') m), '1 1', 'before that one has ended');

-- whoever revives a parent and then its children, each by itself, makes a new group of them
SELECT fixture.task('task:w', orders => '{"join": "all"}') \g /dev/null
SELECT fixture.task('task:w' || n, 'task:w', whom => 'agent:lois') FROM generate_series(1, 3) n \g /dev/null
SELECT clutch.cancel('task:w') \g /dev/null
SELECT clutch.retry('task:w') \g /dev/null
SELECT is((SELECT m - 'children' FROM fixture.moves('task:w', 'joined') m), '{"state": "joined", "join": "all", "met": false, "completed": 0, "failed": 3, "open": 0}', 'a revived parent is told that its children were cancelled');
SELECT clutch.retry('task:w1') \g /dev/null
SELECT clutch.retry('task:w2') \g /dev/null
SELECT fixture.taken('agent:lois') \g /dev/null
SELECT clutch.finish('agent:lois', 'task:w2') \g /dev/null
SELECT is((SELECT count(*) FROM fixture.moves('task:w', 'joined')), 1::bigint, 'while one that was revived afterwards is open, it is not told again');
SELECT clutch.finish('agent:lois', 'task:w1') \g /dev/null
SELECT is((SELECT string_agg(m ->> 'completed', ' ') FROM fixture.moves('task:w', 'joined') m), '0 2', 'when all of them are over, it is');
SELECT is(fixture.rebuilt(), 'the same', 'and a rebuild finds which children count');

-- each of many children that end reads only a few others (counted by what the index fetched)
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:many", "capabilities": [{"id": "skill:many"}], "limits": {"max_concurrency": 999}}') \g /dev/null
SELECT fixture.task('task:many', NULL, '{"join": "all"}', 'agent:many') \g /dev/null
SELECT fixture.task('task:many' || n, 'task:many', NULL, 'agent:many') FROM generate_series(1, 300) n \g /dev/null
SELECT fixture.taken('agent:many', 999) \g /dev/null
CREATE TEMP TABLE fetched AS SELECT pg_stat_get_xact_tuples_fetched('clutch.task_parent_task_id'::regclass) AS n;
SELECT clutch.finish('agent:many', 'task:many' || n) FROM generate_series(1, 200) n \g /dev/null
SELECT cmp_ok((SELECT pg_stat_get_xact_tuples_fetched('clutch.task_parent_task_id'::regclass) - n FROM fetched), '<', 25000::bigint, '200 of 300 children end, and none of them reads all the others');
SELECT clutch.finish('agent:many', 'task:many' || n) FROM generate_series(201, 300) n \g /dev/null
SELECT is((SELECT ROW(m ->> 'completed', m ->> 'open')::text FROM fixture.moves('task:many', 'joined') m), '(300,0)', 'the last one tells of all');

-- --------------------------------------- a parent that was never requested
SET clutch.heartbeat_interval = 0;
SELECT fixture.at(0), fixture.agent('able', 9, '{skill:able}') \g /dev/null
SELECT fixture.ask('able leased', NULL, 'skill:able', '{"join": "all"}', 'nowhere', 'run:able'),
	fixture.ask('able late', NULL, 'skill:nobody', '{"join": "all", "deadline": "2026-01-01T12:00:20Z"}', 'nowhere', 'run:able') \g /dev/null
SELECT is(fixture.claimed('agent:able', 1, '10 s'), 'able leased 1 new', 'the child of a parent that was never requested can be claimed');
SELECT fixture.at(11), clutch.tick() \g /dev/null
SELECT is(fixture.claimed('agent:able', 1, '10 s'), 'able leased 2 moved', 'it is handed out again when its lease has expired');
SELECT fixture.at(21), clutch.tick() \g /dev/null
SELECT is(fixture.states('able late'), 'able late timed_out DEADLINE_EXCEEDED', 'its deadline ends it');
SELECT fixture.ask('able ready', NULL, 'skill:able', '{"join": "all", "deadline": "2026-01-01T12:00:30Z"}', 'nowhere', 'run:able') \g /dev/null
SELECT fixture.at(31) \g /dev/null
SELECT is(fixture.claimed('agent:able', 2, '1 h'), 'able leased 3 moved', 'also if it was ready when its agent claims');
SELECT is(fixture.states('able ready'), 'able ready timed_out DEADLINE_EXCEEDED', 'after the deadline');

SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
