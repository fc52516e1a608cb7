/*-------------------------------------------------------------------------
 *
 * mcp.c
 *	  The Model Context Protocol: the adapter itself, and incoming requests and
 *	  notifications.
 *
 * mcp_result.c has the responses in both directions, mcp_status.c the status of
 * tasks, and mcp_write.c the requests and notifications that envelopes become.
 * A request or notification without a row in the mapping, such as tools/list,
 * becomes a chat.system with the payload_type "mcp.<method>".
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/mcp_part.h"

#define AGENT_PREFIX	"agent:mcp."
#define CARRIER			"/clutch"

static const char *const mcp_methods[] = {
	"initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list",
	"resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete",
	"logging/setLevel", "server/discover", "subscriptions/listen", "sampling/createMessage", "elicitation/create",
	"roots/list", "tasks/get", "tasks/result", "tasks/list", "tasks/update", "tasks/cancel", NULL
};

/* the requests that only a server sends */
static const char *const mcp_servers_methods[] = {"sampling/createMessage", "elicitation/create", "roots/list"};

const AdapterRow mcp_meta_rows[] = {
	{ROW_TEXT, "/params/_meta/traceparent", "/trace/traceparent"},
	{ROW_TEXT, "/params/_meta/tracestate", "/trace/tracestate"},
	{ROW_VALUE, NULL, NULL}
};

const AdapterRow mcp_progress_rows[] = {
	{ROW_NATIVE, "/params/progressToken", "reply_to"},
	{ROW_VALUE, "/params/progress", "/payload/progress"},
	{ROW_VALUE, "/params/total", "/payload/total"},
	{ROW_VALUE, "/params/message", "/payload/message"},
	{ROW_VALUE, NULL, NULL}
};

const AdapterRow mcp_question_rows[] = {
	{ROW_VALUE, "/params/message", "/payload/question"},
	{ROW_VALUE, "/params/requestedSchema", "/payload/input_schema"},
	{ROW_VALUE, "/params/url", "/payload/url"},
	{ROW_VALUE, NULL, NULL}
};

/* ------------------------------------------------------------------- parts */

Json *
mcp_document(void)
{
	Json	   *raw = json_new_object();

	json_put_cstring(raw, "/jsonrpc", "2.0");
	return raw;
}

bool
mcp_is_form(const Adapter *self, const Json *envelope, const char *form)
{
	return json_says(adapter_noted(self, envelope, ""), "/form", form);
}

Slice
mcp_server(const Json *context)
{
	Slice		server = json_get_text(context, "/server");
	Slice		agent = json_get_text(context, "/agent_id");
	int			prefix = strlen(AGENT_PREFIX);

	if (slice_present(server) || !slice_present(agent) || agent.len <= prefix || !slice_starts(agent, SLICE_OF(AGENT_PREFIX)))
		return server;
	return slice_after(agent, prefix);
}

void
mcp_note_scope(const Adapter *self, Json *envelope, const Json *context, bool is_servers)
{
	Json	   *session = json_get_kind(context, "/session", JSON_TEXT);
	Slice		name = session != NULL ? session->text : SLICE_OF("");

	adapter_note_native(self, envelope, "scope",
						is_servers ? json_of_cstring(psprintf("server of %.*s", name.len, name.s)) : session);
}

Json *
mcp_envelope_of_server(const Adapter *self, MessageType type, const Json *context)
{
	Json	   *envelope = adapter_envelope(type);
	Slice		server = mcp_server(context);

	if (slice_present(server))
		json_put_cstring(envelope, "/from/agent_id", psprintf(AGENT_PREFIX "%.*s", server.len, server.s));
	mcp_note_scope(self, envelope, context, false);
	return envelope;
}

void
mcp_note_task(const Adapter *self, Json *envelope, const Json *context, Json *task_id)
{
	if (task_id != NULL && adapter_member(context, "/task_id") != NULL)
		adapter_note(self, envelope, "/task", task_id);
	else
		adapter_note_native(self, envelope, "task_id", task_id);
}

Json *
mcp_task_of(const Adapter *self, const Json *envelope)
{
	Json	   *task_id = adapter_noted(self, envelope, "/task");

	return task_id != NULL ? task_id : adapter_native(self, envelope, "task_id");
}

Json *
mcp_without_meta(const Json *object)
{
	Json	   *rest = json_new_object();

	for (int i = 0; json_is(object, JSON_OBJECT) && i < object->n; i++)
		if (!slice_is(object->keys[i], "_meta"))
			json_put_member(rest, object->keys[i], object->items[i]);
	return rest;
}

