-- ------------------------------------------------------------ participants
-- Who takes part in a run without having sent an event in it; see
-- store/participant.h.  There may be several equal rows.
CREATE TABLE clutch.participant (
	name			text COLLATE "C" NOT NULL,	-- an agent or a group
	run_id			text COLLATE "C" NOT NULL
);
CREATE INDEX participant_key ON clutch.participant (name, run_id);
CREATE INDEX participant_run ON clutch.participant (run_id);

-- When the extension is updated, the log may already have events.
INSERT INTO clutch.participant
SELECT DISTINCT a.name, e.run_id
FROM clutch.events e, pg_catalog.unnest(e.to_agents) AS a(name)
WHERE (pg_catalog.starts_with(a.name, 'agent:') OR pg_catalog.starts_with(a.name, 'group:'))
  AND a.name OPERATOR(pg_catalog.<>) coalesce(pg_catalog.current_setting('clutch.orchestrator', true), 'agent:orchestrator')
  AND NOT EXISTS (SELECT FROM clutch.events s
				  WHERE s.from_agent OPERATOR(pg_catalog.=) a.name AND s.run_id OPERATOR(pg_catalog.=) e.run_id);

CREATE FUNCTION clutch.my_runs() RETURNS text[]
	AS 'MODULE_PATHNAME', 'clutch_my_runs' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.my_runs() IS
	'the runs in which agents of the current role take part: they have sent an event, were addressed, or have a task';
