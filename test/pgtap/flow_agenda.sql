-- What a transaction causes for other tasks: it happens at commit or with
-- clutch.settle(), not at all if it is rolled back, and later if it cannot
-- happen now.
\ir ../fixtures/tap.sql
SELECT plan(63);
SET clutch.notify = off;
SET clutch.heartbeat_interval = 0;
SET clutch.default_deadline = 0;
SET clutch.breaker_failures = 0;

SELECT fixture.at(0), fixture.agent('ken', 99), fixture.agent('one', 1, '{skill:one}') \g /dev/null
-- a family: a parent and its child, both running
CREATE FUNCTION fixture.family(VARIADIC names text[]) RETURNS void LANGUAGE sql AS $$
	SELECT fixture.ask(n, 'agent:ken') FROM unnest(names) n;
	SELECT clutch.claim('agent:ken', 99, '1 d');
	SELECT fixture.ask(n || ' child', 'agent:ken', parent => n) FROM unnest(names) n;
	SELECT clutch.claim('agent:ken', 99, '1 d');
$$;
CREATE FUNCTION fixture.of(task text) RETURNS text LANGUAGE sql AS $$ SELECT status FROM clutch.tasks WHERE task_id = task $$;

-- ------------------------------------------------------------------ at commit
SELECT fixture.family('a') \g /dev/null
BEGIN;
SELECT clutch.cancel('a') \g /dev/null
SELECT is(fixture.of('a'), 'cancelled', 'a cancel moves its own task at once');
SELECT is(fixture.of('a child'), 'running', 'but not the children');
COMMIT;
SELECT is(fixture.of('a child'), 'cancelled', 'they are cancelled when the transaction commits');

SELECT fixture.ask('b1', 'agent:ken'), fixture.ask('b2', 'agent:ken', orders => fixture.after('b1')) \g /dev/null
BEGIN;
SELECT clutch.finish('agent:ken', 'b1') \g /dev/null
SELECT is(fixture.of('b2'), 'pending', 'a dependent does not start at once');
COMMIT;
SELECT is(fixture.of('b2'), 'assigned', 'it starts when the transaction commits');

SELECT fixture.ask('c1', NULL, 'skill:one'), fixture.ask('c2', NULL, 'skill:one') \g /dev/null
BEGIN;
SELECT clutch.finish('agent:one', 'c1') \g /dev/null
SELECT is(fixture.of('c2'), 'pending', 'a freed slot is not offered at once');
COMMIT;
SELECT is(fixture.of('c2'), 'assigned', 'it is offered when the transaction commits');
SELECT clutch.finish('agent:one', 'c2') \g /dev/null

SELECT fixture.ask('d', 'agent:ken', orders => '{"join": "all"}') \g /dev/null
SELECT clutch.claim('agent:ken', 99, '1 d') \g /dev/null
SELECT fixture.ask('d' || n, 'agent:ken', parent => 'd') FROM generate_series(1, 5) n \g /dev/null
BEGIN;
SELECT clutch.finish('agent:ken', 'd' || n) FROM generate_series(1, 5) n \g /dev/null
SELECT is((SELECT count(*) FROM fixture.moves('d', 'joined')), 0::bigint, 'a parent is not told at once');
COMMIT;
SELECT is((SELECT string_agg(m ->> 'completed', ' ') FROM fixture.moves('d', 'joined') m), '5', 'it is told once, of all children that ended in the transaction');

-- a chain of dependents fails, and a whole tree is cancelled, at one commit
SELECT fixture.ask('e' || n, 'agent:ken', orders => CASE WHEN n > 0 THEN fixture.after('e' || n - 1) END) FROM generate_series(0, 50) n \g /dev/null
SELECT fixture.ask('f0', 'agent:ken'), fixture.ask('f1', 'agent:ken', parent => 'f0'), fixture.ask('f2', 'agent:ken', parent => 'f1'), fixture.ask('f3', 'agent:ken', parent => 'f2') \g /dev/null
BEGIN;
SELECT clutch.cancel('e0'), clutch.cancel('f0') \g /dev/null
COMMIT;
SELECT is((SELECT count(*) FROM clutch.tasks WHERE task_id LIKE 'e%' AND code = 'DEPENDENCY_FAILED'), 50::bigint, 'what a consequence causes happens at the same commit');
SELECT is((SELECT string_agg(DISTINCT status, ' ') FROM clutch.tasks WHERE task_id LIKE 'f%'), 'cancelled', 'and so does a cancel at every depth');

