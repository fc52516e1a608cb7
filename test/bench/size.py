"""Costs that should not depend on the size of a database, and what an idle one writes.

This is monitoring beside millions of finished tasks, rebuilding the state from
the log, and the rows that are written while nothing happens.
"""
import os
import threading
import time

from filling import SAMPLES, SETUP, filled, scaled
from listeners import worker_is_there
from measure import DATABASE, Ratio, interleave, micros, millis, note, sql
from pace import connect
from roster import megabytes, resident_bytes

WORKER = SETUP % ("agent:worker", 100000000)

# ---------------------------------------------------------------- monitoring

FINISHED = scaled(3000000)
OPEN = scaled(1000)
MONITORED = "clutch_bench_monitored"
CALLS = (("stuck", "SELECT count(*) FROM clutch.stuck", 50),
         ("metrics", "SELECT count(*) FROM clutch.metrics()", 50),
         ("tick", "SELECT clutch.tick()", 50),
         ("check", "SELECT count(*) FROM clutch.check()", 1000))


def timed(connection, query):
    """Milliseconds until the result is there."""
    began = time.monotonic()
    cursor = connection.cursor()
    cursor.execute(query)
    cursor.fetchall()
    return (time.monotonic() - began) * 1000


def measure_monitoring(table):
    table.head("Monitoring beside {:,} finished tasks".format(FINISHED))
    table.columns("")
    filled(MONITORED, WORKER + SAMPLES, ("sample_done", FINISHED), ("sample_flight", OPEN), ("sample_ready", OPEN))
    connection = connect("SELECT 1", MONITORED)
    for name, query, bar in CALLS:
        timed(connection, query)
        table.limit(name, [timed(connection, query) for _ in range(5)], bar, millis)
    connection.close()
    sql("DROP DATABASE %s WITH (FORCE)" % MONITORED, "postgres")


# ------------------------------------------------------------------- rebuild

# Finished tasks: three events each.
REBUILT = [scaled(int(n)) for n in os.environ.get("BENCH_REBUILD", "100000 1000000").split()]
REBUILD_ROUNDS = 2


class Peak:
    """Watches by how much the anonymous memory of a session grows."""

    def __init__(self, connection):
        self.connection = connection
        self.start = self.most = resident_bytes(connection)
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.ends.wait(0.02):
            self.most = max(self.most, resident_bytes(self.connection))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()
        self.added = self.most - self.start


def rebuilt(name):
    """(microseconds per event, bytes) of one rebuild in a new session."""
    events = int(sql("SELECT count(*) FROM clutch.events", name))
    connection = connect("SELECT clutch.version()", name)
    with Peak(connection) as peak:
        took = timed(connection, "SELECT clutch.rebuild()")
    connection.close()
    wrong = sql("SELECT code || ' ' || detail FROM clutch.check()", name)
    if wrong:
        raise RuntimeError("rebuilt, %s is not as clutch would have it: %s" % (name, wrong))
    return took * 1000 / events, peak.added


def measure_rebuild(table):
    table.head("clutch.rebuild, finished tasks of three events")
    table.columns("smallest")
    names = ["clutch_bench_rebuilt_%d" % number for number in range(len(REBUILT))]
    for name, tasks in zip(names, REBUILT):
        filled(name, WORKER + SAMPLES, ("sample_done", tasks))
    runs = interleave({name: lambda name=name: rebuilt(name) for name in names}, rounds=REBUILD_ROUNDS)
    spent = {name: [run[0] for run in runs[name]] for name in names}
    added = {name: [run[1] for run in runs[name]] for name in names}
    for name, tasks in zip(names, REBUILT):
        table.limit("{:,} events, time of each".format(3 * tasks), spent[name], 40, micros)
        table.limit("  memory", added[name], None, megabytes)
    small, large = names[0], names[-1]
    table.row("the largest, over the smallest", micros(spent[large]), micros(spent[small]),
              Ratio(spent[large], spent[small]), at_most=1.10)
    table.limit("memory that the largest needs beyond the smallest",
                [a - b for a, b in zip(added[large], added[small])], 16 * 1024 * 1024, megabytes)
    for name in names:
        sql("DROP DATABASE %s WITH (FORCE)" % name, "postgres")


# ---------------------------------------------------------------------- idle

IDLE = int(os.environ.get("BENCH_IDLE", "60"))      # seconds
SETTLED_WITHIN = 120

# A thousand agents that fall silent at once, and the 500 tasks that they were given.
SILENT = """
CREATE EXTENSION clutch;
SELECT count(*) FROM generate_series(1, 1000) a, clutch.register(jsonb_build_object('v', 'clutch/0.1',
    'agent_id', 'agent:' || a, 'display', '{"name": "Worker"}'::jsonb,
    'capabilities', jsonb_build_array(jsonb_build_object('id', 'skill:s' || a % 20)),
    'limits', '{"max_concurrency": 2, "heartbeat_sec": 1}'::jsonb, 'security', '{"sandbox": true, "network": "none"}'::jsonb));
INSERT INTO clutch.events (envelope)
SELECT clutch.envelope(type => 'task.request', from_agent => 'agent:client', run_id => 'run_' || i / 10,
    thread_id => 'thr_' || i / 10, task_id => 'task_' || i, requires => ARRAY['skill:s' || i % 20])
FROM generate_series(1, 500) i;
"""
WRITTEN = """
SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_user_tables WHERE schemaname = 'clutch'
"""


def written():
    """{table: rows inserted, updated and deleted since the database was made}"""
    return {name: int(rows) for name, rows in (line.split("|") for line in sql(WRITTEN).split("\n"))}


def wal_bytes():
    return int(sql("SELECT pg_current_wal_insert_lsn() - '0/0'"))


def lost():
    return int(sql("SELECT count(*) FROM clutch.agents WHERE status = 'UNAVAILABLE'"))


def wait_for_silence():
    """Waits until all agents are UNAVAILABLE and nothing has been written for 15 seconds."""
    end = time.monotonic() + SETTLED_WITHIN
    while lost() < 1000 and time.monotonic() < end:
        time.sleep(1)
    before = None
    while time.monotonic() < end:
        now = written()
        if now == before:
            return
        before = now
        time.sleep(15)
    note("still writing after %d s" % SETTLED_WITHIN)


def measure_idle(table):
    sql("DROP DATABASE IF EXISTS %s WITH (FORCE);\nCREATE DATABASE %s;" % (DATABASE, DATABASE), "postgres")
    sql(SILENT)
    table.head("An idle database: 1,000 silent agents, 500 open tasks, worker running")
    table.columns("")
    if not worker_is_there():
        table.absent("rows written", "", "the worker, see shared_preload_libraries,", "<= 0")
        return
    wait_for_silence()
    before, wal = written(), wal_bytes()
    time.sleep(IDLE)
    after, wal = written(), wal_bytes() - wal
    added = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    table.limit("rows written in %d s" % IDLE, [sum(added.values())], 0, lambda values: "%d" % values[0],
                "%d open" % int(sql("SELECT count(*) FROM clutch.tasks WHERE finished_at IS NULL")))
    for name in sorted(added):
        table.limit("  in clutch.%s" % name, [added[name]], None, lambda values: "%d" % values[0])
    table.limit("  WAL of the cluster", [wal], None, lambda values: "%.1f kB" % (values[0] / 1024))
