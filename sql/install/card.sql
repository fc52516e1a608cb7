-- ------------------------------------------------------- cards and registries
-- Translating descriptions of agents in other protocols into AgentCards and back.
CREATE FUNCTION clutch.card_of(document jsonb, agent_id text DEFAULT NULL, dialect text DEFAULT NULL) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_card_of' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION clutch.card_of(jsonb, text, text) IS
	'translates the description of an agent in another protocol into an AgentCard; nothing is registered';

CREATE FUNCTION clutch.card_as(card jsonb, dialect text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_card_as' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION clutch.card_as(jsonb, text) IS
	'translates an AgentCard into a description in another protocol: agent_json, a2a, map or mcp';

CREATE FUNCTION clutch.registry_cards(document jsonb) RETURNS TABLE (agent_id text, name text, card jsonb)
	AS 'MODULE_PATHNAME', 'clutch_registry_cards' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION clutch.registry_cards(jsonb) IS
	'translates a registry into AgentCards, and returns them with the names of the agents in it; nothing is registered';

CREATE FUNCTION clutch.drop_credentials(INOUT document jsonb, OUT dropped text[]) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'clutch_drop_credentials' LANGUAGE C STABLE PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION clutch.drop_credentials(jsonb) IS
	'removes what looks like a credential from a document, and returns the document and the paths of what was removed';

-- One row for each registry that was imported.  Its agents are registered like any others.
-- install_rules reads its signals, triggers and switch commands from here.
CREATE TABLE clutch.registry_document (
	name			text COLLATE "C" NOT NULL,	-- the name of its orchestrator
	document		jsonb NOT NULL,				-- as it was imported, without credentials
	imported_at		timestamptz NOT NULL,
	imported_by		text NOT NULL,
	CONSTRAINT registry_document_pkey PRIMARY KEY (name),
	CONSTRAINT registry_document_object CHECK (jsonb_typeof(document) = 'object')	-- operators may write here
);
COMMENT ON TABLE clutch.registry_document IS
	'the registries as they were imported; clutch.export_registry and clutch.install_rules read them';

-- The parts of a description in which changes are reported: its members and, for those that
-- are lists, each element.  If several elements have the same name, they are numbered.
CREATE FUNCTION clutch.card_members(document jsonb) RETURNS TABLE (what text, value jsonb)
	LANGUAGE sql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT concat_ws('.', m.key, e.name) || CASE WHEN e.n > 1 THEN format(' (%s)', e.n) ELSE '' END, coalesce(e.value, m.value)
	FROM jsonb_each(document) AS m
	LEFT JOIN LATERAL (
		SELECT l.name, l.value, row_number() OVER (PARTITION BY l.name ORDER BY l.place) AS n
		FROM (SELECT coalesce(i.value ->> 'id', i.value ->> 'name', i.value #>> '{}') AS name, i.value, i.place
			  FROM jsonb_array_elements(CASE WHEN m.key = ANY ('{skills,capabilities,tools}') AND jsonb_typeof(m.value) = 'array' THEN m.value ELSE '[]' END)
				   WITH ORDINALITY AS i(value, place)) AS l
		UNION ALL
		SELECT o.key, o.value, 1
		FROM jsonb_each(CASE WHEN m.key = ANY ('{skillIndex,routing,dependencies}') AND jsonb_typeof(m.value) = 'object' THEN m.value ELSE '{}' END) AS o) AS e ON true
$$;
COMMENT ON FUNCTION clutch.card_members(jsonb) IS
	'the members of the description of an agent, or of a registry; each skill, tool and so on is a row of its own';

CREATE FUNCTION clutch.card_changes(registered jsonb, described jsonb)
	RETURNS TABLE (change text, what text, was jsonb, becomes jsonb)
	LANGUAGE sql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT CASE WHEN r.value IS NULL THEN 'added' WHEN d.value IS NULL THEN 'removed' ELSE 'changed' END,
		   coalesce(d.what, r.what), r.value, d.value
	FROM clutch.card_members(registered) AS r
	FULL JOIN clutch.card_members(described) AS d ON d.what = r.what
	WHERE r.value IS DISTINCT FROM d.value
		  -- if one of two lists is empty, the elements of the other one tell that
		  AND (coalesce(d.value, r.value) = '[]' AND coalesce(d.what, r.what) = ANY ('{skills,capabilities,tools}')
			   AND jsonb_typeof(registered -> coalesce(d.what, r.what)) = 'array'
			   AND jsonb_typeof(described -> coalesce(d.what, r.what)) = 'array') IS NOT TRUE
	UNION ALL
	-- lists of the same elements in another order
	SELECT 'changed', d.key, registered -> d.key, d.value
	FROM jsonb_each(described) AS d
	WHERE d.key = ANY ('{skills,capabilities,tools}') AND d.value <> registered -> d.key
		  AND jsonb_typeof(d.value) = 'array' AND jsonb_typeof(registered -> d.key) = 'array'
		  AND (SELECT array_agg(e ORDER BY e) FROM jsonb_array_elements(d.value) AS e) = (SELECT array_agg(e ORDER BY e) FROM jsonb_array_elements(registered -> d.key) AS e)
	ORDER BY 2
$$;
COMMENT ON FUNCTION clutch.card_changes(jsonb, jsonb) IS
	'the members in which two descriptions of an agent, or two registries, differ';

-- The schemas of legacy capabilities and of tools.  The name of the agent is a part of the
-- name of the schema, because another agent may have another schema under the same name.
-- If it begins like an ID of another kind, "run:x", the name of the schema does not.
CREATE FUNCTION clutch.card_schemas(card jsonb) RETURNS TABLE (payload_type text, schema jsonb)
	LANGUAGE sql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
	-- if several would have the same name, only the first is returned; otherwise each import would change it
	-- back and forth
	SELECT DISTINCT ON (1)
		   -- the IDs of the agent and of the tool together may be longer than an ID may be (clutch.max_id_bytes)
		   CASE WHEN octet_length(n.name) > 256 THEN concat_ws('.', left(n.name, 40), left(md5(n.name), 12), s.side) ELSE n.name END,
		   o.value -> (s.side || 'Schema')
	FROM (SELECT l.value ->> 'name' AS name, l.value, l.place
		  FROM jsonb_array_elements(CASE WHEN jsonb_typeof(card #> '{meta,agent_json,capabilities}') = 'array' THEN card #> '{meta,agent_json,capabilities}' ELSE '[]' END) WITH ORDINALITY AS l(value, place)
		  UNION ALL
		  SELECT t.key, t.value, 0
		  FROM jsonb_each(CASE WHEN jsonb_typeof(card #> '{meta,mcp,tools}') = 'object' THEN card #> '{meta,mcp,tools}' ELSE '{}' END) AS t) AS o,
		 (VALUES ('input'), ('output')) AS s(side),
		 regexp_replace(concat_ws('.', substr(card ->> 'agent_id', 7), o.name, s.side), E'[\\s/@]|(?<=^(?:agent|artifact|group|mcp|run|skill|task|thread|tool)):', '_', 'g') AS n(name)
	WHERE jsonb_typeof(o.value -> (s.side || 'Schema')) = 'object'
	ORDER BY 1, o.place, o.name COLLATE "C"
$$;
COMMENT ON FUNCTION clutch.card_schemas(jsonb) IS
	'the schemas in a card: those of the input and the output of legacy capabilities and of tools';

-- Two agents can have schemas of the same name: agent:a with a tool b.c, and agent:a.b with a tool c.  The
-- agent that registers its schema first keeps the name, and the name of the other schema gets a hash of
-- its agent's ID.  Once a name has such a hash, it keeps it, and that tells which agent has the name
-- without it.
CREATE FUNCTION clutch.card_schema_name(agent_id text, payload_type text, schema jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	-- a name may be so long that it leaves no room for the hash
	stem text := CASE WHEN octet_length(payload_type) > 243 THEN concat_ws('.', left(payload_type, 40), left(md5(payload_type), 12)) ELSE payload_type END;
	own text := stem || '.' || left(md5(agent_id), 12);
	registered jsonb := (SELECT p.schema FROM clutch.payload_type p WHERE p.payload_type = card_schema_name.payload_type ORDER BY p.version DESC LIMIT 1);
BEGIN
	IF EXISTS (SELECT FROM clutch.payload_type p WHERE p.payload_type = own) THEN
		RETURN own;
	ELSIF registered IS NULL OR registered = schema THEN
		RETURN payload_type;
	ELSIF EXISTS (
		SELECT FROM clutch.agent_registry r, LATERAL clutch.card_schemas(r.card) AS c
		WHERE r.agent_id <> card_schema_name.agent_id AND c.payload_type = card_schema_name.payload_type
			  -- of a name that is too long, card_schemas keeps the beginning
			  AND starts_with(card_schema_name.payload_type, left(regexp_replace(substr(r.agent_id, 7), E'[\\s/@]|(?<=^(?:agent|artifact|group|mcp|run|skill|task|thread|tool)):', '_', 'g') || '.', 40))
			  AND NOT EXISTS (SELECT FROM clutch.payload_type p WHERE p.payload_type = stem || '.' || left(md5(r.agent_id), 12))) THEN
		RETURN own;
	END IF;
	RETURN payload_type;
END
$$;
COMMENT ON FUNCTION clutch.card_schema_name(text, text, jsonb) IS
	'the name of a schema of an agent: the one that card_schemas gives it, or another one if that is the name of a schema of another agent';

-- Whoever imports waits here for other imports of the same agent, and then changes the card that they
-- have left, whatever the isolation level.
CREATE FUNCTION clutch.register_or_lock(card jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'clutch_register_or_lock' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.register_or_lock(jsonb) IS
	'registers an agent and returns NULL; or, if it is registered, locks it until the transaction ends, and returns its card';

-- The card of a registered agent after the import of a description.  What the dialect of the description has
-- a place for becomes as the description says.  Everything else remains, whether operators have set it or a
-- description in another dialect.
CREATE FUNCTION clutch.card_merged(registered jsonb, described jsonb, dialect text) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	-- the capabilities, the members of these, and the groups that the dialect describes
	ids text := CASE dialect WHEN 'agent_json' THEN '^skill:|^tool:mcp$' WHEN 'a2a' THEN '^skill:' WHEN 'map' THEN '^role:' ELSE '^tool:' END;
	members text[] := CASE dialect WHEN 'agent_json' THEN '{version,tags,tools,servers}' WHEN 'a2a' THEN '{version,tags}' ELSE '{}' END;
	groups text := CASE dialect WHEN 'agent_json' THEN '^group:(personal|work)$' WHEN 'map' THEN '^group:(role|scope):' END;
	-- what the card says in the dialect, and what it is to say
	shown jsonb := clutch.card_as(registered, dialect);
	says jsonb := clutch.card_as(described, dialect);
	-- A description has one version, and the capabilities of a card may have several.  Those stay if the one that is
	-- shown stays.
	same_version boolean := coalesce(shown -> 'version' = says -> 'version', false);
	role text := regexp_replace(shown ->> 'role', E'\\W', E'\\\\\\&', 'g');	-- as a part of a pattern
	merged jsonb := described || jsonb_build_object('meta', coalesce(registered -> 'meta', '{}') || (described -> 'meta'));
	security jsonb := coalesce(registered -> 'security', '{}');
	in_place boolean;
	l record;
	was jsonb;
	named jsonb;	-- of the list, what the description has named, and all others
	others jsonb;
BEGIN
	IF dialect <> 'mcp' THEN
		merged := '{"display": {}}' || merged;
	END IF;
	-- an agent that serves both contexts is shown in one of them, and the other one stays
	IF dialect = 'agent_json' AND shown ->> 'context' = ANY ('{personal,work}') THEN
		groups := format('^group:%s$', shown ->> 'context');
	ELSIF dialect = 'map' AND role IS NOT NULL THEN
		ids := format('^role:%s$', role);	-- nor does it describe other roles
		groups := format('^group:(role:%s(@.*)?|scope:.*)$', role);
	END IF;
	-- the addresses of other protocols stay
	IF dialect = 'a2a' THEN
		merged := jsonb_set(merged, '{endpoints}', coalesce(registered -> 'endpoints', '{}') - 'a2a' || coalesce(described -> 'endpoints', '{}'));
	END IF;
	-- if the described groups are there in this order, the card keeps them where they are
	IF groups IS NOT NULL THEN
		merged := jsonb_set(merged, '{groups}', (
			SELECT CASE WHEN coalesce(jsonb_agg(g.value ORDER BY g.n) FILTER (WHERE g.value #>> '{}' ~ groups), '[]') = coalesce(described -> 'groups', '[]')
				THEN coalesce(registered -> 'groups', '[]')
				ELSE coalesce(described -> 'groups', '[]') || coalesce(jsonb_agg(g.value ORDER BY g.n) FILTER (WHERE g.value #>> '{}' !~ groups AND NOT coalesce(described -> 'groups', '[]') @> g.value), '[]') END
			FROM jsonb_array_elements(coalesce(registered -> 'groups', '[]')) WITH ORDINALITY AS g(value, n)));
	END IF;
	-- in the order of the card, if what is described has the same order there; a description names each capability
	-- once, and the card may have further versions of it
	in_place := (SELECT array_agg(r.id ORDER BY r.n)
				 FROM (SELECT c.value ->> 'id' AS id, min(c.n) AS n FROM jsonb_array_elements(registered -> 'capabilities') WITH ORDINALITY AS c(value, n) GROUP BY 1) AS r
				 WHERE r.id ~ ids)
		= (SELECT array_agg(d.value ->> 'id' ORDER BY d.n) FROM jsonb_array_elements(described -> 'capabilities') WITH ORDINALITY AS d(value, n));
	merged := jsonb_set(merged, '{capabilities}', (
		SELECT coalesce(jsonb_agg(c.value ORDER BY CASE WHEN in_place THEN c.place END, c.kept, c.n), '[]')
		FROM (SELECT false AS kept, d.n, r.n AS place,
					 CASE WHEN r.value IS NULL THEN d.value
						WHEN same_version THEN (r.value - array_remove(members, 'version')) || (d.value - 'version')
						ELSE (r.value - members) || d.value END AS value
			  FROM jsonb_array_elements(described -> 'capabilities') WITH ORDINALITY AS d(value, n)
			  LEFT JOIN (SELECT DISTINCT ON (o.value ->> 'id') o.value, o.n
						 FROM jsonb_array_elements(registered -> 'capabilities') WITH ORDINALITY AS o(value, n) ORDER BY o.value ->> 'id', o.n) AS r
			  ON r.value ->> 'id' = d.value ->> 'id'
			  UNION ALL
			  SELECT true, r.n, r.n, r.value
			  FROM (SELECT o.value, o.n, row_number() OVER (PARTITION BY o.value ->> 'id' ORDER BY o.n) AS version
					FROM jsonb_array_elements(registered -> 'capabilities') WITH ORDINALITY AS o(value, n)) AS r
			  -- the first version of a capability that is described is returned above
			  WHERE CASE WHEN described -> 'capabilities' @> jsonb_build_array(jsonb_build_object('id', r.value -> 'id'))
				THEN r.version > 1 ELSE r.value ->> 'id' !~ ids END) AS c));
	IF dialect <> 'agent_json' THEN
		RETURN merged;
	END IF;
	-- "context" and "dependencies.agents" name only some of those whom the two lists may name.  A list of which the
	-- description has named nobody is that of an operator.
	FOR l IN SELECT * FROM (VALUES ('serves', groups), ('delegates_to', '^agent:')) AS v(name, own) LOOP
		was := registered #> ARRAY['security', l.name];
		SELECT coalesce(jsonb_agg(w.value ORDER BY w.n) FILTER (WHERE w.value #>> '{}' ~ l.own), '[]'),
			   coalesce(jsonb_agg(w.value ORDER BY w.n) FILTER (WHERE w.value #>> '{}' !~ l.own AND NOT coalesce(described #> ARRAY['security', l.name], '[]') @> w.value), '[]')
		INTO named, others
		FROM jsonb_array_elements(coalesce(was, '[]')) WITH ORDINALITY AS w(value, n);
		IF was IS NOT NULL AND named = described #> ARRAY['security', l.name] THEN
			CONTINUE;	-- in the order of the card
		ELSIF described -> 'security' ? l.name THEN
			security := jsonb_set(security, ARRAY[l.name], (described #> ARRAY['security', l.name]) || others);
		ELSIF others <> was OR (l.name = 'delegates_to' AND was = '[]') THEN
			security := security - l.name;
		END IF;
	END LOOP;
	RETURN merged || jsonb_build_object('security', security);
END
$$;
COMMENT ON FUNCTION clutch.card_merged(jsonb, jsonb, text) IS
	'the card of a registered agent after the import of a description, which changes only what its dialect has a place for';

-- Registers a card, or changes the card that is registered, and returns the changes.  Members
-- that are never part of a description (limits, security, ...) remain unchanged.
CREATE FUNCTION clutch.place_card(card jsonb, dialect text)
	RETURNS TABLE (agent text, change text, what text, was jsonb, becomes jsonb)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 10
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	id text := card ->> 'agent_id';
	registered jsonb := clutch.register_or_lock(card);
	changed jsonb;
	s record;
	version integer;
	detail text;
	hint text;
BEGIN
	IF registered IS NULL THEN
		RETURN QUERY SELECT id, 'added', 'capabilities', NULL::jsonb, jsonb_path_query_array(card, '$.capabilities[*].id');
	ELSE
		card := clutch.card_merged(registered, card, dialect);
		SELECT jsonb_object_agg(c.key, c.value) INTO changed
		FROM jsonb_each(card) AS c WHERE c.value IS DISTINCT FROM coalesce(registered -> c.key, CASE c.key WHEN 'groups' THEN '[]' ELSE '{}' END::jsonb);
		IF changed IS NOT NULL THEN
			-- in the name of the orchestrator, because it is no sign of life of the agent
			PERFORM clutch.send(clutch.envelope('agent.update', current_setting('clutch.orchestrator'), payload => jsonb_build_object('agent_id', id) || changed,
				run_id => 'run:agents', thread_id => 'thread:agents', task_id => 'task:agents'));
			-- until tools are imported, skills are shown as tools; they are not removed
			RETURN QUERY SELECT id, c.* FROM clutch.card_changes(
				clutch.card_as(CASE WHEN dialect = 'mcp' THEN registered || jsonb_build_object('meta', '{"mcp": {"tools": {}}}' || coalesce(registered -> 'meta', '{}')) ELSE registered END, dialect),
				clutch.card_as(registered || changed, dialect)) AS c;
			IF NOT FOUND THEN
				RETURN QUERY SELECT id, c.* FROM clutch.card_changes(registered, registered || changed) AS c;
			END IF;
		END IF;
	END IF;
	FOR s IN SELECT n.payload_type, c.payload_type AS plain, c.schema, p.schema AS registered, p.enforce
			 FROM clutch.card_schemas(card) AS c
			 CROSS JOIN LATERAL clutch.card_schema_name(id, c.payload_type, c.schema) AS n(payload_type)
			 LEFT JOIN LATERAL (SELECT t.schema, t.enforce FROM clutch.payload_type t WHERE t.payload_type = n.payload_type ORDER BY t.version DESC LIMIT 1) AS p ON true
			 WHERE p.schema IS DISTINCT FROM c.schema ORDER BY n.payload_type LOOP
		BEGIN
			-- whether it is enforced is for operators to say
			version := clutch.register_schema(s.payload_type, s.schema, compatibility => 'none', enforce => coalesce(s.enforce, 'workflow'));
		EXCEPTION WHEN SQLSTATE 'KL011' THEN
			-- tells which of the schemas in the document is meant
			GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
			RAISE EXCEPTION USING ERRCODE = 'KL011', MESSAGE = regexp_replace(SQLERRM, '^schema is', format('schema "%s" is', replace(s.payload_type, E'\\', E'\\\\'))),
				DETAIL = detail, HINT = hint;
		END;
		IF s.registered IS NULL AND version > 1 THEN
			-- the other transaction got the name while this import waited for it, and must not lose the name
			RAISE EXCEPTION USING ERRCODE = 'serialization_failure',
				MESSAGE = format('another transaction has registered the schema "%s" at the same time', s.payload_type),
				HINT = 'Import the description again.';
		ELSIF s.payload_type <> s.plain AND s.registered IS NULL THEN
			RAISE WARNING 'schema "%" is that of another agent; that of "%" is registered as "%"', s.plain, id, s.payload_type;
		END IF;
		RETURN QUERY SELECT id, CASE WHEN s.registered IS NULL THEN 'added' ELSE 'changed' END, 'schema ' || s.payload_type, s.registered, s.schema;
	END LOOP;
END
$$;
COMMENT ON FUNCTION clutch.place_card(jsonb, text) IS
	'registers an agent with a card, or changes the card of a registered agent, and returns the changes';

CREATE FUNCTION clutch.import_card(document jsonb, agent_id text DEFAULT NULL, dialect text DEFAULT NULL)
	RETURNS TABLE (agent text, change text, what text, was jsonb, becomes jsonb)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 10
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	card jsonb := clutch.card_of(document, agent_id, dialect);
	place text := CASE WHEN document ? 'tools' THEN '/nextCursor' ELSE '/result/nextCursor' END;
BEGIN
	-- a page takes from the server the tools of the other pages
	IF card #>> '{meta,mcp,nextCursor}' <> '' THEN
		RAISE EXCEPTION USING ERRCODE = 'KL014',
			MESSAGE = format('the description of the agent is not valid at "%s": the list of tools has more pages', place),
			DETAIL = jsonb_build_array(jsonb_build_object('path', place, 'code', 'NOT_ALLOWED', 'message', 'The list of tools has more pages.')),
			HINT = 'Join the tools of all pages into one list, and import that without a cursor.';
	END IF;
	RETURN QUERY SELECT p.*
	FROM (SELECT d.name FROM (VALUES ('agent_json'), ('a2a'), ('map'), ('mcp')) AS d(name) WHERE card -> 'meta' ? d.name) AS d,
		 clutch.place_card(card, d.name) AS p;
END
$$;
COMMENT ON FUNCTION clutch.import_card(jsonb, text, text) IS
	'registers the agent that is described in another protocol, or changes its card, and returns the changes';

CREATE FUNCTION clutch.export_card(agent_id text, dialect text DEFAULT 'agent_json') RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	card jsonb := (SELECT r.card FROM clutch.agent_registry r WHERE r.agent_id = export_card.agent_id);
	document jsonb;
	native jsonb;
BEGIN
	IF export_card.agent_id IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
			MESSAGE = 'argument "agent_id" must not be null',
			DETAIL = '[{"argument": "agent_id", "code": "NULL_VALUE"}]';
	ELSIF card IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'KL005',
			MESSAGE = format('agent "%s" is not registered', agent_id),
			DETAIL = '[{"argument": "agent_id", "code": "AGENT_NOT_FOUND"}]',
			HINT = 'SELECT agent_id FROM clutch.agents lists those that are.';
	ELSIF export_card.dialect IS DISTINCT FROM 'agent_json' THEN
		RETURN clutch.card_as(card, dialect);
	END IF;
	-- A registry need not say of an agent what an agent.json must say, and names some of its skills only in its
	-- index.  Nor does a card say it all after other descriptions have changed it.
	document := clutch.card_as(CASE WHEN jsonb_typeof(card #> '{meta,agent_json}') = 'object'
		THEN jsonb_set(card, '{meta,agent_json}', (card #> '{meta,agent_json}') - '{entry,indexed}'::text[]) ELSE card END, dialect);
	native := clutch.card_as(jsonb_build_object('agent_id', export_card.agent_id), dialect);
	RETURN document || (
		SELECT coalesce(jsonb_object_agg(m.name, native -> m.name), '{}')
		FROM (VALUES ('name', E'^[^\\u0001-\\u0020A-Z]+$'), ('description', '.'), ('version', '^[0-9]+[.][0-9]+[.][0-9]+([-+]|$)')) AS m(name, form)
		WHERE (document ->> m.name COLLATE "C" ~ m.form) IS NOT TRUE);
END
$$;
COMMENT ON FUNCTION clutch.export_card(text, text) IS
	'the description of a registered agent in another protocol: agent_json, a2a, map or mcp';

-- The agents of a registry of spec 002 are an object whose keys are their names, or an array.
CREATE FUNCTION clutch.registry_agents(document jsonb) RETURNS TABLE (agent_id text, name text, is_named boolean, place bigint, entry jsonb)
	LANGUAGE sql IMMUTABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT 'agent:' || o.key, o.key, o.value ? 'name', 0, o.value
	FROM jsonb_each(CASE jsonb_typeof(document -> 'agents') WHEN 'object' THEN document -> 'agents' ELSE '{}' END) AS o
	UNION ALL
	SELECT 'agent:' || (l.value ->> 'name'), l.value ->> 'name', true, l.place, l.value
	FROM jsonb_array_elements(CASE jsonb_typeof(document -> 'agents') WHEN 'array' THEN document -> 'agents' ELSE '[]' END) WITH ORDINALITY AS l(value, place)
$$;
COMMENT ON FUNCTION clutch.registry_agents(jsonb) IS
	'the agents of a registry: whether the name of each is also a member of the agent, its place in an array, and what the registry says of it';

-- The notes of an agent list the skills that only the index of a registry names.  If the index of this registry
-- names another agent for such a skill, or none, the agent names it itself.  Otherwise, an import of the export
-- would take the skill from it.
CREATE FUNCTION clutch.registry_entry(card jsonb, skill_index jsonb) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT clutch.card_as(CASE WHEN jsonb_typeof(n.indexed) = 'array' THEN jsonb_set(card, '{meta,agent_json,indexed}', (
		SELECT coalesce(jsonb_agg(i.value), '[]') FROM jsonb_array_elements(n.indexed) AS i(value)
		WHERE skill_index ->> (i.value #>> '{}') = substr(card ->> 'agent_id', 7))) ELSE card END, 'agent_json')
	FROM (SELECT card #> '{meta,agent_json,indexed}' AS indexed) AS n
$$;
COMMENT ON FUNCTION clutch.registry_entry(jsonb, jsonb) IS
	'the description of an agent in a registry with this index of skills';

CREATE FUNCTION clutch.import_registry(document jsonb)
	RETURNS TABLE (agent text, change text, what text, was jsonb, becomes jsonb)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 100
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	registry text := coalesce(nullif(document ->> 'orchestrator', ''), 'default');
	clean record;
	earlier jsonb;
	is_new boolean;
	c record;
BEGIN
	SELECT * INTO clean FROM clutch.drop_credentials(document);
	IF cardinality(clean.dropped) > 0 THEN
		RAISE WARNING 'credentials in the registry were left out'
			USING DETAIL = array_to_string(clean.dropped, ', '), HINT = 'Keep them where the agents run.';
	END IF;
	document := clean.document;
	-- report all faults before anything is changed
	PERFORM FROM clutch.registry_cards(document);
	-- concurrent imports of the same registry wait for each other here
	INSERT INTO clutch.registry_document (name, document, imported_at, imported_by)
	VALUES (registry, '{}', clutch.now(), current_user) ON CONFLICT (name) DO NOTHING;
	is_new := FOUND;
	SELECT d.document INTO earlier FROM clutch.registry_document d WHERE d.name = registry FOR UPDATE;

	FOR c IN SELECT r.card FROM clutch.registry_cards(document) AS r ORDER BY r.agent_id LOOP
		RETURN QUERY SELECT p.* FROM clutch.place_card(c.card, 'agent_json') AS p;
	END LOOP;
	RETURN QUERY
		SELECT a.agent_id, 'left out', 'capabilities', to_jsonb(a.capabilities), NULL::jsonb
		FROM clutch.registry_agents(earlier) AS r
		JOIN clutch.agents a ON a.agent_id = r.agent_id
		WHERE NOT EXISTS (SELECT FROM clutch.registry_agents(document) AS n WHERE n.agent_id = r.agent_id)
		ORDER BY a.agent_id;
	IF is_new THEN
		RETURN QUERY SELECT NULL::text, 'added', 'registry', NULL::jsonb, to_jsonb(registry);
	ELSE
		RETURN QUERY SELECT NULL::text, m.* FROM clutch.card_changes(earlier - 'agents', document - 'agents') AS m;
	END IF;
	UPDATE clutch.registry_document d SET document = import_registry.document, imported_at = clutch.now(), imported_by = current_user
	WHERE d.name = registry AND d.document <> import_registry.document;
END
$$;
COMMENT ON FUNCTION clutch.import_registry(jsonb) IS
	'registers the agents of a registry, and returns the differences from what was registered before; no rows if there are none';

CREATE FUNCTION clutch.export_registry(registry text DEFAULT NULL) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	imported jsonb := (SELECT d.document FROM clutch.registry_document d WHERE d.name = registry);
	agents jsonb;
	skill_index jsonb;
BEGIN
	IF registry IS NULL THEN
		skill_index := (
			SELECT coalesce(jsonb_object_agg(substr(i.id, 7), i.name), '{}')
			FROM (SELECT c.value ->> 'id' AS id, min(substr(o.agent_id, 7)) AS name
				  FROM clutch.agent_registry o, jsonb_array_elements(o.card -> 'capabilities') AS c(value)
				  WHERE c.value ->> 'id' LIKE 'skill:%' AND o.agent_id <> current_setting('clutch.orchestrator') GROUP BY 1) AS i);
		RETURN (
			SELECT jsonb_build_object('version', '3.0', 'orchestrator', substr(current_setting('clutch.orchestrator'), 7),
				'agents', coalesce(jsonb_object_agg(substr(r.agent_id, 7), clutch.registry_entry(r.card, skill_index) - v.without || v.version), '{}'),
				'skillIndex', skill_index,
				-- what the imported registries say, in the order of their names; the first default agent is also the
				-- one that install_rules gives what nobody else takes
				'routing', (
					SELECT jsonb_object_agg(m.key, (
						SELECT coalesce(jsonb_agg(w.value ORDER BY w.place), '[]')
						FROM (SELECT l.value, min(ARRAY[d.no, l.place]) AS place
							  FROM (SELECT row_number() OVER (ORDER BY s.name) AS no, nullif(s.document -> 'routing' -> m.key, 'null') AS list FROM clutch.registry_document s) AS d,
								   jsonb_path_query(d.list, '$[*]') WITH ORDINALITY AS l(value, place)
							  GROUP BY l.value) AS w))
					FROM (VALUES ('switchCommands'), ('multiAgentTriggers')) AS m(key))
				|| jsonb_build_object('defaultAgent', (
					SELECT substr(a.agent_id, 7)
					FROM clutch.registry_document d JOIN clutch.agent_registry a ON a.agent_id = 'agent:' || (d.document #>> '{routing,defaultAgent}')
					ORDER BY d.name LIMIT 1)))
			-- an agent.json has a version even if the agent has none, or a range; an agent of a registry need not
			FROM clutch.agent_registry r CROSS JOIN LATERAL (
				SELECT CASE WHEN r.card #> '{meta,agent_json}' IS NULL THEN '{name,version}' ELSE '{name}' END::text[],
					   coalesce(CASE WHEN r.card #> '{meta,agent_json}' IS NULL THEN (
							SELECT jsonb_build_object('version', c.value -> 'version') FROM jsonb_array_elements(r.card -> 'capabilities') WITH ORDINALITY AS c(value, n)
							WHERE c.value ? 'version' ORDER BY c.n LIMIT 1) END, '{}')) AS v(without, version)
			-- the orchestrator, which is registered if it has announced itself, is not one of the agents
			WHERE r.agent_id <> current_setting('clutch.orchestrator'));
	END IF;
	IF imported IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object',
			MESSAGE = format('registry "%s" was not imported', registry),
			DETAIL = '[{"argument": "registry", "code": "REGISTRY_NOT_FOUND"}]',
			HINT = 'SELECT name FROM clutch.registry_document lists those that were; without a name, all agents are exported.';
	END IF;
	skill_index := imported -> 'skillIndex';
	-- return each agent as it is registered now; agents that are no longer registered are left
	-- out
	SELECT CASE jsonb_typeof(imported -> 'agents')
		WHEN 'array' THEN coalesce(jsonb_agg(e.entry ORDER BY e.place), '[]') ELSE coalesce(jsonb_object_agg(e.name, e.entry), '{}') END
	INTO agents
	FROM (SELECT n.name, n.place, CASE WHEN n.is_named THEN jsonb_build_object('name', n.name) || d.entry ELSE d.entry - 'name' END AS entry
		  FROM clutch.registry_agents(imported) AS n JOIN clutch.agent_registry r ON r.agent_id = n.agent_id,
			   LATERAL clutch.registry_entry(r.card, skill_index) AS d(entry)) AS e;
	imported := jsonb_set(imported, '{agents}', agents);
	-- nor does the index name an agent for a skill that it does not have any more
	IF jsonb_typeof(imported -> 'skillIndex') = 'object' THEN
		imported := jsonb_set(imported, '{skillIndex}', (
			SELECT coalesce(jsonb_object_agg(i.key, i.value), '{}') FROM jsonb_each(imported -> 'skillIndex') AS i
			WHERE EXISTS (SELECT FROM clutch.agent_registry r WHERE r.agent_id = 'agent:' || (i.value #>> '{}')
						  AND r.card -> 'capabilities' @> jsonb_build_array(jsonb_build_object('id', 'skill:' || i.key)))));
	END IF;
	IF NOT EXISTS (SELECT FROM clutch.agent_registry r WHERE r.agent_id = 'agent:' || (imported #>> '{routing,defaultAgent}')) THEN
		imported := jsonb_set(imported, '{routing,defaultAgent}', 'null', false);
	END IF;
	RETURN imported;
END
$$;
COMMENT ON FUNCTION clutch.export_registry(text) IS
	'a registry that was imported, with its agents as they are registered now; without a name, a registry of all registered agents';
