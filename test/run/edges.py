#!/usr/bin/python3
"""Prints which edges of a build with --coverage a run has reached.

    edges.py COUNTS CHECKOUT        the folder that GCOV_PREFIX named, and the checkout that was built

For each file, it prints how many branches of its code were taken and how many there are, beginning with the files that
were reached least, and then the sum of the files that were reached at all.
"""
import json
import os
import subprocess
import sys


def edges_of(counts, checkout):
    """(branches taken, branches) of each source file."""
    found = {}
    for folder, _, names in os.walk(counts):
        for name in names:
            if not name.endswith(".gcda"):
                continue
            place = os.path.join(folder, name)
            notes = "/" + os.path.relpath(place, counts)[:-5] + ".gcno"
            os.replace(place, notes[:-5] + ".gcda")
            # a killed process may leave an incomplete file of counts, which is read as far as possible
            out = subprocess.run(["gcov", "--stdout", "--json-format", "--branch-probabilities", notes], cwd=checkout, capture_output=True, check=False)
            if out.returncode != 0:
                print("   gcov of %s ended with %d: %s" % (notes, out.returncode, out.stderr.decode().strip().replace("\n", "; ")))
            for document in out.stdout.decode().splitlines():
                for source in json.loads(document)["files"]:
                    branches = [b["count"] for line in source["lines"] for b in line["branches"]]
                    if source["file"].endswith(".c") and branches:
                        found[source["file"].split("src/")[-1]] = (sum(n > 0 for n in branches), len(branches))
    return found


def main():
    found = {name: n for name, n in edges_of(*sys.argv[1:3]).items() if n[0]}
    for name, (taken, there) in sorted(found.items(), key=lambda item: item[1][0] / item[1][1]):
        print("   %-44s %5d of %5d" % (name, taken, there))
    print("   edges: %d of %d in %d files" % (sum(n[0] for n in found.values()), sum(n[1] for n in found.values()), len(found)))


if __name__ == "__main__":
    main()
