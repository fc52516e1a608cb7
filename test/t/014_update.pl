# ALTER EXTENSION clutch UPDATE from 0.1.0 and from 0.2.0: an updated and a fresh
# installation have the same catalog, whoever runs the update, the rights of roles are
# carried over, and work that was in flight goes on.
#
# fixtures/clutch--0.1.0.sql is the script with which 0.1.0 was installed, and
# fixtures/in_flight_0.1.0.sql the data of a database that 0.1.0 was working in
# (pg_dump -a; fixtures/in_flight.sql made it).  test/run/upgrade.sh does the same
# by hand with both libraries, and with a server that is restarted in between.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('update', bare => 1, conf => "max_prepared_transactions = 2\n");
my $fixtures = "$FindBin::RealBin/../fixtures";
foreach my $version (qw(0.1.0 0.2.0))
{
	next if $node->safe_psql('postgres', qq{SELECT count(*) FROM pg_available_extension_versions WHERE name = 'clutch' AND version = '$version'}) eq '1';
	plan skip_all => "the script of version $version is not installed: cp test/fixtures/clutch--$version.sql \$(pg_config --sharedir)/extension";
}

sub catalog_of
{
	my ($db) = @_;
	my ($stdout, $stderr);

	run_log([ 'psql', '-XqAt', '-F', ': ', '-d', $node->connstr($db), '-f', "$FindBin::RealBin/catalog.sql" ], '>', \$stdout, '2>', \$stderr);
	die $stderr if $stderr ne '';
	return $stdout;
}

$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(fresh updated updated_0_2_0 working granted);
$node->safe_psql('fresh', 'CREATE EXTENSION clutch');
my %fresh = map { $_ => 1 } split /\n/, catalog_of('fresh');
cmp_ok(scalar(keys %fresh), '>', 1000, 'there is something to compare');
foreach my $update ([ 'updated', '0.1.0' ], [ 'updated_0_2_0', '0.2.0' ])
{
	my ($db, $version) = @$update;

	$node->safe_psql($db, "CREATE EXTENSION clutch VERSION '$version'");
	$node->safe_psql($db, 'ALTER EXTENSION clutch UPDATE');
	my %updated = map { $_ => 1 } split /\n/, catalog_of($db);
	is(join("\n", grep { !$updated{$_} } sort keys %fresh), '', "an update from $version makes all that a fresh installation has");
	is(join("\n", grep { !$fresh{$_} } sort keys %updated), '', 'and leaves nothing behind');
	is_sound($node, $db, "a database updated from $version");
}

# ------------------------------------------------------- until the update has run
# Each call has a session of its own, which would end with the server.
$node->safe_psql('postgres', "CREATE DATABASE older_$_") foreach qw(0_1_0 0_2_0);
foreach my $version (qw(0.1.0 0.2.0))
{
	my $db = 'older_' . $version =~ tr/./_/r;

	$node->safe_psql($db, "CREATE EXTENSION clutch VERSION '$version'");
	foreach my $call (q{progress('agent:ken', 'task:1', '{}', 1)}, q{finish('agent:ken', 'task:1', '{}', 1)},
		q{fail('agent:ken', 'task:1', 'TIMEOUT', 'slow', NULL, NULL, 1)}, q{report('agent:ken', 'task:1', 'task.progress', '{}', 1)},
		q{claim('agent:ken')}, q{task_tree('run:1')})
	{
		like(($node->psql($db, "\\set VERBOSITY verbose\nSELECT clutch.$call"))[2], qr/ERROR:  55000: extension clutch is version \Q$version/,
			"with the SQL of $version, the library refuses $call");
	}
	foreach my $undone ([ 'BEGIN', 'ROLLBACK' ], [ 'BEGIN; SAVEPOINT before', 'ROLLBACK TO before' ])
	{
		my ($begin, $undo) = @$undone;

		like(($node->psql($db, qq{$begin; ALTER EXTENSION clutch UPDATE; SELECT clutch.heartbeat('agent:ken'); $undo;
			SELECT clutch.tick(); SELECT clutch.subscribe('all')}, on_error_stop => 0))[2],
			qr/ERROR: .*extension clutch is version \Q$version/, "after $begin, update from $version, $undo, it serves nothing");
	}
	# what the session has used is not changed by the update, so no invalidation makes it look again
	is(scalar(grep { /ERROR: .*extension clutch is version \Q$version/ } split /\n/, ($node->psql($db, q{SET clutch.notify = off;
		BEGIN; ALTER EXTENSION clutch UPDATE; SELECT clutch.position(); PREPARE TRANSACTION 'update'; ROLLBACK PREPARED 'update';
		SELECT clutch.heartbeat('agent:ken'); SELECT clutch.tick(); SELECT clutch.subscribe('all')}, on_error_stop => 0))[2]), 3,
		"nor after an update from $version that was prepared and rolled back");
}

