-- Durable cursors on the log, in one session: filters, batches, commits, positions, refusals.
-- What several sessions do at once: isolation/subscription.
\ir ../fixtures/tap.sql
SELECT plan(126);
SET clutch.notify = off;
SET clutch.default_deadline = 0;

CREATE FUNCTION pg_temp.say(id text, kind text DEFAULT 'chat.message', run text DEFAULT 'run:1', whom text[] DEFAULT '{agent:ken}', payload jsonb DEFAULT '{}', more jsonb DEFAULT '{}')
RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope(kind, 'agent:ui', whom, payload, id => id, run_id => run, thread_id => 'thread:1', task_id => 'task:talk') || more)
$$;
CREATE FUNCTION pg_temp.got(name text, n integer DEFAULT 100, member integer DEFAULT 0) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(id, ' ' ORDER BY seq), 'nothing') FROM clutch.read(name, n, member) $$;
CREATE FUNCTION pg_temp.done(name text, n integer DEFAULT 100, member integer DEFAULT 0) RETURNS void LANGUAGE sql AS
$$ SELECT clutch.commit(name, max(pos), member) FROM clutch.read(name, n, member) $$;
CREATE FUNCTION pg_temp.wants(filter jsonb) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(id, ' ' ORDER BY seq), 'nothing') FROM clutch.read_from('beginning', filter, 1000) WHERE type LIKE 'chat%' $$;

-- ------------------------------------------------------------ batches
SELECT pg_temp.say('m1') \g /dev/null
SELECT is(clutch.subscribe('s'), 's', 'a subscription can start from now on');
SELECT is(clutch.subscribe('all', start => 'beginning'), 'all', 'or from the beginning');
SELECT is(pg_temp.got('s'), 'nothing', 'nothing is new for the first');
SELECT is(pg_temp.got('all'), 'm1', 'the second reads what was there before');
SELECT pg_temp.say('m2') \g /dev/null
SELECT pg_temp.say('m3') \g /dev/null
SELECT pg_temp.say('m4') \g /dev/null
SELECT is(pg_temp.got('s', 2), 'm2 m3', 'two events at a time');
SELECT is(pg_temp.got('s', 2), 'm2 m3', 'the same batch again until it is committed');
SELECT pg_temp.say('m5') \g /dev/null
SELECT clutch.commit('s', min(pos)) FROM clutch.read('s', 2) \g /dev/null
SELECT is(pg_temp.got('s', 2), 'm3', 'half of a batch can be committed');
SELECT pg_temp.done('s', 2) \g /dev/null
SELECT is(pg_temp.got('s', 2), 'm4 m5', 'then the next read continues there');
SELECT ok((SELECT bool_and(pos ~ '^[0-9a-f]{32}$') FROM clutch.read('s')), 'a pos has a fixed width');
SELECT clutch.commit('s', (SELECT max(pos) FROM clutch.read('s'))) FROM generate_series(1, 2) \g /dev/null
SELECT is(pg_temp.got('s'), 'nothing', 'committing a pos twice has no further effect');
BEGIN;
SELECT pg_temp.say('own1') \g /dev/null
SELECT is(pg_temp.got('s'), 'nothing', 'the events of the reader''s own transaction come after its commit');
SELECT pg_temp.done('s') \g /dev/null
COMMIT;
SELECT is(pg_temp.got('s'), 'own1', 'and are not lost');
BEGIN;
SELECT pg_temp.done('s') \g /dev/null
ROLLBACK;
SELECT is(pg_temp.got('s'), 'own1', 'a commit that is rolled back has no effect');
SELECT pg_temp.done('s') \g /dev/null

