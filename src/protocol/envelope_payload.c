/*-------------------------------------------------------------------------
 *
 * envelope_payload.c
 *	  "payload": an object, whose form some message types prescribe.
 *
 * Only the message type is considered here, not the payload_type, and the
 * payloads that the database itself writes (routing.*) are not checked.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "protocol/agent_card.h"
#include "protocol/agent_status.h"
#include "protocol/envelope_part.h"

enum
{
	ERROR_CODE,
	ERROR_DETAILS,
	ERROR_MESSAGE,
	ERROR_RETRYABLE
};

static const Slice error_names[] = {
	FIELD("code"),
	FIELD("details"),
	FIELD("message"),
	FIELD("retryable"),
};
static const FieldTable error_fields = FIELD_TABLE_OPEN(error_names);

enum
{
	CALL_ARGS,
	CALL_TOOL
};

static const Slice call_names[] = {
	FIELD("args"),
	FIELD("tool"),
};
static const FieldTable call_fields = FIELD_TABLE_OPEN(call_names);

enum
{
	PROGRESS_STATE,
	PROGRESS_DEADLINE
};

static const Slice progress_names[] = {
	FIELD("state"),
	FIELD("deadline"),
};
static const FieldTable progress_fields = FIELD_TABLE_OPEN(progress_names);

static const Slice heartbeat_names[] = {
	FIELD("status"),
};
static const FieldTable heartbeat_fields = FIELD_TABLE_OPEN(heartbeat_names);

/* Spec 5.4. */
static void
envelope_check_error(const JsonbValue *payload, const DocumentPlace *place, ProblemList *list)
{
	Fields		f;
	bool		retryable;

	if (!fields_open(&f, &error_fields, payload, place, list))
		return;
	(void) fields_text(&f, ERROR_CODE, REQUIRED, TEXT_ID);
	(void) fields_text(&f, ERROR_MESSAGE, REQUIRED, TEXT_PAYLOAD);
	(void) fields_bool(&f, ERROR_RETRYABLE, OPTIONAL, &retryable);
	(void) fields_object(&f, ERROR_DETAILS, OPTIONAL);
}

static void
envelope_read_call(const JsonbValue *payload, const DocumentPlace *place, Envelope *envelope,
				   ProblemList *list)
{
	Fields		f;

	if (!fields_open(&f, &call_fields, payload, place, list))
		return;
	envelope->tool = fields_identifier(&f, CALL_TOOL, REQUIRED, ID_TOOL);
	(void) fields_object(&f, CALL_ARGS, REQUIRED);
}

static void
envelope_fault_order(Slice order, ProblemList *list, const char *code, const char *fault)
{
	DocumentPlace meta = {NULL, SLICE_OF("meta")};
	DocumentPlace clutch = {&meta, SLICE_OF("clutch")};
	DocumentPlace place = {&clutch, order};

	place_fault(&place, list, code, "%s", fault);
}

/*
 * Checks the orders.  A task.progress with the state "suspended" must say what
 * the task waits for.  Only a task.progress may do so, or store a step, and it
 * may do only one of the two.
 */
static void
envelope_check_orders(bool is_suspended, const Envelope *envelope, ProblemList *list)
{
	bool		is_progress = envelope->type == MSG_TASK_PROGRESS;
	bool		waits = envelope->orders.wait.is_set;
	bool		keeps = slice_present(envelope->orders.step);

	if (is_suspended && !waits)
		envelope_fault_order(SLICE_OF("wait"), list, "REQUIRED",
							 "is missing; a task that is suspended must say what it waits for.");
	if (waits && !is_progress)
		envelope_fault_order(SLICE_OF("wait"), list, "NOT_ALLOWED",
							 "is not allowed here; a task.progress suspends a task.");
	if (waits && envelope->asks)
		envelope_fault_order(SLICE_OF("wait"), list, "NOT_ALLOWED",
							 "is not allowed here; a task that asks a question waits for the answer.");
	if (keeps && !is_progress)
		envelope_fault_order(SLICE_OF("step"), list, "NOT_ALLOWED",
							 "is not allowed here; a task.progress keeps the output of a step.");
	if (keeps && (waits || envelope->asks))
		envelope_fault_order(SLICE_OF("step"), list, "NOT_ALLOWED",
							 "is not allowed here; a step is kept by an event of its own.");
}

