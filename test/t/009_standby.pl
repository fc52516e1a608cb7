# A synchronous standby is read from while there is load, and promoted when the
# primary dies under it: nothing that was acknowledged is lost, cursors go on,
# and every event is seen once, late committers included.  Then positions that
# come from elsewhere: a lost timeline, a restored copy, another cluster.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use ClutchTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $clients = 4;
my $primary = new_node('primary', allows_streaming => 1, conf => "synchronous_commit = remote_apply\nclutch.notify = off\n");
$primary->safe_psql('postgres', q{
	CREATE TABLE seen (id text, run_id text);
	SELECT count(*) FROM generate_series(1, 4) n, clutch.register(card('a' || n, 5));
	SELECT clutch.subscribe('reader', start => 'beginning')});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->append_conf('postgresql.conf', "synchronous_standby_names = '*'\n");
$primary->reload;
$primary->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'})
  or die 'the standby is not synchronous';

# -------------------------------------------------------------------- the load
my $dir = PostgreSQL::Test::Utils::tempdir;

# What one client does; psql prints a row once its statement is committed.
# Some transactions have several events, or a savepoint, or come to nothing.
sub script_of
{
	my ($n) = @_;
	my $script = "\\pset format unaligned\n\\pset tuples_only on\n\\set ON_ERROR_STOP on\n";

	foreach my $i (1 .. 2000)
	{
		$script .= "SELECT 'event', id FROM clutch.send(ask('task:${n}_$i'));\n";
		$script .= "SELECT 'event', f.id FROM clutch.claim('agent:a$n', 2) c, clutch.finish('agent:a$n', c.task_id, '{}', c.attempt) f;\n" if $i % 2;
		$script .= "BEGIN; SELECT clutch.send(ask('task:${n}_b$i')) \\g /dev/null\nSAVEPOINT s; SELECT clutch.send(ask('task:${n}_s$i')) \\g /dev/null\n"
		  . ($i % 2 ? "ROLLBACK TO s; SELECT clutch.send(ask('task:${n}_t$i')) \\g /dev/null\nCOMMIT;\n" : "RELEASE s; ROLLBACK;\n")
		  if $i % 5 == 0;
	}
	return $script;
}

my (@files, @sessions);
foreach my $n (1 .. $clients)
{
	append_to_file("$dir/$n.sql", script_of($n));
	append_to_file("$dir/$n.out", '');
	push @files, "$dir/$n.out";
	push @sessions, IPC::Run::start(
		[ 'psql', '-X', '-q', '-d', $primary->connstr('postgres'), '-f', "$dir/$n.sql", '-o', "$dir/$n.out" ],
		'<', \undef, '>', "$dir/$n.log", '2>&1');
}

# ----------------------------------------------------------------- the readers
my $position = 'beginning';
my %read;

# Reads on, on whichever server, until nothing is new or so many pages; how many events.
sub read_on
{
	my ($session, $pages) = @_;
	my $n = 0;

	while ($pages-- > 0)
	{
		my @rows = split /\n/, ask_session($session, "SELECT id, run_id, r.pos FROM clutch.read_from('$position', '{}', 200) r;");

		foreach my $row (@rows)
		{
			my ($id, $run, $pos) = split /\|/, $row;

			die "not a row: $row" unless defined $run;
			$read{"$id $run"}++;
			$position = $pos if defined $pos && $pos ne '';
			$n++;
		}
		last unless @rows;
	}
	return $n;
}

# The position moves in the transaction that keeps what was read.
sub consume
{
	my ($session, $pages) = @_;
	my $n = 0;

	while ($pages-- > 0)
	{
		my $got = ask_session($session, q{
			BEGIN;
			CREATE TEMP TABLE batch ON COMMIT DROP AS SELECT * FROM clutch.read('reader', 200);
			INSERT INTO seen SELECT id, run_id FROM batch;
			SELECT clutch.commit('reader', max(pos)) FROM batch \g /dev/null
			SELECT count(*) FROM batch;
			COMMIT;});

		die $got unless $got =~ /^(\d+)$/m;
		$n += $1;
		last if $1 == 0;
	}
	return $n;
}

