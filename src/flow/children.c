/*-------------------------------------------------------------------------
 *
 * children.c
 *	  Counting and judging the children of a task that waits for them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "flow/children.h"
#include "miscadmin.h"
#include "task/task_row.h"

/* so many children are listed in the event; the others are only counted */
#define MOST_LISTED		100

typedef struct ListedChild
{
	Slice		task_id;
	TaskStatus	status;
} ListedChild;

static void
children_scan(RowScan *scan, const ChildGroup *group)
{
	rows_begin(scan, TABLE_TASK, INDEX_TASK_PARENT, ROWS_DIRTY, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, group->parent_task_id);
	rows_start(scan);
}

static bool
children_row_is_of_group(const RowScan *scan, const ChildGroup *group)
{
	return (!group->joined_only || !rows_is_null(scan, Anum_task_join_count)) &&
		task_row_counts_since(scan) > group->after_seq;
}

bool
children_any_is_certainly_open(const ChildGroup *group)
{
	bool		open = false;
	RowScan		scan;

	children_scan(&scan, group);
	while (!open && rows_previous(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		open = !TransactionIdIsValid(rows_in_doubt(&scan)) &&
			children_row_is_of_group(&scan, group) &&
			!task_status_is_over(task_row_status(&scan));
	}
	rows_end(&scan);
	return open;
}

/*
 * A child whose request is not committed is listed, too, because it may have
 * looked at its parent already.
 */
List *
children_list_less_urgent(const ChildGroup *group, int priority)
{
	List	   *ids = NIL;
	RowScan		scan;

	children_scan(&scan, group);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (rows_int2(&scan, Anum_task_priority) < priority &&
			children_row_is_of_group(&scan, group) &&
			!task_status_is_over(task_row_status(&scan)))
			ids = slice_list_add(ids, rows_text(&scan, Anum_task_task_id));
	}
	rows_end(&scan);
	return ids;
}

static void
children_count_row(ChildCount *count, const RowScan *scan)
{
	TaskStatus	status = task_row_status(scan);

	if (!task_status_is_over(status))
		count->open++;
	else if (status == TASK_COMPLETED)
		count->completed++;
	else
		count->ended++;
	if (list_length(count->listed) < MOST_LISTED)
	{
		ListedChild *child = palloc(sizeof(ListedChild));

		child->task_id = rows_text_copy(scan, Anum_task_task_id);
		child->status = status;
		count->listed = lappend(count->listed, child);
	}
}

/*
 * A child that is being changed may be counted twice, which does not affect
 * any verdict.
 */
ChildCount
children_count(const ChildGroup *group)
{
	ChildCount	count = {0};
	RowScan		scan;

	children_scan(&scan, group);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (!children_row_is_of_group(&scan, group))
			continue;
		if (!TransactionIdIsValid(rows_in_doubt(&scan)))
			children_count_row(&count, &scan);
		else
			count.in_doubt++;
	}
	rows_end(&scan);
	return count;
}

ChildVerdict
children_judge(const ChildCount *count, int wanted)
{
	if (wanted == JOIN_ALL)
	{
		if (count->open > 0)
			return CHILDREN_UNDECIDED;
		if (count->in_doubt > 0)
			return CHILDREN_IN_DOUBT;
		return count->ended == 0 ? CHILDREN_MET : CHILDREN_MISSED;
	}
	if (count->completed >= wanted)
		return CHILDREN_MET;
	if (count->completed + count->open + count->in_doubt < wanted)
		return CHILDREN_MISSED;
	return count->in_doubt > 0 ? CHILDREN_IN_DOUBT : CHILDREN_UNDECIDED;
}

void
children_put(DocumentBuilder *b, const char *key, const ChildCount *count, int wanted, bool met)
{
	ListCell   *cell;

	if (wanted == JOIN_ALL)
		document_put_cstring(b, key, "all");
	else
		document_put_int(b, key, wanted);
	document_put_bool(b, "met", met);
	document_put_int(b, "completed", count->completed);
	document_put_int(b, "failed", count->ended);
	document_put_int(b, "open", count->open);
	document_open_object(b, "children");
	foreach(cell, count->listed)
	{
		const ListedChild *child = lfirst(cell);

		document_put_cstring(b, slice_cstring(child->task_id), task_status_name(child->status));
	}
	document_close_object(b);
}
