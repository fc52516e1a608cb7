/*-------------------------------------------------------------------------
 *
 * rebuild.h
 *	  Every derived table, made anew from the log.
 *
 * The log is read once, in the order of seq.  Its verdicts are taken over and
 * never made again: a late event stays late, a decision stays taken.  Not in the
 * log, and hence not rebuilt, are heartbeats, extensions of leases, group
 * membership given by SQL, principals, and consequences that were postponed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REBUILD_H
#define CLUTCH_REBUILD_H

#include "store/event.h"

typedef struct RebuildReport
{
	int64		events;			/* read */
	int64		tasks;
	int64		agents;
} RebuildReport;

/* The caller is an operator.  Writers are locked out until the transaction ends. */
extern RebuildReport rebuild_all(void);

/*
 * Makes the tasks of a run of which the log had nothing before, and which now
 * enters it from another database: the events are passed in their order.  They
 * are replayed, not judged, and count for no agent.  Tasks enter no queue, so
 * all of them must be over at the end.  Returns how many there are.
 */
extern void rebuild_import_begin(void);
extern void rebuild_import_event(const Event *event);
extern int64 rebuild_import_end(void);

#endif							/* CLUTCH_REBUILD_H */
