/*-------------------------------------------------------------------------
 *
 * langgraph_message.c
 *	  LangGraph: messages in the two dialects of LangChain.
 *
 * JavaScript writes {"lc": 1, "type": "constructor", "id": [.., class],
 * "kwargs": fields}.  Python and the server write {"type": class, ..fields}.
 * The note "message" holds the class and, in the first dialect, the id.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/langgraph_part.h"

#include "adapters/tooling.h"

/* the classes of messages in the two dialects, by role of the sender */
static const struct
{
	const char *flat;
	const char *constructor;
	const char *role;
}			langgraph_classes[] = {
	{"ai", "AIMessage", "worker"},
	{"human", "HumanMessage", "user"},
	{"system", "SystemMessage", "system"},
	{"tool", "ToolMessage", "tool"},
	{"AIMessageChunk", "AIMessageChunk", "worker"},
	{"HumanMessageChunk", "HumanMessageChunk", "user"},
	{"SystemMessageChunk", "SystemMessageChunk", "system"},
	{"ToolMessageChunk", "ToolMessageChunk", "tool"},
	{"chat", "ChatMessage", NULL},
	{"generic", "ChatMessage", NULL},	/* the server in JavaScript */
	{"function", "FunctionMessage", NULL},
	{"ChatMessageChunk", "ChatMessageChunk", NULL},
	{"FunctionMessageChunk", "FunctionMessageChunk", NULL},
	{"remove", "RemoveMessage", NULL}
};

static bool
langgraph_is_constructor(const Json *value)
{
	int64		lc;

	return json_get_int(value, "/lc", &lc) && lc == 1;
}

/* A message that was made of blocks, of version 1 of LangChain, may have only these. */
static bool
langgraph_has_content(const Json *fields)
{
	return json_get(fields, "/content") != NULL || json_get_kind(fields, "/content_blocks", JSON_ARRAY) != NULL;
}

/*
 * Returns the index of its class in langgraph_classes, or -1 if it is not a
 * message.
 */
static int
langgraph_class(const Json *value)
{
	bool		constructor = langgraph_is_constructor(value);
	const Json *id = json_get_kind(value, "/id", JSON_ARRAY);
	const Json *name = constructor ? (id != NULL && id->n > 0 ? id->items[id->n - 1] : NULL) : json_get(value, "/type");

	if (!json_is(value, JSON_OBJECT) || !json_is(name, JSON_TEXT) ||
		!(constructor ? json_get_kind(value, "/kwargs", JSON_OBJECT) != NULL : langgraph_has_content(value)))
		return -1;
	for (int i = 0; i < lengthof(langgraph_classes); i++)
		if (slice_is(name->text, constructor ? langgraph_classes[i].constructor : langgraph_classes[i].flat))
			return i;
	return -1;
}

bool
langgraph_is_message(const Json *value)
{
	return langgraph_class(value) >= 0;
}

static bool
langgraph_is_role(const Json *message, const char *role)
{
	int			class = langgraph_class(message);

	return class >= 0 && langgraph_classes[class].role != NULL && strcmp(langgraph_classes[class].role, role) == 0;
}

static bool
langgraph_is_piece(const Json *message)
{
	int			class = langgraph_class(message);

	return class >= 0 && strstr(langgraph_classes[class].flat, "Chunk") != NULL;
}

static Json *
langgraph_fields(const Json *message)
{
	Json	   *fields;

	if (langgraph_is_constructor(message))
		return json_get(message, "/kwargs");
	fields = json_copy_top(message);
	(void) json_take(fields, "/type");
	return fields;
}

static void
langgraph_note_message(const Adapter *self, Json *envelope, const Json *message)
{
	int			class = langgraph_class(message);

	json_put_cstring(envelope, "/from/role", langgraph_classes[class].role);
	adapter_note(self, envelope, "/message/class", json_of_cstring(langgraph_classes[class].flat));
	if (langgraph_is_constructor(message))
		adapter_note(self, envelope, "/message/id", json_get(message, "/id"));
}

/*
 * Returns the class with which the message is written.  If the role of its
 * sender has been changed, the class changes too, provided that there is one
 * for the new role.
 */
static int
langgraph_class_now(const Adapter *self, const Json *envelope)
{
	Slice		noted = json_get_text(adapter_noted(self, envelope, "/message"), "/class");
	Slice		role = json_get_text(envelope, "/from/role");
	int			was = 0;
	int			of_role = -1;

	for (int i = lengthof(langgraph_classes) - 1; i >= 0; i--)
	{
		const char *name = langgraph_classes[i].role;
		bool		fits = name == NULL || !slice_present(role) || slice_is(role, name);

		if (slice_is(noted, langgraph_classes[i].flat))
			was = i;
		if (slice_present(noted) && was == i && fits)
			return i;
		if (name != NULL && slice_present(role) && fits)
			of_role = i;
	}
	return of_role >= 0 ? of_role : was;
}

