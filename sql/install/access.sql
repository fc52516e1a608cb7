-- ------------------------------------------------------------------ access
-- Which roles are operators, and which may read without being an agent.  Roles
-- that speak for agents are in clutch.principal.
CREATE TABLE clutch.privilege (
	grantee			regrole NOT NULL,	-- dumped by name, gone with the role
	privilege		text COLLATE "C" NOT NULL CHECK (privilege IN ('operator', 'reader')),
	scopes			text[] COLLATE "C",	-- a reader sees the runs of these; NULL: all runs
	CONSTRAINT privilege_pkey PRIMARY KEY (grantee, privilege)
);
