#!/usr/bin/env python3
"""Pruning a log under continuous load: who has to wait, and whether the space is used again.

    retention.py [EVENTS [KEEP]]        default: 5000000 1000000

Fills a database with EVENTS events of finished tasks, of which all but KEEP are
old, and lets clients send, claim and finish all the time, half as often as they
could, while another client reports on old tasks and writes to old runs, which are
being removed.  As many clients do the same in a small database on the same server,
which shows the influence of other load on the machine.  Then it prunes what is old:
for a while like the worker, which pauses four times as long as a batch took, and then
the rest without pauses.  It prints how long the calls of the clients take before,
during and after that, the longest wait for a lock in that time, and the size of the
log before, after, and when as many events have been added again as were removed.  Not a part of make bench: at full size it takes about twenty minutes and
10 GB.  PG* in the environment name a server; its user is a superuser.

Bars: nobody waits 100 ms for a lock; send, claim and finish, relative to the small
database, take at most 1.1 times as long as before, both while it is pruned with
pauses and afterwards; the refilled log is at most a tenth larger than before;
check() finds nothing, a rebuild finds the same tasks, and a subscription has read
everything that was sent meanwhile.
"""
import os
import random
import statistics
import sys
import threading
import time

import psycopg2

from filling import Filling
from measure import TICK

EVENTS = int(sys.argv[1]) if len(sys.argv) > 1 else 5000000
KEEP = int(sys.argv[2]) if len(sys.argv) > 2 else EVENTS // 5
CLIENTS = int(os.environ.get("BENCH_CLIENTS", "4"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "20"))
BATCH = int(os.environ.get("BENCH_BATCH", "500"))
PAUSE = 4                   # the worker pauses for so many times as long as a batch took
DATABASE = "clutch_bench_retention"
SMALL = "clutch_bench_retention_small"
EVENTS_OF_TASK = 3          # the request, which names its agent, its claim and its end
CHUNK = 50000               # tasks that are copied at once, so that a run's events lie near one another
OLD = "2026-01-01T00:00:00Z"

CARD = """SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:%s', 'display', '{"name": "x"}'::jsonb,
    'capabilities', '[{"id": "skill:x"}]'::jsonb, 'limits', '{"max_concurrency": 1000000, "heartbeat_sec": 0}'::jsonb));"""
SAMPLE = """SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:fill}',
    jsonb_build_object('text', repeat('x', 200)), run_id => 'run_sample_%(tag)s', task_id => 'sample_%(tag)s'));
SELECT task_id FROM clutch.claim('agent:fill');
SELECT clutch.finish('agent:fill', 'sample_%(tag)s', '{"text": "done"}');"""


def connect(settings="", database=DATABASE):
    connection = psycopg2.connect(dbname=database, options=settings)
    connection.autocommit = True
    return connection


