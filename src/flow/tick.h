/*-------------------------------------------------------------------------
 *
 * tick.h
 *	  What must happen though nobody asked: leases, deadlines, what waits.
 *
 * Whoever calls it: the worker, a client, pg_cron, and each claim for a small share.  Two
 * at once are harmless: what one has locked the other passes over.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TICK_H
#define CLUTCH_TICK_H

#include "clutch.h"

#include "datatype/timestamp.h"

typedef struct TickReport
{
	int			expired;		/* leases */
	int			timed_out;		/* deadlines */
	int			woken;			/* their time has come */
	int			lost;			/* agents */
	int			sent;			/* schedules */
	int			routed;			/* of these, and of what waited */
} TickReport;

/* how many tasks it moved because they were due */
extern int	tick_moved(const TickReport *report);

/* due leases and deadlines, at most n */
extern TickReport tick_timers(int n);

/* the timers, then what waits, at most n each */
extern TickReport tick_all(int n);

/*
 * When something is due next, as far as anybody can tell, after a tick that
 * found no more to do; DT_NOEND: nothing is open.  What is due already is
 * locked by others: soon.
 */
extern TimestampTz tick_next(void);

/*
 * The epoch at work.  In a database restored from a dump a new one begins
 * here: the agents of the original may report to it, so no lease that it
 * inherited holds.  Called before anything looks at a lease.
 */
extern int	tick_epoch(void);

#endif							/* CLUTCH_TICK_H */
