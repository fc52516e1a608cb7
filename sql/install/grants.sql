-- ------------------------------------------------------------------ grants
-- This file and dump.sql are also a part of the update from the version before,
-- so whatever it makes may be there already.

-- The functions that grant_agent and grant_reader grant.
CREATE OR REPLACE VIEW clutch.function_grants WITH (security_invoker = true) AS
SELECT g.grantee, f.function::regprocedure AS function
FROM (VALUES
	('reader', ARRAY['clutch.validate(jsonb)', 'clutch.new_id(text)', 'clutch.from_legacy(jsonb)', 'clutch.render(jsonb)', 'clutch.workflow_status(text)', 'clutch.workflow_from_yaml(text)',
		'clutch.validate_payload(text,jsonb,integer)', 'clutch.schema_of(text)',
		'clutch.route(jsonb)', 'clutch.explain_route(jsonb)', 'clutch.why(text)',
		'clutch.version_satisfies(text,text)',
		'clutch.canonical(jsonb)', 'clutch.signing_bytes(jsonb)', 'clutch.ed25519_verify(bytea,bytea,bytea)', 'clutch.check_signature(jsonb,timestamptz)',
		'clutch.agents_meeting(text[])', 'clutch.find_agents(text[],text)',
		'clutch.result(text)', 'clutch.steps(text)', 'clutch.task_tree(text)', 'clutch.replay(text)', 'clutch.export(text)', 'clutch.run_graph(text,text)',
		'clutch.task_transitions()', 'clutch.agent_transitions()', 'clutch.metrics()', 'clutch.prometheus()', 'clutch.count_events(integer,xid8,xid8)', 'clutch.channel(text,text)', 'clutch.listen(text,text)', 'clutch.version()',
		'clutch.check()', 'clutch.prove(bigint)', 'clutch.consistency(bigint,bigint)', 'clutch.verify_log()', 'clutch.get_artifact(text,bigint,bigint)', 'clutch.now()', 'clutch.reads_all()', 'clutch.my_agents()', 'clutch.my_runs()', 'clutch.envelope_of(bigint)', 'clutch.breaker(bigint,timestamptz)', 'clutch.subscribe(text,jsonb,text,integer)', 'clutch.unsubscribe(text)',
		'clutch.read(text,integer,integer)', 'clutch.commit(text,text,integer)', 'clutch.read_from(text,jsonb,integer)', 'clutch.position()',
		'clutch.envelope(text,text,text[],jsonb,text,text,text,text,text[],text[],text,text,text,text,jsonb,jsonb,jsonb,jsonb,integer,text,integer,interval,text[])']),
	('agent', ARRAY['clutch.validate(jsonb)', 'clutch.new_id(text)', 'clutch.from_legacy(jsonb)', 'clutch.render(jsonb)', 'clutch.workflow_status(text)', 'clutch.workflow_from_yaml(text)',
		'clutch.validate_payload(text,jsonb,integer)', 'clutch.schema_of(text)',
		'clutch.canonical(jsonb)', 'clutch.signing_bytes(jsonb)', 'clutch.ed25519_verify(bytea,bytea,bytea)', 'clutch.check_signature(jsonb,timestamptz)',
		'clutch.add_key(text,text,bytea,timestamptz,timestamptz)', 'clutch.revoke_key(text,text)',
		'clutch.envelope(text,text,text[],jsonb,text,text,text,text,text[],text[],text,text,text,text,jsonb,jsonb,jsonb,jsonb,integer,text,integer,interval,text[])',
		'clutch.put_artifact(bytea,text)', 'clutch.begin_artifact(text)', 'clutch.append_artifact(bigint,bytea)', 'clutch.finish_artifact(bigint)', 'clutch.get_artifact(text,bigint,bigint)', 'clutch.send(jsonb)', 'clutch.send_batch(jsonb[])', 'clutch.send_at(jsonb,timestamptz)', 'clutch.schedule(text,text,jsonb,text)', 'clutch.unschedule(text)', 'clutch.register(jsonb)', 'clutch.heartbeat(text)', 'clutch.set_status(text,text,text)', 'clutch.unregister(text,text)', 'clutch.pause(text,text)', 'clutch.resume(text)',
		'clutch.claim(text,integer,interval)', 'clutch.extend_lease(text,text,integer,interval)',
		'clutch.progress(text,text,jsonb,integer,jsonb)', 'clutch.finish(text,text,jsonb,integer,text,jsonb,jsonb)',
		'clutch.fail(text,text,text,text,boolean,jsonb,integer,jsonb)', 'clutch.report(text,text,text,jsonb,integer,jsonb)',
		'clutch.release(text,text,integer,text)', 'clutch.cancel(text,text,text)', 'clutch.cancel_run(text,text,text)', 'clutch.retry(text,text)',
		'clutch.retry_run(text,text)', 'clutch.suspend(text,text,jsonb,jsonb,integer)', 'clutch.step(text,text,text,jsonb,integer)', 'clutch.steps(text)',
		'clutch.answer(text,jsonb,text)', 'clutch.result(text)', 'clutch.tick()', 'clutch.channel(text,text)', 'clutch.listen(text,text)',
		'clutch.subscribe(text,jsonb,text,integer)', 'clutch.unsubscribe(text)', 'clutch.read(text,integer,integer)',
		'clutch.commit(text,text,integer)', 'clutch.read_from(text,jsonb,integer)', 'clutch.position()',
		'clutch.version()', 'clutch.now()', 'clutch.prove(bigint)', 'clutch.consistency(bigint,bigint)', 'clutch.why(text)', 'clutch.reads_all()', 'clutch.my_agents()', 'clutch.my_runs()', 'clutch.envelope_of(bigint)'])) AS g(grantee, functions)
