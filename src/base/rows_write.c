/*-------------------------------------------------------------------------
 *
 * rows_write.c
 *	  Locking, inserting, changing and deleting rows without SQL.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "base/rows.h"
#include "base/rows_part.h"
#include "base/wait.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "tcop/utility.h"
#include "utils/rel.h"

/* The executor does not check these writes and locks, so we must. */
void
rows_require_writable(void)
{
	if (XactReadOnly)
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot change the state of clutch in a read-only transaction"),
				 RecoveryInProgress() ?
				 errhint("This server is a standby. Connect to the primary, for example with target_session_attrs=read-write.") :
				 errhint("Begin the transaction with READ WRITE, and look at default_transaction_read_only.")));
	PreventCommandIfParallelMode("a change of the state of clutch");
	rows_expect_writing();
}

RowLock
rows_lock(RowScan *scan, RowLockMode mode, bool wait)
{
	static const LockTupleMode modes[] = {LockTupleKeyShare, LockTupleNoKeyExclusive, LockTupleExclusive};
	TM_FailureData failure;
	TM_Result	result;
	ItemPointerData tid = scan->slot->tts_tid;
	uint8		flags = TUPLE_LOCK_FLAG_FIND_LAST_VERSION;

	/* such a lock does not wait for an update, so the new version must be locked as well */
	if (mode == ROW_LOCK_NAME)
		flags |= TUPLE_LOCK_FLAG_LOCK_UPDATE_IN_PROGRESS;
	rows_require_writable();
	result = table_tuple_lock(scan->rel, &tid, scan->snapshot, scan->slot,
							  GetCurrentCommandId(false), modes[mode],
							  wait && wait_is_allowed() ? LockWaitBlock : LockWaitSkip,
							  flags, &failure);
	switch (result)
	{
		case TM_Ok:
			return ROW_LOCKED;
		case TM_WouldBlock:
			if (wait)
				wait_refuse(psprintf("a row of clutch.%s", rows_table_name(scan->table)));
			return ROW_BUSY;
		case TM_Deleted:
		case TM_Updated:
		case TM_SelfModified:
		case TM_Invisible:
			return ROW_GONE;
		default:
			elog(ERROR, "unexpected result %d of locking a row", (int) result);
	}
	pg_unreachable();
}

bool
rows_is_locked(const RowScan *scan)
{
	bool		should_free;
	HeapTupleHeader row = ExecFetchSlotHeapTuple(scan->slot, false, &should_free)->t_data;
	TransactionId locker = HeapTupleHeaderGetRawXmax(row);

	Assert(!should_free);
	/* of several lockers, or one that only keeps the key, this does not tell */
	return (row->t_infomask & (HEAP_XMAX_INVALID | HEAP_XMAX_COMMITTED | HEAP_XMAX_IS_MULTI)) == 0 &&
		!HEAP_XMAX_IS_KEYSHR_LOCKED(row->t_infomask) &&
		!TransactionIdIsCurrentTransactionId(locker) && TransactionIdIsInProgress(locker);
}

static Relation
rows_open_for_writing(StateTable table)
{
	rows_require_writable();
	return rows_open(table, RowExclusiveLock);
}

static void
rows_refuse_columns(StateTable table, TupleDesc desc)
{
	int			n = rows_columns(table);
	int			i;

	if (desc->natts < n)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("table clutch.%s has %d columns where %d are expected",
						rows_table_name(table), desc->natts, n),
				 errhint("Run ALTER EXTENSION clutch UPDATE.")));
	for (i = n; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("table clutch.%s has an additional column \"%s\"",
							rows_table_name(table), NameStr(TupleDescAttr(desc, i)->attname)),
					 errhint("Drop the column, and keep your own data in a table of your own.")));
}

static bool is_batch = false;

static void
rows_written(void)
{
	if (!is_batch)
		CommandCounterIncrement();
}

void
rows_batch(void (*write) (void *arg), void *arg)
{
	is_batch = true;
	PG_TRY();
	{
		write(arg);
	}
	PG_FINALLY();
	{
		is_batch = false;
	}
	PG_END_TRY();
	CommandCounterIncrement();
}

/*
 * A column that a user has added and dropped again stays behind, and is always
 * null.
 */
