-- Until 0.2.0, nothing but their rights told who was a reader.  So whoever may read the
-- log and the state and may call clutch.replay, as grant_reader alone allowed, is one.
-- Other roles that were granted something by hand do not get more by an update.
DO $$
DECLARE
	readers text;
BEGIN
	WITH granted AS (
		SELECT c.oid, c.relowner, c.relacl, 'SELECT' FROM pg_catalog.pg_class c
		WHERE c.oid OPERATOR(pg_catalog.=) ANY (ARRAY['clutch.events'::regclass, 'clutch.agent_registry'::regclass]::oid[])
		UNION ALL
		SELECT p.oid, p.proowner, p.proacl, 'EXECUTE' FROM pg_catalog.pg_proc p
		WHERE p.oid OPERATOR(pg_catalog.=) 'clutch.replay(text)'::regprocedure),
	reader AS (
		INSERT INTO clutch.privilege
		SELECT a.grantee, 'reader', NULL
		FROM granted g(oid, owner, acl, privilege), pg_catalog.aclexplode(g.acl) a
		WHERE a.privilege_type OPERATOR(pg_catalog.=) g.privilege AND a.grantor OPERATOR(pg_catalog.=) g.owner
		  AND a.grantee OPERATOR(pg_catalog.<>) g.owner AND a.grantee OPERATOR(pg_catalog.<>) 0
		GROUP BY a.grantee
		HAVING pg_catalog.count(DISTINCT g.oid) OPERATOR(pg_catalog.=) 3
		ON CONFLICT DO NOTHING
		RETURNING grantee)
	SELECT pg_catalog.string_agg(r.grantee::text, ', ') INTO readers FROM reader r;
	IF readers IS NOT NULL THEN
		-- while a script of an extension runs, a NOTICE would not be shown
		RAISE INFO 'these roles become readers, as clutch.grant_reader made them: %', readers;
	END IF;
END
$$;

-- Grants the roles of users what they may do with the new objects.
SELECT clutch.grant_again();
