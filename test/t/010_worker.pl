# The background worker does what is due without being asked, costs an idle
# database nothing, and survives errors, restarts and promotion.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('worker', allows_streaming => 1, conf => "shared_preload_libraries = 'clutch'\nautovacuum = off\nrestart_after_crash = on\nclutch.tick_interval = 1s\n");

# past: in a session whose clock stands in 2000, so what it writes is due at once
my $past = q{SET clutch.clock = '2000-01-01T00:00:00Z';};

# a request that no agent can do, whose deadline passed long ago
sub ask_in_vain
{
	my ($on, $db, $task) = @_;
	$on->safe_psql($db, qq{$past SELECT clutch.send(jsonb_set(ask('$task', 'agent:nobody'), '{meta}',
		'{"clutch": {"deadline": "2000-01-01T00:01:00Z"}}'));});
}

sub timed_out
{
	my ($on, $db, $task, $name) = @_;
	ok($on->poll_query_until($db, "SELECT status = 'timed_out' FROM clutch.task WHERE task_id = '$task'"), $name);
}

is($node->safe_psql('postgres', 'SHOW clutch.notify'), 'worker', 'preloaded: the worker wakes listeners');
my $first = wait_for_worker($node, 'postgres', 'a worker comes where the extension is made');

# ---------------------------------------------------------------- what is due
ask_in_vain($node, 'postgres', 'task:late');
timed_out($node, 'postgres', 'task:late', 'a deadline is kept though nobody ticks');
is($node->safe_psql('postgres', q{SELECT count(*) FROM clutch.events WHERE task_id = 'task:late' AND type = 'task.timeout'}), '1',
	'and said once');

$node->safe_psql('postgres', q{
	SELECT clutch.register(card('ken'));
	SELECT clutch.send(ask('task:lease', 'agent:ken'));
	SELECT count(*) FROM clutch.claim('agent:ken', 1, '10 milliseconds');
});
ok($node->poll_query_until('postgres', q{SELECT attempt > 1 FROM clutch.task WHERE task_id = 'task:lease'}), 'a lease that was set later wakes it in time');

# What users' deferred triggers do, they do as the owner of the extension, and not as the superuser that the worker is.
$node->safe_psql('postgres', q{
	CREATE ROLE clutch_test_owner SUPERUSER;
	CREATE DATABASE owned;
});
$node->safe_psql('owned', q{SET ROLE clutch_test_owner; CREATE EXTENSION clutch; RESET ROLE; ALTER ROLE clutch_test_owner NOSUPERUSER;});
make_helpers($node, 'owned');
$node->safe_psql('owned', q{
	ALTER DATABASE owned SET search_path = public;
	CREATE TABLE seen (what text, role text);
	GRANT INSERT ON seen TO clutch_test_owner;
	CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO public.seen VALUES (TG_NAME, concat_ws(', ', current_user, current_setting('search_path')));
		RETURN NULL;
	END $$;
	CREATE FUNCTION see_at_commit() RETURNS integer LANGUAGE sql AS $$ INSERT INTO public.seen VALUES ('cursor', current_user) RETURNING 1 $$;
	CREATE FUNCTION leave_cursor() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		EXECUTE 'DECLARE left_open CURSOR WITH HOLD FOR SELECT public.see_at_commit()';
		RETURN NULL;
	END $$;
	CREATE TRIGGER cursor AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.type = 'task.timeout') EXECUTE FUNCTION leave_cursor();
	CREATE TRIGGER at_once AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.type = 'task.timeout') EXECUTE FUNCTION see();
	CREATE CONSTRAINT TRIGGER deferred AFTER INSERT ON clutch.events DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW WHEN (NEW.type = 'task.timeout') EXECUTE FUNCTION see();
});
ask_in_vain($node, 'owned', 'task:late');
timed_out($node, 'owned', 'task:late', 'a deadline in a database of another owner is kept');
is($node->safe_psql('owned', 'SELECT what, role FROM seen ORDER BY what'),
	"at_once|clutch_test_owner, pg_catalog, pg_temp\ncursor|clutch_test_owner\ndeferred|clutch_test_owner, pg_catalog, pg_temp",
	'as the owner, also what the commit does, whatever search_path the database has');

