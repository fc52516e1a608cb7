-- ------------------------------------------------- the rows that agents see
-- What a role that speaks for agents, or reads some scopes, may read.  Of the tables it
-- sees the rows that fulfil a condition, which becomes a row-level policy: see
-- flow/sight.h.  clutch.sees finds out once per statement what the role sees of a run,
-- and lets the planner use the indexes on run_id; clutch.reads_all() is a constant in the
-- plan.  The first branch for the log is for INSERT ... RETURNING, which returns rows
-- before another statement could ask.  In a transaction that has not written anything
-- yet, it costs one comparison per row.  It contains no SELECT, because subqueries take
-- time to plan.
CREATE OR REPLACE VIEW clutch.agent_views WITH (security_invoker = true) AS
SELECT v.relation::regclass AS relation, v.own AS own
FROM (VALUES
	('clutch.tasks', NULL), ('clutch.runs', NULL), ('clutch.threads', NULL), ('clutch.task_edges', NULL),
	('clutch.approvals', NULL), ('clutch.dead_letters', NULL), ('clutch.stuck', NULL), ('clutch.more_stuck', NULL),
	('clutch.budgets', NULL), ('clutch.costs', NULL),
	('clutch.functions', NULL), ('clutch.schedules', NULL), ('clutch.subscriptions', NULL), ('clutch.epoch', NULL), ('clutch.stored_epochs', NULL), ('clutch.quotas', NULL), ('clutch.pause', NULL), ('clutch.paused', NULL), ('clutch.adapter', NULL),
	('clutch.events', 'xid = coalesce(pg_catalog.pg_current_xact_id_if_assigned(), ''0'') AND epoch = clutch.current_epoch() '
		'AND clutch.sees_from(from_agent) OR clutch.sees(run_id, task_id)'),
	('clutch.task', 'clutch.sees(run_id, task_id)'),
	('clutch.dependency', 'clutch.sees(run_id, task_id)'),
	('clutch.awaited', 'clutch.sees(run_id, task_id)'),
	('clutch.budget', 'clutch.sees(run_id)'),
	('clutch.spending', 'clutch.sees(run_id)'),
	('clutch.spending_total', 'false'),	-- whoever begins another run of the name did not take part in the one that is gone
	('clutch.run_scope', 'clutch.sees(run_id)'),
	('clutch.run_visibility', 'clutch.sees(run_id)'),
	('clutch.workflow', NULL), ('clutch.workflow_step', NULL),
	('clutch.run_workflow', 'clutch.sees(run_id)'), ('clutch.workflow_task', 'clutch.sees(run_id)'),
	('clutch.question', 'EXISTS (SELECT FROM clutch.task t WHERE t.task_id = question.task_id)'),
	('clutch.step', 'EXISTS (SELECT FROM clutch.task t WHERE t.task_id = step.task_id)'),
	('clutch.suspended', 'EXISTS (SELECT FROM clutch.task t WHERE t.task_id = suspended.task_id)'),
	('clutch.timer', 'EXISTS (SELECT FROM clutch.task t WHERE t.task_id = timer.task_id)'),
	('clutch.ready', 'EXISTS (SELECT FROM clutch.task t WHERE t.task_id = ready.task_id)'),
	('clutch.waiting', 'EXISTS (SELECT FROM clutch.task t WHERE t.task_id = waiting.task_id)'),
	('clutch.agent_slot', 'EXISTS (SELECT FROM clutch.task t WHERE t.task_id = agent_slot.task_id)'),
	('clutch.outbox', 'clutch.sees_from(agent_id)'),
	('clutch.keys', NULL),
	('clutch.agent_key', 'agent_id = ANY ((SELECT clutch.my_agents())::text[])'),
	('clutch.schedule', 'clutch.is_role(owner) AND owner = (SELECT pg_catalog.quote_ident(current_user)::regrole)'),	-- the second for the index
	('clutch.subscription', 'owner = (SELECT pg_catalog.quote_ident(current_user)::regrole)'),
	('clutch.subscription_position', 'owner = (SELECT pg_catalog.quote_ident(current_user)::regrole)')
) AS v(relation, own);
COMMENT ON VIEW clutch.agent_views IS
	'what grant_agent lets a role read, and for tables which rows, as the condition of a row-level policy';

