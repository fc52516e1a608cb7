-- Spec 8.2: content outside of envelopes. It is kept once, read in ranges, seen by
-- whoever takes part in a run that attaches it, and goes when nothing uses it.
\ir ../fixtures/tap.sql
SELECT plan(73);

SELECT set_config('clutch.notify', 'off', false), set_config('clutch.seal_interval', '0', false) \g /dev/null
SELECT fixture.agent('ken', 20), fixture.agent('lois', 20) \g /dev/null
CREATE ROLE artifact_ken;
CREATE ROLE artifact_lois;
CREATE ROLE artifact_perry;
CREATE ROLE artifact_reader;
SELECT clutch.grant_agent('artifact_ken', 'agent:ken'), clutch.grant_agent('artifact_lois', 'agent:lois'),
	clutch.grant_agent('artifact_perry', 'agent:perry'), clutch.grant_reader('artifact_reader') \g /dev/null

-- "SQLSTATE CODE place" of what a statement raises
CREATE FUNCTION pg_temp.fault(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', SQLSTATE, CASE WHEN detail LIKE '[%' THEN concat_ws(' ', detail::jsonb #>> '{0,code}', coalesce(detail::jsonb #>> '{0,argument}', detail::jsonb #>> '{0,path}')) END);
END $$;
-- so many bytes that are easy to tell apart
CREATE FUNCTION pg_temp.bytes(n int, salt text DEFAULT '') RETURNS bytea LANGUAGE sql AS
$$ SELECT substr(string_agg(sha256(convert_to(salt || i, 'UTF8')), '' ORDER BY i), 1, n) FROM generate_series(0, n / 32) i $$;
CREATE FUNCTION pg_temp.attached(ref text) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_array(jsonb_build_object('kind', 'artifact_ref', 'ref', ref)) $$;
CREATE FUNCTION pg_temp.say(ref text, run text, who text DEFAULT 'agent:ken', whom text DEFAULT 'agent:lois') RETURNS bigint LANGUAGE sql AS $$
	SELECT seq FROM clutch.send(clutch.envelope('chat.message', who, ARRAY[whom], run_id => run, thread_id => 'thread:1', attachments => pg_temp.attached(ref)))
$$;

-- -------------------------------------------------------------- small content
SET ROLE artifact_ken;
SELECT clutch.put_artifact('hello', 'text/plain') AS hello \gset
SELECT is(:'hello', 'artifact:sha256:' || encode(sha256('hello'), 'hex'), 'the reference is the digest of the content');
SELECT is(clutch.put_artifact('hello', 'text/html'), :'hello', 'the same content has the same reference');
SELECT is(clutch.get_artifact(:'hello'), 'hello'::bytea, 'the content comes back');
SELECT clutch.put_artifact('', 'text/plain') AS empty \gset
SELECT is(clutch.get_artifact(:'empty'), ''::bytea, 'also if there is none');
SELECT is(pg_temp.fault($$SELECT clutch.get_artifact('artifact:report_456')$$), '22023 WRONG_FORMAT ref', 'another form of reference is none of this database');
SELECT throws_ok(format('SELECT clutch.get_artifact(%L)', 'x' || repeat('ü', 100)), '22023', 'invalid reference "x' || repeat('ü', 39) || '..."', 'a long one is shown up to a whole character');
SELECT throws_ok(format('SELECT clutch.put_artifact(%L, %L)', 'x', repeat('ü', 200)), '22023', 'invalid media type "' || repeat('ü', 40) || '..."', 'a media type, too');
SELECT is(pg_temp.fault($$SELECT clutch.get_artifact('artifact:sha256:' || repeat('AB', 32))$$), '22023 WRONG_FORMAT ref', 'digits are in lower case');
SELECT is(pg_temp.fault($$SELECT clutch.get_artifact('artifact:sha256:' || repeat('ab', 32))$$), '42704 ARTIFACT_NOT_FOUND ref', 'an artifact that is not there');
SELECT is(pg_temp.fault($$SELECT clutch.put_artifact('x', 'text')$$), '22023 WRONG_FORMAT media_type', 'a media type has two parts');
SELECT is(pg_temp.fault($$SELECT clutch.put_artifact(NULL, 'text/plain')$$), '22004 NULL_VALUE content', 'no content');
SELECT is(pg_temp.fault(format('SELECT clutch.get_artifact(%L, -1)', :'hello')), '22023 NUMBER_OUT_OF_RANGE from_byte', 'a range begins in the content');
SELECT is(pg_temp.fault(format('SELECT clutch.get_artifact(%L, 0, -1)', :'hello')), '22023 NUMBER_OUT_OF_RANGE bytes', 'and has a length');
RESET ROLE;
SELECT is((SELECT count(*) FROM clutch.artifact_chunk), 1::bigint, 'it is stored once');
SELECT is((SELECT ROW(media_type, bytes, events)::text FROM clutch.artifacts WHERE ref = :'hello'), '(text/plain,5,0)', 'the view shows what the first upload said');

-- -------------------------------------------------------------- large content
CREATE TEMP TABLE large AS SELECT pg_temp.bytes(3000000) AS content;
GRANT SELECT ON large TO PUBLIC;
SET ROLE artifact_ken;
SELECT clutch.put_artifact(content, 'application/octet-stream') AS large FROM large \gset
SELECT ok((SELECT clutch.get_artifact(:'large') = content FROM large), 'content of three megabytes comes back');
SELECT is((SELECT count(*) FROM large, (VALUES (0, 10), (1048570, 12), (1048576, 1), (2097151, 2), (2999990, 100), (3000000, 5), (9999999, 5), (5, 2500000)) r(a, n)
	WHERE clutch.get_artifact(:'large', a, n) <> substr(content, a + 1, n)), 0::bigint, 'and so does any range');
SELECT clutch.begin_artifact('application/pdf') AS upload \gset
SELECT is(clutch.append_artifact(:upload, substr(content, 1, 1000)), 1000::bigint, 'a piece is appended') FROM large;
SELECT is(clutch.append_artifact(:upload, ''), 1000::bigint, 'an empty one, too');
SELECT is(clutch.append_artifact(:upload, substr(content, 1001, 2000000)), 2001000::bigint, 'and a large one') FROM large;
SET ROLE artifact_lois;
SELECT is(pg_temp.fault(format('SELECT clutch.append_artifact(%s, ''x'')', :upload)), '42704 UPLOAD_NOT_FOUND upload', 'by nobody else');
SELECT is(pg_temp.fault(format('SELECT clutch.finish_artifact(%s)', :upload)), '42704 UPLOAD_NOT_FOUND upload', 'who does not finish it either');
SET ROLE artifact_ken;
SELECT clutch.append_artifact(:upload, substr(content, 2001001, 1000000) || 'end') FROM large \g /dev/null
SELECT clutch.finish_artifact(:upload) AS pieces \gset
SELECT is(:'pieces', (SELECT 'artifact:sha256:' || encode(sha256(content || 'end'), 'hex') FROM large), 'pieces have the digest of the whole');
SELECT ok((SELECT clutch.get_artifact(:'pieces') = content || 'end' FROM large), 'and its content');
SELECT ok((SELECT clutch.get_artifact(:'pieces', 999, 3) = substr(content, 1000, 3) FROM large), 'whose ranges do not show the pieces');
SELECT is(pg_temp.fault(format('SELECT clutch.append_artifact(%s, ''x'')', :upload)), '42704 UPLOAD_NOT_FOUND upload', 'a finished upload is over');
SELECT clutch.begin_artifact('application/pdf') AS again \gset
SELECT clutch.append_artifact(:again, content) FROM large \g /dev/null
SELECT is(clutch.finish_artifact(:again), :'large', 'an upload of content that is there');
RESET ROLE;
SELECT is((SELECT count(*) FROM clutch.artifact_chunk WHERE content_no = :again), 0::bigint, 'leaves nothing behind');
SET clutch.max_artifact_size = 1;
SELECT is(pg_temp.fault('SELECT clutch.put_artifact(content, ''a/b'') FROM large'), '54000 TOO_LARGE content', 'there is a limit');
SELECT clutch.begin_artifact('application/pdf') AS too_large \gset
SELECT clutch.append_artifact(:too_large, substr(content, 1, 1000000)) FROM large \g /dev/null
SELECT is(pg_temp.fault(format('SELECT clutch.append_artifact(%s, substr(content, 1, 100000)) FROM large', :too_large)), '54000 TOO_LARGE content', 'for pieces, too');
RESET clutch.max_artifact_size;

-- --------------------------------------------------------------- who may read
SET ROLE artifact_lois;
SELECT is(pg_temp.fault(format('SELECT clutch.get_artifact(%L)', :'hello')), '42704 ARTIFACT_NOT_FOUND ref', 'a stranger does not read it');
SELECT pg_temp.say(:'hello', 'run:stolen', 'agent:lois', 'agent:lois') \g /dev/null
SELECT is(pg_temp.fault(format('SELECT clutch.get_artifact(%L)', :'hello')), '42704 ARTIFACT_NOT_FOUND ref', 'nor by attaching it to a message of its own');
SET ROLE artifact_ken;
SELECT pg_temp.say(:'hello', 'run:shared') AS said \gset
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ken', '{agent:lois}', run_id => 'run:shared', thread_id => 'thread:1',
	attachments => pg_temp.attached(:'hello') || pg_temp.attached(:'hello'))) \g /dev/null
