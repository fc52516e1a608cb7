# P12: what a call cannot handle does not keep the calls of other sessions from
# the rest, although each of them is the first of its session.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use Test::More;

my $node = new_node('short', conf => "clutch.notify = off\nclutch.artifact_grace = 0\nclutch.tick_batch = 5\n");

sub sql { return $node->safe_psql('postgres', "SET client_min_messages = error; $_[0]"); }

# Calls in a session of its own until the query returns true, but not for ever.
sub until_true
{
	my ($call, $query, $name) = @_;
	for (1 .. 500)
	{
		return pass($name) if sql($query) eq 't';
		sql($call);
	}
	fail($name);
}

# ---------------------------------------------------------------------- prune
# Users' rows refer to the first 30 runs.
sql(q{SELECT count(clutch.send(clutch.envelope('chat.message', 'agent:ui', id => 'msg_' || n, run_id => 'run:' || n, thread_id => 'thread:1', task_id => 'task:1')))
		FROM generate_series(1, 40) n;
	CREATE TABLE note (event_id text, run_id text, FOREIGN KEY (event_id, run_id) REFERENCES clutch.events);
	INSERT INTO note SELECT 'msg_' || n, 'run:' || n FROM generate_series(1, 30) n});
until_true(q{SELECT clutch.prune('infinity', 5)}, q{SELECT NOT EXISTS (SELECT FROM clutch.events WHERE run_id IN (SELECT 'run:' || n FROM generate_series(31, 40) n))},
	'runs behind those to which users refer are pruned');
is(sql(q{SELECT count(*) FROM clutch.events WHERE run_id ~ '^run:\d'}), '30', 'and the others are not');

# ------------------------------------------------------------------ artifacts
sql(q{DO $$ BEGIN FOR n IN 1..30 LOOP
		PERFORM clutch.send(clutch.envelope('chat.message', 'agent:ui', attachments =>
			jsonb_build_array(jsonb_build_object('kind', 'file', 'ref', clutch.put_artifact(n::text::bytea, 'text/plain')))));
		COMMIT;
	END LOOP; END $$;
	SELECT count(clutch.put_artifact(('unused' || n)::bytea, 'text/plain')) FROM generate_series(1, 12) n});
until_true('SELECT clutch.tick()', 'SELECT NOT EXISTS (SELECT FROM clutch.artifact a WHERE NOT EXISTS (SELECT FROM clutch.artifact_use u WHERE u.digest = a.digest))',
	'artifacts behind those that are used are removed');
is(sql('SELECT count(*) FROM clutch.artifact'), '30', 'and the others are not');

# ----------------------------------------------------- postponed consequences
# An open transaction has the children of one task; the child of another one is free.
sql(q{SELECT clutch.register(card('ken', 99));
	SELECT clutch.send(ask('task:' || parent, 'agent:ken', run => 'run:' || parent)) FROM unnest('{many,one}'::text[]) parent;
	SELECT count(clutch.send(ask('task:many' || n, 'agent:ken', parent => 'task:many', run => 'run:many'))) FROM generate_series(1, 30) n;
	SELECT clutch.send(ask('task:one1', 'agent:ken', parent => 'task:one', run => 'run:one'));
	SELECT count(*) FROM clutch.claim('agent:ken', 99)});
my @open = (session($node, 'postgres'), session($node, 'postgres'));
ask_session($open[0], q{BEGIN; SELECT count(clutch.progress('agent:ken', 'task:many' || n, '{}')) FROM generate_series(1, 30) n;});
ask_session($open[1], q{BEGIN; SELECT count(clutch.progress('agent:ken', 'task:one1', '{}'));});
sql(q{SELECT clutch.cancel('task:many')});
sql(q{SELECT clutch.cancel('task:one')});
is(sql('SELECT count(*) FROM clutch.consequence'), '31', 'cancellations that could not be handled');
ask_session($open[1], 'COMMIT;');
until_true('SELECT clutch.tick()', q{SELECT status = 'cancelled' FROM clutch.task WHERE task_id = 'task:one1'},
	'one behind those that must wait is handled');
is(sql(q{SELECT count(*) FROM clutch.task WHERE task_id ~ 'many\d' AND status = 'running'}), '30', 'and the others are not');
ask_session($open[0], 'COMMIT;');
end_session($_) foreach @open;
until_true('SELECT clutch.tick()', 'SELECT NOT EXISTS (SELECT FROM clutch.consequence)', 'until they can be');

done_testing();
