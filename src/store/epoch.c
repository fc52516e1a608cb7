/*-------------------------------------------------------------------------
 *
 * epoch.c
 *	  Epochs: which copy of the database this is, and on which timeline it
 *	  writes.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "base/guard.h"
#include "base/rows.h"
#include "storage/procarray.h"
#include "store/epoch.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* columns of clutch.epoch */
enum
{
	Anum_epoch_epoch = 1,
	Anum_epoch_timeline,
	Anum_epoch_system_identifier,
	Anum_epoch_started_at,
	Anum_epoch_first_xid,
	Natts_epoch = Anum_epoch_first_xid
};

ROWS_CHECK_COLUMNS(Natts_epoch, EPOCH);

/*
 * The current epoch, for one incarnation of the extension and one timeline.
 * It is cached only once its row is committed, because the transaction that
 * starts an epoch may roll back.
 */
static int	known_epoch = 0;
static TimeLineID known_timeline = 0;
static Oid	known_relation = InvalidOid;

typedef struct EpochRow
{
	int			epoch;			/* 0 if there is no row */
	TimeLineID	timeline;
	int64		system_identifier;
	bool		is_ours;		/* written by the current transaction */
} EpochRow;

static EpochRow
epoch_read_newest(RowSnapshot which)
{
	EpochRow	row = {0};
	RowScan		scan;

	rows_begin(&scan, TABLE_EPOCH, INDEX_EPOCH, which, AccessShareLock);
	rows_start(&scan);
	if (rows_previous(&scan))
	{
		row.epoch = rows_int4(&scan, Anum_epoch_epoch);
		row.timeline = (TimeLineID) rows_int4(&scan, Anum_epoch_timeline);
		row.system_identifier = rows_int8(&scan, Anum_epoch_system_identifier);
		row.is_ours = rows_is_ours(&scan);
	}
	rows_end(&scan);
	return row;
}

uint64
epoch_full_xid(TransactionId xid)
{
	FullTransactionId next = ReadNextFullTransactionId();

	/* it is at most two billion behind the next one */
	return U64FromFullTransactionId(next) - (uint32) (XidFromFullTransactionId(next) - xid);
}

/*
 * Returns a transaction ID such that no transaction that relies on the row now
 * being written has a lower one.  One that has already ended would have
 * written the row itself.  So would one that is prepared, unless it has written
 * its events before the failover: then it may be old, and positions on the
 * timeline that is over say whether its events were seen.  No process has its ID.
 */
static int64
epoch_first_xid(void)
{
	Snapshot	snapshot = GetLatestSnapshot();
	TransactionId own = GetTopTransactionIdIfAny();
	uint64		first = epoch_full_xid(snapshot->xmax);
	int			i;

	if (TransactionIdIsValid(own))
		first = Min(first, epoch_full_xid(own));
	for (i = 0; i < (int) snapshot->xcnt; i++)
		if (BackendXidGetPid(snapshot->xip[i]) != 0)
			first = Min(first, epoch_full_xid(snapshot->xip[i]));
	return (int64) first;
}

static void
epoch_insert(int epoch, TimeLineID timeline)
{
	Datum		values[Natts_epoch];
	bool		nulls[Natts_epoch] = {0};

	values[Anum_epoch_epoch - 1] = Int32GetDatum(epoch);
	values[Anum_epoch_timeline - 1] = Int32GetDatum((int32) timeline);
	values[Anum_epoch_system_identifier - 1] = Int64GetDatum((int64) GetSystemIdentifier());
	values[Anum_epoch_started_at - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[Anum_epoch_first_xid - 1] = Int64GetDatum(epoch_first_xid());
	(void) rows_insert(TABLE_EPOCH, values, nulls);
}

/*
 * Does the log have events of that epoch by transactions that this cluster has
 * not begun yet?  Then they come from a copy of the cluster that has the same
 * system identifier, such as the original of a promoted base backup.
 * The snapshot must be older than the ID: otherwise, a transaction that begins
 * and commits between the two would look like one of a copy.
 */
static bool
epoch_is_of_copy(int epoch)
{
	RowScan		scan;
	bool		found;

	PushActiveSnapshot(IsInParallelMode() ? GetActiveSnapshot() : GetLatestSnapshot());
	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_POSITION, ROWS_ACTIVE, AccessShareLock);
	rows_key_int4(&scan, 1, BTEqualStrategyNumber, epoch);
	rows_key_xid8(&scan, 2, BTGreaterEqualStrategyNumber, U64FromFullTransactionId(ReadNextFullTransactionId()));
	found = rows_look(&scan, NULL);
	PopActiveSnapshot();
	return found;
}

static bool
epoch_is_this_system(const EpochRow *row)
{
	return row->epoch != 0 && row->system_identifier == (int64) GetSystemIdentifier() &&
		!epoch_is_of_copy(row->epoch);
}

