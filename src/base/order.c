/*-------------------------------------------------------------------------
 *
 * order.c
 *	  Comparators for qsort and bsearch.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/order.h"
#include "base/text.h"

int
order_int64(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

int
order_uint64(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

int
order_slices(const void *a, const void *b)
{
	return slice_compare(*(const Slice *) a, *(const Slice *) b);
}
