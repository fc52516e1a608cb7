/*-------------------------------------------------------------------------
 *
 * cancel.c
 *	  A cancel reaches every descendant.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "flow/assign.h"
#include "flow/cancel.h"
#include "flow/ending.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "task/task_row.h"
#include "utils/memutils.h"

static List *
add_children(List *ids, Slice task_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK_PARENT, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	return rows_list_texts(&scan, Anum_task_task_id, ids);
}

/*
 * Those that are over are locked too: a child of theirs may be on its way.
 * The agent whose slot was freed, copied to the outer context, or absent.
 */
static Slice
cancel_one(Slice task_id, Slice ancestor, MemoryContext outer)
{
	Task	   *task = task_lock_to_cancel(task_id);
	Slice		freed = SLICE_NONE;
	MemoryContext old;

	if (task == NULL || task_status_is_over(task->status))
		return freed;
	freed = ending_cancel(task, ancestor);
	old = MemoryContextSwitchTo(outer);
	freed = slice_present(freed) ? slice_copy(freed) : freed;
	MemoryContextSwitchTo(old);
	return freed;
}

void
cancel_descendants(const Task *task)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext each = AllocSetContextCreate(outer, "clutch cancel", ALLOCSET_DEFAULT_SIZES);
	List	   *level = add_children(NIL, task->task_id);
	List	   *freed = NIL;
	ListCell   *cell;

	while (level != NIL)
	{
		List	   *below = NIL;

		list_sort(level, slice_list_compare);
		foreach(cell, level)
		{
			Slice		id = *(Slice *) lfirst(cell);
			Slice	   *agent = palloc(sizeof(Slice));
			MemoryContext old = MemoryContextSwitchTo(each);

			CHECK_FOR_INTERRUPTS();
			*agent = cancel_one(id, task->task_id, outer);
			MemoryContextSwitchTo(old);
			MemoryContextReset(each);
			if (slice_present(*agent))
				freed = lappend(freed, agent);
			below = add_children(below, id);
		}
		level = below;
	}
	MemoryContextDelete(each);
	/* not before: what waits may be below it too */
	foreach(cell, freed)
		assign_offer(*(Slice *) lfirst(cell));
}

bool
cancel_orphan(Task *task, const Task *parent)
{
	/* below a live task nothing is cancelled */
	while (parent != NULL && task_status_is_over(parent->status))
	{
		if (parent->status == TASK_CANCELLED)
		{
			(void) ending_cancel(task, parent->task_id);
			return true;
		}
		parent = slice_present(parent->parent_task_id) ?
			task_look(parent->parent_task_id, ROWS_LATEST) : NULL;
	}
	return false;
}
