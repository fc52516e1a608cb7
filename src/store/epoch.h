/*-------------------------------------------------------------------------
 *
 * epoch.h
 *	  Which copy of the database this is, and on which timeline it writes.
 *
 * A dump that is restored elsewhere has the same rows but another system
 * identifier; the first write there starts the next epoch.  After a failover
 * the epoch stays the same and the timeline changes.  Each event carries the
 * epoch in which it was admitted, because a transaction id means nothing
 * outside its epoch.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EPOCH_H
#define CLUTCH_EPOCH_H

#include "access/xlogdefs.h"
#include "clutch.h"

/*
 * The epoch of an event that another database admitted and that arrived here
 * in the given epoch by logical replication.
 */
#define EPOCH_ELSEWHERE(epoch)	(-(epoch))

/*
 * The current epoch, from 1.  *is_new is set if this call has started it in a
 * database that had another one before, that is, in a restored copy: the
 * caller then voids the leases that the copy inherited.  Writes a row if
 * necessary, so it is only for writers.
 */
extern int	epoch_current(bool *is_new);

/*
 * The same if it is known already, by a committed row or one of our own; else
 * 0, and only epoch_current can tell.
 */
extern int	epoch_if_known(void);

/* the same for readers, also on a standby */
extern int	epoch_look(void);

/*
 * Returns false if nothing has been written in this copy of the database yet,
 * so that a dump may still be on its way into it.
 */
extern bool epoch_has_begun(void);

/*
 * Returns the system identifier of the copy to which an epoch belongs; 0 if
 * there is no such epoch.
 */
extern int64 epoch_system(int epoch);

/*
 * After a failover: an id that is not higher than that of any transaction of
 * the epoch that wrote on a timeline after the given one.  PG_UINT64_MAX if
 * there is no such timeline.
 */
extern uint64 epoch_timeline_after(int epoch, TimeLineID timeline);

/*
 * Returns the full id of a transaction that is at most two billion
 * transactions old.
 */
extern uint64 epoch_full_xid(TransactionId xid);

#endif							/* CLUTCH_EPOCH_H */