static bool
epoch_is_here(const EpochRow *row, TimeLineID timeline)
{
	return epoch_is_this_system(row) && row->timeline == timeline;
}

/*
 * Begins the next epoch.  Only one transaction at a time may do so, because it
 * also voids the leases of the copy; *is_new tells the caller to do that.
 * Other transactions take the number of the epoch from its row.  Should it
 * roll back, the next writer begins the epoch again under the same number.
 */
static int
epoch_begin_next(TimeLineID timeline, bool *is_new)
{
	uint64		guard = guard_key(GUARD_EPOCH, SLICE_OF("epoch"), SLICE_NONE, 0);
	EpochRow	newest;

	guard_take(guard);
	newest = epoch_read_newest(ROWS_DIRTY);
	if (!epoch_is_here(&newest, timeline))
	{
		/*
		 * A transaction that was prepared before a failover may have begun
		 * it.  If that rolls back, it has voided no lease.
		 */
		if (!epoch_is_this_system(&newest))
			newest.epoch++;
		*is_new = newest.epoch > 1;
		epoch_insert(newest.epoch, timeline);
	}
	guard_release(guard);
	return newest.epoch;
}

static bool
epoch_is_remembered(TimeLineID timeline)
{
	return known_epoch != 0 && known_relation == rows_table_oid(TABLE_EPOCH) &&
		known_timeline == timeline;
}

static void
epoch_remember(const EpochRow *row)
{
	if (row->is_ours)
		return;
	known_epoch = row->epoch;
	known_timeline = row->timeline;
	known_relation = rows_table_oid(TABLE_EPOCH);
}

int
epoch_if_known(void)
{
	TimeLineID	timeline = GetWALInsertionTimeLine();
	EpochRow	newest;

	if (epoch_is_remembered(timeline))
		return known_epoch;
	newest = epoch_read_newest(ROWS_LATEST);
	if (!epoch_is_here(&newest, timeline))
		return 0;
	epoch_remember(&newest);
	return newest.epoch;
}

/*
 * On a new timeline, each of the first writers inserts a row, until one of
 * them has committed.  They do not rely on an uncommitted row of another
 * transaction: if that rolled back, the timeline would begin after their
 * events, and positions of the previous timeline would miss them.
 */
int
epoch_current(bool *is_new)
{
	TimeLineID	timeline = GetWALInsertionTimeLine();
	int			epoch = epoch_if_known();
	EpochRow	newest;

	*is_new = false;
	if (epoch != 0)
		return epoch;
	newest = epoch_read_newest(ROWS_LATEST);
	if (!epoch_is_this_system(&newest))
		return epoch_begin_next(timeline, is_new);
	epoch_insert(newest.epoch, timeline);
	return newest.epoch;
}

int
epoch_look(void)
{
	EpochRow	newest = epoch_read_newest(ROWS_LATEST);

	return newest.epoch + !epoch_is_this_system(&newest);
}

int
epoch_look_to_write(void)
{
	TimeLineID	timeline = GetWALInsertionTimeLine();

	if (epoch_if_known() == 0)
	{
		EpochRow	newest = epoch_read_newest(ROWS_LATEST);

		if (epoch_is_this_system(&newest) && newest.timeline != timeline)
			epoch_insert(newest.epoch, timeline);
	}
	return epoch_look();
}

/*
 * A dump that is restored in its own cluster has the row of the current epoch
 * as soon as that table is loaded, so a sequence that dumps leave out tells
 * whether anybody has written here.  Base backups and databases with this one
 * as their template have it, too.
 */
static bool
epoch_copy_has_begun(void)
{
	return rows_sequence_get(SEQUENCE_COPY_BEGUN) != 0;
}

bool
epoch_begin_copy(void)
{
	static Oid	begun_relation = InvalidOid;
	bool		is_first;

	if (begun_relation == rows_table_oid(TABLE_EPOCH))
		return false;
	is_first = !epoch_copy_has_begun();
	if (is_first)
		rows_sequence_set(SEQUENCE_COPY_BEGUN, 1);
	begun_relation = rows_table_oid(TABLE_EPOCH);
	return is_first;
}

bool
epoch_has_begun(void)
{
	EpochRow	newest = epoch_read_newest(ROWS_LATEST);

	return epoch_is_this_system(&newest) && epoch_copy_has_begun();
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
		system_identifier = rows_int8(&scan, Anum_epoch_system_identifier);
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
	rows_key_int4(&scan, 2, BTGreaterStrategyNumber, (int32) Min(timeline, PG_INT32_MAX));
	rows_start(&scan);
	while (rows_next(&scan))
		first = Min(first, (uint64) rows_int8(&scan, Anum_epoch_first_xid));
	rows_end(&scan);
	return first;
}
