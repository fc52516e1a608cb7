/*-------------------------------------------------------------------------
 *
 * subscription.h
 *	  Durable readers of the log (P7).
 *
 * The name of a subscription belongs to the role that created it: each role has names
 * of its own.  A function looks among those of the current role; an operator may also
 * name a subscription of another role, if only one has that name.
 *
 * A member of a subscription reads batch after batch.  The ends of a batch are
 * kept in its bookmark until all of the batch has been committed, so events
 * that were read but not committed are returned again, the same ones.  Reading
 * and committing are part of the reader's transaction.  If two sessions read
 * for one member at once, the second gets nothing until the first one's
 * transaction has ended.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SUBSCRIPTION_H
#define CLUTCH_SUBSCRIPTION_H

#include "feed/feed.h"

#define SUBSCRIPTION_MAX_MEMBERS	1024

/* Some events of a batch, by seq. */
typedef struct Delivery
{
	int			n;
	const int64 *seqs;
	int64		batch;
} Delivery;

/*
 * start is "beginning", "now" or a position.  A repetition with the same filter
 * and number of members changes nothing; with others it raises 42710.  Raises KL013
 * if the role has too many.
 */
extern void subscription_create(Slice name, Jsonb *filter, Slice start, int members);

/* what a role has; with ROWS_DIRTY, what is not committed included */
typedef struct SubscriptionUse
{
	int64		subscriptions;
	int64		members;		/* of all of them */
} SubscriptionUse;

extern SubscriptionUse subscription_use(Oid owner, RowSnapshot which);

/* Returns false if there was no such subscription. */
extern bool subscription_drop(Slice name);

/* right and right_arg are those of the FeedQuery; an inbox is read without them */
extern Delivery subscription_read(Slice name, int max_events, int member, FeedRight right,
								  void *right_arg);

/* Records that the reader has handled the batch up to that seq. */
extern void subscription_commit(Slice name, int64 batch, int64 seq, int member);

/*
 * Does the filter let through only what is addressed to agents for which the role
 * speaks, or to topics?  Such agents may read that, whatever the visibility of the runs.
 */
extern bool subscription_is_inbox(const Filter *filter);

/*
 * Reads a position that a user gave in the named argument.  Raises 22023 if it
 * is not one, and KL008 if it does not belong to this database.
 */
extern Position subscription_position(Slice text, const char *argument);

/* The same, but "beginning" and "now" are positions too. */
extern Position subscription_start(Slice start, const char *argument);

#endif							/* CLUTCH_SUBSCRIPTION_H */
