/*-------------------------------------------------------------------------
 *
 * attempt.h
 *	  A step that may fail without taking the rest with it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ATTEMPT_H
#define CLUTCH_ATTEMPT_H

#include "utils/elog.h"

/*
 * Runs step(arg) in a subtransaction.  NULL: it is done; else it is as if it
 * had never begun, and this is why, in the caller's memory.  What an operator
 * says (cancel, shutdown) goes on as an error.
 */
extern ErrorData *attempt(void (*step) (void *arg), void *arg);

/* a deadlock, a lock that is not to be had in time, no memory */
extern bool attempt_failed_by_chance(const ErrorData *error);

#endif							/* CLUTCH_ATTEMPT_H */
