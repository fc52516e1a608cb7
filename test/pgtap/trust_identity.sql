-- In whose name a role acts: the current role, as everywhere in PostgreSQL.
\ir ../fixtures/tap.sql
SELECT plan(20);
SET clutch.notify = off;
CREATE ROLE clutch_test_app;
CREATE ROLE clutch_test_user;
CREATE ROLE clutch_test_eve;
CREATE ROLE clutch_test_pool;
GRANT clutch_test_app, clutch_test_eve TO clutch_test_pool;
GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fixture TO PUBLIC;
SELECT clutch.grant_agent('clutch_test_app', 'agent:app'), clutch.grant_agent('clutch_test_eve', 'agent:eve', '{skill:z}') \g /dev/null

-- An application lets its users send as its agent.
SET SESSION AUTHORIZATION clutch_test_app;
CREATE FUNCTION public.ask(question text) RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT (clutch.send(clutch.envelope('task.request', 'agent:app', payload => jsonb_build_object('q', question), run_id => 'run:' || question))).run_id $$;
SET SESSION AUTHORIZATION clutch_test_user;
SELECT is(public.ask('why'), 'run:why', 'a function of an application sends in the name of its agent, whoever calls it');
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:app', run_id => 'run:why'))$$), '42501', 'its caller gets no right by that');
RESET SESSION AUTHORIZATION;
SELECT is((SELECT from_agent FROM clutch.events WHERE run_id = 'run:why' AND type = 'task.request'), 'agent:app', 'the log has the event');

-- A function of a stranger that an operator calls.
SET SESSION AUTHORIZATION clutch_test_eve;
CREATE FUNCTION public.lure(call text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	RETURN fixture.fault(call);
END $$;
RESET SESSION AUTHORIZATION;
SELECT is(public.lure(call), fault, 'a function of a stranger gets nothing from an operator: ' || what)
FROM (VALUES
	('a card that is trusted', $$SELECT clutch.register('{"v": "clutch/0.1", "agent_id": "agent:eve", "capabilities": [{"id": "skill:z", "trust_level": "prod"}]}')$$, '42501 CARD_NOT_GRANTED /capabilities'),
	('a card of another agent', $$INSERT INTO clutch.events (envelope) VALUES (clutch.envelope('agent.register', 'agent:app', payload => '{"v": "clutch/0.1", "agent_id": "agent:app", "capabilities": [{"id": "skill:z"}]}'))$$, '42501 NOT_YOUR_AGENT /from/agent_id'),
	('a message of another agent', $$SELECT clutch.send(clutch.envelope('chat.message', 'agent:app', run_id => 'run:eve'))$$, '42501 NOT_YOUR_AGENT /from/agent_id'),
	('a message into a run of others', $$SELECT clutch.send(clutch.envelope('chat.message', 'agent:eve', run_id => 'run:why'))$$, '42501 NOT_A_PARTICIPANT /run_id'),
	('a grant', $$SELECT clutch.grant_agent('clutch_test_eve', 'agent:app')$$, '42501'),
	('an event that was admitted elsewhere', $$INSERT INTO clutch.events (seq, envelope) VALUES (1, '{}')$$, '42501')) AS v(what, call, fault)
ORDER BY what COLLATE "C" DESC;
SELECT is(public.lure($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:eve', run_id => 'run:eve'))$$), 'no error', 'it acts as its owner');
SELECT is((SELECT string_agg(owner::text, ' ') FROM clutch.schedules), NULL, 'nothing is scheduled');
SELECT is(public.lure($$SELECT clutch.schedule('evil', '* * * * *', clutch.envelope('chat.message', 'agent:app'))$$), '42501 NOT_YOUR_AGENT /from/agent_id', 'nor is anything scheduled for others');
SELECT is(public.lure($$SELECT clutch.schedule('own', '@daily', clutch.envelope('chat.message', 'agent:eve'))$$), 'no error', 'what it schedules for itself');
SELECT is((SELECT string_agg(owner::text, ' ') FROM clutch.schedules), 'clutch_test_eve', 'is its own');

-- A pooler logs in as one role and sets another.
SET SESSION AUTHORIZATION clutch_test_pool;
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:app', run_id => 'run:pool'))$$), '42501 NOT_YOUR_AGENT /from/agent_id', 'membership alone gives no right');
SET ROLE clutch_test_app;
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:app', run_id => 'run:pool'))$$), 'no error', 'SET ROLE does');
SELECT is(fixture.fault($$SELECT clutch.send(clutch.envelope('chat.message', 'agent:eve', run_id => 'run:pool2'))$$), '42501 NOT_YOUR_AGENT /from/agent_id', 'and only as that role');
SELECT is(fixture.fault($$SELECT set_config('clutch.orchestrator', 'agent:app', false)$$), '42501', 'no setting of a session has a part in it');
RESET SESSION AUTHORIZATION;

-- What PostgreSQL runs in the name of an owner in the session of another role.
SET SESSION AUTHORIZATION clutch_test_eve;
CREATE FUNCTION public.fetched() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN fixture.fault($q$SELECT clutch.send(clutch.envelope('chat.message', 'agent:eve', run_id => 'run:eve'))$q$);
END $$;
CREATE MATERIALIZED VIEW public.glance AS SELECT public.fetched() AS fault WITH NO DATA;
RESET SESSION AUTHORIZATION;
REFRESH MATERIALIZED VIEW public.glance;
SELECT is((SELECT fault FROM public.glance), '42501 RESTRICTED_OPERATION ', 'a materialized view that an operator refreshes speaks for nobody');
SET SESSION AUTHORIZATION clutch_test_eve;
CREATE TABLE public.trap (n integer);
CREATE FUNCTION public.spring(n integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	PERFORM clutch.send(clutch.envelope('chat.message', 'agent:eve', run_id => 'run:eve'));
	RETURN n;
END $$;
INSERT INTO public.trap VALUES (1);
SELECT is(fixture.fault($$CREATE INDEX ON public.trap (public.spring(n))$$), '42501 RESTRICTED_OPERATION ', 'nor does the expression of an index');
RESET SESSION AUTHORIZATION;
SELECT * FROM finish();
DROP OWNED BY clutch_test_app, clutch_test_user, clutch_test_eve, clutch_test_pool CASCADE;
DROP ROLE clutch_test_app, clutch_test_user, clutch_test_eve, clutch_test_pool;