# an owner without privileges
my $log = -s $node->logfile;
$node->safe_psql('owned', 'REVOKE ALL ON clutch.event_count_place FROM clutch_test_owner');
$node->wait_for_log(qr/WARNING:  events cannot be counted for the metrics: permission denied for table event_count_place\n.*HINT:  The rest of the tick goes on\. SELECT \* FROM clutch\.check\(\)[^\n]*\n.*CONTEXT:  clutch worker of database owned\n/, $log);
is($node->safe_psql('owned', q{SELECT hint FROM clutch.check() WHERE code = 'OWNER_LACKS_PRIVILEGE'}), 'GRANT ALL ON TABLE clutch.event_count_place TO clutch_test_owner;', 'check() says what to do');
$node->safe_psql('postgres', 'DROP DATABASE owned WITH (FORCE)');
$node->safe_psql('postgres', 'DROP ROLE clutch_test_owner');

# A limit for the transactions of clients (PostgreSQL 17 and later) is not one for the worker.
if ($node->safe_psql('postgres', 'SHOW server_version_num') >= 170000)
{
	$node->safe_psql('postgres', 'CREATE DATABASE hurried');
	$node->safe_psql('hurried', q{CREATE EXTENSION clutch;
		CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1.5); RETURN NULL; END $$;
		CREATE TRIGGER linger AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.type = 'task.timeout') EXECUTE FUNCTION linger();
		ALTER DATABASE hurried SET transaction_timeout = '1s'});
	make_helpers($node, 'hurried');
	$node->safe_psql('postgres', 'SELECT pg_terminate_backend((' . worker_of('hurried') . '), 180000)');
	wait_for_worker($node, 'hurried', 'a worker that begins with a short transaction_timeout');
	ask_in_vain($node, 'hurried', 'task:late');
	timed_out($node, 'hurried', 'task:late', 'takes the time that it needs');
	$node->safe_psql('postgres', 'DROP DATABASE hurried WITH (FORCE)');
}

# two tickers, and four more
$node->safe_psql('postgres', qq{$past SELECT count(*) FROM generate_series(1, 500) n, clutch.send(jsonb_set(ask('task:many' || n, 'agent:nobody'),
	'{meta}', '{"clutch": {"deadline": "2000-01-01T00:01:00Z"}}'));});
my $dir = PostgreSQL::Test::Utils::tempdir;
append_to_file("$dir/tick.sql", "SELECT clutch.tick();\n");
$node->command_checks_all([ 'pgbench', '-n', '-c', 4, '-j', 2, '-t', 20, '-f', "$dir/tick.sql", 'postgres' ],
	0, [ qr{processed: 80/80}, qr{failed transactions: 0 } ], [qr{^(?!.*(?:error|abort))}s], 'others tick at the same time: no error');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 500 FROM clutch.task WHERE task_id ~ 'many' AND status = 'timed_out'}), 'all is done');
is($node->safe_psql('postgres', q{SELECT count(*), count(DISTINCT task_id) FROM clutch.events WHERE task_id ~ 'many' AND type = 'task.timeout'}),
	'500|500', 'and each once');

# more schedules at once than it sends in one transaction; a pause after each hundred would be an hour
$node->safe_psql('postgres', "ALTER SYSTEM SET clutch.tick_interval = '1h'");
$node->reload;
$node->safe_psql('postgres', q{SELECT count(clutch.schedule('at once ' || n, '0 0 1 1 *', clutch.envelope('chat.message', 'agent:ui', '{agent:ken}',
	run_id => 'run:many', thread_id => 'thread:many', task_id => 'task:at_once'))) FROM generate_series(1, 450) n;
	UPDATE clutch.schedule SET next_at = now();
	SELECT clutch.schedule('wakes it', '* * * * *', clutch.envelope('chat.message', 'agent:ui', '{agent:ken}'));});
