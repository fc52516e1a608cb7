# A team that works while servers are killed: its processes (team.py), and what
# must be true of the log when all is over.
package TeamTest;

use strict;
use warnings;
use Exporter 'import';
use FindBin;
use POSIX ':sys_wait_h';
use Test::More;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(new_team start_member revive_team kill_member members stop_role prepare_team told faults_of
  start_again await few ends_once_and_within_limits nothing_lost seen_once);

# ------------------------------------------------------------ the processes

my $owner = $$;
my @teams;

# $seed decides what they choose; the test decides when they are killed.
sub new_team
{
	my ($seed, $conninfo) = @_;
	push @teams, { seed => $seed, conninfo => $conninfo, dir => PostgreSQL::Test::Utils::tempdir, pid => {}, role => {}, at => {} };
	return $teams[-1];
}

sub start_member
{
	my ($team, $role, $name, $conninfo) = @_;

	$team->{role}{$name} = $role;
	$team->{at}{$name} = $conninfo // $team->{at}{$name} // $team->{conninfo};
	my $pid = fork // die "fork: $!";
	if ($pid == 0)
	{
		open STDOUT, '>>', "$team->{dir}/$name.log";
		open STDERR, '>&', \*STDOUT;
		exec($ENV{PYTHON} // 'python3', "$FindBin::RealBin/team.py", $role, $name, $team->{seed}, $team->{dir}, $team->{at}{$name})
		  or POSIX::_exit(127);
	}
	$team->{pid}{$name} = $pid;
	return;
}

sub members
{
	my ($team, $role) = @_;
	return sort grep { $team->{role}{$_} eq $role } keys %{ $team->{pid} };
}

# Processes that have died are started again, without any memory.
sub revive_team
{
	my ($team) = @_;
	my $n = 0;

	foreach my $name (sort keys %{ $team->{pid} })
	{
		next if waitpid($team->{pid}{$name}, WNOHANG) == 0 || -e "$team->{dir}/stop.$team->{role}{$name}";
		start_member($team, $team->{role}{$name}, $name);
		$n++;
	}
	return $n;
}

sub kill_member
{
	my ($team, $name) = @_;
	kill 'KILL', $team->{pid}{$name};
	return;
}

# They end by themselves when they have nothing left to do.
sub stop_role
{
	my ($team, $role) = @_;
	my @names = members($team, $role);

	append_to_file("$team->{dir}/stop.$role", '');
	await("all of role $role end", sub {
		@names = grep { waitpid($team->{pid}{$_}, WNOHANG) == 0 } @names;
		return !@names;
	});
	delete $team->{pid}{$_} foreach members($team, $role);
	return;
}

END
{
	# the processes that are left, if a test died
	my $status = $?;
	if ($$ == $owner)
	{
		kill 'KILL', $_ foreach map { values %{ $_->{pid} } } @teams;
	}
	$? = $status;
}

# Waits until it is true; dies with the name of what was awaited.
sub await
{
	my ($what, $condition, $seconds) = @_;
	my $end = time + ($seconds // 180);

	until ($condition->())
	{
		die "awaited in vain: $what" if time > $end;
		select undef, undef, undef, 0.05;
	}
	return;
}

sub start_again
{
	my ($node) = @_;

	# the orphans of a killed postmaster need a moment to notice
	await('the server starts', sub {
		return 1 if $node->start(fail_ok => 1);
		$node->{_pid} = undef;    # of the dead one, from its pid file
		return 0;
	}, 60);
	return;
}

# 20 agents with different limits and skills, and tables of the users' own.
sub prepare_team
{
	my ($node, $db) = @_;

	$node->safe_psql($db, q{
		CREATE TABLE effect (task_id text, seq bigint);
		CREATE TABLE step_effect (task_id text, name text);
		CREATE TABLE seen (subscription text, seq bigint, id text);
		-- what is pruned is copied, so that the whole story can be told
		CREATE TABLE pruned (LIKE clutch.events);
		CREATE FUNCTION copy_pruned() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.pruned SELECT OLD.*; RETURN NULL; END';
		CREATE TRIGGER copy_pruned AFTER DELETE ON clutch.events FOR EACH ROW EXECUTE FUNCTION copy_pruned();
		CREATE VIEW logged AS SELECT * FROM clutch.events UNION ALL SELECT * FROM pruned;
		SELECT clutch.register(card('a' || n, 1 + n % 4) || jsonb_build_object('capabilities',
			CASE n % 3 WHEN 0 THEN '[{"id": "skill:x"}, {"id": "skill:y"}]'::jsonb
				WHEN 1 THEN '[{"id": "skill:y"}, {"id": "skill:z"}]' ELSE '[{"id": "skill:z"}, {"id": "skill:x"}]' END))
		FROM generate_series(1, 20) n;
	});
	return;
}

# ------------------------------------------------------------ what they noted

# [word, ...] of every line NAME.told that begins with this word
sub told
{
	my ($team, $kind, $names) = @_;
	my @lines;

	foreach my $file (grep { -e } glob "$team->{dir}/@{[ $names // '*' ]}.told")
	{
		push @lines, grep { /^\Q$kind\E\b/ } split /\n/, slurp_file($file);
	}
	return map { [ split / / ] } @lines;
}

# The first of them, and their number.
sub few
{
	my @list = @_;
	return join "\n", @list > 5 ? (@list[0 .. 4], '... ' . @list) : @list;
}

# what must not happen, and programs that failed
sub faults_of
{
	my ($team) = @_;
	return few(map({ split /\n/, slurp_file($_) } glob "$team->{dir}/*.faults"),
		grep { /^Traceback|Error\b/ } map { split /\n/, slurp_file($_) } glob "$team->{dir}/*.log");
}

# --------------------------------------------------------------- the promises

# Reads the log in order: how many tasks each agent had at once, and which event ended which task.
sub read_story
{
	my ($node, $db) = @_;
	my %story = (limit => {}, above => [], ends => {}, wrong => []);
	my (%holder, %load, %attempt);

	%{ $story{limit} } = map { split /\|/ } split /\n/, $node->safe_psql($db,
		q{SELECT agent_id, card #>> '{limits,max_concurrency}' FROM clutch.agent_registry});
	my $drop = sub {
		my $agent = delete $holder{ $_[0] };
		$load{$agent}-- if defined $agent;
	};
	my $hold = sub {
		my ($task, $agent, $seq) = @_;
		$holder{$task} = $agent;
		push @{ $story{above} }, "$agent at $seq" if ++$load{$agent} > $story{limit}{$agent};
		$story{full}{$agent} = 1 if $load{$agent} == $story{limit}{$agent};
	};
	foreach my $row (split /\n/, $node->safe_psql($db, q{
		SELECT seq, type, task_id, from_agent, coalesce(envelope #>> '{meta,clutch,move}', ''),
			coalesce(envelope #>> '{payload,selected}', ''), coalesce(envelope #>> '{payload,state}', ''), coalesce(attempt, 0), late
		FROM logged WHERE type LIKE 'task.%' OR type LIKE 'routing.%' ORDER BY seq}))
	{
		my ($seq, $type, $task, $from, $move, $selected, $state, $attempt, $late) = split /\|/, $row;

		next if $late eq 't';
		if ($type eq 'task.request')
		{
			$story{ends}{$task} = 0;
		}
		elsif ($type eq 'routing.decision')
		{
			$drop->($task);
			$hold->($task, $selected, $seq);
		}
		elsif ($type =~ /^task\.(result|error|cancel|timeout)$/)
		{
			push @{ $story{wrong} }, "$task at $seq: ended when it was over" if $story{ends}{$task}++;
			push @{ $story{wrong} }, "$task at $seq: ended by $from, not by who had it"
			  if $type =~ /result|error/ && $from ne 'agent:orchestrator' && ($holder{$task} // '') ne $from;
			push @{ $story{wrong} }, "$task at $seq: attempt $attempt ended it, when it was at $attempt{$task}"
			  if $type =~ /result|error/ && $attempt && $from ne 'agent:orchestrator' && $attempt != ($attempt{$task} // 0);
			$drop->($task);
		}
		elsif ($move eq 'retried')
		{
			$story{ends}{$task}--;
		}
		elsif ($move =~ /^(released|lease_expired|displaced|unclaimed)$/ || $state eq 'input_required' || $state eq 'suspended')
		{
			$drop->($task);
		}
		elsif ($move eq '' && $type =~ /^task\.(accept|progress)$/)
		{
			$attempt{$task} = $attempt if $type eq 'task.accept';
			# a request to a named agent has no decision: from its claim on
			$hold->($task, $from, $seq) unless defined $holder{$task};
			push @{ $story{wrong} }, "$task at $seq: $type of $from, who did not have it" if $holder{$task} ne $from;
		}
	}
	return \%story;
}

sub ends_once_and_within_limits
{
	my ($node, $db) = @_;
	my $story = read_story($node, $db);
	my @not_once = grep { $story->{ends}{$_} != 1 } sort keys %{ $story->{ends} };

	is(few(@not_once), '', 'every request has exactly one effective end (' . keys(%{ $story->{ends} }) . ' of them)');
	is(few(@{ $story->{wrong} }), '', 'nothing that was over ended, nobody ended what another had');
	is(few(@{ $story->{above} }), '', 'no agent had more than it may at any time, by the log');
	cmp_ok(scalar(keys %{ $story->{full} // {} }), '>', 5, 'and some had all they may');
	is($node->safe_psql($db, q{
		SELECT count(*) FROM (SELECT task_id, seq FROM logged WHERE type = 'task.result' AND NOT late) a
		FULL JOIN effect b USING (task_id, seq) WHERE a.seq IS NULL OR b.seq IS NULL}), '0',
		'a row of the users that was written with a result is there exactly if the result counted');
	is($node->safe_psql($db, q{
		SELECT string_agg(concat_ws(' ', task_id, name, s.n, e.n, s.attempts), ', ')
		FROM (SELECT task_id, envelope #>> '{meta,clutch,step,name}' AS name, count(*) AS n, array_agg(attempt) AS attempts FROM logged
			  WHERE envelope #> '{meta,clutch,step}' IS NOT NULL GROUP BY 1, 2) s
		FULL JOIN (SELECT task_id, name, count(*) AS n FROM step_effect GROUP BY 1, 2) e USING (task_id, name)
		WHERE e.n IS DISTINCT FROM 1 OR s.n IS DISTINCT FROM 1}), '', 'and one that was written with a step exactly once');
	return;
}

# What was acknowledged is there, what was rolled back is not.
sub nothing_lost
{
	my ($node, $db, $team, $name) = @_;
	my @sent = told($team, 'sent');
	my @dropped = told($team, 'dropped');
	my $copy = join "\n", map({ "sent\t$_->[1]\t$_->[2]" } @sent), map({ "dropped\t$_->[1]\t$_->[2]" } @dropped);

	$node->safe_psql($db, "CREATE TABLE IF NOT EXISTS told (kind text, id text, run_id text); TRUNCATE told;\nCOPY told FROM STDIN;\n$copy\n\\.\n");
	is($node->safe_psql($db, q{SELECT count(*) FROM told t WHERE kind = 'sent'
		AND NOT EXISTS (SELECT FROM logged e WHERE e.id = t.id AND e.run_id = t.run_id)}), '0',
		"$name: every acknowledged event is in the log (" . @sent . ')');
	is($node->safe_psql($db, q{SELECT count(*) FROM told t WHERE kind = 'dropped'
		AND EXISTS (SELECT FROM logged e WHERE e.id = t.id AND e.run_id = t.run_id)}), '0',
		"$name: none that was rolled back is (" . @dropped . ')');
	is($node->safe_psql($db, q{SELECT count(*) FROM (SELECT FROM logged GROUP BY run_id, id HAVING count(*) > 1) d}), '0',
		"$name: none is there twice");
	return;
}

# Against what is in the log, by a condition in SQL: each exactly once.  What is
# wrong is shown with all that is known about it.
sub seen_once
{
	my ($node, $db, $subscription, $what) = @_;
	my $both = qq{WITH a AS MATERIALIZED (SELECT * FROM logged WHERE $what),
		s AS (SELECT seq, count(*) AS n FROM seen WHERE subscription = '$subscription' GROUP BY seq),
		b AS (SELECT CASE WHEN s.seq IS NULL THEN 'missing' WHEN a.seq IS NULL THEN 'not for it' WHEN s.n > 1 THEN 'doubled' END AS fault,
			seq, a.xid, a.epoch, a.type, a.payload_type, a.run_id, a.task_id, a.received_at FROM a FULL JOIN s USING (seq))};

	is($node->safe_psql($db, qq{$both SELECT count(*) FILTER (WHERE fault = 'missing') || ' missing, ' || count(*) FILTER (WHERE fault = 'not for it')
			|| ' not for it, ' || count(*) FILTER (WHERE fault = 'doubled') || ' doubled, some: ' || (count(*) > 0) FROM b}),
		'0 missing, 0 not for it, 0 doubled, some: true', "subscription $subscription saw every event once that it is for")
	  or diag join "\n", 'what is wrong: fault|seq|xid|epoch|type|payload_type|run|task|received_at|pruned',
		$node->safe_psql($db, qq{$both SELECT b.*, EXISTS (SELECT FROM pruned p WHERE p.seq = b.seq) FROM b WHERE fault IS NOT NULL ORDER BY seq LIMIT 20}),
		'positions: member|generation|batch|place|seen|until|moved_at',
		$node->safe_psql($db, qq{SELECT member, generation, batch, place, seen, until, moved_at FROM clutch.subscription_position
			WHERE name = '$subscription' ORDER BY member}),
		'now: ' . $node->safe_psql($db, q{SELECT pg_current_snapshot() || ' ' || clutch.position() || ' ' || clock_timestamp()});
	return;
}

1;
