/*-------------------------------------------------------------------------
 *
 * timer.h
 *	  When a task must be looked at again: its lease, its deadline, wake_at.
 *
 * At most one row a task, never later than the earliest of them; a lease
 * that was extended meanwhile is seen when the row is due.  Kept by who holds
 * the task's lock.  task->next_at is the row's key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TIMER_H
#define CLUTCH_TIMER_H

#include "task/task.h"

/* sees to it that the task is looked at when one of them is due */
extern void timer_set(Task *task);
extern void timer_clear(Task *task);
/* it is looked at then, though it was due before */
extern void timer_put_off(Task *task, TimestampTz due);

/*
 * A task whose row is due, locked, its row removed; NULL: none (that nobody
 * else is looking at).  after keeps the place between calls, begin with
 * PG_INT64_MIN.
 */
extern Task *timer_take_due(TimestampTz now, TimestampTz *after);

/*
 * Is there a row to be looked at?  Every idle claim asks, and never reads what
 * is due later: under a held snapshot that may be any number of dead rows.
 */
extern bool timer_is_due(TimestampTz now);

/* when the first is due, also one not committed; DT_NOEND: none */
extern TimestampTz timer_next(void);

#endif							/* CLUTCH_TIMER_H */
