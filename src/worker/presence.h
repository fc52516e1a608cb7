/*-------------------------------------------------------------------------
 *
 * presence.h
 *	  Statements of sessions that concern the workers of databases.
 *
 * The launcher is told, when a transaction is over, that it created or dropped
 * the extension or a database.  Before a statement that needs a database for
 * itself (to drop, copy, rename or move it), the worker of that database is
 * sent away; it comes back when the transaction is over.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PRESENCE_H
#define CLUTCH_PRESENCE_H

#include "clutch.h"

/* Installs the hooks, for every session; to be called while preloading. */
extern void presence_watch(void);

#endif							/* CLUTCH_PRESENCE_H */
