# P10: a dump holds log and state; a restore repeats nothing, routes nothing,
# announces nothing, and the leases of the copy are void.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('original');
my $copy = new_node('copy', bare => 1);
my $watched = new_node('watched', bare => 1, conf => "shared_preload_libraries = 'clutch'\n");
my $dir = PostgreSQL::Test::Utils::tempdir;

# ------------------------------------------------------------------ a history
# Everything in it: waiting, ready, running, over, late, keys, scopes, groups.
$node->safe_psql('postgres', q{
	SELECT clutch.register(card('ken', 3)), clutch.register(card('lois', 2));
	SELECT clutch.join_group('group:press', 'agent:lois');
	CREATE ROLE desk;
	SELECT clutch.grant_agent('desk', 'agent:ken');
	SELECT clutch.set_quota('desk', 'events_per_minute', 100), clutch.set_quota('PUBLIC', 'open_requests', 50);
	INSERT INTO clutch.open_work VALUES ('desk', 'open_requests', 'task:1', 1);
	INSERT INTO clutch.traffic VALUES ('desk', date_trunc('minute', now()), 1, 100);
	SELECT clutch.set_endpoint_secret('key', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
	INSERT INTO clutch.endpoint (name, url, agents, signing_secret, filter) VALUES ('hook', 'https://hook.example', '{*}', 'key', '{"type": "chat.message"}');
	SELECT clutch.post('hook', clutch.envelope('chat.message', 'agent:ui')) FROM generate_series(1, 3);
	SELECT clutch.outbox_done(id, attempt, 200) FROM clutch.outbox_claim(1);
	SELECT clutch.outbox_claim(1);
	SELECT count(*) FROM generate_series(1, 9) n, clutch.send(ask('task:' || n));
	SELECT clutch.send(ask('task:scoped', run => 'run:2') || '{"meta": {"clutch": {"scope": "group:press", "deadline": "2099-01-01T00:00:00Z"}}}');
	SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{group:press}', idempotency_key => 'k', payload => '{"t": "\u00e9\\n\\\\ \"q\" \t tab"}'));
	SELECT clutch.claim('agent:ken', 2), clutch.claim('agent:lois', 2);
	SELECT f.late FROM (SELECT agent_id, task_id FROM clutch.tasks WHERE status = 'running' ORDER BY task_id LIMIT 1) t,
		clutch.finish(t.agent_id, t.task_id, '{"found": 0.1}') f;
	SELECT late FROM clutch.cancel('task:9');
	SELECT late FROM clutch.cancel('task:9');
	SELECT clutch.tick();
});
share_out($node, 'postgres');
my $shared = shared_states($node, 'postgres');
like($shared, qr/^pending children, input_required .*completed .*assigned .*pending retry, suspended .*running /, 'a request is shared out, its children are in all states');
my $next = $node->safe_psql('postgres', 'SELECT last_value FROM clutch.event_seq');

# Every row of every table, where the sequences stand, the row-level policies, and the
# IDs that are derived from the secret, of which a restored database has a row of its
# own beside that of the dump.
sub content_of
{
	my ($server, $db) = @_;
	my @tables = split /\n/, $server->safe_psql($db,
		q{SELECT relname FROM pg_class WHERE relnamespace = 'clutch'::regnamespace AND relkind = 'r' AND relname <> 'secret' ORDER BY 1});
	my $content = '';

	foreach my $table (@tables)
	{
		# the schemas that the extension brings along are its own in each database
		my $which = $table eq 'payload_type' ? 'WHERE NOT builtin' : '';

		$content .= "$table\n" . $server->safe_psql($db, "SELECT t FROM clutch.$table t $which ORDER BY t::text") . "\n";
	}
	foreach my $sequence ('event_seq', 'queue_no')
	{
		$content .= "$sequence " . $server->safe_psql($db, "SELECT last_value, is_called FROM clutch.$sequence") . "\n";
	}
	$content .= $server->safe_psql($db, q{SELECT 'policy', c.relname, p.polname, c.relrowsecurity, pg_get_expr(p.polqual, c.oid)
		FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid WHERE c.relnamespace = 'clutch'::regnamespace ORDER BY 2, 3}) . "\n";
	$content .= $server->safe_psql($db, q{SELECT clutch.envelope('chat.message', 'agent:ui', idempotency_key => 'order 1') - 'ts'}) . "\n";
	return $content;
}

my $content = content_of($node, 'postgres');
like($content, qr/task:scoped/, 'there is something to dump');
like($content, qr/^policy\|task\|clutch_own\|t\|/m, 'row-level policies, too');

sub seen_by_desk
{
	my ($server, $db) = @_;
	return $server->safe_psql($db, q{SET ROLE desk; SELECT string_agg(task_id, ' ' ORDER BY task_id) FROM clutch.tasks});
}
my $seen = seen_by_desk($node, 'postgres');
like($seen, qr/^task:\d/, 'a role sees some of the tasks');
unlike($seen, qr/task:scoped/, 'and not those of other runs');

# --------------------------------------------------------------------- dumps
my $from = $node->connstr('postgres');
$node->command_ok([ 'pg_dump', '-f', "$dir/plain.sql", '-d', $from ], 'plain dump');
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/custom.dump", '-d', $from ], 'custom dump');
$node->command_ok([ 'pg_dump', '-Fd', '-j2', '-f', "$dir/folder", '-d', $from ], 'folder dump by two');
$node->command_ok([ 'pg_dump', '-a', '-f', "$dir/data.sql", '-d', $from ], 'data only');
$node->command_ok([ 'pg_dump', '-a', '--disable-triggers', '-f', "$dir/careless.sql", '-d', $from ], 'data only, triggers disabled');
$node->command_ok([ 'pg_dump', '--inserts', '-f', "$dir/inserts.sql", '-d', $from ], 'plain dump of INSERTs');
# CREATE EXTENSION makes them, so a dump that made them again could not be restored
unlike(slurp_file("$dir/plain.sql"), qr/CREATE POLICY|ROW LEVEL SECURITY/, 'a dump leaves the policies to the extension');
$node->safe_psql('postgres', q{CREATE ROLE keeper LOGIN; SELECT clutch.grant_reader('keeper')});
$node->command_fails_like([ 'pg_dump', '-U', 'keeper', '-f', "$dir/keeper.sql", '-d', $from ], qr/row-level security/,
	'a reader cannot dump what row-level security may hide from it');
$node->command_ok([ 'pg_dump', '-U', 'keeper', '--enable-row-security', '-f', "$dir/keeper.sql", '-d', $from ],
	'unless it says so');
my ($tasks) = slurp_file("$dir/keeper.sql") =~ /^COPY clutch\.task \(.*?\n(.*?)^\\\.$/ms;
is(() = $tasks =~ /^/mg, 17, 'and then it has all rows');
unlike(slurp_file("$dir/keeper.sql"), qr/whsec_/, 'but no secrets of endpoints');
$copy->safe_psql('postgres', 'CREATE ROLE desk; CREATE ROLE keeper');

# The dump is restored into a new database of another cluster, where a session listens.
sub restore
{
	my ($db, $name, @command) = @_;

	$copy->safe_psql('postgres', "CREATE DATABASE $db");
	if ($name =~ /data/)
	{
		$copy->safe_psql($db, 'CREATE EXTENSION clutch');
	}
	my $listener = session($copy, $db);

	ask_session($listener, 'LISTEN clutch;');
	$copy->command_ok([ map { s/DB/$copy->connstr($db)/er } @command ], "$name: restored without an error");
	my $heard = ask_session($listener, 'SELECT 1;');
	end_session($listener);
	unlike($heard, qr/notification/, "$name: nobody is notified");

	my $now = content_of($copy, $db);
	ok($now eq $content, "$name: every row of log and state is equal") or diag(differences($now));
	return;
}

sub differences
{
	my %old = map { $_ => 1 } split /\n/, $content;
	my %new = map { $_ => 1 } split /\n/, $_[0];
	return join "\n", (map { "- $_" } grep { !$new{$_} } sort keys %old), (map { "+ $_" } grep { !$old{$_} } sort keys %new);
}

restore('plain', 'plain', 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'DB', '-o', "$dir/out", '-f', "$dir/plain.sql");
restore('plain1', 'plain in one transaction', 'psql', '-X', '-q', '-1', '-v', 'ON_ERROR_STOP=1', '-d', 'DB', '-o', "$dir/out", '-f', "$dir/plain.sql");
restore('inserts', 'plain as INSERTs', 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'DB', '-o', "$dir/out", '-f', "$dir/inserts.sql");
restore('custom', 'custom', 'pg_restore', '-e', '-d', 'DB', "$dir/custom.dump");
restore('custom1', 'custom in one transaction', 'pg_restore', '-1', '-d', 'DB', "$dir/custom.dump");
restore('folder', 'folder by two', 'pg_restore', '-e', '-j2', '-d', 'DB', "$dir/folder");
restore('data', 'data only', 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'DB', '-o', "$dir/out", '-f', "$dir/data.sql");
restore('careless', 'data only, triggers disabled', 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'DB', '-o', "$dir/out", '-f', "$dir/careless.sql");

# of the data alone, privileges are no part
my $lacking = q{SELECT %s FROM clutch.check() WHERE code = 'ROLE_LACKS_PRIVILEGES'};
like($copy->safe_psql('data', sprintf($lacking, 'detail')), qr/: 1, for example desk$/, 'data only: roles without rights are reported');
$copy->safe_psql('data', $copy->safe_psql('data', sprintf($lacking, 'hint')));
foreach my $db (qw(plain plain1 inserts custom custom1 folder data))
{
	is_sound($copy, $db, $db);
	is(shared_states($copy, $db), $shared, "$db: the shared request and its children stand where they stood");
	is(seen_by_desk($copy, $db), $seen, "$db: a role sees the same tasks");
}
# from the dump of a reader
$copy->safe_psql('postgres', 'CREATE DATABASE kept');
$copy->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $copy->connstr('kept'), '-o', "$dir/out", '-f', "$dir/keeper.sql" ], "a reader's dump: restored without an error");
my $codes = q{SELECT string_agg(DISTINCT code, ' ' ORDER BY code) FROM clutch.check() WHERE code NOT IN ('TIMER_OVERDUE', 'OUTBOX_OVERDUE')};
like($copy->safe_psql('kept', $codes), qr/\bSECRET_NOT_RESTORED$/, 'check() reports that its secret is another one');
my $keyed = q{SELECT clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', idempotency_key => 'k') ->> 'id'};
isnt($copy->safe_psql('kept', $keyed), $node->safe_psql('postgres', $keyed), 'and it derives other IDs');
$copy->safe_psql('kept', sprintf(q{INSERT INTO clutch.secret VALUES ('%s', '%s')}, split /\|/, $node->safe_psql('postgres', 'TABLE clutch.secret')));
is($copy->safe_psql('kept', $keyed), $node->safe_psql('postgres', $keyed), 'with the secret of the original, it derives the same');
unlike($copy->safe_psql('kept', $codes), qr/SECRET/, 'and check() does not report it any more');

like($copy->safe_psql('careless', 'SELECT code, detail FROM clutch.check()'), qr/TRIGGER_NOT_ALWAYS/,
	'triggers that --disable-triggers left weakened are reported');
$copy->safe_psql('careless', $copy->safe_psql('careless', q{SELECT hint FROM clutch.check() WHERE code NOT IN ('TIMER_OVERDUE', 'OUTBOX_OVERDUE')}));
is_sound($copy, 'careless', 'its hints followed');
same_after_rebuild($copy, 'careless', 'careless');
is($copy->safe_psql('plain1', q{SELECT clutch.send(envelope) IS NOT NULL FROM clutch.events WHERE type = 'chat.message'}), 't',
	'a resend meets the restored event');
is($copy->safe_psql('plain1', q{SELECT count(*) FROM clutch.events WHERE type = 'chat.message'}), '1', 'and adds none');

# --------------------------------------------- where a worker ticks, too
# It comes with CREATE EXTENSION and leaves alone what is still being loaded,
# until a client works in the copy.
$watched->safe_psql('postgres', 'CREATE ROLE desk; CREATE ROLE keeper');
$watched->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(custom folder data);
$watched->safe_psql('data', 'CREATE EXTENSION clutch');
wait_for_worker($watched, 'data', 'a worker waits for the data');
$watched->command_ok([ 'pg_restore', '-e', '-d', $watched->connstr('custom'), "$dir/custom.dump" ], 'custom, beside a worker');
$watched->command_ok([ 'pg_restore', '-e', '-j2', '-d', $watched->connstr('folder'), "$dir/folder" ], 'folder by two, beside a worker');
$watched->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $watched->connstr('data'), '-o', "$dir/out", '-f', "$dir/data.sql" ],
	'data only, beside a worker');
