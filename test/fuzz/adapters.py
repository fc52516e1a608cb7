#!/usr/bin/python3
"""Mutated documents of every dialect against a live backend.

    adapters.py [COUNT [DSN]]       20,000 of each adapter; the database of the PG* environment

Takes the samples and recordings in test/fixtures/adapters/ apart (values swapped, members
dropped, made up and moved, texts that are long or strange, deep nesting,
carriers and notes that nobody has written or somebody has changed) and hands each to clutch.inbound,
by itself and under the name of its adapter, and to clutch.ingest.  Half of them come
from a role that speaks for one agent, some with a context that it should not have,
and a few are huge, or deep, or have keys of half a megabyte.  Half as many envelopes of
these samples, with payloads and notes that somebody has changed, are handed to
clutch.outbound.  Fails

    - on an internal error (XX...), a lost connection, a statement that hangs
    - if what inbound returns is refused by clutch.validate
    - if a document does not come back, apart from what was dropped
    - if the document is refused only after it was translated (an adapter should
      have found the fault), more often than in one document of a hundred
    - when the backend has grown by more than 32 MB since a tenth of the way

CLUTCH_FUZZ_SEED names the sequence; the one that failed is printed.
CLUTCH_FUZZ_ADAPTER names the only adapter to be fuzzed.
"""
import collections
import glob
import json
import os
import random
import sys
import time

import psycopg2

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "adapters")
BATCH = 50
MOST_GROWTH_KB = int(os.environ.get("CLUTCH_FUZZ_GROWTH_KB", 32 * 1024))

SETUP = """
CREATE FUNCTION pg_temp.feed(documents text[], adapter text, context jsonb)
	RETURNS TABLE (place int, door text, code text, said text) LANGUAGE plpgsql AS $feed$
DECLARE
	raw jsonb;
	e jsonb;
	bearer jsonb;
	back jsonb;
	clean jsonb;
	detail text;
	path text;
	steps text[];
	n int;
BEGIN
	FOR i IN 1 .. cardinality(documents) LOOP
		place := i; said := NULL;
		BEGIN
			raw := documents[i]::jsonb;
		EXCEPTION WHEN OTHERS THEN
			CONTINUE;
		END;
		BEGIN
			door := 'inbound'; bearer := NULL; code := 'nothing';
			FOR e IN SELECT clutch.inbound(raw, adapter, context) LOOP
				code := 'translated';
				SELECT count(*), string_agg(v::text, ' ') INTO n, detail FROM clutch.validate(e) AS v;
				IF n > 0 THEN
					code := 'REFUSED'; said := detail;
				END IF;
				IF bearer IS NULL AND e #> ARRAY['meta', adapter, 'stub'] IS NULL THEN
					bearer := e;
				END IF;
			END LOOP;
			RETURN NEXT;
			IF bearer IS NOT NULL THEN
				door := 'outbound'; clean := raw; said := NULL;
				-- each step copies the document: thousands of them are left alone
				FOR path IN SELECT d FROM jsonb_array_elements_text(coalesce(bearer #> ARRAY['meta', adapter, 'dropped'], '[]')) WITH ORDINALITY AS t(d, o)
					WHERE length(bearer #>> ARRAY['meta', adapter, 'dropped']) <= 100000 ORDER BY o DESC LOOP
					steps := (SELECT array_agg(replace(replace(s, '~1', '/'), '~0', '~') ORDER BY o) FROM regexp_split_to_table(substr(path, 2), '/') WITH ORDINALITY AS t(s, o));
					IF clean #> steps IS NULL THEN
						-- it leads into a text, for which credentials.py is there
						clean := (SELECT document FROM clutch.drop_credentials(raw));
						EXIT;
					END IF;
					clean := clean #- steps;
				END LOOP;
				back := clutch.outbound(bearer, adapter);
				-- an array may be a batch, of which each element comes back by itself; below a long key, no path is told
				code := CASE WHEN back = clean OR jsonb_typeof(raw) = 'array' OR length(bearer #>> ARRAY['meta', adapter, 'dropped']) > 100000 THEN 'back' ELSE 'CHANGED' END;
				IF code = 'CHANGED' THEN
					said := concat_ws(' and not ', back, clean);
				END IF;
				RETURN NEXT;
			END IF;
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
			code := SQLSTATE || CASE WHEN SQLSTATE = 'KL014' AND detail NOT LIKE '%"argument"%' THEN ' late' ELSE '' END;
			said := SQLERRM || ' ' || coalesce(detail, ''); RETURN NEXT;
		END;
		BEGIN
			door := 'ingest'; said := NULL;
			PERFORM clutch.ingest(raw, NULL, context);
			code := 'taken'; RETURN NEXT;
		EXCEPTION WHEN OTHERS THEN
			code := SQLSTATE; said := SQLERRM; RETURN NEXT;
		END;
	END LOOP;
END
$feed$;
CREATE FUNCTION pg_temp.write(documents text[], adapter text) RETURNS TABLE (place int, door text, code text, said text) LANGUAGE plpgsql AS $write$
DECLARE
	e jsonb;
BEGIN
	door := 'changed';
	FOR i IN 1 .. cardinality(documents) LOOP
		place := i; said := NULL;
		BEGIN
			e := documents[i]::jsonb;
		EXCEPTION WHEN OTHERS THEN
			CONTINUE;
		END;
		BEGIN
			code := CASE WHEN clutch.outbound(e, adapter) IS NULL THEN 'XX NULL' ELSE 'written' END;
		EXCEPTION WHEN OTHERS THEN
			code := SQLSTATE; said := SQLERRM;
		END;
		RETURN NEXT;
	END LOOP;
END
$write$;
DO $$ BEGIN CREATE ROLE clutch_fuzz_agent; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
SELECT clutch.grant_agent('clutch_fuzz_agent', 'agent:gate');
-- something of others, which a context may name
SELECT clutch.send(clutch.envelope('task.request', 'agent:theirs', '{agent:theirs}', run_id => 'run:theirs', thread_id => 'thread:theirs', task_id => 'task:theirs'));
"""

