-- JSON Schema, draft 2020-12: each keyword with a value that keeps it and one that
-- breaks it, faults with their places, references, patterns, formats, limits.  The
-- official test suite is run by test/clients/json_schema_suite.py.
\ir ../fixtures/tap.sql
CREATE TEMP TABLE cases (n serial, name text, schema jsonb, value jsonb, faults text);
INSERT INTO cases (name, schema, value, faults) VALUES
('true', 'true', '1', NULL),
('false', 'false', '1', ' false'),
('type', '{"type": "integer"}', '1.0', NULL),
('type', '{"type": ["integer", "null"]}', '1.5', ' type'),
('enum', '{"enum": [1, {"a": [1.0]}]}', '{"a": [1]}', NULL),
('enum', '{"enum": ["a", null]}', '"b"', ' enum'),
('const', '{"const": {"b": 1, "a": 2}}', '{"a": 2, "b": 1.00}', NULL),
('const', '{"const": "a"}', '"A"', ' const'),
('multipleOf', '{"multipleOf": 0.01}', '4.35', NULL),
('multipleOf', '{"multipleOf": 0.01}', '4.355', ' multipleOf'),
('maximum', '{"maximum": 9007199254740993}', '9007199254740993', NULL),
('maximum', '{"maximum": 9007199254740992}', '9007199254740993', ' maximum'),
('exclusiveMaximum', '{"exclusiveMaximum": 3}', '3.0', ' exclusiveMaximum'),
('minimum', '{"minimum": -0.5}', '-0.51', ' minimum'),
('exclusiveMinimum', '{"exclusiveMinimum": 0}', '0', ' exclusiveMinimum'),
('maxLength counts characters', '{"maxLength": 2}', '"\u00e9\u00e9"', NULL),
('maxLength', '{"maxLength": 2}', '"abc"', ' maxLength'),
('minLength', '{"minLength": 2}', '"\u00e9"', ' minLength'),
('pattern is not anchored', '{"pattern": "b+"}', '"abc"', NULL),
('pattern', '{"pattern": "^b"}', '"abc"', ' pattern'),
('maxItems', '{"maxItems": 1}', '[1, 2]', ' maxItems'),
('minItems', '{"minItems": 1}', '[]', ' minItems'),
('uniqueItems', '{"uniqueItems": true}', '[1, "1", true, null, [1], {"a": 1}]', NULL),
('uniqueItems', '{"uniqueItems": true}', '[{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]', ' uniqueItems'),
('prefixItems and items', '{"prefixItems": [{"type": "string"}], "items": {"type": "number"}}', '["a", 1, "b", 1]', '/2 type'),
('contains', '{"contains": {"type": "string"}}', '[1]', ' contains'),
('minContains, maxContains', '{"contains": {"type": "string"}, "minContains": 0, "maxContains": 1}', '["a", "b"]', ' maxContains'),
('maxProperties', '{"maxProperties": 1}', '{"a": 1, "b": 1}', ' maxProperties'),
('minProperties', '{"minProperties": 1}', '{}', ' minProperties'),
('required names what is missing', '{"required": ["a", "b/c"]}', '{}', '/a required, /b~1c required'),
('dependentRequired', '{"dependentRequired": {"a": ["b"]}}', '{"a": 1}', '/b dependentRequired'),
('propertyNames', '{"propertyNames": {"maxLength": 1}}', '{"a": 1, "bc": 1}', '/bc maxLength'),
('properties, patternProperties, additionalProperties', '{"properties": {"a": {"type": "string"}}, "patternProperties": {"^n": {"type": "number"}}, "additionalProperties": false}',
	'{"a": 1, "n1": 1, "n2": "x", "z": 1}', '/a type, /n2 type, /z additionalProperties'),
('allOf', '{"allOf": [{"required": ["a"]}, {"required": ["b"]}]}', '{}', '/a required, /b required'),
('anyOf', '{"anyOf": [{"type": "string"}, {"minimum": 5}]}', '1', ' anyOf,  type,  minimum'),
('oneOf', '{"oneOf": [{"type": "number"}, {"minimum": 5}]}', '6', ' oneOf'),
('not', '{"not": {"type": "number"}}', '6', ' not'),
('if, then, else', '{"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "null"}}', '""', ' minLength'),
('if, then, else', '{"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "null"}}', '1', ' type'),
('dependentSchemas', '{"dependentSchemas": {"a": {"required": ["b"]}}}', '{"a": 1}', '/b required'),
('unevaluatedProperties', '{"allOf": [{"properties": {"a": true}}], "anyOf": [{"required": ["b"], "properties": {"b": true}}, true], "unevaluatedProperties": false}',
	'{"a": 1, "b": 1, "c": 1}', '/c unevaluatedProperties'),
