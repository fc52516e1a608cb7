# P2: 32 concurrent senders, 50,000 attempts over 3,000 messages: exactly 3,000
# events, and no error but for altered content.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('senders');

# Message n is the same at every attempt but for its time; every third is known
# by a key of its sender and has another id each time.
$node->safe_psql('postgres', q{
	CREATE FUNCTION message(n integer, words text DEFAULT 'the same') RETURNS jsonb LANGUAGE sql AS $$
		SELECT clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', jsonb_build_object('n', n, 'words', words),
			id => CASE WHEN n % 3 <> 0 THEN 'msg_' || n END,
			idempotency_key => CASE WHEN n % 3 = 0 THEN 'key-' || n END,
			run_id => 'run:' || n % 10, thread_id => 'thread:1', task_id => 'task:' || n % 100) $$;
	-- a key without an id is derived from it: take another
	CREATE FUNCTION attempt(n integer) RETURNS jsonb LANGUAGE sql AS $$
		SELECT CASE WHEN n % 3 = 0 THEN message(n) || jsonb_build_object('id', clutch.new_id('msg')) ELSE message(n) END $$;
	SELECT count(*) FROM generate_series(1, 100) n, clutch.send(attempt(n));
	CREATE FUNCTION altered(n integer) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		detail text;
	BEGIN
		PERFORM clutch.send(message(n, 'altered'));
		RAISE 'message % was accepted with other content', n;
	EXCEPTION WHEN unique_violation THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
		IF detail::jsonb #>> '{0,code}' NOT IN ('ID_REUSED', 'KEY_REUSED') THEN
			RAISE 'unexpected: %', detail;
		END IF;
		RETURN detail;
	END $$;
	-- a receipt names the event of the message, whoever was first
	CREATE FUNCTION send_checked(n integer) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		receipt clutch.receipt;
	BEGIN
		receipt := clutch.send(attempt(n));
		IF (SELECT e.envelope #>> '{payload,n}' FROM clutch.events e WHERE e.seq = receipt.seq) IS DISTINCT FROM n::text THEN
			RAISE 'receipt % is not of message %', receipt, n;
		END IF;
		RETURN receipt.seq;
	END $$;
});

my $dir = PostgreSQL::Test::Utils::tempdir;
append_to_file("$dir/send.sql", "\\set n random(1, 3000)\nSELECT send_checked(:n);\n");
append_to_file("$dir/insert.sql", "\\set n random(1, 3000)\nINSERT INTO clutch.events (envelope) VALUES (attempt(:n));\n");
append_to_file("$dir/altered.sql", "\\set n random(1, 100)\nSELECT altered(:n);\n");

# 32 * 1,563 = 50,016 attempts
$node->command_checks_all(
	[ 'pgbench', '-n', '-M', 'prepared', '-c', 32, '-j', 2, '-t', 1563, '--random-seed=1',
		'-f', "$dir/send.sql\@12", '-f', "$dir/insert.sql\@12", '-f', "$dir/altered.sql\@1", 'postgres' ],
	0, [ qr{processed: 50016/50016}, qr{failed transactions: 0 } ], [qr{^(?!.*(?:error|abort))}s],
	'50,000 attempts of 32 senders: no error');

