/*-------------------------------------------------------------------------
 *
 * order.h
 *	  Comparators for qsort and bsearch.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ORDER_H
#define CLUTCH_ORDER_H

#include "clutch.h"

extern int	order_int64(const void *a, const void *b);
extern int	order_uint64(const void *a, const void *b);

/* two Slices, in the order of slice_compare */
extern int	order_slices(const void *a, const void *b);

#endif							/* CLUTCH_ORDER_H */
