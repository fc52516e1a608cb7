-- The documents that the database builds are jsonb as the server itself makes
-- it: every event, read as text and parsed again, is the same, key for key.
\set QUIET on
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS clutch;
SELECT plan(9);

CREATE FUNCTION pg_temp.is_sound(document jsonb) RETURNS boolean LANGUAGE sql AS $$
	-- the columns of a composite are compared byte by byte, images and all
	SELECT record_image_eq(ROW(document), ROW(document::text::jsonb))
$$;

SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:a' || n,
	'capabilities', jsonb_build_array(jsonb_build_object('id', 'skill:x', 'version', '1.0')),
	'limits', jsonb_build_object('max_concurrency', n))) FROM generate_series(1, 45) n \g /dev/null
INSERT INTO clutch.events (envelope)
SELECT clutch.envelope('task.request', 'agent:client', payload => jsonb_build_object('n', n),
	requires => ARRAY['skill:x'], prefers => ARRAY['tag:a', 'skill:x@^1'], task_id => 'task:' || n)
FROM generate_series(1, 60) n;
INSERT INTO clutch.events (envelope)
SELECT clutch.envelope('task.request', 'agent:client', requires => ARRAY['skill:none']);
SELECT count(*) FROM clutch.claim('agent:a40', 3) \g /dev/null

SELECT is(pg_temp.is_sound('{"a": 1}'), true, 'a document that the server parsed is sound');
SELECT is((SELECT count(*) FROM clutch.events WHERE NOT pg_temp.is_sound(envelope)), 0::bigint, 'so is every event');
SELECT cmp_ok((SELECT count(DISTINCT type) FROM clutch.events), '>=', 5::bigint, 'of several types');
SELECT is(pg_temp.is_sound(clutch.route(clutch.envelope('task.request', 'agent:client', requires => ARRAY['skill:x']))), true, 'a decision');
SELECT is(pg_temp.is_sound(clutch.route(clutch.envelope('task.request', 'agent:client', requires => ARRAY['skill:y']))), true, 'a failure');

-- values of every kind, nested, and so many that entries hold offsets
CREATE TEMP TABLE kept AS
SELECT (SELECT jsonb_object_agg(repeat('k', n % 7 + 1) || n, CASE n % 6 WHEN 0 THEN 'null' WHEN 1 THEN 'true' WHEN 2 THEN to_jsonb(n / 3.0)
	WHEN 3 THEN to_jsonb(repeat('ä', n)) WHEN 4 THEN jsonb_build_array(n, '[]'::jsonb, '{}'::jsonb, false) ELSE jsonb_build_object('x', n, 'y', '{"z": null}'::jsonb) END)
	FROM generate_series(1, 100) n) AS odd;
SELECT is((SELECT bool_and(pg_temp.is_sound(clutch.envelope('chat.message', 'agent:client', payload => odd, meta => odd,
	trace => '{}', security => '{"auth": null}', attachments => '[]', priority => 3, after => ARRAY['task:1', NULL], requires => '{}'))) FROM kept), true,
	'an envelope with a hundred keys of every kind');
SELECT is((SELECT clutch.envelope('chat.message', 'agent:client', payload => odd, meta => odd, priority => 3) #> '{payload}' FROM kept),
	(SELECT odd FROM kept), 'keeps its payload');
SELECT is((SELECT clutch.envelope('chat.message', 'agent:client', payload => '7') #> '{payload}'), '7', 'a scalar stays a scalar');
SELECT is((SELECT clutch.envelope('chat.message', 'agent:client', meta => odd || '{"clutch": {"priority": 1, "x": 2}}', priority => 3) #> '{meta}' FROM kept),
	(SELECT odd || '{"clutch": {"priority": 3, "x": 2}}' FROM kept), 'the later of two equal keys counts');
SELECT * FROM finish();
ROLLBACK;
