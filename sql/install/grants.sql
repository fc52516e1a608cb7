-- ------------------------------------------------------------------ grants
-- This file and dump.sql are also part of the update from the previous version,
-- so whatever they create may exist already.

-- The functions that grant_agent, grant_reader, grant_operator and
-- grant_gateway grant.
CREATE OR REPLACE VIEW clutch.function_grants WITH (security_invoker = true) AS
SELECT g.grantee, f.function::regprocedure AS function
FROM (VALUES
	('reader', ARRAY['clutch.validate(jsonb)', 'clutch.new_id(text)', 'clutch.from_legacy(jsonb)', 'clutch.render(jsonb)', 'clutch.prompt(jsonb,text)', 'clutch.model_message(jsonb,text)', 'clutch.from_model(jsonb,text)', 'clutch.from_model(jsonb,text,jsonb)', 'clutch.can_handle(jsonb)', 'clutch.inbound(jsonb,text,jsonb)', 'clutch.outbound(jsonb,text)', 'clutch.reply(text,text)', 'clutch.task_as(text,text)', 'clutch.card_of(jsonb,text,text)', 'clutch.card_as(jsonb,text)', 'clutch.export_card(text,text)', 'clutch.export_registry(text)', 'clutch.registry_agents(jsonb)', 'clutch.registry_entry(jsonb,jsonb)', 'clutch.workflow_status(text)', 'clutch.workflow_from_yaml(text)',
		'clutch.validate_payload(text,jsonb,integer)', 'clutch.schema_of(text)',
		'clutch.route(jsonb)', 'clutch.explain_route(jsonb)', 'clutch.why(text)',
		'clutch.version_satisfies(text,text)',
		'clutch.canonical(jsonb)', 'clutch.signing_bytes(jsonb)', 'clutch.ed25519_verify(bytea,bytea,bytea)', 'clutch.check_signature(jsonb,timestamptz)',
		'clutch.agents_meeting(text[])', 'clutch.find_agents(text[],text)',
		'clutch.result(text)', 'clutch.steps(text)', 'clutch.task_tree(text)', 'clutch.tree_nodes(text)', 'clutch.thread_context(text)', 'clutch.replay(text)', 'clutch.export(text)', 'clutch.run_graph(text,text)',
		'clutch.task_transitions()', 'clutch.agent_transitions()', 'clutch.metrics()', 'clutch.status_frequencies()', 'clutch.call_frequencies()', 'clutch.prometheus()', 'clutch.count_events(integer,xid8,xid8)', 'clutch.channel(text,text)', 'clutch.listen(text,text)', 'clutch.version()',
		'clutch.check()', 'clutch.prove(bigint)', 'clutch.consistency(bigint,bigint)', 'clutch.verify_log()', 'clutch.get_artifact(text,bigint,bigint)', 'clutch.has_endpoint_secret(text)', 'clutch.has_signing_secret(text)', 'clutch.quota_use()', 'clutch.now()', 'clutch.reads_all()', 'clutch.slots_held(text)', 'clutch.paused_endpoints()', 'clutch.my_agents()', 'clutch.my_runs()', 'clutch.seen_runs()', 'clutch.sees(text,text)', 'clutch.sees_from(text)', 'clutch.is_role(regrole)', 'clutch.current_epoch()', 'clutch.envelope_of(bigint)', 'clutch.breaker(bigint,timestamptz)', 'clutch.subscribe(text,jsonb,text,integer)', 'clutch.unsubscribe(text)',
		'clutch.read(text,integer,integer)', 'clutch.commit(text,text,integer)', 'clutch.read_from(text,jsonb,integer)', 'clutch.position()',
		'clutch.envelope(text,text,text[],jsonb,text,text,text,text,text[],text[],text,text,text,text,jsonb,jsonb,jsonb,jsonb,integer,text,integer,interval,text[])']),
	('agent', ARRAY['clutch.validate(jsonb)', 'clutch.new_id(text)', 'clutch.from_legacy(jsonb)', 'clutch.render(jsonb)', 'clutch.prompt(jsonb,text)', 'clutch.model_message(jsonb,text)', 'clutch.from_model(jsonb,text)', 'clutch.from_model(jsonb,text,jsonb)', 'clutch.can_handle(jsonb)', 'clutch.inbound(jsonb,text,jsonb)', 'clutch.outbound(jsonb,text)', 'clutch.reply(text,text)', 'clutch.task_as(text,text)', 'clutch.card_of(jsonb,text,text)', 'clutch.card_as(jsonb,text)', 'clutch.workflow_status(text)', 'clutch.workflow_from_yaml(text)',
		'clutch.validate_payload(text,jsonb,integer)', 'clutch.schema_of(text)',
		'clutch.canonical(jsonb)', 'clutch.signing_bytes(jsonb)', 'clutch.ed25519_verify(bytea,bytea,bytea)', 'clutch.check_signature(jsonb,timestamptz)',
		'clutch.add_key(text,text,bytea,timestamptz,timestamptz)', 'clutch.revoke_key(text,text)',
		'clutch.envelope(text,text,text[],jsonb,text,text,text,text,text[],text[],text,text,text,text,jsonb,jsonb,jsonb,jsonb,integer,text,integer,interval,text[])',
		'clutch.put_artifact(bytea,text)', 'clutch.begin_artifact(text)', 'clutch.append_artifact(bigint,bytea)', 'clutch.finish_artifact(bigint)', 'clutch.get_artifact(text,bigint,bigint)', 'clutch.send(jsonb)', 'clutch.send_batch(jsonb[])', 'clutch.ingest(jsonb,text,jsonb)', 'clutch.post(text,jsonb)', 'clutch.send_at(jsonb,timestamptz)', 'clutch.schedule(text,text,jsonb,text)', 'clutch.unschedule(text)', 'clutch.register(jsonb)', 'clutch.heartbeat(text)', 'clutch.set_status(text,text,text)', 'clutch.unregister(text,text)', 'clutch.pause(text,text)', 'clutch.resume(text)',
		'clutch.claim(text,integer,interval)', 'clutch.extend_lease(text,text,integer,interval)',
		'clutch.progress(text,text,jsonb,integer,jsonb)', 'clutch.finish(text,text,jsonb,integer,text,jsonb,jsonb)',
		'clutch.fail(text,text,text,text,boolean,jsonb,integer,jsonb)', 'clutch.report(text,text,text,jsonb,integer,jsonb)',
		'clutch.release(text,text,integer,text)', 'clutch.cancel(text,text,text)', 'clutch.cancel_run(text,text,text)', 'clutch.retry(text,text)',
		'clutch.retry_run(text,text)', 'clutch.suspend(text,text,jsonb,jsonb,integer)', 'clutch.step(text,text,text,jsonb,integer)', 'clutch.steps(text)',
		'clutch.answer(text,jsonb,text)', 'clutch.result(text)', 'clutch.tick()', 'clutch.channel(text,text)', 'clutch.listen(text,text)',
		'clutch.subscribe(text,jsonb,text,integer)', 'clutch.unsubscribe(text)', 'clutch.read(text,integer,integer)',
		'clutch.commit(text,text,integer)', 'clutch.read_from(text,jsonb,integer)', 'clutch.position()',
		'clutch.version()', 'clutch.quota_use()', 'clutch.now()', 'clutch.prove(bigint)', 'clutch.consistency(bigint,bigint)', 'clutch.why(text)', 'clutch.reads_all()', 'clutch.my_agents()', 'clutch.my_runs()', 'clutch.seen_runs()', 'clutch.sees(text,text)', 'clutch.sees_from(text)', 'clutch.is_role(regrole)', 'clutch.current_epoch()', 'clutch.envelope_of(bigint)',
		'clutch.route(jsonb)', 'clutch.explain_route(jsonb)', 'clutch.slots_held(text)', 'clutch.paused_endpoints()', 'clutch.task_tree(text)', 'clutch.tree_nodes(text)', 'clutch.thread_context(text)', 'clutch.replay(text)', 'clutch.run_graph(text,text)']),
	('scoped_reader', ARRAY['clutch.validate(jsonb)', 'clutch.new_id(text)', 'clutch.from_legacy(jsonb)', 'clutch.envelope(text,text,text[],jsonb,text,text,text,text,text[],text[],text,text,text,text,jsonb,jsonb,jsonb,jsonb,integer,text,integer,interval,text[])',
		'clutch.route(jsonb)', 'clutch.explain_route(jsonb)', 'clutch.slots_held(text)', 'clutch.paused_endpoints()', 'clutch.why(text)', 'clutch.result(text)', 'clutch.steps(text)',
		'clutch.task_tree(text)', 'clutch.tree_nodes(text)', 'clutch.thread_context(text)', 'clutch.replay(text)', 'clutch.run_graph(text,text)', 'clutch.get_artifact(text,bigint,bigint)', 'clutch.channel(text,text)', 'clutch.listen(text,text)',
		'clutch.subscribe(text,jsonb,text,integer)', 'clutch.unsubscribe(text)', 'clutch.read(text,integer,integer)', 'clutch.commit(text,text,integer)',
		'clutch.read_from(text,jsonb,integer)', 'clutch.position()', 'clutch.version()', 'clutch.quota_use()', 'clutch.now()', 'clutch.reads_all()', 'clutch.my_agents()', 'clutch.my_runs()',
		'clutch.seen_runs()', 'clutch.sees(text,text)', 'clutch.sees_from(text)', 'clutch.is_role(regrole)', 'clutch.current_epoch()', 'clutch.envelope_of(bigint)']),
	('gateway', ARRAY['clutch.outbox_claim(integer,interval)', 'clutch.outbox_done(text,integer,integer,text,jsonb,boolean,interval,integer)', 'clutch.channel(text,text)', 'clutch.listen(text,text)', 'clutch.inbound(jsonb,text,jsonb)', 'clutch.outbound(jsonb,text)', 'clutch.now()', 'clutch.version()'])) AS g(grantee, functions)