-- ------------------------------------------------------- how far behind
CREATE FUNCTION pg_temp.behind(name text) RETURNS text LANGUAGE sql AS
$$ SELECT behind || ' ' || (oldest IS NOT NULL) || ' ' || reading FROM clutch.subscriptions s WHERE s.name = behind.name $$;
SELECT clutch.subscribe('quiet', '{"type": "chat.system"}') \g /dev/null
SELECT pg_temp.say('q1') \g /dev/null
SELECT is(pg_temp.got('s'), 'q1', 'an event is read');
SELECT is(pg_temp.behind('s'), '1 true true', 'an event that was read but not committed is behind');
SELECT pg_temp.done('s') \g /dev/null
SELECT is(pg_temp.got('s'), 'nothing', 'a reader finds nothing more');
SELECT is(pg_temp.behind('s'), '0 false false', 'and is not behind');
SELECT is(pg_temp.got('quiet') || ' ' || pg_temp.behind('quiet'), 'nothing 1 true false', 'a subscription whose filter matches nothing stays where it is for a while');
CREATE TEMP TABLE before AS SELECT generation FROM clutch.subscription_position WHERE name = 's';
BEGIN;
SET LOCAL clutch.clock = '2100-01-01T00:00:00Z';
SELECT is(pg_temp.got('quiet') || ' ' || pg_temp.behind('quiet'), 'nothing 0 false false', 'and then moves on');
SELECT pg_temp.got('s') FROM generate_series(1, 3) \g /dev/null
SELECT results_eq($$SELECT generation FROM clutch.subscription_position WHERE name = 's'$$, 'TABLE before', 'reading nothing writes nothing');
COMMIT;
SELECT clutch.unsubscribe('quiet') \g /dev/null

-- one transaction with more events than a batch takes
BEGIN;
SELECT pg_temp.say('b' || n) FROM generate_series(1, 7) n \g /dev/null
COMMIT;
SELECT pg_temp.say('after') \g /dev/null
SELECT is(pg_temp.got('s', 3), 'b1 b2 b3', 'the first part of a batch');
SELECT pg_temp.done('s', 3) \g /dev/null
SELECT is(pg_temp.got('s', 3), 'b4 b5 b6', 'then more');
SELECT pg_temp.done('s', 3) \g /dev/null
SELECT is(pg_temp.got('s', 3), 'b7', 'and the rest');
SELECT pg_temp.done('s', 3) \g /dev/null
SELECT is(pg_temp.got('s', 3), 'after', 'then the later events');
SELECT pg_temp.done('s') \g /dev/null

-- a rolled back savepoint, and an event within one
BEGIN;
SAVEPOINT a;
SELECT pg_temp.say('never') \g /dev/null
ROLLBACK TO a;
SAVEPOINT b;
SELECT pg_temp.say('within') \g /dev/null
RELEASE b;
COMMIT;
SELECT is(pg_temp.got('s'), 'within', 'the events of a released savepoint');
SELECT pg_temp.done('s') \g /dev/null

