/*-------------------------------------------------------------------------
 *
 * crewai.c
 *	  crewAI: the events of crews, flows, agents and tools.
 *
 * The members that are not common to all events form the payload.  Notes:
 *
 *	type		the type of the event
 *	as_type		the type that the envelope was given
 *	has_role	true if the event names the role of an agent
 *	boxed		true if they are in the member "event" of the payload
 *	the members in crewai_places, which say where the event belongs, by their
 *	own names
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/crewai.h"

#include "adapters/tooling.h"

/* what an event is about */
typedef enum CrewaiSubject
{
	CREWAI_RUN,					/* the crew or the flow as a whole */
	CREWAI_TASK,				/* a task of the crew, which has its own ID */
	CREWAI_METHOD,				/* a step of a flow, identified by the event
								 * that starts it */
	CREWAI_TOOL,
	CREWAI_OTHER
} CrewaiSubject;

static const struct
{
	const char *name;
	CrewaiSubject subject;
	MessageType type;
}			crewai_types[] = {
	{"crew_kickoff_started", CREWAI_RUN, MSG_TASK_REQUEST},
	{"crew_kickoff_completed", CREWAI_RUN, MSG_TASK_RESULT},
	{"crew_kickoff_failed", CREWAI_RUN, MSG_TASK_ERROR},
	{"flow_started", CREWAI_RUN, MSG_TASK_REQUEST},
	{"flow_finished", CREWAI_RUN, MSG_TASK_RESULT},
	{"flow_failed", CREWAI_RUN, MSG_TASK_ERROR},
	{"flow_paused", CREWAI_RUN, MSG_TASK_PROGRESS},
	{"task_started", CREWAI_TASK, MSG_TASK_ACCEPT},
	{"task_completed", CREWAI_TASK, MSG_TASK_RESULT},
	{"task_failed", CREWAI_TASK, MSG_TASK_ERROR},
	{"method_execution_started", CREWAI_METHOD, MSG_TASK_ACCEPT},
	{"method_execution_finished", CREWAI_METHOD, MSG_TASK_RESULT},
	{"method_execution_failed", CREWAI_METHOD, MSG_TASK_ERROR},
	{"method_execution_paused", CREWAI_METHOD, MSG_TASK_PROGRESS},
	{"tool_usage_started", CREWAI_TOOL, MSG_TOOL_CALL},
	{"tool_usage_finished", CREWAI_TOOL, MSG_TOOL_RESULT},
	{"tool_usage_error", CREWAI_TOOL, MSG_TOOL_ERROR},
	{"human_feedback_requested", CREWAI_OTHER, MSG_TASK_PROGRESS},
	{"flow_input_requested", CREWAI_OTHER, MSG_TASK_PROGRESS}
};

/* members that are noted and not put into the payload */
static const char *const crewai_places[] = {
	"/emission_sequence", "/parent_event_id", "/previous_event_id", "/triggered_by_event_id", "/started_event_id",
	"/source_fingerprint", "/source_type", "/fingerprint_metadata", "/task_name", "/agent_id", "/task_id", "/event_id"
};

/* Returns the index of the type in crewai_types, or -1 if it is not there. */
static int
crewai_row(Slice type)
{
	for (int i = 0; i < lengthof(crewai_types); i++)
		if (slice_is(type, crewai_types[i].name))
			return i;
	return -1;
}

static bool
crewai_asks(Slice type)
{
	return slice_is(type, "human_feedback_requested") || slice_is(type, "flow_input_requested") ||
		slice_is(type, "flow_paused") || slice_is(type, "method_execution_paused");
}

static const char *
crewai_declines(const Adapter *self, const Json *raw)
{
	if (!json_has_text(raw, "/type") || !json_has_text(raw, "/event_id") ||
		!json_has_text(raw, "/timestamp"))
		return "it is not an event of crewAI, which has type, event_id and timestamp";
	return json_get(raw, "/type")->text.len > 0 ? NULL : "its type is empty";
}

/* ------------------------------------------------------------------ inbound */

/*
 * Is it about a crew or flow within another one?  "parent_event_id" names the
 * event that has begun what is around it.  At an end that does not name its
 * beginning, this may be the beginning itself.
 */
static bool
crewai_is_inner(const Json *raw, MessageType type)
{
	return adapter_member(raw, "/parent_event_id") != NULL &&
		(type == MSG_TASK_REQUEST || adapter_member(raw, "/started_event_id") != NULL);
}

