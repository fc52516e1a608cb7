-- Remembered loads of agents lead to the same choice as loads that are read for it, and are those of the newest versions of the slots.
\ir ../fixtures/tap.sql
SELECT plan(12);

SELECT count(clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || n,
	'capabilities', '[{"id": "skill:x"}]'::jsonb, 'limits', jsonb_build_object('max_concurrency', 1 + n % 4))))
FROM generate_series(1, 440) n WHERE n % 11 > 0 \g /dev/null
-- some agents have no slots, some slots have an older version, and some are of agents that are not registered
INSERT INTO clutch.agent_slot (agent_id, slot_no, generation, task_id, chosen_seq, done, failed)
SELECT 'agent:' || n, slot_no, generation, CASE WHEN (n * 7 + slot_no + generation) % 3 > 0 THEN 'task:x' END,
	(n * 13 + slot_no) % 17, n * generation % 5, (n + slot_no) % 3
FROM generate_series(0, 460) n, generate_series(0, n % 4) slot_no, generate_series(1, 1 + (n % 9 = 0)::int) generation
WHERE n % 10 > 0;

CREATE TEMP VIEW load AS
SELECT s.agent_id, 1 + substr(s.agent_id, 7)::int % 4 AS max_concurrency, count(s.task_id)::int AS running
FROM (SELECT DISTINCT ON (agent_id, slot_no) * FROM clutch.agent_slot ORDER BY agent_id, slot_no, generation DESC) s
WHERE substr(s.agent_id, 7)::int % 11 > 0 AND substr(s.agent_id, 7)::int BETWEEN 1 AND 440 GROUP BY 1;

CREATE FUNCTION pg_temp.decision(exact integer) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('clutch.exact_load_candidates', exact::text, true), set_config('clutch.decision_candidates', '1000', true);
	RETURN clutch.route(clutch.envelope('task.request', 'agent:client', id => 'msg_1') || '{"requires": ["skill:x"]}');
END $$;

