#!/usr/bin/env python3
"""The client of the demonstration: plays the example of spec 10 and shows it.

    client.py DESK.json PROJECT SCRATCH NAME=PID...

The user interface (agent:ui) asks for a report.  The desk (agent:desk, also
this program) claims that task and delegates three questions to agents that can
research.  On the way
    - one request has the default policy, so only a sandboxed agent may take it,
    - one task fails because a document is missing; the desk supplies the
      document and calls clutch.retry,
    - the agent that has the last question is killed with -9 between claim and
      finish; its lease expires, and the other agent does the work,
    - the desk does not publish without a human: it asks and forgets the task,
      the user approves, and the desk claims the task again with the answer.
Nothing here sleeps: each step waits for the condition that it needs.
"""
import glob
import json
import os
import select
import signal
import sys
import time

import psycopg2
import psycopg2.extras

RUN, THREAD, REPORT = "run:demo", "thread:demo", "task:report"
PATIENCE = 40       # seconds, for the whole play
WIDTH = 100


class Client:
    def __init__(self):
        self.connection = psycopg2.connect("", application_name="agent:desk")
        self.connection.autocommit = True
        self.cursor = self.connection.cursor(cursor_factory=psycopg2.extras.DictCursor)
        self.until_when = time.monotonic() + PATIENCE
        self.call("SELECT clutch.listen('all')")

    def call(self, statement, *arguments):
        self.cursor.execute(statement, arguments)
        return self.cursor.fetchall()

    def until(self, what, statement, *arguments):
        """Waits for the first row; looks again at a notification, or twice a second."""
        while True:
            rows = self.call(statement, *arguments)
            if rows:
                return rows[0]
            left = self.until_when - time.monotonic()
            if left <= 0:
                sys.exit("gave up waiting for %s" % what)
            select.select([self.connection], [], [], min(left, 0.5))
            self.connection.poll()
            self.connection.notifies.clear()

    def until_status(self, task_id, status):
        return self.until("%s to be %s" % (task_id, status),
                          "SELECT payload FROM clutch.result(%s) WHERE status = %s",
                          task_id, status)[0]

    def request(self, sender, task_id, requires, payload, parent=None, prefers=None,
                policy=None):
        """Sends a task.request to the orchestrator, so the database chooses an
        agent.  Returns why, with explain_route's reason for each rejection."""
        envelope = self.call("""
            SELECT clutch.envelope('task.request', %s, NULL, %s, run_id => %s,
                   thread_id => %s, task_id => %s, parent_task_id => %s, requires => %s,
                   prefers => %s, domain => 'research',
                   payload_type => 'research.query.v1', security => %s)::text""",
                             sender, json.dumps(payload), RUN, THREAD, task_id, parent, requires,
                             prefers, policy and json.dumps({"policy": policy}))[0][0]
        before = dict(self.call("SELECT agent_id, detail FROM clutch.explain_route(%s)", envelope))
        self.call("SELECT clutch.send(%s)", envelope)
        why = self.call("SELECT * FROM clutch.why(%s) WHERE agent_id <> %s "
                        "ORDER BY rank NULLS LAST, agent_id", task_id, sender)
        return [(row, before[row["agent_id"]]) for row in why]


def play(client, card, project, scratch, pids):
    """The story; returns why each task went where it went."""
    why = {}
    documents = ["README.md"] + sorted(
        os.path.relpath(path, project) for path in glob.glob(os.path.join(project, "docs/*.md")))

    def delegate(name, question, words, **more):
        names = more.pop("documents", documents[:3])
        extra = more.pop("extra", {})
        why[name] = client.request("agent:desk", name, ["skill:research@^1.2"],
                                   dict({"question": question, "words": words,
                                         "documents": names}, **extra),
                                   parent=REPORT, **more)

    client.until("the agents to register",
                 "SELECT 1 FROM clutch.agents WHERE status = 'READY' AND agent_id = ANY(%s) "
                 "HAVING count(*) = %s", ["agent:" + name for name in pids], len(pids))
    client.call("SELECT clutch.register(%s)", json.dumps(card))

    client.request("agent:ui", REPORT, ["skill:editing"],
                   {"question": "What is clutch, and can it be relied upon?"})
    claimed = client.until("the desk's task", "SELECT * FROM clutch.claim('agent:desk')")

    delegate("task:promises", "What does the log promise?", ["never", "log", "once"],
             documents=documents[:1],
             policy={"sandbox": True, "tool_allowlist": ["mcp:files"]})
    answers = [client.until_status("task:promises", "completed")]

    delegate("task:notes", "What did the user note?", ["clutch", "agent"],
             documents=["notes.md"], prefers=["tag:operations"], policy={"sandbox": False})
    client.until_status("task:notes", "failed")
    with open(os.path.join(scratch, "notes.md"), "w", encoding="utf-8") as notes:
        notes.write("An agent asks.\nclutch chooses the agent, and says why.\n")
    client.call("SELECT clutch.retry('task:notes', 'agent:desk')")
    answers.append(client.until_status("task:notes", "completed"))

    delegate("task:limits", "Where are the limits?", ["limit", "most", "setting"],
             prefers=["tag:limits"], policy={"sandbox": False},
             extra={"ponder_seconds": 30})
    client.until("half of the work",
                 "SELECT 1 FROM clutch.events WHERE task_id = 'task:limits' "
                 "AND type = 'task.progress' AND from_agent = 'agent:lois'")
    os.kill(pids["lois"], signal.SIGKILL)
    answers.append(client.until_status("task:limits", "completed"))

    report = {"title": "Report",
              "findings": [f for a in answers for f in a["findings"]],
              "citations": [c for a in answers for c in a["citations"]]}
    client.call("SELECT clutch.progress('agent:desk', %s, %s, %s)", REPORT,
                json.dumps({"state": "input_required", "question": "May I publish this?",
                            "report": report}), claimed["attempt"])
    asked = client.until("the question", "SELECT * FROM clutch.approvals")
    client.call("SELECT clutch.answer(%s, %s, 'agent:ui')", asked["task_id"],
                json.dumps({"approved": True, "by": "the user"}))
    claimed = client.until("the desk's task, answered", "SELECT * FROM clutch.claim('agent:desk')")
    assert claimed["reason"] == "resumed" and claimed["answer"]["approved"], claimed
    client.call("SELECT clutch.finish('agent:desk', %s, %s, %s)", claimed["task_id"],
                json.dumps(claimed["last_progress"]["report"]), claimed["attempt"])
    return why


