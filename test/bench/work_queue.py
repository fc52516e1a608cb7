"""The work queue: round trips, empty, full, and under a snapshot held open.

A round trip is three commits: send, claim one, finish it; clutch writes
request, accept and result to its log.  The reference is pgmq's send, read and
archive of the same envelope.  pgmq is not brought along: BENCH_PGMQ names its
SQL file (pgmq-extension/sql/pgmq.sql of github.com/pgmq/pgmq), which is
installed beside clutch in the measured database; without it its rows are
printed as missed.
"""
import os
import time

import psycopg2

from append import (CLIENTS, COLUMNS, SINGLE, SYNC_OFF, SYNC_ON, as_text, concat_of, envelope_of,
                    ids_of_message, literal)
from measure import (DATABASE, Ratio, fresh_database, interleave, micros, note, pgbench, rate, sql,
                     template_database)
from reference import PLAIN

PGMQ = os.environ.get("BENCH_PGMQ", "")
EMPTY = "clutch_bench_queue"
FULL = "clutch_bench_queue_full"
WORKER = "agent:worker"

# how much stands in the full queue, for trying out: 0.01
SCALE = float(os.environ.get("BENCH_SCALE", "1"))
READY, IN_FLIGHT, DONE = (int(n * SCALE) for n in (1000000, 100000, 1000000))

SETUP = """
CREATE EXTENSION clutch;
SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', '%s',
    'display', '{"name": "Worker", "desc": "takes everything"}'::jsonb,
    'capabilities', '[{"id": "skill:research", "version": "1.0"}, {"id": "tool:browser"}]'::jsonb,
    'limits', jsonb_build_object('max_concurrency', %d, 'max_runtime_sec', 600),
    'security', '{"sandbox": true, "network": "none"}'::jsonb));
"""


def setup(limit):
    return SETUP % (WORKER, limit) + pgmq_setup()


def pgmq_setup():
    """Beside clutch in the same database, so that both see the same server and disk."""
    if not PGMQ:
        return ""
    with open(PGMQ) as f:
        return f.read() + "\nSELECT pgmq.create('q');\n" + PLAIN


# ------------------------------------------------------------------ scripts

def request(to):
    """The text of a request as a value for SQL."""
    envelope = envelope_of("task.request")
    envelope.update(to=[{"agent_id": to}], prefers=[], security={"policy": {"sandbox": True}})
    return concat_of(envelope, {
        "id": ":k::text", "run_id": ":group::text", "thread_id": ":group::text",
        "task_id": "concat('task_', :k::text)", "from_agent": literal("agent:client")}) + "::jsonb"


def clutch_trip(to=WORKER):
    """got: another client may have been quicker, and then there is nothing to finish."""
    return (SINGLE + "\\set got 0\nINSERT INTO clutch.events (envelope) VALUES (%s);\n" % request(to) +
            "SELECT 1 AS got, task_id, attempt, envelope FROM clutch.claim(%s)\\aset\n"
            "\\if :got\nSELECT clutch.finish(%s, :task_id, '{}', :attempt);\n\\endif\n" %
            (literal(WORKER), literal(WORKER)))


def pgmq_trip():
    return (SINGLE + "\\set got 0\nSELECT pgmq.send('q', %s);\n" % request(WORKER) +
            "SELECT 1 AS got, msg_id, message FROM pgmq.read('q', 60, 1)\\aset\n"
            "\\if :got\nSELECT pgmq.archive('q', :msg_id::bigint);\n\\endif\n")


def report(message_type, payload, ids):
    """A row of `plain` like the event that clutch writes for a claim or a finish."""
    envelope = {"v": "clutch/0.1", "id": "~id~", "ts": "2026-02-01T13:20:11.123456Z", "run_id": "~run_id~",
                "thread_id": "~thread_id~", "task_id": "~task_id~", "type": message_type, "attempt": 1,
                "from": {"agent_id": WORKER}, "to": [{"agent_id": "agent:client"}], "payload": payload}
    return "%s, %s::jsonb" % (", ".join(ids[name] for name in COLUMNS), concat_of(envelope, ids))


