/*-------------------------------------------------------------------------
 *
 * bookmark.c
 *	  Bookmarks: how far the members of subscriptions have read the log.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/column.h"
#include "base/rows.h"
#include "feed/bookmark.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

/* columns of clutch.subscription_position */
enum
{
	Anum_subscription_position_name = 1,
	Anum_subscription_position_member,
	Anum_subscription_position_generation,
	Anum_subscription_position_batch,
	Anum_subscription_position_place,
	Anum_subscription_position_seen,
	Anum_subscription_position_until,
	Anum_subscription_position_moved_at,
	Anum_subscription_position_owner,
	Natts_subscription_position = Anum_subscription_position_owner
};

ROWS_CHECK_COLUMNS(Natts_subscription_position, SUBSCRIPTION_POSITION);

/*
 * Sets *is_ahead to true if the position is ahead of this server, and leaves
 * it alone otherwise.
 */
static Position
bookmark_position(Slice text, bool *is_ahead)
{
	Position	position;

	if (!position_parse(text, &position))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("invalid position in clutch.subscription_position: \"%.*s\"",
						text.len, text.s),
				 errhint("Run SELECT clutch.unsubscribe(name), and subscribe again.")));
	if (position_is_ahead(&position))
		*is_ahead = true;
	else
		position_settle(&position, "");
	return position;
}

/* Fetches the newest generation.  Returns false if there is none. */
static bool
bookmark_fetch(Oid owner, Slice name, int member, Datum *values, bool *nulls)
{
	RowScan		scan;
	bool		found;

	rows_begin(&scan, TABLE_SUBSCRIPTION_POSITION, INDEX_SUBSCRIPTION_POSITION, ROWS_LATEST,
			   AccessShareLock);
	rows_key_oid(&scan, 1, BTEqualStrategyNumber, owner);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, name);
	rows_key_int4(&scan, 3, BTEqualStrategyNumber, member);
	rows_start(&scan);
	found = rows_next(&scan);
	if (found)
		rows_keep(&scan, values, nulls);
	rows_end(&scan);
	return found;
}

Bookmark
bookmark_read(Oid owner, Slice name, int member)
{
	Bookmark	bookmark = {owner, name, member};
	Datum		v[Natts_subscription_position];
	bool		n[Natts_subscription_position];

	if (!bookmark_fetch(owner, name, member, v, n))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("subscription \"%.*s\" has no position for member %d",
						name.len, name.s, member),
				 errhint("Run SELECT clutch.unsubscribe(name), and subscribe again.")));
	bookmark.generation = DatumGetInt64(v[Anum_subscription_position_generation - 1]);
	bookmark.batch = DatumGetInt64(v[Anum_subscription_position_batch - 1]);
	bookmark.place = DatumGetInt64(v[Anum_subscription_position_place - 1]);
	bookmark.moved_at = DatumGetTimestampTz(v[Anum_subscription_position_moved_at - 1]);
	bookmark.seen = bookmark_position(column_text(v, n, Anum_subscription_position_seen),
									  &bookmark.is_ahead);
	bookmark.is_open = !n[Anum_subscription_position_until - 1];
	if (bookmark.is_open)
		bookmark.until = bookmark_position(column_text(v, n, Anum_subscription_position_until),
										   &bookmark.is_ahead);
	return bookmark;
}

static void
bookmark_delete(const Bookmark *bookmark, int64 generation)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_SUBSCRIPTION_POSITION, INDEX_SUBSCRIPTION_POSITION, ROWS_LATEST,
			   RowExclusiveLock);
	rows_key_oid(&scan, 1, BTEqualStrategyNumber, bookmark->owner);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, bookmark->name);
	rows_key_int4(&scan, 3, BTEqualStrategyNumber, bookmark->member);
	rows_key_int8(&scan, 4, BTEqualStrategyNumber, generation);
	(void) rows_delete_first(&scan);
}

void
bookmark_save(Bookmark *bookmark)
{
	Datum		values[Natts_subscription_position];
	bool		nulls[Natts_subscription_position] = {0};

	values[Anum_subscription_position_name - 1] = PointerGetDatum(slice_to_text(bookmark->name));
	values[Anum_subscription_position_member - 1] = Int32GetDatum(bookmark->member);
	values[Anum_subscription_position_generation - 1] = Int64GetDatum(++bookmark->generation);
	values[Anum_subscription_position_batch - 1] = Int64GetDatum(bookmark->batch);
	values[Anum_subscription_position_place - 1] = Int64GetDatum(bookmark->place);
	column_put_text(values, nulls, Anum_subscription_position_seen,
					slice_of_cstring(position_text(&bookmark->seen)));
	column_put_text(values, nulls, Anum_subscription_position_until, bookmark->is_open ?
					slice_of_cstring(position_text(&bookmark->until)) : SLICE_NONE);
	values[Anum_subscription_position_moved_at - 1] = TimestampTzGetDatum(clock_now());
	values[Anum_subscription_position_owner - 1] = ObjectIdGetDatum(bookmark->owner);
	(void) rows_insert(TABLE_SUBSCRIPTION_POSITION, values, nulls);
	if (bookmark->generation > 1)
		bookmark_delete(bookmark, bookmark->generation - 1);
	rows_expect_reading();
}

void
bookmark_delete_all(Oid owner, Slice name)
{
	RowScan		scan;

	do
	{
		rows_begin(&scan, TABLE_SUBSCRIPTION_POSITION, INDEX_SUBSCRIPTION_POSITION, ROWS_LATEST,
				   RowExclusiveLock);
		rows_key_oid(&scan, 1, BTEqualStrategyNumber, owner);
		rows_key_text(&scan, 2, BTEqualStrategyNumber, name);
	}
	while (rows_delete_first(&scan));
}

/*
 * Lowers the horizon to the first transaction that the position has not seen.
 */
static bool
bookmark_lower(Horizon *horizon, const Position *position)
{
	uint64		first = position->nxip > 0 ? position->xip[0] : position->xmax;

	if (position->epoch > horizon->epoch ||
		(position->epoch == horizon->epoch && first >= horizon->xid))
		return false;
	horizon->epoch = position->epoch;
	horizon->xid = first;
	return true;
}

Horizon
bookmark_horizon(void)
{
	Horizon		horizon = {PG_INT32_MAX, PG_UINT64_MAX};
	Oid			owner = InvalidOid;
	Slice		name = SLICE_NONE;
	int			member = -1;
	RowScan		scan;

	rows_begin(&scan, TABLE_SUBSCRIPTION_POSITION, INDEX_SUBSCRIPTION_POSITION, ROWS_LATEST,
			   AccessShareLock);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		bool		is_ahead = false;
		Oid			next = rows_oid(&scan, Anum_subscription_position_owner);
		Position	seen;

		CHECK_FOR_INTERRUPTS();
		/* skip older generations, which follow the newest one */
		if (next == owner &&
			rows_int4(&scan, Anum_subscription_position_member) == member &&
			slice_equal(rows_text(&scan, Anum_subscription_position_name), name))
			continue;
		owner = next;
		name = rows_text_copy(&scan, Anum_subscription_position_name);
		member = rows_int4(&scan, Anum_subscription_position_member);
		seen = bookmark_position(rows_text(&scan, Anum_subscription_position_seen), &is_ahead);
		if (bookmark_lower(&horizon, &seen))
			horizon.name = name;
	}
	rows_end(&scan);
	return horizon;
}

bool
bookmark_covers(const Horizon *horizon, int epoch, uint64 xid)
{
	int			of_copy = abs(epoch);

	return of_copy < horizon->epoch || (of_copy == horizon->epoch && xid < horizon->xid);
}