ask_in_vain($node, 'postgres', 'task:wakes_it');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 450 FROM clutch.events WHERE task_id = 'task:at_once'}), 'all of many schedules are sent, without a pause');
$node->safe_psql('postgres', q{SELECT count(clutch.unschedule(name)) FROM clutch.schedule});
$node->safe_psql('postgres', 'ALTER SYSTEM RESET clutch.tick_interval');
$node->reload;

# messages alone cause no ticks, and are counted all the same
$node->safe_psql('postgres', 'CREATE DATABASE talk');
$node->safe_psql('postgres', 'ALTER DATABASE talk SET clutch.seal_interval = 1');
$node->safe_psql('talk', q{CREATE EXTENSION clutch;
	SELECT count(clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}'))) FROM generate_series(1, 5)});
ok($node->poll_query_until('talk', q{SELECT coalesce(sum(n), 0) = 5 FROM clutch.event_count WHERE type = 'chat.message'}), 'messages are counted for the metrics');
$node->safe_psql('postgres', 'DROP DATABASE talk WITH (FORCE)');

# ------------------------------------------------------------------- nothing
# one database has something to watch, and shows that time passes; one has not
foreach my $db (qw(idle busy))
{
	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, 'CREATE EXTENSION clutch');
	make_helpers($node, $db);
	wait_for_worker($node, $db, "a worker in $db");
}
$node->safe_psql('busy', q{SELECT clutch.send(ask('task:waits'))});
my $commits = sub { "SELECT xact_commit FROM pg_stat_database WHERE datname = '$_[0]'" };
ok($node->poll_query_until('postgres', q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = 'idle' AND backend_type = 'client backend')}),
	'nobody is in the idle database');
my ($idle, $busy) = map { $node->safe_psql('postgres', $commits->($_)) } qw(idle busy);
ok($node->poll_query_until('postgres', "SELECT xact_commit > $busy + 3 FROM pg_stat_database WHERE datname = 'busy'"), 'where something waits it looks again and again');
is($node->safe_psql('postgres', $commits->('idle')), $idle, 'where nothing is open it does nothing at all');
# but for a moment, in a tick or when the launcher looks for databases
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'clutch %' AND (xact_start IS NOT NULL OR backend_xmin IS NOT NULL)
	AND datname IS DISTINCT FROM 'busy'}), 'no transaction and no snapshot is held');

# -------------------------------------------------------------------- errors
is($node->safe_psql('postgres', worker_of('postgres')), $first, 'it is the same process all the time');
$log = -s $node->logfile;
$node->safe_psql('postgres', 'ALTER TABLE clutch.timer RENAME TO hidden');
$node->reload;
$node->wait_for_log(qr/ERROR:  relation "clutch.timer" does not exist\n.*HINT:.*\n.*CONTEXT:  clutch worker of database postgres\n/, $log);
ok(1, 'what goes wrong is in the log');
# whatever may have repaired it ends the pause; otherwise, the pauses would take half an hour, which is more than a test may
foreach my $repair ([ 'a reload', sub { $node->reload } ],
	[ 'ALTER EXTENSION', sub { $node->safe_psql('postgres', 'ALTER EXTENSION clutch DROP VIEW clutch.costs; ALTER EXTENSION clutch ADD VIEW clutch.costs') } ])
{
	foreach my $round (1 .. 30)
	{
		$log = -s $node->logfile;
		$repair->[1]->();
		$node->wait_for_log(qr/ERROR:  relation "clutch.timer" does not exist/, $log);
	}
	ok(1, "$repair->[0]: the worker looks at once");
}
$node->safe_psql('postgres', 'ALTER TABLE clutch.hidden RENAME TO timer');
ask_in_vain($node, 'postgres', 'task:after_error');
timed_out($node, 'postgres', 'task:after_error', 'and is tried again');
is($node->safe_psql('postgres', worker_of('postgres')), $first, 'by the same process');

