/*-------------------------------------------------------------------------
 *
 * mcp_result.c
 *	  The Model Context Protocol: responses, and the status of tasks.
 *
 * The result of a tool has "content" for models and may have "structuredContent" for programs.
 * If the content is merely the structured content as a text, the structured content becomes the
 * payload.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/mcp_part.h"


#define TOOL_FAILED		"The tool failed."
#define TASK_FAILED		"The task failed."
#define FAILED_CODE		"TOOL_EXECUTION_ERROR"
#define NUMBER_CODE		"MCP_"	/* followed by the number of an error that has no name */
#define STUB_SERVER		"server"

/* If several codes share a number, reading the number gives the first of them. */
static const struct
{
	int			number;
	const char *code;
}			mcp_codes[] = {
	{-32700, "PARSE_ERROR"}, {-32600, "INVALID_REQUEST"}, {-32601, "METHOD_NOT_FOUND"}, {-32602, "INVALID_PARAMS"},
	{-32603, "INTERNAL"}, {-32601, "UNSUPPORTED"}, {-32602, "SCHEMA_VIOLATION"}, {-32602, "TASK_NOT_FOUND"},
	{-32602, "TASK_NOT_CANCELABLE"}, {-32602, "TASK_TERMINAL"}, {-32602, "AGENT_NOT_FOUND"},
	{-32602, "DUPLICATE_CONFLICT"}, {-32602, "CONTENT_TYPE"}, {-32603, "TOOL_UNAVAILABLE"}, {-32022, "VERSION"}
};

/* the states of tasks, and the types of envelopes that report them */
static const struct
{
	const char *status;
	MessageType type;
}			mcp_statuses[] = {
	{"working", MSG_TASK_PROGRESS}, {"input_required", MSG_TASK_PROGRESS}, {"completed", MSG_TASK_RESULT},
	{"failed", MSG_TASK_ERROR}, {"cancelled", MSG_TASK_CANCEL}
};

/* ------------------------------------------------------------ the call */

/* Returns a stub of the call that a result answers. */
static Json *
mcp_stub(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *call = adapter_envelope(MSG_TOOL_CALL);
	Slice		server = mcp_server(context);

	adapter_mark_stub(self, call);
	adapter_note_native(self, call, "id", json_get(raw, "/id"));
	adapter_note_native(self, call, "scope", json_get_kind(context, "/session", JSON_TEXT));
	if (slice_present(server))
		adapter_put_recipient(call, slice_of_cstring(psprintf("agent:mcp.%.*s", server.len, server.s)));
	else
		server = SLICE_OF(STUB_SERVER);
	json_put_cstring(call, "/payload/tool", psprintf("mcp:%.*s", server.len, server.s));
	json_put(call, "/payload/args", json_new_object());
	return call;
}

static void
mcp_note_request(const Adapter *self, const Json *raw, Json *envelope)
{
	adapter_note_native(self, envelope, "reply_to", adapter_find_name(self, raw, "/id"));
}

/*
 * Returns the ID of the request that the response answers.  An envelope that was made from a
 * request and changed into a report answers that request.
 */
static Json *
mcp_request_of(const Adapter *self, const Json *envelope)
{
	Json	   *request = adapter_native(self, envelope, "reply_to");

	if (request == NULL && adapter_was_foreign(self, envelope))
		request = adapter_native(self, envelope, "id");
	return request != NULL || adapter_was_foreign(self, envelope) ? request : json_get(envelope, "/task_id");
}

static Json *
mcp_response(const Adapter *self, const Json *envelope)
{
	Json	   *raw = mcp_document();

	json_put(raw, "/id", mcp_request_of(self, envelope));
	return raw;
}

/* ------------------------------------------------------------- text blocks */

static bool
mcp_is_text_block(const Json *block)
{
	return json_says(block, "/type", "text") && json_get_text(block, "/text").len > 0;
}

static Json *
mcp_text_block(Slice text)
{
	Json	   *block = json_new_object();

	json_put_cstring(block, "/type", "text");
	json_put_text(block, "/text", text);
	return block;
}

