-- What clutch.check() finds in the catalog and about roles that are gone, and
-- that the statements which it hints at repair it.
\ir ../fixtures/tap.sql
SELECT plan(61);
SET clutch.allow_ddl = on;
SELECT clutch.tick() \g /dev/null

CREATE FUNCTION pg_temp.codes() RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(DISTINCT code, ' ' ORDER BY code), 'sound') FROM clutch.check() $$;
CREATE FUNCTION pg_temp.mend() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	FOREACH hint IN ARRAY ARRAY(SELECT c.hint FROM clutch.check() c) LOOP
		EXECUTE split_part(hint, '; keep', 1);
	END LOOP;
	RETURN pg_temp.codes();
END $$;

-- ------------------------------------------------------------------- owners
SELECT is(pg_temp.codes(), 'sound', 'at first nothing is wrong');
CREATE ROLE check_owner;
ALTER TABLE clutch.task OWNER TO check_owner;
ALTER VIEW clutch.tasks OWNER TO check_owner;
ALTER SEQUENCE clutch.queue_no OWNER TO check_owner;
ALTER FUNCTION clutch.send(jsonb) OWNER TO check_owner;
ALTER TYPE clutch.receipt OWNER TO check_owner;
ALTER SCHEMA clutch OWNER TO check_owner;
SELECT is((SELECT string_agg(detail, ', ' ORDER BY detail) FROM clutch.check() WHERE code = 'OWNER_DIFFERS'),
	(SELECT string_agg(format('%s belongs to check_owner, and the extension to %s', w.what, current_user), ', ' ORDER BY w.what)
	 FROM (VALUES ('table clutch.task'), ('view clutch.tasks'), ('sequence clutch.queue_no'), ('function clutch.send(pg_catalog.jsonb)'),
		('type clutch.receipt'), ('schema clutch')) AS w(what)), 'whatever belongs to another role than the extension is reported');
CREATE TABLE clutch.mine ();
ALTER TABLE clutch.mine OWNER TO check_owner;
SELECT is((SELECT count(*) FROM clutch.check()), 6::bigint, 'but not what users have made in the schema');
DROP TABLE clutch.mine;
SELECT is(pg_temp.mend(), 'sound', 'the hints repair it');
SELECT lives_ok('DROP ROLE check_owner', 'and the role can be dropped');

-- --------------------------------------------------------------- privileges
CREATE ROLE check_owner;
BEGIN;
UPDATE pg_extension SET extowner = 'check_owner'::regrole WHERE extname = 'clutch';
ALTER TABLE clutch.task OWNER TO check_owner;
ALTER VIEW clutch.tasks OWNER TO check_owner;
ALTER SEQUENCE clutch.queue_no OWNER TO check_owner;
ALTER FUNCTION clutch.send(jsonb) OWNER TO check_owner;
ALTER SCHEMA clutch OWNER TO check_owner;
CREATE FUNCTION pg_temp.lacking() RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(detail, E'\n' ORDER BY detail COLLATE "C"), 'none') FROM clutch.check() WHERE code = 'OWNER_LACKS_PRIVILEGE' $$;
SELECT is(pg_temp.lacking(), 'none', 'an owner has all privileges');
REVOKE INSERT, DELETE ON clutch.task FROM check_owner;
REVOKE ALL ON clutch.tasks, clutch.queue_no FROM check_owner;
REVOKE ALL ON FUNCTION clutch.send(jsonb) FROM check_owner, PUBLIC;
REVOKE ALL ON SCHEMA clutch FROM check_owner, PUBLIC;
SELECT is(pg_temp.lacking(), (SELECT string_agg('check_owner, the owner of the extension, lacks ' || w.what, E'\n' ORDER BY w.what COLLATE "C")
	FROM (VALUES ('INSERT, DELETE on table clutch.task'), ('SELECT on view clutch.tasks'), ('SELECT, UPDATE on sequence clutch.queue_no'),
		('EXECUTE on function clutch.send(pg_catalog.jsonb)'), ('USAGE on schema clutch')) AS w(what)), 'until it loses them');
