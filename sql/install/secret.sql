-- -------------------------------------------------------------- the secret
-- A random number of this database, from which IDs are derived that nobody else can
-- compute (trust/secret.h).  A restored database has two rows: its own and the
-- older one of the dump, which is the one that counts.  As there is no policy,
-- row-level security hides all rows from everybody but the owner and superusers,
-- whatever has been granted.
CREATE TABLE clutch.secret (
	made_at			timestamptz NOT NULL,
	value			bytea NOT NULL
);
CREATE INDEX secret_key ON clutch.secret (made_at);
ALTER TABLE clutch.secret ENABLE ROW LEVEL SECURITY;

-- Each UUID has 122 random bits from the server's cryptographically strong source.
-- After an update, the database has been written to before it has a secret; it is as
-- if it had always had one, so that check() does not miss another.
INSERT INTO clutch.secret
SELECT CASE WHEN EXISTS (SELECT FROM clutch.epoch) THEN '-infinity' ELSE pg_catalog.clock_timestamp() END, pg_catalog.sha256(pg_catalog.string_agg(pg_catalog.uuid_send(pg_catalog.gen_random_uuid()), ''))
FROM pg_catalog.generate_series(1, 3);
