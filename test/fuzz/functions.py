#!/usr/bin/python3
"""Hostile arguments for every SQL function of the schema clutch.

    functions.py [COUNT [DSN]]      200,000; the database of the PG* environment

Each function is called with NULLs, numbers at their ends, texts of a wrong
form, strange Unicode, arrays with NULLs or of several dimensions, documents
taken apart (hostile.py), and with what means something: names of agents,
tasks and runs that are there.  Each call has a savepoint of its own.  Fails
on an internal error (XX...), on a lost connection, on a statement that hangs,
and when the backend has grown by more than 10 MB since a tenth of the way.
"""
import random
import sys
import time

import hostile

BATCH = 100

SETUP = """
CREATE FUNCTION pg_temp.feed(calls text[]) RETURNS TABLE (place int, code text, said text)
LANGUAGE plpgsql AS $feed$
BEGIN
	FOR i IN 1 .. cardinality(calls) LOOP
		place := i;
		BEGIN
			EXECUTE calls[i];
			code := 'answered'; said := NULL; RETURN NEXT;
		EXCEPTION WHEN OTHERS THEN
			code := SQLSTATE; said := SQLERRM; RETURN NEXT;
		END;
	END LOOP;
END
$feed$
"""

# what SQL can call: no triggers, nothing that takes what only C can make
FUNCTIONS = """
SELECT p.proname, p.pronargdefaults,
	coalesce((SELECT array_agg(format_type(t, NULL) ORDER BY i) FROM unnest(p.proargtypes) WITH ORDINALITY a(t, i)), '{}')
FROM pg_proc p
WHERE p.pronamespace = 'clutch'::regnamespace AND p.prokind = 'f'
	AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
	AND NOT 'internal'::regtype = ANY (p.proargtypes)
ORDER BY p.oid::regprocedure::text
"""

WORDS = ["agent:ken", "agent:ui", "agent:nobody", "agent:orchestrator", "task_fn_1", "task_fn_2", "task_nowhere", "run_fn", "run:agents",
         "all", "agent", "thread", "run", "task", "mermaid", "dot", "READY", "STOPPED", "msg", "task.progress", "task.result",
         "task.error", "tool.call", "now", "beginning"]
INTEGERS = ["NULL", "0", "1", "-1", "2", "100", "65536", "2147483647", "-2147483648"]
BIGINTS = INTEGERS + ["9223372036854775807", "-9223372036854775808"]
DOUBLES = ["NULL", "0", "-0.0", "1.5", "'NaN'", "'Infinity'", "'-Infinity'", "1e308", "1e-320"]
INTERVALS = ["NULL", "'0'", "'1 s'", "'60 s'", "'-1 s'", "'178000000 years'", "'-178000000 years'", "'1 microsecond'",
             "'2147483647 days'", "'-2147483648 months'"]
TIMES = ["NULL", "'now'", "'infinity'", "'-infinity'", "'epoch'", "'4713-01-01 BC'", "'294276-12-31'", "'2026-02-01T13:20:11Z'"]
CARDS = ['{"v": "clutch/0.1", "agent_id": "agent:ken", "capabilities": [{"id": "skill:research"}], "limits": {"max_concurrency": 2}}']


def quote(text):
    """A literal; strange bytes and all, but no NUL, which SQL text cannot hold."""
    return "E'%s'" % text.replace("\\", "\\\\").replace("'", "''").replace("\0", "")


def text(rng):
    kind = rng.randrange(10)
    if kind == 0:
        return None
    if kind < 5:
        return rng.choice(WORDS)
    if kind < 9:
        return rng.choice(hostile.TEXTS)
    word = rng.choice(hostile.TEXTS[1:])
    return word * (1 + rng.choice([2, 300, 20000]) // len(word))


def document(rng):
    kind = rng.randrange(10)
    if kind == 0:
        return "null"
    if kind == 1:
        return rng.choice(CARDS)
    if kind < 4:
        verbatim = hostile.Verbatim()
        return verbatim.write(hostile.value(rng, verbatim))
    return hostile.mutate(rng, rng.randrange(100))


def literal(rng, type_name):
    """An SQL expression of that type."""
    if type_name.endswith("[]"):
        if rng.random() < 0.1:
            return "NULL"
        if rng.random() < 0.1:
            return "ARRAY[ARRAY[NULL, NULL], ARRAY[NULL, NULL]]"
        n = rng.choice([0, 1, 2, 3, 70])
        if type_name == "jsonb[]":
            n = min(n, 3)
        return "ARRAY[%s]" % ", ".join("%s::%s" % (literal(rng, type_name[:-2]), type_name[:-2]) for _ in range(n))
    if type_name in ("jsonb", "json"):
        return "NULL" if rng.random() < 0.1 else quote(document(rng))
    pools = {"integer": INTEGERS, "smallint": INTEGERS[:7], "bigint": BIGINTS, "double precision": DOUBLES, "real": DOUBLES[:7],
             "numeric": DOUBLES[:5], "interval": INTERVALS, "timestamp with time zone": TIMES, "boolean": ["NULL", "true", "false"]}
    if type_name in pools:
        return rng.choice(pools[type_name])
    if type_name in ("text", "character varying", "name"):
        value = text(rng)
        return "NULL" if value is None else quote(value)
    return "NULL"


def call(rng, function):
    name, defaults, types = function
    given = len(types) - (rng.randrange(defaults + 1) if defaults else 0)
    arguments = ", ".join("%s::%s" % (literal(rng, t), t) for t in types[:given])
    return "SELECT clutch.%s(%s)" % (name, arguments)


def prepare(backend):
    """Something that is there to be named; sent again, it is there already."""
    backend.run("SELECT clutch.register(%s)", (CARDS[0],))
    for n in ("1", "2"):
        backend.run("SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', id => 'msg_fn_' || %s, "
                    "run_id => 'run_fn', thread_id => 'thr_fn', task_id => 'task_fn_' || %s))", (n, n))
    backend.connection.commit()


def main():
    count, dsn, seed = hostile.settings(sys.argv, 200000)
    rng = random.Random(seed)
    backend = hostile.Backend(dsn)
    verdict = hostile.Verdict(seed)
    early, began = None, time.time()
    backend.run(SETUP)
    functions = backend.run(FUNCTIONS)
    backend.connection.commit()
    if not functions:
        sys.exit("FAILED: there is no function in schema clutch")
    prepare(backend)
    # those without arguments do one thing only, some of them long
    weights = [10 if types else 0.05 for _, _, types in functions]
    for done in range(0, count, BATCH):
        batch = min(BATCH, count - done)
        chosen = rng.choices(functions, weights, k=batch)
        if done < BATCH * 10:
            chosen = (functions * (batch // len(functions) + 1))[:batch]
        calls = [call(rng, function) for function in chosen]
        for place, code, said in backend.run("SELECT * FROM pg_temp.feed(%s)", (calls,)):
            verdict.take(chosen[place - 1][0], code, said, calls[place - 1])
        if rng.random() < 0.1:
            backend.connection.commit()
        else:
            backend.connection.rollback()
        early = hostile.weigh(backend, done, batch, count, early)
    verdict.table()
    hostile.judge_growth(early, backend.anonymous_kb())
    print("%d hostile calls of %d functions in %.0f s, seed %d" % (count, len(functions), time.time() - began, seed))


if __name__ == "__main__":
    main()
