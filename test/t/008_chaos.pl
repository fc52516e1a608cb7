# Producers, twenty agents, tickers and subscribers, while agents are killed or
# fall silent, reports are sent twice or late, backends are terminated and the
# server is killed: at the end every request has ended once, no limit was
# broken, every subscription has seen every event once, and the log says the
# same as the state.
#
#   CHAOS_SEED       which chances; a new one each time, and told
#   CHAOS_REQUESTS   of each of four producers (600)
#   CHAOS_CRASHES    of the server (5)
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use ClutchTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{CHAOS_SEED} || time;
my $requests = $ENV{CHAOS_REQUESTS} || 600;
my $crashes = $ENV{CHAOS_CRASHES} || 5;
my $python = $ENV{PYTHON} || '/usr/bin/python3';
diag "CHAOS_SEED=$seed";
srand $seed;

my $node = new_node('chaos', conf => "shared_preload_libraries = 'clutch'\nclutch.heartbeat_interval = 1\nclutch.default_lease = 1\n"
	  . "clutch.retry_initial = 20ms\nclutch.retry_max_delay = 100ms\nclutch.breaker_reset = 1\nclutch.max_lease_losses = 1000\nclutch.retry_max = 3\n");
$node->safe_psql('postgres', q{
	CREATE TABLE seen (subscription text, seq bigint, id text, run_id text);
	CREATE TABLE broken (agent_id text, running bigint, at timestamptz);
	-- of one snapshot: nobody ever has more than his card says
	CREATE FUNCTION watch() RETURNS void LANGUAGE sql AS $$
		INSERT INTO broken
		SELECT t.agent_id, count(*), now() FROM clutch.task t WHERE t.status IN ('assigned', 'running')
		GROUP BY t.agent_id HAVING count(*) > (SELECT max_concurrency FROM clutch.agents a WHERE a.agent_id = t.agent_id) $$;
	CREATE FUNCTION consume(name text, member integer) RETURNS void LANGUAGE sql AS $$
		WITH got AS MATERIALIZED (SELECT * FROM clutch.read(name, 200, member)),
		kept AS (INSERT INTO seen SELECT name, seq, id, run_id FROM got)
		SELECT clutch.commit(name, max(pos), member) FROM got $$;
	SELECT clutch.subscribe('all'), clutch.subscribe('requests', '{"type": "task.request"}'), clutch.subscribe('team', '{"type": "task.*"}', 'now', 2);
	SELECT count(*) FROM generate_series(1, 20) n, clutch.register(card('a' || n, 1 + n % 4))});

my $dir = PostgreSQL::Test::Utils::tempdir;
local %ENV = ($node->_get_env, CHAOS_REQUESTS => $requests, PGDATABASE => 'postgres', PGOPTIONS => '');
my %clients;

sub start_client
{
	my ($role, $name) = @_;
	my $pid = fork // die "fork: $!";

	if ($pid == 0)
	{
		open STDOUT, '>>', "$dir/$name.log";
		open STDERR, '>>', "$dir/$name.log";
		exec $python, "$FindBin::Bin/chaos_client.py", $dir, $seed, $role, $name;
		die "exec: $!";
	}
	$clients{$pid} = [ $role, $name ];
	return;
}

# who died of itself begins again, but for producers that are done
my @faults;

sub restart_the_dead
{
	while ((my $pid = waitpid(-1, 1)) > 0)
	{
		my $client = delete $clients{$pid} or next;
		my ($role, $name) = @$client;

		push @faults, "$name ended with " . ($? >> 8) if $? && ($? & 127) != 9;
		start_client($role, $name) unless $role eq 'producer';
	}
	return;
}

sub start_again
{
	foreach (1 .. 600)
	{
		return if $node->start(fail_ok => 1);
		$node->{_pid} = undef;
		select undef, undef, undef, 0.1;
	}
	die 'the server does not start';
}

