/*-------------------------------------------------------------------------
 *
 * autogen.c
 *	  AutoGen: messages of AgentChat 0.7, and the events that autogen-core
 *	  logs.
 *
 * The members that are not common to all messages form the payload.  Notes:
 *
 *	type		the type of the message
 *	as_type		the type that the envelope was given
 *	id			the ID of the message
 *	timed		true if the message has a time
 *	own			the IDs of this database in its metadata
 *	boxed		true if the message is the member "message" of the payload
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/autogen.h"

#include "adapters/tooling.h"

/* members that all messages have, which are not put into the payload */
static const char *const autogen_common[] = {
	"/type", "/id", "/source", "/models_usage", "/metadata", "/created_at", "/sender", "/receiver", "/target"
};

static const AdapterRow autogen_rows[] = {
	{ROW_AGENT, "/source", "/from/agent_id"},
	{ROW_AGENT, "/sender", "/from/agent_id"},
	{ROW_VALUE, NULL, NULL}
};

/* identifiers of this database that the metadata may have */
static const struct
{
	const char *foreign;
	const char *field;
	IdentifierKind kind;
}			autogen_own[] = {
	{"/clutch_run", "/run_id", ID_RUN},
	{"/clutch_thread", "/thread_id", ID_THREAD},
	{"/clutch_task", "/task_id", ID_TASK}
};

static const struct
{
	const char *name;
	MessageType type;
}			autogen_types[] = {
	{"StopMessage", MSG_TASK_RESULT},
	{"HandoffMessage", MSG_TASK_REQUEST},
	{"ToolCallRequestEvent", MSG_TOOL_CALL},
	{"ToolCallExecutionEvent", MSG_TOOL_RESULT},
	{"SelectSpeakerEvent", MSG_CHAT_SYSTEM},
	{"SelectorEvent", MSG_CHAT_SYSTEM},
	{"MessageDropped", MSG_CHAT_SYSTEM},
	{"MessageHandlerException", MSG_TASK_ERROR}
};

static bool
autogen_is_result(const Json *raw)
{
	return json_get_kind(raw, "/messages", JSON_ARRAY) != NULL && json_get(raw, "/stop_reason") != NULL &&
		json_get(raw, "/type") == NULL;
}

/* Is it the name of an event of autogen-core that names no sender? */
static bool
autogen_is_anonymous(Slice type)
{
	return slice_is(type, "LLMCall") || slice_is(type, "LLMStreamStart") || slice_is(type, "LLMStreamEnd") ||
		slice_is(type, "ToolCall") || slice_is(type, "AgentConstructionException");
}

/* Is it an event of autogen-core rather than a message of AgentChat? */
static bool
autogen_is_core(const Json *raw)
{
	Slice		type = json_get_text(raw, "/type");

	return (slice_is(type, "Message") || slice_is(type, "MessageDropped")) ? json_get(raw, "/delivery_stage") != NULL || json_get(raw, "/kind") != NULL :
		slice_is(type, "MessageHandlerException") ? json_get(raw, "/exception") != NULL :
		autogen_is_anonymous(type) && json_get(raw, "/source") == NULL;
}

static const char *
autogen_declines(const Adapter *self, const Json *raw)
{
	if (!json_is(raw, JSON_OBJECT))
		return "it is not an object";
	if (autogen_is_result(raw) || autogen_is_core(raw))
		return NULL;
	if (!json_has_text(raw, "/type") || !json_has_text(raw, "/source"))
		return "it is neither a message of AgentChat, with type and source, nor a TaskResult, nor an event of autogen-core";
	return json_get(raw, "/models_usage") != NULL || json_get(raw, "/content") != NULL ? NULL :
		"it has neither models_usage nor content";
}

/* ------------------------------------------------------------------ inbound */

/* Is it the name of a class of messages, rather than of events?  That of a structure is followed by its type. */
static bool
autogen_is_message(Slice type)
{
	int			suffix = strlen("Message");

	return slice_starts(type, SLICE_OF("StructuredMessage")) ||
		(type.len >= suffix && memcmp(type.s + type.len - suffix, "Message", suffix) == 0);
}

