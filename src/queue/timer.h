/*-------------------------------------------------------------------------
 *
 * timer.h
 *	  When a task must be looked at again: its lease, its deadline, wake_at, and
 *	  the end of the time in which its agent is to claim it.
 *
 * A task has at most one row of clutch.timer, which is never later than the
 * earliest of the four; task->next_at is the key of the row.  Extending a
 * lease leaves the row where it is: when the row is due, whoever takes it sees
 * the later end and sets the timer again.
 *
 * All functions that take a Task want it locked by the caller.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TIMER_H
#define CLUTCH_TIMER_H

#include "task/task.h"

/*
 * When others may have a ready task that its agent has not claimed
 * (clutch.claim_timeout); 0: never, or they may have it already.
 */
extern TimestampTz timer_claim_end(const Task *task);

/* makes sure that the task is looked at when one of its times has come */
extern void timer_set(Task *task);
extern void timer_clear(Task *task);

/*
 * The same, at that time at the latest: a task that will have a lease soon needs
 * no other row then, if the lease does not end before.
 */
extern void timer_set_before(Task *task, TimestampTz at);

/* it is looked at again at that time, although it is due already */
extern void timer_put_off(Task *task, TimestampTz due);

/* the row that was looked at last; it begins as TIMER_BEGIN */
typedef struct TimerPlace
{
	TimestampTz due;
	char		task_id[MAX_ID_BYTES + 1];
} TimerPlace;

#define TIMER_BEGIN		((TimerPlace) {.due = PG_INT64_MIN})

/*
 * The next task behind the place whose row is due, locked, with the row
 * removed, and the place moved there.  Rows of tasks that another transaction
 * has locked are passed.  Returns NULL if there is no more.
 */
extern Task *timer_take_due(TimestampTz now, TimerPlace *place);

/*
 * Is there a row that is due?  Every idle claim asks.  Rows that are due later
 * are not read: under a held snapshot any number of them may be dead.
 */
extern bool timer_is_due(TimestampTz now);

/*
 * when the first row is due, committed or not, or DT_NOEND if there is no row
 */
extern TimestampTz timer_next(void);

#endif							/* CLUTCH_TIMER_H */
