/*-------------------------------------------------------------------------
 *
 * timer.h
 *	  Timers: when a task must be looked at again because of its lease, its
 *	  deadline, its wake_at, or the end of the time in which its agent must
 *	  claim it.
 *
 * A task has at most one row of clutch.timer, which is never later than the
 * earliest of the four; task->next_at is the key of the row.  Extending a
 * lease does not change the row: whoever takes it when it is due sees the
 * later end and sets the timer again.
 *
 * A Task that is passed to these functions must be locked by the caller.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TIMER_H
#define CLUTCH_TIMER_H

#include "task/task.h"

/*
 * Returns when others may have a ready task that its agent has not claimed
 * (clutch.claim_timeout), or 0 if never, or if they may have it already.
 */
extern TimestampTz timer_claim_end(const Task *task);

/* Makes sure that the task is looked at when one of its times has come. */
extern void timer_set(Task *task);
extern void timer_clear(Task *task);

/*
 * The same, but at that time at the latest.  A task that will soon have a
 * lease then needs no other row, unless the lease ends earlier.
 */
extern void timer_set_before(Task *task, TimestampTz at);

/*
 * Makes the task be looked at again at that time, although it is due already.
 * The row keeps since when, so that others can see that it is overdue.
 */
extern void timer_put_off(Task *task, TimestampTz due);

/* the row that was looked at last; initially TIMER_BEGIN */
typedef struct TimerPlace
{
	TimestampTz due;
	char		task_id[MAX_ID_BYTES + 1];
} TimerPlace;

#define TIMER_BEGIN		((TimerPlace) {.due = PG_INT64_MIN})

/*
 * Returns the next task after the place whose row is due, locked and with the
 * row removed, and moves the place there.  Rows of tasks that another
 * transaction has locked are skipped.  Returns NULL if there are no more.
 */
extern Task *timer_take_due(TimestampTz now, TimerPlace *place);

/*
 * Is there a row that is due?  Every idle claim asks this.  Rows that are due
 * later are not read, because under an old snapshot, any number of them may be
 * dead; and if many are that were due before, not every call reads those
 * (timer.c).
 */
extern bool timer_is_due(TimestampTz now);

/*
 * Returns when the first row is due, committed or not, or DT_NOEND if there is
 * none.  It may also return an earlier time, at which to look again.
 */
extern TimestampTz timer_next(void);

#endif							/* CLUTCH_TIMER_H */
