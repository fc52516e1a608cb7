/*-------------------------------------------------------------------------
 *
 * epoch.h
 *	  Epochs: which copy of the database this is, and on which timeline it
 *	  writes.
 *
 * A database restored from a dump has the same rows but another system
 * identifier; its first write starts the next epoch.  After a failover, the
 * epoch stays the same and the timeline changes.  Each event carries the epoch
 * in which it was admitted, because a transaction ID means nothing outside its
 * epoch.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EPOCH_H
#define CLUTCH_EPOCH_H

#include "access/xlogdefs.h"
#include "clutch.h"

/*
 * The epoch of an event that was admitted by another database and arrived here
 * in the given epoch by logical replication.
 */
#define EPOCH_ELSEWHERE(epoch)	(-(epoch))

/*
 * Returns the current epoch, counted from 1.  *is_new is set if this call has
 * started it in a database that had another one before, that is, in a restored
 * copy; the caller must then void the leases that the copy inherited.  Writes
 * a row if necessary, so it is only for writers.
 */
extern int	epoch_current(bool *is_new);

/*
 * The same if it is already known from a committed row or one of our own, and
 * 0 if only epoch_current can tell.
 */
extern int	epoch_if_known(void);

/* The same for readers, also on a standby. */
extern int	epoch_look(void);

/*
 * The same for writers of events that are not admitted here.  They begin no
 * epoch, but are on the current timeline.
 */
extern int	epoch_look_to_write(void);

/*
 * Returns false if nothing has been written in this copy of the database yet,
 * so that a dump may still be being restored into it, also one of another
 * database of this cluster.
 */
extern bool epoch_has_begun(void);

/*
 * Notes that something is being written in this copy of the database.  Returns
 * true if it is the first time.  This is not undone by a rollback.
 */
extern bool epoch_begin_copy(void);

/*
 * Returns the system identifier of the copy to which an epoch belongs, or 0 if
 * there is no such epoch.
 */
extern int64 epoch_system(int epoch);

/*
 * For use after a failover: returns an ID that is not higher than that of any
 * transaction of the epoch that wrote on a timeline after the given one, or
 * PG_UINT64_MAX if there is no such timeline, as after PG_UINT32_MAX.
 */
extern uint64 epoch_timeline_after(int epoch, TimeLineID timeline);

/*
 * Returns the full transaction ID of a transaction that is at most two billion
 * transactions old.
 */
extern uint64 epoch_full_xid(TransactionId xid);

#endif							/* CLUTCH_EPOCH_H */