CROSS JOIN LATERAL unnest(g.functions) AS f(function)
UNION ALL
-- Rights are given by the owner alone, as everywhere in PostgreSQL.
SELECT 'operator', p.oid::regprocedure
FROM pg_catalog.pg_proc p
WHERE p.pronamespace = 'clutch'::regnamespace AND p.prorettype <> 'trigger'::regtype
  AND p.proname NOT LIKE 'grant\_%' AND p.proname NOT LIKE 'revoke\_agent'
  AND p.proname NOT IN ('revoke_reader', 'revoke_operator', 'filter_rows');
COMMENT ON VIEW clutch.function_grants IS 'the functions that grant_agent, grant_reader and grant_operator grant (grantee agent, reader or operator)';

CREATE OR REPLACE FUNCTION clutch.grant_functions(role_name name, grantee text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	f regprocedure;
BEGIN
	IF NOT EXISTS (SELECT FROM clutch.function_grants g WHERE g.grantee = grant_functions.grantee) THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid grantee "%s"', coalesce(grantee, 'null')),
			DETAIL = '[{"argument": "grantee", "code": "WRONG_VALUE"}]',
			HINT = 'The grantee is agent, reader or operator.';
	END IF;
	EXECUTE format('GRANT USAGE ON SCHEMA clutch TO %I', role_name);
	FOR f IN SELECT g.function FROM clutch.function_grants g WHERE g.grantee = grant_functions.grantee LOOP
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, role_name);
	END LOOP;
END
$$;
COMMENT ON FUNCTION clutch.grant_functions(name, text) IS
	'grants the functions that clutch.function_grants lists for agent, reader or operator, and USAGE on the schema';

-- The role of an agent sees its own rows of these.
CREATE OR REPLACE VIEW clutch.agent_views WITH (security_invoker = true) AS
SELECT v.relation::regclass AS relation, v.own AS own
FROM (VALUES
	('clutch.tasks', NULL), ('clutch.runs', NULL), ('clutch.approvals', NULL), ('clutch.dead_letters', NULL),
	('clutch.schedules', NULL), ('clutch.subscriptions', NULL),
	('clutch.task', 'from_agent = ANY ((SELECT clutch.my_agents())::text[]) OR agent_id = ANY ((SELECT clutch.my_agents())::text[]) '
		'OR past_agents && (SELECT clutch.my_agents())'),
	('clutch.workflow', NULL), ('clutch.workflow_step', NULL),
	('clutch.run_workflow', 'run_id = ANY ((SELECT clutch.my_runs())::text[])'), ('clutch.workflow_task', 'run_id = ANY ((SELECT clutch.my_runs())::text[])'),
	('clutch.question', 'EXISTS (SELECT FROM clutch.task t WHERE t.task_id = question.task_id)'),
	('clutch.schedule', 'owner = (SELECT current_user)::regrole'),
	('clutch.subscription', 'owner = (SELECT current_user)::regrole'),
	('clutch.subscription_position', 'owner = (SELECT current_user)::regrole')
) AS v(relation, own);
COMMENT ON VIEW clutch.agent_views IS
	'what grant_agent lets a role read, and for tables which rows, as the condition of a row-level policy';

