#!/usr/bin/python3
"""Hostile envelopes against a live backend.

    hostile.py [COUNT [DSN]]        200,000; the database of the PG* environment

Takes valid envelopes apart (types swapped, keys dropped and made up, numbers
beyond everything, strings that are long or strange, deep nesting) and hands
each to clutch.validate and to INSERT, in a savepoint of its own.  Fails on an
internal error (XX...), on a lost connection, on a statement that hangs, and
when the backend has grown by more than 10 MB since a tenth of the way.

CLUTCH_FUZZ_SEED names the sequence; the one that failed is printed.
CLUTCH_FUZZ_GROWTH_KB allows more than 10 MB, for servers under a sanitizer.
"""
import collections
import json
import os
import random
import sys
import time

import psycopg2

BATCH = 100
MOST_GROWTH_KB = int(os.environ.get("CLUTCH_FUZZ_GROWTH_KB", 10 * 1024))

SETUP = """
CREATE FUNCTION pg_temp.feed(documents text[]) RETURNS TABLE (place int, door text, code text, said text)
LANGUAGE plpgsql AS $feed$
DECLARE
	n int;
BEGIN
	FOR i IN 1 .. cardinality(documents) LOOP
		place := i;
		BEGIN
			door := 'validate';
			SELECT count(*) INTO n FROM clutch.validate(documents[i]::jsonb);
			code := CASE n WHEN 0 THEN 'valid' ELSE 'faults' END; said := NULL; RETURN NEXT;
		EXCEPTION WHEN OTHERS THEN
			code := SQLSTATE; said := SQLERRM; RETURN NEXT;
		END;
		BEGIN
			door := 'insert';
			INSERT INTO clutch.events (envelope) VALUES (documents[i]::jsonb);
			code := 'taken'; said := NULL; RETURN NEXT;
		EXCEPTION WHEN OTHERS THEN
			code := SQLSTATE; said := SQLERRM; RETURN NEXT;
		END;
	END LOOP;
END
$feed$
"""

TEXTS = [
    "", " ", "x", "0", "null", "NaN", "agent:", "agent:a", "agent:ken", "group:", "group:g", "task:t", "run:r",
    "thread:t", "artifact:a", "schema://", "schema://a/b@1", "mcp:", "mcp:browser", "skill:", "skill:research",
    "tool:", "tool:browser", "skill:a@", "skill:a@^1.0", "skill:a@" + "1." * 200, "@", "@@", ">=1 <3 || *",
    "clutch/0.1", "clutch/9", "task.request", "routing.decision", "PLAN", "ed25519", "none", "open", "sandbox", "prod",
    "2026-02-01T13:20:11Z", "2026-02-30T13:20:11Z", "9999-12-31T23:59:60Z", "0000-01-01T00:00:00+23:59",
    "\u00fc", "\u0645\u0631\u062d\u0628\u0627", "\U0001f9a9" * 40, "e\u0301" * 100, "\u202e\u200b\ufeff", "\ud7ff\ue000",
    "\u0001\u001f\u007f", "a\nb\tc\\d\"e", "%s%n%d%%", "'; DROP SCHEMA clutch CASCADE; --", "/", "~", "~0~1//",
    "$1", "{}", "[]", "../../etc/passwd",
]
# as they stand in the text: Python's json would not write them so
NUMBERS = [
    "0", "-0", "1", "2", "4", "5", "-1", "0.1", "1.0", "1.5", "1e0", "64", "65", "2147483647", "2147483648",
    "9007199254740993", "9223372036854775807", "9223372036854775808", "1e18", "1e30", "1e255", "1e256", "1e308", "1e309", "1e400",
    "-1e400", "1e131071", "1e-400", "1e-16000", "1." + "0" * 300, "1" + "0" * 400, "0." + "0" * 350 + "1",
]
RAW = ['"\\u0000"', '"\\ud800"', '"\\udc00x"', "{", "nul", "1e999999"]


