/*-------------------------------------------------------------------------
 *
 * catalog.h
 *	  The adapters: the rows of clutch.adapter.
 *
 * A row whose functions are NULL is one of the adapters that are built in; without its
 * row, such an adapter is not used.  Each backend remembers the table until it changes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CATALOG_H
#define CLUTCH_CATALOG_H

#include "adapters/adapter.h"

/* of that name; NULL: there is none.  Palloc'd. */
extern Adapter *catalog_find(Slice name);

/* all, in the order in which they are asked: a List of Adapter *, palloc'd */
extern List *catalog_list(void);

/* The table has been changed by this transaction: every backend reads it again. */
extern void catalog_announce(void);

#endif							/* CLUTCH_CATALOG_H */
