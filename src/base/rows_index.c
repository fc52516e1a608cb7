/*-------------------------------------------------------------------------
 *
 * rows_index.c
 *	  A cache of the indexes of each table, for writing.
 *
 * Looking up which indexes a table has, and how their entries are formed,
 * costs as much as inserting the row.  The result is cached until the relcache
 * reports a change of the table or of one of the indexes.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/table.h"
#include "base/rows_part.h"
#include "catalog/index.h"
#include "nodes/execnodes.h"
#include "nodes/primnodes.h"
#include "storage/bufmgr.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"

typedef struct WriteIndex
{
	Oid			relid;
	IndexInfo  *info;
	AttrNumber	unless_null;	/* rows in which this column is null have no
								 * entry; 0 if all rows have one */
} WriteIndex;

typedef struct TableMemo
{
	Oid			relid;
	bool		indexes_known;
	bool		has_pages;
	bool		was_void;		/* had no pages when it was last looked at
								 * under a lock */
	NameData	foreign;		/* name of an index that cannot be used here;
								 * empty if none */
	int			nindexes;
	WriteIndex *indexes;
	MemoryContext context;		/* of the indexes */
} TableMemo;

static TableMemo memos[NUM_STATE_TABLES];
static bool watching_relations = false;

static bool
rows_memo_concerns(const TableMemo *memo, Oid relid)
{
	int			i;

	if (!OidIsValid(relid) || memo->relid == relid)
		return true;
	for (i = 0; i < memo->nindexes; i++)
		if (memo->indexes[i].relid == relid)
			return true;
	return false;
}

/* The indexes themselves are freed later, because they may be in use. */
static void
rows_relation_changed(Datum arg, Oid relid)
{
	int			i;

	for (i = 0; i < NUM_STATE_TABLES; i++)
		if (rows_memo_concerns(&memos[i], relid))
			memos[i].indexes_known = memos[i].has_pages = memos[i].was_void = false;
}

static TableMemo *
rows_memo_of_table(StateTable table, Relation rel)
{
	TableMemo  *memo = &memos[table];

	if (!watching_relations)
	{
		CacheRegisterRelcacheCallback(rows_relation_changed, (Datum) 0);
		watching_relations = true;
	}
	if (memo->relid != RelationGetRelid(rel))
	{
		memo->relid = RelationGetRelid(rel);
		memo->indexes_known = memo->has_pages = memo->was_void = false;
	}
	return memo;
}

/*
 * Returns the column of a condition like "WHERE idempotency_key IS NOT NULL",
 * or 0 if the index has a different condition.
 */
static AttrNumber
rows_column_not_null(const IndexInfo *info)
{
	NullTest   *test = linitial(info->ii_Predicate);

	if (list_length(info->ii_Predicate) != 1 || !IsA(test, NullTest) ||
		test->nulltesttype != IS_NOT_NULL || !IsA(test->arg, Var))
		return 0;
	return ((Var *) test->arg)->varattno;
}

/*
 * Can we use the index?  There is no executor here to evaluate an expression
 * or a condition, and treating an index that has one as a plain index would
 * crash the server.
 */
static bool
rows_index_is_simple(const WriteIndex *entry)
{
	return entry->info->ii_Expressions == NIL && entry->info->ii_ExclusionOps == NULL &&
		(entry->info->ii_Predicate == NIL || entry->unless_null > 0);
}

static void
rows_read_indexes(TableMemo *memo, Relation rel)
{
	List	   *relids = RelationGetIndexList(rel);
	MemoryContext old;
	ListCell   *cell;

	memo->nindexes = 0;
	NameStr(memo->foreign)[0] = '\0';
	if (memo->context == NULL)
		memo->context = AllocSetContextCreate(CacheMemoryContext, "clutch indexes of a table",
											  ALLOCSET_SMALL_SIZES);
	MemoryContextReset(memo->context);
	old = MemoryContextSwitchTo(memo->context);
	memo->indexes = palloc(sizeof(WriteIndex) * list_length(relids));
	foreach(cell, relids)
	{
		WriteIndex *entry = &memo->indexes[memo->nindexes];
		Relation	index = rows_open_index_by_oid(lfirst_oid(cell), RowExclusiveLock);

		entry->relid = RelationGetRelid(index);
		entry->info = BuildIndexInfo(index);
		entry->unless_null = entry->info->ii_Predicate != NIL ? rows_column_not_null(entry->info) : 0;
		if (!rows_index_is_simple(entry))
			memo->foreign = index->rd_rel->relname;

		/*
		 * CREATE INDEX CONCURRENTLY and REINDEX CONCURRENTLY start with an
		 * index that must not be touched yet, and leave it behind if they are
		 * cancelled.
		 */
		if (entry->info->ii_ReadyForInserts)
			memo->nindexes++;
		index_close(index, NoLock);
	}
	MemoryContextSwitchTo(old);
	list_free(relids);
}

