/*-------------------------------------------------------------------------
 *
 * feed.h
 *	  The events between two positions.
 *
 * A feed goes from a position to a later one; its events are what the later
 * one has seen and the earlier has not, by seq.  The later one is chosen here:
 * after whole transactions, so that about as many events lie between as were
 * asked for.  Only a transaction that wrote more makes a feed that is read in
 * several pieces, from a place (a seq) on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_FEED_H
#define CLUTCH_FEED_H

#include "feed/filter.h"
#include "feed/position.h"

typedef struct FeedQuery
{
	const Filter *filter;
	int			members;		/* a run belongs to one of so many ... */
	int			member;			/* ... to this one; from 0 */
	int			max_events;
} FeedQuery;

typedef struct Feed
{
	Position	until;			/* all between is in the feed */
	int			n;
	int64	   *seqs;			/* ascending; those that are wanted and still of use */
	int64		examined;		/* rows that were looked at */
} Feed;

/* from a position to one of its choice, or to until (which may be NULL) */
extern Feed *feed_read(const Position *from, const Position *until, const FeedQuery *query);

#endif							/* CLUTCH_FEED_H */
