/*-------------------------------------------------------------------------
 *
 * catalog.h
 *	  The adapters: the rows of clutch.adapter.
 *
 * A row whose functions are NULL stands for a built-in adapter, which is not used if its
 * row is missing.  Each backend remembers the table until it changes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CATALOG_H
#define CLUTCH_CATALOG_H

#include "adapters/adapter.h"

/* the adapter of that name, palloc'd; NULL: there is none */
extern Adapter *catalog_find(Slice name);

/* all adapters in the order in which they are asked, as a List of Adapter *, palloc'd */
extern List *catalog_list(void);

/* Raises 22023 with all faults of a row of clutch.adapter, whose columns are in the order of the table. */
extern void catalog_check(const Datum *values, const bool *nulls);

/* The table has been changed by this transaction: every backend reads it again. */
extern void catalog_announce(void);

#endif							/* CLUTCH_CATALOG_H */
