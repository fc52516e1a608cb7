-- The registry of schemas: versions, references, compatibility, enforcement at the
-- door, what other sessions and a rollback do to it, and who may register.
\ir ../fixtures/tap.sql
SELECT plan(175);
SET clutch.notify = off;
-- "SQLSTATE CODE place" of the first fault, whether its place is a path or an argument
CREATE FUNCTION pg_temp.fault(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', SQLSTATE, detail::jsonb #>> '{0,code}', coalesce(detail::jsonb #>> '{0,path}', detail::jsonb #>> '{0,argument}'));
END $$;
CREATE FUNCTION pg_temp.said(schema jsonb, next jsonb, mode text DEFAULT 'backward') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	DELETE FROM clutch.payload_type WHERE payload_type = 'test.next';
	PERFORM clutch.register_schema('test.next', schema);
	PERFORM clutch.register_schema('test.next', next, compatibility => mode);
	RETURN 'ok';
EXCEPTION WHEN SQLSTATE 'KL012' THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN (SELECT string_agg(concat_ws(' ', f ->> 'path', f ->> 'code'), ', ' ORDER BY f ->> 'path') FROM jsonb_array_elements(detail::jsonb) f);
END $$;
CREATE FUNCTION pg_temp.message(payload jsonb, payload_type text DEFAULT 'test.note', id text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('chat.message', 'agent:ken', '{group:team}', payload, payload_type => payload_type, run_id => 'run:1', id => id)
$$;

-- ------------------------------------------------------------------ built in
SELECT is((SELECT string_agg(payload_type, ' ' ORDER BY payload_type) FROM clutch.payload_type WHERE builtin),
	'agent_card code.output.v1 code.review.v1 envelope json_schema.draft_2020_12 research.query.v1 research.sources.v1 research.summary.v1 review.feedback.v1', 'the payload types of the specification are there');
SELECT is((SELECT string_agg(path, ' ' ORDER BY path) FROM clutch.validate_payload(t, '{}')), wanted, t || ' needs ' || wanted)
FROM (VALUES ('research.summary.v1', '/citations /findings'), ('research.sources.v1', '/relevance_scores /sources'), ('code.output.v1', '/files /language /tests_passed'),
	('code.review.v1', '/findings /severity'), ('review.feedback.v1', '/blocking_issues /comments /decision')) x(t, wanted);
SELECT is_empty($$SELECT * FROM clutch.validate_payload('research.query.v1', '{}')$$, 'a query needs nothing, as in the example of the specification');
SELECT is_empty($$SELECT * FROM clutch.validate_payload('research.summary.v1', '{"title": "t", "findings": ["f"], "citations": ["https://..."], "more": 1}')$$, 'the example of the specification is valid');
SELECT is_empty($$SELECT * FROM clutch.validate_payload('code.review.v1', '{"findings": [], "severity": "low", "patch_ref": "artifact:1"}')$$, 'patch_ref may be there');

-- ------------------------------------------------------------------ versions
SELECT is(clutch.register_schema('test.a', '{"type": "object"}'), 1, 'the first version is 1');
SELECT is(clutch.register_schema('test.a', '{"type": ["object", "array"]}'), 2, 'the next one is 2');
SELECT is(clutch.register_schema('test.a', '{"type": ["object", "array"]}'), 2, 'an equal schema is no new version');
SELECT is(clutch.register_schema('test.a', '{"type": "object"}', 1), 1, 'nor is an equal older one');
SELECT is(clutch.register_schema('test.a', 'true', 7), 7, 'versions may have gaps');
SELECT is(pg_temp.fault($$SELECT clutch.register_schema('test.a', '{"title": "x"}', 2)$$), '23505 VERSION_EXISTS version', 'a version never changes');
SELECT is(pg_temp.fault($$SELECT clutch.register_schema('test.a', '{"title": "x"}', 5)$$), '22023 WRONG_VALUE version', 'nor does a version get between others');
SELECT is(pg_temp.fault($$SELECT clutch.register_schema('test.a', '{}', 0)$$), '22023 NUMBER_OUT_OF_RANGE version', 'there is no version 0');
SELECT is((SELECT count(*) FROM clutch.validate_payload('test.a', '1', 1)), 1::bigint, 'an old version can be asked');
SELECT is_empty($$SELECT * FROM clutch.validate_payload('test.a', '1')$$, 'without a version the newest one is');
SELECT is(pg_temp.fault($$SELECT * FROM clutch.validate_payload('test.a', '1', 3)$$), '42704 UNKNOWN_PAYLOAD_TYPE payload_type', 'an unknown version is an error');
SELECT is(pg_temp.fault($$SELECT * FROM clutch.validate_payload('test.none', '1')$$), '42704 UNKNOWN_PAYLOAD_TYPE payload_type', 'and so is an unknown type');
SELECT matches(fixture.hint_of($$SELECT * FROM clutch.validate_payload('test.a', '1', 3)$$), 'Leave the version out', 'what to do about an unknown version');
SELECT matches(fixture.hint_of($$SELECT * FROM clutch.validate_payload('test.none', '1')$$), 'Ask an operator', 'and about an unknown type');
SELECT throws_ok($$SELECT * FROM clutch.validate_payload('test.a', NULL)$$, '22004', NULL, 'NULL is no payload');
SELECT throws_ok($$SELECT * FROM clutch.validate_payload(NULL, '1')$$, '22004', NULL, 'and no type');
SELECT is(pg_temp.fault(format('SELECT clutch.register_schema(%L, ''{}'')', name)), '22023 WRONG_FORMAT payload_type', 'no name: "' || name || '"')
FROM unnest(ARRAY['', 'a b', 'a/b', 'a@1', 'agent:a', E'a\nb', repeat('x', 300)]) name;
SELECT matches(fixture.hint_of($$SELECT clutch.register_schema('agent:a', '{}')$$), 'reserved prefix', 'nor one that begins like an ID');
SELECT is(fixture.hint_of($$SELECT clutch.register_schema('test.a', '{}', 0)$$), 'Pass NULL for the next version.', 'no version 0');
SELECT matches(fixture.hint_of($$SELECT clutch.register_schema('test.a', '{"type": "null", "required": ["z"]}')$$), 'compatibility => ''none''', 'how an incompatible schema is registered nevertheless');
SELECT is(pg_temp.fault($$SELECT clutch.register_schema('test.a', '{}', compatibility => 'both')$$), '22023 WRONG_VALUE compatibility', 'an unknown compatibility');
SELECT is(pg_temp.fault($$SELECT clutch.register_schema('test.a', '{}', enforce => 'never')$$), '22023 WRONG_VALUE enforce', 'an unknown enforcement');
SELECT fixture.answers($$SELECT version, compatibility, enforce, builtin, registered_by = current_user FROM clutch.payload_type WHERE payload_type = 'test.a' ORDER BY 1$$,
	$$VALUES (1, 'backward', 'workflow', false, true), (2, 'backward', 'workflow', false, true), (7, 'backward', 'workflow', false, true)$$, 'the table has a row for each');
SELECT is(clutch.register_schema('test.a', 'true', enforce => 'off', compatibility => 'none'), 7, 'the same schema with another enforcement');
SELECT fixture.answers($$SELECT compatibility, enforce FROM clutch.payload_type WHERE payload_type = 'test.a' AND version = 7$$, $$VALUES ('none', 'off')$$, 'changes the row');
SELECT is(clutch.register_schema('code.review.v1', clutch.schema_of('code.review.v1'), enforce => 'off'), 2, 'a built-in type gets a version of its own for that');
SELECT is((SELECT enforce FROM clutch.payload_type WHERE payload_type = 'code.review.v1' AND version = 1), 'workflow', 'because its rows are not dumped');

-- ---------------------------------------------------------------- references
SELECT clutch.register_schema('test.ref.v2', '{"title": "two"}'), clutch.register_schema('test.ref', '{"title": "plain"}', 3) \g /dev/null
SELECT is(clutch.schema_of(what) ->> 'title', title, what) FROM (VALUES ('test.ref.v2', 'two'), ('schema://clutch/test/ref@2', 'two'), ('schema://clutch/test/ref@3', 'plain'),
	('schema://clutch/test/ref', 'plain'), ('schema://clutch/research/summary@1', 'What research has found'), ('https://json-schema.org/draft/2020-12/schema', 'A JSON Schema, draft 2020-12')) x(what, title);
SELECT is(pg_temp.fault(format('SELECT clutch.schema_of(%L)', what)), '42704 UNKNOWN_PAYLOAD_TYPE what', 'no schema: ' || what)
FROM unnest('{schema://clutch/test/ref@4,schema://clutch/test/ref@x,schema://clutch/test/ref@,schema://other/test/ref@2,test.none,""}'::text[]) what;
SELECT matches(fixture.hint_of(format('SELECT clutch.schema_of(%L)', what)), '[$]id.*a[.]b[.]v1', 'what to do about ' || what) FROM unnest('{schema://clutch/test/new@1,https://example.com/new}'::text[]) what;
SELECT clutch.register_schema('test.new.v1', '{}'), clutch.register_schema('test.own', '{"$id": "https://example.com/new"}') \g /dev/null
SELECT lives_ok($$SELECT clutch.schema_of('schema://clutch/test/new@1'), clutch.schema_of('https://example.com/new')$$, 'which works');
SELECT is(fixture.hint_of($$SELECT clutch.validate_payload('schema://clutch/test/new@1', '{}')$$), 'Pass the name of the payload type. A schema_ref like schema://clutch/a/b@1 is that of the payload type a.b.v1.', 'a payload is validated by the name of its type');
SELECT clutch.register_schema('test.id', '{"$id": "https://example.com/id", "title": "first"}'), clutch.register_schema('test.id', '{"$id": "https://example.com/id", "title": "second"}') \g /dev/null
SELECT is(clutch.schema_of('https://example.com/id') ->> 'title', 'second', 'an $id means the newest version that has it');
SELECT is(pg_temp.fault($$SELECT clutch.register_schema('test.thief', '{"$id": "https://example.com/id"}')$$), 'KL011 DUPLICATE_VALUE /$id', 'and belongs to its type');
SELECT is(pg_temp.fault(format('SELECT clutch.register_schema(''test.long'', %L)', jsonb_build_object('$id', 'https://example.com/' || (SELECT string_agg(md5(i::text), '') FROM generate_series(1, n) i)))), said, format('an $id with %s bytes', 20 + 32 * n))
FROM (VALUES (61, 'no error'), (62, 'KL011 TOO_LONG /$id'), (100, 'KL011 TOO_LONG /$id')) v(n, said);

-- what refers to the newest version of its own payload type refers to itself as soon as it is registered
SELECT clutch.register_schema('test.self', '{"properties": {"kid": {"type": "object", "additionalProperties": true}}}') \g /dev/null
SELECT is(pg_temp.fault($$SELECT clutch.register_schema('test.self', '{"allOf": [{"$ref": "schema://clutch/test/self"}]}', compatibility => 'none')$$), 'KL011 ENDLESS_REFERENCE ', 'a schema that is its own base');
SELECT is(pg_temp.fault($$SELECT clutch.register_schema('test.self', '{"allOf": [{"$ref": "schema://clutch/test/self@1"}]}')$$), 'no error', 'one whose base is the version before');
SELECT is(pg_temp.fault($$SELECT clutch.register_schema('test.self', '{"properties": {"kid": {"$ref": "schema://clutch/test/self"}, "n": {"type": "integer"}}}')$$), 'KL012 NOT_BACKWARD ', 'one that is compatible with the version before, but not with itself');
SELECT is(clutch.register_schema(t, jsonb_build_object('properties', jsonb_build_object('kid', jsonb_build_object('$ref', replace('schema://clutch/' || t, '.', '/')), 'n', '{"type": "integer"}'::jsonb)) || more), 1, 'a tree that refers to itself by its name: ' || t)
FROM (VALUES ('test.tree', '{}'::jsonb), ('test.wood', '{"$id": "urn:forest"}')) v(t, more);
SELECT is((SELECT string_agg(path, ' ') FROM clutch.validate_payload(t, '{"kid": {"kid": {"n": "x"}}}')), '/kid/kid/n', 'which is checked at each depth: ' || t) FROM unnest('{test.tree,test.wood}'::text[]) t;

SELECT is(pg_temp.fault($$SELECT clutch.register_schema('test.wood', '{"$id": "urn:forest", "properties": {"last": {"$ref": "schema://clutch/test/wood@1"}}}', compatibility => 'none')$$), 'KL011 DUPLICATE_VALUE /$id', 'a version that refers to another one with the same $id');

-- what others refer to
SELECT clutch.register_schema('test.base', '{"$id": "urn:base", "$defs": {"x": {"type": "string"}}}'), clutch.register_schema('test.user', '{"properties": {"a": {"$ref": "urn:base#/$defs/x"}}}'),
	clutch.register_schema('test.named', '{"$defs": {"x": true}}'), clutch.register_schema('test.caller', '{"items": {"$ref": "schema://clutch/test/named#/$defs/x"}}') \g /dev/null
SELECT is(pg_temp.fault(format('SELECT clutch.register_schema(%L, %L)', t, schema)), said, t || ' ' || schema)
FROM (VALUES ('test.base', '{"$id": "urn:base", "$defs": {}}', 'KL012 REFERENCE_BROKEN '), ('test.base', '{"$id": "urn:base", "$defs": {"x": true}}', 'no error'), ('test.base', '{"$defs": {}}', 'no error'),
	('test.named', '{"$defs": {"y": true}}', 'KL012 REFERENCE_BROKEN '), ('test.named', '{"$defs": {"x": true, "y": true}}', 'no error')) v(t, schema, said);
SELECT is(clutch.register_schema('test.named', '{"$defs": {}}', compatibility => 'none'), 3, 'whoever insists may break it');
SELECT is(clutch.register_schema('test.named', '{"$defs": {"z": true}}'), 4, 'and what is broken is in nobody''s way');
DELETE FROM clutch.payload_type WHERE payload_type IN ('test.named', 'test.caller');

-- ------------------------------------------------------------- compatibility
-- a schema to which thirty levels refer twice each is looked at once, not 2^30 times
SELECT jsonb_build_object('$ref', '#/$defs/d0', '$defs', jsonb_object_agg('d' || i, CASE WHEN i = 30 THEN '{"type": "object"}' ELSE jsonb_build_object('allOf', jsonb_build_array(below, below)) END)) AS doubled
FROM (SELECT i, jsonb_build_object('$ref', '#/$defs/d' || i + 1) AS below FROM generate_series(0, 30) i) level \gset
SET statement_timeout = '5s';
SELECT is(pg_temp.said(:'doubled', :'doubled'::jsonb || '{"title": "t"}'), ' NOT_BACKWARD', 'what takes too many steps to compare is refused quickly');
RESET statement_timeout;
SELECT is(pg_temp.said(a::jsonb, b::jsonb), wanted, 'backward: ' || name) FROM (VALUES
	('a title', '{"type": "object"}', '{"type": "object", "title": "t"}', 'ok'),
	('required added', '{"required": ["a"]}', '{"required": ["a", "b"]}', '/required NOT_BACKWARD'),
	('required removed', '{"required": ["a", "b"]}', '{"required": ["a"]}', 'ok'),
	('an optional property added', '{"properties": {"a": true}}', '{"properties": {"a": true, "b": {"type": "string"}}}', 'ok'),
	('the same where other properties were allowed on purpose', '{"additionalProperties": true}', '{"properties": {"b": {"type": "string"}}}', '/properties/b/type NOT_BACKWARD'),
	('a property removed', '{"properties": {"a": true, "b": true}, "additionalProperties": false}', '{"properties": {"a": true}, "additionalProperties": false}', '/additionalProperties NOT_BACKWARD'),
	('closed', '{"properties": {"a": true}}', '{"properties": {"a": true}, "additionalProperties": false}', '/additionalProperties NOT_BACKWARD'),
	('opened', '{"properties": {"a": true}, "additionalProperties": false}', '{"properties": {"a": true}}', 'ok'),
	('a type narrowed', '{"type": ["string", "null"]}', '{"type": "string"}', '/type NOT_BACKWARD'),
	('a type widened', '{"type": "integer"}', '{"type": ["number", "null"]}', 'ok'),
	('enum narrowed', '{"enum": ["a", "b"]}', '{"enum": ["a"]}', '/enum NOT_BACKWARD'),
	('enum widened', '{"enum": ["a"]}', '{"enum": ["a", "b"]}', 'ok'),
	('enum to a type', '{"enum": ["a", "b"]}', '{"type": "string", "maxLength": 1}', 'ok'),
	('bounds narrowed', '{"minimum": 1, "maxLength": 5}', '{"minimum": 2, "maxLength": 4}', '/maxLength NOT_BACKWARD, /minimum NOT_BACKWARD'),
	('bounds widened', '{"exclusiveMinimum": 1, "maxLength": 5, "multipleOf": 4}', '{"minimum": 1, "maxLength": 6, "multipleOf": 2}', 'ok'),
	('a pattern added', '{"type": "string"}', '{"type": "string", "pattern": "^a"}', '/pattern NOT_BACKWARD'),
	('elements narrowed', '{"items": {"properties": {"a": {"type": "number"}}}}', '{"items": {"properties": {"a": {"type": "integer"}}}}', '/items/properties/a/type NOT_BACKWARD'),
	('prefixItems for items', '{"type": "array", "items": {"type": "integer"}}', '{"type": "array", "prefixItems": [{"type": "number"}], "items": {"type": "integer"}}', 'ok'),
	('types for anyOf', '{"type": ["string", "null"]}', '{"anyOf": [{"type": "string"}, {"type": "null"}]}', 'ok'),
	('anyOf for types', '{"anyOf": [{"type": "string"}, {"type": "null"}]}', '{"type": ["string", "null", "number"]}', 'ok'),
	('a case removed', '{"anyOf": [{"type": "string"}, {"type": "null"}]}', '{"anyOf": [{"type": "string"}, {"type": "number"}]}', '/anyOf NOT_BACKWARD'),
	('a tree', '{"properties": {"n": {"$ref": "#"}}}', '{"properties": {"n": {"$ref": "#"}, "m": {"type": "null"}}}', 'ok'),
	('a tree narrowed', '{"properties": {"n": {"$ref": "#"}, "m": true}}', '{"properties": {"n": {"$ref": "#"}, "m": {"type": "null"}}}', '/properties/m/type NOT_BACKWARD'),
	('what cannot be proved', '{"not": {"required": ["a", "b"]}}', '{"not": {"required": ["a"]}}', '/not NOT_BACKWARD'),
	-- a property is in use if any schema for that object names it, even if the object need not be valid against that schema
	('not with fewer properties', '{"properties": {"x": {"type": "integer"}}, "not": {"required": ["x"], "properties": {"x": {"const": 1}}}}', '{"properties": {"x": {"type": "integer"}}, "not": {"required": ["x"]}}', '/not NOT_BACKWARD'),
	('if with more properties', '{"properties": {"k": {"type": "string"}}, "if": {"required": ["k"]}, "then": {"required": ["a"]}, "else": {"required": ["b"]}}', '{"properties": {"k": {"type": "string"}}, "if": {"required": ["k"], "properties": {"k": {"const": "k"}}}, "then": {"required": ["a"]}, "else": {"required": ["b"]}}', '/if NOT_BACKWARD'),
	('oneOf with more properties', '{"properties": {"k": {"type": "string"}}, "oneOf": [{"required": ["k"]}, {"required": ["b"]}]}', '{"properties": {"k": {"type": "string"}}, "oneOf": [{"required": ["k"], "properties": {"k": {"const": "k"}}}, {"required": ["b"]}]}', '/oneOf NOT_BACKWARD'),
	('contains with more properties', '{"items": {"properties": {"x": {"type": "integer"}}}, "contains": {"required": ["x"]}}', '{"items": {"properties": {"x": {"type": "integer"}}}, "contains": {"required": ["x"], "properties": {"x": {"const": 1}}}}', '/contains NOT_BACKWARD'),
	('maxContains with fewer properties', '{"contains": {"required": ["x"], "properties": {"x": {"const": 1}}}, "minContains": 0, "maxContains": 1}', '{"contains": {"required": ["x"]}, "minContains": 0, "maxContains": 1}', '/contains NOT_BACKWARD'),
	('a property of one case', '{"anyOf": [{"properties": {"x": {"type": "string"}}}, {"required": ["y"]}]}', '{"properties": {"x": {"type": "integer"}}}', '/properties/x/type NOT_BACKWARD'),
	('a property of an element that contains it', '{"contains": {"properties": {"x": {"type": "string"}}}}', '{"items": {"properties": {"x": {"type": "integer"}}}}', '/items/properties/x/type NOT_BACKWARD'),
	('a required property gets a type', '{"required": ["x"]}', '{"required": ["x"], "properties": {"x": {"type": "integer"}}}', '/properties/x/type NOT_BACKWARD'),
	('a pattern for a property of one case', '{"anyOf": [{"properties": {"x-a": {"type": "string"}}}, {"required": ["y"]}]}', '{"patternProperties": {"^x-": {"type": "integer"}}}', '/patternProperties/^x-/type NOT_BACKWARD'),
	('a property of a list of dependentRequired gets a type', '{"dependentRequired": {"a": ["b", "c"]}}', '{"properties": {"c": {"type": "integer"}}}', '/properties/c/type NOT_BACKWARD'),
	('a property of a list of names', '{"propertyNames": {"enum": ["a", "b"]}}', '{"properties": {"b": {"type": "integer"}}}', '/properties/b/type NOT_BACKWARD'),
	('a property whose name is referred to', '{"propertyNames": {"$ref": "#/$defs/n"}, "$defs": {"n": {"allOf": [{"anyOf": [{"const": "a"}, {"const": "b"}]}]}}}', '{"properties": {"b": {"type": "integer"}}}', '/properties/b/type NOT_BACKWARD'),
	('a pattern for a property of a list of names', '{"propertyNames": {"enum": ["a", "x-b"]}}', '{"patternProperties": {"^x-": {"type": "integer"}}}', '/patternProperties/^x-/type NOT_BACKWARD'),
	('a property of a list that is refused elsewhere', '{"propertyNames": {"allOf": [{"enum": ["a", "b"]}, {"maxLength": 1}, {"not": {"const": "b"}}]}}', '{"properties": {"b": {"type": "integer"}}}', 'ok'),
	('an optional property whose name fits a pattern', '{"propertyNames": {"pattern": "^[a-z]+$"}}', '{"propertyNames": {"pattern": "^[a-z]+$"}, "properties": {"b": {"type": "integer"}}}', 'ok'),
	('inside of what is welcome', '{"additionalProperties": true}', '{"properties": {"a": {"properties": {"b": {"type": "string"}}}}}', '/properties/a/properties/b/type NOT_BACKWARD'),
	('inside of what is welcome beside a named property', '{"properties": {"id": {"type": "string"}}, "additionalProperties": true}', '{"properties": {"id": {"type": "string"}}, "additionalProperties": {"properties": {"b": {"type": "string"}}}}', '/additionalProperties/properties/b/type NOT_BACKWARD'),
	('inside of what matches a pattern, beside a named property', '{"properties": {"id": {"type": "string"}}, "patternProperties": {"^x-": true}}', '{"properties": {"id": {"type": "string"}}, "patternProperties": {"^x-": {"properties": {"b": {"type": "string"}}}}}', '/patternProperties/^x-/properties/b/type NOT_BACKWARD'),
	('the same beside another pattern', '{"patternProperties": {"^x-": true, "^y-": {"properties": {"c": true}}}}', '{"patternProperties": {"^x-": {"properties": {"b": {"type": "string"}}}, "^y-": {"properties": {"c": true}}}}', '/patternProperties/^x-/properties/b/type NOT_BACKWARD'),
	('deeper inside of what matches one of several patterns', '{"patternProperties": {"^x-": {"properties": {"p": true}}, "^y-": {"properties": {"p": {"properties": {"c": true}}}}}}', '{"patternProperties": {"^x-": {"properties": {"p": {"properties": {"b": {"type": "string"}}}}}, "^y-": {"properties": {"p": {"properties": {"c": true}}}}}}', '/patternProperties/^x-/properties/p/properties/b/type NOT_BACKWARD'),
	('an optional property inside of the others', '{"properties": {"id": true}, "additionalProperties": {"type": "object", "properties": {"a": true}}}', '{"properties": {"id": true}, "additionalProperties": {"type": "object", "properties": {"a": true, "b": {"type": "string"}}}}', 'ok'),
	('inside of what is evaluated', '{"properties": {"p": true}, "unevaluatedProperties": {"properties": {"c": true}}}', '{"properties": {"p": {"properties": {"b": {"type": "string"}}}}, "unevaluatedProperties": {"properties": {"c": true}}}', '/properties/p/properties/b/type NOT_BACKWARD'),
	('inside of an element beside others', '{"prefixItems": [{"type": "string"}], "items": true, "contains": {"const": {"b": 1}}}', '{"prefixItems": [{"type": "string"}], "items": {"properties": {"b": {"type": "string"}}}}', '/items/properties/b/type NOT_BACKWARD'),
	('contains inside of elements that are welcome', '{"prefixItems": [{"properties": {"c": true}}], "items": true, "contains": true, "minContains": 2}', '{"prefixItems": [{"properties": {"c": true}}], "contains": {"properties": {"b": {"type": "string"}}}}', '/contains NOT_BACKWARD'),
	('a property of an element after those that the new version knows', '{"not": {"prefixItems": [{"required": ["a"]}, {"required": ["b"]}]}}', '{"items": {"properties": {"b": {"type": "string"}}}}', '/items/properties/b/type NOT_BACKWARD'),
	('a property of an element of which nothing is said', '{"not": {"prefixItems": [{"required": ["a"]}, {"required": ["b"]}]}}', '{"items": {"properties": {"c": {"type": "string"}}}}', '/items/properties/c/type NOT_BACKWARD'),
	('a property of elements that nothing names', '{"not": {"prefixItems": [{"required": ["a"]}, {"required": ["b"]}], "items": {"required": ["d"]}}}', '{"items": {"properties": {"c": {"type": "string"}}}}', 'ok'),
	('a property of a listed object', '{"not": {"const": {"b": 1}}}', '{"properties": {"b": {"type": "string"}}}', '/properties/b/type NOT_BACKWARD'),
	('deeper in a listed object', '{"properties": {"a": {"properties": {"c": true}}}, "not": {"enum": [{"a": {"b": 1}}]}}', '{"properties": {"a": {"properties": {"b": {"type": "string"}}}}}', '/properties/a/properties/b/type NOT_BACKWARD'),
	('inside of an open object', '{"properties": {"a": {"type": "object"}}}', '{"properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}}', 'ok'),
	('an optional property in one of several kinds', '{"oneOf": [{"properties": {"k": {"const": 1}}}, {"properties": {"k": {"const": 2}}}]}', '{"oneOf": [{"properties": {"k": {"const": 1}, "n": {"type": "string"}}}, {"properties": {"k": {"const": 2}}}]}', 'ok'),
	('another kind has it already', '{"oneOf": [{"properties": {"k": {"const": 1}}}, {"properties": {"k": {"const": 2}, "n": {"type": "null"}}}]}', '{"oneOf": [{"properties": {"k": {"const": 1}, "n": {"type": "string"}}}, {"properties": {"k": {"const": 2}, "n": {"type": "null"}}}]}', '/oneOf NOT_BACKWARD')) x(name, a, b, wanted);
SELECT clutch.register_schema('test.asserts', '{"$id": "urn:asserts", "$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/core": true, "https://json-schema.org/draft/2020-12/vocab/format-assertion": true}}') \g /dev/null
SELECT is(pg_temp.said(a, b), wanted, 'backward: ' || name) FROM (VALUES
	('a format that is asserted from now on', '{"format": "date"}'::jsonb, '{"format": "date", "$schema": "urn:asserts"}'::jsonb, '/format NOT_BACKWARD'),
	('one that is asserted as before', '{"format": "date", "$schema": "urn:asserts"}', '{"format": "date", "$schema": "urn:asserts", "title": "t"}', 'ok'),
	('one that is not asserted any more', '{"format": "date", "$schema": "urn:asserts"}', '{"format": "date"}', 'ok')) x(name, a, b, wanted);
-- A dynamic anchor around a schema decides what is in it, whatever its own anchor says.
SELECT '{"$id": "urn:around", "$ref": "urn:inside", "$defs": {"node": {"$dynamicAnchor": "node", "type": "string"}, "inside": {"$id": "urn:inside", "properties": {"x": {"$dynamicRef": "#node"}}, "$defs": {"node": {"$dynamicAnchor": "node"}}}}}' AS around,
	'{"$id": "urn:wood", "$dynamicAnchor": "node", "$ref": "urn:tree", "properties": {"d": {"properties": {"e": {"type": ["string", "integer"]}}}}, "$defs": {"tree": {"$id": "urn:tree", "$dynamicAnchor": "node", "properties": {"c": {"$dynamicRef": "#node"}, "d": {"properties": {"f": {"type": "string"}}}}}}}' AS wood \gset
SELECT is(pg_temp.said(a, b), wanted, 'backward: ' || name) FROM (VALUES
	('a listed value that a dynamic anchor refuses', '{"properties": {"x": {"const": 5}}, "additionalProperties": true}'::jsonb, :'around'::jsonb, ' NOT_BACKWARD'),
	('a property that is named behind a dynamic anchor', :'wood', '{"properties": {"c": {"properties": {"d": {"properties": {"e": {"type": "string"}}}}}}}', ' NOT_BACKWARD'),
	('a $dynamicRef without a dynamic anchor', '{"$dynamicRef": "#/$defs/a", "$defs": {"a": {"type": "string"}}}', '{"$dynamicRef": "#/$defs/a", "$defs": {"a": {"type": ["string", "null"]}}}', 'ok'),
	('one that is narrowed', '{"$dynamicRef": "#/$defs/a", "$defs": {"a": {"type": ["string", "null"]}}}', '{"$dynamicRef": "#/$defs/a", "$defs": {"a": {"type": "string"}}}', '/$defs/a/type NOT_BACKWARD')) x(name, a, b, wanted);
SELECT is(clutch.register_schema('json_schema.draft_2020_12', clutch.schema_of('json_schema.draft_2020_12'), enforce => 'off'), 2, 'a schema may take its own place, whatever it refers to');
DELETE FROM clutch.payload_type WHERE payload_type = 'json_schema.draft_2020_12' AND NOT builtin;
SELECT is(pg_temp.said('{"required": ["a"]}', '{"required": ["a", "b"]}', 'forward'), 'ok', 'forward: required added');
SELECT is(pg_temp.said('{"required": ["a", "b"]}', '{"required": ["a"]}', 'forward'), '/required NOT_FORWARD', 'forward: required removed');
SELECT is(pg_temp.said('{"required": ["a", "b"]}', '{"required": ["a", "c"]}', 'full'), '/required NOT_BACKWARD, /required NOT_FORWARD', 'full: both ways');
SELECT is(pg_temp.said('{"required": ["a", "b"]}', '{"type": "null"}', 'none'), 'ok', 'none: anything');
-- the proof tries each of eight cases of each of twelve anyOf, with hundreds of schemas that are known to hold
CREATE FUNCTION pg_temp.peak() RETURNS int LANGUAGE sql AS
$$ SELECT (regexp_match(pg_read_file('/proc/self/status', 0, 8192), 'VmHWM:\s+(\d+) kB'))[1]::int / 1024 $$;
CREATE FUNCTION pg_temp.cases(more jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_agg(jsonb_build_object('anyOf', (SELECT jsonb_agg(jsonb_build_object('type', 'object', 'required', jsonb_build_array('k' || i * 10 + j))) || more FROM generate_series(1, 8) j))) FROM generate_series(1, 12) i
$$;
SELECT pg_temp.peak() AS before \gset
SELECT is(pg_temp.said(jsonb_build_object('allOf', pg_temp.cases('[]') || (SELECT jsonb_agg('{"minProperties": 1}'::jsonb) FROM generate_series(1, 500))), jsonb_build_object('allOf', pg_temp.cases('[{"required": ["z"]}]'), 'required', '["no"]'::jsonb)) ~ ' NOT_BACKWARD', true, 'a proof that is too long');
SELECT cmp_ok(pg_temp.peak() - :before, '<', 50, 'takes little memory');

-- -------------------------------------------------------------- at the door
SELECT clutch.register_schema('test.note', '{"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}, "n": {"type": "integer"}}}') \g /dev/null
SELECT lives_ok($$SELECT clutch.send(pg_temp.message('{"n": "x"}'))$$, 'a type that a workflow may enforce is not checked for every event');
SELECT clutch.register_schema('test.note', clutch.schema_of('test.note'), enforce => 'always') \g /dev/null
SELECT is(pg_temp.fault($$SELECT clutch.send(pg_temp.message('{"n": "x"}'))$$), 'KL010 CONTRACT_BROKEN /payload/text', 'a type that is always enforced is');
CREATE FUNCTION pg_temp.faults(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'sent';
EXCEPTION WHEN SQLSTATE 'KL010' THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN (SELECT string_agg(concat_ws(' ', f ->> 'path', f ->> 'argument', f ->> 'keyword', f ->> 'schema_path'), ', ' ORDER BY f ->> 'path') FROM jsonb_array_elements(detail::jsonb) f);
END $$;
SELECT is(pg_temp.faults($$INSERT INTO clutch.events (envelope) VALUES (pg_temp.message('{"n": "x"}'))$$), '/payload/n type /properties/n/type, /payload/text required /required', 'with all faults, for INSERT as well');
SELECT is(pg_temp.faults($$SELECT clutch.send(pg_temp.message('{"text": "t", "n": 1}'))$$), 'sent', 'a valid payload is taken');
SELECT clutch.register_schema('test.many', '{"properties": {"list": {"items": {"type": "string"}}}}', enforce => 'always') \g /dev/null
SELECT throws_like(format($$SELECT clutch.send(pg_temp.message((SELECT jsonb_build_object('list', jsonb_agg(i)) FROM generate_series(1, %s) i), 'test.many'))$$, n), said, n || ' faults') FROM (VALUES
	(1, '%is not valid at "/payload/list/0"%'), (100, '%is not valid in 100 places,%'), (500, '%is not valid in at least 101 places,%')) v(n, said);
SELECT is(pg_temp.faults($$SELECT clutch.send(pg_temp.message('{"n": "x"}', 'test.other'))$$), 'sent', 'other types are not concerned');
SELECT fixture.agent('ken'), fixture.ask('task:1') \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken') \g /dev/null
SELECT is(pg_temp.faults($$SELECT clutch.finish('agent:ken', 'task:1', '{"n": 1.5}', payload_type => 'test.note')$$), '/n result type /properties/n/type, /text result required /required', 'for finish, the faults are those of its argument');
SELECT is(fixture.state('task:1'), 'running agent:ken 1', 'and the task goes on');
SELECT lives_ok($$SELECT clutch.finish('agent:ken', 'task:1', '{"text": "t"}', payload_type => 'test.note')$$, 'so the worker can correct it');
BEGIN;
SELECT clutch.register_schema('test.note', 'true', enforce => 'always', compatibility => 'none') \g /dev/null
SELECT is(pg_temp.faults($$SELECT clutch.send(pg_temp.message('{}'))$$), 'sent', 'a transaction that registers a schema uses it at once');
ROLLBACK;
SELECT is(pg_temp.fault($$SELECT clutch.send(pg_temp.message('{}'))$$), 'KL010 CONTRACT_BROKEN /payload/text', 'and forgets it if it is rolled back');
BEGIN;
SAVEPOINT s;
DELETE FROM clutch.payload_type WHERE payload_type = 'test.note';
SELECT is(pg_temp.faults($$SELECT clutch.send(pg_temp.message('{}'))$$), 'sent', 'a row may be deleted');
ROLLBACK TO s;
SELECT is(pg_temp.fault($$SELECT clutch.send(pg_temp.message('{}'))$$), 'KL010 CONTRACT_BROKEN /payload/text', 'and comes back with its savepoint');
COMMIT;
SELECT clutch.register_schema('test.note', clutch.schema_of('test.note'), enforce => 'off') \g /dev/null
SELECT is(pg_temp.faults($$SELECT clutch.send(pg_temp.message('{}'))$$), 'sent', 'off ends it');
SELECT is((SELECT envelope -> 'payload' FROM clutch.events ORDER BY seq DESC LIMIT 1), '{}', 'the event is in the log');

-- ------------------------------------------------------------------- rights
CREATE ROLE clutch_test_schema_agent;
SELECT clutch.grant_agent('clutch_test_schema_agent', 'agent:ken') \g /dev/null
SET ROLE clutch_test_schema_agent;
SELECT throws_ok($$SELECT clutch.register_schema('test.mine', '{}')$$, '42501', NULL, 'an agent''s role registers no schema');
SELECT throws_ok($$INSERT INTO clutch.payload_type VALUES ('test.mine', 1, '{}', NULL, 'none', 'always', false, now(), 'me')$$, '42501', NULL, 'nor a row of the table');
SELECT is((SELECT count(*) FROM clutch.validate_payload('research.summary.v1', '{}')), 2::bigint, 'but it may validate');
SELECT isnt(clutch.schema_of('research.summary.v1'), NULL, 'and see a schema');
RESET ROLE;
SELECT clutch.revoke_agent('clutch_test_schema_agent', 'agent:ken') \g /dev/null
DROP ROLE clutch_test_schema_agent;

-- ------------------------------------------- what was admitted before is resent
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:sum", "capabilities": [{"id": "skill:sum"}]}') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:sum}', run_id => 'run:sum', thread_id => 'thread:sum', task_id => 'task:sum')) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:sum') \g /dev/null
SELECT clutch.finish('agent:sum', 'task:sum', '{"sum": 3}', 1, payload_type => 'test.sum') \g /dev/null
CREATE TEMP TABLE said AS SELECT clutch.envelope('chat.message', 'agent:ui', '{agent:sum}', '{"sum": 3}', run_id => 'run:sum', thread_id => 'thread:sum', task_id => 'task:sum', payload_type => 'test.sum') AS e;
SELECT clutch.send(e) FROM said \g /dev/null
SELECT clutch.register_schema('test.sum', '{"required": ["total"]}', enforce => 'always') \g /dev/null
SELECT is((SELECT duplicate FROM said, clutch.send(e)), true, 'a message that was admitted before its type was enforced is a duplicate');
SELECT is((SELECT string_agg(duplicate::text, ' ') FROM said, clutch.send_batch(ARRAY[e, e - 'payload_type' || '{"id": "msg_sum_2"}'])), 'true false', 'also in a batch');
SELECT is((SELECT duplicate FROM clutch.finish('agent:sum', 'task:sum', '{"sum": 3}', 1, payload_type => 'test.sum')), true, 'so is a result');
SELECT is(pg_temp.fault($$SELECT clutch.send(e || '{"id": "msg_sum_3"}') FROM said$$), 'KL010 CONTRACT_BROKEN /payload/total', 'a new message is not');
SELECT is(pg_temp.fault($$SELECT clutch.finish('agent:sum', 'task:sum', '{"sum": 4}', 1, payload_type => 'test.sum')$$), 'KL010 CONTRACT_BROKEN /total', 'nor is another result');
SELECT * FROM finish();