my $on_standby = session($standby, 'postgres');
my $on_primary = session($primary, 'postgres');
my $late = session($primary, 'postgres');
my $later = session($primary, 'postgres');
my $pages = 0;

# these have their transactions early, and commit when thousands have gone by
ask_session($late, q{BEGIN; SELECT clutch.send(ask('task:late')) \g /dev/null});
ask_session($later, q{BEGIN; SELECT clutch.send(ask('task:later')) \g /dev/null});
while (keys %read < 1500)
{
	die 'nothing comes' if $pages++ > 20000;
	read_on($on_standby, 1);
	consume($on_primary, 1);
}
ask_session($late, 'COMMIT;');
my $of_late = $primary->safe_psql('postgres', q{SELECT id || ' ' || run_id FROM clutch.events WHERE task_id = 'task:late' AND type = 'task.request'});
while (!$read{$of_late})
{
	die 'the late committer does not come' if $pages++ > 24000;
	read_on($on_standby, 1);
	consume($on_primary, 1);
}
is($read{$of_late}, 1, 'who commits late is read on the standby, behind what came before');
ok(!grep({ $read{$_} != 1 } keys %read), 'nothing was read twice there (' . keys(%read) . ' events)');
is($primary->safe_psql('postgres', "SELECT count(*) > 0 FROM clutch.events WHERE xid > (SELECT max(xid) FROM clutch.events WHERE task_id = 'task:late')"), 't',
	'others did not wait for it');
like(ask_session($on_standby, q{SELECT clutch.read('reader');}), qr/a standby cannot keep the position/, 'a standby keeps no position');
like(ask_session($on_standby, q{SELECT clutch.tick();}), qr/ERROR/, 'and does no work');

# a position of the primary that the standby has not come to yet waits, or is right
my $ahead = $primary->safe_psql('postgres', 'SELECT clutch.position()');
my ($status, $out, $refused) = $standby->psql('postgres', "SELECT count(*) FROM clutch.read_from('$ahead')");
ok($status == 0 || $refused =~ /POSITION_IN_FUTURE/, 'a position of the primary is read on the standby, or refused until it has caught up');

# --------------------------------------------------------------- the primary dies
$primary->kill9;
$_->finish foreach @sessions;
my @acknowledged = map { /^event\|(.+)$/ ? $1 : () } map { split /\n/, slurp_file($_) =~ s/[^\n]*\z//r } @files;
cmp_ok(scalar @acknowledged, '>', 500, 'there was a load');
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'the standby is not promoted';

$standby->safe_psql('postgres', 'CREATE TABLE told (id text); COPY told FROM STDIN;' . "\n" . join("\n", @acknowledged) . "\n\\.\n");
is($standby->safe_psql('postgres', 'SELECT count(*) FROM told WHERE NOT EXISTS (SELECT FROM clutch.events e WHERE e.id = told.id)'), '0',
	'everything that was acknowledged is there (' . @acknowledged . ')');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM clutch.events WHERE task_id = 'task:later'}), '0', 'what was never committed is not');
is_sound($standby, 'postgres', 'promoted');

my $inherited = $standby->safe_psql('postgres', 'SELECT max(seq) FROM clutch.events');

