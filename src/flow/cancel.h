/*-------------------------------------------------------------------------
 *
 * cancel.h
 *	  Cancellation, which reaches every descendant (spec 1.3).
 *
 * It spreads by consequences: cancelling a task adds an entry for its
 * children, and cancelling each child adds one for the children below it.  A
 * child that is requested at the same time looks at its parent after its own
 * row has been written; the cancellation looks for children after its own row
 * has been written, and sees uncommitted ones, too.  So at least one of them
 * sees the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CANCEL_H
#define CLUTCH_CANCEL_H

#include "flow/agenda.h"
#include "task/task.h"

/*
 * Cancels a new task at once if its parent, or another ancestor, was
 * cancelled.  Returns false if there is no such ancestor.  If that cannot be
 * determined yet, the task is looked at again when the transaction commits.
 */
extern bool cancel_orphan(Task *task);

/*
 * Cancels the tasks of a run that are not over, ancestors first, and returns
 * their number.  Tasks below a cancelled task are cancelled because of it; for
 * the others, the agent needs the right to cancel them, or NOT_ASSIGNED is
 * raised.  Waits for tasks that other transactions have locked.
 */
extern int64 cancel_run(Slice run_id, Slice reason, Slice by_agent);

/*
 * Handle CONSEQUENCE_CANCEL_CHILDREN, _CANCEL and _ORPHAN.  Return false if it
 * must be tried again later.
 */
extern bool cancel_settle_children(const Consequence *consequence);
extern bool cancel_settle(const Consequence *consequence);
extern bool cancel_settle_orphan(const Consequence *consequence);

#endif							/* CLUTCH_CANCEL_H */
