-- What real libraries have said, as test/clients/record/ has recorded it: each document comes back, passes the door, and is sent once.
\ir ../fixtures/tap.sql
\ir ../fixtures/documents.sql
\ir ../fixtures/recorded.sql

-- Documents that could as well be those of another protocol are handled only by name.
CREATE FUNCTION fixture.is_common(adapter text, d jsonb) RETURNS boolean LANGUAGE sql AS $$
	SELECT adapter = 'a2a' AND (
		d -> 'result' = 'null' OR d ?| '{url,configs,pushNotificationConfig}' OR (d ? 'code' AND d ? 'message'))
$$;
-- Pieces of what comes as a whole later make no event, unless somebody wants them.
CREATE FUNCTION fixture.wanted(d fixture.recorded) RETURNS jsonb LANGUAGE sql AS
$$ SELECT CASE WHEN d.adapter IN ('langgraph', 'autogen', 'crewai') THEN '{"stream": true}' ELSE '{}' END::jsonb $$;

CREATE FUNCTION fixture.heard(what text, d fixture.recorded) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	context jsonb := fixture.wanted(d);
	e jsonb;
BEGIN
	CASE what
	WHEN 'is detected' THEN
		RETURN coalesce(clutch.can_handle(d.document), 'by name');
	WHEN 'comes back' THEN
		e := fixture.made(d.document, d.adapter, context);
		RETURN fixture.shown(clutch.outbound(e, d.adapter), fixture.clean(d.document, e, d.adapter));
	WHEN 'comes back from another sender' THEN
		e := fixture.made(d.document, d.adapter, context || '{"agent_id": "agent:gate"}');
		RETURN fixture.shown(clutch.outbound(e, d.adapter), fixture.clean(d.document, e, d.adapter));
	WHEN 'passes the door' THEN
		RETURN (SELECT coalesce(string_agg(f::text, E'\n'), 'without a fault') FROM clutch.inbound(d.document, d.adapter, context) AS i, clutch.validate(i) AS f);
	END CASE;
EXCEPTION WHEN OTHERS THEN
	RETURN concat_ws(' ', SQLSTATE, SQLERRM);
END $$;