CROSS JOIN LATERAL unnest(g.functions) AS f(function)
UNION ALL
-- Only the owner grants rights, as everywhere in PostgreSQL.  What users have made in the
-- schema is theirs to grant, here and in table_grants.
SELECT 'operator', p.oid::regprocedure
FROM pg_catalog.pg_proc p
WHERE p.pronamespace = 'clutch'::regnamespace
  AND EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
	WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	  AND d.refclassid = 'pg_catalog.pg_extension'::regclass AND e.extname = 'clutch')
  AND p.prorettype <> 'trigger'::regtype
  AND p.prorettype <> 'internal'::regtype AND p.proname NOT LIKE E'grant\\_%'
  AND p.proname NOT IN ('revoke_agent', 'revoke_reader', 'revoke_operator', 'revoke_gateway', 'revoke_privilege', 'revoke_rights', 'filter_rows', 'count_more')
  -- calls contain what was made from secrets
  AND p.proname NOT IN ('outbox_claim', 'outbox_done');
COMMENT ON VIEW clutch.function_grants IS 'the functions that grant_agent, grant_reader, grant_operator and grant_gateway grant (grantee agent, scoped_reader, reader, operator or gateway)';

-- The functions for users, in the order of the reference.  Functions that are not in
-- any topic come last; those that only the extension itself calls are not shown.
CREATE OR REPLACE VIEW clutch.functions WITH (security_invoker = true) AS
SELECT coalesce(t.topic, 'more') AS topic,
	   p.proname || '(' || coalesce((SELECT pg_catalog.string_agg(a.name, ', ' ORDER BY a.n)
			FROM ROWS FROM (unnest(p.proargnames), unnest(p.proargmodes)) WITH ORDINALITY AS a(name, mode, n)
			WHERE coalesce(a.mode, 'i') = ANY ('{i,b,v}')), '') || ')' AS call,
	   pg_catalog.format_type(p.prorettype, NULL) AS returns,
	   pg_catalog.obj_description(p.oid, 'pg_proc') AS purpose
