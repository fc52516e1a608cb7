-- The log and the state made from it.  Rows are written by C (base/rows.h),
-- never by a user's statement; the columns stand in the same order in the
-- Anum_ lists of the room that owns the table.  Indexes are plain btrees over
-- plain columns, which base/rows.h relies on, except those of events.

-- ---------------------------------------------------------------- the log
CREATE SEQUENCE clutch.event_seq AS bigint;

CREATE TABLE clutch.events (
	seq				bigint NOT NULL,
	xid				xid8 NOT NULL,
	epoch			integer NOT NULL,
	received_at		timestamptz NOT NULL,
	id				text COLLATE "C" NOT NULL,
	ts				timestamptz NOT NULL,
	run_id			text COLLATE "C" NOT NULL,
	thread_id		text COLLATE "C" NOT NULL,
	task_id			text COLLATE "C" NOT NULL,
	parent_task_id	text COLLATE "C",
	type			text COLLATE "C" NOT NULL,
	from_agent		text COLLATE "C" NOT NULL,
	to_agents		text[] COLLATE "C" NOT NULL,
	scope			text COLLATE "C",
	domain			text COLLATE "C",
	payload_type	text COLLATE "C",
	idempotency_key	text COLLATE "C",
	attempt			integer NOT NULL,
	late			boolean NOT NULL,
	envelope		jsonb COMPRESSION lz4 NOT NULL,
	CONSTRAINT events_pkey PRIMARY KEY (id, run_id)
);
CREATE UNIQUE INDEX events_seq ON clutch.events (seq);
CREATE INDEX events_run_id ON clutch.events (run_id);
CREATE INDEX events_thread_id ON clutch.events (thread_id);
CREATE INDEX events_task_id ON clutch.events (task_id);
CREATE INDEX events_from_agent ON clutch.events (from_agent, run_id);	-- store/participant.h
CREATE INDEX events_position ON clutch.events (epoch, xid);
CREATE UNIQUE INDEX events_idempotency_key ON clutch.events (idempotency_key, run_id, from_agent)
	WHERE idempotency_key IS NOT NULL;

-- ------------------------------------------------------------- the registry
CREATE TABLE clutch.agent_registry (
	agent_id		text COLLATE "C" NOT NULL,
	status			text COLLATE "C" NOT NULL,
	card			jsonb NOT NULL,
	registered_at	timestamptz NOT NULL,
	changed_seq		bigint NOT NULL,	-- of the event that made this row
	reason			text,				-- of its status, if somebody gave one
	lost			boolean NOT NULL,	-- UNAVAILABLE by the word of the database
	CONSTRAINT agent_registry_pkey PRIMARY KEY (agent_id)
);

-- Membership given by SQL; a card's own groups stand in the card.
CREATE TABLE clutch.group_member (
	group_id		text COLLATE "C" NOT NULL,
	agent_id		text COLLATE "C" NOT NULL,
	CONSTRAINT group_member_pkey PRIMARY KEY (group_id, agent_id)
);

-- Newest first: a beat is inserted with the next generation, the one before
-- is deleted.  Apart from the registry, whose every change empties caches.
CREATE TABLE clutch.agent_heartbeat (
	agent_id		text COLLATE "C" NOT NULL,
	generation		bigint NOT NULL,
	last_seen		timestamptz NOT NULL
);
CREATE UNIQUE INDEX agent_heartbeat_key ON clutch.agent_heartbeat (agent_id, generation DESC);

-- One row per piece of concurrency, made on demand, newest first too.
CREATE TABLE clutch.agent_slot (
	agent_id		text COLLATE "C" NOT NULL,
	slot_no			integer NOT NULL,
	generation		bigint NOT NULL,
	task_id			text COLLATE "C",		-- NULL: free
	chosen_seq		bigint NOT NULL,		-- last task given through this slot
	done			integer NOT NULL,		-- recent outcomes, halved at 64
	failed			integer NOT NULL
);
CREATE UNIQUE INDEX agent_slot_key ON clutch.agent_slot (agent_id, slot_no, generation DESC);

