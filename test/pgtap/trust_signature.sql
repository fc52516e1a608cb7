-- Signed envelopes (P8): a valid signature speaks for its agent, whichever role hands it in; one that is
-- not valid is refused, whichever role hands it in.  Tested as real roles.
\ir ../fixtures/tap.sql
\ir ../fixtures/ed25519.sql
\ir ../fixtures/signed.sql
SELECT plan(96);
SET clutch.notify = off;
CREATE ROLE clutch_test_gate LOGIN;		-- a gateway: may insert, speaks for nobody
CREATE ROLE clutch_test_ken LOGIN;
CREATE ROLE clutch_test_eve LOGIN;
GRANT USAGE ON SCHEMA ed25519, fixture TO PUBLIC;
GRANT USAGE ON SCHEMA clutch TO clutch_test_gate;
GRANT INSERT (envelope) ON clutch.events TO clutch_test_gate;
GRANT EXECUTE ON FUNCTION clutch.send(jsonb), clutch.envelope, clutch.signing_bytes(jsonb), clutch.check_signature(jsonb, timestamptz) TO clutch_test_gate;
SELECT clutch.grant_agent('clutch_test_ken', 'agent:ken', '{skill:x}', '{group:desk}'), clutch.grant_agent('clutch_test_eve', 'agent:eve') \g /dev/null
SELECT fixture.at(0) \g /dev/null

-- ------------------------------------------------------------ what is signed
CREATE TEMP TABLE example AS SELECT jsonb_build_object('v', 'clutch/0.1', 'b', 1.50, 'a', jsonb_build_array('ü', null),
	'security', jsonb_build_object('auth', jsonb_build_object('scheme', 'ed25519', 'kid', 'k1', 'sig', 'x'), 'policy', jsonb_build_object('sandbox', true))) AS e;
SELECT is(convert_from(clutch.signing_bytes(e), 'UTF8'),
	E'clutch/0.1 envelope\n\n{"a":["ü",null],"b":1.5,"security":{"auth":{"kid":"k1","scheme":"ed25519"},"policy":{"sandbox":true}},"v":"clutch/0.1"}',
	'the protocol, the audience, and the canonical envelope without the signature') FROM example;