-- ------------------------------------------------------------------- checks
-- What clutch.check() finds in the tables that are created after it, and in the catalog.
CREATE OR REPLACE VIEW clutch.more_checks WITH (security_invoker = true) AS
WITH written_by_sql(relname) AS (VALUES	-- src/store/protection.c has the same list
	('adapter'::name), ('checkpoint'), ('endpoint'), ('endpoint_secret'), ('event_count'), ('event_count_place'), ('events'), ('group_member'),
	('principal'), ('privilege'), ('quota'), ('registry_document'), ('retry_policy'), ('routing_rule'), ('secret'))
-- Whoever does not see the rows of clutch.secret is told nothing about it.
SELECT 'SECRET_NOT_RESTORED'::text AS code,
	   CASE WHEN s.made_at IS NULL THEN 'clutch.secret has no row, so no IDs are derived, and no request can wait for an agent'
			ELSE pg_catalog.format('the log was begun at %s, but the secret from which IDs are derived was made at %s', b.begun, s.made_at) END AS detail,
	   CASE WHEN s.made_at IS NULL THEN 'Copy the rows of clutch.secret from the original; if it is gone: INSERT INTO clutch.secret SELECT ''-infinity'', sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));'
			ELSE 'Copy the rows of clutch.secret from the original; if it is gone: UPDATE clutch.secret SET made_at = ''-infinity'';' END AS hint
FROM (SELECT min(made_at) AS made_at FROM clutch.secret) AS s
CROSS JOIN (SELECT min(started_at) AS begun FROM clutch.epoch) AS b
WHERE b.begun < s.made_at OR s.made_at IS NULL AND NOT pg_catalog.row_security_active('clutch.secret'::regclass)
UNION ALL
SELECT 'OUTBOX_OVERDUE',
	   pg_catalog.format('%s calls are due, the first since %s, and no gateway has claimed them',
						 CASE WHEN sum(d.calls) > 10000 THEN 'more than 10000' ELSE sum(d.calls)::text END, min(d.first)),
	   'Let a role with clutch.grant_gateway call clutch.outbox_claim and send them, or pause the endpoint.'
FROM clutch.outbox_waiting e
CROSS JOIN LATERAL (
	SELECT count(*) AS calls, min(o.due_at) AS first
	FROM (SELECT o.due_at FROM clutch.outbox o
		  WHERE o.endpoint = e.endpoint AND o.due_at < clutch.now() - interval '5 minutes'
		  ORDER BY o.due_at LIMIT 10001) AS o) AS d
HAVING sum(d.calls) > 0
UNION ALL
-- Those that wait for a transaction come and go; one that fails for ever stays.
SELECT 'CONSEQUENCE_OVERDUE',
	   pg_catalog.format('postponed consequences that cannot be handled: %s, the first of which has waited since %s',
						 CASE WHEN count(*) > 10000 THEN 'more than 10000' ELSE count(*)::text END, min(c.since)),
	   'They are tried again by each tick, and the server log says why that fails: perhaps a trigger of your own on clutch.events raises errors, or an open transaction holds the task.'
FROM (SELECT q.since FROM clutch.consequence q WHERE q.since < clutch.now() - interval '5 minutes' ORDER BY q.no LIMIT 10001) AS c
HAVING count(*) > 0
UNION ALL
-- The settings are compared first, so that nobody's lag is counted for nothing.
SELECT 'RETENTION_HELD',
	   pg_catalog.format('events since %s are kept, because the subscription %L of %s has not handled them', min(s.oldest), s.name, s.owner),
	   pg_catalog.format('Let %1$s read them, or call clutch.unsubscribe(%2$L); or set clutch.prune_unread to on to remove them unread.', s.owner, s.name)
FROM clutch.subscriptions s
WHERE pg_catalog.lower(pg_catalog.current_setting('clutch.retention', true)) <> 'off'
  AND pg_catalog.current_setting('clutch.prune_unread', true) = 'off'
  AND s.oldest < clutch.now() - nullif(pg_catalog.lower(pg_catalog.current_setting('clutch.retention', true)), 'off')::interval - interval '5 minutes'
