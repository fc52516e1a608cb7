#!/usr/bin/python3
"""Texts of JSON with credentials in them, against a live backend and the JSON of Python.

    credentials.py [COUNT [DSN]]    20,000 of them; the database of the PG* environment

Makes up texts of JSON: members with the names of credentials, some of them several times, texts
that look like credentials, and texts of JSON in them, written with all kinds of escapes and blanks;
a third of them are damaged afterwards.  Each becomes a member of a document that is handed to
clutch.drop_credentials.  What Python reads from a text says what should be left.  Fails

    - on an internal error (XX...), a lost connection, a statement that hangs
    - if a credential is left, or anything else is missing or different
    - if the paths are not those of what is missing, in their order
    - if a text without credentials is not what it was, byte for byte; a text that is no JSON may
      only lose the values that have both the name and the form of a credential, and a digit

CLUTCH_FUZZ_SEED names the sequence; the one that failed is printed.
"""
import collections
import json
import os
import random
import re
import sys
import time

import psycopg2

BATCH = 50

CREDENTIAL_NAMES = ["password", "dbPassword", "PASS_WORD", "pass\nword", "pass\x00word", "api-key", "apiKey", "token", "pwd", "P\U0001f9a9W\u00fcD",
                    "auth", "jwt", "Bearer", "sessionid", "encryption_key"]
NAMES = ["sessionId", "q", "a/b", "~", "", "\u00fc", "passwordless", "max_tokens", "\"", "\\", "tokens", "k\x00"]
VALUES = ["abcdefgh12345678", "abcdefgh12345678abcdefgh", "SCRAM-SHA-256", "kT9/xq2LmN4vB7sZ1cW8pR5yH3jD==", "src/auth/v2/login_2026.py", "dXNlcjpwYXNz", "oauth2", "", "x", "a \"b\"\\", "\u00fc\U0001f9a9", "Bearer of good news", "Bearer", "{", "[1", "{\"password\": 1", "a\nb\x00", "}", "```\n{}", "[INFO] up", "/", "{}", "[]", "\"\""]
CREDENTIALS = ["Bearer abcdefgh12345678", "bearer  a/b+c=d-e.f~1", "Bearer abcdefgh12345678\n"]
NUMBERS = ["0", "-1", "1.50", "0.1e-7", "100000000000000000000000000000000000001", "1E+400", "0.30000000000000000000000000000000000001"]
DAMAGE = list("{}[]\",:\\ 0u`\n")


class Members(list):
    """The members of an object, in their order."""


class Digits(str):
    """A number as it is written."""


class Word(str):
    """NaN and its like."""


# ------------------------------------------------------------------- writing

