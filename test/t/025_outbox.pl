# P10, P12: the outbox with prepared transactions, on a standby and after its promotion, and
# with several gateways that lose calls, report twice or too late, and are killed.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use TeamTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use Test::More;

my $seed = $ENV{CHAOS_SEED} // time ^ $$;
my $calls = $ENV{OUTBOX_CALLS} // 400;
diag "CHAOS_SEED=$seed OUTBOX_CALLS=$calls";
srand $seed;

# a transaction that has notified cannot be prepared
my $node = new_node('outbox', allows_streaming => 1, conf => q{
clutch.notify = off
clutch.breaker_failures = 0
clutch.retry_initial = 50ms
clutch.retry_max_delay = 200ms
max_prepared_transactions = 10
max_standby_streaming_delay = -1
restart_after_crash = on
full_page_writes = on
});
$node->safe_psql('postgres', q{
	SELECT clutch.register(card('far', 9000));
	INSERT INTO clutch.endpoint (name, url, serves, agents, patience_s) VALUES ('far', 'https://far.example', 'agent:far', '{*}', 36000);
	CREATE FUNCTION done(task text, attempt integer DEFAULT 1) RETURNS text LANGUAGE sql AS $$
		SELECT clutch.outbox_done(o.id, done.attempt, 200, response => '{"n": 1}') FROM clutch.outbox o WHERE o.task_id = task $$;
	-- "state attempt, status of the task"
	CREATE FUNCTION stands(task text) RETURNS text LANGUAGE sql AS $$
		SELECT coalesce((SELECT string_agg(o.state || ' ' || o.attempt, ',') FROM clutch.outbox o WHERE o.task_id = task), 'no call') || ', '
			|| coalesce((SELECT t.status FROM clutch.tasks t WHERE t.task_id = task), 'no task') $$;
});
my $claim = q{SELECT string_agg(o.task_id || ' ' || c.attempt, ',' ORDER BY o.task_id) FROM clutch.outbox_claim(9, '1 h') c JOIN clutch.outbox o USING (id)};

