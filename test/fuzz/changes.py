#!/usr/bin/python3
"""Envelopes of every dialect, changed in one place, against a live backend.

    changes.py [COUNT [DSN]]        at most so many changes, or all of them; the database of the PG* environment

Translates each sample and recording in test/fixtures/adapters/, makes one change at a time to
its envelope (to each field, to the members of the payload at each depth, to the type), and
lets clutch.outbound make a document of it.  Fails

    - if the document is the same as without the change
    - if the envelope that it makes lacks the change, or its companions
    - if it is not of its dialect any more, or does not come back

Documents that have no place for a change are left out, and so are changes that leave a document
without something that its dialect requires; docs/adapters.md says which these are.  What is
left out is counted.

CLUTCH_FUZZ_SEED names the sequence, if it is not that of all changes.
CLUTCH_FUZZ_ADAPTER names the only adapter to be fuzzed; CLUTCH_FUZZ_VERBOSE=1 shows the documents of faults.
"""
import collections
import glob
import json
import os
import random
import sys
import time

import psycopg2

import adapters

SETUP = """
CREATE FUNCTION pg_temp.way(envelopes jsonb[], adapter text, context jsonb, detected boolean)
	RETURNS TABLE (place int, document jsonb, back jsonb, companions bigint, again boolean, handled boolean, said text) LANGUAGE plpgsql AS $way$
BEGIN
	FOR i IN 1 .. cardinality(envelopes) LOOP
		place := i; document := NULL; back := NULL; companions := NULL; again := NULL; handled := NULL; said := NULL;
		BEGIN
			document := clutch.outbound(envelopes[i], adapter);
			handled := NOT detected OR coalesce(clutch.can_handle(document) = adapter, false);
			SELECT (array_agg(e) FILTER (WHERE e #> ARRAY['meta', adapter, 'kept'] IS NOT NULL))[1], count(*) INTO back, companions FROM clutch.inbound(document, adapter, context) AS e;
			again := clutch.outbound(back, adapter) = document;
		EXCEPTION WHEN OTHERS THEN
			said := SQLSTATE || ' ' || SQLERRM;
		END;
		RETURN NEXT;
	END LOOP;
END
$way$;
"""

MISSING = object()

# fields that any envelope may have
FIELDS = {
    "/from/agent_id": "agent:somebody", "/from/role": "orchestrator", "/to": [{"agent_id": "agent:a"}, {"agent_id": "agent:b"}],
    "/thread_id": "thr_other", "/run_id": "run_other", "/task_id": "task_other", "/parent_task_id": "task_parent", "/id": "msg_other",
    "/idempotency_key": "key", "/domain": "finance", "/payload_type": "com.example.thing", "/schema_ref": "schema://thing@1",
    "/requires": ["skill:other"], "/prefers": ["skill:fast"], "/attempt": 3, "/ts": "2026-02-01T13:20:11.123Z",
    "/security": {"policy": {"sandbox": True, "tool_allowlist": ["mcp:browser"], "trust_level": "verified"}},
    "/attachments": [{"kind": "uri", "ref": "https://a.example/x.pdf", "filename": "x.pdf"}],
    "/trace": {"trace_id": "0af7651916cd43dd8448eb211c80319c", "span_id": "b7ad6b7169203331"},
    "/meta/clutch/deadline": "2030-01-01T00:00:00Z", "/meta/clutch/ttl_ms": 5000, "/meta/clutch/priority": 3, "/meta/clutch/reply_to": "msg_other",
    "/meta/other": {"deep": [1.5, None, {"a": "b"}]},
}

# a type and others with which the state machine goes on in another way
SIBLINGS = [["task.progress", "task.result", "task.error", "task.accept", "task.cancel"], ["tool.result", "tool.error"], ["chat.message", "chat.system"], ["task.request", "chat.message"], ["tool.call", "task.progress"]]

VALUES = ["changed", 4711, 1.5, True, None, {"changed": [1]}, ["changed"]]


def steps(path):
    return [s.replace("~1", "/").replace("~0", "~") for s in path.split("/")[1:]]


def at(value, path):
    for step in steps(path):
        if isinstance(value, list):
            value = value[int(step)] if step.isdigit() and int(step) < len(value) else MISSING
        elif isinstance(value, dict):
            value = value.get(step, MISSING)
        else:
            return MISSING
        if value is MISSING:
            return MISSING
    return value


