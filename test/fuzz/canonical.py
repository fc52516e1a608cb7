#!/usr/bin/python3
"""Canonical forms (RFC 8785), compared with those of a JavaScript that is not ours.

    canonical.py [COUNT [DSN]]      100,000; the database of the PG* environment

COUNT numbers: doubles of random bits, and such as are written in a way of their
own (integers, few digits, halfway between two doubles, powers of two, subnormal),
each spelled as Python spells it, with 17 digits, or with more than a double has.
Then COUNT / 20 documents with strange keys and strings.  clutch.canonical must
write what node writes: JSON.stringify, with the keys of each object sorted.  What
it wrote must be canonical itself.  CLUTCH_FUZZ_SEED=n is another sequence.
"""
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys

import psycopg2

BATCH = 5000
NODE = """
const sorted = value => value === null || typeof value !== 'object' ? value
    : Array.isArray(value) ? value.map(sorted)
    : new Map(Object.keys(value).sort().map(key => [key, sorted(value[key])]));
const text = value => value instanceof Map ? '{' + [...value].map(([k, v]) => JSON.stringify(k) + ':' + text(v)).join(',') + '}'
    : Array.isArray(value) ? '[' + value.map(text).join(',') + ']' : JSON.stringify(value);
const lines = require('fs').readFileSync(0, 'utf8').split('\\n').filter(line => line);
process.stdout.write(lines.map(line => JSON.stringify(text(sorted(JSON.parse(line))))).join('\\n') + '\\n');
"""
PIECES = ["", "a", "A", "z", "0", "10", "9", " ", '"', "\\", "/", "\b\t\n\f\r", "\u0001", "\u001f", "\u007f", "\u0080", "ö", "ß", "\u00ad",
          "\u07ff", "\u0800", "€", "\u2028", "\ud7ff", "\ue000", "\ufb33", "\ufffd", "\uffff", "\U00010000", "😀", "\U0010ffff",
          "__proto_", "</script>", "constructo"]


def double(rng):
    """One finite double."""
    kind = rng.randrange(8)
    if kind < 3:
        number = struct.unpack("<d", rng.getrandbits(64).to_bytes(8, "little"))[0]
        return number if math.isfinite(number) else double(rng)
    if kind == 3:       # halfway cases: few digits, above 2^53
        number = rng.randrange(1, 10 ** rng.randrange(1, 17)) * 10.0 ** rng.randrange(1, 24)
    elif kind == 4:
        number = rng.randrange(1, 10 ** rng.randrange(1, 18)) / 10.0 ** rng.randrange(0, 30)
    elif kind == 5:     # powers of two, where the doubles below are closer than those above
        number = math.ldexp(1 + rng.choice((0, 0, 1, 3)) * 2.0 ** -52, rng.randrange(-1074, 1024))
    elif kind == 6:     # subnormal
        number = struct.unpack("<d", rng.getrandbits(rng.randrange(1, 53)).to_bytes(8, "little"))[0]
    else:
        number = float(rng.randrange(10 ** rng.randrange(1, 23)))
    if rng.randrange(3) == 0:
        number = math.nextafter(number, rng.choice((math.inf, 0.0)))
    number = number if math.isfinite(number) else 1.0
    return -number if rng.randrange(4) == 0 else number


def spelled(rng, number):
    return rng.choice(("%r", "%r", "%.17g", "%.16e", "%.30e")) % number


def string(rng):
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(4)))


def document(rng, depth=0):
    kind = rng.randrange(8 if depth < 4 else 6)
    if kind < 2:
        return double(rng)
    if kind < 4:
        return string(rng)
    if kind < 6:
        return rng.choice((None, True, False, 0, [], {}))
    if kind == 6:
        return [document(rng, depth + 1) for _ in range(rng.randrange(6))]
    return {string(rng): document(rng, depth + 1) for _ in range(rng.randrange(12))}


def by_node(lines):
    out = subprocess.run((os.environ.get("NODE", "node"), "-e", NODE), input="\n".join(lines), stdout=subprocess.PIPE,
                         check=True, encoding="utf-8").stdout
    return [json.loads(line) for line in out.split("\n") if line]


def by_clutch(cursor, lines):
    cursor.execute("SELECT clutch.canonical(l::jsonb), clutch.canonical(clutch.canonical(l::jsonb)::jsonb) "
                   "FROM unnest(%s::text[]) WITH ORDINALITY AS u(l, i) ORDER BY i", (lines,))
    return cursor.fetchall()


def differences(cursor, lines):
    found = 0
    for line, wanted, (got, again) in zip(lines, by_node(lines), by_clutch(cursor, lines)):
        if got == wanted == again:
            continue
        found += 1
        if found <= 5:
            print("ERROR: of %s\n    node writes   %s\n    clutch writes %s\n    and of that   %s" % (line, wanted, got, again))
    return found


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    rng = random.Random(int(os.environ.get("CLUTCH_FUZZ_SEED", "1")))
    if not shutil.which(os.environ.get("NODE", "node")):
        sys.exit("ERROR: there is no node")
    cursor = psycopg2.connect(sys.argv[2] if len(sys.argv) > 2 else "").cursor()
    lines = [spelled(rng, double(rng)) for _ in range(count)]
    lines += [json.dumps(document(rng), ensure_ascii=rng.randrange(2) == 0) for _ in range(count // 20)]
    found = sum(differences(cursor, lines[i:i + BATCH]) for i in range(0, len(lines), BATCH))
    print("%d numbers and %d documents, %d of them differ" % (count, count // 20, found))
    print("executions: %d" % (2 * len(lines)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
