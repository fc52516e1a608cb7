/*-------------------------------------------------------------------------
 *
 * memo.c
 *	  Memos: caches of a backend with 64-bit keys.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/memo.h"
#include "utils/memutils.h"

HTAB *
memo_table(HTAB *table, const char *name, Size entry_size, int most)
{
	HASHCTL		control = {0};
	HTAB	   *empty;

	if (table != NULL && hash_get_num_entries(table) < most)
		return table;
	control.keysize = sizeof(uint64);
	control.entrysize = entry_size;
	control.hcxt = TopMemoryContext;
	empty = hash_create(name, 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	/* the caller still has the full one if there was no memory for this */
	if (table != NULL)
		hash_destroy(table);
	return empty;
}

HTAB *
memo_current(Memo *memo, const char *name, Size entry_size, int most, uint64 changes)
{
	HASHCTL		control = {.keysize = sizeof(uint64), .entrysize = entry_size};

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
	control.hcxt = memo->context;
	memo->table = hash_create(name, 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	memo->changes = changes;
	return memo->table;
}
