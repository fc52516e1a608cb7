/*-------------------------------------------------------------------------
 *
 * rows.c
 *	  The tables of state, read and written without SQL.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "commands/sequence.h"
#include "compat.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

static const char *const table_names[NUM_STATE_TABLES] = {
	"events", "agent_registry", "group_member", "agent_heartbeat",
	"agent_slot", "principal", "run_scope", "task", "ready", "waiting",
	"timer", "epoch"
};

static const char *const index_names[NUM_STATE_INDEXES] = {
	"events_pkey", "events_seq", "events_task_id", "events_idempotency_key",
	"agent_registry_pkey", "group_member_pkey", "agent_heartbeat_key",
	"agent_slot_key", "principal_pkey", "run_scope_pkey", "task_pkey",
	"task_run_id", "ready_pkey", "waiting_pkey", "timer_pkey", "epoch_pkey"
};

static const char *const sequence_names[NUM_STATE_SEQUENCES] = {
	"event_seq", "queue_no"
};

/* so many does C fill: with another column, a row would be read past its end */
static const int table_columns[NUM_STATE_TABLES] = {
	20, 5, 2, 3, 7, 4, 2, 32, 4, 4, 2, 3
};

/*
 * The oids, looked up once.  When the extension is dropped and made again its
 * schema goes with it: any change of a schema forgets them.  REINDEX
 * CONCURRENTLY gives one index another oid: what happens to a relation
 * forgets its oid.
 */
static Oid	table_oids[NUM_STATE_TABLES];
static Oid	index_oids[NUM_STATE_INDEXES];
static Oid	sequence_oids[NUM_STATE_SEQUENCES];
static bool watching_catalogs = false;

static void
forget_oids(Datum arg, int cacheid, uint32 hashvalue)
{
	memset(table_oids, 0, sizeof(table_oids));
	memset(index_oids, 0, sizeof(index_oids));
	memset(sequence_oids, 0, sizeof(sequence_oids));
}

static void
forget_oid(Datum arg, Oid relid)
{
	int			i;

	for (i = 0; i < NUM_STATE_TABLES; i++)
		if (table_oids[i] == relid || !OidIsValid(relid))
			table_oids[i] = InvalidOid;
	for (i = 0; i < NUM_STATE_INDEXES; i++)
		if (index_oids[i] == relid || !OidIsValid(relid))
			index_oids[i] = InvalidOid;
}

static Oid
lookup_oid(const char *name)
{
	Oid			schema;
	Oid			relid;

	if (!watching_catalogs)
	{
		CacheRegisterSyscacheCallback(NAMESPACEOID, forget_oids, (Datum) 0);
		CacheRegisterRelcacheCallback(forget_oid, (Datum) 0);
		watching_catalogs = true;
	}
	schema = get_namespace_oid(CLUTCH_SCHEMA, false);
	relid = get_relname_relid(name, schema);
	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s.%s\" does not exist", CLUTCH_SCHEMA, name),
				 errhint("Run ALTER EXTENSION clutch UPDATE, or reinstall the extension.")));
	return relid;
}

Oid
rows_table_oid(StateTable table)
{
	if (!OidIsValid(table_oids[table]))
	{
		Oid			oid = lookup_oid(table_names[table]);

		table_oids[table] = oid;
	}
	return table_oids[table];
}

Oid
rows_index_oid(StateIndex index)
{
	if (!OidIsValid(index_oids[index]))
	{
		Oid			oid = lookup_oid(index_names[index]);

		index_oids[index] = oid;
	}
	return index_oids[index];
}

int64
rows_nextval(StateSequence sequence)
{
	if (!OidIsValid(sequence_oids[sequence]))
	{
		Oid			oid = lookup_oid(sequence_names[sequence]);

		sequence_oids[sequence] = oid;
	}
	return nextval_internal(sequence_oids[sequence], false);
}

Oid
rows_owner(void)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(rows_table_oid(TABLE_EVENTS)));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for table clutch.events");
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* ---------------------------------------------------------------- scanning */

void
rows_begin(RowScan *scan, StateTable table, StateIndex index,
		   RowSnapshot which, LOCKMODE lock)
{
	scan->rel = table_open(rows_table_oid(table), lock);
	scan->index = index_open(rows_index_oid(index), lock);
	scan->slot = table_slot_create(scan->rel, NULL);
	scan->scan = NULL;
	scan->nkeys = 0;
	if (which == ROWS_DIRTY)
	{
		InitDirtySnapshot(scan->dirty);
		scan->snapshot = &scan->dirty;
	}
	else
		scan->snapshot = RegisterSnapshot(which == ROWS_ACTIVE ?
										  GetActiveSnapshot() : GetLatestSnapshot());
}

static void
add_key(RowScan *scan, int column, int strategy, RegProcedure compare,
		Oid collation, Datum value)
{
	Assert(scan->nkeys < ROWS_MAX_KEYS);
	ScanKeyEntryInitialize(&scan->keys[scan->nkeys++], 0, column, strategy,
						   InvalidOid, collation, compare, value);
}

