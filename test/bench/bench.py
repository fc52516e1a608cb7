#!/usr/bin/env python3
"""The figures of the performance budget, each against its reference.

    make bench                       on a private server
    test/run/bench.sh append         only some parts: append task choice
                                     delegation reading pace

BENCH_SECONDS (2) is the length of one measurement, BENCH_ROUNDS (5) how often
each is repeated.  docs/benchmarks.md says how to read what is printed.
"""
import sys

import measure
from measure import Table, say, sql
import append

PARTS = {
    "append": append.measure_messages,
    "task": append.measure_task_events,
}


def main(names):
    measure.POSTMASTER = measure.postmaster()
    table = Table()
    for name in names or PARTS:
        PARTS[name](table)


if __name__ == "__main__":
    main(sys.argv[1:])
