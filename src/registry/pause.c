/*-------------------------------------------------------------------------
 *
 * pause.c
 *	  Pauses: agents and capabilities that get no new work until they are
 *	  resumed.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/document.h"
#include "base/guard.h"
#include "registry/pause.h"
#include "registry/pause_row.h"
#include "registry/roster.h"
#include "utils/timestamp.h"

void
pause_lock(Slice what)
{
	guard_keep(guard_key(GUARD_PAUSE, what, SLICE_NONE, 0));
}

bool
pause_remove(Slice what)
{
	RowScan		scan;
	bool		was_paused;

	rows_begin(&scan, TABLE_PAUSE, INDEX_PAUSE, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, what);
	was_paused = rows_delete_first(&scan);
	if (was_paused)
		roster_invalidate();
	return was_paused;
}

void
pause_put(Slice what, int64 seq, TimestampTz since, Slice by_agent, Slice reason)
{
	Datum		values[Natts_pause] = {0};
	bool		nulls[Natts_pause] = {0};

	(void) pause_remove(what);
	column_put_text(values, nulls, Anum_pause_what, what);
	values[Anum_pause_seq - 1] = Int64GetDatum(seq);
	values[Anum_pause_since - 1] = TimestampTzGetDatum(since);
	column_put_text(values, nulls, Anum_pause_by_agent, by_agent);
	column_put_text(values, nulls, Anum_pause_reason, reason);
	(void) rows_insert(TABLE_PAUSE, values, nulls);
	roster_invalidate();
}

void
pause_apply(const Envelope *envelope, int64 seq, TimestampTz at)
{
	JsonbContainer *payload = envelope->payload.val.binary.data;
	Slice		what = document_get_text(payload, "what");

	if (!slice_present(what))
		return;
	if (envelope->orders.move == MOVE_PAUSED)
		pause_put(what, seq, at, envelope->from_agent, document_get_text(payload, "reason"));
	else
		(void) pause_remove(what);
}
