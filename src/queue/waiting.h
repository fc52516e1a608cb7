/*-------------------------------------------------------------------------
 *
 * waiting.h
 *	  What waits for an agent, indexed by what it requires.
 *
 * Tasks of one requirement form a queue, a *kind*.  Whoever has a free slot
 * looks at the heads of the kinds that its agent fits, so that a backlog
 * which fits others is never read.  Kept by who holds the task's lock.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WAITING_H
#define CLUTCH_WAITING_H

#include "routing/requirement.h"
#include "task/task.h"

/* one that waits already keeps its place, if what it requires is the same */
extern void waiting_put(Task *task, const Requirement *requirement);
/* the same, of a kind it had before */
extern void waiting_put_kind(Task *task, int64 kind);
extern void waiting_remove(Task *task);

extern bool waiting_is_empty(void);

/*
 * The most urgent task that waits and fits the agent, locked; NULL: none
 * that nobody else is looking at.
 */
extern Task *waiting_take(Slice agent_id);

/* what fits it is judged anew: it may have spent more on a run than it may */
extern void waiting_forget_fitting(Slice agent_id);

/* a task that was read before, as it is now; NULL: it does not wait in that place any more */
extern Task *waiting_again(const Task *before);

/* the most urgent task of one kind, locked; NULL as above */
extern Task *waiting_next(int64 kind);

/*
 * The heads of all kinds, locked, for tick; a List of Task *, at most n, the
 * most urgent first.
 */
extern struct List *waiting_heads(int n);

#endif							/* CLUTCH_WAITING_H */
