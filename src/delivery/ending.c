/*-------------------------------------------------------------------------
 *
 * ending.c
 *	  The ends of a task that nobody reported: the database says them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "delivery/assign.h"
#include "delivery/ending.h"
#include "delivery/notice.h"
#include "delivery/retry.h"
#include "registry/breaker.h"
#include "registry/slot.h"

static void
end(Task *task, TaskEvent event, MessageType type, Jsonb *payload, bool is_agents_fault)
{
	Receipt		receipt = notice_append(task, type, MOVE_NONE, SLICE_NONE,
										task->from_agent, payload);
	Slice		freed;

	event.seq = receipt.seq;
	event.at = receipt.received_at;
	if (is_agents_fault)
		breaker_count(task->agent_id, event.seq, event.at, true);
	freed = assign_withdraw(task, OUTCOME_FAILED);
	task_apply(task, &event);
	if (event.step == STEP_TIMEOUT && is_agents_fault)
		(void) retry_after_timeout(task);
	task_save(task);
	if (slice_present(freed))
		assign_offer(freed);
}

void
ending_fail(Task *task, const char *code, const char *message)
{
	TaskEvent	event = {STEP_ERROR};
	DocumentBuilder b;

	event.code = slice_of_cstring(code);
	event.detail = slice_of_cstring(message);
	document_begin(&b);
	document_put_text(&b, "code", event.code);
	document_put_text(&b, "message", event.detail);
	document_put_bool(&b, "retryable", false);
	end(task, event, MSG_TASK_ERROR, document_end(&b), false);
}

void
ending_time_out(Task *task, TimestampTz deadline, const char *code, const char *message,
				bool may_retry)
{
	TaskEvent	event = {STEP_TIMEOUT};
	DocumentBuilder b;

	event.code = slice_of_cstring(code);
	event.detail = slice_of_cstring(message);
	document_begin(&b);
	document_put_text(&b, "code", event.code);
	document_put_text(&b, "message", event.detail);
	document_put_timestamp(&b, "deadline", deadline);
	end(task, event, MSG_TASK_TIMEOUT, document_end(&b), may_retry);
}
