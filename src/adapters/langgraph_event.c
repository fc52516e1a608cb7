/*-------------------------------------------------------------------------
 *
 * langgraph_event.c
 *	  LangGraph: stream events, version 2.
 *
 * If the metadata of an event names no node, the event belongs to the run as a
 * whole.  Otherwise it belongs to the node itself, if it is about the node's
 * own step, or to something within the node.  The note "begins" is true for
 * events of the run as a whole.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/langgraph_part.h"

#include "adapters/tooling.h"

#define OWN_EVENT	"clutch."

/*
 * Does the event belong to the node itself, as opposed to something within it?
 */
static bool
langgraph_is_step(const Json *raw)
{
	const Json *tags = json_get_kind(raw, "/tags", JSON_ARRAY);
	Slice		node = json_get_text(raw, "/metadata/langgraph_node");
	Slice		name = json_get_text(raw, "/name");

	for (int i = 0; tags != NULL && i < tags->n; i++)
		if (tags->items[i]->kind == JSON_TEXT && slice_starts(tags->items[i]->text, SLICE_OF("graph:step:")))
			return true;
	return slice_present(node) && slice_present(name) && slice_equal(node, name);
}

static bool
langgraph_is_whole(const Json *raw)
{
	return !json_has_text(raw, "/metadata/langgraph_node");
}

/*
 * Returns the type in the name of an event that this adapter wrote, or
 * MSG_UNKNOWN for any other event.
 */
static MessageType
langgraph_own_type(const Json *raw)
{
	Slice		name = json_get_text(raw, "/name");
	int			prefix = strlen(OWN_EVENT);
	MessageType type = slice_present(name) && slice_starts(name, SLICE_OF(OWN_EVENT)) ?
		message_type_parse(slice_after(name, prefix)) : MSG_UNKNOWN;

	/*
	 * all other types either have events of their own, or a payload whose
	 * content the door checks
	 */
	return type == MSG_TASK_CANCEL || type == MSG_CHAT_SYSTEM ? type : MSG_UNKNOWN;
}

static MessageType
langgraph_event_type(const Json *raw, const Json *context)
{
	Slice		event = json_get_text(raw, "/event");
	bool		whole = langgraph_is_whole(raw);
	bool		working = json_get(raw, "/metadata/clutch_task") != NULL || langgraph_has_task(context);

	if (slice_is(event, "on_custom_event"))
		return langgraph_own_type(raw) != MSG_UNKNOWN ? langgraph_own_type(raw) : MSG_TASK_PROGRESS;
	if (slice_is(event, "on_tool_start"))
		return MSG_TOOL_CALL;
	if (slice_is(event, "on_tool_end"))
		return langgraph_answer_type(json_get(raw, "/data/output"));
	if (slice_is(event, "on_tool_error"))
		return MSG_TOOL_ERROR;
	if (slice_is(event, "on_chat_model_end") || slice_is(event, "on_llm_end"))
		return MSG_CHAT_MESSAGE;
	if ((!whole && !langgraph_is_step(raw)) || langgraph_interrupts(json_get(raw, "/data/output")))
		return MSG_TASK_PROGRESS;
	if (slice_is(event, "on_chain_start"))
		return whole && !working ? MSG_TASK_REQUEST : MSG_TASK_ACCEPT;
	/*
	 * an interrupted run ends like any other, so only the context can say that
	 * it has asked a question
	 */
	if (whole && json_is_true(context, "/interrupted"))
		return MSG_TASK_PROGRESS;
	return slice_is(event, "on_chain_end") ? MSG_TASK_RESULT : MSG_TASK_PROGRESS;
}

/*
 * Returns what in the data of an event has interrupts, or NULL.  Sets *at to
 * its path: the output, or a chunk of a stream.  If the stream has several
 * modes or shows subgraphs, the chunk is [mode, data], [namespace, data] or
 * [namespace, mode, data], in which the path is that of the array.
 */
static Json *
langgraph_asking(const Json *data, const char **at)
{
	Json	   *chunk = json_get(data, "/chunk");
	Json	   *last = json_is(chunk, JSON_ARRAY) && (chunk->n == 2 || chunk->n == 3) ? chunk->items[chunk->n - 1] : chunk;

	*at = "/output";
	if (langgraph_interrupts(json_get(data, "/output")))
		return json_get(data, "/output");
	*at = "/chunk";
	return langgraph_interrupts(last) ? last : NULL;
}

