-- --------------------------------------------------------- who may read what
CREATE FUNCTION clutch.policy_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'clutch_policy_support' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION clutch.policy_support(internal) IS
	'planner support: puts the value of clutch.reads_all() into plans that are made for one role';

CREATE FUNCTION clutch.reads_all() RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_reads_all' LANGUAGE C STABLE PARALLEL SAFE SUPPORT clutch.policy_support;
COMMENT ON FUNCTION clutch.reads_all() IS 'whether the role may read the whole log';

CREATE FUNCTION clutch.my_agents() RETURNS text[]
	AS 'MODULE_PATHNAME', 'clutch_my_agents' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.my_agents() IS 'the agents that the role was granted by grant_agent';

-- COST: a plan with ORDER BY and LIMIT sorts first, and reads the envelopes of the rows that are left.
CREATE FUNCTION clutch.envelope_of(seq bigint) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_envelope_of' LANGUAGE C STABLE STRICT PARALLEL UNSAFE COST 20;
COMMENT ON FUNCTION clutch.envelope_of(bigint) IS
	'the envelope of an event, by seq; NULL if the role may not read it';

CREATE FUNCTION clutch.slots_held(agent_id text) RETURNS integer
	AS 'MODULE_PATHNAME', 'clutch_slots_held' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.slots_held(text) IS 'how many slots of an agent tasks hold at this moment';

-- ------------------------------------------------------------------- views
CREATE VIEW clutch.tasks WITH (security_invoker = true) AS
SELECT	t.task_id, t.run_id, t.parent_task_id, t.thread_id, t.status, t.agent_id, t.from_agent,
		t.attempt, t.priority, t.requires,
		CASE WHEN t.status IN ('pending', 'input_required', 'suspended') THEN t.waiting_for
			 WHEN t.status = 'running' AND t.lease_until < clutch.now() THEN 'lease' END AS waiting_for,
		t.code, t.detail, t.since,
		CASE WHEN t.finished_at IS NULL THEN least(t.lease_until, t.deadline,
			CASE WHEN t.waiting_for IS DISTINCT FROM 'sibling' THEN t.wake_at END) END AS next_at, t.lease_until, t.deadline, t.created_at,
		t.started_at, t.finished_at, t.result_seq,
		t.scope, t.domain, t.payload_type, t.request_seq, t.retries, t.losses,
		coalesce(t.asked_priority, t.priority) AS asked_priority
FROM clutch.task t;
COMMENT ON VIEW clutch.tasks IS 'every task that was requested, and its state';

CREATE VIEW clutch.runs WITH (security_invoker = true) AS
SELECT	t.run_id,
		CASE WHEN bool_or(t.finished_at IS NULL) THEN 'running'
			 WHEN bool_or(t.status = 'failed') THEN 'failed'
			 WHEN bool_or(t.status = 'timed_out') THEN 'timed_out'
			 WHEN bool_or(t.status = 'cancelled') THEN 'cancelled'
			 ELSE 'completed' END AS status,
		min(t.scope) AS scope,
		count(*) AS tasks,
		count(*) FILTER (WHERE t.finished_at IS NULL) AS open,
		count(*) FILTER (WHERE t.status = 'completed') AS completed,
		count(*) FILTER (WHERE t.status = 'failed') AS failed,
		count(*) FILTER (WHERE t.status = 'cancelled') AS cancelled,
		count(*) FILTER (WHERE t.status = 'timed_out') AS timed_out,
		min(t.created_at) AS started_at,
		CASE WHEN bool_and(t.finished_at IS NOT NULL) THEN max(t.finished_at) END AS finished_at
FROM clutch.task t
GROUP BY t.run_id;
COMMENT ON VIEW clutch.runs IS 'runs that have tasks, and their state: a run is running while one of its tasks is open';

CREATE VIEW clutch.threads WITH (security_invoker = true) AS
SELECT	e.thread_id,
		count(*) AS events,
		count(DISTINCT e.run_id) AS runs,
		count(DISTINCT e.from_agent) AS agents,
		min(e.received_at) AS first_at,
		max(e.received_at) AS last_at,
		max(e.seq) AS last_seq
FROM clutch.events e
GROUP BY e.thread_id;
COMMENT ON VIEW clutch.threads IS 'conversations: the number of their events, runs and agents, and the times of the first and the last event';

