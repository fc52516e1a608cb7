#!/usr/bin/env python3
"""Turns what make bench and make bench-instructions print into tables of markdown.

    make bench | tee figures.txt
    test/bench/markdown.py figures.txt [more.txt ...] > tables.md
"""
import re
import sys

# A row of measure.Table.line: where its columns end.
WORK, OURS, REFERENCE = 54, 67, 82
COUNTED = re.compile(r"^  ([a-z].*?)\s{2,}([\d,]+\.\d)\s*(.*)$")       # a row of instructions.py


def cells(row):
    """(work, ours, reference, ratio, bar and verdict) of a row of figures."""
    ratio, verdict = re.match(r"((?:[\d.]+ )?\[[^]]*\])?\s*(.*)$", row[REFERENCE:].strip()).groups()
    work = row[:WORK].rstrip()[2:]
    if work.startswith("  "):
        work = "&emsp;" + work.strip()
    return work, row[WORK:OURS].strip(), row[OURS:REFERENCE].strip(), ratio or "", re.sub(r"  +", ", ", verdict)


def is_header(row):
    return row.startswith(" " * WORK) and " clutch " in row


def line(*values):
    return "| " + " | ".join(value.replace("|", "\\|") for value in values) + " |"


def tables(lines):
    """The lines of markdown; what is neither a title nor a row is left out."""
    title, open_table, counting, beside = None, False, False, "reference"
    for row in lines:
        row = row.rstrip("\n")
        if is_header(row):
            beside = row[OURS:REFERENCE].strip()
        elif row.startswith("  missed:"):
            title = None
        elif not row:
            open_table = open_table and counting
        elif not row.startswith("  "):
            title, open_table, beside = row, False, "reference"
            counting = row.startswith("Thousands of instructions")
        elif counting:
            if COUNTED.match(row) and not open_table:
                yield from ("", "**%s**" % title, "", line("", "kIr", "bar, or clutch over this"), "|---|---:|---|")
                open_table = True
            if COUNTED.match(row):
                yield line(*(re.sub(r"  +", ", ", value) for value in COUNTED.match(row).groups()))
        elif title and len(row) >= OURS:
            if not open_table:
                yield from ("", "**%s**" % title, "", line("", "clutch", beside, "ratio [min..max]", "bar"),
                            "|---|---:|---:|---|---|")
                open_table = True
            yield line(*cells(row))


def main(paths):
    for path in paths:
        with open(path) as f:
            for text in tables(f):
                print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
