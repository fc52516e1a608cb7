/*-------------------------------------------------------------------------
 *
 * send_fn.c
 *	  clutch.send, clutch.send_batch: DESIGN 2 "Write".
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/result.h"
#include "base/document.h"
#include "base/guard.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "registry/agent.h"
#include "store/dedup.h"
#include "task/task.h"
#include "utils/array.h"

PG_FUNCTION_INFO_V1(clutch_send);
PG_FUNCTION_INFO_V1(clutch_send_batch);

Datum
clutch_send(PG_FUNCTION_ARGS)
{
	return result_receipt(fcinfo, event_send(argument_jsonb(fcinfo, 0, "envelope")));
}

/*
 * Two batches that hold the same ids, keys, agents or tasks in another order
 * must not wait for each other in a circle.  So before the first row each
 * batch takes all of them, each kind in one order, and the kinds in the order
 * in which a single envelope takes them.
 */

/* more than this and the lock table might not hold them: see docs, 40P01 */
#define MAX_ORDERED_BATCH	200

static int
compare_keys(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y ? 1 : 0;
}

static int
compare_slices(const void *a, const void *b)
{
	return slice_compare(*(const Slice *) a, *(const Slice *) b);
}

/* the guards of one kind that a batch holds until its last row is in */
typedef struct Guards
{
	uint64	   *keys;
	int			n;
} Guards;

static uint64
guard_of_id(JsonbContainer *envelope)
{
	Slice		id = document_get_text(envelope, "id");
	Slice		run_id = document_get_text(envelope, "run_id");

	return slice_present(id) && slice_present(run_id) ? dedup_id_guard(id, run_id) : 0;
}

static uint64
guard_of_key(JsonbContainer *envelope)
{
	Slice		key = document_get_text(envelope, "idempotency_key");
	Slice		run_id = document_get_text(envelope, "run_id");
	Slice		sender = document_get_text(document_get_container(envelope, "from"), "agent_id");

	return slice_present(key) && slice_present(run_id) && slice_present(sender) ?
		dedup_key_guard(key, run_id, sender) : 0;
}

static uint64
guard_of_agent(JsonbContainer *envelope)
{
	Slice		type = document_get_text(envelope, "type");
	Slice		agent = document_get_text(document_get_container(envelope, "payload"), "agent_id");

	if (!slice_present(type) || !message_type_is_agent(message_type_parse(type)))
		return 0;
	if (!slice_present(agent))
		agent = document_get_text(document_get_container(envelope, "from"), "agent_id");
	return slice_present(agent) ? agent_guard(agent) : 0;
}

static Guards
guards_take(uint64 (*guard_of) (JsonbContainer *envelope), Jsonb **envelopes, int n)
{
	Guards		guards = {palloc(sizeof(uint64) * n), 0};
	int			i;

	for (i = 0; i < n; i++)
	{
		uint64		key = guard_of(&envelopes[i]->root);

		if (key != 0)
			guards.keys[guards.n++] = key;
	}
	qsort(guards.keys, guards.n, sizeof(uint64), compare_keys);
	for (i = 0; i < guards.n; i++)
		guard_take(guards.keys[i]);
	return guards;
}

static void
guards_release(Guards *guards)
{
	while (guards->n > 0)
		guard_release(guards->keys[--guards->n]);
}

static void
lock_tasks(Jsonb **envelopes, int n)
{
	Slice	   *ids = palloc(sizeof(Slice) * n);
	int			ntasks = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		Slice		type = document_get_text(&envelopes[i]->root, "type");
		Slice		task_id = document_get_text(&envelopes[i]->root, "task_id");

		if (slice_present(type) && slice_present(task_id) &&
			message_type_is_task(message_type_parse(type)))
			ids[ntasks++] = task_id;
	}
	qsort(ids, ntasks, sizeof(Slice), compare_slices);
	for (i = 0; i < ntasks; i++)
		if (i == 0 || !slice_equal(ids[i], ids[i - 1]))
			(void) task_lock(ids[i], true);
}

static Jsonb **
batch_of(ArrayType *array, int *n)
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
					 errmsg("envelope %d of the batch must not be null", i + 1)));
		envelopes[i] = DatumGetJsonbP(elements[i]);
	}
	return envelopes;
}

static void
say_place_in_batch(void *arg)
{
	errcontext("envelope %d of the batch", *(int *) arg);
}

Datum
clutch_send_batch(PG_FUNCTION_ARGS)
{
	ErrorContextCallback place;
	Guards		ids = {NULL, 0};
	Guards		keys = {NULL, 0};
	Guards		agents = {NULL, 0};
	Jsonb	  **envelopes;
	int			current;
	int			n;

	if (PG_ARGISNULL(0))
		(void) argument_jsonb(fcinfo, 0, "envelopes");
	envelopes = batch_of(PG_GETARG_ARRAYTYPE_P(0), &n);
	result_begin_rows(fcinfo);
	if (n > 1 && n <= MAX_ORDERED_BATCH)
	{
		ids = guards_take(guard_of_id, envelopes, n);
		keys = guards_take(guard_of_key, envelopes, n);
		agents = guards_take(guard_of_agent, envelopes, n);
		lock_tasks(envelopes, n);
	}

	place.callback = say_place_in_batch;
	place.arg = &current;
	place.previous = error_context_stack;
	error_context_stack = &place;
	for (current = 1; current <= n; current++)
	{
		CHECK_FOR_INTERRUPTS();
		result_put_receipt(fcinfo, event_send(envelopes[current - 1]));
	}
	error_context_stack = place.previous;

	guards_release(&agents);
	guards_release(&keys);
	guards_release(&ids);
	return (Datum) 0;
}
