-- -------------------------------------------------------------------- dump
-- Log and state are data: pg_dump carries both, so that nothing is routed or
-- announced again by a restore.  One by one: each call updates the same row.
DO $$
DECLARE
	member regclass;
BEGIN
	FOR member IN
		SELECT c.oid FROM pg_catalog.pg_class c
		WHERE c.relnamespace OPERATOR(pg_catalog.=) 'clutch'::regnamespace
		  AND c.relkind IN ('r', 'S')
		ORDER BY c.oid
	LOOP
		PERFORM pg_catalog.pg_extension_config_dump(member, '');
	END LOOP;
END
$$;
