-- ---------------------------------------------------------------- adapters
-- The adapters in use.  Operators change them by plain INSERT, UPDATE and DELETE; a trigger refuses
-- rows that are not valid.  The functions are stored as texts, qualified with their schema, because
-- pg_upgrade refuses columns of type regprocedure.
CREATE TABLE clutch.adapter (
	name			text COLLATE "C" NOT NULL,
	place			integer NOT NULL DEFAULT 200,	-- the adapters are asked in this order; the built-in ones have 40 to 140
	can_handle		text COLLATE "C",		-- (raw jsonb) RETURNS boolean; NULL: used only if the caller names it
	inbound			text COLLATE "C",		-- (raw jsonb, context jsonb) RETURNS SETOF jsonb
	outbound		text COLLATE "C",		-- (envelope jsonb) RETURNS jsonb
	carrier			text COLLATE "C",		-- path of the carrier, which contains what the dialect has no place for
	builtin			boolean NOT NULL DEFAULT false,	-- comes with the extension, and is not dumped
	CONSTRAINT adapter_pkey PRIMARY KEY (name),
	CONSTRAINT adapter_functions CHECK ((inbound IS NULL) = (outbound IS NULL))	-- the C code relies on it; the rest is checked by check_adapter
);
COMMENT ON TABLE clutch.adapter IS
	'the adapters, which translate documents of other protocols and frameworks into envelopes and back';
CREATE INDEX adapter_place ON clutch.adapter (place, name);

INSERT INTO clutch.adapter (name, place, builtin) VALUES
	('peer', 40, true),
	('multiagent', 45, true),
	('a2a', 50, true),
	('langgraph', 60, true),
	('autogen', 70, true),
	('crewai', 75, true),
	('mcp', 80, true),
	('http', 100, true),
	('map', 110, true),
	('collab', 130, true),
	('agent_json', 140, true);

CREATE FUNCTION clutch.check_adapter() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_check_adapter'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.check_adapter() IS
	'trigger: refuses a row of clutch.adapter that is not valid, and reports all its faults';

-- Each backend caches the adapters until they change.
CREATE FUNCTION clutch.adapters_changed() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_adapters_changed'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.adapters_changed() IS
	'trigger: makes every backend read the adapters again';

CREATE TRIGGER check_adapter
	BEFORE INSERT OR UPDATE ON clutch.adapter
	FOR EACH ROW EXECUTE FUNCTION clutch.check_adapter();
CREATE TRIGGER adapters_changed
	AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON clutch.adapter
	FOR EACH STATEMENT EXECUTE FUNCTION clutch.adapters_changed();
ALTER TABLE clutch.adapter ENABLE ALWAYS TRIGGER check_adapter, ENABLE ALWAYS TRIGGER adapters_changed;

CREATE FUNCTION clutch.can_handle(raw jsonb) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_can_handle' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.can_handle(jsonb) IS
	'the name of the first adapter that handles a document; NULL if none does';

CREATE FUNCTION clutch.inbound(raw jsonb, adapter text DEFAULT NULL, context jsonb DEFAULT '{}') RETURNS SETOF jsonb
	AS 'MODULE_PATHNAME', 'clutch_inbound' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION clutch.inbound(jsonb, text, jsonb) IS
	'translates a document of another protocol into envelopes; nothing is sent';

