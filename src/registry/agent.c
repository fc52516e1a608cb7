/*-------------------------------------------------------------------------
 *
 * agent.c
 *	  The registry: what agent.* events make of it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/guard.h"
#include "base/rows.h"
#include "fmgr.h"
#include "registry/agent.h"
#include "settings.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

/* columns of clutch.agent_registry */
enum
{
	Anum_agent_id = 1,
	Anum_status,
	Anum_card,
	Anum_registered_at,
	Anum_changed_seq,
	Natts_agent_registry = Anum_changed_seq
};

/* columns of clutch.agent_heartbeat */
enum
{
	Anum_beat_agent_id = 1,
	Anum_beat_generation,
	Anum_beat_last_seen,
	Natts_agent_heartbeat = Anum_beat_last_seen
};

typedef struct AgentRow
{
	ItemPointerData tid;
	Slice		agent_id;
	Slice		status;
	Jsonb	   *card;
	TimestampTz registered_at;
	int64		changed_seq;
} AgentRow;

static bool
lock_row(Slice agent_id, AgentRow *row)
{
	RowScan		scan;
	bool		found;

	rows_begin(&scan, TABLE_AGENT_REGISTRY, INDEX_AGENT_REGISTRY, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_start(&scan);
	found = rows_next(&scan) && rows_lock(&scan, ROW_LOCK_CHANGE, true) == ROW_LOCKED;
	if (found)
	{
		row->tid = rows_tid(&scan);
		row->agent_id = slice_copy(rows_text(&scan, Anum_agent_id));
		row->status = slice_copy(rows_text(&scan, Anum_status));
		row->card = rows_jsonb(&scan, Anum_card);
		row->registered_at = rows_timestamp(&scan, Anum_registered_at);
		row->changed_seq = rows_int8(&scan, Anum_changed_seq);
	}
	rows_end(&scan);
	return found;
}

/* the same, or wait for whoever is registering it this moment */
static bool
await_row(Slice agent_id, AgentRow *row)
{
	for (;;)
	{
		TransactionId creator;
		RowScan		scan;

		if (lock_row(agent_id, row))
			return true;
		rows_begin(&scan, TABLE_AGENT_REGISTRY, INDEX_AGENT_REGISTRY, ROWS_DIRTY, RowExclusiveLock);
		rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
		(void) rows_look(&scan, &creator);
		if (!TransactionIdIsValid(creator))
			return false;
		rows_await(creator);
	}
}

static void
write_row(AgentRow *row, bool is_new)
{
	Datum		values[Natts_agent_registry];
	bool		nulls[Natts_agent_registry] = {0};

	values[Anum_agent_id - 1] = PointerGetDatum(slice_to_text(row->agent_id));
	values[Anum_status - 1] = PointerGetDatum(slice_to_text(row->status));
	values[Anum_card - 1] = JsonbPGetDatum(row->card);
	values[Anum_registered_at - 1] = TimestampTzGetDatum(row->registered_at);
	values[Anum_changed_seq - 1] = Int64GetDatum(row->changed_seq);
	if (is_new)
		(void) rows_insert(TABLE_AGENT_REGISTRY, values, nulls);
	else
		rows_update(TABLE_AGENT_REGISTRY, &row->tid, values, nulls);
	roster_invalidate();
}

static Jsonb *
merged(Jsonb *card, Jsonb *changes)
{
	return DatumGetJsonbP(DirectFunctionCall2(jsonb_concat, JsonbPGetDatum(card),
											  JsonbPGetDatum(changes)));
}

static void
refuse_unregistered(Slice agent_id)
{
	problem_refuse(ERRCODE_CLUTCH_AGENT_NOT_FOUND, "/payload/agent_id", "AGENT_NOT_FOUND",
				   "Register it first: SELECT clutch.register(card).",
				   "agent \"%.*s\" is not registered", agent_id.len, agent_id.s);
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

/* false: somebody else has registered it in the meantime */
static bool
insert_row(AgentRow *row)
{
	uint64		guard = agent_guard(row->agent_id);
	RowScan		scan;
	bool		exists;

	guard_take(guard);
	rows_begin(&scan, TABLE_AGENT_REGISTRY, INDEX_AGENT_REGISTRY, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, row->agent_id);
	exists = rows_look(&scan, NULL);
	if (!exists)
		write_row(row, true);
	guard_release(guard);
	return !exists;
}

static void
register_agent(Slice agent_id, Jsonb *card, int64 seq, TimestampTz at)
{
	AgentRow	row;

	for (;;)
	{
		bool		found = await_row(agent_id, &row);

		if (!found)
		{
			row.agent_id = agent_id;
			row.registered_at = at;
		}
		row.status = slice_of_cstring(agent_status_name(AGENT_READY));
		row.card = card;
		row.changed_seq = seq;
		if (found)
			write_row(&row, false);
		if (found || insert_row(&row))
			return;
	}
}

static void
set_status(AgentRow *row, Slice status, int64 seq)
{
	if (!slice_present(status) || slice_equal(row->status, status))
		return;
	row->status = status;
	row->changed_seq = seq;
	write_row(row, false);
}

/* a heartbeat without a status */
static bool
is_sign_of_life(const Envelope *envelope)
{
	return envelope->type == MSG_AGENT_HEARTBEAT &&
		!slice_present(document_get_text(envelope->payload.val.binary.data, "status"));
}

void
agent_lock(const Envelope *envelope)
{
	AgentRow	row;

	if (!is_sign_of_life(envelope))
		(void) await_row(agent_of_event(envelope), &row);
}

void
agent_apply(const Envelope *envelope, int64 seq, TimestampTz at)
{
	Slice		agent_id = agent_of_event(envelope);
	JsonbValue	payload = envelope->payload;
	AgentRow	row;

	if (is_sign_of_life(envelope))
	{
		agent_require(agent_id);
		return;
	}

	if (envelope->type == MSG_AGENT_REGISTER)
	{
		register_agent(agent_id, document_of_value(&payload), seq, at);
		return;
	}
	if (!await_row(agent_id, &row))
		refuse_unregistered(agent_id);
	if (envelope->type == MSG_AGENT_UPDATE)
	{
		row.card = merged(row.card, document_of_value(&payload));
		row.changed_seq = seq;
		write_row(&row, false);
	}
	else
		set_status(&row, document_get_text(payload.val.binary.data, "status"), seq);
}

void
agent_require(Slice agent_id)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_AGENT_REGISTRY, INDEX_AGENT_REGISTRY, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	if (!rows_look(&scan, NULL))
		refuse_unregistered(agent_id);
}

/* ---------------------------------------------------------- signs of life */

static void
write_beat(Slice agent_id, int64 generation, TimestampTz at)
{
	Datum		values[Natts_agent_heartbeat];
	bool		nulls[Natts_agent_heartbeat] = {0};

	values[Anum_beat_agent_id - 1] = PointerGetDatum(slice_to_text(agent_id));
	values[Anum_beat_generation - 1] = Int64GetDatum(generation);
	values[Anum_beat_last_seen - 1] = TimestampTzGetDatum(at);
	(void) rows_insert(TABLE_AGENT_HEARTBEAT, values, nulls);
}

TimestampTz
agent_beat(Slice agent_id, bool force)
{
	uint64		guard = guard_key(GUARD_HEARTBEAT, agent_id, SLICE_NONE, 0);
	TimestampTz now = clock_now();
	TimestampTz last = 0;
	int64		generation = 0;
	ItemPointerData tid;
	bool		found;
	bool		busy = false;
	RowScan		scan;

	if (!guard_try(guard))
		return now;
	rows_begin(&scan, TABLE_AGENT_HEARTBEAT, INDEX_AGENT_HEARTBEAT, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_start(&scan);
	found = rows_next(&scan);
	if (found)
	{
		generation = rows_int8(&scan, Anum_beat_generation);
		last = rows_timestamp(&scan, Anum_beat_last_seen);
		tid = rows_tid(&scan);
		busy = TransactionIdIsValid(rows_in_doubt(&scan));
	}
	rows_end(&scan);

	/* somebody else is writing a beat of this agent: that one will do */
	if (!busy &&
		(force || !found || now - last >= (int64) clutch_heartbeat_interval * USECS_PER_SEC / 3))
	{
		write_beat(agent_id, generation + 1, now);
		if (found)
			rows_delete(TABLE_AGENT_HEARTBEAT, &tid);
		last = now;
	}
	guard_release(guard);
	return busy ? now : last;
}
