--
-- Who may do what, as roles: an agent's, a reader's, and a stranger's.
--
CREATE EXTENSION clutch;
SET timezone = 'UTC';
\set SHOW_CONTEXT never
\set VERBOSITY terse
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_clutch_ken, regress_clutch_lois, regress_clutch_reader, regress_clutch_stranger;
RESET client_min_messages;
CREATE ROLE regress_clutch_ken;
CREATE ROLE regress_clutch_lois;
CREATE ROLE regress_clutch_reader;
CREATE ROLE regress_clutch_stranger;

SELECT late FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"},
	"capabilities": [{"id": "skill:research"}]}');
SELECT late FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:lois", "display": {"name": "Lois"},
	"capabilities": [{"id": "skill:writing"}]}');
SELECT clutch.grant_agent('regress_clutch_ken', 'agent:ken');
SELECT clutch.grant_agent('regress_clutch_lois', 'agent:lois');
SELECT clutch.grant_reader('regress_clutch_reader');
SELECT task_id FROM clutch.send(clutch.envelope('task.request', 'agent:ui', run_id => 'run_1', thread_id => 'thr_1',
	task_id => 'task_1', requires => '{skill:research}'));

CREATE FUNCTION pg_temp.said(agent text, id text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('v', 'clutch/0.1', 'id', id, 'ts', '2026-02-01T13:20:11Z', 'thread_id', 'thr_1',
		'run_id', 'run_1', 'task_id', 'task_1', 'from', jsonb_build_object('agent_id', agent),
		'to', '[{"agent_id": "agent:orchestrator"}]'::jsonb, 'type', 'chat.message', 'payload', '{}'::jsonb)
$$;

-- A stranger: nothing
SET ROLE regress_clutch_stranger;
SELECT clutch.version();								-- fail
INSERT INTO clutch.events (envelope) VALUES ('{}');		-- fail
SELECT count(*) FROM clutch.events;						-- fail
SELECT * FROM clutch.claim('agent:ken');				-- fail
SELECT clutch.grant_agent('regress_clutch_stranger', 'agent:ken');	-- fail

-- An agent: its own work
SET ROLE regress_clutch_ken;
SELECT task_id, attempt FROM clutch.claim('agent:ken');	-- ok
SELECT late FROM clutch.progress('agent:ken', 'task_1', '{"pct": 50}', 1);	-- ok
SELECT clutch.heartbeat('agent:ken') IS NOT NULL AS beat;	-- ok
INSERT INTO clutch.events (envelope) VALUES (pg_temp.said('agent:ken', 'msg_k1'));	-- ok
INSERT INTO clutch.events (envelope) VALUES (pg_temp.said('agent:ken', 'msg_k2')) RETURNING id, seq > 0 AS has_seq;	-- ok
SELECT clutch.listen('agent', 'agent:ken') = clutch.channel('agent', 'agent:ken') AS listens;	-- ok
UNLISTEN *;
-- but nobody else's
INSERT INTO clutch.events (envelope) VALUES (pg_temp.said('agent:lois', 'msg_k3'));	-- fail
SELECT clutch.send(pg_temp.said('agent:orchestrator', 'msg_k4'));	-- fail
SELECT * FROM clutch.claim('agent:lois');				-- fail
SELECT clutch.heartbeat('agent:lois');					-- fail
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:lois", "display": {"name": "Lois"},
	"capabilities": [{"id": "skill:everything"}]}');		-- fail
-- nor what it may do: without granted capabilities it registers no card,
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"},
	"capabilities": [{"id": "skill:research"}]}');			-- fail
-- with some, only a card that stays within them
RESET ROLE;
SELECT clutch.grant_agent('regress_clutch_ken', 'agent:ken', '{skill:research}');
SET ROLE regress_clutch_ken;
SELECT late FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"},
	"capabilities": [{"id": "skill:research", "version": "2.0"}]}');	-- ok
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"},
	"capabilities": [{"id": "skill:research"}, {"id": "skill:everything"}]}');	-- fail
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"},
	"capabilities": [{"id": "skill:research", "trust_level": "prod"}]}');	-- fail
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"},
	"capabilities": [{"id": "skill:research"}], "groups": ["group:admins"]}');	-- fail
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"},
	"capabilities": [{"id": "skill:research"}], "security": {"sandbox": false}}');	-- fail
-- nor a column that the database fills
INSERT INTO clutch.events (envelope, seq) VALUES (pg_temp.said('agent:ken', 'msg_k5'), 1);	-- fail
INSERT INTO clutch.events (envelope, from_agent) VALUES (pg_temp.said('agent:ken', 'msg_k5'), 'agent:lois');	-- fail
-- nor the log, nor the state, nor the house
UPDATE clutch.events SET late = false;					-- fail
DELETE FROM clutch.events;								-- fail
TRUNCATE clutch.events;									-- fail
UPDATE clutch.task SET status = 'completed';			-- fail
INSERT INTO clutch.agent_slot (agent_id, slot_no, generation, chosen_seq, done, failed)
	VALUES ('agent:ken', 99, 1, 0, 0, 0);				-- fail
