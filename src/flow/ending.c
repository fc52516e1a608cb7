/*-------------------------------------------------------------------------
 *
 * ending.c
 *	  Ends of tasks that no agent has reported.  The database announces them.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/ending.h"
#include "flow/move.h"
#include "flow/retry.h"

static TaskEvent
ending_event(const Task *task, TaskStep step, const char *code, const char *message)
{
	TaskEvent	event = {step, .by_database = true};

	event.code = code != NULL ? slice_of_cstring(code) : SLICE_NONE;
	event.detail = slice_of_cstring(message);
	event.was_pending = task->status == TASK_PENDING;
	return event;
}

void
ending_cancel(Task *task, Slice ancestor)
{
	const Task *above = task_look(ancestor, ROWS_LATEST);
	char	   *reason = psprintf("task \"%.*s\" above it %s", ancestor.len, ancestor.s,
								  above != NULL && above->status == TASK_TIMED_OUT ? "timed out" : "was cancelled");
	TaskEvent	event = ending_event(task, STEP_CANCEL, NULL, reason);
	Notice		notice = {MSG_TASK_CANCEL};
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "reason", reason);
	document_put_text(&b, "ancestor", ancestor);
	document_put_cstring(&b, "was", task_status_name(task->status));
	event.ancestor = ancestor;
	notice.to = slice_present(task->agent_id) ? task->agent_id : task->from_agent;
	notice.payload = document_end(&b);
	(void) move_task(task, &notice, &event);
}

/* Sends a task.error.  details is NULL if there is nothing more to say. */
static void
ending_send_error(Task *task, const char *code, const char *message, bool retryable, Jsonb *details)
{
	TaskEvent	event = ending_event(task, STEP_ERROR, code, message);
	Notice		notice = {MSG_TASK_ERROR, .to = task->from_agent};
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "code", code);
	document_put_cstring(&b, "message", message);
	document_put_bool(&b, "retryable", retryable);
	document_put_cstring(&b, "was", task_status_name(task->status));
	if (details != NULL)
		document_put_jsonb(&b, "details", details);
	notice.payload = document_end(&b);
	(void) move_task(task, &notice, &event);
}

void
ending_fail(Task *task, const char *code, const char *message)
{
	ending_send_error(task, code, message, false, NULL);
}

void
ending_fail_after(Task *task, const Task *awaited)
{
	char	   *message = psprintf("task \"%.*s\", which it waited for, is %s", awaited->task_id.len,
								  awaited->task_id.s, task_status_name(awaited->status));
	DocumentBuilder b;

	if (slice_present(awaited->code))
		message = psprintf("%s: %.*s", message, awaited->code.len, awaited->code.s);
	document_begin(&b);
	document_put_text(&b, "task_id", awaited->task_id);
	document_put_cstring(&b, "status", task_status_name(awaited->status));
	document_put_text(&b, "code", awaited->code);
	document_put_text(&b, "agent_id", awaited->agent_id);
	ending_send_error(task, "DEPENDENCY_FAILED", message, false, document_end(&b));
}

void
ending_complete(Task *task, Jsonb *payload)
{
	TaskEvent	event = {STEP_RESULT, .by_database = true};
	Notice		notice = {MSG_TASK_RESULT, .to = task->from_agent, .payload = payload};

	(void) move_task(task, &notice, &event);
}

void
ending_break_contract(Task *task, const ProblemList *faults, Slice step)
{
	char	   *message = psprintf("the result broke the contract of step \"%.*s\" of the workflow",
								  step.len, step.s);
	DocumentBuilder b;
	int			i;

	document_begin(&b);
	document_put_text(&b, "step", step);
	document_open_array(&b, "faults");
	for (i = 0; i < faults->n; i++)
	{
		document_open_object(&b, NULL);
		document_put_cstring(&b, "path", faults->items[i].path);
		document_put_cstring(&b, "message", faults->items[i].message);
		document_close_object(&b);
	}
	document_close_array(&b);
	ending_send_error(task, "CONTRACT_BROKEN", message, true, document_end(&b));
}

void
ending_time_out(Task *task, TimestampTz deadline, const char *code, const char *message,
				bool may_retry)
{
	TaskEvent	event = ending_event(task, STEP_TIMEOUT, code, message);
	Notice		notice = {MSG_TASK_TIMEOUT, .to = task->from_agent};
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "code", code);
	document_put_cstring(&b, "message", message);
	document_put_timestamp(&b, "deadline", deadline);
	notice.payload = document_end(&b);
	(void) move_task(task, &notice, &event);
	if (may_retry)
		(void) retry_after_timeout(task);
}

bool
ending_at_deadline(Task *task, TimestampTz now)
{
	if (task_status_is_over(task->status))
		return false;
	if (task->deadline != 0 && task->deadline <= now)
		ending_time_out(task, task->deadline, "DEADLINE_EXCEEDED",
						"the deadline of the request has passed", false);
	else if (task->status == TASK_INPUT_REQUIRED && task->wake_at != 0 && task->wake_at <= now)
		ending_time_out(task, task->wake_at, "NOT_ANSWERED",
						"the question was not answered in time", false);
	else
		return false;
	return true;
}
