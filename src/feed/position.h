/*-------------------------------------------------------------------------
 *
 * position.h
 *	  How far a reader of the log has come: a cursor is a snapshot (DESIGN 4).
 *
 * Seen is what was visible when the position was taken; next comes what is
 * visible now and was not then: rows of later transactions, and of the few
 * that were in progress.  So nothing waits for the oldest writer, and nothing
 * that commits late is passed over.  The transaction that takes a position
 * has not seen its own events: they come after its commit.
 *
 * Transactions are numbered anew in a restored copy, hence the epoch, and
 * after a failover from where the old server may have gone on, hence the
 * timeline.
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
	uint64		xmax;			/* what is not older was not seen */
	int			nxip;
	uint64	   *xip;			/* older, but not seen either; ascending */
} Position;

/* before the first event */
extern Position position_beginning(void);

/* behind all that this copy inherited of an epoch that is over */
extern Position position_end(int epoch);

/* as the calling statement sees the log; palloc'd parts */
extern Position position_now(void);

/* what it has seen, but nothing of transactions from xmax on */
extern Position position_cut(const Position *position, uint64 xmax);

extern bool position_has_seen(const Position *position, int epoch, uint64 xid);

/* printable, without spaces; palloc'd */
extern char *position_text(const Position *position);
/* false: it is none.  What it points to is palloc'd. */
extern bool position_parse(Slice text, Position *position);

/*
 * What somebody kept, made to fit the history of this database: KL008 when it
 * is of another history, or of this one's future.  After a failover, what
 * only the lost server had counts as not seen.
 */
extern void position_settle(Position *position);

/* it has seen what the snapshot at hand has not: a standby behind, a statement begun before */
extern bool position_is_ahead(const Position *position);

#endif							/* CLUTCH_POSITION_H */