-- The dependencies of a run are found through its tasks: an index of their own would cost
-- each of them an entry.
CREATE VIEW clutch.task_edges WITH (security_invoker = true) AS
SELECT t.run_id, t.parent_task_id AS from_task_id, t.task_id AS to_task_id, 'child'::text AS kind
FROM clutch.task t WHERE t.parent_task_id IS NOT NULL
UNION ALL
SELECT d.run_id, d.after_task_id, d.task_id, 'after'
FROM clutch.dependency d
JOIN clutch.task w ON w.task_id = d.task_id AND w.run_id = d.run_id;
COMMENT ON VIEW clutch.task_edges IS 'edges of the task graph: kind child leads from the parent to the subtask, kind after from a task to one that waits for it';

CREATE VIEW clutch.approvals WITH (security_invoker = true) AS
SELECT	t.task_id, t.run_id, t.thread_id, t.agent_id, clutch.envelope_of(q.seq) -> 'payload' AS question,
		t.since AS asked_at, t.wake_at AS deadline, (clutch.envelope_of(q.seq) ->> 'id') COLLATE "C" AS question_id,
		ARRAY(SELECT r.value ->> 'agent_id'
			  FROM pg_catalog.jsonb_array_elements(clutch.envelope_of(q.seq) -> 'to') WITH ORDINALITY AS r(value, place)
			  ORDER BY r.place) COLLATE "C" AS asked
FROM clutch.question q
JOIN clutch.task t ON t.task_id = q.task_id;
COMMENT ON VIEW clutch.approvals IS 'questions of parked tasks that have not been answered yet';

CREATE VIEW clutch.dead_letters WITH (security_invoker = true) AS
SELECT	t.task_id, t.run_id, t.thread_id, t.parent_task_id, t.status, t.agent_id, t.attempt, t.retries, t.losses,
		t.code, t.detail, t.finished_at AS failed_at, t.payload_type, t.request_seq, t.result_seq,
		clutch.envelope_of(t.result_seq) -> 'payload' AS error,
		format('SELECT clutch.retry(%L)', t.task_id) AS revive
FROM clutch.task t
WHERE t.status IN ('failed', 'timed_out');
COMMENT ON VIEW clutch.dead_letters IS 'tasks that failed or timed out and will not be retried automatically';

CREATE VIEW clutch.budgets WITH (security_invoker = true) AS
SELECT	b.run_id, b.tokens AS max_tokens, s.tokens, b.cost AS max_cost, s.cost,
		b.tasks AS max_tasks, t.tasks, b.depth AS max_depth,
		coalesce(s.tokens >= b.tokens OR s.cost >= b.cost OR t.tasks > b.tasks, false) AS exceeded
FROM clutch.budget b
CROSS JOIN LATERAL (
	SELECT least(coalesce(sum(p.tokens), 0), 9223372036854775807)::bigint AS tokens, coalesce(sum(p.cost), 0) AS cost
	FROM clutch.spending p WHERE p.run_id = b.run_id) s
CROSS JOIN LATERAL (
	SELECT count(*) AS tasks FROM clutch.task k WHERE k.run_id = b.run_id) t;
COMMENT ON VIEW clutch.budgets IS 'runs that have a budget, and how much of it is used';

CREATE VIEW clutch.costs WITH (security_invoker = true) AS
SELECT	s.run_id, s.agent_id, s.day,
		least(sum(s.tokens), 9223372036854775807)::bigint AS tokens, sum(s.cost) AS cost
FROM (SELECT p.run_id, p.agent_id, p.day, p.tokens, p.cost FROM clutch.spending p
	  UNION ALL
	  SELECT t.run_id, t.agent_id, t.day, t.tokens, t.cost FROM clutch.spending_total t) s
GROUP BY s.run_id, s.agent_id, s.day;
COMMENT ON VIEW clutch.costs IS 'what agents have reported to have spent, by run, agent and day (UTC)';

-- What the topics created after this one add to clutch.stuck.  They replace this view.
CREATE VIEW clutch.more_stuck WITH (security_invoker = true) AS
SELECT t.task_id, t.run_id, t.status, t.agent_id, t.since, NULL::text AS problem, NULL::text AS hint
FROM clutch.task t WHERE false;

