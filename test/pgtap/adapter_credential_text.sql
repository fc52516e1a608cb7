-- Credentials in JSON that stands in a document as a text.
\ir ../fixtures/tap.sql
\ir ../fixtures/documents.sql
SET statement_timeout = '60s';
SELECT plan(109);

-- what is left of a text, and the paths of what was removed from it
CREATE FUNCTION pg_temp.left_of(text) RETURNS text LANGUAGE sql AS $$ SELECT document ->> 'a' FROM clutch.drop_credentials(jsonb_build_object('a', $1)) $$;
CREATE FUNCTION pg_temp.paths_of(text) RETURNS text LANGUAGE sql AS $$ SELECT array_to_string(dropped, ' ') FROM clutch.drop_credentials(jsonb_build_object('a', $1)) $$;

-- ------------------------------------------- where dialects have such texts
CREATE TEMPORARY TABLE carried (adapter text, what text, raw jsonb, at text, within text, kept jsonb);
INSERT INTO carried VALUES
	('autogen', 'a call of a tool', '{"id": "9a0c-9", "source": "ken", "models_usage": null, "metadata": {}, "created_at": "2026-02-01T10:20:30.123456Z", "type": "ToolCallRequestEvent",
		"content": [{"id": "call_1", "name": "login", "arguments": "{\"password\": \"hunter2\", \"q\": 1.50}"}]}', '/content/0/arguments', '/password', '"{\"q\": 1.50}"'),
	('autogen', 'the second of two calls', '{"id": "9a0c-9", "source": "ken", "models_usage": null, "metadata": {}, "created_at": "2026-02-01T10:20:30.123456Z", "type": "ToolCallRequestEvent",
		"content": [{"id": "call_1", "name": "login", "arguments": "not JSON"}, {"id": "call_2", "name": "login", "arguments": "{\"q\":{\"token\":\"hunter2\"}}"}]}', '/content/1/arguments', '/q/token', '"{\"q\":{}}"'),
	('autogen', 'a message', '{"id": "9a0c-1", "source": "ken", "models_usage": null, "metadata": {}, "created_at": "2026-02-01T10:20:30.123456Z", "type": "TextMessage",
		"content": "[\"Bearer hunter2hunter2\", 1]"}', '/content', '/0', '"[1]"'),
	('langgraph', 'a call of a tool as the model wrote it', '{"type": "ai", "id": "s-1", "content": "", "name": null, "tool_calls": [{"name": "login", "args": {"q": 1}, "id": "call_1", "type": "tool_call"}], "invalid_tool_calls": [],
		"additional_kwargs": {"tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "login", "arguments": "{\"q\": 1, \"api_key\": \"hunter2\"}"}}]}}', '/additional_kwargs/tool_calls/0/function/arguments', '/api_key', '"{\"q\": 1}"'),
	('crewai', 'a tool that is called with a text', '{"timestamp": "2026-02-01T10:20:30.218694Z", "type": "tool_usage_started", "event_id": "5b1e-28", "emission_sequence": 2, "tool_name": "login",
		"tool_args": "{\"q\":\"pg\",\"token\":\"hunter2\"}"}', '/tool_args', '/token', '"{\"q\":\"pg\"}"'),
	('a2a', 'the text of a part', '{"message": {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": "hi"}, {"text": " {\"secret\": \"hunter2\"}\n"}]}}', '/message/parts/1/text', '/secret', '" {}\n"'),
	('mcp', 'the text of a result', '{"jsonrpc": "2.0", "id": 14, "result": {"content": [{"type": "text", "text": "{\"celsius\":4.50,\n \"token\":\"hunter2\"}"}]}}', '/result/content/0/text', '/token', '"{\"celsius\":4.50}"'),
	('http', 'an event', '{"specversion": "1.0", "id": "e-1", "source": "/s", "type": "t.x", "data": "{\"token\": [\"hunter2\"], \"a\": null}"}', '/data', '/token', '"{\"a\": null}"'),
	('http', 'a request', '{"headers": {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "s", "ce-type": "t"}, "body": "{\"cookie\": \"hunter2\"}"}', '/body', '/cookie', '"{}"'),
	('http', 'a webhook', '{"headers": {"webhook-id": "w-1"}, "body": {"type": "x.y", "timestamp": "2026-02-01T13:20:11Z", "data": {"log": "[{\"pwd\":\"hunter2\"}]"}}}', '/body/data/log', '/0/pwd', '"[{}]"'),
	('multiagent', 'a message', '{"protocol": "multiagent-1.0", "role": "agent", "intent": "reflect", "task": "t", "agent": {"id": "a", "name": "A", "model": "m"}, "content": {"type": "text", "text": "{\"password\": \"hunter2\"}"}}', '/content/text', '/password', '"{}"');
