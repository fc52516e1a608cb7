-- Everything of the extension that is in the catalog, as text, without oids: the
-- same for two databases whose extensions are the same.  One line for each fact,
-- "what: name: fact".
SET search_path = pg_catalog;
SET standard_conforming_strings = on;
WITH member AS (
	SELECT d.classid, d.objid FROM pg_depend d
	WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
	  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'clutch')),
relation AS (
	SELECT c.* FROM pg_class c WHERE c.relnamespace = 'clutch'::regnamespace AND c.relkind <> 't'),
routine AS (
	SELECT p.* FROM pg_proc p WHERE p.pronamespace = 'clutch'::regnamespace)
SELECT 'member', pg_describe_object(classid, objid, 0), '' FROM member
UNION ALL
SELECT 'relation', relname, concat_ws(' ', relkind, relpersistence, relnatts, relhasindex, relrowsecurity, relforcerowsecurity, relreplident, relowner::regrole::text,
	array_to_string(reloptions, ' '), (SELECT string_agg(a::text, ' ' ORDER BY a::text) FROM unnest(relacl) a)) FROM relation
UNION ALL
SELECT 'column', r.relname || '.' || a.attnum || ' ' || a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstorage, a.attcompression,
	a.attcollation::regcollation::text, a.attstattarget,
	(SELECT o FROM unnest(a.attoptions) o WHERE o LIKE 'n_distinct=%'), a.attidentity, a.attgenerated, a.attisdropped, a.attacl::text,
	pg_get_expr(d.adbin, d.adrelid))
FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 LEFT JOIN pg_attrdef d ON d.adrelid = r.oid AND d.adnum = a.attnum
UNION ALL
-- from 18 on, NOT NULL is a constraint with a name, which a table that was made anew beside the old one cannot have
SELECT 'constraint', r.relname || CASE WHEN c.contype <> 'n' THEN '.' || c.conname ELSE '' END, concat_ws(' ', c.contype, c.convalidated, c.condeferrable, pg_get_constraintdef(c.oid)) FROM relation r JOIN pg_constraint c ON c.conrelid = r.oid
UNION ALL
SELECT 'index', r.relname, concat_ws(' ', i.indrelid::regclass::text, i.indisunique, i.indisprimary, i.indisvalid, i.indkey::text, i.indcollation::text, i.indoption::text, pg_get_indexdef(r.oid))
FROM relation r JOIN pg_index i ON i.indexrelid = r.oid
UNION ALL
SELECT 'trigger', r.relname || '.' || t.tgname, concat_ws(' ', t.tgenabled, pg_get_triggerdef(t.oid)) FROM relation r JOIN pg_trigger t ON t.tgrelid = r.oid
UNION ALL
SELECT 'rule', r.relname || '.' || w.rulename, pg_get_ruledef(w.oid) FROM relation r JOIN pg_rewrite w ON w.ev_class = r.oid
UNION ALL
SELECT 'policy', r.relname || '.' || p.polname, concat_ws(' ', p.polcmd, p.polpermissive, p.polroles::text, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) FROM relation r JOIN pg_policy p ON p.polrelid = r.oid
UNION ALL
SELECT 'sequence', r.relname, concat_ws(' ', s.seqtypid::regtype::text, s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle) FROM relation r JOIN pg_sequence s ON s.seqrelid = r.oid
UNION ALL
SELECT 'type', t.typname, concat_ws(' ', t.typtype, t.typcategory, t.typowner::regrole::text, nullif(t.typacl, acldefault('T', t.typowner))::text) FROM pg_type t WHERE t.typnamespace = 'clutch'::regnamespace AND t.typname !~ '^_'
UNION ALL
SELECT 'function', p.oid::regprocedure::text, concat_ws(' ', pg_get_functiondef(p.oid), p.prorows, p.procost, p.proowner::regrole::text, pg_get_function_result(p.oid),
	(SELECT string_agg(a::text, ' ' ORDER BY a::text) FROM unnest(p.proacl) a)) FROM routine p
UNION ALL
SELECT 'comment', pg_describe_object(d.classoid, d.objoid, d.objsubid), d.description FROM pg_description d
WHERE (d.classoid = 'pg_class'::regclass AND d.objoid IN (SELECT oid FROM relation))
   OR (d.classoid = 'pg_proc'::regclass AND d.objoid IN (SELECT oid FROM routine))
   OR (d.classoid = 'pg_namespace'::regclass AND d.objoid = 'clutch'::regnamespace)
   OR (d.classoid = 'pg_type'::regclass AND d.objoid IN (SELECT oid FROM pg_type WHERE typnamespace = 'clutch'::regnamespace))
UNION ALL
SELECT 'initial privileges', pg_describe_object(i.classoid, i.objoid, i.objsubid), (SELECT string_agg(a::text, ' ' ORDER BY a::text) FROM unnest(i.initprivs) a)
FROM pg_init_privs i JOIN member m ON m.classid = i.classoid AND m.objid = i.objoid
-- what is revoked from others leaves types as they are by default
WHERE NOT (i.classoid = 'pg_type'::regclass AND i.initprivs = (SELECT acldefault('T', t.typowner) FROM pg_type t WHERE t.oid = i.objoid))
UNION ALL
SELECT 'dumped', c.config::regclass::text, c.condition FROM pg_extension e, unnest(e.extconfig, e.extcondition) AS c(config, condition) WHERE e.extname = 'clutch'
UNION ALL
SELECT 'schema', n.nspname, concat_ws(' ', n.nspowner::regrole::text, n.nspacl::text) FROM pg_namespace n WHERE n.nspname = 'clutch'
UNION ALL
SELECT 'extension', e.extname, concat_ws(' ', e.extversion, e.extnamespace::regnamespace::text, e.extrelocatable) FROM pg_extension e WHERE e.extname = 'clutch'
ORDER BY 1, 2, 3;
