\echo Use "ALTER EXTENSION clutch UPDATE" to load this file. \quit

-- What each update begins with.

-- Names and operators mean PostgreSQL's own, whatever the owner has put in the schema.
SET LOCAL search_path = pg_catalog, pg_temp;

-- The library reads and writes rows by the functions of heap.
SET LOCAL default_table_access_method = heap;

-- Nobody may read or write meanwhile.  All tables are locked before anything is done,
-- so that an update that must wait, or is chosen to end a deadlock, has done nothing yet.
DO $$
BEGIN
	EXECUTE (SELECT pg_catalog.format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE',
				pg_catalog.string_agg(c.oid::pg_catalog.regclass::text, ', '
					ORDER BY c.relname OPERATOR(pg_catalog.=) 'events', c.oid))
			 FROM pg_catalog.pg_class c
			 JOIN pg_catalog.pg_depend d ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
				AND d.objid OPERATOR(pg_catalog.=) c.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'
			 JOIN pg_catalog.pg_extension e ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
				AND d.refobjid OPERATOR(pg_catalog.=) e.oid
			 WHERE e.extname OPERATOR(pg_catalog.=) 'clutch' AND c.relkind OPERATOR(pg_catalog.=) 'r');
END
$$;

-- What the owner of a table has attached to it would run with the rights of the
-- superuser who updates.  This concerns triggers and the like of the tables that the
-- scripts write to and have not created; until 0.2.0, none of them had any such thing.
-- Reading a table, or only planning a query on it, calls what is IMMUTABLE in its indexes,
-- statistics and constraints, and the same in the tables that inherit from it.  So these
-- are looked at for all tables.  A function that they call, or that the type of a
-- column calls, is not one of PostgreSQL if its dependency is recorded.
DO $$
DECLARE
	attached text;
BEGIN
	WITH own AS (
		SELECT c.oid, c.relkind, c.relname
		FROM pg_catalog.pg_class c
		WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,v,m,f}'::"char"[])
		  AND (c.relnamespace OPERATOR(pg_catalog.=) 'clutch'::pg_catalog.regnamespace
			   OR EXISTS (SELECT FROM pg_catalog.pg_depend d
					JOIN pg_catalog.pg_extension e ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
						AND d.refobjid OPERATOR(pg_catalog.=) e.oid
					WHERE e.extname OPERATOR(pg_catalog.=) 'clutch' AND d.deptype OPERATOR(pg_catalog.=) 'e'
					  AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid OPERATOR(pg_catalog.=) c.oid))
		  AND NOT (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) c.relowner)),
	written AS (
		SELECT c.oid
		FROM pg_catalog.unnest('{waiting,principal,dependency,subscription_position}'::pg_catalog.name[]) AS w(name)
		JOIN pg_catalog.pg_class c ON c.relnamespace OPERATOR(pg_catalog.=) 'clutch'::pg_catalog.regnamespace
			AND c.relname OPERATOR(pg_catalog.=) w.name
		WHERE NOT (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) c.relowner)),
	found(class, oid) AS (
		SELECT 'pg_catalog.pg_trigger'::pg_catalog.regclass, t.oid FROM pg_catalog.pg_trigger t
		JOIN written w ON w.oid OPERATOR(pg_catalog.=) t.tgrelid WHERE NOT t.tgisinternal
		UNION ALL
		SELECT 'pg_catalog.pg_rewrite'::pg_catalog.regclass, r.oid FROM pg_catalog.pg_rewrite r
		-- a table may have become a view, or a view may be in its place
		JOIN own w ON w.oid OPERATOR(pg_catalog.=) r.ev_class AND (w.relkind OPERATOR(pg_catalog.<>) 'v'
			OR w.relname OPERATOR(pg_catalog.=) ANY ('{events,task,epoch,subscription,waiting,principal,dependency,subscription_position}'::pg_catalog.name[]))
		UNION ALL
		SELECT 'pg_catalog.pg_attrdef'::pg_catalog.regclass, a.oid FROM pg_catalog.pg_attrdef a
		JOIN written w ON w.oid OPERATOR(pg_catalog.=) a.adrelid
		UNION ALL
		-- a foreign key of another table may pass on what is done here to that table
		SELECT 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid FROM pg_catalog.pg_constraint k
		JOIN written w ON k.contype OPERATOR(pg_catalog.=) 'c' AND w.oid OPERATOR(pg_catalog.=) k.conrelid
			OR k.contype OPERATOR(pg_catalog.=) 'f' AND w.oid OPERATOR(pg_catalog.=) k.confrelid
		UNION ALL
		SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, CASE w.oid WHEN h.inhparent THEN h.inhrelid ELSE h.inhparent END
		FROM pg_catalog.pg_inherits h
		JOIN own w ON w.oid OPERATOR(pg_catalog.=) h.inhparent OR w.oid OPERATOR(pg_catalog.=) h.inhrelid
		UNION ALL
		SELECT d.refclassid, d.refobjid FROM pg_catalog.pg_depend d
		JOIN (SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, w.oid FROM own w WHERE w.relkind OPERATOR(pg_catalog.<>) 'v'
			  UNION ALL
			  SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, i.indexrelid FROM pg_catalog.pg_index i
			  JOIN own w ON w.oid OPERATOR(pg_catalog.=) i.indrelid
			  UNION ALL
			  SELECT 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass, s.oid FROM pg_catalog.pg_statistic_ext s
			  JOIN own w ON w.oid OPERATOR(pg_catalog.=) s.stxrelid
			  UNION ALL
			  SELECT 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid FROM pg_catalog.pg_constraint k
			  JOIN own w ON w.oid OPERATOR(pg_catalog.=) k.conrelid
			  WHERE NOT w.oid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT named.oid FROM written named))) AS r(class, oid)
			ON r.class OPERATOR(pg_catalog.=) d.classid AND r.oid OPERATOR(pg_catalog.=) d.objid
		WHERE d.refclassid::pg_catalog.regclass::text OPERATOR(pg_catalog.=) ANY ('{pg_proc,pg_operator,pg_type}'::text[]))
	SELECT pg_catalog.string_agg(DISTINCT pg_catalog.pg_describe_object(f.class, f.oid, 0), ', ') INTO attached FROM found f;
	IF attached IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
			MESSAGE = pg_catalog.format('cannot update extension clutch because of %s', attached),
			DETAIL = 'This is attached to tables whose owner is not a superuser, and would run with the rights of the superuser who updates.',
			HINT = 'Drop it, update the extension, and create it again.';
	END IF;
END
$$;