SELECT is(concat_ws(' ', (SELECT jsonb_agg(i)::text LIKE '%hunter2%' FROM clutch.inbound(c.raw, c.adapter) AS i), e #> ARRAY['meta', c.adapter, 'dropped']), concat('f ', jsonb_build_array(c.at || c.within)),
	c.adapter || ': ' || c.what || ' loses its credential') FROM carried c, LATERAL fixture.made(c.raw, c.adapter) AS e;
SELECT is(fixture.shown(clutch.outbound(fixture.made(c.raw, c.adapter), c.adapter), fixture.put(c.raw, c.at, c.kept)), 'the same', c.adapter || ': ' || c.what || ' comes back without it') FROM carried c;

SELECT is(jsonb_build_array(e #> '{payload,args}', e #> '{meta,autogen,args}'), '[{"q": 1.50}, "{\"q\": 1.50}"]', 'the arguments that are read from a text lack the credential as well')
FROM carried c, LATERAL fixture.made(c.raw, c.adapter) AS e WHERE c.what = 'a call of a tool';
SELECT is(jsonb_build_array(e -> 'payload', e #> '{meta,mcp,form}', e #> '{meta,mcp,dropped}'), '[{"q": 1}, "structured", ["/result/content/0/text/token", "/result/structuredContent/token"]]', 'a result in two forms is still known as one')
FROM fixture.made('{"jsonrpc": "2.0", "id": 14, "result": {"content": [{"type": "text", "text": "{\"q\": 1, \"token\": \"x\"}"}], "structuredContent": {"q": 1, "token": "x"}}}', 'mcp') AS e;
-- jsonb cannot have it, so the arguments are the text, which has been searched nevertheless
SELECT is(e -> 'payload' -> 'args', '{"input": "{\"q\": \"\\u0000\"}"}', 'a text that jsonb refuses is searched like any other')
FROM fixture.made(jsonb_set((SELECT raw FROM carried WHERE what = 'a call of a tool'), '{content,0,arguments}', to_jsonb('{"q": "\u0000", "password": "hunter2"}'::text)), 'autogen') AS e;
-- jsonb takes the last of several members, others take the first
SELECT is(jsonb_build_array(e -> 'payload' -> 'args', e #> '{meta,autogen,args}', e #> '{meta,autogen,dropped}'),
	'[{"q": 2}, "{\"q\":1,\"q\":2}", ["/content/0/arguments/token", "/content/0/arguments/token"]]', 'each of several members with the same name is searched')
FROM fixture.made(jsonb_set((SELECT raw FROM carried WHERE what = 'a call of a tool'), '{content,0,arguments}', to_jsonb('{"token":"a","q":1,"q":2,"token":"b"}'::text)), 'autogen') AS e;

-- the carrier is read from a text, or from a header in which it is encoded
CREATE FUNCTION pg_temp.carrier_in(header text, value text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT fixture.made(jsonb_build_object('headers', jsonb_build_object('ce-specversion', '1.0', 'ce-id', '1', 'ce-source', 's', 'ce-type', 't', header, value), 'body', '{}'::jsonb), 'http') $$;
SELECT is(jsonb_build_array(e -> 'payload', e #> '{meta,http,dropped}', e::text LIKE '%hunter2%'), jsonb_build_array('{"x": {"q": 1}}'::jsonb, ARRAY['/headers/ce-clutchenvelope/0/is/token'], false), 'a carrier ' || how || ' is searched before it is read')
FROM (VALUES ('in a header', '[{"path":"/payload/x","is":{"token":"hunter2","q":1}}]'), ('that is encoded', '[{%22path%22:%22/payload/x%22,%22is%22:{%22token%22:%22hunter2%22,%22q%22:1}}]')) AS v(how, value), LATERAL pg_temp.carrier_in('ce-clutchenvelope', v.value) AS e;
SELECT is(fixture.shown(fixture.made(clutch.outbound(e, 'http'), 'http'), e), 'the same', 'a carrier without credentials is as it was')
FROM (SELECT clutch.envelope('task.request', 'agent:a', '{agent:b}', '{"q": "{\"a\": [1.50]}"}', run_id => 'run:x', thread_id => 'thread:x', task_id => 'task:x') || '{"domain": "finance", "meta": {"other": "[{\"a\": 1}]"}}' AS e) AS v;

-- ------------------------------------------------- where there is no dialect
SELECT is(pg_temp.left_of(t), l, 'names of texts and tokens: ' || t) FROM (VALUES ('{"auth": "abc\u0064efgh12345678abcd", "bearer": "v", "jwt": ["v"], "sessionid": "v"}', '{"jwt": ["v"]}'), ('{"auth": "oauth2", "jwt": 5}', '{"auth": "oauth2", "jwt": 5}'),
	('{"auth": "AKIAIOSFODNN7EXAMPLE", "bearer": "sk-0123456789abcdef0", ', '{"auth": "", "bearer": "", ')) AS v(t, l);
SELECT is((SELECT jsonb_build_array(document, dropped) FROM clutch.drop_credentials(to_jsonb('{"token": "x", "q": 1}'::text))), '["{\"q\": 1}", ["/token"]]', 'a document that is a text');
SELECT is(jsonb_build_array(c #> '{meta,a2a,dropped}', c::text LIKE '%hunter2%'), '[["/description/token"], false]', 'the description of an agent')
FROM clutch.card_of('{"name": "Ken", "description": "{\"token\": \"hunter2\"}", "version": "1.0.0", "capabilities": {}, "skills": [], "url": "https://host/a2a"}') AS c;
SELECT is(concat_ws(' ', e::text LIKE '%hunter2%', e -> 'payload' -> 'args', e #> '{meta,multiagent,dropped}'), said, 'a language model: ' || what)
FROM (VALUES
	('arguments of a call', '{"choices": [{"message": {"tool_calls": [{"function": {"name": "login", "arguments": "{\"q\": 1, \"token\": \"hunter2\"}"}}]}}]}'::jsonb, 'gpt5', 'f {"q": 1} ["/content/data/token"]'),
	('an answer in JSON', '"{\"token\": \"hunter2\"}"', 'claude', 'f ["/content/text/token"]'),
	('an answer in long JSON', to_jsonb('{"token": "hunter2", "q": "' || repeat('x', 200) || '"}'), 'claude', 'f ["/content/text/token"]'),
	('an answer in two texts', '{"content": [{"type": "text", "text": "{\"token\": \"hunter2\"}"}, {"type": "text", "text": "Bearer hunter2hunter2"}, {"type": "text", "text": "[1]"}]}', 'claude', 'f ["/content/text/0/token", "/content/text/0"]'),
	('an answer in two texts and a call', '{"content": [{"type": "text", "text": "[1]"}, {"type": "thinking"}, {"type": "text", "text": "{\"token\": \"hunter2\"}"}, {"type": "tool_use", "name": "login", "input": {"token": "hunter2"}}]}', 'claude',
		'f ["/outputs/next_actions/0/args/token", "/content/text/1/token"]'),
	('a text that is a credential, and one behind it', '{"output": [{"type": "message", "content": [{"text": "Bearer hunter2hunter2"}]}, {"type": "message", "content": [{"text": "x"}]}, {"type": "message", "content": [{"text": "{\"token\": \"hun"}, {"text": "ter2\"}"}]}]}', 'gpt5',
		'f ["/content/text/0", "/content/text/2/token"]'),
	('an answer in JSON in two pieces', '{"candidates": [{"content": {"parts": [{"text": "{\"token\": \"hun"}, {"text": "ter2\"}"}]}}]}', 'gemini', 'f ["/content/text/token"]'),
	('an answer in JSON in two pieces, and another one', '{"content": [{"type": "text", "text": "{\"token\": \"hun"}, {"type": "text", "text": "ter2\"}"}, {"type": "tool_result"}, {"type": "text", "text": "x"}]}', 'claude', 'f ["/content/text/0/token"]'),
	('in a fence', '"```json\n{\"token\": \"hunter2\"}\n```"', 'claude', 'f ["/content/text/token"]'),
	('in a message of its own', '"```\n{\"protocol\": \"multiagent-1.0\", \"role\": \"agent\", \"intent\": \"plan\", \"task\": \"t\", \"content\": {\"type\": \"text\", \"text\": \"{\\\"token\\\": \\\"hunter2\\\"}\"}}\n```"', 'claude', 'f ["/content/text/token"]'))
	AS v(what, raw, family, said), LATERAL clutch.from_model(v.raw, v.family) AS e;

-- ------------------------------------------------------------ what is cut out
SELECT is(pg_temp.left_of(t), l, 'what is left of ' || t) FROM (VALUES
	('{"token": "x", "q": 1}', '{"q": 1}'), ('{"q": 1, "token": "x"}', '{"q": 1}'), ('{"q": 1, "token": "x", "r": 2}', '{"q": 1, "r": 2}'),
	(' { "token" : "x" }', ' {  }'), ('{"token": "x" , "pwd": 2 , "q": 1}', '{  "q": 1}'), ('{"q": 1 , "token": "x" , "pwd": 2 }', '{"q": 1   }'),
	('{"token":["a",1],"q":[]}', '{"q":[]}'), ('{"token":["Bearer abcdefgh1","Bearer abcdefgh1"]}', '{}'), ('{"q":1,"token":["Bearer abcdefgh1",null,"Bearer abcdefgh1"],"r":2}', '{"q":1,"r":2}'), ('{"token":[null,true],"r":2}', '{"token":[null,true],"r":2}'), ('{"token":["a",["b"]],"r":2}', '{"token":["a",["b"]],"r":2}'),
	('[["Bearer abcdefgh1"],["Bearer abcdefgh1",0,"Bearer abcdefgh1","Bearer abcdefgh1",[]]]', '[[],[0,[]]]'),
	('{"n":100000000000000000000000000000000000001, "token":"x", "m":1.50E+400}', '{"n":100000000000000000000000000000000000001, "m":1.50E+400}'),
	('{"q":1,"q":2,"token":true,"token":"x"}', '{"q":1,"q":2,"token":true}'), (E'```json\n{"token": "x"}\n```\n', E'```json\n{}\n```\n'),
	('{"pass\u0077ord":"x","\u0070wd":1,"q":"\u0071\/"}', '{"q":"\u0071\/"}'), ('["Bearer\u0020abcdefgh1", "\u0061"]', '["\u0061"]'),
	('"{\"token\":\"x\"}"', '"{}"'), ('"Bearer abcdefgh1"', NULL), ('["\"Bearer abcdefgh1\""]', '[]'), ('{"token":-1,"secret":NaN}', '{"secret":NaN}'),
	('{"l":"{\"token\":\"\\\"\",\"u\":\"\\u00fc\"}"}', '{"l":"{\"u\":\"\\u00fc\"}"}'),
	('["[\"[\\\"{\\\\\\\"token\\\\\\\":1,\\\\\\\"q\\\\\\\":1}\\\"]\"]"]', '["[\"[\\\"{\\\\\\\"q\\\\\\\":1}\\\"]\"]"]')) AS v(t, l);
SELECT is(pg_temp.paths_of(t), p, 'the paths of ' || t) FROM (VALUES
	('{"q": [0, {"token": "x"}], "a/b~": {"pwd": 1, "k": ["Bearer abcdefgh1"]}}', '/a/q/1/token /a/a~1b~0/pwd /a/a~1b~0/k/0'),
	('["Bearer abcdefgh1", 1, "Bearer abcdefgh1"]', '/a/0 /a/2'), ('{"l":"[{\"token\":1}]"}', '/a/l/0/token'), ('"{\"token\":1}"', '/a/token'),
	('{"\u00fc\ud83e\udda9\u0000\ud800":{"token":1}}', U&'/a/\00fc\+01f9a9?\fffd/token')) AS v(t, p);

-- --------------------------------------------------------------- what stays
SELECT is_empty($$ SELECT t, pg_temp.left_of(t) FROM unnest(ARRAY['{ "q" :1.0,"q":1e2 ,"\u0071":"\/"}', '{"properties": {"password": {"type": "string"}, "token": true}}', '{"token": "", "pwd": [], "secret": [{}], "cookie": null}', '{}', '[]', '""', '```',
	'``````', E'```\n```', '{"max_tokens": 5}', '["basic arithmetic"]', '"\"a\""']) AS t WHERE pg_temp.left_of(t) IS DISTINCT FROM t OR pg_temp.paths_of(t) <> '' $$, 'a text without credentials stays byte for byte');
SELECT is_empty($$ SELECT t, pg_temp.left_of(t) FROM unnest(ARRAY['Here it is: {"token": "x"}', '{"token": "x"} it is', '{"token": "x"}{"token": "x"}', E'{"token": "x"}\n{"token": "x"}', '{"token": "x",}', '{"token": "x"', '{"token" "x"}', '{token: "x"}', '{''token'': ''x''}',
	'[{"token": "x"]', '{"token": "x"}}', '{"token": 01}', '{"token": "\x"}', '{"token": "\u00g0"}', '{"token": "x\"}', '["token": "x"]', '{"token": "x", "q"}', '{"token": "x" "q": 1}', '{"token": "x", "q": truex}', '{', '[', '"', '{"', '"\', '[1,', '{"a":',
	'{%22token%22:%22x%22}', E'```json\n{"token": "x"}', E'See:\n```\n{"token": "x"}\n```', '{"token": 1.}', '{"token": 1e}', '{"token": -}']) AS t WHERE pg_temp.left_of(t) IS DISTINCT FROM t OR pg_temp.paths_of(t) <> '' $$, 'and so does a text that is not JSON as a whole');
SELECT is(pg_temp.left_of(E'{"note": "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0B", "q": 1}'), NULL, 'a text with a private key is a credential as a whole, also if it is JSON');

-- ------------------------------------------------------- JSON among words
SELECT is(pg_temp.left_of(t), l, 'what is left of ' || t) FROM (VALUES
	('Here is the config: {"api_key": "sk-0123456789abcdefgh"} thanks', 'Here is the config: {"api_key": ""} thanks'),
	(E'{"token" : "ghp_0123456789abcdefghij"}\n{"q": 1, "Authorization":\n"Bearer abcdefgh1"}', E'{"token" : ""}\n{"q": 1, "Authorization":\n""}'),
	('config = {''client_secret'': ''sk-0123456789abcdefgh'', "q": 1}', 'config = {''client_secret'': '''', "q": 1}'),
	('sent {\"password\": \"https://user:hunter2@host/\"}', 'sent {\"password\": \"\"}'),
	('{"api_key": "sk-0123456789abcdefgh", "more', '{"api_key": "", "more'),
	('["It is {\"api_key\": \"sk-0123456789abcdefgh\"}.", "\u0061", {"token": "x", "q": 1}]', '["It is {\"api_key\": \"\"}.", "\u0061", {"q": 1}]'),
	('x {''token'': ''"token": "sk-0123456789abcdefgh"''} "token": "Bearer \"token\": 1"', 'x {''token'': ''"token": ""''} "token": "Bearer \"token\": 1"'),
	('''token'': ''https://a:b1"token":"sk-0123456789abcdefgh"@host'' "token":"Bearer abcdefgh1"', '''token'': '''' "token":""')) AS v(t, l);
SELECT is(pg_temp.paths_of('see {"token": "Bearer abcdefgh1", "api_key": "sk-0123456789abcdefgh"}'), '/a', 'the path is that of the text, once');
SELECT is((SELECT jsonb_build_array(document, dropped) FROM clutch.drop_credentials(to_jsonb(t))), l::jsonb, 'a document that is ' || t) FROM (VALUES
	('see "token": "Bearer abcdefgh1"', '["see \"token\": \"\"", [""]]'), ('"see \"token\": \"Bearer abcdefgh1\""', '["\"see \\\"token\\\": \\\"\\\"\"", [""]]')) AS v(t, l);
SELECT is_empty($$ SELECT t, pg_temp.left_of(t) FROM unnest(ARRAY['The password: "hunter2" is "weak": 5 bytes.', 'See {"api_key": "sk-..."}', 'See {"api_key": "sk-your-api-key-goes-here"}', 'See {"Authorization": "Bearer YOUR_ACCESS_TOKEN_GOES_HERE"}', 'See {"Authorization": "Bearer ${TOKEN_1}"}',
	'{"password": "changeme1"} is the default', 'the schema {"properties": {"token": {"type": "string", "title": "Bearer abcdefgh1"}}}', '{"token": "string"} ...', '"max_tokens": "Bearer abcdefgh1" x', 'token: "Bearer abcdefgh1"', '"token" "Bearer abcdefgh1"', 'x "token": Bearer abcdefgh1', '"token": ''Bearer abcdefgh1''', 'x token": "Bearer abcdefgh1"',
	'a "token": "Bearer abcdefgh1', 'x {"commit": "0123456789abcdef0123456789abcdef01234567"}', ':', '":', '":"', '"":""', ':"', 'x '':''', 'the key "sk-0123456789abcdefgh" itself', 'x {"tokens": "path/to/v1.2"}', 'x {"secret": "projects/p1/secrets/db-password/versions/1"}']) AS t
	WHERE pg_temp.left_of(t) IS DISTINCT FROM t OR pg_temp.paths_of(t) <> '' $$, 'prose, placeholders, schemas and examples stay byte for byte');
SELECT is(concat_ws(' ', e #> '{meta,a2a,dropped}', clutch.outbound(e, 'a2a') #> '{message,parts,0,text}'), '["/message/parts/0/text"] "My {\"token\": \"\"} is bad"', 'a message comes back without it')
FROM fixture.made('{"message": {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": "My {\"token\": \"Bearer abcdefgh1\"} is bad"}]}}', 'a2a') AS e;

-- ----------------------------------------------------------- large and deep
SET clutch.max_envelope_bytes = '16MB';
SELECT is(pg_temp.left_of(t) = t, true, 'words stay that are full of ' || what) FROM (VALUES
	('colons', repeat(':', 4000000)), ('colons and blanks', repeat(':  ', 1000000)), ('quotes', repeat('"', 4000000)), ('names', 'x' || repeat('"token":', 500000)), ('names and quotes', 'x' || repeat('"token":"', 400000)),
	('both quotes', 'x' || repeat('"token":"''token'':''', 200000)), ('blanks', 'x"token":' || repeat(' ', 4000000)), ('backslashes', 'x' || repeat('"token":\', 400000)), ('keys without an end', 'x' || repeat('"token":"sk-1', 300000))) AS v(what, t);
SELECT is(pg_temp.left_of('x' || repeat('"token":"Bearer abcdefgh1" ', 100000)), 'x' || repeat('"token":"" ', 100000), '100,000 among words');
SELECT is(pg_temp.left_of(t) = t, true, 'a text stays that is ' || what) FROM (VALUES
	('open', repeat('[', 2000000)), ('deep', repeat('[', 1000000) || repeat(']', 1000000)), ('nearly JSON', '{' || repeat('"a":"b",', 250000) || '}'), ('full of escapes', '["' || repeat('\\\"', 500000) || '"]'),
	('full of texts', '["' || repeat('[\"', 100000) || repeat('\"]', 100000) || '"]'), ('blank', '{' || repeat(' ', 2000000) || '}')) AS v(what, t);
SELECT is(concat_ws(' ', length(pg_temp.left_of(t)), length(pg_temp.paths_of(t)) BETWEEN 1000 AND 1010), '2000002 t', 'a credential below a million arrays is removed; its path is cut off') FROM repeat('[', 1000000) AS o, concat(o, '{"token":1}', repeat(']', 1000000)) AS t;
SELECT is(concat_ws(' ', pg_temp.left_of(t), length(pg_temp.paths_of(t))), '[' || repeat('{},', 100000) || '1] ' || length(pg_temp.paths_of(t)), '100,000 credentials') FROM concat('[', repeat('{"token":1},', 100000), '1]') AS t;
SELECT is(concat_ws(' ', length(pg_temp.left_of(t)), pg_temp.paths_of(t) = '/a/k ' || '/a/' || repeat('k', 400000) || ' /a/z/token'), '430015 t', 'credentials below a long key are told by the key')
FROM concat('{"k":"Bearer abcdefgh1","', repeat('k', 400000), '":[', repeat('{"token":1},', 10000), '1],"z":{"token":1}}') AS t;
-- each level doubles the backslashes
CREATE FUNCTION pg_temp.wrapped(t text, levels int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1 .. levels LOOP t := jsonb_build_array(t)::text; END LOOP; RETURN t; END $$;
SELECT is(pg_temp.left_of(pg_temp.wrapped('{"token": 1, "q": 1}', 16)), pg_temp.wrapped('{"q": 1}', 16), 'a credential in the sixteenth text within texts');
SELECT lives_ok($$ SELECT clutch.inbound(jsonb_build_object('specversion', '1.0', 'id', '1', 'source', 'a', 'type', 't', 'data', repeat('[', 1000000))) $$, 'such a text is no fault of a document');

SELECT * FROM finish();
