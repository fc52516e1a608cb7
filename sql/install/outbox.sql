-- ------------------------------------------------------------------ outbox
-- Calls to other systems.  No backend opens a socket: a gateway claims the calls, sends
-- them, and reports the outcome (outbox/call.h).

-- The secrets of endpoints.  A secret is handed only to a gateway, as a part of a call that
-- needs it.  As there is no policy, row-level security hides all rows from everybody but the
-- owner and superusers, whatever has been granted.
CREATE TABLE clutch.endpoint_secret (
	name			text COLLATE "C" NOT NULL CHECK (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
	value			text COLLATE "C" NOT NULL CHECK (value <> ''),
	CONSTRAINT endpoint_secret_pkey PRIMARY KEY (name)
);
ALTER TABLE clutch.endpoint_secret ENABLE ROW LEVEL SECURITY;

-- Operators change endpoints by plain INSERT, UPDATE and DELETE; a trigger refuses rows that
-- are not valid.  There are no foreign keys, because a parallel restore would violate them;
-- clutch.check() reports what is missing.
CREATE TABLE clutch.endpoint (
	name			text COLLATE "C" NOT NULL,
	url				text COLLATE "C" NOT NULL,
	adapter			text COLLATE "C" NOT NULL DEFAULT 'http',	-- the dialect of the bodies
	agents			text[] COLLATE "C" NOT NULL DEFAULT '{}',	-- agents that may use it; *: every agent
	serves			text COLLATE "C",		-- the agent whose work it does, which then needs no process here
	filter			jsonb,					-- for a webhook: the events that fit are sent to it
	signing_secret	text COLLATE "C",		-- whsec_..., several separated by spaces: Standard Webhooks
	auth_secret		text COLLATE "C",		-- the value of the header Authorization
	headers			jsonb,					-- further headers
	max_attempts	integer NOT NULL DEFAULT 8,
	first_pause_s	integer NOT NULL DEFAULT 5,
	longest_pause_s	integer NOT NULL DEFAULT 3600,
	patience_s		integer NOT NULL DEFAULT 600,	-- how long an answer may take
	paused			boolean NOT NULL DEFAULT false,	-- nothing is sent to it
	artifacts_from	integer,				-- base64 in an answer that has at least so many bytes becomes an artifact
	former_names	text[] COLLATE "C" NOT NULL DEFAULT '{}',	-- kept by endpoint_renamed
	CONSTRAINT endpoint_pkey PRIMARY KEY (name)
);
CREATE UNIQUE INDEX endpoint_serves ON clutch.endpoint (serves);

CREATE FUNCTION clutch.check_endpoint() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_check_endpoint'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.check_endpoint() IS
	'trigger: refuses a row of clutch.endpoint that is not valid, and reports all its faults';

-- Each backend caches the endpoints until they change.
CREATE FUNCTION clutch.endpoints_changed() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_endpoints_changed'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.endpoints_changed() IS
	'trigger: makes every backend read the endpoints again';

CREATE TRIGGER check_endpoint
	BEFORE INSERT OR UPDATE ON clutch.endpoint
	FOR EACH ROW EXECUTE FUNCTION clutch.check_endpoint();
CREATE TRIGGER endpoints_changed
	AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON clutch.endpoint
	FOR EACH STATEMENT EXECUTE FUNCTION clutch.endpoints_changed();
ALTER TABLE clutch.endpoint ENABLE ALWAYS TRIGGER check_endpoint, ENABLE ALWAYS TRIGGER endpoints_changed;

CREATE TABLE clutch.outbox (
	no				bigint NOT NULL,		-- drawn from queue_no
	id				text COLLATE "C" NOT NULL,	-- the header webhook-id
	endpoint		text COLLATE "C" NOT NULL,
	state			text COLLATE "C" NOT NULL,	-- pending, sent, dead, void
	kind			text COLLATE "C" NOT NULL,	-- post, event, task, tool, cancel
	seq				bigint,					-- the event to send; NULL:
	body			jsonb,					-- the document to send instead
	agent_id		text COLLATE "C",		-- the sender; for a task or its cancellation, the agent that is called
	run_id			text COLLATE "C",
	task_id			text COLLATE "C",
	task_attempt	integer,
	attempt			integer NOT NULL,		-- how often it has been claimed
	due_at			timestamptz,			-- for a pending call: when it can be claimed next; after a claim, that is the end of the lease
	lease_until		timestamptz,
	created_at		timestamptz NOT NULL,
	finished_at		timestamptz,
	remove_at		timestamptz,			-- when it is removed; NULL: it is still to be sent; infinity: never
	status			integer,				-- HTTP status of the last attempt
	failure			text,					-- what was wrong with the last attempt
	attempts_before	integer NOT NULL DEFAULT 0,	-- attempts before an operator let it be sent again
	part			integer,				-- the last part of the answer to this attempt that has arrived, if the gateway counts them
	CONSTRAINT outbox_pkey PRIMARY KEY (no)
) WITH (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX outbox_id ON clutch.outbox (id);
CREATE INDEX outbox_due ON clutch.outbox (due_at, no) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_endpoint_due ON clutch.outbox (endpoint, due_at, no) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_remove_at ON clutch.outbox (remove_at) WHERE remove_at IS NOT NULL;
ALTER TABLE clutch.outbox ALTER COLUMN failure SET STATISTICS 0;	-- as of clutch.task.detail

-- The calls of an endpoint that is renamed go on under the new name: those that are to be sent,
-- and the dead letters, which can be sent again.  An operator need not have the right to change
-- calls.
CREATE FUNCTION clutch.endpoint_renamed() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	AS $$
BEGIN
	UPDATE clutch.outbox o SET endpoint = new.name WHERE o.endpoint = old.name AND o.due_at IS NOT NULL;
	UPDATE clutch.outbox o SET endpoint = new.name WHERE o.endpoint = old.name AND o.remove_at = 'infinity';
	-- transactions that are still open may have written calls under the old name
	UPDATE clutch.endpoint e SET former_names = array_append(array_remove(e.former_names, new.name), old.name)
		WHERE e.name = new.name;
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION clutch.endpoint_renamed() IS
	'trigger: the calls that wait for an endpoint, and its dead letters, get its new name';

CREATE TRIGGER endpoint_renamed
	AFTER UPDATE OF name ON clutch.endpoint
	FOR EACH ROW WHEN (old.name <> new.name) EXECUTE FUNCTION clutch.endpoint_renamed();
ALTER TABLE clutch.endpoint ENABLE ALWAYS TRIGGER endpoint_renamed;

-- Calls that were written before the renaming was visible still go by the former name.  They get
-- the new name before the former one is forgotten and another endpoint can have it.
CREATE FUNCTION clutch.endpoint_forgot() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	former text;
BEGIN
	FOREACH former IN ARRAY old.former_names LOOP
		-- an endpoint that is renamed back has its former name again
		CONTINUE WHEN former = ANY (new.former_names) OR EXISTS (SELECT FROM clutch.endpoint e WHERE e.name = former);
		UPDATE clutch.outbox o SET endpoint = new.name WHERE o.endpoint = former AND o.due_at IS NOT NULL;
		UPDATE clutch.outbox o SET endpoint = new.name WHERE o.endpoint = former AND o.remove_at = 'infinity';
	END LOOP;
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION clutch.endpoint_forgot() IS
	'trigger: the calls that still go by a former name of an endpoint get its present one before the former is forgotten';

CREATE TRIGGER endpoint_forgot
	AFTER UPDATE OF former_names ON clutch.endpoint
	FOR EACH ROW WHEN (old.former_names <> new.former_names) EXECUTE FUNCTION clutch.endpoint_forgot();
ALTER TABLE clutch.endpoint ENABLE ALWAYS TRIGGER endpoint_forgot;

-- Can the value sign webhooks?  No secret is looked up here, so nobody learns anything about one.
CREATE FUNCTION clutch.secret_can_sign(value text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_secret_can_sign' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION clutch.secret_can_sign(text) IS 'whether this secret can sign webhooks';

CREATE FUNCTION clutch.set_endpoint_secret(name text, value text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	AS $$
BEGIN
	IF set_endpoint_secret.name IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
			MESSAGE = 'argument "name" must not be null',
			DETAIL = '[{"argument": "name", "code": "NULL_VALUE"}]';
	ELSIF set_endpoint_secret.name !~ '^[a-z][a-z0-9_-]{0,62}$' THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid name of a secret "%s"', set_endpoint_secret.name),
			DETAIL = '[{"argument": "name", "code": "WRONG_FORMAT"}]',
			HINT = 'A name begins with a lower-case letter, and consists of at most 63 lower-case letters, digits, hyphens and underscores.';
	ELSIF set_endpoint_secret.value !~ '^[\x20-\x7e]+$' THEN	-- as in the values of headers
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'invalid secret',
			DETAIL = '[{"argument": "value", "code": "WRONG_FORMAT"}]',
			HINT = 'A secret consists of printable ASCII characters, and is not empty; NULL removes it.';
	ELSIF NOT clutch.secret_can_sign(set_endpoint_secret.value)
		  AND (set_endpoint_secret.value ^@ 'whsec_' OR EXISTS (SELECT FROM clutch.endpoint e WHERE e.signing_secret = set_endpoint_secret.name)) THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('secret "%s" cannot sign webhooks', set_endpoint_secret.name),
			DETAIL = '[{"argument": "value", "code": "WRONG_FORMAT"}]',
			HINT = 'It must be "whsec_" and the base64 of 24 to 64 bytes; several are separated by spaces.';
	ELSIF set_endpoint_secret.value IS NULL
		  AND EXISTS (SELECT FROM clutch.endpoint e WHERE set_endpoint_secret.name IN (e.signing_secret, e.auth_secret)) THEN
		RAISE EXCEPTION USING ERRCODE = 'dependent_objects_still_exist',
			MESSAGE = format('secret "%s" is used by an endpoint', set_endpoint_secret.name),
			DETAIL = '[{"argument": "name", "code": "SECRET_IN_USE"}]',
			HINT = 'Let the endpoint use another secret first.';
	END IF;
	IF set_endpoint_secret.value IS NULL THEN
		DELETE FROM clutch.endpoint_secret s WHERE s.name = set_endpoint_secret.name;
	ELSE
		INSERT INTO clutch.endpoint_secret AS s VALUES (set_endpoint_secret.name, set_endpoint_secret.value)
		ON CONFLICT ON CONSTRAINT endpoint_secret_pkey DO UPDATE SET value = excluded.value;
	END IF;
END
$$;
COMMENT ON FUNCTION clutch.set_endpoint_secret(text, text) IS
	'stores a secret, to which endpoints refer by its name, or removes it if the value is NULL; only gateways are handed what is made of it';

CREATE FUNCTION clutch.has_endpoint_secret(name text) RETURNS boolean
	LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	BEGIN ATOMIC
		SELECT EXISTS (SELECT FROM clutch.endpoint_secret s WHERE s.name = has_endpoint_secret.name);
	END;
COMMENT ON FUNCTION clutch.has_endpoint_secret(text) IS 'whether there is a secret of this name';

CREATE FUNCTION clutch.has_signing_secret(name text) RETURNS boolean
	LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp
	BEGIN ATOMIC
		SELECT EXISTS (SELECT FROM clutch.endpoint_secret s WHERE s.name = has_signing_secret.name AND clutch.secret_can_sign(s.value));
	END;
COMMENT ON FUNCTION clutch.has_signing_secret(text) IS 'whether there is a secret of this name that can sign webhooks';

-- Agents can write their own cards.  Therefore nothing is ever sent to a URL only because a
-- card contains it.
CREATE FUNCTION clutch.endpoints_of(agent_id text) RETURNS TABLE (name text, url text, adapter text, serves text, headers jsonb)
	LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 2
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	card jsonb := (SELECT r.card FROM clutch.agent_registry r WHERE r.agent_id = endpoints_of.agent_id);
	a2a jsonb := card #> '{meta,a2a}';
	first_url jsonb := card #> '{endpoints,a2a,url}';	-- of the first interface, or of a card of version 0.3
	is_new boolean := coalesce(jsonb_path_exists(a2a, '$.supportedInterfaces[*]'), false);
	-- The first one that speaks JSON-RPC, which the adapter writes, of the interfaces of version 1.0 and those of 0.3.
	interface record;
BEGIN
	IF endpoints_of.agent_id IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
			MESSAGE = 'argument "agent_id" must not be null',
			DETAIL = '[{"argument": "agent_id", "code": "NULL_VALUE"}]';
	ELSIF card IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'KL005',
			MESSAGE = format('agent "%s" is not registered', agent_id),
			DETAIL = '[{"argument": "agent_id", "code": "AGENT_NOT_FOUND"}]',
			HINT = 'SELECT agent_id FROM clutch.agents lists those that are.';
	END IF;
	SELECT i.url #>> '{}' AS url, i.version INTO interface
	FROM (SELECT 1 AS kind, s.n, CASE s.n WHEN 1 THEN first_url ELSE s.value -> 'url' END AS url, s.value ->> 'protocolBinding' AS binding, s.value ->> 'protocolVersion' AS version
		  FROM jsonb_path_query(a2a, '$.supportedInterfaces[*]') WITH ORDINALITY AS s(value, n)
		  UNION ALL
		  -- cards before 0.3 do not say their version
		  SELECT 2, 1, CASE WHEN NOT is_new OR a2a -> 'same_url' = 'true' THEN first_url ELSE a2a -> 'url' END, a2a ->> 'preferredTransport',
				 CASE WHEN a2a IS NOT NULL THEN coalesce(a2a ->> 'protocolVersion', '0.3') END
		  UNION ALL
		  SELECT 3, o.n, o.value -> 'url', o.value ->> 'transport', coalesce(a2a ->> 'protocolVersion', '0.3')
		  FROM jsonb_path_query(a2a, '$.additionalInterfaces[*]') WITH ORDINALITY AS o(value, n)) AS i
	WHERE i.url IS NOT NULL AND coalesce(i.binding, 'JSONRPC') = 'JSONRPC'
	ORDER BY i.kind, i.n LIMIT 1;
	RETURN QUERY
		SELECT coalesce(nullif(left(regexp_replace(regexp_replace(lower(substr(endpoints_of.agent_id, 7) COLLATE "C"), '[^a-z0-9_]+', '-', 'g'), '^[^a-z]+|-+$', '', 'g'), 63), ''), 'agent'),
			   a.url, d.adapter, endpoints_of.agent_id,
			   CASE d.adapter WHEN 'a2a' THEN nullif(
					CASE WHEN interface.version LIKE '0.%'
						THEN '{"A2A-Version": "0.3"}'::jsonb ELSE '{}' END ||
					CASE WHEN card @> '{"meta": {"a2a": {"capabilities": {"streaming": true}}}}'
						THEN '{"accept": "application/json, text/event-stream"}'::jsonb ELSE '{}' END, '{}') END
		FROM (SELECT e.key, e.value ->> 'url'
			  FROM jsonb_each(CASE WHEN jsonb_typeof(card -> 'endpoints') = 'object' THEN card -> 'endpoints' ELSE '{}' END) AS e
			  WHERE e.key <> 'a2a'
			  UNION ALL
			  SELECT 'a2a', interface.url
			  UNION ALL
			  SELECT card #>> '{meta,agent_json,invocation,type}', card #>> '{meta,agent_json,invocation,url}') AS a(kind, url)
		JOIN (VALUES ('clutch', 'peer'), ('a2a', 'a2a'), ('mcp', 'mcp'), ('http', 'http')) AS d(kind, adapter) ON d.kind = a.kind
		WHERE a.url ~ '^https?://[^[:space:]/?#@]+([/?][^[:space:]#]*)?$'
		ORDER BY d.adapter, a.url;
END
$$;
COMMENT ON FUNCTION clutch.endpoints_of(text) IS
	'the rows of clutch.endpoint that an operator could insert for the endpoints in the card of an agent; inserts none';

CREATE FUNCTION clutch.post(endpoint text, envelope jsonb) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_post' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.post(text, jsonb) IS
	'sends an envelope to an endpoint, as a document of its adapter, when the transaction commits; returns the ID of the call';

CREATE FUNCTION clutch.outbox_claim(max_calls integer DEFAULT 1, lease interval DEFAULT '60 s',
		OUT id text, OUT attempt integer, OUT endpoint text, OUT kind text, OUT url text, OUT headers jsonb, OUT body text,
		OUT wants_answer boolean, OUT lease_until timestamptz)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_outbox_claim' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION clutch.outbox_claim(integer, interval) IS
	'hands calls that are due to a gateway, which POSTs each body to its url and reports the outcome by clutch.outbox_done';

CREATE FUNCTION clutch.outbox_done(id text, attempt integer, status integer DEFAULT NULL, failure text DEFAULT NULL,
		response jsonb DEFAULT NULL, is_last boolean DEFAULT true, retry_after interval DEFAULT NULL,
		part integer DEFAULT NULL)
	RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_outbox_done' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.outbox_done(text, integer, integer, text, jsonb, boolean, interval, integer) IS
	'reports the outcome of a call, or a part of its answer; returns the state of the call: sent, pending, dead or void, or lost';

CREATE FUNCTION clutch.outbox_retry(id text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_outbox_retry' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.outbox_retry(text) IS
	'makes a call due again, in whatever state it is; returns false if there is no such call';

CREATE FUNCTION clutch.outbox_drop(id text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_outbox_drop' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.outbox_drop(text) IS
	'removes a call, whether it was sent or not; returns false if there is no such call';

CREATE FUNCTION clutch.webhook_signature(secret text, id text, at timestamptz, body text) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_webhook_signature' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION clutch.webhook_signature(text, text, timestamptz, text) IS
	'the header webhook-signature of Standard Webhooks for a message, by one or several secrets whsec_...';

-- pg_stats shows the statistics of a table with row-level security only to its owner.
CREATE FUNCTION clutch.call_frequencies(OUT state text, OUT calls double precision) RETURNS SETOF record
	LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER ROWS 4
	SET search_path = pg_catalog, pg_temp
	BEGIN ATOMIC
		SELECT m.state, pg_catalog.round((m.frequency * c.reltuples)::numeric)::double precision
		FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_stats s ON s.schemaname = 'clutch' AND s.tablename = 'outbox' AND s.attname = 'state'
		CROSS JOIN LATERAL ROWS FROM (
			unnest(s.most_common_vals::text::text[]), unnest(s.most_common_freqs)) AS m(state, frequency)
		WHERE c.oid = 'clutch.outbox'::regclass AND c.reltuples > 0;
	END;
COMMENT ON FUNCTION clutch.call_frequencies() IS
	'how many calls of the outbox have each state, as the statistics of the table estimate it';

-- Each endpoint costs one descent of the index, however many calls wait for it.  The endpoint may
-- no longer exist: then a gateway would give the calls up.
CREATE VIEW clutch.outbox_waiting WITH (security_invoker = true) AS
	WITH RECURSIVE called(endpoint) AS (
		SELECT min(o.endpoint) FROM clutch.outbox o WHERE o.due_at IS NOT NULL
	  UNION ALL
		SELECT (SELECT min(o.endpoint) FROM clutch.outbox o WHERE o.due_at IS NOT NULL AND o.endpoint > c.endpoint)
		FROM called c WHERE c.endpoint IS NOT NULL)
	SELECT c.endpoint, d.due_at
	FROM called c
	LEFT JOIN clutch.endpoint e ON e.name = c.endpoint
	CROSS JOIN LATERAL (SELECT o.due_at FROM clutch.outbox o WHERE o.endpoint = c.endpoint AND o.due_at IS NOT NULL ORDER BY o.due_at LIMIT 1) AS d
	WHERE e.paused IS NOT TRUE;
COMMENT ON VIEW clutch.outbox_waiting IS
	'the endpoints that are not paused and for which calls wait, and when the first of them is or was due';

-- Whoever reads clutch.stuck need not have the right to read endpoints.  Those that only send webhooks
-- are left out, because no task waits for them.
CREATE FUNCTION clutch.paused_endpoints() RETURNS SETOF text
	LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER ROWS 1
	SET search_path = pg_catalog, pg_temp
	BEGIN ATOMIC
		SELECT e.name FROM clutch.endpoint e WHERE e.paused AND e.serves IS NOT NULL;
	END;
COMMENT ON FUNCTION clutch.paused_endpoints() IS 'the paused endpoints that do the work of an agent';

-- A call that a gateway is just sending is not held up.
CREATE OR REPLACE VIEW clutch.more_stuck WITH (security_invoker = true) AS
SELECT t.task_id, t.run_id, t.status, t.agent_id, t.since, 'endpoint paused'::text AS problem,
	   pg_catalog.format('Nothing is sent to endpoint %s: UPDATE clutch.endpoint SET paused = false, or cancel the task.', e.name) COLLATE "default" AS hint
FROM clutch.paused_endpoints() AS e(name)
JOIN clutch.outbox o ON o.endpoint = e.name AND o.due_at IS NOT NULL AND o.kind = 'task'
	AND (o.lease_until IS NULL OR o.lease_until < clutch.now())
JOIN clutch.task t ON t.task_id = o.task_id AND t.attempt = o.task_attempt AND t.finished_at IS NULL;
COMMENT ON VIEW clutch.more_stuck IS 'the part of clutch.stuck that is about the outbox';

-- Calls that are pending or dead are counted by an index, up to 10,001 of them.  The others are
-- counted if the table is small, and estimated otherwise.
CREATE VIEW clutch.outbox_metrics WITH (security_invoker = true) AS
	SELECT 'clutch_outbox_calls'::text AS name, '{"state": "pending"}'::jsonb AS labels, count(*)::double precision AS value
	FROM (SELECT FROM clutch.outbox o WHERE o.due_at IS NOT NULL LIMIT 10001) AS p
UNION ALL
	SELECT 'clutch_outbox_calls', '{"state": "dead"}', count(*)
	FROM (SELECT FROM clutch.outbox o WHERE o.remove_at = 'infinity' LIMIT 10001) AS d
UNION ALL
	SELECT 'clutch_outbox_calls', pg_catalog.jsonb_build_object('state', s.state), coalesce(max(n.calls), 0)
	FROM (VALUES ('sent'), ('void')) AS s(state)
	LEFT JOIN (
			SELECT o.state, count(*)::double precision AS calls FROM clutch.outbox o
			WHERE (SELECT pg_catalog.pg_relation_size('clutch.outbox') <= 16 * 1024 * 1024) GROUP BY o.state
		UNION ALL
			SELECT f.state, f.calls FROM clutch.call_frequencies() f
			WHERE (SELECT pg_catalog.pg_relation_size('clutch.outbox') > 16 * 1024 * 1024)) AS n ON n.state = s.state
	GROUP BY s.state
	-- without statistics, nothing is known
	HAVING count(n.state) > 0 OR pg_catalog.pg_relation_size('clutch.outbox') <= 16 * 1024 * 1024
		OR EXISTS (SELECT FROM clutch.call_frequencies())
UNION ALL
	SELECT 'clutch_outbox_overdue_seconds', '{}', greatest(coalesce(extract(epoch FROM clutch.now() - min(w.due_at)), 0), 0)
	FROM clutch.outbox_waiting w;
COMMENT ON VIEW clutch.outbox_metrics IS 'the part of clutch.metrics() that is about the outbox';

CREATE OR REPLACE VIEW clutch.more_metrics WITH (security_invoker = true) AS
SELECT a.name, a.labels, a.value FROM clutch.artifact_metrics a
UNION ALL
SELECT 'clutch_quota_refusals_total', pg_catalog.jsonb_build_object('quota', r.what), r.n FROM clutch.quota_refusal r
UNION ALL
SELECT l.name, l.labels, l.value FROM clutch.ledger_metrics l
UNION ALL
SELECT o.name, o.labels, o.value FROM clutch.outbox_metrics o;
COMMENT ON VIEW clutch.more_metrics IS 'the part of clutch.metrics() that is about the tree over the log, artifacts, quotas and the outbox';
