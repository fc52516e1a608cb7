"""The cost of checking payloads against a schema, beside a PL/pgSQL trigger that checks the same."""
import time

import psycopg2

from measure import Ratio, interleave, micros, template_database
from pace import connect

NAME = "clutch_bench_contract"
EVENTS = 1000
SETUP = r"""
CREATE EXTENSION clutch;
CREATE TABLE sample AS
	SELECT clutch.envelope('chat.message', 'agent:ken', '{agent:lois}', id => 'msg_' || i, run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1', payload_type => 'bench.order',
		payload => jsonb_build_object('item', 'lamp ' || i, 'price', i + 0.5, 'state', 'open', 'tags', jsonb_build_array('a', 'b', 'c'), 'customer', jsonb_build_object('name', 'Lois', 'zip', '12345'))) AS envelope
	FROM generate_series(1, %d) AS i;
CREATE FUNCTION check_order() RETURNS trigger LANGUAGE plpgsql AS $f$
DECLARE
	p jsonb := NEW.envelope -> 'payload';
BEGIN
	IF NEW.payload_type IS DISTINCT FROM 'bench.order' THEN
		RETURN NULL;
	END IF;
	IF NOT p ?& '{item,price,state,customer}' OR jsonb_typeof(p -> 'item') <> 'string' OR length(p ->> 'item') < 1
		OR jsonb_typeof(p -> 'price') <> 'number' OR (p ->> 'price')::numeric < 0
		OR p ->> 'state' NOT IN ('open', 'paid', 'sent') OR jsonb_typeof(p -> 'tags') <> 'array'
		OR EXISTS (SELECT FROM jsonb_array_elements(p -> 'tags') t WHERE jsonb_typeof(t) <> 'string')
		OR jsonb_typeof(p -> 'customer') <> 'object' OR jsonb_typeof(p #> '{customer,name}') <> 'string' OR p #>> '{customer,zip}' !~ '^[0-9]{5}$'
		OR EXISTS (SELECT FROM jsonb_object_keys(p) k WHERE k NOT IN ('item', 'price', 'state', 'tags', 'customer')) THEN
		RAISE EXCEPTION 'payload is not valid';
	END IF;
	RETURN NULL;
END $f$;
"""
SCHEMA = """SELECT clutch.register_schema('bench.order', '{"type": "object", "required": ["item", "price", "state", "customer"], "additionalProperties": false, "properties": {
	"item": {"type": "string", "minLength": 1}, "price": {"type": "number", "minimum": 0}, "state": {"enum": ["open", "paid", "sent"]},
	"tags": {"type": "array", "items": {"type": "string"}},
	"customer": {"type": "object", "required": ["name", "zip"], "properties": {"name": {"type": "string"}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}}}}}', enforce => 'always')"""
TRIGGER = "CREATE TRIGGER check_order AFTER INSERT ON clutch.events FOR EACH ROW EXECUTE FUNCTION check_order()"
INSERT = "INSERT INTO clutch.events (envelope) SELECT envelope FROM sample"


def timed(connection, before):
    """Microseconds for each envelope, in a transaction that is rolled back; the schema is compiled in it."""
    cursor = connection.cursor()
    cursor.execute("BEGIN")
    if before:
        cursor.execute(before)
    began = time.monotonic()
    cursor.execute(INSERT)
    taken = time.monotonic() - began
    cursor.execute("ROLLBACK")
    return taken * 1e6 / EVENTS


def require_check(connection):
    """Makes sure that the check takes place: a payload that violates the schema is refused."""
    cursor = connection.cursor()
    cursor.execute("BEGIN")
    cursor.execute(SCHEMA)
    try:
        cursor.execute("INSERT INTO clutch.events (envelope) SELECT jsonb_set(envelope, '{payload,price}', '-1') FROM sample LIMIT 1")
    except psycopg2.Error as error:
        assert error.pgcode == "KL010", error
    else:
        raise AssertionError("the schema is not enforced")
    finally:
        cursor.execute("ROLLBACK")


def measure_contract(table):
    table.head("Append of messages whose payloads have a schema, %d in a statement (reference: a trigger in PL/pgSQL)" % EVENTS)
    table.columns("PL/pgSQL")
    template_database(NAME, SETUP % EVENTS)
    connection = connect("SET clutch.notify = off", NAME)
    require_check(connection)
    variants = {"plain": None, "schema": SCHEMA, "trigger": TRIGGER}
    for before in variants.values():
        timed(connection, before)
    runs = interleave({name: lambda before=before: timed(connection, before) for name, before in variants.items()}, rounds=15)
    adds = {name: [with_it - plain for with_it, plain in zip(runs[name], runs["plain"])] for name in ("schema", "trigger")}
    table.row("what the check adds to an append", micros(adds["schema"]), micros(adds["trigger"]),
              Ratio(adds["schema"], adds["trigger"]), at_most=1.0)
    table.row("  the append with it", micros(runs["schema"]), micros(runs["trigger"]), Ratio(runs["schema"], runs["trigger"]))
    connection.close()
