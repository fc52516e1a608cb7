/*-------------------------------------------------------------------------
 *
 * record.c
 *	  Appending an event about a task and applying it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "settings.h"
#include "task/record.h"
#include "task/report.h"

/* Returns the value of meta.clutch.move. */
static Slice
record_move_name(TaskMove move)
{
	switch (move)
	{
		case MOVE_RELEASED:
			return SLICE_OF("released");
		case MOVE_LEASE_EXPIRED:
			return SLICE_OF("lease_expired");
		case MOVE_RETRIED:
			return SLICE_OF("retried");
		case MOVE_ANSWERED:
			return SLICE_OF("answered");
		case MOVE_JOINED:
			return SLICE_OF("joined");
		case MOVE_LIFTED:
			return SLICE_OF("lifted");
		case MOVE_WOKEN:
			return SLICE_OF("woken");
		case MOVE_DISPLACED:
			return SLICE_OF("displaced");
		case MOVE_UNCLAIMED:
			return SLICE_OF("unclaimed");
		case MOVE_SHARED:
			return SLICE_OF("shared");
		case MOVE_UNREGISTERED:
		case MOVE_PAUSED:
		case MOVE_RESUMED:
		case MOVE_NONE:
			break;
	}
	return SLICE_NONE;
}

static Receipt
record_append_notice(Task *task, const Notice *notice)
{
	Report		report = {notice->type, notice->from, notice->to, notice->payload, task->attempt};

	if (!slice_present(report.from))
		report.from = slice_of_cstring(clutch_orchestrator);
	if (notice->move != MOVE_NONE)
	{
		report.order = "move";
		report.value = record_move_name(notice->move);
	}
	report.idempotency_key = notice->idempotency_key;
	return event_append(report_build(task, &report));
}

Receipt
record(Task *task, const Notice *notice, TaskEvent *event)
{
	Receipt		receipt = {0};

	if (notice != NULL)
	{
		receipt = record_append_notice(task, notice);
		event->seq = receipt.seq;
		event->at = receipt.received_at;
	}
	if (!step_apply(task, event))
		elog(ERROR, "step \"%s\" is not legal for task \"%.*s\", which is %s",
			 task_step_name(event->step), task->task_id.len, task->task_id.s,
			 task_status_name(task->status));
	return receipt;
}
