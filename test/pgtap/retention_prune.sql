-- What is old leaves the log as a whole, with the state that was made of it;
-- the rest, and what a rebuild makes of it, stays as it was.
\ir ../fixtures/tap.sql
SELECT plan(79);

SELECT set_config('clutch.notify', 'off', false) \g /dev/null
SELECT fixture.at(0) \g /dev/null

-- all that may be pruned: how many events that was
CREATE FUNCTION pg_temp.pruned(seconds numeric, at_once integer DEFAULT 10000) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	removed bigint;
	n bigint := 0;
BEGIN
	LOOP
		removed := clutch.prune(timestamptz '2026-01-01 12:00:00Z' + seconds * interval '1 s', at_once);
		n := n + removed;
		EXIT WHEN removed = 0;
	END LOOP;
	RETURN n;
END $$;
CREATE FUNCTION pg_temp.runs() RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(DISTINCT run_id, ' ' ORDER BY run_id) FROM clutch.events WHERE run_id NOT IN ('run:agents', 'run:audit') $$;
CREATE FUNCTION pg_temp.say(id text, run text DEFAULT 'run:talk') RETURNS bigint LANGUAGE sql AS
$$ SELECT seq FROM clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', id => id, run_id => run, thread_id => 'thread:1', task_id => 'task:talk')) $$;
CREATE FUNCTION pg_temp.finish(task text) RETURNS void LANGUAGE sql AS
$$ SELECT clutch.finish('agent:ken', task, '{"text": "secret"}') $$;
CREATE FUNCTION pg_temp.left_of(run text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', (SELECT count(*) FROM clutch.events WHERE run_id = run), (SELECT count(*) FROM clutch.task WHERE run_id = run),
		(SELECT count(*) FROM clutch.dependency WHERE run_id = run), (SELECT count(*) FROM clutch.budget WHERE run_id = run),
		(SELECT count(*) FROM clutch.run_scope WHERE run_id = run), (SELECT count(*) FROM clutch.spending WHERE run_id = run))
$$;

SELECT fixture.agent('ken', 20, more => '{"scopes": ["group:a"]}') \g /dev/null
SELECT fixture.ask('done', run => 'run:done', orders => '{"scope": "group:a", "budget": {"tokens": 900}}') \g /dev/null
SELECT fixture.ask('done_child', parent => 'done', run => 'run:done') \g /dev/null
SELECT fixture.ask('done_after', run => 'run:done', orders => fixture.after('done')) \g /dev/null
SELECT fixture.ask('half', run => 'run:half') \g /dev/null
SELECT fixture.ask('half_open', run => 'run:half') \g /dev/null
SELECT fixture.ask('failed', run => 'run:failed') \g /dev/null
SELECT fixture.claimed('agent:ken') \g /dev/null
SELECT clutch.send(clutch.envelope('task.result', 'agent:ken', run_id => 'run:done', thread_id => 'thread:1', task_id => 'done', attempt => 1,
	meta => '{"clutch": {"usage": {"input_tokens": 70, "cost": 0.5}}}')) \g /dev/null
SELECT pg_temp.finish(t) FROM unnest('{done_child,half}'::text[]) t \g /dev/null
SELECT clutch.fail('agent:ken', 'failed', 'NO_GOOD', 'it is a secret', false) \g /dev/null
SELECT fixture.claimed('agent:ken') \g /dev/null
SELECT clutch.step('agent:ken', 'done_after', 'first', '{"a": 1}') \g /dev/null
SELECT pg_temp.finish('done_after') \g /dev/null
SELECT pg_temp.say('old ' || n) FROM generate_series(1, 5) n \g /dev/null
SELECT fixture.at(1000) \g /dev/null
SELECT fixture.ask('young', run => 'run:young') \g /dev/null
SELECT fixture.claimed('agent:ken') \g /dev/null
SELECT pg_temp.finish('young') \g /dev/null
SELECT pg_temp.say('new ' || n) FROM generate_series(1, 3) n \g /dev/null
SELECT is(pg_temp.left_of('run:done'), '13 3 1 1 1 1', 'a run has events, tasks, an edge, a budget, a scope and usage');

