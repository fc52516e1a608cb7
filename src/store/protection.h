/*-------------------------------------------------------------------------
 *
 * protection.h
 *	  Statements that would let somebody rewrite the log are refused (P3).
 *
 * The triggers of the log refuse UPDATE, DELETE and TRUNCATE; a superuser or the
 * owner could disable or drop them first, or change the type of a column.  In a
 * server that preloads the library, such a statement is refused, whoever runs it
 * and however it gets there, unless clutch.allow_ddl is on.  Scripts of extensions,
 * DROP EXTENSION, pg_upgrade, and everything that moves or reindexes the table are
 * let through.
 *
 * This is a safeguard against mistakes and against scripts that know nothing of
 * clutch.  It stops no superuser who means it: the tree over the log tells on him.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PROTECTION_H
#define CLUTCH_PROTECTION_H

#include "clutch.h"

/* Installs the hooks, for every session; to be called while preloading. */
extern void protection_watch(void);

#endif							/* CLUTCH_PROTECTION_H */
