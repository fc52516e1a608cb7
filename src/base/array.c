/*-------------------------------------------------------------------------
 *
 * array.c
 *	  Arrays that grow.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"

void *
array_grow(void *items, int *room, Size item_size)
{
	int			more = Max(16, *room * 2);

	items = items == NULL ? palloc(item_size * more) : repalloc_huge(items, item_size * more);
	*room = more;
	return items;
}
