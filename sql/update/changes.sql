\echo Use "ALTER EXTENSION clutch UPDATE TO '0.3.0'" to load this file. \quit

-- From 0.2.0 to 0.3.0: what changes in the topics that 0.2.0 had.  The Makefile adds
-- the topics that are new, grants.sql and dump.sql, and then finish.sql.
-- test/t/014_update.pl compares the result with a fresh installation;
-- test/README.md says what to do if it finds a difference.

-- Nobody writes meanwhile.
LOCK TABLE clutch.events IN ACCESS EXCLUSIVE MODE;

-- Whether an agent has sent an event of a run is a single probe.
DROP INDEX clutch.events_from_agent;
CREATE INDEX events_from_agent ON clutch.events (from_agent, run_id);

CREATE FUNCTION clutch.render(envelope jsonb) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_render'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION clutch.render(jsonb) IS
	'an envelope as text for the prompt of a model: who sent what to whom, then the payload between two lines with a number that no payload can know';

-- The names of schedules and subscriptions belong to their role.
ALTER TABLE clutch.schedule DROP CONSTRAINT schedule_pkey;
ALTER TABLE clutch.schedule ADD CONSTRAINT schedule_pkey PRIMARY KEY (owner, name);
ALTER TABLE clutch.subscription DROP CONSTRAINT subscription_pkey;
ALTER TABLE clutch.subscription ADD CONSTRAINT subscription_pkey PRIMARY KEY (owner, name);
ALTER TABLE clutch.subscription_position ADD COLUMN owner regrole;
UPDATE clutch.subscription_position p SET owner = s.owner FROM clutch.subscription s WHERE s.name OPERATOR(pg_catalog.=) p.name;
DELETE FROM clutch.subscription_position WHERE owner IS NULL;
ALTER TABLE clutch.subscription_position ALTER COLUMN owner SET NOT NULL;
DROP INDEX clutch.subscription_position_key;
CREATE UNIQUE INDEX subscription_position_key ON clutch.subscription_position (owner, name, member, generation DESC);
DROP POLICY IF EXISTS clutch_own ON clutch.subscription_position;		-- grants.sql makes it again
CREATE OR REPLACE VIEW clutch.subscriptions WITH (security_invoker = true) AS
WITH place AS NOT MATERIALIZED (
	SELECT p.owner, p.name, p.member, p.moved_at, p.batch, p.until IS NOT NULL AS reading,
		   split_part(p.seen, '.', 2)::integer AS epoch, split_part(p.seen, '.', 5)::xid8 AS xmax
	FROM clutch.subscription_position p
	WHERE p.generation = (SELECT max(n.generation) FROM clutch.subscription_position n
						  WHERE n.owner = p.owner AND n.name = p.name AND n.member = p.member)),
unseen AS (
	SELECT o.epoch, e.xid
	FROM (SELECT l.epoch, min(l.xmax) AS xmax FROM place l GROUP BY l.epoch) AS o,
		 LATERAL (SELECT v.xid FROM clutch.events v
				  WHERE v.epoch = o.epoch AND v.xid >= o.xmax
				  ORDER BY v.xid DESC LIMIT 10001) AS e),
lag AS (
	SELECT b.owner, b.name, b.member, b.events_behind
	FROM (SELECT u.owner, u.name, u.member, count(*) FILTER (WHERE u.name IS NULL)
				OVER (PARTITION BY u.epoch ORDER BY u.xid DESC) AS events_behind
		  FROM (SELECT l.owner, l.name, l.member, l.epoch, l.xmax AS xid FROM place l
				UNION ALL
				SELECT NULL, NULL, NULL, e.epoch, e.xid FROM unseen e) AS u) AS b
	WHERE b.name IS NOT NULL)
SELECT	s.name, s.owner, s.filter, s.members, p.member, s.created_at, p.moved_at, p.batch, p.reading,
		b.events_behind AS behind,
		(SELECT o.received_at FROM clutch.events o
		 WHERE o.epoch = p.epoch AND o.xid >= p.xmax
		 ORDER BY o.epoch, o.xid LIMIT 1) AS oldest
FROM clutch.subscription s
JOIN place p ON p.owner = s.owner AND p.name = s.name
JOIN lag b ON b.owner = p.owner AND b.name = p.name AND b.member = p.member;

-- Two roles may have subscriptions of one name.
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
		SELECT s.owner, s.name, s.member, s.behind, s.oldest FROM clutch.subscriptions s),
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
		SELECT 'clutch_subscription_behind', pg_catalog.jsonb_build_object('owner', s.owner::text, 'name', s.name, 'member', s.member), s.behind
		FROM reader s
	UNION ALL
		SELECT 'clutch_subscription_oldest_seconds', pg_catalog.jsonb_build_object('owner', s.owner::text, 'name', s.name, 'member', s.member),
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
