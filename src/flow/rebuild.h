/*-------------------------------------------------------------------------
 *
 * rebuild.h
 *	  Every derived table, made anew from the log (DESIGN 4).
 *
 * Reads the verdicts and never decides again: a late event stays late, a
 * decision stays taken.  Not in the log and hence not rebuilt: heartbeats,
 * extensions of leases, group membership by SQL, principals.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_REBUILD_H
#define CLUTCH_REBUILD_H

#include "clutch.h"

typedef struct RebuildReport
{
	int64		events;			/* read */
	int64		tasks;
	int64		agents;
} RebuildReport;

/* the caller is an operator; locks out writers until its transaction ends */
extern RebuildReport rebuild_all(void);

#endif							/* CLUTCH_REBUILD_H */
