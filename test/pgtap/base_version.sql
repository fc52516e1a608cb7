-- A library refuses to touch the tables of another version of the extension.
\ir ../fixtures/tap.sql
SELECT plan(6);

-- ANALYZE makes the session look at the table, and at the version, again.
CREATE FUNCTION pg_temp.install_version(version text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	UPDATE pg_extension SET extversion = version WHERE extname = 'clutch';
	ANALYZE clutch.task;
END $$;
SELECT clutch.version() AS ours \gset

SELECT pg_temp.install_version('0.0.1') \g /dev/null
SELECT throws_like('SELECT * FROM clutch.task_tree(''run:1'')', '%is version 0.0.1 in this database%', 'the tables of another version are not read');
SELECT throws_ok($$SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:ken", "display": {"name": "Ken"}, "capabilities": [{"id": "skill:x", "version": "1.0"}], "limits": {"max_concurrency": 1}, "security": {"sandbox": true}}')$$, '55000', NULL, 'nor written');
SELECT throws_ok($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}'))$$, '55000', NULL, 'nor does an envelope');
SELECT is((SELECT count(*) FROM clutch.events), 0::bigint, 'nothing was written');
SELECT pg_temp.install_version(:'ours') \g /dev/null
SELECT lives_ok('SELECT * FROM clutch.task_tree(''run:1'')', 'its own version is served again');
SELECT lives_ok($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{agent:ken}'))$$, 'in the same session');

SELECT * FROM finish();
