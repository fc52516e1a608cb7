/*-------------------------------------------------------------------------
 *
 * open_work.h
 *	  The open requests and the steps of roles that have a quota of them.
 *
 * The log says which agent has sent an event, and not which role.  So a row of
 * clutch.open_work says of a request, or of a step that was kept, which role it
 * counts for.  There is one only if the role had a quota of that kind then
 * (trust/quota).
 *
 * What is used is the number of rows whose task is not over.  Nothing has to be told
 * when a task ends: rows of tasks that are over, or pruned, are removed by whoever
 * counts, and by ticks.  So what is used cannot drift away from the tasks.  A rebuild
 * keeps the rows.
 *
 * Rows that other transactions have not committed count as well, which nobody waits
 * for.  Sessions that add in the same instant may exceed the limit by what they add.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OPEN_WORK_H
#define CLUTCH_OPEN_WORK_H

#include "base/rows.h"
#include "trust/quota.h"

/*
 * The current role has requested the task by the event seq, or has begun it again.
 * Raises KL013 if it has too many open requests.
 */
extern void open_work_add_request(Slice task_id, int64 seq, const char *place);

/* The current role has kept a step of the task.  Raises KL013 if it has too many. */
extern void open_work_add_step(Slice task_id, int64 seq, const char *place);

/* How many there are, of QUOTA_OPEN_REQUESTS or QUOTA_STEPS, as far as they are committed. */
extern int64 open_work_of_role(Oid role, QuotaKind kind, RowSnapshot which);

/*
 * Removes rows of tasks that are over.  Looks at n rows at most, from where the last
 * call of this backend ended, and rests after each pass.  Never waits.  Returns how many
 * it has removed.
 */
extern int	open_work_sweep(int n);

#endif							/* CLUTCH_OPEN_WORK_H */
