# Where there are workers: in each database that has the extension, from when it
# is made until it is dropped; and they never hinder anybody who drops, copies or
# renames a database.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use TeamTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('databases', bare => 1,
	conf => "shared_preload_libraries = 'clutch'\nautovacuum = off\nmax_worker_processes = 6\nmax_prepared_transactions = 1\n");

# the names of the databases that have a worker, once they are these
sub workers_in
{
	my ($expected, $name) = @_;
	my $there = q{SELECT coalesce(string_agg(datname, ' ' ORDER BY datname), '') FROM pg_stat_activity WHERE backend_type = 'clutch worker'};

	ok($node->poll_query_until('postgres', $there, $expected), "$name: workers in '$expected'");
	return;
}

# at the server's start a worker looks into each database, and leaves
workers_in('', 'no extension');
$node->safe_psql('postgres', 'CREATE DATABASE one');
$node->safe_psql('one', 'CREATE EXTENSION clutch');
workers_in('one', 'made');
$node->safe_psql('one', 'BEGIN; DROP EXTENSION clutch; ROLLBACK');
$node->safe_psql('postgres', 'BEGIN; CREATE EXTENSION clutch; ROLLBACK');
wait_for_worker($node, 'one', 'still there after a DROP EXTENSION that was rolled back');
workers_in('one', 'nothing came of either');

# a launcher that looks when the transaction is prepared sees no extension yet
$node->safe_psql('postgres', 'CREATE DATABASE prepared');
$node->safe_psql('prepared', q{BEGIN; CREATE EXTENSION clutch; PREPARE TRANSACTION 'made'});
$node->safe_psql('postgres', 'CREATE DATABASE beside');
$node->safe_psql('beside', 'CREATE EXTENSION clutch');
workers_in('beside one', 'prepared, not committed');
$node->safe_psql('prepared', q{COMMIT PREPARED 'made'});
workers_in('beside one prepared', 'made by a prepared transaction');
$node->safe_psql('postgres', "DROP DATABASE $_ WITH (FORCE)") foreach qw(prepared beside);
workers_in('one', 'without them');

# or committed when the worker has looked, and the launcher does not know yet that it has left
my $late = "late_$$";
sub is_there
{
	my $found = 0;

	foreach (glob '/proc/[0-9]*/cmdline')
	{
		open(my $file, '<', $_) or next;
		$found ||= (readline($file) // '') =~ /clutch worker of database \Q$late\E/;
	}
	return $found;
}
my $launcher = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'clutch launcher'});
$node->safe_psql('postgres', $_) foreach "CREATE DATABASE $late", 'ALTER SYSTEM SET post_auth_delay = 3';
$node->safe_psql($late, 'CREATE EXTENSION clutch');
workers_in("$late one", 'made as usual');
my $maker = session($node, $late);
ask_session($maker, 'DROP EXTENSION clutch;');
workers_in('one', 'dropped');
$node->reload;
ask_session($maker, q{BEGIN; CREATE EXTENSION clutch; PREPARE TRANSACTION 'made';});
await('a worker that begins slowly', \&is_there);
kill STOP => $launcher;
await('its end', sub { return !is_there(); });
ask_session($maker, q{COMMIT PREPARED 'made';});
kill CONT => $launcher;
end_session($maker);
$node->safe_psql('postgres', 'ALTER SYSTEM RESET post_auth_delay');
$node->reload;
workers_in("$late one", 'committed when the worker had looked');
$node->safe_psql('postgres', "DROP DATABASE $late WITH (FORCE)");
workers_in('one', 'without it');

# the worker does not keep the extension from being dropped, and dropping does not block the worker
make_helpers($node, 'one');
foreach my $round (1 .. 3)
{
	my (undef, $out, $error) = $node->psql('one', 'DROP EXTENSION clutch');
	is($error, '', "round $round: dropped");
	workers_in('', "round $round: dropped");
	$node->safe_psql('one', 'CREATE EXTENSION clutch');
	workers_in('one', "round $round: made again");
}
$node->safe_psql('one', q{SET clutch.clock = '2000-01-01T00:00:00Z';
	SELECT clutch.send(jsonb_set(ask('task:1', 'agent:nobody'), '{meta}', '{"clutch": {"deadline": "2000-01-01T00:01:00Z"}}'));});
ok($node->poll_query_until('one', q{SELECT status = 'timed_out' FROM clutch.task}), 'and works on the new tables');

# while another session has dropped it and has not committed
my $session = session($node, 'one');
is(ask_session($session, 'BEGIN; DROP EXTENSION clutch;'), '', 'dropped, not committed');
is(ask_session($session, 'ROLLBACK;'), '', 'and not dropped after all');
end_session($session);
wait_for_worker($node, 'one', 'it goes on');

