-- The numbers that show how the database is doing.
\ir ../fixtures/tap.sql
SELECT plan(50);
SET clutch.notify = off;
SET clutch.heartbeat_interval = 0;
SET clutch.breaker_failures = 1;
SET clutch.retry_max = 0;
SET clutch.clock = '2026-03-01T00:00:00Z';

CREATE FUNCTION pg_temp.card(name text, skill text) RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.register(jsonb_build_object('v', 'clutch/0.1', 'agent_id', 'agent:' || name, 'display', jsonb_build_object('name', name),
		'capabilities', jsonb_build_array(jsonb_build_object('id', skill)), 'limits', '{"max_concurrency": 5}'::jsonb)) $$;
CREATE FUNCTION pg_temp.ask(task text, skill text DEFAULT 'skill:x', meta jsonb DEFAULT '{}') RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope('task.request', 'agent:ui', id => 'msg_' || task, run_id => 'run:1', thread_id => 'thread:1',
		task_id => 'task:' || task, requires => ARRAY[skill], meta => meta)) $$;
CREATE FUNCTION pg_temp.value(metric text, label jsonb DEFAULT '{}') RETURNS double precision LANGUAGE sql AS
$$ SELECT value FROM clutch.metrics() WHERE name = metric AND labels = label $$;

SELECT set_eq('SELECT name FROM clutch.metrics() WHERE name NOT IN (''clutch_dead_rows'')',
	$$SELECT name FROM clutch.metric_names WHERE name !~ '^clutch_agent_' AND name NOT IN ('clutch_agents', 'clutch_subscription_behind', 'clutch_subscription_oldest_seconds', 'clutch_dead_rows')$$,
	'metrics that are not by agent or subscription exist in an empty database');
SELECT is((SELECT sum(value) FROM clutch.metrics() WHERE name IN ('clutch_tasks', 'clutch_queue_size', 'clutch_queue_oldest_seconds', 'clutch_timer_overdue_seconds')), 0::double precision, 'and are 0');

SELECT pg_temp.card('ken', 'skill:x'), pg_temp.card('lois', 'skill:y') \g /dev/null
SELECT pg_temp.ask('ready' || n) FROM generate_series(1, 3) n \g /dev/null
SELECT pg_temp.ask('done', 'skill:y'), pg_temp.ask('bad', 'skill:y'), pg_temp.ask('asks', 'skill:y'), pg_temp.ask('waits', 'skill:z') \g /dev/null
SELECT clutch.claim('agent:lois', 3, '1 hour') \g /dev/null
SELECT clutch.subscribe('s') \g /dev/null
CREATE TEMP TABLE subscribed AS SELECT max(seq) AS seq FROM clutch.events;
SELECT clutch.finish('agent:lois', 'task:done') \g /dev/null
SELECT clutch.progress('agent:lois', 'task:asks', '{"state": "input_required"}') \g /dev/null
SELECT clutch.fail('agent:lois', 'task:bad', 'E', 'bad', false) \g /dev/null
SELECT clutch.schedule('bad', '* * * * *', clutch.envelope('chat.message', 'agent:ui', '{agent:ken}', run_id => 'run:1')) \g /dev/null
UPDATE clutch.schedule SET envelope = '{"type": "none"}';
SET clutch.clock = '2026-03-01T00:10:00Z';

SELECT is((SELECT jsonb_object_agg(labels ->> 'status', value) FROM clutch.metrics() WHERE name = 'clutch_tasks'),
	'{"pending": 1, "assigned": 3, "running": 0, "input_required": 1, "completed": 1, "failed": 1, "cancelled": 0, "timed_out": 0, "suspended": 0}'::jsonb, 'tasks by status');