-- -------------------------------------------------------------------- settle()
SELECT is(clutch.settle(), 0::bigint, 'settle() has nothing to do outside of a transaction');
SELECT fixture.family('g') \g /dev/null
BEGIN;
SELECT clutch.cancel('g') \g /dev/null
SELECT cmp_ok(clutch.settle(), '>', 0::bigint, 'settle() handles what the transaction has caused');
SELECT is(fixture.of('g child'), 'cancelled', 'so that its consequences can be seen');
SELECT is(clutch.settle(), 0::bigint, 'a second settle() has nothing to do');
ROLLBACK;
SELECT is(fixture.of('g') || ' ' || fixture.of('g child'), 'running running', 'a rollback takes both back');
BEGIN;
SELECT clutch.cancel('g'), clutch.settle() \g /dev/null
COMMIT;
SELECT is((SELECT count(*) FROM clutch.events WHERE task_id = 'g child' AND type = 'task.cancel'), 1::bigint, 'what settle() has handled is not handled again at commit');

-- ------------------------------------------------------------------ savepoints
SELECT fixture.family('h1', 'h2', 'h3', 'h4', 'h5', 'h6') \g /dev/null
BEGIN;
SAVEPOINT a;
SELECT clutch.cancel('h1') \g /dev/null
ROLLBACK TO a;
COMMIT;
SELECT is(fixture.of('h1') || ' ' || fixture.of('h1 child'), 'running running', 'a consequence that was rolled back with its savepoint does not happen');
BEGIN;
SAVEPOINT a;
SELECT clutch.cancel('h2') \g /dev/null
RELEASE a;
COMMIT;
SELECT is(fixture.of('h2 child'), 'cancelled', 'RELEASE keeps it');
BEGIN;
SAVEPOINT a;
SELECT clutch.cancel('h3') \g /dev/null
SAVEPOINT b;
SELECT clutch.cancel('h4') \g /dev/null
ROLLBACK TO b;
RELEASE a;
COMMIT;
SELECT is(fixture.of('h3 child') || ' ' || fixture.of('h4 child'), 'cancelled running', 'of two savepoints only the one that was rolled back is forgotten');
BEGIN;
SELECT clutch.cancel('h5') \g /dev/null
SAVEPOINT a;
SELECT clutch.settle() \g /dev/null
SELECT is(fixture.of('h5 child'), 'cancelled', 'settle() in a savepoint handles what was caused before it');
ROLLBACK TO a;
SELECT is(fixture.of('h5 child'), 'running', 'which is undone with the savepoint');
COMMIT;
SELECT is(fixture.of('h5 child'), 'cancelled', 'and happens at commit all the same');
BEGIN;
SAVEPOINT a;
SELECT clutch.cancel('h6'), clutch.settle() \g /dev/null
ROLLBACK TO a;
COMMIT;
SELECT is(fixture.of('h6') || ' ' || fixture.of('h6 child'), 'running running', 'what was caused and settled within a savepoint disappears with it');

-- ------------------------------------------------------------ exception blocks
SELECT fixture.family('i1', 'i2', 'i3') \g /dev/null
DO $$
BEGIN
	BEGIN
		PERFORM clutch.cancel('i1');
		RAISE EXCEPTION 'on second thoughts';
	EXCEPTION WHEN raise_exception THEN
		NULL;
	END;
	BEGIN
		PERFORM clutch.cancel('i2');
	EXCEPTION WHEN raise_exception THEN
		NULL;
	END;
	PERFORM clutch.cancel('i3');
	BEGIN
		PERFORM clutch.settle();
		RAISE EXCEPTION 'on second thoughts';
	EXCEPTION WHEN raise_exception THEN
		NULL;
	END;
END $$;
SELECT is(fixture.of('i1') || ' ' || fixture.of('i1 child'), 'running running', 'an exception block that fails takes the cancel and its consequences back');
SELECT is(fixture.of('i2') || ' ' || fixture.of('i2 child'), 'cancelled cancelled', 'one that does not fail keeps both');
SELECT is(fixture.of('i3') || ' ' || fixture.of('i3 child'), 'cancelled cancelled', 'a settle() that was taken back is made up for at commit');
-- a procedure that commits
SELECT fixture.family('j1', 'j2') \g /dev/null
DO $$
BEGIN
	PERFORM clutch.cancel('j1');
	COMMIT;
	PERFORM set_config('test.child', fixture.of('j1 child'), false);
	COMMIT;
	PERFORM clutch.cancel('j2');
	ROLLBACK;
