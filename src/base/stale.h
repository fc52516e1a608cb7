/*-------------------------------------------------------------------------
 *
 * stale.h
 *	  How what a backend remembers about the registry becomes stale.
 *
 * A backend remembers the registry as a Roster (registry/roster.h): the cards,
 * and beside them what it read about loads, slots and breakers.  Each part
 * counts the changes that may have made it stale; whoever builds something from
 * a part keeps the count and builds it again when the count has changed.
 *
 * Three things count as a change: a relcache invalidation of the table, which
 * other backends send when they commit; our own announcement; and the rollback
 * of a transaction or savepoint in which the part was used, because what was
 * read may have been its own work.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_STALE_H
#define CLUTCH_STALE_H

#include "clutch.h"

typedef enum StalePart
{
	STALE_CARDS,				/* clutch.agent_registry, clutch.group_member */
	STALE_FAILURES,				/* clutch.agent_failure */
	STALE_SLOTS,				/* clutch.agent_slot, whose changes are not announced */
	STALE_KEYS,					/* clutch.agent_key */
	STALE_QUOTAS,				/* clutch.quota */
	STALE_RULES,					/* clutch.routing_rule */
	STALE_ENDPOINTS,			/* clutch.endpoint */
	STALE_ADAPTERS,				/* clutch.adapter */
	STALE_PRINCIPALS			/* clutch.principal */
} StalePart;

extern uint64 stale_count(StalePart part);

/* The part is read or written now: if this is rolled back, it has changed. */
extern void stale_if_rolled_back(StalePart part);

/*
 * The part has been changed by us: this backend finds it stale at once, and
 * others when we commit.
 */
extern void stale_announce(StalePart part);

#endif							/* CLUTCH_STALE_H */
