/*-------------------------------------------------------------------------
 *
 * collab.c
 *	  Messages of the Multi-Agent Collaboration Protocol (spec 003).
 *
 * The members of the header are either in "header" or at the top of the
 * document.  Notes:
 *
 *	flat		true if they are at the top of the document
 *	type, status, required, correlation_id, context
 *				members of the document
 *	outer		the paths of members of the header that are outside it
 *	spread		true if the payload consists of the members of the body that
 *				have no row
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/collab.h"

/* members of the body and of the trace that are always translated */
static const AdapterRow collab_rows[] = {
	{ROW_VALUE, "/body/context", "/meta/collab/context"},
	{ROW_TEXT, "/trace/traceId", "/trace/trace_id"},
	{ROW_TEXT, "/trace/spanId", "/trace/span_id"},
	{ROW_TEXT, "/trace/parentSpan", "/trace/parent_span_id"},
	{ROW_VALUE, NULL, NULL}
};

/* members of the header */
static const AdapterRow collab_header_rows[] = {
	{ROW_NATIVE, "/messageId", "id"},
	{ROW_AGENT, "/source", "/from/agent_id"},
	{ROW_WORD, "/correlationId", "/meta/collab/correlation_id"},
	{ROW_VALUE, NULL, NULL}
};

static const char *
collab_header(const Json *raw)
{
	return json_get_kind(raw, "/header", JSON_OBJECT) != NULL ? "/header" : "";
}

/*
 * members of the header that may be outside it, as in the examples of the
 * protocol
 */
static const char *const collab_outer[] = {"/type", "/correlationId", "/destination"};

/* Returns the header, including its members that are outside it. */
static const Json *
collab_whole_header(const Json *raw)
{
	const Json *header = json_get(raw, collab_header(raw));
	Json	   *whole = NULL;

	for (int i = 0; header != raw && i < lengthof(collab_outer); i++)
	{
		Json	   *outer = json_get(raw, collab_outer[i]);

		if (outer == NULL || json_get(header, collab_outer[i]) != NULL)
			continue;
		if (whole == NULL)
			whole = json_copy_top(header);
		json_put(whole, collab_outer[i], outer);
	}
	return whole != NULL ? whole : header;
}

/* ---------------------------------------------------------------- recipients */

/* Reads the destination, which is "*", a topic, a group or an agent. */
static void
collab_read_destination(const Adapter *self, const Json *header, Json *envelope)
{
	Slice		destination = adapter_find_word(self, header, "/destination");
	const char *rule;

	if (!slice_present(destination) && json_says(header, "/type", "BROADCAST"))
		destination = SLICE_OF("*");
	if (!slice_present(destination))
		return;
	if (slice_is(destination, "*"))
		destination = SLICE_OF("group:*");
	else if (slice_starts(destination, SLICE_OF("agent:")) ||
			 identifier_fault(ID_RECIPIENT, destination, &rule) != NULL)
		destination = adapter_agent_id(destination);
	adapter_check_identifier(self, "/destination", ID_RECIPIENT, destination);
	adapter_put_recipient(envelope, destination);
}

static Slice
collab_destination_of(const Json *envelope)
{
	Slice		agent_id = json_get_text(envelope, "/to/0/agent_id");

	return slice_is(agent_id, "group:*") ? SLICE_OF("*") : adapter_agent_name(agent_id);
}

/* ----------------------------------------------------------------------- type */

/*
 * Can the recipient work on a request?  What is sent to everybody or to a
 * topic is only a message.
 */
static bool
collab_can_work(const Json *header)
{
	Slice		destination = json_get_text(header, "/destination");

	return !slice_present(destination) || !(slice_is(destination, "*") ||
											slice_is(destination, "group:*") ||
											slice_starts(destination, SLICE_OF("topic:")));
}

/*
 * Returns MSG_UNKNOWN if the document has no type that the protocol defines.
 */
