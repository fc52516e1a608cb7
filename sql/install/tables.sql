-- The log and the state that is made from it.  Rows are written by C
-- (base/rows.h), never by a statement of a user.  The columns have the same
-- order as in the Anum_ list of the room that owns the table.  Except for
-- those of clutch.events, all indexes are btrees on plain columns, and
-- base/rows.h relies on that.

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
	changed_seq		bigint NOT NULL,	-- seq of the event that made this row
	reason			text,				-- why it has its status, if a reason was given
	lost			boolean NOT NULL,	-- the database has set it to UNAVAILABLE
	CONSTRAINT agent_registry_pkey PRIMARY KEY (agent_id)
);

-- Groups that agents have joined by clutch.join_group.  Those of a card are in the card.
CREATE TABLE clutch.group_member (
	group_id		text COLLATE "C" NOT NULL,
	agent_id		text COLLATE "C" NOT NULL,
	CONSTRAINT group_member_pkey PRIMARY KEY (group_id, agent_id)
);

-- Newest first: a heartbeat is inserted with the next generation, and the
-- previous one is deleted.  It is not a column of the registry, because every
-- change of the registry empties caches.
CREATE TABLE clutch.agent_heartbeat (
	agent_id		text COLLATE "C" NOT NULL,
	generation		bigint NOT NULL,
	last_seen		timestamptz NOT NULL
);
CREATE UNIQUE INDEX agent_heartbeat_key ON clutch.agent_heartbeat (agent_id, generation DESC);

-- A row for each slot of an agent, created when it is first needed.  Newest
-- first as well.
CREATE TABLE clutch.agent_slot (
	agent_id		text COLLATE "C" NOT NULL,
	slot_no			integer NOT NULL,
	generation		bigint NOT NULL,
	task_id			text COLLATE "C",		-- NULL: the slot is free
	chosen_seq		bigint NOT NULL,		-- request_seq of the last task that had the slot
	done			integer NOT NULL,		-- recent outcomes, halved at 64
	failed			integer NOT NULL
);
CREATE UNIQUE INDEX agent_slot_key ON clutch.agent_slot (agent_id, slot_no, generation DESC);
-- If few agents have nearly all slots, statistics would make a plan read all of them for each agent.
ALTER TABLE clutch.agent_slot ALTER COLUMN agent_id SET (n_distinct = -0.05);

-- The circuit breaker: consecutive failures and, while it is half open, successes.
CREATE TABLE clutch.agent_failure (
	agent_id		text COLLATE "C" NOT NULL,
	seq				bigint NOT NULL,		-- seq of the report
	at				timestamptz NOT NULL,
	failed			boolean NOT NULL,
	timed_out		boolean NOT NULL,
	CONSTRAINT agent_failure_pkey PRIMARY KEY (agent_id, seq)
);

-- Agents and capabilities that get no new work until they are resumed.
CREATE TABLE clutch.pause (
	what			text COLLATE "C" NOT NULL,	-- agent:x, or a capability
	seq				bigint NOT NULL,		-- seq of the event that paused it
	since			timestamptz NOT NULL,
	by_agent		text COLLATE "C" NOT NULL,
	reason			text,
	CONSTRAINT pause_pkey PRIMARY KEY (what)
);

-- How often failed tasks of a payload type are retried.  NULL: the default applies.
CREATE TABLE clutch.retry_policy (
	payload_type	text COLLATE "C" NOT NULL,
	max				bigint CHECK (max BETWEEN 0 AND 1000),
	initial_ms		bigint CHECK (initial_ms BETWEEN 0 AND 31622400000),
	max_ms			bigint CHECK (max_ms BETWEEN 0 AND 31622400000),
	factor			double precision CHECK (factor BETWEEN 1 AND 100),
	CONSTRAINT retry_policy_pkey PRIMARY KEY (payload_type)
);

