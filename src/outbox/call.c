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
#include "outbox/call_part.h"
#include "protocol/identifier.h"
#include "settings.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

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
	int			i = slice_find(word, words, n);

	if (i >= 0)
		return i;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("unexpected value \"%.*s\" in clutch.outbox", word.len, word.s)));
}

Call *
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
	column_put_int4(values, nulls, Anum_call_task_attempt, call->task_attempt);
	values[Anum_call_attempt - 1] = Int32GetDatum(call->attempt);
	column_put_int8(values, nulls, Anum_call_due_at, call->due_at);
	column_put_int8(values, nulls, Anum_call_lease_until, call->lease_until);
	values[Anum_call_created_at - 1] = TimestampTzGetDatum(call->created_at);
	column_put_int8(values, nulls, Anum_call_finished_at, call->finished_at);
	column_put_int8(values, nulls, Anum_call_remove_at, call->remove_at);
	column_put_int4(values, nulls, Anum_call_status, call->status);
	column_put_text(values, nulls, Anum_call_failure, call->failure);
	values[Anum_call_attempts_before - 1] = Int32GetDatum(call->attempts_before);
	column_put_int4(values, nulls, Anum_call_part, call->part);
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

void
call_save(Call *call)
{
	Datum		values[Natts_call];
	bool		nulls[Natts_call];

	call_fill_row(call, values, nulls);
	rows_update(TABLE_OUTBOX, &call->tid, values, nulls);
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
call_put_again(Call *call)
{
	Call	   *before = call_lock(call->id);

	if (before == NULL)
		call_put(call);
	else if (before->state == CALL_VOID || before->state == CALL_DEAD)
	{
		before->endpoint = call->endpoint;
		before->seq = call->seq;
		before->failure = SLICE_NONE;
		call_revive(before);
	}
}

void
call_redirect(Call *call, Slice endpoint)
{
	call->endpoint = slice_copy(endpoint);
	call_save(call);
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