SELECT is((SELECT jsonb_object_agg(labels ->> 'queue', value) FROM clutch.metrics() WHERE name = 'clutch_queue_size') - 'timer', '{"ready": 3, "waiting": 1, "question": 1, "suspended": 0, "consequence": 0}', 'the queues by kind');
SELECT is((SELECT jsonb_object_agg(labels ->> 'queue', value) FROM clutch.metrics() WHERE name = 'clutch_queue_oldest_seconds'), '{"ready": 600, "waiting": 600, "question": 600, "suspended": 0, "consequence": 0}', 'and how long their tasks have waited');
BEGIN;
SET LOCAL track_functions = 'all';
SELECT is(pg_temp.value('clutch_queue_size', '{"queue": "question"}'), 1::double precision, 'a question is counted');
SELECT is(pg_stat_get_xact_function_calls('clutch.envelope_of(bigint)'::regprocedure), NULL, 'without reading its event');
COMMIT;
SELECT is(pg_temp.value('clutch_agent_queue_size', '{"agent_id": "agent:ken"}'), 3::double precision, 'load and success by agent');
SELECT is(pg_temp.value('clutch_timer_overdue_seconds'), 540::double precision, 'a schedule that is overdue is counted');
SELECT clutch.set_status('agent:ken', 'STOPPING') \g /dev/null
SELECT is((SELECT jsonb_object_agg(labels ->> 'status', value) FROM clutch.metrics() WHERE name = 'clutch_agents'), '{"READY": 1, "STOPPING": 1}', 'agents by status');
SELECT is(pg_temp.value('clutch_breakers', '{"state": "half_open"}') || ' ' || pg_temp.value('clutch_breakers', '{"state": "open"}'), '1 0', 'open breakers by agent');
SELECT is(pg_temp.value('clutch_subscription_behind', jsonb_build_object('owner', current_user, 'name', 's', 'member', 0)), (SELECT count(*)::double precision FROM clutch.events WHERE seq > (SELECT s.seq FROM subscribed s)),
	'a subscription that is not read falls behind');
SELECT is(pg_temp.value('clutch_subscription_oldest_seconds', jsonb_build_object('owner', current_user, 'name', 's', 'member', 0)), 600::double precision, 'for ten minutes');
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.value('clutch_schedules_failing'), 1::double precision, 'a failing schedule is counted');
SELECT is(pg_temp.value('clutch_log_seq'), (SELECT max(seq)::double precision FROM clutch.events), 'the end of the log');
SELECT is(pg_temp.value('clutch_timer_overdue_seconds'), 0::double precision, 'nothing is overdue');
SELECT clutch.unschedule('bad') \g /dev/null
SET clutch.clock = '2026-03-02T00:30:00Z';
SELECT is(pg_temp.value('clutch_timer_overdue_seconds'), 1800::double precision, 'an overdue timer is counted');

-- the text for Prometheus
CREATE TEMP TABLE page AS SELECT regexp_split_to_table(rtrim(clutch.prometheus(), E'\n'), E'\n') AS line;
SELECT is((SELECT count(*) FROM page WHERE line !~ '^# HELP clutch_[a-z_]+ .+\.$' AND line !~ '^# TYPE clutch_[a-z_]+ (gauge|counter|histogram)$'
	AND line !~ '^clutch_[a-z_]+({[a-z_]+="([^"\\]|\\.)*"(,[a-z_]+="([^"\\]|\\.)*")*})? -?[0-9.e+-]+$'), 0::bigint, 'each line has the format of Prometheus');
SELECT is((SELECT count(*) FROM page WHERE line LIKE 'clutch_tasks{status="completed"} 1'), 1::bigint, 'with its labels');
SELECT is((SELECT count(*) - count(DISTINCT line) FROM page), 0::bigint, 'and no line comes twice');
SELECT clutch.subscribe(E'a"b\\c\nd') \g /dev/null
SELECT ok(position(E'{member="0",name="a\\"b\\\\c\\nd",owner="' || current_user || '"}' IN clutch.prometheus()) > 0, 'special characters are escaped');
CREATE ROLE metrics_reader;
SELECT clutch.grant_reader('metrics_reader') \g /dev/null
SET ROLE metrics_reader;
SELECT lives_ok('SELECT clutch.prometheus()', 'a reader may scrape');
SET extra_float_digits = -15;
SELECT is((SELECT count(*) FROM regexp_matches(clutch.prometheus(), ' [0-9.]+e[+][0-9]+', 'g')), 0::bigint, 'and gets all digits, whatever it shows itself');
RESET extra_float_digits;
RESET ROLE;
DROP OWNED BY metrics_reader;
DROP ROLE metrics_reader;

