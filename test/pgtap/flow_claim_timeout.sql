-- Unclaimed work moves (clutch.claim_timeout; DESIGN 3).
\ir ../fixtures/tap.sql
SELECT plan(54);
SET clutch.notify = off;
SET clutch.heartbeat_interval = 0;
SET clutch.breaker_failures = 0;

CREATE FUNCTION pg_temp.stuck() RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(string_agg(concat_ws(' ', task_id, agent_id, problem), ', ' ORDER BY task_id), 'nothing') FROM clutch.stuck $$;
CREATE FUNCTION pg_temp.moves() RETURNS bigint LANGUAGE sql AS
$$ SELECT count(*) FROM clutch.events WHERE envelope #>> '{meta,clutch,move}' = 'unclaimed' $$;

-- ------------------------------------------------------------- given by a tick
SELECT fixture.at(0), fixture.agent('ken') \g /dev/null
SELECT fixture.ask('a1') \g /dev/null
SELECT is(current_setting('clutch.claim_timeout'), '1min', 'the time to claim a task is a minute');
SELECT fixture.agent('lois') \g /dev/null
SELECT is((SELECT count(*) FROM clutch.timer), 1::bigint, 'a task that is assigned has one timer');
SELECT fixture.at(59), clutch.tick() \g /dev/null
SELECT is(fixture.state('a1'), 'assigned agent:ken 1', 'before the time nothing happens');
SELECT is(pg_temp.stuck(), 'nothing', 'and nothing is stuck');
SELECT fixture.at(60) \g /dev/null
SELECT is((SELECT clutch.tick() ->> 'unclaimed'), '1', 'the tick says how many were not claimed');
SELECT is(fixture.state('a1'), 'assigned agent:lois 2', 'and gives the task to another agent that has room');
SELECT is((SELECT string_agg(m - 'since' #>> '{}', ' ') FROM fixture.moves('a1', 'unclaimed') m), '{"idle": true, "state": "unclaimed", "agent_id": "agent:ken"}', 'an event records it');
SELECT is((SELECT count(*) FROM clutch.agent_slot WHERE agent_id = 'agent:ken' AND task_id IS NOT NULL), 0::bigint, 'the other has its slot back');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT is(fixture.claimed('agent:ken'), 'nothing', 'who did not claim it has nothing now');
SELECT is((SELECT late FROM clutch.report('agent:ken', 'a1', 'task.result', attempt => 1)), true, 'and its report is late');
SELECT is(fixture.claimed('agent:lois'), 'a1 2 moved', 'the other claims it');
SELECT is((SELECT unclaimed FROM clutch.task WHERE task_id = 'a1'), 0, 'which ends the count');
SELECT clutch.finish('agent:lois', 'a1') \g /dev/null

-- ------------------------------------------------ while nobody else can have it
SELECT fixture.at(1000), clutch.set_status('agent:lois', 'STOPPED') \g /dev/null
SELECT fixture.ask('b1') \g /dev/null
SELECT fixture.at(1061), clutch.tick() \g /dev/null
SELECT is(fixture.state('b1'), 'assigned agent:ken 1', 'while no other agent fits, it stays where it is');
SELECT is(pg_temp.stuck(), 'b1 agent:ken not claimed', 'and is listed as stuck');
SELECT is((SELECT string_agg(code, ' ') FROM clutch.check()), NULL, 'the state is sound');
SELECT count(clutch.tick()) AS ticks, max(seq) AS before FROM clutch.events \gset
SELECT fixture.at(9000), clutch.tick() \g /dev/null
SELECT is((SELECT max(seq) FROM clutch.events), :before::bigint, 'nothing more is written about it');
SELECT fixture.agent('lois') \g /dev/null
SELECT is(fixture.state('b1'), 'assigned agent:lois 2', 'an agent that comes gets it');
SELECT clutch.cancel('b1') \g /dev/null

-- ---------------------------------------------------- taken by an idle claimer
SELECT fixture.agent('ken', 2), clutch.set_status('agent:lois', 'UNAVAILABLE') \g /dev/null
SELECT fixture.ask('c1'), fixture.ask('c2') \g /dev/null
SELECT clutch.set_status('agent:lois', 'READY'), fixture.at(9061) \g /dev/null
SELECT is(fixture.claimed('agent:lois'), 'c1 2 moved', 'an idle claimer takes it, and nobody has ticked');
SELECT is(fixture.claimed('agent:ken'), 'c2 1 new', 'its own agent may still claim what is offered');
SELECT is((SELECT count(*) FROM clutch.waiting), 0::bigint, 'and then it is offered no more');
SELECT clutch.finish('agent:lois', 'c1'), clutch.finish('agent:ken', 'c2') \g /dev/null
SELECT fixture.ask('c3', 'agent:ken') \g /dev/null
SELECT fixture.at(9200), clutch.tick() \g /dev/null
SELECT is(fixture.claimed('agent:lois'), 'nothing', 'a task for one agent is for no other');
SELECT is(pg_temp.stuck(), 'c3 agent:ken not claimed', 'it is stuck');
SELECT is((SELECT count(*) FROM clutch.cancel('c3')), 1::bigint, 'and can be cancelled');
SELECT is((SELECT count(*) FROM clutch.waiting), 0::bigint, 'with its offer');

-- ------------------------------------- its own offered tasks are no hindrance
-- ken has 80 tasks that nobody else can have, and one more waits behind them.
SELECT fixture.at(9300), clutch.set_status('agent:lois', 'STOPPED'), fixture.agent('ken', 80) \g /dev/null
SELECT count(fixture.ask('m' || i)) FROM generate_series(10, 89) i \g /dev/null
SELECT fixture.at(9400), clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.waiting), 80::bigint, 'each of many unclaimed tasks is offered');
SELECT is((SELECT count(*) FROM clutch.waiting WHERE from_agent = 'agent:ui'), 0::bigint, 'which does not count as a kind of their requester');
SELECT fixture.ask('n1') \g /dev/null
SELECT is(fixture.state('n1'), 'pending 1', 'another one waits');
SELECT count(fixture.claimed('agent:ken', 1)), count(clutch.finish('agent:ken', 'm10')) \g /dev/null
SELECT is(fixture.state('n1'), 'assigned agent:ken 1', 'and gets the slot that becomes free, past those that the agent has already');
SELECT clutch.cancel_run(run_id) FROM (SELECT DISTINCT run_id FROM clutch.tasks WHERE task_id ~ '^[mn]' AND finished_at IS NULL) r \g /dev/null
SELECT fixture.agent('ken', 2), fixture.agent('lois') \g /dev/null

-- -------------------------------------------------------- no endless exchange
-- Two agents that never claim, and a day of ticks.
SELECT fixture.at(10000), fixture.ask('d1'), pg_temp.moves() AS before \gset
DO $$ BEGIN
	FOR minute IN 1 .. 1430 LOOP
		PERFORM fixture.at(10000 + minute * 60);
		PERFORM clutch.tick();
		PERFORM clutch.settle();
	END LOOP;
END $$;
SELECT is((SELECT status FROM clutch.tasks WHERE task_id = 'd1'), 'assigned', 'the task waits for one of them');
SELECT is(pg_temp.moves() - :before, 1::bigint, 'and has moved once');
SELECT is(pg_temp.stuck(), 'd1 ' || (SELECT agent_id FROM clutch.tasks WHERE task_id = 'd1') || ' not claimed', 'it is stuck');
SELECT is(fixture.claimed((SELECT past_agents[1] FROM clutch.task WHERE task_id = 'd1')), 'd1 3 moved', 'but whoever asks for work gets it, also the agent that let it pass');
SELECT is(fixture.rebuilt(), 'the same', 'rebuild finds the same');
SELECT clutch.cancel('d1') \g /dev/null
-- with five of them, each has twice the time of the one before
SELECT fixture.at(200000), fixture.agent('e' || n, 1, '{skill:e}'), fixture.ask('e1', NULL, 'skill:e') FROM generate_series(1, 5) n \g /dev/null
DO $$ BEGIN
	FOR minute IN 1 .. 60 LOOP
		PERFORM fixture.at(200000 + minute * 60);
		PERFORM clutch.tick();
		PERFORM clutch.settle();
	END LOOP;
END $$;
SELECT is((SELECT string_agg((fixture.since_noon(received_at)::int - 200000)::text, ' ' ORDER BY seq) FROM clutch.events WHERE task_id = 'e1' AND envelope #>> '{meta,clutch,move}' = 'unclaimed'),
	'60 180 420 900', 'each agent that never claims has it once, and twice as long as the one before');
SELECT clutch.cancel('e1') \g /dev/null

-- ------------------------------------------------------------------- the rest
SET clutch.claim_timeout = 0;
SELECT fixture.at(300000), fixture.ask('f1') \g /dev/null
SELECT fixture.at(300200), clutch.tick() \g /dev/null
SELECT is(fixture.state('f1') ~ ' 1$', true, 'with 0 it never moves');
SET clutch.claim_timeout = '10 s';
SELECT clutch.cancel('f1'), fixture.ask('f2') \g /dev/null
SELECT fixture.at(300211), clutch.tick() \g /dev/null
SELECT is(fixture.state('f2') ~ ' 2$', true, 'it may be shorter than a lease');
SELECT clutch.cancel('f2') \g /dev/null

-- An agent that is busy has not failed when it has no time for more.
SET clutch.breaker_failures = 2;
SELECT fixture.at(400000), fixture.agent('busy', 3, '{skill:b}'), fixture.ask('g1', NULL, 'skill:b'), fixture.ask('g2', NULL, 'skill:b'), fixture.ask('g3', NULL, 'skill:b') \g /dev/null
SELECT clutch.claim('agent:busy', 1, '1 h'), fixture.agent('helper', 3, '{skill:b}'), fixture.at(400060) \g /dev/null
SELECT clutch.tick() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.agent_failure WHERE agent_id = 'agent:busy'), 0::bigint, 'what a busy agent has no time for is not its failure');
SELECT fixture.at(400300), clutch.tick() \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', task_id, agent_id), ', ' ORDER BY task_id) FROM clutch.tasks WHERE finished_at IS NULL), 'g1 agent:busy, g2 agent:helper, g3 agent:helper', 'the rest is with another');

