"""Fills a database with millions of tasks in minutes.

A few tasks are made with the ordinary calls.  The rows that they have left in
the log and in the tables of state are then copied, with ids and numbers of their
own.  The columns are read from the catalog, so columns that are added to a table
are copied, too.  In the end clutch.check() must find nothing wrong.

Copied events come with their seq, as from a dump, and are not validated again.
"""
import os

from measure import note, sql

SCALE = float(os.environ.get("BENCH_SCALE", "1"))     # factor for all these numbers, for trial runs


def scaled(number):
    return max(100, int(number * SCALE))


SETUP = """
CREATE EXTENSION clutch;
SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', '%s',
    'display', '{"name": "Worker", "desc": "takes everything"}'::jsonb,
    'capabilities', '[{"id": "skill:research", "version": "1.0"}, {"id": "tool:browser"}]'::jsonb,
    'limits', jsonb_build_object('max_concurrency', %d, 'max_runtime_sec', 86400, 'heartbeat_sec', 0),
    'security', '{"sandbox": true, "network": "none"}'::jsonb));
"""

# One task that is done, one in flight, one that can be claimed.
SAMPLES = """
INSERT INTO clutch.events (envelope) SELECT clutch.envelope(type => 'task.request', from_agent => 'agent:client',
    to_agents => '{agent:worker}', payload => '{"goal": "full"}', requires => '{skill:research}',
    run_id => 'run_sample', thread_id => 'thr_sample', task_id => 'sample_done');
SELECT task_id FROM clutch.claim('agent:worker');
SELECT clutch.finish('agent:worker', 'sample_done');
INSERT INTO clutch.events (envelope) SELECT clutch.envelope(type => 'task.request', from_agent => 'agent:client',
    to_agents => '{agent:worker}', payload => '{"goal": "full"}', requires => '{skill:research}',
    run_id => 'run_sample', thread_id => 'thr_sample', task_id => 'sample_flight');
SELECT task_id FROM clutch.claim('agent:worker', 1, '1 day');
INSERT INTO clutch.events (envelope) SELECT clutch.envelope(type => 'task.request', from_agent => 'agent:client',
    to_agents => '{agent:worker}', payload => '{"goal": "full"}', requires => '{skill:research}',
    run_id => 'run_sample', thread_id => 'thr_sample', task_id => 'sample_ready');
"""


class Filling:
    """A database that is being filled; i is the number of its tasks."""

    def __init__(self, database):
        self.database = database
        self.next_i = 1
        self.session = "SET synchronous_commit = off; SET work_mem = '256MB';\n"

    def sql(self, statements):
        return sql(self.session + statements, self.database)

    def number(self, query):
        return int(self.sql(query) or 0)

    def copy(self, table, where, first, count, **values):
        """Copies a row of clutch.<table>; each of the values replaces a column that is not null in it."""
        columns = self.sql("SELECT attname FROM pg_attribute WHERE attrelid = 'clutch.%s'::regclass "
                           "AND attnum > 0 AND NOT attisdropped ORDER BY attnum" % table).split("\n")
        made = ["CASE WHEN s.%s IS NOT NULL THEN %s END" % (name, values[name]) if name in values else "s." + name
                for name in columns]
        self.sql("INSERT INTO clutch.%s (%s) SELECT %s FROM (SELECT * FROM clutch.%s WHERE %s) s, "
                 "generate_series(%d, %d) i" % (table, ", ".join(columns), ", ".join(made), table, where,
                                                first, first + count - 1))

    def tasks(self, sample, count):
        """Adds tasks like the sample: its events, its row, and its places in the queues."""
        first, self.next_i = self.next_i, self.next_i + count
        note("%s: %d x %s" % (self.database, count, sample))
        ids = {"run_id": "'run_' || i / 10", "thread_id": "'thr_' || i / 10", "task_id": "'task_full_' || i"}
        seq = self.number("SELECT last_value FROM clutch.event_seq")
        queue_no = "%d + i" % self.number("SELECT last_value - %d FROM clutch.queue_no" % (first - 1))
        slot = self.number("SELECT max(slot_no) FROM clutch.agent_slot") + 1
        seqs = {}
        logged = self.sql("SELECT type FROM clutch.events WHERE task_id = '%s' ORDER BY seq" % sample).split("\n")
        for step, kind in enumerate(logged):
            seqs[kind] = "%d + i" % (seq + step * count + 1 - first)
            names = ", ".join("'%s', %s" % item for item in ids.items())
            self.copy("events", "task_id = '%s' AND type = '%s'" % (sample, kind), first, count,
                      seq=seqs[kind], xid="pg_current_xact_id()", id="type || i",
                      envelope="s.envelope || jsonb_build_object('id', type || i, %s)" % names, **ids)
        held = {"slot_no": "%d + i" % (slot - first), "queue_no": queue_no}
        self.copy("task", "task_id = '%s'" % sample, first, count, request_seq=seqs["task.request"],
                  result_seq=seqs.get("task.result", "NULL::bigint"), **dict(ids, **held))
        place = {"task_id": ids["task_id"], "queue_no": queue_no}
        for queue in ("ready", "waiting", "timer"):
            self.copy(queue, "task_id = '%s'" % sample, first, count, **place)
        self.copy("agent_slot", "task_id = '%s'" % sample, first, count, slot_no=held["slot_no"],
                  task_id=ids["task_id"], chosen_seq=seqs["task.request"])
        self.sql("SELECT setval('clutch.event_seq', %d), setval('clutch.queue_no', last_value + %d) "
                 "FROM clutch.queue_no" % (seq + len(logged) * count, count))

    def offer(self):
        """Tasks that nobody claims are offered to other agents once; in an old database this has been done."""
        while self.number("SELECT count(*) FROM clutch.timer WHERE due < now() + interval '1 hour'"):
            self.sql("SET clutch.tick_batch = 10000;\nSELECT clutch.tick();\nSELECT pg_sleep(0.1);")

    def finish(self):
        """Gives the database statistics, hint bits and seals, like those of an old one, and checks it."""
        self.offer()
        while self.number("SELECT clutch.seal()"):
            pass
        sql("VACUUM ANALYZE;\nCHECKPOINT;", self.database)
        wrong = self.sql("SELECT code || ' ' || detail FROM clutch.check()")
        if wrong:
            raise RuntimeError("%s is not as clutch would have it: %s" % (self.database, wrong))


def filled(name, setup, *tasks):
    """Makes a database with tasks like each sample: ("sample_done", 1000000), ..."""
    sql("DROP DATABASE IF EXISTS %s WITH (FORCE);\nCREATE DATABASE %s;" % (name, name), "postgres")
    sql(setup, name)
    filling = Filling(name)
    for sample, count in tasks:
        filling.tasks(sample, count)
    filling.finish()
    return name
