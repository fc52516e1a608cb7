/*-------------------------------------------------------------------------
 *
 * mcp_write.c
 *	  The Model Context Protocol: writing requests and notifications.
 *
 * An envelope without a form of its own becomes a call of the tool
 * clutch.send.  mcp_result.c has the responses.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/mcp_part.h"

static void
mcp_write_meta(const Adapter *self, const Json *envelope, Json *raw)
{
	adapter_rows_outbound(self, mcp_meta_rows, envelope, raw);
	json_put_text(raw, "/params/_meta/traceparent", adapter_traceparent(envelope));
	mcp_write_related_task(self, envelope, raw, "/params");
}

/*
 * Returns a request or, if the envelope has no request ID, a notification.
 * params is modified.
 */
static Json *
mcp_write_method(const Adapter *self, const Json *envelope, Slice method, Json *params)
{
	Json	   *raw = mcp_document();

	json_put(raw, "/id", adapter_native(self, envelope, "id"));
	json_put_text(raw, "/method", method);
	json_put(raw, "/params", params);
	mcp_write_meta(self, envelope, raw);
	return raw;
}

static Json *
mcp_write_notification(const Adapter *self, const Json *envelope, const char *method, Json *params)
{
	Json	   *raw = mcp_write_method(self, envelope, slice_of_cstring(method), params);

	if (!adapter_was_foreign(self, envelope))
		(void) json_take(raw, "/id");
	return raw;
}

static Json *
mcp_write_call(const Adapter *self, const Json *envelope, Slice name, Json *arguments)
{
	Json	   *params = json_new_object();
	Json	   *token = adapter_noted(self, envelope, "/progress_token");

	if (token == NULL && !adapter_was_foreign(self, envelope))
		token = json_get(envelope, "/id");
	json_put_text(params, "/name", name);
	json_put(params, "/arguments", arguments);
	json_put(params, "/_meta/progressToken", token);
	return mcp_write_method(self, envelope, SLICE_OF("tools/call"), params);
}

/*
 * Returns the tool in "mcp:<server>/<tool>", or an absent slice if the text
 * has another form.
 */
static Slice
mcp_tool_on_server(Slice tool)
{
	int			at = strlen(MCP_SERVER_PREFIX);

	if (!slice_starts(tool, SLICE_OF(MCP_SERVER_PREFIX)))
		return SLICE_NONE;
	while (at < tool.len && tool.s[at] != '/' && tool.s[at] != ':')
		at++;
	return at + 1 < tool.len ? slice_after(tool, at + 1) : SLICE_NONE;
}

/*
 * Returns the name of the tool.  If the tool is named together with its
 * server, that is what the caller was allowed to call, so the payload must not
 * be able to name another one.
 */
static Slice
mcp_tool_name(const Json *envelope)
{
	Slice		tool = json_get_text(envelope, "/payload/tool");
	Slice		name = mcp_tool_on_server(tool);

	if (!slice_present(name))
		name = json_get_text(envelope, "/payload/name");
	if (slice_present(name))
		return name;
	for (int i = 0; i < tool.len; i++)
		if (tool.s[i] == ':' || tool.s[i] == '/')
			name = slice_after(tool, i + 1);
	return name.len > 0 ? name : tool;
}

static Json *
mcp_write_send(const Adapter *self, const Json *envelope)
{
	Json	   *arguments = json_new_object();
	Json	   *recipients = json_get_kind(envelope, "/to", JSON_ARRAY);
	Json	   *to = json_new_array();

	for (int i = 0; recipients != NULL && i < recipients->n; i++)
		json_add(to, json_get(recipients->items[i], "/agent_id"));
	json_put(arguments, "/type", json_get(envelope, "/type"));
	json_put(arguments, "/payload", adapter_payload(self, envelope));
	json_put(arguments, "/task_id", mcp_task_of(self, envelope));
	json_put(arguments, "/to", to);
	return mcp_write_call(self, envelope, SLICE_OF(MCP_SEND_TOOL), arguments);
}

/*
 * Returns the first required skill that can be the name of a tool, without its
 * version, or an absent slice if there is none.
 */
static Slice
mcp_skill_of(const Json *envelope)
{
	Json	   *requires = json_get_kind(envelope, "/requires", JSON_ARRAY);
	int			prefix = strlen(MCP_SKILL_PREFIX);

	for (int i = 0; requires != NULL && i < requires->n; i++)
	{
		Slice		entry = requires->items[i]->text;
		Slice		id;
		Slice		range;

		if (!slice_starts(entry, SLICE_OF(MCP_SKILL_PREFIX)))
			continue;
		identifier_split_version(entry, &id, &range);
		id = slice_after(id, prefix);
		if (mcp_is_tool_name(id))
			return slice_of_cstring(psprintf(MCP_SKILL_TOOL "%.*s", id.len, id.s));
	}
	return SLICE_NONE;
}

static Json *
mcp_write_request(const Adapter *self, const Json *envelope)
{
	Slice		name = mcp_skill_of(envelope);

	if (!slice_present(name) || mcp_is_form(self, envelope, "send"))
		return mcp_write_send(self, envelope);
	return mcp_write_call(self, envelope, name, adapter_payload(self, envelope));
}