GROUP BY s.name, s.owner
UNION ALL
SELECT 'ENDPOINT_BROKEN', pg_catalog.format('endpoint %s names the %s %L, which does not exist', e.name, w.what, w.name) COLLATE "default",
	   pg_catalog.format('UPDATE clutch.endpoint, or add the %s.', w.what) COLLATE "default"
FROM clutch.endpoint e
CROSS JOIN LATERAL (
	SELECT 'adapter', e.adapter WHERE NOT EXISTS (SELECT FROM clutch.adapter a WHERE a.name = e.adapter)
	UNION ALL
	SELECT 'secret', s.name FROM unnest(ARRAY[e.signing_secret, e.auth_secret]) AS s(name)
	WHERE s.name IS NOT NULL AND NOT clutch.has_endpoint_secret(s.name)) AS w(what, name)
UNION ALL
SELECT 'ENDPOINT_BROKEN', pg_catalog.format('endpoint %s names the secret %L, which cannot sign webhooks', e.name, e.signing_secret) COLLATE "default",
	   'Store another one with clutch.set_endpoint_secret: "whsec_" and the base64 of 24 to 64 bytes; several are separated by spaces.'
FROM clutch.endpoint e
WHERE clutch.has_endpoint_secret(e.signing_secret) AND NOT clutch.has_signing_secret(e.signing_secret)
UNION ALL
-- Whoever may use the endpoint can call tools there, although nobody is registered under that name.
SELECT 'ENDPOINT_BROKEN', pg_catalog.format('endpoint %s serves %s, which is not registered, so no task is given to it', e.name, e.serves) COLLATE "default",
	   pg_catalog.format('Register the agent, for example with clutch.import_card, or: UPDATE clutch.endpoint SET serves = NULL WHERE name = %L;', e.name) COLLATE "default"
FROM clutch.endpoint e
WHERE e.serves IS NOT NULL AND e.agents = '{}'
  AND NOT EXISTS (SELECT FROM clutch.agent_registry r WHERE r.agent_id = e.serves)
UNION ALL
SELECT 'ADAPTER_BROKEN', pg_catalog.format('adapter %s names the function %s(%s) that returns %s, which does not exist', a.name, f.name, f.arguments, f.result) COLLATE "default",
	   'Create the function, or delete the row of the adapter from clutch.adapter.'
FROM clutch.adapter a
CROSS JOIN LATERAL (VALUES (a.can_handle, 1, 'jsonb', 'boolean'), (a.inbound, 2, 'jsonb, jsonb', 'jsonb'), (a.outbound, 1, 'jsonb', 'jsonb')) AS f(name, narguments, arguments, result)
WHERE f.name IS NOT NULL AND NOT EXISTS (
	SELECT FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
	WHERE p.proname = ANY (pg_catalog.string_to_array(pg_catalog.replace(f.name, '"', '') || '.' || pg_catalog.lower(f.name), '.'))
	  AND n.nspname || '.' || p.proname = ANY (ARRAY[pg_catalog.replace(f.name, '"', ''), pg_catalog.lower(f.name)])
	  AND p.pronargs = f.narguments AND 'jsonb'::regtype = ALL (p.proargtypes) AND p.prorettype = f.result::regtype)
UNION ALL
-- Of many artifacts, 1000 are examined: a dump without the chunks lacks those of all. The size of a chunk is known without reading it.
SELECT 'ARTIFACT_INCOMPLETE', pg_catalog.format('artifact:sha256:%s has %s bytes, but chunks of it are missing', a.digest, a.bytes) COLLATE "default",
	   pg_catalog.format('Restore the rows of clutch.artifact_chunk with content_no %s from a backup that has them.', a.content_no) COLLATE "default"