/* Returns the text of a content that is a single block of text, or an absent slice if it is something else. */
static Slice
mcp_only_text(const Json *content)
{
	if (!json_is(content, JSON_ARRAY) || content->n != 1 || !mcp_is_text_block(content->items[0]))
		return SLICE_NONE;
	return json_get_text(content->items[0], "/text");
}

/* --------------------------------------------------------- results of tools */

static Json *
mcp_read_tool_result(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = mcp_envelope_of_server(self, MSG_TOOL_RESULT, context);
	Json	   *content = adapter_find(self, raw, "/result/content", JSON_ARRAY);
	Json	   *structured = adapter_member(raw, "/result/structuredContent");
	Slice		text = mcp_only_text(content);
	Json	   *parsed = slice_present(text) && json_is(structured, JSON_OBJECT) ? json_parse(text) : NULL;

	if (parsed != NULL && json_equal(parsed, structured))
	{
		json_put(envelope, "/payload", structured);
		adapter_note(self, envelope, "/form", json_of_cstring("structured"));
		return envelope;
	}
	adapter_put_payload(self, envelope, NULL);
	if (slice_present(text))
		json_put_text(envelope, "/payload/text", text);
	else
		json_put(envelope, "/payload/content", content);
	json_put(envelope, "/payload/structured", structured);
	return envelope;
}

/* Does the payload consist only of members that are parts of a result? */
static bool
mcp_is_plain(const Json *payload)
{
	Json	   *text = json_get_kind(payload, "/text", JSON_TEXT);
	Json	   *content = json_get_kind(payload, "/content", JSON_ARRAY);
	int			n = (text != NULL) + (content != NULL) + (json_get(payload, "/structured") != NULL);

	return payload->n == n && (text == NULL || content == NULL);
}

Json *
mcp_write_result(const Adapter *self, const Json *envelope)
{
	Json	   *raw = mcp_response(self, envelope);
	Json	   *payload = json_get(envelope, "/payload");
	Json	   *content = json_new_array();

	if (mcp_is_form(self, envelope, "status"))
		return mcp_write_status(self, envelope);
	if (mcp_is_form(self, envelope, "structured") || !mcp_is_plain(payload))
	{
		json_add(content, mcp_text_block(json_print(payload)));
		json_put(raw, "/result/content", mcp_content_with_links(content, envelope));
		json_put(raw, "/result/structuredContent", payload);
		return raw;
	}
	if (json_get(payload, "/text") != NULL)
		json_add(content, mcp_text_block(json_get_text(payload, "/text")));
	else if (json_get(payload, "/content") != NULL)
		content = json_get(payload, "/content");
	json_put(raw, "/result/content", mcp_content_with_links(content, envelope));
	json_put(raw, "/result/structuredContent", json_get(payload, "/structured"));
	return raw;
}

/* ------------------------------------------------------- failures of tools */

/* Reads a failure of a tool.  Its first text becomes the message of the error, all other blocks its details. */
static Json *
mcp_read_tool_failure(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = mcp_envelope_of_server(self, MSG_TOOL_ERROR, context);
	Json	   *content = adapter_find(self, raw, "/result/content", JSON_ARRAY);
	Json	   *others = json_new_array();
	int			at = -1;

	for (int i = 0; content != NULL && i < content->n; i++)
		if (at < 0 && mcp_is_text_block(content->items[i]))
			at = i;
		else
			json_add(others, content->items[i]);
	json_put_cstring(envelope, "/payload/code", FAILED_CODE);
	json_put_cstring(envelope, "/payload/message", TOOL_FAILED);
	if (at >= 0)
		json_put_text(envelope, "/payload/message", json_get_text(content->items[at], "/text"));
	json_put(envelope, "/payload/retryable", json_of_bool(false));
	if (others->n > 0)
		json_put(envelope, "/payload/details/content", others);
	json_put(envelope, "/payload/details/structured", adapter_member(raw, "/result/structuredContent"));
	if (at != 0)
		adapter_note(self, envelope, "/text_at", json_of_int(at));
	return envelope;
}

