/*-------------------------------------------------------------------------
 *
 * scope.c
 *	  The scope of a run, which is that of its first request.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/guard.h"
#include "base/rows.h"
#include "base/wait.h"
#include "protocol/problem.h"
#include "store/scope.h"
#include "utils/inval.h"

/* columns of clutch.run_scope */
enum
{
	Anum_run_scope_run_id = 1,
	Anum_run_scope_scope,
	Natts_run_scope = Anum_run_scope_scope
};

ROWS_CHECK_COLUMNS(Natts_run_scope, RUN_SCOPE);

/*
 * Most databases use no scopes, and in those, events should not pay for
 * looking one up.  The transaction that writes the first scope tells all
 * backends through the relcache.
 */
static bool none_in_use = false;
static bool told_all = false;	/* there is a committed row, so all backends
								 * have been told */
static bool watching_relation = false;

static void
scope_forget_none_in_use(Datum arg, Oid relid)
{
	/*
	 * do so for any relation, because a table that is created again has
	 * another OID
	 */
	none_in_use = false;
	told_all = false;
}

static bool
scope_table_is_empty(void)
{
	RowScan		scan;
	bool		empty;

	rows_begin(&scan, TABLE_RUN_SCOPE, INDEX_RUN_SCOPE, ROWS_DIRTY, RowExclusiveLock);
	rows_start(&scan);
	empty = !rows_next(&scan);
	told_all = !empty && !rows_is_ours(&scan) && !TransactionIdIsValid(rows_in_doubt(&scan));
	rows_end(&scan);
	return empty;
}

/*
 * Set the flag before looking, so that an invalidation that arrives meanwhile
 * resets it.
 */
static bool
scope_any_in_use(void)
{
	if (!watching_relation)
	{
		CacheRegisterRelcacheCallback(scope_forget_none_in_use, (Datum) 0);
		watching_relation = true;
	}
	if (none_in_use)
		return false;
	none_in_use = true;
	if (!scope_table_is_empty())
		none_in_use = false;
	return !none_in_use;
}

/*
 * The dirty snapshot also finds the scope of a run whose first request is not
 * committed yet.  If that is rolled back, the event keeps a scope that its run
 * no longer has.  That hides the event from some readers, and shows it to no
 * additional ones.
 */
static Slice
scope_lookup_doubted(Slice run_id, TransactionId *in_doubt)
{
	Slice		scope = SLICE_NONE;
	RowScan		scan;

	*in_doubt = InvalidTransactionId;
	rows_begin(&scan, TABLE_RUN_SCOPE, INDEX_RUN_SCOPE, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	if (rows_next(&scan))
	{
		scope = rows_text_copy(&scan, Anum_run_scope_scope);
		*in_doubt = rows_in_doubt(&scan);
	}
	rows_end(&scan);
	if (slice_present(scope))
		none_in_use = false;
	return scope;
}

static Slice
scope_lookup(Slice run_id)
{
	TransactionId in_doubt;

	return scope_lookup_doubted(run_id, &in_doubt);
}

void
scope_await(Slice run_id)
{
	TransactionId in_doubt;

	while (scope_lookup_doubted(run_id, &in_doubt), TransactionIdIsValid(in_doubt))
		wait_for_transaction(in_doubt);
}

Slice
scope_of_run(Slice run_id)
{
	return scope_any_in_use() ? scope_lookup(run_id) : SLICE_NONE;
}

static void
scope_refuse(const Envelope *request, Slice owner)
{
	if (slice_present(owner))
		ereport(ERROR,
				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
				 errproblem("/meta/clutch/scope", "SCOPE_MISMATCH"),
				 errmsg("run \"%.*s\" belongs to scope \"%.*s\", not to \"%.*s\"",
						request->run_id.len, request->run_id.s, owner.len, owner.s,
						request->orders.scope.len, request->orders.scope.s),
				 errhint("Leave the scope out to inherit the run's, or start another run.")));
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
			 errproblem("/meta/clutch/scope", "SCOPE_MISMATCH"),
			 errmsg("run \"%.*s\" was started without a scope and cannot be given \"%.*s\" now",
					request->run_id.len, request->run_id.s,
					request->orders.scope.len, request->orders.scope.s),
			 errhint("Name the scope in the first request of a run.")));
}

static void
scope_insert(Slice run_id, Slice scope)
{
	Datum		values[Natts_run_scope];
	bool		nulls[Natts_run_scope] = {0};

	values[Anum_run_scope_run_id - 1] = PointerGetDatum(slice_to_text(run_id));
	values[Anum_run_scope_scope - 1] = PointerGetDatum(slice_to_text(scope));
	(void) rows_insert(TABLE_RUN_SCOPE, values, nulls);
	/* not only for the first row, because it may be rolled back */
	if (!told_all)
		CacheInvalidateRelcacheByRelid(rows_table_oid(TABLE_RUN_SCOPE));
	none_in_use = false;
}

/*
 * Returns the scope that the run has, or an absent slice if this is the request
 * that decides.  As for the visibility, the later one of two such requests waits
 * for the transaction of the other.
 */
static Slice
scope_decide(const Envelope *request)
{
	uint64		guard = guard_key(GUARD_SCOPE, request->run_id, SLICE_NONE, 0);
	TransactionId in_doubt;
	Slice		owner;

	for (;;)
	{
		guard_take(guard);
		owner = scope_lookup_doubted(request->run_id, &in_doubt);
		if (!slice_present(owner))
			scope_insert(request->run_id, request->orders.scope);
		guard_release(guard);
		if (!TransactionIdIsValid(in_doubt))
			return owner;
		wait_for_transaction(in_doubt);
	}
}

/*
 * Always looks at the table, because a transaction that writes the very first
 * scope tells others only when it commits.
 */
Slice
scope_of_request(const Envelope *request, bool run_has_tasks)
{
	Slice		asked = request->orders.scope;
	Slice		owner;

	if (!slice_present(asked))
		return scope_lookup(request->run_id);
	owner = run_has_tasks ? scope_lookup(request->run_id) : scope_decide(request);
	if (slice_present(owner) ? !slice_equal(owner, asked) : run_has_tasks)
		scope_refuse(request, owner);
	return asked;
}

List *
scope_list_runs(Slice scope)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_RUN_SCOPE, INDEX_RUN_SCOPE_SCOPE, ROWS_ACTIVE, AccessShareLock);
	if (slice_present(scope))
		rows_key_text(&scan, 1, BTEqualStrategyNumber, scope);
	return rows_list_texts(&scan, Anum_run_scope_run_id);
}

Slice
scope_look(Slice run_id)
{
	Slice		scope = SLICE_NONE;
	RowScan		scan;

	rows_begin(&scan, TABLE_RUN_SCOPE, INDEX_RUN_SCOPE, ROWS_ACTIVE, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	if (rows_next(&scan))
		scope = rows_text_copy(&scan, Anum_run_scope_scope);
	rows_end(&scan);
	return scope;
}

void
scope_forget(Slice run_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_RUN_SCOPE, INDEX_RUN_SCOPE, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, run_id);
	(void) rows_delete_first(&scan);
}
