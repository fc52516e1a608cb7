"""Delegating: a request, the choice, the decision and the assignment.

clutch does it in one INSERT.  The references are clients, with the arrays of
registry.py, that need six round trips.

The fair client keeps what clutch keeps: BEGIN; INSERT the request into `fair`;
SELECT the choice by the current load; INSERT the decision; in one statement,
take a place at the agent unless it is full by now, and write its load, the task
and a row of the queue; COMMIT.  It leaves out all checks, the lease, and what
happens to the task later, and its limit binds only those who use this very
statement.

The older client is cheaper: BEGIN; INSERT request; SELECT choice; INSERT
decision; INSERT the assigned request; COMMIT, over `plain`.  It counts no load,
takes no limit and keeps no task.
"""
from append import (COLUMNS, SINGLE, SYNC_ON, as_text, concat_of, envelope_of, ids_of_message,
                    insert, literal)
from measure import Ratio, fresh_database, interleave, micros, pgbench, rate, require_assigned
from registry import RANKED, SCORE, SIZES, SKILLS, TAGS, TOOLS, team_database

BARS = {50: 1.6, 1000: 2.5, 10000: 4.0}
WARM = 1


def request_envelope(to_agent="agent:orchestrator"):
    envelope = envelope_of("task.request")
    envelope.update(requires=["skill:s~skill~"], prefers=["tool:t~tool~", "tag:v~tag~"],
                    to=[{"agent_id": to_agent}])
    return envelope


def ids_of_request(batch):
    """Each request has a task of its own; its number selects the skill, in turn."""
    k = "k" if batch else ":k::bigint"
    ids = ids_of_message(batch)
    ids.update(task_id="concat('task_', %s)" % k, skill="(%s %% %d)::text" % (k, SKILLS),
               tag="(%s / %d %% %d)::text" % (k, SKILLS, TAGS),
               tool="(%s / %d %% %d)::text" % (k, SKILLS * TAGS, TOOLS))
    return ids


def one_insert(batch=False):
    return insert("clutch", batch, request_envelope(), ids_of_request(batch))


def choose(ids, team):
    """The best agent, and the best 20 with their scores."""
    names = {name: "concat(%s, %s)" % (literal(prefix), ids[name])
             for name, prefix in (("skill", "skill:s"), ("tag", "v"), ("tool", "tool:t"))}
    ranked = " ".join(RANKED.format(team=team, **names).split())
    return ("SELECT (array_agg(agent_id))[1] AS agent, jsonb_object_agg(agent_id, score) AS scores "
            "FROM (SELECT a.agent_id, %s AS score %s LIMIT 20) best\\gset\n" %
            (SCORE.format(**names), ranked))


def append_row(table, envelope, text, suffix="", name_of_seq=None):
    row = dict(text, id="concat('msg_', :k::text, '%s')" % suffix)
    again = " ON CONFLICT (id, run_id) DO NOTHING" if table == "fair" else ""
    end = " RETURNING seq AS %s\\gset\n" % name_of_seq if name_of_seq else ";\n"
    return ("INSERT INTO %s (%s, body) VALUES (%s, %s::jsonb)%s%s" %
            (table, ", ".join(COLUMNS), ", ".join(row[name] for name in COLUMNS),
             concat_of(envelope, row), again, end))


def decision_envelope():
    decision = envelope_of("routing.decision")
    decision.update(payload={"selected": "~agent~", "request": "~id~", "scores": "~~scores~~",
                             "reason": "best of those that have what is required"})
    return decision


def texts_of_request():
    return dict(as_text(ids_of_request(False)), agent=":agent::text", scores=":scores::text")


def older_client():
    text = texts_of_request()
    return (SINGLE + "BEGIN;\n" + append_row("plain", request_envelope(), text) +
            choose(ids_of_request(False), "team") +
            append_row("plain", decision_envelope(), text, "d") +
            append_row("plain", request_envelope("~agent~"), text, "a") + "COMMIT;\n")


TAKE = """WITH taken AS (
    UPDATE fair_team SET running = running + 1, last_chosen = :decision::bigint
    WHERE agent_id = :agent::text AND running < max_concurrency RETURNING agent_id
), kept AS (
    INSERT INTO fair_task (task_id, run_id, status, agent_id, attempt, request_seq, created_at)
    SELECT {task_id}, {run_id}, 'assigned', agent_id, 1, :request::bigint, now() FROM taken
) INSERT INTO fair_ready (agent_id, urgency, task_id) SELECT agent_id, 2, {task_id} FROM taken;
"""


def fair_client(with_assigned_request=False):
    """As above; or with the assigned request as a third event, which the letter of the spec demands."""
    text = texts_of_request()
    assigned = append_row("fair", request_envelope("~agent~"), text, "a") if with_assigned_request else ""
    return (SINGLE + "BEGIN;\n" + append_row("fair", request_envelope(), text, name_of_seq="request") +
            choose(ids_of_request(False), "fair_team") +
            append_row("fair", decision_envelope(), text, "d", name_of_seq="decision") + assigned +
            " ".join(TAKE.format(**text).split()) + "\nCOMMIT;\n")


def delegated(script):
    run = pgbench(script, warm=WARM, settings=SYNC_ON)
    require_assigned()
    return run


def measure_delegation(table):
    table.head("Delegation, 8 clients, sync on (reference: the fair client, six round trips)")
    table.columns("fair client")
    scripts = {"clutch": one_insert(), "fair": fair_client(), "third": fair_client(True), "older": older_client()}
    contenders = {name: lambda script=script: delegated(script) for name, script in scripts.items()}
    for size in SIZES:
        template = team_database(size)
        runs = interleave(contenders, lambda: fresh_database(template))
        rates = {name: [r.rate for r in runs[name]] for name in runs}
        costs = {name: [r.cpu for r in runs[name]] for name in runs}
        table.row("{:,} agents of limit 1,000,000".format(size), rate(rates["clutch"]), rate(rates["fair"]),
                  Ratio(rates["clutch"], rates["fair"]), at_least=BARS[size])
        table.row("  CPU of backends, their start included", micros(costs["clutch"]), micros(costs["fair"]),
                  Ratio(costs["clutch"], costs["fair"]))
        for name, what in (("third", "  client that logs the assigned request, too"),
                           ("older", "  older client: no load, limit, task or queue")):
            table.row(what, "", rate(rates[name]), Ratio(rates["clutch"], rates[name]))