SELECT is(clutch.signing_bytes(e #- '{security,auth,sig}'), clutch.signing_bytes(e), 'it need not be there yet') FROM example;
SELECT isnt(clutch.signing_bytes(e || '{"sig": "x"}'), clutch.signing_bytes(e || '{"sig": "y"}'), 'a field of that name elsewhere is signed') FROM example;
SELECT isnt(clutch.signing_bytes(jsonb_set(e, path, '"other"')), clutch.signing_bytes(e), path::text || ' is signed')
FROM example, (VALUES ('{v}'::text[]), ('{ts}'), ('{attempt}'), ('{trace}'), ('{security,policy}'), ('{security,auth,kid}')) AS v(path);
SET clutch.audience = 'prod-eu';
SELECT is(split_part(convert_from(clutch.signing_bytes(e), 'UTF8'), E'\n', 2), 'prod-eu', 'clutch.audience is the second line') FROM example;
RESET clutch.audience;
SELECT throws_ok($$ SET clutch.audience = E'a\nb' $$, '22023', NULL, 'and has no line break');
SELECT is(fixture.fault(format('SELECT clutch.signing_bytes(%L)', jsonb_build_object('payload', jsonb_build_array(number::numeric)))),
	'22003 NUMBER_NOT_EXACT /payload/0', number || ' cannot be signed')
FROM unnest('{9007199254740993,12345678901234567.25,0.1000000000000000055511151231257827,1e-400}'::text[]) AS number;
SELECT lives_ok($$ SELECT clutch.signing_bytes('{"a": [0.10, 1e2, 9007199254740992, -5e-324, 1e21]}') $$, 'what a double has as its shortest form can be');

-- --------------------------------------------------------------------- keys
SELECT is(fixture.called('clutch_test_ken', $$ fixture.add_key('agent:ken', 'k1', 'a') $$), '42501 NOT_AN_OPERATOR ', 'the role of an agent adds no keys');
SELECT is(fixture.called('postgres', call), result, call || ' is refused')
FROM (VALUES
	('fixture.add_key(''ken'', ''k1'', ''a'')', '22023 WRONG_PREFIX agent_id'),
	('fixture.add_key(''agent:'', ''k1'', ''a'')', '22023 WRONG_PREFIX agent_id'),
	('fixture.add_key(NULL, ''k1'', ''a'')', '22004 NULL_VALUE agent_id'),
	('fixture.add_key(''agent:ken'', '''', ''a'')', '22023 WRONG_FORMAT kid'),
	('fixture.add_key(''agent:ken'', E''k\n1'', ''a'')', '22023 WRONG_FORMAT kid'),
	('fixture.add_key(''agent:ken'', repeat(''k'', 257), ''a'')', '22023 WRONG_FORMAT kid'),
	('clutch.add_key(''agent:ken'', ''k1'', NULL)', '22004 NULL_VALUE public_key'),
	('clutch.add_key(''agent:ken'', ''k1'', ''\x00'')', '22023 WRONG_FORMAT public_key'),
	('clutch.add_key(''agent:ken'', ''k1'', sha256(''no point''))', '22023 WRONG_FORMAT public_key'),
	('fixture.add_key(''agent:ken'', ''k1'', ''a'', valid_until => ''2026-01-01 11:00Z'')', '22023 WRONG_VALUE valid_until'),
	('clutch.revoke_key(''agent:ken'', ''k1'')', '42704 KEY_NOT_FOUND kid')) AS v(call, result);
SELECT matches(fixture.hint_of($$ SELECT clutch.add_key('agent:ken', 'k1', '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=') $$), 'decode\(key, ''base64''\)',
	'the hint says how to decode a key that was passed as text');
SELECT fixture.add_key('agent:ken', 'k1', 'a', '2026-01-01 11:00Z') \g /dev/null
SELECT lives_ok($$ SELECT fixture.add_key('agent:ken', 'k1', 'a', '2026-01-01 11:00Z') $$, 'the same key may be added again');
SELECT lives_ok($$ SELECT fixture.add_key('agent:ken', 'k1', 'a') $$, 'also without its times');
SELECT is((SELECT count(*) FROM clutch.events WHERE payload_type = 'audit.key_added'), 1::bigint, 'which changes nothing');
SELECT is(fixture.called('postgres', $$ fixture.add_key('agent:ken', 'k1', 'b') $$), '23505 KEY_EXISTS kid', 'another one without times may not');
SELECT is(fixture.called('postgres', $$ fixture.add_key('agent:ken', 'k1', 'b', '2026-01-01 11:00Z') $$), '23505 KEY_EXISTS kid', 'another one of that name may not');
SELECT is(fixture.called('postgres', $$ fixture.add_key('agent:ken', 'k1', 'a', '2026-01-01 11:00Z', '2027-01-01Z') $$), '23505 KEY_EXISTS kid', 'nor may its end be changed');
SELECT is(fixture.called('postgres', $$ fixture.add_key('agent:ken', 'k1', 'a', '2026-01-01 10:00Z') $$), '23505 KEY_EXISTS kid', 'nor its beginning');
SELECT fixture.add_key('agent:eve', 'k1', 'b') \g /dev/null
SELECT fixture.answers($$ SELECT agent_id, kid, octet_length(public_key), valid_from, valid_until, revoked_at, is_valid FROM clutch.keys ORDER BY 1 $$,
	$$ VALUES ('agent:eve', 'k1', 32, timestamptz '2026-01-01 12:00Z', NULL::timestamptz, NULL::timestamptz, true), ('agent:ken', 'k1', 32, '2026-01-01 11:00Z', NULL, NULL, true) $$,
	'the view keys lists them; two agents may have keys of one name');
SELECT fixture.answers($$ SELECT payload_type, envelope #>> '{payload,agent_id}', envelope #>> '{payload,by}', decode(envelope #>> '{payload,public_key}', 'base64') = (SELECT bytes FROM fixture.public_key WHERE letter = 'a')
		FROM clutch.events WHERE run_id = 'run:audit' AND envelope #>> '{payload,agent_id}' = 'agent:ken' $$,
	$$ VALUES ('audit.key_added', 'agent:ken', current_user::text, true) $$, 'an event of the audit says who has added which');

-- ------------------------------------------------------------------ the door
SELECT is(fixture.sent('clutch_test_gate', fixture.note('1')), '42501 NOT_YOUR_AGENT /from/agent_id', 'without a signature, the gateway speaks for nobody');
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('1')), 'admitted', 'with one, it hands in what the agent says');
SELECT is((SELECT envelope #>> '{security,auth,kid}' FROM clutch.events WHERE id = 'msg_1'), 'k1', 'which stays in the log as it was signed');
SELECT is(fixture.sent('clutch_test_gate', envelope), 'there already', 'a resend is dropped') FROM clutch.events WHERE id = 'msg_1';

CREATE TEMP TABLE good AS SELECT fixture.signed_note('2') AS e;
GRANT SELECT ON good TO PUBLIC;
SELECT is(fixture.sent(role_name, jsonb_set(e, path, value)), result, format('%s: %s of a signed envelope changed', role_name, path))
FROM good, (VALUES
	('{payload,text}'::text[], '"goodbye"'::jsonb, 'KL006 BAD_SIGNATURE /security/auth/sig'),
	('{to}', '[{"agent_id": "agent:eve"}]', 'KL006 BAD_SIGNATURE /security/auth/sig'),
	('{run_id}', '"run:other"', 'KL006 BAD_SIGNATURE /security/auth/sig'),
	('{from,agent_id}', '"agent:eve"', 'KL006 BAD_SIGNATURE /security/auth/sig'),
	('{security,auth,kid}', '"k2"', 'KL006 UNKNOWN_KEY /security/auth/kid'),
	('{security,auth,sig}', '"..."', 'KL006 WRONG_FORMAT /security/auth/sig'),
	('{security,auth,scheme}', '"rsa"', 'KL001 WRONG_VALUE /security/auth/scheme'),
	('{payload,n}', '9007199254740993', 'KL006 NUMBER_NOT_EXACT /payload/n')) AS v(path, value, result),
	unnest('{clutch_test_gate,clutch_test_ken}'::text[]) AS role_name;
SELECT is(fixture.sent('postgres', jsonb_set(e, '{payload,text}', '"x"')), 'KL006 BAD_SIGNATURE /security/auth/sig', 'also if a superuser sends it') FROM good;
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('2', kid => 'k1', letter => 'b')), 'KL006 BAD_SIGNATURE /security/auth/sig', 'the key of another agent is not a key of this one');
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('2', agent => 'agent:lois', kid => 'k1', letter => 'b')), 'KL006 UNKNOWN_KEY /security/auth/kid', 'nor does it speak for one that has no key');
SELECT is(fixture.sent('clutch_test_gate', jsonb_set(e, '{security,auth,sig}', to_jsonb(rtrim(translate(e #>> '{security,auth,sig}', '+/', '-_'), '=')))), 'admitted',
	'the signature may be in the alphabet for URLs, without padding') FROM good;
SET clutch.audience = 'elsewhere';
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('3') #- '{security,policy}'), 'admitted', 'an envelope that is signed for the database');
RESET clutch.audience;
SELECT is(fixture.sent('clutch_test_gate', jsonb_set(envelope, '{id}', '"msg_4"')), 'KL006 BAD_SIGNATURE /security/auth/sig', 'is refused by one of another name')
FROM clutch.events WHERE id = 'msg_3';

-- ---------------------------------------------------------- time and replay
CREATE TEMP TABLE late AS SELECT fixture.signed_note('5') AS e, fixture.signed_note('6') AS other, fixture.signed_note('edge') AS edge, fixture.signed_note('7', more => '{"ts": "2026-01-01T12:10:01Z"}') AS early;
GRANT SELECT ON late TO PUBLIC;
SELECT is(fixture.sent('clutch_test_gate', e), 'admitted', 'an envelope of now') FROM late;
SELECT is(fixture.sent('clutch_test_gate', early), 'KL006 SIGNATURE_STALE /ts', 'one that is signed for a time far ahead is refused') FROM late;
SELECT fixture.at(300) \g /dev/null
SELECT is(fixture.sent('clutch_test_gate', envelope), 'there already', 'until clutch.signature_skew has passed, it is known') FROM clutch.events WHERE id = 'msg_5';
SELECT is(fixture.sent('clutch_test_gate', edge), 'admitted', 'and one that is not is taken') FROM late;
SELECT fixture.at(301) \g /dev/null
SELECT is(fixture.sent('clutch_test_gate', e), 'there already', 'after that too, if it is in the log') FROM late;
SELECT is(fixture.sent('clutch_test_gate', other), 'KL006 SIGNATURE_STALE /ts', 'if it is not, it is refused') FROM late;
SELECT is(fixture.sent('clutch_test_gate', early), 'admitted', 'a time that is near now is right') FROM late;
SELECT is(fixture.sent('clutch_test_ken', other), 'admitted', 'a role that speaks for the agent may send what was signed long ago') FROM late;

-- ------------------------------------------------- rotation, end, revocation
SELECT fixture.add_key('agent:ken', 'k2', 'c', valid_until => '2026-01-01 13:00Z') \g /dev/null
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('8', kid => 'k2', letter => 'c')), 'admitted', 'a second key is valid');
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('9')), 'admitted', 'beside the first one');
SELECT is(fixture.called('clutch_test_eve', $$ clutch.revoke_key('agent:ken', 'k1') $$), '42501 NOT_YOUR_AGENT agent_id', 'nobody revokes the key of a stranger');
SELECT fixture.at(302) \g /dev/null
SELECT is(fixture.called('clutch_test_ken', $$ clutch.revoke_key('agent:ken', 'k1') $$), 'done', 'an agent may revoke its own');
SELECT lives_ok($$ SELECT clutch.revoke_key('agent:ken', 'k1') $$, 'which may be done again');
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('10')), 'KL006 KEY_REVOKED /security/auth/kid', 'what it signs is refused');
SELECT is(fixture.sent('clutch_test_ken', fixture.signed_note('10')), 'KL006 KEY_REVOKED /security/auth/kid', 'whoever sends it');
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('10', letter => 'b')), 'KL006 BAD_SIGNATURE /security/auth/sig', 'whoever has not signed with it does not learn that it is revoked');
SELECT is(fixture.called('postgres', $$ fixture.add_key('agent:ken', 'k1', 'a', '2026-01-01 11:00Z') $$), '23505 KEY_EXISTS kid', 'it does not come back');
SELECT throws_ok($$ SELECT fixture.add_key('agent:ken', 'k1', 'a') $$, '23505', '"agent:ken" has had the key "k1", which was revoked', 'and the message says why');
SELECT throws_ok($$ SELECT fixture.add_key('agent:ken', 'k2', 'c', valid_until => '2026-01-01 14:00Z') $$, '23505', '"agent:ken" has the key "k2" with other times', 'or that its times differ');
SELECT is((SELECT count(*)::int FROM clutch.events e, clutch.check_signature(e.envelope, e.received_at) WHERE e.envelope #>> '{security,auth,kid}' = 'k1' AND e.id <> 'msg_3'), 0,
	'what it has signed before stays verified');
SELECT is((SELECT string_agg(DISTINCT code, ' ') FROM clutch.events e, clutch.check_signature(e.envelope) WHERE e.envelope #>> '{security,auth,kid}' = 'k1' AND e.id <> 'msg_3'), 'KEY_REVOKED',
	'by the time when it was received');
SELECT is((SELECT string_agg(code || ' ' || path, ', ') FROM clutch.check_signature(fixture.note('11'))), 'REQUIRED /security/auth', 'an envelope without a signature has none that is valid');
SELECT is((SELECT string_agg(code, ', ') FROM clutch.check_signature(jsonb_set(envelope, '{payload,text}', '"forged"'), received_at)), 'BAD_SIGNATURE', 'nor has a forged one')
FROM clutch.events WHERE id = 'msg_8';
SELECT fixture.at(3600) \g /dev/null
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('12', kid => 'k2', letter => 'c')), 'KL006 KEY_NOT_VALID /security/auth/kid', 'a key ends at its time');
SELECT fixture.add_key('agent:ken', 'k3', 'a', '2026-01-01 14:00Z') \g /dev/null
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('12', kid => 'k3')), 'KL006 KEY_NOT_VALID /security/auth/kid', 'and begins at its time');
SELECT is((SELECT string_agg(kid || ' ' || is_valid, ', ' ORDER BY kid) FROM clutch.keys WHERE agent_id = 'agent:ken'), 'k1 false, k2 false, k3 false', 'the view says so');
SELECT fixture.at(7200) \g /dev/null
BEGIN;
SAVEPOINT s;
SELECT fixture.add_key('agent:ken', 'k4', 'a') \g /dev/null
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('13', kid => 'k4')), 'admitted', 'a key that the transaction has added');
ROLLBACK TO s;
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('14', kid => 'k4')), 'KL006 UNKNOWN_KEY /security/auth/kid', 'is forgotten when it is rolled back');
COMMIT;
BEGIN;
SELECT fixture.add_key('agent:ken', 'k5', 'a') \g /dev/null
SELECT fixture.sent('clutch_test_gate', fixture.signed_note('15', kid => 'k5')) AS sent \gset
PREPARE TRANSACTION 'clutch_test_key';
SELECT is(:'sent'::text, 'admitted', 'a key that the transaction has added');
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('16', kid => 'k5')), 'KL006 UNKNOWN_KEY /security/auth/kid', 'is forgotten when it is prepared');
ROLLBACK PREPARED 'clutch_test_key';
SELECT is(fixture.sent('clutch_test_gate', fixture.signed_note('16', kid => 'k5')), 'KL006 UNKNOWN_KEY /security/auth/kid', 'and not there when that is rolled back');
UPDATE clutch.agent_key SET revoked_at = now() WHERE kid = 'k3';
SELECT is((SELECT is_valid FROM clutch.keys WHERE kid = 'k3'), false, 'a key that an owner revokes by hand');

SELECT * FROM finish();
DROP OWNED BY clutch_test_gate, clutch_test_ken, clutch_test_eve;
DROP ROLE clutch_test_gate, clutch_test_ken, clutch_test_eve;
