-- Attacks that once worked, tried again by roles that have nothing but agents of their
-- own.  Each is tested here or in the file that is named:
--
--   whoever is first in a run owns it: IDs computed from the key of another agent, a
--     decoy with a scope, a budget of 0 in a run of others, a forged child with a join   trust_participant
--   the worker stalls: an uncommitted event of a run in which a schedule sends, an
--     uncommitted cancel of a task after one whose deadline passes                      t/013_hostile_role.pl
--   others are held up by relation: an uncommitted end of a child, cancel of a dependent,
--     progress of a child, tick                                                         t/013_hostile_role.pl, isolation/strangers
--   thousands of kinds of requirements make every idle claim slow                       here, queue_kinds
--   names of schedules and subscriptions are taken away                                 trust_participant, feed_subscription
--   a function of a stranger that an operator calls has the operator's rights           trust_identity
--   thousands of positions of subscriptions make the metrics slow                       here, feed_lag
--   two usages of 2^53 tokens break clutch.budgets for everybody                        here, flow_budget
--   a row with seq is not asked who writes it                                           trust_tricks, store_append_only
--   read_from counts a transaction as often as its position names it                    here, feed_position
--   read_from accepts a position followed by anything                                   here, feed_position
--   a search in an empty list (undefined behaviour)                                     here, and run/sanitize.sh
--   clutch.envelope(parent_task_id => ..) returns the run and thread of any task        trust_participant, trust_levels
--   an error names the run of a task of others                                          trust_participant
--   line breaks in IDs                                                                  here, protocol_faults
--   agent.update keeps what an operator has registered, for other capabilities          here
--   a task in a run of one's own that has the name of what others talk about            trust_levels
--   explain_route tells what a run of others has cost                                   here
--   an artifact is read, or attached, by whoever may write into the run                 here, trust_levels
--   a schedule attaches an artifact of others, which the worker could read              here
--   explain_route tells which rules fit a request of others that was shared out         here
--   an agent that holds the scope joins a private run by writing into it                trust_levels
--   the answer of an endpoint attaches an artifact of others                            outbox_callee
--   a trigger on the log finds functions of the session, and calls them as the owner    here
--   debug_print_plan shows what the database writes, if the log has a trigger           here
--   IDs of public runs, or of tasks, that PostgreSQL's hash functions put in few places  here, task_tree
--   an error repeats megabytes, which fill the server log                               here
\ir ../fixtures/tap.sql
SELECT plan(59);
SET clutch.notify = off;
CREATE ROLE clutch_test_mallory;
CREATE ROLE clutch_test_ken;
CREATE ROLE clutch_test_desk;
SELECT fixture.agent('ken', 9, '{skill:ken}', '{"max_tokens": 500}'), fixture.agent('mallory', 9, '{skill:mallory}') \g /dev/null
SELECT clutch.grant_agent('clutch_test_mallory', 'agent:mallory', '{skill:mallory,skill:shell}'), clutch.grant_agent('clutch_test_ken', 'agent:ken', '{skill:ken}'), clutch.grant_reader('clutch_test_desk') \g /dev/null
CREATE FUNCTION fixture.asks(agent text, task text, skill text DEFAULT NULL, orders jsonb DEFAULT '{}', whom text DEFAULT NULL, run text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
	SELECT clutch.envelope('task.request', 'agent:' || agent, CASE WHEN whom IS NOT NULL THEN ARRAY['agent:' || whom] END, run_id => coalesce(run, 'run:' || agent), task_id => task,
		requires => CASE WHEN skill IS NOT NULL THEN ARRAY[skill] END, meta => jsonb_build_object('clutch', orders)) $$;
-- the fault of an argument
CREATE FUNCTION fixture.refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', SQLSTATE, nullif(detail, '')::jsonb -> 0 ->> 'code', nullif(detail, '')::jsonb -> 0 ->> 'argument');
END $$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fixture TO PUBLIC;

-- ------------------------------------------------------------- kinds of requirements
SET clutch.max_waiting_kinds = 300;
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT clutch.send(fixture.asks('mallory', 'kind:' || n, 'skill:kind' || n)) FROM generate_series(1, 300) n \g /dev/null
SELECT is(fixture.fault($$SELECT clutch.send(fixture.asks('mallory', 'kind:301', 'skill:kind301'))$$), '54000 TOO_MANY_KINDS /requires', 'the kinds of requirements of a requester are limited');
SET SESSION AUTHORIZATION clutch_test_ken;
SELECT lives_ok($$SELECT clutch.send(fixture.asks('ken', 'task:other', 'skill:other'))$$, 'which does not limit others');
SELECT count(*) FROM clutch.claim('agent:ken') \g /dev/null
CREATE VIEW pg_temp.reads AS SELECT coalesce(sum(pg_stat_get_xact_tuples_returned(indexrelid)), 0) AS n FROM pg_index WHERE indrelid IN ('clutch.waiting'::regclass, 'clutch.task'::regclass);
BEGIN;
SELECT n AS before FROM pg_temp.reads \gset
SELECT is((SELECT count(*) FROM clutch.claim('agent:ken')), 0::bigint, 'an agent that can do none of them claims nothing');
SELECT cmp_ok(n - :before, '<=', 20::numeric, 'and reads a few rows') FROM pg_temp.reads;
COMMIT;
SELECT is((SELECT count(*) FROM clutch.tasks WHERE task_id LIKE 'kind:%'), 0::bigint, 'nor does it see them');
RESET SESSION AUTHORIZATION;
SELECT clutch.cancel_run('run:mallory') \g /dev/null
RESET clutch.max_waiting_kinds;

-- ------------------------------------------------------------------ subscriptions
SET SESSION AUTHORIZATION clutch_test_mallory;
CREATE FUNCTION pg_temp.piles_up() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	n int := 0;
BEGIN
	FOR i IN 1 .. 4 LOOP
		PERFORM clutch.subscribe('pile' || i, start => 'beginning', members => 500);
		n := n + 500;
	END LOOP;
	RETURN n;
EXCEPTION WHEN program_limit_exceeded THEN
	RETURN n;
END $$;
SELECT pg_temp.piles_up() AS piled \gset
-- how many rows the nodes of a plan return and discard, which does not depend on the machine
CREATE FUNCTION pg_temp.looked_at(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING off, FORMAT json) ' || query INTO plan;
	RETURN (WITH RECURSIVE node(n) AS (
			SELECT plan::jsonb -> 0 -> 'Plan'
			UNION ALL
			SELECT p FROM node, jsonb_array_elements(n -> 'Plans') p)
		SELECT sum(((n ->> 'Actual Rows')::numeric + coalesce((n ->> 'Rows Removed by Filter')::numeric, 0) + coalesce((n ->> 'Rows Removed by Join Filter')::numeric, 0)) * (n ->> 'Actual Loops')::numeric) FROM node);
END $$;
SET SESSION AUTHORIZATION clutch_test_desk;
SELECT cmp_ok((SELECT count(*) FROM clutch.metrics()), '>=', 20::bigint, 'positions that are piled up do not break the metrics');
SELECT cmp_ok(pg_temp.looked_at('SELECT * FROM clutch.subscriptions'), '<=', :piled * 100::numeric, 'nor slow down what they are made of');
SELECT clutch.position() AS head \gset
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT clutch.send(clutch.envelope('chat.message', 'agent:mallory', run_id => 'run:m2', id => 'msg_once')) \g /dev/null
SELECT pg_current_snapshot()::text \g /dev/null
SELECT xid::text AS x FROM clutch.events WHERE id = 'msg_once' \gset
SELECT is((SELECT count(*) FROM clutch.read_from(:'head' || CASE WHEN :'head' ~ '\.\d+(,\d+)*$' AND array_length(string_to_array(:'head', '.'), 1) > 5 THEN ',' ELSE '.' END || array_to_string(array_fill(:'x'::text, ARRAY[2000]), ','))
	WHERE id = 'msg_once'), 1::bigint, 'an event whose transaction a position names two thousand times is read once');
SELECT is(fixture.refusal(format('SELECT * FROM clutch.read_from(%L)', :'head' || '/' || :'head' || '/garbage')), '22023 WRONG_FORMAT pos', 'a position that garbage follows is none');
SELECT is((SELECT count(*) FROM clutch.read_from('beginning', '{"run_id": "run:none"}')), 0::bigint, 'nothing to search is nothing found');
SELECT count(clutch.unsubscribe('pile' || i)) FROM generate_series(1, 4) i \g /dev/null

-- ------------------------------------------------------------------- usage and IDs
SELECT clutch.send(fixture.asks('mallory', 'task:most', orders => '{"budget": {"tokens": 9007199254740992}}', whom => 'mallory', run => 'run:most')) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:mallory', 9) \g /dev/null
SELECT clutch.progress('agent:mallory', 'task:most', '{}', usage => '{"input_tokens": 9007199254740992, "output_tokens": 9007199254740992}') FROM generate_series(1, 600) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_desk;
SELECT is((SELECT tokens FROM clutch.budgets WHERE run_id = 'run:most'), 9223372036854775807, 'usage beyond a bigint breaks the budgets for nobody');
SELECT is((SELECT max(tokens) FROM clutch.costs), 9223372036854775807, 'nor the costs');
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT is(fixture.fault(format('SELECT clutch.send(%L)', clutch.envelope('chat.message', 'agent:mallory', run_id => 'run:m3') || jsonb_build_object(field, E'run:m3\nrun:ken'))), 'KL001 CONTROL_CHARACTER /' || field, 'a line break in ' || field)
FROM unnest('{id,run_id,thread_id,task_id}'::text[]) field;

-- ----------------------------------------- what a run of others has cost, and its files
SET SESSION AUTHORIZATION clutch_test_ken;
SELECT clutch.put_artifact('the plan', 'text/plain') AS plan \gset
SELECT clutch.send(fixture.asks('ken', 'task:dear', whom => 'ken', run => 'run:ken')) \g /dev/null
SELECT count(*) FROM clutch.claim('agent:ken', 9) \g /dev/null
SELECT clutch.finish('agent:ken', 'task:dear', '{}', usage => '{"input_tokens": 777}', attachments => jsonb_build_array(jsonb_build_object('kind', 'artifact_ref', 'ref', :'plan'))) \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', agent_id, rejected_by, detail), ', ') FROM clutch.explain_route(fixture.asks('ken', 'task:dear2', 'skill:ken', run => 'run:ken')) WHERE agent_id = 'agent:ken'), 'agent:ken budget has spent 777 of 500 tokens on the run', 'those who take part are told that an agent has spent its budget');
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT is((SELECT string_agg(concat_ws(' ', agent_id, rejected_by, detail LIKE '%777%'), ', ') FROM clutch.explain_route(fixture.asks('mallory', 'task:dear3', 'skill:ken', run => 'run:ken')) WHERE agent_id = 'agent:ken'), 'agent:ken f', 'others are not');
SELECT is(clutch.route(fixture.asks('mallory', 'task:dear3', 'skill:ken', run => 'run:ken')) ->> 'selected', 'agent:ken', 'nor by clutch.route');
SELECT is(fixture.refusal(format('SELECT clutch.get_artifact(%L)', :'plan')), '42704 ARTIFACT_NOT_FOUND ref', 'an artifact of a run of others is not there');
SELECT clutch.send(clutch.envelope('chat.message', 'agent:mallory', run_id => 'run:m4', attachments => jsonb_build_array(jsonb_build_object('kind', 'artifact_ref', 'ref', :'plan')))) \g /dev/null
SET client_min_messages = error;
SELECT clutch.schedule('steal', '@daily', clutch.envelope('chat.message', 'agent:mallory', run_id => 'run:m4', attachments => jsonb_build_array(jsonb_build_object('kind', 'artifact_ref', 'ref', :'plan')))) \g /dev/null
RESET SESSION AUTHORIZATION;
UPDATE clutch.schedule SET next_at = '2026-01-01' WHERE name = 'steal';
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:m4'), 2::bigint, 'an operator who ticks sends what is scheduled');
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT is(fixture.refusal(format('SELECT clutch.get_artifact(%L)', :'plan')), '42704 ARTIFACT_NOT_FOUND ref', 'and attaches nothing that its owner cannot read');
-- ken lets mallory take part
SET SESSION AUTHORIZATION clutch_test_ken;
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ken', '{agent:mallory}', run_id => 'run:ken', attachments => jsonb_build_array(jsonb_build_object('kind', 'artifact_ref', 'ref', :'plan')))) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT is(convert_from(clutch.get_artifact(:'plan'), 'UTF8'), 'the plan', 'whoever takes part reads it');

-- --------------------------------------------- what an operator has set in a card
-- An operator has let the agent out of the sandbox for one capability.
RESET SESSION AUTHORIZATION;
CREATE FUNCTION fixture.card_of(agent text, part text) RETURNS text LANGUAGE sql AS $$ SELECT card ->> part FROM clutch.agent_registry WHERE agent_id = agent $$;
CREATE FUNCTION fixture.updates(changes jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT fixture.fault(format('INSERT INTO clutch.events (envelope) VALUES (%L)', clutch.envelope('agent.update', 'agent:mallory', payload => '{"agent_id": "agent:mallory"}'::jsonb || changes, run_id => 'run:agents'))) $$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fixture TO PUBLIC;
SELECT clutch.register(fixture.card('mallory', 2, '{skill:mallory}', '{"max_tokens": 100, "max_cost": 5, "max_runtime_sec": 60}', '{"security": {"sandbox": false, "network": "egress-restricted", "egress_allowlist": ["a.example", "*.b.example"]}}')) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT is(fixture.updates(changes), fault, 'agent.update: ' || changes::text)
FROM (VALUES
	(1, '{"model": "m"}'::jsonb, 'no error'),
	(2, '{"capabilities": [{"id": "skill:shell"}]}', '42501 CARD_NOT_GRANTED /payload/security/sandbox'),
	(3, '{"capabilities": [{"id": "skill:mallory"}, {"id": "skill:shell"}]}', '42501 CARD_NOT_GRANTED /payload/security/sandbox'),
	(4, '{"security": {"sandbox": false}}', '42501 CARD_NOT_GRANTED /payload/security/sandbox'),
	(5, '{"security": {"network": "open"}}', '42501 CARD_NOT_GRANTED /payload/security/network'),
	(6, '{"security": {"network": "egress-restricted"}}', '42501 CARD_NOT_GRANTED /payload/security/egress_allowlist'),
	(7, '{"security": {"egress_allowlist": ["a.example", "c.example"]}}', '42501 CARD_NOT_GRANTED /payload/security/egress_allowlist'),
	(8, '{"limits": {"max_concurrency": 2}}', '42501 CARD_NOT_GRANTED /payload/limits'),
	(9, '{"limits": {"max_concurrency": 2, "max_tokens": 101, "max_cost": 5, "max_runtime_sec": 60}}', '42501 CARD_NOT_GRANTED /payload/limits'),
	(10, '{"limits": {"max_concurrency": 2, "max_tokens": 100, "max_cost": 5.5, "max_runtime_sec": 60}}', '42501 CARD_NOT_GRANTED /payload/limits'),
	(11, '{"limits": {"max_concurrency": 2, "max_tokens": 100, "max_cost": 5, "max_runtime_sec": 61}}', '42501 CARD_NOT_GRANTED /payload/limits'),
	(12, '{"limits": {"max_concurrency": 101, "max_tokens": 100, "max_cost": 5, "max_runtime_sec": 60}}', '42501 CARD_NOT_GRANTED /payload/limits/max_concurrency')) AS v(n, changes, fault) ORDER BY n;
RESET SESSION AUTHORIZATION;
SELECT is(fixture.card_of('agent:mallory', 'security')::jsonb ->> 'sandbox', 'false', 'what the operator has set is still there');
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT is(fixture.updates('{"limits": {"max_concurrency": 3, "max_tokens": 90, "max_cost": 4, "max_runtime_sec": 59}}'), 'no error', 'limits may become narrower');
SELECT is(fixture.updates('{"security": {"network": "none", "egress_allowlist": ["x.b.example"]}, "capabilities": [{"id": "skill:shell"}]}'), 'no error', 'so may security, and in the sandbox it offers what it was granted');
RESET SESSION AUTHORIZATION;
SELECT is(fixture.updates('{"security": {"sandbox": false, "network": "open"}, "limits": {"max_concurrency": 200}}'), 'no error', 'an operator sets what it likes');
-- An operator has withdrawn the right to a capability.
SELECT clutch.grant_agent('clutch_test_mallory', 'agent:mallory', '{skill:mallory}') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT is(fixture.fault($$SELECT clutch.register(fixture.card('mallory', 2, '{skill:shell}'))$$), '42501 CARD_NOT_GRANTED /capabilities', 'what is no longer granted is not registered again');
RESET SESSION AUTHORIZATION;
-- broadcast grants
SELECT clutch.grant_agent('clutch_test_mallory', 'agent:mallory2', broadcast => true) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT is(fixture.fault(format($$SELECT clutch.send(clutch.envelope('chat.system', 'agent:%s', run_id => 'run:system'))$$, agent)), fault, 'a broadcast grant is that of one agent: ' || agent)
FROM (VALUES ('mallory2', 'no error'), ('mallory', '42501 BROADCAST_NOT_GRANTED /type'), ('ken', '42501 NOT_YOUR_AGENT /from/agent_id')) AS v(agent, fault);
RESET SESSION AUTHORIZATION;
SELECT clutch.grant_agent('clutch_test_mallory', 'agent:mallory2') \g /dev/null
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('chat.system', 'agent:mallory2', run_id => 'run:system'))$$), '42501 BROADCAST_NOT_GRANTED /type', 'and ends with the next grant that does not name it');
RESET SESSION AUTHORIZATION;
-- What stands in a request of others, by the rules that fit it: a request that claims to stand for that one.
SELECT fixture.agent('ida', 9, '{skill:ida}', more => '{"groups": ["group:desk"]}') \g /dev/null
INSERT INTO clutch.routing_rule (name, words, restrict_to) VALUES ('hush', '{merger}', '{agent:ken}');
SET SESSION AUTHORIZATION clutch_test_ken;
SELECT clutch.send(fixture.asks('ken', 'task:quiet', whom => 'ken', run => 'run:quiet') || '{"id": "msg_quiet", "payload": {"text": "The merger"}}') \g /dev/null
SELECT fixture.asks('orchestrator', 'task:quiet2', run => 'run:quiet') || '{"to": [{"agent_id": "group:desk"}], "meta": {"rule": {"name": "x", "event": "msg_quiet", "shared": true}}}' AS forged \gset
SELECT is((SELECT string_agg(concat_ws(' ', agent_id, rejected_by), ', ') FROM clutch.explain_route(:'forged')), 'agent:ida rule', 'who takes part is told that a rule keeps an agent from it');
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT is((SELECT string_agg(concat_ws(' ', agent_id, rejected_by), ', ') FROM clutch.explain_route(:'forged')) || ' ' || (clutch.route(:'forged') ->> 'selected'), 'agent:ida agent:ida', 'who does not is not');
RESET SESSION AUTHORIZATION;
DELETE FROM clutch.routing_rule WHERE name = 'hush';
-- What a trigger on the log calls by names without a schema, with the rights of the owner.
CREATE ROLE clutch_test_olga;
SELECT clutch.grant_operator('clutch_test_olga') \g /dev/null
CREATE TABLE fixture.noted (who text, what text);
GRANT INSERT ON fixture.noted TO PUBLIC;
CREATE FUNCTION fixture.notes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO fixture.noted VALUES (current_user, upper(TG_OP || ' ' || coalesce(NEW.type, OLD.type)));
	RETURN NULL;
