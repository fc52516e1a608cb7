/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  Reading and writing the tables of the schema without SQL.
 *
 * These functions use the heap and its indexes directly, without the executor and without plans.
 * They check no privileges: agents hold none on the state of the extension, which is written only
 * on behalf of the extension.  Triggers, row security and defaults do not apply; the state tables
 * have none. clutch.events is written through this only by store/event.c, which takes care of its
 * triggers.
 *
 * A scan goes through one index, in the order of that index, and sees the rows of a snapshot:
 *
 *	ROWS_LATEST		what is committed at this very moment, and what the current transaction has
 *					written; independent of the isolation level
 *	ROWS_ACTIVE		what the calling statement sees, for functions that only read
 *	ROWS_DIRTY		in addition, what other transactions have not committed yet; rows_in_doubt()
 *					tells
 *
 * Each write ends with CommandCounterIncrement, so that the next scan sees it.
 *
 * A row may be changed only after rows_lock has returned ROW_LOCKED for it, or if no other
 * transaction can know of it.
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
#include "utils/date.h"
#include "utils/jsonb.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/*
 * The tables: X(name of the constant, name in SQL, number of columns).
 *
 * If a row were formed with fewer columns than the table has, reading it would run past its end.
 * The room that owns a table defines its columns as Anum_<table>_<column> and checks their
 * number by ROWS_CHECK_COLUMNS.
 */
#define STATE_TABLES(X) \
	X(EVENTS, "events", 20) \
	X(AGENT_REGISTRY, "agent_registry", 7) \
	X(GROUP_MEMBER, "group_member", 2) \
	X(AGENT_HEARTBEAT, "agent_heartbeat", 3) \
	X(AGENT_SLOT, "agent_slot", 7) \
	X(AGENT_FAILURE, "agent_failure", 5) \
	X(AGENT_KEY, "agent_key", 7) \
	X(PAUSE, "pause", 5) \
	X(RETRY_POLICY, "retry_policy", 5) \
	X(PAYLOAD_TYPE, "payload_type", 9) \
	X(PRINCIPAL, "principal", 6) \
	X(PRIVILEGE, "privilege", 3) \
	X(QUOTA, "quota", 3) \
	X(QUOTA_REFUSAL, "quota_refusal", 2) \
	X(TRAFFIC, "traffic", 4) \
	X(OPEN_WORK, "open_work", 4) \
	X(RUN_SCOPE, "run_scope", 2) \
	X(RUN_VISIBILITY, "run_visibility", 2) \
	X(PARTICIPANT, "participant", 2) \
	X(SECRET, "secret", 2) \
	X(TASK, "task", 47) \
	X(READY, "ready", 7) \
	X(WAITING, "waiting", 7) \
	X(DEPENDENCY, "dependency", 4) \
	X(BUDGET, "budget", 6) \
	X(SPENDING, "spending", 6) \
	X(SPENDING_TOTAL, "spending_total", 5) \
	X(QUESTION, "question", 2) \
	X(SUSPENDED, "suspended", 2) \
	X(STEP, "step", 3) \
	X(AWAITED, "awaited", 2) \
	X(TIMER, "timer", 3) \
	X(EXPIRY, "expiry", 5) \
	X(CONSEQUENCE, "consequence", 7) \
	X(EPOCH, "epoch", 5) \
	X(SCHEDULE, "schedule", 11) \
	X(SUBSCRIPTION, "subscription", 5) \
	X(SUBSCRIPTION_POSITION, "subscription_position", 9) \
	X(CHECKPOINT, "checkpoint", 7) \
	X(CHECKPOINT_SIGNATURE, "checkpoint_signature", 5) \
	X(TREE_HASH, "tree_hash", 3) \
	X(WORKFLOW, "workflow", 5) \
	X(RUN_WORKFLOW, "run_workflow", 3) \
	X(WORKFLOW_TASK, "workflow_task", 6) \
	X(ARTIFACT, "artifact", 5) \
	X(ARTIFACT_CHUNK, "artifact_chunk", 3) \
	X(ARTIFACT_UPLOAD, "artifact_upload", 5) \
	X(ARTIFACT_OWNER, "artifact_owner", 2) \
	X(ARTIFACT_USE, "artifact_use", 3) \
	X(ADAPTER, "adapter", 7) \
	X(ROUTING_RULE, "routing_rule", 14) \
	X(ENDPOINT, "endpoint", 16) \
	X(ENDPOINT_SECRET, "endpoint_secret", 2) \
	X(OUTBOX, "outbox", 21)

