/*-------------------------------------------------------------------------
 *
 * prune.h
 *	  Removing the old part of the log (clutch.prune, clutch.retention).
 *
 * One call removes one batch: events, the state that is made of them, and what
 * was spent is added to clutch.spending_total.  It leaves one audit event, whose
 * place in the log is that of the removal, so the log still says what happened.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PRUNE_H
#define CLUTCH_PRUNE_H

#include "base/text.h"
#include "utils/timestamp.h"

typedef struct PruneReport
{
	int64		events;			/* removed */
	Slice		unread_by;		/* a subscription for which others were kept, or absent */
	int			referenced;		/* units that rows of users refer to, and which were kept */
} PruneReport;

/*
 * Removes about so many events at most that were received before that time (or,
 * if there are keys, before twice clutch.signature_skew ago)
 * (retention/candidates.h).  The caller is the owner of the log.
 */
extern PruneReport prune_batch(TimestampTz before, int max_events);

#endif							/* CLUTCH_PRUNE_H */