END $$;
CREATE TRIGGER notes AFTER INSERT OR UPDATE OR DELETE ON clutch.events FOR EACH ROW EXECUTE FUNCTION fixture.notes();
CREATE SCHEMA mallory AUTHORIZATION clutch_test_mallory;
GRANT USAGE ON SCHEMA mallory TO PUBLIC;
SET SESSION AUTHORIZATION clutch_test_mallory;
CREATE FUNCTION mallory.upper(text) RETURNS text LANGUAGE sql AS $$ SELECT 'mallory as ' || current_user $$;
SET search_path = mallory, pg_catalog;
SELECT clutch.send(fixture.asks('mallory', 'task:path', 'skill:ken', run => 'run:path')) \g /dev/null
SET SESSION AUTHORIZATION clutch_test_olga;
SELECT clutch.redact((SELECT min(seq) FROM clutch.events WHERE run_id = 'run:path'), 'a test') \g /dev/null
RESET search_path;
RESET SESSION AUTHORIZATION;
SELECT is((SELECT string_agg(what, ', ' ORDER BY what) FROM fixture.noted WHERE who = 'clutch_test_mallory'), 'mallory as clutch_test_mallory', 'a trigger on what mallory sends calls a function of hers, with her rights');
SELECT is((SELECT string_agg(what, ', ' ORDER BY what) FROM fixture.noted WHERE who <> 'clutch_test_mallory'), 'INSERT CHAT.SYSTEM, INSERT ROUTING.DECISION, UPDATE TASK.REQUEST', 'but none on what the database writes, with the rights of the owner, nor on what an operator erases');
DROP TRIGGER notes ON clutch.events;
-- What a session that lets plans be printed is shown of what the database writes: a plan has the values of its parameters.
CREATE FUNCTION fixture.prints() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO fixture.noted VALUES (current_user, NEW.type || ' ' || current_setting('debug_print_plan'));
	RETURN NULL;