/* the comparison functions of one type, by btree strategy (1-based) */
static const RegProcedure text_compare[] = {0, F_TEXT_LT, F_TEXT_LE, F_TEXTEQ, F_TEXT_GE, F_TEXT_GT};
static const RegProcedure int2_compare[] = {0, F_INT2LT, F_INT2LE, F_INT2EQ, F_INT2GE, F_INT2GT};
static const RegProcedure int4_compare[] = {0, F_INT4LT, F_INT4LE, F_INT4EQ, F_INT4GE, F_INT4GT};
static const RegProcedure int8_compare[] = {0, F_INT8LT, F_INT8LE, F_INT8EQ, F_INT8GE, F_INT8GT};
static const RegProcedure timestamp_compare[] = {0, F_TIMESTAMPTZ_LT, F_TIMESTAMPTZ_LE, F_TIMESTAMPTZ_EQ, F_TIMESTAMPTZ_GE, F_TIMESTAMPTZ_GT};
static const RegProcedure oid_compare[] = {0, F_OIDLT, F_OIDLE, F_OIDEQ, F_OIDGE, F_OIDGT};

void
rows_key_text(RowScan *scan, int column, int strategy, Slice value)
{
	add_key(scan, column, strategy, text_compare[strategy], C_COLLATION_OID,
			PointerGetDatum(slice_to_text(value)));
}

void
rows_key_int2(RowScan *scan, int column, int strategy, int16 value)
{
	add_key(scan, column, strategy, int2_compare[strategy], InvalidOid,
			Int16GetDatum(value));
}

void
rows_key_int4(RowScan *scan, int column, int strategy, int32 value)
{
	add_key(scan, column, strategy, int4_compare[strategy], InvalidOid,
			Int32GetDatum(value));
}

void
rows_key_int8(RowScan *scan, int column, int strategy, int64 value)
{
	add_key(scan, column, strategy, int8_compare[strategy], InvalidOid,
			Int64GetDatum(value));
}

void
rows_key_timestamp(RowScan *scan, int column, int strategy, TimestampTz value)
{
	add_key(scan, column, strategy, timestamp_compare[strategy], InvalidOid,
			TimestampTzGetDatum(value));
}

void
rows_key_oid(RowScan *scan, int column, int strategy, Oid value)
{
	add_key(scan, column, strategy, oid_compare[strategy], InvalidOid,
			ObjectIdGetDatum(value));
}

void
rows_start(RowScan *scan)
{
	scan->scan = index_beginscan_compat(scan->rel, scan->index,
										scan->snapshot, scan->nkeys);
	index_rescan(scan->scan, scan->keys, scan->nkeys, NULL, 0);
}

void
rows_restart(RowScan *scan)
{
	ExecClearTuple(scan->slot);
	index_rescan(scan->scan, scan->keys, scan->nkeys, NULL, 0);
}

bool
rows_next(RowScan *scan)
{
	return index_getnext_slot(scan->scan, ForwardScanDirection, scan->slot);
}

bool
rows_previous(RowScan *scan)
{
	return index_getnext_slot(scan->scan, BackwardScanDirection, scan->slot);
}

void
rows_end(RowScan *scan)
{
	ExecDropSingleTupleTableSlot(scan->slot);
	if (scan->scan)
		index_endscan(scan->scan);
	if (scan->snapshot != &scan->dirty)
		UnregisterSnapshot(scan->snapshot);
	index_close(scan->index, NoLock);
	table_close(scan->rel, NoLock);
}

bool
rows_look(RowScan *scan, TransactionId *creator)
{
	bool		found;

	rows_start(scan);
	found = rows_next(scan);
	if (creator != NULL)
		*creator = found ? scan->dirty.xmin : InvalidTransactionId;
	rows_end(scan);
	return found;
}

bool
rows_is_ours(const RowScan *scan)
{
	bool		isnull;
	Datum		xmin = slot_getsysattr(scan->slot, MinTransactionIdAttributeNumber, &isnull);

	return TransactionIdIsCurrentTransactionId(DatumGetTransactionId(xmin));
}

TransactionId
rows_in_doubt(const RowScan *scan)
{
	if (scan->snapshot != &scan->dirty)
		return InvalidTransactionId;
	return TransactionIdIsValid(scan->dirty.xmin) ? scan->dirty.xmin : scan->dirty.xmax;
}

/* ----------------------------------------------------------------- columns */

static Datum
column(const RowScan *scan, int attno, bool *isnull)
{
	return slot_getattr(scan->slot, attno, isnull);
}

ItemPointerData
rows_tid(const RowScan *scan)
{
	return scan->slot->tts_tid;
}

bool
rows_is_null(const RowScan *scan, int attno)
{
	bool		isnull;

	(void) column(scan, attno, &isnull);
	return isnull;
}

