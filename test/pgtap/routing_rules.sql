-- Routing rules: conditions, effects, what the log says of them, and sets of rules.
\ir ../fixtures/tap.sql
SELECT plan(128);

SELECT count(fixture.agent(n, 50)) FROM unnest('{ann,ben,cal}'::text[]) n;
SELECT fixture.agent('dora', 50, '{skill:x,skill:y}', more => '{"model": "gpt-5-mini", "groups": ["group:team"]}');
SELECT fixture.agent('emil', 50, '{skill:x}', more => '{"model": "claude-3.7-sonnet", "groups": ["group:team"]}');
CREATE FUNCTION pg_temp.says(text text) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('payload', jsonb_build_object('deep', jsonb_build_array(jsonb_build_object('text', text)))) $$;
-- the rules that touch a request with this text
CREATE FUNCTION pg_temp.touched(text text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(r, ' '), 'none') FROM jsonb_array_elements_text(clutch.route(fixture.request('asked', skill => NULL, more => pg_temp.says(text))) -> 'rules') r
$$;
CREATE FUNCTION pg_temp.selected(more jsonb, skill text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(d ->> 'selected', d ->> 'code') || coalesce(' ' || (d ->> 'rules'), '') FROM clutch.route(fixture.request('asked', skill => skill, more => more)) d
$$;
CREATE FUNCTION pg_temp.decided(task text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', type, envelope #>> '{payload,selected}', envelope #>> '{payload,code}', envelope #>> '{payload,rules}', envelope #>> '{payload,priority}'), ', ' ORDER BY seq)
	FROM clutch.events WHERE task_id = task AND type LIKE 'routing.%'
$$;

-- --- words
INSERT INTO clutch.routing_rule (name, words, send_to) VALUES
	('cook', '{recipe, "What should I cook", pinterest.com}', 'agent:ann'),
	('food', '{cook, ärger}', 'agent:ben'),
	('evening', '{"cook dinner"}', 'agent:cal');
SELECT is(pg_temp.touched('a recipe, please'), 'cook', 'a word of the payload finds a rule');
SELECT is(pg_temp.touched('A RECIPE!'), 'cook', 'in any case');
SELECT is(pg_temp.touched('recipes and cookies'), 'none', 'as a whole word');
SELECT is(pg_temp.touched('what should  I -- cook?'), 'cook', 'words of a phrase follow one another, whatever stands between them; the longer phrase decides');
SELECT is(pg_temp.touched('what I should cook'), 'food', 'in the order of the phrase');
SELECT is(pg_temp.touched('look at https://www.Pinterest.com/x'), 'cook', 'a host is a phrase');
SELECT is(pg_temp.touched('I cook dinner, by which recipe?'), 'evening', 'the longest phrase of all rules decides where it goes');
SELECT is(pg_temp.touched('so ein ÄRGER'), 'food', 'letters of other scripts have cases, too');
SELECT is(pg_temp.touched('„Recipe“ – cook dinner…'), 'evening', 'and their punctuation stands between words');
SELECT is(pg_temp.touched(U&'so ein A\0308rger'), 'food', 'an accent may be a character of its own');
SELECT is(pg_temp.touched(U&'recipe\0301'), 'none', 'but a letter with an accent is another letter');
-- Arabic, Devanagari, Korean, Hebrew, Tamil, Japanese, Burmese, Vietnamese, a symbol of music, Greek, the sign of the ohm
CREATE TEMP TABLE words AS SELECT w FROM unnest(ARRAY[U&'\0623\0645\0631', U&'\0958\0932\092E', U&'\D55C\AD6D\C5B4', U&'\05E9\05B8\05C1\05DC\05D5\05B9\05DD', U&'\0B95\0BCA\0B9F',
	U&'\304C\304D', U&'\1026\1000', U&'vi\1EC7t', U&'\+01D15Ea', U&'\0390\03B0', U&'\2126x']) AS w;
INSERT INTO clutch.routing_rule (name, words, send_to) SELECT 'word ' || w, ARRAY[w], 'agent:cal' FROM words;
SELECT is((SELECT string_agg(w, ' ') FROM words WHERE pg_temp.touched(normalize(w, NFD)) <> 'word ' || w), NULL, 'in every script, a letter and its marks are the same as one character');
SELECT is((SELECT string_agg(w, ' ') FROM words WHERE pg_temp.touched(normalize(w, NFD) || U&' e\0301') <> 'word ' || w), NULL, 'whatever else is in the text');
SELECT is((SELECT count(*) FROM words, generate_series(0, 129) AS n, unnest(ARRAY['e', U&'e\0301', normalize(U&'\AC01', NFD), U&'\0627\0654', U&'\0915\093C', U&'\4E00']) AS before
	WHERE n % 8 IN (0, 1, 7) AND pg_temp.touched(repeat(before, n) || U&'\3000' || normalize(w, NFD)) <> 'word ' || w), 0::bigint, 'and however long the text before it is without a blank');
DELETE FROM clutch.routing_rule WHERE name LIKE 'word %';
-- a row of marks in the wrong order is put into order in pieces
SET statement_timeout = '60s';
SELECT is(pg_temp.touched('recipe ' || repeat(m, 150000)), pg_temp.touched('recipe'), 'rows of marks take no long time: ' || n) FROM (VALUES ('accents', U&'\0301\0323'), ('points', U&'\0301\0591\0592')) AS v(n, m);
RESET statement_timeout;
SELECT is(pg_temp.touched(repeat(U&'e\0301 ', n) || U&'A\0308rger'), 'food', 'a word behind ' || n || ' others is found') FROM unnest('{15,16,17,31,32,33,63,64,65,127,128,129}'::int[]) AS n;
SELECT is(pg_temp.touched('my recipe🍕!'), 'cook', 'an emoji ends a word');
SELECT is((SELECT string_agg(pg_temp.touched(t), ' ') FROM unnest('{recipe؟,recipe।,（recipe）,recipe、,recipe→,€recipe,recipe・}'::text[]) AS t), 'cook cook cook cook cook cook cook', 'and so does the punctuation of other scripts');
INSERT INTO clutch.routing_rule (name, words, send_to) VALUES ('pizza', '{🍕, 👍, 佐々木, दिन}', 'agent:cal');
SELECT is((SELECT string_agg(pg_temp.touched(t), ' ') FROM unnest('{yes🍕please,👍🏽,佐々木。,दिन।}'::text[]) AS t), 'pizza pizza pizza pizza', 'an emoji is a word, whatever its colour is; and letters with marks are letters');
SELECT is((SELECT string_agg(pg_temp.touched(t), ' ') FROM unnest('{दान,佐,👎}'::text[]) AS t), 'none none none', 'others are not');
DELETE FROM clutch.routing_rule WHERE name = 'pizza';
SELECT is(pg_temp.touched(repeat('x ', 5000) || 'recipe'), 'cook', 'a long text is read to its end');
SELECT is(pg_temp.selected('{"payload": {"recipe": 1, "cook dinner": ["x"]}}') , 'agent:ann', 'keys are not words');
SELECT is(pg_temp.selected('{"payload": {"a": "what should I", "b": ["cook"]}}'), 'agent:ben ["food"]', 'no phrase reaches from one string into another');
SELECT is(pg_temp.selected('{"payload": {"a": "the recipe"}, "to": [{"agent_id": "agent:cal"}]}'), 'agent:cal', 'a request that names one agent goes there');

INSERT INTO clutch.routing_rule (name, words, send_to) VALUES ('a host', '{guests, "guests for two nights"}', 'agent:ann'), ('b pair', '{"for two"}', 'agent:ben');
SELECT is(pg_temp.touched('guests for two nights'), 'a host', 'of the phrases of a rule, the longest that is found counts');
SELECT is(pg_temp.touched('guests, and dinner for two'), 'b pair', 'if it is');
DELETE FROM clutch.routing_rule WHERE name IN ('a host', 'b pair');

-- --- what the log says
SELECT fixture.ask('task:r', skill => NULL, more => pg_temp.says('recipe'));
SELECT is(fixture.state('task:r'), 'assigned agent:ann 1', 'the rule sends it');
SELECT is(pg_temp.decided('task:r'), 'routing.decision agent:ann ["cook"]', 'and the decision names the rule');
SELECT is((SELECT detail FROM clutch.why('task:r') WHERE rank = 1), 'nothing required, only candidate; rule cook', 'so does why');
SELECT fixture.answers($$SELECT agent_id, eligible, rejected_by, detail FROM clutch.explain_route(fixture.request('asked', skill => NULL, more => pg_temp.says('recipe'))) ORDER BY 1 LIMIT 2$$,
	$$VALUES ('agent:ann', true, NULL, format('cost low, last chosen by event %s; rule cook', (SELECT request_seq FROM clutch.task WHERE task_id = 'task:r'))), ('agent:ben', false, 'rule', 'rule cook sends it to agent:ann')$$, 'and explain_route');
SELECT fixture.ask('task:plain', skill => NULL, more => pg_temp.says('nothing'));
SELECT ok(NOT (SELECT envelope -> 'payload' ? 'rules' FROM clutch.events WHERE task_id = 'task:plain' AND type = 'routing.decision'), 'a request that no rule touches has a decision without rules');

-- --- what backends remember
DELETE FROM clutch.routing_rule WHERE name = 'cook';
SELECT is(pg_temp.touched('recipe'), 'none', 'a rule that was dropped counts no more');
BEGIN;
UPDATE clutch.routing_rule SET words = '{recipe}' WHERE name = 'food';
SELECT is(pg_temp.touched('recipe'), 'food', 'one that was changed counts at once');
ROLLBACK;
SELECT is(pg_temp.touched('recipe'), 'none', 'and not after it is rolled back');
TRUNCATE clutch.routing_rule;
SELECT is(pg_temp.touched('cook'), 'none', 'without rules nothing is touched');

-- --- effects
INSERT INTO clutch.routing_rule (name, words, requires, prefers, restrict_to, priority) VALUES
	('need', '{alpha}', '{skill:y}', NULL, NULL, NULL),
	('like', '{beta}', NULL, '{skill:y}', NULL, NULL),
	('some', '{gamma}', NULL, NULL, '{group:team,agent:cal}', NULL),
	('less', '{delta}', NULL, NULL, '{agent:cal,agent:ann}', NULL),
	('soon', '{epsilon}', NULL, NULL, NULL, 4),
	('later', '{"zeta epsilon"}', NULL, NULL, NULL, 0),
	('model', '{eta}', NULL, '{model:claude}', NULL, NULL);
SELECT is(pg_temp.selected(pg_temp.says('alpha')), 'agent:dora ["need"]', 'a rule requires a capability');
SELECT is((SELECT detail FROM clutch.explain_route(fixture.request('asked', skill => NULL, more => pg_temp.says('alpha'))) WHERE agent_id = 'agent:ann'), 'has no skill:y, which rule need requires', 'and explain_route says which rule does');
SELECT is(pg_temp.selected(pg_temp.says('beta'), 'skill:x'), 'agent:dora ["like"]', 'or prefers one');
SELECT is(pg_temp.selected(pg_temp.says('eta')), 'agent:emil ["model"]', 'or a family of models');
SELECT is(pg_temp.selected(pg_temp.says('gamma delta')), 'agent:cal ["less", "some"]', 'restrictions add up');
SELECT is((SELECT string_agg(agent_id || ' ' || detail, ', ' ORDER BY agent_id) FROM clutch.explain_route(fixture.request('asked', skill => NULL, more => pg_temp.says('gamma delta'))) WHERE rejected_by = 'rule' AND agent_id < 'agent:c'),
	'agent:ann rule some restricts it to group:team, agent:cal, agent:ben rule less restricts it to agent:cal, agent:ann', 'the first rule that excludes an agent is named');
SELECT is((clutch.route(fixture.request('asked', 'group:team', NULL, more => pg_temp.says('delta') || '{"to": [{"agent_id": "group:team"}]}')) ->> 'code'), 'NO_AGENT_AVAILABLE', 'a rule does not widen what the request says');
SELECT is((clutch.route(fixture.request('asked', 'group:team', NULL, more => pg_temp.says('delta') || '{"to": [{"agent_id": "group:team"}]}')) ->> 'message'),
	'rules leave none of the agents that the request names; change the rules, or let the request name nobody; rule less', 'and the failure says what to do');
INSERT INTO clutch.routing_rule (name, words, send_to) VALUES ('gone', '{gone}', 'agent:gone');
SELECT is((clutch.route(fixture.request('asked', skill => NULL, more => pg_temp.says('gone'))) ->> 'message'), 'rules leave no agent that is registered; change the rules, or register an agent that they allow; rule gone', 'as it does if a rule names nobody who is there');
DELETE FROM clutch.routing_rule WHERE name = 'gone';
SELECT fixture.ask('task:soon', skill => NULL, more => pg_temp.says('epsilon'));
SELECT is((SELECT priority::int FROM clutch.tasks WHERE task_id = 'task:soon'), 4, 'a rule sets the priority');
SELECT is(pg_temp.decided('task:soon') ~ ' \["soon"\] 4$', true, 'and the decision says so');
SELECT is(clutch.route(fixture.request('asked', skill => NULL, more => pg_temp.says('zeta epsilon'))) -> 'rules', '["later"]', 'the first rule decides, and the other one does not touch the request');
UPDATE clutch.routing_rule SET place = 5 WHERE name = 'soon';
SELECT is((clutch.route(fixture.request('asked', skill => NULL, more => pg_temp.says('zeta epsilon'))) ->> 'priority'), '4', 'places come before phrases');

-- --- a path and a scope
INSERT INTO clutch.routing_rule (name, path, scope, words, send_to) VALUES
	('big', '$.payload.total > 100', NULL, NULL, 'agent:ann'),
	('team', NULL, 'group:team', NULL, 'agent:ben'),
	('both', '$.domain == "sales"', NULL, '{theta}', 'agent:cal');
SELECT is(pg_temp.selected('{"payload": {"total": 101}}'), 'agent:ann ["big"]', 'a path on the envelope finds a rule');
SELECT is(pg_temp.selected('{"payload": {"total": "much"}, "to": [{"agent_id": "group:team"}, {"agent_id": "agent:cal"}]}') ~ '"', false, 'and not where it cannot be applied');
SELECT is(pg_temp.selected('{"payload": {"t": "theta"}}') ~ 'both', false, 'all conditions must be met');
SELECT is(pg_temp.selected('{"payload": {"t": "theta"}, "domain": "sales"}'), 'agent:cal ["both"]', 'and then it fits');
SELECT fixture.agent('ben', 50, more => '{"scopes": ["group:team"]}');
SELECT is(pg_temp.selected('{"meta": {"clutch": {"scope": "group:team"}}}'), 'agent:ben ["team"]', 'a rule of a scope concerns the runs of this scope');

INSERT INTO clutch.routing_rule (name, words, send_to, requires) VALUES ('to y', '{omega}', 'agent:dora', '{skill:y}'), ('to x', '{"psi omega"}', 'agent:emil', '{skill:x}');
SELECT is(pg_temp.selected(pg_temp.says('psi omega')), 'agent:emil ["to x"]', 'what a rule requires of the agent to which it sends is not required of another one');

-- paths that compare members with texts are found by what the envelope has there
TRUNCATE clutch.routing_rule;
INSERT INTO clutch.routing_rule (name, path, prefers) SELECT 'kind ' || n, format('$.payload.kind == "k%s"', n), '{skill:x}' FROM generate_series(1, 500) n;
INSERT INTO clutch.routing_rule (name, path, prefers) VALUES
	('or', '$.domain == "d1" || "d2" == $.payload.d', '{skill:x}'),
	('and', '$.payload.n > 3 && $.payload.kind == "k7"', '{skill:x}'),
	('deep', '$.payload.a.b == "x"', '{skill:x}'),
	('not', '!($.payload.kind == "k9") && exists($.payload.not)', '{skill:x}'),
	('mixed', '$.payload.kind == "k8" || $.payload.n == 8', '{skill:x}'),
	('strict', 'strict $.payload.kind == "k6"', '{skill:x}');
CREATE FUNCTION pg_temp.fit(payload jsonb, more jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(r, ' '), 'none') FROM jsonb_array_elements_text(clutch.route(fixture.request('asked', skill => NULL, more => jsonb_build_object('payload', payload) || more)) -> 'rules') r
$$;
SELECT is(pg_temp.fit('{"kind": "k77"}'), 'kind 77', 'a member with a text finds the rules that ask for it');
SELECT is(pg_temp.fit('{"kind": "k7", "n": 4}'), 'and kind 7', 'together with other conditions');
SELECT is(pg_temp.fit('{"kind": "k7", "n": 3}'), 'kind 7', 'which must be met, too');
SELECT is(pg_temp.fit('{"d": "d2"}', '{"domain": "d1"}'), 'or', 'a rule that is found twice applies once');
SELECT is(pg_temp.fit('{"d": "d2"}') || ' ' || pg_temp.fit('{}', '{"domain": "d1"}') || ' ' || pg_temp.fit('{"d": "d1"}'), 'or or none', 'one of two is enough');
SELECT is(pg_temp.fit('{"a": {"b": "x"}}') || ' ' || pg_temp.fit('{"a": "x"}') || ' ' || pg_temp.fit('{"a": {"b": {"c": "x"}}}'), 'deep none none', 'keys are followed');
SELECT is(pg_temp.fit('{"a": [{"b": "y"}, {"b": "x"}]}'), 'deep', 'and arrays on the way, as the server does');
SELECT is(pg_temp.fit('{"kind": ["k3", "k5"]}'), 'kind 3 kind 5', 'also at the end of it');
SELECT is(pg_temp.fit('{"kind": ["k6"]}') || ' ' || pg_temp.fit('{"kind": "k6"}'), 'kind 6 kind 6 strict', 'but not in strict mode');
SELECT is(pg_temp.fit('{"kind": "k1", "not": 1}') || ', ' || pg_temp.fit('{"kind": "k9", "not": 1}'), 'kind 1 not, kind 9', 'what must not be is tried');
SELECT is(pg_temp.fit('{"n": 8}') || ' ' || pg_temp.fit('{"kind": "k8"}'), 'mixed kind 8 mixed', 'and so is what may be a number');
TRUNCATE clutch.routing_rule;

-- --- another model
INSERT INTO clutch.routing_rule (name, restrict_to, path, other_model_than) VALUES ('other', '{group:team}', 'exists($.payload.by)', '$.payload.by');
SELECT is(pg_temp.selected('{"payload": {"by": "gpt-5-mini"}}'), 'agent:emil ["other"]', 'a rule excludes the agents of a model');
UPDATE clutch.routing_rule SET restrict_to = NULL WHERE name = 'other';
SELECT is((SELECT detail FROM clutch.explain_route(fixture.request('asked', skill => NULL, more => '{"payload": {"by": "gpt-5-mini"}}')) WHERE agent_id = 'agent:dora'), 'rule other excludes model gpt-5-mini', 'and explain_route says so');
SELECT fixture.agent('edda', 9, '{skill:other}', more => '{"model": "gpt-5-mini"}') \g /dev/null
SELECT is((SELECT string_agg(agent_id || ' ' || detail, ', ' ORDER BY agent_id) FROM clutch.explain_route(fixture.request('asked', skill => NULL, more => '{"payload": {"by": "agent:dora"}}')) WHERE rejected_by = 'rule'),
	'agent:dora rule other excludes the model of agent:dora, agent:edda rule other excludes the model of agent:dora', 'or those of the model that an agent has, and that agent');
SELECT is((SELECT string_agg(agent_id, ', ') FROM clutch.explain_route(fixture.request('asked', skill => NULL, more => '{"payload": {"by": "agent:ann"}}')) WHERE rejected_by = 'rule'), 'agent:ann', 'which need not have any');
SELECT clutch.unregister('agent:edda') \g /dev/null

-- --- what waits, and a rebuild
TRUNCATE clutch.routing_rule;
SELECT fixture.agent('fred', 1, '{skill:f}');
SELECT fixture.agent('gina', 1, '{skill:f}');
INSERT INTO clutch.routing_rule (name, words, send_to, priority) VALUES ('fred', '{iota}', 'agent:fred', 3);
SELECT fixture.ask('task:f' || n, skill => 'skill:f', more => pg_temp.says('iota')) FROM generate_series(1, 2) n;
SELECT is(fixture.states('task:f_'), 'f1 assigned, f2 pending capacity NO_CAPACITY', 'the agent of the rule is full');
SELECT is(pg_temp.decided('task:f2'), 'routing.failure NO_CAPACITY ["fred"] 3', 'the failure names the rule');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same');
SELECT is(fixture.claimed('agent:gina'), 'nothing', 'another agent does not get it');
UPDATE clutch.routing_rule SET send_to = 'agent:gina', priority = 1;
SELECT is(fixture.rebuilt(), 'the same', 'also after the rule has changed');
SELECT is(fixture.claimed('agent:gina'), 'task:f2 1 new', 'what waits is judged by the rules of now');
SELECT is((SELECT priority::int FROM clutch.tasks WHERE task_id = 'task:f2'), 3, 'but for its priority, which was set once');
SELECT fixture.ask('task:f3', skill => 'skill:f', more => pg_temp.says('iota'));
UPDATE clutch.routing_rule SET send_to = 'agent:fred';
SELECT fixture.claimed('agent:fred');
SELECT clutch.finish('agent:fred', 'task:f1');
SELECT clutch.tick();
SELECT is(fixture.state('task:f3'), 'assigned agent:fred 1', 'a tick finds what waits under an old rule');
SELECT is(fixture.rebuilt(), 'the same', 'and so does a rebuild');
DELETE FROM clutch.routing_rule;
SELECT is(fixture.rebuilt(), 'the same', 'when the rule is gone');
SELECT is((SELECT string_agg(priority::text, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id LIKE 'task:f_'), '3 3 1', 'priorities come from the log');

-- --- faults
CREATE FUNCTION pg_temp.refused(columns text, row_values text) RETURNS text LANGUAGE sql AS
$$ SELECT fixture.fault(format('INSERT INTO clutch.routing_rule (name, %s) VALUES (''bad'', %s)', columns, row_values)) $$;
CREATE FUNCTION pg_temp.refused_places(columns text, row_values text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail jsonb;
BEGIN
	EXECUTE format('INSERT INTO clutch.routing_rule (name, %s) VALUES (''bad'', %s)', columns, row_values);
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN (SELECT string_agg(f ->> 'path', ' ') FROM jsonb_array_elements(detail) AS f);
END $$;
SELECT is(pg_temp.refused('words', $$'{recipe}'$$), '22023 REQUIRED ', 'a rule has an effect');
SELECT is(pg_temp.refused('words, send_to', $$'{ok, "?!"}', 'agent:a'$$), '22023 EMPTY /words/1', 'a phrase has words');
SELECT is(pg_temp.refused('words, send_to', $$'{}', 'agent:a'$$), '22023 EMPTY /words', 'a list is not empty');
SELECT is(pg_temp.refused('words, send_to', $$'{NULL}', 'agent:a'$$), '22023 NULL_VALUE /words', 'nor has it nulls');
SELECT is(pg_temp.refused('send_to', $$'basil'$$), '22023 WRONG_PREFIX /send_to', 'agents have their prefix');
SELECT is(pg_temp.refused('restrict_to', $$'{agent:a,group:}'$$), '22023 EMPTY /restrict_to/1', 'and something after it');
SELECT is(pg_temp.refused_places('send_to, restrict_to, emit', $$'group:*', '{agent:a,group:*}', '{"to": "group:*"}'$$), '/restrict_to/1 /send_to /emit/to /restrict_to', 'nobody is a member of the group of everybody');
SELECT is(pg_temp.refused('send_to', $$'agent:orchestrator'$$) || ', ' || pg_temp.refused('restrict_to', $$'{agent:a,agent:orchestrator}'$$), '22023 NOT_ALLOWED /send_to, 22023 NOT_ALLOWED /restrict_to/1', 'nor does the orchestrator work');
SELECT is(pg_temp.refused('send_to, restrict_to', $$'agent:a', '{agent:b}'$$), '22023 NOT_ALLOWED /restrict_to', 'a rule sends or restricts');
SELECT is(pg_temp.refused('requires', $$'{skill:x@nonsense}'$$), '22023 WRONG_FORMAT /requires/0', 'ranges of versions are checked');
SELECT is(pg_temp.refused('prefers', $$'{agent:x}'$$), '22023 WRONG_PREFIX /prefers/0', 'and capabilities');
SELECT is(pg_temp.refused('priority', '5'), '22023 NUMBER_OUT_OF_RANGE /priority', 'priorities are those of envelopes');
SELECT is(pg_temp.refused('scope, priority', $$'team', 1$$), '22023 WRONG_PREFIX /scope', 'a scope is a group');
SELECT is(pg_temp.refused('type, requires', $$'task.request', '{skill:x,model:x@latest}'$$), '22023 WRONG_FORMAT /requires/1', 'a model is required like a capability, so what follows the @ is a version');
SELECT lives_ok($$INSERT INTO clutch.routing_rule (name, prefers) VALUES ('latest', '{model:x@latest}')$$, 'the name of a preferred model may have an @');
DELETE FROM clutch.routing_rule WHERE name = 'latest';
SELECT is(pg_temp.refused('type, priority', $$'task.reqest', 1$$), '22023 UNKNOWN_TYPE /type', 'types exist');
SELECT is(pg_temp.refused('type, priority', $$'task.result', 1$$), '22023 NOT_ALLOWED /type', 'only requests are routed');
SELECT is(pg_temp.refused('type, emit', $$'routing.decision', '{}'$$), '22023 NOT_ALLOWED /type', 'what only the database says adds nothing');
SELECT is(pg_temp.refused('type, emit', $$'task.timeout', '{}'$$), '22023 NOT_ALLOWED /type', 'nor does a timeout');
SELECT is(pg_temp.refused('place, priority', 'NULL, 1'), '22023 REQUIRED /place', 'a rule has a place');
SELECT is(pg_temp.refused('path, priority', $$'$.a ==', 1$$), '22023 WRONG_VALUE /path', 'a path is one');
SELECT is(pg_temp.refused('path, other_model_than, send_to', $$'$.a like_regex "("', '$.x.datetime("foo")', 'basil'$$), '22023 WRONG_VALUE /path', 'so are its regular expressions');
SELECT is(pg_temp.refused_places('path, other_model_than, send_to, emit', $$'$.a like_regex "("', '$.x.datetime("foo")', 'basil', '{"each": "$.a[", "payload": {"list": ["$", "$.b["]}}'$$),
	'/path /send_to /other_model_than /emit/each /emit/payload/list/1', 'a path that is none is one fault among others');
SELECT throws_matching($$INSERT INTO clutch.routing_rule (name, path, priority) VALUES ('x', '$.a ==', 1)$$, '^routing rule "x" is not valid at "/path": "[$].a ==" is not an SQL/JSON path: syntax error', 'and the message says what is wrong');
SELECT is(pg_temp.refused('path, priority', $$'$.a == $x', 1$$), '22023 WRONG_VALUE /path', 'without variables');
SELECT is(pg_temp.refused('other_model_than', $$'$x'$$), '22023 WRONG_VALUE /other_model_than', 'so is the other one');
SELECT is(pg_temp.refused('emit', $$'{"to": "agent:a", "payload": []}'$$), '22023 WRONG_TYPE /emit/payload', 'what is emitted is checked, too');
SELECT throws_matching($$INSERT INTO clutch.routing_rule (name, emit) VALUES ('x', '{"to": ["agent:a"]}')$$, 'at "/emit/to": "to" must be a string, which names one agent or group$', 'and the message says what it must be');
SELECT throws_matching($$INSERT INTO clutch.routing_rule (send_to) VALUES ('agent:a')$$, 'at "/name": a rule needs a name$', 'a rule has a name');
SELECT throws_ok($$INSERT INTO clutch.routing_rule (name, priority) VALUES (repeat('x', 200), 1)$$, '22023');

-- --- roles
CREATE ROLE rule_agent; CREATE ROLE rule_operator;
SELECT clutch.grant_agent('rule_agent', 'agent:ui'), clutch.grant_operator('rule_operator');
SET ROLE rule_agent;
SELECT throws_ok($$INSERT INTO clutch.routing_rule (name, priority) VALUES ('mine', 4)$$, '42501');
SELECT throws_ok($$SELECT clutch.install_rules('multiagent-1.0')$$, '42501');
SET ROLE rule_operator;
SELECT lives_ok($$INSERT INTO clutch.routing_rule (name, words, priority) VALUES ('mine', '{kappa}', 4)$$, 'an operator writes rules');
RESET ROLE;
SET ROLE rule_agent;
SELECT is(pg_temp.touched('kappa'), 'mine', 'which concern the requests of everybody');
RESET ROLE;
SELECT clutch.revoke_agent('rule_agent', 'agent:ui'), clutch.revoke_operator('rule_operator');
DROP ROLE rule_agent; DROP ROLE rule_operator;

-- --- a thousand rules
TRUNCATE clutch.routing_rule;
INSERT INTO clutch.routing_rule (name, words, prefers) SELECT 'rule ' || n, ARRAY[format('word%s phrase', n), format('alone%s', n)], '{skill:x}' FROM generate_series(1, 1000) n;
SELECT is(pg_temp.touched('a word617 phrase and alone88, but not word5'), 'rule 617 rule 88', 'of a thousand rules those apply that fit');
SELECT is(pg_temp.touched((SELECT string_agg('alone' || n, ' ') FROM generate_series(1, 1000) n)) ~ '^rule 1 rule 10 rule 100 rule 1000 ', true, 'all of them, if all fit');
TRUNCATE clutch.routing_rule;

SELECT * FROM finish();