/*
 * Returns a message with these fields, in the dialect of the original message.
 */
static Json *
langgraph_wrap(const Adapter *self, const Json *envelope, const Json *fields)
{
	int			class = langgraph_class_now(self, envelope);
	Json	   *id = json_get_kind(adapter_noted(self, envelope, "/message"), "/id", JSON_ARRAY);
	Json	   *message;

	if (id == NULL || id->n == 0)
	{
		message = json_copy_top(fields);
		json_put_cstring(message, "/type", langgraph_classes[class].flat);
		return message;
	}
	message = json_new_object();
	id = json_copy(id);
	id->items[id->n - 1] = json_of_cstring(langgraph_classes[class].constructor);
	json_put(message, "/lc", json_of_int(1));
	json_put_cstring(message, "/type", "constructor");
	json_put(message, "/id", id);
	json_put(message, "/kwargs", json_copy_top(fields));
	return message;
}

void
langgraph_put_message(const Adapter *self, Json *envelope, Json *message)
{
	if (!langgraph_is_message(message))
	{
		adapter_put_payload(self, envelope, message);
		return;
	}
	langgraph_note_message(self, envelope, message);
	json_put(envelope, "/payload", langgraph_fields(message));
}

Json *
langgraph_message_of(const Adapter *self, const Json *envelope)
{
	bool		noted = adapter_noted(self, envelope, "/message") != NULL;
	Json	   *fields;

	if (!noted && adapter_was_foreign(self, envelope) && adapter_noted(self, envelope, "/form") != NULL)
		return adapter_payload(self, envelope);
	fields = json_copy_top(json_get(envelope, "/payload"));
	if (!noted && json_get(fields, "/content") == NULL)
	{
		Json	   *text = json_take(fields, "/text");

		json_put(fields, "/content", text != NULL ? text : json_of_cstring(""));
	}
	return langgraph_wrap(self, envelope, fields);
}

/* ------------------------------------------------------- answers of tools */

MessageType
langgraph_answer_type(const Json *output)
{
	return langgraph_is_message(output) && json_says(langgraph_fields(output), "/status", "error") ?
		MSG_TOOL_ERROR : MSG_TOOL_RESULT;
}

void
langgraph_put_answer(const Adapter *self, Json *envelope, Json *output)
{
	Json	   *fields;

	if (langgraph_answer_type(output) == MSG_TOOL_RESULT)
	{
		langgraph_put_message(self, envelope, output);
		return;
	}
	langgraph_note_message(self, envelope, output);
	fields = json_copy_top(langgraph_fields(output));
	tooling_put_error(self, envelope, TOOLING_ERROR, json_take(fields, "/content"));
	json_put(envelope, "/payload/details", fields);
}

Json *
langgraph_answer_of(const Adapter *self, const Json *envelope)
{
	Json	   *fields;

	if (adapter_noted(self, envelope, "/message") == NULL)
		return adapter_payload(self, envelope);
	if (adapter_type(envelope) != MSG_TOOL_ERROR)
		return langgraph_message_of(self, envelope);
	fields = json_get_kind(envelope, "/payload/details", JSON_OBJECT);
	fields = fields != NULL ? json_copy_top(fields) : json_new_object();
	json_put(fields, "/content", tooling_error(self, envelope));
	return langgraph_wrap(self, envelope, fields);
}

/* -------------------------------------------------- messages of a stream */

/*
 * Returns the tool calls that a message requests.  Each of them becomes a
 * companion.
 */
static List *
langgraph_read_calls(const Adapter *self, const Json *fields, const Json *of)
{
	Json	   *calls = json_get_kind(fields, "/tool_calls", JSON_ARRAY);
	List	   *envelopes = NIL;

	for (int i = 0; calls != NULL && i < calls->n; i++)
	{
		Json	   *envelope = adapter_envelope(MSG_TOOL_CALL);
		const Adapter *within = adapter_within(self, json_path_index("/tool_calls", i));

		if (!json_is(calls->items[i], JSON_OBJECT))
			adapter_fault(within, "", "WRONG_TYPE", "it must be an object");
		json_put(envelope, "/payload", json_new_object());
		tooling_put_name(within, envelope, "/name", tooling_require_name(within, calls->items[i], "/name"));
		tooling_put_args(within, envelope, adapter_member(calls->items[i], "/args"));
		json_put(envelope, "/payload/call_id", tooling_find_id(within, calls->items[i], "/id"));
		adapter_note_native(within, envelope, "id", json_get(envelope, "/payload/call_id"));
		json_put(envelope, "/from/agent_id", json_get(of, "/from/agent_id"));
		envelopes = lappend(envelopes, envelope);
	}
	return envelopes;
}