CREATE FUNCTION clutch.outbound(envelope jsonb, adapter text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_outbound' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.outbound(jsonb, text) IS
	'translates an envelope into a document of another protocol';

CREATE FUNCTION clutch.ingest(raw jsonb, adapter text DEFAULT NULL, context jsonb DEFAULT '{}') RETURNS SETOF clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_ingest' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION clutch.ingest(jsonb, text, jsonb) IS
	'translates a document of another protocol into envelopes and sends them; the same document again is a duplicate';

-- A response in JSON-RPC has the ID of its request.  "kept" is empty; that it is there makes
-- the envelope count as foreign, so the response gets no carrier.  A message that names its
-- request does so by the ID that the request had in its dialect.  In MAP, this also applies
-- to frames in JSON-RPC, because they are not calls that expect a response.
CREATE FUNCTION clutch.reply(task_id text, adapter text DEFAULT NULL) RETURNS jsonb
	LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
	AS $$
SELECT CASE WHEN c.id IS NOT NULL THEN pg_catalog.jsonb_set(d.document, c.place, c.id) ELSE d.document END
FROM (SELECT t.task_id, t.thread_id, r.envelope AS request, e.type, e.envelope AS ended, a.name AS adapter,
			 r.envelope OPERATOR(pg_catalog.#>) ARRAY['meta', a.name] AS noted, e.envelope OPERATOR(pg_catalog.#>) ARRAY['meta', a.name, 'blobs'] AS blobs
	  FROM clutch.tasks t
	  JOIN clutch.events r ON r.seq OPERATOR(pg_catalog.=) t.request_seq
	  JOIN clutch.events e ON e.seq OPERATOR(pg_catalog.=) coalesce(t.result_seq, (
			SELECT pg_catalog.max(x.seq) FROM clutch.events x
			WHERE x.task_id OPERATOR(pg_catalog.=) t.task_id AND NOT x.late
			  AND x.type OPERATOR(pg_catalog.=) CASE t.status WHEN 'cancelled' THEN 'task.cancel' WHEN 'timed_out' THEN 'task.timeout' END))
	  -- if the caller names an adapter that does not exist, clutch.outbound refuses it
	  JOIN LATERAL (SELECT coalesce($2, (SELECT d.name FROM clutch.adapter d
			WHERE r.envelope OPERATOR(pg_catalog.->) 'meta' OPERATOR(pg_catalog.?) d.name
			ORDER BY d.place, d.name LIMIT 1)) AS name) AS a ON a.name IS NOT NULL
	  WHERE t.task_id OPERATOR(pg_catalog.=) $1) AS s,
	LATERAL (SELECT CASE WHEN s.noted IS NOT NULL THEN clutch.outbound(s.request, s.adapter) ELSE '{}' END AS asked) AS o,
	-- a cancellation would be a demand and not an answer in most dialects, and a timeout has no form
	-- there, so both become errors
	LATERAL (SELECT CASE
		WHEN s.type IN ('task.result', 'task.error') OR s.adapter IN ('http', 'peer') OR (s.adapter OPERATOR(pg_catalog.=) 'a2a' AND o.asked OPERATOR(pg_catalog.?) 'jsonrpc') THEN s.ended
		WHEN s.type OPERATOR(pg_catalog.=) 'task.timeout' THEN s.ended OPERATOR(pg_catalog.||) '{"type": "task.error"}'
		ELSE s.ended OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('type', 'task.error', 'payload', pg_catalog.jsonb_build_object('code', 'CANCELLED',
			'message', coalesce(nullif(s.ended OPERATOR(pg_catalog.#>>) '{payload,reason}', ''), 'the task was cancelled'), 'retryable', false)) END AS told) AS n,
	LATERAL (SELECT clutch.outbound(CASE WHEN o.asked OPERATOR(pg_catalog.?) 'jsonrpc' AND s.adapter OPERATOR(pg_catalog.<>) 'map'
			THEN pg_catalog.jsonb_set(n.told, ARRAY['meta'], coalesce(n.told OPERATOR(pg_catalog.->) 'meta', '{}')
				OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object(s.adapter, pg_catalog.jsonb_build_object(
					'kept', '[]'::jsonb, 'v', coalesce(s.noted OPERATOR(pg_catalog.->) 'v', '""'), 'rpc_id', o.asked OPERATOR(pg_catalog.->) 'id',
					'native', pg_catalog.jsonb_build_object('reply_to', o.asked OPERATOR(pg_catalog.->) 'id',
						'task_id', s.task_id, 'thread_id', coalesce(s.noted OPERATOR(pg_catalog.#>) '{native,thread_id}', pg_catalog.to_jsonb(s.thread_id))))
					OPERATOR(pg_catalog.||) CASE WHEN s.blobs IS NULL THEN '{}' ELSE pg_catalog.jsonb_build_object('blobs', s.blobs) END
					OPERATOR(pg_catalog.||) CASE WHEN s.adapter OPERATOR(pg_catalog.=) 'a2a' THEN '{"form": "task"}' ELSE '{}' END::jsonb))
			ELSE n.told END, s.adapter) AS document) AS d,
	-- an end that was a document of the dialect itself comes back as it was
	LATERAL (SELECT
		CASE s.adapter WHEN 'collab' THEN '{header,correlationId}' WHEN 'map' THEN '{meta,correlationId}' WHEN 'multiagent' THEN '{trace,parents}' WHEN 'http' THEN '{subject}' END::text[] AS place,
		CASE
			WHEN n.told OPERATOR(pg_catalog.#>) ARRAY['meta', s.adapter, 'kept'] IS NOT NULL THEN NULL
			WHEN s.adapter OPERATOR(pg_catalog.=) 'collab' THEN s.noted OPERATOR(pg_catalog.#>) '{native,id}'
			WHEN s.adapter IN ('map', 'http') THEN s.noted OPERATOR(pg_catalog.#>) '{native,task_id}'
			WHEN s.adapter OPERATOR(pg_catalog.=) 'multiagent' THEN coalesce(o.asked OPERATOR(pg_catalog.#>) '{trace,parents}', '[]') OPERATOR(pg_catalog.||) (o.asked OPERATOR(pg_catalog.#>) '{trace,id}') END AS id) AS c
$$;
COMMENT ON FUNCTION clutch.reply(text, text) IS
	'the end of a task as the response to the document that requested it, in the same dialect';