static MessageType
autogen_type(const Json *raw, const Json *context)
{
	Slice		type = json_get_text(raw, "/type");
	const Json *calls = json_get_kind(raw, "/content", JSON_ARRAY);
	bool		is_user = json_says(raw, "/source", "user");
	bool		has_task = adapter_member(context, "/task_id") != NULL || json_get(raw, "/metadata/clutch_task") != NULL;

	if (autogen_is_result(raw))
		return MSG_TASK_RESULT;
	for (int i = 0; i < lengthof(autogen_types); i++)
		if (slice_is(type, autogen_types[i].name))
			return message_type_is_message(autogen_types[i].type) && autogen_types[i].type != MSG_CHAT_SYSTEM && (calls == NULL || calls->n == 0) ?
				MSG_TASK_PROGRESS : autogen_types[i].type;
	if (!autogen_is_message(type))
		return MSG_TASK_PROGRESS;
	return is_user && !has_task ? MSG_TASK_REQUEST : MSG_CHAT_MESSAGE;
}

static void
autogen_read_metadata(const Adapter *self, const Json *raw, Json *envelope)
{
	Json	   *metadata = adapter_find(self, raw, "/metadata", JSON_OBJECT);

	for (int i = 0; metadata != NULL && i < lengthof(autogen_own); i++)
	{
		const char *path = psprintf("/metadata%s", autogen_own[i].foreign);
		Slice		text = adapter_find_word(self, raw, path);

		if (!slice_present(text))
			continue;
		adapter_check_identifier(self, path, autogen_own[i].kind, text);
		json_put_text(envelope, autogen_own[i].field, text);
		adapter_note(self, envelope, psprintf("/own%s", autogen_own[i].foreign), json_of_bool(true));
	}
	adapter_note(self, envelope, "/metadata", metadata);
	adapter_note(self, envelope, "/models_usage", adapter_member(raw, "/models_usage"));
}

/*
 * Returns an envelope with the fields that all envelopes made from a message
 * have in common.
 */
static Json *
autogen_begin(const Adapter *self, const Json *raw, MessageType type)
{
	Json	   *envelope = adapter_envelope(type);
	Slice		time = adapter_find_time(self, raw, "/created_at");

	adapter_rows_inbound(self, autogen_rows, raw, envelope);
	json_put_text(envelope, "/ts", time);
	if (slice_present(time))
		adapter_note(self, envelope, "/timed", json_of_bool(true));
	return envelope;
}

/*
 * Would the database act on a member of the payload?  Two members make a
 * task.progress suspend its task.
 */
static bool
autogen_is_order(MessageType type, const Json *payload)
{
	return type == MSG_TASK_PROGRESS && (json_get(payload, "/state") != NULL || json_get(payload, "/deadline") != NULL);
}

static void
autogen_put_payload(const Adapter *self, const Json *raw, Json *envelope)
{
	MessageType type = adapter_type(envelope);
	Json	   *payload = json_copy_top(raw);

	for (int i = 0; i < lengthof(autogen_common); i++)
		(void) json_take(payload, autogen_common[i]);
	if (type == MSG_TASK_ERROR)
	{
		Json	   *said = json_take(payload, "/exception");

		tooling_put_error(self, envelope, "HANDLER_EXCEPTION", said);
		json_put(envelope, "/payload/details", payload);
		return;
	}
	if (autogen_is_order(type, payload))
	{
		Json	   *boxed = json_new_object();

		json_put(boxed, "/message", payload);
		adapter_note(self, envelope, "/boxed", json_of_bool(true));
		payload = boxed;
	}
	if (json_says(raw, "/type", "UserInputRequestedEvent"))
		json_put_cstring(payload, "/state", "input_required");
	json_put(envelope, "/payload", payload);
}

/* Makes the envelope for one element of a ToolCallRequestEvent. */
static Json *
autogen_read_call(const Adapter *self, const Json *raw, int place)
{
	Json	   *envelope = autogen_begin(self, raw, MSG_TOOL_CALL);
	const char *at = json_path_index("/content", place);

	(void) adapter_find(self, raw, at, JSON_OBJECT);
	json_put(envelope, "/payload", json_new_object());
	tooling_put_name(self, envelope, psprintf("%s/name", at), tooling_require_name(self, raw, psprintf("%s/name", at)));
	tooling_put_args(self, envelope, adapter_member(raw, psprintf("%s/arguments", at)));
	adapter_note_native(self, envelope, "id", tooling_find_id(self, raw, psprintf("%s/id", at)));
	return envelope;
}

