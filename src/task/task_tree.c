/*-------------------------------------------------------------------------
 *
 * task_tree.c
 *	  The tasks of a run as a tree, in one pass over its rows.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "task/task_row.h"
#include "task/task_tree.h"
#include "utils/memutils.h"

/* nodes by task_id: open addressing, a power of two, at most half full */
typedef struct NodeTable
{
	uint32		mask;
	TaskNode  **slots;
} NodeTable;

static uint32
task_tree_find_slot(const NodeTable *table, Slice task_id)
{
	uint32		i = (uint32) slice_hash(task_id) & table->mask;

	while (table->slots[i] != NULL && !slice_equal(table->slots[i]->task_id, task_id))
		i = (i + 1) & table->mask;
	return i;
}

static void
task_tree_read_node(const RowScan *scan, TaskNode *node)
{
	Datum		v[Natts_task];
	bool		n[Natts_task];
	TaskStatus	status;

	rows_keep(scan, v, n);
	memset(node, 0, sizeof(*node));
	node->task_id = column_text(v, n, Anum_task_task_id);
	node->parent_task_id = column_text(v, n, Anum_task_parent_task_id);
	status = task_status_parse(column_text(v, n, Anum_task_status));
	node->status = slice_of_cstring(task_status_name(status));
	node->agent_id = column_text(v, n, Anum_task_agent_id);
	node->domain = column_text(v, n, Anum_task_domain);
	node->payload_type = column_text(v, n, Anum_task_payload_type);
	node->attempt = DatumGetInt32(v[Anum_task_attempt - 1]);
	node->request_seq = column_int8(v, n, Anum_task_request_seq);
	node->created_at = column_int8(v, n, Anum_task_created_at);
	node->started_at = column_int8(v, n, Anum_task_started_at);
	node->finished_at = column_int8(v, n, Anum_task_finished_at);
}

static TaskNode *
task_tree_read_nodes(Slice run_id, int *n)
{
	int			room = 256;
	TaskNode   *nodes = palloc(sizeof(TaskNode) * room);
	RowScan		scan;

	*n = 0;
	rows_begin(&scan, TABLE_TASK, INDEX_TASK_RUN_ID, ROWS_ACTIVE, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (*n == room)
		{
			room *= 2;
			nodes = repalloc_huge(nodes, sizeof(TaskNode) * room);
		}
		task_tree_read_node(&scan, &nodes[(*n)++]);
	}
	rows_end(&scan);
	return nodes;
}

static int
task_tree_compare_requests(const void *a, const void *b)
{
	int64		x = ((const TaskNode *) a)->request_seq;
	int64		y = ((const TaskNode *) b)->request_seq;

	return x < y ? -1 : x > y ? 1 : 0;
}

static void
task_tree_make_table(NodeTable *table, TaskNode *nodes, int n)
{
	uint32		size = 64;
	int			i;

	while (size < (uint32) n * 2)
		size *= 2;
	table->mask = size - 1;
	table->slots = MemoryContextAllocExtended(CurrentMemoryContext,
											  sizeof(TaskNode *) * size,
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (i = 0; i < n; i++)
		table->slots[task_tree_find_slot(table, nodes[i].task_id)] = &nodes[i];
}

/*
 * Children are hung in from the last to the first, so each list comes out in
 * order.  Answers the first root.
 */
static TaskNode *
task_tree_link_nodes(TaskNode *nodes, int n)
{
	TaskNode   *roots = NULL;
	NodeTable	table;
	int			i;

	task_tree_make_table(&table, nodes, n);
	for (i = n - 1; i >= 0; i--)
	{
		TaskNode   *node = &nodes[i];
		TaskNode   *parent = slice_present(node->parent_task_id) ?
			table.slots[task_tree_find_slot(&table, node->parent_task_id)] : NULL;
		TaskNode  **list = parent != NULL ? &parent->first_child : &roots;

		node->parent = parent;
		node->next = *list;
		*list = node;
	}
	return roots;
}

/*
 * Without recursion: a chain of tasks may be deeper than the stack.
 * Admission refuses cycles, so every node hangs below a root.
 */
TaskNode **
task_tree_of_run(Slice run_id, int *n)
{
	int			count;
	TaskNode   *nodes = task_tree_read_nodes(run_id, &count);
	TaskNode  **ordered = MemoryContextAllocHuge(CurrentMemoryContext,
												 sizeof(TaskNode *) * Max(count, 1));
	TaskNode   *node;

	qsort(nodes, count, sizeof(TaskNode), task_tree_compare_requests);
	node = task_tree_link_nodes(nodes, count);
	*n = 0;
	while (node != NULL)
	{
		node->depth = node->parent != NULL ? node->parent->depth + 1 : 0;
		ordered[(*n)++] = node;
		if (node->first_child != NULL)
		{
			node = node->first_child;
			continue;
		}
		while (node != NULL && node->next == NULL)
			node = node->parent;
		if (node != NULL)
			node = node->next;
	}
	return ordered;
}
