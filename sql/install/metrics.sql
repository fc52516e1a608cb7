-- ---------------------------------------------------------------- metrics
CREATE VIEW clutch.metric_names WITH (security_invoker = true) AS
SELECT m.name, m.type, m.help
FROM (VALUES
	('clutch_log_seq', 'counter', 'The last seq that was drawn for the log.'),
	('clutch_log_bytes', 'gauge', 'Size of the log on disk, with its indexes, in bytes.'),
	('clutch_tasks', 'gauge', 'Tasks by status. In a large table, the tasks that are over are estimated, and left out while it has no statistics.'),
	('clutch_queue_size', 'gauge', 'Rows of the queues: ready to be claimed, waiting for an agent, unanswered questions, suspended tasks, timers, consequences that were put off.'),
	('clutch_queue_oldest_seconds', 'gauge', 'How long the oldest row of a queue has been waiting.'),
	('clutch_timer_overdue_seconds', 'gauge', 'How long the first timer, message or schedule has been due. If it grows, nothing calls clutch.tick(), or a task cannot be moved.'),
	('clutch_agent_queue_size', 'gauge', 'Tasks ready to be claimed by an agent, for the hundred longest queues.'),
	('clutch_agents', 'gauge', 'Agents by status.'),
	('clutch_paused', 'gauge', 'Agents and capabilities that are paused.'),
	('clutch_tasks_unclaimed', 'gauge', 'Tasks that their agents have not claimed in time, and that no other agent has taken yet.'),
	('clutch_breakers', 'gauge', 'Agents whose circuit breaker is not closed, by the state of the breaker.'),
	('clutch_subscription_behind', 'gauge', 'Events that a subscription has not handled yet, for the thousand readers that lag most; 10001 means more than 10000.'),
	('clutch_subscription_oldest_seconds', 'gauge', 'How long the first of them has been in the log.'),
	('clutch_oldest_writer_seconds', 'gauge', 'Age of the oldest open or prepared transaction of this database that has written. Its events cannot be read before it ends.'),
	('clutch_oldest_snapshot_seconds', 'gauge', 'Age of the oldest open transaction with a snapshot, in any database. VACUUM keeps the rows that it may see.'),
	('clutch_oldest_snapshot_xids', 'gauge', 'Age in transactions of the oldest snapshot, writer, replication slot or prepared transaction that VACUUM of this database has to respect.'),
	('clutch_unsealed_seconds', 'gauge', 'How long the first event that is not sealed has been in the log; 0 if clutch.seal_interval is 0. If it grows, nothing seals, or an old transaction is open in some database.'),
	('clutch_notification_queue_usage', 'gauge', 'Usage of the NOTIFY queue; at 1, commits that notify fail.'),
	('clutch_schedules_failing', 'gauge', 'Schedules whose last envelope was refused.'),
	('clutch_agent_messages_total', 'counter', 'Events by source, dest and type, for the hundred most frequent.'),
	('clutch_agent_errors_total', 'counter', 'task.error, tool.error, task.timeout and routing.failure by source and code, for the hundred most frequent.'),
	('clutch_agent_request_duration', 'histogram', 'Seconds from a task.request to the task.result, task.error, task.timeout or task.cancel that has ended the task, by source (the requester) and dest (the agent), for the twenty most frequent.'),
	('clutch_artifacts', 'gauge', 'Artifacts by state: attached to an event, unused, and unfinished uploads. Those that are not attached go after clutch.artifact_grace.'),
	('clutch_artifact_bytes', 'gauge', 'Size of the content of artifacts by state, in bytes, before compression.'),
	('clutch_artifact_chunks_unreferenced', 'gauge', 'Chunks of content that belong to no artifact and to no upload. Other than 0, somebody has written to the tables.'),
	('clutch_outbox_calls', 'gauge', 'Calls in the outbox by state: pending, sent, given up, and void because nobody wants the answer any more.'),
	('clutch_outbox_overdue_seconds', 'gauge', 'How long the first call of the outbox has been due, except to endpoints that are paused. If it grows, no gateway sends.'),
	('clutch_quota_refusals_total', 'counter', 'What quotas have refused, by the kind of quota, since the extension was created or the database was restored.'),
	('clutch_dead_rows', 'gauge', 'Dead rows of the tables of clutch that await VACUUM, according to the statistics.')
) AS m(name, type, help);
COMMENT ON VIEW clutch.metric_names IS 'the metrics of clutch.metrics(), with their types and help texts for Prometheus';

