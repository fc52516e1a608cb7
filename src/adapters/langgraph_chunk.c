/*-------------------------------------------------------------------------
 *
 * langgraph_chunk.c
 *	  LangGraph: stream chunks other than events and messages, and requests for
 *	  runs.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/langgraph_part.h"

#include "adapters/tooling.h"

#define INTERRUPTS	"/__interrupt__"
#define NODE_ERROR	"NODE_ERROR"

/* ------------------------------------------------------ progress, questions */

bool
langgraph_interrupts(const Json *data)
{
	/* a graph that stops at a breakpoint has an empty list */
	return json_get_kind(data, INTERRUPTS, JSON_ARRAY) != NULL;
}

/*
 * Makes the data and the interrupts that stand beside it the payload of a
 * question.
 */
static void
langgraph_put_question(const Adapter *self, Json *envelope, const LanggraphChunk *chunk)
{
	json_put_cstring(envelope, "/payload/state", "input_required");
	json_put(envelope, "/payload/interrupts", chunk->interrupts);
	json_put(envelope, "/payload/data", chunk->data);
	adapter_note(self, envelope, "/beside", json_of_bool(true));
}

/*
 * Would the database act on a member of the data if the data were the payload
 * of a task.progress?
 */
static bool
langgraph_is_order(const Json *data)
{
	return json_says(data, "/state", "suspended") || json_get(data, "/deadline") != NULL;
}

void
langgraph_put_progress(const Adapter *self, Json *envelope, Json *data)
{
	Json	   *payload = json_new_object();

	if (langgraph_interrupts(data))
	{
		Json	   *rest = json_copy(data);

		json_put(payload, "/interrupts", json_take(rest, INTERRUPTS));
		json_put_cstring(payload, "/state", "input_required");
		if (rest->n > 0)
			json_put(payload, "/data", rest);
		adapter_note(self, envelope, "/interrupts", json_of_bool(true));
	}
	else if (json_is(data, JSON_OBJECT) && !langgraph_is_order(data))
		payload = data;
	else
	{
		json_put(payload, "/data", data);
		adapter_note(self, envelope, "/boxed", json_of_bool(true));
	}
	json_put(envelope, "/payload", payload);
}

Json *
langgraph_progress_of(const Adapter *self, const Json *envelope)
{
	Json	   *payload = json_get(envelope, "/payload");
	Json	   *data;

	if (json_is_true(adapter_noted(self, envelope, ""), "/boxed") || json_is_true(adapter_noted(self, envelope, ""), "/beside"))
		return json_get(payload, "/data");
	if (!json_is_true(adapter_noted(self, envelope, ""), "/interrupts"))
		return payload;
	data = json_get_kind(payload, "/data", JSON_OBJECT);
	data = data != NULL ? json_copy(data) : json_new_object();
	json_put(data, INTERRUPTS, json_get(payload, "/interrupts"));
	return data;
}

/*
 * Takes the time and the step out of {step, timestamp, type, payload}, whose
 * payload is a checkpoint.  Returns the rest.
 */
static Json *
langgraph_take_moment(const Adapter *self, Json *envelope, Json *data)
{
	Slice		time = adapter_find_time(self, data, "/timestamp");
	Json	   *rest = json_copy(data);

	adapter_note(self, envelope, "/step", json_take(rest, "/step"));
	if (!slice_present(time))
		return rest;
	json_put_text(envelope, "/ts", time);
	adapter_note(self, envelope, "/timed", json_of_bool(true));
	json_take(rest, "/timestamp");
	return rest;
}

/* Returns the data of a chunk, with what langgraph_take_moment has taken. */
Json *
langgraph_chunk_of(const Adapter *self, const Json *envelope)
{
	Json	   *rest = langgraph_progress_of(self, envelope);
	Json	   *step = adapter_noted(self, envelope, "/step");
	Json	   *data;

	if (!json_is(rest, JSON_OBJECT) || step == NULL)
		return rest;
	data = json_copy(rest);
	json_put(data, "/step", step);
	if (json_is_true(adapter_noted(self, envelope, ""), "/timed"))
		json_put(data, "/timestamp", json_get(envelope, "/ts"));
	return data;
}

List *
langgraph_read_chunk(const Adapter *self, const LanggraphChunk *chunk, const Json *context)
{
	Json	   *envelope = adapter_envelope(MSG_TASK_PROGRESS);

	if (slice_is(chunk->mode, "metadata") && !langgraph_has_task(context))
	{
		Json	   *run = adapter_find_name(self, chunk->data, "/run_id");

		adapter_note_native(self, envelope, "run_id", run);
		adapter_note_native(self, envelope, "task_id", run);
	}
	if (json_is(chunk->interrupts, JSON_ARRAY) && chunk->interrupts->n > 0 && !langgraph_interrupts(chunk->data))
		langgraph_put_question(self, envelope, chunk);
	else
		langgraph_put_progress(self, envelope, langgraph_is_debug(chunk->data) ?
							   langgraph_take_moment(self, envelope, chunk->data) : chunk->data);
	return list_make1(envelope);
}

