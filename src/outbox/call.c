/*-------------------------------------------------------------------------
 *
 * call.c
 *	  Calls to other systems.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/column.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "outbox/call.h"
#include "protocol/identifier.h"
#include "settings.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

/* columns of clutch.outbox */
enum
{
	Anum_call_no = 1,
	Anum_call_id,
	Anum_call_endpoint,
	Anum_call_state,
	Anum_call_kind,
	Anum_call_seq,
	Anum_call_body,
	Anum_call_agent_id,
	Anum_call_run_id,
	Anum_call_task_id,
	Anum_call_task_attempt,
	Anum_call_attempt,
	Anum_call_due_at,
	Anum_call_lease_until,
	Anum_call_created_at,
	Anum_call_finished_at,
	Anum_call_remove_at,
	Anum_call_status,
	Anum_call_failure,
	Anum_call_attempts_before,
	Anum_call_part,
	Natts_call = Anum_call_part
};

ROWS_CHECK_COLUMNS(Natts_call, OUTBOX);

static const char *const call_kinds[NUM_CALL_KINDS] = {"post", "event", "task", "tool", "cancel"};
static const char *const call_states[NUM_CALL_STATES] = {"pending", "sent", "dead", "void"};

const char *
call_kind_name(CallKind kind)
{
	return call_kinds[kind];
}

const char *
call_state_name(CallState state)
{
	return call_states[state];
}

/* --------------------------------------------------------------------- rows */

static int
call_word(const char *const *words, int n, Slice word)
{
	for (int i = 0; i < n; i++)
		if (slice_is(word, words[i]))
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("unexpected value \"%.*s\" in clutch.outbox", word.len, word.s)));
}

static Call *
call_row_read(const RowScan *scan)
{
	Call	   *call = palloc0(sizeof(Call));

	call->tid = rows_tid(scan);
	call->no = rows_int8(scan, Anum_call_no);
	call->id = rows_text_copy(scan, Anum_call_id);
	call->endpoint = rows_text_copy(scan, Anum_call_endpoint);
	call->state = (CallState) call_word(call_states, NUM_CALL_STATES, rows_text(scan, Anum_call_state));
	call->kind = (CallKind) call_word(call_kinds, NUM_CALL_KINDS, rows_text(scan, Anum_call_kind));
	call->seq = rows_int8(scan, Anum_call_seq);
	call->body = rows_is_null(scan, Anum_call_body) ? NULL : rows_jsonb(scan, Anum_call_body);
	call->agent_id = rows_text_copy(scan, Anum_call_agent_id);
	call->run_id = rows_text_copy(scan, Anum_call_run_id);
	call->task_id = rows_text_copy(scan, Anum_call_task_id);
	call->task_attempt = rows_int4(scan, Anum_call_task_attempt);
	call->attempt = rows_int4(scan, Anum_call_attempt);
	call->due_at = rows_timestamp(scan, Anum_call_due_at);
	call->lease_until = rows_timestamp(scan, Anum_call_lease_until);
	call->created_at = rows_timestamp(scan, Anum_call_created_at);
	call->finished_at = rows_timestamp(scan, Anum_call_finished_at);
	call->remove_at = rows_timestamp(scan, Anum_call_remove_at);
	call->status = rows_int4(scan, Anum_call_status);
	call->failure = rows_text_copy(scan, Anum_call_failure);
	call->attempts_before = rows_int4(scan, Anum_call_attempts_before);
	call->part = rows_int4(scan, Anum_call_part);
	return call;
}

static void
call_put_int4(Datum *values, bool *nulls, int attno, int32 value)
{
	values[attno - 1] = Int32GetDatum(value);
	nulls[attno - 1] = value == 0;
}

static void
call_put_time(Datum *values, bool *nulls, int attno, TimestampTz value)
{
	values[attno - 1] = TimestampTzGetDatum(value);
	nulls[attno - 1] = value == 0;
}