-- The circuit breaker: failures in a row, and while half open successes.
CREATE TABLE clutch.agent_failure (
	agent_id		text COLLATE "C" NOT NULL,
	seq				bigint NOT NULL,		-- of the report
	at				timestamptz NOT NULL,
	failed			boolean NOT NULL,
	timed_out		boolean NOT NULL,
	CONSTRAINT agent_failure_pkey PRIMARY KEY (agent_id, seq)
);

-- Agents and capabilities that get no new work until they are resumed.
CREATE TABLE clutch.pause (
	what			text COLLATE "C" NOT NULL,	-- agent:x, or a capability
	seq				bigint NOT NULL,		-- of the event
	since			timestamptz NOT NULL,
	by_agent		text COLLATE "C" NOT NULL,
	reason			text,
	CONSTRAINT pause_pkey PRIMARY KEY (what)
);

-- How tasks of a payload type are tried again; NULL says nothing.
CREATE TABLE clutch.retry_policy (
	payload_type	text COLLATE "C" NOT NULL,
	max				bigint CHECK (max BETWEEN 0 AND 1000),
	initial_ms		bigint CHECK (initial_ms BETWEEN 0 AND 31622400000),
	max_ms			bigint CHECK (max_ms BETWEEN 0 AND 31622400000),
	factor			double precision CHECK (factor BETWEEN 1 AND 100),
	CONSTRAINT retry_policy_pkey PRIMARY KEY (payload_type)
);

-- Which role may speak for which agent (superusers and the owner: for all),
-- and what a card that it registers may say; NULL: it registers none.
CREATE TABLE clutch.principal (
	grantee			regrole NOT NULL,	-- dumped by name, gone with the role
	agent_id		text COLLATE "C" NOT NULL,
	capabilities	text[] COLLATE "C",
	scopes			text[] COLLATE "C",	-- scopes and groups
	max_concurrency	integer,			-- of its cards; NULL: 100
	broadcast		boolean NOT NULL DEFAULT false,	-- may it send chat.system?
	CONSTRAINT principal_pkey PRIMARY KEY (grantee, agent_id)
);

-- --------------------------------------------------------------- the tasks
-- The owner of a run; a row only where the first request named a scope.
CREATE TABLE clutch.run_scope (
	run_id			text COLLATE "C" NOT NULL,
	scope			text COLLATE "C" NOT NULL,
	CONSTRAINT run_scope_pkey PRIMARY KEY (run_id)
);
CREATE INDEX run_scope_scope ON clutch.run_scope (scope, run_id);

