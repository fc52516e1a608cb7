# What the tests in this folder share: a cluster that has the extension, SQL
# that makes cards and requests, and what "the same state" means.
package ClutchTest;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run;
use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(new_node make_helpers worker_of wait_for_worker state_of log_of answer_of answers same_after_rebuild is_sound drain
  share_out shared_states answer_shared session ask_session end_session);

# A running cluster with the extension in database postgres.
sub new_node
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(allows_streaming => $options{allows_streaming});
	# On a slow machine, a minute passes between a request and its claim.
	$node->append_conf('postgresql.conf', "max_connections = 60\ntimezone = 'UTC'\nclutch.claim_timeout = '1h'\n");
	$node->append_conf('postgresql.conf', $options{conf}) if $options{conf};
	$node->start;
	return $node if $options{bare};
	$node->safe_psql('postgres', 'CREATE EXTENSION clutch');
	make_helpers($node, 'postgres');
	return $node;
}

# card(name, at_once) and ask(task, ...), in schema public.
sub make_helpers
{
	my ($node, $db) = @_;

	$node->safe_psql($db, q{
		SET check_function_bodies = off;
		CREATE FUNCTION card(name text, at_once integer DEFAULT 1) RETURNS jsonb LANGUAGE sql AS $$
			SELECT jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name,
				'display', jsonb_build_object('name', name), 'capabilities', '[{"id": "skill:x"}]'::jsonb,
				'limits', jsonb_build_object('max_concurrency', at_once)) $$;
		CREATE FUNCTION ask(task text, whom text DEFAULT NULL, parent text DEFAULT NULL, run text DEFAULT 'run:1',
				id text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
			SELECT clutch.envelope('task.request', 'agent:ui', CASE WHEN whom IS NOT NULL THEN ARRAY[whom] END,
				run_id => run, thread_id => 'thread:1', task_id => task, parent_task_id => parent,
				requires => '{skill:x}', id => ask.id) $$;
	});
}

# The process of the background worker in a database, as a query.
sub worker_of
{
	my ($db) = @_;
	return "SELECT pid FROM pg_stat_activity WHERE backend_type = 'clutch worker' AND datname = '$db'";
}

# Waits until it has ticked, since it takes hints from then on; returns its process.
sub wait_for_worker
{
	my ($node, $db, $name) = @_;

	Test::More::ok($node->poll_query_until('postgres',
		worker_of($db) =~ s/SELECT pid/SELECT count(*) = 1/r . " AND state = 'idle' AND query <> ''"), $name);
	return $node->safe_psql('postgres', worker_of($db));
}

# What a server says that may be down or starting: undef if it says nothing.  The
# statement is an argument, as psql does not read its input if it cannot connect, and
# IPC::Run dies of that.
sub answer_of
{
	my ($node, $db, $sql) = @_;
	my ($out, $error) = ('', '');

	return undef unless IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr($db), '-c', $sql ], '<', \undef, '>', \$out, '2>', \$error);
	chomp $out;
	return $out;
}

