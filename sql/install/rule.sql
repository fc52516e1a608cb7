-- ------------------------------------------------------------ routing rules
-- The rules of operators, which apply to a request before agents are matched.  They are
-- changed by plain INSERT, UPDATE and DELETE; a trigger refuses rules that are not valid.
CREATE TABLE clutch.routing_rule (
	name			text COLLATE "C" NOT NULL,
	place			integer NOT NULL DEFAULT 100,	-- the rules apply in this order
	type			text COLLATE "C" NOT NULL DEFAULT 'task.request',
	-- conditions, all of which must be met
	scope			text COLLATE "C",		-- scope of the run
	words			text[] COLLATE "C",		-- words or phrases, one of which is in the payload
	path			text COLLATE "C",		-- an SQL/JSON path that must match the envelope
	-- effects
	requires		text[] COLLATE "C",
	prefers			text[] COLLATE "C",
	restrict_to		text[] COLLATE "C",		-- agents and groups
	send_to			text COLLATE "C",		-- an agent or a group
	other_model_than text COLLATE "C",		-- an SQL/JSON path to a model, or to an agent that has it; agents with it are excluded
	priority		integer,
	emit			jsonb,					-- a template for further requests
	ruleset			text COLLATE "C",		-- the set that install_rules installed it with; NULL: none
	CONSTRAINT routing_rule_pkey PRIMARY KEY (name)
);
COMMENT ON TABLE clutch.routing_rule IS
	'the rules that apply to requests before agents are matched';

CREATE FUNCTION clutch.check_rule() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_check_rule'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.check_rule() IS
	'trigger: refuses a routing rule that is not valid, and reports all its faults';

-- Each backend caches the rules until they change.
CREATE FUNCTION clutch.rules_changed() RETURNS trigger
	AS 'MODULE_PATHNAME', 'clutch_rules_changed'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION clutch.rules_changed() IS
	'trigger: makes every backend read the routing rules again';

CREATE TRIGGER check_rule
	BEFORE INSERT OR UPDATE ON clutch.routing_rule
	FOR EACH ROW EXECUTE FUNCTION clutch.check_rule();
CREATE TRIGGER rules_changed
	AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON clutch.routing_rule
	FOR EACH STATEMENT EXECUTE FUNCTION clutch.rules_changed();
ALTER TABLE clutch.routing_rule ENABLE ALWAYS TRIGGER check_rule, ENABLE ALWAYS TRIGGER rules_changed;

-- ------------------------------------------------------------- sets of rules
-- The rules of spec 001: its table of intents, as preferences for models, where any other
-- intent counts as "reflect"; its rule about low confidence; and its next_actions, in runs
-- whose workflow allows them.
CREATE FUNCTION clutch.multiagent_rules() RETURNS SETOF clutch.routing_rule
	LANGUAGE sql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
SELECT 'multiagent-1.0 ' || t.family, 500, 'task.request', NULL, NULL::text[],
	   (SELECT string_agg(format('$.meta.multiagent.intent == "%s" || $.payload.intent == "%s"', i, i), ' || ')
		FROM unnest(t.intents) AS i),
	   NULL::text[], ARRAY['model:' || t.family], NULL::text[], NULL, NULL, NULL::integer, NULL::jsonb, 'multiagent-1.0'
FROM (VALUES
	('gpt', ARRAY['plan', 'reflect', 'finalize']),
	('claude', ARRAY['decompose', 'summarize', 'analyze']),
	('gemini', ARRAY['execute', 'tool.call', 'retrieve'])) AS t(family, intents)
UNION ALL
SELECT 'multiagent-1.0 unknown intent', 500, 'task.request', NULL, NULL,
	   'exists($.meta.multiagent.intent ? (!(@ == "plan" || @ == "reflect" || @ == "finalize" || @ == "decompose" || @ == "summarize" || @ == "analyze" || @ == "execute" || @ == "tool.call" || @ == "retrieve")))',
	   NULL, ARRAY['model:gpt'], NULL, NULL, NULL, NULL, NULL, 'multiagent-1.0'
UNION ALL
SELECT 'multiagent-1.0 other model', 500, 'task.request', NULL, NULL, '$.payload.intent == "reflect"',
	   NULL, NULL, NULL, NULL, '$.payload.about.model', NULL, NULL, 'multiagent-1.0'
UNION ALL
-- The name of the model in a message need not be that on the card: for gpt-5, the API returns gpt-5-2025-08-07.
SELECT 'multiagent-1.0 other agent', 500, 'task.request', NULL, NULL, '$.payload.intent == "reflect"',
	   NULL, NULL, NULL, NULL, '$.payload.about.agent', NULL, NULL, 'multiagent-1.0'
