#!/usr/bin/python3
"""Hostile schemas and values against a live backend.

    schemas.py [COUNT [DSN]]        200,000 values; the database of the PG* environment

Makes schemas at random, half of them broken, registers them, and puts values to them.  Besides what hostile.py looks
for (internal errors, a lost connection, a statement that hangs, a backend that grows), it fails

- when a value is valid against a schema and against its opposite ({"not": ...}), or against neither,
- when a schema was registered as backward compatible, and a value that the version before allowed is refused.

CLUTCH_FUZZ_SEED names the sequence; the one that failed is printed.
"""
import json
import random
import sys
import time

from hostile import Backend, Verdict, judge_growth, settings, weigh

VALUES = 20             # for each schema
BATCH = 100

SETUP = """
CREATE FUNCTION pg_temp.verdict(name text, value text, version int, OUT code text, OUT said text) LANGUAGE plpgsql AS $f$
DECLARE
	n int;
BEGIN
	SELECT count(*) INTO n FROM clutch.validate_payload(name, value::jsonb, version);
	code := CASE n WHEN 0 THEN 'valid' ELSE 'faults' END;
EXCEPTION WHEN OTHERS THEN
	code := SQLSTATE; said := SQLERRM;
END $f$;
CREATE FUNCTION pg_temp.register(name text, schema text, mode text, OUT code text, OUT said text) LANGUAGE plpgsql AS $f$
BEGIN
	PERFORM clutch.register_schema(name, schema::jsonb, compatibility => mode);
	code := 'taken';
EXCEPTION WHEN OTHERS THEN
	code := SQLSTATE; said := SQLERRM;
END $f$;
CREATE FUNCTION pg_temp.feed(schema text, opposite text, next text, vals text[])
RETURNS TABLE (place int, door text, code text, said text) LANGUAGE plpgsql AS $f$
DECLARE
	again text;
BEGIN
	DELETE FROM clutch.payload_type WHERE payload_type LIKE 'fuzz.%';
	place := 0;
	door := 'register'; SELECT r.code, r.said INTO code, said FROM pg_temp.register('fuzz.a', schema, 'none') r; RETURN NEXT;
	IF code <> 'taken' THEN RETURN; END IF;
	door := 'opposite'; SELECT r.code, r.said INTO code, said FROM pg_temp.register('fuzz.b', opposite, 'none') r; RETURN NEXT;
	again := code;
	door := 'next version'; SELECT r.code, r.said INTO code, said FROM pg_temp.register('fuzz.a', next, 'backward') r; RETURN NEXT;
	FOR i IN 1 .. cardinality(vals) LOOP
		place := i;
		door := 'validate'; SELECT v.code, v.said INTO code, said FROM pg_temp.verdict('fuzz.a', vals[i], 1) v; RETURN NEXT;
		door := 'validate opposite';
		IF again = 'taken' THEN SELECT v.code, v.said INTO code, said FROM pg_temp.verdict('fuzz.b', vals[i], 1) v; RETURN NEXT; END IF;
		door := 'validate next'; SELECT v.code, v.said INTO code, said FROM pg_temp.verdict('fuzz.a', vals[i], NULL) v; RETURN NEXT;
	END LOOP;
END
$f$
"""

NAMES = ["a", "b", "c", "long name", "x/y", "~", "", "\u00fc"]
TYPES = ["null", "boolean", "object", "array", "string", "number", "integer"]
PATTERNS = ["^a", "b$", "^[a-z]+$", ".", "\\d", "^(a|b)*c", "\\w\\s", "[^a]", "a{2,3}", "^$"]
BROKEN_PATTERNS = ["(", "[", "*", "a**", "\\", "(?", "\\1(a)", "a{999}", "[z-a]", "(?<", "\\u12", "\\p{", "{", "x{,3}", "((((((((a", "\\c"]
SCALARS = [None, True, False, 0, 1, 1.0, -1, 0.1, 2.5, 1e30, 12345678901234567890, "", "a", "b", "abc", "ab c", "1", "\u00fc", "\U0001f9a9"]


def value(rng, depth=3):
    kind = rng.random()
    if depth == 0 or kind < 0.5:
        return rng.choice(SCALARS)
    if kind < 0.75:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(NAMES): value(rng, depth - 1) for _ in range(rng.randrange(4))}


