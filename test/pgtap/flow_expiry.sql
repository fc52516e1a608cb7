-- A message with a TTL to which nobody replies: its sender is told (spec 003 5.1).
\ir ../fixtures/tap.sql
SELECT plan(29);
SET clutch.notify = off;
SELECT fixture.at(0) \g /dev/null
CREATE FUNCTION pg_temp.say(id text, kind text DEFAULT 'chat.message', whom text DEFAULT 'agent:ken', orders jsonb DEFAULT '{"ttl_ms": 10000}', sender text DEFAULT 'agent:ui')
RETURNS clutch.receipt LANGUAGE sql AS $$
	SELECT clutch.send(clutch.envelope(kind, sender, ARRAY[whom], CASE kind WHEN 'tool.call' THEN '{"tool": "mcp:browser", "args": {}}' ELSE '{"text": "?"}' END::jsonb,
		id => say.id, run_id => 'run:1', thread_id => 'thread:1', task_id => 'task:talk', trace => '{"trace_id": "tr_1"}', meta => jsonb_build_object('clutch', orders)))
$$;
-- what the database replied to a message
CREATE FUNCTION pg_temp.told(id text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', type, from_agent, to_agents, envelope #>> '{payload,code}', envelope #>> '{payload,details,message_id}', envelope #>> '{trace,trace_id}'), ', ' ORDER BY seq)
	FROM clutch.events e WHERE e.from_agent = 'agent:orchestrator' AND e.envelope #>> '{meta,clutch,reply_to}' = told.id
$$;

SELECT pg_temp.say('msg_1'), pg_temp.say('msg_2', 'tool.call', 'agent:mcp'), pg_temp.say('msg_3', orders => '{}'), pg_temp.say('msg_4', whom => 'topic:news'), pg_temp.say('msg_5', whom => 'group:*'),
	pg_temp.say('msg_6'), pg_temp.say('msg_7', 'tool.call', 'agent:mcp'), pg_temp.say('msg_8', orders => '{"deadline": "2026-01-01T12:01:00Z"}') \g /dev/null
SELECT is((SELECT string_agg(id, ' ' ORDER BY id) FROM clutch.expiry), 'msg_1 msg_2 msg_6 msg_7 msg_8', 'messages to agents that give a time wait for a reply');
SELECT is((pg_temp.say('msg_1')).duplicate, true, 'a resend');
SELECT is((SELECT count(*) FROM clutch.expiry WHERE id = 'msg_1'), 1::bigint, 'waits once');
SELECT fixture.at(5) \g /dev/null
SELECT pg_temp.say('msg_a6', orders => '{"reply_to": "msg_6"}', sender => 'agent:ken', whom => 'agent:ui'),
	pg_temp.say('msg_a7', 'tool.result', orders => '{"reply_to": "msg_7"}', sender => 'agent:mcp', whom => 'agent:ui') \g /dev/null
SELECT is((SELECT string_agg(id, ' ' ORDER BY id) FROM clutch.expiry), 'msg_1 msg_2 msg_8', 'a reply ends the wait');
SELECT is((clutch.tick() ->> 'unanswered')::int, 0, 'before its time nothing happens');
SELECT fixture.at(10) \g /dev/null
SELECT is((SELECT string_agg(code || ' ' || detail, ', ') FROM clutch.check()), NULL, 'a message may be due for a moment');
SELECT is((clutch.tick() ->> 'unanswered')::int, 2, 'a tick notices that nobody replied');
SELECT is(pg_temp.told('msg_1'), 'chat.system agent:orchestrator {agent:ui} TIMEOUT msg_1 tr_1', 'the sender of a message is told');
SELECT is(pg_temp.told('msg_2'), 'tool.error agent:orchestrator {agent:ui} TIMEOUT msg_2 tr_1', 'a tool.call is answered by an error');
SELECT is(pg_temp.told('msg_3'), NULL, 'a message that gives no time is not');
SELECT is(pg_temp.told('msg_4'), NULL, 'nor one to a topic');
SELECT is(pg_temp.told('msg_5'), NULL, 'nor a broadcast');
SELECT is(pg_temp.told('msg_6'), NULL, 'nor one that was replied to');
SELECT is(pg_temp.told('msg_7'), NULL, 'by a tool as well');
SELECT is((clutch.tick() ->> 'unanswered')::int, 0, 'it is said once');
SELECT is((SELECT string_agg(type || ' ' || thread_id || ' ' || run_id || ' ' || task_id, ', ') FROM clutch.events WHERE from_agent = 'agent:orchestrator' AND envelope #>> '{meta,clutch,reply_to}' = 'msg_1'),
	'chat.system thread:1 run:1 task:talk', 'where the message was');
CREATE TEMP TABLE before AS SELECT * FROM clutch.expiry;
SELECT clutch.rebuild() \g /dev/null
SELECT is((SELECT string_agg(e::text, ' ') FROM clutch.expiry e), (SELECT string_agg(b::text, ' ') FROM before b), 'a rebuild finds what still waits');
SELECT is((SELECT count(*) FROM before), 1::bigint, 'which is one message');
SELECT fixture.at(200) \g /dev/null
SELECT is((SELECT string_agg(code || ': ' || detail, ', ') FROM clutch.check()) ~ '^TIMER_OVERDUE: a message has been due since', true, 'check() says if nothing ticks');
SELECT ok((SELECT value FROM clutch.metrics() WHERE name = 'clutch_timer_overdue_seconds') >= 140, 'and so do the metrics');
SELECT clutch.tick() \g /dev/null
SELECT is(pg_temp.told('msg_8'), 'chat.system agent:orchestrator {agent:ui} TIMEOUT msg_8 tr_1', 'a deadline is a time as well');

-- a reply that comes too late is kept like any message
SELECT pg_temp.say('msg_a8', orders => '{"reply_to": "msg_8"}', sender => 'agent:ken', whom => 'agent:ui') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.events WHERE id = 'msg_a8'), 1::bigint, 'a late reply is kept');