-- What becomes of a document that is sent twice; nothing of it stays.
CREATE FUNCTION fixture.twice(d fixture.recorded, context jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	first bigint[];
BEGIN
	first := (SELECT array_agg(r.seq) FROM clutch.ingest(d.document, d.adapter, fixture.wanted(d) || context) AS r);
	RAISE EXCEPTION USING ERRCODE = 'UNDO1', MESSAGE = (
		SELECT CASE WHEN bool_and(r.duplicate) AND array_agg(r.seq) <@ first THEN 'once' ELSE 'more than once' END
		FROM clutch.ingest(d.document, d.adapter, fixture.wanted(d) || context) AS r);
EXCEPTION WHEN SQLSTATE 'UNDO1' THEN
	RETURN SQLERRM;
WHEN OTHERS THEN
	RETURN concat_ws(' ', SQLSTATE, SQLERRM);
END $$;
-- Reports are about a task: one that somebody works on, as a receiver says who has asked for something.
CREATE FUNCTION fixture.sent(d fixture.recorded) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	alone text := fixture.twice(d, '{}');
BEGIN
	RETURN CASE WHEN alone ~ '^(KL003|42501)' THEN fixture.twice(d, '{"agent_id": "agent:worker", "task_id": "task:w"}') ELSE alone END;
END $$;

SELECT fixture.agent('worker', 999, ARRAY['skill:x', 'tool:search', 'tool:shout']);
SELECT fixture.ask('task:w', 'agent:worker');
SELECT fixture.claimed('agent:worker', lease => '1 h');

CREATE TABLE outcome AS
SELECT row_number() OVER (ORDER BY d.no, p.no)::int AS no, concat_ws(' ', d.adapter, d.no, d.what, p.what) AS name, fixture.heard(p.what, d) AS got,
	CASE WHEN p.expected IS NULL THEN CASE WHEN fixture.is_common(d.adapter, d.document) THEN 'by name' ELSE d.adapter END ELSE p.expected END AS expected
FROM fixture.recorded d, (VALUES (1, 'is detected', NULL), (2, 'comes back', 'the same'), (3, 'comes back from another sender', 'the same'),
	(4, 'passes the door', 'without a fault')) AS p(no, what, expected)
WHERE d.file <> 'cards';

SELECT plan((SELECT count(*)::int FROM outcome) + (SELECT count(*)::int FROM fixture.recorded) + (SELECT count(*)::int FROM fixture.recorded WHERE file = 'cards') + 8);
SELECT is(got, expected, name) FROM outcome ORDER BY no;

-- A report about the task of a node or of a crew that nobody has begun is refused.
SELECT ok(sent = 'once' OR (sent LIKE 'KL003%' AND adapter IN ('langgraph', 'crewai') AND document::text ~ 'langgraph_node|"(id|task_id)"') OR (sent LIKE 'KL003%' AND adapter = 'map' AND document::text ~ 'isResult'),
	concat_ws(' ', adapter, no, what, 'is sent once, or is about a task that nobody has requested:', sent))
FROM fixture.recorded d, fixture.sent(d) AS sent WHERE file <> 'cards' ORDER BY no;

-- In its order, a recording can be sent as a whole.
CREATE FUNCTION fixture.told(d fixture.recorded, task text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.ingest(d.document, d.adapter, jsonb_build_object('stream', true, 'agent_id', 'agent:worker', 'task_id', task));
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	RETURN concat_ws(' ', d.no, SQLSTATE, SQLERRM);
END $$;
CREATE FUNCTION fixture.story(pattern text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	d fixture.recorded;
	fault text;
	n int := 0;
BEGIN
	PERFORM fixture.ask('task:' || pattern, 'agent:worker');
	PERFORM fixture.settle();
	PERFORM clutch.claim('agent:worker', 1, '1 h');
	FOR d IN SELECT * FROM fixture.recorded r WHERE r.file || ' ' || r.what ~ pattern AND r.what !~ 'a request$' ORDER BY r.no LOOP
		fault := concat_ws(E'\n', fault, fixture.told(d, 'task:' || pattern));
		n := n + 1;
	END LOOP;
	RETURN coalesce(nullif(fault, ''), CASE WHEN n > 5 THEN 'sent' ELSE 'few' END);
END $$;
SELECT is(fixture.story(pattern), 'sent', 'all of ' || pattern) FROM unnest(ARRAY['^langgraph stream events(, resumed)?$', '^langgraph all modes(, resumed)?$', '^langgraph server: messages',
	'^langgraph server: subgraphs', '^crewai ']) AS pattern;

-- What describes an agent comes back, too.
SELECT is(clutch.card_as(clutch.card_of(document, CASE adapter WHEN 'mcp' THEN 'agent:mcp.files' END, adapter), adapter),
	document, concat_ws(' ', adapter, no, what, 'comes back'))
FROM fixture.recorded WHERE file = 'cards' ORDER BY no;

-- It can be registered, with its schemas.
SELECT lives_ok(format('SELECT FROM clutch.import_card(%L, %L, %L)', document, CASE adapter WHEN 'mcp' THEN 'agent:mcp.files' END, adapter), concat_ws(' ', adapter, no, what, 'is imported'))
FROM fixture.recorded WHERE file = 'cards' ORDER BY no;
SELECT cmp_ok((SELECT count(*)::int FROM clutch.payload_type WHERE payload_type LIKE 'mcp.files.%' AND schema ->> '$schema' LIKE '%draft-07%'), '>', 0, 'also those that the library writes in draft-07');

-- What no adapter of the recordings may have forgotten: the adapters of libraries that others publish.
SELECT is((SELECT string_agg(DISTINCT adapter, ' ' ORDER BY adapter) FROM fixture.recorded), 'a2a autogen crewai http langgraph map mcp', 'every dialect that has a library is recorded');
SELECT cmp_ok((SELECT min(n)::int FROM (SELECT count(*) AS n FROM fixture.recorded GROUP BY file) AS f), '>=', 10, 'and no recording is empty');
SELECT * FROM finish();
