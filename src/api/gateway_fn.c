/*-------------------------------------------------------------------------
 *
 * gateway_fn.c
 *	  The functions for gateways: clutch.outbox_claim and clutch.outbox_done.
 *
 * Adapters may be user-defined functions, which run with the rights of the
 * gateway (api/incoming, api/outgoing).
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/incoming.h"
#include "api/outgoing.h"
#include "api/result.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/savepoint.h"
#include "base/wait.h"
#include "flow/callee.h"
#include "flow/restored.h"
#include "protocol/place.h"
#include "task/task.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

PG_FUNCTION_INFO_V1(clutch_outbox_claim);
PG_FUNCTION_INFO_V1(clutch_outbox_done);

/* ------------------------------------------------------------------ claiming */

enum
{
	CLAIMED_ID, CLAIMED_ATTEMPT, CLAIMED_ENDPOINT, CLAIMED_KIND, CLAIMED_URL, CLAIMED_HEADERS, CLAIMED_BODY,
	CLAIMED_WANTS_ANSWER, CLAIMED_LEASE_UNTIL,
	NUM_CLAIMED_COLUMNS
};

/*
 * What is sent for a call.  render_call fills it in, and may raise errors.  If
 * there is nothing to be sent, the body remains absent.
 */
typedef struct Rendering
{
	const Call *call;
	const Endpoint *endpoint;	/* NULL if it has been deleted */
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
	if (document == NULL)
		return;
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

static void
forget_unwanted(Call *call, int status)
{
	call_end(call, CALL_VOID, status, CALL_UNWANTED);
}

/*
 * Makes the call a dead letter, and reports the failure to the task that waits
 * for its answer.  If the report comes too late, nothing waits any more, and
 * the call becomes void instead.
 */
static void
give_up(Call *call, const Endpoint *endpoint, int status, const char *code, const char *failure)
{
	if (callee_answers(call) &&
		callee_report_failure(call, endpoint, code, slice_cstring(call_clip_failure(failure))) == CALLEE_UNWANTED)
		forget_unwanted(call, status);
	else
		call_end(call, CALL_DEAD, status, failure);
}

/* the arguments of give_up for a call that cannot be handed out */
typedef struct GivenUp
{
	Call	   *call;
	const Endpoint *endpoint;
	int			status;
	const char *failure;
} GivenUp;

static void
give_up_now(void *arg)
{
	GivenUp    *given_up = arg;

	give_up(given_up->call, given_up->endpoint, given_up->status, "UNAVAILABLE", given_up->failure);
}

/*
 * Raises 55P03 instead of waiting for a lock that another transaction holds.
 */
static void
give_up_without_waiting(void *arg)
{
	wait_forbidden_run(give_up_now, arg);
}

/*
 * Gives up a call that cannot be handed out.  A transaction that keeps its
 * task locked must not hold up other calls, so in that case the call is left
 * alone, and is tried again when the lease that it has just got ends.
 */
static void
give_up_claimed(Call *call, const Endpoint *endpoint, int status, const char *failure)
{
	GivenUp		given_up = {call, endpoint, status, failure};
	ErrorData  *error = savepoint_run(give_up_without_waiting, &given_up);

	if (error != NULL && error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
		ReThrowError(error);
}

/*
 * Leaves a call alone whose body needs more memory or temporary space than
 * there is, so that it does not keep gateways from the calls of others.  It is
 * tried again when the lease that it has just got ends, and given up when it
 * has no attempts left.  After a deadlock or a lock that another transaction
 * holds, the claim must be repeated, which costs no call an attempt.
 */
static void
leave_for_later(const Call *call, ErrorData *error)
{
	if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_INSUFFICIENT_RESOURCES)
		ReThrowError(error);
	ereport(WARNING,
			(errcode(error->sqlerrcode),
			 errmsg("call \"%.*s\" for endpoint \"%.*s\" cannot be handed out now: %s", call->id.len, call->id.s,
					call->endpoint.len, call->endpoint.s, error->message),
			 errhint("It is tried again when its lease ends, and given up after the attempts that the endpoint allows; other calls are handed out.")));
}

/*
 * Have so many gateways claimed the call without reporting an outcome that we
 * should give it up?
 */
static bool
was_lost_too_often(const Call *call, const Endpoint *endpoint)
{
	return endpoint != NULL && call_attempts(call) > endpoint->max_attempts;
}

/*
 * Is the event a report or a cancellation that came too late to end its task,
 * or after which the task is retried?
 */
static bool
reports_no_end(const Call *call)
{
	Jsonb	   *envelope = event_read(call->seq, ROWS_LATEST);
	MessageType type = envelope == NULL ? MSG_UNKNOWN : message_type_parse(document_get_text(&envelope->root, "type"));
	Task	   *task = NULL;

	if (type == MSG_TASK_RESULT || type == MSG_TASK_ERROR || type == MSG_TASK_TIMEOUT || type == MSG_TASK_CANCEL)
		task = task_look(call->task_id, ROWS_LATEST);
	if (task == NULL)
		return false;
	return type == MSG_TASK_CANCEL ? task->status != TASK_CANCELLED :
		type == MSG_TASK_TIMEOUT ? task->status != TASK_TIMED_OUT : task->result_seq != call->seq;
}

/*
 * Would the call mislead the other side?  In A2A an event becomes the state of
 * its task, and clients do not ask again about a task that has ended.
 */
static bool
misleads(const Call *call, const Endpoint *endpoint)
{
	return call->kind == CALL_EVENT && endpoint != NULL && slice_is(endpoint->adapter, "a2a") &&
		reports_no_end(call);
}

/* Returns why the call is not to be sent any more, or NULL if it is. */
static const char *
reason_against(const Call *call, const Endpoint *endpoint)
{
	if (!callee_is_awaited(call))
		return CALL_UNWANTED;
	if (callee_goes_on(call))
		return "the task goes on";
	if (callee_is_called_off(call))
		return "the task that has called the tool was cancelled or has timed out";
	return misleads(call, endpoint) ? "the event was not the end of its task" : NULL;
}

/*
 * Returns the row of a call in the result.  Returns false if it is not to be
 * sent.  A call that cannot be sent becomes a dead letter, so that it does not
 * hold up other calls.
 */
static bool
claim_one(FunctionCallInfo fcinfo, Call *call)
{
	Rendering	rendering = {call, endpoint_read(call->endpoint)};
	const char *reason = reason_against(call, rendering.endpoint);
	ErrorData  *error;

	if (reason != NULL)
	{
		call_end(call, CALL_VOID, call->status, reason);
		return false;
	}
	if (was_lost_too_often(call, rendering.endpoint))
	{
		give_up_claimed(call, rendering.endpoint, call->status, "no gateway has reported how the call ended");
		return false;
	}
	error = savepoint_run(render_call, &rendering);
	if (error != NULL)
	{
		if (savepoint_failed_by_chance(error))
			leave_for_later(call, error);
		else
			give_up_claimed(call, rendering.endpoint, 0, error->message);
		return false;
	}
	if (!slice_present(rendering.body))
	{
		call_end(call, CALL_VOID, call->status, "the other side has not said by which ID it knows the task");
		return false;
	}
	callee_note_claimed(call, rendering.endpoint);
	put_claimed(fcinfo, &rendering);
	return true;
}

/*
 * Claims one call and frees the memory that this took.  A body may be large,
 * and the result has its own copy.
 */
static bool
claim_and_forget(FunctionCallInfo fcinfo, Call *call)
{
	MemoryContext before = CurrentMemoryContext;
	MemoryContext memory = AllocSetContextCreate(before, "clutch call", ALLOCSET_DEFAULT_SIZES);
	bool		is_claimed;

	MemoryContextSwitchTo(memory);
	is_claimed = claim_one(fcinfo, call);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(memory);
	return is_claimed;
}

/*
 * The most calls that one claim ends instead of handing them out.  If 100,000 calls wait for an
 * endpoint that has been deleted, ending all of them in one transaction takes minutes; a gateway
 * that does not wait so long would begin anew each time, and never come to the calls of others.
 */
#define MOST_ENDED	500

Datum
clutch_outbox_claim(PG_FUNCTION_ARGS)
{
	int			missing = PG_ARGISNULL(0) ? 1 : PG_GETARG_INT32(0);
	int64		lease = argument_duration(fcinfo, 1, "lease");
	int			ended = 0;

	if (missing < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("max_calls", "NUMBER_OUT_OF_RANGE"),
				 errmsg("argument \"max_calls\" must be at least 1, not %d", missing)));
	result_begin_rows(fcinfo);
	while (missing > 0 && ended < MOST_ENDED)
	{
		List	   *calls = call_claim(Min(missing, MOST_ENDED), lease);
		int			before = missing;
		ListCell   *cell;

		if (calls == NIL)
			return (Datum) 0;
		/* in a restored copy, answers to calls of the original would come too late */
		(void) restored_epoch();
		foreach(cell, calls)
			missing -= claim_and_forget(fcinfo, lfirst(cell));
		ended += list_length(calls) - (before - missing);
	}
	/* there may be more, which the gateway would otherwise look for only when it polls */
	if (missing > 0)
		notify_outbox();
	return (Datum) 0;
}

