/*-------------------------------------------------------------------------
 *
 * retry.c
 *	  Retrying failed tasks later: backoff with jitter.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/document.h"
#include "common/pg_prng.h"
#include "flow/move.h"
#include "flow/retry.h"
#include "registry/roster.h"
#include "settings.h"
#include "store/event.h"

/*
 * columns of clutch.retry_policy; NULL leaves the value to a more general
 * policy
 */
enum
{
	Anum_retry_policy_payload_type = 1,
	Anum_retry_policy_max,
	Anum_retry_policy_initial_ms,
	Anum_retry_policy_max_ms,
	Anum_retry_policy_factor,
	Natts_retry_policy = Anum_retry_policy_factor
};

ROWS_CHECK_COLUMNS(Natts_retry_policy, RETRY_POLICY);

/* ------------------------------------------------------------ the policy */

static RetryPolicy
retry_of_settings(void)
{
	return (RetryPolicy) {clutch_retry_max, clutch_retry_initial, clutch_retry_max_delay,
	clutch_retry_factor};
}

static RetryPolicy
retry_of_agent(Slice agent_id)
{
	const RosterAgent *agent = roster_look(agent_id);

	return agent == NULL ? RETRY_POLICY_UNSAID : agent->card.retry;
}

/* Returns -1 for NULL. */
static int64
retry_column(const RowScan *scan, int attno)
{
	return rows_is_null(scan, attno) ? -1 : rows_int8(scan, attno);
}

static RetryPolicy
retry_of_payload_type(Slice payload_type)
{
	RetryPolicy policy = RETRY_POLICY_UNSAID;
	RowScan		scan;
	bool		isnull;

	if (!slice_present(payload_type))
		return policy;
	rows_begin(&scan, TABLE_RETRY_POLICY, INDEX_RETRY_POLICY, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, payload_type);
	rows_start(&scan);
	if (rows_next(&scan))
	{
		policy.max = retry_column(&scan, Anum_retry_policy_max);
		policy.initial_ms = retry_column(&scan, Anum_retry_policy_initial_ms);
		policy.max_ms = retry_column(&scan, Anum_retry_policy_max_ms);
		policy.factor = DatumGetFloat8(rows_datum(&scan, Anum_retry_policy_factor, &isnull));
		if (isnull)
			policy.factor = -1;
	}
	rows_end(&scan);
	return policy;
}

static RetryPolicy
retry_of_request(const Task *task)
{
	Jsonb	   *document = event_read(task->request_seq, ROWS_LATEST);
	Envelope	request;

	if (document == NULL)
		return RETRY_POLICY_UNSAID;
	envelope_read_admitted(document, &request, problem_list());
	return request.orders.retry;
}

static RetryPolicy
retry_of_task(const Task *task)
{
	RetryPolicy policy = retry_policy_or(retry_of_request(task),
										 retry_of_payload_type(task->payload_type));

	policy = retry_policy_or(policy, retry_of_agent(task->agent_id));
	return retry_policy_or(policy, retry_of_settings());
}

/* ------------------------------------------------------------- the retry */

/*
 * Returns between half of the delay and all of it, so that tasks that failed
 * together are not retried together.
 */
static int64
retry_with_jitter(int64 delay_ms)
{
	return delay_ms / 2 + (int64) (delay_ms * pg_prng_double(&pg_global_prng_state) / 2);
}

static void
retry_begin_retry(Task *task, TimestampTz not_before, int64 max)
{
	TaskEvent	event = {STEP_RETRY, .wake_at = not_before};
	Notice		notice = {MSG_TASK_PROGRESS, MOVE_RETRIED, .to = task->from_agent};
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "state", "retried");
	document_put_cstring(&b, "was", task_status_name(task->status));
	document_put_int(&b, "retry", task->retries + 1);
	document_put_int(&b, "of", max);
	document_put_timestamp(&b, "not_before", not_before);
	notice.payload = document_end(&b);
	(void) move_task(task, &notice, &event);
}

/*
 * Returns false if it has been tried often enough, or if there is no time left
 * for another try.
 */
static bool
retry_try_again(Task *task, int64 at_least_ms)
{
	RetryPolicy policy = retry_of_task(task);
	TimestampTz not_before;
	int64		delay_ms;

	if (task->retries >= policy.max)
		return false;
	delay_ms = retry_with_jitter(retry_policy_delay_ms(&policy, task->retries + 1));
	/* not 0, which would mean no time: a retry without delay is due now */
	not_before = clock_now() + Max(Max(delay_ms, at_least_ms) * 1000, 1);
	if (task->deadline != 0 && not_before >= task->deadline)
		return false;
	retry_begin_retry(task, not_before, policy.max);
	return true;
}

/*
 * Returns details.retry_after_ms, or retryAfter as in spec 003, 9.2, or 0 if
 * neither is given.
 */
static int64
retry_least_delay_ms(JsonbContainer *payload)
{
	JsonbContainer *details = document_get_container(payload, "details");
	int64		ms;

	if (document_get_int(details, "retry_after_ms", &ms) ||
		document_get_int(details, "retryAfter", &ms) ||
		document_get_int(payload, "retryAfter", &ms))
		return Min(Max(ms, 0), RETRY_LONGEST_MS);
	return 0;
}

/* Is the code in the list clutch.retryable_errors? */
static bool
retry_is_retryable_code(Slice code)
{
	const char *word = clutch_retryable_errors;

	while (*word != '\0')
	{
		int			len = strcspn(word, ", ");

		if (len > 0 && slice_equal(code, (Slice) {word, len}))
			return true;
		word += len;
		word += strspn(word, ", ");
	}
	return false;
}

bool
retry_after_error(Task *task, const Envelope *error)
{
	JsonbContainer *payload = error->payload.val.binary.data;
	bool		retryable;

	if (!document_get_bool(payload, "retryable", &retryable))
		retryable = retry_is_retryable_code(document_get_text(payload, "code"));
	return retryable && retry_try_again(task, retry_least_delay_ms(payload));
}

bool
retry_after_timeout(Task *task)
{
	return retry_is_retryable_code(SLICE_OF("TIMEOUT")) && retry_try_again(task, 0);
}

bool
retry_after_contract(Task *task)
{
	return retry_try_again(task, 0);
}
