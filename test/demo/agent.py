#!/usr/bin/env python3
"""A research agent, which uses clutch through SQL alone.

    agent.py CARD.json FOLDER...

It registers with its card, listens, claims one task at a time, reads the
documents that the request names (in the first FOLDER that has them), and
reports the lines that match the question, each with a citation FILE:LINE.  If
a document is missing, the task fails.  If another agent has done a part of
the work, it continues from the last progress.

It uses the database that the PG* environment variables name.
"""
import json
import os
import select
import sys

import psycopg2
import psycopg2.extras

LEASE = "2 s"       # short, so that the demonstration does not have to wait
POLL = 0.5          # a notification is only a hint, so it also polls
FINDINGS = 3        # the best lines of each document


class DocumentMissing(Exception):
    pass


def find(folders, name):
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise DocumentMissing("%s is not there" % name)


def read_document(folders, name, words):
    """The lines that contain most of the words, as findings with citations."""
    rated = []
    with open(find(folders, name), encoding="utf-8") as document:
        for number, line in enumerate(document, 1):
            said = sum(word in line.lower() for word in words)
            if said:
                rated.append((-said, number, line.strip()))
    return [{"text": text[:200], "citation": "%s:%d" % (name, number)}
            for _, number, text in sorted(rated)[:FINDINGS]]


class Agent:
    def __init__(self, card, folders):
        self.id = card["agent_id"]
        self.folders = folders
        self.connection = psycopg2.connect("", application_name=self.id)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor(cursor_factory=psycopg2.extras.DictCursor)
        self.call("SELECT clutch.listen('agent', %s)", self.id)
        self.call("SELECT clutch.register(%s)", json.dumps(card))

    def call(self, statement, *arguments):
        self.cursor.execute(statement, arguments)
        return self.cursor.fetchall()

    def wait(self, seconds):
        """Waits for a notification, at most that long."""
        select.select([self.connection], [], [], seconds)
        self.connection.poll()
        self.connection.notifies.clear()

    def run(self):
        while True:
            claimed = self.call("SELECT * FROM clutch.claim(%s, 1, %s)", self.id, LEASE)
            for task in claimed:
                self.work(task)
            if not claimed:
                self.wait(POLL)

    def work(self, task):
        query = task["envelope"]["payload"]
        try:
            findings = self.research(task, query)
        except DocumentMissing as missing:
            self.call("SELECT clutch.fail(%s, %s, 'DOCUMENT_MISSING', %s, "
                      "retryable => false, attempt => %s)",
                      self.id, task["task_id"], str(missing), task["attempt"])
            return
        result = {"title": query["question"], "findings": [f["text"] for f in findings],
                  "citations": [f["citation"] for f in findings]}
        self.call("SELECT clutch.finish(%s, %s, %s, %s)",
                  self.id, task["task_id"], json.dumps(result), task["attempt"])

    def research(self, task, query):
        before = task["last_progress"] or {"read": [], "findings": []}
        read, findings = list(before["read"]), list(before["findings"])
        for name in query["documents"]:
            if name in read:
                continue
            findings += self.use_tool(task, name, query["words"])
            read.append(name)
            if query.get("ponder_seconds") and not before["read"]:
                self.ponder(task, read, findings, query["ponder_seconds"])
        return findings

    def use_tool(self, task, name, words):
        """If the request allows the tool, the document is read through it: then
        the call and its result are in the log too (spec 10, steps 5 and 6)."""
        request = task["envelope"]
        allowed = request.get("security", {}).get("policy", {}).get("tool_allowlist", [])
        if "mcp:files" not in allowed:
            return read_document(self.folders, name, words)
        call = self.tool_event(request, self.id, "agent:files", "tool.call",
                               {"tool": "mcp:files", "args": {"path": name}}, None)
        findings = read_document(self.folders, name, words)
        self.tool_event(request, "agent:files", self.id, "tool.result",
                        {"tool": "mcp:files", "lines": len(findings)},
                        {"clutch": {"reply_to": call}})
        return findings

    def tool_event(self, request, sender, recipient, kind, payload, meta):
        return self.call("""
            SELECT (clutch.send(clutch.envelope(%s, %s, ARRAY[%s], %s, run_id => %s,
                                thread_id => %s, task_id => %s, meta => %s))).id""",
                         kind, sender, recipient, json.dumps(payload), request["run_id"],
                         request["thread_id"], request["task_id"],
                         meta and json.dumps(meta))[0][0]

    def ponder(self, task, read, findings, seconds):
        """Takes the time that a model would think, after work worth keeping."""
        self.call("SELECT clutch.progress(%s, %s, %s, %s);"
                  "SELECT * FROM clutch.extend_lease(%s, %s, %s, %s)",    # one transaction
                  self.id, task["task_id"], json.dumps({"read": read, "findings": findings}),
                  task["attempt"], self.id, task["task_id"], task["attempt"], LEASE)
        select.select([], [], [], seconds)


def main():
    with open(sys.argv[1], encoding="utf-8") as card:
        agent = Agent(json.load(card), sys.argv[2:])
    agent.run()


if __name__ == "__main__":
    main()
