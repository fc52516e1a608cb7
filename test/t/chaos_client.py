"""One client of 008_chaos.pl: a producer, an agent, a ticker or a subscriber.

    chaos_client.py FOLDER SEED ROLE NAME

It does its work, well or badly, until there is a file FOLDER/stop, and connects
again for as long as it takes when the server dies.  With FOLDER/calm an agent
makes no more trouble.  What was acknowledged is appended to FOLDER/NAME.told.
"""
import json
import os
import random
import sys
import time

import psycopg2
from psycopg2.extensions import TRANSACTION_STATUS_UNKNOWN

folder, seed, role, name = sys.argv[1:5]
chance = random.Random("%s %s %s" % (seed, name, os.getpid()))


def there_is(what):
    return os.path.exists(os.path.join(folder, what))


class Gone(Exception):
    """The server went away: nobody knows whether it was committed."""


class Server:
    def __init__(self):
        self.connection = None

    def connect(self):
        while not there_is("stop"):
            try:
                self.connection = psycopg2.connect("")
                self.connection.autocommit = True
                return
            except psycopg2.OperationalError:
                time.sleep(0.05)
        sys.exit(0)

    def ask(self, sql, *arguments):
        """Rows; a refusal is a psycopg2.Error with a pgcode."""
        if self.connection is None:
            self.connect()
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(sql, arguments)
                return cursor.fetchall() if cursor.description else []
        except psycopg2.Error as error:
            if error.pgcode is None or error.pgcode.startswith("57") or self.connection.closed:
                self.connection.close()
                self.connection = None
                raise Gone from error
            raise


server = Server()


def insist(sql, *arguments):
    """Said again until it is answered: the same words are the same event."""
    while True:
        try:
            return server.ask(sql, *arguments)
        except Gone:
            pass


def tell(line):
    with open(os.path.join(folder, name + ".told"), "a") as told:
        told.write(line + "\n")


def envelope(kind, sender, event_id, run, task, **more):
    document = {"v": "clutch/0.1", "type": kind, "id": event_id, "ts": "2026-01-01T00:00:00Z",
                "run_id": run, "thread_id": "thread:chaos", "task_id": task,
                "from": {"agent_id": sender}, "to": [{"agent_id": "agent:orchestrator"}],
                "payload": {}}
    document.update(more)
    return json.dumps(document)


def produce(count):
    for i in range(count):
        run = "run:%s:%d" % (name, i // 10)
        task = "task:%s:%d" % (name, i)
        orders = {"priority": chance.randrange(5)}
        more = {"requires": ["skill:x"], "meta": {"clutch": orders}}
        if i % 10 and chance.random() < 0.3:
            more["parent_task_id"] = "task:%s:%d" % (name, i // 10 * 10)
            if chance.random() < 0.5:
                orders["join"] = "all"
        elif i % 10 > 1 and chance.random() < 0.2:
            orders["after"] = ["task:%s:%d" % (name, i - 1)]
        request = envelope("task.request", "agent:ui", "msg:%s:%d" % (name, i), run, task, **more)
        insist("SELECT clutch.send(%s)", request)
        tell("request %s" % task)
        if chance.random() < 0.03:
            insist("SELECT clutch.send(%s)", envelope("task.cancel", "agent:ui", "msg:%s:%d:cancel" % (name, i), run, task))
    tell("done")


class Silence(Exception):
    """This agent says nothing more of what it has."""


def report(kind, task, run, attempt, payload, times=1):
    event_id = "msg:%s:%s:%d:%s:%d" % (name, task, attempt, kind, chance.randrange(1 << 40))
    document = envelope(kind, "agent:" + name, event_id, run, task, attempt=attempt, payload=payload)
    for _ in range(times):
        try:
            insist("SELECT clutch.send(%s)", document)
            tell("event %s" % event_id)
        except psycopg2.Error as error:
            # it may be somebody else's, or over, by now
            if not error.pgcode.startswith("KL") and error.pgcode not in ("42501", "40P01"):
                raise


def work_on(task, run, attempt):
    mood = 1 if there_is("calm") else chance.random()
    error = {"code": "CHAOS", "message": "by chance", "retryable": True}
    if mood < 0.04:
        os.kill(os.getpid(), 9)
    if mood < 0.08:
        raise Silence
    if mood < 0.3:
        report("task.progress", task, run, attempt, {"at": 1})
    if mood < 0.12:
        time.sleep(1.3)
    if mood < 0.17:
        report("task.error", task, run, attempt, error, chance.randrange(1, 3))
    elif mood < 0.19:
        server.ask("SELECT clutch.release(%s, %s, %s)", "agent:" + name, task, attempt)
    elif mood < 0.21:
        report("task.progress", task, run, attempt, {"state": "input_required"})
        insist("SELECT clutch.answer(%s, '{}', 'agent:ui')", task)
    else:
        report("task.result", task, run, attempt, {}, 2 if mood < 0.4 else 1)


def be_agent():
    while not there_is("stop"):
        try:
            taken = server.ask("SELECT task_id, envelope ->> 'run_id', attempt FROM clutch.claim(%s, %s, '1 second')",
                               "agent:" + name, chance.randrange(1, 4))
            for task, run, attempt in taken:
                work_on(task, run, attempt)
            if not taken:
                time.sleep(0.05)
        except (Gone, Silence):
            pass
        except psycopg2.Error as error:
            if not error.pgcode.startswith("KL") and error.pgcode not in ("42501", "40P01"):
                raise


def be_ticker():
    while not there_is("stop"):
        try:
            server.ask("SELECT clutch.tick()")
            server.ask("SELECT watch()")
            time.sleep(0.05)
        except Gone:
            pass
        except psycopg2.Error as error:
            if error.pgcode != "40P01":
                raise


def subscribe(member):
    """What was read, and how far, in one transaction."""
    while not there_is("stop"):
        try:
            server.ask("SELECT consume(%s, %s)", name.split(".")[0], member)
            time.sleep(0.02)
        except Gone:
            pass


if role == "producer":
    produce(int(os.environ["CHAOS_REQUESTS"]))
elif role == "agent":
    be_agent()
elif role == "ticker":
    be_ticker()
else:
    subscribe(int(name.split(".")[1]))
