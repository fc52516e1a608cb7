-- ---------------------------------------------------------------- adapters
-- Which dialects are understood, and by what.  Functions are named by text, qualified
-- with their schema: pg_upgrade refuses a column of type regprocedure.
CREATE TABLE clutch.adapter (
	name			text COLLATE "C" NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,31}$' AND name <> 'clutch'),
	place			integer NOT NULL,		-- the adapters are asked in this order
	can_handle		text COLLATE "C",		-- (raw jsonb) RETURNS boolean; NULL: is used only by its name
	inbound			text COLLATE "C",		-- (raw jsonb, context jsonb) RETURNS SETOF jsonb
	outbound		text COLLATE "C",		-- (envelope jsonb) RETURNS jsonb
	carrier			text COLLATE "C" CHECK (carrier ~ '^/.'),	-- the path of what the dialect has no place for
	builtin			boolean NOT NULL DEFAULT false,	-- comes with the extension, and is not dumped
	CONSTRAINT adapter_pkey PRIMARY KEY (name),
	CONSTRAINT adapter_functions CHECK (CASE WHEN builtin
		THEN can_handle IS NULL AND inbound IS NULL AND outbound IS NULL
		ELSE inbound IS NOT NULL AND outbound IS NOT NULL
			AND coalesce(can_handle, inbound) LIKE '%_._%' AND inbound LIKE '%_._%' AND outbound LIKE '%_._%' END)
);
COMMENT ON TABLE clutch.adapter IS
	'the adapters, which translate documents of other protocols and frameworks into envelopes and back';
CREATE INDEX adapter_place ON clutch.adapter (place, name);

INSERT INTO clutch.adapter (name, place, builtin) VALUES
	('a2a', 50, true),
	('langgraph', 60, true),
	('autogen', 70, true),
	('crewai', 75, true),
	('mcp', 80, true),
	('http', 100, true),
	('map', 110, true),
	('multiagent', 120, true),
	('collab', 130, true),
	('agent_json', 140, true);

CREATE FUNCTION clutch.can_handle(raw jsonb) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_can_handle' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.can_handle(jsonb) IS
	'the name of the adapter that handles a document; null if none does';

CREATE FUNCTION clutch.inbound(raw jsonb, adapter text DEFAULT NULL, context jsonb DEFAULT '{}') RETURNS SETOF jsonb
	AS 'MODULE_PATHNAME', 'clutch_inbound' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION clutch.inbound(jsonb, text, jsonb) IS
	'the envelopes that a document of another protocol makes; nothing is sent';

CREATE FUNCTION clutch.outbound(envelope jsonb, adapter text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_outbound' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.outbound(jsonb, text) IS
	'the document of another protocol that an envelope makes';

CREATE FUNCTION clutch.ingest(raw jsonb, adapter text DEFAULT NULL, context jsonb DEFAULT '{}') RETURNS SETOF clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_ingest' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION clutch.ingest(jsonb, text, jsonb) IS
	'sends the envelopes that a document of another protocol makes; the same document again is a duplicate';
