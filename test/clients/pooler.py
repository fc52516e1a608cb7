"""The drivers behind pgbouncer with pool_mode = transaction.  pooler.py VERSION

Several clients of each driver take turns on two server connections, each statement from
another client.  Before 1.21 a prepared statement exists on one of these connections and
its client may be on the other, so the drivers must prepare none; from then on they may.
"""
import itertools
import sys

import driver_asyncpg
import driver_psycopg
import driver_psycopg2
import story

TRACKS = [int(part) for part in sys.argv[1].split(".")[:2]] >= [1, 21]


class Turns:
    """Three clients; each call is the next one's."""
    listens = False

    def __init__(self, name, driver, **arguments):
        self.name = name
        self.clients = [driver(**arguments) for _ in range(3)]
        self.turn = itertools.cycle(self.clients)
        self.Error, self.document, self.read = driver.Error, driver.document, driver.read
        self.sqlstate, self.detail = driver.sqlstate, driver.detail

    def call(self, sql, *arguments):
        return next(self.turn).call(sql, *arguments)


def prepared(driver, **arguments):
    """SQLSTATE of a statement whose server connection another client uses meanwhile."""
    client, other = driver(**arguments), driver_psycopg2.Driver()
    client.call("SELECT ?::int", 1)
    other.db.autocommit = False
    other.call("SELECT 1")
    state = story.fault(client, "SELECT ?::int", 2)[0]
    other.db.rollback()
    return state


story.story(Turns("psycopg2", driver_psycopg2.Driver), "psycopg2")
story.story(Turns("psycopg", driver_psycopg.Driver, prepare_threshold=None), "psycopg, prepare_threshold=None")
story.story(Turns("asyncpg", driver_asyncpg.Driver, statement_cache_size=0), "asyncpg, statement_cache_size=0")
if TRACKS:
    story.story(Turns("psycopg-prepared", driver_psycopg.Driver, prepare_threshold=0), "psycopg, prepared")
    story.story(Turns("asyncpg-prepared", driver_asyncpg.Driver), "asyncpg, prepared")
else:
    story.check("psycopg, prepared", prepared(driver_psycopg.Driver, prepare_threshold=0), "26000")
    story.check("asyncpg, prepared", prepared(driver_asyncpg.Driver), "26000")

# clutch.listen can tell where pgbouncer has prepared a statement.
listener = driver_psycopg.Driver(prepare_threshold=0 if TRACKS else None)
said = []
listener.db.add_notice_handler(lambda notice: said.append(notice.message_primary))
listener.call("SELECT ?::int", 1)
listener.call("SELECT clutch.listen('agent', ?)", story.AGENT)
story.check("clutch.listen says that it does nothing, if it can tell", said,
            ["clutch.listen() does nothing behind a transaction pooler"] if TRACKS else [])

# The role of the server connection counts: here one that may be several others.
with listener.db.transaction():
    listener.call("SELECT set_config('role', ?, true)", "clutch_client")
    story.check("SET LOCAL ROLE in the transaction", listener.call("SELECT current_user::text"), [("clutch_client",)])
story.done()
