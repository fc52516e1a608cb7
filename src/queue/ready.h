/*-------------------------------------------------------------------------
 *
 * ready.h
 *	  What agents can claim, in the order of claims (queue.h), and nothing
 *	  else.
 *
 * These are the rows of clutch.ready.  A task is here from its assignment
 * until it is claimed, ends, or is given to another agent.  The caller of
 * ready_put and ready_remove must have locked the task, and saves it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_READY_H
#define CLUTCH_READY_H

#include "queue/queue.h"
#include "task/task.h"

/*
 * Insert and remove the task.  Both set its queue_no, which the caller must
 * save.
 */
extern void ready_put(Task *task);
extern void ready_remove(Task *task);

/*
 * Returns the IDs of at most n tasks that are ready for the agent, as a
 * palloc'd List of Slice *.  Tasks that require a paused capability are left
 * out.  Locks nothing.
 */
extern List *ready_list(Slice agent_id, int n);

/*
 * Calls take for up to n tasks of the agent in the order of claims, none below
 * the level.  Each task is locked, assigned to the agent, and out of the queue
 * (queue_no is 0, and must be saved).  take returns false if it made no use of
 * the task, which then does not count.  Tasks that other transactions have
 * locked are skipped, never waited for, and so are those that require a paused
 * capability.  Batch work is for agents that have nothing else to do: once a
 * task above LEVEL_BATCH has been taken, none of that level is.  Returns how
 * many were taken.
 *
 * If fail is not NULL, each task is taken in a savepoint, and fail is called
 * with the error of one that cannot be taken, which then stays in the queue.
 */
typedef bool (*ReadyTake) (Task *task, void *arg);
typedef void (*ReadyFail) (Slice task_id, ErrorData *error, void *arg);

extern int	ready_take(Slice agent_id, int n, PriorityLevel least_level,
					   ReadyTake take, ReadyFail fail, void *arg);

/*
 * Find the task of the agent that would be the first to yield its slot to one
 * of that priority: the least urgent one, and among those the last in the
 * order of claims.  A task that has aged until it counts as much does not
 * yield.  The first function only looks, and returns false if there is none.
 * The second one locks the task, which stays in the queue, and notes its place
 * in it; tasks that another transaction has locked are skipped.  It returns
 * NULL if there is none.
 */
extern bool ready_look_for_yielding(Slice agent_id, int priority, int *urgency,
									int64 *queue_no);
extern Task *ready_lock_yielding(Slice agent_id, int priority);

#endif							/* CLUTCH_READY_H */