static Json *
mcp_write_tool_failure(const Adapter *self, const Json *envelope)
{
	Json	   *raw = mcp_response(self, envelope);
	Json	   *others = json_get_kind(envelope, "/payload/details/content", JSON_ARRAY);
	Slice		message = json_get_text(envelope, "/payload/message");
	Json	   *content = json_new_array();
	int64		at = 0;

	(void) json_get_int(adapter_noted(self, envelope, ""), "/text_at", &at);
	if (at < 0 && !slice_is(message, TOOL_FAILED))
		at = 0;
	for (int i = 0; others != NULL && i < others->n; i++)
	{
		if (content->n == at)
			json_add(content, mcp_text_block(message));
		json_add(content, others->items[i]);
	}
	if (content->n <= at)
		json_add(content, mcp_text_block(message));
	json_put(raw, "/result/content", content);
	json_put(raw, "/result/structuredContent", adapter_member(envelope, "/payload/details/structured"));
	json_put(raw, "/result/isError", json_of_bool(true));
	return raw;
}

/* ------------------------------------------------------------------- errors */

static Slice
mcp_code_of(int64 number)
{
	for (int i = 0; i < lengthof(mcp_codes); i++)
		if (mcp_codes[i].number == number)
			return slice_of_cstring(mcp_codes[i].code);
	return slice_of_cstring(psprintf(NUMBER_CODE INT64_FORMAT, number));
}

/* Finds the number that stands for the code in JSON-RPC.  Returns false if there is none. */
static bool
mcp_number_of(Slice code, int64 *number)
{
	int			prefix = strlen(NUMBER_CODE);
	char	   *end;

	for (int i = 0; i < lengthof(mcp_codes); i++)
		if (slice_is(code, mcp_codes[i].code))
		{
			*number = mcp_codes[i].number;
			return true;
		}
	if (!slice_starts(code, SLICE_OF(NUMBER_CODE)) || code.len - prefix > 18)
		return false;
	*number = strtoll(slice_cstring(code) + prefix, &end, 10);
	return slice_equal(mcp_code_of(*number), code);
}

static Json *
mcp_read_error(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = mcp_envelope_of_server(self, MSG_TOOL_ERROR, context);
	Slice		message = adapter_find(self, raw, "/error/message", JSON_TEXT) != NULL ? json_get_text(raw, "/error/message") : SLICE_NONE;
	int64		number;

	if (!json_get_int(raw, "/error/code", &number) || number < -PG_INT32_MAX || number > PG_INT32_MAX)
		adapter_fault(self, "/error/code", "WRONG_TYPE", "it must be a whole number");
	json_put_text(envelope, "/payload/code", mcp_code_of(number));
	json_put_text(envelope, "/payload/message", message.len > 0 ? message : SLICE_OF(TOOL_FAILED));
	json_put(envelope, "/payload/retryable", json_of_bool(false));
	json_put(envelope, "/payload/details/data", adapter_member(raw, "/error/data"));
	return envelope;
}

/* Writes an error.  Its data can hold members of our own only if it is an object. */
Json *
mcp_write_error(const Adapter *self, const Json *envelope)
{
	Json	   *data = adapter_member(envelope, "/payload/details/data");
	Json	   *raw;
	int64		number;

	if (mcp_is_form(self, envelope, "status"))
		return mcp_write_status(self, envelope);
	if (!mcp_number_of(json_get_text(envelope, "/payload/code"), &number))
		return mcp_write_tool_failure(self, envelope);
	raw = mcp_response(self, envelope);
	json_put(raw, "/error/code", json_of_int(number));
	json_put(raw, "/error/message", json_get(envelope, "/payload/message"));
	if (json_is(data, JSON_OBJECT) || adapter_was_foreign(self, envelope))
		json_put(raw, "/error/data", data);
	return raw;
}

