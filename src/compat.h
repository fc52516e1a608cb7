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

#endif							/* CLUTCH_COMPAT_H */