# ----------------------------------------------------------- where it is installed
# Default privileges of the role that creates it, and settings of the session, make no difference.
$node->safe_psql('postgres', $_) foreach 'CREATE ROLE app_default', (map { "CREATE DATABASE $_" } qw(odd odd_0_1_0 odd_0_2_0)),
	map { "ALTER DATABASE $_ SET standard_conforming_strings = off" } qw(odd odd_0_1_0 odd_0_2_0);
$node->safe_psql($_, "CREATE ACCESS METHOD heap_too TYPE TABLE HANDLER heap_tableam_handler; ALTER DATABASE $_ SET default_table_access_method = heap_too") foreach qw(odd odd_0_1_0 odd_0_2_0);
my $defaults = join ';', map { "ALTER DEFAULT PRIVILEGES GRANT ALL ON $_ TO app_default" } qw(TABLES SEQUENCES FUNCTIONS TYPES SCHEMAS);
$node->safe_psql('odd', "$defaults; CREATE EXTENSION clutch");
$node->safe_psql("odd_$_->[0]", "SET default_table_access_method = heap; CREATE EXTENSION clutch VERSION '$_->[1]'; RESET default_table_access_method; $defaults; ALTER EXTENSION clutch UPDATE") foreach ([ '0_1_0', '0.1.0' ], [ '0_2_0', '0.2.0' ]);
foreach my $db (qw(odd odd_0_1_0 odd_0_2_0))
{
	my %odd = map { $_ => 1 } split /\n/, catalog_of($db);
	is(join("\n", grep { !$odd{$_} } sort keys %fresh), '', "$db: where roles get privileges by default, the same is made");
	is(join("\n", grep { !$fresh{$_} } sort keys %odd), '', 'and they get none');
	is($node->safe_psql($db, q{SELECT string_agg(c.oid::regclass::text, ' ' ORDER BY c.relname) FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'heap_too'
		AND c.relnamespace = 'clutch'::regnamespace}), '', 'the tables are those of heap');
	is($node->safe_psql($db, q{SELECT string_agg(pg_describe_object(s.classid, s.objid, s.objsubid), ', ') FROM pg_shdepend s JOIN pg_database d ON d.oid = s.dbid
		WHERE d.datname = current_database() AND s.refobjid = 'app_default'::regrole AND s.classid <> 'pg_default_acl'::regclass}), '', 'and nothing is in the way of dropping the role');
}

