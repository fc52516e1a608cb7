/*-------------------------------------------------------------------------
 *
 * seal.h
 *	  Adding the committed events of the log to the tree (P3).
 *
 * Sealed are whole transactions, in the order of their ids, below the oldest one
 * that is still running: no event can appear below a sealed one any more, and
 * writers are not concerned.  Each call adds one checkpoint (ledger/checkpoint.h),
 * or writes nothing if there is nothing to seal.  A restored copy and a promoted
 * standby go on with the tree that they have got.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SEAL_H
#define CLUTCH_SEAL_H

#include "datatype/timestamp.h"
#include "clutch.h"

/* how many events one step seals, in about a twentieth of a second */
#define SEAL_STEP		10000

/*
 * Seals about so many events at most: a batch ends with a whole transaction, however
 * large that is.  Returns how many; 0 also if another transaction is sealing.  Never
 * waits.
 */
extern int64 seal_batch(int max_events);

/*
 * The same, if the last checkpoint is older than clutch.seal_interval, or if this
 * session knows that there is more to do.
 */
extern int64 seal_if_due(int max_events);

#endif							/* CLUTCH_SEAL_H */
