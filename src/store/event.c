/*-------------------------------------------------------------------------
 *
 * event.c
 *	  One row of the log, clutch.events.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "base/column.h"
#include "base/query.h"
#include "base/rows.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "store/event.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

/* no id is longer: clutch.max_id_bytes goes no higher */
#define RECEIPT_ID_BYTES	1024

static struct
{
	Receipt		receipt;
	char		id[RECEIPT_ID_BYTES];
	char		run_id[RECEIPT_ID_BYTES];
	char		task_id[RECEIPT_ID_BYTES];
}			last;

/* the next row that admit sees is our own word */
static bool next_is_internal = false;

HeapTuple
event_form_tuple(const Event *event, TupleDesc desc)
{
	const Envelope *e = &event->envelope;
	Datum		values[Natts_event] = {0};
	bool		nulls[Natts_event] = {0};

	if (desc->natts != Natts_event)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("table clutch.events has %d columns where %d are expected",
						desc->natts, Natts_event),
				 errhint("Run ALTER EXTENSION clutch UPDATE.")));
	values[Anum_event_seq - 1] = Int64GetDatum(event->seq);
	values[Anum_event_xid - 1] = FullTransactionIdGetDatum(GetTopFullTransactionId());
	values[Anum_event_epoch - 1] = Int32GetDatum(event->epoch);
	values[Anum_event_received_at - 1] = TimestampTzGetDatum(event->received_at);
	column_put_text(values, nulls, Anum_event_id, e->id);
	values[Anum_event_ts - 1] = TimestampTzGetDatum(e->ts);
	column_put_text(values, nulls, Anum_event_run_id, e->run_id);
	column_put_text(values, nulls, Anum_event_thread_id, e->thread_id);
	column_put_text(values, nulls, Anum_event_task_id, e->task_id);
	column_put_text(values, nulls, Anum_event_parent_task_id, e->parent_task_id);
	column_put_text(values, nulls, Anum_event_type, e->type_name);
	column_put_text(values, nulls, Anum_event_from_agent, e->from_agent);
	values[Anum_event_to_agents - 1] = column_of_texts(e->to_agents);
	column_put_text(values, nulls, Anum_event_scope, event->scope);
	column_put_text(values, nulls, Anum_event_domain, e->domain);
	column_put_text(values, nulls, Anum_event_payload_type, e->payload_type);
	column_put_text(values, nulls, Anum_event_idempotency_key, e->idempotency_key);
	values[Anum_event_attempt - 1] = Int32GetDatum(event->attempt);
	values[Anum_event_late - 1] = BoolGetDatum(event->late);
	values[Anum_event_envelope - 1] = JsonbPGetDatum(e->doc);
	return heap_form_tuple(desc, values, nulls);
}

Jsonb *
event_read(int64 seq, RowSnapshot which)
{
	Jsonb	   *envelope = NULL;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, which, AccessShareLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, seq);
	rows_start(&scan);
	if (rows_next(&scan))
		envelope = rows_jsonb(&scan, Anum_event_envelope);
	rows_end(&scan);
	return envelope;
}

/* ---------------------------------------------------------------- receipts */

static Slice
leave(char *place, Slice value)
{
	/* a row that came from a dump may hold anything */
	value.len = Min(value.len, RECEIPT_ID_BYTES);
	memcpy(place, value.s, value.len);
	return (Slice) {place, value.len};
}

void
event_leave_receipt(int64 seq, TimestampTz received_at, Slice id, bool duplicate,
					Slice run_id, Slice task_id, bool late)
{
	last.receipt.seq = seq;
	last.receipt.received_at = received_at;
	last.receipt.id = leave(last.id, id);
	last.receipt.duplicate = duplicate;
	last.receipt.run_id = leave(last.run_id, run_id);
	last.receipt.task_id = leave(last.task_id, task_id);
	last.receipt.late = late;
}

/* ----------------------------------------------------------------- writing */

static void
insert_envelope(Jsonb *envelope)
{
	static QueryPlan plan = {"INSERT INTO clutch.events (envelope) VALUES ($1)",
		1, {JSONBOID}
	};
	Datum		argument = JsonbPGetDatum(envelope);

	query_execute(&plan, &argument, NULL);
}

Receipt
event_send(Jsonb *envelope)
{
	last.receipt.seq = 0;
	insert_envelope(envelope);
	if (last.receipt.seq == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the envelope was not admitted by clutch"),
				 errdetail("The trigger of clutch.events is disabled, or another trigger swallowed the row."),
				 errhint("SELECT * FROM clutch.check() says what is wrong with the log.")));
	return last.receipt;
}

bool
event_take_internal(void)
{
	bool		internal = next_is_internal;

	next_is_internal = false;
	return internal;
}

/*
 * As the owner, whoever is at work: agents hold no right to speak for the
 * database.  An error ends the (sub)transaction, which restores the user; the
 * flag must be cleared here.
 */
Receipt
event_append(Jsonb *envelope)
{
	Receipt		receipt;

	next_is_internal = true;
	PG_TRY();
	{
		receipt = event_send_as_owner(envelope);
	}
	PG_FINALLY();
	{
		next_is_internal = false;
	}
	PG_END_TRY();
	return receipt;
}

Receipt
event_send_as_owner(Jsonb *envelope)
{
	Oid			user;
	int			context;
	Receipt		receipt;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(rows_owner(), context | SECURITY_LOCAL_USERID_CHANGE);
	receipt = event_send(envelope);
	SetUserIdAndSecContext(user, context);
	return receipt;
}