/* -------------------------------------------------------- questions, answers */

/* Reads a result in which the server asks for input; the call is to be repeated with it. */
static Json *
mcp_read_inputs_required(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = mcp_envelope_of_server(self, MSG_TASK_PROGRESS, context);

	json_put_cstring(envelope, "/payload/state", "input_required");
	json_put(envelope, "/payload/input_requests", adapter_find(self, raw, "/result/inputRequests", JSON_OBJECT));
	adapter_note(self, envelope, "/form", json_of_cstring("inputs"));
	adapter_note(self, envelope, "/request_state", adapter_member(raw, "/result/requestState"));
	return envelope;
}

Json *
mcp_write_inputs(const Adapter *self, const Json *envelope)
{
	Json	   *raw = mcp_response(self, envelope);
	Json	   *state = adapter_was_foreign(self, envelope) ? adapter_noted(self, envelope, "/request_state") :
		json_get(envelope, "/task_id");

	json_put_cstring(raw, "/result/resultType", "input_required");
	json_put(raw, "/result/inputRequests", json_get(envelope, "/payload/input_requests"));
	json_put(raw, "/result/requestState", state);
	return raw;
}

/* Reads the answer of a user to elicitation/create, or of a model to sampling/createMessage. */
static Json *
mcp_read_answer(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = adapter_envelope(MSG_CHAT_MESSAGE);

	adapter_note_native(self, envelope, "scope", json_get_kind(context, "/session", JSON_TEXT));
	adapter_put_payload(self, envelope, mcp_without_meta(json_get(raw, "/result")));
	adapter_note(self, envelope, "/form", json_of_cstring("answer"));
	return envelope;
}

/* Writes a response whose result, or error, is the payload. */
Json *
mcp_write_answer(const Adapter *self, const Json *envelope)
{
	Json	   *raw = mcp_response(self, envelope);

	json_put(raw, mcp_is_form(self, envelope, "error") ? "/error" : "/result", mcp_without_meta(json_get(envelope, "/payload")));
	return raw;
}

/* -------------------------------------------------------------------- tasks */

static int
mcp_status_named(Slice status)
{
	for (int i = 0; i < lengthof(mcp_statuses); i++)
		if (slice_is(status, mcp_statuses[i].status))
			return i;
	return -1;
}

Json *
mcp_read_status(const Adapter *self, const Json *raw, const char *path, const Json *context)
{
	int			i = mcp_status_named(json_get_text(raw, psprintf("%s/status", path)));
	Json	   *said = adapter_find(self, raw, psprintf("%s/statusMessage", path), JSON_TEXT);
	Json	   *envelope;

	if (i < 0)
		adapter_fault(self, psprintf("%s/status", path), "WRONG_VALUE", "it must be working, input_required, completed, failed or cancelled");
	envelope = mcp_envelope_of_server(self, mcp_statuses[i].type, context);
	adapter_put_payload(self, envelope, NULL);
	if (mcp_statuses[i].type == MSG_TASK_PROGRESS)
		json_put_cstring(envelope, "/payload/state", mcp_statuses[i].status);
	if (mcp_statuses[i].type == MSG_TASK_ERROR)
	{
		json_put_cstring(envelope, "/payload/code", "TASK_FAILED");
		json_put_cstring(envelope, "/payload/message", TASK_FAILED);
	}
	if (said != NULL && said->text.len > 0)
		json_put(envelope, mcp_statuses[i].type == MSG_TASK_CANCEL ? "/payload/reason" : "/payload/message", said);
	mcp_note_task(self, envelope, context, adapter_find_name(self, raw, psprintf("%s/taskId", path)));
	adapter_note(self, envelope, "/form", json_of_cstring("status"));
	adapter_note(self, envelope, "/at", json_of_cstring(path));
	return envelope;
}