-- Tasks that are not over have a row in one of three small tables, so the view
-- does not read the others: a timer if they have a deadline, a lease or a time
-- to wait for, and a place in a queue while they wait for an agent.  A timer
-- that could not be handled is put off by a minute.  A partial index finds those
-- that were requested before a task that they wait for.
-- A running task whose subtask gets no slot is blocked if all slots of all
-- agents that could do the subtask are held by such tasks, which are counted once for
-- each agent.  LIMIT makes every plan look up the task of each slot by its key: the
-- planner does not know how many running tasks the role of an agent sees.
CREATE VIEW clutch.stuck WITH (security_invoker = true) AS
WITH blocked AS (
	SELECT p.task_id, p.run_id, p.status, p.agent_id, p.since, c.task_id AS child_task_id, c.request_seq AS child_seq
	FROM clutch.agent_slot s
	CROSS JOIN LATERAL (
		SELECT h.task_id, h.run_id, h.status, h.agent_id, h.since FROM clutch.task h
		WHERE h.task_id = s.task_id AND h.status = 'running'
		LIMIT 1) AS p
	CROSS JOIN LATERAL (
		SELECT k.task_id, k.request_seq FROM clutch.task k
		WHERE k.parent_task_id = p.task_id AND k.status = 'pending' AND k.waiting_for = 'capacity'
		LIMIT 1) AS c),
occupied AS MATERIALIZED (
	SELECT k.agent_id FROM blocked k GROUP BY k.agent_id HAVING count(*) >= clutch.slots_held(k.agent_id))
SELECT	t.task_id, t.run_id, t.status, t.agent_id, t.since, p.problem, p.hint
FROM (SELECT clutch.now() AS now,
			 coalesce(nullif(nullif(pg_catalog.current_setting('clutch.claim_timeout', true), ''), '0'), '60 s')::interval AS patience,
			 coalesce(nullif(nullif(pg_catalog.current_setting('clutch.claim_timeout', true), ''), '0'), '5 min')::interval AS claim_timeout,
			 (SELECT array_agg(p.what) FROM clutch.pause p) AS paused) AS clock
CROSS JOIN clutch.task t
LEFT JOIN LATERAL (
	SELECT d.after_task_id FROM clutch.dependency d
	WHERE d.task_id = t.task_id AND d.unknown_since < clock.now - clock.patience
	  AND NOT EXISTS (SELECT FROM clutch.task a WHERE a.task_id = d.after_task_id AND a.run_id = d.run_id)
	LIMIT 1) AS awaited ON t.status = 'pending' AND t.waiting_for IN ('sibling', 'children')
CROSS JOIN LATERAL (VALUES (
	t.status IN ('pending', 'assigned') AND clock.paused IS NOT NULL
	AND (t.agent_id = ANY (clock.paused)
		 OR EXISTS (SELECT FROM unnest(t.requires) r WHERE split_part(r, '@', 1) = ANY (clock.paused))
		 OR (t.code = 'NO_AGENT_AVAILABLE' AND t.waiting_for = 'agent'
			 AND EXISTS (SELECT FROM clutch.events q WHERE q.seq = t.request_seq AND q.to_agents && clock.paused))))) AS hold(is_paused)
CROSS JOIN LATERAL (VALUES (
	CASE WHEN t.finished_at IS NOT NULL THEN NULL
		 WHEN t.deadline < clock.now OR (t.status = 'input_required' AND t.wake_at <= clock.now) THEN 'deadline passed'
		 WHEN t.status = 'running' AND t.wake_at < clock.now THEN 'ran too long'
		 WHEN t.status = 'running' AND t.lease_until < clock.now THEN 'lease expired'
		 WHEN t.status = 'suspended' AND t.wake_at < clock.now THEN 'its time has come'
		 WHEN t.status = 'pending' AND t.wake_at < clock.now AND t.waiting_for <> 'sibling' THEN 'its time has come'
		 WHEN hold.is_paused THEN 'paused'
		 WHEN t.status = 'pending' AND t.waiting_for = 'agent' THEN t.code
		 WHEN awaited.after_task_id IS NOT NULL THEN 'waits for an unknown task'
		 WHEN t.status = 'assigned' AND t.since < clock.now - clock.claim_timeout THEN 'not claimed'
	END,
	CASE WHEN EXISTS (SELECT FROM clutch.timer d WHERE d.due = t.next_at AND d.task_id = t.task_id AND d.due_since IS NOT NULL)
			THEN 'It cannot be moved, and the server log says why: perhaps a trigger of your own on clutch.events raises errors. It is tried again every minute.'
		 WHEN t.deadline < clock.now THEN 'Call clutch.tick(), run the worker, or let an agent claim.'
		 WHEN hold.is_paused
			THEN 'SELECT * FROM clutch.paused shows what is paused; SELECT clutch.resume(what) ends it.'
		 WHEN awaited.after_task_id IS NOT NULL
			THEN format('Nobody has requested task %s in its run, which it waits for: request that task, or cancel this one. If the ID belongs to a task of another run, only the latter helps.', awaited.after_task_id)
		 WHEN t.status = 'pending' AND t.wake_at IS NULL THEN 'The detail of the task in clutch.tasks says what is missing, and SELECT * FROM clutch.why(task_id) which agents were rejected.'
		 WHEN t.status = 'assigned' THEN 'The agent does not call clutch.claim, and no other agent that could have the task has room: check whether it runs.'
		 ELSE 'Call clutch.tick(), run the worker, or let an agent claim.'
	END)) AS p(problem, hint)
