/*-------------------------------------------------------------------------
 *
 * a2a_document.c
 *	  The Agent2Agent protocol: recognizing documents.
 *
 * Some documents, such as an empty result or a general error, could just as
 * well belong to another protocol based on JSON-RPC.  They are accepted only
 * if the caller has named the adapter.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/a2a_part.h"

static const A2aMethod a2a_methods[] = {
	{"SendMessage", A2A_SEND, false, NULL},
	{"SendStreamingMessage", A2A_SEND, false, NULL},
	{"GetTask", A2A_METHOD, false, "/id"},
	{"ListTasks", A2A_METHOD, false, NULL},
	{"CancelTask", A2A_CANCEL, false, "/id"},
	{"SubscribeToTask", A2A_METHOD, false, "/id"},
	{"CreateTaskPushNotificationConfig", A2A_METHOD, false, "/taskId"},
	{"GetTaskPushNotificationConfig", A2A_METHOD, false, "/taskId"},
	{"ListTaskPushNotificationConfigs", A2A_METHOD, false, "/taskId"},
	{"DeleteTaskPushNotificationConfig", A2A_METHOD, false, "/taskId"},
	{"GetExtendedAgentCard", A2A_METHOD, false, NULL},
	{"message/send", A2A_SEND, true, NULL},
	{"message/stream", A2A_SEND, true, NULL},
	{"tasks/get", A2A_METHOD, true, "/id", true},
	{"tasks/cancel", A2A_CANCEL, true, "/id", true},
	{"tasks/resubscribe", A2A_METHOD, true, "/id"},
	{"tasks/pushNotificationConfig/set", A2A_METHOD, true, "/taskId"},
	{"tasks/pushNotificationConfig/get", A2A_METHOD, true, "/id"},
	{"tasks/pushNotificationConfig/list", A2A_METHOD, true, "/id"},
	{"tasks/pushNotificationConfig/delete", A2A_METHOD, true, "/id"},
	{"agent/getAuthenticatedExtendedCard", A2A_METHOD, true, NULL},
};

/*
 * what a result or a body may be: its "kind" in version 0.3, and the name of
 * the member that contains it in version 1.0
 */
static const struct
{
	A2aForm		form;
	const char *kind;
	const char *member;
}			a2a_bodies[] = {
	{A2A_TASK, "task", "/task"},
	{A2A_MESSAGE, "message", "/message"},
	{A2A_STATUS, "status-update", "/statusUpdate"},
	{A2A_ARTIFACT, "artifact-update", "/artifactUpdate"},
};

const A2aMethod *
a2a_method_named(Slice name)
{
	for (int i = 0; i < lengthof(a2a_methods); i++)
		if (slice_is(name, a2a_methods[i].name))
			return &a2a_methods[i];
	return NULL;
}

const char *
a2a_member_of(A2aForm form)
{
	for (int i = 0; i < lengthof(a2a_bodies); i++)
		if (a2a_bodies[i].form == form)
			return a2a_bodies[i].member;
	return "";
}

/* ------------------------------------------------------------------ the test */

/* Does the text begin with this prefix, as the words of version 1.0 do? */
static bool
a2a_begins(const Json *value, const char *path, const char *beginning)
{
	Slice		text = json_get_text(value, path);

	return slice_present(text) && slice_starts(text, slice_of_cstring(beginning));
}

static bool
a2a_is_body(const Json *body, A2aForm form)
{
	switch (form)
	{
		case A2A_TASK:
			return json_has_text(body, "/id") && json_has_text(body, "/status/state");
		case A2A_MESSAGE:
			if (a2a_begins(body, "/role", "ROLE_") && json_get_kind(body, "/content", JSON_ARRAY) != NULL)
				return true;
			return json_has_text(body, "/role") && json_get_kind(body, "/parts", JSON_ARRAY) != NULL &&
				(json_has_text(body, "/messageId") || a2a_begins(body, "/role", "ROLE_") || json_says(body, "/kind", "message"));
		case A2A_STATUS:
			return json_has_text(body, "/taskId") && json_has_text(body, "/status/state");
		case A2A_ARTIFACT:
			return json_has_text(body, "/taskId") && json_get_kind(body, "/artifact", JSON_OBJECT) != NULL;
		default:
			return false;
	}
}

/* Is it an object of version 1.0?  Such an object has no "kind". */
static bool
a2a_is_new_body(const Json *body, A2aForm form)
{
	if (form == A2A_MESSAGE)
		return a2a_begins(body, "/role", "ROLE_");
	return form == A2A_ARTIFACT ? json_get(body, "/kind") == NULL : a2a_begins(body, "/status/state", "TASK_STATE_");
}

/*
 * Tells the form of a body.  A message by a user that is not in JSON-RPC is a
 * request of the REST binding.
 */
static A2aForm
a2a_body_form(const Json *raw, const A2aDocument *d, A2aForm form)
{
	bool		is_user = json_says(raw, "/message/role", "user") || json_says(raw, "/message/role", "ROLE_USER");

	return form == A2A_MESSAGE && !d->is_call && (is_user || json_get(raw, "/configuration") != NULL) ? A2A_SEND : form;
}

