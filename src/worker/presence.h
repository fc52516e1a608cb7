/*-------------------------------------------------------------------------
 *
 * presence.h
 *	  What sessions do that concerns the workers of databases.
 *
 * Where the extension is made or dropped, and where databases are, the
 * launcher is told when the transaction is over.  Before a statement that
 * wants a database for itself (to drop, copy, rename or move it) the worker
 * is sent away, as if it were not there, and comes back afterwards.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PRESENCE_H
#define CLUTCH_PRESENCE_H

#include "clutch.h"

/* in every session from now on; while the library is preloaded */
extern void presence_watch(void);

#endif							/* CLUTCH_PRESENCE_H */