FROM pg_catalog.pg_proc p
LEFT JOIN LATERAL (
	SELECT v.topic, v.n, f.place
	FROM (VALUES
		(1, 'write', '{send,send_batch,validate,envelope,new_id,from_legacy,render}'),
		(2, 'agents', '{register,heartbeat,set_status,agent_transitions,unregister,pause,resume,find_agents,agents_meeting,join_group,leave_group}'),
		(3, 'routing', '{route,explain_route,why,version_satisfies,install_rules,uninstall_rules}'),
		(4, 'work', '{claim,extend_lease,progress,finish,result,fail,retry,retry_run,release,cancel,cancel_run,report,answer,suspend,step,steps,set_retry_policy,settle}'),
		(5, 'contracts', '{register_schema,validate_payload,schema_of,register_workflow,unregister_workflow,workflow_from_yaml,workflow_status}'),
		(6, 'read', '{task_tree,thread_context,replay,run_graph,task_transitions}'),
		(7, 'subscriptions', '{subscribe,unsubscribe,read,commit,read_from,position}'),
		(8, 'listening', '{channel,listen}'),
		(9, 'later and again', '{send_at,schedule,unschedule}'),
		(10, 'run it', '{tick,metrics,prometheus,rebuild,check,now,version}'),
		(11, 'retention', '{prune,redact,export,import}'),
		(12, 'artifacts', '{put_artifact,get_artifact,begin_artifact,append_artifact,finish_artifact}'),
		(13, 'adapters', '{ingest,inbound,outbound,reply,task_as,can_handle,prompt,from_model,model_message,import_registry,export_registry,import_card,export_card,card_of,card_as}'),
		(14, 'outbox', '{set_endpoint_secret,post,outbox_claim,outbox_done,endpoints_of,outbox_retry,outbox_drop,webhook_signature}'),
		(15, 'proofs', '{seal,prove,consistency,verify_log,add_checkpoint_signature}'),
		(16, 'signatures', '{canonical,signing_bytes,add_key,revoke_key,check_signature,ed25519_verify}'),
		(17, 'roles', '{grant_agent,revoke_agent,grant_reader,revoke_reader,grant_operator,revoke_operator,grant_gateway,revoke_gateway,set_quota}')
	) AS v(n, topic, names), unnest(v.names::text[]) WITH ORDINALITY AS f(name, place)
	WHERE f.name = p.proname) t ON true
