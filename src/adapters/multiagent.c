/*-------------------------------------------------------------------------
 *
 * multiagent.c
 *	  Messages of the protocol "multiagent-1.0" (spec 001).
 *
 * The protocol has no tasks.  The last parent that has requested a task stands
 * for it, or else the first one, which is the message that began the
 * conversation.  For a request, the first parent stands for the parent task.
 * The last parent is the message that is replied to.
 *
 * Notes: intent, confidence, tags, agent, state and deadline are members of the document;
 * parents holds all parents but the last; uncalled is true for the result of a
 * tool without parents; body and made belong to a card (multiagent_read_card).
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/multiagent_part.h"

#include "base/number.h"

#define PROTOCOL	"multiagent-1.0"

/* members that are always translated */
static const AdapterRow multiagent_rows[] = {
	{ROW_NATIVE, "/trace/id", "id"},
	{ROW_AGENT, "/agent/id", "/from/agent_id"},
	{ROW_VALUE, "/agent/name", "/meta/multiagent/agent/name"},
	{ROW_VALUE, "/agent/model", "/meta/multiagent/agent/model"},
	{ROW_VALUE, "/agent/version", "/meta/multiagent/agent/version"},
	{ROW_VALUE, "/confidence", "/meta/multiagent/confidence"},
	{ROW_VALUE, "/trace/tags", "/meta/multiagent/tags"},
	{ROW_VALUE, "/trace/cost/input_tokens", "/meta/clutch/usage/input_tokens"},
	{ROW_VALUE, "/trace/cost/output_tokens", "/meta/clutch/usage/output_tokens"},
	{ROW_VALUE, NULL, NULL}
};

static const struct
{
	const char *foreign;
	const char *ours;
}			multiagent_roles[] = {
	{"agent", "worker"},
	{"user", "user"},
	{"system", "system"},
	{"tool", "tool"},
};

/* ------------------------------------------------------------------ the type */

static bool
multiagent_is_blank(Slice text)
{
	int			i = 0;

	while (i < text.len && strchr(" \t\r\n\f\v", text.s[i]) != NULL)
		i++;
	return i == text.len;
}

/*
 * Does the message propose an action?  By the rules of this protocol, an
 * action without a task says nothing.
 */
static bool
multiagent_proposes(const Json *raw)
{
	const Json *actions = json_get_kind(raw, "/outputs/next_actions", JSON_ARRAY);

	for (int i = 0; actions != NULL && i < actions->n; i++)
	{
		const Json *task = json_get(actions->items[i], "/task");

		if (task != NULL && !json_is(task, JSON_NULL) && !(json_is(task, JSON_TEXT) && multiagent_is_blank(task->text)))
			return true;
	}
	return false;
}

/*
 * Does the sender end its task with such a message?  It does not if it
 * proposes further work.
 */
static bool
multiagent_ends(const Json *raw, Slice intent)
{
	static const char *const ends[] = {"execute", "analyze", "retrieve", "summarize", NULL};

	if (slice_is(intent, "finalize"))
		return true;
	for (const char *const *end = ends; *end != NULL; end++)
		if (slice_is(intent, *end))
			return !multiagent_proposes(raw);
	return false;
}

/*
 * Returns the type of the envelope.  in_task says that the message belongs to
 * a task, on which it may report.
 */
static MessageType
multiagent_read_type(const Json *raw, bool in_task)
{
	Slice		role = json_get_text(raw, "/role");
	Slice		intent = json_get_text(raw, "/intent");
	Slice		content = json_get_text(raw, "/content/type");
	bool		is_tool = slice_is(role, "tool");

	if (slice_is(content, "error"))
		return is_tool ? MSG_TOOL_ERROR : in_task ? MSG_TASK_ERROR : MSG_CHAT_MESSAGE;
	if (is_tool && slice_is(content, "tool_result"))
		return MSG_TOOL_RESULT;
	if (slice_is(intent, "tool.call") && !slice_is(content, "tool_result"))
		return MSG_TOOL_CALL;
	if (slice_is(role, "system"))
		return json_get_kind(raw, "/content/data/supports", JSON_ARRAY) != NULL &&
			json_has_text(raw, "/agent/id") ? MSG_AGENT_REGISTER : MSG_CHAT_SYSTEM;
	if (slice_is(role, "user"))
		return MSG_TASK_REQUEST;
	if (!in_task)
		return MSG_CHAT_MESSAGE;
	return multiagent_ends(raw, intent) ? MSG_TASK_RESULT : MSG_TASK_PROGRESS;
}

