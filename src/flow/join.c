/*-------------------------------------------------------------------------
 *
 * join.c
 *	  Joins (fan-in): a parent is told once when its children are over.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "flow/children.h"
#include "flow/join.h"
#include "flow/move.h"

void
join_begin(Task *child, const Task *parent)
{
	if (child->join == JOIN_NONE && parent != NULL && parent->depth == 0)
		child->join = parent->join;
}

/* ----------------------------------------------------------------- telling */

static void
join_tell_parent(Task *parent, const ChildCount *count, int join, bool met)
{
	TaskEvent	event = {STEP_JOIN};
	Notice		notice = {MSG_TASK_PROGRESS, MOVE_JOINED};
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "joined");
	children_put(&b, "join", count, join, met);
	notice.to = slice_present(parent->agent_id) ? parent->agent_id : parent->from_agent;
	notice.payload = document_end(&b);
	(void) move_task(parent, &notice, &event);
}

/* Must the parent still be told about the child that ended? */
static bool
join_is_to_be_told(const Task *parent, const Consequence *consequence)
{
	return parent != NULL && !task_status_is_over(parent->status) &&
		consequence->seq > parent->joined_seq;
}

/*
 * Counts joined children, but not those of a group about which the parent has
 * already been told.
 */
bool
join_settle(const Consequence *consequence)
{
	bool		busy;
	Task	   *parent = task_sight(consequence->subject, &busy);
	ChildGroup	group = {consequence->subject, .joined_only = true};
	ChildVerdict verdict;
	ChildCount	count;

	if (!join_is_to_be_told(parent, consequence))
		return !busy;
	group.after_seq = parent->joined_seq;
	if (consequence->amount == JOIN_ALL && children_any_is_certainly_open(&group))
		return true;
	count = children_count(&group);
	verdict = children_judge(&count, consequence->amount);
	if (verdict == CHILDREN_UNDECIDED || verdict == CHILDREN_IN_DOUBT)
		return verdict == CHILDREN_UNDECIDED;
	parent = task_lock_now(consequence->subject, &busy);
	if (!join_is_to_be_told(parent, consequence))
		return !busy;
	join_tell_parent(parent, &count, consequence->amount, verdict == CHILDREN_MET);
	return true;
}
