/*-------------------------------------------------------------------------
 *
 * waiting_fitting.h
 *	  A cache of the kinds of clutch.waiting that each agent fits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WAITING_FITTING_H
#define CLUTCH_WAITING_FITTING_H

#include "base/text.h"

/* a kind that has been looked at for an agent */
typedef struct SeenKind
{
	int64		kind;
	bool		fits;
} SeenKind;

/*
 * The kinds that have the anchors of an agent, by anchor, and then in order.
 * The list is valid as long as the registry and the routing rules do not
 * change.  A look at all kinds, which reads past the dead entries of each,
 * makes it again when that is worth its cost; a look between them, which does
 * not, only adds new ones.
 */
typedef struct FittingKinds
{
	uint64		agent;			/* key: hash of agent_id */
	uint64		registry;		/* number of changes of the registry */
	uint64		rules;			/* number of changes of the routing rules */
	Oid			table;			/* OID of clutch.waiting, because the extension
								 * may have been created again */
	TimestampTz looked_at;		/* the last look at all kinds, its cost, and */
	int64		passed;
	int			n_looked_at;	/* how many it found */
	TimestampTz added_at;		/* the last look between them, and its cost */
	int64		added_passed;
	int			n;
	int			room;
	SeenKind   *kinds;			/* allocated in fitting_context */
} FittingKinds;

/*
 * Returns the list of the agent, and looks for new kinds before if that is
 * worth its cost (factor: as in queue_worth_looking).  The list is valid until
 * the next call.
 */
extern FittingKinds *waiting_fitting_get(Slice agent_id, int factor);

/* Returns a copy of the kinds that fit, and their number. */
extern int64 *waiting_fitting_copy(const FittingKinds *list, int *n);

#endif							/* CLUTCH_WAITING_FITTING_H */