def ask(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def say(text):
    print(text, flush=True)


def fill(filling, tag, events):
    tasks = events // EVENTS_OF_TASK
    for first in range(0, tasks, CHUNK):
        filling.tasks("sample_" + tag, min(CHUNK, tasks - first))


# ----------------------------------------------------------------------- load

class Load:
    """Clients that send, claim and finish, with the time and duration of each round trip.
    The pause between two trips can be changed while they run."""

    def __init__(self, database):
        self.ends = False
        self.database = database
        self.period = 0.0
        self.trips = []
        self.backends = []
        self.threads = [threading.Thread(target=self.work, args=(n,)) for n in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def work(self, n):
        connection = connect("-c clutch.notify=off", self.database)
        self.backends.append(connection.get_backend_pid())
        agent = "agent:c%d" % n
        trip = 0
        while not self.ends:
            began = time.monotonic()
            trip += 1
            ask(connection, "SELECT seq FROM clutch.send(clutch.envelope('task.request', 'agent:ui', '{%s}', task_id => 'task:c%d_%d_%s'))"
                % (agent, n, trip, os.getpid()))
            for task, attempt in ask(connection, "SELECT task_id, attempt FROM clutch.claim('%s')" % agent):
                ask(connection, "SELECT seq FROM clutch.finish('%s', '%s', '{}', %d)" % (agent, task, attempt))
            self.trips.append((began, time.monotonic() - began))
            time.sleep(max(0, began + self.period - time.monotonic()))
        connection.close()

    def stop(self):
        self.ends = True
        for thread in self.threads:
            thread.join()

    def cpu(self):
        """Milliseconds of user and system time of the clients' backends so far."""
        ticks = 0
        for pid in self.backends:
            with open("/proc/%d/stat" % pid) as f:
                fields = f.read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks * 1000 / TICK

    def took(self, since, until):
        """Milliseconds of the trips of a period, in order."""
        return sorted(took * 1000 for began, took in self.trips if since <= began < until)

    def calm_down(self, seconds):
        """Makes the clients run half as often as they could."""
        since = time.monotonic()
        time.sleep(seconds)
        self.period = 2 * CLIENTS * seconds / len(self.took(since, time.monotonic()))


class Intruder:
    """Reports on old tasks and writes to old runs, ten times a second.  Some of them are
    being removed, so the slowest call shows the longest wait for prune."""

    def __init__(self, tasks):
        self.ends = False
        self.slowest = 0.0
        self.calls = 0
        self.thread = threading.Thread(target=self.work, args=(tasks,))
        self.thread.start()

    def work(self, tasks):
        connection = connect("-c clutch.notify=off")
        rng = random.Random(1)
        while not self.ends:
            left = ask(connection, "SELECT seq FROM clutch.events ORDER BY seq LIMIT 1")[0][0] // EVENTS_OF_TASK
            task = min(tasks, left + rng.randrange(1000))
            began = time.monotonic()
            try:
                ask(connection, "SELECT late FROM clutch.finish('agent:fill', 'task_full_%d', '{}', 1)" % task if self.calls % 2 else
                    "SELECT seq FROM clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:fill}', run_id => 'run_%d', "
                    "thread_id => 'thr_1', task_id => 'task:talk'))" % (task // 10))
            except psycopg2.Error as error:
                if "TASK_NOT_FOUND" not in str(error.diag.message_detail):
                    raise
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.calls += 1
            time.sleep(0.1)
        connection.close()

    def stop(self):
        self.ends = True
        self.thread.join()


class Waits:
    """Samples pg_locks, and keeps the longest wait for a lock."""
    QUERY = """SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart)), 0) FROM pg_locks
        WHERE NOT granted AND waitstart IS NOT NULL"""

    def __init__(self):
        self.ends = False
        self.longest = 0.0
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        connection = connect()
        while not self.ends:
            self.longest = max(self.longest, float(ask(connection, self.QUERY)[0][0]))
            time.sleep(0.005)
        connection.close()

    def stop(self):
        self.ends = True
        self.thread.join()
        return self.longest


# ------------------------------------------------------------------ the story

def size(connection):
    return ask(connection, "SELECT pg_total_relation_size('clutch.events')")[0][0]


def counted(connection):
    return ask(connection, "SELECT count(*) FROM clutch.events")[0][0]


class Pruning:
    """Prunes all that is old; returns how many events were removed, and how long each batch took."""

    def __init__(self):
        self.connection = connect()
        self.removed = 0
        self.took = []

    def batch(self):
        began = time.monotonic()
        n = ask(self.connection, "SELECT clutch.prune('2026-02-01T00:00:00Z', %d)" % BATCH)[0][0]
        if n > 0:
            self.took.append(time.monotonic() - began)
        self.removed += n
        return n > 0

    def with_pauses(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.batch():
            time.sleep(PAUSE * self.took[-1])

    def the_rest(self):
        while self.batch():
            pass


def verdict(name, value, bar, fine):
    say("  %-48s %14s   bar %-10s %s" % (name, value, bar, "met" if fine else "MISSED"))


def prepare_database(admin, name):
    ask(admin, "DROP DATABASE IF EXISTS %s WITH (FORCE)" % name)
    ask(admin, "CREATE DATABASE %s" % name)
    connection = connect("-c clutch.default_deadline=0", name)
    ask(connection, "CREATE EXTENSION clutch")
    for agent in ["fill"] + ["c%d" % n for n in range(CLIENTS)]:
        ask(connection, CARD % agent)
    return connection


def prepare(admin):
    prepare_database(admin, SMALL).close()
    connection = prepare_database(admin, DATABASE)
    ask(connection, SAMPLE % {"tag": "new"})
    ask(connection, "SET clutch.clock = '%s'" % OLD)
    ask(connection, SAMPLE % {"tag": "old"})
    connection.close()
    filling = Filling(DATABASE)
    began = time.monotonic()
    fill(filling, "old", EVENTS - KEEP)
    fill(filling, "new", KEEP)
    filling.finish()
    connection = connect()
    say("%d events, %.0f MB, filled in %.0f s" % (counted(connection), size(connection) / 1e6, time.monotonic() - began))
    connection.close()
    return filling


def period(loads, name, seconds, work=None):
    """What the clients did in this time, or while the work was done.  Returns the median time
    of a trip and its CPU, over those in the small database."""
    since, cpu = time.monotonic(), [load.cpu() for load in loads]
    if work is None:
        time.sleep(seconds)
    else:
        work()
    until = time.monotonic()
    found = []
    for load, before in zip(loads, cpu):
        took = load.took(since, until)
        found.append((statistics.median(took), (load.cpu() - before) / len(took)))
        say("  %-32s %4.0f s %5.0f trips a second, median %.1f ms, 99 %% %.1f ms, slowest %.0f ms, CPU of a trip %.2f ms"
            % (name if load is loads[0] else "  in the small database", until - since, len(took) / (until - since), found[-1][0],
               took[len(took) * 99 // 100], took[-1], found[-1][1]))
    return [ours / theirs for ours, theirs in zip(*found)]


def measure_load():
    """Prunes under load; returns how many events were removed."""
    connection = connect()
    ask(connection, "SELECT clutch.subscribe('reader', '{}', 'now')")
    loads = [Load(DATABASE), Load(SMALL)]
    time.sleep(1)
    for load in loads:
        load.calm_down(SECONDS / 4)
    intruder = Intruder((EVENTS - KEEP) // EVENTS_OF_TASK)
    before = period(loads, "before", SECONDS)
    waits = Waits()
    pruning = Pruning()
    during = period(loads, "while pruned with pauses", SECONDS, lambda: pruning.with_pauses(SECONDS))
    period(loads, "while pruned without a pause", 0, pruning.the_rest)
    longest = waits.stop()
    intruder.stop()
    ask(connection, "VACUUM clutch.events, clutch.task")
    after = period(loads, "after", SECONDS)
    for load in loads:
        load.stop()
    say("removed %d events, %.0f a second of prune; a batch of %d takes %.0f ms (median), %.0f (most)"
        % (pruning.removed, pruning.removed / sum(pruning.took), BATCH, statistics.median(pruning.took) * 1000, max(pruning.took) * 1000))
    verdict("longest wait for a lock", "%.0f ms" % (longest * 1000), "100 ms", longest < 0.1)
    verdict("slowest of %d calls about what is removed" % intruder.calls, "%.0f ms" % (intruder.slowest * 1000), "-", True)
    for what, then in (("while it is pruned with pauses", during), ("afterwards", after)):
        for kind, now, was in zip(("median", "CPU"), then, before):
            verdict("a trip %s, %s" % (what, kind), "%.2f" % (now / was), "<= 1.1", now <= 1.1 * was)
    connection.close()
    return pruning.removed


def measure_space(filling, bytes_full, removed):
    connection = connect()
    small = size(connection)
    fill(filling, "new", removed)
    again = size(connection)
    ratio = again / counted(connection) / bytes_full
    say("the log: %.0f MB pruned, %.0f MB refilled" % (small / 1e6, again / 1e6))
    verdict("bytes an event when refilled, over before", "%.2f" % ratio, "<= 1.1", ratio <= 1.1)
    connection.close()


def measure_agreement():
    connection = connect()
    faults = ask(connection, "SELECT count(*) FROM clutch.check() WHERE code <> 'TIMER_OVERDUE'")[0][0]
    verdict("rows of check()", faults, "0", faults == 0)
    read = 0
    while True:
        rows = ask(connection, "SELECT count(*), clutch.commit('reader', max(pos)) FROM clutch.read('reader', 10000) HAVING count(*) > 0")
        if not rows:
            break
        read += rows[0][0]
    sent = ask(connection, "SELECT count(*) FROM clutch.events WHERE xid >= (SELECT min(xid) FROM clutch.events WHERE task_id ^@ 'task:c0_1_')")[0][0]
    verdict("events that a subscription has read", read, ">= %d" % sent, read >= sent)
    state = "SELECT count(*), count(*) FILTER (WHERE status = 'completed'), sum(request_seq), sum(result_seq) FROM clutch.task"
    tasks = ask(connection, state)[0]
    began = time.monotonic()
    ask(connection, "SELECT clutch.rebuild()")
    rebuilt = ask(connection, state)[0]
    verdict("tasks after a rebuild (%.0f s)" % (time.monotonic() - began), rebuilt[0], tasks[0], rebuilt == tasks)
    connection.close()


def main():
    admin = psycopg2.connect(dbname="postgres")
    admin.autocommit = True
    filling = prepare(admin)
    connection = connect()
    bytes_full = size(connection) / counted(connection)
    connection.close()
    removed = measure_load()
    measure_space(filling, bytes_full, removed)
    measure_agreement()
    for name in (DATABASE, SMALL):
        ask(admin, "DROP DATABASE %s WITH (FORCE)" % name)


if __name__ == "__main__":
    main()
