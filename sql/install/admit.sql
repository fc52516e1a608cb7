-- ---------------------------------------------------------------- the log
-- The name sorts last among the BEFORE triggers, so that no other trigger can
-- drop a row whose effect has been applied.
CREATE FUNCTION clutch.admit() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_admit' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.admit() IS
	'trigger: checks an envelope, fills in its columns, applies it to the state and routes it';

CREATE FUNCTION clutch.append_only() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_append_only' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.append_only() IS
	'trigger: refuses UPDATE, DELETE and TRUNCATE of the log';

CREATE TRIGGER zz_admit BEFORE INSERT ON clutch.events
	FOR EACH ROW EXECUTE FUNCTION clutch.admit();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON clutch.events
	FOR EACH STATEMENT EXECUTE FUNCTION clutch.append_only();
-- Changes that arrive by logical replication do not fire statement triggers.
CREATE TRIGGER append_only_row BEFORE UPDATE OR DELETE ON clutch.events
	FOR EACH ROW EXECUTE FUNCTION clutch.append_only();

-- ALWAYS: they must also fire under session_replication_role = replica.
ALTER TABLE clutch.events ENABLE ALWAYS TRIGGER zz_admit;
ALTER TABLE clutch.events ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE clutch.events ENABLE ALWAYS TRIGGER append_only_row;

COMMENT ON TABLE clutch.events IS 'the log: every admitted envelope, once, until it is pruned';
COMMENT ON COLUMN clutch.events.seq IS 'place in the log; for the events of a task, the order in which they took effect';
COMMENT ON COLUMN clutch.events.xid IS 'the transaction that appended it, in its epoch';
COMMENT ON COLUMN clutch.events.epoch IS 'the copy of the database in which it was admitted; negative if it arrived there by replication';
COMMENT ON COLUMN clutch.events.late IS 'kept in the log, but too late to change anything';
COMMENT ON COLUMN clutch.events.scope IS 'the group that owns the run';
COMMENT ON COLUMN clutch.events.attempt IS 'for a report on a task, the attempt that it belongs to';