/*
 * Makes the envelope for one element of a ToolCallExecutionEvent, preceded by
 * a stub of its call.
 */
static List *
autogen_read_answer(const Adapter *self, const Json *raw, int place)
{
	const char *at = json_path_index("/content", place);
	bool		failed = json_is_true(raw, psprintf("%s/is_error", at));
	Json	   *envelope = autogen_begin(self, raw, failed ? MSG_TOOL_ERROR : MSG_TOOL_RESULT);
	Json	   *found = adapter_find(self, raw, at, JSON_OBJECT);
	Json	   *element = found != NULL ? json_copy(found) : json_new_object();
	Slice		id = adapter_find_word(self, raw, "/id");
	Slice		name = tooling_find_name(self, raw, psprintf("%s/name", at));
	/* messages of older versions have no ID; there, the name tells answers of different tools apart */
	Slice		message = slice_present(id) ? id : name;
	char	   *answer = psprintf("%.*s/%d", message.len, message.s, place);
	char	   *call_at = psprintf("%s/call_id", at);
	Json	   *call;
	Json	   *stub;

	(void) adapter_find(self, raw, call_at, JSON_TEXT);
	call = tooling_find_call(self, raw, call_at, slice_of_cstring(answer));
	stub = tooling_stub(self, call, psprintf("%s/name", at), name);
	json_put(stub, "/from", json_get(envelope, "/from"));
	adapter_note_native(self, envelope, "reply_to", call);
	if (slice_present(id))
		adapter_note_native(self, envelope, "id", json_of_cstring(psprintf("%.*s/%.*s", id.len, id.s, call->text.len, call->text.s)));
	(void) json_take(element, "/is_error");
	(void) json_take(element, "/call_id");
	if (failed)
	{
		tooling_put_error(self, envelope, TOOLING_ERROR, json_take(element, "/content"));
		json_put(envelope, "/payload/details", element);
	}
	else
		json_put(envelope, "/payload", element);
	return list_make2(stub, envelope);
}

static List *
autogen_inbound(const Adapter *self, const Json *raw, const Json *context)
{
	const char *reason = autogen_declines(self, raw);
	Slice		type = json_get_text(raw, "/type");
	MessageType made = reason == NULL ? autogen_type(raw, context) : MSG_UNKNOWN;
	const Json *content = json_get_kind(raw, "/content", JSON_ARRAY);
	Json	   *bearer = NULL;
	List	   *envelopes = NIL;

	if (reason != NULL)
		adapter_fault(self, "", "WRONG_TYPE", "%s", reason);
	if ((slice_is(type, "ThoughtEvent") || slice_is(type, "ModelClientStreamingChunkEvent")) && !json_is_true(context, "/stream"))
		return NIL;
	if (made == MSG_TOOL_CALL)
		for (int i = 0; i < content->n; i++)
			envelopes = lappend(envelopes, autogen_read_call(self, raw, i));
	else if (made == MSG_TOOL_RESULT)
		for (int i = 0; i < content->n; i++)
			envelopes = list_concat(envelopes, autogen_read_answer(self, raw, i));
	else
	{
		bearer = autogen_begin(self, raw, made);
		adapter_note_native(self, bearer, "id", adapter_find_name(self, raw, "/id"));
		autogen_put_payload(self, raw, bearer);
		envelopes = list_make1(bearer);
	}
	if (bearer == NULL)
		bearer = made == MSG_TOOL_CALL ? linitial(envelopes) : lsecond(envelopes);
	adapter_put_recipient(bearer, adapter_find_agent(self, raw, slice_is(type, "HandoffMessage") ? "/target" : "/receiver"));
	if (slice_is(type, "HandoffMessage"))
	{
		adapter_note_native(self, bearer, "task_id", adapter_member(raw, "/id"));
		json_put(bearer, "/parent_task_id", adapter_member(context, "/task_id"));
	}
	autogen_read_metadata(self, raw, bearer);
	adapter_note(self, bearer, "/type", slice_present(type) ? json_of_text(type) : json_of_bool(false));
	adapter_note(self, bearer, "/as_type", json_get(bearer, "/type"));
	adapter_note(self, bearer, "/id", adapter_find_name(self, raw, "/id"));
	return envelopes;
}

