-- What the extension consists of: its members, their labels, their privileges,
-- and the contract of docs/reference.md (names, arguments, defaults, columns).
\ir ../fixtures/tap.sql
SELECT plan(24);

-- ------------------------------------------------------------- the contract
-- kind: writes  changes the log or the state: VOLATILE, PARALLEL UNSAFE, not PUBLIC's
--       makes   writes nothing, and returns another value each time: VOLATILE
--       reads   tables or settings: STABLE
CREATE TEMP TABLE contract (signature text, kind text, arguments text, result text);
INSERT INTO contract VALUES
('clutch.send(jsonb)', 'writes', 'envelope jsonb', 'clutch.receipt'),
('clutch.send_batch(jsonb[])', 'writes', 'envelopes jsonb[]', 'SETOF clutch.receipt'),
('clutch.validate(jsonb)', 'reads', 'envelope jsonb', 'TABLE(path text, code text, message text)'),
('clutch.new_id(text)', 'makes', 'prefix text', 'text'),
('clutch.from_legacy(jsonb)', 'reads', 'envelope jsonb', 'jsonb'),
('clutch.register(jsonb)', 'writes', 'card jsonb', 'clutch.receipt'),
('clutch.heartbeat(text)', 'writes', 'agent_id text', 'timestamp with time zone'),
('clutch.find_agents(text[],text)', 'reads', 'requires text[], status text DEFAULT NULL::text',
 'SETOF clutch.agents'),
('clutch.route(jsonb)', 'reads', 'envelope jsonb', 'jsonb'),
('clutch.explain_route(jsonb)', 'reads', 'envelope jsonb',
 'TABLE(agent_id text, eligible boolean, rejected_by text, detail text, score double precision, '
 'load double precision, success_rate double precision, rank integer)'),
('clutch.why(text)', 'reads', 'task_id text',
 'TABLE(agent_id text, eligible boolean, rejected_by text, detail text, score double precision, '
 'load double precision, success_rate double precision, rank integer)'),
('clutch.claim(text,integer,interval)', 'writes',
 'agent_id text, max_tasks integer DEFAULT 1, lease interval DEFAULT ''00:01:00''::interval',
 'TABLE(task_id text, attempt integer, lease_until timestamp with time zone, '
 'deadline timestamp with time zone, reason text, last_progress jsonb, answer jsonb, seq bigint, '
 'envelope jsonb, context jsonb)'),
('clutch.extend_lease(text,text,integer,interval)', 'writes',
 'agent_id text, task_id text, attempt integer, lease interval DEFAULT ''00:01:00''::interval',
 'TABLE(lease_until timestamp with time zone, state text)'),
('clutch.progress(text,text,jsonb,integer,jsonb)', 'writes',
 'agent_id text, task_id text, payload jsonb, attempt integer DEFAULT NULL::integer, '
 'usage jsonb DEFAULT NULL::jsonb', 'clutch.receipt'),
('clutch.finish(text,text,jsonb,integer,text,jsonb,jsonb)', 'writes',
 'agent_id text, task_id text, result jsonb DEFAULT ''{}''::jsonb, '
 'attempt integer DEFAULT NULL::integer, payload_type text DEFAULT NULL::text, '
 'usage jsonb DEFAULT NULL::jsonb, attachments jsonb DEFAULT NULL::jsonb', 'clutch.receipt'),
('clutch.fail(text,text,text,text,boolean,jsonb,integer,jsonb)', 'writes',
 'agent_id text, task_id text, code text, message text, retryable boolean DEFAULT true, '
 'details jsonb DEFAULT NULL::jsonb, attempt integer DEFAULT NULL::integer, usage jsonb DEFAULT NULL::jsonb',
 'clutch.receipt'),
('clutch.release(text,text,integer,text)', 'writes',
 'agent_id text, task_id text, attempt integer, reason text DEFAULT NULL::text', 'clutch.receipt'),
('clutch.report(text,text,text,jsonb,integer,jsonb)', 'writes',
 'agent_id text, task_id text, type text, payload jsonb DEFAULT ''{}''::jsonb, '
 'attempt integer DEFAULT NULL::integer, meta jsonb DEFAULT NULL::jsonb', 'clutch.receipt'),
('clutch.cancel_run(text,text,text)', 'writes',
 'run_id text, reason text DEFAULT NULL::text, by_agent text DEFAULT NULL::text', 'bigint'),
