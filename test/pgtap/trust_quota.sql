-- Quotas of roles: at the limit all is well, one more is refused with the name of the
-- limit and leaves nothing behind, and whatever is over or rolled back is free again.
\ir ../fixtures/tap.sql
SELECT plan(93);
SET clutch.notify = off;		-- for PREPARE TRANSACTION

CREATE ROLE clutch_test_app;
CREATE ROLE clutch_test_peer;
CREATE ROLE clutch_test_operator;
SELECT clutch.grant_agent('clutch_test_app', 'agent:app') \g /dev/null
SELECT clutch.grant_agent('clutch_test_peer', 'agent:peer') \g /dev/null
SELECT clutch.grant_operator('clutch_test_operator') \g /dev/null
SELECT count(*) FROM fixture.agent('worker', 100) \g /dev/null
SELECT fixture.at(0) \g /dev/null

-- a request, a message, both with an id of their own
CREATE FUNCTION pg_temp.request(task text, agent text DEFAULT 'agent:app') RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('task.request', agent, '{agent:worker}', run_id => 'run:' || agent, thread_id => 'thread:1', task_id => task, id => 'msg_' || task) $$;
CREATE FUNCTION pg_temp.message(id text, payload jsonb DEFAULT '{}', agent text DEFAULT 'agent:app') RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('chat.message', agent, '{agent:worker}', payload, run_id => 'run:' || agent, thread_id => 'thread:1', task_id => 'task:chat', id => id) $$;
-- "SQLSTATE CODE" of the fault of sending it, or "sent" or "duplicate"
CREATE FUNCTION pg_temp.send(envelope jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	RETURN CASE WHEN s.duplicate THEN 'duplicate' ELSE 'sent' END FROM clutch.send(envelope) s;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', SQLSTATE, detail::jsonb -> 0 ->> 'code', detail::jsonb -> 0 ->> 'path', detail::jsonb -> 0 ->> 'argument');
END $$;
CREATE FUNCTION pg_temp.fault(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE sql;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', SQLSTATE, CASE WHEN detail LIKE '[%' THEN concat_ws(' ', detail::jsonb -> 0 ->> 'code', detail::jsonb -> 0 ->> 'argument') END);
END $$;
CREATE FUNCTION pg_temp.words(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE sql;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN SQLERRM || ' / ' || hint;
END $$;
CREATE FUNCTION pg_temp.detail(sql text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE sql;
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN detail::jsonb;
END $$;
-- what the view shows of a role
CREATE FUNCTION pg_temp.used(of_what text, of_role text DEFAULT 'clutch_test_app') RETURNS text LANGUAGE sql AS $$
	SELECT q.used || ' of ' || q.value FROM clutch.quotas q WHERE q.role::text = of_role AND q.what = of_what $$;

-- ------------------------------------------------------------------- setting
SELECT is(pg_temp.fault(sql), fault, sql)
FROM (VALUES
	($$SELECT clutch.set_quota('clutch_test_app', 'request', 1)$$, '22023 WRONG_VALUE what'),
	($$SELECT clutch.set_quota('clutch_test_app', NULL, 1)$$, '22004 NULL_VALUE what'),
	($$SELECT clutch.set_quota('clutch_test_app', 'schedules', -1)$$, '22023 NUMBER_OUT_OF_RANGE value'),
	($$SELECT clutch.set_quota('clutch_test_nobody', 'schedules', 1)$$, '42704 WRONG_VALUE role_name')) AS v(sql, fault);
SET ROLE clutch_test_app;
SELECT is(pg_temp.fault($$SELECT clutch.set_quota('clutch_test_app', 'schedules', NULL)$$), '42501', 'the role of an agent sets no quota');
SELECT is(pg_temp.fault($$DELETE FROM clutch.quota$$), '42501', 'nor changes the table');
SELECT is(pg_temp.fault($$SELECT clutch.quotas_changed()$$), '42501', 'nor calls the trigger');
SET ROLE clutch_test_operator;
SELECT is(pg_temp.fault($$SELECT clutch.set_quota('clutch_test_app', 'open_requests', 2)$$), 'none', 'an operator does');
RESET ROLE;
BEGIN;
CREATE ROLE "Public";
SELECT clutch.set_quota('Public', 'steps', 7), clutch.set_quota('PUBLIC', 'steps', 8) \g /dev/null
SELECT is((SELECT string_agg(q.grantee::oid::regrole || ' ' || q.value, ', ' ORDER BY q.value) FROM clutch.quota q WHERE q.what = 'steps'), '"Public" 7, - 8', 'a role with the name "Public" is not everybody');
ROLLBACK;

-- ------------------------------------------------------------- open requests
SET ROLE clutch_test_app;
SELECT is(pg_temp.send(pg_temp.request('task:1')), 'sent', 'the first request of two');
SELECT is(pg_temp.send(pg_temp.request('task:2')), 'sent', 'the second, which is at the limit');
SELECT is(pg_temp.send(pg_temp.request('task:3')), 'KL013 QUOTA_EXCEEDED ', 'one more is refused');
SELECT is(pg_temp.words($$SELECT clutch.send(pg_temp.request('task:3'))$$),
	'role "clutch_test_app" would exceed its quota of open_requests: limit 2, used 2, asked for 1 / '
	'Wait until tasks are over that the role has requested, or cancel some of them. Only an operator can raise the limit: clutch.set_quota(role_name, what, value).',
	'the error names the limit, what is used, and what to do');
SELECT is(pg_temp.send(pg_temp.request('task:1')), 'duplicate', 'a resend is not one more');
SELECT is(pg_temp.fault($$SELECT clutch.send_batch(ARRAY[pg_temp.message('msg_0'), pg_temp.request('task:3')])$$), 'KL013 QUOTA_EXCEEDED', 'nor is a request accepted in a batch');
SELECT is(pg_temp.fault($$INSERT INTO clutch.events (envelope) VALUES (pg_temp.request('task:3'))$$), 'KL013 QUOTA_EXCEEDED', 'or by a plain INSERT');
SELECT is(pg_temp.used('open_requests'), '2 of 2', 'the role sees its quota');
SELECT is((SELECT count(*) FROM clutch.quotas WHERE role::text <> 'clutch_test_app'), 0::bigint, 'and no other');
RESET ROLE;
SELECT is((SELECT count(*) FROM clutch.events WHERE id IN ('msg_0', 'msg_task:3')) + (SELECT count(*) FROM clutch.task WHERE task_id = 'task:3')
	+ (SELECT count(*) FROM clutch.open_work WHERE task_id = 'task:3'), 0::bigint, 'what was refused has left nothing behind');

SET ROLE clutch_test_app;
SELECT clutch.cancel('task:1') \g /dev/null
SELECT is(pg_temp.used('open_requests'), '1 of 2', 'a cancelled task is not counted');
SELECT is(pg_temp.send(pg_temp.request('task:3')), 'sent', 'and gives its place to another');
SELECT is(pg_temp.fault($$SELECT clutch.retry('task:1')$$), 'KL013 QUOTA_EXCEEDED task_id', 'a task that is begun again is one more');
RESET ROLE;
SELECT count(*) FROM clutch.claim('agent:worker', 9) \g /dev/null
SELECT clutch.finish('agent:worker', 'task:2') \g /dev/null
SET ROLE clutch_test_app;
SELECT is(pg_temp.fault($$SELECT clutch.retry('task:1')$$), 'none', 'unless another one is finished');
SELECT is(pg_temp.used('open_requests'), '2 of 2', 'it is counted once');
SELECT is(pg_temp.fault($$SELECT clutch.cancel_run('run:agent:app')$$), 'none', 'cancels are never refused');
SELECT is(pg_temp.used('open_requests'), '0 of 2', 'nothing is open');

-- what is rolled back counts no more, what is prepared does until then
BEGIN;
SELECT pg_temp.send(pg_temp.request('task:4')), pg_temp.send(pg_temp.request('task:5')) \g /dev/null
ROLLBACK;
SELECT is(pg_temp.send(pg_temp.request('task:6')), 'sent', 'a rollback gives the quota back');
BEGIN;
SAVEPOINT s;
SELECT clutch.send(pg_temp.request('task:7')) \g /dev/null
ROLLBACK TO s;
SELECT clutch.send(pg_temp.request('task:8')) \g /dev/null
COMMIT;
SELECT is(pg_temp.used('open_requests'), '2 of 2', 'so does a savepoint');
SELECT clutch.cancel('task:8') \g /dev/null
BEGIN;
SELECT clutch.send(pg_temp.request('task:9')) \g /dev/null
PREPARE TRANSACTION 'clutch_test_quota';
SELECT is(pg_temp.send(pg_temp.request('task:10')), 'KL013 QUOTA_EXCEEDED ', 'a prepared request counts');
ROLLBACK PREPARED 'clutch_test_quota';
SELECT is(pg_temp.send(pg_temp.request('task:10')), 'sent', 'until it is rolled back');
SELECT clutch.cancel_run('run:agent:app') \g /dev/null

-- who is not counted
SET ROLE clutch_test_peer;
SELECT is((SELECT string_agg(DISTINCT pg_temp.send(pg_temp.request('task:peer' || n, 'agent:peer')), ' ') FROM generate_series(1, 4) n), 'sent', 'a quota is that of its role alone');
RESET ROLE;
SELECT is((SELECT count(*) FROM clutch.open_work WHERE grantee::text <> 'clutch_test_app'), 0::bigint, 'nothing is kept about it');

-- a default, and a limit of one's own beside it
SELECT clutch.set_quota('public', 'open_requests', 1) \g /dev/null
SET ROLE clutch_test_operator;
SELECT is((SELECT string_agg(DISTINCT pg_temp.send(pg_temp.request('task:op' || n)), ' ') FROM generate_series(1, 4) n), 'sent', 'an operator who speaks for the agent has none');
RESET ROLE;
SELECT is((SELECT string_agg(DISTINCT pg_temp.send(pg_temp.request('task:super' || n)), ' ') FROM generate_series(1, 4) n), 'sent', 'nor has a superuser');
SET ROLE clutch_test_peer;
SELECT is(pg_temp.send(pg_temp.request('task:peer5', 'agent:peer')), 'sent', 'what was open before a quota was set is not counted');
SELECT is(pg_temp.send(pg_temp.request('task:peer6', 'agent:peer')), 'KL013 QUOTA_EXCEEDED ', 'the default holds for a role that has no limit of its own');
SELECT is(pg_temp.used('open_requests', 'clutch_test_peer'), '1 of 1', 'which sees it');
SET ROLE clutch_test_app;
SELECT is(pg_temp.used('open_requests'), '0 of 2', 'a limit of its own counts in place of the default');
SET ROLE clutch_test_operator;
SELECT fixture.answers($$SELECT role, what, value, used FROM clutch.quotas ORDER BY role::text NULLS FIRST$$,
	$$VALUES (NULL, 'open_requests', 1, NULL), ('clutch_test_app', 'open_requests', 2, 0), ('clutch_test_peer', 'open_requests', 1, 1)$$,
	'an operator sees all of them, and to which roles the default applies');
SELECT is(pg_temp.fault($$SELECT clutch.set_quota(NULL, 'open_requests', NULL)$$), 'none', 'NULL removes it');
SET ROLE clutch_test_peer;
SELECT is(pg_temp.send(pg_temp.request('task:peer6', 'agent:peer')), 'sent', 'in every session');
RESET ROLE;

-- -------------------------------------------------------------------- steps
SELECT clutch.grant_agent('clutch_test_app', 'agent:worker') \g /dev/null
SELECT clutch.set_quota('clutch_test_app', 'steps', 2), clutch.set_quota('clutch_test_app', 'open_requests', NULL) \g /dev/null
SET ROLE clutch_test_app;
SELECT count(*) FROM (VALUES ('task:a'), ('task:b'), ('task:a2')) t(task), clutch.send(pg_temp.request(task)) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:worker', 99, '1 day') \g /dev/null
SELECT is(pg_temp.fault($$SELECT clutch.step('agent:worker', 'task:a', 'one', '1'), clutch.step('agent:worker', 'task:b', 'two', '2')$$), 'none', 'two steps of two tasks');
SELECT is(pg_temp.fault($$SELECT clutch.step('agent:worker', 'task:a', 'three', '3')$$), 'KL013 QUOTA_EXCEEDED', 'one more is refused');
SELECT is(clutch.step('agent:worker', 'task:a', 'one'), '1', 'one that is kept can be repeated');
SELECT is(pg_temp.fault($$SELECT clutch.finish('agent:worker', 'task:b')$$), 'none', 'and the task can be finished');
SELECT is(pg_temp.fault($$SELECT clutch.step('agent:worker', 'task:a', 'three', '3')$$), 'none', 'whose steps count no more');
SELECT is(pg_temp.used('steps'), '2 of 2', 'so there are two again');
RESET ROLE;
SELECT clutch.set_quota('clutch_test_app', 'steps', NULL) \g /dev/null

-- ---------------------------------------------------- subscriptions, schedules
SELECT clutch.set_quota('clutch_test_app', 'subscriptions', 2), clutch.set_quota('clutch_test_app', 'subscription_members', 5), clutch.set_quota('clutch_test_app', 'schedules', 1) \g /dev/null
SET ROLE clutch_test_app;
SELECT is(pg_temp.fault($$SELECT clutch.subscribe('a', members => 6)$$), 'KL013 QUOTA_EXCEEDED members', 'too many members of one subscription');
SELECT is(pg_temp.fault($$SELECT clutch.subscribe('a', members => 3)$$), 'none', 'three members');
SELECT is(pg_temp.fault($$SELECT clutch.subscribe('b', members => 3)$$), 'KL013 QUOTA_EXCEEDED members', 'three more of another one are one too many');
SELECT is(pg_temp.fault($$SELECT clutch.subscribe('b', members => 2)$$), 'none', 'two are not');
SELECT is(pg_temp.fault($$SELECT clutch.subscribe('b', members => 2)$$), 'none', 'subscribing again does nothing');
SELECT is(pg_temp.fault($$SELECT clutch.subscribe('c')$$), 'KL013 QUOTA_EXCEEDED name', 'a third subscription is refused');
SELECT is(pg_temp.fault($$SELECT clutch.unsubscribe('a')$$), 'none', 'until another one is removed');
SELECT is(pg_temp.fault($$SELECT clutch.subscribe('c')$$), 'none', 'then it is accepted');
SELECT is(pg_temp.fault($$SELECT clutch.schedule('hourly', '0 * * * *', clutch.envelope('chat.message', 'agent:app', '{agent:worker}'))$$), 'none', 'one schedule');
SELECT is(pg_temp.fault($$SELECT clutch.schedule('hourly', '1 * * * *', clutch.envelope('chat.message', 'agent:app', '{agent:worker}'))$$), 'none', 'which may be changed');
SELECT is(pg_temp.fault($$SELECT clutch.schedule('daily', '0 0 * * *', clutch.envelope('chat.message', 'agent:app', '{agent:worker}'))$$), 'KL013 QUOTA_EXCEEDED name', 'a second one is refused');
SELECT is(concat_ws(', ', pg_temp.used('subscriptions'), pg_temp.used('subscription_members'), pg_temp.used('schedules')), '2 of 2, 3 of 5, 1 of 1', 'the view counts them');
RESET ROLE;

-- ---------------------------------------------------------------- artifacts
SELECT clutch.set_quota('clutch_test_app', 'artifact_bytes', 100) \g /dev/null
SET ROLE clutch_test_app;
SELECT is(pg_temp.fault($$SELECT clutch.put_artifact(convert_to(repeat('a', 60), 'UTF8'), 'text/plain')$$), 'none', '60 bytes of 100');
SELECT is(pg_temp.fault($$SELECT clutch.put_artifact(convert_to(repeat('b', 41), 'UTF8'), 'text/plain')$$), 'KL013 QUOTA_EXCEEDED content', '41 more are refused');
SELECT is(pg_temp.fault($$SELECT clutch.put_artifact(convert_to(repeat('a', 60), 'UTF8'), 'text/plain')$$), 'none', 'the same content is kept once, and counts once');
SELECT clutch.begin_artifact('text/plain') AS upload \gset
SELECT clutch.append_artifact(:upload, convert_to(repeat('b', 40), 'UTF8')) \g /dev/null
SELECT is(pg_temp.fault(format('SELECT clutch.append_artifact(%s, %L)', :upload, '\x00'::bytea)), 'KL013 QUOTA_EXCEEDED content', 'an upload counts before it is finished');
SELECT clutch.finish_artifact(:upload) \g /dev/null
SELECT is(pg_temp.used('artifact_bytes'), '100 of 100', 'and after');
RESET ROLE;

-- -------------------------------------------------------------------- rates
SELECT clutch.set_quota('clutch_test_app', 'events_per_minute', 3) \g /dev/null
SELECT fixture.at(90) \g /dev/null
SET ROLE clutch_test_app;
SELECT is((SELECT string_agg(pg_temp.send(pg_temp.message('msg_r' || n)), ' ') FROM generate_series(1, 4) n), 'sent sent sent KL013 QUOTA_EXCEEDED ', 'three events a minute');
SELECT is(pg_temp.words($$SELECT clutch.send(pg_temp.message('msg_r5'))$$),
	'role "clutch_test_app" would exceed its quota of events_per_minute: limit 3, used 3, asked for 1 / '
	'Send it again after 2026-01-01T12:02:00.000000Z. Only an operator can raise the limit: clutch.set_quota(role_name, what, value).', 'the error says when the next may be sent');
SELECT is(pg_temp.detail($$SELECT clutch.send(pg_temp.message('msg_r5'))$$),
	'[{"path": "", "code": "QUOTA_EXCEEDED", "quota": "events_per_minute", "limit": 3, "used": 3, "asked": 1, "retry_at": "2026-01-01T12:02:00.000000Z"}]'::jsonb, 'and its detail the same for programs');
SELECT is(pg_temp.send(pg_temp.message('msg_r1')), 'duplicate', 'a resend is no event');
SELECT is(pg_temp.fault($$SELECT clutch.progress('agent:worker', 'task:a', '{"n": 1}')$$), 'KL013 QUOTA_EXCEEDED', 'progress is one');
SELECT is(pg_temp.fault($$SELECT clutch.finish('agent:worker', 'task:a')$$), 'none', 'what ends a task is not refused');
SELECT is(pg_temp.used('events_per_minute'), '4 of 3', 'but counted');
SELECT is(pg_temp.fault($$SELECT clutch.finish('agent:worker', 'task:a', '{"again": 1}')$$), 'KL013 QUOTA_EXCEEDED', 'and a late result ends nothing');
RESET ROLE;
SELECT fixture.at(120) \g /dev/null
SET ROLE clutch_test_app;
SELECT is(pg_temp.used('events_per_minute'), '0 of 3', 'the next minute begins at 0');
BEGIN;
SELECT clutch.send(pg_temp.message('msg_s1')) \g /dev/null
SAVEPOINT s;
SELECT clutch.send(pg_temp.message('msg_s2')), clutch.send(pg_temp.message('msg_s3')) \g /dev/null
ROLLBACK TO s;
SELECT clutch.send(pg_temp.message('msg_s4')) \g /dev/null
SAVEPOINT t;
SELECT clutch.send(pg_temp.message('msg_s5')) \g /dev/null
RELEASE t;
SAVEPOINT u;
ROLLBACK TO u;
SELECT is(pg_temp.send(pg_temp.message('msg_s6')), 'KL013 QUOTA_EXCEEDED ', 'a transaction counts its own events, and those of a savepoint until it is rolled back');
COMMIT;
SELECT is(pg_temp.used('events_per_minute'), '3 of 3', 'so does the view when it is committed');
BEGIN;
SELECT clutch.finish('agent:worker', 'task:a2') \g /dev/null
PREPARE TRANSACTION 'clutch_test_quota';
SELECT is(pg_temp.used('events_per_minute'), '3 of 3', 'a prepared transaction is not');
COMMIT PREPARED 'clutch_test_quota';
SELECT is(pg_temp.used('events_per_minute'), '4 of 3', 'until it is committed');
RESET ROLE;

-- what could be sent without end is refused, and what gives work back is not
SELECT fixture.at(180) \g /dev/null
SELECT clutch.set_quota('clutch_test_app', 'events_per_minute', 20) \g /dev/null
SET ROLE clutch_test_app;
SELECT clutch.send(pg_temp.request('task:again') || '{"meta": {"clutch": {"retry": {"max": 9, "initial_ms": 0}}}}'), clutch.send(pg_temp.request('task:back')), clutch.send(pg_temp.request('task:later')) \g /dev/null
RESET ROLE;
SELECT clutch.set_quota('clutch_test_app', 'events_per_minute', 5) \g /dev/null
SET ROLE clutch_test_app;
SELECT is((SELECT count(*) FROM clutch.claim('agent:worker', 2, '1 day')), 2::bigint, 'two tasks are claimed');
SELECT is(pg_temp.used('events_per_minute'), '5 of 5', 'each of which counts');
SELECT is(pg_temp.fault($$SELECT clutch.claim('agent:worker')$$), 'KL013 QUOTA_EXCEEDED', 'one more is refused');
SELECT is(fixture.state('task:later'), 'assigned agent:worker 1', 'and stays where it is');
SELECT is(pg_temp.fault($$SELECT clutch.fail('agent:worker', 'task:again', 'X', 'x')$$), 'KL013 QUOTA_EXCEEDED', 'an error after which the task is tried again is refused');
SELECT is(pg_temp.fault($$SELECT clutch.fail('agent:worker', 'task:again', 'X', 'x', retryable => false)$$), 'none', 'one that ends it is not');
SELECT is(pg_temp.fault($$SELECT clutch.release('agent:worker', 'task:back', 1)$$), 'none', 'nor is giving a task back');
SELECT is(pg_temp.fault($$SELECT clutch.retry('task:again', 'agent:app')$$), 'KL013 QUOTA_EXCEEDED', 'beginning it again is');
SELECT is(pg_temp.fault($$SELECT clutch.pause('agent:worker')$$), 'KL013 QUOTA_EXCEEDED', 'and a pause');
RESET ROLE;
SELECT clutch.add_key('agent:worker', 'old', '\xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a') \g /dev/null
SET clutch.agents_add_keys = on;
SET ROLE clutch_test_app;
SELECT is(pg_temp.fault($$SELECT clutch.add_key('agent:worker', 'new', '\xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')$$), 'KL013 QUOTA_EXCEEDED', 'a key is refused, too');
SELECT is(pg_temp.fault($$SELECT clutch.revoke_key('agent:worker', 'old')$$), 'none', 'and none is too late to be revoked');
RESET ROLE;
RESET clutch.agents_add_keys;

-- ----------------------------------------------------------------- counting
CREATE FUNCTION pg_temp.refusals() RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_object_agg(m.labels ->> 'quota', m.value) FROM clutch.metrics() m WHERE m.name = 'clutch_quota_refusals_total' $$;
SELECT is(pg_temp.refusals(), '{"open_requests": 7, "steps": 1, "subscriptions": 1, "subscription_members": 2, "schedules": 1, "artifact_bytes": 2,
	"events_per_minute": 11, "bytes_per_minute": 0, "bytes_per_day": 0}', 'each refusal has been counted by its kind');
SET ROLE clutch_test_app;
BEGIN;
SELECT pg_temp.send(pg_temp.message('msg_t1')), pg_temp.send(pg_temp.message('msg_t2')) \g /dev/null
ROLLBACK;
SELECT is(pg_temp.fault($$TABLE clutch.quota_refusal$$) || ', ' || pg_temp.fault($$UPDATE clutch.quota_refusal SET n = 0$$), '42501, 42501', 'the role of an agent neither reads the counts nor changes them');
SET ROLE clutch_test_operator;
SELECT is(pg_temp.refusals() ->> 'events_per_minute', '13', 'they stay what they are when the transaction is rolled back');
SELECT is(pg_temp.fault($$UPDATE clutch.quota_refusal SET n = 0$$), '42501', 'an operator sees them and does not write them, either');
RESET ROLE;
SELECT is((SELECT array_agg(k.what ORDER BY k.what) FROM clutch.quota_refusal k),
	(SELECT array_agg(k COLLATE "C" ORDER BY k COLLATE "C") FROM string_to_table(rtrim(split_part(pg_temp.words($$SELECT clutch.set_quota('PUBLIC', '', 1)$$), 'The kinds are ', 2), '.'), ', ') k), 'there is a count for each kind of quota');
SELECT * FROM finish();
DROP OWNED BY clutch_test_app, clutch_test_peer, clutch_test_operator;
DROP ROLE clutch_test_app, clutch_test_peer, clutch_test_operator;
