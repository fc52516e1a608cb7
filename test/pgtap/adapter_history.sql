-- Documents of other protocols, after their events have gone to another database, and after
-- they have been redacted.
\ir ../fixtures/tap.sql
\ir ../fixtures/loader.sql
\set all `cd test/fixtures/adapters 2>/dev/null || cd ../fixtures/adapters; for name in a2a autogen collab crewai http langgraph map mcp multiagent peer; do printf ',{"name": "%s", "file": ' $name; cat $name.json; printf '}'; done`
SELECT plan(9);

SELECT set_config('clutch.notify', 'off', false) \g /dev/null
SET client_min_messages = error;
CREATE TABLE fixture.sample AS
SELECT f ->> 'name' AS adapter, s ->> 'name' AS name, s -> 'raw' AS raw, coalesce(s -> 'context', '{}') AS context
FROM jsonb_array_elements(('[' || substr(:'all', 2) || ']')::jsonb) AS f, jsonb_array_elements(f #> '{file,samples}') AS s
WHERE coalesce((s ->> 'send')::boolean, true);

-- Takes in all samples, each of which may refuse what another one has said before.
CREATE FUNCTION pg_temp.take() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	s fixture.sample;
	n bigint := 0;
BEGIN
	FOR s IN SELECT * FROM fixture.sample LOOP
		BEGIN
			PERFORM clutch.ingest(s.raw, s.adapter, s.context);
			n := n + 1;
		EXCEPTION WHEN OTHERS THEN
			RAISE DEBUG '%: %', s.name, SQLERRM;
		END;
	END LOOP;
	RETURN n;
END $$;
SELECT is(pg_temp.take(), (SELECT count(*) FROM fixture.sample), 'all documents are taken');
CREATE TABLE outcome AS SELECT e.run_id, e.id, a.name AS adapter, clutch.outbound(e.envelope, a.name) AS document
FROM clutch.events e JOIN clutch.adapter a ON e.envelope #> ARRAY['meta', a.name] ?| '{kept,carried,part_of,native}' WHERE e.type NOT LIKE 'agent.%';
SELECT is((SELECT count(DISTINCT adapter)::int FROM outcome), 10, 'of ten adapters');

-- ------------------------------------------------------------- another database
SELECT clutch.cancel_run(run_id) FROM (SELECT DISTINCT run_id FROM outcome) AS r \g /dev/null
CREATE TABLE line AS SELECT r.run_id, l.line, l.no FROM (SELECT DISTINCT run_id FROM outcome) AS r, clutch.export(r.run_id) WITH ORDINALITY AS l(line, no);
DROP EXTENSION clutch;
CREATE EXTENSION clutch;
SELECT clutch.import(array_agg(l.line ORDER BY l.no)) FROM line l GROUP BY l.run_id \g /dev/null
SELECT is((SELECT count(*) FROM outcome JOIN clutch.events USING (run_id, id)), (SELECT count(*) FROM outcome), 'what was made of them goes into another database');
SELECT is_empty($$SELECT o.adapter, o.document, clutch.outbound(e.envelope, o.adapter) FROM outcome o JOIN clutch.events e USING (run_id, id) WHERE clutch.outbound(e.envelope, o.adapter) IS DISTINCT FROM o.document$$,
	'whose secret is another one, and becomes the same documents there');

-- ------------------------------------------------------------------- redaction
CREATE FUNCTION pg_temp.written(envelope jsonb, adapter text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN clutch.outbound(envelope, adapter)::text;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
SELECT clutch.redact(seq, 'law') FROM clutch.events WHERE run_id <> 'run:audit' \g /dev/null
SELECT is_empty($$SELECT e.type, e.envelope -> 'meta' FROM clutch.events e WHERE (e.envelope -> 'meta') - 'clutch' <> '{}'$$, 'nothing is left of what adapters have noted');
SELECT is((SELECT string_agg(DISTINCT k, ' ' ORDER BY k) FROM outcome JOIN clutch.events e USING (run_id, id), jsonb_object_keys(e.envelope -> 'payload') AS k),
	'args code message redacted retryable tool', 'nor of the payloads, but for words of the protocol');
SELECT is((SELECT string_agg(DISTINCT e.envelope #>> '{payload,message}', ', ') FROM outcome JOIN clutch.events e USING (run_id, id)), 'redacted', 'the texts of errors among them');
SELECT is_empty($$SELECT o.adapter, w.written FROM outcome o JOIN clutch.events e USING (run_id, id), pg_temp.written(e.envelope, o.adapter) AS w(written)
	WHERE w.written = o.document::text OR length(w.written) = 5 AND w.written <> '0A000'$$, 'a document of what is left is another one');
SELECT is(fixture.rebuilt(), 'the same', 'and the tasks are what they were');

SELECT * FROM finish();