-- --------------------------------------------------------------- what goes
CREATE TEMP TABLE before AS SELECT * FROM clutch.events;
SELECT is(clutch.prune('2026-01-01 11:00:00Z'), 0::bigint, 'nothing is that old');
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:audit'), 0::bigint, 'and a call that removes nothing leaves no event');
SELECT is(pg_temp.pruned(500), 13::bigint + (SELECT count(*) FROM before WHERE run_id = 'run:failed') + 5, 'prune returns how many events it has removed');
SELECT is(pg_temp.runs(), 'run:half run:talk run:young', 'runs that are over and old are gone');
SELECT is(pg_temp.left_of('run:done'), '0 0 0 0 0 0', 'and so is all that belonged to them');
SELECT is((SELECT count(*) FROM clutch.step), 0::bigint, 'steps too');
SELECT is(pg_temp.left_of('run:failed'), '0 0 0 0 0 0', 'whatever their end was');
SELECT is((SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.tasks), 'half half_open young', 'a run with an open task stays as a whole');
SELECT is((SELECT count(*) FROM clutch.events WHERE id LIKE 'old %'), 0::bigint, 'of a run without tasks, old messages go');
SELECT is((SELECT count(*) FROM clutch.events WHERE id LIKE 'new %'), 3::bigint, 'and young ones stay');
SELECT is((SELECT count(*) FROM clutch.events WHERE type LIKE 'agent.%'), (SELECT count(*) FROM before WHERE type LIKE 'agent.%'), 'what the registry is made of stays');
SELECT is_empty($$SELECT e.seq FROM clutch.events e WHERE run_id <> 'run:audit' EXCEPT SELECT seq FROM before$$, 'nothing new was written but the audit');
SELECT is_empty($$SELECT e::text FROM clutch.events e WHERE run_id <> 'run:audit' EXCEPT SELECT b::text FROM before b$$, 'and what stays is as it was');
SELECT fixture.answers('SELECT run_id, agent_id, day, tokens, cost FROM clutch.spending_total',
	$$VALUES ('run:done', 'agent:ken', '2026-01-01'::date, 70, 0.5)$$, 'what the run has cost is kept for the day');
SELECT is(fixture.rebuilt(), 'the same', 'a rebuild finds the same state');
SELECT fixture.answers('SELECT run_id, agent_id, day, tokens, cost FROM clutch.spending_total',
	$$VALUES ('run:done', 'agent:ken', '2026-01-01'::date, 70, 0.5)$$, 'and leaves the totals alone');
SELECT is_empty('SELECT * FROM clutch.check() WHERE code <> ''TIMER_OVERDUE''', 'check() finds nothing');
SELECT throws_ok($$SELECT clutch.result('done')$$, 'KL003', NULL, 'a pruned task is unknown');

