-- Until 0.2.0, every role that could read the log was a reader.
INSERT INTO clutch.privilege
SELECT a.grantee, 'reader', NULL
FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
WHERE c.oid OPERATOR(pg_catalog.=) 'clutch.events'::regclass AND a.privilege_type OPERATOR(pg_catalog.=) 'SELECT'
  AND a.grantee OPERATOR(pg_catalog.<>) c.relowner AND a.grantee OPERATOR(pg_catalog.<>) 0
ON CONFLICT DO NOTHING;

-- Grants the roles of users what they may do with the new objects.
SELECT clutch.grant_again();