('unevaluatedItems', '{"prefixItems": [true], "contains": {"const": 3}, "unevaluatedItems": {"type": "string"}}', '[1, 2, 3, "a"]', '/1 type'),
('a tree', '{"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "required": ["v"], "properties": {"kids": {"items": {"$ref": "#/$defs/node"}}}}}}',
	'{"v": 1, "kids": [{"v": 1}, {"kids": [{}]}]}', '/kids/1/kids/0/v required, /kids/1/v required'),
('$anchor', '{"$ref": "#name", "$defs": {"x": {"$anchor": "name", "type": "string"}}}', '1', ' type'),
('$dynamicRef', '{"$id": "urn:strict", "$dynamicAnchor": "node", "$ref": "urn:tree", "unevaluatedProperties": false, "$defs": {"tree": {"$id": "urn:tree", "$dynamicAnchor": "node", "properties": {"kids": {"items": {"$dynamicRef": "#node"}}}}}}',
	'{"kids": [{"kidz": 1}]}', '/kids/0/kidz unevaluatedProperties'),
('an unknown keyword says nothing', '{"requird": ["a"], "contentEncoding": "base64"}', '{}', NULL),
('format is an annotation', '{"format": "date"}', '"x"', NULL);
SELECT plan((SELECT count(*)::int + count(*) FILTER (WHERE jsonb_typeof(schema) = 'object' AND schema::text !~ '"#')::int FROM cases) + 176);

CREATE FUNCTION pg_temp.faults(schema jsonb, value jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	DELETE FROM clutch.payload_type WHERE payload_type = 'test.case';
	PERFORM clutch.register_schema('test.case', schema);
	SELECT string_agg(v.path || ' ' || v.code, ', ' ORDER BY v.path, v.schema_path) INTO said FROM clutch.validate_payload('test.case', value) v;
	RETURN said;
END $$;
-- what is wrong with a schema itself
CREATE FUNCTION pg_temp.refused(schema jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	PERFORM clutch.register_schema('test.refused', schema, compatibility => 'none');
	RETURN 'registered';
EXCEPTION WHEN SQLSTATE 'KL011' THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN (SELECT string_agg((f ->> 'path') || ' ' || (f ->> 'code'), ', ' ORDER BY f ->> 'path') FROM jsonb_array_elements(detail::jsonb) f);
END $$;

-- --------------------------------------------------------------- the keywords
SELECT is(pg_temp.faults(schema, value), faults, 'verdict: ' || name || ' ' || n) FROM cases ORDER BY n;
-- the verdict does not depend on how much is written about it: an enclosing not asks for the verdict alone
SELECT is(pg_temp.faults(jsonb_build_object('$id', 'urn:outer', 'not', CASE WHEN schema ? '$id' THEN schema ELSE schema || '{}' END), value) IS NULL, faults IS NOT NULL, 'the opposite: ' || name || ' ' || n)
FROM cases WHERE jsonb_typeof(schema) = 'object' AND schema::text !~ '"#' ORDER BY n;

-- ------------------------------------------------------------ places in schemas
SELECT pg_temp.faults('{"$ref": "#/$defs/a~0b", "$defs": {"a~b": {"items": {"anyOf": [{"type": "null"}]}}}}', '[1]') \g /dev/null
SELECT fixture.answers($$SELECT path, schema_path, code FROM clutch.validate_payload('test.case', '[1]')$$,
	$$VALUES ('/0', '/$defs/a~0b/items/anyOf', 'anyOf'), ('/0', '/$defs/a~0b/items/anyOf/0/type', 'type')$$, 'schema_path is the path of the keyword in its document');
SELECT clutch.register_schema('test.other', '{"$id": "https://example.com/other", "$defs": {"s": {"$anchor": "s", "type": "string"}}}') \g /dev/null
SELECT pg_temp.faults('{"properties": {"a": {"$ref": "https://example.com/other#s"}, "b": {"$ref": "schema://clutch/code/review@1"}}}', '{"a": 1}') \g /dev/null
SELECT fixture.answers($$SELECT path, schema_path FROM clutch.validate_payload('test.case', '{"a": 1, "b": {"findings": []}}')$$,
	$$VALUES ('/a', 'https://example.com/other#/$defs/s/type'), ('/b/severity', 'schema://clutch/code/review@1#/required')$$, 'in another document, its URI precedes it');
SELECT pg_temp.faults('{"items": {"type": "string"}}', '[]') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.validate_payload('test.case', (SELECT jsonb_agg(i) FROM generate_series(1, 500) i))), 100::bigint, 'at most 100 faults are returned');

