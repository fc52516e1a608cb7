/*-------------------------------------------------------------------------
 *
 * clutch.c
 *	  Module entry.
 *
 * docs/architecture.md describes how an envelope passes through the rooms.  It
 * enters in api/admit_fn.c.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "api/admit_fn.h"
#include "fmgr.h"
#include "flow/settle.h"
#include "miscadmin.h"
#include "settings.h"
#include "store/event.h"
#include "store/protection.h"
#include "worker/launcher.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	settings_define();
	event_set_door((EventDoor) {admit_envelope, admit_announce});
	settle_begin();
	if (process_shared_preload_libraries_in_progress)
	{
		launcher_register();
		protection_watch();
	}
}