UNION ALL
SELECT 'multiagent-1.0 confidence of ' || t.type, 500, t.type, NULL, NULL, '$.meta.multiagent.confidence.score < 0.5',
	   NULL, NULL, NULL, NULL, NULL, NULL,
	   '{"payload": {"intent": "reflect", "task": "$.payload.task", "content": "$.payload.content", "message": "$.payload.message",
					 "about": {"id": "$.id", "agent": "$.from.agent_id", "model": "$.meta.multiagent.agent.model", "confidence": "$.meta.multiagent.confidence"}},
		 "meta": {"multiagent": {"intent": "reflect", "parents": ["$.meta.multiagent.parents[*]", "$.meta.multiagent.native.reply_to",
					 "$.meta.multiagent.native.id", "$ ? (!exists(@.meta.multiagent.native.id)).id"]}}}', 'multiagent-1.0'
FROM unnest('{task.request,task.progress,task.result,task.error,tool.call,tool.result,tool.error,chat.message,chat.system}'::text[]) AS t(type)
UNION ALL
SELECT 'multiagent-1.0 next actions of ' || t.type, 500, t.type, NULL, NULL, 'exists($.payload.outputs.next_actions[*])',
	   NULL, NULL, NULL, NULL, NULL, NULL,
	   $json${"each": "$.payload.outputs.next_actions[*]", "where": "strict $ ? (@.type() == \"object\" && @.task != null && !(@.task.type() == \"string\" && !(@.task like_regex \"\\\\S\")))", "opt_in": true, "payload": "$.item", "meta": {"multiagent": {"intent": "$.item.intent"}}}$json$, 'multiagent-1.0'
FROM unnest('{task.progress,task.result,tool.result}'::text[]) AS t(type)
$$;
COMMENT ON FUNCTION clutch.multiagent_rules() IS
	'the rules of the set multiagent-1.0, for install_rules';

