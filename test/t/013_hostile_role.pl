# A role that keeps ten transactions open, each of which has done something to
# the tasks of others: the worker and the agents whose tasks they are go on and
# finish.  What was put off meanwhile happens when those transactions commit.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('hostile', conf => "shared_preload_libraries = 'clutch'\nclutch.tick_interval = 1s\nclutch.heartbeat_interval = 0\nclutch.breaker_failures = 0\n");
wait_for_worker($node, 'postgres', 'the worker is there');

# --------------------------------------------------------------------- before
$node->safe_psql('postgres', q{
	SELECT clutch.register(card('victim', 40));
	CREATE ROLE mallory LOGIN;
	SELECT clutch.grant_agent('mallory', 'agent:mallory', '{skill:x}');
	SELECT clutch.grant_reader('mallory');
	SELECT clutch.register(card('mallory', 40));
	-- v1 waits for its children; v2 and v3 will be cancelled, w1 and w2 finished
	SELECT clutch.send(jsonb_set(ask('v1', 'agent:victim'), '{meta}', '{"clutch": {"join": "all"}}'));
	SELECT clutch.send(ask(t, 'agent:victim')) FROM unnest('{v2,v3,w1,w2}'::text[]) t;
	SELECT count(*) FROM clutch.claim('agent:victim', 40, '1 h');
	SELECT clutch.send(ask('v1 own', 'agent:victim', 'v1'));
	SELECT count(*) FROM clutch.claim('agent:victim', 40, '1 h');
	CREATE ROLE clerk;
	SELECT clutch.grant_agent('clerk', 'agent:clerk');
	SET SESSION AUTHORIZATION clerk;
	SELECT clutch.schedule('note', '0 0 1 1 *', clutch.envelope('chat.message', 'agent:clerk', '{agent:victim}', run_id => 'run:note', thread_id => 'thread:1', task_id => 'task:talk'));
	RESET SESSION AUTHORIZATION;
	SELECT clutch.schedule('other', '0 0 1 1 *', clutch.envelope('chat.message', 'agent:ui', '{agent:victim}', run_id => 'run:other', thread_id => 'thread:1', task_id => 'task:talk'));
	-- whoever is addressed takes part in the run
	SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:mallory}', run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:talk'));
	SELECT clutch.send(jsonb_set(ask('due', 'agent:nobody'), '{meta}', '{"clutch": {"deadline": "2099-01-01T00:00:00Z"}}'));
});

# what the hostile role has requested and committed
sub as_mallory
{
	my ($task, $whom, $parent, $orders) = @_;
	return sprintf(q{SELECT 1 FROM clutch.send(clutch.envelope('task.request', 'agent:mallory', '{%s}', run_id => 'run:1', thread_id => 'thread:1', task_id => '%s',
		parent_task_id => %s, requires => '{skill:x}', meta => '{"clutch": %s}'));}, $whom, $task, $parent ? "'$parent'" : 'NULL', $orders // '{}');
}

sub cancel_of
{
	my ($task) = @_;
	return "SELECT 1 FROM clutch.send(clutch.envelope('task.cancel', 'agent:mallory', run_id => 'run:1', thread_id => 'thread:1', task_id => '$task'));";
}
$node->safe_psql('postgres', join("\n", "SET SESSION AUTHORIZATION mallory;",
	as_mallory('m1', 'agent:mallory', 'v1'), as_mallory('m2', 'agent:mallory', 'v2'), as_mallory('m3', 'agent:mallory'),
	"SELECT count(*) FROM clutch.claim('agent:mallory', 40, '1 s');",
	as_mallory('mx', 'agent:mallory', undef, '{"after": ["due"]}'), as_mallory('my', 'agent:mallory', undef, '{"after": ["w2"]}')));

# ------------------------------------------------------- ten open transactions
my @hostile = (
	[ 'the first event of a run in which a schedule will send', "SELECT 1 FROM clutch.send(clutch.envelope('chat.message', 'agent:mallory', run_id => 'run:note'));" ],
	[ 'a cancel of what comes after a task whose deadline passes', cancel_of('mx') ],
	[ 'the end of a child that a parent waits for', "SELECT 1 FROM clutch.finish('agent:mallory', 'm1', '{}', 1);" ],
	[ 'a progress of a child of a task that will be cancelled', "SELECT 1 FROM clutch.progress('agent:mallory', 'm2', '{}', 1);" ],
	[ 'a new child of a task that will be cancelled', as_mallory('m4', 'agent:mallory', 'v3') ],
	[ 'a new task after one that will be finished', as_mallory('m5', 'agent:mallory', undef, '{"after": ["w1"]}') ],
	[ 'a cancel of what comes after a task that will be finished', cancel_of('my') ],
	[ 'a report on a task whose lease expires', "SELECT 1 FROM clutch.progress('agent:mallory', 'm3', '{}', 1);" ],
	[ 'a claim that finds nothing', "SELECT 1 + count(*) FROM clutch.claim('agent:mallory');" ],
	[ 'a tick', "SELECT 1 FROM clutch.tick();" ]);
my @open;
foreach my $each (@hostile)
{
	my $session = session($node, 'postgres');
	ask_session($session, "SET client_min_messages = error; SET SESSION AUTHORIZATION mallory; SET statement_timeout = '120s'; BEGIN;");
	like(ask_session($session, $each->[1]), qr/^1$/, "left open: $each->[0]");
	push @open, $session;
}

# --------------------------------------------------------------- the victims
# who had to wait for one of them would wait for ever
my $went = sub {
	my ($name, $sql) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "SET statement_timeout = '60s'; $sql");
	is($status, 0, "meanwhile: $name") or diag $err;
};
$went->('a parent extends its lease', "SELECT clutch.extend_lease('agent:victim', 'v1', 1, '1 h')");
$went->('and reports progress', "SELECT clutch.progress('agent:victim', 'v1', '{}', 1)");
$went->('another child of it ends', "SELECT clutch.finish('agent:victim', 'v1 own', '{}', 1)");
$went->('and so does the parent', "SELECT clutch.finish('agent:victim', 'v1', '{}', 1)");
$went->('a task whose child reports is cancelled', "SELECT clutch.cancel('v2')");
$went->('so is one below which a child is being requested', "SELECT clutch.cancel('v3')");
$went->('a task ends for which others begin to wait', "SELECT clutch.finish('agent:victim', 'w1', '{}', 1)");
$went->('so does one whose dependent is being cancelled', "SELECT clutch.finish('agent:victim', 'w2', '{}', 1)");
$went->('requests are routed, claimed and finished', q{DO $$ BEGIN
	FOR i IN 1 .. 20 LOOP
		PERFORM clutch.send(ask('trip ' || i, 'agent:victim', run => 'run:trips'));
		COMMIT;
		PERFORM clutch.finish('agent:victim', c.task_id, '{}', c.attempt) FROM clutch.claim('agent:victim', 9) c;
		COMMIT;
	END LOOP;
END $$});
is($node->safe_psql('postgres', q{SELECT string_agg(task_id || ' ' || status, ', ' ORDER BY task_id) FROM clutch.task WHERE task_id ~ '^[vw]'}),
	'v1 completed, v1 own completed, v2 cancelled, v3 cancelled, w1 completed, w2 completed', 'each has its end');