def logged_pgmq_trip():
    """The same three transactions, each of which also writes clutch's event of it to `plain`."""
    into = "INSERT INTO plain (%s, body)" % ", ".join(COLUMNS)
    sent = dict(as_text(ids_of_message(False)), from_agent=literal("agent:client"),
                task_id="concat('task_', :k::text)")
    read = {"id": "concat('a', msg_id)", "from_agent": literal(WORKER)}
    read.update((name, "message->>'%s'" % name) for name in ("run_id", "thread_id", "task_id"))
    done = {"id": "concat('r', :msg_id::text)", "run_id": ":run_id::text", "thread_id": ":run_id::text",
            "task_id": ":task_id::text", "from_agent": literal(WORKER)}
    lease = {"attempt": 1, "lease_until": "2026-02-01T13:21:11.123456Z"}
    return (SINGLE + "\\set got 0\nWITH logged AS (%s VALUES (%s, %s) RETURNING body) "
            "SELECT pgmq.send('q', body) FROM logged;\n" %
            (into, ", ".join(sent[name] for name in COLUMNS), request(WORKER)) +
            "WITH got AS MATERIALIZED (SELECT msg_id, message FROM pgmq.read('q', 60, 1)), "
            "logged AS (%s SELECT %s FROM got) "
            "SELECT 1 AS got, msg_id, message->>'run_id' AS run_id, message->>'task_id' AS task_id, message "
            "FROM got\\aset\n" % (into, report("task.accept", lease, read)) +
            "\\if :got\nWITH logged AS (%s VALUES (%s)) SELECT pgmq.archive('q', :msg_id::bigint);\n\\endif\n" %
            (into, report("task.result", {}, done)))


def rates(runs):
    return [run.rate for run in runs]


def costs(runs):
    return [run.cpu for run in runs]


# -------------------------------------------------------------------- empty

def measure_round_trip(table):
    table.head("Round trip of the work queue, empty: send, claim, finish (reference: pgmq send, read, archive)")
    table.columns("pgmq")
    template_database(EMPTY, setup(1000000))
    for name, clients, settings, bar in (("sync off", CLIENTS, SYNC_OFF, 2.0),
                                         ("sync on", CLIENTS, SYNC_ON, 2.0),
                                         ("sync off", 1, SYNC_OFF, None)):
        contenders = {"clutch": lambda: pgbench(clutch_trip(), clients, settings=settings)}
        routed = clients > 1 and settings is SYNC_OFF
        if routed:
            contenders["routed"] = lambda: pgbench(clutch_trip("agent:orchestrator"), clients, settings=settings)
        if PGMQ:
            contenders["pgmq"] = lambda: pgbench(pgmq_trip(), clients, settings=settings)
        runs = interleave(contenders, lambda: fresh_database(EMPTY))
        work = "%d client%s, %s" % (clients, "s" if clients > 1 else "", name)
        if not PGMQ:
            table.absent(work, rate(rates(runs["clutch"])), "pgmq", at_least=bar)
            continue
        theirs = runs["pgmq"]
        table.row(work, rate(rates(runs["clutch"])), rate(rates(theirs)),
                  Ratio(rates(runs["clutch"]), rates(theirs)), at_least=bar)
        table.row("  CPU of backends", micros(costs(runs["clutch"])), micros(costs(theirs)),
                  Ratio(costs(runs["clutch"]), costs(theirs)))
        if routed:
            table.row("  requests that are routed", rate(rates(runs["routed"])), "",
                      Ratio(rates(runs["routed"]), rates(theirs)))


# --------------------------------------------------------------------- full

