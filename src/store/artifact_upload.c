/*-------------------------------------------------------------------------
 *
 * artifact_upload.c
 *	  Uploads of artifacts in pieces, clutch.artifact_upload.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "base/crypto.h"
#include "miscadmin.h"
#include "store/artifact.h"
#include "utils/timestamp.h"

/* columns of clutch.artifact_upload */
enum
{
	Anum_artifact_upload_content_no = 1,
	Anum_artifact_upload_owner,
	Anum_artifact_upload_media_type,
	Anum_artifact_upload_bytes,
	Anum_artifact_upload_begun_at,
	Natts_artifact_upload = Anum_artifact_upload_begun_at
};

ROWS_CHECK_COLUMNS(Natts_artifact_upload, ARTIFACT_UPLOAD);

int64
artifact_upload_begin(Slice media_type, Oid owner)
{
	Datum		values[Natts_artifact_upload];
	bool		nulls[Natts_artifact_upload] = {0};
	int64		content_no = artifact_content_begin();

	values[Anum_artifact_upload_content_no - 1] = Int64GetDatum(content_no);
	values[Anum_artifact_upload_owner - 1] = ObjectIdGetDatum(owner);
	column_put_text(values, nulls, Anum_artifact_upload_media_type, media_type);
	values[Anum_artifact_upload_bytes - 1] = Int64GetDatum(0);
	values[Anum_artifact_upload_begun_at - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	(void) rows_insert(TABLE_ARTIFACT_UPLOAD, values, nulls);
	return content_no;
}

static void
artifact_upload_begin_scan(RowScan *scan, int64 content_no)
{
	rows_begin(scan, TABLE_ARTIFACT_UPLOAD, INDEX_ARTIFACT_UPLOAD, ROWS_LATEST, RowExclusiveLock);
	rows_key_int8(scan, 1, BTEqualStrategyNumber, content_no);
}

bool
artifact_upload_lock(int64 content_no, ArtifactUpload *upload)
{
	bool		found;
	RowScan		scan;

	artifact_upload_begin_scan(&scan, content_no);
	rows_start(&scan);
	found = rows_next(&scan) && rows_lock(&scan, ROW_LOCK_END, true) == ROW_LOCKED;
	if (found)
	{
		upload->content_no = content_no;
		upload->owner = rows_oid(&scan, Anum_artifact_upload_owner);
		upload->media_type = rows_text_copy(&scan, Anum_artifact_upload_media_type);
		upload->bytes = rows_int8(&scan, Anum_artifact_upload_bytes);
	}
	rows_end(&scan);
	return found;
}

void
artifact_upload_append(ArtifactUpload *upload, const char *bytes, Size n)
{
	Datum		values[Natts_artifact_upload];
	bool		nulls[Natts_artifact_upload];
	ItemPointerData tid;
	RowScan		scan;

	artifact_content_append(upload->content_no, upload->bytes, bytes, n);
	upload->bytes += (int64) n;
	artifact_upload_begin_scan(&scan, upload->content_no);
	rows_start(&scan);
	if (!rows_next(&scan))
		elog(ERROR, "upload " INT64_FORMAT " is gone", upload->content_no);
	rows_keep(&scan, values, nulls);
	tid = rows_tid(&scan);
	rows_end(&scan);
	values[Anum_artifact_upload_bytes - 1] = Int64GetDatum(upload->bytes);
	rows_update(TABLE_ARTIFACT_UPLOAD, &tid, values, nulls);
}

static bool
artifact_upload_hash(int64 first_byte, const char *bytes, int n, void *arg)
{
	crypto_hash_add((CryptoHash *) arg, bytes, n);
	return true;
}

Artifact
artifact_upload_finish(const ArtifactUpload *upload)
{
	uint8		digest[CRYPTO_HASH_BYTES];
	CryptoHash	hash;
	RowScan		scan;

	crypto_hash_begin(&hash);
	artifact_content_visit(upload->content_no, 0, ROWS_LATEST, artifact_upload_hash, &hash);
	crypto_hash_end(&hash, digest);
	artifact_upload_begin_scan(&scan, upload->content_no);
	(void) rows_delete_first(&scan);
	return (Artifact) {
		.digest = crypto_encode_hex(digest, CRYPTO_HASH_BYTES),
		.media_type = upload->media_type,
		.bytes = upload->bytes,
		.content_no = upload->content_no
	};
}

/*
 * While a call that appends replaces the row of an upload, there are two
 * versions of it.  Only one may be counted.
 */
int64
artifact_upload_bytes_of(Oid owner, RowSnapshot which)
{
	int64		bytes = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_ARTIFACT_UPLOAD, INDEX_ARTIFACT_UPLOAD_OWNER, which, AccessShareLock);
	rows_key_oid(&scan, 1, BTEqualStrategyNumber, owner);
	rows_start(&scan);
	while (rows_next(&scan))
		if (!rows_is_being_deleted(&scan))
			bytes += rows_int8(&scan, Anum_artifact_upload_bytes);
	rows_end(&scan);
	return bytes;
}

/*
 * Returns the next upload that is old and that nobody else has locked, and
 * locks it.  Returns 0 if there is none.
 */
static int64
artifact_upload_find_old(TimestampTz before)
{
	int64		found = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_ARTIFACT_UPLOAD, INDEX_ARTIFACT_UPLOAD, ROWS_LATEST, RowExclusiveLock);
	rows_start(&scan);
	while (found == 0 && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (rows_timestamp(&scan, Anum_artifact_upload_begun_at) < before &&
			rows_lock(&scan, ROW_LOCK_END, false) == ROW_LOCKED)
			found = rows_int8(&scan, Anum_artifact_upload_content_no);
	}
	rows_end(&scan);
	return found;
}

int
artifact_upload_sweep(TimestampTz before, int n)
{
	int			removed;

	for (removed = 0; removed < n; removed++)
	{
		int64		content_no = artifact_upload_find_old(before);
		RowScan		scan;

		if (content_no == 0)
			break;
		artifact_upload_begin_scan(&scan, content_no);
		(void) rows_delete_first(&scan);
		artifact_content_remove(content_no);
	}
	return removed;
}
