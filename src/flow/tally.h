/*-------------------------------------------------------------------------
 *
 * tally.h
 *	  Counting the events of the log for the metrics of spec 003 7.2.
 *
 * Nothing is counted when an event is appended, because that would make every
 * append more expensive and would make appends of the same kind wait for one
 * another.  A tick counts what has been appended since the last count;
 * clutch.metrics() adds what has not been counted yet.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TALLY_H
#define CLUTCH_TALLY_H

#include "clutch.h"
#include "datatype/timestamp.h"

/*
 * Counts at most 10,000 events, and does so again ten seconds later, or at the
 * next call if there are more.  Never waits.
 */
extern void tally_work(void);

/* Returns a time in the past if there are more events to count, or DT_NOEND. */
extern TimestampTz tally_next(void);

#endif							/* CLUTCH_TALLY_H */
