/*-------------------------------------------------------------------------
 *
 * lift.c
 *	  Priority inheritance.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/children.h"
#include "flow/lift.h"
#include "flow/move.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "task/edge.h"

static bool
lift_is_less_urgent(const Task *task, int priority)
{
	return task != NULL && !task_status_is_over(task->status) && task->priority < priority;
}

static void
lift_add(Slice task_id, const Task *waiter)
{
	Consequence lift = {CONSEQUENCE_LIFT, 0, task_id, waiter->task_id, waiter->priority};

	agenda_add(&lift);
}

/*
 * Is the task suspended until its children are over, whether they are joined
 * or not?
 */
static bool
lift_waits_for_children(const Task *task)
{
	return task->status == TASK_SUSPENDED && task->waiting_for == WAITING_FOR_CHILDREN;
}

void
lift_children(const Task *task)
{
	ChildGroup	group = {task->task_id, .joined_only = !lift_waits_for_children(task)};
	ListCell   *cell;

	foreach(cell, children_list_less_urgent(&group, task->priority))
		lift_add(*(Slice *) lfirst(cell), task);
}

/* Does the parent wait for the child, or may it, because another transaction is changing it? */
static bool
lift_may_wait_for(const Task *parent, const Task *child)
{
	bool		in_doubt;

	if (child->join != JOIN_NONE || lift_waits_for_children(parent))
		return true;
	(void) task_sight(parent->task_id, &in_doubt);
	return in_doubt;
}

void
lift_child(const Task *child, const Task *parent)
{
	if (parent->priority > child->priority && lift_may_wait_for(parent, child))
		lift_add(child->task_id, parent);
}

void
lift_awaited(const Task *task)
{
	ListCell   *cell;

	foreach(cell, edge_list_awaited(task->task_id))
	{
		Slice		id = *(Slice *) lfirst(cell);

		CHECK_FOR_INTERRUPTS();
		if (lift_is_less_urgent(task_look(id, ROWS_LATEST), task->priority))
			lift_add(id, task);
	}
	lift_children(task);
}

/*
 * Lifts a task, which is locked and less urgent.  What it waits for is lifted
 * in turn.
 */
static void
lift_task(Task *task, int priority, Slice because)
{
	TaskEvent	event = {STEP_LIFT, .priority = priority};
	Notice		notice = {MSG_TASK_PROGRESS, MOVE_LIFTED, .to = task->from_agent};
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "lifted");
	document_put_int(&b, "priority", priority);
	document_put_int(&b, "was", task->priority);
	document_put_text(&b, "because", because);
	notice.payload = document_end(&b);
	(void) move_task(task, &notice, &event);
	if (task->status == TASK_PENDING && task->waiting_for == WAITING_FOR_CAPACITY)
		agenda_add_task(CONSEQUENCE_DISPLACE, task->depth, task->task_id);
	lift_awaited(task);
}

/*
 * A transaction that requests a waiter looks for this task when it commits.  But
 * it may have looked already, or be prepared, and this task was not visible to it.
 * So the waiter is looked at again when that transaction has ended.
 */
void
lift_for_waiters(Task *task)
{
	Task	   *most = NULL;
	ListCell   *cell;

	foreach(cell, edge_list_waiters(task->task_id, ROWS_DIRTY))
	{
		Slice		id = *(Slice *) lfirst(cell);
		Task	   *waiter = task_look(id, ROWS_LATEST);

		if (waiter == NULL)
			agenda_add_task(CONSEQUENCE_DEPENDENT, task->depth, id);
		else if (!task_status_is_over(waiter->status) &&
				 (most == NULL || waiter->priority > most->priority))
			most = waiter;
	}
	if (most != NULL && lift_is_less_urgent(task, most->priority))
		lift_task(task, most->priority, most->task_id);
}

void
lift_revived(Task *task)
{
	const Task *parent = slice_present(task->parent_task_id) ?
		task_look(task->parent_task_id, ROWS_LATEST) : NULL;

	if (task_status_is_over(task->status))
		return;
	lift_for_waiters(task);
	lift_awaited(task);
	if (parent != NULL && !task_status_is_over(parent->status))
		lift_child(task, parent);
}

/*
 * If the entry is for a child, does its parent wait for it by now?  A parent may
 * also have named its child as a task that it waits for.
 */
static bool
lift_is_waited_for(const Task *task, Slice because, bool *in_doubt)
{
	Task	   *parent;

	if (!slice_equal(task->parent_task_id, because) || task->join != JOIN_NONE)
		return true;
	parent = task_sight(because, in_doubt);
	return parent != NULL && (lift_waits_for_children(parent) || slice_list_has(edge_list_awaited(because), task->task_id));
}

bool
lift_settle(const Consequence *consequence)
{
	bool		busy;
	Task	   *task = task_sight(consequence->subject, &busy);

	if (!lift_is_less_urgent(task, consequence->amount) ||
		!lift_is_waited_for(task, consequence->because, &busy))
		return !busy;
	task = task_lock_now(consequence->subject, &busy);
	if (!lift_is_less_urgent(task, consequence->amount))
		return !busy;
	lift_task(task, consequence->amount, consequence->because);
	return true;
}
