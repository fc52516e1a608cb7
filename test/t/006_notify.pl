# Listening across sessions: a hint per transaction and channel, at commit and
# for what was committed, or none.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('notify');

$node->safe_psql('postgres', q{
	SELECT clutch.register(card('ken', 1)), clutch.register(card('lois', 1));
	SELECT clutch.join_group('group:press', 'agent:lois');
	CREATE FUNCTION chat(whom text, run text DEFAULT 'run:1', task text DEFAULT 'task:c', id text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
		SELECT clutch.envelope('chat.message', 'agent:ui', ARRAY[whom], run_id => run, thread_id => 'thread:' || run, task_id => task, id => chat.id) $$;
});

my %channel_of = map { $_->[0] => $node->safe_psql('postgres', "SELECT clutch.channel($_->[1])") } (
	[ all => "'all'" ], [ outbox => "'outbox'" ], [ ken => "'agent', 'agent:ken'" ], [ lois => "'agent', 'agent:lois'" ],
	[ run1 => "'run', 'run:1'" ], [ thread1 => "'thread', 'thread:run:1'" ], [ task1 => "'task', 'task:1'" ]);
is($channel_of{all}, 'clutch', 'the channel of all');
is($channel_of{outbox}, 'clutch_outbox', 'the channel of gateways');
is(scalar(keys %{ { reverse %channel_of } }), 7, 'every channel has its own name');
my %name_of = reverse %channel_of;

my $listener = session($node, 'postgres');
my $writer = session($node, 'postgres');
like(ask_session($listener, q{SELECT clutch.listen(), clutch.listen('agent', 'agent:ken'), clutch.listen('agent', 'agent:lois'),
	clutch.listen('outbox'), clutch.listen('run', 'run:1'), clutch.listen('thread', 'thread:run:1'), clutch.listen('task', 'task:1');}),
	qr/^clutch\|clutch_agent_[0-9a-f]{16}\|/, 'listen answers the name of the channel');

# What the listener hears of what the writer does, in words and sorted.
sub heard
{
	my ($sql) = @_;
	my $wrote = ask_session($writer, $sql);

	unlike($wrote, qr/ERROR/, 'written') or diag $wrote;
	my $text = ask_session($listener, 'SELECT 1;');
	my @names = map { /notification "([^"]+)"/ ? $name_of{$1} // $1 : () } split /\n/, $text;
	unlike($text, qr/with payload "(?!\{\}")/, 'a hint holds no data');
	return join ' ', sort @names;
}

is(heard(q{SELECT clutch.send(chat('agent:ken', 'run:2'));}), 'all ken', 'a message to an agent');
is(heard(q{SELECT clutch.send(chat('agent:olsen', 'run:1'));}), 'all run1 thread1', 'a message in a run and thread');
is(heard(q{SELECT clutch.send(chat('agent:olsen', 'run:2', 'task:1'));}), 'all task1', 'a message about a task');
is(heard(q{SELECT clutch.send(chat('group:press', 'run:2'));}), 'all lois', 'a message to a group reaches its members');
is(heard(q{SELECT clutch.send(chat('group:*', 'run:2'));}), 'all ken lois', 'a broadcast wakes all agents');
my %group = map { $_ => $node->safe_psql('postgres', "SELECT clutch.channel('agent', '$_')") } 'group:press', 'group:*';
$name_of{$group{$_}} = $_ foreach keys %group;
ask_session($listener, q{SELECT clutch.listen('agent', 'group:press'), clutch.listen('agent', 'group:*');});
is(heard(q{SELECT clutch.send(chat('group:press', 'run:2'));}), 'all group:press lois', 'a message to a group wakes who listens to the group');
is(heard(q{SELECT clutch.send(chat('group:*', 'run:2'));}), 'all group:* ken lois', 'and so does a broadcast');
ask_session($listener, qq{UNLISTEN "$_";}) foreach values %group;

is(heard(q{BEGIN; SELECT clutch.send(chat('agent:ken')) FROM generate_series(1, 50);
	SELECT clutch.send(chat('agent:ken')); COMMIT;}), 'all ken run1 thread1', 'one hint per transaction and channel');
is(heard(q{SELECT count(*) FROM clutch.send_batch(ARRAY[chat('agent:ken', 'run:2'), chat('agent:lois', 'run:2'), chat('agent:ken', 'run:2')]);}),
	'all ken lois', 'and per batch');
is(heard(q{SELECT clutch.send(chat('agent:ken', 'run:2'));}), 'all ken', 'and again for the next transaction');

is(heard(q{BEGIN; SELECT clutch.send(chat('agent:ken', 'run:2')); ROLLBACK;}), '', 'none of what was rolled back');
is(heard(q{BEGIN; SAVEPOINT s; SELECT clutch.send(chat('agent:ken', 'run:2')); ROLLBACK TO s;
	SELECT clutch.send(chat('agent:lois', 'run:2')); COMMIT;}), 'all lois', 'none of a savepoint that was rolled back');
is(heard(q{BEGIN; SAVEPOINT s; SELECT clutch.send(chat('agent:ken', 'run:2')); ROLLBACK TO s;
	SELECT clutch.send(chat('agent:ken', 'run:2')); COMMIT;}), 'all ken', 'but of what was sent again after it');
is(heard(q{BEGIN; SAVEPOINT s; SELECT clutch.send(chat('agent:ken', 'run:2')); RELEASE s;
	SELECT clutch.send(chat('agent:ken', 'run:2')); COMMIT;}), 'all ken', 'once when the savepoint stays');
is(heard(q{SELECT clutch.send(chat('agent:ken', 'run:2', id => 'msg_same'));}), 'all ken', 'a first sending');
is(heard(q{SELECT clutch.send(chat('agent:ken', 'run:2', id => 'msg_same'));}), '', 'a resend wakes nobody');

