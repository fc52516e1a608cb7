/*-------------------------------------------------------------------------
 *
 * rows.c
 *	  Scanning the tables of the schema without SQL.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "base/column.h"
#include "base/rows.h"
#include "base/rows_part.h"
#include "catalog/pg_collation.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

/* ---------------------------------------------------------------- scanning */

void
rows_begin(RowScan *scan, StateTable table, StateIndex index,
		   RowSnapshot which, LOCKMODE lock)
{
	scan->table = table;
	scan->index_id = index;
	scan->which = which;
	scan->lock = lock;
	scan->context = CurrentMemoryContext;
	scan->rel = rows_table_stays_void(table) ? NULL : rows_open(table, lock);
	scan->index = NULL;
	scan->scan = NULL;
	scan->slot = NULL;
	scan->snapshot = NULL;
	scan->dead = 0;
	scan->most_dead = PG_INT64_MAX;
	scan->nkeys = 0;
}

static void
rows_add_key(RowScan *scan, int column, int strategy, RegProcedure compare,
			 Oid collation, Datum value)
{
	Assert(scan->nkeys < ROWS_MAX_KEYS);
	ScanKeyEntryInitialize(&scan->keys[scan->nkeys++], 0, column, strategy,
						   InvalidOid, collation, compare, value);
}

/* the comparison functions of one type, by btree strategy (counted from 1) */
static const RegProcedure text_compare[] = {
	0, F_TEXT_LT, F_TEXT_LE, F_TEXTEQ, F_TEXT_GE, F_TEXT_GT
};
static const RegProcedure int2_compare[] = {
	0, F_INT2LT, F_INT2LE, F_INT2EQ, F_INT2GE, F_INT2GT
};
static const RegProcedure int4_compare[] = {
	0, F_INT4LT, F_INT4LE, F_INT4EQ, F_INT4GE, F_INT4GT
};
static const RegProcedure int8_compare[] = {
	0, F_INT8LT, F_INT8LE, F_INT8EQ, F_INT8GE, F_INT8GT
};
static const RegProcedure xid8_compare[] = {
	0, F_XID8LT, F_XID8LE, F_XID8EQ, F_XID8GE, F_XID8GT
};
static const RegProcedure timestamp_compare[] = {
	0, F_TIMESTAMPTZ_LT, F_TIMESTAMPTZ_LE, F_TIMESTAMPTZ_EQ, F_TIMESTAMPTZ_GE, F_TIMESTAMPTZ_GT
};
static const RegProcedure date_compare[] = {
	0, F_DATE_LT, F_DATE_LE, F_DATE_EQ, F_DATE_GE, F_DATE_GT
};
static const RegProcedure oid_compare[] = {
	0, F_OIDLT, F_OIDLE, F_OIDEQ, F_OIDGE, F_OIDGT
};

void
rows_key_text(RowScan *scan, int column, int strategy, Slice value)
{
	rows_add_key(scan, column, strategy, text_compare[strategy], C_COLLATION_OID,
				 PointerGetDatum(slice_to_text(value)));
}

void
rows_key_int2(RowScan *scan, int column, int strategy, int16 value)
{
	rows_add_key(scan, column, strategy, int2_compare[strategy], InvalidOid,
				 Int16GetDatum(value));
}

void
rows_key_int4(RowScan *scan, int column, int strategy, int32 value)
{
	rows_add_key(scan, column, strategy, int4_compare[strategy], InvalidOid,
				 Int32GetDatum(value));
}

void
rows_key_int8(RowScan *scan, int column, int strategy, int64 value)
{
	rows_add_key(scan, column, strategy, int8_compare[strategy], InvalidOid,
				 Int64GetDatum(value));
}

void
rows_key_xid8(RowScan *scan, int column, int strategy, uint64 value)
{
	rows_add_key(scan, column, strategy, xid8_compare[strategy], InvalidOid,
				 FullTransactionIdGetDatum(FullTransactionIdFromU64(value)));
}

void
rows_key_timestamp(RowScan *scan, int column, int strategy, TimestampTz value)
{
	rows_add_key(scan, column, strategy, timestamp_compare[strategy], InvalidOid,
				 TimestampTzGetDatum(value));
}

void
rows_key_date(RowScan *scan, int column, int strategy, DateADT value)
{
	rows_add_key(scan, column, strategy, date_compare[strategy], InvalidOid,
				 DateADTGetDatum(value));
}

void
rows_key_oid(RowScan *scan, int column, int strategy, Oid value)
{
	rows_add_key(scan, column, strategy, oid_compare[strategy], InvalidOid,
				 ObjectIdGetDatum(value));
}

/*
 * In a parallel plan, where nothing can be written, no newer snapshot than that
 * of the statement can be taken.
 */
