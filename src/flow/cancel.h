/*-------------------------------------------------------------------------
 *
 * cancel.h
 *	  A cancel reaches every descendant (spec 1.3).
 *
 * It travels by consequences: the cancel of a task adds an entry for its
 * children, and the cancel of each child adds one for the children below it.  A
 * child that is requested at the same time looks at its parent after its own row
 * is written; the cancel looks for children after its own row is written, and
 * sees uncommitted ones too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CANCEL_H
#define CLUTCH_CANCEL_H

#include "flow/agenda.h"
#include "task/task.h"

/*
 * A new task whose parent, or another ancestor, was cancelled is cancelled at
 * once.  Returns false if there is no such ancestor; if that cannot be told yet,
 * the task is looked at again when the transaction commits.
 */
extern bool cancel_orphan(Task *task);

/*
 * Cancels the tasks of a run that are not over, ancestors first, and returns how
 * many it was.  What stands below a cancelled task is cancelled because of it;
 * for the others the agent needs the right to cancel them, or this raises
 * NOT_ASSIGNED.  Waits for tasks that other transactions have locked.
 */
extern int64 cancel_run(Slice run_id, Slice reason, Slice by_agent);

/* CONSEQUENCE_CANCEL_CHILDREN, _CANCEL and _ORPHAN; false: to be tried later */
extern bool cancel_settle_children(const Consequence *consequence);
extern bool cancel_settle(const Consequence *consequence);
extern bool cancel_settle_orphan(const Consequence *consequence);

#endif							/* CLUTCH_CANCEL_H */
