/*-------------------------------------------------------------------------
 *
 * langgraph.c
 *	  LangGraph: the adapter itself, and the forms in which documents wrap
 *	  their data.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/langgraph_part.h"

#define FAILURE	"/__error__"

/*
 * the values of the notes "form" and "type", indexed by LanggraphForm and
 * LanggraphKind
 */
static const char *const langgraph_forms[] = {"bare", "sse", "tuple", "part", "protocol", "failure"};
static const char *const langgraph_kinds[] = {"event", "task", "debug", "message", "error", "run", "chunk"};

/* where interrupts stand beside the data, in the forms that have such a place */
static const char *const langgraph_beside[] = {NULL, NULL, NULL, "/interrupts", "/params/interrupts", NULL};

static const char *const langgraph_modes[] = {
	"values", "updates", "custom", "messages", "debug", "tasks", "checkpoints", "events", "metadata", "error", "end",
	"messages/metadata", "messages/partial", "messages/complete"
};

/*
 * Returns the mode without the namespace that may follow it, or an absent
 * slice if the text is not a mode.
 */
static Slice
langgraph_mode(Slice text)
{
	const char *bar = slice_present(text) ? memchr(text.s, '|', text.len) : NULL;
	Slice		mode = bar != NULL ? (Slice) {text.s, bar - text.s} : text;

	return slice_find(mode, langgraph_modes, lengthof(langgraph_modes)) >= 0 ? mode : SLICE_NONE;
}

/* --------------------------------------------------------- what a document is */

static bool
langgraph_is_event(const Json *data)
{
	Slice		event = json_get_text(data, "/event");

	return slice_present(event) && slice_starts(event, SLICE_OF("on_")) && json_has_text(data, "/run_id");
}

static bool
langgraph_is_task(const Json *data)
{
	return json_has_text(data, "/id") && json_has_text(data, "/name") &&
		(json_get_kind(data, "/triggers", JSON_ARRAY) != NULL ||
		 (json_get_kind(data, "/interrupts", JSON_ARRAY) != NULL &&
		  (json_get(data, "/result") != NULL || json_get(data, "/error") != NULL)));
}

bool
langgraph_is_debug(const Json *data)
{
	int64		step;
	Slice		type = json_get_text(data, "/type");

	return json_get_int(data, "/step", &step) && json_get(data, "/payload") != NULL && slice_present(type) &&
		json_get(data, "/timestamp") != NULL &&
		(slice_is(type, "checkpoint") || slice_is(type, "task") || slice_is(type, "task_result"));
}

static bool
langgraph_is_run(const Json *data)
{
	return json_has_text(data, "/assistant_id") &&
		(json_get(data, "/input") != NULL || json_get(data, "/command") != NULL);
}

/*
 * Is it {"__error__": {error, message}}, with which a server answers instead of
 * the final values?  The carrier may stand beside it.
 */
static bool
langgraph_is_failure(const Json *raw)
{
	return json_is(raw, JSON_OBJECT) && json_get_kind(raw, FAILURE, JSON_OBJECT) != NULL &&
		raw->n == 1 + (json_get(raw, "/clutch") != NULL);
}

static LanggraphKind
langgraph_kind(const LanggraphChunk *chunk)
{
	bool		are_pieces;

	if (langgraph_is_event(chunk->data))
		return LANGGRAPH_EVENT;
	if (slice_is(chunk->mode, "error"))
		return LANGGRAPH_ERROR;
	if (langgraph_is_task(chunk->data))
		return LANGGRAPH_TASK;
	if (langgraph_is_debug(chunk->data) && langgraph_is_task(json_get(chunk->data, "/payload")))
		return LANGGRAPH_DEBUG;
	if (langgraph_has_messages(chunk->data, &are_pieces) && !are_pieces &&
		!slice_is(chunk->mode, "messages/partial"))
		return LANGGRAPH_MESSAGE;
	return chunk->form == LANGGRAPH_BARE && langgraph_is_run(chunk->data) ? LANGGRAPH_RUN : LANGGRAPH_CHUNK;
}

