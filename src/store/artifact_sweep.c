/*-------------------------------------------------------------------------
 *
 * artifact_sweep.c
 *	  Removing artifacts that nothing uses.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "miscadmin.h"
#include "settings.h"
#include "store/artifact.h"
#include "store/artifact_part.h"
#include "utils/timestamp.h"

/* After a pass over all artifacts, a backend pauses for this time. */
#define PASS_PAUSE		(10 * USECS_PER_MINUTE)

/* Where this backend's last call stopped, and when the next pass may begin. */
static TimestampTz sweep_next = 0;
static TimestampTz sweep_rest_until = 0;

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
 * row; one that comes too late will not find it.
 */
static bool
artifact_remove(RowScan *scan)
{
	Slice		digest = slice_copy(rows_text(scan, Anum_artifact_digest));
	int64		content_no = rows_int8(scan, Anum_artifact_content_no);
	ItemPointerData tid;

	if (artifact_is_used(digest, ROWS_LATEST) ||
		rows_lock(scan, ROW_LOCK_END, false) != ROW_LOCKED || artifact_is_used(digest, ROWS_LATEST))
		return false;
	tid = rows_tid(scan);
	rows_delete(TABLE_ARTIFACT, &tid);
	artifact_remove_owners(digest);
	artifact_content_remove(content_no);
	return true;
}

/* Looks at n artifacts at most.  *looked is set to how many there were. */
static int
artifact_sweep_from(TimestampTz from, TimestampTz before, int n, int *looked)
{
	int			removed = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_ARTIFACT, INDEX_ARTIFACT_UPLOADED_AT, ROWS_LATEST, RowExclusiveLock);
	rows_key_timestamp(&scan, 1, BTGreaterEqualStrategyNumber, from);
	rows_key_timestamp(&scan, 1, BTLessStrategyNumber, before);
	rows_start(&scan);
	for (*looked = 0; *looked < n && rows_next(&scan); (*looked)++)
	{
		CHECK_FOR_INTERRUPTS();
		sweep_next = rows_timestamp(&scan, Anum_artifact_uploaded_at);
		removed += artifact_remove(&scan);
	}
	rows_end(&scan);
	return removed;
}

int
artifact_sweep(int n)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz before = now - clutch_artifact_grace * USECS_PER_SEC;
	int			looked;
	int			removed;

	if (now < sweep_rest_until && clutch_artifact_grace > 0)
		return 0;
	removed = artifact_upload_sweep(before, n);
	removed += artifact_sweep_from(sweep_next, before, n, &looked);
	if (looked < n)
	{
		sweep_next = 0;
		sweep_rest_until = now + PASS_PAUSE;
	}
	return removed;
}