-- Which role may speak for which agent (superusers and the owner may for all),
-- and what the cards that it registers may say.  Without capabilities, it may register none.
CREATE TABLE clutch.principal (
	grantee			regrole NOT NULL,	-- dumped by name, gone with the role
	agent_id		text COLLATE "C" NOT NULL,
	capabilities	text[] COLLATE "C",
	scopes			text[] COLLATE "C",	-- including groups
	max_concurrency	integer,			-- the most that a card may say; NULL: 100
	broadcast		boolean NOT NULL DEFAULT false,	-- whether it may send chat.system
	CONSTRAINT principal_pkey PRIMARY KEY (grantee, agent_id)
);

-- --------------------------------------------------------------- the tasks
-- The owner of a run.  There is a row only if the first request named a scope.
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
	agent_id		text COLLATE "C",		-- the agent that has it, or had it last
	past_agents		text[] COLLATE "C",		-- the agents that had it before
	from_agent		text COLLATE "C" NOT NULL,
	attempt			integer NOT NULL,
	retries			integer NOT NULL DEFAULT 0,	-- after errors, since it was revived
	losses			integer NOT NULL DEFAULT 0,	-- leases lost since then
	unclaimed		integer NOT NULL DEFAULT 0,	-- consecutive agents that did not claim it in time
	priority		smallint NOT NULL,		-- the one that counts now
	asked_priority	smallint,				-- the one before it was raised; NULL: it was not raised
	join_count		integer,				-- its parent is told when so many of its children are completed, or when all are over if it is 0
	requires		text[] COLLATE "C",
	domain			text COLLATE "C",
	payload_type	text COLLATE "C",
	is_traced		boolean NOT NULL DEFAULT false,	-- its request has a trace
	limits_tools	boolean NOT NULL DEFAULT false,	-- its request limits the tools or the hosts
	waiting_for		text COLLATE "C",		-- agent capacity retry human lease ...
	code			text COLLATE "C",		-- code of the last routing.failure or task.error
	detail			text,
	reason			text COLLATE "C" NOT NULL,	-- why it will be claimed next: new, retry, moved, resumed, ...
	slot_no			integer,				-- NULL: it holds no slot
	queue_no		bigint,					-- its place in clutch.ready or clutch.waiting
	queue_kind		bigint,					-- the kind of clutch.waiting
	request_seq		bigint NOT NULL,
	result_seq		bigint,
	progress_seq	bigint,
	question_seq	bigint,					-- its last question
	answer_seq		bigint,					-- the last answer to one
	joined_seq		bigint,					-- the event that told that its children are over
	wait_seq		bigint,					-- the event that suspended it
	wait_count		integer,				-- how many children it is suspended for; 0: all
	since			timestamptz NOT NULL,	-- when it got this status
	next_at			timestamptz,			-- due of its row in clutch.timer, if there is one
	lease_until		timestamptz,
	lease			bigint,					-- length of the lease, in microseconds
	deadline		timestamptz,
	wake_at			timestamptz,			-- for a pending task, not before this time; see task.h
	created_at		timestamptz NOT NULL,
	started_at		timestamptz,
	finished_at		timestamptz,
	revived_seq		bigint,					-- the event that last revived it
	CONSTRAINT task_pkey PRIMARY KEY (task_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX task_run_id ON clutch.task (run_id, request_seq);
CREATE INDEX task_parent_task_id ON clutch.task (parent_task_id);
-- Whoever is not shown a row can still have EXPLAIN compare its values with the
-- statistics.  So there are none of what people and programs write freely.
ALTER TABLE clutch.task ALTER COLUMN detail SET STATISTICS 0;

-- Tasks that can be claimed, and nothing else, in the order of claims.
CREATE SEQUENCE clutch.queue_no AS bigint;
CREATE TABLE clutch.ready (
	agent_id		text COLLATE "C" NOT NULL,
	urgency			smallint NOT NULL,		-- 4 - priority: the lowest goes first
	queue_no		bigint NOT NULL,
	task_id			text COLLATE "C" NOT NULL,
	since			timestamptz NOT NULL,	-- when it was put here; with time it counts as more urgent
	waited_no		bigint,					-- its place in clutch.waiting before, to which
	waited_since	timestamptz,			-- it returns if a more urgent task takes its slot
	CONSTRAINT ready_pkey PRIMARY KEY (agent_id, urgency, queue_no)
);

-- Tasks that wait for an agent, by what they require.
CREATE TABLE clutch.waiting (
	kind			bigint NOT NULL,		-- digest of the requirement
	urgency			smallint NOT NULL,
	queue_no		bigint NOT NULL,
	task_id			text COLLATE "C" NOT NULL,
	since			timestamptz NOT NULL,
	from_agent		text COLLATE "C" NOT NULL,	-- the requester, as the number of its kinds is limited; empty if the task is only offered
	run_id			text COLLATE "C",		-- whose costs may keep the task from an agent; not NULL
	CONSTRAINT waiting_pkey PRIMARY KEY (kind, urgency, queue_no)
);
CREATE INDEX waiting_from_agent ON clutch.waiting (from_agent, kind);

-- Tasks that wait until others are over (meta.clutch.after).
CREATE TABLE clutch.dependency (
	task_id			text COLLATE "C" NOT NULL,
	after_task_id	text COLLATE "C" NOT NULL,
	run_id			text COLLATE "C" NOT NULL,
	unknown_since	timestamptz,			-- set while it waits for a task that nobody has requested in its run: since when
	CONSTRAINT dependency_pkey PRIMARY KEY (task_id, after_task_id)
);
CREATE INDEX dependency_after_task_id ON clutch.dependency (after_task_id);
CREATE INDEX dependency_unknown ON clutch.dependency (task_id) WHERE unknown_since IS NOT NULL;

-- What a run may cost, according to the first request that says it.  NULL: no limit.
CREATE TABLE clutch.budget (
	run_id			text COLLATE "C" NOT NULL,
	seq				bigint NOT NULL,		-- of the request that set it
	tokens			bigint,
	cost			numeric,
	tasks			bigint,
	depth			bigint,
	CONSTRAINT budget_pkey PRIMARY KEY (run_id)
);

-- Reported spending.  A report merges those rows of its run, agent and day that
-- no other transaction holds into a single one.
CREATE TABLE clutch.spending (
	run_id			text COLLATE "C" NOT NULL,
	agent_id		text COLLATE "C" NOT NULL,
	day				date NOT NULL,			-- of the report, in UTC
	seq				bigint NOT NULL,		-- of the last report in it
	tokens			bigint NOT NULL,
	cost			numeric NOT NULL,
	CONSTRAINT spending_pkey PRIMARY KEY (run_id, agent_id, day, seq)
);

-- Spending in runs that have been pruned.  It cannot be derived from the log,
-- because the reports are gone.
CREATE TABLE clutch.spending_total (
	run_id			text COLLATE "C" NOT NULL,
	agent_id		text COLLATE "C" NOT NULL,
	day				date NOT NULL,			-- in UTC
	tokens			bigint NOT NULL,
	cost			numeric NOT NULL,
	CONSTRAINT spending_total_pkey PRIMARY KEY (run_id, agent_id, day)
);

-- Questions that have not been answered yet.
CREATE TABLE clutch.question (
	task_id			text COLLATE "C" NOT NULL,
	seq				bigint NOT NULL,		-- of the task.progress that asks
	CONSTRAINT question_pkey PRIMARY KEY (task_id)
) WITH (vacuum_truncate = off);		-- if the table has no page, no question was ever asked (flow/answer.c)

-- The steps whose output is kept.  Each is kept once, and its output is in the event.
CREATE TABLE clutch.step (
	task_id			text COLLATE "C" NOT NULL,
	name			text COLLATE "C" NOT NULL,
	seq				bigint NOT NULL,		-- the task.progress that contains the output
	CONSTRAINT step_pkey PRIMARY KEY (task_id, name)
);

-- Suspended tasks, and those of them that wait for a message of their run.
CREATE TABLE clutch.suspended (
	task_id			text COLLATE "C" NOT NULL,
	since			timestamptz NOT NULL,
	CONSTRAINT suspended_pkey PRIMARY KEY (task_id)
) WITH (vacuum_truncate = off);		-- if the table has no page, no task was ever suspended (queue/suspended.c)
CREATE TABLE clutch.awaited (
	run_id			text COLLATE "C" NOT NULL,
	task_id			text COLLATE "C" NOT NULL,
	CONSTRAINT awaited_pkey PRIMARY KEY (run_id, task_id)
) WITH (vacuum_truncate = off);

-- When a task must be looked at again: its lease ends, its deadline passes, or
-- the time of its not_before comes.
CREATE TABLE clutch.timer (
	due				timestamptz NOT NULL,
	task_id			text COLLATE "C" NOT NULL,
	due_since		timestamptz,			-- of a task that could not be moved; due is when it is tried again
	CONSTRAINT timer_pkey PRIMARY KEY (due, task_id)
);

-- Messages that nobody has replied to, and when their ttl_ms or deadline ends.
CREATE TABLE clutch.expiry (
	due				timestamptz NOT NULL,
	seq				bigint NOT NULL,		-- of the message
	id				text COLLATE "C" NOT NULL,
	run_id			text COLLATE "C" NOT NULL,
	due_since		timestamptz,			-- of a message whose sender could not be told; due is when it is tried again
	CONSTRAINT expiry_pkey PRIMARY KEY (due, seq)
);
CREATE INDEX expiry_id ON clutch.expiry (id, run_id);

-- Events that have been counted for the metrics of spec 003 7.2, by sender,
-- recipient, type, and error code.  Rows of the type "duration" contain how
-- long tasks took, by requester and agent.  The counters never decrease.
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

-- Up to where they have been counted: all transactions before xid.
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

-- These tables have few rows at a time, but thousands come and go each second.
-- So they are vacuumed after a number of changes and not after a share of the
-- table, and without delays.  (Access by an index alone would not need it: see
-- queue/queue.h.)
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

-- Has anything been written in this copy of the database?  It has no value
-- before.  A dump leaves it out (dump.sql), so while it is being restored, the
-- worker waits.
CREATE SEQUENCE clutch.copy_begun AS bigint;

-- The copies of this database.  A restored one begins a new epoch.  A promoted
-- one stays in its epoch, but on a new timeline, whose transactions begin at
-- first_xid.  If the first writers on a timeline have each inserted a row, the
-- lowest first_xid counts.
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
	owner			regrole NOT NULL,		-- the role in whose name it is sent; dumped by name
	cron			text NOT NULL,
	timezone		text NOT NULL,
	envelope		jsonb NOT NULL,			-- without id, ts and task_id
	next_at			timestamptz NOT NULL,
	last_at			timestamptz,			-- the time for which it was sent last
	last_error		text,					-- why it was not sent then; NULL: it was sent
	runs			bigint NOT NULL,
	missed			bigint NOT NULL,		-- times that passed while nobody called clutch.tick()
	created_at		timestamptz NOT NULL,
	CONSTRAINT schedule_pkey PRIMARY KEY (owner, name)
);
CREATE INDEX schedule_next_at ON clutch.schedule (next_at, name, owner);
ALTER TABLE clutch.schedule ALTER COLUMN last_error SET STATISTICS 0;

-- ---------------------------------------------------------- subscriptions
CREATE TABLE clutch.subscription (
	name			text COLLATE "C" NOT NULL,
	owner			regrole NOT NULL,		-- dumped by name
	filter			jsonb NOT NULL,
	members			integer NOT NULL,
	created_at		timestamptz NOT NULL,
	CONSTRAINT subscription_pkey PRIMARY KEY (owner, name)
);

-- Newest first: what a member has read, and the batch that it is reading.
CREATE TABLE clutch.subscription_position (
	name			text COLLATE "C" NOT NULL,
	member			integer NOT NULL,
	generation		bigint NOT NULL,
	batch			bigint NOT NULL,
	place			bigint NOT NULL,		-- up to this seq, the batch has been handled
	seen			text COLLATE "C" NOT NULL,	-- up to this position, as clutch.position() has it
	until			text COLLATE "C",		-- position where the open batch ends; NULL: no batch is open
	moved_at		timestamptz NOT NULL,
	owner			regrole NOT NULL		-- owner of the subscription
);
CREATE UNIQUE INDEX subscription_position_key ON clutch.subscription_position (owner, name, member, generation DESC);
