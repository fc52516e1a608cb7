-- Priorities: levels, batch work, aging, and the place a session remembers in
-- a queue (DESIGN 4, ready; spec 003 8).
\ir ../fixtures/tap.sql
SELECT plan(37);
SET clutch.notify = off;
SET clutch.breaker_failures = 0;

CREATE FUNCTION pg_temp.card(name text, at_once integer) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'display', jsonb_build_object('name', name),
		'capabilities', jsonb_build_array(jsonb_build_object('id', 'skill:' || name)), 'limits', jsonb_build_object('max_concurrency', at_once))
$$;
CREATE FUNCTION pg_temp.ask(task text, p integer, skill text DEFAULT 'skill:ken') RETURNS void LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:' || task,
		requires => ARRAY[skill], priority => p))
$$;
CREATE FUNCTION pg_temp.claimed(n integer DEFAULT 1, agent text DEFAULT 'ken') RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(substr(task_id, 6), ' '), 'nothing') FROM clutch.claim('agent:' || agent, n, '1 day') $$;
-- one claim after the other, until there is nothing
CREATE FUNCTION pg_temp.order_of_claims() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	task text;
	done text := '';
BEGIN
	LOOP
		task := pg_temp.claimed();
		EXIT WHEN task = 'nothing';
		done := done || ' ' || task;
		PERFORM clutch.finish('agent:ken', 'task:' || task);
	END LOOP;
	RETURN ltrim(done);
END $$;

SELECT fixture.at(0) \g /dev/null
SELECT clutch.register(pg_temp.card('ken', 1000)), clutch.register(pg_temp.card('lois', 1)) \g /dev/null

-- ------------------------------------------------------------------- levels
SELECT pg_temp.ask('a' || p || n, p) FROM generate_series(1, 2) n, unnest('{1,4,0,3,2}'::integer[]) p \g /dev/null
SELECT is(pg_temp.order_of_claims(), 'a41 a42 a31 a32 a21 a22 a11 a12 a01 a02', 'the highest priority first, then in order');
SELECT pg_temp.ask('b2', 2), pg_temp.ask('b4', 4) \g /dev/null
SELECT is(pg_temp.claimed(), 'b4', 'critical work goes before earlier work');
SELECT is(pg_temp.claimed(), 'b2', 'then the earlier work is claimed');

-- --------------------------------------------------------------- batch work
SELECT pg_temp.ask('c01', 0), pg_temp.ask('c02', 0), pg_temp.ask('c1', 1) \g /dev/null
SELECT is(pg_temp.claimed(9), 'c1', 'batch work is not claimed beside other work');
SELECT is(pg_temp.claimed(9), 'c01 c02', 'but by an agent that has nothing else');
SELECT pg_temp.ask('l1', 2, 'skill:lois'), pg_temp.ask('l0', 0, 'skill:lois'), pg_temp.ask('l2', 2, 'skill:lois') \g /dev/null
SELECT is(pg_temp.claimed(1, 'lois'), 'l1', 'an agent is full');
SELECT clutch.finish('agent:lois', 'task:l1') \g /dev/null
SELECT is(pg_temp.claimed(9, 'lois'), 'l2', 'a slot that becomes free is not given to batch work while other work waits');
SELECT pg_temp.ask('l4', 4, 'skill:lois') \g /dev/null
SELECT is(pg_temp.claimed(9, 'lois'), 'nothing', 'critical work waits for a free slot as well');
SELECT clutch.finish('agent:lois', 'task:l2') \g /dev/null
SELECT is(pg_temp.claimed(9, 'lois'), 'l4', 'and is the first to get one');
SELECT clutch.finish('agent:lois', 'task:l4') \g /dev/null
SELECT is(pg_temp.claimed(9, 'lois'), 'l0', 'batch work is the last');
SELECT clutch.finish('agent:lois', 'task:l0') \g /dev/null

-- -------------------------------------------------------------------- aging
SET clutch.aging = '100 s';
SELECT fixture.at(1000), pg_temp.ask('d1', 1) \g /dev/null
SELECT fixture.at(1099), pg_temp.ask('d2', 2) \g /dev/null
SELECT is(pg_temp.order_of_claims(), 'd2 d1', 'before clutch.aging has passed only the priority counts');
SELECT fixture.at(2000), pg_temp.ask('e1', 1) \g /dev/null
SELECT fixture.at(2100), pg_temp.ask('e2', 2) \g /dev/null
SELECT is(pg_temp.order_of_claims(), 'e1 e2', 'after it a task counts as one level higher, and came first');
SELECT fixture.at(3000), pg_temp.ask('f1', 1) \g /dev/null
SELECT fixture.at(3100), pg_temp.ask('f3', 3) \g /dev/null
SELECT is(pg_temp.order_of_claims(), 'f3 f1', 'as one level, not two');
SELECT fixture.at(4000), pg_temp.ask('g1', 1), pg_temp.ask('g0', 0) \g /dev/null
SELECT fixture.at(4200), pg_temp.ask('g3', 3) \g /dev/null
SELECT is(pg_temp.order_of_claims(), 'g1 g3 g0', 'after twice that time it counts as two levels higher');
SELECT fixture.at(5000), pg_temp.ask('h0', 0) \g /dev/null
SELECT fixture.at(5100), pg_temp.ask('h1', 1) \g /dev/null
SELECT is(pg_temp.claimed(9), 'h0 h1', 'a batch task that has aged is not batch work any more');
SELECT fixture.at(6000), pg_temp.ask('i0', 0), pg_temp.ask('i3', 3) \g /dev/null
SELECT fixture.at(6299), pg_temp.ask('i4', 4) \g /dev/null
SELECT is(pg_temp.order_of_claims(), 'i4 i3 i0', 'only a fully aged task competes with critical work');
SET clutch.aging = 0;
SELECT fixture.at(7000), pg_temp.ask('j1', 1) \g /dev/null
SELECT fixture.at(70000), pg_temp.ask('j2', 2) \g /dev/null
SELECT is(pg_temp.order_of_claims(), 'j2 j1', 'without aging only the priority counts');
SET clutch.aging = '100 s';