WHERE p.problem IS NOT NULL
  AND t.task_id IN (
		SELECT d.task_id FROM clutch.timer d WHERE d.due < (SELECT clutch.now() + interval '2 minutes')
	UNION ALL
		SELECT w.task_id FROM clutch.waiting w
	UNION ALL
		SELECT r.task_id FROM clutch.ready r
	UNION ALL
		SELECT u.task_id FROM clutch.dependency u WHERE u.unknown_since IS NOT NULL)
UNION ALL
SELECT	b.task_id, b.run_id, b.status, b.agent_id, b.since, 'holds the slot that its subtask needs',
		format('All agents that can do its subtask %s are full of tasks like this one: wait for subtasks with clutch.suspend, which gives the slot back.', b.child_task_id)
FROM blocked b
-- LIMIT keeps the planner from calling explain_route for events that are not the child's request
CROSS JOIN LATERAL (SELECT r.envelope FROM clutch.events r WHERE r.seq = b.child_seq LIMIT 1) AS e
WHERE NOT EXISTS (
	SELECT FROM clutch.explain_route(e.envelope) x
	WHERE x.eligible
	   OR (x.rejected_by = 'concurrency' AND x.agent_id NOT IN (SELECT o.agent_id FROM occupied o)
		   AND clutch.slots_held(x.agent_id) > 0))
UNION ALL
SELECT m.task_id, m.run_id, m.status, m.agent_id, m.since, m.problem, m.hint FROM clutch.more_stuck m;
COMMENT ON VIEW clutch.stuck IS 'tasks that will not move without help, the reason, and what to do';

-- --------------------------------------------------------------- functions
CREATE FUNCTION clutch.result(task_id text,
		OUT task_id text, OUT status text, OUT finished boolean, OUT attempt integer, OUT agent_id text,
		OUT payload jsonb, OUT seq bigint, OUT finished_at timestamptz)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_result' LANGUAGE C STABLE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION clutch.result(text) IS
	'the status of a task, and the payload of its task.result or task.error if it has one';

CREATE FUNCTION clutch.steps(task_id text,
		OUT name text, OUT output jsonb, OUT attempt integer, OUT seq bigint, OUT at timestamptz)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_steps' LANGUAGE C STABLE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION clutch.steps(text) IS
	'the steps of a task whose outputs were kept, in the order in which they were kept';

-- Used in a select list, so that no row is stored.  task_tree becomes part of the query
-- that calls it.
CREATE FUNCTION clutch.tree_nodes(run_id text,
		OUT task_id text, OUT parent_task_id text, OUT depth integer, OUT path text[], OUT status text,
		OUT agent_id text, OUT attempt integer, OUT domain text, OUT payload_type text,
		OUT created_at timestamptz, OUT started_at timestamptz, OUT finished_at timestamptz)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_task_tree' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION clutch.tree_nodes(text) IS
	'the rows of clutch.task_tree, which calls this function';

CREATE FUNCTION clutch.task_tree(run_id text,
		OUT task_id text, OUT parent_task_id text, OUT depth integer, OUT path text[], OUT status text,
		OUT agent_id text, OUT attempt integer, OUT domain text, OUT payload_type text,
		OUT created_at timestamptz, OUT started_at timestamptz, OUT finished_at timestamptz)
	RETURNS SETOF record
	LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 100
	BEGIN ATOMIC
		SELECT (t.node).* FROM (SELECT clutch.tree_nodes(task_tree.run_id) AS node) t;
	END;
