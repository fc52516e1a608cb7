/*-------------------------------------------------------------------------
 *
 * heartbeat.c
 *	  Heartbeats: signs of life of agents.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "base/clock.h"
#include "base/guard.h"
#include "base/rows.h"
#include "base/wait.h"
#include "registry/agent_row.h"
#include "registry/heartbeat.h"
#include "registry/roster_part.h"
#include "settings.h"
#include "utils/timestamp.h"

/* columns of clutch.agent_heartbeat */
enum
{
	Anum_agent_heartbeat_agent_id = 1,
	Anum_agent_heartbeat_generation,
	Anum_agent_heartbeat_last_seen,
	Natts_agent_heartbeat = Anum_agent_heartbeat_last_seen
};
ROWS_CHECK_COLUMNS(Natts_agent_heartbeat, AGENT_HEARTBEAT);

/* how often signs of life are written for an agent that is not watched */
#define USUAL_INTERVAL	(30 * USECS_PER_SEC)

/*
 * A backend that read the clock a moment later cannot have written a time that
 * is so far ahead.
 */
#define FROM_THE_FUTURE	USECS_PER_SEC

int64
heartbeat_interval(int heartbeat_sec)
{
	return (heartbeat_sec >= 0 ? heartbeat_sec : clutch_heartbeat_interval) * USECS_PER_SEC;
}

/* Returns for how long a sign of life is as good as a new one. */
static int64
heartbeat_pause(Slice agent_id)
{
	const RosterAgent *agent = roster_look(agent_id);
	int64		interval = agent == NULL ? 0 : heartbeat_interval(agent->card.heartbeat_sec);

	return (interval > 0 ? interval : USUAL_INTERVAL) / 3;
}

static void
heartbeat_insert(Slice agent_id, int64 generation, TimestampTz at)
{
	Datum		values[Natts_agent_heartbeat];
	bool		nulls[Natts_agent_heartbeat] = {0};

	values[Anum_agent_heartbeat_agent_id - 1] = PointerGetDatum(slice_to_text(agent_id));
	values[Anum_agent_heartbeat_generation - 1] = Int64GetDatum(generation);
	values[Anum_agent_heartbeat_last_seen - 1] = TimestampTzGetDatum(at);
	(void) rows_insert(TABLE_AGENT_HEARTBEAT, values, nulls);
}

/*
 * Writes a sign of life under its guard, unless the last one is recent enough;
 * a time in the future is not.  Returns the time on record.
 */
static TimestampTz
heartbeat_write(Slice agent_id, TimestampTz now, int64 pause)
{
	TimestampTz last = 0;
	int64		generation = 0;
	ItemPointerData tid;
	bool		found;
	bool		busy = false;
	RowScan		scan;

	rows_begin(&scan, TABLE_AGENT_HEARTBEAT, INDEX_AGENT_HEARTBEAT, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_start(&scan);
	found = rows_next(&scan);
	if (found)
	{
		generation = rows_int8(&scan, Anum_agent_heartbeat_generation);
		last = rows_timestamp(&scan, Anum_agent_heartbeat_last_seen);
		tid = rows_tid(&scan);
		busy = rows_is_being_inserted(&scan);
		/* whoever replaces it has inserted another one before */
		found = busy || !rows_is_being_deleted(&scan);
	}
	rows_end(&scan);

	/*
	 * another transaction is just writing a sign of life of this agent, which
	 * is good enough
	 */
	if (busy)
		return now;
	if (found && now - last < pause && last - now < FROM_THE_FUTURE)
		return last;
	heartbeat_insert(agent_id, generation + 1, now);
	if (found)
		rows_delete(TABLE_AGENT_HEARTBEAT, &tid);
	return now;
}

/*
 * Whoever has the guard is just writing a sign of life of this agent, which is
 * good enough; but if an agent registers again, it may be a tick that is removing
 * the old ones.
 */
static bool
heartbeat_take_guard(uint64 guard, bool force)
{
	if (!force || !wait_is_allowed())
		return guard_try(guard);
	guard_take(guard);
	return true;
}

/*
 * An agent that reports a hundred times a second should not be looked up a
 * hundred times, so the backend remembers what it wrote.  That is wrong only
 * after a rollback, and for no longer than the time between two signs of life.
 */
TimestampTz
heartbeat_give(Slice agent_id, bool force)
{
	uint64		guard;
	TimestampTz now = clock_now();
	int64		pause = force ? 0 : heartbeat_pause(agent_id);
	AgentMemory *memory = roster_memory(agent_id);
	TimestampTz at;

	if (memory != NULL && memory->beat_at <= now && memory->beat_at > now - pause)
		return memory->beat_at;
	guard = guard_key(GUARD_HEARTBEAT, agent_id, SLICE_NONE, 0);
	if (!heartbeat_take_guard(guard, force))
		return now;
	at = heartbeat_write(agent_id, now, pause);
	guard_release(guard);
	if (memory != NULL)
		memory->beat_at = at;
	return at;
}

TimestampTz
heartbeat_last_seen(Slice agent_id)
{
	TimestampTz now = clock_now();
	TimestampTz at = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_AGENT_HEARTBEAT, INDEX_AGENT_HEARTBEAT, ROWS_DIRTY, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_start(&scan);
	if (rows_next(&scan))
		at = TransactionIdIsValid(rows_in_doubt(&scan)) ? now :
			rows_timestamp(&scan, Anum_agent_heartbeat_last_seen);
	rows_end(&scan);
	if (at - now >= FROM_THE_FUTURE)
		at = heartbeat_give(agent_id, true);
	return at;
}

List *
heartbeat_list_agents(void)
{
	return rows_list_different_texts(TABLE_AGENT_HEARTBEAT, INDEX_AGENT_HEARTBEAT, Anum_agent_heartbeat_agent_id);
}

/*
 * If it is registered again meanwhile, its sign of life is the newest row.
 */
void
heartbeat_forget(Slice agent_id, TimestampTz before)
{
	uint64		guard = guard_key(GUARD_HEARTBEAT, agent_id, SLICE_NONE, 0);
	RowScan		scan;

	if (!guard_try(guard))
		return;
	rows_begin(&scan, TABLE_AGENT_HEARTBEAT, INDEX_AGENT_HEARTBEAT, ROWS_DIRTY, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_start(&scan);
	while (rows_next(&scan) && !TransactionIdIsValid(rows_in_doubt(&scan)) &&
		   rows_timestamp(&scan, Anum_agent_heartbeat_last_seen) < before)
	{
		ItemPointerData tid = rows_tid(&scan);

		(void) rows_delete_if_free(TABLE_AGENT_HEARTBEAT, &tid);
	}
	rows_end(&scan);
	guard_release(guard);
}
