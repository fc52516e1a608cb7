-- -------------------------------------------------------------- schedules
CREATE FUNCTION clutch.send_at(envelope jsonb, at timestamptz) RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_send_at' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.send_at(jsonb, timestamptz) IS
	'sends a task.request that is routed not before that time';

CREATE FUNCTION clutch.schedule(name text, cron text, envelope jsonb, timezone text DEFAULT 'UTC') RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'clutch_schedule' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.schedule(text, text, jsonb, text) IS
	'sends an envelope again and again, whenever crontab(5) says; answers the first time';

CREATE FUNCTION clutch.unschedule(name text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_unschedule' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.unschedule(text) IS 'forgets a schedule; false: there was none';

CREATE VIEW clutch.schedules WITH (security_invoker = true) AS
SELECT	name, cron, timezone, next_at, last_at, last_error, runs, missed, owner, envelope, created_at
FROM clutch.schedule;
COMMENT ON VIEW clutch.schedules IS
	'what is sent again and again: when next, for which time last, and what went wrong then';