/* ----------------------------------------------------------------- outbound */

static Json *
autogen_text_of(const Json *value)
{
	if (json_is(value, JSON_TEXT))
		return unconstify(Json *, value);
	return json_of_text(json_print(value));
}

/* Returns the name of the tool in an answer that was never in this dialect, whose library requires one. */
static Json *
autogen_answering_tool(const Json *envelope)
{
	Json	   *name = json_get_kind(envelope, "/payload/name", JSON_TEXT);

	return name != NULL && identifier_is_valid(ID_WORD, name->text) ? name : json_of_cstring("unknown");
}

static Json *
autogen_content_of(const Adapter *self, const Json *envelope, bool is_new)
{
	Json	   *content = json_new_array();
	Json	   *element = json_new_object();
	Json	   *payload = json_get(envelope, "/payload");
	MessageType type = adapter_type(envelope);

	if (type == MSG_TOOL_CALL)
	{
		Json	   *args = tooling_args(self, envelope);

		json_put(element, "/id", adapter_native(self, envelope, "id"));
		json_put_text(element, "/name", tooling_name(envelope));
		json_put(element, "/arguments", is_new && args != NULL ? autogen_text_of(args) : args);
	}
	else
	{
		Json	   *call = adapter_native(self, envelope, "reply_to");
		Json	   *details = json_get_kind(envelope, "/payload/details", JSON_OBJECT);

		if (type == MSG_TOOL_ERROR)
			element = details != NULL ? json_copy(details) : element;
		else
			element = is_new ? element : json_copy(payload);
		if (type == MSG_TOOL_ERROR)
			json_put(element, "/content", tooling_error(self, envelope));
		else if (is_new)
			json_put(element, "/content", autogen_text_of(payload));
		if (is_new && json_get(element, "/name") == NULL)
			json_put(element, "/name", autogen_answering_tool(envelope));
		json_put(element, "/call_id", call != NULL ? call : json_of_cstring("unknown"));
		json_put(element, "/is_error", json_of_bool(type == MSG_TOOL_ERROR));
	}
	json_add(content, element);
	return content;
}

static bool
autogen_asks(const Json *envelope)
{
	return adapter_type(envelope) == MSG_TASK_PROGRESS && json_says(envelope, "/payload/state", "input_required");
}

static const char *
autogen_type_of(const Json *envelope)
{
	switch (adapter_type(envelope))
	{
		case MSG_TASK_REQUEST:
			return "HandoffMessage";
		case MSG_TASK_RESULT:
			return "StopMessage";
		case MSG_TOOL_CALL:
			return "ToolCallRequestEvent";
		case MSG_TOOL_RESULT:
		case MSG_TOOL_ERROR:
			return "ToolCallExecutionEvent";
		case MSG_TASK_PROGRESS:
			return autogen_asks(envelope) ? "UserInputRequestedEvent" : "TextMessage";
		default:
			return "TextMessage";
	}
}

/*
 * Returns the members of a question that was never in this dialect.  Its
 * library allows no content, and ignores members that it does not know.
 */
static Json *
autogen_question_of(const Json *envelope)
{
	Json	   *question = json_copy_top(json_get(envelope, "/payload"));

	(void) json_take(question, "/state");
	for (int i = 0; i < lengthof(autogen_common); i++)
		(void) json_take(question, autogen_common[i]);
	json_put_cstring(question, "/content", "");
	if (!json_has_text(question, "/request_id"))
		json_put(question, "/request_id", json_get(envelope, "/id"));
	return question;
}