-- ------------------------------------------------------------- filters
SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"}, "capabilities": [{"id": "skill:x"}], "groups": ["group:press"]}') \g /dev/null
SELECT pg_temp.say('f1', whom => '{agent:lois}', payload => '{"total": 5}') \g /dev/null
SELECT pg_temp.say('f2', 'chat.system', 'run:2', '{topic:news}', '{"total": 50}') \g /dev/null
SELECT pg_temp.say('f3', whom => '{group:press}', more => '{"domain": "sport", "payload_type": "score.v1"}') \g /dev/null
SELECT pg_temp.say('f4', whom => '{group:*}') \g /dev/null
SELECT is(pg_temp.wants('{"type": "chat.system"}'), 'f2', 'by type');
SELECT is(pg_temp.wants('{"type": ["chat.system", "task.*"]}'), 'f2', 'by types');
SELECT is((SELECT string_agg(type, ' ') FROM clutch.read_from('beginning', '{"type": "agent.*"}')), 'agent.register', 'by a family of types');
SELECT is(pg_temp.wants('{"run_id": "run:2"}'), 'f2', 'by run');
SELECT is(pg_temp.wants('{"topic": "news"}') || pg_temp.wants('{"topic": "topic:news"}'), 'f2f2', 'by topic');
SELECT is(pg_temp.wants('{"agent": "agent:lois"}'), 'f1 f4', 'an inbox has what is addressed to the agent and to all');
SELECT is(pg_temp.wants('{"agent": "agent:ken", "domain": "sport"}'), 'f3', 'and to its groups; all conditions must be met');
SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', id => 'given', run_id => 'run:given', task_id => 'task:given', requires => '{skill:x}')) \g /dev/null
SELECT is((SELECT string_agg(type, ' ' ORDER BY seq) FROM clutch.read_from('beginning', '{"agent": "agent:ken", "run_id": "run:given"}')), 'task.request routing.decision', 'and the request of a task that was assigned to the agent');
SELECT is((SELECT count(*) FROM clutch.read_from('beginning', '{"agent": "agent:lois", "run_id": "run:given"}')), 0::bigint, 'which the inbox of another agent does not have');
SELECT clutch.cancel('task:given') \g /dev/null
SELECT is(pg_temp.wants('{"payload_type": "score.v1"}'), 'f3', 'by payload type');
SELECT is(pg_temp.wants('{"thread_id": "thread:2"}') || pg_temp.wants('{"task_id": "task:2"}'), 'nothingnothing', 'by thread and task');
SELECT is(pg_temp.wants('{"path": "$.payload ? (@.total > 10)"}'), 'f2', 'by a path that finds something');
SELECT is(pg_temp.wants('{"path": "$.payload.total > 1"}'), 'f1 f2', 'or that is true');
SELECT pg_temp.say('odd', run => 'run:odd', payload => '{"total": "many", "at": "2020-01-01 00:00:00+00", "price": "$"}') \g /dev/null
SELECT is(pg_temp.wants(jsonb_build_object('run_id', 'run:odd', 'path', path)), coalesce(fits, 'nothing'), path)
FROM (VALUES ('$.payload.total > 1', NULL), ('!($.payload.total > 1)', NULL), ('($.payload.total > 1) is unknown', 'odd'),
	('$.payload.at.datetime() < "2021-01-01".datetime()', 'odd'), ('$.payload.at.datetime() > "2021-01-01".datetime()', NULL),
	('$.payload.total.double()', NULL), ('$.payload ? (@.price == "$")', 'odd'), ('$.payload ? (@.price == "\"$")', NULL)) v(path, fits);
SELECT throws_ok($$SELECT clutch.subscribe('bad', '{"path": "$.payload ? (@.total > $most)"}')$$, '22023', NULL, 'a path may have a variable');
SELECT is(fixture.fault(format($$SELECT clutch.subscribe('bad', jsonb_build_object('path', %L))$$, path)), '22023 WRONG_VALUE /path', 'an unknown format is refused: ' || path)
FROM (VALUES ('$.payload.at.datetime("foo")'), ('$."a.b(" ? (@.c == "\").x(" && @[*].datetime("d)\"").type() == "date")')) v(path);
SELECT is(pg_temp.wants('{"run_id": "run:odd", "path": "$.payload.at.datetime(\"YYYY-MM-DD HH24:MI:SSTZH\") > \"2019-12-31\".datetime()"}'), 'odd', 'a known format is accepted');
SELECT is(pg_temp.wants('{"run_id": "run:odd", "type": "*"}'), 'odd', 'the empty prefix matches every type');
SELECT throws_ok($$SELECT clutch.subscribe('bad', '{"colour": "red", "type": 1, "run_id": []}')$$, '22023', NULL, 'an unknown key is refused');
SELECT is(fixture.fault($$SELECT clutch.subscribe('bad', '{"path": "$.a ? ("}')$$), '22023 WRONG_VALUE /path', 'a path with a syntax error is refused');
SELECT throws_ok($$SELECT clutch.subscribe('bad', '[]')$$, '22023', NULL, 'a filter must be an object');
SELECT throws_ok(format($$SELECT pg_temp.say('no', 'task.request', whom => %L)$$, ARRAY[whom]), 'KL001', NULL, whom || ' is asked for nothing')
FROM unnest('{topic:news,group:*}'::text[]) whom;