static void
multiagent_default(const Json *envelope, const char **role, const char **intent)
{
	MessageType type = adapter_type(envelope);

	*role = message_type_is_agent(type) || type == MSG_CHAT_SYSTEM ? "system" :
		type == MSG_TASK_REQUEST ? "user" : type == MSG_TOOL_RESULT || type == MSG_TOOL_ERROR ? "tool" : "agent";
	*intent = type == MSG_TASK_REQUEST ? "execute" : type == MSG_TASK_RESULT ? "finalize" :
		type == MSG_TASK_ACCEPT ? "plan" : type == MSG_CHAT_MESSAGE ? "summarize" :
		type == MSG_TOOL_CALL || type == MSG_TOOL_RESULT || type == MSG_TOOL_ERROR ? "tool.call" : "reflect";
}

/* -------------------------------------------------------------------- lineage */

/*
 * Notes the message that began the conversation, which stands for the task.  A
 * user who says more in a conversation requests a subtask, because that task
 * has been requested already.
 */
static void
multiagent_note_task(const Adapter *self, const Json *raw, Json *root, Json *envelope)
{
	Json	   *id = adapter_find_name(self, raw, "/trace/id");
	bool		begins = root == id;

	if (adapter_type(envelope) != MSG_TASK_REQUEST || begins)
		adapter_note_native(self, envelope, "task_id", root);
	else
	{
		adapter_note_native(self, envelope, "task_id", id);
		adapter_note_native(self, envelope, "parent_task_id", root);
	}
}

static void
multiagent_read_trace(const Adapter *self, const Json *raw, const Json *context, Json *envelope)
{
	const Json *parents = adapter_find(self, raw, "/trace/parents", JSON_ARRAY);
	Json	   *others = json_new_array();
	Json	   *root = adapter_find_name(self, raw, "/trace/id");
	bool		is_answer = adapter_type(envelope) == MSG_TOOL_RESULT || adapter_type(envelope) == MSG_TOOL_ERROR;
	Slice		call;

	(void) adapter_find(self, raw, "/trace/cost", JSON_OBJECT);
	for (int i = 0; parents != NULL && i < parents->n; i++)
	{
		Json	   *parent = adapter_find_name(self, raw, json_path_index("/trace/parents", i));

		if (parent == NULL)
			adapter_fault(self, json_path_index("/trace/parents", i), "NULL_VALUE", "it is null");
		root = i == 0 ? parent : root;
		if (i < parents->n - 1)
			json_add(others, parent);
		else
			adapter_note_native(self, envelope, "reply_to", parent);
	}
	if (others->n > 0)
		adapter_note(self, envelope, "/parents", others);
	if (adapter_member(context, "/task_id") == NULL)
		multiagent_note_task(self, raw, root, envelope);
	if (!is_answer || (parents != NULL && parents->n > 0))
		return;
	call = json_is(root, JSON_TEXT) ? root->text : json_get_text(raw, "/timestamp");
	adapter_note_native(self, envelope, "reply_to",
						json_of_cstring(psprintf("call of %.*s", call.len, slice_present(call) ? call.s : "")));
	adapter_note(self, envelope, "/uncalled", json_of_bool(true));
}

static void
multiagent_write_trace(const Adapter *self, const Json *envelope, Json *document)
{
	const Json *noted = adapter_noted(self, envelope, "/parents");
	Json	   *parents = json_is(noted, JSON_ARRAY) ? json_copy(noted) : json_new_array();
	Json	   *last = adapter_native(self, envelope, "reply_to");

	if (last != NULL && !json_is_true(adapter_noted(self, envelope, "/uncalled"), ""))
		json_add(parents, last);
	if (parents->n > 0)
		json_put(document, "/trace/parents", parents);
}

/*
 * Returns a stub of the call that a result answers, because that call may
 * never have been sent.
 */
