/*-------------------------------------------------------------------------
 *
 * requeue.c
 *	  Putting a task back: the database says why, and the next attempt is
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
#include "flow/join.h"
#include "flow/lift.h"
#include "flow/move.h"
#include "flow/requeue.h"
#include "miscadmin.h"
#include "protocol/identifier.h"
#include "settings.h"

/*
 * Does what all of them have in common: one event, and then the next attempt.
 */
static Receipt
requeue_notice(Task *task, const Notice *notice, TaskEvent event)
{
	Receipt		receipt = move_task(task, notice, &event);

	if (event.step == STEP_RETRY && dependency_hold(task))
		task_save(task);
	else
		(void) assign_again(task);
	return receipt;
}

static Receipt
requeue_begin_again(Task *task, TaskMove move, Slice from, Slice to, TaskEvent event, Jsonb *payload)
{
	Notice		notice = {MSG_TASK_PROGRESS, move, from, to, payload};

	return requeue_notice(task, &notice, event);
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
	/* the task itself may be what kills its agents */
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

/* ------------------------------------------------------------------- waking */

static void
requeue_wake_up(Task *task, TaskEvent event, DocumentBuilder *b, Slice key)
{
	Notice		notice = {MSG_TASK_PROGRESS, MOVE_WOKEN, .to = task->agent_id, .idempotency_key = key};

	document_put_cstring(b, "state", "woken");
	document_put_cstring(b, "reason", claim_reason_name(event.reason));
	notice.payload = document_end(b);
	(void) requeue_notice(task, &notice, event);
}

void
requeue_wake(Task *task)
{
	TaskEvent	event = {STEP_WAKE, .reason = CLAIM_WOKEN};
	DocumentBuilder b;

	document_begin(&b);
	requeue_wake_up(task, event, &b, SLICE_NONE);
}

void
requeue_join(Task *task, const ChildCount *count, bool met)
{
	TaskEvent	event = {STEP_WAKE, .reason = CLAIM_JOINED};
	DocumentBuilder b;

	document_begin(&b);
	children_put(&b, "wanted", count, task->wait_count, met);
	requeue_wake_up(task, event, &b, SLICE_NONE);
}

/*
 * Returns a key for the message and the task.  The key is short, because it is
 * indexed together with the run.  Nobody can choose a message ID that leads to
 * the key of another message, so that the latter would not wake the task.
 */
static Slice
requeue_message_key(const Task *task, Slice message_id)
{
	const Slice parts[] = {task->task_id, message_id};

	return slice_of_cstring(identifier_derive("woken:", parts, lengthof(parts)));
}

/* Returns the key that version 0.2.0 has written. */
static Slice
requeue_former_message_key(const Task *task, Slice message_id)
{
	return slice_of_cstring(psprintf("woken:" UINT64_FORMAT ":" UINT64_FORMAT,
									 slice_hash(task->task_id), slice_hash(message_id)));
}

void
requeue_message(Task *task, int64 message_seq, Slice message_id)
{
	TaskEvent	event = {STEP_WAKE, .reason = CLAIM_MESSAGED, .answer_seq = message_seq};
	DocumentBuilder b;

	document_begin(&b);
	document_put_text(&b, "answer_id", message_id);
	document_put_int(&b, "answer_seq", message_seq);
	requeue_wake_up(task, event, &b, requeue_message_key(task, message_id));
}

static bool
requeue_key_is_used(const Task *task, Slice key, TextMap *heard)
{
	RowScan		scan;

	if (heard != NULL)
		return text_map_get(heard, key) != NULL;
	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_IDEMPOTENCY_KEY, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, key);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, task->run_id);
	rows_key_text(&scan, 3, BTEqualStrategyNumber, slice_of_cstring(clutch_orchestrator));
	return rows_look(&scan, NULL);
}

/*
 * The keys are those of events of the task, so one pass over these finds all of
 * them, while each look for a key descends the index of the whole log.
 */
TextMap *
requeue_list_heard(const Task *task)
{
	TextMap    *heard = text_map_make();
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_TASK_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task->task_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		Slice		key = rows_text(&scan, Anum_event_idempotency_key);

		CHECK_FOR_INTERRUPTS();
		if (slice_starts(key, SLICE_OF("woken:")) && slice_is(rows_text(&scan, Anum_event_from_agent), clutch_orchestrator))
			*text_map_place(heard, slice_copy(key)) = heard;
	}
	rows_end(&scan);
	return heard;
}

bool
requeue_was_messaged(const Task *task, Slice message_id, TextMap *heard)
{
	return requeue_key_is_used(task, requeue_message_key(task, message_id), heard) ||
		requeue_key_is_used(task, requeue_former_message_key(task, message_id), heard);
}

/* ------------------------------------------------------------------ reviving */

Receipt
requeue_revive(Task *task, Slice by_agent)
{
	TaskEvent	event = {STEP_RETRY, .deadline = task_default_deadline(clock_now())};
	DocumentBuilder b;
	Receipt		receipt;

	document_begin(&b);
	document_put_cstring(&b, "state", "retried");
	document_put_cstring(&b, "was", task_status_name(task->status));
	if (event.deadline != 0)
		document_put_timestamp(&b, "deadline", event.deadline);
	receipt = requeue_begin_again(task, MOVE_RETRIED, by_agent, task->from_agent, event,
								  document_end(&b));
	lift_revived(task);
	join_revived(task);
	return receipt;
}