DO $$ DECLARE hint text; BEGIN
	FOR hint IN SELECT c.hint FROM clutch.check() c WHERE c.code = 'OWNER_LACKS_PRIVILEGE' LOOP EXECUTE hint; END LOOP;
END $$;
SELECT is(pg_temp.lacking(), 'none', 'the hints give them back');
ROLLBACK;
DROP ROLE check_owner;

-- ------------------------------------------------------------- too many rights
CREATE ROLE check_app;
SELECT clutch.grant_agent('check_app', 'agent:check'), clutch.grant_operator('check_app'), clutch.grant_gateway('check_app') \g /dev/null
GRANT INSERT ON clutch.routing_rule TO check_app;
SELECT is_empty('SELECT * FROM clutch.check()', 'what clutch grants is no fault, nor what operators may write anyway');
CREATE UNLOGGED TABLE clutch.check_own (note text);
CREATE VIEW clutch.check_own_view AS SELECT 1;
GRANT INSERT ON clutch.check_own TO check_app;
GRANT SELECT ON clutch.check_own_view TO PUBLIC;
SELECT is_empty('SELECT * FROM clutch.check()', 'nor what users have made in the schema');
DROP TABLE clutch.check_own;
DROP VIEW clutch.check_own_view;
SELECT clutch.revoke_gateway('check_app') \g /dev/null
GRANT INSERT, SELECT ON clutch.principal TO check_app;
GRANT SELECT ON clutch.tasks TO PUBLIC;
GRANT EXECUTE ON FUNCTION clutch.version() TO PUBLIC;
GRANT EXECUTE ON FUNCTION clutch.outbox_claim(integer, interval) TO check_app;
SELECT results_eq($$SELECT code || ': ' || hint FROM clutch.check() ORDER BY 1$$, $$VALUES
	('PRIVILEGE_TOO_WIDE: REVOKE EXECUTE ON FUNCTION clutch.outbox_claim(integer,interval) FROM check_app;'),
	('PRIVILEGE_TOO_WIDE: REVOKE EXECUTE ON FUNCTION clutch.version() FROM PUBLIC;'),
	('PRIVILEGE_TOO_WIDE: REVOKE INSERT ON TABLE clutch.principal FROM check_app;'),
	('PRIVILEGE_TOO_WIDE: REVOKE SELECT ON TABLE clutch.tasks FROM PUBLIC;')$$, 'rights with which a role could get any other are reported');
SELECT is(pg_temp.mend(), 'sound', 'the hints take them away');
REVOKE INSERT ON clutch.routing_rule FROM check_app;
SELECT clutch.revoke_agent('check_app', 'agent:check'), clutch.revoke_operator('check_app') \g /dev/null
REVOKE ALL ON clutch.principal FROM check_app;
DROP ROLE check_app;

-- -------------------------------------------------------- row-level security
CREATE FUNCTION pg_temp.unfiltered() RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(detail || ': ' || hint, E'\n' ORDER BY detail COLLATE "C"), 'none') FROM clutch.check() WHERE code = 'ROWS_NOT_FILTERED' $$;
BEGIN;
ALTER TABLE clutch.agent_key DISABLE ROW LEVEL SECURITY;
ALTER TABLE clutch.secret DISABLE ROW LEVEL SECURITY;
ALTER TABLE clutch.endpoint_secret DISABLE ROW LEVEL SECURITY;
DROP POLICY clutch_own ON clutch.outbox;
SELECT is(pg_temp.unfiltered(), 'none', 'tables that nobody else may read need no row-level security');
CREATE ROLE check_reader;
SELECT clutch.grant_gateway('check_reader') \g /dev/null
SELECT is(pg_temp.unfiltered(), (SELECT string_agg(format('row-level security of %s is off, so roles that may read it see the rows of others: %s', w.relation, w.hint), E'\n' ORDER BY w.relation)
	FROM (VALUES ('clutch.endpoint_secret', 'ALTER TABLE clutch.endpoint_secret ENABLE ROW LEVEL SECURITY;'),
		('clutch.secret', 'ALTER TABLE clutch.secret ENABLE ROW LEVEL SECURITY;')) AS w(relation, hint)), 'secrets that can be read are reported, while a grant mends the other tables');
