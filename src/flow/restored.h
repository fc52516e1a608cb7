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
 * The current epoch (store/epoch.h).  In a database that was restored from a
 * dump this call begins a new one, and voids the leases that the copy has
 * inherited: the agents that hold them may be reporting to the original.  To be
 * called before anything looks at a lease.
 */
extern int	restored_epoch(void);

#endif							/* CLUTCH_RESTORED_H */
