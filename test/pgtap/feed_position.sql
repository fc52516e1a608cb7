-- Positions: which texts are positions, and what a damaged one is read as.  Filters: which are refused, and how.
\ir ../fixtures/tap.sql
SELECT plan(61);
SET clutch.notify = off;

CREATE FUNCTION pg_temp.say(id text, payload jsonb DEFAULT '{}') RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', payload, id => id, run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:talk'))
$$;
CREATE FUNCTION pg_temp.after(pos text, filter jsonb DEFAULT '{}', most integer DEFAULT 100) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(id, ' ' ORDER BY seq), 'nothing') FROM clutch.read_from(pos, filter, most) $$;
-- the position with these transactions in progress in place of its own
CREATE FUNCTION pg_temp.head(pos text) RETURNS text LANGUAGE sql AS
$$ SELECT array_to_string((string_to_array(pos, '.'))[1:5], '.') $$;
-- what an error says: its code, message, detail and hint
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	code text;
	message text;
	detail text;
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', code, message, detail, hint);
END $$;

-- -------------------------------------------------- transactions in progress
CREATE TEMP TABLE p AS SELECT clutch.position() AS pos;
SELECT pg_temp.say('first') \g /dev/null
CREATE TEMP TABLE x AS SELECT xid::text AS first FROM clutch.events WHERE id = 'first';
SELECT pg_temp.say('second') \g /dev/null
CREATE TEMP TABLE y AS SELECT xid::text AS second FROM clutch.events WHERE id = 'second';
CREATE TEMP TABLE q AS SELECT pg_temp.head(clutch.position()) AS head;
SELECT is(pg_temp.after(head), 'nothing', 'everything was seen') FROM q;
SELECT is(pg_temp.after(head || '.' || first), 'first', 'a transaction in progress was not seen') FROM q, x;
SELECT is(pg_temp.after(head || '.' || first || ',' || first), 'first', 'one that stands there twice is read once') FROM q, x;
SELECT is(pg_temp.after(head || '.' || repeat(first || ',', 199999) || first), 'first', 'nor 200,000 times') FROM q, x;
SELECT is((SELECT count(*)::integer FROM clutch.read_from(head || '.' || repeat(first || ',', 199999) || first, max_events => 3)), 1, 'and it counts as one event of a batch') FROM q, x;
SELECT is(pg_temp.after(head || '.' || second || ',' || first || ',' || second), 'first second', 'the order of transactions does not matter') FROM q, x, y;
SELECT is(pg_temp.after(head || '.99999999999,' || first), 'first', 'one that is not below the position says nothing') FROM q, x;
SELECT ok(clutch.position() ~ '^p1(\.[0-9]+){4}(\.[0-9]+(,[0-9]+)*)?$', 'what a position looks like');

-- a position that an earlier version stored with a doubled transaction
SELECT clutch.subscribe('healed'), clutch.subscribe('open', start => 'beginning') \g /dev/null
UPDATE clutch.subscription_position SET seen = head || '.' || first || ',' || first FROM q, x WHERE name = 'healed';
SELECT is((SELECT string_agg(id, ' ' ORDER BY seq) FROM clutch.read('healed')), 'first', 'a stored position with a doubled transaction is healed');
SELECT clutch.commit('healed', max(pos)) FROM clutch.read('healed') \g /dev/null
SELECT is((SELECT string_agg(id, ' ' ORDER BY seq) FROM clutch.read('healed')), NULL, 'and its event is read once');
SELECT count(*) FROM clutch.read('open', 1) \g /dev/null
SELECT lives_ok($$UPDATE clutch.subscription_position SET until = head || '.' || first || ',' || first FROM q, x WHERE name = 'open'$$, 'the end of an open batch with a doubled transaction');
SELECT is((SELECT string_agg(id, ' ' ORDER BY seq) FROM clutch.read('open')), 'second', 'is healed too');
SELECT clutch.commit('open', max(pos)) FROM clutch.read('open') \g /dev/null
SELECT is((SELECT string_agg(id, ' ' ORDER BY seq) FROM clutch.read('open')), 'first', 'and what it left out comes once');
SELECT clutch.unsubscribe(n) FROM unnest('{healed,open}'::text[]) n \g /dev/null