SET ROLE artifact_lois;
SELECT is(clutch.get_artifact(:'hello'), 'hello'::bytea, 'those who take part in a run that attaches it read it');
SELECT is(pg_temp.fault(format('SELECT clutch.get_artifact(%L)', :'large')), '42704 ARTIFACT_NOT_FOUND ref', 'and nothing else');
SET ROLE artifact_perry;
SELECT is(pg_temp.fault(format('SELECT clutch.get_artifact(%L)', :'hello')), '42704 ARTIFACT_NOT_FOUND ref', 'others do not');
SELECT clutch.put_artifact('hello', 'text/plain') \g /dev/null
SELECT is(clutch.get_artifact(:'hello'), 'hello'::bytea, 'unless they have the content themselves');
SELECT is(pg_temp.fault('SELECT * FROM clutch.artifact_chunk'), '42501', 'tables are closed to agents');
SET ROLE artifact_reader;
SELECT is(clutch.get_artifact(:'large', 0, 1), (SELECT substr(content, 1, 1) FROM large), 'a reader reads all');
SELECT is(pg_temp.fault($$SELECT clutch.put_artifact('x', 'text/plain')$$), '42501', 'and uploads nothing');
RESET ROLE;
SELECT is((SELECT events FROM clutch.artifacts WHERE ref = :'hello'), 2::bigint, 'events are counted');

