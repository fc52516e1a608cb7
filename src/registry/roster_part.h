/*-------------------------------------------------------------------------
 *
 * roster_part.h
 *	  What the files of the roster share: how it lies in memory.
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
	const RosterWord *of;		/* of a version: its capability */
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
word_key_hash(WordKey key)
{
	uint64		hash = key.text.len > 0 ? slice_hash(key.text) : 0;

	return hash_combine((uint32) hash,
						murmurhash32((uint32) ((uintptr_t) key.of >> 4) + key.key));
}

static inline bool
word_key_equal(WordKey a, WordKey b)
{
	return a.key == b.key && a.of == b.of && slice_equal(a.text, b.text);
}

#define SH_PREFIX		wordtable
#define SH_ELEMENT_TYPE	WordEntry
#define SH_KEY_TYPE		WordKey
#define SH_KEY			key
#define SH_HASH_KEY(table, key)	word_key_hash(key)
#define SH_EQUAL(table, a, b)	word_key_equal(a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, entry)	(entry)->hash
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct Roster
{
	MemoryContext context;
	uint64		generation;
	uint64		built_at;		/* count of invalidations before the reading */
	Oid			relid;

	int			nagents;
	int			capacity;
	RosterAgent *agents;
	RosterCapability **capabilities;

	wordtable_hash *words;
	int			nwords[NUM_ROSTER_KEYS];
	RosterWord *all_words;

	AgentSet   *taking_work;
	bool		limits_spending;
	AgentSet   *sandboxed;
	AgentSet   *network[NETWORK_OPEN + 1];
};

/*
 * Everything anew from the tables, in a context of its own under the current
 * one; generation, built_at and relid are left to who keeps it.
 */
extern Roster *roster_read(void);

#endif							/* CLUTCH_ROSTER_PART_H */
