# A superuser installs once.  Then a role without superuser, which owns the
# extension, does all the rest, and grants others membership to do it as well.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('operator', bare => 1, conf => "shared_preload_libraries = 'clutch'\nclutch.tick_interval = 1s\n");

# As docs/operations.md says.
$node->safe_psql('postgres', q{
	CREATE ROLE clutch_owner SUPERUSER LOGIN;
	SET ROLE clutch_owner;
	CREATE EXTENSION clutch;
	RESET ROLE;
	ALTER ROLE clutch_owner NOSUPERUSER;
	GRANT SET ON PARAMETER clutch.tick_batch, clutch.prune_unread, clutch.retention, clutch.clock TO clutch_owner;
	CREATE ROLE ops LOGIN IN ROLE clutch_owner;
	CREATE ROLE app LOGIN;
	CREATE ROLE reader LOGIN;
	CREATE ROLE stranger LOGIN;
});
is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname IN ('clutch_owner', 'ops')}), "f\nf", 'neither operator is a superuser');
wait_for_worker($node, 'postgres', 'the worker is there');

# Each as the owner, and as a member of it.
my @operations = (
	[ 'registers any card', q{SELECT late FROM clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "ken"}, "capabilities": [{"id": "skill:x", "trust_level": "prod"}],
		"limits": {"max_concurrency": 9}, "security": {"sandbox": false, "network": "open"}}')} ],
	[ 'grants an agent', q{SELECT clutch.grant_agent('app', 'agent:app')} ],
	[ 'grants a reader', q{SELECT clutch.grant_reader('reader')} ],
	[ 'grants again', q{SELECT clutch.grant_functions('app', 'agent')} ],
	[ 'puts an agent into a group', q{SELECT clutch.join_group('group:press', 'agent:ken')} ],
	[ 'takes it out again', q{SELECT clutch.leave_group('group:press', 'agent:ken')} ],
	[ 'sets how work is retried', q{SELECT clutch.set_retry_policy('report.v1', 2)} ],
	[ 'speaks for any agent', q{SELECT late FROM clutch.send(clutch.envelope('task.request', 'agent:anybody', requires => '{skill:x}', run_id => 'run:' || current_user, task_id => 'task:' || current_user))} ],
	[ 'claims and finishes', q{SELECT count(f.id) FROM clutch.claim('agent:ken', 9) c, clutch.finish('agent:ken', c.task_id, '{"text": "secret"}', c.attempt) f} ],
	[ 'cancels', q{SELECT late FROM clutch.cancel('task:' || current_user)} ],
	[ 'ticks', q{SELECT clutch.tick() IS NOT NULL} ],
	[ 'settles', q{SELECT clutch.settle() IS NOT NULL} ],
	[ 'schedules', q{SELECT clutch.schedule('daily ' || current_user, '0 0 * * *', clutch.envelope('chat.message', 'agent:ui', '{agent:ken}'))} ],
	[ 'ends a schedule', q{SELECT clutch.unschedule('daily ' || current_user)} ],
	[ 'subscribes', q{SELECT clutch.subscribe('all', '{}', 'beginning')} ],
	[ 'reads', q{SELECT count(*) > 0 FROM clutch.read('all')} ],
	[ 'unsubscribes', q{SELECT clutch.unsubscribe('all')} ],
	[ 'checks', q{SELECT count(*) FROM clutch.check()} ],
	[ 'measures', q{SELECT count(*) > 0 FROM clutch.metrics()} ],
	[ 'reads the views', q{SELECT count(*) FROM clutch.tasks, clutch.stuck, clutch.agents} ],
	[ 'rebuilds', q{SELECT clutch.rebuild() IS NOT NULL} ],
	[ 'exports', q{SELECT count(*) > 1 FROM clutch.export('run:' || current_user)} ],
	[ 'redacts', q{SELECT clutch.redact(seq, 'law') FROM clutch.events WHERE type = 'task.result' AND NOT envelope -> 'payload' ? 'redacted' LIMIT 1} ],
	[ 'prunes', q{SELECT clutch.prune('infinity') > 0} ],
	[ 'imports', q{SELECT clutch.import('{}')}, qr/line 1 is not a line of an export/ ],
	[ 'sets a setting that it was granted', q{SET clutch.tick_batch = 10} ],
	[ 'vacuums', q{VACUUM ANALYZE clutch.task} ],
	[ 'reindexes', q{REINDEX TABLE clutch.ready} ],
	[ 'revokes', q{SELECT clutch.revoke_agent('app', 'agent:app')} ]);