-- ------------------------------------------------------------ dangling references
SELECT isnt(pg_temp.say('artifact:report_456', 'run:2', 'agent:ken'), NULL, 'a reference to another store is allowed');
SET clutch.dangling_artifacts = refuse;
SELECT is(pg_temp.fault($$SELECT pg_temp.say('artifact:report_456', 'run:2')$$), 'KL001 ARTIFACT_NOT_FOUND /attachments/0/ref', 'unless the setting refuses it');
SELECT isnt(pg_temp.say(:'large', 'run:2'), NULL, 'an artifact that is there is not refused');
SET ROLE artifact_lois;
SELECT is(pg_temp.fault(format('SELECT pg_temp.say(%L, ''run:lois'', ''agent:lois'')', :'pieces')), 'KL001 ARTIFACT_NOT_FOUND /attachments/0/ref', 'one that the sender may not read is not there');
RESET ROLE;
RESET clutch.dangling_artifacts;

-- ------------------------------------------------------------- what is rolled back
BEGIN;
SELECT clutch.put_artifact('in vain', 'text/plain') AS vain \gset
SELECT is(clutch.get_artifact(:'vain'), 'in vain'::bytea, 'a transaction reads what it has uploaded');
ROLLBACK;
SELECT is((SELECT count(*) FROM clutch.artifact WHERE bytes = 7) + (SELECT count(*) FROM clutch.artifact_chunk WHERE content = 'in vain'), 0::bigint, 'and if it is rolled back, nothing of that is left');

