/*-------------------------------------------------------------------------
 *
 * envelope.h
 *	  An envelope (spec 1.1, 1.2): read from jsonb in place, every fault found.
 *
 * Pure: no query, no clock, no setting but the limits.  The slices point
 * into the document, which the caller keeps for as long as the Envelope.
 *
 * envelope_read fills what it can even when there are faults; what a fault
 * touched is absent (or has its default).  Callers that act on an envelope
 * first look at list->n.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ENVELOPE_H
#define CLUTCH_ENVELOPE_H

#include "base/text.h"
#include "datatype/timestamp.h"
#include "protocol/amount.h"
#include "protocol/message_type.h"
#include "protocol/problem.h"
#include "protocol/retry_policy.h"
#include "utils/jsonb.h"

/* least network an agent must have, or a message asks for */
typedef enum NetworkLevel
{
	NETWORK_NONE,
	NETWORK_EGRESS_RESTRICTED,
	NETWORK_OPEN
} NetworkLevel;

/* how far a capability is trusted, spec 1.5 */
typedef enum TrustLevel
{
	TRUST_SANDBOX,
	TRUST_PROD
} TrustLevel;

/* security.policy; a missing policy has the defaults of the comments */
typedef struct MessagePolicy
{
	bool		sandbox;		/* true: only sandboxed agents */
	bool		has_allowlist;	/* false: any tool */
	SliceList	tool_allowlist;
	NetworkLevel network;		/* NETWORK_NONE: asks for nothing */
	TrustLevel	trust;			/* TRUST_SANDBOX: asks for nothing
								 * (policy.trust_level) */
} MessagePolicy;

/*
 * Why the database itself wrote a task.progress: meta.clutch.move, refused
 * from anybody else.  Part of the log because rebuild must see it.
 */
typedef enum TaskMove
{
	MOVE_NONE,
	MOVE_RELEASED,				/* "released": the agent gave the task back */
	MOVE_LEASE_EXPIRED,			/* "lease_expired": the agent was not heard */
	MOVE_RETRIED,				/* "retried": a finished task is revived */
	MOVE_ANSWERED,				/* "answered": a parked task goes on */
	MOVE_JOINED,				/* "joined": its children are over */
	MOVE_LIFTED					/* "lifted": to the priority of who waits for it */
} TaskMove;

/* meta.clutch.budget: for all tasks of the run together */
typedef struct Budget
{
	bool		is_set;
	Amount		amount;
	int64		tasks;			/* -1 in these: no limit */
	int64		depth;
} Budget;

/* meta.clutch: all of meta that the database obeys */
typedef struct EnvelopeOrders
{
	bool		has_deadline;
	TimestampTz deadline;		/* from "deadline" (RFC 3339) or ttl_ms + ts,
								 * the earlier one */
	bool		has_not_before;
	TimestampTz not_before;
	int			priority;		/* 0..4, default 2 */
	Slice		scope;			/* group:... or absent */
	Slice		workflow;
	Slice		reply_to;
	Slice		answer_to;		/* id of the question this message answers */
	SliceList	after;
	int			join;			/* how many; or one of */
#define JOIN_NONE	(-1)
#define JOIN_ALL	0
	RetryPolicy retry;
	Budget		budget;
	bool		has_usage;
	Amount		usage;			/* what this report's work has cost */
	TaskMove	move;
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
	Slice		parent_task_id; /* absent when null */
	Slice		from_agent;
	Slice		from_role;
	SliceList	to_agents;
	Slice		domain;
	Slice		payload_type;
	Slice		schema_ref;
	Slice		idempotency_key;
	bool		has_attempt;
	int			attempt;		/* 1 when absent */
	bool		is_signed;		/* security.auth is there */
	Slice		auth_kid;

	JsonbValue	payload;		/* jbvBinary, an object */
	bool		asks;			/* a task.progress that waits for an answer ... */
	TimestampTz question_deadline;	/* ... until then; 0: for ever */
	SliceList	requires;
	SliceList	prefers;
	MessagePolicy policy;
	EnvelopeOrders orders;
};

/* the document's fields, faults into list; never raises for bad input */
extern void envelope_read(Jsonb *doc, Envelope *envelope, ProblemList *list);

/*
 * The same of what is in the log, or of the database's own word: the limits
 * may have been lowered since, and a list that were not read would be a
 * requirement that nobody has to meet.
 */
extern void envelope_read_admitted(Jsonb *doc, Envelope *envelope, ProblemList *list);

/* NOT_ALLOWED: what the database alone writes, found in what somebody sent */
extern void envelope_refuse_internal(const Envelope *envelope, ProblemList *list);

#endif							/* CLUTCH_ENVELOPE_H */
