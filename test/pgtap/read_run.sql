-- Questions about a run: tree, replay, graph, edges, runs, threads, what is
-- stuck, results.
\ir ../fixtures/tap.sql
SELECT plan(50);

SET clutch.notify = off;
SET clutch.breaker_failures = 0;
SET clutch.retry_max = 0;
SET clutch.default_deadline = 0;
SELECT setseed(0.20260203) \g /dev/null

CREATE FUNCTION pg_temp.ask(task text, parent text DEFAULT NULL, run text DEFAULT 'run:1', skill text DEFAULT 'skill:x', orders jsonb DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', run_id => run, thread_id => 'thread:' || run, task_id => task, parent_task_id => parent,
		requires => ARRAY[skill], domain => 'research', payload_type => 'research.query.v1', meta => CASE WHEN orders IS NOT NULL THEN jsonb_build_object('clutch', orders) END))
$$;
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"}, "capabilities": [{"id": "skill:x"}], "limits": {"max_concurrency": 1000}}') \g /dev/null

-- ------------------------------------- the tree is what a recursive CTE says
-- a random forest: most parents exist, some are never requested
SELECT pg_temp.ask('task:t' || n, CASE WHEN n > 3 AND random() < 0.95 THEN 'task:t' || 1 + floor(random() * (n - 1))::integer
	WHEN random() < 0.5 THEN 'task:missing' || n END) FROM generate_series(1, 400) n \g /dev/null
SELECT pg_temp.ask('task:other', run => 'run:2') \g /dev/null
SELECT clutch.claim('agent:ken', 200) \g /dev/null
SELECT clutch.finish('agent:ken', task_id) FROM clutch.tasks WHERE status = 'running' AND random() < 0.5 \g /dev/null
CREATE TEMP VIEW expected AS
WITH RECURSIVE tree AS (
	SELECT t.*, 0 AS depth, ARRAY[t.task_id]::text[] AS path, ARRAY[t.request_seq] AS place
	FROM clutch.tasks t
	WHERE t.run_id = 'run:1' AND NOT EXISTS (SELECT FROM clutch.tasks p WHERE p.task_id = t.parent_task_id)
	UNION ALL
	SELECT t.*, p.depth + 1, p.path || t.task_id::text, p.place || t.request_seq
	FROM tree p JOIN clutch.tasks t ON t.parent_task_id = p.task_id
)
SELECT row_number() OVER (ORDER BY place) AS n, task_id, parent_task_id, depth, path, status, agent_id, attempt, domain, payload_type, created_at, started_at, finished_at FROM tree;
SELECT is((SELECT count(*) FROM expected), 400::bigint, 'a forest of 400 tasks is requested');
SELECT ok((SELECT max(depth) > 5 AND count(*) FILTER (WHERE depth = 0) > 3 FROM expected), 'it is deep and has several roots');
SELECT fixture.answers('SELECT row_number() OVER () AS n, t.* FROM clutch.task_tree(''run:1'') t', 'SELECT * FROM expected ORDER BY n', 'task_tree is the recursive CTE, depth first, siblings in order');
SELECT is_empty($$SELECT * FROM clutch.task_tree('run:none')$$, 'an unknown run has no tree');
SELECT throws_ok('SELECT * FROM clutch.task_tree(NULL)', '22004', NULL, 'NULL is refused');
SELECT pg_temp.ask('task:c' || n, CASE WHEN n > 1 THEN 'task:c' || n - 1 END, 'run:chain') FROM generate_series(1, 300) n \g /dev/null
SELECT is((SELECT max(depth) FROM clutch.task_tree('run:chain')), 299, 'a chain of 300 tasks is returned');
SELECT is((SELECT array_length(path, 1) FROM clutch.task_tree('run:chain') WHERE task_id = 'task:c300'), 300, 'with the whole path');
-- children that are requested before their parent
SELECT pg_temp.ask('task:u3', 'task:u2', 'run:up'), pg_temp.ask('task:u2', 'task:u1', 'run:up'), pg_temp.ask('task:u1', NULL, 'run:up') \g /dev/null
SELECT fixture.answers($$SELECT task_id, depth FROM clutch.task_tree('run:up')$$, $$VALUES ('task:u1', 0), ('task:u2', 1), ('task:u3', 2)$$, 'also if it was requested from the leaf to the root');

