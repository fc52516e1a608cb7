/*-------------------------------------------------------------------------
 *
 * memo.c
 *	  Memos: caches of a backend with 64-bit keys.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/hash64.h"
#include "base/memo.h"
#include "utils/memutils.h"

HTAB *
memo_table(HTAB *table, const char *name, Size entry_size, int most)
{
	HTAB	   *empty;

	if (table != NULL && hash_get_num_entries(table) < most)
		return table;
	empty = hash64_create(name, entry_size, 64, TopMemoryContext);
	/* the caller still has the full one if there was no memory for this */
	if (table != NULL)
		hash_destroy(table);
	return empty;
}

HTAB *
memo_current(Memo *memo, const char *name, Size entry_size, int most, uint64 changes)
{
	if (memo->table != NULL && memo->changes == changes && hash_get_num_entries(memo->table) < most)
		return memo->table;
	memo->table = NULL;
	if (memo->context == NULL)
	{
		memo->context = AllocSetContextCreate(TopMemoryContext, "clutch memo", ALLOCSET_SMALL_SIZES);
		MemoryContextSetIdentifier(memo->context, name);
	}
	else
		MemoryContextReset(memo->context);
	memo->table = hash64_create(name, entry_size, 64, memo->context);
	memo->changes = changes;
	return memo->table;
}
