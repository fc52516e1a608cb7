# Retention by the worker, beside a role that holds what it can; what dump and
# restore, readers and a crash make of a log that was pruned and redacted.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('retention', conf => "shared_preload_libraries = 'clutch'\nrestart_after_crash = on\n");
my $copy = new_node('archive', bare => 1);
wait_for_worker($node, 'postgres', 'the worker is there');

# ------------------------------------------------------------------ a history
$node->safe_psql('postgres', q{
	SELECT clutch.register(card('ken', 40));
	CREATE ROLE mallory LOGIN;
	SELECT clutch.grant_agent('mallory', 'agent:mallory');
	SELECT clutch.grant_reader('mallory');
	SELECT clutch.subscribe('all', '{}', 'beginning');
	SELECT clutch.send(ask('old' || n, 'agent:ken', run => 'run:old' || n)) FROM generate_series(1, 30) n;
	SELECT clutch.send(ask('held', 'agent:ken', run => 'run:held')), clutch.send(ask('open', 'agent:ken', run => 'run:open'));
	SELECT count(*) FROM clutch.claim('agent:ken', 40, '1 h');
	SELECT clutch.finish('agent:ken', task_id, '{"text": "secret"}', 1, usage => '{"input_tokens": 10, "cost": 0.5}') FROM clutch.tasks WHERE task_id <> 'open';
	-- which makes mallory take part in the run
	SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:mallory}', run_id => 'run:old1', thread_id => 't', task_id => 'old1'));
});
my $position = $node->safe_psql('postgres', 'SELECT clutch.position()');
is($node->safe_psql('postgres', q{SELECT count(*) FROM clutch.prune('infinity')}), '1', 'a call of prune');
is($node->safe_psql('postgres', 'SELECT count(*) FROM clutch.task'), '32', 'removes nothing that the subscription has not handled');
$node->safe_psql('postgres', q{SELECT clutch.commit('all', max(pos)) FROM clutch.read('all', 10000); SELECT count(*) FROM clutch.read('all')});

# --------------------------------------------------------- what mallory may do
my ($status, $out, $err);
foreach my $each (
	[ 'prune',   q{SELECT clutch.prune('infinity')} ],
	[ 'redact',  q{SELECT clutch.redact(1, 'x')} ],
	[ 'import',  q{SELECT clutch.import('{}')} ],
	[ 'set the retention of its session', q{SET clutch.retention = '1 s'} ],
	[ 'set clutch.prune_unread', q{SET clutch.prune_unread = on} ],
	[ 'delete from the log', q{DELETE FROM clutch.events} ],
	[ 'delete what is kept of costs', q{DELETE FROM clutch.spending_total} ])
{
	($status, $out, $err) = $node->psql('postgres', "SET SESSION AUTHORIZATION mallory; $each->[1]");
	like($err, qr/permission denied/, "a role that is not an operator cannot $each->[0]");
}
is($node->safe_psql('postgres', q{SET SESSION AUTHORIZATION mallory; SELECT count(*) > 2 FROM clutch.export('run:held')}), 't', 'a reader can export');

# It may keep transactions open: one that reports late on a task that is over,
# one with an old snapshot, one that has sent to an old run.
my @open = map { my $s = session($node, 'postgres'); ask_session($s, "SET client_min_messages = error; SET statement_timeout = '120s'; BEGIN ISOLATION LEVEL REPEATABLE READ;"); $s } 1 .. 3;
like(ask_session($open[0], q{SELECT late FROM clutch.finish('agent:ken', 'held', '{"again": 1}', 1);}), qr/^t$/, 'a late report stays open');
like(ask_session($open[1], q{SET ROLE mallory; SELECT count(*) FROM clutch.task;}), qr/^32$/, 'a snapshot stays open');
like(ask_session($open[2], q{SET ROLE mallory; SELECT duplicate FROM clutch.send(clutch.envelope('chat.message', 'agent:mallory', '{agent:ken}', run_id => 'run:old1', thread_id => 't', task_id => 'old1', id => 'msg_open'));}),
	qr/^f$/, 'a message to an old run stays open');

