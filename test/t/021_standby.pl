# P7, P10 and DESIGN 4: a synchronous standby is read and promoted under load,
# and positions meet servers that they are not of.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use TeamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{CHAOS_SEED} // time ^ $$;
my $events = $ENV{STANDBY_EVENTS} // 1500;
diag "CHAOS_SEED=$seed STANDBY_EVENTS=$events";
srand $seed;

my $primary = new_node('primary', allows_streaming => 1, conf => q{
clutch.heartbeat_interval = 2s
clutch.retry_initial = 50ms
clutch.retry_max_delay = 500ms
clutch.breaker_reset = 2s
});
prepare_team($primary, 'postgres');

sub standby_of
{
	my ($node, $name) = @_;
	my $standby = PostgreSQL::Test::Cluster->new($name);

	$node->backup("for_$name");
	$standby->init_from_backup($node, "for_$name", has_streaming => 1);
	$standby->start;
	return $standby;
}

my $standby = standby_of($primary, 'standby');
$primary->append_conf('postgresql.conf', "synchronous_standby_names = 'standby'");
$primary->reload;
$primary->poll_query_until('postgres', q{SELECT sync_state = 'sync' FROM pg_stat_replication}) or die 'no synchronous standby';

# whichever of the two takes writes
my $team = new_team($seed, 'host=' . join(',', map { $_->host } $primary, $standby)
	  . ' port=' . join(',', map { $_->port } $primary, $standby) . ' dbname=postgres target_session_attrs=read-write');
my @readers = qw(on_primary on_standby);
foreach my $reader (@readers)
{
	append_to_file("$team->{dir}/$reader.start", "beginning\n");
}
$primary->safe_psql('postgres', "SELECT clutch.subscribe('all', '{}', 'beginning'), clutch.subscribe('parts', '{}', 'beginning', 2)");

start_member($team, 'agent', "a$_") foreach 1 .. 20;
start_member($team, 'producer', "p$_") foreach 1 .. 3;
start_member($team, 'subscriber', $_) foreach qw(all.0 parts.0 parts.1);
start_member($team, 'ticker', 'tick');
start_member($team, 'watcher', 'watch');
start_member($team, 'reader', 'on_primary');
start_member($team, 'reader', 'on_standby', $standby->connstr('postgres'));

