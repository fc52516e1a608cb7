/*-------------------------------------------------------------------------
 *
 * a2a_message.c
 *	  The Agent2Agent protocol: messages and requests.
 *
 * A message that names no task requests a new one.  A message that names a
 * task belongs to it, and may be the answer to a question.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/a2a_part.h"

#include "settings.h"

#define MODE_PREFIX		"mode:"
#define MODES			"/acceptedOutputModes"

static const A2aContent a2a_message_content = {"text", true, true, {NULL}};

/* --------------------------------------------------------------------- place */

Json *
a2a_find_id(const Adapter *self, const Json *object, const char *path)
{
	Json	   *id = adapter_find(self, object, path, JSON_TEXT);

	if (id == NULL || id->text.len == 0)
		return NULL;
	return adapter_find_name(self, object, path);
}

/*
 * Notes the ID as the native one of the field or, if the field comes from the
 * context and not from this ID, under "aside".
 */
static void
a2a_note_id(const Adapter *self, Json *envelope, bool is_aside, const char *aside, const char *field, Json *id)
{
	if (is_aside)
		adapter_note(self, envelope, aside, id);
	else
		adapter_note_native(self, envelope, field, id);
}

void
a2a_note_place(const Adapter *self, Json *envelope, const Json *context, Json *task_id, Json *context_id)
{
	a2a_note_id(self, envelope, adapter_member(context, "/task_id") != NULL, "/task", "task_id", task_id);
	a2a_note_id(self, envelope, adapter_member(context, "/thread_id") != NULL, "/context_id", "thread_id", context_id);
}

Json *
a2a_id(Json *id)
{
	return json_is(id, JSON_TEXT) && id->text.len > 0 && id->text.len <= clutch_limits.max_id_bytes &&
		identifier_find_control(id->text) < 0 ? id : NULL;
}

static Json *
a2a_task_of(const Adapter *self, const Json *envelope)
{
	Json	   *task_id = a2a_id(adapter_noted(self, envelope, "/task"));

	return task_id != NULL ? task_id : a2a_id(adapter_native(self, envelope, "task_id"));
}

Json *
a2a_some_task_of(const Adapter *self, const Json *envelope)
{
	Json	   *task_id = a2a_task_of(self, envelope);

	return task_id != NULL ? task_id : json_get(envelope, "/task_id");
}

Json *
a2a_context_of(const Adapter *self, const Json *envelope)
{
	Json	   *context_id = a2a_id(adapter_noted(self, envelope, "/context_id"));

	return context_id != NULL ? context_id : a2a_id(adapter_native(self, envelope, "thread_id"));
}

/* ------------------------------------------------------------------- messages */

/* Is it the role of a user, as opposed to that of an agent? */
static bool
a2a_is_role_of_user(const Adapter *self, Slice role)
{
	static const char *const roles[] = {"ROLE_USER", "user", "ROLE_AGENT", "agent", "ROLE_UNSPECIFIED"};
	int			i = slice_find(role, roles, lengthof(roles));

	if (i >= 0)
		return i < 2;
	adapter_fault(self, "/role", "WRONG_VALUE", "it must be \"ROLE_USER\" or \"ROLE_AGENT\", or \"user\" or \"agent\" in version 0.3");
}

Json *
a2a_read_message(const Adapter *self, const Json *message, const A2aDocument *document, const Json *context)
{
	Slice		role = adapter_require_word(self, message, "/role");
	bool		is_user = a2a_is_role_of_user(self, role);
	Json	   *task_id = a2a_find_id(self, message, "/taskId");
	const Json *parts = adapter_find(self, message, "/parts", JSON_ARRAY);
	bool		asks = task_id == NULL && (is_user || document->form == A2A_SEND);
	Json	   *envelope = adapter_envelope(asks ? MSG_TASK_REQUEST : MSG_CHAT_MESSAGE);

	(void) adapter_require_word(self, message, "/messageId");
	if (parts == NULL)
		adapter_fault(self, "/parts", "REQUIRED", "it is missing");
	json_put_cstring(envelope, "/from/role", is_user ? "user" : "worker");
	json_put(envelope, "/payload", json_new_object());
	adapter_note_native(self, envelope, "id", adapter_find_name(self, message, "/messageId"));
	/* the same message in a request with another ID is a duplicate */
	json_put(envelope, "/idempotency_key", json_get(message, "/messageId"));
	a2a_note_place(self, envelope, context, task_id, a2a_find_id(self, message, "/contextId"));
	a2a_read_parts(self, parts, document->is_old, &a2a_message_content, envelope);
	a2a_read_metadata(self, message, envelope);
	adapter_note(self, envelope, "/extensions", adapter_member(message, "/extensions"));
	adapter_note(self, envelope, "/references", adapter_member(message, "/referenceTaskIds"));
	return envelope;
}

