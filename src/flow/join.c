/*-------------------------------------------------------------------------
 *
 * join.c
 *	  Fan-in: a parent is told, once, when its children are over.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/join.h"
#include "miscadmin.h"
#include "task/notice.h"
#include "task/task_row.h"

/* so many children are listed; of the rest there are numbers */
#define MOST_LISTED		100

typedef struct Group
{
	int			open;
	int			completed;
	int			ended;			/* otherwise */
	List	   *children;		/* Child *, those that are listed */
} Group;

typedef struct Child
{
	Slice		task_id;
	TaskStatus	status;
} Child;

void
join_begin(Task *child, const Task *parent)
{
	if (child->join == JOIN_NONE && parent != NULL && parent->depth == 0)
		child->join = parent->join;
}

static void
begin_children(RowScan *scan, Slice parent_task_id)
{
	rows_begin(scan, TABLE_TASK, INDEX_TASK_PARENT, ROWS_LATEST, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, parent_task_id);
	rows_start(scan);
}

static TaskStatus
status_of(const RowScan *scan)
{
	return task_status_parse(rows_text(scan, Anum_task_status));
}

List *
join_list(Slice parent_task_id)
{
	List	   *ids = NIL;
	RowScan		scan;

	begin_children(&scan, parent_task_id);
	while (rows_next(&scan))
	{
		if (rows_is_null(&scan, Anum_task_join_count) || task_status_is_over(status_of(&scan)))
			continue;
		ids = slice_list_add(ids, rows_text(&scan, Anum_task_task_id));
	}
	rows_end(&scan);
	return ids;
}

/* joined, and not of a group that the parent was told of */
static bool
is_of_group(const RowScan *scan, const Task *parent)
{
	return !rows_is_null(scan, Anum_task_join_count) &&
		rows_int8(scan, Anum_task_request_seq) > parent->joined_seq;
}

/*
 * Asked by every child that ends, so that not all of them are read each time:
 * those requested last are mostly the last to end.
 */
static bool
any_is_open(const Task *parent)
{
	bool		open = false;
	RowScan		scan;

	begin_children(&scan, parent->task_id);
	while (!open && rows_previous(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		open = is_of_group(&scan, parent) && !task_status_is_over(status_of(&scan));
	}
	rows_end(&scan);
	return open;
}

static Group
read_group(const Task *parent)
{
	Group		group = {0};
	RowScan		scan;

	begin_children(&scan, parent->task_id);
	while (rows_next(&scan))
	{
		TaskStatus	status;

		CHECK_FOR_INTERRUPTS();
		if (!is_of_group(&scan, parent))
			continue;
		status = status_of(&scan);
		if (!task_status_is_over(status))
			group.open++;
		else if (status == TASK_COMPLETED)
			group.completed++;
		else
			group.ended++;
		if (list_length(group.children) < MOST_LISTED)
		{
			Child	   *child = palloc(sizeof(Child));

			child->task_id = slice_copy(rows_text(&scan, Anum_task_task_id));
			child->status = status;
			group.children = lappend(group.children, child);
		}
	}
	rows_end(&scan);
	return group;
}

/* false: it is not decided yet */
static bool
is_decided(const Group *group, int join, bool *met)
{
	if (join == JOIN_ALL)
	{
		*met = group->ended == 0;
		return group->open == 0;
	}
	*met = group->completed >= join;
	return *met || group->completed + group->open < join;
}

static Jsonb *
tell(const Group *group, int join, bool met)
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
		const Child *child = lfirst(cell);

		document_put_cstring(&b, slice_cstring(child->task_id), task_status_name(child->status));
	}
	document_close_object(&b);
	return document_end(&b);
}

void
join_settle(const EndedTask *ended)
{
	TaskEvent	event = {STEP_JOIN};
	Task	   *parent;
	Group		group;
	Receipt		receipt;
	bool		met;

	if (ended->join == JOIN_NONE || !slice_present(ended->parent_task_id))
		return;
	parent = task_lock(ended->parent_task_id, true);
	if (parent == NULL || task_status_is_over(parent->status) ||
		ended->request_seq <= parent->joined_seq ||
		(ended->join == JOIN_ALL && any_is_open(parent)))
		return;
	group = read_group(parent);
	if (!is_decided(&group, ended->join, &met))
		return;
	receipt = notice_append(parent, MSG_TASK_PROGRESS, MOVE_JOINED, SLICE_NONE,
							slice_present(parent->agent_id) ? parent->agent_id : parent->from_agent,
							tell(&group, ended->join, met));
	event.seq = receipt.seq;
	event.at = receipt.received_at;
	task_apply(parent, &event);
	task_save(parent);
}
