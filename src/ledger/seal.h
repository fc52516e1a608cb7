/*-------------------------------------------------------------------------
 *
 * seal.h
 *	  Adding the committed events of the log to the tree (P3).
 *
 * Transactions are sealed as a whole, in the order of their IDs, and only if
 * they are older than every transaction that is still running.  So no event
 * can appear later within what has been sealed, and no writer waits.  Each
 * call adds one checkpoint (ledger/checkpoint.h), or writes nothing if there
 * is nothing to seal.  A restored copy and a promoted standby continue with
 * the tree that they have.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SEAL_H
#define CLUTCH_SEAL_H

#include "datatype/timestamp.h"
#include "clutch.h"

/*
 * how many events are sealed in one step, which takes about a twentieth of a
 * second
 */
#define SEAL_STEP		10000

/*
 * Seals at most about max_events events; a batch ends with a whole
 * transaction, however large that is.  Returns how many were sealed.  Returns
 * 0 also if another transaction is sealing.  Never waits.
 */
extern int64 seal_batch(int max_events);

/*
 * The same, but only if the last checkpoint is older than
 * clutch.seal_interval, or if the last batch of this session was full, so that
 * there may be more.
 */
extern int64 seal_if_due(int max_events);

#endif							/* CLUTCH_SEAL_H */
