-- ------------------------------------------------------------------- trust
CREATE FUNCTION clutch.canonical(document jsonb) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_canonical'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION clutch.canonical(jsonb) IS
	'the canonical text of a document (RFC 8785), the same for all who write the same document';

CREATE FUNCTION clutch.signing_bytes(envelope jsonb) RETURNS bytea
	AS 'MODULE_PATHNAME', 'clutch_signing_bytes'
	LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION clutch.signing_bytes(jsonb) IS
	'what an agent signs: the protocol, clutch.audience and the canonical envelope without security.auth.sig';

CREATE FUNCTION clutch.ed25519_verify(message bytea, signature bytea, public_key bytea) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_ed25519_verify'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION clutch.ed25519_verify(bytea, bytea, bytea) IS
	'whether it is the Ed25519 signature (RFC 8032) of the message';

-- ------------------------------------------------------------- public keys
-- A row is never removed, and changed only to revoke the key, because it is
-- still needed to verify what was signed before.
CREATE TABLE clutch.agent_key (
	agent_id		text COLLATE "C" NOT NULL,
	kid				text COLLATE "C" NOT NULL,
	public_key		bytea NOT NULL CHECK (octet_length(public_key) = 32),
	valid_from		timestamptz NOT NULL,
	valid_until		timestamptz,		-- NULL: it has no end
	revoked_at		timestamptz,		-- NULL: it is not revoked
	added_at		timestamptz NOT NULL,
	CONSTRAINT agent_key_pkey PRIMARY KEY (agent_id, kid)
);

-- Backends cache the keys.
CREATE FUNCTION clutch.keys_changed() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_keys_changed'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.keys_changed() IS
	'trigger: makes every backend read the keys again';

CREATE TRIGGER keys_changed
	AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON clutch.agent_key
	FOR EACH STATEMENT EXECUTE FUNCTION clutch.keys_changed();
ALTER TABLE clutch.agent_key ENABLE ALWAYS TRIGGER keys_changed;

CREATE FUNCTION clutch.add_key(
		agent_id text,
		kid text,
		public_key bytea,
		valid_from timestamptz DEFAULT NULL,
		valid_until timestamptz DEFAULT NULL)
	RETURNS void
	AS 'MODULE_PATHNAME', 'clutch_add_key'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.add_key(text, text, bytea, timestamptz, timestamptz) IS
	'adds a public key (Ed25519) by which an agent may sign, from now on or from valid_from, until valid_until or without end';

CREATE FUNCTION clutch.revoke_key(agent_id text, kid text) RETURNS void
	AS 'MODULE_PATHNAME', 'clutch_revoke_key'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.revoke_key(text, text) IS
	'from now on, refuses what is signed by this key, whenever it was signed; events in the log stay verified';

CREATE FUNCTION clutch.check_signature(envelope jsonb, at timestamptz DEFAULT NULL)
	RETURNS TABLE (path text, code text, message text)
	AS 'MODULE_PATHNAME', 'clutch_check_signature'
	LANGUAGE C STABLE PARALLEL UNSAFE COST 1000 ROWS 1;
COMMENT ON FUNCTION clutch.check_signature(jsonb, timestamptz) IS
	'what is wrong with the signature of an envelope that was received at a time, or now; no rows if it is valid';

CREATE VIEW clutch.keys WITH (security_invoker = true) AS
SELECT k.agent_id, k.kid, k.public_key, k.valid_from, k.valid_until, k.revoked_at, k.added_at,
	   k.revoked_at IS NULL AND clutch.now() >= k.valid_from
		   AND (k.valid_until IS NULL OR clutch.now() < k.valid_until) AS is_valid
FROM clutch.agent_key k;
COMMENT ON VIEW clutch.keys IS 'the public keys of agents, and which of them are valid now';