# Waits until it says 't'.
sub answers
{
	my ($node, $db, $sql) = @_;

	foreach (1 .. 1800)
	{
		return 1 if (answer_of($node, $db, $sql) // '') eq 't';
		select undef, undef, undef, 0.1;
	}
	return 0;
}

# Every row of the log, as text.
sub log_of
{
	my ($node, $db) = @_;
	return $node->safe_psql($db, 'SELECT e FROM clutch.events e ORDER BY seq');
}

# The derived tables without what a rebuild may choose anew: places in queues
# and slots, and when to look at a task again.  Nor the failures of agents: what
# transactions open at the same time did not see of one another they counted in
# the order of their commits, a rebuild counts by seq (registry/breaker.h).
sub state_of
{
	my ($node, $db) = @_;
	return $node->safe_psql($db, q{
		SELECT 'agent', r::text FROM clutch.agent_registry r
		UNION ALL
		SELECT 'task', (to_jsonb(t) - '{slot_no,queue_no,next_at,lease_until,lease}'::text[])::text FROM clutch.task t
		UNION ALL
		SELECT 'ready', concat_ws(' ', agent_id, urgency, task_id) FROM clutch.ready
		UNION ALL
		SELECT 'waiting', concat_ws(' ', kind, urgency, task_id) FROM clutch.waiting
		UNION ALL
		SELECT 'slot', concat_ws(' ', agent_id, task_id) FROM clutch.agent_slot WHERE task_id IS NOT NULL
		UNION ALL
		SELECT 'scope', s::text FROM clutch.run_scope s
		UNION ALL
		SELECT 'timer', task_id FROM clutch.timer
		UNION ALL
		SELECT 'dependency', concat_ws(' ', d.task_id, d.after_task_id, d.run_id) FROM clutch.dependency d
		UNION ALL
		SELECT 'question', q::text FROM clutch.question q
		UNION ALL
		SELECT 'suspended', s.task_id FROM clutch.suspended s
		UNION ALL
		SELECT 'awaited', a::text FROM clutch.awaited a
		UNION ALL
		SELECT 'step', s::text FROM clutch.step s
		UNION ALL
		SELECT 'budget', b::text FROM clutch.budget b
		UNION ALL
		SELECT 'spending', concat_ws(' ', run_id, agent_id, day, max(seq), sum(tokens), sum(cost)) FROM clutch.spending GROUP BY run_id, agent_id, day
		ORDER BY 1, 2});
}

sub same_after_rebuild
{
	my ($node, $db, $name) = @_;
	my $before = state_of($node, $db);

	$node->safe_psql($db, 'SELECT clutch.rebuild()');
	my $after = state_of($node, $db);

	# not is(): thousands of lines
	ok($before eq $after, "$name: rebuild makes the same state")
	  or diag first_differences($before, $after);
}

sub first_differences
{
	my ($before, $after) = @_;
	my %old = map { $_ => 1 } split /\n/, $before;
	my %new = map { $_ => 1 } split /\n/, $after;
	my @gone = grep { !$new{$_} } sort keys %old;
	my @come = grep { !$old{$_} } sort keys %new;

	return join "\n", (map { "- $_" } @gone[0 .. min(4, $#gone)]),
	  (map { "+ $_" } @come[0 .. min(4, $#come)]);
}

sub min { return $_[0] < $_[1] ? $_[0] : $_[1]; }

# What is overdue is no fault of the state; on a slow machine, something is.
sub is_sound
{
	my ($node, $db, $name) = @_;
	is($node->safe_psql($db, q{SELECT code, detail FROM clutch.check() WHERE code NOT IN ('TIMER_OVERDUE', 'CONSEQUENCE_OVERDUE', 'OUTBOX_OVERDUE')}), '', "$name: check() finds nothing");
}

# Lets every agent claim and finish until nothing is left that it can have;
# the time is far ahead, so that no old lease holds.
sub drain
{
	my ($node, $db) = @_;
	$node->safe_psql($db, q{
		-- past every lease and backoff, and before every deadline
		SELECT set_config('clutch.clock', to_char((now() + '12 hours') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false);
		SET clutch.breaker_failures = 0;
		DO $$
		DECLARE
			agent text;
			taken integer;
			had integer;
		BEGIN
			LOOP
				taken := 0;
				FOR agent IN SELECT agent_id FROM clutch.agent_registry ORDER BY agent_id LOOP
					SELECT count(f.id) INTO had FROM clutch.claim(agent, 100) c,
						LATERAL clutch.finish(agent, c.task_id, '{}', c.attempt) f;
					taken := taken + had;
				END LOOP;
				EXIT WHEN taken = 0;
			END LOOP;
		END $$;
	});
}

# A request that rules share out among six agents, with children in all states that are
# not over, and one that is.  Nothing happens to them for two hours.
sub share_out
{
	my ($node, $db) = @_;
	$node->safe_psql($db, q{
		SELECT clutch.register(card('s_' || n, 9) || '{"capabilities": []}') FROM unnest('{asks,done,ready,retries,sleeps,works}'::text[]) n;
		INSERT INTO clutch.routing_rule (name, words, send_to)
		SELECT n, ARRAY[n], 'agent:s_' || n FROM unnest('{asks,done,ready,retries,sleeps,works}'::text[]) n;
		INSERT INTO clutch.routing_rule (name, words, emit) VALUES ('share', '{share}',
			'{"to": "matched", "payload": "$.payload", "meta": {"clutch": {"retry": {"initial_ms": 8000000, "max_ms": 8000000}}}}');
		SELECT clutch.send(ask('task:shared', run => 'run:shared')
			|| '{"requires": [], "payload": {"text": "share: asks done ready retries sleeps works"}}');
		SELECT clutch.claim('agent:s_' || n, 1, '2 h') FROM unnest('{works,asks,sleeps,retries,done}'::text[]) n;
		CREATE TEMP TABLE child AS SELECT task_id, agent_id FROM clutch.tasks WHERE parent_task_id = 'task:shared';
		SELECT clutch.progress(agent_id, task_id, '{"state": "input_required", "question": "Really?"}') FROM child WHERE agent_id = 'agent:s_asks';
		SELECT clutch.suspend(agent_id, task_id, '{"for_ms": 8000000}') FROM child WHERE agent_id = 'agent:s_sleeps';
		SELECT clutch.fail(agent_id, task_id, 'BUSY', 'later') FROM child WHERE agent_id = 'agent:s_retries';
		SELECT clutch.finish(agent_id, task_id, '{"text": "before"}') FROM child WHERE agent_id = 'agent:s_done';
	});
	return;
}

# The request and its children, in the order of their requests.
sub shared_states
{
	my ($node, $db) = @_;
	return $node->safe_psql($db, q{SELECT string_agg(concat_ws(' ', status, agent_id, waiting_for), ', ' ORDER BY request_seq)
		FROM clutch.tasks WHERE run_id = 'run:shared'});
}

sub answer_shared
{
	my ($node, $db) = @_;
	$node->safe_psql($db, q{SELECT clutch.answer(task_id, '{"text": "Yes."}') FROM clutch.tasks WHERE run_id = 'run:shared' AND status = 'input_required'});
	return;
}

# A psql that stays open: returns all that it prints for a statement.
sub session
{
	my ($node, $db) = @_;
	my $session = { in => '', out => '' };

	$session->{run} = IPC::Run::start(
		[ 'psql', '-X', '-A', '-t', '-q', '-d', $node->connstr($db) ],
		'<', \$session->{in}, '>', \$session->{out}, '2>&1', IPC::Run::timer(60));
	return $session;
}

sub ask_session
{
	my ($session, $sql) = @_;

	$session->{out} = '';
	$session->{in} .= "$sql\n\\echo answered\n";
	$session->{run}->pump until $session->{out} =~ /^answered$/m;
	return $session->{out} =~ s/^answered\n//mr;
}

sub end_session
{
	my ($session) = @_;

	$session->{in} .= "\\q\n";
	$session->{run}->finish;
	return;
}

1;