/* Is it a piece of a value that a later event contains as a whole? */
static bool
langgraph_is_stream(const Json *raw)
{
	Slice		event = json_get_text(raw, "/event");
	int			suffix = strlen("_stream");
	const char *at;

	return event.len > suffix && memcmp(event.s + event.len - suffix, "_stream", suffix) == 0 &&
		langgraph_asking(json_get(raw, "/data"), &at) == NULL;
}

/* ------------------------------------------------------------------ inbound */

/*
 * Returns the arguments of a tool that are the only member "input" of the
 * input, or NULL if the input is not of this form.
 */
static Json *
langgraph_inner_input(const Json *data)
{
	const Json *input = json_get_kind(data, "/input", JSON_OBJECT);

	return input != NULL && input->n == 1 ? adapter_member(input, "/input") : NULL;
}

/* Notes where interrupts were, and what was before them if they were in an array. */
static void
langgraph_read_progress(const Adapter *self, Json *data, Json *envelope)
{
	const char *at;
	Json	   *asking = langgraph_asking(data, &at);
	Json	   *around;

	langgraph_put_progress(self, envelope, asking != NULL ? asking : data);
	if (asking == NULL)
		return;
	adapter_note(self, envelope, "/asks", json_of_cstring(at));
	around = json_copy(json_get_kind(data, at, JSON_ARRAY));
	if (around == NULL)
		return;
	json_take_at(around, around->n - 1);
	adapter_note(self, envelope, "/around", around);
}

static void
langgraph_read_data(const Adapter *self, const Json *raw, Json *envelope)
{
	Json	   *data = adapter_member(raw, "/data");
	Json	   *args;

	switch (adapter_type(envelope))
	{
		case MSG_TOOL_CALL:
			json_put(envelope, "/payload", json_new_object());
			tooling_put_name(self, envelope, "/name", adapter_require_word(self, raw, "/name"));
			args = langgraph_inner_input(data);
			if (args != NULL)
				adapter_note(self, envelope, "/inner", json_of_bool(true));
			tooling_put_args(self, envelope, args != NULL ? args : adapter_member(data, "/input"));
			break;
		case MSG_TOOL_RESULT:
			langgraph_put_answer(self, envelope, adapter_member(data, "/output"));
			break;
		case MSG_TOOL_ERROR:
			if (json_says(raw, "/event", "on_tool_end"))
				langgraph_put_answer(self, envelope, json_get(data, "/output"));
			else
				tooling_put_error(self, envelope, TOOLING_ERROR, json_get(data, "/error"));
			break;
		case MSG_CHAT_MESSAGE:
			langgraph_put_message(self, envelope, adapter_member(data, "/output"));
			break;
		case MSG_TASK_PROGRESS:
			langgraph_read_progress(self, data, envelope);
			break;
		default:
			adapter_put_payload(self, envelope, data);
	}
}

/*
 * Notes the ID of an event.  A run has one event each for its start, end and
 * error; others are told apart by their content.
 */
static void
langgraph_note_id(const Adapter *self, const Json *raw, Json *envelope, const Json *context)
{
	Slice		event = json_get_text(raw, "/event");
	Slice		run = json_get_text(raw, "/run_id");
	const char *last = event.s + event.len;

	while (last > event.s && last[-1] != '_')
		last--;
	if (slice_is(event, "on_tool_start"))
		adapter_note_native(self, envelope, "id", json_of_text(run));
	else if (slice_is(event, "on_custom_event") || event.s + event.len - last == strlen("stream"))
		langgraph_note_seq(self, envelope, context, run);
	else
		adapter_note_native(self, envelope, "id", json_of_cstring(psprintf("%.*s/%.*s", run.len, run.s,
																		   (int) (event.s + event.len - last), last)));
	if (adapter_type(envelope) == MSG_TOOL_RESULT || adapter_type(envelope) == MSG_TOOL_ERROR)
		adapter_note_native(self, envelope, "reply_to", json_of_text(run));
}

/*
 * Returns the native ID of the run as a whole, which is the first of the
 * parents.  Only the Python library names them.
 */