# a session that needs a database for itself gets it
is(($node->psql('postgres', 'CREATE DATABASE two TEMPLATE one'))[2], '', 'a copy is made');
workers_in('one two', 'a copy');
is(($node->psql('postgres', 'ALTER DATABASE two RENAME TO three'))[2], '', 'it is renamed');
workers_in('one three', 'renamed');
is(($node->psql('postgres', 'ALTER DATABASE three SET TABLESPACE pg_default'))[2], '', 'it is moved');
workers_in('one three', 'moved');
is(($node->psql('postgres', 'DROP DATABASE three'))[2], '', 'it is dropped, without force');
workers_in('one', 'dropped');
is(($node->psql('postgres', 'CREATE DATABASE three TEMPLATE one'))[2], '', 'one of the same name');
workers_in('one three', 'of the same name');

# with force, too, although the owner may not terminate a worker, which runs as a superuser
$node->safe_psql('postgres', 'CREATE ROLE landlord CREATEDB');
foreach my $round (1 .. 3)
{
	$node->safe_psql('postgres', 'SET ROLE landlord; CREATE DATABASE rented');
	$node->safe_psql('rented', 'CREATE EXTENSION clutch; SELECT clutch.tick()');
	wait_for_worker($node, 'rented', "round $round: it is there");
	is(($node->psql('postgres', 'SET ROLE landlord; DROP DATABASE rented WITH (FORCE)'))[2], '', "round $round: dropped by force");
}
workers_in('one three', 'by force');

# Once another worker is in database three than before.
my $pid = $node->safe_psql('postgres', worker_of('three'));
sub another_comes
{
	my ($name) = @_;

	ok($node->poll_query_until('postgres', worker_of('three') =~ s/SELECT pid/SELECT count(*) = 1/r . " AND pid <> $pid"), "$name: the worker has left and come back");
	$pid = $node->safe_psql('postgres', worker_of('three'));
	return;
}

# what was refused sends the worker away, and calls it back
my $guest = session($node, 'three');
ask_session($guest, 'SELECT 1;');
like(($node->psql('postgres', 'DROP DATABASE three'))[2], qr/is being accessed by other users/, 'somebody else is in it');
another_comes('refused');
like(($node->psql('postgres', 'DROP DATABASE three'))[2], qr/There is 1 other session/, 'and the worker is not counted');
another_comes('refused again');
end_session($guest);
like(($node->psql('postgres', 'CREATE DATABASE one TEMPLATE three'))[2], qr/already exists/, 'refused for another reason');
another_comes('refused once more');
workers_in('one three', 'refused');

# a session whose statement is refused does not keep the worker away until its transaction ends
$node->safe_psql('postgres', 'CREATE ROLE anybody LOGIN');
foreach my $who (qw(anybody postgres))
{
	$guest = session($node, 'postgres');
	ask_session($guest, "SET ROLE anybody;") if $who eq 'anybody';
	like(ask_session($guest, 'BEGIN; SAVEPOINT s; DROP DATABASE three; ROLLBACK TO s;'), qr/cannot run inside a transaction block/, "$who: refused, and stays");
	another_comes($who) if $who eq 'postgres';
	workers_in('one three', "$who: still in his transaction");
	end_session($guest);
}
like(($node->psql('postgres', 'SET ROLE anybody; DROP DATABASE three'))[2], qr/must be owner/, 'one who may not drop it');
is(wait_for_worker($node, 'three', 'does not even send it away'), $pid, 'it is the same');

# nor does anybody wake the launcher with names of databases that do not exist, as often as he tries
sub times_woken
{
	slurp_file("/proc/$launcher/status") =~ /^voluntary_ctxt_switches:\s*(\d+)/m;
	return $1;
}
my $woken = times_woken();
$node->psql('postgres', 'SET ROLE anybody; SET client_min_messages = error; ' . join(' ', ('DROP DATABASE IF EXISTS nowhere;') x 100), on_error_stop => 0);
$node->psql('postgres', "SET ROLE anybody;\n" . join("\n", ('DROP DATABASE nowhere;', 'DROP DATABASE three;') x 50), on_error_stop => 0);
cmp_ok(times_woken() - $woken, '<', 10, 'two hundred statements that change nothing do not wake the launcher');