def put(value, path, item):
    """A copy with another value at the path; MISSING removes it."""
    made = json.loads(json.dumps(value))
    holder = made
    way = steps(path)
    for step in way[:-1]:
        holder = holder[int(step)] if isinstance(holder, list) else holder.setdefault(step, {})
    if isinstance(holder, list):
        if item is MISSING:
            del holder[int(way[-1])]
        elif int(way[-1]) == len(holder):
            holder.append(item)
        else:
            holder[int(way[-1])] = item
    elif item is MISSING:
        holder.pop(way[-1], None)
    else:
        holder[way[-1]] = item
    return made


def below(value, path):
    """Paths of a value and of everything in it."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from below(value[key], path + "/" + key.replace("~", "~0").replace("/", "~1"))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from below(item, "%s/%d" % (path, index))


def changes(envelope):
    """Every change, as the path, the new value and the envelope."""
    for path, value in FIELDS.items():
        if at(envelope, path) is not MISSING and at(envelope, path) != value and path.count("/") == 1 and path not in ("/id", "/to", "/ts", "/thread_id", "/run_id", "/task_id"):
            yield path, MISSING, put(envelope, path, MISSING)
        yield path, value, put(envelope, path, value)
    yield "/from", {"agent_id": "agent:somebody", "role": "verifier"}, put(envelope, "/from", {"agent_id": "agent:somebody", "role": "verifier"})
    for group in SIBLINGS:
        for kind in group if envelope["type"] in group else []:
            if kind != envelope["type"]:
                made = put(envelope, "/type", kind)
                if kind.endswith("error"):
                    made["payload"] = {"code": "BROKEN", "message": "it broke", "retryable": False}
                elif envelope["type"].endswith("error"):
                    made["payload"] = {"text": "it works"}
                yield "/type", kind, made
                if made["payload"] != envelope["payload"]:
                    yield "/payload", made["payload"], made
    for path in below(envelope["payload"], "/payload"):
        value = at(envelope, path)
        if path != "/payload":
            yield path, MISSING, put(envelope, path, MISSING)
            for other in VALUES:
                if other != value or type(other) is not type(value):
                    yield path, other, put(envelope, path, other)
        if isinstance(value, dict):
            for other in VALUES:
                yield path + "/added_here", other, put(envelope, path + "/added_here", other)
            if "code" not in value:
                yield path + "/text", "more", put(envelope, path + "/text", "more")
        elif isinstance(value, list):
            yield "%s/%d" % (path, len(value)), {"added": True}, put(envelope, "%s/%d" % (path, len(value)), {"added": True})
    yield "/payload", {"nothing": "else"}, put(envelope, "/payload", {"nothing": "else"})
    if envelope["type"].endswith("error"):
        for code in ("TIMEOUT", "REJECTED", "INTERNAL", "OUR_OWN"):
            yield "/payload/code", code, put(envelope, "/payload/code", code)
        yield "/payload/message", "another message", put(envelope, "/payload/message", "another message")


def same(a, b):
    def sign(v):
        return json.dumps(v, sort_keys=True)
    return a is b or (a is not MISSING and b is not MISSING and sign(a) == sign(b))


def judge(path, wanted, envelope, row, unchanged, count):
    place, document, back, companions, again, handled, said = row
    if said:
        return said[:5] if document is None else "not read"
    if same(document, unchanged):
        return "not seen"
    if back is None:
        return "lost"
    # elements that move are compared with their array
    whole = path.rpartition("/")[0] if path.startswith("/payload/") else path
    if not (same(at(back, path), wanted) or same(at(back, whole), at(envelope, whole)) or (wanted is MISSING and at(back, path) is None)):
        return "lost"
    if not again:
        return "does not come back"
    if not handled:
        return "of no dialect"
    return "companions" if count is not None and companions != count else None


def has_place(adapter, envelope, document):
    """Can the document say what its dialect has no member for?"""
    if adapter == "http":
        return "specversion" in document or "headers" in document
    if adapter == "langgraph":
        while isinstance(document, list):
            document = document[-1]
        return isinstance(document, dict)
    if adapter != "a2a":
        return True
    form, old = envelope["meta"]["a2a"].get("form"), envelope["meta"]["a2a"]["v"] != "1.0"
    if form == "error" and (envelope["payload_type"] if "payload_type" in envelope else None) in (None, "a2a.error"):
        return "jsonrpc" in document and (old or "ErrorInfo" in json.dumps(document)) or "ErrorInfo" in json.dumps(document.get("error"))
    return form != "result" and (old or form != "method")


def is_left_out(adapter, what, path, wanted, envelope, document):
    if document is None:
        return False
    if not has_place(adapter, envelope, document):
        return what in ("not seen", "lost") or (path.startswith("/payload") and what != "does not come back")
    # what is taken away is filled in again
    if what == "not seen" and path == "/parent_task_id" and wanted is MISSING:
        return True
    # calls of tools are companions, which come and go with the payload
    if what == "companions":
        return path.startswith("/payload")
    return what.startswith(("not read", "of no dialect")) and (path.startswith("/payload") or path == "/type")


def fuzz(cursor, rng, adapter, samples, most):
    faults, done, left_out, seen, examples = 0, 0, 0, collections.Counter(), {}
    for sample in samples:
        # whoever is named in the context is the sender, whatever the document says
        context = {k: v for k, v in sample.get("context", {}).items() if k not in ("agent_id", "server", "to")}
        try:
            cursor.execute("SELECT clutch.inbound(%s, %s, %s)", (json.dumps(sample["raw"]), adapter, json.dumps(context)))
        except psycopg2.Error:
            cursor.connection.rollback()
            continue        # a sample of something that is refused
        made = [row[0] for row in cursor.fetchall()]
        bearers = [e for e in made if "kept" in e.get("meta", {}).get(adapter, {})]
        if not bearers:
            continue
        timed = bearers[0]["meta"][adapter].get("digest", "........x")[8] != "."
        cursor.execute("SELECT clutch.outbound(%s, %s), coalesce(clutch.can_handle(%s) = %s, false)", (json.dumps(bearers[0]), adapter, json.dumps(sample["raw"]), adapter))
        unchanged, detected = cursor.fetchone()
        tried = []
        for path, wanted, envelope in changes(bearers[0]):
            if timed or path != "/ts":
                tried.append((path, wanted, envelope))
        if most and len(tried) > most // len(samples):
            tried = rng.sample(tried, most // len(samples) + 1)
        cursor.execute("SELECT e.n, v.code || ' ' || v.path FROM unnest(%s::jsonb[]) WITH ORDINALITY AS e(doc, n), LATERAL (SELECT * FROM clutch.validate(e.doc) LIMIT 1) AS v", ([json.dumps(t[2]) for t in tried],))
        refused = dict(cursor.fetchall())
        tried = [t for n, t in enumerate(tried, 1) if n not in refused and not same(t[2], bearers[0])]
        cursor.execute("SELECT * FROM pg_temp.way(%s::jsonb[], %s, %s, %s)", ([json.dumps(t[2]) for t in tried], adapter, json.dumps(context), detected))
        for row in cursor.fetchall():
            path, wanted, envelope = tried[row[0] - 1]
            done += 1
            what = judge(path, wanted, envelope, row, unchanged, None if path == "/type" or envelope["type"] != bearers[0]["type"] else len(made))
            if what and is_left_out(adapter, what, path, wanted, bearers[0], row[1]):
                left_out += 1
            elif what:
                key = (what, bearers[0]["type"] + ">" + wanted if path == "/type" else path)
                seen[key] += 1
                examples.setdefault(key, (sample["name"], wanted, row))
        cursor.connection.rollback()
    for key, n in sorted(seen.items()):
        faults += n
        name, wanted, row = examples[key]
        print("not ok  %s: %s %s (%d times): %s = %s" % ((adapter,) + key + (n, name, "nothing" if wanted is MISSING else json.dumps(wanted))))
        if os.environ.get("CLUTCH_FUZZ_VERBOSE"):
            print("        %s\n        %s\n        %s" % (json.dumps(row[1]), json.dumps(row[2]), row[6]))
    print("        %s: %d changes, %d left out, %d faults" % (adapter, done, left_out, faults))
    return faults


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    seed = int(os.environ.get("CLUTCH_FUZZ_SEED", 11))
    connection = psycopg2.connect(sys.argv[2] if len(sys.argv) > 2 else "")
    cursor = connection.cursor()
    cursor.execute("SET client_min_messages = error; SET statement_timeout = '60s'; SET clutch.notify = off; " + SETUP)
    connection.commit()
    faults, only, began = 0, os.environ.get("CLUTCH_FUZZ_ADAPTER"), time.time()
    files = [f for f in sorted(glob.glob(os.path.join(adapters.TOP, "*.json"))) if only in (None, os.path.basename(f)[:-5])]
    for path in files:
        adapter = os.path.basename(path)[:-5]
        with open(path, encoding="utf-8") as text:
            samples = json.load(text)["samples"] + adapters.recorded(adapter)
        faults += fuzz(cursor, random.Random("%d %s" % (seed, adapter)), adapter, samples, count // len(files))
    print("%.0f s, seed %d: %d faults" % (time.time() - began, seed, faults))
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
