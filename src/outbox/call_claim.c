/*-------------------------------------------------------------------------
 *
 * call_claim.c
 *	  Claiming calls, and withdrawing those that no gateway has claimed.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "miscadmin.h"
#include "outbox/call_part.h"
#include "utils/timestamp.h"

/*
 * Locks the call at the current row of a scan.  Returns NULL if it is no
 * longer pending or if another session has locked it.  Another gateway may
 * have claimed it since the scan read the row.
 */
static Call *
call_take_row(RowScan *scan)
{
	Call	   *call;

	if (rows_lock(scan, ROW_LOCK_CHANGE, false) != ROW_LOCKED)
		return NULL;
	call = call_row_read(scan);
	return call->state == CALL_PENDING ? call : NULL;
}

static bool
call_is_held_back(Slice name)
{
	const Endpoint *endpoint = endpoint_find(name);

	return endpoint != NULL && endpoint->paused;
}

const Endpoint *
call_successor(const Call *call)
{
	return call->kind == CALL_TASK || call->kind == CALL_CANCEL ? endpoint_serving(call->agent_id) :
		endpoint_once_named(call->endpoint);
}

/*
 * Does the call go to a paused endpoint, because its own does not exist?  Then
 * it waits with the other calls of that endpoint from now on.
 */
static bool
call_joins_paused(Call *call)
{
	const Endpoint *endpoint = endpoint_find(call->endpoint) == NULL ? call_successor(call) : NULL;

	if (endpoint == NULL || !endpoint->paused)
		return false;
	call_redirect(call, endpoint->name);
	return true;
}

/* the calls that are due for one endpoint, which may no longer exist */
typedef struct CallQueue
{
	Slice		endpoint;
	TimestampTz due_at;			/* when the first call became due */
	int64		no;
} CallQueue;

static int
call_queue_compare(const ListCell *a, const ListCell *b)
{
	const CallQueue *x = lfirst(a);
	const CallQueue *y = lfirst(b);

	if (x->due_at != y->due_at)
		return x->due_at < y->due_at ? -1 : 1;
	return x->no < y->no ? -1 : 1;
}

/*
 * Returns the queues of the endpoints that are not paused, as a List of
 * CallQueue *, ordered by how long their first calls have been due.  Each
 * endpoint costs one descent of the index, however many calls wait for it.
 */
static List *
call_list_queues(TimestampTz now)
{
	List	   *queues = NIL;
	Slice		name = SLICE_OF("");
	RowScan		scan;

	rows_begin(&scan, TABLE_OUTBOX, INDEX_OUTBOX_ENDPOINT_DUE, ROWS_LATEST, AccessShareLock);
	for (;;)
	{
		CallQueue  *queue;

		CHECK_FOR_INTERRUPTS();
		scan.nkeys = 0;
		rows_key_text(&scan, 1, BTGreaterStrategyNumber, name);
		rows_restart(&scan);
		if (!rows_next(&scan))
			break;
		name = rows_text_copy(&scan, Anum_call_endpoint);
		if (rows_timestamp(&scan, Anum_call_due_at) > now || call_is_held_back(name))
			continue;
		queue = palloc(sizeof(CallQueue));
		*queue = (CallQueue) {name, rows_timestamp(&scan, Anum_call_due_at), rows_int8(&scan, Anum_call_no)};
		queues = lappend(queues, queue);
	}
	rows_end(&scan);
	list_sort(queues, call_queue_compare);
	return queues;
}

/*
 * the most calls of one endpoint that get the name of a paused one in one claim,
 * because a gateway waits for the claim, and others wait for their calls
 */
#define MOST_JOINING	500

/*
 * Locks at most n calls that have become due from "from" to "now", for one
 * endpoint or, if it is absent, for all, and appends them to "taken".
 */
static List *
call_take(Slice endpoint, int n, TimestampTz from, TimestampTz now, List *taken)
{
	bool		of_all = !slice_present(endpoint);
	int			joining = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_OUTBOX, of_all ? INDEX_OUTBOX_DUE : INDEX_OUTBOX_ENDPOINT_DUE, ROWS_LATEST, RowExclusiveLock);
	if (!of_all)
		rows_key_text(&scan, 1, BTEqualStrategyNumber, endpoint);
	rows_key_timestamp(&scan, of_all ? 1 : 2, BTGreaterEqualStrategyNumber, from);
	rows_key_timestamp(&scan, of_all ? 1 : 2, BTLessEqualStrategyNumber, now);
	rows_start(&scan);
	while (n > 0 && joining < MOST_JOINING && rows_next(&scan))
	{
		Call	   *call;

		CHECK_FOR_INTERRUPTS();
		call = call_take_row(&scan);
		if (call == NULL || call->due_at > now)
			continue;
		if (call_joins_paused(call))
		{
			joining++;
			continue;
		}
		taken = lappend(taken, call);
		n--;
	}
	rows_end(&scan);
	return taken;
}

