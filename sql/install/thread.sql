-- ---------------------------------------------------------------- threads
-- A summary of a conversation (spec 003 6), made from the events that the caller may see.
CREATE FUNCTION clutch.thread_context(thread_id text) RETURNS jsonb
	LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
	SET search_path = pg_catalog, pg_temp
	AS $$
WITH said AS MATERIALIZED (
	SELECT e.seq, e.received_at, e.run_id, e.id, e.task_id, e.type, e.late, e.from_agent, e.to_agents,
		p.payload OPERATOR(pg_catalog.->) 'decisions' AS decisions, p.payload OPERATOR(pg_catalog.->) 'decision' AS decision,
		CASE WHEN e.type OPERATOR(pg_catalog.=) 'task.progress' AND e.envelope OPERATOR(pg_catalog.#>>) '{meta,clutch,move}' OPERATOR(pg_catalog.=) 'answered'
			THEN p.payload OPERATOR(pg_catalog.->>) 'answer_id' END AS answer_id,
		e.envelope OPERATOR(pg_catalog.->) 'attachments' AS attachments,
		e.envelope OPERATOR(pg_catalog.#>) '{meta,collab,context,previousDecisions}' AS previous
	FROM clutch.events e, LATERAL (SELECT e.envelope OPERATOR(pg_catalog.->) 'payload' AS payload) AS p
	WHERE e.thread_id OPERATOR(pg_catalog.=) $1),
-- Decisions in payloads, which are a list, a single one, or an object of named ones; and the answers to questions.  As everywhere, a
-- member that is null counts as missing.  Only the log knows which messages have answered a question, because not all of them say
-- which one.  A late report has had no effect, so it must not replace one that has.  A late message counts like any other.
told AS (
	SELECT s.seq, d.no, s.from_agent, s.task_id, d.name, d.value
	FROM said s, LATERAL (
		SELECT i.no, NULL::text AS name, i.value
		FROM pg_catalog.jsonb_array_elements(CASE pg_catalog.jsonb_typeof(s.decisions) WHEN 'array' THEN s.decisions END) WITH ORDINALITY AS i(value, no)
		UNION ALL
		SELECT 0, m.key, m.value
		FROM pg_catalog.jsonb_each(CASE pg_catalog.jsonb_typeof(s.decisions) WHEN 'object' THEN s.decisions END) AS m
		UNION ALL
		SELECT 0, NULL, s.decision WHERE s.decision IS NOT NULL) AS d
	-- most events have none, and calling the functions for each of them took most of the time
	WHERE (s.decisions IS NOT NULL OR s.decision IS NOT NULL)
	  AND s.type OPERATOR(pg_catalog.<>) ALL (ARRAY['task.request', 'tool.call', 'tool.result', 'routing.decision', 'routing.failure'])
	  AND pg_catalog.jsonb_typeof(d.value) OPERATOR(pg_catalog.<>) 'null' AND (NOT s.late OR s.type OPERATOR(pg_catalog.=) 'chat.message')
	UNION ALL
	-- an answer may be in another thread; each is one look at the index
	SELECT DISTINCT e.seq, 0::bigint, e.from_agent, e.task_id, NULL::text, e.payload
	FROM said a, LATERAL (
		SELECT e.seq, e.type, e.from_agent, e.task_id, e.envelope OPERATOR(pg_catalog.->) 'payload' AS payload
		FROM clutch.events e
		WHERE e.id OPERATOR(pg_catalog.=) a.answer_id AND e.run_id OPERATOR(pg_catalog.=) a.run_id OFFSET 0) AS e
	WHERE a.answer_id IS NOT NULL AND e.type OPERATOR(pg_catalog.=) 'chat.message'),
-- The previous decisions that messages of spec 003 name, unless a payload contains them as well.
recalled AS (
	SELECT DISTINCT ON (i.value) s.seq, i.no, s.from_agent, s.task_id, NULL::text AS name, i.value
	FROM said s, LATERAL pg_catalog.jsonb_array_elements(CASE pg_catalog.jsonb_typeof(s.previous)
		WHEN 'array' THEN s.previous END) WITH ORDINALITY AS i(value, no)
	WHERE s.previous IS NOT NULL
	  AND pg_catalog.jsonb_typeof(i.value) OPERATOR(pg_catalog.<>) 'null' AND (NOT s.late OR s.type OPERATOR(pg_catalog.=) 'chat.message')
	  AND NOT EXISTS (SELECT FROM told t WHERE t.value OPERATOR(pg_catalog.=) i.value)
	ORDER BY i.value, s.seq, i.no),
decided AS (
	SELECT * FROM told UNION ALL SELECT * FROM recalled),
-- The last decision of each name, and all decisions without a name.  Every participant can
-- add any number of decisions to a context, which is delivered with each claim.  So only the
-- newest megabyte of them is returned.
standing AS (
	SELECT d.*, pg_catalog.sum(pg_catalog.pg_column_size(d.value) OPERATOR(pg_catalog.+) 200) OVER (ORDER BY d.seq DESC, d.no DESC, d.name) AS bytes
	FROM (SELECT d.*, pg_catalog.max(d.seq) OVER (PARTITION BY d.name) AS last_seq FROM decided d) AS d
	WHERE d.name IS NULL OR d.seq OPERATOR(pg_catalog.=) d.last_seq),
attached AS (
	SELECT a.*, pg_catalog.sum(pg_catalog.pg_column_size(a.value) OPERATOR(pg_catalog.+) 200) OVER (ORDER BY a.seq DESC, a.no DESC) AS bytes
	FROM (SELECT DISTINCT ON (a.value OPERATOR(pg_catalog.->>) 'ref') s.seq, a.no, s.from_agent, s.task_id, a.value
		  FROM said s, LATERAL pg_catalog.jsonb_array_elements(CASE pg_catalog.jsonb_typeof(s.attachments)
			WHEN 'array' THEN s.attachments END) WITH ORDINALITY AS a(value, no)
		  WHERE s.attachments IS NOT NULL
		  ORDER BY a.value OPERATOR(pg_catalog.->>) 'ref', s.seq) AS a),
took_part AS (
	SELECT s.from_agent AS agent_id FROM said s
	UNION
	SELECT t FROM (SELECT DISTINCT s.to_agents FROM said s) AS s, LATERAL pg_catalog.unnest(s.to_agents) AS t WHERE t OPERATOR(pg_catalog.~~) 'agent:%')
SELECT pg_catalog.jsonb_build_object(
	'thread_id', $1,
	'initiator', f.from_agent,
	'participants', (SELECT pg_catalog.jsonb_agg(p.agent_id ORDER BY p.agent_id) FROM (SELECT t.agent_id FROM took_part t ORDER BY t.agent_id LIMIT 1000) AS p),
	'created_at', f.received_at,
	'expires_at', (SELECT pg_catalog.max(t.deadline) FROM clutch.tasks t
		WHERE t.finished_at IS NULL AND t.task_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT s.task_id FROM said s WHERE s.type OPERATOR(pg_catalog.=) 'task.request'))),
	'task', (SELECT e.envelope OPERATOR(pg_catalog.->) 'payload' FROM clutch.events e
		WHERE e.seq OPERATOR(pg_catalog.=) (SELECT pg_catalog.min(s.seq) FROM said s WHERE s.type OPERATOR(pg_catalog.=) 'task.request')),
	'decisions', (SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('name', d.name))
			OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('decision', d.value, 'agent_id', d.from_agent, 'task_id', d.task_id, 'seq', d.seq)
			ORDER BY d.seq, d.no, d.name), '[]') FROM standing d WHERE d.bytes OPERATOR(pg_catalog.<=) 1000000),
	'artifacts', (SELECT coalesce(pg_catalog.jsonb_agg(a.value
			OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('agent_id', a.from_agent, 'task_id', a.task_id, 'seq', a.seq)
			ORDER BY a.seq, a.no), '[]') FROM attached a WHERE a.bytes OPERATOR(pg_catalog.<=) 1000000))
	OPERATOR(pg_catalog.||) (SELECT CASE WHEN l.n OPERATOR(pg_catalog.>) 0 THEN pg_catalog.jsonb_build_object('left_out', l.n) ELSE '{}' END
		FROM (SELECT (SELECT pg_catalog.count(*) FROM standing d WHERE d.bytes OPERATOR(pg_catalog.>) 1000000)
			OPERATOR(pg_catalog.+) (SELECT pg_catalog.count(*) FROM attached a WHERE a.bytes OPERATOR(pg_catalog.>) 1000000) AS n) AS l)
FROM (SELECT s.from_agent, s.received_at FROM said s ORDER BY s.seq LIMIT 1) AS f
$$;
COMMENT ON FUNCTION clutch.thread_context(text) IS
	'a summary of a conversation: its participants, its deadline, its task, its decisions and its artifacts';
