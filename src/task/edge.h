/*-------------------------------------------------------------------------
 *
 * edge.h
 *	  Edges, that is, which task waits for which (meta.clutch.after): rows of
 *	  clutch.dependency.
 *
 * An edge is written with the request that names it, and stays.
 * flow/dependency.h handles what it means for the two tasks.  Lists are Lists
 * of Slice *, copied into the current context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EDGE_H
#define CLUTCH_EDGE_H

#include "task/task.h"

/*
 * Inserts an edge: task waits for the task named "after".  unknown_since is
 * the time of the request if nobody has requested that task so far, or 0
 * otherwise.
 */
extern void edge_insert(const Task *task, Slice after, TimestampTz unknown_since);

/*
 * Mark or unmark, for clutch.stuck, the edges of a held task that waits for
 * one that nobody has requested.  They are marked when the task is held again,
 * and unmarked when it is held no longer.  If the awaited task has been
 * requested since, its edge may stay marked until then.
 */
extern void edge_mark_unknown(const Task *task);
extern void edge_forget_unknown(Slice task_id);

/* Return the tasks that a task waits for, and those that wait for it. */
extern List *edge_list_awaited(Slice task_id);

/*
 * The same; with ROWS_DIRTY, waiters whose request is not committed are
 * included.
 */
extern List *edge_list_waiters(Slice task_id, RowSnapshot which);

/* Does any task, even an uncommitted one, wait for this one? */
extern bool edge_has_waiters(Slice task_id);

/* Deletes the edges of a task that waited and is being pruned. */
extern void edge_forget(Slice task_id);

#endif							/* CLUTCH_EDGE_H */
