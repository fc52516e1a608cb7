"""Measuring: one private server, contenders in interleaved rounds.

What is compared runs in the same round, one after the other, in an order that
rotates; a ratio is the median of the rounds' own ratios.  Absolute figures of
one run mean little: machines, disks and neighbours differ.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

SECONDS = float(os.environ.get("BENCH_SECONDS", "2"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
DATABASE = "clutch_bench"
TICK = os.sysconf("SC_CLK_TCK")


def say(text):
    print(text, flush=True)


def note(text):
    """Progress, apart from the figures."""
    if sys.stderr.isatty() or os.environ.get("BENCH_VERBOSE"):
        print("... " + text, file=sys.stderr, flush=True)


# --------------------------------------------------------------------- psql

def sql(statements, database=DATABASE, settings=""):
    """Runs statements in one session; answers what they print."""
    env = dict(os.environ, PGOPTIONS=settings)
    done = subprocess.run(("psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-d", database),
                          input=statements, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        raise RuntimeError("psql: %s\n%s" % (done.stderr.strip(), statements[:400]))
    return done.stdout.strip()


def fresh_database(template):
    """The same start for every round: a copy of a prepared database."""
    sql("DROP DATABASE IF EXISTS %s WITH (FORCE);\nCREATE DATABASE %s TEMPLATE %s;"
        % (DATABASE, DATABASE, template), "postgres")


def template_database(name, statements, like="template1"):
    sql("DROP DATABASE IF EXISTS %s WITH (FORCE);\nCREATE DATABASE %s TEMPLATE %s;"
        % (name, name, like), "postgres")
    sql(statements, name)
    sql("VACUUM ANALYZE;\nCHECKPOINT;", name)


# ---------------------------------------------------------------------- CPU

def postmaster():
    return int(sql("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)", "postgres"))


POSTMASTER = None


def backends(database):
    """Processes that serve the measured database, or have just ended and are not reaped."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as f:
                parent = f.read().rsplit(")", 1)[1].split()[1]
            with open("/proc/%s/cmdline" % pid) as f:
                title = f.read()
        except OSError:
            continue
        # one that ends has no title any more, and is a zombie last
        if int(parent) == POSTMASTER and (not title or " %s " % database in title):
            found.append(pid)
    return found


def reaped_cpu(database):
    """Seconds of user and system time of all backends that have ended."""
    while backends(database):
        time.sleep(0.01)
    with open("/proc/%d/stat" % POSTMASTER) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[13]) + int(fields[14])) / TICK


# ------------------------------------------------------------------ pgbench

class Run:
    """What one run of pgbench gave."""

    def __init__(self, rate, transactions, cpu, windows):
        self.rate = rate                    # transactions per second
        self.transactions = transactions
        self.cpu = cpu                      # backends' microseconds per transaction
        self.windows = windows              # rates, one after the other


runs_so_far = 0


def pgbench_script(path, options, settings, database):
    """Runs pgbench; an error of one of its clients is an error here."""
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
    :n is a number that each client counts up from, another one in each run.
    With warm, the rate leaves out that many first seconds, in which each
    backend reads the registry.  Not alone: others are connected, too, and the
    CPU is not known.  every: seconds of a window.  With statement, the rate is
    what the clients would reach if they did only the statement that has this in
    its text.
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

def interleave(contenders, before_round=None, rounds=None):
    """
    contenders: {name: function() -> anything}.  Answers {name: [result of
    each round]}; the order within a round rotates.
    """
    names = list(contenders)
    results = {name: [] for name in names}
    for number in range(rounds or ROUNDS):
        if before_round:
            before_round()
        for i in range(len(names)):
            name = names[(i + number) % len(names)]
            note("round %d: %s" % (number + 1, name))
            results[name].append(contenders[name]())
    return results


class Ratio:
    """Median and range of the rounds' ratios."""

    def __init__(self, ours, theirs):
        each = [a / b for a, b in zip(ours, theirs)]
        self.middle = statistics.median(each)
        self.least = min(each)
        self.most = max(each)

    def __str__(self):
        return "%.2f [%.2f..%.2f]" % (self.middle, self.least, self.most)


# -------------------------------------------------------------------- table

class Table:
    """The figures, as they come; close() counts the bars."""

    def __init__(self):
        self.bars = 0
        self.missed = []

    def head(self, title):
        say("")
        say(title)

    def row(self, work, ours, reference, ratio=None, at_least=None, at_most=None):
        verdict = ""
        if at_least is not None or at_most is not None:
            met = ratio.middle >= at_least if at_least is not None else ratio.middle <= at_most
            bar = ">= %.2f" % at_least if at_least is not None else "<= %.2f" % at_most
            verdict = "%s  %s" % (bar, "met" if met else "MISSED")
            self.bars += 1
            if not met:
                self.missed.append("%s: %s, bar %s" % (work, ratio, bar))
        say("  %-44s %14s %16s   %-18s %s" %
            (work, ours, reference, ratio if ratio is not None else "", verdict))

    def absent(self, work, ours, peer, at_least=None):
        """A reference that is not there is a bar missed."""
        say("  %-44s %14s %16s   %-18s %s" % (work, ours, "", "", "MISSED (%s not there)" % peer))
        self.bars += 1
        self.missed.append("%s: %s is not there%s" %
                           (work, peer, ", bar >= %.2f" % at_least if at_least else ""))

    def columns(self, beside="reference"):
        say("  %-44s %14s %16s   %-18s %s" % ("", "clutch", beside, "ratio [min..max]", "bar"))

    def close(self):
        for line in self.missed:
            say("  missed: " + line)
        say("%d met, %d missed" % (self.bars - len(self.missed), len(self.missed)))


def rate(values):
    return "{:,.0f}/s".format(statistics.median(values))


def micros(values):
    middle = statistics.median(values)
    return "%.1f us" % middle if middle < 1000 else "%.2f ms" % (middle / 1000)