SELECT pg_temp.decision(0) AS remembered \gset
SELECT pg_temp.decision(100000) AS read \gset
SELECT is(:'remembered'::jsonb -> 'candidates', :'read'::jsonb -> 'candidates', 'the candidates are the same');
SELECT is(:'remembered'::jsonb -> 'details', :'read'::jsonb -> 'details', 'and their loads, success rates, and when they were chosen last');
SELECT is(:'remembered'::jsonb -> 'rejected', :'read'::jsonb -> 'rejected', 'and those that are rejected');
SELECT is(:'remembered'::jsonb -> 'reason', :'read'::jsonb -> 'reason', 'and the reason');
SELECT is((:'remembered'::jsonb #>> '{rejected,concurrency,count}')::int, (SELECT count(*)::int FROM load WHERE running >= max_concurrency), 'the full ones are counted');
SELECT fixture.answers($$SELECT c.agent_id, (d #>> ARRAY['details', 'load', (c.n - 1)::text])::float8 FROM (SELECT pg_temp.decision(0) AS d) x, jsonb_array_elements_text(d -> 'candidates') WITH ORDINALITY c (agent_id, n) JOIN load USING (agent_id) ORDER BY agent_id COLLATE "C"$$,
	$$SELECT agent_id, round(running::numeric / max_concurrency, 6)::float8 FROM load WHERE running < max_concurrency ORDER BY agent_id$$, 'and the loads are those of the newest versions of the slots');
-- ------------------------- the slots of agents with many of them are not read for each choice
SELECT count(fixture.agent('many' || n, 1000, '{skill:many}')) FROM generate_series(1, 40) n \g /dev/null
SELECT fixture.agent('tried', 1000, '{skill:tried}') \g /dev/null
INSERT INTO clutch.agent_slot (agent_id, slot_no, generation, task_id, chosen_seq, done, failed)
SELECT agent_id, slot_no, 1, 'task:x', 0, 0, 0
FROM (SELECT 'agent:tried' AS agent_id UNION ALL SELECT 'agent:many' || generate_series(1, 40)) a, generate_series(0, 99) slot_no;
INSERT INTO clutch.agent_failure (agent_id, seq, at, failed, timed_out)
SELECT 'agent:tried', n, now() - interval '1 hour', true, false FROM generate_series(1, 10) n;
-- how many entries for slots 10 choices have read
CREATE FUNCTION pg_temp.choose_ten_times(skill text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint := pg_stat_get_xact_tuples_returned('clutch.agent_slot_key'::regclass);
BEGIN
	FOR i IN 1..10 LOOP
		PERFORM clutch.route(clutch.envelope('task.request', 'agent:client', requires => ARRAY[skill])), pg_sleep(0.002);
	END LOOP;
	RETURN pg_stat_get_xact_tuples_returned('clutch.agent_slot_key'::regclass) - before;
END $$;
SELECT cmp_ok(pg_temp.choose_ten_times('skill:tried'), '<', 250::bigint, 'if a breaker leaves the agent no room');
SELECT cmp_ok(pg_temp.choose_ten_times('skill:many'), '<', 4200::bigint, 'nor to find the best of many');
-- ----------------------- agents whose names have the same hash in PostgreSQL's hash tables
SELECT fixture.agent('lnquc5a0ol00aati6a', 1, '{skill:p}'), fixture.agent('dnv0ekku00gatta0am', 1, '{skill:q}') \g /dev/null
SELECT fixture.ask('task:p', skill => 'skill:p', run => 'run:p'), fixture.ask('task:q', skill => 'skill:q', run => 'run:p') \g /dev/null
SELECT clutch.claim('agent:lnquc5a0ol00aati6a'), clutch.claim('agent:dnv0ekku00gatta0am') \g /dev/null
SELECT clutch.finish('agent:lnquc5a0ol00aati6a', 'task:p'), clutch.fail('agent:dnv0ekku00gatta0am', 'task:q', 'X', 'x', false) \g /dev/null
SELECT clutch.rebuild() \g /dev/null
SELECT is((SELECT string_agg(agent_id || ' ' || success_rate, ', ' ORDER BY agent_id) FROM clutch.agents WHERE capabilities && '{skill:p,skill:q}'),
	'agent:dnv0ekku00gatta0am 0, agent:lnquc5a0ol00aati6a 1', 'a rebuild takes each for itself');
-- ----------------------- full agents with many slots
SELECT fixture.agent('full' || n, 2000, '{skill:full}') FROM generate_series(1, 2) n \g /dev/null
INSERT INTO clutch.agent_slot (agent_id, slot_no, generation, task_id, chosen_seq, done, failed)
SELECT 'agent:full' || n, slot_no, 1, 'task:x', 1, 0, 0 FROM generate_series(1, 2) n, generate_series(0, 1999) slot_no;
CREATE VIEW pg_temp.reads AS SELECT pg_stat_get_xact_tuples_returned('clutch.agent_slot_key'::regclass) AS n;
BEGIN;
SELECT n AS before FROM pg_temp.reads \gset
SELECT is((SELECT count(*) FROM generate_series(1, 50) n, clutch.route(clutch.envelope('task.request', 'agent:client', id => 'msg_' || n) || '{"requires": ["skill:full"]}') d WHERE d ->> 'code' = 'NO_CAPACITY'),
	50::bigint, 'agents with many slots are full for each of many requests');
SELECT cmp_ok(n - :before, '<=', 50000::bigint, 'and their slots are not read for each of them') FROM pg_temp.reads;
COMMIT;

-- ------------------------------------- agents that others have filled since their loads were remembered
SET clutch.exact_load_candidates = 0;
CREATE FUNCTION pg_temp.pages(task text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT fixture.ask(%L, skill => ''skill:full'')', task) INTO plan;
	RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
END $$;
SELECT fixture.agent('full' || n, 1000, '{skill:full}') FROM generate_series(1, 20) n \g /dev/null
SELECT fixture.ask('task:room', skill => 'skill:full') \g /dev/null
INSERT INTO clutch.agent_slot (agent_id, slot_no, generation, task_id, chosen_seq, done, failed)
SELECT 'agent:full' || n, slot_no, 0, 'task:x', 0, 0, 0 FROM generate_series(1, 20) n, generate_series(0, 999) slot_no;
SELECT pg_temp.pages('task:vain1') AS first, pg_temp.pages('task:vain2') AS second, pg_temp.pages('task:vain3') AS third \gset
SELECT cmp_ok(:third * 10, '<', :first, 'are not tried again and again');
SELECT * FROM finish();