-- ------------------------------------------- the counters of spec 003 7.2
SELECT set_config('clutch.clock', '', false) \g /dev/null
CREATE FUNCTION pg_temp.counts() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', name, labels, value), E'\n' ORDER BY name, labels::text) FROM clutch.metrics()
	WHERE name ~ '^clutch_agent_(messages|errors|request)' AND name <> 'clutch_agent_request_duration_sum'
$$;
SELECT fixture.agent('metric', 9, '{skill:metric}') \g /dev/null
SELECT fixture.ask('task:metric' || i, skill => 'skill:metric', run => 'run:metric') FROM generate_series(1, 3) i \g /dev/null
SELECT clutch.fail('agent:metric', task_id, 'BROKEN', 'm', false) FROM clutch.claim('agent:metric', 1) \g /dev/null
SELECT clutch.finish('agent:metric', task_id) FROM clutch.claim('agent:metric', 9) \g /dev/null
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_agent_messages_total' AND labels = '{"source": "agent:metric", "dest": "agent:ui", "type": "task.result"}'), 2::double precision, 'messages are counted by source, dest and type');
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_agent_errors_total' AND labels = '{"source": "agent:metric", "error_type": "BROKEN"}'), 1::double precision, 'errors by source and type');
SELECT clutch.send(clutch.envelope('tool.error', 'agent:metric', '{agent:ui, agent:boss}', '{"code": "TWICE", "message": "m"}', run_id => 'run:metric', meta => '{"clutch": {"reply_to": "msg:1"}}')) \g /dev/null
SELECT is((SELECT string_agg(labels ->> 'dest', ' ' ORDER BY labels ->> 'dest') FROM clutch.metrics() WHERE name = 'clutch_agent_messages_total' AND labels @> '{"source": "agent:metric", "type": "tool.error"}' AND value = 1), 'agent:boss agent:ui', 'a message to two counts for each of them');
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_agent_errors_total' AND labels = '{"source": "agent:metric", "error_type": "TWICE"}'), 1::double precision, 'an error to two counts once');
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_agent_request_duration_count' AND labels = '{"source": "agent:ui", "dest": "agent:metric"}'), 3::double precision, 'and durations by source and dest');
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_agent_request_duration_bucket' AND labels = '{"source": "agent:ui", "dest": "agent:metric", "le": "+Inf"}'), 3::double precision, 'in buckets');
CREATE TEMP TABLE counts_before AS SELECT pg_temp.counts() AS counts;
SELECT fixture.await_others() \g /dev/null
DO $$ BEGIN FOR i IN 1 .. 3 LOOP PERFORM clutch.count_more(5000); END LOOP; END $$;
SELECT ok((SELECT count(*) FROM clutch.event_count) > 5, 'a tick counts them for good');
SELECT is(pg_temp.counts(), counts, 'which changes no figure') FROM counts_before;
SELECT clutch.send(clutch.envelope('chat.message', 'agent:metric', '{agent:ui}', run_id => 'run:metric')) \g /dev/null
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_agent_messages_total' AND labels = '{"source": "agent:metric", "dest": "agent:ui", "type": "chat.message"}'), 1::double precision, 'what comes later is counted with them');
SELECT fixture.await_others() \g /dev/null
SELECT is((SELECT clutch.count_more(5000) + 10 * clutch.count_more(5000)), 1, 'an idle database is not counted again');
SELECT is((SELECT string_agg(m[1], ' ') FROM regexp_matches(clutch.prometheus(), 'clutch_agent_request_duration_bucket{dest="agent:metric",le="([^"]*)"', 'g') m),
	'0.1 0.5 1 5 10 60 300 3600 +Inf', 'Prometheus gets a histogram, whose buckets are in order');

