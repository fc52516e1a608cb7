/*-------------------------------------------------------------------------
 *
 * pace.h
 *	  How often the worker wakes listeners.
 *
 * A notification wakes every session that listens in the database, and each of
 * them wants a processor, as the writers do.  So under load the worker leaves
 * an interval between two notifications, in which the hints of many
 * transactions gather.  The interval is a multiple of what a notification
 * costs, which grows with the number of listeners.  Notifications that were not
 * sent are saved up, so hints that come now and then are sent at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PACE_H
#define CLUTCH_PACE_H

#include "clutch.h"

/* Sleeps, a few milliseconds at most, until the next notification may be sent. */
extern void pace_await(void);

/* To be called before and after a notification, in turn. */
extern void pace_begin(void);
extern void pace_end(void);

#endif							/* CLUTCH_PACE_H */
