#!/usr/bin/python3
"""YAML texts for clutch.workflow_from_yaml, hostile ones and such as must be read.

    workflow_yaml.py [COUNT [DSN]]      100,000; the database of the PG* environment

Half of the texts are JSON, which is YAML as well but for a few characters: what is
read must be the same document.  The others are pieces of YAML in any order, and good texts with a few
bytes changed: each is read or refused with 22023 and a line and a column that it
has.  What was read must be read again from its JSON.  Fails on any other SQLSTATE, on
a lost connection, and when the backend has grown by more than 10 MB since a tenth
of the way.
"""
import json
import random
import re
import sys

import hostile

BATCH = 200
WORKFLOW = """workflow: product-research
steps:
  - id: research
    expects:
      type: task.result
      payload_type: research.summary.v1
      required:
        - findings
        - citations
  - {id: "write", after: [research], optional: true, expects: {payload_type: 'text.v1'}}
"""
PIECES = ["a", "b: ", "- ", "? ", ": ", "[", "]", "{", "}", ",", "\n", "\n  ", "\n    ", "\t", " ", "#", "&x ", "*x", "!!str ", "!", "|", ">",
          "|+2\n", ">-\n", "'", '"', "\\", "\\u00e9", "\\0", "\\x00", "\\ud800", "---\n", "...\n", "%YAML 1.1\n", "%TAG ! x\n", "<<: ", "~", "null", "true",
          "1", "-1.5", "1e3", "0x1", "\u2028", "\u0085", "\ufeff", "é", "\U0001f600", "\x7f", "x" * 1100, "[" * 40, "{a: " * 40, "key: value\n", "  - item\n"]
WORDS = ["", "a", "id", "steps", "1", "true", "null", "~", "é", "#x", "- x", "a: b", "'", '"', "\\", "x y", "\t", "\u0001", "\U0001f600", "&a", "*a", "<<"]


def string(rng):
    return "".join(rng.choice(WORDS) for _ in range(rng.randrange(4)))


def document(rng, depth=0):
    kind = rng.randrange(7 if depth < 5 else 5)
    if kind == 0:
        return rng.choice((None, True, False))
    if kind < 3:
        return string(rng)
    if kind < 5:
        return rng.choice((0, 1, -7, 10 ** 20, 1.5, -0.25, 1e20))
    if kind == 5:
        return [document(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {string(rng): document(rng, depth + 1) for _ in range(rng.randrange(5))}


def hostile_text(rng):
    if rng.randrange(2):
        return "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 30)))
    text = WORKFLOW
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice(PIECES + [""]) + text[place + rng.randrange(4):]
    return text


def is_readable(text):
    """No character that YAML wants to be escaped, or takes for a line break."""
    return not re.search("[\x7f-\x9f\u2028\u2029\ufffe\uffff\ufeff]", text)


SETUP = """
CREATE FUNCTION pg_temp.read(text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	document jsonb;
BEGIN
	document := clutch.workflow_from_yaml($1);
	RETURN ARRAY['', document::text];
EXCEPTION WHEN OTHERS THEN
	RETURN ARRAY[SQLSTATE, SQLERRM];
END $$
"""


def fault_of(text, expected, code, said):
    """What is wrong with an answer, or None."""
    if code == "":
        if not isinstance(json.loads(said), dict):
            return "is no object"
        return None if expected is None or json.loads(said) == expected else "is another document"
    place = re.match(r"invalid YAML at line (\d+), column (\d+): .", said)
    if code != "22023" or not place:
        return "is refused with %s %s" % (code, said)
    if int(place[1]) > len(re.split("\r\n|[\n\r\u0085\u2028\u2029]", text)) + 1:
        return "has no line %s" % place[1]
    return None if expected is None else "is refused: " + said


def main():
    count, dsn, seed = hostile.settings(sys.argv, 100000)
    rng = random.Random(seed)
    backend = hostile.Backend(dsn)
    backend.run(SETUP)
    early, read, refused = None, 0, 0
    for done in range(0, count, BATCH):
        texts = []
        for n in range(BATCH):
            expected = {string(rng): document(rng) for _ in range(rng.randrange(6))} if n % 2 else None
            texts.append((json.dumps(expected, ensure_ascii=False) if n % 2 else hostile_text(rng), expected))
        answers = [row[0] for row in backend.run("SELECT pg_temp.read(t) FROM unnest(%s::text[]) AS t", ([text for text, _ in texts],))]
        for (text, expected), (code, said) in zip(texts, answers):
            fault = fault_of(text, expected, code, said)
            if fault:
                sys.exit("FAILED: %r %s (seed %d)" % (text, fault, seed))
        again = [said for code, said in answers if code == "" and is_readable(said) and len(said) < 1000]
        for (text,) in backend.run("SELECT t FROM unnest(%s::text[]) AS t WHERE pg_temp.read(t) <> ARRAY['', t]", (again,)):
            sys.exit("FAILED: %r is not read again as it is (seed %d)" % (text, seed))
        backend.connection.commit()
        read += sum(code == "" for code, _ in answers)
        refused += sum(code != "" for code, _ in answers)
        early = hostile.weigh(backend, done, BATCH, count, early)
    print("%d texts read, %d refused" % (read, refused))
    print("executions: %d" % (read + refused))
    hostile.judge_growth(early, backend.anonymous_kb())
    if read < count // 2 or refused < count // 10:
        sys.exit("FAILED: too few texts are read, or refused")


if __name__ == "__main__":
    main()
