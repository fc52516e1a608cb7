/*-------------------------------------------------------------------------
 *
 * subscription.h
 *	  Durable cursors on the log (P7).
 *
 * A member of a subscription reads batch after batch.  A batch lies between
 * two positions, which stand in clutch.subscription_position until all of it
 * was committed; so what was read and not committed comes again, the same.
 * Reading and committing belong to the reader's transaction.  Two readers of
 * one member at once: the second gets nothing until the first has ended.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SUBSCRIPTION_H
#define CLUTCH_SUBSCRIPTION_H

#include "feed/feed.h"

#define MOST_MEMBERS	1024

/* what a reader gets: some events of a batch, by seq */
typedef struct Delivery
{
	int			n;
	const int64 *seqs;
	int64		batch;
} Delivery;

/*
 * start: "beginning", "now", or a position.  Repeated with the same filter and
 * members it changes nothing; with others it is refused, 42710.
 */
extern void subscription_create(Slice name, Jsonb *filter, Slice start, int members);

/* false: there was none */
extern bool subscription_drop(Slice name);

extern Delivery subscription_read(Slice name, int max_events, int member);

/* all of the batch up to that seq is done */
extern void subscription_commit(Slice name, int64 batch, int64 seq, int member);

/* may the role read what this filter lets through?  else 42501 */
extern void subscription_require_reader(const Filter *filter);

/* "beginning", "now", or a position that fits this database; else 22023, KL008 */
extern Position subscription_start(Slice start);

#endif							/* CLUTCH_SUBSCRIPTION_H */
