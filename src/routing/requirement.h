/*-------------------------------------------------------------------------
 *
 * requirement.h
 *	  What a task.request requires of the agent that takes it.
 *
 * This is a view of the envelope: slices point into its document, and nothing
 * else is read.  What the operators' rules add (routing/rule.h) is palloc'd.
 * The same request has the same requirement as long as the rules do not
 * change.
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
	SliceList	requires;		/* these are also among those of the request */
	SliceList	only;			/* agents and groups that may get it; empty
								 * means any */
	Slice		unlike;			/* agents with this model, or with that of
								 * this agent, do not get the request; or
								 * absent */
	bool		sends;			/* "only" says where the request goes, rather
								 * than where it may go */
	bool		shares;			/* the request goes to several agents: see
								 * Sharing (routing/rule.h) */
} AppliedRule;

struct Requirement
{
	SliceList	requires;
	SliceList	prefers;
	MessagePolicy policy;
	Slice		scope;			/* the owner of the run, or absent if it has
								 * none */
	Slice		sender;			/* the agent that makes the request */

	/* The recipients.  Without any, every agent may be chosen. */
	SliceList	named;			/* agents */
	SliceList	groups;

	int			nrules;			/* in the order in which they were applied */
	AppliedRule *rules;

	/* Not part of the digest: */
	int			priority;		/* set by a rule, or -1 if none sets it */
	Slice		run_id;			/* needed because a card may limit what a run
								 * may cost */
	Slice		avoid;			/* an agent to choose only if no other is left;
								 * or absent */
	Slice		added_to;		/* see requirement_added_to */
	bool		resumes;		/* "named" worked on the task before it was
								 * suspended */
	bool		looks;			/* the agent that gets it is looking for what
								 * waits, whoever else could have it */
	bool		has_after;		/* the request names tasks to wait for */
};

/*
 * Fills in the requirement of a request.  "scope" is the owner of the run,
 * which may differ from what the envelope says.
 */
extern void requirement_of(const Envelope *envelope, Slice scope,
						   Requirement *requirement);

/*
 * Returns the notes of the rule that has made the request, meta.rule, or NULL
 * if no rule has.  They count only in requests by the orchestrator, because
 * anybody can write them.
 */
extern JsonbContainer *requirement_rule_notes(const Envelope *envelope);

/*
 * Returns the agent in whose name the request is made.  If a rule has made it
 * from a request or a proposal of an agent, this is that agent, although the
 * orchestrator sends it.  So it reaches nobody whom the agent could not ask
 * itself.
 */
extern Slice requirement_sender(const Envelope *envelope);

/*
 * Returns the ID of the event to which a rule has added the request in its own
 * name, or an absent slice if the request is made in the name of an agent.
 */
extern Slice requirement_added_to(const Envelope *envelope);

/* Is exactly one agent named?  Such a request is assigned without a choice. */
extern bool requirement_is_direct(const Requirement *requirement);

/*
 * Returns a digest.  Requests with the same digest wait in the same queue
 * (queue/waiting.h).  It covers what an agent must fulfil, but not the run,
 * because whether an agent may spend more on a run changes over time.  It
 * depends on the secret of the database and, if the request is offered to
 * others, on the agent that has it; otherwise holder is absent.
 */
extern uint64 requirement_digest(const Requirement *requirement, Slice holder);

/*
 * Returns a copy of the rules in one piece of memory, to be freed by pfree, or
 * NULL if there are none.
 */
extern AppliedRule *requirement_copy_rules(const Requirement *requirement);

/* Returns "a, b", palloc'd, or NULL if no rule has touched the request. */
extern char *requirement_rule_names(const Requirement *requirement);

#endif							/* CLUTCH_REQUIREMENT_H */
