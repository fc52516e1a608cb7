/*-------------------------------------------------------------------------
 *
 * subscription.h
 *	  Subscriptions: durable readers of the log (P7).
 *
 * The name of a subscription is local to the role that created it.  Functions
 * look for names of the current role; an operator may also name a subscription
 * of another role, if only one role has that name.
 *
 * A member of a subscription reads batch after batch.  The ends of a batch are
 * stored in its bookmark until the whole batch has been committed, so that
 * exactly those events that were read but not committed are returned again.
 * Reading and committing are part of the reader's transaction.  If two
 * sessions read for the same member at once, the second one gets nothing until
 * the transaction of the first one has ended.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SUBSCRIPTION_H
#define CLUTCH_SUBSCRIPTION_H

#include "feed/feed.h"

#define SUBSCRIPTION_MAX_MEMBERS	1024

/* some events of a batch, by seq */
typedef struct Delivery
{
	int			n;
	const int64 *seqs;
	int64		batch;
} Delivery;

/*
 * Creates a subscription.  start is for start_parse.
 * Repeating this with the same filter and number of members changes nothing;
 * with others, it raises 42710.  Raises KL013 if the role has too many.
 */
extern void subscription_create(Slice name, Jsonb *filter, Slice start, int members);

/* What a role has.  With ROWS_DIRTY, uncommitted rows are included. */
typedef struct SubscriptionUse
{
	int64		subscriptions;
	int64		members;		/* of all subscriptions together */
} SubscriptionUse;

extern SubscriptionUse subscription_use(Oid owner, RowSnapshot which);

/* Returns false if there was no such subscription. */
extern bool subscription_drop(Slice name);

/*
 * Reads for a member. right and right_arg are those of the FeedQuery; an inbox
 * is read without them.
 */
extern Delivery subscription_read(Slice name, int max_events, int member, FeedRight right,
								  void *right_arg);

/* Records that the reader has handled the batch up to that seq. */
extern void subscription_commit(Slice name, int64 batch, int64 seq, int member);

/*
 * Does the filter match only what is addressed to agents for which the role
 * speaks, or to topics?  The role may read that, whatever the visibility of
 * the runs.
 */
extern bool subscription_is_inbox(const Filter *filter);

#endif							/* CLUTCH_SUBSCRIPTION_H */
