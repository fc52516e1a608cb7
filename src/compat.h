/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Differences between the supported versions of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_COMPAT_H
#define CLUTCH_COMPAT_H

#include "access/amapi.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "catalog/pg_database.h"
#include "utils/acl.h"
#include "utils/guc.h"

#if PG_VERSION_NUM < 150000
#error "clutch needs PostgreSQL 15 or later"
#endif

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#if PG_VERSION_NUM < 180000
#define pg_noreturn _Noreturn
#endif

#if PG_VERSION_NUM >= 180000
#define index_beginscan_compat(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), NULL, (nkeys), 0)
#else
#define index_beginscan_compat(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), (nkeys), 0)
#endif

/* access/nbtree.h: finds the leaf of a key, for reading */
#if PG_VERSION_NUM >= 170000
#define bt_search_compat(index, heap, key, buffer) \
	_bt_search((index), (heap), (key), (buffer), BT_READ)
#elif PG_VERSION_NUM >= 160000
#define bt_search_compat(index, heap, key, buffer) \
	_bt_search((index), (heap), (key), (buffer), BT_READ, NULL)
#else
#define bt_search_compat(index, heap, key, buffer) \
	_bt_search((index), (key), (buffer), BT_READ, NULL)
#endif

/* the number of the file of a relation */
#if PG_VERSION_NUM >= 160000
#define relation_file_compat(rel)	((rel)->rd_locator.relNumber)
#else
#define relation_file_compat(rel)	((rel)->rd_node.relNode)
#endif

/* storage/lmgr.h */
#if PG_VERSION_NUM >= 180000
#define conditional_xact_lock_compat(xid)	ConditionalXactLockTableWait((xid), false)
#else
#define conditional_xact_lock_compat(xid)	ConditionalXactLockTableWait(xid)
#endif

/* lets the transactions of this process take as long as they need */
#if PG_VERSION_NUM >= 170000
#define transaction_timeout_off_compat() \
	SetConfigOption("transaction_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE)
#else
#define transaction_timeout_off_compat()	((void) 0)
#endif

/* what a check hook of a setting leaves for its assign hook */
#if PG_VERSION_NUM >= 160000
#define setting_extra_alloc_compat(size)	guc_malloc(LOG, (size))
#else
#define setting_extra_alloc_compat(size)	malloc(size)
#endif

/* which indexes need an entry for a new version of a row */
typedef enum NewEntries
{
	ENTRIES_NONE,				/* none: it stayed on its page (HOT) */
	ENTRIES_SUMMARIZING,		/* only BRIN, because a summarized column has changed */
	ENTRIES_ALL
} NewEntries;

static inline NewEntries
simple_heap_update_compat(Relation rel, ItemPointer tid, HeapTuple tuple)
{
#if PG_VERSION_NUM >= 160000
	TU_UpdateIndexes update;

	simple_heap_update(rel, tid, tuple, &update);
	return update == TU_None ? ENTRIES_NONE :
		update == TU_Summarizing ? ENTRIES_SUMMARIZING : ENTRIES_ALL;
#else
	simple_heap_update(rel, tid, tuple);
	return HeapTupleIsHeapOnly(tuple) ? ENTRIES_NONE : ENTRIES_ALL;
#endif
}

static inline bool
index_is_summarizing_compat(Relation index)
{
#if PG_VERSION_NUM >= 160000
	return index->rd_indam->amsummarizing;
#else
	return false;
#endif
}

/* access/genam.h: BRIN keeps a page pinned from one insert to the next */
#if PG_VERSION_NUM >= 170000
#define index_insert_cleanup_compat(index, info)	index_insert_cleanup((index), (info))
#else
#define index_insert_cleanup_compat(index, info)	((void) 0)
#endif

static inline bool
is_database_owner_compat(Oid database, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(DatabaseRelationId, database, role);
#else
	return pg_database_ownercheck(database, role);
#endif
}

/* methods of an SQL/JSON path that may have one literal argument: case labels */
#if PG_VERSION_NUM >= 170000
#define CASE_JSONPATH_METHODS_WITH_ARGUMENT_COMPAT \
	case jpiDatetime: \
	case jpiTime: \
	case jpiTimeTz: \
	case jpiTimestamp: \
	case jpiTimestampTz
#else
#define CASE_JSONPATH_METHODS_WITH_ARGUMENT_COMPAT case jpiDatetime
#endif

#endif							/* CLUTCH_COMPAT_H */
