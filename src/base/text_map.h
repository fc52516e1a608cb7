/*-------------------------------------------------------------------------
 *
 * text_map.h
 *	  Maps from texts to pointers, for finding one of many texts by hashing.
 *
 * A map is palloc'd in the current memory context, and grows there.  It is
 * freed together with that context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_TEXT_MAP_H
#define CLUTCH_TEXT_MAP_H

#include "base/text.h"

typedef struct text_map_hash TextMap;

extern TextMap *text_map_make(void);

/* Returns the pointer of a text, or NULL if the map does not have it. */
extern void *text_map_get(TextMap *map, Slice text);

/*
 * Returns where the pointer of a text is stored, which is NULL if the text is
 * new.  The caller sets it before the next call, and keeps the text, which is
 * not copied, as long as the map.
 */
extern void **text_map_place(TextMap *map, Slice text);

#endif							/* CLUTCH_TEXT_MAP_H */
