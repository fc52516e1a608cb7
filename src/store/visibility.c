/*-------------------------------------------------------------------------
 *
 * visibility.c
 *	  Visibility: who can see a run without taking part in it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/guard.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "store/visibility.h"

/* columns of clutch.run_visibility */
enum
{
	Anum_run_visibility_run_id = 1,
	Anum_run_visibility_visibility,
	Natts_run_visibility = Anum_run_visibility_visibility
};

ROWS_CHECK_COLUMNS(Natts_run_visibility, RUN_VISIBILITY);

static Visibility
visibility_of_word(Slice word)
{
	int			i;

	for (i = VISIBILITY_PUBLIC; i <= VISIBILITY_PRIVATE; i++)
		if (slice_equal(word, slice_of_cstring(envelope_visibility_word(i))))
			return i;
	return VISIBILITY_SCOPE;
}

Visibility
visibility_of_run(Slice run_id, RowSnapshot which)
{
	Visibility	visibility = VISIBILITY_SCOPE;
	RowScan		scan;

	rows_begin(&scan, TABLE_RUN_VISIBILITY, INDEX_RUN_VISIBILITY, which, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	if (rows_next(&scan))
		visibility = visibility_of_word(rows_text(&scan, Anum_run_visibility_visibility));
	rows_end(&scan);
	return visibility;
}

bool
visibility_is_in_use(void)
{
	return rows_table_was_used(TABLE_RUN_VISIBILITY);
}

static void
visibility_begin_word(RowScan *scan, Visibility visibility, RowSnapshot which)
{
	rows_begin(scan, TABLE_RUN_VISIBILITY, INDEX_RUN_VISIBILITY_WORD, which, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber,
				  slice_of_cstring(envelope_visibility_word(visibility)));
}

List *
visibility_list_public(RowSnapshot which)
{
	RowScan		scan;

	visibility_begin_word(&scan, VISIBILITY_PUBLIC, which);
	return rows_list_texts(&scan, Anum_run_visibility_run_id, NIL);
}

static void
visibility_refuse(const Envelope *request, Visibility visibility)
{
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
			 errproblem("/meta/clutch/visibility", "VISIBILITY_MISMATCH"),
			 errmsg("the visibility of run \"%.*s\" is %s and cannot be changed",
					request->run_id.len, request->run_id.s, envelope_visibility_word(visibility)),
			 errhint("Leave the visibility out, or name it in the first request of a run.")));
}

static void
visibility_insert(Slice run_id, Visibility visibility)
{
	Datum		values[Natts_run_visibility];
	bool		nulls[Natts_run_visibility] = {0};

	values[Anum_run_visibility_run_id - 1] = PointerGetDatum(slice_to_text(run_id));
	values[Anum_run_visibility_visibility - 1] =
		PointerGetDatum(slice_to_text(slice_of_cstring(envelope_visibility_word(visibility))));
	(void) rows_insert(TABLE_RUN_VISIBILITY, values, nulls);
}

/*
 * Two transactions may send the first requests of a run at the same time.  The
 * dirty snapshot sees the row of the other one, which counts whether or not
 * that commits.
 */
void
visibility_set(const Envelope *request, bool run_has_tasks)
{
	Visibility	asked = request->orders.visibility;
	Visibility	found;
	uint64		guard;

	if (asked == VISIBILITY_UNSAID)
		return;
	if (run_has_tasks)
	{
		found = visibility_of_run(request->run_id, ROWS_DIRTY);
		if (found != asked)
			visibility_refuse(request, found);
		return;
	}
	if (asked == VISIBILITY_SCOPE)
		return;
	guard = guard_key(GUARD_VISIBILITY, request->run_id, SLICE_NONE, 0);
	guard_take(guard);
	found = visibility_of_run(request->run_id, ROWS_DIRTY);
	if (found == VISIBILITY_SCOPE)
		visibility_insert(request->run_id, asked);
	guard_release(guard);
	if (found != VISIBILITY_SCOPE && found != asked)
		visibility_refuse(request, found);
}

void
visibility_forget(Slice run_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_RUN_VISIBILITY, INDEX_RUN_VISIBILITY, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	(void) rows_delete_first(&scan);
}
