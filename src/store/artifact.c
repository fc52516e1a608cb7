/*-------------------------------------------------------------------------
 *
 * artifact.c
 *	  Content that is too large for an envelope, named by its SHA-256.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/crypto.h"
#include "base/guard.h"
#include "base/wait.h"
#include "miscadmin.h"
#include "settings.h"
#include "store/artifact.h"
#include "store/artifact_part.h"
#include "utils/timestamp.h"

ROWS_CHECK_COLUMNS(Natts_artifact, ARTIFACT);

/* columns of clutch.artifact_owner */
enum
{
	Anum_artifact_owner_digest = 1,
	Anum_artifact_owner_owner,
	Natts_artifact_owner = Anum_artifact_owner_owner
};

ROWS_CHECK_COLUMNS(Natts_artifact_owner, ARTIFACT_OWNER);

#define ARTIFACT_PREFIX		"artifact:sha256:"
#define DIGEST_LENGTH		(2 * CRYPTO_HASH_BYTES)

/* --------------------------------------------------------------- references */

Slice
artifact_digest_of(Slice reference)
{
	Slice		prefix = SLICE_OF(ARTIFACT_PREFIX);
	Slice		digest;
	int			i;

	if (!slice_starts(reference, prefix) || reference.len != prefix.len + DIGEST_LENGTH)
		return SLICE_NONE;
	digest = (Slice) {reference.s + prefix.len, DIGEST_LENGTH};
	for (i = 0; i < digest.len; i++)
		if (strchr("0123456789abcdef", digest.s[i]) == NULL)
			return SLICE_NONE;
	return digest;
}

Slice
artifact_reference(Slice digest)
{
	return slice_of_cstring(psprintf("%s%.*s", ARTIFACT_PREFIX, digest.len, digest.s));
}

/* --------------------------------------------------------------------- rows */

static void
artifact_begin_scan(RowScan *scan, Slice digest, RowSnapshot which, LOCKMODE lock)
{
	rows_begin(scan, TABLE_ARTIFACT, INDEX_ARTIFACT, which, lock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, digest);
}

bool
artifact_find(Slice digest, RowSnapshot which, Artifact *artifact)
{
	bool		found;
	RowScan		scan;

	artifact_begin_scan(&scan, digest, which, AccessShareLock);
	rows_start(&scan);
	found = rows_next(&scan);
	if (found)
		*artifact = (Artifact) {
			.digest = rows_text_copy(&scan, Anum_artifact_digest),
				.media_type = rows_text_copy(&scan, Anum_artifact_media_type),
				.bytes = rows_int8(&scan, Anum_artifact_bytes),
				.content_no = rows_int8(&scan, Anum_artifact_content_no)
		};
	rows_end(&scan);
	return found;
}

static RowLock
artifact_lock(Slice digest, bool wait)
{
	RowLock		lock = ROW_GONE;
	RowScan		scan;

	artifact_begin_scan(&scan, digest, ROWS_LATEST, RowExclusiveLock);
	rows_start(&scan);
	if (rows_next(&scan))
		lock = rows_lock(&scan, ROW_LOCK_NAME, wait);
	rows_end(&scan);
	return lock;
}

/* Holds the artifact.  One that is being removed counts as not existing. */
bool
artifact_hold(Slice digest)
{
	return artifact_lock(digest, false) == ROW_LOCKED;
}

static void
artifact_insert(const Artifact *artifact)
{
	Datum		values[Natts_artifact];
	bool		nulls[Natts_artifact] = {0};

	column_put_text(values, nulls, Anum_artifact_digest, artifact->digest);
	column_put_text(values, nulls, Anum_artifact_media_type, artifact->media_type);
	values[Anum_artifact_bytes - 1] = Int64GetDatum(artifact->bytes);
	values[Anum_artifact_content_no - 1] = Int64GetDatum(artifact->content_no);
	values[Anum_artifact_uploaded_at - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	(void) rows_insert(TABLE_ARTIFACT, values, nulls);
}

/*
 * Notes that an artifact that the caller holds has been uploaded again.  If
 * another transaction is doing so, waits for its end: only then is it certain
 * that the artifact will stay.
 */
static void
artifact_renew(Slice digest)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz before = now - ARTIFACT_RENEWAL;
	RowScan		scan;

	artifact_begin_scan(&scan, digest, ROWS_LATEST, RowExclusiveLock);
	rows_start(&scan);
	if (rows_next(&scan) && rows_timestamp(&scan, Anum_artifact_uploaded_at) < before &&
		rows_lock(&scan, ROW_LOCK_CHANGE, true) == ROW_LOCKED &&
		rows_timestamp(&scan, Anum_artifact_uploaded_at) < before)
	{
		Datum		values[Natts_artifact];
		bool		nulls[Natts_artifact];
		ItemPointerData tid = rows_tid(&scan);

		rows_keep(&scan, values, nulls);
		values[Anum_artifact_uploaded_at - 1] = TimestampTzGetDatum(now);
		rows_update(TABLE_ARTIFACT, &tid, values, nulls);
	}
	rows_end(&scan);
}