static MessageType
collab_read_type(const Json *header, const Json *body)
{
	const Json *response = json_get_kind(body, "/responseRequired", JSON_BOOL);

	if (json_says(header, "/type", "REQUEST"))
		return collab_can_work(header) && (response == NULL || response->boolean) ? MSG_TASK_REQUEST : MSG_CHAT_MESSAGE;
	if (json_says(header, "/type", "RESPONSE"))
		return json_says(body, "/status", "SUCCESS") ? MSG_TASK_RESULT :
			json_says(body, "/status", "ERROR") || json_says(body, "/status", "TIMEOUT") ? MSG_TASK_ERROR : MSG_UNKNOWN;
	return json_says(header, "/type", "PUBLISH") ? MSG_CHAT_MESSAGE :
		json_says(header, "/type", "BROADCAST") ? MSG_CHAT_SYSTEM : MSG_UNKNOWN;
}

/*
 * Writes the type, status and responseRequired of the original document,
 * unless they would make the document be read as another type.
 */
static void
collab_write_type(const Adapter *self, const Json *envelope, Json *header, Json *body)
{
	MessageType type = adapter_type(envelope);
	bool		ends = type == MSG_TASK_RESULT || type == MSG_TASK_ERROR || type == MSG_TASK_TIMEOUT;
	Json	   *noted = adapter_noted(self, envelope, "/type");
	Json	   *required = adapter_noted(self, envelope, "/required");
	bool		timed_out = type == MSG_TASK_TIMEOUT || (json_says(envelope, "/payload/code", "TIMEOUT") &&
		(!adapter_was_foreign(self, envelope) || json_says(adapter_noted(self, envelope, ""), "/status", "TIMEOUT")));

	if (ends)
		json_put_cstring(body, "/status", type == MSG_TASK_RESULT ? "SUCCESS" : timed_out ? "TIMEOUT" : "ERROR");
	json_put(header, "/type", noted);
	json_put(body, "/responseRequired", required);
	if (collab_read_type(header, body) == type)
		return;
	json_take(body, "/responseRequired");
	if (ends)
		json_put_cstring(header, "/type", "RESPONSE");
	else if (type == MSG_CHAT_SYSTEM)
		json_put_cstring(header, "/type", "BROADCAST");
	else if (type == MSG_CHAT_MESSAGE && !collab_can_work(header))
		json_put_cstring(header, "/type", "PUBLISH");
	else
	{
		json_put_cstring(header, "/type", "REQUEST");
		json_put(body, "/responseRequired", json_of_bool(type == MSG_TASK_REQUEST));
	}
}

/* -------------------------------------------------------------------- payload */

static Json *
collab_read_error(const Adapter *self, const Json *raw)
{
	const Json *error = adapter_find(self, raw, "/body/error", JSON_OBJECT);
	Json	   *payload = json_new_object();
	Slice		code = adapter_find_word(self, raw, "/body/error/code");
	Json	   *message = adapter_find(self, raw, "/body/error/message", JSON_TEXT);
	Json	   *details = adapter_find(self, raw, "/body/error/details", JSON_OBJECT);
	bool		timed_out = json_says(raw, "/body/status", "TIMEOUT");

	json_put_text(payload, "/code", timed_out ? SLICE_OF("TIMEOUT") : slice_present(code) ? code : SLICE_OF("INTERNAL"));
	if (message != NULL && message->text.len > 0)
		json_put(payload, "/message", message);
	else
		json_put_cstring(payload, "/message", timed_out ? "the agent did not respond in time" : "the agent reported an error");
	json_put(payload, "/retryable", adapter_find(self, raw, "/body/error/retryable", JSON_BOOL));
	if (details != NULL)
		json_put(payload, "/details", json_copy(details));
	if (error != NULL)
		json_put(payload, "/details/retry_after_ms", adapter_find(self, raw, "/body/error/retryAfter", JSON_NUMBER));
	return payload;
}

/*
 * Returns the code for an error.  The protocol has four codes, and agents
 * retry after the first two of them.  Any other code becomes the one that has
 * the same effect.
 */
