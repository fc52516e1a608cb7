-- crewAI: events of crews, flows, agents and tools.
\ir ../fixtures/tap.sql
\set adapter crewai
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 0);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

SELECT * FROM finish();
