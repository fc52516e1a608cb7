-- new_id and envelope: identifiers that are made, derived and inherited.
\ir ../fixtures/tap.sql
\ir ../fixtures/loader.sql
SELECT plan(67);

CREATE FUNCTION pg_temp.faults(envelope jsonb) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(path || ' ' || code, ', ' ORDER BY path), 'valid') FROM clutch.validate(envelope) $$;

-- ------------------------------------------------------------------- new_id
SELECT matches(clutch.new_id('msg'), '^msg_[0-7][0-9A-HJKMNP-TV-Z]{25}$', 'an identifier is prefix_ULID');
SELECT matches(clutch.new_id('a_2'), '^a_2_[0-7][0-9A-HJKMNP-TV-Z]{25}$', 'a prefix may have digits and underscores');
SELECT is((SELECT count(DISTINCT clutch.new_id('msg')) FROM generate_series(1, 100000)), 100000::bigint, '100,000 identifiers differ');
SELECT ok((SELECT bool_and(id COLLATE "C" > before COLLATE "C") FROM
		(SELECT id, lag(id) OVER (ORDER BY i) AS before FROM
			(SELECT i, clutch.new_id('msg') AS id FROM generate_series(1, 10000) i OFFSET 0) a) b WHERE before IS NOT NULL),
	'those of one session are in order');
SELECT is(clutch.new_id(NULL), NULL, 'the identifier of NULL is NULL');
SELECT throws_ok(format('SELECT clutch.new_id(%L)', prefix), '22023', NULL, 'no prefix: ' || to_json(prefix)::text)
FROM unnest(ARRAY['', 'Msg', '1a', '_a', 'a-b', 'a b', 'agent:', 'ü', E'a\n', repeat('a', 33)]) AS prefix;

-- 48 bits of milliseconds: those of the example in the ULID specification
SELECT set_config('clutch.clock', '2016-07-30T23:54:10.259Z', false);
SELECT is(substr(clutch.new_id('msg'), 5, 10), '01ARZ3NDEK', 'an identifier begins with its time');
SELECT ok((SELECT min(id) = (array_agg(id ORDER BY i))[1] AND count(DISTINCT id) = 1000 FROM
		(SELECT i, clutch.new_id('msg') COLLATE "C" AS id FROM generate_series(1, 1000) i OFFSET 0) a), 'one millisecond holds many identifiers, in order');
SELECT is((SELECT count(DISTINCT left(clutch.new_id('msg'), -2)) FROM generate_series(1, 100)), 100::bigint, 'none of which follows from the one before it');
SELECT set_config('clutch.clock', '1970-01-01T00:00:00Z', false);
SELECT matches(clutch.new_id('msg'), '^msg_0000000000', 'the first millisecond has an identifier');
SELECT set_config('clutch.clock', '1900-01-01T00:00:00Z', false);
SELECT matches(clutch.new_id('msg'), '^msg_0000000000', 'a time before it has the same');
SELECT set_config('clutch.clock', '', false);

-- ----------------------------------------------------- what is left out is made
SELECT is(pg_temp.faults(clutch.envelope('task.request', 'agent:ui')), 'valid', 'the type and the sender are enough');
SELECT is(array(SELECT jsonb_object_keys(clutch.envelope('task.request', 'agent:ui')) ORDER BY 1),
	'{from,id,payload,run_id,task_id,thread_id,to,ts,type,v}', 'fields that were not given are not written');
