/*-------------------------------------------------------------------------
 *
 * hash64.c
 *	  Hash tables whose entries begin with a uint64 key.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/hash64.h"

HTAB *
hash64_create(const char *name, Size entry_size, long expected, MemoryContext context)
{
	HASHCTL		control = {
		.keysize = sizeof(uint64),
		.entrysize = entry_size,
		.hcxt = context
	};

	return hash_create(name, expected, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}
