/*-------------------------------------------------------------------------
 *
 * catalog_fn.c
 *	  The trigger function of clutch.adapter.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "adapters/catalog.h"
#include "api/result.h"
#include "fmgr.h"

PG_FUNCTION_INFO_V1(clutch_adapters_changed);

/* Tells all backends, which cache the adapters, to read them again. */
Datum
clutch_adapters_changed(PG_FUNCTION_ARGS)
{
	argument_require_trigger(fcinfo, "adapters_changed");
	catalog_announce();
	PG_RETURN_POINTER(NULL);
}
