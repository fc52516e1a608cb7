-- From 0.2.0 to 0.3.0: what changes in the topics that 0.2.0 had.  The Makefile adds
-- the topics that are new, grants.sql and dump.sql, and then finish.sql.
-- test/t/014_update.pl compares the result with a fresh installation;
-- test/README.md says what to do if it finds a difference.

-- What a role may say about an agent besides capabilities and scopes.  Cards that
-- were allowed before remain allowed.
ALTER TABLE clutch.waiting ADD COLUMN run_id text COLLATE "C";
UPDATE clutch.waiting w SET run_id = t.run_id FROM clutch.task t WHERE t.task_id = w.task_id;
ALTER TABLE clutch.principal ADD COLUMN max_concurrency integer, ADD COLUMN broadcast boolean NOT NULL DEFAULT false;
UPDATE clutch.principal SET max_concurrency = 1000000000 WHERE capabilities IS NOT NULL;
DROP FUNCTION clutch.grant_agent(text, text, text[], text[]);
DROP FUNCTION clutch.grant_reader(text);

-- For finding the runs that a role sees by its scopes.
CREATE INDEX run_scope_scope ON clutch.run_scope (scope, run_id);

ALTER TABLE clutch.agent_slot ALTER COLUMN agent_id SET (n_distinct = -0.05);

-- Whoever is not shown a row can still have EXPLAIN compare its values with the
-- statistics.  So there are none of what people and programs write freely.
ALTER TABLE clutch.task ALTER COLUMN detail SET STATISTICS 0;
ALTER TABLE clutch.schedule ALTER COLUMN last_error SET STATISTICS 0;
DELETE FROM pg_catalog.pg_statistic s USING pg_catalog.pg_attribute a
WHERE a.attrelid OPERATOR(pg_catalog.=) s.starelid AND a.attnum OPERATOR(pg_catalog.=) s.staattnum
  AND (a.attrelid OPERATOR(pg_catalog.=) 'clutch.task'::regclass AND a.attname OPERATOR(pg_catalog.=) 'detail'
	   OR a.attrelid OPERATOR(pg_catalog.=) 'clutch.schedule'::regclass AND a.attname OPERATOR(pg_catalog.=) 'last_error');

-- The database is in use, unless nothing has ever been sent in it.
CREATE SEQUENCE clutch.copy_begun AS bigint;
SELECT pg_catalog.setval('clutch.copy_begun', 1) WHERE EXISTS (SELECT FROM clutch.epoch);

-- Since when a task that cannot be moved has been due.
ALTER TABLE clutch.timer ADD COLUMN due_since timestamptz;

-- Since when a child counts for its parent, which may have been told of it before.
ALTER TABLE clutch.task ADD COLUMN revived_seq bigint;

-- Since when a message has been due whose sender cannot be told.
ALTER TABLE clutch.expiry ADD COLUMN due_since timestamptz;

-- Counts the tasks of a run that were requested after a certain event.
DROP INDEX clutch.task_run_id;
CREATE INDEX task_run_id ON clutch.task (run_id, request_seq);

-- Looks up with a single probe whether an agent has sent an event in a run.
DROP INDEX clutch.events_from_agent;
CREATE INDEX events_from_agent ON clutch.events (from_agent, run_id);

DROP FUNCTION clutch.claim(text, integer, interval);
CREATE FUNCTION clutch.claim(agent_id text, max_tasks integer DEFAULT 1, lease interval DEFAULT '60 s',
		OUT task_id text, OUT attempt integer, OUT lease_until timestamptz, OUT deadline timestamptz,
		OUT reason text, OUT last_progress jsonb, OUT answer jsonb, OUT seq bigint, OUT envelope jsonb, OUT context jsonb)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_claim' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION clutch.claim(text, integer, interval) IS
	'claims up to max_tasks of the tasks assigned to the agent, the most urgent first, and gives it a lease on them';

