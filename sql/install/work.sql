-- --------------------------------------------------------------------- work
CREATE FUNCTION clutch.claim(agent_id text, max_tasks integer DEFAULT 1, lease interval DEFAULT '60 s',
		OUT task_id text, OUT attempt integer, OUT lease_until timestamptz, OUT deadline timestamptz,
		OUT reason text, OUT last_progress jsonb, OUT answer jsonb, OUT seq bigint, OUT envelope jsonb, OUT context jsonb)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_claim' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION clutch.claim(text, integer, interval) IS
	'claims up to max_tasks of the tasks assigned to the agent, the most urgent first, and gives it a lease on them';

CREATE FUNCTION clutch.extend_lease(agent_id text, task_id text, attempt integer, lease interval DEFAULT '60 s',
		OUT lease_until timestamptz, OUT state text)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_extend_lease' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION clutch.extend_lease(text, text, integer, interval) IS
	'extends the lease on a claimed task; the state is held, cancelled or lost, none of which is an error';

CREATE FUNCTION clutch.progress(agent_id text, task_id text, payload jsonb, attempt integer DEFAULT NULL,
		usage jsonb DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_progress' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.progress(text, text, jsonb, integer, jsonb) IS
	'reports the progress of a task (task.progress), which renews its lease';

CREATE FUNCTION clutch.finish(agent_id text, task_id text, result jsonb DEFAULT '{}', attempt integer DEFAULT NULL,
		payload_type text DEFAULT NULL, usage jsonb DEFAULT NULL, attachments jsonb DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_finish' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.finish(text, text, jsonb, integer, text, jsonb, jsonb) IS
	'reports the result of a task (task.result); the receipt says late if it came too late';

CREATE FUNCTION clutch.fail(agent_id text, task_id text, code text, message text,
		retryable boolean DEFAULT true, details jsonb DEFAULT NULL, attempt integer DEFAULT NULL,
		usage jsonb DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_fail' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.fail(text, text, text, text, boolean, jsonb, integer, jsonb) IS
	'reports that a task failed (task.error)';

CREATE FUNCTION clutch.report(agent_id text, task_id text, type text, payload jsonb DEFAULT '{}', attempt integer DEFAULT NULL,
		meta jsonb DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_report' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.report(text, text, text, jsonb, integer, jsonb) IS
	'sends any report on a task: task.accept, task.progress, task.result, task.error or task.cancel';

CREATE FUNCTION clutch.release(agent_id text, task_id text, attempt integer, reason text DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_release' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.release(text, text, integer, text) IS
	'gives a task back, which is then routed again, to another agent if possible';

CREATE FUNCTION clutch.step(agent_id text, task_id text, name text, output jsonb DEFAULT 'null', attempt integer DEFAULT NULL)
	RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_step' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.step(text, text, text, jsonb, integer) IS
	'keeps the output of a named step of the work, once; a repeated call, also by a later attempt, returns what was kept';

CREATE FUNCTION clutch.suspend(agent_id text, task_id text, wait jsonb, note jsonb DEFAULT NULL, attempt integer DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_suspend' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.suspend(text, text, jsonb, jsonb, integer) IS
	'gives the slot of a task back until its children are over, a time has come or a message has arrived; then it can be claimed again';

CREATE FUNCTION clutch.cancel(task_id text, reason text DEFAULT NULL, by_agent text DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_cancel' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.cancel(text, text, text) IS
	'cancels a task (task.cancel); the receipt says late if the task was over already';

CREATE FUNCTION clutch.cancel_run(run_id text, reason text DEFAULT NULL, by_agent text DEFAULT NULL) RETURNS bigint
	AS 'MODULE_PATHNAME', 'clutch_cancel_run' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.cancel_run(text, text, text) IS
	'cancels every task of a run that is not over, and returns how many there were';

CREATE FUNCTION clutch.retry(task_id text, by_agent text DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_retry' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.retry(text, text) IS
	'revives a task that failed, timed out or was cancelled, and routes its next attempt';

CREATE FUNCTION clutch.retry_run(run_id text, by_agent text DEFAULT NULL) RETURNS SETOF clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_retry_run' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION clutch.retry_run(text, text) IS
	'revives the tasks of a run that failed or timed out; completed tasks stay completed';

CREATE FUNCTION clutch.set_retry_policy(payload_type text, max integer DEFAULT NULL,
		initial interval DEFAULT NULL, longest interval DEFAULT NULL, factor double precision DEFAULT NULL)
	RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	fault record;
BEGIN
	IF set_retry_policy.payload_type IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
			MESSAGE = 'argument "payload_type" must not be null',
			DETAIL = '[{"argument": "payload_type", "code": "NULL_VALUE"}]';
	END IF;
	-- The limits are those of the table's constraints, in the unit that is stored there.
	SELECT * INTO fault
	FROM (VALUES
		('max', set_retry_policy.max NOT BETWEEN 0 AND 1000, 'between 0 and 1000'),
		('initial', extract(epoch FROM set_retry_policy.initial) * 1000 NOT BETWEEN 0 AND 31622400000, 'between 0 and 366 days'),
		('longest', extract(epoch FROM set_retry_policy.longest) * 1000 NOT BETWEEN 0 AND 31622400000, 'between 0 and 366 days'),
		('factor', set_retry_policy.factor NOT BETWEEN 1 AND 100, 'between 1 and 100')
	) AS f(argument, is_wrong, allowed)
	WHERE is_wrong LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('argument "%s" must be %s', fault.argument, fault.allowed),
			DETAIL = format('[{"argument": "%s", "code": "NUMBER_OUT_OF_RANGE"}]', fault.argument),
			HINT = 'Pass NULL to leave it to the settings and the cards of the agents.';
	END IF;
	IF num_nonnulls(set_retry_policy.max, set_retry_policy.initial, set_retry_policy.longest, set_retry_policy.factor) = 0 THEN
		DELETE FROM clutch.retry_policy r WHERE r.payload_type = set_retry_policy.payload_type;
	ELSE
		PERFORM clutch.require_identifier(set_retry_policy.payload_type, 'payload_type', 'word');
		INSERT INTO clutch.retry_policy AS r
		VALUES (set_retry_policy.payload_type, set_retry_policy.max,
				(extract(epoch FROM set_retry_policy.initial) * 1000)::bigint,
				(extract(epoch FROM set_retry_policy.longest) * 1000)::bigint, set_retry_policy.factor)
		ON CONFLICT ON CONSTRAINT retry_policy_pkey DO UPDATE
			SET (max, initial_ms, max_ms, factor) = (EXCLUDED.max, EXCLUDED.initial_ms, EXCLUDED.max_ms, EXCLUDED.factor);
	END IF;
END
$$;
COMMENT ON FUNCTION clutch.set_retry_policy(text, integer, interval, interval, double precision) IS
	'sets how often, and after what delay, failed tasks of a payload type are retried; with the type alone, removes the setting';

CREATE FUNCTION clutch.answer(task_id text, payload jsonb, by_agent text DEFAULT NULL)
	RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_answer' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.answer(text, jsonb, text) IS
	'answers the question of a parked task (chat.message), which then continues; the receipt says late if it was answered before';
