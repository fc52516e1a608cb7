/*-------------------------------------------------------------------------
 *
 * outgoing_push.c
 *	  Push notifications of A2A: an event of a task, for a client.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/adapter.h"
#include "api/outbox_fn.h"
#include "api/outgoing_part.h"
#include "base/document.h"
#include "base/json.h"
#include "settings.h"
#include "store/event.h"
#include "task/task.h"

#define A2A		"a2a"

bool
outgoing_is_push(const Call *call, const Endpoint *endpoint)
{
	return call->kind == CALL_EVENT && slice_is(endpoint->adapter, A2A) && slice_present(call->task_id);
}

/*
 * Returns the ID by which the client knows the conversation of the task, or
 * NULL if the task was not requested in A2A.
 */
static Json *
outgoing_client_context(Slice task_id)
{
	Task	   *task = task_look(task_id, ROWS_LATEST);
	Jsonb	   *request = task == NULL ? NULL : event_read(task->request_seq, ROWS_LATEST);

	return request == NULL ? NULL : json_get_kind(json_read(request), "/meta/" A2A "/native/thread_id", JSON_TEXT);
}

/*
 * Is it the state of the task, and not an artifact or a message?  A
 * cancellation is a state; written as it is, it would ask the client to cancel.
 */
static bool
outgoing_is_state(const Json *envelope)
{
	switch (adapter_type(envelope))
	{
		case MSG_TASK_ACCEPT:
		case MSG_TASK_RESULT:
		case MSG_TASK_ERROR:
		case MSG_TASK_CANCEL:
		case MSG_TASK_TIMEOUT:
		case MSG_ROUTING_FAILURE:
			return true;
		case MSG_TASK_PROGRESS:
			return !json_has_text(envelope, "/payload/artifact_id");
		default:
			return false;
	}
}

/*
 * Returns the notes for the document.  The empty "kept" marks the envelope as
 * foreign, so that it gets no carrier: a client must not see what the database
 * knows about the task.  Version 0.3 of the protocol requires a Task.
 */
static Json *
outgoing_push_notes(const Call *call, const Endpoint *endpoint, const Json *envelope)
{
	Slice		version = outgoing_a2a_version(endpoint);
	Json	   *context = outgoing_client_context(call->task_id);
	Json	   *notes = json_new_object();
	const char *state = slice_is(version, "0.3") ? "task" : "status";

	json_put(notes, "/kept", json_new_array());
	json_put(notes, ADAPTER_REPLY, json_of_bool(true));
	json_put(notes, "/rest", json_of_bool(true));
	if (slice_present(version))
		json_put_text(notes, "/v", version);
	json_put(notes, "/native/id", json_get(envelope, "/id"));
	json_put(notes, "/native/ts", json_of_bool(true));
	json_put_text(notes, "/native/task_id", call->task_id);
	json_put(notes, "/native/thread_id", context != NULL ? context : json_get(envelope, "/thread_id"));
	if (outgoing_is_state(envelope) && adapter_type(envelope) != MSG_TASK_RESULT)
		json_put_cstring(notes, "/form", state);
	json_put(notes, "/blobs", json_get(envelope, "/meta/" A2A "/blobs"));
	return notes;
}

Jsonb *
outgoing_push(const Call *call, const Endpoint *endpoint, Jsonb *event)
{
	Json	   *envelope = json_read(event);
	Json	   *notes = outgoing_push_notes(call, endpoint, envelope);

	/* clients do not know the members by which the database says what it has done */
	if (adapter_type(envelope) == MSG_TASK_PROGRESS && json_says(envelope, "/from/agent_id", clutch_orchestrator))
		json_put(envelope, "/payload", json_new_object());
	return outbox_document(json_write(envelope), endpoint->adapter, json_write(notes), call->seq);
}
