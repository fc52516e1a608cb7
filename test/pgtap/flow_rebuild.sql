-- rebuild against live: after a long random history of every function, every
-- derived table is made from the log alone and must be what it was, but for
-- what may be chosen anew: slot_no, generation, queue_no, chosen_seq, next_at
-- and lease_until.  Commits as it goes (one long transaction would be slow), so
-- it needs a database of its own.  Another history: -v seed=0.5.
\ir ../fixtures/tap.sql
\if :{?seed} \else \set seed 0.20260202 \endif
SELECT plan(26);
SELECT setseed(:seed) \g /dev/null
SET clutch.notify = off;
SET clutch.claim_timeout = 0;	-- what a tick would offer, a rebuild offers at once

-- --------------------------------------------------------------- the history
CREATE TEMP TABLE outcome (step text, code text, n integer NOT NULL DEFAULT 1, PRIMARY KEY (step, code));

CREATE FUNCTION pg_temp.chance(n integer) RETURNS integer VOLATILE LANGUAGE sql AS
$$ SELECT 1 + floor(random() * n)::integer $$;

CREATE FUNCTION pg_temp.card(n integer) RETURNS jsonb VOLATILE LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || n, 'display', jsonb_build_object('name', 'agent ' || n),
		'capabilities', (SELECT jsonb_agg(jsonb_build_object('id', 'skill:' || s, 'version', s || '.0.0'))
						 FROM generate_series(1, 3) s WHERE random() < 0.6 OR s = 1 + n % 3),
		'limits', jsonb_build_object('max_concurrency', pg_temp.chance(3)))
$$;

CREATE FUNCTION pg_temp.task() RETURNS text VOLATILE LANGUAGE sql AS
$$ SELECT task_id FROM clutch.task ORDER BY random() LIMIT 1 $$;

-- any task, mostly with the agent that has it and its current attempt
CREATE FUNCTION pg_temp.somebody(OUT agent text, OUT task text, OUT try integer) VOLATILE LANGUAGE sql AS $$
	SELECT CASE WHEN random() < 0.8 AND t.agent_id IS NOT NULL THEN t.agent_id ELSE 'agent:' || pg_temp.chance(8) END, t.task_id,
		CASE pg_temp.chance(5) WHEN 1 THEN NULL WHEN 2 THEN greatest(t.attempt - 1, 1) ELSE t.attempt END
	FROM clutch.task t ORDER BY (t.status IN ('assigned', 'running')) DESC, random() LIMIT 1
$$;

CREATE FUNCTION pg_temp.request(step integer) RETURNS jsonb VOLATILE LANGUAGE sql AS $$
	SELECT clutch.envelope('task.request', 'agent:ui',
		CASE pg_temp.chance(8) WHEN 1 THEN ARRAY['agent:' || pg_temp.chance(8)] WHEN 2 THEN ARRAY['group:g']
			WHEN 3 THEN ARRAY['agent:1', 'agent:2'] END,
		run_id => 'run:' || step % 7, thread_id => 'thread:' || step % 3, task_id => 'task:' || step,
		parent_task_id => CASE WHEN random() < 0.5 THEN
			(SELECT task_id FROM clutch.task WHERE run_id = 'run:' || step % 7 ORDER BY random() LIMIT 1) END,
		requires => CASE WHEN random() < 0.9 THEN ARRAY['skill:' || pg_temp.chance(3) ||
			CASE pg_temp.chance(4) WHEN 1 THEN '@>=1' WHEN 2 THEN '@^9' ELSE '' END] END,
		prefers => CASE WHEN random() < 0.3 THEN ARRAY['skill:' || pg_temp.chance(3)] END,
		domain => CASE WHEN random() < 0.3 THEN 'research' END,
		meta => CASE WHEN step % 7 = 1 THEN '{"clutch": {"scope": "group:g"}}'::jsonb
			WHEN random() < 0.1 THEN '{"clutch": {"ttl_ms": 90000}}'::jsonb END,
		priority => CASE WHEN random() < 0.5 THEN pg_temp.chance(5) - 1 END,
		deadline => CASE WHEN random() < 0.2 THEN make_interval(secs => pg_temp.chance(300)) END)
$$;

CREATE FUNCTION pg_temp.play(step integer) RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE
	w record;
	what integer := pg_temp.chance(100);
