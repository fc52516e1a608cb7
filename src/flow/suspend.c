/*-------------------------------------------------------------------------
 *
 * suspend.c
 *	  Tasks that wait without a slot: for their children, a time or a message.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "flow/children.h"
#include "flow/requeue.h"
#include "flow/suspend.h"
#include "task/task.h"

/*
 * The task, locked, if it still waits for what has been looked at.  *busy is set
 * if another transaction has locked it.
 */
static Task *
suspend_lock(const Task *seen, bool *busy)
{
	Task	   *task = task_lock_now(seen->task_id, busy);

	return task != NULL && task->wait_seq == seen->wait_seq ? task : NULL;
}

/* all children count, also those that were over before the task was suspended */
static bool
suspend_settle_children(const Task *seen)
{
	ChildGroup	group = {seen->task_id};
	ChildVerdict verdict;
	ChildCount	count;
	Task	   *task;
	bool		busy;

	if (seen->wait_count == JOIN_ALL && children_any_is_certainly_open(&group))
		return true;
	count = children_count(&group);
	verdict = children_judge(&count, seen->wait_count);
	if (verdict == CHILDREN_UNDECIDED || verdict == CHILDREN_IN_DOUBT)
		return verdict == CHILDREN_UNDECIDED;
	task = suspend_lock(seen, &busy);
	if (task == NULL)
		return !busy;
	requeue_wake(task, CLAIM_JOINED, 0, SLICE_NONE, &count, verdict == CHILDREN_MET);
	return true;
}

bool
suspend_settle(const Consequence *consequence)
{
	bool		busy;
	Task	   *task = task_sight(consequence->subject, &busy);

	if (task == NULL || task->status != TASK_SUSPENDED || task->waiting_for == WAITING_FOR_TIME)
		return !busy;
	return suspend_settle_children(task);
}
