/*-------------------------------------------------------------------------
 *
 * position.h
 *	  Positions: how far a reader of the log has come.
 *
 * A position is a snapshot.  A reader has seen what was visible when the
 * position was taken.  Its next batch is what is visible now and was not
 * visible then: the rows of later transactions, and those of the few
 * transactions that were in progress.  So a reader never waits for the oldest
 * writer, and never misses an event that is committed late.  A position does
 * not include the events of the transaction that takes it; they follow once
 * that transaction has committed.
 *
 * A restored copy starts its transaction IDs over, so a position includes the
 * epoch.  After a failover, the new server reuses the IDs of transactions that
 * only the lost server had, so a position includes the timeline, too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_POSITION_H
#define CLUTCH_POSITION_H

#include "access/xlogdefs.h"
#include "base/text.h"

typedef struct Position
{
	int			epoch;
	TimeLineID	timeline;
	int64		system_identifier;
	uint64		xmax;			/* transactions from here on were not seen */
	int			nxip;
	uint64	   *xip;			/* older ones that were not seen either: in
								 * ascending order, each once, all below xmax;
								 * may be NULL if nxip is 0 */
} Position;

/* Returns the position before the first event. */
extern Position position_beginning(void);

/*
 * Returns the position after everything that this copy of the database
 * inherited from an epoch that is over.
 */
extern Position position_end(int epoch);

/* Returns the position of the calling statement's snapshot; xip is palloc'd. */
extern Position position_now(void);

/* Returns the same position without the transactions from xmax on. */
extern Position position_cut(const Position *position, uint64 xmax);

extern bool position_has_seen(const Position *position, int epoch, uint64 xid);

/* Returns printable text without spaces, palloc'd. */
extern char *position_text(const Position *position);

/*
 * To be called before a position is given to a client, which may keep it when
 * the server crashes.  A position counts transactions as seen that have rolled
 * back, or have committed with synchronous_commit off.  If the server forgot
 * them in a crash, it would use their IDs again, and the client would miss the
 * new transactions.  So this flushes the WAL up to here; usually, it has been
 * flushed already.
 */
extern void position_make_durable(void);

/*
 * Reads what position_text wrote.  Returns false if the text is not a
 * position.  Xids that are out of order, duplicate or not below xmax are
 * corrected, because versions up to 0.1.0 could store a duplicate xid.
 */
extern bool position_parse(Slice text, Position *position);

/*
 * Adapts a position that a client or a table stored to the history of this
 * database.  Raises KL008 if it belongs to another history, or to the future
 * of this one; argument is the name for the error, or "" for a stored
 * position.  After a failover, what only the lost server had counts as unseen,
 * also in a copy that was made after the failover.
 */
extern void position_settle(Position *position, const char *argument);

/*
 * Has the position seen something that the current snapshot has not?  This
 * happens on a standby that lags behind, and in a statement that began before
 * the position was taken.
 */
extern bool position_is_ahead(const Position *position);

#endif							/* CLUTCH_POSITION_H */
