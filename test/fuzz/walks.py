#!/usr/bin/python3
"""Random walks through all that can be done to tasks.

    walks.py [COUNT [DSN]]      200,000; the database of the PG* environment

A step counts as five of COUNT, it takes so long.  Each walk makes the extension
anew, has its own agents, settings and clock (clutch.clock), and makes STEPS
random steps in one of two sessions: requests of every kind, some of which rules share out, claims, reports
that fit and that do not, steps, questions, answers, messages and suspensions,
cancels and retries, agents that change, ticks and jumps of the clock, some of it in
transactions that roll back. In one walk of six a trigger refuses three of ten
events that the orchestrator sends, so that consequences are rolled back in the
middle of a commit and put off; when the trigger is gone, ticks must handle
them all. After each step the tables of state are compared with one another.
Then agents are let work until nothing is left, with ticks or without.

Fails when a call raises what docs/errors.md does not know, when the tables
contradict one another, when an agent is above its limit or has nothing to do
though something waits for it, when a task does not end or ends twice, when a
run is given work beyond its budget, and when clutch.rebuild() finds another
state.  What led there is written to walk.sql (or CLUTCH_WALK_SQL).

CLUTCH_FUZZ_SEED names the first walk; the others follow it.
"""
import collections
import datetime
import json
import os
import random
import sys
import time

import psycopg2

import hostile

STEPS = 250
SESSIONS = 2
ENVELOPES_A_STEP = 5

SETTINGS = {
    "clutch.aging": [0, 60, 600], "clutch.max_lease_losses": [0, 2, 10], "clutch.default_deadline": [0, 600, 86400],
    "clutch.breaker_failures": [0, 2, 5], "clutch.heartbeat_interval": [0, 30], "clutch.retry_max": [0, 1, 3],
    "clutch.tick_batch": [1, 3, 1000], "clutch.claim_timeout": [0, 20, 60], "clutch.exact_load_candidates": [0, 32, 32, 32], "clutch.breaker_probes": [1, 3],
}
AGENTS = ["agent:a%d" % i for i in range(5)]
REQUESTERS = ["agent:ui", "agent:desk"] + AGENTS[:2]
ORCHESTRATOR = "agent:orchestrator"
SKILLS = ["skill:x", "skill:y", "skill:z"]
STATUSES = ["INITIALIZING", "READY", "BUSY", "UNAVAILABLE", "STOPPING", "STOPPED"]
OVER = ("completed", "failed", "cancelled", "timed_out")
DOCUMENTED = {"KL001", "KL003", "KL004", "KL005", "KL009", "23505", "42501", "22023"}
# which messages a suspended task waits for; work_off sends one that fits them all
MESSAGES = [{}, {"type": "chat.message"}, {"type": ["chat.message", "tool.result"]}, {"path": "$.payload ? (@.n > 2)"}]

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "walks.sql")) as queries:
    SQL = dict(part.split("\n", 1) for part in queries.read().split("-- name: ")[1:])

READINGS = [
    "SELECT count(*) FROM clutch.replay(%(run)s)", "SELECT count(*) FROM clutch.task_tree(%(run)s)", "SELECT clutch.run_graph(%(run)s)",
    "SELECT count(*) FROM clutch.why(%(task)s)", "SELECT * FROM clutch.result(%(task)s)", "SELECT count(*) FROM clutch.metrics()",
    "SELECT count(*) FROM clutch.tasks", "SELECT count(*) FROM clutch.runs", "SELECT count(*) FROM clutch.stuck",
    "SELECT count(*) FROM clutch.approvals", "SELECT count(*) FROM clutch.dead_letters", "SELECT count(*) FROM clutch.budgets", "SELECT count(*) FROM clutch.costs",
    "SELECT count(*) FROM clutch.task_edges", "SELECT count(*) FROM clutch.agents", "SELECT count(*) FROM clutch.threads",
]


# a trigger of the user's, whose errors look like those of a refused envelope
REFUSING = """
CREATE FUNCTION clutch.walk_refuse() RETURNS trigger LANGUAGE plpgsql AS $refuse$
BEGIN
	IF random() < 0.3 AND (NEW.envelope #>> '{from,agent_id}') = 'agent:orchestrator' THEN
		RAISE EXCEPTION 'the walk refuses this event' USING ERRCODE = '22023';
	END IF;
	RETURN NULL;
END $refuse$;
CREATE TRIGGER walk_refuse AFTER INSERT ON clutch.events FOR EACH ROW EXECUTE FUNCTION clutch.walk_refuse();
"""


# what the tables of state show as long as something that was refused is put off
PUT_OFF = {"a task that nobody will look at in time", "held, and nothing to wait for", "not revived, and waits for what has failed",
           "suspended, and its children are over", "suspended, and what it waits for has been said"}