# The rows that clutch would have written for so many requests, written by one
# statement a table: admitted events come with their seq, as from a dump.
# Envelopes are shorter than those of the round trips.  clutch.check() must find
# nothing wrong with it.
FILL = """
SET synchronous_commit = off;
CREATE TEMP TABLE k AS SELECT %(done)d AS done, %(done)d + %(flight)d AS claimed,
    %(done)d + %(flight)d + %(ready)d AS n, now() AS t, last_value AS s, (SELECT max(epoch) FROM clutch.epoch) AS epoch
FROM clutch.event_seq;
CREATE FUNCTION pg_temp.log(first bigint, from_seq bigint, how_many bigint, what text, from_agent text, to_agent text)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO clutch.events (seq, xid, epoch, received_at, id, ts, run_id, thread_id, task_id, type, from_agent, to_agents,
        attempt, late, envelope)
    SELECT from_seq + i, pg_current_xact_id(), epoch, t, what || i, t, 'run_' || i / 10, 'thr_' || i / 10,
        'task_full_' || i, what, from_agent, ARRAY[to_agent], 1, false,
        jsonb_build_object('v', 'clutch/0.1', 'id', what || i, 'ts', '2026-02-01T13:20:11Z', 'run_id', 'run_' || i / 10,
            'thread_id', 'thr_' || i / 10, 'task_id', 'task_full_' || i, 'type', what, 'attempt', 1,
            'from', jsonb_build_object('agent_id', from_agent), 'to', jsonb_build_array(jsonb_build_object('agent_id', to_agent)),
            'payload', '{"goal": "full"}'::jsonb, 'requires', '["skill:research"]'::jsonb)
    FROM k, generate_series(first, first + how_many - 1) i
$$;
SELECT pg_temp.log(1, s, n, 'task.request', 'agent:client', '%(worker)s') FROM k;
SELECT pg_temp.log(1, s + n, claimed, 'task.accept', '%(worker)s', 'agent:client') FROM k;
SELECT pg_temp.log(1, s + n + claimed, done, 'task.result', '%(worker)s', 'agent:client') FROM k;
INSERT INTO clutch.task (task_id, run_id, thread_id, depth, status, agent_id, from_agent, attempt, priority, requires, reason,
    slot_no, queue_no, request_seq, result_seq, since, next_at, lease_until, lease, created_at, started_at, finished_at)
SELECT 'task_full_' || i, 'run_' || i / 10, 'thr_' || i / 10, 0,
    CASE WHEN i <= done THEN 'completed' WHEN i <= claimed THEN 'running' ELSE 'assigned' END, '%(worker)s', 'agent:client',
    1, 2, '{skill:research}', 'new', CASE WHEN i > done THEN i - done - 1 END, CASE WHEN i > claimed THEN i END, s + i,
    CASE WHEN i <= done THEN s + n + claimed + i END, t, l, l, CASE WHEN i > done AND i <= claimed THEN 86400000000 END,
    t, CASE WHEN i <= claimed THEN t END, CASE WHEN i <= done THEN t END
FROM k, generate_series(1, n) i, LATERAL (SELECT CASE WHEN i > done AND i <= claimed THEN t + interval '1 day' END AS l) lease;
INSERT INTO clutch.timer (due, task_id)
SELECT t + interval '1 day', 'task_full_' || i FROM k, generate_series(done + 1, claimed) i;
INSERT INTO clutch.ready (agent_id, urgency, queue_no, task_id, since)
SELECT '%(worker)s', 2, i, 'task_full_' || i, t FROM k, generate_series(claimed + 1, n) i;
INSERT INTO clutch.agent_slot (agent_id, slot_no, generation, task_id, chosen_seq, done, failed)
SELECT '%(worker)s', i - done - 1, 1, 'task_full_' || i, s + i, 10, 0 FROM k, generate_series(done + 1, n) i;
SELECT setval('clutch.event_seq', s + n + claimed + done), setval('clutch.queue_no', n) FROM k;
"""

# the same at pgmq: read and not archived, at the head; then what can be read
FILL_PGMQ = """
INSERT INTO pgmq.q_q (vt, read_ct, message)
SELECT now() + CASE WHEN i <= %(flight)d THEN interval '1 day' ELSE interval '0' END, (i <= %(flight)d)::int, '{"goal": "full"}'
FROM generate_series(1, %(flight)d + %(ready)d) i;
INSERT INTO pgmq.a_q (msg_id, vt, read_ct, message)
SELECT -i, now(), 1, '{"goal": "full"}' FROM generate_series(1, %(done)d) i;
"""


def check_state(name):
    # its joins of millions, so soon after the fill, would be planned for empty tables
    sql("ANALYZE", name)
    wrong = sql("SELECT code || ' ' || detail FROM clutch.check()", name)
    if wrong:
        raise RuntimeError("%s is not as clutch would have it: %s" % (name, wrong))


def fill():
    numbers = {"ready": READY, "flight": IN_FLIGHT, "done": DONE, "worker": WORKER}
    began = time.monotonic()
    template_database(FULL, setup(100000000) + FILL % numbers + (FILL_PGMQ % numbers if PGMQ else ""))
    check_state(FULL)
    note("filled in %d s" % (time.monotonic() - began))


def measure_full(table):
    table.head("Round trip with {:,} ready, {:,} in flight, {:,} done, sync off "
               "(reference: the same, empty)".format(READY, IN_FLIGHT, DONE))
    table.columns("empty")
    template_database(EMPTY, setup(100000000))
    fill()
    fresh_database(EMPTY)
    trips = {"clutch": clutch_trip()}
    if PGMQ:
        trips["pgmq"] = pgmq_trip()
    for clients, bar in ((1, 0.85), (CLIENTS, 0.70)):
        for name, script in trips.items():
            contenders = {where: lambda where=where: pgbench(script, clients, settings=SYNC_OFF, database=where)
                          for where in (DATABASE, FULL)}
            runs = interleave(contenders)
            ours, empty = rates(runs[FULL]), rates(runs[DATABASE])
            table.row("%s, %d client%s" % (name, clients, "s" if clients > 1 else ""), rate(ours), rate(empty),
                      Ratio(ours, empty), at_least=bar if name == "clutch" else None)
    sql("DROP DATABASE %s" % FULL, "postgres")


