-- Types that are older than the protocol (spec Appendix A, issue: PROPOSAL and BLOCKER).
\ir ../fixtures/tap.sql
\ir ../fixtures/loader.sql
SELECT plan(33);

CREATE FUNCTION pg_temp.legacy(type text, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
$$ SELECT (doc || jsonb_build_object('type', type)) || more FROM fixture WHERE name = 'envelope_1_1' $$;

INSERT INTO clutch.task (task_id, run_id, thread_id, depth, status, from_agent, attempt, priority, reason, request_seq, since, created_at)
SELECT 'task_' || status, 'r', 't', 0, status, 'agent:ui', 1, 2, 'new', 1, now(), now()
FROM unnest('{pending,assigned,running,completed,failed,cancelled,timed_out}'::text[]) AS status;

SELECT is(clutch.from_legacy(envelope), envelope || expected, name)
FROM (VALUES
	('PLAN asks for planning', pg_temp.legacy('PLAN'), '{"type": "task.request", "domain": "planning"}'::jsonb),
	('PROPOSAL is progress', pg_temp.legacy('PROPOSAL'), '{"type": "task.progress"}'),
	('PROPOSAL is progress if not final', pg_temp.legacy('PROPOSAL', '{"payload": {"final": false}}'), '{"type": "task.progress"}'),
	('PROPOSAL is progress if final is no boolean', pg_temp.legacy('PROPOSAL', '{"payload": {"final": "true"}}'), '{"type": "task.progress"}'),
	('PROPOSAL is a result if final', pg_temp.legacy('PROPOSAL', '{"payload": {"final": true, "a": [1]}}'), '{"type": "task.result"}'),
	('EXEC_REPORT keeps its payload_type', pg_temp.legacy('EXEC_REPORT', '{"payload_type": "code.output.v1"}'), '{"type": "task.result"}'),
	('EXEC_REPORT gets none', pg_temp.legacy('EXEC_REPORT') - 'payload_type', '{"type": "task.result"}'),
	('REVIEW is feedback', pg_temp.legacy('REVIEW'), '{"type": "task.result", "payload_type": "review.feedback.v1"}'),
	('a type of the protocol passes through', pg_temp.legacy('task.cancel'), '{}'),
	('BLOCKER of no task is said', pg_temp.legacy('BLOCKER', '{"task_id": "task_nowhere", "payload": {}}'),
		'{"type": "chat.system", "payload": {"code": "BLOCKED", "message": "The work is blocked."}}'),
	('BLOCKER keeps what it says', pg_temp.legacy('BLOCKER', '{"task_id": "task_running", "payload": {"code": "NO_KEY", "message": "m", "x": {"y": 1}}}'),
		'{"type": "task.error"}'),
	('BLOCKER says its reason', pg_temp.legacy('BLOCKER', '{"task_id": "task_running", "payload": {"reason": "no key"}}'),
		'{"type": "task.error", "payload": {"code": "BLOCKED", "message": "no key", "reason": "no key"}}')
) AS t(name, envelope, expected);

SELECT is(clutch.from_legacy(pg_temp.legacy('BLOCKER', jsonb_build_object('task_id', 'task_' || status))) ->> 'type', type,
	'BLOCKER of a task that is ' || status)
FROM (VALUES ('pending', 'chat.system'), ('assigned', 'task.error'), ('running', 'task.error'), ('completed', 'chat.system'),
	('failed', 'chat.system'), ('cancelled', 'chat.system'), ('timed_out', 'chat.system')) AS t(status, type);

SELECT is_empty(format('SELECT * FROM clutch.validate(clutch.from_legacy(%L))', pg_temp.legacy(type)), type || ' becomes valid')
FROM unnest('{PLAN,PROPOSAL,EXEC_REPORT,REVIEW,BLOCKER}'::text[]) AS type;

SELECT is(clutch.from_legacy(NULL), NULL, 'NULL is NULL');
SELECT throws_ok(format('SELECT clutch.from_legacy(%L)', doc), 'KL001', NULL, 'not to be translated: ' || doc::text)
FROM unnest(ARRAY['{"type": "plan"}', '{"type": "GREETING"}', '{}', '{"type": 1}', '[]', '1', 'null', '"PLAN"']::jsonb[]) AS doc;

SELECT * FROM finish();
