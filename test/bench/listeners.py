"""Listeners: what waking them costs the writers, and how soon they are awake.

The reference for the writers is the same append with clutch.notify = off and
without listeners.  The reference for the time is NOTIFY in the writer's own
transaction, clutch.notify = transaction.
"""
import select
import statistics
import threading
import time

from append import CLIENTS, SETUP, SYNC_ON, TEMPLATE, runner
from measure import DATABASE, SECONDS, Ratio, fresh_database, interleave, millis, rate, sql, template_database
from pace import PAUSE, connect, probe

MODES = ("off", "worker", "transaction")
WRITERS = (8, 32)
LISTENERS = (1, 16)


def settings_of(mode):
    return SYNC_ON.replace("clutch.notify=off", "clutch.notify=" + mode)


def worker_is_there(patience=10):
    """It starts a moment after the database was made, or never if the library is not preloaded."""
    if sql("SHOW shared_preload_libraries", "postgres").find("clutch") < 0:
        return False
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'clutch worker' "
               "AND datname = '%s' AND state = 'idle' AND query <> ''" % DATABASE, "postgres") == "1":
            return True
        time.sleep(0.02)
    return False


def fresh():
    fresh_database(TEMPLATE)
    return worker_is_there()


class Listening:
    """Sessions that listen to everything and read each notification."""

    def __init__(self, n):
        self.connections = [connect("SELECT clutch.listen()") for _ in range(n)]
        self.ends = False
        self.thread = threading.Thread(target=self.take)
        self.woken = 0

    def take(self):
        while not self.ends:
            for connection in select.select(self.connections, [], [], 0.1)[0]:
                connection.poll()
                self.woken += len(connection.notifies)
                connection.notifies.clear()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends = True
        self.thread.join()
        for connection in self.connections:
            connection.close()


def writing(mode, writers, listeners):
    run = runner("clutch", False, "chat.message", settings_of(mode), clients=writers, alone=False)

    def measured():
        with Listening(listeners) as listening:
            result = run()
        result.woken = listening.woken / max(listeners, 1) / max(SECONDS, 1)
        return result
    return measured


def measure_throughput(table):
    table.head("Appending while others listen, sync on, one message per commit (reference: clutch.notify = off)")
    table.columns("nobody woken")
    for writers in WRITERS:
        contenders = {"off": writing("off", writers, 0)}
        for n in LISTENERS:
            contenders["worker", n] = writing("worker", writers, n)
        contenders["transaction", 1] = writing("transaction", writers, 1)
        runs = interleave(contenders, before=fresh)
        off = [run.rate for run in runs["off"]]
        for key in list(contenders)[1:]:
            mode, n = key
            ours = [run.rate for run in runs[key]]
            label = "%d writers, %d listener%s, %s" % (writers, n, "s"[:n > 1], mode)
            table.row(label, rate(ours), rate(off), Ratio(ours, off),
                      at_least=0.88 if mode == "worker" else None)
            if mode == "worker":
                table.row("  each woken", rate([run.woken for run in runs[key]]), "")


def hear(sender, listener, number):
    """Milliseconds from the INSERT, and from its return, until the notification is there."""
    envelope = probe(number)
    began = time.monotonic()
    sender.cursor().execute("EXECUTE send (%s)", (envelope,))
    committed = time.monotonic()
    listener.poll()
    while not listener.notifies:
        if not select.select([listener], [], [], 10)[0]:
            raise RuntimeError("no notification within 10 s")
        listener.poll()
    listener.notifies.clear()
    heard = time.monotonic()
    return (heard - began) * 1000, (heard - committed) * 1000


def hearing(mode):
    """One sender and one listener for a while, beside 8 busy writers."""
    def measured():
        fresh()
        seconds = max(SECONDS, 2)
        listener = connect("SELECT clutch.listen('agent', 'agent:probe')")
        sender = connect("SET clutch.notify = %s; "
                         "PREPARE send (jsonb) AS INSERT INTO clutch.events (envelope) VALUES ($1)" % mode)
        run = runner("clutch", False, "chat.message", settings_of(mode), seconds=seconds + 2, alone=False)
        busy = threading.Thread(target=run)
        busy.start()
        time.sleep(1)
        samples, number, end = [], 0, time.monotonic() + seconds
        while time.monotonic() < end:
            number += 1
            samples.append(hear(sender, listener, number))
            time.sleep(PAUSE)
        busy.join()
        listener.close()
        sender.close()
        return samples
    return measured


def quantile(samples, which, part):
    values = sorted(sample[which] for sample in samples)
    return values[int(len(values) * part)] if part > 0.5 else statistics.median(values)


def measure_latency(table):
    table.head("Until a listener is woken, beside %d busy writers, sync on" % CLIENTS)
    table.columns("transaction")
    runs = interleave({mode: hearing(mode) for mode in MODES[1:]})
    for name, part, limit in (("p50", 0.5, 1.0), ("p99", 0.99, 5.0)):
        ours = [quantile(samples, 1, part) for samples in runs["worker"]]
        table.limit("from commit, worker, %s" % name, ours, limit, millis)
    for name, part in (("p50", 0.5), ("p99", 0.99)):
        ours, theirs = ([quantile(samples, 0, part) for samples in runs[mode]] for mode in MODES[1:])
        table.row("from INSERT, worker over transaction, %s" % name, millis(ours), millis(theirs),
                  Ratio(ours, theirs), at_most=1.0)


def measure_listeners(table):
    template_database(TEMPLATE, SETUP)
    if not fresh():
        table.head("Listeners")
        table.absent("waking listeners", "", "the worker, see shared_preload_libraries,", ">= 0.88")
        return
    measure_throughput(table)
    measure_latency(table)