-- pg_dump does not write out the policies of a member table, so the extension makes
-- them; a grant makes those that are missing.
CREATE OR REPLACE FUNCTION clutch.filter_rows() RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT a.relation, a.own FROM clutch.agent_views a
			 WHERE a.own IS NOT NULL
			   AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = a.relation AND p.polname = 'clutch_own') LOOP
		EXECUTE format('CREATE POLICY clutch_own ON %s FOR SELECT USING ((SELECT clutch.reads_all()) OR %s)', r.relation, r.own);
	END LOOP;
	FOR r IN SELECT a.relation FROM clutch.agent_views a JOIN pg_class c ON c.oid = a.relation
			 WHERE a.own IS NOT NULL AND NOT c.relrowsecurity LOOP
		EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', r.relation);
	END LOOP;
END
$$;
COMMENT ON FUNCTION clutch.filter_rows() IS
	'makes the row-level policies by which the role of an agent sees its own rows and no others';
SELECT clutch.filter_rows();

CREATE OR REPLACE FUNCTION clutch.grant_agent(role_name text, agent_id text,
		capabilities text[] DEFAULT NULL, scopes text[] DEFAULT NULL) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r regclass;
BEGIN
	IF agent_id IS NULL OR agent_id NOT LIKE 'agent:_%' THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid agent ID "%s"', coalesce(agent_id, 'null')),
			DETAIL = '[{"argument": "agent_id", "code": "WRONG_PREFIX"}]',
			HINT = 'An agent ID begins with "agent:", like "agent:researcher".';
	ELSIF agent_id LIKE '%*%' THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid agent ID "%s": patterns are not supported', agent_id),
			DETAIL = '[{"argument": "agent_id", "code": "WRONG_VALUE"}]',
			HINT = 'Grant each agent by its ID. Several processes may share one agent.';
	ELSIF role_name IS NULL OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = role_name) THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object',
			MESSAGE = format('role "%s" does not exist', coalesce(role_name, 'NULL')),
			DETAIL = '[{"argument": "role_name", "code": "WRONG_VALUE"}]',
			HINT = 'Create the role first.';
	END IF;
	PERFORM clutch.grant_functions(role_name::name, 'agent');
	-- seq and id for RETURNING, the others for the view clutch.subscriptions
	EXECUTE format('GRANT INSERT (envelope), SELECT (seq, id, xid, epoch, received_at) ON clutch.events TO %I', role_name);
	PERFORM clutch.filter_rows();
	FOR r IN SELECT a.relation FROM clutch.agent_views a LOOP
		EXECUTE format('GRANT SELECT ON %s TO %I', r, role_name);
	END LOOP;
	DELETE FROM clutch.principal p
	WHERE p.grantee = quote_ident(role_name)::regrole AND p.agent_id = grant_agent.agent_id;
	INSERT INTO clutch.principal
	VALUES (quote_ident(role_name)::regrole, agent_id, capabilities, scopes);
END
$$;
COMMENT ON FUNCTION clutch.grant_agent(text, text, text[], text[]) IS
	'lets a role speak for an agent, that is, send, claim and report in its name; with capabilities (and scopes), also register cards within them';

CREATE OR REPLACE FUNCTION clutch.revoke_agent(role_name text, agent_id text) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	was boolean;
	f regprocedure;
	r regclass;
BEGIN
	IF to_regrole(quote_ident(role_name)) IS NULL THEN
		RETURN false;
	END IF;
	DELETE FROM clutch.principal p
	WHERE p.grantee = to_regrole(quote_ident(role_name)) AND p.agent_id = revoke_agent.agent_id;
	was := FOUND;
	-- With the last agent, the privileges go, too, so that the role can be dropped.
	IF was AND NOT EXISTS (SELECT FROM clutch.principal p WHERE p.grantee = to_regrole(quote_ident(role_name))) THEN
		FOR f IN SELECT g.function FROM clutch.function_grants g WHERE g.grantee = 'agent' LOOP
			EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM %I', f, role_name);
		END LOOP;
		EXECUTE format('REVOKE INSERT (envelope), SELECT (seq, id, xid, epoch, received_at) ON clutch.events FROM %I', role_name);
		-- A reader keeps its privileges; one by membership does not have them itself.
		IF EXISTS (SELECT FROM pg_class c, aclexplode(c.relacl) a
				   WHERE c.oid = 'clutch.events'::regclass AND a.privilege_type = 'SELECT'
					 AND a.grantee = to_regrole(quote_ident(role_name))) THEN
			PERFORM clutch.grant_functions(role_name::name, 'reader');
		ELSE
			FOR r IN SELECT a.relation FROM clutch.agent_views a LOOP
				EXECUTE format('REVOKE SELECT ON %s FROM %I', r, role_name);
			END LOOP;
			EXECUTE format('REVOKE USAGE ON SCHEMA clutch FROM %I', role_name);
		END IF;
	END IF;
	RETURN was;
