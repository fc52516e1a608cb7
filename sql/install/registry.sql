-- ------------------------------------------------------------- the registry
CREATE FUNCTION clutch.register(card jsonb) RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_register' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.register(jsonb) IS
	'registers an agent with its card (an agent.register event), and routes to it the tasks that waited for such an agent';

CREATE FUNCTION clutch.heartbeat(agent_id text) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'clutch_heartbeat' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.heartbeat(text) IS
	'records a sign of life of the agent, and returns the time of it';

CREATE FUNCTION clutch.set_status(agent_id text, status text, reason text DEFAULT NULL) RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_set_status' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.set_status(text, text, text) IS
	'sets the status of an agent: STOPPING takes no new work; STOPPED and UNAVAILABLE give their work back';

CREATE FUNCTION clutch.unregister(agent_id text, reason text DEFAULT NULL) RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_unregister' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.unregister(text, text) IS
	'removes an agent from the registry and gives its tasks to others; what it did stays in the log';

CREATE FUNCTION clutch.pause(what text, reason text DEFAULT NULL) RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_pause' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.pause(text, text) IS
	'gives an agent no new work, or gives nobody tasks that require a capability, until clutch.resume; what is running goes on';

CREATE FUNCTION clutch.resume(what text) RETURNS clutch.receipt
	AS 'MODULE_PATHNAME', 'clutch_resume' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.resume(text) IS
	'ends a pause and offers the tasks that waited; NULL if there was no pause';

CREATE VIEW clutch.paused WITH (security_invoker = true) AS
SELECT	p.what, CASE WHEN p.what LIKE 'agent:%' THEN 'agent' ELSE 'capability' END AS kind,
		p.reason, p.since, p.by_agent, p.seq
FROM clutch.pause p;
COMMENT ON VIEW clutch.paused IS 'agents and capabilities that get no new work until they are resumed';

CREATE FUNCTION clutch.agent_transitions(OUT from_status text, OUT to_status text)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_agent_transitions' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 18;
COMMENT ON FUNCTION clutch.agent_transitions() IS 'the status changes that are allowed for an agent';

CREATE FUNCTION clutch.agents_meeting(requires text[]) RETURNS text[]
	AS 'MODULE_PATHNAME', 'clutch_agents_meeting' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.agents_meeting(text[]) IS
	'the IDs of the registered agents that have every capability on the list, whatever their status or load';

CREATE FUNCTION clutch.breaker(failures bigint, last_failure timestamptz,
		OUT state text, OUT open_until timestamptz)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_breaker' LANGUAGE C VOLATILE PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION clutch.breaker(bigint, timestamptz) IS
	'the state of an agent''s circuit breaker after that many consecutive failures: closed, open or half_open';

CREATE VIEW clutch.breakers WITH (security_invoker = true) AS
SELECT	f.agent_id, b.state, f.failures,
		(SELECT count(*) FROM clutch.agent_failure s
		 WHERE s.agent_id = f.agent_id AND NOT s.failed AND s.seq > f.last_seq) AS successes,
		f.last_failure_at,
		CASE WHEN b.state <> 'closed' THEN b.open_until END AS open_until,
		f.last_seq AS last_failure_seq
FROM (SELECT a.agent_id, count(*) AS failures, max(a.at) AS last_failure_at, max(a.seq) AS last_seq
	  FROM clutch.agent_failure a WHERE a.failed GROUP BY a.agent_id) f
CROSS JOIN LATERAL clutch.breaker(f.failures, f.last_failure_at) b;
COMMENT ON VIEW clutch.breakers IS 'agents that failed their last tasks, and the state of their circuit breakers';

-- Newest generation first: the row that counts is the first one found.
CREATE VIEW clutch.agents WITH (security_invoker = true) AS
SELECT	r.agent_id,
		CASE WHEN r.status = 'READY' AND s.running > 0
				  AND s.running >= coalesce((r.card #>> '{limits,max_concurrency}')::numeric, 1)
			 THEN 'BUSY' ELSE r.status END AS status,
		ARRAY(SELECT c.value ->> 'id'
			  FROM pg_catalog.jsonb_array_elements(r.card -> 'capabilities') WITH ORDINALITY AS c(value, place)
			  ORDER BY c.place) AS capabilities,
		coalesce((r.card #>> '{limits,max_concurrency}')::numeric::integer, 1) AS max_concurrency,
		s.running,
		s.success_rate,
		h.last_seen,
		r.card,
		coalesce((SELECT b.state FROM clutch.breakers b WHERE b.agent_id = r.agent_id), 'closed') AS breaker,
		r.reason,
		EXISTS (SELECT FROM clutch.pause p WHERE p.what = r.agent_id) AS paused
FROM clutch.agent_registry r
CROSS JOIN LATERAL (
	SELECT	count(s.task_id)::integer AS running,
			CASE WHEN sum(s.done + s.failed) > 0
				 THEN sum(s.done)::double precision / sum(s.done + s.failed)
				 ELSE 1 END AS success_rate
	FROM clutch.agent_slot s WHERE s.agent_id = r.agent_id) s
LEFT JOIN LATERAL (
	SELECT max(b.last_seen) AS last_seen
	FROM clutch.agent_heartbeat b WHERE b.agent_id = r.agent_id) h ON true;
COMMENT ON VIEW clutch.agents IS 'the registered agents: their status, capabilities, load and success rate';

CREATE FUNCTION clutch.find_agents(requires text[], status text DEFAULT NULL)
	RETURNS SETOF clutch.agents
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
	SET search_path = pg_catalog, pg_temp
	SET plan_cache_mode = force_generic_plan	-- planning the view takes longer than running it
	AS $$
DECLARE
	meeting text[];
BEGIN
	IF status IS NOT NULL AND status NOT IN (SELECT t.from_status FROM clutch.agent_transitions() t) THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid status "%s"', status),
			DETAIL = '[{"argument": "status", "code": "WRONG_VALUE"}]',
			HINT = 'The status of an agent is INITIALIZING, READY, BUSY, UNAVAILABLE, STOPPING or STOPPED.';
	END IF;
	-- not in the query, which would be the CONTEXT of an error about the list
	meeting := clutch.agents_meeting(requires);
	RETURN QUERY
		SELECT a.* FROM clutch.agents a
		WHERE a.agent_id = ANY (meeting)
		  AND (find_agents.status IS NULL OR a.status = find_agents.status)
		ORDER BY a.agent_id;
END
$$;
COMMENT ON FUNCTION clutch.find_agents(text[], text) IS
	'the agents that have every capability on the list and, if it is given, the status';

CREATE FUNCTION clutch.join_group(group_id text, agent_id text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
BEGIN
	PERFORM clutch.require_identifier(group_id, 'group_id', 'group'), clutch.require_identifier(agent_id, 'agent_id', 'agent');
	INSERT INTO clutch.group_member VALUES (group_id, agent_id) ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION clutch.join_group(text, text) IS 'makes an agent a member of a group, in addition to the groups of its card';

CREATE FUNCTION clutch.leave_group(group_id text, agent_id text) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
BEGIN
	DELETE FROM clutch.group_member m
	WHERE m.group_id = leave_group.group_id AND m.agent_id = leave_group.agent_id;
	RETURN FOUND;
END
$$;
COMMENT ON FUNCTION clutch.leave_group(text, text) IS
	'ends a membership that join_group gave; returns false if it did not exist';