END $$;
CREATE TRIGGER prints AFTER INSERT ON clutch.events FOR EACH ROW EXECUTE FUNCTION fixture.prints();
TRUNCATE fixture.noted;
SET SESSION AUTHORIZATION clutch_test_mallory;
SET debug_print_plan = on;
SELECT clutch.send(fixture.asks('mallory', 'task:print', 'skill:ken', run => 'run:print')) \g /dev/null
RESET debug_print_plan;
RESET SESSION AUTHORIZATION;
SELECT is((SELECT string_agg(what, ', ' ORDER BY what) FROM fixture.noted), 'routing.decision off, task.request on', 'no plan is printed of what the database writes');
DROP TRIGGER prints ON clutch.events;
-- Everybody sees public runs.  40,000 of them take 0.1 s to list.  With IDs that had few places in a hash table it took 30 times as long.
CREATE FUNCTION fixture.listing(name text, every integer) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	least numeric;
BEGIN
	INSERT INTO clutch.run_visibility SELECT id, 'public' FROM generate_series(1, 40000 * every) i, concat(name, i) AS id WHERE hashtext(id) & 524287 < 524288 / every;
	SET LOCAL ROLE clutch_test_ken;
	FOR i IN 1 .. 3 LOOP
		began := clock_timestamp();
		PERFORM clutch.seen_runs();
		least := least(least, extract(epoch FROM clock_timestamp() - began));
		-- another snapshot, so that the list is made again
		PERFORM clutch.send(fixture.asks('ken', 'task:' || name || i, run => name || 'own'));
	END LOOP;
	RESET ROLE;
	DELETE FROM clutch.run_visibility WHERE run_id LIKE name || '%';
	RETURN least;
