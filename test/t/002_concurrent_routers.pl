# P5: 32 concurrent routers over 20 agents of limit 3, with claims, finishes,
# failures, releases and transactions that roll back: nobody ever has 4.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('routers');

$node->safe_psql('postgres', q{
	SELECT count(*) FROM generate_series(1, 20) n, clutch.register(card('a' || n, 3));
	CREATE TABLE sample (most_slots integer, most_tasks integer, agents integer);

	-- one statement, one snapshot: by slots and by tasks
	CREATE FUNCTION watch() RETURNS void LANGUAGE sql AS $$
		INSERT INTO sample
		SELECT max(a.running), max(t.n), count(*)
		FROM clutch.agents a
		LEFT JOIN (SELECT agent_id, count(*) AS n FROM clutch.tasks
				   WHERE status IN ('assigned', 'running') GROUP BY agent_id) t USING (agent_id) $$;

	CREATE FUNCTION work(n integer, roll double precision) RETURNS integer LANGUAGE plpgsql AS $$
	DECLARE
		c record;
		agent text := 'agent:a' || n;
		done integer := 0;
	BEGIN
		FOR c IN SELECT task_id, attempt FROM clutch.claim(agent, 3) LOOP
			done := done + 1;
			IF roll < 0.1 THEN
				PERFORM clutch.release(agent, c.task_id, c.attempt);
			ELSIF roll < 0.2 THEN
				PERFORM clutch.fail(agent, c.task_id, 'E', 'failed', false, attempt => c.attempt);
				PERFORM clutch.retry(c.task_id);
			ELSE
				PERFORM clutch.finish(agent, c.task_id, '{}', c.attempt);
			END IF;
		END LOOP;
		RETURN done;
	END $$;
});

my $dir = PostgreSQL::Test::Utils::tempdir;
append_to_file("$dir/route.sql", "SELECT clutch.send(ask(clutch.new_id('task')));\n");
# transactions that stay open for a while, and some that come to nothing
append_to_file("$dir/long.sql", q{
BEGIN;
SELECT clutch.send(ask(clutch.new_id('task')));
SELECT clutch.send(ask(clutch.new_id('task')));
SELECT 1;
COMMIT;
});
append_to_file("$dir/nothing.sql", q{
\set n random(1, 20)
BEGIN;
SELECT clutch.send(ask(clutch.new_id('task')));
SELECT work(:n, 1);
ROLLBACK;
});
append_to_file("$dir/work.sql", q{
\set n random(1, 20)
\set roll random(0, 99)
SELECT work(:n, :roll / 100.0);
});
append_to_file("$dir/watch.sql", "SELECT watch();\n");

local %ENV = $node->_get_env;
my $watcher = IPC::Run::start(
	[ 'pgbench', '-n', '-c', 1, '-T', 120, '-f', "$dir/watch.sql", 'postgres' ],
	'<', \undef, '>', \my $watch_out, '2>', \my $watch_err);

$node->command_checks_all(
	[ 'pgbench', '-n', '-c', 32, '-j', 2, '-t', 150,
		'-f', "$dir/route.sql\@4", '-f', "$dir/long.sql\@1", '-f', "$dir/nothing.sql\@1", '-f', "$dir/work.sql\@6",
		'postgres' ],
	0, [ qr{processed: 4800/4800}, qr{failed transactions: 0 } ], [qr{^(?!.*(?:error|abort))}s],
	'32 routers and workers: no error');
$watcher->signal('INT');
$watcher->finish;

cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM sample WHERE agents = 20'), '>', 20, 'the watcher looked often');
is($node->safe_psql('postgres', 'SELECT max(most_slots), max(most_tasks) FROM sample'), '3|3', 'never 4: 3 at most, and 3 were had');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM clutch.tasks t WHERE status IN ('assigned', 'running')
	AND NOT EXISTS (SELECT FROM clutch.agent_slot s WHERE s.agent_id = t.agent_id AND s.task_id = t.task_id)}),
	'0', 'who has a task holds a slot for it');
is_sound($node, 'postgres', 'after the routers');
same_after_rebuild($node, 'postgres', 'after the routers');

# no worker, no tick: those who claim find all that waits
drain($node, 'postgres');
is($node->safe_psql('postgres', 'SELECT status, count(*) > 500 FROM clutch.tasks GROUP BY status'), 'completed|t', 'every task ends');
is($node->safe_psql('postgres', 'SELECT sum(running) FROM clutch.agents'), '0', 'no slot is left taken');
is_sound($node, 'postgres', 'at the end');

# A request that names an agent, and a task to wait for, whose end is before it
# in the log and committed after it, or the other way about: what rebuild makes
# of them is what was.
my $ender = session($node, 'postgres');
my $after = q{ask('task:%s', 'agent:named') || '{"meta": {"clutch": {"after": ["task:%s"]}}}'};

$node->safe_psql('postgres', q{
	SELECT clutch.register(card('named', 9));
	SELECT clutch.send(ask('task:' || n, 'agent:named')) FROM unnest('{ended_early,ended_late}'::text[]) n;
	SELECT clutch.claim('agent:named', 9)});
ask_session($ender, q{BEGIN; SELECT clutch.finish('agent:named', 'task:ended_early');});
$node->safe_psql('postgres', 'SELECT clutch.send(' . sprintf($after, 'held', 'ended_early') . ')');
ask_session($ender, 'COMMIT;');

# rows are dispatched at the end of the statement, and its second row waits
my $twice = "ask('task:twice', id => 'msg_twice')";
ask_session($ender, "BEGIN; SELECT clutch.send($twice);");
my $sender = IPC::Run::start([ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-c',
	'INSERT INTO clutch.events (envelope) VALUES (' . sprintf($after, 'given', 'ended_late') . "), ($twice)" ],
	'<', \undef, '>', \my $sender_out, '2>&1');
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
	WHERE NOT granted AND query LIKE 'INSERT%given%'}) or die 'the sender does not wait';
ask_session($ender, q{SELECT clutch.finish('agent:named', 'task:ended_late'); COMMIT;});
$sender->finish;
end_session($ender);
is($sender_out // '', '', 'both were sent');
$node->safe_psql('postgres', 'SELECT clutch.tick()');
is($node->safe_psql('postgres', q{
	SELECT r.task_id, r.seq < e.seq, t.status FROM clutch.events r JOIN clutch.task t USING (task_id)
	JOIN clutch.events e ON e.type = 'task.result' AND e.task_id = r.envelope #>> '{meta,clutch,after,0}'
	WHERE r.type = 'task.request' ORDER BY 1}), "task:given|t|assigned\ntask:held|f|assigned", 'both are given, in neither order of the log');
same_after_rebuild($node, 'postgres', 'given after others');
drain($node, 'postgres');
is($node->safe_psql('postgres', q{SELECT status FROM clutch.tasks GROUP BY status}), 'completed', 'and done');

$node->stop;
done_testing();
