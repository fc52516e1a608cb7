/*-------------------------------------------------------------------------
 *
 * timer.c
 *	  Timers: when a task must be looked at again.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/column.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "queue/timer.h"
#include "settings.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

/* columns of clutch.timer */
enum
{
	Anum_timer_due = 1,
	Anum_timer_task_id,
	Anum_timer_due_since,
	Natts_timer = Anum_timer_due_since
};

ROWS_CHECK_COLUMNS(Natts_timer, TIMER);

/*
 * the time to claim a task doubles with each agent that has not claimed it, at
 * most so many times
 */
#define MOST_DOUBLINGS	10

TimestampTz
timer_claim_end(const Task *task)
{
	if (task->status != TASK_ASSIGNED || task_is_offered(task) || clutch_claim_timeout == 0)
		return 0;
	return task->since +
		((clutch_claim_timeout * USECS_PER_SEC) << Min(task->unclaimed, MOST_DOUBLINGS));
}

/*
 * Returns the earliest of the task's times, or 0 if it waits for no time.  The
 * wake_at of a task that waits for others needs no timer, because it only
 * keeps the task from being routed earlier.
 */
static TimestampTz
timer_task_earliest_time(const Task *task)
{
	bool		is_dependent = task->waiting_for == WAITING_FOR_SIBLING;
	TimestampTz times[] = {task->lease_until, task->deadline, is_dependent ? 0 : task->wake_at,
	timer_claim_end(task)};
	TimestampTz first = 0;
	int			i;

	for (i = 0; i < lengthof(times); i++)
		if (times[i] != 0 && (first == 0 || times[i] < first))
			first = times[i];
	return first;
}

/* due_since is 0 unless the task has been due before. */
static void
timer_insert(Task *task, TimestampTz due, TimestampTz due_since)
{
	Datum		values[Natts_timer];
	bool		nulls[Natts_timer] = {0};

	timer_clear(task);
	values[Anum_timer_due - 1] = TimestampTzGetDatum(due);
	values[Anum_timer_task_id - 1] = PointerGetDatum(slice_to_text(task->task_id));
	column_put_int8(values, nulls, Anum_timer_due_since, due_since);
	(void) rows_insert(TABLE_TIMER, values, nulls);
	task->next_at = due;
	notify_due(due);
}

void
timer_set(Task *task)
{
	TimestampTz due = timer_task_earliest_time(task);

	if (due != 0 && (task->next_at == 0 || task->next_at > due))
		timer_insert(task, due, 0);
}

void
timer_set_before(Task *task, TimestampTz at)
{
	TimestampTz due = timer_task_earliest_time(task);

	if (due == 0 || due > at)
		due = at;
	if (task->next_at == 0 || task->next_at > due)
		timer_insert(task, due, 0);
}

void
timer_put_off(Task *task, TimestampTz due)
{
	timer_insert(task, due, timer_task_earliest_time(task));
}

void
timer_clear(Task *task)
{
	RowScan		scan;

	if (task->next_at == 0)
		return;
	rows_begin(&scan, TABLE_TIMER, INDEX_TIMER, ROWS_LATEST, RowExclusiveLock);
	rows_key_timestamp(&scan, 1, BTEqualStrategyNumber, task->next_at);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, task->task_id);
	(void) rows_delete_first(&scan);
	task->next_at = 0;
}

/*
 * Takes the first row of the scan, whose keys have been set, whose task can be
 * locked.
 */
static Task *
timer_take_first(RowScan *scan, TimerPlace *place)
{
	Task	   *task = NULL;

	rows_start(scan);
	while (task == NULL && rows_next(scan))
	{
		Slice		task_id = rows_text(scan, Anum_timer_task_id);
		bool		busy;

		CHECK_FOR_INTERRUPTS();
		place->due = rows_timestamp(scan, Anum_timer_due);
		snprintf(place->task_id, sizeof(place->task_id), "%.*s", task_id.len, task_id.s);
		if (TransactionIdIsValid(rows_in_doubt(scan)))
			continue;
		task = task_lock_now(task_id, &busy);
		/* its timer has been set anew in the meantime */
		if (task != NULL && task->next_at != place->due)
			task = NULL;
	}
	rows_end(scan);
	return task;
}

/*
 * Many tasks may be due at the same instant.  If each scan started at the
 * beginning of that instant, it would pass over the rows that have been
 * removed before, again and again.
 */
Task *
timer_take_due(TimestampTz now, TimerPlace *place)
{
	Task	   *task;
	RowScan		scan;

	rows_begin(&scan, TABLE_TIMER, INDEX_TIMER, ROWS_DIRTY, RowExclusiveLock);
	rows_key_timestamp(&scan, 1, BTEqualStrategyNumber, place->due);
	rows_key_text(&scan, 2, BTGreaterStrategyNumber, slice_of_cstring(place->task_id));
	task = timer_take_first(&scan, place);
	if (task == NULL)
	{
		rows_begin(&scan, TABLE_TIMER, INDEX_TIMER, ROWS_DIRTY, RowExclusiveLock);
		rows_key_timestamp(&scan, 1, BTGreaterStrategyNumber, place->due);
		rows_key_timestamp(&scan, 1, BTLessEqualStrategyNumber, now);
		task = timer_take_first(&scan, place);
	}
	if (task != NULL)
		timer_clear(task);
	return task;
}

bool
timer_is_due(TimestampTz now)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_TIMER, INDEX_TIMER, ROWS_DIRTY, AccessShareLock);
	rows_key_timestamp(&scan, 1, BTLessEqualStrategyNumber, now);
	return rows_look(&scan, NULL);
}

TimestampTz
timer_next(void)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_TIMER, INDEX_TIMER, ROWS_DIRTY, AccessShareLock);
	return rows_look_timestamp(&scan, Anum_timer_due);
}
