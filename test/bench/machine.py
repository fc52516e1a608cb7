"""The machine on which the figures were measured."""
import os
import platform
import re
import statistics
import tempfile
import time

from measure import ROUNDS, SECONDS, say, sql

SETTINGS = ("shared_buffers", "max_wal_size", "wal_level", "fsync", "full_page_writes", "jit",
            "max_connections")


def first_match(path, pattern):
    try:
        with open(path) as f:
            found = re.search(pattern, f.read(), re.M)
            return found.group(1).strip() if found else "unknown"
    except OSError:
        return "unknown"


def fdatasync_micros(times=50):
    """The least that the commit of a single client can take."""
    took = []
    with tempfile.TemporaryFile() as f:
        for _ in range(times):
            os.pwrite(f.fileno(), b"x" * 8192, 0)
            began = time.monotonic()
            os.fdatasync(f.fileno())
            took.append((time.monotonic() - began) * 1e6)
    return statistics.median(took)


def load():
    return " ".join("%.1f" % x for x in os.getloadavg())


def describe():
    memory = int(first_match("/proc/meminfo", r"^MemTotal:\s+(\d+)")) / 1024 / 1024
    settings = sql("SELECT string_agg(name || ' ' || current_setting(name), ', ' ORDER BY place) "
                   "FROM unnest('{%s}'::text[]) WITH ORDINALITY AS s(name, place)" % ",".join(SETTINGS),
                   "postgres")
    clutch = sql("SELECT default_version FROM pg_available_extensions WHERE name = 'clutch'", "postgres")
    say("clutch %s, %s" % (clutch, sql("SELECT version()", "postgres").split(",")[0]))
    say("%s, %d cores, %.0f GiB; %s; Linux %s; fdatasync %.0f us" %
        (first_match("/proc/cpuinfo", r"^model name\s*:(.*)"), os.cpu_count(), memory,
         first_match("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)'), platform.release(),
         fdatasync_micros()))
    say("%s; pgbench -M prepared over a unix socket" % settings)
    say("%d rounds of %g s; load of the machine before: %s" % (ROUNDS, SECONDS, load()))