class Verbatim:
    """A piece of JSON text, put in when all else is written."""

    def __init__(self):
        self.pieces = []

    def __call__(self, text):
        self.pieces.append(text)
        return "@piece%d@" % (len(self.pieces) - 1)

    def write(self, document):
        text = json.dumps(document, ensure_ascii=False)
        for i, piece in enumerate(self.pieces):
            text = text.replace('"@piece%d@"' % i, piece)
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def base_documents():
    ids = dict(v="clutch/0.1", ts="2026-02-01T13:20:11.123Z", thread_id="thr_f", run_id="run_f")
    full = dict(
        ids, parent_task_id=None, trace={"trace_id": "tr_1", "span_id": "sp_1"},
        to=[{"agent_id": "agent:orchestrator"}], type="task.request", domain="research",
        payload_type="research.query.v1", schema_ref="schema://clutch/research/query@1",
        payload={"title": "t", "list": [1, 2.5, {"a": [True, None]}]},
        requires=["skill:research@^1.0", "tool:browser"], prefers=["tag:market", "domain:fintech", "skill:x"],
        security={"policy": {"sandbox": True, "tool_allowlist": ["mcp:browser"], "network": "none", "trust_level": "sandbox"}},
        attachments=[{"kind": "artifact_ref", "ref": "artifact:r"}], idempotency_key="idem", attempt=1,
        meta={"framework": "x", "clutch": {"deadline": "2036-02-01T14:00:00Z", "ttl_ms": 1000, "priority": 2, "join": "all",
              "not_before": "2026-02-01T14:00:00Z", "after": ["task_x"], "workflow": "w", "scope": "group:g",
              "budget": {"tokens": 1, "cost": 1, "tasks": 1, "depth": 1}, "usage": {"input_tokens": 1, "output_tokens": 1, "cost": 1},
              "reply_to": "msg_0"}})
    card = {"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken", "desc": "d"},
            "endpoints": {"a2a": {"url": "http://ken:8080/a2a"}},
            "capabilities": [{"id": "skill:research", "version": "1.0", "tags": ["market"], "tools": ["mcp:browser"],
                              "trust_level": "sandbox", "cost_hint": "low"}, {"id": "tool:mcp", "servers": ["mcp:files"]}],
            "limits": {"max_concurrency": 2, "max_runtime_sec": 600, "max_tokens": 10, "max_cost": 1.5, "heartbeat_sec": 10},
            "security": {"sandbox": True, "network": "egress-restricted"},
            "groups": ["group:g"], "scopes": ["group:g"], "model": "m", "meta": {}}
    small = dict(ids, to=[{"agent_id": "agent:ken"}])
    error = {"code": "X", "message": "m", "retryable": True, "details": {}}
    payloads = [
        ("task.request", {}), ("task.accept", {"attempt": 1, "lease_ms": 1000}), ("task.progress", {"note": "n"}), ("task.result", {"a": 1}),
        ("task.error", error), ("task.cancel", {"reason": "r"}), ("task.timeout", {}), ("chat.message", {"text": "t"}),
        ("chat.system", {}), ("tool.call", {"tool": "mcp:browser", "args": {}}), ("tool.result", {}), ("tool.error", error),
        ("agent.register", card), ("agent.update", {"agent_id": "agent:ken", "limits": {"max_concurrency": 1}}),
        ("agent.heartbeat", {"status": "READY"}), ("routing.decision", {"selected": "agent:ken"}), ("routing.failure", {"code": "X"})]
    return [full, dict(full, type="task.request")] + [
        dict(small, type=kind, payload=payload, meta={"clutch": {"reply_to": "msg_0"}}) for kind, payload in payloads]


BASES = [json.dumps(base) for base in base_documents()]


def places(node, found, parent=None, key=None):
    """Every value of a document, as (container, key)."""
    if parent is not None:
        found.append((parent, key))
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for k, child in items:
        places(child, found, node, k)
    return found


