-- What walks.py asks the tables of state.  Each part is prepared, or run, under the name above it.

-- name: state
SELECT coalesce(json_agg(json_build_object('id', task_id, 'run', run_id, 'thread', thread_id, 'status', status, 'agent', agent_id,
	'past', past_agents, 'from', from_agent, 'attempt', attempt, 'priority', priority, 'waiting_for', waiting_for) ORDER BY request_seq), '[]')
FROM clutch.task

-- name: faults
-- the tables of state against one another: what, and of whom
SELECT 'end without its time, or the reverse', task_id FROM clutch.task
WHERE (status IN ('completed', 'failed', 'cancelled', 'timed_out')) <> (finished_at IS NOT NULL)
UNION ALL
SELECT 'a task that is over and has something left', task_id FROM clutch.task
WHERE finished_at IS NOT NULL AND (num_nonnulls(slot_no, next_at, lease_until, waiting_for) > 0 OR coalesce(queue_no, 0) <> 0)
UNION ALL
SELECT 'slot and task disagree', coalesce(t.task_id, s.task_id) || ' ' || coalesce(t.status, '') FROM
	(SELECT * FROM clutch.task WHERE slot_no IS NOT NULL OR status IN ('assigned', 'running')) t
	FULL JOIN (SELECT * FROM clutch.agent_slot WHERE task_id IS NOT NULL) s USING (agent_id, slot_no, task_id)
WHERE s.task_id IS NULL OR t.task_id IS NULL OR t.status NOT IN ('assigned', 'running')
UNION ALL
SELECT 'ready and task disagree', coalesce(t.task_id, r.task_id) || ' ' || coalesce(t.status, '') FROM
	(SELECT * FROM clutch.task WHERE status = 'assigned') t
	FULL JOIN clutch.ready r ON r.task_id = t.task_id AND r.agent_id = t.agent_id AND r.queue_no = t.queue_no AND r.urgency = 4 - t.priority
WHERE r.task_id IS NULL OR t.task_id IS NULL
UNION ALL
SELECT 'waiting and task disagree', coalesce(t.task_id, w.task_id) || ' ' || coalesce(t.waiting_for, '') FROM
	(SELECT * FROM clutch.task WHERE status = 'pending' AND coalesce(waiting_for, '') NOT IN ('time', 'retry', 'sibling', 'children')) t
	FULL JOIN (SELECT w.* FROM clutch.waiting w LEFT JOIN clutch.ready r USING (task_id, queue_no) WHERE r.task_id IS NULL) w
	ON w.task_id = t.task_id AND w.kind = t.queue_kind AND w.queue_no = t.queue_no AND w.urgency = 4 - t.priority
WHERE w.task_id IS NULL OR t.task_id IS NULL OR t.waiting_for IS NULL
UNION ALL
SELECT 'offer and task disagree', coalesce(t.task_id, w.task_id) || ' ' || coalesce(t.status, '') FROM
	(SELECT * FROM clutch.task WHERE status = 'assigned' AND queue_kind IS NOT NULL) t
	FULL JOIN (SELECT w.* FROM clutch.waiting w JOIN clutch.ready r USING (task_id, queue_no)) w
	ON w.task_id = t.task_id AND w.kind = t.queue_kind AND w.queue_no = t.queue_no AND w.urgency = 4 - t.priority
WHERE w.task_id IS NULL OR t.task_id IS NULL
UNION ALL
SELECT 'question and task disagree', coalesce(t.task_id, q.task_id) FROM
	(SELECT * FROM clutch.task WHERE status = 'input_required') t
	FULL JOIN clutch.question q ON q.task_id = t.task_id AND q.seq = t.question_seq
WHERE q.task_id IS NULL OR t.task_id IS NULL
UNION ALL
SELECT 'timer and task disagree', coalesce(t.task_id, m.task_id) FROM
	(SELECT * FROM clutch.task WHERE next_at IS NOT NULL) t
	FULL JOIN clutch.timer m ON m.task_id = t.task_id AND m.due = t.next_at
WHERE m.task_id IS NULL OR t.task_id IS NULL
UNION ALL
SELECT 'a task that nobody will look at in time', task_id FROM clutch.task
WHERE finished_at IS NULL AND coalesce(next_at, 'infinity') >
	coalesce(least(lease_until, deadline, CASE WHEN waiting_for IS DISTINCT FROM 'sibling' THEN wake_at END), 'infinity')
UNION ALL
SELECT 'held, and nothing to wait for', task_id FROM clutch.task t
WHERE status = 'pending' AND (waiting_for IN ('time', 'retry') AND wake_at IS NULL OR waiting_for IN ('sibling', 'children')
	AND NOT EXISTS (SELECT FROM clutch.dependency d LEFT JOIN clutch.task o ON o.task_id = d.after_task_id AND o.run_id = d.run_id
		WHERE d.task_id = t.task_id AND o.status IS DISTINCT FROM 'completed'))
UNION ALL
SELECT 'not revived, and waits for what has failed', task_id FROM clutch.task t
WHERE status = 'pending' AND waiting_for IN ('sibling', 'children') AND reason = 'new' AND EXISTS (SELECT FROM clutch.dependency d
	JOIN clutch.task o ON o.task_id = d.after_task_id AND o.run_id = d.run_id WHERE d.task_id = t.task_id AND o.status IN ('failed', 'cancelled', 'timed_out'))
