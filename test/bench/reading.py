"""Reading back: the tree of a run with 10,000 tasks, and the replay of 1,000 events."""
from append import SYNC_ON, concat_of, envelope_of, ids_of_message
from measure import Ratio, fresh_database, interleave, micros, pgbench, rate, sql, template_database
from reference import PLAIN

TEMPLATE = "clutch_bench_reading"
template = None
TASKS = 10000
RUNS, EVENTS = 20, 1000

# A tree with three children per task, and 20 runs whose events are interleaved in the log.
SETUP = PLAIN + """
CREATE EXTENSION clutch;
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:worker",
    "display": {"name": "Worker", "desc": "takes everything"},
    "capabilities": [{"id": "skill:research", "version": "1.0"}],
    "limits": {"max_concurrency": 1000000, "max_runtime_sec": 600, "heartbeat_sec": 0},
    "security": {"sandbox": true, "network": "none"}}');
INSERT INTO clutch.events (envelope)
SELECT clutch.envelope(type => 'task.request', from_agent => 'agent:client',
    to_agents => '{agent:worker}', payload => '{"goal": "bench"}', run_id => 'run_tree',
    thread_id => 'thr_tree', task_id => 'task_tree_' || i,
    parent_task_id => CASE WHEN i > 0 THEN 'task_tree_' || (i - 1) / 3 END)
FROM generate_series(0, %d) i;
INSERT INTO clutch.events (envelope)
SELECT %s::jsonb FROM (SELECT k::text AS id, 'run_' || k %% %d AS run_id, 'thr_' || k %% %d AS thread_id,
    (k / 10)::text AS task_id, concat('agent:worker-', k %% 50) AS from_agent
    FROM generate_series(1, %d) k OFFSET 0) ids;
INSERT INTO plain (id, run_id, thread_id, task_id, from_agent, body)
SELECT id, run_id, thread_id, task_id, from_agent, envelope FROM clutch.events
WHERE type = 'chat.message' ORDER BY seq;
"""

TREE = "SELECT count(*) INTO n FROM clutch.task_tree('run_tree')"
TREE_READ = "SELECT count(t::text) INTO n FROM clutch.task_tree('run_tree') t"

# The same columns from the table under the view clutch.tasks.
CTE = """
WITH RECURSIVE tree AS (
    SELECT t.task_id, t.parent_task_id, 0 AS depth, ARRAY[t.task_id] AS path, t.request_seq, {columns}
    FROM clutch.task t WHERE t.run_id = 'run_tree' AND t.parent_task_id IS NULL
UNION ALL
    SELECT t.task_id, t.parent_task_id, p.depth + 1, p.path || t.task_id, t.request_seq, {columns}
    FROM tree p JOIN clutch.task t ON t.parent_task_id = p.task_id
    WHERE t.run_id = 'run_tree' AND NOT t.task_id = ANY (p.path)
)
SELECT count({counted}) INTO n FROM (SELECT * FROM tree {order}) t
""".replace("{columns}", "t.status, t.agent_id, t.attempt, t.domain, t.payload_type, "
            "t.created_at, t.started_at, t.finished_at")

# The median of seven calls in one statement; the rows are counted and not sent.
CALLS = """
CREATE FUNCTION pg_temp.calls() RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    times float8[];
    began timestamptz;
    n int;
BEGIN
    FOR i IN 1 .. 7 LOOP
        began := clock_timestamp();
        %s;
        times := times || extract(epoch FROM clock_timestamp() - began)::float8 * 1e6;
        ASSERT n = %d;
    END LOOP;
    RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY us) FROM unnest(times) us);
END $$;
SELECT pg_temp.calls();
"""


def written():
    """Makes the database that both parts read."""
    global template
    if not template:
        template = TEMPLATE
        template_database(TEMPLATE, setup())
    fresh_database(TEMPLATE)


def setup():
    columns = {name: name for name in ("id", "run_id", "thread_id", "task_id", "from_agent")}
    return SETUP % (TASKS - 1, concat_of(envelope_of("chat.message"), columns), RUNS, RUNS,
                    RUNS * EVENTS)


def timed(query):
    return lambda: float(sql(CALLS % (query, TASKS)))


def replay(source):
    """Sends a whole run to the client, one of 20 at random."""
    script = ("\\set r random(0, %d)\nSELECT %s;\n" % (RUNS - 1, source))
    return lambda: pgbench(script, clients=1, settings=SYNC_ON)


def measure_tree(table):
    written()
    table.head("Task tree of 10,000 tasks, rows counted in the server (reference: recursive CTE with path)")
    table.columns()
    runs = interleave({"cte": timed(CTE.format(counted="*", order="")), "clutch": timed(TREE),
                       "sorted": timed(CTE.format(counted="*", order="ORDER BY path")),
                       "cte, read": timed(CTE.format(counted="t::text", order="")), "clutch, read": timed(TREE_READ)})
    table.row("clutch.task_tree", micros(runs["clutch"]), micros(runs["cte"]),
              Ratio(runs["clutch"], runs["cte"]), at_most=0.25)
    table.row("  the CTE in the order of a tree", "", micros(runs["sorted"]),
              Ratio(runs["clutch"], runs["sorted"]), at_most=0.15)
    table.row("  every row made into text, too", micros(runs["clutch, read"]), micros(runs["cte, read"]),
              Ratio(runs["clutch, read"], runs["cte, read"]))


def measure_replay(table):
    written()
    table.head("Replay of a run of 1,000 events, sent to one client (reference: SELECT .. WHERE run_id ORDER BY seq)")
    table.columns()
    where = "WHERE run_id = 'run_' || :r::text ORDER BY seq"
    runs = interleave({"plain": replay("body FROM plain " + where),
                       "clutch": replay("envelope FROM clutch.replay('run_' || :r::text)"),
                       "events": replay("envelope FROM clutch.events " + where)})
    ours, plain, events = ([r.rate for r in runs[name]] for name in ("clutch", "plain", "events"))
    table.row("clutch.replay, over plain", rate(ours), rate(plain), Ratio(ours, plain), at_least=0.97)
    table.row("  over clutch.events", "", rate(events), Ratio(ours, events))
    ours, plain = ([r.cpu for r in runs[name]] for name in ("clutch", "plain"))
    table.row("  CPU of the backend", micros(ours), micros(plain), Ratio(ours, plain))