# the hash of this ID makes the channel of the thread have the number of ken's
my $thread = 'thread:00000XuD76mzBhMV';
is($node->safe_psql('postgres', "SELECT clutch.channel('thread', '$thread')") =~ s/thread/agent/r, $channel_of{ken}, 'channels of two kinds with the same number');
is(heard(qq{BEGIN; SELECT clutch.send(chat('agent:olsen', 'run:2') || '{"thread_id": "$thread"}'); SELECT clutch.send(chat('agent:ken', 'run:2')); COMMIT;}), 'all ken',
	'each of them is notified');

# the agent that gets a task is told, and so is its requester
my $given = heard(q{SELECT clutch.send(ask('task:1', run => 'run:9'));});
my $who = $node->safe_psql('postgres', q{SELECT substr(agent_id, 7) FROM clutch.tasks WHERE task_id = 'task:1'});
is($given, join(' ', sort('all', $who, 'task1')), 'a task wakes the agent it is given to');
is(heard(qq{SELECT count(*) FROM clutch.claim('agent:$who');}), 'all task1', 'a claim wakes who waits for the task');
$node->safe_psql('postgres', q{SELECT clutch.send(ask('task:other', run => 'run:9'))});
ask_session($listener, 'SELECT 1;');
is(heard(q{SELECT clutch.send(ask('task:2', run => 'run:9'));}), 'all ken lois', 'a task that waits wakes those who could have it');
$node->safe_psql('postgres', q{SELECT clutch.register(format('{"v": "clutch/0.1", "agent_id": "agent:gone%s", "capabilities": [{"id": "skill:gone"}]}', n)::jsonb) FROM generate_series(1, 25) n;
	SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:zoe", "capabilities": [{"id": "skill:zoe"}]}');
	SELECT clutch.set_status(agent_id, 'UNAVAILABLE') FROM clutch.agents WHERE agent_id ~ 'gone|zoe'});
$name_of{$node->safe_psql('postgres', q{SELECT clutch.channel('agent', 'agent:zoe')})} = 'zoe';
ask_session($listener, q{SELECT clutch.listen('agent', 'agent:zoe');});
is(heard(q{SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:zoe}', run_id => 'run:2', thread_id => 'thread:run:2', task_id => 'task:zoe'));}),
	'all zoe', 'also one that is away, however many others are, and none of these');

is(heard(q{SET clutch.notify = off; SELECT clutch.send(chat('agent:ken')); RESET clutch.notify;}), '', 'off: nobody is woken');
is(heard(q{SET clutch.notify_channels = 2; SELECT count(*) FROM generate_series(1, 100) n, clutch.send(chat('agent:a' || n, 'run:3'));
	RESET clutch.notify_channels;}), 'all', 'capped: those who listen to all are woken');

# calls of the outbox: a gateway is woken when one is due
heard(q{INSERT INTO clutch.endpoint (name, url, agents) VALUES ('shop', 'https://shop.example', '{agent:ui}');});
is(heard(q{BEGIN; SELECT clutch.post('shop', chat('agent:ken')); SELECT clutch.post('shop', chat('agent:ken')); COMMIT;}), 'outbox', 'a call wakes gateways, and nobody else');
is(heard(q{BEGIN; SELECT clutch.post('shop', chat('agent:ken')); ROLLBACK;}), '', 'but not one that was rolled back');
is(heard(q{SET clutch.notify = off; SELECT clutch.post('shop', chat('agent:ken')); RESET clutch.notify;}), '', 'nor if nobody is to be woken');
is(heard(q{SET clutch.notify_channels = 1; SELECT clutch.post('shop', chat('agent:ken')), clutch.send(chat('agent:ken', 'run:2')), clutch.send(chat('agent:lois', 'run:3')); RESET clutch.notify_channels;}),
	'all outbox', 'the limit of channels does not count theirs');
is(heard(q{BEGIN; UPDATE clutch.endpoint SET paused = true; UPDATE clutch.endpoint SET paused = false; COMMIT;}), 'outbox', 'an endpoint that goes on');
is(heard(q{SELECT clutch.outbox_done(c.id, c.attempt, 500) FROM clutch.outbox_claim(1) c;}), '', 'claims and reports wake nobody');
is(heard(q{SELECT clutch.outbox_retry(id) FROM clutch.outbox LIMIT 1;}), 'outbox', 'a call that is to be sent again');
$node->safe_psql('postgres', q{UPDATE clutch.endpoint SET filter = '{"type": "chat.message"}'});
ask_session($listener, 'SELECT 1;');
is(heard(q{SELECT clutch.send(chat('agent:olsen', 'run:3'));}), 'all outbox', 'an event that a webhook is sent');
$node->safe_psql('postgres', q{DELETE FROM clutch.endpoint});
ask_session($listener, 'SELECT 1;');

# there is a channel for every id, and its name is never too long
is($node->safe_psql('postgres', q{SELECT max(length(clutch.channel(kind, kind || ':' || repeat('x', 1000)))) <= 63 FROM unnest('{agent,thread,run,task}'::text[]) kind}), 't',
	'a long id makes no long name');
isnt($node->safe_psql('postgres', q{SELECT clutch.channel('run', 'run:1')}), $node->safe_psql('postgres', q{SELECT clutch.channel('task', 'run:1')}),
	'one id, two kinds, two channels');
foreach my $wrong (q{'nobody'}, q{'agent'}, q{'agent', ''}, q{'agent', 'ken'}, q{NULL})
{
	my (undef, undef, $error) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT clutch.listen($wrong);");
	like($error, qr/22023|22004/, "listen($wrong) is refused");
}

end_session($listener);
end_session($writer);
$node->stop;
done_testing();
