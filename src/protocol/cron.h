/*-------------------------------------------------------------------------
 *
 * cron.h
 *	  Cron schedules, in the syntax of crontab(5).
 *
 * A schedule has five fields, minute, hour, day of month, month and day of
 * week, with lists, ranges, steps, names of months and days, and 7 for Sunday;
 * or it is one of @hourly @daily @midnight @weekly @monthly @yearly @annually.
 * A day must match both day fields, or either of them if neither begins with
 * an asterisk.
 *
 * The times are those of a time zone.  A time that its clock skips is made up
 * for at the end of the gap.  A time that the clock repeats counts once,
 * unless the schedule includes every hour.
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
	uint64		minutes;		/* bit n is set if minute n is in the schedule */
	uint64		hours;
	uint64		days;			/* 1 .. 31 */
	uint64		months;			/* 1 .. 12 */
	uint64		weekdays;		/* 0 .. 6, from Sunday */
	bool		either_day;		/* a day needs to match only one of the day
								 * fields */
} Cron;

/* Raises 22023 for the argument "cron", naming the faulty field. */
extern Cron cron_parse(Slice text);

/* Raises 22023 for the argument "timezone". */
extern pg_tz *cron_zone(Slice name);

/*
 * The same for a schedule that is stored.  Also refuses the descriptions of
 * zones that POSIX allows, such as <A>1, except offsets in whole hours: every
 * process that ticks loads the zones of all schedules and, as PostgreSQL never
 * forgets a zone, keeps 24 kB for each, and there is no end of descriptions.
 */
extern pg_tz *cron_zone_to_keep(Slice name);

/*
 * Returns the first time after the given one, or 0 if there is none (30
 * February).
 */
extern TimestampTz cron_next(const Cron *cron, pg_tz *zone, TimestampTz after);

#endif							/* CLUTCH_CRON_H */