CREATE TABLE clutch.task (
	task_id			text COLLATE "C" NOT NULL,
	run_id			text COLLATE "C" NOT NULL,
	thread_id		text COLLATE "C" NOT NULL,
	parent_task_id	text COLLATE "C",
	scope			text COLLATE "C",
	depth			integer NOT NULL,
	status			text COLLATE "C" NOT NULL,
	agent_id		text COLLATE "C",		-- who has it, or had it last
	past_agents		text[] COLLATE "C",		-- who had it before that
	from_agent		text COLLATE "C" NOT NULL,
	attempt			integer NOT NULL,
	retries			integer NOT NULL DEFAULT 0,	-- after errors, since it was revived
	losses			integer NOT NULL DEFAULT 0,	-- leases lost, likewise
	unclaimed		integer NOT NULL DEFAULT 0,	-- agents in a row that did not claim it in time
	priority		smallint NOT NULL,		-- as it counts now
	asked_priority	smallint,				-- before it was lifted; NULL: it was not
	join_count		integer,				-- of its parent's children: 0 all, or so many
	requires		text[] COLLATE "C",
	domain			text COLLATE "C",
	payload_type	text COLLATE "C",
	is_traced		boolean NOT NULL DEFAULT false,	-- its request has a trace
	limits_tools	boolean NOT NULL DEFAULT false,	-- its request has an allowlist, of tools or hosts
	waiting_for		text COLLATE "C",		-- agent capacity retry human lease ...
	code			text COLLATE "C",		-- of the last routing.failure or task.error
	detail			text,
	reason			text COLLATE "C" NOT NULL,	-- of the next claim: new retry moved resumed ...
	slot_no			integer,				-- NULL: holds no slot
	queue_no		bigint,					-- place in ready or waiting
	queue_kind		bigint,					-- of the requirement it waits with
	request_seq		bigint NOT NULL,
	result_seq		bigint,
	progress_seq	bigint,
	question_seq	bigint,					-- the last it asked
	answer_seq		bigint,					-- and of the last answer
	joined_seq		bigint,					-- of the move that told its children are over
	wait_seq		bigint,					-- of the event that suspended it
	wait_count		integer,				-- suspended for children: 0 all, or so many
	since			timestamptz NOT NULL,	-- in this status
	next_at			timestamptz,			-- its row in timer, if any
	lease_until		timestamptz,
	lease			bigint,					-- its length in microseconds
	deadline		timestamptz,
	wake_at			timestamptz,			-- pending: not before; see task.h
	created_at		timestamptz NOT NULL,
	started_at		timestamptz,
	finished_at		timestamptz,
	CONSTRAINT task_pkey PRIMARY KEY (task_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX task_run_id ON clutch.task (run_id);
CREATE INDEX task_parent_task_id ON clutch.task (parent_task_id);

-- What can be claimed and nothing else, in claim order.
CREATE SEQUENCE clutch.queue_no AS bigint;
CREATE TABLE clutch.ready (
	agent_id		text COLLATE "C" NOT NULL,
	urgency			smallint NOT NULL,		-- 4 - priority: the lowest goes first
	queue_no		bigint NOT NULL,
	task_id			text COLLATE "C" NOT NULL,
	since			timestamptz NOT NULL,	-- it counts as more urgent with time
	waited_no		bigint,					-- its place in waiting before, to which it
	waited_since	timestamptz,			-- returns if a more urgent task takes its slot
	CONSTRAINT ready_pkey PRIMARY KEY (agent_id, urgency, queue_no)
);

-- What waits for an agent, by what it requires.
CREATE TABLE clutch.waiting (
	kind			bigint NOT NULL,		-- digest of the requirement
	urgency			smallint NOT NULL,
	queue_no		bigint NOT NULL,
	task_id			text COLLATE "C" NOT NULL,
	since			timestamptz NOT NULL,
	from_agent		text COLLATE "C" NOT NULL,	-- the requester, whose kinds are limited; empty: offered
	CONSTRAINT waiting_pkey PRIMARY KEY (kind, urgency, queue_no)
);
CREATE INDEX waiting_from_agent ON clutch.waiting (from_agent, kind);

-- Tasks that wait for the end of others (meta.clutch.after).
CREATE TABLE clutch.dependency (
	task_id			text COLLATE "C" NOT NULL,
	after_task_id	text COLLATE "C" NOT NULL,
	run_id			text COLLATE "C" NOT NULL,
	unknown_since	timestamptz,			-- while it waits: nobody had requested the other then
	CONSTRAINT dependency_pkey PRIMARY KEY (task_id, after_task_id)
);
CREATE INDEX dependency_after_task_id ON clutch.dependency (after_task_id);
CREATE INDEX dependency_unknown ON clutch.dependency (task_id) WHERE unknown_since IS NOT NULL;

-- What a run may cost, by the first request that says so; NULL: no limit.
CREATE TABLE clutch.budget (
	run_id			text COLLATE "C" NOT NULL,
	seq				bigint NOT NULL,		-- of the request that set it
	tokens			bigint,
	cost			numeric,
	tasks			bigint,
	depth			bigint,
	CONSTRAINT budget_pkey PRIMARY KEY (run_id)
);

-- What was reported to have been spent.  A report takes up the rows of its run,
-- agent and day that no other transaction holds, and adds one for all of them.
CREATE TABLE clutch.spending (
	run_id			text COLLATE "C" NOT NULL,
	agent_id		text COLLATE "C" NOT NULL,
	day				date NOT NULL,			-- of the report, in UTC
	seq				bigint NOT NULL,		-- of the last report
	tokens			bigint NOT NULL,
	cost			numeric NOT NULL,
	CONSTRAINT spending_pkey PRIMARY KEY (run_id, agent_id, day, seq)
);

-- What was spent in runs that have been pruned.  Not derived: the reports are gone.
CREATE TABLE clutch.spending_total (
	run_id			text COLLATE "C" NOT NULL,
	agent_id		text COLLATE "C" NOT NULL,
	day				date NOT NULL,			-- in UTC
	tokens			bigint NOT NULL,
	cost			numeric NOT NULL,
	CONSTRAINT spending_total_pkey PRIMARY KEY (run_id, agent_id, day)
);

-- Questions nobody has answered yet.
CREATE TABLE clutch.question (
	task_id			text COLLATE "C" NOT NULL,
	seq				bigint NOT NULL,		-- of the task.progress that asks
	CONSTRAINT question_pkey PRIMARY KEY (task_id)
) WITH (vacuum_truncate = off);		-- without a page nobody has ever asked (flow/answer.c)

-- The steps whose output is kept, once each; the output is in the event.
CREATE TABLE clutch.step (
	task_id			text COLLATE "C" NOT NULL,
	name			text COLLATE "C" NOT NULL,
	seq				bigint NOT NULL,		-- of the task.progress that kept it
	CONSTRAINT step_pkey PRIMARY KEY (task_id, name)
);

-- Suspended tasks, and those of them that wait for a message of their run.
CREATE TABLE clutch.suspended (
	task_id			text COLLATE "C" NOT NULL,
	since			timestamptz NOT NULL,
	CONSTRAINT suspended_pkey PRIMARY KEY (task_id)
) WITH (vacuum_truncate = off);		-- without a page no task was ever suspended (queue/suspended.c)
CREATE TABLE clutch.awaited (
	run_id			text COLLATE "C" NOT NULL,
	task_id			text COLLATE "C" NOT NULL,
	CONSTRAINT awaited_pkey PRIMARY KEY (run_id, task_id)
) WITH (vacuum_truncate = off);

-- When a task must be looked at again: lease, deadline, not_before.
CREATE TABLE clutch.timer (
	due				timestamptz NOT NULL,
	task_id			text COLLATE "C" NOT NULL,
	CONSTRAINT timer_pkey PRIMARY KEY (due, task_id)
);

-- Messages that nobody has replied to, with the end of their ttl_ms or deadline.
CREATE TABLE clutch.expiry (
	due				timestamptz NOT NULL,
	seq				bigint NOT NULL,		-- of the message
	id				text COLLATE "C" NOT NULL,
	run_id			text COLLATE "C" NOT NULL,
	CONSTRAINT expiry_pkey PRIMARY KEY (due, seq)
);
CREATE INDEX expiry_id ON clutch.expiry (id, run_id);

-- Events that have been counted for the metrics of spec 003 7.2, by sender,
-- recipient, type, and the code of an error; of the type "duration" how long
-- tasks took, by requester and agent.  Never taken back, so that counters grow.
CREATE TABLE clutch.event_count (
	source			text COLLATE "C" NOT NULL,
	dest			text COLLATE "C" NOT NULL,
	type			text COLLATE "C" NOT NULL,
	code			text COLLATE "C" NOT NULL,
	n				bigint NOT NULL,
	seconds			double precision NOT NULL,
	buckets			bigint[] NOT NULL,		-- see clutch.count_events
	CONSTRAINT event_count_pkey PRIMARY KEY (source, dest, type, code)
);

-- How far they have been counted: all transactions before xid.
CREATE TABLE clutch.event_count_place (
	is_only			boolean NOT NULL DEFAULT true CHECK (is_only),
	epoch			integer NOT NULL,
	xid				xid8 NOT NULL,
	CONSTRAINT event_count_place_pkey PRIMARY KEY (is_only)
);

-- What transactions have caused for tasks that were locked when they committed.
-- A row that stays here belongs to a task that an open transaction holds.
CREATE TABLE clutch.consequence (
	no				bigint NOT NULL,		-- drawn from queue_no
	kind			text COLLATE "C" NOT NULL,	-- cancel join dependent lift ...
	subject			text COLLATE "C" NOT NULL,	-- the task or agent that it concerns
	because			text COLLATE "C",
	amount			integer NOT NULL,
	seq				bigint NOT NULL,
	since			timestamptz NOT NULL,
	CONSTRAINT consequence_pkey PRIMARY KEY (no)
);

-- Few rows at a time, but thousands come and go in a second: vacuumed by
-- number, not by share, and without pauses.  (Index access alone does not need
-- it: see queue/queue.h.)
DO $$
DECLARE
	member regclass;
BEGIN
	FOREACH member IN ARRAY '{clutch.agent_slot, clutch.agent_heartbeat, clutch.ready, clutch.waiting,
							  clutch.question, clutch.suspended, clutch.awaited, clutch.timer, clutch.expiry, clutch.consequence}'::regclass[]
	LOOP
		EXECUTE pg_catalog.format('ALTER TABLE %s SET (autovacuum_vacuum_threshold = 2000,
			autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0)', member);
	END LOOP;
END
$$;

-- When a session last called clutch.tick(), in seconds since 1970: a sequence,
-- because a row that is updated every few seconds would have to be vacuumed.
CREATE SEQUENCE clutch.last_tick AS bigint;

-- Which copy of the database this is: a restored one starts a new epoch, a
-- promoted one goes on on a new timeline, whose transactions begin at
-- first_xid.  The first writers of a timeline may each have inserted a row:
-- the lowest first_xid counts.
CREATE TABLE clutch.epoch (
	epoch			integer NOT NULL,
	timeline		integer NOT NULL,
	system_identifier bigint NOT NULL,
	started_at		timestamptz NOT NULL,
	first_xid		bigint NOT NULL
);
CREATE INDEX epoch_key ON clutch.epoch (epoch, timeline);

-- -------------------------------------------------------------- schedules
CREATE TABLE clutch.schedule (
	name			text COLLATE "C" NOT NULL,
	owner			regrole NOT NULL,		-- in whose name it is sent; dumped by name
	cron			text NOT NULL,
	timezone		text NOT NULL,
	envelope		jsonb NOT NULL,			-- but for its id, ts, and task_id
	next_at			timestamptz NOT NULL,
	last_at			timestamptz,			-- the time that it was sent for
	last_error		text,					-- why the last was not; NULL: it was
	runs			bigint NOT NULL,
	missed			bigint NOT NULL,		-- times that passed while nobody ticked
	created_at		timestamptz NOT NULL,
	CONSTRAINT schedule_pkey PRIMARY KEY (owner, name)
);
CREATE INDEX schedule_next_at ON clutch.schedule (next_at, name);

-- ---------------------------------------------------------- subscriptions
CREATE TABLE clutch.subscription (
	name			text COLLATE "C" NOT NULL,
	owner			regrole NOT NULL,		-- dumped by name
	filter			jsonb NOT NULL,
	members			integer NOT NULL,
	created_at		timestamptz NOT NULL,
	CONSTRAINT subscription_pkey PRIMARY KEY (owner, name)
);

-- Newest first: what a member has seen, and the batch it is reading.
CREATE TABLE clutch.subscription_position (
	name			text COLLATE "C" NOT NULL,
	member			integer NOT NULL,
	generation		bigint NOT NULL,
	batch			bigint NOT NULL,
	place			bigint NOT NULL,		-- seq within the batch that was handled
	seen			text COLLATE "C" NOT NULL,	-- a position, as clutch.position() has it
	until			text COLLATE "C",		-- of the open batch; NULL: none is open
	moved_at		timestamptz NOT NULL,
	owner			regrole NOT NULL		-- of the subscription
);
CREATE UNIQUE INDEX subscription_position_key ON clutch.subscription_position (owner, name, member, generation DESC);
