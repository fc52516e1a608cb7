-- -------------------------------------------------------------- the secret
-- A random number of this database, from which IDs are derived that nobody else can
-- compute (trust/secret.h).  A restored database has a row of its own and the older
-- one of the dump, which counts.  Without a policy, row-level security hides the
-- rows from everybody but the owner and superusers, whatever is granted.
CREATE TABLE clutch.secret (
	made_at			timestamptz NOT NULL,
	value			bytea NOT NULL
);
CREATE INDEX secret_key ON clutch.secret (made_at);
ALTER TABLE clutch.secret ENABLE ROW LEVEL SECURITY;

-- Each of these has 122 bits of the server's strong random source.
INSERT INTO clutch.secret
SELECT pg_catalog.clock_timestamp(), pg_catalog.sha256(pg_catalog.string_agg(pg_catalog.uuid_send(pg_catalog.gen_random_uuid()), ''))
FROM pg_catalog.generate_series(1, 3);
