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

/*
 * Counts some of the events, at most once every ten seconds in a session.
 * Never waits.
 */
extern int	tally_work(int n);

#endif							/* CLUTCH_TALLY_H */
