/*-------------------------------------------------------------------------
 *
 * gateway_fn.c
 *	  What a gateway calls: clutch.outbox_claim and clutch.outbox_done.
 *
 * Adapters may be functions that users have written, and run with the rights of the
 * gateway.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/blob.h"
#include "api/outgoing.h"
#include "api/result.h"
#include "api/streamed.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/query.h"
#include "base/savepoint.h"
#include "flow/callee.h"
#include "protocol/place.h"
#include "task/task.h"
#include "trust/principal.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(clutch_outbox_claim);
PG_FUNCTION_INFO_V1(clutch_outbox_done);

/* ------------------------------------------------------------------ claiming */

enum
{
	CLAIMED_ID, CLAIMED_ATTEMPT, CLAIMED_ENDPOINT, CLAIMED_KIND, CLAIMED_URL, CLAIMED_HEADERS, CLAIMED_BODY,
	CLAIMED_WANTS_ANSWER, CLAIMED_LEASE_UNTIL,
	NUM_CLAIMED_COLUMNS
};

/* what is sent for a call; render_call fills it in, and may raise errors */
typedef struct Rendering
{
	const Call *call;
	const Endpoint *endpoint;	/* NULL: it has been deleted */
	Slice		body;
	Jsonb	   *headers;
} Rendering;

static Slice
text_of_document(Jsonb *document)
{
	return slice_of_cstring(JsonbToCString(NULL, &document->root, VARSIZE(document)));
}

static void
render_call(void *arg)
{
	Rendering  *rendering = arg;
	Jsonb	   *document;

	if (rendering->endpoint == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("endpoint %s does not exist any more", place_quote(rendering->call->endpoint))));
	document = outgoing_document(rendering->call, rendering->endpoint);
	rendering->body = text_of_document(document);
	rendering->headers = outgoing_headers(rendering->call, rendering->endpoint, document, rendering->body);
}

static void
put_claimed(FunctionCallInfo fcinfo, const Rendering *rendering)
{
	const Call *call = rendering->call;
	Datum		values[NUM_CLAIMED_COLUMNS] = {0};
	bool		nulls[NUM_CLAIMED_COLUMNS] = {0};

	result_text(values, nulls, CLAIMED_ID, call->id);
	values[CLAIMED_ATTEMPT] = Int32GetDatum(call->attempt);
	result_text(values, nulls, CLAIMED_ENDPOINT, call->endpoint);
	result_text(values, nulls, CLAIMED_KIND, slice_of_cstring(call_kind_name(call->kind)));
	result_text(values, nulls, CLAIMED_URL, rendering->endpoint->url);
	result_jsonb(values, nulls, CLAIMED_HEADERS, rendering->headers);
	result_text(values, nulls, CLAIMED_BODY, rendering->body);
	values[CLAIMED_WANTS_ANSWER] = BoolGetDatum(callee_answers(call));
	result_timestamp(values, nulls, CLAIMED_LEASE_UNTIL, call->lease_until);
	result_put_row(fcinfo, values, nulls);
}

/* Makes the call a dead letter, and reports the failure to whoever waits for its answer. */
static void
give_up(Call *call, const Endpoint *endpoint, int status, const char *failure)
{
	call_end(call, CALL_DEAD, status, failure);
	if (callee_answers(call))
		callee_report_failure(call, endpoint, "UNAVAILABLE", failure);
}

static void
forget_unwanted(Call *call, int status)
{
	call_end(call, CALL_VOID, status, "nobody waits for the answer any more");
}

/* Have so many gateways claimed the call without reporting an outcome that it is to be given up? */
static bool
was_lost_too_often(const Call *call, const Endpoint *endpoint)
{
	return endpoint != NULL && call_attempts(call) > endpoint->max_attempts;
}

/* Does the event report an end of its task that was late, or after which the task is tried again? */
static bool
reports_no_end(const Call *call)
{
	Jsonb	   *envelope = event_read(call->seq, ROWS_LATEST);
	MessageType type = envelope == NULL ? MSG_UNKNOWN : message_type_parse(document_get_text(&envelope->root, "type"));
	Task	   *task = NULL;

	if (type == MSG_TASK_RESULT || type == MSG_TASK_ERROR || type == MSG_TASK_TIMEOUT)
		task = task_look(call->task_id, ROWS_LATEST);
	if (task == NULL)
		return false;
	return type == MSG_TASK_TIMEOUT ? task->status != TASK_TIMED_OUT : task->result_seq != call->seq;
}