/* ------------------------------------------------------------------ reporting */

/* a gateway's report on a call */
typedef struct Report
{
	int			status;			/* HTTP status; 0 if there was no response, or
								 * if it is not known */
	const char *failure;		/* NULL if the attempt has not failed */
	Jsonb	   *response;		/* NULL if there was none, or it was not JSON */
	bool		is_last;
	int64		retry_after;	/* seconds */
	int			part;			/* number of this response in an answer of
								 * several, or 0 if it has none */
} Report;

static bool
report_is_success(const Report *report)
{
	return report->failure == NULL && (report->status == 0 || (report->status >= 200 && report->status < 300));
}

/* the URL no longer exists */
#define HTTP_GONE	410

/* the longest pause that the other side may ask for, in seconds: one year */
#define LONGEST_PAUSE	(366 * SECS_PER_DAY)

/*
 * the answer is not in this response; a role that speaks for the agent will
 * report it
 */
#define HTTP_ACCEPTED	202

static void
take_failure(Call *call, const Endpoint *endpoint, const Report *report)
{
	const char *failure = report->failure != NULL ? report->failure : psprintf("HTTP status %d", report->status);

	if (endpoint == NULL || report->status == HTTP_GONE ||
		!call_fail(call, endpoint, report->status, failure, report->retry_after, callee_awaited_until(call)))
		give_up(call, endpoint, report->status, "UNAVAILABLE", failure);
}