WHERE p.pronamespace = 'clutch'::regnamespace
  AND p.prorettype <> ALL ('{trigger,internal}'::regtype[])
  AND p.proname <> ALL ('{agent_card_schema,breaker,call_frequencies,card_changes,card_members,card_merged,card_schema_name,card_schemas,count_events,count_more,current_epoch,document_definitions,drop_credentials,envelope_of,envelope_schema,filter_rows,grant_again,grant_all,grant_functions,grant_privilege,grant_tables,grantees_of,has_endpoint_secret,has_signing_secret,has_word,is_role,multiagent_rules,my_agents,my_runs,paused_endpoints,place_card,quota_use,reads_all,register_or_lock,registry_agents,registry_cards,registry_entry,registry_rules,require_identifier,require_role,revoke_privilege,revoke_rights,secret_can_sign,seen_runs,sees,sees_from,slots_held,status_frequencies,tree_nodes}')
  AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
ORDER BY t.n, t.place, p.proname, p.pronargs;
COMMENT ON VIEW clutch.functions IS
	'the functions that the current role may call, in the order of the reference, without those that only the extension itself calls';

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
			HINT = 'The grantee is agent, scoped_reader, reader, operator or gateway.';
	END IF;
	EXECUTE format('GRANT USAGE ON SCHEMA clutch TO %I', role_name);
	FOR f IN SELECT g.function FROM clutch.function_grants g WHERE g.grantee = grant_functions.grantee LOOP
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, role_name);
	END LOOP;
END
$$;
COMMENT ON FUNCTION clutch.grant_functions(name, text) IS
	'grants the functions that clutch.function_grants lists for agent, scoped_reader, reader, operator or gateway, and USAGE on the schema';

-- The relations that are granted in addition to clutch.agent_views.
CREATE OR REPLACE VIEW clutch.table_grants WITH (security_invoker = true) AS
SELECT g.grantee, a.relation, 'SELECT'::text AS privileges
FROM clutch.agent_views a CROSS JOIN (VALUES ('agent'), ('scoped_reader')) AS g(grantee)
UNION ALL
SELECT g.grantee, c.oid::regclass, 'SELECT'
FROM pg_catalog.pg_class c CROSS JOIN (VALUES ('reader'), ('operator')) AS g(grantee)
WHERE c.relnamespace = 'clutch'::regnamespace AND c.relkind = ANY ('{r,v,S}'::"char"[])
  AND EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
	WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
	  AND d.refclassid = 'pg_catalog.pg_extension'::regclass AND e.extname = 'clutch')
UNION ALL
SELECT g.grantee, 'clutch.events'::regclass, 'INSERT (envelope)'
FROM (VALUES ('agent'), ('operator')) AS g(grantee)
UNION ALL
-- the tables that the functions for policies write
SELECT 'operator', w.relation, 'INSERT, UPDATE, DELETE'
FROM (VALUES ('clutch.retry_policy'::regclass), ('clutch.group_member'::regclass), ('clutch.quota'::regclass), ('clutch.adapter'::regclass), ('clutch.registry_document'::regclass), ('clutch.routing_rule'::regclass), ('clutch.endpoint'::regclass)) AS w(relation);
COMMENT ON VIEW clutch.table_grants IS
	'the tables, views and sequences that grant_agent, grant_reader and grant_operator grant (grantee agent, scoped_reader, reader or operator)';

-- pg_dump does not write the policies of tables that belong to an extension, so the
-- extension creates them itself.  Each grant creates those that are missing.
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
		EXECUTE format('CREATE POLICY clutch_own ON %s FOR SELECT USING (clutch.reads_all() OR %s)', r.relation, r.own);
	END LOOP;
	-- this policy lets everything pass, because the triggers of the log decide
	-- what may be said
	IF NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = 'clutch.events'::regclass AND p.polname = 'clutch_door') THEN
		CREATE POLICY clutch_door ON clutch.events FOR INSERT WITH CHECK (true);
	END IF;
	FOR r IN SELECT a.relation FROM clutch.agent_views a JOIN pg_class c ON c.oid = a.relation
			 WHERE a.own IS NOT NULL AND NOT c.relrowsecurity LOOP
		EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', r.relation);
	END LOOP;
END
$$;
COMMENT ON FUNCTION clutch.filter_rows() IS
	'makes the row-level policies by which the role of an agent sees its own rows and no others';
SELECT clutch.filter_rows();

-- --------------------------------------------------- giving and taking rights
CREATE OR REPLACE FUNCTION clutch.require_identifier(value text, argument text, kind text) RETURNS void
	AS 'MODULE_PATHNAME', 'clutch_require_identifier' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION clutch.require_identifier(text, text, text) IS
	'raises 22023 if the value of an argument is not an agent ID, a group ID, a word or a name, as its kind says';

