/*-------------------------------------------------------------------------
 *
 * expiry.c
 *	  Messages to which nobody replies in time (spec 003 5.1).
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/clock.h"
#include "base/column.h"
#include "base/document.h"
#include "base/rows.h"
#include "base/wary.h"
#include "flow/expiry.h"
#include "miscadmin.h"
#include "protocol/draft.h"
#include "protocol/identifier.h"
#include "settings.h"
#include "store/event.h"
#include "trust/principal.h"
#include "utils/timestamp.h"
#include "wake/notify.h"

/* columns of clutch.expiry */
enum
{
	Anum_expiry_due = 1,
	Anum_expiry_seq,
	Anum_expiry_id,
	Anum_expiry_run_id,
	Anum_expiry_due_since,
	Natts_expiry = Anum_expiry_due_since
};

ROWS_CHECK_COLUMNS(Natts_expiry, EXPIRY);

/* ------------------------------------------------------------------- noting */

static bool
expiry_expects_reply(const Envelope *message)
{
	int			i;

	for (i = 0; i < message->to_agents.n; i++)
		if (!slice_starts(message->to_agents.items[i], SLICE_OF("topic:")) &&
			!slice_equal(message->to_agents.items[i], SLICE_OF("group:*")))
			return message->orders.has_deadline;
	return false;
}

static void
expiry_insert(const Envelope *message, int64 seq)
{
	Datum		values[Natts_expiry] = {0};
	bool		nulls[Natts_expiry] = {0};

	values[Anum_expiry_due - 1] = TimestampTzGetDatum(message->orders.deadline);
	values[Anum_expiry_seq - 1] = Int64GetDatum(seq);
	column_put_text(values, nulls, Anum_expiry_id, message->id);
	column_put_text(values, nulls, Anum_expiry_run_id, message->run_id);
	nulls[Anum_expiry_due_since - 1] = true;
	(void) rows_insert(TABLE_EXPIRY, values, nulls);
	notify_due(message->orders.deadline);
}

/*
 * Removes the row of a message.  If a tick is just handling it, it stays,
 * because the reply has come too late.
 */
static void
expiry_remove(Slice id, Slice run_id)
{
	RowScan		scan;

	if (!slice_present(id) || !rows_table_was_used(TABLE_EXPIRY))
		return;
	rows_begin(&scan, TABLE_EXPIRY, INDEX_EXPIRY_ID, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, id);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	if (rows_next(&scan))
	{
		ItemPointerData tid = rows_tid(&scan);

		(void) rows_delete_if_free(TABLE_EXPIRY, &tid);
	}
	rows_end(&scan);
}

void
expiry_note(const Envelope *message, int64 seq)
{
	expiry_remove(message->orders.reply_to, message->run_id);
	if (expiry_expects_reply(message))
		expiry_insert(message, seq);
}

/* ------------------------------------------------------------------ telling */

static Jsonb *
expiry_payload(const Envelope *message)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_cstring(&b, "code", "TIMEOUT");
	document_put_cstring(&b, "message", "nobody has replied to the message in the time that it gave");
	document_put_bool(&b, "retryable", true);
	document_open_object(&b, "details");
	document_put_text(&b, "message_id", message->id);
	document_put_timestamp(&b, "deadline", message->orders.deadline);
	document_close_object(&b);
	return document_end(&b);
}

static Jsonb *
expiry_meta(const Envelope *message)
{
	DocumentBuilder b;

	document_begin(&b);
	document_open_object(&b, "clutch");
	document_put_text(&b, "reply_to", message->id);
	document_close_object(&b);
	return document_end(&b);
}

static void
expiry_tell(Jsonb *document)
{
	Draft		draft = {0};
	Envelope	message;
	JsonbValue	trace;

	envelope_read_admitted(document, &message, problem_list());
	draft.now = clock_now();
	draft.id = slice_of_cstring(identifier_make("msg", draft.now));
	draft.type = slice_of_cstring(message_type_name(message.type == MSG_TOOL_CALL ? MSG_TOOL_ERROR :
													MSG_CHAT_SYSTEM));
	draft.from_agent = slice_of_cstring(clutch_orchestrator);
	draft.to_agent = message.from_agent;
	draft.run_id = message.run_id;
	draft.thread_id = message.thread_id;
	draft.task_id = message.task_id;
	draft.parent_task_id = message.parent_task_id;
	draft.payload = expiry_payload(&message);
	draft.meta = expiry_meta(&message);
	if (document_get(&document->root, "trace", &trace))
		draft.trace = document_of_value(&trace);
	(void) event_append(draft_document(&draft));
}

/* where a call has got to, and what it has found there */
typedef struct ExpiryTurn
{
	TimestampTz now;
	TimestampTz after_due;
	int64		after_seq;
	bool		found;			/* a message is due behind this place */
} ExpiryTurn;

/*
 * Takes the first row of the scan, whose keys have been set, that no other
 * transaction is inserting or deleting.
 */