def made_up(rng, depth):
    kind = rng.randrange(10 if depth > 0 else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return Digits(rng.choice(NUMBERS))
    if kind == 2:
        return rng.choice(CREDENTIALS)
    if kind < 6:
        return rng.choice(VALUES)
    if kind == 6:
        return written(rng, made_up(rng, depth - 1))
    if kind == 7:
        return [made_up(rng, depth - 1) for _ in range(rng.randrange(4))]
    return Members((rng.choice(CREDENTIAL_NAMES if rng.random() < 0.3 else NAMES), made_up(rng, depth - 1)) for _ in range(rng.randrange(5)))


def escaped(rng, text):
    found = []
    for c in text:
        code = ord(c)
        if rng.random() < 0.1 or code == 0:
            units = c.encode("utf-16-be")
            found += ["\\u%04x" % (units[i] * 256 + units[i + 1]) for i in range(0, len(units), 2)]
        elif c in "\"\\" or code < 32:
            found.append(json.dumps(c)[1:-1])
        else:
            found.append("\\/" if c == "/" and rng.random() < 0.5 else c)
    return "\"" + "".join(found) + "\""


def blank(rng):
    return rng.choice(["", "", "", " ", "\n\t", "\r\n  "])


def written(rng, value):
    if isinstance(value, Digits):
        made = str(value)
    elif isinstance(value, str):
        made = escaped(rng, value)
    elif isinstance(value, Members):
        made = "{" + blank(rng) + ",".join(
            blank(rng) + escaped(rng, k) + blank(rng) + ":" + written(rng, v) for k, v in value) + "}"
    elif isinstance(value, list):
        made = "[" + blank(rng) + ",".join(written(rng, v) for v in value) + "]"
    else:
        made = json.dumps(value)
    return blank(rng) + made + blank(rng)


def text_of(rng):
    text = written(rng, made_up(rng, 5))
    if rng.random() < 0.1:
        text = "```json\n" + text + "\n```"
    if rng.random() < 0.3:
        for _ in range(rng.choice([1, 1, 2])):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(["", rng.choice(DAMAGE)]) + text[at + rng.randrange(2):]
    return text


# ------------------------------------------------------------------- reading

def json_of(text):
    """What the text is the JSON of, as a list of one value; an empty list: it is none."""
    text = text.strip(" \t\r\n")
    fenced = re.fullmatch(r"```[^\n]*\n(.*)```", text, re.S)
    if fenced:
        text = fenced.group(1).strip(" \t\r\n")
    if text[:1] not in ("{", "[", "\""):
        return []
    try:
        return [json.loads(text, strict=False, object_pairs_hook=Members, parse_int=Digits, parse_float=Digits, parse_constant=Word)]
    except ValueError:
        return []


def is_token(value):
    token = re.fullmatch("[A-Za-z0-9._~+/=-]{8,}", value)
    return token and (re.search("[0-9]", value) or len(value) >= 24)


def has_name(key, value):
    """Some names are those of credentials only if the value is a text, or if that has the form of a token."""
    name = re.sub("[^a-z0-9]", "", key.lower())
    if type(value) is str and (name in ("jwt", "bearer") or key == "sessionid"):
        return True
    if type(value) is str and name == "auth":
        digits = len(re.findall("[0-9]", value))
        mixed = re.search("[A-Z]", value) and re.search("[a-z]", value)
        token = (re.fullmatch("[A-Za-z0-9._~+/=-]+", value) and (not re.search("[./]", value) or mixed or digits >= 8) and
                 ((len(value) >= 20 and digits >= 2) or (len(value) >= 16 and digits >= 6)))
        return token or value == "dXNlcjpwYXNz" or (is_credential(value) and not json_of(value))
    return name.endswith(("password", "passwd", "apikey")) or name in ("token", "pwd", "encryptionkey")


def is_credential(value):
    """By itself, whatever its name is, and perhaps with blanks around it."""
    token = re.fullmatch("(?i:bearer) +(.*)", value.strip(" \t\n\v\f\r"))
    if token and is_token(token.group(1)):
        return True
    read = json_of(value)
    return bool(read) and type(read[0]) is str and is_credential(read[0])


def is_plain(value):
    if type(value) is list:
        return any(type(v) in (str, Digits) for v in value) and not any(isinstance(v, list) for v in value)
    return type(value) is Digits or (type(value) is str and value != "")


def step_of(key):
    """What the path has for a key; a text of the database has neither NUL nor halves of a pair."""
    return re.sub("[\ud800-\udfff]", "\ufffd", key.replace("\x00", "?")).replace("~", "~0").replace("/", "~1")


def cut_words(text):
    """What should be left of a text that is no JSON."""
    left, begin, colon = "", 0, text.find(":")
    while colon >= 0:
        name = re.search(r"(?<=\")([^\"]{0,64})\"[ \t\r\n]*$", text[:colon])
        value = re.compile(r"[ \t\r\n\\]*\"([^\"]*?)\\*\"").match(text, colon + 1)
        found = name and value and has_name(name.group(1), value.group(1)) and is_credential(value.group(1)) and re.search("[0-9]", value.group(1))
        if found:
            left, begin = left + text[begin:value.start(1)], value.end(1)
        colon = text.find(":", value.end(1) if found else colon + 1)
    return left + text[begin:]


def clean(value, path, dropped):
    """What should be left of a value, in which texts of JSON are replaced by lists of what they are the JSON of."""
    if type(value) is str:
        read = json_of(value)
        if read:
            return ("JSON", clean(read[0], path, dropped))
        left = cut_words(value)
        dropped += [path] if left != value else []
        return left
    if type(value) not in (Members, list):
        return value
    kept = type(value)()
    for index, item in enumerate(value):
        key, inner = item if type(value) is Members else (None, item)
        at = path + "/" + (str(index) if key is None else step_of(key))
        if (key is not None and has_name(key, inner) and is_plain(inner)) or (type(inner) is str and is_credential(inner)):
            dropped.append(at)
            continue
        inner = clean(inner, at, dropped)
        kept.append(inner if key is None else (key, inner))
    return kept


def fault(text, left, dropped):
    """What is wrong; None: nothing is."""
    expected = []
    if is_credential(text):
        return None if left is None and dropped == ["/data"] else "it is a credential as a whole"
    if left is None:
        return "it is gone"
    read = json_of(text)
    if not read:
        wanted = cut_words(text)
        return None if left == wanted and dropped == (["/data"] if left != text else []) else "it is no JSON, and should be %r" % wanted
    wanted = clean(text, "/data", expected)
    if dropped != expected:
        return "the paths should be %r" % expected
    if not expected:
        return None if left == text else "it has no credentials"
    return None if clean(left, "", []) == wanted else "it should be %r" % (wanted,)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    seed = int(os.environ.get("CLUTCH_FUZZ_SEED", 17))
    connection = psycopg2.connect(sys.argv[2] if len(sys.argv) > 2 else "")
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute("SET statement_timeout = '60s'")
    rng, seen, faults, began = random.Random(seed), collections.Counter(), 0, time.time()
    for _ in range(0, count, BATCH):
        texts = [text_of(rng) for _ in range(BATCH)]
        cursor.execute("""SELECT document ->> 'data', dropped FROM unnest(%s) WITH ORDINALITY AS t(text, n),
            clutch.drop_credentials(jsonb_build_object('data', text)) ORDER BY n""", (texts,))
        for text, (left, dropped) in zip(texts, cursor.fetchall()):
            said = fault(text, left, dropped)
            seen["wrong" if said else "with credentials" if dropped else "JSON without credentials" if json_of(text) else "no JSON"] += 1
            if said:
                faults += 1
                if faults <= 5:
                    print("not ok  %s\n        %r\n        %r\n        %r" % (said, text, left, dropped))
    for name in sorted(seen):
        print("        %-24s %7d" % (name, seen[name]))
    print("%d texts in %.0f s, seed %d: %d faults" % (count, time.time() - began, seed, faults))
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