/* Opens [mode, data] or [namespace, mode, data]. */
static bool
langgraph_open_tuple(Json *raw, LanggraphChunk *chunk)
{
	int			n = json_is(raw, JSON_ARRAY) ? raw->n : 0;

	if ((n != 2 && n != 3) || raw->items[n - 2]->kind != JSON_TEXT || (n == 3 && raw->items[0]->kind != JSON_ARRAY) ||
		slice_find(raw->items[n - 2]->text, langgraph_modes, lengthof(langgraph_modes)) < 0)
		return false;
	*chunk = (LanggraphChunk) {LANGGRAPH_TUPLE, LANGGRAPH_CHUNK, raw->items[n - 2]->text, n == 3 ? raw->items[0] : NULL,
		raw->items[n - 1], n == 3 ? "/2" : "/1"};
	return true;
}

/*
 * Opens what is wrapped around the data.  Returns false if the document is the
 * bare data.
 */
static bool
langgraph_open_around(Json *raw, LanggraphChunk *chunk)
{
	Slice		type = json_get_text(raw, "/type");
	Slice		mode = langgraph_mode(json_get_text(raw, "/event"));

	if (langgraph_open_tuple(raw, chunk))
		return true;
	if (slice_present(mode) && json_get(raw, "/data") != NULL && json_get(raw, "/run_id") == NULL)
		*chunk = (LanggraphChunk) {LANGGRAPH_SSE, LANGGRAPH_CHUNK, json_get_text(raw, "/event"), NULL, json_get(raw, "/data"), "/data"};
	else if (slice_present(langgraph_mode(type)) && json_get_kind(raw, "/ns", JSON_ARRAY) != NULL && json_get(raw, "/data") != NULL)
		*chunk = (LanggraphChunk) {LANGGRAPH_PART, LANGGRAPH_CHUNK, type, json_get(raw, "/ns"), json_get(raw, "/data"), "/data",
			json_get(raw, langgraph_beside[LANGGRAPH_PART])};
	else if (slice_is(type, "event") && json_has_text(raw, "/method") &&
			 json_get(raw, "/params/data") != NULL)
		*chunk = (LanggraphChunk) {LANGGRAPH_PROTOCOL, LANGGRAPH_CHUNK, json_get_text(raw, "/method"),
			json_get(raw, "/params/namespace"), json_get(raw, "/params/data"), "/params/data",
			json_get(raw, langgraph_beside[LANGGRAPH_PROTOCOL])};
	else if (langgraph_is_failure(raw))
		*chunk = (LanggraphChunk) {LANGGRAPH_FAILURE, LANGGRAPH_CHUNK, SLICE_OF("error"), NULL, json_get(raw, FAILURE), FAILURE};
	else
		return false;
	return true;
}

/* Is it an array of messages, without metadata as its last element? */
static bool
langgraph_is_list(const Json *data)
{
	return data->kind == JSON_ARRAY && data->n > 0 && langgraph_is_message(data->items[data->n - 1]);
}

/*
 * Does the bare data belong to LangGraph?  A list of messages is a batch of
 * documents, unless something around it says otherwise.
 */
static bool
langgraph_is_ours(const LanggraphChunk *chunk)
{
	bool		are_pieces;

	if (langgraph_has_messages(chunk->data, &are_pieces))
		return !langgraph_is_list(chunk->data);
	return chunk->kind != LANGGRAPH_CHUNK || langgraph_interrupts(chunk->data) || langgraph_is_debug(chunk->data);
}

/*
 * Determines what a document is.  Returns false if it does not belong to
 * LangGraph.
 */
static bool
langgraph_open(Json *raw, LanggraphChunk *chunk)
{
	bool		is_wrapped = langgraph_open_around(raw, chunk);

	if (!is_wrapped)
		*chunk = (LanggraphChunk) {LANGGRAPH_BARE, LANGGRAPH_CHUNK, SLICE_NONE, NULL, raw, ""};
	chunk->kind = langgraph_kind(chunk);
	return is_wrapped || langgraph_is_ours(chunk);
}

static const char *
langgraph_declines(const Adapter *self, const Json *raw)
{
	LanggraphChunk chunk;

	return langgraph_open(unconstify(Json *, raw), &chunk) ? NULL :
		"it is not an event, a chunk of a stream, a message or a request for a run of LangGraph";
}

