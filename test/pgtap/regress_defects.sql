-- Defects that were found by attacking a live server, one test each, so that
-- they stay mended.
\set QUIET on
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS clutch;
SELECT no_plan();

CREATE FUNCTION pg_temp.agent(id text, capability text, most int DEFAULT 1) RETURNS void
VOLATILE LANGUAGE sql AS $$
	SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', id,
		'capabilities', jsonb_build_array(jsonb_build_object('id', capability)),
		'limits', jsonb_build_object('max_concurrency', most)))
$$;

CREATE FUNCTION pg_temp.request(task text, capability text, more jsonb DEFAULT '{}') RETURNS void
VOLATILE LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('task.request', 'agent:client', run_id => 'run:defects',
		thread_id => 'thread:defects', task_id => task, requires => ARRAY[capability]) || more)
$$;

CREATE FUNCTION pg_temp.status(task text) RETURNS text VOLATILE LANGUAGE sql AS $$
	SELECT concat_ws(' ', status, agent_id) FROM clutch.tasks WHERE task_id = task
$$;

-- -------------------------------- an agent.update routes what waited for it
SELECT pg_temp.agent('agent:late', 'defect:old');
SELECT pg_temp.request('updated', 'defect:new');
SELECT is(pg_temp.status('updated'), 'pending', 'nobody has the capability');
SELECT clutch.send(clutch.envelope('agent.update', 'agent:late', run_id => 'run:agents',
	thread_id => 'thread:agents', task_id => 'task:agents',
	payload => '{"agent_id": "agent:late", "capabilities": [{"id": "defect:new"}]}'));
SELECT is(pg_temp.status('updated'), 'assigned agent:late', 'the update that brings it routes the task at once');

-- --------------------------------------------- a number is a number in a card
SELECT lives_ok($$SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:decimal",
	"capabilities": [{"id": "defect:decimal"}], "limits": {"max_concurrency": 2.0}}')$$, 'a limit of 2.0');
SELECT is(max_concurrency, 2, 'and the view of all agents can still be read')
FROM clutch.agents WHERE agent_id = 'agent:decimal';

-- ------------------------------------------ the first instant of 2000 is a time
SELECT pg_temp.request('millennium', 'defect:nobody', '{"meta": {"clutch": {"deadline": "2000-01-01T00:00:00Z"}}}');
SELECT clutch.tick();
SELECT is(pg_temp.status('millennium'), 'timed_out', 'a deadline in the first instant of 2000 has passed');

-- ------------------- a limit that was lowered takes no requirement off a request
SELECT pg_temp.request('strict', 'defect:one', '{"requires": ["defect:one", "defect:two", "defect:three"]}');
SET LOCAL clutch.max_list = 1;
SELECT pg_temp.agent('agent:unfit', 'defect:none');
SELECT clutch.tick();
SELECT is(pg_temp.status('strict'), 'pending', 'who has nothing of what is required does not get it');
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:reader", "capabilities": [{"id": "defect:last"}]}');
RESET clutch.max_list;
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:both", "capabilities": [{"id": "defect:left"}, {"id": "defect:right"}]}');
SET LOCAL clutch.max_list = 1;
SELECT clutch.set_status('agent:reader', 'STOPPING');	-- the registry is read anew
SELECT is(clutch.agents_meeting('{defect:right}'), '{agent:both}', 'nor work off an agent whose card has more');
RESET clutch.max_list;

-- --------------------------------------- a restored copy can be claimed from
SELECT pg_temp.agent('agent:restored', 'defect:restored', 2);
SELECT pg_temp.request('restored 1', 'defect:restored'), pg_temp.request('restored 2', 'defect:restored');
SELECT is((SELECT count(*) FROM clutch.claim('agent:restored', 2, '1 s')), 2::bigint, 'two leases');
UPDATE clutch.epoch SET system_identifier = system_identifier - 1;
SELECT set_config('clutch.clock', to_char(clock_timestamp() AT TIME ZONE 'UTC' + interval '1 minute',
	'YYYY-MM-DD"T"HH24:MI:SS"Z"'), true);
