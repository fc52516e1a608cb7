"""The cost of verifying the signature of an envelope, beside the mere verification of Ed25519."""
import os
import time

from measure import Ratio, interleave, micros, template_database
from pace import connect

NAME = "clutch_bench_signing"
EVENTS = 200            # signed by a fixture in plain SQL, which takes its time
FIXTURE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "ed25519.sql")
SETUP = r"""
CREATE EXTENSION clutch;
\i %s
SELECT clutch.add_key('agent:ken', 'k1', ed25519.public_key(sha256('bench')));
CREATE TABLE sample AS
	SELECT e AS plain, ed25519.signed(e, 'k1', sha256('bench')) AS signed
	FROM generate_series(1, %d) AS i,
		clutch.envelope('chat.message', 'agent:ken', '{agent:lois}', id => 'msg_signed_' || i, run_id => 'run:signed', thread_id => 'thread:signed',
			task_id => 'task:signed', payload => jsonb_build_object('n', i, 'text', repeat('some words of a message ', 30), 'list', '[1, 2.5, null, {"a": []}]'::jsonb)) AS e;
ALTER TABLE sample ADD message bytea, ADD signature bytea;
UPDATE sample SET message = clutch.signing_bytes(signed), signature = decode(signed #>> '{security,auth,sig}', 'base64');
"""
INSERT = "INSERT INTO clutch.events (envelope) SELECT %s FROM sample"
VERIFY = ("SELECT count(*) FROM sample, clutch.agent_key k "
          "WHERE NOT clutch.ed25519_verify(message, signature, k.public_key)")


def timed(connection, statement):
    """Microseconds for each envelope, in a transaction that is rolled back."""
    cursor = connection.cursor()
    cursor.execute("BEGIN")
    began = time.monotonic()
    cursor.execute(statement)
    taken = time.monotonic() - began
    cursor.execute("ROLLBACK")
    return taken * 1e6 / EVENTS


def measure_signed(table):
    table.head("Append of a signed message of about 1 kB, %d in a statement (reference: the bare verification)" % EVENTS)
    table.columns("ed25519")
    template_database(NAME, SETUP % (os.path.abspath(FIXTURE), EVENTS))
    connection = connect("SET clutch.notify = off", NAME)
    for statement in (INSERT % "plain", INSERT % "signed", VERIFY):
        timed(connection, statement)
    runs = interleave({"plain": lambda: timed(connection, INSERT % "plain"), "signed": lambda: timed(connection, INSERT % "signed"),
                       "verify": lambda: timed(connection, VERIFY)}, rounds=15)
    more = [signed - plain for signed, plain in zip(runs["signed"], runs["plain"])]
    table.row("what a signature adds to an append", micros(more), micros(runs["verify"]), Ratio(more, runs["verify"]), at_most=1.15)
    table.row("  the append with it, and without", micros(runs["signed"]), micros(runs["plain"]), Ratio(runs["signed"], runs["plain"]))
    connection.close()