static Json *
langgraph_root(const Adapter *self, const Json *raw, bool begins)
{
	Json	   *parents = adapter_find(self, raw, "/parent_ids", JSON_ARRAY);

	if (parents != NULL && parents->n > 0)
		return adapter_find_name(self, raw, "/parent_ids/0");
	return parents != NULL || (begins && json_get(raw, "/metadata/run_id") == NULL && json_get(raw, "/metadata/thread_id") == NULL) ?
		json_get(raw, "/run_id") : NULL;
}

/*
 * Notes which task the run as a whole is, if only the ID of the run itself
 * says it.  The events of the nodes do not have that ID in JavaScript, so it
 * does not determine the run.
 */
static void
langgraph_note_task(const Adapter *self, const Json *raw, Json *envelope, const Json *context)
{
	if (!langgraph_has_task(context) && json_get(envelope, "/task_id") == NULL &&
		adapter_noted(self, envelope, "/native/task_id") == NULL)
		adapter_note_native(self, envelope, "task_id", json_get(raw, "/run_id"));
}

/*
 * Returns a stub of the tool.call or the task.request that the event needs, or
 * NULL if it needs none.
 */
static Json *
langgraph_stub(const Adapter *self, const Json *raw, const Json *envelope, const Json *context)
{
	Slice		name = adapter_find_word(self, raw, "/name");
	Slice		task = langgraph_node_task(json_get(raw, "/metadata"));
	Slice		agent = json_get_text(envelope, "/from/agent_id");
	Json	   *stub = NULL;

	if (adapter_noted(self, envelope, "/native/reply_to") != NULL)
	{
		stub = tooling_stub(self, json_get(raw, "/run_id"), "/name", slice_present(name) ? name : SLICE_OF("unknown"));
		json_put(stub, "/from", json_get(envelope, "/from"));
	}
	else if (adapter_type(envelope) == MSG_TASK_ACCEPT && slice_present(task) && slice_present(agent))
		stub = langgraph_task_stub(self, task, agent, context);
	return stub;
}

List *
langgraph_read_event(const Adapter *self, const Json *raw, const Json *context)
{
	MessageType type = langgraph_event_type(raw, context);
	bool		begins = langgraph_is_whole(raw);
	Json	   *envelope = adapter_envelope(type);
	Json	   *metadata = adapter_find(self, raw, "/metadata", JSON_OBJECT);
	Slice		name = adapter_find_word(self, raw, "/name");
	Json	   *stub;

	(void) adapter_require_word(self, raw, "/run_id");
	(void) adapter_find(self, raw, "/data", JSON_OBJECT);
	if (langgraph_is_stream(raw) && !json_is_true(context, "/stream"))
		return NIL;
	if (begins)
		adapter_note(self, envelope, "/begins", json_of_bool(true));
	adapter_note(self, envelope, "/event", json_get(raw, "/event"));
	adapter_note(self, envelope, "/run", json_get(raw, "/run_id"));
	adapter_note(self, envelope, "/name", adapter_member(raw, "/name"));
	adapter_note(self, envelope, "/parents", adapter_member(raw, "/parent_ids"));
	langgraph_read_place(adapter_within(self, "/metadata"), metadata != NULL ? metadata : json_new_object(),
						 envelope, context, langgraph_root(self, raw, begins), begins);
	if (begins && message_type_is_task(type))
		langgraph_note_task(self, raw, envelope, context);
	if (begins && type == MSG_TASK_REQUEST && slice_present(name))
		langgraph_put_recipient(envelope, context, adapter_find_agent(self, raw, "/name"));
	else if (begins && message_type_is_task(type))
		json_put_text(envelope, "/from/agent_id", adapter_find_agent(self, raw, "/name"));
	langgraph_note_id(self, raw, envelope, context);
	langgraph_read_data(self, raw, envelope);
	stub = langgraph_stub(self, raw, envelope, context);
	return stub != NULL ? list_make2(stub, envelope) : list_make1(envelope);
}

/* ----------------------------------------------------------------- outbound */

