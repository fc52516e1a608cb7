/*-------------------------------------------------------------------------
 *
 * restored.h
 *	  The first write in a restored copy of the database.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RESTORED_H
#define CLUTCH_RESTORED_H

#include "clutch.h"

/*
 * Returns the current epoch (store/epoch.h).  In a database that was restored
 * from a dump, this begins a new epoch and voids the leases that the copy has
 * inherited, because the agents that hold them may be reporting to the
 * original.  To be called before anything looks at a lease.
 */
extern int	restored_epoch(void);

#endif							/* CLUTCH_RESTORED_H */
