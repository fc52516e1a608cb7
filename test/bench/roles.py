"""The cost of being the role of an agent: appending as one, and reading a filtered log.

The filtered log has events of 100,000 runs, 10 each.  The role of agent:app takes part
in 100 of them, that of agent:busy in half of all.
"""
import time

from append import BATCH, CLIENTS, SYNC_OFF, SYNC_ON, costs, envelope_of, insert, literal, rates
from filling import SCALE, Filling
from measure import Ratio, fresh_database, interleave, micros, pgbench, rate, template_database
from pace import connect
from reference import LOGS

APPENDING = "clutch_bench_role"
READING = "clutch_bench_sight"

# Each client is an agent of its own, so that each of its runs is its own, too.
GRANTS = """
DO $$ BEGIN
    IF to_regrole('clutch_bench_app') IS NULL THEN CREATE ROLE clutch_bench_app LOGIN; END IF;
    IF to_regrole('clutch_bench_busy') IS NULL THEN CREATE ROLE clutch_bench_busy LOGIN; END IF;
END $$;
SELECT clutch.grant_agent('clutch_bench_app', 'agent:worker-' || c) FROM generate_series(0, %d) c;
""" % (CLIENTS - 1)

SETUP = "CREATE EXTENSION clutch;" + LOGS + GRANTS
AS_ROLE = " -c role=clutch_bench_app"
MESSAGE = "chat.message"


def ids(batch):
    if batch:
        return {"id": "k::text", "run_id": "(k / 100)::text", "thread_id": "(k / 100)::text",
                "task_id": "(k / 10)::text", "from_agent": literal("agent:worker-0")}
    run = "concat(:client_id::text, '_', :group::text)"
    return {"id": ":k", "run_id": run, "thread_id": run, "task_id": ":task",
            "from_agent": "concat(%s, :client_id::text)" % literal("agent:worker-")}


def appends(log, batch, settings, clients):
    script = insert(log, batch, envelope_of(MESSAGE), ids(batch))
    return lambda: pgbench(script, clients, settings=settings)


def measure_append(table):
    template_database(APPENDING, SETUP)
    table.head("Append of a message by the role of an agent (references: the superuser, fair and plain)")
    table.columns()
    for batch, settings, clients in ((False, SYNC_ON, CLIENTS), (False, SYNC_OFF, CLIENTS), (True, SYNC_OFF, 1)):
        contenders = {"role": appends("clutch", batch, settings + AS_ROLE, clients)}
        contenders.update({log: appends(log, batch, settings, clients) for log in ("clutch", "fair", "plain")})
        runs = interleave(contenders, lambda: fresh_database(APPENDING))
        if batch:
            cpu = {name: costs(results) for name, results in runs.items()}
            table.row("batches of %d, CPU, over fair" % BATCH, micros(cpu["role"]), micros(cpu["fair"]), Ratio(cpu["role"], cpu["fair"]), at_most=1.12)
            table.row("  over plain", "", micros(cpu["plain"]), Ratio(cpu["role"], cpu["plain"]), at_most=1.27)
            table.row("  over the superuser", "", micros(cpu["clutch"]), Ratio(cpu["role"], cpu["clutch"]))
            continue
        tps = {name: rates(results) for name, results in runs.items()}
        table.row("%d clients, sync %s, over fair" % (clients, "on" if settings is SYNC_ON else "off"), rate(tps["role"]), rate(tps["fair"]),
                  Ratio(tps["role"], tps["fair"]), at_least=0.95)
        table.row("  over plain", "", rate(tps["plain"]), Ratio(tps["role"], tps["plain"]), at_least=0.85)
        table.row("  over the superuser", "", rate(tps["clutch"]), Ratio(tps["role"], tps["clutch"]))


# ------------------------------------------------------------------- reading

RUNS = max(1000, int(100000 * SCALE))
EVENTS = 10 * RUNS
APP_RUNS, APP_EVENTS = 100, 1000

