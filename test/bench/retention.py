#!/usr/bin/env python3
"""Pruning a log under continuous load: who waits, and what becomes of the space.

    retention.py [EVENTS [KEEP]]        default: 5000000 1000000

Fills a database with EVENTS events of finished tasks, of which all but KEEP are
old, and lets clients send, claim and finish all the time.  Then it prunes what
is old, in batches of 10,000, and prints the rate of the clients and their
slowest call before, during and after, the longest wait for a lock that anybody
had meanwhile, and the size of the log before, after, and when as many events
have come again as were removed.  Not a part of make bench: at full size it takes
half an hour.  PG* in the environment name a server; its user is a superuser.

Bars: nobody waits for a lock for 100 ms; rates during and after are at least
0.9 of those before; the log is no larger than before when it has been refilled.
"""
import os
import statistics
import sys
import threading
import time

import psycopg2

EVENTS = int(sys.argv[1]) if len(sys.argv) > 1 else 5000000
KEEP = int(sys.argv[2]) if len(sys.argv) > 2 else EVENTS // 5
CLIENTS = int(os.environ.get("BENCH_CLIENTS", "4"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "20"))
BATCH = int(os.environ.get("BENCH_BATCH", "10000"))
DATABASE = "clutch_bench_retention"
EVENTS_OF_TASK = 3          # the request, which names its agent, its claim and its end
OLD = "2026-01-01T00:00:00Z"

CARD = """SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:%s', 'display', '{"name": "x"}'::jsonb,
    'capabilities', '[{"id": "skill:x"}]'::jsonb, 'limits', '{"max_concurrency": 1000000, "heartbeat_sec": 0}'::jsonb))"""
FILL = """SELECT count(*) FROM clutch.send_batch(ARRAY(SELECT clutch.envelope('task.request', 'agent:ui', '{agent:fill}',
    jsonb_build_object('text', repeat('x', 200)), run_id => 'run:%(tag)s_' || n / 10, task_id => 'task:%(tag)s_' || n)
    FROM generate_series(%(first)s, %(last)s) n))"""
FINISH = """SELECT count(f.seq) FROM clutch.claim('agent:fill', 1000, '1 h') c,
    LATERAL clutch.finish('agent:fill', c.task_id, '{"text": "done"}', c.attempt) f"""


def connect(settings=""):
    connection = psycopg2.connect(dbname=DATABASE, options=settings)
    connection.autocommit = True
    return connection


