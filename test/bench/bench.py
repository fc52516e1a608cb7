#!/usr/bin/env python3
"""The figures of the performance budget, each against its reference.

    make bench                            on a private server
    BENCH_ONLY="choice tree" make bench   some parts: append task choice
                                          delegation queue full freed held
                                          tree replay pace listeners

BENCH_SECONDS (2) is the length of one measurement, BENCH_ROUNDS (5) how often
each is repeated.  docs/benchmarks.md says how to read what is printed.
"""
import os
import sys
import time

import append
import choice
import delegation
import listeners
import machine
import measure
import pace
import reading
import work_queue

PARTS = {
    "append": append.measure_messages,
    "task": append.measure_task_events,
    "choice": choice.measure_choice,
    "delegation": delegation.measure_delegation,
    "queue": work_queue.measure_round_trip,
    "full": work_queue.measure_full,
    "freed": work_queue.measure_freed,
    "held": work_queue.measure_held,
    "tree": reading.measure_tree,
    "replay": reading.measure_replay,
    "pace": pace.measure_pace,
    "listeners": listeners.measure_listeners,
}


def main(names):
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit("no part %s; there are: %s" % (" ".join(unknown), " ".join(PARTS)))
    began = time.monotonic()
    measure.POSTMASTER = measure.postmaster()
    machine.describe()
    table = measure.Table()
    for name in names or PARTS:
        PARTS[name](table)
    measure.say("\n%d s; load of the machine after: %s" % (time.monotonic() - began, machine.load()))
    table.close()


if __name__ == "__main__":
    main(sys.argv[1:] or os.environ.get("BENCH_ONLY", "").split())