SAMPLE = """
CREATE EXTENSION clutch;
INSERT INTO clutch.events (envelope) SELECT clutch.envelope('chat.message', 'agent:ui', payload => '{"text": "what is copied"}', id => 'msg_sample', run_id => 'run_sample');
"""
OWNERS = """
SELECT clutch.grant_agent('clutch_bench_app', 'agent:app'), clutch.grant_agent('clutch_bench_busy', 'agent:busy');
"""


def write_log():
    template_database(READING, SAMPLE + GRANTS + OWNERS)
    filling = Filling(READING)
    run = "i %% %d" % RUNS
    sender = ("CASE WHEN %(run)s < %(app)d THEN 'agent:app' WHEN %(run)s %% 2 = 1 THEN 'agent:busy' ELSE 'agent:ui' END"
              % {"run": run, "app": APP_RUNS})
    filling.copy("events", "id = 'msg_sample'", 1, EVENTS, seq="1000 + i", xid="(3 + i / 10)::text::xid8", id="'msg_' || i", run_id="'run_' || " + run,
                 thread_id="'thr_' || " + run, task_id="'task_' || i / 10", from_agent=sender)
    filling.sql("SELECT setval('clutch.event_seq', %d); VACUUM ANALYZE clutch.events;" % (EVENTS + 2000))


def reader(role, query, expected, busy=False):
    """
    Microseconds of counting the rows of a query, as a role or as the superuser.  busy:
    another session commits before each call, so nothing can be cached by snapshot.
    """
    connection = connect("SET ROLE %s" % role if role else "SELECT 1", READING)
    other = connect("SELECT 1", READING)
    cursor = connection.cursor()

    def timed():
        times = []
        for _ in range(5):
            if busy:
                other.cursor().execute("SELECT pg_current_xact_id()")
            began = time.monotonic()
            cursor.execute(query)
            n = cursor.fetchone()[0]
            times.append((time.monotonic() - began) * 1e6)
            assert expected is None or n == expected, (role, query, n)
        return sorted(times)[2]

    timed()
    return timed


def against_owner(table, work, role, query, expected, owners=None, at_most=None, busy=False):
    runs = interleave({"role": reader(role, query, expected, busy), "owner": reader(None, owners or query, expected, busy)})
    table.row(work, micros(runs["role"]), micros(runs["owner"]), Ratio(runs["role"], runs["owner"]), at_most=at_most)


def measure_sight(table):
    write_log()
    table.head("Reading a log of %s events as the role of an agent, rows counted in the server (reference: the owner)" % format(EVENTS, ","))
    table.columns("owner")
    own = "SELECT count(envelope) FROM clutch.events"
    listed = own + " WHERE run_id = ANY (ARRAY(SELECT 'run_' || i FROM generate_series(0, %d) i))" % (APP_RUNS - 1)
    one = own + " WHERE run_id = 'run_%d'"
    newest = "SELECT count(*) FROM (SELECT seq FROM clutch.events ORDER BY seq DESC LIMIT 5) e"
    against_owner(table, "its 1,000 events of %d runs" % APP_RUNS, "clutch_bench_app", own, APP_EVENTS, owners=listed, at_most=2)
    against_owner(table, "  after a commit of somebody else", "clutch_bench_app", own, APP_EVENTS, owners=listed, busy=True)
    against_owner(table, "  one run of its own", "clutch_bench_app", one % 7, 10)
    against_owner(table, "    after a commit of somebody else", "clutch_bench_app", one % 7, 10, busy=True)
    against_owner(table, "  the newest five", "clutch_bench_app", newest, 5)
    against_owner(table, "one run of its own, of %s" % format(RUNS // 2, ","), "clutch_bench_busy", one % (APP_RUNS + 1), 10)
    against_owner(table, "  the newest five", "clutch_bench_busy", newest, 5)
    against_owner(table, "  all its events", "clutch_bench_busy", own, None)