-- A run that has spent its budget gets no more: what is ready stays where it is.
SELECT fixture.at(450000), fixture.agent('first', 2, '{skill:m}') \g /dev/null
SELECT fixture.ask('m1', NULL, 'skill:m', '{"budget": {"tokens": 10}}', run => 'run:m'), fixture.ask('m2', NULL, 'skill:m', run => 'run:m') \g /dev/null
SELECT clutch.claim('agent:first'), fixture.agent('second', 2, '{skill:m}') \g /dev/null
SELECT clutch.progress('agent:first', 'm1', '{}', usage => '{"input_tokens": 20}') \g /dev/null
SELECT fixture.at(450070), clutch.tick() \g /dev/null
SELECT is(fixture.claimed('agent:second'), 'nothing', 'an unclaimed task of a run without budget is given to nobody');
SELECT is(fixture.state('m2'), 'assigned agent:first 1', 'and stays where it is');
SELECT clutch.cancel_run('run:m') \g /dev/null

-- A process that registers and never claims starves nobody: another agent works,
-- a task comes every ten seconds, and there is a tick each time.
SET clutch.breaker_failures = 5;
RESET clutch.claim_timeout;
SELECT fixture.at(500000), fixture.agent('zombie', 3, '{skill:s}'), fixture.agent('worker', 3, '{skill:s}') \g /dev/null
DO $$ BEGIN
	FOR n IN 1 .. 180 LOOP
		PERFORM fixture.at(500000 + n * 10);
		PERFORM fixture.ask('h' || n, NULL, 'skill:s');
		PERFORM clutch.tick();
		PERFORM clutch.settle();
		PERFORM clutch.finish('agent:worker', c.task_id) FROM clutch.claim('agent:worker', 9) c;
		PERFORM clutch.settle();
	END LOOP;
