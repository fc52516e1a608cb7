/*-------------------------------------------------------------------------
 *
 * agent_set.h
 *	  Sets of agents, with one bit for each ordinal of a roster.
 *
 * Sets that are combined must belong to the same roster.  They then have the
 * same size, so the loops need not handle a shorter one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AGENT_SET_H
#define CLUTCH_AGENT_SET_H

#include "postgres.h"

#include "port/pg_bitutils.h"

typedef struct AgentSet
{
	int			nwords;
	uint64		words[FLEXIBLE_ARRAY_MEMBER];
} AgentSet;

/*
 * Ordinals are never negative, so they can be divided as unsigned numbers, by
 * a shift.
 */
#define AGENT_SET_WORD(ordinal)	((uint32) (ordinal) / 64)
#define AGENT_SET_BIT(ordinal)	((uint32) (ordinal) % 64)

/* Returns an empty set, palloc'd in the current context. */
static inline AgentSet *
agent_set_none(int size)
{
	int			nwords = (size + 63) / 64;
	AgentSet   *set = palloc0(offsetof(AgentSet, words) + nwords * sizeof(uint64));

	set->nwords = nwords;
	return set;
}

static inline AgentSet *
agent_set_all(int size)
{
	AgentSet   *set = agent_set_none(size);

	memset(set->words, 0xFF, set->nwords * sizeof(uint64));
	if (size % 64 != 0)
		set->words[set->nwords - 1] = (UINT64CONST(1) << (size % 64)) - 1;
	return set;
}

static inline AgentSet *
agent_set_copy(const AgentSet *from)
{
	Size		bytes = offsetof(AgentSet, words) + from->nwords * sizeof(uint64);

	return memcpy(palloc(bytes), from, bytes);
}

static inline void
agent_set_add(AgentSet *set, int ordinal)
{
	set->words[AGENT_SET_WORD(ordinal)] |= UINT64CONST(1) << AGENT_SET_BIT(ordinal);
}

static inline void
agent_set_remove(AgentSet *set, int ordinal)
{
	set->words[AGENT_SET_WORD(ordinal)] &= ~(UINT64CONST(1) << AGENT_SET_BIT(ordinal));
}

static inline bool
agent_set_has(const AgentSet *set, int ordinal)
{
	return (set->words[AGENT_SET_WORD(ordinal)] >> AGENT_SET_BIT(ordinal)) & 1;
}

static inline void
agent_set_and(AgentSet *set, const AgentSet *other)
{
	for (int i = 0; i < set->nwords; i++)
		set->words[i] &= other->words[i];
}

static inline void
agent_set_or(AgentSet *set, const AgentSet *other)
{
	for (int i = 0; i < set->nwords; i++)
		set->words[i] |= other->words[i];
}

static inline void
agent_set_minus(AgentSet *set, const AgentSet *other)
{
	for (int i = 0; i < set->nwords; i++)
		set->words[i] &= ~other->words[i];
}

static inline int
agent_set_count(const AgentSet *set)
{
	return pg_popcount((const char *) set->words, set->nwords * sizeof(uint64));
}

/*
 * Returns the lowest member above previous, or -1.  With previous -1, returns
 * the lowest member of all.
 */
static inline int
agent_set_next(const AgentSet *set, int previous)
{
	int			ordinal = previous + 1;
	int			i = AGENT_SET_WORD(ordinal);
	uint64		word;

	if (i >= set->nwords)
		return -1;
	word = set->words[i] & (~UINT64CONST(0) << AGENT_SET_BIT(ordinal));
	while (word == 0)
	{
		if (++i == set->nwords)
			return -1;
		word = set->words[i];
	}
	return i * 64 + pg_rightmost_one_pos64(word);
}

#endif							/* CLUTCH_AGENT_SET_H */
