/*-------------------------------------------------------------------------
 *
 * outcome_fn.c
 *	  What gateways report about calls: clutch.outbox_done.
 *
 * Adapters may be user-defined functions, which run with the rights of the
 * gateway (api/incoming).
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/incoming.h"
#include "api/result.h"
#include "flow/callee.h"
#include "protocol/place.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(clutch_outbox_done);

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

/* the other side has understood the request, and does not accept it */
#define HTTP_UNPROCESSABLE	422

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

	if (endpoint != NULL && report->status == HTTP_UNPROCESSABLE && callee_answers(call))
		callee_give_up(call, endpoint, report->status, CALLEE_REJECTED, failure);
	else if (endpoint == NULL || report->status == HTTP_GONE ||
		!call_fail(call, endpoint, report->status, failure, report->retry_after, callee_awaited_until(call)))
		callee_give_up(call, endpoint, report->status, CALLEE_UNAVAILABLE, failure);
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
		callee_give_up(call, endpoint, report->status, "INVALID_ANSWER", psprintf("the answer cannot be taken: %s", fault));
	else if (state == CALLEE_UNWANTED)
		call_end(call, CALL_VOID, report->status, CALL_UNWANTED);
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
		callee_give_up(call, NULL, report->status, CALLEE_UNAVAILABLE,
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

/*
 * Returns the endpoint that has been called, or NULL if it has been deleted.
 * When the call was claimed, a transaction that has renamed the endpoint may
 * not have been committed yet.
 */
static const Endpoint *
endpoint_of_report(Call *call)
{
	const Endpoint *endpoint = endpoint_read(call->endpoint);

	if (endpoint != NULL)
		return endpoint;
	endpoint = endpoint_once_named(call->endpoint);
	if (endpoint == NULL)
		return NULL;
	call_redirect(call, endpoint->name);
	return endpoint_read(call->endpoint);
}

static void
take_report(Call *call, const Report *report)
{
	const Endpoint *endpoint = endpoint_of_report(call);
	bool		has_asked = callee_has_asked(call);

	/* the question stands although the stream ends, or breaks off, after it */
	if (has_asked && (!report_is_success(report) || (report->response == NULL && report->is_last)))
		call_end(call, CALL_SENT, report->status, report->failure);
	else if (!has_asked && !callee_is_awaited(call))
		call_end(call, CALL_VOID, report->status, CALL_UNWANTED);
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

/*
 * Returns a pause that the other side has asked for, in seconds.  Values that
 * make no sense, such as a negative rest of a time that has passed, or a huge
 * one, must not raise an error, because the outcome of the call must be
 * recorded anyway.
 */
static int64
pause_of_argument(FunctionCallInfo fcinfo, int n)
{
	const Interval *pause = argument_is_null(fcinfo, n) ? NULL : PG_GETARG_INTERVAL_P(n);
	double		seconds = pause == NULL ? 0 : pause->time / 1e6 + (double) pause->day * SECS_PER_DAY +
		(double) pause->month * DAYS_PER_MONTH * SECS_PER_DAY;

	return (int64) Max(Min(seconds, (double) LONGEST_PAUSE), 0);
}

static Report
report_of_arguments(FunctionCallInfo fcinfo)
{
	Report		report = {.is_last = argument_is_null(fcinfo, 5) || PG_GETARG_BOOL(5)};
	Slice		failure = argument_optional_text(fcinfo, 3);

	report.status = argument_is_null(fcinfo, 2) ? 0 : PG_GETARG_INT32(2);
	report.failure = slice_present(failure) ? slice_cstring(failure) : NULL;
	report.response = argument_optional_jsonb(fcinfo, 4);
	report.retry_after = pause_of_argument(fcinfo, 6);
	/*
	 * if this counted as success, a gateway that has lost track of the outcome
	 * would lose the call
	 */
	if (argument_is_null(fcinfo, 2) && report.failure == NULL && report.response == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errproblem("status", "NULL_VALUE"),
				 errmsg("the report does not say how the attempt ended"),
				 errhint("Pass the status of HTTP or, if there was no response, say in \"failure\" what happened.")));
	report.part = argument_count(fcinfo, 7, "part", 0, PG_INT32_MAX, "Count the documents of an answer from 1 on, or pass NULL.");
	if (!argument_is_null(fcinfo, 2) && (report.status < 100 || report.status > 599))
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
	int			attempt = argument_count(fcinfo, 1, "attempt", 0, PG_INT32_MAX, "Pass the attempt that clutch.outbox_claim returned.");
	Report		report;
	Call	   *call;

	argument_require(fcinfo, 1, "attempt");
	report = report_of_arguments(fcinfo);
	call = call_lock(id);
	if (call == NULL || call->state != CALL_PENDING || call->lease_until == 0 || call->attempt != attempt)
		PG_RETURN_TEXT_P(cstring_to_text("lost"));
	take_report(call, &report);
	PG_RETURN_TEXT_P(cstring_to_text(call_state_name(call->state)));
}