def value(rng, verbatim, huge=False):
    if huge:
        text = rng.choice(TEXTS[1:])
        return text * (1 + 1050000 // len(text.encode()))
    kind = rng.randrange(14)
    if kind < 5:
        return rng.choice(TEXTS)
    if kind < 7:
        return verbatim(rng.choice(NUMBERS))
    if kind == 7:
        depth = rng.choice([3, 62, 63, 64, 65, 200, 1000, 3000] + [7000] * (rng.random() < 0.01))
        return verbatim('{"d":' * depth + "1" + "}" * depth if rng.random() < 0.5 else "[" * depth + "]" * depth)
    if kind == 8:
        text = rng.choice(TEXTS[1:])
        return text * rng.choice([2, 31, 257, 1 + 4096 // len(text)])
    if kind == 9:
        return [rng.choice(TEXTS) for _ in range(rng.choice([0, 1, 2, 64, 65, 300]))]
    if kind == 10:
        return {rng.choice(TEXTS): rng.choice(TEXTS) for _ in range(rng.choice([0, 1, 5, 80]))}
    if kind == 11:
        return [{"agent_id": rng.choice(TEXTS), "role": rng.choice(TEXTS)} for _ in range(rng.choice([1, 2, 65]))]
    if kind == 12 and rng.random() < 0.2:
        return verbatim(rng.choice(RAW))
    return rng.choice([None, True, False, {}, [], [None], [[]], {"": None}])


def mutate(rng, number):
    """One document as text."""
    verbatim = Verbatim()
    document = json.loads(rng.choice(BASES))
    document["id"] = "msg_%d" % (number if rng.random() < 0.9 else rng.randrange(number + 1))
    document["task_id"] = "task_%d" % rng.randrange(max(1, number // 5) + 1)
    document["from"] = {"agent_id": rng.choice(["agent:ken", "agent:ui", "agent:lois", "agent:orchestrator"])}
    if rng.random() < 0.5:
        document["run_id"] = "run_%d" % rng.randrange(20)
    if "idempotency_key" in document and rng.random() < 0.9:
        document["idempotency_key"] = "idem_%d" % number
    if rng.random() < 0.5 and document.get("requires"):
        document["requires"] = ["skill:research"]
        document["meta"].pop("clutch")
    # one of a thousand is beyond the limit of size; more would test malloc
    huge = number % 1000 == 999
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 8]) + huge):
        parent, key = rng.choice(places(document, []))
        action = rng.random()
        if action < 0.7:
            parent[key] = value(rng, verbatim, huge)
            huge = False
        elif action < 0.85:
            del parent[key]
        elif isinstance(parent, dict):
            parent[rng.choice(TEXTS)] = parent[key]
        else:
            parent.append(parent[key])
    if rng.random() < 0.01:
        return rng.choice(["null", "1", '"x"', "[]", "[{}]", "true", "{}"])
    return verbatim.write(document)


def extremes():
    """The largest of all, sent first: what malloc keeps of them counts as the beginning."""
    document = base_documents()[0]
    verbatim = Verbatim()
    deep = verbatim("[" * 7000 + "]" * 7000)
    for payload in ({"s": "\u00fc" * 525000}, {"d": deep}, {"n": [1] * 60000}, {"o": {str(i): i for i in range(30000)}}):
        yield verbatim.write(dict(document, id="msg_extreme", payload=payload))
        yield verbatim.write(dict(document, id="msg_extreme", meta=payload, **payload))


class Backend:
    """One connection that must survive, and what its process weighs."""

    def __init__(self, dsn):
        self.connection = psycopg2.connect(dsn)
        self.cursor = self.connection.cursor()
        self.cursor.execute("SET statement_timeout = '120s'; SET client_min_messages = error; SET lock_timeout = '60s'")
        self.connection.commit()
        self.pid = self.connection.get_backend_pid()

    def run(self, statement, arguments=None):
        try:
            self.cursor.execute(statement, arguments)
            return self.cursor.fetchall() if self.cursor.description else []
        except psycopg2.Error as error:
            # what no savepoint catches: the connection is lost, or the statement hangs
            print("FAILED: %s: %s" % (type(error).__name__, str(error)[:4000]))
            sys.exit(1)

    def anonymous_kb(self):
        """Memory of its own: without the shared buffers it has touched."""
        with open("/proc/%d/status" % self.pid) as status:
            for line in status:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1])
        raise RuntimeError("no RssAnon in /proc/%d/status" % self.pid)


class Verdict:
    """Counts answers; an internal error ends the run."""

    def __init__(self, seed):
        self.seed = seed
        self.counts = collections.Counter()

    def take(self, door, code, said, subject):
        self.counts[door, code] += 1
        if code.startswith("XX") or code == "57014":
            print("FAILED: %s answered %s: %s\nseed %d, for:\n%s" % (door, code, said, self.seed, subject[:4000]))
            sys.exit(1)

    def table(self):
        for (door, code), n in sorted(self.counts.items()):
            print("%-24s %-8s %9d" % (door, code, n))


def settings(argv, count):
    seed = int(os.environ.get("CLUTCH_FUZZ_SEED", "20260201"))
    return int(argv[1]) if len(argv) > 1 else count, argv[2] if len(argv) > 2 else "", seed


def weigh(backend, done, batch, count, early):
    """The weight after a tenth, once that is done."""
    return backend.anonymous_kb() if early is None and done + batch >= count // 10 else early


def judge_growth(early, late):
    print("memory of the backend: %d kB after a tenth, %d kB at the end" % (early, late))
    if late - early > MOST_GROWTH_KB:
        print("FAILED: it grew by %d kB, more than %d" % (late - early, MOST_GROWTH_KB))
        sys.exit(1)


def main():
    count, dsn, seed = settings(sys.argv, 200000)
    rng = random.Random(seed)
    backend = Backend(dsn)
    verdict = Verdict(seed)
    early, began = None, time.time()
    backend.run(SETUP)
    backend.connection.commit()
    for document in list(extremes()) * 3:
        for _, door, code, said in backend.run("SELECT * FROM pg_temp.feed(%s)", ([document],)):
            verdict.take(door, code, said, document)
        backend.connection.rollback()
    for done in range(0, count, BATCH):
        batch = min(BATCH, count - done)
        documents = [mutate(rng, done + i) for i in range(batch)]
        for place, door, code, said in backend.run("SELECT * FROM pg_temp.feed(%s)", (documents,)):
            verdict.take(door, code, said, documents[place - 1])
        # half of it stays, so that later ones meet earlier ones
        if (done // BATCH) % 2:
            backend.connection.commit()
        else:
            backend.connection.rollback()
        early = weigh(backend, done, batch, count, early)
    verdict.table()
    judge_growth(early, backend.anonymous_kb())
    print("%d hostile envelopes in %.0f s, seed %d" % (count, time.time() - began, seed))


if __name__ == "__main__":
    main()
