-- Size, depth, number of values, range of numbers: each limit is a setting,
-- and a refusal names limit and value.
\ir ../fixtures/tap.sql
\ir ../fixtures/loader.sql
SELECT plan(55);

CREATE FUNCTION pg_temp.with_payload(payload jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT doc || jsonb_build_object('payload', payload) FROM fixture WHERE name = 'envelope_1_1' $$;
CREATE FUNCTION pg_temp.faults(envelope jsonb) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(path || ' ' || code, ', ' ORDER BY path), 'valid') FROM clutch.validate(envelope) $$;
CREATE FUNCTION pg_temp.nested(levels int) RETURNS jsonb LANGUAGE sql AS
$$ SELECT (repeat('[', levels) || repeat(']', levels))::jsonb $$;

-- --------------------------------------------------------------------- size
SELECT is(pg_temp.faults(pg_temp.with_payload(jsonb_build_object('a', repeat('x', 1000000)))), 'valid', 'an envelope just under 1 MB is accepted');
SELECT is(pg_temp.faults(pg_temp.with_payload(jsonb_build_object('a', repeat('x', 1048576)))), ' TOO_LARGE', 'one over 1 MB is refused');
SELECT matches(message, '^The document has 10[0-9]{5} bytes as jsonb; the limit is 1048576 \(setting clutch.max_envelope_bytes\)',
	'the refusal names the size and the limit')
FROM clutch.validate(pg_temp.with_payload(jsonb_build_object('a', repeat('x', 1048576))));
SET clutch.max_envelope_bytes = 2048;
SELECT is(pg_temp.faults(pg_temp.with_payload(jsonb_build_object('a', repeat('x', 2000)))), ' TOO_LARGE', 'clutch.max_envelope_bytes is the limit');
RESET clutch.max_envelope_bytes;

-- -------------------------------------------------------------------- depth
-- the envelope is level 1, payload 2, so 62 levels are left below a key of it
SELECT is(pg_temp.faults(pg_temp.with_payload(jsonb_build_object('a', pg_temp.nested(62)))), 'valid', '64 levels are accepted');
SELECT is(pg_temp.faults(pg_temp.with_payload(jsonb_build_object('a', pg_temp.nested(63)))),
	'/payload/a' || repeat('/0', 62) || ' TOO_DEEP', '65 levels are refused at the path of the deepest');
SELECT is(pg_temp.faults(pg_temp.with_payload(jsonb_build_object('a', pg_temp.nested(5000)))),
	'/payload/a' || repeat('/0', 62) || ' TOO_DEEP', 'and so are 5,000');
SELECT is((SELECT count(*)::int FROM clutch.validate(pg_temp.with_payload(jsonb_build_object('a', pg_temp.nested(70), 'b', pg_temp.nested(70))))),
	1, 'which is reported once');
SET clutch.max_depth = 8;
SELECT is(pg_temp.faults(pg_temp.with_payload(jsonb_build_object('a', pg_temp.nested(7)))), '/payload/a/0/0/0/0/0/0 TOO_DEEP',
	'clutch.max_depth is the limit');
RESET clutch.max_depth;

-- ------------------------------------------------------------------- values
CREATE FUNCTION pg_temp.many(n int) RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('a', jsonb_agg(1)) FROM generate_series(1, n) $$;
SELECT is(pg_temp.faults(pg_temp.with_payload(pg_temp.many(49900))), 'valid', 'nearly 50,000 values are accepted');
SELECT is(pg_temp.faults(pg_temp.with_payload(pg_temp.many(50000))), ' TOO_MANY_NODES', 'more than 50,000 are refused');
SELECT matches(message, '50000.*clutch.max_nodes', 'the refusal names the limit')
FROM clutch.validate(pg_temp.with_payload(pg_temp.many(50000)));
SET clutch.max_nodes = 100;
SELECT is(pg_temp.faults(pg_temp.with_payload(pg_temp.many(100))), ' TOO_MANY_NODES', 'clutch.max_nodes is the limit');
RESET clutch.max_nodes;

-- ----------------------------------------------------------------- children
SELECT fixture.answers($$SELECT path, message FROM clutch.validate(clutch.envelope('task.request', 'agent:a', '{agent:b}', meta => '{"clutch": {"join": 65}}'))$$,
	$$VALUES ('/meta/clutch/join', '"join" must be between 1 and 64 (setting clutch.max_list).')$$, 'so many children can be joined');
SELECT fixture.answers($$SELECT path, message FROM clutch.validate(clutch.envelope('task.progress', 'agent:a', '{agent:b}', payload => '{"state": "suspended"}', meta => '{"clutch": {"wait": {"children": 65}}}')) WHERE path ~ 'wait'$$,
	$$VALUES ('/meta/clutch/wait/children', '"children" must be between 1 and 64 (setting clutch.max_list).')$$, 'or waited for');