# a full disk, which lasts, while the worker ticks every second
$node->safe_psql('postgres', q{
	CREATE SEQUENCE refused;
	CREATE FUNCTION is_full() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM nextval('public.refused');
		RAISE disk_full USING MESSAGE = 'no space left in this test';
	END $$;
	CREATE TRIGGER is_full AFTER INSERT ON clutch.events FOR EACH ROW WHEN (new.type = 'task.timeout') EXECUTE FUNCTION is_full();});
$log = -s $node->logfile;
ask_in_vain($node, 'postgres', 'task:no_room');
ok($node->poll_query_until('postgres', 'SELECT last_value >= 8 FROM refused'), 'what is due is tried again and again while the disk is full');
my @told = slurp_file($node->logfile, $log) =~ /WARNING:.*no space left in this test/g;
is(scalar(@told), 1, 'but it is not reported every second');
$node->safe_psql('postgres', 'DROP TRIGGER is_full ON clutch.events');
timed_out($node, 'postgres', 'task:no_room', 'and done as soon as there is room');

# ------------------------------------------------------------------ its death
is($node->safe_psql('postgres', "SELECT pg_terminate_backend($first, 180000)"), 't', 'it ends when it is told to');
ask_in_vain($node, 'postgres', 'task:after_end');
isnt(wait_for_worker($node, 'postgres', 'another comes'), $first, 'which is another process');
timed_out($node, 'postgres', 'task:after_end', 'and does what became due meanwhile');

my $launcher = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'clutch launcher'});
$node->safe_psql('postgres', "SELECT pg_terminate_backend($launcher)");
ok($node->poll_query_until('postgres', qq{SELECT count(*) = 1 AND min(pid) <> $launcher FROM pg_stat_activity WHERE backend_type = 'clutch launcher'}),
	'the launcher comes back, too');
is($node->safe_psql('postgres', q{SELECT count(*), count(DISTINCT datname) FROM pg_stat_activity WHERE backend_type = 'clutch worker'}), '3|3',
	'one worker to a database');

my $worker = $node->safe_psql('postgres', worker_of('postgres'));
is(kill('KILL', $worker), 1, 'it is killed');
ok(answers($node, 'postgres', "SELECT count(*) = 3 AND count(*) FILTER (WHERE pid = $worker) = 0 FROM pg_stat_activity WHERE backend_type = 'clutch worker'"),
	'after the crash all are there again');
ask_in_vain($node, 'postgres', 'task:after_crash');
timed_out($node, 'postgres', 'task:after_crash', 'and work');

# ------------------------------------------------------------------ a standby
$node->safe_psql('postgres', q{SELECT clutch.schedule('kept', '0 0 1 1 *', clutch.envelope('chat.message', 'agent:ui'))});
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'clutch %'}), '0', 'there is none on a standby');
like(($standby->psql('postgres', "\\set VERBOSITY sqlstate\nSELECT $_"))[2], qr/ERROR:  25006/, "where nobody can do this: $_")
	foreach "clutch.tick()", "clutch.unschedule('kept')", "clutch.schedule('kept', '* * * * *', clutch.envelope('chat.message', 'agent:ui'))";
$node->stop('immediate');
$standby->promote;
wait_for_worker($standby, 'postgres', 'one is started by the promotion');
ask_in_vain($standby, 'postgres', 'task:promoted');
timed_out($standby, 'postgres', 'task:promoted', 'and works');

same_after_rebuild($standby, 'postgres', 'after all');
is_sound($standby, 'postgres', 'after all');
# in the middle of its work it would say that it is terminated, as any process
wait_for_worker($standby, 'postgres', 'it rests');
ok($standby->stop('fast', fail_ok => 1), 'it ends when the server does');
unlike(slurp_file($standby->logfile), qr/FATAL:.*clutch worker/, 'without a word');
done_testing();
