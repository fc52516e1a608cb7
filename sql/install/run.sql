-- ------------------------------------------------------------ keeping it going
CREATE FUNCTION clutch.now() RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'clutch_now' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION clutch.now() IS
	'the current time, by which leases and deadlines are judged: the wall clock, or the setting clutch.clock';

CREATE FUNCTION clutch.tick() RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_tick' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.tick() IS
	'ends expired leases and passed deadlines and routes what waits; returns how many of each';

CREATE FUNCTION clutch.settle() RETURNS bigint
	AS 'MODULE_PATHNAME', 'clutch_settle' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.settle() IS
	'handles now what the transaction has caused for other tasks, and what was postponed; returns how many entries';

CREATE FUNCTION clutch.rebuild() RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_rebuild' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.rebuild() IS
	'rebuilds every derived table from the log, while writers wait; returns what it read and made';

CREATE FUNCTION clutch.version() RETURNS text
	LANGUAGE sql STABLE PARALLEL SAFE
	BEGIN ATOMIC
		SELECT extversion FROM pg_catalog.pg_extension WHERE extname = 'clutch';
	END;
COMMENT ON FUNCTION clutch.version() IS 'the version of the extension in this database';

-- What the topics created after this one add to clutch.check().  They replace this view.
CREATE VIEW clutch.more_checks WITH (security_invoker = true) AS
SELECT m.code, m.detail, m.hint
FROM (VALUES (NULL::text, NULL::text, NULL::text)) AS m(code, detail, hint)
WHERE false;

CREATE FUNCTION clutch.check(OUT code text, OUT detail text, OUT hint text)
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
			WHERE p.status = 'pending' AND coalesce(p.waiting_for, '') NOT IN ('time', 'retry', 'sibling', 'children')
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
			   ' If clutch is there, the background worker of this database does not run, or its ticks fail, and the server log says why: perhaps max_worker_processes is too low, or the disk is full.'
			   ' In a database that was just restored, the worker waits for a first call: SELECT clutch.tick().'
		FROM (SELECT 'a task' AS what, min(d.due) AS due FROM clutch.timer d
			  UNION ALL
			  SELECT 'a message', min(x.due) FROM clutch.expiry x
			  UNION ALL
			  SELECT 'a schedule', min(s.next_at) FROM clutch.schedule s WHERE s.next_at < 'infinity') o
		WHERE o.due < clutch.now() - interval '1 minute'
	UNION ALL
		SELECT 'TIMER_OVERDUE',
			   pg_catalog.format('tasks that cannot be moved: %s, the first of which has been due since %s', count(*), min(d.due_since)),
			   'They are tried again every minute, and the server log says why that fails: perhaps a trigger of your own on clutch.events raises errors.'
		FROM clutch.timer d
		WHERE d.due_since < clutch.now() - interval '1 minute' AND d.due < (SELECT clutch.now() + interval '2 minutes')
		HAVING count(*) > 0
	UNION ALL
		SELECT 'TIMER_OVERDUE',
			   pg_catalog.format('messages whose senders cannot be told that nobody replied: %s, the first of which has been due since %s', count(*), min(x.due_since)),
			   'They are tried again every minute, and the server log says why that fails: perhaps a trigger of your own on clutch.events raises errors.'
		FROM clutch.expiry x
		WHERE x.due_since < clutch.now() - interval '1 minute' AND x.due < (SELECT clutch.now() + interval '2 minutes')
		HAVING count(*) > 0
	UNION ALL
		SELECT 'SLOT_WITHOUT_TASK',
			   pg_catalog.format('slot %s of %s is held by task %L, which does not run', s.slot_no, s.agent_id, s.task_id),
			   'SELECT clutch.rebuild();'
		FROM clutch.agent_slot s
		WHERE s.task_id IS NOT NULL
		  AND NOT EXISTS (SELECT FROM clutch.task t WHERE t.task_id = s.task_id AND t.agent_id = s.agent_id
						  AND t.slot_no = s.slot_no AND t.status IN ('assigned', 'running'))
	UNION ALL
		SELECT m.code, m.detail, m.hint FROM clutch.more_checks m;
	END;
COMMENT ON FUNCTION clutch.check() IS
	'what a careless restore or owner has broken, and how to repair it; no rows if the state is sound; of many tasks that are over it examines a sample';
