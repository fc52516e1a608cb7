/*-------------------------------------------------------------------------
 *
 * schedule.h
 *	  Schedules: envelopes that are sent again and again (clutch.schedule).
 *
 * A tick sends what is due, each time in the name of the role that scheduled
 * it and with the rights that the role has by then.  Sending and advancing to
 * the next time happen in one transaction, and the IDs are made from the
 * owner, the name and the time, so that nothing is sent twice.  A secret of
 * the database is part of the IDs, so that nobody can use the next ones in
 * advance.  If several times passed while nothing ticked, the envelope is sent
 * once for all of them.  If the clock is set back, the next time is found anew.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SCHEDULE_H
#define CLUTCH_SCHEDULE_H

#include "base/rows.h"
#include "datatype/timestamp.h"
#include "utils/jsonb.h"

/* the most bytes that these have */
#define SCHEDULE_NAME_BYTES	128
#define SCHEDULE_CRON_BYTES	1024

/*
 * Creates a schedule, or replaces the role's own schedule of that name.
 * Returns the first time.  Raises 22023 for an invalid cron or time zone,
 * KL001 for the envelope, 42501 if the sender belongs to another role, and
 * KL013 if the quota is exceeded.
 */
extern TimestampTz schedule_put(Slice name, Slice cron, Jsonb *envelope, Slice timezone);

/*
 * Drops a schedule of the role or, for an operator, that of another role if
 * only one role has a schedule of that name.  Returns false if there was none.
 */
extern bool schedule_drop(Slice name);

/*
 * Returns how many schedules the role has.  With ROWS_DIRTY, uncommitted ones
 * are included.
 */
extern int64 schedule_count(Oid owner, RowSnapshot which);

/* Sends at most n envelopes that are due.  Returns how many were sent. */
extern int	schedule_send_due(int n);

/* Returns when the next one is due, or DT_NOEND if there is none. */
extern TimestampTz schedule_next(void);

#endif							/* CLUTCH_SCHEDULE_H */