('clutch.unregister(text,text)', 'writes', 'agent_id text, reason text DEFAULT NULL::text', 'clutch.receipt'),
('clutch.pause(text,text)', 'writes', 'what text, reason text DEFAULT NULL::text', 'clutch.receipt'),
('clutch.resume(text)', 'writes', 'what text', 'clutch.receipt'),
('clutch.cancel(text,text,text)', 'writes',
 'task_id text, reason text DEFAULT NULL::text, by_agent text DEFAULT NULL::text', 'clutch.receipt'),
('clutch.retry(text,text)', 'writes', 'task_id text, by_agent text DEFAULT NULL::text', 'clutch.receipt'),
('clutch.result(text)', 'reads', 'task_id text',
 'TABLE(task_id text, status text, finished boolean, attempt integer, agent_id text, payload jsonb, '
 'seq bigint, finished_at timestamp with time zone)'),
('clutch.task_tree(text)', 'reads', 'run_id text',
 'TABLE(task_id text, parent_task_id text, depth integer, path text[], status text, agent_id text, '
 'attempt integer, domain text, payload_type text, created_at timestamp with time zone, '
 'started_at timestamp with time zone, finished_at timestamp with time zone)'),
('clutch.tree_nodes(text)', 'reads', 'run_id text',
 'TABLE(task_id text, parent_task_id text, depth integer, path text[], status text, agent_id text, '
 'attempt integer, domain text, payload_type text, created_at timestamp with time zone, '
 'started_at timestamp with time zone, finished_at timestamp with time zone)'),
('clutch.replay(text)', 'reads', 'run_id text', 'SETOF clutch.events'),
('clutch.run_graph(text,text)', 'reads', 'run_id text, format text DEFAULT ''mermaid''::text', 'text'),
('clutch.listen(text,text)', 'makes', 'kind text DEFAULT ''all''::text, id text DEFAULT NULL::text', 'text'),
('clutch.channel(text,text)', 'pure', 'kind text, id text DEFAULT NULL::text', 'text'),
('clutch.tick()', 'writes', '', 'jsonb'),
('clutch.rebuild()', 'writes', '', NULL),
('clutch.prune(timestamptz,integer)', 'writes', 'before timestamp with time zone, max_events integer DEFAULT 10000', 'bigint'),
('clutch.redact(bigint,text)', 'writes', 'seq bigint, reason text', 'void'),
('clutch.export(text)', 'reads', 'run_id text', 'SETOF text'),
('clutch.import(text[])', 'writes', 'lines text[]', 'bigint'),
('clutch.canonical(jsonb)', 'pure', 'document jsonb', 'text'),
('clutch.put_artifact(bytea,text)', 'writes', 'content bytea, media_type text', 'text'),
('clutch.begin_artifact(text)', 'writes', 'media_type text', 'bigint'),
('clutch.append_artifact(bigint,bytea)', 'writes', 'upload bigint, content bytea', 'bigint'),
('clutch.finish_artifact(bigint)', 'writes', 'upload bigint', 'text'),
('clutch.get_artifact(text,bigint,bigint)', 'reads', 'ref text, from_byte bigint DEFAULT 0, bytes bigint DEFAULT NULL::bigint', 'bytea'),
('clutch.seal(bigint)', 'writes', 'max_events bigint DEFAULT 1000000', 'bigint'),
('clutch.prove(bigint)', 'reads', 'seq bigint', 'TABLE(leaf_index bigint, tree_size bigint, root bytea, leaf_hash bytea, path bytea[], leaf bytea)'),
('clutch.consistency(bigint,bigint)', 'reads', 'first_size bigint, second_size bigint', 'TABLE(first_root bytea, second_root bytea, path bytea[])'),
('clutch.verify_log()', 'reads', '', 'TABLE(code text, detail text, hint text)'),
('clutch.add_checkpoint_signature(bigint,text,bytea,bytea)', 'writes', 'size bigint, signer text, public_key bytea, signature bytea', 'boolean'),
('clutch.signing_bytes(jsonb)', 'reads', 'envelope jsonb', 'bytea'),
('clutch.ed25519_verify(bytea,bytea,bytea)', 'pure', 'message bytea, signature bytea, public_key bytea', 'boolean'),
('clutch.check_signature(jsonb,timestamptz)', 'reads', 'envelope jsonb, at timestamp with time zone DEFAULT NULL::timestamp with time zone',
 'TABLE(path text, code text, message text)'),
('clutch.add_key(text,text,bytea,timestamptz,timestamptz)', 'writes', 'agent_id text, kid text, public_key bytea, '
 'valid_from timestamp with time zone DEFAULT NULL::timestamp with time zone, valid_until timestamp with time zone DEFAULT NULL::timestamp with time zone', 'void'),
