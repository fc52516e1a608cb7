/*-------------------------------------------------------------------------
 *
 * artifact_content.c
 *	  Chunks of artifacts, clutch.artifact_chunk.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "store/artifact.h"
#include "utils/memutils.h"

/* columns of clutch.artifact_chunk */
enum
{
	Anum_artifact_chunk_content_no = 1,
	Anum_artifact_chunk_first_byte,
	Anum_artifact_chunk_content,
	Natts_artifact_chunk = Anum_artifact_chunk_content
};

ROWS_CHECK_COLUMNS(Natts_artifact_chunk, ARTIFACT_CHUNK);

int64
artifact_content_begin(void)
{
	return rows_nextval(SEQUENCE_QUEUE_NO);
}

static void
artifact_content_insert(int64 content_no, int64 first_byte, const char *bytes, int n)
{
	Datum		values[Natts_artifact_chunk];
	bool		nulls[Natts_artifact_chunk] = {0};
	bytea	   *content = palloc(VARHDRSZ + n);

	SET_VARSIZE(content, VARHDRSZ + n);
	memcpy(VARDATA(content), bytes, n);
	values[Anum_artifact_chunk_content_no - 1] = Int64GetDatum(content_no);
	values[Anum_artifact_chunk_first_byte - 1] = Int64GetDatum(first_byte);
	values[Anum_artifact_chunk_content - 1] = PointerGetDatum(content);
	(void) rows_insert(TABLE_ARTIFACT_CHUNK, values, nulls);
	pfree(content);
}

void
artifact_content_append(int64 content_no, int64 size, const char *bytes, Size n)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "clutch artifact chunk",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);
	Size		done = 0;

	while (done < n)
	{
		int			now = (int) Min(n - done, ARTIFACT_CHUNK_BYTES);

		CHECK_FOR_INTERRUPTS();
		artifact_content_insert(content_no, size + (int64) done, bytes + done, now);
		done += now;
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
}

void
artifact_content_remove(int64 content_no)
{
	RowScan		scan;

	do
	{
		CHECK_FOR_INTERRUPTS();
		rows_begin(&scan, TABLE_ARTIFACT_CHUNK, INDEX_ARTIFACT_CHUNK, ROWS_LATEST, RowExclusiveLock);
		rows_key_int8(&scan, 1, BTEqualStrategyNumber, content_no);
	}
	while (rows_delete_first(&scan));
}

/*
 * Returns the first byte of the chunk that contains this byte, or of the last
 * chunk before it.
 */
static int64
artifact_content_find(int64 content_no, int64 byte, RowSnapshot which)
{
	int64		first = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_ARTIFACT_CHUNK, INDEX_ARTIFACT_CHUNK, which, AccessShareLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, content_no);
	rows_key_int8(&scan, 2, BTLessEqualStrategyNumber, byte);
	rows_start(&scan);
	if (rows_previous(&scan))
		first = rows_int8(&scan, Anum_artifact_chunk_first_byte);
	rows_end(&scan);
	return first;
}

void
artifact_content_visit(int64 content_no, int64 from_byte, RowSnapshot which, ArtifactVisit visit, void *arg)
{
	int64		first = artifact_content_find(content_no, from_byte, which);
	bool		goes_on = true;
	RowScan		scan;

	rows_begin(&scan, TABLE_ARTIFACT_CHUNK, INDEX_ARTIFACT_CHUNK, which, AccessShareLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, content_no);
	rows_key_int8(&scan, 2, BTGreaterEqualStrategyNumber, first);
	rows_start(&scan);
	while (goes_on && rows_next(&scan))
	{
		bool		isnull;
		Datum		datum = rows_datum(&scan, Anum_artifact_chunk_content, &isnull);
		bytea	   *content = DatumGetByteaPP(datum);

		CHECK_FOR_INTERRUPTS();
		goes_on = visit(rows_int8(&scan, Anum_artifact_chunk_first_byte), VARDATA_ANY(content),
						(int) VARSIZE_ANY_EXHDR(content), arg);
		if ((Pointer) content != DatumGetPointer(datum))
			pfree(content);
	}
	rows_end(&scan);
}