# ------------------------------------------------------------- the worker works
$node->append_conf('postgresql.conf', "clutch.retention = '1 second'\n");
$node->reload;
my $soon = sub { ok($node->poll_query_until('postgres', $_[1]), $_[0]); };
$soon->('the worker prunes what is over', q{SELECT count(*) = 2 FROM clutch.task});
is($node->safe_psql('postgres', q{SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.task}), 'held open', 'but not what is open, or held by a transaction');
like(ask_session($open[1], 'SELECT count(*) FROM clutch.task;'), qr/^32$/, 'an old snapshot still sees what it saw');
$node->safe_psql('postgres', q{SET statement_timeout = '60s'; SELECT clutch.send(ask('new', 'agent:ken', run => 'run:new'))});
is($node->safe_psql('postgres', q{SELECT count(*) FROM clutch.task WHERE task_id = 'new'}), '1', 'others go on');
unlike(ask_session($_, 'COMMIT;'), qr/ERROR/, 'one of them commits') foreach @open;
end_session($_) foreach @open;
is($node->safe_psql('postgres', q{SELECT count(*) FROM clutch.events WHERE id = 'msg_open'}), '1', 'a message that was sent to a run while it was pruned is there');
$node->safe_psql('postgres', q{SELECT clutch.commit('all', max(pos)) FROM clutch.read('all', 10000); SELECT count(*) FROM clutch.read('all')});
# its subscription has to read what the worker itself writes about
$soon->('what was held goes, too', q{SELECT count(*) = 0 FROM clutch.task WHERE task_id = 'held'});
$soon->('and the message, which is a conversation of its own', q{SELECT count(*) = 0 FROM clutch.events WHERE id = 'msg_open'});
is($node->safe_psql('postgres', q{SELECT tokens || ' ' || cost FROM clutch.costs WHERE run_id = 'run:held'}), '10 0.5', 'its cost is known');
is($node->safe_psql('postgres', q{SELECT count(DISTINCT run_id), sum(tokens), sum(cost) FROM clutch.costs}), '31|310|15.5', 'and so is that of all others');
is_sound($node, 'postgres', 'afterwards');
same_after_rebuild($node, 'postgres', 'afterwards');
is($node->safe_psql('postgres', "SELECT count(*) > 0 FROM clutch.read_from('$position', max_events => 10000)"), 't', 'a position from before leads on');

# Where much of what is old may not go, it examines that in parts, and does its other work in between.
$node->safe_psql('postgres', 'CREATE DATABASE parts');
$node->safe_psql('parts', q{CREATE EXTENSION clutch;
	INSERT INTO clutch.events (envelope) VALUES (clutch.envelope('task.request', 'agent:ui', run_id => 'run:long', task_id => 'task:long', requires => '{skill:x}'));
	INSERT INTO clutch.events (envelope) SELECT clutch.envelope('chat.message', 'agent:ui', run_id => 'run:long') FROM generate_series(1, 30000)});
my $read = q{SELECT t.idx_tup_fetch || ' ' || d.xact_commit FROM pg_stat_user_tables t, pg_stat_database d WHERE t.relid = 'clutch.events'::regclass AND d.datname = 'parts'};
my @before = split / /, $node->safe_psql('parts', "SELECT pg_sleep(2) \\g /dev/null\n$read");
my @after = split / /, $node->safe_psql('parts', "SELECT pg_sleep(5) \\g /dev/null\n$read");
cmp_ok($after[0] - $before[0], '>', 10000, 'it looks for what is old');
cmp_ok(($after[0] - $before[0]) / ($after[1] - $before[1]), '<', 6000, 'but not at all of it in one transaction');
is($node->safe_psql('parts', q{SELECT count(*) FROM clutch.events WHERE run_id = 'run:long' AND type = 'chat.message'}), '30000', 'a run that is not over stays');
$node->append_conf('postgresql.conf', "clutch.retention = off\n");
$node->reload;
$node->safe_psql('postgres', 'DROP DATABASE parts WITH (FORCE)');

($status, $out, $err) = $node->psql('postgres', q{SET clutch.retention = 'soon'});
like($err, qr/invalid value/, 'a retention that is no interval is refused');
($status, $out, $err) = $node->psql('postgres', q{SET clutch.retention = '90'});
like($err, qr/with its unit/, 'and so is one without a unit, which would be seconds');
($status, $out, $err) = $node->psql('postgres', q{SET clutch.retention = '-1 day'});
like($err, qr/invalid value/, 'and so is one in the future');
is($node->safe_psql('postgres', q{SET clutch.retention = '1 year 2 mons'; SHOW clutch.retention}), '1 year 2 mons', 'several units are not');