-- --------------------------------------------------------------- the audit
SELECT fixture.answers($$SELECT type, from_agent, payload_type, envelope #>> '{payload,by}', envelope #>> '{payload,before}', envelope #> '{payload,run_ids}', (envelope #>> '{payload,runs}')::int,
	(envelope #>> '{payload,tasks}')::int FROM clutch.events WHERE run_id = 'run:audit'$$,
	$$VALUES ('chat.system', 'agent:orchestrator', 'audit.pruned', 'postgres', '2026-01-01T12:08:20.000000Z', '["run:done", "run:failed"]'::jsonb, 2, 4)$$, 'an event says who has removed what');
SELECT is((SELECT sum((envelope #>> '{payload,events}')::int) FROM clutch.events WHERE run_id = 'run:audit'),
	13::bigint + (SELECT count(*) FROM before WHERE run_id = 'run:failed') + 5, 'and how many events');
SELECT is(clutch.prune('infinity'), (SELECT count(*) FROM before WHERE run_id = 'run:young') + 3, 'infinity is later than all that is over');
SELECT is(pg_temp.runs(), 'run:half', 'so only what is open stays');
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:audit'), 2::bigint, 'and the audit of earlier calls');
SELECT is(fixture.rebuilt(), 'the same', 'still as a rebuild has it');

-- ------------------------------------------------------ a pruned id is free
CREATE ROLE clutch_test_stranger;
SELECT clutch.grant_agent('clutch_test_stranger', 'agent:stranger') \g /dev/null
BEGIN;
SET LOCAL ROLE clutch_test_stranger;
SELECT clutch.send(clutch.envelope('chat.message', 'agent:stranger', run_id => 'run:done')) \g /dev/null
SELECT is_empty('SELECT * FROM clutch.costs', 'who begins another run of the name is not told what the old one has cost');
ROLLBACK;
SELECT clutch.revoke_agent('clutch_test_stranger', 'agent:stranger') \g /dev/null
DROP ROLE clutch_test_stranger;
SELECT is((SELECT duplicate FROM fixture.ask('done', run => 'run:done')), false, 'an id of a pruned run may be sent again, and is a new event');
SELECT is(fixture.state('done'), 'assigned agent:ken 1', 'with a new task');
SELECT is((SELECT scope FROM clutch.task WHERE task_id = 'done'), NULL, 'of which the run has no scope any more');
SELECT fixture.claimed('agent:ken') \g /dev/null
SELECT clutch.send(clutch.envelope('task.result', 'agent:ken', run_id => 'run:done', thread_id => 'thread:1', task_id => 'done', attempt => 1,
	meta => '{"clutch": {"usage": {"input_tokens": 5}}}')) \g /dev/null
SELECT pg_temp.finish('half_open') \g /dev/null
SELECT ok(pg_temp.pruned(2000) > 0, 'it is pruned like the first');
SELECT fixture.answers('SELECT run_id, sum(tokens), sum(cost) FROM clutch.spending_total GROUP BY 1', $$VALUES ('run:done', 75, 0.5)$$, 'and its cost is added');
SELECT is(pg_temp.runs(), NULL, 'a run goes when its last task is over');

-- ---------------------------------------------------------------- in batches
SELECT fixture.ask('t' || n, run => 'run:' || n) FROM generate_series(1, 20) n \g /dev/null
SELECT clutch.cancel('t' || n) FROM generate_series(1, 20) n \g /dev/null
SELECT fixture.ask('big' || n, run => 'run:big') FROM generate_series(1, 15) n \g /dev/null
SELECT clutch.cancel('big' || n) FROM generate_series(1, 15) n \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:1'), 3::bigint, 'each of these runs has three events');
SELECT is(clutch.prune('2026-01-02', 10), 9::bigint, 'a batch ends before the run that would not fit');
SELECT is(clutch.prune('2026-01-02', 10), 9::bigint, 'the next one goes on there');
SELECT is(clutch.prune('2026-01-02', 1), 3::bigint, 'a run that does not fit at all goes alone');
SELECT is(pg_temp.pruned(86400, 10), 39::bigint + 45, 'until nothing is left');
SELECT is(pg_temp.runs(), NULL, 'the big run, too');
SELECT pg_temp.say('m ' || n) FROM generate_series(1, 25) n \g /dev/null
SELECT is(clutch.prune('2026-01-02', 10), 10::bigint, 'messages fill a batch exactly');
SELECT is(pg_temp.pruned(86400, 10), 15::bigint, 'and the rest follows');
-- what was open when the search came by is found when it comes by again
SELECT fixture.ask('first', run => 'run:first') \g /dev/null
SELECT pg_temp.say('n ' || n) FROM generate_series(1, 20) n \g /dev/null
SELECT clutch.prune('2026-01-02', 10) \g /dev/null
SELECT clutch.cancel('first') \g /dev/null
SELECT is(pg_temp.pruned(86400, 10), 13::bigint, 'what is over only now is found');

-- -------------------------------------------------------------- subscriptions
SELECT clutch.subscribe('all', '{}', 'now') \g /dev/null
SELECT clutch.subscribe('news', '{"topic": "topic:news"}', 'now', 2) \g /dev/null
SELECT pg_temp.say('unread ' || n, 'run:unread' || n % 2) FROM generate_series(1, 8) n \g /dev/null
SELECT is(pg_temp.pruned(86400), 0::bigint, 'what a subscription has not handled stays');
CREATE TEMP TABLE answer AS SELECT * FROM clutch.read('all', 100);
SELECT is((SELECT count(*) FROM answer), 8::bigint, 'so it can read it');
SELECT is(pg_temp.pruned(86400), 0::bigint, 'what it has read, but not committed, stays as well');
SELECT clutch.commit('all', (SELECT max(pos) FROM answer)) \g /dev/null
SELECT count(*) FROM clutch.read('all') \g /dev/null
SELECT is(pg_temp.pruned(86400), 0::bigint, 'and what another one has not looked at');
SELECT set_config('clutch.clock', '2026-01-03T00:00:00Z', false) \g /dev/null
SELECT count(*) FROM clutch.read('news', 10, 0) \g /dev/null
SELECT is(pg_temp.pruned(86400), 0::bigint, 'or one of its members');
SELECT count(*) FROM clutch.read('news', 10, 1) \g /dev/null
SELECT is(pg_temp.pruned(86400), 8::bigint, 'an event that does not fit its filter counts as read when the reader has come by');
SELECT pg_temp.say('unread again') \g /dev/null
SELECT is(pg_temp.pruned(4 * 86400), 0::bigint, 'again it stays');
SELECT is((SELECT count(*) FROM clutch.check() WHERE code = 'RETENTION_HELD'), 0::bigint, 'which is no fault where nothing is removed');
SELECT set_config('clutch.clock', '2026-01-12T00:00:00Z', false) \g /dev/null
SET clutch.retention = '9 days';
SELECT is((SELECT count(*) FROM clutch.check() WHERE code = 'RETENTION_HELD'), 0::bigint, 'nor before its time');
SELECT set_config('clutch.clock', '2026-01-12T00:05:01Z', false) \g /dev/null
SELECT is((SELECT string_agg(detail || ' / ' || hint, ', ' ORDER BY detail) FROM clutch.check() WHERE code = 'RETENTION_HELD'),
	(SELECT string_agg(format('events since %s are kept, because the subscription %L of %s has not handled them / Let %3$s read them, or call clutch.unsubscribe(%2$L); or set clutch.prune_unread to on to remove them unread.', '2026-01-03 00:00:00+00'::timestamptz, name, current_user::regrole), ', ' ORDER BY name) FROM unnest('{all,news}'::text[]) AS name),
	'then clutch.check() names the subscriptions');
SET clutch.retention = off;
SELECT set_config('clutch.clock', '2026-01-03T00:00:00Z', false) \g /dev/null
SET clutch.prune_unread = on;
SET clutch.retention = '1 day';
SELECT is((SELECT count(*) FROM clutch.check() WHERE code = 'RETENTION_HELD'), 0::bigint, 'but not if they hold nothing up');
RESET clutch.retention;
SELECT is(pg_temp.pruned(4 * 86400), 1::bigint, 'unless clutch.prune_unread is on');
RESET clutch.prune_unread;
SELECT is((SELECT count(*) FROM clutch.read('all')), (SELECT count(*) FROM clutch.events WHERE run_id = 'run:audit' AND xid > (SELECT xid FROM before LIMIT 1) AND seq > (SELECT max(seq) FROM answer)), 'a subscription reads on over the gap');
SELECT clutch.unsubscribe('all'), clutch.unsubscribe('news') \g /dev/null

-- --------------------------------------------------------- an open message
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', id => 'msg_open', run_id => 'run:talk', thread_id => 'thread:1', task_id => 'task:talk',
	meta => '{"clutch": {"deadline": "2030-01-01T00:00:00Z"}}')) \g /dev/null
SELECT is(pg_temp.pruned(4 * 86400), 0::bigint, 'a message to which somebody may still reply stays');
SELECT is(fixture.rebuilt(), 'the same', 'as a rebuild has it');
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ken', '{agent:ui}', run_id => 'run:talk', thread_id => 'thread:1', task_id => 'task:talk', meta => '{"clutch": {"reply_to": "msg_open"}}')) \g /dev/null
SELECT is(pg_temp.pruned(4 * 86400), 2::bigint, 'and goes with its reply');

-- ------------------------------------------------- what users attach to the log
CREATE TABLE note (event_id text, run_id text, FOREIGN KEY (event_id, run_id) REFERENCES clutch.events);
CREATE TABLE cascading (event_id text, run_id text, FOREIGN KEY (event_id, run_id) REFERENCES clutch.events ON DELETE CASCADE);
SELECT pg_temp.say('noted'), pg_temp.say('followed'), pg_temp.say('free') \g /dev/null
INSERT INTO note VALUES ('noted', 'run:talk');
INSERT INTO cascading VALUES ('followed', 'run:talk');
SELECT is(pg_temp.pruned(4 * 86400), 2::bigint, 'an event to which a row refers stays, and only that');
SELECT is((SELECT string_agg(id, ' ') FROM clutch.events WHERE run_id = 'run:talk'), 'noted', 'namely this one');
SELECT is((SELECT count(*) FROM cascading), 0::bigint, 'rows that follow by ON DELETE CASCADE go with theirs');
DROP TABLE note, cascading;
CREATE SCHEMA fixture_late;
CREATE TABLE fixture_late.note (event_id text, run_id text, FOREIGN KEY (event_id, run_id) REFERENCES clutch.events DEFERRABLE INITIALLY DEFERRED);
SELECT pg_temp.say('free') \g /dev/null
INSERT INTO fixture_late.note VALUES ('noted', 'run:talk');
SELECT is(clutch.prune(timestamptz '2026-01-01 12:00:00Z' + 4 * 86400 * interval '1 s'), 1::bigint, 'the same holds if the foreign key is deferred');
BEGIN;
DELETE FROM fixture_late.note;
INSERT INTO fixture_late.note VALUES ('soon', 'run:talk');
SELECT pg_temp.say('soon') \g /dev/null
SELECT lives_ok($$SELECT clutch.prune('2026-01-01 12:00:00Z')$$, 'in a transaction block, it waits for the end');
COMMIT;
SELECT is((SELECT string_agg(event_id, ' ') FROM fixture_late.note), 'soon', 'as its own rows may');
DROP SCHEMA fixture_late CASCADE;
SELECT pg_temp.pruned(4 * 86400) \g /dev/null
SELECT pg_temp.say('noted') \g /dev/null
CREATE TABLE removed (id text);
CREATE FUNCTION pg_temp.remove_more() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.removed VALUES (OLD.id);
	IF OLD.id = 'bait' THEN
		DELETE FROM clutch.events WHERE run_id = 'run:other';
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER user_trigger AFTER DELETE ON clutch.events FOR EACH ROW EXECUTE FUNCTION pg_temp.remove_more();
SELECT is(pg_temp.pruned(4 * 86400), 1::bigint, 'triggers of users fire');
SELECT is((SELECT string_agg(id, ' ') FROM removed), 'noted', 'and see what goes');
SELECT fixture.ask('other', run => 'run:other') \g /dev/null
SELECT pg_temp.say('bait') \g /dev/null
SELECT throws_ok($$SELECT clutch.prune('infinity')$$, 'KL007', NULL, 'they cannot take other events along');
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id IN ('run:other', 'run:talk')), 3::bigint, 'which stay');
DROP TRIGGER user_trigger ON clutch.events;

