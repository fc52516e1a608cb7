-- ---------------------------------------------------------------- sending
CREATE TYPE clutch.receipt AS (
	seq			bigint,
	id			text,
	duplicate	boolean,
	run_id		text,
	task_id		text,
	late		boolean
);

CREATE FUNCTION clutch.send(envelope jsonb) RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_send' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.send(jsonb) IS
	'appends an envelope to the log; a resend returns the first receipt, with duplicate = true';

CREATE FUNCTION clutch.send_batch(envelopes jsonb[]) RETURNS SETOF clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_send_batch' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100;
COMMENT ON FUNCTION clutch.send_batch(jsonb[]) IS
	'appends envelopes in order, all or none of them, and returns a receipt for each';
