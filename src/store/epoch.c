/*-------------------------------------------------------------------------
 *
 * epoch.c
 *	  Which copy of the database this is.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "base/clock.h"
#include "base/guard.h"
#include "base/rows.h"
#include "store/epoch.h"
#include "utils/timestamp.h"

/* columns of clutch.epoch */
enum
{
	Anum_epoch = 1,
	Anum_system_identifier,
	Anum_started_at,
	Natts_epoch = Anum_started_at
};

/*
 * Remembered only once committed: the transaction that starts an epoch may
 * roll back.  Valid for one incarnation of the extension.
 */
static int	known_epoch = 0;
static Oid	known_relation = InvalidOid;

/* newest epoch of the table: 0 if none */
static int
newest(int64 *system_identifier, bool *settled)
{
	RowScan		scan;
	int			epoch = 0;

	rows_begin(&scan, TABLE_EPOCH, INDEX_EPOCH, ROWS_DIRTY, AccessShareLock);
	rows_start(&scan);
	*settled = false;
	if (rows_previous(&scan))
	{
		epoch = rows_int4(&scan, Anum_epoch);
		*system_identifier = rows_int8(&scan, Anum_system_identifier);
		*settled = !rows_is_ours(&scan) && !TransactionIdIsValid(rows_in_doubt(&scan));
	}
	rows_end(&scan);
	return epoch;
}

static void
start_epoch(int epoch)
{
	Datum		values[Natts_epoch] = {0};
	bool		nulls[Natts_epoch] = {0};

	values[Anum_epoch - 1] = Int32GetDatum(epoch);
	values[Anum_system_identifier - 1] = Int64GetDatum((int64) GetSystemIdentifier());
	values[Anum_started_at - 1] = TimestampTzGetDatum(clock_now());
	rows_insert(TABLE_EPOCH, values, nulls);
}

int
epoch_current(bool *is_new)
{
	Oid			relation = rows_table_oid(TABLE_EPOCH);
	int64		here = (int64) GetSystemIdentifier();
	int64		there = 0;
	bool		settled;
	uint64		guard;
	int			epoch;

	*is_new = false;
	if (known_epoch != 0 && known_relation == relation)
		return known_epoch;

	epoch = newest(&there, &settled);
	if (epoch != 0 && there == here)
	{
		/*
		 * We or somebody else may be starting it in an open transaction.  Should that
		 * roll back, the next writer starts it again under the same number.
		 */
		if (settled)
		{
			known_epoch = epoch;
			known_relation = relation;
		}
		return epoch;
	}

	guard = guard_key(GUARD_EPOCH, SLICE_OF("epoch"), SLICE_NONE, 0);
	guard_take(guard);
	epoch = newest(&there, &settled);
	if (epoch == 0 || there != here)
	{
		start_epoch(epoch + 1);
		*is_new = epoch > 0;
		epoch++;
	}
	guard_release(guard);
	return epoch;
}
