#!/usr/bin/env python3
"""The figures of the performance budget, each against its reference.

    make bench                            on a private server
    BENCH_ONLY="choice tree" make bench   some parts, see PARTS below

BENCH_SECONDS (2) is the length of one measurement and BENCH_ROUNDS (5) the
number of rounds.  docs/benchmarks.md names the other settings and says how to
read what is printed.
"""
import os
import sys
import time

import adapters
import append
import choice
import contract
import delegation
import listeners
import machine
import measure
import pace
import reading
import resuming
import roles
import roster
import signing
import size
import waiting
import work_queue

PARTS = {
    "append": append.measure_messages,
    "task": append.measure_task_events,
    "role": roles.measure_append,
    "sight": roles.measure_sight,
    "signed": signing.measure_signed,
    "contract": contract.measure_contract,
    "adapters": adapters.measure_adapters,
    "choice": choice.measure_choice,
    "delegation": delegation.measure_delegation,
    "queue": work_queue.measure_round_trip,
    "full": work_queue.measure_full,
    "freed": waiting.measure_freed,
    "stranger": waiting.measure_stranger,
    "held": work_queue.measure_held,
    "suspend": resuming.measure_suspend,
    "step": resuming.measure_step,
    "tree": reading.measure_tree,
    "replay": reading.measure_replay,
    "pace": pace.measure_pace,
    "listeners": listeners.measure_listeners,
    "roster": roster.measure_roster,
    "monitoring": size.measure_monitoring,
    "rebuild": size.measure_rebuild,
    "idle": size.measure_idle,
}


def main(names):
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit("no part %s; the parts are: %s" % (" ".join(unknown), " ".join(PARTS)))
    began = time.monotonic()
    measure.POSTMASTER = measure.postmaster()
    machine.describe()
    table = measure.Table()
    # in the order above, because some parts use databases that earlier ones have made
    for name in PARTS:
        if name in (names or PARTS):
            PARTS[name](table)
    measure.say("\n%d s; load of the machine after: %s" % (time.monotonic() - began, machine.load()))
    table.close()


if __name__ == "__main__":
    main(sys.argv[1:] or os.environ.get("BENCH_ONLY", "").split())