is($node->safe_psql('postgres', q{SELECT count(*) FROM clutch.task WHERE task_id ~ '^trip' AND status = 'completed'}), '20', 'and so has each trip');

# --------------------------------------------------------------- the worker
$node->safe_psql('postgres', q{
	SELECT clutch.send(ask('leased', 'agent:victim'));
	SELECT count(*) FROM clutch.claim('agent:victim', 9, '10 milliseconds');
	SET clutch.clock = '2000-01-01T00:00:00Z';
	SELECT clutch.send(jsonb_set(ask('late', 'agent:nobody'), '{meta}', '{"clutch": {"deadline": "2000-01-01T00:01:00Z"}}'));
	RESET clutch.clock;
	WITH moment AS (SELECT now() AS due),
		task AS (UPDATE clutch.task SET deadline = due, next_at = due FROM moment WHERE task_id = 'due')
	UPDATE clutch.timer t SET due = moment.due FROM moment WHERE task_id = 'due';
	UPDATE clutch.schedule SET next_at = CASE name WHEN 'note' THEN '2026-01-01T00:00:00Z' ELSE now() END;
	SELECT clutch.schedule('wakes it', '* * * * *', clutch.envelope('chat.message', 'agent:ui', '{agent:victim}'));
});
my $soon = sub { ok($node->poll_query_until('postgres', $_[1]), $_[0]); };
$soon->('the worker moves a task whose lease expired', q{SELECT attempt > 1 FROM clutch.task WHERE task_id = 'leased'});
$soon->('and ends one whose deadline passed', q{SELECT status = 'timed_out' FROM clutch.task WHERE task_id = 'late'});
$soon->('also one for which others wait', q{SELECT status = 'timed_out' FROM clutch.task WHERE task_id = 'due'});
$soon->('it sends what else is scheduled', q{SELECT count(*) = 1 FROM clutch.events WHERE run_id = 'run:other'});

# ------------------------------------------------------------- and afterwards
unlike(ask_session($_, 'COMMIT;'), qr/ERROR/, 'one of them commits') foreach @open;
end_session($_) foreach @open;
$soon->('a child that had reported is cancelled with its parent', q{SELECT status = 'cancelled' FROM clutch.task WHERE task_id = 'm2'});
$soon->('so is one that was being requested', q{SELECT status = 'cancelled' FROM clutch.task WHERE task_id = 'm4'});
$soon->('a task that was being requested after another starts', q{SELECT status IN ('assigned', 'running') FROM clutch.task WHERE task_id = 'm5'});
is($node->safe_psql('postgres', q{SELECT string_agg(task_id || ' ' || status, ', ' ORDER BY task_id) FROM clutch.task WHERE task_id IN ('m1', 'mx', 'my')}),
	'm1 completed, mx cancelled, my cancelled', 'what was cancelled or had ended stays so');
$soon->('a schedule whose run was taken goes on', q{SELECT next_at > now() FROM clutch.schedule WHERE name = 'note'});
$soon->('nothing is left to do', q{SELECT count(*) = 0 FROM clutch.consequence});
is_sound($node, 'postgres', 'afterwards');
$node->stop;
done_testing();