-- a message that nobody has read in time
SELECT clutch.subscribe('ttl') \g /dev/null
SELECT pg_temp.say('stale', more => '{"ts": "2026-01-01T00:00:00Z", "meta": {"clutch": {"ttl_ms": 1000}}}'), pg_temp.say('fresh', more => '{"meta": {"clutch": {"ttl_ms": 3600000}}}') \g /dev/null
SELECT is(pg_temp.got('ttl'), 'fresh', 'an event that came before is not delivered any more');
SELECT is((SELECT count(*) FROM clutch.events WHERE id = 'stale'), 1::bigint, 'but the log has it');

-- ------------------------------------------------------------- members
SELECT clutch.subscribe('team', '{"type": "chat.message"}', 'now', 3) \g /dev/null
SELECT pg_temp.say('t' || n, run => 'run:t' || n) FROM generate_series(1, 30) n \g /dev/null
SELECT is((SELECT count(DISTINCT id) || ' ' || count(*) FROM generate_series(0, 2) m, clutch.read('team', 100, m)), '30 30', 'each event goes to one member');
SELECT ok((SELECT min(c) > 0 FROM (SELECT count(*) FROM generate_series(0, 2) m, clutch.read('team', 100, m) GROUP BY m) AS n(c)), 'each member has some');
SELECT throws_ok($$SELECT clutch.read('team', 1, 3)$$, '22023', NULL, 'there are three members');
SELECT throws_ok($$SELECT clutch.commit('team', max(pos)) FROM clutch.read('team', 100, 1)$$, 'KL008', NULL, 'a member cannot commit what another one was given');
SELECT throws_ok($$SELECT clutch.commit('team', max(pos), 1) FROM clutch.read('team', 100, 0)$$, 'KL008', NULL, 'whichever member was created first');
SELECT max(pos) AS first_pos FROM clutch.read('team', 100, 1) \gset
SELECT pg_temp.done('team', 100, m), pg_temp.say('u' || m || n, run => 'run:t' || n) FROM generate_series(0, 2) m, generate_series(1, 30) n \g /dev/null
SELECT is((SELECT count(DISTINCT m) FROM generate_series(0, 2) m, clutch.read('team', 100, m)), 3::bigint, 'each member is in its second batch');
SELECT lives_ok(format($$SELECT clutch.commit('team', %L, 1)$$, :'first_pos'), 'a member can commit its own earlier batch again');
SELECT throws_ok(format($$SELECT clutch.commit('team', %L)$$, :'first_pos'), 'KL008', NULL, 'and no other member can');

-- a batch that version 0.2.0 gave, which numbered the batches of all members alike
UPDATE clutch.subscription_position SET batch = 7 WHERE name = 'team';
SELECT pg_temp.done('team', 100, m) FROM generate_series(0, 2) m \g /dev/null
SELECT is((SELECT count(*) FROM generate_series(0, 2) m, clutch.read('team', 100, m)), 0::bigint, 'an open batch of version 0.2.0 can be committed');
SELECT pg_temp.say('v' || n, run => 'run:t' || n) FROM generate_series(1, 30) n \g /dev/null
SELECT count(*) FROM generate_series(0, 2) m, clutch.read('team', 100, m) \g /dev/null
SELECT is((SELECT string_agg(batch % 1024 || ' ' || (batch > 7), ', ' ORDER BY member) FROM clutch.subscriptions WHERE name = 'team'), '0 true, 1 true, 2 true', 'and the next one has the member in its number');

