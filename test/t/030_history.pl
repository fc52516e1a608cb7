# P7, P10: a position that a client keeps is right after a crash, beside other
# timelines, and where events arrive by replication.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $said = q{SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', id => 'msg_%s', run_id => 'run:1'))};

sub read_after
{
	my ($node, $position) = @_;
	return $node->safe_psql('postgres', "SELECT coalesce(string_agg(id, ' ' ORDER BY seq), 'nothing') FROM clutch.read_from('$position', '{\"type\": \"chat.message\"}', 1000)");
}

# -------------------------------------------------------------------- a crash
# Transactions that have rolled back are counted as seen, and their IDs are not used again.
my $node = new_node('crash');
my $session = session($node, 'postgres');
ask_session($session, sprintf($said, 'before') . '; CHECKPOINT;');
# nothing is flushed but what somebody waits for
kill 'STOP', split /\n/, $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type IN ('walwriter', 'background writer')});
ask_session($session, 'BEGIN; SELECT pg_current_xact_id(); ROLLBACK;') foreach 1 .. 12;
my ($position) = ask_session($session, 'SELECT clutch.position();') =~ /(p1\S+)/;
my ($read) = ask_session($session, q{SELECT pos FROM clutch.read_from('beginning', '{}', 1000) WHERE pos IS NOT NULL;}) =~ /(p1\S+)/;
$node->stop('immediate');
end_session($session);
$node->start;
$node->safe_psql('postgres', sprintf($said, $_)) foreach 1 .. 10;
is(read_after($node, $position), join(' ', map { "msg_$_" } 1 .. 10), 'a position from before a crash has seen nothing that came after it');
is(read_after($node, $read), join(' ', map { "msg_$_" } 1 .. 10), 'nor has one that was read');
$node->stop;

# -------------------------------------------------------- timelines side by side
# Two copies go on from timeline 1, the first one earlier, so timeline 2 is no ancestor of timeline 3.
my $origin = new_node('origin', allows_streaming => 1);
sub copy_of
{
	my ($server, $name, $history) = @_;
	my $copy = PostgreSQL::Test::Cluster->new($name);

	$server->backup($name);
	$copy->init_from_backup($server, $name);
	$copy->set_standby_mode;
	$copy->append_conf('postgresql.conf', "recovery_target_timeline = 'current'\n");
	append_to_file($copy->data_dir . '/pg_wal/00000002.history', $history) if defined $history;
	$copy->start;
	return $copy;
}

$origin->safe_psql('postgres', sprintf($said, 'early'));
my $early = $origin->safe_psql('postgres', q{SELECT pos FROM clutch.read_from('beginning', '{"type": "chat.message"}', 1)});
my $first = copy_of($origin, 'first');
$first->promote;
$origin->safe_psql('postgres', sprintf($said, "between$_")) foreach 1 .. 5;
my $second = copy_of($origin, 'second', slurp_file($first->data_dir . '/pg_wal/00000002.history'));
$second->promote;
$first->safe_psql('postgres', sprintf($said, "first$_")) foreach 1 .. 8;
my $lost = $first->safe_psql('postgres', 'SELECT clutch.position()');
$second->safe_psql('postgres', sprintf($said, "second$_")) foreach 1 .. 2;
is($second->safe_psql('postgres', q{SELECT max(timeline) FROM clutch.epoch}), '3', 'the second copy is on a timeline of its own');
like(($second->psql('postgres', "SELECT * FROM clutch.read_from('$lost')"))[2], qr/POSITION_OF_OTHER_HISTORY/, 'a position of the first one is refused there');
is(read_after($second, $early), join(' ', (map { "msg_between$_" } 1 .. 5), 'msg_second1', 'msg_second2'), 'one of the common history is not');

# --------------------------------------------------------------- replication
# Events that arrive on a new timeline are not lost to a position of the old one.
my $arriving = sub {
	my ($server, $n) = @_;
	$server->safe_psql('postgres', sprintf(q{SET session_replication_role = replica; INSERT INTO clutch.events (envelope) SELECT
		clutch.envelope('chat.message', 'agent:far', '{agent:ken}', id => 'msg_far%s', run_id => 'run:far', thread_id => 'thread:1', task_id => 'task:1')}, $n));
};
$arriving->($second, $_) foreach 1 .. 3;
$second->safe_psql('postgres', q{DO $$ BEGIN FOR n IN 1..50 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$});
my $third = copy_of($second, 'third');
$second->safe_psql('postgres', q{DO $$ BEGIN FOR n IN 1..50 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$});
my $here = $second->safe_psql('postgres', 'SELECT clutch.position()');
$third->promote;
$arriving->($third, $_) foreach 4 .. 9;
is(read_after($third, $here), join(' ', map { "msg_far$_" } 4 .. 9), 'events that arrive after a failover are read after a position of the lost server');

# ---------------------------------------------------- a prepared transaction
# It is older than what was read before the failover, and its events are read once, when it is committed.
my $shop = new_node('shop', allows_streaming => 1, conf => "max_prepared_transactions = 4\nclutch.notify = off\n");
$shop->safe_psql('postgres', "SELECT clutch.subscribe('all', '{\"type\": \"chat.message\"}', 'beginning')");
$shop->safe_psql('postgres', join '; ', 'BEGIN', sprintf($said, 'prepared'), q{PREPARE TRANSACTION 'p'});
$shop->safe_psql('postgres', sprintf($said, "read$_")) foreach 1 .. 3;
my $reads = q{WITH r AS MATERIALIZED (SELECT * FROM clutch.read('all', 1000)) SELECT coalesce(string_agg(id, ' ' ORDER BY seq), 'nothing') FROM r, (SELECT clutch.commit('all', max(pos)) FROM r) AS c};
is($shop->safe_psql('postgres', $reads), 'msg_read1 msg_read2 msg_read3', 'a prepared transaction keeps no reader waiting');
my $read_before = $shop->safe_psql('postgres', 'SELECT clutch.position()');
my $promoted = copy_of($shop, 'promoted');
$promoted->promote;
$promoted->safe_psql('postgres', sprintf($said, 'new'));
is(read_after($promoted, $read_before), 'msg_new', 'after a failover, what was read before is not read again although a prepared transaction is older');
is($promoted->safe_psql('postgres', $reads), 'msg_new', 'nor by a subscription');
$promoted->safe_psql('postgres', q{COMMIT PREPARED 'p'});
is(read_after($promoted, $read_before), 'msg_prepared msg_new', 'what it has written is read when it is committed');
is($promoted->safe_psql('postgres', $reads), 'msg_prepared', 'once');

done_testing();
