/*-------------------------------------------------------------------------
 *
 * heartbeat.c
 *	  Signs of life of agents.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/guard.h"
#include "base/memo.h"
#include "base/rows.h"
#include "registry/heartbeat.h"
#include "settings.h"
#include "utils/timestamp.h"

/* columns of clutch.agent_heartbeat */
enum
{
	Anum_beat_agent_id = 1,
	Anum_beat_generation,
	Anum_beat_last_seen,
	Natts_agent_heartbeat = Anum_beat_last_seen
};

/* how often they are written when nobody is watched for them */
#define USUAL_INTERVAL	(30 * USECS_PER_SEC)

int64
heartbeat_interval(int heartbeat_sec)
{
	return (heartbeat_sec >= 0 ? heartbeat_sec : clutch_heartbeat_interval) * USECS_PER_SEC;
}

/*
 * When this backend saw the last sign of an agent written, so that who reports
 * a hundred times a second does not look a hundred times.  Wrong only after a
 * rollback, and for no longer than between two signs.
 */
typedef struct LastBeat
{
	uint64		agent;			/* hash of agent_id */
	TimestampTz at;
} LastBeat;

#define MAX_LAST_BEATS	10000

static LastBeat *
last_beat_of(Slice agent_id)
{
	static HTAB *last_beats = NULL;
	static Oid	of_table = InvalidOid;	/* a new one has no rows */
	uint64		key = slice_hash(agent_id);
	LastBeat   *last;
	bool		found;

	last_beats = memo_table(last_beats, "clutch last beats", sizeof(LastBeat),
							of_table == rows_table_oid(TABLE_AGENT_HEARTBEAT) ? MAX_LAST_BEATS : 0);
	of_table = rows_table_oid(TABLE_AGENT_HEARTBEAT);
	last = hash_search(last_beats, &key, HASH_ENTER, &found);
	if (!found)
		last->at = DT_NOBEGIN;
	return last;
}

/* so long a sign of life is as good as new */
static int64
beat_pause(Slice agent_id)
{
	Roster	   *roster = roster_get();
	int			ordinal = roster_find(roster, agent_id);
	int64		interval = ordinal < 0 ? 0 : heartbeat_interval(roster_agent(roster, ordinal)->card.heartbeat_sec);

	return (interval > 0 ? interval : USUAL_INTERVAL) / 3;
}

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

/* looked for and written under the guard of the agent's signs; when it is now */
static TimestampTz
beat_guarded(Slice agent_id, TimestampTz now, int64 pause)
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
		generation = rows_int8(&scan, Anum_beat_generation);
		last = rows_timestamp(&scan, Anum_beat_last_seen);
		tid = rows_tid(&scan);
		busy = TransactionIdIsValid(rows_in_doubt(&scan));
	}
	rows_end(&scan);

	/* somebody else is writing a beat of this agent: that one will do */
	if (busy)
		return now;
	if (found && now - last < pause)
		return last;
	write_beat(agent_id, generation + 1, now);
	if (found)
		rows_delete(TABLE_AGENT_HEARTBEAT, &tid);
	return now;
}

TimestampTz
heartbeat_give(Slice agent_id, bool force)
{
	uint64		guard = guard_key(GUARD_HEARTBEAT, agent_id, SLICE_NONE, 0);
	TimestampTz now = clock_now();
	LastBeat   *last = last_beat_of(agent_id);
	int64		pause = force ? 0 : beat_pause(agent_id);

	if (last->at <= now && last->at > now - pause)
		return last->at;
	if (!guard_try(guard))
		return now;
	last->at = beat_guarded(agent_id, now, pause);
	guard_release(guard);
	return last->at;
}

TimestampTz
heartbeat_last_seen(Slice agent_id)
{
	TimestampTz at = 0;
	RowScan		scan;

	rows_begin(&scan, TABLE_AGENT_HEARTBEAT, INDEX_AGENT_HEARTBEAT, ROWS_DIRTY, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_start(&scan);
	if (rows_next(&scan))
		at = TransactionIdIsValid(rows_in_doubt(&scan)) ? clock_now() :
			rows_timestamp(&scan, Anum_beat_last_seen);
	rows_end(&scan);
	return at;
}
