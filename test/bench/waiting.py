"""Tasks that wait for an agent: offering a freed slot, and an idle claim beside a stranger's requests."""
import time

from append import CLIENTS, SINGLE, SYNC_OFF, concat_of, envelope_of, literal
from filling import SETUP, Filling, scaled
from measure import Ratio, interleave, micros, millis, pgbench, rate, sql, template_database
from pace import connect

# --------------------------------------------------------------- freed slots

PENDING = scaled(1000000)
FEW = 1000
KINDS, AGENTS = 100, 50
PLAYED = 48         # agents that work: a multiple of the clients, so that no two share one
FREED = "clutch_bench_freed"

# Agent a has skills 2a and 2a + 1, so it fits two kinds.  Two requests of each
# kind are sent: the first fills an agent, the second waits and is then copied.
TEAM = """
CREATE EXTENSION clutch;
SET clutch.notify = off;
SELECT count(*) FROM generate_series(0, %(agents)d - 1) a, clutch.register(jsonb_build_object('v', 'clutch/0.1',
    'agent_id', 'agent:' || a, 'display', '{"name": "Worker"}'::jsonb,
    'capabilities', jsonb_build_array(jsonb_build_object('id', 'skill:s' || 2 * a), jsonb_build_object('id', 'skill:s' || 2 * a + 1)),
    'limits', '{"max_concurrency": 2, "heartbeat_sec": 0}'::jsonb, 'security', '{"sandbox": true, "network": "none"}'::jsonb));
INSERT INTO clutch.events (envelope)
SELECT clutch.envelope(type => 'task.request', from_agent => 'agent:client', run_id => 'run_team', thread_id => 'thr_team',
    task_id => 'task_team_' || i, requires => ARRAY['skill:s' || i %% %(kinds)d])
FROM generate_series(0, 2 * %(kinds)d - 1) i;
""" % {"agents": AGENTS, "kinds": KINDS}


def freed_database(name, pending):
    template_database(name, TEAM)
    filling = Filling(name)
    for sample in filling.sql("SELECT task_id FROM clutch.task WHERE status = 'pending'").split("\n"):
        filling.tasks(sample, pending // KINDS - 1)
    filling.finish()


def finish_and_ask():
    """
    One task of an agent is finished and a new request takes its place among those
    that wait, so their number stays the same.
    """
    envelope = envelope_of("task.request")
    envelope.update(prefers=[], requires=["~skill~"], security={"policy": {"sandbox": True}})
    text = concat_of(envelope, {
        "id": ":k::text", "run_id": ":group::text", "thread_id": ":group::text", "task_id": "concat('task_', :k::text)",
        "from_agent": literal("agent:client"), "skill": "concat(%s, :skill::text)" % literal("skill:s")})
    return (SINGLE + "\\set a (:n * {0} + :client_id) % {1}\n\\set skill 2 * :a + :n / {1} % 2\n\\set got 0\n"
            "INSERT INTO clutch.events (envelope) VALUES ({2}::jsonb);\n"
            "SELECT 1 AS got, task_id, agent_id FROM clutch.agent_slot "
            "WHERE agent_id = concat({3}, :a::text) AND task_id IS NOT NULL LIMIT 1\\aset\n"
            "\\if :got\nSELECT clutch.finish(:agent_id, :task_id);\n\\endif\n").format(
                CLIENTS, PLAYED, text, literal("agent:"))


def measure_freed(table):
    table.head("clutch.finish frees a slot, {:,} pending in {} kinds of requires, {} agents of limit 2, sync off "
               "(reference: 1,000 pending)".format(PENDING, KINDS, AGENTS))
    table.columns("1,000 pending")
    few, many = FREED + "_few", FREED + "_many"
    for name, pending in ((few, FEW), (many, PENDING)):
        freed_database(name, pending)
    for clients in (1, CLIENTS):
        contenders = {name: lambda name=name: pgbench(finish_and_ask(), clients, settings=SYNC_OFF, database=name,
                                                      statement="clutch.finish") for name in (few, many)}
        runs = {name: [run.rate for run in results] for name, results in interleave(contenders).items()}
        table.row("%d client%s" % (clients, "s" if clients > 1 else ""), rate(runs[many]), rate(runs[few]),
                  Ratio(runs[many], runs[few]), at_least=0.90)
    for name in (few, many):
        sql("DROP DATABASE %s" % name, "postgres")


# ----------------------------------------------------------------- a stranger

STRANGER = "clutch_bench_stranger"
STRANGE_KINDS = scaled(20000)

# Each request requires another skill, which no agent has.  clutch may refuse a
# request when one requester has too many kinds; such a request is counted.
ASK = """
CREATE TEMP TABLE refused (kind int);
SET clutch.notify = off;
DO $$
BEGIN
    FOR kind IN 1 .. %d LOOP
        BEGIN
            INSERT INTO clutch.events (envelope)
            SELECT clutch.envelope(type => 'task.request', from_agent => 'agent:stranger',
                run_id => 'run_strange', thread_id => 'thr_strange', task_id => 'task_strange_' || kind,
                requires => ARRAY['skill:strange' || kind]);
        EXCEPTION WHEN program_limit_exceeded OR configuration_limit_exceeded OR insufficient_resources THEN
            INSERT INTO refused VALUES (kind);
        END;
    END LOOP;
END $$;
SELECT count(*) FROM refused;
"""
CLAIM = "SELECT * FROM clutch.claim(%s);\n" % literal("agent:worker")


def first_claim(database):
    """Milliseconds of the first claim of a session that has called another function before."""
    connection = connect("SELECT clutch.heartbeat('agent:worker')", database)
    began = time.monotonic()
    connection.cursor().execute("SELECT * FROM clutch.claim('agent:worker')")
    took = (time.monotonic() - began) * 1000
    connection.close()
    return took


def idle_claim(database):
    """Microseconds of a claim that finds nothing, in a session that does nothing else."""
    return 1e6 / pgbench(CLAIM, clients=1, settings=SYNC_OFF, database=database).rate


def measure_stranger(table):
    alone, beside = STRANGER + "_no", STRANGER + "_yes"
    for name in (alone, beside):
        template_database(name, SETUP % ("agent:worker", 1000))
    refused = int(sql(ASK % STRANGE_KINDS, beside))
    sql("VACUUM ANALYZE", beside)
    waits = int(sql("SELECT count(*) FROM clutch.tasks WHERE status = 'pending'", beside))
    table.head("An idle claim beside {:,} requests of one stranger, each of another kind, {:,} refused "
               "(reference: nothing waits)".format(waits, refused))
    table.columns("nothing waits")
    for work, measured, shown, bar in (("claim, one after the other", idle_claim, micros, 2.0),
                                       ("  the first of a session", first_claim, millis, None)):
        runs = interleave({name: lambda name=name: measured(name) for name in (alone, beside)})
        table.row(work, shown(runs[beside]), shown(runs[alone]), Ratio(runs[beside], runs[alone]), at_most=bar)
    for name in (alone, beside):
        sql("DROP DATABASE %s WITH (FORCE)" % name, "postgres")
