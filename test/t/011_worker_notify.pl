# With the background worker listeners are woken after the transaction, for what
# can be read by then; no hint is lost.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use TeamTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('hints', conf => "shared_preload_libraries = 'clutch'\nautovacuum = off\nmax_prepared_transactions = 2\nwal_level = replica\nmax_wal_senders = 1\n");
my $worker = wait_for_worker($node, 'postgres', 'a worker');

$node->safe_psql('postgres', q{
	CREATE FUNCTION chat(whom text, run text DEFAULT 'run:1', id text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
		SELECT clutch.envelope('chat.message', 'agent:ui', ARRAY[whom], run_id => run, thread_id => 'thread:1', task_id => 'task:1', id => chat.id) $$;
});
my %name_of = reverse map { $_->[0] => $node->safe_psql('postgres', "SELECT clutch.channel($_->[1])") } (
	[ all => "'all'" ], [ ken => "'agent', 'agent:ken'" ], [ lois => "'agent', 'agent:lois'" ], [ end => "'agent', 'agent:end'" ]);

my $listener = session($node, 'postgres');
my $writer = session($node, 'postgres');
my $ender = session($node, 'postgres');
my $writer_pid = ask_session($writer, 'SELECT pg_backend_pid();') + 0;
ask_session($listener, "SELECT clutch.listen('all'), clutch.listen('agent', 'agent:ken'), clutch.listen('agent', 'agent:lois'), clutch.listen('agent', 'agent:end');");

# What the listener hears until it hears of a message to agent:end, sent last:
# hints are sent in the order in which transactions were over, at the latest
# together.  In words, sorted, and by whom (w: the worker, t: the transaction).
sub heard_until_end
{
	my $text = '';

	ask_session($ender, "SET clutch.notify = worker; SELECT clutch.send(chat('agent:end'));");
	await('the last hint', sub {
		$text .= ask_session($listener, 'SELECT;');
		return grep { ($name_of{$_} // '') eq 'end' } $text =~ /notification "([^"]+)"/g;
	});
	my %by;
	while ($text =~ /notification "([^"]+)".* PID (\d+)\./g)
	{
		my $name = $name_of{$1} // $1;
		$by{$name}{ $2 == $worker ? 'w' : 't' } = 1 if $name ne 'end';
	}
	return join ' ', map { "$_:" . join('', sort keys %{ $by{$_} }) } sort keys %by;
}

# Makes the commits of those with synchronous_commit = on wait for a standby that
# never comes.  Once new sessions know of it, the checkpointer has been told,
# which lets commits wait, and is through with that after a checkpoint.
sub let_commits_wait
{
	my (@settings) = @_;

	$node->safe_psql('postgres', "ALTER SYSTEM SET $_") foreach 'synchronous_commit = local', q{synchronous_standby_names = 'nobody'}, @settings;
	$node->reload;
	await('a new setting', sub { return $node->safe_psql('postgres', 'SHOW synchronous_standby_names') eq 'nobody'; });
	$node->safe_psql('postgres', 'CHECKPOINT');
	return;
}

sub heard
{
	my ($sql) = @_;
	my $wrote = ask_session($writer, $sql);

	unlike($wrote, qr/ERROR/, 'written') or diag $wrote;
	return heard_until_end();
}

is(heard(q{SELECT clutch.send(chat('agent:ken'));}), 'all:w ken:w', 'the worker tells of a message');
is(heard(q{BEGIN; SELECT clutch.send(chat('agent:ken')) FROM generate_series(1, 50); ROLLBACK;}), 'all:w', 'not of what was rolled back');
is(heard(q{BEGIN; SAVEPOINT s; SELECT clutch.send(chat('agent:ken')); ROLLBACK TO s; SELECT clutch.send(chat('agent:lois')); COMMIT;}),
	'all:w lois:w', 'nor with a savepoint');
is(heard(q{BEGIN; SELECT clutch.send(chat('agent:ken')); SAVEPOINT s; SELECT clutch.send(chat('agent:lois')); ROLLBACK TO s; COMMIT;}),
	'all:w ken:w', 'but of what was before it');
is(heard(q{BEGIN; SAVEPOINT s; SELECT clutch.send(chat('agent:ken')); RELEASE s; SAVEPOINT s; ROLLBACK TO s; COMMIT;}),
	'all:w ken:w', 'and of one that was released');
is(heard(q{BEGIN; SAVEPOINT s; SAVEPOINT t; SELECT clutch.send(chat('agent:ken')); RELEASE t; ROLLBACK TO s; COMMIT;}),
	'all:w', 'unless the one around it is rolled back');
is(heard(q{BEGIN; SELECT clutch.send(chat('agent:ken'));}), 'all:w', 'nothing before it is over');
is(heard(q{COMMIT;}), 'all:w ken:w', 'but then');
is(heard(q{SET clutch.notify = transaction; SELECT clutch.send(chat('agent:ken')); RESET clutch.notify;}), 'all:tw ken:t', 'a session may do it itself');
is(heard(q{SET clutch.notify = off; SELECT clutch.send(chat('agent:ken')); RESET clutch.notify;}), 'all:w', 'or not at all');

# more channels than there is room for
is(heard(q{SET clutch.notify_channels = 3000; BEGIN; SELECT clutch.send(chat('agent:ken'));
	SELECT count(*) FROM generate_series(1, 1500) n, clutch.send(chat('agent:a' || n)); COMMIT; RESET clutch.notify_channels;}),
	'all:tw ken:t', 'without room the transaction tells itself');
is(heard(q{SELECT clutch.send(chat('agent:ken'));}), 'all:w ken:w', 'and then the worker again');

# whoever locks a table that the worker needs, and the senders do not
$node->safe_psql('postgres', q{SELECT clutch.schedule('yearly', '0 0 1 1 *', clutch.envelope('chat.message', 'agent:ui'))});
my $locker = session($node, 'postgres');
my $log = -s $node->logfile;
ask_session($locker, 'BEGIN; LOCK TABLE clutch.schedule IN ACCESS EXCLUSIVE MODE;');
$node->safe_psql('postgres', q{SET clutch.clock = '2000-01-01T00:00:00Z';
	SELECT clutch.send(jsonb_set(ask('task:late', 'agent:nobody'), '{meta}', '{"clutch": {"deadline": "2000-01-01T00:01:00Z"}}'))});
$node->wait_for_log(qr/LOG:  waiting for a lock of another session: clutch\.tick\(\)\n.*HINT:.*pg_blocking_pids\($worker\)/, $log);
is(heard(q{SELECT clutch.send(chat('agent:ken'));}), 'all:w ken:w', 'a lock does not keep the worker from waking listeners');
ok($node->poll_query_until('postgres', "SELECT cardinality(pg_blocking_pids($worker)) > 0"), 'it tries again');
ok($node->poll_query_until('postgres', q{SELECT status = 'timed_out' FROM clutch.task WHERE task_id = 'task:late'}), 'and does what needs no such lock');
is(scalar(() = slurp_file($node->logfile, $log) =~ /waiting for a lock/g), 1, 'and says so once');
unlike(slurp_file($node->logfile, $log), qr/ERROR/, 'not as an error');
ask_session($locker, q{UPDATE clutch.schedule SET next_at = '2000-01-01'; COMMIT;});
ok($node->poll_query_until('postgres', q{SELECT runs > 0 FROM clutch.schedule WHERE name = 'yearly'}), 'until it gets the lock');
$node->safe_psql('postgres', 'ALTER SYSTEM SET clutch.seal_interval = 1');
$node->reload;
foreach my $round (1, 2)
{
	$log = -s $node->logfile;
	ask_session($locker, 'BEGIN; LOCK TABLE clutch.checkpoint IN ACCESS EXCLUSIVE MODE;');
	ok($node->wait_for_log(qr/LOG:  waiting for a lock of another session: clutch\.seal\(\)/, $log), "lock $round of another table is told as well");
	my $before = ask_session($locker, 'COMMIT; SELECT count(*) FROM clutch.checkpoint;') + 0;
	$node->safe_psql('postgres', q{SELECT clutch.send(chat('agent:ken'))});
	ok($node->poll_query_until('postgres', "SELECT count(*) > $before FROM clutch.checkpoint"), 'and does not last');
}
$node->safe_psql('postgres', 'ALTER SYSTEM RESET clutch.seal_interval');
$node->reload;
end_session($locker);
heard_until_end();

# sixty tasks are due, each of which would wait for the same lock
$node->safe_psql('postgres', q{SELECT clutch.register(card('slow', 60)); SELECT clutch.send(ask('task:slow' || n, 'agent:slow')) FROM generate_series(1, 60) n;
	SELECT count(*) FROM clutch.claim('agent:slow', 60, '1 h')});
$locker = session($node, 'postgres');
$log = -s $node->logfile;
ask_session($locker, 'BEGIN; LOCK TABLE clutch.ready IN ACCESS EXCLUSIVE MODE;');
$node->safe_psql('postgres', q{BEGIN; UPDATE clutch.task SET lease_until = '2000-01-01', next_at = '2000-01-01' WHERE agent_id = 'agent:slow';
	UPDATE clutch.timer SET due = '2000-01-01' WHERE task_id LIKE 'task:slow%';
	SET LOCAL clutch.clock = '2000-01-01T00:00:00Z'; SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', ARRAY['agent:ken'], deadline => interval '1 s')); COMMIT});
$node->wait_for_log(qr/LOG:  waiting for a lock of another session: clutch\.tick\(\)/, $log);
ok($node->poll_query_until('postgres', "SELECT cardinality(pg_blocking_pids($worker)) > 0"), 'each task that is due waits for the same lock');
ask_session($writer, q{SELECT clutch.send(chat('agent:ken'));});
my $hint = '';
await('a hint', sub { $hint .= ask_session($listener, 'SELECT;'); return ($hint =~ /notification "([^"]+)"/g) > 0; }, 30);
like($hint, qr/PID $worker\b/, 'but only the first of them for long, so the worker wakes listeners');
ask_session($locker, 'ROLLBACK;');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM clutch.task WHERE status = 'running'}), 'and then they are moved');
end_session($locker);
heard_until_end();

# The waits of such a tick are short after the first one, but its commit may wait for another
# that notifies, here for one that waits for a standby: also if the tick has lacked the lock only
# for what it has caused for another task, which is handled at the commit.
my $notifier = session($node, 'postgres');
$locker = session($node, 'postgres');
ask_session($notifier, 'SET synchronous_commit = on;');
let_commits_wait('clutch.notify = transaction');
$node->safe_psql('postgres', q{SELECT clutch.register(card('hurt', 9)); SELECT clutch.send(ask('task:' || name, 'agent:hurt')) FROM unnest('{hurt,above}'::text[]) name;
	SELECT count(*) FROM clutch.claim('agent:hurt', 2, '1 h'); SELECT clutch.send(ask('task:below', 'agent:nobody', 'task:above'));
	SELECT clutch.suspend('agent:hurt', 'task:above', '{"children": "all"}')});
ask_session($locker, 'BEGIN; LOCK TABLE clutch.ready IN ACCESS EXCLUSIVE MODE;');
$notifier->{in} .= "BEGIN; SELECT pg_logical_emit_message(true, 'a', 'b'); NOTIFY other; COMMIT;\n\\echo answered\n";
$notifier->{out} = '';
await('a commit that waits', sub { $notifier->{run}->pump_nb; return $node->safe_psql('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'}) eq 't'; });
foreach my $due ([ deadline => 'below' ], [ lease_until => 'hurt' ])
{
	my ($time, $task) = @$due;

	$node->safe_psql('postgres', qq{BEGIN; SET LOCAL clutch.notify = off; UPDATE clutch.task SET $time = '2000-01-02', next_at = '2000-01-02' WHERE task_id = 'task:$task';
		UPDATE clutch.timer SET due = '2000-01-02' WHERE task_id = 'task:$task';
		SET LOCAL clutch.clock = '2000-01-01T00:00:00Z'; SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', ARRAY['agent:ken'], deadline => interval '1 s')); COMMIT});
	ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE pid = $worker AND locktype = 'object' AND clock_timestamp() - waitstart > '200ms'"),
		"the commit of a tick that lacks a lock waits for others: $task");
}
$node->safe_psql('postgres', "ALTER SYSTEM RESET $_") foreach qw(synchronous_commit synchronous_standby_names clutch.notify);
$node->reload;
$notifier->{run}->pump until $notifier->{out} =~ /^answered$/m;
ask_session($locker, 'ROLLBACK;');
end_session($_) foreach $locker, $notifier;
ok($node->poll_query_until('postgres', q{SELECT count(*) = 3 FROM clutch.task WHERE (task_id, status) IN (('task:hurt', 'assigned'), ('task:above', 'assigned'), ('task:below', 'timed_out'))}), 'then all is done');
heard_until_end();

# two-phase commit: the worker does not know which listeners to wake
is(heard(q{BEGIN; SELECT clutch.send(chat('agent:ken')); PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p';}), 'all:w', 'a prepared transaction is possible');
# the hash of this ID makes the channel of the thread have the number of ken's
my $thread = 'thread:00000XuD76mzBhMV';
is($node->safe_psql('postgres', "SELECT clutch.channel('thread', '$thread')") =~ s/thread/agent/r, { reverse %name_of }->{ken}, 'channels of two kinds with the same number');
is(heard(qq{BEGIN; SELECT clutch.send(chat('agent:ken') || '{"thread_id": "$thread"}'); PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p';}), 'all:w',
	'also with a message that somebody has sent so that they meet');
is(heard(qq{SELECT clutch.send(chat('agent:ken') || '{"thread_id": "$thread"}');}), 'all:w ken:w', 'of which the worker tells as well');

# What a prepared transaction leaves to the worker is done when it is committed, though it was due before,
# when the worker looked in vain.
$node->safe_psql('postgres', q{BEGIN; SET LOCAL clutch.clock = '2000-01-01T00:00:00Z';
	SELECT clutch.schedule('prepared', '0 0 1 1 *', clutch.envelope('chat.message', 'agent:ui'));
	PREPARE TRANSACTION 'schedule'});
$node->safe_psql('postgres', q{SET clutch.clock = '2000-01-01T00:00:00Z';
	SELECT clutch.send(jsonb_set(ask('task:beside', 'agent:nobody'), '{meta}', '{"clutch": {"deadline": "2000-01-01T00:01:00Z"}}'))});
ok($node->poll_query_until('postgres', q{SELECT status = 'timed_out' FROM clutch.task WHERE task_id = 'task:beside'}), 'the worker has looked at what is due');
$node->safe_psql('postgres', q{COMMIT PREPARED 'schedule'});
ok($node->poll_query_until('postgres', q{SELECT runs > 0 FROM clutch.schedule WHERE name = 'prepared'}), 'a schedule that was prepared is sent when it is committed');
$node->safe_psql('postgres', q{SELECT clutch.unschedule('prepared')});

# no worker: it was sent away as if the database were being copied, and is not back yet
is(ask_session($writer, q{ALTER DATABASE postgres IS_TEMPLATE true;}), '', 'a template has no worker');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'clutch worker'"), 'it leaves');
ask_session($writer, q{SELECT clutch.send(chat('agent:ken'));});
my $text = ask_session($listener, 'SELECT;');
like($text, qr/PID $writer_pid\b/, 'without a worker the transaction tells itself');
is(ask_session($writer, q{ALTER DATABASE postgres IS_TEMPLATE false;}), '', 'no template any more');
$worker = wait_for_worker($node, 'postgres', 'it comes back');
is(heard(q{SELECT clutch.send(chat('agent:ken'));}), 'all:w ken:w', 'and tells again');

# A hint for which the worker is woken while it waits for a lock; nothing else is due for an hour,
# and the search for deadlocks, which wakes it as well, is over.
$node->safe_psql('postgres', q{ALTER SYSTEM SET clutch.seal_interval = '1h'});
$node->safe_psql('postgres', q{ALTER SYSTEM SET deadlock_timeout = '1ms'});
ask_session($ender, q{BEGIN; LOCK TABLE clutch.tree_hash IN ACCESS EXCLUSIVE MODE;});
$node->reload;
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'clutch worker' AND wait_event_type = 'Lock'"), 'the worker waits for a lock');
ask_session($writer, q{SELECT clutch.send(chat('agent:ken'));});
ask_session($ender, 'ROLLBACK;');
my $tells = '';
await('the hint', sub { $tells .= ask_session($listener, 'SELECT;'); return $tells =~ /notification/; });
like($tells, qr/PID $worker\b/, 'afterwards, the worker tells what has happened meanwhile');
$node->safe_psql('postgres', 'ALTER SYSTEM RESET clutch.seal_interval');
$node->safe_psql('postgres', 'ALTER SYSTEM RESET deadlock_timeout');
$node->reload;

# A reader that looks only when it is woken sees everything that any session writes.
my $dir = PostgreSQL::Test::Utils::tempdir;
append_to_file("$dir/write.sql", "SELECT clutch.send(chat('agent:lois', 'run:many'));\n");
ask_session($listener, q{UNLISTEN *; SELECT clutch.listen('run', 'run:many');});
my $out = '';
my $bench = IPC::Run::start([ 'pgbench', '-n', '-c', 8, '-j', 2, '-t', 500, '-f', "$dir/write.sql", $node->connstr('postgres') ], '>', \$out, '2>&1', IPC::Run::timer(120));
my ($seen, $looks, $woken) = (0, 0, 0);
my $deadline;
while ($seen < 4000)
{
	$woken ||= ask_session($listener, 'SELECT;') =~ /notification/;
	if (!$woken)
	{
		# when all is written, the last hint needs a moment; then there is nothing to pump, which would be an error
		eval { $bench->pump_nb };
		$deadline //= time + 60 unless $bench->pumpable;
		last if $deadline && time > $deadline;
		next;
	}
	$looks++;
	my $answer = ask_session($listener, q{SELECT count(*) FROM clutch.events WHERE run_id = 'run:many';});
	$seen = $answer =~ s/[^0-9].*//sr;
	# a hint that came while it looked, about events that it may not have seen
	$woken = $answer =~ /notification/;
}
$bench->finish;
is($seen, 4000, 'who looks when it is woken has seen everything');
cmp_ok($looks, '<', 4000, "in $looks looks");

# Channels that nobody listens to cost nothing: the worker sends only the thirty hints that are heard,
# and each of these takes a transaction id.
end_session($listener);
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE '%run:many%' AND pid <> pg_backend_pid()}), 'the listener is gone');
$node->safe_psql('postgres', "ALTER SYSTEM SET clutch.seal_interval = 0");
$node->reload;
$listener = session($node, 'postgres');
ask_session($listener, q{SELECT clutch.listen('agent', 'agent:end');});
heard_until_end();
my $ids = q{SELECT pg_snapshot_xmax(pg_current_snapshot());};
my $before = ask_session($writer, $ids) + 0;
foreach (1 .. 30)
{
	ask_session($writer, q{SELECT clutch.send(chat('agent:ken'));});
	is(heard_until_end(), '', 'a message of which nobody hears');
}
is(ask_session($writer, $ids) - $before, 90, 'the worker sends nothing that nobody hears');

# Each form of LISTEN counts, and so does the channel of calls.
foreach my $form (q{LISTEN clutch;}, q{LISTEN "clutch_outbox";}, q{DO $$ BEGIN EXECUTE format('LISTEN %I', clutch.channel('thread', 'thread:1')); END $$;}, q{SELECT clutch.listen('task', 'task:1');})
{
	my $other = session($node, 'postgres');

	ask_session($other, $form);
	$node->safe_psql('postgres', q{SELECT clutch.send(chat('agent:ken')); INSERT INTO clutch.endpoint (name, url, filter) VALUES ('hook-' || gen_random_uuid(), 'https://example.org/hook', '{"type": ["task.request"]}')});
	my $told = '';
	await('a hint', sub { $told .= ask_session($other, 'SELECT;'); return $told =~ /notification/; });
	like($told, qr/PID $worker\b/, "heard after $form");
	end_session($other);
}

# A session begins to listen while a commit waits: it does not see the message yet, and hears of it.
ask_session($writer, 'SET synchronous_commit = on;');
let_commits_wait();
$writer->{in} .= "SELECT clutch.send(chat('agent:last'));\n\\echo answered\n";
$writer->{out} = '';
await('a commit that waits', sub { $writer->{run}->pump_nb; return $node->safe_psql('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'}) eq 't'; });
ask_session($listener, q{SELECT clutch.listen('agent', 'agent:last');});
is(ask_session($listener, q{SELECT count(*) FROM clutch.events WHERE to_agents = '{agent:last}';}) + 0, 0, 'the message is not visible yet');
$node->safe_psql('postgres', "ALTER SYSTEM RESET $_") foreach qw(synchronous_commit synchronous_standby_names);
$node->reload;
$writer->{run}->pump until $writer->{out} =~ /^answered$/m;
my $late = '';
await('the hint', sub { $late .= ask_session($listener, 'SELECT;'); return $late =~ /notification/; });
like($late, qr/PID $worker\b/, 'a listener that comes before the commit is visible hears of it');

end_session($_) foreach $listener, $writer, $ender;
$node->stop;
done_testing();