FROM (SELECT r.digest, r.bytes, r.content_no FROM clutch.artifact r LIMIT 1000) AS a
WHERE a.bytes > (SELECT coalesce(sum(pg_catalog.octet_length(c.content)), 0) FROM clutch.artifact_chunk c WHERE c.content_no = a.content_no)
UNION ALL
-- A restore or DROP OWNED BY leaves rows with the OID of a role that was dropped.
SELECT 'ROLE_GONE', pg_catalog.format('role %s, which %s, does not exist any more', g.role, g.what) COLLATE "default", g.remedy COLLATE "default"
FROM (
	SELECT p.grantee AS role, pg_catalog.format('spoke for %s', p.agent_id) AS what,
		   pg_catalog.format('DELETE FROM clutch.principal WHERE grantee = %s::oid;', p.grantee::oid) AS remedy
	FROM clutch.principal p
	UNION ALL
	SELECT p.grantee, pg_catalog.format('had the privilege %s', p.privilege),
		   pg_catalog.format('DELETE FROM clutch.privilege WHERE grantee = %s::oid;', p.grantee::oid)
	FROM clutch.privilege p
	UNION ALL
	SELECT q.grantee, pg_catalog.format('had a quota of %s', q.what),
		   pg_catalog.format('DELETE FROM clutch.quota WHERE grantee = %s::oid;', q.grantee::oid)
	FROM clutch.quota q WHERE q.grantee::oid <> 0
	UNION ALL
	SELECT s.owner, pg_catalog.format('had the subscription %L', s.name),
		   pg_catalog.format('DELETE FROM clutch.subscription WHERE owner = %s::oid; DELETE FROM clutch.subscription_position WHERE owner = %1$s::oid;', s.owner::oid)
	FROM clutch.subscription s
	UNION ALL
	SELECT s.owner, pg_catalog.format('had the schedule %L', s.name),
		   pg_catalog.format('DELETE FROM clutch.schedule WHERE owner = %s::oid;', s.owner::oid)
	FROM clutch.schedule s) AS g
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = g.role)
UNION ALL
-- A restore of the data only, or without privileges, leaves roles that have been granted something without any right.
SELECT 'ROLE_LACKS_PRIVILEGES', pg_catalog.format('clutch.privileges lists roles that may not use the schema clutch: %s, for example %s', count(*), min(r.rolname COLLATE "C")) COLLATE "default",
	   'SELECT clutch.grant_again();'
FROM pg_catalog.pg_roles r
WHERE r.oid IN (SELECT p.grantee::oid FROM clutch.principal p UNION ALL SELECT p.grantee::oid FROM clutch.privilege p)
  AND NOT pg_catalog.has_schema_privilege(r.oid, 'clutch', 'USAGE')
HAVING count(*) > 0
UNION ALL
-- A dump can leave policies out. The secrets have none, so that nobody but their owner sees a row.
SELECT 'ROWS_NOT_FILTERED', pg_catalog.format('row-level security of %s is off, so roles that may read it see the rows of others', f.relation) COLLATE "default",
	   f.remedy COLLATE "default"
FROM (
	SELECT a.relation, true AS has_policy, 'SELECT clutch.filter_rows();' AS remedy FROM clutch.agent_views a WHERE a.own IS NOT NULL
	UNION ALL
	SELECT s, false, pg_catalog.format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY;', s)
	FROM unnest('{clutch.secret,clutch.endpoint_secret}'::regclass[]) AS s) AS f
JOIN pg_catalog.pg_class c ON c.oid = f.relation
WHERE (EXISTS (SELECT FROM clutch.principal) OR EXISTS (SELECT FROM clutch.privilege))
  AND (NOT c.relrowsecurity
	   OR f.has_policy AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'clutch_own'))
UNION ALL
-- What belongs to another role, the owner of the extension may not use.  Here and below, the
-- case of words is that of SQL: in a Turkish database, upper('view') is not VIEW.
SELECT 'OWNER_DIFFERS', pg_catalog.format('%s %s belongs to %s, and the extension to %s', o.type, o.identity, m.owner::regrole, e.extowner::regrole) COLLATE "default",
	   pg_catalog.format('ALTER %s %s OWNER TO %s;', pg_catalog.upper(o.type COLLATE "C"), o.identity, e.extowner::regrole) COLLATE "default"
FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
JOIN (SELECT 'pg_class'::regclass, c.oid, c.relowner FROM pg_catalog.pg_class c
	  UNION ALL
	  SELECT 'pg_proc'::regclass, p.oid, p.proowner FROM pg_catalog.pg_proc p
	  UNION ALL
	  SELECT 'pg_type'::regclass, t.oid, t.typowner FROM pg_catalog.pg_type t
	  UNION ALL
	  SELECT 'pg_namespace'::regclass, n.oid, n.nspowner FROM pg_catalog.pg_namespace n) AS m(class, oid, owner)
	ON m.class = d.classid AND m.oid = d.objid AND m.owner <> e.extowner
CROSS JOIN LATERAL pg_catalog.pg_identify_object(d.classid, d.objid, 0) AS o
WHERE e.extname = 'clutch'
  -- Since PostgreSQL 17, row types and arrays are members, too.  A condition in the branch of pg_type would
  -- make the planner read all of these catalogs.
  AND (m.class <> 'pg_type'::regclass OR
	   (SELECT t.typcategory <> 'A' AND (t.typrelid = 0 OR (SELECT r.relkind = 'c' FROM pg_catalog.pg_class r WHERE r.oid = t.typrelid))
		FROM pg_catalog.pg_type t WHERE t.oid = m.oid))
UNION ALL
-- An owner can lose the privileges on what it owns, for example by REVOKE ALL ON ALL TABLES.  A superuser needs none.
SELECT 'OWNER_LACKS_PRIVILEGE', pg_catalog.format('%s, the owner of the extension, lacks %s on %s %s', e.extowner::regrole, m.lacks, o.type, o.identity) COLLATE "default",
	   pg_catalog.format('GRANT ALL ON %s %s TO %s;', pg_catalog.replace(pg_catalog.upper(o.type COLLATE "C"), 'VIEW', 'TABLE'), o.identity, e.extowner::regrole) COLLATE "default"
FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
JOIN (SELECT 'pg_class'::regclass, c.oid, c.relowner, string_agg(w.privilege, ', ' ORDER BY w.place)
	  FROM pg_catalog.pg_class c
	  JOIN (VALUES ('r', 1, 'SELECT'), ('r', 2, 'INSERT'), ('r', 3, 'UPDATE'), ('r', 4, 'DELETE'), ('r', 5, 'TRUNCATE'),
				   ('v', 1, 'SELECT'), ('S', 1, 'SELECT'), ('S', 2, 'UPDATE')) AS w(relkind, place, privilege)
		ON c.relkind = w.relkind AND c.relacl IS NOT NULL AND NOT pg_catalog.has_table_privilege(c.relowner, c.oid, w.privilege)
	  WHERE (SELECT NOT r.rolsuper FROM pg_catalog.pg_extension x JOIN pg_catalog.pg_roles r ON r.oid = x.extowner WHERE x.extname = 'clutch')
	  GROUP BY c.oid, c.relowner
	  UNION ALL
	  SELECT 'pg_proc'::regclass, p.oid, p.proowner, 'EXECUTE' FROM pg_catalog.pg_proc p
	  WHERE (SELECT NOT r.rolsuper FROM pg_catalog.pg_extension x JOIN pg_catalog.pg_roles r ON r.oid = x.extowner WHERE x.extname = 'clutch')
		AND p.proacl IS NOT NULL AND NOT pg_catalog.has_function_privilege(p.proowner, p.oid, 'EXECUTE')
	  UNION ALL
	  SELECT 'pg_namespace'::regclass, n.oid, n.nspowner, 'USAGE' FROM pg_catalog.pg_namespace n
	  WHERE (SELECT NOT r.rolsuper FROM pg_catalog.pg_extension x JOIN pg_catalog.pg_roles r ON r.oid = x.extowner WHERE x.extname = 'clutch')
		AND n.nspacl IS NOT NULL AND NOT pg_catalog.has_schema_privilege(n.nspowner, n.oid, 'USAGE')) AS m(class, oid, owner, lacks)
	ON m.class = d.classid AND m.oid = d.objid AND m.owner = e.extowner