static Json *
multiagent_stub(const Adapter *self, const Json *raw, const Json *envelope)
{
	Json	   *stub = adapter_envelope(MSG_TOOL_CALL);
	Slice		agent = json_get_text(raw, "/agent/id");
	Slice		tool = multiagent_tool(raw);

	adapter_note_native(self, stub, "id", adapter_noted(self, envelope, "/native/reply_to"));
	adapter_mark_stub(self, stub);
	json_put_text(stub, "/payload/tool", slice_present(tool) ? tool : SLICE_OF("tool:unknown"));
	json_put(stub, "/payload/args", json_new_object());
	if (slice_present(agent))
		adapter_put_recipient(stub, adapter_agent_id(agent));
	return stub;
}

/* -------------------------------------------------------------------- inbound */

/* Any number that an envelope may have as a usage is allowed, because such an envelope becomes a message, too. */
static void
multiagent_check_tokens(const Adapter *self, const Json *raw, const char *path)
{
	const Json *tokens = adapter_find(self, raw, path, JSON_NUMBER);

	if (tokens != NULL && number_is_negative(tokens->number))
		adapter_fault(self, path, "NUMBER_OUT_OF_RANGE", "it is negative, and must be 0 or more");
}

static void
multiagent_check(const Adapter *self, const Json *raw)
{
	(void) adapter_require_word(self, raw, "/intent");
	(void) adapter_find(self, raw, "/agent", JSON_OBJECT);
	(void) adapter_find(self, raw, "/trace", JSON_OBJECT);
	if (adapter_find(self, raw, "/task", JSON_TEXT) == NULL)
		adapter_fault(self, "/task", "REQUIRED", "it is missing");
	if (adapter_find(self, raw, "/content", JSON_OBJECT) == NULL)
		adapter_fault(self, "/content", "REQUIRED", "it is missing");
	(void) adapter_require_word(self, raw, "/content/type");
	multiagent_check_tokens(self, raw, "/trace/cost/input_tokens");
	multiagent_check_tokens(self, raw, "/trace/cost/output_tokens");
}

static void
multiagent_read_role(const Adapter *self, const Json *raw, Json *envelope)
{
	Slice		role = adapter_require_word(self, raw, "/role");

	for (int i = 0; i < lengthof(multiagent_roles); i++)
		if (slice_is(role, multiagent_roles[i].foreign))
		{
			json_put_cstring(envelope, "/from/role", multiagent_roles[i].ours);
			return;
		}
	adapter_fault(self, "/role", "WRONG_VALUE", "it must be \"agent\", \"user\", \"system\" or \"tool\"");
}

static List *
multiagent_inbound(const Adapter *self, const Json *raw, const Json *context)
{
	const Json *parents = json_get_kind(raw, "/trace/parents", JSON_ARRAY);
	bool		in_task = (parents != NULL && parents->n > 0) || adapter_member(context, "/task_id") != NULL;
	Json	   *envelope;

	multiagent_check(self, raw);
	envelope = adapter_envelope(multiagent_read_type(raw, in_task));
	multiagent_read_role(self, raw, envelope);
	adapter_note(self, envelope, "/intent", json_get(raw, "/intent"));
	adapter_rows_inbound(self, multiagent_rows, raw, envelope);
	json_put_text(envelope, "/ts", adapter_find_time(self, raw, "/timestamp"));
	if (adapter_member(raw, "/timestamp") != NULL)
		adapter_note_native(self, envelope, "ts", json_of_bool(true));
	multiagent_read_trace(self, raw, context, envelope);
	multiagent_read_payload(self, raw, envelope);
	if (adapter_type(envelope) == MSG_TOOL_RESULT || adapter_type(envelope) == MSG_TOOL_ERROR)
		return list_make2(multiagent_stub(self, raw, envelope), envelope);
	return list_make1(envelope);
}

/* ------------------------------------------------------------------ outbound */