-- the same holds for tasks that wait
SELECT fixture.at(80000), pg_temp.ask('k', 2, 'skill:lois'), pg_temp.ask('k1', 1, 'skill:lois') \g /dev/null
SELECT fixture.at(80200), pg_temp.ask('k3', 3, 'skill:lois') \g /dev/null
SELECT pg_temp.claimed(9, 'lois') \g /dev/null
SELECT clutch.finish('agent:lois', 'task:k') \g /dev/null
SELECT is(pg_temp.claimed(9, 'lois'), 'k1', 'waiting tasks age as well');
SELECT clutch.finish('agent:lois', 'task:k1') \g /dev/null
SELECT is(pg_temp.claimed(9, 'lois'), 'k3', 'the rest comes in order');
SELECT clutch.finish('agent:lois', 'task:k3') \g /dev/null

-- a flood of critical work, and 20 tasks that have aged: some of them go first
SELECT fixture.at(90000), pg_temp.ask('m0_' || n, 0) FROM generate_series(1, 20) n \g /dev/null
SELECT fixture.at(90400), pg_temp.ask('m4_' || n, 4) FROM generate_series(1, 200) n \g /dev/null
CREATE TEMP TABLE flood AS SELECT n, pg_temp.claimed() AS task FROM generate_series(1, 100) n;
SELECT cmp_ok((SELECT count(*) FROM flood WHERE task LIKE 'm0%'), '>=', 10::bigint, 'a flood of critical work does not starve tasks that have aged');
SELECT cmp_ok((SELECT count(*) FROM flood WHERE task LIKE 'm4%'), '>=', 60::bigint, 'and is claimed first all the same');
SELECT is((SELECT string_agg(substr(task, 4), ' ' ORDER BY n) FROM flood WHERE task LIKE 'm4%'),
	(SELECT string_agg(g::text, ' ' ORDER BY g) FROM generate_series(1, (SELECT count(*) FROM flood WHERE task LIKE 'm4%')) g), 'the critical tasks are claimed in order');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null

-- ------------------------------------------------ the place that is remembered
-- Rows that this open transaction has taken stay in the index, so looking from
-- the start becomes costly, and the session looks from its place.
SELECT fixture.at(100000), pg_temp.ask('p' || lpad(n::text, 3, '0'), 2) FROM generate_series(1, 500) n \g /dev/null
CREATE TEMP TABLE many AS SELECT n, pg_temp.claimed() AS task FROM generate_series(1, 400) n;
SELECT is((SELECT bool_and(task = 'p' || lpad(n::text, 3, '0')) FROM many), true, 'four hundred claims take the next task each');
SELECT pg_temp.ask('q4', 4) \g /dev/null
SELECT is(pg_temp.claimed(), 'q4', 'a more urgent task is seen at once');
SELECT is(pg_temp.claimed(), 'p401', 'then the others go on');
SELECT is((SELECT late FROM clutch.release('agent:ken', 'task:p401', 1)), false, 'a task is released');
SELECT is(pg_temp.claimed(98), (SELECT string_agg('p' || n, ' ') FROM generate_series(402, 499) n), 'and goes to the end');
BEGIN;
SELECT is(pg_temp.claimed(9), 'p500 p401', 'the last two tasks are claimed');
SELECT is(pg_temp.claimed(9), 'nothing', 'and nothing is left');
ROLLBACK;
SELECT is(pg_temp.claimed(9), 'p500 p401', 'a claim that was rolled back can be repeated');
SELECT pg_temp.ask('r', 2) \g /dev/null
SELECT is(pg_temp.claimed(), 'r', 'a task that comes to the empty queue is found');

-- also if others have taken the next tasks, and in urgencies that had no task at all
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE finished_at IS NULL \g /dev/null
SELECT clutch.register(pg_temp.card('ken', 5000)) \g /dev/null
BEGIN;
SELECT fixture.at(100000), pg_temp.ask('s' || n, 2) FROM generate_series(1001, 3100) n \g /dev/null
SELECT count(pg_temp.claimed()) FROM generate_series(1, 2000) \g /dev/null
SELECT pg_temp.ask('t' || p, p) FROM unnest('{0,1,3,4}'::integer[]) p \g /dev/null
SELECT is(pg_temp.claimed(3), 't4 t3 s3001', 'tasks of all urgencies are seen at once');
SELECT pg_temp.ask('u3', 3), pg_temp.ask('u4', 4) \g /dev/null
SELECT is(pg_temp.claimed(), 'u4', 'so are the next ones of these urgencies');
SELECT is(pg_temp.claimed(), 'u3', 'one after the other');
SELECT clutch.cancel('task:s' || n) FROM generate_series(3002, 3040) n \g /dev/null
SELECT is(pg_temp.claimed(), 's3041', 'the next task is found behind many that are gone');
SELECT is(pg_temp.claimed(100), (SELECT string_agg('s' || n, ' ') FROM generate_series(3042, 3100) n) || ' t1', 'and then the others');
SELECT is((SELECT string_agg(substr(task_id, 6), ' ') FROM clutch.tasks WHERE run_id = 'run:1' AND status = 'assigned'), 't0', 'only batch work is left');
COMMIT;

SELECT * FROM finish();
