-- Until 0.2.0, a reader was a role that could read the log.
INSERT INTO clutch.privilege
SELECT a.grantee, 'reader', NULL
FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
WHERE c.oid OPERATOR(pg_catalog.=) 'clutch.events'::regclass AND a.privilege_type OPERATOR(pg_catalog.=) 'SELECT'
  AND a.grantee OPERATOR(pg_catalog.<>) c.relowner AND a.grantee OPERATOR(pg_catalog.<>) 0
ON CONFLICT DO NOTHING;

-- What the roles of users may do with the objects that are new.
SELECT clutch.grant_again();
