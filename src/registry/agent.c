/*-------------------------------------------------------------------------
 *
 * agent.c
 *	  The registry of agents, and how agent.* events change it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/clock.h"
#include "base/column.h"
#include "base/document.h"
#include "base/guard.h"
#include "base/rows.h"
#include "base/wait.h"
#include "fmgr.h"
#include "protocol/agent_status.h"
#include "protocol/draft.h"
#include "protocol/identifier.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "registry/agent.h"
#include "registry/agent_row.h"
#include "registry/pause.h"
#include "settings.h"
#include "utils/builtins.h"

typedef struct AgentRow
{
	ItemPointerData tid;
	Slice		agent_id;
	Slice		status;
	Jsonb	   *card;
	TimestampTz registered_at;
	int64		changed_seq;
	Slice		reason;
	bool		lost;			/* the database, and not the agent itself, has
								 * declared it UNAVAILABLE */
} AgentRow;

static void
agent_scan(RowScan *scan, Slice agent_id, RowSnapshot which, LOCKMODE lock)
{
	rows_begin(scan, TABLE_AGENT_REGISTRY, INDEX_AGENT_REGISTRY, which, lock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, agent_id);
}

/*
 * Locks the row.  Returns false if there is none, or if another transaction
 * has locked it and wait is false.
 */
static bool
agent_lock_row(Slice agent_id, AgentRow *row, bool wait)
{
	RowScan		scan;
	bool		found;

	agent_scan(&scan, agent_id, ROWS_LATEST, RowExclusiveLock);
	rows_start(&scan);
	found = rows_next(&scan) && rows_lock(&scan, ROW_LOCK_CHANGE, wait) == ROW_LOCKED;
	if (found)
	{
		row->tid = rows_tid(&scan);
		row->agent_id = rows_text_copy(&scan, Anum_agent_registry_agent_id);
		row->status = rows_text_copy(&scan, Anum_agent_registry_status);
		row->card = rows_jsonb(&scan, Anum_agent_registry_card);
		row->registered_at = rows_timestamp(&scan, Anum_agent_registry_registered_at);
		row->changed_seq = rows_int8(&scan, Anum_agent_registry_changed_seq);
		row->reason = rows_text_copy(&scan, Anum_agent_registry_reason);
		row->lost = rows_bool(&scan, Anum_agent_registry_lost);
	}
	rows_end(&scan);
	return found;
}

/*
 * Locks the row, after waiting for a transaction that is just registering the
 * agent.  Returns false if there is none.
 */
static bool
agent_await_row(Slice agent_id, AgentRow *row)
{
	for (;;)
	{
		TransactionId creator;
		RowScan		scan;

		if (agent_lock_row(agent_id, row, true))
			return true;
		agent_scan(&scan, agent_id, ROWS_DIRTY, RowExclusiveLock);
		(void) rows_look(&scan, &creator);
		if (!TransactionIdIsValid(creator))
			return false;
		wait_for_transaction(creator);
	}
}

static void
agent_store_row(AgentRow *row, bool is_new)
{
	Datum		values[Natts_agent_registry];
	bool		nulls[Natts_agent_registry] = {0};

	values[Anum_agent_registry_agent_id - 1] = PointerGetDatum(slice_to_text(row->agent_id));
	values[Anum_agent_registry_status - 1] = PointerGetDatum(slice_to_text(row->status));
	values[Anum_agent_registry_card - 1] = JsonbPGetDatum(row->card);
	values[Anum_agent_registry_registered_at - 1] = TimestampTzGetDatum(row->registered_at);
	values[Anum_agent_registry_changed_seq - 1] = Int64GetDatum(row->changed_seq);
	column_put_text(values, nulls, Anum_agent_registry_reason, row->reason);
	values[Anum_agent_registry_lost - 1] = BoolGetDatum(row->lost);
	if (is_new)
		(void) rows_insert(TABLE_AGENT_REGISTRY, values, nulls);
	else
		rows_update(TABLE_AGENT_REGISTRY, &row->tid, values, nulls);
}

static void
agent_write_row(AgentRow *row, bool is_new)
{
	agent_store_row(row, is_new);
	roster_invalidate();
}

static Jsonb *
agent_merge_card(Jsonb *card, Jsonb *changes)
{
	return DatumGetJsonbP(DirectFunctionCall2(jsonb_concat, JsonbPGetDatum(card),
											  JsonbPGetDatum(changes)));
}

static void
agent_raise_unregistered(Slice agent_id, const char *place)
{
	const char *rule;

	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_AGENT_NOT_FOUND),
			 errproblem(place, "AGENT_NOT_FOUND"),
			 errmsg("agent %s is not registered", place_quote(agent_id)),
			 identifier_fault(ID_AGENT, agent_id, &rule) != NULL ?
			 errhint("An agent ID begins with \"agent:\", like \"agent:researcher\".") :
			 errhint("Register the agent first: SELECT clutch.register(card).")));
}

