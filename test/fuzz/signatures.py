#!/usr/bin/python3
"""Signed envelopes that somebody has tampered with, against a live backend.

    signatures.py [COUNT [DSN]]     20,000; the database of the PG* environment

A role that speaks for nobody hands in an envelope that was signed for it, with one
thing changed: a value, a key, the text of a number, the signature, its name.  It may
be admitted, or be known already, only if what is signed has stayed the same, which
the program judges by a canonical form of its own.  Fails otherwise, and on an
internal error (XX...).  CLUTCH_FUZZ_SEED=n is another sequence.
"""
import base64
import copy
import json
import os
import random
import sys

import psycopg2
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

BATCH = 200
ROLE = "clutch_fuzz_gateway"
SETUP = """
CREATE FUNCTION pg_temp.feed(documents text[]) RETURNS TABLE (place int, said text) LANGUAGE plpgsql AS $feed$
DECLARE
	n int;
BEGIN
	FOR i IN 1 .. cardinality(documents) LOOP
		place := i;
		BEGIN
			INSERT INTO clutch.events (envelope) VALUES (documents[i]::jsonb);
			GET DIAGNOSTICS n = ROW_COUNT;
			said := CASE n WHEN 1 THEN 'admitted' ELSE 'known' END;
		EXCEPTION WHEN OTHERS THEN
			said := SQLSTATE;
		END;
		RETURN NEXT;
	END LOOP;
END
$feed$
"""
VALUES = [None, True, False, 0, 1, -1, 1.5, 2 ** 53 + 1, 10 ** 21, 1e-7, "", "x", "\u00fc", "\U0001f600", [], {}, [1], {"a": 1}, "agent:eve", "run:2"]


def canonical(value):
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2 ** 53:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def signed_bytes(envelope):
    envelope = copy.deepcopy(envelope)
    envelope["security"]["auth"].pop("sig", None)
    return ("clutch/0.1 envelope\n\n" + canonical(envelope)).encode("utf-8", "surrogatepass")


def message(rng, now, key):
    envelope = {"v": "clutch/0.1", "id": "msg_%032x" % rng.getrandbits(128), "ts": now, "type": "chat.message",
                "run_id": "run:fuzz", "thread_id": "thread:fuzz", "task_id": "task:fuzz", "from": {"agent_id": "agent:fuzz"},
                "to": [{"agent_id": "agent:other"}], "payload": {"n": 3, "t": "text", "list": [1, {"k": None}], "": "\u00fc"},
                "security": {"auth": {"scheme": "ed25519", "kid": "k1"}}}
    envelope["security"]["auth"]["sig"] = base64.b64encode(key.sign(signed_bytes(envelope))).decode()
    return envelope


def places(value, found):
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            places(value[key], found)
    return found


def tamper(rng, envelope):
    """The text of the envelope, changed; and whether its content is still what was signed."""
    before, sig = signed_bytes(envelope), envelope["security"]["auth"]["sig"]
    kind = rng.randrange(5)
    if kind == 0:       # the same, written in another way
        return json.dumps(envelope, ensure_ascii=rng.randrange(2) == 0, indent=rng.choice((None, 1)), sort_keys=True).replace(
            '"n": 3', '"n": %s' % rng.choice(("3", "3.0", "30e-1", "3.000"))), True
    if kind == 1:       # the signature
        raw = bytearray(base64.b64decode(sig))
        raw[rng.randrange(64)] ^= 1 << rng.randrange(8)
        envelope["security"]["auth"]["sig"] = rng.choice((
            base64.b64encode(bytes(raw)).decode(), sig[:rng.randrange(len(sig))], sig + rng.choice("=A \n"), base64.b64encode(rng.getrandbits(512).to_bytes(64, "little")).decode()))
        same = envelope["security"]["auth"]["sig"] == sig or envelope["security"]["auth"]["sig"] == sig.rstrip("=")
        return json.dumps(envelope), same
    holder, key = rng.choice(places(envelope, []))
    if kind == 2 and isinstance(holder, dict):
        holder[rng.choice(("x", "sig", "auth", "ts", "trace", "attempt", str(key) + "\u200b"))] = holder.pop(key)
    elif kind == 3:
        del holder[key]
    else:
        holder[key] = rng.choice(VALUES)
    try:
        return json.dumps(envelope), signed_bytes(envelope) == before and envelope["security"]["auth"].get("sig") == sig
    except (KeyError, TypeError, AttributeError):
        return json.dumps(envelope), False


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    rng = random.Random(int(os.environ.get("CLUTCH_FUZZ_SEED", "1")))
    key = Ed25519PrivateKey.from_private_bytes(rng.getrandbits(256).to_bytes(32, "little"))
    public = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    connection = psycopg2.connect(sys.argv[2] if len(sys.argv) > 2 else "")
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute("SELECT clutch.add_key('agent:fuzz', 'k1', %s)", (public,))
    cursor.execute("SELECT 'CREATE ROLE {0}' WHERE to_regrole('{0}') IS NULL".format(ROLE))
    for (statement,) in cursor.fetchall():
        cursor.execute(statement)
    cursor.execute("GRANT USAGE ON SCHEMA clutch TO {0}; GRANT INSERT (envelope) ON clutch.events TO {0}; "
                   "SET ROLE {0}; SET clutch.notify = off; {1}".format(ROLE, SETUP))
    outcomes, wrong = {}, 0
    for start in range(0, count, BATCH):
        cursor.execute("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
        now = cursor.fetchone()[0]
        cases = [tamper(rng, message(rng, now, key)) for _ in range(min(BATCH, count - start))]
        cursor.execute("SELECT said FROM pg_temp.feed(%s) ORDER BY place", ([text.replace("\\u0000", "") for text, _ in cases],))
        for (text, same), (said,) in zip(cases, cursor.fetchall()):
            outcomes[said] = outcomes.get(said, 0) + 1
            if (said in ("admitted", "known")) != same or said.startswith("XX"):
                wrong += 1
                print("ERROR: %s, although what is signed has %s: %s" % (said, "stayed the same" if same else "changed", text))
    cursor.execute("RESET ROLE; DROP OWNED BY {0}; DROP ROLE {0}".format(ROLE))
    print("%d envelopes: %s; %d judged wrongly" % (count, ", ".join("%s %d" % pair for pair in sorted(outcomes.items())), wrong))
    print("executions: %d" % count)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
