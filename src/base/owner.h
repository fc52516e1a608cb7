/*-------------------------------------------------------------------------
 *
 * owner.h
 *	  Acting as the owner of the extension, in the session of another role.
 *
 * What the database writes into its tables, it writes as their owner, whoever has caused it.
 * Triggers that users have put on these tables then run as the owner as well, so meanwhile
 * search_path is "pg_catalog, pg_temp": otherwise the session could choose, by a search_path
 * of its own, which functions and operators they call with the rights of the owner.  Nor are plans
 * printed, which any session could have sent to its client.
 *
 * An error ends the transaction or savepoint, which restores the role and the setting.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_OWNER_H
#define CLUTCH_OWNER_H

#include "clutch.h"

/* what owner_end goes back to */
typedef struct OwnerCaller
{
	Oid			user;
	int			context;
	int			nest_level;		/* of settings */
} OwnerCaller;

extern OwnerCaller owner_begin(void);
extern void owner_end(OwnerCaller caller);

#endif							/* CLUTCH_OWNER_H */
