/*-------------------------------------------------------------------------
 *
 * requeue.c
 *	  A task begins again: the database says why, and the next attempt is
 *	  routed.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "flow/assign.h"
#include "flow/children.h"
#include "flow/dependency.h"
#include "flow/ending.h"
#include "flow/move.h"
#include "flow/requeue.h"
#include "settings.h"

/* the same for all of them: one event, and then the next attempt */
static Receipt
requeue_begin_again(Task *task, TaskMove move, Slice from, Slice to, TaskEvent event, Jsonb *payload)
{
	Notice		notice = {MSG_TASK_PROGRESS, move, from, to, payload};
	Receipt		receipt;

	(void) step_of(MSG_TASK_PROGRESS, move, &event.step);
	receipt = move_task(task, &notice, &event);
	if (event.step == STEP_RETRY && dependency_hold(task))
		task_save(task);
	else
		(void) assign_again(task);
	return receipt;
}

static Jsonb *
requeue_released_payload(Slice reason)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "released");
	document_put_text(&b, "reason", reason);
	return document_end(&b);
}

Receipt
requeue_release(Task *task, Slice reason)
{
	return requeue_begin_again(task, MOVE_RELEASED, task->agent_id, task->from_agent,
							   (TaskEvent) {STEP_RELEASE}, requeue_released_payload(reason));
}

void
requeue_take_away(Task *task, Slice reason)
{
	(void) requeue_begin_again(task, MOVE_RELEASED, SLICE_NONE, task->agent_id,
							   (TaskEvent) {STEP_RELEASE}, requeue_released_payload(reason));
}

void
requeue_void(Task *task)
{
	TaskEvent	event = {STEP_LEASE_EXPIRED, .lease_until = task->lease_until};
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "lease_expired");
	document_put_text(&b, "agent_id", task->agent_id);
	document_put_timestamp(&b, "lease_until", task->lease_until);
	(void) requeue_begin_again(task, MOVE_LEASE_EXPIRED, SLICE_NONE, task->agent_id, event,
							   document_end(&b));
}

void
requeue_expire(Task *task)
{
	/* it may be the task that kills its agents */
	if (clutch_max_lease_losses > 0 && task->losses >= clutch_max_lease_losses)
		ending_fail(task, "LEASES_LOST",
					psprintf("its agents lost their lease on it %d times", task->losses + 1));
	else
		requeue_void(task);
}

void
requeue_resume(Task *task, int64 answer_seq, Slice answer_id)
{
	TaskEvent	event = {STEP_ANSWER, .answer_seq = answer_seq};
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "answered");
	document_put_text(&b, "answer_id", answer_id);
	document_put_int(&b, "answer_seq", answer_seq);
	(void) requeue_begin_again(task, MOVE_ANSWERED, SLICE_NONE, task->agent_id, event,
							   document_end(&b));
}

void
requeue_wake(Task *task, ClaimReason reason, int64 answer_seq, Slice answer_id,
			 const ChildCount *count, bool met)
{
	TaskEvent	event = {STEP_WAKE, .reason = reason, .answer_seq = answer_seq};
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "woken");
	document_put_cstring(&b, "reason", claim_reason_name(reason));
	document_put_text(&b, "answer_id", answer_id);
	if (answer_seq != 0)
		document_put_int(&b, "answer_seq", answer_seq);
	if (count != NULL)
		children_put(&b, "wanted", count, task->wait_count, met);
	(void) requeue_begin_again(task, MOVE_WOKEN, SLICE_NONE, task->agent_id, event,
							   document_end(&b));
}

Receipt
requeue_revive(Task *task, Slice by_agent)
{
	TaskEvent	event = {STEP_RETRY, .deadline = task_default_deadline(clock_now())};
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "retried");
	document_put_cstring(&b, "was", task_status_name(task->status));
	if (event.deadline != 0)
		document_put_timestamp(&b, "deadline", event.deadline);
	return requeue_begin_again(task, MOVE_RETRIED, by_agent, task->from_agent, event,
							   document_end(&b));
}