/* Returns the members of the message that are made from the payload. */
static Json *
autogen_body_of(const Adapter *self, const Json *envelope, bool is_new)
{
	Json	   *payload = json_get(envelope, "/payload");
	Json	   *body = json_new_object();

	if (is_new && autogen_asks(envelope))
		return autogen_question_of(envelope);
	if (is_new)
	{
		Json	   *text = json_get_kind(payload, "/content", JSON_TEXT);

		text = text != NULL ? text : json_get_kind(payload, "/text", JSON_TEXT);
		json_put(body, "/content", text != NULL ? text : autogen_text_of(payload));
		return body;
	}
	if (adapter_type(envelope) == MSG_TASK_ERROR)
	{
		Json	   *details = json_get_kind(payload, "/details", JSON_OBJECT);

		body = details != NULL ? json_copy(details) : body;
		json_put(body, "/exception", tooling_error(self, envelope));
		return body;
	}
	if (json_is_true(adapter_noted(self, envelope, ""), "/boxed") && json_get_kind(payload, "/message", JSON_OBJECT) != NULL)
		return json_copy_top(json_get(payload, "/message"));
	body = json_copy_top(payload);
	if (json_says(adapter_noted(self, envelope, ""), "/type", "UserInputRequestedEvent"))
		(void) json_take(body, "/state");
	return body;
}

static void
autogen_write_metadata(const Adapter *self, const Json *envelope, Json *raw)
{
	bool		foreign = adapter_was_foreign(self, envelope);
	Json	   *noted = adapter_noted(self, envelope, "/metadata");
	Json	   *metadata = noted != NULL ? json_copy_top(noted) : json_new_object();

	for (int i = 0; i < lengthof(autogen_own); i++)
		if (!foreign || adapter_noted(self, envelope, psprintf("/own%s", autogen_own[i].foreign)) != NULL)
			json_put(metadata, autogen_own[i].foreign, json_get(envelope, autogen_own[i].field));
	if (noted != NULL || !foreign)
		json_put(raw, "/metadata", metadata);
	json_put(raw, "/models_usage", adapter_noted(self, envelope, "/models_usage"));
}

static Json *
autogen_outbound(const Adapter *self, const Json *envelope)
{
	const Json *notes = adapter_noted(self, envelope, "");
	Slice		was = json_get_text(notes, "/as_type");
	bool		is_new = !slice_present(was) || !slice_equal(was, json_get_text(envelope, "/type"));
	MessageType type = adapter_type(envelope);
	bool		is_tool = type == MSG_TOOL_CALL || type == MSG_TOOL_RESULT || type == MSG_TOOL_ERROR;
	Json	   *id = adapter_noted(self, envelope, "/id");
	Json	   *raw = is_tool ? json_new_object() : autogen_body_of(self, envelope, is_new);
	Slice		name = is_new ? slice_of_cstring(autogen_type_of(envelope)) : json_get_text(notes, "/type");
	Slice		sender = json_get_text(envelope, "/from/agent_id");
	Slice		to = json_get_text(envelope, "/to/0/agent_id");
	bool		is_core = !is_new && (slice_is(name, "Message") || slice_is(name, "MessageDropped"));

	if (is_tool)
		json_put(raw, "/content", autogen_content_of(self, envelope, is_new));
	json_put_text(raw, "/type", name);
	json_put(raw, "/id", id != NULL || !is_new ? id : adapter_native(self, envelope, "id"));
	if (slice_present(sender) && (is_new || (slice_present(name) && !autogen_is_anonymous(name))))
		json_put_text(raw, is_core ? "/sender" : "/source", adapter_agent_name(sender));
	if (slice_present(to) && (is_core || slice_is(name, "HandoffMessage")))
		json_put_text(raw, is_core ? "/receiver" : "/target", adapter_agent_name(to));
	if (is_new || json_is_true(notes, "/timed"))
		json_put(raw, "/created_at", json_get(envelope, "/ts"));
	autogen_write_metadata(self, envelope, raw);
	return raw;
}

const Adapter autogen_adapter = {
	.name = "autogen",
	.carrier = "/metadata/clutch",
	.carrier_form = CARRIER_TEXT,
	.declines = autogen_declines,
	.inbound = autogen_inbound,
	.outbound = autogen_outbound,
};
