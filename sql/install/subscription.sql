-- ---------------------------------------------------------- subscriptions
-- What asks for the epoch reads it on the latest snapshot, which is PARALLEL
-- UNSAFE: see routing.sql.

CREATE FUNCTION clutch.subscribe(name text, filter jsonb DEFAULT '{}', start text DEFAULT 'now', members integer DEFAULT 1)
	RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_subscribe' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.subscribe(text, jsonb, text, integer) IS
	'makes a durable cursor on the log, from the beginning, from now or from a position on; answers its name';

CREATE FUNCTION clutch.unsubscribe(name text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_unsubscribe' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.unsubscribe(text) IS 'forgets a subscription; false: there was none';

CREATE FUNCTION clutch.read(name text, max_events integer DEFAULT 100, member integer DEFAULT 0,
		OUT pos text, OUT seq bigint, OUT id text, OUT type text, OUT run_id text, OUT thread_id text,
		OUT task_id text, OUT late boolean, OUT envelope jsonb)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_read' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100;
COMMENT ON FUNCTION clutch.read(text, integer, integer) IS
	'the next events of a subscription; the same again until clutch.commit';

CREATE FUNCTION clutch.commit(name text, pos text, member integer DEFAULT 0) RETURNS void
	AS 'MODULE_PATHNAME', 'clutch_commit' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.commit(text, text, integer) IS
	'all that was read up to this pos is handled';

CREATE FUNCTION clutch.read_from(pos text, filter jsonb DEFAULT '{}', max_events integer DEFAULT 100,
		OUT pos text, OUT seq bigint, OUT id text, OUT type text, OUT run_id text, OUT thread_id text,
		OUT task_id text, OUT late boolean, OUT envelope jsonb)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_read_from' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100;
COMMENT ON FUNCTION clutch.read_from(text, jsonb, integer) IS
	'the events after a position, also on a standby; the last row has the position to go on from';

CREATE FUNCTION clutch.position() RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_position' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.position() IS
	'how far the log is, as this statement sees it: where clutch.read_from goes on with what is new';

CREATE VIEW clutch.subscriptions WITH (security_invoker = true) AS
SELECT	s.name, s.owner, s.filter, s.members, p.member, s.created_at, p.moved_at, p.batch,
		p.until IS NOT NULL AS reading,
		(SELECT count(*) FROM (
			SELECT FROM clutch.events e
			WHERE e.epoch = split_part(p.seen, '.', 2)::integer
			  AND e.xid >= split_part(p.seen, '.', 5)::xid8
			LIMIT 10001) AS unseen) AS behind,
		(SELECT min(o.received_at) FROM (
			SELECT e.received_at FROM clutch.events e
			WHERE e.epoch = split_part(p.seen, '.', 2)::integer
			  AND e.xid >= split_part(p.seen, '.', 5)::xid8
			ORDER BY e.epoch, e.xid LIMIT 1) AS o) AS oldest
FROM clutch.subscription s
JOIN clutch.subscription_position p ON p.name = s.name
WHERE p.generation = (SELECT max(n.generation) FROM clutch.subscription_position n
					  WHERE n.name = p.name AND n.member = p.member);
COMMENT ON VIEW clutch.subscriptions IS
	'who reads the log, and how far behind each is: events not seen (10001: more), and since when';
