/*-------------------------------------------------------------------------
 *
 * agent_row.h
 *	  The columns of clutch.agent_registry.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_AGENT_ROW_H
#define CLUTCH_AGENT_ROW_H

#include "base/rows.h"

enum
{
	Anum_agent_registry_agent_id = 1,
	Anum_agent_registry_status,
	Anum_agent_registry_card,
	Anum_agent_registry_registered_at,
	Anum_agent_registry_changed_seq,
	Anum_agent_registry_reason,
	Anum_agent_registry_lost,
	Natts_agent_registry = Anum_agent_registry_lost
};

ROWS_CHECK_COLUMNS(Natts_agent_registry, AGENT_REGISTRY);

#endif							/* CLUTCH_AGENT_ROW_H */