UNION ALL
SELECT 'suspended, and its children are over', task_id FROM clutch.task t
WHERE status = 'suspended' AND waiting_for = 'children' AND NOT EXISTS (SELECT FROM clutch.task c WHERE c.parent_task_id = t.task_id AND c.finished_at IS NULL)
UNION ALL
SELECT 'suspended, and what it waits for has been said', t.task_id || ': ' || m.id FROM clutch.task t
JOIN clutch.events s ON s.seq = t.wait_seq, LATERAL (SELECT s.envelope #> '{meta,clutch,wait,message}') AS w(filter),
LATERAL (SELECT * FROM clutch.events e WHERE e.run_id = t.run_id AND e.seq >= t.request_seq AND e.from_agent <> t.agent_id
	AND e.type IN ('chat.message', 'chat.system', 'tool.call', 'tool.result', 'tool.error')) m
WHERE t.status = 'suspended' AND t.waiting_for = 'message' AND (w.filter -> 'type' ? m.type) IS NOT FALSE
	AND jsonb_path_exists(m.envelope, coalesce(w.filter ->> 'path', '$')::jsonpath)
	AND NOT EXISTS (SELECT FROM clutch.events k WHERE k.task_id = t.task_id AND k.envelope #>> '{payload,answer_id}' = m.id)
UNION ALL
SELECT 'suspended and task disagree', coalesce(t.task_id, s.task_id) FROM
	(SELECT * FROM clutch.task WHERE status = 'suspended') t FULL JOIN clutch.suspended s USING (task_id)
WHERE s.task_id IS NULL OR t.task_id IS NULL
UNION ALL
SELECT 'awaited and task disagree', coalesce(t.task_id, a.task_id) FROM
	(SELECT * FROM clutch.task WHERE status = 'suspended' AND waiting_for = 'message') t FULL JOIN clutch.awaited a USING (task_id, run_id)
WHERE a.task_id IS NULL OR t.task_id IS NULL
UNION ALL
SELECT 'an agent where none belongs, or the reverse', task_id FROM clutch.task
WHERE finished_at IS NULL AND (agent_id IS NULL) <> (status = 'pending')
UNION ALL
SELECT 'running without a lease, or the reverse', task_id FROM clutch.task WHERE (status = 'running') <> (lease_until IS NOT NULL)
UNION ALL
SELECT 'clutch.check(): ' || code, detail FROM clutch.check() WHERE code NOT IN ('TIMER_OVERDUE', 'CONSEQUENCE_OVERDUE')

-- name: rebuilt
-- what test/t/ClutchTest.pm compares, column by column
SELECT 'agent', r::text FROM clutch.agent_registry r
UNION ALL
SELECT t.task_id, f.key || ' ' || coalesce(f.value, '') FROM clutch.task t, jsonb_each_text(to_jsonb(t) - '{slot_no,queue_no,queue_kind,next_at,lease_until,lease}'::text[]) f
UNION ALL
SELECT 'ready', concat_ws(' ', agent_id, urgency, task_id) FROM clutch.ready
UNION ALL
SELECT 'waiting', concat_ws(' ', urgency, task_id) FROM clutch.waiting WHERE task_id NOT IN (SELECT task_id FROM clutch.ready)
UNION ALL
SELECT 'slot', concat_ws(' ', agent_id, task_id) FROM clutch.agent_slot WHERE task_id IS NOT NULL
UNION ALL
SELECT 'scope', s::text FROM clutch.run_scope s
UNION ALL
SELECT 'timer', task_id FROM clutch.timer WHERE task_id NOT IN (SELECT task_id FROM clutch.ready)
UNION ALL
SELECT 'dependency', concat_ws(' ', d.task_id, d.after_task_id, d.run_id) FROM clutch.dependency d
UNION ALL
SELECT 'question', q::text FROM clutch.question q
UNION ALL
SELECT 'suspended', s.task_id FROM clutch.suspended s
UNION ALL
SELECT 'awaited', a::text FROM clutch.awaited a
UNION ALL
SELECT 'step', s::text FROM clutch.step s
UNION ALL
SELECT 'budget', b::text FROM clutch.budget b
UNION ALL
SELECT 'spending', concat_ws(' ', run_id, agent_id, day, max(seq), sum(tokens), sum(cost)) FROM clutch.spending GROUP BY run_id, agent_id, day
UNION ALL
SELECT 'failure', f::text FROM clutch.agent_failure f
ORDER BY 1, 2

-- name: idle
-- who could have what waits, and has it not
SELECT 'something waits for an agent that has nothing to do', w.task_id || ' for ' || x.agent_id
FROM clutch.waiting w JOIN clutch.task t USING (task_id) JOIN clutch.events e ON e.seq = t.request_seq, clutch.explain_route(e.envelope) x
-- one that would be shared out if it were new has been given to an agent before
-- and explain_route does not know the scope of a request that does not name it, as those of rules
WHERE x.eligible AND x.detail NOT LIKE '%% shares it out %%' AND e.envelope #>> '{meta,clutch,scope}' IS NOT DISTINCT FROM t.scope AND (%(agent)s::text IS NULL OR x.agent_id = %(agent)s)
	-- one that is offered is given to whoever asks for work, and by a tick only to an agent that has not had it
	AND (t.status = 'pending' OR x.agent_id <> t.agent_id AND (%(agent)s IS NOT NULL OR x.agent_id <> ALL (coalesce(t.past_agents, '{}'))))
LIMIT 3

-- name: limits
SELECT agent_id, coalesce((card #>> '{limits,max_concurrency}')::int, 1),
	(SELECT count(*) FROM clutch.task t WHERE t.agent_id = r.agent_id AND t.status IN ('assigned', 'running'))
FROM clutch.agent_registry r
