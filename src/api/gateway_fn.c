/*-------------------------------------------------------------------------
 *
 * gateway_fn.c
 *	  Handing out calls to gateways: clutch.outbox_claim.
 *
 * Adapters may be user-defined functions, which run with the rights of the
 * gateway (api/outgoing).
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

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

/* the arguments of callee_give_up for a call that cannot be handed out */
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

	callee_give_up(given_up->call, given_up->endpoint, given_up->status, CALLEE_UNAVAILABLE, given_up->failure);
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
 * Leaves a call alone that cannot be rendered now, so that it does not keep
 * gateways from the calls of others: its body needs more memory or temporary
 * space than there is, or its adapter meets a deadlock, a serialization failure
 * or a lock that another transaction holds, or only says so.  It is tried again
 * when the lease that it has just got ends, and given up when it has no attempts
 * left.
 */
static void
leave_for_later(const Call *call, const ErrorData *error)
{
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

/* Has this end, which was not late, become the end of the task? */
static bool
has_ended(const Task *task, MessageType type, int64 seq)
{
	return type == MSG_TASK_CANCEL ? task->status == TASK_CANCELLED :
		type == MSG_TASK_TIMEOUT ? task->status == TASK_TIMED_OUT : task->result_seq == seq;
}

/*
 * Is this progress, which did not come late, still true?  The first time a call
 * is sent, it is.  When the call is repeated, later events may have been sent in
 * the meantime: a question is true until it is answered, other progress until
 * the task is over, and an artifact always.
 */
static bool
is_current(const Call *call, const Task *task, JsonbContainer *payload)
{
	Slice		state = document_get_text(payload, "state");

	if (call_attempts(call) == 1)
		return true;
	if (slice_present(document_get_text(payload, "artifact_id")))
		return true;
	if (slice_is(state, "input_required") || slice_is(state, "auth_required"))
		return task->status == TASK_INPUT_REQUIRED && task->question_seq == call->seq;
	return !task_status_is_over(task->status);
}

/*
 * Does an event that is sent to the endpoint become the state of the task at
 * the other side?
 */
static bool
shows_state(const Endpoint *endpoint)
{
	return slice_is(endpoint->adapter, "a2a") || slice_is(endpoint->adapter, "peer");
}

/*
 * Would the call mislead the other side?  Clients of A2A do not ask again about
 * a task that has ended, and another database that has delegated the task to
 * this one would end the task, or try it again.  So nothing is sent that came
 * too late or is no longer true.
 */
static bool
misleads(const Call *call, const Endpoint *endpoint)
{
	bool		late = false;
	Jsonb	   *envelope;
	MessageType type;
	Task	   *task;

	if (call->kind != CALL_EVENT || endpoint == NULL || !shows_state(endpoint))
		return false;
	envelope = event_read_received(call->seq, ROWS_LATEST, NULL, &late);
	type = envelope == NULL ? MSG_UNKNOWN : message_type_parse(document_get_text(&envelope->root, "type"));
	if (type != MSG_TASK_PROGRESS && type != MSG_TASK_RESULT && type != MSG_TASK_ERROR && type != MSG_TASK_TIMEOUT &&
		type != MSG_TASK_CANCEL)
		return false;
	task = task_look(call->task_id, ROWS_LATEST);
	if (late || task == NULL)
		return late;
	return type == MSG_TASK_PROGRESS ? !is_current(call, task, document_get_container(&envelope->root, "payload")) :
		!has_ended(task, type, call->seq);
}

/* Returns why the call is not to be sent any more, or NULL if it is. */
static const char *
reason_against(const Call *call, const Endpoint *endpoint)
{
	if (!callee_is_awaited(call))
		return CALL_UNWANTED;
	if (callee_goes_on(call))
		return "the task goes on";
	if (call->kind == CALL_CANCEL && endpoint != NULL && !endpoint_takes_cancel(endpoint))
		return "the adapter of the endpoint has no cancellation";
	if (callee_has_ended(call))
		return "the agent has ended its work on the task itself";
	if (callee_is_called_off(call))
		return "the task that has called the tool was cancelled or has timed out";
	return misleads(call, endpoint) ? "the event does not say what has become of its task" : NULL;
}

/* Returns the endpoint of a call, or NULL if it has been deleted. */
static const Endpoint *
endpoint_of_call(Call *call)
{
	const Endpoint *endpoint = endpoint_read(call->endpoint);

	if (endpoint != NULL)
		return endpoint;
	endpoint = call_successor(call);
	if (endpoint != NULL)
		call_redirect(call, endpoint->name);
	return endpoint_read(call->endpoint);
}

/*
 * Returns the row of a call in the result.  Returns false if it is not to be
 * sent.  A call that cannot be sent becomes a dead letter, so that it does not
 * hold up other calls.
 */
static bool
claim_one(FunctionCallInfo fcinfo, Call *call)
{
	Rendering	rendering = {call, endpoint_of_call(call)};
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
		call_end(call, CALL_VOID, call->status, "the ID of the task at the other side is not known");
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
	int			missing = argument_count(fcinfo, 0, "max_calls", 1, PG_INT32_MAX, NULL);
	int64		lease = argument_duration(fcinfo, 1, "lease");
	int			ended = 0;

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
