\echo Use "CREATE EXTENSION clutch" to load this file. \quit

-- Refused if somebody made the schema before us: what is in it would be ours.
CREATE SCHEMA clutch;
REVOKE ALL ON SCHEMA clutch FROM PUBLIC;
COMMENT ON SCHEMA clutch IS 'clutch: event log, routing and delivery for multi-agent systems';

-- Canonical forms and hashes are defined over UTF-8 alone.
DO $$
BEGIN
	IF pg_catalog.current_setting('server_encoding') OPERATOR(pg_catalog.<>) 'UTF8' THEN
		RAISE EXCEPTION USING ERRCODE = 'feature_not_supported',
			MESSAGE = 'clutch needs a database with encoding UTF8',
			HINT = 'Create the database with ENCODING ''UTF8'' TEMPLATE template0.';
	END IF;
END
$$;
