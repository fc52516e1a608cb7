/*-------------------------------------------------------------------------
 *
 * visible.c
 *	  Which events and tasks a role may read, for functions that return them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "api/visible.h"
#include "base/column.h"
#include "base/document.h"
#include "base/rows.h"
#include "flow/right.h"
#include "flow/sight.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "registry/agent.h"
#include "registry/slot.h"
#include "store/epoch.h"
#include "task/verdict.h"
#include "trust/principal.h"
#include "trust/privilege.h"
#include "utils/inval.h"
#include "utils/plancache.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(clutch_reads_all);
PG_FUNCTION_INFO_V1(clutch_my_agents);
PG_FUNCTION_INFO_V1(clutch_my_runs);
PG_FUNCTION_INFO_V1(clutch_envelope_of);
PG_FUNCTION_INFO_V1(clutch_readable_runs);
PG_FUNCTION_INFO_V1(clutch_partial_runs);
PG_FUNCTION_INFO_V1(clutch_readable_tasks);
PG_FUNCTION_INFO_V1(clutch_current_epoch);
PG_FUNCTION_INFO_V1(clutch_policy_support);
PG_FUNCTION_INFO_V1(clutch_slots_held);

bool
visible_everything(void)
{
	return privilege_reads_all(GetUserId(), ROWS_ACTIVE);
}

bool
visible_task(const Task *task)
{
	Sight		sight;

	sight_begin(&sight);
	return sight_has_task(&sight, task);
}

bool
visible_run(Slice run_id)
{
	Sight		sight;

	sight_begin(&sight);
	return sight_of_run(&sight, run_id) == SIGHT_RUN;
}

Task *
visible_look_task(Slice task_id)
{
	Task	   *task = task_look(task_id, ROWS_ACTIVE);

	if (task == NULL || !visible_task(task))
		verdict_task_not_found(task_id, "task_id");
	return task;
}

void
visible_require_own_agent(Slice agent_id, const char *argument)
{
	if (slice_starts(agent_id, SLICE_OF("agent:")))
		principal_require(agent_id, argument);
	agent_require(agent_id, argument);
}

/* ------------------------------------------------------------- for policies */

Datum
clutch_reads_all(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(visible_everything());
}

static void
forget_plans(Datum arg, int cacheid, uint32 hashvalue)
{
	ResetPlanCache();
}

/*
 * Puts the value of clutch.reads_all(), which the policies ask first, into the plan,
 * so that a reader's query is planned as if there were no policy, and that of an
 * agent's role can use the indexes that the rest of the policy fits.
 *
 * A plan under row-level security is made for one role.  When that is granted a
 * privilege of clutch, or loses one, its rights to the tables change as well, and
 * PostgreSQL makes the plan again; it does not when a membership changes.  Elsewhere
 * the call stays as it is: a plan that does not read a table with a policy serves
 * all roles.
 */
Datum
clutch_policy_support(PG_FUNCTION_ARGS)
{
	static bool watching = false;
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	PlannerInfo *root;

	if (!IsA(request, SupportRequestSimplify))
		PG_RETURN_POINTER(NULL);
	root = ((SupportRequestSimplify *) request)->root;
	if (root == NULL || !root->parse->hasRowSecurity)
		PG_RETURN_POINTER(NULL);
	if (!watching)
		CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, forget_plans, (Datum) 0);
	watching = true;
	PG_RETURN_POINTER(makeBoolConst(visible_everything(), false));
}

static Datum
array_of_slices(List *list)
{
	SliceList	array = {0, palloc(sizeof(Slice) * Max(list_length(list), 1))};
	ListCell   *cell;

	foreach(cell, list)
		array.items[array.n++] = *(Slice *) lfirst(cell);
	return column_of_texts(array);
}

Datum
clutch_readable_runs(PG_FUNCTION_ARGS)
{
	Sight		sight;

	sight_begin(&sight);
	PG_RETURN_DATUM(array_of_slices(sight_list_runs(&sight)));
}

Datum
clutch_partial_runs(PG_FUNCTION_ARGS)
{
	Sight		sight;

	sight_begin(&sight);
	PG_RETURN_DATUM(array_of_slices(sight_list_partial_runs(&sight)));
}

Datum
clutch_readable_tasks(PG_FUNCTION_ARGS)
{
	Sight		sight;

	sight_begin(&sight);
	PG_RETURN_DATUM(array_of_slices(sight_list_tasks(&sight)));
}

Datum
clutch_current_epoch(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(epoch_look());
}

Datum
clutch_my_agents(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(column_of_texts(principal_agents()));
}

Datum
clutch_my_runs(PG_FUNCTION_ARGS)
{
	SliceList	agents = principal_agents();

	PG_RETURN_DATUM(array_of_slices(right_list_runs(&agents, ROWS_ACTIVE)));
}

bool
visible_event(int64 seq)
{
	Sight		sight;

	sight_begin(&sight);
	return sight.everything || sight_has_seq(&sight, seq);
}

/* ---------------------------------------------------------------- for views */

/* NULL if there is no such event, or if the role may not read it */
Datum
clutch_envelope_of(PG_FUNCTION_ARGS)
{
	int64		seq = PG_GETARG_INT64(0);
	Jsonb	   *envelope = visible_event(seq) ? event_read(seq, ROWS_ACTIVE) : NULL;

	if (envelope == NULL)
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(envelope);
}

Datum
clutch_slots_held(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(slot_count_tasks(slice_of_text(PG_GETARG_TEXT_PP(0))));
}
