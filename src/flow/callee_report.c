/*-------------------------------------------------------------------------
 *
 * callee_report.c
 *	  Reporting what an agent or a tool server behind an endpoint has answered.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "flow/attachment.h"
#include "flow/callee_part.h"
#include "protocol/draft.h"
#include "protocol/identifier.h"
#include "task/report.h"

/* the code of an error of MCP, URL elicitation required (adapters/mcp_result.c) */
#define VISIT_FIRST	"MCP_-32042"

/* the parts of an answer that are reported */
typedef struct CalleeAnswer
{
	MessageType type;			/* for a task: task.progress, task.result or
								 * task.error */
	Jsonb	   *payload;
	Slice		payload_type;
	Jsonb	   *attachments;
	Jsonb	   *meta;
	const List *made;			/* the references of the artifacts that its bytes have become */
	bool		is_last;		/* nothing follows it */
} CalleeAnswer;

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

static Jsonb *
callee_error_payload(const char *code, const char *message, bool retryable)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "code", code);
	document_put_cstring(&b, "message", message);
	document_put_bool(&b, "retryable", retryable);
	return document_end(&b);
}

/*
 * Returns the meta of a report.  Orders to the database are removed, except
 * for the usage.
 */
static Jsonb *
callee_meta(JsonbContainer *meta, Slice reply_to)
{
	JsonbContainer *orders = document_get_container(meta, "clutch");
	JsonbValue	usage;
	DocumentBuilder b;

	document_begin(&b);
	if (meta != NULL)
		document_put_pairs(&b, meta, "clutch");
	document_open_object(&b, "clutch");
	if (orders != NULL && document_get(orders, "usage", &usage))
		document_put_value(&b, "usage", &usage);
	document_put_text(&b, "reply_to", reply_to);
	document_close_object(&b);
	return document_end(&b);
}

/*
 * Sends a report as the owner, because the gateway does not speak for the
 * agent.  The owner may read every artifact, so the report must not attach them
 * with the rights of the owner: whoever is behind the endpoint could attach any
 * artifact whose digest is known there.
 */
static Receipt
callee_send_report(Jsonb *envelope, Slice agent_id, const CalleeAnswer *answer)
{
	Receipt		receipt;

	attachment_act_for(agent_id, answer->made);
	PG_TRY();
	{
		receipt = event_send_as_owner(envelope);
	}
	PG_FINALLY();
	{
		attachment_act_for(SLICE_NONE, NIL);
	}
	PG_END_TRY();
	return receipt;
}

/*
 * Reports the answer on the task.  A late report has no effect, so nobody
 * wants further ones.
 */
static CalleeState
callee_report_task(const Call *call, const CalleeAnswer *answer)
{
	Task	   *task = callee_task(call);
	Report		report = {answer->type, .from = call->agent_id, .attempt = call->task_attempt};

	if (task == NULL)
		return CALLEE_UNWANTED;
	report.to = task->from_agent;
	report.domain = task->domain;
	report.payload = answer->payload;
	report.payload_type = answer->payload_type;
	report.attachments = answer->attachments;
	report.meta = answer->meta;
	if (callee_send_report(report_build(task, &report), call->agent_id, answer).late)
		return CALLEE_UNWANTED;
	return callee_task(call) == NULL ? CALLEE_ENDED : CALLEE_GOES_ON;
}

/*
 * Returns the agent that stands for the server that is called.  The endpoint
 * may be gone, or serve another one, so it counts only for a redacted call.
 */
static Slice
callee_server(Jsonb *request, const Endpoint *endpoint)
{
	JsonbContainer *payload = document_get_container(&request->root, "payload");
	Slice		server = payload == NULL ? SLICE_NONE : callee_server_of(document_get_text(payload, "tool"));

	return slice_present(server) || endpoint == NULL ? server : endpoint->serves;
}

/* Does the progress ask for something? */
static bool
callee_asks(Jsonb *progress)
{
	Slice		state = progress == NULL ? SLICE_NONE : document_get_text(&progress->root, "state");

	return slice_is(state, "input_required") || slice_is(state, "auth_required");
}

/*
 * Returns the payload of the error for a tool whose answer has ended with
 * progress.  The progress is in the details: if the tool asks for something,
 * the caller learns what.
 */
static Jsonb *
callee_unfinished(Jsonb *progress)
{
	bool		asks = callee_asks(progress);
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "code", asks ? "INPUT_REQUIRED" : "INVALID_ANSWER");
	document_put_cstring(&b, "message", asks ? "the tool asks for input, which a call cannot give" :
						 "the answer has ended with progress, and without a result");
	document_put_bool(&b, "retryable", false);
	if (progress != NULL)
		document_put_jsonb(&b, "details", progress);
	return document_end(&b);
}

/*
 * Reports the result or the error of a tool.  Progress is not reported, but an
 * answer that ends with it is an error, because the caller waits for an end.
 */
static CalleeState
callee_report_tool(const Call *call, const Endpoint *endpoint, const CalleeAnswer *answer)
{
	Jsonb	   *request = event_read(call->seq, ROWS_LATEST);
	bool		is_progress = answer->type == MSG_TASK_PROGRESS;
	bool		failed = answer->type == MSG_TASK_ERROR || is_progress;
	Draft		draft = {.now = clock_now(), .to_agent = call->agent_id};

	if (is_progress && !answer->is_last)
		return CALLEE_GOES_ON;
	if (request != NULL)
		draft.from_agent = callee_server(request, endpoint);
	if (!slice_present(draft.from_agent))
		return CALLEE_ENDED;
	draft.id = slice_of_cstring(identifier_make("msg", draft.now));
	draft.type = slice_of_cstring(message_type_name(failed ? MSG_TOOL_ERROR : MSG_TOOL_RESULT));
	draft.run_id = call->run_id;
	draft.thread_id = document_get_text(&request->root, "thread_id");
	draft.task_id = call->task_id;
	draft.payload = is_progress ? callee_unfinished(answer->payload) : answer->payload;
	draft.payload_type = answer->payload_type;
	draft.attachments = answer->attachments;
	draft.meta = callee_meta(answer->meta == NULL ? NULL : &answer->meta->root, document_get_text(&request->root, "id"));
	(void) callee_send_report(draft_document(&draft), draft.from_agent, answer);
	return CALLEE_ENDED;
}