Slice
agent_of_event(const Envelope *envelope)
{
	Slice		named = document_get_text(envelope->payload.val.binary.data, "agent_id");

	return slice_present(named) ? named : envelope->from_agent;
}

uint64
agent_guard(Slice agent_id)
{
	return guard_key(GUARD_AGENT, agent_id, SLICE_NONE, 0);
}

/*
 * Is there a row, possibly of a transaction that has not committed yet?  The
 * caller holds the guard.
 */
static bool
agent_has_row(Slice agent_id)
{
	RowScan		scan;

	agent_scan(&scan, agent_id, ROWS_DIRTY, RowExclusiveLock);
	return rows_look(&scan, NULL);
}

/*
 * Returns false if another transaction has registered the agent in the
 * meantime.
 */
static bool
agent_insert_row(AgentRow *row)
{
	uint64		guard = agent_guard(row->agent_id);
	bool		exists;

	guard_take(guard);
	exists = agent_has_row(row->agent_id);
	if (!exists)
		agent_write_row(row, true);
	guard_release(guard);
	return !exists;
}

static void
agent_register(Slice agent_id, Jsonb *card, int64 seq, TimestampTz at)
{
	AgentRow	row;

	for (;;)
	{
		bool		found = agent_await_row(agent_id, &row);

		if (!found)
		{
			row.agent_id = agent_id;
			row.registered_at = at;
		}
		row.status = slice_of_cstring(agent_status_name(AGENT_READY));
		row.reason = SLICE_NONE;
		row.lost = false;
		row.card = card;
		row.changed_seq = seq;
		if (found)
			agent_write_row(&row, false);
		if (found || agent_insert_row(&row))
			return;
	}
}

/*
 * Sets the status and its reason, unless the agent has them already.  If it has
 * the status and no reason is given, it keeps the reason that it has.  The agent
 * counts as lost only if the database, rather than the agent itself, made it UNAVAILABLE.
 *
 * An agent may say with each heartbeat what it is busy with.  The roster has no
 * reasons, so the backends need not read it again because of that.
 */
static void
agent_change_status(AgentRow *row, Slice status, Slice reason, Slice from, int64 seq)
{
	bool		lost = slice_is(from, clutch_orchestrator) &&
		slice_is(status, agent_status_name(AGENT_UNAVAILABLE));
	bool		changed;

	if (!slice_present(status))
		return;
	changed = !slice_equal(row->status, status) || lost != row->lost;
	if (!changed && (!slice_present(reason) || slice_equal(row->reason, reason)))
		return;
	row->reason = reason;
	if (!changed)
	{
		agent_store_row(row, false);
		return;
	}
	row->status = status;
	row->lost = lost;
	row->changed_seq = seq;
	agent_write_row(row, false);
}

/* Is it a heartbeat without a status? */
static bool
agent_is_sign_of_life(const Envelope *envelope)
{
	return envelope->type == MSG_AGENT_HEARTBEAT &&
		!slice_present(document_get_text(envelope->payload.val.binary.data, "status"));
}

void
agent_lock(const Envelope *envelope)
{
	AgentRow	row;

	if (!agent_is_sign_of_life(envelope))
		(void) agent_await_row(agent_of_event(envelope), &row);
}

Jsonb *
agent_lock_card(Slice agent_id)
{
	uint64		guard = agent_guard(agent_id);
	AgentRow	row;

	for (;;)
	{
		if (agent_await_row(agent_id, &row))
			return row.card;
		guard_take(guard);
		if (!agent_has_row(agent_id))
			return NULL;
		/* no guard may be held while waiting for a transaction */
		guard_release(guard);
	}
}

void
agent_require_locked(Slice agent_id)
{
	AgentRow	row;

	if (!agent_await_row(agent_id, &row))
		agent_raise_unregistered(agent_id, "agent_id");
}

void
agent_remove(Slice agent_id)
{
	AgentRow	row;

	if (agent_await_row(agent_id, &row))
		rows_delete(TABLE_AGENT_REGISTRY, &row.tid);
	(void) pause_remove(agent_id);
	roster_invalidate();
}

void
agent_apply(const Envelope *envelope, int64 seq, TimestampTz at)
{
	Slice		agent_id = agent_of_event(envelope);
	JsonbValue	payload = envelope->payload;
	AgentRow	row;

	if (envelope->orders.move == MOVE_UNREGISTERED)
	{
		agent_remove(agent_id);
		return;
	}
	if (envelope->orders.move == MOVE_PAUSED || envelope->orders.move == MOVE_RESUMED)
	{
		pause_apply(envelope, seq, at);
		return;
	}
	if (agent_is_sign_of_life(envelope))
	{
		agent_require(agent_id, "/payload/agent_id");
		return;
	}

	if (envelope->type == MSG_AGENT_REGISTER)
	{
		agent_register(agent_id, document_of_value(&payload), seq, at);
		return;
	}
	if (!agent_await_row(agent_id, &row))
		agent_raise_unregistered(agent_id, "/payload/agent_id");
	if (envelope->type == MSG_AGENT_UPDATE)
	{
		row.card = agent_merge_card(row.card, document_of_value(&payload));
		row.changed_seq = seq;
		agent_write_row(&row, false);
	}
	else
		agent_change_status(&row, document_get_text(payload.val.binary.data, "status"),
							document_get_text(payload.val.binary.data, "reason"),
							envelope->from_agent, seq);
}

