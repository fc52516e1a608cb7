/*-------------------------------------------------------------------------
 *
 * waiting_kind.h
 *	  What a backend remembers about the kinds of clutch.waiting.
 *
 * The number of a kind consists of the anchor of its requirement (24 bits) and
 * of the digest (40 bits), so it says by itself which agents may fit it, and
 * what is remembered about it never goes stale.  Equal numbers of different
 * requirements are possible, if unlikely, and only a hint goes wrong then: the
 * router judges each task by its own request.
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
	Slice		holder;			/* of tasks that are offered: the agent that has them */
	Requirement requirement;
	QueuePlace	place;			/* where its queue is read from */
} WaitingKind;

extern int64 waiting_kind_of(const Requirement *requirement);

/*
 * The kind of tasks that are offered to other agents.  Those of each holder form
 * a kind of their own: the holder, for which they are nothing new, would have to
 * pass over all of them whenever it has room.
 */
extern int64 waiting_kind_of_offered(const Requirement *requirement, Slice holder);

/* the kinds of an anchor are numbered from *first to *last */
extern void waiting_kind_range(uint64 anchor, int64 *first, int64 *last);

/*
 * What a kind requires, read from the request of any task that waits with it
 * unless it is remembered; NULL if that task has gone meanwhile, or if by the rules
 * of now (routing/rule.h) it is of another kind.  Valid until
 * the next call.  *was_read is set if the request had to be read.
 */
extern WaitingKind *waiting_kind_get(int64 kind, Slice task_id, bool *was_read);

/* the same if it is remembered, or NULL if it is not */
extern WaitingKind *waiting_kind_known(int64 kind);

#endif							/* CLUTCH_WAITING_KIND_H */