# those that chance left out
$node->safe_psql('postgres', 'SELECT send_checked(n) FROM generate_series(1, 3000) n');
is($node->safe_psql('postgres', q{
	SELECT count(*), count(DISTINCT envelope #>> '{payload,n}'), count(DISTINCT seq),
		count(*) FILTER (WHERE envelope #>> '{payload,words}' <> 'the same') FROM clutch.events}),
	'3000|3000|3000|0', 'exactly 3,000 events, each message once');
is($node->safe_psql('postgres', 'SELECT count(*) FROM (SELECT run_id, id FROM clutch.events GROUP BY 1, 2 HAVING count(*) > 1) d'),
	'0', 'no id twice in a run');

# Batches that hold the same ids, keys and tasks in any order: none is a victim.
$node->safe_psql('postgres', q{
	SELECT clutch.register(card('ken', 100));
	SELECT count(*) FROM generate_series(1, 20) n, clutch.send(ask('task:work' || n));
	SELECT count(*) FROM clutch.claim('agent:ken', 20);
	CREATE FUNCTION batch() RETURNS bigint LANGUAGE sql AS $$
		SELECT count(*) FROM clutch.send_batch((SELECT array_agg(e ORDER BY random()) FROM (
			SELECT attempt(3001 + (random() * 60)::integer) AS e FROM generate_series(1, 10)
			UNION ALL
			SELECT clutch.envelope('task.progress', 'agent:ken', '{agent:ui}', id => 'msg_p' || (random() * 200)::integer || '_' || t,
				run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:work' || t)
			FROM (SELECT 1 + (random() * 19)::integer AS t FROM generate_series(1, 5)) ts
			UNION ALL
			SELECT ask('task:new' || t, id => 'msg_new' || t)
			FROM (SELECT (random() * 300)::integer AS t FROM generate_series(1, 3)) ts
			UNION ALL
			SELECT clutch.envelope('agent.register', 'agent:' || t, payload => card('a' || t) || jsonb_build_object('agent_id', 'agent:' || t),
				run_id => 'run:agents')
			FROM (SELECT (random() * 20)::integer AS t FROM generate_series(1, 2)) ts) b)) $$;
});
append_to_file("$dir/batch.sql", "SELECT batch();\n");
$node->command_checks_all(
	[ 'pgbench', '-n', '-c', 32, '-j', 2, '-t', 25, '-f', "$dir/batch.sql", 'postgres' ],
	0, [ qr{processed: 800/800}, qr{failed transactions: 0 } ], [qr{^(?!.*(?:error|abort))}s], '800 batches in every order: no deadlock, no error');

# Events that are committed while a session looks at the epoch do not look like those of a copy.
$node->safe_psql('postgres', q{
	CREATE PROCEDURE look(n integer) LANGUAGE plpgsql AS $$
	DECLARE
		pos text;
	BEGIN
		FOR i IN 1..n LOOP
			pos := clutch.position();
			IF pos NOT LIKE 'p1.1.%' THEN
				RAISE 'position % is not of the first epoch', pos;
			END IF;
		END LOOP;
	END $$});
append_to_file("$dir/look.sql", "CALL look(1000);\n");
append_to_file("$dir/said.sql", "SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}'));\n");
$node->command_checks_all(
	[ 'pgbench', '-n', '-c', 9, '-j', 2, '-T', 8, '-f', "$dir/look.sql\@1", '-f', "$dir/said.sql\@80", 'postgres' ],
	0, [qr{failed transactions: 0 }], [qr{^(?!.*(?:error|abort))}s], 'the epoch stays the same while others send');

# A prune may leave those who took part in a run.  Several sessions found it again at the same time, and remove them.
$node->safe_psql('postgres', q{
	INSERT INTO clutch.participant SELECT 'agent:former' || i, 'run:former' || n FROM generate_series(1, 5000) i, generate_series(1, 40) n});
append_to_file("$dir/found.sql", "\\set n :n + 1\nSELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', run_id => 'run:former' || :n));\n");
$node->command_checks_all(
	[ 'pgbench', '-n', '-c', 4, '-j', 2, '-t', 40, '-D', 'n=0', '-f', "$dir/found.sql", 'postgres' ],
	0, [ qr{processed: 160/160}, qr{failed transactions: 0 } ], [qr{^(?!.*(?:error|abort))}s], 'four sessions that found the same runs: no deadlock, no error');
is($node->safe_psql('postgres', q{SELECT count(*) FROM clutch.participant WHERE run_id LIKE 'run:former%'}), '0', 'and nobody is left');

is_sound($node, 'postgres', 'after the senders');

$node->stop;
done_testing();
