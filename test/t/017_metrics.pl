# What stops sealing or holds back VACUUM from outside the database is in the metrics.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = new_node('primary', allows_streaming => 1, conf => "max_prepared_transactions = 2\nautovacuum = off\n");

sub metric
{
	my ($name) = @_;
	return $primary->safe_psql('postgres', "SELECT value FROM clutch.metrics() WHERE name = '$name'");
}

# a new transaction and an event each
sub say
{
	my ($times) = @_;
	$primary->safe_psql('postgres', "SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}'));") foreach 1 .. $times;
}

# a prepared transaction in another database
say(1);
$primary->safe_psql('postgres', 'CREATE DATABASE other');
$primary->safe_psql('postgres', 'SELECT clutch.seal()');
is(metric('clutch_unsealed_seconds'), 0, 'everything is sealed');
$primary->safe_psql('other', q{CREATE TABLE t (i integer); BEGIN; INSERT INTO t VALUES (1); PREPARE TRANSACTION 'elsewhere'});
say(20);
is($primary->safe_psql('postgres', 'SELECT clutch.seal()'), '0', 'a transaction that was prepared in another database stops sealing');
cmp_ok(metric('clutch_unsealed_seconds'), '>', 0, 'which shows');
is(metric('clutch_oldest_writer_seconds'), 0, 'it does not keep any event from readers');
cmp_ok(metric('clutch_oldest_snapshot_xids'), '<', 10, 'nor does it hold back VACUUM');
$primary->safe_psql('other', q{COMMIT PREPARED 'elsewhere'});
$primary->safe_psql('postgres', 'SELECT clutch.seal()');
is(metric('clutch_unsealed_seconds'), 0, 'once it has ended, everything is sealed');
$primary->safe_psql('postgres', q{BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'here'});
say(20);
cmp_ok(metric('clutch_oldest_snapshot_xids'), '>=', 20, 'one of this database holds back VACUUM');
$primary->safe_psql('postgres', q{COMMIT PREPARED 'here'});

# the slot of a standby that was stopped while it had a snapshot
$primary->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('slot')});
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->append_conf('postgresql.conf', "primary_slot_name = 'slot'\nhot_standby_feedback = on\nwal_receiver_status_interval = 1s\n");
$standby->start;
$primary->poll_query_until('postgres', q{SELECT xmin IS NOT NULL FROM pg_replication_slots}) or die 'no feedback';
$standby->stop('immediate');
say(20);
cmp_ok(metric('clutch_oldest_snapshot_xids'), '>=', 20, 'so does the slot of a standby that is gone');
is(metric('clutch_oldest_snapshot_seconds'), 0, 'which has no open transaction');

done_testing();