static const char *
collab_code_of(const Json *payload)
{
	static const char *const codes[] = {"TIMEOUT", "UNAVAILABLE", "REJECTED", "INTERNAL", NULL};
	static const char *const refusals[] = {
		"PARSE_ERROR", "INVALID_REQUEST", "INVALID_PARAMS", "SCHEMA_VIOLATION", "METHOD_NOT_FOUND", "UNSUPPORTED",
		"CONTENT_TYPE", "VERSION", "TASK_NOT_FOUND", "TASK_NOT_CANCELABLE", "TASK_TERMINAL", "AGENT_NOT_FOUND",
		"FORBIDDEN", "POLICY_DENIED", "DUPLICATE_CONFLICT", NULL
	};

	for (const char *const *code = codes; *code != NULL; code++)
		if (json_says(payload, "/code", *code))
			return *code;
	if (json_is_true(payload, "/retryable"))
		return "UNAVAILABLE";
	for (const char *const *code = refusals; *code != NULL; code++)
		if (json_says(payload, "/code", *code))
			return "REJECTED";
	return "INTERNAL";
}

static void
collab_write_error(const Json *payload, bool is_foreign, Json *body)
{
	Json	   *error = json_new_object();
	Json	   *details = json_get_kind(payload, "/details", JSON_OBJECT);

	json_put(error, "/code", is_foreign ? json_get(payload, "/code") : json_of_cstring(collab_code_of(payload)));
	json_put(error, "/message", json_get(payload, "/message"));
	json_put(error, "/retryable", json_get(payload, "/retryable"));
	if (details != NULL)
	{
		details = json_copy(details);
		if (json_get_kind(details, "/retry_after_ms", JSON_NUMBER) != NULL)
			json_put(error, "/retryAfter", json_take(details, "/retry_after_ms"));
		if (details->n > 0)
			json_put(error, "/details", details);
	}
	json_put(body, "/error", error);
}

/* Returns the path of the content in a body of that type. */
static const char *
collab_content(const Json *header)
{
	return json_says(header, "/type", "REQUEST") ? "/payload" : json_says(header, "/type", "RESPONSE") ? "/result" : "/data";
}

static bool
collab_is_event(const Json *header)
{
	return json_says(header, "/type", "PUBLISH") || json_says(header, "/type", "BROADCAST");
}

static void
collab_read_payload(const Adapter *self, const Json *raw, const Json *header, Json *envelope)
{
	const Json *body = json_get(raw, "/body");
	const char *name = collab_is_event(header) ? "/body/event" : "/body/action";
	Slice		word = adapter_find_word(self, raw, name);
	Json	   *content = adapter_member(body, collab_content(header));
	Json	   *rest;

	if (slice_present(word))
		adapter_check_identifier(self, name, ID_WORD, word);
	json_put_text(envelope, "/payload_type", word);
	if (adapter_type(envelope) == MSG_TASK_ERROR)
		content = collab_read_error(self, raw);
	else if (content == NULL && collab_is_event(header))
	{
		rest = json_copy(body);
		json_take(rest, "/event");
		json_take(rest, "/context");
		json_take(rest, "/data");
		content = rest;
		adapter_note(self, envelope, "/spread", json_of_bool(true));
	}
	adapter_put_payload(self, envelope, content);
}

static void
collab_write_payload(const Adapter *self, const Json *envelope, const Json *header, Json *body)
{
	Json	   *payload = adapter_payload(self, envelope);

	json_put(body, collab_is_event(header) ? "/event" : "/action", adapter_member(envelope, "/payload_type"));
	if (adapter_type(envelope) == MSG_TASK_ERROR || adapter_type(envelope) == MSG_TASK_TIMEOUT)
		collab_write_error(payload, adapter_was_foreign(self, envelope), body);
	else if (json_is(payload, JSON_OBJECT) && collab_is_event(header) &&
			 json_is_true(adapter_noted(self, envelope, "/spread"), ""))
	{
		for (int i = 0; i < payload->n; i++)
			if (json_member(body, payload->keys[i]) == NULL)
				json_put_member(body, payload->keys[i], payload->items[i]);
	}
	else
		json_put(body, collab_content(header), payload);
}

