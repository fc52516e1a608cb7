/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  The tables of state, read and written without SQL.
 *
 * The executor and its plans are passed by, and no grant is needed: agents
 * hold none on state, so it is written on nobody's behalf but the
 * extension's.  Triggers, row security and defaults do not apply; the
 * tables have none.
 *
 * Scans go through one index, in its order, on a snapshot the caller chooses:
 *
 *	ROWS_LATEST		what is committed this very moment, and our own work up to
 *					the last command; the isolation level does not matter
 *	ROWS_ACTIVE		what the calling statement sees, for functions that only read
 *	ROWS_DIRTY		also what others have not committed; rows_in_doubt() tells
 *
 * After a write, the next scan sees it: each write ends with
 * CommandCounterIncrement.
 *
 * A row may be changed only after rows_lock answered ROW_LOCKED for it, or
 * when nobody else can know of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ROWS_H
#define CLUTCH_ROWS_H

#include "access/genam.h"
#include "access/htup.h"
#include "access/skey.h"
#include "base/text.h"
#include "datatype/timestamp.h"
#include "utils/jsonb.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* in the order of the names in rows_catalog.c */
typedef enum StateTable
{
	TABLE_EVENTS,				/* reading only */
	TABLE_AGENT_REGISTRY,
	TABLE_GROUP_MEMBER,
	TABLE_AGENT_HEARTBEAT,
	TABLE_AGENT_SLOT,
	TABLE_AGENT_FAILURE,
	TABLE_RETRY_POLICY,
	TABLE_PRINCIPAL,
	TABLE_RUN_SCOPE,
	TABLE_TASK,
	TABLE_READY,
	TABLE_WAITING,
	TABLE_DEPENDENCY,
	TABLE_BUDGET,
	TABLE_SPENDING,
	TABLE_QUESTION,
	TABLE_TIMER,
	TABLE_EPOCH,
	TABLE_SCHEDULE,
	TABLE_SUBSCRIPTION,
	TABLE_SUBSCRIPTION_POSITION,
	NUM_STATE_TABLES
} StateTable;

typedef enum StateIndex
{
	INDEX_EVENTS_PKEY,			/* id, run_id */
	INDEX_EVENTS_SEQ,
	INDEX_EVENTS_TASK_ID,
	INDEX_EVENTS_POSITION,		/* epoch, xid */
	INDEX_EVENTS_IDEMPOTENCY_KEY,	/* idempotency_key, run_id, from_agent */
	INDEX_AGENT_REGISTRY,		/* agent_id */
	INDEX_GROUP_MEMBER,			/* group_id, agent_id */
	INDEX_AGENT_HEARTBEAT,		/* agent_id, generation DESC */
	INDEX_AGENT_SLOT,			/* agent_id, slot_no, generation DESC */
	INDEX_AGENT_FAILURE,		/* agent_id, seq */
	INDEX_RETRY_POLICY,			/* payload_type */
	INDEX_PRINCIPAL,			/* grantee, agent_id */
	INDEX_RUN_SCOPE,			/* run_id */
	INDEX_TASK,					/* task_id */
	INDEX_TASK_RUN_ID,			/* run_id */
	INDEX_TASK_PARENT,			/* parent_task_id */
	INDEX_READY,				/* agent_id, urgency, queue_no */
	INDEX_WAITING,				/* kind, urgency, queue_no */
	INDEX_DEPENDENCY,			/* task_id, after_task_id */
	INDEX_DEPENDENCY_AFTER,		/* after_task_id */
	INDEX_BUDGET,				/* run_id */
	INDEX_SPENDING,				/* run_id, seq */
	INDEX_QUESTION,				/* task_id */
	INDEX_TIMER,				/* due, task_id */
	INDEX_EPOCH,				/* epoch, timeline */
	INDEX_SCHEDULE,				/* name */
	INDEX_SCHEDULE_NEXT_AT,		/* next_at, name */
	INDEX_SUBSCRIPTION,			/* name */
	INDEX_SUBSCRIPTION_POSITION,	/* name, member, generation DESC */
	NUM_STATE_INDEXES
} StateIndex;

typedef enum StateSequence
{
	SEQUENCE_EVENT_SEQ,
	SEQUENCE_QUEUE_NO,
	NUM_STATE_SEQUENCES
} StateSequence;

typedef enum RowSnapshot
{
	ROWS_LATEST,
	ROWS_ACTIVE,
	ROWS_DIRTY
} RowSnapshot;

typedef enum RowLock
{
	ROW_LOCKED,					/* ours; the columns are its newest version's */
	ROW_GONE,					/* deleted meanwhile */
	ROW_BUSY					/* somebody else has it (skip only) */
} RowLock;

#define ROWS_MAX_KEYS	3

typedef struct RowScan
{
	StateTable	table;
	Relation	rel;
	Relation	index;
	IndexScanDesc scan;
	struct TupleTableSlot *slot;
	Snapshot	snapshot;
	SnapshotData dirty;
	int64		dead;			/* index entries of rows that nobody sees any more */
	int			nkeys;
	ScanKeyData keys[ROWS_MAX_KEYS];
} RowScan;

