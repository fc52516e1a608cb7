/*-------------------------------------------------------------------------
 *
 * ready.h
 *	  What an agent can claim, in claim order (queue.h), and nothing else.
 *
 * Rows of clutch.ready.  A task stands here from its assignment until it is
 * claimed, ends, or is given to another agent.  The caller of ready_put and
 * ready_remove has the task locked and saves it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_READY_H
#define CLUTCH_READY_H

#include "queue/queue.h"
#include "task/task.h"

extern void ready_put(Task *task);
extern void ready_remove(Task *task);

/*
 * IDs of the tasks that are ready for the agent, n at most; a palloc'd List of Slice *.  Those
 * that require a capability that is paused are left out.  Locks nothing.
 */
extern List *ready_list(Slice agent_id, int n);

/*
 * Calls take for up to n tasks of the agent in claim order, none below the
 * level: the task is locked, assigned to the agent, and out of the queue
 * (queue_no is 0, to be saved).  take returns false if it made no use of the
 * task, which then does not count.  Tasks that other transactions have locked
 * are passed over, never waited for, and so are those that require a capability
 * that is paused.  Batch work is for an agent that has no
 * other: once a task above LEVEL_BATCH has been taken, none of that level is.
 * Returns how many were taken.
 */
typedef bool (*ReadyTake) (Task *task, void *arg);

extern int	ready_take(Slice agent_id, int n, QueueLevel least_level,
					   ReadyTake take, void *arg);

/*
 * The task of the agent that yields its slot first to one of that priority: the
 * least urgent one, and the last of those in claim order.  A task that has aged
 * until it counts as much does not yield.  The first function only looks, and
 * returns false if there is none.  The second one locks the task, which stays
 * in the queue, and notes in it where it stood; a task that another transaction
 * has locked is passed over.  NULL: there is none.
 */
extern bool ready_look_for_yielding(Slice agent_id, int priority, int *urgency,
									int64 *queue_no);
extern Task *ready_lock_yielding(Slice agent_id, int priority);

#endif							/* CLUTCH_READY_H */
