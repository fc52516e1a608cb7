/*-------------------------------------------------------------------------
 *
 * task_tree.c
 *	  Building the tree of the tasks of a run, in one pass over its rows.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"
#include "base/crypto.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "task/task_row.h"
#include "task/task_tree.h"
#include "utils/memutils.h"

/*
 * Nodes by task_id: an open-addressing hash table whose size is a power of
 * two, at most half full.  The hash has a secret key.  Otherwise, task IDs could
 * be chosen that all have the same place, and a look at their run would take hours.
 */
typedef struct NodeTable
{
	uint32		mask;
	TaskNode  **slots;
} NodeTable;

static Slice
task_tree_slice(Datum text)
{
	return slice_of_text((const struct varlena *) DatumGetPointer(text));
}

static uint32
task_tree_find_slot(const NodeTable *table, Datum task_id)
{
	Slice		id = task_tree_slice(task_id);
	uint32		i = (uint32) crypto_name_hash(id) & table->mask;

	while (table->slots[i] != NULL && !slice_equal(task_tree_slice(table->slots[i]->task_id), id))
		i = (i + 1) & table->mask;
	return i;
}

/*
 * Copies a value without converting it, because most of it is returned
 * unchanged.
 */
static Datum
task_tree_keep_text(const RowScan *scan, int attno)
{
	bool		isnull;
	Datum		value = rows_datum(scan, attno, &isnull);
	struct varlena *text;
	Size		size;

	if (isnull)
		return (Datum) 0;
	text = PG_DETOAST_DATUM_PACKED(value);
	size = VARSIZE_ANY(text);
	return PointerGetDatum(memcpy(palloc(size), text, size));
}

static void
task_tree_read_node(const RowScan *scan, TaskNode *node)
{
	memset(node, 0, sizeof(*node));
	node->task_id = task_tree_keep_text(scan, Anum_task_task_id);
	node->parent_task_id = task_tree_keep_text(scan, Anum_task_parent_task_id);
	node->status = task_tree_keep_text(scan, Anum_task_status);
	node->agent_id = task_tree_keep_text(scan, Anum_task_agent_id);
	node->domain = task_tree_keep_text(scan, Anum_task_domain);
	node->payload_type = task_tree_keep_text(scan, Anum_task_payload_type);
	node->attempt = rows_int4(scan, Anum_task_attempt);
	node->request_seq = rows_int8(scan, Anum_task_request_seq);
	node->created_at = rows_timestamp(scan, Anum_task_created_at);
	node->started_at = rows_timestamp(scan, Anum_task_started_at);
	node->finished_at = rows_timestamp(scan, Anum_task_finished_at);
}

static TaskNode *
task_tree_read_nodes(Slice run_id, int *n)
{
	int			room = 0;
	TaskNode   *nodes = NULL;
	RowScan		scan;

	*n = 0;
	rows_begin(&scan, TABLE_TASK, INDEX_TASK_RUN_ID, ROWS_ACTIVE, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		array_make_room(nodes, *n, room);
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
 * Links the children to their parents from the last to the first, so that each
 * list ends up in order.  Returns the first root.
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
		TaskNode   *parent = node->parent_task_id != 0 ?
			table.slots[task_tree_find_slot(&table, node->parent_task_id)] : NULL;
		TaskNode  **list = parent != NULL ? &parent->first_child : &roots;

		node->parent = parent;
		node->next = *list;
		*list = node;
	}
	return roots;
}

/*
 * This does not recurse, because a chain of tasks may be deeper than the
 * stack.  Admission refuses cycles, so every node is below a root.
 */
TaskNode **
task_tree_of_run(Slice run_id, int *n)
{
	int			count;
	TaskNode   *nodes = task_tree_read_nodes(run_id, &count);
	TaskNode  **ordered = MemoryContextAllocHuge(CurrentMemoryContext,
												 sizeof(TaskNode *) * count);
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
