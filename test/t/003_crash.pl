# P10, P4: kill -9 during a load of sends, claims and reports.  What a
# client had been told is there, and every task ends, those included whose
# claim was committed when the server died.  The count of faults, which is kept
# although each refusal rolls back, outlives the death, too.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $clients = 6;
my $node = new_node('crash', conf => "restart_after_crash = on\nfull_page_writes = on\n");
my $dir = PostgreSQL::Test::Utils::tempdir;

$node->safe_psql('postgres', q{SELECT count(*) FROM generate_series(1, 6) n, clutch.register(card('a' || n, 5))});

# What one client does; psql prints a row once its statement is committed.
sub script_of
{
	my ($agent, $round) = @_;
	my $script = "\\pset format unaligned\n\\pset tuples_only on\n\\set ON_ERROR_STOP on\n";

	foreach my $i (1 .. 3000)
	{
		my $task = "task:${round}_${agent}_$i";

		$script .= "SELECT 'event', id, task_id FROM clutch.send(ask('$task'));\n";
		$script .= "SELECT 'event', id, task_id FROM clutch.send(ask('task:shared_${round}_${agent}_$i') || '{\"requires\": [], \"payload\": {\"text\": \"share ready works\"}}');\n"
		  if $i % 10 == 0;
		$script .= "SELECT 'claim', task_id, attempt FROM clutch.claim('agent:a$agent', 2);\n" if $i % 2;
		$script .= "SELECT 'event', f.id, f.task_id FROM (SELECT task_id, attempt FROM clutch.task "
		  . "WHERE agent_id = 'agent:a$agent' AND status = 'running' ORDER BY task_id LIMIT 1) t, "
		  . "clutch.finish('agent:a$agent', t.task_id, '{}', t.attempt) f;\n"
		  if $i % 3;
	}
	return $script;
}

sub lines_of
{
	my (@files) = @_;
	return map { my $text = slurp_file($_); $text =~ s/[^\n]*\z//; split /\n/, $text } @files;
}

my (@events, %claimed);

share_out($node, 'postgres');
my $shared = shared_states($node, 'postgres');
is($shared, 'pending children, input_required agent:s_asks human, completed agent:s_done, assigned agent:s_ready, pending retry, '
	  . 'suspended agent:s_sleeps time, running agent:s_works', 'a request is shared out, and its children are in all states');

# One round: load, death, and what must be there when the server is back.
sub crash_round
{
	my ($round, $how, $die) = @_;
	my (@files, @sessions);

	foreach my $n (1 .. $clients)
	{
		append_to_file("$dir/$round.$n.sql", script_of($n, $round));
		append_to_file("$dir/$round.$n.out", '');
		push @files, "$dir/$round.$n.out";
		push @sessions, IPC::Run::start(
			[ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-f', "$dir/$round.$n.sql", '-o', "$dir/$round.$n.out" ],
			'<', \undef, '>', "$dir/$round.$n.log", '2>&1');
	}
	# -o is written in blocks: enough of them from each
	foreach my $file (@files)
	{
		my $tries = 0;
		select(undef, undef, undef, 0.02) while -s $file < 8192 && $tries++ < 3000;
	}
	$die->();
	$_->finish foreach @sessions;

	my @told = lines_of(@files);
	push @events, map { (split /\|/)[1] } grep { /^event/ } @told;
	$claimed{ (split /\|/)[1] } = 1 foreach grep { /^claim/ } @told;
	cmp_ok(scalar @told, '>', 100 * $clients / 2, "$how: there was a load");
	answers($node, 'postgres', 'SELECT true') or die 'the server does not come back';

	$node->safe_psql('postgres', 'CREATE TABLE IF NOT EXISTS told (id text)');
	$node->safe_psql('postgres', 'TRUNCATE told; COPY told FROM STDIN;' . "\n" . join("\n", @events) . "\n\\.\n");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM told WHERE NOT EXISTS (SELECT FROM clutch.events e WHERE e.id = told.id)'),
		'0', "$how: every event that was acknowledged is there (" . scalar(@events) . ')');
	is_sound($node, 'postgres', $how);
	is(shared_states($node, 'postgres'), $shared, "$how: a request that is shared out stands where it stood, and so do its children");
	is($node->safe_psql('postgres', q{SELECT count(*) FILTER (WHERE n <> 2), count(*) > 0 FROM (
		SELECT (SELECT count(*) FROM clutch.tasks c WHERE c.parent_task_id = t.task_id) AS n FROM clutch.tasks t WHERE t.task_id ~ '^task:shared_') s}),
		'0|t', "$how: each of the others has all of its children");
}


sub start_again
{
	# the orphans of a killed postmaster need a moment to notice
	foreach (1 .. 600)
	{
		return if $node->start(fail_ok => 1);
		$node->{_pid} = undef;    # of the dead one, from its pid file
		select undef, undef, undef, 0.1;
	}
	die 'the server does not start';
}

# A result that breaks the contract of its step: the third one fails the attempt.
my $bad = q{SELECT late FROM clutch.finish('agent:wf', 'task:wf', '{}', payload_type => 'text.v1')};
my $faults = q{SELECT faults FROM clutch.workflow_status('run:wf')};
$node->safe_psql('postgres', q{
	SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:wf", "capabilities": [{"id": "skill:wf"}]}');
	SELECT clutch.register_workflow('{"workflow": "wf", "steps": [{"id": "write", "expects": {"payload_type": "text.v1", "required": ["text"]}}]}');
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:wf}', run_id => 'run:wf', thread_id => 'thread:wf', task_id => 'task:wf',
		meta => '{"clutch": {"workflow": "wf", "step_of": "write"}}'));
	SELECT clutch.claim('agent:wf', 1, '2 h')});
