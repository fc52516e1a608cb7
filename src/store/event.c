/*-------------------------------------------------------------------------
 *
 * event.c
 *	  Rows of the log, clutch.events.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "base/clock.h"
#include "base/column.h"
#include "base/document.h"
#include "base/owner.h"
#include "base/query.h"
#include "base/rows.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "rewrite/rowsecurity.h"
#include "store/epoch.h"
#include "store/event.h"
#include "store/scope.h"
#include "utils/acl.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

/*
 * Set while one of our functions inserts a row and waits for its receipt; NULL
 * during an INSERT by a user.  Triggers of users may insert other events before
 * the row gets to our trigger, and after it, so rows are told apart by their
 * IDs.
 */
typedef struct Awaited
{
	MemoryContext context;
	Slice		id;				/* of the envelope; absent if no other can come first */
	bool		is_internal;	/* is the row one of event_append's? */
	Receipt		receipt;
} Awaited;

static Awaited *awaited = NULL;

/*
 * Fills in the texts.  One piece of memory holds all of them, because an
 * allocation for each would cost more than copying it.
 */
static void
event_fill_texts(const Event *event, Datum *values, bool *nulls)
{
	const Envelope *e = &event->envelope;
	const struct
	{
		int			attno;
		Slice		text;
	}			columns[] = {
		{Anum_event_id, e->id},
		{Anum_event_run_id, e->run_id},
		{Anum_event_thread_id, e->thread_id},
		{Anum_event_task_id, e->task_id},
		{Anum_event_parent_task_id, e->parent_task_id},
		{Anum_event_type, e->type_name},
		{Anum_event_from_agent, e->from_agent},
		{Anum_event_scope, event->scope},
		{Anum_event_domain, e->domain},
		{Anum_event_payload_type, e->payload_type},
		{Anum_event_idempotency_key, e->idempotency_key},
	};
	Size		bytes = 0;
	char	   *room;

	for (int i = 0; i < lengthof(columns); i++)
		bytes += column_text_bytes(columns[i].text);
	room = palloc(bytes);
	for (int i = 0; i < lengthof(columns); i++)
		room = column_put_text_at(values, nulls, columns[i].attno, columns[i].text, room);
}

static void
event_fill_columns(const Event *event, Datum *values, bool *nulls)
{
	const Envelope *e = &event->envelope;

	memset(nulls, 0, sizeof(bool) * Natts_event);
	event_fill_texts(event, values, nulls);
	values[Anum_event_seq - 1] = Int64GetDatum(event->seq);
	values[Anum_event_xid - 1] = FullTransactionIdGetDatum(GetTopFullTransactionId());
	values[Anum_event_epoch - 1] = Int32GetDatum(event->epoch);
	values[Anum_event_received_at - 1] = TimestampTzGetDatum(event->received_at);
	values[Anum_event_ts - 1] = TimestampTzGetDatum(e->ts);
	values[Anum_event_to_agents - 1] = column_of_texts(e->to_agents);
	values[Anum_event_attempt - 1] = Int32GetDatum(event->attempt);
	values[Anum_event_late - 1] = BoolGetDatum(event->late);
	values[Anum_event_envelope - 1] = JsonbPGetDatum(e->doc);
}

HeapTuple
event_form_tuple(const Event *event, TupleDesc desc)
{
	Datum		values[Natts_event];
	bool		nulls[Natts_event];

	event_fill_columns(event, values, nulls);
	return rows_form(TABLE_EVENTS, desc, values, nulls);
}

Jsonb *
event_read(int64 seq, RowSnapshot which)
{
	return event_read_received(seq, which, NULL, NULL);
}

Jsonb *
event_read_received(int64 seq, RowSnapshot which, TimestampTz *received_at, bool *late)
{
	Jsonb	   *envelope = NULL;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, which, AccessShareLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, seq);
	rows_start(&scan);
	if (rows_next(&scan))
	{
		envelope = rows_jsonb(&scan, Anum_event_envelope);
		if (received_at != NULL)
			*received_at = rows_timestamp(&scan, Anum_event_received_at);
		if (late != NULL)
			*late = rows_bool(&scan, Anum_event_late);
	}
	rows_end(&scan);
	return envelope;
}

Jsonb *
event_read_of_run(Slice id, Slice run_id, RowSnapshot which)
{
	Jsonb	   *envelope = NULL;
	RowScan		scan;

	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_PKEY, which, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, id);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, run_id);
	rows_start(&scan);
	if (rows_next(&scan))
		envelope = rows_jsonb(&scan, Anum_event_envelope);
	rows_end(&scan);
	return envelope;
}

