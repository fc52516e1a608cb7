-- -------------------------------------------------------------------- dump
-- The log and the state are both data, and pg_dump writes both, so that a
-- restore does not route or announce anything again.  The function is called
-- for one table at a time, because each call updates the same row.
DO $$
DECLARE
	member regclass;
BEGIN
	FOR member IN
		SELECT c.oid FROM pg_catalog.pg_class c
		WHERE c.relnamespace OPERATOR(pg_catalog.=) 'clutch'::regnamespace
		  AND c.relkind IN ('r', 'S') AND c.relname OPERATOR(pg_catalog.<>) 'copy_begun'
		  -- users may have made tables of their own in the schema, which are dumped anyway
		  AND EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
			WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::regclass AND d.objid OPERATOR(pg_catalog.=) c.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'
			  AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::regclass AND e.extname OPERATOR(pg_catalog.=) 'clutch')
		ORDER BY c.oid
	LOOP
		-- If a role was dropped, its OID is left as a number, which would mean
		-- another role in another cluster.
		PERFORM pg_catalog.pg_extension_config_dump(member,
			CASE WHEN member OPERATOR(pg_catalog.=) 'clutch.quota'::regclass
				 THEN 'WHERE grantee::pg_catalog.oid OPERATOR(pg_catalog.=) 0 OR EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) grantee)'
				 WHEN member OPERATOR(pg_catalog.=) ANY ('{clutch.principal,clutch.privilege,clutch.open_work,clutch.traffic}'::regclass[])
				 THEN 'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) grantee)'
				 WHEN member OPERATOR(pg_catalog.=) ANY ('{clutch.subscription,clutch.subscription_position,clutch.schedule,clutch.artifact_upload,clutch.artifact_owner}'::regclass[])
				 THEN 'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) owner)'
				 WHEN member OPERATOR(pg_catalog.=) ANY ('{clutch.payload_type,clutch.adapter}'::regclass[])
				 THEN 'WHERE NOT builtin'
				 -- these rows are created with the extension, and count from 0
				 WHEN member OPERATOR(pg_catalog.=) 'clutch.quota_refusal'::regclass
				 THEN 'WHERE false'
				 ELSE '' END);
	END LOOP;
END
$$;