sub events_of { my ($node) = @_; return answer_of($node, 'postgres', 'SELECT count(*) FROM clutch.events') // 0; }

sub more_events
{
	my ($node, $n, $what) = @_;
	my $goal = events_of($node) + $n;
	await("$what: $n more events", sub { revive_team($team); return events_of($node) >= $goal; });
	return;
}

# --------------------------------------------------------------- late commits
# Old ids that become events after much younger ones were read: one plainly,
# one with more subtransactions than a standby keeps, one is never to be read.
my @late = map { session($primary, 'postgres') } 1 .. 3;
ask_session($_, 'BEGIN; SELECT pg_current_xact_id();') foreach @late;
my $chat = q{clutch.send(clutch.envelope('chat.message', 'agent:ui', '{topic:late}', run_id => 'run:late', thread_id => 'thread:1', task_id => 'task:late', id => 'msg_late_%s'))};
ask_session($late[1], join ' ', map { "SAVEPOINT s$_; SELECT " . sprintf($chat, "many_$_") . ';' } 1 .. 70);
ask_session($late[2], 'SELECT ' . sprintf($chat, 'never') . ';');
more_events($primary, $events, 'before the late commits');
await('the reader on the standby has read much', sub { revive_team($team); return told($team, 'saw', 'on_standby') > $events / 3; });
ask_session($late[0], 'SELECT ' . sprintf($chat, 'one') . '; COMMIT;');
ask_session($late[1], 'COMMIT;');
my $before = scalar told($team, 'saw', 'on_standby');
await('the reader on the standby sees what was committed late', sub { grep { $_->[1] eq 'msg_late_one' } told($team, 'saw', 'on_standby') });
cmp_ok($before, '>', $events / 3, "it had read much before ($before events)");
more_events($primary, $events, 'after them');

# ------------------------------------------------------------------- promotion
$primary->kill9;
my %read_before = map { $_ => scalar told($team, 'saw', $_) } @readers;
my $position_of_primary = (split /\n/, slurp_file("$team->{dir}/on_primary.pos"))[-1];
$standby->promote;
nothing_lost($standby, 'postgres', $team, 'promoted');
is_sound($standby, 'postgres', 'promoted');
# its own standbys are added later
$standby->append_conf('postgresql.conf', "synchronous_standby_names = ''");
$standby->reload;
is($standby->safe_psql('postgres', 'SELECT pg_is_in_recovery()'), 'f', 'the standby is promoted');
more_events($standby, $events, 'after the promotion');
foreach my $reader (@readers)
{
	ok(eval { await('it goes on', sub { revive_team($team); return told($team, 'saw', $reader) > $read_before{$reader}; }); 1; }, "the reader that was $reader goes on");
}

stop_role($team, 'producer');
ok(eval {
	await('every task is over', sub {
		revive_team($team);
		return $standby->safe_psql('postgres', 'SELECT count(*) FROM clutch.task WHERE finished_at IS NULL') eq '0';
	});
	1;
}, 'every task ends');
stop_role($team, $_) foreach qw(agent ticker watcher subscriber reader);

is(faults_of($team), '', 'nobody was told what must not be');
nothing_lost($standby, 'postgres', $team, 'at the end');
ends_once_and_within_limits($standby, 'postgres');
seen_once($standby, 'postgres', $_, 'true') foreach qw(all parts);
foreach my $reader (@readers)
{
	my $copy = join "\n", map { "$reader\t$_->[2]\t$_->[1]" } told($team, 'saw', $reader);
	$standby->safe_psql('postgres', "COPY seen FROM STDIN;\n$copy\n\\.\n");
	seen_once($standby, 'postgres', $reader, 'true');
}
is($standby->safe_psql('postgres', q{SELECT count(DISTINCT subscription) FROM seen WHERE id = 'msg_late_many_70'}), '4', 'all of them what a transaction of many parts said late');
same_after_rebuild($standby, 'postgres', 'at the end');

# ------------------------------------------------------- a timeline that is lost
# The ids of all that is read from a position on, or the SQLSTATE of the error. A position may lie within a large
# transaction, and then the first call returns only the rest of what was read with it.
sub read_at
{
	my ($node, $position) = @_;
	my @ids;

	while (1)
	{
		my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT id, pos FROM clutch.read_from('$position', max_events => 100000)");
		return $err =~ /ERROR:  (KL\d+).*?"code": "(\w+)"/s ? "$1 $2" : $err if $status != 0;
		return "@ids" if $out eq '';
		my @rows = map { [ split /\|/ ] } split /\n/, $out;
		push @ids, map { $_->[0] } @rows;
		$position = $rows[-1][1];
	}
}

sub say_on
{
	my ($node, @ids) = @_;
	$node->safe_psql('postgres', join ' ', map { "SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{topic:x}', run_id => 'run:x', thread_id => 'thread:1', task_id => 'task:x', id => 'msg_$_'));" } @ids);
	return;
}

sub position_of { my ($node) = @_; return $node->safe_psql('postgres', 'SELECT clutch.position()'); }

sub commit_all
{
	my ($node, $name) = @_;
	return $node->safe_psql('postgres', "WITH r AS MATERIALIZED (SELECT * FROM clutch.read('$name', 1000))
		SELECT string_agg(id, ' ' ORDER BY seq) FROM r, (SELECT clutch.commit('$name', max(pos)) FROM r) c");
}

my $third = standby_of($standby, 'third');
$standby->safe_psql('postgres', "SELECT clutch.subscribe('cursor', '{\"topic\": \"x\"}')");
say_on($standby, 'kept');
is(commit_all($standby, 'cursor'), 'msg_kept', 'a cursor has moved');
$standby->wait_for_catchup($third);
my $kept = position_of($standby);
is(read_at($third, $kept), '', 'a position of the primary is good on its standby');

# from here on it receives no WAL
$third->append_conf('postgresql.conf', "primary_conninfo = ''");
$third->reload;
$standby->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_replication') or die 'it still streams';
my $half = position_of($standby);
say_on($standby, map { "lost_$_" } 1 .. 20);
my $ahead = position_of($standby);
is(read_at($third, $ahead), 'KL008 POSITION_IN_FUTURE', 'one that it has not come to is refused on a standby');
$third->promote;
is(read_at($third, $ahead), '', 'promoted: of what is lost there is nothing to read');

# The first writer on the timeline stays open, or rolls back: other writers meanwhile have ids that the lost position has "seen".
my $open = session($third, 'postgres');
ask_session($open, 'BEGIN; SELECT ' . sprintf($chat, 'open') . ';');
say_on($third, 'new_1');
is(read_at($third, $ahead), 'msg_new_1', 'what is new is read, though it has the ids of what is lost');
ask_session($open, 'ROLLBACK;');
say_on($third, 'new_2');
is(read_at($third, $ahead), 'msg_new_1 msg_new_2', 'also when the first to write there came to nothing');
is(read_at($third, $half), 'msg_new_1 msg_new_2', 'from where the two parted too');
is(read_at($third, $kept), 'msg_new_1 msg_new_2', 'and from before');
is(commit_all($third, 'cursor'), 'msg_new_1 msg_new_2', 'a cursor goes on');
is(read_at($standby, position_of($third)), 'KL008 POSITION_IN_FUTURE', 'who stayed behind refuses positions of the new timeline');
is(read_at($third, $position_of_primary), read_at($standby, $position_of_primary) =~ s/(?: msg_lost_\d+)+/ msg_new_1 msg_new_2/r,
	'one of two timelines ago is good on both');
end_session($open);

# Returns all ids, each of which is read alone.
sub read_singly
{
	my ($node, $position) = @_;
	my @ids;

	while (1)
	{
		my ($id, $next) = split /\|/, $node->safe_psql('postgres', "SELECT id, pos FROM clutch.read_from('$position', max_events => 1)");
		return "@ids" unless defined $id;
		push @ids, $id;
		$position = $next;
	}
}

# a dump of the promoted one, in another cluster
my $later = new_node('later', bare => 1);
my $dump_of_third = PostgreSQL::Test::Utils::tempdir . '/third';
$third->command_ok([ 'pg_dump', '-Fc', '-f', $dump_of_third, '-d', $third->connstr('postgres') ], 'a dump of who was promoted');
$later->command_ok([ 'pg_restore', '-d', $later->connstr('postgres'), $dump_of_third ], 'is restored elsewhere');
is(read_at($later, $_->[0]), 'msg_new_1 msg_new_2', "$_->[1]: a copy has what is new, too") foreach [ $ahead, 'of what is lost' ],
  [ $half, 'of where the two parted' ], [ $kept, 'of before' ];
say_on($later, 'later');
is(read_singly($later, $ahead), 'msg_new_1 msg_new_2 msg_later', 'one by one, and then what is its own');
is(read_at($later, $position_of_primary), read_at($third, $position_of_primary) . ' msg_later', 'one of two timelines ago is good there');

# ---------------------------------------------------------- copies of other kinds
# A base backup that was simply started is the same history until it writes.
my $twin = PostgreSQL::Test::Cluster->new('twin');
$standby->backup('twin');
my $same = position_of($standby);
say_on($standby, map { "later_$_" } 1 .. 20);
$twin->init_from_backup($standby, 'twin');
$twin->start;
is(read_at($twin, $same), '', 'a restored base backup: a position of before is good');
say_on($twin, 'twin');
is(read_at($twin, $same), 'msg_twin', 'and goes on with what it writes');
is(read_at($twin, position_of($standby)), 'KL008 POSITION_IN_FUTURE', 'one of after is refused');

# another cluster
my $copy = new_node('copy', bare => 1);
my $dump = PostgreSQL::Test::Utils::tempdir . '/dump';
say_on($standby, 'unread');
my $at_dump = position_of($standby);
$standby->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $standby->connstr('postgres') ], 'a dump');
say_on($standby, 'undumped');
my $after_dump = position_of($standby);
$copy->command_ok([ 'pg_restore', '-d', $copy->connstr('postgres'), $dump ], 'is restored elsewhere');
is(read_at($copy, $at_dump), '', 'a position of the original is good');
is(read_at($copy, $after_dump), '', 'one of after the dump too: the copy will never have what it lacks');
my $untouched = position_of($copy);
say_on($copy, 'copied');
is(read_at($copy, $_->[0]), 'msg_copied', "$_->[1]: the copy's own events are read on") foreach [ $at_dump, 'of the dump' ],
  [ $after_dump, 'of after the dump' ], [ $untouched, 'of the copy before it was written to' ];
like(read_at($copy, $same), qr/^msg_later_1 .*msg_later_20 msg_unread msg_copied$/, 'of before the dump: first what is left of the original');
like(commit_all($copy, 'cursor'), qr/^msg_lost_1 .*msg_lost_20 .*msg_later_20 msg_unread msg_copied$/, 'so does a cursor');
is(commit_all($copy, 'cursor'), '', 'once');
is(read_at($standby, position_of($copy)), 'KL008 POSITION_IN_FUTURE', 'the original refuses positions of the copy');

my $stranger = new_node('stranger');
say_on($stranger, 'strange');
is(read_at($standby, position_of($stranger)), 'KL008 POSITION_OF_OTHER_HISTORY', 'and whose history it does not share');
is(read_at($stranger, $_->[0]), 'KL008 POSITION_OF_OTHER_HISTORY', "both ways, $_->[1]") foreach [ $position_of_primary, 'of the same timeline' ],
  [ $at_dump, 'of a later one' ];

$_->stop foreach $standby, $third, $later, $twin, $copy, $stranger;
done_testing();