COMMENT ON FUNCTION clutch.task_tree(text) IS
	'the tasks of a run as a tree, depth first; roots have depth 0';

CREATE FUNCTION clutch.replay(run_id text) RETURNS SETOF clutch.events
	LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1000
	BEGIN ATOMIC
		SELECT e.* FROM clutch.events e WHERE e.run_id = replay.run_id ORDER BY e.seq;
	END;
COMMENT ON FUNCTION clutch.replay(text) IS 'the events of a run, in the order of seq';

CREATE FUNCTION clutch.run_graph(run_id text, format text DEFAULT 'mermaid') RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	nodes text;
	edges text;
BEGIN
	-- without this check of run_id, the error would have the query below as its CONTEXT
	IF run_id IS NULL OR format IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
			MESSAGE = format('argument "%s" must not be null', CASE WHEN run_id IS NULL THEN 'run_id' ELSE 'format' END),
			DETAIL = format('[{"argument": "%s", "code": "NULL_VALUE"}]', CASE WHEN run_id IS NULL THEN 'run_id' ELSE 'format' END);
	ELSIF format NOT IN ('mermaid', 'dot') THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid graph format "%s"', format),
			DETAIL = '[{"argument": "format", "code": "WRONG_VALUE"}]',
			HINT = 'The formats are mermaid and dot.';
	END IF;
	-- Nodes are numbered, and the IDs are quoted labels: an ID can contain any text.
	-- Mermaid reads #58; as a character, so the # of such a text is written as #35;.
	-- In FROM, tree_nodes would store each path, which is as long as the task is deep.
	WITH node AS MATERIALIZED (
		SELECT (t.node).task_id, (t.node).parent_task_id, (t.node).status, (t.node).agent_id
		FROM (SELECT clutch.tree_nodes(run_graph.run_id) AS node) t
	), tree AS (
		SELECT row_number() OVER () AS n, t.task_id, t.parent_task_id, concat_ws(E' \u00b7 ', t.task_id, t.status, t.agent_id) AS label
		FROM node t
	)
	SELECT	CASE format WHEN 'dot'
				THEN string_agg(format(E'\tt%s [label="%s"];', n,
					 replace(replace(replace(label, E'\\', E'\\\\'), '"', E'\\"'), E'\n', ' ')), E'\n' ORDER BY n)
				ELSE string_agg(format(E'\tt%s["%s"]', n,
					 replace(replace(replace(replace(replace(regexp_replace(label, '#(\w+;)', '#35;\1', 'g'),
					 '&', '&amp;'), '"', '&quot;'), '<', '&lt;'), '>', '&gt;'), E'\n', ' ')), E'\n' ORDER BY n)
			END,
			(SELECT string_agg(format(CASE format WHEN 'dot' THEN E'\tt%s -> t%s;' ELSE E'\tt%s --> t%s' END,
					p.n, c.n), E'\n' ORDER BY c.n)
			 FROM tree c JOIN tree p ON p.task_id = c.parent_task_id)
	INTO nodes, edges
	FROM tree;
	RETURN concat_ws(E'\n', CASE format WHEN 'dot' THEN 'digraph run {' ELSE 'graph TD' END,
					 nodes, edges, CASE format WHEN 'dot' THEN '}' END);
END
$$;
COMMENT ON FUNCTION clutch.run_graph(text, text) IS 'the task tree of a run as a graph, in the language of mermaid or dot';

CREATE FUNCTION clutch.task_transitions(OUT from_status text, OUT step text, OUT to_status text)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_task_transitions' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 30;
COMMENT ON FUNCTION clutch.task_transitions() IS 'the legal transitions of a task: from which status, by what step, to which status';

CREATE FUNCTION clutch.channel(kind text, id text DEFAULT NULL) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_channel' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION clutch.channel(text, text) IS
	'the name of the channel for all events, or for those of one agent, thread, run or task';

CREATE FUNCTION clutch.listen(kind text DEFAULT 'all', id text DEFAULT NULL) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_listen' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.listen(text, text) IS
	'listens on the channel and returns its name; takes effect at commit, like LISTEN';
