"""Appending: events one by one and in batches, against tables that check nothing.

The references are `plain`, `fair` and `same` of reference.py.  The server makes the
text of an envelope from bound numbers with one concat(), which is the same for
all contenders, so that jsonb_in runs for every event.
"""
import json
import time

from reference import LOGS
from measure import Ratio, fresh_database, interleave, micros, pgbench, rate, sql, template_database

TEMPLATE = "clutch_bench_append"
BATCH = 100
CLIENTS = 8
SEALED = 20000      # events that are sealed at once

# One agent whose limit is never reached, and tasks for each client: 0_task_C_1 for
# single events, 0_task_C_1 to 0_task_C_100 for batches.  All logs have the same events
# before anything is measured, and appended events sort after them.
SETUP = "CREATE EXTENSION clutch;" + LOGS + """
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:worker",
    "display": {"name": "Worker", "desc": "takes everything"},
    "capabilities": [{"id": "skill:research", "version": "1.0"}],
    "limits": {"max_concurrency": 1000000, "max_runtime_sec": 600, "heartbeat_sec": 0},
    "security": {"sandbox": true, "network": "none"}}');
INSERT INTO clutch.events (envelope)
SELECT clutch.envelope(type => 'task.request', from_agent => 'agent:client',
    to_agents => '{agent:worker}', payload => '{"goal": "bench"}', run_id => '0_run',
    thread_id => '0_thread', task_id => format('0_task_%s_%s', c, t))
FROM generate_series(0, 7) c, generate_series(1, 100) t;
SELECT count(*) FROM clutch.claim('agent:worker', 1000, '1 day');
INSERT INTO plain (id, run_id, thread_id, task_id, from_agent, body)
SELECT id, run_id, thread_id, task_id, from_agent, envelope FROM clutch.events ORDER BY seq;
INSERT INTO fair (id, run_id, thread_id, task_id, from_agent, body)
SELECT id, run_id, thread_id, task_id, from_agent, envelope FROM clutch.events ORDER BY seq;
INSERT INTO same (id, run_id, thread_id, task_id, from_agent, body)
SELECT id, run_id, thread_id, task_id, from_agent, envelope FROM clutch.events ORDER BY seq;
"""


