"""What the programs in this folder share.

story() goes through the verbs in the order of use, as a role without any rights
but those of its agents.  Each driver brings

    call(sql, *arguments)   runs one statement, whose parameters are written as ?, and
                            returns the rows
    listens, notified(seconds)    whether it listens; whether a notification comes within that time
    document(value)         value as this driver passes a document
    read(value)             a document that the driver returned, as Python values
    sqlstate(error), detail(error)    of an error of the driver
    Error                   the driver's class of errors

The programs print TAP.
"""
import datetime
import itertools
import json
import sys
import time

AGENT = "agent:clerk"
CARD = {"v": "clutch/0.1", "agent_id": AGENT, "display": {"name": "Order clerk"},
        "capabilities": [{"id": "skill:orders", "version": "1.0.0"}], "limits": {"max_concurrency": 4}}
# what a driver must not damage on its way
PAYLOAD = {"order": 4711, "text": "it's \"quoted\" \\ and 'ümlauted' {} $1 %s :x ?", "list": [1, 2.5, None, {"a": []}]}
numbers = itertools.count(1)
failed = 0


def check(what, got, wanted=True):
    """One line of TAP."""
    global failed
    good = got == wanted
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", next(numbers), what))
    if not good:
        print("# wanted %r\n# got    %r" % (wanted, got))
    sys.stdout.flush()


def done():
    print("1..%d" % (next(numbers) - 1))
    sys.exit(1 if failed else 0)


def numbered(sql, mark):
    """The statement with the marks of a driver, mark(1), mark(2) and so on, for its ?."""
    parts = sql.split("?")
    return parts[0] + "".join(mark(n) + part for n, part in enumerate(parts[1:], 1))


def fault(driver, sql, *arguments):
    """SQLSTATE of the error that the statement raises, and the first fault of its detail."""
    try:
        driver.call(sql, *arguments)
    except driver.Error as error:
        detail = driver.detail(error)
        return driver.sqlstate(error), json.loads(detail)[0] if detail else None
    return "no error", None


def ask(driver, name, payload=None):
    task_id = "%s-%s" % (driver.name, name)
    driver.call("SELECT seq FROM clutch.send(clutch.envelope('task.request', 'agent:shop', payload => ?,"
                " requires => ?, task_id => ?))", driver.document(payload or PAYLOAD), ["skill:orders"], task_id)
    return task_id


def claim(driver):
    """The one task that is there."""
    ((task_id, attempt, lease_until, envelope),) = driver.call(
        "SELECT task_id, attempt, lease_until, envelope FROM clutch.claim(?, ?, ?)",
        AGENT, 1, datetime.timedelta(seconds=30))
    return task_id, attempt, lease_until, driver.read(envelope)


def woken(driver):
    """Attempt and reason of the suspended task, when its time has come."""
    for _ in range(1200):
        rows = driver.call("SELECT attempt, reason FROM clutch.claim(?)", AGENT)
        if rows:
            return tuple(rows[0])
        time.sleep(0.05)
    return None, None


