# The registry changes all the time while work is routed: each request is answered by
# what the registry was at one moment, and nothing is read that has gone.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('registry');

# So many agents that reading them anew takes as long as the next change; all are busy, so
# that every request goes through all steps and is answered by a list of names.
$node->safe_psql('postgres', q{
	SELECT count(*) FROM generate_series(1, 500) n, clutch.register(card('a' || n));
	SELECT count(*) FROM generate_series(1, 500) n, clutch.send(ask('task:' || n));
});
my $dir = PostgreSQL::Test::Utils::tempdir;
append_to_file("$dir/change.sql", "SELECT clutch.pause('agent:a' || :client_id + 1);\nSELECT clutch.resume('agent:a' || :client_id + 1);\n");
append_to_file("$dir/send.sql", "SELECT clutch.send(ask(clutch.new_id('task')));\n");

local %ENV = $node->_get_env;
my $changer = IPC::Run::start(
	[ 'pgbench', '-n', '-c', 4, '-T', 300, '-f', "$dir/change.sql", 'postgres' ],
	'<', \undef, '>', \my $change_out, '2>', \my $change_err);
$node->command_checks_all(
	[ 'pgbench', '-n', '-c', 8, '-j', 2, '-t', 1000, '-f', "$dir/send.sql", 'postgres' ],
	0, [ qr{processed: 8000/8000}, qr{failed transactions: 0 } ], [qr{^(?!.*(?:error|abort))}s], '8000 requests: no error');
$changer->signal('INT');
$changer->finish;
unlike($change_err // '', qr/error|abort/, 'nor in what changes the registry');

is($node->safe_psql('postgres', q{SELECT count(*) FROM clutch.events WHERE type = 'routing.failure'}), '8000', 'each is told that all are busy');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM clutch.events e, jsonb_each(e.envelope #> '{payload,rejected}') AS r (reason, tally), jsonb_array_elements_text(tally -> 'agents') AS agent
	WHERE e.type = 'routing.failure' AND agent NOT IN (SELECT agent_id FROM clutch.agent_registry)}), '0', 'by agents that there are');
is_sound($node, 'postgres', 'in the end');

$node->stop;
done_testing();