def envelope_of(message_type, with_key=False):
    """An envelope with every field but a signature, about 1.3 KB; ~x~ stands for a column."""
    envelope = {
        "v": "clutch/0.1", "id": "~id~", "ts": "2026-02-01T13:20:11.123Z",
        "thread_id": "~thread_id~", "run_id": "~run_id~", "task_id": "~task_id~",
        "parent_task_id": None,
        "trace": {"trace_id": "tr_4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "sp_00f067aa0ba902b7"},
        "from": {"agent_id": "~from_agent~", "role": "worker"},
        "to": [{"agent_id": "agent:orchestrator"}],
        "type": message_type, "domain": "research",
        "payload_type": "research.summary.v1",
        "schema_ref": "schema://clutch/research/summary@1",
        "payload": {
            "title": "Market analysis complete",
            "findings": [
                "The market for payment terminals grew by 12 percent over the last year.",
                "Three vendors hold 64 percent of it; the largest lost ground twice in a row.",
                "Regulation in two regions changes in the third quarter, with a year to comply."],
            "citations": ["https://example.org/reports/2026/market-overview",
                          "https://example.org/filings/2025/q4/annual-report"],
            "confidence": 0.87, "pages": 42},
        "requires": ["skill:research"], "prefers": ["tool:browser", "domain:fintech"],
        "security": {"policy": {"sandbox": True, "tool_allowlist": ["mcp:browser", "mcp:files"]}},
        "attachments": [{"kind": "artifact_ref", "ref": "artifact:report_456"}],
        "attempt": 1,
        "meta": {"framework": "langgraph", "ui_channel": "chat:research"}}
    if with_key:
        envelope["idempotency_key"] = "idem_~id~"
    return envelope


def literal(text):
    """A constant for a script of pgbench, which replaces :word even within quotes."""
    return "E'%s'" % text.replace("\\", "\\\\").replace("'", "''").replace(":", "\\x3a")


def concat_of(envelope, columns=None):
    """
    Returns a concat() that makes the text of an envelope from columns, or from the
    expressions given for them: "~x~" is a string, "~~x~~" a document.
    """
    text = json.dumps(envelope, separators=(",", ":"))
    parts = text.replace('"~~', "~").replace('~~"', "~").split("~")
    return "concat(%s)" % ", ".join(literal(part) if i % 2 == 0 else
                                    columns[part] if columns else part
                                    for i, part in enumerate(parts))


# Numbers have 19 digits and grow with time over all clients, as ULIDs do.
SINGLE = ("\\set n :n + 1\n\\set k 1000000000000000000 + :n * %d + :client_id\n"
          "\\set group :k / 100\n\\set task :k / 10\n\\set agent :k %% 50\n" % CLIENTS)
MANY = ("\\set n :n + 1\n\\set k 1000000000000000000 + (:n * %d + :client_id) * %d\n"
        % (CLIENTS, BATCH))

COLUMNS = ("id", "run_id", "thread_id", "task_id", "from_agent")


def ids_of_message(batch):
    """The columns of a message: bound by the client or, in a batch, computed from consecutive numbers."""
    if not batch:
        return {"id": "concat('msg_', :k::text)", "run_id": ":group", "thread_id": ":group", "task_id": ":task",
                "from_agent": "concat(%s, :agent::text)" % literal("agent:worker-")}
    return {"id": "concat('msg_', k)", "run_id": "(k / 100)::text", "thread_id": "(k / 100)::text",
            "task_id": "(k / 10)::text",
            "from_agent": "concat(%s, k %% 50)" % literal("agent:worker-")}


def ids_of_report(batch):
    """A report of agent:worker on a task of this client; in a batch, on 100 of them."""
    ids = {"id": "concat('msg_', :k::text)", "run_id": "'0_run'", "thread_id": "'0_thread'",
           "from_agent": literal("agent:worker"),
           "task_id": "concat('0_task_', :client_id::text, '_1')"}
    if batch:
        ids.update(id="concat('msg_', k)",
                   task_id="concat('0_task_', :client_id::text, '_', k % 100 + 1)")
    return ids


def as_text(ids):
    """Casts a bound value to text: concat() takes any type, so the server cannot infer one."""
    return {name: ids[name] + "::text" if ids[name][0] == ":" else ids[name] for name in ids}


def target(table):
    """The columns that an INSERT names, and its ON CONFLICT clause if there is one."""
    if table == "clutch":
        return "clutch.events (envelope", ""
    again = " ON CONFLICT (id, run_id) DO NOTHING" if table in ("fair", "same") else ""
    return "%s (%s, body" % (table, ", ".join(COLUMNS)), again


def insert_range(table, envelope, ids, first, last):
    """One statement that appends an event for each number from first to last."""
    into, again = target(table)
    columns = "" if table == "clutch" else ", ".join(COLUMNS) + ", "
    # OFFSET 0 keeps the planner from computing an id for each place it is used in
    made = ", ".join("%s AS %s" % (ids[name], name) for name in ids)
    return ("INSERT INTO %s) SELECT %s%s::jsonb FROM (SELECT %s FROM generate_series(%s, %s) k OFFSET 0) ids%s;\n" %
            (into, columns, concat_of(envelope), made, first, last, again))


def call(envelope, ids):
    """One call of clutch.send, which appends one event."""
    return "%sSELECT clutch.send(%s::jsonb);\n" % (SINGLE, concat_of(envelope, as_text(ids)))


def insert(table, batch, envelope, ids):
    """One statement that appends one event, or a batch of them."""
    if batch:
        return MANY + insert_range(table, envelope, ids, ":k::bigint", ":k::bigint + %d" % (BATCH - 1))
    into, again = target(table)
    bound = "" if table == "clutch" else ", ".join(ids[name] for name in COLUMNS) + ", "
    return "%sINSERT INTO %s) VALUES (%s%s::jsonb)%s;\n" % (SINGLE, into, bound,
                                                            concat_of(envelope, as_text(ids)), again)


def messages_before(n, logs=("clutch", "plain", "fair", "same")):
    """Appends n messages with the lowest numbers to each log."""
    first = 10 ** 18
    return "".join(insert_range(log, envelope_of("chat.message"), ids_of_message(True), first, first + n - 1)
                   for log in logs)


def runner(table, batch, kind, settings, clients=CLIENTS, with_key=False, **how):
    ids = ids_of_report(batch) if kind == "task.progress" else ids_of_message(batch)
    script = insert(table, batch, envelope_of(kind, with_key), ids)
    return lambda: pgbench(script, clients, settings=settings, **how)


SYNC_ON = "-c synchronous_commit=on -c clutch.notify=off"
SYNC_OFF = "-c synchronous_commit=off -c clutch.notify=off"
NOTIFYING = " -c clutch.notify=transaction"


def compare(contenders):
    return interleave(contenders, lambda: fresh_database(TEMPLATE))


def rates(runs):
    return [run.rate for run in runs]


def costs(runs):
    return [run.cpu / BATCH for run in runs]


def one_by_one(table, kind, work, bars, extras):
    for name, settings in (("on", SYNC_ON), ("off", SYNC_OFF)):
        contenders = {log: runner(log, False, kind, settings) for log in ("plain", "fair", "clutch")}
        more = extras and settings is SYNC_ON
        if extras:
            contenders["same"] = runner("same", False, kind, settings)
            script = call(envelope_of(kind), ids_of_message(False))
            contenders["sent"] = lambda: pgbench(script, CLIENTS, settings=settings)
        if more:
            contenders["keyed"] = runner("clutch", False, kind, settings, with_key=True)
            contenders["notifying"] = runner("clutch", False, kind, settings + NOTIFYING)
        runs = {name: rates(results) for name, results in compare(contenders).items()}
        table.row("%s, 8 clients, sync %s, over fair" % (work, name), rate(runs["clutch"]), rate(runs["fair"]),
                  Ratio(runs["clutch"], runs["fair"]), at_least=bars.get("fair"))
        table.row("  over plain", "", rate(runs["plain"]), Ratio(runs["clutch"], runs["plain"]),
                  at_least=bars["plain"])
        if extras:
            table.row("  over the same table without checks", "", rate(runs["same"]), Ratio(runs["clutch"], runs["same"]))
            table.row("  by clutch.send, over fair", rate(runs["sent"]), "", Ratio(runs["sent"], runs["fair"]),
                      at_least=bars["fair"])
            table.row("  by clutch.send, over plain", "", "", Ratio(runs["sent"], runs["plain"]), at_least=bars["plain"])
        if more:
            table.row("  with an idempotency_key, over fair", rate(runs["keyed"]), "",
                      Ratio(runs["keyed"], runs["fair"]))
            table.row("  with clutch.notify = transaction, over fair", rate(runs["notifying"]), "",
                      Ratio(runs["notifying"], runs["fair"]))


def in_batches(table, kind, work, bars, extras):
    contenders = {log: runner(log, True, kind, SYNC_OFF, 1) for log in ("plain", "fair", "clutch")}
    if extras:
        contenders["same"] = runner("same", True, kind, SYNC_OFF, 1)
        contenders["keyed"] = runner("clutch", True, kind, SYNC_OFF, 1, with_key=True)
    runs = compare(contenders)
    cpu = {name: costs(results) for name, results in runs.items()}
    table.row("%s, batches of %d, CPU, over fair" % (work, BATCH), micros(cpu["clutch"]), micros(cpu["fair"]),
              Ratio(cpu["clutch"], cpu["fair"]), at_most=bars.get("fair"))
    table.row("  over plain", "", micros(cpu["plain"]), Ratio(cpu["clutch"], cpu["plain"]), at_most=bars["plain"])
    if extras:
        table.row("  over the same table without checks", "", micros(cpu["same"]), Ratio(cpu["clutch"], cpu["same"]))
        table.row("  with an idempotency_key, over fair", micros(cpu["keyed"]), "", Ratio(cpu["keyed"], cpu["fair"]))
    for log in ("fair", "plain"):
        table.row("  events per second, 1 client, over %s" % log, rate([r.rate * BATCH for r in runs["clutch"]]),
                  rate([r.rate * BATCH for r in runs[log]]), Ratio(rates(runs["clutch"]), rates(runs[log])))


def sealing():
    """Microseconds per event of clutch.seal(), which the worker calls some seconds later."""
    fresh_database(TEMPLATE)
    sql("SELECT clutch.seal();" + messages_before(SEALED, ("clutch",)))
    began = time.monotonic()
    sealed = int(sql("SELECT clutch.seal()"))
    return (time.monotonic() - began) * 1e6 / max(sealed, 1)


def measure_messages(table):
    template_database(TEMPLATE, SETUP)
    table.head("Append of a message, every check (references: fair and plain)")
    table.columns()
    one_by_one(table, "chat.message", "message", {"fair": 0.95, "plain": 0.85}, True)
    in_batches(table, "chat.message", "message", {"fair": 1.12, "plain": 1.27}, True)
    table.limit("  sealing it later, each event", interleave({"seal": sealing})["seal"], None, micros)


def measure_task_events(table):
    template_database(TEMPLATE, SETUP)
    table.head("Append of a task event, its state kept (references: fair and plain, which keep no task)")
    table.columns()
    one_by_one(table, "task.progress", "task.progress", {"plain": 0.75}, False)
    in_batches(table, "task.progress", "task.progress", {"plain": 1.55}, False)
