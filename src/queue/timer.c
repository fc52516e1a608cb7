/*-------------------------------------------------------------------------
 *
 * timer.c
 *	  When a task must be looked at again: its lease, its deadline, wake_at.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "queue/timer.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

/* columns of clutch.timer */
enum
{
	Anum_due = 1,
	Anum_task_id,
	Natts_timer = Anum_task_id
};

/* 0: never */
static TimestampTz
earliest(const Task *task)
{
	TimestampTz times[] = {task->lease_until, task->deadline, task->wake_at};
	TimestampTz first = 0;
	int			i;

	for (i = 0; i < lengthof(times); i++)
		if (times[i] != 0 && (first == 0 || times[i] < first))
			first = times[i];
	return first;
}

static void
put(Task *task, TimestampTz due)
{
	Datum		values[Natts_timer];
	bool		nulls[Natts_timer] = {0};

	timer_clear(task);
	values[Anum_due - 1] = TimestampTzGetDatum(due);
	values[Anum_task_id - 1] = PointerGetDatum(slice_to_text(task->task_id));
	(void) rows_insert(TABLE_TIMER, values, nulls);
	task->next_at = due;
	notify_due(due);
}

void
timer_set(Task *task)
{
	TimestampTz due = earliest(task);

	if (due != 0 && (task->next_at == 0 || task->next_at > due))
		put(task, due);
}

void
timer_put_off(Task *task, TimestampTz due)
{
	put(task, due);
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

Task *
timer_take_due(TimestampTz now, TimestampTz *after)
{
	Task	   *task = NULL;
	RowScan		scan;

	rows_begin(&scan, TABLE_TIMER, INDEX_TIMER, ROWS_DIRTY, RowExclusiveLock);
	rows_key_timestamp(&scan, 1, BTGreaterEqualStrategyNumber, *after);
	rows_key_timestamp(&scan, 1, BTLessEqualStrategyNumber, now);
	rows_start(&scan);
	while (task == NULL && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (TransactionIdIsValid(rows_in_doubt(&scan)))
			continue;
		*after = rows_timestamp(&scan, Anum_due);
		task = task_lock_to_end(rows_text(&scan, Anum_task_id), false);
		if (task != NULL && task->next_at != *after)
			task = NULL;
	}
	rows_end(&scan);
	if (task != NULL)
		timer_clear(task);
	return task;
}

bool
timer_is_due(TimestampTz now)
{
	RowScan		scan;
	bool		found;

	rows_begin(&scan, TABLE_TIMER, INDEX_TIMER, ROWS_DIRTY, AccessShareLock);
	rows_key_timestamp(&scan, 1, BTLessEqualStrategyNumber, now);
	rows_start(&scan);
	found = rows_next(&scan);
	rows_end(&scan);
	return found;
}

TimestampTz
timer_next(void)
{
	TimestampTz next = DT_NOEND;
	RowScan		scan;

	rows_begin(&scan, TABLE_TIMER, INDEX_TIMER, ROWS_DIRTY, AccessShareLock);
	rows_start(&scan);
	if (rows_next(&scan))
		next = rows_timestamp(&scan, Anum_due);
	rows_end(&scan);
	return next;
}
