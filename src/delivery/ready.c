/*-------------------------------------------------------------------------
 *
 * ready.c
 *	  What an agent can claim, in claim order, and nothing else.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/rows.h"
#include "delivery/ready.h"
#include "miscadmin.h"

/* columns of clutch.ready, which are those of its key and task_id */
enum
{
	Anum_agent_id = 1,
	Anum_urgency,
	Anum_queue_no,
	Anum_task_id,
	Natts_ready = Anum_task_id
};

void
ready_put(Task *task)
{
	Datum		values[Natts_ready];
	bool		nulls[Natts_ready] = {0};

	task->queue_no = rows_nextval(SEQUENCE_QUEUE_NO);
	task->queue_kind = 0;
	values[Anum_agent_id - 1] = PointerGetDatum(slice_to_text(task->agent_id));
	values[Anum_urgency - 1] = Int16GetDatum(task_urgency(task));
	values[Anum_queue_no - 1] = Int64GetDatum(task->queue_no);
	values[Anum_task_id - 1] = PointerGetDatum(slice_to_text(task->task_id));
	(void) rows_insert(TABLE_READY, values, nulls);
}

void
ready_remove(Task *task)
{
	RowScan		scan;

	if (task->queue_no == 0)
		return;
	rows_begin(&scan, TABLE_READY, INDEX_READY, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task->agent_id);
	rows_key_int2(&scan, 2, BTEqualStrategyNumber, task_urgency(task));
	rows_key_int8(&scan, 3, BTEqualStrategyNumber, task->queue_no);
	(void) rows_delete_first(&scan);
	task->queue_no = 0;
}

/*
 * The dirty snapshot shows what others are claiming this moment as being in
 * doubt: passing over them costs no look at their tasks.
 */
List *
ready_take(Slice agent_id, int n)
{
	List	   *tasks = NIL;
	RowScan		scan;

	rows_begin(&scan, TABLE_READY, INDEX_READY, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_start(&scan);
	while (list_length(tasks) < n && rows_next(&scan))
	{
		Task	   *task;

		CHECK_FOR_INTERRUPTS();
		if (TransactionIdIsValid(rows_in_doubt(&scan)))
			continue;
		task = task_lock(rows_text(&scan, Anum_task_id), false);
		if (task != NULL && task->status == TASK_ASSIGNED &&
			task->queue_no == rows_int8(&scan, Anum_queue_no) &&
			slice_equal(task->agent_id, agent_id))
			tasks = lappend(tasks, task);
	}
	rows_end(&scan);
	return tasks;
}
