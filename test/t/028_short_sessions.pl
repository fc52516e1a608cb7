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

# ------------------------------------------------------ what a trigger refuses
# It refuses the first of each: a decision, an acceptance, the loss of an agent, and more notices than a tick sends.
sql(q{CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not %', NEW.task_id; END $$;
	CREATE TRIGGER refuse AFTER INSERT ON clutch.events FOR EACH ROW
		WHEN (NEW.type = 'chat.system' AND NEW.task_id ~ 'mute' OR NEW.type = 'routing.decision' AND NEW.task_id = 'task:wait1' OR
			NEW.type = 'task.accept' AND NEW.task_id = 'task:get1' OR NEW.type = 'agent.heartbeat' AND NEW.envelope::text ~ 'agent:still1') EXECUTE FUNCTION refuse();
	SELECT count(clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', run_id => 'run:ask', thread_id => 'thread:1',
		task_id => CASE WHEN n > 12 THEN 'task:heard' ELSE 'task:mute' END || n, meta => '{"clutch": {"ttl_ms": 1}}'))) FROM generate_series(1, 14) n;
	SELECT count(clutch.send(ask('task:get' || n, 'agent:ken', run => 'run:get'))) FROM generate_series(1, 2) n;
	SELECT count(clutch.send(clutch.envelope('task.request', 'agent:ui', requires => '{skill:w}', run_id => 'run:wait', thread_id => 'thread:1',
		task_id => 'task:wait' || n))) FROM generate_series(1, 2) n;
	SELECT clutch.set_status('agent:ken', 'READY');
	SELECT count(clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:still' || n, 'capabilities', '[{"id": "skill:still"}]'::jsonb,
		'limits', '{"heartbeat_sec": 1}'::jsonb))) FROM generate_series(1, 2) n;
	SET clutch.tick_batch = 1;
	SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:wim', 'capabilities', '[{"id": "skill:w"}]'::jsonb,
		'limits', '{"max_concurrency": 9}'::jsonb))});
# a first claim does not pass over tasks because of its own transaction
like(($node->psql('postgres', "BEGIN; SET $_; SELECT clutch.claim('agent:ken', 9)"))[2], qr/ERROR:  (cannot change the state|the envelope was not admitted)/, "no claim with $_")
	foreach 'transaction_read_only = on', 'session_replication_role = replica';
is(sql(q{SELECT string_agg(task_id, ' ') FROM clutch.claim('agent:ken', 9)}), 'task:get2', 'the first claim of a session passes over what is refused');
until_true('SELECT clutch.tick()', q{SELECT count(*) = 1 FROM clutch.tasks WHERE run_id = 'run:wait' AND status = 'assigned'}, 'the other waiting task is given out');
until_true('SELECT clutch.tick()', q{SELECT count(*) = 2 FROM clutch.events WHERE type = 'chat.system' AND task_id ~ 'heard'}, 'the other senders are told');
until_true('SELECT clutch.tick()', q{SELECT status = 'UNAVAILABLE' FROM clutch.agents WHERE agent_id = 'agent:still2'}, 'the other agent is declared lost');

done_testing();
