-- -------------------------------------------------------------- retention
CREATE FUNCTION clutch.prune(before timestamptz, max_events integer DEFAULT 10000) RETURNS bigint
	AS 'MODULE_PATHNAME', 'clutch_prune' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.prune(timestamptz, integer) IS
	'removes runs that are over, and messages, if they are older; returns how many events it has removed, 0 when nothing is left to remove';

CREATE FUNCTION clutch.redact(seq bigint, reason text) RETURNS void
	AS 'MODULE_PATHNAME', 'clutch_redact' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.redact(bigint, text) IS
	'replaces the payload of an event by its digest, where the law requires erasure';

-- It only reads, and does so with the rights of the caller.
CREATE FUNCTION clutch.export(run_id text) RETURNS SETOF text
	LANGUAGE sql STABLE PARALLEL SAFE ROWS 1000
	BEGIN ATOMIC
	SELECT l.line
	FROM (SELECT 0::bigint AS seq,
				 pg_catalog.jsonb_build_object('clutch_export', 1, 'run_id', export.run_id, 'events', count(*),
					'version', clutch.version(), 'exported_at', clutch.now())::text AS line
		  FROM clutch.events c WHERE c.run_id = export.run_id HAVING count(*) > 0
		  UNION ALL
		  SELECT e.seq,
				 pg_catalog.jsonb_build_object('seq', e.seq, 'received_at', e.received_at, 'attempt', e.attempt, 'late', e.late,
					'judged', e.epoch > 0, 'scope', e.scope, 'envelope', e.envelope)::text
		  FROM clutch.events e WHERE e.run_id = export.run_id) l
	ORDER BY l.seq;
	END;
COMMENT ON FUNCTION clutch.export(text) IS
	'the events of a run as JSON Lines, for clutch.import in another database';

CREATE FUNCTION clutch.import(lines text[]) RETURNS bigint
	AS 'MODULE_PATHNAME', 'clutch_import' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.import(text[]) IS
	'puts a run that clutch.export returned elsewhere into the log, as history; returns how many events, 0 if it is there already';
