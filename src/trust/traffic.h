/*-------------------------------------------------------------------------
 *
 * traffic.h
 *	  Traffic: what a role has sent in this minute and today, for its quotas.
 *
 * It is counted only for roles with a quota of events_per_minute,
 * bytes_per_minute or bytes_per_day.  A transaction keeps its own count in
 * memory, and inserts one row into clutch.traffic before it commits or is
 * prepared, so that nobody waits for it.  A transaction that finds many rows
 * of its role combines those that nobody else holds, and those of earlier
 * minutes into one row for the day.
 *
 * A check sees what is committed and what its own transaction has sent; it
 * reads the former once per transaction and minute.  Concurrent transactions
 * do not see one another's events, so each may go up to the limit.
 *
 * Minutes and days are those of the clock in UTC, and not, for example, the
 * last sixty seconds: when one of them ends, the count starts again from zero.
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
	int64		day_bytes;		/* in the day, including the minute */
} Traffic;

/* Are the events of the current role counted? */
extern bool traffic_is_counted(void);

/*
 * Counts an event of so many bytes that the current role sends at that time.
 * If may_be_refused, raises KL013 if it would exceed a quota.
 */
extern void traffic_add(int64 bytes, TimestampTz at, bool may_be_refused);

/*
 * Counts an event that the role makes the database append, such as a claim or
 * a retry.  Its size is not counted.
 */
extern void traffic_add_command(bool may_be_refused);

/* Returns what a role has sent, as far as it is committed and was counted. */
extern Traffic traffic_of_role(Oid role, TimestampTz at);

#endif							/* CLUTCH_TRAFFIC_H */