static Snapshot
rows_snapshot(RowScan *scan)
{
	if (scan->which == ROWS_DIRTY)
	{
		InitDirtySnapshot(scan->dirty);
		return &scan->dirty;
	}
	return RegisterSnapshot(scan->which == ROWS_ACTIVE || IsInParallelMode() ? GetActiveSnapshot() : GetLatestSnapshot());
}

static void
rows_drop_snapshot(RowScan *scan)
{
	if (scan->snapshot != NULL && scan->which != ROWS_DIRTY)
		UnregisterSnapshot(scan->snapshot);
	scan->snapshot = NULL;
}

/*
 * Many tables are empty most of the time (no questions, no budgets, no
 * dependencies).  Nothing is started for a table without pages, which is not
 * even opened if that is known; rows_next then finds nothing.
 */
void
rows_start(RowScan *scan)
{
	if (scan->rel == NULL || rows_table_is_void(scan->table, scan->rel))
		return;
	scan->index = rows_open_index(scan->index_id, scan->lock);
	scan->snapshot = rows_snapshot(scan);
	scan->scan = index_beginscan_compat(scan->rel, scan->index,
										scan->snapshot, scan->nkeys);
	index_rescan(scan->scan, scan->keys, scan->nkeys, NULL, 0);
}

void
rows_restart(RowScan *scan)
{
	if (scan->scan == NULL)
	{
		rows_start(scan);
		return;
	}
	if (scan->slot != NULL)
		ExecClearTuple(scan->slot);
	index_rescan(scan->scan, scan->keys, scan->nkeys, NULL, 0);
}

/* This is done late, because many scans find no entry. */
static void
rows_make_slot(RowScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->context);

	scan->slot = table_slot_create(scan->rel, NULL);
	MemoryContextSwitchTo(old);
}

/* Advances to the next index entry. */
static bool
rows_advance_entry(RowScan *scan, ScanDirection direction)
{
	ItemPointer place = index_getnext_tid(scan->scan, direction);

	if (place != NULL)
		scan->place = *place;
	return place != NULL;
}

/*
 * Does what index_getnext_slot does, but also counts the entries of dead rows.
 * An entry whose row has just been returned leads to no other one, as a rule,
 * and is not counted again.
 */
static bool
rows_advance(RowScan *scan, ScanDirection direction)
{
	if (scan->scan == NULL)
		return false;
	for (;;)
	{
		bool		continues = scan->scan->xs_heap_continue;

		if (!continues && !rows_advance_entry(scan, direction))
			return false;
		if (scan->slot == NULL)
			rows_make_slot(scan);
		if (index_fetch_heap(scan->scan, scan->slot))
			return true;
		if (!continues && ++scan->dead >= scan->most_dead)
			return false;
	}
}

bool
rows_next(RowScan *scan)
{
	return rows_advance(scan, ForwardScanDirection);
}

bool
rows_previous(RowScan *scan)
{
	return rows_advance(scan, BackwardScanDirection);
}

/* Does what index_fetch_heap does, with the place in an index entry. */
static bool
rows_fetch_slot(RowScan *scan, ItemPointerData place)
{
	IndexFetchTableData *fetch = table_index_fetch_begin(scan->rel);
	bool		continues = false;
	bool		found;

	found = table_index_fetch_tuple(fetch, &place, scan->snapshot, scan->slot, &continues, NULL);
	table_index_fetch_end(fetch);
	return found;
}

bool
rows_fetch(RowScan *scan, ItemPointerData place, int attno, Slice text)
{
	if (scan->rel == NULL || !rows_has_block(scan->rel, ItemPointerGetBlockNumber(&place)))
		return false;
	scan->snapshot = rows_snapshot(scan);
	rows_make_slot(scan);
	if (rows_fetch_slot(scan, place) && slice_equal(rows_text(scan, attno), text))
		return true;
	ExecClearTuple(scan->slot);
	rows_drop_snapshot(scan);
	return false;
}

/*
 * So many rows with one value are read before the index is descended again,
 * which costs as much as 50 rows, because a scan processes a whole page when
 * it comes to it.
 */
#define MOST_OF_A_VALUE	16

bool
rows_next_value(RowScan *scan, int attno)
{
	bool		is_first = scan->slot == NULL || TTS_EMPTY(scan->slot);
	int64		value = is_first ? 0 : rows_int8(scan, attno);
	int			passed = 0;
	int			column;

	while (rows_next(scan))
	{
		if (is_first || rows_int8(scan, attno) != value)
			return true;
		if (++passed < MOST_OF_A_VALUE)
			continue;
		column = scan->keys[--scan->nkeys].sk_attno;
		rows_key_int8(scan, column, BTGreaterStrategyNumber, value);
		rows_restart(scan);
	}
	return false;
}

void
rows_end(RowScan *scan)
{
	if (scan->slot != NULL)
		ExecDropSingleTupleTableSlot(scan->slot);
	if (scan->scan != NULL)
	{
		index_endscan(scan->scan);
		index_close(scan->index, NoLock);
	}
	rows_drop_snapshot(scan);
	if (scan->rel != NULL)
		table_close(scan->rel, NoLock);
}