def story(driver, form):
    """form says in what form the documents are passed."""
    def it(what, got, wanted=True):
        check("%s: %s" % (form, what), got, wanted)

    (row,) = driver.call("SELECT seq, id, duplicate, late FROM clutch.register(?)", driver.document(CARD))
    it("register", [type(row[0]), type(row[1]), row[2], row[3]], [int, str, False, False])
    message = {"v": "clutch/0.1", "id": "msg_" + driver.name, "ts": "2026-02-01T13:20:11.123Z",
                "thread_id": "thread:1", "run_id": "run:" + driver.name, "task_id": driver.name + "-chat",
                "from": {"agent_id": "agent:shop"}, "to": [{"agent_id": AGENT}], "type": "chat.message",
                "payload": PAYLOAD}
    (row,) = driver.call("SELECT id, duplicate FROM clutch.send(?)", driver.document(message))
    it("send", list(row), [message["id"], False])
    it("an INSERT of the same event", len(driver.call(
        "INSERT INTO clutch.events (envelope) VALUES (?) RETURNING seq", driver.document(message))), 0)
    it("validate", driver.call("SELECT path FROM clutch.validate(?)", driver.document(message)), [])

    if driver.listens:
        driver.call("SELECT clutch.listen('agent', ?)", AGENT)
    task_id = ask(driver, "first")
    if driver.listens:
        it("listen", driver.notified(10))
    got_id, attempt, lease_until, envelope = claim(driver)
    it("claim", [got_id, attempt, type(lease_until)], [task_id, 1, datetime.datetime])
    it("the payload comes as it was sent", envelope["payload"], PAYLOAD)
    (row,) = driver.call("SELECT late FROM clutch.progress(?, ?, ?, ?)",
                         AGENT, task_id, driver.document({"percent": 50}), attempt)
    it("progress", list(row), [False])
    (row,) = driver.call("SELECT lease_until, state FROM clutch.extend_lease(?, ?, ?, ?)",
                         AGENT, task_id, attempt, datetime.timedelta(minutes=2))
    it("extend_lease", [row[0] > lease_until, row[1]], [True, "held"])
    steps = [driver.read(driver.call("SELECT clutch.step(?, ?, ?, ?, ?)", AGENT, task_id, "charge",
                                     driver.document(PAYLOAD), attempt)[0][0]) for _ in range(2)]
    it("step: its output, also when it is repeated", steps, [PAYLOAD, PAYLOAD])
    (row,) = driver.call("SELECT late FROM clutch.suspend(?, ?, ?, ?, ?)", AGENT, task_id,
                         driver.document({"for_ms": 1}), driver.document({"note": 1}), attempt)
    it("suspend", list(row), [False])
    attempt, reason = woken(driver)
    it("it is woken", [attempt, reason], [2, "woken"])
    (row,) = driver.call("SELECT late FROM clutch.finish(?, ?, ?, ?, payload_type => ?, usage => ?)", AGENT, task_id,
                         driver.document(PAYLOAD), attempt, "report:order", driver.document({"input_tokens": 12}))
    it("finish", list(row), [False])
    (row,) = driver.call("SELECT status, finished, payload FROM clutch.result(?)", task_id)
    it("result", [row[0], row[1], driver.read(row[2])], ["completed", True, PAYLOAD])
    (row,) = driver.call("SELECT late FROM clutch.finish(?, ?, ?, ?)",
                         AGENT, task_id, driver.document({"another": "result"}), attempt)
    it("a second, other result is late", list(row), [True])

    task_id = ask(driver, "released")
    _, attempt, _, _ = claim(driver)
    driver.call("SELECT clutch.release(?, ?, ?, ?)", AGENT, task_id, attempt, "the worker stops")
    _, attempt, _, _ = claim(driver)
    it("release: the next claim has the next attempt", attempt, 2)
    (row,) = driver.call("SELECT state FROM clutch.extend_lease(?, ?, ?, ?)",
                         AGENT, task_id, 1, datetime.timedelta(minutes=2))
    it("extend_lease of the attempt before", row[0], "lost")
    (row,) = driver.call("SELECT late FROM clutch.fail(?, ?, ?, ?, ?, ?, ?)",
                         AGENT, task_id, "BROKEN", "it's broken", False, driver.document({"why": "a test"}), attempt)
    it("fail", list(row), [False])
    (row,) = driver.call("SELECT status, payload FROM clutch.result(?)", task_id)
    it("the error in its result", [row[0], driver.read(row[1])["code"]], ["failed", "BROKEN"])

    name = "clients:" + driver.name
    driver.call("SELECT clutch.subscribe(?, ?, 'beginning')", name, driver.document({"agent": "agent:shop"}))
    rows = driver.call("SELECT pos, type, envelope FROM clutch.read(?, ?)", name, 1000)
    it("read", rows != [] and "task.result" in [row[1] for row in rows]
       and driver.read(rows[-1][2])["type"] == rows[-1][1])
    driver.call("SELECT clutch.commit(?, ?)", name, rows[-1][0])
    it("commit: the next read goes on after it", driver.call("SELECT pos FROM clutch.read(?)", name), [])
    driver.call("SELECT clutch.unsubscribe(?)", name)

    sqlstate, first = fault(driver, "SELECT clutch.send(?)", driver.document({**message, "id": "x", "type": "nothing"}))
    it("an invalid envelope: SQLSTATE and detail", [sqlstate, first["code"], first["path"]],
       ["KL001", "UNKNOWN_TYPE", "/type"])
    sqlstate, first = fault(driver, "SELECT clutch.finish(?, ?, ?, ?)", AGENT, "no such task", driver.document({}), 1)
    it("an unknown task: SQLSTATE and detail", [sqlstate, first], ["KL003", {"argument": "task_id", "code": "TASK_NOT_FOUND"}])
