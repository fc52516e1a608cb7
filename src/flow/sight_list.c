/*-------------------------------------------------------------------------
 *
 * sight_list.c
 *	  The cached list of the runs of which a role sees something.
 *
 * Making the list takes some microseconds for each run.  An index scan needs
 * it to begin with, clutch.sees is then called for each row that was found,
 * and the inner side of a nested loop does all of this again and again.
 * Therefore the newest list is cached, for use with the same snapshot and the
 * same grants.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xact.h"
#include "base/column.h"
#include "base/transaction.h"
#include "flow/right.h"
#include "flow/sight_part.h"
#include "miscadmin.h"
#include "registry/roster.h"
#include "store/scope.h"
#include "store/visibility.h"
#include "trust/principal.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

static RunList *kept_list = NULL;

/* ------------------------------------------------------------------ keeping */

static void
sight_release_list(void *list)
{
	if (--((RunList *) list)->holders == 0)
		MemoryContextDelete(((RunList *) list)->context);
}

/*
 * After a rollback, the list may contain what was rolled back, and the
 * snapshot does not show that.
 */
static void
sight_void_list(void)
{
	if (kept_list != NULL)
		kept_list->is_void = true;
}

static void
sight_keep_list(RunList *list)
{
	static TransactionWatch watch = {.rolled_back = sight_void_list};
	RunList    *former = kept_list;

	transaction_watch(&watch);
	list->holders++;
	MemoryContextSetParent(list->context, TopMemoryContext);
	kept_list = list;
	if (former != NULL)
		sight_release_list(former);
}

static void
sight_hold_list(Sight *sight, RunList *list)
{
	MemoryContextCallback *callback = MemoryContextAlloc(sight->context,
														 sizeof(MemoryContextCallback));

	callback->func = sight_release_list;
	callback->arg = list;
	list->holders++;
	MemoryContextRegisterResetCallback(sight->context, callback);
	sight->list = list;
}

static TransactionId *
sight_copy_xids(const TransactionId *xids, int n)
{
	TransactionId *copy = palloc(sizeof(TransactionId) * n);

	if (n > 0)
		memcpy(copy, xids, sizeof(TransactionId) * n);
	return copy;
}

static void
sight_note_snapshot(RunList *list, Snapshot snapshot)
{
	list->own = GetTopTransactionIdIfAny();
	list->xmin = snapshot->xmin;
	list->xmax = snapshot->xmax;
	list->curcid = snapshot->curcid;
	list->xcnt = snapshot->xcnt;
	list->xip = sight_copy_xids(snapshot->xip, snapshot->xcnt);
	list->suboverflowed = snapshot->suboverflowed;
	list->subxcnt = snapshot->suboverflowed ? 0 : snapshot->subxcnt;
	list->subxip = sight_copy_xids(snapshot->subxip, list->subxcnt);
}

static bool
sight_is_same_xids(const TransactionId *a, const TransactionId *b, int n)
{
	return n == 0 || memcmp(a, b, sizeof(TransactionId) * n) == 0;
}

/*
 * If too many subtransactions are open, a snapshot does not list them, and asks
 * which transactions they belong to.
 */
static bool
sight_is_of_snapshot(const RunList *list, Snapshot snapshot)
{
	return !snapshot->takenDuringRecovery &&
		list->own == GetTopTransactionIdIfAny() && list->xmin == snapshot->xmin && list->xmax == snapshot->xmax &&
		list->curcid == snapshot->curcid && list->xcnt == snapshot->xcnt &&
		sight_is_same_xids(list->xip, snapshot->xip, list->xcnt) &&
		list->suboverflowed == snapshot->suboverflowed &&
		(list->suboverflowed ||
		 (list->subxcnt == snapshot->subxcnt && sight_is_same_xids(list->subxip, snapshot->subxip, list->subxcnt)));
}

static bool
sight_has_kept(void)
{
	return kept_list != NULL && !kept_list->is_void && kept_list->registry == roster_changes() &&
		sight_is_of_snapshot(kept_list, GetActiveSnapshot());
}