-- ------------------------------------------------------ without a state
CREATE TEMP TABLE p AS SELECT clutch.position() AS pos;
SELECT pg_temp.say('r1') \g /dev/null
SELECT pg_temp.say('r2') \g /dev/null
SELECT is((SELECT string_agg(id || ' ' || (r.pos IS NULL), ', ') FROM p, clutch.read_from(p.pos) r), 'r1 true, r2 false', 'read_from returns what is new, and a position on the last row');
SELECT is((SELECT count(*) FROM p, clutch.read_from(p.pos) r, clutch.read_from(r.pos) n WHERE r.pos IS NOT NULL), 0::bigint, 'there is nothing behind that position');
BEGIN;
SELECT pg_temp.say('big' || n) FROM generate_series(1, 5) n \g /dev/null
COMMIT;
CREATE FUNCTION pg_temp.page(start text) RETURNS TABLE (ids text, pos text) LANGUAGE sql AS
$$ SELECT string_agg(id, ' ' ORDER BY seq), max(r.pos) FROM clutch.read_from(start, '{}', 2) r $$;
WITH RECURSIVE pages AS (
	SELECT 1 AS n, g.ids, g.pos FROM p, pg_temp.page(p.pos) g
UNION ALL
	SELECT n + 1, g.ids, g.pos FROM pages, pg_temp.page(pages.pos) g WHERE pages.pos IS NOT NULL
)
SELECT is(string_agg(ids, ', ' ORDER BY n), 'r1 r2, big1 big2, big3 big4, big5', 'page by page, also within one transaction') FROM pages;
SELECT page.pos AS within FROM p, pg_temp.page(p.pos) AS r, pg_temp.page(r.pos) AS page \gset
SELECT is(clutch.subscribe('rest', start => :'within'), 'rest', 'a subscription can start at a position within a transaction');
SELECT clutch.subscribe('rest of two', '{}', :'within', 2) \g /dev/null
SELECT pg_temp.say('after big') \g /dev/null
SELECT is(pg_temp.got('rest', 2), 'big3 big4', 'with the rest of that transaction');
SELECT pg_temp.done('rest', 2) \g /dev/null
SELECT is(pg_temp.got('rest', 2), 'big5', 'of which a part can be committed');
SELECT pg_temp.done('rest', 2) \g /dev/null
SELECT is(pg_temp.got('rest'), 'after big', 'and continues after it');
SELECT is((SELECT string_agg(id, ' ' ORDER BY seq) FROM generate_series(0, 1) m, clutch.read('rest of two', 100, m)), 'big3 big4 big5', 'the same with several members');
SELECT clutch.unsubscribe(n) FROM unnest('{rest,rest of two}'::text[]) n \g /dev/null
SELECT throws_ok(format($$SELECT clutch.subscribe('bad', start => %L)$$, :'within' || 'x'), '22023', NULL, 'but not at anything else');
SELECT throws_ok($$SELECT clutch.read_from('p1.1')$$, '22023', NULL, 'an invalid position is refused');
SELECT throws_ok($$SELECT clutch.read_from('p1.1.1.1.10/p1.1/3')$$, '22023', NULL, 'and so is half of one');
SELECT throws_ok($$SELECT clutch.read_from('p1.9.1.1.10')$$, 'KL008', NULL, 'one of a copy in the future');
SELECT throws_ok($$SELECT clutch.read_from('p1.1.1.123.10')$$, 'KL008', NULL, 'one of another copy');
SELECT throws_ok(format($$SELECT clutch.read_from(%L)$$, regexp_replace(clutch.position(), '[0-9]+$', '999999999')), 'KL008', NULL, 'and one of the future');
SELECT is(fixture.hint_of(format($$SELECT clutch.read_from(%L)$$, regexp_replace(clutch.position(), '[0-9]+$', '999999999'))), 'If this transaction began before the position was taken, read in a new one.', 'for which a primary does not have to catch up');

