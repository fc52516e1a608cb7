# Gateways and servers that die between clutch.outbox_claim and clutch.outbox_done: the call
# is claimed again when its lease is over, its end is reported once, and what a gateway
# reports too late changes nothing.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use TeamTest;
use Test::More;

my $node = new_node('gateway', conf => "restart_after_crash = on\nfull_page_writes = on\n");
$node->safe_psql('postgres', q{
	SELECT clutch.register(card('far', 9));
	INSERT INTO clutch.endpoint (name, url, serves, agents, patience_s) VALUES ('far', 'https://far.example', 'agent:far', '{*}', 3600);
	-- the call of a task, reported by a gateway that says its own name
	CREATE FUNCTION done(task text, attempt integer, gateway text) RETURNS text LANGUAGE sql AS $$
		SELECT clutch.outbox_done(o.id, done.attempt, 200, response => CASE WHEN o.kind = 'task' THEN jsonb_build_object('by', gateway) END)
		FROM clutch.outbox o WHERE o.task_id = task $$;
});
my $claim = q{SELECT o.task_id, c.attempt FROM clutch.outbox_claim(9, '10 min') c JOIN clutch.outbox o USING (id) ORDER BY o.task_id};

# What a gateway is handed, so many seconds from now.
sub claimed
{
	my ($seconds) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT set_config('clutch.clock', to_char((now() + '$seconds s') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), false) \\g /dev/null
		$claim});
}

sub done
{
	my ($task, $attempt, $gateway) = @_;
	return $node->safe_psql('postgres', "SELECT done('$task', $attempt, '$gateway')");
}

# A gateway that has claimed the call of a new task.
sub gateway_with
{
	my ($task) = @_;
	my $gateway = session($node, 'postgres');

	$node->safe_psql('postgres', "SELECT clutch.send(ask('$task'))");
	is(ask_session($gateway, "$claim;"), "$task|1\n", "$task: a gateway has claimed its call");
	return $gateway;
}

# kill -9, and nothing of the client is left in the server.
sub kill_gateway
{
	my ($gateway) = @_;
	my $pid = ask_session($gateway, 'SELECT pg_backend_pid();') + 0;

	$gateway->{run}->signal('KILL');
	$gateway->{run}->finish;
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid")
	  or die 'the backend of the gateway does not end';
	return;
}

# "status, whose results, how many of them": what the requester is told
sub told
{
	my ($task) = @_;
	return $node->safe_psql('postgres', "SELECT concat_ws(' ', t.status, string_agg(e.envelope #>> '{payload,by}', ','))
		FROM clutch.tasks t LEFT JOIN clutch.events e ON e.task_id = t.task_id AND e.type = 'task.result' WHERE t.task_id = '$task' GROUP BY t.status");
}

# ------------------------------------------------------------ the gateway dies
kill_gateway(gateway_with('task:1'));
is(claimed(300), '', 'its calls are its own until the lease is over');
is(claimed(700), 'task:1|2', 'then another gateway has them');
is(done('task:1', 1, 'first'), 'lost', 'a late report is refused');
is(told('task:1'), 'running', 'and changes nothing');
is(done('task:1', 2, 'second'), 'sent', 'that of the other gateway counts');
is(done('task:1', 1, 'first') . ' ' . done('task:1', 2, 'second'), 'lost lost', 'once');
is(told('task:1'), 'completed second', 'so there is one result');

# with a report that it has not committed
my $gateway = gateway_with('task:2');
is(ask_session($gateway, "BEGIN; SELECT done('task:2', 1, 'first');"), "sent\n", 'a report');
kill_gateway($gateway);
is(told('task:2'), 'running', 'that is not committed is none');
is(claimed(700), 'task:2|2', 'and the call comes again');
is(done('task:2', 2, 'second'), 'sent', 'to be reported');
is(told('task:2'), 'completed second', 'once');

# one that is only slow
$gateway = gateway_with('task:3');
is(ask_session($gateway, "SET clutch.clock = '" . $node->safe_psql('postgres', q{SELECT to_char((now() + '700 s') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')})
	. "'; SELECT done('task:3', 1, 'first');"), "sent\n", 'a late report counts if nobody else has the call');
end_session($gateway);
is(claimed(1400), '', 'which then is over');
is(told('task:3'), 'completed first', 'once');

# ------------------------------------------------------------- the server dies
$node->safe_psql('postgres', q{SELECT clutch.post('far', clutch.envelope('chat.message', 'agent:ui', task_id => 'task:posted'))});
is($node->safe_psql('postgres', $claim), 'task:posted|1', 'a message is claimed');
$gateway = gateway_with('task:4');
$node->kill9;
$gateway->{run}->finish;
start_again($node);
is(claimed(300), '', 'after a crash, calls that were claimed still are');
is(claimed(700), "task:4|2\ntask:posted|2", 'until the lease is over');
is(done('task:4', 1, 'first') . ' ' . done('task:posted', 1, 'first'), 'lost lost', 'a report of before is refused');
is(done('task:4', 2, 'second') . ' ' . done('task:posted', 2, 'second'), 'sent sent', 'one of now counts');
is(told('task:4'), 'completed second', 'once');

$gateway = gateway_with('task:5');
is(ask_session($gateway, "BEGIN; SELECT done('task:5', 1, 'first');"), "sent\n", 'a report');
$node->kill9;
$gateway->{run}->finish;
start_again($node);
is(told('task:5'), 'running', 'that the server has not committed is none');
is(done('task:5', 1, 'again'), 'sent', 'and the gateway reports again, for it has the call still');
is(claimed(1400), '', 'so nobody else is handed it');
is(told('task:5'), 'completed again', 'and there is one result');

is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT state, ',') FROM clutch.outbox}), 'sent', 'no call is left');
is_sound($node, 'postgres', 'in the end');
same_after_rebuild($node, 'postgres', 'in the end');
done_testing();