CREATE FUNCTION clutch.render(envelope jsonb) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_render'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION clutch.render(jsonb) IS
	'an envelope as text for the prompt of a model: who sent what to whom, then the payload between two lines with a number that no payload can know';

CREATE OR REPLACE FUNCTION clutch.find_agents(requires text[], status text DEFAULT NULL)
	RETURNS SETOF clutch.agents
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
	SET search_path = pg_catalog, pg_temp
	SET plan_cache_mode = force_generic_plan	-- planning the view takes longer than running it
	AS $$
DECLARE
	meeting text[];
BEGIN
	IF status IS NOT NULL AND status NOT IN (SELECT t.from_status FROM clutch.agent_transitions() t) THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid status "%s"', status),
			DETAIL = '[{"argument": "status", "code": "WRONG_VALUE"}]',
			HINT = 'The status of an agent is INITIALIZING, READY, BUSY, UNAVAILABLE, STOPPING or STOPPED.';
	END IF;
	-- not in the query, which would be the CONTEXT of an error about the list
	meeting := clutch.agents_meeting(requires);
	RETURN QUERY
		SELECT a.* FROM clutch.agents a
		WHERE a.agent_id = ANY (meeting)
		  AND (find_agents.status IS NULL OR a.status = find_agents.status)
		ORDER BY a.agent_id;
