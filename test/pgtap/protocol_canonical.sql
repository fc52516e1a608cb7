-- Canonical documents (RFC 8785), with the vectors of the RFC itself.  Random numbers and
-- documents are compared with those of node by test/fuzz/canonical.py.
\ir ../fixtures/tap.sql
SELECT plan(60);

-- ---------------------------------------------------- appendix B: numbers
-- The exact value of the double with these bits, which takes up to 1074 decimal places.
CREATE FUNCTION pg_temp.exact(bits text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	n CONSTANT bigint := ('x' || bits)::bit(64)::bigint;
	exponent CONSTANT int := (n >> 52) & 2047;
	mantissa numeric := n & 4503599627370495;
	scale numeric := 1;
BEGIN
	IF exponent > 0 THEN
		mantissa := mantissa + 4503599627370496;
	END IF;
	FOR i IN 1 .. abs(greatest(exponent, 1) - 1075) LOOP
		scale := scale * CASE WHEN exponent < 1075 THEN 0.5 ELSE 2 END;
	END LOOP;
	RETURN to_jsonb(CASE WHEN n < 0 THEN -1 ELSE 1 END * mantissa * scale);
END $$;

SELECT is(clutch.canonical(pg_temp.exact(bits)), wanted, format('%s is %s', bits, wanted))
FROM (VALUES
	('0000000000000000', '0'),
	('8000000000000000', '0'),
	('0000000000000001', '5e-324'),
	('8000000000000001', '-5e-324'),
	('7fefffffffffffff', '1.7976931348623157e+308'),
	('ffefffffffffffff', '-1.7976931348623157e+308'),
	('4340000000000000', '9007199254740992'),
	('c340000000000000', '-9007199254740992'),
	('4430000000000000', '295147905179352830000'),
	('44b52d02c7e14af5', '9.999999999999997e+22'),
	('44b52d02c7e14af6', '1e+23'),
	('44b52d02c7e14af7', '1.0000000000000001e+23'),
	('444b1ae4d6e2ef4e', '999999999999999700000'),
	('444b1ae4d6e2ef4f', '999999999999999900000'),
	('444b1ae4d6e2ef50', '1e+21'),
	('3eb0c6f7a0b5ed8c', '9.999999999999997e-7'),
	('3eb0c6f7a0b5ed8d', '0.000001'),
	('41b3de4355555553', '333333333.3333332'),
	('41b3de4355555554', '333333333.33333325'),
	('41b3de4355555555', '333333333.3333333'),
	('41b3de4355555556', '333333333.3333334'),
	('41b3de4355555557', '333333333.33333343'),
	('becbf647612f3696', '-0.0000033333333333333333'),
	('43143ff3c1cb0959', '1424953923781206.2')) AS v(bits, wanted);

-- ------------------------------------------------ section 3.2: the samples
SELECT is(convert_to(clutch.canonical($$
{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}$$), 'UTF8'),
	'\x7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b3333333333333333332e333333333333332c31652b33302c342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac245c75303030665c6e4127425c225c5c5c5c5c222f227d'::bytea,
	'the first sample, byte by byte');
SELECT is(clutch.canonical($$
{
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
}$$),
	E'{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis",'
	'"\u20ac":"Euro Sign","\U0001F600":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
	'the sample of keys: a character above U+FFFF comes before U+FB33');

-- ----------------------------------------------------------------- numbers
-- as JSON.stringify(JSON.parse(..)) returns them in a browser
SELECT is(clutch.canonical(number::jsonb), wanted, format('%s is %s', number, wanted))
FROM (VALUES
	('-0', '0'), ('0.10', '0.1'), ('1e0', '1'), ('100e-2', '1'), ('-17', '-17'),
	('123456789012345680000', '123456789012345680000'),
	('9007199254740993', '9007199254740992'),
	('9007199254740995', '9007199254740996'),
	('12345678901234567.25', '12345678901234568'),
	('1e21', '1e+21'), ('1e-6', '0.000001'), ('1e-7', '1e-7'), ('1.25e-7', '1.25e-7'),
	('1e-400', '0'), ('-1e-400', '0'), ('2.5e-324', '5e-324'),
	('1.7976931348623158e308', '1.7976931348623157e+308'),
	('0.1000000000000000055511151231257827', '0.1'),
	('2e-44', '2e-44'), ('5e22', '5e+22'), ('5e23', '5e+23')) AS v(number, wanted);

SELECT is(fixture.fault($$ SELECT clutch.canonical('{"a": [1, 1e400]}') $$), '22003 NUMBER_OUT_OF_RANGE /a/1', 'a number beyond a double is refused');
SELECT is(fixture.fault($$ SELECT clutch.canonical('-1e309') $$), '22003 NUMBER_OUT_OF_RANGE ', 'also if it is the whole document');

-- ------------------------------------------------------ keys, strings, forms
-- Each pair in the order of UTF-16, which differs from that of UTF-8 and of jsonb.
SELECT is(clutch.canonical(jsonb_object_agg(k, 0)), '{' || string_agg(clutch.canonical(to_jsonb(k)) || ':0', ',' ORDER BY i) || '}',
	'keys are in the order of UTF-16 code units')
FROM unnest(ARRAY['', E'\t', '"', '0', '10', '9', 'A', 'Z', 'a', 'aa', 'ab', 'b', E'\u007f', E'\u00e4', E'\u0800', E'\ud7ff',
	E'\U00010000', E'\U00010000a', E'\U0001F600', E'\U0010FFFF', E'\ue000', E'\ufb33', E'\uffff']) WITH ORDINALITY AS u(k, i);
SELECT is(clutch.canonical(to_jsonb((SELECT string_agg(chr(i), '' ORDER BY i) FROM generate_series(1, 127) AS i))),
	'"' || '\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017'
	'\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f !\"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~'
	|| chr(127) || '"', 'of ASCII only what must be escaped is escaped');
SELECT is(clutch.canonical(E'"\u00e9e\u0301\u2028\u2029"'), E'"\u00e9e\u0301\u2028\u2029"', 'other characters stay as they are, and are not normalized');
SELECT is(clutch.canonical('"text"'), '"text"', 'a string is a document');
SELECT is(clutch.canonical('null'), 'null', 'and so is null');
SELECT is(clutch.canonical('[]'), '[]', 'an empty array');
SELECT is(clutch.canonical('{"b": {}, "a": [[], {"d": [true], "c": false}]}'), '{"a":[[],{"c":false,"d":[true]}],"b":{}}', 'keys are sorted at every depth');
SELECT is(clutch.canonical(NULL), NULL, 'of NULL it is NULL');
SELECT is(length(clutch.canonical((repeat('[', 3000) || repeat(']', 3000))::jsonb)), 6000, 'depth is limited by the stack alone');
SELECT is(clutch.canonical(clutch.canonical(d)::jsonb), clutch.canonical(d), 'what is canonical stays so')
FROM (SELECT clutch.envelope('task.request', 'agent:ui', payload => '{"n": [1.50, 1e3], "ü": "\u0007"}', requires => '{skill:x@^1.0}') AS d) AS e;

SELECT is(split_part(convert_from(clutch.signing_bytes('{"payload": {"security": {"auth": {"sig": "x"}}}, "security": {"auth": {"kid": "k", "sig": "y"}}, "sig": "z"}'), 'UTF8'), E'\n', 3),
	'{"payload":{"security":{"auth":{"sig":"x"}}},"security":{"auth":{"kid":"k"}},"sig":"z"}', 'what is signed has all but the signature itself');

SELECT * FROM finish();
