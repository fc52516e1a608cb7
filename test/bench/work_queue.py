"""The work queue: round trips, empty, full, and under a snapshot held open.

A round trip is three commits: send, claim one, finish it; clutch writes the
request, the accept and the result to its log.  The reference is pgmq's send,
read and archive of the same envelope; it keeps no log, lease, attempt or state
of a task.  The second reference also inserts the three events into `plain`, each
in the transaction, and in the statement, that it belongs to.

pgmq is not part of this repository: BENCH_PGMQ names its SQL file
(pgmq-extension/sql/pgmq.sql of github.com/pgmq/pgmq), which is installed beside
clutch in the measured database.  Without it, its rows are printed as missed.
"""
import os
import time

import psycopg2

from append import (CLIENTS, COLUMNS, SINGLE, SYNC_OFF, SYNC_ON, as_text, concat_of, envelope_of,
                    ids_of_message, literal)
from filling import SAMPLES, SETUP, filled, scaled
from measure import (DATABASE, Ratio, fresh_database, interleave, micros, note, pgbench, rate, sql,
                     template_database)
from reference import PLAIN

PGMQ = os.environ.get("BENCH_PGMQ", "")
EMPTY = "clutch_bench_queue"
FULL = "clutch_bench_queue_full"
WORKER = "agent:worker"


def setup(limit):
    return SETUP % (WORKER, limit) + pgmq_setup()


def pgmq_setup():
    """pgmq is installed beside clutch in the same database, so both have the same server and disk."""
    if not PGMQ:
        return ""
    with open(PGMQ) as f:
        return f.read() + "\nSELECT pgmq.create('q');\n" + PLAIN


# ------------------------------------------------------------------ scripts

def request(to):
    """An SQL expression for the envelope of a request."""
    envelope = envelope_of("task.request")
    envelope.update(to=[{"agent_id": to}], prefers=[], security={"policy": {"sandbox": True}})
    return concat_of(envelope, {
        "id": ":k::text", "run_id": ":group::text", "thread_id": ":group::text",
        "task_id": "concat('task_', :k::text)", "from_agent": literal("agent:client")}) + "::jsonb"


def clutch_trip(to=WORKER):
    """If :got is not set, there is nothing to finish, because another client was faster."""
    return (SINGLE + "\\set got 0\nINSERT INTO clutch.events (envelope) VALUES (%s);\n" % request(to) +
            "SELECT 1 AS got, task_id, attempt, envelope FROM clutch.claim(%s)\\aset\n"
            "\\if :got\nSELECT clutch.finish(%s, :task_id, '{}', :attempt);\n\\endif\n" %
            (literal(WORKER), literal(WORKER)))


def pgmq_trip():
    return (SINGLE + "\\set got 0\nSELECT pgmq.send('q', %s);\n" % request(WORKER) +
            "SELECT 1 AS got, msg_id, message FROM pgmq.read('q', 60, 1)\\aset\n"
            "\\if :got\nSELECT pgmq.archive('q', :msg_id::bigint);\n\\endif\n")


def report(message_type, payload, ids):
    """Inserts into `plain` a row like the event that clutch writes for a claim or a finish."""
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

def trips_of(clients, settings, routed):
    """The contenders: a round trip of each kind."""
    scripts = {"clutch": clutch_trip()}
    if routed:
        scripts["routed"] = clutch_trip("agent:orchestrator")
    if PGMQ:
        scripts.update(pgmq=pgmq_trip(), logged=logged_pgmq_trip())
    return {name: lambda script=script: pgbench(script, clients, settings=settings)
            for name, script in scripts.items()}


def measure_round_trip(table):
    table.head("Round trip of the work queue, empty: send, claim, finish (reference: pgmq send, read, archive)")
    table.columns("pgmq")
    template_database(EMPTY, setup(1000000))
    for name, clients, settings, bars in (("sync off", CLIENTS, SYNC_OFF, (1.8, 2.2)),
                                          ("sync on", CLIENTS, SYNC_ON, (1.8, 2.2)),
                                          ("sync off", 1, SYNC_OFF, (None, None))):
        routed = clients > 1 and settings is SYNC_OFF
        runs = interleave(trips_of(clients, settings, routed), lambda: fresh_database(EMPTY))
        work = "%d client%s, %s" % (clients, "s" if clients > 1 else "", name)
        ours = rates(runs["clutch"])
        for label, peer, bar in ((work, "pgmq", bars[0]), ("  over pgmq with the same log", "logged", bars[1])):
            if peer in runs:
                table.row(label, rate(ours) if peer == "pgmq" else "", rate(rates(runs[peer])),
                          Ratio(ours, rates(runs[peer])), at_least=bar)
            elif bar:
                table.absent(label, rate(ours), "pgmq", ">= %.2f" % bar)
        for peer, label in (("pgmq", "  CPU of backends"), ("logged", "  CPU of backends, over pgmq with the same log")):
            if peer in runs:
                table.row(label, micros(costs(runs["clutch"])), micros(costs(runs[peer])),
                          Ratio(costs(runs["clutch"]), costs(runs[peer])))
        if routed and PGMQ:
            table.row("  requests that are routed", rate(rates(runs["routed"])), "",
                      Ratio(rates(runs["routed"]), rates(runs["pgmq"])))


# --------------------------------------------------------------------- full

READY, IN_FLIGHT, DONE = scaled(1000000), scaled(100000), scaled(1000000)

# The same in pgmq: messages in flight at the head of the queue, then those that can be read.
FILL_PGMQ = """
INSERT INTO pgmq.q_q (vt, read_ct, message)
SELECT now() + CASE WHEN i <= %(flight)d THEN interval '1 day' ELSE interval '0' END, (i <= %(flight)d)::int, '{"goal": "full"}'
FROM generate_series(1, %(flight)d + %(ready)d) i;
INSERT INTO pgmq.a_q (msg_id, vt, read_ct, message)
SELECT -i, now(), 1, '{"goal": "full"}' FROM generate_series(1, %(done)d) i;
"""


def fill():
    numbers = {"ready": READY, "flight": IN_FLIGHT, "done": DONE}
    began = time.monotonic()
    filled(FULL, setup(100000000) + SAMPLES + (FILL_PGMQ % numbers if PGMQ else ""),
           ("sample_done", DONE), ("sample_flight", IN_FLIGHT), ("sample_ready", READY))
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
    for clients, bar in ((1, 0.90), (CLIENTS, 0.85)):
        for name, script in trips.items():
            contenders = {where: lambda where=where: pgbench(script, clients, settings=SYNC_OFF, database=where)
                          for where in (DATABASE, FULL)}
            runs = interleave(contenders)
            ours, empty = rates(runs[FULL]), rates(runs[DATABASE])
            table.row("%s, %d client%s" % (name, clients, "s" if clients > 1 else ""), rate(ours), rate(empty),
                      Ratio(ours, empty), at_least=bar if name == "clutch" else None)
    sql("DROP DATABASE %s" % FULL, "postgres")


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
    for limit, bar in ((1000, 0.85), (16, 0.85)):
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
        table.absent("pgmq, over its first %d s" % WINDOW, "", "pgmq", None)