CLEANUP = "DROP OWNED BY clutch_fuzz_agent; DROP ROLE clutch_fuzz_agent"

# what a caller may put into the context, and should not
CONTEXTS = [
    {"agent_id": "agent:boss"}, {"agent_id": "agent:theirs"}, {"agent_id": 5}, {"agent_id": ""}, {"agent_id": "group:a"}, {"agent_id": None},
    {"to": ["agent:a"] * 300}, {"to": []}, {"to": "group:*"}, {"to": {"agent_id": "agent:a"}}, {"to": [["agent:a"]]}, {"to": "x"},
    {"run_id": "run:theirs"}, {"task_id": "task:theirs"}, {"parent_task_id": "task:theirs"}, {"thread_id": "thread:theirs"},
    {"agent_id": "agent:gate", "run_id": "run:theirs", "task_id": "task:theirs", "thread_id": "thread:theirs", "parent_task_id": "task:theirs"},
    {"run_id": "r" * 300}, {"task_id": "a\nb"}, {"thread_id": ""}, {"run_id": {}}, {"parent_task_id": "\u202e"}, {"task_id": "run:x"},
    {"server": "a/b:c\n"}, {"server": 7}, {"server": "s" * 400}, {"session": "s" * 5000}, {"session": 5}, {"session": ""},
    {"seq": 1.5}, {"seq": "x"}, {"seq": -1}, {"stream": "yes"}, {"stream": True}, {"interrupted": 1}, {"interrupted": True}, {"clutch": [], "meta": {"clutch": {"scope": "group:x"}}, "__proto__": {}},
]

