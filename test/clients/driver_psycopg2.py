"""psycopg2: parameters are literals without a type, so text is a document."""
import json
import select

import psycopg2
import psycopg2.extras

import story


class Driver:
    name = "psycopg2"
    listens = True
    Error = psycopg2.Error
    document = staticmethod(json.dumps)
    read = staticmethod(lambda value: value)            # jsonb comes as Python values
    sqlstate = staticmethod(lambda error: error.pgcode)
    detail = staticmethod(lambda error: error.diag.message_detail)

    def __init__(self):
        self.db = psycopg2.connect("", application_name="test")
        self.db.autocommit = True

    def call(self, sql, *arguments):
        with self.db.cursor() as cursor:
            cursor.execute(sql.replace("?", "%s"), arguments)
            return cursor.fetchall()

    def notified(self, seconds):
        self.db.poll()
        if not self.db.notifies:
            select.select([self.db], [], [], seconds)
            self.db.poll()
        return bool(self.db.notifies)


def main():
    driver = Driver()
    story.story(driver, "json.dumps()")
    driver.name, driver.document = "psycopg2-json", psycopg2.extras.Json
    story.story(driver, "Json")
    batch = [json.dumps({"v": "clutch/0.1"})]
    story.check("a list of strings is text[]", story.fault(driver, "SELECT clutch.send_batch(?)", batch)[0], "42883")
    story.check("with ::jsonb[] it reaches send_batch",
                story.fault(driver, "SELECT clutch.send_batch(?::jsonb[])", batch)[0], "KL001")
    story.done()


if __name__ == "__main__":
    main()
