# P4 to P7, P10 all at once: producers, 20 agents, a ticker, subscribers, a pruner, and a
# foreman who pauses agents and takes them out, at work while clients, backends and servers are killed.  At the end every request
# has ended once, every limit held, every subscription has seen all, nothing
# acknowledged is lost, and the state is what the log says.
#
# CHAOS_SEED repeats the choices of a run, if not its timing, CHAOS_ROUNDS makes
# it longer: each round ends with the death of the server.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use TeamTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{CHAOS_SEED} // time ^ $$;
my $rounds = $ENV{CHAOS_ROUNDS} // 7;
my $events_a_round = 2000;
diag "CHAOS_SEED=$seed CHAOS_ROUNDS=$rounds";
srand $seed;

# short timeouts, so that agents are given up and recover quickly
my $node = new_node('chaos', conf => q{
restart_after_crash = on
full_page_writes = on
clutch.heartbeat_interval = 2s
clutch.retry_initial = 50ms
clutch.retry_max_delay = 500ms
clutch.breaker_reset = 2s
clutch.default_lease = 2s
clutch.claim_timeout = 1s
clutch.aging = 5s
});
prepare_team($node, 'postgres');
$node->safe_psql('postgres', 'CREATE TABLE team_card AS SELECT agent_id, card FROM clutch.agents');
# filter, members, and the same in SQL
my %subscriptions = (
	all => [ '{}', 1, 'true' ],
	parts => [ '{}', 3, 'true' ],
	ends => [ '{"type": ["task.result", "task.error", "task.timeout"]}', 1, q{type IN ('task.result', 'task.error', 'task.timeout')} ],
	news => [ '{"topic": "topic:news"}', 1, q{to_agents @> '{topic:news}'} ]);
$node->safe_psql('postgres', "SELECT clutch.subscribe('$_', '$subscriptions{$_}[0]', 'beginning', $subscriptions{$_}[1])")
  foreach sort keys %subscriptions;

my $team = new_team($seed, $node->connstr('postgres'));
start_member($team, 'agent', "a$_") foreach 1 .. 20;
start_member($team, 'producer', "p$_") foreach 1 .. 3;
start_member($team, 'subscriber', $_) foreach qw(all.0 ends.0 news.0 parts.0 parts.1 parts.2);
start_member($team, 'ticker', 'tick');
start_member($team, 'foreman', 'boss');
start_member($team, 'pruner', 'prune');
start_member($team, 'watcher', 'watch');

# ------------------------------------------------------------------ the chaos
my %killed = (client => 0, backend => 0, server => 0, stopped => 0);

sub one_of { return $_[ rand @_ ]; }

# Kills a client, or its connection: any of them.
sub kill_somebody
{
	if (rand() < 0.5)
	{
		kill_member($team, one_of(map { members($team, $_) } qw(agent agent producer subscriber ticker pruner)));
		$killed{client}++;
	}
	else
	{
		my $answer = answer_of($node, 'postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY md5(pid::text || } . int(rand 1e9) . q{) LIMIT 1});
		$killed{backend}++ if defined $answer;
	}
	return;
}

sub kill_server
{
	my ($how) = @_;

	if ($how eq 'postmaster')
	{
		$node->kill9;
		start_again($node);
		$killed{server}++;
	}
	elsif ($how eq 'backend')
	{
		my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE application_name = 'tick' OR application_name LIKE 'a_'
			ORDER BY application_name DESC LIMIT 1});
		kill 'KILL', $pid if $pid ne '';
		$killed{server}++ if $pid ne '';
	}
	else
	{
		$node->stop('immediate');
		$node->start;
		$killed{stopped}++;
	}
	answers($node, 'postgres', 'SELECT true') or die 'the server does not come back';
	return;
}

sub events { return answer_of($node, 'postgres', 'SELECT count(*) FROM logged'); }

# More than so much of it must have happened for the test to mean something.
my %few = (killed => 10, looked => 50, steps => 20, pruned => 0, redacted => 0, 'woken: joined' => 0, 'woken: messaged' => 0, 'woken: woken' => 0,
	map { $_ => 5 } qw(paused unregistered cancelled task.result task.error task.timeout task.cancel late lease_expired retried released answered
	  routing.failure displaced unclaimed woken));

