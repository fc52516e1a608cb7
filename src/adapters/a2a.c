/*-------------------------------------------------------------------------
 *
 * a2a.c
 *	  The Agent2Agent protocol: the adapter itself, and the requests and
 *	  responses that contain a message, a task or an event.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/a2a_part.h"

#define CARRIER			"/metadata/clutch"
#define RESULT_TYPE		A2A_METHOD_TYPE "result"
#define ERROR_TYPE		A2A_METHOD_TYPE "error"
#define OLD_VERSION		"0.3"
#define VERSION			"1.0"

/* the values of the note "form", indexed by A2aForm */
static const char *const a2a_forms[] = {"send", "cancel", "method", "message", "task", "status", "artifact", "error", "result"};

bool
a2a_is_old(const Adapter *self, const Json *envelope)
{
	const Json *notes = adapter_noted(self, envelope, "");

	return json_says(notes, "/v", OLD_VERSION) && !json_is_true(notes, "/old_rest");
}

/* ------------------------------------------------------------------ the test */

static const char *
a2a_declines(const Adapter *self, const Json *raw)
{
	A2aDocument d;

	if (a2a_open(self, raw, &d))
		return NULL;
	if (json_get(raw, "/method") != NULL)
		return "its method is not one of A2A, or its params are those of another protocol";
	return "it is not a request, response, task, message or event that only A2A has";
}

/*
 * Version 1.0 allows metadata only in some objects.  An error has a place for
 * it only in its ErrorInfo, and only for texts.
 */
static const char *
a2a_carrier(const Adapter *self, const Json *raw, AdapterCarrierForm *form)
{
	A2aDocument d;

	if (!a2a_open(self, raw, &d) || d.form == A2A_RESULT || (d.form == A2A_METHOD && !d.is_old))
		return NULL;
	if (d.form == A2A_ERROR)
		return a2a_error_carrier(raw, &d, form);
	return psprintf("%s" CARRIER, d.at);
}

/* -------------------------------------------------------------------- inbound */

static Json *
a2a_read_result(const Adapter *self, Json *result)
{
	Json	   *envelope = adapter_envelope(MSG_CHAT_SYSTEM);

	json_put_cstring(envelope, "/payload_type", RESULT_TYPE);
	adapter_put_payload(self, envelope, json_is(result, JSON_NULL) ? NULL : result);
	return envelope;
}

static Json *
a2a_read(const Adapter *self, const Json *raw, const A2aDocument *d, const Json *context)
{
	const Adapter *within = adapter_within(self, d->at);
	const Json *object = json_get(raw, d->at);

	switch (d->form)
	{
		case A2A_SEND:
			return a2a_read_send(self, raw, d, context);
		case A2A_CANCEL:
			return a2a_read_cancel(within, adapter_find(self, raw, d->at, JSON_OBJECT), context);
		case A2A_METHOD:
			return a2a_read_method(within, adapter_find(self, raw, d->at, JSON_OBJECT), d->method, context);
		case A2A_MESSAGE:
			return a2a_read_message(within, object, d, context);
		case A2A_TASK:
		case A2A_STATUS:
			return a2a_read_task(within, object, d, context);
		case A2A_ARTIFACT:
			return a2a_read_artifact_update(within, object, d, context);
		case A2A_ERROR:
			return a2a_read_error(within, object, d->is_call || !d->is_wrapped, context);
		case A2A_RESULT:
			break;
	}
	return a2a_read_result(self, json_get(raw, d->at));
}

static List *
a2a_inbound(const Adapter *self, const Json *raw, const Json *context)
{
	Adapter		lenient = *self;
	A2aDocument d;
	Json	   *envelope;

	/*
	 * the caller has chosen this adapter, so documents that other protocols
	 * share with it are accepted, too
	 */
	lenient.named = true;
	if (!a2a_open(&lenient, raw, &d))
		adapter_fault(self, "", "WRONG_TYPE", "%s", a2a_declines(self, raw));
	envelope = a2a_read(self, d.is_old_rest ? a2a_of_old_rest(raw) : raw, &d, context);
	adapter_note(self, envelope, "/v", json_of_cstring(d.is_old || d.is_old_rest ? OLD_VERSION : VERSION));
	if (d.is_old_rest)
		adapter_note(self, envelope, "/old_rest", json_of_bool(true));
	adapter_note(self, envelope, "/form", json_of_cstring(a2a_forms[d.form]));
	if (d.is_call)
		adapter_note(self, envelope, "/rpc_id", adapter_find_name(self, raw, "/id"));
	else
		adapter_note(self, envelope, "/rest", json_of_bool(true));
	if (!d.is_wrapped && d.form == A2A_ERROR)
		adapter_note(self, envelope, "/wrapped", json_of_bool(false));
	if (d.is_wrapped == d.is_old && (d.form == A2A_MESSAGE || d.form == A2A_TASK || d.form == A2A_STATUS || d.form == A2A_ARTIFACT))
		adapter_note(self, envelope, "/wrapped", json_of_bool(d.is_wrapped));
	if (d.form == A2A_SEND && d.method != NULL)
		adapter_note(self, envelope, "/method", json_get(raw, "/method"));
	return list_make1(envelope);
}

