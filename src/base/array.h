/*-------------------------------------------------------------------------
 *
 * array.h
 *	  Arrays that grow.
 *
 * Such an array has room for some items more than it has, as its owner notes
 * beside it.  It is NULL, with room for none, before the first item.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_ARRAY_H
#define CLUTCH_ARRAY_H

#include "clutch.h"

/*
 * Makes room for at least one item more in an array of n items.  All three
 * arguments are variables; "items" and "room" are changed.
 */
#define array_make_room(items, n, room) \
	do { \
		if ((n) == (room)) \
			(items) = array_grow((items), &(room), sizeof(*(items))); \
	} while (0)

/*
 * Returns the array with at least twice the room: in the memory context where
 * it is, or the current one if it is NULL.
 */
extern void *array_grow(void *items, int *room, Size item_size);

#endif							/* CLUTCH_ARRAY_H */
