/*-------------------------------------------------------------------------
 *
 * cron.h
 *	  When something is to happen again and again, in the words of crontab(5).
 *
 * Five fields: minute, hour, day of month, month, day of week; lists, ranges,
 * steps, names of months and days, 7 for Sunday; or @hourly @daily @midnight
 * @weekly @monthly @yearly @annually.  A day must fit both day fields, or
 * either of them if neither begins with an asterisk.
 *
 * The clock is that of a time zone.  What it skips happens at the end of the
 * gap; what it repeats happens once, unless every hour is meant.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CRON_H
#define CLUTCH_CRON_H

#include "base/text.h"
#include "datatype/timestamp.h"
#include "pgtime.h"

typedef struct Cron
{
	uint64		minutes;		/* bit n: n is meant */
	uint64		hours;
	uint64		days;			/* 1 .. 31 */
	uint64		months;			/* 1 .. 12 */
	uint64		weekdays;		/* 0 .. 6, from Sunday */
	bool		either_day;		/* one of the two day fields is enough */
} Cron;

/* raises 22023: which field is wrong, and what it may be */
extern Cron cron_parse(Slice text);

/* raises 22023 */
extern pg_tz *cron_zone(Slice name);

/* the first time after that moment; 0: never (30 February) */
extern TimestampTz cron_next(const Cron *cron, pg_tz *zone, TimestampTz after);

#endif							/* CLUTCH_CRON_H */