static void
multiagent_write_content_type(const Json *envelope, Json *document)
{
	MessageType type = adapter_type(envelope);
	bool		was_error = json_says(document, "/content/type", "error");

	if (adapter_is_error(type))
		json_put_cstring(document, "/content/type", "error");
	else if (type == MSG_TOOL_RESULT)
		json_put_cstring(document, "/content/type", "tool_result");
	else if (json_get(document, "/content/type") == NULL || (was_error && type != MSG_CHAT_MESSAGE))
		json_put_cstring(document, "/content/type",
						 json_get(document, "/content/data") != NULL ? "json" : "text");
}

/* Can the document be read as an envelope of that type? */
static bool
multiagent_reads_as(const Json *document, MessageType type)
{
	return multiagent_read_type(document, true) == type || multiagent_read_type(document, false) == type;
}

/*
 * Writes the original role and intent, unless they would make the document be
 * read as another type.  The role is given up first, because an agent's
 * request, for example, has the role of a user, but any intent.
 */
static void
multiagent_write_type(const Adapter *self, const Json *envelope, Json *document)
{
	MessageType type = adapter_type(envelope);
	Json	   *noted = adapter_noted(self, envelope, "/intent");
	Slice		own = json_get_text(envelope, "/from/role");
	const char *role;
	const char *intent;

	multiagent_default(envelope, &role, &intent);
	json_put_cstring(document, "/role", role);
	json_put_cstring(document, "/intent", intent);
	if (!multiagent_is_message(self, envelope))
		return;
	for (int i = 0; i < lengthof(multiagent_roles) && slice_present(own); i++)
		if (slice_is(own, multiagent_roles[i].ours))
			json_put_cstring(document, "/role", multiagent_roles[i].foreign);
	json_put(document, "/intent", noted);
	if (multiagent_reads_as(document, type))
		return;
	json_put_cstring(document, "/role", role);
	if (!multiagent_reads_as(document, type))
		json_put_cstring(document, "/intent", intent);
}

static Json *
multiagent_outbound(const Adapter *self, const Json *envelope)
{
	Json	   *document = multiagent_document_of(self, envelope);
	bool		foreign = adapter_was_foreign(self, envelope);

	json_put_cstring(document, "/protocol", PROTOCOL);
	multiagent_write_content_type(envelope, document);
	adapter_rows_outbound(self, multiagent_rows, envelope, document);
	if (!foreign && json_get(document, "/agent/name") == NULL)
		json_put(document, "/agent/name", json_get(document, "/agent/id"));
	if (!foreign && json_get(document, "/agent/model") == NULL)
		json_put_cstring(document, "/agent/model", "n/a");
	if (!foreign || adapter_noted(self, envelope, "/native/ts") != NULL)
		json_put(document, "/timestamp", json_get(envelope, "/ts"));
	multiagent_write_trace(self, envelope, document);
	multiagent_write_type(self, envelope, document);
	return document;
}

static const char *
multiagent_declines(const Adapter *self, const Json *raw)
{
	if (!json_is(raw, JSON_OBJECT))
		return "it is not an object";
	return json_says(raw, "/protocol", PROTOCOL) ? NULL : "its protocol is not \"" PROTOCOL "\"";
}

static bool
multiagent_is_parent(const Json *document, const Json *id)
{
	const Json *parents = json_get_kind(document, "/trace/parents", JSON_ARRAY);

	for (int i = 0; parents != NULL && i < parents->n; i++)
		if (json_equal(parents->items[i], id))
			return true;
	return false;
}

/*
 * A message that answers another one has its parents, and last the message
 * itself.  If it has this one among its parents, they are its own.
 */
static void
multiagent_names_request(const Adapter *self, const Json *request, const Json *asked, Json *document)
{
	const Json *parents = json_get_kind(asked, "/trace/parents", JSON_ARRAY);
	Json	   *id = json_get(asked, "/trace/id");
	Json	   *all = parents != NULL ? json_copy_top(parents) : json_new_array();

	if (id == NULL || multiagent_is_parent(document, id))
		return;
	json_add(all, id);
	json_put(document, "/trace/parents", all);
}

const Adapter multiagent_adapter = {
	.name = "multiagent",
	.carrier = "/inputs/parameters/clutch",
	.declines = multiagent_declines,
	.inbound = multiagent_inbound,
	.outbound = multiagent_outbound,
	.names_request = multiagent_names_request,
	.conversation = "/parents",
};
