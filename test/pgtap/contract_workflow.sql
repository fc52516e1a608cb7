-- Workflows: definitions, the run that is bound to one, the contracts of its steps,
-- their order, and how a run ends without one of them.
\ir ../fixtures/tap.sql
SELECT plan(173);
SET clutch.notify = off;
SET clutch.retry_max = 0;
SELECT fixture.agent('ken', 9), fixture.agent('lois', 9, '{skill:y}') \g /dev/null

-- ----------------------------------------------------------------- definitions
\set yaml '\'workflow: product-research\nsteps:\n  - id: research\n    expects:\n      type: task.result\n      payload_type: research.summary.v1\n      required:\n        - findings\n        - citations\n\''
SELECT is(clutch.register_workflow(to_jsonb(E:yaml::text)), 1, 'the workflow of the specification, in its YAML');
SELECT is(clutch.workflow_from_yaml(E:yaml), '{"workflow": "product-research", "steps": [{"id": "research", "expects": {"type": "task.result", "payload_type": "research.summary.v1", "required": ["findings", "citations"]}}]}'::jsonb,
	'what the YAML says');
SELECT is(clutch.register_workflow(clutch.workflow_from_yaml(E:yaml)), 1, 'the same definition is not registered again');
SELECT is(clutch.register_workflow(clutch.workflow_from_yaml(E:yaml) || '{"description": "another"}'), 2, 'another definition is the next version');
SELECT is(clutch.register_workflow(clutch.workflow_from_yaml(E:yaml) || '{"version": 1}'), 1, 'an older version may be named');
SELECT is(fixture.fault(format('SELECT clutch.register_workflow(%L)', clutch.workflow_from_yaml(E:yaml) || '{"version": 2}')), '23505 WORKFLOW_EXISTS /version', 'but not with another definition');
SELECT is(clutch.register_workflow(clutch.workflow_from_yaml(E:yaml) || '{"version": 7, "description": "seven"}'), 7, 'a version may be skipped');
SELECT is(clutch.register_workflow(clutch.workflow_from_yaml(E:yaml) || '{"description": "eight"}'), 8, 'the next one is the highest plus one');
SELECT fixture.answers($$SELECT version, place, step, type, payload_type, members, after_steps, is_optional FROM clutch.workflow_step WHERE workflow = 'product-research' AND version = 1$$,
	$$VALUES (1, 1, 'research', 'task.result', 'research.summary.v1', '{findings,citations}'::text[], '{}'::text[], false)$$, 'the steps are shown');
