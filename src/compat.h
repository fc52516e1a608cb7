/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  What differs between PostgreSQL versions, once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_COMPAT_H
#define CLUTCH_COMPAT_H

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"

#if PG_VERSION_NUM < 150000
#error "clutch needs PostgreSQL 15 or later"
#endif

#if PG_VERSION_NUM >= 180000
#define index_beginscan_compat(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), NULL, (nkeys), 0)
#else
#define index_beginscan_compat(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), (nkeys), 0)
#endif

/* true: the new version needs index entries of its own */
static inline bool
simple_heap_update_compat(Relation rel, ItemPointer tid, HeapTuple tuple)
{
#if PG_VERSION_NUM >= 160000
	TU_UpdateIndexes update_indexes;

	simple_heap_update(rel, tid, tuple, &update_indexes);
	return update_indexes != TU_None;
#else
	simple_heap_update(rel, tid, tuple);
	return !HeapTupleIsHeapOnly(tuple);
#endif
}

#endif							/* CLUTCH_COMPAT_H */