/*
 * The task in the context is that of the outermost crew or flow, so an inner
 * one can neither accept nor end it.
 */
static MessageType
crewai_type(const Json *raw, const Json *context)
{
	int			row = crewai_row(json_get_text(raw, "/type"));
	MessageType type = row >= 0 ? crewai_types[row].type : MSG_TASK_PROGRESS;

	if (row >= 0 && crewai_types[row].subject == CREWAI_RUN && adapter_member(context, "/task_id") != NULL)
		return crewai_is_inner(raw, type) ? MSG_TASK_PROGRESS : type == MSG_TASK_REQUEST ? MSG_TASK_ACCEPT : type;
	return type == MSG_TOOL_RESULT && adapter_member(raw, "/failure") != NULL ? MSG_TOOL_ERROR : type;
}

/* Is it a piece of what comes as a whole later? */
static bool
crewai_is_piece(const Json *raw)
{
	return json_says(raw, "/type", "llm_stream_chunk") || json_says(raw, "/type", "llm_thinking_chunk");
}

/*
 * Returns the agent with the role that the event names, or an absent slice.  A
 * role from a YAML file usually ends with a line break, and may have some
 * within it; they count as blanks.
 */
static Slice
crewai_agent(const Adapter *self, const Json *raw)
{
	const Json *role = adapter_find(self, raw, "/agent_role", JSON_TEXT);
	char	   *line = role != NULL ? slice_cstring(role->text) : NULL;
	Json	   *named = json_new_object();

	if (line == NULL)
		return SLICE_NONE;
	if (strpbrk(line, "\r\n") != NULL)
	{
		for (char *c = line; *c != '\0'; c++)
			if (*c == '\r' || *c == '\n')
				*c = ' ';
		while (*line == ' ')
			line++;
		for (int len = strlen(line); len > 0 && line[len - 1] == ' '; len--)
			line[len - 1] = '\0';
	}
	if (*line == '\0')
		return SLICE_NONE;
	json_put_cstring(named, "/agent_role", line);
	return adapter_find_agent(self, named, "/agent_role");
}

/* Returns the path of the error of a tool or a task. */
static const char *
crewai_error_at(Slice type)
{
	return slice_is(type, "tool_usage_finished") ? "/failure" : "/error";
}

/*
 * Notes the task or run in the context as that in which IDs are unique.  A crew
 * that is kicked off again, for another task, has tasks with the same IDs.
 */
static void
crewai_note_scope(const Adapter *self, const Json *context, Json *envelope)
{
	Json	   *task = adapter_member(context, "/task_id");

	adapter_note_native(self, envelope, "scope", task != NULL ? task : adapter_member(context, "/run_id"));
}

static void
crewai_read_place(const Adapter *self, const Json *raw, Json *envelope, const Json *context)
{
	int			row = crewai_row(json_get_text(raw, "/type"));
	CrewaiSubject subject = row >= 0 ? crewai_types[row].subject : CREWAI_OTHER;
	Json	   *event = json_get(raw, "/event_id");
	Json	   *started = adapter_find_name(self, raw, "/started_event_id");
	Json	   *begun = started != NULL ? started : event;
	Json	   *task = adapter_find_name(self, raw, "/task_id");
	bool		has_task = adapter_member(context, "/task_id") != NULL;

	adapter_note_native(self, envelope, "id", event);
	/* the run of a crew is named by its first event, which may have come before anybody knew a run for the context */
	if (subject != CREWAI_RUN || has_task)
		crewai_note_scope(self, context, envelope);
	if (subject == CREWAI_TOOL && adapter_type(envelope) != MSG_TOOL_CALL)
		adapter_note_native(self, envelope, "reply_to", begun);
	if (subject == CREWAI_RUN && !has_task)
	{
		adapter_note_native(self, envelope, "run_id", begun);
		adapter_note_native(self, envelope, "task_id", begun);
	}
	/* the pause of a step is about its task only if the event names the one that began the step */
	if (subject == CREWAI_METHOD && (started != NULL || adapter_type(envelope) != MSG_TASK_PROGRESS))
		adapter_note_native(self, envelope, "task_id", begun);
	if (subject != CREWAI_RUN && subject != CREWAI_METHOD && task != NULL)
		adapter_note_native(self, envelope, "task_id", task);
	if (has_task && adapter_noted(self, envelope, "/native/task_id") != NULL)
		json_put(envelope, "/parent_task_id", json_get(context, "/task_id"));
}