/* Reads a task.progress.  It may ask a question, which may have a deadline. */
static void
envelope_read_progress(const JsonbValue *payload, const DocumentPlace *place, Envelope *envelope,
					   ProblemList *list)
{
	Fields		f;
	Slice		state;

	if (!fields_open(&f, &progress_fields, payload, place, list))
		return;
	state = fields_present(&f, PROGRESS_STATE) ? document_text(&f.values[PROGRESS_STATE]) : SLICE_NONE;
	envelope->asks = slice_equal(state, SLICE_OF("input_required")) ||
		slice_equal(state, SLICE_OF("auth_required"));
	if (envelope->asks)
		(void) fields_time(&f, PROGRESS_DEADLINE, OPTIONAL, &envelope->question_deadline);
	envelope_check_orders(slice_equal(state, SLICE_OF("suspended")), envelope, list);
}

static void
envelope_check_heartbeat(const JsonbValue *payload, const DocumentPlace *place, ProblemList *list)
{
	Fields		f;
	DocumentPlace status_place;
	Slice		status;
	AgentStatus parsed;

	if (!fields_open(&f, &heartbeat_fields, payload, place, list))
		return;
	status = fields_text(&f, 0, OPTIONAL, TEXT_ID);
	status_place = fields_place(&f, 0);
	if (slice_present(status) && !agent_status_parse(status, &parsed))
		place_fault(&status_place, list, "WRONG_VALUE",
					"is %s; it must be INITIALIZING, READY, BUSY, UNAVAILABLE, STOPPING or STOPPED.",
					place_quote(status));
}

/* The result or error of a tool must name the call that it answers. */
static void
envelope_require_reply_to(const Envelope *envelope, ProblemList *list)
{
	DocumentPlace meta = {NULL, SLICE_OF("meta")};
	DocumentPlace clutch = {&meta, SLICE_OF("clutch")};
	DocumentPlace reply_to = {&clutch, SLICE_OF("reply_to")};
	int			i;

	if (slice_present(envelope->orders.reply_to))
		return;
	/* it may be present, but faulty */
	for (i = 0; i < list->n; i++)
		if (strcmp(list->items[i].path, "/meta/clutch/reply_to") == 0)
			return;
	place_fault(&reply_to, list, "REQUIRED",
				"is missing; the answer of a tool must name the ID of the tool.call.");
}

void
envelope_read_payload(const JsonbValue *payload, const DocumentPlace *place,
					  Envelope *envelope, ProblemList *list)
{
	AgentCard	card;

	if (envelope->type == MSG_TOOL_RESULT || envelope->type == MSG_TOOL_ERROR)
		envelope_require_reply_to(envelope, list);
	if (payload == NULL)
		return;
	envelope->payload = *payload;
	if (envelope->type != MSG_TASK_PROGRESS)
		envelope_check_orders(false, envelope, list);

	switch (envelope->type)
	{
		case MSG_TASK_ERROR:
		case MSG_TOOL_ERROR:
			envelope_check_error(payload, place, list);
			break;
		case MSG_TASK_PROGRESS:
			envelope_read_progress(payload, place, envelope, list);
			break;
		case MSG_TOOL_CALL:
			envelope_read_call(payload, place, envelope, list);
			break;
		case MSG_AGENT_REGISTER:
		case MSG_AGENT_UPDATE:
			agent_card_read(payload, "/payload", envelope->type == MSG_AGENT_UPDATE,
							&card, list);
			break;
		case MSG_AGENT_HEARTBEAT:
			envelope_check_heartbeat(payload, place, list);
			break;
		default:
			break;
	}
}