static bool
a2a_open_body(const Json *raw, const char *at, A2aDocument *d)
{
	const Json *body = json_get(raw, at);

	for (int i = 0; i < lengthof(a2a_bodies); i++)
	{
		A2aForm		form = a2a_bodies[i].form;
		const Json *inner = json_get(body, a2a_bodies[i].member);

		if (json_get(body, "/kind") == NULL && a2a_is_body(inner, form))
		{
			d->form = a2a_body_form(body, d, form);
			d->at = psprintf("%s%s", at, a2a_bodies[i].member);
			d->is_old = !a2a_is_new_body(inner, form);
			d->is_wrapped = true;
			return true;
		}
		if (a2a_is_body(body, form) && (json_says(body, "/kind", a2a_bodies[i].kind) ||
										(json_get(body, "/kind") == NULL && form != A2A_ARTIFACT && a2a_is_new_body(body, form))))
		{
			d->form = form;
			d->at = at;
			d->is_old = json_get(body, "/kind") != NULL;
			return true;
		}
	}
	return false;
}

static bool
a2a_open_request(const Json *raw, A2aDocument *d)
{
	const Json *method = json_get(raw, "/method");

	d->method = json_is(method, JSON_TEXT) ? a2a_method_named(method->text) : NULL;
	if (d->method == NULL)
		return false;
	if (d->method->must_have_task && (!json_has_text(raw, "/params/id") || json_get(raw, "/params/taskId") != NULL))
		return false;
	d->form = d->method->form;
	d->is_old = d->method->is_old;
	d->at = d->form == A2A_SEND ? "/params/message" : "/params";
	return true;
}

static bool
a2a_open_error(const Adapter *self, const Json *raw, A2aDocument *d)
{
	const Json *error = json_get_kind(raw, "/error", JSON_OBJECT);
	bool		is_named = self->named && json_get_kind(error, "/code", JSON_NUMBER) != NULL;

	/* in the REST binding of version 0.3, the document itself is the error */
	if (json_get(raw, "/error") == NULL && !d->is_call && self->named && json_get_kind(raw, "/code", JSON_NUMBER) != NULL &&
		json_has_text(raw, "/message"))
	{
		d->form = A2A_ERROR;
		d->is_old = true;
		return true;
	}
	if (error == NULL || !(a2a_is_error(error, d->is_call) || is_named) ||
		(d->is_call && !is_named && adapter_member(raw, "/id") == NULL))
		return false;
	d->form = A2A_ERROR;
	d->at = "/error";
	d->is_wrapped = true;
	d->is_old = json_get_kind(error, d->is_call ? "/data" : "/details", JSON_ARRAY) == NULL;
	return true;
}

/* Is it a push notification configuration? */
static bool
a2a_is_config(const Json *value, bool *is_old)
{
	*is_old = json_get_kind(value, "/pushNotificationConfig", JSON_OBJECT) != NULL;
	if (*is_old && a2a_begins(value, "/name", "tasks/"))	/* the REST binding of version 0.3 */
		return true;
	return json_has_text(value, "/taskId") && (*is_old || json_has_text(value, "/url"));
}

/* Is it the result of a method that only A2A has? */
static bool
a2a_is_result(const Json *result, bool *is_old)
{
	const Json *configs = json_get_kind(result, json_is(result, JSON_ARRAY) ? "" : "/configs", JSON_ARRAY);

	*is_old = false;
	if (json_get_kind(result, "/tasks", JSON_ARRAY) != NULL && json_has_text(result, "/nextPageToken") &&
		json_get_kind(result, "/pageSize", JSON_NUMBER) != NULL)
		return true;
	if (configs != NULL)
		return configs->n > 0 && a2a_is_config(configs->items[0], is_old);
	if (a2a_is_config(result, is_old))
		return true;
	if (json_get_kind(result, "/skills", JSON_ARRAY) == NULL || json_get_kind(result, "/capabilities", JSON_OBJECT) == NULL)
		return false;
	*is_old = json_has_text(result, "/protocolVersion");
	return *is_old || json_get_kind(result, "/supportedInterfaces", JSON_ARRAY) != NULL;
}

/*
 * Outside JSON-RPC, a list of tasks is the only result that cannot belong to
 * another protocol.
 */
static bool
a2a_open_result(const Adapter *self, const Json *raw, A2aDocument *d)
{
	const Json *result = json_get(raw, d->is_call ? "/result" : "");
	bool		is_known = result != NULL && a2a_is_result(result, &d->is_old);

	d->form = A2A_RESULT;
	d->at = d->is_call ? "/result" : "";
	if (d->is_call)
		return result != NULL && (is_known || self->named);
	return is_known && (json_get(raw, "/tasks") != NULL || self->named);
}

bool
a2a_open(const Adapter *self, const Json *raw, A2aDocument *d)
{
	memset(d, 0, sizeof(*d));
	d->at = "";
	d->is_call = json_get(raw, "/jsonrpc") != NULL;
	if (!json_is(raw, JSON_OBJECT) || (d->is_call && !json_says(raw, "/jsonrpc", "2.0")))
		return false;
	if (d->is_call && json_get(raw, "/method") != NULL)
		return a2a_open_request(raw, d);
	/* some libraries write "error": null beside a result */
	if (adapter_member(raw, "/error") != NULL)
		return a2a_open_error(self, raw, d);
	if (!d->is_call)
	{
		if (!a2a_open_body(raw, "", d))
			return a2a_open_error(self, raw, d) || a2a_open_result(self, raw, d);
		d->is_old_rest = !d->is_old && a2a_is_old_rest(raw);
		return true;
	}
	return a2a_open_body(raw, "/result", d) || a2a_open_result(self, raw, d);
}
