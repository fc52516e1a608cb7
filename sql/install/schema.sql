\echo Use "CREATE EXTENSION clutch" to load this file. \quit

-- The library reads and writes rows by the functions of heap.
SET LOCAL default_table_access_method = heap;

-- This fails if the schema exists: the extension would adopt whatever is in it.
CREATE SCHEMA clutch;
REVOKE ALL ON SCHEMA clutch FROM PUBLIC;

-- ALTER DEFAULT PRIVILEGES may have given roles rights on new schemas; see grants.sql.
DO $$
DECLARE
	grantee text;
BEGIN
	FOR grantee IN SELECT DISTINCT a.grantee::pg_catalog.regrole::text
			FROM pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) AS a
			WHERE n.nspname OPERATOR(pg_catalog.=) 'clutch' AND a.grantee OPERATOR(pg_catalog.<>) n.nspowner LOOP
		EXECUTE pg_catalog.format('REVOKE ALL ON SCHEMA clutch FROM %s', grantee);
	END LOOP;
END
$$;
COMMENT ON SCHEMA clutch IS 'clutch: event log, routing and delivery for multi-agent systems';

-- Canonical forms and hashes are defined for UTF-8 only.
DO $$
BEGIN
	IF pg_catalog.current_setting('server_encoding') OPERATOR(pg_catalog.<>) 'UTF8' THEN
		RAISE EXCEPTION USING ERRCODE = 'feature_not_supported',
			MESSAGE = 'clutch requires a database with encoding UTF8',
			HINT = 'Create the database with ENCODING ''UTF8'' TEMPLATE template0.';
	END IF;
END
$$;