-- it becomes a part of the query, and its rows are not stored
CREATE FUNCTION pg_temp.plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query; END $$;
SELECT is((SELECT count(*) FROM pg_temp.plan_of($$SELECT task_id FROM clutch.task_tree('run:1') WHERE depth = 1$$) AS line WHERE line LIKE '%Function Scan%'), 0::bigint, 'the rows of task_tree are not stored');
SELECT fixture.answers($$SELECT * FROM clutch.task_tree('run:1') WITH ORDINALITY$$, $$SELECT t.*, row_number() OVER () FROM clutch.task_tree('run:1') t$$, 'with ordinality, where they are, they are the same');
BEGIN;
DECLARE two CURSOR FOR SELECT a.task_id, b.path FROM clutch.task_tree('run:1') a, LATERAL clutch.task_tree(CASE WHEN a.depth = 0 THEN 'run:up' ELSE 'run:none' END) b;
CREATE TEMP TABLE fetched (n serial, path text[]);
CREATE FUNCTION pg_temp.fetch_two() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c refcursor := 'two';
	r record;
BEGIN
	FOR i IN 1 .. 5 LOOP
		FETCH c INTO r;
		INSERT INTO fetched (path) SELECT r.path;
		PERFORM path FROM clutch.task_tree('run:chain') LIMIT 7;
	END LOOP;
END $$;
SELECT pg_temp.fetch_two() \g /dev/null
SELECT is((SELECT string_agg(path::text, ' ' ORDER BY n) FROM fetched), '{task:u1} {task:u1,task:u2} {task:u1,task:u2,task:u3} {task:u1} {task:u1,task:u2}', 'several trees are read at once, and not to the end');
COMMIT;

-- --------------------------------------------------------------- edges, replay
SELECT fixture.answers($$SELECT * FROM clutch.task_edges WHERE run_id = 'run:up' ORDER BY to_task_id$$,
	$$VALUES ('run:up', 'task:u1', 'task:u2', 'child'), ('run:up', 'task:u2', 'task:u3', 'child')$$, 'clutch.task_edges has edges from parent to child');
SELECT fixture.answers($$SELECT * FROM clutch.replay('run:1')$$, $$SELECT * FROM clutch.events WHERE run_id = 'run:1' ORDER BY seq$$, 'replay returns the events of the run by seq');
SELECT is_empty($$SELECT * FROM clutch.replay('run:none')$$, 'and none of an unknown run');

-- --------------------------------------------------------------------- graphs
SELECT is(clutch.run_graph('run:up'), E'graph TD\n\tt1["task:u1 · assigned · agent:ken"]\n\tt2["task:u2 · assigned · agent:ken"]\n\tt3["task:u3 · assigned · agent:ken"]\n\tt1 --> t2\n\tt2 --> t3', 'run_graph in the language of mermaid');
SELECT is(clutch.run_graph('run:up', 'dot'), E'digraph run {\n\tt1 [label="task:u1 · assigned · agent:ken"];\n\tt2 [label="task:u2 · assigned · agent:ken"];\n\tt3 [label="task:u3 · assigned · agent:ken"];\n\tt1 -> t2;\n\tt2 -> t3;\n}', 'and in that of dot');
SELECT pg_temp.ask('task:g0', run => 'run:order'), pg_temp.ask('task:g2', 'task:g0', 'run:order'), pg_temp.ask('task:g1', 'task:g0', 'run:order') \g /dev/null
SELECT is((SELECT string_agg((regexp_match(line, 'task:g[0-9]'))[1], ' ') FROM regexp_split_to_table(clutch.run_graph('run:order'), E'\n') AS line), 'task:g0 task:g2 task:g1',
	'siblings are in the order of the tree, whatever the collation makes of their ids');
