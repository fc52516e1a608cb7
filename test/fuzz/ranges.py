#!/usr/bin/python3
"""Ranges of versions and of bytes, against a live backend.

    ranges.py [COUNT [DSN]]     100,000; the database of the PG* environment

Random ranges and versions are put to clutch.version_satisfies, whose verdict must be that of this program: it looks at
the parts of a version, where the extension expands a range into comparisons.  Two ranges that share a release must
meet.  As many texts are made of pieces in any order: they are judged, or refused with 22023.  A tenth as many ranges of
bytes of an artifact must be what Python cuts.  Fails on any other SQLSTATE, on a lost connection, and when the backend
has grown by more than 10 MB since a tenth of the way.  CLUTCH_FUZZ_SEED=n is another sequence.
"""
import collections
import random
import sys

import hostile

BATCH = 200
BYTES = bytes(n * n % 251 for n in range(300000))
PIECES = ["1", "0", "2.3", "x", "*", ".", "-", " - ", "||", "|", " ", "^", "~", "~>", ">=", "<", "=", "v", "+b", "-a.1", "-0",
          "99999999999999999999", "18446744073709551615", "\t", "\u00fc", "", "1.2.3", "9" * 300, "1." * 200]
SETUP = """
CREATE FUNCTION pg_temp.meets(offered text, asked text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN clutch.version_satisfies(offered, asked)::text;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION pg_temp.cut(ref text, from_byte bigint, bytes bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN encode(clutch.get_artifact(ref, from_byte, bytes), 'hex');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
"""

Version = collections.namedtuple("Version", "parts prerelease")
Partial = collections.namedtuple("Partial", "known version")
RELEASE = (1,)


def random_version(rng):
    parts = tuple(rng.choice((0, 0, 1, 1, 2, 3, 10)) for _ in range(3))
    return Version(parts, rng.choice(("", "", "", "", "0", "1", "a", "a.1", "a.b", "b", "10", "2")))


def written(version):
    return "%d.%d.%d" % version.parts + ("-" + version.prerelease if version.prerelease else "")


def key(version):
    """What versions are compared by."""
    names = version.prerelease.split(".") if version.prerelease else []
    return version.parts, RELEASE if not names else (0,) + tuple((0, int(n), "") if n.isdigit() else (1, 0, n) for n in names)


def random_partial(rng):
    version = random_version(rng)
    known = rng.choice((0, 1, 2, 3, 3, 3))
    if known == 3:
        return Partial(3, version), rng.choice(("", "", "v")) + written(version) + rng.choice(("", "", "+build.5"))
    parts = [str(p) for p in version.parts[:known]]
    text = ".".join(parts + [rng.choice("xX*")] * rng.choice((0, 1) if known else (1, 1, 2)) if known < 2 else parts + rng.choice(([], ["x"], ["*"])))
    return Partial(known, Version(version.parts[:known] + (0,) * (3 - known), "")), text


def at_least(version, low):
    return key(low) == ((0, 0, 0), RELEASE) or key(version) >= key(low)


def shares(version, partial, n):
    return version.parts[:n] == partial.version.parts[:n]


def holds(version, operator, partial):
    """Does a version keep one comparison?"""
    known, bound = partial
    if known == 0:
        return operator not in ("<", ">")
    if operator == "^":
        fixed = next((i + 1 for i in range(known) if bound.parts[i] != 0), known)
        return at_least(version, bound) and shares(version, partial, fixed)
    if operator in ("~", "~>"):
        return at_least(version, bound) and shares(version, partial, min(known, 2))
    if operator == ">=":
        return at_least(version, bound)
    if known == 3:
        return {"<": key(version) < key(bound), "<=": key(version) <= key(bound), ">": key(version) > key(bound),
                "=": key(version) == key(bound), "": key(version) == key(bound)}[operator]
    below = version.parts < bound.parts
    after = Version(bound.parts[:known - 1] + (bound.parts[known - 1] + 1,) + (0,) * (3 - known), "")
    return {"<": below, "<=": below or shares(version, partial, known), ">": at_least(version, after),
            "=": at_least(version, bound) and shares(version, partial, known),
            "": at_least(version, bound) and shares(version, partial, known)}[operator]