foreach my $n (1, 2)
{
	my (undef, undef, $error) = $node->psql('postgres', $bad);
	like($error, qr/CONTRACT_BROKEN/, "a result is refused ($n)");
}
is($node->safe_psql('postgres', $faults), '2', 'two faults are counted, which no commit has written');

crash_round(1, 'the postmaster killed', sub { $node->kill9; start_again() });
is($node->safe_psql('postgres', $faults), '2', 'they are still counted when the server is back');
is($node->safe_psql('postgres', $bad), 't', 'so the third fault fails the attempt');
$node->safe_psql('postgres', q{SELECT clutch.cancel_run('run:wf')});
crash_round(2, 'a backend killed', sub {
	my $pid = $node->safe_psql('postgres',
		q{SELECT pid FROM pg_stat_activity WHERE application_name = 'psql' AND state = 'active' AND pid <> pg_backend_pid() LIMIT 1});
	$pid = $node->safe_psql('postgres',
		q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1})
	  if $pid eq '';
	kill 'KILL', $pid;
});
crash_round(3, 'the server stopped at once', sub { $node->stop('immediate'); $node->start });
crash_round(4, 'the postmaster killed again', sub { $node->kill9; start_again() });

same_after_rebuild($node, 'postgres', 'after the crashes');
my $orphans = $node->safe_psql('postgres', q{SELECT count(*) FROM clutch.tasks WHERE status = 'running'});
cmp_ok($orphans, '>', 0, "tasks were claimed when it died ($orphans)");

# the leases have run out, the agents come back
answer_shared($node, 'postgres');
drain($node, 'postgres');
is($node->safe_psql('postgres', q{SELECT status FROM clutch.tasks WHERE run_id <> 'run:wf' GROUP BY status}), 'completed', 'every task ends');
is($node->safe_psql('postgres', 'SELECT count(*) FROM clutch.tasks WHERE task_id = ANY ($$' . '{' . join(',', keys %claimed) . '}$$)'),
	scalar(keys %claimed), 'those whose claim was acknowledged among them');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM (SELECT task_id FROM clutch.events WHERE type = 'task.result' AND NOT late
		GROUP BY task_id HAVING count(*) > 1) d}), '0', 'no task has two results');
is($node->safe_psql('postgres', q{SELECT jsonb_array_length(payload -> 'results'), payload #> '{results,1,payload}' FROM clutch.result('task:shared')}),
	'6|{"text": "before"}', 'a shared request has all results, that from before the crashes among them');
is($node->safe_psql('postgres', q{SELECT DISTINCT jsonb_array_length(r.payload -> 'results') FROM clutch.tasks t, clutch.result(t.task_id) r WHERE t.task_id ~ '^task:shared_'}),
	'2', 'and so have those of the load');
is_sound($node, 'postgres', 'at the end');
same_after_rebuild($node, 'postgres', 'at the end');

$node->stop;
done_testing();
