# Spec 8.2: an artifact is uploaded and read in pieces without being held in memory as a
# whole, and an upload outlives the connection that began it, until its time is over.
# ARTIFACT_MB=1024 is the size of which the specification speaks.
use strict;
use warnings;
use Digest::MD5;
use Digest::SHA;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $mb = $ENV{ARTIFACT_MB} // 64;
# the pages of shared memory that a backend has touched count as its own
my $node = new_node('artifacts', conf => "shared_buffers = 2MB\nautovacuum = off\nclutch.max_artifact_size = $mb\n");

# the most that the process has ever had in memory, in kB
sub peak
{
	my ($pid) = @_;
	my ($kb) = slurp_file("/proc/$pid/status") =~ /^VmHWM:\s+(\d+) kB/m;
	return $kb;
}

# the n-th megabyte of the content
$node->safe_psql('postgres', q{
	CREATE FUNCTION piece(n bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS
	$$ SELECT convert_to(repeat(md5(n::text), 32768), 'UTF8') $$});
my $sha = Digest::SHA->new(256);
$sha->add(Digest::MD5::md5_hex($_) x 32768) foreach 1 .. $mb;
my $ref = 'artifact:sha256:' . $sha->hexdigest;

# ------------------------------------------------------------------- memory

my $session = session($node, 'postgres');
my $pid = ask_session($session, 'SELECT pg_backend_pid();') + 0;

# what one piece takes, and what a backend remembers
ask_session($session, q{SELECT clutch.begin_artifact('a/b') AS small \gset
	SELECT clutch.append_artifact(:small, piece(0) || piece(0)); SELECT clutch.finish_artifact(:small) AS ref \gset
	SELECT clutch.get_artifact(:'ref') = piece(0) || piece(0);});
my $before = peak($pid);

is(ask_session($session, qq{SELECT clutch.begin_artifact('a/b') AS upload \\gset
	SELECT max(clutch.append_artifact(:upload, piece(n))) FROM generate_series(1, $mb) n;}) + 0, $mb * 1024 * 1024, "$mb MB are uploaded by the megabyte");
is(ask_session($session, 'SELECT clutch.finish_artifact(:upload);'), "$ref\n", 'the reference is the digest of all');
is(ask_session($session, qq{SELECT bool_and(clutch.get_artifact('$ref', (n - 1) * 1048576, 1048576) = piece(n)) FROM generate_series(1, $mb) n;}), "t\n",
	'each megabyte comes back');
is(ask_session($session, qq{SELECT clutch.get_artifact('$ref', 1048570, 12) = substr(piece(1) || piece(2), 1048571, 12);}), "t\n", 'and so does a range across pieces');
my $grown = peak($pid) - $before;
cmp_ok($grown, '<', 8 * 1024, "which took $grown kB of memory more than a piece of two megabytes");

# that the measure measures, as far as a value can be that large
if ($mb < 1024)
{
	is(ask_session($session, qq{SELECT length(clutch.get_artifact('$ref'));}) + 0, $mb * 1024 * 1024, 'all of it may be read at once');
	cmp_ok(peak($pid) - $before, '>', $mb * 1024 * 3 / 4, 'which takes as much memory');
}
else
{
	my ($status, $out, $err) = $node->psql('postgres', qq{SELECT length(clutch.get_artifact('$ref'))});
	like($err, qr/a value cannot have \d+ bytes/, 'all of it cannot be read at once');
}
end_session($session);

# ---------------------------------------------------------- abandoned uploads

my $lost = session($node, 'postgres');
ask_session($lost, q{SELECT clutch.begin_artifact('a/b') AS upload \gset
	SELECT clutch.append_artifact(:upload, piece(1)); BEGIN; SELECT clutch.append_artifact(:upload, piece(2));});
my $upload = ask_session($lost, '\echo :upload') + 0;
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(' . (ask_session($lost, 'SELECT pg_backend_pid();') + 0) . ', 10000)');
eval { end_session($lost) };

is($node->safe_psql('postgres', "SELECT clutch.append_artifact($upload, '')"), '1048576', 'after a lost connection, the upload is as far as it was committed');
is($node->safe_psql('postgres', "SELECT clutch.append_artifact($upload, piece(2))"), '2097152', 'and goes on');
is($node->safe_psql('postgres', q{SELECT clutch.tick(); SELECT count(*) FROM clutch.artifact_upload}) =~ s/.*\n//r, '1', 'a tick leaves it alone');
is($node->safe_psql('postgres', qq{SET clutch.artifact_grace = 0; SELECT clutch.tick();
	SELECT (SELECT count(*) FROM clutch.artifact_upload), (SELECT count(*) FROM clutch.artifact_chunk WHERE content_no = $upload)}) =~ s/.*\n//r, '0|0',
	'until it is older than clutch.artifact_grace: then it goes, with its pieces');
is($node->safe_psql('postgres', q{SELECT sum(value) FROM clutch.metrics() WHERE name = 'clutch_artifact_chunks_unreferenced'}), '0', 'and nothing is left behind');

$node->stop;
done_testing();
