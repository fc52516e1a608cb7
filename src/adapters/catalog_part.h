/*-------------------------------------------------------------------------
 *
 * catalog_part.h
 *	  Private declarations of catalog.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CATALOG_PART_H
#define CLUTCH_CATALOG_PART_H

#include "adapters/catalog.h"
#include "base/rows.h"

/* columns of clutch.adapter */
enum
{
	Anum_adapter_name = 1,
	Anum_adapter_place,
	Anum_adapter_can_handle,
	Anum_adapter_inbound,
	Anum_adapter_outbound,
	Anum_adapter_carrier,
	Anum_adapter_builtin,
	Natts_adapter = Anum_adapter_builtin
};

ROWS_CHECK_COLUMNS(Natts_adapter, ADAPTER);

/* Does this library have an adapter of that name? */
extern bool catalog_is_built_in(Slice name);

#endif							/* CLUTCH_CATALOG_PART_H */
