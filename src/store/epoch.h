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

#include "clutch.h"

/* of an event that another database admitted (logical replication) */
#define EPOCH_ELSEWHERE		0

/*
 * The current epoch, from 1; *is_new is set when this very call started it in a
 * database that had another one before (a restored copy): whoever is told so
 * voids the leases it inherited.  Only for writers.
 */
extern int	epoch_current(bool *is_new);

#endif							/* CLUTCH_EPOCH_H */