-- ------------------------------------------------------------- who and how
SELECT throws_ok('SELECT clutch.prune(NULL)', '22004', NULL, 'a time is needed');
SELECT throws_ok($$SELECT clutch.prune('infinity', 0)$$, '22023', 'argument "max_events" must be between 1 and 1000000, not 0', 'and a batch of at least one');
CREATE ROLE tap_prune;
SELECT clutch.grant_agent('tap_prune', 'agent:ui'), clutch.grant_reader('tap_prune') \g /dev/null
SET ROLE tap_prune;
SELECT throws_ok($$SELECT clutch.prune('infinity')$$, '42501', NULL, 'agents and readers do not prune');
RESET ROLE;
GRANT EXECUTE ON FUNCTION clutch.prune TO tap_prune;
GRANT ALL ON clutch.events, clutch.task TO tap_prune;
SET ROLE tap_prune;
SELECT is(fixture.fault($$SELECT clutch.prune('infinity')$$), '42501 NOT_AN_OPERATOR ', 'not even with the right to execute the function');
SELECT throws_ok('DELETE FROM clutch.events', 'KL007', NULL, 'nor by DELETE');
RESET ROLE;
BEGIN;
SELECT clutch.prune('infinity') \g /dev/null
SELECT throws_ok('DELETE FROM clutch.events', 'KL007', NULL, 'prune opens the door for no other statement of its transaction');
ROLLBACK;
SELECT is((SELECT count(*) FROM clutch.events WHERE run_id = 'run:talk'), 1::bigint, 'what is rolled back was not pruned');

