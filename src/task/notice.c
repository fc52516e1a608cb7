/*-------------------------------------------------------------------------
 *
 * notice.c
 *	  What the database itself says of a task: an event of its own.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "settings.h"
#include "task/notice.h"
#include "task/report.h"

/* of meta.clutch.move */
static Slice
move_name(TaskMove move)
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
		case MOVE_NONE:
			break;
	}
	return SLICE_NONE;
}

Receipt
notice_append(const Task *task, MessageType type, TaskMove move, Slice from,
			  Slice to, Jsonb *payload)
{
	if (!slice_present(from))
		from = slice_of_cstring(clutch_orchestrator);
	return event_append(report_build(task, from, to, type, payload,
									 task->attempt, move == MOVE_NONE ? NULL : "move",
									 move_name(move)));
}
