-- Claims take the tasks in the order of the queue, however the agent's session
-- looks for them (DESIGN 4, ready; src/queue/queue.h).
\ir ../fixtures/tap.sql
SELECT plan(7);
SET clutch.notify = off;
SET clutch.aging = 0;
SET clutch.breaker_failures = 0;

SELECT fixture.agent('a' || n, 100000, ARRAY['skill:a' || n]) FROM generate_series(1, 30) n \g /dev/null
CREATE TEMP TABLE played (n serial, agent text, asked integer, want text[], got text[]);

CREATE FUNCTION pg_temp.ask(who text, n integer, priorities integer[]) RETURNS void LANGUAGE sql AS $$
	SELECT fixture.ask(concat_ws(':', 'task', who, i, random()), NULL, 'skill:' || who,
		jsonb_build_object('priority', priorities[1 + floor(random() * cardinality(priorities))])) FROM generate_series(1, n) i
$$;
CREATE FUNCTION pg_temp.claim(who text, n integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	want text[] := ARRAY(SELECT r.task_id FROM clutch.ready r WHERE r.agent_id = 'agent:' || who ORDER BY urgency, queue_no LIMIT n);
BEGIN
	INSERT INTO played (agent, asked, want, got)
	SELECT who, n, want, ARRAY(SELECT c.task_id FROM clutch.claim('agent:' || who, n, '1 day') c);
END $$;
-- After a rollback, the next look of the session is one from the start.
CREATE FUNCTION pg_temp.look_from_start() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'back';
EXCEPTION
	WHEN raise_exception THEN NULL;
END $$;
-- What the open transaction has taken stays in the index.  After enough of it, the
-- session looks from the place that it remembers, and knows which urgencies have
-- no rows.  Then requests of all urgencies but that of batch work, claims, and
-- cancelled tasks follow at random.
CREATE FUNCTION pg_temp.play(who text, rounds integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	usual integer := floor(random() * 4) + 1;
	n integer;
BEGIN
	PERFORM pg_temp.ask(who, 300, ARRAY[usual]);
	PERFORM pg_temp.claim(who, 290);
	PERFORM pg_temp.look_from_start();
	FOR round IN 1 .. rounds LOOP
		n := ('{1,1,2,3,8}'::integer[])[1 + floor(random() * 5)];
		CASE floor(random() * 9)
		WHEN 0, 1, 2 THEN
			PERFORM pg_temp.ask(who, n, ARRAY[1, 2, 3, 4, usual, usual]);
		WHEN 3 THEN
			PERFORM clutch.cancel(c.task_id)
			FROM (SELECT r.task_id FROM clutch.ready r WHERE r.agent_id = 'agent:' || who ORDER BY random() LIMIT n) c;
		WHEN 4 THEN
			PERFORM pg_temp.look_from_start();
		ELSE
			PERFORM pg_temp.claim(who, n);
		END CASE;
	END LOOP;
END $$;
BEGIN;
SELECT setseed(0.42) \g /dev/null
SELECT pg_temp.play('a' || n, 30) FROM generate_series(1, 30) n \g /dev/null
SELECT is_empty('SELECT * FROM played WHERE want IS DISTINCT FROM got ORDER BY n LIMIT 3', 'each claim takes the first tasks of the queue, in order');
SELECT cmp_ok((SELECT count(*) FROM played WHERE cardinality(got) > 0), '>', 300::bigint, 'hundreds of claims found something');
SELECT cmp_ok((SELECT count(*) FROM played WHERE cardinality(got) < asked), '>', 50::bigint, 'others emptied the queue');
COMMIT;

-- A task that is less urgent than all others, and has come since its urgency was
-- found to have no rows, is in its place when it has aged.
SET clutch.aging = 60;
SELECT fixture.agent('old', 10000, '{skill:old}'), fixture.at(0) \g /dev/null
BEGIN;
SELECT pg_temp.ask('old', 1000, '{2}'), fixture.ask('first', NULL, 'skill:old', '{"priority": 2}') \g /dev/null
SELECT pg_temp.claim('old', 999), pg_temp.look_from_start(), pg_temp.claim('old', 1) \g /dev/null
SELECT fixture.ask('low', NULL, 'skill:old', '{"priority": 1}'), fixture.at(59) \g /dev/null
SELECT fixture.ask(task, NULL, 'skill:old', '{"priority": 2}') FROM unnest('{second,third}'::text[]) task \g /dev/null
SELECT is(fixture.claimed('agent:old', 2), 'first 1 new, second 1 new', 'a task that is less urgent comes after the others');
SELECT fixture.at(60) \g /dev/null
SELECT is(fixture.claimed('agent:old', 1), 'low 1 new', 'but before those that are not older when it has aged');
COMMIT;

-- While a claim goes on, a trigger makes the session look at the tasks of more
-- agents than it keeps places for.
SELECT fixture.agent('many' || n, 1, '{skill:many}') FROM generate_series(1, 10050) n \g /dev/null
SELECT fixture.agent('takes', 9, '{skill:takes}') \g /dev/null
SELECT fixture.ask('takes' || n, NULL, 'skill:takes') FROM generate_series(1, 9) n \g /dev/null
CREATE FUNCTION fixture.claim_many() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.claim('agent:many' || n) FROM generate_series(9900, 10050) n;
	RETURN NULL;
END $$;
SELECT clutch.claim('agent:many' || n) FROM generate_series(1, 9900) n \g /dev/null
CREATE TRIGGER claim_many AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.type = 'task.accept') EXECUTE FUNCTION fixture.claim_many();
SELECT is((SELECT string_agg(fixture.claimed('agent:takes', 3), ', ') FROM generate_series(1, 3)), (SELECT string_agg(format('takes%s 1 new', n), ', ' ORDER BY n) FROM generate_series(1, 9) n), 'a claim goes on in order when its session has forgotten all places');
DROP TRIGGER claim_many ON clutch.events;
SELECT is_empty('SELECT * FROM clutch.check()', 'the state is sound');
SELECT * FROM finish();