bool
rows_is_ours(const RowScan *scan)
{
	bool		isnull;
	Datum		xmin = slot_getsysattr(scan->slot, MinTransactionIdAttributeNumber, &isnull);

	return TransactionIdIsCurrentTransactionId(DatumGetTransactionId(xmin));
}

bool
rows_is_being_inserted(const RowScan *scan)
{
	return scan->which == ROWS_DIRTY && TransactionIdIsValid(scan->dirty.xmin);
}

bool
rows_is_being_deleted(const RowScan *scan)
{
	return scan->which == ROWS_DIRTY && !TransactionIdIsValid(scan->dirty.xmin) &&
		TransactionIdIsValid(scan->dirty.xmax);
}

TransactionId
rows_in_doubt(const RowScan *scan)
{
	if (scan->which != ROWS_DIRTY)
		return InvalidTransactionId;
	return TransactionIdIsValid(scan->dirty.xmin) ? scan->dirty.xmin : scan->dirty.xmax;
}

/* ----------------------------------------------------------------- columns */

ItemPointerData
rows_tid(const RowScan *scan)
{
	return scan->slot->tts_tid;
}

Datum
rows_datum(const RowScan *scan, int attno, bool *isnull)
{
	return slot_getattr(scan->slot, attno, isnull);
}

bool
rows_is_null(const RowScan *scan, int attno)
{
	bool		isnull;

	(void) rows_datum(scan, attno, &isnull);
	return isnull;
}

Slice
rows_text(const RowScan *scan, int attno)
{
	bool		isnull;
	Datum		d = rows_datum(scan, attno, &isnull);

	if (isnull)
		return SLICE_NONE;
	return slice_of_text(PG_DETOAST_DATUM_PACKED(d));
}

Slice
rows_text_copy(const RowScan *scan, int attno)
{
	Slice		text = rows_text(scan, attno);

	return slice_present(text) ? slice_copy(text) : SLICE_NONE;
}

static Datum
rows_datum_or_zero(const RowScan *scan, int attno)
{
	bool		isnull;
	Datum		d = rows_datum(scan, attno, &isnull);

	return isnull ? (Datum) 0 : d;
}

int32
rows_int4(const RowScan *scan, int attno)
{
	return DatumGetInt32(rows_datum_or_zero(scan, attno));
}

int16
rows_int2(const RowScan *scan, int attno)
{
	return DatumGetInt16(rows_datum_or_zero(scan, attno));
}

int64
rows_int8(const RowScan *scan, int attno)
{
	return DatumGetInt64(rows_datum_or_zero(scan, attno));
}

TimestampTz
rows_timestamp(const RowScan *scan, int attno)
{
	return DatumGetTimestampTz(rows_datum_or_zero(scan, attno));
}

uint64
rows_xid8(const RowScan *scan, int attno)
{
	return U64FromFullTransactionId(DatumGetFullTransactionId(rows_datum_or_zero(scan, attno)));
}

Oid
rows_oid(const RowScan *scan, int attno)
{
	return DatumGetObjectId(rows_datum_or_zero(scan, attno));
}

SliceList
rows_texts_copy(const RowScan *scan, int attno)
{
	Datum		array = rows_datum_or_zero(scan, attno);

	return array == (Datum) 0 ? (SliceList) {0, NULL} :
		column_texts_of(PointerGetDatum(DatumGetArrayTypePCopy(array)));
}

void
rows_bytes(const RowScan *scan, int attno, uint8 *to, int n)
{
	Slice		bytes = rows_text(scan, attno);

	memset(to, 0, n);
	if (bytes.len == n)
		memcpy(to, bytes.s, n);
}

bool
rows_bool(const RowScan *scan, int attno)
{
	return DatumGetBool(rows_datum_or_zero(scan, attno));
}

Jsonb *
rows_jsonb(const RowScan *scan, int attno)
{
	bool		isnull;
	Datum		d = rows_datum(scan, attno, &isnull);

	return isnull ? NULL : DatumGetJsonbPCopy(d);
}

HeapTuple
rows_keep(const RowScan *scan, Datum *values, bool *nulls)
{
	HeapTuple	copy = ExecCopySlotHeapTuple(scan->slot);
	TupleDesc	desc = RelationGetDescr(scan->rel);
	int			n = rows_columns(scan->table);
	Datum	   *all_values = values;
	bool	   *all_nulls = nulls;

	if (desc->natts > n)
	{
		all_values = palloc(sizeof(Datum) * desc->natts);
		all_nulls = palloc(sizeof(bool) * desc->natts);
	}
	heap_deform_tuple(copy, desc, all_values, all_nulls);
	if (desc->natts > n)
	{
		memcpy(values, all_values, sizeof(Datum) * n);
		memcpy(nulls, all_nulls, sizeof(bool) * n);
	}
	return copy;
}
