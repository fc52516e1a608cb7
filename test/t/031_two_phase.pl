# A transaction that a subscription prepares and commits, without a statement: the
# worker of the subscriber looks for what is due after its commit.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('replica', allows_streaming => 'logical',
	conf => "shared_preload_libraries = 'clutch'\nautovacuum = off\nmax_prepared_transactions = 4\n");

wait_for_worker($node, 'postgres');
$node->safe_psql('postgres', q{SELECT clutch.tick()});	# otherwise the first order would begin this copy of the database

# the publisher, in the same cluster, so its slot is made before the subscription
$node->safe_psql('postgres', 'CREATE DATABASE shop');
$node->safe_psql($_, 'CREATE TABLE orders (n integer PRIMARY KEY)') foreach qw(shop postgres);
$node->safe_psql('shop', 'CREATE PUBLICATION orders FOR TABLE orders');
$node->safe_psql('shop', q{SELECT pg_create_logical_replication_slot('orders', 'pgoutput', false, true)});

# each order plans something that was due long ago
$node->safe_psql('postgres', q{
	CREATE FUNCTION plan() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET clutch.clock = '2000-01-01T00:00:00Z' AS $$
	BEGIN
		PERFORM clutch.schedule('order ' || NEW.n, '0 0 1 1 *', clutch.envelope('chat.message', 'agent:ui'));
		RETURN NULL;
	END $$;
	CREATE TRIGGER plan AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION plan();
	ALTER TABLE orders ENABLE ALWAYS TRIGGER plan});
my $port = $node->port;
my $host = $node->host;
$node->safe_psql('postgres', "CREATE SUBSCRIPTION orders CONNECTION 'host=$host port=$port dbname=shop' PUBLICATION orders WITH (create_slot = false, copy_data = false, two_phase = true)");
ok($node->poll_query_until('postgres', q{SELECT subtwophasestate = 'e' FROM pg_subscription}), 'a subscription to prepared transactions');

$node->safe_psql('shop', q{BEGIN; INSERT INTO orders VALUES (1); PREPARE TRANSACTION 'one'});
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_prepared_xacts WHERE database = 'postgres'}), 'prepares one here');
$node->safe_psql('postgres', q{SET clutch.clock = '2000-01-01T00:00:00Z';
	SELECT clutch.send(jsonb_set(ask('task:beside', 'agent:nobody'), '{meta}', '{"clutch": {"deadline": "2000-01-01T00:01:00Z"}}'))});
ok($node->poll_query_until('postgres', q{SELECT status = 'timed_out' FROM clutch.task WHERE task_id = 'task:beside'}), 'the worker has looked at what is due');
$node->safe_psql('shop', q{COMMIT PREPARED 'one'});
ok($node->poll_query_until('postgres', q{SELECT runs > 0 FROM clutch.schedule WHERE name = 'order 1'}), 'what it has left to the worker is done when it is committed');

$node->safe_psql('postgres', 'DROP SUBSCRIPTION orders');
done_testing();
