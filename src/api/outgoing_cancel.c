/*-------------------------------------------------------------------------
 *
 * outgoing_cancel.c
 *	  Making the document that cancels a task at the other side.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/outgoing_part.h"

#include "adapters/adapter.h"
#include "api/outbox_fn.h"
#include "base/document.h"
#include "base/json.h"
#include "flow/attempt.h"
#include "flow/callee.h"
#include "miscadmin.h"

/*
 * Returns the cancellation of the task.  The task may have ended in another
 * way, and what the event says besides is not for the other side.
 */
static Jsonb *
outgoing_cancellation(const Call *call, const Endpoint *endpoint)
{
	static const char *const fields[] = {"/v", "/id", "/ts", "/run_id", "/thread_id", "/task_id", "/from", "/trace"};
	Jsonb	   *envelope = outgoing_event(call->seq);
	Json	   *event = json_read(envelope);
	Json	   *reason = json_get_kind(event, "/payload/reason", JSON_TEXT);
	Json	   *cancel = json_new_object();

	outgoing_require_callee(call, endpoint, envelope);
	for (int i = 0; i < lengthof(fields); i++)
		json_put(cancel, fields[i], json_get(event, fields[i]));
	json_put_cstring(cancel, "/type", message_type_name(MSG_TASK_CANCEL));
	json_put(cancel, "/payload", json_new_object());
	json_put(cancel, "/payload/reason", reason != NULL ? reason : json_get_kind(event, "/payload/message", JSON_TEXT));
	adapter_put_recipient(cancel, call->agent_id);
	return json_write(cancel);
}

/* what an agent has called a task in its reports */
typedef struct OtherSide
{
	Slice		task;			/* its ID in the last of them, or absent */
	int			attempt;		/* the attempt of that report, and its seq */
	int64		seq;
} OtherSide;

static void
outgoing_take_report(OtherSide *other, const RowScan *scan, int attempt, const char *adapter)
{
	int64		seq = rows_int8(scan, Anum_event_seq);
	Jsonb	   *report;
	Slice		named;

	if (attempt < other->attempt || (attempt == other->attempt && seq < other->seq))
		return;
	report = rows_jsonb(scan, Anum_event_envelope);
	named = outgoing_task_in(report, adapter);
	if (slice_present(named))
	{
		other->task = slice_copy(named);
		other->attempt = attempt;
		other->seq = seq;
	}
	/* the other side may have sent many and large reports that name no task */
	pfree(report);
}

/*
 * Returns the ID by which the other side has last called the task, in a report
 * of this attempt or in the question that was answered before it, or an absent
 * slice.  If "also_lost", an earlier attempt will do, because the agent may
 * still be at work on it.  Attempts that it has ended do not count.  The scan
 * returns the latest events first, except for those in space that was free, so
 * few envelopes are read.
 */
static Slice
outgoing_task_of_other_side(const Call *call, const Endpoint *endpoint, int64 question_seq, bool also_lost)
{
	const char *adapter = slice_cstring(endpoint->adapter);
	OtherSide	other = {SLICE_NONE};
	Bitmapset  *begun;
	Bitmapset  *ended = attempt_list_ended(call->task_id, call->agent_id, call->task_attempt, &begun);
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_TASK_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, call->task_id);
	rows_start(&scan);
	while (rows_previous(&scan))
	{
		int			attempt = rows_int4(&scan, Anum_event_attempt);

		CHECK_FOR_INTERRUPTS();
		if (!slice_equal(rows_text(&scan, Anum_event_from_agent), call->agent_id))
			continue;
		if (rows_int8(&scan, Anum_event_seq) == question_seq)
			attempt = call->task_attempt;
		if ((attempt == call->task_attempt || (also_lost && attempt >= 0 && attempt < call->task_attempt)) &&
			!bms_is_member(attempt, ended))
			outgoing_take_report(&other, &scan, attempt, adapter);
	}
	rows_end(&scan);
	return other.task;
}

/*
 * Returns the ID of the request that an MCP server is at work on.  It is that
 * of the last call, unless this was the response to a request of the server:
 * then the call in which the server has asked is still open.
 */
static Slice
outgoing_open_request(const CalleeSent *sent)
{
	Jsonb	   *question = sent->question_seq == 0 ? NULL : event_read(sent->question_seq, ROWS_LATEST);
	JsonbContainer *meta = question == NULL ? NULL : document_get_container(&question->root, "meta");
	JsonbValue	id;
	bool		is_response = outgoing_is_asked_by_request(document_get_container(meta, "mcp"), &id);

	return document_get_text(&outgoing_event(is_response ? sent->request_seq : sent->seq)->root, "id");
}

/*
 * Returns the notes for a cancellation.  If an MCP server has not made a task
 * of the last call, this call itself is cancelled, whatever became of earlier
 * ones.  Returns NULL if the dialect cannot name the task.
 */
static Jsonb *
outgoing_notes_for_cancel(const Call *call, const Endpoint *endpoint)
{
	bool		is_mcp = slice_is(endpoint->adapter, "mcp");
	CalleeSent	sent = callee_sent(call->task_id);
	Slice		task = outgoing_task_of_other_side(call, endpoint, sent.question_seq, !is_mcp);
	DocumentBuilder b;

	document_begin(&b);
	if (is_mcp && slice_present(task))
		document_put_cstring(&b, "form", "task");
	else if (is_mcp)
		task = outgoing_open_request(&sent);
	else if (!slice_present(task))
		return NULL;
	else
		document_put_text(&b, "v", outgoing_a2a_version(endpoint));
	document_put_text(&b, "task", task);
	return document_end(&b);
}

Jsonb *
outgoing_cancel(const Call *call, const Endpoint *endpoint)
{
	Jsonb	   *envelope = outgoing_cancellation(call, endpoint);
	bool		is_ours = slice_is(endpoint->adapter, "peer");
	Jsonb	   *notes = is_ours ? NULL : outgoing_notes_for_cancel(call, endpoint);

	return is_ours || notes != NULL ? outbox_document(envelope, endpoint->adapter, notes, 0) : NULL;
}
