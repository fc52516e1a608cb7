/*-------------------------------------------------------------------------
 *
 * launcher.h
 *	  The process that keeps one worker in each database with the extension.
 *
 * It is in no database, so it keeps none from being dropped.  Whether a
 * database has the extension only a process in it can tell: a worker is
 * started everywhere once, and ends where there is none.  After that the
 * launcher sleeps until the extension or a database comes or goes (presence),
 * or a worker ends.
 *
 * Not in a template, nor where nobody may connect.  Not on a standby: it is
 * started when recovery is over.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_LAUNCHER_H
#define CLUTCH_LAUNCHER_H

#include "clutch.h"

/* while the library is preloaded */
extern void launcher_register(void);

extern PGDLLEXPORT void clutch_launcher_main(Datum arg);

#endif							/* CLUTCH_LAUNCHER_H */
