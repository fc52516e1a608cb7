/*-------------------------------------------------------------------------
 *
 * document_part.h
 *	  Private declarations of document: the containers of a document that is
 *	  being built.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_DOCUMENT_PART_H
#define CLUTCH_DOCUMENT_PART_H

#include "base/document.h"

/*
 * Opens a container, which becomes the level of the builder until it is
 * closed.
 */
extern void document_level_open(DocumentBuilder *b, bool is_array);
/* Closes it and adds it to the enclosing one. */
extern void document_level_close(DocumentBuilder *b);
/* Makes a document from the outermost one, palloc'd. */
extern Jsonb *document_level_finish(const DocumentBuilder *b);

/* Sets the key of the next value or container. */
extern void document_level_set_key(DocumentLevel *level, Slice key);
/* Adds a string, a number or a container in the byte format of jsonb. */
extern void document_level_add(DocumentLevel *level, JEntry type, const void *bytes, uint32 len);
/* Adds null, true or false. */
extern void document_level_add_word(DocumentLevel *level, JEntry type);

#endif							/* CLUTCH_DOCUMENT_PART_H */
