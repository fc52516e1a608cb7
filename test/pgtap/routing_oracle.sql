-- Routing against an oracle: the same rules, written once more in plain SQL
-- from the design (docs/decisions.md, "Routing"), not from the C.  Random
-- registries and requests; every verdict, reason to reject, score, rank,
-- code and reason must agree.
\ir ../fixtures/tap.sql
-- hundreds of statements, none long enough to be worth compiling
SET jit = off;
SELECT plan(8);
SELECT setseed(0.20260201) \g /dev/null

-- --------------------------------------------------------------- the world
CREATE TEMP TABLE agent (
	agent_id text COLLATE "C", status text, sandbox boolean, network text,
	max_concurrency integer, groups text[], scopes text[]);
CREATE TEMP TABLE capability (
	agent_id text COLLATE "C", place integer, id text, version text, tags text[],
	tools text[], servers text[], trust text, cost text);
CREATE TEMP TABLE membership (group_id text, agent_id text COLLATE "C");
CREATE TEMP TABLE slot (
	agent_id text COLLATE "C", slot_no integer, generation integer, task_id text,
	chosen_seq bigint, done integer, failed integer);
CREATE TEMP TABLE request (
	no integer, requires text[], prefers text[], sandbox boolean, allowlist text[],
	network text, trust text, scope text, named text[], groups text[]);

-- which offered version meets which range, by hand from semver's rules
CREATE TEMP TABLE version_case (offered text, asked text, meets boolean);
INSERT INTO version_case
SELECT offered, asked, meets
FROM (VALUES
	('*',				ARRAY[true,  true,  true,  true,  false, true,  true]),
	('x',				ARRAY[true,  true,  true,  true,  false, true,  true]),
	('^1',				ARRAY[false, true,  true,  false, false, true,  false]),
	('>=1.2 <2',		ARRAY[false, false, true,  false, false, true,  false]),
	('1.0',				ARRAY[false, true,  false, false, false, true,  false]),
	('2.1.0-beta || 2',	ARRAY[false, false, false, true,  true,  false, true]),
	('1.2 - 2',			ARRAY[false, false, true,  true,  false, true,  true]),
	('~1.2',			ARRAY[false, false, true,  false, false, true,  false])
	) AS asked_for (asked, answers),
	unnest(ARRAY[NULL, '1.0', '1.2.3', '2.0.0', '2.1.0-beta', '1.x', '>=2 <3'],
		   answers) AS o (offered, meets);

CREATE FUNCTION pg_temp.level(word text) RETURNS integer IMMUTABLE LANGUAGE sql AS $$
	SELECT CASE word
		WHEN 'none' THEN 0 WHEN 'egress-restricted' THEN 1 WHEN 'open' THEN 2
		WHEN 'sandbox' THEN 0 WHEN 'prod' THEN 1
		WHEN 'low' THEN 0 WHEN 'medium' THEN 1 WHEN 'high' THEN 2 END
$$;

