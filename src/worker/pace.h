/*-------------------------------------------------------------------------
 *
 * pace.h
 *	  Pacing the worker's notifications.
 *
 * A notification wakes every session that listens in the database, and each of
 * them competes with the writers for a processor.  Therefore, under load the
 * worker leaves an interval between two notifications, during which the hints
 * of many transactions accumulate.  The interval is a multiple of what a
 * notification costs, which grows with the number of listeners.  Notifications
 * that were not sent are saved up, so hints that come only now and then are
 * sent at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PACE_H
#define CLUTCH_PACE_H

#include "clutch.h"

/*
 * Sleeps, a few milliseconds at most, until the next notification may be sent.
 */
extern void pace_await(void);

/* To be called before and after each notification. */
extern void pace_begin(void);
extern void pace_end(void);

#endif							/* CLUTCH_PACE_H */
