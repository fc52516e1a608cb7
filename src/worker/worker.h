/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  The background process of one database: it ticks, and wakes listeners.
 *
 * It sleeps until something is due or a session leaves it a hint, without a
 * transaction and without looking.  What it does anybody else may do at the
 * same time; what goes wrong is logged and tried again, ever more seldom.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WORKER_H
#define CLUTCH_WORKER_H

#include "clutch.h"

/* arg: the number of its mailbox */
extern PGDLLEXPORT void clutch_worker_main(Datum arg);

#endif							/* CLUTCH_WORKER_H */
