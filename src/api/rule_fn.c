/*-------------------------------------------------------------------------
 *
 * rule_fn.c
 *	  The trigger by which backends notice that routing rules have changed.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "commands/trigger.h"
#include "routing/rule.h"

PG_FUNCTION_INFO_V1(clutch_rules_changed);

/* Makes the backends, which remember the rules, read them again. */
Datum
clutch_rules_changed(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager", "rules_changed")));
	rule_announce();
	PG_RETURN_POINTER(NULL);
}
