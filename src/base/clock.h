/*-------------------------------------------------------------------------
 *
 * clock.h
 *	  What time it is for clutch, and how it is written.
 *
 * clock_now is the wall clock, unless the setting clutch.clock (tests,
 * superuser only) says otherwise.  It is not the transaction's start: a
 * lease given late in a long transaction counts from when it was given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CLOCK_H
#define CLUTCH_CLOCK_H

#include "base/text.h"
#include "datatype/timestamp.h"

extern TimestampTz clock_now(void);

/* RFC 3339 in UTC with microseconds, "2026-02-01T13:20:11.123000Z"; palloc'd */
extern char *clock_rfc3339(TimestampTz t);

/* RFC 3339 (a zone is required); false if text is not that.  Never raises. */
extern bool clock_parse_rfc3339(Slice text, TimestampTz *t);

#endif							/* CLUTCH_CLOCK_H */
