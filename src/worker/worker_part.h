/*-------------------------------------------------------------------------
 *
 * worker_part.h
 *	  Private declarations of worker.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WORKER_PART_H
#define CLUTCH_WORKER_PART_H

#include "datatype/timestamp.h"
#include "worker/worker.h"

/* the pause after an error, or after a lock that was not available */
#define FIRST_PAUSE		USECS_PER_SEC

/*
 * Returns the real time, in which we sleep, for a time of clutch.clock, which a
 * setting may have moved.
 */
extern TimestampTz worker_real_time(TimestampTz at);

/*
 * Does one step of a tick, and returns the real time of the next one.
 * *lacks_lock is set to whether a lock of a table was not available; what needs
 * none has been done.
 */
extern TimestampTz worker_tick(bool *lacks_lock);

#endif							/* CLUTCH_WORKER_PART_H */