SELECT is((SELECT count(*) FROM clutch.claim('agent:restored', 2)), 2::bigint,
	'the first call in a copy may be a claim that finds expired leases');
SELECT set_config('clutch.clock', '', true);
UPDATE clutch.epoch SET system_identifier = system_identifier - 1;
SELECT lives_ok($$SELECT clutch.release('agent:restored', 'restored 1', NULL)$$, 'or a release');

-- ------------------------------------------- an error leaves no guard behind
SAVEPOINT failing;
SELECT throws_ok($$SELECT clutch.send_batch(ARRAY[clutch.envelope('chat.message', 'agent:client',
	id => 'msg_guarded', run_id => 'run:defects', idempotency_key => 'guarded'), '{}'])$$, 'KL001', NULL,
	'a batch with a bad row');
SELECT is((SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
		   AND objsubid = 19276), 0::bigint, 'holds nothing after its error was caught');
ROLLBACK TO failing;

-- --------------------------- what somebody adds to the tables does not crash us
SAVEPOINT ddl;
CREATE INDEX defect_expression ON clutch.task (lower(task_id));
SELECT throws_ok($$SELECT pg_temp.request('indexed', 'defect:nobody')$$, '0A000', NULL, 'an index over an expression');
ROLLBACK TO ddl;
CREATE INDEX defect_partial ON clutch.task (run_id) WHERE finished_at IS NULL;
SELECT throws_ok($$SELECT pg_temp.request('indexed', 'defect:nobody')$$, '0A000', NULL, 'an index with a condition');
ROLLBACK TO ddl;
CREATE INDEX defect_plain ON clutch.task (agent_id);
SELECT lives_ok($$SELECT pg_temp.request('indexed', 'defect:nobody')$$, 'an index over a column is welcome');
ROLLBACK TO ddl;
ALTER TABLE clutch.task ADD COLUMN note text;
SELECT throws_ok($$SELECT pg_temp.request('noted', 'defect:nobody')$$, '42804', NULL, 'a column of somebody else');
ALTER TABLE clutch.task DROP COLUMN note;
SELECT lives_ok($$SELECT pg_temp.request('noted', 'defect:nobody')$$, 'and one that was dropped again');
SELECT lives_ok($$SELECT clutch.cancel('noted')$$, 'whose rows are read as before');
ALTER TABLE clutch.events ADD COLUMN note text;
SELECT throws_ok($$SELECT pg_temp.request('logged', 'defect:nobody')$$, '42804', NULL, 'one of the log');
ALTER TABLE clutch.events DROP COLUMN note;
SELECT lives_ok($$SELECT pg_temp.request('logged', 'defect:nobody')$$, 'which goes on without it');
SELECT lives_ok($$SELECT clutch.rebuild()$$, 'and is read');
ROLLBACK TO ddl;

-- ------------------------------------------------- deep chains cost no walk
SELECT pg_temp.request('chain 1', 'defect:nobody');
SELECT count(clutch.send(clutch.envelope('task.request', 'agent:client', run_id => 'run:defects',
	thread_id => 'thread:defects', task_id => 'chain ' || i, parent_task_id => 'chain ' || i - 1,
	requires => '{defect:nobody}'))) FROM generate_series(2, 300) i;
SELECT is((SELECT depth FROM clutch.task WHERE task_id = 'chain 300'), 299, 'a task below known ones knows its depth');
SELECT pg_temp.request('orphan 2', 'defect:nobody', '{"parent_task_id": "orphan 1"}');
SELECT pg_temp.request('orphan 3', 'defect:nobody', '{"parent_task_id": "orphan 2"}');
SELECT cmp_ok((SELECT depth FROM clutch.task WHERE task_id = 'orphan 3'), '<', 0, 'one below an unknown one does not');
SELECT throws_ok($$SELECT pg_temp.request('orphan 1', 'defect:nobody', '{"parent_task_id": "orphan 3"}')$$,
	'KL004', NULL, 'so there the walk finds the cycle');

