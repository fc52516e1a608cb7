"""Waiting without a slot, and steps that are kept.

A parent that needs its child's result either suspends its task, which gives the
slot back, and claims it again when the child is over; or it keeps the slot, needs
a second one for the child, and asks for the result until it is there.  Nothing
sleeps here: the same client finishes the child, so the poller asks only once.
The last row tells after how many polls waiting has cost as much as a suspension.

A step is compared with a report that keeps nothing, and with a user's own table
of steps, which it replaces; such a table has no log, lease or attempt.
"""
from append import CLIENTS, SETUP, SINGLE, SYNC_OFF, TEMPLATE, compare, literal
from measure import (Ratio, fresh_database, interleave, micros, pgbench, rate, sql, statistics,
                     template_database)

# ----------------------------------------------------------------- suspending

FAMILY = "clutch_bench_family"

# one agent for each client, with a slot for a parent and one for its child
FAMILIES = """
CREATE EXTENSION clutch;
SELECT count(clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || n, 'display', '{"name": "Worker"}'::jsonb,
    'capabilities', '[{"id": "skill:x"}]'::jsonb, 'limits', '{"max_concurrency": 2, "heartbeat_sec": 0}'::jsonb)))
FROM generate_series(0, %d) n;
SELECT seq FROM clutch.send(clutch.envelope('task.request', 'agent:client', '{agent:nobody}', task_id => 'task_open'));
""" % (CLIENTS - 1)

AGENT = "concat(%s, :client_id::text)" % literal("agent:")


def task(letter):
    return "concat('task_%s', :k::text)" % letter


def ask(letter, parent="NULL"):
    return ("SELECT seq FROM clutch.send(clutch.envelope('task.request', 'agent:client', ARRAY[%s], '{}', run_id => concat('run_', :k::text), "
            "thread_id => '0_thread', task_id => %s, parent_task_id => %s));\n" % (AGENT, task(letter), parent)).replace(
                "'agent:client'", literal("agent:client"))


CLAIM = "SELECT task_id, attempt, reason FROM clutch.claim(%s);\n" % AGENT


def finish(letter):
    return "SELECT late FROM clutch.finish(%s, %s);\n" % (AGENT, task(letter))


def question(name):
    return "SELECT status, finished FROM clutch.result(%s);\n" % name


BEGIN = SINGLE + ask("p") + CLAIM + ask("c", task("p"))
TRIPS = {
    "suspended": BEGIN + "SELECT late FROM clutch.suspend(%s, %s, %s);\n" % (AGENT, task("p"), literal('{"children": "all"}')) +
    CLAIM + finish("c") + CLAIM + finish("p"),
    "polled": BEGIN + CLAIM + finish("c") + question(task("c")) + finish("p"),
}


def measure_suspend(table):
    template_database(FAMILY, FAMILIES)
    table.head("A parent waits for its child: suspended (reference: it keeps its slot and asks once, without sleeping)")
    table.columns("asked once")
    contenders = {name: lambda script=script: pgbench(script, settings=SYNC_OFF) for name, script in TRIPS.items()}
    contenders["question"] = lambda: pgbench(question("'task_open'"), settings=SYNC_OFF)
    runs = interleave(contenders, lambda: fresh_database(FAMILY))
    ours, polled = ([run.rate for run in runs[name]] for name in ("suspended", "polled"))
    table.row("parent and child, %d clients, sync off" % CLIENTS, rate(ours), rate(polled), Ratio(ours, polled))
    ours, polled, asked = ([run.cpu for run in runs[name]] for name in ("suspended", "polled", "question"))
    table.row("  CPU of backends", micros(ours), micros(polled), Ratio(ours, polled))
    table.limit("  questions that cost as much as a suspension", [1 + (a - b) / c for a, b, c in zip(ours, polled, asked)],
                None, lambda values: "%.0f" % statistics.median(values))


# ---------------------------------------------------------------------- steps

MANY = 9000
STEPS = """
CREATE TABLE own_step (task_id text, name text, output jsonb, PRIMARY KEY (task_id, name));
SELECT count(clutch.step('agent:worker', '0_task_0_2', 'old' || n, '{"payment": "p-77"}', 1)) FROM generate_series(1, %d) n;
""" % MANY
OUTPUT = literal('{"payment": "p-77"}')
SOME_TASK = "concat('0_task_', :client_id::text, '_', (3 + :k::bigint % 98)::text)"


def step(name, of_task=SOME_TASK):
    return "%sSELECT clutch.step(%s, %s, %s, %s, 1);\n" % (SINGLE, literal("agent:worker"), of_task, name, OUTPUT)


NEW = "concat('s', :k::text)"
CALLS = {
    "step": step(NEW),
    "again": step("'again'"),
    "progress": "%sSELECT late FROM clutch.progress(%s, %s, %s, 1);\n" % (SINGLE, literal("agent:worker"), SOME_TASK, OUTPUT),
    "own": "%sINSERT INTO own_step VALUES (%s, %s, %s) ON CONFLICT DO NOTHING;\n" % (SINGLE, SOME_TASK, NEW, OUTPUT),
}


def measure_step(table):
    template_database(TEMPLATE, SETUP)
    sql(STEPS, TEMPLATE)
    table.head("clutch.step keeps the output of a step (references: clutch.progress, and a table of the user's own)")
    table.columns()
    contenders = {name: lambda script=script: pgbench(script, settings=SYNC_OFF) for name, script in CALLS.items()}
    contenders.update((name, lambda name=name: pgbench(step(NEW, "'0_task_0_%d'" % (1 + (name == "many"))), 1, settings=SYNC_OFF))
                      for name in ("few", "many"))
    runs = {name: [run.rate for run in results] for name, results in compare(contenders).items()}
    table.row("a new step, %d clients, sync off, over progress" % CLIENTS, rate(runs["step"]), rate(runs["progress"]),
              Ratio(runs["step"], runs["progress"]))
    table.row("  over INSERT .. ON CONFLICT into a table", "", rate(runs["own"]), Ratio(runs["step"], runs["own"]))
    table.row("  a step that is repeated, over a new one", rate(runs["again"]), rate(runs["step"]), Ratio(runs["again"], runs["step"]))
    table.row("1 client, a task with {:,} steps, over one without".format(MANY), rate(runs["many"]), rate(runs["few"]),
              Ratio(runs["many"], runs["few"]))