ALTER TABLE clutch.agent_key DISABLE ROW LEVEL SECURITY;
DROP POLICY clutch_own ON clutch.events;
SELECT is((SELECT count(*) FROM clutch.check() WHERE code = 'ROWS_NOT_FILTERED' AND hint = 'SELECT clutch.filter_rows();'), 2::bigint, 'unless that is undone, even if no agent has a role');
SELECT is(pg_temp.mend(), 'sound', 'the hints repair it');
SELECT is((SELECT count(*) FROM clutch.agent_views v JOIN pg_class c ON c.oid = v.relation WHERE v.own IS NOT NULL AND NOT c.relrowsecurity), 0::bigint, 'for all tables of which agents see a part');
ROLLBACK;

-- -------------------------------------------------------------- persistence
ALTER TABLE clutch.events SET UNLOGGED;
ALTER SEQUENCE clutch.event_seq SET UNLOGGED;
SELECT is((SELECT string_agg(code || ': ' || hint, ' ' ORDER BY hint) FROM clutch.check()),
	'NOT_LOGGED: ALTER SEQUENCE clutch.event_seq SET LOGGED; NOT_LOGGED: ALTER TABLE clutch.events SET LOGGED;',
	'tables and sequences that a crash would empty');
SELECT is(pg_temp.mend(), 'sound', 'the hints repair it');

CREATE ACCESS METHOD heap_too TYPE TABLE HANDLER heap_tableam_handler;
ALTER TABLE clutch.pause SET ACCESS METHOD heap_too;
SELECT is((SELECT string_agg(code || ': ' || hint, ' ') FROM clutch.check()), 'NOT_HEAP: ALTER TABLE clutch.pause SET ACCESS METHOD heap;', 'a table that the library cannot write');
SELECT is(pg_temp.mend(), 'sound', 'the hint repairs it');
DROP ACCESS METHOD heap_too;

-- --------------------------------------------------------------------- dumps
ALTER EXTENSION clutch DROP TABLE clutch.pause;
ALTER EXTENSION clutch ADD TABLE clutch.pause;
SELECT is((SELECT string_agg(code || ': ' || detail, ' ') FROM clutch.check()), 'NOT_DUMPED: pg_dump leaves out the rows of clutch.pause', 'a table that is no longer dumped');
SELECT is(pg_temp.mend(), 'sound', 'the hint repairs it');
CREATE TEMP TABLE dumped AS SELECT c.* FROM pg_extension e, unnest(e.extconfig, e.extcondition) AS c(relation, condition) WHERE e.extname = 'clutch';
DO $$
DECLARE
	member record;
BEGIN
	FOR member IN SELECT relation::regclass AS name, CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind FROM dumped JOIN pg_class c ON c.oid = relation LOOP
		EXECUTE format('ALTER EXTENSION clutch DROP %s %s', member.kind, member.name);
		EXECUTE format('ALTER EXTENSION clutch ADD %s %s', member.kind, member.name);
	END LOOP;
END $$;
SELECT is((SELECT count(*) FROM clutch.check() WHERE code = 'NOT_DUMPED'), (SELECT count(*) FROM dumped), 'nothing is dumped any more');
SELECT is(pg_temp.mend(), 'sound', 'the hints repair that, too');
SELECT is((SELECT string_agg(format('%s %s', d.relation::regclass, c.condition), ', ' ORDER BY d.relation)
	FROM dumped d LEFT JOIN (SELECT c.* FROM pg_extension e, unnest(e.extconfig, e.extcondition) AS c(relation, condition) WHERE e.extname = 'clutch') AS c ON c.relation = d.relation
	WHERE c.condition IS DISTINCT FROM d.condition), NULL, 'and leave out the same rows as before, which a restore would refuse');