CREATE OR REPLACE FUNCTION clutch.require_role(role_name text) RETURNS regrole
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	role_oid oid := (SELECT r.oid FROM pg_roles r WHERE r.rolname = role_name);
BEGIN
	IF role_oid IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object',
			MESSAGE = format('role "%s" does not exist', coalesce(role_name, 'NULL')),
			DETAIL = '[{"argument": "role_name", "code": "WRONG_VALUE"}]',
			HINT = 'Create the role first, or write its name as pg_roles shows it, without quotes. PUBLIC is not a role.';
	END IF;
	RETURN role_oid;
END
$$;
COMMENT ON FUNCTION clutch.require_role(text) IS 'the role of this name; raises 42704 if there is none';

-- What a role has been granted, by the names that function_grants and
-- table_grants use.
CREATE OR REPLACE FUNCTION clutch.grantees_of(role_oid regrole) RETURNS SETOF text
	LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
	BEGIN ATOMIC
		SELECT 'agent'::text WHERE EXISTS (SELECT FROM clutch.principal p WHERE p.grantee = role_oid)
	UNION ALL
		SELECT CASE WHEN p.scopes IS NOT NULL THEN 'scoped_reader' ELSE p.privilege END
		FROM clutch.privilege p WHERE p.grantee = role_oid;
	END;
COMMENT ON FUNCTION clutch.grantees_of(regrole) IS
	'what a role has been granted: agent, scoped_reader, reader, operator, gateway';