CREATE FUNCTION pg_temp.faults(definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	state text;
BEGIN
	PERFORM clutch.register_workflow(definition::jsonb);
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, state = RETURNED_SQLSTATE;
	RETURN state || ' ' || (SELECT string_agg(coalesce(f ->> 'path', f ->> 'argument') || ' ' || (f ->> 'code'), ', ' ORDER BY f ->> 'path') FROM jsonb_array_elements(detail::jsonb) f);
END $$;
SELECT is(pg_temp.faults(definition), '22023 ' || faults, 'a faulty definition: ' || definition) FROM (VALUES
	('1', ' WRONG_TYPE'), ('[]', ' WRONG_TYPE'), ('{}', '/steps REQUIRED, /workflow REQUIRED'), ('{"workflow": "a@1", "steps": []}', '/steps EMPTY, /workflow WRONG_FORMAT'),
	('{"workflow": "run:a", "steps": [1], "x": 1, "version": 0}', '/steps/0 WRONG_TYPE, /version NUMBER_OUT_OF_RANGE, /workflow WRONG_PREFIX, /x UNKNOWN_FIELD'),
	('{"workflow": "a", "steps": [{"id": "a"}, {"id": "a", "optional": 1}]}', '/steps/1/id DUPLICATE_VALUE, /steps/1/optional WRONG_TYPE'),
	('{"workflow": "a", "steps": [{"id": "a", "after": ["b", "c"]}, {"id": "b", "after": ["a"]}]}', '/steps CYCLE, /steps/0/after/1 WRONG_VALUE'),
	('{"workflow": "a", "steps": [{"id": "a", "after": ["a"]}]}', '/steps CYCLE'),
	('{"workflow": "a", "steps": [{"id": "a", "expects": {"type": "chat.message", "payload_type": "", "required": [1], "y": 1}}]}', '/steps/0/expects/payload_type EMPTY, /steps/0/expects/required/0 WRONG_TYPE, /steps/0/expects/type WRONG_VALUE, /steps/0/expects/y UNKNOWN_FIELD'),
	('{"workflow": "a", "steps": [{"id": "a", "expects": {"type": "task.progress"}}]}', '/steps/0/expects/payload_type REQUIRED'),
	('"a: ["', 'workflow WRONG_FORMAT'), ('""', 'workflow WRONG_FORMAT')) AS t(definition, faults);
SELECT throws_ok('SELECT clutch.register_workflow(NULL)', '22004', 'argument "workflow" must not be null', 'NULL is no workflow');

-- many steps after many others, the last ones first
CREATE FUNCTION pg_temp.long(n int, circle boolean) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('workflow', 'long', 'steps', jsonb_agg(jsonb_build_object('id', 's' || i,
		'after', (SELECT coalesce(jsonb_agg('s' || k ORDER BY k), CASE WHEN circle THEN jsonb_build_array('s' || n) ELSE '[]' END) FROM generate_series(1, i - 1) k WHERE k < 45 OR k = i - 1)) ORDER BY i DESC))
	FROM generate_series(1, n) i
$$;
SET clutch.max_list = 1024;
SET statement_timeout = '5s';
SELECT is(pg_temp.faults(pg_temp.long(1000, circle)::text), faults, CASE WHEN circle THEN 'a circle of a thousand steps' ELSE 'a thousand steps are checked quickly' END) FROM (VALUES (false, 'none'), (true, '22023 /steps CYCLE')) AS t(circle, faults);
RESET statement_timeout;
SELECT is(clutch.unregister_workflow('long', 1), true, 'what they leave is removed');
RESET clutch.max_list;

-- ------------------------------------------------------------------------ YAML
CREATE FUNCTION pg_temp.yaml(text text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN clutch.workflow_from_yaml(text)::text;
EXCEPTION WHEN invalid_parameter_value THEN
	RETURN SQLERRM;
END $$;
SELECT is(pg_temp.yaml(text), expected, 'YAML: ' || left(to_json(text)::text, 60)) FROM (VALUES
	(E'a: 1\nb: -2.50\nc: 1e2\nd: 007\ne: 0x10\nf: +1\ng: .5\nh: 1e9999', '{"a": 1, "b": -2.50, "c": 100, "d": "007", "e": "0x10", "f": "+1", "g": ".5", "h": "1e9999"}'),
	(E'a: ~\nb: null\nc:\nd: "null"\ne: true\nf: ''true''\ng: yes', '{"a": null, "b": null, "c": null, "d": "null", "e": true, "f": "true", "g": "yes"}'),
	(E'a: [1, {b: c}, []]\n"d": {}', '{"a": [1, {"b": "c"}, []], "d": {}}'), (E'a: |\n  x\n  y\nb: >\n  x\n  y\n', E'{"a": "x\\ny\\n", "b": "x y\\n"}'), (E'# nothing\n---\na: "ü\\u263a"\n...\n', '{"a": "ü☺"}'), ('{}', '{}'),
	('{1: 2, true: 3}', '{"1": 2, "true": 3}'),
	('a: 1' || E'\nb: 2\na: 3', 'invalid YAML at line 3, column 1: a key is there twice'),
	('a: &x 1', 'invalid YAML at line 1, column 4: anchors, aliases and tags are not supported'), (E'a: 1\nb: *a', 'invalid YAML at line 2, column 4: anchors, aliases and tags are not supported'),
	('a: !!str 1', 'invalid YAML at line 1, column 4: anchors, aliases and tags are not supported'), ('&x {}', 'invalid YAML at line 1, column 1: anchors, aliases and tags are not supported'),
	('- a', 'invalid YAML at line 1, column 1: it must be a mapping'), ('a', 'invalid YAML at line 1, column 1: it must be a mapping'), ('', 'invalid YAML at line 1, column 1: it is empty'),
	('? [a]' || E'\n: b', 'invalid YAML at line 1, column 3: a key must be a scalar'), (E'a: 1\n---\nb: 2', 'invalid YAML at line 2, column 1: a second document begins'), ('a: "\0"', 'invalid YAML at line 1, column 4: a text contains the character U+0000'),
	('a: ' || repeat('[', 32) || repeat(']', 32), 'invalid YAML at line 1, column 35: it is deeper than 32 levels'), ('a: [' || repeat('1,', 5000) || ']', 'invalid YAML at line 1, column 8191: it has more than 4096 nodes'),
	('a: [' || repeat('{},', 4093) || ']', '{"a": [' || rtrim(repeat('{}, ', 4093), ', ') || ']}'), ('a: [' || repeat('{},', 4094) || ']', 'invalid YAML at line 1, column 12284: it has more than 4096 nodes'),
	(E'a: 1\nü: x\x01', 'invalid YAML at line 2, column 5: control characters are not allowed'),
	(repeat('#', 262145), 'invalid YAML at line 1, column 1: it has more than 262144 bytes')) AS t(text, expected);
SELECT matches(pg_temp.yaml(E'a: [1\nb: 2'), '^invalid YAML at line 2, column \d+: ', 'what libyaml does not read has its place');

-- --------------------------------------------------------------------- binding
SELECT clutch.register_workflow('{"workflow": "report", "steps": [
	{"id": "collect", "expects": {"payload_type": "sources.v1", "required": ["sources"]}},
	{"id": "check", "after": ["collect"], "optional": true, "expects": {"payload_type": "check.v1"}},
	{"id": "write", "after": ["collect", "check"], "expects": {"payload_type": "text.v1", "required": ["text", "title"]}}]}') \g /dev/null
CREATE FUNCTION pg_temp.ask(task text, orders jsonb DEFAULT NULL, parent text DEFAULT NULL, run text DEFAULT 'run:1', more jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS
$$ SELECT fixture.fault(format('SELECT fixture.ask(%L, ''agent:ken'', NULL, %L::jsonb, %L, %L, %L)', task, orders, parent, run, more)) $$;
CREATE FUNCTION pg_temp.finish(task text, result jsonb, payload_type text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	state text;
	late boolean;
BEGIN
	SELECT r.late INTO late FROM clutch.finish('agent:ken', task, result, payload_type => finish.payload_type) r;
	RETURN CASE WHEN late THEN 'late' ELSE 'taken' END;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, state = RETURNED_SQLSTATE;
	RETURN state || ' ' || (SELECT string_agg((f ->> 'code') || ' ' || (f ->> 'argument') || coalesce(f ->> 'path', ''), ', ' ORDER BY f ->> 'argument', f ->> 'path') FROM jsonb_array_elements(detail::jsonb) f);
END $$;
CREATE FUNCTION pg_temp.status(run text) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(concat_ws(' ', step, state, task_id), ', ' ORDER BY place) FROM clutch.workflow_status(run) WITH ORDINALITY AS s(step, expects, is_required, state, task_id, agent_id, attempt, faults, met_seq, place) $$;
CREATE FUNCTION pg_temp.run(run text) RETURNS text LANGUAGE sql AS $$ SELECT concat_ws(' ', status, workflow, code) FROM clutch.runs WHERE run_id = run $$;

SELECT is(pg_temp.ask('t0', '{"workflow": "reprot"}', run => 'run:0'), 'KL004 WORKFLOW_NOT_FOUND /meta/clutch/workflow', 'an unknown workflow is refused');
SELECT throws_like($$SELECT fixture.ask('t0', orders => '{"workflow": "report@2"}')$$, 'workflow "report@2" is not registered', 'and an unknown version');
SELECT is(pg_temp.ask('t0', '{"workflow": "report@x"}', run => 'run:0'), 'KL004 WORKFLOW_NOT_FOUND /meta/clutch/workflow', 'a version is a number');
SELECT is(pg_temp.ask('t0', '{"step_of": "write"}', run => 'run:0'), 'KL004 STEP_NOT_FOUND /meta/clutch/step_of', 'a run without a workflow has no steps');
SELECT is(pg_temp.ask('t0', run => 'run:0') || ' ' || pg_temp.ask('t00', '{"workflow": "report"}', run => 'run:0'), 'no error KL004 WORKFLOW_MISMATCH /meta/clutch/workflow', 'a run is bound by its first request');
SELECT is((SELECT count(*) FROM clutch.workflow_status('run:0')), 0::bigint, 'a run without a workflow has no status');
SELECT is(pg_temp.ask('root', '{"workflow": "report"}'), 'no error', 'the first request binds the run');
SELECT is(pg_temp.ask('x', '{"workflow": "product-research"}'), 'KL004 WORKFLOW_MISMATCH /meta/clutch/workflow', 'a later one does not bind it to another workflow');
SELECT is(pg_temp.ask('x', '{"workflow": "report@2"}'), 'KL004 WORKFLOW_NOT_FOUND /meta/clutch/workflow', 'nor to another version');
SELECT is(pg_temp.ask('x', '{"step_of": "wirte"}'), 'KL004 STEP_NOT_FOUND /meta/clutch/step_of', 'an unknown step is refused');
SELECT is(pg_temp.status('run:1'), 'collect missing, check missing, write missing', 'nothing has been done');
SELECT is(pg_temp.run('run:1'), 'running report', 'the run shows its workflow');
SELECT is((SELECT version FROM clutch.run_workflow WHERE run_id = 'run:1'), 1, 'it keeps the version');
SELECT clutch.register_workflow('{"workflow": "report", "steps": [{"id": "other"}]}') \g /dev/null
SELECT is(pg_temp.status('run:1'), 'collect missing, check missing, write missing', 'even if a newer one is registered');

-- ----------------------------------------------------------------------- order
SELECT is(pg_temp.ask('w', '{"step_of": "write"}', 'root'), 'KL004 STEP_OUT_OF_ORDER /meta/clutch/step_of', 'a step does not begin before the steps that it comes after');
SELECT is(pg_temp.ask('w', NULL, 'root', more => '{"payload_type": "text.v1"}'), 'KL004 STEP_OUT_OF_ORDER /payload_type', 'a payload type names a step as well');
SELECT is(pg_temp.ask('c', '{"step_of": "collect"}', 'root'), 'no error', 'the first step begins');
SELECT is(pg_temp.ask('w', '{"step_of": "write"}', 'root'), 'KL004 STEP_OUT_OF_ORDER /meta/clutch/step_of', 'that it has begun is not enough');
SELECT is(pg_temp.ask('w', '{"step_of": "write", "after": ["c"]}', 'root'), 'no error', 'a request that waits for it is taken');
SELECT is(pg_temp.status('run:1'), 'collect assigned c, check missing, write pending w', 'and waits');

-- -------------------------------------------------------------------- contracts
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(pg_temp.finish('c', '{"sources": []}'), 'KL010 CONTRACT_BROKEN payload_type', 'a result without the payload type of its step is refused');
SELECT is(pg_temp.finish('c', '{"x": 1}', 'text.v1'), 'KL010 CONTRACT_BROKEN payload_type, CONTRACT_BROKEN result/sources', 'with all faults');
SELECT is(fixture.state('c'), 'running agent:ken 1', 'the agent still has the task');
SELECT is((SELECT faults FROM clutch.workflow_status('run:1') WHERE step = 'collect'), 2, 'the faults are counted, though the statements were rolled back');
SELECT is(pg_temp.finish('c', '{"sources": ["a"]}', 'sources.v1'), 'taken', 'a corrected result is taken');
SELECT is(pg_temp.status('run:1'), 'collect completed c, check missing, write assigned w', 'the step is completed, and the next one begins');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('task.result', 'agent:ken', payload => '{}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'w', payload_type => 'text.v1'))$$),
	'KL010 CONTRACT_BROKEN /payload/text', 'an envelope is judged in the same way');
SELECT is(pg_temp.finish('root', '{}'), 'taken', 'a root task may end while the last step is being done');
SELECT is(pg_temp.run('run:1'), 'running report', 'the run goes on');
SELECT is(pg_temp.finish('w', '{"text": null, "title": "x"}', 'text.v1'), 'taken', 'a member may be null');
SELECT is(pg_temp.run('run:1'), 'completed report', 'the run is completed without an optional step');
SELECT is(pg_temp.status('run:1'), 'collect completed c, check missing, write completed w', 'which is missing');

-- ------------------------------------------------- optional steps, tasks within
SELECT is(pg_temp.ask('o', '{"workflow": "report@1"}', run => 'run:opt') || ', ' || pg_temp.ask('oc', '{"step_of": "collect"}', 'o', 'run:opt'), 'no error, no error', 'another run begins');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT pg_temp.finish('oc', '{"sources": []}', 'sources.v1') \g /dev/null
SELECT is(pg_temp.ask('ok', '{"step_of": "check"}', 'o', 'run:opt') || ', ' || pg_temp.ask('ow', '{"step_of": "write"}', 'o', 'run:opt'),
	'no error, KL004 STEP_OUT_OF_ORDER /meta/clutch/step_of', 'an optional step that has begun is waited for');
SELECT is(pg_temp.ask('om', NULL, 'o', 'run:opt') || ', ' || pg_temp.ask('ol', NULL, 'om', 'run:opt'), 'no error, no error', 'tasks that do no step have children');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(pg_temp.finish('ol', '{}') || ' ' || pg_temp.finish('om', '{}') || ' ' || fixture.state('om'), 'taken taken completed agent:ken 1', 'only the task at the top has to leave no step undone');
SELECT clutch.fail('agent:ken', 'ok', 'NO_GOOD', 'it cannot be checked', false) \g /dev/null
SELECT is(pg_temp.ask('ow', '{"step_of": "write"}', 'o', 'run:opt'), 'no error', 'an optional step that has failed holds up nothing');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(pg_temp.finish('ow', '{"text": "a", "title": "b"}', 'text.v1') || ' ' || pg_temp.finish('o', '{}'), 'taken taken', 'the others end the run');
SELECT is(fixture.state('o'), 'completed agent:ken 1', 'which leaves no required step undone');

-- -------------------------------------------------------------- too many faults
SELECT is(pg_temp.ask('b1', '{"workflow": "product-research@1"}', run => 'run:2', more => '{"payload_type": "research.query.v1"}'), 'no error', 'a version may be named');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(pg_temp.status('run:2'), 'research missing', 'the step is not known yet');
SELECT is(pg_temp.finish('b1', '{"findings": []}', 'research.summary.v1'), 'KL010 CONTRACT_BROKEN result/citations', 'the payload type of the result tells the step');
SELECT is(pg_temp.finish('b1', '{"findings": []}', 'research.summary.v1'), 'KL010 CONTRACT_BROKEN result/citations', 'a worker repeats its result');
SELECT is(pg_temp.finish('b1', '{"findings": []}', 'research.summary.v1'), 'late', 'the third one is kept, and late');
SELECT is((SELECT concat_ws(' ', status, code, detail) FROM clutch.tasks WHERE task_id = 'b1'), 'failed CONTRACT_BROKEN the result broke the contract of step "research" of the workflow', 'the attempt has failed');
SELECT is((SELECT envelope #> '{payload,details}' FROM clutch.events WHERE task_id = 'b1' AND type = 'task.error'),
	'{"step": "research", "faults": [{"path": "/payload/citations", "message": "\"citations\" is missing."}]}', 'the error names the faults');
SELECT is((SELECT string_agg(type || CASE WHEN late THEN ' late' ELSE '' END, ', ' ORDER BY seq) FROM clutch.events WHERE task_id = 'b1' AND type IN ('task.error', 'task.result')), 'task.error, task.result late', 'the error precedes the result in the log');
SELECT is(pg_temp.run('run:2'), 'failed product-research WORKFLOW_INCOMPLETE', 'the run has failed');

SET clutch.retry_max = 5;
SET clutch.retry_initial = 0;
SET clutch.max_contract_faults = 1;
SELECT is(pg_temp.ask('b2', '{"workflow": "product-research"}', run => 'run:3'), 'no error', 'another run');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(pg_temp.finish('b2', '{"citations": []}', 'research.summary.v1'), 'late', 'with a limit of 1, the first fault fails the attempt');
SET clutch.max_contract_faults = 2;
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.claimed('agent:ken'), 'b2 2 retry', 'which is tried again');
SELECT is(pg_temp.finish('b2', '{"citations": []}', 'research.summary.v1'), 'KL010 CONTRACT_BROKEN result/findings', 'each attempt counts its own faults');
SELECT is(pg_temp.finish('b2', '{"citations": [], "findings": ["x"]}', 'research.summary.v1'), 'taken', 'and may succeed');
SELECT is(pg_temp.run('run:3') || ', ' || pg_temp.status('run:3'), 'completed product-research, research completed b2', 'then the run is completed');

-- ----------------------------------------------------------- a schema beside it
SELECT clutch.register_schema('sum.v1', '{"properties": {"sum": {"type": "integer"}}}'), clutch.register_workflow('{"workflow": "sums", "steps": [{"id": "sum", "expects": {"payload_type": "sum.v1", "required": ["sum", "of"]}}]}') \g /dev/null
SELECT is(pg_temp.ask('s1', '{"workflow": "sums", "step_of": "sum"}', run => 'run:4'), 'no error', 'a step with a schema');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(pg_temp.finish('s1', '{"sum": "2"}', 'sum.v1'), 'KL010 CONTRACT_BROKEN result/of, CONTRACT_BROKEN result/sum', 'the schema of the payload type is judged with the members');
SELECT is(pg_temp.finish('s1', '{"sum": 2, "of": [1, 1]}', 'sum.v1'), 'taken', 'what fits both is taken');
SELECT clutch.register_workflow('{"workflow": "any", "steps": [{"id": "any", "expects": {"required": ["of"]}}]}') \g /dev/null
SELECT is(pg_temp.ask('s9', '{"workflow": "any", "step_of": "any"}', run => 'run:any'), 'no error', 'a step that names no payload type');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(pg_temp.finish('s9', '{"sum": "2", "of": []}', 'sum.v1'), 'KL010 CONTRACT_BROKEN result/sum', 'is not completed by a payload that breaks the schema of its own type');
SELECT is(pg_temp.finish('s9', '{"sum": "2", "of": []}'), 'taken', 'but by one without a type');

-- ----------------------------------------------------- a run without a required step
SELECT is(pg_temp.ask('r5', '{"workflow": "report@1"}', run => 'run:5') || pg_temp.ask('c5', '{"step_of": "collect"}', 'r5', 'run:5'), 'no errorno error', 'a run with a root task');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(pg_temp.finish('c5', '{"sources": []}', 'sources.v1'), 'taken', 'its first step is done');
SELECT is(pg_temp.finish('r5', '{}'), 'late', 'the root task leaves a required step undone');
SELECT is((SELECT concat_ws(' ', status, code, detail) FROM clutch.tasks WHERE task_id = 'r5'), 'failed WORKFLOW_INCOMPLETE required steps of workflow "report" have not been done: write', 'so it fails');
SELECT is(pg_temp.run('run:5'), 'failed report WORKFLOW_INCOMPLETE', 'and so does the run');
SELECT is(pg_temp.ask('r6', '{"workflow": "report@1"}', run => 'run:6'), 'no error', 'a root task without subtasks');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(pg_temp.finish('r6', '{}'), 'taken', 'is no reason to fail, as others may follow');
SELECT is(pg_temp.run('run:6'), 'failed report WORKFLOW_INCOMPLETE', 'but the run is not complete');
SELECT is(pg_temp.ask('c6', '{"step_of": "collect"}', run => 'run:6'), 'no error', 'another task');
SELECT is(pg_temp.run('run:6'), 'running report', 'continues it');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(pg_temp.finish('c6', '{"text": 1, "title": 2}', 'text.v1'), 'KL010 CONTRACT_BROKEN payload_type, CONTRACT_BROKEN result/sources', 'a task that has its step does no other');
SELECT is(pg_temp.ask('u6', run => 'run:6'), 'no error', 'a task whose step is not known');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT is(pg_temp.finish('u6', '{"text": 1, "title": 2}', 'text.v1'), 'KL010 CONTRACT_BROKEN payload_type', 'keeps to the order of the steps by its result');
SELECT is(pg_temp.finish('u6', '{"anything": 1}', 'note.v1'), 'taken', 'and what is no step is free');

-- -------------------------------------------------------------- steps by progress
SELECT clutch.register_workflow('{"workflow": "draft", "steps": [{"id": "draft", "expects": {"type": "task.progress", "payload_type": "draft.v1", "required": ["text"]}}]}') \g /dev/null
SELECT is(pg_temp.ask('d7', '{"workflow": "draft", "step_of": "draft"}', run => 'run:7'), 'no error', 'a step that a progress completes');
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
CREATE FUNCTION pg_temp.progress(payload jsonb, payload_type text) RETURNS text LANGUAGE sql AS
$$ SELECT fixture.fault(format('SELECT clutch.send(%L)', clutch.envelope('task.progress', 'agent:ken', payload => progress.payload, run_id => 'run:7', thread_id => 'thread:1', task_id => 'd7', payload_type => progress.payload_type))) $$;
SELECT is(pg_temp.progress('{"percent": 1}', NULL), 'no error', 'another progress is free');
SELECT is(pg_temp.progress('{"percent": 1}', 'draft.v1'), 'KL010 CONTRACT_BROKEN /payload/text', 'that of the step is judged');
SELECT is(pg_temp.progress('{"text": "x"}', 'draft.v1'), 'no error', 'and taken');
SELECT is(pg_temp.progress('{"text": "y"}', 'draft.v1'), 'no error', 'also once more,');
SELECT is((SELECT met_seq FROM clutch.workflow_status('run:7')), (SELECT min(seq) FROM clutch.events WHERE run_id = 'run:7' AND payload_type = 'draft.v1'), 'but the first has completed the step');
SELECT clutch.register_workflow('{"workflow": "twice", "steps": [{"id": "one", "expects": {"payload_type": "twice.v1"}}, {"id": "other", "expects": {"payload_type": "twice.v1"}}]}') \g /dev/null
SELECT is(pg_temp.ask('d8', '{"workflow": "twice"}', run => 'run:twice', more => '{"payload_type": "twice.v1"}'), 'no error', 'a request whose payload type is that of two steps');
SELECT is((SELECT count(*) || ' ' || count(step) FROM clutch.workflow_task WHERE task_id = 'd8'), '1 0', 'does neither of them');
SELECT is((SELECT string_agg(state, ' ') FROM clutch.workflow_status('run:twice')), 'missing missing', 'as far as it has said');
SELECT is(pg_temp.status('run:7'), 'draft completed d7', 'then the step is completed');

-- ---------------------------------------------------------------------- removal
SELECT is(clutch.unregister_workflow('report', 2), true, 'a version to which no run is bound is removed');
SELECT is((SELECT count(*) FROM clutch.workflow WHERE name = 'report' AND version = 2), 0::bigint, 'entirely');
SELECT is(clutch.unregister_workflow('report', 2), false, 'it is not removed again');
SELECT throws_ok($$SELECT clutch.unregister_workflow('report', 1)$$, '55006', 'run "run:6" is bound to version 1 of workflow "report" and is not over', 'a run that goes on keeps its version');
SELECT fixture.ask('r8', 'agent:ken', NULL, '{"workflow": "report"}', run => 'run:8'), fixture.ask('r9', 'agent:ken', NULL, '{"workflow": "report"}', run => 'run:9') \g /dev/null
SELECT throws_ok($$SELECT clutch.unregister_workflow('report', 1)$$, '55006', 'run "run:6" (and 2 other runs) is bound to version 1 of workflow "report" and is not over', 'the first of several is named');
SELECT clutch.cancel('r8'), clutch.cancel('r9') \g /dev/null
SELECT is(clutch.unregister_workflow('product-research', 1), true, 'runs that are over keep nobody from it');
SELECT is(pg_temp.run('run:2'), 'failed product-research WORKFLOW_INCOMPLETE', 'and are shown as before');
SELECT is((SELECT string_agg(version::text, ' ' ORDER BY version) FROM clutch.workflow_step WHERE workflow = 'product-research' AND removed_at IS NOT NULL), '1', 'by the steps that they had');
SELECT is(clutch.unregister_workflow('product-research', 1), false, 'it is not removed again either');
SELECT is(pg_temp.ask('p1', '{"workflow": "product-research@1"}', run => 'run:10'), 'KL004 WORKFLOW_NOT_FOUND /meta/clutch/workflow', 'no run is bound to it any more');
SELECT is(pg_temp.ask('p2', '{"workflow": "product-research@1"}', run => 'run:2'), 'no error', 'but a run that was bound to it may go on');
SELECT clutch.cancel('p2') \g /dev/null
SELECT is(clutch.unregister_workflow('product-research', 8), true, 'the newest version is removed');
SELECT fixture.ask('p3', 'agent:ken', NULL, '{"workflow": "product-research"}', run => 'run:11') \g /dev/null
SELECT is((SELECT version FROM clutch.run_workflow WHERE run_id = 'run:11'), 7, 'then the one before it is bound');
SELECT clutch.cancel('p3') \g /dev/null
SELECT is(clutch.register_workflow(clutch.workflow_from_yaml(E:yaml) || '{"description": "nine"}'), 9, 'a number that runs know is not given again');
SELECT is(clutch.unregister_workflow('product-research', 9), true, 'what nobody has used goes');
SELECT is(clutch.register_workflow(clutch.workflow_from_yaml(E:yaml) || '{"version": 8, "description": "eight"}'), 8, 'a removed version is brought back');
SELECT is((SELECT string_agg(version::text, ' ' ORDER BY version) FROM clutch.workflow_step WHERE workflow = 'product-research' AND removed_at IS NOT NULL), '1', 'by its number');
SELECT is(fixture.fault(format('SELECT clutch.register_workflow(%L)', clutch.workflow_from_yaml(E:yaml) || '{"version": 1, "description": "one"}')), '23505 WORKFLOW_EXISTS /version', 'but not with another definition');

-- ------------------------------------------------------------- rebuild and prune
CREATE FUNCTION pg_temp.picture() RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(concat_ws('|', run_id, task_id, step, met_seq), ' ' ORDER BY task_id) || (SELECT string_agg(r::text, ' ' ORDER BY run_id) FROM clutch.run_workflow r) FROM clutch.workflow_task $$;
SELECT pg_temp.picture() AS before, fixture.picture() AS before_tasks \gset
SELECT clutch.rebuild() \g /dev/null
SELECT is(pg_temp.picture(), :'before', 'a rebuild finds the same');
SELECT is(fixture.picture(), :'before_tasks', 'also of the tasks');
TRUNCATE clutch.run_workflow;
SELECT clutch.rebuild() \g /dev/null
SELECT is((SELECT string_agg(run_id || ' ' || workflow || ' ' || version, ', ' ORDER BY run_id) FROM clutch.run_workflow WHERE run_id IN ('run:2', 'run:3')), 'run:2 product-research 1, run:3 product-research 8', 'without its binding, a run is bound to the version that it names, or the newest');
SELECT clutch.prune(clutch.now() + interval '1 day') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.workflow_task WHERE run_id IN ('run:1', 'run:2', 'run:3')), 0::bigint, 'prune removes the tasks of a run');
SELECT is((SELECT string_agg(run_id, ' ' ORDER BY run_id) FROM clutch.run_workflow), 'run:6 run:7 run:twice', 'and its binding');

SELECT is(clutch.unregister_workflow('product-research', 1), false, 'when the runs are gone,');
SELECT is((SELECT count(*) FROM clutch.workflow WHERE name = 'product-research' AND version = 1), 0::bigint, 'so is the version that was kept for them');
SELECT throws_ok($$SELECT clutch.unregister_workflow('report', 0)$$, '22023', 'argument "version" must be at least 1, not 0', 'versions begin with 1');

-- --------------------------------------------------------- the last of all versions
SELECT is(clutch.register_workflow('{"workflow": "last", "version": 2147483647, "steps": [{"id": "a"}]}'), 2147483647, 'a version may be as high as an integer');
SELECT throws_ok($$SELECT clutch.register_workflow('{"workflow": "last", "steps": [{"id": "b"}]}')$$, '22023', 'version 2147483647 of workflow "last" is the last one that there can be', 'after which there is none');
SELECT clutch.send(clutch.envelope('task.request', 'agent:lois', run_id => 'run:last', thread_id => 'last', task_id => 'last', meta => '{"clutch": {"workflow": "last@2147483647"}}')) \g /dev/null
SELECT is((SELECT version FROM clutch.run_workflow WHERE run_id = 'run:last'), 2147483647, 'a run can name it');
SELECT is((SELECT count(*) FROM (SELECT fixture.fault(format($$SELECT clutch.send(clutch.envelope('task.request', 'agent:lois', run_id => 'run:beyond', thread_id => 'last', task_id => 'beyond', meta => '{"clutch": {"workflow": "last@%s"}}'))$$, n)) AS fault
	FROM unnest('{2147483648,4294967296,9999999999,99999999999999999999999}'::text[]) n) f WHERE fault ~ '/meta/clutch/workflow'), 4::bigint, 'but none beyond it');

-- ------------------------------------------------- a step that many tasks do
-- includes what earlier transactions have read, until the server has been told
CREATE FUNCTION pg_temp.bindings_read() RETURNS bigint LANGUAGE sql AS
$$ SELECT coalesce(sum(idx_tup_fetch), 0)::bigint FROM pg_stat_xact_user_tables WHERE relid = 'clutch.workflow_task'::regclass $$;
SELECT clutch.register_workflow('{"workflow": "many", "steps": [{"id": "draft"}, {"id": "review", "after": ["draft"]}, {"id": "extra", "after": ["draft"], "optional": true}]}') \g /dev/null
SELECT fixture.ask('task:many', 'agent:ken', orders => '{"workflow": "many"}', run => 'run:many') \g /dev/null
SELECT count(fixture.ask('draft:' || i, 'agent:ken', orders => '{"step_of": "draft"}', parent => 'task:many', run => 'run:many')) FROM generate_series(1, 300) i \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken', 2) \g /dev/null
BEGIN;
SELECT pg_temp.bindings_read() AS read \gset
SELECT fixture.ask('review:1', 'agent:ken', orders => '{"step_of": "review", "after": ["draft:299"]}', parent => 'task:many', run => 'run:many') \g /dev/null
SELECT cmp_ok(pg_temp.bindings_read() - :read, '<', 9::bigint, 'a request that waits for one of many tasks of the step before it does not read the others');
COMMIT;
SELECT is(fixture.fault($$SELECT fixture.ask('review:2', 'agent:ken', orders => '{"step_of": "review", "after": ["review:1"]}', parent => 'task:many', run => 'run:many')$$),
	'KL004 STEP_OUT_OF_ORDER /meta/clutch/step_of', 'to wait for a task of another step is not enough');
SELECT clutch.finish('agent:ken', 'draft:1') \g /dev/null
BEGIN;
SELECT pg_temp.bindings_read() AS read \gset
SELECT fixture.ask('review:3', 'agent:ken', orders => '{"step_of": "review"}', parent => 'task:many', run => 'run:many') \g /dev/null
SELECT cmp_ok(pg_temp.bindings_read() - :read, '<', 9::bigint, 'nor does a request when the step is done');
COMMIT;
SELECT clutch.cancel_run('run:many') \g /dev/null
SELECT is(fixture.fault($$SELECT fixture.ask('many:2', 'agent:ken', orders => '{"step_of": "review"}', run => 'run:many')$$), 'no error', 'a step that one task has done stays done when the others are cancelled');

-- ------------------------------------------------------------------------ roles
CREATE ROLE clutch_test_flow;
SELECT clutch.grant_agent('clutch_test_flow', 'agent:flow', '{skill:z}') \g /dev/null
SET ROLE clutch_test_flow;
SELECT throws_ok($$SELECT clutch.register_workflow('{"workflow": "mine", "steps": [{"id": "a"}]}')$$, '42501', NULL, 'the role of an agent registers no workflow');
SELECT throws_ok($$SELECT clutch.unregister_workflow('report', 1)$$, '42501', NULL, 'and removes none');
SELECT is((SELECT count(*) FROM clutch.workflow_status('run:7')), 0::bigint, 'nor does it see the steps of a run that is not its own');
SELECT clutch.send(clutch.envelope('task.request', 'agent:flow', run_id => 'run:8', thread_id => 't8', task_id => 't8', meta => '{"clutch": {"workflow": "draft"}}')) \g /dev/null
SELECT is((SELECT string_agg(step || ' ' || state, ', ') FROM clutch.workflow_status('run:8')), 'draft missing', 'but those of its own run');
SELECT is((SELECT workflow FROM clutch.runs WHERE run_id = 'run:8'), 'draft', 'and the workflow of that run');
RESET ROLE;
DROP OWNED BY clutch_test_flow;
DROP ROLE clutch_test_flow;
SELECT * FROM finish();