-- ------------------------------------------------------------------ numbers
SELECT is(pg_temp.faults(pg_temp.with_payload(jsonb_build_object('n', n::numeric))), 'valid', 'the number ' || left(n, 30))
FROM unnest('{0,-0,0.1,-0.1,1.10,42,9007199254740993,-9223372036854775809,12345678901234567.25,1e255,1e256,1e300,1e308,
	1.7976931348623157e308,-1.7976931348623157e308,1e-307,1e-400,0.30000000000000004,123456789012345678901234567890}'::text[]) AS n;
SELECT is(pg_temp.faults(pg_temp.with_payload(jsonb_build_object('n', jsonb_build_array('x', n::numeric)))),
	'/payload/n/1 NUMBER_OUT_OF_RANGE', 'the number ' || n || ' overflows a double')
FROM unnest('{1e400,-1e400,1e309,1.8e308,-1.8e308,2e308,9e311,1e312,1e131071}'::text[]) AS n;
SELECT is(pg_temp.faults(pg_temp.with_payload(jsonb_build_object('n', jsonb_build_array('x', n::numeric)))),
	'/payload/n/1 NUMBER_TOO_LONG', 'the number ' || n || ' takes much longer as text')
FROM unnest('{0e-16383,1e-401}'::text[]) AS n;
SELECT is(pg_temp.faults(pg_temp.with_payload('{"n": [1e400, {"m/n": -1e309}], "ok": 1e10}')),
	'/payload/n/0 NUMBER_OUT_OF_RANGE, /payload/n/1/m~1n NUMBER_OUT_OF_RANGE', 'each oversized number is reported');
SELECT fixture.answers($$SELECT path, message FROM clutch.validate(clutch.envelope('task.progress', 'agent:a', '{agent:b}', task_id => 'task:1', meta => '{"clutch": {"usage": {"cost": 1e309}}}'))$$,
	$$VALUES ('/meta/clutch/usage/cost', 'The number is out of range for a double (about 1.8e308); send a smaller one or, in a payload, a string.')$$, 'where no text is allowed, a smaller number is advised');
SELECT is(pg_temp.faults(doc || '{"attempt": 1e400}'), '/attempt NUMBER_OUT_OF_RANGE', 'once, even if it is faulty for two reasons')
FROM fixture WHERE name = 'envelope_1_1';

-- ------------------------------------------------------------------ lengths
SET clutch.max_id_bytes = 32;
SELECT is(pg_temp.faults(doc || jsonb_build_object('schema_ref', NULL, 'id', repeat('x', 33))), '/id TOO_LONG', 'clutch.max_id_bytes is the limit of identifiers')
FROM fixture WHERE name = 'envelope_1_1';
SELECT is(message, '"id" has 33 bytes; the limit is 32 (setting clutch.max_id_bytes).', 'the refusal names the value and the limit')
FROM fixture, clutch.validate(doc || jsonb_build_object('schema_ref', NULL, 'id', repeat('x', 33))) WHERE name = 'envelope_1_1';
SELECT is(pg_temp.faults(doc || jsonb_build_object('schema_ref', NULL, 'id', repeat('ü', 17))), '/id TOO_LONG', 'identifiers are counted in bytes')
FROM fixture WHERE name = 'envelope_1_1';
-- three of the longest make one entry of an index; random, so that nothing can be compressed
SELECT set_config('clutch.max_id_bytes', max_val, false) FROM pg_settings WHERE name = 'clutch.max_id_bytes' \g /dev/null
CREATE FUNCTION pg_temp.longest(kind text) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT left(kind || (SELECT string_agg(substr('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-', 1 + floor(random() * 64)::int, 1), '')
		FROM generate_series(1, max_val::int)), max_val::int)
	FROM pg_settings WHERE name = 'clutch.max_id_bytes'
$$;
SELECT lives_ok($$SELECT clutch.send(clutch.envelope('chat.message', pg_temp.longest('agent:'), id => pg_temp.longest('m'),
	run_id => pg_temp.longest('run:'), idempotency_key => pg_temp.longest('k')))$$, 'identifiers may be as long as the largest setting');
RESET clutch.max_id_bytes;
SET clutch.max_recipients = 1;
SELECT is(pg_temp.faults(doc || '{"to": [{"agent_id": "agent:a"}, {"agent_id": "agent:b"}]}'), '/to TOO_MANY', 'clutch.max_recipients is the limit of recipients')
FROM fixture WHERE name = 'envelope_1_1';
RESET clutch.max_recipients;
SET clutch.max_list = 1;
SELECT is(pg_temp.faults(doc), '/prefers TOO_MANY, /security/policy/tool_allowlist TOO_MANY, /trace TOO_MANY', 'clutch.max_list is the limit of lists')
FROM fixture WHERE name = 'envelope_1_1';
RESET clutch.max_list;

-- a long key above many faults does not make the error long
SELECT cmp_ok((SELECT sum(length(path) + length(message))::int FROM clutch.validate(pg_temp.with_payload(
		jsonb_build_object(repeat('k', 500000), (SELECT jsonb_agg(1e400::numeric) FROM generate_series(1, 200)))))), '<', 100000,
	'a refusal stays short');

SELECT * FROM finish();
