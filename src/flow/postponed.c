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

void
postponed_put(const Consequence *consequence)
{
	Datum		values[Natts_consequence] = {0};
	bool		nulls[Natts_consequence] = {0};
	TimestampTz now = clock_now();

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
	consequence->subject = slice_copy(rows_text(scan, Anum_consequence_subject));
	consequence->because = rows_text_copy(scan, Anum_consequence_because);
	consequence->amount = rows_int4(scan, Anum_consequence_amount);
	consequence->seq = rows_int8(scan, Anum_consequence_seq);
	return consequence_kind_parse(rows_text(scan, Anum_consequence_kind), &consequence->kind) &&
		!consequence_is_share(consequence->kind);
}

int
postponed_handle(int n, PostponedHandler handle, void *arg)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch postponed",
											   ALLOCSET_DEFAULT_SIZES);
	int64		last = PG_INT64_MAX;
	int			handled = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_CONSEQUENCE, INDEX_CONSEQUENCE, ROWS_DIRTY, RowExclusiveLock);
	rows_start(&scan);
	while (n > 0 && rows_next(&scan))
	{
		int64		no = rows_int8(&scan, Anum_consequence_no);
		ItemPointerData tid = rows_tid(&scan);
		MemoryContext old = MemoryContextSwitchTo(each);
		Consequence consequence;

		CHECK_FOR_INTERRUPTS();
		/* rows that are put off again meanwhile are for the next time */
		if (last == PG_INT64_MAX)
			last = rows_nextval(SEQUENCE_QUEUE_NO);
		if (no > last)
			n = 0;
		else if (!TransactionIdIsValid(rows_in_doubt(&scan)) &&
				 rows_lock(&scan, ROW_LOCK_END, false) == ROW_LOCKED)
		{
			n--;
			if (!postponed_read_consequence(&scan, &consequence) || handle(&consequence, arg))
			{
				rows_delete(TABLE_CONSEQUENCE, &tid);
				handled++;
			}
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(each);
	}
	rows_end(&scan);
	MemoryContextDelete(each);
	return handled;
}

List *
postponed_list_subjects(void)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_CONSEQUENCE, INDEX_CONSEQUENCE, ROWS_LATEST, AccessShareLock);
	return rows_list_texts(&scan, Anum_consequence_subject, NIL);
}
