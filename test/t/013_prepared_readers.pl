# P7 with two-phase commit: while a transaction is being prepared it stands twice in every snapshot.
# Its events are read once all the same.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Utils;
use Test::More;

# PREPARE TRANSACTION waits for a standby that does not exist; nothing else does.
my $node = new_node('prepared', allows_streaming => 1, conf => q{
max_prepared_transactions = 2
autovacuum = off
synchronous_standby_names = 'nobody'
synchronous_commit = local
});

$node->safe_psql('postgres', q{
	CREATE FUNCTION say(id text) RETURNS text LANGUAGE sql AS $$
		SELECT (clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', id => say.id, run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1'))).id $$;
	SELECT clutch.subscribe('s'), clutch.subscribe('t');
});

my $preparer = session($node, 'postgres');
my $reader = session($node, 'postgres');
ask_session($preparer, 'SET synchronous_commit = on; SET clutch.notify = off;');

# What a subscriber gets, each event as often as it gets it.
sub read_and_commit
{
	my ($name) = @_;
	return ask_session($reader, "WITH r AS MATERIALIZED (SELECT * FROM clutch.read('$name'))
		SELECT string_agg(id, ' ' ORDER BY seq) FROM r, (SELECT clutch.commit('$name', max(pos)) FROM r) AS c;") =~ s/\n//r;
}

ask_session($preparer, "BEGIN; SELECT say('prepared');");
$preparer->{out} = '';
$preparer->{in} .= "PREPARE TRANSACTION 'p';\n\\echo answered\n";
my $is_waiting = '';
for (1 .. 300)
{
	$preparer->{run}->pump_nb;
	$is_waiting = $node->safe_psql('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'});
	last if $is_waiting eq 't';
}
is($is_waiting, 't', 'a transaction is being prepared') or die 'it does not wait for the standby';

ask_session($reader, "SELECT say('before');");
my $twice = ask_session($reader, q{SELECT xids FROM clutch.position(), split_part(position, '.', 6) AS xids;}) =~ s/\n//r;
like($twice, qr/^\d+$/, 'a position names it once');
my $from = ask_session($reader, 'SELECT clutch.position();') =~ s/\n//r;
is(read_and_commit($_), 'before', 'what others have committed is read meanwhile') foreach qw(s t);
like(ask_session($reader, "SELECT count(*) FROM clutch.subscription_position WHERE seen ~ '(\\m\\d+),\\1\$' OR until ~ '(\\m\\d+),\\1\$';"), qr/^0$/m,
	'no stored position names it twice');

$node->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
$node->reload;
$preparer->{run}->pump until $preparer->{out} =~ /^answered$/m;
is(read_and_commit('s'), '', 'nothing while it is prepared');
ask_session($reader, "COMMIT PREPARED 'p';");
is(read_and_commit($_), 'prepared', "and once when it is committed: $_") foreach qw(s t);
is(read_and_commit($_), '', "and no more: $_") foreach qw(s t);
is(ask_session($reader, "SELECT string_agg(id, ' ') FROM clutch.read_from('$from');"), "prepared\n", 'by read_from too');

end_session($_) foreach $preparer, $reader;
$node->stop;
done_testing();