static int64
expiry_take_first(RowScan *scan, ExpiryTurn *turn)
{
	int64		seq = 0;

	rows_start(scan);
	while (seq == 0 && rows_next(scan))
	{
		ItemPointerData tid = rows_tid(scan);

		CHECK_FOR_INTERRUPTS();
		if (TransactionIdIsValid(rows_in_doubt(scan)))
			continue;
		turn->after_due = rows_timestamp(scan, Anum_expiry_due);
		turn->after_seq = rows_int8(scan, Anum_expiry_seq);
		if (rows_delete_if_free(TABLE_EXPIRY, &tid))
			seq = turn->after_seq;
	}
	rows_end(scan);
	return seq;
}

/*
 * Returns the seq of the next message that is due, and deletes its row.
 * Returns 0 if there is none.  Many messages may be due at the same instant,
 * so it is not begun again at the beginning of that instant each time.
 */
static int64
expiry_take(ExpiryTurn *turn)
{
	int64		seq;
	RowScan		scan;

	rows_begin(&scan, TABLE_EXPIRY, INDEX_EXPIRY, ROWS_DIRTY, RowExclusiveLock);
	rows_key_timestamp(&scan, 1, BTEqualStrategyNumber, turn->after_due);
	rows_key_int8(&scan, 2, BTGreaterStrategyNumber, turn->after_seq);
	seq = expiry_take_first(&scan, turn);
	if (seq != 0)
		return seq;
	rows_begin(&scan, TABLE_EXPIRY, INDEX_EXPIRY, ROWS_DIRTY, RowExclusiveLock);
	rows_key_timestamp(&scan, 1, BTGreaterStrategyNumber, turn->after_due);
	rows_key_timestamp(&scan, 1, BTLessEqualStrategyNumber, turn->now);
	return expiry_take_first(&scan, turn);
}

static void
expiry_tell_next(void *arg)
{
	ExpiryTurn *turn = arg;
	int64		seq = expiry_take(turn);
	Jsonb	   *message = seq != 0 ? event_read(seq, ROWS_LATEST) : NULL;

	turn->found = seq != 0;
	/* if its run was removed, it is no longer in the log */
	if (message != NULL)
		expiry_tell(message);
}

/*
 * Puts off the message that was taken last, and so keeps it from hiding others.
 * The row says since when it has really been due, for clutch.check().
 */
static void
expiry_put_off(const ExpiryTurn *turn)
{
	Datum		values[Natts_expiry] = {TimestampTzGetDatum(turn->now + WARY_PUT_OFF), Int64GetDatum(turn->after_seq)};
	TimestampTz due_since = turn->after_due;
	bool		nulls[Natts_expiry] = {0};
	RowScan		scan;

	rows_begin(&scan, TABLE_EXPIRY, INDEX_EXPIRY, ROWS_LATEST, RowExclusiveLock);
	rows_key_timestamp(&scan, 1, BTEqualStrategyNumber, turn->after_due);
	rows_key_int8(&scan, 2, BTEqualStrategyNumber, turn->after_seq);
	rows_start(&scan);
	if (rows_next(&scan))
	{
		ItemPointerData tid = rows_tid(&scan);

		column_put_text(values, nulls, Anum_expiry_id, rows_text(&scan, Anum_expiry_id));
		column_put_text(values, nulls, Anum_expiry_run_id, rows_text(&scan, Anum_expiry_run_id));
		if (!rows_is_null(&scan, Anum_expiry_due_since))
			due_since = rows_timestamp(&scan, Anum_expiry_due_since);
		values[Anum_expiry_due_since - 1] = TimestampTzGetDatum(due_since);
		if (rows_delete_if_free(TABLE_EXPIRY, &tid))
			(void) rows_insert(TABLE_EXPIRY, values, nulls);
	}
	rows_end(&scan);
}

/* A message that a trigger of a user refuses is put off. */
static void
expiry_refused(const Wary *wary, const ExpiryTurn *turn, const ErrorData *error)
{
	expiry_put_off(turn);
	if (wary->refused == 1)
		ereport(principal_level(SLICE_NONE),
				(errcode(error->sqlerrcode),
				 errmsg("the sender of a message cannot be told that nobody replied: %s", error->message),
				 errhint("It is tried again in a minute; the others are told. %s", savepoint_advice(error))));
}

int
expiry_work(int n)
{
	static TimestampTz wary_until = WARY_AT_FIRST;
	Wary		wary = wary_begin(&wary_until);
	ExpiryTurn	turn = {clock_now(), PG_INT64_MIN};
	int			done = 0;

	do
	{
		ErrorData  *error;

		if (wary_run(&wary, expiry_tell_next, &turn, &error))
			done += turn.found;
		else if (error != NULL)
			expiry_refused(&wary, &turn, error);
	} while (turn.found && done + wary.refused < n && wary.chances < WARY_MOST_CHANCES);
	wary_end(&wary);
	return done;
}

TimestampTz
expiry_next(void)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_EXPIRY, INDEX_EXPIRY, ROWS_DIRTY, AccessShareLock);
	return rows_look_timestamp(&scan, Anum_expiry_due);
}

bool
expiry_is_open(const RowScan *message)
{
	RowScan		scan;

	if (!rows_table_was_used(TABLE_EXPIRY))
		return false;
	rows_begin(&scan, TABLE_EXPIRY, INDEX_EXPIRY_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, rows_text(message, Anum_event_id));
	rows_key_text(&scan, 2, BTEqualStrategyNumber, rows_text(message, Anum_event_run_id));
	return rows_look(&scan, NULL);
}
