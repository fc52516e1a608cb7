# What a word, a letter and a case are does not depend on the locale of the database.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::RealBin;
use ClutchTest;
use Test::More;

my $node = new_node('locale');
my %locales = (
	c => "LOCALE 'C'",
	unicode => "LOCALE 'C.UTF-8'",
	turkish => "LOCALE 'C.UTF-8' LOCALE_PROVIDER icu ICU_LOCALE 'tr'");

my $setup = q{
	CREATE EXTENSION clutch;
	INSERT INTO clutch.routing_rule (name, words, priority) VALUES ('german', '{ärger im büro}', 1), ('russian', '{РЕЦЕПТ}', 1), ('latin', '{ISTANBUL é}', 1);
	SELECT clutch.register_schema('letters.v1', '{"properties": {"name": {"pattern": "^\\\\p{Lu}\\\\p{L}+ \\\\d+$"}}}');
	SELECT clutch.import_registry('{"version": "3.0", "agents": {"cook": {"signals": ["рецепт", "…"]}}}');
	SELECT clutch.install_rules('registry-3.0')};

my $questions = q{
	SELECT string_agg(q.text || ': ' || coalesce((clutch.route(clutch.envelope('task.request', 'agent:ui', payload => jsonb_build_object('text', q.text))) ->> 'rules'), 'none'), '; ' ORDER BY q.n)
	FROM (VALUES (1, 'SO EIN ÄRGER IM BÜRO'), (2, 'мой Рецепт…'), (3, 'istanbul É'), (4, 'argerimburo')) AS q(n, text)
	UNION ALL
	SELECT string_agg(v.name || ': ' || (SELECT count(*) FROM clutch.validate_payload('letters.v1', jsonb_build_object('name', v.name))), '; ' ORDER BY v.n)
	FROM (VALUES (1, 'Ärger 12'), (2, 'ärger 12'), (3, 'Жук 7')) AS v(n, name)};

$node->safe_psql('postgres', 'CREATE ROLE other');
for my $name (sort keys %locales)
{
	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0 ENCODING 'UTF8' $locales{$name}");
	$node->safe_psql($name, $setup);
	my $answers = $node->safe_psql($name, $questions);
	utf8::decode($answers) unless utf8::is_utf8($answers);
	is( $answers,
		qq{SO EIN ÄRGER IM BÜRO: ["german"]; мой Рецепт…: ["russian", "registry-3.0 default: signals of cook"]; istanbul É: ["latin"]; argerimburo: none\n}
		. 'Ärger 12: 0; ärger 12: 1; Жук 7: 0',
		"words and letters in the locale $name");
	is($node->safe_psql($name, q{SELECT clutch.set_quota('PUBLIC', 'schedules', 5); SELECT role, value FROM clutch.quotas}),
		"\n|5", "and the quota of everybody");
	# ALTER EXTENSION UPDATE executes these hints
	is($node->safe_psql($name, q{ALTER VIEW clutch.tasks OWNER TO other; ALTER FUNCTION clutch.tick() OWNER TO other;
			SELECT hint FROM clutch.check() WHERE code = 'OWNER_DIFFERS' ORDER BY hint}),
		"ALTER FUNCTION clutch.tick() OWNER TO postgres;\nALTER VIEW clutch.tasks OWNER TO postgres;", 'hints that can be run');
	$node->safe_psql($name, q{SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:INBOX", "display": {"name": "inbox"}, "capabilities": [{"id": "skill:x"}], "endpoints": {"a2a": {"url": "https://inbox.example/a2a"}}}')});
	is($node->safe_psql($name, q{SELECT name FROM clutch.endpoints_of('agent:INBOX')}), 'inbox', 'and the name of an endpoint');
}

# ------------------------------------------------------------- other encodings
foreach my $encoding (qw(LATIN1 SQL_ASCII))
{
	my $name = lc $encoding;
	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'");
	my ($code, $out, $error) = $node->psql($name, 'CREATE EXTENSION clutch', extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	like($error, qr/0A000: .*clutch requires a database with encoding UTF8.*HINT: .*TEMPLATE template0/s, "a database in $encoding is refused, and the error says what to do");
}

$node->stop;
done_testing();
