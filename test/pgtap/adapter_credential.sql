-- Which members of a document are dropped as credentials.
BEGIN;
SELECT plan(69);

CREATE FUNCTION pg_temp.document_with(data jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('specversion', '1.0', 'id', 'e-1', 'source', '/s', 'type', 't.x', 'data', data) $$;

CREATE FUNCTION pg_temp.dropped_of(data jsonb) RETURNS SETOF text LANGUAGE sql AS
$$ SELECT jsonb_array_elements_text(e #> '{meta,http,dropped}') FROM clutch.inbound(pg_temp.document_with(data), 'http') e $$;

CREATE TEMPORARY TABLE names (name) AS SELECT unnest(ARRAY[
	'pwd', 'AccessKeyId', 'password', 'dbPassword', 'DB_PASSWD', 'cookie', 'Set-Cookie', 'webhook-signature', 'SECRET_KEY_BASE',
	'passphrase', 'ssh.passphrase', 'credential', 'credentials', 'Authorization', 'Proxy-Authorization', 'token', 'id_token', 'csrf-token',
	'XSRF-TOKEN', 'resumeToken', 'accessToken', 'github_access_token', 'refresh_token', 'authToken', 'bearer token', 'api-token',
	'session_token', 'X-Amz-Security-Token', 'cookies', 'secret', 'client_secret', 'accesskey', 'apiKey', 'X-Api-Key', 'secret_key',
	'privateKey', 'signing-key', 'aws_secret_access_key', 'authkey', 'password_', 'X-Hub-Signature', 'x-hub-signature-256', 'X-Auth-Token-2',
	repeat('a_very_', 12) || 'long_client_secret']);

SELECT set_eq(
	$$ SELECT pg_temp.dropped_of((SELECT jsonb_object_agg(name, 'v') FROM names)) $$,
	$$ SELECT '/data/' || name FROM names $$,
	'a text below each name of a credential is dropped, however it is spelt');
SELECT set_eq(
	$$ SELECT pg_temp.dropped_of((SELECT jsonb_object_agg(name, '[1, "v"]'::jsonb) FROM names)) $$,
	$$ SELECT '/data/' || name FROM names $$,
	'and so is an array of texts and numbers');
SELECT is_empty(
	$$ SELECT pg_temp.dropped_of((SELECT jsonb_object_agg(name, CASE WHEN n % 2 = 0 THEN '{"type": "string"}' ELSE 'true' END::jsonb)
		FROM (SELECT name, row_number() OVER () AS n FROM names) AS numbered)) $$,
	'but neither an object nor a boolean');
SELECT set_eq(
	$$ SELECT pg_temp.dropped_of('[{"name": "Authorization", "value": "v"}, {"value": 1, "key": "API_KEY", "more": 2}, {"name": "region", "value": "v"}, {"name": "token", "value": {"type": "v"}},
		{"name": "password", "worth": "v"}, {"name": 1, "key": "password", "value": "v"}, {"name": "password", "value": ""}, ["password", "value", "v"], {"value": "v"}]') $$,
	$$ SELECT '/data/' || unnest(ARRAY[0, 1, 5]) || '/value' $$,
	'a value beside the name of a credential is dropped as well, if it is a text or a number');
SELECT set_eq(
	$$ SELECT pg_temp.dropped_of('{"password": ["v", null], "cookie": [["sid", "v"]], "secret": [null, true], "token": ["v", {"x": 1}], "apiKey": [],
		"headers": [["cookie", "v"], ["Accept", "v"], ["x-api-key", ["v"]]], "rawHeaders": ["Host", "v", "Cookie", "v", "Accept", "v", "X-Api-Key", "v"],
		"variables": [{"Name": "API_KEY", "Value": "v"}, {"KEY": "password", "values": ["v"]}], "words": ["password", "v"], "lists": [["token", "v"]],
		"logprobs": [{"token": "v", "logprob": -0.5}], "piece": {"token": "v"}}') $$,
	$$ SELECT '/data/' || unnest('{password,cookie,headers/0/1,headers/2/1,rawHeaders/3,rawHeaders/7,variables/0/Value,variables/1/values,piece/token}'::text[]) $$,
	'so are arrays without objects, headers written as arrays, and other spellings');
SELECT is(e #> '{payload,rawHeaders}', '["Host", "v", "Accept", "v"]', 'what is left of headers are pairs')
FROM clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "data": {"rawHeaders": ["Host", "v", "Cookie", "v", "Accept", "v"]}}') AS e;
-- a name that is a credential itself is dropped as such, so its value must not take what precedes it
SELECT is(d.document, jsonb_build_object('headers', rest), 'a value is dropped, and nothing before its name: ' || left(headers::text, 60))
FROM (VALUES ('["Host", "v", "https://u:p@h/password", "v", "Accept", "v"]'::jsonb, '["Host", "v", "Accept", "v"]'::jsonb), ('["https://u:p@h/password", "v", "Accept", "v"]', '["Accept", "v"]'),
	('[["Host", "v"], ["https://u:p@h/password", "v"]]', '[["Host", "v"], []]')) AS v(headers, rest), clutch.drop_credentials(jsonb_build_object('headers', headers)) d;
SELECT is(d.document, jsonb_build_object('headers', '["Accept", "v"]'::jsonb), 'nor before the headers, if there are thousands')
FROM (SELECT jsonb_agg(CASE WHEN i % 2 = 1 THEN 'https://u:p@h/password' ELSE 'v' || i END) AS headers FROM generate_series(1, 4000) i) h,
	clutch.drop_credentials(jsonb_build_object('headers', headers || '["Accept", "v"]')) d;
SELECT is(pg_temp.dropped_of(to_jsonb(text)), '/data', 'the output of a program that prints a key')
FROM unnest(ARRAY[E'ghp_abcdefghijklmnopqrstuvwxyz0123456789\n', E'\tBearer abcdefgh1 ', E'\n\nAKIAIOSFODNN7EXAMPLE\r\n']) AS text;
SELECT is(pg_temp.dropped_of(jsonb_build_object(name, value)), '/data/' || name, name || ' is one')
FROM (VALUES ('bearer', '"v"'::jsonb), ('jwt', '"v"'), ('JWT', '"v"'), ('sessionid', '"v"'), ('Mcp-Session-Id', '"v"'), ('ENCRYPTION_KEY', '"v"'), ('encryptionKey', '["v"]'),
	('PRIVATE-TOKEN', '"v"'), ('JOB-TOKEN', '"v"'), ('Ocp-Apim-Subscription-Key', '"v"'), ('x-functions-key', '"v"'),
	('x-goog-iap-jwt-assertion', '"v"'), ('auth', '"hunter2hunter2hunter2"'), ('auth', '"dXNlcjpwYXNz"'), ('auth', '"kT9/xq2LmN4vB7sZ1cW8pR5yH3jD6fG0aQ/eUiOlXw=="'), ('auth', '"xoxb.17653672481.abcdefgh"'), ('auth', '"9f8e7d6c5b4a3210"'), ('auth', '"Bearer abcdefgh1"')) AS v(name, value);
SELECT is_empty(format('SELECT pg_temp.dropped_of(%L)', jsonb_build_object(name, value)), name || ' says what there is: ' || value)
FROM (VALUES ('auth', '"none"'::jsonb), ('auth', '"oauth2"'), ('auth', '"see the manual of 2026"'), ('auth', '"SCRAM-SHA-256"'), ('auth', '"self_signed_tls_client_auth"'), ('auth', '"src/auth/v2/login_2026.py"'), ('auth', '["user", "read2read2"]'), ('auth', '{"type": "oauth2", "flow": "abcdefgh1"}'), ('auth', '12345678'),
	('bearer', '["read"]'), ('bearer', '{"type": "http"}'), ('bearer', '[]'), ('jwt', 'true'), ('sessionid', '["v"]'), ('sessionId', '"v1234567"'), ('session_id', '"v1234567"'), ('bearer_format', '"JWT"')) AS v(name, value);
SELECT is(pg_temp.dropped_of('[{"name": "auth", "value": "abcdefgh12345678abcd"}, {"name": "auth", "value": "none"}, {"key": "bearer", "values": ["v"]}]'), '/data/0/value', 'the same beside their names');
SELECT is_empty(
	$$ SELECT pg_temp.dropped_of(jsonb_object_agg(name, 'v')) FROM unnest(ARRAY[
		'max_tokens', 'progressToken', 'tokenizer', 'secretary', 'secrets_of_success', 'monkey', 'key', 'keyboard', 'cookiecutter', 'password_hint',
		'authorizationUrl', 'author', 'pwds', 'my_pwd', 'next_token', 'hub-signature', 'x-hub-signatures', 'X', 'x-', '', '_', '-256', 'public_key', 'publicEncryptionKey',
		repeat('a', 40) || 'token']) AS name $$,
	'names that only resemble them are left alone');
SELECT set_eq(
	$$ SELECT pg_temp.dropped_of(jsonb_build_array('basic arithmetic', 'Bearer of good news', 'BASIC dXNlcjpwYXNzd29yZDE=', 'bearer   abcdefgh1',
		'sk-0123456789abcdef', 'sk-short', 'skating-0123456789abcdef', 'ghp_0123456789abcdefghij', 'AKIA0123456789ABCDEF',
		'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0',
		E'-----BEGIN RSA PRIVATE KEY-----\nMIIE', '-----BEGIN CERTIFICATE-----', 'a bee', '', 'B',
		E'Here it is:\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B', 'It begins with -----BEGIN PRIVATE KEY-----',
		E'-----END PRIVATE KEY-----\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B', 'It ends with -----END PRIVATE KEY-----, as all do that someone has copied.',
		'Basic dXNlcjpwYXNz', 'Basic research', 'Basic dXNlcnVzZXI=')) $$,
	$$ SELECT '/data/' || unnest(ARRAY[2, 3, 4, 7, 8, 9, 11, 16, 18, 20]) $$,
	'texts of the form of a credential are dropped wherever they stand, and others are kept');
SELECT is_empty($$ SELECT text FROM unnest(ARRAY['sk-proj-aB3dE5_gH7jK9-mN1pQ3sT5vW7yZ9bC_dF2gH4j-Kx', 'sk-ant-api03-Rk3vTq8_LmZ0xYw2-Pb6Nc4Hd9-JfGsAA', 'sk-or-v1-0f1e2d3c4b5a69788796a5b4c3d2e1f0', 'sk-9aF-k2Lm_Qx7-Rt4v', 'sk-9aFk2LmQx7Rt4vB1cN8-AA', 'sk-0123456789abcdef0123456789abcdef',
	'ghp_abcdefghijklmnopqrstuvwxyz0123456789', 'github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789', 'glpat-ab-cd_ef-ghijklmnop', 'xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx', 'sk_live_aBcDeFgHiJkLmNoPqRsTuVwX', 'sk_test_4eC39HqLyjWDarjtT1zdp7dc',
	'whsec_MfKQ9r8G/YqrTwjU+PD8ILPZIo2LaLaSw==', 'ASIAIOSFODNN7EXAMPLE', 'AKIAIOSFODNN7EXAMPLE', 'AIzaSyA-0123456789_abcdefghijklmnopqrst', 'Basic dXNlcjpww6Rzcw==', 'Basic dXNlcjpw5HNz', 'basic  ' || encode(convert_to('a:' || repeat('xyz', 900), 'UTF8'), 'base64'),
	'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', 'gsk_8fKq2LmZx7Rt4vB1cN8WGdyb3FYaB3dE5gH7jK9mN1pQ3s', 'xai-9aFk2LmQx7Rt4vB1cN8pZs5yH3jD6fG0aQeUiOlXw', 'pplx-0f1e2d3c4b5a69788796a5b4c3d2e1f0', 'r8_9aFk2LmQx7Rt4vB1cN8pZs5yH3jD6fG0aQe',
	'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', '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', 'nvapi-9aFk2LmQx7-Rt4vB1cN8pZs5yH3jD6fG0aQe_UiOlXw', 'npm_9aFk2LmQx7Rt4vB1cN8pZs5yH3jD6fG0aQeU', 'xapp-1-A0123456789-0123456789012-0f1e2d3c4b5a69788796',
	'Basic YWRtaW46aHVudGVyMg']) AS t, replace(t, E'\n', '') AS text WHERE NOT EXISTS (SELECT FROM pg_temp.dropped_of(to_jsonb(text))) $$,
	'keys of many kinds are dropped');
SELECT is_empty($$ SELECT text FROM unnest(ARRAY['ASIA_PACIFIC_EXCL_JAPAN', 'ASIA-PACIFIC-NORTHEAST1', 'ASIA/SINGAPORE/RETAIL', 'ASIAN_MARKETS_OVERVIEW', 'AIzaBookReview-2026-final', 'AIza/a-book-review-that-is-39-long-2026', 'sk-bratislava-old-town-hall', 'sk-SK/translations/strings', 'sk-SK/0123456789abcdef0123',
	'sk-learn-contrib-lightning', 'sk-hu-en-dictionary-2026', 'sk-transformer-large-v2-2024', 'sk-Stara-Lubovna-Municipality', 'sk-report-2026-02-01-10-20-30', 'Basic mathematics-101', 'Basic web-design/2024', 'Basic authentication2', 'basic 12345678', 'Basic understanding-of-things-in-2026',
	'hf_hub_download_with_progress', 'npm_config_registry_url_of_2026', 'gsk_quarterly_report_final', 'xai-explainable-models-2026', 'nvapi-reference-documentation',
	'r8_g8_b8_a8_unorm_pack32', 'r8_g8b8_2plane_420_unorm_444',
	'Basic ' || encode('user without a password', 'base64')]) AS text WHERE EXISTS (SELECT FROM pg_temp.dropped_of(to_jsonb(text))) $$,
	'names, titles and paths that begin like one are kept');

SELECT set_eq(
	$$ SELECT pg_temp.dropped_of(jsonb_build_array('https://user:secret@host/path', 'https://user@host/path', 'HTTPS://user:s%40crt@[::1]:80?q', 'redis://:p@h', 'ftp://u:p@h',
		'git+ssh://git:p@host/x.git', 'postgresql://app:p@a:5432,b:5432/db and more', 'https://user:@host/', 'https://host:8080/~user@home', 'http://host:80/a?b=c:d@e', 'http://host:80#@',
		'https://u@host:8080/', 'https://u:p@x@host', 'mailto:user:secret@host', 'see https://user:secret@host/path', 'https://host: write to user@home', 'https://', '://u:p@h', '1https://u:p@h',
		'urn:a://u:p@h', ':', 'agent:ken', 'https:/u:p@host', repeat('x', 40) || '://u:p@h')) $$,
	$$ SELECT '/data/' || unnest(ARRAY[0, 2, 3, 4, 5, 6, 12]) $$,
	'a text that begins with a URL with a password is dropped, and no other URL');

-- URLs where documents of other protocols have them
CREATE FUNCTION pg_temp.kept_of(document jsonb, adapter text) RETURNS TABLE (dropped jsonb, leaks boolean) LANGUAGE sql AS
$$ SELECT e #> ARRAY['meta', adapter, 'dropped'], strpos(e::text, 'secret') > 0 FROM clutch.inbound(document, adapter) e WHERE e -> 'meta' -> adapter ? 'kept' $$;

SELECT results_eq(
	$$ SELECT * FROM pg_temp.kept_of('{"message": {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": "a file"}, {"url": "https://user:secret@host/x", "mediaType": "text/plain"}]}}', 'a2a') $$,
	$$ VALUES ('["/message/parts/1/url"]'::jsonb, false) $$, 'the URI of a part');
SELECT results_eq(
	$$ SELECT * FROM pg_temp.kept_of('{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "hi"}]},
		"configuration": {"taskPushNotificationConfig": {"url": "https://user:secret@host/callback"}}}}', 'a2a') $$,
	$$ VALUES ('["/params/configuration/taskPushNotificationConfig/url"]'::jsonb, false) $$, 'a callback');
SELECT results_eq(
	$$ SELECT c #> '{meta,a2a,dropped}', strpos(c::text, 'secret') > 0 FROM clutch.card_of('{"name": "Ken", "description": "d", "version": "1.0.0", "capabilities": {}, "skills": [], "url": "https://host/a2a",
		"additionalInterfaces": [{"transport": "GRPC", "url": "grpc://user:secret@host"}]}') c $$,
	$$ VALUES ('["/additionalInterfaces/0/url"]'::jsonb, false) $$, 'an endpoint of a card');
