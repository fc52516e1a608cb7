/*-------------------------------------------------------------------------
 *
 * catalog.h
 *	  The table clutch.adapter.
 *
 * A row whose functions are NULL stands for a built-in adapter.  A built-in
 * adapter without a row is not used.  Each backend caches the table until it
 * changes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CATALOG_H
#define CLUTCH_CATALOG_H

#include "adapters/adapter.h"

/* Returns the adapter of that name, palloc'd.  Raises 42704 if there is none. */
extern Adapter *catalog_require(Slice name);

/*
 * Returns all adapters in the order in which they are asked, as a List of
 * Adapter *, palloc'd.
 */
extern List *catalog_list(void);

/*
 * Raises 22023 with all faults of a row of clutch.adapter.  The columns are in
 * the order of the table.
 */
extern void catalog_check(const Datum *values, const bool *nulls);

/*
 * Tells all backends that this transaction has changed the table, so that they
 * read it again.
 */
extern void catalog_announce(void);

#endif							/* CLUTCH_CATALOG_H */