/*
 * Puts into the payload all members of the document that have no row in the
 * mapping and are not noted.
 */
static void
crewai_put_payload(const Adapter *self, const Json *raw, Json *envelope)
{
	Slice		type = json_get_text(raw, "/type");
	MessageType made = adapter_type(envelope);
	Json	   *payload = json_copy_top(raw);

	(void) json_take(payload, "/type");
	(void) json_take(payload, "/timestamp");
	(void) json_take(payload, "/agent_role");
	for (int i = 0; i < lengthof(crewai_places); i++)
		(void) json_take(payload, crewai_places[i]);
	if (made == MSG_TASK_ERROR || made == MSG_TOOL_ERROR)
	{
		Json	   *said = json_take(payload, crewai_error_at(type));

		tooling_put_error(self, envelope, made == MSG_TOOL_ERROR ? TOOLING_ERROR : "CREW_ERROR", said);
		json_put(envelope, "/payload/details", payload);
		return;
	}
	if (made == MSG_TOOL_CALL)
	{
		Json	   *args = json_take(payload, "/tool_args");

		(void) json_take(payload, "/tool_name");
		/*
		 * otherwise members of these names would be mistaken for the tool and
		 * its arguments
		 */
		(void) json_take(payload, "/tool");
		(void) json_take(payload, "/args");
		json_put(envelope, "/payload", payload);
		tooling_put_name(self, envelope, "/tool_name", tooling_require_name(self, raw, "/tool_name"));
		tooling_put_args(self, envelope, json_is(args, JSON_NULL) ? NULL : args);
		return;
	}
	if (made == MSG_TASK_PROGRESS && (json_get(payload, "/state") != NULL || json_get(payload, "/deadline") != NULL))
	{
		Json	   *boxed = json_new_object();

		json_put(boxed, "/event", payload);
		adapter_note(self, envelope, "/boxed", json_of_bool(true));
		payload = boxed;
	}
	if (crewai_asks(type))
		json_put_cstring(payload, "/state", "input_required");
	json_put(envelope, "/payload", payload);
}

/*
 * Returns a stub of the tool.call or the task.request that the event needs, or
 * NULL if it needs none.
 */
static Json *
crewai_stub(const Adapter *self, const Json *raw, const Json *envelope, const Json *context)
{
	Json	   *call = adapter_noted(self, envelope, "/native/reply_to");
	Json	   *task = adapter_noted(self, envelope, "/native/task_id");
	Slice		sender = json_get_text(context, "/agent_id");
	Slice		agent = slice_present(sender) ? sender : json_get_text(envelope, "/from/agent_id");
	Json	   *stub;

	if (call != NULL)
	{
		stub = tooling_stub(self, call, "/tool_name", tooling_find_name(self, raw, "/tool_name"));
		json_put(stub, "/from", json_get(envelope, "/from"));
		crewai_note_scope(self, context, stub);
		return stub;
	}
	if (adapter_type(envelope) != MSG_TASK_ACCEPT || task == NULL)
		return NULL;
	stub = adapter_envelope(MSG_TASK_REQUEST);
	adapter_note_native(self, stub, "id", task->kind == JSON_TEXT ?
						json_of_cstring(psprintf("%.*s/request", task->text.len, task->text.s)) : task);
	if (adapter_member(context, "/to") == NULL)
		adapter_put_recipient(stub, agent);
	adapter_mark_stub(self, stub);
	crewai_note_scope(self, context, stub);
	return stub;
}

static List *
crewai_inbound(const Adapter *self, const Json *raw, const Json *context)
{
	const char *reason = crewai_declines(self, raw);
	Slice		agent;
	Json	   *envelope;
	Json	   *stub;

	if (reason != NULL)
		adapter_fault(self, "", "WRONG_TYPE", "%s", reason);
	if (crewai_is_piece(raw) && !json_is_true(context, "/stream"))
		return NIL;
	(void) adapter_require_word(self, raw, "/event_id");
	envelope = adapter_envelope(crewai_type(raw, context));
	json_put_text(envelope, "/ts", adapter_find_time(self, raw, "/timestamp"));
	agent = crewai_agent(self, raw);
	json_put_text(envelope, "/from/agent_id", agent);
	adapter_note(self, envelope, "/type", json_get(raw, "/type"));
	adapter_note(self, envelope, "/as_type", json_get(envelope, "/type"));
	if (slice_present(agent))
		adapter_note(self, envelope, "/has_role", json_of_bool(true));
	for (int i = 0; i < lengthof(crewai_places); i++)
		adapter_note(self, envelope, crewai_places[i], adapter_member(raw, crewai_places[i]));
	crewai_read_place(self, raw, envelope, context);
	crewai_put_payload(self, raw, envelope);
	stub = crewai_stub(self, raw, envelope, context);
	return stub != NULL ? list_make2(stub, envelope) : list_make1(envelope);
}

