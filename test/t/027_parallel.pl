# A parallel plan may call whatever is not labelled PARALLEL UNSAFE, also in the
# first call of a session, which fills its caches.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use Test::More;

my $node = new_node('parallel');
my $cheap = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';

$node->safe_psql('postgres', q{
	CREATE ROLE ken;
	SELECT clutch.register(card('ken')), clutch.send(ask('task:1', 'agent:ken')), clutch.grant_agent('ken', 'agent:ken');
	SELECT count(*) FROM clutch.claim('agent:ken');
	SELECT clutch.register_schema('test.big', '{"type": "object", "required": ["z"]}');
	CREATE TABLE big AS SELECT n AS id, jsonb_build_object('a', n) AS document, task_id, run_id, thread_id
		FROM generate_series(1, 2000) n, clutch.task;
	ALTER TABLE big SET (parallel_workers = 2);
	ANALYZE big;
	GRANT SELECT ON big TO ken;
});

# Returns what the statement returns in a session of its own.
sub in_parallel
{
	my ($role, $sql) = @_;
	my ($code, $out, $error) = $node->psql('postgres', "SET ROLE $role; $cheap $sql");
	return $code == 0 ? $out : $error;
}

like(in_parallel('ken', q{EXPLAIN (COSTS off) SELECT count(*) FROM big b, clutch.replay('run:1') r WHERE b.id = 7}), qr/Gather/, 'the plan is parallel');
foreach my $case (
	[ 'postgres', q{SELECT count(*) FROM big, LATERAL clutch.validate_payload('test.big', document) WHERE id = 7}, '1' ],
	[ 'postgres', q{SELECT clutch.schema_of('test.big') ->> 'type' FROM big WHERE id = 7}, 'object' ],
	[ 'ken', q{SELECT count(*) > 0 FROM big b, clutch.replay((SELECT min(run_id) FROM big)) r WHERE b.id = 7}, 't' ],
	[ 'ken', q{SELECT count(*) > 0 FROM big b, clutch.task_tree((SELECT min(run_id) FROM big)) t WHERE b.id = 7}, 't' ],
	[ 'ken', q{SELECT clutch.thread_context(thread_id) IS NOT NULL FROM big WHERE id = 7}, 't' ],
	[ 'ken', q{SELECT clutch.run_graph(run_id) IS NOT NULL FROM big WHERE id = 7}, 't' ],
	[ 'postgres', q{SELECT count(*) > 0 FROM big b, clutch.export((SELECT min(run_id) FROM big)) e WHERE b.id = 7}, 't' ])
{
	my ($role, $sql, $expected) = @$case;
	is(in_parallel($role, $sql), $expected, $sql);
}

done_testing();
