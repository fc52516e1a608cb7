/*-------------------------------------------------------------------------
 *
 * ticker.h
 *	  Whether anything calls tick, and a warning if nothing does.
 *
 * The background worker ticks; without it, somebody has to call clutch.tick()
 * every few seconds.  The time of such a call is kept to the minute.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TICKER_H
#define CLUTCH_TICKER_H

#include "clutch.h"

/* A session has called clutch.tick(), and tables of the extension are open. */
extern void ticker_called(void);

/*
 * Warns, once in a session, that nothing ticks, if no worker looks after the
 * database and nobody has called clutch.tick() for a quarter of an hour.  Whatever
 * has to wait for a time calls this; detail is a sentence about what happens at that
 * time only if something ticks.
 */
extern void ticker_warn(const char *detail);

#endif							/* CLUTCH_TICKER_H */