static void
take_response(Call *call, const Endpoint *endpoint, const Report *report)
{
	CalleeState state = CALLEE_GOES_ON;
	const char *fault = NULL;

	if (report->response != NULL)
		fault = incoming_take(call, endpoint, report->response, report->is_last, &state);
	else if (report->is_last && report->status != HTTP_ACCEPTED)
		fault = "it is empty";
	if (fault != NULL)
		give_up(call, endpoint, report->status, "INVALID_ANSWER", psprintf("the answer cannot be taken: %s", fault));
	else if (state == CALLEE_UNWANTED)
		forget_unwanted(call, report->status);
	else if (report->is_last || state == CALLEE_ENDED)
		call_end(call, CALL_SENT, report->status, NULL);
	else
		call_extend(call, endpoint->patience * USECS_PER_SEC);
}

/*
 * Handles a response of an endpoint that no longer exists.  It cannot be read,
 * because nobody knows its dialect, or who may give the answer.  The waiting
 * task is told at once, rather than when the lease ends.
 */
static void
take_response_from_nowhere(Call *call, const Report *report)
{
	if (report->response != NULL || report->status != HTTP_ACCEPTED)
		give_up(call, NULL, report->status, "UNAVAILABLE",
				psprintf("endpoint %s does not exist any more", place_quote(call->endpoint)));
	else if (report->is_last)
		call_end(call, CALL_SENT, report->status, NULL);
}

/*
 * Has the gateway reported this part of the answer before?  A gateway repeats
 * a report if the connection broke and it cannot know whether the report
 * arrived.  If the part is new, notes it.  A failure never counts as a part,
 * even if it has a number, because it ends the attempt and so cannot be
 * repeated.
 */
static bool
is_repeated(Call *call, const Report *report)
{
	if (report->part != 0 && report->part <= call->part)
		return true;
	call->part = Max(call->part, report->part);
	return false;
}

static void
take_report(Call *call, const Report *report)
{
	const Endpoint *endpoint = endpoint_read(call->endpoint);

	if (!callee_is_awaited(call))
		forget_unwanted(call, report->status);
	else if (!report_is_success(report))
		take_failure(call, endpoint, report);
	else if (is_repeated(call, report))
		return;
	else if (callee_answers(call) && endpoint == NULL)
		take_response_from_nowhere(call, report);
	else if (callee_answers(call))
		take_response(call, endpoint, report);
	else if (report->is_last)
		call_end(call, CALL_SENT, report->status, NULL);
}

static int
number_of_argument(FunctionCallInfo fcinfo, int n, const char *name, const char *hint)
{
	int			number = argument_int4(fcinfo, n, name);

	if (number < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem(name, "NUMBER_OUT_OF_RANGE"),
				 errmsg("argument \"%s\" must be at least 1, not %d", name, number),
				 errhint("%s", hint)));
	return number;
}

/*
 * Returns a pause that the other side has asked for, in seconds.  Values that
 * make no sense, such as a negative rest of a time that has passed, or a huge
 * one, must not raise an error, because the outcome of the call must be
 * recorded anyway.
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
	/*
	 * if this counted as success, a gateway that has lost track of the outcome
	 * would lose the call
	 */
	if (PG_ARGISNULL(2) && report.failure == NULL && report.response == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errproblem("status", "NULL_VALUE"),
				 errmsg("the report does not say how the attempt ended"),
				 errhint("Pass the status of HTTP or, if there was no response, say in \"failure\" what happened.")));
	if (!PG_ARGISNULL(7))
		report.part = number_of_argument(fcinfo, 7, "part", "Count the documents of an answer from 1 on, or pass NULL.");
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
	int			attempt = number_of_argument(fcinfo, 1, "attempt", "Pass the attempt that clutch.outbox_claim returned.");
	Report		report = report_of_arguments(fcinfo);
	Call	   *call = call_lock(id);

	if (call == NULL || call->state != CALL_PENDING || call->lease_until == 0 || call->attempt != attempt)
		PG_RETURN_TEXT_P(cstring_to_text("lost"));
	take_report(call, &report);
	PG_RETURN_TEXT_P(cstring_to_text(call_state_name(call->state)));
}
