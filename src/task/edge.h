/*-------------------------------------------------------------------------
 *
 * edge.h
 *	  Which task waits for which (meta.clutch.after): rows of
 *	  clutch.dependency.
 *
 * An edge is written with the request that names it and stays for good.  What
 * it means for the two tasks is the matter of flow/dependency.h.  Lists are
 * Lists of Slice *, copied into the current context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EDGE_H
#define CLUTCH_EDGE_H

#include "task/task.h"

/*
 * task waits for the task named after.  unknown_since is the time of the request
 * if nobody has requested that task so far, otherwise 0.
 */
extern void edge_insert(const Task *task, Slice after, TimestampTz unknown_since);

/*
 * What clutch.stuck shows if it lasts: a task that is held waits for one that
 * nobody has requested.  Marked when it is held again, forgotten when it is held
 * no longer; an edge whose task has been requested since may stay marked until
 * then.
 */
extern void edge_mark_unknown(const Task *task);
extern void edge_forget_unknown(Slice task_id);

/* Returns the tasks that a task waits for, and those that wait for it. */
extern List *edge_list_awaited(Slice task_id);

/* ROWS_DIRTY includes waiters whose request is not committed */
extern List *edge_list_waiters(Slice task_id, RowSnapshot which);

/* Does any task, even one that is not committed, wait for this one? */
extern bool edge_has_waiters(Slice task_id);

/* deletes the edges of a task that waited, which is being pruned */
extern void edge_forget(Slice task_id);

#endif							/* CLUTCH_EDGE_H */
