/*-------------------------------------------------------------------------
 *
 * load.h
 *	  How busy an agent is and how it has done, read from its slots.
 *
 * A load is a hint that puts agents in order: whether an agent has room is
 * decided when a slot is taken (registry/slot.h).  Loads are read on the latest
 * snapshot and see what the own transaction has done.
 *
 * Reading the slots of hundreds of agents, or the thousands of slots of one,
 * costs more than a choice may.  So a backend remembers loads beside the
 * roster, by ordinal.  The caller says how old a load may be; the load of an
 * agent with many slots may be older (load.c).  When this backend takes or frees
 * a slot, it adjusts the load that it remembers, and forgets it on rollback.
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
	int			running;		/* slots taken: tasks assigned or running */
	int			limit;			/* how many slots there are */
	int			done;			/* recent tasks completed ... */
	int			failed;			/* ... and failed or timed out */
	int64		last_chosen;	/* seq of the last task given; 0 means never */
} AgentLoad;

/* done / (done + failed), and 1 while nothing has ended */
extern double load_success_rate(const AgentLoad *load);

/* --- one agent --- */

/*
 * Reads all slots of the agent.  If it has many, what was read a tenth of a
 * second ago (up to seconds, if it has thousands) serves again unless that says
 * that the agent is full; and of thousands only a part is read.
 */
extern void load_read(Slice agent_id, int limit, AgentLoad *load);

/* What this backend has just done, for what it remembers. */
extern void load_note_chosen(Slice agent_id, int64 seq);
extern void load_note_ended(Slice agent_id, int done, int failed);

/* --- many agents of one roster --- */

/*
 * What a choice compares first, in one word: the lower, the better.  Load comes
 * before success rate, both as fractions of LOAD_KEY_BITS, rounded down, so
 * that equal keys do not mean equal loads.
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
	TimestampTz read_at;		/* 0 means never */
} LoadKey;

typedef struct KnownLoad
{
	AgentLoad	load;
	TimestampTz good_until;		/* serves until then, whatever is asked for */
} KnownLoad;

typedef struct LoadReader
{
	Roster	   *roster;
	LoadKey    *keys;
	KnownLoad  *loads;
	TimestampTz oldest;			/* what was read before is read again */
	TimestampTz now;
	bool		scanning;
	RowScan		scan;
} LoadReader;

/*
 * max_age in microseconds, or 0 if loads are read now, unless there are many
 * slots
 */
extern void load_reader_begin(LoadReader *reader, Roster *roster, int64 max_age);
extern void load_reader_end(LoadReader *reader);
extern void load_reader_refresh(LoadReader *reader, int ordinal);

/* The key of an agent, under its card's limit. */
static inline uint64
load_reader_key(LoadReader *reader, int ordinal)
{
	const LoadKey *known = &reader->keys[ordinal];

	if (known->read_at < reader->oldest || known->read_at > reader->now)
		load_reader_refresh(reader, ordinal);
	return known->key;
}

/* The load that the key was made of; valid after load_reader_key. */
static inline const AgentLoad *
load_reader_load(const LoadReader *reader, int ordinal)
{
	return &reader->loads[ordinal].load;
}

/* when it was read; what was remembered is older than this choice */
static inline TimestampTz
load_reader_read_at(const LoadReader *reader, int ordinal)
{
	return reader->keys[ordinal].read_at;
}

/* Reads it again now, even if it is remembered. */
extern void load_reader_read(LoadReader *reader, int ordinal);

#endif							/* CLUTCH_LOAD_H */