bool
langgraph_is_bare(const Json *raw)
{
	LanggraphChunk chunk;

	return json_is(raw, JSON_OBJECT) && !langgraph_open_around(unconstify(Json *, raw), &chunk);
}

/* the members that LangGraph gives to a task that is over, to what it wraps around one, and to an event */
static const char *const langgraph_task_members[] = {"id", "name", "error", "result", "interrupts", "clutch"};
static const char *const langgraph_debug_members[] = {"type", "step", "timestamp", "payload", "clutch"};
static const char *const langgraph_event_members[] = {"event", "name", "run_id", "parent_ids", "tags", "metadata", "data", "clutch"};

static bool
langgraph_has_only(const Json *object, const char *const *members, int n)
{
	for (int i = 0; i < object->n; i++)
		if (slice_find(object->keys[i], members, n) < 0)
			return false;
	return true;
}

static bool
langgraph_is_ended_task(const Json *task)
{
	return (json_get(task, "/result") != NULL || json_get(task, "/error") != NULL) &&
		langgraph_has_only(task, langgraph_task_members, lengthof(langgraph_task_members));
}

/*
 * No server answers with a request for a run, with a task that has only begun,
 * with a checkpoint, with an event that lacks what all events have, or with the
 * answer of a tool that does not say which call it is for.  And if a task or an
 * event has a member that LangGraph does not give it, the whole is the values,
 * because that member would be lost.
 */
bool
langgraph_are_values(const Json *raw)
{
	LanggraphChunk chunk;

	if (!langgraph_is_bare(raw) || !langgraph_open(unconstify(Json *, raw), &chunk))
		return false;
	if (chunk.kind == LANGGRAPH_TASK)
		return !langgraph_is_ended_task(raw);
	if (chunk.kind == LANGGRAPH_DEBUG)
		return !langgraph_is_ended_task(json_get(raw, "/payload")) ||
			!langgraph_has_only(raw, langgraph_debug_members, lengthof(langgraph_debug_members));
	if (chunk.kind == LANGGRAPH_EVENT)
		return json_get(raw, "/data") == NULL || !json_has_text(raw, "/name") ||
			!langgraph_has_only(raw, langgraph_event_members, lengthof(langgraph_event_members));
	if (chunk.kind == LANGGRAPH_CHUNK)
		return langgraph_is_debug(raw) && !langgraph_interrupts(raw);
	return chunk.kind == LANGGRAPH_RUN ||
		(chunk.kind == LANGGRAPH_MESSAGE && json_says(raw, "/type", "tool") && json_get(raw, "/tool_call_id") == NULL);
}

/* ------------------------------------------------------------------ inbound */

/*
 * Is it a piece of a message that will follow as a whole, while the caller
 * does not want pieces, or does it only say that the stream ends?
 */
static bool
langgraph_is_dropped(const LanggraphChunk *chunk, const Json *context)
{
	bool		are_pieces;

	if (chunk->kind == LANGGRAPH_CHUNK && slice_is(chunk->mode, "end"))
		return true;
	if (chunk->kind != LANGGRAPH_CHUNK || json_is_true(context, "/stream"))
		return false;
	return (slice_present(chunk->mode) && slice_starts(chunk->mode, SLICE_OF("messages/partial"))) ||
		(langgraph_has_messages(chunk->data, &are_pieces) && are_pieces);
}

static List *
langgraph_read(const Adapter *self, const LanggraphChunk *chunk, const Json *context)
{
	switch (chunk->kind)
	{
		case LANGGRAPH_EVENT:
			return langgraph_read_event(self, chunk->data, context);
		case LANGGRAPH_TASK:
			return langgraph_read_task(self, chunk->data, context);
		case LANGGRAPH_DEBUG:
			return langgraph_read_debug(self, chunk->data, context);
		case LANGGRAPH_MESSAGE:
			return langgraph_read_messages(self, chunk->data, context);
		case LANGGRAPH_ERROR:
			return langgraph_read_error(self, chunk->data);
		case LANGGRAPH_RUN:
			return langgraph_read_run(self, chunk->data, context);
		case LANGGRAPH_CHUNK:
			break;
	}
	return langgraph_read_chunk(self, chunk, context);
}

