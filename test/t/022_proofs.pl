# P3: what the database says of its log is checked by a program that has nothing of
# it (test/clients/proofs.py) and by openssl; it stays true after prune, redact, restore
# and failover; a superuser's forgery is found, and statements that would begin one
# are refused.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir;
# what is sealed is what is older than every open transaction, those of autovacuum too
my $conf = "shared_preload_libraries = 'clutch'\nautovacuum = off\nclutch.seal_interval = 0\nclutch.heartbeat_interval = 0\nclutch.log_origin = 'example.com/log'\n";
my $primary = new_node('primary', allows_streaming => 1, conf => $conf);
my $copy = new_node('copy', bare => 1, conf => $conf);

# ------------------------------------------------------- the other program
my $received = q{to_char(e.received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')};
my $path = q{(SELECT coalesce(jsonb_agg(encode(h, 'hex') ORDER BY n), '[]') FROM unnest(p.path) WITH ORDINALITY u(h, n))};
my $inclusions = qq{
	SELECT jsonb_build_object('claim', 'inclusion', 'index', p.leaf_index, 'size', p.tree_size, 'root', encode(p.root, 'hex'), 'path', $path)
		|| CASE WHEN p.leaf IS NULL THEN jsonb_build_object('leaf_hash', encode(p.leaf_hash, 'hex'))
				ELSE jsonb_build_object('seq', e.seq, 'received_at', $received, 'envelope', e.envelope) END
	FROM clutch.events e, clutch.prove(e.seq) p WHERE EXISTS (SELECT FROM clutch.checkpoint c WHERE c.members \@> e.seq)};

# Returns whether all claims are good, and what the program prints.
sub checked
{
	my (@claims) = @_;
	my $out = '';
	my $good = IPC::Run::run([ $ENV{PYTHON} // 'python3', "$FindBin::RealBin/../clients/proofs.py" ], '<', \join("\n", @claims), '>', \$out, '2>&1');
	diag $out if !$good && $ENV{PROOFS_VERBOSE};
	return ($good, $out);
}

sub heads_of
{
	my ($node, $db) = @_;
	return map { [ split /\|/ ] } split /\n/, $node->safe_psql($db, "SELECT size, encode(root, 'hex') FROM clutch.checkpoints ORDER BY size");
}

# That the newest tree of the database begins with each of the trees whose heads were kept.
sub consistencies
{
	my ($node, $db, @heads) = @_;
	return map {
		$node->safe_psql($db, qq{
			SELECT jsonb_build_object('claim', 'consistency', 'first_size', $_->[0], 'first_root', '$_->[1]',
				'second_size', c.size, 'second_root', encode(c.root, 'hex'), 'path', $path)
			FROM (SELECT * FROM clutch.checkpoints ORDER BY size DESC LIMIT 1) c, clutch.consistency($_->[0], c.size) p})
	} @heads;
}

sub proved_ok
{
	my ($node, $db, $what, @heads) = @_;
	my @claims = ((split /\n/, $node->safe_psql($db, $inclusions)), consistencies($node, $db, @heads));
	my ($good, $out) = checked(@claims);

	ok($good, "$what: " . scalar(@claims) . ' proofs hold') or diag $out;
	is($node->safe_psql($db, 'SELECT * FROM clutch.verify_log()'), '', "$what: the log is what was sealed");
	return;
}

# ------------------------------------------------------------------ a history
my $chat = q{clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', run_id => '%s', thread_id => 'thread:' || %s, payload => '{"t": "\u00e9\\n\\\\ \"q\" \t \u2028 \ud83d\ude00", "n": [1, -20, 0.5, true, null], "b": {}, "B": 1}'))};
sub chats { my ($node, $db, $n, $run) = @_; $node->safe_psql($db, "SELECT count(*) FROM generate_series(1, $n) n, " . sprintf($chat, $run // 'run:chat', 'n')); return; }

$primary->safe_psql('postgres', q{
	SELECT clutch.register(card('ken', 3));
	SELECT count(*) FROM generate_series(1, 5) n, clutch.send(ask('task:' || n));
	-- numbers that ECMAScript writes in another way, and such as no double has
	SELECT count(*) FROM unnest('{2e-05, 1.50, 1e21, 123456789012345680000, 5e-324, -1.7976931348623157e308, 9007199254740993, 0.10000000000000000001}'::numeric[]) n,
		clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', jsonb_build_object('long name', n, 'n', E'\u0001\u007f', 'a', '{}'::jsonb, 'b', '[]'::jsonb)));
	SELECT clutch.seal();
});
foreach my $n (1, 2, 30, 7, 70)
{
	chats($primary, 'postgres', $n);
	$primary->safe_psql('postgres', 'SELECT clutch.seal()');
}
# an older transaction that commits after younger ones were sealed
my $late = session($primary, 'postgres');
ask_session($late, 'BEGIN; SELECT ' . sprintf($chat, 'run:late', 1) . ';');
chats($primary, 'postgres', 3);
is($primary->safe_psql('postgres', 'SELECT clutch.seal()'), '0', 'nothing is sealed past an open transaction');
like(($primary->psql('postgres', 'SELECT clutch.prove(max(seq)) FROM clutch.events'))[2], qr/has not been sealed yet.*running when it was committed/s, 'the error says why');
ask_session($late, 'COMMIT;');
end_session($late);
is($primary->safe_psql('postgres', 'SELECT clutch.seal()'), '4', 'but then');
my @heads = heads_of($primary, 'postgres');
is(scalar @heads, 7, 'there are checkpoints');
proved_ok($primary, 'postgres', 'a new log', @heads);

my @claims = split /\n/, $primary->safe_psql('postgres', $inclusions);
(my $wrong = $claims[9]) =~ s/"root": "(.)/'"root": "' . ($1 eq '0' ? '1' : '0')/e;
like((checked($wrong))[1], qr/wrong: inclusion: the path leads to another root/, 'the program finds a wrong root');
($wrong = $claims[9]) =~ s/agent:ken/agent:lois/;
like((checked($wrong))[1], qr/wrong: inclusion: the path leads to another root/, 'and a wrong event');

# ----------------------------------------------------------------- signatures
my $key = "$dir/key.pem";
system_or_bail('openssl', 'genpkey', '-algorithm', 'ed25519', '-out', $key);
my $public = unpack 'H*', substr(`openssl pkey -in $key -pubout -outform DER`, -32);
my $text = $primary->safe_psql('postgres', q{SELECT rtrim(note, E'\n') FROM clutch.checkpoints ORDER BY size DESC LIMIT 1});
append_to_file("$dir/note", "$text\n");
system_or_bail('openssl', 'pkeyutl', '-sign', '-inkey', $key, '-rawin', '-in', "$dir/note", '-out', "$dir/signature");
my $signature = unpack 'H*', slurp_file("$dir/signature");
my $size = $heads[-1][0];
is($primary->safe_psql('postgres', "SELECT clutch.add_checkpoint_signature($size, 'example.com/auditor', '\\x$public', '\\x$signature')"), 't', 'a signature of openssl is kept');
is($primary->safe_psql('postgres', "SELECT clutch.add_checkpoint_signature($size, 'example.com/auditor', '\\x$public', '\\x$signature')"), 'f', 'once');
like(($primary->psql('postgres', "SELECT clutch.add_checkpoint_signature($heads[0][0], 'example.com/auditor', '\\x$public', '\\x$signature')"))[2], qr/is not a signature/, 'for its own checkpoint');
my $note = $primary->safe_psql('postgres', qq{
	SELECT jsonb_build_object('claim', 'note', 'note', note, 'size', size, 'root', encode(root, 'hex'), 'signer', 'example.com/auditor', 'public_key', '$public')
	FROM clutch.checkpoints WHERE size = $size});
my ($good, $out) = checked($note);
ok($good, 'openssl accepts the signed note') or diag $out;
($wrong = $note) =~ s{example.com/log}{example.com/lag};
like((checked($wrong))[1], qr/openssl refuses/, 'and no other');

# ------------------------------------------------------------------------ DDL
sub refused_ok
{
	my ($statement) = @_;
	my ($status, $stderr);

	# The worker locks the extension before the log.  A statement that locks them the other
	# way round can be chosen to end a deadlock with it, before anything else refuses it.
	foreach (1 .. 10)
	{
		($status, undef, $stderr) = $primary->psql('postgres', $statement);
		last unless $stderr =~ /deadlock detected/;
	}
	ok($status != 0 && $stderr =~ /LOG_PROTECTED|the log of clutch is append-only/, "refused: $statement") or diag $stderr;
	return;
}
refused_ok($_) foreach (
	'ALTER TABLE clutch.events DISABLE TRIGGER ALL', 'ALTER TABLE clutch.events DISABLE TRIGGER append_only',
	'ALTER TABLE clutch.events ENABLE TRIGGER append_only_row', 'ALTER TABLE clutch.events ENABLE REPLICA TRIGGER zz_admit',
	'DROP TRIGGER append_only ON clutch.events',
	'BEGIN; ALTER TRIGGER append_only ON clutch.events RENAME TO a; DROP TRIGGER a ON clutch.events',
	'ALTER TABLE clutch.events DROP COLUMN scope CASCADE', q{BEGIN; ALTER EXTENSION clutch DROP FUNCTION clutch.replay(text); DROP FUNCTION clutch.replay(text); ALTER TABLE clutch.events ALTER idempotency_key TYPE text USING NULL},
	'DO $$ BEGIN EXECUTE \'ALTER TABLE clutch.events DISABLE TRIGGER USER\'; END $$',
	'BEGIN; ALTER EXTENSION clutch DROP TABLE clutch.events; DROP TABLE clutch.events CASCADE',
	'CREATE RULE r AS ON INSERT TO clutch.events DO INSTEAD NOTHING',
	'CREATE OR REPLACE FUNCTION clutch.append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN old; END $$',
	'ALTER TABLE clutch.events RENAME TO other', 'ALTER TABLE clutch.events SET SCHEMA public', 'ALTER SCHEMA clutch RENAME TO other',
	'ALTER FUNCTION clutch.append_only() RENAME TO other', 'ALTER FUNCTION clutch.admit() SET SCHEMA public', 'ALTER TABLE clutch.events RENAME COLUMN envelope TO other',
	'CREATE TABLE heir () INHERITS (clutch.events)', 'BEGIN; CREATE TABLE heir (LIKE clutch.events); ALTER TABLE heir INHERIT clutch.events',
	'TRUNCATE clutch.events');
like(($primary->psql('postgres', $_))[2], qr/TABLE_PROTECTED/, "refused: $_") foreach (
	'ALTER TABLE clutch.events SET UNLOGGED', 'ALTER TABLE clutch.task SET UNLOGGED', 'DO $$ BEGIN SET search_path = clutch; ALTER TABLE events SET UNLOGGED; END $$',
	'ALTER TABLE clutch.events ADD COLUMN note text', 'ALTER TABLE IF EXISTS clutch.task ALTER task_id SET STATISTICS 10, ADD note text',
	'CREATE TABLE parent (LIKE clutch.task) PARTITION BY LIST (task_id); ALTER TABLE parent ATTACH PARTITION clutch.task DEFAULT',
	'CREATE TYPE many AS (a int); ALTER TABLE clutch.task OF many',
	# as pg_repack does
	(map { "CREATE TRIGGER t AFTER INSERT OR DELETE OR UPDATE ON $_ FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()" } qw(clutch.task clutch.subscription_position)),
	'SET search_path = clutch; CREATE CONSTRAINT TRIGGER t AFTER DELETE ON ready FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()');
# Where the extension is not installed, a schema of that name is not its own.
$primary->safe_psql('postgres', 'CREATE DATABASE namesake');
is(($primary->psql('namesake', $_))[2], '', "allowed elsewhere: $_") foreach (
	'CREATE SCHEMA clutch', 'CREATE TABLE clutch.events (a int)',
	'CREATE FUNCTION clutch.admit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN new; END $$',
	'CREATE TRIGGER t BEFORE INSERT ON clutch.events FOR EACH ROW EXECUTE FUNCTION clutch.admit()',
	'CREATE OR REPLACE FUNCTION clutch.admit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN old; END $$',
	'ALTER TABLE clutch.events DISABLE TRIGGER t', 'ALTER TABLE clutch.events ALTER a TYPE bigint', 'ALTER TABLE clutch.events RENAME a TO b',
	'TRUNCATE clutch.events', 'CREATE RULE r AS ON UPDATE TO clutch.events DO INSTEAD NOTHING', 'CREATE TABLE heir () INHERITS (clutch.events)',
	'ALTER SCHEMA clutch RENAME TO other', 'ALTER SCHEMA other RENAME TO clutch', 'DROP TABLE heir, clutch.events');
$primary->safe_psql('postgres', q{
	VACUUM FULL clutch.events;
	CLUSTER clutch.events USING events_seq;
	REINDEX TABLE clutch.events;
	REINDEX TABLE CONCURRENTLY clutch.events;
	ALTER TABLE clutch.events SET TABLESPACE pg_default;
	ALTER TABLE clutch.events SET (autovacuum_vacuum_scale_factor = 0.1);
	ALTER TABLE clutch.events ALTER envelope SET STATISTICS 10;
	ALTER TABLE clutch.events ENABLE ALWAYS TRIGGER append_only;
	CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
	CREATE TRIGGER seen AFTER INSERT ON clutch.events FOR EACH ROW EXECUTE FUNCTION seen();
	ALTER TABLE clutch.events DISABLE TRIGGER seen;
	DROP TRIGGER seen ON clutch.events;
	CREATE TRIGGER seen AFTER INSERT ON clutch.group_member FOR EACH ROW EXECUTE FUNCTION seen();
	DROP TRIGGER seen ON clutch.group_member;
	CREATE TRIGGER seen INSTEAD OF DELETE ON clutch.tasks FOR EACH ROW EXECUTE FUNCTION seen();
	DROP TRIGGER seen ON clutch.tasks;
	CREATE TABLE clutch.my_task ();
	CREATE TRIGGER seen AFTER INSERT ON clutch.my_task FOR EACH ROW EXECUTE FUNCTION seen();
	DROP TABLE clutch.my_task;
	CREATE TABLE mine (seq bigint REFERENCES clutch.events (seq));
	DROP TABLE mine;
	CREATE INDEX mine ON clutch.events (received_at);
	DROP INDEX clutch.mine;
	CREATE TABLE clutch.mine ();
	ALTER TABLE clutch.mine SET UNLOGGED, ADD COLUMN note text;
	ALTER TABLE IF EXISTS clutch.nobodys ADD COLUMN note text;
	DROP TABLE clutch.mine;
});
pass('what does not touch the protection is let through');
$primary->safe_psql('postgres', 'CREATE DATABASE scratch');
$primary->safe_psql('scratch', 'CREATE EXTENSION clutch; DROP EXTENSION clutch; CREATE EXTENSION clutch; DROP EXTENSION clutch CASCADE');
pass('the extension can be dropped');
$primary->safe_psql('postgres', 'SET clutch.allow_ddl = on; ALTER TABLE clutch.events DISABLE TRIGGER append_only; ALTER TABLE clutch.events ENABLE ALWAYS TRIGGER append_only');
pass('and somebody who means it is let through');
is($primary->safe_psql('postgres', 'SELECT * FROM clutch.check()'), '', 'the log is protected as before');

# ------------------------------------------------------------ prune and redact
$primary->safe_psql('postgres', q{
	SELECT count(*) FROM clutch.claim('agent:ken', 3) c, clutch.finish('agent:ken', c.task_id, '{"found": 1}', c.attempt);
	SELECT clutch.seal();
	SELECT clutch.redact(max(seq), 'on request') FROM clutch.events WHERE type = 'chat.message';
	SELECT clutch.seal();
});
proved_ok($primary, 'postgres', 'after redact', @heads);
cmp_ok($primary->safe_psql('postgres', q{SELECT clutch.prune(now() + interval '1 h', 50)}), '>=', 50, 'a part of the log is pruned');
push @heads, heads_of($primary, 'postgres');
$primary->safe_psql('postgres', 'SELECT clutch.seal()');
proved_ok($primary, 'postgres', 'after prune', @heads);

# -------------------------------------------------------------------- restore
my $standby = PostgreSQL::Test::Cluster->new('standby');
$primary->backup('for_standby');
$standby->init_from_backup($primary, 'for_standby', has_streaming => 1);
$standby->start;
chats($primary, 'postgres', 2);
$primary->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/dump", '-d', $primary->connstr('postgres') ], 'a dump with events that are not sealed');
$copy->safe_psql('postgres', 'CREATE DATABASE restored');
$copy->command_ok([ 'pg_restore', '-d', $copy->connstr('restored'), "$dir/dump" ], 'is restored');
proved_ok($copy, 'restored', 'a restored log', @heads);
chats($copy, 'restored', 3);
cmp_ok($copy->safe_psql('restored', 'SELECT clutch.seal()'), '>=', 2, 'sealing goes on with the rest of the old epoch');
$copy->safe_psql('restored', 'SELECT clutch.seal()');
is($copy->safe_psql('restored', 'SELECT count(*) FROM clutch.events e WHERE NOT EXISTS (SELECT FROM clutch.checkpoint c WHERE c.members @> e.seq)'), '0', 'until everything is sealed');
proved_ok($copy, 'restored', 'a restored log that goes on', @heads);

# ------------------------------------------------------------------- failover
$primary->safe_psql('postgres', 'SELECT clutch.seal()');
push @heads, heads_of($primary, 'postgres');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
proved_ok($standby, 'postgres', 'a standby', @heads);
$primary->stop('immediate');
$standby->promote;
# its first transaction is over
wait_for_worker($standby, 'postgres', 'a worker comes');
chats($standby, 'postgres', 5);
is($standby->safe_psql('postgres', 'SELECT clutch.seal()'), '5', 'the promoted standby seals on');
proved_ok($standby, 'postgres', 'a promoted standby', @heads);

# ------------------------------------------------------------------ the worker
$standby->safe_psql('postgres', "ALTER SYSTEM SET clutch.seal_interval = '1s'");
$standby->reload;
chats($standby, 'postgres', 5);
ok($standby->poll_query_until('postgres', 'SELECT EXISTS (SELECT FROM clutch.checkpoint c WHERE c.members @> (SELECT max(seq) FROM clutch.events))'), 'the worker seals what is committed');

# ------------------------------------------------------------------- forgers
# A superuser who changes the log alone is found by the database itself; pgtap has
# each way of it.  One who makes the tree and its heads anew is found by a head that
# was kept outside.
my $anew = q{
	SET clutch.allow_ddl = on;
	ALTER TABLE clutch.events DISABLE TRIGGER USER;
	%s;
	ALTER TABLE clutch.events ENABLE ALWAYS TRIGGER zz_admit;
	ALTER TABLE clutch.events ENABLE ALWAYS TRIGGER append_only;
	ALTER TABLE clutch.events ENABLE ALWAYS TRIGGER append_only_row;
	DELETE FROM clutch.checkpoint; DELETE FROM clutch.tree_hash; DELETE FROM clutch.checkpoint_signature;
	SELECT clutch.seal(); SELECT clutch.seal(); SELECT clutch.seal()};
sub forged
{
	my ($name, $statement) = @_;
	$copy->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE restored");
	$copy->safe_psql($name, sprintf($anew, $statement));
	is($copy->safe_psql($name, 'SELECT * FROM clutch.verify_log()'), '', "$name: the database itself cannot tell");
	return;
}
# nothing has been removed in this one, so that the tree can be made anew at all
$copy->safe_psql('restored', q{DROP EXTENSION clutch; CREATE EXTENSION clutch});
chats($copy, 'restored', 50);
$copy->safe_psql('restored', 'SELECT clutch.seal()');
@heads = heads_of($copy, 'restored');
forged('changed', q{UPDATE clutch.events SET envelope = jsonb_set(envelope, '{payload,B}', '2') WHERE seq = 30});
like((checked(consistencies($copy, 'changed', @heads)))[1], qr/wrong: consistency: (two trees of one size differ|the first root is another)/, 'but a head that was kept is another');
forged('deleted', 'DELETE FROM clutch.events WHERE seq = 30');
like(($copy->psql('deleted', "SELECT clutch.consistency($heads[-1][0], $heads[-1][0])"))[2], qr/has only 49 leaves, not 50.*truncated/s, 'but the tree has shrunk');
forged('unchanged', q{SELECT 1});
($good, $out) = checked(consistencies($copy, 'unchanged', @heads));
ok($good, 'the same tree is made of the same log') or diag $out;

done_testing;