BEGIN
	SELECT * INTO w FROM pg_temp.somebody();
	CASE
		WHEN what <= 30 THEN
			PERFORM clutch.send(pg_temp.request(step)); RETURN 'request';
		WHEN what <= 48 THEN
			PERFORM clutch.claim('agent:' || pg_temp.chance(8), pg_temp.chance(3), make_interval(secs => pg_temp.chance(120))); RETURN 'claim';
		WHEN what <= 60 THEN
			PERFORM clutch.finish(w.agent, w.task, '{"r": 1}', w.try); RETURN 'finish';
		WHEN what <= 66 THEN
			PERFORM clutch.fail(w.agent, w.task, 'E' || step % 4, 'failed', attempt => w.try); RETURN 'fail';
		WHEN what <= 71 THEN
			PERFORM clutch.progress(w.agent, w.task, '{"p": 1}', w.try); RETURN 'progress';
		WHEN what <= 74 THEN
			PERFORM clutch.report(w.agent, w.task, 'task.accept', '{}', w.try); RETURN 'accept';
		WHEN what <= 78 THEN
			PERFORM clutch.release(w.agent, w.task, w.try, 'busy'); RETURN 'release';
		WHEN what <= 83 THEN
			PERFORM clutch.retry(pg_temp.task()); RETURN 'retry';
		WHEN what <= 86 THEN
			PERFORM clutch.cancel(pg_temp.task(), 'no more'); RETURN 'cancel';
		WHEN what <= 88 THEN
			PERFORM clutch.extend_lease(w.agent, w.task, coalesce(w.try, 1), '200 s'); RETURN 'extend';
		WHEN what <= 91 THEN
			-- the orchestrator, or the agent that has the task, hands it over
			PERFORM clutch.send(clutch.envelope('task.request', CASE WHEN random() < 0.5 THEN w.agent ELSE 'agent:orchestrator' END,
				ARRAY['agent:' || pg_temp.chance(8)], run_id => t.run_id, thread_id => t.thread_id, task_id => w.task))
			FROM clutch.task t WHERE t.task_id = w.task;
			RETURN 'hand-over';
		WHEN what <= 93 THEN
			PERFORM clutch.send(clutch.envelope('agent.update', 'agent:' || n, payload => jsonb_build_object('agent_id', 'agent:' || n,
				'limits', jsonb_build_object('max_concurrency', pg_temp.chance(4))))) FROM pg_temp.chance(8) n;
			RETURN 'update';
		WHEN what <= 94 THEN
			PERFORM clutch.register(pg_temp.card(pg_temp.chance(8))); RETURN 'register';
		WHEN what <= 96 THEN
			PERFORM clutch.send(clutch.envelope('agent.heartbeat', 'agent:' || n, payload => jsonb_build_object('agent_id', 'agent:' || n,
				'status', CASE WHEN random() < 0.3 THEN 'UNAVAILABLE' ELSE 'READY' END))) FROM pg_temp.chance(8) n;
			RETURN 'status';
		WHEN what <= 98 THEN
			PERFORM clutch.tick(); RETURN 'tick';
		ELSE
			PERFORM clutch.send(clutch.envelope('chat.message', w.agent, '{agent:ui}', run_id => 'run:1')); RETURN 'chat';
	END CASE;
END $$;

CREATE PROCEDURE pg_temp.history(first integer, last integer) LANGUAGE plpgsql AS $$
DECLARE
	did text;
	told text;
	code text;
	step integer;
