-- ------------------------------------------------------------ the protocol
-- envelope and from_legacy read tasks with the latest snapshot.  Therefore they
-- are PARALLEL UNSAFE; see routing.sql.

CREATE FUNCTION clutch.validate(envelope jsonb)
	RETURNS TABLE (path text, code text, message text)
	AS 'MODULE_PATHNAME', 'clutch_validate'
	LANGUAGE C STABLE PARALLEL SAFE COST 10 ROWS 1;
COMMENT ON FUNCTION clutch.validate(jsonb) IS
	'the faults of an envelope: path (RFC 6901), code and message; no rows if it is valid';

CREATE FUNCTION clutch.new_id(prefix text) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_new_id'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION clutch.new_id(text) IS
	'a new identifier, prefix_ULID: unique, and ordered by the time when it was made';

-- NULL means that an argument is omitted.
CREATE FUNCTION clutch.envelope(
		type text,
		from_agent text,
		to_agents text[] DEFAULT NULL,
		payload jsonb DEFAULT '{}',
		run_id text DEFAULT NULL,
		thread_id text DEFAULT NULL,
		task_id text DEFAULT NULL,
		parent_task_id text DEFAULT NULL,
		requires text[] DEFAULT NULL,
		prefers text[] DEFAULT NULL,
		domain text DEFAULT NULL,
		payload_type text DEFAULT NULL,
		schema_ref text DEFAULT NULL,
		idempotency_key text DEFAULT NULL,
		meta jsonb DEFAULT NULL,
		trace jsonb DEFAULT NULL,
		security jsonb DEFAULT NULL,
		attachments jsonb DEFAULT NULL,
		attempt integer DEFAULT NULL,
		id text DEFAULT NULL,
		priority integer DEFAULT NULL,
		deadline interval DEFAULT NULL,
		after text[] DEFAULT NULL)
	RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_envelope'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.envelope IS
	'builds an envelope; missing IDs are generated, or derived from the sender and the idempotency_key or id; without to_agents it goes to the orchestrator';

CREATE FUNCTION clutch.from_legacy(envelope jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_from_legacy'
	LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.from_legacy(jsonb) IS
	'translates an envelope with a legacy type (PLAN, PROPOSAL, EXEC_REPORT, REVIEW, BLOCKER); returns others unchanged';

CREATE FUNCTION clutch.render(envelope jsonb) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_render'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION clutch.render(jsonb) IS
	'an envelope as text for the prompt of a model: who sent what to whom, then the payload between two lines with a number that no payload can know';