/* ------------------------------------------------------------------- owners */

static void
artifact_begin_owner_scan(RowScan *scan, Slice digest, Oid owner, RowSnapshot which, LOCKMODE lock)
{
	rows_begin(scan, TABLE_ARTIFACT_OWNER, INDEX_ARTIFACT_OWNER, which, lock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, digest);
	rows_key_oid(scan, 2, BTEqualStrategyNumber, owner);
}

bool
artifact_is_owned(Slice digest, Oid owner, RowSnapshot which)
{
	RowScan		scan;

	artifact_begin_owner_scan(&scan, digest, owner, which, AccessShareLock);
	return rows_look(&scan, NULL);
}

/*
 * Adds an owner.  Two transactions of one role would insert the same row, but
 * the guard that is held makes one wait for the other.
 */
static void
artifact_add_owner(Slice digest, Oid owner)
{
	Datum		values[Natts_artifact_owner];
	bool		nulls[Natts_artifact_owner] = {0};

	if (artifact_is_owned(digest, owner, ROWS_LATEST))
		return;
	column_put_text(values, nulls, Anum_artifact_owner_digest, digest);
	values[Anum_artifact_owner_owner - 1] = ObjectIdGetDatum(owner);
	(void) rows_insert(TABLE_ARTIFACT_OWNER, values, nulls);
}

int64
artifact_bytes_of(Oid owner, RowSnapshot which)
{
	int64		bytes = artifact_upload_bytes_of(owner, which);
	RowScan		scan;

	rows_begin(&scan, TABLE_ARTIFACT_OWNER, INDEX_ARTIFACT_OWNER_OWNER, which, AccessShareLock);
	rows_key_oid(&scan, 1, BTEqualStrategyNumber, owner);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Artifact	artifact;

		CHECK_FOR_INTERRUPTS();
		if (artifact_find(rows_text(&scan, Anum_artifact_owner_digest), which, &artifact))
			bytes += artifact.bytes;
	}
	rows_end(&scan);
	return bytes;
}

/* ------------------------------------------------------------------ keeping */

/*
 * Returns the other transaction that is adding the artifact, or adding that
 * owner to it.
 */
static TransactionId
artifact_in_doubt(Slice digest, Oid owner)
{
	TransactionId creator;
	RowScan		scan;

	artifact_begin_scan(&scan, digest, ROWS_DIRTY, RowExclusiveLock);
	if (rows_look(&scan, &creator) && TransactionIdIsValid(creator))
		return creator;
	artifact_begin_owner_scan(&scan, digest, owner, ROWS_DIRTY, RowExclusiveLock);
	return rows_look(&scan, &creator) ? creator : InvalidTransactionId;
}

/*
 * Takes the guard of the digest once no other transaction is adding the same.
 */
static uint64
artifact_take_guard(Slice digest, Oid owner)
{
	uint64		guard = guard_key(GUARD_ARTIFACT, digest, SLICE_NONE, 0);

	for (;;)
	{
		TransactionId other;

		guard_take(guard);
		other = artifact_in_doubt(digest, owner);
		if (!TransactionIdIsValid(other))
			return guard;
		guard_release(guard);
		wait_for_transaction(other);
	}
}

void
artifact_keep(const Artifact *artifact, Oid owner)
{
	uint64		guard;

	/*
	 * wait for a transaction that is removing it, after which it does not
	 * exist
	 */
	bool		is_there = artifact_lock(artifact->digest, true) == ROW_LOCKED;

	guard = artifact_take_guard(artifact->digest, owner);
	if (!is_there)
		is_there = artifact_hold(artifact->digest);
	if (!is_there)
		artifact_insert(artifact);
	artifact_add_owner(artifact->digest, owner);
	guard_release(guard);
	if (!is_there)
		return;
	if (clutch_artifact_grace > 0)
		artifact_renew(artifact->digest);
	artifact_content_remove(artifact->content_no);
}