foreach my $who ('clutch_owner', 'ops')
{
	foreach my $each (@operations)
	{
		my ($status, $out, $err) = $node->psql('postgres', $each->[1], connstr => $node->connstr('postgres') . " user=$who");
		my $fine = $each->[2] ? ($err =~ $each->[2]) : ($status == 0);
		ok($fine, "$who $each->[0]") or diag $err;
	}
}

# What stays for a superuser.
foreach my $each (
	[ 'the log is closed to the owner as well', q{DELETE FROM clutch.events}, qr/append-only/ ],
	[ 'and so are its envelopes', q{UPDATE clutch.events SET envelope = '{}'}, qr/append-only/ ],
	[ 'a setting that was not granted', q{SET clutch.max_depth = 100}, qr/permission denied to set parameter/ ],
	[ 'an update of the extension', q{ALTER EXTENSION clutch UPDATE TO '99'}, qr/ERROR/ ])
{
	my ($status, $out, $err) = $node->psql('postgres', $each->[1], connstr => $node->connstr('postgres') . ' user=clutch_owner');
	like($err, $each->[2], $each->[0]);
}

# Nobody else.
foreach my $each ([ 'prune', q{SELECT clutch.prune('infinity')} ], [ 'rebuild', 'SELECT clutch.rebuild()' ], [ 'redact', q{SELECT clutch.redact(1, 'x')} ], [ 'tick', 'SELECT clutch.tick()' ])
{
	my ($status, $out, $err) = $node->psql('postgres', $each->[1], connstr => $node->connstr('postgres') . ' user=stranger');
	like($err, qr/permission denied/, "a stranger does not $each->[0]");
}

# The worker ticks, and prunes, as the owner.
$node->safe_psql('postgres', q{SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:none}', run_id => 'run:late', task_id => 'task:late', deadline => '1 second'))},
	connstr => $node->connstr('postgres') . ' user=ops');
ok($node->poll_query_until('postgres', q{SELECT status = 'timed_out' FROM clutch.task WHERE task_id = 'task:late'}), 'the worker keeps deadlines');
$node->append_conf('postgresql.conf', "clutch.retention = '1 second'\n");
$node->reload;
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM clutch.task}), 'and prunes');

# The owner can dump what it owns, and is the owner of a copy that it restores as a superuser.
my $dir = PostgreSQL::Test::Utils::tempdir;
$node->command_ok([ 'pg_dump', '-n', 'clutch', '-e', 'clutch', '-f', "$dir/dump.sql", '-d', $node->connstr('postgres') . ' user=clutch_owner' ], 'the owner dumps the extension');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->safe_psql('postgres', 'ALTER ROLE clutch_owner SUPERUSER');
{
	local $ENV{PGOPTIONS} = '-c role=clutch_owner';
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('copy'), '-f', "$dir/dump.sql" ], 'which is restored in its name');
}
$node->safe_psql('postgres', 'ALTER ROLE clutch_owner NOSUPERUSER');
is($node->safe_psql('copy', q{SELECT extowner::regrole FROM pg_extension WHERE extname = 'clutch'}), 'clutch_owner', 'then it owns the copy');
is($node->safe_psql('copy', 'SELECT clutch.tick() IS NOT NULL, (SELECT count(*) FROM clutch.check())', connstr => $node->connstr('copy') . ' user=ops'), 't|0', 'and an operator goes on there');

# A consequence that fails at commit is put off, and the WARNING says what to do about this error.
my ($status, $out, $err) = $node->psql('copy', q{
	SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:zoe", "capabilities": [{"id": "skill:z"}]}');
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:zoe}', task_id => 'task:first', run_id => 'run:z', thread_id => 'thread:z'));
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', '{agent:zoe}', task_id => 'task:then', run_id => 'run:z', thread_id => 'thread:z', after => '{task:first}'));
	SELECT clutch.claim('agent:zoe');
	BEGIN;
	SELECT clutch.finish('agent:zoe', 'task:first');
	SET LOCAL session_replication_role = replica;
	COMMIT;
});
like($err, qr/consequence "dependent" for "task:then" is put off/, 'a consequence is put off');
like($err, qr/tried again by the next tick\. Reset session_replication_role/, 'for a reason that the WARNING explains');
$node->stop;
done_testing();
