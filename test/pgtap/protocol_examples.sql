-- Every envelope and card printed in spec 000 is valid as printed.
\ir ../fixtures/tap.sql
\ir ../fixtures/loader.sql
SELECT plan(63);

CREATE FUNCTION pg_temp.faults(envelope jsonb) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(path || ' ' || code, ', '), 'valid') FROM clutch.validate(envelope) $$;

CREATE FUNCTION pg_temp.doc(fixture text) RETURNS jsonb LANGUAGE sql AS
$$ SELECT doc FROM fixture WHERE name = $1 $$;

SELECT is(pg_temp.faults(pg_temp.doc('envelope_1_1')), 'valid', 'the envelope of spec 1.1');

SELECT is(pg_temp.faults(clutch.envelope('agent.register', 'agent:ken', payload => pg_temp.doc('card_1_4'))),
	'valid', 'the card of spec 1.4, registered');
SELECT is(pg_temp.faults(clutch.envelope('agent.update', 'agent:ken', payload => pg_temp.doc('card_1_4'))),
	'valid', 'the card of spec 1.4, updated');

SELECT is(pg_temp.faults(pg_temp.doc('envelope_1_1') || pg_temp.doc('fragment_5_4')),
	'valid', 'the task.error of spec 5.4');
SELECT is(pg_temp.faults(pg_temp.doc('envelope_1_1') || pg_temp.doc('fragment_4_3')),
	'/type NOT_ALLOWED', 'the routing.decision of spec 4.3 has no fault except its sender');

SELECT is(pg_temp.faults(step), 'valid', 'spec 10: ' || (step ->> 'id') || ', ' || (step ->> 'type'))
FROM jsonb_array_elements(pg_temp.doc('steps_10')) AS step;

-- every type of spec 2; those that only the database may send are refused for that reason alone
SELECT is(pg_temp.faults(jsonb_set(pg_temp.doc('envelope_1_1'), '{meta,clutch}', '{"reply_to": "msg_1"}')
		|| jsonb_build_object('type', type, 'payload', payload)),
	expected, 'type ' || type)
FROM (VALUES
	('task.request', '{}'::jsonb, 'valid'), ('task.accept', '{}', 'valid'), ('task.progress', '{}', 'valid'),
	('task.result', '{}', 'valid'), ('task.error', '{"code": "X", "message": "y"}', 'valid'),
	('task.cancel', '{}', 'valid'), ('task.timeout', '{}', '/type NOT_ALLOWED'),
	('chat.message', '{}', 'valid'), ('chat.system', '{}', 'valid'),
	('tool.call', '{"tool": "tool:grep", "args": {}}', 'valid'), ('tool.result', '{}', 'valid'),
	('tool.error', '{"code": "X", "message": "y", "retryable": false}', 'valid'),
	('agent.register', '{"v": "clutch/0.1", "agent_id": "agent:ken", "capabilities": []}', 'valid'),
	('agent.heartbeat', '{}', 'valid'), ('agent.heartbeat', '{"status": "READY"}', 'valid'),
	('agent.update', '{"agent_id": "agent:ken"}', 'valid'),
	('routing.decision', '{}', '/type NOT_ALLOWED'), ('routing.failure', '{}', '/type NOT_ALLOWED')
) AS t(type, payload, expected);

-- a null in an optional field at the top is as if the field were left out
SELECT is(pg_temp.faults(pg_temp.doc('envelope_1_1') || jsonb_build_object(field, NULL)), 'valid', field || ' may be null')
FROM unnest('{parent_task_id,trace,domain,payload_type,schema_ref,requires,prefers,security,attachments,idempotency_key,attempt,meta}'::text[]) AS field;
SELECT is(pg_temp.faults(pg_temp.doc('envelope_1_1') - field), 'valid', field || ' may be left out')
FROM unnest('{parent_task_id,trace,domain,payload_type,schema_ref,requires,prefers,security,attachments,idempotency_key,attempt,meta}'::text[]) AS field;

-- what DESIGN adds to a card
SELECT is(pg_temp.faults(clutch.envelope('agent.register', 'agent:ken',
	payload => pg_temp.doc('card_1_4') || '{"groups": ["group:research"], "scopes": ["group:team-a"],
		"model": "some-model-4", "meta": {"anything": [1, 2]},
		"limits": {"max_concurrency": 1000000, "max_runtime_sec": 1, "max_tokens": 100000, "max_cost": 1.5, "heartbeat_sec": 10}}')),
	'valid', 'groups, scopes, model, meta and limits of a card are accepted');
SELECT is(pg_temp.faults(clutch.envelope('agent.register', 'agent:ken',
	payload => jsonb_set(pg_temp.doc('card_1_4'), '{capabilities,0,version}', to_jsonb(version)))),
	'valid', 'version ' || version)
FROM unnest('{1.0,1.2.3,^1.0,>=1 <3,1.x,1.2 - 2,*,~1.2.3-beta.1,1 || 2}'::text[]) AS version;

SELECT * FROM finish();