# many databases at once, more than there can be background processes; no worker leaves meanwhile
my $log = -s $node->logfile;
foreach my $n (1 .. 5)
{
	$node->safe_psql('postgres', "CREATE DATABASE more$n");
	$node->safe_psql("more$n", 'CREATE EXTENSION clutch');
	workers_in(join(' ', (map { "more$_" } 1 .. $n), 'one three'), "more$n") if $n <= 2;
}
$node->wait_for_log(qr/WARNING:  no background worker is left for a clutch worker\n.*DETAIL:  Database "more[345]" has none/, $log);
ok($node->poll_query_until('postgres', q{SELECT count(*) = 4 FROM pg_stat_activity WHERE backend_type = 'clutch worker'}), 'as many as may be, beside both launchers');
my $out = slurp_file($node->logfile, $log);
is(scalar(() = $out =~ /no background worker is left/g), 1, 'said once');
like(($node->psql('more5', q{SELECT clutch.send_at(clutch.envelope('task.request', 'agent:ui', '{agent:ken}'), now() + interval '1 hour')}))[2],
	qr/nothing calls clutch\.tick.*does not run.*max_worker_processes/s, 'a database without a worker is told about it');
# one that is dropped makes room for another, which is dropped when it has a worker
foreach my $n (1 .. 5)
{
	is(($node->psql('postgres', "DROP DATABASE more$n"))[2], '', "dropped more$n");
	my $left = 7 - $n > 4 ? 4 : 7 - $n;
	ok($node->poll_query_until('postgres', "SELECT count(*) = $left FROM pg_stat_activity WHERE backend_type = 'clutch worker'"), "of $left workers");
}
workers_in('one three', 'as before');

unlike(slurp_file($node->logfile), qr/(?:ERROR|FATAL|PANIC):  (?!database "(?:three|one|nowhere)"|extension|source database|DROP DATABASE cannot|must be owner)/, 'and nothing went wrong');

# After a restart, a worker looks for the extension in each database, and makes room for the next.
$node->safe_psql('postgres', "DROP DATABASE $_") foreach qw(one three);
$node->safe_psql('postgres', "CREATE DATABASE without$_") foreach 1 .. 20;
$node->safe_psql('postgres', 'CREATE DATABASE last');
$node->safe_psql('last', 'CREATE EXTENSION clutch');
workers_in('last', 'before a restart with many databases');
$log = -s $node->logfile;
$node->append_conf('postgresql.conf', "max_worker_processes = 4\n");
# the interval between two workers of a database need not pass for that
foreach my $round (1 .. 5)
{
	$node->restart;
	workers_in('last', "restart $round with many databases");
	is($node->safe_psql('postgres', q{SELECT w.backend_start - l.backend_start < '5 s' FROM pg_stat_activity l, pg_stat_activity w
		WHERE l.backend_type = 'clutch launcher' AND w.backend_type = 'clutch worker' AND w.datname = 'last'}), 't', "restart $round: as soon as there is room for it");
}
# long enough for the launcher to look again, several times
sleep 20;
unlike(slurp_file($node->logfile, $log), qr/no background worker is left/, 'no worker is lacking where none is needed');
$node->stop;

# A database that has become a template has no worker, however quickly the last one leaves: here, before the launcher,
# which looks at thousands of mailboxes, is through with them.  Once the launcher has started a worker in the other
# database, it is done with this one.
$node = new_node('templates', bare => 1,
	conf => "shared_preload_libraries = 'clutch'\nautovacuum = off\nmax_worker_processes = 3000\n");
foreach my $name (qw(one three))
{
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, 'CREATE EXTENSION clutch');
}
workers_in('one three', 'many mailboxes');
$node->safe_psql('postgres', 'ALTER DATABASE one IS_TEMPLATE true');
workers_in('three', 'a template');
is($node->safe_psql('postgres', q{
	CREATE TABLE later (pids int[]);
	CREATE FUNCTION workers(db text) RETURNS int[] LANGUAGE sql BEGIN ATOMIC
		SELECT pg_stat_clear_snapshot();
		SELECT array_agg(pid) FROM pg_stat_activity WHERE backend_type = 'clutch worker' AND datname = db;
	END;
	DO $$
	DECLARE
		template text := 'three';
		other text := 'one';
		old int[];
	BEGIN
		FOR round IN 1 .. 60 LOOP
			old := workers(template);
			EXECUTE format('ALTER DATABASE %I IS_TEMPLATE true', template);
			COMMIT;
			WHILE workers(template) && old LOOP
			END LOOP;
			EXECUTE format('ALTER DATABASE %I IS_TEMPLATE false', other);
			COMMIT;
			WHILE workers(other) IS NULL LOOP
			END LOOP;
			INSERT INTO later VALUES (workers(template));
			SELECT template, other INTO other, template;
		END LOOP;
	END
	$$;
	SELECT count(*), count(pids) FROM later}), '60|0', 'no worker comes after the one that has left');
$node->stop;
done_testing();
