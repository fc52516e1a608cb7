/*-------------------------------------------------------------------------
 *
 * epoch.h
 *	  Which copy of the database this is (DESIGN: Restore, Cursor).
 *
 * A dump restored elsewhere has the same rows but another system identifier;
 * the first write there starts the next epoch.  Events carry the epoch in
 * which they were admitted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EPOCH_H
#define CLUTCH_EPOCH_H

#include "access/xlogdefs.h"
#include "clutch.h"

/*
 * Of an event that another database admitted (logical replication), and that
 * arrived here in some epoch: its transaction is one of that.
 */
#define EPOCH_ELSEWHERE(epoch)	(-(epoch))

/*
 * The current epoch, from 1; *is_new is set when this very call started it in a
 * database that had another one before (a restored copy): whoever is told so
 * voids the leases it inherited.  Only for writers.
 */
extern int	epoch_current(bool *is_new);

/* the same for readers, on a standby too */
extern int	epoch_look(void);

/*
 * false: nobody has written in this copy of the database, or in any; a dump
 * may be on its way into it.
 */
extern bool epoch_has_begun(void);

/* system identifier of the copy that an epoch was of; 0: no such epoch */
extern int64 epoch_system(int epoch);

/*
 * After a failover: where the transactions begin that wrote on the timeline
 * which followed this one in that epoch.  PG_UINT64_MAX: none did.
 */
extern uint64 epoch_timeline_after(int epoch, TimeLineID timeline);

/* a transaction id that is not long past, with its epoch */
extern uint64 epoch_full_xid(TransactionId xid);

#endif							/* CLUTCH_EPOCH_H */