SELECT throws_ok($$SELECT clutch.run_graph('run:up', 'svg')$$, '22023', NULL, 'an unknown format is refused');
SELECT throws_ok($$SELECT clutch.run_graph('run:up', NULL)$$, '22004', NULL, 'and so is NULL');
CREATE FUNCTION pg_temp.refused_run(OUT message text, OUT context text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.run_graph(NULL);
EXCEPTION WHEN null_value_not_allowed THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
END $$;
SELECT is(message || (context ~ 'tree_nodes'), 'argument "run_id" must not be nullfalse', 'a run that is NULL is refused without showing the query') FROM pg_temp.refused_run();
SELECT is(clutch.run_graph('run:none'), 'graph TD', 'the graph of an unknown run is empty');
-- A chain of 1,000 tasks, whose paths have 100 MB.
INSERT INTO clutch.task (task_id, run_id, thread_id, parent_task_id, depth, status, from_agent, attempt, priority, reason, request_seq, since, created_at)
SELECT repeat('x', 200) || i, 'run:deep', t.thread_id, repeat('x', 200) || i - 1, i, t.status, t.from_agent, t.attempt, t.priority, t.reason, i, t.since, t.created_at
FROM clutch.task t, generate_series(1, 1000) i WHERE t.task_id = 'task:u1';
SET temp_file_limit = '1MB';
SELECT lives_ok($$SELECT clutch.run_graph('run:deep')$$, 'the graph of a deep run does not store the path of each task');
RESET temp_file_limit;
DELETE FROM clutch.task WHERE run_id = 'run:deep';
-- ids that would end a label, begin a tag or another statement
SELECT pg_temp.ask(id, run => 'run:hostile') FROM unnest(ARRAY['a"]; b["', 'a\', 'a\"', '<script>alert(1)</script>', '"); DROP TABLE x; --', 'é 日本', '&quot;', 'end', '`x`', '%s %I', 'x]', '}']) AS id \g /dev/null
SELECT is((SELECT count(*) FROM clutch.tasks WHERE run_id = 'run:hostile'), 12::bigint, 'twelve hostile ids are requested');
SELECT is_empty($$SELECT line FROM regexp_split_to_table(clutch.run_graph('run:hostile'), E'\n') AS line
	WHERE line <> 'graph TD' AND line !~ E'^\tt[0-9]+\\["[^"<>]*"\\]$'$$, 'mermaid: every node is one quoted label');
SELECT pg_temp.ask(id, run => 'run:coded') FROM unnest(ARRAY['a#58;b#quot;', '#35;#;']) AS id \g /dev/null
SELECT is((SELECT array_agg((regexp_match(line, '"(\S+)'))[1]) FROM regexp_split_to_table(clutch.run_graph('run:coded'), E'\n') AS line WHERE line ~ '"'),
	'{a#35;58;b#35;quot;,#35;35;#;}', 'mermaid: an id that contains the code of a character is shown as it is');
SELECT is_empty($$SELECT line FROM regexp_split_to_table(clutch.run_graph('run:hostile', 'dot'), E'\n') AS line
	WHERE line NOT IN ('digraph run {', '}') AND line !~ E'^\tt[0-9]+ \\[label="([^"\\\\]|\\\\.)*"\\];$'$$, 'dot: every node is one quoted label');

-- --------------------------------------------------------------- runs, threads
SELECT pg_temp.ask('task:r' || n, run => 'run:r') FROM generate_series(1, 5) n \g /dev/null
SELECT fixture.answers($$SELECT status, tasks, open FROM clutch.runs WHERE run_id = 'run:r'$$, $$VALUES ('running', 5::bigint, 5::bigint)$$, 'a run is running while a task is open');
SELECT clutch.finish('agent:ken', 'task:r1'), clutch.finish('agent:ken', 'task:r2'), clutch.cancel('task:r3'), clutch.fail('agent:ken', 'task:r4', 'E', 'm', false) \g /dev/null
SELECT is((SELECT status FROM clutch.runs WHERE run_id = 'run:r'), 'running', 'until the last one ends');
SELECT clutch.finish('agent:ken', 'task:r5') \g /dev/null
SELECT fixture.answers($$SELECT status, completed, failed, cancelled, open, finished_at IS NOT NULL FROM clutch.runs WHERE run_id = 'run:r'$$, $$VALUES ('failed', 3::bigint, 1::bigint, 1::bigint, 0::bigint, true)$$, 'then it has the status of its worst task');
SELECT clutch.retry('task:r4') \g /dev/null
SELECT is((SELECT status FROM clutch.runs WHERE run_id = 'run:r'), 'running', 'a retry opens it again');
SELECT fixture.answers($$SELECT events, runs, agents, last_seq FROM clutch.threads WHERE thread_id = 'thread:run:r'$$,
	$$SELECT count(*), 1::bigint, count(DISTINCT from_agent), max(seq) FROM clutch.events WHERE thread_id = 'thread:run:r'$$, 'clutch.threads counts runs and events');

