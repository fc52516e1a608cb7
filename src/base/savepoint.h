/*-------------------------------------------------------------------------
 *
 * savepoint.h
 *	  A step that may fail without making the whole transaction fail.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SAVEPOINT_H
#define CLUTCH_SAVEPOINT_H

#include "utils/elog.h"

/*
 * Runs step(arg) in a subtransaction.  Returns NULL if it succeeds.  Otherwise
 * the subtransaction is rolled back, and the error is returned, palloc'd in
 * the caller's memory context.  Errors of class 57 (a cancel request, a
 * shutdown) are raised again.
 */
extern ErrorData *savepoint_run(void (*step) (void *arg), void *arg);

/*
 * Is the error a matter of circumstances, so that the step may succeed when it
 * is tried again?  So are a deadlock, a lock that is not available, and a lack
 * of memory or disk space.
 */
extern bool savepoint_failed_by_chance(const ErrorData *error);

#endif							/* CLUTCH_SAVEPOINT_H */
