/*-------------------------------------------------------------------------
 *
 * step_read.c
 *	  Reading what an event of the log says about its task.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "settings.h"
#include "task/step.h"

static const struct
{
	MessageType type;
	TaskStep	step;
}			steps_of_types[] = {
	{MSG_TASK_ACCEPT, STEP_ACCEPT},
	{MSG_TASK_PROGRESS, STEP_PROGRESS},
	{MSG_TASK_RESULT, STEP_RESULT},
	{MSG_TASK_ERROR, STEP_ERROR},
	{MSG_TASK_CANCEL, STEP_CANCEL},
	{MSG_TASK_TIMEOUT, STEP_TIMEOUT},
	{MSG_ROUTING_DECISION, STEP_ASSIGN},
	{MSG_ROUTING_FAILURE, STEP_FAIL_TO_ROUTE},
};

static const struct
{
	TaskMove	move;
	TaskStep	step;
}			steps_of_moves[] = {
	{MOVE_RELEASED, STEP_RELEASE},
	{MOVE_LEASE_EXPIRED, STEP_LEASE_EXPIRED},
	{MOVE_RETRIED, STEP_RETRY},
	{MOVE_ANSWERED, STEP_ANSWER},
	{MOVE_JOINED, STEP_JOIN},
	{MOVE_LIFTED, STEP_LIFT},
	{MOVE_WOKEN, STEP_WAKE},
	{MOVE_DISPLACED, STEP_DISPLACE},
	{MOVE_UNCLAIMED, STEP_UNCLAIMED},
	{MOVE_SHARED, STEP_SHARE},
};

/*
 * Finds the step that an event of this type and move stands for.  Returns
 * false if there is none.
 */
static bool
step_of(MessageType type, TaskMove move, TaskStep *step)
{
	int			i;

	for (i = 0; i < lengthof(steps_of_moves); i++)
		if (steps_of_moves[i].move == move)
		{
			*step = steps_of_moves[i].step;
			return true;
		}
	for (i = 0; i < lengthof(steps_of_types); i++)
		if (steps_of_types[i].type == type)
		{
			*step = steps_of_types[i].step;
			return true;
		}
	return false;
}

/* ----------------------------------------------------------------- reading */

/* Returns the time under that key, or 0. */
static TimestampTz
step_payload_time(JsonbContainer *payload, const char *key)
{
	TimestampTz at;

	return clock_parse_rfc3339(document_get_text(payload, key), &at) ? at : 0;
}

/* Returns the reason why a suspended task is claimed again. */
static ClaimReason
step_wake_reason(JsonbContainer *payload)
{
	ClaimReason reason;

	return claim_reason_find(document_get_text(payload, "reason"), &reason) ? reason : CLAIM_WOKEN;
}

/* An imported event may have any number there. */
static void
step_read_priority(JsonbContainer *payload, TaskEvent *event)
{
	int64		priority;

	event->has_priority = document_get_int(payload, "priority", &priority) &&
		priority >= LEVEL_BATCH && priority <= LEVEL_CRITICAL;
	if (event->has_priority)
		event->priority = (int) priority;
}

/* Reads what the step needs from the payload. */
static void
step_read_payload(JsonbContainer *payload, TaskEvent *event)
{
	switch (event->step)
	{
		case STEP_WAKE:
			event->reason = step_wake_reason(payload);
			/* FALLTHROUGH */
		case STEP_ANSWER:
			(void) document_get_int(payload, "answer_seq", &event->answer_seq);
			break;
		case STEP_RETRY:
			event->wake_at = step_payload_time(payload, "not_before");
			event->deadline = step_payload_time(payload, "deadline");
			break;
		case STEP_ASSIGN:
		case STEP_LIFT:
		case STEP_SHARE:
			step_read_priority(payload, event);
			break;
		case STEP_DISPLACE:
			event->since = step_payload_time(payload, "since");
			event->detail = document_get_text(payload, "message");
			break;
		case STEP_UNCLAIMED:
			(void) document_get_bool(payload, "idle", &event->was_idle);
			break;
		case STEP_ACCEPT:
		case STEP_LEASE_EXPIRED:
			event->lease_until = step_payload_time(payload, "lease_until");
			break;
		case STEP_CANCEL:
			event->detail = document_get_text(payload, "reason");
			break;
		case STEP_FAIL_TO_ROUTE:
			step_read_priority(payload, event);
			/* FALLTHROUGH */
		case STEP_ERROR:
		case STEP_TIMEOUT:
			event->code = document_get_text(payload, "code");
			event->detail = document_get_text(payload, "message");
			break;
		default:
			break;
	}
}

/* Reads a task.progress that suspends its task. */
static void
step_read_wait(const Envelope *envelope, TaskEvent *event)
{
	const Suspension *wait = &envelope->orders.wait;

	event->step = STEP_SUSPEND;
	event->wake_at = suspension_end(wait, event->at);
	event->waiting_for = wait->has_message ? WAITING_FOR_MESSAGE :
		wait->children != JOIN_NONE ? WAITING_FOR_CHILDREN : WAITING_FOR_TIME;
	event->wait_count = wait->children;
	event->has_note = suspension_has_note(envelope->payload.val.binary.data);
}

bool
step_read(const Envelope *envelope, int64 seq, TimestampTz at, TaskEvent *event)
{
	JsonbContainer *payload = envelope->payload.val.binary.data;

	memset(event, 0, sizeof(*event));
	if (!step_of(envelope->type, envelope->orders.move, &event->step))
		return false;
	event->seq = seq;
	event->at = at;
	event->agent = event->step == STEP_ASSIGN ? document_get_text(payload, "selected") :
		envelope->from_agent;
	if (event->step == STEP_PROGRESS && envelope->asks)
	{
		event->step = STEP_PARK;
		event->wake_at = envelope->question_deadline;
	}
	else if (event->step == STEP_PROGRESS && envelope->orders.wait.is_set)
		step_read_wait(envelope, event);
	else if (event->step == STEP_PROGRESS && slice_present(envelope->orders.step))
		event->step = STEP_KEEP;
	step_read_payload(payload, event);
	event->by_database = slice_is(envelope->from_agent, clutch_orchestrator);
	event->was_pending = event->by_database &&
		slice_is(document_get_text(payload, "was"), task_status_name(TASK_PENDING));
	return true;
}