sub ask { my ($sql) = @_; my ($status, $out) = $node->psql('postgres', $sql); return $status == 0 ? $out : undef; }

# Waits for a condition, with the dead restarted meanwhile.
sub await
{
	my ($what, $sql, $seconds) = @_;
	my $end = time + $seconds;

	while (time < $end)
	{
		restart_the_dead();
		return 1 if (ask($sql) // '') eq 't';
		select undef, undef, undef, 0.1;
	}
	diag "waited in vain: $what";
	return 0;
}

start_client('producer', "p$_") foreach 1 .. 4;
start_client('agent', "a$_") foreach 1 .. 20;
start_client('ticker', "t$_") foreach 1 .. 2;
start_client('subscriber', $_) foreach qw(all.0 requests.0 team.0 team.1);

# ------------------------------------------------------------------- the chaos
my $total = 4 * $requests;
foreach my $crash (1 .. $crashes)
{
	my $goal = int($total * $crash / ($crashes + 1));

	await("request $goal", "SELECT count(*) >= $goal FROM clutch.events WHERE type = 'task.request'", 120) or last;
	my @agents = grep { $clients{$_}[0] eq 'agent' } sort { $a <=> $b } keys %clients;
	kill 'KILL', $agents[ int rand @agents ] foreach 1 .. 3;
	ask(q{SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
		WHERE backend_type IN ('client backend', 'clutch worker') AND pid <> pg_backend_pid() ORDER BY md5(pid::text) LIMIT 3) t});
	$node->kill9;
	start_again();
	restart_the_dead();
}
await('the requests', "SELECT count(*) = $total FROM clutch.events WHERE type = 'task.request'", 120);
append_to_file("$dir/calm", '');
ok(await('the ends', q{SELECT count(*) = 0 FROM clutch.task WHERE finished_at IS NULL}, 180), 'every task ends, after ' . $crashes . ' crashes')
  or diag $node->safe_psql('postgres', q{SELECT task_id, status, agent_id, waiting_for, code, attempt, since, wake_at, lease_until FROM clutch.task WHERE finished_at IS NULL LIMIT 10});
my $events = $node->safe_psql('postgres', 'SELECT count(*) FROM clutch.events');
ok(await('the subscribers', q{SELECT NOT EXISTS (SELECT FROM clutch.events e WHERE e.seq <=} . ' ' . $node->safe_psql('postgres', 'SELECT max(seq) FROM clutch.events')
	. q{ AND e.run_id <> 'run:agents' AND NOT EXISTS (SELECT FROM seen s WHERE s.subscription = 'all' AND s.seq = e.seq))}, 60), 'the subscription to all has come to the end');
append_to_file("$dir/stop", '');
while (%clients)
{
	my $pid = waitpid(-1, 0);
	last if $pid <= 0;
	my $client = delete $clients{$pid} or next;
	push @faults, "$client->[1] ended with " . ($? >> 8) if $? && ($? & 127) != 9;
}
is(join(', ', @faults), '', 'no client met an error that it could not have expected')
  or diag map { "$_: " . slurp_file("$dir/$_.log") } grep { -s "$dir/$_.log" } map { (split / /)[0] } @faults;
# nobody calls any more: the worker would find all agents silent
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->restart;
# what the last of them left unread
$node->safe_psql('postgres', "SELECT consume('$_->[0]', $_->[1]) FROM generate_series(1, 500)") foreach [ 'all', 0 ], [ 'requests', 0 ], [ 'team', 0 ], [ 'team', 1 ];

