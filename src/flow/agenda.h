/*-------------------------------------------------------------------------
 *
 * agenda.h
 *	  The agenda: what a transaction has caused for other tasks and has not
 *	  handled yet.
 *
 * An event moves its own task at once.  Everything that concerns other tasks
 * is a consequence: the code that moves a task adds an entry here and returns.
 * The entries are handled before the transaction commits or is prepared
 * (flow/settle.h), each by the file named next to its kind.
 *
 * Entries belong to the savepoint in which they were added, and disappear when
 * it is rolled back.  Adding an entry that is there already merges the two, so
 * that a batch that ends a thousand children tells their parent only once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AGENDA_H
#define CLUTCH_AGENDA_H

#include "base/text.h"
#include "datatype/timestamp.h"

/* in the order in which the entries of one round are handled */
typedef enum ConsequenceKind
{
	/* of a task */
	CONSEQUENCE_CANCEL_CHILDREN,	/* it and "because" were cancelled:
									 * flow/cancel.h */
	CONSEQUENCE_CANCEL,			/* an ancestor (because) was cancelled */
	CONSEQUENCE_ORPHAN,			/* an ancestor may have been cancelled */
	CONSEQUENCE_DEPENDENT,		/* a task that it waits for may be over: flow/dependency.h */
	CONSEQUENCE_JOIN,			/* a child is over; amount, seq: flow/join.h */
	CONSEQUENCE_WAKE,			/* what it is suspended for may have happened;
								 * seq: flow/suspend.h */
	CONSEQUENCE_LIFT,			/* "because", of priority amount, waits for it:
								 * flow/lift.h */
	CONSEQUENCE_SHARE,			/* a rule has shared it out, and its children
								 * must be requested: flow/emission.h */
	CONSEQUENCE_ROUTE,			/* it waits, and may have to end: flow/offer.h */
	CONSEQUENCE_DISPLACE,		/* it may take the place of a less urgent one: flow/displace.h */
	CONSEQUENCE_CALL,			/* it has been given to an agent behind an endpoint: flow/callee.h */
	CONSEQUENCE_TAKE_AWAY,		/* its agent, for a reason in amount, does not
								 * work: flow/liveness.h */
	CONSEQUENCE_EMIT,			/* a rule ("because") adds requests to an event
								 * (seq) of it: flow/emission.h */
	/* of an agent */
	CONSEQUENCE_GIVE_UP,		/* it has stopped: flow/liveness.h */
	CONSEQUENCE_TIMED_OUT,		/* a task of it timed out: flow/liveness.h */
	CONSEQUENCE_OFFER,			/* it has room for amount tasks: flow/offer.h */
	/* of neither */
	CONSEQUENCE_TIMERS,			/* amount due timers: flow/due.h */
	CONSEQUENCE_TICK			/* a tick of that amount: flow/tick.h */
} ConsequenceKind;
#define NUM_CONSEQUENCE_KINDS	(CONSEQUENCE_TICK + 1)

typedef struct Consequence
{
	ConsequenceKind kind;
	int			depth;			/* of the task, or 0 */
	Slice		subject;		/* task_id or agent_id; empty if neither */
	Slice		because;		/* see the kind; may be absent */
	int			amount;			/* JOIN: the child's join value; LIFT: a
								 * priority; GIVE_UP, TAKE_AWAY: a reason of
								 * flow/liveness.h; otherwise how many */
	int64		seq;			/* JOIN: since when the last child that
								 * ended counts; WAKE: that of a message, or 0; EMIT:
								 * that of the event */
} Consequence;

/*
 * Returns "cancel_children", ..., as in the column kind of clutch.consequence.
 */
extern const char *consequence_kind_name(ConsequenceKind kind);

/* Is it a share of what ticks do, which the next tick does if this fails? */
extern bool consequence_is_share(ConsequenceKind kind);

/* Returns false if there is no such kind. */
extern bool consequence_kind_parse(Slice name, ConsequenceKind *kind);

/* Adds a copy, or merges it with an entry that is the same. */
extern void agenda_add(const Consequence *consequence);

/* The two usual cases. */
extern void agenda_add_task(ConsequenceKind kind, int depth, Slice task_id);
extern void agenda_add_agent(ConsequenceKind kind, Slice agent_id, int amount);

extern bool agenda_is_empty(void);

/*
 * Takes all entries off the agenda.  Returns a List of Consequence *, valid
 * until the transaction ends, in lock order: tasks by (depth, task_id), then
 * agents.
 */
extern List *agenda_take(void);

#endif							/* CLUTCH_AGENDA_H */