/* -------------------------------------------------------------------- inbound */

static void
collab_read_orders(const Adapter *self, const Json *header, Json *envelope)
{
	json_put(envelope, "/meta/clutch/priority", adapter_find_whole(self, header, "/priority", 0, 4, "a whole number from 0 to 4"));
	json_put(envelope, "/meta/clutch/ttl_ms", adapter_find_ttl(self, header, "/ttl"));
}

/* Reads the task, its parent, and the session. */
static void
collab_read_place(const Adapter *self, const Json *raw, const Json *header, const Json *context, Json *envelope)
{
	Json	   *id = adapter_member(header, "/messageId");
	Json	   *request = adapter_member(header, "/correlationId");
	Json	   *task = NULL;
	MessageType type = adapter_type(envelope);

	(void) adapter_find(self, raw, "/body/context", JSON_OBJECT);
	adapter_note_native(self, envelope, "thread_id", adapter_find_name(self, raw, "/body/context/sessionId"));
	task = adapter_find_name(self, raw, "/body/context/taskId");
	if (type == MSG_TASK_REQUEST)
	{
		adapter_note_native(self, envelope, "task_id", id);
		adapter_note_native(self, envelope, "parent_task_id", task);
	}
	else if (type == MSG_TASK_RESULT || type == MSG_TASK_ERROR)
	{
		adapter_note_native(self, envelope, "reply_to", request);
		if (adapter_member(context, "/task_id") == NULL)
			adapter_note_native(self, envelope, "task_id", request);
	}
	else
		adapter_note_native(self, envelope, "task_id", task);
}

static void
collab_note_outer(const Adapter *self, const Json *raw, Json *envelope)
{
	Json	   *outer = json_new_array();

	for (int i = 0; i < lengthof(collab_outer); i++)
		if (json_get(raw, collab_outer[i]) != NULL && json_get(json_get(raw, "/header"), collab_outer[i]) == NULL)
			json_add(outer, json_of_cstring(collab_outer[i]));
	if (outer->n > 0)
		adapter_note(self, envelope, "/outer", outer);
}

static List *
collab_inbound(const Adapter *self, const Json *raw, const Json *context)
{
	const char *place = collab_header(raw);
	const Json *header = collab_whole_header(raw);
	const Adapter *within = adapter_within(self, place);
	MessageType type = collab_read_type(header, json_get(raw, "/body"));
	Json	   *envelope;

	if (type == MSG_UNKNOWN)
		adapter_fault(self, "/body/status", json_get(raw, "/body/status") == NULL ? "REQUIRED" : "WRONG_VALUE",
					  "it must be \"SUCCESS\", \"ERROR\" or \"TIMEOUT\"");
	envelope = adapter_envelope(type);
	adapter_note(self, envelope, "/type", json_get(header, "/type"));
	adapter_note(self, envelope, "/status", json_get(raw, "/body/status"));
	adapter_note(self, envelope, "/required", adapter_find(self, raw, "/body/responseRequired", JSON_BOOL));
	if (*place == '\0')
		adapter_note(self, envelope, "/flat", json_of_bool(true));
	else
	{
		(void) adapter_require_word(within, header, "/messageId");
		collab_note_outer(self, raw, envelope);
	}
	adapter_rows_inbound(within, collab_header_rows, header, envelope);
	(void) adapter_find(self, raw, "/trace", JSON_OBJECT);
	adapter_rows_inbound(self, collab_rows, raw, envelope);
	collab_read_destination(within, header, envelope);
	json_put_text(envelope, "/ts", adapter_find_time(within, header, "/timestamp"));
	if (adapter_member(header, "/timestamp") != NULL)
		adapter_note_native(self, envelope, "ts", json_of_bool(true));
	collab_read_orders(within, header, envelope);
	collab_read_place(self, raw, header, context, envelope);
	collab_read_payload(self, raw, header, envelope);
	return list_make1(envelope);
}

