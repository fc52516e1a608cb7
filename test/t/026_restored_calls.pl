# P10: the calls of a dump.  A restore writes no call and no event, whatever order the tables
# are loaded in; a gateway that is the first to call in the copy is not handed calls whose
# answers would come too late.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('original');
my $copy = new_node('copy', bare => 1);
my $dir = PostgreSQL::Test::Utils::tempdir;

sub sql { my ($sql, $db) = @_; return defined $db ? $copy->safe_psql($db, $sql) : $node->safe_psql('postgres', $sql); }

# -------------------------------------------------------------- the original
# One call is with a gateway, one waits, one has been answered.
sql(q{SELECT clutch.register(card(name, 9)) FROM unnest('{far,back,held}'::text[]) AS name;
	INSERT INTO clutch.endpoint (name, url, serves) VALUES ('far', 'https://far.example', 'agent:far');
	INSERT INTO clutch.endpoint (name, url, agents) VALUES ('hook', 'https://hook.example', '{*}')});
sql(qq{SELECT clutch.send(ask('task:$_', 'agent:far'))}) foreach qw(answered claimed waits);
sql(q{SELECT clutch.outbox_done(id, attempt, 200, response => '{"n": 1}') FROM clutch.outbox_claim(1);
	SELECT clutch.outbox_claim(1, '1 s');
	SELECT clutch.post('hook', clutch.envelope('chat.message', 'agent:ui', id => 'msg_post'))});
# An agent that has work is paused before it gets an endpoint, so no call is written.
sql(q{SELECT clutch.send(ask('task:held', 'agent:held'));
	SELECT clutch.pause('agent:held');
	INSERT INTO clutch.endpoint (name, url, serves) VALUES ('held', 'https://held.example', 'agent:held')});
# An agent is declared lost while the transaction that gives it an endpoint is open.  The next
# tick makes it available again.
sql(q{SELECT clutch.heartbeat('agent:back')});
my $operator = session($node, 'postgres');
ask_session($operator, q{BEGIN; INSERT INTO clutch.endpoint (name, url, serves) VALUES ('back', 'https://back.example', 'agent:back');});
sql(q{SELECT set_config('clutch.clock', to_char(now() + interval '5 minutes', 'YYYY-MM-DD"T"HH24:MI:SSOF":00"'), false); SELECT clutch.tick()});
ask_session($operator, 'COMMIT;');
end_session($operator);
is(sql(q{SELECT a.status || ' ' || r.lost FROM clutch.agents a JOIN clutch.agent_registry r USING (agent_id) WHERE agent_id = 'agent:back'}),
	'UNAVAILABLE true', 'an agent behind an endpoint counts as lost until the next tick');

sub stands
{
	my ($db) = @_;
	return sql(q{SELECT string_agg(concat_ws(' ', task_id, status, agent_id, attempt), ', ' ORDER BY task_id) FROM clutch.task}, $db) . "\n"
		. sql(q{SELECT string_agg(concat_ws(' ', id, state, attempt, task_attempt, due_at), ', ' ORDER BY no) FROM clutch.outbox}, $db) . "\n"
		. sql(q{SELECT string_agg(concat_ws(' ', agent_id, status), ', ' ORDER BY agent_id) FROM clutch.agents}, $db) . "\n"
		. sql(q{SELECT count(*) || ' ' || max(seq) FROM clutch.events}, $db);
}
my $stood = stands();
like($stood, qr/task:claimed running agent:far 1, task:held assigned agent:held 1, task:waits running/, 'there is work in all states');

# ---------------------------------------------------------------- the restore
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/custom.dump", '-d', $node->connstr('postgres') ], 'a dump');
my ($list) = run_command([ 'pg_restore', '-l', "$dir/custom.dump" ]);
my @lines = split /\n/, $list;
# with several jobs, the tables are loaded in any order
my @late = map { my $table = $_; grep { /TABLE DATA clutch $table / } @lines } qw(endpoint pause epoch);
is(scalar(@late), 3, 'the tables to be loaded last are in the dump');
my %is_late = map { $_ => 1 } @late;
append_to_file("$dir/late.list", join("\n", (grep { !$is_late{$_} } @lines), @late) . "\n");
foreach my $how ([ 'as_dumped' ], [ 'endpoints_last', '-L', "$dir/late.list" ])
{
	my ($db, @options) = @$how;

	$copy->safe_psql('postgres', "CREATE DATABASE $db");
	$copy->command_ok([ 'pg_restore', '-e', @options, '-d', $copy->connstr($db), "$dir/custom.dump" ], "$db: restored without an error");
	is(stands($db), $stood, "$db: nothing has moved");
}

# ------------------------------------------------- a gateway is the first to call
# A call is not taken from the gateway that has it before its lease ends.
ok($copy->poll_query_until('as_dumped', q{SELECT due_at <= clock_timestamp() FROM clutch.outbox WHERE task_id = 'task:claimed'}),
	'the lease of the call that is with a gateway ends');
my $claim = q{SELECT string_agg(concat_ws(' ', coalesce(o.task_id, o.kind), o.task_attempt), ', ' ORDER BY o.no) FROM clutch.outbox_claim(9, '1 h') c JOIN clutch.outbox o USING (id) WHERE o.kind = 'task'};
is(sql($claim, 'as_dumped'), '', 'it is handed no call of an attempt that the original may still be waiting for');
is(sql($claim, 'as_dumped'), 'task:claimed 2, task:waits 2', 'but those of the attempts that replace them');
is(sql(q{SELECT string_agg(clutch.outbox_done(id, attempt, 200, response => '{"n": 2}'), ' ') FROM clutch.outbox WHERE task_attempt = 2}, 'as_dumped'),
	'sent sent', 'whose answers are taken');
is(sql(q{SELECT string_agg(task_id || ' ' || status || ' ' || attempt, ', ' ORDER BY task_id) FROM clutch.tasks WHERE agent_id = 'agent:far'}, 'as_dumped'),
	'task:answered completed 1, task:claimed completed 2, task:waits completed 2', 'and end the tasks');
is(sql(q{SELECT count(*) FROM clutch.outbox WHERE task_id IN ('task:claimed', 'task:waits') AND task_attempt = 1 AND state <> 'void'}, 'as_dumped'),
	'0', 'the calls of the first attempts are void');

# After the first call, what has an endpoint is taken up as in any database.
sql('SELECT clutch.tick()', 'endpoints_last');
is(sql(q{SELECT status FROM clutch.agents WHERE agent_id = 'agent:back'}, 'endpoints_last'), 'READY', 'a tick makes the agent available again');
is(sql(q{SELECT count(*) FROM clutch.outbox WHERE task_id = 'task:held'}, 'endpoints_last'), '0', 'the agent that is paused is not called');
sql(q{SELECT clutch.resume('agent:held'); SELECT clutch.tick()}, 'endpoints_last');
is(sql(q{SELECT count(*) FROM clutch.outbox WHERE task_id = 'task:held'}, 'endpoints_last'), '1', 'before it is resumed');
is_sound($copy, $_, $_) foreach qw(as_dumped endpoints_last);

$node->stop;
$copy->stop;
done_testing();