TEXTS = [
    "", " ", "x", "0", "null", "agent:", "agent:a", "group:g", "task:t", "run:r", "thread:t", "artifact:a", "schema://", "schema://a/b@1",
    "mcp:browser", "skill:research", "tool:browser", "clutch/0.1", "task.request", "routing.decision", "task.timeout", "clutch.task.timeout",
    "2026-02-01T13:20:11Z", "2026-02-30T13:20:11Z", "9999-12-31T23:59:60Z", "/clutch/run_1/ken", "/clutch//", "/clutch/task:x/y", "%41%zz%",
    "\u00fc", "\u0645\u0631\u062d\u0628\u0627", "\U0001f9a9" * 70, "\u202e\u200b\ufeff", "\u0001\u001f\u007f", "a\nb\tc\\d\"e", "/", "~", "~0~1//",
    "$1", "{}", "[]", "[{\"path\": \"/payload\", \"is\": 1}]", "y" * 257, "z" * 5000, "Bearer abcdefgh12345678", "2.0", "1.0", "true",
    '{"q": 1.50, "password": "x"}', '[1, "[{\\"token\\":\\"x\\"}]"]', '[{"path": "/payload/x", "is": {"token": "x"}}]', '{"token": 1', '"Bearer abcdefgh12345678"', '{"n": "\\u0000", "pwd": 1}',
]
NUMBERS = ["0", "-0", "1", "2", "-1", "0.10", "1.5", "64", "2147483648", "9007199254740993", "9223372036854775808", "1e30", "1e308", "1e400", "1e-400", "1e131071", "-1e-16383", "1E131072", "1769941234567", "253402300800000"]
KEYS = ["password", "token", "api_key", "x-hub-signature", "meta", "clutch", "kept", "native", "id", "type", "data", "payload", "a/b", "~", "", "0", "\u00fc", "__proto__", "constructor", "$ref", "a\nb", "k" * 300]


TYPES = ["task.request", "task.accept", "task.progress", "task.result", "task.error", "task.cancel", "chat.message", "chat.system",
         "tool.call", "tool.result", "tool.error", "agent.register"]


class Verbatim(float):
    """A number that json.dumps writes as it stands."""

    def __new__(cls, text):
        self = super().__new__(cls, 0.0)
        self.text = text
        return self

    def __repr__(self):
        return self.text


def write(value):
    if isinstance(value, Verbatim):
        return value.text
    if isinstance(value, dict):
        return "{" + ", ".join(json.dumps(k) + ": " + write(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(write(v) for v in value) + "]"
    return json.dumps(value)


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], path + (key,))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from places(value[index], path + (index,))


def get(value, path):
    for step in path:
        value = value[step]
    return value


def anything(rng, pool):
    kind = rng.randrange(9)
    if kind < 3:
        return rng.choice(TEXTS)
    if kind == 3:
        return Verbatim(rng.choice(NUMBERS))
    if kind == 4:
        return rng.choice([None, True, False, {}, [], [[]], {"a": None}])
    if kind == 5:
        deep = "x"
        for _ in range(rng.choice([3, 30, 70])):
            deep = [deep] if rng.random() < 0.5 else {"d": deep}
        return deep
    return json.loads(json.dumps(rng.choice(pool)))     # a piece of another sample


def mutated(rng, sample, pool):
    made = json.loads(json.dumps({"root": sample}))
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        path = rng.choice(list(places(made)))
        if not path:
            continue
        holder, last = get(made, path[:-1]), path[-1]
        what = rng.randrange(6)
        if what == 0 and len(path) > 1:
            del holder[last]
        elif what == 1 and isinstance(holder[last], dict):
            holder[last][rng.choice(KEYS)] = anything(rng, pool)
        elif what == 2 and isinstance(holder[last], list):
            holder[last].insert(rng.randrange(len(holder[last]) + 1), anything(rng, pool))
        elif what == 3 and isinstance(holder[last], dict) and holder[last]:
            key = rng.choice(list(holder[last]))
            holder[last][rng.choice(KEYS + [key.upper(), key + "2"])] = holder[last].pop(key)
        else:
            holder[last] = anything(rng, pool)
    return made["root"]


def envelopes(cursor, adapter, samples):
    found = []
    for sample in samples:
        try:
            cursor.execute("SELECT clutch.inbound(%s, %s, %s)", (write(sample["raw"]), adapter, json.dumps(sample.get("context", {}))))
            found += [row[0] for row in cursor.fetchall()]
        except psycopg2.Error:
            pass                # a sample of something that is refused
        cursor.connection.rollback()
    return found


def changed(rng, adapter, envelope, pool):
    """The envelope as somebody else may hand it to outbound."""
    made = json.loads(json.dumps(envelope))
    if rng.random() < 0.25:
        return mutated(rng, made, pool)
    if rng.random() < 0.5:
        made["payload"] = mutated(rng, made.get("payload", {}), pool)
    elif adapter in made.get("meta", {}):
        made["meta"][adapter] = mutated(rng, made["meta"][adapter], pool)
    if rng.random() < 0.3:
        made["type"] = rng.choice(TYPES)
    return made