END $$;
SELECT cmp_ok(fixture.listing('run:chosen', 64), '<', 10 * fixture.listing('run:any', 1), 'public runs whose IDs were chosen take no longer');
-- Each of these words can take the place of another one of its row without changing PostgreSQL's hash of the whole.
CREATE TABLE fixture.chosen AS SELECT concat(a, b, c, d) AS id FROM (SELECT jsonb_build_array(
	ARRAY['task:uepxiyw0123456789ab', 'task:bihoatjT1t]57Y:t<1A', 'task:tmhvtmh7Rt(]7S|1wy6', 'task:rnlfcvb]Z{0Q-s/|O,j', 'task:ytsqsayLG`&hR+&xvD5', 'task:rqhuehy*1r.9e6ji<tQ', 'task:jegaisnA:.7+![0YJbH', 'task:eushdffy)(BWoUe/x7i', 'task:gunyyvanm-~Ht$kCtC`', 'task:luonsjaU>DJnH@|#tjg'],
	ARRAY['task:sidznpb0123456789ab', 'task:pmaxqqzksQoX]DN;x2Y', 'task:mfjgfkpQJ7787:g@u_6', 'task:lgmikppVZa!s?1Z_KzF', 'task:unvwnzhFe@mn<}UI2tK', 'task:facxmdp!eo=pZF[ozI1', 'task:isyhinlVg6>uNW]Q[JD', 'task:naqhuxm3]3a3j*l=V.6', 'task:wqimyar9#i1vD%<>IcY', 'task:oovwkig+}pCWub=qv;H'],
	ARRAY['task:mggmgow0123456789ab', 'task:ofpwvmf8qT?qkl:{s@o', 'task:bjsjiur|g|:4B7qqBsd', 'task:gorqnymw_2<^q.!aRK1', 'task:cdwfydcURP3;W,z<!>/', 'task:pokghbmJtR/E33n&)ny', 'task:wmucull:2{}Ek{X,=E&', 'task:wpwaxuaE|in^}V^60O/', 'task:dlhunbeG}H)w/4ySy0K', 'task:mkdahaa0>9]DFHh|5~{'],
	ARRAY['task:bsoowme0123456789ab', 'task:ssgvlwn*UN~1[/JEf3>', 'task:yioosoyR9f:sJ%hm/&O', 'task:ampkzeqm),A`~9u]o{v', 'task:llmfilew{RmgoSF$OJf', 'task:aaafnshSZBs#H)~qmQz', 'task:utnnaqc(4Z2vbs6f41}', 'task:gbvkecdQVcCuUFs/(|_', 'task:bzhmrww[u<6IRe|heqr', 'task:tgysucvM]_fXhmq,]<b']) AS words) w,
	jsonb_array_elements_text(words -> 0) a, jsonb_array_elements_text(words -> 1) b, jsonb_array_elements_text(words -> 2) c, jsonb_array_elements_text(words -> 3) d;