# --------------------------------------------------------------- freed slots

PENDING = int(1000000 * SCALE)
KINDS, AGENTS = 100, 50
PLAYED = 48         # agents that work: a multiple of the clients, so that each has its own
FREED = "clutch_bench_freed"

# Agent a has skills 2a and 2a + 1, so each fits two kinds.  Two requests of each
# kind are sent: one is given out, and all are full; the other waits and shows
# how its kind is written.
TEAM = """
CREATE EXTENSION clutch;
SET clutch.notify = off;
SELECT count(*) FROM generate_series(0, %(agents)d - 1) a, clutch.register(jsonb_build_object('v', 'clutch/0.1',
    'agent_id', 'agent:' || a, 'display', '{"name": "Worker"}'::jsonb,
    'capabilities', jsonb_build_array(jsonb_build_object('id', 'skill:s' || 2 * a), jsonb_build_object('id', 'skill:s' || 2 * a + 1)),
    'limits', '{"max_concurrency": 2, "heartbeat_sec": 0}'::jsonb, 'security', '{"sandbox": true, "network": "none"}'::jsonb));
INSERT INTO clutch.events (envelope)
SELECT clutch.envelope(type => 'task.request', from_agent => 'agent:client', run_id => 'run_team', thread_id => 'thr_team',
    task_id => 'task_team_' || i, requires => ARRAY['skill:s' || i %% %(kinds)d])
FROM generate_series(0, 2 * %(kinds)d - 1) i;
"""

# and then the rows of as many more as shall wait, see FILL
WAIT = """
SET synchronous_commit = off;
CREATE TEMP TABLE kind AS SELECT queue_kind, requires[1] AS skill, split_part(requires[1], ':s', 2)::int AS no
FROM clutch.task WHERE status = 'pending';
CREATE TEMP TABLE k AS SELECT now() AS t, (SELECT last_value FROM clutch.event_seq) AS s, (SELECT last_value FROM clutch.queue_no) AS q,
    (SELECT max(epoch) FROM clutch.epoch) AS epoch;
INSERT INTO clutch.events (seq, xid, epoch, received_at, id, ts, run_id, thread_id, task_id, type, from_agent, to_agents,
    attempt, late, envelope)
SELECT s + i + step * %(n)d, pg_current_xact_id(), epoch, t, what || i, t, 'run_' || i / 10, 'thr_' || i / 10, 'task_wait_' || i, what,
    from_agent, ARRAY[to_agent], 1, false, jsonb_build_object('v', 'clutch/0.1', 'id', what || i, 'ts', '2026-02-01T13:20:11Z',
        'run_id', 'run_' || i / 10, 'thread_id', 'thr_' || i / 10, 'task_id', 'task_wait_' || i, 'type', what, 'attempt', 1,
        'from', jsonb_build_object('agent_id', from_agent), 'to', jsonb_build_array(jsonb_build_object('agent_id', to_agent)),
        'payload', '{"code": "NO_CAPACITY", "message": "all are full"}'::jsonb, 'requires', jsonb_build_array(skill))
FROM (VALUES (0, 'task.request', 'agent:client', 'agent:orchestrator'),
             (1, 'routing.failure', 'agent:orchestrator', 'agent:client')) AS written(step, what, from_agent, to_agent),
    k, generate_series(1, %(n)d) i JOIN kind ON no = i %% %(kinds)d;
INSERT INTO clutch.task (task_id, run_id, thread_id, depth, status, from_agent, attempt, priority, requires, waiting_for, code,
    detail, reason, queue_no, queue_kind, request_seq, since, created_at)
SELECT 'task_wait_' || i, 'run_' || i / 10, 'thr_' || i / 10, 0, 'pending', 'agent:client', 1, 2, ARRAY[skill], 'capacity', 'NO_CAPACITY',
    'all are full', 'new', q + i, queue_kind, s + i, t, t
FROM k, generate_series(1, %(n)d) i JOIN kind ON no = i %% %(kinds)d;
INSERT INTO clutch.waiting (kind, urgency, queue_no, task_id, since)
SELECT queue_kind, 2, q + i, 'task_wait_' || i, t FROM k, generate_series(1, %(n)d) i JOIN kind ON no = i %% %(kinds)d;
SELECT setval('clutch.event_seq', s + 2 * %(n)d), setval('clutch.queue_no', q + %(n)d) FROM k;
"""


