/*-------------------------------------------------------------------------
 *
 * notice.c
 *	  What the database itself says of a task: an event of its own.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "delivery/notice.h"
#include "delivery/report.h"
#include "settings.h"

static const char *
move_name(TaskMove move)
{
	switch (move)
	{
		case MOVE_RELEASED:
			return "released";
		case MOVE_LEASE_EXPIRED:
			return "lease_expired";
		case MOVE_RETRIED:
			return "retried";
		case MOVE_NONE:
			break;
	}
	return NULL;
}

Receipt
notice_append(const Task *task, MessageType type, TaskMove move, Slice from,
			  Slice to, Jsonb *payload)
{
	if (!slice_present(from))
		from = slice_of_cstring(clutch_orchestrator);
	return event_append(report_build(task, from, to, type, payload,
									 task->attempt, move_name(move)));
}
