/*-------------------------------------------------------------------------
 *
 * postponed.c
 *	  Postponed consequences, which could not be handled when their transaction
 *	  committed.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/clock.h"
#include "base/column.h"
#include "base/rows.h"
#include "flow/postponed.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

/* columns of clutch.consequence */
enum
{
	Anum_consequence_no = 1,
	Anum_consequence_kind,
	Anum_consequence_subject,
	Anum_consequence_because,
	Anum_consequence_amount,
	Anum_consequence_seq,
	Anum_consequence_since,
	Natts_consequence = Anum_consequence_since
};

ROWS_CHECK_COLUMNS(Natts_consequence, CONSEQUENCE);

/* after this time, the transaction that was in the way is usually over */
#define TRY_AGAIN_AFTER		(100 * INT64CONST(1000))

/* Ticks look for what these two are about, and would put the same off again and again. */
static bool
postponed_is_found_again(ConsequenceKind kind)
{
	return kind == CONSEQUENCE_TAKE_AWAY || kind == CONSEQUENCE_CALL;
}

/* Is there a row of this kind and subject? */
static bool
postponed_has(const Consequence *consequence)
{
	Slice		kind = slice_of_cstring(consequence_kind_name(consequence->kind));
	bool		found = false;
	RowScan		scan;

	rows_begin(&scan, TABLE_CONSEQUENCE, INDEX_CONSEQUENCE, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	while (!found && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		found = slice_equal(rows_text(&scan, Anum_consequence_subject), consequence->subject) &&
			slice_equal(rows_text(&scan, Anum_consequence_kind), kind);
	}
	rows_end(&scan);
	return found;
}

void
postponed_put(const Consequence *consequence)
{
	Datum		values[Natts_consequence] = {0};
	bool		nulls[Natts_consequence] = {0};
	TimestampTz now = clock_now();

	if (postponed_is_found_again(consequence->kind) && postponed_has(consequence))
		return;
	values[Anum_consequence_no - 1] = Int64GetDatum(rows_nextval(SEQUENCE_QUEUE_NO));
	column_put_text(values, nulls, Anum_consequence_kind,
					slice_of_cstring(consequence_kind_name(consequence->kind)));
	column_put_text(values, nulls, Anum_consequence_subject, consequence->subject);
	column_put_text(values, nulls, Anum_consequence_because, consequence->because);
	values[Anum_consequence_amount - 1] = Int32GetDatum(consequence->amount);
	values[Anum_consequence_seq - 1] = Int64GetDatum(consequence->seq);
	values[Anum_consequence_since - 1] = TimestampTzGetDatum(now);
	(void) rows_insert(TABLE_CONSEQUENCE, values, nulls);
	notify_due(now + TRY_AGAIN_AFTER);
}

bool
postponed_is_any(void)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_CONSEQUENCE, INDEX_CONSEQUENCE, ROWS_DIRTY, AccessShareLock);
	return rows_look(&scan, NULL);
}

/* Returns false if it is of a kind that this version does not know, or does not put off. */
static bool
postponed_read_consequence(const RowScan *scan, Consequence *consequence)
{
	memset(consequence, 0, sizeof(*consequence));
	consequence->subject = rows_text_copy(scan, Anum_consequence_subject);
	consequence->because = rows_text_copy(scan, Anum_consequence_because);
	consequence->amount = rows_int4(scan, Anum_consequence_amount);
	consequence->seq = rows_int8(scan, Anum_consequence_seq);
	return consequence_kind_parse(rows_text(scan, Anum_consequence_kind), &consequence->kind) &&
		!consequence_is_share(consequence->kind);
}

/* what one call handles, and where it has got to */
typedef struct PostponedRun
{
	int			left;			/* so many rows may still be tried */
	int64		last;			/* rows that are put off again meanwhile have
								 * higher numbers, and are for the next time */
	int64		tried;			/* number of the row that was tried last */
	int			handled;
	PostponedHandler handle;
} PostponedRun;

/* Tries the current row, unless another transaction has it. */
static void
postponed_try_row(PostponedRun *run, RowScan *scan)
{
	ItemPointerData tid = rows_tid(scan);
	Consequence consequence;

	if (TransactionIdIsValid(rows_in_doubt(scan)) || rows_lock(scan, ROW_LOCK_END, false) != ROW_LOCKED)
		return;
	run->left--;
	run->tried = rows_int8(scan, Anum_consequence_no);
	if (postponed_read_consequence(scan, &consequence) && !run->handle(&consequence))
		return;
	rows_delete(TABLE_CONSEQUENCE, &tid);
	run->handled++;
}

/* Tries the rows with numbers above "after", up to "last". */
static void
postponed_try_rows(PostponedRun *run, int64 after, int64 last)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch postponed",
											   ALLOCSET_DEFAULT_SIZES);
	RowScan		scan;

	rows_begin(&scan, TABLE_CONSEQUENCE, INDEX_CONSEQUENCE, ROWS_DIRTY, RowExclusiveLock);
	rows_key_int8(&scan, 1, BTGreaterStrategyNumber, after);
	rows_key_int8(&scan, 1, BTLessEqualStrategyNumber, last);
	rows_start(&scan);
	while (run->left > 0 && rows_next(&scan))
	{
		MemoryContext old = MemoryContextSwitchTo(each);

		CHECK_FOR_INTERRUPTS();
		postponed_try_row(run, &scan);
		MemoryContextSwitchTo(old);
		MemoryContextReset(each);
	}
	rows_end(&scan);
	MemoryContextDelete(each);
}

/*
 * The rows at the start may have to stay for as long as another transaction is
 * open, or for good, and must not keep the others from being handled.  So each
 * call goes on behind the row that this backend's last one has tried last.  The
 * first one begins anywhere, because sessions may be short.
 */
int
postponed_handle(int n, PostponedHandler handle)
{
	static bool began = false;
	static int64 stopped_at;
	PostponedRun run = {n, rows_nextval(SEQUENCE_QUEUE_NO), 0, 0, handle};
	int64		from = began ? stopped_at : rows_look_anywhere(TABLE_CONSEQUENCE, INDEX_CONSEQUENCE, Anum_consequence_no);

	began = true;
	run.tried = from;
	postponed_try_rows(&run, from, run.last);
	postponed_try_rows(&run, 0, Min(from, run.last));
	stopped_at = run.tried;
	return run.handled;
}

List *
postponed_list_subjects(void)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_CONSEQUENCE, INDEX_CONSEQUENCE, ROWS_LATEST, AccessShareLock);
	return rows_list_texts(&scan, Anum_consequence_subject);
}
