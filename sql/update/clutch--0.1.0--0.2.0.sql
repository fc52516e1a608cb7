-- From 0.1.0 to 0.2.0.  test/t/014_update.pl compares the result with a fresh
-- installation; test/README.md says what to do when it finds a difference.

-- ------------------------------------------------------------------------ tables
-- C reads columns by their number, so a table that has a new column before old
-- ones is made anew.  The views and functions that name it are replaced below.
ALTER EXTENSION clutch DROP TABLE clutch.task;
ALTER TABLE clutch.task RENAME TO task_0_1_0;
ALTER INDEX clutch.task_pkey RENAME TO task_0_1_0_pkey;
ALTER INDEX clutch.task_run_id RENAME TO task_0_1_0_run_id;
ALTER INDEX clutch.task_parent_task_id RENAME TO task_0_1_0_parent_task_id;
CREATE TABLE clutch.task (
	task_id			text COLLATE "C" NOT NULL,
	run_id			text COLLATE "C" NOT NULL,
	thread_id		text COLLATE "C" NOT NULL,
	parent_task_id	text COLLATE "C",
	scope			text COLLATE "C",
	depth			integer NOT NULL,
	status			text COLLATE "C" NOT NULL,
	agent_id		text COLLATE "C",		-- who has it, or had it last
	past_agents		text[] COLLATE "C",		-- who had it before that
	from_agent		text COLLATE "C" NOT NULL,
	attempt			integer NOT NULL,
	retries			integer NOT NULL DEFAULT 0,	-- after errors, since it was revived
	losses			integer NOT NULL DEFAULT 0,	-- leases lost, likewise
	unclaimed		integer NOT NULL DEFAULT 0,	-- agents in a row that did not claim it in time
	priority		smallint NOT NULL,		-- as it counts now
	asked_priority	smallint,				-- before it was lifted; NULL: it was not
	join_count		integer,				-- of its parent's children: 0 all, or so many
	requires		text[] COLLATE "C",
	domain			text COLLATE "C",
	payload_type	text COLLATE "C",
	is_traced		boolean NOT NULL DEFAULT false,	-- its request has a trace
	limits_tools	boolean NOT NULL DEFAULT false,	-- its request has an allowlist of tools
	waiting_for		text COLLATE "C",		-- agent capacity retry human lease ...
	code			text COLLATE "C",		-- of the last routing.failure or task.error
	detail			text,
	reason			text COLLATE "C" NOT NULL,	-- of the next claim: new retry moved resumed ...
	slot_no			integer,				-- NULL: holds no slot
	queue_no		bigint,					-- place in ready or waiting
	queue_kind		bigint,					-- of the requirement it waits with
	request_seq		bigint NOT NULL,
	result_seq		bigint,
	progress_seq	bigint,
	question_seq	bigint,					-- the last it asked
	answer_seq		bigint,					-- and of the last answer
	joined_seq		bigint,					-- of the move that told its children are over
	wait_seq		bigint,					-- of the event that suspended it
	wait_count		integer,				-- suspended for children: 0 all, or so many
	since			timestamptz NOT NULL,	-- in this status
	next_at			timestamptz,			-- its row in timer, if any
	lease_until		timestamptz,
	lease			bigint,					-- its length in microseconds
	deadline		timestamptz,
	wake_at			timestamptz,			-- pending: not before; see task.h
	created_at		timestamptz NOT NULL,
	started_at		timestamptz,
	finished_at		timestamptz,
	CONSTRAINT task_pkey PRIMARY KEY (task_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
INSERT INTO clutch.task (
		task_id, run_id, thread_id, parent_task_id, scope, depth, status, agent_id, past_agents, from_agent,
		attempt, retries, losses, unclaimed, priority, asked_priority, join_count, requires, domain, payload_type,
		is_traced, limits_tools, waiting_for, code, detail, reason, slot_no, queue_no, queue_kind, request_seq,
		result_seq, progress_seq, question_seq, answer_seq, joined_seq, wait_seq, wait_count, since, next_at,
		lease_until, lease, deadline, wake_at, created_at, started_at, finished_at)
SELECT
		t.task_id, t.run_id, t.thread_id, t.parent_task_id, t.scope, t.depth, t.status, t.agent_id, t.past_agents,
		t.from_agent, t.attempt, t.retries, t.losses, 0, t.priority,
		nullif(coalesce((e.envelope #>> '{meta,clutch,priority}')::numeric::smallint, 2), t.priority),
		t.join_count, t.requires, t.domain, t.payload_type,
		coalesce(jsonb_typeof(e.envelope -> 'trace') = 'object', false),
		coalesce(jsonb_typeof(e.envelope #> '{security,policy,tool_allowlist}') = 'array', false), t.waiting_for,
		t.code, t.detail, t.reason, t.slot_no, t.queue_no, t.queue_kind, t.request_seq, t.result_seq,
		t.progress_seq, t.question_seq, t.answer_seq, t.joined_seq, NULL, NULL, t.since, t.next_at, t.lease_until,
		t.lease, t.deadline, t.wake_at, t.created_at, t.started_at, t.finished_at
FROM clutch.task_0_1_0 t LEFT JOIN clutch.events e ON e.seq = t.request_seq;
CREATE INDEX task_run_id ON clutch.task (run_id);
CREATE INDEX task_parent_task_id ON clutch.task (parent_task_id);

-- The day of what was spent is in the log.
ALTER EXTENSION clutch DROP TABLE clutch.spending;
ALTER TABLE clutch.spending RENAME TO spending_0_1_0;
ALTER INDEX clutch.spending_pkey RENAME TO spending_0_1_0_pkey;
CREATE TABLE clutch.spending (
	run_id			text COLLATE "C" NOT NULL,
	agent_id		text COLLATE "C" NOT NULL,
	day				date NOT NULL,			-- of the report, in UTC
	seq				bigint NOT NULL,		-- of the last report
	tokens			bigint NOT NULL,
	cost			numeric NOT NULL,
	CONSTRAINT spending_pkey PRIMARY KEY (run_id, agent_id, day, seq)
);
INSERT INTO clutch.spending (run_id, agent_id, day, seq, tokens, cost)
SELECT	e.run_id, e.from_agent, (e.received_at AT TIME ZONE 'UTC')::date, max(e.seq),
		least(sum(least(ceil(coalesce((u.usage ->> 'input_tokens')::numeric, 0)), 9007199254740992)
				  + least(ceil(coalesce((u.usage ->> 'output_tokens')::numeric, 0)), 9007199254740992)), 9223372036854775807)::bigint,
		sum(coalesce((u.usage ->> 'cost')::numeric, 0))
FROM clutch.events e
CROSS JOIN LATERAL (SELECT e.envelope #> '{meta,clutch,usage}' AS usage) u
JOIN clutch.task t ON t.task_id = e.task_id AND (t.agent_id = e.from_agent OR e.from_agent = ANY (t.past_agents))
WHERE e.run_id IN (SELECT s.run_id FROM clutch.spending_0_1_0 s)
  AND e.type IN ('task.progress', 'task.result', 'task.error') AND e.epoch > 0 AND u.usage IS NOT NULL
GROUP BY e.run_id, e.from_agent, 3;

ALTER TABLE clutch.ready
	ADD COLUMN waited_no	bigint,					-- its place in waiting before, to which it
	ADD COLUMN waited_since	timestamptz;			-- returns if a more urgent task takes its slot
ALTER TABLE clutch.dependency
	ADD COLUMN unknown_since	timestamptz;		-- while it waits: nobody had requested the other then
CREATE INDEX dependency_unknown ON clutch.dependency (task_id) WHERE unknown_since IS NOT NULL;
UPDATE clutch.dependency d SET unknown_since = w.since
FROM clutch.task w
WHERE w.task_id = d.task_id AND w.status = 'pending'
  AND NOT EXISTS (SELECT FROM clutch.task a WHERE a.task_id = d.after_task_id);

CREATE TABLE clutch.pause (
	what			text COLLATE "C" NOT NULL,	-- agent:x, or a capability
	seq				bigint NOT NULL,		-- of the event
	since			timestamptz NOT NULL,
	by_agent		text COLLATE "C" NOT NULL,
	reason			text,
	CONSTRAINT pause_pkey PRIMARY KEY (what)
);
CREATE TABLE clutch.spending_total (
	run_id			text COLLATE "C" NOT NULL,
	agent_id		text COLLATE "C" NOT NULL,
	day				date NOT NULL,			-- in UTC
	tokens			bigint NOT NULL,
	cost			numeric NOT NULL,
	CONSTRAINT spending_total_pkey PRIMARY KEY (run_id, agent_id, day)
);
CREATE TABLE clutch.step (
	task_id			text COLLATE "C" NOT NULL,
	name			text COLLATE "C" NOT NULL,
	seq				bigint NOT NULL,		-- of the task.progress that kept it
	CONSTRAINT step_pkey PRIMARY KEY (task_id, name)
);
CREATE TABLE clutch.suspended (
	task_id			text COLLATE "C" NOT NULL,
	since			timestamptz NOT NULL,
	CONSTRAINT suspended_pkey PRIMARY KEY (task_id)
) WITH (vacuum_truncate = off);		-- without a page no task was ever suspended (queue/suspended.c)
CREATE TABLE clutch.awaited (
	run_id			text COLLATE "C" NOT NULL,
	task_id			text COLLATE "C" NOT NULL,
	CONSTRAINT awaited_pkey PRIMARY KEY (run_id, task_id)
) WITH (vacuum_truncate = off);
CREATE TABLE clutch.expiry (
	due				timestamptz NOT NULL,
	seq				bigint NOT NULL,		-- of the message
	id				text COLLATE "C" NOT NULL,
	run_id			text COLLATE "C" NOT NULL,
	CONSTRAINT expiry_pkey PRIMARY KEY (due, seq)
);
CREATE INDEX expiry_id ON clutch.expiry (id, run_id);
CREATE TABLE clutch.event_count (
	source			text COLLATE "C" NOT NULL,
	dest			text COLLATE "C" NOT NULL,
	type			text COLLATE "C" NOT NULL,
	code			text COLLATE "C" NOT NULL,
	n				bigint NOT NULL,
	seconds			double precision NOT NULL,
	buckets			bigint[] NOT NULL,		-- see clutch.count_events
	CONSTRAINT event_count_pkey PRIMARY KEY (source, dest, type, code)
);
CREATE TABLE clutch.event_count_place (
	is_only			boolean NOT NULL DEFAULT true CHECK (is_only),
	epoch			integer NOT NULL,
	xid				xid8 NOT NULL,
	CONSTRAINT event_count_place_pkey PRIMARY KEY (is_only)
);
CREATE SEQUENCE clutch.last_tick AS bigint;

DO $$
DECLARE
	member regclass;
BEGIN
	FOREACH member IN ARRAY '{clutch.suspended, clutch.awaited, clutch.expiry}'::regclass[]
	LOOP
		EXECUTE pg_catalog.format('ALTER TABLE %s SET (autovacuum_vacuum_threshold = 2000,
			autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0)', member);
	END LOOP;
	FOREACH member IN ARRAY '{clutch.task, clutch.spending, clutch.pause, clutch.spending_total,
		clutch.step, clutch.suspended, clutch.awaited, clutch.expiry,
		clutch.event_count, clutch.event_count_place, clutch.last_tick}'::regclass[]
	LOOP
		PERFORM pg_catalog.pg_extension_config_dump(member, '');
	END LOOP;
END
$$;

-- ---------------------------------------------------- what has another form now
DROP VIEW clutch.stuck;
DROP FUNCTION clutch.report(text,text,text,jsonb,integer);
DROP FUNCTION clutch.fail(text,text,text,text,boolean,jsonb,integer);
DROP FUNCTION clutch.finish(text,text,jsonb,integer);
DROP FUNCTION clutch.progress(text,text,jsonb,integer);

-- ------------------------------------------------------------ views and functions
COMMENT ON TABLE clutch.events IS 'the log: every admitted envelope, once, until it is pruned';

CREATE FUNCTION clutch.unregister(agent_id text, reason text DEFAULT NULL) RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_unregister' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.unregister(text, text) IS
	'removes an agent from the registry and gives its tasks to others; what it did stays in the log';

CREATE FUNCTION clutch.pause(what text, reason text DEFAULT NULL) RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_pause' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.pause(text, text) IS
	'gives an agent, or tasks that require a capability to anybody, no new work until it is resumed; what is running goes on';

CREATE FUNCTION clutch.resume(what text) RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_resume' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.resume(text) IS
	'ends a pause and offers the tasks that waited; NULL if there was no pause';

CREATE VIEW clutch.paused WITH (security_invoker = true) AS
SELECT	p.what, CASE WHEN p.what LIKE 'agent:%' THEN 'agent' ELSE 'capability' END AS kind,
		p.reason, p.since, p.by_agent, p.seq
FROM clutch.pause p;
COMMENT ON VIEW clutch.paused IS 'agents and capabilities that get no new work until they are resumed';

CREATE OR REPLACE VIEW clutch.agents WITH (security_invoker = true) AS
SELECT	r.agent_id,
		CASE WHEN r.status = 'READY' AND s.running > 0
				  AND s.running >= coalesce((r.card #>> '{limits,max_concurrency}')::numeric, 1)
			 THEN 'BUSY' ELSE r.status END AS status,
		ARRAY(SELECT c.value ->> 'id'
			  FROM pg_catalog.jsonb_array_elements(r.card -> 'capabilities') WITH ORDINALITY AS c(value, place)
			  ORDER BY c.place) AS capabilities,
		coalesce((r.card #>> '{limits,max_concurrency}')::numeric::integer, 1) AS max_concurrency,
		s.running,
		s.success_rate,
		h.last_seen,
		r.card,
		coalesce((SELECT b.state FROM clutch.breakers b WHERE b.agent_id = r.agent_id), 'closed') AS breaker,
		r.reason,
		EXISTS (SELECT FROM clutch.pause p WHERE p.what = r.agent_id) AS paused
FROM clutch.agent_registry r
CROSS JOIN LATERAL (
	SELECT	count(s.task_id)::integer AS running,
			CASE WHEN sum(s.done + s.failed) > 0
				 THEN sum(s.done)::double precision / sum(s.done + s.failed)
				 ELSE 1 END AS success_rate
	FROM clutch.agent_slot s WHERE s.agent_id = r.agent_id) s
LEFT JOIN LATERAL (
	SELECT max(b.last_seen) AS last_seen
	FROM clutch.agent_heartbeat b WHERE b.agent_id = r.agent_id) h ON true;
CREATE FUNCTION clutch.progress(agent_id text, task_id text, payload jsonb, attempt integer DEFAULT NULL,
		usage jsonb DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_progress' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.progress(text, text, jsonb, integer, jsonb) IS
	'reports the progress of a task (task.progress), which renews its lease';

CREATE FUNCTION clutch.finish(agent_id text, task_id text, result jsonb DEFAULT '{}', attempt integer DEFAULT NULL,
		payload_type text DEFAULT NULL, usage jsonb DEFAULT NULL, attachments jsonb DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_finish' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.finish(text, text, jsonb, integer, text, jsonb, jsonb) IS
	'reports the result of a task (task.result); the receipt says late if it came too late';

CREATE FUNCTION clutch.fail(agent_id text, task_id text, code text, message text,
		retryable boolean DEFAULT true, details jsonb DEFAULT NULL, attempt integer DEFAULT NULL,
		usage jsonb DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_fail' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.fail(text, text, text, text, boolean, jsonb, integer, jsonb) IS
	'reports that a task failed (task.error)';

CREATE FUNCTION clutch.report(agent_id text, task_id text, type text, payload jsonb DEFAULT '{}', attempt integer DEFAULT NULL,
		meta jsonb DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_report' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.report(text, text, text, jsonb, integer, jsonb) IS
	'sends any report on a task: task.accept, task.progress, task.result, task.error or task.cancel';

CREATE FUNCTION clutch.step(agent_id text, task_id text, name text, output jsonb DEFAULT 'null', attempt integer DEFAULT NULL)
	RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_step' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.step(text, text, text, jsonb, integer) IS
	'keeps the output of a named step of the work, once; a repeated call, also by a later attempt, returns what was kept';

CREATE FUNCTION clutch.suspend(agent_id text, task_id text, wait jsonb, note jsonb DEFAULT NULL, attempt integer DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_suspend' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.suspend(text, text, jsonb, jsonb, integer) IS
	'gives the slot of a task back until its children are over, a time has come or a message has arrived; then it can be claimed again';

CREATE FUNCTION clutch.cancel_run(run_id text, reason text DEFAULT NULL, by_agent text DEFAULT NULL) RETURNS bigint
	AS 'MODULE_PATHNAME', 'clutch_cancel_run' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.cancel_run(text, text, text) IS
	'cancels every task of a run that is not over, and returns how many it was';

CREATE OR REPLACE FUNCTION clutch.check(OUT code text, OUT detail text, OUT hint text)
	RETURNS SETOF record
	LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1
	SET jit = off
	BEGIN ATOMIC
	-- The tasks that have a slot or a timer or are suspended, as nearly all that are not over,
	-- and of the others about 8 MB, chosen at random: all of them in a small table.
	WITH examined AS MATERIALIZED (
		SELECT t.task_id, t.status, t.waiting_for, t.wake_at, t.request_seq
		FROM clutch.task t
		WHERE t.task_id IN (SELECT s.task_id FROM clutch.agent_slot s WHERE s.task_id IS NOT NULL
							UNION ALL SELECT d.task_id FROM clutch.timer d
							UNION ALL SELECT w.task_id FROM clutch.suspended w)
	UNION
		SELECT t.task_id, t.status, t.waiting_for, t.wake_at, t.request_seq
		FROM clutch.task t TABLESAMPLE SYSTEM (least(100, 100.0 * 8 * 1024 * 1024 /
			greatest(pg_catalog.pg_relation_size('clutch.task'), 1))))
		SELECT 'TRIGGER_NOT_ALWAYS',
			   pg_catalog.format('trigger %s of clutch.events is %s', w.name,
					CASE t.tgenabled WHEN 'D' THEN 'disabled' WHEN 'O' THEN 'not in force under session_replication_role = replica'
									 WHEN 'R' THEN 'in force under session_replication_role = replica only' ELSE 'missing' END),
			   pg_catalog.format('ALTER TABLE clutch.events ENABLE ALWAYS TRIGGER %s;', w.name)
		FROM (VALUES ('zz_admit'), ('append_only'), ('append_only_row')) AS w(name)
		LEFT JOIN pg_catalog.pg_trigger t
			ON t.tgrelid = 'clutch.events'::regclass AND t.tgname = w.name
		WHERE t.tgenabled IS DISTINCT FROM 'A'
	UNION ALL
		SELECT 'FOREIGN_TRIGGER',
			   pg_catalog.format('trigger %s of clutch.events runs before rows are inserted', t.tgname),
			   pg_catalog.format('DROP TRIGGER %I ON clutch.events; use an AFTER trigger instead.', t.tgname)
		FROM pg_catalog.pg_trigger t
		WHERE t.tgrelid = 'clutch.events'::regclass AND NOT t.tgisinternal
		  AND t.tgname <> 'zz_admit' AND (t.tgtype & 2) <> 0 AND (t.tgtype & 4) <> 0
	UNION ALL
		SELECT 'FOREIGN_RULE',
			   pg_catalog.format('rule %s of clutch.events rewrites statements on the log', r.rulename),
			   pg_catalog.format('DROP RULE %I ON clutch.events; sessions that have sent anything under it must connect anew.', r.rulename)
		FROM pg_catalog.pg_rewrite r WHERE r.ev_class = 'clutch.events'::regclass
	UNION ALL
		SELECT 'INVALID_INDEX',
			   pg_catalog.format('index clutch.%I of clutch.%I is not valid: it is being built, or its building was interrupted', i.relname, t.relname),
			   CASE WHEN x.indisready THEN pg_catalog.format('If nobody is building it: DROP INDEX clutch.%I, or REINDEX INDEX clutch.%1$I.', i.relname)
					ELSE pg_catalog.format('If nobody is building it: DROP INDEX clutch.%I.', i.relname) END
		FROM pg_catalog.pg_index x
		JOIN pg_catalog.pg_class t ON t.oid = x.indrelid
		JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
		WHERE t.relnamespace = 'clutch'::regnamespace AND NOT x.indisvalid
	UNION ALL
		SELECT 'SEQUENCE_BEHIND',
			   pg_catalog.format('sequence clutch.event_seq stands at %s, the log at %s', s.last_value, e.seq),
			   pg_catalog.format('SELECT setval(''clutch.event_seq'', %s);', e.seq)
		FROM (SELECT max(seq) AS seq FROM clutch.events) e, clutch.event_seq s
		WHERE e.seq > s.last_value
	UNION ALL
		SELECT 'SEQUENCE_BEHIND',
			   pg_catalog.format('sequence clutch.queue_no stands at %s, the queues at %s', s.last_value, q.queue_no),
			   pg_catalog.format('SELECT setval(''clutch.queue_no'', %s);', q.queue_no)
		FROM (SELECT greatest((SELECT max(queue_no) FROM clutch.ready),
							  (SELECT max(queue_no) FROM clutch.waiting)) AS queue_no) q, clutch.queue_no s
		WHERE q.queue_no > s.last_value
	UNION ALL
		SELECT 'ROLE_GONE',
			   pg_catalog.format('role %s, which spoke for %s, does not exist any more', p.grantee, p.agent_id),
			   pg_catalog.format('DELETE FROM clutch.principal WHERE grantee = %s::oid;', p.grantee::oid)
		FROM clutch.principal p
		WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = p.grantee)
	UNION ALL
		-- a dump can leave policies out
		SELECT 'ROWS_NOT_FILTERED',
			   pg_catalog.format('row-level security of clutch.%I is off, so roles that may read it see the rows of others', c.relname),
			   'SELECT clutch.filter_rows();'
		FROM pg_catalog.pg_class c
		WHERE c.oid = ANY ('{clutch.task,clutch.question,clutch.schedule,clutch.subscription,clutch.subscription_position}'::regclass[])
		  AND EXISTS (SELECT FROM clutch.principal)
		  AND (NOT c.relrowsecurity
			   OR NOT EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'clutch_own'))
	UNION ALL
		SELECT 'TASK_WITHOUT_REQUEST',
			   pg_catalog.format('task %L has no request in the log (seq %s)', t.task_id, t.request_seq),
			   'Rows of the log are missing: restore them, or run SELECT clutch.rebuild().'
		FROM examined t
		WHERE NOT EXISTS (SELECT FROM clutch.events e WHERE e.seq = t.request_seq)
	UNION ALL
		SELECT 'TASK_NOT_QUEUED',
			   pg_catalog.format('task %L is %s but stands in no queue', t.task_id, t.status),
			   'SELECT clutch.rebuild();'
		-- each of these is an anti-join; in one condition with OR they would be looked up row by row
		FROM (
			SELECT a.task_id, a.status FROM examined a
			WHERE a.status = 'assigned' AND NOT EXISTS (SELECT FROM clutch.ready r WHERE r.task_id = a.task_id)
		UNION ALL
			SELECT p.task_id, p.status FROM examined p
			WHERE p.status = 'pending' AND p.waiting_for IN ('time', 'retry') AND p.wake_at IS NULL
		UNION ALL
			SELECT p.task_id, p.status FROM examined p
			WHERE p.status = 'pending' AND coalesce(p.waiting_for, '') NOT IN ('time', 'retry', 'sibling')
			  AND NOT EXISTS (SELECT FROM clutch.waiting w WHERE w.task_id = p.task_id)
		UNION ALL
			SELECT p.task_id, p.status FROM examined p
			WHERE p.status = 'suspended' AND NOT EXISTS (SELECT FROM clutch.suspended s WHERE s.task_id = p.task_id)
		UNION ALL
			SELECT p.task_id, p.status FROM examined p
			WHERE p.status = 'suspended' AND p.waiting_for = 'message'
			  AND NOT EXISTS (SELECT FROM clutch.awaited a WHERE a.task_id = p.task_id)
		) t
	UNION ALL
		SELECT 'TIMER_OVERDUE',
			   pg_catalog.format('%s has been due since %s, and nothing has handled it', o.what, o.due),
			   'Nothing ticks: add clutch to shared_preload_libraries and restart the server, or call SELECT clutch.tick() every few seconds.'
		FROM (SELECT 'a task' AS what, min(d.due) AS due FROM clutch.timer d
			  UNION ALL
			  SELECT 'a message', min(x.due) FROM clutch.expiry x
			  UNION ALL
			  SELECT 'a schedule', min(s.next_at) FROM clutch.schedule s WHERE s.next_at < 'infinity') o
		WHERE o.due < clutch.now() - interval '1 minute'
	UNION ALL
		SELECT 'SLOT_WITHOUT_TASK',
			   pg_catalog.format('slot %s of %s is held by task %L, which does not run', s.slot_no, s.agent_id, s.task_id),
			   'SELECT clutch.rebuild();'
		FROM clutch.agent_slot s
		WHERE s.task_id IS NOT NULL
		  AND NOT EXISTS (SELECT FROM clutch.task t WHERE t.task_id = s.task_id AND t.agent_id = s.agent_id
						  AND t.slot_no = s.slot_no AND t.status IN ('assigned', 'running'));
	END;
CREATE FUNCTION clutch.reads_all() RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_reads_all' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION clutch.reads_all() IS 'whether the role may read the whole log';

CREATE FUNCTION clutch.my_agents() RETURNS text[]
	AS 'MODULE_PATHNAME', 'clutch_my_agents' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.my_agents() IS 'the agents that the role was granted by grant_agent';

CREATE FUNCTION clutch.envelope_of(seq bigint) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_envelope_of' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.envelope_of(bigint) IS
	'the envelope of an event, by seq; NULL if the role may not read its task';

CREATE OR REPLACE VIEW clutch.tasks WITH (security_invoker = true) AS
SELECT	t.task_id, t.run_id, t.parent_task_id, t.thread_id, t.status, t.agent_id, t.from_agent,
		t.attempt, t.priority, t.requires,
		CASE WHEN t.status IN ('pending', 'input_required', 'suspended') THEN t.waiting_for
			 WHEN t.status = 'running' AND t.lease_until < clutch.now() THEN 'lease' END AS waiting_for,
		t.code, t.detail, t.since,
		CASE WHEN t.finished_at IS NULL THEN least(t.lease_until, t.deadline,
			CASE WHEN t.waiting_for IS DISTINCT FROM 'sibling' THEN t.wake_at END) END AS next_at, t.lease_until, t.deadline, t.created_at,
		t.started_at, t.finished_at, t.result_seq,
		t.scope, t.domain, t.payload_type, t.request_seq, t.retries, t.losses,
		coalesce(t.asked_priority, t.priority) AS asked_priority
FROM clutch.task t;
CREATE OR REPLACE VIEW clutch.runs WITH (security_invoker = true) AS
SELECT	t.run_id,
		CASE WHEN bool_or(t.finished_at IS NULL) THEN 'running'
			 WHEN bool_or(t.status = 'failed') THEN 'failed'
			 WHEN bool_or(t.status = 'timed_out') THEN 'timed_out'
			 WHEN bool_or(t.status = 'cancelled') THEN 'cancelled'
			 ELSE 'completed' END AS status,
		min(t.scope) AS scope,
		count(*) AS tasks,
		count(*) FILTER (WHERE t.finished_at IS NULL) AS open,
		count(*) FILTER (WHERE t.status = 'completed') AS completed,
		count(*) FILTER (WHERE t.status = 'failed') AS failed,
		count(*) FILTER (WHERE t.status = 'cancelled') AS cancelled,
		count(*) FILTER (WHERE t.status = 'timed_out') AS timed_out,
		min(t.created_at) AS started_at,
		CASE WHEN bool_and(t.finished_at IS NOT NULL) THEN max(t.finished_at) END AS finished_at
FROM clutch.task t
GROUP BY t.run_id;
CREATE OR REPLACE VIEW clutch.task_edges WITH (security_invoker = true) AS
SELECT t.run_id, t.parent_task_id AS from_task_id, t.task_id AS to_task_id, 'child'::text AS kind
FROM clutch.task t WHERE t.parent_task_id IS NOT NULL
UNION ALL
SELECT d.run_id, d.after_task_id, d.task_id, 'after'
FROM clutch.dependency d;
CREATE OR REPLACE VIEW clutch.approvals WITH (security_invoker = true) AS
SELECT	t.task_id, t.run_id, t.thread_id, t.agent_id, e.envelope -> 'payload' AS question,
		t.since AS asked_at, t.wake_at AS deadline, (e.envelope ->> 'id') COLLATE "C" AS question_id,
		ARRAY(SELECT r.value ->> 'agent_id'
			  FROM pg_catalog.jsonb_array_elements(e.envelope -> 'to') WITH ORDINALITY AS r(value, place)
			  ORDER BY r.place) COLLATE "C" AS asked
FROM clutch.question q
JOIN clutch.task t ON t.task_id = q.task_id
CROSS JOIN LATERAL clutch.envelope_of(q.seq) AS e(envelope);
CREATE OR REPLACE VIEW clutch.dead_letters WITH (security_invoker = true) AS
SELECT	t.task_id, t.run_id, t.thread_id, t.parent_task_id, t.status, t.agent_id, t.attempt, t.retries, t.losses,
		t.code, t.detail, t.finished_at AS failed_at, t.payload_type, t.request_seq, t.result_seq,
		clutch.envelope_of(t.result_seq) -> 'payload' AS error,
		format('SELECT clutch.retry(%L)', t.task_id) AS revive
FROM clutch.task t
WHERE t.status IN ('failed', 'timed_out');
CREATE OR REPLACE VIEW clutch.budgets WITH (security_invoker = true) AS
SELECT	b.run_id, b.tokens AS max_tokens, s.tokens, b.cost AS max_cost, s.cost,
		b.tasks AS max_tasks, t.tasks, b.depth AS max_depth,
		coalesce(s.tokens >= b.tokens OR s.cost >= b.cost OR t.tasks > b.tasks, false) AS exceeded
FROM clutch.budget b
CROSS JOIN LATERAL (
	SELECT least(coalesce(sum(p.tokens), 0), 9223372036854775807)::bigint AS tokens, coalesce(sum(p.cost), 0) AS cost
	FROM clutch.spending p WHERE p.run_id = b.run_id) s
CROSS JOIN LATERAL (
	SELECT count(*) AS tasks FROM clutch.task k WHERE k.run_id = b.run_id) t;
CREATE VIEW clutch.costs WITH (security_invoker = true) AS
SELECT	s.run_id, s.agent_id, s.day,
		least(sum(s.tokens), 9223372036854775807)::bigint AS tokens, sum(s.cost) AS cost
FROM (SELECT p.run_id, p.agent_id, p.day, p.tokens, p.cost FROM clutch.spending p
	  UNION ALL
	  SELECT t.run_id, t.agent_id, t.day, t.tokens, t.cost FROM clutch.spending_total t) s
GROUP BY s.run_id, s.agent_id, s.day;
COMMENT ON VIEW clutch.costs IS 'what agents have reported to have spent, by run, agent and day (UTC)';

CREATE VIEW clutch.stuck WITH (security_invoker = true) AS
WITH blocked AS (
	SELECT p.task_id, p.run_id, p.status, p.agent_id, p.since, c.task_id AS child_task_id, c.request_seq AS child_seq
	FROM clutch.agent_slot s
	JOIN clutch.task p ON p.task_id = s.task_id AND p.status = 'running'
	CROSS JOIN LATERAL (
		SELECT k.task_id, k.request_seq FROM clutch.task k
		WHERE k.parent_task_id = p.task_id AND k.status = 'pending' AND k.waiting_for = 'capacity'
		LIMIT 1) AS c)
SELECT	t.task_id, t.run_id, t.status, t.agent_id, t.since, p.problem, p.hint
FROM (SELECT clutch.now() AS now,
			 coalesce(nullif(nullif(pg_catalog.current_setting('clutch.claim_timeout', true), ''), '0'), '60 s')::interval AS patience,
			 coalesce(nullif(nullif(pg_catalog.current_setting('clutch.claim_timeout', true), ''), '0'), '5 min')::interval AS claim_timeout,
			 (SELECT array_agg(p.what) FROM clutch.pause p) AS paused) AS clock
CROSS JOIN clutch.task t
LEFT JOIN LATERAL (
	SELECT d.after_task_id FROM clutch.dependency d
	WHERE d.task_id = t.task_id AND d.unknown_since < clock.now - clock.patience
	  AND NOT EXISTS (SELECT FROM clutch.task a WHERE a.task_id = d.after_task_id)
	LIMIT 1) AS awaited ON t.status = 'pending' AND t.waiting_for = 'sibling'
CROSS JOIN LATERAL (VALUES (
	CASE WHEN t.finished_at IS NOT NULL THEN NULL
		 WHEN t.deadline < clock.now OR (t.status = 'input_required' AND t.wake_at <= clock.now) THEN 'deadline passed'
		 WHEN t.status = 'running' AND t.wake_at < clock.now THEN 'ran too long'
		 WHEN t.status = 'running' AND t.lease_until < clock.now THEN 'lease expired'
		 WHEN t.status = 'suspended' AND t.wake_at < clock.now THEN 'its time has come'
		 WHEN t.status = 'pending' AND t.wake_at < clock.now AND t.waiting_for <> 'sibling' THEN 'its time has come'
		 WHEN t.status IN ('pending', 'assigned') AND clock.paused IS NOT NULL
				AND (t.agent_id = ANY (clock.paused)
					 OR EXISTS (SELECT FROM unnest(t.requires) r WHERE split_part(r, '@', 1) = ANY (clock.paused))) THEN 'paused'
		 WHEN t.status = 'pending' AND t.waiting_for = 'agent' THEN t.code
		 WHEN awaited.after_task_id IS NOT NULL THEN 'waits for an unknown task'
		 WHEN t.status = 'assigned' AND t.since < clock.now - clock.claim_timeout THEN 'not claimed'
	END,
	CASE WHEN t.deadline < clock.now THEN 'Call clutch.tick(), run the worker, or let an agent claim.'
		 WHEN t.status IN ('pending', 'assigned') AND clock.paused IS NOT NULL
				AND (t.agent_id = ANY (clock.paused)
					 OR EXISTS (SELECT FROM unnest(t.requires) r WHERE split_part(r, '@', 1) = ANY (clock.paused)))
			THEN 'SELECT * FROM clutch.paused shows what is paused; SELECT clutch.resume(what) ends it.'
		 WHEN awaited.after_task_id IS NOT NULL
			THEN format('Nobody has requested task %s, which it waits for: request that task, or cancel this one.', awaited.after_task_id)
		 WHEN t.status = 'pending' AND t.wake_at IS NULL THEN 'SELECT * FROM clutch.why(task_id) shows why no agent can have it.'
		 WHEN t.status = 'assigned' THEN 'The agent does not call clutch.claim, and no other agent that could have the task has room: check whether it runs.'
		 ELSE 'Call clutch.tick(), run the worker, or let an agent claim.'
	END)) AS p(problem, hint)
WHERE p.problem IS NOT NULL
  AND t.task_id IN (
		SELECT d.task_id FROM clutch.timer d WHERE d.due < (SELECT clutch.now() + interval '2 minutes')
	UNION ALL
		SELECT w.task_id FROM clutch.waiting w
	UNION ALL
		SELECT r.task_id FROM clutch.ready r
	UNION ALL
		SELECT u.task_id FROM clutch.dependency u WHERE u.unknown_since IS NOT NULL)
UNION ALL
SELECT	b.task_id, b.run_id, b.status, b.agent_id, b.since, 'holds the slot that its subtask needs',
		format('All agents that can do its subtask %s are full of tasks like this one: wait for subtasks with clutch.suspend, which gives the slot back.', b.child_task_id)
FROM blocked b
JOIN clutch.events e ON e.seq = b.child_seq
WHERE NOT EXISTS (
	SELECT FROM clutch.explain_route(e.envelope) x
	WHERE x.eligible
	   OR (x.rejected_by = 'concurrency' AND EXISTS (
			SELECT FROM clutch.agent_slot o
			WHERE o.agent_id = x.agent_id AND o.task_id IS NOT NULL
			  AND NOT EXISTS (SELECT FROM blocked k WHERE k.task_id = o.task_id))));
COMMENT ON VIEW clutch.stuck IS 'tasks that will not move without help, the reason, and what to do';

CREATE FUNCTION clutch.steps(task_id text,
		OUT name text, OUT output jsonb, OUT attempt integer, OUT seq bigint, OUT at timestamptz)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_steps' LANGUAGE C STABLE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION clutch.steps(text) IS
	'the steps of a task whose outputs were kept, in the order in which they were kept';

CREATE FUNCTION clutch.prune(before timestamptz, max_events integer DEFAULT 10000) RETURNS bigint
	AS 'MODULE_PATHNAME', 'clutch_prune' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.prune(timestamptz, integer) IS
	'removes runs that are over, and messages, if they are older; returns how many events it has removed, 0 when nothing is left to remove';

CREATE FUNCTION clutch.redact(seq bigint, reason text) RETURNS void
	AS 'MODULE_PATHNAME', 'clutch_redact' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.redact(bigint, text) IS
	'replaces the payload of an event by its digest, where the law requires erasure';

CREATE FUNCTION clutch.export(run_id text) RETURNS SETOF text
	LANGUAGE sql STABLE PARALLEL SAFE ROWS 1000
	BEGIN ATOMIC
	SELECT l.line
	FROM (SELECT 0::bigint AS seq,
				 pg_catalog.jsonb_build_object('clutch_export', 1, 'run_id', export.run_id, 'events', count(*),
					'version', clutch.version(), 'exported_at', clutch.now())::text AS line
		  FROM clutch.events c WHERE c.run_id = export.run_id HAVING count(*) > 0
		  UNION ALL
		  SELECT e.seq,
				 pg_catalog.jsonb_build_object('seq', e.seq, 'received_at', e.received_at, 'attempt', e.attempt, 'late', e.late,
					'judged', e.epoch > 0, 'scope', e.scope, 'envelope', e.envelope)::text
		  FROM clutch.events e WHERE e.run_id = export.run_id) l
	ORDER BY l.seq;
	END;
COMMENT ON FUNCTION clutch.export(text) IS
	'the events of a run as JSON Lines, for clutch.import in another database';

CREATE FUNCTION clutch.import(lines text[]) RETURNS bigint
	AS 'MODULE_PATHNAME', 'clutch_import' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.import(text[]) IS
	'puts a run that clutch.export returned elsewhere into the log, as history; returns how many events, 0 if it is there already';

CREATE OR REPLACE VIEW clutch.metric_names WITH (security_invoker = true) AS
SELECT m.name, m.type, m.help
FROM (VALUES
	('clutch_log_seq', 'counter', 'The last seq that was drawn for the log.'),
	('clutch_log_bytes', 'gauge', 'Size of the log on disk, with its indexes, in bytes.'),
	('clutch_tasks', 'gauge', 'Tasks by status. In a large table, the tasks that are over are estimated.'),
	('clutch_queue_size', 'gauge', 'Rows of the queues: ready to be claimed, waiting for an agent, unanswered questions, suspended tasks, timers, consequences that were put off.'),
	('clutch_queue_oldest_seconds', 'gauge', 'How long the oldest row of a queue has been waiting.'),
	('clutch_timer_overdue_seconds', 'gauge', 'How long the first timer, message or schedule has been due. If it grows, nothing calls clutch.tick().'),
	('clutch_agent_queue_size', 'gauge', 'Tasks ready to be claimed by an agent, for the hundred longest queues.'),
	('clutch_agents', 'gauge', 'Agents by status.'),
	('clutch_paused', 'gauge', 'Agents and capabilities that are paused.'),
	('clutch_tasks_unclaimed', 'gauge', 'Tasks that their agents have not claimed in time, and that no other agent has taken yet.'),
	('clutch_breakers', 'gauge', 'Agents whose circuit breaker is not closed, by the state of the breaker.'),
	('clutch_subscription_behind', 'gauge', 'Events that a subscription has not handled yet; 10001 means more than 10000.'),
	('clutch_subscription_oldest_seconds', 'gauge', 'How long the first of them has been in the log.'),
	('clutch_oldest_writer_seconds', 'gauge', 'Age of the oldest open or prepared transaction of this database that has written. Its events cannot be read before it ends.'),
	('clutch_oldest_snapshot_seconds', 'gauge', 'Age of the oldest open transaction with a snapshot, in any database. VACUUM keeps the rows that it may see.'),
	('clutch_notification_queue_usage', 'gauge', 'Usage of the NOTIFY queue; at 1, commits that notify fail.'),
	('clutch_schedules_failing', 'gauge', 'Schedules whose last envelope was refused.'),
	('clutch_agent_messages_total', 'counter', 'Events by source, dest and type, for the hundred most frequent.'),
	('clutch_agent_errors_total', 'counter', 'task.error, tool.error, task.timeout and routing.failure by source and code, for the hundred most frequent.'),
	('clutch_agent_request_duration', 'histogram', 'Seconds from a task.request to its task.result, task.error or task.timeout, by source (the requester) and dest (the agent), for the twenty most frequent.'),
	('clutch_dead_rows', 'gauge', 'Dead rows of the tables of clutch that await VACUUM, according to the statistics.')
) AS m(name, type, help);
CREATE FUNCTION clutch.count_events(epoch integer, first xid8, last xid8)
	RETURNS SETOF clutch.event_count
	LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 100
	SET jit = off
	BEGIN ATOMIC
		SELECT e.from_agent, r.dest, e.type,
			   CASE WHEN e.type IN ('task.error', 'tool.error', 'task.timeout', 'routing.failure')
					THEN coalesce(pg_catalog.substr(e.envelope #>> '{payload,code}', 1, 64), '') ELSE '' END,
			   count(*), 0::double precision, '{}'::bigint[]
		FROM clutch.events e CROSS JOIN LATERAL unnest(e.to_agents) AS r(dest)
		WHERE e.epoch = count_events.epoch AND e.xid >= count_events.first AND e.xid <= count_events.last
		GROUP BY 1, 2, 3, 4
	UNION ALL
		SELECT d.source, d.dest, 'duration', '', count(*), sum(d.seconds),
			   ARRAY[count(*) FILTER (WHERE d.seconds <= 0.1), count(*) FILTER (WHERE d.seconds <= 0.5),
					 count(*) FILTER (WHERE d.seconds <= 1), count(*) FILTER (WHERE d.seconds <= 5),
					 count(*) FILTER (WHERE d.seconds <= 10), count(*) FILTER (WHERE d.seconds <= 60),
					 count(*) FILTER (WHERE d.seconds <= 300), count(*) FILTER (WHERE d.seconds <= 3600)]
		FROM (SELECT t.from_agent, coalesce(t.agent_id, ''), extract(epoch FROM e.received_at - t.created_at)::double precision
			  FROM clutch.events e JOIN clutch.task t ON t.task_id = e.task_id
			  WHERE e.epoch = count_events.epoch AND e.xid >= count_events.first AND e.xid <= count_events.last
				AND e.type IN ('task.result', 'task.error', 'task.timeout') AND NOT e.late) AS d(source, dest, seconds)
		GROUP BY 1, 2;
	END;
COMMENT ON FUNCTION clutch.count_events(integer, xid8, xid8) IS
	'counts the events of some transactions for the metrics';

CREATE FUNCTION clutch.count_more(max_events integer) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	place record;
	over xid8 := pg_snapshot_xmin(pg_current_snapshot());
	last xid8;
BEGIN
	-- read without a lock, so that an idle database is not written to
	SELECT p.epoch, p.xid INTO place FROM clutch.event_count_place p;
	IF NOT FOUND THEN
		INSERT INTO clutch.event_count_place (epoch, xid)
		SELECT min(e.epoch), '0' FROM clutch.events e WHERE e.epoch > 0 HAVING min(e.epoch) IS NOT NULL
		ON CONFLICT DO NOTHING;
		RETURN 0;
	END IF;
	SELECT max(s.xid) INTO last
	FROM (SELECT e.xid FROM clutch.events e
		  WHERE e.epoch = place.epoch AND e.xid >= place.xid
			AND (e.xid < over OR place.epoch < (SELECT max(h.epoch) FROM clutch.epoch h))
		  ORDER BY e.epoch, e.xid LIMIT max_events) s;
	IF last IS NULL AND NOT EXISTS (SELECT FROM clutch.epoch h WHERE h.epoch > place.epoch) THEN
		RETURN 0;
	END IF;
	PERFORM FROM clutch.event_count_place p WHERE p.epoch = place.epoch AND p.xid = place.xid FOR UPDATE SKIP LOCKED;
	IF NOT FOUND THEN
		RETURN 0;
	END IF;
	IF last IS NULL THEN
		UPDATE clutch.event_count_place p
		SET epoch = n.epoch, xid = '0'
		FROM (SELECT min(e.epoch) AS epoch FROM clutch.events e WHERE e.epoch > place.epoch) n
		WHERE n.epoch IS NOT NULL;
		RETURN 0;
	END IF;
	INSERT INTO clutch.event_count AS c
	SELECT * FROM clutch.count_events(place.epoch, place.xid, last)
	ON CONFLICT (source, dest, type, code) DO UPDATE
	SET n = c.n + excluded.n, seconds = c.seconds + excluded.seconds,
		buckets = ARRAY(SELECT coalesce(u.a, 0) + coalesce(u.b, 0)
						FROM unnest(c.buckets, excluded.buckets) WITH ORDINALITY AS u(a, b, i) ORDER BY u.i);
	UPDATE clutch.event_count_place SET xid = (last::text::bigint + 1)::text::xid8;
	RETURN 1;
END
$$;
COMMENT ON FUNCTION clutch.count_more(integer) IS
	'counts events that have not been counted for the metrics yet; returns 0 if there are none';

CREATE OR REPLACE FUNCTION clutch.metrics(OUT name text, OUT labels jsonb, OUT value double precision)
	RETURNS SETOF record
	LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 50
	SET jit = off SET max_parallel_workers_per_gather = 0
	BEGIN ATOMIC
	WITH queue(queue, since) AS (
			SELECT 'ready', since FROM clutch.ready
		UNION ALL SELECT 'waiting', since FROM clutch.waiting
		UNION ALL SELECT 'consequence', since FROM clutch.consequence
		UNION ALL SELECT 'question', asked_at FROM clutch.approvals
		UNION ALL SELECT 'suspended', since FROM clutch.suspended
		UNION ALL SELECT 'timer', NULL FROM clutch.timer),
	-- The view is used twice, and is as long as the list of readers.
	reader AS MATERIALIZED (
		SELECT s.name, s.member, s.behind, s.oldest FROM clutch.subscriptions s),
	-- A small table is counted.  In a large one nearly all tasks are over: these are
	-- estimated from its statistics, and those that are not over are counted in the
	-- tables where they have a row.
	large(is_large) AS (
		SELECT pg_catalog.pg_relation_size('clutch.task') > 16 * 1024 * 1024),
	tasks(status, tasks) AS (
			SELECT t.status, count(*)::double precision FROM clutch.task t
			WHERE NOT (SELECT is_large FROM large) GROUP BY t.status
		UNION ALL
			SELECT m.status, pg_catalog.round((m.frequency * c.reltuples)::numeric)::double precision
			FROM pg_catalog.pg_class c
			JOIN pg_catalog.pg_stats s ON s.schemaname = 'clutch' AND s.tablename = 'task' AND s.attname = 'status'
			CROSS JOIN LATERAL ROWS FROM (
				unnest(s.most_common_vals::text::text[]), unnest(s.most_common_freqs)) AS m(status, frequency)
			WHERE (SELECT is_large FROM large) AND c.oid = 'clutch.task'::regclass AND c.reltuples > 0
			  AND m.status NOT IN ('assigned', 'running', 'input_required', 'suspended', 'pending')
		UNION ALL
			SELECT 'assigned', count(*) FROM clutch.ready WHERE (SELECT is_large FROM large)
		UNION ALL
			SELECT 'running', greatest(count(*) - (SELECT count(*) FROM clutch.ready), 0)
			FROM clutch.agent_slot WHERE (SELECT is_large FROM large) AND task_id IS NOT NULL
		UNION ALL
			SELECT 'input_required', count(*) FROM clutch.question WHERE (SELECT is_large FROM large)
		UNION ALL
			SELECT 'suspended', count(*) FROM clutch.suspended WHERE (SELECT is_large FROM large)
		UNION ALL
			SELECT 'pending', count(*)
			FROM (SELECT task_id FROM clutch.waiting WHERE (SELECT is_large FROM large)
				  UNION SELECT task_id FROM clutch.timer WHERE (SELECT is_large FROM large)
				  EXCEPT (SELECT task_id FROM clutch.agent_slot UNION ALL SELECT task_id FROM clutch.question
						  UNION ALL SELECT task_id FROM clutch.suspended)) p),
	-- what has been counted, and the first 20,000 events that have not
	place AS MATERIALIZED (
		SELECT coalesce((SELECT p.epoch FROM clutch.event_count_place p), (SELECT min(e.epoch) FROM clutch.events e WHERE e.epoch > 0)) AS epoch,
			   coalesce((SELECT p.xid FROM clutch.event_count_place p), '0'::xid8) AS xid),
	counted AS MATERIALIZED (
			SELECT c.source, c.dest, c.type, c.code, c.n, c.seconds, c.buckets FROM clutch.event_count c
		UNION ALL
			SELECT u.source, u.dest, u.type, u.code, u.n, u.seconds, u.buckets
			FROM place p
			CROSS JOIN LATERAL (
				SELECT max(s.xid) AS last
				FROM (SELECT e.xid FROM clutch.events e WHERE e.epoch = p.epoch AND e.xid >= p.xid
					  ORDER BY e.epoch, e.xid LIMIT 20000) s) l
			CROSS JOIN LATERAL clutch.count_events(p.epoch, p.xid, l.last) u),
	durations AS MATERIALIZED (
		SELECT c.source, c.dest, sum(c.n) AS n, sum(c.seconds) AS seconds
		FROM counted c WHERE c.type = 'duration' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20),
	queues AS (
		SELECT q.queue, count(n.queue) AS size, min(n.since) AS oldest
		FROM (VALUES ('ready'), ('waiting'), ('question'), ('suspended'), ('timer'), ('consequence')) AS q(queue)
		LEFT JOIN queue n ON n.queue = q.queue
		GROUP BY q.queue)
		SELECT 'clutch_log_seq', '{}'::jsonb, last_value::double precision FROM clutch.event_seq
	UNION ALL
		SELECT 'clutch_log_bytes', '{}', pg_catalog.pg_total_relation_size('clutch.events')
	UNION ALL
		SELECT 'clutch_tasks', pg_catalog.jsonb_build_object('status', s.status), coalesce(max(n.tasks), 0)
		FROM (SELECT DISTINCT from_status AS status FROM clutch.task_transitions()
			  UNION SELECT to_status FROM clutch.task_transitions()) s
		LEFT JOIN tasks n ON n.status = s.status
		GROUP BY s.status
	UNION ALL
		SELECT 'clutch_queue_size', pg_catalog.jsonb_build_object('queue', queue), size FROM queues
	UNION ALL
		SELECT 'clutch_queue_oldest_seconds', pg_catalog.jsonb_build_object('queue', queue),
			   greatest(coalesce(extract(epoch FROM clutch.now() - oldest), 0), 0)
		FROM queues WHERE queue <> 'timer'
	UNION ALL
		SELECT 'clutch_timer_overdue_seconds', '{}',
			   greatest(coalesce(extract(epoch FROM clutch.now() - least((SELECT min(due) FROM clutch.timer),
					(SELECT min(due) FROM clutch.expiry),
					(SELECT min(next_at) FROM clutch.schedule WHERE next_at < 'infinity'))), 0), 0)
	UNION ALL
		(SELECT 'clutch_agent_queue_size', pg_catalog.jsonb_build_object('agent_id', agent_id), count(*)
		 FROM clutch.ready GROUP BY agent_id ORDER BY count(*) DESC, agent_id LIMIT 100)
	UNION ALL
		SELECT 'clutch_agents', pg_catalog.jsonb_build_object('status', status), count(*)
		FROM clutch.agent_registry GROUP BY status
	UNION ALL
		SELECT 'clutch_paused', pg_catalog.jsonb_build_object('kind', k.kind), count(p.what)
		FROM (VALUES ('agent'), ('capability')) AS k(kind)
		LEFT JOIN clutch.paused p ON p.kind = k.kind
		GROUP BY k.kind
	UNION ALL
		SELECT 'clutch_tasks_unclaimed', '{}', count(*)
		FROM clutch.waiting w JOIN clutch.ready r ON r.task_id = w.task_id AND r.queue_no = w.queue_no
	UNION ALL
		SELECT 'clutch_breakers', pg_catalog.jsonb_build_object('state', s.state), count(b.agent_id)
		FROM (VALUES ('open'), ('half_open')) AS s(state)
		LEFT JOIN clutch.breakers b ON b.state = s.state
		GROUP BY s.state
	UNION ALL
		SELECT 'clutch_subscription_behind', pg_catalog.jsonb_build_object('name', s.name, 'member', s.member), s.behind
		FROM reader s
	UNION ALL
		SELECT 'clutch_subscription_oldest_seconds', pg_catalog.jsonb_build_object('name', s.name, 'member', s.member),
			   coalesce(extract(epoch FROM clutch.now() - s.oldest), 0)
		FROM reader s
	UNION ALL
		SELECT 'clutch_oldest_writer_seconds', '{}',
			   coalesce(max(extract(epoch FROM pg_catalog.clock_timestamp() - w.begun)), 0)
		FROM (SELECT a.xact_start FROM pg_catalog.pg_stat_activity a
			  WHERE a.backend_xid IS NOT NULL AND a.pid <> pg_catalog.pg_backend_pid()
				AND a.datname = pg_catalog.current_database()
			  UNION ALL
			  SELECT p.prepared FROM pg_catalog.pg_prepared_xacts p
			  WHERE p.database = pg_catalog.current_database()) AS w(begun)
	UNION ALL
		SELECT 'clutch_oldest_snapshot_seconds', '{}',
			   coalesce(max(extract(epoch FROM pg_catalog.clock_timestamp() - a.xact_start)), 0)
		FROM pg_catalog.pg_stat_activity a
		WHERE a.backend_xmin IS NOT NULL AND a.pid <> pg_catalog.pg_backend_pid()
		  AND a.backend_type <> 'autovacuum worker'
	UNION ALL
		SELECT 'clutch_notification_queue_usage', '{}', pg_catalog.pg_notification_queue_usage()
	UNION ALL
		SELECT 'clutch_schedules_failing', '{}', count(*) FROM clutch.schedule WHERE last_error IS NOT NULL
	UNION ALL
		(SELECT 'clutch_agent_messages_total', pg_catalog.jsonb_build_object('source', source, 'dest', dest, 'type', type), sum(n)::double precision
		 FROM counted WHERE type <> 'duration' GROUP BY source, dest, type ORDER BY sum(n) DESC, source, dest, type LIMIT 100)
	UNION ALL
		(SELECT 'clutch_agent_errors_total', pg_catalog.jsonb_build_object('source', source, 'error_type', code), sum(n)::double precision
		 FROM counted WHERE code <> '' GROUP BY source, code ORDER BY sum(n) DESC, source, code LIMIT 100)
	UNION ALL
		SELECT 'clutch_agent_request_duration_bucket', pg_catalog.jsonb_build_object('source', d.source, 'dest', d.dest, 'le', b.le),
			   CASE WHEN b.le = '+Inf' THEN d.n::double precision
					ELSE (SELECT sum(c.buckets[b.i]) FROM counted c
						  WHERE c.type = 'duration' AND c.source = d.source AND c.dest = d.dest)::double precision END
		FROM durations d
		CROSS JOIN unnest('{0.1,0.5,1,5,10,60,300,3600,+Inf}'::text[]) WITH ORDINALITY AS b(le, i)
	UNION ALL
		SELECT 'clutch_agent_request_duration_' || m.what, pg_catalog.jsonb_build_object('source', d.source, 'dest', d.dest), m.value
		FROM durations d CROSS JOIN LATERAL (VALUES ('sum', d.seconds), ('count', d.n::double precision)) AS m(what, value)
	UNION ALL
		SELECT 'clutch_dead_rows', pg_catalog.jsonb_build_object('table', u.relname), u.n_dead_tup
		FROM pg_catalog.pg_stat_user_tables u
		WHERE u.schemaname = 'clutch' AND u.n_dead_tup > 0;
	END;
CREATE OR REPLACE FUNCTION clutch.prometheus() RETURNS text
	LANGUAGE sql VOLATILE PARALLEL UNSAFE
	BEGIN ATOMIC
		SELECT pg_catalog.string_agg(pg_catalog.format(E'# HELP %s %s\n# TYPE %s %s\n%s', n.name, n.help, n.name, n.type, m.lines), '' ORDER BY n.name)
		FROM clutch.metric_names n
		JOIN (
			SELECT coalesce(h.name, v.name) AS name,
				   pg_catalog.string_agg(pg_catalog.format(E'%s%s %s\n', v.name, l.labels, v.value), '' ORDER BY v.name, (v.labels - 'le')::text, (v.labels ->> 'le')::double precision, l.labels) AS lines
			FROM clutch.metrics() v
			LEFT JOIN clutch.metric_names h ON h.type = 'histogram'
				AND v.name IN (h.name || '_bucket', h.name || '_sum', h.name || '_count')
			CROSS JOIN LATERAL (
				SELECT coalesce('{' || pg_catalog.string_agg(pg_catalog.format('%s="%s"', p.key,
							pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(p.value, E'\\', E'\\\\'), '"', E'\\"'), E'\n', E'\\n')),
							',' ORDER BY p.key COLLATE "C") || '}', '') AS labels
				FROM pg_catalog.jsonb_each_text(v.labels) p) l
			GROUP BY 1) m ON m.name = n.name;
	END;
CREATE OR REPLACE VIEW clutch.function_grants WITH (security_invoker = true) AS
SELECT g.grantee, f.function::regprocedure AS function
FROM (VALUES
	('reader', ARRAY['clutch.validate(jsonb)', 'clutch.new_id(text)', 'clutch.from_legacy(jsonb)',
		'clutch.route(jsonb)', 'clutch.explain_route(jsonb)', 'clutch.why(text)',
		'clutch.version_satisfies(text,text)', 'clutch.agents_meeting(text[])', 'clutch.find_agents(text[],text)',
		'clutch.result(text)', 'clutch.steps(text)', 'clutch.task_tree(text)', 'clutch.replay(text)', 'clutch.export(text)', 'clutch.run_graph(text,text)',
		'clutch.task_transitions()', 'clutch.agent_transitions()', 'clutch.metrics()', 'clutch.prometheus()', 'clutch.count_events(integer,xid8,xid8)', 'clutch.channel(text,text)', 'clutch.listen(text,text)', 'clutch.version()',
		'clutch.check()', 'clutch.now()', 'clutch.reads_all()', 'clutch.my_agents()', 'clutch.envelope_of(bigint)', 'clutch.breaker(bigint,timestamptz)', 'clutch.subscribe(text,jsonb,text,integer)', 'clutch.unsubscribe(text)',
		'clutch.read(text,integer,integer)', 'clutch.commit(text,text,integer)', 'clutch.read_from(text,jsonb,integer)', 'clutch.position()',
		'clutch.envelope(text,text,text[],jsonb,text,text,text,text,text[],text[],text,text,text,text,jsonb,jsonb,jsonb,jsonb,integer,text,integer,interval,text[])']),
	('agent', ARRAY['clutch.validate(jsonb)', 'clutch.new_id(text)', 'clutch.from_legacy(jsonb)',
		'clutch.envelope(text,text,text[],jsonb,text,text,text,text,text[],text[],text,text,text,text,jsonb,jsonb,jsonb,jsonb,integer,text,integer,interval,text[])',
		'clutch.send(jsonb)', 'clutch.send_batch(jsonb[])', 'clutch.send_at(jsonb,timestamptz)', 'clutch.schedule(text,text,jsonb,text)', 'clutch.unschedule(text)', 'clutch.register(jsonb)', 'clutch.heartbeat(text)', 'clutch.set_status(text,text,text)', 'clutch.unregister(text,text)', 'clutch.pause(text,text)', 'clutch.resume(text)',
		'clutch.claim(text,integer,interval)', 'clutch.extend_lease(text,text,integer,interval)',
		'clutch.progress(text,text,jsonb,integer,jsonb)', 'clutch.finish(text,text,jsonb,integer,text,jsonb,jsonb)',
		'clutch.fail(text,text,text,text,boolean,jsonb,integer,jsonb)', 'clutch.report(text,text,text,jsonb,integer,jsonb)',
		'clutch.release(text,text,integer,text)', 'clutch.cancel(text,text,text)', 'clutch.cancel_run(text,text,text)', 'clutch.retry(text,text)',
		'clutch.retry_run(text,text)', 'clutch.suspend(text,text,jsonb,jsonb,integer)', 'clutch.step(text,text,text,jsonb,integer)', 'clutch.steps(text)',
		'clutch.answer(text,jsonb,text)', 'clutch.result(text)', 'clutch.tick()', 'clutch.channel(text,text)', 'clutch.listen(text,text)',
		'clutch.subscribe(text,jsonb,text,integer)', 'clutch.unsubscribe(text)', 'clutch.read(text,integer,integer)',
		'clutch.commit(text,text,integer)', 'clutch.read_from(text,jsonb,integer)', 'clutch.position()',
		'clutch.version()', 'clutch.now()', 'clutch.why(text)', 'clutch.reads_all()', 'clutch.my_agents()', 'clutch.envelope_of(bigint)'])) AS g(grantee, functions)
CROSS JOIN LATERAL unnest(g.functions) AS f(function);
CREATE VIEW clutch.agent_views WITH (security_invoker = true) AS
SELECT v.relation::regclass AS relation, v.own AS own
FROM (VALUES
	('clutch.tasks', NULL), ('clutch.runs', NULL), ('clutch.approvals', NULL), ('clutch.dead_letters', NULL),
	('clutch.schedules', NULL), ('clutch.subscriptions', NULL),
	('clutch.task', 'from_agent = ANY ((SELECT clutch.my_agents())::text[]) OR agent_id = ANY ((SELECT clutch.my_agents())::text[]) '
		'OR past_agents && (SELECT clutch.my_agents())'),
	('clutch.question', 'EXISTS (SELECT FROM clutch.task t WHERE t.task_id = question.task_id)'),
	('clutch.schedule', 'owner = (SELECT current_user)::regrole'),
	('clutch.subscription', 'owner = (SELECT current_user)::regrole'),
	('clutch.subscription_position', 'EXISTS (SELECT FROM clutch.subscription s WHERE s.name = subscription_position.name)')
) AS v(relation, own);
COMMENT ON VIEW clutch.agent_views IS
	'what grant_agent lets a role read, and for tables which rows, as the condition of a row-level policy';

CREATE FUNCTION clutch.filter_rows() RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT a.relation, a.own FROM clutch.agent_views a
			 WHERE a.own IS NOT NULL
			   AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = a.relation AND p.polname = 'clutch_own') LOOP
		EXECUTE format('CREATE POLICY clutch_own ON %s FOR SELECT USING ((SELECT clutch.reads_all()) OR %s)', r.relation, r.own);
	END LOOP;
	FOR r IN SELECT a.relation FROM clutch.agent_views a JOIN pg_class c ON c.oid = a.relation
			 WHERE a.own IS NOT NULL AND NOT c.relrowsecurity LOOP
		EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', r.relation);
	END LOOP;
END
$$;
COMMENT ON FUNCTION clutch.filter_rows() IS
	'makes the row-level policies by which the role of an agent sees its own rows and no others';
SELECT clutch.filter_rows();

CREATE OR REPLACE FUNCTION clutch.grant_agent(role_name text, agent_id text,
		capabilities text[] DEFAULT NULL, scopes text[] DEFAULT NULL) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r regclass;
BEGIN
	IF agent_id IS NULL OR agent_id NOT LIKE 'agent:_%' THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid agent ID "%s"', coalesce(agent_id, 'null')),
			DETAIL = '[{"argument": "agent_id", "code": "WRONG_PREFIX"}]',
			HINT = 'An agent ID begins with "agent:", like "agent:researcher".';
	ELSIF agent_id LIKE '%*%' THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid agent ID "%s": patterns are not supported', agent_id),
			DETAIL = '[{"argument": "agent_id", "code": "WRONG_VALUE"}]',
			HINT = 'Grant each agent by its ID. Several processes may share one agent.';
	ELSIF role_name IS NULL OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = role_name) THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object',
			MESSAGE = format('role "%s" does not exist', coalesce(role_name, 'NULL')),
			DETAIL = '[{"argument": "role_name", "code": "WRONG_VALUE"}]',
			HINT = 'Create the role first.';
	END IF;
	PERFORM clutch.grant_functions(role_name::name, 'agent');
	-- seq and id for RETURNING, the others for the view clutch.subscriptions
	EXECUTE format('GRANT INSERT (envelope), SELECT (seq, id, xid, epoch, received_at) ON clutch.events TO %I', role_name);
	PERFORM clutch.filter_rows();
	FOR r IN SELECT a.relation FROM clutch.agent_views a LOOP
		EXECUTE format('GRANT SELECT ON %s TO %I', r, role_name);
	END LOOP;
	DELETE FROM clutch.principal p
	WHERE p.grantee = quote_ident(role_name)::regrole AND p.agent_id = grant_agent.agent_id;
	INSERT INTO clutch.principal
	VALUES (quote_ident(role_name)::regrole, agent_id, capabilities, scopes);
END
$$;
CREATE OR REPLACE FUNCTION clutch.revoke_agent(role_name text, agent_id text) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	was boolean;
	f regprocedure;
	r regclass;
BEGIN
	IF to_regrole(quote_ident(role_name)) IS NULL THEN
		RETURN false;
	END IF;
	DELETE FROM clutch.principal p
	WHERE p.grantee = to_regrole(quote_ident(role_name)) AND p.agent_id = revoke_agent.agent_id;
	was := FOUND;
	-- With the last agent, the privileges go, too, so that the role can be dropped.
	IF was AND NOT EXISTS (SELECT FROM clutch.principal p WHERE p.grantee = to_regrole(quote_ident(role_name))) THEN
		FOR f IN SELECT g.function FROM clutch.function_grants g WHERE g.grantee = 'agent' LOOP
			EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM %I', f, role_name);
		END LOOP;
		EXECUTE format('REVOKE INSERT (envelope), SELECT (seq, id, xid, epoch, received_at) ON clutch.events FROM %I', role_name);
		-- A reader keeps its privileges; one by membership does not have them itself.
		IF EXISTS (SELECT FROM pg_class c, aclexplode(c.relacl) a
				   WHERE c.oid = 'clutch.events'::regclass AND a.privilege_type = 'SELECT'
					 AND a.grantee = to_regrole(quote_ident(role_name))) THEN
			PERFORM clutch.grant_functions(role_name::name, 'reader');
		ELSE
			FOR r IN SELECT a.relation FROM clutch.agent_views a LOOP
				EXECUTE format('REVOKE SELECT ON %s FROM %I', r, role_name);
			END LOOP;
			EXECUTE format('REVOKE USAGE ON SCHEMA clutch FROM %I', role_name);
		END IF;
	END IF;
	RETURN was;
END
$$;
CREATE FUNCTION clutch.grant_again() RETURNS void
	AS 'MODULE_PATHNAME', 'clutch_grant_again' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.grant_again() IS
	'grants what clutch.function_grants lists, and the tables that readers read, to all roles that have been granted them before';

DROP TABLE clutch.task_0_1_0, clutch.spending_0_1_0;

-- ---------------------------------------------------------------------- rights
-- What is new belongs to the role that runs the update.  As in grants.sql, the owner
-- changes before PUBLIC loses its rights, so that the initial privileges name no role
-- that may be dropped later.
DO $$
DECLARE
	change text;
BEGIN
	FOR change IN
		SELECT pg_catalog.format('ALTER %s %s OWNER TO %s', o.type, o.identity, e.extowner::pg_catalog.regrole)
		FROM pg_catalog.pg_extension e
		JOIN pg_catalog.pg_depend d ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::regclass AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'
		JOIN (SELECT 'pg_catalog.pg_class'::regclass, c.oid, c.relowner FROM pg_catalog.pg_class c
			  UNION ALL
			  SELECT 'pg_catalog.pg_proc'::regclass, p.oid, p.proowner FROM pg_catalog.pg_proc p) AS m(class, oid, owner)
			ON m.class OPERATOR(pg_catalog.=) d.classid AND m.oid OPERATOR(pg_catalog.=) d.objid AND m.owner OPERATOR(pg_catalog.<>) e.extowner
		CROSS JOIN LATERAL pg_catalog.pg_identify_object(d.classid, d.objid, 0) AS o
		WHERE e.extname OPERATOR(pg_catalog.=) 'clutch'
	LOOP
		EXECUTE change;
	END LOOP;
END
$$;

-- Nobody but the owner has any right on what is new; see grants.sql.
DO $$
DECLARE
	change text;
BEGIN
	FOR change IN
		SELECT pg_catalog.format('REVOKE ALL ON %s %s FROM %s', m.kind, m.name,
				CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC' ELSE a.grantee::pg_catalog.regrole::text END)
		FROM (SELECT 'pg_catalog.pg_class'::regclass, c.oid, c.oid::regclass::text, c.relowner,
					 CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
					 c.relacl
			  FROM pg_catalog.pg_class c
			  WHERE c.relnamespace OPERATOR(pg_catalog.=) 'clutch'::regnamespace AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,v,S}'::"char"[])
			  UNION ALL
			  SELECT 'pg_catalog.pg_proc'::regclass, p.oid, p.oid::regprocedure::text, p.proowner, 'FUNCTION',
					 p.proacl
			  FROM pg_catalog.pg_proc p WHERE p.pronamespace OPERATOR(pg_catalog.=) 'clutch'::regnamespace) AS m(class, oid, name, owner, kind, acl)
		-- PUBLIC in any case, so that there are initial privileges
		CROSS JOIN LATERAL (SELECT 0::oid UNION SELECT x.grantee FROM pg_catalog.aclexplode(m.acl) AS x) AS a(grantee)
		WHERE a.grantee OPERATOR(pg_catalog.<>) m.owner
		  AND EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
			WHERE d.classid OPERATOR(pg_catalog.=) m.class AND d.objid OPERATOR(pg_catalog.=) m.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'
			  AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::regclass AND e.extname OPERATOR(pg_catalog.=) 'clutch')
		  AND NOT EXISTS (SELECT FROM pg_catalog.pg_init_privs i
			WHERE i.classoid OPERATOR(pg_catalog.=) m.class AND i.objoid OPERATOR(pg_catalog.=) m.oid AND i.objsubid OPERATOR(pg_catalog.=) 0)
	LOOP
		EXECUTE change;
	END LOOP;
END
$$;

-- To the roles of users, what has come anew.
SELECT clutch.grant_again();
