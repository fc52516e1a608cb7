/*-------------------------------------------------------------------------
 *
 * memo.c
 *	  What a backend remembers under a 64-bit key.
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

	if (table != NULL && hash_get_num_entries(table) < most)
		return table;
	if (table != NULL)
		hash_destroy(table);
	control.keysize = sizeof(uint64);
	control.entrysize = entry_size;
	control.hcxt = TopMemoryContext;
	return hash_create(name, 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}
