/*-------------------------------------------------------------------------
 *
 * timer.c
 *	  Timers: when a task must be looked at again.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/clock.h"
#include "base/column.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "queue/queue.h"
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

/* ------------------------------------------------------------------ looking */

/*
 * Rows that have been removed stay in the index as long as a snapshot may see
 * them.  So after an expensive look from the start, the next ones begin here,
 * where nothing was due any more.  What is entered below this place, because a
 * transaction has been open for a long time, is found by the next look from the
 * start.
 */
static struct
{
	Oid			table;			/* because the extension may be created again */
	TimestampTz from;
	TimestampTz latest;			/* when looks last moved it, by clutch.clock */
	int64		passed;			/* how many rows the last look from the start
								 * passed over, */
	TimestampTz looked_at;		/* when it happened, */
	uint64		rollbacks;		/* and rollbacks of this session until then */
}			front;

/* The place stays so far behind the present, because transactions take some time. */
#define FRONT_BEHIND	(10 * USECS_PER_SEC)

/* A tick that has not looked from the start is followed by another one after this time. */
#define LOOK_AGAIN		(10 * USECS_PER_SEC)

/* Returns where a look begins; PG_INT64_MIN is the start. */
static TimestampTz
timer_front(void)
{
	queue_watch_rollbacks();
	if (front.table != rows_table_oid(TABLE_TIMER) || front.rollbacks != queue_rollbacks() ||
		clock_now() < front.latest || queue_worth_looking(front.passed, front.looked_at, QUEUE_LOOK_BUSY))
		return PG_INT64_MIN;
	return front.from;
}

/* Notes a look that began at "from", passed over dead rows, and found this one first. */
static void
timer_move_front(TimestampTz from, TimestampTz first, int64 dead)
{
	if (from == PG_INT64_MIN)
	{
		front.table = rows_table_oid(TABLE_TIMER);
		front.from = PG_INT64_MIN;
		front.passed = dead;
		front.looked_at = GetCurrentTimestamp();
		front.rollbacks = queue_rollbacks();
	}
	front.latest = clock_now();
	front.from = Max(front.from, Min(first, front.latest - FRONT_BEHIND));
}

/* Returns when the first row is due that is due until then, or DT_NOEND if there is none. */
static TimestampTz
timer_first(TimestampTz from, TimestampTz until)
{
	TimestampTz first;
	RowScan		scan;

	rows_begin(&scan, TABLE_TIMER, INDEX_TIMER, ROWS_DIRTY, AccessShareLock);
	rows_key_timestamp(&scan, 1, BTGreaterEqualStrategyNumber, from);
	rows_key_timestamp(&scan, 1, BTLessEqualStrategyNumber, until);
	first = rows_look_timestamp(&scan, Anum_timer_due);
	timer_move_front(from, first, scan.dead);
	return first;
}

bool
timer_is_due(TimestampTz now)
{
	return timer_first(timer_front(), now) != DT_NOEND;
}

TimestampTz
timer_next(void)
{
	TimestampTz from = timer_front();
	TimestampTz first = timer_first(from, DT_NOEND);

	return from == PG_INT64_MIN ? first : Min(first, clock_now() + LOOK_AGAIN);
}

/* ------------------------------------------------------------------- taking */

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
		if (place->due == PG_INT64_MIN)
			rows_key_timestamp(&scan, 1, BTGreaterEqualStrategyNumber, timer_front());
		else
			rows_key_timestamp(&scan, 1, BTGreaterStrategyNumber, place->due);
		rows_key_timestamp(&scan, 1, BTLessEqualStrategyNumber, now);
		task = timer_take_first(&scan, place);
	}
	if (task != NULL)
		timer_clear(task);
	return task;
}