/* --------------------------------------------------------------------- tasks */

/*
 * Returns the type of the envelope for a task, which may have started, asked a
 * question, or ended.
 */
static MessageType
langgraph_task_type(const Json *task)
{
	const Json *interrupts = json_get_kind(task, "/interrupts", JSON_ARRAY);

	if (json_get(task, "/result") == NULL && json_get(task, "/error") == NULL)
		return MSG_TASK_ACCEPT;
	if (adapter_member(task, "/error") != NULL)
		return MSG_TASK_ERROR;
	return interrupts != NULL && interrupts->n > 0 ? MSG_TASK_PROGRESS : MSG_TASK_RESULT;
}

Json *
langgraph_task_stub(const Adapter *self, Slice id, Slice agent, const Json *context)
{
	Json	   *stub = adapter_envelope(MSG_TASK_REQUEST);

	adapter_note_native(self, stub, "id", json_of_cstring(psprintf("%.*s/request", id.len, id.s)));
	langgraph_put_recipient(stub, context, agent);
	adapter_mark_stub(self, stub);
	return stub;
}

List *
langgraph_read_task(const Adapter *self, const Json *task, const Json *context)
{
	MessageType type = langgraph_task_type(task);
	Json	   *envelope = adapter_envelope(type);
	Slice		id = adapter_require_word(self, task, "/id");
	Slice		agent = adapter_find_agent(self, task, "/name");

	json_put_text(envelope, "/from/agent_id", agent);
	adapter_note_native(self, envelope, "task_id", json_get(task, "/id"));
	adapter_note_native(self, envelope, "id", json_of_cstring(psprintf("%.*s/%s", id.len, id.s, message_type_name(type))));
	if (langgraph_has_task(context))
		json_put(envelope, "/parent_task_id", json_get(context, "/task_id"));
	json_put(envelope, "/payload", json_new_object());
	if (type == MSG_TASK_ERROR)
		tooling_put_error(self, envelope, NODE_ERROR, adapter_member(task, "/error"));
	json_put(envelope, "/payload/result", type != MSG_TASK_ERROR ? adapter_member(task, "/result") : NULL);
	if (type == MSG_TASK_PROGRESS)
	{
		json_put_cstring(envelope, "/payload/state", "input_required");
		json_put(envelope, "/payload/interrupts", json_get(task, "/interrupts"));
	}
	if (type != MSG_TASK_ACCEPT)
		return list_make1(envelope);
	json_put(envelope, "/payload/input", adapter_member(task, "/input"));
	return list_make2(langgraph_task_stub(self, id, slice_present(agent) ? agent : SLICE_OF("agent:node"), context), envelope);
}

Json *
langgraph_task_of(const Adapter *self, const Json *envelope)
{
	Json	   *task = json_new_object();
	Slice		agent = json_get_text(envelope, "/from/agent_id");

	json_put(task, "/id", adapter_native(self, envelope, "task_id"));
	if (slice_present(agent))
		json_put_text(task, "/name", adapter_agent_name(agent));
	if (adapter_type(envelope) == MSG_TASK_ERROR)
		json_put(task, "/error", tooling_error(self, envelope));
	json_put(task, "/input", json_get(envelope, "/payload/input"));
	json_put(task, "/result", json_get(envelope, "/payload/result"));
	json_put(task, "/interrupts", json_get(envelope, "/payload/interrupts"));
	return task;
}

/*
 * Reads {step, timestamp, type, payload}, whose payload is a task.  The mode
 * "tasks" may report the same task.
 */
List *
langgraph_read_debug(const Adapter *self, const Json *data, const Json *context)
{
	Slice		time = adapter_find_time(self, data, "/timestamp");
	List	   *envelopes = langgraph_read_task(adapter_within(self, "/payload"), json_get(data, "/payload"), context);
	Json	   *envelope = llast(envelopes);
	Json	   *id = adapter_native(self, envelope, "id");

	adapter_note_native(self, envelope, "id", json_of_cstring(psprintf("%.*s/debug", id->text.len, id->text.s)));
	json_put_text(envelope, "/ts", time);
	if (slice_present(time))
		adapter_note(self, envelope, "/timed", json_of_bool(true));
	adapter_note(self, envelope, "/step", adapter_member(data, "/step"));
	return envelopes;
}

Json *
langgraph_debug_of(const Adapter *self, const Json *envelope)
{
	Json	   *data = json_new_object();

	json_put_cstring(data, "/type", adapter_type(envelope) == MSG_TASK_ACCEPT ? "task" : "task_result");
	json_put(data, "/step", adapter_noted(self, envelope, "/step"));
	if (json_is_true(adapter_noted(self, envelope, ""), "/timed"))
		json_put(data, "/timestamp", json_get(envelope, "/ts"));
	json_put(data, "/payload", langgraph_task_of(self, envelope));
	return data;
}

/* -------------------------------------------------------------------- errors */

/*
 * Returns the class name of the exception if it can be an error code, or
 * NODE_ERROR otherwise.
 */
