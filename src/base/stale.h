/*-------------------------------------------------------------------------
 *
 * stale.h
 *	  Detecting when what a backend has cached becomes stale.
 *
 * For example, a backend caches the registry as a Roster (registry/roster.h):
 * the cards, and in addition what it has read about loads, slots and breakers.
 * For each part, the changes that may have made it stale are counted.  Code
 * that builds something from a part stores the count, and builds it again when
 * the count has changed.
 *
 * Three things count as a change: a relcache invalidation of the table, which
 * other backends send when they commit; our own announcement; and the rollback
 * of a transaction or savepoint in which the part was used, because it may
 * have read its own writes.
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
	STALE_SLOTS,				/* clutch.agent_slot, whose changes are not
								 * announced */
	STALE_KEYS,					/* clutch.agent_key */
	STALE_QUOTAS,				/* clutch.quota */
	STALE_RULES,					/* clutch.routing_rule */
	STALE_ENDPOINTS,			/* clutch.endpoint */
	STALE_ADAPTERS,				/* clutch.adapter */
	STALE_PRINCIPALS,			/* clutch.principal */
	STALE_TASKS					/* clutch.task, of which only TRUNCATE is announced */
} StalePart;

/* Returns how many changes of the part have been counted so far. */
extern uint64 stale_count(StalePart part);

/*
 * To be called when the part is read or written.  If this is rolled back, the
 * part counts as changed.
 */
extern void stale_if_rolled_back(StalePart part);

/*
 * Announces that we have changed the part.  This backend finds it stale at
 * once, and others do so after we have committed.
 */
extern void stale_announce(StalePart part);

#endif							/* CLUTCH_STALE_H */
