-- --------------------------------------------------------------- workflows
-- Workflow definitions, which are written by SQL and not derived from the log;
-- which run is bound to which of them; and what the tasks of the run do.  See
-- contract/workflow.h and contract/binding.h.
CREATE TABLE clutch.workflow (
	name			text COLLATE "C" NOT NULL,
	version			integer NOT NULL,
	definition		jsonb NOT NULL,			-- as registered, without its version
	registered_at	timestamptz NOT NULL,
	removed_at		timestamptz,			-- set instead of deleting the row, for runs that are over
	CONSTRAINT workflow_pkey PRIMARY KEY (name, version)
);

CREATE TABLE clutch.run_workflow (
	run_id			text COLLATE "C" NOT NULL,
	workflow		text COLLATE "C" NOT NULL,
	version			integer NOT NULL,
	CONSTRAINT run_workflow_pkey PRIMARY KEY (run_id)
) WITH (vacuum_truncate = off);

CREATE TABLE clutch.workflow_task (
	task_id			text COLLATE "C" NOT NULL,
	run_id			text COLLATE "C" NOT NULL,
	step			text COLLATE "C",		-- NULL: unknown
	met_seq			bigint,					-- the event that completed the step
	attempt			integer NOT NULL,		-- the attempt that made the faults; both columns are changed
	faults			integer NOT NULL,		-- in place, so they are in no index
	CONSTRAINT workflow_task_pkey PRIMARY KEY (task_id)
);
CREATE INDEX workflow_task_run ON clutch.workflow_task (run_id, step, met_seq);	-- whether any task has completed the step

CREATE VIEW clutch.workflow_step WITH (security_invoker = true) AS
SELECT	w.name AS workflow, w.version, s.place::integer AS place,
		(s.value ->> 'id') COLLATE "C" AS step,
		(coalesce(s.value #>> '{expects,type}', 'task.result')) COLLATE "C" AS type,
		(s.value #>> '{expects,payload_type}') COLLATE "C" AS payload_type,
		ARRAY(SELECT pg_catalog.jsonb_array_elements_text(s.value #> '{expects,required}')) COLLATE "C" AS members,
		ARRAY(SELECT pg_catalog.jsonb_array_elements_text(s.value -> 'after')) COLLATE "C" AS after_steps,
		coalesce((s.value ->> 'optional')::boolean, false) AS is_optional,
		w.removed_at
FROM clutch.workflow w,
	 LATERAL pg_catalog.jsonb_array_elements(w.definition -> 'steps') WITH ORDINALITY AS s(value, place);
COMMENT ON VIEW clutch.workflow_step IS
	'the steps of all workflows: the type, the payload type and the members of the payload of the event that completes a step, the steps after which it comes, whether a run may end without it, and when the version was removed';

CREATE FUNCTION clutch.register_workflow(workflow jsonb) RETURNS integer
	AS 'MODULE_PATHNAME', 'clutch_register_workflow'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.register_workflow(jsonb) IS
	'registers the definition of a workflow, an object or a string that contains YAML, and returns its version';

CREATE FUNCTION clutch.unregister_workflow(name text, version integer) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_unregister_workflow'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.unregister_workflow(text, integer) IS
	'removes a version of a workflow, unless a run that is not over is bound to it; returns whether it was registered';

CREATE FUNCTION clutch.workflow_from_yaml(yaml text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_workflow_from_yaml'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION clutch.workflow_from_yaml(text) IS
	'the definition of a workflow that a YAML text contains, without registering it';

CREATE FUNCTION clutch.workflow_status(run_id text)
	RETURNS TABLE (step text, expects jsonb, is_required boolean, state text, task_id text, agent_id text,
				   attempt integer, faults integer, met_seq bigint)
	LANGUAGE sql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT s.step, pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('type', s.type, 'payload_type', s.payload_type, 'required', s.members)),
		   NOT s.is_optional,
		   CASE WHEN k.met_seq IS NOT NULL THEN 'completed' WHEN k.task_id IS NULL THEN 'missing'
				WHEN t.status = 'completed' THEN 'unmet' ELSE t.status END,
		   k.task_id, t.agent_id, t.attempt, CASE WHEN k.attempt = t.attempt THEN k.faults WHEN k.task_id IS NOT NULL THEN 0 END, k.met_seq
	FROM clutch.run_workflow r
	JOIN clutch.workflow_step s ON s.workflow = r.workflow AND s.version = r.version
	-- if several tasks do a step, take the one that has completed it, or else the last one
	LEFT JOIN LATERAL (
		SELECT w.task_id, w.met_seq, w.attempt, w.faults
		FROM clutch.workflow_task w JOIN clutch.task o ON o.task_id = w.task_id
		WHERE w.run_id = r.run_id AND w.step = s.step
		ORDER BY w.met_seq IS NULL, w.met_seq, o.request_seq DESC LIMIT 1) k ON true
	LEFT JOIN clutch.task t ON t.task_id = k.task_id
	WHERE r.run_id = workflow_status.run_id
	ORDER BY s.place
$$;
COMMENT ON FUNCTION clutch.workflow_status(text) IS
	'the steps of the workflow of a run, and how far each is; no rows for a run without a workflow';

CREATE OR REPLACE VIEW clutch.runs WITH (security_invoker = true) AS
SELECT	r.run_id,
		CASE WHEN r.open > 0 THEN 'running'
			 WHEN r.failed > 0 OR i.is_incomplete THEN 'failed'
			 WHEN r.timed_out > 0 THEN 'timed_out'
			 WHEN r.cancelled > 0 THEN 'cancelled'
			 ELSE 'completed' END AS status,
		r.scope, r.tasks, r.open, r.completed, r.failed, r.cancelled, r.timed_out, r.started_at, r.finished_at,
		w.workflow,
		(CASE WHEN r.open = 0 AND i.is_incomplete THEN 'WORKFLOW_INCOMPLETE' END) COLLATE "C" AS code
FROM (SELECT t.run_id, min(t.scope) AS scope,
			 count(*) AS tasks,
			 count(*) FILTER (WHERE t.finished_at IS NULL) AS open,
			 count(*) FILTER (WHERE t.status = 'completed') AS completed,
			 count(*) FILTER (WHERE t.status = 'failed') AS failed,
			 count(*) FILTER (WHERE t.status = 'cancelled') AS cancelled,
			 count(*) FILTER (WHERE t.status = 'timed_out') AS timed_out,
			 min(t.created_at) AS started_at,
			 CASE WHEN bool_and(t.finished_at IS NOT NULL) THEN max(t.finished_at) END AS finished_at
	  FROM clutch.task t
	  GROUP BY t.run_id) r
LEFT JOIN clutch.run_workflow w ON w.run_id = r.run_id
LEFT JOIN LATERAL (
	SELECT EXISTS (
		SELECT FROM clutch.workflow_step s
		WHERE s.workflow = w.workflow AND s.version = w.version AND NOT s.is_optional
		  AND NOT EXISTS (SELECT FROM clutch.workflow_task k
						  WHERE k.run_id = w.run_id AND k.step = s.step AND k.met_seq IS NOT NULL)) AS is_incomplete
	WHERE w.run_id IS NOT NULL) i ON true;
COMMENT ON VIEW clutch.runs IS
	'runs that have tasks, and their state: a run is running while one of its tasks is open, and failed if it ends without a required step of its workflow';
