#!/usr/bin/env python3
"""Runs the SQL of the documents, to prove that it works as shown.

    doc_examples.py FILE...

Every ```sql block of a file is run by psql, in order, in one session, in a
database of its own with the extension (unless the file itself creates it).
What a block says after the language word:

    ```sql          must succeed
    ```sql fails    must raise an error: it shows one
    ```sql norun    is not run

psql is given the file with everything but its blocks blanked, so the line
numbers in psql's messages are those of the document.  Prints one line per file
and the failures; the last line is "N passed, N failed" (blocks).
"""
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```\s*(\S*)\s*(.*?)\s*$")
MARK = "doc-example-done:"
DATABASE = "clutch_doc_examples"


def blocks_of(lines):
    """(first line, last line, word) of every sql block; lines count from 1."""
    found, start, word, language = [], None, "", ""
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if not fence:
            continue
        if start is None:
            start, language, word = number, fence.group(1), fence.group(2)
        else:
            if language == "sql":
                found.append((start, number, word))
            start = None
    if start is not None:
        raise ValueError("line %d: a block that is not closed" % start)
    return found


def script_of(lines, blocks):
    """The document as psql reads it: the same lines, all blank but the blocks."""
    out = [""] * len(lines)
    for start, end, word in blocks:
        if word == "norun":
            continue
        out[start - 1] = r"\set ON_ERROR_STOP " + ("off" if word == "fails" else "on")
        out[start:end - 1] = lines[start:end - 1]
        out[end - 1] = r"\echo " + MARK + str(start)
    return "\n".join(out) + "\n"


def psql(*args):
    return subprocess.run(("psql", "-X", "-q") + args, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, timeout=300)


def sql(statement, database="postgres"):
    done = psql("-At", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", statement)
    if done.returncode:
        raise RuntimeError(done.stdout)
    return done.stdout


def roles():
    return set(sql("SELECT rolname FROM pg_roles").split())


def run_file(path):
    """(passed, failed, messages)"""
    with open(path, encoding="utf-8") as document:
        lines = document.read().split("\n")
    blocks = [b for b in blocks_of(lines) if b[2] != "norun"]
    if not blocks:
        return 0, 0, []
    with tempfile.NamedTemporaryFile("w", suffix=".sql", encoding="utf-8") as script:
        script.write(script_of(lines, blocks))
        script.flush()
        done = psql("-d", DATABASE, "-f", script.name)
        output = done.stdout.replace(script.name, path)
    passed, messages = 0, []
    for start, end, word in blocks:
        ended = MARK + str(start) in output.split("\n")
        failures = [n for n in map(int, re.findall(r":(\d+): (?:ERROR|FATAL):", output))
                    if start <= n <= end]
        if ended and (word == "fails") == bool(failures):
            passed += 1
        elif word == "fails" and ended:
            messages.append("%s:%d: should have failed and did not" % (path, start))
        elif failures:
            messages.append("%s:%d: failed" % (path, start))
        else:
            messages.append("%s:%d: was not reached" % (path, start))
    if messages:
        messages += ["    " + line for line in output.split("\n")
                     if re.match(r"psql:|DETAIL|HINT|CONTEXT|LINE|connection", line)]
    return passed, len(blocks) - passed, messages


def main(paths):
    total_passed = total_failed = 0
    for path in paths:
        before = roles()
        sql("DROP DATABASE IF EXISTS %s" % DATABASE)
        sql("CREATE DATABASE %s" % DATABASE)
        with open(path, encoding="utf-8") as document:
            if not re.search(r"^CREATE EXTENSION clutch", document.read(), re.M):
                sql("CREATE EXTENSION clutch", DATABASE)
        try:
            passed, failed, messages = run_file(path)
        except (ValueError, subprocess.TimeoutExpired) as fault:
            passed, failed, messages = 0, 1, ["%s: %s" % (path, fault)]
        print("%-28s %3d blocks passed, %d failed" % (path, passed, failed))
        for message in messages:
            print(message)
        total_passed += passed
        total_failed += failed
        sql("DROP DATABASE %s" % DATABASE)
        for role in roles() - before:
            sql('DROP ROLE "%s"' % role)
    print("%d passed, %d failed" % (total_passed, total_failed))
    return 1 if total_failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