def carriers(cursor, adapter, made):
    """Documents of envelopes that never were foreign, which are completed by what they carry."""
    found = []
    for envelope in made:
        plain = json.loads(json.dumps(envelope))
        plain.get("meta", {}).pop(adapter, None)
        try:
            cursor.execute("SELECT clutch.outbound(%s, %s)", (write(plain), adapter))
            found.append(cursor.fetchone()[0])
        except psycopg2.Error:
            pass                # a type for which the dialect has no form
        cursor.connection.rollback()
    return found


def misled(rng, document, pool):
    """The document with a carrier that leads somewhere else."""
    made = json.loads(json.dumps({"root": document}))
    for path in list(places(made)):
        value = get(made, path)
        text = isinstance(value, str) and value.startswith('[{"')
        changes = json.loads(value) if text else value
        if not isinstance(changes, list) or not changes or not all(isinstance(c, dict) and "path" in c for c in changes):
            continue
        for _ in range(rng.choice([1, 1, 2, 4])):
            change = rng.choice(changes)
            what = rng.randrange(4)
            if what == 0:
                change.pop("is", None)
            elif what == 1:
                changes.append({"path": rng.choice(["/payload/x", "/to/1", "/meta/x", "/requires", "/attachments", "/payload_type", "/attempt"]), "is": anything(rng, pool)})
            else:
                change["is"] = anything(rng, pool)
        get(made, path[:-1])[path[-1]] = write(changes) if text else changes
        break
    return made["root"]


def monsters():
    """Texts of JSON that are large, or deep, or hard in another way."""
    long_key = json.dumps("k" * 400000)
    return [
        "[" * 70 + "]" * 70, "[" * 1200 + "]" * 1200, '{"d":' * 1200 + "1" + "}" * 1200,
        json.dumps("[" * 200000), json.dumps('{"d":' * 50000), json.dumps("[" * 100000 + '{"token": 1}' + "]" * 100000), json.dumps("[" + '{"token": 1},' * 20000 + "1]"), json.dumps("x" * 900000), json.dumps("\u00fc\U0001f9a9" * 100000),
        "{" + ", ".join('"%d": %d' % (i, i) for i in range(20000)) + "}",
        "{" + ", ".join('"%d_password": "x"' % i for i in range(20000)) + "}", "[" + ", ".join(['"Bearer abcdefgh12345678"'] * 20000) + "]",
        "{" + long_key + ": {" + ", ".join('"%d": %d' % (i, i) for i in range(20000)) + "}}",
        "{" + long_key + ": {" + ", ".join('"%d_password": "x"' % i for i in range(10000)) + "}}",
        "{" + long_key + ": [" + ", ".join(["1e400"] * 10000) + "]}",
        "9" * 100000, "0." + "0" * 16000 + "1", '{"a": 1, "a": 2, "a": {"a": 3}}', '"\\u0000"', '"\\ud800"',
    ]


def monstrous(rng, sample, pieces):
    """The sample with such a text in the place of one of its values, or many times."""
    if rng.random() < 0.2:
        return "[" + ", ".join([write(sample)] * 200) + "]"
    made = json.loads(json.dumps({"root": sample}))
    path = rng.choice([p for p in places(made) if p])
    get(made, path[:-1])[path[-1]] = "@monster@"
    return write(made["root"]).replace('"@monster@"', rng.choice(pieces))


def memory_kb(cursor):
    cursor.execute("SELECT pg_backend_pid()")
    with open("/proc/%d/status" % cursor.fetchone()[0]) as status:
        for line in status:
            if line.startswith("RssAnon"):
                return int(line.split()[1])
    return 0


