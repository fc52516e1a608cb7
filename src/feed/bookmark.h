/*-------------------------------------------------------------------------
 *
 * bookmark.h
 *	  Bookmarks: how far the members of subscriptions have read the log.
 *
 * A bookmark is a row of clutch.subscription_position.  Between batches it has
 * one position, "seen".  While the member reads a batch, it has two: the batch
 * is between "seen" and "until", and has been committed up to "place".
 *
 * A bookmark is changed by inserting its next generation and deleting the
 * previous one, so that an old snapshot does not slow down its readers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_BOOKMARK_H
#define CLUTCH_BOOKMARK_H

#include "datatype/timestamp.h"
#include "feed/position.h"

typedef struct Bookmark
{
	Oid			owner;			/* owner of the subscription */
	Slice		name;
	int			member;
	int64		generation;		/* 0 until it is saved */
	int64		batch;			/* the number of the latest batch; see
								 * subscription_first_batch */
	int64		place;			/* the seq up to which the batch has been
								 * committed */
	TimestampTz moved_at;
	Position	seen;
	bool		is_open;		/* the member is reading a batch, up to "until" */
	Position	until;

	/*
	 * Another session has moved the bookmark after the snapshot of our
	 * statement was taken and before we got the guard, so there is nothing for
	 * us to read.
	 */
	bool		is_ahead;
} Bookmark;

/* Raises XX001 if the member has no bookmark, or one that cannot be read. */
extern Bookmark bookmark_read(Oid owner, Slice name, int member);

/* To be called only by the session that holds the guard of the member. */
extern void bookmark_save(Bookmark *bookmark);

/* Deletes the bookmarks of all members. */
extern void bookmark_delete_all(Oid owner, Slice name);

/*
 * The first transaction that some member of a subscription may not have
 * handled yet.  name is the name of that subscription; it is absent if there
 * are no subscriptions.
 */
typedef struct Horizon
{
	int			epoch;
	uint64		xid;
	Slice		name;
} Horizon;

extern Horizon bookmark_horizon(void);

/* Have all members of all subscriptions handled the events of this transaction? */
extern bool bookmark_covers(const Horizon *horizon, int epoch, uint64 xid);

#endif							/* CLUTCH_BOOKMARK_H */