/* ------------------------------------------------------------------ outbound */

static void
collab_write_native(const Json *envelope, Json *header, Json *body)
{
	json_put(header, "/correlationId", json_get(envelope, "/task_id"));
	json_put(body, "/context/sessionId", json_get(envelope, "/thread_id"));
	json_put(body, "/context/taskId", adapter_type(envelope) == MSG_TASK_REQUEST ?
			 adapter_member(envelope, "/parent_task_id") : json_get(envelope, "/task_id"));
}

/* Moves members of the header back to where they were outside it. */
static void
collab_write_outer(const Adapter *self, const Json *envelope, Json *raw, Json *header)
{
	Json	   *outer = adapter_noted(self, envelope, "/outer");

	for (int i = 0; i < lengthof(collab_outer); i++)
		for (int j = 0; json_is(outer, JSON_ARRAY) && j < outer->n; j++)
			if (json_says(outer->items[j], "", collab_outer[i]))
				json_put(raw, collab_outer[i], json_take(header, collab_outer[i]));
}

static Json *
collab_outbound(const Adapter *self, const Json *envelope)
{
	bool		foreign = adapter_was_foreign(self, envelope);
	Json	   *raw = json_new_object();
	Json	   *header = json_new_object();
	Json	   *body = json_new_object();

	adapter_rows_outbound(self, collab_header_rows, envelope, header);
	json_put_text(header, "/destination", collab_destination_of(envelope));
	json_put(header, "/priority", json_get(envelope, "/meta/clutch/priority"));
	json_put(header, "/ttl", json_get(envelope, "/meta/clutch/ttl_ms"));
	if (!foreign || adapter_noted(self, envelope, "/native/ts") != NULL)
		json_put(header, "/timestamp", json_get(envelope, "/ts"));
	collab_write_type(self, envelope, header, body);
	collab_write_payload(self, envelope, header, body);
	if (!foreign)
		collab_write_native(envelope, header, body);
	if (json_is_true(adapter_noted(self, envelope, "/flat"), ""))
		raw = header;
	else
	{
		collab_write_outer(self, envelope, raw, header);
		json_put(raw, "/header", header);
	}
	json_put(raw, "/body", body);
	adapter_rows_outbound(self, collab_rows, envelope, raw);
	return raw;
}

static const char *
collab_declines(const Adapter *self, const Json *raw)
{
	const Json *header = json_is(raw, JSON_OBJECT) ? collab_whole_header(raw) : raw;

	if (!json_is(raw, JSON_OBJECT))
		return "it is not an object";
	if (!json_says(header, "/type", "REQUEST") && !json_says(header, "/type", "RESPONSE") && !collab_is_event(header))
		return "the type in its header is not REQUEST, RESPONSE, PUBLISH or BROADCAST";
	return json_get_kind(raw, "/body", JSON_OBJECT) != NULL ? NULL : "its body is not an object";
}

/* A RESPONSE has the ID and the session of the REQUEST. */
static void
collab_names_request(const Adapter *self, const Json *request, const Json *asked, Json *document)
{
	Json	   *session = adapter_member(asked, "/body/context/sessionId");
	Json	   *id = adapter_noted(self, request, "/native/id");
	const char *inner = psprintf("%s/correlationId", collab_header(document));
	bool		is_outer = json_get(document, "/correlationId") != NULL;

	/* an agent may have written it in both places */
	if (is_outer)
		json_put(document, "/correlationId", id);
	if (!is_outer || json_get(document, inner) != NULL)
		json_put(document, inner, id);
	if (session != NULL)
		json_put(document, "/body/context/sessionId", session);
}

const Adapter collab_adapter = {
	.name = "collab",
	.carrier = "/body/context/clutch",
	.declines = collab_declines,
	.inbound = collab_inbound,
	.outbound = collab_outbound,
	.names_request = collab_names_request,
};