/*
 * Returns the envelopes for a message.  The metadata is the second element of
 * the data, or NULL.
 */
static List *
langgraph_read_message(const Adapter *self, Json *message, const Json *metadata, const Json *context)
{
	const Adapter *within = langgraph_is_constructor(message) ? adapter_within(self, "/kwargs") : self;
	Json	   *fields = langgraph_fields(message);
	bool		is_tool = langgraph_is_role(message, "tool");
	MessageType type = is_tool ? langgraph_answer_type(message) :
		langgraph_is_role(message, "system") ? MSG_CHAT_SYSTEM : MSG_CHAT_MESSAGE;
	Json	   *envelope = adapter_envelope(type);
	List	   *envelopes = NIL;

	if (metadata != NULL)
		langgraph_read_place(self, metadata, envelope, context, NULL, false);
	adapter_note_native(self, envelope, "id", adapter_find_name(within, fields, "/id"));
	if (!is_tool)
		langgraph_put_message(self, envelope, message);
	else
	{
		Slice		name = tooling_find_name(within, fields, "/name");
		Slice		id = json_get_text(fields, "/id");
		Json	   *call = tooling_find_call(within, fields, "/tool_call_id", slice_present(id) ? id : name);

		envelopes = list_make1(tooling_stub(within, call, "/name", name));
		json_put(linitial(envelopes), "/from/agent_id", json_get(envelope, "/from/agent_id"));
		adapter_note_native(self, envelope, "reply_to", call);
		langgraph_put_answer(self, envelope, message);
	}
	return list_concat(lappend(envelopes, envelope), langgraph_read_calls(within, fields, envelope));
}

static bool
langgraph_is_pair(const Json *data)
{
	return json_is(data, JSON_ARRAY) && data->n == 2 && langgraph_is_message(data->items[0]) &&
		data->items[1]->kind == JSON_OBJECT && !langgraph_is_message(data->items[1]);
}

bool
langgraph_has_messages(const Json *data, bool *are_pieces)
{
	bool		is_pair = langgraph_is_pair(data);

	*are_pieces = false;
	if (!json_is(data, JSON_ARRAY))
	{
		*are_pieces = langgraph_is_piece(data);
		return langgraph_is_message(data);
	}
	for (int i = 0; i < data->n - is_pair; i++)
	{
		if (!langgraph_is_message(data->items[i]))
			return false;
		/* the JavaScript server gives pieces the class of the whole message */
		*are_pieces = *are_pieces || langgraph_is_piece(data->items[i]) ||
			(is_pair && json_get_kind(langgraph_fields(data->items[i]), "/tool_call_chunks", JSON_ARRAY) != NULL);
	}
	return data->n > 0;
}

/*
 * Reads a list of messages.  When a run goes on, the list repeats earlier
 * messages, so the native IDs in a list of several are removed.  The messages
 * then get IDs that depend on the list, and are not duplicates.
 */
List *
langgraph_read_messages(const Adapter *self, Json *data, const Json *context)
{
	bool		is_pair = langgraph_is_pair(data);
	List	   *envelopes = NIL;
	ListCell   *lc;

	if (data->kind != JSON_ARRAY)
		return langgraph_read_message(self, data, NULL, context);
	for (int i = 0; i < data->n - is_pair; i++)
		envelopes = list_concat(envelopes, langgraph_read_message(adapter_within(self, json_path_index("", i)), data->items[i],
																   is_pair ? data->items[1] : NULL, context));
	if (data->n - is_pair > 1)
		foreach(lc, envelopes)
			if (!adapter_is_stub(self, lfirst(lc)))
				json_take(lfirst(lc), psprintf("/meta/%s/native/id", self->name));
	return envelopes;
}

Json *
langgraph_messages_of(const Adapter *self, const Json *envelope)
{
	bool		is_tool = adapter_type(envelope) == MSG_TOOL_RESULT || adapter_type(envelope) == MSG_TOOL_ERROR;
	Json	   *message = is_tool ? langgraph_answer_of(self, envelope) : langgraph_message_of(self, envelope);
	Json	   *list;
	Json	   *metadata;

	if (!json_is_true(adapter_noted(self, envelope, ""), "/list"))
		return message;
	list = json_new_array();
	metadata = json_new_object();
	json_add(list, message);
	langgraph_write_place(self, envelope, metadata);
	if (metadata->n > 0 && !json_is_true(adapter_noted(self, envelope, ""), "/alone"))
		json_add(list, metadata);
	return list;
}