-- where a subscription keeps all the rest of the log, a call does not read all of that
SELECT clutch.subscribe('slow', '{}', 'now') \g /dev/null
SELECT pg_temp.say('slow ' || n) FROM generate_series(1, 4000) n \g /dev/null
BEGIN;
SELECT is(clutch.prune('infinity'), 1::bigint, 'what it has handled goes');
SELECT cmp_ok((SELECT idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'clutch.events'::regclass), '<', 3000::bigint, 'and little of the rest is read');
ROLLBACK;
SELECT clutch.unsubscribe('slow') \g /dev/null

-- what a run has still to cause is not forgotten
SELECT fixture.ask('put_off', run => 'run:put_off') \g /dev/null
SELECT fixture.claimed('agent:ken'), pg_temp.finish('put_off') \g /dev/null
INSERT INTO clutch.consequence VALUES (nextval('clutch.queue_no'), 'dependent', 'put_off', NULL, 0, 0, clutch.now());
SELECT clutch.prune('infinity') \g /dev/null
SELECT is(pg_temp.left_of('run:put_off'), '4 1 0 0 0 0', 'a run stays while something of it has been put off');
SELECT clutch.tick(), clutch.prune('infinity') \g /dev/null
SELECT is(pg_temp.left_of('run:put_off'), '0 0 0 0 0 0', 'and goes when that has been handled');

-- the IDs of the first two runs have the same hash in PostgreSQL's hash tables
SELECT fixture.ask(md5(run), run => run), fixture.claimed('agent:ken'), pg_temp.finish(md5(run)) FROM unnest('{msg_victim,msg_attackerbk/A2ZG1Ld~,run:third}'::text[]) run \g /dev/null
SELECT is(clutch.prune('infinity', 12), 12::bigint, 'a run is judged once, although its ID was chosen to have the hash of that of another run');
SELECT * FROM finish();
DROP OWNED BY tap_prune; DROP ROLE tap_prune;