def fuzz(cursor, rng, adapter, samples, count):
    pool = [get(s["raw"], p) for s in samples for p in places(s["raw"])]
    made = envelopes(cursor, adapter, samples)
    pieces = [get(e, p) for e in made for p in places(e)]
    carrying = carriers(cursor, adapter, made)
    huge = monsters()
    seen, faults, early = collections.Counter(), 0, None
    for done in range(0, count * 3 // 2, BATCH):
        hostile = False
        if done % (3 * BATCH) == 0:
            documents = [write(changed(rng, adapter, rng.choice(made), pieces)) for _ in range(BATCH)]
            cursor.execute("SELECT * FROM pg_temp.write(%s, %s)", (documents, adapter))
        else:
            documents = [write(misled(rng, rng.choice(carrying), pieces) if rng.random() < 0.15 else
                               mutated(rng, rng.choice(samples)["raw"], pool)) for _ in range(BATCH)]
            if rng.random() < 0.1:
                documents[0] = monstrous(rng, rng.choice(samples)["raw"], huge)
            context = dict(rng.choice(samples).get("context", {}))
            if rng.random() < 0.5:
                context["agent_id"] = "agent:gate"
                cursor.execute("SET LOCAL ROLE clutch_fuzz_agent")
            hostile = rng.random() < 0.2
            if hostile:
                context.update(rng.choice(CONTEXTS))
            cursor.execute("SELECT * FROM pg_temp.feed(%s, %s, %s)", (documents, adapter, json.dumps(context)))
        for place, door, code, said in cursor.fetchall():
            # what is wrong with a context is found where the envelope is complete
            if hostile and code.endswith("late"):
                code = code.replace("late", "context")
            seen[door + " " + code] += 1
            if code.startswith("XX") or code in ("REFUSED", "CHANGED") or code.startswith("57"):
                faults += 1
                if faults <= 5:
                    print("not ok  %s, %s of %s\n        %s\n        %s" % (code, door, adapter, documents[place - 1][:3000], (said or "")[:3000]))
            elif code.endswith("late") and seen[door + " " + code] <= 2:
                print("        late: %s\n        %s" % ((said or "")[:600], documents[place - 1][:600]))
        cursor.connection.rollback()
        if done >= count // 10:
            early = early or memory_kb(cursor)
    late = seen["inbound KL014 late"]
    grown = memory_kb(cursor) - (early or 0)
    for name in sorted(seen):
        print("        %-24s %7d" % (name, seen[name]))
    print("        %.0f %% of the documents became envelopes, %.0f %% were sent" % (
        100.0 * seen["inbound translated"] / count, 100.0 * seen["ingest taken"] / count))
    if late * 100 > count:
        print("not ok  %s: %d documents were refused only after they were translated" % (adapter, late))
        faults += 1
    if grown > MOST_GROWTH_KB:
        print("not ok  %s: the backend has grown by %d kB" % (adapter, grown))
        faults += 1
    return faults


def recorded(adapter):
    """what the library of the dialect has said, if there is one"""
    path = os.path.join(TOP, "recorded", adapter + ".ndjson")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        return [{"name": r["what"], "raw": r["document"]} for r in map(json.loads, lines) if r["what"] != "a batch"]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    seed = int(os.environ.get("CLUTCH_FUZZ_SEED", 11))
    connection = psycopg2.connect(sys.argv[2] if len(sys.argv) > 2 else "")
    cursor = connection.cursor()
    cursor.execute("SET client_min_messages = error; SET statement_timeout = '60s'; SET clutch.notify = off; " + SETUP)
    connection.commit()
    faults, only, began = 0, os.environ.get("CLUTCH_FUZZ_ADAPTER"), time.time()
    files = [f for f in sorted(glob.glob(os.path.join(TOP, "*.json"))) if only in (None, os.path.basename(f)[:-5])]
    # make check gives the count of all fuzzers
    each = count if only or len(sys.argv) < 2 else max(BATCH, count // len(files))
    for path in files:
        adapter = os.path.basename(path)[:-5]
        with open(path, encoding="utf-8") as text:
            samples = json.load(text)["samples"] + recorded(adapter)
        print("        %s: %d documents" % (adapter, each))
        faults += fuzz(cursor, random.Random("%d %s" % (seed, adapter)), adapter, samples, each)
    cursor.execute(CLEANUP)
    connection.commit()
    print("%d documents of %d adapters in %.0f s, seed %d: %d faults" % (each * len(files), len(files), time.time() - began, seed, faults))
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