-- -------------------------------------------------------------------- results
SELECT clutch.finish('agent:ken', 'task:u1', '{"found": [1, 2]}') \g /dev/null
SELECT fixture.answers($$SELECT task_id, status, finished, attempt, agent_id, payload, finished_at IS NOT NULL FROM clutch.result('task:u1')$$,
	$$VALUES ('task:u1', 'completed', true, 1, 'agent:ken', '{"found": [1, 2]}'::jsonb, true)$$, 'the result of a task');
SELECT is((SELECT seq FROM clutch.result('task:u1')), (SELECT seq FROM clutch.events WHERE task_id = 'task:u1' AND type = 'task.result'), 'and its place in the log');
SELECT fixture.answers($$SELECT status, finished, payload, seq, finished_at FROM clutch.result('task:u2')$$, $$VALUES ('assigned', false, NULL::jsonb, NULL::bigint, NULL::timestamptz)$$, 'a task that is not over has no result yet');
SELECT clutch.cancel('task:u2') \g /dev/null
SELECT fixture.answers($$SELECT status, finished, payload FROM clutch.result('task:u2')$$, $$VALUES ('cancelled', true, NULL::jsonb)$$, 'a task may end without a payload');
SELECT throws_ok($$SELECT * FROM clutch.result('task:nowhere')$$, 'KL003', NULL, 'an unknown task is refused');

-- ---------------------------------------------------------------------- stuck
SELECT pg_temp.ask('task:s1', skill => 'skill:nobody', run => 'run:s') \g /dev/null
SELECT fixture.answers($$SELECT task_id, status, problem FROM clutch.stuck WHERE run_id = 'run:s'$$, $$VALUES ('task:s1', 'pending', 'NO_CAPABLE_AGENT')$$, 'stuck shows a task that no agent can do');
SELECT ok((SELECT hint LIKE '%detail of the task in clutch.tasks%clutch.why%' FROM clutch.stuck WHERE task_id = 'task:s1') AND (SELECT detail FROM clutch.tasks WHERE task_id = 'task:s1') ~ 'skill:',
	'the hint names the column that says what is missing');
SELECT clutch.cancel('task:s1') \g /dev/null
SELECT is_empty($$SELECT * FROM clutch.stuck WHERE run_id = 'run:s'$$, 'but not a task that is over');
-- in one transaction, so that no background worker ends them
BEGIN;
SELECT set_config('clutch.clock', '2020-01-01T00:00:00Z', false) \g /dev/null
SELECT pg_temp.ask('task:s2', run => 'run:s'), pg_temp.ask('task:s3', run => 'run:s'), pg_temp.ask('task:s4', run => 'run:s', orders => '{"deadline": "2020-01-02T00:00:00Z"}') \g /dev/null
SELECT clutch.report('agent:ken', 'task:s3', 'task.accept') \g /dev/null
SELECT set_config('clutch.clock', '', false) \g /dev/null
SELECT fixture.answers($$SELECT task_id, problem FROM clutch.stuck WHERE run_id = 'run:s' ORDER BY task_id$$,
	$$VALUES ('task:s2', 'not claimed'), ('task:s3', 'lease expired'), ('task:s4', 'deadline passed')$$, 'nor tasks that are fine: it shows the unclaimed, the unrenewed and the overdue');
SELECT is((SELECT waiting_for FROM clutch.tasks WHERE task_id = 'task:s3'), 'lease', 'clutch.tasks shows what a task waits for');
SELECT ok((SELECT bool_and(hint <> '') FROM clutch.stuck), 'each stuck task has a hint');
SELECT alike(hint, '%clutch.tick()%', 'only a tick ends a task whose deadline has passed') FROM clutch.stuck WHERE task_id = 'task:s4';
COMMIT;

-- ------------- a parallel query takes no newer snapshot for the leader either
CREATE TABLE many AS SELECT 'task:' || i AS id FROM generate_series(1, 20) i;
ANALYZE many;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT lives_ok(format('SELECT %s FROM many LIMIT 1', call), 'in a parallel query: ' || call)
FROM unnest(ARRAY[$$clutch.envelope('chat.message', id, parent_task_id => 'task:u1')$$,
	$$clutch.from_legacy(jsonb_build_object('type', 'BLOCKER', 'task_id', id))$$,
	$$clutch.position() || id$$,
	$$clutch.read_from('beginning', jsonb_build_object('agent', 'agent:' || id))$$,
	$$clutch.find_agents(ARRAY['skill:' || id])$$,
	$$clutch.task_tree(id)$$,
	$$clutch.run_graph(id)$$]) AS call;

SELECT * FROM finish();
