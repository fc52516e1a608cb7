/*-------------------------------------------------------------------------
 *
 * owner.c
 *	  Acting as the owner of the extension, in the session of another role.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/owner.h"
#include "base/rows.h"
#include "miscadmin.h"
#include "utils/guc.h"

static void
owner_set(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

OwnerCaller
owner_begin(void)
{
	Oid			owner = rows_owner();
	OwnerCaller caller = {.nest_level = NewGUCNestLevel()};

	GetUserIdAndSecContext(&caller.user, &caller.context);
	SetUserIdAndSecContext(owner, caller.context | SECURITY_LOCAL_USERID_CHANGE);
	owner_set("search_path", "pg_catalog, pg_temp");
	/* a plan contains the values of its parameters, such as an envelope of others */
	if (Debug_print_plan)
		owner_set("debug_print_plan", "off");
	return caller;
}

void
owner_end(OwnerCaller caller)
{
	AtEOXact_GUC(true, caller.nest_level);
	SetUserIdAndSecContext(caller.user, caller.context);
}