/* Returns InvalidOid if the session is acting as another role. */
static Oid
sight_own_role(void)
{
	return principal_role() == GetUserId() ? GetUserId() : InvalidOid;
}

/* ------------------------------------------------------------------- making */

/*
 * Returns those of a scope's runs that holders of the scope may see.  The
 * others are private or parent-only, and not even their IDs may be revealed.
 */
static List *
sight_list_open(List *runs)
{
	List	   *open = NIL;
	ListCell   *cell;

	if (!visibility_is_in_use())
		return runs;
	foreach(cell, runs)
	{
		CHECK_FOR_INTERRUPTS();
		if (visibility_of_run(*(Slice *) lfirst(cell), ROWS_ACTIVE) == VISIBILITY_SCOPE)
			open = lappend(open, lfirst(cell));
	}
	return open;
}

/*
 * Returns the runs that a role sees although none of its agents takes part:
 * public runs, and those of its scopes.
 */
static List *
sight_list_others(const Sight *sight)
{
	List	   *runs = NIL;
	int			i;

	for (i = 0; i < sight->scopes.n; i++)
	{
		bool		is_any = slice_equal(sight->scopes.items[i], SLICE_OF("*"));

		runs = list_concat(runs, scope_list_runs(is_any ? SLICE_NONE : sight->scopes.items[i]));
	}
	runs = sight_list_open(runs);
	if (sight->is_known)
		runs = list_concat(runs, visibility_list_public());
	return runs;
}

/* Adds runs to the hash table.  Its keys point into the array. */
static void
sight_enter_runs(RunList *list, List *own)
{
	SliceList	keys = column_texts_of(list->array);
	ListCell   *cell;
	int			i;

	list->runs = runtable_create(list->context, keys.n, NULL);
	for (i = 0; i < keys.n; i++)
	{
		bool		found;
		RunSight   *run = runtable_insert(list->runs, keys.items[i], &found);

		run->takes_part = run->is_found_out = false;
	}
	foreach(cell, own)
		runtable_lookup(list->runs, *(Slice *) lfirst(cell))->takes_part = true;
}

static void
sight_fill_list(RunList *list, const Sight *sight)
{
	MemoryContext scratch = AllocSetContextCreate(list->context, "clutch runs", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	List	   *own = right_list_runs(&sight->agents);
	List	   *others = sight_list_others(sight);
	Datum		array = column_of_list(others == NIL ? own : slice_list_sort_unique(list_concat(others, own)));

	MemoryContextSwitchTo(list->context);
	list->array = datumCopy(array, false, -1);
	MemoryContextSwitchTo(scratch);
	sight_enter_runs(list, own);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}

static void
sight_make_list(const Sight *sight)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "clutch runs that are seen",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RunList    *list = palloc0(sizeof(RunList));

	list->context = context;
	list->role = sight_own_role();
	list->agents = slices_copy(sight->agents);
	list->scopes = slices_copy(sight->scopes);
	list->registry = roster_changes();
	sight_note_snapshot(list, GetActiveSnapshot());
	sight_fill_list(list, sight);
	MemoryContextSwitchTo(old);
	sight_keep_list(list);
}

static bool
sight_fits_kept(const Sight *sight)
{
	return sight_has_kept() && slices_equal(kept_list->agents, sight->agents) &&
		slices_equal(kept_list->scopes, sight->scopes);
}

void
sight_take_list(Sight *sight, bool make)
{
	bool		fits = sight_fits_kept(sight);

	if (!fits && make)
		sight_make_list(sight);
	if (fits || make)
		sight_hold_list(sight, kept_list);
}

Datum
sight_array_of_runs(const Sight *sight)
{
	if (!sight_fits_kept(sight))
		sight_make_list(sight);
	return datumCopy(kept_list->array, false, -1);
}

int
sight_count_listed_runs(void)
{
	return kept_list != NULL && kept_list->role == GetUserId() ? (int) kept_list->runs->members : -1;
}