CREATE OR REPLACE FUNCTION clutch.grant_tables(role_name name, grantee text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	t record;
BEGIN
	PERFORM clutch.filter_rows();
	FOR t IN SELECT g.relation, g.privileges FROM clutch.table_grants g WHERE g.grantee = grant_tables.grantee LOOP
		EXECUTE format('GRANT %s ON %s TO %I', t.privileges, t.relation, role_name);
	END LOOP;
END
$$;
COMMENT ON FUNCTION clutch.grant_tables(name, text) IS
	'grants the relations that clutch.table_grants lists for agent, scoped_reader, reader or operator';

-- After revoking, grants again what the role still has, because two grants may include the
-- same privilege.
CREATE OR REPLACE FUNCTION clutch.revoke_rights(role_name name, grantee text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	f regprocedure;
	t record;
	other text;
BEGIN
	FOR f IN SELECT g.function FROM clutch.function_grants g WHERE g.grantee = revoke_rights.grantee LOOP
		EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM %I', f, role_name);
	END LOOP;
	FOR t IN SELECT g.relation, g.privileges FROM clutch.table_grants g WHERE g.grantee = revoke_rights.grantee LOOP
		EXECUTE format('REVOKE %s ON %s FROM %I', t.privileges, t.relation, role_name);
	END LOOP;
	EXECUTE format('REVOKE USAGE ON SCHEMA clutch FROM %I', role_name);
	FOR other IN SELECT g FROM clutch.grantees_of(quote_ident(role_name)::regrole) AS g LOOP
		PERFORM clutch.grant_functions(role_name, other), clutch.grant_tables(role_name, other);
	END LOOP;
END
$$;
COMMENT ON FUNCTION clutch.revoke_rights(name, text) IS
	'revokes what grant_functions and grant_tables granted, except what the role also has by other grants';

CREATE OR REPLACE FUNCTION clutch.grant_agent(role_name text, agent_id text,
		capabilities text[] DEFAULT NULL, scopes text[] DEFAULT NULL,
		limits jsonb DEFAULT NULL, broadcast boolean DEFAULT false) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r regrole;
BEGIN
	-- one at a time, because two GRANTs on the same object at once fail
	LOCK TABLE clutch.privilege IN SHARE UPDATE EXCLUSIVE MODE;
	PERFORM clutch.require_identifier(agent_id, 'agent_id', 'agent');
	IF agent_id LIKE '%*%' THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid agent ID "%s": patterns are not supported', agent_id),
			DETAIL = '[{"argument": "agent_id", "code": "WRONG_VALUE"}]',
			HINT = 'Grant each agent by its ID. Several processes may share one agent.';
	ELSIF jsonb_typeof(limits) <> 'object'
	   OR EXISTS (SELECT FROM jsonb_each(CASE WHEN jsonb_typeof(limits) = 'object' THEN limits END) l
				  WHERE l.key <> 'max_concurrency' OR l.value::text !~ '^[1-9][0-9]{0,8}$') THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid limits %s', limits),
			DETAIL = '[{"argument": "limits", "code": "WRONG_VALUE"}]',
			HINT = 'Pass an object with a whole number above 0, like {"max_concurrency": 4}.';
	-- no card has either, so such a grant would give nothing
	ELSIF EXISTS (SELECT FROM unnest(capabilities) AS c(id) WHERE c.id IS NULL OR c.id LIKE '%@%' AND c.id !~ '^(mcp|host):') THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'invalid capabilities: an ID is null or has a version',
			DETAIL = '[{"argument": "capabilities", "code": "WRONG_FORMAT"}]',
			HINT = 'Grant "skill:research" instead of "skill:research@1.0"; the card says which version it is.';
	ELSIF EXISTS (SELECT FROM unnest(scopes) AS s(scope) WHERE s.scope IS NULL OR s.scope <> '*' AND s.scope NOT LIKE 'group:_%') THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'invalid scopes',
			DETAIL = '[{"argument": "scopes", "code": "WRONG_PREFIX"}]',
			HINT = 'A scope is a group, like "group:team-a", or "*" for every scope.';
	END IF;
	PERFORM clutch.require_identifier(c.id, 'capabilities', 'name') FROM unnest(capabilities) AS c(id);
	PERFORM clutch.require_identifier(s.scope, 'scopes', 'name') FROM unnest(scopes) AS s(scope);
	r := clutch.require_role(role_name);
	PERFORM clutch.grant_functions(role_name::name, 'agent'), clutch.grant_tables(role_name::name, 'agent');
	DELETE FROM clutch.principal p WHERE p.grantee = r AND p.agent_id = grant_agent.agent_id;
	INSERT INTO clutch.principal
	VALUES (r, agent_id, capabilities, scopes, (limits ->> 'max_concurrency')::integer, coalesce(broadcast, false));
END
$$;
COMMENT ON FUNCTION clutch.grant_agent(text, text, text[], text[], jsonb, boolean) IS
	'lets a role speak for an agent, that is, send, claim and report in its name; with capabilities (and scopes and limits), also register cards within them; with broadcast, send chat.system';

CREATE OR REPLACE FUNCTION clutch.revoke_agent(role_name text, agent_id text) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r regrole := to_regrole(quote_ident(role_name));
BEGIN
	-- one at a time, because two GRANTs on the same object at once fail
	LOCK TABLE clutch.privilege IN SHARE UPDATE EXCLUSIVE MODE;
	DELETE FROM clutch.principal p WHERE p.grantee = r AND p.agent_id = revoke_agent.agent_id;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	-- when the last agent is revoked, revoke the privileges as well, so that the
	-- role can be dropped
	IF NOT EXISTS (SELECT FROM clutch.principal p WHERE p.grantee = r) THEN
		PERFORM clutch.revoke_rights(role_name::name, 'agent');
	END IF;
	RETURN true;
END
$$;
COMMENT ON FUNCTION clutch.revoke_agent(text, text) IS
	'takes back what grant_agent gave; returns false if the role did not speak for the agent';

CREATE OR REPLACE FUNCTION clutch.grant_reader(role_name text, scopes text[] DEFAULT NULL) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r regrole := clutch.require_role(role_name);
BEGIN
	-- one at a time, because two GRANTs on the same object at once fail
	LOCK TABLE clutch.privilege IN SHARE UPDATE EXCLUSIVE MODE;
	IF scopes IS NOT NULL AND (cardinality(scopes) = 0
			OR EXISTS (SELECT FROM unnest(scopes) AS s(scope) WHERE s.scope IS NULL OR s.scope NOT LIKE 'group:_%')) THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'invalid scopes',
			DETAIL = '[{"argument": "scopes", "code": "WRONG_PREFIX"}]',
			HINT = 'Name at least one scope, like "group:team-a", or pass NULL for a reader of everything.';
	END IF;
	PERFORM clutch.require_identifier(s.scope, 'scopes', 'group') FROM unnest(scopes) AS s(scope);
	DELETE FROM clutch.privilege p WHERE p.grantee = r AND p.privilege = 'reader';
	IF FOUND THEN
		PERFORM clutch.revoke_rights(role_name::name, 'reader'), clutch.revoke_rights(role_name::name, 'scoped_reader');
	END IF;
	INSERT INTO clutch.privilege VALUES (r, 'reader', scopes);
	PERFORM clutch.grant_functions(role_name::name, g), clutch.grant_tables(role_name::name, g)
	FROM clutch.grantees_of(r) AS g WHERE g <> 'agent';
END
$$;
COMMENT ON FUNCTION clutch.grant_reader(text, text[]) IS
	'lets a role read the log, the views and the state, or only the runs of some scopes, but change nothing';

-- Privileges that a role either has or does not have.
CREATE OR REPLACE FUNCTION clutch.grant_privilege(role_name text, privilege text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	r regrole := clutch.require_role(role_name);
BEGIN
	-- one at a time, because two GRANTs on the same object at once fail
	LOCK TABLE clutch.privilege IN SHARE UPDATE EXCLUSIVE MODE;
	PERFORM clutch.grant_functions(role_name::name, privilege), clutch.grant_tables(role_name::name, privilege);
	INSERT INTO clutch.privilege VALUES (r, privilege, NULL) ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION clutch.grant_privilege(text, text) IS
	'grants what operators or gateways are granted, and remembers it';

CREATE OR REPLACE FUNCTION clutch.revoke_privilege(role_name text, privilege text) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
BEGIN
	-- one at a time, because two GRANTs on the same object at once fail
	LOCK TABLE clutch.privilege IN SHARE UPDATE EXCLUSIVE MODE;
	DELETE FROM clutch.privilege p
	WHERE p.grantee = to_regrole(quote_ident(role_name)) AND p.privilege = revoke_privilege.privilege;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	PERFORM clutch.revoke_rights(role_name::name, privilege);
	RETURN true;
END
$$;
COMMENT ON FUNCTION clutch.revoke_privilege(text, text) IS
	'takes back what readers, operators or gateways were granted; returns false if the role was none';

CREATE OR REPLACE FUNCTION clutch.revoke_reader(role_name text) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
BEGIN
	-- one at a time, because two GRANTs on the same object at once fail
	LOCK TABLE clutch.privilege IN SHARE UPDATE EXCLUSIVE MODE;
	IF NOT clutch.revoke_privilege(role_name, 'reader') THEN
		RETURN false;
	END IF;
	PERFORM clutch.revoke_rights(role_name::name, 'scoped_reader');
	RETURN true;
END
$$;
COMMENT ON FUNCTION clutch.revoke_reader(text) IS
	'takes back what grant_reader gave; returns false if the role was not a reader';

CREATE OR REPLACE FUNCTION clutch.grant_operator(role_name text) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$ SELECT clutch.grant_privilege($1, 'operator') $$;
COMMENT ON FUNCTION clutch.grant_operator(text) IS
	'lets a role operate clutch without being a superuser: it reads everything, speaks for every agent, ticks, prunes, redacts, pauses and sets policies';

CREATE OR REPLACE FUNCTION clutch.revoke_operator(role_name text) RETURNS boolean
	LANGUAGE sql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$ SELECT clutch.revoke_privilege($1, 'operator') $$;
COMMENT ON FUNCTION clutch.revoke_operator(text) IS
	'takes back what grant_operator gave; returns false if the role was not an operator';

CREATE OR REPLACE FUNCTION clutch.grant_gateway(role_name text) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$ SELECT clutch.grant_privilege($1, 'gateway') $$;
COMMENT ON FUNCTION clutch.grant_gateway(text) IS
	'lets a role send what is in the outbox: it claims calls with their secrets, and hands in the answers';

CREATE OR REPLACE FUNCTION clutch.revoke_gateway(role_name text) RETURNS boolean
	LANGUAGE sql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$ SELECT clutch.revoke_privilege($1, 'gateway') $$;
COMMENT ON FUNCTION clutch.revoke_gateway(text) IS
	'takes back what grant_gateway gave; returns false if the role was not a gateway';

-- What each role has been granted, in terms of the layers of spec 004.
CREATE OR REPLACE VIEW clutch.privileges WITH (security_invoker = true) AS
SELECT c.relowner::regrole AS role, NULL::text AS agent, 'own'::text AS privilege, NULL::text AS scope, NULL::text AS detail
FROM pg_catalog.pg_class c WHERE c.oid = 'clutch.events'::regclass
UNION ALL
SELECT p.grantee, NULL, CASE p.privilege WHEN 'operator' THEN 'operate' WHEN 'gateway' THEN 'send' ELSE 'read' END, s.scope, NULL
FROM clutch.privilege p LEFT JOIN LATERAL unnest(p.scopes) AS s(scope) ON true
UNION ALL
SELECT p.grantee, p.agent_id, 'speak', NULL, NULL FROM clutch.principal p
UNION ALL
SELECT p.grantee, p.agent_id, 'scope', s.scope, NULL
FROM clutch.principal p CROSS JOIN LATERAL unnest(p.scopes) AS s(scope)
UNION ALL
SELECT p.grantee, p.agent_id, 'register', NULL, c.capability
FROM clutch.principal p CROSS JOIN LATERAL unnest(p.capabilities) AS c(capability)
UNION ALL
SELECT p.grantee, p.agent_id, 'limit', NULL, format('max_concurrency %s', p.max_concurrency)
FROM clutch.principal p WHERE p.capabilities IS NOT NULL AND p.max_concurrency IS NOT NULL
UNION ALL
SELECT p.grantee, p.agent_id, 'broadcast', NULL, NULL FROM clutch.principal p WHERE p.broadcast;
COMMENT ON VIEW clutch.privileges IS
	'which role has which privilege: own, operate, read, send what is in the outbox, speak for an agent, hold a scope, register a capability, a limit of cards, broadcast';

-- Each object is granted once to all roles, because a GRANT writes the list of all its grants again.
CREATE OR REPLACE FUNCTION clutch.grant_all() RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	change text;
BEGIN
	PERFORM clutch.filter_rows();
	FOR change IN
		WITH granted AS MATERIALIZED (
			SELECT g.grantee, string_agg(quote_ident(r.rolname), ', ') AS roles
			FROM pg_roles r CROSS JOIN LATERAL clutch.grantees_of(r.oid::regrole) AS g(grantee)
			WHERE r.oid = ANY (SELECT p.grantee::oid FROM clutch.principal p UNION ALL SELECT v.grantee::oid FROM clutch.privilege v)
			GROUP BY g.grantee)
		SELECT format('GRANT USAGE ON SCHEMA clutch TO %s', g.roles) FROM granted g
		UNION ALL
		SELECT format('GRANT EXECUTE ON FUNCTION %s TO %s', f.function, g.roles) FROM granted g JOIN clutch.function_grants f ON f.grantee = g.grantee
		UNION ALL
		SELECT format('GRANT %s ON %s TO %s', t.privileges, t.relation, g.roles) FROM granted g JOIN clutch.table_grants t ON t.grantee = g.grantee
	LOOP
		EXECUTE change;
	END LOOP;
END
$$;
COMMENT ON FUNCTION clutch.grant_all() IS
	'grants what clutch.function_grants and clutch.table_grants list to all roles that have been granted it before';

-- For the scripts that ALTER EXTENSION UPDATE runs.
CREATE OR REPLACE FUNCTION clutch.grant_again() RETURNS void
	AS 'MODULE_PATHNAME', 'clutch_grant_again' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.grant_again() IS
	'grants what clutch.function_grants lists, and the tables that readers read, to all roles that have been granted them before';

-- What an update has created belongs to the role that runs it, which need not be the
-- owner of the extension.  The owner changes before PUBLIC loses its rights, so that
-- the initial privileges are recorded as those of the right owner.
DO $$
DECLARE
	change text;
BEGIN
	FOREACH change IN ARRAY ARRAY(SELECT c.hint FROM clutch.more_checks c WHERE c.code OPERATOR(pg_catalog.=) 'OWNER_DIFFERS') LOOP
		EXECUTE change;
	END LOOP;
END
$$;

-- By default, PUBLIC can execute every function, and ALTER DEFAULT PRIVILEGES may have
-- given any role any right.  Here nobody but the owner has any.  Objects for which a
-- script of the extension has done this before have initial privileges.  They are left
-- alone, because REVOKE here would record what users have granted as the extension's.
DO $$
DECLARE
	change text;
BEGIN
	FOR change IN
		SELECT pg_catalog.format('REVOKE ALL ON %s %s FROM %s', m.kind, m.name,
				CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC' ELSE a.grantee::pg_catalog.regrole::text END)
		FROM (SELECT 'pg_catalog.pg_class'::regclass, c.oid, c.oid::regclass::text, c.relowner,
					 CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
					 c.relacl
			  FROM pg_catalog.pg_class c
			  WHERE c.relnamespace OPERATOR(pg_catalog.=) 'clutch'::regnamespace AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,v,S}'::"char"[])
			  UNION ALL
			  SELECT 'pg_catalog.pg_proc'::regclass, p.oid, p.oid::regprocedure::text, p.proowner, 'FUNCTION',
					 p.proacl
			  FROM pg_catalog.pg_proc p WHERE p.pronamespace OPERATOR(pg_catalog.=) 'clutch'::regnamespace
			  UNION ALL
			  SELECT 'pg_catalog.pg_type'::regclass, t.oid, t.oid::regtype::text, t.typowner, 'TYPE', t.typacl
			  FROM pg_catalog.pg_type t WHERE t.typnamespace OPERATOR(pg_catalog.=) 'clutch'::regnamespace) AS m(class, oid, name, owner, kind, acl)
		-- PUBLIC in any case, so that there are initial privileges; but types remain those of PUBLIC
		CROSS JOIN LATERAL (SELECT 0::oid UNION SELECT x.grantee FROM pg_catalog.aclexplode(m.acl) AS x) AS a(grantee)
		WHERE a.grantee OPERATOR(pg_catalog.<>) m.owner
		  AND NOT (m.kind OPERATOR(pg_catalog.=) 'TYPE' AND a.grantee OPERATOR(pg_catalog.=) 0)
		  AND EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
			WHERE d.classid OPERATOR(pg_catalog.=) m.class AND d.objid OPERATOR(pg_catalog.=) m.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'
			  AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::regclass AND e.extname OPERATOR(pg_catalog.=) 'clutch')
		  AND NOT EXISTS (SELECT FROM pg_catalog.pg_init_privs i
			WHERE i.classoid OPERATOR(pg_catalog.=) m.class AND i.objoid OPERATOR(pg_catalog.=) m.oid AND i.objsubid OPERATOR(pg_catalog.=) 0)
	LOOP
		EXECUTE change;
	END LOOP;
END
$$;
