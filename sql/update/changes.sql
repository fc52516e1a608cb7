\echo Use "ALTER EXTENSION clutch UPDATE TO '0.3.0'" to load this file. \quit

-- From 0.2.0 to 0.3.0: what changes in the topics that 0.2.0 had.  The Makefile adds
-- the topics that are new, grants.sql and dump.sql, and then finish.sql.
-- test/t/014_update.pl compares the result with a fresh installation;
-- test/README.md says what to do if it finds a difference.

-- Nobody writes meanwhile.
LOCK TABLE clutch.events IN ACCESS EXCLUSIVE MODE;

-- Whether an agent has sent an event of a run is a single probe.
DROP INDEX clutch.events_from_agent;
CREATE INDEX events_from_agent ON clutch.events (from_agent, run_id);

CREATE FUNCTION clutch.render(envelope jsonb) RETURNS text
	AS 'MODULE_PATHNAME', 'clutch_render'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION clutch.render(jsonb) IS
	'an envelope as text for the prompt of a model: who sent what to whom, then the payload between two lines with a number that no payload can know';
