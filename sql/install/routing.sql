-- ------------------------------------------------------------- routing
-- Functions that read the registry or slots with the latest snapshot are
-- PARALLEL UNSAFE, because PostgreSQL does not take such a snapshot while a
-- query runs in parallel.

CREATE FUNCTION clutch.route(envelope jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_route'
	LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.route(jsonb) IS
	'the routing decision for a task.request at this moment, or the failure; without side effects';

CREATE FUNCTION clutch.explain_route(envelope jsonb)
	RETURNS TABLE (agent_id text, eligible boolean, rejected_by text, detail text,
		score double precision, load double precision, success_rate double precision,
		rank integer)
	AS 'MODULE_PATHNAME', 'clutch_explain_route'
	LANGUAGE C STABLE STRICT PARALLEL UNSAFE ROWS 100;
COMMENT ON FUNCTION clutch.explain_route(jsonb) IS
	'every agent that is considered for a task.request, with its rank or the first filter that rejects it';

CREATE FUNCTION clutch.why(task_id text)
	RETURNS TABLE (agent_id text, eligible boolean, rejected_by text, detail text,
		score double precision, load double precision, success_rate double precision,
		rank integer)
	AS 'MODULE_PATHNAME', 'clutch_why'
	LANGUAGE C STABLE STRICT PARALLEL UNSAFE ROWS 20;
COMMENT ON FUNCTION clutch.why(text) IS
	'why a task was given to its agent, or to none, according to the log';

CREATE FUNCTION clutch.version_satisfies(offered text, asked text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_version_satisfies'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION clutch.version_satisfies(text, text) IS
	'whether the version or range that a card offers meets the range that a request asks for';

-- Backends cache the registry.  The C code that writes it announces its own changes.
CREATE FUNCTION clutch.roster_changed() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_roster_changed'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.roster_changed() IS
	'trigger: makes every backend read the registry again';

CREATE TRIGGER roster_changed
	AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON clutch.group_member
	FOR EACH STATEMENT EXECUTE FUNCTION clutch.roster_changed();
ALTER TABLE clutch.group_member ENABLE ALWAYS TRIGGER roster_changed;
