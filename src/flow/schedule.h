/*-------------------------------------------------------------------------
 *
 * schedule.h
 *	  Envelopes that are sent again and again (clutch.schedule).
 *
 * A tick sends what is due, each time in the name of the role that scheduled
 * it and with what that role may do by then.  Sending and moving on to the
 * next time are one transaction, and the ids are made of the owner, the name and
 * the time: once, never twice.  A secret of the database is part of them, so that
 * nobody can take the next ones in advance.  Times that passed while nobody ticked are made up
 * for by one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SCHEDULE_H
#define CLUTCH_SCHEDULE_H

#include "base/rows.h"
#include "datatype/timestamp.h"
#include "utils/jsonb.h"

/*
 * New, or in place of the role's own schedule of that name; the first time.
 * Raises 22023 for an invalid name, cron or time zone, KL001 for the
 * envelope, 42501 if the sender is another's, KL013 for one too many.
 */
extern TimestampTz schedule_put(Slice name, Slice cron, Jsonb *envelope, Slice timezone);

/*
 * The role's own, or, for an operator, that of another role if only one has a
 * schedule of that name.  Returns false if there was none.
 */
extern bool schedule_drop(Slice name);

/*
 * Returns how many the role has; with ROWS_DIRTY, those that are not committed
 * included.
 */
extern int64 schedule_count(Oid owner, RowSnapshot which);

/* sends what is due, at most n; how many it sent */
extern int	schedule_send_due(int n);

/* when the next is due, or DT_NOEND if there is none */
extern TimestampTz schedule_next(void);

#endif							/* CLUTCH_SCHEDULE_H */
