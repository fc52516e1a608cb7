"""Instructions of one backend, counted by callgrind, and therefore hardly affected by noise.

    make bench-instructions                            message trip delegation route
    BENCH_ONLY="message report" make bench-instructions    some parts; report, grown, role, rules, adapters and crowd are not among the default
    BENCH_ONLY=adapters BENCH_ADAPTERS="http mcp" ...  documents of some adapters
    BENCH_TOP=25 ...                                   and the functions that contain most of them
    BENCH_TOP=25 BENCH_IN=src/ ...                     those of clutch only (src/flow: of one room)
    BENCH_KEEP=/folder ...                             keeps the profiles, for kcachegrind
    BENCH_PGMQ=/path/to/pgmq.sql ...                   trip: beside pgmq, as in make bench
    BENCH_RULES=1000 ...                               in databases with so many routing rules

The server runs under valgrind.  One client of pgbench runs a script a number of
times, and more often on another copy of the same database.  The difference
between the two backends contains neither the start nor the planning nor the
first filling of caches.  Neither other processes of the server nor the kernel
are counted.

    instructions.py databases           makes what is measured, on a server that is not slowed
    instructions.py count FOLDER LOG    counts: callgrind writes a file to FOLDER for each
                                        process that the server's LOG has connections of
"""
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import adapters
import append
import delegation
import roles
import work_queue
from choice import functions as choice_functions
from measure import pgbench_script, require_assigned, say, sql, template_database
from registry import team_database
from rules import idle_rules

SETTINGS = "-c synchronous_commit=off -c clutch.notify=off"
TOP = int(os.environ.get("BENCH_TOP", "0"))
IN = os.environ.get("BENCH_IN", "")
KEEP = os.environ.get("BENCH_KEEP", "")
REQUESTS = 100          # of one call of ROUTE or ARRAYS

ROUTE = "SELECT count(clutch.route(envelope)) FROM asked;\n"
ARRAYS = "SELECT count(best(asked)) FROM asked;\n"


class Count:
    """A script to count, and what one unit of its work is."""

    def __init__(self, name, template, script, units=1, lengths=(100, 400), function=None, at_most=None, times=None, but=None,
                 settings=""):
        self.name = name
        self.template = template        # makes the database and returns its name
        self.script = script
        self.units = units              # in one run of the script
        self.lengths = lengths          # runs of the script
        self.function = function        # counts only what this function contains ...
        self.but = but                  # ... without what it spends in this one
        self.at_most = at_most          # kIr a unit
        self.times = times              # the bar: clutch, counted before, may take at most so many times this
        self.settings = settings        # settings of its sessions, in addition to those of all sessions

    def database(self, i):
        return "count_%s_%d" % (re.sub(r"\W+", "_", self.name), i)


def ids_of(kind, batch):
    return append.ids_of_report(batch) if kind == "task.progress" else append.ids_of_message(batch)


def appending(kind):
    def made(table, batch):
        return append.insert(table, batch, append.envelope_of(kind), ids_of(kind, batch))
    return made


def append_database():
    template_database(append.TEMPLATE, append.SETUP)
    return append.TEMPLATE


def grown_database():
    name = "clutch_bench_grown"
    template_database(name, append.SETUP + append.messages_before(100000))
    return name


def queue_database():
    template_database(work_queue.EMPTY, work_queue.setup(1000000))
    return work_queue.EMPTY


def choice_database(size):
    name = "clutch_bench_choice_%d" % size
    template_database(name, choice_functions() + "VACUUM ANALYZE asked;", like=team_database(size))
    return name


def events(part, kind, bar, template=append_database):
    """Events in batches and one by one, clutch first."""
    script = appending(kind)
    counts = []
    for batch in (True, False):
        units, lengths = (append.BATCH, (6, 16)) if batch else (1, (100, 400))
        for table in ("clutch", "plain", "fair", "same"):
            counts.append(Count("%s %s %s" % (part, "batch" if batch else "single", table), template,
                                script(table, batch), units, lengths,
                                at_most=bar if batch and table == "clutch" else None))
    counts.append(Count("%s single by clutch.send" % part, template,
                        append.call(append.envelope_of(kind), ids_of(kind, False)), lengths=(100, 400)))
    return counts


def role_database():
    template_database(roles.APPENDING, roles.SETUP)
    return roles.APPENDING


def as_role():
    """A message in batches and one by one, by the role of an agent and by the superuser."""
    counts = []
    for batch in (True, False):
        units, lengths = (append.BATCH, (6, 16)) if batch else (1, (100, 400))
        script = append.insert("clutch", batch, append.envelope_of(roles.MESSAGE), roles.ids(batch))
        for name, settings in (("clutch", roles.AS_ROLE), ("superuser", "")):
            counts.append(Count("role %s %s" % ("batch" if batch else "single", name), role_database, script, units, lengths,
                                settings=settings))
    return counts


