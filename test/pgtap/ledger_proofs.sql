-- P3: the tree over the log is that of RFC 6962, defined here a second time in
-- plpgsql; what was pruned or redacted can still be proved; and what somebody
-- changed, deleted, moved or inserted behind the back of the database is found.
\ir ../fixtures/tap.sql
\ir ../fixtures/ed25519.sql
SELECT plan(89);

-- however slow the machine is, no tick declares an agent lost, which would be an event more
SELECT set_config('clutch.notify', 'off', false), set_config('clutch.seal_interval', '0', false), set_config('clutch.heartbeat_interval', '0', false),
	set_config('clutch.allow_ddl', 'on', false) \g /dev/null

CREATE FUNCTION pg_temp.leaf(bytes bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT sha256('\x00'::bytea || bytes) $$;
CREATE FUNCTION pg_temp.node(l bytea, r bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT sha256('\x01'::bytea || l || r) $$;
-- 2.1: MTH over hashes of leaves
CREATE FUNCTION pg_temp.mth(d bytea[]) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
	n int := coalesce(array_length(d, 1), 0);
	k int := 1;
BEGIN
	IF n = 0 THEN RETURN sha256(''); END IF;
	IF n = 1 THEN RETURN d[1]; END IF;
	WHILE 2 * k < n LOOP k := 2 * k; END LOOP;
	RETURN pg_temp.node(pg_temp.mth(d[1:k]), pg_temp.mth(d[k + 1:n]));
END $$;
-- 2.1.1 and 2.1.2: the paths, as they are defined
CREATE FUNCTION pg_temp.path(m int, d bytea[]) RETURNS bytea[] LANGUAGE plpgsql AS $$
DECLARE
	n int := array_length(d, 1);
	k int := 1;
BEGIN
	IF n = 1 THEN RETURN '{}'; END IF;
	WHILE 2 * k < n LOOP k := 2 * k; END LOOP;
	IF m < k THEN RETURN pg_temp.path(m, d[1:k]) || pg_temp.mth(d[k + 1:n]); END IF;
	RETURN pg_temp.path(m - k, d[k + 1:n]) || pg_temp.mth(d[1:k]);
END $$;
CREATE FUNCTION pg_temp.subproof(m int, d bytea[], b boolean) RETURNS bytea[] LANGUAGE plpgsql AS $$
DECLARE
	n int := array_length(d, 1);
	k int := 1;
BEGIN
	IF m = n THEN RETURN CASE WHEN b THEN '{}'::bytea[] ELSE ARRAY[pg_temp.mth(d)] END; END IF;
	WHILE 2 * k < n LOOP k := 2 * k; END LOOP;
	IF m <= k THEN RETURN pg_temp.subproof(m, d[1:k], b) || pg_temp.mth(d[k + 1:n]); END IF;
	RETURN pg_temp.subproof(m - k, d[k + 1:n], false) || pg_temp.mth(d[1:k]);
END $$;
-- the leaf of an event, by the page on proofs
CREATE FUNCTION pg_temp.leaf_of(e clutch.events) RETURNS bytea LANGUAGE sql AS $$
	SELECT convert_to(concat_ws(E'\n', 'clutch-event-v1', e.seq,
		to_char(e.received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), clutch.canonical(e.envelope)), 'UTF8')
$$;
CREATE FUNCTION pg_temp.chat(n int, run text DEFAULT 'run:1') RETURNS bigint LANGUAGE sql AS $$
	SELECT seq FROM clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', run_id => run, thread_id => 'thread:1',
		payload => jsonb_build_object('n', n, 'text', E'\u00e9 "quoted"\n', 'half', 0.50)))
$$;
CREATE FUNCTION pg_temp.found() RETURNS text LANGUAGE sql AS $$ SELECT string_agg(code, ' ' ORDER BY code) FROM clutch.verify_log() $$;
CREATE FUNCTION pg_temp.found_in(what text) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(detail, ' ') FROM clutch.verify_log() WHERE code = what $$;

