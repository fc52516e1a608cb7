-- Parents and children: how deep a task is, cycles, and parents that are
-- requested after their children.
\ir ../fixtures/tap.sql
SELECT plan(6);

-- ------------------------------------------------- deep chains cost no walk
SELECT fixture.ask('chain 1') \g /dev/null
SELECT count(fixture.ask('chain ' || i, parent => 'chain ' || i - 1)) FROM generate_series(2, 300) i \g /dev/null
SELECT is((SELECT depth FROM clutch.task WHERE task_id = 'chain 300'), 299, 'a task below known tasks knows its depth');
SELECT fixture.ask('orphan 2', parent => 'orphan 1'), fixture.ask('orphan 3', parent => 'orphan 2') \g /dev/null
SELECT cmp_ok((SELECT depth FROM clutch.task WHERE task_id = 'orphan 3'), '<', 0, 'a task below an unknown task does not');
SELECT throws_ok($$SELECT fixture.ask('orphan 1', parent => 'orphan 3')$$, 'KL004', NULL, 'so a walk finds the cycle there');

-- ------------------------------- a parent that is requested after its child
SELECT fixture.ask('early child', parent => 'late parent') \g /dev/null
SELECT throws_ok($$SELECT fixture.ask('late parent', run => 'run:elsewhere')$$, 'KL004', NULL, 'a parent is refused in another run than its child''s');
SELECT lives_ok($$SELECT fixture.ask('late parent')$$, 'and accepted in the same run');

-- ------------------- IDs that PostgreSQL's hash functions put in few places
-- Rows are written, because 80,000 requests take a minute.  Of two looks at each tree, the faster one counts.
CREATE FUNCTION pg_temp.fill(run text, every integer) RETURNS void LANGUAGE sql AS $$
	INSERT INTO clutch.task (task_id, run_id, thread_id, depth, status, from_agent, attempt, priority, reason, request_seq, since, created_at)
	SELECT id, run, t.thread_id, 0, t.status, t.from_agent, t.attempt, t.priority, t.reason, i, t.since, t.created_at
	FROM clutch.task t, generate_series(1, 40000 * every) i, concat(run, ' ', i) AS id
	WHERE t.task_id = 'late parent' AND hashtextextended(id, 0) & 131071 < 131072 / every
$$;
CREATE FUNCTION pg_temp.spent(run text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	least numeric;
BEGIN
	FOR i IN 1 .. 2 LOOP
		began := clock_timestamp();
		PERFORM count(*) FROM clutch.task_tree(run);
		least := least(least, extract(epoch FROM clock_timestamp() - began));
	END LOOP;
	RETURN least;
END
$$;
SELECT pg_temp.fill('run:any', 1), pg_temp.fill('run:chosen', 16) \g /dev/null
SELECT cmp_ok(pg_temp.spent('run:chosen'), '<', 10 * pg_temp.spent('run:any'), 'the tree of tasks whose IDs were chosen takes no longer');

SELECT * FROM finish();