def trips():
    counts = [Count("trip clutch", queue_database, work_queue.clutch_trip(), lengths=(100, 400), at_most=1150)]
    if work_queue.PGMQ:
        counts += [Count("trip pgmq", queue_database, work_queue.pgmq_trip(), lengths=(100, 400)),
                   Count("trip pgmq and log", queue_database, work_queue.logged_pgmq_trip(), lengths=(100, 400))]
    return counts


def delegations():
    return [Count("delegation " + name, lambda: team_database(50), script, lengths=(100, 400), at_most=bar)
            for name, script, bar in (("clutch", delegation.one_insert(), 700),
                                      ("fair client", delegation.fair_client(), None),
                                      ("older client", delegation.older_client(), None))]


def routes():
    among = functools.partial(choice_database, 50)
    return [Count("route clutch", among, ROUTE, REQUESTS, (5, 15), "clutch_route", at_most=40),
            Count("route arrays", among, ARRAYS, REQUESTS, (5, 15))]


def crowds():
    """Many agents to choose from.  Their loads are read again after some time, so valgrind makes that more frequent."""
    return [Count("crowd %s clutch" % size, functools.partial(choice_database, size), ROUTE, REQUESTS, (5, 15),
                  "clutch_route", but="load_reader_read") for size in (1000, 10000)]


ADAPTER_RUNS = (3, 8)

def adapter_database(adapter):
    name = "clutch_bench_adapter_" + adapter
    template_database(name, adapters.setup(adapter, adapters.BATCH * ADAPTER_RUNS[1]))
    return name


def adapted():
    """A document in a batch, and the envelope that it makes."""
    counts = []
    for adapter in os.environ.get("BENCH_ADAPTERS", "").split() or adapters.DOCUMENTS:
        made = functools.partial(adapter_database, adapter)
        for kind, name in (("ingest", adapter + " clutch"), ("send", adapter + " clutch.send")):
            first = "(:n - 1000001) * %d + 1" % adapters.BATCH
            counts.append(Count(name, made, "\\set n :n + 1\n" + adapters.batch(kind, first), adapters.BATCH, ADAPTER_RUNS,
                                times=adapters.BAR if kind == "send" else None))
    return counts


def rules_database():
    name = "clutch_bench_rules"
    template_database(name, idle_rules(1000), like=team_database(50))
    return name


def rules():
    """What a thousand rules, half with words and half with paths, cost a request, beside its validation."""
    return [Count("rules clutch", rules_database, delegation.one_insert(), lengths=(100, 400), function="rule_requirement_of"),
            Count("rules validation", rules_database, delegation.one_insert(), lengths=(100, 400), function="envelope_read")]


PARTS = {
    "rules": rules,
    "adapters": adapted,
    "message": lambda: events("message", "chat.message", 262),
    "report": lambda: events("report", "task.progress", None),
    "grown": lambda: events("grown", "chat.message", None, grown_database),
    "role": as_role,
    "trip": trips,
    "delegation": delegations,
    "route": routes,
    "crowd": crowds,
}
DEFAULT = [name for name in PARTS if name not in ("report", "grown", "role", "rules", "adapters", "crowd")]


# ------------------------------------------------------------------ profiles

def finished(path):
    """The last line of a profile is its total; until then the backend still writes."""
    try:
        with open(path, "rb") as f:
            f.seek(max(0, os.path.getsize(path) - 200))
            return re.search(rb"^totals: \d+$", f.read(), re.M) is not None
    except FileNotFoundError:
        return False


def backends_of(database, log):
    """The server's log has the number of each process that served the database."""
    with open(log) as f:
        return re.findall(r"^(\d+) LOG:  connection authorized: .*database=%s " % database, f.read(), re.M)


def profile_of_run(count, i, folder, log):
    """
    Runs the script and returns the profile of the backend that served it: pgbench
    connects twice, and the first connection only asks for the version.
    """
    database = count.database(i)
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as f:
        f.write(count.script)
        f.flush()
        pgbench_script(f.name, ("-c", "1", "-t", str(count.lengths[i]), "-D", "n=1000000"), SETTINGS + count.settings, database)
    paths = [os.path.join(folder, pid) for pid in backends_of(database, log)]
    if not paths:
        raise RuntimeError("the log has no connection to %s" % database)
    end = time.monotonic() + 120
    while not all(finished(path) for path in paths):
        if time.monotonic() > end:
            raise RuntimeError("no profile of %s within two minutes" % count.name)
        time.sleep(0.1)
    return max(paths, key=total)


def total(path):
    with open(path) as f:
        return int(re.search(r"^totals: (\d+)$", f.read(), re.M).group(1))


