#!/usr/bin/env python3
"""Compares the names in the documents with those that exist.

    doc_names.py        in a database that has the extension (PG* environment)

Every function, view, setting and code must be described, the view clutch.functions
must have the order of the reference, and the README must name every page.  Every name of schema clutch that a document mentions, the target of every
link, and every file that protocol.md names must exist.
One line per comparison; the last line is "N passed, N failed".
"""
import glob
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
DOCUMENTS = ["README.md", "test/README.md"] + sorted(
    os.path.relpath(path, TOP) for path in glob.glob(os.path.join(TOP, "docs/*.md")))
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
# names that look like ours and are not in the catalog
FOREIGN = {"clutch.control", "clutch.so", "clutch.map", "clutch.c", "clutch.h", "clutch.md", "clutch.task_cancel"}


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as text:
        return text.read()


def query(statement):
    return subprocess.run(("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement), check=True,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout.split()


def functions():
    return query("SELECT DISTINCT 'clutch.' || proname FROM pg_proc WHERE pronamespace = 'clutch'::regnamespace")


def relations(kinds):
    return query("SELECT 'clutch.' || relname FROM pg_class WHERE relnamespace = 'clutch'::regnamespace "
                 "AND relkind::text = ANY ('{%s}')" % kinds)


def settings():
    return query("LOAD 'clutch'; SELECT name FROM pg_settings WHERE name LIKE 'clutch.%'")


def codes():
    """Codes of errors in the C code, and those of clutch.check()."""
    found = {"REQUIRED", "EMPTY"}
    for path in glob.glob(os.path.join(TOP, "src/*/*.[ch]")):
        found.update(re.findall(r'"([A-Z]+(?:_[A-Z]+)+)"', read(path)))
    found.update(re.findall(r"SELECT '([A-Z]+(?:_[A-Z]+)+)'", read("sql/install/run.sql")))
    # a legacy type, and words of A2A
    return {code for code in found - {"EXEC_REPORT"} if not code.startswith(("TASK_STATE_", "ROLE_"))}


def undescribed(names, document):
    text = read(document)
    return sorted(name for name in names if not re.search(re.escape(name) + r"\b", text))


def misplaced_functions():
    """Functions that clutch.functions lists after one that the reference describes later."""
    text, last = read("docs/reference.md"), 0
    for name in query("SELECT split_part(call, '(', 1) FROM clutch.functions WHERE topic <> 'more'"):
        described = re.search(r"^(?: {4}|`)clutch\.%s\([^)]*\)\s*->" % name, text, re.M)
        place = described.start() if described else -1
        if place < last:
            yield "clutch." + name
        last = max(last, place)


def unknown_names():
    known = set(functions()) | set(relations("r,v,S,i,c")) | set(settings()) | FOREIGN
    for document in DOCUMENTS:
        if document.startswith(("docs/decisions", "docs/benchmarks", "docs/architecture", "test/")):
            continue            # these speak of the source, and of what was tried
        for name in sorted(set(re.findall(r"(?<![\w.{-])clutch\.[a-z_]+\b(?!\.[a-z])", read(document)))):
            if name not in known:
                yield "%s: %s" % (document, name)


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(document):
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", FENCED.sub("", read(document)), re.M)}


def broken_links():
    for document in DOCUMENTS:
        for link in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", read(document))):
            if "://" in link:
                continue
            path, _, place = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
            if not os.path.exists(os.path.join(TOP, target)):
                yield "%s: %s" % (document, link)
            elif place and target.endswith(".md") and place not in anchors(target):
                yield "%s: %s" % (document, link)


def missing_files():
    """Files in the table of protocol.md; a name without a folder follows one that has it."""
    for row in re.findall(r"^\| .* \|$", read("docs/protocol.md").split("\n## ")[0], re.M)[2:]:
        _, files, tests = [cell.strip() for cell in row.strip("|").split("|")]
        for cell, top, suffixes in ((files, "src", ("",)), (tests, "test", (".sql", ".pl", ".spec", ".pml", ".py"))):
            folder = ""
            for word in re.split(r"[,;:]\s*", cell):
                if not re.fullmatch(r"[\w/]+(\.\w+)?", word) or "/" not in word and not folder:
                    continue
                if "/" in word:
                    folder, word = word.rsplit("/", 1)
                if not word or top == "src" and "." not in word:
                    continue
                inside = {"isolation": "isolation/specs"}.get(folder, folder)
                if not any(os.path.exists(os.path.join(TOP, *place, inside, word + suffix))
                           for place in ((top,), ()) for suffix in suffixes):
                    yield "docs/protocol.md: %s/%s" % (folder, word)


def main():
    failed = 0
    comparisons = (
        ("functions in the reference", undescribed(functions(), "docs/reference.md")),
        ("the order of clutch.functions", list(misplaced_functions())),
        ("views in the reference", undescribed(relations("v"), "docs/reference.md")),
        ("settings in operations", undescribed(settings(), "docs/operations.md")),
        ("codes in errors", undescribed(codes(), "docs/errors.md")),
        ("pages in the README", undescribed([page for page in DOCUMENTS if page.startswith("docs/")], "README.md")),
        ("names that exist", list(unknown_names())),
        ("links that lead somewhere", list(broken_links())),
        ("files of the protocol page", list(missing_files())),
    )
    for what, wrong in comparisons:
        print("%s %s" % (what, "failed:" if wrong else "passed"))
        for name in wrong:
            print("    " + name)
        failed += bool(wrong)
    print("%d passed, %d failed" % (len(comparisons) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
