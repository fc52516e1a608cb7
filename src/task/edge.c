/*-------------------------------------------------------------------------
 *
 * edge.c
 *	  Edges, that is, which task waits for which: rows of clutch.dependency.
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
	Anum_dependency_unknown_since,
	Natts_dependency = Anum_dependency_unknown_since
};

ROWS_CHECK_COLUMNS(Natts_dependency, DEPENDENCY);

void
edge_insert(const Task *task, Slice after, TimestampTz unknown_since)
{
	Datum		values[Natts_dependency] = {0};
	bool		nulls[Natts_dependency] = {0};

	column_put_text(values, nulls, Anum_dependency_task_id, task->task_id);
	column_put_text(values, nulls, Anum_dependency_after_task_id, after);
	column_put_text(values, nulls, Anum_dependency_run_id, task->run_id);
	column_put_int8(values, nulls, Anum_dependency_unknown_since, unknown_since);
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
	return rows_list_texts(&scan, Anum_dependency_after_task_id);
}

List *
edge_list_waiters(Slice task_id, RowSnapshot which)
{
	RowScan		scan;

	edge_scan_edges(&scan, INDEX_DEPENDENCY_AFTER, task_id, which);
	return rows_list_texts(&scan, Anum_dependency_task_id);
}

bool
edge_has_waiters(Slice task_id)
{
	RowScan		scan;

	edge_scan_edges(&scan, INDEX_DEPENDENCY_AFTER, task_id, ROWS_DIRTY);
	return rows_look(&scan, NULL);
}

/*
 * This does not wait, because only the transaction that has locked the waiting
 * task changes its edges.
 */
static void
edge_set_unknown_since(RowScan *scan, TimestampTz since)
{
	Datum		values[Natts_dependency];
	bool		nulls[Natts_dependency];
	ItemPointerData tid;

	if (rows_lock(scan, ROW_LOCK_CHANGE, false) != ROW_LOCKED)
		return;
	rows_keep(scan, values, nulls);
	column_put_int8(values, nulls, Anum_dependency_unknown_since, since);
	tid = rows_tid(scan);
	rows_update(TABLE_DEPENDENCY, &tid, values, nulls);
}

void
edge_mark_unknown(const Task *task)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_DEPENDENCY, INDEX_DEPENDENCY, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task->task_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		const Task *other;

		if (!rows_is_null(&scan, Anum_dependency_unknown_since))
			continue;
		other = task_look(rows_text(&scan, Anum_dependency_after_task_id), ROWS_LATEST);
		if (other == NULL || !slice_equal(other->run_id, task->run_id))
			edge_set_unknown_since(&scan, task->since);
	}
	rows_end(&scan);
}

void
edge_forget_unknown(Slice task_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_DEPENDENCY, INDEX_DEPENDENCY_UNKNOWN, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	rows_start(&scan);
	while (rows_next(&scan))
		edge_set_unknown_since(&scan, 0);
	rows_end(&scan);
}

void
edge_forget(Slice task_id)
{
	RowScan		scan;

	do
		edge_scan_edges(&scan, INDEX_DEPENDENCY, task_id, ROWS_LATEST);
	while (rows_delete_first(&scan));
}
