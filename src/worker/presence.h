/*-------------------------------------------------------------------------
 *
 * presence.h
 *	  Watching for statements that concern the workers of databases.
 *
 * When a transaction that has created, updated or dropped the extension, or
 * created or dropped a database, is over, the launcher and the worker are told
 * so; after COMMIT PREPARED, they look again for what is due, or for the
 * extension.  Before a statement that needs a database for itself (to drop, copy,
 * rename or move it), the worker of that database is sent away; it comes back
 * when the transaction is over.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PRESENCE_H
#define CLUTCH_PRESENCE_H

#include "clutch.h"

/*
 * Installs the hooks for all sessions.  To be called while the library is
 * preloaded.
 */
extern void presence_watch(void);

#endif							/* CLUTCH_PRESENCE_H */