('clutch.revoke_key(text,text)', 'writes', 'agent_id text, kid text', 'void'),
('clutch.check()', 'reads', '', 'TABLE(code text, detail text, hint text)'),
('clutch.version()', 'pure', '', 'text'),
('clutch.thread_context(text)', 'reads', 'thread_id text', 'jsonb'),
('clutch.can_handle(jsonb)', 'writes', 'raw jsonb', 'text'),
('clutch.inbound(jsonb,text,jsonb)', 'writes', 'raw jsonb, adapter text DEFAULT NULL::text, context jsonb DEFAULT ''{}''::jsonb', 'SETOF jsonb'),
('clutch.outbound(jsonb,text)', 'writes', 'envelope jsonb, adapter text', 'jsonb'),
('clutch.reply(text,text)', 'writes', 'task_id text, adapter text DEFAULT NULL::text', 'jsonb'),
('clutch.task_as(text,text)', 'writes', 'task_id text, adapter text DEFAULT NULL::text', 'jsonb'),
('clutch.prompt(jsonb,text)', 'makes', 'envelope jsonb, model_family text', 'jsonb'),
('clutch.model_message(jsonb,text)', 'reads', 'raw jsonb, model_family text', 'jsonb'),
('clutch.from_model(jsonb,text)', 'writes', 'raw jsonb, model_family text', 'jsonb'),
('clutch.from_model(jsonb,text,jsonb)', 'writes', 'raw jsonb, model_family text, context jsonb', 'jsonb'),
('clutch.ingest(jsonb,text,jsonb)', 'writes', 'raw jsonb, adapter text DEFAULT NULL::text, context jsonb DEFAULT ''{}''::jsonb', 'SETOF clutch.receipt'),
('clutch.install_rules(text)', 'writes', 'name text', 'integer'),
('clutch.uninstall_rules(text)', 'writes', 'name text', 'integer'),
('clutch.import_registry(jsonb)', 'writes', 'document jsonb', 'TABLE(agent text, change text, what text, was jsonb, becomes jsonb)'),
('clutch.export_registry(text)', 'reads', 'registry text DEFAULT NULL::text', 'jsonb'),
('clutch.import_card(jsonb,text,text)', 'writes', 'document jsonb, agent_id text DEFAULT NULL::text, dialect text DEFAULT NULL::text', 'TABLE(agent text, change text, what text, was jsonb, becomes jsonb)'),
('clutch.export_card(text,text)', 'reads', 'agent_id text, dialect text DEFAULT ''agent_json''::text', 'jsonb'),
('clutch.card_of(jsonb,text,text)', 'reads', 'document jsonb, agent_id text DEFAULT NULL::text, dialect text DEFAULT NULL::text', 'jsonb'),
('clutch.card_as(jsonb,text)', 'reads', 'card jsonb, dialect text', 'jsonb'),
('clutch.grant_agent(text,text,text[],text[],jsonb,boolean)', 'writes', 'role_name text, agent_id text, '
 'capabilities text[] DEFAULT NULL::text[], scopes text[] DEFAULT NULL::text[], limits jsonb DEFAULT NULL::jsonb, broadcast boolean DEFAULT false', NULL),
('clutch.revoke_agent(text,text)', 'writes', 'role_name text, agent_id text', NULL),
('clutch.grant_reader(text,text[])', 'writes', 'role_name text, scopes text[] DEFAULT NULL::text[]', NULL),
('clutch.revoke_reader(text)', 'writes', 'role_name text', 'boolean'),
('clutch.grant_operator(text)', 'writes', 'role_name text', NULL),
('clutch.revoke_operator(text)', 'writes', 'role_name text', 'boolean');

-- The same as the catalog has it, however a function declares its columns:
-- RETURNS TABLE, OUT arguments, or a type of ours.
CREATE TEMP VIEW found AS
SELECT c.*, p.oid, p.provolatile, p.proparallel,
	regexp_replace(pg_get_function_arguments(p.oid), '(^|, )OUT .*', '') AS arguments_now,
	coalesce('TABLE(' || o.columns || ')', pg_get_function_result(p.oid)) AS result_now
FROM contract c LEFT JOIN pg_proc p ON p.oid = to_regprocedure(c.signature)
	LEFT JOIN LATERAL (
		SELECT string_agg(format('%s %s', a.name, format_type(a.type, NULL)), ', ' ORDER BY a.i) AS columns
		FROM unnest(p.proargnames, p.proargmodes, p.proallargtypes) WITH ORDINALITY a(name, mode, type, i)
		WHERE a.mode IN ('o', 't')) o ON true;

SELECT is_empty($$ SELECT signature FROM found WHERE oid IS NULL $$,
	'every function of the contract is there');
