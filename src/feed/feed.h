/*-------------------------------------------------------------------------
 *
 * feed.h
 *	  The events between two positions.
 *
 * A feed goes from a position to a later one.  Its events are those that the
 * later position has seen and the earlier one has not, in the order of seq.
 * The later position is chosen while reading: it lies after whole transactions,
 * so that about as many events lie in between as the caller asked for.  Only a
 * transaction that wrote more than that makes a feed that its reader takes in
 * several pieces.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_FEED_H
#define CLUTCH_FEED_H

#include "feed/filter.h"
#include "feed/position.h"

/* May the reader see the current row of a scan of clutch.events? */
typedef bool (*FeedRight) (void *arg, const RowScan *event);

typedef struct FeedQuery
{
	const Filter *filter;
	FeedRight	right;			/* NULL: the reader may see whatever fits the filter */
	void	   *right_arg;
	int			members;		/* the runs are divided among this many members */
	int			member;			/* the one that reads, from 0 */
	int			max_events;
} FeedQuery;

typedef struct Feed
{
	Position	until;			/* the feed has everything up to here */
	int			n;
	int64	   *seqs;			/* ascending: the events that fit the query and have
								 * not expired */
	int64		examined;		/* events that were looked at */
} Feed;

/*
 * Reads from a position up to "until", or, if that is NULL, up to a position
 * that is chosen and returned in the feed.
 */
extern Feed *feed_read(const Position *from, const Position *until, const FeedQuery *query);

#endif							/* CLUTCH_FEED_H */
