/*-------------------------------------------------------------------------
 *
 * rows_write.c
 *	  Locking and changing rows of state without an executor.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "base/wait.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "compat.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/rel.h"

/*
 * The executor does not see these writes and locks, so nobody else refuses them in a
 * READ ONLY transaction or in a parallel worker.
 */
static void
require_writable(void)
{
	PreventCommandIfReadOnly("a change of the state of clutch");
	PreventCommandIfParallelMode("a change of the state of clutch");
}

RowLock
rows_lock(RowScan *scan, RowLockMode mode, bool wait)
{
	static const LockTupleMode modes[] = {LockTupleKeyShare, LockTupleNoKeyExclusive, LockTupleExclusive};
	TM_FailureData failure;
	TM_Result	result;
	Snapshot	snapshot = scan->snapshot;
	ItemPointerData tid = scan->slot->tts_tid;

	require_writable();
	result = table_tuple_lock(scan->rel, &tid, snapshot, scan->slot,
							  GetCurrentCommandId(false), modes[mode],
							  wait && wait_is_allowed() ? LockWaitBlock : LockWaitSkip,
							  TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure);
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

static Relation
open_for_writing(StateTable table)
{
	require_writable();
	return rows_open(table, RowExclusiveLock);
}

static void
refuse_columns(StateTable table, TupleDesc desc)
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
					 errmsg("table clutch.%s has a column \"%s\" that is not clutch's",
							rows_table_name(table), NameStr(TupleDescAttr(desc, i)->attname)),
					 errhint("Drop it; keep what is yours in a table of your own.")));
}

/* columns that somebody added and dropped again stay behind, always null */
HeapTuple
rows_form(StateTable table, TupleDesc desc, Datum *values, bool *nulls)
{
	int			n = rows_columns(table);
	Datum	   *all_values;
	bool	   *all_nulls;

	if (desc->natts == n)
		return heap_form_tuple(desc, values, nulls);
	refuse_columns(table, desc);
	all_values = palloc0(sizeof(Datum) * desc->natts);
	all_nulls = palloc(sizeof(bool) * desc->natts);
	memset(all_nulls, true, sizeof(bool) * desc->natts);
	memcpy(all_values, values, sizeof(Datum) * n);
	memcpy(all_nulls, nulls, sizeof(bool) * n);
	return heap_form_tuple(desc, all_values, all_nulls);
}

/*
 * There is no executor here to evaluate the expression or the condition of an
 * index that somebody added: unchecked, it would crash the server.
 */
static CatalogIndexState
open_indexes(Relation rel)
{
	CatalogIndexState indexes = CatalogOpenIndexes(rel);
	int			i;

	for (i = 0; i < indexes->ri_NumIndices; i++)
	{
		IndexInfo  *info = indexes->ri_IndexRelationInfo[i];

		if (info->ii_Expressions != NIL || info->ii_Predicate != NIL ||
			info->ii_ExclusionOps != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("index \"%s\" of table clutch.%s is not over plain columns",
							RelationGetRelationName(indexes->ri_IndexRelationDescs[i]),
							RelationGetRelationName(rel)),
					 errhint("Drop it: an index that is added there may have neither an expression nor a WHERE.")));
	}
	return indexes;
}

ItemPointerData
rows_insert(StateTable table, Datum *values, bool *nulls)
{
	Relation	rel = open_for_writing(table);
	CatalogIndexState indexes = open_indexes(rel);
	HeapTuple	tuple = rows_form(table, RelationGetDescr(rel), values, nulls);
	ItemPointerData tid;

	CatalogTupleInsertWithInfo(rel, tuple, indexes);
	CatalogCloseIndexes(indexes);
	tid = tuple->t_self;
	heap_freetuple(tuple);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	return tid;
}

static void
insert_index_entries(Relation rel, HeapTuple tuple, NewEntries which)
{
	CatalogIndexState indexes = open_indexes(rel);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
	int			i;

	ExecStoreHeapTuple(tuple, slot, false);
	for (i = 0; i < indexes->ri_NumIndices; i++)
	{
		Relation	index = indexes->ri_IndexRelationDescs[i];
		IndexInfo  *info = indexes->ri_IndexRelationInfo[i];
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];

		if (which == ENTRIES_SUMMARIZING && !index_is_summarizing_compat(index))
			continue;
		FormIndexDatum(info, slot, NULL, values, nulls);
		index_insert(index, values, nulls, &tuple->t_self, rel,
					 index->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
					 false, info);
	}
	ExecDropSingleTupleTableSlot(slot);
	CatalogCloseIndexes(indexes);
}

void
rows_insert_for_good(StateTable table, Datum *values, bool *nulls)
{
	Relation	rel = open_for_writing(table);
	HeapTuple	tuple = rows_form(table, RelationGetDescr(rel), values, nulls);

	heap_insert(rel, tuple, GetCurrentCommandId(true), HEAP_INSERT_FROZEN, NULL);
	insert_index_entries(rel, tuple, ENTRIES_ALL);
	heap_freetuple(tuple);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

/*
 * Nearly every update stays on its page and changes no indexed column; then
 * the indexes are not even opened, which costs more than the update itself.
 */
void
rows_update(StateTable table, ItemPointer tid, Datum *values, bool *nulls)
{
	Relation	rel = open_for_writing(table);
	HeapTuple	tuple = rows_form(table, RelationGetDescr(rel), values, nulls);
	NewEntries	entries = simple_heap_update_compat(rel, tid, tuple);

	if (entries != ENTRIES_NONE)
		insert_index_entries(rel, tuple, entries);
	*tid = tuple->t_self;
	heap_freetuple(tuple);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

void
rows_delete(StateTable table, ItemPointer tid)
{
	Relation	rel = open_for_writing(table);

	CatalogTupleDelete(rel, tid);
	table_close(rel, NoLock);
	CommandCounterIncrement();
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
