/*-------------------------------------------------------------------------
 *
 * load.h
 *	  Loads: how busy agents are and how they have performed, read from their
 *	  slots.
 *
 * A load is a hint for ordering agents; whether an agent has room is decided
 * when a slot is taken (registry/slot.h).  Loads are read on the latest
 * snapshot, and include what the current transaction has done.
 *
 * Reading the slots of hundreds of agents, or thousands of slots of one agent,
 * would make a choice too expensive.  Therefore a backend caches loads
 * together with the roster, by ordinal.  The caller says how old a load may
 * be; that of an agent with many slots may be older (load.c).  When this
 * backend takes or frees a slot, it adjusts the cached load, and discards it
 * on rollback.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LOAD_H
#define CLUTCH_LOAD_H

#include "base/rows.h"
#include "base/text.h"
#include "registry/roster.h"
#include "utils/timestamp.h"

typedef struct AgentLoad
{
	int			running;		/* slots taken: tasks that are assigned or
								 * running */
	int			first_taken;	/* number of the first of these slots when they
								 * were read */
	int			limit;			/* number of slots */
	int			done;			/* recent tasks that were completed ... */
	int			failed;			/* ... and that failed or timed out */
	int64		last_chosen;	/* seq of the last task given to it; 0 if none */
} AgentLoad;

/* Returns done / (done + failed), or 1 if nothing has ended yet. */
extern double load_success_rate(const AgentLoad *load);

/* --- one agent --- */

/*
 * Reads all slots of the agent.  If it has many, a load read a tenth of a
 * second ago (up to seconds, if it has thousands) is used again, for a shorter
 * time if it says that the agent is full; and if it has thousands, only some of
 * them are read.
 */
extern void load_read(Slice agent_id, int limit, AgentLoad *load);

/* Note what this backend has just done, for the cached loads. */
extern void load_note_chosen(Slice agent_id, int64 seq);
extern void load_note_ended(Slice agent_id, int done, int failed);

/*
 * Note that the agent had no room, whatever the cached load says.  It is read
 * again for the next choice, which would otherwise try the agent in vain, too.
 */
extern void load_note_full(Slice agent_id);

/* --- many agents of one roster --- */

/*
 * What a choice compares first, in one word; lower is better.  Load comes
 * before success rate.  Both are fractions of LOAD_KEY_BITS, rounded down, so
 * equal keys do not mean equal loads.
 */
#define LOAD_KEY_BITS	21
#define LOAD_KEY_MAX	((UINT64CONST(1) << LOAD_KEY_BITS) - 1)
#define LOAD_KEY_FULL	(UINT64CONST(1) << (2 * LOAD_KEY_BITS)) /* no room left */

static inline uint64
load_key_fraction(double share)
{
	return (uint64) (Min(Max(share, 0.0), 1.0) * LOAD_KEY_MAX);
}

extern uint64 load_key(const AgentLoad *load, int limit);

typedef struct LoadKey
{
	uint64		key;
	TimestampTz read_at;		/* 0 if never */
} LoadKey;

typedef struct KnownLoad
{
	AgentLoad	load;
	TimestampTz good_until;		/* used until then, however new a load is asked
								 * for, */
	TimestampTz full_until;		/* or until then if it says that the agent is
								 * full */
} KnownLoad;

typedef struct LoadReader
{
	Roster	   *roster;
	LoadKey    *keys;
	KnownLoad  *loads;
	TimestampTz oldest;			/* a load that was read before this time is
								 * read again */
	TimestampTz now;
	bool		scanning;
	RowScan		scan;
} LoadReader;

/*
 * max_age is in microseconds.  With 0, loads are read now, except those of
 * agents with many slots.
 */
extern void load_reader_begin(LoadReader *reader, Roster *roster, int64 max_age);
extern void load_reader_end(LoadReader *reader);
extern void load_reader_refresh(LoadReader *reader, int ordinal);

/* Returns the key of an agent, under the limit of its card. */
static inline uint64
load_reader_key(LoadReader *reader, int ordinal)
{
	const LoadKey *known = &reader->keys[ordinal];

	if (known->read_at < reader->oldest || known->read_at > reader->now)
		load_reader_refresh(reader, ordinal);
	return known->key;
}

/*
 * Returns the load from which the key was made.  Valid after load_reader_key.
 */
static inline const AgentLoad *
load_reader_load(const LoadReader *reader, int ordinal)
{
	return &reader->loads[ordinal].load;
}

/* Returns when it was read.  A cached load is older than this choice. */
static inline TimestampTz
load_reader_read_at(const LoadReader *reader, int ordinal)
{
	return reader->keys[ordinal].read_at;
}

/*
 * Returns whether the agent has so many slots, or so high a limit, that its
 * cached load is used however new a load is asked for.
 */
static inline bool
load_reader_is_good(const LoadReader *reader, int ordinal)
{
	return reader->now < reader->loads[ordinal].good_until;
}

/* Reads it again now, even if it is cached. */
extern void load_reader_read(LoadReader *reader, int ordinal);

#endif							/* CLUTCH_LOAD_H */
