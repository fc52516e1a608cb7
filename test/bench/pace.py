"""Events per second, and the time from sender to listener, beside spec 003's targets.

The settings are those of an installation: sync on, clutch.notify = transaction,
and the 50 agents of spec 003.  A routed request is two events, the request and
its decision.
"""
import json
import select
import statistics
import threading
import time

import psycopg2

from append import BATCH, CLIENTS, NOTIFYING, SYNC_ON, envelope_of, runner
from delegation import one_insert
from measure import DATABASE, SECONDS, Ratio, fresh_database, interleave, pgbench, rate
from registry import team_database

THROUGHPUT = 10000      # spec 003 12.2: messages per second
LATENCY = 10.0          # and milliseconds
SETTINGS = SYNC_ON + NOTIFYING
ROUNDS = 2
PAUSE = 0.003


def measure_throughput(table):
    table.head("Validated, durable, routed events per second, 8 clients, sync on, notifying")
    table.columns("spec 003")
    contenders = {
        "messages, one per commit": (1, runner("clutch", False, "chat.message", SETTINGS)),
        "messages, %d per commit" % BATCH: (BATCH, runner("clutch", True, "chat.message", SETTINGS)),
        "requests and decisions, 2 per commit": (2, lambda: pgbench(one_insert(), settings=SETTINGS)),
        "requests and decisions, %d per commit" % (2 * BATCH):
            (2 * BATCH, lambda: pgbench(one_insert(True), settings=SETTINGS))}
    runs = interleave({name: run for name, (_, run) in contenders.items()}, rounds=ROUNDS,
                      before=lambda: fresh_database(team_database(50)))
    for name, (events, _) in contenders.items():
        ours = [run.rate * events for run in runs[name]]
        table.row(name, rate(ours), "{:,}/s".format(THROUGHPUT), Ratio(ours, [THROUGHPUT] * len(ours)))


def probe(number):
    """A message to the agent whose channel the listener hears."""
    envelope = envelope_of("chat.message")
    envelope.update(id="msg_probe_%d" % number, run_id="run_probe", thread_id="thr_probe",
                    task_id="task_probe", to=[{"agent_id": "agent:probe"}])
    envelope["from"] = {"agent_id": "agent:client", "role": "client"}
    return json.dumps(envelope)


def connect(statement, database=DATABASE):
    """A new session in autocommit mode that has run the statement."""
    connection = psycopg2.connect(dbname=database)
    connection.autocommit = True
    connection.cursor().execute(statement)
    return connection


def send_and_hear(sender, listener, number):
    """Milliseconds from before the INSERT until the notification is there."""
    envelope = probe(number)
    began = time.monotonic()
    sender.cursor().execute("EXECUTE send (%s)", (envelope,))
    while not listener.notifies:
        if not select.select([listener], [], [], 10)[0]:
            raise RuntimeError("no notification within 10 s")
        listener.poll()
    listener.notifies.clear()
    return (time.monotonic() - began) * 1000


def latencies(busy_settings):
    """One sender and one listener for a while, beside 8 busy writers or none."""
    fresh_database(team_database(50))
    seconds = max(SECONDS, 2)
    listener = connect("SELECT clutch.listen('agent', 'agent:probe')")
    sender = connect("PREPARE send (jsonb) AS INSERT INTO clutch.events (envelope) VALUES ($1)")
    run = runner("clutch", False, "chat.message", busy_settings, seconds=seconds + 2, alone=False)
    busy = threading.Thread(target=run) if busy_settings else None
    if busy:
        busy.start()
        time.sleep(1)
    samples, number, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        number += 1
        samples.append(send_and_hear(sender, listener, number))
        time.sleep(PAUSE)
    if busy:
        busy.join()
    listener.close()
    sender.close()
    return samples


def measure_latency(table):
    table.head("Send to listener: INSERT of a message until another session has its notification")
    table.columns("spec 003")
    for name, settings in (("no other writer", None),
                           ("%d busy writers with clutch.notify = off" % CLIENTS, SYNC_ON),
                           ("%d busy writers that notify, too" % CLIENTS, SETTINGS)):
        samples = sorted(latencies(settings))
        for label, value in ((name + ", p50", statistics.median(samples)),
                             ("  p99 of %d" % len(samples), samples[int(len(samples) * 0.99)])):
            table.row(label, "%.2f ms" % value, "%d ms" % LATENCY, Ratio([value], [LATENCY]))


def measure_pace(table):
    measure_throughput(table)
    measure_latency(table)
