-- Leases: a claim that finds them expired, reports that renew them, and leases
-- in a copy of the database.
\ir ../fixtures/tap.sql
SELECT plan(11);
SET clutch.notify = off;
SET clutch.default_deadline = 0;
-- -------------------------------------- a claim that finds deadlines passed
SET clutch.heartbeat_interval = 0;
SELECT fixture.at(2000), fixture.agent('dee', 1, '{skill:dee}'), fixture.ask('dee one', NULL, 'skill:dee', '{"deadline": "2026-01-01T12:34:10Z"}'), fixture.claimed('agent:dee', 1, '1 h'),
	fixture.ask('dee two', NULL, 'skill:dee', '{"deadline": "2026-01-01T12:34:20Z"}'), fixture.at(2080) \g /dev/null
SELECT is(fixture.claimed('agent:dee', 2), 'nothing', 'both the running task and the next one are past their deadlines');
SELECT is((SELECT string_agg(task_id, ', ' ORDER BY seq) FROM clutch.events WHERE type = 'task.timeout' AND task_id LIKE 'dee %'), 'dee one, dee two', 'each of them times out once');

-- ------------------------------------ a progress report renews the lease by its length
SELECT fixture.agent('short', 4, '{skill:short}'), fixture.ask('leased', NULL, 'skill:short') \g /dev/null
SELECT fixture.claimed('agent:short', 1, '2 s') \g /dev/null
SELECT clutch.progress('agent:short', 'leased', '{}', 1) \g /dev/null
SELECT cmp_ok(lease_until, '<=', clutch.now() + interval '2 s', 'a progress renews a lease of two seconds by two seconds')
FROM clutch.tasks WHERE task_id = 'leased';

-- ------------------------------ a claim of an agent that has work of its own moves no tasks of others
SELECT fixture.agent('dead', 1, '{skill:dead}'), fixture.ask('abandoned', NULL, 'skill:dead') \g /dev/null
SELECT fixture.claimed('agent:dead', 1, '1 s') \g /dev/null
SELECT fixture.ask('own work', NULL, 'skill:short') \g /dev/null
SELECT fixture.at(9000) \g /dev/null
SELECT is(fixture.claimed('agent:short', 1), 'own work 1 new', 'a claim that finds something ready takes it');
SELECT is(fixture.state('abandoned'), 'running agent:dead 1', 'and moves no task of another agent');
SELECT fixture.claimed('agent:short', 9), fixture.claimed('agent:short', 1) \g /dev/null
SELECT isnt(fixture.state('abandoned'), 'running agent:dead 1', 'a claim that finds nothing does');

-- ------------------------------------------ claiming from a copy of the database
SELECT fixture.agent('restored', 2, '{skill:restored}'), fixture.ask('restored 1', NULL, 'skill:restored'), fixture.ask('restored 2', NULL, 'skill:restored') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.claim('agent:restored', 2, '1 s')), 2::bigint, 'two tasks are claimed');
UPDATE clutch.epoch SET system_identifier = system_identifier - 1;
SELECT fixture.at(9060) \g /dev/null
SELECT is((SELECT count(*) FROM clutch.claim('agent:restored', 2)), 2::bigint, 'the first call in a copy may be a claim that finds expired leases');
UPDATE clutch.epoch SET system_identifier = system_identifier - 1;
SELECT lives_ok($$SELECT clutch.release('agent:restored', 'restored 1', NULL)$$, 'or a release');

-- -------------------------------------- timers that were removed, but that a snapshot may see
SET clutch.heartbeat_interval = 0;
SELECT fixture.at(4000), fixture.agent('eve', 2, '{skill:eve}') \g /dev/null
CREATE VIEW pg_temp.reads AS SELECT pg_stat_get_xact_tuples_returned('clutch.timer_pkey'::regclass) AS n;
BEGIN;
SELECT count(fixture.ask('eve ' || n, NULL, 'skill:none', '{"deadline": "2026-01-01T13:06:45Z"}', run => 'run:eve')) FROM generate_series(1, 1000) n \g /dev/null
SELECT clutch.cancel_run('run:eve'), fixture.at(4100) \g /dev/null
SELECT n AS before FROM pg_temp.reads \gset
SELECT is((SELECT count(c.task_id) FROM generate_series(1, 50) n LEFT JOIN LATERAL clutch.claim('agent:eve', n - n + 1) c ON true), 0::bigint, 'claims find nothing');
SELECT cmp_ok(n - :before, '<=', 20000::bigint, 'and do not each pass over all timers that were removed') FROM pg_temp.reads;
COMMIT;

SELECT * FROM finish();
