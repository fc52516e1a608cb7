"""psycopg 3: a parameter has the type of its Python value, but text has none."""
import json

import psycopg
from psycopg.types.json import Json, Jsonb
from psycopg.types.numeric import Int8

import story


class Driver:
    name = "psycopg"
    listens = True
    Error = psycopg.Error
    document = staticmethod(Jsonb)
    read = staticmethod(lambda value: value)            # jsonb comes as Python values
    sqlstate = staticmethod(lambda error: error.sqlstate)
    detail = staticmethod(lambda error: error.diag.message_detail)

    def __init__(self, **arguments):
        self.db = psycopg.connect("", autocommit=True, **arguments)
        self.heard = []
        self.db.add_notify_handler(self.heard.append)

    def call(self, sql, *arguments):
        return self.db.execute(sql.replace("?", "%s"), arguments or None).fetchall()

    def notified(self, seconds):
        for _ in range(seconds * 10):
            if self.heard:
                break
            self.db.execute("SELECT pg_sleep(0.1)")
        return bool(self.heard)


def main():
    driver = Driver(prepare_threshold=0)                # else it prepares at the fifth execution
    story.story(driver, "Jsonb")
    driver.name, driver.document = "psycopg-text", json.dumps
    story.story(driver, "json.dumps()")

    # Json is of type json, and Int8 of type bigint: neither is converted to what a function takes.
    finish = "SELECT late FROM clutch.finish(?, ?, ?, ?)"
    task_id = story.ask(driver, "typed")
    _, attempt, _, _ = story.claim(driver)
    story.check("Json is json", story.fault(driver, finish, story.AGENT, task_id, Json({}), attempt)[0], "42883")
    story.check("Int8 is bigint", story.fault(driver, finish, story.AGENT, task_id, Jsonb({}), Int8(attempt))[0], "42883")
    story.check("Json with ::jsonb, Int8 with ::int",
                driver.call("SELECT late FROM clutch.finish(?, ?, ?::jsonb, ?::int)",
                            story.AGENT, task_id, Json({"n": 1}), Int8(attempt)), [(False,)])
    batch = "SELECT clutch.send_batch(?)"
    story.check("a list of Jsonb is jsonb[]", story.fault(driver, batch, [Jsonb({"v": "clutch/0.1"})])[0], "KL001")
    story.check("a list of strings has no type", story.fault(driver, batch, [json.dumps({"v": "clutch/0.1"})])[0], "KL001")
    story.done()


if __name__ == "__main__":
    main()