END $$;
SELECT cmp_ok((SELECT max(finished_at - created_at) FROM clutch.tasks WHERE task_id LIKE 'h%'), '<=', interval '70 s', 'no task waits longer than the time to claim it');
SELECT cmp_ok((SELECT count(*) FROM clutch.events WHERE envelope #>> '{meta,clutch,move}' = 'unclaimed' AND task_id LIKE 'h%'), '<=', 60::bigint, 'and few go to an agent that never claims');

-- ------------------------------------- one of more agents than a decision names
-- Who asks for work gets it, however many agents the router likes better.
SELECT clutch.cancel_run(run_id) FROM (SELECT DISTINCT run_id FROM clutch.tasks WHERE finished_at IS NULL) AS r \g /dev/null
SELECT fixture.at(550000), fixture.agent('p' || to_char(n, 'FM00'), 5, '{skill:p}') FROM generate_series(1, 25) n \g /dev/null
SELECT fixture.ask('p1', NULL, 'skill:p') \g /dev/null
SELECT fixture.at(550060) \g /dev/null
SELECT is(fixture.claimed('agent:p25'), 'p1 2 moved', 'an idle claimer takes what is not claimed although twenty others rank before it');
SELECT is((SELECT detail FROM clutch.why('p1') WHERE agent_id = 'agent:p25'), 'matched requires[skill:p], looked for work', 'and the decision gives the reason');
SELECT clutch.finish('agent:p25', 'p1') \g /dev/null
INSERT INTO clutch.routing_rule (name, restrict_to) VALUES ('nobody', '{agent:nobody}');
SELECT fixture.ask('p2', NULL, 'skill:p') \g /dev/null
SELECT is(fixture.states('p2'), 'p2 pending agent NO_AGENT_AVAILABLE', 'another one waits because of a rule');
DELETE FROM clutch.routing_rule WHERE name = 'nobody';
SELECT is(fixture.claimed('agent:p25'), 'p2 1 new', 'and when the rule is gone, whoever asks first gets it');
SELECT clutch.finish('agent:p25', 'p2') \g /dev/null
-- a tick names the best of those that have not had it
SELECT fixture.agent('q1', 5, '{skill:q,skill:r}'), fixture.agent('q2', 5, '{skill:q}'), fixture.ask('q', NULL, 'skill:q', more => '{"prefers": ["skill:r"]}'), fixture.at(550130), clutch.tick() \g /dev/null
SELECT is(fixture.state('q'), 'assigned agent:q2 2', 'a tick gives a task to the second best agent when the best one does not claim it');
SELECT is((SELECT detail FROM clutch.why('q') WHERE agent_id = 'agent:q2'), 'matched requires[skill:q], best that has not had it', 'and says so');
SELECT clutch.cancel('q') \g /dev/null

-- --------------------------------- the kinds of what is offered cannot be chosen
-- If the ID of the holder changed the digests of all requirements in the same way, whoever may choose that ID could
-- put what is offered into the kind of other tasks, in front of them.
SELECT fixture.at(560000), fixture.agent('o1', 2, '{skill:v,skill:w}'), fixture.ask('o1 v', NULL, 'skill:v'), fixture.ask('o1 w', NULL, 'skill:w') \g /dev/null
SELECT fixture.agent('o2', 2, '{skill:v,skill:w}'), fixture.ask('o2 v', NULL, 'skill:v'), fixture.ask('o2 w', NULL, 'skill:w') \g /dev/null
SELECT is((SELECT string_agg(agent_id, ' ' ORDER BY task_id) FROM clutch.tasks WHERE task_id ~ '^o. '), 'agent:o1 agent:o1 agent:o2 agent:o2', 'two agents have two kinds of tasks each');
SELECT fixture.at(560060), clutch.tick() \g /dev/null
SELECT is((SELECT count(*) = 4 AND bit_xor(kind) = 0 FROM clutch.waiting WHERE task_id ~ '^o. '), false, 'the holder changes each kind in another way');
SELECT clutch.cancel(task_id) FROM clutch.tasks WHERE task_id ~ '^o. ' \g /dev/null

-- ------------------------------------------------ many at the same instant
-- Each is found behind the one before, not among those that are done (counted by
-- what the index returned).
SELECT fixture.at(600000), fixture.agent('crowd', 300, '{skill:crowd}') \g /dev/null
SELECT fixture.ask('i' || n, NULL, 'skill:crowd') FROM generate_series(1, 300) n \g /dev/null
SELECT is((SELECT ROW(count(*), count(DISTINCT due))::text FROM clutch.timer WHERE task_id LIKE 'i%'), '(300,1)', '300 tasks are due at one instant');
SELECT fixture.at(600060) \g /dev/null
BEGIN;
SELECT pg_stat_get_xact_tuples_returned('clutch.timer_pkey'::regclass) AS before \gset
SELECT clutch.tick(), clutch.settle() \g /dev/null
SELECT is((SELECT count(*) FROM clutch.waiting), 300::bigint, 'a tick offers all of them');
SELECT cmp_ok(pg_stat_get_xact_tuples_returned('clutch.timer_pkey'::regclass) - :before, '<=', 300 * 5::bigint, 'and looks at each of their timers a few times');
COMMIT;
SELECT * FROM finish();
