# DROP EXTENSION leaves nothing, and a session that has used it goes on with
# the next one: nothing it remembers is of the old.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('drop', bare => 1);
my $session = session($node, 'postgres');

# everything that could be left behind
my $inventory = q{
	SELECT (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_proc), (SELECT count(*) FROM pg_type),
		(SELECT count(*) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp'), (SELECT count(*) FROM pg_trigger),
		(SELECT count(*) FROM pg_depend), (SELECT count(*) FROM pg_description), (SELECT count(*) FROM pg_init_privs),
		(SELECT count(*) FROM pg_default_acl), (SELECT count(*) FROM pg_event_trigger), (SELECT count(*) FROM pg_shdepend);
};
make_helpers($node, 'postgres');
my $before = $node->safe_psql('postgres', $inventory);

my $work = q{
	SELECT clutch.register(card('ken', 2)) IS NOT NULL;
	SELECT task_id FROM clutch.send(ask('task:1', id => 'msg_1'));
	SELECT duplicate FROM clutch.send(ask('task:1', id => 'msg_1'));
	SELECT task_id, attempt FROM clutch.claim('agent:ken');
	SELECT late FROM clutch.finish('agent:ken', 'task:1');
	SELECT late FROM clutch.cancel('task:1');
	SELECT clutch.send(ask('task:2')) IS NOT NULL, clutch.route(ask('task:3')) ->> 'selected';
	SELECT clutch.join_group('group:press', 'agent:ken');
	SELECT clutch.tick();
	SELECT clutch.rebuild() ->> 'tasks';
	SELECT count(*) FROM clutch.agents_meeting('{skill:x}');
	SELECT count(*), max(seq), max(epoch) FROM clutch.events;
	SELECT count(*) FROM clutch.check();
	SELECT task_id, status FROM clutch.task_tree('run:1');
};
my $first = '';

foreach my $round (1 .. 3)
{
	is(ask_session($session, 'CREATE EXTENSION clutch;'), '', "round $round: it is made");
	my $did = ask_session($session, $work);
	$did =~ s/task_\w+/task_/g;
	unlike($did, qr/ERROR/, "round $round: it works") or diag $did;
	$first = $did if $round == 1;
	is($did, $first, "round $round: and starts anew");
	is(ask_session($session, 'DROP EXTENSION clutch;'), '', "round $round: it is dropped, without CASCADE");
	is($node->safe_psql('postgres', $inventory), $before, "round $round: nothing is left");
	like(ask_session($session, q{SELECT clutch.send('{}');}), qr/schema "clutch" does not exist/, "round $round: not even the name");
}

# dropped by a transaction that has consequences for other tasks
is(ask_session($session, q{CREATE EXTENSION clutch; SELECT clutch.register(card('ken', 2)) \g /dev/null
	SELECT clutch.send(ask('task:1')), clutch.send(ask('task:2', parent => 'task:1')) \g /dev/null
	BEGIN; SELECT clutch.cancel('task:1') \g /dev/null
	DROP EXTENSION clutch; COMMIT;}), '', 'what a transaction has caused goes with the extension');
is($node->safe_psql('postgres', $inventory), $before, 'and nothing is left');

# dropped by another session meanwhile, and created again or not
ask_session($session, 'CREATE EXTENSION clutch;' . $work);
$node->safe_psql('postgres', 'DROP EXTENSION clutch; CREATE EXTENSION clutch');
my $did = ask_session($session, $work);
unlike($did, qr/ERROR/, 'another session made it anew: this one goes on') or diag $did;
is($did, $first, 'and starts anew');

# in a transaction that is rolled back
like(ask_session($session, q{BEGIN; DROP EXTENSION clutch; CREATE EXTENSION clutch;
	SELECT duplicate FROM clutch.send(ask('task:1', id => 'msg_1')); ROLLBACK;}), qr/^f$/m, 'made anew in a transaction');
like(ask_session($session, q{SELECT duplicate FROM clutch.send(ask('task:1', id => 'msg_1'));}), qr/^t$/m, 'rolled back, the old is back');
is(ask_session($session, 'SELECT code FROM clutch.check();'), '', 'and sound');

# a message is looked at once more when its transaction commits
my $message = q{SELECT seq > 0 FROM clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}'));};
like(ask_session($session, "BEGIN; $message DROP EXTENSION clutch; COMMIT; CREATE EXTENSION clutch;"), qr/^t\s*$/, 'dropped in the transaction that has sent a message');

# without the extension, a schema of that name belongs to the user
ask_session($session, 'DROP EXTENSION clutch;');
ask_session($session, 'CREATE SCHEMA clutch;');
like(ask_session($session, 'CREATE EXTENSION clutch;'), qr/schema "clutch" already exists/, 'a schema that is there is not taken over');

end_session($session);
$node->stop;
done_testing();