SELECT is_empty($$ SELECT signature, arguments_now FROM found
	WHERE oid IS NOT NULL AND arguments_now <> arguments $$,
	'with the arguments and defaults of the contract');
SELECT is_empty($$ SELECT signature, result_now FROM found
	WHERE oid IS NOT NULL AND result IS NOT NULL AND result_now <> result $$,
	'and its results');

SELECT is(
	(SELECT string_agg(format('%s %s', a.name, format_type(a.type, NULL)), ', ' ORDER BY a.i)
	 FROM pg_proc p, unnest(p.proargnames, string_to_array(p.proargtypes::text, ' ')::oid[])
		WITH ORDINALITY a(name, type, i)
	 WHERE p.pronamespace = 'clutch'::regnamespace AND p.proname = 'envelope'),
	'type text, from_agent text, to_agents text[], payload jsonb, run_id text, thread_id text, '
	'task_id text, parent_task_id text, requires text[], prefers text[], domain text, '
	'payload_type text, schema_ref text, idempotency_key text, meta jsonb, trace jsonb, '
	'security jsonb, attachments jsonb, attempt integer, id text, priority integer, '
	'deadline interval, after text[]',
	'clutch.envelope takes every field by name');
SELECT is((SELECT pronargs::int - pronargdefaults FROM pg_proc
		   WHERE pronamespace = 'clutch'::regnamespace AND proname = 'envelope'), 2,
	'and needs only the type and the sender');

CREATE TEMP TABLE columns_wanted (relation text, columns text);
INSERT INTO columns_wanted VALUES
('clutch.receipt', 'seq,id,duplicate,run_id,task_id,late'),
('clutch.events', 'seq,xid,epoch,received_at,id,ts,run_id,thread_id,task_id,parent_task_id,type,from_agent,'
				  'to_agents,scope,domain,payload_type,idempotency_key,attempt,late,envelope'),
('clutch.agents', 'agent_id,status,capabilities,max_concurrency,running,success_rate,last_seen,card'),
('clutch.tasks', 'task_id,run_id,parent_task_id,thread_id,status,agent_id,from_agent,attempt,priority,requires,'
				 'waiting_for,code,detail,since,next_at,lease_until,deadline,created_at,started_at,finished_at,'
				 'result_seq,asked_priority'),
('clutch.artifacts', 'ref,media_type,bytes,uploaded_at,events'),
('clutch.checkpoints', 'size,root,sealed_at,origin,first_seq,last_seq,note'),
('clutch.paused', 'what,kind,reason,since,by_agent'),
('clutch.runs', 'run_id,status'),
('clutch.threads', 'thread_id'),
('clutch.task_edges', 'run_id,from_task_id,to_task_id,kind'),
('clutch.stuck', 'task_id'),
('clutch.keys', 'agent_id,kid,public_key,valid_from,valid_until,revoked_at,added_at,is_valid'),
('clutch.costs', 'run_id,agent_id,day,tokens,cost');

SELECT is_empty($$
	SELECT relation, name FROM columns_wanted, string_to_table(columns, ',') AS name
	WHERE NOT EXISTS (SELECT FROM pg_attribute
					  WHERE attrelid = to_regclass(relation) AND attname = name AND NOT attisdropped) $$,
	'the views, the log and the receipt have their columns');

SELECT is_empty($$
	SELECT proname, pronargs FROM pg_proc WHERE pronamespace = 'clutch'::regnamespace
	GROUP BY 1, 2 HAVING count(*) > 1 $$,
	'no two functions have one name and one number of arguments');

-- --------------------------------------------------------------- the members
CREATE TEMP VIEW members AS
SELECT classid, objid FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'clutch');

SELECT is_empty($$
	SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'clutch'::regnamespace
		AND oid NOT IN (SELECT objid FROM members WHERE classid = 'pg_proc'::regclass)
	UNION ALL
	SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'clutch'::regnamespace
		AND relkind IN ('r', 'v', 'S', 'm', 'p')
		AND oid NOT IN (SELECT objid FROM members WHERE classid = 'pg_class'::regclass) $$,
	'everything in the schema belongs to the extension');
SELECT is_empty($$
	SELECT pg_describe_object(classid, objid, 0) FROM members, pg_identify_object(classid, objid, 0) o
	WHERE o.schema IS DISTINCT FROM 'clutch' AND NOT (o.type = 'schema' AND o.name = 'clutch') $$,
	'and everything of the extension is in the schema');