/* Returns the first member of the payload with one of these names that is a text, or NULL. */
static Json *
mcp_said(const Json *envelope, const char *const names[])
{
	Json	   *said = NULL;

	for (int i = 0; names[i] != NULL && said == NULL; i++)
		said = json_get_kind(envelope, psprintf("/payload/%s", names[i]), JSON_TEXT);
	return said;
}

/*
 * May a client be asked for a value of this schema?  The protocol allows only
 * objects without objects in them.
 */
static bool
mcp_is_form_schema(const Json *schema)
{
	static const char *const kinds[] = {"string", "number", "integer", "boolean", "array"};
	const Json *properties = json_get_kind(schema, "/properties", JSON_OBJECT);

	if (properties == NULL || !json_says(schema, "/type", "object"))
		return false;
	for (int i = 0; i < properties->n; i++)
		if (slice_find(json_get_text(properties->items[i], "/type"), kinds, lengthof(kinds)) < 0)
			return false;
	return true;
}

/*
 * Writes a question that no MCP server has asked.  A client that does not accept
 * a part of a question asks nothing at all, so such parts are left out.
 */
static void
mcp_put_question(const Json *envelope, bool is_url, Json *raw)
{
	static const char *const questions[] = {"question", "text", "message", NULL};
	Json	   *question = mcp_said(envelope, questions);
	Json	   *schema = json_get(envelope, "/payload/input_schema");
	Json	   *url = json_get_kind(envelope, "/payload/url", JSON_TEXT);

	json_put(raw, "/params/message", question != NULL ? question : json_of_cstring("Input is required."));
	if (is_url && url != NULL)
	{
		json_put_cstring(raw, "/params/mode", "url");
		json_put(raw, "/params/elicitationId", json_get(envelope, "/id"));
		json_put(raw, "/params/url", url);
		return;
	}
	json_put_cstring(raw, "/params/requestedSchema/type", "object");
	json_put(raw, "/params/requestedSchema/properties", json_new_object());
	if (mcp_is_form_schema(schema))
		json_put(raw, "/params/requestedSchema", schema);
}

static Json *
mcp_write_question(const Adapter *self, const Json *envelope, bool is_url)
{
	Json	   *raw = mcp_write_method(self, envelope, SLICE_OF("elicitation/create"), json_new_object());

	if (!adapter_was_foreign(self, envelope))
	{
		mcp_put_question(envelope, is_url, raw);
		return raw;
	}
	if (is_url)
		json_put_cstring(raw, "/params/mode", "url");
	adapter_rows_outbound(self, mcp_question_rows, envelope, raw);
	return raw;
}

/* Writes progress that no MCP server has reported, and leaves out the members that a client would refuse. */
static void
mcp_put_progress(const Json *envelope, Json *raw)
{
	static const char *const messages[] = {"message", "text", NULL};
	Json	   *progress = json_get_kind(envelope, "/payload/progress", JSON_NUMBER);
	Json	   *total = json_get_kind(envelope, "/payload/total", JSON_NUMBER);
	Json	   *message = mcp_said(envelope, messages);
	Json	   *token = json_get(envelope, "/meta/clutch/reply_to");

	json_put(raw, "/params/progressToken", token != NULL ? token : json_get(envelope, "/task_id"));
	json_put(raw, "/params/progress", progress != NULL ? progress : json_of_int(0));
	if (total != NULL)
		json_put(raw, "/params/total", total);
	if (message != NULL)
		json_put(raw, "/params/message", message);
}

static Json *
mcp_write_progress(const Adapter *self, const Json *envelope)
{
	bool		is_url = json_says(envelope, "/payload/state", "auth_required");
	Json	   *raw;

	if (mcp_is_form(self, envelope, "status"))
		return mcp_write_status(self, envelope);
	if (json_get_kind(envelope, "/payload/input_requests", JSON_OBJECT) != NULL || mcp_is_form(self, envelope, "inputs"))
		return mcp_write_inputs(self, envelope);
	if (is_url || json_says(envelope, "/payload/state", "input_required"))
		return mcp_write_question(self, envelope, is_url);
	raw = mcp_write_notification(self, envelope, "notifications/progress", json_new_object());
	if (adapter_was_foreign(self, envelope))
		adapter_rows_outbound(self, mcp_progress_rows, envelope, raw);
	else
		mcp_put_progress(envelope, raw);
	return raw;
}

static Json *
mcp_write_cancel(const Adapter *self, const Json *envelope)
{
	Json	   *params = json_new_object();
	Json	   *arguments = json_new_object();

	if (mcp_is_form(self, envelope, "status"))
		return mcp_write_status(self, envelope);
	if (mcp_is_form(self, envelope, "tool"))
	{
		json_put(arguments, "/task_id", mcp_task_of(self, envelope));
		json_put(arguments, "/reason", json_get(envelope, "/payload/reason"));
		return mcp_write_call(self, envelope, SLICE_OF(MCP_CANCEL_TOOL), arguments);
	}
	json_put(params, "/reason", json_get(envelope, "/payload/reason"));
	if (mcp_is_form(self, envelope, "task"))
	{
		json_put(params, "/taskId", mcp_task_of(self, envelope));
		return mcp_write_method(self, envelope, SLICE_OF("tasks/cancel"), params);
	}
	json_put(params, "/requestId", mcp_task_of(self, envelope));
	return mcp_write_notification(self, envelope, "notifications/cancelled", params);
}

