/*-------------------------------------------------------------------------
 *
 * waiting_place.c
 *	  The row of a waiting or offered task in clutch.waiting.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/column.h"
#include "base/rows.h"
#include "queue/queue.h"
#include "queue/requester.h"
#include "queue/waiting.h"
#include "queue/waiting_kind.h"
#include "queue/waiting_vain.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

/*
 * A transaction that is just freeing a slot does not see the task, and the
 * transaction that puts the task here does not see the slot.  After this time,
 * both should be over.
 */
#define SLOT_MISSED		USECS_PER_SEC

/*
 * from_agent is the requester, whose kinds are limited; it is empty for an
 * offered task.
 */
static void
waiting_insert(Task *task, int64 kind, int64 queue_no, TimestampTz since, Slice from_agent)
{
	Datum		values[Natts_waiting] = {0};
	bool		nulls[Natts_waiting] = {0};
	TimestampTz now = clock_now();

	task->queue_kind = kind;
	task->queue_no = queue_no;
	values[Anum_queue_key - 1] = Int64GetDatum(kind);
	values[Anum_queue_urgency - 1] = Int16GetDatum(task_urgency(task));
	values[Anum_queue_queue_no - 1] = Int64GetDatum(task->queue_no);
	column_put_text(values, nulls, Anum_queue_task_id, task->task_id);
	values[Anum_queue_since - 1] = TimestampTzGetDatum(since);
	column_put_text(values, nulls, Anum_queue_from_agent, from_agent);
	column_put_text(values, nulls, Anum_queue_run_id, task->run_id);
	(void) rows_insert(TABLE_WAITING, values, nulls);
	notify_due(now + SLOT_MISSED);
}

void
waiting_put_kind(Task *task, int64 kind)
{
	waiting_insert(task, kind, rows_nextval(SEQUENCE_QUEUE_NO), clock_now(),
				   slice_present(task->left_for) ? task->left_for : task->from_agent);
}

static void
waiting_begin_row(RowScan *scan, const Task *task)
{
	rows_begin(scan, TABLE_WAITING, INDEX_WAITING, ROWS_LATEST, RowExclusiveLock);
	rows_key_int8(scan, 1, BTEqualStrategyNumber, task->queue_kind);
	rows_key_int2(scan, 2, BTEqualStrategyNumber, task_urgency(task));
	rows_key_int8(scan, 3, BTEqualStrategyNumber, task->queue_no);
}

/*
 * Takes the task out of its queue, if it is in one, and notes its place.
 * Returns false if there was no row.
 */
static bool
waiting_take_out(Task *task)
{
	RowScan		scan;
	bool		found;

	if (task->queue_no == 0)
		return false;
	waiting_begin_row(&scan, task);
	rows_start(&scan);
	found = rows_next(&scan);
	if (found)
	{
		ItemPointerData tid = rows_tid(&scan);

		task->left_no = task->queue_no;
		task->left_since = rows_timestamp(&scan, Anum_queue_since);
		task->left_for = rows_text_copy(&scan, Anum_queue_from_agent);
		rows_delete(TABLE_WAITING, &tid);
	}
	rows_end(&scan);
	task->queue_no = 0;
	task->queue_kind = 0;
	return found;
}

void
waiting_remove(Task *task)
{
	(void) waiting_take_out(task);
}

/* The row that was just inserted has a number that the task had before. */
static void
waiting_note_return(const Task *task)
{
	waiting_kind_note_return(task->queue_kind, task_urgency(task), task->queue_no);
	waiting_vain_note_return(task->queue_kind, task_urgency(task), task->queue_no);
}

void
waiting_put_back(Task *task, const Requirement *requirement)
{
	waiting_insert(task, waiting_kind_of(requirement), task->left_no, task->left_since, requester_of(requirement));
	waiting_note_return(task);
}

void
waiting_put(Task *task, const Requirement *requirement)
{
	int64		kind = waiting_kind_of(requirement);

	if (task->queue_no != 0 && task->queue_kind == kind)
		return;
	if (waiting_take_out(task))
		waiting_put_back(task, requirement);
	else
		waiting_insert(task, kind, rows_nextval(SEQUENCE_QUEUE_NO), clock_now(), requester_of(requirement));
}

bool
waiting_is_of_kind(const Task *task, const Requirement *requirement)
{
	return task->queue_kind == waiting_kind_of(requirement);
}

/*
 * so many dead rows are passed over before the task is assumed to be the first
 * one
 */
#define BEFORE_DEAD		100

/*
 * Is there a row before that of the task? strategy selects the rows of its own
 * urgency, or the more urgent ones.
 */
static bool
waiting_has_before(const Task *task, int strategy)
{
	RowScan		scan;
	bool		found;

	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING, ROWS_LATEST, AccessShareLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, task->queue_kind);
	rows_key_int2(&scan, 2, strategy, task_urgency(task));
	if (strategy == BTEqualStrategyNumber)
		rows_key_int8(&scan, 3, BTLessStrategyNumber, task->queue_no);
	scan.most_dead = BEFORE_DEAD;
	rows_start(&scan);
	found = rows_previous(&scan);
	rows_end(&scan);
	return found;
}

bool
waiting_is_first(const Task *task)
{
	return !waiting_has_before(task, BTEqualStrategyNumber) &&
		(task_urgency(task) == 0 || !waiting_has_before(task, BTLessStrategyNumber));
}

void
waiting_offer(Task *task, const Requirement *requirement)
{
	waiting_insert(task, waiting_kind_of_offered(requirement, task->agent_id), task->queue_no, clock_now(),
				   SLICE_OF(""));
	waiting_note_return(task);
}

void
waiting_end_offer(Task *task)
{
	RowScan		scan;

	if (task->queue_kind == 0)
		return;
	waiting_begin_row(&scan, task);
	(void) rows_delete_first(&scan);
	task->queue_kind = 0;
}

bool
waiting_is_at(const Task *task, const WaitingPlace *place)
{
	return task != NULL && task->queue_no == place->queue_no && task->queue_kind == place->kind &&
		(task->status == TASK_PENDING || task_is_offered(task));
}

Task *
waiting_lock(const WaitingPlace *place)
{
	bool		busy;
	Task	   *task = task_lock_now(place->task_id, &busy);

	return waiting_is_at(task, place) ? task : NULL;
}