-- ------------------------------------------------------------ refusals
SELECT throws_ok($$SELECT clutch.read('nobody')$$, '42704', NULL, 'an unknown subscription is refused');
SELECT throws_ok($$SELECT clutch.subscribe('s', '{"type": "task.*"}')$$, '42710', NULL, 'a name is taken once');
SELECT lives_ok($$SELECT clutch.subscribe('s')$$, 'subscribing again with the same arguments changes nothing');
SELECT throws_ok($$SELECT clutch.commit('s', 'ffffffffffffffffffffffffffffffff')$$, '22023', NULL, 'an invalid pos is refused');
SELECT throws_ok($$SELECT clutch.commit('s', '7fffffffffffffff0000000000000001')$$, 'KL008', NULL, 'and so is one of a batch in the future');
SELECT clutch.subscribe('again', start => 'beginning') \g /dev/null
SELECT max(pos) AS old_pos FROM clutch.read('again', 1000) \gset
SELECT clutch.unsubscribe('again'), clutch.subscribe('again', start => 'beginning') \g /dev/null
SELECT count(*) AS unread FROM clutch.read('again', 1000) \gset
SELECT lives_ok(format('SELECT clutch.commit(''again'', %L)', :'old_pos'), 'a pos of an earlier subscription of the same name');
SELECT is((SELECT count(*) FROM clutch.read('again', 1000)), :unread::bigint, 'has no effect');
SELECT clutch.unsubscribe('again') \g /dev/null
SELECT throws_ok($$SELECT clutch.read('s', 0)$$, '22023', NULL, 'max_events must be at least one');
CREATE ROLE subscription_stranger;
SELECT clutch.grant_agent('subscription_stranger', 'agent:lois') \g /dev/null
SET ROLE subscription_stranger;
SELECT throws_ok($$SELECT clutch.read('s')$$, '42704', NULL, 'a role cannot read the subscription of another role');
SELECT is(clutch.unsubscribe('s'), false, 'nor end it');
SELECT is(clutch.subscribe('s', '{"agent": "agent:lois"}'), 's', 'it can have one of the same name');
SELECT lives_ok($$SELECT clutch.commit('s', (SELECT max(pos) FROM clutch.read('s')))$$, 'which it reads');
SELECT is((SELECT string_agg(concat_ws(' ', name, owner), ', ') FROM clutch.subscriptions), 's subscription_stranger', 'and which is all that it sees');
SELECT is((SELECT count(*) FROM clutch.subscription_position WHERE name = 's'), 1::bigint, 'with its one position');
RESET ROLE;
SELECT is((SELECT count(DISTINCT owner) FROM clutch.subscriptions WHERE name = 's'), 2::bigint, 'an operator sees both');
SELECT is((SELECT string_agg(filter::text, ' ') FROM clutch.subscriptions WHERE name = 's' AND owner = current_user::regrole), '{}', 'and has its own');
SET ROLE subscription_stranger;
SELECT clutch.unsubscribe('s') \g /dev/null
SELECT clutch.subscribe('everything', start => 'beginning'), clutch.subscribe('kens', '{"agent": "agent:ken"}', 'beginning') \g /dev/null
SELECT is((SELECT string_agg(DISTINCT run_id, ' ') FROM clutch.read('everything', 1000)), (SELECT string_agg(r, ' ' ORDER BY r) FROM unnest(clutch.my_runs()) r),
	'a role that subscribes to everything gets what it may see');
SELECT is((SELECT count(*) FROM clutch.read('kens') WHERE run_id <> ALL (clutch.my_runs())), 0::bigint, 'and of the inbox of another agent the same');
SELECT is(clutch.unsubscribe('everything') AND clutch.unsubscribe('kens'), true, 'it removes them');
SELECT is(clutch.subscribe('mine', '{"agent": "agent:lois"}', 'beginning'), 'mine', 'it reads the inbox of its own agent');
SELECT is((SELECT string_agg(id, ' ') FROM clutch.read('mine')), 'f1 f4', 'and nothing else');
RESET ROLE;
SELECT ok((SELECT behind >= 43 AND oldest IS NOT NULL FROM clutch.subscriptions WHERE name = 's'), 'the view shows how far behind each member is');
SELECT is(clutch.unsubscribe('mine') || ' ' || clutch.unsubscribe('mine'), 'true false', 'unsubscribe() returns true once');
SELECT clutch.revoke_agent('subscription_stranger', 'agent:lois'), clutch.unsubscribe(n) FROM unnest('{s,all,ttl,team}'::text[]) n \g /dev/null
SELECT is((SELECT count(*) FROM clutch.subscription_position), 0::bigint, 'and leaves nothing behind');
DROP ROLE subscription_stranger;