# ------------------------------------------------------------ what must be true
my @told = map { split /\n/, slurp_file($_) =~ s/[^\n]*\z//r } glob "$dir/*.told";
my @tasks = map { /^request (.+)/ ? $1 : () } @told;
my @said = map { /^event (.+)/ ? $1 : () } @told;
note "$events events, " . @tasks . ' requests, ' . @said . ' reports acknowledged';
is(scalar @tasks, $total, 'every request was acknowledged');
$node->safe_psql('postgres', 'CREATE TABLE told (id text); COPY told FROM STDIN;' . "\n" . join("\n", @said) . "\n\\.\n");
is($node->safe_psql('postgres', 'SELECT count(*) FROM told WHERE NOT EXISTS (SELECT FROM clutch.events e WHERE e.id = told.id)'), '0', 'every report that was acknowledged is in the log');
is($node->safe_psql('postgres', q{SELECT count(*) FROM (SELECT id, run_id FROM clutch.events GROUP BY 1, 2 HAVING count(*) > 1) d}), '0', 'and what was sent twice is there once');
is($node->safe_psql('postgres', 'SELECT count(*) FROM clutch.task'), "$total", 'every request is a task');
# an end that was tried again is no end
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM (
		SELECT task_id FROM clutch.events
		WHERE NOT late AND (type IN ('task.result', 'task.error', 'task.cancel', 'task.timeout')
			OR envelope -> 'meta' -> 'clutch' ->> 'move' = 'retried')
		GROUP BY task_id
		HAVING sum(CASE WHEN type = 'task.progress' THEN -1 ELSE 1 END) = 1) ended}), "$total", 'and has exactly one effective end');
is($node->safe_psql('postgres', q{SELECT count(*) FROM (SELECT task_id FROM clutch.events WHERE type = 'task.result' AND NOT late GROUP BY 1 HAVING count(*) > 1) d}),
	'0', 'none has two results');
is($node->safe_psql('postgres', 'SELECT count(*) FROM broken'), '0', 'nobody was seen with more than his limit');
# and by the log: from the decision that gives a task until what takes it away
is($node->safe_psql('postgres', q{
	WITH step AS (
		SELECT task_id, seq, type = 'routing.decision' AS given, envelope -> 'payload' ->> 'selected' AS agent_id
		FROM clutch.events
		WHERE NOT late AND (type IN ('routing.decision', 'task.result', 'task.error', 'task.cancel', 'task.timeout')
			OR envelope -> 'meta' -> 'clutch' ->> 'move' IN ('released', 'lease_expired', 'retried', 'answered')
			OR (type = 'task.progress' AND envelope -> 'payload' ->> 'state' = 'input_required'))),
	held AS (SELECT given, agent_id, seq AS since, lead(seq) OVER (PARTITION BY task_id ORDER BY seq) AS until FROM step),
	change AS (
		SELECT agent_id, since AS seq, 1 AS by FROM held WHERE given
		UNION ALL SELECT agent_id, until, -1 FROM held WHERE given AND until IS NOT NULL),
	running AS (SELECT agent_id, sum(by) OVER (PARTITION BY agent_id ORDER BY seq) AS n FROM change)
	SELECT count(*) FROM running r WHERE n > (SELECT max_concurrency FROM clutch.agents a WHERE a.agent_id = r.agent_id)}), '0', 'nor by the log');
is($node->safe_psql('postgres', q{SELECT count(*) FROM (SELECT FROM seen GROUP BY subscription, seq HAVING count(*) > 1) d}), '0', 'no subscription saw an event twice');
foreach my $of ([ 'all', 'true' ], [ 'requests', q{type = 'task.request'} ], [ 'team', q{type LIKE 'task.%'} ])
{
	is($node->safe_psql('postgres', qq{SELECT count(*) FROM clutch.events e WHERE $of->[1] AND seq > 20
		AND NOT EXISTS (SELECT FROM seen s WHERE s.subscription = '$of->[0]' AND s.seq = e.seq)}), '0', "$of->[0] saw every event");
}
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM clutch.events WHERE late}), '>', 0, 'some reports were late');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM clutch.events WHERE envelope -> 'meta' -> 'clutch' ->> 'move' = 'lease_expired'}), '>', 0, 'some leases ran out');
is_sound($node, 'postgres', 'at the end');
same_after_rebuild($node, 'postgres', 'at the end');
$node->stop;
done_testing();