class Fault(Exception):
    """A promise that does not hold."""


class Walk:
    def __init__(self, connections, seed):
        self.rng = random.Random(seed)
        # of its own, so that walks without rules go where they always went
        self.words = random.Random("words of %d" % seed)
        self.shares = self.words.random() < 0.3
        self.cursors = [connection.cursor() for connection in connections]
        self.cursor = self.cursors[0]
        self.log = []
        self.now = datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc)
        self.number = 0
        self.sent = []
        self.tasks = []
        self.load = {}
        self.in_transaction = False
        self.counts = collections.Counter()
        self.runs = ["run_%d" % i for i in range(3)]
        self.scope = {self.runs[2]: "group:s"} if self.rng.random() < 0.5 else {}
        self.registered = []
        self.is_refusing = False

    # ---------------------------------------------------------------- asking

    def ask(self, sql, arguments=None):
        """Answers rows, or the SQLSTATE of a documented error."""
        text = self.cursor.mogrify(sql, arguments).decode()
        self.log.append("/* %d */ %s" % (self.cursors.index(self.cursor), text))
        if self.in_transaction:
            self.cursor.execute("SAVEPOINT step")
        try:
            self.cursor.execute(text)
            return self.cursor.fetchall() if self.cursor.description else []
        except psycopg2.Error as error:
            if error.pgcode not in DOCUMENTED:
                raise Fault("SQLSTATE %s: %s" % (error.pgcode, error)) from error
            self.counts[error.pgcode] += 1
            if self.in_transaction:
                self.cursor.execute("ROLLBACK TO step")
            return error.pgcode

    def everywhere(self, sql, arguments=None):
        """In all sessions: settings, and what is prepared."""
        for self.cursor in self.cursors:
            self.ask(sql, arguments)

    def look(self, sql, arguments=None):
        self.cursor.execute(sql, arguments)
        return self.cursor.fetchall()

    def must(self, good, what):
        if not good:
            raise Fault(what)

    # -------------------------------------------------------------- choosing

    def chance(self, p):
        return self.rng.random() < p

    def at(self, seconds):
        return (self.now + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def live(self, *statuses):
        return [t for t in self.tasks if t["status"] in statuses] if statuses else [t for t in self.tasks if t["status"] not in OVER]

    def some_task(self, *statuses):
        found = self.live(*statuses)
        return self.rng.choice(found) if found else None

    def any_task(self):
        return self.rng.choice(self.tasks) if self.tasks else None

    def name(self, prefix):
        self.number += 1
        return "%s_%d" % (prefix, self.number)

    # -------------------------------------------------------------- envelopes

    def envelope(self, kind, sender, to, payload, run, task, **more):
        document = {"v": "clutch/0.1", "id": self.name("msg"), "ts": self.at(0), "thread_id": "thr_" + run, "run_id": run,
                    "task_id": task, "from": {"agent_id": sender}, "to": [{"agent_id": name} for name in to], "type": kind,
                    "payload": payload}
        document.update({k: v for k, v in more.items() if v is not None})
        return document

    def recipients(self):
        rng = self.rng
        return rng.choices([[ORCHESTRATOR], [rng.choice(AGENTS)], rng.sample(AGENTS, 2), ["group:g"], ["agent:ghost"],
                            ["group:nobody"], ["group:g", rng.choice(AGENTS)]], [50, 22, 5, 8, 3, 2, 3])[0]

    def orders(self, run, task):
        rng = self.rng
        orders = {}
        if self.chance(0.6):
            orders["priority"] = rng.randrange(5)
        if self.chance(0.2):
            orders["join"] = rng.choice(["all", "any", 2])
        if self.chance(0.2):
            others = [t["id"] for t in self.tasks if t["run"] == run and t["id"] != task][-8:] + ["task_%d" % (self.number + 2)]
            orders["after"] = rng.sample(others, min(len(others), rng.choice([1, 1, 2])))
        if self.chance(0.1):
            orders["deadline"] = self.at(rng.choice([-5, 1, 30, 90, 600]))
        if self.chance(0.05):
            orders["ttl_ms"] = rng.choice([1, 20000, 400000])
        if self.chance(0.08):
            orders["not_before"] = self.at(rng.choice([-10, 5, 60, 300]))
        if self.chance(0.2):
            orders["retry"] = {"max": rng.randrange(3), "initial_ms": rng.choice([0, 500, 5000])}
        if self.chance(0.05):
            orders["budget"] = rng.choice([{"tokens": 300}, {"cost": 2}, {"tasks": 12}, {"depth": 1}, {"tokens": 100, "cost": 1}])
        if run in self.scope:
            orders["scope"] = self.scope[run]
        return orders

    def payload(self):
        payload = {"n": self.number}
        if self.shares and self.words.random() < 0.5:
            payload["text"] = " ".join(self.words.sample(["alpha", "beta", "gamma", "also", "also"], self.words.randrange(2, 5)))
        return payload

    def request(self):
        rng = self.rng
        run = rng.choice(self.runs)
        task = self.name("task")
        known = self.some_task()
        if known and self.chance(0.06):
            task, run = known["id"], known["run"]
        parents = [t["id"] for t in self.tasks if t["run"] == run][-10:] + ["task_%d" % (self.number + 3)]
        policy = rng.choices([None, {"sandbox": False}, {"network": "open"}, {"trust_level": "prod"}], [90, 5, 3, 2])[0]
        orders = self.orders(run, task)
        sender = rng.choice(REQUESTERS + [ORCHESTRATOR])
        if known and task == known["id"] and self.chance(0.7):
            sender = known["agent"] or ORCHESTRATOR
        return self.envelope(
            "task.request", sender, self.recipients(), self.payload(), run, task,
            parent_task_id=rng.choice(parents) if self.chance(0.35) else None,
            requires=rng.choices([None, [rng.choice(SKILLS)], SKILLS[:2], ["skill:none"]], [30, 60, 8, 3])[0],
            prefers=[rng.choice(SKILLS)] if self.chance(0.1) else None,
            payload_type=rng.choice(["p.q", "r.s"]) if self.chance(0.2) else None,
            security={"policy": policy} if policy else None,
            idempotency_key="key_%d" % rng.randrange(20) if self.chance(0.1) else None,
            meta={"clutch": orders} if orders else None)

    def usage(self):
        return {"clutch": {"usage": self.rng.choice([{"input_tokens": 40, "output_tokens": 10}, {"cost": 0.5}, {"input_tokens": 200}])}}

    def report(self, task, kind, payload):
        agent = task["agent"] or self.rng.choice((task["past"] or []) + AGENTS)
        if self.chance(0.05):
            agent = self.rng.choice(AGENTS)
        attempt = self.attempt(task)
        return self.envelope(kind, agent, [task["from"]], payload, task["run"], task["id"], attempt=attempt if attempt and attempt > 0 else None,
                             meta=self.usage() if self.chance(0.3) else None)

    def attempt(self, task):
        return self.rng.choices([task["attempt"], None, task["attempt"] - 1 or None, task["attempt"] + 1], [80, 12, 6, 2])[0]

    def card(self, agent):
        rng = self.rng
        limits = {"max_concurrency": rng.choice([0, 1, 1, 2, 2, 3, 5, 5 if self.exact else 20])}
        if self.chance(0.2):
            limits["heartbeat_sec"] = rng.choice([0, 10, 60])
        if self.chance(0.3):
            limits["max_runtime_sec"] = rng.choice([0, 20, 100])
        if self.chance(0.15):
            limits["max_tokens"] = rng.choice([50, 300])
        if self.chance(0.1):
            limits["max_cost"] = 1
        if self.chance(0.2):
            limits["retry"] = {"max": rng.randrange(4), "factor": 1.5}
        return {"v": "clutch/0.1", "agent_id": agent, "limits": limits,
                "capabilities": [{"id": skill, "trust_level": rng.choice(["sandbox", "prod"]), "cost_hint": rng.choice(["low", "high"])}
                                 for skill in rng.sample(SKILLS, rng.randrange(1, 4))],
                "security": {"sandbox": not self.chance(0.15), "network": rng.choice(["none", "open"])},
                "groups": ["group:g"] if self.chance(0.4) else [], "scopes": ["group:s"] if self.chance(0.6) else []}

    # ------------------------------------------------------------------ steps

    def send(self, document):
        rows = self.ask("SELECT seq, duplicate, late FROM clutch.send(%s)", (json.dumps(document),))
        if not isinstance(rows, str):
            self.sent.append((document, rows[0][0], self.in_transaction))
        return rows

    def step_request(self):
        self.send(self.request())

    def step_send_at(self):
        self.ask("SELECT clutch.send_at(%s, %s)", (json.dumps(self.request()), self.at(self.rng.choice([-5, 10, 100, 1000]))))

    def step_batch(self):
        self.ask("SELECT clutch.send_batch(%s::jsonb[])", ([json.dumps(self.request()) for _ in range(3)],))

    def step_resend(self):
        if self.sent:
            document, seq, in_doubt = self.rng.choice(self.sent)
            rows = self.ask("SELECT seq, duplicate FROM clutch.send(%s)", (json.dumps(document),))
            self.must(in_doubt or isinstance(rows, str) or rows[0] == (seq, True), "a resend of event %d was answered %s" % (seq, rows))

    def step_claim(self):
        agent = self.rng.choice(AGENTS)
        self.claim(agent, self.rng.choice([1, 1, 2, 4]), self.rng.choice([5, 60, 400]))

    def claim(self, agent, n, lease):
        best = self.look("SELECT min(urgency) FROM clutch.ready r JOIN clutch.task t USING (task_id) "
                         "WHERE r.agent_id = %s AND (t.deadline > clutch.now()) IS NOT FALSE", (agent,))[0][0]
        rows = self.ask("SELECT task_id, attempt, lease_until, (envelope #>> '{meta,clutch,priority}') FROM clutch.claim(%s, %s, %s * interval '1 s')",
                        (agent, n, lease))
        if isinstance(rows, str):
            return []
        self.must(len(rows) <= n, "%s claimed %d and had %d" % (agent, n, len(rows)))
        held = {row[0]: row for row in self.look(
            "SELECT task_id, attempt, priority FROM clutch.task WHERE agent_id = %s AND status = 'running'", (agent,))}
        for task, attempt, _, _ in rows:
            self.must(task in held and held[task][1] == attempt, "%s was told it has %s, and has not" % (agent, task))
        if self.settings["clutch.aging"] == 0 and rows and best is not None and len(rows) == 1 and not self.look("SELECT 1 FROM clutch.pause"):
            self.must(held[rows[0][0]][2] >= 4 - best, "%s was given %s though a more urgent one was ready" % (agent, rows[0][0]))
        return rows

    def step_idle(self):
        """Who claims until it is given nothing, and nothing else happens, has left nothing that it could have."""
        agent = self.rng.choice(AGENTS)
        for _ in range(30):
            before = self.look("SELECT max(seq) FROM clutch.events")
            # one that finds only what is over time ends that, and what gets its place is for the next
            if not self.claim(agent, 2, 60) and self.look("SELECT max(seq) FROM clutch.events") == before:
                break
        else:
            return
        if self.exact and not self.in_transaction:
            self.none(SQL["idle"], {"agent": agent})

    def step_progress(self):
        task = self.some_task("assigned", "running", "input_required", "suspended")
        if task:
            self.send(self.report(task, "task.progress", {"n": 1}))

    def step_park(self):
        task = self.some_task("running")
        if task:
            payload = {"state": "input_required", "question": "?"}
            if self.chance(0.4):
                payload["deadline"] = self.at(self.rng.choice([-1, 20, 200]))
            self.send(self.report(task, "task.progress", payload))

    def step_suspend(self):
        task = self.some_task("running", "running", "running", "suspended")
        if task:
            wait = self.rng.choice([{"children": "all"}, {"children": "any"}, {"children": 2}, {}, {"message": self.rng.choice(MESSAGES)}])
            if not wait or self.chance(0.3):
                wait = dict(wait, **self.rng.choice([{"for_ms": 1}, {"for_ms": 40000}, {"until": self.at(300)}]))
            self.ask("SELECT late FROM clutch.suspend(%s, %s, %s, attempt => %s)",
                     (task["agent"], task["id"], json.dumps(wait), self.attempt(task)))

    def step_keep(self):
        """Whoever repeats a step is told what was kept, or that it differs."""
        task = self.some_task("running", "running", "assigned", "suspended") if self.chance(0.9) else self.any_task()
        if not task:
            return
        name, output = self.rng.choice("abc"), self.rng.choice([{"n": 1}, {"n": 1}, {"n": 2}, None])
        kept = "SELECT output FROM clutch.steps(%s) WHERE name = %s"
        before = self.look(kept, (task["id"], name))
        rows = self.ask("SELECT clutch.step(%s, %s, %s, %s, %s)", (task["agent"] or self.rng.choice(AGENTS), task["id"], name, json.dumps(output), self.attempt(task)))
        after = self.look(kept, (task["id"], name))
        self.must(not before or after == before, "step %s of %s was %s and is %s" % (name, task["id"], before, after))
        self.must(isinstance(rows, str) or rows == after and (before or rows == [(output,)]), "step %s of %s is %s and was answered %s"
                  % (name, task["id"], after, rows))
        self.must(rows != "KL009" or before and before != [(output,)], "step %s of %s is %s, which does not differ" % (name, task["id"], before))

    def step_answer(self):
        task = self.some_task("input_required") if self.chance(0.8) else self.any_task()
        if task:
            self.ask("SELECT late FROM clutch.answer(%s, '{}', %s)", (task["id"], self.rng.choice(["agent:ui", ORCHESTRATOR, task["from"]])))

    def step_chat(self):
        task = self.any_task()
        if task:
            self.send(self.envelope("chat.message", self.rng.choice(REQUESTERS), [task["agent"] or ORCHESTRATOR],
                                    {"n": self.rng.randrange(6)}, task["run"], task["id"]))

    def step_finish(self):
        task = self.some_task("running", "running", "assigned", "input_required", "suspended") if self.chance(0.9) else self.any_task()
        if task:
            self.send(self.report(task, "task.result", {}))

    def step_finish_called(self):
        task = self.some_task("running")
        if task:
            is_due = self.look("SELECT (deadline <= clutch.now()) IS TRUE FROM clutch.task WHERE task_id = %s", (task["id"],))[0][0]
            rows = self.ask("SELECT late FROM clutch.finish(%s, %s, '{}', %s)", (task["agent"], task["id"], task["attempt"]))
            self.must(is_due or rows == [(False,)] or self.is_refusing and rows == "22023", "%s held %s at attempt %d, and its result was answered %s"
                      % (task["agent"], task["id"], task["attempt"], rows))

    def step_fail(self):
        task = self.some_task("running", "assigned") if self.chance(0.9) else self.any_task()
        if task:
            payload = {"code": self.rng.choice(["TIMEOUT", "UNAVAILABLE", "REJECTED", "NO_CAPACITY", "X"]), "message": "m"}
            if self.chance(0.7):
                payload["retryable"] = self.chance(0.7)
            if self.chance(0.3):
                payload["details"] = {"retry_after_ms": self.rng.choice([0, 700, 50000])}
            self.send(self.report(task, "task.error", payload))

    def step_accept(self):
        task = self.some_task("assigned", "running")
        if task:
            self.send(self.report(task, "task.accept", {}))

    def step_release(self):
        task = self.some_task("running", "assigned", "input_required", "suspended")
        if task:
            self.ask("SELECT clutch.release(%s, %s, %s)", (task["agent"], task["id"], self.attempt(task)))

    def step_extend(self):
        task = self.some_task("running")
        if task:
            self.ask("SELECT * FROM clutch.extend_lease(%s, %s, %s, %s * interval '1 s')",
                     (task["agent"], task["id"], self.attempt(task), self.rng.choice([1, 60, 900])))

    def step_cancel(self):
        task = self.some_task() if self.chance(0.9) else self.any_task()
        if task:
            self.ask("SELECT late FROM clutch.cancel(%s, 'r', %s)", (task["id"], self.rng.choice([ORCHESTRATOR, task["from"], task["agent"]])))

    def step_retry(self):
        task = self.some_task("failed", "cancelled", "timed_out") if self.chance(0.9) else self.any_task()
        if task:
            self.ask("SELECT clutch.retry(%s, %s)", (task["id"], ORCHESTRATOR))

    def step_retry_run(self):
        self.ask("SELECT count(*) FROM clutch.retry_run(%s, %s)", (self.rng.choice(self.runs), ORCHESTRATOR))

    def step_status(self):
        self.ask("SELECT clutch.set_status(%s, %s, 'r')", (self.rng.choice(AGENTS), self.rng.choice(STATUSES + ["READY"] * 3)))

    def step_register(self):
        self.ask("SELECT clutch.register(%s)", (json.dumps(self.card(self.rng.choice(AGENTS))),))

    def step_update(self):
        agent = self.rng.choice(AGENTS)
        card = self.card(agent)
        del card["v"]
        if self.chance(0.5):
            card = {"agent_id": agent, "limits": card["limits"]}
        self.send(self.envelope("agent.update", agent, [ORCHESTRATOR], card, "run:agents", "task:agents"))

    def step_pause(self):
        self.ask("SELECT clutch.pause(%s, 'r')", (self.rng.choice(AGENTS + SKILLS),))

    def step_resume(self):
        self.ask("SELECT clutch.resume(what) FROM clutch.paused WHERE %s < 0.5 OR what = %s", (self.rng.random(), self.rng.choice(AGENTS)))

    def step_unregister(self):
        self.ask("SELECT clutch.unregister(%s, 'r')", (self.rng.choice(AGENTS),))

    def step_cancel_run(self):
        self.ask("SELECT clutch.cancel_run(%s, 'r', %s)", (self.rng.choice(self.runs), self.rng.choice([ORCHESTRATOR, ORCHESTRATOR, "agent:ui"])))

    def step_heartbeat(self):
        self.ask("SELECT clutch.heartbeat(%s)", (self.rng.choice(AGENTS),))

    def step_group(self):
        self.ask("SELECT clutch.%s_group('group:g', %%s)" % self.rng.choice(["join", "leave"]), (self.rng.choice(AGENTS),))

    def step_clock(self):
        self.forward(self.rng.choices([0.4, 3, 15, 70, 400, 4000, 90000], [15, 20, 20, 15, 6, 2, 1])[0])

    def forward(self, seconds):
        if self.in_transaction:
            return
        self.now += datetime.timedelta(seconds=seconds)
        self.everywhere("SET clutch.clock = %s", (self.now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),))

    def step_tick(self):
        self.ask("SELECT clutch.tick()")
        if self.exact and self.settings["clutch.tick_batch"] == 1000 and not self.in_transaction:
            self.none(SQL["idle"], {"agent": None})

    def step_schedule(self):
        document = self.request()
        for key in ("id", "ts", "task_id", "idempotency_key"):
            document.pop(key, None)
        self.ask("SELECT clutch.schedule(%s, %s, %s)", (self.rng.choice(["s1", "s2"]), self.rng.choice(["* * * * *", "*/5 * * * *"]), json.dumps(document)))

    def step_unschedule(self):
        self.ask("SELECT clutch.unschedule(%s)", (self.rng.choice(["s1", "s2"]),))

    def step_read(self):
        task = self.any_task()
        run = self.rng.choice(self.runs)
        answer = self.ask(self.rng.choice(READINGS), {"task": task["id"] if task else "task_0", "run": run})
        self.must(not isinstance(answer, str) or not task, "reading was answered %s" % answer)

    def step_explain(self):
        self.ask("SELECT count(*) FROM clutch.explain_route(%s)", (json.dumps(self.request()),))

    def step_rebuild(self):
        self.compare_rebuilt()

    WEIGHTS = {
        "request": 26, "send_at": 2, "batch": 2, "resend": 3, "claim": 20, "idle": 3, "progress": 5, "park": 5, "suspend": 6, "keep": 4, "answer": 4, "chat": 3,
        "finish": 6, "finish_called": 4, "fail": 8, "accept": 3, "release": 4, "extend": 3, "cancel": 3, "retry": 3, "retry_run": 1,
        "status": 4, "register": 2, "update": 2, "heartbeat": 2, "group": 1, "pause": 1.5, "resume": 3, "unregister": 0.5, "cancel_run": 0.3, "clock": 9, "tick": 7, "read": 4, "explain": 1, "rebuild": 0.5,
        "schedule": 0.5, "unschedule": 1,
    }

    # --------------------------------------------------------------- promises

    def none(self, sql, arguments=None):
        rows = self.look(sql, arguments)
        self.must(not rows, "; ".join("%s: %s" % row for row in rows[:3]))

    def observe(self):
        # inside a transaction the consequences for other tasks are still to come
        if self.in_transaction and self.chance(0.5):
            self.ask("SELECT clutch.settle()")
            settled = True
        else:
            settled = not self.in_transaction
        self.tasks = self.look("EXECUTE state")[0][0]
        if settled:
            found = self.look("EXECUTE faults")
            if self.is_refusing:
                self.counts["put off"] += self.look("SELECT count(*) FROM clutch.consequence")[0][0]
                found = [row for row in found if row[0] not in PUT_OFF]
            self.must(not found, "; ".join("%s: %s" % row for row in found[:3]))
        for agent, limit, running in self.look("EXECUTE limits"):
            self.must(running <= max(limit, self.load.get(agent, 0)), "%s has %d tasks, its limit is %d" % (agent, running, limit))
            self.load[agent] = running

    def compare_rebuilt(self):
        if self.in_transaction or self.is_refusing:
            return
        before = self.look(SQL["rebuilt"])
        self.ask("SELECT clutch.rebuild()")
        after = self.look(SQL["rebuilt"])
        gone, come = sorted(set(before) - set(after)), sorted(set(after) - set(before))
        self.must(before == after, "rebuilt, the state is another:\n- %s\n+ %s" % ("\n- ".join(map(str, gone[:3])), "\n+ ".join(map(str, come[:3]))))

    # ---------------------------------------------------------------- the walk

    def prepare(self):
        self.ask("DROP EXTENSION IF EXISTS clutch CASCADE")
        self.ask("CREATE EXTENSION clutch")
        self.everywhere("DEALLOCATE ALL")
        for name in ("state", "faults", "limits"):
            for cursor in self.cursors:
                cursor.execute("PREPARE %s AS %s" % (name, SQL[name]))
        self.settings = {name: self.rng.choice(values) for name, values in SETTINGS.items()}
        # otherwise a backend trusts what it read a moment ago, also what was rolled back
        self.exact = self.settings["clutch.exact_load_candidates"] > 0
        for name, value in self.settings.items():
            self.everywhere("SET %s = %%s" % name, (value,))
        self.forward(0)
        if self.chance(0.5):
            self.ask("SELECT clutch.set_retry_policy('p.q', max => 1, initial => '3 s')")
        for agent in AGENTS[:self.rng.randrange(1, 6)]:
            self.ask("SELECT clutch.register(%s)", (json.dumps(self.card(agent)),))
        if self.shares:
            self.ask("INSERT INTO clutch.routing_rule (name, words, path, send_to) SELECT w, ARRAY[w], '$.to.agent_id == \"agent:orchestrator\"', t FROM (VALUES ('alpha', %s), ('beta', %s), ('gamma', 'group:g')) AS v(w, t)", (AGENTS[0], AGENTS[1]))
            self.ask("INSERT INTO clutch.routing_rule (name, words, emit) VALUES ('d', '{also}', %s)",
                     (json.dumps({"to": "matched", "payload": "$.payload", "meta": {"clutch": {"retry": {"max": 1, "initial_ms": 500}}}}),))
        self.observe()
        if self.chance(1 / 6):
            self.everywhere("SELECT setseed(%s)", (self.rng.random(),))
            self.ask(REFUSING)
            self.is_refusing, self.exact = True, False

    def walk(self):
        names, weights = list(self.WEIGHTS), list(self.WEIGHTS.values())
        left = 0
        for _ in range(STEPS):
            if left == 0:
                self.cursor = self.rng.choice(self.cursors)
            if left == 0 and self.chance(0.04):
                self.ask("BEGIN")
                self.in_transaction, left, keep = True, self.rng.randrange(1, 8), (dict(self.load), self.chance(0.5))
            name = self.rng.choices(names, weights)[0]
            self.counts[name] += 1
            getattr(self, "step_" + name)()
            self.observe()
            if left > 0:
                left -= 1
                if left == 0:
                    self.in_transaction = False
                    self.ask("COMMIT" if keep[1] else "ROLLBACK")
                    if not keep[1]:
                        self.load = keep[0]
                    self.observe()
        if left > 0:
            self.in_transaction = False
            self.ask("COMMIT")
            self.observe()

    # ------------------------------------------------------------- the draining

    def work_off(self, agents):
        for agent in agents:
            for _ in range(20):
                rows = self.claim(agent, 50, 60)
                if not rows:
                    break
                for task, attempt, _, _ in rows:
                    late = self.ask("SELECT late FROM clutch.finish(%s, %s, '{}', %s)", (agent, task, attempt))
                    self.must(late == [(False,)], "%s had just claimed %s, and its result was answered %s" % (agent, task, late))
        self.observe()
        for task in self.live("input_required"):
            self.ask("SELECT late FROM clutch.answer(%s, '{}', %s)", (task["id"], ORCHESTRATOR))
        for run in {task["run"]: 1 for task in self.live("suspended") if task["waiting_for"] == "message"}:
            self.send(self.envelope("chat.message", "agent:ui", [ORCHESTRATOR], {"n": 9}, run, "task_talk"))

    def put_off_ends(self):
        """The trigger is gone: ticks handle what it has refused."""
        self.everywhere("SET clutch.tick_batch = 1000")
        for _ in range(40):
            self.forward(61)
            self.ask("SELECT clutch.tick()")
            left = self.look("SELECT 'put off: ' || kind, subject FROM clutch.consequence UNION ALL "
                             "SELECT 'due', task_id FROM clutch.timer WHERE due <= clutch.now()") + self.look("EXECUTE faults")
            if not left:
                break
        self.must(not left, "; ".join("%s: %s" % row for row in left[:3]))
        self.observe()
        self.none("SELECT 'it goes on though its parent was cancelled', c.task_id FROM clutch.task c JOIN clutch.task p "
                  "ON p.task_id = c.parent_task_id WHERE p.status = 'cancelled' AND c.finished_at IS NULL AND NOT EXISTS (SELECT "
                  "FROM clutch.events e WHERE e.task_id = c.task_id AND e.envelope #>> '{meta,clutch,move}' = 'retried')")

    def drain(self):
        """With ticks or without; at last by the deadlines."""
        self.ask("DROP TRIGGER IF EXISTS walk_refuse ON clutch.events")
        self.ask("SELECT clutch.unschedule(name) FROM clutch.schedules")
        if self.is_refusing:
            self.is_refusing = False
            self.put_off_ends()
        with_ticks = self.chance(0.5)
        agents = AGENTS + ["agent:ghost", "agent:all"]
        if self.chance(0.3):
            self.compare_rebuilt()
        for agent in agents:
            card = {"v": "clutch/0.1", "agent_id": agent, "capabilities": [{"id": s, "trust_level": "prod"} for s in SKILLS + ["skill:none"]],
                    "limits": {"max_concurrency": 10}, "groups": ["group:g", "group:nobody"], "scopes": ["group:s"],
                    "security": {"sandbox": True, "network": "open"}}
            self.ask("SELECT clutch.register(%s)", (json.dumps(card),))
        self.ask("SELECT clutch.resume(what) FROM clutch.paused")
        for missing, run in self.look("SELECT DISTINCT d.after_task_id, d.run_id FROM clutch.dependency d LEFT JOIN clutch.task t "
                                      "ON t.task_id = d.after_task_id WHERE t.task_id IS NULL"):
            self.send(self.envelope("task.request", "agent:ui", [ORCHESTRATOR], {}, run, missing))
        for turn in range(40):
            self.cursor = self.rng.choice(self.cursors)
            if with_ticks:
                self.ask("SELECT clutch.tick()")
            self.work_off(agents)
            if not self.live():
                break
            self.forward(61 if turn < 20 else 3600 * 5)
        self.observe()
        left = [t for t in self.live() if not (t["waiting_for"] == "sibling" and self.settings["clutch.default_deadline"] == 0)]
        self.must(not left, "%d tasks do not end (%s ticks): %s" % (len(left), "with" if with_ticks else "without", left[:3]))

    def judge_log(self):
        ended = {}
        events = self.look("""SELECT seq, task_id, type, envelope #>> '{meta,clutch,move}' FROM clutch.events
			WHERE NOT late AND type IN ('task.result', 'task.error', 'task.timeout', 'task.cancel', 'task.progress') ORDER BY seq""")
        for seq, task, kind, move in events:
            if kind != "task.progress":
                self.must(not ended.get(task), "%s ended again at %d" % (task, seq))
                ended[task] = True
            elif move == "retried":
                self.must(ended.get(task), "%s was revived at %d and had not ended" % (task, seq))
                ended[task] = False
            else:
                self.must(not ended.get(task), "%s went on at %d and had ended" % (task, seq))
        for task in self.tasks:
            self.must(ended.get(task["id"], False) == (task["status"] in OVER), "%s is %s, the log says otherwise" % (task["id"], task["status"]))
        self.none("""SELECT 'a run was given work beyond its budget', d.task_id || ' at ' || d.seq FROM clutch.events d
			JOIN clutch.budget b USING (run_id), LATERAL (SELECT coalesce(sum(coalesce((u ->> 'input_tokens')::numeric, 0) + coalesce((u ->> 'output_tokens')::numeric, 0)), 0) AS tokens,
					coalesce(sum((u ->> 'cost')::numeric), 0) AS cost
				FROM clutch.events s, LATERAL (SELECT s.envelope #> '{meta,clutch,usage}') AS x(u)
				WHERE s.run_id = d.run_id AND s.seq < d.seq AND s.type IN ('task.progress', 'task.result', 'task.error')
					-- what an agent that never had the task reports is not charged
					AND EXISTS (SELECT FROM clutch.events g WHERE g.task_id = s.task_id AND g.seq < s.seq
						AND g.type IN ('task.request', 'routing.decision') AND s.from_agent = ANY (g.to_agents))) s
			WHERE d.type = 'routing.decision' AND d.seq > b.seq AND (s.tokens >= b.tokens OR s.cost >= b.cost)""")

    def run(self):
        self.prepare()
        self.walk()
        self.drain()
        self.judge_log()
        self.compare_rebuilt()
        self.observe()
        self.counts["shared"] += self.look("SELECT count(*) FROM clutch.task WHERE wait_seq IS NOT NULL")[0][0]


