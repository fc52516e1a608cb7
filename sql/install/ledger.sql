-- ------------------------------------------------------------------- proofs
-- The tree of RFC 6962 over the log (docs/proofs.md).  These tables are not
-- derived from the log: they say what it was.  Rows are only ever inserted.

-- The heads of the tree, and which events each of them has added, in order of seq.
CREATE TABLE clutch.checkpoint (
	size			bigint NOT NULL,		-- number of leaves of the tree, including these
	root			bytea NOT NULL,
	members			int8multirange NOT NULL,	-- the seqs
	epoch			integer NOT NULL,		-- all transactions of the epoch are sealed
	xid				xid8 NOT NULL,			-- that come before this one
	sealed_at		timestamptz NOT NULL,
	origin			text NOT NULL,			-- the name of the log
	CONSTRAINT checkpoint_pkey PRIMARY KEY (size)
);
CREATE INDEX checkpoint_members ON clutch.checkpoint USING gist (members);

-- Signatures on the heads, which are made outside the database.
CREATE TABLE clutch.checkpoint_signature (
	size			bigint NOT NULL,		-- size of the checkpoint
	signer			text COLLATE "C" NOT NULL,	-- the name of the key
	public_key		bytea NOT NULL,			-- Ed25519
	signature		bytea NOT NULL,
	added_at		timestamptz NOT NULL,
	CONSTRAINT checkpoint_signature_pkey PRIMARY KEY (size, signer)
);

-- Up to 32 consecutive hashes of the leaves, or of complete subtrees of one height.
CREATE TABLE clutch.tree_hash (
	height			integer NOT NULL,		-- 0, 5, 10, ...
	first_index		bigint NOT NULL,
	hashes			bytea NOT NULL,			-- 32 bytes each
	CONSTRAINT tree_hash_pkey PRIMARY KEY (height, first_index)
);

-- The text of a note ends with a newline.  A blank line and the signatures follow.
CREATE VIEW clutch.checkpoints WITH (security_invoker = true) AS
SELECT c.size, c.root, c.sealed_at, c.origin,
	   pg_catalog.lower(c.members) AS first_seq, pg_catalog.upper(c.members) - 1 AS last_seq,
	   pg_catalog.format(E'%s\n%s\n%s\n', c.origin, c.size, pg_catalog.encode(c.root, 'base64'))
	   || coalesce(s.lines, '') AS note
FROM clutch.checkpoint c
LEFT JOIN LATERAL (
	SELECT E'\n' || pg_catalog.string_agg(pg_catalog.format(E'%s %s %s\n', pg_catalog.chr(8212), g.signer,
			pg_catalog.translate(pg_catalog.encode(
				pg_catalog.substr(pg_catalog.sha256(pg_catalog.convert_to(g.signer, 'UTF8') || E'\\x0a01'::bytea || g.public_key), 1, 4)
				|| g.signature, 'base64'), E'\n', '')), '' ORDER BY g.added_at, g.signer) AS lines
	FROM clutch.checkpoint_signature g WHERE g.size = c.size) s ON true;
COMMENT ON VIEW clutch.checkpoints IS
	'the heads of the tree over the log; note is the text to keep outside, with the signatures that were added';

-- One look at the index for each epoch since the last seal.
CREATE VIEW clutch.ledger_metrics WITH (security_invoker = true) AS
SELECT 'clutch_unsealed_seconds'::text AS name, '{}'::jsonb AS labels,
	   greatest(coalesce(extract(epoch FROM clutch.now() - min(e.received_at)), 0), 0)::double precision AS value
FROM (SELECT coalesce(max(c.epoch), 1) AS epoch, coalesce(max(c.xid), '0') AS xid
	  FROM (SELECT n.epoch, n.xid FROM clutch.checkpoint n ORDER BY n.size DESC LIMIT 1) AS c) AS sealed
JOIN clutch.stored_epochs h ON h.epoch >= sealed.epoch
CROSS JOIN LATERAL (
	SELECT v.received_at FROM clutch.events v
	WHERE v.epoch = h.stored_as AND v.xid >= CASE WHEN h.epoch = sealed.epoch THEN sealed.xid ELSE '0' END
	ORDER BY v.epoch, v.xid LIMIT 1) AS e
WHERE coalesce(nullif(pg_catalog.current_setting('clutch.seal_interval', true), ''), '10 s')::interval > '0';
COMMENT ON VIEW clutch.ledger_metrics IS 'the part of clutch.metrics() that is about the tree over the log';

CREATE FUNCTION clutch.seal(max_events bigint DEFAULT 1000000) RETURNS bigint
	AS 'MODULE_PATHNAME', 'clutch_seal' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.seal(bigint) IS
	'adds the committed events of the log to the tree now; returns how many, 0 if there are none that can be sealed yet';

CREATE FUNCTION clutch.prove(seq bigint, OUT leaf_index bigint, OUT tree_size bigint, OUT root bytea,
		OUT leaf_hash bytea, OUT path bytea[], OUT leaf bytea)
	RETURNS record
	AS 'MODULE_PATHNAME', 'clutch_prove' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.prove(bigint) IS
	'proves that an event is in the tree over the log: the path of RFC 6962 from its leaf to the root of the newest checkpoint';

CREATE FUNCTION clutch.consistency(first_size bigint, second_size bigint, OUT first_root bytea,
		OUT second_root bytea, OUT path bytea[])
	RETURNS record
	AS 'MODULE_PATHNAME', 'clutch_consistency' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.consistency(bigint, bigint) IS
	'proves that the tree of the second size begins with all leaves of the tree of the first size (RFC 6962, 2.1.2)';

CREATE FUNCTION clutch.verify_log(OUT code text, OUT detail text, OUT hint text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_verify_log' LANGUAGE C STABLE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION clutch.verify_log() IS
	'compares every sealed event with the tree over the log, and the tree with its checkpoints; no rows: the log is what was sealed';

CREATE FUNCTION clutch.add_checkpoint_signature(size bigint, signer text, public_key bytea, signature bytea) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_add_checkpoint_signature' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.add_checkpoint_signature(bigint, text, bytea, bytea) IS
	'keeps an Ed25519 signature on the note of a checkpoint, made outside; returns false if that signer has signed it already';