Jsonb *
agent_read_document(Slice agent_id)
{
	Jsonb	   *document = NULL;
	RowScan		scan;

	agent_scan(&scan, agent_id, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	if (rows_next(&scan))
		document = rows_jsonb(&scan, Anum_agent_registry_card);
	rows_end(&scan);
	return document;
}

bool
agent_read_card(Slice agent_id, AgentCard *card)
{
	Jsonb	   *document = agent_read_document(agent_id);
	JsonbValue	value;

	if (document == NULL)
		return false;
	JsonbToJsonbValue(document, &value);
	agent_card_read(&value, "", false, card, problem_list_admitted());
	return true;
}

bool
agent_is_lost(Slice agent_id)
{
	RowScan		scan;
	bool		lost;

	agent_scan(&scan, agent_id, ROWS_LATEST, AccessShareLock);
	rows_start(&scan);
	lost = rows_next(&scan) && rows_bool(&scan, Anum_agent_registry_lost);
	rows_end(&scan);
	return lost;
}

void
agent_say_status(Slice agent_id, AgentStatus status, const char *reason)
{
	Slice		why = slice_of_cstring(reason);
	Slice		orchestrator = slice_of_cstring(clutch_orchestrator);
	Receipt		receipt = event_append(agent_envelope(orchestrator, MSG_AGENT_HEARTBEAT,
													  agent_status_payload(agent_id, status, why)));
	AgentRow	row;

	if (agent_lock_row(agent_id, &row, true))
		agent_change_status(&row, slice_of_cstring(agent_status_name(status)), why, orchestrator,
							receipt.seq);
}

bool
agent_try_lock(Slice agent_id, AgentStatus *status)
{
	AgentRow	row;

	return agent_lock_row(agent_id, &row, false) && agent_status_parse(row.status, status);
}

void
agent_check_status(const Envelope *envelope)
{
	Slice		name = document_get_text(envelope->payload.val.binary.data, "status");
	AgentStatus from;
	AgentStatus to;
	AgentRow	row;

	if (envelope->type != MSG_AGENT_HEARTBEAT || !slice_present(name) ||
		!agent_await_row(agent_of_event(envelope), &row) ||
		!agent_status_parse(row.status, &from) || !agent_status_parse(name, &to) ||
		agent_status_may_become(from, to))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
			 errproblem("/payload/status", "STATUS_NOT_ALLOWED"),
			 errmsg("agent \"%.*s\" is %.*s and cannot become %.*s",
					row.agent_id.len, row.agent_id.s, row.status.len,
					row.status.s, name.len, name.s),
			 errhint("It can become %s. To start over from any status, call clutch.register(card).", agent_status_successors(from))));
}

/* ------------------------------------------------------ the agents' events */

static Draft
agent_draft(Slice from, MessageType type, Jsonb *payload)
{
	Draft		draft = {0};

	draft.now = clock_now();
	draft.id = slice_of_cstring(identifier_make("msg", draft.now));
	draft.type = slice_of_cstring(message_type_name(type));
	draft.thread_id = SLICE_OF("thread:agents");
	draft.run_id = SLICE_OF(AGENTS_RUN);
	draft.task_id = SLICE_OF("task:agents");
	draft.from_agent = from;
	draft.payload = payload;
	return draft;
}

Jsonb *
agent_envelope(Slice from, MessageType type, Jsonb *payload)
{
	Draft		draft = agent_draft(from, type, payload);

	return draft_document(&draft);
}

Jsonb *
agent_move_envelope(Slice from, const char *move, Jsonb *payload)
{
	Draft		draft = agent_draft(from, MSG_AGENT_HEARTBEAT, payload);
	DocumentBuilder b;

	document_begin(&b);
	document_open_object(&b, "clutch");
	document_put_cstring(&b, "move", move);
	document_close_object(&b);
	draft.meta = document_end(&b);
	return draft_document(&draft);
}

Jsonb *
agent_status_payload(Slice agent_id, AgentStatus status, Slice reason)
{
	DocumentBuilder b;

	document_begin(&b);
	document_put_text(&b, "agent_id", agent_id);
	document_put_cstring(&b, "status", agent_status_name(status));
	document_put_text(&b, "reason", reason);
	return document_end(&b);
}

void
agent_require(Slice agent_id, const char *place)
{
	RowScan		scan;

	agent_scan(&scan, agent_id, ROWS_LATEST, AccessShareLock);
	if (!rows_look(&scan, NULL))
		agent_raise_unregistered(agent_id, place);
}
