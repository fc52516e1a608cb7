/*-------------------------------------------------------------------------
 *
 * rebuild.h
 *	  Rebuilding all derived tables from the log.
 *
 * The log is read once, in the order of seq.  Its verdicts are accepted, not
 * made again: a late event stays late, and a decision stays as it was taken.
 * Heartbeats, extensions of leases, group memberships given by SQL,
 * principals, and postponed consequences are not in the log, and hence are not
 * rebuilt.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REBUILD_H
#define CLUTCH_REBUILD_H

#include "store/event.h"

typedef struct RebuildReport
{
	int64		events;			/* number of events read */
	int64		tasks;
	int64		agents;
} RebuildReport;

/*
 * Rebuilds.  The caller must be an operator.  Writers are locked out until the
 * transaction ends.
 */
extern RebuildReport rebuild_all(void);

/*
 * Makes the tasks of a run that comes from another database, and of which the
 * log had nothing before.  The events must be passed in their order.  They are
 * replayed, not judged, and do not count for any agent.  The tasks enter no
 * queue, so all of them must be over at the end.  rebuild_import_end returns
 * how many there are.
 */
extern void rebuild_import_begin(void);
extern void rebuild_import_event(const Event *event);
extern int64 rebuild_import_end(void);

#endif							/* CLUTCH_REBUILD_H */
