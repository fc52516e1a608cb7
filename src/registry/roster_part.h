/*-------------------------------------------------------------------------
 *
 * roster_part.h
 *	  The memory layout of a roster.  Private to this room.
 *
 * Ten thousand agents take some 2.5 MB.  Separate palloc chunks would double
 * that, so whatever is made for an agent is allocated from blocks
 * (roster_alloc).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ROSTER_PART_H
#define CLUTCH_ROSTER_PART_H

#include "common/hashfn.h"
#include "registry/roster.h"

typedef struct WordKey
{
	RosterKey	key;
	const RosterWord *of;		/* the capability that a version belongs to */
	Slice		text;
} WordKey;

typedef struct WordEntry
{
	WordKey		key;
	RosterWord *word;
	uint32		hash;
	char		status;
} WordEntry;

static inline uint32
roster_word_key_hash(WordKey key)
{
	uint32		hash = key.text.len > 0 ?
		hash_bytes((const unsigned char *) key.text.s, key.text.len) : 0;

	return hash_combine(hash, murmurhash32((uint32) ((uintptr_t) key.of >> 4) + key.key));
}

static inline bool
roster_word_key_equal(WordKey a, WordKey b)
{
	return a.key == b.key && a.of == b.of && slice_equal(a.text, b.text);
}

#define SH_PREFIX		wordtable
#define SH_ELEMENT_TYPE	WordEntry
#define SH_KEY_TYPE		WordKey
#define SH_KEY			key
#define SH_HASH_KEY(table, key)	roster_word_key_hash(key)
#define SH_EQUAL(table, a, b)	roster_word_key_equal(a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, entry)	(entry)->hash
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * What a backend remembers about an agent to which it gave work or of which it
 * heard.
 */
typedef struct AgentMemory
{
	/* slot.c: hints, each of which is verified before it is used */
	bool		checked;		/* no slot was at checked_max or above ... */
	int			checked_max;
	uint64		checked_at;		/* ... when the registry had changed so many
								 * times */
	int			free_slot;		/* this slot is free; -1 if unknown */
	int64		free_generation;
	int			highest;		/* the highest slot number in use, as far as we
								 * know */
	int			next;			/* where to look for a free slot next */
	int			vain_looks;		/* how many looks in a row have found none, up
								 * to a limit */
	int			looks_spared;	/* how many looks to skip before the next one */

	/* heartbeat.c */
	TimestampTz beat_at;		/* the last sign of life that we saw written */
} AgentMemory;

/* The breakers that are not closed, by ordinal (breaker.c). */
typedef struct RosterBreaker
{
	int			ordinal;
	int			failures;
	TimestampTz last_failure;
} RosterBreaker;

struct Roster
{
	MemoryContext context;
	uint64		generation;
	uint64		built_at;		/* stale_count before it was read */
	int			holders;		/* see roster_hold */
	bool		is_past;		/* it is freed with its last holder */

	int			nagents;
	int			capacity;
	RosterAgent *agents;
	RosterCapability **capabilities;

	wordtable_hash *words;
	int			nwords[NUM_ROSTER_KEYS];
	RosterWord *all_words;

	AgentSet   *taking_work;
	bool		limits_spending;
	bool		limits_egress;
	bool		limits_delegation;
	AgentSet   *paused;
	SliceList	pauses;			/* everything that is paused, including agents */
	AgentSet   *sandboxed;
	AgentSet   *with_tools;
	AgentSet   *network[NETWORK_OPEN + 1];

	/* Other things that are cached about the agents, by ordinal: */
	AgentMemory **memories;		/* entries are NULL until they are used, and so
								 * is the array */
	struct KnownLoad *loads;	/* load.c; NULL until they are used */
	struct LoadKey *load_keys;
	uint64		loads_built_at;

	MemoryContext breakers_context;	/* NULL if never read */
	int			nbreakers;
	RosterBreaker *breakers;
	uint64		breakers_built_at;
	TimestampTz breakers_read_at;
	int			breakers_threshold;

	/* current block of roster_alloc */
	char	   *block;
	Size		block_left;
};

/* an agent that has a word */
typedef struct RosterMembership
{
	RosterWord *word;
	int			agent;
} RosterMembership;

/* needed only while the registry is being read */
typedef struct RosterReading
{
	Roster	   *roster;
	MemoryContext per_row;
	RosterMembership *memberships;
	Size		nmemberships;
	Size		capacity;
} RosterReading;

/*
 * Returns the word, adding it if no card had it yet. "of" is the capability of
 * a version.
 */
extern RosterWord *roster_intern(Roster *roster, RosterKey key, RosterWord *of, Slice text);
/* Records that the agent, which must be the one read last, has the word. */
extern void roster_note_word(RosterReading *reading, RosterWord *word, int agent);

/*
 * Reads what a registered card says about its agent (roster_card.c).  Cards
 * were judged when they came in, so anything that is not as it should be
 * counts as absent.
 */
extern void roster_card_read(RosterReading *reading, JsonbContainer *card, int agent,
							 RosterCard *to, RosterCapability **capabilities);

/*
 * Builds a roster from the tables, in a new memory context below the current
 * one.  The caller sets generation and built_at.
 */
extern Roster *roster_read(void);

/*
 * Allocates memory that lives as long as the roster, aligned and
 * uninitialized.
 */
extern void *roster_alloc(Roster *roster, Size size);
/* Copies a text into such memory. */
extern Slice roster_copy_text(Roster *roster, Slice text);

/*
 * Returns what is remembered about an agent, creating it if necessary.
 * Returns NULL if the agent was not registered when the registry was last
 * read; it is not read again for this.
 */
extern AgentMemory *roster_memory(Slice agent_id);
/* Returns the roster that was read last, however stale, or NULL. */
extern Roster *roster_current(void);

#endif							/* CLUTCH_ROSTER_PART_H */
