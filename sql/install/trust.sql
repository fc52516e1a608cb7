-- ------------------------------------------------------------------- trust
CREATE FUNCTION clutch.canonical(document jsonb) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_canonical'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION clutch.canonical(jsonb) IS
	'the canonical text of a document (RFC 8785), the same for all who write the same document';
