/*-------------------------------------------------------------------------
 *
 * waiting_kind.h
 *	  A cache, in each backend, of the kinds of clutch.waiting.
 *
 * The number of a kind consists of the anchor (24 bits) and the digest (40
 * bits) of its requirement.  So the number itself says which agents may fit
 * it.  Different requirements may have the same number, though this is
 * unlikely; in that case only a hint is wrong, because the router judges each
 * task by its own request.
 *
 * The same request may have another requirement, and hence belong to another
 * kind, after the routing rules have changed, or when cards begin or cease to
 * limit delegation.  Then everything that is cached is discarded.  The rows
 * stay under the old number until ticks have tried them again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WAITING_KIND_H
#define CLUTCH_WAITING_KIND_H

#include "queue/queue.h"
#include "routing/requirement.h"

typedef struct WaitingKind
{
	int64		kind;			/* key */
	bool		is_old;			/* its tasks belong to other kinds by now, and
								 * each may require something else */
	Slice		holder;			/* for offered tasks: the agent that has them */
	Requirement requirement;
	QueuePlace	place;			/* where reading its queue starts */
	int64		returned[NUM_LEVELS];	/* by urgency: the lowest number that
										 * has returned since the place was
										 * remembered, or 0 */
} WaitingKind;

extern int64 waiting_kind_of(const Requirement *requirement);

/*
 * Returns the kind of tasks that are offered to other agents.  The tasks of
 * each holder form kinds of their own, because otherwise the holder, which is
 * not offered its own tasks, would have to pass over all of them whenever it
 * has room.
 */
extern int64 waiting_kind_of_offered(const Requirement *requirement, Slice holder);

/* Returns the anchor of a kind (routing/anchor.h), or of its number. */
extern uint64 waiting_kind_anchor(int64 kind);

/* Sets the range of numbers that kinds with this anchor have. */
extern void waiting_kind_range(uint64 anchor, int64 *first, int64 *last);

/*
 * Returns what a kind requires.  Unless it is cached, it is read from the
 * request of any task that waits with it.  Returns NULL if that task has gone
 * in the meantime.  Valid until the next call.  *was_read is set if the
 * request had to be read.
 */
extern WaitingKind *waiting_kind_get(int64 kind, Slice task_id, bool *was_read);

/* The same if it is cached, and NULL if it is not. */
extern WaitingKind *waiting_kind_known(int64 kind);

/*
 * To be called when this session has put a row into the queue of a kind with a
 * number that may be below the place.  An open queue does not see the row, but
 * the next look does.
 */
extern void waiting_kind_note_return(int64 kind, int urgency, int64 queue_no);

/* Remembers the place when the queue is closed. */
extern void waiting_kind_note_place(WaitingKind *entry, const QueuePlace *place);

typedef enum WaitingKindVisited
{
	KIND_VISITED,
	KIND_TASK_GONE,				/* visit it again with another task, if it has
								 * one */
	KIND_LAST					/* visit no more kinds */
} WaitingKindVisited;

typedef WaitingKindVisited (*WaitingKindVisit) (int64 kind, Slice task_id, void *arg);

/*
 * Calls visit for each kind from first to last that has a row, with a task of
 * the kind, and returns what that cost, in rows.  A row that another
 * transaction is inserting does not make a kind.
 */
extern int64 waiting_kind_visit(int64 first, int64 last, WaitingKindVisit visit, void *arg);

#endif							/* CLUTCH_WAITING_KIND_H */
