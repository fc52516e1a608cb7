-- AutoGen: messages of AgentChat and events of autogen-core.
\ir ../fixtures/tap.sql
\set adapter autogen
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 0);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

SELECT * FROM finish();
