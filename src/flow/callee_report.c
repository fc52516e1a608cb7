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
#include "flow/attempt.h"
#include "flow/callee_part.h"
#include "protocol/draft.h"
#include "protocol/identifier.h"
#include "task/report.h"

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
 * Does the other side go on although it has asked?  An agent of A2A that waits
 * for a login may learn elsewhere that the user has logged in, and then goes on
 * with the same stream.  Whoever asks for input waits for the answer.
 */
static bool
callee_goes_on_asking(const Call *call, const Endpoint *endpoint, const CalleeAnswer *answer)
{
	JsonbContainer *payload = answer->payload == NULL ? NULL : &answer->payload->root;

	return endpoint != NULL && slice_is(endpoint->adapter, "a2a") && callee_has_asked(call) &&
		!slice_is(document_get_text(payload, "state"), "input_required");
}

/*
 * Reports the answer on the task.  A late report has no effect, so nobody
 * wants further ones.
 */
static CalleeState
callee_report_task(const Call *call, const Endpoint *endpoint, const CalleeAnswer *answer)
{
	Task	   *task = callee_held_task(call);
	Report		report = {answer->type, .from = call->agent_id, .attempt = call->task_attempt};

	if (task == NULL)
		return CALLEE_UNWANTED;
	report.to = task->from_agent;
	report.domain = task->domain;
	report.payload = answer->type == MSG_TASK_PROGRESS ? callee_progress(answer->payload) : answer->payload;
	report.payload_type = answer->payload_type;
	report.attachments = answer->attachments;
	report.meta = answer->meta;
	if (callee_send_report(report_build(task, &report), call->agent_id, answer).late)
		return CALLEE_UNWANTED;
	return callee_task(call) != NULL || callee_goes_on_asking(call, endpoint, answer) ? CALLEE_GOES_ON : CALLEE_ENDED;
}

/*
 * Returns the agent that stands for the server that is called.  The endpoint
 * may be gone, or serve another one, so it counts only for a redacted call.
 */
static Slice
callee_server(Jsonb *request, const Endpoint *endpoint)
{
	JsonbContainer *payload = document_get_container(&request->root, "payload");
	Slice		server = callee_server_of(document_get_text(payload, "tool"));

	return slice_present(server) || endpoint == NULL ? server : endpoint->serves;
}

/*
 * Returns the payload of the error for a tool whose answer has ended with
 * progress.  The progress is in the details: if the tool asks for something,
 * the caller learns what.
 */
static Jsonb *
callee_unfinished(Jsonb *progress)
{
	bool		asks = callee_asks(progress == NULL ? NULL : &progress->root);
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
	return call->kind == CALL_TASK ? callee_report_task(call, endpoint, answer) : callee_report_tool(call, endpoint, answer);
}

CalleeState
callee_report(const Call *call, const Endpoint *endpoint, Jsonb *document, const List *made, bool is_last)
{
	CalleeAnswer answer = {.made = made, .is_last = is_last};

	if (!callee_read_answer(call, endpoint, document, &answer))
		return CALLEE_GOES_ON;
	return callee_send(call, endpoint, &answer);
}

CalleeState
callee_report_payload(const Call *call, const Endpoint *endpoint, Jsonb *payload, Jsonb *meta, bool is_last)
{
	CalleeAnswer answer = {is_last ? MSG_TASK_RESULT : MSG_TASK_PROGRESS, payload, .meta = meta};

	return callee_send(call, endpoint, &answer);
}

void
callee_give_up(Call *call, const Endpoint *endpoint, int status, const char *code, const char *failure)
{
	bool		retryable = strcmp(code, CALLEE_REJECTED) != 0;
	CalleeAnswer answer = {MSG_TASK_ERROR, callee_error_payload(code, slice_cstring(call_clip_failure(failure)), retryable)};

	if (strcmp(code, CALLEE_UNAVAILABLE) == 0)
		answer.meta = attempt_given_up_meta();
	if (callee_answers(call) && callee_send(call, endpoint, &answer) == CALLEE_UNWANTED)
		call_end(call, CALL_VOID, status, CALL_UNWANTED);
	else
		call_end(call, CALL_DEAD, status, failure);
}