/* ----------------------------------------------------------------- outbound */

/*
 * Returns the first type in crewai_types that maps to this message type, or
 * else "clutch." and this type.
 */
static const char *
crewai_type_of(MessageType type)
{
	if (type == MSG_TASK_TIMEOUT)
		type = MSG_TASK_ERROR;
	for (int i = 0; i < lengthof(crewai_types); i++)
		if (crewai_types[i].type == type && type != MSG_TASK_PROGRESS && (type == MSG_TASK_REQUEST || crewai_types[i].subject != CREWAI_RUN))
			return crewai_types[i].name;
	return psprintf("clutch.%s", message_type_name(type));
}

/*
 * Returns the path at which an event holds the payload of an envelope that was
 * never foreign.
 */
static const char *
crewai_payload_at(MessageType type)
{
	return type == MSG_TASK_REQUEST ? "/inputs" : type == MSG_TASK_RESULT || type == MSG_TOOL_RESULT ? "/output" : "/data";
}

static Json *
crewai_body_of(const Adapter *self, const Json *envelope, Slice name, bool is_new)
{
	MessageType type = adapter_type(envelope);
	Json	   *payload = json_get(envelope, "/payload");
	Json	   *body = json_new_object();

	if (adapter_is_error(type))
	{
		Json	   *details = json_get_kind(payload, "/details", JSON_OBJECT);

		body = details != NULL && !is_new ? json_copy_top(details) : body;
		json_put(body, crewai_error_at(name), tooling_error(self, envelope));
		return body;
	}
	if (type == MSG_TOOL_CALL)
	{
		body = is_new ? body : json_copy_top(payload);
		(void) json_take(body, "/tool");
		(void) json_take(body, "/args");
		json_put_text(body, "/tool_name", tooling_name(envelope));
		json_put(body, "/tool_args", tooling_args(self, envelope));
		return body;
	}
	if (is_new)
	{
		json_put(body, crewai_payload_at(type), payload);
		return body;
	}
	if (json_is_true(adapter_noted(self, envelope, ""), "/boxed") && json_get_kind(payload, "/event", JSON_OBJECT) != NULL)
		return json_copy_top(json_get(payload, "/event"));
	body = json_copy_top(payload);
	if (crewai_asks(name))
		(void) json_take(body, "/state");
	return body;
}

static Json *
crewai_outbound(const Adapter *self, const Json *envelope)
{
	const Json *notes = adapter_noted(self, envelope, "");
	Slice		was = json_get_text(notes, "/as_type");
	bool		is_new = !slice_present(was) || !slice_equal(was, json_get_text(envelope, "/type"));
	bool		foreign = adapter_was_foreign(self, envelope);
	Slice		name = is_new ? slice_of_cstring(crewai_type_of(adapter_type(envelope))) : json_get_text(notes, "/type");
	Slice		sender = json_get_text(envelope, "/from/agent_id");
	Json	   *raw = crewai_body_of(self, envelope, name, is_new);
	Json	   *id;

	for (int i = 0; i < lengthof(crewai_places); i++)
		json_put(raw, crewai_places[i], adapter_noted(self, envelope, crewai_places[i]));
	id = adapter_noted(self, envelope, "/event_id");
	id = id != NULL ? id : adapter_native(self, envelope, "id");
	json_put(raw, "/event_id", json_is(id, JSON_TEXT) ? id : json_get(envelope, "/id"));
	json_put_text(raw, "/type", name);
	json_put(raw, "/timestamp", json_get(envelope, "/ts"));
	if (slice_present(sender) && (is_new || json_is_true(notes, "/has_role")))
		json_put_text(raw, "/agent_role", adapter_agent_name(sender));
	if (!foreign)
	{
		json_put(raw, "/task_id", json_get(envelope, "/task_id"));
		json_put(raw, "/started_event_id", json_get(envelope, "/meta/clutch/reply_to"));
	}
	return raw;
}

const Adapter crewai_adapter = {
	.name = "crewai",
	.carrier = "/clutch",
	.declines = crewai_declines,
	.inbound = crewai_inbound,
	.outbound = crewai_outbound,
};