#define STATE_TABLE_CONSTANT(constant, name, columns)	TABLE_##constant,
typedef enum StateTable
{
	STATE_TABLES(STATE_TABLE_CONSTANT)
	NUM_STATE_TABLES
} StateTable;

#define STATE_TABLE_COLUMNS(constant, name, columns)	COLUMNS_##constant = (columns),
enum
{
	STATE_TABLES(STATE_TABLE_COLUMNS)
};

#define ROWS_CHECK_COLUMNS(natts, constant) \
	StaticAssertDecl((int) (natts) == (int) COLUMNS_##constant, \
					 "number of columns of TABLE_" #constant)

/* The indexes that are scanned: X(name of the constant, name in SQL). */
#define STATE_INDEXES(X) \
	X(EVENTS_PKEY, "events_pkey")	/* id, run_id */ \
	X(EVENTS_SEQ, "events_seq") \
	X(EVENTS_RUN_ID, "events_run_id") \
	X(EVENTS_THREAD_ID, "events_thread_id") \
	X(EVENTS_TASK_ID, "events_task_id") \
	X(EVENTS_FROM_AGENT, "events_from_agent")	/* from_agent, run_id */ \
	X(EVENTS_POSITION, "events_position")	/* epoch, xid */ \
	X(EVENTS_IDEMPOTENCY_KEY, "events_idempotency_key") /* idempotency_key, run_id, from_agent */ \
	X(AGENT_REGISTRY, "agent_registry_pkey")	/* agent_id */ \
	X(GROUP_MEMBER, "group_member_pkey")	/* group_id, agent_id */ \
	X(AGENT_HEARTBEAT, "agent_heartbeat_key")	/* agent_id, generation DESC */ \
	X(AGENT_SLOT, "agent_slot_key") /* agent_id, slot_no, generation DESC */ \
	X(AGENT_FAILURE, "agent_failure_pkey")	/* agent_id, seq */ \
	X(AGENT_KEY, "agent_key_pkey")	/* agent_id, kid */ \
	X(PAUSE, "pause_pkey")	/* what */ \
	X(RETRY_POLICY, "retry_policy_pkey")	/* payload_type */ \
	X(PAYLOAD_TYPE, "payload_type_pkey")	/* payload_type, version */ \
	X(PAYLOAD_TYPE_SCHEMA_ID, "payload_type_schema_id")	/* schema_id, version */ \
	X(PRINCIPAL, "principal_pkey")	/* grantee, agent_id */ \
	X(PRIVILEGE, "privilege_pkey")	/* grantee, privilege */ \
	X(QUOTA, "quota_pkey")	/* grantee, what */ \
	X(QUOTA_REFUSAL, "quota_refusal_pkey")	/* what */ \
	X(TRAFFIC, "traffic_key")	/* grantee, minute */ \
	X(OPEN_WORK, "open_work_pkey")	/* grantee, what, task_id, seq */ \
	X(OPEN_WORK_SEQ, "open_work_seq") \
	X(RUN_SCOPE, "run_scope_pkey")	/* run_id */ \
	X(RUN_SCOPE_SCOPE, "run_scope_scope")	/* scope, run_id */ \
	X(RUN_VISIBILITY, "run_visibility_pkey")	/* run_id */ \
	X(RUN_VISIBILITY_WORD, "run_visibility_word")	/* visibility, run_id */ \
	X(PARTICIPANT, "participant_key")	/* name, run_id */ \
	X(PARTICIPANT_RUN, "participant_run")	/* run_id */ \
	X(SECRET, "secret_key")	/* made_at */ \
	X(TASK, "task_pkey")	/* task_id */ \
	X(TASK_RUN_ID, "task_run_id")	/* run_id, request_seq */ \
	X(TASK_PARENT, "task_parent_task_id") \
	X(READY, "ready_pkey")	/* agent_id, urgency, queue_no */ \
	X(WAITING, "waiting_pkey")	/* kind, urgency, queue_no */ \
	X(WAITING_FROM_AGENT, "waiting_from_agent") /* from_agent, kind */ \
	X(DEPENDENCY, "dependency_pkey")	/* task_id, after_task_id */ \
	X(DEPENDENCY_AFTER, "dependency_after_task_id") \
	X(DEPENDENCY_UNKNOWN, "dependency_unknown")	/* task_id, where unknown_since IS NOT NULL */ \
	X(BUDGET, "budget_pkey")	/* run_id */ \
	X(SPENDING, "spending_pkey")	/* run_id, agent_id, day, seq */ \
	X(SPENDING_TOTAL, "spending_total_pkey")	/* run_id, agent_id, day */ \
	X(QUESTION, "question_pkey")	/* task_id */ \
	X(SUSPENDED, "suspended_pkey")	/* task_id */ \
	X(STEP, "step_pkey")	/* task_id, name */ \
	X(AWAITED, "awaited_pkey")	/* run_id, task_id */ \
	X(TIMER, "timer_pkey")	/* due, task_id */ \
	X(EXPIRY, "expiry_pkey")	/* due, seq */ \
	X(EXPIRY_ID, "expiry_id")	/* id, run_id */ \
	X(CONSEQUENCE, "consequence_pkey") /* no */ \
	X(EPOCH, "epoch_key")	/* epoch, timeline */ \
	X(SCHEDULE, "schedule_pkey")	/* owner, name */ \
	X(SCHEDULE_NEXT_AT, "schedule_next_at") /* next_at, name, owner */ \
	X(SUBSCRIPTION, "subscription_pkey")	/* owner, name */ \
	X(SUBSCRIPTION_POSITION, "subscription_position_key")	/* owner, name, member, generation DESC */ \
	X(CHECKPOINT, "checkpoint_pkey")	/* size */ \
	X(CHECKPOINT_SIGNATURE, "checkpoint_signature_pkey")	/* size, signer */ \
	X(TREE_HASH, "tree_hash_pkey")	/* height, first_index */ \
	X(WORKFLOW, "workflow_pkey")	/* name, version */ \
	X(RUN_WORKFLOW, "run_workflow_pkey")	/* run_id */ \
	X(WORKFLOW_TASK, "workflow_task_pkey")	/* task_id */ \
	X(WORKFLOW_TASK_RUN, "workflow_task_run")	/* run_id, step, met_seq */ \
	X(ARTIFACT, "artifact_pkey")	/* digest */ \
	X(ARTIFACT_UPLOADED_AT, "artifact_uploaded_at")	/* uploaded_at, digest */ \
	X(ARTIFACT_CHUNK, "artifact_chunk_pkey")	/* content_no, first_byte */ \
	X(ARTIFACT_UPLOAD, "artifact_upload_pkey")	/* content_no */ \
	X(ARTIFACT_OWNER, "artifact_owner_pkey")	/* digest, owner */ \
	X(ARTIFACT_OWNER_OWNER, "artifact_owner_owner")	/* owner, digest */ \
	X(ARTIFACT_UPLOAD_OWNER, "artifact_upload_owner")	/* owner */ \
	X(ARTIFACT_USE, "artifact_use_pkey")	/* seq, digest */ \
	X(ARTIFACT_USE_DIGEST, "artifact_use_digest")	/* digest */ \
	X(ADAPTER_PLACE, "adapter_place")	/* place, name */ \
	X(ROUTING_RULE, "routing_rule_pkey")	/* name */ \
	X(ENDPOINT, "endpoint_pkey")	/* name */ \
	X(ENDPOINT_SECRET, "endpoint_secret_pkey")	/* name */ \
	X(OUTBOX_ID, "outbox_id")	/* id */ \
	X(OUTBOX_DUE, "outbox_due")	/* due_at, no, where due_at IS NOT NULL */ \
	X(OUTBOX_ENDPOINT_DUE, "outbox_endpoint_due")	/* endpoint, due_at, no, where due_at IS NOT NULL */ \
	X(OUTBOX_REMOVE_AT, "outbox_remove_at")	/* remove_at, where it IS NOT NULL */

#define STATE_INDEX_CONSTANT(constant, name)	INDEX_##constant,
typedef enum StateIndex
{
	STATE_INDEXES(STATE_INDEX_CONSTANT)
	NUM_STATE_INDEXES
} StateIndex;

typedef enum StateSequence
{
	SEQUENCE_EVENT_SEQ,
	SEQUENCE_QUEUE_NO,
	SEQUENCE_LAST_TICK,
	SEQUENCE_COPY_BEGUN,
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
	ROW_LOCKED,					/* the scan is now on the newest version of the row */
	ROW_GONE,					/* it has been deleted in the meantime */
	ROW_BUSY					/* another transaction holds it, and wait is false */
} RowLock;

#define ROWS_MAX_KEYS	4

typedef struct RowScan
{
	StateTable	table;
	StateIndex	index_id;
	RowSnapshot which;
	LOCKMODE	lock;
	MemoryContext context;		/* the current context of rows_begin */
	Relation	rel;			/* NULL if the table has no pages */
	Relation	index;			/* this and the next three are NULL until it starts */
	IndexScanDesc scan;
	struct TupleTableSlot *slot;
	Snapshot	snapshot;
	SnapshotData dirty;
	ItemPointerData place;		/* the place to which the index entry of the current row points */
	int64		dead;			/* index entries so far of rows that the snapshot does not see */
	int64		most_dead;		/* the scan ends after so many; may be set after rows_begin */
	int			nkeys;
	ScanKeyData keys[ROWS_MAX_KEYS];
} RowScan;

/* --- rows_catalog.c: finding and opening the relations of the schema --- */

extern const char *rows_table_name(StateTable table);
extern Oid	rows_table_oid(StateTable table);

/* Returns false if this transaction has dropped the extension. */
extern bool rows_table_is_there(StateTable table);

/*
 * Opens and locks a table.  Close it with NoLock, because the lock is kept until the transaction
 * ends.  A transaction that has written, or has called rows_expect_writing, locks what it reads as
 * if it wrote there, because it usually will; rows_expect_reading ends this.
 */
extern Relation rows_open(StateTable table, LOCKMODE lock);
extern void rows_expect_writing(void);
extern void rows_expect_reading(void);

/*
 * Returns the next number of a sequence.  The transaction has an ID before that,
 * so when all transactions that have one now are over, the rows of all numbers
 * that have been drawn by now can be seen, or never will be.
 */
extern int64 rows_nextval(StateSequence sequence);

/*
 * Get and set a sequence, used as a number that is not transactional, and not as a source of
 * numbers.  rows_sequence_get returns 0 if it has never been set.
 */
extern int64 rows_sequence_get(StateSequence sequence);
extern void rows_sequence_set(StateSequence sequence, int64 value);

/*
 * Has the table ever had a row, since it was created or truncated?  This costs less than a scan.
 * It may return false for a table that VACUUM, VACUUM FULL or a restore has left without pages,
 * unless it has vacuum_truncate off.
 */
extern bool rows_table_was_used(StateTable table);

/* Returns the role that owns the extension. */
extern Oid	rows_owner(void);

/* --- rows.c --- */

/*
 * A scan is rows_begin, then keys in the order of the index, rows_start,
 * rows_next until it returns false, and rows_end.  column counts from 1 within
 * the index; strategy is one of BTLessStrategyNumber and so on.
 */
extern void rows_begin(RowScan *scan, StateTable table, StateIndex index,
					   RowSnapshot which, LOCKMODE lock);
extern void rows_key_text(RowScan *scan, int column, int strategy, Slice value);
extern void rows_key_int2(RowScan *scan, int column, int strategy, int16 value);
extern void rows_key_int4(RowScan *scan, int column, int strategy, int32 value);
extern void rows_key_int8(RowScan *scan, int column, int strategy, int64 value);
extern void rows_key_xid8(RowScan *scan, int column, int strategy, uint64 value);
extern void rows_key_timestamp(RowScan *scan, int column, int strategy, TimestampTz value);
extern void rows_key_date(RowScan *scan, int column, int strategy, DateADT value);
extern void rows_key_oid(RowScan *scan, int column, int strategy, Oid value);
extern void rows_start(RowScan *scan);

/* Starts again with other keys, or for the first time.  The caller sets nkeys to 0 and adds as many keys as before. */
extern void rows_restart(RowScan *scan);
extern bool rows_next(RowScan *scan);

/*
 * Replaces rows_start and the first rows_next for a caller that remembers where the index entry
 * of a row points (scan->place), or where the row was inserted.  There may be another row by now,
 * or none.  Returns false unless the snapshot sees a row there whose column attno has this text;
 * the caller may then start the scan after all.
 */
extern bool rows_fetch(RowScan *scan, ItemPointerData place, int attno, Slice text);
extern bool rows_previous(RowScan *scan);	/* backwards, from the last row */

/*
 * The same as rows_next, but skips rows with the value of the current one in the bigint column
 * attno.  The last key must be its lower bound, and is replaced when a new descent is worthwhile.
 */
extern bool rows_next_value(RowScan *scan, int attno);
extern void rows_end(RowScan *scan);

/*
 * Does everything from rows_start to rows_end.  Returns whether there is a row.  With ROWS_DIRTY,
 * *creator (or NULL) is set to the transaction that is inserting it, or to InvalidTransactionId.
 */
extern bool rows_look(RowScan *scan, TransactionId *creator);

/*
 * Returns true if a page of the index shows that no transaction has inserted a row with this text
 * in its first column.  Otherwise, only a scan, which costs more, can tell.
 */
extern bool rows_lacks_text(StateTable table, StateIndex index, LOCKMODE lock, Slice text);

/* The same as rows_look, but returns a column of the first row, or DT_NOEND if there is no row. */
extern TimestampTz rows_look_timestamp(RowScan *scan, int attno);

/*
 * Returns a random number between those that the first and the last row have in
 * the column, by which the index is ordered.  Returns 0 if there is at most one
 * row.  This is where a session begins that may be short: what stands first may
 * have to stay, and all sessions would try the same.
 */
extern int64 rows_look_anywhere(StateTable table, StateIndex index, int attno);

/*
 * With ROWS_DIRTY, returns the other transaction that is inserting or deleting the current row,
 * and whose end decides whether the row exists.  Otherwise returns InvalidTransactionId.
 */
extern TransactionId rows_in_doubt(const RowScan *scan);

/* Has the current transaction written the current row? */
extern bool rows_is_ours(const RowScan *scan);

/* With ROWS_DIRTY: is another open transaction inserting, or deleting or replacing, this version of the row? */
extern bool rows_is_being_inserted(const RowScan *scan);
extern bool rows_is_being_deleted(const RowScan *scan);

/* Returns the place of the current row. */
extern ItemPointerData rows_tid(const RowScan *scan);

/*
 * Return columns of the current row.  NULL is returned as an absent Slice, 0, false or a NULL
 * pointer.  Slices point into the row, and are valid until the next rows_next, rows_restart or
 * rows_end; a value that was compressed or stored out of line is palloc'd in the current context.
 */
extern Datum rows_datum(const RowScan *scan, int attno, bool *isnull);
extern bool rows_is_null(const RowScan *scan, int attno);
extern Slice rows_text(const RowScan *scan, int attno);
extern Slice rows_text_copy(const RowScan *scan, int attno);	/* palloc'd; absent if it is NULL */
extern int32 rows_int4(const RowScan *scan, int attno);
extern int16 rows_int2(const RowScan *scan, int attno);
extern int64 rows_int8(const RowScan *scan, int attno);
extern TimestampTz rows_timestamp(const RowScan *scan, int attno);
extern uint64 rows_xid8(const RowScan *scan, int attno);
extern Oid	rows_oid(const RowScan *scan, int attno);
extern bool rows_bool(const RowScan *scan, int attno);
extern SliceList rows_texts_copy(const RowScan *scan, int attno);	/* of text[], palloc'd; empty if it is NULL */
extern Jsonb *rows_jsonb(const RowScan *scan, int attno);	/* a detoasted copy */
/* Copies the n bytes of a bytea, or zeros if somebody has written one of another length. */
extern void rows_bytes(const RowScan *scan, int attno, uint8 *to, int n);

/*
 * Does everything between rows_start and rows_end, and returns a text column of each row as a List
 * of Slice *, omitting NULLs.
 */
extern List *rows_list_texts(RowScan *scan, int attno);

/* Returns the different texts in the column by which the index is ordered first, in that order. */
extern List *rows_list_different_texts(StateTable table, StateIndex index, int attno);

/*
 * Copies the whole current row into the current memory context, and returns the copy.  The arrays
 * must have one element for each column that clutch fills.
 */
extern HeapTuple rows_keep(const RowScan *scan, Datum *values, bool *nulls);

/* --- rows_write.c --- */

/* Raises 25006 in a read-only transaction.  Called by all functions below that write. */
extern void rows_require_writable(void);

typedef enum RowLockMode
{
	ROW_LOCK_NAME,				/* others may change the row, but not its key */
	ROW_LOCK_CHANGE,			/* for changing the row, but not its key */
	ROW_LOCK_END				/* for deleting the row, or keeping others from referring to it */
} RowLockMode;

/*
 * Locks the current row.  If another transaction holds it, waits for that transaction (or raises
 * 55P03 where base/wait forbids waiting), or returns ROW_BUSY if wait is false.
 */
extern RowLock rows_lock(RowScan *scan, RowLockMode mode, bool wait);

/* Has another transaction certainly locked the current row?  It may even if this returns false. */
extern bool rows_is_locked(const RowScan *scan);

/*
 * Forms a tuple of the table, which may have dropped columns after those that clutch fills.
 * Raises an error if it has other additional columns.
 */
extern HeapTuple rows_form(StateTable table, TupleDesc desc, Datum *values, bool *nulls);
/* Inserts a row, and returns its place. */
extern ItemPointerData rows_insert(StateTable table, Datum *values, bool *nulls);

/*
 * Runs a function whose writes become visible to this transaction only when it has returned, and
 * which must not write any row twice.  For a transaction that writes millions of rows more than
 * once, because the server remembers each pair of commands that have created and replaced a row.
 */
extern void rows_batch(void (*write) (void *arg), void *arg);

/*
 * Can rows be inserted into the table, which is open for writing?  They cannot if a user has
 * added an index with an expression, or with another condition than IS NOT NULL; rows_insert and
 * rows_update would then raise an error.
 */
extern bool rows_indexes_are_simple(StateTable table, Relation rel);

/* Changes a locked row.  *tid is set to the place of the new version. */
extern void rows_update(StateTable table, ItemPointer tid, Datum *values, bool *nulls);

/* a row as rows_keep has copied it, in this version or an earlier one */
typedef struct KeptRow
{
	HeapTuple	tuple;
	Datum	   *values;
	bool	   *nulls;
} KeptRow;

/*
 * The same as rows_update, but takes what is unchanged from the kept row.  A value that is passed
 * by reference counts as unchanged only if it is the very one in the kept row.
 */
extern void rows_update_kept(StateTable table, ItemPointer tid, const KeptRow *kept,
							 Datum *values, bool *nulls);

/* Deletes a locked row. */
extern void rows_delete(StateTable table, ItemPointer tid);
/* The same for a row that is not locked: returns false if another transaction holds or has deleted it. */
extern bool rows_delete_if_free(StateTable table, ItemPointer tid);

/*
 * Does everything between rows_start and rows_end, and deletes the first row, which no other
 * transaction may be changing.  Returns false if there is no row.
 */
extern bool rows_delete_first(RowScan *scan);

/* --- rows_in_place.c --- */

/*
 * Sets integer columns of the row whose first column is the key, in place: visible to everybody
 * at once, and not undone by a rollback.  The columns must not be null and must not be in an
 * index.  The caller must make sure that no other transaction changes the row meanwhile.
 */
extern void rows_set_in_place(StateTable table, StateIndex index, Slice key, const int *columns,
						   const int32 *numbers, int n);

/*
 * Adds 1 to a bigint column of the row whose first column is the key, in the same way.  Several
 * transactions may do so at once, and each is counted; nothing else may change the row.  Does
 * nothing if there is no such row.
 */
extern void rows_count_in_place(StateTable table, StateIndex index, Slice key, int column);

#endif							/* CLUTCH_ROWS_H */
