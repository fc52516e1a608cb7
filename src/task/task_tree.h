/*-------------------------------------------------------------------------
 *
 * task_tree.h
 *	  Building the tree of the tasks of a run (spec 1.3), in one pass over its
 *	  rows.
 *
 * The order is depth first, with siblings in the order of their requests.  A
 * task whose parent was never requested is a root.  Everything is palloc'd in
 * the current context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TASK_TREE_H
#define CLUTCH_TASK_TREE_H

#include "base/text.h"
#include "datatype/timestamp.h"

typedef struct TaskNode
{
	/* values of type text, as the table has them; 0 means NULL */
	Datum		task_id;
	Datum		parent_task_id;
	Datum		status;
	Datum		agent_id;
	Datum		domain;
	Datum		payload_type;
	int			attempt;
	int			depth;			/* 0 for a root */
	int64		request_seq;
	TimestampTz created_at;
	TimestampTz started_at;		/* 0 if not started yet */
	TimestampTz finished_at;
	struct TaskNode *parent;	/* NULL for a root */
	struct TaskNode *first_child;
	struct TaskNode *next;		/* next sibling */
} TaskNode;

/* Returns the nodes in the order of the tree.  *n is set to their number. */
extern TaskNode **task_tree_of_run(Slice run_id, int *n);

#endif							/* CLUTCH_TASK_TREE_H */