BEGIN
	FOR step IN first .. last LOOP
		PERFORM set_config('clutch.clock', to_char(timestamptz '2026-02-01 00:00:00Z' + make_interval(secs => step * 5),
						   'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false);
		BEGIN
			did := pg_temp.play(step);
			code := '';
		EXCEPTION WHEN SQLSTATE 'KL001' OR SQLSTATE 'KL003' OR SQLSTATE 'KL004' OR SQLSTATE 'KL005' OR insufficient_privilege THEN
			GET STACKED DIAGNOSTICS told = PG_EXCEPTION_DETAIL;
			did := 'refused';
			code := told::jsonb #>> '{0,code}';
		END;
		INSERT INTO outcome VALUES (did, code) ON CONFLICT ON CONSTRAINT outcome_pkey DO UPDATE SET n = outcome.n + 1;
		IF step % 20 = 0 THEN
			COMMIT;
		END IF;
	END LOOP;
END $$;

SET clutch.clock = '2026-02-01T00:00:00Z';
SET timezone = 'UTC';
SELECT count(*) FROM generate_series(1, 8) n, clutch.register(pg_temp.card(n)) \g /dev/null
SELECT clutch.join_group('group:g', 'agent:' || n) FROM generate_series(1, 4) n \g /dev/null
SELECT clutch.send(clutch.envelope('agent.update', 'agent:' || n, payload => jsonb_build_object('agent_id', 'agent:' || n, 'scopes', '["group:g"]'::jsonb)))
FROM generate_series(1, 4) n \g /dev/null
SELECT clutch.send(pg_temp.request(0)) \g /dev/null
CALL pg_temp.history(1, 400);

-- the success rates of agents: counters are halved at 64, so they are compared while they are small
CREATE TEMP TABLE old_outcomes AS SELECT agent_id, sum(done) AS done, sum(failed) AS failed FROM clutch.agent_slot GROUP BY agent_id;
SELECT ok((SELECT sum(done) > 20 AND sum(failed) > 20 AND max(done + failed) < 64 FROM old_outcomes), 'agents have succeeded and failed');
SELECT clutch.rebuild() \g /dev/null
SELECT bag_eq('SELECT agent_id, sum(done) AS done, sum(failed) AS failed FROM clutch.agent_slot GROUP BY agent_id', 'SELECT * FROM old_outcomes', 'rebuild finds how agents have done');

-- the database goes on from the state that was rebuilt
CALL pg_temp.history(401, 2000);

-- ------------------------------------------------------ there was a history
SELECT ok((SELECT sum(n) FROM outcome WHERE step = name) > 2, 'the history has ' || name)
FROM unnest('{request,claim,finish,fail,progress,accept,release,retry,cancel,hand-over}'::text[]) AS name;
SELECT ok((SELECT count(*) FROM clutch.task WHERE attempt > 2) > 20, 'the history has third attempts');
SELECT ok((SELECT count(*) FROM clutch.events WHERE late) > 20, 'it has late events');
SELECT ok((SELECT count(*) FROM clutch.events WHERE type = 'task.timeout') > 5, 'it has passed deadlines');
SELECT ok((SELECT count(*) FROM clutch.events WHERE envelope #>> '{meta,clutch,move}' = 'lease_expired') > 20, 'it has expired leases');
SELECT ok((SELECT count(DISTINCT status) FROM clutch.task) >= 6, 'it has tasks in almost every status');
SELECT clutch.tick() \g /dev/null
SELECT is_empty('SELECT code, detail FROM clutch.check()', 'the state is sound before');

-- --------------------------------------------------------------- and rebuilt
CREATE TEMP TABLE old_task AS SELECT * FROM clutch.task;
CREATE TEMP TABLE old_registry AS SELECT * FROM clutch.agent_registry;
CREATE TEMP TABLE old_scope AS SELECT * FROM clutch.run_scope;
CREATE TEMP TABLE old_timer AS SELECT * FROM clutch.timer;
CREATE TEMP TABLE old_slot AS SELECT agent_id, task_id FROM clutch.agent_slot WHERE task_id IS NOT NULL;
CREATE TEMP TABLE old_ready AS SELECT agent_id, urgency, task_id FROM clutch.ready;
CREATE TEMP TABLE old_waiting AS SELECT kind, urgency, task_id FROM clutch.waiting;
SELECT clutch.rebuild() \g /dev/null

CREATE FUNCTION pg_temp.settled(t clutch.task) RETURNS jsonb LANGUAGE sql AS
$$ SELECT to_jsonb(t) - '{slot_no,queue_no,next_at,lease_until,lease}'::text[] $$;
SELECT is_empty($$
	SELECT o.task_id, old.key, old.value AS was, new.value AS now
	FROM old_task o JOIN clutch.task t USING (task_id),
		LATERAL jsonb_each(pg_temp.settled(o::text::clutch.task)) old JOIN LATERAL jsonb_each(pg_temp.settled(t)) new USING (key)
	WHERE old.value <> new.value
	UNION ALL
	SELECT coalesce(o.task_id, t.task_id), 'row', to_jsonb(o), to_jsonb(t) FROM old_task o FULL JOIN clutch.task t USING (task_id)
	WHERE o.task_id IS NULL OR t.task_id IS NULL $$, 'rebuild finds the same tasks');
SELECT bag_eq('SELECT * FROM clutch.agent_registry', 'SELECT * FROM old_registry', 'and the same registry');
SELECT bag_eq('SELECT * FROM clutch.run_scope', 'SELECT * FROM old_scope', 'the same scopes of runs');
SELECT bag_eq('SELECT agent_id, task_id FROM clutch.agent_slot WHERE task_id IS NOT NULL', 'SELECT * FROM old_slot', 'the same slots');
SELECT bag_eq('SELECT agent_id, urgency, task_id FROM clutch.ready', 'SELECT * FROM old_ready', 'the same ready tasks');
SELECT bag_eq('SELECT kind, urgency, task_id FROM clutch.waiting', 'SELECT * FROM old_waiting', 'the same waiting tasks');
SELECT bag_eq('SELECT task_id FROM clutch.timer', 'SELECT task_id FROM old_timer', 'the same timers');
-- the log has leases as they were given, so those that were extended may be over now
SELECT clutch.tick() \g /dev/null
SELECT is_empty('SELECT code, detail FROM clutch.check()', 'the state is sound afterwards');

SELECT * FROM finish();
