-- A consequence that fails for ever is reported by clutch.check().
\ir ../fixtures/tap.sql
SELECT plan(3);
SET clutch.notify = off;
SET timezone = 'UTC';
SET client_min_messages = error;
SELECT fixture.at(0), fixture.agent('ken', 5) \g /dev/null
CREATE FUNCTION fixture.refuses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'not now';
END $$;
CREATE TRIGGER refuses AFTER INSERT ON clutch.events FOR EACH ROW
	WHEN (NEW.type = 'task.cancel' AND NEW.task_id ~ '^task:c') EXECUTE FUNCTION fixture.refuses();
SELECT clutch.send(fixture.request('task:p', run => 'run:m')) \g /dev/null
SELECT clutch.send(fixture.request('task:c' || n, run => 'run:m', parent => 'task:p', skill => 'skill:none')) FROM generate_series(1, 3) n \g /dev/null
SELECT clutch.cancel('task:p') \g /dev/null
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check() WHERE code = 'CONSEQUENCE_OVERDUE'), NULL, 'for a moment, that is no fault');
SELECT fixture.at(400), clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(regexp_replace(detail, 'handled: \d+', 'handled: n'), ', ') FROM clutch.check() WHERE code = 'CONSEQUENCE_OVERDUE'),
	'postponed consequences that cannot be handled: n, the first of which has waited since 2026-01-01 12:00:00+00', 'after five minutes, check() reports it');
DROP TRIGGER refuses ON clutch.events;
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check() WHERE code = 'CONSEQUENCE_OVERDUE'), NULL, 'until it is handled');