Datum
rows_datum(const RowScan *scan, int attno, bool *isnull)
{
	return column(scan, attno, isnull);
}

Slice
rows_text(const RowScan *scan, int attno)
{
	bool		isnull;
	Datum		d = column(scan, attno, &isnull);

	if (isnull)
		return SLICE_NONE;
	return slice_of_text(PG_DETOAST_DATUM_PACKED(d));
}

int32
rows_int4(const RowScan *scan, int attno)
{
	bool		isnull;
	Datum		d = column(scan, attno, &isnull);

	return isnull ? 0 : DatumGetInt32(d);
}

int16
rows_int2(const RowScan *scan, int attno)
{
	bool		isnull;
	Datum		d = column(scan, attno, &isnull);

	return isnull ? 0 : DatumGetInt16(d);
}

int64
rows_int8(const RowScan *scan, int attno)
{
	bool		isnull;
	Datum		d = column(scan, attno, &isnull);

	return isnull ? 0 : DatumGetInt64(d);
}

TimestampTz
rows_timestamp(const RowScan *scan, int attno)
{
	bool		isnull;
	Datum		d = column(scan, attno, &isnull);

	return isnull ? 0 : DatumGetTimestampTz(d);
}

bool
rows_bool(const RowScan *scan, int attno)
{
	bool		isnull;
	Datum		d = column(scan, attno, &isnull);

	return isnull ? false : DatumGetBool(d);
}

Jsonb *
rows_jsonb(const RowScan *scan, int attno)
{
	bool		isnull;
	Datum		d = column(scan, attno, &isnull);

	return isnull ? NULL : DatumGetJsonbPCopy(d);
}

void
rows_keep(const RowScan *scan, Datum *values, bool *nulls)
{
	HeapTuple	copy = ExecCopySlotHeapTuple(scan->slot);

	heap_deform_tuple(copy, RelationGetDescr(scan->rel), values, nulls);
}

/* ----------------------------------------------------------------- writing */

RowLock
rows_lock(RowScan *scan, bool wait)
{
	TM_FailureData failure;
	TM_Result	result;
	Snapshot	snapshot = scan->snapshot;
	ItemPointerData tid = scan->slot->tts_tid;

	result = table_tuple_lock(scan->rel, &tid, snapshot, scan->slot,
							  GetCurrentCommandId(false), LockTupleExclusive,
							  wait ? LockWaitBlock : LockWaitSkip,
							  TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure);
	switch (result)
	{
		case TM_Ok:
			return ROW_LOCKED;
		case TM_WouldBlock:
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

/*
 * The executor does not see these writes, so nobody else refuses them in a
 * READ ONLY transaction or in a parallel worker.
 */
static Relation
open_for_writing(StateTable table)
{
	Relation	rel;

	PreventCommandIfReadOnly("a change of the state of clutch");
	PreventCommandIfParallelMode("a change of the state of clutch");
	rel = table_open(rows_table_oid(table), RowExclusiveLock);
	if (RelationGetNumberOfAttributes(rel) != table_columns[table])
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("table clutch.%s has %d columns where %d are expected",
						table_names[table], RelationGetNumberOfAttributes(rel),
						table_columns[table]),
				 errhint("Columns cannot be added to the tables of clutch; keep your own in a table of yours.")));
	return rel;
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
	HeapTuple	tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);
	ItemPointerData tid;

	CatalogTupleInsertWithInfo(rel, tuple, indexes);
	CatalogCloseIndexes(indexes);
	tid = tuple->t_self;
	heap_freetuple(tuple);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	return tid;
}

/* the index entries of a new version that did not stay on its page (HOT) */
static void
insert_index_entries(Relation rel, HeapTuple tuple)
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

		FormIndexDatum(info, slot, NULL, values, nulls);
		index_insert(index, values, nulls, &tuple->t_self, rel,
					 index->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
					 false, info);
	}
	ExecDropSingleTupleTableSlot(slot);
	CatalogCloseIndexes(indexes);
}

/*
 * Nearly every update stays on its page and changes no indexed column; then
 * the indexes are not even opened, which costs more than the update itself.
 */
void
rows_update(StateTable table, ItemPointer tid, Datum *values, bool *nulls)
{
	Relation	rel = open_for_writing(table);
	HeapTuple	tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);

	if (simple_heap_update_compat(rel, tid, tuple))
		insert_index_entries(rel, tuple);
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
rows_delete_first(StateTable table, RowScan *scan)
{
	ItemPointerData tid;
	bool		found;

	rows_start(scan);
	found = rows_next(scan);
	if (found)
		tid = rows_tid(scan);
	rows_end(scan);
	if (found)
		rows_delete(table, &tid);
	return found;
}

void
rows_await(TransactionId xid)
{
	CHECK_FOR_INTERRUPTS();
	XactLockTableWait(xid, NULL, NULL, XLTW_None);
}
