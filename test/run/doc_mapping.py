#!/usr/bin/env python3
"""Compares the mapping tables of docs/adapters.md with the tests of the mapping.

    doc_mapping.py              needs no server

The tables are below the heading of an adapter, or of a dialect of cards.  Their
first column names members of a document, and the second the fields of an envelope,
or of a card, that correspond to them.  The tests are the members "mapping" and "carriers" of
test/fixtures/adapters/NAME.json, and the "mapping" of test/fixtures/cards.json
(test/fixtures/README.md).  A test names its row by the text of the first column.

Each row must have a test inbound, one outbound, and one of an envelope that never
was foreign; and each word of its first two columns must occur in one of them, so
that a row of three members is not tested for one of them only.  What is missing must
be listed under "untested", with the name of another test or the reason.  A test or
an excuse for a row that does not exist is a fault, too.

One line per fault; the last line is "N passed, N failed".
"""
import collections
import glob
import json
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CARDS = "Cards and registries"
DIALECTS = {"agent.json": "agent_json", "A2A": "a2a", "Parameters of MAP": "map", "Tools of MCP": "mcp"}
NO_WORDS = {"JSON", "REST"}

Row = collections.namedtuple("Row", "place cells")
Tests = collections.namedtuple("Tests", "mapping carriers untested samples other")


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as text:
        return text.read()


def rows():
    """The rows of all tables, each with the place of its tests: an adapter, or (CARDS, dialect)."""
    section = below = None
    head = True
    for line in read("docs/adapters.md").split("\n"):
        heading = re.match(r"(##+) (.*)", line)
        if heading and len(heading[1]) == 2:
            section, below = heading[2], None
        elif heading:
            below = heading[2]
        if not line.startswith("|"):
            head = True
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] + ["", ""]
        place = (CARDS, DIALECTS.get(below)) if section == CARDS else section
        if not head and not set(line) <= set("|- ") and section is not None:
            yield Row(place, cells)
        head = False


def tests():
    """The tests, by place."""
    found = {}
    for path in glob.glob(os.path.join(TOP, "test/fixtures/adapters/*.json")):
        name = os.path.basename(path)[:-len(".json")]
        file = json.loads(read(path))
        found[name] = Tests(file["mapping"], file.get("carriers", []), file.get("untested", []),
                            {sample["name"] for sample in file["samples"]}, read("test/pgtap/adapter_%s.sql" % name))
    cards = json.loads(read("test/fixtures/cards.json"))
    dialects = {agent["name"]: agent["dialect"] for agent in cards["agents"]}
    other = read("test/pgtap/registry_cards.sql") + read("test/pgtap/registry_import.sql")
    for dialect in DIALECTS.values():
        found[(CARDS, dialect)] = Tests(
            [test for test in cards["mapping"] if dialects.get(test["sample"]) in (dialect, None)], [],
            [excuse for excuse in cards.get("untested", []) if excuse["dialect"] == dialect], set(dialects), other)
    return found


# ------------------------------------------------------------------------ words

def words(cell):
    """The names in a cell: what is in backquotes, and types that are not."""
    plain = re.sub(r"`[^`]+`", "", cell)
    found = re.findall(r"\b[A-Z][a-z]+(?:[A-Z]\w+)+|\b[A-Z]{4,}\b|\b(?:task|tool|chat|agent)\.[a-z_]+\b", plain)
    for quoted in re.findall(r"`([^`]+)`", cell):
        example = re.findall(r'"(\w+)":|(\w+): "(\w+)"$', quoted)		# {"a": ..}, or a: "b"
        found += [name for names in example for name in names if name] if example else [quoted]
    return [word for word in found if word not in NO_WORDS and "<" not in word and "..." not in word and word[0] != '"']


def steps(word):
    """The steps of a path as the documents write it: a.b, .b, a[].b, a["b/c"]."""
    return [step.lower() for step in re.sub(r"\[\d*\]", "", re.sub(r'\["([^"]+)"\]', r".\1", word)).strip(".").split(".") if step]


def pointer_steps(pointer):
    return [step.replace("~1", "/").replace("~0", "~").lower() for step in pointer.split("/")[1:] if not step.isdigit()]


def names_path(word, pointer):
    wanted, there = steps(word), pointer_steps(pointer)
    return bool(wanted) and any(there[i:i + len(wanted)] == wanted for i in range(len(there)))


def names_value(word, value):
    """Is it the value, or a part of it?  IDs are compared by their prefixes."""
    return word.rsplit(":", 1)[0] in json.dumps(value, ensure_ascii=False)


def becomes_of(test):
    """The field, or the member of a card; of a native ID, the field that is derived from it."""
    field = re.sub(r"^/meta/\w+/native/", "/", test.get("envelope", test.get("card")))
    return "/meta/clutch/reply_to" if field == "/reply_to" else field


def is_said(word, test):
    return word in test.get("covers", []) or names_path(word, test["foreign"]) or names_path(word, becomes_of(test)) or \
        any(names_value(word, test[value]) for value in ("foreign_value", "envelope_value", "card_value") if value in test)


# ------------------------------------------------------------------------- rows

def named(tests_of_place, key):
    return [test for test in tests_of_place.mapping
            if key in (test["row"] if isinstance(test.get("row"), list) else [test.get("row")])]


def is_noted_only(test, place):
    """Is it something that only documents of the dialect have?"""
    return becomes_of(test).startswith("/meta/%s/" % (place[1] if isinstance(place, tuple) else place))


def missing(row, place):
    """The words without a test."""
    key, becomes, note = row.cells[:3]
    found = named(place, key)
    if not becomes and note.startswith("the carrier"):
        return {word for word in words(key)
                if not any(pointer_steps(carrier["path"])[-len(steps(word)):] == steps(word) for carrier in place.carriers)}
    lacks = {"inbound": not any(test.get("only") != "outbound" for test in found),
             "outbound": not any(test.get("only") != "inbound" for test in found),
             "native": not any("native" in test or "example" in test for test in found)
                       and not (found and all(is_noted_only(test, row.place) for test in found))}
    return {what for what in lacks if lacks[what]} | \
        {word for cell in (key, becomes) for word in words(cell) if not any(is_said(word, test) for test in found)}


def faults(row, place):
    key = row.cells[0]
    lacks = missing(row, place)
    excused = set()
    for excuse in place.untested:
        if excuse["row"] != key:
            continue
        excused |= set(excuse["without"])
        if "test" in excuse and excuse["test"] not in place.other:
            yield "there is no test \"%s\"" % excuse["test"]
    for what in sorted(lacks - excused):
        yield "no test of %s" % what
    for what in sorted(excused - lacks):
        yield "there is a test of %s, which is said to be missing" % what


def strangers(where, place, known):
    for test in place.mapping + place.untested:
        for key in test["row"] if isinstance(test.get("row"), list) else [test.get("row", "")]:
            if key and key not in known:
                yield "%s: a test names a row that there is not: %s" % (where, key)
        if "sample" in test and test["sample"] not in place.samples:
            yield "%s: a test names a sample that there is not: %s" % (where, test["sample"])


def main():
    passed, failed = 0, []
    all_tests = tests()
    known = collections.defaultdict(set)
    for row in rows():
        if row.place not in all_tests:
            continue
        known[row.place].add(row.cells[0])
        found = list(faults(row, all_tests[row.place]))
        passed += not found
        failed += ["%s: %s: %s" % (row.place, row.cells[0], fault) for fault in found]
    for where, place in all_tests.items():
        failed += strangers(where, place, known[where])
    for fault in failed:
        print("FAIL %s" % (fault,))
    print("%d passed, %d failed" % (passed, len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