/*
 * Returns a member of the call that is repeated.  If the notes name the tool
 * (see api/outgoing.c), they contain the original call, and the payload is an
 * answer.  Whoever sends the answer must not be able to call another tool.
 */
static Json *
mcp_repeated(const Adapter *self, const Json *envelope, const char *name)
{
	bool		is_noted = adapter_noted(self, envelope, "/name") != NULL;

	return is_noted ? adapter_noted(self, envelope, psprintf("/%s", name)) : json_get(envelope, psprintf("/payload/%s", name));
}

/*
 * Writes a call that is repeated: with answers, or because a user has done what
 * the server wanted first.  The server need not have sent a state.
 */
static Json *
mcp_write_repetition(const Adapter *self, const Json *envelope)
{
	Json	   *state = adapter_was_foreign(self, envelope) ? mcp_task_of(self, envelope) : adapter_noted(self, envelope, "/task");
	Json	   *name = mcp_repeated(self, envelope, "name");
	Json	   *raw = mcp_write_call(self, envelope, json_is(name, JSON_TEXT) ? name->text : SLICE_NONE,
									 mcp_repeated(self, envelope, "args"));

	if (mcp_is_form(self, envelope, "repeat"))
		return raw;
	json_put(raw, "/params/inputResponses", json_get(envelope, "/payload/input_responses"));
	json_put(raw, "/params/requestState", state);
	return raw;
}

static Json *
mcp_write_chat(const Adapter *self, const Json *envelope)
{
	Slice		type = json_get_text(envelope, "/payload_type");
	int			prefix = strlen(MCP_METHOD_TYPE);

	if (mcp_is_form(self, envelope, "answer") || mcp_is_form(self, envelope, "error"))
		return mcp_write_answer(self, envelope);
	if (mcp_is_form(self, envelope, "elicited"))
		return mcp_write_elicited(self, envelope);
	if (mcp_is_form(self, envelope, "update"))
		return mcp_write_method(self, envelope, SLICE_OF("tasks/update"), mcp_update_params(self, envelope));
	if (mcp_is_form(self, envelope, "inputs") || mcp_is_form(self, envelope, "repeat"))
		return mcp_write_repetition(self, envelope);
	if (adapter_was_foreign(self, envelope) && slice_present(type) && type.len > prefix &&
		slice_starts(type, SLICE_OF(MCP_METHOD_TYPE)) && !mcp_is_form(self, envelope, "send"))
		return mcp_write_method(self, envelope, slice_after(type, prefix),
								mcp_without_meta(json_get(envelope, "/payload")));
	return mcp_write_send(self, envelope);
}

Json *
mcp_content_with_links(const Json *content, const Json *envelope)
{
	const Json *attachments = json_get_kind(envelope, "/attachments", JSON_ARRAY);
	Json	   *all = json_new_array();

	for (int i = 0; i < content->n; i++)
		json_add(all, content->items[i]);
	for (int i = 0; attachments != NULL && i < attachments->n; i++)
	{
		const Json *attachment = attachments->items[i];
		Json	   *name = json_get_kind(attachment, "/filename", JSON_TEXT);
		Json	   *link = json_new_object();

		json_put_cstring(link, "/type", "resource_link");
		json_put(link, "/uri", json_get(attachment, "/ref"));
		json_put(link, "/name", name != NULL ? name : json_get(attachment, "/ref"));
		json_put(link, "/mimeType", json_get_kind(attachment, "/mediaType", JSON_TEXT));
		json_add(all, link);
	}
	return all;
}

Json *
mcp_outbound(const Adapter *self, const Json *envelope)
{
	switch (adapter_type(envelope))
	{
		case MSG_TASK_REQUEST:
			return mcp_write_request(self, envelope);
		case MSG_TOOL_CALL:
			return mcp_write_call(self, envelope, mcp_tool_name(envelope), json_get(envelope, "/payload/args"));
		case MSG_TOOL_RESULT:
		case MSG_TASK_RESULT:
			return mcp_write_result(self, envelope);
		case MSG_TOOL_ERROR:
		case MSG_TASK_ERROR:
		case MSG_TASK_TIMEOUT:
			return mcp_write_error(self, envelope);
		case MSG_TASK_PROGRESS:
			return mcp_write_progress(self, envelope);
		case MSG_TASK_CANCEL:
			return mcp_write_cancel(self, envelope);
		case MSG_CHAT_MESSAGE:
		case MSG_CHAT_SYSTEM:
			return mcp_write_chat(self, envelope);
		case MSG_ROUTING_DECISION:
		case MSG_ROUTING_FAILURE:
		case MSG_UNKNOWN:
			adapter_unsupported(self, envelope);
		default:
			return mcp_write_send(self, envelope);
	}
}
