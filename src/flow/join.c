/*-------------------------------------------------------------------------
 *
 * join.c
 *	  Joins (fan-in): a parent is told once when its children are over.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "flow/children.h"
#include "flow/join.h"
#include "flow/move.h"
#include "miscadmin.h"
#include "task/task_row.h"

void
join_begin(Task *child, const Task *parent)
{
	if (child->join == JOIN_NONE && parent != NULL && parent->depth == 0)
		child->join = parent->join;
}

/*
 * A child that another transaction is ending counts as over here, because that
 * transaction may have seen that the parent was over.
 */
void
join_revived(const Task *parent)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_TASK, INDEX_TASK_PARENT, ROWS_DIRTY, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, parent->task_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Consequence join = {CONSEQUENCE_JOIN, parent->depth, parent->task_id};

		CHECK_FOR_INTERRUPTS();
		if (rows_is_null(&scan, Anum_task_join_count) ||
			(!TransactionIdIsValid(rows_in_doubt(&scan)) &&
			 !task_status_is_over(task_status_parse(rows_text(&scan, Anum_task_status)))))
			continue;
		join.amount = rows_int4(&scan, Anum_task_join_count);
		join.seq = task_row_counts_since(&scan);
		agenda_add(&join);
	}
	rows_end(&scan);
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