-- ----------------------------------------------------- a dump, and its roles
CREATE ROLE subscription_stranger;
SELECT clutch.grant_reader('subscription_stranger') \g /dev/null
SET ROLE subscription_stranger;
SELECT clutch.subscribe('of a stranger', members => 2) \g /dev/null
RESET ROLE;
SELECT clutch.subscribe('ours') \g /dev/null
DROP OWNED BY subscription_stranger;
DROP ROLE subscription_stranger;
CREATE FUNCTION pg_temp.dumped(relation regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	condition text;
	names text;
BEGIN
	SELECT extcondition[array_position(extconfig, relation)] INTO condition FROM pg_extension WHERE extname = 'clutch';
	EXECUTE format('SELECT string_agg(name, '','') FROM ONLY %s %s', relation, condition) INTO names;
	RETURN names;
END $$;
SELECT is(pg_temp.dumped('clutch.subscription'), 'ours', 'subscriptions of a dropped role are not dumped');
SELECT is(pg_temp.dumped('clutch.subscription_position'), 'ours', 'nor are their positions');
SELECT pg_temp.say('r' || n) FROM generate_series(3, 5) n \g /dev/null
SELECT pg_temp.done('ours') FROM generate_series(1, 2) \g /dev/null
DELETE FROM clutch.subscription WHERE name = 'ours';
SELECT clutch.subscribe('ours', start => 'beginning', filter => '{"run_id": "run:1"}') \g /dev/null
SELECT is((SELECT min(id) FROM clutch.read('ours', 1)), 'm1', 'positions that a restore left without their subscription are not used');
SELECT clutch.unsubscribe(n) FROM unnest('{ours,of a stranger}'::text[]) n \g /dev/null
SELECT is((SELECT count(*) FROM clutch.subscription_position), 0::bigint, 'nothing is left behind');

-- -------------------------------------------------------- large envelopes
SELECT count(pg_temp.say('fat' || n, run => 'run:fat', payload => jsonb_build_object('x', (SELECT string_agg(md5(n || ' ' || m), '') FROM generate_series(1, 10000) m))))
FROM generate_series(1, 50) n \g /dev/null
SELECT clutch.subscribe('fat', '{"run_id": "run:fat"}', 'beginning') \g /dev/null
SET work_mem = '1MB';
-- how much memory a read still holds when it returns its first row
SELECT cmp_ok((SELECT sum(m.total_bytes) FROM pg_backend_memory_contexts m, (SELECT seq FROM clutch.read_from('beginning', '{"run_id": "run:fat"}') LIMIT 1) r WHERE r.seq > 0), '<', 10000000::numeric,
	'16 MB of envelopes are not all in memory at once');
SELECT cmp_ok((SELECT sum(m.total_bytes) FROM (SELECT seq FROM clutch.read('fat') LIMIT 1) r, LATERAL (SELECT total_bytes FROM pg_backend_memory_contexts WHERE r.seq > 0) m), '<', 10000000::numeric,
	'nor are those of a subscription');
RESET work_mem;
SELECT clutch.unsubscribe('fat') \g /dev/null

-- ----------------------------------------------------- in a parallel query
CREATE TABLE numbers AS SELECT n FROM generate_series(1, 5000) n;
ANALYZE numbers;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT lives_ok($$ SELECT clutch.position() FROM numbers $$, 'a position costs no memory beside a large table');
SELECT lives_ok($$ SELECT r.seq FROM numbers, clutch.read_from('beginning') r $$, 'nor does a read');
SELECT lives_ok($$ SELECT clutch.envelope('task.request', 'agent:ui', parent_task_id => p.task_id)
	FROM numbers, (SELECT task_id FROM clutch.task LIMIT 1) p WHERE n < 10 $$, 'nor an envelope below a task');
DROP TABLE numbers;

-- ------------------------------ made by an initdb after 2038: the highest bit
UPDATE clutch.epoch SET system_identifier = -5;
SELECT clutch.subscribe('late', start => 'beginning') \g /dev/null
SELECT lives_ok($$ SELECT FROM clutch.read('late') $$, 'a system identifier is a number without a sign');
SELECT clutch.unsubscribe('late') \g /dev/null
UPDATE clutch.epoch SET system_identifier = c.system_identifier FROM pg_control_system() c;

-- ----------------------- a copy in another cluster, and what came by replication
SET session_replication_role = replica;
INSERT INTO clutch.events (envelope) SELECT clutch.envelope('chat.message', 'agent:far', '{agent:ken}', id => 'far' || n, run_id => 'run:far', thread_id => 'thread:far', task_id => 'task:far')
FROM generate_series(1, 2) n;
RESET session_replication_role;
SELECT is((SELECT string_agg(id || ' ' || epoch, ', ' ORDER BY seq) FROM clutch.events WHERE run_id = 'run:far'), 'far1 -1, far2 -1', 'events that came by replication have the negative epoch in which they came');
SELECT clutch.subscribe('far', '{"run_id": "run:far"}', 'beginning'), clutch.subscribe('copy', '{"type": "chat.*"}', 'beginning') \g /dev/null
SELECT batch AS first_batch FROM clutch.subscriptions WHERE name = 'copy' \gset
SELECT clutch.commit('far', min(pos)) FROM clutch.read('far') \g /dev/null
CREATE TEMP TABLE page (id text, n integer);
CREATE FUNCTION pg_temp.read_all(name text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
	n integer := 0;
BEGIN
	LOOP
		WITH batch AS MATERIALIZED (SELECT * FROM clutch.read(name, 5)), kept AS (INSERT INTO page SELECT id, n FROM batch)
		SELECT n + 1 INTO n FROM (SELECT count(*), clutch.commit(name, max(pos)) FROM batch) AS b(events) WHERE events > 0;
		IF n IS NULL THEN
			RETURN (SELECT max(p.n) + 1 FROM page p);
		END IF;
	END LOOP;
END $$;
-- as if all events had been written by the system with the identifier 7
UPDATE clutch.epoch SET system_identifier = 7;
UPDATE clutch.subscription_position SET seen = replace(seen, c.here, '.7.'), until = replace(until, c.here, '.7.')
FROM (SELECT '.' || system_identifier || '.' FROM pg_control_system()) AS c(here);
SELECT is(pg_temp.got('far'), 'far2', 'in a copy the subscription reads them like the others');
SELECT pg_temp.done('far') \g /dev/null
SELECT is(pg_temp.got('far'), 'nothing', 'and once');
SELECT ok(pg_temp.read_all('copy') > 20, 'in a copy a subscription can be read from the beginning');
SELECT is((SELECT count(DISTINCT id) || ' ' || count(*) FROM page), (SELECT count(*) || ' ' || count(*) FROM clutch.events WHERE type LIKE 'chat.%' AND id <> 'stale'), 'each event once');
SELECT cmp_ok((batch - :first_batch) / 1024, '>', 4::bigint, 'in many batches, because a single one would be searched for each of its parts') FROM clutch.subscriptions WHERE name = 'copy';
CREATE TEMP TABLE of_copy AS SELECT pos FROM clutch.read_from('beginning', '{}', 2) WHERE pos IS NOT NULL;
SELECT is((SELECT string_agg(r.id, ' ' ORDER BY seq) FROM of_copy, clutch.read_from(of_copy.pos, '{"type": "chat.*"}', 2) r), 'm3 m4', 'a position among inherited events can be continued');
UPDATE clutch.epoch SET system_identifier = c.system_identifier FROM pg_control_system() c;
SELECT throws_ok(format('SELECT clutch.read_from(%L)', pos), 'KL008', NULL, 'but is refused in the original, which may have gone on') FROM of_copy;
SELECT clutch.unsubscribe(n) FROM unnest('{far,copy}'::text[]) n \g /dev/null

-- ------------------------------------------------------------ locks
-- CREATE INDEX on the log keeps writers out; a reader must not wait for it.
SELECT clutch.subscribe('locks', start => 'beginning') \g /dev/null
BEGIN;
SELECT pg_temp.done('locks', 5) \g /dev/null
SELECT pg_temp.got('locks', 5) \g /dev/null
SELECT set_eq($$ SELECT mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'clutch.events'::regclass $$, '{AccessShareLock}'::text[], 'who reads and commits a batch locks the log for reading only');
COMMIT;
SELECT clutch.unsubscribe('locks') \g /dev/null

SELECT * FROM finish();