CROSS JOIN LATERAL pg_catalog.pg_identify_object(d.classid, d.objid, 0) AS o
WHERE e.extname = 'clutch'
UNION ALL
-- Whoever may write a state table may, for example, speak for any agent.  PUBLIC has no right on anything.  What users have
-- made in the schema is theirs to grant, here and below.
SELECT 'PRIVILEGE_TOO_WIDE', pg_catalog.format('%s has %s on %s %s, which no function of clutch grants', g.grantee, g.privileges, pg_catalog.lower(g.kind COLLATE "C"), g.name) COLLATE "default",
	   pg_catalog.format('REVOKE %s ON %s %s FROM %s;', g.privileges, g.kind, g.name, g.grantee) COLLATE "default"
FROM (
	SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee, string_agg(DISTINCT a.privilege_type, ', ') AS privileges,
		   CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind, c.oid::regclass::text AS name
	FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
	WHERE c.relnamespace = 'clutch'::regnamespace AND c.relkind IN ('r', 'v', 'S') AND a.grantee <> c.relowner
	  AND (a.grantee = 0 OR c.relkind <> 'v' AND a.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE') AND
		   -- those that operators write by hand, and the log, which its triggers guard
		   c.relname NOT IN ('events', 'group_member', 'registry_document', 'adapter', 'retry_policy', 'quota', 'routing_rule', 'endpoint'))
	  AND EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
	GROUP BY a.grantee, c.oid, c.relkind
	UNION ALL
	SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END, 'EXECUTE', 'FUNCTION', p.oid::regprocedure::text
	FROM pg_catalog.pg_proc p CROSS JOIN LATERAL pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) AS a
	WHERE p.pronamespace = 'clutch'::regnamespace AND a.grantee <> p.proowner
	  AND EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
	  -- calls contain what was made from secrets
	  AND (a.grantee = 0 OR p.proname IN ('outbox_claim', 'outbox_done') AND
		   NOT EXISTS (SELECT FROM clutch.privilege r WHERE r.grantee = a.grantee AND r.privilege = 'gateway'))) AS g
UNION ALL
-- The library refuses these two if it is preloaded.
SELECT 'NOT_LOGGED', pg_catalog.format('%s %s is not written to WAL, so it is lost in a crash', o.type, o.identity) COLLATE "default",
	   pg_catalog.format('ALTER %s %s SET LOGGED;', pg_catalog.upper(o.type COLLATE "C"), o.identity) COLLATE "default"
FROM pg_catalog.pg_class c
CROSS JOIN LATERAL pg_catalog.pg_identify_object('pg_class'::regclass, c.oid, 0) AS o
WHERE c.relnamespace = 'clutch'::regnamespace AND c.relkind IN ('r', 'S') AND c.relpersistence <> 'p'
  AND EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
UNION ALL
SELECT 'NOT_HEAP', pg_catalog.format('%s has the access method %s, but the library writes rows as heap does', c.oid::regclass, a.amname) COLLATE "default",
	   pg_catalog.format('ALTER TABLE %s SET ACCESS METHOD heap;', c.oid::regclass) COLLATE "default"
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_am a ON a.oid = c.relam AND a.amname <> 'heap'
JOIN pg_catalog.pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
WHERE c.relnamespace = 'clutch'::regnamespace AND c.relkind = 'r'
UNION ALL
-- ALTER EXTENSION ... DROP TABLE takes a table off this list, and ADD TABLE does not put it back.  The
-- conditions are those of dump.sql: rows that the extension creates itself, or that belong to a role that is gone,
-- must not be restored.
SELECT 'NOT_DUMPED', pg_catalog.format('pg_dump leaves out the rows of %s', c.oid::regclass) COLLATE "default",
	   pg_catalog.format('UPDATE pg_catalog.pg_extension SET extconfig = extconfig || %L::regclass::oid, extcondition = extcondition || %L::text WHERE extname = ''clutch'';',
			c.oid::regclass,
			CASE WHEN c.relname = 'quota' THEN
					'WHERE grantee::pg_catalog.oid OPERATOR(pg_catalog.=) 0 OR EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) grantee)'
				 WHEN c.relname = ANY ('{principal,privilege,open_work,traffic}') THEN 'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) grantee)'
				 WHEN c.relname = ANY ('{subscription,subscription_position,schedule,artifact_upload,artifact_owner}') THEN
					'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) owner)'
				 WHEN c.relname = ANY ('{payload_type,adapter}') THEN 'WHERE NOT builtin'
				 WHEN c.relname = 'quota_refusal' THEN 'WHERE false'
				 ELSE '' END) COLLATE "default"
FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e'
JOIN pg_catalog.pg_class c ON c.oid = d.objid AND c.relkind IN ('r', 'S')
WHERE e.extname = 'clutch' AND c.relname <> 'copy_begun' AND c.oid <> ALL (coalesce(e.extconfig, '{}'))
UNION ALL
SELECT 'COLUMN_ADDED', pg_catalog.format('clutch.events has the additional column %I, so nothing can be sent', a.attname) COLLATE "default",
	   pg_catalog.format('ALTER TABLE clutch.events DROP COLUMN %I; keep your own data in a table of your own.', a.attname) COLLATE "default"
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = 'clutch.events'::regclass AND a.attnum > 20 AND NOT a.attisdropped
UNION ALL
-- The library writes rows without firing triggers, and foreign keys are triggers.
SELECT DISTINCT 'TRIGGER_IGNORED',
	   CASE WHEN f.oid IS NULL THEN pg_catalog.format('the trigger %I of %s is never fired', t.tgname, t.tgrelid::regclass)
			ELSE pg_catalog.format('the foreign key %I from %s to %s is not enforced', f.conname, f.conrelid::regclass, f.confrelid::regclass)
	   END COLLATE "default",
	   CASE WHEN f.oid IS NULL THEN pg_catalog.format('DROP TRIGGER %I ON %s; -- put one on clutch.events', t.tgname, t.tgrelid::regclass)
			ELSE pg_catalog.format('ALTER TABLE %s DROP CONSTRAINT %I; -- refer to the request in clutch.events', f.conrelid::regclass, f.conname)
	   END COLLATE "default"
FROM pg_catalog.pg_trigger t
JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
LEFT JOIN pg_catalog.pg_constraint f ON f.oid = t.tgconstraint AND f.contype = 'f'
WHERE c.relnamespace = 'clutch'::regnamespace AND c.relkind = 'r' AND p.pronamespace <> c.relnamespace
  AND EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  AND c.relname NOT IN (SELECT w.relname FROM written_by_sql w)
UNION ALL
-- Nor are their constraints checked, except that a unique one is kept by its index.
SELECT 'CONSTRAINT_ADDED', pg_catalog.format(CASE k.contype WHEN 'c' THEN 'the constraint %I of %s is not checked'
			ELSE 'the constraint %I of %s makes clutch fail where a row breaks it' END, k.conname, k.conrelid::regclass) COLLATE "default",
	   pg_catalog.format('ALTER TABLE %s DROP CONSTRAINT %I;', k.conrelid::regclass, k.conname) COLLATE "default"
FROM pg_catalog.pg_constraint k
WHERE k.connamespace = 'clutch'::regnamespace AND k.contype IN ('c', 'u')
  AND pg_catalog.obj_description(k.conrelid, 'pg_class') LIKE 'state: %' AND k.conrelid <> 'clutch.group_member'::regclass
UNION ALL
-- A unique index without a constraint has the same effect.  Two are ours, for the sake of their order.
SELECT 'CONSTRAINT_ADDED', pg_catalog.format('the unique index %s of %s makes clutch fail where a row breaks it', x.indexrelid::regclass, x.indrelid::regclass) COLLATE "default",
	   pg_catalog.format('DROP INDEX %s;', x.indexrelid::regclass) COLLATE "default"
FROM pg_catalog.pg_index x
JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
WHERE i.relnamespace = 'clutch'::regnamespace AND x.indisunique AND x.indexprs IS NULL
  AND coalesce(pg_catalog.pg_get_expr(x.indpred, x.indrelid) ~ '^[(]"?[a-z_]+"? IS NOT NULL[)]$', true)
  AND pg_catalog.obj_description(x.indrelid, 'pg_class') LIKE 'state: %' AND x.indrelid <> 'clutch.group_member'::regclass
  AND i.relname NOT IN ('agent_heartbeat_key', 'agent_slot_key')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = x.indexrelid)