/* Notes how the document wraps its data, and what the data is. */
static void
langgraph_note_form(const Adapter *self, Json *envelope, const LanggraphChunk *chunk)
{
	adapter_note(self, envelope, "/form", json_of_cstring(langgraph_forms[chunk->form]));
	adapter_note(self, envelope, "/kind", json_of_cstring(langgraph_kinds[chunk->kind]));
	adapter_note(self, envelope, "/type", json_get(envelope, "/type"));
	if (slice_present(chunk->mode))
		adapter_note(self, envelope, "/mode", json_of_text(chunk->mode));
	adapter_note(self, envelope, "/ns", chunk->ns);
	if (chunk->kind != LANGGRAPH_MESSAGE || chunk->data->kind != JSON_ARRAY)
		return;
	adapter_note(self, envelope, "/list", json_of_bool(true));
	if (langgraph_is_list(chunk->data))
		adapter_note(self, envelope, "/alone", json_of_bool(true));
}

/*
 * Notes the ID of the document around the data, if the data has none.  Some
 * servers number the documents of each stream from 0 on, and the stream of a
 * run that is resumed does so again.  So such an ID does not identify the
 * document.  Its content does, of which the ID is a part, or the number in the
 * context.
 */
static void
langgraph_note_outer_id(const Adapter *self, Json *envelope, const LanggraphChunk *chunk, Slice id, const Json *context)
{
	if (adapter_noted(self, envelope, "/native/id") != NULL || chunk->kind == LANGGRAPH_EVENT)
		return;
	if (slice_present(id))
		adapter_note(self, envelope, "/number", json_of_text(id));
	langgraph_note_seq(self, envelope, context, chunk->mode);
}

/* The task of a node in a subgraph belongs to the task of the node that contains the subgraph. */
static void
langgraph_note_outer_task(const Adapter *self, Json *envelope, const LanggraphChunk *chunk)
{
	Slice		outer = langgraph_outer_task(chunk);

	if (!slice_present(outer) || (chunk->kind != LANGGRAPH_TASK && chunk->kind != LANGGRAPH_DEBUG))
		return;
	json_take(envelope, "/parent_task_id");
	adapter_note_native(self, envelope, "parent_task_id", json_of_text(outer));
}

static List *
langgraph_inbound(const Adapter *self, const Json *raw, const Json *context)
{
	LanggraphChunk chunk;
	List	   *envelopes;
	Json	   *bearer;
	Slice		id;

	if (!langgraph_open(unconstify(Json *, raw), &chunk))
		adapter_fault(self, "", "WRONG_TYPE", "%s", langgraph_declines(self, raw));
	id = chunk.form == LANGGRAPH_BARE ? SLICE_NONE : adapter_find_word(self, raw, chunk.form == LANGGRAPH_SSE ? "/id" : "/event_id");
	if (langgraph_is_dropped(&chunk, context))
		return NIL;
	envelopes = langgraph_read(adapter_within(self, chunk.at), &chunk, context);
	bearer = adapter_bearer(self, envelopes);
	if (bearer == NULL)
		return NIL;
	langgraph_note_outer_task(self, bearer, &chunk);
	langgraph_note_form(self, bearer, &chunk);
	langgraph_note_outer_id(self, bearer, &chunk, id, context);
	return envelopes;
}

/* ----------------------------------------------------------------- outbound */

static Json *
langgraph_data(const Adapter *self, LanggraphKind kind, const Json *envelope)
{
	switch (kind)
	{
		case LANGGRAPH_EVENT:
			return langgraph_event_of(self, envelope);
		case LANGGRAPH_TASK:
			return langgraph_task_of(self, envelope);
		case LANGGRAPH_DEBUG:
			return langgraph_debug_of(self, envelope);
		case LANGGRAPH_MESSAGE:
			return langgraph_messages_of(self, envelope);
		case LANGGRAPH_ERROR:
			return langgraph_error_of(self, envelope);
		case LANGGRAPH_RUN:
			return langgraph_run_of(self, envelope);
		case LANGGRAPH_CHUNK:
			break;
	}
	return langgraph_chunk_of(self, envelope);
}

