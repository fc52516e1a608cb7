/*-------------------------------------------------------------------------
 *
 * requirement.h
 *	  What a task.request asks of the agent that takes it.
 *
 * This is a view of the envelope: slices point into its document, and nothing
 * else is read, so the same request always has the same requirement.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REQUIREMENT_H
#define CLUTCH_REQUIREMENT_H

#include "protocol/envelope.h"

struct Requirement
{
	SliceList	requires;
	SliceList	prefers;
	MessagePolicy policy;
	Slice		scope;			/* of the run; absent: the run has no owner */

	/* the recipients; without any, every agent may be chosen */
	SliceList	named;			/* agents */
	SliceList	groups;

	/* not part of the digest */
	Slice		run_id;			/* a card may limit what a run may cost */
	Slice		avoid;			/* an agent to choose only if no other is left;
								 * or absent */
	bool		resumes;		/* "named" had the task until it had to wait */
	bool		has_after;		/* the request names tasks to wait for */
};

/* scope is the owner of the run, which may differ from what the envelope says */
extern void requirement_of(const Envelope *envelope, Slice scope,
						   Requirement *requirement);

/* Is exactly one agent named?  Such a request is assigned without a choice. */
extern bool requirement_is_direct(const Requirement *requirement);

/*
 * Requests with the same digest wait in the same queue (queue/waiting.h).  It
 * covers what an agent must fulfil, and not the run: whether an agent may spend
 * more on a run changes over time (see router_may_spend).
 */
extern uint64 requirement_digest(const Requirement *requirement);

#endif							/* CLUTCH_REQUIREMENT_H */
