/*-------------------------------------------------------------------------
 *
 * artifact_use.c
 *	  Which events attach which artifact, clutch.artifact_use.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "miscadmin.h"
#include "store/artifact.h"

/* columns of clutch.artifact_use */
enum
{
	Anum_artifact_use_seq = 1,
	Anum_artifact_use_digest,
	Anum_artifact_use_run_id,
	Natts_artifact_use = Anum_artifact_use_run_id
};

ROWS_CHECK_COLUMNS(Natts_artifact_use, ARTIFACT_USE);

/* An envelope may attach the same artifact twice, which makes only one row. */
void
artifact_use_add(Slice digest, int64 seq, Slice run_id)
{
	Datum		values[Natts_artifact_use];
	bool		nulls[Natts_artifact_use] = {0};
	RowScan		scan;

	rows_begin(&scan, TABLE_ARTIFACT_USE, INDEX_ARTIFACT_USE, ROWS_LATEST, RowExclusiveLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, seq);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, digest);
	if (rows_look(&scan, NULL))
		return;
	values[Anum_artifact_use_seq - 1] = Int64GetDatum(seq);
	column_put_text(values, nulls, Anum_artifact_use_digest, digest);
	column_put_text(values, nulls, Anum_artifact_use_run_id, run_id);
	(void) rows_insert(TABLE_ARTIFACT_USE, values, nulls);
}

static void
artifact_use_begin_scan(RowScan *scan, Slice digest, RowSnapshot which)
{
	rows_begin(scan, TABLE_ARTIFACT_USE, INDEX_ARTIFACT_USE_DIGEST, which, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, digest);
}

bool
artifact_is_used(Slice digest)
{
	RowScan		scan;

	artifact_use_begin_scan(&scan, digest, ROWS_LATEST);
	return rows_look(&scan, NULL);
}

bool
artifact_use_any(Slice digest, RowSnapshot which, ArtifactUseVisit visit, void *arg)
{
	bool		any = false;
	RowScan		scan;

	artifact_use_begin_scan(&scan, digest, which);
	rows_start(&scan);
	while (!any && rows_next(&scan))
	{
		CHECK_FOR_INTERRUPTS();
		any = visit(rows_int8(&scan, Anum_artifact_use_seq),
					rows_text(&scan, Anum_artifact_use_run_id), arg);
	}
	rows_end(&scan);
	return any;
}

void
artifact_use_forget(const int64 *seqs, int n)
{
	RowScan		scan;
	int			i;

	if (!rows_table_was_used(TABLE_ARTIFACT_USE))
		return;
	for (i = 0; i < n; i++)
		do
		{
			rows_begin(&scan, TABLE_ARTIFACT_USE, INDEX_ARTIFACT_USE, ROWS_LATEST, RowExclusiveLock);
			rows_key_int8(&scan, 1, BTEqualStrategyNumber, seqs[i]);
		}
		while (rows_delete_first(&scan));
}
