/*-------------------------------------------------------------------------
 *
 * text_map.c
 *	  Maps from texts to pointers.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/crypto.h"
#include "base/text_map.h"

typedef struct TextMapEntry
{
	Slice		text;			/* key */
	uint32		hash;
	char		status;
	void	   *pointer;
} TextMapEntry;

/* nobody can choose texts that have the same place */
#define SH_PREFIX		text_map
#define SH_ELEMENT_TYPE	TextMapEntry
#define SH_KEY_TYPE		Slice
#define SH_KEY			text
#define SH_HASH_KEY(map, key)	(uint32) crypto_name_hash(key)
#define SH_EQUAL(map, a, b)	slice_equal(a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(map, entry)	(entry)->hash
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

TextMap *
text_map_make(void)
{
	return text_map_create(CurrentMemoryContext, 16, NULL);
}

void *
text_map_get(TextMap *map, Slice text)
{
	TextMapEntry *entry = text_map_lookup(map, text);

	return entry == NULL ? NULL : entry->pointer;
}

void **
text_map_place(TextMap *map, Slice text)
{
	bool		found;
	TextMapEntry *entry = text_map_insert(map, text, &found);

	if (!found)
		entry->pointer = NULL;
	return &entry->pointer;
}
