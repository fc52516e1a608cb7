/*-------------------------------------------------------------------------
 *
 * launcher.h
 *	  The launcher, a process that keeps a worker in each database with the
 *	  extension.
 *
 * The launcher is not connected to any database, so it does not prevent any
 * from being dropped.  Only a process inside a database can tell whether the
 * database has the extension, so a worker is started once in each, and ends if
 * there is no extension.  After that, the launcher sleeps until a worker ends,
 * or until presence.c tells it that the extension or a database has come or
 * gone.
 *
 * Templates, and databases that allow no connections, get no worker.  On a
 * standby, the launcher is started when recovery is over.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LAUNCHER_H
#define CLUTCH_LAUNCHER_H

#include "clutch.h"

/* To be called while the library is preloaded. */
extern void launcher_register(void);

extern PGDLLEXPORT void clutch_launcher_main(Datum arg);

#endif							/* CLUTCH_LAUNCHER_H */