/* Was it sent by a user, as opposed to an agent? */
static bool
a2a_is_user(const Json *envelope)
{
	return json_says(envelope, "/from/role", "user");
}

static const char *
a2a_role_of(bool is_user, bool is_old)
{
	if (is_user)
		return is_old ? "user" : "ROLE_USER";
	return is_old ? "agent" : "ROLE_AGENT";
}

/*
 * Returns the ID by which the receiver recognizes a message that is sent
 * again.
 */
static Json *
a2a_message_id(const Adapter *self, const Json *envelope)
{
	Json	   *key = a2a_id(json_get(envelope, "/idempotency_key"));
	Json	   *native = a2a_id(adapter_native(self, envelope, "id"));

	return key != NULL ? key : native != NULL ? native : json_get(envelope, "/id");
}

/*
 * Makes a message from an envelope.  A request that was never foreign does not
 * name its task, because the other side does not know that task yet.
 */
static Json *
a2a_message_of(const Adapter *self, const Json *envelope, bool is_user)
{
	bool		is_old = a2a_is_old(self, envelope);
	bool		is_foreign = adapter_was_foreign(self, envelope);
	Json	   *message = json_new_object();
	Json	   *parts = a2a_write_parts(self, envelope, is_old, &a2a_message_content);

	if (is_old)
		json_put_cstring(message, "/kind", "message");
	json_put(message, "/messageId", a2a_message_id(self, envelope));
	json_put(message, "/contextId", a2a_context_of(self, envelope));
	if (is_foreign || adapter_type(envelope) != MSG_TASK_REQUEST)
		json_put(message, "/taskId", a2a_task_of(self, envelope));
	json_put_cstring(message, "/role", a2a_role_of(is_user, is_old));
	if (parts->n == 0)
	{
		json_add(parts, json_new_object());
		json_put(parts->items[0], "/data", json_new_object());
		if (is_old)
			json_put_cstring(parts->items[0], "/kind", "data");
	}
	json_put(message, "/parts", parts);
	a2a_write_metadata(self, envelope, message);
	json_put(message, "/extensions", adapter_noted(self, envelope, "/extensions"));
	json_put(message, "/referenceTaskIds", adapter_noted(self, envelope, "/references"));
	return message;
}

Json *
a2a_write_message(const Adapter *self, const Json *envelope)
{
	return a2a_message_of(self, envelope, a2a_is_user(envelope));
}

/* -------------------------------------------------------------- configuration */

/* Can the mode be used as part of a preference? */
static bool
a2a_is_mode(const Json *mode)
{
	return json_is(mode, JSON_TEXT) && mode->text.len > 0 && identifier_find_control(mode->text) < 0 &&
		mode->text.len + (int) strlen(MODE_PREFIX) <= clutch_limits.max_id_bytes &&
		memchr(mode->text.s, '@', mode->text.len) == NULL;
}

/*
 * Turns output modes into preferences, unless one of them cannot be part of a
 * preference.
 */
static void
a2a_read_configuration(const Adapter *self, const Json *params, Json *envelope)
{
	const Json *configuration = adapter_find(self, params, "/configuration", JSON_OBJECT);
	const Json *modes = json_get_kind(configuration, MODES, JSON_ARRAY);
	Json	   *prefers = json_new_array();
	Json	   *rest;

	if (configuration == NULL)
		return;
	rest = json_copy(configuration);
	for (int i = 0; modes != NULL && i < modes->n && i < clutch_limits.max_list && a2a_is_mode(modes->items[i]); i++)
		json_add(prefers, json_of_cstring(psprintf(MODE_PREFIX "%.*s", modes->items[i]->text.len, modes->items[i]->text.s)));
	if (prefers->n > 0 && prefers->n == modes->n)
	{
		json_put(envelope, "/prefers", prefers);
		json_take(rest, MODES);
	}
	if (rest->n > 0)
		adapter_note(self, envelope, "/configuration", rest);
}

static void
a2a_write_configuration(const Adapter *self, const Json *envelope, Json *params)
{
	const Json *noted = adapter_noted(self, envelope, "/configuration");
	const Json *prefers = json_get_kind(envelope, "/prefers", JSON_ARRAY);
	Json	   *configuration = json_is(noted, JSON_OBJECT) ? json_copy(noted) : json_new_object();
	Json	   *modes = json_new_array();
	int			prefix = strlen(MODE_PREFIX);

	for (int i = 0; prefers != NULL && i < prefers->n; i++)
	{
		Slice		entry = json_get_text(prefers->items[i], "");

		if (slice_present(entry) && slice_starts(entry, SLICE_OF(MODE_PREFIX)))
			json_add(modes, json_of_text(slice_after(entry, prefix)));
	}
	if (modes->n > 0)
		json_put(configuration, MODES, modes);
	if (configuration->n > 0)
		json_put(params, "/configuration", configuration);
}

