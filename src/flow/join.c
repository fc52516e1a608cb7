/*-------------------------------------------------------------------------
 *
 * join.c
 *	  Fan-in: a parent is told, once, when its children are over.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/document.h"
#include "flow/join.h"
#include "flow/move.h"
#include "miscadmin.h"
#include "task/task_row.h"

/* so many children are listed in the event; of the rest it has the numbers */
#define MOST_LISTED		100

typedef struct JoinGroup
{
	int			open;
	int			completed;
	int			ended;			/* in another way */
	int			in_doubt;		/* another transaction is changing these */
	List	   *children;		/* JoinChild *, at most MOST_LISTED */
} JoinGroup;

typedef struct JoinChild
{
	Slice		task_id;
	TaskStatus	status;
} JoinChild;

void
join_begin(Task *child, const Task *parent)
{
	if (child->join == JOIN_NONE && parent != NULL && parent->depth == 0)
		child->join = parent->join;
}

/* --------------------------------------------------------------- the group */

static void
join_scan_children(RowScan *scan, Slice parent_task_id, RowSnapshot which)
{
	rows_begin(scan, TABLE_TASK, INDEX_TASK_PARENT, which, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, parent_task_id);
	rows_start(scan);
}

static TaskStatus
join_row_status(const RowScan *scan)
{
	return task_status_parse(rows_text(scan, Anum_task_status));
}

List *
join_list_open(Slice parent_task_id)
{
	List	   *ids = NIL;
	RowScan		scan;

	join_scan_children(&scan, parent_task_id, ROWS_LATEST);
	while (rows_next(&scan))
		if (!rows_is_null(&scan, Anum_task_join_count) && !task_status_is_over(join_row_status(&scan)))
			ids = slice_list_add(ids, rows_text(&scan, Anum_task_task_id));
	rows_end(&scan);
	return ids;
}

/* joined, and not of a group that the parent has been told of */
static bool
join_is_of_group(const RowScan *scan, const Task *parent)
{
	return !rows_is_null(scan, Anum_task_join_count) &&
		rows_int8(scan, Anum_task_request_seq) > parent->joined_seq;
}

/*
 * Is there a child that is certainly open?  Every child that ends asks this, so
 * not all of them are read each time: those that were requested last are usually
 * the last to end.  An open child that is not in doubt will ask again when it
 * ends, and see that we have ended.
 */
static bool
join_any_is_certainly_open(const Task *parent)
{
	bool		open = false;
	RowScan		scan;

	join_scan_children(&scan, parent->task_id, ROWS_DIRTY);
	while (!open && rows_previous(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		open = !TransactionIdIsValid(rows_in_doubt(&scan)) && join_is_of_group(&scan, parent) &&
			!task_status_is_over(join_row_status(&scan));
	}
	rows_end(&scan);
	return open;
}

static void
join_group_add(JoinGroup *group, const RowScan *scan)
{
	TaskStatus	status = join_row_status(scan);

	if (!task_status_is_over(status))
		group->open++;
	else if (status == TASK_COMPLETED)
		group->completed++;
	else
		group->ended++;
	if (list_length(group->children) < MOST_LISTED)
	{
		JoinChild  *child = palloc(sizeof(JoinChild));

		child->task_id = slice_copy(rows_text(scan, Anum_task_task_id));
		child->status = status;
		group->children = lappend(group->children, child);
	}
}

/*
 * A child that another transaction is inserting or changing is in doubt.  One
 * that is being changed may count twice, which changes no verdict.
 */
static JoinGroup
join_read_group(const Task *parent)
{
	JoinGroup	group = {0};
	RowScan		scan;

	join_scan_children(&scan, parent->task_id, ROWS_DIRTY);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (!join_is_of_group(&scan, parent))
			continue;
		if (!TransactionIdIsValid(rows_in_doubt(&scan)))
			join_group_add(&group, &scan);
		else
			group.in_doubt++;
	}
	rows_end(&scan);
	return group;
}

typedef enum JoinVerdict
{
	JOIN_UNDECIDED,
	JOIN_IN_DOUBT,				/* it depends on open transactions */
	JOIN_MET,
	JOIN_MISSED					/* it cannot be met any more */
} JoinVerdict;

static JoinVerdict
join_judge_group(const JoinGroup *group, int join)
{
	if (join == JOIN_ALL)
	{
		if (group->open > 0)
			return JOIN_UNDECIDED;
		if (group->in_doubt > 0)
			return JOIN_IN_DOUBT;
		return group->ended == 0 ? JOIN_MET : JOIN_MISSED;
	}
	if (group->completed >= join)
		return JOIN_MET;
	if (group->completed + group->open + group->in_doubt < join)
		return JOIN_MISSED;
	return group->in_doubt > 0 ? JOIN_IN_DOUBT : JOIN_UNDECIDED;
}

/* ----------------------------------------------------------------- telling */

static Jsonb *
join_payload(const JoinGroup *group, int join, bool met)
{
	DocumentBuilder b;
	ListCell   *cell;

	document_begin(&b);
	document_put_cstring(&b, "state", "joined");
	if (join == JOIN_ALL)
		document_put_cstring(&b, "join", "all");
	else
		document_put_int(&b, "join", join);
	document_put_bool(&b, "met", met);
	document_put_int(&b, "completed", group->completed);
	document_put_int(&b, "failed", group->ended);
	document_put_int(&b, "open", group->open);
	document_open_object(&b, "children");
	foreach(cell, group->children)
	{
		const JoinChild *child = lfirst(cell);

		document_put_cstring(&b, slice_cstring(child->task_id), task_status_name(child->status));
	}
	document_close_object(&b);
	return document_end(&b);
}

static void
join_tell_parent(Task *parent, const JoinGroup *group, int join, bool met)
{
	TaskEvent	event = {STEP_JOIN};
	Notice		notice = {MSG_TASK_PROGRESS, MOVE_JOINED};

	notice.to = slice_present(parent->agent_id) ? parent->agent_id : parent->from_agent;
	notice.payload = join_payload(group, join, met);
	(void) move_task(parent, &notice, &event);
}

/* Is the parent still to be told of the child that ended? */
static bool
join_is_to_be_told(const Task *parent, const Consequence *consequence)
{
	return parent != NULL && !task_status_is_over(parent->status) &&
		consequence->seq > parent->joined_seq;
}

bool
join_settle(const Consequence *consequence)
{
	bool		busy;
	Task	   *parent = task_sight(consequence->subject, &busy);
	JoinVerdict verdict;
	JoinGroup	group;

	if (!join_is_to_be_told(parent, consequence))
		return !busy;
	if (consequence->amount == JOIN_ALL && join_any_is_certainly_open(parent))
		return true;
	group = join_read_group(parent);
	verdict = join_judge_group(&group, consequence->amount);
	if (verdict == JOIN_UNDECIDED || verdict == JOIN_IN_DOUBT)
		return verdict == JOIN_UNDECIDED;
	parent = task_lock_now(consequence->subject, &busy);
	if (!join_is_to_be_told(parent, consequence))
		return !busy;
	join_tell_parent(parent, &group, consequence->amount, verdict == JOIN_MET);
	return true;
}