-- "SQLSTATE CODE argument" of what a statement raises
CREATE FUNCTION pg_temp.fault(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', SQLSTATE, CASE WHEN detail LIKE '[%' THEN concat_ws(' ', detail::jsonb #>> '{0,code}', detail::jsonb #>> '{0,argument}') END);
END $$;

-- ------------------------------------------------------------------- sealing
SELECT is((SELECT count(*) FROM clutch.verify_log()), 0::bigint, 'an empty log is sound');
SELECT is(clutch.seal(), 0::bigint, 'and there is nothing to seal');
SELECT fixture.agent('ken', 20) \g /dev/null
SELECT pg_temp.chat(1) AS chat \gset
SELECT is(pg_temp.fault(format('SELECT clutch.prove(%s)', :chat)), '55000 NOT_SEALED seq', 'an event that has not been sealed cannot be proved');
SELECT is(fixture.seal(), 2::bigint, 'what is committed is sealed');
SELECT is(clutch.seal(), 0::bigint, 'once');
SELECT is((SELECT count(*) FROM clutch.checkpoint), 1::bigint, 'a call that seals nothing writes nothing');
BEGIN;
SELECT pg_temp.chat(2) AS chat \gset
SELECT is(clutch.seal(), 0::bigint, 'what is not committed is not sealed');
ROLLBACK;
-- checkpoints of all lengths, beyond a tile of 32 and one of 32 * 32
DO $$ BEGIN FOR n IN 1 .. 40 LOOP PERFORM pg_temp.chat(n), fixture.seal() FROM generate_series(1, 1); COMMIT; END LOOP; END $$;
SELECT fixture.seal() \g /dev/null
SELECT count(pg_temp.chat(n)) FROM generate_series(1, 1100) n \g /dev/null
SELECT is(fixture.seal(), 1100::bigint, 'a long transaction is sealed in one checkpoint');
SELECT is((SELECT sum(upper(r) - lower(r)) FROM clutch.checkpoint, unnest(members) r), (SELECT count(*)::numeric FROM clutch.events), 'the members of the checkpoints are all events');
SELECT is((SELECT max(size) FROM clutch.checkpoints), (SELECT count(*) FROM clutch.events), 'the tree has as many leaves');
SELECT is((SELECT max(octet_length(hashes)) FROM clutch.tree_hash), 1024, 'no row has more than 32 hashes');
SELECT is((SELECT count(*) FROM clutch.verify_log()), 0::bigint, 'the log is sound');

-- ---------------------------------------------------------------- the tree
CREATE TEMP TABLE leaves AS
	SELECT e.seq, pg_temp.leaf(pg_temp.leaf_of(e)) AS hash, row_number() OVER (ORDER BY c.size, e.seq) - 1 AS index
	FROM clutch.events e JOIN clutch.checkpoint c ON c.members @> e.seq;
CREATE FUNCTION pg_temp.first_leaves(n bigint) RETURNS bytea[] LANGUAGE sql AS $$ SELECT array_agg(hash ORDER BY index) FROM leaves WHERE index < n $$;
SELECT is((SELECT count(*) FROM clutch.checkpoints c WHERE c.root <> pg_temp.mth(pg_temp.first_leaves(c.size))), 0::bigint,
	'each root is that of RFC 6962 over the leaves of the page on proofs');
SELECT is((SELECT count(*) FROM generate_series(1, 130) n, clutch.consistency(n, n) c WHERE c.first_root <> pg_temp.mth(pg_temp.first_leaves(n)) OR c.path <> '{}'), 0::bigint,
	'so is the root of any other size');
SELECT is((SELECT count(*) FROM leaves l, clutch.prove(l.seq) p WHERE p.leaf_index <> l.index OR p.leaf_hash <> l.hash OR p.tree_size <> 1142), 0::bigint,
	'an event has the place and the hash that follow from its checkpoint and its seq');
SELECT is((SELECT count(*) FROM leaves l JOIN clutch.events e USING (seq), clutch.prove(l.seq) p WHERE p.leaf <> pg_temp.leaf_of(e)), 0::bigint,
	'the bytes of the leaf are those of the page on proofs');
SELECT is((SELECT count(*) FROM (SELECT seq, index FROM leaves WHERE index % 97 IN (0, 31, 32) OR index > 1135) l,
			clutch.prove(l.seq) p WHERE p.path <> pg_temp.path(l.index::int, pg_temp.first_leaves(1142))), 0::bigint, 'the paths are those of RFC 6962');
SELECT is((SELECT count(*) FROM generate_series(1, 71) a, generate_series(a, 71) b, clutch.consistency(a, b) c
			WHERE c.path <> pg_temp.subproof(a, pg_temp.first_leaves(b), true)), 0::bigint, 'and so are the proofs of consistency');
SELECT is((SELECT max(array_length(p.path, 1)) FROM leaves l, clutch.prove(l.seq) p), 11, 'a path in a tree of 1,142 leaves has 11 hashes');
SELECT matches((SELECT note FROM clutch.checkpoints ORDER BY size LIMIT 1), '^clutch/[0-9]+-[0-9]+\n2\n[A-Za-z0-9+/]{43}=\n$', 'a note has origin, size and root');
SET clutch.log_origin = 'example.com/log';
SELECT pg_temp.chat(3) \g /dev/null
SELECT fixture.seal() \g /dev/null
SELECT is((SELECT split_part(note, E'\n', 1) FROM clutch.checkpoints ORDER BY size DESC LIMIT 1), 'example.com/log', 'its origin is a setting');
RESET clutch.log_origin;
SELECT pg_temp.chat(3) \g /dev/null
SELECT fixture.seal() \g /dev/null
SELECT is((SELECT origin FROM clutch.checkpoints ORDER BY size DESC LIMIT 1), 'example.com/log', 'and stays what it was');
SELECT throws_ok($$SET clutch.log_origin = 'two words'$$, '22023', NULL, 'which is one word');

-- in a query that could run in parallel
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT is((SELECT count(*) FROM clutch.events e, clutch.prove(e.seq) p WHERE e.type = 'chat.message' AND e.envelope @> '{"payload": {"n": 3}}' AND p.leaf IS NOT NULL), 4::bigint, 'proofs of many events');
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;

-- a number that a double cannot hold
SELECT seq AS exact FROM clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', payload => '{"n": 12345678901234567890}')) \gset
SELECT fixture.seal() \g /dev/null
SELECT is((SELECT p.leaf FROM clutch.prove(:exact) p), (SELECT convert_to(concat_ws(E'\n', 'clutch-event-v1-exact', seq,
	to_char(e.received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), envelope::text), 'UTF8') FROM clutch.events e WHERE seq = :exact),
	'the leaf of an event with such a number has all of its digits');

-- what came by replication, in batches that end between the two kinds of events
CREATE FUNCTION pg_temp.far(n int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO clutch.events (envelope) SELECT clutch.envelope('chat.message', 'agent:far', '{agent:ken}', id => 'far' || n, run_id => 'run:far', thread_id => 'thread:far', task_id => 'task:far')
$$;
SELECT pg_temp.chat(6) \g /dev/null
SET session_replication_role = replica;
SELECT pg_temp.far(1) \g /dev/null
SELECT pg_temp.far(2) \g /dev/null
SELECT pg_temp.far(3) \g /dev/null
SELECT pg_temp.far(4) \g /dev/null
RESET session_replication_role;
SELECT pg_temp.chat(7) \g /dev/null
SELECT fixture.seal(3) \g /dev/null
SELECT fixture.seal(3) \g /dev/null
SELECT fixture.seal(3) \g /dev/null
SELECT is((SELECT sum(upper(r) - lower(r)) FROM clutch.checkpoint, unnest(members) r), (SELECT count(*)::numeric FROM clutch.events), 'events that came by replication are sealed, each once');
SELECT is(pg_temp.found(), NULL, 'and the log is sound');

-- ------------------------------------------------------------------ refusals
SELECT is(pg_temp.fault('SELECT clutch.prove(99999)'), '42704 EVENT_NOT_FOUND seq', 'an event that does not exist');
SELECT is(pg_temp.fault('SELECT clutch.prove(NULL)'), '22004 NULL_VALUE seq', 'no event');
SELECT is(pg_temp.fault('SELECT clutch.consistency(0, 5)'), '22023 NUMBER_OUT_OF_RANGE first_size', 'an empty tree');
SELECT is(pg_temp.fault('SELECT clutch.consistency(6, 5)'), '22023 NUMBER_OUT_OF_RANGE first_size', 'a tree that shrinks');
SELECT is(pg_temp.fault('SELECT clutch.consistency(5, 99999)'), '22023 NUMBER_OUT_OF_RANGE second_size', 'a tree that is not there');
SELECT is(pg_temp.fault('SELECT clutch.seal(0)'), '22023 NUMBER_OUT_OF_RANGE max_events', 'no events');
SELECT is(pg_temp.fault($$SELECT clutch.add_checkpoint_signature(99999, 'x', decode(repeat('00', 32), 'hex'), decode(repeat('00', 64), 'hex'))$$), '42704 CHECKPOINT_NOT_FOUND size', 'a checkpoint that is not there');
SELECT is(pg_temp.fault($$SELECT clutch.add_checkpoint_signature(2, 'x', decode(repeat('00', 32), 'hex'), decode(repeat('00', 64), 'hex'))$$), 'KL006 SIGNATURE_INVALID signature', 'a signature that is none');
SELECT is(pg_temp.fault($$SELECT clutch.add_checkpoint_signature(2, 'x', '\x00', '\x00')$$), '22023 WRONG_VALUE public_key', 'a key that is none');
SELECT is(pg_temp.fault($$SELECT clutch.add_checkpoint_signature(2, 'two words', '\x00', '\x00')$$), '22023 WRONG_VALUE signer', 'a name that a note cannot have');

-- --------------------------------------------------------------------- ticks
SELECT pg_temp.chat(4) \g /dev/null
SELECT is(clutch.tick() ->> 'sealed', '0', 'a tick does not seal if clutch.seal_interval is 0');
SET clutch.seal_interval = '1h';
SELECT is(clutch.tick() ->> 'sealed', '0', 'nor before the interval is over');
UPDATE clutch.checkpoint SET sealed_at = sealed_at - interval '2 h' WHERE size = (SELECT max(size) FROM clutch.checkpoint);
SELECT fixture.await_others() \g /dev/null
SELECT is(clutch.tick() ->> 'sealed', '1', 'but then');
SET clutch.seal_interval = 0;

-- ---------------------------------------------------------------- privileges
CREATE ROLE ledger_reader;
CREATE ROLE ledger_agent;
SELECT clutch.grant_reader('ledger_reader'), clutch.grant_agent('ledger_agent', 'agent:ken') \g /dev/null
SELECT seq AS task FROM fixture.ask('t1', 'agent:ken') \gset
SELECT seq AS secret FROM fixture.ask('t2', 'agent:lois', run => 'run:2') \gset
SELECT fixture.seal() \g /dev/null
SET ROLE ledger_reader;
SELECT is((SELECT count(*) FROM clutch.verify_log()), 0::bigint, 'a reader verifies the log');
SELECT ok((SELECT leaf IS NOT NULL FROM clutch.prove(:secret)), 'and gets proofs');
SELECT is(pg_temp.fault('SELECT clutch.seal()'), '42501', 'but does not seal');
SET ROLE ledger_agent;
SELECT ok((SELECT leaf IS NOT NULL FROM clutch.prove(:task)), 'an agent gets the proof of an event that it may read');
SELECT is(pg_temp.fault(format('SELECT clutch.prove(%s)', :secret)), '42704 EVENT_NOT_FOUND seq', 'and is not told that there is another');
RESET ROLE;

-- --------------------------------------------------------- prune and redact
SELECT leaf_hash AS task_hash, tree_size AS size_before, root AS root_before FROM clutch.prove(:task) \gset
SELECT clutch.redact(:task, 'on request') \g /dev/null
SELECT is(pg_temp.found(), NULL, 'a redacted event is excused');
SELECT is((SELECT ROW(leaf_hash, leaf)::text FROM clutch.prove(:task)), ROW(:'task_hash'::bytea, NULL::bytea)::text, 'its leaf is known by its hash');
SELECT fixture.seal() \g /dev/null
SELECT is(pg_temp.found(), NULL, 'also when the audit event is sealed');
SELECT is((SELECT first_root FROM clutch.consistency(:size_before, (SELECT max(size) FROM clutch.checkpoint))), :'root_before'::bytea, 'the old head still is one');
SELECT clutch.finish('agent:ken', 't1', attempt => 1) FROM clutch.claim('agent:ken') \g /dev/null
SELECT count(pg_temp.chat(n, 'run:3')) FROM generate_series(1, 5) n \g /dev/null
SELECT fixture.seal() \g /dev/null
CREATE TEMP TABLE kept AS SELECT e.* FROM clutch.events e WHERE e.type = 'chat.message' AND e.run_id <> 'run:audit' AND e.seq % 2 = 0 ORDER BY e.seq LIMIT 20;
SELECT ok(clutch.prune(clutch.now() + interval '1 h') > 1000, 'most of the log is pruned');
SELECT is(pg_temp.found(), NULL, 'pruned events are excused');
SELECT is((SELECT ROW(leaf_hash, leaf)::text FROM clutch.prove(:task)), ROW(:'task_hash'::bytea, NULL::bytea)::text, 'a pruned event can be proved by its hash');
SELECT fixture.seal() \g /dev/null
SELECT is(pg_temp.found(), NULL, 'the log is sound');
INSERT INTO clutch.events SELECT * FROM kept;
SELECT is(pg_temp.found(), NULL, 'also if events that were pruned are restored');
SELECT is(clutch.prune(clutch.now() + interval '1 h'), 20::bigint, 'they are pruned again');
SELECT is(pg_temp.found(), NULL, 'and the others are still excused');

-- ------------------------------------------------------------------- forging
SELECT count(pg_temp.chat(n, 'run:4')) FROM generate_series(1, 20) n \g /dev/null
SELECT fixture.seal() \g /dev/null
SELECT min(seq) AS first FROM clutch.events WHERE run_id = 'run:4' \gset
CREATE FUNCTION pg_temp.forged(VARIADIC statements text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text;
	result text;
BEGIN
	ALTER TABLE clutch.events DISABLE TRIGGER USER;
	FOREACH statement IN ARRAY statements LOOP
		EXECUTE statement;
	END LOOP;
	SELECT string_agg(concat_ws(': ', code, detail), ' | ' ORDER BY detail) INTO result FROM clutch.verify_log();
	RAISE EXCEPTION USING ERRCODE = 'TTTTT', MESSAGE = coalesce(result, 'sound');
EXCEPTION WHEN SQLSTATE 'TTTTT' THEN
	RETURN SQLERRM;
END $$;
SELECT is(pg_temp.forged(format($$UPDATE clutch.events SET envelope = jsonb_set(envelope, '{payload,n}', '7000') WHERE seq = %s$$, :first)),
	format('CHANGED_EVENT: Event %s is not what was sealed.', :first), 'a changed payload is found');
SELECT is(pg_temp.forged(format($$UPDATE clutch.events SET received_at = received_at - interval '1 us' WHERE seq = %s$$, :first)),
	format('CHANGED_EVENT: Event %s is not what was sealed.', :first), 'a changed time is found');
SELECT is(pg_temp.forged(format($$UPDATE clutch.events SET from_agent = 'agent:lois' WHERE seq = %s$$, :first)),
	format('COLUMNS_DIFFER: The columns of event %s are not those of its envelope.', :first), 'a changed column is found');
SELECT is(pg_temp.forged(format('DELETE FROM clutch.events WHERE seq IN (%s, %s)', :first + 3, :first + 4)),
	format('MISSING_EVENT: 2 events from %s to %s are not in the log, and were not pruned.', :first + 3, :first + 4), 'deleted events are found');
SELECT is(pg_temp.forged(format('DELETE FROM clutch.events WHERE seq > %s', :first + 14)),
	format('TRUNCATED_LOG: The last 5 sealed events, from %s to %s, are not in the log, and were not pruned.', :first + 15, :first + 19), 'a truncated tail is found');
SELECT is(pg_temp.forged(format('UPDATE clutch.events SET seq = -1 WHERE seq = %s', :first), format('UPDATE clutch.events SET seq = %s WHERE seq = %s', :first, :first + 1),
		format('UPDATE clutch.events SET seq = %s WHERE seq = -1', :first + 1)),
	format('REORDERED_EVENT: The event that was sealed as %1$s now stands at %2$s. | REORDERED_EVENT: The event that was sealed as %2$s now stands at %1$s.', :first, :first + 1),
	'events that changed places are found');
SELECT is(pg_temp.forged(format($$INSERT INTO clutch.events SELECT (jsonb_populate_record(e, '{"seq": 77777, "id": "msg_forged"}')).* FROM clutch.events e WHERE seq = %s$$, :first)),
	'UNKNOWN_EVENT: Event 77777 claims a transaction that was sealed without it.', 'an event that was slipped in is found');
SELECT alike(pg_temp.forged($$UPDATE clutch.tree_hash SET hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1) WHERE height = 5 AND first_index = 0$$),
	'%TREE_DIFFERS: The hash of height 5 at 0 in clutch.tree_hash is not that of its leaves.%', 'a changed hash of the tree is found');
SELECT alike(pg_temp.forged('DELETE FROM clutch.checkpoint WHERE size = 2'), '%CHECKPOINT_DIFFERS: The checkpoint of size 3 does not follow that of size 0.%', 'a checkpoint that is missing is found');
SELECT alike(pg_temp.forged($$UPDATE clutch.checkpoint SET root = sha256('x') WHERE size = 3$$), '%CHECKPOINT_DIFFERS: The root of the checkpoint of size 3 is not that of its leaves.%', 'a changed root is found');
-- the signatures
SELECT count(clutch.add_checkpoint_signature(3, 'auditor', ed25519.public_key(sha256('a')), ed25519.sign(sha256('a'), convert_to(note, 'UTF8')))) FROM clutch.checkpoints WHERE size = 3 \g /dev/null
SELECT is(pg_temp.forged($$UPDATE clutch.checkpoint_signature SET signature = set_byte(signature, 0, get_byte(signature, 0) # 1)$$),
	'SIGNATURE_DIFFERS: The checkpoint of size 3 is not what "auditor" has signed.', 'a changed signature is found');
SELECT is(pg_temp.forged('UPDATE clutch.checkpoint_signature SET size = 99999'),
	'TRUNCATED_LOG: "auditor" has signed a checkpoint of size 99999, which is not there any more.', 'a signed checkpoint that is missing is found');
-- each column that repeats the envelope
SELECT is(pg_temp.forged(format('UPDATE clutch.events SET %s WHERE seq = %s', change, :first)),
	format('COLUMNS_DIFFER: The columns of event %s are not those of its envelope.', :first), 'a changed column is found: ' || change)
FROM unnest(ARRAY['ts = ts + interval ''1 us''', 'id = ''msg_other''', 'run_id = ''run:other''', 'thread_id = ''thread:other''', 'task_id = ''task:other''', 'parent_task_id = ''task:other''',
	'type = ''chat.system''', 'to_agents = ''{agent:lois}''', 'to_agents = ''{agent:ken,agent:lois}''', 'domain = ''other''', 'payload_type = ''other''', 'idempotency_key = ''other''']) AS change;
SELECT is(pg_temp.forged(format($$INSERT INTO clutch.events SELECT (jsonb_populate_record(e, '{"seq": 77778, "id": "msg_forged", "epoch": 0, "xid": "9223372036854775806"}')).* FROM clutch.events e WHERE seq = %s$$, :first)),
	'UNKNOWN_EVENT: Event 77778 claims a transaction that was sealed without it.', 'so is one of an epoch that is over');

-- a redaction excuses nothing but itself, and only the database excuses at all
SELECT clutch.redact(:first + 2, 'on request') \g /dev/null
SELECT fixture.seal() \g /dev/null
SELECT is(pg_temp.forged(format($$UPDATE clutch.events SET envelope = jsonb_set(envelope, '{payload}', '{"n": 7000}') WHERE seq = %s$$, :first + 2)),
	format('CHANGED_EVENT: Event %s is not what was sealed.', :first + 2), 'an event that is changed after its redaction is found');
SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ui}', run_id => 'run:audit', payload_type => 'audit.pruned', payload => jsonb_build_object('seqs', jsonb_build_array(jsonb_build_array(:first + 3, :first + 3))))) \g /dev/null
SELECT is(pg_temp.forged(format('DELETE FROM clutch.events WHERE seq = %s', :first + 3)),
	format('MISSING_EVENT: Event %s is not in the log, and was not pruned.', :first + 3), 'what an agent says in the run of the audit excuses nothing');

-- the tables of the tree
SELECT fixture.seal() \g /dev/null
SELECT alike(pg_temp.forged($$UPDATE clutch.checkpoint SET members = (SELECT int8multirange(int8range(min(lower(o.members)), min(lower(o.members)) + 1)) FROM clutch.checkpoint o) WHERE size = (SELECT max(size) FROM clutch.checkpoint)$$),
	'%CHECKPOINT_DIFFERS: Event % is in two checkpoints.%', 'an event that two checkpoints claim is found');
SELECT alike(pg_temp.forged('UPDATE clutch.tree_hash SET hashes = substr(hashes, 1, octet_length(hashes) - 32) WHERE height = 0 AND first_index = 128'),
	'%TREE_DIFFERS: clutch.tree_hash does not have all leaves from %', 'a hash that is missing is found');
BEGIN;
DELETE FROM clutch.tree_hash WHERE height = 5;
SELECT is(pg_temp.fault(format('SELECT clutch.prove(%s)', :first)), 'XX001', 'without its hashes nothing is proved');
ROLLBACK;
BEGIN;
UPDATE clutch.checkpoint SET members = '{[500000,)}' WHERE size = (SELECT max(size) FROM clutch.checkpoint);
SELECT is(pg_temp.fault('SELECT clutch.prove(600000)'), pg_temp.fault('SELECT clutch.prove(400000)'), 'a range without end has no event');
ROLLBACK;
SELECT pg_temp.chat(5) \g /dev/null
BEGIN;
DELETE FROM clutch.tree_hash WHERE height = 0 AND first_index >= (SELECT max(size) / 32 * 32 FROM clutch.checkpoint);
SELECT is(pg_temp.fault('SELECT fixture.seal()'), CASE WHEN (SELECT max(size) % 32 FROM clutch.checkpoint) > 0 THEN 'XX001' ELSE 'no error' END, 'nor sealed');
ROLLBACK;
SELECT is(pg_temp.found(), NULL, 'none of this is left');

DROP OWNED BY ledger_reader, ledger_agent;
DROP ROLE ledger_reader, ledger_agent;
SELECT * FROM finish();
