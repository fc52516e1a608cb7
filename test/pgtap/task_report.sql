-- What a report carries besides its payload: its type, what the work has cost,
-- attachments, the domain and the trace of its request; and which types of a
-- driver's parameters resolve.
\ir ../fixtures/tap.sql
SELECT plan(36);
SET clutch.notify = off;
SELECT fixture.at(0) \g /dev/null
SELECT fixture.agent('ken', 9), fixture.agent('lois', 9, '{skill:y}') \g /dev/null

CREATE FUNCTION pg_temp.last(task text, kind text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT envelope FROM clutch.events WHERE task_id = task AND type = kind ORDER BY seq DESC LIMIT 1
$$;
-- "SQLSTATE code argument path" of the first fault
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

-- -------------------------------------------------------------- what is carried
SELECT fixture.ask('task:1', more => '{"domain": "research", "trace": {"trace_id": "tr_1", "span_id": "sp_1"}}') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken') \g /dev/null
SELECT late FROM clutch.progress('agent:ken', 'task:1', '{"done": 0.5}', 1, '{"input_tokens": 100, "cost": 0.01}') \g /dev/null
SELECT is(pg_temp.last('task:1', 'task.progress') -> 'meta' -> 'clutch' -> 'usage', '{"input_tokens": 100, "cost": 0.01}', 'progress reports what the work has cost so far');
SELECT fixture.at(50000) \g /dev/null
SELECT late FROM clutch.finish('agent:ken', 'task:1', '{"findings": []}', 1, 'research.summary.v1', '{"output_tokens": 50, "cost": 0.02}',
	'[{"kind": "artifact_ref", "ref": "artifact:report_456"}]') \g /dev/null
SELECT is(pg_temp.last('task:1', 'task.result') ->> 'payload_type', 'research.summary.v1', 'finish takes the type of its payload');
SELECT is(pg_temp.last('task:1', 'task.result') -> 'attachments', '[{"kind": "artifact_ref", "ref": "artifact:report_456"}]', 'and attachments');
SELECT is(pg_temp.last('task:1', 'task.result') -> 'meta' -> 'clutch' -> 'usage', '{"output_tokens": 50, "cost": 0.02}', 'and what the work has cost');
SELECT is(pg_temp.last('task:1', 'task.result') ->> 'domain', 'research', 'a result has the domain of its request');
SELECT is(payload_type, 'research.summary.v1', 'the type is a column of the log') FROM clutch.events WHERE task_id = 'task:1' AND type = 'task.result';

-- ------------------------------------------------- a question that asks nothing
SELECT fixture.ask('task:spelt') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken') \g /dev/null
SELECT is(pg_temp.fault($$SELECT clutch.progress('agent:ken', 'task:spelt', '{"state": "input-required", "question": "Which?"}')$$), '22023 WRONG_VALUE payload', 'a question in the spelling of another protocol is refused');
SELECT is(pg_temp.fault($$SELECT clutch.report('agent:ken', 'task:spelt', 'task.progress', '{"state": "auth-required"}')$$), '22023 WRONG_VALUE payload', 'also in a report');
SELECT is(pg_temp.fault($$SELECT clutch.progress('agent:ken', 'task:spelt', '{"state": "input"}'), clutch.finish('agent:ken', 'task:spelt', '{"state": "input-required"}')$$), 'no error', 'any other state is only a word');

-- ------------------------------------------------------------------- the trace
SELECT is((SELECT string_agg(type, ' ' ORDER BY seq) FROM clutch.events WHERE task_id = 'task:1' AND envelope -> 'trace' = '{"trace_id": "tr_1", "span_id": "sp_1"}'),
	'task.request routing.decision task.accept task.progress task.result', 'decision, accept and reports carry the trace of the request');
SELECT fixture.at(0) \g /dev/null
SELECT fixture.ask('task:2', skill => 'skill:nobody', more => '{"trace": {"trace_id": "tr_2"}}', orders => '{"deadline": "2026-01-01T12:00:10Z"}') \g /dev/null
SELECT fixture.at(20) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(type, ' ' ORDER BY seq) FROM clutch.events WHERE task_id = 'task:2' AND envelope #>> '{trace,trace_id}' = 'tr_2'),
	'task.request routing.failure task.timeout', 'and so do failures and timeouts');
