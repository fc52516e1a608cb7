/*-------------------------------------------------------------------------
 *
 * open_work.h
 *	  Counting the open requests and steps of roles that have a quota for them.
 *
 * The log says which agent has sent an event, but not which role.  Therefore a
 * row of clutch.open_work says which role a request, or a stored step, counts
 * for.  There is a row only if the role had a quota of that kind at the time
 * (trust/quota).
 *
 * What is used is the number of rows whose task is not over.  Nothing need be
 * done when a task ends: rows of tasks that are over, or pruned, are removed
 * when somebody counts, and by ticks.  So the count cannot drift away from the
 * tasks.  A rebuild keeps the rows.
 *
 * Uncommitted rows of other transactions count as well, and are not waited
 * for.  Sessions that add rows at the same instant may exceed the limit by
 * what they add.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OPEN_WORK_H
#define CLUTCH_OPEN_WORK_H

#include "base/rows.h"
#include "trust/quota.h"

/*
 * Records that the current role has requested the task by the event seq.
 * Raises KL013 if it has too many open requests.
 */
extern void open_work_add_request(Slice task_id, int64 seq, const char *place);

/*
 * The same if the current role has revived the task, which then no longer counts
 * for the role that requested it, or that revived it earlier.
 */
extern void open_work_take_over(Slice task_id, int64 former_seq, int64 seq, const char *place);

/*
 * Records that the current role has stored a step of the task.  Raises KL013
 * if it has too many.
 */
extern void open_work_add_step(Slice task_id, int64 seq);

/*
 * Returns how many of QUOTA_OPEN_REQUESTS or QUOTA_STEPS the role has, as the
 * active snapshot sees it.
 */
extern int64 open_work_of_role(Oid role, QuotaKind kind);

/*
 * Removes rows of tasks that are over.  Looks at n rows at most, from where
 * this backend's last call stopped, and pauses after each pass.  Never waits.
 * Returns how many it removed.
 */
extern int	open_work_sweep(int n);

#endif							/* CLUTCH_OPEN_WORK_H */
