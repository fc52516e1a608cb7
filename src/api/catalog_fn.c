/*-------------------------------------------------------------------------
 *
 * catalog_fn.c
 *	  The trigger function of clutch.adapter.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/catalog.h"
#include "commands/trigger.h"
#include "fmgr.h"

PG_FUNCTION_INFO_V1(clutch_adapters_changed);

/* Tells all backends, which cache the adapters, to read them again. */
Datum
clutch_adapters_changed(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager", "adapters_changed")));
	catalog_announce();
	PG_RETURN_POINTER(NULL);
}