/* Wraps the data into a document of this form. */
static Json *
langgraph_around(LanggraphForm form, Json *mode, Json *ns, Json *data)
{
	Json	   *raw = form == LANGGRAPH_TUPLE ? json_new_array() : json_new_object();

	if (data == NULL)
		data = json_new_null();
	switch (form)
	{
		case LANGGRAPH_BARE:
			return data;
		case LANGGRAPH_TUPLE:
			if (ns != NULL)
				json_add(raw, ns);
			json_add(raw, mode != NULL ? mode : json_of_cstring("custom"));
			json_add(raw, data);
			break;
		case LANGGRAPH_SSE:
			json_put(raw, "/event", mode);
			json_put(raw, "/data", data);
			break;
		case LANGGRAPH_PART:
			json_put(raw, "/type", mode);
			json_put(raw, "/ns", ns);
			json_put(raw, "/data", data);
			break;
		case LANGGRAPH_PROTOCOL:
			json_put_cstring(raw, "/type", "event");
			json_put(raw, "/method", mode);
			json_put(raw, "/params/namespace", ns);
			json_put(raw, "/params/data", data);
			break;
		case LANGGRAPH_FAILURE:
			json_put(raw, FAILURE, data);
			break;
	}
	return raw;
}

/*
 * Makes the document for an envelope that was never foreign, or whose type has
 * been changed.
 */
static Json *
langgraph_new_document(const Adapter *self, const Json *envelope)
{
	MessageType type = adapter_type(envelope);
	Json	   *plain = json_copy(envelope);

	json_take(plain, psprintf("/meta/%s/event", self->name));
	json_take(plain, psprintf("/meta/%s/asks", self->name));
	if (type == MSG_TASK_REQUEST || (type == MSG_CHAT_MESSAGE && json_get(envelope, "/meta/clutch/answer_to") != NULL))
		return langgraph_run_of(self, plain);
	if (type == MSG_TASK_ERROR || type == MSG_TASK_TIMEOUT)
		return langgraph_around(LANGGRAPH_SSE, json_of_cstring("error"), NULL, langgraph_error_of(self, plain));
	return langgraph_event_of(self, plain);
}

static Json *
langgraph_outbound(const Adapter *self, const Json *envelope)
{
	const Json *notes = adapter_noted(self, envelope, "");
	int			form = slice_find(json_get_text(notes, "/form"), langgraph_forms, lengthof(langgraph_forms));
	int			kind = slice_find(json_get_text(notes, "/kind"), langgraph_kinds, lengthof(langgraph_kinds));
	Slice		type = json_get_text(notes, "/type");
	Json	   *raw;

	if (form < 0 || kind < 0 || !slice_present(type) || !slice_equal(type, json_get_text(envelope, "/type")))
		return langgraph_new_document(self, envelope);
	raw = langgraph_around((LanggraphForm) form, json_get(notes, "/mode"), json_get(notes, "/ns"),
						   langgraph_data(self, (LanggraphKind) kind, envelope));
	if (json_is_true(notes, "/beside") && langgraph_beside[form] != NULL)
		json_put(raw, langgraph_beside[form], json_get(envelope, "/payload/interrupts"));
	json_put(raw, form == LANGGRAPH_SSE ? "/id" : "/event_id", adapter_noted(self, envelope, "/number"));
	return raw;
}

/*
 * Returns the path of the carrier.  In a tuple, it is within the last element:
 * the data, or the metadata of a message.
 */
static const char *
langgraph_carrier(const Adapter *self, const Json *raw, AdapterCarrierForm *form)
{
	const char *path = "";

	while (json_is(raw, JSON_ARRAY) && raw->n > 0)
	{
		path = json_path_index(path, raw->n - 1);
		raw = raw->items[raw->n - 1];
	}
	return json_is(raw, JSON_OBJECT) ? psprintf("%s/clutch", path) : NULL;
}

const Adapter langgraph_adapter = {
	.name = "langgraph",
	.carrier_at = langgraph_carrier,
	.declines = langgraph_declines,
	.inbound = langgraph_inbound,
	.outbound = langgraph_outbound,
};
