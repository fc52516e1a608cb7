-- RFC 3339, strictly: section 5.6 and its own examples in 5.8, appendix D.
\ir ../fixtures/tap.sql
\ir ../fixtures/loader.sql
SELECT plan(84);

CREATE FUNCTION pg_temp.faults(ts text) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(path || ' ' || code, ', '), 'valid')
   FROM fixture, clutch.validate(doc || jsonb_build_object('ts', ts)) WHERE name = 'envelope_1_1' $$;

SELECT is(pg_temp.faults(ts), 'valid', 'is a timestamp: ' || ts)
FROM unnest(ARRAY[
	'1985-04-12T23:20:50.52Z', '1996-12-19T16:39:57-08:00', '1990-12-31T23:59:60Z', '1990-12-31T15:59:60-08:00',
	'1937-01-01T12:00:27.87+00:20',
	'2026-02-01T13:20:11.123Z', '2026-02-01t13:20:11z', '2026-02-01T13:20:11+00:00', '2026-02-01T13:20:11-00:00',
	'2026-02-01T13:20:11.1Z', '2026-02-01T13:20:11.123456789Z', '2026-02-01T00:00:00Z', '2026-02-01T23:59:59Z',
	'2024-02-29T00:00:00Z', '2000-02-29T00:00:00Z', '2026-12-31T23:59:59.999999999Z', '0000-01-01T00:00:00Z',
	'9999-12-31T23:59:59Z', '2026-02-01T13:20:11+23:59', '2026-02-01T13:20:11-23:59', '1998-12-31T23:59:60.5Z',
	'2017-01-01T05:29:60+05:30']) AS ts;

SELECT is(pg_temp.faults(ts), '/ts WRONG_FORMAT', 'is not a timestamp: ' || ts)
FROM unnest(ARRAY[
	'now', 'infinity', 'epoch', '2026-02-01', '13:20:11Z', '2026-02-01 13:20:11Z', '2026-02-01T13:20:11', '2026-02-01T13:20Z',
	'2026-02-01T13:20:11.Z', '2026-02-01T13:20:11,5Z', '2026-02-01T13:20:11.1234567890Z', '2026-02-01T24:00:00Z',
	'2026-02-01T13:60:11Z', '2026-02-01T13:20:61Z', '2026-02-01T13:20:60Z', '1998-12-31T23:58:60Z', '1998-12-31T22:59:60Z',
	'1998-12-31T23:59:60+01:00', '2026-00-01T13:20:11Z', '2026-13-01T13:20:11Z', '2026-02-00T13:20:11Z', '2026-02-29T13:20:11Z',
	'2026-04-31T13:20:11Z', '1900-02-29T13:20:11Z', '2026-02-01T13:20:11+24:00', '2026-02-01T13:20:11+00:60',
	'2026-02-01T13:20:11+0100', '2026-02-01T13:20:11+01', '2026-02-01T13:20:11 Z', ' 2026-02-01T13:20:11Z',
	'2026-02-01T13:20:11Z ', '2026-02-01T13:20:11Zz', '26-02-01T13:20:11Z', '02026-02-01T13:20:11Z', '-2026-02-01T13:20:11Z',
	'+2026-02-01T13:20:11Z', '2026-2-1T13:20:11Z', '2026-02-01T1:20:11Z', '2026-02-01T13:20:11UTC', '2026-02-01T13:20:11Europe/Berlin',
	'2026-W05-7T13:20:11Z', '2026-032T13:20:11Z', '20260201T132011Z', '２026-02-01T13:20:11Z', '2026-02-01T13:20:11−01:00',
	'1769952011']) AS ts;

-- the time of clutch is that of the setting, rounded to microseconds
CREATE FUNCTION pg_temp.at(clock text) RETURNS timestamptz LANGUAGE sql AS $$
	SELECT set_config('clutch.clock', clock, false);
	SELECT (clutch.envelope('chat.message', 'agent:a') ->> 'ts')::timestamptz $$;
SELECT is(pg_temp.at(clock), clock::timestamptz, 'the clock at ' || clock)
FROM unnest(ARRAY['2026-02-01T13:20:11.123Z', '1996-12-19T16:39:57-08:00', '2024-02-29T23:59:59.999999Z', '1937-01-01T12:00:27.87+00:20',
	'1999-12-31T23:59:59.5Z', '2000-01-01T00:00:00.000001Z', '1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) AS clock;
SELECT is(pg_temp.at('2026-02-01T13:20:11.1234567Z'), '2026-02-01T13:20:11.123457Z'::timestamptz, 'rounded up');
SELECT is(pg_temp.at('2026-02-01T13:20:11.1234564Z'), '2026-02-01T13:20:11.123456Z'::timestamptz, 'rounded down');
SELECT is(pg_temp.at('2026-12-31T23:59:59.9999999Z'), '2027-01-01T00:00:00Z'::timestamptz, 'rounded into the next year');
SELECT is(pg_temp.at('1990-12-31T23:59:60Z'), '1991-01-01T00:00:00Z'::timestamptz, 'a leap second is the first second of the next day');
SELECT set_config('clutch.clock', '2026-02-01T13:20:11.5+01:00', false);
SELECT is(clutch.envelope('chat.message', 'agent:a') ->> 'ts', '2026-02-01T12:20:11.500000Z', 'times are written in UTC with microseconds');
SELECT throws_ok($$ SELECT set_config('clutch.clock', 'yesterday', false) $$, '22023', NULL, 'an invalid clock is refused');
SELECT set_config('clutch.clock', '', false);
SELECT cmp_ok(abs(extract(epoch FROM (clutch.envelope('chat.message', 'agent:a') ->> 'ts')::timestamptz - clock_timestamp())), '<', 60::numeric,
	'without the setting it is the real time');

SELECT * FROM finish();