static const char *
langgraph_event_name(const Adapter *self, const Json *envelope)
{
	Slice		noted = json_get_text(adapter_noted(self, envelope, ""), "/event");

	if (slice_present(noted))
		return slice_cstring(noted);
	switch (adapter_type(envelope))
	{
		case MSG_TASK_ACCEPT:
			return "on_chain_start";
		case MSG_TASK_RESULT:
			return "on_chain_end";
		case MSG_TOOL_CALL:
			return "on_tool_start";
		case MSG_TOOL_RESULT:
			return "on_tool_end";
		case MSG_TOOL_ERROR:
			return "on_tool_error";
		case MSG_CHAT_MESSAGE:
			return "on_chat_model_end";
		default:
			return "on_custom_event";
	}
}

/* The reverse of langgraph_read_progress, for data with interrupts. */
static Json *
langgraph_asking_of(const Adapter *self, const Json *envelope)
{
	Json	   *around = json_copy(json_get_kind(adapter_noted(self, envelope, ""), "/around", JSON_ARRAY));
	Json	   *progress = langgraph_progress_of(self, envelope);

	if (around == NULL)
		return progress;
	json_add(around, progress);
	return around;
}

static Json *
langgraph_data_of(const Adapter *self, const Json *envelope)
{
	Json	   *data = json_new_object();
	Slice		asks = json_get_text(adapter_noted(self, envelope, ""), "/asks");

	switch (adapter_type(envelope))
	{
		case MSG_TOOL_CALL:
			json_put(data, json_is_true(adapter_noted(self, envelope, ""), "/inner") ? "/input/input" : "/input",
					 tooling_args(self, envelope));
			break;
		case MSG_TOOL_RESULT:
			json_put(data, "/output", langgraph_answer_of(self, envelope));
			break;
		case MSG_TOOL_ERROR:
			if (adapter_noted(self, envelope, "/message") != NULL)
				json_put(data, "/output", langgraph_answer_of(self, envelope));
			else
				json_put(data, "/error", tooling_error(self, envelope));
			break;
		case MSG_CHAT_MESSAGE:
			json_put(data, "/output", langgraph_message_of(self, envelope));
			break;
		case MSG_TASK_PROGRESS:
			if (!slice_present(asks))
				return langgraph_progress_of(self, envelope);
			json_put(data, slice_cstring(asks), langgraph_asking_of(self, envelope));
			break;
		default:
			return adapter_payload(self, envelope);
	}
	return data;
}

/*
 * Returns the name of the tool, the node or the graph that the event belongs
 * to, or else the noted name.
 */
static Json *
langgraph_name_of(const Adapter *self, const Json *envelope)
{
	MessageType type = adapter_type(envelope);
	Json	   *noted = adapter_noted(self, envelope, "/name");
	Slice		agent = json_get_text(envelope, type == MSG_TASK_REQUEST ? "/to/0/agent_id" : "/from/agent_id");

	if (type == MSG_TOOL_CALL)
		return json_of_text(tooling_name(envelope));
	if (type == MSG_TASK_ACCEPT || type == MSG_TASK_RESULT ||
		(noted != NULL && message_type_is_task(type) && json_is_true(adapter_noted(self, envelope, ""), "/begins")))
		return slice_present(agent) ? json_of_text(adapter_agent_name(agent)) : noted;
	if (noted == NULL && !adapter_was_foreign(self, envelope))
		return json_of_cstring(psprintf(OWN_EVENT "%s", message_type_name(type)));
	return noted;
}

Json *
langgraph_event_of(const Adapter *self, const Json *envelope)
{
	Json	   *raw = json_new_object();
	Json	   *metadata = json_new_object();
	Json	   *run = adapter_noted(self, envelope, "/run");
	Json	   *data = langgraph_data_of(self, envelope);
	bool		answers = adapter_type(envelope) == MSG_TOOL_RESULT || adapter_type(envelope) == MSG_TOOL_ERROR;

	if (run == NULL && answers)
		run = adapter_native(self, envelope, "reply_to");
	if (run == NULL)
		run = adapter_native(self, envelope, "id");
	if (run == NULL)
		run = json_get(envelope, "/id");
	json_put_cstring(raw, "/event", langgraph_event_name(self, envelope));
	json_put(raw, "/run_id", run);
	json_put(raw, "/name", langgraph_name_of(self, envelope));
	json_put(raw, "/parent_ids", adapter_noted(self, envelope, "/parents"));
	json_put(raw, "/data", data != NULL ? data : json_new_object());
	langgraph_write_place(self, envelope, metadata);
	if (metadata->n > 0)
		json_put(raw, "/metadata", metadata);
	return raw;
}
