-- ---------------------------------------------------------- subscriptions
-- Functions that need the epoch read it with the latest snapshot, so they are
-- PARALLEL UNSAFE; see routing.sql.

CREATE FUNCTION clutch.subscribe(name text, filter jsonb DEFAULT '{}', start text DEFAULT 'now', members integer DEFAULT 1)
	RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_subscribe' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.subscribe(text, jsonb, text, integer) IS
	'creates a durable reader of the log, which starts at the beginning, now or at a position; returns its name';

CREATE FUNCTION clutch.unsubscribe(name text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_unsubscribe' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.unsubscribe(text) IS 'removes a subscription; returns false if it did not exist';

CREATE FUNCTION clutch.read(name text, max_events integer DEFAULT 100, member integer DEFAULT 0,
		OUT pos text, OUT seq bigint, OUT id text, OUT type text, OUT run_id text, OUT thread_id text,
		OUT task_id text, OUT late boolean, OUT envelope jsonb)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_read' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100;
COMMENT ON FUNCTION clutch.read(text, integer, integer) IS
	'returns the next events of a subscription, and the same ones again until clutch.commit';

CREATE FUNCTION clutch.commit(name text, pos text, member integer DEFAULT 0) RETURNS void
	AS 'MODULE_PATHNAME', 'clutch_commit' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.commit(text, text, integer) IS
	'records that everything that was read up to this pos has been handled';

CREATE FUNCTION clutch.read_from(pos text, filter jsonb DEFAULT '{}', max_events integer DEFAULT 100,
		OUT pos text, OUT seq bigint, OUT id text, OUT type text, OUT run_id text, OUT thread_id text,
		OUT task_id text, OUT late boolean, OUT envelope jsonb)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_read_from' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100;
COMMENT ON FUNCTION clutch.read_from(text, jsonb, integer) IS
	'returns the events after a position, also on a standby; the last row has the position to go on from';

CREATE FUNCTION clutch.position() RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_position' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.position() IS
	'returns the end of the log as this statement sees it, from where clutch.read_from returns what is new';

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

-- Events are counted for all subscriptions together, in one pass over the newest
-- 10,001 events that any of them has not seen.  Counting them for each
-- subscription would take milliseconds each, and seconds for a thousand of them.
-- Later epochs follow as a whole.
CREATE VIEW clutch.subscriptions WITH (security_invoker = true) AS
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
COMMENT ON VIEW clutch.subscriptions IS
	'who reads the log, and how far each reader lags: the number of events it has not seen (10001 means more), and when the first of them was received';