/* --- rows_catalog.c: the relations of the schema, by name looked up once --- */

/* how many columns clutch fills */
extern int	rows_columns(StateTable table);
extern const char *rows_table_name(StateTable table);
extern Oid	rows_table_oid(StateTable table);
/* opened and locked */
extern Relation rows_open(StateTable table, LOCKMODE lock);
extern Oid	rows_index_oid(StateIndex index);
extern int64 rows_nextval(StateSequence sequence);
/* who owns the extension */
extern Oid	rows_owner(void);

/* --- rows.c --- */

/*
 * Scanning: begin, any keys (in the order of the index; strategy is a
 * BT*StrategyNumber), start, next until false, end.  column is 1-based in
 * the index.
 */
extern void rows_begin(RowScan *scan, StateTable table, StateIndex index,
					   RowSnapshot which, LOCKMODE lock);
extern void rows_key_text(RowScan *scan, int column, int strategy, Slice value);
extern void rows_key_int2(RowScan *scan, int column, int strategy, int16 value);
extern void rows_key_int4(RowScan *scan, int column, int strategy, int32 value);
extern void rows_key_int8(RowScan *scan, int column, int strategy, int64 value);
extern void rows_key_xid8(RowScan *scan, int column, int strategy, uint64 value);
extern void rows_key_timestamp(RowScan *scan, int column, int strategy, TimestampTz value);
extern void rows_key_oid(RowScan *scan, int column, int strategy, Oid value);
extern void rows_start(RowScan *scan);
/* (begin again) with other keys, always as many: set nkeys and keys first */
extern void rows_restart(RowScan *scan);
extern bool rows_next(RowScan *scan);
extern bool rows_previous(RowScan *scan);	/* from the other end */
extern void rows_end(RowScan *scan);

/*
 * Instead of start ... end: is there a row?  *creator (or NULL; ROWS_DIRTY):
 * the transaction, not our own, that is inserting it; invalid: no doubt.
 */
extern bool rows_look(RowScan *scan, TransactionId *creator);

/*
 * ROWS_DIRTY: the transaction, not our own, whose end will tell whether the
 * current row is there (it inserts or deletes it); invalid: no doubt.
 */
extern TransactionId rows_in_doubt(const RowScan *scan);

/* did the current transaction write the current row? */
extern bool rows_is_ours(const RowScan *scan);

/* where the current row is */
extern ItemPointerData rows_tid(const RowScan *scan);

/* columns of the current row, by attribute number; slices point into it */
extern Datum rows_datum(const RowScan *scan, int attno, bool *isnull);
extern bool rows_is_null(const RowScan *scan, int attno);
extern Slice rows_text(const RowScan *scan, int attno); /* absent when null */
extern int32 rows_int4(const RowScan *scan, int attno); /* 0 when null */
extern int16 rows_int2(const RowScan *scan, int attno);
extern int64 rows_int8(const RowScan *scan, int attno);
extern TimestampTz rows_timestamp(const RowScan *scan, int attno);
extern bool rows_bool(const RowScan *scan, int attno);
extern Jsonb *rows_jsonb(const RowScan *scan, int attno);	/* detoasted */

/*
 * Instead of start ... end: a text column of all rows, added to a List of
 * Slice * (slice_list_add); NULLs are left out.
 */
extern List *rows_list_texts(RowScan *scan, int attno, List *list);

/*
 * The whole current row, copied into the current context: what it points to
 * outlives the scan.
 */
extern void rows_keep(const RowScan *scan, Datum *values, bool *nulls);

/* --- rows_write.c --- */

/*
 * How a row is locked.  Naming it conflicts with its end alone, so that who
 * refers to a row keeps nobody from changing it.
 */
typedef enum RowLockMode
{
	ROW_LOCK_NAME,				/* it stays, but others may change it */
	ROW_LOCK_CHANGE,			/* but not its key */
	ROW_LOCK_END				/* deleted, or not to be named any more */
} RowLockMode;

/*
 * wait false: ROW_BUSY instead of waiting for another transaction.  With wait
 * true, 55P03 where base/wait forbids to wait.
 */
extern RowLock rows_lock(RowScan *scan, RowLockMode mode, bool wait);

/* a row of that table, which may have dropped columns behind clutch's own */
extern HeapTuple rows_form(StateTable table, TupleDesc desc, Datum *values, bool *nulls);
extern ItemPointerData rows_insert(StateTable table, Datum *values, bool *nulls);
/*
 * There for all at once, and also if this transaction comes to nothing, as
 * what a sequence has given: for facts that others may rely on already.
 */
extern void rows_insert_for_good(StateTable table, Datum *values, bool *nulls);
/* a locked row, by its place; tid becomes that of the new version */
extern void rows_update(StateTable table, ItemPointer tid, Datum *values, bool *nulls);
extern void rows_delete(StateTable table, ItemPointer tid);
/*
 * Instead of start ... end: deletes the first row, which nobody else may be
 * changing; false if there is none.
 */
extern bool rows_delete_first(RowScan *scan);

#endif							/* CLUTCH_ROWS_H */