-- ------------------------ a tick asks each kind once more only where it led on
SELECT pg_temp.request('urgent', 'defect:shared', '{"meta": {"clutch": {"priority": 4}}, "prefers": ["tag:a"]}'),
	   pg_temp.request('calm', 'defect:shared', '{"meta": {"clutch": {"priority": 0}}, "prefers": ["tag:b"]}');
SELECT pg_temp.agent('agent:shared', 'defect:shared', 0);
UPDATE clutch.agent_registry SET card = jsonb_set(card, '{limits,max_concurrency}', '1')
WHERE agent_id = 'agent:shared';
SELECT clutch.join_group('group:defects', 'agent:shared');
SELECT clutch.tick();
SELECT is(pg_temp.status('urgent') || ', ' || pg_temp.status('calm'), 'assigned agent:shared, pending',
	'of two kinds the more urgent head is routed first');

-- ---------------------- a parent that is requested after its child, elsewhere
SELECT pg_temp.request('early child', 'defect:nobody', '{"parent_task_id": "late parent"}');
SELECT throws_ok($$SELECT pg_temp.request('late parent', 'defect:nobody', '{"run_id": "run:elsewhere"}')$$,
	'KL004', NULL, 'a parent does not come in another run than its child');
SELECT lives_ok($$SELECT pg_temp.request('late parent', 'defect:nobody')$$, 'but in the same');

-- ------------------------- a progress renews the lease by its claimed length
SELECT pg_temp.agent('agent:short', 'defect:short', 4);
SELECT pg_temp.request('leased', 'defect:short');
SELECT count(*) FROM clutch.claim('agent:short', 1, '2 s');
SELECT clutch.progress('agent:short', 'leased', '{}', 1);
SELECT cmp_ok(lease_until, '<=', clutch.now() + interval '2 s', 'two seconds stay two seconds')
FROM clutch.tasks WHERE task_id = 'leased';

-- ------------------------- who has work of its own leaves others' leases alone
SELECT pg_temp.agent('agent:dead', 'defect:dead');
SELECT pg_temp.request('abandoned', 'defect:dead');
SELECT count(*) FROM clutch.claim('agent:dead', 1, '1 s');
SELECT pg_temp.request('own work', 'defect:short');
SELECT set_config('clutch.clock', to_char((now() + interval '1 hour') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), true);
SELECT is((SELECT string_agg(task_id, ',') FROM clutch.claim('agent:short', 1)), 'own work', 'a claim with something ready takes it');
SELECT is(pg_temp.status('abandoned'), 'running agent:dead', 'and moves nobody else''s task');
SELECT count(*) FROM clutch.claim('agent:short', 1);
SELECT isnt(pg_temp.status('abandoned'), 'running agent:dead', 'one that finds nothing does');

-- ---------------- a parallel query takes no newer snapshot for the leader either
CREATE TABLE many AS SELECT 'task:' || i AS id FROM generate_series(1, 10000) i;
ANALYZE many;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT lives_ok(format('SELECT %s FROM many LIMIT 1', call), call)
FROM unnest(ARRAY[$$clutch.envelope('chat.message', id, parent_task_id => 'own work')$$,
	$$clutch.from_legacy(jsonb_build_object('type', 'BLOCKER', 'task_id', id))$$,
	$$clutch.position() || id$$,
	$$clutch.read_from('beginning', jsonb_build_object('agent', id))$$,
	$$clutch.find_agents(ARRAY[id])$$,
	$$clutch.task_tree(id)$$,
	$$clutch.run_graph(id)$$]) AS call;

SELECT * FROM finish();
ROLLBACK;
