/*-------------------------------------------------------------------------
 *
 * requirement.h
 *	  What a task.request asks of the agent that takes it.
 *
 * A view on the envelope: slices point into its document.  Two requests with
 * equal requirements wait in the same queue (queue/waiting.h), so the
 * digest covers every field of the struct but the last three.
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
	Slice		scope;			/* of the run; absent: unowned */
	Slice		run_id;			/* absent: no card limits what a run may cost */

	/* to: nobody named and no group means anybody (the orchestrator) */
	SliceList	named;			/* agents */
	SliceList	groups;

	Slice		avoid;			/* an agent to take only if no other can; or
								 * absent */
	bool		resumes;		/* named is who had it and asked */
	bool		has_after;		/* it was to wait for others */
};

/* scope is the run's, which may differ from what this envelope says */
extern void requirement_of(const Envelope *envelope, Slice scope,
						   Requirement *requirement);

/* to names exactly one agent: assigned without choice */
extern bool requirement_is_direct(const Requirement *requirement);

extern uint64 requirement_digest(const Requirement *requirement);

#endif							/* CLUTCH_REQUIREMENT_H */
