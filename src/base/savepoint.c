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
#include "base/owner.h"
#include "base/rows.h"
#include "base/savepoint.h"
#include "base/transaction.h"
#include "catalog/namespace.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"

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
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

/* ------------------------------------------------------- deferred triggers */

/* Returns the names of the constraints whose triggers an INSERT into the log defers, as SET CONSTRAINTS wants them. */
static List *
savepoint_list_deferred(void)
{
	Relation	rel = rows_open(TABLE_EVENTS, RowExclusiveLock);
	List	   *names = NIL;
	int			n = rel->trigdesc == NULL ? 0 : rel->trigdesc->numtriggers;

	for (int i = 0; i < n; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];

		if (trigger->tginitdeferred && TRIGGER_FOR_INSERT(trigger->tgtype))
			names = lappend(names, makeRangeVar("clutch", get_constraint_name(trigger->tgconstraint), -1));
	}
	table_close(rel, NoLock);
	return names;
}

bool
savepoint_is_deferring(void)
{
	return savepoint_list_deferred() != NIL;
}

static void
savepoint_set_constraints(List *names, bool deferred)
{
	ConstraintsSetStmt *set = makeNode(ConstraintsSetStmt);

	set->constraints = names;
	set->deferred = deferred;
	AfterTriggerSetState(set);
}

static void
savepoint_transaction_ended(void)
{
	queued = 0;
}

void
savepoint_note_insert(void)
{
	static TransactionWatch watch = {.ended = savepoint_transaction_ended};

	transaction_watch(&watch);
	queued++;
}

typedef struct WholeStep
{
	void		(*step) (void *arg);
	void	   *arg;
} WholeStep;

/*
 * The role is the one that would fire them at commit.  If it may not look up
 * the names, since it sends through a function of somebody else, it is the
 * owner.
 */
static void
savepoint_fire(List *names)
{
	bool		may_look = DatumGetBool(DirectFunctionCall2(has_schema_privilege_id,
														ObjectIdGetDatum(get_namespace_oid("clutch", false)),
														CStringGetTextDatum("USAGE")));
	OwnerCaller caller = {0};

	if (!may_look)
		caller = owner_begin();
	savepoint_set_constraints(names, false);
	savepoint_set_constraints(names, true);
	if (!may_look)
		owner_end(caller);
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
	if (!may_fire || queued == before || (deferred = savepoint_list_deferred()) == NIL)
		return;
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

	return category == ERRCODE_TRANSACTION_ROLLBACK || category == ERRCODE_INSUFFICIENT_RESOURCES ||
		error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE;
}

const char *
savepoint_advice(const ErrorData *error)
{
	return error->hint != NULL ? error->hint : "Triggers of your own on clutch.events must not raise errors.";
}
