# P7, P10: a copy of a cluster has the same system identifier.  A dump of the original that is
# restored in it has events of transactions that the copy has not begun yet.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $original = new_node('original', allows_streaming => 1);
$original->backup('base');
my $clone = PostgreSQL::Test::Cluster->new('clone');
$clone->init_from_backup($original, 'base');
$clone->start;

$original->safe_psql('postgres', q{
	DO $$ BEGIN FOR i IN 1..3000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$;
	SELECT clutch.subscribe('old');
	SELECT count(clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}'))) FROM generate_series(1, 5);
	SELECT clutch.register(card('ken'));
	SELECT clutch.send(ask('task:1', 'agent:ken'));
	SELECT count(*) FROM clutch.claim('agent:ken', 1, '1 day');
	SELECT clutch.seal();
});
my $dump = PostgreSQL::Test::Utils::tempdir . '/dump';
$original->command_ok([ 'pg_dump', '-Fc', '-f', $dump, 'postgres' ], 'a dump of the original');
$clone->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE template0');
$clone->command_ok([ 'pg_restore', '-e', '-d', 'copy', $dump ], 'is restored in a copy of the cluster');

sub copy { return $clone->safe_psql('copy', $_[0]); }

is(copy(q{SELECT count(*) = (SELECT count(*) FROM clutch.events) FROM clutch.read_from('beginning', '{}', 1000)}), 't', 'all of the log can be read there');
is(copy(q{SELECT count(*) = (SELECT count(*) FROM clutch.events) FROM clutch.read('old', 1000)}), 't', 'also by an old subscription');
copy(q{SELECT clutch.subscribe('new', start => 'now');
	SELECT count(clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}'))) FROM generate_series(1, 4)});
is(copy('SELECT max(epoch) FROM clutch.events'), '2', 'the first event begins an epoch');
is(copy(q{SELECT count(*) FROM clutch.read('new') WHERE type = 'chat.message'}), '4', 'a new subscription has the new events only');
is(copy(q{SELECT attempt > 1 FROM clutch.task WHERE task_id = 'task:1'}), 't', 'a lease of the original does not hold there');
copy('SELECT clutch.seal()');
is(copy('SELECT count(*) FROM clutch.verify_log()'), '0', 'the log is sealed, and nothing is wrong with it');
is(copy('SELECT size = (SELECT count(*) FROM clutch.events) FROM clutch.checkpoint ORDER BY size DESC LIMIT 1'), 't', 'all of it');
is(copy('SELECT count(*) FROM clutch.check()'), '0', 'nor with the state');

done_testing();
