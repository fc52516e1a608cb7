/*-------------------------------------------------------------------------
 *
 * privilege.h
 *	  Privileges: which database roles are operators, and which may read
 *	  without being an agent.
 *
 * The owner of the extension and superusers may do everything.  Other roles
 * get a row of clutch.privilege by clutch.grant_operator or
 * clutch.grant_reader.  Like a privilege in PostgreSQL, it also holds for the
 * members of the role if they inherit its rights.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PRIVILEGE_H
#define CLUTCH_PRIVILEGE_H

#include "base/rows.h"

/* Is it a superuser, the owner of the extension, or a member of that role? */
extern bool privilege_is_owner(Oid role);

/*
 * Is it the owner, or does it hold the privilege of an operator?  Pass
 * ROWS_ACTIVE if the result decides what a query shows, and ROWS_LATEST if it
 * decides what is written.
 */
extern bool privilege_is_operator(Oid role, RowSnapshot snapshot);

/*
 * Does it hold the privilege of a gateway, which sends the calls of the
 * outbox, at this moment?
 */
extern bool privilege_is_gateway(Oid role);

/*
 * May the role read the whole log?  Operators may, readers without scopes, and
 * the members of pg_read_all_data.
 */
extern bool privilege_reads_all(Oid role, RowSnapshot snapshot);

/* Returns the scopes that the role may read as a reader, palloc'd. */
extern SliceList privilege_scopes(Oid role);

#endif							/* CLUTCH_PRIVILEGE_H */
