/*-------------------------------------------------------------------------
 *
 * suspended.c
 *	  Suspended tasks: rows of clutch.suspended and clutch.awaited.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "queue/suspended.h"
#include "utils/timestamp.h"

/* columns of clutch.suspended */
enum
{
	Anum_suspended_task_id = 1,
	Anum_suspended_since,
	Natts_suspended = Anum_suspended_since
};

ROWS_CHECK_COLUMNS(Natts_suspended, SUSPENDED);

/* columns of clutch.awaited */
enum
{
	Anum_awaited_run_id = 1,
	Anum_awaited_task_id,
	Natts_awaited = Anum_awaited_task_id
};

ROWS_CHECK_COLUMNS(Natts_awaited, AWAITED);

static void
suspended_put_awaited(const Task *task)
{
	Datum		values[Natts_awaited] = {0};
	bool		nulls[Natts_awaited] = {0};

	column_put_text(values, nulls, Anum_awaited_run_id, task->run_id);
	column_put_text(values, nulls, Anum_awaited_task_id, task->task_id);
	(void) rows_insert(TABLE_AWAITED, values, nulls);
}

void
suspended_put(const Task *task)
{
	Datum		values[Natts_suspended] = {0};
	bool		nulls[Natts_suspended] = {0};

	column_put_text(values, nulls, Anum_suspended_task_id, task->task_id);
	values[Anum_suspended_since - 1] = TimestampTzGetDatum(task->since);
	(void) rows_insert(TABLE_SUSPENDED, values, nulls);
	if (task->waiting_for == WAITING_FOR_MESSAGE)
		suspended_put_awaited(task);
}

static void
suspended_scan(RowScan *scan, Slice task_id, RowSnapshot which, LOCKMODE lock)
{
	rows_begin(scan, TABLE_SUSPENDED, INDEX_SUSPENDED, which, lock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, task_id);
}

void
suspended_remove(const Task *task)
{
	RowScan		scan;

	suspended_scan(&scan, task->task_id, ROWS_LATEST, RowExclusiveLock);
	(void) rows_delete_first(&scan);
	if (task->waiting_for != WAITING_FOR_MESSAGE)
		return;
	rows_begin(&scan, TABLE_AWAITED, INDEX_AWAITED, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task->run_id);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, task->task_id);
	(void) rows_delete_first(&scan);
}

bool
suspended_has(Slice task_id)
{
	RowScan		scan;

	if (!rows_table_was_used(TABLE_SUSPENDED))
		return false;
	suspended_scan(&scan, task_id, ROWS_DIRTY, AccessShareLock);
	return rows_look(&scan, NULL);
}

bool
suspended_ever_awaited(void)
{
	/*
	 * this is called at commit, and the transaction may have dropped the
	 * extension
	 */
	return rows_table_is_there(TABLE_AWAITED) && rows_table_was_used(TABLE_AWAITED);
}

bool
suspended_any_awaits(void)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_AWAITED, INDEX_AWAITED, ROWS_DIRTY, AccessShareLock);
	return rows_look(&scan, NULL);
}

List *
suspended_list_awaiting(Slice run_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_AWAITED, INDEX_AWAITED, ROWS_DIRTY, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	return rows_list_texts(&scan, Anum_awaited_task_id);
}
