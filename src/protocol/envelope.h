/*-------------------------------------------------------------------------
 *
 * envelope.h
 *	  Reading envelopes (spec 1.1, 1.2) from jsonb in place, with all their
 *	  faults.
 *
 * Reading runs no query, does not look at the clock, and depends on no
 * settings other than the limits.  The slices point into the document, which
 * the caller must keep as long as the Envelope.
 *
 * envelope_read fills in what it can even if there are faults; a field with a
 * fault is absent or has its default.  So a caller that acts on an envelope
 * must check list->n first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ENVELOPE_H
#define CLUTCH_ENVELOPE_H

#include "base/text.h"
#include "datatype/timestamp.h"
#include "protocol/amount.h"
#include "protocol/level.h"
#include "protocol/message_type.h"
#include "protocol/problem.h"
#include "protocol/retry_policy.h"
#include "protocol/suspension.h"
#include "utils/jsonb.h"

/* security.policy; if it is missing, the defaults given below apply */
typedef struct MessagePolicy
{
	bool		sandbox;		/* true (default) allows only sandboxed agents */
	bool		has_allowlist;	/* false (default) allows any tool */
	SliceList	tool_allowlist;
	bool		has_egress;		/* false (default) allows any host */
	SliceList	egress_allowlist;	/* patterns; see host.h */
	NetworkLevel network;		/* NETWORK_NONE (default) requires nothing */
	TrustLevel	trust;			/* policy.trust_level; TRUST_SANDBOX (default)
								 * requires nothing */
} MessagePolicy;

/*
 * What the database itself announces by a task.progress or an agent.heartbeat
 * that it has written: meta.clutch.move, which is refused from any other
 * sender.  It is in the log because a rebuild needs it.
 */
typedef enum TaskMove
{
	MOVE_NONE,
	MOVE_RELEASED,				/* "released": the agent gave the task back */
	MOVE_LEASE_EXPIRED,			/* "lease_expired": the agent fell silent */
	MOVE_RETRIED,				/* "retried": a finished task is retried */
	MOVE_ANSWERED,				/* "answered": a parked task continues */
	MOVE_JOINED,				/* "joined": its children have ended */
	MOVE_LIFTED,				/* "lifted": to the priority of a task that
								 * waits for it */
	MOVE_WOKEN,					/* "woken": a suspended task continues */
	MOVE_DISPLACED,				/* "displaced": by a more urgent task */
	MOVE_UNCLAIMED,				/* "unclaimed": its agent did not claim it in
								 * time */
	MOVE_SHARED,				/* "shared": its children do the work */

	/* moves of an agent.heartbeat */
	MOVE_UNREGISTERED,			/* "unregistered": the agent leaves the registry */
	MOVE_PAUSED,				/* "paused": an agent or a capability */
	MOVE_RESUMED				/* "resumed" */
} TaskMove;

/*
 * meta.clutch.visibility of the first request of a run; see store/visibility.h
 */
typedef enum Visibility
{
	VISIBILITY_UNSAID,
	VISIBILITY_PUBLIC,			/* "public" */
	VISIBILITY_SCOPE,			/* "scope", the default */
	VISIBILITY_PARENT_ONLY,		/* "parent-only" */
	VISIBILITY_PRIVATE			/* "private" */
} Visibility;

/* meta.clutch.budget, which applies to all tasks of the run together */
typedef struct Budget
{
	bool		is_set;
	Amount		amount;
	int64		tasks;			/* -1 in these two means no limit */
	int64		depth;
	int64		seq;			/* of the request that has set it, if it is the budget of a run */
} Budget;

/* meta.clutch, the only part of meta that the database acts on */
typedef struct EnvelopeOrders
{
	bool		has_deadline;
	TimestampTz deadline;		/* "deadline", or "ts" plus "ttl_ms" if that
								 * is earlier */
	bool		has_not_before;
	TimestampTz not_before;
	int			priority;		/* 0..4, default 2 */
	Slice		scope;			/* group:... or absent */
	Visibility	visibility;
	Slice		reply_to;
	Slice		answer_to;		/* ID of the question that this message answers */
	Slice		workflow;		/* its name, or name@version, or absent if none
								 * is named */
	Slice		step_of;		/* the step of the run's workflow that the task
								 * does */
	SliceList	after;
	int			join;			/* how many children, JOIN_ALL or JOIN_NONE */
	RetryPolicy retry;
	Budget		budget;
	bool		has_usage;
	Amount		usage;			/* the cost of the work that is reported */
	TaskMove	move;
	Suspension	wait;			/* for a task.progress that suspends the task */
	Slice		step;			/* name of the step whose output a
								 * task.progress stores, or absent */
	JsonbValue	output;			/* output of that step; null if not given */
} EnvelopeOrders;

struct Envelope
{
	Jsonb	   *doc;
	MessageType type;
	TimestampTz ts;

	Slice		id;
	Slice		type_name;
	Slice		thread_id;
	Slice		run_id;
	Slice		task_id;
	Slice		parent_task_id; /* absent if null */
	Slice		from_agent;
	SliceList	to_agents;
	Slice		domain;
	Slice		payload_type;
	Slice		idempotency_key;
	bool		has_attempt;
	int			attempt;		/* 1 if absent */
	Jsonb	   *trace;			/* trace of a request, palloc'd, or NULL if
								 * none */
	bool		is_signed;		/* whether security.auth is present */
	Slice		auth_kid;
	Slice		auth_sig;

	JsonbValue	payload;		/* an object (jbvBinary) */
	Slice		tool;			/* of a tool.call */
	bool		asks;			/* a task.progress that waits for an answer */
	TimestampTz question_deadline;	/* how long it waits; 0 means forever */
	SliceList	requires;
	SliceList	prefers;
	SliceList	attachments;	/* their references: artifact:..., or absent
								 * for a URI */
	MessagePolicy policy;
	EnvelopeOrders orders;
};

/*
 * Reads the fields and adds the faults to the list.  Raises no error for
 * faults.
 */
extern void envelope_read(Jsonb *doc, Envelope *envelope, ProblemList *list);

/*
 * The same for an envelope that is in the log, without the limits that protect
 * the server from senders.
 */
extern void envelope_read_admitted(Jsonb *doc, Envelope *envelope, ProblemList *list);

/*
 * The same for an envelope that the database itself has built.  Its payload is
 * not searched for numbers that no double can hold.
 */
extern void envelope_read_own(Jsonb *doc, Envelope *envelope, ProblemList *list);

/* Adds NOT_ALLOWED if a sender uses what only the database may write. */
extern void envelope_refuse_internal(const Envelope *envelope, ProblemList *list);

/* Returns the word used in the protocol.  Not for VISIBILITY_UNSAID. */
extern const char *envelope_visibility_word(Visibility visibility);

#endif							/* CLUTCH_ENVELOPE_H */
