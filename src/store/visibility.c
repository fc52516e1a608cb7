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
#include "base/wait.h"
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
		if (slice_is(word, envelope_visibility_word(i)))
			return i;
	return VISIBILITY_SCOPE;
}

static Visibility
visibility_look(Slice run_id, RowSnapshot which, TransactionId *in_doubt)
{
	Visibility	visibility = VISIBILITY_SCOPE;
	RowScan		scan;

	*in_doubt = InvalidTransactionId;
	rows_begin(&scan, TABLE_RUN_VISIBILITY, INDEX_RUN_VISIBILITY, which, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	if (rows_next(&scan))
	{
		visibility = visibility_of_word(rows_text(&scan, Anum_run_visibility_visibility));
		*in_doubt = rows_in_doubt(&scan);
	}
	rows_end(&scan);
	return visibility;
}

Visibility
visibility_of_run(Slice run_id, RowSnapshot which)
{
	TransactionId in_doubt;

	return visibility_look(run_id, which, &in_doubt);
}

void
visibility_await(Slice run_id)
{
	TransactionId in_doubt;

	while (visibility_look(run_id, ROWS_DIRTY, &in_doubt), TransactionIdIsValid(in_doubt))
		wait_for_transaction(in_doubt);
}

bool
visibility_is_in_use(void)
{
	return rows_table_was_used(TABLE_RUN_VISIBILITY);
}

List *
visibility_list_public(void)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_RUN_VISIBILITY, INDEX_RUN_VISIBILITY_WORD, ROWS_ACTIVE, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, slice_of_cstring(envelope_visibility_word(VISIBILITY_PUBLIC)));
	return rows_list_texts(&scan, Anum_run_visibility_run_id);
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
 * Returns the visibility that the run has, VISIBILITY_SCOPE if this is the
 * request that decides.  Two transactions may send the first requests of a run
 * at the same time: the later one waits for the end of the other, which may
 * roll back.
 */
static Visibility
visibility_decide(const Envelope *request)
{
	uint64		guard = guard_key(GUARD_VISIBILITY, request->run_id, SLICE_NONE, 0);
	TransactionId in_doubt;
	Visibility	found;

	for (;;)
	{
		guard_take(guard);
		found = visibility_look(request->run_id, ROWS_DIRTY, &in_doubt);
		if (found == VISIBILITY_SCOPE)
			visibility_insert(request->run_id, request->orders.visibility);
		guard_release(guard);
		if (!TransactionIdIsValid(in_doubt))
			return found;
		wait_for_transaction(in_doubt);
	}
}

void
visibility_set(const Envelope *request, bool run_has_tasks)
{
	Visibility	asked = request->orders.visibility;
	Visibility	found;

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
	found = visibility_decide(request);
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
