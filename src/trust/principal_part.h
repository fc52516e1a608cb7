/*-------------------------------------------------------------------------
 *
 * principal_part.h
 *	  Private declarations of principal: the rows of clutch.principal.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PRINCIPAL_PART_H
#define CLUTCH_PRINCIPAL_PART_H

#include "base/rows.h"
#include "protocol/problem.h"
#include "trust/principal.h"

/* columns of clutch.principal */
enum
{
	Anum_principal_grantee = 1,
	Anum_principal_agent_id,
	Anum_principal_capabilities,
	Anum_principal_scopes,
	Anum_principal_max_concurrency,
	Anum_principal_broadcast,
	Natts_principal = Anum_principal_broadcast
};

ROWS_CHECK_COLUMNS(Natts_principal, PRINCIPAL);

/* Returns the name of the role that counts. */
extern const char *principal_role_name(void);

/*
 * Begins a scan of the grants of the role, or of any role, for one agent or,
 * if it is absent, for all.  A scan for any role has only a few rows to read.
 */
extern void principal_begin_grants(RowScan *scan, Slice agent_id, GrantHolder holder);

/* Is the name in a granted list, or "*"? */
extern bool principal_is_granted(SliceList list, Slice name);

/* Appends names to a list. */
extern void principal_add_names(SliceList *list, SliceList more);

#endif							/* CLUTCH_PRINCIPAL_PART_H */
