/*-------------------------------------------------------------------------
 *
 * feed.h
 *	  Feeds: the events between two positions.
 *
 * A feed goes from a position to a later one.  Its events are those that the
 * later position has seen and the earlier one has not, in the order of seq.
 * The later position is chosen while reading, at the end of a transaction,
 * such that there are about as many events in between as the caller asked for.
 * Only if a single transaction wrote more than that does the reader have to
 * take the feed in several pieces.
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
	FeedRight	right;			/* NULL if the reader may see whatever matches
								 * the filter */
	void	   *right_arg;
	int			members;		/* the runs are divided among this many members */
	int			member;			/* the member that reads, counted from 0 */
	int			max_events;
} FeedQuery;

typedef struct Feed
{
	Position	until;			/* the feed contains everything up to here */
	int			n;
	int64	   *seqs;			/* the events that match the query and have not
								 * expired, in ascending order */
	int64		examined;		/* number of events that were looked at */
} Feed;

/*
 * Reads from a position up to "until" or, if that is NULL, up to a position
 * that is chosen and returned in the feed.
 */
extern Feed *feed_read(const Position *from, const Position *until, const FeedQuery *query);

#endif							/* CLUTCH_FEED_H */