/*
 * Would the call mislead the other side?  In A2A an event becomes the state of its task, and
 * a client does not ask again about a task that has ended.
 */
static bool
misleads(const Call *call, const Endpoint *endpoint)
{
	return call->kind == CALL_EVENT && endpoint != NULL && slice_equal(endpoint->adapter, SLICE_OF("a2a")) &&
		reports_no_end(call);
}

/*
 * Returns the row of a call; false: it is not to be sent.  A call that cannot be sent
 * becomes a dead letter, so it does not hold up other calls.
 */
static bool
claim_one(FunctionCallInfo fcinfo, Call *call)
{
	Rendering	rendering = {call, endpoint_read(call->endpoint)};
	ErrorData  *error;

	if (!callee_is_awaited(call))
	{
		forget_unwanted(call, call->status);
		return false;
	}
	if (callee_is_called_off(call))
	{
		call_end(call, CALL_VOID, call->status, "the task that has called the tool was cancelled or has timed out");
		return false;
	}
	if (misleads(call, rendering.endpoint))
	{
		call_end(call, CALL_VOID, call->status, "the event was not the end of its task");
		return false;
	}
	if (was_lost_too_often(call, rendering.endpoint))
	{
		give_up(call, rendering.endpoint, call->status, "no gateway has reported how the call ended");
		return false;
	}
	error = savepoint_run(render_call, &rendering);
	if (error != NULL)
	{
		if (savepoint_failed_by_chance(error))
			ReThrowError(error);
		give_up(call, rendering.endpoint, 0, error->message);
		return false;
	}
	put_claimed(fcinfo, &rendering);
	return true;
}

Datum
clutch_outbox_claim(PG_FUNCTION_ARGS)
{
	int			missing = PG_ARGISNULL(0) ? 1 : PG_GETARG_INT32(0);
	int64		lease = argument_duration(fcinfo, 1, "lease");

	if (missing < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("max_calls", "NUMBER_OUT_OF_RANGE"),
				 errmsg("argument \"max_calls\" must be at least 1, not %d", missing)));
	result_begin_rows(fcinfo);
	while (missing > 0)
	{
		List	   *calls = call_claim(missing, lease);
		ListCell   *cell;

		if (calls == NIL)
			break;
		foreach(cell, calls)
			missing -= claim_one(fcinfo, lfirst(cell));
	}
	return (Datum) 0;
}

/* ------------------------------------------------------------------ reporting */

/* what a gateway reports of a call */
typedef struct Report
{
	int			status;			/* of HTTP; 0: there was no response, or it is not known */
	const char *failure;		/* NULL: the attempt has not failed */
	Jsonb	   *response;		/* NULL: there was none, or it was not JSON */
	bool		is_last;
	int64		retry_after;	/* seconds */
} Report;

static bool
report_is_success(const Report *report)
{
	return report->failure == NULL && (report->status == 0 || (report->status >= 200 && report->status < 300));
}

/* the URL does not exist any more */
#define HTTP_GONE	410

/* the longest pause that the other side can ask for, in seconds: a year */
#define LONGEST_PAUSE	(366 * SECS_PER_DAY)

/* the answer is not in the response: a role that speaks for the agent will report it */
#define HTTP_ACCEPTED	202

static void
take_failure(Call *call, const Endpoint *endpoint, const Report *report)
{
	const char *failure = report->failure != NULL ? report->failure : psprintf("HTTP status %d", report->status);

	if (endpoint == NULL || report->status == HTTP_GONE)
		give_up(call, endpoint, report->status, failure);
	else
	{
		call_fail(call, endpoint, report->status, failure, report->retry_after, callee_awaited_until(call));
		if (call->state == CALL_DEAD && callee_answers(call))
			callee_report_failure(call, endpoint, "UNAVAILABLE", failure);
	}
}

/* an answer, which is reported in a savepoint, so that an error becomes a failure of the call */
typedef struct Answer
{
	const Call *call;
	const Endpoint *endpoint;
	const Report *report;
	List	   *references;		/* the artifacts that bytes of the response have become */
	bool		said;			/* something has been reported */
	bool		ended;			/* the end of the answer has been reported */
} Answer;

