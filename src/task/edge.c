/*-------------------------------------------------------------------------
 *
 * edge.c
 *	  Which task waits for which: rows of clutch.dependency.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/rows.h"
#include "task/edge.h"

/* columns of clutch.dependency */
enum
{
	Anum_dependency_task_id = 1,
	Anum_dependency_after_task_id,
	Anum_dependency_run_id,
	Natts_dependency = Anum_dependency_run_id
};

StaticAssertDecl((int) Natts_dependency == (int) COLUMNS_DEPENDENCY, "columns of clutch.dependency");

void
edge_insert(const Task *task, Slice after)
{
	Datum		values[Natts_dependency] = {0};
	bool		nulls[Natts_dependency] = {0};

	column_put_text(values, nulls, Anum_dependency_task_id, task->task_id);
	column_put_text(values, nulls, Anum_dependency_after_task_id, after);
	column_put_text(values, nulls, Anum_dependency_run_id, task->run_id);
	(void) rows_insert(TABLE_DEPENDENCY, values, nulls);
}

static void
edge_scan_edges(RowScan *scan, StateIndex index, Slice task_id, RowSnapshot which)
{
	rows_begin(scan, TABLE_DEPENDENCY, index, which, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, task_id);
}

List *
edge_list_awaited(Slice task_id)
{
	RowScan		scan;

	edge_scan_edges(&scan, INDEX_DEPENDENCY, task_id, ROWS_LATEST);
	return rows_list_texts(&scan, Anum_dependency_after_task_id, NIL);
}

List *
edge_list_waiters(Slice task_id, RowSnapshot which)
{
	RowScan		scan;

	edge_scan_edges(&scan, INDEX_DEPENDENCY_AFTER, task_id, which);
	return rows_list_texts(&scan, Anum_dependency_task_id, NIL);
}

bool
edge_has_waiters(Slice task_id)
{
	RowScan		scan;

	edge_scan_edges(&scan, INDEX_DEPENDENCY_AFTER, task_id, ROWS_DIRTY);
	return rows_look(&scan, NULL);
}