UNION ALL
-- The library makes the entries of indexes, except in the log and where rows are written by SQL, and evaluates no expression.
SELECT 'INDEX_NOT_PLAIN', pg_catalog.format('the index %s has an expression, a condition or an exclusion, so nothing can be written to %s', x.indexrelid::regclass, x.indrelid::regclass) COLLATE "default",
	   CASE WHEN x.indisexclusion THEN pg_catalog.format('ALTER TABLE %s DROP CONSTRAINT %I;', x.indrelid::regclass, i.relname)
			ELSE pg_catalog.format('DROP INDEX %s;', x.indexrelid::regclass) END COLLATE "default"
FROM pg_catalog.pg_index x
JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
JOIN pg_catalog.pg_class t ON t.oid = x.indrelid
JOIN pg_catalog.pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = t.oid AND d.deptype = 'e'
WHERE t.relnamespace = 'clutch'::regnamespace
  AND (x.indexprs IS NOT NULL OR x.indisexclusion OR pg_catalog.pg_get_expr(x.indpred, x.indrelid) !~ '^[(]"?[a-z_]+"? IS NOT NULL[)]$')
  AND t.relname <> 'quota_refusal' AND t.relname NOT IN (SELECT w.relname FROM written_by_sql w);
COMMENT ON VIEW clutch.more_checks IS 'the part of clutch.check() that is about the secret, the outbox, postponed consequences, unread subscriptions, adapters, artifacts, roles that are gone, row-level security, and the catalog';

-- ----------------------------------------------- views that nobody writes to
-- PostgreSQL would pass a statement that changes one of these views on to the table.  Its
-- rows are the state that the log has led to, so a task that was cancelled in that way would
-- keep its slot, and one whose dead letter was deleted would be gone.
CREATE FUNCTION clutch.view_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
		MESSAGE = format('view clutch.%s cannot be changed', TG_TABLE_NAME), HINT = TG_ARGV[0];
END
$$;
COMMENT ON FUNCTION clutch.view_changed() IS 'trigger: refuses to change what a view shows, and says which function does it';

CREATE TRIGGER view_changed INSTEAD OF INSERT OR UPDATE OR DELETE ON clutch.tasks FOR EACH ROW
	EXECUTE FUNCTION clutch.view_changed('A task changes by events: call clutch.cancel(task_id), clutch.retry(task_id) or clutch.release(agent_id, task_id, attempt).');
CREATE TRIGGER view_changed INSTEAD OF INSERT OR UPDATE OR DELETE ON clutch.dead_letters FOR EACH ROW
	EXECUTE FUNCTION clutch.view_changed('Call clutch.retry(task_id) to revive the task; clutch.prune(before) removes runs that are over.');
CREATE TRIGGER view_changed INSTEAD OF INSERT OR UPDATE OR DELETE ON clutch.schedules FOR EACH ROW
	EXECUTE FUNCTION clutch.view_changed('Call clutch.schedule, which replaces a schedule of the same name, or clutch.unschedule(name).');
CREATE TRIGGER view_changed INSTEAD OF INSERT OR UPDATE OR DELETE ON clutch.paused FOR EACH ROW
	EXECUTE FUNCTION clutch.view_changed('Call clutch.pause(what, reason) or clutch.resume(what).');
CREATE TRIGGER view_changed INSTEAD OF INSERT OR UPDATE OR DELETE ON clutch.keys FOR EACH ROW
	EXECUTE FUNCTION clutch.view_changed('Call clutch.add_key(agent_id, kid, public_key) or clutch.revoke_key(agent_id, kid).');
CREATE TRIGGER view_changed INSTEAD OF INSERT OR UPDATE OR DELETE ON clutch.artifacts FOR EACH ROW
	EXECUTE FUNCTION clutch.view_changed('clutch.put_artifact adds an artifact; one that no event attaches is removed after clutch.artifact_grace.');
