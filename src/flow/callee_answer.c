/*-------------------------------------------------------------------------
 *
 * callee_answer.c
 *	  What an agent or a tool server behind an endpoint has answered, in each
 *	  dialect.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/callee_part.h"
#include "protocol/value.h"
#include "store/event.h"

/* the code of an error of MCP, URL elicitation required (adapters/mcp_result.c) */
#define VISIT_FIRST	"MCP_-32042"

/*
 * Returns the type of the report, or MSG_UNKNOWN if an envelope of this type
 * cannot be an answer.
 */
static MessageType
callee_type_of(MessageType type, bool is_last)
{
	switch (type)
	{
		case MSG_TASK_ACCEPT:
		case MSG_TASK_PROGRESS:
			return MSG_TASK_PROGRESS;
		case MSG_TASK_RESULT:
		case MSG_TOOL_RESULT:
			return MSG_TASK_RESULT;
		case MSG_TASK_ERROR:
		case MSG_TOOL_ERROR:
		case MSG_TASK_CANCEL:
			return MSG_TASK_ERROR;
		case MSG_CHAT_MESSAGE:
		case MSG_CHAT_SYSTEM:
			return is_last ? MSG_TASK_RESULT : MSG_TASK_PROGRESS;
		default:
			return MSG_UNKNOWN;
	}
}

Jsonb *
callee_error_payload(const char *code, const char *message, bool retryable)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "code", code);
	document_put_cstring(&b, "message", message);
	document_put_bool(&b, "retryable", retryable);
	return document_end(&b);
}

Jsonb *
callee_meta(JsonbContainer *meta, Slice reply_to)
{
	JsonbContainer *orders = document_get_container(meta, "clutch");
	JsonbValue	usage;
	DocumentBuilder b;

	document_begin(&b);
	if (meta != NULL)
		document_put_pairs(&b, meta, "clutch");
	document_open_object(&b, "clutch");
	if (document_get(orders, "usage", &usage))
		document_put_value(&b, "usage", &usage);
	document_put_text(&b, "reply_to", reply_to);
	document_close_object(&b);
	return document_end(&b);
}

bool
callee_asks(JsonbContainer *payload)
{
	Slice		state = document_get_text(payload, "state");

	return slice_is(state, "input_required") || slice_is(state, "auth_required");
}

static Jsonb *
callee_part(JsonbContainer *envelope, const char *key)
{
	JsonbValue	value;

	return document_get(envelope, key, &value) ? document_of_value(&value) : NULL;
}

static JsonbContainer *
callee_notes(JsonbContainer *envelope, const char *adapter)
{
	return document_get_container(document_get_container(envelope, "meta"), adapter);
}

bool
callee_passes_over(const Endpoint *endpoint, Jsonb *document)
{
	bool		is_call = slice_is(document_get_text(&document->root, "type"), message_type_name(MSG_TOOL_CALL));
	JsonbContainer *notes;
	bool		is_stub;

	/* for the others, it is the stub of the call that was sent */
	if (!endpoint_tells_run(endpoint))
		return is_call;
	notes = callee_notes(&document->root, slice_cstring(endpoint->adapter));
	return (document_get_bool(notes, "stub", &is_stub) && is_stub) || (is_call && slice_present(document_get_text(notes, "part_of")));
}

static Jsonb *
callee_set_apart(Jsonb *payload)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_jsonb(&b, "data", payload);
	return document_end(&b);
}

Jsonb *
callee_progress(Jsonb *payload)
{
	bool		suspends = payload != NULL && slice_is(document_get_text(&payload->root, "state"), "suspended");

	return suspends ? callee_set_apart(payload) : payload;
}

/* ---------------------------------------------------------------- dialects */

/* Returns the ID of the message in which an agent of A2A asks, or an absent slice. */
static Slice
callee_asked_by(JsonbContainer *envelope)
{
	return document_get_text(document_get_container(callee_notes(envelope, "a2a"), "said"), "messageId");
}

/*
 * Is it the question that the call has answered?  The stream that follows an
 * answer may begin with the state in which the other side's task was until
 * then.  A question without an ID is the same if it says the same.
 */
static bool
callee_repeats_question(const Call *call, JsonbContainer *envelope, Jsonb *payload)
{
	Jsonb	   *question = callee_asks(&payload->root) ? callee_question(call) : NULL;
	Slice		asked_by = callee_asked_by(envelope);
	Jsonb	   *asked;

	if (question == NULL)
		return false;
	if (slice_present(asked_by))
		return slice_equal(asked_by, callee_asked_by(&question->root));
	asked = callee_part(&question->root, "payload");
	return !slice_present(callee_asked_by(&question->root)) && asked != NULL &&
		compareJsonbContainers(&payload->root, &asked->root) == 0;
}

/*
 * Returns the type of the report on a document of LangGraph.  In the stream of
 * a run, nodes, tools and models end, some of them with an error, and the run
 * goes on.  It ends with the stream, or with an event "error".
 */