DROP TABLE dumped;

-- ------------------------------------------------------------------ columns
ALTER TABLE clutch.events ADD COLUMN "My note" text;
SELECT is((SELECT string_agg(code || ': ' || detail, ' ') FROM clutch.check()),
	'COLUMN_ADDED: clutch.events has the additional column "My note", so nothing can be sent', 'a column of the log that clutch does not know');
SELECT is(pg_temp.mend(), 'sound', 'the hint repairs it');
SELECT lives_ok($$ SELECT fixture.ask('sent') $$, 'then the log is written');

-- ----------------------------------------------------- triggers without effect
CREATE TABLE note (task_id text COLLATE "C" REFERENCES clutch.task);
CREATE FUNCTION pg_temp.nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER mine AFTER UPDATE ON clutch.task FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing();
CREATE TRIGGER mine AFTER INSERT ON clutch.events FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing();
CREATE TRIGGER mine AFTER INSERT ON clutch.group_member FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing();
CREATE TRIGGER mine AFTER INSERT ON clutch.outbox FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing();
CREATE TABLE clutch.my_notes (note text);
CREATE TRIGGER mine AFTER INSERT ON clutch.my_notes FOR EACH ROW EXECUTE FUNCTION pg_temp.nothing();
SELECT is((SELECT string_agg(code || ': ' || detail, ' ' ORDER BY detail) FROM clutch.check()),
	'TRIGGER_IGNORED: the foreign key note_task_id_fkey from note to clutch.task is not enforced TRIGGER_IGNORED: the trigger mine of clutch.outbox is never fired TRIGGER_IGNORED: the trigger mine of clutch.task is never fired',
	'triggers and foreign keys that state tables ignore, but none of the members of groups, which SQL writes, nor of users');
SELECT is(pg_temp.mend(), 'sound', 'the hints remove them');
DROP TABLE note, clutch.my_notes;

