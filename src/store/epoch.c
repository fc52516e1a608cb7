/*-------------------------------------------------------------------------
 *
 * epoch.c
 *	  Which copy of the database this is.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "base/clock.h"
#include "base/guard.h"
#include "base/rows.h"
#include "store/epoch.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* columns of clutch.epoch */
enum
{
	Anum_epoch = 1,
	Anum_timeline,
	Anum_system_identifier,
	Anum_started_at,
	Anum_first_xid,
	Natts_epoch = Anum_first_xid
};

/*
 * Remembered only once committed: the transaction that starts an epoch may
 * roll back.  Valid for one incarnation of the extension.
 */
static int	known_epoch = 0;
static TimeLineID known_timeline = 0;
static Oid	known_relation = InvalidOid;

typedef struct Newest
{
	int			epoch;			/* 0: none */
	TimeLineID	timeline;
	int64		system_identifier;
	bool		settled;		/* committed */
} Newest;

static Newest
newest(RowSnapshot which)
{
	Newest		last = {0};
	RowScan		scan;

	rows_begin(&scan, TABLE_EPOCH, INDEX_EPOCH, which, AccessShareLock);
	rows_start(&scan);
	if (rows_previous(&scan))
	{
		last.epoch = rows_int4(&scan, Anum_epoch);
		last.timeline = (TimeLineID) rows_int4(&scan, Anum_timeline);
		last.system_identifier = rows_int8(&scan, Anum_system_identifier);
		last.settled = which == ROWS_DIRTY && !rows_is_ours(&scan) &&
			!TransactionIdIsValid(rows_in_doubt(&scan));
	}
	rows_end(&scan);
	return last;
}

uint64
epoch_full_xid(TransactionId xid)
{
	FullTransactionId next = ReadNextFullTransactionId();

	/* at most two billion behind the next one */
	return U64FromFullTransactionId(next) - (uint32) (XidFromFullTransactionId(next) - xid);
}

/*
 * No transaction that wrote an event on this timeline has an older id: one
 * that ended before would have been here first.
 */
static int64
first_xid(void)
{
	return (int64) epoch_full_xid(GetLatestSnapshot()->xmin);
}

static void
start(int epoch, TimeLineID timeline, bool is_copy)
{
	Datum		values[Natts_epoch];
	bool		nulls[Natts_epoch] = {0};

	values[Anum_epoch - 1] = Int32GetDatum(epoch);
	values[Anum_timeline - 1] = Int32GetDatum((int32) timeline);
	values[Anum_system_identifier - 1] = Int64GetDatum((int64) GetSystemIdentifier());
	values[Anum_started_at - 1] = TimestampTzGetDatum(clock_now());
	values[Anum_first_xid - 1] = Int64GetDatum(first_xid());

	/*
	 * Others write on the timeline before we commit; rolled back, it would begin
	 * after their events, and positions of the timeline before miss them.  An
	 * epoch goes with our transaction, which voids the leases of the copy.
	 */
	if (is_copy)
		(void) rows_insert(TABLE_EPOCH, values, nulls);
	else
		rows_insert_for_good(TABLE_EPOCH, values, nulls);
}

static bool
is_here(const Newest *last, TimeLineID timeline)
{
	return last->epoch != 0 && last->timeline == timeline &&
		last->system_identifier == (int64) GetSystemIdentifier();
}

int
epoch_current(bool *is_new)
{
	Oid			relation = rows_table_oid(TABLE_EPOCH);
	TimeLineID	timeline = GetWALInsertionTimeLine();
	Newest		last;
	uint64		guard;

	*is_new = false;
	if (known_epoch != 0 && known_relation == relation && known_timeline == timeline)
		return known_epoch;

	last = newest(ROWS_DIRTY);
	if (is_here(&last, timeline))
	{
		/*
		 * We or somebody else may be starting it in an open transaction.  Should that
		 * roll back, the next writer starts it again under the same number.
		 */
		if (last.settled)
		{
			known_epoch = last.epoch;
			known_timeline = timeline;
			known_relation = relation;
		}
		return last.epoch;
	}

	guard = guard_key(GUARD_EPOCH, SLICE_OF("epoch"), SLICE_NONE, 0);
	guard_take(guard);
	last = newest(ROWS_DIRTY);
	if (!is_here(&last, timeline))
	{
		bool		is_copy = last.system_identifier != (int64) GetSystemIdentifier();

		*is_new = last.epoch > 0 && is_copy;
		if (is_copy)
			last.epoch++;
		start(last.epoch, timeline, is_copy);
	}
	guard_release(guard);
	return last.epoch;
}

int
epoch_look(void)
{
	Newest		last = newest(ROWS_LATEST);

	return last.epoch + (last.system_identifier != (int64) GetSystemIdentifier());
}

bool
epoch_has_begun(void)
{
	Newest		last = newest(ROWS_LATEST);

	return last.epoch != 0 && last.system_identifier == (int64) GetSystemIdentifier();
}

int64
epoch_system(int epoch)
{
	int64		system_identifier = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_EPOCH, INDEX_EPOCH, ROWS_LATEST, AccessShareLock);
	rows_key_int4(&scan, 1, BTEqualStrategyNumber, epoch);
	rows_start(&scan);
	if (rows_next(&scan))
		system_identifier = rows_int8(&scan, Anum_system_identifier);
	rows_end(&scan);
	return system_identifier;
}

uint64
epoch_timeline_after(int epoch, TimeLineID timeline)
{
	uint64		first = PG_UINT64_MAX;
	RowScan		scan;

	rows_begin(&scan, TABLE_EPOCH, INDEX_EPOCH, ROWS_LATEST, AccessShareLock);
	rows_key_int4(&scan, 1, BTEqualStrategyNumber, epoch);
	rows_key_int4(&scan, 2, BTGreaterStrategyNumber, (int32) timeline);
	rows_start(&scan);
	if (rows_next(&scan))
		first = (uint64) rows_int8(&scan, Anum_first_xid);
	rows_end(&scan);
	return first;
}