# the postmaster reads the file as well
my @texts = split /\n/, $node->safe_psql('postgres', q{SELECT name FROM pg_settings WHERE name LIKE 'clutch.%' AND vartype <> 'bool' ORDER BY name});
foreach my $typo ('90 dayz', '')
{
	my $seen = -s $node->logfile;
	$node->append_conf('postgresql.conf', join('', map { "$_ = '$typo'\n" } @texts));
	$node->reload;
	$node->wait_for_log(qr/invalid value for parameter "clutch.retention": "$typo"/, $seen);
	is($node->safe_psql('postgres', 'SHOW clutch.retention'), 'off', "the server outlives a typo: '$typo'");
}
$node->append_conf('postgresql.conf', "clutch.retention = off\n");

# ------------------------------------------------------------------- a crash
$node->safe_psql('postgres', q{SELECT clutch.finish('agent:ken', c.task_id, '{"text": "secret"}', c.attempt) FROM clutch.claim('agent:ken', 9) c});
my $crashed = session($node, 'postgres');
ask_session($crashed, q{BEGIN; SET clutch.prune_unread = on; SELECT clutch.prune('infinity');});
$node->stop('immediate');
$node->start;
$crashed->{run}->kill_kill;
is($node->safe_psql('postgres', q{SELECT count(*) FROM clutch.task WHERE task_id = 'new'}), '1', 'what was being pruned in a crash is still there');
is_sound($node, 'postgres', 'after the crash');

# ------------------------------------------------------------ dump and restore
$node->safe_psql('postgres', q{SELECT clutch.redact(seq, 'law') FROM clutch.events WHERE type = 'task.result' AND run_id = 'run:new'});
is($node->safe_psql('postgres', q{SELECT count(*) FROM clutch.events e WHERE e::text LIKE '%secret%'}), '0', 'a redacted log');
my $dir = PostgreSQL::Test::Utils::tempdir;
$copy->safe_psql('postgres', 'CREATE ROLE mallory');
$node->command_ok([ 'pg_dump', '-f', "$dir/dump.sql", '-d', $node->connstr('postgres') ], 'is dumped');
$copy->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $copy->connstr('postgres'), '-f', "$dir/dump.sql" ], 'and restored');
ok(state_of($copy, 'postgres') eq state_of($node, 'postgres'), 'with the same state');
is($copy->safe_psql('postgres', 'SELECT count(*), sum(tokens) FROM clutch.spending_total'), $node->safe_psql('postgres', 'SELECT count(*), sum(tokens) FROM clutch.spending_total'), 'and the same totals');
same_after_rebuild($copy, 'postgres', 'restored');
is_sound($copy, 'postgres', 'restored');
is($copy->safe_psql('postgres', q{SELECT count(*) FROM clutch.prune('infinity')}), '1', 'the copy can be pruned, too');

# ------------------------------------------- export and import between servers
$node->safe_psql('postgres', q{COPY (SELECT clutch.export('run:new')) TO STDOUT}, on_error_stop => 1);
append_to_file("$dir/run.jsonl", $node->safe_psql('postgres', q{SELECT clutch.export('run:new')}) . "\n");
$copy->safe_psql('postgres', q{CREATE DATABASE other});
$copy->safe_psql('other', 'CREATE EXTENSION clutch');
$copy->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $copy->connstr('other'), '-c', 'CREATE TABLE l (no serial, line text)',
	'-c', "\\copy l(line) FROM '$dir/run.jsonl' WITH (FORMAT csv, QUOTE e'\\x01', DELIMITER e'\\x02')", '-c', 'SELECT clutch.import(array_agg(line ORDER BY no)) FROM l' ],
	'a run goes to another server by way of a file');
is($copy->safe_psql('other', q{SELECT status, payload ? 'redacted' FROM clutch.result('new')}), 'completed|t', 'where its result is known');

$node->stop;
$copy->stop;
done_testing();
