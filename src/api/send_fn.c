/*-------------------------------------------------------------------------
 *
 * send_fn.c
 *	  clutch.send and clutch.send_batch.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "base/document.h"
#include "base/guard.h"
#include "base/order.h"
#include "catalog/pg_type.h"
#include "flow/right.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "registry/agent.h"
#include "store/dedup.h"
#include "task/task.h"
#include "trust/principal.h"
#include "utils/array.h"

PG_FUNCTION_INFO_V1(clutch_send);
PG_FUNCTION_INFO_V1(clutch_send_batch);

Datum
clutch_send(PG_FUNCTION_ARGS)
{
	return result_receipt(fcinfo, event_send(argument_jsonb(fcinfo, 0, "envelope")));
}

/* ------------------------------------------------------------------ batches */

/*
 * Two batches with the same identifiers, keys, agents or tasks in different
 * orders could deadlock.  Therefore a batch locks all of them before it sends
 * its first envelope: each kind in a fixed order, and the kinds in the order
 * in which a single envelope locks them.
 *
 * For a larger batch, the lock table might not have enough room.  Such batches
 * can deadlock (40P01; see docs/operations.md).
 */
#define MAX_ORDERED_BATCH	200

/* whether the sender that was looked up last may write into that run */
typedef struct BatchRight
{
	bool		is_operator;
	Slice		sender;
	Slice		run_id;
	bool		may;
} BatchRight;

/*
 * May the batch hold locks for this envelope?  Whoever holds a guard or a task
 * blocks others for as long as the batch waits for its other locks.  So
 * nothing is held for a row that will be refused when its turn comes, nor for
 * one whose only credential is its signature.
 */
static bool
send_may_hold(BatchRight *right, JsonbContainer *envelope)
{
	Slice		run_id = document_get_text(envelope, "run_id");
	Slice		sender = document_get_text(document_get_container(envelope, "from"), "agent_id");

	if (right->is_operator)
		return true;
	if (!slice_present(run_id) || !slice_present(sender))
		return false;
	if (!slice_equal(right->sender, sender) || !slice_equal(right->run_id, run_id))
		*right = (BatchRight) {
			.sender = sender,
			.run_id = run_id,
			.may = principal_speaks_for(sender) &&
				(slice_equal(run_id, SLICE_OF(AGENTS_RUN)) || right_has(sender, run_id))
		};
	return right->may;
}

/*
 * the guards of one kind, which a batch holds until its last row is inserted
 */
typedef struct BatchGuards
{
	uint64	   *keys;
	int			n;
} BatchGuards;

static uint64
send_guard_of_id(JsonbContainer *envelope)
{
	Slice		id = document_get_text(envelope, "id");
	Slice		run_id = document_get_text(envelope, "run_id");

	return slice_present(id) && slice_present(run_id) ? dedup_id_guard(id, run_id) : 0;
}

static uint64
send_guard_of_key(JsonbContainer *envelope)
{
	Slice		key = document_get_text(envelope, "idempotency_key");
	Slice		run_id = document_get_text(envelope, "run_id");
	Slice		sender = document_get_text(document_get_container(envelope, "from"), "agent_id");

	return slice_present(key) && slice_present(run_id) && slice_present(sender) ?
		dedup_key_guard(key, run_id, sender) : 0;
}

static uint64
send_guard_of_agent(JsonbContainer *envelope)
{
	Slice		type = document_get_text(envelope, "type");
	Slice		agent = document_get_text(document_get_container(envelope, "payload"), "agent_id");

	if (!slice_present(type) || !message_type_is_agent(message_type_parse(type)))
		return 0;
	if (!slice_present(agent))
		agent = document_get_text(document_get_container(envelope, "from"), "agent_id");
	return slice_present(agent) && principal_speaks_for(agent) ? agent_guard(agent) : 0;
}

/*
 * Takes the guards of all envelopes in ascending order, so that two batches
 * cannot deadlock.  The same key may be in the list more than once.
 */
