/*-------------------------------------------------------------------------
 *
 * mcp_result.c
 *	  The Model Context Protocol: responses.  mcp_status.c has the status of tasks.
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

/* ------------------------------------------------------------ the call */

/* Returns a stub of the call that a result answers. */
static Json *
mcp_stub(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *call = adapter_envelope(MSG_TOOL_CALL);
	Slice		server = mcp_server(context);

	adapter_mark_stub(self, call);
	adapter_note_native(self, call, "id", json_get(raw, "/id"));
	mcp_note_scope(self, call, context, false);
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

Json *
mcp_response(const Adapter *self, const Json *envelope)
{
	Json	   *raw = mcp_document();

	json_put(raw, "/id", mcp_request_of(self, envelope));
	return raw;
}

/* --------------------------------------------------------- results of tools */

bool
mcp_has_content(const Json *result)
{
	return adapter_member(result, "/content") != NULL || adapter_member(result, "/structuredContent") != NULL;
}

bool
mcp_read_content(const Adapter *self, const Json *raw, const char *at, Json *envelope)
{
	Json	   *content = adapter_find(self, raw, psprintf("%s/content", at), JSON_ARRAY);
	Json	   *structured = adapter_member(raw, psprintf("%s/structuredContent", at));
	Slice		text = mcp_only_text(content);
	Json	   *parsed = slice_present(text) && json_is(structured, JSON_OBJECT) ? json_parse(text) : NULL;

	if (parsed != NULL && json_equal(parsed, structured))
	{
		json_put(envelope, "/payload", structured);
		return true;
	}
	adapter_put_payload(self, envelope, NULL);
	if (slice_present(text))
		json_put_text(envelope, "/payload/text", text);
	else
		json_put(envelope, "/payload/content", content);
	json_put(envelope, "/payload/structured", structured);
	return false;
}

static Json *
mcp_read_tool_result(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = mcp_envelope_of_server(self, mcp_related_task(raw, "/result") != NULL ? MSG_TASK_RESULT : MSG_TOOL_RESULT, context);

	if (mcp_read_content(self, raw, "/result", envelope))
		adapter_note(self, envelope, "/form", json_of_cstring("structured"));
	return envelope;
}

/* Does the payload consist only of members that are parts of a result? */
static bool
mcp_is_plain(const Adapter *self, const Json *envelope)
{
	const Json *payload = json_get(envelope, "/payload");
	Json	   *text = json_get_kind(payload, "/text", JSON_TEXT);
	Json	   *content = json_get_kind(payload, "/content", JSON_ARRAY);
	Json	   *structured = json_get(payload, "/structured");
	int			n = (text != NULL) + (content != NULL) + (structured != NULL);

	return payload->n == n && (text == NULL || content == NULL) && mcp_may_be_written(self, envelope, content, structured);
}

void
mcp_write_content(const Adapter *self, const Json *envelope, Json *raw, const char *at, bool is_structured)
{
	Json	   *payload = json_get(envelope, "/payload");
	Json	   *structured = json_get(payload, "/structured");
	Json	   *content = json_new_array();

	if (is_structured || !mcp_is_plain(self, envelope))
	{
		json_add(content, mcp_text_block(json_print(payload)));
		structured = payload;
	}
	else if (json_get(payload, "/text") != NULL)
		json_add(content, mcp_text_block(json_get_text(payload, "/text")));
	else if (json_get(payload, "/content") != NULL)
		content = json_get(payload, "/content");
	if (structured == NULL && json_is_true(adapter_noted(self, envelope, ""), ADAPTER_STRUCTURED))
		structured = payload;
	json_put(raw, psprintf("%s/content", at), mcp_content_with_links(content, envelope));
	json_put(raw, psprintf("%s/structuredContent", at), structured);
}

Json *
mcp_write_result(const Adapter *self, const Json *envelope)
{
	Json	   *raw = mcp_response(self, envelope);

	if (mcp_is_form(self, envelope, "status"))
		return mcp_write_status(self, envelope);
	mcp_write_content(self, envelope, raw, "/result", mcp_is_form(self, envelope, "structured"));
	mcp_write_related_task(self, envelope, raw, "/result");
	return raw;
}

/* ------------------------------------------------------- failures of tools */

void
mcp_read_failure(const Adapter *self, const Json *raw, const char *at, Json *envelope)
{
	Json	   *content = adapter_find(self, raw, psprintf("%s/content", at), JSON_ARRAY);
	Json	   *others = json_new_array();
	int			text_at = -1;

	for (int i = 0; content != NULL && i < content->n; i++)
		if (text_at < 0 && mcp_is_text_block(content->items[i]))
			text_at = i;
		else
			json_add(others, content->items[i]);
	json_put_cstring(envelope, "/payload/code", FAILED_CODE);
	json_put_cstring(envelope, "/payload/message", TOOL_FAILED);
	if (text_at >= 0)
		json_put_text(envelope, "/payload/message", json_get_text(content->items[text_at], "/text"));
	json_put(envelope, "/payload/retryable", json_of_bool(false));
	if (others->n > 0)
		json_put(envelope, "/payload/details/content", others);
	json_put(envelope, "/payload/details/structured", adapter_member(raw, psprintf("%s/structuredContent", at)));
	if (text_at != 0)
		adapter_note(self, envelope, "/text_at", json_of_int(text_at));
}

static Json *
mcp_read_tool_failure(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = mcp_envelope_of_server(self, mcp_related_task(raw, "/result") != NULL ? MSG_TASK_ERROR : MSG_TOOL_ERROR, context);

	mcp_read_failure(self, raw, "/result", envelope);
	return envelope;
}

void
mcp_write_failure(const Adapter *self, const Json *envelope, Json *raw, const char *at)
{
	Json	   *details = json_get_kind(envelope, "/payload/details", JSON_OBJECT);
	Json	   *others = json_get_kind(details, "/content", JSON_ARRAY);
	Json	   *structured = adapter_member(details, "/structured");
	Slice		message = json_get_text(envelope, "/payload/message");
	Json	   *content = json_new_array();
	int64		text_at = 0;

	if (!mcp_may_be_written(self, envelope, others, structured))
	{
		others = NULL;
		structured = details;
	}
	(void) json_get_int(adapter_noted(self, envelope, ""), "/text_at", &text_at);
	if (text_at < 0 && !slice_is(message, TOOL_FAILED))
		text_at = 0;
	for (int i = 0; others != NULL && i < others->n; i++)
	{
		if (content->n == text_at)
			json_add(content, mcp_text_block(message));
		json_add(content, others->items[i]);
	}
	if (content->n <= text_at)
		json_add(content, mcp_text_block(message));
	json_put(raw, psprintf("%s/content", at), content);
	json_put(raw, psprintf("%s/structuredContent", at), structured);
	json_put(raw, psprintf("%s/isError", at), json_of_bool(true));
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

void
mcp_read_error_at(const Adapter *self, const Json *raw, const char *at, Json *envelope)
{
	char	   *code = psprintf("%s/code", at);
	char	   *said = psprintf("%s/message", at);
	Slice		message = adapter_find(self, raw, said, JSON_TEXT) != NULL ? json_get_text(raw, said) : SLICE_NONE;
	int64		number;

	if (!json_get_int(raw, code, &number) || number < -PG_INT32_MAX || number > PG_INT32_MAX)
		adapter_fault(self, code, "WRONG_TYPE", "it must be a whole number");
	json_put_text(envelope, "/payload/code", mcp_code_of(number));
	json_put_text(envelope, "/payload/message", message.len > 0 ? message : SLICE_OF(TOOL_FAILED));
	json_put(envelope, "/payload/retryable", json_of_bool(false));
	json_put(envelope, "/payload/details/data", adapter_member(raw, psprintf("%s/data", at)));
}

static Json *
mcp_read_error(const Adapter *self, const Json *raw, const Json *context, MessageType type)
{
	Json	   *envelope = mcp_envelope_of_server(self, type, context);

	mcp_read_error_at(self, raw, "/error", envelope);
	return envelope;
}

/* Writes an error.  Its data can hold members of our own only if it is an object. */
bool
mcp_write_error_at(const Adapter *self, const Json *envelope, Json *raw, const char *at)
{
	Json	   *data = adapter_member(envelope, "/payload/details/data");
	int64		number;

	if (!mcp_number_of(json_get_text(envelope, "/payload/code"), &number))
		return false;
	json_put(raw, psprintf("%s/code", at), json_of_int(number));
	json_put(raw, psprintf("%s/message", at), json_get(envelope, "/payload/message"));
	if (json_is(data, JSON_OBJECT) || adapter_was_foreign(self, envelope))
		json_put(raw, psprintf("%s/data", at), data);
	return true;
}

Json *
mcp_write_error(const Adapter *self, const Json *envelope)
{
	Json	   *raw;

	if (mcp_is_form(self, envelope, "status"))
		return mcp_write_status(self, envelope);
	raw = mcp_is_form(self, envelope, "unread") ? mcp_document() : mcp_response(self, envelope);
	if (!mcp_write_error_at(self, envelope, raw, "/error"))
	{
		mcp_write_failure(self, envelope, raw, "/result");
		mcp_write_related_task(self, envelope, raw, "/result");
	}
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
	json_put(raw, "/result/inputRequests", json_get_kind(envelope, "/payload/input_requests", JSON_OBJECT));
	json_put(raw, "/result/requestState", state);
	return raw;
}

/* Reads the answer of a user to elicitation/create, or of a model to sampling/createMessage. */
static Json *
mcp_read_answer(const Adapter *self, const Json *raw, const Json *context)
{
	Json	   *envelope = adapter_envelope(MSG_CHAT_MESSAGE);

	mcp_note_scope(self, envelope, context, true);
	adapter_put_payload(self, envelope, mcp_without_meta(json_get(raw, "/result")));
	adapter_note(self, envelope, "/form", json_of_cstring("answer"));
	return envelope;
}

Json *
mcp_write_elicited(const Adapter *self, const Json *envelope)
{
	Json	   *raw = mcp_response(self, envelope);
	Json	   *payload = json_get(envelope, "/payload");

	if (json_has_text(payload, "/action"))
		json_put(raw, "/result", mcp_without_meta(payload));
	else
	{
		json_put_cstring(raw, "/result/action", "accept");
		json_put(raw, "/result/content", payload);
	}
	return raw;
}

/* Writes a response whose result, or error, is the payload. */
Json *
mcp_write_answer(const Adapter *self, const Json *envelope)
{
	Json	   *raw = mcp_response(self, envelope);

	json_put(raw, mcp_is_form(self, envelope, "error") ? "/error" : "/result", mcp_without_meta(json_get(envelope, "/payload")));
	return raw;
}

/* ---------------------------------------------------------------- responses */

static Json *
mcp_read_result(const Adapter *self, const Json *raw, const Json *context)
{
	if (json_says(raw, "/result/resultType", "input_required"))
		return mcp_read_inputs_required(self, raw, context);
	if (json_has_text(raw, "/result/action") || (json_has_text(raw, "/result/role") && json_has_text(raw, "/result/model")))
		return mcp_read_answer(self, raw, context);
	if (json_has_text(raw, "/result/task/status"))
		return mcp_read_status(self, raw, "/result/task", context);
	if (json_has_text(raw, "/result/status") && json_has_text(raw, "/result/taskId"))
		return mcp_read_status(self, raw, "/result", context);
	if (json_is_true(raw, "/result/isError"))
		return mcp_read_tool_failure(self, raw, context);
	if (mcp_has_content(json_get(raw, "/result")))
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
		envelope = mcp_read_error(self, raw, context, MSG_TOOL_ERROR);
	/* a server that cannot read a request does not know its ID */
	else if (adapter_member(context, "/task_id") != NULL)
	{
		envelope = mcp_read_error(self, raw, context, MSG_TASK_ERROR);
		adapter_note(self, envelope, "/form", json_of_cstring("unread"));
	}
	if (envelope == NULL)
	{
		envelope = mcp_read_other(self, raw, is_result ? SLICE_OF("result") : SLICE_OF("error"), is_result ? "/result" : "/error",
								  context);
		adapter_note(self, envelope, "/form", json_of_cstring(is_result ? "answer" : "error"));
	}
	mcp_note_request(self, raw, envelope);
	if (adapter_type(envelope) == MSG_TASK_RESULT || adapter_type(envelope) == MSG_TASK_ERROR)
		mcp_note_related_task(self, envelope, raw, "/result", context);
	if (adapter_type(envelope) != MSG_TOOL_RESULT && adapter_type(envelope) != MSG_TOOL_ERROR)
		return list_make1(envelope);
	if (id == NULL)
		adapter_fault(self, "/id", "REQUIRED", "the result of a tool must name the request that it is for");
	return list_make2(mcp_stub(self, raw, context), envelope);
}