static void
call_fill_row(const Call *call, Datum *values, bool *nulls)
{
	memset(nulls, 0, sizeof(bool) * Natts_call);
	values[Anum_call_no - 1] = Int64GetDatum(call->no);
	column_put_text(values, nulls, Anum_call_id, call->id);
	column_put_text(values, nulls, Anum_call_endpoint, call->endpoint);
	column_put_text(values, nulls, Anum_call_state, slice_of_cstring(call_states[call->state]));
	column_put_text(values, nulls, Anum_call_kind, slice_of_cstring(call_kinds[call->kind]));
	column_put_int8(values, nulls, Anum_call_seq, call->seq);
	nulls[Anum_call_body - 1] = call->body == NULL;
	values[Anum_call_body - 1] = JsonbPGetDatum(call->body);
	column_put_text(values, nulls, Anum_call_agent_id, call->agent_id);
	column_put_text(values, nulls, Anum_call_run_id, call->run_id);
	column_put_text(values, nulls, Anum_call_task_id, call->task_id);
	call_put_int4(values, nulls, Anum_call_task_attempt, call->task_attempt);
	values[Anum_call_attempt - 1] = Int32GetDatum(call->attempt);
	call_put_time(values, nulls, Anum_call_due_at, call->due_at);
	call_put_time(values, nulls, Anum_call_lease_until, call->lease_until);
	values[Anum_call_created_at - 1] = TimestampTzGetDatum(call->created_at);
	call_put_time(values, nulls, Anum_call_finished_at, call->finished_at);
	call_put_time(values, nulls, Anum_call_remove_at, call->remove_at);
	call_put_int4(values, nulls, Anum_call_status, call->status);
	column_put_text(values, nulls, Anum_call_failure, call->failure);
	values[Anum_call_attempts_before - 1] = Int32GetDatum(call->attempts_before);
	call_put_int4(values, nulls, Anum_call_part, call->part);
}

void
call_put(Call *call)
{
	TimestampTz now = clock_now();
	Datum		values[Natts_call];
	bool		nulls[Natts_call];

	call->no = rows_nextval(SEQUENCE_QUEUE_NO);
	if (!slice_present(call->id))
		call->id = slice_of_cstring(identifier_make("msg", now));
	call->state = CALL_PENDING;
	call->created_at = now;
	call->due_at = now;
	call_fill_row(call, values, nulls);
	call->tid = rows_insert(TABLE_OUTBOX, values, nulls);
	notify_outbox();
}

static void
call_save(Call *call)
{
	Datum		values[Natts_call];
	bool		nulls[Natts_call];

	call_fill_row(call, values, nulls);
	rows_update(TABLE_OUTBOX, &call->tid, values, nulls);
}

/* ----------------------------------------------------------------- claiming */

/*
 * Locks the call at the current row of a scan.  Returns NULL if it is no
 * longer due or if another session has locked it.
 */
static Call *
call_take_row(RowScan *scan, TimestampTz now)
{
	Call	   *call;

	if (rows_lock(scan, ROW_LOCK_CHANGE, false) != ROW_LOCKED)
		return NULL;
	call = call_row_read(scan);
	/* another gateway may have claimed it since the scan read the row */
	return call->state == CALL_PENDING && call->due_at <= now ? call : NULL;
}