/*
 * The same for all endpoints that are not paused.  The calls of paused
 * endpoints are not read.
 */
static List *
call_take_past_paused(int n, TimestampTz now)
{
	List	   *taken = NIL;
	ListCell   *cell;

	foreach(cell, call_list_queues(now))
	{
		const CallQueue *queue = lfirst(cell);

		if (list_length(taken) == n)
			break;
		taken = call_take(queue->endpoint, n - list_length(taken), queue->due_at, now, taken);
	}
	return taken;
}

#define LOOK_AT_ALL_EVERY	64	/* claims */

/*
 * The same while no endpoint is paused.  Claimed calls leave dead entries at
 * the front of the index while anybody holds a snapshot, so a claim begins
 * where this backend has last found something.  Calls that are committed late
 * are found when nothing else is, or at the latest after some more claims.
 */
static List *
call_take_of_all(int n, TimestampTz now)
{
	static TimestampTz first_due = 0;
	static unsigned int claims = 0;
	List	   *taken = NIL;

	if (++claims % LOOK_AT_ALL_EVERY != 0)
		taken = call_take(SLICE_NONE, n, first_due, now, NIL);
	if (taken == NIL)
		taken = call_take(SLICE_NONE, n, DT_NOBEGIN, now, NIL);
	if (taken != NIL)
		first_due = ((const Call *) linitial(taken))->due_at;
	return taken;
}

List *
call_claim(int n, int64 lease)
{
	TimestampTz now = clock_now();
	List	   *taken;
	ListCell   *cell;

	rows_require_writable();	/* on a standby, even if nothing is due */
	taken = endpoint_is_any_paused() ? call_take_past_paused(n, now) : call_take_of_all(n, now);
	foreach(cell, taken)
	{
		Call	   *call = lfirst(cell);

		call->attempt++;
		call->part = 0;
		call->lease_until = call->due_at = now + lease;
		call_save(call);
	}
	return taken;
}

/*
 * the most calls that were written at about the same time as the one that is
 * looked for, and the most dead index entries, which stay while anybody holds a
 * snapshot
 */
#define MOST_LOOKS	1000

/*
 * Begins a scan at the call for this attempt of a task that no gateway has
 * claimed yet.  Returns false if there is none.
 */
static bool
call_begin_unclaimed(RowScan *scan, Slice endpoint, Slice task_id, int task_attempt, TimestampTz since, LOCKMODE lockmode)
{
	rows_begin(scan, TABLE_OUTBOX, INDEX_OUTBOX_ENDPOINT_DUE, ROWS_LATEST, lockmode);
	scan->most_dead = MOST_LOOKS;
	rows_key_text(scan, 1, BTEqualStrategyNumber, endpoint);
	rows_key_timestamp(scan, 2, BTGreaterEqualStrategyNumber, since);
	rows_start(scan);
	for (int looks = 0; looks < MOST_LOOKS && rows_next(scan); looks++)
		if (rows_int4(scan, Anum_call_attempt) == rows_int4(scan, Anum_call_attempts_before) &&
			rows_int4(scan, Anum_call_task_attempt) == task_attempt &&
			slice_equal(rows_text(scan, Anum_call_task_id), task_id) &&
			!slice_is(rows_text(scan, Anum_call_kind), call_kind_name(CALL_CANCEL)))
			return true;
	return false;
}

bool
call_is_unclaimed(Slice endpoint, Slice task_id, int task_attempt, TimestampTz since)
{
	RowScan		scan;
	bool		found = call_begin_unclaimed(&scan, endpoint, task_id, task_attempt, since, AccessShareLock);

	rows_end(&scan);
	return found;
}

int64
call_withdraw(Slice endpoint, Slice task_id, int task_attempt, TimestampTz since)
{
	RowScan		scan;
	Call	   *call = NULL;

	if (call_begin_unclaimed(&scan, endpoint, task_id, task_attempt, since, RowExclusiveLock))
		call = call_take_row(&scan);
	rows_end(&scan);
	if (call == NULL || call_attempts(call) > 0)
		return 0;
	call_end(call, CALL_VOID, 0, CALL_UNWANTED);
	/* before an operator had it sent again, it may have arrived */
	return call->attempt > 0 ? 0 : call->seq;
}
