-- ------------------------------------------------------------------ quotas
-- How much a role may have open or send.  A role without a row of some kind has
-- the quota of grantee 0, if there is one.
CREATE TABLE clutch.quota (
	grantee			regrole NOT NULL,	-- dumped by name; 0: every role without a row of its own
	what			text COLLATE "C" NOT NULL CHECK (what IN ('open_requests', 'steps', 'subscriptions', 'subscription_members',
		'schedules', 'artifact_bytes', 'events_per_minute', 'bytes_per_minute', 'bytes_per_day')),
	value			bigint NOT NULL CHECK (value >= 0),
	CONSTRAINT quota_pkey PRIMARY KEY (grantee, what)
);

-- How often the quotas of each kind have refused something.  A refusal aborts its
-- transaction, so the number is changed in place and not by the transaction; see trust/quota.h.
CREATE TABLE clutch.quota_refusal (
	what			text COLLATE "C" NOT NULL,
	n				bigint NOT NULL,
	CONSTRAINT quota_refusal_pkey PRIMARY KEY (what)
);
INSERT INTO clutch.quota_refusal (what, n)
VALUES ('open_requests', 0), ('steps', 0), ('subscriptions', 0), ('subscription_members', 0), ('schedules', 0),
	('artifact_bytes', 0), ('events_per_minute', 0), ('bytes_per_minute', 0), ('bytes_per_day', 0);

-- The role for which a request or a step counts.  Only roles that have such a quota have rows.
CREATE TABLE clutch.open_work (
	grantee			regrole NOT NULL,	-- dumped by name
	what			text COLLATE "C" NOT NULL,	-- open_requests, steps
	task_id			text COLLATE "C" NOT NULL,
	seq				bigint NOT NULL,	-- seq of the event
	CONSTRAINT open_work_pkey PRIMARY KEY (grantee, what, task_id, seq)
) WITH (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX open_work_seq ON clutch.open_work (seq);

-- What roles with a quota on it have sent.  There is a row for each transaction and
-- minute, until the rows are merged.
CREATE TABLE clutch.traffic (
	grantee			regrole NOT NULL,	-- dumped by name
	minute			timestamptz NOT NULL,	-- bytes of minutes that are over are moved to the first minute of their day
	events			bigint NOT NULL,
	bytes			bigint NOT NULL
) WITH (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX traffic_key ON clutch.traffic (grantee, minute);

-- Backends cache the quotas.
CREATE FUNCTION clutch.quotas_changed() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_quotas_changed'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.quotas_changed() IS
	'trigger: makes every backend read the quotas again';

CREATE TRIGGER quotas_changed
	AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON clutch.quota
	FOR EACH STATEMENT EXECUTE FUNCTION clutch.quotas_changed();
ALTER TABLE clutch.quota ENABLE ALWAYS TRIGGER quotas_changed;

CREATE FUNCTION clutch.set_quota(role_name text, what text, value bigint) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r regrole := 0;
	kinds constant text[] := '{open_requests, steps, subscriptions, subscription_members, schedules, artifact_bytes, events_per_minute, bytes_per_minute, bytes_per_day}';
BEGIN
	IF set_quota.what IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
			MESSAGE = 'argument "what" must not be null',
			DETAIL = '[{"argument": "what", "code": "NULL_VALUE"}]';
	ELSIF set_quota.what <> ALL (kinds) THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid kind of quota "%s"', set_quota.what),
			DETAIL = '[{"argument": "what", "code": "WRONG_VALUE"}]',
			HINT = format('The kinds are %s.', array_to_string(kinds, ', '));
	ELSIF set_quota.value < 0 THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('argument "value" must not be negative, but is %s', set_quota.value),
			DETAIL = '[{"argument": "value", "code": "NUMBER_OUT_OF_RANGE"}]',
			HINT = 'Pass 0 to allow nothing, or NULL to remove the limit.';
	END IF;
	-- A role may be named "Public"; with another collation, lower('I') need not be 'i'.
	IF lower(role_name COLLATE "C") <> 'public' OR to_regrole(quote_ident(role_name)) IS NOT NULL THEN
		r := clutch.require_role(role_name);
	END IF;
	IF set_quota.value IS NULL THEN
		DELETE FROM clutch.quota q WHERE q.grantee = r AND q.what = set_quota.what;
	ELSE
		INSERT INTO clutch.quota AS q VALUES (r, set_quota.what, set_quota.value)
			ON CONFLICT ON CONSTRAINT quota_pkey DO UPDATE SET value = EXCLUDED.value;
	END IF;
END
$$;
COMMENT ON FUNCTION clutch.set_quota(text, text, bigint) IS
	'limits how much a role may have open or send or, with NULL or PUBLIC as the role, every role that has no limit of its own; a limit of NULL removes it';

-- Reads tables that the caller may not read, but shows agents only their own role's use.
CREATE FUNCTION clutch.quota_use(OUT role regrole, OUT what text, OUT value bigint, OUT used bigint)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_quota_use' LANGUAGE C STABLE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION clutch.quota_use() IS
	'the quotas and what is used of them: of all roles for operators and readers, of the current role for others';

CREATE VIEW clutch.quotas WITH (security_invoker = true) AS
SELECT q.role, q.what, q.value, q.used FROM clutch.quota_use() q;
COMMENT ON VIEW clutch.quotas IS
	'the quotas of roles, and how much of each is used; without a role, what holds for every role that has no quota of its own';