INSERT INTO clutch.principal VALUES ('regress_clutch_ken', 'agent:lois', NULL, NULL);	-- fail
SELECT clutch.grant_agent('regress_clutch_ken', 'agent:lois');	-- fail
SELECT clutch.rebuild();								-- fail
SET clutch.clock = '2026-02-01T13:20:00Z';				-- fail
SET clutch.max_envelope_bytes = '100MB';				-- fail
-- A SECURITY DEFINER function speaks as its owner, which here is an operator
RESET ROLE;
CREATE FUNCTION public.lend(envelope jsonb) RETURNS text LANGUAGE sql SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp AS $$ SELECT (clutch.send(envelope)).id $$;
SET ROLE regress_clutch_ken;
SELECT public.lend(pg_temp.said('agent:ui', 'msg_k6'));	-- ok
RESET ROLE;
DROP FUNCTION public.lend(jsonb);
SET ROLE regress_clutch_ken;
SELECT late FROM clutch.finish('agent:ken', 'task_1', '{}', 1);	-- ok

-- The other agent: Ken's task is not its own, and whether there is one is not told
SET ROLE regress_clutch_lois;
SELECT clutch.finish('agent:lois', 'task_1', '{}', 1);	-- fail
SELECT clutch.finish('agent:ken', 'task_1', '{}', 1);	-- fail

-- A reader: everything to see, nothing to change
SET ROLE regress_clutch_reader;
SELECT task_id, status, agent_id FROM clutch.tasks;		-- ok
SELECT count(*) > 0 AS some FROM clutch.events;			-- ok
SELECT status FROM clutch.result('task_1');				-- ok
SELECT agent_id, status, running FROM clutch.agents ORDER BY 1;	-- ok
SELECT task_id, depth FROM clutch.task_tree('run_1');	-- ok
SELECT agent_id, eligible, rejected_by FROM clutch.why('task_1') ORDER BY 1;	-- ok
SELECT count(*) > 0 AS some FROM clutch.replay('run_1');	-- ok
SELECT * FROM clutch.validate(pg_temp.said('agent:ken', 'msg_r1'));	-- ok
SELECT clutch.send(pg_temp.said('agent:ken', 'msg_r1'));	-- fail
INSERT INTO clutch.events (envelope) VALUES (pg_temp.said('agent:ken', 'msg_r2'));	-- fail
SELECT * FROM clutch.claim('agent:ken');				-- fail
SELECT clutch.cancel('task_1');							-- fail
SELECT clutch.tick();									-- fail

-- Whoever happens to tick is not told of the tasks of others that cannot be moved, whatever its
-- client_min_messages; whoever speaks for the requester is.
RESET ROLE;
SET client_min_messages = error;
SET clutch.clock = '2026-03-01T12:00:00Z';
CREATE FUNCTION regress_clutch_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this'; END $$;
SELECT task_id FROM clutch.send(clutch.envelope('task.request', 'agent:ken', '{agent:lois}', task_id => 'task_late', run_id => 'run_late', deadline => '1 minute'));
SELECT task_id FROM clutch.send(clutch.envelope('task.request', 'agent:ken', '{agent:lois}', task_id => 'task_parent', run_id => 'run_late'));
SELECT task_id FROM clutch.send(clutch.envelope('task.request', 'agent:ken', '{agent:lois}', task_id => 'task_child', run_id => 'run_late', parent_task_id => 'task_parent'));
CREATE TRIGGER regress_clutch_refuse AFTER INSERT ON clutch.events FOR EACH ROW
	WHEN (NEW.task_id = 'task_late' AND NEW.type = 'task.timeout' OR NEW.task_id = 'task_child' AND NEW.type = 'task.cancel') EXECUTE FUNCTION regress_clutch_refuse();
SET clutch.clock = '2026-03-01T12:02:00Z';
SET ROLE regress_clutch_lois;
SET client_min_messages = log;
SELECT clutch.tick();									-- says nothing
RESET ROLE;
SET clutch.clock = '2026-03-01T12:04:00Z';
SET ROLE regress_clutch_ken;
SELECT clutch.tick();									-- task_late
SELECT late FROM clutch.cancel('task_parent', by_agent => 'agent:ken');		-- task_child
RESET ROLE;
SET clutch.clock = '2026-03-01T12:04:30Z';
SET ROLE regress_clutch_lois;
SELECT clutch.tick();									-- says nothing
RESET ROLE;
SET client_min_messages = warning;
SELECT kind, subject FROM clutch.consequence;

-- Of what goes wrong in the tick itself, which may be about anything, only operators are told.
SELECT late FROM clutch.send(jsonb_set(clutch.envelope('chat.message', 'agent:ken', '{agent:lois}', run_id => 'run_late'), '{meta}', '{"clutch": {"ttl_ms": 1000}}'));
CREATE TRIGGER regress_clutch_refuse_reply AFTER INSERT ON clutch.events FOR EACH ROW
	WHEN (NEW.type = 'chat.system' AND NEW.run_id = 'run_late') EXECUTE FUNCTION regress_clutch_refuse();
SET clutch.clock = '2026-03-01T12:04:40Z';
SET ROLE regress_clutch_lois;
SET client_min_messages = log;
SELECT clutch.tick();									-- says nothing
RESET ROLE;
SET client_min_messages = warning;
SELECT clutch.tick() -> 'expired' AS expired;			-- the reply
DROP FUNCTION regress_clutch_refuse() CASCADE;
RESET clutch.clock;
RESET client_min_messages;

-- What was granted can be taken back
RESET ROLE;
SELECT clutch.revoke_agent('regress_clutch_ken', 'agent:ken');
SET ROLE regress_clutch_ken;
SELECT clutch.send(pg_temp.said('agent:ken', 'msg_k9'));	-- fail

-- DROP EXTENSION takes the grants along: the roles own nothing and can go.
RESET ROLE;
DROP EXTENSION clutch;
DROP ROLE regress_clutch_ken, regress_clutch_lois, regress_clutch_reader, regress_clutch_stranger;