SELECT throws_like(
	$$ SELECT clutch.card_of('{"name": "Ken", "description": "d", "version": "1.0.0", "capabilities": {}, "skills": [], "url": "https://user:secret@host/a2a"}') $$,
	'%"/url": it is missing', 'one that is required is missing then');

SELECT is(e #> '{meta,http,dropped}', '["/data/note"]', what || ' is dropped')
FROM (VALUES
	('a routable token of GitLab', 'glpat-Zx9kQ2mT7vB4nL8pR1wY6cF3hJ5sD0aGbHcJdKeLf.01.0z1a2b3c4'),
	('an encrypted JWT', 'eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.OKOawDo13gRp2ojaHV7LFpZcgV7T6DVZKTyKOMTYUmKoTCVJRgckCL9k.48V1_ALb6US04U3b.5eym8TW_c8SuK0ltJ3rpYIzOeDQz7TALvtu6UG9oMo4vpzs9tX.XFBoMYUZodetZdvTiFvSkQ'),
	('an encrypted JWT without a key', 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..48V1_ALb6US04U3b.5eym8TW_c8SuK0ltJ3rpYIzOeDQz7TALvtu6UG9oMo4vpzs9tX.XFBoMYUZodetZdvTiFvSkQ'),
	('a private key of PGP', E'-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF0abcdefghijklmnopqrstuvwxyz0123456789\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----')) AS v(what, note),
	LATERAL clutch.inbound(jsonb_build_object('specversion', '1.0', 'id', '1', 'source', 'a', 'type', 't', 'data', jsonb_build_object('note', note)), 'http') AS e;
SELECT is(e #> '{meta,http,dropped}', NULL, 'the first line of a key of PGP is none')
FROM clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "data": {"note": "It begins with -----BEGIN PGP PRIVATE KEY BLOCK-----"}}', 'http') AS e;

-- a server of MCP wants its state back
SELECT is(e #> '{meta,mcp,dropped}', dropped, 'requestState: ' || left(state, 20)) FROM (VALUES (repeat('eyJhbGciOiJIUzI1NiJ9', 2) || '.eyJzdGVwIjoxfQ.c2lnbmF0dXJl', NULL::jsonb), ('Bearer ab12cd34ef56gh78ij90', '["/result/requestState"]'), ('"Bearer ab12cd34ef56gh78ij90"', '["/result/requestState"]'), ('{"password": "x", "step": 1}', NULL), ('[{"token": "AKIAIOSFODNN7EXAMPLE"}]', NULL)) AS v(state, dropped),
	LATERAL clutch.inbound(jsonb_build_object('jsonrpc', '2.0', 'id', 7, 'result', jsonb_build_object('resultType', 'input_required', 'inputRequests', '{}'::jsonb, 'requestState', state)), 'mcp', '{"session": "s1"}') AS e;
SELECT is(e #>> '{payload,tool}', '{"step": 1}', 'any other text that is JSON is searched') FROM clutch.inbound(jsonb_build_object('jsonrpc', '2.0', 'id', 7, 'method', 'tools/call', 'params', jsonb_build_object('name', 'skill.x', 'arguments', jsonb_build_object('tool', '{"password": "x", "step": 1}'))), 'mcp', '{"session": "s1"}') AS e;
SELECT * FROM finish();
ROLLBACK;