SELECT fixture.ask('task:3', more => '{"trace": null}') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE task_id = 'task:3' AND type <> 'task.request' AND envelope ? 'trace'), 0::bigint, 'a request without a trace adds none');

-- -------------------------------------------------------------- fail, report
SELECT late FROM clutch.fail('agent:ken', 'task:3', 'BROKEN', 'it is broken', false, NULL, 1, '{"input_tokens": 7}') \g /dev/null
SELECT is(pg_temp.last('task:3', 'task.error') -> 'meta', '{"clutch": {"usage": {"input_tokens": 7}}}', 'fail reports what the work has cost');
SELECT fixture.ask('task:4') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken') \g /dev/null
SELECT late FROM clutch.report('agent:ken', 'task:4', 'task.progress', '{"done": 1}', 1, '{"framework": "langgraph", "clutch": {"usage": {"input_tokens": 3}}}') \g /dev/null
SELECT is(pg_temp.last('task:4', 'task.progress') -> 'meta', '{"framework": "langgraph", "clutch": {"usage": {"input_tokens": 3}}}', 'report takes the whole of meta');
SELECT is((SELECT late FROM clutch.report('agent:ken', 'task:4', 'task.result', NULL, NULL, NULL)), false, 'and needs nothing but the type');

-- ----------------------------------------------------- errors name the argument
SELECT is(pg_temp.fault($$ SELECT clutch.finish('agent:ken', 'task:4', usage => '{"tokens": 1}') $$), 'KL001 UNKNOWN_FIELD usage /tokens', 'an error names usage');
SELECT is(pg_temp.fault($$ SELECT clutch.progress('agent:ken', 'task:4', '{}', usage => '[]') $$), 'KL001 WRONG_TYPE usage', 'also if it is not an object');
SELECT is(pg_temp.fault($$ SELECT clutch.finish('agent:ken', 'task:4', attachments => '[{"kind": "x"}]') $$), 'KL001 REQUIRED attachments /0/ref', 'attachments');
SELECT is(pg_temp.fault($$ SELECT clutch.finish('agent:ken', 'task:4', payload_type => '') $$), 'KL001 EMPTY payload_type', 'payload_type');
SELECT is(pg_temp.fault($$ SELECT clutch.report('agent:ken', 'task:4', 'task.progress', meta => '{"clutch": {"nonsense": 1}}') $$), 'KL001 UNKNOWN_FIELD meta /clutch/nonsense', 'and meta');

-- ---------------------------------------------------------------------- costs
SELECT is((SELECT string_agg(concat_ws(' ', run_id, agent_id, day, tokens, cost), ', ' ORDER BY day, run_id) FROM clutch.costs),
	'run:1 agent:ken 2026-01-01 110 0.01, run:1 agent:ken 2026-01-02 50 0.02', 'costs are shown by run, agent and day, though the run has no budget');
SELECT fixture.at(0) \g /dev/null
SELECT fixture.ask('task:5', skill => 'skill:y', run => 'run:2') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:lois') \g /dev/null
SELECT clutch.progress('agent:lois', 'task:5', '{}', 1, '{"output_tokens": 1}') FROM generate_series(1, 3) \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', agent_id, day, tokens, cost), ', ') FROM clutch.costs WHERE run_id = 'run:2'), 'agent:lois 2026-01-01 3 0', 'reports of one day are added up');
SELECT is((SELECT count(*) FROM clutch.spending WHERE run_id = 'run:2'), 1::bigint, 'in one row');
CREATE TEMP TABLE costs_before AS SELECT * FROM clutch.costs;
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same tasks');
SELECT is_empty('(TABLE costs_before EXCEPT TABLE clutch.costs) UNION ALL (TABLE clutch.costs EXCEPT TABLE costs_before)', 'and the same costs');
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.task WHERE is_traced), 'task:1 task:2', 'and which requests have a trace');