def schemas(rng, depth):
    return [schema(rng, depth) for _ in range(rng.randrange(1, 4))]


def named(rng, depth, names=None):
    return {rng.choice(names or NAMES): schema(rng, depth) for _ in range(rng.randrange(1, 4))}


def keyword(rng, depth):
    """A keyword with a value that fits it."""
    count, number = rng.randrange(4), rng.choice([-1, 0, 0.5, 1, 2, 3, 1e20])
    simple = {
        "type": lambda: rng.choice([rng.choice(TYPES), rng.sample(TYPES, rng.randrange(1, 4))]),
        "enum": lambda: [value(rng, 2) for _ in range(rng.randrange(1, 4))],
        "const": lambda: value(rng, 2), "multipleOf": lambda: rng.choice([1, 2, 0.1, 1e-5]),
        "maximum": lambda: number, "exclusiveMaximum": lambda: number, "minimum": lambda: number, "exclusiveMinimum": lambda: number,
        "maxLength": lambda: count, "minLength": lambda: count, "maxItems": lambda: count, "minItems": lambda: count,
        "maxProperties": lambda: count, "minProperties": lambda: count, "uniqueItems": lambda: rng.random() < 0.8,
        "pattern": lambda: rng.choice(PATTERNS), "format": lambda: rng.choice(["date", "email", "x"]),
        "required": lambda: rng.sample(NAMES, rng.randrange(3)),
        "dependentRequired": lambda: {rng.choice(NAMES): rng.sample(NAMES, rng.randrange(3))},
        "$ref": lambda: rng.choice(["#/$defs/a", "#/$defs/b", "#anchor"]),
    }
    deep = {
        "not": lambda: schema(rng, depth - 1), "items": lambda: schema(rng, depth - 1), "contains": lambda: schema(rng, depth - 1),
        "propertyNames": lambda: schema(rng, depth - 1), "additionalProperties": lambda: schema(rng, depth - 1),
        "unevaluatedItems": lambda: schema(rng, depth - 1), "unevaluatedProperties": lambda: schema(rng, depth - 1),
        "if": lambda: schema(rng, depth - 1), "then": lambda: schema(rng, depth - 1), "else": lambda: schema(rng, depth - 1),
        "allOf": lambda: schemas(rng, depth - 1), "anyOf": lambda: schemas(rng, depth - 1), "oneOf": lambda: schemas(rng, depth - 1),
        "prefixItems": lambda: schemas(rng, depth - 1), "properties": lambda: named(rng, depth - 1),
        "patternProperties": lambda: named(rng, depth - 1, PATTERNS), "dependentSchemas": lambda: named(rng, depth - 1),
        "minContains": lambda: count, "maxContains": lambda: count,
    }
    choice = dict(simple, **deep) if depth > 0 else simple
    name = rng.choice(list(choice))
    return name, choice[name]()


def schema(rng, depth=3):
    if rng.random() < 0.05:
        return rng.random() < 0.7
    made = dict(keyword(rng, depth) for _ in range(rng.randrange(1, 4)))
    # so that nothing is left open without saying so, which is where compatibility supposes something
    made.setdefault("additionalProperties", True)
    return made


def whole(rng):
    made = schema(rng)
    if isinstance(made, dict):
        made["$defs"] = {"a": schema(rng, 1), "b": schema(rng, 1)}
        if isinstance(made["$defs"]["a"], dict):
            made["$defs"]["a"]["$anchor"] = "anchor"
    return made


DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def in_draft_7(made):
    """The same schema with the keywords of draft-07, where it has any."""
    if isinstance(made, list):
        return [in_draft_7(child) for child in made]
    if not isinstance(made, dict):
        return made
    told = {}
    for key, child in made.items():
        if key in ("enum", "const", "required"):
            told[key] = child
        elif key == "$anchor":
            told["$id"] = "#" + child
        elif key == "$ref":
            told[key] = child.replace("$defs", "definitions")
        elif key in ("dependentRequired", "dependentSchemas"):
            told.setdefault("dependencies", {}).update(child if key == "dependentRequired" else in_draft_7(child))
        elif key == "items" and "prefixItems" in made:
            told["additionalItems"] = in_draft_7(child)
        else:
            told[{"prefixItems": "items", "$defs": "definitions"}.get(key, key)] = in_draft_7(child)
    return told


