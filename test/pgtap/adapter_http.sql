-- Webhooks: CloudEvents and Standard Webhooks.
\ir ../fixtures/tap.sql
\set adapter http
\ir ../fixtures/adapters.sql
SELECT plan((SELECT count(*)::int FROM outcome) + 2);

SELECT is(got, expected, name) FROM outcome ORDER BY no;

SELECT is(e ->> 'schema_ref', NULL, 'a dataschema of others is no schema_ref') FROM clutch.inbound('{"specversion": "1.0", "id": "1", "source": "a", "type": "t", "dataschema": "https://a.example/s.json"}') AS e;
SELECT is(d ->> 'source', '/clutch/run%2F5%25/ken', 'a run may have a slash') FROM fixture.native, clutch.outbound(envelope || '{"run_id": "run/5%"}', 'http') AS d WHERE name = 'chat.message';

SELECT * FROM finish();
