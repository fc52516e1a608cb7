/*-------------------------------------------------------------------------
 *
 * requirement.h
 *	  What a task.request asks of the agent that takes it.
 *
 * This is a view of the envelope: slices point into its document, and nothing
 * else is read.  What the rules of the operators add (routing/rule.h) is palloc'd,
 * so the same request has the same requirement for as long as they do not change.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REQUIREMENT_H
#define CLUTCH_REQUIREMENT_H

#include "protocol/envelope.h"

/* a rule that has touched the request */
typedef struct AppliedRule
{
	Slice		name;
	SliceList	requires;		/* these are among those of the request, too */
	SliceList	only;			/* agents and groups that may get it; empty
								 * means any */
	Slice		unlike;			/* a model whose agents do not get it; or absent */
	bool		sends;			/* "only" is where it goes, rather than where it may go */
	bool		shares;			/* it goes to several agents: see Sharing (routing/rule.h) */
} AppliedRule;

struct Requirement
{
	SliceList	requires;
	SliceList	prefers;
	MessagePolicy policy;
	Slice		scope;			/* of the run, or absent if the run has no
								 * owner */
	Slice		sender;			/* whose request it is */

	/* the recipients; without any, every agent may be chosen */
	SliceList	named;			/* agents */
	SliceList	groups;

	int			nrules;			/* in the order in which they were applied */
	AppliedRule *rules;

	/* not part of the digest */
	int			priority;		/* that a rule sets, or -1 if none does */
	Slice		run_id;			/* a card may limit what a run may cost */
	Slice		avoid;			/* an agent to choose only if no other is left;
								 * or absent */
	bool		resumes;		/* "named" had the task until it had to wait */
	bool		has_after;		/* the request names tasks to wait for */
};

/* scope is the owner of the run, which may differ from what the envelope says */
extern void requirement_of(const Envelope *envelope, Slice scope,
						   Requirement *requirement);

/*
 * What a rule that has requested it notes: meta.rule, or NULL if no rule has.
 * It counts only in requests of the orchestrator, because anybody can write
 * it.
 */
extern JsonbContainer *requirement_rule_notes(const Envelope *envelope);

/*
 * Whose request it is.  What a rule has made of the request or the proposal of an agent is
 * that agent's, though the orchestrator sends it: it reaches nobody whom the agent could not ask itself.
 */
extern Slice requirement_sender(const Envelope *envelope);

/* Is exactly one agent named?  Such a request is assigned without a choice. */
extern bool requirement_is_direct(const Requirement *requirement);

/*
 * Requests with the same digest wait in the same queue (queue/waiting.h).  It
 * covers what an agent must fulfil, and not the run: whether an agent may spend
 * more on a run changes over time.
 */
extern uint64 requirement_digest(const Requirement *requirement);

/* The rules in one piece of memory, to be freed by pfree; NULL: there are none. */
extern AppliedRule *requirement_copy_rules(const Requirement *requirement);

/* "a, b", palloc'd; NULL if no rule has touched the request */
extern char *requirement_rule_names(const Requirement *requirement);

#endif							/* CLUTCH_REQUIREMENT_H */