Json *
mcp_read_other(const Adapter *self, const Json *raw, Slice word, const char *path, const Json *context)
{
	Json	   *envelope = mcp_envelope_of_server(self, MSG_CHAT_SYSTEM, context);
	Json	   *content = adapter_find(self, raw, path, JSON_OBJECT);
	char	   *type = psprintf(MCP_METHOD_TYPE "%.*s", word.len, word.s);

	adapter_check_identifier(self, "/method", ID_WORD, slice_of_cstring(type));
	json_put_cstring(envelope, "/payload_type", type);
	adapter_put_payload(self, envelope, mcp_without_meta(content));
	return envelope;
}

/* ---------------------------------------------------------- tools: inbound */

bool
mcp_is_tool_name(Slice name)
{
	for (int i = 0; i < name.len; i++)
		if (!isalnum((unsigned char) name.s[i]) && strchr("_-.", name.s[i]) == NULL)
			return false;
	return name.len > 0;
}

/*
 * Reads a host's call of a skill.  The ID of the request stands for the task,
 * because a cancellation names that ID.
 */
static Json *
mcp_read_skill(const Adapter *self, const Json *raw, Slice skill)
{
	Json	   *envelope = adapter_envelope(MSG_TASK_REQUEST);
	Json	   *requires = json_new_array();
	char	   *capability = psprintf(MCP_SKILL_PREFIX "%.*s", skill.len, skill.s);

	adapter_check_identifier(self, "/params/name", ID_CAPABILITY, slice_of_cstring(capability));
	json_add(requires, json_of_cstring(capability));
	json_put(envelope, "/requires", requires);
	adapter_put_payload(self, envelope, adapter_find(self, raw, "/params/arguments", JSON_OBJECT));
	return envelope;
}

/* Reads a call of a tool of an MCP server. */
static Json *
mcp_read_tool(const Adapter *self, const Json *raw, const Json *context, Slice name)
{
	Json	   *envelope = adapter_envelope(MSG_TOOL_CALL);
	Json	   *arguments = adapter_find(self, raw, "/params/arguments", JSON_OBJECT);
	Slice		server = mcp_server(context);

	if (!slice_present(server))
		server = SLICE_OF("server");
	json_put_cstring(envelope, "/payload/tool", psprintf(MCP_SERVER_PREFIX "%.*s", server.len, server.s));
	json_put_text(envelope, "/payload/name", name);
	json_put(envelope, "/payload/args", arguments != NULL ? arguments : json_new_object());
	return envelope;
}

static void
mcp_read_recipients(const Adapter *self, const Json *raw, Json *envelope)
{
	Json	   *to = adapter_find(self, raw, "/params/arguments/to", JSON_ARRAY);
	Json	   *recipients = json_new_array();

	for (int i = 0; to != NULL && i < to->n; i++)
	{
		char	   *path = json_path_index("/params/arguments/to", i);
		Slice		agent = adapter_require_word(self, raw, path);

		adapter_check_identifier(self, path, ID_RECIPIENT, agent);
		adapter_add_recipient(recipients, agent);
	}
	if (recipients->n > 0)
		json_put(envelope, "/to", recipients);
}

/*
 * Reads a call of clutch.send, which can send an envelope of any type: {type,
 * payload, task_id, to}.
 */
static Json *
mcp_read_send(const Adapter *self, const Json *raw, const Json *context)
{
	Slice		name = adapter_find_word(self, raw, "/params/arguments/type");
	MessageType type = slice_present(name) ? message_type_parse(name) : MSG_CHAT_MESSAGE;
	Json	   *envelope;

	if (type == MSG_UNKNOWN || message_type_is_internal(type))
		adapter_fault(self, "/params/arguments/type", "WRONG_VALUE", "it must be a message type that others than the database may send");
	if (type == MSG_TOOL_RESULT || type == MSG_TOOL_ERROR)
		adapter_fault(self, "/params/arguments/type", "NOT_ALLOWED", "the answer of a tool is a response");
	envelope = adapter_envelope(type);
	adapter_put_payload(self, envelope, adapter_find(self, raw, "/params/arguments/payload", JSON_OBJECT));
	adapter_note(self, envelope, "/form", json_of_cstring("send"));
	mcp_note_task(self, envelope, context, adapter_find_name(self, raw, "/params/arguments/task_id"));
	mcp_read_recipients(self, raw, envelope);
	return envelope;
}

