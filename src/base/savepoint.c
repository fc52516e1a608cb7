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
#include "base/rows.h"
#include "base/savepoint.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"

ErrorData *
savepoint_run(void (*step) (void *arg), void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
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

static void
savepoint_set_constraints(List *names, bool deferred)
{
	ConstraintsSetStmt *set = makeNode(ConstraintsSetStmt);

	set->constraints = names;
	set->deferred = deferred;
	AfterTriggerSetState(set);
}

typedef struct WholeStep
{
	void		(*step) (void *arg);
	void	   *arg;
} WholeStep;

static void
savepoint_run_whole_step(void *arg)
{
	WholeStep  *whole = arg;
	List	   *deferred;

	whole->step(whole->arg);
	deferred = savepoint_list_deferred();
	if (deferred == NIL)
		return;
	savepoint_set_constraints(deferred, false);
	savepoint_set_constraints(deferred, true);
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