sub counts
{
	my %n = (killed => $killed{client} + $killed{backend}, map { $_ => scalar(told($team, $_)) } qw(looked pruned redacted paused unregistered cancelled));
	my $rows = answer_of($node, 'postgres', q{
		SELECT CASE WHEN late THEN 'late' ELSE coalesce(envelope #>> '{meta,clutch,move}', type) END, count(*) FROM logged GROUP BY 1
		UNION ALL
		SELECT 'woken: ' || (envelope #>> '{payload,reason}'), count(*) FROM logged WHERE envelope #>> '{meta,clutch,move}' = 'woken' GROUP BY 1
		UNION ALL
		SELECT 'steps', count(*) FROM logged WHERE envelope #> '{meta,clutch,step}' IS NOT NULL});

	return (%n, map { split /\|/ } split /\n/, $rows // '');
}

sub has_enough
{
	my %n = counts();
	return !grep { ($n{$_} // 0) <= $few{$_} } keys %few;
}

foreach my $round (1 .. $rounds)
{
	my $now;

	# the server may be about to notice that a backend was killed
	await('the events are counted', sub { defined($now = events()) });
	my ($goal, $at_last_kill, $looks) = ($now + $events_a_round, $now, 0);

	# on a slow machine, many events pass between two looks
	await("round $round: $events_a_round more events", sub {
		revive_team($team);
		if ($looks++ % 3 == 0 || $now - $at_last_kill >= 200)
		{
			kill_somebody();
			$at_last_kill = $now;
		}
		$now = events() // $now;
		# what chance has left out until then is still to come in the last round
		return $now >= $goal && ($round < $rounds || has_enough());
	});
	kill_server(($round % 7) == 3 ? 'backend' : ($round % 7) == 5 ? 'stop' : 'postmaster');
	note "round $round is over";
}
my @dead = map { "$killed{$_} $_" } sort keys %killed;
note "killed: @dead";
cmp_ok($killed{server}, '>=', 5, "the server was killed (@dead)");
cmp_ok($killed{client} + $killed{backend}, '>', $few{killed}, 'and who works with it');

# ------------------------------------------------------------------- the end
stop_role($team, $_) foreach qw(producer foreman);
my $live = '?';
my $over = eval {
	await('every task is over', sub {
		revive_team($team);
		$live = answer_of($node, 'postgres', 'SELECT * FROM clutch.task WHERE finished_at IS NULL') // '?';
		return $live eq '';
	});
	1;
};
ok($over, 'every task ends') or diag few(split /\n/, $live);
stop_role($team, $_) foreach qw(agent ticker watcher pruner subscriber);

is(faults_of($team), '', 'nobody was told what must not be, and no moment was seen with an agent above its limit');
cmp_ok(scalar(told($team, 'looked')), '>', $few{looked}, 'though somebody looked');
ends_once_and_within_limits($node, 'postgres');
nothing_lost($node, 'postgres', $team, 'at the end');
seen_once($node, 'postgres', $_, $subscriptions{$_}[2]) foreach sort keys %subscriptions;
is_sound($node, 'postgres', 'at the end');
same_after_rebuild($node, 'postgres', 'at the end');
is_sound($node, 'postgres', 'rebuilt');

# the rest of the log goes, too
my %n = counts();
cmp_ok($n{pruned}, '>', $few{pruned}, "the log was pruned meanwhile ($n{pruned} times)");
cmp_ok($n{redacted}, '>', $few{redacted}, "and contents were erased ($n{redacted} of them)");
cmp_ok($n{$_}, '>', $few{$_}, "the foreman had his way: $_") foreach qw(paused unregistered cancelled);
$node->safe_psql('postgres', q{SELECT clutch.unsubscribe(name) FROM clutch.subscription});
$node->safe_psql('postgres', q{SELECT clutch.prune('infinity', 100000)}) foreach 1 .. 3;
is($node->safe_psql('postgres', 'SELECT count(*) FROM clutch.task'), '0', 'in the end all of it can be pruned');
is_sound($node, 'postgres', 'pruned');
same_after_rebuild($node, 'postgres', 'pruned');

# enough has been killed for the test to mean something
note join ', ', map { "$_ $n{$_}" } sort keys %n;
cmp_ok($n{$_} // 0, '>', $few{$_}, "there were events: $_")
  foreach qw(task.result task.error task.timeout task.cancel late lease_expired retried released answered routing.failure displaced unclaimed woken);
cmp_ok($n{steps}, '>', $few{steps}, 'and steps');
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT envelope #>> '{payload,reason}', ' ') FROM logged WHERE envelope #>> '{meta,clutch,move}' = 'woken'}),
	'joined messaged woken', 'tasks were woken by everything that they wait for');

$node->stop;
done_testing();
