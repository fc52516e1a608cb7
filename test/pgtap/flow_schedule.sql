-- Requests for later, and envelopes that are sent again and again.
\ir ../fixtures/tap.sql
SELECT plan(139);
SET clutch.notify = off;
SET clutch.heartbeat_interval = 0;
SET timezone = 'UTC';

CREATE FUNCTION pg_temp.at(t text) RETURNS text LANGUAGE sql AS
$$ SELECT set_config('clutch.clock', to_char(t::timestamptz, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false) $$;
CREATE FUNCTION pg_temp.note(more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
$$ SELECT clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', '{"text": "hello"}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:talk') || more $$;
CREATE FUNCTION pg_temp.sent() RETURNS text LANGUAGE sql AS $$ SELECT clutch.tick() ->> 'sent' $$;
-- the first n times after a moment, as the wall clock of the zone shows them
CREATE FUNCTION pg_temp.times(cron text, after text, n integer DEFAULT 3, zone text DEFAULT 'UTC') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	next timestamptz := after;
	said text[];
BEGIN
	FOR i IN 1 .. n LOOP
		PERFORM pg_temp.at(next::text);
		next := clutch.schedule('times', cron, pg_temp.note(), zone);
		said := said || to_char(next AT TIME ZONE zone, 'MM-DD HH24:MI');
	END LOOP;
	RETURN array_to_string(said, ', ');
END $$;

-- -------------------------------------------------------------------- cron
SELECT is(pg_temp.times('* * * * *', '2026-03-01 23:58:30'), '03-01 23:59, 03-02 00:00, 03-02 00:01', 'every minute');
SELECT is(pg_temp.times('30 8 * * *', '2026-03-01 08:30'), '03-02 08:30, 03-03 08:30, 03-04 08:30', 'every day; the present minute has passed');
SELECT is(pg_temp.times('*/20 9-10 * * *', '2026-03-01 09:30', 5), '03-01 09:40, 03-01 10:00, 03-01 10:20, 03-01 10:40, 03-02 09:00', 'steps and ranges');
SELECT is(pg_temp.times('5,10-12/2,55 0 * * *', '2026-03-01', 4), '03-01 00:05, 03-01 00:10, 03-01 00:12, 03-01 00:55', 'lists');
SELECT is(pg_temp.times('50/5 0 * * *', '2026-03-01', 3), '03-01 00:50, 03-01 00:55, 03-02 00:50', 'a number with a step goes to the end of the range');
SELECT is(pg_temp.times('0 0 * * mon-wed', '2026-03-01', 4), '03-02 00:00, 03-03 00:00, 03-04 00:00, 03-09 00:00', 'names of days');
SELECT is(pg_temp.times('0 0 * * 7', '2026-02-28', 2), pg_temp.times('0 0 * * SUN', '2026-02-28', 2), '7 is Sunday');
SELECT is(pg_temp.times('0 0 * * 0', '2026-02-28', 2), '03-01 00:00, 03-08 00:00', 'and so is 0');
SELECT is(pg_temp.times('0 0 13 * fri', '2026-03-01', 3), '03-06 00:00, 03-13 00:00, 03-20 00:00', 'with two restricted days either matches');
SELECT is(pg_temp.times('0 0 */10 * fri', '2026-03-01', 2), '05-01 00:00, 07-31 00:00', 'with an asterisk at the start of one both must match');
SELECT is(pg_temp.times('0 0 31 * *', '2026-03-01', 3), '03-31 00:00, 05-31 00:00, 07-31 00:00', 'months that have a 31st');
SELECT is(pg_temp.times('0 12 29 feb *', '2026-03-01', 2), '02-29 12:00, 02-29 12:00', 'leap days');
SELECT is(pg_temp.times('@hourly', '2026-03-01 00:30', 2), '03-01 01:00, 03-01 02:00', '@hourly');
SELECT is(pg_temp.times('@daily', '2026-03-01', 1) || ', ' || pg_temp.times('@midnight', '2026-03-01', 1) || ', ' || pg_temp.times('@weekly', '2026-03-02', 1) || ', ' ||
	pg_temp.times('@monthly', '2026-03-02', 1) || ', ' || pg_temp.times('@yearly', '2026-03-02', 1) || ', ' || pg_temp.times('@annually', '2026-03-02', 1),
	'03-02 00:00, 03-02 00:00, 03-08 00:00, 04-01 00:00, 01-01 00:00, 01-01 00:00', 'the other nicknames');
SELECT is(pg_temp.times('  0   12 *	* *  ', '2026-03-01', 1), '03-01 12:00', 'blanks and tabs');
-- against an oracle: every minute of two weeks, judged field by field
SELECT is(
	(WITH RECURSIVE t(n, at) AS (SELECT 0, '2026-02-20'::timestamptz UNION ALL SELECT n + 1, to_timestamp(extract(epoch FROM clutch.schedule('times', '7,37 3-5,22 2-26/3 2,3 tue', pg_temp.note())))
		FROM t, LATERAL pg_temp.at(t.at::text) WHERE n < 20)
	SELECT string_agg(at::text, ' ' ORDER BY n) FROM t WHERE n > 0),
	(SELECT string_agg(m::text, ' ' ORDER BY m) FROM (SELECT m FROM generate_series('2026-02-20 00:01'::timestamptz, '2026-04-01', '1 minute') m
		WHERE extract(minute FROM m) IN (7, 37) AND extract(hour FROM m) IN (3, 4, 5, 22) AND extract(month FROM m) IN (2, 3)
		  AND (extract(day FROM m) IN (2, 5, 8, 11, 14, 17, 20, 23, 26) OR extract(dow FROM m) = 2) ORDER BY m LIMIT 20) s), 'the same times as an oracle in SQL');

-- the wall clock: Berlin skips 02:00 .. 02:59 on 29 March 2026, and has it twice on 25 October
SELECT is(pg_temp.times('30 8 * * *', '2026-03-28 12:00+01', 2, 'Europe/Berlin'), '03-29 08:30, 03-30 08:30', 'half past eight stays half past eight when the offset changes');
SELECT is(pg_temp.times('30 2 * * *', '2026-03-28 12:00+01', 2, 'Europe/Berlin'), '03-29 03:00, 03-30 02:30', 'a time that the clock skips is made up for after the gap');
SELECT is(pg_temp.times('*/30 * * * *', '2026-03-29 01:15+01', 3, 'Europe/Berlin'), '03-29 01:30, 03-29 03:00, 03-29 03:30', 'every half hour has nothing to make up for');
SELECT is(pg_temp.times('59 1,2 * * *', '2026-03-29 01:58+01', 2, 'Europe/Berlin'), '03-29 01:59, 03-29 03:00', 'also directly after the minute before the gap');
SELECT is(pg_temp.times('30 2 * * *', '2026-10-24 12:00+02', 3, 'Europe/Berlin'), '10-25 02:30, 10-26 02:30, 10-27 02:30', 'a time that the clock repeats happens once');
SELECT is(pg_temp.times('0 * * * *', '2026-10-25 01:30+02', 3, 'Europe/Berlin'), '10-25 02:00, 10-25 02:00, 10-25 03:00', 'but every hour means every hour');
-- Havana had the hour after midnight twice on 3 November 2024, and the Azores had it on 25 October 2026
SELECT is(pg_temp.times('*/30 * * * *', '2024-11-02 23:45-04', 5, 'America/Havana'), '11-03 00:00, 11-03 00:30, 11-03 00:00, 11-03 00:30, 11-03 01:00', 'also in the hour after midnight');
SELECT is(pg_temp.times('0 * * * *', '2026-10-24 23:30+00', 3, 'Atlantic/Azores'), '10-25 00:00, 10-25 00:00, 10-25 01:00', 'wherever that is');
SELECT is(pg_temp.times('30 0 * * *', '2024-11-02 12:00-04', 2, 'America/Havana'), '11-03 00:30, 11-04 00:30', 'and once a day is once');
-- Santiago skips midnight
SELECT is(pg_temp.times('0 0 * * *', '2026-09-05 12:00-04', 2, 'America/Santiago'), '09-06 01:00, 09-07 00:00', 'a midnight that the clock skips');
-- Nuuk skips the last hour of 27 March 2027, and Apia the whole 30 December 2011
SELECT is(pg_temp.times('30 23 * * *', '2027-03-27 12:00-02', 2, 'America/Nuuk'), '03-28 00:00, 03-28 23:30', 'a time in a gap that ends the day is made up for');
SELECT is(pg_temp.times('30 23 27 3 *', '2027-03-27 12:00-02', 2, 'America/Nuuk'), '03-28 00:00, 03-27 23:30', 'although the next day is none of the schedule');
SELECT is(pg_temp.times('59 22,23 * * *', '2027-03-27 22:58-02', 3, 'America/Nuuk'), '03-27 22:59, 03-28 00:00, 03-28 22:59', 'also directly after the minute before the gap');
SELECT is(pg_temp.times('0 12 * * *', '2011-12-29 13:00-10', 2, 'Pacific/Apia'), '12-31 00:00, 12-31 12:00', 'and a day that the clock skips');

-- faults
CREATE TEMP TABLE bad (cron text, wrong text);
INSERT INTO bad VALUES
	('', 'argument "cron" must have between 1 and 1024 bytes, not 0'), (' ', 'cron schedule " " does not have five fields'), ('* * * *', 'cron schedule "* * * *" does not have five fields'), ('* * * * * *', 'cron schedule "* * * * * *" does not have five fields'),
	('60 * * * *', 'invalid minute in cron schedule "60 * * * *": must be between 0 and 59'), ('* 24 * * *', 'invalid hour in cron schedule "* 24 * * *": must be between 0 and 23'),
	('* * 0 * *', 'invalid day of month in cron schedule "* * 0 * *": must be between 1 and 31'), ('* * * 13 *', 'invalid month in cron schedule "* * * 13 *": must be between 1 and 12'),
	('* * * * 8', 'invalid day of week in cron schedule "* * * * 8": must be between 0 and 7'), ('* * * * moon', 'invalid day of week in cron schedule "* * * * moon": must be between 0 and 7'),
	('5-1 * * * *', 'invalid range 5-1 for the minute in cron schedule "5-1 * * * *": must not end before it begins'),
	('*/0 * * * *', 'invalid step 0 for the minute in cron schedule "*/0 * * * *": must be between 1 and 59'), ('*/x * * * *', 'invalid step 0 for the minute in cron schedule "*/x * * * *": must be between 1 and 59'),
	('1, * * * *', 'invalid minute in cron schedule "1, * * * *": must be between 0 and 59'), ('-1 * * * *', 'invalid minute in cron schedule "-1 * * * *": must be between 0 and 59'),
	('99999999999999999999 * * * *', 'invalid minute in cron schedule "99999999999999999999 * * * *": must be between 0 and 59'),
	('@sometimes', 'invalid cron schedule "@sometimes"'), ('0 0 30 feb *', 'cron schedule "0 0 30 feb *" never occurs');
SELECT throws_ok(format('SELECT clutch.schedule(%L, %L, pg_temp.note())', 'bad', cron), '22023', wrong, quote_literal(cron)) FROM bad;
SELECT throws_ok($$SELECT clutch.schedule('bad', '* * * * *', pg_temp.note(), 'Mars/Olympus')$$, '22023', 'time zone "Mars/Olympus" not recognized', 'an unknown time zone is refused');
-- every process that ticks would keep a zone for each of them
SELECT throws_ok(format('SELECT clutch.schedule(''bad'', ''* * * * *'', pg_temp.note(), %L)', zone), '22023', format('time zone "%s" is a description, not a name', zone), 'a description is refused: ' || zone)
FROM unnest('{<A>1,aaa1,"CET-1CEST,M3.5.0,M10.5.0/3",+01:30,+001}'::text[]) zone;
SELECT is((SELECT string_agg(name || ': ' || fixture.fault(format('SELECT clutch.schedule(''any'', ''* * * * *'', pg_temp.note(), %L)', name)), ', ') FROM pg_timezone_names
	WHERE name <> 'Factory' AND name !~ '^(posix|right)/' AND fixture.fault(format('SELECT clutch.schedule(''any'', ''* * * * *'', pg_temp.note(), %L)', name)) <> 'no error'),
	NULL, 'all names of time zones are accepted');
SELECT lives_ok(format('SELECT clutch.schedule(''any'', ''* * * * *'', pg_temp.note(), %L)', zone), 'and offsets in whole hours: ' || zone) FROM unnest('{+01,-5,12,europe/berlin,utc}'::text[]) zone;
SELECT clutch.unschedule('any') \g /dev/null
CREATE FUNCTION pg_temp.argument_fault(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', SQLSTATE, nullif(detail, '')::jsonb -> 0 ->> 'code', nullif(detail, '')::jsonb -> 0 ->> 'argument');
END $$;
SELECT is(pg_temp.argument_fault($$SELECT clutch.schedule('', '* * * * *', pg_temp.note())$$), '22023 EMPTY name', 'a name is required, and the error says of which argument');
SELECT is(pg_temp.argument_fault(format('SELECT clutch.schedule(%L, ''* * * * *'', pg_temp.note())', repeat('x', 129))), '22023 TOO_LONG name', 'a name has 128 bytes at most');
SELECT is(pg_temp.argument_fault(s), fault, 'an argument of a subscription that is out of range is named: ' || s)
FROM (VALUES ('SELECT clutch.subscribe('''')', '22023 EMPTY name'), ('SELECT clutch.subscribe(''s'', members => 0)', '22023 NUMBER_OUT_OF_RANGE members'),
	('SELECT * FROM clutch.read(''s'', 0)', '22023 NUMBER_OUT_OF_RANGE max_events')) AS v(s, fault);
SELECT throws_ok($$SELECT clutch.schedule(repeat('x', 200), '* * * * *', pg_temp.note())$$, '22023', NULL, 'a name has a maximal length');
SELECT throws_ok($$SELECT clutch.schedule('bad', '* * * * *', '[]')$$, 'KL001', NULL, 'an envelope must be an object');
SELECT throws_ok($$SELECT clutch.schedule('bad', '* * * * *', pg_temp.note('{"type": "no.such"}'))$$, 'KL001', NULL, 'an invalid envelope is refused at once');
SELECT is(clutch.unschedule('times') || ' ' || clutch.unschedule('times'), 'true false', 'unschedule() returns true once');
SELECT is(pg_temp.argument_fault($$SELECT clutch.schedule('bad', repeat(' ', 1016) || '* * * * *', pg_temp.note())$$), '22023 TOO_LONG cron', 'a cron expression has 1024 bytes at most');
SELECT throws_like($$SELECT clutch.schedule('bad', '* * * * *', pg_temp.note() || jsonb_build_object('id', repeat('x', 2000000)))$$, '%limit is 1048576 (setting clutch.max_envelope_bytes)%', 'the limits apply to what is given, not only to what is sent');

-- ------------------------------------------------------------- once, not twice
SELECT pg_temp.at('2026-03-01 07:59') \g /dev/null
SELECT is(clutch.schedule('brief', '0 8 * * *', clutch.envelope('task.request', 'agent:ui', '{agent:ken}', '{"goal": "news"}', run_id => 'run:news') - 'thread_id'), '2026-03-01 08:00+00'::timestamptz, 'schedule() returns the first time');
SELECT is(pg_temp.sent(), '0', 'a schedule that is not due sends nothing');
SELECT pg_temp.at('2026-03-01 08:00') \g /dev/null
SELECT is(pg_temp.sent() || pg_temp.sent(), '10', 'a due one sends once');
SELECT matches((SELECT concat_ws(' ', id, task_id, run_id, thread_id) FROM clutch.events WHERE type = 'task.request'),
	'^msg:brief@2026-03-01T08:00:00.000000Z_[0-9A-Z]{26} task:brief@2026-03-01T08:00:00.000000Z_[0-9A-Z]{26} run:news thread:brief_[0-9A-Z]{26}$', 'the ids consist of the name, the time, and what nobody else can compute');
SELECT is((SELECT envelope ->> 'ts' FROM clutch.events WHERE type = 'task.request'), '2026-03-01T08:00:00.000000Z', 'and ts is the time');
BEGIN;
SELECT pg_temp.at('2026-03-02 08:00') \g /dev/null
SELECT clutch.tick(), clutch.settle() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE id LIKE 'msg:brief@2026-03-02T08:00:00.000000Z%'), 1::bigint, 'sent');
ROLLBACK;
SELECT pg_temp.at('2026-03-02 08:00') \g /dev/null
SELECT is((SELECT runs || ' ' || next_at FROM clutch.schedules), '1 2026-03-02 08:00:00+00', 'and not sent if that is rolled back');
SELECT is(pg_temp.sent() || pg_temp.sent(), '10', 'so the next tick sends it');
-- nobody has called tick for five days
SELECT pg_temp.at('2026-03-07 09:00') \g /dev/null
SELECT is(pg_temp.sent() || pg_temp.sent(), '10', 'missed times are made up for once');
SELECT is((SELECT concat_ws(' ', runs, missed, last_at, next_at) FROM clutch.schedules), '3 4 2026-03-03 08:00:00+00 2026-03-08 08:00:00+00', 'and counted');
SELECT is((SELECT count(*) FROM clutch.tasks), 3::bigint, 'there are three tasks');
-- a second call with the same name replaces the schedule
SELECT is(clutch.schedule('brief', '0 9 * * *', pg_temp.note()), '2026-03-08 09:00+00'::timestamptz, 'the same name replaces the schedule');
SELECT is((SELECT concat_ws(' ', cron, runs, envelope ->> 'type') FROM clutch.schedules), '0 9 * * * 3 chat.message', 'there is one of that name');
-- restored: an occurrence that is in the log already is not sent again
SELECT pg_temp.at('2026-03-08 09:00') \g /dev/null
SELECT pg_temp.sent() \g /dev/null
UPDATE clutch.schedule SET next_at = '2026-03-08 09:00';
SELECT pg_temp.sent() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE id LIKE 'msg:brief@2026-03-08%'), 1::bigint, 'the id has the time of the new one');

-- a schedule whose envelope has an idempotency key, in a run that has many events
SELECT clutch.schedule('keyed', '* * * * *', pg_temp.note('{"idempotency_key": "key"}')) \g /dev/null
SELECT pg_temp.at('2026-03-08 09:0' || n), pg_temp.sent() FROM generate_series(1, 3) n \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE id LIKE 'msg:keyed@%'), 3::bigint, 'each event has an idempotency_key of its own');
SELECT clutch.unschedule('keyed') \g /dev/null
SELECT pg_temp.at('2026-03-08 09:00') \g /dev/null

-- --------------------------------------------------------------- in whose name
CREATE ROLE schedule_lois;
SELECT clutch.grant_agent('schedule_lois', 'agent:lois') \g /dev/null
SET ROLE schedule_lois;
SELECT throws_ok($$SELECT clutch.schedule('mine', '* * * * *', pg_temp.note())$$, '42501', NULL, 'a role cannot schedule in the name of another''s agent');
SELECT is(clutch.unschedule('brief'), false, 'nor end the schedule of another role');
SELECT lives_ok($$SELECT clutch.schedule('brief', '@yearly', pg_temp.note('{"from": {"agent_id": "agent:lois"}, "run_id": "run:lois"}'))$$, 'it can have one of the same name');
SELECT is((SELECT string_agg(concat_ws(' ', name, owner, cron), ', ') FROM clutch.schedules), 'brief schedule_lois @yearly', 'and sees that one');
RESET ROLE;
SELECT is((SELECT count(*) FROM clutch.schedules WHERE name = 'brief'), 2::bigint, 'an operator sees both');
SELECT is(clutch.unschedule('brief'), true, 'and ends its own');
SELECT is((SELECT string_agg(owner::text, ' ') FROM clutch.schedules WHERE name = 'brief'), 'schedule_lois', 'the other one goes on');
SELECT is(clutch.unschedule('brief'), true, 'which an operator may end, too, as nobody else has one of that name');
SET ROLE schedule_lois;
SELECT clutch.schedule('brief', '@yearly', pg_temp.note('{"from": {"agent_id": "agent:lois"}, "run_id": "run:lois"}')) \g /dev/null
SELECT lives_ok($$SELECT clutch.schedule('mine', '* * * * *', pg_temp.note('{"from": {"agent_id": "agent:lois"}, "run_id": "run:lois"}'))$$, 'it can in the name of its own agent');
SELECT clutch.unschedule('brief') \g /dev/null
RESET ROLE;
SELECT pg_temp.at('2026-03-08 09:01') \g /dev/null
SELECT is(pg_temp.sent(), '1', 'whoever ticks');
SELECT is((SELECT from_agent FROM clutch.events WHERE id LIKE 'msg:mine@%'), 'agent:lois', 'sends it in the name of its owner');
SELECT clutch.revoke_agent('schedule_lois', 'agent:lois') \g /dev/null
SELECT clutch.schedule('also', '* * * * *', pg_temp.note()) \g /dev/null
SELECT pg_temp.at('2026-03-08 09:02') \g /dev/null
SELECT is(pg_temp.sent(), '1', 'a schedule whose owner lost its right holds up no other');
SELECT is((SELECT string_agg(concat_ws(' ', name, runs, left(last_error, 5)), ', ' ORDER BY name) FROM clutch.schedules), 'also 1, mine 1 42501', 'and shows the error');
SELECT is((SELECT count(*) FROM clutch.events WHERE id LIKE 'msg:mine@%'), 1::bigint, 'it has sent nothing');
SELECT clutch.unschedule(name) FROM clutch.schedules \g /dev/null
DROP OWNED BY schedule_lois;
DROP ROLE schedule_lois;

-- ------------------------------------------------------ a zone that is no more
-- (another tzdata, or restored where it is not known)
SELECT pg_temp.at('2026-03-08 10:00') \g /dev/null
SELECT clutch.schedule(name, '* * * * *', pg_temp.note()) FROM (VALUES ('gone'), ('stays')) AS n(name) \g /dev/null
UPDATE clutch.schedule SET timezone = 'Mars/Olympus' WHERE name = 'gone';
SELECT pg_temp.at('2026-03-08 10:01') \g /dev/null
SELECT lives_ok('SELECT clutch.tick()', 'a time zone that is gone does not stop a tick');
SELECT is((SELECT string_agg(concat_ws(' ', name, runs, missed, next_at, last_error), ', ' ORDER BY name) FROM clutch.schedules),
	'gone 0 0 infinity 22023: time zone "Mars/Olympus" not recognized, stays 1 0 2026-03-08 10:02:00+00', 'its schedule rests and shows why, others go on');
SELECT clutch.unschedule(name) FROM clutch.schedules \g /dev/null

-- ---------------------------------------------------------------- at a time
SELECT pg_temp.at('2026-03-09') \g /dev/null
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"}, "capabilities": [{"id": "skill:x"}]}') \g /dev/null
SELECT is((SELECT task_id FROM clutch.send_at(clutch.envelope('task.request', 'agent:ui', '{agent:ken}', id => 'msg_at', run_id => 'run:at', thread_id => 'thread:at', task_id => 'task:at', meta => '{"clutch": {"priority": 3}, "mine": 1}'), '2026-03-09 10:00')),
	'task:at', 'a request can be scheduled for once');
SELECT is((SELECT duplicate FROM clutch.send_at(clutch.envelope('task.request', 'agent:ui', '{agent:ken}', id => 'msg_at', run_id => 'run:at', thread_id => 'thread:at', task_id => 'task:at', meta => '{"clutch": {"priority": 3}, "mine": 1}'), '2026-03-09 10:00')), true, 'sent again it is the same request');
SELECT is((SELECT envelope -> 'meta' FROM clutch.events WHERE id = 'msg_at'), '{"mine": 1, "clutch": {"priority": 3, "not_before": "2026-03-09T10:00:00.000000Z"}}'::jsonb, 'the rest of its meta is kept');
SELECT pg_temp.at('2026-03-09 09:59:59') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken', 10) WHERE task_id = 'task:at'), 0::bigint, 'it is held until its time');
SELECT pg_temp.at('2026-03-09 10:00') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT clutch.finish('agent:ken', task_id) FROM clutch.tasks WHERE agent_id = 'agent:ken' AND status = 'running' \g /dev/null
SELECT is((SELECT count(*) FROM clutch.tasks WHERE task_id = 'task:at' AND (status = 'assigned' OR waiting_for = 'capacity')), 1::bigint, 'then it is assigned as any other');
SELECT throws_ok($$SELECT clutch.send_at(pg_temp.note(), '2026-03-10')$$, '22023', NULL, 'only a request can be held');
SELECT throws_ok($$SELECT clutch.send_at(pg_temp.note(), 'infinity')$$, '22023', NULL, 'and not at infinity');
SELECT throws_ok($$SELECT clutch.send_at(NULL, '2026-03-10')$$, NULL, NULL, 'NULL is refused');
SELECT throws_ok($$SELECT clutch.send_at('[]', '2026-03-10')$$, 'KL001', NULL, 'an envelope must be an object');
SELECT throws_ok(format($$SELECT clutch.send_at(clutch.envelope('task.request', 'agent:ui', meta => %L), '2026-03-10')$$, meta), 'KL001', NULL, 'and so must its meta: ' || meta)
FROM unnest('{[],"{\"clutch\": 1}"}'::text[]) meta;
CREATE ROLE clutch_test_passing;
SELECT clutch.grant_agent('clutch_test_passing', 'agent:passing') \g /dev/null
SET ROLE clutch_test_passing;
SELECT clutch.schedule('passing', '* * * * *', clutch.envelope('chat.message', 'agent:passing')) \g /dev/null
RESET ROLE;
DROP OWNED BY clutch_test_passing;
DROP ROLE clutch_test_passing;
SET clutch.clock = '2026-03-11T00:00:00Z';
SELECT clutch.tick() \g /dev/null
SELECT alike(last_error, '42704: the role that scheduled it does not exist%', 'a schedule of a dropped role sends nothing') FROM clutch.schedules WHERE name = 'passing';
SELECT is((SELECT count(*) FROM clutch.events WHERE from_agent = 'agent:passing'), 0::bigint, 'even though its grants are left');

-- an error that has nothing to do with a single schedule keeps a tick from no other work
SELECT clutch.schedule('lame', '* * * * *', clutch.envelope('chat.message', 'agent:ui')) \g /dev/null
CREATE INDEX lame ON clutch.schedule (lower(name));
SET clutch.clock = '2026-03-12T00:00:00Z';
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:none}', run_id => 'run:lame', thread_id => 'thread:1', task_id => 'task:lame',
	meta => '{"clutch": {"deadline": "2026-03-12T00:00:01Z"}}')) \g /dev/null
SET clutch.clock = '2026-03-12T00:01:00Z';
SET client_min_messages = error;
SELECT lives_ok('SELECT clutch.tick()', 'a tick survives an index that cannot be used');
SELECT is((SELECT status FROM clutch.tasks WHERE task_id = 'task:lame'), 'timed_out', 'and does its other work');
DROP INDEX clutch.lame;
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT runs FROM clutch.schedules WHERE name = 'lame'), 1::bigint, 'the schedule is sent when it is gone');

-- --------------------------------------------------- what is kept of an envelope
SELECT pg_temp.at('2031-03-01 07:59') \g /dev/null
SELECT clutch.schedule('told', '0 8 * * *', clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', task_id => 'task:mine')),
	clutch.schedule('asked', '0 8 * * *', clutch.envelope('task.request', 'agent:ui', '{agent:ken}', '{"goal": "news"}', idempotency_key => 'mine')) \g /dev/null
SELECT is((SELECT string_agg(name || ': ' || (SELECT string_agg(k, ' ' ORDER BY k COLLATE "C") FROM jsonb_object_keys(envelope) k WHERE k ~ '^(id|ts|.*_id|.*_key)$'), ', ' ORDER BY name) FROM clutch.schedules WHERE name IN ('told', 'asked')),
	'asked: idempotency_key run_id thread_id, told: run_id task_id thread_id', 'what each sending replaces is not kept');
-- rows of earlier versions have it
UPDATE clutch.schedule SET envelope = envelope || '{"id": "msg:old", "ts": "2020-01-01T00:00:00Z", "task_id": "task:old"}' WHERE name = 'asked';
SELECT pg_temp.at('2031-03-01 08:00') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(name || ' ' || runs, ', ' ORDER BY name) FROM clutch.schedules WHERE name IN ('told', 'asked')), 'asked 1, told 1', 'and an envelope that still has it is sent');
SELECT is((SELECT count(*) FROM clutch.events WHERE id = 'msg:old' OR task_id = 'task:old'), 0::bigint, 'with what replaces it');
SELECT clutch.unschedule('told'), clutch.unschedule('asked') \g /dev/null

-- ------------------------------------------------- how long each of them may take
SELECT pg_temp.at('2031-04-01 07:59') \g /dev/null
SELECT is(fixture.fault($$SELECT clutch.schedule('daily', '0 8 * * *', clutch.envelope('task.request', 'agent:ui', '{agent:ken}', deadline => '7 days'))$$),
	'KL001 NOT_ALLOWED /meta/clutch/deadline', 'a deadline is one time, which most of the occurrences would be after');
SELECT is((SELECT count(*) FROM clutch.schedules WHERE name = 'daily'), 0::bigint, 'so nothing is scheduled');
SELECT clutch.schedule('daily', '0 8 * * *', clutch.envelope('task.request', 'agent:ui', '{agent:ken}', run_id => 'run:daily', meta => '{"clutch": {"ttl_ms": 3600000}}')) \g /dev/null
SELECT pg_temp.at('2031-04-01 08:00') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT pg_temp.at('2031-04-02 08:01') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT concat_ws(' ', runs, last_error) FROM clutch.schedules WHERE name = 'daily'), '2', 'each occurrence is sent');
SELECT is((SELECT string_agg(deadline::text, ', ' ORDER BY deadline) FROM clutch.tasks WHERE run_id = 'run:daily'),
	'2031-04-01 09:00:00+00, 2031-04-02 09:01:00+00', 'and has its own time');
SELECT clutch.unschedule('daily') \g /dev/null

-- ----------------------------------------------------- a clock that was wrong
SELECT clutch.unschedule(name) FROM clutch.schedules \g /dev/null
SELECT pg_temp.at('2031-03-02 01:00'), clutch.schedule('before', '*/10 * * * *', pg_temp.note()) \g /dev/null
SELECT pg_temp.at('2036-01-01 00:05'), clutch.tick(), clutch.schedule('meanwhile', '0 * * * *', pg_temp.note()) \g /dev/null
SELECT is((SELECT min(next_at) FROM clutch.schedules), '2036-01-01 00:10', 'the clock is years ahead, and so are the next times');
SELECT pg_temp.at('2031-03-02 01:05') \g /dev/null
SELECT is(pg_temp.sent(), '0', 'it is set back');
SELECT is((SELECT string_agg(name || ' ' || next_at, ', ' ORDER BY name) FROM clutch.schedules),
	'before 2031-03-02 01:10:00+00, meanwhile 2031-03-02 02:00:00+00', 'and so are they');
SELECT pg_temp.at('2031-03-02 01:10') \g /dev/null
SELECT is(pg_temp.sent(), '1', 'so schedules are sent');
SELECT pg_temp.at('2036-01-01 00:05'), clutch.tick() \g /dev/null
SELECT pg_temp.at('2031-03-02 01:25') \g /dev/null
SELECT is(pg_temp.sent(), '0', 'it is wrong again, for one tick');
SELECT is((SELECT string_agg(name || ' ' || next_at || ' ' || last_at, ', ' ORDER BY name) FROM clutch.schedules WHERE name = 'before'),
	'before 2031-03-02 01:30:00+00 2031-03-02 01:20:00+00', 'although that has sent only what was due');
SELECT pg_temp.at('2036-01-01 00:05'), clutch.tick() \g /dev/null
SELECT pg_temp.at('2031-03-02 01:35') \g /dev/null
\set ON_ERROR_STOP off
SELECT clutch.tick(), 1 / (random() * 0)::int;
\set ON_ERROR_STOP on
SELECT is(:'LAST_ERROR_SQLSTATE'::text, '22012', 'the tick that sees that it is set back is rolled back');
SELECT is(pg_temp.sent(), '0', 'so the next one looks again');
SELECT is((SELECT next_at FROM clutch.schedules WHERE name = 'before'), '2031-03-02 01:40', 'and finds the next time anew');
-- nor has anything changed if it was prepared and is then rolled back
SELECT pg_temp.at('2036-01-01 00:05'), clutch.tick() \g /dev/null
SELECT pg_temp.at('2031-03-02 01:45') \g /dev/null
BEGIN;
SELECT clutch.tick() \g /dev/null
SELECT clutch.settle() \g /dev/null
PREPARE TRANSACTION 'clutch_test_tick';
ROLLBACK PREPARED 'clutch_test_tick';
SELECT is(pg_temp.sent(), '0', 'a tick that was prepared is rolled back, so the next one looks again');
SELECT is((SELECT next_at FROM clutch.schedules WHERE name = 'before'), '2031-03-02 01:50', 'and finds the next time anew, too');

-- what many ticks send, one after the other, is not looked through by each of them
SELECT clutch.unschedule(name) FROM clutch.schedules \g /dev/null
SELECT pg_temp.at('2031-04-30 00:10'), clutch.schedule('many' || n, '0 * * * *', pg_temp.note()) FROM generate_series(1, 600) n \g /dev/null
SELECT pg_temp.at('2031-04-30 01:00') \g /dev/null
SET clutch.tick_batch = 50;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_get_tuples_returned('clutch.schedule_next_at'::regclass) AS before \gset
DO $$ BEGIN FOR i IN 1 .. 12 LOOP PERFORM clutch.tick(); COMMIT; END LOOP; END $$;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.schedules WHERE runs = 1), 600::bigint, 'twelve ticks send all of 600 schedules');
SELECT cmp_ok(pg_stat_get_tuples_returned('clutch.schedule_next_at'::regclass) - :before, '<', 2500::bigint, 'and read each of them a few times, and not all of them again in each tick');
RESET clutch.tick_batch;

-- each tick of a session of its own looks whether the clock was set back, so that must not take long for any schedule
CREATE FUNCTION pg_temp.takes(cron text) RETURNS interval LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	least_time interval;
BEGIN
	PERFORM clutch.unschedule(s.name) FROM clutch.schedules s;
	PERFORM pg_temp.at('2031-05-01 00:10'), clutch.schedule('look' || n, cron, pg_temp.note()) FROM generate_series(1, 1000) n;
	PERFORM clutch.tick();
	-- on a busy machine, most of them have to wait
	FOR i IN 1 .. 40 LOOP
		PERFORM pg_temp.at(format('2031-05-01 00:09:%s', 59 - i));
		began := clock_timestamp();
		PERFORM clutch.tick();
		least_time := least(least_time, clock_timestamp() - began);
	END LOOP;
	RETURN least_time;
END $$;
SELECT cmp_ok(pg_temp.takes('59 23 * * *'), '<', 20 * pg_temp.takes('15 0 * * *'), 'to find a time at the end of the day takes hardly longer than one at its beginning');

SELECT * FROM finish();