-- ----------------------------- what a report leaves as it was in the task's row
SELECT fixture.at(60000) \g /dev/null
SELECT fixture.ask('task:6', more => '{"domain": "research", "payload_type": "research.v1"}') \g /dev/null
-- texts so long that the row keeps them elsewhere
SELECT fixture.ask('task:7', more => jsonb_build_object('run_id', repeat('r', 250), 'prefers', '[]'::jsonb,
	'requires', (SELECT jsonb_agg('skill:' || md5(i::text) || repeat(md5('a' || i), 6)) FROM generate_series(1, 60) i),
	'to', '[{"agent_id": "agent:ken"}]'::jsonb)) \g /dev/null
SELECT fixture.agent('ken', 9, ARRAY(SELECT 'skill:' || md5(i::text) || repeat(md5('a' || i), 6) FROM generate_series(1, 60) i) || '{skill:x}') \g /dev/null
SELECT fixture.settle(), clutch.tick() \g /dev/null
SELECT is(fixture.claimed('agent:ken'), 'task:6 1 new, task:7 1 new', 'two tasks are claimed, one of them with much text');
SELECT cmp_ok(pg_column_size(requires), '>', 2500, 'which is more than a row has room for') FROM clutch.task WHERE task_id = 'task:7';
SELECT clutch.progress('agent:ken', task, '{}', 1) FROM unnest('{task:6,task:7}'::text[]) task \g /dev/null
CREATE TEMP TABLE rows_before AS SELECT * FROM clutch.task;
-- What "task" differs in from how it was before.
CREATE FUNCTION pg_temp.changed(task text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(a.key, ' ' ORDER BY a.key), 'nothing') FROM clutch.task t, rows_before b, jsonb_each(to_jsonb(t)) a
	WHERE t.task_id = task AND b.task_id = task AND a.value IS DISTINCT FROM to_jsonb(b) -> a.key
$$;
SELECT fixture.at(60010) \g /dev/null
SELECT clutch.progress('agent:ken', task, '{}', 1) FROM unnest('{task:6,task:7}'::text[]) task \g /dev/null
SELECT is(pg_temp.changed('task:6'), 'lease_until progress_seq', 'another progress changes the lease and what progress was last');
SELECT is(pg_temp.changed('task:7'), 'lease_until progress_seq', 'also of a row with much text');
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.task JOIN clutch.events USING (task_id) WHERE task_id IN ('task:6', 'task:7') AND progress_seq = events.seq
	AND lease_until = '2026-01-02 04:41:10Z' AND seq = (SELECT max(seq) FROM clutch.events e WHERE e.task_id = task.task_id)), 'task:6 task:7', 'which are the new ones');
SELECT clutch.release('agent:ken', task, 1) FROM unnest('{task:6,task:7}'::text[]) task \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', t.task_id, t.past_agents, t.requires = b.requires, t.run_id = b.run_id), ', ' ORDER BY t.task_id)
	FROM clutch.task t JOIN rows_before b USING (task_id) WHERE task_id IN ('task:6', 'task:7')), 'task:6 {agent:ken} t t, task:7 {agent:ken} t t', 'and when the agent gives them back, they keep what was asked for');

-- --------------------------------------------- parameters, as drivers type them
PREPARE untyped AS SELECT late FROM clutch.progress($1, $2, $3, $4, $5);
SELECT is(parameter_types::text, '{text,text,jsonb,integer,jsonb}', 'untyped parameters get the types of the arguments') FROM pg_prepared_statements WHERE name = 'untyped';
PREPARE small(varchar, varchar, jsonb, smallint) AS SELECT late FROM clutch.progress($1, $2, $3, $4);
SELECT is((SELECT count(*) FROM pg_prepared_statements WHERE name = 'small'), 1::bigint, 'varchar and smallint resolve without a cast');
SELECT throws_ok($$ SELECT clutch.progress('agent:lois', 'task:5', '{}', 1::bigint) $$, '42883', NULL, 'bigint needs a cast to integer');
SELECT throws_ok($$ SELECT clutch.progress('agent:lois', 'task:5', '{}'::json, 1) $$, '42883', NULL, 'and json one to jsonb');
