/*-------------------------------------------------------------------------
 *
 * blob.h
 *	  Bytes in documents of other protocols, which are artifacts instead.
 *
 * Other protocols write images, sounds and files as base64.  Where whoever receives a
 * document wants it so (artifacts_from in the context), such a text becomes an artifact, and the document has its
 * reference in its place.  The envelope of the document attaches it, so those who see the
 * envelope may read it, and notes the references in meta.<adapter>.blobs.  When the
 * envelope becomes a document of that adapter again, the bytes are back.
 *
 * Only base64 that can be written again as it was is replaced: of the standard alphabet
 * and with its padding.  A document that contains a reference as a text keeps the bytes
 * that this reference would stand for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_BLOB_H
#define CLUTCH_BLOB_H

#include "base/json.h"

/* so many of one document are replaced */
#define BLOB_MOST		32

/* shorter texts are not replaced, because the reference would be longer */
#define BLOB_LEAST_BYTES	256

/* From how many bytes on the context wants it; 0: it does not.  Raises 22023. */
extern int64 blob_from_bytes(const Json *context);

/*
 * Replaces the texts of at least so many bytes in the document, which is changed, and
 * returns the references as a List of Slice *.  Raises what clutch.put_artifact raises.
 */
extern List *blob_keep(Json *document, int64 from_bytes);

/* Notes and attaches those of the references that are in the envelope, which is changed. */
extern void blob_mark(Json *envelope, const char *adapter, const List *references);

/* Takes out of the envelope what blob_mark has put there, and returns the references. */
extern List *blob_unmark(Json *envelope, const char *adapter);

/*
 * Puts the bytes back into the document, which is changed.  Raises 42704 ARTIFACT_NOT_FOUND
 * unless the role may read them, or the event of that seq attaches them (0: there is none).
 */
extern void blob_restore(Json *document, const List *references, int64 seq);

#endif							/* CLUTCH_BLOB_H */
