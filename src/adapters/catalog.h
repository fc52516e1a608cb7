/*-------------------------------------------------------------------------
 *
 * catalog.h
 *	  The adapters: the rows of clutch.adapter.
 *
 * A row whose functions are NULL is one of the adapters that are built in; without its
 * row, such an adapter is not used.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CATALOG_H
#define CLUTCH_CATALOG_H

#include "adapters/adapter.h"

/* of that name; NULL: there is none.  Palloc'd. */
extern Adapter *catalog_find(Slice name);

/* all, in the order in which they are asked: a List of Adapter * */
extern List *catalog_list(void);

#endif							/* CLUTCH_CATALOG_H */