/* Reports an answer to a call that expects one. */
static CalleeState
callee_send(const Call *call, const Endpoint *endpoint, const CalleeAnswer *answer)
{
	return call->kind == CALL_TASK ? callee_report_task(call, answer) : callee_report_tool(call, endpoint, answer);
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
	Jsonb	   *question = callee_asks(payload) ? callee_question(call) : NULL;
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

bool
callee_passes_over(const Endpoint *endpoint, Jsonb *document)
{
	bool		is_call = slice_is(document_get_text(&document->root, "type"), message_type_name(MSG_TOOL_CALL));
	JsonbContainer *notes = callee_notes(&document->root, "langgraph");
	bool		is_stub;

	/* for the others, it is the stub of the call that was sent */
	if (!slice_is(endpoint->adapter, "langgraph"))
		return is_call;
	return (document_get_bool(notes, "stub", &is_stub) && is_stub) || (is_call && slice_present(document_get_text(notes, "part_of")));
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
	DocumentBuilder b;

	if (given == MSG_TASK_PROGRESS || payload == NULL ||
		(!document_get(&payload->root, "state", &value) && !document_get(&payload->root, "deadline", &value)))
		return payload;
	document_begin(&b);
	document_put_jsonb(&b, "data", payload);
	return document_end(&b);
}

/*
 * Does a status of MCP say that the server has completed its task, without the
 * result?  The result is then a response of its own (adapters/mcp_status.c).
 */
static bool
callee_awaits_result(JsonbContainer *envelope)
{
	JsonbContainer *notes = callee_notes(envelope, "mcp");

	return notes != NULL && slice_is(document_get_text(notes, "form"), "status") &&
		!slice_present(document_get_text(notes, "holds"));
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

CalleeState
callee_report(const Call *call, const Endpoint *endpoint, Jsonb *document, const List *made, bool is_last)
{
	JsonbContainer *envelope = &document->root;
	MessageType given = message_type_parse(document_get_text(envelope, "type"));
	bool		is_run = slice_is(endpoint->adapter, "langgraph");
	CalleeAnswer answer = {is_run ? callee_type_in_run(envelope, given, is_last) : callee_type_of(given, is_last),
	.made = made, .is_last = is_last};
	Jsonb	   *visit = NULL;

	if (answer.type == MSG_UNKNOWN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("response", "WRONG_VALUE"),
				 errmsg("a %s is not an answer to a call", message_type_name(given)),
				 errhint("Answer a call with a progress, a result, an error or a message; send anything else with clutch.send.")));
	answer.payload = given == MSG_TASK_CANCEL ?
		callee_error_payload("CANCELLED", "the other side has cancelled the task", false) : callee_part(envelope, "payload");
	if (!is_last && slice_is(endpoint->adapter, "a2a") && callee_repeats_question(call, envelope, answer.payload))
		return CALLEE_GOES_ON;
	if (given == MSG_TASK_RESULT && !is_last && slice_is(endpoint->adapter, "mcp") && callee_awaits_result(envelope))
		return CALLEE_GOES_ON;
	if (given == MSG_TOOL_ERROR && call->kind == CALL_TASK && slice_is(endpoint->adapter, "mcp"))
		visit = callee_visit(answer.payload);
	if (visit != NULL)
	{
		answer.type = MSG_TASK_PROGRESS;
		answer.payload = visit;
	}
	if (is_run && given == MSG_TASK_PROGRESS && callee_asks(answer.payload))
		answer.type = MSG_TASK_PROGRESS;
	else if (is_run && answer.type == MSG_TASK_PROGRESS)
		answer.payload = callee_progress_of_run(given, answer.payload);
	else if (is_run && answer.type == MSG_TASK_RESULT)
		answer.payload = callee_values_of_run(envelope, answer.payload);
	answer.payload_type = document_get_text(envelope, "payload_type");
	answer.attachments = callee_part(envelope, "attachments");
	answer.meta = callee_meta(document_get_container(envelope, "meta"), SLICE_NONE);
	return callee_send(call, endpoint, &answer);
}

CalleeState
callee_report_payload(const Call *call, const Endpoint *endpoint, Jsonb *payload, bool is_last)
{
	CalleeAnswer answer = {is_last ? MSG_TASK_RESULT : MSG_TASK_PROGRESS, payload};
	DocumentBuilder b;

	if (!JB_ROOT_IS_OBJECT(payload))
	{
		document_begin(&b);
		document_put_jsonb(&b, "content", payload);
		answer.payload = document_end(&b);
	}
	return callee_send(call, endpoint, &answer);
}

void
callee_give_up(Call *call, const Endpoint *endpoint, int status, const char *code, const char *failure)
{
	CalleeAnswer answer = {MSG_TASK_ERROR, callee_error_payload(code, slice_cstring(call_clip_failure(failure)), true)};

	if (callee_answers(call) && callee_send(call, endpoint, &answer) == CALLEE_UNWANTED)
		call_end(call, CALL_VOID, status, CALL_UNWANTED);
	else
		call_end(call, CALL_DEAD, status, failure);
}