def random_alternative(rng):
    """Comparisons that must all hold, and their text."""
    if rng.random() < 0.15:
        (low, low_text), (high, high_text) = random_partial(rng), random_partial(rng)
        return [(">=", low), ("<=", high)], low_text + " - " + high_text
    comparisons, texts = [], []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        operator, (partial, text) = rng.choice(("", "=", "<", "<=", ">", ">=", "^", "~", "~>")), random_partial(rng)
        comparisons.append((operator, partial))
        texts.append(operator + rng.choice(("", "", " " if operator else "")) + text)
    return comparisons, " ".join(texts)


def random_range(rng):
    alternatives = [random_alternative(rng) for _ in range(rng.choice((1, 1, 2, 3)))]
    return [a for a, _ in alternatives], rng.choice(("||", " || ")).join(t for _, t in alternatives)


def contains(alternatives, version):
    for comparisons in alternatives:
        names_it = any(p.known == 3 and p.version.prerelease and p.version.parts == version.parts for _, p in comparisons)
        if (names_it or not version.prerelease) and all(holds(version, o, p) for o, p in comparisons):
            return True
    return False


def ask(backend, pairs):
    columns = ([a for a, _ in pairs], [b for _, b in pairs])
    return [row[0] for row in backend.run("SELECT pg_temp.meets(a, b) FROM unnest(%s::text[], %s::text[]) AS p(a, b)", columns)]


def judge_versions(backend, rng, seed):
    cases = []
    for _ in range(BATCH):
        version, (a, a_text), (b, b_text) = random_version(rng), random_range(rng), random_range(rng)
        cases.append((written(version), a_text, contains(a, version)))
        # a card that offers "10" offers 10.0.0, and no range
        is_version = len(a) == 1 and len(a[0]) == 1 and a[0][0][0] in ("", "=")
        if not is_version and not version.prerelease and contains(a, version) and contains(b, version):
            cases.append((a_text, b_text, True))
    counts = collections.Counter()
    for (offered, asked, expected), said in zip(cases, ask(backend, [c[:2] for c in cases])):
        if said != str(expected).lower():
            sys.exit("FAILED: %r offered for %r: %s, not %s (seed %d)" % (offered, asked, said, expected, seed))
        counts[said] += 1
    return counts


def hostile_text(rng):
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(8)))


def judge_texts(backend, rng, seed):
    pairs = [(written(random_version(rng)) if rng.random() < 0.8 else hostile_text(rng), hostile_text(rng)) for _ in range(BATCH)]
    counts = collections.Counter()
    for pair, said in zip(pairs, ask(backend, pairs)):
        if said not in ("true", "false") and not said.startswith("22023"):
            sys.exit("FAILED: %r: %s (seed %d)" % (pair, said, seed))
        counts["judged" if said in ("true", "false") else "refused"] += 1
    return counts


def judge_bytes(backend, rng, ref, seed):
    ends = (0, 1, 65535, 65536, 131072, len(BYTES) - 1, len(BYTES), len(BYTES) + 1, -1, 1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63))
    cuts = [(rng.choice(ends) if rng.random() < 0.5 else rng.randrange(len(BYTES)), rng.choice(ends + (None,)) if rng.random() < 0.5 else rng.randrange(5000))
            for _ in range(BATCH // 10)]
    for first, length in cuts:
        said = backend.run("SELECT pg_temp.cut(%s, %s, %s)", (ref, first, length))[0][0]
        if first < 0 or length is not None and length < 0:
            good = said.startswith("22")
        else:
            good = said == (BYTES[first:] if length is None else BYTES[first:first + length]).hex()
        if not good:
            sys.exit("FAILED: %s bytes from %s: %s (seed %d)" % (length, first, said[:200], seed))
    return collections.Counter(cuts=len(cuts))


def main():
    count, dsn, seed = hostile.settings(sys.argv, 100000)
    rng = random.Random(seed)
    backend = hostile.Backend(dsn)
    backend.run(SETUP)
    ref = backend.run("SELECT clutch.put_artifact(%s, 'application/octet-stream')", (BYTES,))[0][0]
    early, counts = None, collections.Counter()
    for done in range(0, count, BATCH):
        counts += judge_versions(backend, rng, seed) + judge_texts(backend, rng, seed) + judge_bytes(backend, rng, ref, seed)
        early = hostile.weigh(backend, done, BATCH, count, early)
    print(", ".join("%d %s" % (n, what) for what, n in sorted(counts.items())))
    print("executions: %d" % sum(counts.values()))
    hostile.judge_growth(early, backend.anonymous_kb())
    if min(counts[what] for what in ("true", "false", "judged", "refused")) < count // 50:
        sys.exit("FAILED: too few of one kind")


if __name__ == "__main__":
    main()
