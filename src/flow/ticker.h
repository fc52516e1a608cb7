/*-------------------------------------------------------------------------
 *
 * ticker.h
 *	  Checking whether anything calls tick, and warning if nothing does.
 *
 * The background worker ticks; without it, somebody has to call clutch.tick()
 * every few seconds.  The time of the last such call is recorded to the
 * minute.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TICKER_H
#define CLUTCH_TICKER_H

#include "clutch.h"

/*
 * To be called when a session has called clutch.tick(), and tables of the
 * extension are open.
 */
extern void ticker_called(void);

/*
 * Warns, once per session, that nothing ticks, if no worker serves the
 * database and nobody has called clutch.tick() for a quarter of an hour.  To
 * be called for anything that must wait for a time.  detail is a sentence
 * saying what will happen at that time only if something ticks.
 */
extern void ticker_warn(const char *detail);

#endif							/* CLUTCH_TICKER_H */