# ------------------------------------------------------------------ the screen

def note_of(event):
    """The content of an event in a few words."""
    envelope, kind = event["envelope"], event["type"]
    payload, move = envelope["payload"], envelope.get("meta", {}).get("clutch", {}).get("move")
    if move == "answered":
        return move
    if move:
        return "%s (was %s)" % (move, payload.get("agent_id") or payload.get("was"))
    if kind == "task.request":
        return payload.get("question", "")
    if kind == "routing.decision":
        return "chose %s: %s" % (payload["selected"], payload["reason"].split("], ")[-1])
    if kind in ("task.error", "tool.error", "routing.failure", "task.timeout"):
        return "%s: %s" % (payload.get("code"), payload.get("message"))
    if payload.get("state") == "input_required":
        return "asks: %s" % payload["question"]
    if kind == "chat.message":
        return "answers: " + ", ".join("%s %s" % pair for pair in payload.items())
    if kind == "task.progress":
        return "has read " + ", ".join(payload["read"])
    if kind == "tool.call":
        return "%s %s" % (payload["tool"], payload["args"]["path"])
    if kind == "tool.result":
        return "%d lines" % payload["lines"]
    if kind == "task.result":
        return "cites " + ", ".join(payload["citations"])
    if kind == "task.accept":
        return "attempt %d" % payload["attempt"]
    if kind == "agent.register":
        return ", ".join(c["id"] + "@" + c["version"] for c in payload["capabilities"])
    return ""


def show(client, why):
    print("THE EVENT STREAM (clutch.events)")
    for event in client.call("SELECT seq, type, from_agent, task_id, envelope "
                             "FROM clutch.events ORDER BY seq"):
        print(("%3d %-16s %-18s %-13s %s" % (
            event["seq"], event["type"], event["from_agent"],
            event["task_id"] if event["task_id"].startswith("task:") else "",
            note_of(event)))[:WIDTH])
    print("\nWHICH AGENT WAS CHOSEN, AND WHY NOT THE OTHER (clutch.why)")
    for task_id, rows in why.items():
        for row, rejection in rows:
            if row["eligible"]:
                text = "rank %d, score %.2f, load %.2f: %s" % (
                    row["rank"], row["score"], row["load"], row["detail"].split("], ")[-1])
            else:
                text = "rejected by %s: %s" % (row["rejected_by"], rejection)
            print(("%-14s %-11s %s" % (task_id, row["agent_id"], text))[:WIDTH])
            task_id = ""
    print("\nTHE RUN TREE (clutch.task_tree)")
    for row in client.call("SELECT * FROM clutch.task_tree(%s)", RUN):
        print("%-20s %-10s %-11s attempt %d" % (
            "   " * row["depth"] + row["task_id"], row["status"], row["agent_id"],
            row["attempt"]))
    print("\nagent:lois was killed with -9 while she held task:limits; when her lease had expired,\n"
          "agent:ken continued from what she had reported.\n"
          "agent:desk asked before it published; the user approved, and it got the task again.")


def main():
    card_path, project, scratch = sys.argv[1:4]
    pids = {name: int(pid) for name, pid in (a.split("=") for a in sys.argv[4:])}
    with open(card_path, encoding="utf-8") as text:
        card = json.load(text)
    client = Client()
    why = play(client, card, project, scratch, pids)
    show(client, why)


if __name__ == "__main__":
    main()
