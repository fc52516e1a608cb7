/*-------------------------------------------------------------------------
 *
 * savepoint.c
 *	  A step that may fail without making the whole transaction fail.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/table.h"
#include "access/xact.h"
#include "base/clock.h"
#include "base/owner.h"
#include "base/rows.h"
#include "base/savepoint.h"
#include "base/transaction.h"
#include "base/wait.h"
#include "catalog/namespace.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/*
 * how many rows this transaction has inserted into the log by the executor,
 * and may have queued deferred triggers for
 */
static int	queued = 0;

ErrorData *
savepoint_run(void (*step) (void *arg), void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	int			before = queued;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		step(arg);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		queued = before;
		if (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION)
			ReThrowError(error);
		wait_note_failure(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

/* ------------------------------------------------------- deferred triggers */

/*
 * Returns a List of the OIDs of the constraints whose triggers an INSERT into
 * the log, or a DELETE from it, defers.
 */
static List *
savepoint_list_deferred(bool deletes)
{
	Relation	rel = rows_open(TABLE_EVENTS, RowExclusiveLock);
	List	   *constraints = NIL;
	int			n = rel->trigdesc == NULL ? 0 : rel->trigdesc->numtriggers;

	for (int i = 0; i < n; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];
		bool		fires = deletes ? TRIGGER_FOR_DELETE(trigger->tgtype) : TRIGGER_FOR_INSERT(trigger->tgtype);

		if (trigger->tginitdeferred && fires)
			constraints = lappend_oid(constraints, trigger->tgconstraint);
	}
	table_close(rel, NoLock);
	return constraints;
}

bool
savepoint_is_deferring(void)
{
	return savepoint_list_deferred(false) != NIL;
}

/* May the current role look up names in the schema? */
static bool
savepoint_may_look_into(Oid schema)
{
	return DatumGetBool(DirectFunctionCall2(has_schema_privilege_id, ObjectIdGetDatum(schema),
											CStringGetTextDatum("USAGE")));
}

/*
 * Does SET CONSTRAINTS, except for constraints that the current role may not
 * look up.  A foreign key is in the schema of the table that refers to the log.
 */
static void
savepoint_set_constraints(List *constraints, bool deferred)
{
	ConstraintsSetStmt *set = makeNode(ConstraintsSetStmt);
	ListCell   *cell;

	set->deferred = deferred;
	foreach(cell, constraints)
	{
		HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(lfirst_oid(cell)));
		Form_pg_constraint form;

		if (!HeapTupleIsValid(tuple))
			continue;
		form = (Form_pg_constraint) GETSTRUCT(tuple);
		if (savepoint_may_look_into(form->connamespace))
			set->constraints = lappend(set->constraints, makeRangeVar(get_namespace_name(form->connamespace),
																	  pstrdup(NameStr(form->conname)), -1));
		ReleaseSysCache(tuple);
	}
	/* an empty list would mean all constraints */
	if (set->constraints != NIL)
		AfterTriggerSetState(set);
}

void
savepoint_defer_no_deletes(void)
{
	List	   *constraints = IsTransactionBlock() ? NIL : savepoint_list_deferred(true);

	if (constraints != NIL)
		savepoint_set_constraints(constraints, false);
}

static void
savepoint_transaction_ended(void)
{
	queued = 0;
}

/* the constraints whose triggers are being fired */
static List *firing = NIL;

/* SET CONSTRAINTS, as the owner of the extension if the role may not look up the names */
static void
savepoint_set_as_allowed(List *constraints, bool deferred)
{
	bool		may_look = savepoint_may_look_into(get_namespace_oid("clutch", false));
	OwnerCaller caller = {0};

	if (!may_look)
		caller = owner_begin();
	savepoint_set_constraints(constraints, deferred);
	if (!may_look)
		owner_end(caller);
}

/*
 * While triggers are being fired, they are set to IMMEDIATE.  Those for a row
 * that one of them inserts must wait all the same, because the task that it is
 * about may not have been saved yet.
 */
void
savepoint_note_insert(void)
{
	static TransactionWatch watch = {.ended = savepoint_transaction_ended};

	transaction_watch(&watch);
	queued++;
	if (firing != NIL)
		savepoint_set_as_allowed(firing, true);
}

typedef struct WholeStep
{
	void		(*step) (void *arg);
	void	   *arg;
} WholeStep;

/*
 * The role is the current one, which may be the owner of a SECURITY DEFINER
 * function that makes the call.  The triggers may insert rows, whose own
 * triggers are fired after them.
 *
 * All the constraints are deferred afterwards.  If the transaction had set only
 * some of them to IMMEDIATE while events are queued for others, this is undone:
 * the mode of a constraint cannot be read.
 */
static void
savepoint_fire(List *constraints)
{
	List	   *outer = firing;
	int			before;

	firing = constraints;
	PG_TRY();
	{
		do
		{
			before = queued;
			savepoint_set_as_allowed(constraints, false);
			savepoint_set_as_allowed(constraints, true);
		} while (queued > before);
	}
	PG_FINALLY();
	{
		firing = outer;
	}
	PG_END_TRY();
}

/*
 * Whatever is queued for a constraint is fired, so this must not be done if the
 * transaction itself may have inserted rows, whose triggers have to wait for
 * its end.  When it commits, they have been fired.
 */
static void
savepoint_run_whole_step(void *arg)
{
	WholeStep  *whole = arg;
	bool		may_fire = queued == 0 || transaction_is_committing();
	int			before = queued;
	List	   *deferred;

	whole->step(whole->arg);
	if (!may_fire || queued == before || (deferred = savepoint_list_deferred(false)) == NIL)
		return;
	/* after SET CONSTRAINTS ... IMMEDIATE there is none, and the mode must stay */
	if (AfterTriggerPendingOnRel(rows_table_oid(TABLE_EVENTS)))
		savepoint_fire(deferred);
	queued = before;
}

ErrorData *
savepoint_run_whole(void (*step) (void *arg), void *arg)
{
	WholeStep	whole = {step, arg};

	return savepoint_run(savepoint_run_whole_step, &whole);
}

/* ------------------------------------------------------------------ errors */

bool
savepoint_failed_by_chance(const ErrorData *error)
{
	int			category = ERRCODE_TO_CATEGORY(error->sqlerrcode);

	return category == ERRCODE_TRANSACTION_ROLLBACK || savepoint_lacked_resources(error) ||
		error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE;
}

bool
savepoint_lacked_resources(const ErrorData *error)
{
	return ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INSUFFICIENT_RESOURCES;
}

bool
savepoint_tells_of_lack(TimestampTz *told_at)
{
	TimestampTz now = GetCurrentTimestamp();

	if (*told_at != 0 && !clock_is_over(*told_at, USECS_PER_MINUTE, now))
		return false;
	*told_at = now;
	return true;
}

const char *
savepoint_advice(const ErrorData *error)
{
	return error->hint != NULL ? error->hint : "Triggers of your own on clutch.events must not raise errors.";
}