static const char *
mcp_status_of(const Json *envelope)
{
	MessageType type = adapter_type(envelope);
	int			named = mcp_status_named(json_get_text(envelope, "/payload/state"));

	if (type == MSG_TASK_PROGRESS)
		return named >= 0 && mcp_statuses[named].type == type ? mcp_statuses[named].status : "working";
	return type == MSG_TASK_RESULT ? "completed" : type == MSG_TASK_CANCEL ? "cancelled" : "failed";
}

/* Returns the path of the task in the original document, ignoring a note that is not a possible path. */
static const char *
mcp_status_place(const Adapter *self, const Json *envelope)
{
	static const char *const places[] = {"/result/task", "/result"};
	Slice		at = json_get_text(adapter_noted(self, envelope, ""), "/at");

	for (int i = 0; i < lengthof(places); i++)
		if (slice_is(at, places[i]))
			return places[i];
	return "/params";
}

/* Writes the document for an envelope that mcp_read_status made. */
Json *
mcp_write_status(const Adapter *self, const Json *envelope)
{
	const char *at = mcp_status_place(self, envelope);
	bool		is_notice = strcmp(at, "/params") == 0;
	Json	   *raw = is_notice ? mcp_document() : mcp_response(self, envelope);
	Json	   *said = json_get(envelope, adapter_type(envelope) == MSG_TASK_CANCEL ? "/payload/reason" : "/payload/message");

	if (is_notice)
		json_put_cstring(raw, "/method", "notifications/tasks/status");
	json_put(raw, psprintf("%s/taskId", at), mcp_task_of(self, envelope));
	json_put_cstring(raw, psprintf("%s/status", at), mcp_status_of(envelope));
	json_put(raw, psprintf("%s/statusMessage", at), said);
	return raw;
}

/* ---------------------------------------------------------------- responses */

static bool
mcp_has_text(const Json *raw, const char *path)
{
	return json_get_kind(raw, path, JSON_TEXT) != NULL;
}

static Json *
mcp_read_result(const Adapter *self, const Json *raw, const Json *context)
{
	if (json_says(raw, "/result/resultType", "input_required"))
		return mcp_read_inputs_required(self, raw, context);
	if (mcp_has_text(raw, "/result/action") || (mcp_has_text(raw, "/result/role") && mcp_has_text(raw, "/result/model")))
		return mcp_read_answer(self, raw, context);
	if (mcp_has_text(raw, "/result/task/status"))
		return mcp_read_status(self, raw, "/result/task", context);
	if (mcp_has_text(raw, "/result/status") && mcp_has_text(raw, "/result/taskId"))
		return mcp_read_status(self, raw, "/result", context);
	if (json_is_true(raw, "/result/isError"))
		return mcp_read_tool_failure(self, raw, context);
	if (adapter_member(raw, "/result/content") != NULL || adapter_member(raw, "/result/structuredContent") != NULL)
		return mcp_read_tool_result(self, raw, context);
	return NULL;
}

List *
mcp_read_response(const Adapter *self, const Json *raw, const Json *context)
{
	bool		is_result = json_get_kind(raw, "/result", JSON_OBJECT) != NULL;
	Json	   *id = adapter_find_name(self, raw, "/id");
	Json	   *envelope = NULL;

	if (is_result)
		envelope = mcp_read_result(self, raw, context);
	else if (id != NULL)
		envelope = mcp_read_error(self, raw, context);
	if (envelope == NULL)
	{
		envelope = mcp_read_other(self, raw, is_result ? SLICE_OF("result") : SLICE_OF("error"), is_result ? "/result" : "/error",
								  context);
		adapter_note(self, envelope, "/form", json_of_cstring(is_result ? "answer" : "error"));
	}
	mcp_note_request(self, raw, envelope);
	if (adapter_type(envelope) != MSG_TOOL_RESULT && adapter_type(envelope) != MSG_TOOL_ERROR)
		return list_make1(envelope);
	if (id == NULL)
		adapter_fault(self, "/id", "REQUIRED", "the result of a tool must name the request that it is for");
	return list_make2(mcp_stub(self, raw, context), envelope);
}