def ask(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def say(text):
    print(text, flush=True)


# -------------------------------------------------------------------- filling

def fill(tag, events, clock):
    connection = connect("-c clutch.notify=off -c synchronous_commit=off -c clutch.default_deadline=0"
                         + (" -c clutch.clock=" + clock if clock else ""))
    tasks = events // EVENTS_OF_TASK
    for first in range(0, tasks, 1000):
        ask(connection, FILL % {"tag": tag, "first": first, "last": min(first + 999, tasks - 1)})
        while ask(connection, FINISH)[0][0]:
            pass
    connection.close()


# ----------------------------------------------------------------------- load

class Load:
    """Clients that send, claim and finish; how long each trip took, and when."""

    def __init__(self):
        self.ends = False
        self.trips = []
        self.threads = [threading.Thread(target=self.work, args=(n,)) for n in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def work(self, n):
        connection = connect("-c clutch.notify=off")
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
        connection.close()

    def stop(self):
        self.ends = True
        for thread in self.threads:
            thread.join()

    def rate(self, since, until):
        return sum(since <= began < until for began, _ in self.trips) / (until - since)

    def slowest(self, since, until):
        return max((took for began, took in self.trips if since <= began < until), default=0)


class Waits:
    """The longest wait for a lock that is to be seen, sampled."""
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


def prune(connection):
    """All that is old; how many events, and how long each batch took."""
    removed, took = 0, []
    while True:
        began = time.monotonic()
        n = ask(connection, "SELECT clutch.prune('2026-02-01T00:00:00Z', %d)" % BATCH)[0][0]
        if n == 0:
            return removed, took
        took.append(time.monotonic() - began)
        removed += n


def verdict(name, value, bar, fine):
    say("%-44s %12s   bar %-10s %s" % (name, value, bar, "ok" if fine else "MISSED"))


def main():
    admin = psycopg2.connect(dbname="postgres")
    admin.autocommit = True
    ask(admin, "DROP DATABASE IF EXISTS %s WITH (FORCE)" % DATABASE)
    ask(admin, "CREATE DATABASE %s" % DATABASE)
    connection = connect()
    ask(connection, "CREATE EXTENSION clutch")
    for name in ["fill"] + ["c%d" % n for n in range(CLIENTS)]:
        ask(connection, CARD % name)
    began = time.monotonic()
    fill("old", EVENTS - KEEP, OLD)
    fill("new", KEEP, None)
    ask(connection, "VACUUM ANALYZE")
    full = size(connection)
    bytes_full = full / counted(connection)
    say("%d events, %.0f MB, filled in %.0f s" % (counted(connection), full / 1e6, time.monotonic() - began))
    ask(connection, "SELECT clutch.subscribe('reader', '{}', 'now')")

    load = Load()
    time.sleep(1)
    before = time.monotonic()
    time.sleep(SECONDS)
    waits = Waits()
    during = time.monotonic()
    removed, took = prune(connection)
    ended = time.monotonic()
    longest = waits.stop()
    ask(connection, "VACUUM clutch.events, clutch.task")
    after = time.monotonic()
    time.sleep(SECONDS)
    end = time.monotonic()
    load.stop()

    rate = load.rate(before, during)
    say("removed %d events in %.1f s, %.0f a second; a batch of %d takes %.0f ms (median), %.0f (most)"
        % (removed, ended - during, removed / (ended - during), BATCH, statistics.median(took) * 1000, max(took) * 1000))
    say("trips a second: before %.0f, during %.0f, after %.0f; slowest: %.0f ms, %.0f ms, %.0f ms"
        % (rate, load.rate(during, ended), load.rate(after, end), load.slowest(before, during) * 1000,
           load.slowest(during, ended) * 1000, load.slowest(after, end) * 1000))
    verdict("longest wait for a lock, ms", "%.1f" % (longest * 1000), "100", longest < 0.1)
    verdict("rate while it is pruned", "%.2f" % (load.rate(during, ended) / rate), ">= 0.9", load.rate(during, ended) >= 0.9 * rate)
    verdict("rate afterwards", "%.2f" % (load.rate(after, end) / rate), ">= 0.9", load.rate(after, end) >= 0.9 * rate)
    small = size(connection)
    fill("again", removed, None)
    again = size(connection)
    say("the log: %.0f MB full, %.0f MB pruned, %.0f MB refilled" % (full / 1e6, small / 1e6, again / 1e6))
    ratio = again / counted(connection) / bytes_full
    verdict("bytes an event when refilled", "%.2f" % ratio, "<= 1.1", ratio <= 1.1)
    verdict("check()", ask(connection, "SELECT count(*) FROM clutch.check()")[0][0], "0",
            ask(connection, "SELECT count(*) FROM clutch.check()")[0][0] == 0)
    tasks = ask(connection, "SELECT count(*) FROM clutch.task")[0][0]
    ask(connection, "SELECT clutch.rebuild()")
    verdict("tasks after a rebuild", ask(connection, "SELECT count(*) FROM clutch.task")[0][0], tasks,
            ask(connection, "SELECT count(*) FROM clutch.task")[0][0] == tasks)
    read = 0
    while True:
        rows = ask(connection, "SELECT count(*), clutch.commit('reader', max(pos)) FROM clutch.read('reader', 10000) HAVING count(*) > 0")
        if not rows:
            break
        read += rows[0][0]
    expected = ask(connection, "SELECT count(*) FROM clutch.events WHERE xid >= (SELECT min(xid) FROM clutch.events WHERE task_id ^@ 'task:c0_1_')")[0][0]
    verdict("events that a subscription has read", read, ">= %d" % expected, read >= expected)
    connection.close()
    ask(admin, "DROP DATABASE %s WITH (FORCE)" % DATABASE)


main()