-- a sender that cannot be told, because a trigger of the user refuses
CREATE FUNCTION fixture.refuses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'not now';
END $$;
CREATE TRIGGER refuses AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.type = 'chat.system') EXECUTE FUNCTION fixture.refuses();
SET timezone = 'UTC';
SET client_min_messages = error;
SELECT pg_temp.say('msg_9') \g /dev/null
SELECT fixture.at(220) \g /dev/null
-- the first tick that meets the error fails, and those after it go on with the others
DO $$ BEGIN PERFORM clutch.tick(); EXCEPTION WHEN raise_exception THEN NULL; END $$;
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(code || ' ' || detail, ', ') FROM clutch.check()), NULL, 'a message that is tried again is no fault for a minute');
SELECT fixture.at(281), clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(code || ': ' || detail, ', ') FROM clutch.check()),
	'TIMER_OVERDUE: messages whose senders cannot be told that nobody replied: 1, the first of which has been due since 2026-01-01 12:03:30+00',
	'after that, check() reports it, though it has just been tried again');
SELECT is((SELECT value FROM clutch.metrics() WHERE name = 'clutch_timer_overdue_seconds'), 71::double precision, 'and so do the metrics');
DROP TRIGGER refuses ON clutch.events;
SELECT fixture.at(350), clutch.tick() \g /dev/null
SELECT is(pg_temp.told('msg_9'), 'chat.system agent:orchestrator {agent:ui} TIMEOUT msg_9 tr_1', 'when nothing is in the way any more, the sender is told');

-- one that is always refused does not keep others from being told, however rarely something ticks
CREATE TRIGGER refuses AFTER INSERT ON clutch.events FOR EACH ROW WHEN (NEW.envelope #>> '{payload,details,message_id}' = 'msg_bad') EXECUTE FUNCTION fixture.refuses();
SELECT pg_temp.say('msg_bad') \g /dev/null
SELECT fixture.at(1000), clutch.tick() \g /dev/null
SELECT pg_temp.say('msg_good1') \g /dev/null
SELECT fixture.at(1600), clutch.tick() \g /dev/null
SELECT pg_temp.say('msg_good2') \g /dev/null
SELECT fixture.at(2200), clutch.tick() \g /dev/null
SELECT pg_temp.say('msg_good3') \g /dev/null
SELECT fixture.at(2800), clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(envelope #>> '{payload,details,message_id}', ' ' ORDER BY seq) FROM clutch.events WHERE envelope #>> '{payload,details,message_id}' ~ '^msg_(bad|good)'),
	'msg_good1 msg_good2 msg_good3', 'a message that is always refused keeps no other from being told, however rarely something ticks');
DROP TRIGGER refuses ON clutch.events;

-- many that are due at the same instant
SELECT count(pg_temp.say('msg_same' || n, orders => '{"deadline": "2026-01-01T13:00:00Z"}')) FROM generate_series(1, 300) n \g /dev/null
SELECT fixture.at(3601) \g /dev/null
CREATE VIEW pg_temp.reads AS SELECT pg_stat_get_xact_tuples_returned('clutch.expiry_pkey'::regclass) AS n;
BEGIN;
SELECT n AS before FROM pg_temp.reads \gset
SELECT clutch.tick(), clutch.settle() \g /dev/null
SELECT cmp_ok(n - :before, '<=', 2000::bigint, 'messages that are due at the same instant are read a few times each') FROM pg_temp.reads;
COMMIT;
SELECT is((SELECT count(*) FROM clutch.events WHERE envelope #>> '{payload,details,message_id}' LIKE 'msg_same%'), 300::bigint, 'and all their senders are told');