SELECT is(e -> 'to', '[{"agent_id": "agent:orchestrator"}]', 'without a recipient the envelope is addressed to the orchestrator') FROM clutch.envelope('task.request', 'agent:ui') e;
SELECT is(e -> 'payload', '{}', 'without a payload it has an empty one') FROM clutch.envelope('task.request', 'agent:ui', payload => NULL) e;
SELECT matches(e ->> key, '^' || prefix || '_[0-9A-Z]{26}$', key || ' is made')
FROM clutch.envelope('task.request', 'agent:ui') e, (VALUES ('id', 'msg'), ('run_id', 'run'), ('thread_id', 'thr'), ('task_id', 'task')) AS t(key, prefix);
SET clutch.orchestrator = 'agent:boss';
SELECT is(e #>> '{to,0,agent_id}', 'agent:boss', 'the orchestrator is a setting') FROM clutch.envelope('task.request', 'agent:ui') e;
RESET clutch.orchestrator;

-- ------------------------------------------------------- what is said is written
CREATE TEMP TABLE built AS SELECT clutch.envelope('task.request', 'agent:ui', '{agent:a,group:b}', '{"q": 1}',
	run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:1', requires => '{skill:a,tool:b}', prefers => '{tag:c}',
	domain => 'research', payload_type => 'research.query.v1', schema_ref => 'schema://clutch/research/query@1',
	meta => '{"framework": "x", "clutch": {"scope": "group:t", "priority": 0}}', trace => '{"trace_id": "t"}',
	security => '{"policy": {"sandbox": false}}', attachments => '[{"kind": "artifact_ref", "ref": "artifact:1"}]',
	attempt => 2, id => 'msg_1', priority => 4, deadline => '1 hour', after => '{task_x,task_y}') AS e;
SELECT is(pg_temp.faults(e), 'valid', 'all arguments make a valid envelope') FROM built;
SELECT is(e - 'ts' - 'meta', '{"v": "clutch/0.1", "id": "msg_1", "to": [{"agent_id": "agent:a"}, {"agent_id": "group:b"}],
	"from": {"agent_id": "agent:ui"}, "type": "task.request", "trace": {"trace_id": "t"}, "domain": "research", "run_id": "run:1",
	"attempt": 2, "payload": {"q": 1}, "prefers": ["tag:c"], "task_id": "task:1", "requires": ["skill:a", "tool:b"],
	"security": {"policy": {"sandbox": false}}, "thread_id": "thread:1", "schema_ref": "schema://clutch/research/query@1",
	"attachments": [{"kind": "artifact_ref", "ref": "artifact:1"}], "payload_type": "research.query.v1"}'::jsonb, 'each argument is in its place') FROM built;
SELECT is(e -> 'meta',
	'{"framework": "x", "clutch": {"scope": "group:t", "priority": 4, "ttl_ms": 3600000, "after": ["task_x", "task_y"]}}'::jsonb,
	'orders are merged into meta.clutch, arguments before what stood there') FROM built;
SELECT is((e #>> '{meta,clutch,deadline}')::timestamptz - (e ->> 'ts')::timestamptz < interval '1 hour 1 second', true, 'a deadline counts from now')
FROM clutch.envelope('task.request', 'agent:ui', deadline => '1 hour') e;
SELECT is(e -> 'meta', '{"a": 1}', 'meta without orders is unchanged') FROM clutch.envelope('chat.message', 'agent:a', meta => '{"a": 1}') e;
SELECT is(pg_temp.faults(clutch.envelope('task.request', 'ken', ARRAY[NULL, 'x'], '[]', requires => ARRAY['a', NULL], attempt => 0, id => '')),
	'/attempt NUMBER_OUT_OF_RANGE, /from/agent_id WRONG_PREFIX, /id EMPTY, /payload WRONG_TYPE, /requires/1 NULL_VALUE, '
	'/to/0/agent_id NULL_VALUE, /to/1/agent_id WRONG_PREFIX', 'the builder accepts what validate() refuses');
SELECT is(pg_temp.faults(clutch.envelope(NULL, NULL)), '/from/agent_id REQUIRED, /type REQUIRED', 'even missing fields');
SELECT throws_ok($$ SELECT clutch.envelope('task.request', 'agent:a', meta => '[]', priority => 1) $$, '22023', NULL, 'orders need an object in meta');
SELECT throws_ok($$ SELECT clutch.envelope('task.request', 'agent:a', meta => '{"clutch": 1}', priority => 1) $$, '22023', NULL, 'and one in meta.clutch');
SELECT throws_ok($$ SELECT clutch.envelope('task.request', 'agent:a', deadline => '-1 hour') $$, '22023', 'argument "deadline" must be more than zero and at most 100000 years', 'a deadline is not in the past');
SELECT is(fixture.fault(format('SELECT clutch.envelope(''task.request'', ''agent:a'', deadline => %L)', deadline)), '22023 NUMBER_OUT_OF_RANGE deadline', deadline || ' have no end')
FROM (VALUES ('178000000 years'), ('2147483647 days'), ('2500000000 hours')) AS v(deadline);
SELECT is(pg_temp.faults(clutch.envelope('task.request', 'agent:a', deadline => '20000 years')), 'valid', 'but may have more than four digits of year');

-- ------------------------------------------------- a key makes a repeat the same
CREATE FUNCTION pg_temp.keyed(key text, from_agent text DEFAULT 'agent:ui', run text DEFAULT NULL, payload jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
$$ SELECT clutch.envelope('task.request', from_agent, idempotency_key => key, run_id => run, payload => payload,
	deadline => '1 month', priority => 1) - 'ts' $$;
SELECT is(pg_temp.keyed('k'), pg_temp.keyed('k'), 'a repeat differs in ts only');
SELECT is(pg_temp.faults(clutch.envelope('task.request', 'agent:ui', idempotency_key => 'k', deadline => '1 month')), 'valid', 'a derived envelope is valid');
SELECT is(pg_temp.keyed('k') #> '{meta,clutch,ttl_ms}', to_jsonb(30 * 86400 * 1000::bigint), 'its deadline is relative to ts');
SELECT isnt(pg_temp.keyed('k') -> 'id', pg_temp.keyed('l') -> 'id', 'another key has another id');
SELECT isnt(pg_temp.keyed('k') -> 'id', pg_temp.keyed('k', 'agent:other') -> 'id', 'another sender has another id');
SELECT isnt(pg_temp.keyed('k') -> 'task_id', pg_temp.keyed('k', run => 'run_1') -> 'task_id', 'another run has another task');
SELECT isnt(pg_temp.keyed('ab', 'agent:c') -> 'id', pg_temp.keyed('b', 'agent:ca') -> 'id', 'sender and key are kept apart');
SELECT is(pg_temp.keyed('k') -> 'id', pg_temp.keyed('k', payload => '{"a": 1}') -> 'id', 'other content has the same id, and will be refused');
SELECT matches(pg_temp.keyed('k') ->> 'id', '^msg_[0-7][0-9A-HJKMNP-TV-Z]{25}$', 'a derived id looks like any other');
SELECT is((SELECT count(DISTINCT pg_temp.keyed('k') ->> key)::int FROM unnest('{id,run_id,thread_id,task_id}'::text[]) key), 4, 'the derived ids of an envelope differ');
SELECT is(e ->> 'id' || (e ->> 'run_id'), 'msg_7run_7', 'an id that is given is not derived')
FROM clutch.envelope('task.request', 'agent:ui', idempotency_key => 'k', id => 'msg_7', run_id => 'run_7') e;

-- --------------------------------------------- and so does an id of the sender's
CREATE FUNCTION pg_temp.named(id text, from_agent text DEFAULT 'agent:ui', run text DEFAULT NULL, priority int DEFAULT 1) RETURNS jsonb LANGUAGE sql AS
$$ SELECT clutch.envelope('task.request', from_agent, id => id, run_id => run, deadline => '1 hour', priority => priority) $$;
SELECT is(pg_temp.named('msg_a') - 'ts', pg_temp.named('msg_a') - 'ts', 'a repeat differs in ts only');
SELECT is((SELECT string_agg(duplicate::text, ' ') FROM (VALUES (1), (2)) AS t(i), clutch.send(pg_temp.named('msg_a', run => 'run_' || i / 9))), 'false true', 'and is a duplicate');
SELECT is((SELECT string_agg(duplicate::text, ' ') FROM (VALUES (1), (2)) AS t(i), clutch.send(pg_temp.named('msg_b', 'agent:u' || i / 9))), 'false true', 'also without a run');
SELECT is(fixture.fault($$ SELECT clutch.send(pg_temp.named('msg_b', 'agent:u0', priority => 2)) $$), '23505 ID_REUSED /id', 'other content with the same id is refused');
SELECT isnt(pg_temp.named('msg_a') -> key, pg_temp.named('msg_a', 'agent:other') -> key, 'another sender has another ' || key) FROM unnest('{run_id,task_id}'::text[]) key;
SELECT isnt(pg_temp.named('k') -> 'task_id', pg_temp.keyed('k') -> 'task_id', 'an id and an equal key have different tasks');
CREATE ROLE protocol_build_stranger;
GRANT USAGE ON SCHEMA clutch TO protocol_build_stranger;
SET ROLE protocol_build_stranger;
SELECT throws_ok($$ SELECT clutch.envelope('task.request', 'agent:ui', id => 'msg_a') $$, '42501', NULL, 'only those who speak for the sender learn what its id stands for');
RESET ROLE;
DROP OWNED BY protocol_build_stranger;
DROP ROLE protocol_build_stranger;

-- ------------------------------------------------------ a part of another task
INSERT INTO clutch.task (task_id, run_id, thread_id, depth, status, from_agent, attempt, priority, reason, request_seq, since, created_at)
VALUES ('task_parent', 'run_parent', 'thr_parent', 0, 'running', 'agent:ui', 1, 2, 'new', 1, now(), now());
SELECT is(ARRAY[e ->> 'run_id', e ->> 'thread_id', e ->> 'parent_task_id'], '{run_parent,thr_parent,task_parent}', 'run and thread are taken from the parent')
FROM clutch.envelope('task.request', 'agent:a', parent_task_id => 'task_parent') e;
SELECT is(ARRAY[e ->> 'run_id', e ->> 'thread_id'], '{run_parent,thr_own}', 'unless they are given')
FROM clutch.envelope('task.request', 'agent:a', parent_task_id => 'task_parent', thread_id => 'thr_own') e;
SELECT is(a - 'ts', b - 'ts', 'the same part and key have the same task')
FROM clutch.envelope('task.request', 'agent:a', parent_task_id => 'task_parent', idempotency_key => 'part 1') a,
	clutch.envelope('task.request', 'agent:a', parent_task_id => 'task_parent', idempotency_key => 'part 1') b;
SELECT throws_ok($$ SELECT clutch.envelope('task.request', 'agent:a', parent_task_id => 'task_nowhere') $$, 'KL003', NULL, 'an unknown parent is refused');
SELECT lives_ok($$ SELECT clutch.envelope('task.request', 'agent:a', parent_task_id => 'task_nowhere', run_id => 'r', thread_id => 't') $$,
	'but not looked for if nothing is missing');

SELECT * FROM finish();
