/*-------------------------------------------------------------------------
 *
 * traffic.h
 *	  What a role has sent in this minute and today, for its quotas.
 *
 * It is counted only for roles with a quota of events_per_minute, bytes_per_minute
 * or bytes_per_day.  A transaction keeps its own count in memory, and inserts one row
 * into clutch.traffic before it commits or is prepared, so that nobody waits for it.
 * When a transaction has found many rows of its role, it puts those that nobody else
 * holds together, those of earlier minutes into one row for the day.
 *
 * A check sees what is committed and what its own transaction has sent; it looks
 * for the former once in a transaction and minute.  Transactions that are open at the
 * same time do not see one another's events, so each may go up to the limit.
 *
 * Minutes and days are those of UTC, not the last sixty seconds: at the end of one,
 * everything is free again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TRAFFIC_H
#define CLUTCH_TRAFFIC_H

#include "base/rows.h"

typedef struct Traffic
{
	int64		events;			/* in the minute */
	int64		bytes;
	int64		day_bytes;		/* in the day, the minute included */
} Traffic;

/* Is the current role one whose events are counted? */
extern bool traffic_is_counted(void);

/*
 * The current role sends an event of so many bytes at that time.  If it may be
 * refused, raises KL013 where that would exceed a quota.
 */
extern void traffic_add(int64 bytes, TimestampTz at, bool may_be_refused);

/* It has the database append an event, which is not measured: a claim, a retry. */
extern void traffic_add_command(bool may_be_refused);

/* What a role has sent, as far as it is committed and was counted. */
extern Traffic traffic_of_role(Oid role, TimestampTz at, RowSnapshot which);

#endif							/* CLUTCH_TRAFFIC_H */
