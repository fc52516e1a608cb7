/*-------------------------------------------------------------------------
 *
 * claim_fn.c
 *	  The SQL functions claim and extend_lease.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "api/visible.h"
#include "base/document.h"
#include "base/json.h"
#include "base/query.h"
#include "base/rows.h"
#include "flow/claim.h"
#include "flow/liveness.h"
#include "protocol/problem.h"
#include "registry/roster.h"
#include "store/event.h"
#include "trust/principal.h"
#include "trust/traffic.h"

PG_FUNCTION_INFO_V1(clutch_claim);
PG_FUNCTION_INFO_V1(clutch_extend_lease);

/* the columns of the result of clutch.claim */
enum
{
	CLAIM_TASK_ID, CLAIM_ATTEMPT, CLAIM_LEASE_UNTIL, CLAIM_DEADLINE,
	CLAIM_REASON, CLAIM_LAST_PROGRESS, CLAIM_ANSWER, CLAIM_SEQ, CLAIM_ENVELOPE, CLAIM_CONTEXT,
	NUM_CLAIM_COLUMNS
};

/* Puts the payload of the event with this seq, or NULL if it is 0. */
static void
put_payload(Datum *values, bool *nulls, int column, int64 seq)
{
	Jsonb	   *event = seq ? event_read(seq, ROWS_LATEST) : NULL;
	JsonbValue	payload;

	nulls[column] = true;
	if (event != NULL && document_get(&event->root, "payload", &payload))
		result_jsonb(values, nulls, column, document_of_value(&payload));
}

/* a conversation from which tasks were claimed */
typedef struct Conversation
{
	Slice		thread_id;		/* absent if none yet */
	Jsonb	   *context;
} Conversation;

/*
 * Returns what the role may see of the conversation.  The statement that reads
 * it also sees what this one has written.  The result is the same for all
 * tasks of a claim, so it is read only once for consecutive tasks of one
 * thread.
 */
static Jsonb *
read_context(Conversation *last, Slice thread_id)
{
	Jsonb	   *argument;
	List	   *found;

	if (slice_present(last->thread_id) && slice_equal(last->thread_id, thread_id))
		return last->context;
	if (last->context != NULL)
		pfree(last->context);
	argument = json_write(json_of_text(thread_id));
	found = query_list_jsonb("SELECT clutch.thread_context($1 OPERATOR(pg_catalog.#>>) '{}')", &argument, 1);
	*last = (Conversation) {thread_id, found != NIL ? linitial(found) : NULL};
	return last->context;
}

static void
put_claimed(FunctionCallInfo fcinfo, Task *task, Jsonb *context)
{
	Datum		values[NUM_CLAIM_COLUMNS] = {0};
	bool		nulls[NUM_CLAIM_COLUMNS] = {0};

	result_text(values, nulls, CLAIM_TASK_ID, task->task_id);
	values[CLAIM_ATTEMPT] = Int32GetDatum(task->attempt);
	result_timestamp(values, nulls, CLAIM_LEASE_UNTIL, task->lease_until);
	result_timestamp(values, nulls, CLAIM_DEADLINE, task->deadline);
	result_text(values, nulls, CLAIM_REASON,
				slice_of_cstring(claim_reason_name(task->reason)));
	put_payload(values, nulls, CLAIM_LAST_PROGRESS, task->progress_seq);
	put_payload(values, nulls, CLAIM_ANSWER, task->answer_seq);
	result_int8(values, nulls, CLAIM_SEQ, task->request_seq);
	result_jsonb(values, nulls, CLAIM_ENVELOPE, task_request(task));
	result_jsonb(values, nulls, CLAIM_CONTEXT, context);
	result_put_row(fcinfo, values, nulls);
}

Datum
clutch_claim(PG_FUNCTION_ARGS)
{
	Slice		agent_id = argument_text(fcinfo, 0, "agent_id");
	int64		lease = argument_duration(fcinfo, 2, "lease");
	int			max_tasks = argument_count(fcinfo, 1, "max_tasks", 1, PG_INT32_MAX, NULL);
	Conversation last = {SLICE_NONE, NULL};
	const RosterAgent *agent;
	bool		with_context;
	ListCell   *cell;

	result_begin_rows(fcinfo);
	/* the first claim of a session would pass over each task, as over one that a trigger refuses */
	rows_require_writable();
	agent = roster_look(agent_id);
	with_context = agent != NULL && agent->card.wants_context;
	if (agent != NULL)
		principal_require(agent_id, "agent_id");
	else
		visible_require_own_agent(agent_id, "agent_id");
	liveness_sign(agent_id, true);
	foreach(cell, claim_tasks(agent_id, max_tasks, lease))
	{
		Task	   *task = lfirst(cell);

		traffic_add_command(true);
		put_claimed(fcinfo, task, with_context ? read_context(&last, task->thread_id) : NULL);
	}
	return (Datum) 0;
}

Datum
clutch_extend_lease(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"held", "cancelled", "lost"};
	Slice		agent_id = argument_text(fcinfo, 0, "agent_id");
	Slice		task_id = argument_text(fcinfo, 1, "task_id");
	int			attempt = argument_attempt(fcinfo, 2);
	int64		lease = argument_duration(fcinfo, 3, "lease");
	TimestampTz until = 0;
	Datum		values[2];
	bool		nulls[2] = {0};
	LeaseState	state;

	result_begin_rows(fcinfo);
	principal_require(agent_id, "agent_id");
	liveness_sign(agent_id, false);
	state = claim_extend(agent_id, task_id, attempt, lease, &until);
	result_timestamp(values, nulls, 0, until);
	result_text(values, nulls, 1, slice_of_cstring(names[state]));
	result_put_row(fcinfo, values, nulls);
	return (Datum) 0;
}
