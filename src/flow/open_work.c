/*-------------------------------------------------------------------------
 *
 * open_work.c
 *	  Counting the open requests and steps of roles that have a quota for them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/column.h"
#include "base/memo.h"
#include "flow/open_work.h"
#include "miscadmin.h"
#include "task/task.h"
#include "trust/principal.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* columns of clutch.open_work */
enum
{
	Anum_open_work_grantee = 1,
	Anum_open_work_what,
	Anum_open_work_task_id,
	Anum_open_work_seq,
	Natts_open_work = Anum_open_work_seq
};

ROWS_CHECK_COLUMNS(Natts_open_work, OPEN_WORK);

static void
open_work_key(RowScan *scan, Oid role, QuotaKind kind)
{
	rows_key_oid(scan, 1, BTEqualStrategyNumber, role);
	rows_key_text(scan, 2, BTEqualStrategyNumber, slice_of_cstring(quota_kind_name(kind)));
}

/* ----------------------------------------------------------------- counting */

/*
 * Does the row count?  One that another transaction is inserting does, because
 * its task cannot be looked at yet.  With ROWS_DIRTY, rows of tasks that are
 * over are removed.
 */
static bool
open_work_counts(const RowScan *scan)
{
	ItemPointerData tid;

	if (rows_is_being_deleted(scan))
		return false;
	if (rows_is_being_inserted(scan) || task_is_open(rows_text(scan, Anum_open_work_task_id)))
		return true;
	tid = rows_tid(scan);
	if (scan->which == ROWS_DIRTY)
		(void) rows_delete_if_free(TABLE_OPEN_WORK, &tid);
	return false;
}

/* The same, freeing the memory that is used for a row. */
static bool
open_work_counts_in(MemoryContext each, const RowScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(each);
	bool		counts = open_work_counts(scan);

	MemoryContextSwitchTo(old);
	MemoryContextReset(each);
	return counts;
}

int64
open_work_of_role(Oid role, QuotaKind kind)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch open work",
											   ALLOCSET_SMALL_SIZES);
	int64		n = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_OPEN_WORK, INDEX_OPEN_WORK, ROWS_ACTIVE, AccessShareLock);
	open_work_key(&scan, role, kind);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		n += open_work_counts_in(each, &scan);
	}
	rows_end(&scan);
	MemoryContextDelete(each);
	return n;
}

/* Counts the rows, also those of tasks that are over, without looking at the tasks. */
static int64
open_work_rows(Oid role, QuotaKind kind)
{
	int64		n = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_OPEN_WORK, INDEX_OPEN_WORK, ROWS_DIRTY, RowExclusiveLock);
	open_work_key(&scan, role, kind);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		n += !rows_is_being_deleted(&scan);
	}
	rows_end(&scan);
	return n;
}

/*
 * Returns how many count, or, if these are not more than the limit, a number
 * between theirs and the limit.  Tasks cost more to look at than rows, so only as
 * many are looked at as it takes to find enough that are over.  The oldest come
 * first if the IDs of tasks are generated, and are usually over first.
 */
static int64
open_work_count_beyond(Oid role, QuotaKind kind, int64 limit)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch open work",
											   ALLOCSET_SMALL_SIZES);
	int64		n = open_work_rows(role, kind);
	RowScan		scan;

	rows_begin(&scan, TABLE_OPEN_WORK, INDEX_OPEN_WORK, ROWS_DIRTY, RowExclusiveLock);
	open_work_key(&scan, role, kind);
	rows_start(&scan);
	while (n > limit && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (!rows_is_being_deleted(&scan))
			n -= !open_work_counts_in(each, &scan);
	}
	rows_end(&scan);
	MemoryContextDelete(each);
	return n;
}

/* ------------------------------------------------------------------- adding */

/*
 * What a backend has counted, and what the newest event was.  Whatever has
 * been added since has its own seq.  So until the whole log has as many new
 * events as are left to the limit, the limit cannot have been reached, and
 * nothing need be counted again.
 */
typedef struct OpenWorkMemo
{
	uint64		key;
	int64		n;
	int64		seq;
} OpenWorkMemo;

#define MOST_REMEMBERED		1024

/*
 * Raises an error if the role has more open work than its limit allows,
 * including what was added as event seq, whose row has been inserted already.
 */
static void
open_work_check(const QuotaLimits *limits, Oid role, QuotaKind kind, int64 seq, const char *place)
{
	static HTAB *memory = NULL;
	uint64		key = (uint64) role * NUM_QUOTA_KINDS + kind;
	OpenWorkMemo *memo;
	bool		found;
	int64		n;

	memory = memo_table(memory, "clutch open work", sizeof(OpenWorkMemo), MOST_REMEMBERED);
	memo = hash_search(memory, &key, HASH_FIND, NULL);
	if (memo != NULL && seq >= memo->seq && memo->n + (seq - memo->seq) <= limits->of[kind])
		return;
	n = open_work_count_beyond(role, kind, limits->of[kind]);
	quota_check(limits, kind, n, 1, 0, place);
	memo = hash_search(memory, &key, HASH_ENTER, &found);
	memo->n = n;
	memo->seq = seq;
}

