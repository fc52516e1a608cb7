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

CREATE FUNCTION clutch.reply(task_id text, adapter text DEFAULT NULL) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_reply' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.reply(text, text) IS
	'the end of a task as the response to the document that requested it, in the same dialect';

CREATE FUNCTION clutch.task_as(task_id text, adapter text DEFAULT NULL) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_task_as' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.task_as(text, text) IS
	'what a task is doing, or how it has ended, as a task of A2A or MCP';