foreach my $db (qw(custom folder data))
{
	wait_for_worker($watched, $db, "a worker in $db");
	my $now = content_of($watched, $db);
	ok($now eq $content, "$db, beside a worker: every row of log and state is equal") or diag(differences($now));
	$watched->safe_psql($db, q{SET clutch.clock = '2000-01-01T00:00:00Z';
		SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', task_id => 'task:new', requires => '{skill:none}', deadline => '1 s'))});
	ok($watched->poll_query_until($db, q{SELECT status = 'timed_out' FROM clutch.task WHERE task_id = 'task:new'}), "$db: then it ticks");
	is($watched->safe_psql($db, q{SELECT count(*) FROM clutch.task WHERE status = 'running'}), '0', "$db: in a new epoch");
}
$watched->safe_psql('postgres', 'CREATE DATABASE fresh');
$watched->safe_psql('fresh', 'CREATE EXTENSION clutch');
wait_for_worker($watched, 'fresh', 'a worker where nobody has written');
$watched->safe_psql('fresh', q{SET clutch.clock = '2000-01-01T00:00:00Z';
	SELECT clutch.schedule('first', '* * * * *', clutch.envelope('chat.message', 'agent:ui'))});
ok($watched->poll_query_until('fresh', 'SELECT runs > 0 FROM clutch.schedule'), 'the first to write may be a schedule');

# The same holds beside the original, in its own cluster and epoch.
$watched->safe_psql('fresh', q{SELECT clutch.schedule('yearly', '0 0 1 1 *', clutch.envelope('chat.message', 'agent:ui'))});
$watched->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/fresh.dump", '-d', $watched->connstr('fresh') ], 'dump of a database with a worker');
$watched->safe_psql('postgres', 'CREATE DATABASE twin');
$watched->command_ok([ 'pg_restore', '-e', '-d', $watched->connstr('twin'), "$dir/fresh.dump" ], 'restored beside the original');
wait_for_worker($watched, 'twin', 'a worker in the twin');
$watched->safe_psql('twin', q{UPDATE clutch.schedule SET next_at = '2000-01-01' WHERE name = 'yearly'});
my $reloaded = $watched->safe_psql('twin', 'SELECT now() FROM pg_reload_conf()');
ok($watched->poll_query_until('postgres', "SELECT state = 'idle' AND state_change > '$reloaded' FROM pg_stat_activity WHERE backend_type = 'clutch worker' AND datname = 'twin'"),
	'which looks at all that it has to do');
is($watched->safe_psql('twin', q{SELECT runs FROM clutch.schedule WHERE name = 'yearly'}), '0', 'and does nothing, since the restore may not be complete');
is($watched->safe_psql('twin', 'SELECT last_value, is_called FROM clutch.copy_begun'), '1|f', 'a dump does not say that its copy has begun');
$watched->safe_psql('twin', q{SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui'))});
ok($watched->poll_query_until('twin', q{SELECT runs = 1 FROM clutch.schedule WHERE name = 'yearly'}), 'until somebody sends something');
is($watched->safe_psql('twin', 'SELECT max(epoch) FROM clutch.events'), '1', 'in the same epoch');

# The first call begins the copy even if it is rolled back.
$watched->safe_psql('postgres', 'CREATE DATABASE triplet');
$watched->command_ok([ 'pg_restore', '-e', '-d', $watched->connstr('triplet'), "$dir/fresh.dump" ], 'restored once more');
wait_for_worker($watched, 'triplet', 'a worker in the triplet');
$watched->safe_psql('triplet', q{UPDATE clutch.schedule SET next_at = '2000-01-01' WHERE name = 'yearly';
	BEGIN; SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui')); ROLLBACK});
ok($watched->poll_query_until('triplet', q{SELECT runs = 1 FROM clutch.schedule WHERE name = 'yearly'}), 'the worker begins with a first call that is rolled back');
$watched->stop;

# ------------------------------------------------- the leases of the copy
# The first call finds them void; the log goes on in a new epoch.
my $running = $node->safe_psql('postgres', q{SELECT task_id, agent_id, attempt FROM clutch.tasks WHERE status = 'running' ORDER BY 1 LIMIT 1});
my ($task, $agent, $attempt) = split /\|/, $running;
my $still = "SELECT count(*) FROM clutch.tasks WHERE status = 'running' AND attempt = 1";

is($node->safe_psql('postgres', 'SELECT DISTINCT epoch FROM clutch.events'), '1', 'the original is the first epoch');

is($copy->safe_psql('plain', "SELECT late FROM clutch.finish('$agent', '$task', '{}', $attempt)"), 't',
	'a report of the original is late in the copy');
is($copy->safe_psql('plain', $still), '0', 'a report: no task runs on its old lease');

is($copy->safe_psql('custom', "SELECT state FROM clutch.extend_lease('$agent', '$task', $attempt)"), 'lost',
	'a lease of the original is lost in the copy');
is($copy->safe_psql('custom', $still), '0', 'an extension: no task runs on its old lease');

my $claimed = $copy->safe_psql('custom1', "SELECT string_agg(attempt || ' ' || reason, ',' ORDER BY attempt DESC) FROM clutch.claim('$agent', 9)");
like($claimed, qr/^2 moved/, 'a claim has what was running in the original');
is($copy->safe_psql('custom1', $still), '0', 'a claim: no task runs on its old lease');

my ($status, undef, $refusal) = $copy->psql('inserts', "SELECT clutch.release('$agent', '$task', $attempt)");
like($refusal, qr/does not hold attempt $attempt/, 'what the original held cannot be given back in the copy');

$copy->safe_psql('folder', 'SELECT clutch.tick()');
is($copy->safe_psql('folder', $still), '0', 'a tick: no task runs on its old lease');

is($copy->safe_psql('data', q{SELECT duplicate FROM clutch.send(clutch.envelope('chat.message', 'agent:ui'))}), 'f', 'a message is sent');
is($copy->safe_psql('data', $still), '0', 'a message: no task runs on its old lease');

foreach my $db (qw(plain custom custom1 folder data))
{
	is($copy->safe_psql($db, "SELECT min(epoch), max(epoch), min(seq) FROM clutch.events WHERE seq > $next"), '2|2|' . ($next + 1),
		"$db: the log goes on where it stood, in epoch 2");
	is_sound($copy, $db, "$db, at work");
	same_after_rebuild($copy, $db, "$db, at work");
}
answer_shared($copy, 'folder');
drain($copy, 'folder');
is($copy->safe_psql('folder', q{SELECT count(*) FROM clutch.tasks WHERE status IN ('pending', 'assigned', 'running') AND task_id <> 'task:scoped'}),
	'0', 'the copy finishes what was open');
is($copy->safe_psql('folder', q{SELECT t.status, jsonb_array_length(r.payload -> 'results'), r.payload #> '{results,1,payload}' FROM clutch.tasks t, clutch.result(t.task_id) r WHERE t.task_id = 'task:shared'}),
	'completed|6|{"text": "before"}', 'a shared request ends with the results of the original and of the copy');

$node->stop;
$copy->stop;
done_testing();