HeapTuple
rows_form(StateTable table, TupleDesc desc, Datum *values, bool *nulls)
{
	int			n = rows_columns(table);
	Datum	   *all_values;
	bool	   *all_nulls;

	if (desc->natts == n)
		return heap_form_tuple(desc, values, nulls);
	rows_refuse_columns(table, desc);
	all_values = palloc0(sizeof(Datum) * desc->natts);
	all_nulls = palloc(sizeof(bool) * desc->natts);
	memset(all_nulls, true, sizeof(bool) * desc->natts);
	memcpy(all_values, values, sizeof(Datum) * n);
	memcpy(all_nulls, nulls, sizeof(bool) * n);
	return heap_form_tuple(desc, all_values, all_nulls);
}

ItemPointerData
rows_insert(StateTable table, Datum *values, bool *nulls)
{
	Relation	rel = rows_open_for_writing(table);
	HeapTuple	tuple = rows_form(table, RelationGetDescr(rel), values, nulls);
	ItemPointerData tid;

	simple_heap_insert(rel, tuple);
	tid = tuple->t_self;
	rows_insert_entries(table, rel, values, nulls, &tid, ENTRIES_ALL);
	heap_freetuple(tuple);
	table_close(rel, NoLock);
	rows_written();
	return tid;
}

/*
 * Nearly every update stays on its page and changes no indexed column (HOT).
 * In that case nothing need be inserted into the indexes.
 */
static void
rows_replace(StateTable table, Relation rel, ItemPointer tid, HeapTuple tuple, Datum *values,
			 bool *nulls)
{
	NewEntries	entries = simple_heap_update_compat(rel, tid, tuple);

	*tid = tuple->t_self;
	if (entries != ENTRIES_NONE)
		rows_insert_entries(table, rel, values, nulls, tid, entries);
	heap_freetuple(tuple);
	rows_written();
}

void
rows_update(StateTable table, ItemPointer tid, Datum *values, bool *nulls)
{
	Relation	rel = rows_open_for_writing(table);

	rows_replace(table, rel, tid, rows_form(table, RelationGetDescr(rel), values, nulls), values,
				 nulls);
	table_close(rel, NoLock);
}

/*
 * Returns a copy of the kept row in which the values that differ have been
 * overwritten, or NULL if the length of the row changes or may change.
 */
static HeapTuple
rows_overwrite(TupleDesc desc, int n, const KeptRow *kept, const Datum *values, const bool *nulls)
{
	HeapTuple	tuple;
	char	   *data;
	uint32		offset = 0;
	int			i;

	/* a column that was added later is not in the tuple */
	if (HeapTupleHeaderGetNatts(kept->tuple->t_data) < n ||
		memcmp(nulls, kept->nulls, n * sizeof(bool)) != 0)
		return NULL;
	tuple = heap_copytuple(kept->tuple);
	data = (char *) tuple->t_data + tuple->t_data->t_hoff;
	for (i = 0; i < n; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (nulls[i])
			continue;
		offset = att_align_pointer(offset, column->attalign, column->attlen, data + offset);
		if (values[i] != kept->values[i])
		{
			if (!column->attbyval)
				return NULL;
			store_att_byval(data + offset, values[i], column->attlen);
		}
		offset = att_addlength_pointer(offset, column->attlen, data + offset);
	}
	return tuple;
}

/* Forming a tuple of fifty columns takes eight times as long as copying it. */
void
rows_update_kept(StateTable table, ItemPointer tid, const KeptRow *kept, Datum *values, bool *nulls)
{
	Relation	rel = rows_open_for_writing(table);
	TupleDesc	desc = RelationGetDescr(rel);
	int			n = rows_columns(table);
	HeapTuple	tuple = desc->natts < n ? NULL : rows_overwrite(desc, n, kept, values, nulls);

	if (tuple == NULL)
		tuple = rows_form(table, desc, values, nulls);
	rows_replace(table, rel, tid, tuple, values, nulls);
	table_close(rel, NoLock);
}

void
rows_delete(StateTable table, ItemPointer tid)
{
	Relation	rel = rows_open_for_writing(table);

	simple_heap_delete(rel, tid);
	table_close(rel, NoLock);
	rows_written();
}

bool
rows_delete_if_free(StateTable table, ItemPointer tid)
{
	Relation	rel = rows_open_for_writing(table);
	TM_FailureData failure;
	TM_Result	result = heap_delete(rel, tid, GetCurrentCommandId(true), InvalidSnapshot,
									 false, &failure, false);

	table_close(rel, NoLock);
	if (result != TM_Ok)
		return false;
	rows_written();
	return true;
}

bool
rows_delete_first(RowScan *scan)
{
	ItemPointerData tid;
	bool		found;

	rows_start(scan);
	found = rows_next(scan);
	if (found)
		tid = rows_tid(scan);
	rows_end(scan);
	if (found)
		rows_delete(scan->table, &tid);
	return found;
}