CREATE FUNCTION clutch.has_word(phrase text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'clutch_has_word'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION clutch.has_word(text) IS
	'whether a text has a word, by which a routing rule can find it';

-- The rules of spec 002: the signals, triggers, switch commands, default agents and
-- multi-agent triggers of the imported registries.  They do not apply to requests that
-- state their own requirements.  JIT compilation is off, because the planner overestimates
-- the size of a registry.
CREATE FUNCTION clutch.registry_rules() RETURNS SETOF clutch.routing_rule
	LANGUAGE sql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp SET jit = off
	AS $$
WITH registry AS MATERIALIZED (
	-- a copy, so that the document is not decompressed for each of its agents
	SELECT d.name, d.document -> 'routing' AS routing, d.document -> 'skillIndex' AS index FROM clutch.registry_document d
), agent AS (
	-- not registry_cards, because that refuses what an earlier version may have stored
	SELECT d.name AS registry, r.agent_id, r.name, r.entry
	FROM clutch.registry_document d, clutch.registry_agents(d.document) AS r WHERE r.name IS NOT NULL
), found (name, place, words, requires, send_to, emit) AS (
	SELECT format('%s: signals of %s', a.registry, a.name), 600,
		   ARRAY(SELECT s #>> '{}' FROM jsonb_path_query(a.entry, '$.signals[*]') AS s), NULL::text[], a.agent_id, NULL::jsonb
	FROM agent a
	UNION ALL
	SELECT format('%s: triggers of %s %s', a.registry, a.name, s ->> 'id'), 600,
		   ARRAY(SELECT t #>> '{}' FROM jsonb_path_query(s, '$.triggers[*]') AS t), ARRAY['skill:' || (s ->> 'id')],
		   coalesce('agent:' || (r.index ->> (s ->> 'id')), a.agent_id), NULL
	FROM agent a JOIN registry r ON r.name = a.registry, jsonb_path_query(a.entry, '$.skills[*] ? (@.type() == "object")') AS s
	UNION ALL
	SELECT format('%s: switch to %s', a.registry, a.name), 550,
		   ARRAY(SELECT concat_ws(' ', c #>> '{}', n)
				 FROM jsonb_path_query(r.routing, '$.switchCommands[*]') AS c,
					  unnest(ARRAY[a.name, a.entry ->> 'displayName']) AS n WHERE clutch.has_word(n) AND clutch.has_word(c #>> '{}')), NULL, a.agent_id, NULL
	FROM agent a JOIN registry r ON r.name = a.registry
	UNION ALL
	SELECT format('%s: several agents', r.name), 600,
		   ARRAY(SELECT t #>> '{}' FROM jsonb_path_query(r.routing, '$.multiAgentTriggers[*]') AS t), NULL, NULL,
		   '{"to": "matched", "payload": "$.payload"}'
	FROM registry r
	UNION ALL
	SELECT format('%s: default', r.name), 900, NULL, NULL, 'agent:' || (r.routing ->> 'defaultAgent'), NULL
	FROM registry r WHERE r.routing ->> 'defaultAgent' IS NOT NULL
)
SELECT n.name, f.place, 'task.request', NULL::text, w.words, '!exists($.requires[*])', f.requires, NULL::text[], NULL::text[], f.send_to, NULL::text, NULL::integer, f.emit, 'registry-3.0'
-- leave out what contains no word, is too long, or is too much: the rule would be refused
-- "b c" of agent "a" and "c" of agent "a b" make the same name, so they are numbered. The number stands before the
-- blank, because what stands behind it could be the name of another rule.
FROM (SELECT g.*, row_number() OVER (PARTITION BY g.name ORDER BY g.send_to, g.requires) AS n FROM found g) AS f,
	 LATERAL (SELECT CASE WHEN f.words IS NOT NULL THEN ARRAY(
	SELECT u FROM unnest(f.words) WITH ORDINALITY AS t(u, n) WHERE clutch.has_word(u) AND octet_length(u) <= 1000 ORDER BY n LIMIT 1000) END AS words) AS w,
	 -- names have at most 128 bytes, but those of registries, agents and skills may be longer
	 LATERAL (SELECT CASE WHEN octet_length(l.name) <= 128 THEN l.name ELSE left(l.name, 23) || ' ' || md5(l.name) END AS name
			  FROM (SELECT format('registry-3.0%s %s', CASE WHEN f.n > 1 THEN format('(%s)', f.n) END, f.name) AS name) AS l) AS n
WHERE w.words IS NULL OR cardinality(w.words) > 0
$$;
COMMENT ON FUNCTION clutch.registry_rules() IS
	'the rules of the set registry-3.0, made of the registries that were imported, for install_rules';

CREATE FUNCTION clutch.uninstall_rules(name text) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	n integer;
BEGIN
	IF uninstall_rules.name IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
			MESSAGE = 'argument "name" must not be null',
			DETAIL = '[{"argument": "name", "code": "NULL_VALUE"}]';
	END IF;
	DELETE FROM clutch.routing_rule r WHERE r.ruleset = uninstall_rules.name;
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n;
END
$$;
COMMENT ON FUNCTION clutch.uninstall_rules(text) IS
	'removes a set of routing rules that install_rules has installed; returns the number of rules';

CREATE FUNCTION clutch.install_rules(name text) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	n integer;
	r record;
	faults text;
	taken text;
BEGIN
	IF install_rules.name IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
			MESSAGE = 'argument "name" must not be null',
			DETAIL = '[{"argument": "name", "code": "NULL_VALUE"}]';
	ELSIF install_rules.name <> ALL ('{multiagent-1.0,registry-3.0}') THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid set of rules "%s"', install_rules.name),
			DETAIL = '[{"argument": "name", "code": "WRONG_VALUE"}]',
			HINT = 'The sets of rules are multiagent-1.0 and registry-3.0.';
	END IF;
	-- Concurrent installations wait for each other, but nobody else does.  A stronger lock would
	-- hold up whoever sends a request, because a transaction that writes locks the tables that it
	-- reads as if it wrote them (rows_expect_writing).
	LOCK TABLE clutch.routing_rule IN SHARE UPDATE EXCLUSIVE MODE;
	PERFORM clutch.uninstall_rules(install_rules.name);
	BEGIN
		INSERT INTO clutch.routing_rule
		SELECT * FROM clutch.multiagent_rules() WHERE install_rules.name = 'multiagent-1.0'
		UNION ALL
		SELECT * FROM clutch.registry_rules() WHERE install_rules.name = 'registry-3.0';
		GET DIAGNOSTICS n = ROW_COUNT;
	EXCEPTION WHEN unique_violation THEN
		SELECT w.name INTO taken FROM clutch.routing_rule w
		WHERE w.name IN (SELECT m.name FROM clutch.multiagent_rules() m WHERE install_rules.name = 'multiagent-1.0'
						 UNION ALL
						 SELECT g.name FROM clutch.registry_rules() g WHERE install_rules.name = 'registry-3.0')
		ORDER BY w.name LIMIT 1;
		-- a snapshot that is kept for the whole transaction may not show the rule
		IF taken IS NULL THEN
			RAISE;
		END IF;
		RAISE EXCEPTION USING ERRCODE = 'unique_violation',
			MESSAGE = format('the set of rules "%s" has a rule "%s", and another rule has this name already', install_rules.name, taken),
			DETAIL = '[{"argument": "name", "code": "RULE_EXISTS"}]',
			HINT = 'Rename or delete the other rule.';
	END;
	-- earlier versions have stored registries that are refused today
	FOR r IN SELECT d.name, d.document FROM clutch.registry_document d WHERE install_rules.name = 'registry-3.0' ORDER BY d.name LOOP
		BEGIN
			PERFORM FROM clutch.registry_cards(r.document);
		EXCEPTION WHEN SQLSTATE 'KL014' THEN
			GET STACKED DIAGNOSTICS faults = PG_EXCEPTION_DETAIL;
			RAISE WARNING 'registry "%" has faults for which it would not be imported; rules are made of the rest', r.name
				USING DETAIL = faults, HINT = 'Correct what stands at these paths, and import the registry again.';
		END;
	END LOOP;
	RETURN n;
END
$$;
COMMENT ON FUNCTION clutch.install_rules(text) IS
	'installs a set of routing rules, and replaces an earlier version of the same set; returns the number of rules';
