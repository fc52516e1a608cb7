/*-------------------------------------------------------------------------
 *
 * lift.c
 *	  Priority inheritance.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/assign.h"
#include "flow/dependency.h"
#include "flow/join.h"
#include "flow/lift.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "task/notice.h"

static bool
is_below(const Task *task, int priority)
{
	return task != NULL && !task_status_is_over(task->status) && task->priority < priority;
}

/* locked only if it is to be lifted; NULL: no need, or somebody else has it */
static Task *
lock_below(Slice task_id, int priority)
{
	Task	   *task = NULL;

	if (is_below(task_look(task_id, ROWS_LATEST), priority))
		task = task_lock(task_id, false);
	return is_below(task, priority) ? task : NULL;
}

static void
lift(Task *task, int priority, Slice because)
{
	TaskEvent	event = {STEP_LIFT};
	DocumentBuilder b;
	Receipt		receipt;

	document_begin(&b);
	document_put_cstring(&b, "state", "lifted");
	document_put_int(&b, "priority", priority);
	document_put_int(&b, "was", task->priority);
	document_put_text(&b, "because", because);
	receipt = notice_append(task, MSG_TASK_PROGRESS, MOVE_LIFTED, SLICE_NONE,
							task->from_agent, document_end(&b));
	event.seq = receipt.seq;
	event.at = receipt.received_at;
	event.priority = priority;
	assign_lift(task, &event);
}

/* each is lifted once, so this ends */
void
lift_what_it_waits_for(const Task *task)
{
	List	   *urgent = list_make1((void *) task);
	ListCell   *cell;

	foreach(cell, urgent)
	{
		const Task *waiter = lfirst(cell);
		List	   *awaited = list_concat(dependency_list(waiter->task_id),
										  join_list(waiter->task_id));
		ListCell   *id;

		foreach(id, awaited)
		{
			Task	   *other = lock_below(*(Slice *) lfirst(id), waiter->priority);

			CHECK_FOR_INTERRUPTS();
			if (other == NULL)
				continue;
			lift(other, waiter->priority, waiter->task_id);
			urgent = lappend(urgent, other);
		}
	}
}

void
lift_for_who_waits(const Task *task)
{
	Task	   *most = NULL;
	Task	   *lifted;
	ListCell   *cell;

	foreach(cell, dependency_list_waiters(task->task_id))
	{
		Task	   *waiter = task_look(*(Slice *) lfirst(cell), ROWS_LATEST);

		if (waiter != NULL && !task_status_is_over(waiter->status) &&
			(most == NULL || waiter->priority > most->priority))
			most = waiter;
	}
	lifted = most != NULL ? lock_below(task->task_id, most->priority) : NULL;
	if (lifted == NULL)
		return;
	lift(lifted, most->priority, most->task_id);
	lift_what_it_waits_for(lifted);
}