END
$$;
COMMENT ON FUNCTION clutch.revoke_agent(text, text) IS
	'takes back what grant_agent gave; returns false if the role did not speak for the agent';

CREATE OR REPLACE FUNCTION clutch.grant_reader(role_name text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
BEGIN
	IF role_name IS NULL OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = role_name) THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object',
			MESSAGE = format('role "%s" does not exist', coalesce(role_name, 'NULL')),
			DETAIL = '[{"argument": "role_name", "code": "WRONG_VALUE"}]',
			HINT = 'Create the role first.';
	END IF;
	PERFORM clutch.grant_functions(role_name::name, 'reader');
	EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA clutch TO %I', role_name);
	EXECUTE format('GRANT SELECT ON ALL SEQUENCES IN SCHEMA clutch TO %I', role_name);
END
$$;
COMMENT ON FUNCTION clutch.grant_reader(text) IS
	'lets a role read the log, the views and the state, but change nothing';

CREATE OR REPLACE FUNCTION clutch.grant_operator(role_name text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
BEGIN
	IF role_name IS NULL OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = role_name) THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object',
			MESSAGE = format('role "%s" does not exist', coalesce(role_name, 'NULL')),
			DETAIL = '[{"argument": "role_name", "code": "WRONG_VALUE"}]',
			HINT = 'Create the role first.';
	END IF;
	PERFORM clutch.grant_functions(role_name::name, 'operator');
	EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA clutch TO %I', role_name);
	EXECUTE format('GRANT SELECT ON ALL SEQUENCES IN SCHEMA clutch TO %I', role_name);
	EXECUTE format('GRANT INSERT (envelope) ON clutch.events TO %I', role_name);
	EXECUTE format('GRANT INSERT, UPDATE, DELETE ON clutch.retry_policy, clutch.group_member TO %I', role_name);
	INSERT INTO clutch.privilege VALUES (quote_ident(role_name)::regrole, 'operator', NULL) ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION clutch.grant_operator(text) IS
	'lets a role operate clutch without being a superuser: it reads everything, speaks for every agent, ticks, prunes, redacts, pauses and sets policies';

CREATE OR REPLACE FUNCTION clutch.revoke_operator(role_name text) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r regrole := to_regrole(quote_ident(role_name));
	f regprocedure;
BEGIN
	DELETE FROM clutch.privilege p WHERE p.grantee = r AND p.privilege = 'operator';
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	FOR f IN SELECT g.function FROM clutch.function_grants g WHERE g.grantee = 'operator' LOOP
		EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM %I', f, role_name);
	END LOOP;
	EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA clutch FROM %I', role_name);
	EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA clutch FROM %I', role_name);
	EXECUTE format('REVOKE INSERT (envelope) ON clutch.events FROM %I', role_name);
	EXECUTE format('REVOKE USAGE ON SCHEMA clutch FROM %I', role_name);
	-- What it has as the role of agents stays.
	PERFORM clutch.grant_agent(role_name, p.agent_id, p.capabilities, p.scopes)
	FROM clutch.principal p WHERE p.grantee = r;
	RETURN true;
END
$$;
COMMENT ON FUNCTION clutch.revoke_operator(text) IS
	'takes back what grant_operator gave; returns false if the role was not an operator';

-- For the scripts of ALTER EXTENSION UPDATE.
CREATE OR REPLACE FUNCTION clutch.grant_again() RETURNS void
	AS 'MODULE_PATHNAME', 'clutch_grant_again' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.grant_again() IS
	'grants what clutch.function_grants lists, and the tables that readers read, to all roles that have been granted them before';

-- By default, PUBLIC can execute every function.  Here PUBLIC gets nothing.  An
-- object that has a list of privileges is left alone, because REVOKE in a script
-- of an extension would take the grants to roles of users for its own.
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT c.oid::regclass AS relation, c.relkind FROM pg_catalog.pg_class c
			 WHERE c.relnamespace OPERATOR(pg_catalog.=) 'clutch'::regnamespace
			   AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,v,S}'::"char"[]) AND c.relacl IS NULL LOOP
		EXECUTE pg_catalog.format('REVOKE ALL ON %s %s FROM PUBLIC', CASE WHEN r.relkind OPERATOR(pg_catalog.=) 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, r.relation);
	END LOOP;
	FOR r IN SELECT p.oid::regprocedure AS function FROM pg_catalog.pg_proc p
			 WHERE p.pronamespace OPERATOR(pg_catalog.=) 'clutch'::regnamespace AND p.proacl IS NULL LOOP
		EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', r.function);
	END LOOP;
END
$$;
