"""SQLAlchemy: text() with the type JSONB for documents.

The dialects are psycopg2, asyncpg and, where there is one (from 2.0 on), psycopg.
"""
import asyncio
import importlib.util
import json

import sqlalchemy
from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import create_async_engine

import story

loop = asyncio.new_event_loop()


class Driver:
    listens = True
    Error = sqlalchemy.exc.DBAPIError
    document = dict
    read = staticmethod(lambda value: value)            # jsonb comes as Python values

    def __init__(self, dialect):
        self.name = "sqlalchemy-" + dialect
        make, self.run = sqlalchemy.create_engine, lambda made: made
        if dialect == "asyncpg":
            make, self.run = create_async_engine, loop.run_until_complete
        engine = make("postgresql+%s://" % dialect, isolation_level="AUTOCOMMIT")
        self.db = self.run(engine.connect())
        self.heard = self.below()

    def call(self, sql, *arguments):
        values = {"p%d" % n: value for n, value in enumerate(arguments, 1)}
        documents = [bindparam(name, type_=JSONB) for name, value in values.items() if isinstance(value, dict)]
        statement = text(story.numbered(sql, ":p{}".format)).bindparams(*documents)
        return [tuple(row) for row in self.run(self.db.execute(statement, values))]

    # SQLAlchemy wraps the driver's error; asyncpg's is wrapped twice.
    @staticmethod
    def sqlstate(error):
        return getattr(error.orig, "pgcode", None) or error.orig.sqlstate

    @staticmethod
    def detail(error):
        diag = getattr(error.orig, "diag", None)
        return diag.message_detail if diag else error.orig.__cause__.detail

    def notified(self, seconds):
        for _ in range(seconds * 10):
            if self.heard or self.heard is None:
                return True
            self.call("SELECT 1 FROM pg_sleep(0.1)")
        return False

    def below(self):
        """What the driver below has heard; asyncpg, which has callbacks only, is asked nothing."""
        raw = None if self.run == loop.run_until_complete else self.db.connection.dbapi_connection
        if hasattr(raw, "add_notify_handler"):
            heard = []
            raw.add_notify_handler(heard.append)
            return heard
        return raw and raw.notifies

    def close(self):
        self.run(self.db.close())


def text_alone(driver):
    """Text without a type is enough for psycopg2 alone."""
    message = json.dumps({"v": "clutch/0.1"})
    try:
        driver.run(driver.db.execute(text("SELECT clutch.send(CAST(:message AS jsonb))"), {"message": message}))
        got = "no error"
    except driver.Error as error:
        got = driver.sqlstate(error)
    story.check("%s: text with CAST(.. AS jsonb)" % driver.name, got, "KL001")


def main():
    dialects = ["psycopg2", "asyncpg"]
    if importlib.util.find_spec("sqlalchemy.dialects.postgresql.psycopg"):
        dialects.append("psycopg")
    for dialect in dialects:
        driver = Driver(dialect)
        story.story(driver, dialect)
        text_alone(driver)
        driver.close()
    story.done()


if __name__ == "__main__":
    main()