# the readers go on where they were
my $on_new = session($standby, 'postgres');
$standby->safe_psql('postgres', q{SET synchronous_commit = local; SELECT count(*) FROM generate_series(1, 20) n, clutch.send(ask('task:new_' || n))});
read_on($on_new, 10000);
consume($on_new, 10000);
my %log = map { $_ => 1 } split /\n/, $standby->safe_psql('postgres', q{SELECT id || ' ' || run_id FROM clutch.events});
is(join(' ', grep { ($read{$_} // 0) != 1 } sort keys %log), '', 'who read on the standby has read every event once, across the promotion');
is(join(' ', grep { !$log{$_} } sort keys %read), '', 'and nothing that is not there');
is($standby->safe_psql('postgres', q{
	SELECT count(*) FROM (SELECT id, run_id FROM seen GROUP BY id, run_id HAVING count(*) > 1) twice}), '0', 'the subscription saw nothing twice');
is($standby->safe_psql('postgres', q{
	SELECT count(*) FROM clutch.events e WHERE NOT EXISTS (SELECT FROM seen s WHERE (s.id, s.run_id) = (e.id, e.run_id))}), '0', 'and every event');
same_after_rebuild($standby, 'postgres', 'promoted');
drain($standby, 'postgres');
is($standby->safe_psql('postgres', q{SELECT string_agg(DISTINCT status, ' ') FROM clutch.tasks}), 'completed', 'the tasks are done there');

# ---------------------------------------------------------------- lost timeline
# The old primary comes back by itself and goes on: its transactions have the
# numbers of others here.
$primary->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
foreach (1 .. 600)
{
	last if $primary->start(fail_ok => 1);
	$primary->{_pid} = undef;
	select undef, undef, undef, 0.1;
}
my $before = $standby->safe_psql('postgres', 'SELECT clutch.position()');
$primary->safe_psql('postgres', "SELECT clutch.send(ask('task:lost_$_'))") foreach 1 .. 30;
my $lost = $primary->safe_psql('postgres', 'SELECT clutch.position()');
is($standby->safe_psql('postgres', "SELECT count(*) FROM clutch.read_from('$lost', '{}', 100000)"),
	$standby->safe_psql('postgres', "SELECT count(*) FROM clutch.events WHERE seq > $inherited"),
	'a position of the lost timeline: all that came since is read, whatever its number');
($status, $out, $refused) = $primary->psql('postgres', "SELECT count(*) FROM clutch.read_from('$before')");
like($refused, qr/later copy or timeline/, 'a position of the new timeline is refused on the old one');
$primary->stop;

# --------------------------------------------------------- restored, and others
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init;
$copy->start;
$standby->safe_psql('postgres', q{SELECT clutch.send(ask('task:rest_' || n)) FROM generate_series(1, 3) n});
my $dump = "$dir/dump.sql";
$standby->command_ok([ 'pg_dump', '-f', $dump, '-d', $standby->connstr('postgres') ], 'dumped');
$copy->safe_psql('postgres', 'CREATE DATABASE copied');
$copy->command_ok([ 'psql', '-X', '-q', '-d', $copy->connstr('copied'), '-f', $dump ], 'restored');
$copy->safe_psql('copied', q{SELECT clutch.send(ask('task:copied'))});
my $rest = q{SELECT string_agg(task_id, ' ' ORDER BY seq) FROM clutch.read_from('%s', '{"type": "task.request"}', 100000) WHERE seq > %d};
my $mark = $standby->safe_psql('postgres', q{SELECT min(seq) - 1 FROM clutch.events WHERE task_id = 'task:rest_1'});
is($copy->safe_psql('copied', sprintf($rest, $before, $mark)), 'task:rest_1 task:rest_2 task:rest_3 task:copied',
	'a position of the original, in the copy: the rest of the original, then what is new');
my $of_copy = $copy->safe_psql('copied', 'SELECT clutch.position()');
($status, $out, $refused) = $standby->psql('postgres', "SELECT clutch.read_from('$of_copy')");
like($refused, qr/later copy/, 'a position of the copy is refused in the original');
$copy->safe_psql('postgres', q{CREATE EXTENSION clutch});
$copy->safe_psql('postgres', q{SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui'))});
my $strange = $copy->safe_psql('postgres', 'SELECT clutch.position()');
($status, $out, $refused) = $standby->psql('postgres', "SELECT clutch.read_from('$strange')");
like($refused, qr/another copy of the database/, 'and one of another cluster');
is($copy->safe_psql('copied', q{SELECT count(*) > 0 FROM clutch.read('reader')}), 't', 'the subscription of the original goes on in the copy');

end_session($on_new);
$standby->stop;
$copy->stop;
done_testing();