def freed_database(name, pending):
    numbers = {"agents": AGENTS, "kinds": KINDS, "n": pending - KINDS}
    template_database(name, TEAM % numbers + WAIT % numbers)
    check_state(name)


def finish_and_ask():
    """One that is given out is finished, another comes to wait: so many wait all the time."""
    envelope = envelope_of("task.request")
    envelope.update(prefers=[], requires=["~skill~"], security={"policy": {"sandbox": True}})
    text = concat_of(envelope, {
        "id": ":k::text", "run_id": ":group::text", "thread_id": ":group::text", "task_id": "concat('task_', :k::text)",
        "from_agent": literal("agent:client"), "skill": "concat(%s, :skill::text)" % literal("skill:s")})
    return (SINGLE + "\\set a (:n * {0} + :client_id) % {1}\n\\set skill 2 * :a + :n / {1} % 2\n\\set got 0\n"
            "INSERT INTO clutch.events (envelope) VALUES ({2}::jsonb);\n"
            "SELECT 1 AS got, task_id, agent_id FROM clutch.agent_slot "
            "WHERE agent_id = concat({3}, :a::text) AND task_id IS NOT NULL LIMIT 1\\aset\n"
            "\\if :got\nSELECT clutch.finish(:agent_id, :task_id);\n\\endif\n").format(
                CLIENTS, PLAYED, text, literal("agent:"))


def measure_freed(table):
    table.head("clutch.finish frees a slot, {:,} pending in {} kinds of requires, {} agents of limit 2, sync off "
               "(reference: 1,000 pending)".format(PENDING, KINDS, AGENTS))
    table.columns("1,000 pending")
    few, many = FREED + "_few", FREED + "_many"
    for name, pending in ((few, 1000), (many, PENDING)):
        freed_database(name, pending)
    for clients in (1, CLIENTS):
        contenders = {name: lambda name=name: pgbench(finish_and_ask(), clients, settings=SYNC_OFF, database=name,
                                                      statement="clutch.finish") for name in (few, many)}
        runs = interleave(contenders)
        table.row("%d client%s" % (clients, "s" if clients > 1 else ""), rate(rates(runs[many])), rate(rates(runs[few])),
                  Ratio(rates(runs[many]), rates(runs[few])), at_least=0.85)
    for name in (few, many):
        sql("DROP DATABASE %s" % name, "postgres")


# ------------------------------------------------------------- held snapshot

HOLD = int(os.environ.get("BENCH_HOLD", "60"))      # seconds
WINDOW = 3
HOLDING_CLIENTS = 4


def trips_while(held, script):
    """Round trips per second in each WINDOW, with a snapshot held open by another session or not."""
    fresh_database(EMPTY)
    holder = psycopg2.connect(dbname=DATABASE)
    holder.set_session(isolation_level="REPEATABLE READ")
    if held:
        holder.cursor().execute("SELECT 1")
    note("%d s, snapshot %s" % (HOLD, "held" if held else "not held"))
    run = pgbench(script, HOLDING_CLIENTS, seconds=HOLD, settings=SYNC_OFF, alone=False, every=WINDOW)
    holder.close()
    return run.windows


def measure_held(table):
    table.head("Round trips under a snapshot held for {} s, {} clients, sync off: the last {} s".format(
        HOLD, HOLDING_CLIENTS, 3 * WINDOW))
    table.columns("reference")
    for limit, bar in ((1000, 0.70), (16, 0.50)):
        template_database(EMPTY, setup(limit))
        held, free = trips_while(True, clutch_trip()), trips_while(False, clutch_trip())
        last = held[-3:]
        for what, reference in (("over its first %d s" % WINDOW, held[:1] * 3), ("over without it", free[-3:])):
            table.row("limit {:,}, {}".format(limit, what), rate(last), rate(reference),
                      Ratio(last, reference), at_least=bar)
    if PGMQ:
        held = trips_while(True, pgmq_trip())
        table.row("pgmq, over its first %d s" % WINDOW, rate(held[-3:]), rate(held[:1]), Ratio(held[-3:], held[:1] * 3))
    else:
        table.absent("pgmq, over its first %d s" % WINDOW, "", "pgmq")