-- -------------------------------------- indexes and constraints that are in the way
CREATE INDEX by_name ON clutch.task (lower(agent_id));
CREATE INDEX failed ON clutch.outbox (endpoint) WHERE state = 'dead';
CREATE INDEX plain ON clutch.task (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX of_log ON clutch.events (lower(from_agent)) WHERE late;
CREATE INDEX of_endpoints ON clutch.endpoint (lower(url));
ALTER TABLE clutch.step ADD CONSTRAINT apart EXCLUDE (task_id WITH =);
ALTER TABLE clutch.task ADD CONSTRAINT few CHECK (attempt < 1000);
ALTER TABLE clutch.question ADD CONSTRAINT one UNIQUE (task_id);
ALTER TABLE clutch.group_member ADD CONSTRAINT few CHECK (agent_id <> 'agent:none');
CREATE UNIQUE INDEX once ON clutch.task (run_id, request_seq);
CREATE UNIQUE INDEX once_ended ON clutch.task (request_seq) WHERE result_seq IS NOT NULL;
CREATE UNIQUE INDEX once_failed ON clutch.task (request_seq) WHERE status = 'failed';
CREATE UNIQUE INDEX once_member ON clutch.group_member (agent_id);
SELECT is((SELECT string_agg(code || ': ' || detail, E'\n' ORDER BY code, detail COLLATE "C") FROM clutch.check()),
	E'CONSTRAINT_ADDED: the constraint few of clutch.task is not checked\n'
	'CONSTRAINT_ADDED: the constraint one of clutch.question makes clutch fail where a row breaks it\n'
	'CONSTRAINT_ADDED: the unique index clutch.once of clutch.task makes clutch fail where a row breaks it\n'
	'CONSTRAINT_ADDED: the unique index clutch.once_ended of clutch.task makes clutch fail where a row breaks it\n'
	'INDEX_NOT_PLAIN: the index clutch.apart has an expression, a condition or an exclusion, so nothing can be written to clutch.step\n'
	'INDEX_NOT_PLAIN: the index clutch.by_name has an expression, a condition or an exclusion, so nothing can be written to clutch.task\n'
	'INDEX_NOT_PLAIN: the index clutch.failed has an expression, a condition or an exclusion, so nothing can be written to clutch.outbox\n'
	'INDEX_NOT_PLAIN: the index clutch.once_failed has an expression, a condition or an exclusion, so nothing can be written to clutch.task',
	'indexes that clutch cannot fill and constraints of state tables, but no index of the log, of rows written by SQL, or on a column that is not null');
SELECT throws_ok($$ SELECT fixture.ask('indexed') $$, '0A000', NULL, 'until then, nothing is requested');
SELECT is(pg_temp.mend(), 'sound', 'the hints remove them');
SELECT lives_ok($$ SELECT fixture.ask('indexed') $$, 'then it is');
SET quote_all_identifiers = on;
SELECT is_empty('SELECT * FROM clutch.check()', 'nor are indexes in the way, with or without quotes around the names of their columns');
CREATE UNIQUE INDEX once_ended ON clutch.task (request_seq) WHERE result_seq IS NOT NULL;
SELECT is(pg_temp.codes(), 'CONSTRAINT_ADDED', 'a unique one is, also with quotes');
DROP INDEX clutch.once_ended;
RESET quote_all_identifiers;
DROP INDEX clutch.plain, clutch.of_log, clutch.of_endpoints, clutch.once_member;
DROP TRIGGER mine ON clutch.events;
DROP TRIGGER mine ON clutch.group_member;

-- -------------------------------------------------------- roles that are gone
CREATE FUNCTION pg_temp.begin(role text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE ROLE %I', role);
	PERFORM clutch.grant_agent(role, 'agent:' || role), clutch.set_quota(role, 'schedules', 9);
	EXECUTE format('SET LOCAL ROLE %I', role);
	PERFORM clutch.subscribe('inbox', '{}', 'beginning');
	PERFORM clutch.schedule('nightly', '0 3 * * *', clutch.envelope('chat.message', 'agent:' || role));
	RESET ROLE;
END $$;
CREATE FUNCTION pg_temp.gone(role text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DROP OWNED BY %1$I', role);
	EXECUTE format('DROP ROLE %1$I', role);
END $$;
CREATE FUNCTION pg_temp.left_behind() RETURNS text LANGUAGE sql AS $$
	SELECT format('%s subscriptions, %s positions, %s schedules', (SELECT count(*) FROM clutch.subscription),
				  (SELECT count(*) FROM clutch.subscription_position), (SELECT count(*) FROM clutch.schedule))
$$;
SELECT pg_temp.begin('check_billing') \g /dev/null
SELECT clutch.grant_operator('check_billing'), clutch.grant_reader('check_billing'), clutch.grant_gateway('check_billing'), clutch.set_quota('PUBLIC', 'steps', 100) \g /dev/null
SELECT is(pg_temp.codes(), 'sound', 'a role that exists is no fault');
SELECT pg_temp.gone('check_billing') \g /dev/null
SELECT is((SELECT string_agg(regexp_replace(detail, '\d+', 'N'), E'\n' ORDER BY detail COLLATE "C") FROM clutch.check() WHERE code = 'ROLE_GONE'),
	E'role N, which had a quota of schedules, does not exist any more\n'
	'role N, which had the privilege gateway, does not exist any more\n'
	'role N, which had the privilege operator, does not exist any more\n'
	'role N, which had the privilege reader, does not exist any more\n'
	'role N, which had the schedule ''nightly'', does not exist any more\n'
	'role N, which had the subscription ''inbox'', does not exist any more\n'
	'role N, which spoke for agent:check_billing, does not exist any more',
	'everything that a dropped role leaves behind is reported');
SELECT is(pg_temp.codes(), 'ROLE_GONE', 'the quota of everybody is not');
CREATE ROLE check_reader;
SELECT clutch.grant_reader('check_reader') \g /dev/null
SET ROLE check_reader;
SELECT is((SELECT count(*) FROM clutch.check()), 7::bigint, 'a reader finds the same');
RESET ROLE;
SELECT clutch.revoke_reader('check_reader') \g /dev/null
DROP ROLE check_reader;
SELECT pg_temp.begin('check_billing') \g /dev/null
SELECT is(pg_temp.left_behind(), '2 subscriptions, 2 positions, 2 schedules', 'a new role of that name has its own');
SELECT is(pg_temp.mend(), 'sound', 'the hints remove what is left');
SELECT is(pg_temp.left_behind(), '1 subscriptions, 1 positions, 1 schedules', 'and nothing else');
SELECT is((SELECT count(*) FROM clutch.quota), 2::bigint, 'the quotas of others stay');

-- roles that are there, but whose rights are not, as after a restore without privileges
CREATE ROLE "check Reader";
SELECT clutch.grant_reader('check Reader') \g /dev/null
DROP OWNED BY check_billing, "check Reader";
SELECT is((SELECT detail FROM clutch.check() WHERE code = 'ROLE_LACKS_PRIVILEGES'), 'clutch.privileges lists roles that may not use the schema clutch: 2, for example check Reader', 'roles without rights are reported');
SELECT is(pg_temp.mend(), 'sound', 'the hint gives them their rights again');
SELECT is(has_function_privilege('check_billing', 'clutch.claim(text, integer, interval)', 'EXECUTE'), true, 'those of an agent');
SELECT is(has_table_privilege('check Reader', 'clutch.agent_registry', 'SELECT'), true, 'and those of a reader');
SELECT clutch.revoke_reader('check Reader') \g /dev/null
DROP ROLE "check Reader";

-- the functions do it as well, for any operator
SELECT pg_temp.gone('check_billing') \g /dev/null
SELECT pg_temp.begin('check_billing') \g /dev/null
SELECT pg_temp.gone('check_billing') \g /dev/null
SELECT pg_temp.begin('check_billing') \g /dev/null
SELECT pg_temp.begin('check_lois') \g /dev/null
CREATE ROLE check_ops;
SELECT clutch.grant_operator('check_ops') \g /dev/null
SET ROLE check_ops;
SELECT is(pg_temp.left_behind(), '4 subscriptions, 4 positions, 4 schedules', 'two of roles that exist, two of roles that do not');
SELECT is(clutch.unsubscribe('inbox'), true, 'an operator means a subscription whose owner is gone');
SELECT is(clutch.unsubscribe('inbox'), true, 'and then the other one');
SELECT is(clutch.unschedule('nightly'), true, 'the same with schedules');
SELECT is(clutch.unschedule('nightly'), true, 'both');
SELECT is(pg_temp.left_behind(), '2 subscriptions, 2 positions, 2 schedules', 'they are removed');
SELECT is((SELECT string_agg(owner::text, ' ' ORDER BY owner::text) FROM clutch.subscriptions), 'check_billing check_lois', 'those of the roles that exist stay');
SELECT is((SELECT string_agg(owner::text, ' ' ORDER BY owner::text) FROM clutch.schedules), 'check_billing check_lois', 'of both kinds');
SELECT throws_like($$ SELECT clutch.unsubscribe('inbox') $$, 'several roles have a subscription "inbox"', 'which of them is meant is a question');
SELECT throws_like($$ SELECT clutch.unschedule('nightly') $$, 'several roles have a schedule "nightly"', 'for schedules, too');
RESET ROLE;
SELECT is((SELECT string_agg(DISTINCT code, ' ') FROM clutch.check()), 'ROLE_GONE', 'grants and quotas are left');
SELECT is(pg_temp.mend(), 'sound', 'and can be removed');

SELECT * FROM finish();
SELECT clutch.revoke_operator('check_ops') \g /dev/null
DROP OWNED BY check_billing, check_lois;
DROP ROLE check_billing, check_lois, check_ops;
