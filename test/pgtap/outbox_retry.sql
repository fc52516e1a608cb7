-- Calls that fail: which reports are failures, when a call is tried again, when it is given
-- up, and what a gateway that reports twice or too late brings about.
\ir ../fixtures/tap.sql
SELECT plan(40);

CREATE FUNCTION fixture.message(n text) RETURNS jsonb LANGUAGE sql AS
$$ SELECT clutch.envelope('chat.message', 'agent:app', payload => jsonb_build_object('text', n), run_id => 'run:out', task_id => 'task:out') $$;
-- "state attempt pause status failure"
CREATE FUNCTION fixture.call(call text) RETURNS text LANGUAGE sql AS
$$ SELECT concat_ws(' ', o.state, o.attempt, round(extract(epoch FROM o.due_at - clutch.now())), o.status, o.failure) FROM clutch.outbox o WHERE o.id = call $$;
CREATE FUNCTION fixture.posted(to_endpoint text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	id text := clutch.post(to_endpoint, fixture.message('m'));
BEGIN
	PERFORM FROM clutch.outbox_claim(9, '60 s');
	RETURN id;
END $$;
-- what a report of the first attempt makes of a call
CREATE FUNCTION fixture.reported(status integer DEFAULT NULL, failure text DEFAULT NULL, retry_after interval DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	id text := fixture.posted('shop');
BEGIN
	PERFORM clutch.outbox_done(id, 1, status, failure, retry_after => retry_after);
	RETURN fixture.call(id);
END $$;
SELECT fixture.at(0);
INSERT INTO clutch.endpoint (name, url, agents, max_attempts, first_pause_s, longest_pause_s, headers) VALUES
	('shop', 'https://shop.example', '{*}', 5, 10, 35, '{"x-shop": "mine", "content-type": "application/x-mine"}');

-- ------------------------------------------------------------ what is a failure
SELECT is(fixture.reported(s), CASE WHEN s BETWEEN 200 AND 299 THEN 'sent 1 ' || s WHEN s = 410 THEN 'dead 1 410 HTTP status 410' ELSE format('pending 1 10 %s HTTP status %s', s, s) END, 'status ' || s)
FROM unnest('{100,199,200,299,300,302,400,404,410,422,599}'::int[]) AS s;
SELECT throws_ok('SELECT fixture.reported()', '22004', NULL, 'neither a status nor a failure is no outcome');
SELECT is(fixture.reported(200, 'the connection was cut'), 'pending 1 10 200 the connection was cut', 'a failure in spite of a status');
SELECT is(fixture.reported(failure => repeat('é', 3000)), 'pending 1 10 ' || repeat('é', 500), 'of what went wrong 1000 bytes are kept, and whole letters');

-- ------------------------------------------------------------------- the pauses
SELECT is(fixture.reported(503, retry_after => '25 s'), 'pending 1 25 503 HTTP status 503', 'the other side may ask for a longer pause');
SELECT is(fixture.reported(503, retry_after => '5 s'), 'pending 1 10 503 HTTP status 503', 'but not for a shorter one');
SELECT is(fixture.reported(503, retry_after => '0 s'), 'pending 1 10 503 HTTP status 503', 'nor for none');
SELECT is(fixture.reported(503, retry_after => '-1 month'), 'pending 1 10 503 HTTP status 503', 'nor for one that is over');
SELECT is(fixture.reported(503, retry_after => '170000000 years'), 'pending 1 31622400 503 HTTP status 503', 'and for a year at most');
TRUNCATE clutch.outbox;
SELECT fixture.posted('shop') AS id \gset
SELECT is(clutch.outbox_done(:'id', 1, 500) || ', ' || fixture.call(:'id'), 'pending, pending 1 10 500 HTTP status 500', 'the first pause');
SELECT is(clutch.outbox_done(:'id', 1, 200), 'lost', 'an attempt is reported once');
SELECT is(fixture.call(:'id'), 'pending 1 10 500 HTTP status 500', 'and what is reported again changes nothing');
SELECT fixture.at(10);
SELECT FROM clutch.outbox_claim(9);
SELECT is(clutch.outbox_done(:'id', 2, 500) || ', ' || fixture.call(:'id'), 'pending, pending 2 20 500 HTTP status 500', 'doubles');
SELECT fixture.at(30);
SELECT FROM clutch.outbox_claim(9);
SELECT is(clutch.outbox_done(:'id', 3, 500) || ', ' || fixture.call(:'id'), 'pending, pending 3 35 500 HTTP status 500', 'up to the longest');
SELECT fixture.at(65);
SELECT FROM clutch.outbox_claim(9);
SELECT is(clutch.outbox_done(:'id', 4, 500) || ', ' || fixture.call(:'id'), 'pending, pending 4 35 500 HTTP status 500', 'and stays that long');
SELECT fixture.at(100);
SELECT FROM clutch.outbox_claim(9);
SELECT is(clutch.outbox_done(:'id', 5, 500) || ', ' || fixture.call(:'id'), 'dead, dead 5 500 HTTP status 500', 'the last attempt is the last');

-- ------------------------------------------------------------- and once more
SELECT clutch.outbox_retry(:'id');
SELECT is((SELECT concat_ws(' ', state, attempt, fixture.since_noon(due_at), lease_until, finished_at, remove_at) FROM clutch.outbox), 'pending 5 100.000', 'a call that is tried again is due');
SELECT is(clutch.outbox_done(:'id', 5, 200), 'lost', 'which its old attempts do not touch');
SELECT fixture.at(200);
SELECT FROM clutch.outbox_claim(9);
SELECT clutch.outbox_retry(:'id');
SELECT is((SELECT concat_ws(' ', state, attempt, fixture.since_noon(due_at), lease_until, finished_at, remove_at) FROM clutch.outbox), 'pending 6 200.000', 'also one that a gateway has');

SELECT is(clutch.outbox_done(:'id', 6, 200), 'lost', 'which cannot report on it any more');
SELECT FROM clutch.outbox_claim(9);
SELECT is(clutch.outbox_done(:'id', 7, 500) || ', ' || fixture.call(:'id'), 'pending, pending 7 10 500 HTTP status 500', 'the pauses begin anew');
SELECT clutch.outbox_retry(:'id');

-- ------------------------------------------------------------------ what is sent
SELECT is((SELECT headers - 'webhook-id' - 'webhook-timestamp' FROM clutch.outbox_claim(9)), '{"x-shop": "mine", "content-type": "application/x-mine"}', 'the headers of an endpoint');
SELECT clutch.outbox_retry(:'id');
SELECT clutch.set_endpoint_secret('token', 'Bearer s3cret');
UPDATE clutch.endpoint SET auth_secret = 'token';
SELECT throws_ok($$SELECT clutch.set_endpoint_secret('token', NULL)$$, '2BP01', NULL, 'a secret for the header authorization is in use, too');
SELECT is((SELECT concat_ws(' ', headers ->> 'webhook-id' = :'id', headers ->> 'webhook-timestamp', headers ->> 'authorization') FROM clutch.outbox_claim(9)), 't ' || extract(epoch FROM timestamptz '2026-01-01 12:03:20Z')::bigint || ' Bearer s3cret', 'do not take the place of those that say which call it is');

-- ---------------------------------------------------- an endpoint that goes away
SELECT clutch.outbox_retry(:'id');
SELECT FROM clutch.outbox_claim(9);
DELETE FROM clutch.endpoint;
SELECT is(clutch.outbox_done(:'id', o.attempt, 503) || ', ' || (fixture.call(:'id') = format('dead %s 503 HTTP status 503', o.attempt)), 'dead, true', 'a call that fails when its endpoint is gone is given up') FROM clutch.outbox o;
SELECT clutch.outbox_retry(:'id');
INSERT INTO clutch.endpoint (name, url) VALUES ('shop', 'https://shop.example');
SELECT FROM clutch.outbox_claim(9);
DELETE FROM clutch.endpoint;
SELECT is(clutch.outbox_done(o.id, o.attempt, 200), 'sent', 'one that has succeeded is sent all the same') FROM clutch.outbox o;

-- ------------------------------------------------------------- it is paid for
CREATE ROLE outbox_retry_app;
SELECT clutch.grant_agent('outbox_retry_app', 'agent:app'), clutch.set_quota('outbox_retry_app', 'events_per_minute', 1) \g /dev/null
INSERT INTO clutch.endpoint (name, url, agents) VALUES ('shop', 'https://shop.example', '{*}');
GRANT USAGE ON SCHEMA fixture TO outbox_retry_app;
SET ROLE outbox_retry_app;
SELECT is(fixture.fault(format('SELECT clutch.post(%L, %L)', 'shop', fixture.message('1'))) || ' ' || fixture.fault(format('SELECT clutch.post(%L, %L)', 'shop', fixture.message('2'))), 'no error KL013 QUOTA_EXCEEDED ', 'what is posted counts for the quotas of the role');
RESET ROLE;
SELECT clutch.revoke_agent('outbox_retry_app', 'agent:app') \g /dev/null
DROP OWNED BY outbox_retry_app;
DROP ROLE outbox_retry_app;

-- ------------------------------------------------------------- a clock that is set back
DELETE FROM clutch.outbox;
SELECT fixture.at(20000);
SELECT clutch.post('shop', fixture.message('ahead')) AS ahead \gset
SELECT fixture.at(10000);
SELECT is((SELECT count(*) FROM clutch.outbox_claim(9)), 0::bigint, 'a call of the time before is not due yet');
SELECT ok(clutch.outbox_retry(:'ahead'), 'an operator makes it due');
SELECT is((SELECT c.id || ' ' || c.attempt FROM clutch.outbox_claim(9) AS c), :'ahead' || ' 1', 'now');
SELECT * FROM finish();
