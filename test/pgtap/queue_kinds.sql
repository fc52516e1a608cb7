-- Tasks of another requester that wait with many kinds of requirements cost an
-- agent that can do none of them nothing.
\ir ../fixtures/tap.sql
SELECT plan(7);
SET clutch.notify = off;
SET clutch.heartbeat_interval = 0;

SELECT fixture.agent('ken') \g /dev/null
SELECT fixture.ask('t' || n, NULL, 'skill:' || n) FROM generate_series(1, 300) n \g /dev/null
SELECT is((SELECT count(*) FROM clutch.tasks WHERE status = 'pending'), 300::bigint, '300 tasks of 300 kinds wait');
-- the first call of a session reads more than the others
SELECT clutch.claim('agent:ken') \g /dev/null

CREATE VIEW pg_temp.reads AS
	SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) AS n FROM pg_index WHERE indrelid IN ('clutch.waiting'::regclass, 'clutch.task'::regclass);
BEGIN;
SELECT coalesce(n, 0) AS before FROM pg_temp.reads \gset
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken')), 0::bigint, 'a claim of an agent that can do none of them finds nothing');
SELECT cmp_ok(n - :before, '<=', 20::numeric, 'and reads a few rows, not one of each kind') FROM pg_temp.reads;
COMMIT;

-- ------------------------------------------------- how many kinds there are
BEGIN;
SELECT pg_stat_get_xact_numscans('clutch.waiting_from_agent'::regclass) AS before \gset
SELECT fixture.ask('t301', NULL, 'skill:301') \g /dev/null
SELECT cmp_ok(pg_stat_get_xact_numscans('clutch.waiting_from_agent'::regclass) - :before, '<=', 5::bigint, 'another kind is counted without a scan for each of the others');
COMMIT;
SET clutch.max_waiting_kinds = 304;
SELECT fixture.ask(kind || n, NULL, 'skill:' || kind) FROM unnest('{a,b,c}'::text[]) kind, generate_series(1, 40) n \g /dev/null
SELECT is(fixture.fault($$SELECT fixture.ask('d', NULL, 'skill:d')$$), '54000 TOO_MANY_KINDS /requires', 'so are kinds of many tasks');
SELECT is(fixture.state('c40'), 'pending 1', 'the last kind below the limit may wait');
SELECT lives_ok($$SELECT fixture.ask('a41', NULL, 'skill:a')$$, 'and there is room for one task more of a kind that waits');
SELECT * FROM finish();