-- an invalid payload is refused with faults, although listing all of them would take more steps than the verdict
SELECT pg_temp.faults(jsonb_build_object('items', jsonb_build_object('oneOf', (SELECT jsonb_agg(jsonb_build_object('required', '["k", "v"]'::jsonb, 'properties', jsonb_build_object('k', jsonb_build_object('const', i), 'v', '{"type": "string"}'::jsonb))) FROM generate_series(1, 8) i))), '[]') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.validate_payload('test.case', (SELECT jsonb_agg('{"k": 3, "v": 1}'::jsonb) FROM generate_series(1, 10000)))), 100::bigint, 'no faults are looked for when the list is full');
CREATE FUNCTION pg_temp.listed(schema jsonb, value jsonb, steps int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('clutch.max_schema_steps', steps::text, true);
	RETURN pg_temp.faults(schema, value);
EXCEPTION WHEN SQLSTATE '54000' THEN
	RETURN 'too many steps';
END $$;
SELECT is(pg_temp.listed(schema::jsonb, coalesce(value, (SELECT '[1]' || jsonb_agg(repeat('x', 1000)) || '[2]' FROM generate_series(1, 1000))), 2000), faults, 'the list ends with the steps: ' || schema) FROM (VALUES
	('{"items": {"type": "string", "pattern": "x"}}', NULL::jsonb, '/0 type'), ('{"items": {"type": "string", "minLength": 1, "maxLength": 1001}}', NULL, '/0 type'),
	('{"items": {"anyOf": [{"type": "string", "minLength": 1, "format": "x"}, {"type": "null"}]}}', NULL, '/0 anyOf, /0 type, /0 type'),
	('{"prefixItems": [{"type": "null"}], "contains": {"type": "object", "required": ["a"]}, "minContains": 9}', NULL, '/0 type'),
	('{"items": {"minLength": 1, "maxLength": 1001}}', NULL, 'too many steps')) v(schema, value, faults);

-- ------------------------------------------------------------------ patterns
CREATE TEMP TABLE patterns (pattern text, yes text, no text);
INSERT INTO patterns VALUES
('^\d+$', '12', '1' || U&'\0662'), ('^\w$', '_', U&'\00e9'), ('^\s$', U&'\00a0', '_'), ('^[\d\w.-]+$', 'a.1-', ' '), ('^[^\d]$', 'x', '1'), ('^\D\W\S$', 'x-y', '111'),
('^[\W]$', U&'\00e9', 'x'), ('^[^\W]$', '_', U&'\00e9'), ('^[\D]$', U&'\0662', '2'), ('^[^\D_-]$', '2', '_'), ('^[\S]$', U&'\0085', U&'\feff'), ('^[\S\t]+$', E'\t' || U&'\+01F600', ' '), ('^[^\S]$', U&'\2009', U&'\200b'), ('^[^\S\s]$', 'no such text', 'a'),
('^.$', 'x', E'\n'), ('^a.c$', 'abc', E'a\nc'), ('a$', 'ba', E'a\n'), ('\bfoo\b', 'a foo b', 'afoo'), ('\Boo', 'foo', 'oo'), ('^é\ba', 'éa', 'éb'), ('\b', 'x', 'é'), ('^\Bé', 'é', 'e'),
('^\u00e9\x41$', U&'\00e9A', 'A'), ('^\u{1F600}$', U&'\+01F600', 'x'), ('^\ud83d\ude00$', U&'\+01F600', 'x'), ('^\cA$', E'\x01', 'A'), ('^[\b]$', E'\b', 'b'),
('^(?<year>\d{4})-(?:\d\d)$', '2026-01', '26-01'), ('^(?=.*\d)(?!.*x).{3,}$', 'ab1', 'x12'), ('(?<=a)b', 'ab', 'cb'), ('(?<!a)b', 'cb', 'ab'),
('^a{2,3}?$', 'aaa', 'aaaa'), ('^x*?y+?$', 'xyy', 'x'), ('^[a\-z]$', '-', 'b'), ('^[[:alpha]$', ':', 'z'), ('^[]$', 'no such text', ''), ('^[^]$', E'\n', 'ab'),
('^\p{L}+$', 'abc', 'a1'), ('^[\p{Lu}_]+$', 'AB_', 'ab'), ('^\P{L}$', '1', 'a'), ('^a|b$', 'ax', 'xa'), ('^\$\.\/\{$', '$./{', '$x/{'), ('', 'x', NULL);
SELECT is(concat_ws(' ', yes = 'no such text' OR pg_temp.faults(jsonb_build_object('pattern', pattern), to_jsonb(yes)) IS NULL,
	no IS NULL OR pg_temp.faults(jsonb_build_object('pattern', pattern), to_jsonb(no)) IS NOT NULL), 't t', 'pattern ' || pattern) FROM patterns;
SELECT is(pg_temp.refused(jsonb_build_object('pattern', p)), '/pattern WRONG_FORMAT', 'refused: ' || p)
FROM unnest('{"(a)\\1", "\\k<a>", "(ab?){300}", "a{3,2}", "a{300,2}", "a\\b{2}", "a{2600}", "é?b\\b*", "*a", "a**", "(?i)a", "(", "[a", "\\y", "\\p{Script=Greek}", "a\\", "***:x", "[z-a]", "\\é{300}"}'::text[]) p;
SELECT throws_like($$ SELECT clutch.register_schema('test.refused', '{"pattern": "[^\\0]"}') $$, '%has the escape \\0, which means U+0000%', 'what a pattern cannot look for');
-- what is cancelled while a pattern is compiled is not a fault of the pattern
SET statement_timeout = '100ms';
\set ON_ERROR_STOP off
SELECT clutch.register_schema('test.refused', '{"pattern": "^(?:[a-z]?[b-y]?){0,199}$"}');
\set state :SQLSTATE
\set ON_ERROR_STOP on
SET statement_timeout = 0;
SELECT is(:'state'::text, '57014', 'a pattern that takes long to compile can be cancelled');
-- more repetitions than the engine can count
SELECT is(concat_ws(' ', pg_temp.faults(p.schema, (SELECT jsonb_agg(repeat(one, n)) FROM generate_series(least, coalesce(most, least + 700)) n)),
	pg_temp.faults(p.schema, jsonb_build_array(repeat(one, greatest(least - 1, 0)), repeat(one, most + 1)))),
	concat_ws(', ', CASE WHEN least > 0 THEN '/0 pattern' END, CASE WHEN most IS NOT NULL THEN '/1 pattern' END), 'exactly as many: ' || bound)
FROM (SELECT jsonb_build_object('items', jsonb_build_object('type', ARRAY['string', 'null'], 'pattern', '^' || bound || '$')) AS schema, * FROM (VALUES
	('a{256}', 'a', 256, 256), ('[\w.-]{0,256}', '-', 0, 256), ('\d{1,512}', '7', 1, 512), ('é{300,}', 'é', 300, NULL), ('é{254,300}', 'é', 254, 300), ('.{290,300}', 'x', 290, 300),
	('[^b]{31,287}?', 'é', 31, 287), ('[a-z]{2000,2048}', 'q', 2000, 2048)) v(bound, one, least, most)) p;
-- repetitions that are repeated, and how large they become
SELECT is(pg_temp.refused(jsonb_build_object('pattern', p)), '/pattern WRONG_FORMAT', 'too large: ' || p)
FROM unnest('{"^(a{1,200}){1,200}$", "^(a{1,200}){1,13}$", "((ab){200}){1,7}", "(((a{10}b){10}c){10}d){10}", "^(a?b?c?d?){250}$", "^((a|b|c|d){0,20}){0,24}$", "^((a?){200}){10}$", "((a*|b){9}){50}", "(?=(a{99}b){30})x", "(?=(?:(?=(?:(?=a*b).)*c).)*d)e"}'::text[]) p;
SELECT is(pg_temp.refused(jsonb_build_object('pattern', p)), 'registered', 'not too large: ' || p)
FROM unnest('{"^(a{1,200}){1,10}$", "^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.]){1,20}[a-z]{2,63}$", "^[a-z]{0,255}@[a-z]{0,255}[.][a-z]{0,255}$", "((a+b?)*c){255}", "^(a?){255}$", "^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$", "(a?b?c?x){250}"}'::text[]) p;
-- a lookaround without limit, anywhere but at the start, takes time with the square of the length
CREATE FUNCTION pg_temp.looks(pattern text, length int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN coalesce(pg_temp.faults(jsonb_build_object('pattern', pattern), to_jsonb(repeat('a', length - 2) || 'B1')), 'valid');
EXCEPTION WHEN SQLSTATE '54000' THEN
	RETURN 'too many steps';
END $$;
SELECT is(pg_temp.looks(pattern, length), wanted, format('%s on %s bytes', pattern, length)) FROM (VALUES
	('(?=.*[A-Z])(?=.*[0-9]).{8,}', 10000, 'valid'), ('(?=.*[A-Z])(?=.*[0-9]).{8,}', 12000, 'too many steps'),
	('^(?=.*[A-Z])(?=.*[0-9]).{8,}$', 200000, 'valid'), ('^(?!.*(?=[a-z]{5,}B)x)', 20000, 'too many steps'), ('^(?:(?=.+B)a)', 20000, 'too many steps'),
	('^a*(?!.*x)a', 20000, 'too many steps'), ('^c|(?=.*B)a', 20000, 'too many steps'), ('b|^(?=.*B)a', 20000, 'too many steps'),
	('(?:(?=.*B)a?){1,200}B', 1000, 'valid'), ('(?:(?=.*B)a?){1,200}B', 1200, 'too many steps'), ('(?:(?:(?=.*B)a){3}a?){4,5}B', 4000, 'valid'), ('(?:(?:(?=.*B)a){3}a?){4,5}B', 4200, 'too many steps'),
	('(?=(?:(?=.*B).)*1)a', 600, 'valid'), ('(?=(?:(?=.*B).)*1)a', 700, 'too many steps'), ('^(?=(?:(?=.*B).)*a)a', 10000, 'valid'), ('(?=a(?=.*B))a', 8000, 'valid'),
	('(?:(?=.*B)a)*B', 10000, 'valid'), ('((?!foo).)*', 200000, 'valid'), ('\d+(?=%)|B', 200000, 'valid'), ('(?=a{200}B)a', 20000, 'valid'), ('a(?=a?B)(?<=[a-z])\b|1$', 200000, 'valid')) v(pattern, length, wanted);

-- ------------------------------------------------------------------- formats
SET clutch.assert_formats = on;
SELECT is((SELECT string_agg(f || ' ' || v, ', ') FROM (VALUES ('date-time', '2026-02-28T23:59:60.5Z'), ('date', '2024-02-29'), ('time', '10:00:00+01:00'), ('duration', 'P1DT2H'),
	('email', 'ken@example.com'), ('hostname', 'a-b.example'), ('ipv4', '127.0.0.1'), ('ipv6', '::ffff:1.2.3.4'), ('uri', 'urn:x:y?z'), ('uri-reference', '../a#b'),
	('uuid', '2eb8aa08-aa98-11ea-b4aa-73b441d16380'), ('json-pointer', '/a~1b'), ('relative-json-pointer', '1/a'), ('regex', '^a$'), ('unknown', '?')) x(f, v)
	WHERE pg_temp.faults(jsonb_build_object('format', f), to_jsonb(v)) IS NOT NULL), NULL, 'clutch.assert_formats: valid texts of each format');
SELECT is((SELECT string_agg(f || ' ' || v, ', ') FROM (VALUES ('date-time', '2026-02-28 23:59:00Z'), ('date', '2026-02-29'), ('time', '10:00:00'), ('duration', 'P1H'),
	('email', 'ken'), ('hostname', '-a.example'), ('ipv4', '127.0.0.01'), ('ipv6', '1::2::3'), ('uri', '/a'), ('uri-reference', 'a b'),
	('uuid', '2eb8aa08'), ('json-pointer', 'a'), ('relative-json-pointer', '01/a'), ('regex', '(')) x(f, v)
	WHERE pg_temp.faults(jsonb_build_object('format', f), to_jsonb(v)) IS NULL), NULL, 'and texts that are not');
SELECT is((SELECT string_agg(v, ' ') FROM unnest(ARRAY['http://[::1]/', 'http://[v1.a:b]:80/', 'http://a:b@h:80/p?q#f', 'http://h:/', 'file:///a', '//a:1/b:c', './a:b', 'a/b:c', 'a:b', '?a:b', '']) v
	WHERE pg_temp.faults('{"format": "uri-reference"}', to_jsonb(v)) IS NOT NULL), NULL, 'references');
SELECT is((SELECT string_agg(v, ' ') FROM unnest(ARRAY['http://[::1', 'http://[::1]a', 'http://[1]/', 'http://[v.a]', 'http://h:port', 'http://h:1:2', 'http://a@b@c/', 'http://a]/', 'http://h/[a]', 'http://h/?a=[1]', '#a#b', '#[', ':a', '1a:b', 'http://h/%4']) v
	WHERE pg_temp.faults('{"format": "uri-reference"}', to_jsonb(v)) IS NULL), NULL, 'and texts that only resemble them');
RESET clutch.assert_formats;

-- ------------------------------------------- draft-07, in which many generators write
CREATE FUNCTION pg_temp.seven(schema text, value jsonb) RETURNS text LANGUAGE sql AS
$$ SELECT pg_temp.faults('{"$schema": "http://json-schema.org/draft-07/schema#"}'::jsonb || schema::jsonb, value) $$;
SELECT is(pg_temp.seven(schema, value::jsonb), faults, 'draft-07: ' || name || CASE WHEN faults IS NULL THEN '' ELSE ', broken' END) FROM (VALUES
	('what a library writes', '{"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "number"}}, "required": ["path"], "additionalProperties": false}', '{"lines": "x", "z": 1}', '/lines type, /path required, /z additionalProperties'),
	('items as an array', '{"items": [{"type": "string"}, {"type": "number"}]}', '["a", 1, true]', NULL),
	('items as an array', '{"items": [{"type": "string"}, {"type": "number"}]}', '[1, 1, true]', '/0 type'),
	('additionalItems', '{"items": [{"type": "string"}], "additionalItems": {"type": "number"}}', '["a", 1, "b"]', '/2 type'),
	('additionalItems without items', '{"additionalItems": false}', '[1]', NULL),
	('additionalItems beside items that are one schema', '{"items": {"type": "number"}, "additionalItems": false}', '[1]', NULL),
	('dependencies on a property', '{"dependencies": {"a": ["b", "c"]}}', '{"a": 1, "c": 1}', '/b required'),
	('dependencies on a schema', '{"dependencies": {"a": {"properties": {"b": {"type": "number"}}}}}', '{"a": 1, "b": "x"}', '/b type'),
	('dependencies on nothing', '{"dependencies": {"a": ["b"]}}', '{"c": 1}', NULL),
	('definitions', '{"properties": {"a": {"$ref": "#/definitions/n"}}, "definitions": {"n": {"type": "number"}}}', '{"a": "x"}', '/a type'),
	('$ref counts alone', '{"properties": {"a": {"$ref": "#/definitions/n", "maximum": 1}}, "definitions": {"n": {"type": "number"}}}', '{"a": 2}', NULL),
	('an $id that is a name', '{"properties": {"a": {"$ref": "#n"}}, "definitions": {"x": {"$id": "#n", "type": "number"}}}', '{"a": "x"}', '/a type'),
	('what came later has no meaning', '{"prefixItems": [{"type": "number"}], "dependentRequired": {"a": ["b"]}, "unevaluatedItems": false, "dependentSchemas": {"a": false}}', '{"a": 1}', NULL),
	('prefixItems, too', '{"prefixItems": [{"type": "number"}], "unevaluatedItems": false}', '["a"]', NULL)) AS v(name, schema, value, faults);
SELECT is(pg_temp.refused('{"$schema": "http://json-schema.org/draft-07/schema", "dependencies": {"a": 1}, "items": [], "definitions": []}'),
	'/definitions WRONG_TYPE, /dependencies/a WRONG_TYPE, /items EMPTY', 'the faults of such a schema');
SELECT is(pg_temp.refused('{"$schema": "https://json-schema.org/draft-07/schema#", "definitions": {"a": {"$id": "#n"}, "b": {"$id": "#n"}}}'), '/definitions/b/$id DUPLICATE_VALUE', 'a name twice');
SELECT is(pg_temp.faults('{"items": {"type": "number"}, "additionalItems": false, "dependencies": {"a": ["b"]}}', '{"a": 1}'), NULL, 'in draft 2020-12, these keywords have no meaning');
SELECT lives_ok($$SELECT clutch.register_schema('test.moved', '{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}], "additionalItems": {"type": "number"}}')$$, 'a schema of draft-07');
SELECT lives_ok($$SELECT clutch.register_schema('test.moved', '{"prefixItems": [{"type": "string"}], "items": {"type": "number"}}', compatibility => 'full')$$, 'can be followed by an equal one of draft 2020-12');
DELETE FROM clutch.payload_type WHERE payload_type LIKE 'test.%';

-- ------------------------------------------------------- schemas that are none
SELECT is(pg_temp.refused('{"type": "strin", "required": "a", "properties": {"x": {"minLength": -1}}, "pattern": 1, "items": []}'),
	'/items WRONG_TYPE, /pattern WRONG_TYPE, /properties/x/minLength NUMBER_OUT_OF_RANGE, /required WRONG_TYPE, /type WRONG_VALUE', 'all faults of a schema are reported at once');
SELECT is(pg_temp.refused('[]'), ' WRONG_TYPE', 'an array is no schema');
SELECT is(pg_temp.refused('{"$ref": "#/$defs/none"}'), '/$ref UNKNOWN_SCHEMA', 'a reference to nothing');
SELECT is(pg_temp.refused(jsonb_build_object('allOf', '[{"type": "string"}]'::jsonb, 'not', jsonb_build_object('$ref', '#/allOf/' || token))), '/not/$ref UNKNOWN_SCHEMA', 'no index: ' || token) FROM unnest('{%00,0%00,%200}'::text[]) token;
SELECT is(pg_temp.refused('{"$ref": "https://example.com/none"}'), '/$ref UNKNOWN_SCHEMA', 'a reference to a document that is not registered is not fetched');
SELECT is(pg_temp.refused('{"$ref": "#"}'), ' ENDLESS_REFERENCE', 'a reference that does not end');
SELECT is(pg_temp.refused('{"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}') ~ 'ENDLESS_REFERENCE', true, 'also by way of other schemas');
SELECT is(pg_temp.refused('{"properties": {"a": {"$ref": "#"}}}'), 'registered', 'a tree ends');
SELECT is(pg_temp.refused('{"$schema": "http://json-schema.org/draft-04/schema#"}'), '/$schema UNKNOWN_DIALECT', 'an older draft');
SELECT is(pg_temp.refused('{"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}'), '/$defs/b/$anchor DUPLICATE_VALUE', 'an anchor twice');
SELECT is(pg_temp.refused('{"$defs": {"a": {"$id": "urn:x"}, "b": {"$id": "urn:x"}}}'), '/$defs/b/$id DUPLICATE_VALUE', 'an $id twice');
SELECT is(pg_temp.refused('{"$id": "schema://clutch/research/summary@1"}'), '/$id DUPLICATE_VALUE', 'the name of another type is not to be had as $id');
SELECT is(pg_temp.refused('{"$id": "https://json-schema.org/draft/2020-12/schema"}'), '/$id DUPLICATE_VALUE', 'nor is that of the schema of schemas');
SELECT is(fixture.rows_of($$SELECT count(*) FROM clutch.payload_type t, LATERAL (SELECT clutch.register_schema('test.meta', '{"$ref": "https://json-schema.org/draft/2020-12/schema"}')) m, LATERAL clutch.validate_payload('test.meta', t.schema)$$), '(0)', 'every built-in schema is valid by the schema of schemas');
SELECT is((SELECT string_agg(path || ' ' || code, ', ' ORDER BY path) FROM clutch.validate_payload('test.meta', '{"properties": {"a": {"minLength": -1}}, "required": "a"}')),
	'/properties/a/minLength minimum, /required type', 'which finds faults at any depth');

-- -------------------------------------------------------------------- limits
SET clutch.max_schema_bytes = 1024;
SELECT is(pg_temp.refused(jsonb_build_object('description', repeat('x', 2000))), ' SCHEMA_LIMIT', 'clutch.max_schema_bytes');
RESET clutch.max_schema_bytes;
SET clutch.max_schema_depth = 5;
SELECT is(pg_temp.refused('{"not": {"not": {"not": {"not": {"not": true}}}}}'), '/not/not/not/not/not SCHEMA_LIMIT', 'clutch.max_schema_depth');
RESET clutch.max_schema_depth;
SET clutch.max_schema_keywords = 100;
SELECT is(pg_temp.refused(jsonb_build_object('$defs', (SELECT jsonb_object_agg('d' || i, '{"type": "string"}'::jsonb) FROM generate_series(1, 60) i))) ~ 'SCHEMA_LIMIT', true, 'clutch.max_schema_keywords');
RESET clutch.max_schema_keywords;
SET clutch.max_schema_patterns = 2;
SELECT is(pg_temp.refused('{"patternProperties": {"a": true, "b": true, "c": true}}'), '/patternProperties SCHEMA_LIMIT', 'clutch.max_schema_patterns');
RESET clutch.max_schema_patterns;
SET clutch.max_pattern_bytes = 16;
SELECT is(pg_temp.refused('{"pattern": "aaaaaaaaaaaaaaaaaaaaa"}'), '/pattern SCHEMA_LIMIT', 'clutch.max_pattern_bytes');
RESET clutch.max_pattern_bytes;
SET clutch.max_schema_steps = 1000;
SELECT pg_temp.faults('{"items": {"type": "string"}}', '[]') \g /dev/null
SELECT throws_ok($$SELECT * FROM clutch.validate_payload('test.case', (SELECT jsonb_agg('x'::text) FROM generate_series(1, 2000)))$$, '54000', NULL, 'clutch.max_schema_steps');
RESET clutch.max_schema_steps;
SET clutch.max_schema_recursion = 20;
SELECT pg_temp.faults('{"items": {"$ref": "#"}, "maxItems": 1}', '[]') \g /dev/null
SELECT throws_ok($$SELECT * FROM clutch.validate_payload('test.case', (repeat('[', 40) || repeat(']', 40))::jsonb)$$, '54000', NULL, 'clutch.max_schema_recursion');
RESET clutch.max_schema_recursion;
-- twenty levels of anyOf over one another would take a million evaluations
DELETE FROM clutch.payload_type WHERE payload_type = 'test.case';
SELECT clutch.register_schema('test.case', (SELECT jsonb_build_object('$ref', '#/$defs/d0', '$defs', jsonb_object_agg('d' || i, CASE WHEN i = 40 THEN '{"type": "string"}'::jsonb
	ELSE jsonb_build_object('allOf', jsonb_build_array(jsonb_build_object('$ref', '#/$defs/d' || i + 1), jsonb_build_object('$ref', '#/$defs/d' || i + 1))) END)) FROM generate_series(0, 40) i)) \g /dev/null
SELECT throws_ok($$SELECT * FROM clutch.validate_payload('test.case', '"x"')$$, '54000', NULL, 'references that double at each level run into the limit of steps');

-- a union that contains itself: each node of a syntax tree is of one of six kinds
CREATE FUNCTION pg_temp.tree(leaf jsonb, node text, depth int) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..depth LOOP
		leaf := replace(node, '?', leaf::text)::jsonb;
	END LOOP;
	RETURN leaf;
END $$;
CREATE FUNCTION pg_temp.union(keyword text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('$ref', '#/$defs/node', '$defs', jsonb_build_object('node', jsonb_build_object('type', 'object', keyword, jsonb_agg(jsonb_build_object(
		'required', jsonb_build_array('kind'), 'properties', jsonb_build_object('kind', jsonb_build_object('const', kind), 'left', '{"$ref": "#/$defs/node"}'::jsonb, 'args', '{"items": {"$ref": "#/$defs/node"}}'::jsonb))))))
	FROM unnest('{number,negate,add,multiply,call,if}'::text[]) kind
$$;
SELECT is(pg_temp.faults(pg_temp.union(keyword), pg_temp.tree('{"kind": "if"}', node, 50)), NULL, 'a valid tree of a recursive ' || keyword || ': ' || node)
FROM unnest('{oneOf,anyOf}'::text[]) keyword, unnest(ARRAY['{"kind": "if", "left": ?}', '{"kind": "if", "args": [?]}']) node;
SELECT is(pg_temp.faults(pg_temp.union('oneOf'), (SELECT jsonb_build_object('kind', 'call', 'args', jsonb_agg('{"kind": "add", "args": []}'::jsonb)) FROM generate_series(1, 8000))), NULL,
	'a node of another kind is not looked into, so a long list takes few steps');
SELECT is(cardinality(string_to_array(pg_temp.faults(pg_temp.union('oneOf'), pg_temp.tree('{"kind": "iff"}', '{"kind": "if", "args": [?]}', 3)), ', ')), 4 + 3 * 5 + 6, 'and of one that is not, each fault is listed once');
SELECT is((SELECT count(*) FROM clutch.validate_payload('test.case', pg_temp.tree('{"kind": "iff"}', '{"kind": "if", "args": [?]}', 50))), 100::bigint, 'however deep it is');
-- the same fault a hundred thousand times
CREATE FUNCTION pg_temp.peak() RETURNS int LANGUAGE sql AS
$$ SELECT (regexp_match(pg_read_file('/proc/self/status', 0, 8192), 'VmHWM:\s+(\d+) kB'))[1]::int / 1024 $$;
SELECT pg_temp.peak() AS before \gset
SELECT is(pg_temp.faults((SELECT jsonb_build_object('$ref', '#/$defs/d0', '$defs', jsonb_object_agg('d' || i, CASE WHEN i = 16 THEN '{"type": "string"}'::jsonb
	ELSE jsonb_build_object('allOf', jsonb_build_array(jsonb_build_object('$ref', '#/$defs/d' || i + 1), jsonb_build_object('$ref', '#/$defs/d' || i + 1))) END)) FROM generate_series(0, 16) i), '1'), ' type', 'a fault that is found again and again');
SELECT cmp_ok(pg_temp.peak() - :before, '<', 20, 'takes the memory of one');

SELECT * FROM finish();
