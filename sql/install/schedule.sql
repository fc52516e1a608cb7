-- -------------------------------------------------------------- schedules
CREATE FUNCTION clutch.send_at(envelope jsonb, at timestamptz) RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_send_at' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.send_at(jsonb, timestamptz) IS
	'sends a task.request that is not routed before that time';

CREATE FUNCTION clutch.schedule(name text, cron text, envelope jsonb, timezone text DEFAULT 'UTC') RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'clutch_schedule' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.schedule(text, text, jsonb, text) IS
	'sends an envelope repeatedly, at the times of a crontab(5) schedule; returns the first time';

CREATE FUNCTION clutch.unschedule(name text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_unschedule' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.unschedule(text) IS 'removes a schedule; returns false if it did not exist';

CREATE VIEW clutch.schedules WITH (security_invoker = true) AS
SELECT	name, cron, timezone, next_at, last_at, last_error, runs, missed, owner, envelope, created_at
FROM clutch.schedule;
COMMENT ON VIEW clutch.schedules IS
	'the schedules: when each is due next, the last time that it was sent for, and the last error';