static void
open_work_insert(Oid role, QuotaKind kind, Slice task_id, int64 seq)
{
	Datum		values[Natts_open_work];
	bool		nulls[Natts_open_work] = {0};

	values[Anum_open_work_grantee - 1] = ObjectIdGetDatum(role);
	column_put_text(values, nulls, Anum_open_work_what, slice_of_cstring(quota_kind_name(kind)));
	column_put_text(values, nulls, Anum_open_work_task_id, task_id);
	values[Anum_open_work_seq - 1] = Int64GetDatum(seq);
	(void) rows_insert(TABLE_OPEN_WORK, values, nulls);
}

/* Removes the rows that the scan finds with its keys, and ends it. */
static void
open_work_remove_rows(RowScan *scan)
{
	rows_start(scan);
	while (rows_next(scan))
	{
		ItemPointerData tid = rows_tid(scan);

		(void) rows_delete_if_free(TABLE_OPEN_WORK, &tid);
	}
	rows_end(scan);
}

/*
 * Removes rows from an earlier life of the task, which is over and has been
 * pruned, or is being revived.
 */
static void
open_work_remove_task(Oid role, QuotaKind kind, Slice task_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_OPEN_WORK, INDEX_OPEN_WORK, ROWS_LATEST, RowExclusiveLock);
	open_work_key(&scan, role, kind);
	rows_key_text(&scan, 3, BTEqualStrategyNumber, task_id);
	open_work_remove_rows(&scan);
}

/* Removes the row of a request or of a revival, given its event, from whichever role has it. */
static void
open_work_remove_request(int64 seq)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_OPEN_WORK, INDEX_OPEN_WORK_SEQ, ROWS_LATEST, RowExclusiveLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, seq);
	open_work_remove_rows(&scan);
}

/*
 * Inserts the row first and checks the limit afterwards, so that of two
 * transactions that insert at the same time, at least one sees the row of the
 * other.
 */
static void
open_work_add(QuotaKind kind, Slice task_id, int64 seq, const char *place)
{
	const QuotaLimits *limits = quota_limits(QUOTA_BIT(kind));
	Oid			role;

	if (limits == NULL)
		return;
	role = principal_role();
	if (kind == QUOTA_OPEN_REQUESTS)
		open_work_remove_task(role, kind, task_id);
	open_work_insert(role, kind, task_id, seq);
	open_work_check(limits, role, kind, seq, place);
}

void
open_work_add_request(Slice task_id, int64 seq, const char *place)
{
	open_work_add(QUOTA_OPEN_REQUESTS, task_id, seq, place);
}

void
open_work_take_over(Slice task_id, int64 former_seq, int64 seq, const char *place)
{
	open_work_remove_request(former_seq);
	open_work_add_request(task_id, seq, place);
}

void
open_work_add_step(Slice task_id, int64 seq)
{
	open_work_add(QUOTA_STEPS, task_id, seq, "/meta/clutch/step");
}

/* ----------------------------------------------------------------- sweeping */

/* After a pass over all rows, a backend pauses for this time. */
#define PASS_PAUSE		USECS_PER_MINUTE

/* Where this backend's last call stopped, and when its last pass was over. */
static bool sweep_began = false;
static int64 sweep_from = 0;
static TimestampTz sweep_done_at = 0;

/* *looked is set to how many rows there were. */
static int
open_work_sweep_rows(int n, int *looked)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch open work",
											   ALLOCSET_SMALL_SIZES);
	int			removed = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_OPEN_WORK, INDEX_OPEN_WORK_SEQ, ROWS_DIRTY, RowExclusiveLock);
	rows_key_int8(&scan, 1, BTGreaterStrategyNumber, sweep_from);
	rows_start(&scan);
	for (*looked = 0; *looked < n && rows_next(&scan); (*looked)++)
	{
		CHECK_FOR_INTERRUPTS();
		sweep_from = rows_int8(&scan, Anum_open_work_seq);
		removed += !open_work_counts_in(each, &scan);
	}
	rows_end(&scan);
	MemoryContextDelete(each);
	return removed;
}

int
open_work_sweep(int n)
{
	TimestampTz now = GetCurrentTimestamp();
	int			looked;
	int			removed;

	if (!clock_is_over(sweep_done_at, PASS_PAUSE, now))
		return 0;
	if (!sweep_began)
		sweep_from = rows_look_anywhere(TABLE_OPEN_WORK, INDEX_OPEN_WORK_SEQ, Anum_open_work_seq);
	removed = open_work_sweep_rows(n, &looked);
	if (looked < n && !sweep_began)
	{
		sweep_from = 0;
		removed += open_work_sweep_rows(n, &looked);
	}
	sweep_began = true;
	if (looked < n)
	{
		sweep_from = 0;
		sweep_done_at = now;
	}
	return removed;
}