-- --------------------------------------------------------- texts of positions
SELECT is(pg_temp.error_of(format('SELECT * FROM clutch.read_from(%L)', bad)) ~ '^22023 \| argument "pos" is not a position: "[^|]*" \| \[\{"argument": "pos", "code": "WRONG_FORMAT"\}\] \| Pass ', true, 'refused: ' || bad)
FROM q, p, x, LATERAL (VALUES ('garbage'), (''), ('p1.'), ('p2.1.1.1.1'), (head || '.'), (head || '.1,'), (head || '.1,,2'), (head || ' '),
	(head || '/' || head || '/garbage'), (head || '/' || head || '/'), (head || '/' || head || '/1x'), (head || '/' || head || '/-1'), (head || '/' || head || '/ 1'),
	(head || '/' || head || '/99999999999999999999'), (head || '/' || head || '/1/2'), (head || '/garbage/1'), ('garbage/' || head || '/1'), ('beginning/now/1'), (head || '/'), (head || '/1')) v(bad);
SELECT is(pg_temp.after(p.pos || '/' || head || '/0'), 'first second', 'between two positions') FROM p, q;
SELECT is(pg_temp.error_of($$SELECT clutch.subscribe('bad', start => 'yesterday')$$) ~ '"argument": "start"', true, 'an error of clutch.subscribe names its own argument');
SELECT is(pg_temp.error_of($$SELECT clutch.commit('bad', 'xyz')$$), '22023 | argument "pos" is not a pos of clutch.read: "xyz" | [{"argument": "pos", "code": "WRONG_FORMAT"}] | Pass the pos of the last row of clutch.read that you have handled, unchanged.', 'so does one of clutch.commit');

-- -------------------------------------------------------------------- filters
CREATE FUNCTION pg_temp.fault(filter text) RETURNS text LANGUAGE sql AS
$$ SELECT split_part(pg_temp.error_of(format('SELECT * FROM clutch.read_from(%L, %L)', 'beginning', filter)), ' | ', 2) $$;
SELECT is(pg_temp.fault('{"typ": "chat.message"}'), 'filter is not valid at "/typ": a filter has no key "typ"; its keys are type, thread_id, run_id, task_id, agent, topic, domain, payload_type, path', 'a misspelt key is told the keys');
SELECT ok(pg_temp.fault('{"type": "chat.mesage"}') ~ 'there is no message type "chat.mesage"; perhaps you meant "chat.message"$', 'a misspelt type is told the nearest one');
SELECT ok(pg_temp.fault('{"type": "nonsense"}') ~ 'there is no message type "nonsense"; the types are task.request, .*, routing.failure$', 'another word is told the types');
SELECT ok(pg_temp.fault('{"agent": ["agent:ken", "ken"]}') ~ '"ken" is not the ID of an agent, which begins with "agent:"$', 'an agent without its prefix is refused');
SELECT ok(pg_temp.fault('{"type": ["chat.*", "tsk.*"]}') ~ 'there is no message type "tsk\.\*"', 'so is a misspelt family of types');
SELECT is(pg_temp.fault('{"run_id": 1}'), 'filter is not valid at "/run_id": "run_id" must be a text or a list of texts', 'a value that is not a text');
SELECT is(pg_temp.fault('{"run_id": []}'), 'filter is not valid at "/run_id": "run_id" must not be empty; leave it out to get any', 'an empty list');
SELECT is(pg_temp.fault('[]'), 'argument "filter" must be a JSON object', 'a filter that is not an object');

-- a variable is refused wherever it stands in the path
SELECT is(pg_temp.fault(jsonb_build_object('path', path)::text), 'filter is not valid at "/path": "path" must not name a variable: write the value itself', 'a variable in ' || path)
FROM (VALUES ('$x'), ('$.a ? (@ > $x)'), ('$.a[$x]'), ('$.a[0 to $x]'), ('-$x'), ('$.a ? (@ starts with $x)'), ('$.a ? (!exists($x.b))'), ('$.a ? ($x like_regex "a")'), ('$.a.b.c + $x * 2'), ('($x > 1) is unknown')) v(path);
SELECT is(pg_temp.after('beginning', jsonb_build_object('path', path)), 'nothing', 'no variable in ' || path)
FROM (VALUES ('$."$x"'), ('$.payload ? (@.a == "$x")'), ('$.payload ? (@.a like_regex "^[$]x")')) v(path);
SELECT is(fixture.fault(format($$SELECT clutch.read_from('beginning', jsonb_build_object('path', %L))$$, path)), '22023 WRONG_VALUE /path', 'an invalid format in ' || path)
FROM (VALUES ('$.a ? (@.b.datetime("foo") == "x")'), ('$.a[*] ? (exists(@.datetime("foo")))'), ('$.a.datetime().type().datetime("foo")')) v(path);

-- what is too long is none
SELECT throws_ok($$SELECT clutch.read_from('p1.1.1.1.100.' || repeat('1,', 9000000) || '1')$$, '22023', NULL, 'a position of 18 MB is refused');

SELECT * FROM finish();
