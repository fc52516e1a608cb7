"""The log tables that clutch's log is compared with.

`plain` is the limit for these rows: a primary key on id, and btrees on run,
thread, task and sender.  It keeps none of the promises of clutch.events.

`fair` is the cheapest honest SQL that keeps the promises of the log without
checking an envelope: the key is (id, run_id) and a resend changes nothing (the
insert says ON CONFLICT DO NOTHING), every row has a number in the order of the
log, and the id of its transaction, by which a reader finds what it has not seen
yet.  It has the btrees of clutch.events, the one on the reading position only
if clutch.events has it.

`same` is a table like clutch.events, with all its columns and indexes, into which
a resend is inserted as into `fair`.  Nothing is read from the envelope: columns
that the client does not give have defaults.  Compared with clutch, it shows what the
checks alone cost.
"""

PLAIN = """
CREATE TABLE plain (
    seq bigserial,
    id text COLLATE "C" PRIMARY KEY,
    run_id text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    task_id text COLLATE "C" NOT NULL,
    from_agent text COLLATE "C" NOT NULL,
    body jsonb NOT NULL);
CREATE INDEX ON plain (run_id);
CREATE INDEX ON plain (thread_id);
CREATE INDEX ON plain (task_id);
CREATE INDEX ON plain (from_agent);
"""

FAIR = """
CREATE SEQUENCE fair_seq AS bigint;
CREATE TABLE fair (
    seq bigint NOT NULL DEFAULT nextval('fair_seq'),
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    id text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    task_id text COLLATE "C" NOT NULL,
    from_agent text COLLATE "C" NOT NULL,
    body jsonb COMPRESSION lz4 NOT NULL,
    PRIMARY KEY (id, run_id));
CREATE UNIQUE INDEX ON fair (seq);
CREATE INDEX ON fair (run_id);
CREATE INDEX ON fair (thread_id);
CREATE INDEX ON fair (task_id);
CREATE INDEX ON fair (from_agent);
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indexrelid
               WHERE i.indrelid = 'clutch.events'::regclass AND a.attname = 'xid') THEN
        CREATE INDEX ON fair (xid);
    END IF;
END $$;
"""

SAME = """
CREATE TABLE same (LIKE clutch.events INCLUDING COMPRESSION INCLUDING INDEXES);
ALTER TABLE same RENAME envelope TO body;
ALTER TABLE same
    ALTER seq SET DEFAULT nextval('fair_seq'), ALTER xid SET DEFAULT pg_current_xact_id(), ALTER epoch SET DEFAULT 1,
    ALTER received_at SET DEFAULT clock_timestamp(), ALTER ts SET DEFAULT '2026-02-01T13:20:11.123Z',
    ALTER type SET DEFAULT 'chat.message', ALTER to_agents SET DEFAULT '{agent:orchestrator}',
    ALTER domain SET DEFAULT 'research', ALTER payload_type SET DEFAULT 'research.summary.v1',
    ALTER attempt SET DEFAULT 1, ALTER late SET DEFAULT false;
"""

# Run after the extension was created, because it looks at the table of the extension.
LOGS = PLAIN + FAIR + SAME