-- --------------------------------------------------- counting the events
-- Returns the events of the transactions from first to last as rows of event_count.
CREATE FUNCTION clutch.count_events(epoch integer, first xid8, last xid8)
	RETURNS SETOF clutch.event_count
	LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 100
	SET jit = off
	BEGIN ATOMIC
		SELECT e.from_agent, r.dest, e.type,
			   -- an error that has several recipients is counted as one
			   CASE WHEN r.place = 1 AND e.type IN ('task.error', 'tool.error', 'task.timeout', 'routing.failure')
					THEN coalesce(pg_catalog.substr(e.envelope #>> '{payload,code}', 1, 64), '') ELSE '' END,
			   count(*), 0::double precision, '{}'::bigint[]
		FROM clutch.events e CROSS JOIN LATERAL unnest(e.to_agents) WITH ORDINALITY AS r(dest, place)
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
				AND e.type IN ('task.result', 'task.error', 'task.timeout', 'task.cancel') AND NOT e.late
				-- the task is still over by this event, so its agent is the one that had it
				AND (t.result_seq = e.seq OR (t.finished_at = e.received_at
					 AND t.status = CASE e.type WHEN 'task.timeout' THEN 'timed_out' WHEN 'task.cancel' THEN 'cancelled' END))) AS d(source, dest, seconds)
		GROUP BY 1, 2;
	END;
COMMENT ON FUNCTION clutch.count_events(integer, xid8, xid8) IS
	'counts the events of some transactions for the metrics';

-- Only transactions that had ended when the oldest open one began are counted
-- for good.  This is done by clutch.tick(), which skips it if another one is just counting.
CREATE FUNCTION clutch.count_more(max_events integer) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	place record;
	over xid8 := pg_snapshot_xmin(pg_current_snapshot());
	last xid8;
	events bigint;
BEGIN
	-- read without a lock, so that an idle database is not written to
	SELECT p.epoch, p.xid INTO place FROM clutch.event_count_place p;
	IF NOT FOUND THEN
		INSERT INTO clutch.event_count_place (epoch, xid)
		SELECT min(e.epoch), '0' FROM clutch.events e WHERE e.epoch > 0 HAVING min(e.epoch) IS NOT NULL
		ON CONFLICT DO NOTHING;
		RETURN CASE WHEN FOUND THEN 2 ELSE 0 END;
	END IF;
	SELECT max(s.xid), count(*) INTO last, events
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
		RETURN CASE WHEN FOUND THEN 2 ELSE 0 END;
	END IF;
	INSERT INTO clutch.event_count AS c
	SELECT * FROM clutch.count_events(place.epoch, place.xid, last)
	ON CONFLICT (source, dest, type, code) DO UPDATE
	SET n = c.n + excluded.n, seconds = c.seconds + excluded.seconds,
		buckets = ARRAY(SELECT coalesce(u.a, 0) + coalesce(u.b, 0)
						FROM unnest(c.buckets, excluded.buckets) WITH ORDINALITY AS u(a, b, i) ORDER BY u.i);
	-- Whoever sends can invent names and codes, and what is counted is never pruned.
	IF (SELECT count(*) FROM (SELECT FROM clutch.event_count LIMIT 20001) AS c) > 20000 THEN
		WITH rare AS (
			DELETE FROM clutch.event_count c
			WHERE c.ctid = ANY (ARRAY(SELECT o.ctid FROM clutch.event_count o WHERE o.source <> '' ORDER BY o.n DESC OFFSET 10000))
			RETURNING c.source, c.type, c.code, c.n, c.seconds, c.buckets),
		-- what clutch.metrics() adds up over all recipients must not decrease
		shown AS (
			SELECT e.source, e.code FROM clutch.event_count e WHERE e.source <> '' AND e.code <> ''
			GROUP BY 1, 2 ORDER BY sum(e.n) DESC, 1, 2 LIMIT 100)
		INSERT INTO clutch.event_count AS c
		SELECT coalesce(s.source, ''), '', r.type, coalesce(s.code, CASE WHEN r.code <> '' THEN 'OTHER' ELSE '' END), sum(r.n), sum(r.seconds),
			   CASE WHEN r.type = 'duration'
					THEN ARRAY[sum(r.buckets[1]), sum(r.buckets[2]), sum(r.buckets[3]), sum(r.buckets[4]),
							   sum(r.buckets[5]), sum(r.buckets[6]), sum(r.buckets[7]), sum(r.buckets[8])]::bigint[]
					ELSE '{}' END
		FROM rare r LEFT JOIN shown s USING (source, code) GROUP BY 1, 3, 4
		ON CONFLICT (source, dest, type, code) DO UPDATE
		SET n = c.n + excluded.n, seconds = c.seconds + excluded.seconds,
			buckets = ARRAY(SELECT coalesce(u.a, 0) + coalesce(u.b, 0)
							FROM unnest(c.buckets, excluded.buckets) WITH ORDINALITY AS u(a, b, i) ORDER BY u.i);
	END IF;
	UPDATE clutch.event_count_place SET xid = (last::text::bigint + 1)::text::xid8;
	RETURN CASE WHEN events < max_events THEN 1 ELSE 2 END;
END
$$;
COMMENT ON FUNCTION clutch.count_more(integer) IS
	'counts events that have not been counted for the metrics yet; returns 0 if there are none, and 2 if there may be more';

-- What the topics created after this one add to clutch.metrics().  They replace this view.
CREATE VIEW clutch.more_metrics WITH (security_invoker = true) AS
SELECT m.name, m.labels, m.value
FROM (VALUES (NULL::text, NULL::jsonb, NULL::double precision)) AS m(name, labels, value)
WHERE false;

-- pg_stats shows the statistics of a table with row-level security only to its owner.
CREATE FUNCTION clutch.status_frequencies(OUT status text, OUT tasks double precision) RETURNS SETOF record
	LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER ROWS 10
	SET search_path = pg_catalog, pg_temp
	BEGIN ATOMIC
		SELECT m.status, pg_catalog.round((m.frequency * c.reltuples)::numeric)::double precision
		FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_stats s ON s.schemaname = 'clutch' AND s.tablename = 'task' AND s.attname = 'status'
		CROSS JOIN LATERAL ROWS FROM (
			unnest(s.most_common_vals::text::text[]), unnest(s.most_common_freqs)) AS m(status, frequency)
		WHERE c.oid = 'clutch.task'::regclass AND c.reltuples > 0;
	END;
COMMENT ON FUNCTION clutch.status_frequencies() IS
	'how many tasks have each status, as the statistics of the table estimate it';

-- The planner cannot know that a large table is not counted.  So JIT
-- compilation and parallel workers are turned off.
CREATE FUNCTION clutch.metrics(OUT name text, OUT labels jsonb, OUT value double precision)
	RETURNS SETOF record
	LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 50
	SET jit = off SET max_parallel_workers_per_gather = 0
	BEGIN ATOMIC
	WITH queue(queue, since) AS (
			SELECT 'ready', since FROM clutch.ready
		UNION ALL SELECT 'waiting', since FROM clutch.waiting
		UNION ALL SELECT 'consequence', since FROM clutch.consequence
		UNION ALL SELECT 'question', t.since FROM clutch.question q JOIN clutch.task t ON t.task_id = q.task_id
		UNION ALL SELECT 'suspended', since FROM clutch.suspended
		UNION ALL SELECT 'timer', NULL FROM clutch.timer),
	-- The view is used twice.  A role can have any number of readers, and each is two lines
	-- of the page for Prometheus.
	reader AS MATERIALIZED (
		SELECT coalesce(r.rolname, s.owner::text) AS owner, s.name, s.member, s.behind, s.oldest
		FROM clutch.subscriptions s LEFT JOIN pg_catalog.pg_roles r ON r.oid = s.owner
		ORDER BY s.behind DESC, s.oldest, s.owner, s.name, s.member LIMIT 1000),
	-- A small table is counted.  In a large one nearly all tasks are over: these are
	-- estimated from its statistics, and those that are not over are counted in the
	-- tables where they have a row.
	large(is_large) AS (
		SELECT pg_catalog.pg_relation_size('clutch.task') > 16 * 1024 * 1024),
	estimate(status, tasks) AS MATERIALIZED (
		SELECT f.status, f.tasks FROM clutch.status_frequencies() f),
	tasks(status, tasks) AS (
			SELECT t.status, count(*)::double precision FROM clutch.task t
			WHERE NOT (SELECT is_large FROM large) GROUP BY t.status
		UNION ALL
			SELECT m.status, m.tasks
			FROM estimate m
			WHERE (SELECT is_large FROM large)
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
		SELECT c.source, c.dest, sum(c.n) AS n, sum(c.seconds) AS seconds,
			   ARRAY[sum(c.buckets[1]), sum(c.buckets[2]), sum(c.buckets[3]), sum(c.buckets[4]),
					 sum(c.buckets[5]), sum(c.buckets[6]), sum(c.buckets[7]), sum(c.buckets[8])] AS buckets
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
		-- a gap is better than a 0 that nobody has counted: without statistics, nothing is known
		HAVING count(n.status) > 0 OR NOT (SELECT is_large FROM large) OR EXISTS (SELECT FROM estimate)
	UNION ALL
		SELECT 'clutch_queue_size', pg_catalog.jsonb_build_object('queue', queue), size FROM queues
	UNION ALL
		SELECT 'clutch_queue_oldest_seconds', pg_catalog.jsonb_build_object('queue', queue),
			   greatest(coalesce(extract(epoch FROM clutch.now() - oldest), 0), 0)
		FROM queues WHERE queue <> 'timer'
	UNION ALL
		SELECT 'clutch_timer_overdue_seconds', '{}',
			   greatest(coalesce(extract(epoch FROM clutch.now() - least((SELECT min(due) FROM clutch.timer),
					-- what cannot be handled is tried again after a minute
					(SELECT min(due_since) FROM clutch.timer WHERE due < (SELECT clutch.now() + interval '2 minutes')),
					(SELECT min(due) FROM clutch.expiry),
					(SELECT min(due_since) FROM clutch.expiry WHERE due < (SELECT clutch.now() + interval '2 minutes')),
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
		SELECT 'clutch_subscription_behind', pg_catalog.jsonb_build_object('owner', s.owner, 'name', s.name, 'member', s.member), s.behind
		FROM reader s
	UNION ALL
		SELECT 'clutch_subscription_oldest_seconds', pg_catalog.jsonb_build_object('owner', s.owner, 'name', s.name, 'member', s.member),
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
		-- those without a database are the senders to standbys, whose feedback counts everywhere
		SELECT 'clutch_oldest_snapshot_xids', '{}', coalesce(max(pg_catalog.age(h.xid)), 0)
		FROM (SELECT unnest(ARRAY[a.backend_xmin, a.backend_xid]) FROM pg_catalog.pg_stat_activity a
			  WHERE (a.datid IS NULL OR a.datname = pg_catalog.current_database())
				AND a.pid <> pg_catalog.pg_backend_pid() AND a.backend_type <> 'autovacuum worker'
			  UNION ALL
			  SELECT p.transaction FROM pg_catalog.pg_prepared_xacts p
			  WHERE p.database = pg_catalog.current_database()
			  UNION ALL
			  SELECT r.xmin FROM pg_catalog.pg_replication_slots r) AS h(xid)
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
			   CASE WHEN b.le = '+Inf' THEN d.n::double precision ELSE d.buckets[b.i]::double precision END
		FROM durations d
		CROSS JOIN unnest('{0.1,0.5,1,5,10,60,300,3600,+Inf}'::text[]) WITH ORDINALITY AS b(le, i)
	UNION ALL
		SELECT 'clutch_agent_request_duration_' || m.what, pg_catalog.jsonb_build_object('source', d.source, 'dest', d.dest), m.value
		FROM durations d CROSS JOIN LATERAL (VALUES ('sum', d.seconds), ('count', d.n::double precision)) AS m(what, value)
	UNION ALL
		SELECT m.name, m.labels, m.value FROM clutch.more_metrics m
	UNION ALL
		SELECT 'clutch_dead_rows', pg_catalog.jsonb_build_object('table', u.relname), u.n_dead_tup
		FROM pg_catalog.pg_stat_user_tables u
		WHERE u.schemaname = 'clutch' AND u.n_dead_tup > 0;
	END;
COMMENT ON FUNCTION clutch.metrics() IS
	'the state of the database in numbers, which clutch.metric_names explains';

CREATE FUNCTION clutch.prometheus() RETURNS text
	LANGUAGE sql VOLATILE PARALLEL UNSAFE
	SET extra_float_digits = 1	-- all digits, whatever the session shows
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
COMMENT ON FUNCTION clutch.prometheus() IS
	'the metrics in the text format of Prometheus';