static Json *
mcp_read_cancel_tool(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = adapter_envelope(MSG_TASK_CANCEL);

	(void) adapter_require_word(self, raw, "/params/arguments/task_id");
	mcp_note_task(self, envelope, context, adapter_find_name(self, raw, "/params/arguments/task_id"));
	json_put(envelope, "/payload/reason", adapter_member(raw, "/params/arguments/reason"));
	adapter_note(self, envelope, "/form", json_of_cstring("tool"));
	return envelope;
}

/*
 * Returns the state of a call that is repeated.  It stands for the task, but
 * may be longer than an ID, because a server may put anything into it.
 */
static Json *
mcp_request_state(const Adapter *self, const Json *raw)
{
	Json	   *state = adapter_member(raw, "/params/requestState");

	if (!json_is(state, JSON_TEXT))
		return adapter_find_name(self, raw, "/params/requestState");
	return state->text.len > 0 ? state : NULL;
}

/*
 * Reads a call that a host repeats with its user's answer to a question of the
 * task.
 */
static Json *
mcp_read_inputs(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = adapter_envelope(MSG_CHAT_MESSAGE);

	json_put(envelope, "/payload/input_responses", adapter_member(raw, "/params/inputResponses"));
	json_put(envelope, "/payload/name", json_get(raw, "/params/name"));
	json_put(envelope, "/payload/args", adapter_find(self, raw, "/params/arguments", JSON_OBJECT));
	adapter_note(self, envelope, "/form", json_of_cstring("inputs"));
	mcp_note_task(self, envelope, context, mcp_request_state(self, raw));
	return envelope;
}

static Json *
mcp_read_call(const Adapter *self, const Json *raw, const Json *context)
{
	Slice		name = adapter_require_word(self, raw, "/params/name");
	Slice		skill = slice_starts(name, SLICE_OF(MCP_SKILL_TOOL)) ? slice_after(name, strlen(MCP_SKILL_TOOL)) :
		SLICE_NONE;
	Json	   *envelope;

	if (adapter_member(raw, "/params/inputResponses") != NULL)
		envelope = mcp_read_inputs(self, raw, context);
	else if (slice_is(name, MCP_SEND_TOOL))
		envelope = mcp_read_send(self, raw, context);
	else if (slice_is(name, MCP_CANCEL_TOOL))
		envelope = mcp_read_cancel_tool(self, raw, context);
	else if (slice_present(skill) && mcp_is_tool_name(skill))
	{
		envelope = mcp_read_skill(self, raw, skill);
		if (adapter_member(context, "/task_id") == NULL)
			adapter_note_native(self, envelope, "task_id", adapter_find_name(self, raw, "/id"));
	}
	else
		envelope = mcp_read_tool(self, raw, context, name);
	/* it is no idempotency_key, because other sessions and later requests may have the same one */
	adapter_note(self, envelope, "/progress_token", adapter_find_name(self, raw, "/params/_meta/progressToken"));
	return envelope;
}

/* --------------------------------------------------- other methods: inbound */

/* Reads a question of the server to the user. */
static Json *
mcp_read_question(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = mcp_envelope_of_server(self, MSG_TASK_PROGRESS, context);

	json_put_cstring(envelope, "/payload/state",
					 json_says(raw, "/params/mode", "url") ? "auth_required" : "input_required");
	adapter_rows_inbound(self, mcp_question_rows, raw, envelope);
	return envelope;
}

static Json *
mcp_read_progress(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = mcp_envelope_of_server(self, MSG_TASK_PROGRESS, context);

	adapter_put_payload(self, envelope, NULL);
	adapter_rows_inbound(self, mcp_progress_rows, raw, envelope);
	return envelope;
}

/*
 * Reads the cancellation of a request of this session, or of a task that a
 * request has started.
 */
static Json *
mcp_read_cancel(const Adapter *self, const Json *raw, const Json *context, const char *id_path, const char *form)
{
	Json	   *envelope = adapter_envelope(MSG_TASK_CANCEL);

	mcp_note_task(self, envelope, context, adapter_find_name(self, raw, id_path));
	json_put(envelope, "/payload/reason", adapter_member(raw, "/params/reason"));
	adapter_note(self, envelope, "/form", json_of_cstring(form));
	return envelope;
}