Json *
a2a_artifact_in(const Json *raw)
{
	Adapter		lenient = a2a_adapter;
	A2aDocument d;
	Json	   *artifact;

	lenient.named = true;
	if (!a2a_open(&lenient, raw, &d) || d.form != A2A_ARTIFACT)
		return NULL;
	artifact = json_get_kind(d.is_old_rest ? a2a_of_old_rest(raw) : raw, psprintf("%s/artifact", d.at), JSON_OBJECT);
	return artifact != NULL ? a2a_read_artifact(artifact, d.is_old) : NULL;
}

/* ------------------------------------------------------------------- outbound */

/*
 * Returns the method that the payload_type names if its form is A2A_METHOD, or
 * NULL otherwise.
 */
static const A2aMethod *
a2a_method_of_type(const Json *envelope)
{
	Slice		type = json_get_text(envelope, "/payload_type");
	int			prefix = strlen(A2A_METHOD_TYPE);
	const A2aMethod *method;

	if (!slice_present(type) || !slice_starts(type, SLICE_OF(A2A_METHOD_TYPE)))
		return NULL;
	method = a2a_method_named(slice_after(type, prefix));
	return method != NULL && method->form == A2A_METHOD ? method : NULL;
}

/* Can an envelope of this type be written in that form? */
static bool
a2a_form_fits(const Json *envelope, A2aForm form)
{
	MessageType type = adapter_type(envelope);

	switch (form)
	{
		case A2A_SEND:
		case A2A_MESSAGE:
			return type == MSG_TASK_REQUEST || type == MSG_CHAT_MESSAGE;
		case A2A_CANCEL:
			return type == MSG_TASK_CANCEL;
		case A2A_TASK:
		case A2A_STATUS:
			return type == MSG_TASK_ACCEPT || type == MSG_TASK_PROGRESS || type == MSG_TASK_RESULT || type == MSG_TASK_ERROR ||
				type == MSG_TASK_CANCEL || type == MSG_TASK_TIMEOUT || type == MSG_ROUTING_FAILURE;
		case A2A_ARTIFACT:
			return type == MSG_TASK_PROGRESS && a2a_id(json_get(envelope, "/payload/artifact_id")) != NULL;
		case A2A_METHOD:
			return type == MSG_CHAT_SYSTEM && a2a_method_of_type(envelope) != NULL;
		case A2A_ERROR:
			return type == MSG_TASK_ERROR || (type == MSG_CHAT_SYSTEM && json_says(envelope, "/payload_type", ERROR_TYPE));
		case A2A_RESULT:
			return type == MSG_CHAT_SYSTEM && json_says(envelope, "/payload_type", RESULT_TYPE);
	}
	return false;
}

/*
 * Returns the form of an envelope that was never foreign, or whose type has
 * been changed.
 */
static A2aForm
a2a_form_of_type(const Adapter *self, const Json *envelope)
{
	switch (adapter_type(envelope))
	{
		case MSG_TASK_REQUEST:
			return A2A_SEND;
		case MSG_TASK_CANCEL:
			return A2A_CANCEL;
		case MSG_TASK_RESULT:
			return A2A_TASK;
		case MSG_TASK_PROGRESS:
			return a2a_id(json_get(envelope, "/payload/artifact_id")) != NULL ? A2A_ARTIFACT : A2A_STATUS;
		case MSG_TASK_ACCEPT:
		case MSG_TASK_ERROR:
		case MSG_TASK_TIMEOUT:
		case MSG_ROUTING_FAILURE:
			return A2A_STATUS;
		case MSG_ROUTING_DECISION:
		case MSG_UNKNOWN:
			adapter_unsupported(self, envelope);
		default:
			return json_says(envelope, "/from/role", "user") || json_get(envelope, "/meta/clutch/answer_to") != NULL ?
				A2A_SEND : A2A_MESSAGE;
	}
}

static A2aForm
a2a_form_of(const Adapter *self, const Json *envelope)
{
	Slice		noted = json_get_text(adapter_noted(self, envelope, ""), "/form");

	for (int i = 0; i < lengthof(a2a_forms) && slice_present(noted); i++)
		if (slice_is(noted, a2a_forms[i]) && a2a_form_fits(envelope, (A2aForm) i))
			return (A2aForm) i;
	return a2a_form_of_type(self, envelope);
}