def opposite_of(made):
    """A schema that allows exactly what this one does not."""
    if not isinstance(made, dict):
        return {"not": made}
    outer = {key: made[key] for key in ("$schema", "$defs", "definitions") if key in made}
    return dict(outer, **{"not": {key: made[key] for key in made if key not in outer}})


def places(node, found):
    for key, child in list(node.items()) if isinstance(node, dict) else list(enumerate(node)):
        found.append((node, key))
        if isinstance(child, (dict, list)):
            places(child, found)
    return found


def changed(rng, made, broken):
    """A copy with a few changes; broken ones need not be schemas any more."""
    copy = json.loads(json.dumps(made))
    for _ in range(rng.randrange(1, 4)):
        found = places(copy, []) if isinstance(copy, dict) else []
        if not found:
            return value(rng) if broken else schema(rng)
        node, key = rng.choice(found)
        choice = rng.random()
        if choice < 0.3:
            del node[key]
        elif broken:
            node[key] = rng.choice([value(rng), rng.choice(BROKEN_PATTERNS), "#" + "/a" * rng.randrange(1, 9), "urn:nothing", [[]] * 50])
        elif isinstance(node, dict) and choice < 0.8:
            node.update([keyword(rng, 1)])
        elif isinstance(node[key], (int, float)) and not isinstance(node[key], bool):
            node[key] = abs(node[key] + rng.choice([-1, 1]))
    return copy


def leaves_open(made):
    """Does it say nothing about some properties?  Compatibility supposes that these are not in use.
    What stands beside $ref says nothing in draft-07, so a schema with it counts as one that does not."""
    if not isinstance(made, dict):
        return made is True
    if made.get("$schema") == DRAFT_7 and "$ref" in json.dumps(made):
        return True
    inner = [made[key] for key in ("not", "items", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "if", "then", "else") if key in made]
    for key in ("properties", "patternProperties", "dependentSchemas", "$defs", "dependencies", "definitions"):
        inner += made[key].values() if isinstance(made.get(key), dict) else []
    for key in ("allOf", "anyOf", "oneOf", "prefixItems", "items"):
        inner += made[key] if isinstance(made.get(key), list) else []
    if made.get("additionalProperties") is not True:
        inner.append(made.get("additionalProperties", True))
    return any(leaves_open(child) for child in inner)


def judge(verdict, answers, subject, is_open):
    """The two promises; a limit of the check says nothing about a value."""
    seen = {}
    for place, door, code, said in answers:
        verdict.take(door, code, said, subject)
        seen[place, door] = code
    compatible = seen.get((0, "next version")) == "taken" and not is_open
    for (place, door), code in seen.items():
        opposite, after = seen.get((place, "validate opposite")), seen.get((place, "validate next"))
        if door != "validate" or code not in ("valid", "faults"):
            continue
        verdict.counts["compatible", "judged"] += compatible and after != ""
        if opposite == code or (compatible and code == "valid" and after == "faults"):
            print("FAILED: value %d is %s, %s by the opposite, %s by the next version\nseed %d, for:\n%s"
                  % (place, code, opposite, after, verdict.seed, subject))
            sys.exit(1)


def main():
    count, dsn, seed = settings(sys.argv, 200000)
    rng = random.Random(seed)
    backend, verdict = Backend(dsn), Verdict(seed)
    early, began = None, time.time()
    backend.run(SETUP)
    backend.connection.commit()
    for done in range(0, count, VALUES):
        made = whole(rng)
        if isinstance(made, dict) and rng.random() < 0.3:
            made = dict(in_draft_7(made), **{"$schema": DRAFT_7})
        if rng.random() < 0.5:
            made = changed(rng, made, True)
        documents = [json.dumps(d) for d in (made, opposite_of(made), changed(rng, made, False))]
        values = [json.dumps(value(rng)) for _ in range(VALUES)]
        answers = backend.run("SELECT * FROM pg_temp.feed(%s, %s, %s, %s)", (*documents, values))
        judge(verdict, answers, "\n".join(documents + values), leaves_open(made))
        backend.connection.rollback()
        early = weigh(backend, done, VALUES, count, early)
    verdict.table()
    judge_growth(early, backend.anonymous_kb())
    print("executions: %d" % sum(verdict.counts.values()))
    print("%d values for %d schemas in %.0f s, seed %d" % (count, count // VALUES, time.time() - began, seed))


if __name__ == "__main__":
    main()
