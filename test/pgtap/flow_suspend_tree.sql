-- A tree of a thousand parents, each with a child, ends on one agent that does one task at a time.
\ir ../fixtures/tap.sql
SELECT plan(8);
SET clutch.notify = off;
SET clutch.default_deadline = 0;

SELECT fixture.agent('only') \g /dev/null
SELECT fixture.ask('root') \g /dev/null

-- The agent works until there is nothing to claim; whatever it does is a transaction
-- of its own.  Nobody ticks.
CREATE TABLE done (n bigint, most_held bigint);
CREATE PROCEDURE pg_temp.work() LANGUAGE plpgsql AS $$
DECLARE
	task record;
	n bigint := 0;
	held bigint := 0;
BEGIN
	LOOP
		SELECT * INTO task FROM clutch.claim('agent:only', 9);
		EXIT WHEN NOT FOUND;
		n := n + 1;
		held := greatest(held, (SELECT count(*) FROM clutch.agent_slot s WHERE s.task_id IS NOT NULL));
		COMMIT;
		IF task.reason = 'joined' OR task.task_id LIKE 'child%' THEN
			PERFORM clutch.finish('agent:only', task.task_id, attempt => task.attempt);
		ELSIF task.task_id = 'root' THEN
			PERFORM fixture.ask('parent' || g, parent => 'root') FROM generate_series(1, 1000) g;
			PERFORM clutch.suspend('agent:only', 'root', '{"children": "all"}', attempt => task.attempt);
		ELSE
			PERFORM fixture.ask('child of ' || task.task_id, parent => task.task_id);
			COMMIT;
			PERFORM clutch.suspend('agent:only', task.task_id, '{"children": "all"}', attempt => task.attempt);
		END IF;
		COMMIT;
	END LOOP;
	INSERT INTO done SELECT n, held;
END $$;
CALL pg_temp.work();

SELECT is((SELECT n FROM done), 3002::bigint, 'it claims the root and every parent twice, and every child once');
SELECT is((SELECT most_held FROM done), 1::bigint, 'one at a time');
SELECT is((SELECT string_agg(concat_ws(' ', status, n), ', ') FROM (SELECT status, count(*) AS n FROM clutch.tasks GROUP BY status) s), 'completed 2001', 'all of them are completed');
SELECT is((SELECT count(*) FROM clutch.events WHERE envelope #>> '{meta,clutch,move}' = 'woken'), 1001::bigint, 'each parent is woken once');
SELECT is((SELECT max(attempt) FROM clutch.tasks), 2, 'and has two attempts');
SELECT is((SELECT ROW(count(*), (SELECT count(*) FROM clutch.consequence))::text FROM clutch.suspended), '(0,0)', 'nothing is left');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