def main():
    count, dsn, seed = hostile.settings(sys.argv, 200000)
    steps, walks, began = 0, 0, time.time()
    counts = collections.Counter()
    connections = [psycopg2.connect(dsn) for _ in range(SESSIONS)]
    for connection in connections:
        connection.autocommit = True
        connection.cursor().execute("SET client_min_messages = error; SET statement_timeout = '60s'; SET timezone = 'UTC'; "
                                    "LOAD 'clutch'; SET clutch.notify = off")
    while steps * ENVELOPES_A_STEP < count:
        walk = Walk(connections, seed + walks)
        try:
            walk.run()
        except Fault as fault:
            path = os.environ.get("CLUTCH_WALK_SQL", "walk.sql")
            with open(path, "w") as out:
                out.write(";\n".join(walk.log) + ";\n")
            print("FAILED: seed %d, after %d statements (%s): %s" % (seed + walks, len(walk.log), path, fault))
            print("\n".join(walk.log[-3:]))
            sys.exit(1)
        counts.update(walk.counts)
        walks += 1
        steps += STEPS
    print(", ".join("%s %d" % item for item in sorted(counts.items())))
    print("%d walks of %d steps in %.0f s, from seed %d" % (walks, STEPS, time.time() - began, seed))


if __name__ == "__main__":
    main()
