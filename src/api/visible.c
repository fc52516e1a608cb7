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
#include "registry/agent.h"
#include "task/verdict.h"
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
	return visible_everything() || right_role_has(task->run_id);
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

static bool
visible_envelope(Jsonb *event)
{
	return visible_everything() || right_role_has(document_get_text(&event->root, "run_id"));
}

bool
visible_event(int64 seq)
{
	Jsonb	   *event = event_read(seq, ROWS_ACTIVE);

	return event != NULL ? visible_envelope(event) : visible_everything();
}

/* NULL if there is no such event, or if the role may not read its run */
Datum
clutch_envelope_of(PG_FUNCTION_ARGS)
{
	Jsonb	   *event = event_read(PG_GETARG_INT64(0), ROWS_ACTIVE);

	if (event == NULL || !visible_envelope(event))
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(event);
}
