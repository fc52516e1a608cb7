"""Measuring: one private server, and contenders in interleaved rounds.

Contenders run one after the other in each round, in an order that rotates; a
ratio is the median of the rounds' own ratios.  The absolute figures of one run
mean little, because machines, disks and other load differ.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from rules import idle_rules

SECONDS = float(os.environ.get("BENCH_SECONDS", "2"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
RULES = int(os.environ.get("BENCH_RULES", "0"))
DATABASE = "clutch_bench"
TICK = os.sysconf("SC_CLK_TCK")


def say(text):
    print(text, flush=True)


def note(text):
    """Shows progress, on stderr and apart from the figures."""
    if sys.stderr.isatty() or os.environ.get("BENCH_VERBOSE"):
        print("... " + text, file=sys.stderr, flush=True)


# --------------------------------------------------------------------- psql

def sql(statements, database=DATABASE, settings=""):
    """Runs statements in one session and returns what they print."""
    env = dict(os.environ, PGOPTIONS=settings)
    done = subprocess.run(("psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-d", database),
                          input=statements, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        raise RuntimeError("psql: %s\n%s" % (done.stderr.strip(), statements[:400]))
    return done.stdout.strip()


def fresh_database(template):
    """Gives every run the same start: a copy of a prepared database."""
    sql("DROP DATABASE IF EXISTS %s WITH (FORCE);\nCREATE DATABASE %s TEMPLATE %s;"
        % (DATABASE, DATABASE, template), "postgres")


def require_assigned(database=DATABASE):
    """Raises an error if a request found no agent, because a failure costs less than what is to be measured."""
    failed = sql("SELECT count(*) FROM clutch.events WHERE type = 'routing.failure'", database)
    if failed != "0":
        raise RuntimeError("%s requests in %s found no agent" % (failed, database))


def template_database(name, statements, like="template1"):
    sql("DROP DATABASE IF EXISTS %s WITH (FORCE);\nCREATE DATABASE %s TEMPLATE %s;"
        % (name, name, like), "postgres")
    sql(statements, name)
    if RULES > 0 and "CREATE EXTENSION clutch;" in statements:
        sql(idle_rules(RULES), name)
    sql("VACUUM ANALYZE;\nCHECKPOINT;", name)


# ---------------------------------------------------------------------- CPU

def postmaster():
    return int(sql("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)", "postgres"))


POSTMASTER = None


def backends(database):
    """Processes that serve the measured database, or have ended and are not reaped yet."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as f:
                parent = f.read().rsplit(")", 1)[1].split()[1]
            with open("/proc/%s/cmdline" % pid) as f:
                title = f.read()
        except OSError:
            continue
        # a process that ends loses its title before it becomes a zombie; the worker does not end
        if int(parent) == POSTMASTER and (not title or " %s " % database in title and "clutch worker" not in title):
            found.append(pid)
    return found


def reaped_cpu(database):
    """Seconds of user and system time of all backends that have ended so far."""
    while backends(database):
        time.sleep(0.01)
    with open("/proc/%d/stat" % POSTMASTER) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[13]) + int(fields[14])) / TICK


# ------------------------------------------------------------------ pgbench

class Run:
    """The result of one run of pgbench."""

    def __init__(self, rate, transactions, cpu, windows):
        self.rate = rate                    # transactions per second
        self.transactions = transactions
        self.cpu = cpu                      # backends' microseconds per transaction
        self.windows = windows              # the rates of its windows


runs_so_far = 0