sub sql { my ($sql, $on) = @_; return ($on // $node)->safe_psql('postgres', $sql); }
sub refusal { my ($sql, $on) = @_; my (undef, $out, $err) = ($on // $node)->psql('postgres', "\\set VERBOSITY verbose\n$sql"); return $err =~ /ERROR:  (\w+)/ ? $1 : "no error: $out"; }

# ------------------------------------------------------- prepared transactions
# Prepares the statements; the server dies or not; another session ends the transaction.
sub prepared
{
	my ($statements, $death, $end) = @_;

	sql("BEGIN; $statements; PREPARE TRANSACTION 'it'");
	$death->();
	return sub { sql("$end PREPARED 'it'"); };
}

my $stays = sub { };
my $dies = sub { $node->kill9; start_again($node); };

foreach my $death ([ 'the server stays', $stays ], [ 'the server dies', $dies ])
{
	my ($how, $die) = @$death;
	my $name = $die == $dies ? 'b' : 'a';
	my $end = prepared("SELECT clutch.send(ask('task:$name'))", $die, 'COMMIT');

	is(sql("SELECT stands('task:$name')"), 'no call, no task', "$how: what is prepared causes no call");
	is(sql($claim), '', 'that a gateway is handed');
	$end->();
	is(sql("SELECT stands('task:$name')"), 'pending 0, running', 'its commit does');
	prepared("SELECT clutch.send(ask('task:never'))", $die, 'ROLLBACK')->();
	is(sql("SELECT stands('task:never')"), 'no call, no task', 'its rollback does not');

	sql("SELECT clutch.send(ask('task:${name}2'))");
	$end = prepared($claim =~ s/9/1/r, $die, 'ROLLBACK');
	is(sql("SET lock_timeout = '10s'; BEGIN; $claim; ROLLBACK"), "task:${name}2 1", 'a call that is claimed in a prepared transaction holds up no other');
	$end->();
	is(sql($claim), "task:$name 1,task:${name}2 1", 'after the rollback it is handed out, as if for the first time');

	$end = prepared("SELECT done('task:$name')", $die, 'ROLLBACK');
	is(refusal("SET lock_timeout = '10ms'; SELECT done('task:$name')"), '55P03', 'who reports on a call with a prepared report waits');
	is(sql("SELECT stands('task:$name')"), 'pending 1, running', 'a prepared report is none');
	$end->();
	is(sql("SELECT stands('task:$name')"), 'pending 1, running', 'nor is one that is rolled back');
	prepared("SELECT done('task:$name')", $die, 'COMMIT')->();
	is(sql("SELECT stands('task:$name')"), 'sent 1, completed', 'one that is committed ends the task');
	is(sql("SELECT done('task:$name')"), 'lost', 'once');
	is(sql("SELECT done('task:${name}2')"), 'sent', 'the lease of the other call has outlived it all');
}

# What a session remembers of rules and endpoints: it has made them itself, in a transaction that it has prepared.
my $writer = session($node, 'postgres');
my $reader = session($node, 'postgres');
my $rules = q{SELECT clutch.route(ask('task:q') || '{"payload": {"text": "press"}}') -> 'rules';};
foreach my $end ([ 'ROLLBACK', "\n", '0' ], [ 'COMMIT', "[\"press\"]\n", '1' ])
{
	my ($how, $seen, $hooked) = @$end;
	my $hook = "SELECT count(*) FROM clutch.outbox WHERE endpoint = 'hook' AND task_id = 'task:$how';";

	ask_session($writer, qq{BEGIN; INSERT INTO clutch.routing_rule (name, words, priority) VALUES ('press', '{press}', 1);
		INSERT INTO clutch.endpoint (name, url, filter) VALUES ('hook', 'https://hook.example', '{"type": "chat.message"}');});
	is(ask_session($writer, $rules), "[\"press\"]\n", 'a rule is in force where it was written');
	ask_session($writer, q{PREPARE TRANSACTION 'rule';});
	is(ask_session($_, $rules), "\n", 'but not when that is prepared') foreach $writer, $reader;
	ask_session($reader, "$how PREPARED 'rule';");
	is(ask_session($_, $rules), $seen, "$how: every session knows") foreach $writer, $reader;
	ask_session($writer, "SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', task_id => 'task:$how', run_id => 'run:1'));");
	is(ask_session($writer, $hook), "$hooked\n", 'and so it is with endpoints');
}
end_session($_) foreach $writer, $reader;
sql(q{DELETE FROM clutch.endpoint WHERE name = 'hook'; DELETE FROM clutch.outbox WHERE endpoint = 'hook'; DELETE FROM clutch.routing_rule});

# ------------------------------------------------------------------- a standby
sql(q{SELECT clutch.send(ask('task:' || n)) FROM unnest('{early,late,waits}'::text[]) AS n;
	SELECT clutch.outbox_claim(1, '1 h'), clutch.outbox_claim(1, '1 s')});
my $standby = PostgreSQL::Test::Cluster->new('outbox_standby');
$node->backup('outbox');
$standby->init_from_backup($node, 'outbox', has_streaming => 1);
$standby->start;
sql(q{BEGIN; SELECT clutch.send(ask('task:prepared')); PREPARE TRANSACTION 'ask'});
$node->wait_for_catchup($standby);

my $state = q{SELECT string_agg(concat_ws(' ', task_id, state, attempt, due_at, lease_until), ',' ORDER BY no) FROM clutch.outbox};
my $on_primary = sql($state);
is(sql($state, $standby), $on_primary, 'a standby shows the calls');
is(sql(q{SELECT clutch.outbound(envelope, 'a2a') IS NOT NULL FROM clutch.events WHERE task_id = 'task:early' AND type = 'task.request'}, $standby), 't', 'and translates');
is(sql(q{SELECT string_agg(name || ' ' || value, ',' ORDER BY name, value) FROM clutch.metrics() WHERE labels ->> 'state' = 'pending'}, $standby),
	'clutch_outbox_calls 3', 'and counts');
is(refusal($_, $standby), '25006', "$_ is refused there") foreach q{SELECT clutch.outbox_claim()}, q{SELECT done('task:early')}, q{SELECT clutch.outbox_done('msg_of_later', 1, 200)},
  q{SELECT clutch.outbox_retry('msg_of_later')}, q{SELECT clutch.post('far', ask('task:q'))}, q{SELECT clutch.install_rules('multiagent-1.0')};

$node->kill9;
$standby->promote;
is(sql($state, $standby), $on_primary, 'promoted: the calls are the same');
is(sql("SELECT done('task:early')", $standby), 'sent', 'a gateway reports on what it has claimed before');
sql('SELECT pg_sleep_until(lease_until) FROM clutch.outbox WHERE task_id = $$task:late$$', $standby);
is(sql($claim, $standby), 'task:late 2,task:waits 1', 'the others are handed out when their time has come');
is(sql("SELECT done('task:late')", $standby), 'lost', 'and then a report of before is late');
is(sql("COMMIT PREPARED 'ask'; SELECT stands('task:prepared')", $standby), 'pending 0, running', 'a prepared request is committed there');
is(sql("$claim; SELECT done('task:late', 2), done('task:waits'), done('task:prepared')", $standby), "task:prepared 1\nsent|sent|sent", 'and answered');
is_sound($standby, 'postgres', 'promoted');
same_after_rebuild($standby, 'postgres', 'promoted');

# ------------------------------------------------------------ several gateways
# Each transaction is one step, as of a program: claim, report, report again.
sql(q{
	TRUNCATE clutch.outbox;
	-- a call of which parts have arrived waits so long for the next one, also if the gateway was killed
	UPDATE clutch.endpoint SET max_attempts = 5, first_pause_s = 1, longest_pause_s = 1, patience_s = 5;
	INSERT INTO clutch.endpoint (name, url, agents, max_attempts, first_pause_s, longest_pause_s) VALUES ('post', 'https://post.example', '{*}', 100, 1, 1);
	CREATE TABLE told (id text, attempt integer, told text);
	CREATE PROCEDURE gateway(seed double precision) LANGUAGE plpgsql AS $$
	DECLARE
		handed jsonb;
		c record;
		n integer;
		state text;
	BEGIN
		PERFORM setseed(seed);
		LOOP
			SELECT jsonb_agg(o) INTO handed FROM clutch.outbox_claim(1 + (random() * 5)::integer, '0.2 s') AS o;
			COMMIT;
			EXIT WHEN NOT EXISTS (SELECT FROM clutch.outbox o WHERE o.state = 'pending')
				AND NOT EXISTS (SELECT FROM clutch.task t WHERE t.finished_at IS NULL);
			PERFORM clutch.tick() WHERE handed IS NULL;
			COMMIT;
			FOR c IN SELECT o.id, o.attempt, o.wants_answer, random() AS luck FROM jsonb_to_recordset(handed) AS o(id text, attempt integer, wants_answer boolean) LOOP
				-- forgotten, too late, or with parts of which some come again
				CONTINUE WHEN c.luck < 0.1;
				PERFORM pg_sleep(0.3) WHERE c.luck < 0.13;
				IF c.wants_answer AND c.luck < 0.5 THEN
					FOREACH n IN ARRAY '{1,2,1,3,2}'::integer[] LOOP
						PERFORM clutch.outbox_done(c.id, c.attempt, 200, response => jsonb_build_object('part', n, 'of', c.id || c.attempt), is_last => false, part => n);
						COMMIT;
					END LOOP;
				END IF;
				FOR n IN 1 .. CASE WHEN c.luck > 0.8 THEN 2 ELSE 1 END LOOP
					state := clutch.outbox_done(c.id, c.attempt, CASE WHEN c.luck BETWEEN 0.5 AND 0.6 THEN 503 WHEN c.luck > 0.98 THEN 410 ELSE 200 END,
						response => CASE WHEN c.wants_answer THEN '{"n": 1}'::jsonb END);
					INSERT INTO told VALUES (c.id, c.attempt, state);
					COMMIT;
				END LOOP;
			END LOOP;
		END LOOP;
	END $$;
}, $standby);
sql(qq{SELECT clutch.send(ask('task:call' || n, run => 'run:call' || n)) FROM generate_series(1, $calls) AS n;
	SELECT clutch.post('post', clutch.envelope('chat.message', 'agent:ui', task_id => 'task:post' || n, run_id => 'run:post')) FROM generate_series(1, $calls) AS n;
	-- however fast they are, the last call is left until enough of them have been killed
	UPDATE clutch.outbox SET due_at = due_at + interval '1 day' WHERE task_id = 'task:post$calls'}, $standby);

my (@gateways, @said);
my $errors = '';
sub start_gateway
{
	my ($n) = @_;
	$gateways[$n] = IPC::Run::start([ 'psql', '-Xq', '-d', $standby->connstr('postgres'), '-c', 'CALL gateway(' . rand() . ')' ], '<', \undef, '>', \$said[$n], '2>&1');
	return;
}
start_gateway($_) foreach 1 .. 8;
my $kills = 0;
await('every call is over', sub {
	my $left = answer_of($standby, 'postgres', q{SELECT (SELECT count(*) FROM clutch.outbox WHERE state = 'pending') + (SELECT count(*) FROM clutch.task WHERE finished_at IS NULL)});

	return 1 if defined $left && $left == 0;
	if (defined $left && $kills < 5 && $left < $calls * (3 - $kills / 3))
	{
		my $pid = answer_of($standby, 'postgres', q{SELECT pid FROM pg_stat_activity WHERE query ~ 'CALL gateway' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1});
		# the third one takes the server along
		answer_of($standby, 'postgres', "SELECT pg_terminate_backend($pid)") if $pid && $kills != 2;
		kill 'KILL', $pid if $pid && $kills == 2;
		$kills++ if $pid;
	}
	answer_of($standby, 'postgres', q{SELECT clutch.outbox_retry(id) FROM clutch.outbox WHERE due_at > clutch.now() + interval '1 h'}) if $kills == 5 && ($left // 0) == 1;
	foreach my $n (1 .. 8)
	{
		# which is an error if it ends in this moment
		eval { $gateways[$n]->pump_nb };
		next if $gateways[$n]->pumpable;
		$gateways[$n]->finish;
		$errors .= $said[$n];
		start_gateway($n);
	}
	return 0;
}, 180);
foreach my $n (1 .. 8)
{
	$gateways[$n]->finish;
	$errors .= $said[$n];
}
answers($standby, 'postgres', 'SELECT true');
is($kills, 5, 'gateways were killed');
unlike($errors, qr/ERROR/, 'no gateway was told anything unexpected');
is(sql(q{SELECT count(*) FILTER (WHERE kind = 'post'), count(*) FILTER (WHERE state NOT IN ('sent', 'dead', 'void')) FROM clutch.outbox}, $standby), "$calls|0", 'no call is lost, and none is left');
is(sql(q{SELECT count(*) FROM (SELECT FROM told t JOIN clutch.outbox o USING (id) WHERE told = 'sent' GROUP BY o.id HAVING count(*) > 1) AS t}, $standby), '0', 'none is told twice that it was sent');
is(sql(q{SELECT count(*) FROM clutch.outbox o WHERE (o.state = 'sent') <> EXISTS (SELECT FROM told t WHERE t.id = o.id AND t.told = 'sent')}, $standby), '0', 'exactly those that are sent are told so');
is(sql(q{SELECT count(*) FROM clutch.tasks t WHERE t.run_id ~ '^run:call' AND (t.status = 'completed') <>
	((SELECT count(*) FROM clutch.events e WHERE e.task_id = t.task_id AND e.type = 'task.result' AND NOT e.late) = 1)}, $standby), '0', 'whoever has asked has one answer');
is(sql(q{SELECT count(*), count(*) FILTER (WHERE status NOT IN ('completed', 'failed')) FROM clutch.tasks WHERE run_id ~ '^run:call'}, $standby), "$calls|0", 'or a failure, and no task is left');
is(sql(q{SELECT count(*) > 0, count(*) - count(DISTINCT envelope -> 'payload') FROM clutch.events WHERE type = 'task.progress' AND envelope #> '{payload,part}' IS NOT NULL}, $standby),
	't|0', 'no part of an answer is taken twice');
is_sound($standby, 'postgres', 'in the end');
same_after_rebuild($standby, 'postgres', 'in the end');
$standby->stop;
done_testing();