static MessageType
callee_type_in_run(JsonbContainer *envelope, MessageType given, bool is_last)
{
	bool		is_of_run = slice_is(document_get_text(callee_notes(envelope, "langgraph"), "kind"), "error");

	if (given == MSG_TASK_ERROR && (is_of_run || is_last))
		return MSG_TASK_ERROR;
	return is_last ? MSG_TASK_RESULT : MSG_TASK_PROGRESS;
}

/*
 * Returns the payload of the result of a run.  If the adapter has moved the
 * values into "data", because some would be an order in progress, they are
 * moved back.
 */
static Jsonb *
callee_values_of_run(JsonbContainer *envelope, Jsonb *payload)
{
	JsonbContainer *values = payload == NULL ? NULL : document_get_container(&payload->root, "data");
	bool		is_boxed = false;

	(void) document_get_bool(callee_notes(envelope, "langgraph"), "boxed", &is_boxed);
	return is_boxed && values != NULL && JsonContainerIsObject(values) ? callee_part(&payload->root, "data") : payload;
}

/*
 * Returns the payload of something in the stream of a run that is reported as
 * progress.  Members that would be a question or an order there are moved into
 * "data".
 */
static Jsonb *
callee_progress_of_run(MessageType given, Jsonb *payload)
{
	JsonbValue	value;

	if (given == MSG_TASK_PROGRESS || payload == NULL ||
		(!document_get(&payload->root, "state", &value) && !document_get(&payload->root, "deadline", &value)))
		return payload;
	return callee_set_apart(payload);
}

/* Is it the status of a task of an MCP server (adapters/mcp_status.c)? */
static bool
callee_is_status(JsonbContainer *envelope)
{
	return slice_is(document_get_text(callee_notes(envelope, "mcp"), "form"), "status");
}

/*
 * Does a status of MCP say that the server has completed its task, without the
 * result?  The result is then a response of its own.
 */
static bool
callee_awaits_result(JsonbContainer *envelope)
{
	return callee_is_status(envelope) && !slice_present(document_get_text(callee_notes(envelope, "mcp"), "holds"));
}

/* Returns what a status of MCP asks for, or NULL. */
static JsonbContainer *
callee_input_requests(Jsonb *payload)
{
	return payload == NULL ? NULL : document_get_container(&payload->root, "input_requests");
}

/*
 * Does a status of MCP ask only for what the call has answered?  The server may
 * not have seen the answer yet when it is asked for the status again.  An answer
 * need not have all that the server has asked for.
 */
static bool
callee_repeats_requests(const Call *call, JsonbContainer *envelope, Jsonb *payload)
{
	JsonbContainer *requests = callee_is_status(envelope) ? callee_input_requests(payload) : NULL;
	bool		is_answer = requests != NULL && callee_question(call) != NULL;
	Jsonb	   *answer = is_answer ? event_read(call->seq, ROWS_LATEST) : NULL;
	JsonbContainer *said = answer == NULL ? NULL : document_get_container(&answer->root, "payload");
	JsonbContainer *answered = document_get_container(said, "input_responses");
	int			n = answered == NULL ? 0 : JsonContainerSize(requests);
	JsonbValue	value;

	for (int i = 0; i < n; i++)
		if (!document_get(answered, slice_cstring(value_key_at(requests, i)), &value))
			return false;
	return n > 0;
}

/*
 * Has the server cancelled a request with a notification?  It is a request of
 * its own, such as a question to the user, because only the side that has made
 * a request can cancel it in this way.
 */
static bool
callee_cancels_own_request(JsonbContainer *envelope)
{
	return slice_is(document_get_text(callee_notes(envelope, "mcp"), "form"), "cancelled");
}

/*
 * A server of MCP that wants a user to visit a URL first fails with an error
 * that lists what is to be visited.  Returns the question that this is, or NULL
 * if the payload is that of another error.  If the question is answered, the
 * call is repeated (api/outgoing.c).
 */
static Jsonb *
callee_visit(Jsonb *error)
{
	JsonbContainer *data = document_get_container(document_get_container(&error->root, "details"), "data");
	JsonbContainer *visits = document_get_container(data, "elicitations");
	JsonbValue *first = visits != NULL && JsonContainerIsArray(visits) ? getIthJsonbValueFromContainer(visits, 0) : NULL;
	JsonbValue	all;
	DocumentBuilder b;

	if (!slice_is(document_get_text(&error->root, "code"), VISIT_FIRST) || first == NULL || first->type != jbvBinary)
		return NULL;
	document_begin(&b);
	document_put_cstring(&b, "state", "auth_required");
	document_put_text(&b, "question", document_get_text(&error->root, "message"));
	document_put_text(&b, "url", document_get_text(first->val.binary.data, "url"));
	if (document_get(data, "elicitations", &all))
		document_put_value(&b, "elicitations", &all);
	return document_end(&b);
}