-- -------------------------------------------------------------------- metrics
SELECT is((SELECT jsonb_object_agg(labels ->> 'state', value) FROM clutch.metrics() WHERE name = 'clutch_artifacts'), '{"attached": 2, "unused": 2, "unfinished": 1}', 'artifacts are counted by state');
SELECT is((SELECT jsonb_object_agg(labels ->> 'state', value) FROM clutch.metrics() WHERE name = 'clutch_artifact_bytes'), '{"attached": 3000005, "unused": 3000003, "unfinished": 1000000}', 'and so are their bytes');
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_artifact_chunks_unreferenced'), 0::double precision, 'each chunk belongs to something');
BEGIN;
DELETE FROM clutch.artifact WHERE digest = right(:'large', 64);
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_artifact_chunks_unreferenced'), 3::double precision, 'unless somebody has deleted rows');
ROLLBACK;

-- -------------------------------------------------------------- missing chunks
BEGIN;
CREATE FUNCTION pg_temp.document(ref text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.outbound(clutch.envelope('chat.message', 'agent:ken', '{agent:lois}')
		|| jsonb_build_object('payload', jsonb_build_object('data', ref), 'meta', jsonb_build_object('http', jsonb_build_object('blobs', jsonb_build_array(ref)))), 'http')
$$;
SELECT ok((SELECT strpos(pg_temp.document(:'large')::text, replace(encode(substr(content, 1, 2999997), 'base64'), E'\n', '')) > 0 FROM large), 'a document has the bytes of an artifact');
DELETE FROM clutch.artifact_chunk c USING clutch.artifact a WHERE a.content_no = c.content_no AND a.digest = right(:'large', 64) AND c.first_byte = 1048576;
SELECT is(pg_temp.fault(format('SELECT clutch.get_artifact(%L)', :'large')), 'XX001 ARTIFACT_INCOMPLETE ref', 'an artifact of which a chunk is missing is not returned');
SELECT is(pg_temp.fault(format('SELECT clutch.get_artifact(%L, 1048575, 2)', :'large')), 'XX001 ARTIFACT_INCOMPLETE ref', 'nor is a range of it');
SELECT is(clutch.get_artifact(:'large', 2097152), (SELECT substr(content, 2097153) FROM large), 'unless all of that is there');
SELECT is(pg_temp.fault(format('SELECT pg_temp.document(%L)', :'large')), 'XX001 ARTIFACT_INCOMPLETE envelope', 'and no document is made of it');
SELECT is((SELECT string_agg(code || ' ' || detail, ', ') FROM clutch.check()), 'ARTIFACT_INCOMPLETE ' || :'large' || ' has 3000000 bytes, but chunks of it are missing', 'check() reports it');
ROLLBACK;

-- -------------------------------------------------------------------- removal
-- content that is uploaded again
CREATE FUNCTION pg_temp.set_age(content bytea, age interval) RETURNS void LANGUAGE sql AS
$$ UPDATE clutch.artifact SET uploaded_at = clock_timestamp() - age WHERE digest = encode(sha256(content), 'hex') $$;
CREATE FUNCTION pg_temp.age(content bytea) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce((SELECT to_char(clock_timestamp() - uploaded_at, 'DD HH24') FROM clutch.artifact WHERE digest = encode(sha256(content), 'hex')), 'gone') $$;
CREATE FUNCTION pg_temp.upload(content bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	upload bigint := clutch.begin_artifact('text/plain');
BEGIN
	PERFORM clutch.append_artifact(upload, content);
	RETURN clutch.finish_artifact(upload);
END $$;
SELECT clutch.put_artifact(c, 'text/plain'), pg_temp.set_age(c, '2 days') FROM unnest('{again,pieces,once}'::bytea[]) AS c \g /dev/null
SELECT clutch.put_artifact('again', 'text/plain'), pg_temp.upload('pieces') \g /dev/null
SELECT is(pg_temp.age('again') || ', ' || pg_temp.age('pieces') || ', ' || pg_temp.age('once'), '00 00, 00 00, 02 00', 'content that is uploaded again is new');
SELECT pg_temp.set_age('again', '5 h') \g /dev/null
SELECT clutch.put_artifact('again', 'text/plain') \g /dev/null
SELECT is(pg_temp.age('again'), '00 05', 'unless the last upload was not long ago');
SELECT pg_temp.set_age('again', '29 h') \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.age('again') || ', ' || pg_temp.age('pieces') || ', ' || pg_temp.age('once'), '01 05, 00 00, gone', 'so it goes so much later');
DELETE FROM clutch.artifact_owner WHERE digest IN (SELECT encode(sha256(c), 'hex') FROM unnest('{again,pieces}'::bytea[]) AS c);
DELETE FROM clutch.artifact_chunk k USING clutch.artifact a WHERE a.content_no = k.content_no AND a.digest IN (SELECT encode(sha256(c), 'hex') FROM unnest('{again,pieces}'::bytea[]) AS c);
DELETE FROM clutch.artifact WHERE digest IN (SELECT encode(sha256(c), 'hex') FROM unnest('{again,pieces}'::bytea[]) AS c);
SELECT is((SELECT count(*) FROM clutch.artifact), 4::bigint, 'nothing goes before the grace period is over');
SET clutch.artifact_grace = 0;
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT array_agg(ref ORDER BY ref) FROM clutch.artifacts), (SELECT array_agg(r ORDER BY r) FROM unnest(ARRAY[:'hello', :'large']) r), 'then what nothing attaches goes');
SELECT is((SELECT count(*) FROM clutch.artifact_upload), 0::bigint, 'and what nobody has finished');
SELECT clutch.put_artifact('both', 'text/plain') AS both \gset
SELECT pg_temp.say(:'both', 'run:first'), pg_sleep(0.001), clutch.now() AS between \gset
SELECT pg_temp.say(:'both', 'run:second') \g /dev/null
SELECT clutch.prune(:'between'), clutch.tick() \g /dev/null
SELECT is(clutch.get_artifact(:'both'), 'both'::bytea, 'what several runs attach stays until the last of them is pruned');
SELECT is((SELECT string_agg(u.run_id, ' ') FROM clutch.artifact_use u WHERE u.digest = right(:'both', 64)), 'run:second', 'which is the only one that still uses it');
SELECT clutch.redact(seq, 'on request') FROM clutch.events WHERE run_id = 'run:2' AND envelope::text LIKE '%' || :'large' || '%' \g /dev/null
SELECT clutch.prune(clutch.now() + interval '1 h') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.artifact_use), 0::bigint, 'what is pruned or redacted attaches nothing');
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.artifact) + (SELECT count(*) FROM clutch.artifact_chunk) + (SELECT count(*) FROM clutch.artifact_owner), 0::bigint, 'so the content goes, too');