CREATE FUNCTION fixture.cancelling(top text, prefix text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
BEGIN
	PERFORM clutch.send(fixture.asks('olga', top));
	INSERT INTO clutch.task (task_id, run_id, thread_id, parent_task_id, depth, status, from_agent, attempt, priority, reason, request_seq, since, created_at)
	SELECT prefix || c.id, t.run_id, t.thread_id, t.task_id, 1, t.status, t.from_agent, t.attempt, t.priority, t.reason, t.request_seq, t.since, t.created_at
	FROM clutch.task t, fixture.chosen c WHERE t.task_id = top;
	began := clock_timestamp();
	PERFORM clutch.cancel(top), clutch.settle();
	RETURN extract(epoch FROM clock_timestamp() - began);
END $$;
SELECT is((SELECT count(DISTINCT hashtextextended(id COLLATE "C", 0)) || ' of ' || count(DISTINCT id) FROM fixture.chosen), '1 of 10000', '10,000 IDs have the same hash');
SELECT cmp_ok(fixture.cancelling('task:of-chosen', ''), '<', 3.5 * fixture.cancelling('task:of-any', 'task:'), 'tasks whose IDs were chosen take no longer to cancel');

-- ------------------------------------------------------------- what an error quotes
CREATE FUNCTION fixture.words(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	EXECUTE statement;
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' ', SQLERRM, detail, hint);
END $$;
GRANT EXECUTE ON FUNCTION fixture.words TO clutch_test_mallory;
SET SESSION AUTHORIZATION clutch_test_mallory;
SELECT ok(length(fixture.words(format('SELECT clutch.%s FROM repeat(''x'', 1000000) AS big', call))) < 1000, 'an error does not repeat all of a long text: ' || call)
FROM unnest(ARRAY['heartbeat(big)', 'heartbeat(''agent:'' || big)', 'result(big)', 'read(big)', 'listen(big)', 'revoke_key(''agent:mallory'', big)', 'report(''agent:mallory'', ''task:any'', big)']) AS call;
RESET SESSION AUTHORIZATION;
DROP OWNED BY clutch_test_mallory, clutch_test_ken, clutch_test_desk, clutch_test_olga CASCADE;
DROP ROLE clutch_test_mallory, clutch_test_ken, clutch_test_desk, clutch_test_olga;
SELECT * FROM finish();
