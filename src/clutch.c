/*-------------------------------------------------------------------------
 *
 * clutch.c
 *	  Module entry.
 *
 * The way of an envelope through the rooms is told in docs/architecture.md;
 * the first door is api/admit_fn.c.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "fmgr.h"
#include "settings.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	settings_define();
}