/* ---------------------------------------------------------------- receipts */

void
event_leave_receipt(const Event *event, int64 seq, TimestampTz received_at, Slice id, bool duplicate,
					Slice run_id, Slice task_id, bool late)
{
	MemoryContext old;

	if (!event->is_awaited || awaited == NULL)
		return;
	old = MemoryContextSwitchTo(awaited->context);
	awaited->receipt.seq = seq;
	awaited->receipt.received_at = received_at;
	awaited->receipt.id = slice_copy(id);
	awaited->receipt.duplicate = duplicate;
	awaited->receipt.run_id = slice_copy(run_id);
	awaited->receipt.task_id = slice_copy(task_id);
	awaited->receipt.late = late;
	MemoryContextSwitchTo(old);
	awaited = NULL;
}

/* ----------------------------------------------------- without the executor */

static EventDoor door;

void
event_set_door(EventDoor new_door)
{
	door = new_door;
}

/*
 * Is there only one policy for INSERT, the one of the extension that allows
 * all rows?
 */
static bool
event_door_is_open(Relation rel)
{
	bool		is_open = false;
	ListCell   *cell;

	if (!rel->rd_rel->relrowsecurity)
		return true;
	if (rel->rd_rsdesc == NULL)
		return false;
	foreach(cell, rel->rd_rsdesc->policies)
	{
		const RowSecurityPolicy *policy = lfirst(cell);

		if (policy->polcmd != ACL_INSERT_CHR && policy->polcmd != '*')
			continue;
		if (strcmp(policy->policy_name, "clutch_door") != 0)
			return false;
		is_open = true;
	}
	return is_open;
}

/* Has a user made a column NOT NULL that may be absent? */
static bool
event_log_requires_more(const TupleConstr *constraints, TupleDesc columns)
{
	static const int optional[] = {
		Anum_event_parent_task_id, Anum_event_scope, Anum_event_domain, Anum_event_payload_type, Anum_event_idempotency_key
	};

	for (int i = 0; constraints != NULL && constraints->has_not_null && i < lengthof(optional); i++)
		if (TupleDescAttr(columns, optional[i] - 1)->attnotnull)
			return true;
	return false;
}

/*
 * Would an INSERT into the log do nothing but call our trigger and write the
 * row?  Not if a user has added a trigger, a rule, a policy, a constraint or a
 * partial index, or has disabled our trigger.
 */
static bool
event_log_is_plain(Relation rel)
{
	const TriggerDesc *triggers = rel->trigdesc;
	bool		admits = false;
	int			i;

	if (triggers == NULL || rel->rd_rules != NULL || !event_door_is_open(rel) ||
		(rel->rd_att->constr != NULL && rel->rd_att->constr->num_check > 0) ||
		event_log_requires_more(rel->rd_att->constr, rel->rd_att) ||
		SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA)
		return false;
	for (i = 0; i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (!TRIGGER_FOR_INSERT(trigger->tgtype))
			continue;
		if (strcmp(trigger->tgname, "zz_admit") != 0 || trigger->tgqual != NULL ||
			trigger->tgenabled != TRIGGER_FIRES_ALWAYS)
			return false;
		admits = true;
	}
	return admits && rows_indexes_are_simple(TABLE_EVENTS, rel);
}

/*
 * Does the role have the privilege that INSERT INTO clutch.events (envelope)
 * requires?
 */
static bool
event_may_insert(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);

	return pg_class_aclcheck(relid, GetUserId(), ACL_INSERT) == ACLCHECK_OK ||
		pg_attribute_aclcheck(relid, Anum_event_envelope, GetUserId(), ACL_INSERT) == ACLCHECK_OK;
}

void
event_put(const Event *event)
{
	Datum		values[Natts_event];
	bool		nulls[Natts_event];

	event_fill_columns(event, values, nulls);
	(void) rows_insert(TABLE_EVENTS, values, nulls);
}

/*
 * Sends an envelope without the executor.  The memory used for judging it is
 * freed, as after each row of an INSERT.
 */
static void
event_admit_and_put(Jsonb *envelope, bool has_new_id)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "clutch event",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Event		event = {.has_new_id = has_new_id};

	if (door.admit(envelope, &event))
		event_put(&event);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

static void
event_send_directly(Jsonb *envelope)
{
	event_admit_and_put(envelope, false);
}

static void
event_send_new_directly(Jsonb *envelope)
{
	event_admit_and_put(envelope, true);
}