SELECT is_empty($$
	SELECT m.objid::regclass FROM members m JOIN pg_class c ON c.oid = m.objid
	WHERE m.classid = 'pg_class'::regclass AND c.relkind IN ('r', 'S')
		AND c.oid <> ALL ((SELECT extconfig FROM pg_extension WHERE extname = 'clutch')::oid[])
		AND c.relname <> 'copy_begun' $$,
	'pg_dump keeps the rows of every table and the place of every sequence but the one that belongs to the copy');
SELECT is_empty($$
	SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'clutch'::regnamespace
		AND obj_description(oid, 'pg_proc') IS NULL $$,
	'every function has a comment');
SELECT is_empty($$
	SELECT oid::regclass FROM pg_class WHERE relnamespace = 'clutch'::regnamespace
		AND relkind IN ('r', 'v', 'S') AND obj_description(oid, 'pg_class') IS NULL $$,
	'and so has every table, view and sequence');
SELECT is((SELECT default_version FROM pg_available_extensions WHERE name = 'clutch'), clutch.version(),
	'the library and the control file have the same version');

-- ---------------------------------------------------------------- the labels
SELECT is_empty($$
	SELECT signature, provolatile, proparallel FROM found
	WHERE kind = 'writes' AND (provolatile <> 'v' OR proparallel <> 'u') $$,
	'what writes is VOLATILE and PARALLEL UNSAFE');
SELECT is_empty($$
	SELECT signature, provolatile FROM found WHERE kind = 'makes' AND provolatile <> 'v' $$,
	'what returns something else each time is VOLATILE');
SELECT is_empty($$
	SELECT signature, provolatile FROM found WHERE kind = 'reads' AND provolatile <> 's' $$,
	'what reads tables or settings is STABLE');
SELECT is_empty($$
	SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'clutch'::regnamespace
		AND (provolatile = 'i' AND proparallel <> 's'
			 OR prorettype = 'trigger'::regtype AND proparallel <> 'u') $$,
	'what is IMMUTABLE is PARALLEL SAFE, and no trigger is');
SELECT is_empty($$
	SELECT DISTINCT p.oid::regprocedure
	FROM clutch.function_grants g JOIN pg_proc p ON p.oid = g.function AND NOT p.prosecdef AND p.proparallel = 's'
		JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_class'::regclass
		JOIN pg_class c ON c.oid = d.refobjid AND c.relrowsecurity
	WHERE g.grantee IN ('agent', 'scoped_reader') $$,
	'what reads a filtered table for those whom it is filtered for is not PARALLEL SAFE, because the policies are not');

-- ------------------------------------------------------------ the privileges
SELECT is_empty($$
	SELECT p.oid::regprocedure
	FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
	WHERE p.pronamespace = 'clutch'::regnamespace AND a.grantee = 0 AND p.provolatile = 'v'
		AND p.oid NOT IN (SELECT oid FROM found WHERE kind = 'makes' AND oid IS NOT NULL)
		AND p.proname <> 'envelope' $$,
	'no function that writes is executable by PUBLIC');
SELECT is_empty($$
	SELECT c.oid::regclass, a.privilege_type FROM pg_class c, aclexplode(c.relacl) a
	WHERE c.relnamespace = 'clutch'::regnamespace AND a.grantee = 0
	UNION ALL
	SELECT t.attrelid::regclass, a.privilege_type
	FROM pg_attribute t JOIN pg_class c ON c.oid = t.attrelid, aclexplode(t.attacl) a
	WHERE c.relnamespace = 'clutch'::regnamespace AND a.grantee = 0 $$,
	'PUBLIC has no privilege on any table, view or sequence');
SELECT is_empty($$
	SELECT a.privilege_type FROM pg_namespace n, aclexplode(n.nspacl) a
	WHERE n.nspname = 'clutch' AND a.grantee = 0 $$,
	'nor on the schema');
SELECT is_empty($$
	SELECT oid::regprocedure, proconfig FROM pg_proc
	WHERE pronamespace = 'clutch'::regnamespace AND prosecdef
		AND NOT 'search_path=pg_catalog, pg_temp' = ANY (coalesce(proconfig, '{}')) $$,
	'every SECURITY DEFINER function pins its search_path');
SELECT is_empty($$
	SELECT oid::regclass FROM pg_class
	WHERE relnamespace = 'clutch'::regnamespace AND relkind = 'v'
		AND NOT coalesce(reloptions, '{}') && '{security_invoker=true,security_invoker=on,security_invoker=1}' $$,
	'every view is a security_invoker');
SELECT is_empty($$
	SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger
	WHERE NOT tgisinternal AND tgenabled <> 'A'
		AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'clutch'::regnamespace AND relkind <> 'v') $$,
	'every trigger of a table fires whatever session_replication_role says');

SELECT * FROM finish();