def pgbench_script(path, options, settings, database):
    """Runs pgbench, and raises an error if one of its clients has one."""
    done = subprocess.run(("pgbench", "-n", "-M", "prepared") + options + ("-f", path, database),
                          env=dict(os.environ, PGOPTIONS=settings), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    failed = re.search(r"(ERROR|FATAL|PANIC|error):.*", done.stderr)
    if done.returncode or failed:
        raise RuntimeError("pgbench: " + done.stderr[-2000:])
    return done


def pgbench(script, clients=8, seconds=None, warm=0, settings="", alone=True, database=DATABASE,
            every=1, statement=None):
    """
    Each client counts :n up from a number that differs between runs.  The rate
    leaves out the first `warm` seconds, in which each backend reads the registry.
    If other sessions are connected (alone=False), the CPU is not known.  `every`
    is the length of a window in seconds.  With `statement`, the rate is what the
    clients would reach if they only ran the statement that contains this text.
    """
    global runs_so_far
    runs_so_far += 1
    seconds = seconds or SECONDS
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as f:
        f.write(script)
        f.flush()
        before = reaped_cpu(database) if alone else 0
        done = pgbench_script(
            f.name, ("-c", str(clients), "-j", str(min(clients, 2)), "-T", str(max(1, int(seconds)) + warm),
                     "-P", str(every), "-D", "n=%d" % (runs_so_far * 1000000)) + (("-r",) if statement else ()),
            settings, database)
        after = reaped_cpu(database) if alone else 0
    transactions = int(re.search(r"actually processed: (\d+)", done.stdout).group(1))
    rate = float(re.search(r"^tps = ([\d.]+)", done.stdout, re.M).group(1))
    seen = [(float(t), float(tps)) for t, tps in
            re.findall(r"progress: ([\d.]+) s, ([\d.]+) tps", done.stderr)]
    if warm:
        steady = [tps for t, tps in seen if t > warm + 0.5]
        rate = statistics.mean(steady) if steady else rate
    if statement:
        took = re.search(r"^\s*([\d.]+)\s.*%s" % re.escape(statement), done.stdout, re.M)
        rate = clients * 1000 / float(took.group(1))
    return Run(rate, transactions, (after - before) * 1e6 / max(transactions, 1), [tps for _, tps in seen])


# ------------------------------------------------------------------- rounds

def interleave(contenders, before=None, rounds=None):
    """
    Takes {name: function} and returns {name: [result of each round]}; the order
    within a round rotates.  `before` is called before each run: where contenders
    write, it makes a fresh database, so that none of them works in a log that
    another one has filled, or while what another one has left is sealed.
    """
    names = list(contenders)
    results = {name: [] for name in names}
    for number in range(rounds or ROUNDS):
        for i in range(len(names)):
            name = names[(i + number) % len(names)]
            if before:
                before()
            note("round %d: %s" % (number + 1, name))
            results[name].append(contenders[name]())
    return results


class Ratio:
    """The median and the range of the rounds' ratios."""

    def __init__(self, ours, theirs):
        each = [a / b for a, b in zip(ours, theirs)]
        self.middle = statistics.median(each)
        self.least = min(each)
        self.most = max(each)

    def __str__(self):
        return "%.2f [%.2f..%.2f]" % (self.middle, self.least, self.most)


# -------------------------------------------------------------------- table

class Table:
    """Prints the figures as they come, each beside its bar; close() counts the bars."""

    def __init__(self):
        self.bars = 0
        self.missed = []
        self.title = ""
        self.main_row = ""

    def head(self, title):
        self.title = title.split(" (")[0]
        say("")
        say(title)

    def columns(self, beside="reference"):
        self.line("", "clutch", beside, "ratio [min..max]", "bar")

    def line(self, work, ours, reference, ratio, verdict):
        say("  %-52s %12s %14s   %-19s %s" % (work, ours, reference, ratio, verdict))

    def judge(self, work, met, bar, shown):
        """Counts a bar; an indented row belongs to the last row without indentation."""
        name = "%s, %s" % (self.main_row, work.strip()) if work.startswith(" ") else work
        self.bars += 1
        if not met:
            self.missed.append("%s: %s: %s, bar %s" % (self.title, name, shown, bar))
        return "%s  %s" % (bar, "met" if met else "MISSED")

    def row(self, work, ours, reference, ratio=None, at_least=None, at_most=None):
        """A figure beside its reference; the bar is on their ratio."""
        self.main_row = self.main_row if work.startswith(" ") else work
        verdict = ""
        if at_least is not None:
            verdict = self.judge(work, ratio.middle >= at_least, ">= %.2f" % at_least, ratio)
        elif at_most is not None:
            verdict = self.judge(work, ratio.middle <= at_most, "<= %.2f" % at_most, ratio)
        self.line(work, ours, reference, ratio if ratio is not None else "", verdict)

    def limit(self, work, values, at_most, shown, reference=""):
        """A figure without a reference: the bar is on the median of the values."""
        self.main_row = self.main_row if work.startswith(" ") else work
        middle, verdict = statistics.median(values), ""
        spread = "[%s..%s]" % (shown([min(values)]), shown([max(values)])) if len(values) > 1 else ""
        if at_most is not None:
            verdict = self.judge(work, middle <= at_most, "<= " + shown([at_most]), shown(values))
        self.line(work, shown(values), reference, spread, verdict)

    def absent(self, work, ours, peer, bar):
        """A reference that is not available; its bar, if there is one, is missed."""
        self.main_row = self.main_row if work.startswith(" ") else work
        if not bar:
            self.line(work, ours, "", "", "%s not available" % peer)
            return
        self.line(work, ours, "", "", "%s  MISSED (%s not available)" % (bar, peer))
        self.bars += 1
        self.missed.append("%s: %s: %s is not available" % (self.title, work.strip(), peer))

    def close(self):
        for line in self.missed:
            say("  missed: " + line)
        say("%d met, %d missed" % (self.bars - len(self.missed), len(self.missed)))


def rate(values):
    return "{:,.0f}/s".format(statistics.median(values))


def micros(values):
    middle = statistics.median(values)
    return "%.1f us" % middle if middle < 1000 else millis([middle / 1000])


def millis(values):
    middle = statistics.median(values)
    return "%.2f ms" % middle if middle < 1000 else "%.2f s" % (middle / 1000)