static BatchGuards
send_take_guards(uint64 (*guard_of) (JsonbContainer *envelope), BatchRight *right, Jsonb **envelopes, int n)
{
	BatchGuards guards = {palloc(sizeof(uint64) * n), 0};
	int			i;

	for (i = 0; i < n; i++)
	{
		uint64		key = send_may_hold(right, &envelopes[i]->root) ? guard_of(&envelopes[i]->root) : 0;

		if (key != 0)
			guards.keys[guards.n++] = key;
	}
	qsort(guards.keys, guards.n, sizeof(uint64), order_uint64);
	for (i = 0; i < guards.n; i++)
		guard_take(guards.keys[i]);
	return guards;
}

static void
send_release_guards(BatchGuards *guards)
{
	while (guards->n > 0)
		guard_release(guards->keys[--guards->n]);
}

/*
 * May the batch lock this task?  A task that the sender has no rights to is
 * not locked, because the envelope will be refused, but until then the batch
 * may wait for a long time.
 */
static bool
send_may_lock(BatchRight *right, JsonbContainer *envelope, Slice task_id)
{
	Slice		run_id = document_get_text(envelope, "run_id");
	Task	   *task;

	if (right->is_operator)
		return true;
	task = task_look(task_id, ROWS_LATEST);
	return task != NULL && slice_present(run_id) && slice_equal(task->run_id, run_id) &&
		send_may_hold(right, envelope);
}

static void
send_lock_tasks(BatchRight *right, Jsonb **envelopes, int n)
{
	Slice	   *ids = palloc(sizeof(Slice) * n);
	int			ntasks = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		Slice		type = document_get_text(&envelopes[i]->root, "type");
		Slice		task_id = document_get_text(&envelopes[i]->root, "task_id");

		if (slice_present(type) && slice_present(task_id) &&
			message_type_is_task(message_type_parse(type)) &&
			send_may_lock(right, &envelopes[i]->root, task_id))
			ids[ntasks++] = task_id;
	}
	qsort(ids, ntasks, sizeof(Slice), order_slices);
	for (i = 0; i < ntasks; i++)
		if (i == 0 || !slice_equal(ids[i], ids[i - 1]))
			(void) task_lock(ids[i]);
}

static Jsonb **
send_batch_envelopes(ArrayType *array, int *n)
{
	Datum	   *elements;
	bool	   *nulls;
	Jsonb	  **envelopes;
	int			i;

	deconstruct_array(array, JSONBOID, -1, false, TYPALIGN_INT, &elements, &nulls, n);
	envelopes = palloc(sizeof(Jsonb *) * Max(*n, 1));
	for (i = 0; i < *n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errproblem("envelopes", "NULL_VALUE"),
					 errmsg("envelope %d of the batch must not be null", i + 1)));
		envelopes[i] = DatumGetJsonbP(elements[i]);
	}
	return envelopes;
}

static void
send_error_callback(void *arg)
{
	errcontext("envelope %d of the batch", *(int *) arg);
}

Datum
clutch_send_batch(PG_FUNCTION_ARGS)
{
	ErrorContextCallback place;
	BatchGuards ids = {NULL, 0};
	BatchGuards keys = {NULL, 0};
	BatchGuards agents = {NULL, 0};
	BatchRight	right = {false};
	Jsonb	  **envelopes;
	int			current;
	int			n;

	argument_require(fcinfo, 0, "envelopes");
	envelopes = send_batch_envelopes(PG_GETARG_ARRAYTYPE_P(0), &n);
	result_begin_rows(fcinfo);
	if (n > 1 && n <= MAX_ORDERED_BATCH)
	{
		right.is_operator = principal_is_operator(principal_role());
		ids = send_take_guards(send_guard_of_id, &right, envelopes, n);
		keys = send_take_guards(send_guard_of_key, &right, envelopes, n);
		agents = send_take_guards(send_guard_of_agent, &right, envelopes, n);
		send_lock_tasks(&right, envelopes, n);
	}

	place.callback = send_error_callback;
	place.arg = &current;
	place.previous = error_context_stack;
	error_context_stack = &place;
	for (current = 1; current <= n; current++)
	{
		CHECK_FOR_INTERRUPTS();
		result_put_receipt(fcinfo, event_send(envelopes[current - 1]));
	}
	error_context_stack = place.previous;

	send_release_guards(&agents);
	send_release_guards(&keys);
	send_release_guards(&ids);
	return (Datum) 0;
}