/* The response, in which bytes are replaced by artifacts if the endpoint says so. */
static Jsonb *
response_of_answer(const Answer *answer, List **references)
{
	Json	   *tree;

	*references = NIL;
	if (answer->endpoint->artifacts_from == 0)
		return answer->report->response;
	tree = json_read(answer->report->response);
	*references = blob_keep(tree, answer->endpoint->artifacts_from);
	return *references == NIL ? answer->report->response : json_write(tree);
}

/* The envelope, with the artifacts that it names as attachments. */
static Jsonb *
with_artifacts(Jsonb *envelope, const Endpoint *endpoint, const List *references)
{
	Json	   *tree;

	if (references == NIL)
		return envelope;
	tree = json_read(envelope);
	blob_mark(tree, slice_cstring(endpoint->adapter), references);
	return json_write(tree);
}

/* the envelopes that a document of the dialect of the endpoint makes */
static List *
translated(const Answer *answer, Jsonb *document)
{
	Jsonb	   *arguments[] = {document, callee_context(answer->call, answer->endpoint)};

	return query_list_jsonb(psprintf("SELECT clutch.inbound($1, %s, $2)", quote_literal_cstr(slice_cstring(answer->endpoint->adapter))),
							arguments, lengthof(arguments));
}

/* The envelope.  If it is a result of A2A, it gets the artifacts that were streamed before it. */
static Jsonb *
with_streamed(const Answer *answer, Jsonb *envelope)
{
	List	   *references = NIL;
	Jsonb	   *task = answer->call->kind == CALL_TASK && slice_equal(answer->endpoint->adapter, SLICE_OF("a2a")) &&
		streamed_lacks(envelope) ? streamed_task(answer->call, envelope, &references) : NULL;

	return task == NULL ? envelope :
		with_artifacts(streamed_complete(envelope, task, linitial(translated(answer, task))), answer->endpoint, references);
}

/* the envelopes that a response makes */
static List *
envelopes_of_response(Answer *answer)
{
	return translated(answer, response_of_answer(answer, &answer->references));
}

/*
 * An envelope as it is reported.  The artifacts that were streamed before a result may have come
 * in the same response, so this is asked when all that stands before it has been reported.
 */
static Jsonb *
completed(const Answer *answer, Jsonb *envelope)
{
	return with_artifacts(with_streamed(answer, envelope), answer->endpoint, answer->references);
}

/*
 * The envelopes of the response, or (envelope is not NULL) this one of them, completed.  Their
 * sender is the agent, for which the role of the gateway does not speak, so the database acts as
 * the owner of its tables.
 */
static void *
as_owner(Answer *answer, Jsonb *envelope)
{
	void	   *volatile made = NULL;

	principal_act_for(rows_owner());
	PG_TRY();
	{
		made = envelope != NULL ? (void *) completed(answer, envelope) : (void *) envelopes_of_response(answer);
	}
	PG_FINALLY();
	{
		principal_act_for(InvalidOid);
	}
	PG_END_TRY();
	return made;
}

static void
take_documents(void *arg)
{
	Answer	   *answer = arg;
	List	   *envelopes = as_owner(answer, NULL);
	ListCell   *cell;

	foreach(cell, envelopes)
	{
		bool		is_last = answer->report->is_last && lnext(envelopes, cell) == NULL;

		if (answer->ended)
			break;
		answer->ended = callee_report(answer->call, answer->endpoint, as_owner(answer, lfirst(cell)), is_last);
		answer->said = true;
	}
}

/* A response of an endpoint with the adapter http may be any JSON. */
static void
take_payload(void *arg)
{
	Answer	   *answer = arg;

	answer->ended = callee_report_payload(answer->call, answer->endpoint, answer->report->response, answer->report->is_last);
	answer->said = true;
}

/*
 * Reports an answer.  Returns NULL, or a message that says what is wrong with it.  An answer
 * that contains only progress does not end the task; a later answer does.
 */
static const char *
take_answer(Answer *answer)
{
	ErrorData  *error = savepoint_run(take_documents, answer);

	if (error != NULL && error->sqlerrcode == ERRCODE_CLUTCH_NOT_HANDLED &&
		slice_equal(answer->endpoint->adapter, SLICE_OF("http")))
		error = savepoint_run(take_payload, answer);
	if (error == NULL)
		return answer->said ? NULL : "it says nothing";
	if (savepoint_failed_by_chance(error))
		ReThrowError(error);
	return error->message;
}

