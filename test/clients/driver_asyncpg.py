"""asyncpg: every statement is prepared, and the server says of which type a parameter is."""
import asyncio
import json

import asyncpg

import story

loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)


class Driver:
    name = "asyncpg"
    listens = True
    Error = asyncpg.PostgresError
    document = staticmethod(json.dumps)
    read = staticmethod(json.loads)                     # jsonb comes as text
    sqlstate = staticmethod(lambda error: error.sqlstate)
    detail = staticmethod(lambda error: error.detail)

    def __init__(self, **arguments):
        self.db = loop.run_until_complete(asyncpg.connect(**arguments))
        self.heard = asyncio.Event()
        self.listener = lambda *_: self.heard.set()

    def call(self, sql, *arguments):
        rows = loop.run_until_complete(self.db.fetch(story.numbered(sql, "${}".format), *arguments))
        if "clutch.listen" in sql:                      # it has a list of its own of what it listens to
            loop.run_until_complete(self.db.add_listener(rows[0][0], self.listener))
        return rows

    def notified(self, seconds):
        loop.run_until_complete(asyncio.wait_for(self.heard.wait(), seconds))
        return True


def main():
    driver = Driver()
    story.story(driver, "json.dumps()")

    # The server says that attempt is an integer, so any int fits; a document must be text.
    task_id = story.ask(driver, "typed")
    _, attempt, _, _ = story.claim(driver)
    try:
        got = driver.call("SELECT late FROM clutch.finish(?, ?, ?, ?)", story.AGENT, task_id, {"n": 1}, attempt)
    except asyncpg.DataError:
        got = "DataError"
    story.check("a dict is refused", got, "DataError")
    driver.call("SELECT late FROM clutch.finish(?, ?, ?, ?)", story.AGENT, task_id, "{}", attempt)

    # With a codec, documents are Python values in both directions.
    loop.run_until_complete(driver.db.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads))
    driver.name, driver.document, driver.read = "asyncpg-codec", dict, lambda value: value
    story.story(driver, "dict with a codec")
    story.check("a list of dicts reaches send_batch",
                story.fault(driver, "SELECT clutch.send_batch(?)", [{"v": "clutch/0.1"}])[0], "KL001")
    story.done()


if __name__ == "__main__":
    main()
