/*-------------------------------------------------------------------------
 *
 * bookmark.h
 *	  Where a member of a subscription stands in the log.
 *
 * A bookmark is a row of clutch.subscription_position.  Between batches it has
 * one position, "seen".  While the member reads a batch it has two: the batch
 * lies between "seen" and "until", and up to "place" it has been committed.
 *
 * A bookmark is written by inserting its next generation and deleting the one
 * before, so that a snapshot which is held for long does not slow its readers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_BOOKMARK_H
#define CLUTCH_BOOKMARK_H

#include "datatype/timestamp.h"
#include "feed/position.h"

typedef struct Bookmark
{
	Oid			owner;			/* of the subscription */
	Slice		name;
	int			member;
	int64		generation;		/* 0 until it is saved */
	int64		batch;			/* the number of the latest batch */
	int64		place;			/* the seq up to which the batch was committed */
	TimestampTz moved_at;
	Position	seen;
	bool		is_open;		/* the member is reading a batch, up to "until" */
	Position	until;

	/*
	 * Another session has moved the bookmark between the snapshot of our
	 * statement and our guard, so we have nothing to read.
	 */
	bool		is_ahead;
} Bookmark;

/* Raises XX001 if the member has no bookmark, or one that cannot be read. */
extern Bookmark bookmark_read(Oid owner, Slice name, int member);

/* Only for the session that holds the guard of the member. */
extern void bookmark_save(Bookmark *bookmark);

/* Deletes the bookmarks of all members. */
extern void bookmark_delete_all(Oid owner, Slice name);

/*
 * The first transaction that some member of a subscription may not have handled
 * yet; name is that of the subscription, absent if there is none at all.
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