END
$$;
CREATE OR REPLACE FUNCTION clutch.join_group(group_id text, agent_id text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
BEGIN
	PERFORM clutch.require_identifier(group_id, 'group_id', 'group'), clutch.require_identifier(agent_id, 'agent_id', 'agent');
	INSERT INTO clutch.group_member VALUES (group_id, agent_id) ON CONFLICT DO NOTHING;
END
$$;

-- Used in a select list, so that no row is stored.  task_tree becomes part of the query
-- that calls it.
CREATE FUNCTION clutch.tree_nodes(run_id text,
		OUT task_id text, OUT parent_task_id text, OUT depth integer, OUT path text[], OUT status text,
		OUT agent_id text, OUT attempt integer, OUT domain text, OUT payload_type text,
		OUT created_at timestamptz, OUT started_at timestamptz, OUT finished_at timestamptz)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_task_tree' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION clutch.tree_nodes(text) IS
	'the rows of clutch.task_tree, which calls this function';

CREATE OR REPLACE FUNCTION clutch.task_tree(run_id text,
		OUT task_id text, OUT parent_task_id text, OUT depth integer, OUT path text[], OUT status text,
		OUT agent_id text, OUT attempt integer, OUT domain text, OUT payload_type text,
		OUT created_at timestamptz, OUT started_at timestamptz, OUT finished_at timestamptz)
	RETURNS SETOF record
	LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 100
	BEGIN ATOMIC
		SELECT (t.node).* FROM (SELECT clutch.tree_nodes(task_tree.run_id) AS node) t;
	END;

CREATE OR REPLACE FUNCTION clutch.set_retry_policy(payload_type text, max integer DEFAULT NULL,
		initial interval DEFAULT NULL, longest interval DEFAULT NULL, factor double precision DEFAULT NULL)
	RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	fault record;
BEGIN
	IF set_retry_policy.payload_type IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
			MESSAGE = 'argument "payload_type" must not be null',
			DETAIL = '[{"argument": "payload_type", "code": "NULL_VALUE"}]';
	END IF;
	-- The limits are those of the table's constraints, in the unit that is stored there.
	SELECT * INTO fault
	FROM (VALUES
		('max', set_retry_policy.max NOT BETWEEN 0 AND 1000, 'between 0 and 1000'),
		('initial', extract(epoch FROM set_retry_policy.initial) * 1000 NOT BETWEEN 0 AND 31622400000, 'between 0 and 366 days'),
		('longest', extract(epoch FROM set_retry_policy.longest) * 1000 NOT BETWEEN 0 AND 31622400000, 'between 0 and 366 days'),
		('factor', set_retry_policy.factor NOT BETWEEN 1 AND 100, 'between 1 and 100')
	) AS f(argument, is_wrong, allowed)
	WHERE is_wrong LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('argument "%s" must be %s', fault.argument, fault.allowed),
			DETAIL = format('[{"argument": "%s", "code": "NUMBER_OUT_OF_RANGE"}]', fault.argument),
			HINT = 'Pass NULL to leave it to the settings and the cards of the agents.';
	END IF;
	IF num_nonnulls(set_retry_policy.max, set_retry_policy.initial, set_retry_policy.longest, set_retry_policy.factor) = 0 THEN
		DELETE FROM clutch.retry_policy r WHERE r.payload_type = set_retry_policy.payload_type;
	ELSE
		PERFORM clutch.require_identifier(set_retry_policy.payload_type, 'payload_type', 'word');
		INSERT INTO clutch.retry_policy AS r
		VALUES (set_retry_policy.payload_type, set_retry_policy.max,
				(extract(epoch FROM set_retry_policy.initial) * 1000)::bigint,
				(extract(epoch FROM set_retry_policy.longest) * 1000)::bigint, set_retry_policy.factor)
		ON CONFLICT ON CONSTRAINT retry_policy_pkey DO UPDATE
			SET (max, initial_ms, max_ms, factor) = (EXCLUDED.max, EXCLUDED.initial_ms, EXCLUDED.max_ms, EXCLUDED.factor);
	END IF;
END
$$;

CREATE OR REPLACE FUNCTION clutch.count_events(epoch integer, first xid8, last xid8)
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

CREATE OR REPLACE FUNCTION clutch.count_more(max_events integer) RETURNS integer
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

CREATE OR REPLACE FUNCTION clutch.run_graph(run_id text, format text DEFAULT 'mermaid') RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	nodes text;
	edges text;
BEGIN
	-- without this check of run_id, the error would have the query below as its CONTEXT
	IF run_id IS NULL OR format IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
			MESSAGE = format('argument "%s" must not be null', CASE WHEN run_id IS NULL THEN 'run_id' ELSE 'format' END),
			DETAIL = format('[{"argument": "%s", "code": "NULL_VALUE"}]', CASE WHEN run_id IS NULL THEN 'run_id' ELSE 'format' END);
	ELSIF format NOT IN ('mermaid', 'dot') THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid graph format "%s"', format),
			DETAIL = '[{"argument": "format", "code": "WRONG_VALUE"}]',
			HINT = 'The formats are mermaid and dot.';
	END IF;
	-- Nodes are numbered, and the IDs are quoted labels: an ID can contain any text.
	-- Mermaid reads #58; as a character, so the # of such a text is written as #35;.
	-- In FROM, tree_nodes would store each path, which is as long as the task is deep.
	WITH node AS MATERIALIZED (
		SELECT (t.node).task_id, (t.node).parent_task_id, (t.node).status, (t.node).agent_id
		FROM (SELECT clutch.tree_nodes(run_graph.run_id) AS node) t
	), tree AS (
		SELECT row_number() OVER () AS n, t.task_id, t.parent_task_id, concat_ws(E' \u00b7 ', t.task_id, t.status, t.agent_id) AS label
		FROM node t
	)
	SELECT	CASE format WHEN 'dot'
				THEN string_agg(format(E'\tt%s [label="%s"];', n,
					 replace(replace(replace(label, E'\\', E'\\\\'), '"', E'\\"'), E'\n', ' ')), E'\n' ORDER BY n)
				ELSE string_agg(format(E'\tt%s["%s"]', n,
					 replace(replace(replace(replace(replace(regexp_replace(label, '#(\w+;)', '#35;\1', 'g'),
					 '&', '&amp;'), '"', '&quot;'), '<', '&lt;'), '>', '&gt;'), E'\n', ' ')), E'\n' ORDER BY n)
			END,
			(SELECT string_agg(format(CASE format WHEN 'dot' THEN E'\tt%s -> t%s;' ELSE E'\tt%s --> t%s' END,
					p.n, c.n), E'\n' ORDER BY c.n)
			 FROM tree c JOIN tree p ON p.task_id = c.parent_task_id)
	INTO nodes, edges
	FROM tree;
	RETURN concat_ws(E'\n', CASE format WHEN 'dot' THEN 'digraph run {' ELSE 'graph TD' END,
					 nodes, edges, CASE format WHEN 'dot' THEN '}' END);
END
$$;

-- Each role has its own names of schedules and subscriptions.
ALTER TABLE clutch.schedule DROP CONSTRAINT schedule_pkey;
ALTER TABLE clutch.schedule ADD CONSTRAINT schedule_pkey PRIMARY KEY (owner, name);
DROP INDEX clutch.schedule_next_at;
CREATE INDEX schedule_next_at ON clutch.schedule (next_at, name, owner);
ALTER TABLE clutch.subscription DROP CONSTRAINT subscription_pkey;
ALTER TABLE clutch.subscription ADD CONSTRAINT subscription_pkey PRIMARY KEY (owner, name);
-- A publication of all tables needs a replica identity to allow UPDATE and DELETE.
ALTER TABLE clutch.subscription_position ADD COLUMN owner regrole, REPLICA IDENTITY FULL;
UPDATE clutch.subscription_position p SET owner = s.owner FROM clutch.subscription s WHERE s.name OPERATOR(pg_catalog.=) p.name;
DELETE FROM clutch.subscription_position WHERE owner IS NULL;
ALTER TABLE clutch.subscription_position ALTER COLUMN owner SET NOT NULL, REPLICA IDENTITY DEFAULT;
DROP INDEX clutch.subscription_position_key;
CREATE UNIQUE INDEX subscription_position_key ON clutch.subscription_position (owner, name, member, generation DESC);
DROP POLICY IF EXISTS clutch_own ON clutch.subscription_position;		-- grants.sql creates it again
-- What came by replication or import is stored with the negative of the epoch in
-- which it came, which has no row before the first write of its own.  The planner
-- takes an array for ten rows, and the table, which is too small to be analyzed, for
-- two thousand.
CREATE VIEW clutch.stored_epochs WITH (security_invoker = true) AS
SELECT h.epoch, h.epoch * g.sign AS stored_as
FROM unnest(ARRAY(SELECT e.epoch FROM clutch.epoch e
				  UNION SELECT coalesce(max(e.epoch), 0) + 1 FROM clutch.epoch e)) AS h(epoch)
CROSS JOIN (VALUES (1), (-1)) AS g(sign);
COMMENT ON VIEW clutch.stored_epochs IS 'the epochs of the log, and the two numbers under which the events of each are stored';

CREATE OR REPLACE VIEW clutch.subscriptions WITH (security_invoker = true) AS
WITH place AS NOT MATERIALIZED (
	SELECT p.owner, p.name, p.member, p.moved_at, p.batch, p.until IS NOT NULL AS reading,
		   split_part(p.seen, '.', 2)::integer AS epoch, split_part(p.seen, '.', 5)::xid8 AS xmax
	FROM clutch.subscription_position p
	WHERE p.generation = (SELECT max(n.generation) FROM clutch.subscription_position n
						  WHERE n.owner = p.owner AND n.name = p.name AND n.member = p.member)),
stored AS MATERIALIZED (
	SELECT h.epoch, h.stored_as FROM clutch.stored_epochs h
	WHERE h.epoch >= (SELECT min(l.epoch) FROM place l)),
unseen AS (
	SELECT o.epoch, e.xid
	FROM stored o
	LEFT JOIN (SELECT l.epoch, min(l.xmax) AS xmax FROM place l GROUP BY l.epoch ORDER BY l.epoch LIMIT 1) AS f ON f.epoch = o.epoch
	CROSS JOIN LATERAL (SELECT v.xid FROM clutch.events v
						WHERE v.epoch = o.stored_as AND v.xid >= coalesce(f.xmax, '0')
						ORDER BY v.xid DESC LIMIT 10001) AS e),
lag AS (
	SELECT b.*
	FROM (SELECT u.owner, u.name, u.member, u.moved_at, u.batch, u.reading, u.epoch, u.xid AS xmax,
				 count(*) FILTER (WHERE u.name IS NULL) OVER (ORDER BY u.epoch DESC, u.xid DESC) AS behind
		  FROM (SELECT l.owner, l.name, l.member, l.moved_at, l.batch, l.reading, l.epoch, l.xmax AS xid FROM place l
				UNION ALL
				SELECT NULL, NULL, NULL, NULL, NULL, NULL, e.epoch, e.xid FROM unseen e) AS u) AS b
	WHERE b.name IS NOT NULL)
SELECT	s.name, s.owner, s.filter, s.members, p.member, s.created_at, p.moved_at, p.batch, p.reading, least(p.behind, 10001) AS behind,
		(SELECT min(o.received_at)
		 FROM stored h
		 CROSS JOIN LATERAL (SELECT v.received_at FROM clutch.events v
							 WHERE v.epoch = h.stored_as AND v.xid >= CASE WHEN h.epoch = p.epoch THEN p.xmax ELSE '0' END
							 ORDER BY v.epoch, v.xid LIMIT 1) AS o
		 WHERE p.behind > 0 AND h.epoch >= p.epoch) AS oldest
FROM clutch.subscription s
JOIN lag p ON p.owner = s.owner AND p.name = s.name;

-- Two roles may have subscriptions with the same name.
CREATE OR REPLACE VIEW clutch.metric_names WITH (security_invoker = true) AS
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

-- What the topics created after this one add to clutch.metrics().  They replace
-- this view.
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

CREATE OR REPLACE FUNCTION clutch.metrics(OUT name text, OUT labels jsonb, OUT value double precision)
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

-- grants.sql creates other policies, which decide what a role may read.
DROP POLICY IF EXISTS clutch_own ON clutch.task;
DROP POLICY IF EXISTS clutch_own ON clutch.question;
DROP POLICY IF EXISTS clutch_own ON clutch.schedule;
DROP POLICY IF EXISTS clutch_own ON clutch.subscription;
DROP POLICY IF EXISTS clutch_own ON clutch.subscription_position;
CREATE FUNCTION clutch.policy_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'clutch_policy_support' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION clutch.policy_support(internal) IS
	'planner support: puts the value of clutch.reads_all() into plans that are made for one role';

CREATE OR REPLACE FUNCTION clutch.reads_all() RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_reads_all' LANGUAGE C STABLE PARALLEL SAFE SUPPORT clutch.policy_support;
COMMENT ON FUNCTION clutch.reads_all() IS 'whether the role may read the whole log';

COMMENT ON FUNCTION clutch.envelope IS
	'builds an envelope; missing IDs are generated, or derived from the sender and the idempotency_key or id; without to_agents it goes to the orchestrator';

COMMENT ON FUNCTION clutch.envelope_of(bigint) IS
	'the envelope of an event, by seq; NULL if the role may not read it';
ALTER FUNCTION clutch.envelope_of(bigint) COST 20;
-- the policies of the log ask what the current transaction has sent, which its parallel workers do not know
ALTER FUNCTION clutch.replay(text) PARALLEL RESTRICTED;

-- all digits, whatever the session shows
ALTER FUNCTION clutch.prometheus() SET extra_float_digits = 1;

CREATE OR REPLACE VIEW clutch.task_edges WITH (security_invoker = true) AS
SELECT t.run_id, t.parent_task_id AS from_task_id, t.task_id AS to_task_id, 'child'::text AS kind
FROM clutch.task t WHERE t.parent_task_id IS NOT NULL
UNION ALL
SELECT d.run_id, d.after_task_id, d.task_id, 'after'
FROM clutch.dependency d
JOIN clutch.task w ON w.task_id = d.task_id AND w.run_id = d.run_id;

CREATE OR REPLACE VIEW clutch.approvals WITH (security_invoker = true) AS
SELECT	t.task_id, t.run_id, t.thread_id, t.agent_id, clutch.envelope_of(q.seq) -> 'payload' AS question,
		t.since AS asked_at, t.wake_at AS deadline, (clutch.envelope_of(q.seq) ->> 'id') COLLATE "C" AS question_id,
		ARRAY(SELECT r.value ->> 'agent_id'
			  FROM pg_catalog.jsonb_array_elements(clutch.envelope_of(q.seq) -> 'to') WITH ORDINALITY AS r(value, place)
			  ORDER BY r.place) COLLATE "C" AS asked
FROM clutch.question q
JOIN clutch.task t ON t.task_id = q.task_id;

COMMENT ON FUNCTION clutch.cancel_run(text, text, text) IS
	'cancels every task of a run that is not over, and returns how many there were';
COMMENT ON FUNCTION clutch.pause(text, text) IS
	'gives an agent no new work, or gives nobody tasks that require a capability, until clutch.resume; what is running goes on';
COMMENT ON FUNCTION clutch.tick() IS
	'ends expired leases and passed deadlines and routes what waits; returns how many of each';

CREATE FUNCTION clutch.slots_held(agent_id text) RETURNS integer
	AS 'MODULE_PATHNAME', 'clutch_slots_held' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.slots_held(text) IS 'how many slots of an agent tasks hold at this moment';

-- What the topics created after this one add to clutch.stuck.  They replace this view.
CREATE VIEW clutch.more_stuck WITH (security_invoker = true) AS
SELECT t.task_id, t.run_id, t.status, t.agent_id, t.since, NULL::text AS problem, NULL::text AS hint
FROM clutch.task t WHERE false;

CREATE OR REPLACE VIEW clutch.stuck WITH (security_invoker = true) AS
WITH blocked AS (
	SELECT p.task_id, p.run_id, p.status, p.agent_id, p.since, c.task_id AS child_task_id, c.request_seq AS child_seq
	FROM clutch.agent_slot s
	CROSS JOIN LATERAL (
		SELECT h.task_id, h.run_id, h.status, h.agent_id, h.since FROM clutch.task h
		WHERE h.task_id = s.task_id AND h.status = 'running'
		LIMIT 1) AS p
	CROSS JOIN LATERAL (
		SELECT k.task_id, k.request_seq FROM clutch.task k
		WHERE k.parent_task_id = p.task_id AND k.status = 'pending' AND k.waiting_for = 'capacity'
		LIMIT 1) AS c),
occupied AS MATERIALIZED (
	SELECT k.agent_id FROM blocked k GROUP BY k.agent_id HAVING count(*) >= clutch.slots_held(k.agent_id))
SELECT	t.task_id, t.run_id, t.status, t.agent_id, t.since, p.problem, p.hint
FROM (SELECT clutch.now() AS now,
			 coalesce(nullif(nullif(pg_catalog.current_setting('clutch.claim_timeout', true), ''), '0'), '60 s')::interval AS patience,
			 coalesce(nullif(nullif(pg_catalog.current_setting('clutch.claim_timeout', true), ''), '0'), '5 min')::interval AS claim_timeout,
			 (SELECT array_agg(p.what) FROM clutch.pause p) AS paused) AS clock
CROSS JOIN clutch.task t
LEFT JOIN LATERAL (
	SELECT d.after_task_id FROM clutch.dependency d
	WHERE d.task_id = t.task_id AND d.unknown_since < clock.now - clock.patience
	  AND NOT EXISTS (SELECT FROM clutch.task a WHERE a.task_id = d.after_task_id AND a.run_id = d.run_id)
	LIMIT 1) AS awaited ON t.status = 'pending' AND t.waiting_for IN ('sibling', 'children')
CROSS JOIN LATERAL (VALUES (
	t.status IN ('pending', 'assigned') AND clock.paused IS NOT NULL
	AND (t.agent_id = ANY (clock.paused)
		 OR EXISTS (SELECT FROM unnest(t.requires) r WHERE split_part(r, '@', 1) = ANY (clock.paused))
		 OR (t.code = 'NO_AGENT_AVAILABLE' AND t.waiting_for = 'agent'
			 AND EXISTS (SELECT FROM clutch.events q WHERE q.seq = t.request_seq AND q.to_agents && clock.paused))))) AS hold(is_paused)
CROSS JOIN LATERAL (VALUES (
	CASE WHEN t.finished_at IS NOT NULL THEN NULL
		 WHEN t.deadline < clock.now OR (t.status = 'input_required' AND t.wake_at <= clock.now) THEN 'deadline passed'
		 WHEN t.status = 'running' AND t.wake_at < clock.now THEN 'ran too long'
		 WHEN t.status = 'running' AND t.lease_until < clock.now THEN 'lease expired'
		 WHEN t.status = 'suspended' AND t.wake_at < clock.now THEN 'its time has come'
		 WHEN t.status = 'pending' AND t.wake_at < clock.now AND t.waiting_for <> 'sibling' THEN 'its time has come'
		 WHEN hold.is_paused THEN 'paused'
		 WHEN t.status = 'pending' AND t.waiting_for = 'agent' THEN t.code
		 WHEN awaited.after_task_id IS NOT NULL THEN 'waits for an unknown task'
		 WHEN t.status = 'assigned' AND t.since < clock.now - clock.claim_timeout THEN 'not claimed'
	END,
	CASE WHEN EXISTS (SELECT FROM clutch.timer d WHERE d.due = t.next_at AND d.task_id = t.task_id AND d.due_since IS NOT NULL)
			THEN 'It cannot be moved, and the server log says why: perhaps a trigger of your own on clutch.events raises errors. It is tried again every minute.'
		 WHEN t.deadline < clock.now THEN 'Call clutch.tick(), run the worker, or let an agent claim.'
		 WHEN hold.is_paused
			THEN 'SELECT * FROM clutch.paused shows what is paused; SELECT clutch.resume(what) ends it.'
		 WHEN awaited.after_task_id IS NOT NULL
			THEN format('Nobody has requested task %s in its run, which it waits for: request that task, or cancel this one. If the ID belongs to a task of another run, only the latter helps.', awaited.after_task_id)
		 WHEN t.status = 'pending' AND t.wake_at IS NULL THEN 'The detail of the task in clutch.tasks says what is missing, and SELECT * FROM clutch.why(task_id) which agents were rejected.'
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
-- LIMIT keeps the planner from calling explain_route for events that are not the child's request
CROSS JOIN LATERAL (SELECT r.envelope FROM clutch.events r WHERE r.seq = b.child_seq LIMIT 1) AS e
WHERE NOT EXISTS (
	SELECT FROM clutch.explain_route(e.envelope) x
	WHERE x.eligible
	   OR (x.rejected_by = 'concurrency' AND x.agent_id NOT IN (SELECT o.agent_id FROM occupied o)
		   AND clutch.slots_held(x.agent_id) > 0))
UNION ALL
SELECT m.task_id, m.run_id, m.status, m.agent_id, m.since, m.problem, m.hint FROM clutch.more_stuck m;

-- What the topics created after this one add to clutch.check().  They replace this view.
CREATE VIEW clutch.more_checks WITH (security_invoker = true) AS
SELECT m.code, m.detail, m.hint
FROM (VALUES (NULL::text, NULL::text, NULL::text)) AS m(code, detail, hint)
WHERE false;

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
