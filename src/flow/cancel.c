/*-------------------------------------------------------------------------
 *
 * cancel.c
 *	  Cancellation, which reaches every descendant.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/cancel.h"
#include "flow/ending.h"
#include "flow/sight.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "task/report.h"
#include "utils/memutils.h"

/* Adds one entry for each child, committed or not. */
static void
cancel_children(Slice task_id, int depth, Slice ancestor)
{
	ListCell   *cell;

	foreach(cell, task_list_children(task_id, ROWS_DIRTY))
	{
		Consequence child = {CONSEQUENCE_CANCEL, depth + 1, *(Slice *) lfirst(cell), ancestor};

		CHECK_FOR_INTERRUPTS();
		agenda_add(&child);
	}
}

bool
cancel_settle_children(const Consequence *consequence)
{
	cancel_children(consequence->subject, consequence->depth, consequence->because);
	return true;
}

/*
 * A task that is over passes the cancellation on, because its children may not
 * be over.
 */
bool
cancel_settle(const Consequence *consequence)
{
	bool		busy;
	Task	   *task = task_lock_now(consequence->subject, &busy);

	if (task == NULL)
		return !busy;
	if (task_status_is_over(task->status))
		cancel_children(task->task_id, task->depth, consequence->because);
	else
		ending_cancel(task, consequence->because);
	return true;
}

/*
 * Returns the nearest ancestor that was cancelled, or an absent slice.
 * Nothing is cancelled below a live task, so the walk ends at the first one.
 */
static Slice
cancel_cancelled_ancestor(const Task *task, bool *in_doubt)
{
	Slice		parent_id = task->parent_task_id;

	*in_doubt = false;
	while (slice_present(parent_id))
	{
		bool		doubt;
		Task	   *parent = task_sight(parent_id, &doubt);

		*in_doubt = *in_doubt || doubt;
		if (parent == NULL || !task_status_is_over(parent->status))
			return SLICE_NONE;
		if (parent->status == TASK_CANCELLED)
			return parent->task_id;
		parent_id = parent->parent_task_id;
	}
	return SLICE_NONE;
}

bool
cancel_orphan(Task *task)
{
	bool		in_doubt;
	Slice		ancestor = cancel_cancelled_ancestor(task, &in_doubt);

	if (slice_present(ancestor))
		ending_cancel(task, ancestor);
	else if (in_doubt)
		agenda_add_task(CONSEQUENCE_ORPHAN, task->depth, task->task_id);
	return slice_present(ancestor);
}

bool
cancel_settle_orphan(const Consequence *consequence)
{
	bool		in_doubt;
	bool		busy;
	Task	   *task = task_sight(consequence->subject, &busy);
	Slice		ancestor;

	if (task == NULL || task_status_is_over(task->status))
		return !busy;
	ancestor = cancel_cancelled_ancestor(task, &in_doubt);
	if (!slice_present(ancestor))
		return !in_doubt;
	task = task_lock_now(consequence->subject, &busy);
	if (task == NULL || task_status_is_over(task->status))
		return !busy;
	ending_cancel(task, ancestor);
	return true;
}

/* --------------------------------------------------------------- all of a run */

static Jsonb *
cancel_payload(Slice reason)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_text(&b, "reason", reason);
	return document_end(&b);
}

/* Cancels one task.  Returns whether it was live. */
static bool
cancel_one_of_run(Slice task_id, Slice reason, Slice by_agent)
{
	Task	   *task = task_lock(task_id);
	Report		report = {MSG_TASK_CANCEL, .from = by_agent};

	if (task == NULL || task_status_is_over(task->status))
		return false;
	if (cancel_orphan(task))
		return true;
	sight_check_may_steer(task, by_agent);
	report.payload = cancel_payload(reason);
	(void) report_send(task, &report);
	return true;
}

/* Keeps only the IDs of the live tasks in memory. */
int64
cancel_run(Slice run_id, Slice reason, Slice by_agent)
{
	List	   *ids = task_list_live_of_run(run_id);
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch cancel task",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);
	int64		cancelled = 0;
	ListCell   *cell;

	foreach(cell, ids)
	{
		CHECK_FOR_INTERRUPTS();
		cancelled += cancel_one_of_run(*(Slice *) lfirst(cell), reason, by_agent);
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
	return cancelled;
}