# --------------------------------------------------------------------- owners
# As docs/operations.md says, the owner need not be a superuser, and another role updates.
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(owned owned_0_1_0 owned_0_2_0);
$node->safe_psql('postgres', 'CREATE ROLE clutch_owner SUPERUSER LOGIN; CREATE ROLE speaker');
$node->safe_psql('owned', 'SET ROLE clutch_owner; CREATE EXTENSION clutch');
$node->safe_psql("owned_$_->[0]", "SET ROLE clutch_owner; CREATE EXTENSION clutch VERSION '$_->[1]'") foreach ([ '0_1_0', '0.1.0' ], [ '0_2_0', '0.2.0' ]);
$node->safe_psql('postgres', 'ALTER ROLE clutch_owner NOSUPERUSER');
foreach my $db (qw(owned_0_1_0 owned_0_2_0))
{
	$node->safe_psql($db, 'ALTER EXTENSION clutch UPDATE');
	is_sound($node, $db, "$db, updated by another role");
	foreach my $operation (q{SELECT count(*) FROM clutch.check()}, 'SELECT clutch.tick()', 'SELECT clutch.seal()', 'SELECT clutch.rebuild()', 'SELECT count(*) FROM clutch.metrics()',
		q{SELECT clutch.grant_agent('speaker', 'agent:speaker'), clutch.set_quota('speaker', 'schedules', 3)}, 'SELECT clutch.filter_rows()', q{SELECT clutch.prune('infinity')},
		q{SELECT clutch.revoke_agent('speaker', 'agent:speaker')})
	{
		my ($status, undef, $stderr) = $node->psql($db, $operation, connstr => $node->connstr($db) . ' user=clutch_owner');
		ok($status == 0, "its owner: $operation") or diag $stderr;
	}
}
# No initial privileges are those of the role that ran the update, which may be dropped.
my %owned = map { $_ => 1 } split /\n/, catalog_of('owned');
foreach my $db (qw(owned_0_1_0 owned_0_2_0))
{
	my %updated = map { $_ => 1 } split /\n/, catalog_of($db);
	is(join("\n", grep { !$updated{$_} } sort keys %owned), '', "$db: the update by another role makes all that a fresh installation of the owner has");
	is(join("\n", grep { !$owned{$_} } sort keys %updated), '', 'and leaves nothing behind');
}