RESET ROLE;
DROP OWNED BY artifact_ken, artifact_lois, artifact_perry, artifact_reader;
DROP ROLE artifact_ken, artifact_lois, artifact_perry, artifact_reader;
-- what is kept elsewhere
CREATE FUNCTION pg_temp.attached(kind text, ref text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(f.path || ' ' || f.code, ', '), 'valid') FROM clutch.validate(clutch.envelope('chat.message', 'agent:a', '{agent:a}',
		attachments => jsonb_build_array(jsonb_build_object('kind', kind, 'ref', ref)))) AS f
$$;
SELECT is(pg_temp.attached('uri', 'https://a.example/b?c=d#e'), 'valid', 'an absolute URI may be attached');
SELECT is(pg_temp.attached('uri', 'urn:isbn:0451450523'), 'valid', 'of any scheme');
SELECT is(pg_temp.attached('uri', '/b'), '/attachments/0/ref WRONG_FORMAT', 'a relative one may not');
SELECT is(pg_temp.attached('uri', 'https://a.example/b c'), '/attachments/0/ref WRONG_FORMAT', 'nor one with a blank');
SELECT is(pg_temp.attached('uri', 'https:'), '/attachments/0/ref WRONG_FORMAT', 'nor a scheme alone');
SELECT is(pg_temp.attached('link', 'https://a.example/b'), '/attachments/0/ref WRONG_PREFIX', 'nor under another kind');

-- ------------------------------------------------------------------- digests
SELECT is_empty($$
	SELECT n FROM unnest('{1,55,56,64,254,255,256,257,320,70000}'::int[]) n
	WHERE clutch.put_artifact(pg_temp.bytes(n), 'text/plain') <> 'artifact:sha256:' || encode(sha256(pg_temp.bytes(n)), 'hex')
$$, 'short and long contents, which are hashed in different ways, have their digests');

SELECT * FROM finish();