END $$;
SELECT is(current_setting('test.child'), 'cancelled', 'a COMMIT within a procedure is a commit');
SELECT is(fixture.of('j2') || ' ' || fixture.of('j2 child'), 'running running', 'and a ROLLBACK a rollback');

-- --------------------------------------------------------- PREPARE TRANSACTION
SELECT fixture.family('k1', 'k2') \g /dev/null
BEGIN;
SELECT clutch.cancel('k1') \g /dev/null
PREPARE TRANSACTION 'keep';
SELECT is(fixture.of('k1') || ' ' || fixture.of('k1 child'), 'running running', 'nothing can be seen of a prepared transaction');
COMMIT PREPARED 'keep';
SELECT is(fixture.of('k1') || ' ' || fixture.of('k1 child'), 'cancelled cancelled', 'its consequences had been handled before it was prepared');
BEGIN;
SELECT clutch.cancel('k2') \g /dev/null
PREPARE TRANSACTION 'forget';
ROLLBACK PREPARED 'forget';
SELECT is(fixture.of('k2') || ' ' || fixture.of('k2 child'), 'running running', 'and are undone with it');
SELECT fixture.family('k3') \g /dev/null
BEGIN;
SELECT clutch.progress('agent:ken', 'k3 child', '{}', 1) \g /dev/null
PREPARE TRANSACTION 'busy';
SELECT clutch.cancel('k3') \g /dev/null
SELECT is(fixture.of('k3') || ' ' || fixture.of('k3 child'), 'cancelled running', 'a child that a prepared transaction holds is put off');
SELECT is((SELECT count(*) FROM clutch.consequence), 1::bigint, 'as a row of clutch.consequence');
COMMIT PREPARED 'busy';
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.of('k3 child'), 'cancelled', 'and cancelled by a later tick');
SELECT is((SELECT count(*) FROM clutch.consequence), 0::bigint, 'which leaves no row behind');

-- -------------------------------------------------------- tick in a transaction
SELECT fixture.at(1000), fixture.ask('l', 'agent:ken', orders => '{"deadline": "2026-01-01T12:16:50Z"}') \g /dev/null
SELECT fixture.at(1020) \g /dev/null
BEGIN;
SELECT is(clutch.tick() -> 'deferred', 'true', 'a tick in a transaction block is deferred');
SELECT is(fixture.of('l'), 'assigned', 'it has moved nothing yet');
COMMIT;
SELECT is(fixture.of('l'), 'timed_out', 'it does its work at commit');
SELECT fixture.ask('m', 'agent:ken', orders => '{"deadline": "2026-01-01T12:17:10Z"}') \g /dev/null
SELECT fixture.at(1040) \g /dev/null
BEGIN;
SELECT clutch.tick() \g /dev/null
ROLLBACK;
SELECT is(fixture.of('m'), 'assigned', 'a tick that was rolled back does nothing');
SELECT is(clutch.tick() -> 'deferred', NULL, 'outside of a block a tick is not deferred');
SELECT is(fixture.of('m'), 'timed_out', 'but works at once');

