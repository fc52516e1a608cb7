/*-------------------------------------------------------------------------
 *
 * document_part.h
 *	  The containers of a document that is being built, for the files of this noun.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DOCUMENT_PART_H
#define CLUTCH_DOCUMENT_PART_H

#include "base/document.h"

/* The new container is the level of the builder, until it is closed. */
extern void document_level_open(DocumentBuilder *b, bool is_array);
/* Puts it into the one around it. */
extern void document_level_close(DocumentBuilder *b);
/* Makes a document of the outermost one; palloc'd. */
extern Jsonb *document_level_finish(const DocumentBuilder *b);

/* the key of the next value, or of the next container */
extern void document_level_set_key(DocumentLevel *level, Slice key);
/* a string, a number or a container, in the bytes of jsonb */
extern void document_level_add(DocumentLevel *level, JEntry type, const void *bytes, uint32 len);
/* null, true or false */
extern void document_level_add_word(DocumentLevel *level, JEntry type);

#endif							/* CLUTCH_DOCUMENT_PART_H */
