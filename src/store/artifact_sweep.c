/*-------------------------------------------------------------------------
 *
 * artifact_sweep.c
 *	  Removing artifacts that nothing uses.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "settings.h"
#include "store/artifact.h"
#include "store/artifact_part.h"
#include "utils/timestamp.h"

/* After a pass over all artifacts, a backend pauses for this time. */
#define PASS_PAUSE		(10 * USECS_PER_MINUTE)

/*
 * Where this backend goes on, or 0 at the beginning, and when the next pass may
 * begin.  Its first pass begins anywhere, because sessions may be short.
 */
static bool sweep_began = false;
static TimestampTz sweep_first = 0;	/* where the current pass began */
static TimestampTz sweep_next = 0;
static TimestampTz sweep_done_at = 0;

static void
artifact_remove_owners(Slice digest)
{
	RowScan		scan;

	do
	{
		rows_begin(&scan, TABLE_ARTIFACT_OWNER, INDEX_ARTIFACT_OWNER, ROWS_LATEST, RowExclusiveLock);
		rows_key_text(&scan, 1, BTEqualStrategyNumber, digest);
	}
	while (rows_delete_first(&scan));
}

/*
 * Removes an artifact.  A sender that is about to use it holds a lock on its
 * row; one that comes too late will not find it.  It may have been uploaded
 * again since the row was read.
 */
static bool
artifact_remove(RowScan *scan, TimestampTz before)
{
	Slice		digest = rows_text_copy(scan, Anum_artifact_digest);
	int64		content_no = rows_int8(scan, Anum_artifact_content_no);
	ItemPointerData tid;

	if (artifact_is_used(digest) ||
		rows_lock(scan, ROW_LOCK_END, false) != ROW_LOCKED || artifact_is_used(digest) ||
		rows_timestamp(scan, Anum_artifact_uploaded_at) >= before)
		return false;
	tid = rows_tid(scan);
	rows_delete(TABLE_ARTIFACT, &tid);
	artifact_remove_owners(digest);
	artifact_content_remove(content_no);
	return true;
}

/* Returns when a random artifact was uploaded, or 0.  Digests are distributed evenly. */
static TimestampTz
artifact_sweep_anywhere(void)
{
	char		digest[20];
	TimestampTz at;
	RowScan		scan;

	snprintf(digest, sizeof(digest), "%016llx", (unsigned long long) pg_prng_uint64(&pg_global_prng_state));
	rows_begin(&scan, TABLE_ARTIFACT, INDEX_ARTIFACT, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTGreaterEqualStrategyNumber, slice_of_cstring(digest));
	at = rows_look_timestamp(&scan, Anum_artifact_uploaded_at);
	return at == DT_NOEND ? 0 : at;
}

/*
 * Goes on with the pass, up to that time.  Looks at n artifacts at most, but at
 * all that were uploaded at the same time.  Adds how many there were to
 * *looked.
 */
static int
artifact_sweep_until(TimestampTz before, int n, int *looked)
{
	int			removed = 0;
	RowScan		scan;

	if (*looked >= n)
		return 0;

	rows_begin(&scan, TABLE_ARTIFACT, INDEX_ARTIFACT_UPLOADED_AT, ROWS_LATEST, RowExclusiveLock);
	rows_key_timestamp(&scan, 1, BTGreaterEqualStrategyNumber, sweep_next);
	rows_key_timestamp(&scan, 1, BTLessStrategyNumber, before);
	rows_start(&scan);
	for (; rows_next(&scan); (*looked)++)
	{
		TimestampTz at = rows_timestamp(&scan, Anum_artifact_uploaded_at);

		CHECK_FOR_INTERRUPTS();
		if (*looked >= n && at >= sweep_next)
			break;
		sweep_next = at + 1;
		removed += artifact_remove(&scan, before);
	}
	rows_end(&scan);
	return removed;
}

int
artifact_sweep(int n)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz begun_before = now - clutch_artifact_grace * USECS_PER_SEC;
	TimestampTz before = begun_before - ARTIFACT_RENEWAL;
	int			looked = 0;
	int			removed;

	if (!clock_is_over(sweep_done_at, PASS_PAUSE, now) && clutch_artifact_grace > 0)
		return 0;
	if (!sweep_began)
		sweep_first = sweep_next = artifact_sweep_anywhere();
	sweep_began = true;
	removed = artifact_upload_sweep(begun_before, n);
	if (sweep_next >= sweep_first)
	{
		removed += artifact_sweep_until(before, n, &looked);
		if (looked < n)
			sweep_next = 0;
	}
	if (sweep_next < sweep_first)
		removed += artifact_sweep_until(Min(sweep_first, before), n, &looked);
	if (looked < n)
	{
		sweep_first = sweep_next = 0;
		sweep_done_at = now;
	}
	return removed;
}