-- ---------------------------------------- deferred constraint triggers of users
CREATE TABLE seen (task_id text, type text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO seen VALUES (NEW.task_id, NEW.type);
	IF NEW.task_id = 'n1 child' AND NEW.type = 'task.cancel' THEN
		PERFORM clutch.cancel('n2');
	END IF;
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER note AFTER INSERT ON clutch.events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();
SELECT fixture.family('n1', 'n2') \g /dev/null
DELETE FROM seen;
BEGIN;
SELECT clutch.cancel('n1') \g /dev/null
COMMIT;
SELECT is((SELECT count(*) FROM seen WHERE task_id = 'n1'), 1::bigint, 'a deferred trigger fires for the event of the statement');
SELECT is((SELECT count(*) FROM seen WHERE task_id = 'n1 child'), 1::bigint, 'and for events that are appended at commit');
SELECT is(fixture.of('n2'), 'cancelled', 'what such a trigger does is done');
SELECT is(fixture.of('n2 child'), 'cancelled', 'and so is what that causes');
DROP TRIGGER note ON clutch.events;

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not %', NEW.task_id; END $$;

-- ------------------------------------------- a user's trigger that raises an error
SELECT fixture.family('o', 'q') \g /dev/null
CREATE TRIGGER refuse AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.task_id = 'o child' AND NEW.type = 'task.cancel') EXECUTE FUNCTION refuse();
SET client_min_messages = error;
BEGIN;
SELECT clutch.cancel('o'), clutch.cancel('q') \g /dev/null
COMMIT;
SELECT is(fixture.of('o') || ' ' || fixture.of('q'), 'cancelled cancelled', 'a consequence that raises an error does not fail the commit');
SELECT is(fixture.of('o child'), 'running', 'it has not happened');
SELECT is(fixture.of('q child'), 'cancelled', 'but the others have');
SELECT is((SELECT count(*) FROM clutch.consequence), 1::bigint, 'it is kept in clutch.consequence');
SELECT clutch.tick(), clutch.settle() \g /dev/null
SELECT is(fixture.of('o child') || ' ' || (SELECT count(*) FROM clutch.consequence), 'running 1', 'as long as the trigger raises');
DROP TRIGGER refuse ON clutch.events;
SELECT fixture.at(1200) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is(fixture.of('o child'), 'cancelled', 'and happens once the trigger is gone');
SELECT is((SELECT count(*) FROM clutch.consequence), 0::bigint, 'then nothing is kept any longer');
RESET client_min_messages;

-- ------------------------------------------------- a transaction set read only
SELECT fixture.family('r', 's', 't') \g /dev/null
BEGIN;
SELECT clutch.cancel('r') \g /dev/null
SET TRANSACTION READ ONLY;
SELECT throws_ok($$SELECT clutch.cancel('s')$$, '25006', NULL, 'a transaction that was set read only writes no more');
COMMIT;
SELECT is(fixture.of('r') || ' ' || fixture.of('r child'), 'cancelled cancelled', 'but what it has written before commits, and so do the consequences');
SELECT is((SELECT count(*) FROM clutch.consequence), 0::bigint, 'none of which is put off');
BEGIN;
SELECT clutch.cancel('t') \g /dev/null
SET TRANSACTION READ ONLY;
PREPARE TRANSACTION 'read only';
COMMIT PREPARED 'read only';
SELECT is(fixture.of('t child'), 'cancelled', 'also if it is prepared');
BEGIN READ ONLY;
SELECT throws_ok('SELECT clutch.tick()', '25006', NULL, 'a tick that could do nothing at commit is refused at once');
COMMIT;
SELECT is(current_setting('transaction_read_only'), 'off', 'the next transaction may write');

-- -------------------------------------------------------------- many savepoints
-- an importer that skips what it cannot handle must not pay for what it has done before
SELECT fixture.ask('u' || n, NULL, 'skill:none') FROM generate_series(1, 2000) n \g /dev/null
CREATE FUNCTION pg_temp.kept() RETURNS bigint LANGUAGE sql AS $$ SELECT sum(used_bytes)::bigint FROM pg_backend_memory_contexts WHERE name = 'TopTransactionContext' $$;
BEGIN;
SELECT clutch.cancel('u' || n) FROM generate_series(1, 1000) n \g /dev/null
SELECT pg_temp.kept() AS before \gset
DO $$
BEGIN
	FOR n IN 1..3000 LOOP
		BEGIN
			IF n % 3 = 0 THEN
				PERFORM clutch.cancel('u' || 1000 + n / 3);
			END IF;
			RAISE EXCEPTION 'skipped';
		EXCEPTION WHEN raise_exception THEN NULL;
		END;
	END LOOP;
END $$;
SELECT cmp_ok(pg_temp.kept() - :before, '<', 1000000::bigint, 'savepoints that are rolled back leave nothing behind');
SELECT clutch.cancel('u2000') \g /dev/null
COMMIT;
SELECT is((SELECT count(*) FROM clutch.tasks WHERE task_id ~ '^u' AND status = 'cancelled'), 1001::bigint, 'and what is not rolled back is done');

-- ---------------------------------------------------------------------- the end
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds all of it');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT * FROM finish();