/*
 * Locking an index may process an invalidation, so the result is used only if
 * it is still valid in the end.  From then on the locks keep it valid.
 */
static TableMemo *
rows_memo_with_indexes(StateTable table, Relation rel)
{
	TableMemo  *memo = rows_memo_of_table(table, rel);

	while (!memo->indexes_known)
	{
		memo->indexes_known = true;
		PG_TRY();
		{
			rows_read_indexes(memo, rel);
		}
		PG_CATCH();
		{
			memo->indexes_known = false;
			memo->nindexes = 0;
			PG_RE_THROW();
		}
		PG_END_TRY();
	}
	return memo;
}

bool
rows_indexes_are_simple(StateTable table, Relation rel)
{
	return NameStr(rows_memo_with_indexes(table, rel)->foreign)[0] == '\0';
}

static void
rows_require_simple_indexes(const TableMemo *memo, Relation rel)
{
	if (NameStr(memo->foreign)[0] != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" of table clutch.%s is not over plain columns",
						NameStr(memo->foreign), RelationGetRelationName(rel)),
				 errhint("Drop the index. An index that is added to a table of clutch may have neither an expression nor an exclusion, and no WHERE clause but that a column is not null.")));
}

void
rows_insert_entries(StateTable table, Relation rel, Datum *values, bool *nulls,
					ItemPointer tid, NewEntries which)
{
	TableMemo  *memo = rows_memo_with_indexes(table, rel);
	int			i;
	int			k;

	rows_require_simple_indexes(memo, rel);
	for (i = 0; i < memo->nindexes; i++)
	{
		IndexInfo  *info = memo->indexes[i].info;
		AttrNumber	unless_null = memo->indexes[i].unless_null;
		Datum		entry[INDEX_MAX_KEYS];
		bool		entry_nulls[INDEX_MAX_KEYS];
		Relation	index;

		if (unless_null > 0 && nulls[unless_null - 1])
			continue;
		index = rows_open_index_by_oid(memo->indexes[i].relid, RowExclusiveLock);
		if (which == ENTRIES_ALL || index_is_summarizing_compat(index))
		{
			for (k = 0; k < info->ii_NumIndexAttrs; k++)
			{
				entry[k] = values[info->ii_IndexAttrNumbers[k] - 1];
				entry_nulls[k] = nulls[info->ii_IndexAttrNumbers[k] - 1];
			}
			/*
			 * access methods other than btree keep data there that does not
			 * outlive the statement
			 */
			info->ii_AmCache = NULL;
			info->ii_Context = CurrentMemoryContext;
			index_insert(index, entry, entry_nulls, tid, rel,
						 info->ii_Unique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO, false, info);
			index_insert_cleanup_compat(index, info);
		}
		index_close(index, NoLock);
	}
}

bool
rows_table_is_void(StateTable table, Relation rel)
{
	TableMemo  *memo = rows_memo_of_table(table, rel);

	if (!memo->has_pages)
		memo->has_pages = RelationGetNumberOfBlocks(rel) > 0;
	memo->was_void = !memo->has_pages;
	return memo->was_void;
}

/*
 * A table that need not be locked must still be the one that was void.
 * Whatever has happened to it in the meantime (VACUUM FULL, DROP EXTENSION)
 * arrives as an invalidation.
 */
bool
rows_table_stays_void(StateTable table)
{
	TableMemo  *memo = &memos[table];
	Relation	rel;

	if (!memo->was_void)
		return false;
	AcceptInvalidationMessages();
	if (!memo->was_void || memo->relid != rows_table_oid(table))
		return false;
	rel = RelationIdGetRelation(memo->relid);
	if (rel == NULL)
		return false;
	memo->was_void = RelationGetNumberOfBlocks(rel) == 0;
	/*
	 * without a lock, the cached number may date from before a VACUUM, so
	 * rows_has_block must not use it
	 */
	RelationGetSmgr(rel)->smgr_cached_nblocks[MAIN_FORKNUM] = InvalidBlockNumber;
	RelationClose(rel);
	return memo->was_void;
}

bool
rows_table_was_used(StateTable table)
{
	Relation	rel;
	bool		used;

	if (rows_table_stays_void(table))
		return false;
	rel = rows_open(table, AccessShareLock);
	used = !rows_table_is_void(table, rel);
	table_close(rel, NoLock);
	return used;
}