-- "id@range" in two; a capability has no @ in its id here
CREATE FUNCTION pg_temp.id_of(entry text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
	SELECT split_part(entry, '@', 1)
$$;
CREATE FUNCTION pg_temp.range_of(entry text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
	SELECT CASE WHEN position('@' IN entry) > 0 THEN split_part(entry, '@', 2) END
$$;

-- does this capability meet this entry of requires?
CREATE FUNCTION pg_temp.meets(entry text, id text, version text, tools text[])
RETURNS boolean STABLE LANGUAGE sql AS $$
	SELECT (id = pg_temp.id_of(entry)
			AND (pg_temp.range_of(entry) IS NULL
				 OR EXISTS (SELECT FROM version_case v
							WHERE v.meets AND v.asked = pg_temp.range_of(entry)
							  AND v.offered IS NOT DISTINCT FROM version)))
		OR (entry LIKE 'tool:%' AND 'mcp:' || substr(entry, 6) = ANY (tools))
$$;

CREATE FUNCTION pg_temp.prefers(entry text, id text, version text, tags text[], tools text[])
RETURNS boolean STABLE LANGUAGE sql AS $$
	SELECT CASE
		WHEN entry LIKE 'tag:%' THEN substr(entry, 5) = ANY (tags)
		WHEN entry LIKE 'domain:%' THEN substr(entry, 8) = ANY (tags)
		ELSE pg_temp.meets(entry, id, version, tools) END
$$;

CREATE FUNCTION pg_temp.weight(entry text) RETURNS float8 STABLE LANGUAGE sql AS $$
	SELECT current_setting('clutch.weight_' ||
		CASE split_part(entry, ':', 1) WHEN 'tag' THEN 'tag' WHEN 'domain' THEN 'domain'
			WHEN 'tool' THEN 'tool' ELSE 'skill' END)::float8
$$;

-- -------------------------------------------------------------- the oracle
CREATE TEMP VIEW load AS
SELECT a.agent_id, a.max_concurrency,
	count(s.task_id)::int AS running,
	coalesce(sum(s.done), 0) AS done, coalesce(sum(s.failed), 0) AS failed,
	coalesce(max(s.chosen_seq), 0) AS last_chosen
FROM agent a
LEFT JOIN (SELECT DISTINCT ON (agent_id, slot_no) * FROM slot
		   ORDER BY agent_id, slot_no, generation DESC) s USING (agent_id)
GROUP BY a.agent_id, a.max_concurrency;

-- agents that are looked at, for each request
CREATE TEMP VIEW looked_at AS
SELECT r.no, a.*
FROM request r, agent a
WHERE cardinality(r.named || r.groups) = 0
   OR a.agent_id = ANY (r.named)
   OR a.groups && r.groups
   OR EXISTS (SELECT FROM membership m
			  WHERE m.agent_id = a.agent_id AND m.group_id = ANY (r.groups));

-- what each could meet a required entry with
CREATE TEMP VIEW all_met AS
SELECT l.no, l.agent_id, e.place AS entry_no, c.place, c.cost,
	pg_temp.level(c.trust) >= pg_temp.level(r.trust) AS trusted,
	r.allowlist IS NULL OR c.tools || c.servers <@ r.allowlist AS allowed
FROM looked_at l
JOIN request r USING (no)
CROSS JOIN unnest(r.requires) WITH ORDINALITY AS e (entry, place)
JOIN capability c ON c.agent_id = l.agent_id
	AND pg_temp.meets(e.entry, c.id, c.version, c.tools || c.servers);

CREATE TEMP TABLE met AS TABLE all_met;

CREATE TEMP VIEW judged AS
SELECT l.*, r.scope, r.prefers, load.running, load.last_chosen,
	load.running::float8 / nullif(load.max_concurrency, 0) AS load,
	CASE WHEN load.done + load.failed = 0 THEN 1
		 ELSE load.done::float8 / (load.done + load.failed) END AS success_rate,
	m.capable,
	coalesce(m.cost, 0) AS cost,
	CASE
		WHEN l.status NOT IN ('READY', 'BUSY') THEN 'status'
		WHEN r.scope IS NOT NULL AND NOT r.scope = ANY (l.scopes) THEN 'scope'
		WHEN r.trust = 'prod' AND m.capable AND NOT m.trust_passes THEN 'trust'
		WHEN r.sandbox AND NOT l.sandbox THEN 'policy'
		WHEN r.allowlist IS NOT NULL AND m.capable AND NOT m.tools_pass THEN 'tools'
		WHEN pg_temp.level(l.network) < pg_temp.level(r.network) THEN 'network'
		WHEN NOT m.capable THEN 'requires'
		WHEN load.running >= l.max_concurrency THEN 'concurrency'
	END AS rejected_by
FROM looked_at l
JOIN request r USING (no)
JOIN load USING (agent_id)
-- if nothing is required, trust and tools judge everything that the card offers
CROSS JOIN LATERAL (
	SELECT coalesce(bool_and(pg_temp.level(c.trust) >= pg_temp.level(r.trust)), false) AS trust_passes,
		coalesce(bool_and(c.tools || c.servers <@ r.allowlist), true) AS tools_pass
	FROM capability c WHERE c.agent_id = l.agent_id) o
CROSS JOIN LATERAL (
	SELECT coalesce(bool_and(e.n > 0), true) AS capable,
		coalesce(bool_and(e.n_trusted > 0), o.trust_passes) AS trust_passes,
		coalesce(bool_and(e.n_allowed > 0), o.tools_pass) AS tools_pass,
		max(e.cost) AS cost
	FROM generate_series(1, cardinality(r.requires)) AS wanted (entry_no)
	CROSS JOIN LATERAL (
		SELECT count(*) AS n,
			count(*) FILTER (WHERE met.trusted) AS n_trusted,
			count(*) FILTER (WHERE met.trusted AND met.allowed) AS n_allowed,
			(array_agg(pg_temp.level(met.cost) ORDER BY met.place)
			 FILTER (WHERE met.trusted AND met.allowed))[1] AS cost
		FROM met
		WHERE met.no = l.no AND met.agent_id = l.agent_id
		  AND met.entry_no = wanted.entry_no) e) m;

CREATE TEMP VIEW scored AS
SELECT j.*,
	CASE WHEN p.asked > 0 THEN p.matched / p.asked ELSE 1 END AS score
FROM judged j
CROSS JOIN LATERAL (
	SELECT sum(pg_temp.weight(e.entry)) AS asked,
		coalesce(sum(pg_temp.weight(e.entry)) FILTER (
			WHERE EXISTS (SELECT FROM capability c
						  WHERE c.agent_id = j.agent_id
							AND pg_temp.prefers(e.entry, c.id, c.version, c.tags,
												c.tools || c.servers))), 0) AS matched
	FROM unnest(j.prefers) AS e (entry)) p;

CREATE TEMP VIEW all_ranked AS
SELECT s.*,
	CASE WHEN rejected_by IS NULL THEN
		row_number() OVER (PARTITION BY no, rejected_by IS NULL
						   ORDER BY score DESC, load, success_rate DESC, cost,
									last_chosen, agent_id)::int END AS rank
FROM scored s;

CREATE TEMP TABLE ranked AS TABLE all_ranked;

CREATE TEMP VIEW verdict AS
SELECT r.no,
	(SELECT k.agent_id FROM ranked k WHERE k.no = r.no AND rank = 1) AS selected,
	CASE
		WHEN EXISTS (SELECT FROM ranked j WHERE j.no = r.no AND rejected_by IS NULL) THEN NULL
		WHEN cardinality(r.named || r.groups) > 0
			AND NOT EXISTS (SELECT FROM ranked j WHERE j.no = r.no) THEN 'NO_AGENT_AVAILABLE'
		WHEN NOT EXISTS (SELECT FROM ranked j WHERE j.no = r.no AND capable) THEN 'NO_CAPABLE_AGENT'
		WHEN EXISTS (SELECT FROM ranked j WHERE j.no = r.no AND rejected_by = 'concurrency')
			THEN 'NO_CAPACITY'
		WHEN EXISTS (SELECT FROM ranked j WHERE j.no = r.no AND capable AND rejected_by = 'status')
			THEN 'NO_AGENT_AVAILABLE'
		ELSE 'POLICY_DENIED' END AS code,
	CASE WHEN cardinality(r.named) = 1 AND cardinality(r.groups) = 0 THEN 'named by the request'
	ELSE
		CASE WHEN cardinality(r.requires) > 0
			 THEN 'matched requires[' || array_to_string(r.requires, ', ') || ']'
			 ELSE 'nothing required' END || ', ' ||
		(SELECT CASE
			WHEN two.no IS NULL THEN 'only candidate'
			WHEN one.score <> two.score THEN 'highest score'
			WHEN one.load <> two.load THEN 'lowest load'
			WHEN one.success_rate <> two.success_rate THEN 'highest success rate'
			WHEN one.cost <> two.cost THEN 'lowest cost'
			WHEN one.last_chosen <> two.last_chosen THEN 'least recently chosen'
			ELSE 'first by agent_id' END
		 FROM ranked one
		 LEFT JOIN ranked two ON two.no = one.no AND two.rank = 2
		 WHERE one.no = r.no AND one.rank = 1)
	END AS reason,
	(SELECT coalesce(jsonb_object_agg(rejected_by, tally), '{}')
	 FROM (SELECT rejected_by,
			jsonb_build_object('count', count(*), 'agents', jsonb_agg(agent_id ORDER BY agent_id)) AS tally
		   FROM ranked j
		   WHERE j.no = r.no AND rejected_by IS NOT NULL
		   GROUP BY rejected_by) t) AS rejected,
	(SELECT coalesce(jsonb_agg(k.agent_id ORDER BY rank), '[]') FROM ranked k
	 WHERE k.no = r.no AND rank <= current_setting('clutch.decision_candidates')::int) AS candidates
FROM request r;

-- ------------------------------------------------------------- the documents
CREATE TEMP VIEW card AS
SELECT a.agent_id, a.status, jsonb_strip_nulls(jsonb_build_object(
	'v', 'clutch/0.1', 'agent_id', a.agent_id,
	'capabilities', (
		SELECT coalesce(jsonb_agg(jsonb_build_object(
			'id', c.id, 'version', c.version,
			'tags', nullif(to_jsonb(c.tags), '[]'),
			'tools', nullif(to_jsonb(c.tools), '[]'),
			'servers', nullif(to_jsonb(c.servers), '[]'),
			-- default values are left out half of the time
			'trust_level', CASE WHEN c.trust = 'sandbox' AND c.place % 2 = 0 THEN NULL ELSE c.trust END,
			'cost_hint', CASE WHEN c.cost = 'medium' AND c.place % 2 = 0 THEN NULL ELSE c.cost END
			) ORDER BY c.place), '[]')
		FROM capability c WHERE c.agent_id = a.agent_id),
	'groups', nullif(to_jsonb(a.groups), '[]'),
	'scopes', nullif(to_jsonb(a.scopes), '[]'),
	'limits', CASE WHEN a.max_concurrency <> 1
		THEN jsonb_build_object('max_concurrency', a.max_concurrency) END,
	'security', CASE
		WHEN a.sandbox AND a.network = 'none' THEN NULL
		WHEN a.sandbox THEN jsonb_build_object('network', a.network)
		WHEN a.network = 'none' THEN jsonb_build_object('sandbox', false)
		ELSE jsonb_build_object('sandbox', false, 'network', a.network) END)) AS card
FROM agent a;

CREATE TEMP VIEW envelope AS
SELECT r.no, jsonb_strip_nulls(jsonb_build_object(
	'v', 'clutch/0.1', 'id', 'msg_' || r.no, 'ts', '2026-02-01T13:20:11.123Z',
	'thread_id', 'thr_1', 'run_id', 'run_1', 'task_id', 'task_' || r.no,
	'from', jsonb_build_object('agent_id', 'agent:client'),
	'to', (SELECT jsonb_agg(jsonb_build_object('agent_id', recipient))
		   FROM unnest(CASE WHEN cardinality(r.named || r.groups) = 0
						THEN ARRAY['agent:orchestrator'] ELSE r.groups || r.named END) recipient),
	'type', 'task.request',
	'requires', nullif(to_jsonb(r.requires), '[]'),
	'prefers', nullif(to_jsonb(r.prefers), '[]'),
	'security', jsonb_build_object('policy', jsonb_build_object(
		'sandbox', CASE WHEN r.sandbox AND r.no % 2 = 0 THEN NULL ELSE r.sandbox END,
		'tool_allowlist', to_jsonb(r.allowlist),
		'network', CASE WHEN r.network = 'none' AND r.no % 2 = 0 THEN NULL ELSE r.network END,
		'trust_level', CASE WHEN r.trust = 'sandbox' AND r.no % 2 = 0 THEN NULL ELSE r.trust END)),
	'meta', CASE WHEN r.scope IS NOT NULL
		THEN jsonb_build_object('clutch', jsonb_build_object('scope', r.scope)) END))
	|| '{"payload": {}}' AS envelope
FROM request r;

-- ------------------------------------------------------------------- chance
CREATE FUNCTION pg_temp.one_of(VARIADIC words text[]) RETURNS text VOLATILE LANGUAGE sql AS $$
	SELECT words[1 + floor(random() * cardinality(words))::int]
$$;

-- each word of the list, with this probability
CREATE FUNCTION pg_temp.some_of(chance float8, VARIADIC words text[])
RETURNS text[] VOLATILE LANGUAGE sql AS $$
	SELECT coalesce(array_agg(w ORDER BY w), '{}') FROM unnest(words) w WHERE random() < chance
$$;

CREATE FUNCTION pg_temp.random_entry() RETURNS text VOLATILE LANGUAGE sql AS $$
	SELECT CASE WHEN random() < 0.6
		THEN pg_temp.one_of('skill:research', 'skill:code', 'skill:review', 'plain', 'tool:mcp')
			|| CASE WHEN random() < 0.4
				THEN '@' || pg_temp.one_of('*', 'x', '^1', '>=1.2 <2', '1.0', '2.1.0-beta || 2',
										   '1.2 - 2', '~1.2') ELSE '' END
		ELSE pg_temp.one_of('tool:browser', 'tool:files', 'skill:code') END
$$;

CREATE FUNCTION pg_temp.random_world() RETURNS void VOLATILE LANGUAGE plpgsql AS $$
DECLARE
	-- in a quarter of the worlds only the last tie-breaks decide
	even boolean := random() < 0.25;
BEGIN
	-- not DELETE: in one transaction the dead rows would pile up
	TRUNCATE agent, capability, membership, slot, request;
	INSERT INTO agent
	SELECT 'agent:' || name,
		pg_temp.one_of('READY', 'READY', 'READY', 'READY', 'BUSY', 'BUSY', 'INITIALIZING',
					   'UNAVAILABLE', 'STOPPING', 'STOPPED'),
		random() < 0.8, pg_temp.one_of('none', 'egress-restricted', 'open'),
		floor(random() * 5)::int, pg_temp.some_of(0.3, 'group:a', 'group:b'),
		pg_temp.some_of(0.6, 'group:s', 'group:t')
	FROM unnest(ARRAY['a', 'B', 'a10', 'a9', 'b', 'Z', 'ä', 'k', 'k.1', 'z_', 'q', 'm']) name
	WHERE random() < 0.8;
	INSERT INTO capability
	SELECT agent_id, place,
		pg_temp.one_of('skill:research', 'skill:code', 'skill:review', 'plain', 'tool:mcp',
					   'tool:browser'),
		pg_temp.one_of(NULL, '1.0', '1.2.3', '2.0.0', '2.1.0-beta', '1.x', '>=2 <3'),
		pg_temp.some_of(0.3, 'fintech', 'law', 'web'),
		pg_temp.some_of(0.3, 'mcp:browser', 'mcp:files', 'mcp:db'),
		pg_temp.some_of(0.15, 'mcp:files', 'mcp:mail'),
		pg_temp.one_of('sandbox', 'prod'), pg_temp.one_of('low', 'medium', 'high')
	FROM agent, generate_series(1, 5) place
	WHERE random() < 0.7;
	INSERT INTO membership
	SELECT group_id, agent_id FROM agent, unnest(ARRAY['group:a', 'group:c']) group_id
	WHERE random() < 0.25;
	INSERT INTO slot
	SELECT agent_id, slot_no, generation,
		CASE WHEN random() < 0.35 THEN 'task_x' END,
		floor(random() * CASE WHEN even THEN 2 ELSE 50 END)::bigint,
		CASE WHEN even THEN 0 ELSE floor(random() * 4)::int END,
		CASE WHEN even THEN 0 ELSE floor(random() * 3)::int END
	FROM agent, generate_series(0, max_concurrency - 1) slot_no, generate_series(1, 2) generation
	WHERE random() < 0.5;
	INSERT INTO request
	SELECT no,
		(SELECT coalesce(array_agg(DISTINCT pg_temp.random_entry()), '{}')
		 FROM generate_series(1, floor(random() * 3 + no * 0)::int)),
		(SELECT coalesce(array_agg(DISTINCT
			CASE WHEN random() < 0.5 THEN pg_temp.random_entry()
				 ELSE pg_temp.one_of('tag:fintech', 'tag:law', 'domain:web', 'domain:law') END), '{}')
		 FROM generate_series(1, floor(random() * 5 + no * 0)::int)),
		random() < 0.5,
		CASE WHEN random() < 0.3
			THEN pg_temp.some_of(0.6, 'mcp:browser', 'mcp:files', 'mcp:db', 'mcp:mail') || 'mcp:other'::text END,
		pg_temp.one_of('none', 'none', 'egress-restricted', 'open'),
		pg_temp.one_of('sandbox', 'sandbox', 'prod'),
		pg_temp.one_of(NULL, NULL, 'group:s', 'group:t'),
		CASE WHEN random() < 0.25 THEN pg_temp.some_of(0.3, 'agent:a', 'agent:B', 'agent:k', 'agent:nobody')
			ELSE '{}' END,
		CASE WHEN random() < 0.25 THEN pg_temp.some_of(0.5, 'group:a', 'group:b', 'group:c')
			ELSE '{}' END
	FROM generate_series(1, 16) no;
END
$$;

-- as the rows that C reads
CREATE FUNCTION pg_temp.build_world() RETURNS void VOLATILE LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM clutch.agent_registry;
	DELETE FROM clutch.agent_slot;
	INSERT INTO clutch.agent_registry (agent_id, status, card, registered_at, changed_seq, lost)
	SELECT agent_id, status, card, now(), 1, false FROM card;
	INSERT INTO clutch.agent_slot (agent_id, slot_no, generation, task_id, chosen_seq, done, failed)
	SELECT DISTINCT ON (agent_id, slot_no) agent_id, slot_no, generation, task_id, chosen_seq, done, failed
	FROM slot ORDER BY agent_id, slot_no, generation DESC;
	-- last, because a change of members makes the registry be read again
	DELETE FROM clutch.group_member;
	INSERT INTO clutch.group_member (group_id, agent_id) SELECT group_id, agent_id FROM membership;
END
$$;

CREATE TEMP TABLE difference (world integer, what text, no integer, c jsonb, oracle jsonb);
CREATE TEMP TABLE seen (what text, n bigint);

CREATE FUNCTION pg_temp.compare(world integer) RETURNS void VOLATILE LANGUAGE plpgsql AS $$
BEGIN
	-- step by step, because the planner has no statistics of tables that are so new
	TRUNCATE met, ranked;
	INSERT INTO met TABLE all_met;
	INSERT INTO ranked TABLE all_ranked;

	INSERT INTO difference
	WITH ours AS (
		SELECT e.no, x.agent_id, x.eligible, x.rejected_by, x.score, x.load, x.success_rate, x.rank
		FROM envelope e, clutch.explain_route(e.envelope) x
	), theirs AS (
		SELECT no, agent_id::text, rejected_by IS NULL AS eligible, rejected_by,
			CASE WHEN rank IS NOT NULL THEN score END AS score,
			CASE WHEN rank IS NOT NULL THEN load END AS load,
			CASE WHEN rank IS NOT NULL THEN success_rate END AS success_rate, rank
		FROM ranked
	)
	SELECT world, 'explain_route', coalesce(o.no, t.no), to_jsonb(o), to_jsonb(t)
	FROM ours o FULL JOIN theirs t ON o.no = t.no AND o.agent_id = t.agent_id COLLATE "C"
	WHERE to_jsonb(o) IS DISTINCT FROM to_jsonb(t);

	INSERT INTO difference
	SELECT world, 'route', no, ours, theirs
	FROM (
		SELECT v.no,
			jsonb_build_object('selected', d -> 'selected', 'code', d -> 'code', 'reason', d -> 'reason',
				'retryable', d -> 'retryable', 'rejected', d -> 'rejected',
				'candidates', coalesce(d -> 'candidates', '[]'), 'request', d -> 'request') AS ours,
			jsonb_build_object('selected', v.selected, 'code', v.code, 'reason',
				CASE WHEN v.selected IS NOT NULL THEN v.reason END,
				'retryable', CASE WHEN v.code IS NOT NULL THEN v.code <> 'POLICY_DENIED' END,
				'rejected', v.rejected, 'candidates', v.candidates,
				'request', 'msg_' || v.no) AS theirs
		FROM verdict v JOIN envelope e USING (no), clutch.route(e.envelope) d) both_sides
	WHERE jsonb_strip_nulls(ours) <> jsonb_strip_nulls(theirs);

	INSERT INTO seen
	SELECT coalesce(rejected_by, 'eligible'), count(*) FROM ranked GROUP BY 1
	UNION ALL SELECT coalesce(code, 'decision'), count(*) FROM verdict GROUP BY 1
	UNION ALL SELECT substring(reason FROM '(named by the request|[^],]*)$'), count(*)
		FROM verdict WHERE selected IS NOT NULL GROUP BY 1;
END
$$;

DO $$
BEGIN
	FOR world IN 1..200 LOOP
		PERFORM set_config('clutch.weight_' || kind, (floor(random() * 4) / 2)::text, false)
		FROM unnest(ARRAY['skill', 'tool', 'tag', 'domain']) kind;
		-- remembered loads must give the same answers
		PERFORM set_config('clutch.exact_load_candidates', (world % 2 * 32)::text, false);
		-- in some worlds more agents are eligible than a decision names
		PERFORM set_config('clutch.decision_candidates', (ARRAY[20, 3, 2, 1])[1 + world / 2 % 4]::text, false);
		PERFORM pg_temp.random_world();
		PERFORM pg_temp.build_world();
		PERFORM pg_temp.compare(world);
	END LOOP;
END
$$;

SELECT diag(format('world %s, request %s, %s: C says %s, the oracle %s', world, no, what, c, oracle))
FROM (SELECT * FROM difference LIMIT 10) d;

SELECT is((SELECT count(*) FROM difference WHERE what = 'explain_route'), 0::bigint,
		  'every verdict, score and rank of explain_route agrees with the oracle');
SELECT is((SELECT count(*) FROM difference WHERE what = 'route'), 0::bigint,
		  'every decision and failure of route agrees with the oracle');

-- the comparison says little unless every case has occurred
SELECT cmp_ok((SELECT sum(n) FROM seen WHERE what IN ('decision', 'NO_CAPABLE_AGENT', 'NO_CAPACITY',
				'NO_AGENT_AVAILABLE', 'POLICY_DENIED')), '>=', 3000::numeric, 'thousands of requests were compared');
SELECT is((SELECT count(DISTINCT what) FROM seen WHERE n > 0 AND what IN
		  ('status', 'scope', 'trust', 'policy', 'tools', 'network', 'requires', 'concurrency')),
		  8::bigint, 'every word of rejection occurred');
SELECT is((SELECT count(DISTINCT what) FROM seen WHERE what IN
		  ('NO_CAPABLE_AGENT', 'NO_CAPACITY', 'NO_AGENT_AVAILABLE', 'POLICY_DENIED')),
		  4::bigint, 'every code of failure occurred');
SELECT is((SELECT count(DISTINCT trim(what)) FROM seen WHERE trim(what) IN
		  ('highest score', 'lowest load', 'highest success rate', 'lowest cost',
		   'least recently chosen', 'first by agent_id', 'only candidate', 'named by the request')),
		  8::bigint, 'every reason occurred');
SELECT cmp_ok((SELECT min(total) FROM (SELECT sum(n) AS total FROM seen
		WHERE what IN ('status', 'scope', 'trust', 'policy', 'tools', 'network', 'requires',
					   'concurrency', 'eligible') GROUP BY what) t), '>=', 20::numeric,
		'often enough');
SELECT cmp_ok((SELECT sum(n) FROM seen WHERE what = 'decision'), '>=', 500::numeric,
		'and choices were made');

SELECT * FROM finish();
