#!/usr/bin/python3
"""Mutated descriptions of agents, and registries, against a live backend.

    cards.py [COUNT [DSN]]       20,000 of them; the database of the PG* environment

Takes those of test/fixtures/cards.json apart like adapters.py takes its samples, and hands
them to clutch.card_of and clutch.import_registry.  Fails

    - on an internal error (XX...), a lost connection, a statement that hangs
    - if a card that was made is refused by clutch.register as not valid (KL002)
    - if a description does not come back, apart from what was dropped
    - if a registry that was imported is different when it is imported again

CLUTCH_FUZZ_SEED names the sequence; the one that failed is printed.
"""
import collections
import json
import os
import random
import sys
import time

import psycopg2

import adapters

CARDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "cards.json")

SETUP = """
CREATE FUNCTION pg_temp.describe(documents text[], dialect text, agent text)
	RETURNS TABLE (place int, door text, code text, said text) LANGUAGE plpgsql AS $describe$
DECLARE
	raw jsonb;
	card jsonb;
	back jsonb;
BEGIN
	FOR i IN 1 .. cardinality(documents) LOOP
		place := i; said := NULL; door := 'card_of';
		BEGIN
			raw := documents[i]::jsonb;
		EXCEPTION WHEN OTHERS THEN
			CONTINUE;
		END;
		BEGIN
			card := clutch.card_of(raw, agent, dialect);
			raw := (SELECT d.document FROM clutch.drop_credentials(raw) AS d);
			back := clutch.card_as(card, dialect);
			code := CASE WHEN back = raw THEN 'back' ELSE 'CHANGED' END;
			IF code = 'CHANGED' THEN
				said := concat_ws(' and not ', back, raw);
			END IF;
			RETURN NEXT;
			door := 'register';
			PERFORM clutch.register(card);
			code := 'taken'; said := NULL;
		EXCEPTION WHEN OTHERS THEN
			code := CASE WHEN SQLSTATE = 'KL002' THEN 'REFUSED' ELSE SQLSTATE END; said := SQLERRM;
		END;
		RETURN NEXT;
	END LOOP;
END
$describe$;
CREATE FUNCTION pg_temp.list(documents text[])
	RETURNS TABLE (place int, door text, code text, said text) LANGUAGE plpgsql AS $list$
DECLARE
	raw jsonb;
BEGIN
	door := 'import';
	FOR i IN 1 .. cardinality(documents) LOOP
		place := i; said := NULL;
		BEGIN
			raw := documents[i]::jsonb;
		EXCEPTION WHEN OTHERS THEN
			CONTINUE;
		END;
		BEGIN
			PERFORM FROM clutch.import_registry(raw);
			SELECT string_agg(r::text, ' ') INTO said FROM clutch.import_registry(raw) AS r;
			code := CASE WHEN said IS NULL THEN 'taken' ELSE 'CHANGED' END;
			IF said IS NULL THEN
				SELECT concat_ws(' and not ', e, d.document) INTO said FROM clutch.drop_credentials(raw) AS d, clutch.export_registry(coalesce(raw ->> 'orchestrator', 'default')) AS e
				WHERE e <> d.document;
				code := CASE WHEN said IS NULL THEN 'taken' ELSE 'CHANGED' END;
			END IF;
		EXCEPTION WHEN OTHERS THEN
			code := CASE WHEN SQLSTATE = 'KL002' THEN 'REFUSED' ELSE SQLSTATE END; said := SQLERRM;
		END;
		RETURN NEXT;
	END LOOP;
END
$list$
"""


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    seed = int(os.environ.get("CLUTCH_FUZZ_SEED", 11))
    connection = psycopg2.connect(sys.argv[2] if len(sys.argv) > 2 else "")
    cursor = connection.cursor()
    cursor.execute("SET client_min_messages = error; SET statement_timeout = '60s'; SET clutch.notify = off; " + SETUP)
    connection.commit()
    with open(CARDS, encoding="utf-8") as text:
        cards = json.load(text)
    registries = [cards[name] for name in cards if name.startswith("registry")]
    pool = [adapters.get(d, p) for d in registries + [a["raw"] for a in cards["agents"]] for p in adapters.places(d)]
    rng, seen, faults, began = random.Random(seed), collections.Counter(), 0, time.time()
    for done in range(0, count, adapters.BATCH):
        if rng.random() < 0.5:
            documents = [adapters.write(adapters.mutated(rng, rng.choice(registries), pool)) for _ in range(adapters.BATCH)]
            cursor.execute("SELECT * FROM pg_temp.list(%s)", (documents,))
        else:
            agent = rng.choice(cards["agents"])
            documents = [adapters.write(adapters.mutated(rng, agent["raw"], pool)) for _ in range(adapters.BATCH)]
            cursor.execute("SELECT * FROM pg_temp.describe(%s, %s, %s)", (documents, agent["dialect"], agent["agent_id"]))
        for place, door, code, said in cursor.fetchall():
            seen[door + " " + code] += 1
            if code.startswith("XX") or code in ("REFUSED", "CHANGED") or code.startswith("57"):
                faults += 1
                if faults <= 5:
                    print("not ok  %s, %s\n        %s\n        %s" % (code, door, documents[place - 1][:3000], (said or "")[:3000]))
        connection.rollback()
    for name in sorted(seen):
        print("        %-24s %7d" % (name, seen[name]))
    print("%d descriptions in %.0f s, seed %d: %d faults" % (count, time.time() - began, seed, faults))
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
