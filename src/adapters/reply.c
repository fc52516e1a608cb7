/*-------------------------------------------------------------------------
 *
 * reply.c
 *	  The end of a task as the response to the document that requested it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/reply.h"

#include "adapters/card.h"
#include "adapters/translation.h"

void
reply_begin(Reply *reply)
{
	const Adapter *adapter = reply->adapter;

	reply->asked = adapter_noted(adapter, reply->request, "") != NULL ?
		translation_outbound(adapter, reply->request) : json_new_object();
	reply->is_response = adapter->is_call != NULL ? adapter->is_call(adapter, reply->request, reply->asked) :
		json_get(reply->asked, "/jsonrpc") != NULL;
}

/* ------------------------------------------------------------- the envelope */

static bool
reply_tells(const Reply *reply, MessageType type)
{
	AdapterEnds ends = reply->adapter->tells_ends;

	return type == MSG_TASK_RESULT || type == MSG_TASK_ERROR || ends == ENDS_ALWAYS ||
		(ends == ENDS_IN_RESPONSES && reply->is_response);
}

/*
 * Makes an error of a cancellation or timeout, in place.  The payload of a
 * timeout is already that of an error.
 */
static void
reply_make_error(Json *envelope, MessageType type)
{
	Slice		reason = json_get_text(envelope, "/payload/reason");
	Json	   *payload = json_new_object();

	json_put_cstring(envelope, "/type", message_type_name(MSG_TASK_ERROR));
	if (type == MSG_TASK_TIMEOUT)
		return;
	json_put_cstring(payload, "/code", "CANCELLED");
	json_put_text(payload, "/message", reason.len > 0 ? reason : SLICE_OF("the task was cancelled"));
	json_put(payload, "/retryable", json_of_bool(false));
	json_put(envelope, "/payload", payload);
}

/*
 * Does the card of the agent say of which schema the result of the requested
 * tool is?  A client of MCP refuses a result without a value for it.
 */
static bool
reply_has_schema(const Reply *reply)
{
	const CardDialect *dialect = reply->card == NULL ? NULL : card_dialect_named(slice_of_cstring(reply->adapter->name));
	Slice		name = json_get_text(reply->asked, "/params/name");
	const Json *tools;

	if (dialect == NULL || !slice_present(name))
		return false;
	tools = json_get_kind(card_write(dialect, reply->card), "/tools", JSON_ARRAY);
	for (int i = 0; tools != NULL && i < tools->n; i++)
		if (slice_equal(json_get_text(tools->items[i], "/name"), name))
			return json_get(tools->items[i], "/outputSchema") != NULL;
	return false;
}

/*
 * Returns the notes by which outbound makes a response.  The empty "kept" marks
 * the envelope as foreign, so that the response gets no carrier.
 */
static Json *
reply_notes(const Reply *reply, const Json *end)
{
	static const char *const alike[] = {"/v", "/rest", "/old_rest"};
	const Adapter *adapter = reply->adapter;
	Json	   *notes = json_new_object();
	Json	   *thread = adapter_noted(adapter, reply->request, "/native/thread_id");

	json_put(notes, "/kept", json_new_array());
	json_put(notes, ADAPTER_REPLY, json_of_bool(true));
	/* the client has asked for a task, so each document about it names the task */
	json_put(notes, "/related", json_of_bool(json_get(reply->asked, "/params/task") != NULL));
	if (reply_has_schema(reply))
		json_put(notes, ADAPTER_STRUCTURED, json_of_bool(true));
	for (int i = 0; i < lengthof(alike); i++)
		json_put(notes, alike[i], adapter_noted(adapter, reply->request, alike[i]));
	json_put(notes, "/rpc_id", json_get(reply->asked, "/id"));
	json_put(notes, "/native/reply_to", json_get(reply->asked, "/id"));
	json_put_text(notes, "/native/task_id", reply->task_id);
	json_put(notes, "/native/thread_id", thread != NULL ? thread : json_of_text(reply->thread_id));
	json_put(notes, "/blobs", adapter_noted(adapter, end, "/blobs"));
	json_put_cstring(notes, "/form", adapter->response_form);
	return notes;
}

Json *
reply_envelope(const Reply *reply, const Json *end)
{
	Json	   *envelope = json_copy_top(end);
	MessageType type = adapter_type(end);

	if (!reply_tells(reply, type))
		reply_make_error(envelope, type);
	if (reply->is_response)
	{
		if (json_get_kind(envelope, "/meta", JSON_OBJECT) == NULL)
			json_put(envelope, "/meta", json_new_object());
		json_unshare(envelope, "/meta");
		json_put(envelope, json_path("/meta", slice_of_cstring(reply->adapter->name)), reply_notes(reply, end));
	}
	return envelope;
}

Json *
reply_task(const Reply *reply, const Json *envelope)
{
	const Adapter *adapter = reply->adapter;
	Json	   *state = json_copy_top(envelope);
	Json	   *notes = reply_notes(reply, envelope);
	Json	   *document;
	Json	   *task;

	json_put_cstring(notes, "/form", adapter->task_form);
	json_put_cstring(notes, "/at", adapter->task_at);
	json_put(notes, "/native/ts", json_of_bool(true));
	json_put(state, "/meta", json_new_object());
	json_put(state, json_path("/meta", slice_of_cstring(adapter->name)), notes);
	document = translation_outbound(adapter, state);
	if (json_get(document, "/result") != NULL)
		document = json_get(document, "/result");
	task = json_get(document, "/task");
	return task != NULL ? task : document;
}

/* ------------------------------------------------------------- the document */

void
reply_name_request(const Reply *reply, Json *document)
{
	const Adapter *adapter = reply->adapter;

	if (adapter->names_request != NULL)
		adapter->names_request(adapter, reply->request, reply->asked, document);
}