/* ------------------------------------------------------------------- requests */

Json *
a2a_read_send(const Adapter *self, const Json *raw, const A2aDocument *document, const Json *context)
{
	const char *at = document->is_call ? "/params" : "";
	const Adapter *within = adapter_within(self, at);
	const Json *params = adapter_find(self, raw, at, JSON_OBJECT);
	const Json *message = adapter_find(within, params, "/message", JSON_OBJECT);
	Json	   *envelope;

	if (message == NULL)
		adapter_fault(within, "/message", "REQUIRED", "it is missing");
	envelope = a2a_read_message(adapter_within(within, "/message"), message, document, context);
	a2a_read_configuration(within, params, envelope);
	adapter_note(self, envelope, "/request_metadata", adapter_find(within, params, "/metadata", JSON_OBJECT));
	adapter_note(self, envelope, "/tenant", adapter_member(params, "/tenant"));
	return envelope;
}

Json *
a2a_write_send(const Adapter *self, const Json *envelope)
{
	Json	   *params = json_new_object();
	bool		is_user = a2a_is_user(envelope) || !adapter_was_foreign(self, envelope);

	json_put(params, "/message", a2a_message_of(self, envelope, is_user));
	a2a_write_configuration(self, envelope, params);
	json_put(params, "/metadata", adapter_noted(self, envelope, "/request_metadata"));
	json_put(params, "/tenant", adapter_noted(self, envelope, "/tenant"));
	return params;
}

/*
 * Reads a cancellation.  The payload is the metadata of the request, which may
 * give a reason.
 */
Json *
a2a_read_cancel(const Adapter *self, const Json *params, const Json *context)
{
	Json	   *envelope = adapter_envelope(MSG_TASK_CANCEL);
	Json	   *task_id = a2a_find_id(self, params, "/id");
	const Json *metadata = adapter_find(self, params, "/metadata", JSON_OBJECT);

	if (task_id == NULL)
		adapter_fault(self, "/id", "REQUIRED", "it is missing");
	a2a_note_place(self, envelope, context, task_id, NULL);
	a2a_read_metadata(self, params, envelope);
	json_take(envelope, psprintf("/meta/%s/metadata", self->name));
	adapter_put_payload(self, envelope, metadata != NULL ? a2a_plain_metadata(metadata) : NULL);
	adapter_note(self, envelope, "/tenant", adapter_member(params, "/tenant"));
	return envelope;
}

Json *
a2a_write_cancel(const Adapter *self, const Json *envelope)
{
	Json	   *params = json_new_object();
	const Json *payload = json_get_kind(envelope, "/payload", JSON_OBJECT);

	json_put(params, "/id", a2a_some_task_of(self, envelope));
	a2a_write_metadata(self, envelope, params);
	for (int i = 0; payload != NULL && i < payload->n; i++)
	{
		if (json_get(params, "/metadata") == NULL)
			json_put(params, "/metadata", json_new_object());
		json_put_member(json_get(params, "/metadata"), payload->keys[i], payload->items[i]);
	}
	json_put(params, "/tenant", adapter_noted(self, envelope, "/tenant"));
	return params;
}

/*
 * Reads a request of any other method.  The payload is the params without the
 * ID of the task.
 */
Json *
a2a_read_method(const Adapter *self, const Json *params, const A2aMethod *method, const Json *context)
{
	Json	   *envelope = adapter_envelope(MSG_CHAT_SYSTEM);
	Json	   *payload = params != NULL ? json_copy(params) : NULL;

	json_put_cstring(envelope, "/payload_type", psprintf(A2A_METHOD_TYPE "%s", method->name));
	if (method->task != NULL)
	{
		a2a_note_place(self, envelope, context, a2a_find_id(self, params, method->task), NULL);
		if (payload != NULL)
			json_take(payload, method->task);
	}
	adapter_put_payload(self, envelope, payload);
	return envelope;
}

Json *
a2a_write_method(const Adapter *self, const Json *envelope, const A2aMethod *method)
{
	Json	   *params = json_copy(json_get(envelope, "/payload"));

	if (method->task != NULL)
		json_put(params, method->task, method->must_have_task ? a2a_some_task_of(self, envelope) : a2a_task_of(self, envelope));
	return params;
}