def functions_of(path):
    """{name: instructions} of each function, including the functions that it calls."""
    listing = subprocess.run(("callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", path),
                             check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    found = {}
    for cost, name in re.findall(r"^\s*([\d,]+) \([ \d.]+%\)\s+(\S.*)$", listing, re.M):
        found[name] = found.get(name, 0) + int(cost.replace(",", ""))
    return found


def per_unit(count, few, many):
    return (many - few) / 1000.0 / count.units / (count.lengths[1] - count.lengths[0])


def inclusive(count, paths):
    few, many = functions_of(paths[0]), functions_of(paths[1])
    return {name: per_unit(count, few.get(name, 0), many[name]) for name in many}


def contained(count, each, function):
    its_own = [part for name, part in each.items() if re.search(r"\b%s\b" % function, name)]
    if not its_own:
        raise RuntimeError("%s: no function %s in the profile" % (count.name, function))
    return max(its_own)


def counted(count, folder, log):
    """Thousands of instructions per unit and, on request, those of each function."""
    paths = [profile_of_run(count, i, folder, log) for i in (0, 1)]
    kilo = per_unit(count, total(paths[0]), total(paths[1]))
    each = inclusive(count, paths) if TOP or count.function else {}
    if count.function:
        kilo = contained(count, each, count.function)
    if count.but:
        kilo -= contained(count, each, count.but)
    if count.name == "delegation clutch":
        for i in (0, 1):
            require_assigned(count.database(i))
    for path, length in zip(paths, count.lengths):
        if KEEP:
            shutil.copy(path, os.path.join(KEEP, "callgrind.%s.%d" % (count.name.replace(" ", "_"), length)))
        os.unlink(path)
    return kilo, each


def place_of(name):
    """(function, where) of a name as callgrind_annotate prints it; None for code without a symbol."""
    path, function, library = re.match(r"(?:(.*):)?([^:\[]+?)(?: \[(.*)\])?$", name).groups()
    function = re.sub(r"\.(part|isra|constprop|cold|lto_priv).*|'\d+$|@@.*", "", function)
    if function.startswith("0x") or function in ("PROGRAM TOTALS", "(below main)", "__libc_start_main", "main"):
        return None
    source = re.search(r"(?:^|/)(src/(?:\w+/)?\w+\.[ch])$", path or "")
    return function, source.group(1) if source else os.path.basename(library or "")


def show_functions(each):
    """Prints the functions that contain most; one that was inlined in several places is counted once."""
    most = {}
    for name, kilo in each.items():
        place = place_of(name)
        if place and place[1].startswith(IN) and kilo > most.get(place[0], (0,))[0]:
            most[place[0]] = (kilo, place[1])
    for function, (kilo, where) in sorted(most.items(), key=lambda item: -item[1][0])[:TOP]:
        say("      %10.1f  %-40s %s" % (kilo, function, where))


# ---------------------------------------------------------------------- main

def databases(counts):
    made = {}
    for count in counts:
        if count.template not in made:
            made[count.template] = count.template()
        for i in (0, 1):
            sql("CREATE DATABASE %s TEMPLATE %s" % (count.database(i), made[count.template]), "postgres")


def count_all(counts, folder, log):
    say("Thousands of instructions (kIr) of the backend, one client, pgbench -M prepared, clutch.notify = off")
    bars, missed, ours = 0, 0, None
    for count in counts:
        kilo, each = counted(count, folder, log)
        verdict = ""
        if count.name.endswith(" clutch"):
            ours = kilo
            say("")
        if count.at_most:
            bars += 1
            missed += kilo > count.at_most
            verdict = "<= %-6s %s" % ("{:,}".format(count.at_most), "met" if kilo <= count.at_most else "MISSED")
        elif not count.name.endswith(" clutch"):
            verdict = "clutch / this: %.2f" % (ours / kilo)
            if count.times:
                bars += 1
                missed += ours > count.times * kilo
                verdict += "  <= %.2f  %s" % (count.times, "met" if ours <= count.times * kilo else "MISSED")
        say("  %-32s %12s   %s" % (count.name, "{:,.1f}".format(kilo), verdict))
        show_functions(each)
    say("\n%d met, %d missed" % (bars - missed, missed))


def main(command, *rest):
    names = os.environ.get("BENCH_ONLY", "").split() or DEFAULT
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit("no part %s; the parts are: %s" % (" ".join(unknown), " ".join(PARTS)))
    counts = [count for name in names for count in PARTS[name]()]
    if command == "databases":
        databases(counts)
        say("clutch %s, %s" % (sql("SELECT default_version FROM pg_available_extensions WHERE name = 'clutch'", "postgres"),
                               sql("SELECT version()", "postgres").split(",")[0]))
    else:
        count_all(counts, *rest)


if __name__ == "__main__":
    main(*sys.argv[1:])