-- only what ends a task has a duration, and it belongs to the agent that had the task
CREATE FUNCTION pg_temp.durations(requester text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', coalesce(nullif(labels ->> 'dest', ''), 'nobody'), value), ', ' ORDER BY labels ->> 'dest') FROM clutch.metrics()
	WHERE name = 'clutch_agent_request_duration_count' AND labels ->> 'source' = requester
$$;
SET clutch.retry_max = 3;
SET clutch.retry_initial = 0;
SET clutch.retry_max_delay = 0;
SELECT fixture.agent('first', 9, '{skill:twice}') \g /dev/null
SELECT clutch.send(clutch.envelope('task.request', 'agent:asker', run_id => 'run:asker', thread_id => 'thread:1', task_id => 'asked' || n, requires => '{skill:twice}')) FROM generate_series(1, 5) n \g /dev/null
SELECT clutch.fail('agent:first', task_id, 'UNAVAILABLE', 'busy') FROM clutch.claim('agent:first', 1) \g /dev/null
SELECT fixture.agent('first', 9, '{skill:other}'), fixture.agent('second', 9, '{skill:twice}') \g /dev/null
SELECT pg_sleep(0.01), clutch.tick() \g /dev/null
SELECT is(fixture.state('asked1'), 'assigned agent:second 2', 'another agent is to try again what one has failed');
SELECT clutch.finish('agent:second', task_id) FROM clutch.claim('agent:second', 1) \g /dev/null
SELECT clutch.finish('agent:first', task_id) FROM clutch.claim('agent:first', 1) \g /dev/null
SELECT clutch.fail('agent:first', task_id, 'NO_GOOD', 'no', false) FROM clutch.claim('agent:first', 1) \g /dev/null
SELECT clutch.cancel('asked4') \g /dev/null
SELECT is(pg_temp.durations('agent:asker'), 'agent:first 3, agent:second 1', 'an error that is retried has no duration, and a cancel has one');
SELECT fixture.await_others() \g /dev/null
SELECT clutch.count_more(5000) \g /dev/null
SELECT is(pg_temp.durations('agent:asker'), 'agent:first 3, agent:second 1', 'also when a tick has counted them');

BEGIN;
UPDATE clutch.event_count SET buckets = '{1,2,4,8,16,32,64,128}', n = 200 WHERE type = 'duration' AND dest = 'agent:metric';
SELECT is((SELECT string_agg(value::text, ' ' ORDER BY value) FROM clutch.metrics()
		WHERE name = 'clutch_agent_request_duration_bucket' AND labels ->> 'dest' = 'agent:metric'),
	'1 2 4 8 16 32 64 128 200', 'each of which has its own number');
ROLLBACK;

-- whoever sends can invent names and codes, and what is counted is never pruned
SELECT clutch.send(clutch.envelope('chat.message', 'agent:metric', '{agent:ui}', run_id => 'run:metric')) \g /dev/null
SELECT fixture.await_others() \g /dev/null
BEGIN;
INSERT INTO clutch.event_count
	SELECT 'agent:crowd', 'agent:' || i, t.type, CASE WHEN t.type = 'task.error' THEN 'C' || i ELSE '' END, 1, 2, CASE WHEN t.type = 'duration' THEN '{0,0,0,1,1,1,1,1}'::bigint[] ELSE '{}' END
	FROM generate_series(1, 10000) i, (VALUES ('task.error'), ('duration')) AS t(type);
INSERT INTO clutch.event_count SELECT 'agent:wrong', 'agent:' || i, 'task.error', 'E', 1, 0, '{}' FROM generate_series(1, 300) i;
UPDATE clutch.event_count SET n = 3 WHERE source NOT IN ('agent:crowd', 'agent:wrong');
INSERT INTO clutch.event_count VALUES ('', '', 'duration', '', 5, 6, '{0,0,0,0,0,5,5,5}');
CREATE TEMP TABLE sums_before AS SELECT type, sum(n) AS n, sum(seconds) AS seconds, sum(buckets[4]) AS fourth, sum(buckets[8]) AS eighth FROM clutch.event_count GROUP BY type;
CREATE TEMP TABLE frequent AS SELECT source, dest, type, code FROM clutch.event_count WHERE source NOT IN ('', 'agent:crowd', 'agent:wrong');
SELECT clutch.count_more(5000) \g /dev/null
SELECT cmp_ok((SELECT count(*) FROM clutch.event_count WHERE source <> ''), '<=', 10100::bigint, 'the rarest are counted together');
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_agent_errors_total' AND labels = '{"source": "agent:wrong", "error_type": "E"}'), 300::double precision, 'the errors of an agent do not decrease, although each of many agents was told of one');
SELECT is((SELECT string_agg(concat_ws(' ', type, nullif(code, '')), ', ' ORDER BY type) FROM clutch.event_count WHERE source = '' AND dest = ''), 'duration, task.error OTHER', 'by type, and errors apart from what is none');
SELECT is((SELECT count(*) FROM frequent f WHERE NOT EXISTS (SELECT FROM clutch.event_count c WHERE (c.source, c.dest, c.type, c.code) = (f.source, f.dest, f.type, f.code))), 0::bigint, 'the others stay as they are');
SELECT is((SELECT count(*) FROM sums_before b JOIN (SELECT type, sum(n) AS n, sum(seconds) AS seconds, sum(buckets[4]) AS fourth, sum(buckets[8]) AS eighth FROM clutch.event_count GROUP BY type) a USING (type)
	WHERE type <> 'chat.message' AND (a.n, a.seconds, a.fourth, a.eighth) IS DISTINCT FROM (b.n, b.seconds, b.fourth, b.eighth)), 0::bigint, 'and nothing is lost');
ROLLBACK;

-- ------------------------------------------------------------------- sealing
SET clutch.seal_interval = '1h';
SELECT fixture.seal() \g /dev/null
SELECT is(pg_temp.value('clutch_unsealed_seconds'), 0::double precision, 'everything is sealed');
SET clutch.clock = '2026-03-03T00:00:00Z';
SELECT clutch.send(clutch.envelope('chat.message', 'agent:metric', '{agent:ui}', run_id => 'run:metric')) \g /dev/null
SET clutch.clock = '2026-03-03T00:10:00Z';
SELECT is(pg_temp.value('clutch_unsealed_seconds'), 600::double precision, 'an event has not been sealed for ten minutes');
SET clutch.seal_interval = 0;
SELECT is(pg_temp.value('clutch_unsealed_seconds'), 0::double precision, 'which does not count if nothing is to be sealed');
RESET clutch.seal_interval;
SELECT fixture.seal() \g /dev/null
SELECT is(pg_temp.value('clutch_unsealed_seconds'), 0::double precision, 'it is sealed');

-- the name of a role that SQL writes in quotes
CREATE ROLE "read_metrics-Reader";
SELECT clutch.grant_reader('read_metrics-Reader');
SET ROLE "read_metrics-Reader";
SELECT clutch.subscribe('quoted') \g /dev/null
RESET ROLE;
SELECT is((SELECT string_agg(DISTINCT m.labels ->> 'owner', ' ') FROM clutch.metrics() m WHERE m.labels ->> 'name' = 'quoted'), 'read_metrics-Reader', 'the owner of a subscription has no quotes around its name');
SELECT FROM clutch.unsubscribe('quoted');
DROP OWNED BY "read_metrics-Reader";
DELETE FROM clutch.subscription WHERE name = 'quoted';
DELETE FROM clutch.privilege;
DROP ROLE "read_metrics-Reader";

-- a role can have any number of readers
SELECT clutch.subscribe('crowd' || i, members => 600) FROM generate_series(1, 2) i \g /dev/null
SELECT clutch.send(clutch.envelope('chat.message', 'agent:metric', '{agent:ui}', run_id => 'run:metric')) \g /dev/null
SELECT clutch.subscribe('late') \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', name, n), ', ' ORDER BY name) FROM (SELECT name, count(*) AS n FROM clutch.metrics() WHERE name LIKE 'clutch_subscription_%' GROUP BY name) m),
	'clutch_subscription_behind 1000, clutch_subscription_oldest_seconds 1000', 'the metrics have a thousand of them');
SELECT is((SELECT count(*) FROM clutch.metrics() WHERE labels ->> 'name' = 'late'), 0::bigint, 'those that lag most');
SELECT clutch.unsubscribe(name) FROM (VALUES ('crowd1'), ('crowd2'), ('late')) AS s(name) \g /dev/null

SELECT * FROM finish();
