/*-------------------------------------------------------------------------
 *
 * prune.h
 *	  Removing the old part of the log (clutch.prune, clutch.retention).
 *
 * One call removes one batch of events together with the state that is derived
 * from them, and adds what was spent to clutch.spending_total.  It leaves one
 * audit event, at the position in the log at which the removal took place, so
 * the log still says what happened.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PRUNE_H
#define CLUTCH_PRUNE_H

#include "base/text.h"
#include "utils/timestamp.h"

typedef struct PruneReport
{
	int64		events;			/* number of events removed */
	Slice		unread_by;		/* a subscription for which other events were
								 * kept, or absent */
	int			referenced;		/* number of units that were kept because
								 * users' rows refer to them, */
	int			locked;			/* and, at least, because an open transaction
								 * has locked some of their rows */
	bool		is_partial;		/* max_examined events have been examined, and
								 * there are more */
} PruneReport;

/*
 * Removes at most about max_events events that were received before that time
 * or, if there are keys, before twice clutch.signature_skew ago, if that is
 * earlier (retention/candidates.h).  The caller must be the owner of the log.
 * If max_examined is not 0, no more than about so many events are examined.
 */
extern PruneReport prune_batch(TimestampTz before, int max_events, int max_examined);

#endif							/* CLUTCH_PRUNE_H */
