-- ------------------------------------------------------------------ access
-- Which roles are operators, and which may read without being an agent.  Roles
-- that speak for agents are in clutch.principal.
CREATE TABLE clutch.privilege (
	grantee			regrole NOT NULL,	-- dumped by name, gone with the role
	privilege		text COLLATE "C" NOT NULL CHECK (privilege IN ('operator', 'reader')),
	scopes			text[] COLLATE "C",	-- a reader sees the runs of these; NULL: all runs
	CONSTRAINT privilege_pkey PRIMARY KEY (grantee, privilege)
);

-- How far a run can be seen, if its first request says another thing than "scope".
CREATE TABLE clutch.run_visibility (
	run_id			text COLLATE "C" NOT NULL,
	visibility		text COLLATE "C" NOT NULL,	-- public, parent-only, private
	CONSTRAINT run_visibility_pkey PRIMARY KEY (run_id)
);
CREATE INDEX run_visibility_word ON clutch.run_visibility (visibility, run_id);

-- What the policies of grants.sql ask once for a statement: see flow/sight.h.
CREATE FUNCTION clutch.readable_runs() RETURNS text[]
	AS 'MODULE_PATHNAME', 'clutch_readable_runs' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.readable_runs() IS
	'the runs of which the role may read every event: its own, those of its scopes, and public ones';

CREATE FUNCTION clutch.partial_runs() RETURNS text[]
	AS 'MODULE_PATHNAME', 'clutch_partial_runs' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.partial_runs() IS
	'the runs of which the role may read some tasks: those in which it takes part, and whose visibility is parent-only';

CREATE FUNCTION clutch.readable_tasks() RETURNS text[]
	AS 'MODULE_PATHNAME', 'clutch_readable_tasks' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.readable_tasks() IS
	'the tasks that the role may read in runs whose visibility is parent-only';

CREATE FUNCTION clutch.current_epoch() RETURNS integer
	AS 'MODULE_PATHNAME', 'clutch_current_epoch' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.current_epoch() IS 'the epoch of this copy of the database';