# ------------------------------------------------- what users attach to the tables
# The owner of a table, or a member of that role, must not run code as the superuser.
$node->safe_psql('postgres', $_) foreach map { "CREATE DATABASE attached_$_" } qw(0_1_0 0_2_0);
$node->safe_psql('postgres', 'ALTER ROLE clutch_owner SUPERUSER');
foreach my $version (qw(0.1.0 0.2.0))
{
	my $db = 'attached_' . $version =~ tr/./_/r;

	$node->safe_psql($db, "SET ROLE clutch_owner; CREATE EXTENSION clutch VERSION '$version'; GRANT CREATE ON SCHEMA public TO clutch_owner");
}
$node->safe_psql('postgres', 'ALTER ROLE clutch_owner NOSUPERUSER');
foreach my $version (qw(0.1.0 0.2.0))
{
	my $db = 'attached_' . $version =~ tr/./_/r;

	$node->safe_psql($db, q{SET ROLE clutch_owner; CREATE FUNCTION public.taken() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		CREATE FUNCTION public.taken(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'; CREATE DOMAIN public.taken AS text CHECK (public.taken(VALUE))});
	foreach my $attached (
		[ 'CREATE TRIGGER taken AFTER UPDATE ON clutch.principal EXECUTE FUNCTION public.taken()', 'trigger taken on table clutch.principal', 'DROP TRIGGER taken ON clutch.principal' ],
		[ 'CREATE RULE taken AS ON DELETE TO clutch.subscription_position DO INSTEAD NOTHING', 'rule taken on table clutch.subscription_position', 'DROP RULE taken ON clutch.subscription_position' ],
		[ 'CREATE INDEX taken ON clutch.dependency (task_id) WHERE public.taken(task_id)', 'function public.taken\\(text\\)', 'DROP INDEX clutch.taken' ],
		[ 'ALTER TABLE clutch.waiting ADD CONSTRAINT taken CHECK (public.taken(task_id))', 'constraint taken on table clutch.waiting', 'ALTER TABLE clutch.waiting DROP CONSTRAINT taken' ],
		[ 'ALTER TABLE clutch.waiting ADD COLUMN more text DEFAULT public.taken(\'\')', 'default value for column more of table clutch.waiting', 'ALTER TABLE clutch.waiting DROP COLUMN more' ],
		[ 'ALTER TABLE clutch.waiting ADD COLUMN more public.taken', 'type public.taken', 'ALTER TABLE clutch.waiting DROP COLUMN more' ],
		[ 'CREATE TABLE public.more () INHERITS (clutch.principal)', 'table public.more', 'DROP TABLE public.more' ],
		[ 'CREATE TABLE public.more (name text, member integer, generation bigint, FOREIGN KEY (name, member, generation) REFERENCES clutch.subscription_position (name, member, generation) ON DELETE CASCADE)',
			'constraint more_name_member_generation_fkey on table public.more', 'DROP TABLE public.more' ],
		# also on tables that are only read
		[ 'CREATE INDEX taken ON clutch.task (task_id) WHERE public.taken(task_id)', 'function public.taken\\(text\\)', 'DROP INDEX clutch.taken' ],
		[ 'CREATE STATISTICS public.taken ON public.taken(task_id), task_id FROM clutch.waiting', 'function public.taken\\(text\\)', 'DROP STATISTICS public.taken' ],
		[ 'CREATE STATISTICS public.taken ON public.taken(task_id), task_id FROM clutch.task', 'function public.taken\\(text\\)', 'DROP STATISTICS public.taken' ],
		[ 'ALTER TABLE clutch.task ADD CONSTRAINT taken CHECK (public.taken(task_id))', 'function public.taken\\(text\\)', 'ALTER TABLE clutch.task DROP CONSTRAINT taken' ],
		[ 'CREATE TABLE public.more () INHERITS (clutch.task)', 'table public.more', 'DROP TABLE public.more' ],
		[ 'ALTER EXTENSION clutch DROP TABLE clutch.epoch; ALTER TABLE clutch.epoch RENAME TO former; CREATE VIEW clutch.epoch AS SELECT * FROM clutch.former WHERE public.taken(timeline::text)',
			'rule _RETURN on view clutch.epoch', 'DROP VIEW clutch.epoch; ALTER TABLE clutch.former RENAME TO epoch; ALTER EXTENSION clutch ADD TABLE clutch.epoch' ])
	{
		my ($make, $named, $drop) = @$attached;

		$node->safe_psql($db, "SET ROLE clutch_owner; $make");
		like(($node->psql($db, 'ALTER EXTENSION clutch UPDATE'))[2], qr/cannot update extension clutch because of $named$/m, "no update from $version after $make");
		$node->safe_psql($db, "SET ROLE clutch_owner; $drop");
	}
	# A transaction that has read the state goes on to the log, while the update waits for it.
	$node->safe_psql($db, 'CREATE PUBLICATION everything FOR ALL TABLES');
	my ($reader, $updater) = map { session($node, $db) } 1 .. 2;
	ask_session($reader, 'BEGIN; SELECT count(*) FROM clutch.task;');
	like(ask_session($updater, "SET lock_timeout = '10ms'; ALTER EXTENSION clutch UPDATE; SET lock_timeout = 0;"), qr/lock timeout/, 'an update waits no longer than lock_timeout');
	$updater->{in} .= "ALTER EXTENSION clutch UPDATE;\n";
	$updater->{run}->pump_nb;
	ok($node->poll_query_until($db, q{SELECT count(*) = 1 FROM pg_locks WHERE NOT granted AND relation = 'clutch.task'::regclass AND mode = 'AccessExclusiveLock'}),
		'it waits for a transaction that has read a table');
	is(ask_session($reader, 'SELECT count(*) FROM clutch.events; COMMIT;'), "0\n", 'which can go on');
	is(ask_session($updater, ''), '', 'and then updates, also where a publication has all tables');
	end_session($_) foreach $reader, $updater;
	is_sound($node, $db, "updated from $version, when nothing is attached");
}

# Nor is a function of the owner called because it has the name of one that is still to come.
$node->safe_psql('postgres', $_) foreach 'CREATE DATABASE named', 'ALTER ROLE clutch_owner SUPERUSER';
$node->safe_psql('named', q{SET ROLE clutch_owner; CREATE EXTENSION clutch VERSION '0.1.0'});
$node->safe_psql('postgres', 'ALTER ROLE clutch_owner NOSUPERUSER');
$node->safe_psql('named', q{SET ROLE clutch_owner; CREATE TABLE clutch.privilege (grantee regrole, privilege text);
	CREATE FUNCTION clutch.grantees_of(regrole) RETURNS SETOF text LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''it runs as %'', current_user; RETURN; END';
	CREATE FUNCTION clutch.grant_tables(name, text) RETURNS void LANGUAGE sql AS ''; INSERT INTO clutch.principal VALUES ('clutch_owner', 'agent:ken')});
my (undef, undef, $named) = $node->psql('named', q{ALTER EXTENSION clutch UPDATE TO '0.2.0'}, on_error_stop => 0);
is($named, '', 'an update calls no function of the owner by the name of one that does not exist yet');

# ----------------------------------------------------------------- privileges
$node->safe_psql('granted', q{
	CREATE ROLE app;
	CREATE ROLE auditor;
	CREATE EXTENSION clutch VERSION '0.1.0';
	SELECT clutch.grant_agent('app', 'agent:ken');
	SELECT clutch.grant_reader('auditor');
	CREATE VIEW mine AS SELECT task_id, status FROM clutch.tasks;
	CREATE TABLE clutch.my_notes (note text);
	ALTER EXTENSION clutch UPDATE;
});
my $missing = q{SELECT string_agg(g.function::text, ', ') FROM clutch.function_grants g WHERE g.grantee = '%s' AND NOT has_function_privilege('%s', g.function, 'EXECUTE')};
is($node->safe_psql('granted', sprintf($missing, 'agent', 'app')), '', 'the role of an agent may call all that agents may');
is($node->safe_psql('granted', sprintf($missing, 'reader', 'auditor')), '', 'a reader all that readers may');
is($node->safe_psql('granted', q{SELECT string_agg(oid::regclass::text, ', ') FROM pg_class WHERE relnamespace = 'clutch'::regnamespace AND relkind IN ('r', 'v', 'S')
	AND NOT has_table_privilege('auditor', oid, 'SELECT')}), 'clutch.my_notes', 'and reads every table and view of the extension');
is($node->safe_psql('granted', q{SELECT count(*) FROM pg_init_privs i, unnest(i.initprivs) a WHERE a::text ~ '^(app|auditor)='}), '0',
	'none of these grants is taken for one of the extension, so pg_dump keeps them');
is($node->safe_psql('granted', 'SELECT count(*) FROM mine'), '0', 'a view of a user on clutch.tasks is still there');

# Only who was granted it by grant_reader becomes a reader, which the update says; rights granted by hand stay what they are.
$node->safe_psql('postgres', 'CREATE ROLE watcher; CREATE ROLE monitor');
foreach my $version (qw(0.1.0 0.2.0))
{
	my $db = 'readers_' . $version =~ tr/./_/r;

	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, qq{CREATE EXTENSION clutch VERSION '$version';
		SELECT clutch.grant_reader('auditor'), clutch.grant_agent('app', 'agent:ken');
		GRANT USAGE ON SCHEMA clutch TO watcher, monitor;
		GRANT SELECT ON clutch.events TO watcher, monitor, app;
		GRANT EXECUTE ON FUNCTION clutch.metrics(), clutch.replay(text) TO monitor});
	my (undef, undef, $said) = $node->psql($db, 'ALTER EXTENSION clutch UPDATE');
	is($node->safe_psql($db, q{SELECT string_agg(role::text, ' ') FROM clutch.privileges WHERE privilege = 'read'}), 'auditor', "an update from $version makes a reader of whom grant_reader made one");
	like($said, qr/INFO:  these roles become readers, as clutch.grant_reader made them: auditor$/m, 'and says whom');
	is($node->safe_psql($db, q{SELECT has_table_privilege('watcher', 'clutch.events', 'SELECT'), has_table_privilege('watcher', 'clutch.tasks', 'SELECT'), has_function_privilege('watcher', 'clutch.export(text)', 'EXECUTE'),
		has_table_privilege('monitor', 'clutch.tasks', 'SELECT'), has_function_privilege('monitor', 'clutch.export(text)', 'EXECUTE')}), 't|f|f|f|f', 'and gives others nothing more');
}

# ------------------------------------------------------------- work in flight
SKIP:
{
	skip 'there is no data of 0.1.0', 1 unless -e "$fixtures/in_flight_0.1.0.sql";
	$node->safe_psql('working', "CREATE EXTENSION clutch VERSION '0.1.0'");
	# this library refuses to serve tables of 0.1.0, so its triggers stand aside
	my $triggers = q{DO $$ DECLARE t record; BEGIN
		FOR t IN SELECT tgrelid::regclass AS rel, tgname FROM pg_trigger WHERE NOT tgisinternal AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'clutch'::regnamespace)
		LOOP EXECUTE format('ALTER TABLE %s %s TRIGGER %I', t.rel, 'HOW', t.tgname); END LOOP; END $$};
	$node->safe_psql('working', $triggers =~ s/HOW/DISABLE/r);
	# The library refuses to admit even restored rows for 0.1.0, whose own library did.
	my $installed = sub { $node->safe_psql('working', qq{UPDATE pg_extension SET extversion = $_[0] WHERE extname = 'clutch'}) };
	$installed->(q{(SELECT default_version FROM pg_available_extensions WHERE name = 'clutch')});
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('working'), '-f', "$fixtures/in_flight_0.1.0.sql" ], 'data of 0.1.0');
	$installed->(q{'0.1.0'});
	like(($node->psql('working', 'SELECT clutch.tick()'))[2], qr/ALTER EXTENSION clutch UPDATE/, 'until the update, the library serves nothing and says why');
	$node->safe_psql('working', $triggers =~ s/HOW/ENABLE ALWAYS/r);
	$node->safe_psql('postgres', q{ALTER DATABASE working SET clutch.clock = '2026-01-01T12:00:30Z'; ALTER DATABASE working SET clutch.default_deadline = 0});
	# as if it had been written in this cluster, so that it is not taken for a copy
	$node->safe_psql('working', 'UPDATE clutch.epoch SET system_identifier = (SELECT system_identifier FROM pg_control_system()), first_xid = 0, timeline = 1');
	$node->safe_psql('working', 'DELETE FROM clutch.subscription; DELETE FROM clutch.subscription_position');
	my $log = log_of($node, 'working');
	$node->safe_psql('working', 'ALTER EXTENSION clutch UPDATE');
	ok(log_of($node, 'working') eq $log, 'an update does not touch the log');
	is($node->safe_psql('working', q{SELECT string_agg(task_id || ' ' || status, ', ' ORDER BY task_id) FROM clutch.tasks}),
		'asks input_required, child assigned, done completed, held pending, late pending, lifted running, parent running, runs running, waits pending',
		'the tasks are as they were');
	is($node->safe_psql('working', q{SELECT task_id || ' ' || is_traced || ' ' || limits_tools || ' ' || coalesce(asked_priority::text, '-') FROM clutch.task WHERE task_id IN ('runs', 'lifted') ORDER BY 1}),
		"lifted false false 1\nruns true true -", 'what is new in a task is read from the log');
	is($node->safe_psql('working', 'SELECT run_id, agent_id, tokens, cost FROM clutch.costs'), 'run:1|agent:ken|12|0.5', 'and what was spent');
	# the digests of 0.1.0 are others, so what waits is filed anew
	my $kind = q{SELECT kind FROM clutch.waiting WHERE task_id = 'late'};
	my $old = $node->safe_psql('working', $kind);
	$node->safe_psql('working', 'SELECT clutch.tick()');
	isnt($node->safe_psql('working', $kind), $old, 'a tick files waiting tasks under what they require by now');
	same_after_rebuild($node, 'working', 'updated');
	is_sound($node, 'working', 'updated');
	is($node->safe_psql('working', q{SELECT late FROM clutch.finish('agent:ken', 'runs', '{}', 1, usage => '{"input_tokens": 1}')}), 'f', 'an agent finishes what it claimed before');
	is($node->safe_psql('working', q{SELECT late FROM clutch.answer('asks', '{"yes": true}', 'agent:ui')}), 'f', 'a question is answered');
	is($node->safe_psql('working', q{SELECT count(*) > 0 FROM clutch.claim('agent:ken', 9)}), 't', 'what was ready is claimed');
	drain($node, 'working');
	is($node->safe_psql('working', q{SELECT count(*) FROM clutch.tasks WHERE finished_at IS NULL AND task_id NOT IN ('held', 'late')}), '0', 'all that has an agent can be finished');
	is_sound($node, 'working', 'afterwards');
}

# A dump of an updated database is restored like any other.
my $dir = PostgreSQL::Test::Utils::tempdir;
$node->command_ok([ 'pg_dump', '-f', "$dir/dump.sql", '-d', $node->connstr('granted') ], 'an updated database is dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$dir/dump.sql" ], 'and restored');
is($node->safe_psql('restored', sprintf($missing, 'agent', 'app')), '', 'with the rights of the roles');
$node->stop;
done_testing();
