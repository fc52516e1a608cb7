/*-------------------------------------------------------------------------
 *
 * visible.c
 *	  Which tasks a role may read.
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
#include "miscadmin.h"
#include "protocol/problem.h"
#include "trust/principal.h"
#include "utils/acl.h"

PG_FUNCTION_INFO_V1(clutch_reads_all);
PG_FUNCTION_INFO_V1(clutch_my_agents);
PG_FUNCTION_INFO_V1(clutch_my_runs);
PG_FUNCTION_INFO_V1(clutch_envelope_of);

bool
visible_everything(void)
{
	return pg_class_aclcheck(rows_table_oid(TABLE_EVENTS), GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

bool
visible_task(const Task *task)
{
	int			i;

	if (visible_everything() || principal_speaks_for(task->from_agent) ||
		(slice_present(task->agent_id) && principal_speaks_for(task->agent_id)))
		return true;
	for (i = 0; i < task->past_agents.n; i++)
		if (principal_speaks_for(task->past_agents.items[i]))
			return true;
	return false;
}

void
visible_require_task(const Task *task)
{
	if (!visible_task(task))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errproblem("task_id", "NOT_YOUR_TASK"),
				 errmsg("your role does not speak for an agent that requested or had task \"%.*s\"",
						task->task_id.len, task->task_id.s),
				 errhint("Use the role of the agent that requested the task, or have an operator run SELECT clutch.grant_reader(role_name).")));
}

Datum
clutch_reads_all(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(visible_everything());
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
	List	   *runs = right_list_runs(&agents, ROWS_ACTIVE);
	SliceList	array = {0, palloc(sizeof(Slice) * Max(list_length(runs), 1))};
	ListCell   *cell;

	foreach(cell, runs)
		array.items[array.n++] = *(Slice *) lfirst(cell);
	PG_RETURN_DATUM(column_of_texts(array));
}

/* NULL if there is no such event, or if the role may not read its task */
Datum
clutch_envelope_of(PG_FUNCTION_ARGS)
{
	Jsonb	   *event = event_read(PG_GETARG_INT64(0), ROWS_ACTIVE);
	Slice		task_id = event != NULL ? document_get_text(&event->root, "task_id") : SLICE_NONE;
	Task	   *task = slice_present(task_id) ? task_look(task_id, ROWS_ACTIVE) : NULL;

	if (event == NULL || !(task != NULL ? visible_task(task) : visible_everything()))
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(event);
}
