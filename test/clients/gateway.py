"""A gateway in a page: it sends what is in the outbox to a server on loopback, and hands in the answers.

The server verifies signatures with nothing of clutch, and fails when it is told to.
"""
import base64
import hashlib
import hmac
import http.client
import http.server
import json
import threading
import time
import urllib.parse

import psycopg2

import story

KEY = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")       # of setup.sql


class Server(http.server.BaseHTTPRequestHandler):
    """Answers with the statuses of `script`, in order, and then 200; streams what a path begins with /stream says."""
    script = []
    requests = []           # (path, headers, body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.requests.append((self.path, dict(self.headers), body))
        status, *documents = self.script.pop(0) if self.script else (200,)
        self.send_response(status)
        if status == 429:
            self.send_header("retry-after", "3600")
        self.send_header("content-type", "application/x-ndjson")
        self.end_headers()
        for document in documents:
            self.wfile.write(json.dumps(document).encode() + b"\n")
            self.wfile.flush()

    def log_message(self, *arguments):
        pass


class Gateway:
    """Claims, sends, reports: all that a gateway does."""

    def __init__(self, db, hosts):
        self.db, self.hosts = db, hosts         # hosts: where names of this test lead

    def call(self, sql, *arguments):
        with self.db.cursor() as cursor:
            cursor.execute(sql, arguments)
            return cursor.fetchall()

    def done(self, row, **report):
        names = ", ".join("%s => %%s" % name for name in report)
        values = [json.dumps(value) if name == "response" else value for name, value in report.items()]
        return self.call("SELECT clutch.outbox_done(%s, %s" + (", " + names if names else "") + ")", row["id"], row["attempt"], *values)[0][0]

    def claim(self, lease="60 s"):
        rows = self.call("SELECT to_jsonb(c) FROM clutch.outbox_claim(10, %s) AS c", lease)
        return [row[0] for row in rows]

    def send(self, row):
        """POSTs one call.  Each line of the response is a document, and the last one ends the answer."""
        url = urllib.parse.urlsplit(row["url"])
        connection = http.client.HTTPConnection(self.hosts.get(url.hostname, url.netloc), timeout=10)
        try:
            connection.request("POST", url.path or "/", row["body"].encode(), row["headers"])
            response = connection.getresponse()
            pause = response.headers.get("retry-after")
            if response.status >= 300 or not row["wants_answer"]:
                return self.done(row, status=response.status, retry_after=pause and pause + " s")
            ahead = None
            part = 0
            for line in response:
                if ahead is not None and self.done(row, status=response.status, response=ahead, is_last=False, part=part) != "pending":
                    return "nobody waits for it any more"
                ahead, part = json.loads(line), part + 1
            return self.done(row, status=response.status, **({} if ahead is None else {"response": ahead, "part": part}))
        except OSError as error:
            return self.done(row, failure="no answer: %s" % error)
        finally:
            connection.close()

    def work(self, lease="60 s"):
        return [self.send(row) for row in self.claim(lease)]

    def wait_for_work(self, lease="60 s"):
        for _ in range(1200):
            rows = self.claim(lease)
            if rows:
                return rows
            time.sleep(0.05)
        return []


def signed_by_hand(headers, body):
    content = "%s.%s.%s" % (headers["webhook-id"], headers["webhook-timestamp"], body)
    return "v1," + base64.b64encode(hmac.new(KEY, content.encode(), hashlib.sha256).digest()).decode()


POST = """SELECT clutch.post(%s, clutch.envelope('chat.message', 'agent:shop', payload => jsonb_build_object('text', %s)))"""


def posts(gateway):
    Server.script[:] = [(503,), (200,)]
    call_id = gateway.call(POST, "shop", "Zürich")[0][0]
    story.check("the first attempt fails", gateway.work(), ["pending"])
    story.check("the second succeeds", gateway.work(), ["sent"])
    story.check("and there is no third", gateway.work(), [])
    story.check("both had the same ID", [r[1]["webhook-id"] for r in Server.requests], [call_id, call_id])
    story.check("the body is UTF-8", json.loads(Server.requests[0][2])["data"], {"text": "Zürich"})
    for path, headers, body in Server.requests:
        story.check("the signature is that of the bytes", headers["webhook-signature"], signed_by_hand(headers, body))
        story.check("the secret is sent", headers["authorization"], "Bearer s3cret")
    Server.requests.clear()

    gateway.db.autocommit = False
    gateway.call(POST, "shop", "never")
    gateway.db.rollback()
    gateway.db.autocommit = True
    story.check("what is rolled back is not sent", gateway.work(), [])

    gateway.call(POST, "shop", "twice")
    first, = gateway.claim("0.2 s")
    again, = gateway.wait_for_work()
    story.check("a call comes back when its gateway has died", (again["id"], again["attempt"]), (first["id"], 2))
    story.check("who then reports the first attempt is late", gateway.done(first, status=200), "lost")
    story.check("the second counts", gateway.send(again), "sent")

    Server.script[:] = [(429,)]
    gateway.call(POST, "shop", "too many")
    story.check("a server may ask for a longer pause", gateway.work(), ["pending"])
    story.check("and gets it", gateway.work(), [])

    gateway.call(POST, "nobody", "x")
    story.check("nobody listens there", gateway.work(), ["pending"])


ASK = """SELECT task_id FROM clutch.send(clutch.envelope('task.request', 'agent:shop', payload => '{"a": 1}', requires => '{skill:sum}'))"""
STATE = "SELECT status, payload FROM clutch.result(%s)"


def progress(n):
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "t", "progress": n, "total": 2}}


def tasks(gateway):
    """An agent without a process: its MCP server is here."""
    answer = {"jsonrpc": "2.0", "id": "x", "result": {"content": [{"type": "text", "text": "3"}]}}
    Server.requests.clear()
    Server.script[:] = [(502,), (200, progress(1), progress(2), answer)]
    task_id = gateway.call(ASK)[0][0]
    story.check("the server does not answer", gateway.work(), ["pending"])
    story.check("then it streams its answer", gateway.work(), ["sent"])
    story.check("it was asked for the skill", [json.loads(r[2])["params"]["name"] for r in Server.requests], ["skill.sum"] * 2)
    story.check("the task is done", gateway.call(STATE, task_id), [("completed", {"text": "3"})])
    story.check("its progress was reported", gateway.call(
        "SELECT envelope #>> '{payload,progress}' FROM clutch.events WHERE task_id = %s AND type = 'task.progress' ORDER BY seq", task_id),
        [("1",), ("2",)])

    Server.script[:] = [(200, progress(1), progress(2), answer)]
    task_id = gateway.call(ASK)[0][0]
    row, = gateway.claim()
    gateway.call("SELECT seq FROM clutch.cancel(%s, by_agent => 'agent:shop')", task_id)
    story.check("a gateway need not go on with a task that was cancelled", gateway.send(row), "nobody waits for it any more")
    story.check("which stays so", gateway.call(STATE, task_id)[0][0], "cancelled")
    story.check("the call of it is cancelled as well", gateway.work(), ["sent"])
    story.check("by its ID", [(m["method"], m["params"]["requestId"]) for m in [json.loads(Server.requests[-1][2])]],
                [("notifications/cancelled", json.loads(row["body"])["id"])])


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    db = psycopg2.connect("")
    db.autocommit = True
    gateway = Gateway(db, {"shop.example": "127.0.0.1:%d" % server.server_port})
    posts(gateway)
    tasks(gateway)
    server.shutdown()
    story.done()


if __name__ == "__main__":
    main()
