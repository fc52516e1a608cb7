/*-------------------------------------------------------------------------
 *
 * suspended.h
 *	  Suspended tasks: rows of clutch.suspended and clutch.awaited.
 *
 * Every suspended task has a row of clutch.suspended.  One that waits for a
 * message also has a row of clutch.awaited, which is found by its run.
 *
 * A transaction that ends a child, or sends a message, asks here whether a
 * task waits for it, with a dirty snapshot and after its own row has been
 * written.  A transaction that suspends a task looks at the children and
 * messages after its rows have been written here.  So of two such
 * transactions, at least one sees the other.  As long as no task has ever been
 * suspended, asking costs no scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SUSPENDED_H
#define CLUTCH_SUSPENDED_H

#include "task/task.h"

/*
 * The task is locked.  It has just been suspended, or is about to be no
 * longer.
 */
extern void suspended_put(const Task *task);
extern void suspended_remove(const Task *task);

/* Is the task suspended, possibly by an open transaction? */
extern bool suspended_has(Slice task_id);

/* Has any task ever waited for a message?  This costs no scan. */
extern bool suspended_ever_awaited(void);

/* Does any task wait for a message, possibly in an open transaction? */
extern bool suspended_any_awaits(void);

/*
 * Returns the tasks of the run that wait for a message, in the same sense, as
 * a List of Slice *.
 */
extern List *suspended_list_awaiting(Slice run_id);

#endif							/* CLUTCH_SUSPENDED_H */