static const A2aMethod *
a2a_method_of(const Adapter *self, const Json *envelope, A2aForm form)
{
	bool		is_old = a2a_is_old(self, envelope);
	Slice		noted = json_get_text(adapter_noted(self, envelope, ""), "/method");
	const A2aMethod *method = slice_present(noted) ? a2a_method_named(noted) : NULL;

	if (form == A2A_METHOD)
		return a2a_method_of_type(envelope);
	if (form == A2A_CANCEL)
		return a2a_method_named(is_old ? SLICE_OF("tasks/cancel") : SLICE_OF("CancelTask"));
	if (method != NULL && method->form == A2A_SEND)
		return method;
	return a2a_method_named(is_old ? SLICE_OF("message/send") : SLICE_OF("SendMessage"));
}

/*
 * Returns a message, a task or an event.  In version 1.0, it is the only
 * member of an enclosing object.
 */
static Json *
a2a_write_body(const Adapter *self, const Json *envelope, A2aForm form)
{
	const Json *noted = json_get_kind(envelope, psprintf("/meta/%s/wrapped", self->name), JSON_BOOL);
	bool		is_wrapped = noted != NULL ? noted->boolean : !a2a_is_old(self, envelope);
	Json	   *around = json_new_object();
	Json	   *body;

	if (form == A2A_MESSAGE)
		body = a2a_write_message(self, envelope);
	else if (form == A2A_ARTIFACT)
		body = a2a_write_artifact_update(self, envelope);
	else
		body = a2a_write_task(self, envelope, form == A2A_STATUS);
	if (!is_wrapped)
		return body;
	json_put(around, a2a_member_of(form), body);
	return around;
}

/* Returns {"jsonrpc": "2.0", "id": ..}, to which the caller adds the rest. */
static Json *
a2a_call(const Adapter *self, const Json *envelope)
{
	Json	   *raw = json_new_object();
	Json	   *id = adapter_was_foreign(self, envelope) ? adapter_noted(self, envelope, "/rpc_id") : json_get(envelope, "/id");

	json_put_cstring(raw, "/jsonrpc", "2.0");
	if (json_is(id, JSON_TEXT) || json_is(id, JSON_NUMBER))
		json_put(raw, "/id", id);
	return raw;
}

static Json *
a2a_write_request(const Adapter *self, const Json *envelope, A2aForm form)
{
	const A2aMethod *method = a2a_method_of(self, envelope, form);
	Json	   *raw = a2a_call(self, envelope);

	json_put_cstring(raw, "/method", method->name);
	if (form == A2A_CANCEL)
		json_put(raw, "/params", a2a_write_cancel(self, envelope));
	else if (form == A2A_METHOD)
		json_put(raw, "/params", a2a_write_method(self, envelope, method));
	else
		json_put(raw, "/params", a2a_write_send(self, envelope));
	return raw;
}

/*
 * An envelope that was never foreign is written as JSON-RPC only if it is a
 * request.  Push notifications and the REST binding expect everything else
 * without JSON-RPC.
 */
static Json *
a2a_write(const Adapter *self, const Json *envelope)
{
	A2aForm		form = a2a_form_of(self, envelope);
	bool		is_rest = json_is_true(adapter_noted(self, envelope, ""), "/rest");
	Json	   *raw = a2a_call(self, envelope);
	Json	   *result;

	if (form == A2A_SEND && is_rest)
		return a2a_write_send(self, envelope);
	if (form == A2A_SEND || form == A2A_CANCEL || form == A2A_METHOD)
		return a2a_write_request(self, envelope, form);
	if (form == A2A_ERROR)
	{
		if (is_rest && json_get_kind(adapter_noted(self, envelope, ""), "/wrapped", JSON_BOOL) != NULL)
			return a2a_write_error(self, envelope, true);
		if (is_rest)
			raw = json_new_object();
		json_put(raw, "/error", a2a_write_error(self, envelope, !is_rest));
		return raw;
	}
	if (form == A2A_RESULT)
		result = adapter_payload(self, envelope);
	else
		result = a2a_write_body(self, envelope, form);
	if (result == NULL)
		result = json_new_object();
	if (is_rest || !adapter_was_foreign(self, envelope))
		return result;
	json_put(raw, "/result", result);
	return raw;
}

static Json *
a2a_outbound(const Adapter *self, const Json *envelope)
{
	Json	   *raw = a2a_write(self, envelope);

	return json_is_true(adapter_noted(self, envelope, ""), "/old_rest") ? a2a_to_old_rest(raw) : raw;
}

/* Requests of the REST binding get a response as well. */
static bool
a2a_is_call(const Adapter *self, const Json *request, const Json *asked)
{
	return json_get(asked, "/jsonrpc") != NULL || json_is_true(adapter_noted(self, request, ""), "/rest");
}

const Adapter a2a_adapter = {
	.name = "a2a",
	.carrier_at = a2a_carrier,
	.declines = a2a_declines,
	.inbound = a2a_inbound,
	.outbound = a2a_outbound,
	.tells_ends = ENDS_IN_RESPONSES,
	.is_call = a2a_is_call,
	.response_form = "task",
	.task_form = "task",
	.task_at = "/task",
};
