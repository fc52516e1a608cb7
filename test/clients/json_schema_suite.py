#!/usr/bin/python3
"""The official JSON-Schema-Test-Suite against clutch.register_schema and clutch.validate_payload.

    json_schema_suite.py FOLDER [--draft7] [PART...]

FOLDER is a checkout of github.com/json-schema-org/JSON-Schema-Test-Suite, which is not a part of this project.
PART is a file below tests/draft2020-12 or, with --draft7, tests/draft7, without its ending, such as
optional/format/date; without any, the required part is run, which is every file directly in that folder.  For the
files of optional/format, formats are asserted.  Schemas of draft-07 get its $schema, which they do not have there.

The documents of remotes/ are registered first, under their URLs; nothing is fetched.  Everything happens in the
database of the PG* environment, in one transaction that is rolled back.  Prints each case that fails, and ends with
"N passed, N failed".  The exit status is 0 if at least 99 % pass.
"""
import glob
import json
import os
import sys

import psycopg2

DRAFTS = {"draft2020-12": None, "draft7": "http://json-schema.org/draft-07/schema#"}
OTHERS = ("draft3", "draft4", "draft6", "draft7", "draft2019", "draft2020", "v1")
LEAST = 0.99


def in_draft(document, draft):
    """The document, which says that it is a schema of this draft unless the validator assumes so."""
    dialect = DRAFTS[draft]
    return {"$schema": dialect, **document} if dialect and isinstance(document, dict) else document


def remotes(folder, draft):
    """Yields (URL, document); one with an $id of its own is wrapped in one that has the URL."""
    root = os.path.join(folder, "remotes")
    for path in sorted(glob.glob(os.path.join(root, "**", "*.json"), recursive=True)):
        name = os.path.relpath(path, root)
        if name.startswith(OTHERS) and not name.startswith(draft):
            continue
        with open(path, encoding="utf-8") as stream:
            document = in_draft(json.load(stream), draft)
        url = "http://localhost:1234/" + name
        if isinstance(document, dict) and document.get("$id", url) != url:
            document = {"$id": url, "$ref": document["$id"], "$defs": {"document": document}}
        elif isinstance(document, dict):
            document["$id"] = url
        yield url, document


class Suite:
    def __init__(self, folder, draft):
        self.folder = folder
        self.draft = draft
        self.connection = psycopg2.connect("")
        self.cursor = self.connection.cursor()
        self.passed = self.failed = self.groups = 0

    def attempt(self, statement, arguments):
        """The rows, or the error as a string."""
        self.cursor.execute("SAVEPOINT attempt")
        try:
            self.cursor.execute(statement, arguments)
            rows = self.cursor.fetchall()
            self.cursor.execute("RELEASE attempt")
            return rows
        except psycopg2.Error as error:
            self.cursor.execute("ROLLBACK TO attempt")
            return str(error).split("\n")[0]

    def register(self, name, document):
        return self.attempt("SELECT clutch.register_schema(%s, %s::jsonb, compatibility => 'none')",
                            (name, json.dumps(document)))

    def register_remotes(self):
        """Those that refer to others come after them, whatever their order is."""
        left = list(remotes(self.folder, self.draft))
        while left:
            said = [(url, document, self.register(f"remote.n{number}.{len(left)}", document))
                    for number, (url, document) in enumerate(left)]
            again = [(url, document) for url, document, answer in said if isinstance(answer, str)]
            if len(again) == len(left):
                for url, _, answer in said:
                    print(f"# remote {url}: {answer}")
                return
            left = again

    def case(self, place, case, name, registered):
        if isinstance(registered, str):
            answer = registered
        else:
            answer = self.attempt("SELECT * FROM clutch.validate_payload(%s, %s::jsonb)",
                                  (name, json.dumps(case["data"])))
        if not isinstance(answer, str) and (not answer) == case["valid"]:
            self.passed += 1
            return
        self.failed += 1
        print(f"not ok: {place} / {case['description']}: {answer if answer else 'valid'}")

    def file(self, part):
        path = os.path.join(self.folder, "tests", self.draft, part + ".json")
        self.cursor.execute("SET clutch.assert_formats = %s", ("on" if part.startswith("optional/format/") else "off",))
        with open(path, encoding="utf-8") as stream:
            groups = json.load(stream)
        for group in groups:
            self.groups += 1
            name = f"suite.g{self.groups}"
            self.cursor.execute("SAVEPOINT one_group")
            registered = self.register(name, in_draft(group["schema"], self.draft))
            for case in group["tests"]:
                self.case(f"{part} / {group['description']}", case, name, registered)
            self.cursor.execute("ROLLBACK TO one_group")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    draft = "draft7" if "--draft7" in sys.argv else "draft2020-12"
    suite = Suite(sys.argv[1], draft)
    parts = [part for part in sys.argv[2:] if part != "--draft7"] or sorted(os.path.basename(path)[:-len(".json")] for path in
                                   glob.glob(os.path.join(sys.argv[1], "tests", draft, "*.json")))
    suite.register_remotes()
    for part in parts:
        suite.file(part)
    suite.connection.rollback()
    print(f"{suite.passed} passed, {suite.failed} failed")
    return 0 if suite.passed and suite.passed >= LEAST * (suite.passed + suite.failed) else 1


if __name__ == "__main__":
    sys.exit(main())
