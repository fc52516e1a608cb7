"""Delegating: a request, the choice, the decision and the assignment.

clutch does it in one INSERT.  The reference is a client that does it in six
round trips over the unchecked table and the arrays: BEGIN, INSERT request,
SELECT choice, INSERT decision, INSERT assigned request, COMMIT.  It keeps no
load and no task, which is in its favour.
"""
from append import (COLUMNS, PLAIN, SINGLE, SYNC_ON, as_text, concat_of, envelope_of,
                    ids_of_message, insert, literal)
from measure import Ratio, fresh_database, interleave, micros, pgbench, rate
from registry import RANKED, SCORE, SIZES, SKILLS, TAGS, TOOLS, team_database

BARS = {50: 1.6, 1000: 2.0, 10000: 4.0}
WARM = 1


def request_envelope(to_agent="agent:orchestrator"):
    envelope = envelope_of("task.request")
    envelope.update(requires=["skill:s~skill~"], prefers=["tool:t~tool~", "tag:v~tag~"],
                    to=[{"agent_id": to_agent}])
    return envelope


def ids_of_request(batch):
    """A task of its own for each; what is asked for goes round with its number."""
    k = "k" if batch else ":k::bigint"
    ids = ids_of_message(batch)
    ids.update(task_id="concat('task_', %s)" % k, skill="(%s %% %d)::text" % (k, SKILLS),
               tag="(%s / %d %% %d)::text" % (k, SKILLS, TAGS),
               tool="(%s / %d %% %d)::text" % (k, SKILLS * TAGS, TOOLS))
    return ids


def one_insert(batch=False):
    return insert("clutch", batch, request_envelope(), ids_of_request(batch))


def choose(ids):
    names = {name: "concat(%s, %s)" % (literal(prefix), ids[name])
             for name, prefix in (("skill", "skill:s"), ("tag", "v"), ("tool", "tool:t"))}
    return ("SELECT (array_agg(agent_id))[1] AS agent, jsonb_object_agg(agent_id, score) AS scores "
            "FROM (SELECT a.agent_id, %s AS score %s LIMIT 20) best\\gset\n" %
            (SCORE.format(**names), " ".join(RANKED.format(**names).split())))


def append_row(envelope, text, suffix=""):
    row = dict(text, id="concat(:k::text, '%s')" % suffix)
    return ("INSERT INTO plain (%s, body) VALUES (%s, %s::jsonb);\n" %
            (", ".join(COLUMNS), ", ".join(row[name] for name in COLUMNS), concat_of(envelope, row)))


def six_round_trips():
    ids = ids_of_request(False)
    text = dict(as_text(ids), agent=":agent::text", scores=":scores::text")
    decision = envelope_of("routing.decision")
    decision.update(payload={"selected": "~agent~", "request": "~id~", "scores": "~~scores~~",
                             "reason": "best of those that have what is required"})
    return (SINGLE + "BEGIN;\n" + append_row(request_envelope(), text) + choose(ids) +
            append_row(decision, text, "d") + append_row(request_envelope("~agent~"), text, "a") +
            "COMMIT;\n")


def measure_delegation(table):
    table.head("Delegation, 8 clients, sync on (reference: six round trips of a client)")
    table.columns()
    contenders = {"trips": lambda: pgbench(six_round_trips(), warm=WARM, settings=SYNC_ON),
                  "clutch": lambda: pgbench(one_insert(), warm=WARM, settings=SYNC_ON)}
    for size in SIZES:
        template = team_database(size)
        runs = interleave(contenders, lambda: fresh_database(template))
        ours, theirs = runs["clutch"], runs["trips"]
        table.row("{:,} agents of limit 1,000,000".format(size), rate([r.rate for r in ours]),
                  rate([r.rate for r in theirs]),
                  Ratio([r.rate for r in ours], [r.rate for r in theirs]), at_least=BARS[size])
        table.row("  CPU of backends, their start included", micros([r.cpu for r in ours]), micros([r.cpu for r in theirs]),
                  Ratio([r.cpu for r in ours], [r.cpu for r in theirs]))
