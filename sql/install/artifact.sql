-- ---------------------------------------------------------------- artifacts
-- Content that is too large for an envelope (spec 8.2), written by C (store/artifact).
CREATE TABLE clutch.artifact (
	digest			text COLLATE "C" NOT NULL,	-- SHA-256, in hexadecimal
	media_type		text NOT NULL,
	bytes			bigint NOT NULL,
	content_no		bigint NOT NULL,		-- of its chunks; drawn from queue_no
	uploaded_at		timestamptz NOT NULL,
	CONSTRAINT artifact_pkey PRIMARY KEY (digest)
);
CREATE INDEX artifact_uploaded_at ON clutch.artifact (uploaded_at, digest);

-- The content, in chunks of at most a megabyte.
CREATE TABLE clutch.artifact_chunk (
	content_no		bigint NOT NULL,
	first_byte		bigint NOT NULL,
	content			bytea COMPRESSION lz4 NOT NULL,
	CONSTRAINT artifact_chunk_pkey PRIMARY KEY (content_no, first_byte)
);

-- Uploads in pieces that are not finished yet.
CREATE TABLE clutch.artifact_upload (
	content_no		bigint NOT NULL,
	owner			regrole NOT NULL,		-- dumped by name
	media_type		text NOT NULL,
	bytes			bigint NOT NULL,		-- so far
	begun_at		timestamptz NOT NULL,
	CONSTRAINT artifact_upload_pkey PRIMARY KEY (content_no)
);
CREATE INDEX artifact_upload_owner ON clutch.artifact_upload (owner);	-- for the quotas of the owners

-- The roles that have uploaded an artifact.
CREATE TABLE clutch.artifact_owner (
	digest			text COLLATE "C" NOT NULL,
	owner			regrole NOT NULL,		-- dumped by name
	CONSTRAINT artifact_owner_pkey PRIMARY KEY (digest, owner)
);
CREATE INDEX artifact_owner_owner ON clutch.artifact_owner (owner, digest);

-- The events that attach an artifact, if their senders were allowed to read it.
CREATE TABLE clutch.artifact_use (
	seq				bigint NOT NULL,		-- seq of the event
	digest			text COLLATE "C" NOT NULL,
	run_id			text COLLATE "C" NOT NULL,
	CONSTRAINT artifact_use_pkey PRIMARY KEY (seq, digest)
);
CREATE INDEX artifact_use_digest ON clutch.artifact_use (digest);

CREATE VIEW clutch.artifacts WITH (security_invoker = true) AS
SELECT 'artifact:sha256:' || a.digest AS ref, a.media_type, a.bytes, a.uploaded_at,
	   (SELECT count(*) FROM clutch.artifact_use u WHERE u.digest = a.digest) AS events
FROM clutch.artifact a;
COMMENT ON VIEW clutch.artifacts IS
	'the artifacts of this database, and how many events of the log attach each of them';

CREATE VIEW clutch.artifact_metrics WITH (security_invoker = true) AS
WITH kept(state, n, bytes) AS (
	SELECT k.state, count(*), sum(k.bytes)
	-- a join, because a look at the index for each artifact takes several times as long
	FROM (SELECT CASE WHEN u.digest IS NULL THEN 'unused' ELSE 'attached' END, a.bytes
		  FROM clutch.artifact a LEFT JOIN (SELECT DISTINCT u.digest FROM clutch.artifact_use u) AS u ON u.digest = a.digest
		  UNION ALL
		  SELECT 'unfinished', p.bytes FROM clutch.artifact_upload p) AS k(state, bytes)
	GROUP BY k.state),
by_state AS (
	SELECT pg_catalog.jsonb_build_object('state', s.state) AS labels, coalesce(k.n, 0) AS n, coalesce(k.bytes, 0) AS bytes
	FROM (VALUES ('attached'), ('unused'), ('unfinished')) AS s(state) LEFT JOIN kept k ON k.state = s.state)
	SELECT 'clutch_artifacts'::text AS name, b.labels, b.n::double precision AS value FROM by_state b
UNION ALL
	SELECT 'clutch_artifact_bytes', b.labels, b.bytes FROM by_state b
UNION ALL
	SELECT 'clutch_artifact_chunks_unreferenced', '{}', count(*)
	FROM clutch.artifact_chunk c
	WHERE NOT EXISTS (SELECT FROM clutch.artifact a WHERE a.content_no = c.content_no)
	  AND NOT EXISTS (SELECT FROM clutch.artifact_upload p WHERE p.content_no = c.content_no);
COMMENT ON VIEW clutch.artifact_metrics IS 'the part of clutch.metrics() that is about artifacts';

CREATE FUNCTION clutch.put_artifact(content bytea, media_type text) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_put_artifact' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.put_artifact(bytea, text) IS
	'keeps content outside of envelopes, once, and returns the reference to attach';

CREATE FUNCTION clutch.begin_artifact(media_type text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'clutch_begin_artifact' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.begin_artifact(text) IS
	'begins to upload an artifact in pieces; returns the number of the upload';

CREATE FUNCTION clutch.append_artifact(upload bigint, content bytea) RETURNS bigint
	AS 'MODULE_PATHNAME', 'clutch_append_artifact' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.append_artifact(bigint, bytea) IS
	'appends a piece to an upload; returns how many bytes it has now';

CREATE FUNCTION clutch.finish_artifact(upload bigint) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_finish_artifact' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.finish_artifact(bigint) IS
	'ends an upload, and returns the reference to attach';

CREATE FUNCTION clutch.get_artifact(ref text, from_byte bigint DEFAULT 0, bytes bigint DEFAULT NULL) RETURNS bytea
	AS 'MODULE_PATHNAME', 'clutch_get_artifact' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.get_artifact(text, bigint, bigint) IS
	'the content of an artifact, or a range of it, for whoever has uploaded it or may read an event that attaches it';