static Json *
mcp_read_method(const Adapter *self, const Json *raw, const Json *context)
{
	Slice		method = adapter_require_word(self, raw, "/method");

	if (json_is(json_get(raw, "/id"), JSON_NULL))
		adapter_fault(self, "/id", "WRONG_TYPE", "it must be a text or a number");
	(void) adapter_find(self, raw, "/params", JSON_OBJECT);
	if (slice_is(method, "tools/call"))
		return mcp_read_call(self, raw, context);
	if (slice_is(method, "elicitation/create"))
		return mcp_read_question(self, raw, context);
	if (slice_is(method, "notifications/progress"))
		return mcp_read_progress(self, raw, context);
	if (slice_is(method, "notifications/cancelled"))
		return mcp_read_cancel(self, raw, context, "/params/requestId", "cancelled");
	if (slice_is(method, "tasks/cancel"))
		return mcp_read_cancel(self, raw, context, "/params/taskId", "task");
	if (slice_is(method, "tasks/update"))
		return mcp_read_update(self, raw, context);
	if ((slice_is(method, MCP_STATUS_NOTICE) || slice_is(method, MCP_TASKS_NOTICE)) &&
		json_has_text(raw, "/params/status"))
		return mcp_read_status(self, raw, "/params", context);
	return mcp_read_other(self, raw, method, "/params", context);
}

static List *
mcp_inbound(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *session = json_get_kind(context, "/session", JSON_TEXT);
	Json	   *envelope;

	if (json_get(raw, "/method") == NULL)
		return mcp_read_response(self, raw, context);
	envelope = mcp_read_method(self, raw, context);
	adapter_rows_inbound(self, mcp_meta_rows, raw, envelope);
	if (adapter_type(envelope) == MSG_TASK_PROGRESS)
		mcp_note_related_task(self, envelope, raw, "/params", context);
	adapter_note_native(self, envelope, "id", adapter_find_name(self, raw, "/id"));
	mcp_note_scope(self, envelope, context,
				   slice_find(json_get_text(raw, "/method"), mcp_servers_methods, lengthof(mcp_servers_methods)) >= 0);
	/*
	 * at least one note must mark the envelope as foreign, even if "kept" has
	 * been removed
	 */
	if (adapter_noted(self, envelope, "/form") == NULL)
		adapter_note(self, envelope, "/form", json_of_cstring("method"));
	if (adapter_type(envelope) == MSG_TASK_REQUEST && adapter_member(context, "/thread_id") == NULL &&
		adapter_member(context, "/task_id") == NULL && adapter_member(context, "/run_id") == NULL)
		adapter_note_native(self, envelope, "thread_id", session);
	return list_make1(envelope);
}

/* ------------------------------------------------------------------ the test */

static bool
mcp_is_method(Slice method)
{
	if (slice_starts(method, SLICE_OF("notifications/")))
		return true;
	for (const char *const *known = mcp_methods; *known != NULL; known++)
		if (slice_is(method, *known))
			return true;
	return false;
}

static const char *
mcp_declines(const Adapter *self, const Json *raw)
{
	Json	   *method = json_get(raw, "/method");

	if (!json_says(raw, "/jsonrpc", "2.0"))
		return "its member jsonrpc is not \"2.0\"";
	if (method != NULL)
		return method->kind == JSON_TEXT && mcp_is_method(method->text) ? NULL : "its method is not one of the Model Context Protocol";
	if (json_get_kind(raw, "/result", JSON_OBJECT) == NULL && json_get_kind(raw, "/error", JSON_OBJECT) == NULL)
		return "it has neither a method, nor a result or an error that is an object";
	return NULL;
}

/*
 * Returns the path of the carrier.  The protocol allows additional members in
 * various objects, but not at the top level.
 */
static const char *
mcp_carrier(const Adapter *self, const Json *raw, AdapterCarrierForm *form)
{
	const Json *data = json_get(raw, "/error/data");

	if (json_get(raw, "/method") != NULL)
		return "/params/_meta" CARRIER;
	if (json_get_kind(raw, "/result", JSON_OBJECT) != NULL)
		return "/result/_meta" CARRIER;
	return data == NULL || data->kind == JSON_OBJECT ? "/error/data" CARRIER : "/error/_meta" CARRIER;
}

const Adapter mcp_adapter = {
	.name = "mcp",
	.carrier_at = mcp_carrier,
	.declines = mcp_declines,
	.inbound = mcp_inbound,
	.outbound = mcp_outbound,
	.task_form = "status",
	.task_at = "/result",
	.task_has_times = true,
	.has_sessions = true,
};
