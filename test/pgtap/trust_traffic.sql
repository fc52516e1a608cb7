-- What a role has sent, for its quotas by minute and day: bytes, the rows that
-- transactions leave and how they are put together, and what is sent in its name.
\ir ../fixtures/tap.sql
SELECT plan(24);

CREATE ROLE clutch_test_app;
SELECT clutch.grant_agent('clutch_test_app', 'agent:app') \g /dev/null
SELECT fixture.at(0) \g /dev/null

-- a message of so many bytes
CREATE FUNCTION pg_temp.message(id text, bytes integer DEFAULT 1000) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	short jsonb := clutch.envelope('chat.message', 'agent:app', payload => '{"t": ""}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1', id => id);
	long jsonb;
BEGIN
	FOR padding IN 0 .. 8 LOOP
		long := jsonb_set(short, '{payload,t}', to_jsonb(repeat('x', bytes - pg_column_size(short) - padding)));
		EXIT WHEN pg_column_size(long) = bytes;
	END LOOP;
	RETURN long;
END $$;
CREATE FUNCTION pg_temp.send(envelope jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN CASE WHEN s.duplicate THEN 'duplicate' ELSE 'sent' END FROM clutch.send(envelope) s;
EXCEPTION WHEN SQLSTATE 'KL013' THEN
	RETURN SQLERRM;
END $$;
CREATE PROCEDURE pg_temp.send_each(name text, n integer) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		PERFORM clutch.send(pg_temp.message(name || i));
		COMMIT;
	END LOOP;
END $$;
CREATE FUNCTION pg_temp.used(of_what text) RETURNS bigint LANGUAGE sql AS $$
	SELECT q.used FROM clutch.quotas q WHERE q.role::text = 'clutch_test_app' AND q.what = of_what $$;

-- ---------------------------------------------------------------------- bytes
SELECT is(pg_column_size(pg_temp.message('msg_0')), 1000, 'a message of a thousand bytes');
SELECT clutch.set_quota('clutch_test_app', 'bytes_per_minute', 2500), clutch.set_quota('clutch_test_app', 'bytes_per_day', 4000) \g /dev/null
SET ROLE clutch_test_app;
SELECT is(pg_temp.send(pg_temp.message('msg_1')), 'sent', 'a thousand bytes of 2500');
SELECT is(pg_temp.send(pg_temp.message('msg_2', 1500)), 'sent', '1500 more, which is the limit');
SELECT is(pg_temp.send(pg_temp.message('msg_3', 600)), 'role "clutch_test_app" would exceed its quota of bytes_per_minute: limit 2500, used 2500, asked for 600', 'nothing more');
RESET ROLE;
SELECT fixture.at(61) \g /dev/null
SET ROLE clutch_test_app;
SELECT is(pg_temp.send(pg_temp.message('msg_4', 1501)), 'role "clutch_test_app" would exceed its quota of bytes_per_day: limit 4000, used 2500, asked for 1501', 'the day goes on counting');
SELECT is(pg_temp.send(pg_temp.message('msg_4', 1500)), 'sent', 'up to its limit');
SELECT is(format('%s %s', pg_temp.used('bytes_per_minute'), pg_temp.used('bytes_per_day')), '1500 4000', 'both are shown');
RESET ROLE;
SELECT fixture.at(43199) \g /dev/null
SELECT is(pg_temp.used('bytes_per_day'), 4000::bigint, 'until midnight in UTC');
SELECT fixture.at(43200) \g /dev/null
SELECT is(pg_temp.used('bytes_per_day'), 0::bigint, 'and then begins anew');

-- ------------------------------------------------------------------- the rows
SELECT clutch.set_quota('clutch_test_app', 'bytes_per_minute', NULL), clutch.set_quota('clutch_test_app', 'bytes_per_day', 1000000),
	clutch.set_quota('clutch_test_app', 'events_per_minute', 400) \g /dev/null
SET ROLE clutch_test_app;
SELECT clutch.send_batch(ARRAY(SELECT pg_temp.message('msg_b' || n) FROM generate_series(1, 20) n)) \g /dev/null
RESET ROLE;
SELECT fixture.answers($$SELECT events, bytes FROM clutch.traffic WHERE minute >= '2026-01-02'$$, 'VALUES (20, 20000)', 'a transaction leaves one row');
SELECT is((SELECT count(*) FROM clutch.traffic WHERE minute < '2026-01-02'), 3::bigint, 'those of the day before are still there');
SET ROLE clutch_test_app;
CALL pg_temp.send_each('msg_c', 200);
RESET ROLE;
SELECT cmp_ok((SELECT count(*) FROM clutch.traffic), '<=', 68::bigint, 'many transactions do not leave as many rows');
SELECT is((SELECT count(*) FROM clutch.traffic WHERE minute < '2026-01-02'), 0::bigint, 'those of the day before are gone');
SELECT is(format('%s %s', pg_temp.used('events_per_minute'), pg_temp.used('bytes_per_day')), '220 220000', 'and nothing is lost');
SELECT fixture.at(43320) \g /dev/null
SET ROLE clutch_test_app;
CALL pg_temp.send_each('msg_d', 200);
RESET ROLE;
SELECT cmp_ok((SELECT count(*) FROM clutch.traffic), '<=', 68::bigint, 'the rows of earlier minutes are put together, too');
SELECT is(format('%s %s', pg_temp.used('events_per_minute'), pg_temp.used('bytes_per_day')), '200 420000', 'for the day, and not for the minute');

-- what a row is kept for
SELECT clutch.set_quota('clutch_test_app', what, NULL) FROM unnest('{events_per_minute,bytes_per_day}'::text[]) what \g /dev/null
SELECT clutch.set_quota('clutch_test_app', 'schedules', 10) \g /dev/null
SELECT count(*) AS before FROM clutch.traffic \gset
SET ROLE clutch_test_app;
SELECT is(pg_temp.send(pg_temp.message('msg_e')), 'sent', 'without a rate, a role sends');
RESET ROLE;
SELECT is((SELECT count(*) FROM clutch.traffic), :before::bigint, 'and leaves no row');

-- ---------------------------------------------------------- in the role's name
SELECT clutch.set_quota('clutch_test_app', 'events_per_minute', 1) \g /dev/null
SELECT fixture.at(43440) \g /dev/null
SET ROLE clutch_test_app;
SELECT clutch.schedule('a', '*/10 * * * *', clutch.envelope('chat.message', 'agent:app', run_id => 'run:1')) \g /dev/null
SELECT clutch.schedule('b', '*/10 * * * *', clutch.envelope('chat.message', 'agent:app', run_id => 'run:1')) \g /dev/null
RESET ROLE;
SELECT fixture.at(43800) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT array_agg(runs ORDER BY runs) FROM clutch.schedules), '{0,1}', 'what is sent for a schedule counts for the role that made it');
SELECT is((SELECT last_error FROM clutch.schedules WHERE runs = 0), 'KL013: role "clutch_test_app" would exceed its quota of events_per_minute: limit 1, used 1, asked for 1', 'the other one says why it was not sent');
SELECT is((SELECT count(*) FROM clutch.schedules WHERE next_at = '2026-01-02 00:20Z'), 2::bigint, 'and is not tried again before its next time');
SELECT is((SELECT count(DISTINCT grantee) FROM clutch.traffic), 1::bigint, 'nobody else is counted');

-- an application's function: its owner sends
CREATE FUNCTION fixture.tell(id text) RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
	$$ SELECT id FROM clutch.send(clutch.envelope('chat.message', 'agent:app', run_id => 'run:1', id => id)) $$;
SET ROLE clutch_test_app;
SELECT is(fixture.fault($$SELECT fixture.tell('msg_told')$$), 'no error', 'a function of a superuser has no quota, whoever calls it');
RESET ROLE;
ALTER FUNCTION fixture.tell(text) OWNER TO clutch_test_app;
SELECT is(fixture.fault($$SELECT fixture.tell('msg_retold')$$), 'KL013 QUOTA_EXCEEDED ', 'and a function of the role has its quota');
DROP FUNCTION fixture.tell(text);
SELECT * FROM finish();
DROP OWNED BY clutch_test_app;
DROP ROLE clutch_test_app;
