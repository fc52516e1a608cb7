-- ---------------------------------------------------------------- metrics
CREATE VIEW clutch.metric_names WITH (security_invoker = true) AS
SELECT m.name, m.type, m.help
FROM (VALUES
	('clutch_log_seq', 'counter', 'The last seq that was drawn for the log.'),
	('clutch_log_bytes', 'gauge', 'Size of the log on disk, with its indexes, in bytes.'),
	('clutch_tasks', 'gauge', 'Tasks by status. In a large table, the tasks that are over are estimated.'),
	('clutch_queue_size', 'gauge', 'Rows of the queues: ready to be claimed, waiting for an agent, unanswered questions, suspended tasks, timers, consequences that were put off.'),
	('clutch_queue_oldest_seconds', 'gauge', 'How long the oldest row of a queue has been waiting.'),
	('clutch_timer_overdue_seconds', 'gauge', 'How long the first timer or schedule has been due. If it grows, nothing calls clutch.tick().'),
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
	('clutch_dead_rows', 'gauge', 'Dead rows of the tables of clutch that await VACUUM, according to the statistics.')
) AS m(name, type, help);
COMMENT ON VIEW clutch.metric_names IS 'the metrics of clutch.metrics(), with their types and help texts for Prometheus';

-- The planner cannot know that a large table is not counted: no JIT compilation
-- and no parallel workers for that.
CREATE FUNCTION clutch.metrics(OUT name text, OUT labels jsonb, OUT value double precision)
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
		SELECT 'clutch_dead_rows', pg_catalog.jsonb_build_object('table', u.relname), u.n_dead_tup
		FROM pg_catalog.pg_stat_user_tables u
		WHERE u.schemaname = 'clutch' AND u.n_dead_tup > 0;
	END;
COMMENT ON FUNCTION clutch.metrics() IS
	'the state of the database in numbers, which clutch.metric_names explains';

CREATE FUNCTION clutch.prometheus() RETURNS text
	LANGUAGE sql VOLATILE PARALLEL UNSAFE
	BEGIN ATOMIC
		SELECT pg_catalog.string_agg(pg_catalog.format(E'# HELP %s %s\n# TYPE %s %s\n%s', n.name, n.help, n.name, n.type, m.lines), '' ORDER BY n.name)
		FROM clutch.metric_names n
		JOIN (
			SELECT v.name, pg_catalog.string_agg(pg_catalog.format(E'%s%s %s\n', v.name, l.labels, v.value), '' ORDER BY l.labels) AS lines
			FROM clutch.metrics() v
			CROSS JOIN LATERAL (
				SELECT coalesce('{' || pg_catalog.string_agg(pg_catalog.format('%s="%s"', p.key,
							pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(p.value, E'\\', E'\\\\'), '"', E'\\"'), E'\n', E'\\n')),
							',' ORDER BY p.key COLLATE "C") || '}', '') AS labels
				FROM pg_catalog.jsonb_each_text(v.labels) p) l
			GROUP BY v.name) m ON m.name = n.name;
	END;
COMMENT ON FUNCTION clutch.prometheus() IS
	'the metrics in the text format of Prometheus';
