/*-------------------------------------------------------------------------
 *
 * protection.h
 *	  Refusing statements that would let somebody rewrite the log (P3), or that
 *	  would make a table useless.
 *
 * The triggers of the log refuse UPDATE, DELETE and TRUNCATE, but a superuser
 * or the owner could disable or drop them first, or change the type of a
 * column.  In a server that preloads the library, such statements are refused,
 * whoever runs them and in whatever way, unless clutch.allow_ddl is on.
 * Extension scripts, DROP EXTENSION, pg_upgrade, and statements that only move
 * or reindex the table are allowed.
 *
 * This is a safeguard against mistakes and against scripts that know nothing
 * about clutch.  So it also refuses three changes of the tables of clutch that
 * do not touch the protection: without WAL, a table is lost in a crash; with
 * another column, it cannot be written; and a trigger on a table that is written
 * without the executor would never be fired.  It does not stop a determined
 * superuser, but the tree over the log reveals the change.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PROTECTION_H
#define CLUTCH_PROTECTION_H

#include "clutch.h"

/*
 * Installs the hooks for all sessions.  To be called while the library is
 * preloaded.
 */
extern void protection_watch(void);

#endif							/* CLUTCH_PROTECTION_H */
