-- ------------------------------------------------------------------ access
-- Which roles are operators, which may read without speaking for an agent, and
-- which send the calls of the outbox.  Roles that speak for agents are in
-- clutch.principal.
CREATE TABLE clutch.privilege (
	grantee			regrole NOT NULL,	-- dumped by name, removed with the role
	privilege		text COLLATE "C" NOT NULL CHECK (privilege IN ('operator', 'reader', 'gateway')),
	scopes			text[] COLLATE "C",	-- a reader sees the runs of these scopes; NULL: all runs
	CONSTRAINT privilege_pkey PRIMARY KEY (grantee, privilege)
);

-- Backends cache which role speaks for which agent.
CREATE FUNCTION clutch.principals_changed() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_principals_changed'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.principals_changed() IS
	'trigger: makes every backend ask again which role speaks for which agent';

CREATE TRIGGER principals_changed
	AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON clutch.principal
	FOR EACH STATEMENT EXECUTE FUNCTION clutch.principals_changed();
ALTER TABLE clutch.principal ENABLE ALWAYS TRIGGER principals_changed;

-- How far a run can be seen, if its first request says something other than "scope".
CREATE TABLE clutch.run_visibility (
	run_id			text COLLATE "C" NOT NULL,
	visibility		text COLLATE "C" NOT NULL,	-- public, parent-only, private
	CONSTRAINT run_visibility_pkey PRIMARY KEY (run_id)
);
CREATE INDEX run_visibility_word ON clutch.run_visibility (visibility, run_id);

-- What the policies of grants.sql ask; see flow/sight.h.  seen_runs is VOLATILE because
-- the planner calls a STABLE function to estimate an index scan, and for a role with
-- 50,000 runs it would take half a second to make the list for each plan.  Its COST is
-- that of a list of 6,000 runs.  The support function replaces it by the cost of the
-- role's last list, if there is one.
CREATE FUNCTION clutch.seen_runs_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'clutch_seen_runs_support' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION clutch.seen_runs_support(internal) IS
	'planner support: estimates what the list of clutch.seen_runs costs, from its length the last time';

CREATE FUNCTION clutch.seen_runs() RETURNS text[]
	AS 'MODULE_PATHNAME', 'clutch_seen_runs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1200000 SUPPORT clutch.seen_runs_support;
COMMENT ON FUNCTION clutch.seen_runs() IS
	'the runs of which the role may read events: its own, those of its scopes, and public ones';

CREATE FUNCTION clutch.sees_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'clutch_sees_support' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION clutch.sees_support(internal) IS
	'planner support: finds the rows of clutch.sees by an index on run_id';

-- COST: less than a comparison, which costs 1, and also less than one by = ANY with an
-- array of a single value, which costs 0.5.  The planner puts cheap conditions first, even
-- before those of a policy, if their operators are leakproof, as those of texts, whole
-- numbers and times are.  EXPLAIN (ANALYZE, BUFFERS) would then show whether the policy had
-- to be asked about a row that the role may not see, and so what is in the row.
CREATE FUNCTION clutch.sees(run_id text, task_id text DEFAULT NULL) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_sees' LANGUAGE C STABLE PARALLEL UNSAFE COST 0.4 SUPPORT clutch.sees_support;
COMMENT ON FUNCTION clutch.sees(text, text) IS
	'whether the role may read what belongs to a run, and to a task of it; remembers the runs while a statement runs';

CREATE FUNCTION clutch.sees_from(agent_id text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_sees_from' LANGUAGE C STABLE STRICT PARALLEL UNSAFE COST 0.4;
COMMENT ON FUNCTION clutch.sees_from(text) IS
	'whether the role may read what belongs to an agent: what it has sent in the current transaction, and its calls';

CREATE FUNCTION clutch.is_role(role regrole) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_is_role' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 0.4;
COMMENT ON FUNCTION clutch.is_role(regrole) IS
	'whether this is the current role, for policies that are to be asked before a row is compared';

CREATE FUNCTION clutch.current_epoch() RETURNS integer
	AS 'MODULE_PATHNAME', 'clutch_current_epoch' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.current_epoch() IS 'the epoch of this copy of the database';