/*
 * Does a server of MCP say that it needs input, without asking for any?  If it
 * is the status of a task, the server then asks with a request of its own, as a
 * part of the response to tasks/result; or it has got all that it has asked for,
 * and has not gone on yet.  If it is a result, the server only wants the call
 * again, for example because it is busy.
 */
static bool
callee_asks_later(JsonbContainer *envelope, Jsonb *payload)
{
	JsonbContainer *requests = callee_input_requests(payload);
	bool		is_result = slice_is(document_get_text(callee_notes(envelope, "mcp"), "form"), "inputs");

	return callee_asks(&payload->root) && (is_result || callee_is_status(envelope)) &&
		(requests == NULL || JsonContainerSize(requests) == 0);
}

/*
 * Changes an answer of an MCP server where its type does not say what it means.
 * Returns false if there is nothing to report.
 */
static bool
callee_read_mcp(const Call *call, JsonbContainer *envelope, MessageType given, CalleeAnswer *answer)
{
	/* without the ID of a request, an error is one of the task, like the status of a task that has failed */
	bool		is_error = given == MSG_TOOL_ERROR || (given == MSG_TASK_ERROR && !callee_is_status(envelope));
	Jsonb	   *visit = is_error && call->kind == CALL_TASK ? callee_visit(answer->payload) : NULL;

	if (visit != NULL)
	{
		answer->type = MSG_TASK_PROGRESS;
		answer->payload = visit;
	}
	if (answer->is_last)
		return true;
	if (given == MSG_TASK_PROGRESS && callee_asks_later(envelope, answer->payload))
		answer->payload = callee_set_apart(answer->payload);
	return !callee_cancels_own_request(envelope) && !callee_repeats_requests(call, envelope, answer->payload) &&
		(given != MSG_TASK_RESULT || !callee_awaits_result(envelope));
}

/*
 * The same for an event of a crew or flow of crewAI, of which all may be
 * reported.  What becomes of its tasks, its steps and its tools is progress: the
 * task ends with the crew or flow itself, or with a result or an error that is
 * the last event.
 */
static void
callee_read_crew(const Call *call, JsonbContainer *envelope, MessageType given, CalleeAnswer *answer)
{
	JsonbContainer *native = document_get_container(callee_notes(envelope, "crewai"), "native");
	JsonbValue	task;
	bool		is_of_task = document_get(native, "task_id", &task);
	bool		is_of_tool = given == MSG_TOOL_CALL || given == MSG_TOOL_RESULT || given == MSG_TOOL_ERROR;

	if (answer->is_last || call->kind == CALL_TOOL ? given != MSG_TOOL_CALL : !is_of_task && !is_of_tool)
		return;
	answer->type = MSG_TASK_PROGRESS;
	answer->payload = callee_progress_of_run(given, answer->payload);
}

/* The same for a document of a LangGraph server. */
static void
callee_read_run(JsonbContainer *envelope, MessageType given, CalleeAnswer *answer)
{
	answer->type = callee_type_in_run(envelope, given, answer->is_last);
	if (given == MSG_TASK_PROGRESS && callee_asks(&answer->payload->root))
		answer->type = MSG_TASK_PROGRESS;
	else if (answer->type == MSG_TASK_PROGRESS)
		answer->payload = callee_progress_of_run(given, answer->payload);
	else if (answer->type == MSG_TASK_RESULT)
		answer->payload = callee_values_of_run(envelope, answer->payload);
}

/* -------------------------------------------------------------- the answer */

bool
callee_read_answer(const Call *call, const Endpoint *endpoint, Jsonb *document, CalleeAnswer *answer)
{
	JsonbContainer *envelope = &document->root;
	MessageType given = message_type_parse(document_get_text(envelope, "type"));

	answer->type = callee_type_of(given, answer->is_last);
	answer->payload = given == MSG_TASK_CANCEL ?
		callee_error_payload("CANCELLED", "the other side has cancelled the task", false) : callee_part(envelope, "payload");
	answer->payload_type = document_get_text(envelope, "payload_type");
	answer->attachments = callee_part(envelope, "attachments");
	answer->meta = callee_meta(document_get_container(envelope, "meta"), SLICE_NONE);
	if (slice_is(endpoint->adapter, "langgraph"))
		callee_read_run(envelope, given, answer);
	else if (slice_is(endpoint->adapter, "crewai"))
		callee_read_crew(call, envelope, given, answer);
	if (answer->type == MSG_UNKNOWN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("response", "WRONG_VALUE"),
				 errmsg("an envelope of type \"%s\" is not an answer to a call", message_type_name(given)),
				 errhint("Answer a call with a progress, a result, an error or a message; send anything else with clutch.send.")));
	if (slice_is(endpoint->adapter, "mcp"))
		return callee_read_mcp(call, envelope, given, answer);
	return answer->is_last || !slice_is(endpoint->adapter, "a2a") || !callee_repeats_question(call, envelope, answer->payload);
}
