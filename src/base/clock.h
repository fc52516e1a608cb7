/*-------------------------------------------------------------------------
 *
 * clock.h
 *	  The current time, and how times are written.
 *
 * clock_now returns the wall clock, or the time in the setting clutch.clock
 * (for tests, superuser only).  It does not return the start of the
 * transaction, because a lease that is given late in a long transaction begins
 * when it is given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CLOCK_H
#define CLUTCH_CLOCK_H

#include "base/text.h"
#include "datatype/timestamp.h"

extern TimestampTz clock_now(void);

/*
 * Is a pause over that began at that time?  It is also over if the clock has
 * been set back meanwhile; otherwise the pause could last for years.
 */
static inline bool
clock_is_over(TimestampTz since, int64 pause, TimestampTz now)
{
	return now < since || now - since >= pause;
}

/*
 * Returns RFC 3339 in UTC with microseconds, "2026-02-01T13:20:11.123000Z";
 * palloc'd.
 */
extern char *clock_rfc3339(TimestampTz t);

/*
 * Reads RFC 3339, which requires a time zone.  Returns false for anything
 * else.
 */
extern bool clock_parse_rfc3339(Slice text, TimestampTz *t);

#endif							/* CLUTCH_CLOCK_H */