static Slice
langgraph_code(const Json *data)
{
	Slice		code = json_get_text(data, "/error");

	return slice_present(code) && code.len > 0 && code.len <= 128 && identifier_find_control(code) < 0 ? code : SLICE_OF(NODE_ERROR);
}

List *
langgraph_read_error(const Adapter *self, const Json *data)
{
	Json	   *envelope = adapter_envelope(MSG_TASK_ERROR);
	Slice		code = langgraph_code(data);
	bool		is_object = json_is(data, JSON_OBJECT);
	Json	   *error = json_get(data, "/error");

	tooling_put_error(self, envelope, slice_cstring(code), is_object ? json_get(data, "/message") : unconstify(Json *, data));
	if (!is_object)
		adapter_note(self, envelope, "/plain", json_of_bool(true));
	else if (!json_is(error, JSON_TEXT) || !slice_equal(error->text, code))
		adapter_note(self, envelope, "/error", error != NULL ? error : json_of_bool(false));
	return list_make1(envelope);
}

Json *
langgraph_error_of(const Adapter *self, const Json *envelope)
{
	Json	   *data = json_new_object();
	Slice		code = json_get_text(envelope, "/payload/code");
	Json	   *noted = adapter_noted(self, envelope, "/error");

	if (json_is_true(adapter_noted(self, envelope, ""), "/plain"))
		return tooling_error(self, envelope);
	if (noted == NULL || !slice_is(code, NODE_ERROR))
		json_put_text(data, "/error", code);
	else if (noted->kind != JSON_BOOL || noted->boolean)
		json_put(data, "/error", noted);
	json_put(data, "/message", tooling_error(self, envelope));
	return data;
}

/* ------------------------------------------------------------------ requests */

List *
langgraph_read_run(const Adapter *self, const Json *run, const Json *context)
{
	Json	   *resume = json_get(run, "/command/resume");
	Json	   *envelope = adapter_envelope(resume != NULL ? MSG_CHAT_MESSAGE : MSG_TASK_REQUEST);
	Json	   *metadata = adapter_find(self, run, "/metadata", JSON_OBJECT);
	Json	   *thread = adapter_find_name(self, run, "/config/configurable/thread_id");
	Slice		agent = adapter_find_agent(self, run, "/assistant_id");

	/* the sender in the context is who asks for the run, not the graph */
	if (adapter_member(context, "/to") == NULL)
		adapter_put_recipient(envelope, agent);
	if (metadata != NULL)
		langgraph_read_own(adapter_within(self, "/metadata"), metadata, envelope, false);
	adapter_note(self, envelope, "/thread", thread);
	if (!langgraph_has_task(context))
		adapter_note_native(self, envelope, "thread_id", thread);
	adapter_put_payload(self, envelope, resume != NULL ? resume : adapter_member(run, "/input"));
	return list_make1(envelope);
}

/* Returns the answer: the payload, or the value of its only member if that is "content" or "text". */
static Json *
langgraph_answer_in(const Adapter *self, const Json *envelope)
{
	Json	   *payload = json_get(envelope, "/payload");
	Json	   *text = json_get(payload, "/text");

	if (!adapter_was_foreign(self, envelope) && json_is(payload, JSON_OBJECT) && payload->n == 1 && text != NULL)
		return text;
	payload = adapter_payload(self, envelope);
	return payload != NULL ? payload : json_new_object();
}

/*
 * Returns what a graph resumes with: the answer or, if the interrupt that it
 * belongs to is noted, an object with the answer to this interrupt.
 */
static Json *
langgraph_resume_of(const Adapter *self, const Json *envelope)
{
	Json	   *answer = langgraph_answer_in(self, envelope);
	Slice		interrupt = json_get_text(adapter_noted(self, envelope, ""), "/interrupt");
	Json	   *resume = json_new_object();

	if (!slice_present(interrupt) || (json_is(answer, JSON_OBJECT) && json_member(answer, interrupt) != NULL))
		return answer;
	json_put_member(resume, interrupt, answer);
	return resume;
}

Json *
langgraph_run_of(const Adapter *self, const Json *envelope)
{
	Json	   *run = json_new_object();
	Json	   *metadata = json_new_object();
	Slice		agent = json_get_text(envelope, "/to/0/agent_id");
	Json	   *payload = adapter_payload(self, envelope);

	if (slice_present(agent))
		json_put_text(run, "/assistant_id", adapter_agent_name(agent));
	json_put(run, "/config/configurable/thread_id", adapter_was_foreign(self, envelope) ?
			 adapter_noted(self, envelope, "/thread") : adapter_member(envelope, "/thread_id"));
	langgraph_write_own(self, envelope, metadata);
	if (metadata->n > 0)
		json_put(run, "/metadata", metadata);
	/* a graph that has stopped at a breakpoint goes on without an input */
	if (json_is_true(adapter_noted(self, envelope, ""), "/breakpoint"))
		json_put(run, "/input", json_new_null());
	else if (adapter_type(envelope) == MSG_CHAT_MESSAGE)
		json_put(run, "/command/resume", langgraph_resume_of(self, envelope));
	else
		json_put(run, "/input", payload != NULL ? payload : json_new_object());
	return run;
}