static void
take_response(Call *call, const Endpoint *endpoint, const Report *report)
{
	Answer		answer = {call, endpoint, report};
	const char *fault = NULL;

	if (report->response != NULL)
		fault = take_answer(&answer);
	else if (report->is_last && report->status != HTTP_ACCEPTED)
		fault = "it is empty";
	if (fault != NULL)
	{
		fault = psprintf("the answer cannot be taken: %s", fault);
		call_end(call, CALL_DEAD, report->status, fault);
		callee_report_failure(call, endpoint, "INVALID_ANSWER", fault);
	}
	else if (report->is_last || answer.ended)
		call_end(call, CALL_SENT, report->status, NULL);
	else
		call_extend(call, endpoint->patience * USECS_PER_SEC);
}

/*
 * Nobody can say any more in which dialect the answer is, or who may give it, so it cannot be
 * taken.  Whoever waits for it is told at once, rather than when the lease ends.
 */
static void
take_response_from_nowhere(Call *call, const Report *report)
{
	if (report->response != NULL || report->status != HTTP_ACCEPTED)
		give_up(call, NULL, report->status, psprintf("endpoint %s does not exist any more", place_quote(call->endpoint)));
	else if (report->is_last)
		call_end(call, CALL_SENT, report->status, NULL);
}

static void
take_report(Call *call, const Report *report)
{
	const Endpoint *endpoint = endpoint_read(call->endpoint);

	if (!callee_is_awaited(call))
		forget_unwanted(call, report->status);
	else if (!report_is_success(report))
		take_failure(call, endpoint, report);
	else if (callee_answers(call) && endpoint == NULL)
		take_response_from_nowhere(call, report);
	else if (callee_answers(call))
		take_response(call, endpoint, report);
	else if (report->is_last)
		call_end(call, CALL_SENT, report->status, NULL);
}

/*
 * A pause that the other side has asked for, in seconds.  It may be zero, or negative if it is the
 * rest until a time that has passed, or any length, and the outcome of the call must be noted all the same.
 */
static int64
pause_of_argument(FunctionCallInfo fcinfo, int n)
{
	const Interval *pause = PG_ARGISNULL(n) ? NULL : PG_GETARG_INTERVAL_P(n);
	double		seconds = pause == NULL ? 0 : pause->time / 1e6 + (double) pause->day * SECS_PER_DAY +
		(double) pause->month * DAYS_PER_MONTH * SECS_PER_DAY;

	return (int64) Max(Min(seconds, (double) LONGEST_PAUSE), 0);
}

static Report
report_of_arguments(FunctionCallInfo fcinfo)
{
	Report		report = {.is_last = PG_ARGISNULL(5) || PG_GETARG_BOOL(5)};
	Slice		failure = argument_optional_text(fcinfo, 3);

	report.status = PG_ARGISNULL(2) ? 0 : PG_GETARG_INT32(2);
	report.failure = slice_present(failure) ? slice_cstring(failure) : NULL;
	report.response = argument_optional_jsonb(fcinfo, 4);
	report.retry_after = pause_of_argument(fcinfo, 6);
	if (!PG_ARGISNULL(2) && (report.status < 100 || report.status > 599))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("status", "NUMBER_OUT_OF_RANGE"),
				 errmsg("argument \"status\" must be between 100 and 599, not %d", report.status),
				 errhint("Pass NULL, and say in \"failure\" what happened, if there was no answer.")));
	return report;
}

Datum
clutch_outbox_done(PG_FUNCTION_ARGS)
{
	Slice		id = argument_text(fcinfo, 0, "id");
	int			attempt = argument_attempt(fcinfo, 1);
	Report		report = report_of_arguments(fcinfo);
	Call	   *call = call_lock(id);

	if (call == NULL || call->state != CALL_PENDING || call->lease_until == 0 || call->attempt != attempt)
		PG_RETURN_TEXT_P(cstring_to_text("lost"));
	take_report(call, &report);
	PG_RETURN_TEXT_P(cstring_to_text(call_state_name(call->state)));
}
