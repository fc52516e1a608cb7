-- Indexes and columns that an administrator adds to the tables of the extension
-- are served or refused; they do not crash the server.
\ir ../fixtures/tap.sql
SELECT plan(10);

-- --------------------------------------------------------------------- indexes
BEGIN;
CREATE INDEX added_expression ON clutch.task (lower(task_id));
SELECT throws_ok($$SELECT fixture.ask('indexed')$$, '0A000', NULL, 'an index over an expression is refused');
ROLLBACK;
BEGIN;
CREATE INDEX added_partial ON clutch.task (run_id) WHERE finished_at IS NULL;
SELECT throws_ok($$SELECT fixture.ask('indexed')$$, '0A000', NULL, 'a partial index is refused');
ROLLBACK;
BEGIN;
CREATE INDEX added_plain ON clutch.task (agent_id);
SELECT lives_ok($$SELECT fixture.ask('indexed')$$, 'an index over a column is maintained');
ROLLBACK;

-- --------------------------------------------------------------------- columns
BEGIN;
ALTER TABLE clutch.task ADD COLUMN note text;
SELECT throws_ok($$SELECT fixture.ask('noted')$$, '42804', NULL, 'an added column is refused');
ALTER TABLE clutch.task DROP COLUMN note;
SELECT lives_ok($$SELECT fixture.ask('noted')$$, 'a table whose added column was dropped again is written');
SELECT lives_ok($$SELECT clutch.cancel('noted')$$, 'and its rows are read as before');
ALTER TABLE clutch.events ADD COLUMN note text;
SELECT throws_ok($$SELECT fixture.ask('logged')$$, '42804', NULL, 'an added column of the log is refused');
ALTER TABLE clutch.events DROP COLUMN note;
SELECT lives_ok($$SELECT fixture.ask('logged')$$, 'the log is written after that column was dropped');
SELECT lives_ok($$SELECT clutch.rebuild()$$, 'and read');
ROLLBACK;

SELECT lives_ok($$SELECT fixture.ask('plain')$$, 'without any of them everything is as before');

SELECT * FROM finish();