static bool
call_is_held_back(Slice name)
{
	const Endpoint *endpoint = endpoint_find(name);

	return endpoint != NULL && endpoint->paused;
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
		name = slice_copy(rows_text(&scan, Anum_call_endpoint));
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
 * Locks at most n calls that have become due from "from" to "now", for one
 * endpoint or, if it is absent, for all, and appends them to "taken".
 */
static List *
call_take(Slice endpoint, int n, TimestampTz from, TimestampTz now, List *taken)
{
	bool		of_all = !slice_present(endpoint);
	RowScan		scan;

	rows_begin(&scan, TABLE_OUTBOX, of_all ? INDEX_OUTBOX_DUE : INDEX_OUTBOX_ENDPOINT_DUE, ROWS_LATEST, RowExclusiveLock);
	if (!of_all)
		rows_key_text(&scan, 1, BTEqualStrategyNumber, endpoint);
	rows_key_timestamp(&scan, of_all ? 1 : 2, BTGreaterEqualStrategyNumber, from);
	rows_key_timestamp(&scan, of_all ? 1 : 2, BTLessEqualStrategyNumber, now);
	rows_start(&scan);
	while (n > 0 && rows_next(&scan))
	{
		Call	   *call;

		CHECK_FOR_INTERRUPTS();
		call = call_take_row(&scan, now);
		if (call == NULL)
			continue;
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

/* calls that were written at about the same time as the one that is looked for */
#define MOST_LOOKS	1000

/*
 * Begins a scan at the call for this attempt of a task that no gateway has
 * claimed yet.  Returns false if there is none.
 */
static bool
call_begin_unclaimed(RowScan *scan, Slice endpoint, Slice task_id, int task_attempt, TimestampTz since, LOCKMODE lockmode)
{
	rows_begin(scan, TABLE_OUTBOX, INDEX_OUTBOX_ENDPOINT_DUE, ROWS_LATEST, lockmode);
	rows_key_text(scan, 1, BTEqualStrategyNumber, endpoint);
	rows_key_timestamp(scan, 2, BTGreaterEqualStrategyNumber, since);
	rows_start(scan);
	for (int looks = 0; looks < MOST_LOOKS && rows_next(scan); looks++)
		if (rows_int4(scan, Anum_call_attempt) == rows_int4(scan, Anum_call_attempts_before) &&
			rows_int4(scan, Anum_call_task_attempt) == task_attempt &&
			slice_equal(rows_text(scan, Anum_call_task_id), task_id))
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
		call = call_take_row(&scan, clock_now());
	rows_end(&scan);
	if (call == NULL || call_attempts(call) > 0)
		return 0;
	call_end(call, CALL_VOID, 0, CALL_UNWANTED);
	return call->seq;
}

Call *
call_lock(Slice id)
{
	Call	   *call = NULL;
	RowScan		scan;

	/* on a standby, the call may just not have arrived yet */
	rows_require_writable();
	rows_begin(&scan, TABLE_OUTBOX, INDEX_OUTBOX_ID, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, id);
	rows_start(&scan);
	if (rows_next(&scan) && rows_lock(&scan, ROW_LOCK_CHANGE, true) == ROW_LOCKED)
		call = call_row_read(&scan);
	rows_end(&scan);
	return call;
}

/* ------------------------------------------------------------------- ending */

/* failure texts are truncated to this many bytes */
#define MOST_FAILURE_BYTES	1000

Slice
call_clip_failure(const char *failure)
{
	return (Slice) {failure, pg_mbcliplen(failure, strlen(failure), MOST_FAILURE_BYTES)};
}

/* Notes how an attempt has ended.  A long failure is truncated. */
static void
call_note(Call *call, int status, const char *failure)
{
	call->lease_until = 0;
	call->status = status;
	call->failure = failure == NULL ? SLICE_NONE : call_clip_failure(failure);
}

void
call_end(Call *call, CallState state, int status, const char *failure)
{
	call_note(call, status, failure);
	call->state = state;
	call->due_at = 0;
	call->finished_at = clock_now();
	/* a dead letter stays until an operator has dealt with it */
	call->remove_at = state == CALL_DEAD ? DT_NOEND :
		call->finished_at + clutch_outbox_keep * USECS_PER_SEC;
	call_save(call);
}

int
call_attempts(const Call *call)
{
	return call->attempt - call->attempts_before;
}

/* Returns the pause before the next attempt, in seconds. */
static int64
call_pause(const Call *call, const Endpoint *endpoint)
{
	int			doublings = Min(call_attempts(call) - 1, 30);

	return Min((int64) endpoint->first_pause << doublings, (int64) endpoint->longest_pause);
}

bool
call_fail(Call *call, const Endpoint *endpoint, int status, const char *failure,
		  int64 retry_after, TimestampTz until)
{
	TimestampTz next = clock_now() + Max(call_pause(call, endpoint), retry_after) * USECS_PER_SEC;

	if (call_attempts(call) >= endpoint->max_attempts || (until != 0 && next >= until))
		return false;
	call_note(call, status, failure);
	call->due_at = next;
	call_save(call);
	return true;
}

void
call_revive(Call *call)
{
	call->state = CALL_PENDING;
	call->attempts_before = call->attempt;
	call->lease_until = 0;
	call->due_at = clock_now();
	call->finished_at = 0;
	call->remove_at = 0;
	call_save(call);
	notify_outbox();
}

void
call_extend(Call *call, int64 lease)
{
	call->lease_until = call->due_at = Max(call->due_at, clock_now() + lease);
	call_save(call);
}

void
call_remove(Call *call)
{
	rows_delete(TABLE_OUTBOX, &call->tid);
}

int
call_sweep(int n)
{
	int			removed = 0;
	RowScan		scan;

	if (!rows_table_was_used(TABLE_OUTBOX))
		return 0;
	rows_begin(&scan, TABLE_OUTBOX, INDEX_OUTBOX_REMOVE_AT, ROWS_LATEST, RowExclusiveLock);
	rows_key_timestamp(&scan, 1, BTLessEqualStrategyNumber, clock_now());
	rows_start(&scan);
	while (removed < n && rows_next(&scan))
	{
		ItemPointerData tid = rows_tid(&scan);

		CHECK_FOR_INTERRUPTS();
		removed += rows_delete_if_free(TABLE_OUTBOX, &tid);
	}
	rows_end(&scan);
	return removed;
}
