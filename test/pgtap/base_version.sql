-- A library refuses to touch the tables of another version of the extension.
\ir ../fixtures/tap.sql
SELECT plan(9);

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

-- An index that was renamed or dropped: the hint must not lead to dropping the extension, and the log with it.
ALTER INDEX clutch.events_seq RENAME TO mine;
SELECT throws_ok('SELECT clutch.prove(1)', '42P01', 'relation "clutch.events_seq" does not exist', 'an index that was renamed is missed');
SELECT is(fixture.hint_of('SELECT clutch.prove(1)'), 'It was dropped or renamed. Give it its name back, or create it again by its statement in the script of the extension, extension/clutch--' || :'ours' || '.sql in the directory that pg_config --sharedir names. Do not drop the extension, which would remove the log.', 'and the hint says how to get it back');
ALTER INDEX clutch.mine RENAME TO events_seq;
SELECT throws_ok('SELECT clutch.prove(1)', '55000', NULL, 'with its name, it is used again');

SELECT * FROM finish();
