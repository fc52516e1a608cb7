-- The output of a named step is kept once, whoever repeats it.
\ir ../fixtures/tap.sql
SELECT plan(32);
SET clutch.notify = off;
SET clutch.default_deadline = 0;
SET timezone = 'UTC';

CREATE FUNCTION pg_temp.fault(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	state text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, state = RETURNED_SQLSTATE;
	RETURN concat_ws(' ', state, detail::jsonb -> 0 ->> 'code', detail::jsonb -> 0 ->> 'argument', detail::jsonb -> 0 ->> 'path');
END $$;
CREATE FUNCTION pg_temp.raw(task text, step jsonb, more jsonb DEFAULT '{}', state text DEFAULT 'step', agent text DEFAULT 'agent:ken') RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('task.progress', agent, '{agent:ui}', jsonb_build_object('state', state), run_id => 'run:1', thread_id => 'thread:1',
		task_id => task, meta => jsonb_build_object('clutch', jsonb_build_object('step', step) || more)) $$;
CREATE FUNCTION pg_temp.steps(task text) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(concat_ws(' ', name, output, attempt), ', ') FROM clutch.steps(task) $$;

SELECT fixture.at(0) \g /dev/null
SELECT fixture.agent(name) FROM unnest('{ken,lois}'::text[]) name \g /dev/null
SELECT fixture.ask('t', 'agent:ken') \g /dev/null
SELECT is(fixture.claimed('agent:ken', 1, '10 s'), 't 1 new', 'a task is claimed') ;
SELECT clutch.progress('agent:ken', 't', '{"half": true}') \g /dev/null
SELECT fixture.at(5) \g /dev/null
SELECT is(clutch.step('agent:ken', 't', 'charge', '{"id": 7}', 1), '{"id": 7}', 'a step returns its output');
SELECT is((SELECT fixture.since_noon(lease_until) FROM clutch.task), 15.000, 'and renews the lease');
SELECT is(clutch.step('agent:ken', 't', 'charge', '{"id": 7.0}', 1), '{"id": 7}', 'the same output again: what was kept');
SELECT is(clutch.step('agent:ken', 't', 'charge', attempt => 1), '{"id": 7}', 'no output: what was kept');
SELECT is((SELECT count(*) FROM clutch.events WHERE envelope #> '{meta,clutch,step}' IS NOT NULL), 1::bigint, 'it is in the log once');
SELECT is(pg_temp.fault($$ SELECT clutch.step('agent:ken', 't', 'charge', '{"id": 8}', 1) $$), 'KL009 STEP_DIFFERS output', 'another output is an error');
SELECT is(clutch.step('agent:ken', 't', 'note'), 'null', 'null is an output');
SELECT is(pg_temp.fault($$ SELECT clutch.step('agent:ken', 't', 'note', '1') $$), 'KL009 STEP_DIFFERS output', 'and another one differs from it');
SELECT is(clutch.step('agent:ken', 't', 'list', '[1, "a"]') || clutch.step('agent:ken', 't', 'word', '"x"'), '[1, "a", "x"]', 'any JSON is an output');
SELECT is(pg_temp.steps('t'), 'charge {"id": 7} 1, note null 1, list [1, "a"] 1, word "x" 1', 'steps lists them in order');

-- ------------------------------------------------- the worker dies; the next one
SELECT fixture.at(60), clutch.tick() \g /dev/null
SELECT is(fixture.claimed('agent:ken', 1, '10 s'), 't 2 moved', 'a later attempt');
SELECT is((SELECT last_progress FROM clutch.claim('agent:lois')), NULL, 'which nobody else has');
SELECT is((SELECT e.envelope -> 'payload' FROM clutch.task t JOIN clutch.events e ON e.seq = t.progress_seq), '{"half": true}', 'steps are not the last progress');
SELECT is(clutch.step('agent:ken', 't', 'charge', '{"id": 7}', 2), '{"id": 7}', 'gets what was kept');
SELECT is(pg_temp.fault($$ SELECT clutch.step('agent:ken', 't', 'charge', '{"id": 7}', 1) $$), 'KL004 NOT_HELD task_id', 'but not the one before, which is to stop');
SELECT is(pg_temp.fault($$ SELECT clutch.step('agent:ken', 't', 'mail', '1', 1) $$), 'KL004 NOT_HELD task_id', 'which can keep nothing any more');
SELECT is(pg_temp.fault($$ SELECT clutch.step('agent:lois', 't', 'charge') $$), '42501 NOT_ASSIGNED agent_id', 'an agent that never had the task gets nothing');
SELECT is(pg_temp.fault($$ SELECT clutch.step('agent:ken', 'unknown', 'charge') $$), 'KL003 TASK_NOT_FOUND task_id', 'an unknown task');
SELECT is(pg_temp.fault($$ SELECT clutch.step('agent:ken', 't', NULL, '1') $$), '22004 NULL_VALUE name', 'a step needs a name');

-- ------------------------------------------------------------- raw envelopes
SELECT clutch.send(pg_temp.raw('t', '{"name": "raw", "output": {"n": 1}}')) \g /dev/null
SELECT is(clutch.step('agent:ken', 't', 'raw'), '{"n": 1}', 'an envelope keeps a step too');
SELECT clutch.send(pg_temp.raw('t', '{"name": "raw", "output": {"n": 1}}')) \g /dev/null
SELECT is((SELECT count(*) FROM clutch.steps('t') WHERE name = 'raw'), 1::bigint, 'once');
SELECT is(pg_temp.fault($$ SELECT clutch.send(pg_temp.raw('t', '{"name": "raw", "output": 2}')) $$), 'KL009 STEP_DIFFERS /meta/clutch/step/output', 'another output is an error');
SELECT is(pg_temp.fault($$ SELECT clutch.send(pg_temp.raw('t', '{"output": 2}')) $$), 'KL001 REQUIRED /meta/clutch/step/name', 'a step has a name');
SELECT is(pg_temp.fault($$ SELECT clutch.send(pg_temp.raw('t', '{"name": "x"}', '{"wait": {"for_ms": 1}}', 'suspended')) $$), 'KL001 NOT_ALLOWED /meta/clutch/step', 'a step is an event of its own');
SELECT is(pg_temp.fault($$ SELECT clutch.send(pg_temp.raw('t', '{"name": "x"}', '{}', 'suspended')) $$), 'KL001 REQUIRED /meta/clutch/wait', 'a suspended task waits for something');

-- ---------------------------------------------------------------- ten thousand
-- each in a transaction of its own, as a worker keeps them; how many pages some hundreds of them read
CREATE PROCEDURE pg_temp.keep(first integer, last integer) LANGUAGE plpgsql AS $$
BEGIN
	FOR n IN first .. last LOOP
		PERFORM clutch.step('agent:ken', 't', 'n' || n, to_jsonb(n));
		COMMIT;
	END LOOP;
END $$;
CREATE FUNCTION pg_temp.flushed() RETURNS void LANGUAGE sql AS $$ SELECT pg_stat_force_next_flush() $$;
CREATE FUNCTION pg_temp.pages() RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::bigint
	FROM pg_statio_user_tables WHERE schemaname = 'clutch' AND relname IN ('step', 'events', 'task', 'timer') $$;
CALL pg_temp.keep(1, 200);
SELECT pg_temp.flushed() \g /dev/null
SELECT pg_temp.pages() AS before \gset
CALL pg_temp.keep(201, 700);
SELECT pg_temp.flushed() \g /dev/null
SELECT pg_temp.pages() - :before AS early \gset
CALL pg_temp.keep(701, 9500);
SELECT pg_temp.flushed() \g /dev/null
SELECT pg_temp.pages() AS before \gset
CALL pg_temp.keep(9501, 10000);
SELECT pg_temp.flushed() \g /dev/null
SELECT pg_temp.pages() - :before AS late \gset
SELECT ok(:late BETWEEN 1 AND 2 * :early, format('after 9,500 steps, keeping one reads no more than twice the pages as after 200: %s, %s', :late, :early));
SELECT is((SELECT ROW(count(*), sum((output #>> '{}')::int))::text FROM clutch.steps('t') WHERE name LIKE 'n_%' AND name <> 'note'), '(10000,50005000)', 'thousands of steps');
SELECT seq AS hushed FROM clutch.steps('t') WHERE name = 'note' \gset
SELECT clutch.redact(:hushed, 'law') \g /dev/null
SELECT is(pg_temp.fault($$ SELECT clutch.step('agent:ken', 't', 'note', '{"is": "known"}') $$), 'no error', 'a step whose output was redacted takes any');
SELECT is((SELECT count(*) FROM clutch.steps('t') WHERE name = 'note' AND seq = :hushed), 1::bigint, 'and keeps none of it');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
