/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  The worker, a background process in one database that ticks and wakes
 *	  listeners.
 *
 * The worker sleeps until something is due or a session leaves it a hint.
 * While it sleeps, it has no transaction and reads nothing.  Any session may
 * do the same work at the same time.  Failures are logged, and the work is
 * tried again after a pause that doubles each time.  A job that does not get a
 * lock gives up soon, and is tried again soon, because hints wait behind it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WORKER_H
#define CLUTCH_WORKER_H

#include "clutch.h"

/* The main function of the process.  arg is the number of its mailbox. */
extern PGDLLEXPORT void clutch_worker_main(Datum arg);

#endif							/* CLUTCH_WORKER_H */