/*
 * Appends an envelope of the database without the executor, doing what the
 * trigger does.
 */
static Receipt
event_append_directly(Jsonb *envelope, int epoch)
{
	ProblemList *problems = problem_list();
	Event		event = {.internal = true, .epoch = epoch};

	envelope_read_own(envelope, &event.envelope, problems);
	if (problems->n > 0)
		problem_raise(problems, ERRCODE_CLUTCH_ENVELOPE_INVALID, "envelope");
	event.received_at = clock_now();
	event.attempt = event.envelope.attempt;
	event.scope = scope_of_run(event.envelope.run_id);
	event.seq = rows_nextval(SEQUENCE_EVENT_SEQ);
	event_put(&event);
	door.announce(&event);
	return (Receipt) {
		.seq = event.seq,
		.id = event.envelope.id,
		.run_id = event.envelope.run_id,
		.task_id = event.envelope.task_id,
		.received_at = event.received_at
	};
}

/* ------------------------------------------------------ through the executor */

static void
event_execute_insert(Jsonb *envelope)
{
	static QueryPlan plan = {"INSERT INTO clutch.events (envelope) VALUES ($1)",
		1, {JSONBOID}
	};
	Datum		argument = JsonbPGetDatum(envelope);

	query_execute(&plan, &argument);
}

/*
 * Runs insert, and returns the receipt that the trigger or door.admit leaves.
 */
static Receipt
event_receipt_of(void (*insert) (Jsonb *envelope), Jsonb *envelope, bool internal)
{
	Awaited		ours = {CurrentMemoryContext, .is_internal = internal};
	Awaited    *outer = awaited;
	bool		is_replica = SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;

	if (insert == event_execute_insert)
		ours.id = document_get_text(&envelope->root, "id");
	awaited = &ours;
	PG_TRY();
	{
		insert(envelope);
	}
	PG_FINALLY();
	{
		awaited = outer;
	}
	PG_END_TRY();
	if (ours.receipt.seq == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the envelope was not admitted by clutch"),
				 is_replica ?
				 errdetail("Under session_replication_role = replica, an envelope is kept and not judged.") :
				 errdetail("The trigger of clutch.events is disabled, or another trigger or a rule has discarded the row."),
				 is_replica ?
				 errhint("Reset session_replication_role. If it was set by ALTER DATABASE or ALTER ROLE, reset it there, and connect again.") :
				 errhint("SELECT * FROM clutch.check() reports what is wrong with the log.")));
	return ours.receipt;
}

static Receipt
event_receipt_as_owner(Jsonb *envelope, bool internal)
{
	OwnerCaller caller = owner_begin();
	Receipt		receipt = event_receipt_of(event_execute_insert, envelope, internal);

	owner_end(caller);
	return receipt;
}

/* ----------------------------------------------------------------- the doors */

/* Calls send if the executor would do no more than that. */
static Receipt
event_send_by(void (*send) (Jsonb *envelope), Jsonb *envelope)
{
	Relation	rel = rows_open(TABLE_EVENTS, RowExclusiveLock);
	bool		directly = event_log_is_plain(rel) && event_may_insert(rel);

	table_close(rel, NoLock);
	return event_receipt_of(directly ? send : event_execute_insert, envelope, false);
}

Receipt
event_send(Jsonb *envelope)
{
	return event_send_by(event_send_directly, envelope);
}

Receipt
event_send_new(Jsonb *envelope)
{
	return event_send_by(event_send_new_directly, envelope);
}

Receipt
event_send_as_owner(Jsonb *envelope)
{
	return event_receipt_as_owner(envelope, false);
}

/*
 * Agents have no right to speak for the database, so the INSERT is made by the
 * owner.  If the epoch is not known yet, the trigger begins it, and also voids
 * the leases of a restored copy.
 */
Receipt
event_append(Jsonb *envelope)
{
	Relation	rel = rows_open(TABLE_EVENTS, RowExclusiveLock);
	int			epoch = event_log_is_plain(rel) ? epoch_if_known() : 0;

	table_close(rel, NoLock);
	if (epoch != 0)
		return event_append_directly(envelope, epoch);
	return event_receipt_as_owner(envelope, true);
}

void
event_take_awaited(Jsonb *envelope, Event *event)
{
	event->is_awaited = awaited != NULL &&
		(!slice_present(awaited->id) || slice_equal(awaited->id, document_get_text(&envelope->root, "id")));
	event->internal = event->is_awaited && awaited->is_internal;
}
